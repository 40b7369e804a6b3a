#!/usr/bin/env python3
"""The Python package: what it translates, scores and evaluates is what the command does; Ctrl-C, fork(), threads and the
end of the interpreter do no harm; libraries of other packages do not mix with ours.

    package_test.py DRAGOMAN FOLDER_OF_THE_PACKAGE
"""
import ast
import asyncio
import copy
import dataclasses
import importlib.util
import itertools
import json
import logging
import os
import pickle
import re
import signal
import subprocess
import sys
import tempfile
import threading
import typing
import unittest
from pathlib import Path

from package_case import DRAGOMAN, LINES, PACKAGE, PackageTest, dragoman, python, run
from dragoman import _dragoman  # found by package_case

SLOW = {"beam_size": 8, "min_length": 100_000, "max_length_add": 100_000}  # minutes
NUMPY = importlib.util.find_spec("numpy") is not None


class Translating(PackageTest):
    def test_gives_the_text_of_the_command_for_a_list_and_for_an_iterator(self):
        self.assertEqual(len(self.expected), 200)
        self.assertGreater(len(set(self.expected)), 20)
        self.assertEqual(self.translator.translate(LINES, beam_size=3), self.expected)
        self.assertEqual(list(self.translator.translate(iter(LINES), beam_size=3, read_ahead=7)), self.expected)
        self.assertEqual(self.translator.translate(LINES[0], beam_size=3), self.expected[0])
        self.assertEqual(self.translator.translate([]), [])

    def test_gives_the_text_of_the_command_to_coroutines(self):
        async def one_and_many():
            return await asyncio.gather(self.translator.translate_async(LINES[0], beam_size=3),
                                        self.translator.translate_async(LINES, beam_size=3))

        self.assertEqual(asyncio.run(one_and_many()), [self.expected[0], self.expected])

    def test_gives_the_text_of_the_command_to_many_threads(self):
        found = {}

        def translate(thread):
            found[thread] = self.translator.translate(LINES[thread::8], beam_size=3)

        threads = [threading.Thread(target=translate, args=(t,)) for t in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, {t: self.expected[t::8] for t in range(8)})

    def test_draws_what_the_command_draws(self):
        lines = [line for line in LINES[:20] for _ in range(3)]
        expected = self.command("translate", "-m", "m.safetensors", "--quiet", "--output-sampling", "full", "--temperature", "1.5", "--seed", "7",
                                text="\n".join(lines) + "\n").split("\n")[:-1]
        self.assertGreater(len(set(expected)), 50)
        how = {"sampling": "full", "temperature": 1.5, "seed": 7}
        for read_ahead in (7, 10_000):
            self.assertEqual(self.translator.translate(lines, read_ahead=read_ahead, **how), expected)
            self.assertEqual(list(self.translator.translate(iter(lines), read_ahead=read_ahead, **how)), expected)
        self.assertEqual(asyncio.run(self.translator.translate_async(lines, **how)), expected)
        self.assertEqual(self.translator.translate(lines[0], **how), expected[0])

    def test_gives_several_translations_with_their_scores_best_first(self):
        best = self.translator.translate(LINES[:5], beam_size=3, n_best=2)
        self.assertEqual([translations[0].text for translations in best], self.expected[:5])
        for first, second in best:
            self.assertGreaterEqual(first.score, second.score)
            self.assertAlmostEqual(sum(first.token_log_probs), first.log_prob, places=3)
            self.assertEqual(len(first.pieces), len(first.token_log_probs))
            pieces = [piece for piece in first.pieces if piece != "</s>"]
            self.assertEqual(dragoman.Vocabulary(self.folder / "v").decode_pieces(pieces), first.text)

    def test_begins_a_translation_as_told(self):
        self.assertTrue(self.translator.translate("a house", prefix="the").startswith("the"))

    def check_stream(self, texts, whole):
        self.assertEqual(texts[-1], whole)
        for text, longer in zip(texts, texts[1:]):
            self.assertTrue(longer.startswith(text) and longer != text, (text, longer))

    def test_takes_surrogates_as_other_ill_formed_text(self):
        self.assertEqual(*self.translator.translate(["a \ud800 b", "a \ufffd b"]))
        vocabulary = dragoman.Vocabulary(self.folder / "v")
        self.assertEqual(vocabulary.encode("a \ud800 b"), vocabulary.encode("a \ufffd b"))
        self.assertEqual(vocabulary.encode_pieces("a \udcff b"), vocabulary.encode_pieces("a \ufffd b"))
        self.assertEqual(vocabulary.decode_pieces(["a", "\ud800"]), vocabulary.decode_pieces(["a", "\ufffd"]))
        with self.assertRaisesRegex(TypeError, "line: expected str, found b'a' of type bytes"):
            vocabulary.encode(b"a")

    def test_streams_what_is_decided(self):
        long = {"beam_size": 1, "min_length": 400, "max_length_add": 400}
        for line, options in ((LINES[0], long), (LINES[0], {"beam_size": 3}), (LINES[1], {"prefix": "the"}), ("", {})):
            whole = self.translator.translate(line, **options)
            texts = list(self.translator.stream(line, **options))
            self.check_stream(texts, whole)
            if options is long:
                self.assertGreater(len(texts), 3)

    def test_streams_to_coroutines(self):
        async def streams():
            async def texts(line):
                return [text async for text in self.translator.stream_async(line, beam_size=1)]
            return await asyncio.gather(*(texts(line) for line in LINES[:10]))

        for line, texts in zip(LINES, asyncio.run(streams())):
            self.check_stream(texts, self.translator.translate(line, beam_size=1))

    def test_cancels_a_stream_that_is_left(self):
        async def leave():
            stream = self.translator.stream_async("a house", **SLOW | {"beam_size": 1})
            async for _ in stream:
                break
            await stream.aclose()

        for text in self.translator.stream("a house", **SLOW | {"beam_size": 1}):
            break
        asyncio.run(leave())
        self.assertEqual(self.translator.translate(LINES[0], beam_size=3), self.expected[0])
        with self.assertRaisesRegex(TypeError, "n_best is for translate: a stream is of the best translation"):
            next(self.translator.stream("a house", n_best=2))

    def test_translates_a_list_in_parts(self):
        for read_ahead in (1, 2, 7, 1000):
            self.assertEqual(self.translator.translate(LINES, beam_size=3, read_ahead=read_ahead), self.expected)
        self.assertEqual([b[0].text for b in self.translator.translate(tuple(LINES), beam_size=3, n_best=1, read_ahead=9)],
                         self.expected)

    def test_an_iterator_may_wait_for_each_translation(self):
        answers = []

        def dialogue():
            for n, line in enumerate(LINES[:3]):
                self.assertEqual(len(answers), n)
                yield line

        for answer in self.translator.translate(dialogue(), read_ahead=1, beam_size=3):
            answers.append(answer)
        self.assertEqual(answers, self.expected[:3])

    def test_reads_no_further_ahead_than_told_and_stops_with_its_reader(self):
        taken = itertools.count()
        lines = ((next(taken), "a house")[1] for _ in itertools.repeat(0))  # without an end
        results = self.translator.translate(lines, read_ahead=5, max_length_add=5)
        self.assertEqual(len({next(results) for _ in range(20)}), 1)
        results.close()
        self.assertLessEqual(next(taken), 20 + 5)

    def test_lets_other_threads_run_and_ends_what_they_wait_for_when_it_is_closed(self):
        translator = dragoman.Translator(self.model, threads=1)
        begun, error = threading.Event(), []

        def wait():
            begun.set()
            try:
                translator.translate("a house", **SLOW)
            except dragoman.Error as e:
                error.append(str(e))

        thread = threading.Thread(target=wait)
        thread.start()
        begun.wait()
        self.assertEqual(translator.translate(LINES[0], beam_size=3), self.expected[0])
        translator.close()
        thread.join()
        self.assertEqual(len(error), 1)
        self.assertRegex(error[0], "cancelled|closed")

    def test_is_cancelled_with_its_task(self):
        async def give_up():
            task = asyncio.create_task(self.translator.translate_async(["a house"] * 3, **SLOW))
            await asyncio.sleep(0.01)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            return await self.translator.translate_async(LINES[0], beam_size=3)

        self.assertEqual(asyncio.run(give_up()), self.expected[0])

    def test_contains_the_terms_of_a_glossary(self):
        with tempfile.TemporaryDirectory() as folder:
            terms = Path(folder) / "terms"
            terms.write_text("house\tneues Gebäude\n", encoding="utf-8")
            with dragoman.Translator(self.model, threads=1, glossary=terms) as translator:
                self.assertIn("neues Gebäude", translator.translate("the red house"))
                own = {"red": "kaum rot"}
                for found in (translator.translate("the red house", glossary=own),
                              list(translator.translate(iter(["the red house"]), glossary=own))[0],
                              asyncio.run(translator.translate_async("the red house", glossary=own)),
                              list(translator.stream("the red house", glossary=own))[-1]):
                    self.assertIn("neues Gebäude", found)
                    self.assertIn("kaum rot", found)
                self.assertIn("mein Haus", translator.translate("the red house", glossary={"house": "mein Haus"}))
        self.assertEqual(self.translator.translate(LINES, beam_size=3, glossary={}), self.expected)
        self.assertEqual(self.translator.translate(LINES, sampling="full", glossary=None),
                         self.translator.translate(LINES, sampling="full"))

    def test_avoids_phrases(self):
        line, found = next((line, found) for line, found in zip(LINES, self.translator.translate(LINES), strict=True)
                           if len(set(found.split())) > 1 and "\ufffd" not in found)
        first, *_, last = found.split()
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "phrases").write_text(f"{first}\n", encoding="utf-8")
            with dragoman.Translator(self.model, threads=1, avoid=Path(folder) / "phrases") as translator:
                self.assertNotIn(first, translator.translate(line).split())
                for found in (translator.translate(line, avoid=[last]),
                              list(translator.translate(iter([line]), avoid=(last,)))[0],
                              asyncio.run(translator.translate_async(line, avoid=[last])),
                              list(translator.stream(line, avoid=[last]))[-1],
                              translator.translate(line, avoid=[last], sampling="full")):
                    self.assertFalse({first, last} & set(found.split()), found)
        self.assertEqual(self.translator.translate(LINES, beam_size=3, avoid=[]), self.expected)
        self.assertEqual(self.translator.translate(LINES, beam_size=3, avoid=["no such text"]), self.expected)

    def test_links_words(self):
        texts = linked_texts = 0
        for line in LINES:
            for found in (self.translator.translate(line, n_best=2, beam_size=3, alignment=True),
                          asyncio.run(self.translator.translate_async(line, n_best=2, beam_size=3, alignment=True))):
                for t in found:
                    linked = [(line[b:e], t.text[tb:te]) for b, e, tb, te in t.words]
                    for words in linked:  # as Unicode has them, which punctuation ends
                        for word, text in zip(words, (line, t.text), strict=True):
                            self.assertTrue(word and any(word in whole for whole in text.split()), (word, text))
                    texts, linked_texts = texts + bool(t.text), linked_texts + bool(linked)
                    self.assertEqual(pickle.loads(pickle.dumps(t)).words, t.words)
        self.assertGreater(linked_texts, 0.9 * texts)  # a translation may be linked to punctuation alone
        self.assertEqual(self.translator.translate(LINES[0], n_best=1)[0].words, [])
        with self.assertRaisesRegex(dragoman.Error, "translate gives with n_best"):
            self.translator.translate(LINES[0], alignment=True)
        with self.assertRaisesRegex(TypeError, "alignment is 'yes', expected bool"):
            self.translator.translate(LINES[0], n_best=1, alignment="yes")

    def test_says_what_is_wrong(self):
        with self.assertRaisesRegex(dragoman.Error, "no-such-model") as caught:
            dragoman.Translator("no-such-model")
        self.assertIsInstance(caught.exception.hint, str)
        with self.assertRaisesRegex(dragoman.Error, "threads, expected") as caught:
            dragoman.Translator(self.model, threads=-1)
        with self.assertRaisesRegex(dragoman.Error, "ensemble_mean is 'median', expected one of auto, geometric"):
            dragoman.Translator([self.model, self.model], ensemble_mean="median")
        with self.assertRaisesRegex(dragoman.Error, "precision is 'float31', expected one of auto, float32"):
            dragoman.Translator(self.model, precision="float31")
        with self.assertRaisesRegex(dragoman.Error, "--beam-size: 0"):
            self.translator.translate(LINES, beam_size=0)
        with self.assertRaisesRegex(dragoman.Error, "beam_size 5 contradicts sampling, which draws n_best"):
            self.translator.translate(LINES, sampling="full", beam_size=5, n_best=2)
        with self.assertRaisesRegex(TypeError, "there is no option 'beam', only beam_size"):
            self.translator.translate(LINES, beam=3)
        with self.assertRaisesRegex(TypeError, "lines: expected str, found 5 of type int"):
            self.translator.translate([LINES[0], 5])
        with self.assertRaisesRegex(TypeError, "prefix: expected str, found None of type NoneType"):
            self.translator.translate(LINES[0], prefix=None)
        with self.assertRaisesRegex(dragoman.Error, "beam_size: 2147483648 is out of range"):
            self.translator.translate(LINES, beam_size=2**31)
        with self.assertRaisesRegex(TypeError, "beam_size is None, expected int"):
            self.translator.translate(LINES, beam_size=None)
        with self.assertRaisesRegex(dragoman.Error, "--weights: nan is out of range, expected from 0 to 1000"):
            dragoman.Translator([self.model, self.model], weights=[float("nan"), 1])
        with self.assertRaisesRegex(dragoman.Error, "closed"):
            with dragoman.Translator(self.model, threads=1) as closed:
                pass
            closed.translate("a")

    def test_says_that_there_is_no_memory_for_tensors(self):
        program = """if True:
            import resource, sys
            import dragoman
            pages = int(open("/proc/self/statm").read().split()[0])
            limit = pages * resource.getpagesize() + 200 * 2**20
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
            translator = dragoman.Translator(sys.argv[1], threads=1, max_length=10**6)
            try:
                translator.translate("a " * 180_000, beam_size=1, max_length_factor=0.001)
            except MemoryError as error:
                print(error)
            """
        self.assertIn("out of memory: a tensor ", python(program, str(self.model)).stdout)

    def test_logs_where_python_does(self):
        with self.assertLogs("dragoman", logging.WARNING) as logged:
            dragoman.evaluate(["a ."] * 100, ["a ."] * 100)
        self.assertIn("looks tokenised", logged.output[0])


class OtherThings(PackageTest):
    def test_results_are_pickled_and_copied(self):
        score = dragoman.evaluate(LINES, LINES, metrics=["ter"], confidence=True)["ter"]
        found = [self.translator.translate(LINES[0], n_best=1)[0], dragoman.Scorer(self.model).score(["a"], ["b"])[0],
                 score, dragoman.evaluate(LINES, LINES, metrics=["ter"])["ter"]]
        for value in found:
            names = [name for name in dir(value) if not name.startswith("_")]
            for copied in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy([value])[0]):
                self.assertIs(type(copied), type(value))
                self.assertEqual(repr(copied), repr(value))
                for name in names:
                    self.assertEqual(getattr(copied, name), getattr(value, name), name)
        vocabulary = dragoman.ModelFile(self.model).source_vocabulary
        for copied in (pickle.loads(pickle.dumps(vocabulary)), copy.copy(vocabulary), copy.deepcopy(vocabulary)):
            self.assertEqual(copied.encode(LINES[3]), vocabulary.encode(LINES[3]))
        error = pickle.loads(pickle.dumps(dragoman.Error("wrong", "do this")))
        self.assertEqual((str(error), error.hint), ("wrong", "do this"))
        for machine in (self.translator, dragoman.Scorer(self.model)):
            with self.assertRaisesRegex(TypeError, "cannot pickle.*(Translator|Scorer)"):
                pickle.dumps(machine)

    def test_scores_as_the_command_does(self):
        for name, lines in (("from", LINES[:-1]), ("to", LINES[1:])):
            (self.folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
        expected = self.command("score", "-m", "m.safetensors", "--quiet", "-t", "from", "to").split()
        scores = dragoman.Scorer(self.model, threads=2).score(LINES[:-1], LINES[1:])
        self.assertEqual(len(expected), len(scores))
        for ours, theirs in zip(scores, expected):
            self.assertAlmostEqual(ours.log_prob, float(theirs), delta=1e-4 * abs(float(theirs)) + 1e-4)
            self.assertAlmostEqual(sum(ours.token_log_probs), ours.log_prob, places=2)

    def test_scores_in_blocks_between_which_ctrl_c_is_seen(self):
        sizes, before = [], []

        class Scores:
            def score(self, sources, targets, pairs_before):
                before.append((pairs_before, sum(sizes)))
                sizes.append(len(sources))
                return list(zip(sources, targets))

        scorer = dragoman.Scorer(self.model, threads=1)
        scorer._scorer = Scores()
        sources, targets = ["a"] * 300 + ["b" * 30_000] * 3, ["c"] * 300 + ["d" * 10_000] * 3
        self.assertEqual(scorer.score(sources, targets), list(zip(sources, targets)))
        self.assertEqual(sizes, [256, 45, 1, 1])
        self.assertTrue(all(given == scored for given, scored in before), before)

    def test_numbers_pairs_from_the_first_of_all(self):
        scorer = dragoman.Scorer(self.model, threads=1, max_length=20)
        targets = ["a"] * 280 + ["a red house " * 50] + ["a"] * 19
        with self.assertRaisesRegex(dragoman.Error, "pair 281: its target has"):
            scorer.score(["a"] * 300, targets)

    def test_closes_a_scorer(self):
        with dragoman.Scorer(self.model, threads=1) as scorer:
            scores = scorer.score(["a"], ["b"])
        self.assertEqual(len(scores), 1)
        scorer.close()
        with self.assertRaisesRegex(dragoman.Error, "the scorer is closed"):
            scorer.score(["a"], ["b"])

    def test_evaluates_as_the_command_does(self):
        (self.folder / "hyp").write_text("\n".join(self.expected) + "\n", encoding="utf-8")
        shown = json.loads(self.command("evaluate", "--references", "s", "--hypotheses", "hyp", "--json"))
        scores = dragoman.evaluate(self.expected, LINES)
        self.assertEqual(list(scores), ["bleu", "chrf"])
        text = json.dumps(shown)
        for score in scores.values():
            self.assertIn(score.signature, text)
        same = dragoman.evaluate(LINES, [LINES, LINES], metrics=["bleu", "ter"], confidence=True)
        self.assertAlmostEqual(float(same["bleu"]), 100)
        self.assertEqual(float(same["ter"]), 0)
        self.assertIn("nrefs:2", same["bleu"].signature)
        self.assertEqual(len(same["bleu"].interval), 2)
        self.assertEqual(list(dragoman.evaluate(["a"], ["a"], metrics=["rouge"])), ["rouge1", "rouge2", "rougeL"])
        pieces = dragoman.evaluate(LINES, LINES, tokenize="spm", tokenize_model=self.folder / "v")["bleu"]
        self.assertIn("tok:spm-", pieces.signature)
        with self.assertRaisesRegex(dragoman.Error, "--tokenize spm needs --tokenize-model"):
            dragoman.evaluate(LINES, LINES, tokenize="spm")
        with self.assertRaisesRegex(dragoman.Error, "--metrics evalb takes one file of --references, found 2"):
            dragoman.evaluate(["(S (A a))"], [["(S (A a))"]] * 2, metrics=["evalb"])
        with self.assertRaisesRegex(dragoman.Error, "--lowercase is for --metrics bleu .*, not for ter"):
            dragoman.evaluate(["a"], ["a"], metrics=["ter"], lowercase=True)
        with self.assertRaisesRegex(dragoman.Error, "hypotheses has 1 line, reference 1 has 2 lines"):
            dragoman.evaluate(["a"], ["a", "b"])

    def test_encodes_and_decodes(self):
        vocabulary = dragoman.Vocabulary(str(self.folder / "v"))
        ids = vocabulary.encode(LINES[3])
        self.assertEqual(vocabulary.decode(ids), LINES[3].strip())
        self.assertEqual([vocabulary.piece(i) for i in ids], vocabulary.encode_pieces(LINES[3]))
        self.assertEqual(len(vocabulary), 500)
        self.assertEqual(dragoman.ModelFile(self.model).source_vocabulary.encode(LINES[3]), ids)
        with self.assertRaises(dragoman.Error):
            vocabulary.decode([500])

    @unittest.skipUnless(NUMPY, "numpy is not installed")
    def test_shows_the_weights_of_a_model_file(self):
        file = dragoman.ModelFile(self.model)
        self.assertEqual(file.config["dim"], 16)
        weights = file.weights
        del file  # the arrays keep what they look into
        data = self.model.read_bytes()
        size = int.from_bytes(data[:8], "little")
        header = json.loads(data[8 : 8 + size])
        names = [name for name in header if name != "__metadata__" and not name.startswith("vocabulary.")]
        self.assertEqual(sorted(weights), sorted(names))
        for name in names:
            begin, end = header[name]["data_offsets"]
            self.assertEqual(weights[name].tobytes(), data[8 + size + begin : 8 + size + end])
            self.assertEqual(list(weights[name].shape), header[name]["shape"])
        self.assertFalse(next(iter(weights.values())).flags.writeable)

    def test_what_is_public_has_a_docstring_and_annotations_that_can_be_evaluated(self):
        for name in dragoman.__all__:
            thing = getattr(dragoman, name)
            if isinstance(thing, str):
                continue
            self.assertTrue(thing.__doc__, name)
            for member, value in vars(thing).items() if isinstance(thing, type) else ():
                if not member.startswith("_") and (callable(value) or hasattr(value, "__get__")):
                    if not dataclasses.is_dataclass(thing):
                        self.assertTrue(value.__doc__, f"{name}.{member}")
                    self.assertNotIn("object", str(value.__doc__).split("\n", maxsplit=1)[0], f"{name}.{member}")
            if sys.version_info >= (3, 10) and not issubclass(type(thing), type):
                typing.get_type_hints(thing)
        for function in (dragoman.Translator.translate, dragoman.Translator.stream, dragoman.Scorer.score):
            if sys.version_info >= (3, 10):
                self.assertIn("return", typing.get_type_hints(function))

    def test_has_stubs_of_what_the_module_has(self):
        tree = ast.parse((Path(dragoman.__file__).parent / "_dragoman.pyi").read_text(encoding="utf-8"))

        def names(body):
            return {n.name for n in body if isinstance(n, (ast.FunctionDef, ast.ClassDef))} | {
                n.target.id for n in body if isinstance(n, ast.AnnAssign)}

        self.assertEqual(names(tree.body) - {"__version__"}, {n for n in vars(_dragoman) if not n.startswith("_")})
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                made = {n for n in vars(getattr(_dragoman, node.name)) if not n.startswith("_")}
                self.assertEqual({n for n in names(node.body) if not n.startswith("_")}, made, node.name)
        self.assertEqual(dragoman.__version__, self.command("--version").split()[1])


class Processes(PackageTest):
    def test_is_interrupted_by_ctrl_c(self):
        program = f"""
import sys, dragoman
t = dragoman.Translator(sys.argv[1])
def lines():
    yield 'a house'
    print('begun', flush=True)
try: list(t.translate(lines(), **{SLOW}))
except KeyboardInterrupt: print('interrupted', t.translate('a house') != '')
"""
        child = subprocess.Popen([sys.executable, "-B", "-c", program, str(self.model)], encoding="utf-8",
                                 stdout=subprocess.PIPE, env=os.environ | {"PYTHONPATH": PACKAGE})
        self.assertEqual(child.stdout.readline(), "begun\n")
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.communicate(timeout=60)[0], "interrupted True\n")
        self.assertEqual(child.returncode, 0)

    def test_says_after_fork_that_the_child_needs_its_own(self):
        program = """
import itertools, os, sys, dragoman
t, s = dragoman.Translator(sys.argv[1], threads=2), dragoman.Scorer(sys.argv[1], threads=2)
t.translate(['a house'] * 50), s.score(['a'] * 50, ['b'] * 50)
lines = t.translate(itertools.repeat('a house'), read_ahead=10)
next(lines)
child = os.fork()
if child == 0:
    for work in (lambda: t.translate('a'), lambda: s.score(['a'], ['b']), lambda: list(lines)):
        try: work()
        except dragoman.Error as e: print(e, '|', e.hint, flush=True)
    print(dragoman.Translator(sys.argv[1], threads=2).translate('a house') != '', flush=True)
    sys.exit(0)  # with all that Python does at its end
print(os.waitpid(child, 0)[1])
"""
        lines = python(program, self.model).stdout.splitlines()
        self.assertEqual(len(lines), 5, lines)
        for line in lines[:3]:
            self.assertRegex(line, "(translator|scorer) was created before this process was forked.*after fork")
        self.assertEqual(lines[3:], ["True", "0"])

    def test_lets_the_interpreter_end_with_translations_under_way(self):
        program = """
import asyncio, sys, dragoman
t = dragoman.Translator(sys.argv[1], threads=2)
async def leave():
    for _ in range(20): asyncio.ensure_future(t.translate_async('a house', min_length=1000, max_length_add=1000))
    await asyncio.sleep(0)
asyncio.run(leave())
kept = [t._translator.submit(['a house'], '', dragoman._dragoman.SearchOptions(), True, lambda: None) for _ in range(50)]
"""
        done = python(program, self.model)
        self.assertEqual((done.stdout, done.stderr), ("", ""))

    def test_ends_while_daemon_threads_compute(self):
        for work in ("dragoman.Translator(sys.argv[1], threads=1)", "scorer.score(lines, lines)",
                     "translator.translate(lines)", "translator.translate('a house', glossary={'house': 'Haus'})",
                     "list(translator.stream('a red house'))",
                     "dragoman.evaluate(lines, lines, metrics=['ter', 'chrf++'], confidence=True)",
                     "dragoman.ModelFile(sys.argv[1])"):
            program = f"""
import sys, threading, time, dragoman
lines, scorer = ['a red house'] * 250, dragoman.Scorer(sys.argv[1], threads=1)
translator = dragoman.Translator(sys.argv[1], threads=1)
def work():
    while True: {work}
for _ in range(4): threading.Thread(target=work, daemon=True).start()
time.sleep(0.2)
"""
            with self.subTest(work):
                done = python(program, self.model)
                self.assertEqual((done.stdout, done.stderr), ("", ""))

    def test_agrees_beside_packages_with_libraries_of_the_same_names(self):
        program = ("import sys\nfor name in sys.argv[2:]: __import__(name)\nimport dragoman\n"
                   "for line in dragoman.Translator(sys.argv[1]).translate(sys.stdin.read().split(chr(10)), beam_size=3): print(line)\n"
                   "if 'torch' in sys.modules: import torch; print((torch.ones(64, 64) @ torch.ones(64, 64)).sum().item())\n"
                   "if 'sentencepiece' in sys.modules: import sentencepiece; "
                   "print(sentencepiece.SentencePieceProcessor(model_file=sys.argv[1].replace('m.safetensors', 'v')).vocab_size())")
        others = [name for name in ("sentencepiece", "torch") if importlib.util.find_spec(name)]
        if not others:
            self.skipTest("neither torch nor sentencepiece is installed")
        for modules in ([*others, "dragoman"], ["dragoman", *others], *([name] for name in others)):
            with self.subTest(modules):
                lines = python(program, self.model, *modules, text="\n".join(LINES[:50])).stdout.split("\n")[:-1]
                self.assertEqual(lines[:50], self.expected[:50])
                self.assertEqual(lines[50:], ["262144.0"] * ("torch" in modules) + ["500"] * ("sentencepiece" in modules))

    def test_shows_no_symbols_but_its_entry(self):
        names = run("nm", "-D", "--defined-only", _dragoman.__file__).stdout.splitlines()
        self.assertEqual([re.sub("@.*", "", line.split()[-1]) for line in names], ["PyInit__dragoman"])


if __name__ == "__main__":
    unittest.main()
