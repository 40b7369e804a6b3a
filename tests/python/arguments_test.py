#!/usr/bin/env python3
"""The Python package takes file names of any bytes and iterables of any kind; its errors name the argument and are short.

    arguments_test.py DRAGOMAN FOLDER_OF_THE_PACKAGE
"""
import asyncio
import importlib.util
import os
import unittest
from pathlib import Path

from package_case import LINES, PackageTest, dragoman


class Arguments(PackageTest):
    def test_file_names_need_not_be_utf_8(self):
        name = os.fsencode(self.folder) + b"/m\xff.safetensors"
        vocabulary = os.fsencode(self.folder) + b"/v\xff"
        for link, target in ((name, self.model), (vocabulary, self.folder / "v")):
            os.symlink(target, link)
            self.addCleanup(os.unlink, link)
        line = "a \ud800 house"
        for path in (name, os.fsdecode(name), Path(os.fsdecode(name))):
            self.assertTrue(dragoman.ModelFile(path).source_vocabulary.encode("a"))
            self.assertEqual(len(dragoman.Scorer(path, threads=1).score([line], [line])), 1)
            with dragoman.Translator([path], threads=1) as translator:
                self.assertEqual(translator.translate(line), self.translator.translate(line))
            for kind in (dragoman.Translator, dragoman.Scorer, dragoman.ModelFile):
                with self.assertRaisesRegex(dragoman.Error, r"m\\xff\.safetensors/none"):
                    kind(os.path.join(path, b"none" if isinstance(path, bytes) else "none"))
        self.assertEqual(len(dragoman.Vocabulary(vocabulary)), 500)
        with self.assertRaisesRegex(dragoman.Error, r"v\\xff2: cannot be opened"):
            dragoman.Vocabulary(vocabulary + b"2")
        with self.assertRaisesRegex(ValueError, r"model: 'a\\ud800' is not a file name: surrogates not allowed"):
            dragoman.Translator("a\ud800")
        with self.assertRaisesRegex(ValueError, r"path: 'a\\x00b' is not a file name: it contains a null character"):
            dragoman.Vocabulary("a\0b")

    def test_a_text_alone_is_no_list(self):
        for argument, value in (("vocabs", "ab"), ("vocabs", Path("ab")), ("weights", "12")):
            with self.assertRaisesRegex(TypeError, f"{argument}: expected a list of .*'{value}'"):
                dragoman.Translator(self.model, **{argument: value})
        for argument, arguments in (("metrics", {"metrics": "bleu"}), ("hypotheses", {"hypotheses": "a"}),
                                    ("references", {"references": "a"}), ("references", {"references": ["a", ["a"]]})):
            with self.assertRaisesRegex(TypeError, f"{argument}: expected a list of (names|lines), found '"):
                dragoman.evaluate(**{"hypotheses": ["a"], "references": ["a"]} | arguments)
        scorer = dragoman.Scorer(self.model, threads=1)
        for sources, targets, argument in (("a", ["b"], "sources"), (["a"], b"b", "targets")):
            with self.assertRaisesRegex(TypeError, f"{argument}: expected a list of lines, found b?'"):
                scorer.score(sources, targets)
        with self.assertRaisesRegex(TypeError, "lines: expected str, found b'abc' of type bytes"):
            self.translator.translate(b"abc")

    def test_iterators_are_read_once_and_whole(self):
        lists = dragoman.evaluate(self.expected, [LINES, self.expected[::-1]])
        iterators = dragoman.evaluate(iter(self.expected), (iter(lines) for lines in (LINES, self.expected[::-1])),
                                      metrics=iter(["bleu", "chrf"]))
        self.assertEqual({m: float(s) for m, s in iterators.items()}, {m: float(s) for m, s in lists.items()})
        self.assertAlmostEqual(float(dragoman.evaluate(iter(LINES), iter(LINES))["bleu"]), 100)
        pair = [self.model, self.model]
        with dragoman.Translator(iter(pair), weights=iter([1, 0]), threads=1) as translator:
            expected = translator.translate("a house")
            self.assertTrue(expected)
        with dragoman.Translator(pair, weights=[3, 0], ensemble_mean="arithmetic", threads=1) as translator:
            self.assertEqual(translator.translate("a house"), expected)
        vocabulary = dragoman.Vocabulary(self.folder / "v")
        ids = vocabulary.encode(LINES[3])
        self.assertEqual(vocabulary.decode(id for id in ids), vocabulary.decode(ids))
        scorer = dragoman.Scorer(self.model, threads=2)
        self.assertEqual([s.log_prob for s in scorer.score(iter(LINES), iter(LINES))],
                         [s.log_prob for s in scorer.score(LINES, LINES)])

    def test_truth_values_and_numbers_may_be_numpys(self):
        class Scalar:  # as numpy's bool, which is no int, and as its arrays without dimensions, which are iterable
            shape = ()

            def __init__(self, value):
                self.item = lambda: value

            def __iter__(self):
                raise TypeError("iteration over a 0-d array")

            def __float__(self):
                return float(self.item())

        kinds = [Scalar]
        if importlib.util.find_spec("numpy"):
            import numpy
            kinds += [numpy.array, lambda value: numpy.array([value])[0]]
        line, how = LINES[0], {"n_best": 2, "beam_size": 2}
        expected = [(t.text, t.words) for t in self.translator.translate(line, alignment=True, **how)]
        self.assertTrue(expected[0][1])
        for kind in (int, *kinds):
            found = self.translator.translate(line, alignment=kind(True), allow_unk=kind(False), **how)
            self.assertEqual([(t.text, t.words) for t in found], expected)
            self.assertEqual(float(dragoman.evaluate(["A"], ["a"], lowercase=kind(True), metrics=["exact"])["exact"]), 100)
        for kind in kinds:
            self.assertEqual(self.translator.translate(line, beam_size=kind(3)), self.expected[0])
            name = self.folder / "m.numpy"
            dragoman.train(train_sets=[self.folder / "s"] * 2, vocabs=[self.folder / "v"] * 2, model=name, after="1u",
                           dim_emb=kind(16), enc_depth=1, dec_depth=1, transformer_dim_ffn=16, transformer_heads=2, tied_embeddings_all=kind(True),
                           no_shuffle=[kind(True)], learn_rate=kind(0.001), threads=1)
            self.assertIn(b'"embedding.weight"', name.read_bytes())
            for file in (name, Path(f"{name}.state")):
                file.unlink(missing_ok=True)
            with self.assertRaisesRegex(TypeError, "seed: expected a text, number"):
                dragoman.train(model=name, seed=kind(1j))

    def test_messages_name_the_argument_and_are_short(self):
        long = "x" * 10_000
        lines = ["a"] * 10_000
        vocabulary = dragoman.Vocabulary(self.folder / "v")
        for kind, text, call in (
                (TypeError, "threads is '2', expected int", lambda: dragoman.Translator(self.model, threads="2")),
                (dragoman.Error, "threads: 10{40} is out", lambda: dragoman.Scorer(self.model, threads=10**40)),
                (dragoman.Error, "threads: a long int is out", lambda: dragoman.Scorer(self.model, threads=10**5000)),
                (TypeError, "threads is 'x", lambda: dragoman.evaluate(lines, lines, threads=long)),
                (TypeError, "lowercase is 2, expected bool", lambda: dragoman.evaluate(lines, lines, lowercase=2)),
                (TypeError, "allow_unk is 'no', expected bool", lambda: self.translator.translate("a", allow_unk="no")),
                (TypeError, "lowercase is None, expected bool", lambda: dragoman.evaluate(lines, lines, lowercase=None)),
                (TypeError, "tokenize: expected str", lambda: dragoman.evaluate(lines, lines, tokenize=lines)),
                (dragoman.Error, "metrics is 'x", lambda: dragoman.evaluate(lines, lines, metrics=[long])),
                (TypeError, "vocabs: expected a list", lambda: dragoman.ModelFile(self.model, vocabs=long)),
                (TypeError, "weights: expected num", lambda: dragoman.Translator(self.model, weights=[long])),
                (dragoman.Error, "precision is 'x", lambda: dragoman.Translator(self.model, precision=long)),
                (dragoman.Error, "'x+…'", lambda: dragoman.Translator(self.model, device=long)),
                (dragoman.Error, "fast_math is for GPUs", lambda: dragoman.train(fast_math=True, model="m")),
                (dragoman.Error, "id: 1099511627776 is out of range", lambda: vocabulary.piece(2**40)),
                (TypeError, "id is 'x', expected int", lambda: vocabulary.piece("x")),
                (dragoman.Error, "seed 5 is for sampling, which", lambda: self.translator.translate("a", seed=5)),
                (dragoman.Error, "temperature -3 is for sampling, which",
                 lambda: self.translator.translate("a", temperature=-3)),
                (dragoman.Error, "sampling_pieces 3 is for sampling topk, which",
                 lambda: self.translator.translate("a", sampling="full", sampling_pieces=3)),
                (dragoman.Error, "length_penalty and normalize 0.5 are two ways",
                 lambda: self.translator.translate("a", normalize=0.5, length_penalty=1)),
                (TypeError, "no option 'x", lambda: self.translator.translate("a", **{long: 1})),
                (dragoman.Error, "beam_size: a long int is out", lambda: self.translator.translate("a", beam_size=10**5000)),
                (TypeError, "beam_size is 'x", lambda: self.translator.translate("a", beam_size=long)),
                (dragoman.Error, "rule is 'x", lambda: self.translator.translate("a", rule=long)),
                (TypeError, "no option 'beamsize', only beam", lambda: self.translator.translate("a", beamsize=1)),
                (TypeError, "n_best is '2', expected int", lambda: self.translator.translate("a", n_best="2")),
                (TypeError, "glossary: expected a dict of terms and their translations, found 'terms'",
                 lambda: self.translator.translate("a", glossary="terms")),
                (TypeError, "glossary: expected str, found 1", lambda: self.translator.translate("a", glossary={"a": 1})),
                (dragoman.Error, "glossary: 'a' has no translation",
                 lambda: self.translator.translate("a", glossary={"a": ""})),
                (dragoman.Error, "sampling cannot make translations contain phrases",
                 lambda: self.translator.translate("a", glossary={"a": "b"}, sampling="full")),
                (TypeError, "avoid: expected a list of phrases, found 'Hund'",
                 lambda: self.translator.translate("a", avoid="Hund")),
                (TypeError, "avoid: expected str, found 1", lambda: self.translator.translate("a", avoid=[1])),
                (dragoman.Error, "avoid: a phrase is empty", lambda: self.translator.translate("a", avoid=[" "])),
                (TypeError, "read_ahead is '3', exp", lambda: self.translator.translate(lines, read_ahead="3")),
                (TypeError, "read_ahead is 5.5, exp", lambda: self.translator.translate(iter(lines), read_ahead=5.5)),
                (TypeError, "lines: expected a list of lines, found None", lambda: self.translator.translate(None)),
                (TypeError, "lines: expected a list of lines, found 3",
                 lambda: asyncio.run(self.translator.translate_async(3))),
                (dragoman.Error, "ids: 1099511627776 is out of range", lambda: vocabulary.decode([2**40])),
                (TypeError, "ids is 1.5, expected int", lambda: vocabulary.decode([1.5])),
                (TypeError, "ids: expected a list of numbers, found '12'", lambda: vocabulary.decode("12")),
                (TypeError, "prefix: expected str", lambda: self.translator.translate("a", prefix=lines))):
            with self.assertRaisesRegex(kind, text) as caught:
                call()
            self.assertLess(len(str(caught.exception)), 500)


if __name__ == "__main__":
    unittest.main()
