#!/usr/bin/env python3
"""End-to-end test of the text that `dragoman train` reads: several corpora, files with both sides, weights, limited
memory, protected pieces.

    corpora_test.py BINARY
"""

import re
import subprocess
from itertools import product

import command_case
from command_case import CommandCase

SMALL = ("--dim-emb 8 --transformer-heads 2 --transformer-dim-ffn 16 --enc-depth 1 --dec-depth 1 "
         "--mini-batch-words 64 --learn-rate 0.02 --lr-warmup 10 --cpu-threads 1 --quiet").split()


class WithText(CommandCase):
    """A folder with text (s, t), the same in two halves (s1, t1, s2, t2), with both sides in one file (tsv, tsv1, tsv2),
    and its vocabulary (v)."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        words = list(product(("red", "blue", "green", "old"), ("house", "book", "car"), ("new", "small", "near")))
        cls.source = ["the {} {} is {}\n".format(*w) for w in words]
        cls.target = ["das {1} {0} ist {2}\n".format(*w) for w in words]
        columns = [s[:-1] + "\t" + t for s, t in zip(cls.source, cls.target)]
        for name, lines in (("s", cls.source), ("t", cls.target), ("tsv", columns)):
            cls.write(name, lines)
            cls.write(name + "1", lines[:10])
            cls.write(name + "2", lines[10:])
        cls.succeed("vocab train --input s t --model v --size 300")

    @classmethod
    def write(cls, name, lines):
        (cls.folder / name).write_text("".join(lines), encoding="utf-8")

    @classmethod
    def trained(cls, options, vocabs="v v", model="m"):
        """The bytes of the state after training with these options before the usual ones."""
        cls.succeed(f"train {options} -v {vocabs} -m {model}.safetensors", *SMALL)
        return (cls.folder / f"{model}.state.safetensors").read_bytes()

    def fails(self, command):
        done = self.call(command)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        return done.stderr


class SeveralCorpora(WithText):
    def test_give_the_run_that_their_texts_put_together_give(self):
        whole = self.trained("-t s t --after 20u --no-reload")
        self.assertEqual(self.trained("-t s1 t1 s2 t2 --after 20u --no-reload"), whole)
        self.assertEqual(self.trained("-t tsv --tsv --after 20u --no-reload"), whole)
        self.assertEqual(self.trained("-t tsv1 tsv2 --tsv --after 20u --no-reload"), whole)

    def test_may_be_given_anew_between_calls(self):
        whole = self.trained("-t s t --after 9u --no-reload")
        self.trained("-t s t --after 4u --no-reload")
        self.assertEqual(self.trained("-t tsv1 tsv2 --tsv --after 9u"), whole)

    def test_make_the_vocabularies_of_both_sides(self):
        def vocabulary(name, options):
            self.trained(f"{options} --dim-vocabs 290 --after 1u --no-reload", vocabs=name)
            return [(self.folder / n).read_bytes() for n in name.split()]

        self.assertEqual(vocabulary("j1 j1", "-t s1 t1 s2 t2"), vocabulary("j2 j2", "-t s t"))
        sides = vocabulary("a1 b1", "-t s t")
        self.assertEqual(vocabulary("a2 b2", "-t s1 t1 s2 t2"), sides)
        self.assertEqual(vocabulary("a3 b3", "-t tsv --tsv"), sides)
        vocabulary("j3 j3", "-t tsv --tsv")
        pieces = self.succeed("vocab encode -m j3 -i s t")
        self.assertIn("▁t he ", pieces)
        self.assertIn("▁das ", pieces)

    def test_that_fail_before_the_first_update_leave_no_vocabulary(self):
        run = "train -t s t -v lost lost -m lost.safetensors --dim-vocabs 290 --after 1u --valid-sets"
        said = self.fails(f"{run} s t1")
        self.assertLess(said.index("learning the vocabulary"), said.index(
            "lost is removed again: the run ends before its first update, and the next one makes it anew"))
        self.assertFalse((self.folder / "lost").exists())
        said = self.fails(f"{run} s t".replace("-t s t", "-t s t1"))
        self.assertNotIn("learning the vocabulary", said)
        self.assertNotIn("removed", said)

    def test_make_vocabularies_of_a_sample_of_their_lines(self):
        few = "--sentencepiece-max-lines 150"
        made = {}
        for name, more in (("all", ""), ("some", few)):
            self.trained(f"-t s t --dim-vocabs 280 --after 1u --no-reload {more}", vocabs=f"{name} {name}")
            made[name] = (self.folder / name).read_bytes()
        self.assertNotEqual(made["some"], made["all"])
        self.succeed(f"vocab train -m alone -i s t --size 280 {few}")
        self.assertEqual((self.folder / "alone").read_bytes(), made["some"])

    def test_make_lists_of_tokens_as_marian_does(self):
        lists = "source.yml target.yml"
        self.trained("-t s1 t1 s2 t2 --decoder-start zero --after 1u", vocabs=lists, model="lists")
        listed = (self.folder / "source.yml").read_text().splitlines()
        self.assertEqual(listed[:4], ['"</s>": 0', '"<unk>": 1', '"is": 2', '"the": 3'])
        self.assertEqual(len(listed), 4 + 4 + 3 + 3)
        self.trained("-t s t --decoder-start zero --after 1u --dim-vocabs 100", vocabs=lists, model="again")
        said = self.fails(f"train -t s t -v {lists} -m new --decoder-start zero --dim-vocabs 16 14")
        self.assertIn("--dim-vocabs: 14 is out of range", said)
        said = self.fails("train -t s t -v short.yml short.yml -m new --decoder-start bos --dim-vocabs 16")
        self.assertIn("--decoder-start bos is a piece that short.yml does not have", said)
        self.assertFalse((self.folder / "short.yml").exists())

    def test_are_validated_on_in_the_same_way(self):
        often = "--after 3u --valid-freq 1u --no-reload"  # the state holds the best figure
        self.assertEqual(self.trained(f"-t tsv --tsv --valid-sets tsv1 {often}"),
                         self.trained(f"-t s t --valid-sets s1 t1 {often}"))

    def test_are_surveyed_together(self):
        page = self.succeed("data -t tsv1 tsv2 --tsv -v v v")
        self.assertTrue(page.startswith("tsv1, tsv2\n"), page)
        self.assertEqual(page.split("\n", 1)[1].replace("tsv1, tsv2", "x"),
                         self.succeed("data -t s1 t1 s2 t2 -v v v").split("\n", 1)[1]
                         .replace("s1, s2", "x").replace("t1, t2", "x"))

    def test_have_weights(self):
        def pairs(weights):
            self.trained(f"-t s1 t1 s2 t2 --after 1e --no-reload --corpus-weights {weights}", model="w")
            state = (self.folder / "w.state.safetensors").read_bytes()
            return int(re.search(rb'\\"sentences\\":(\d+)', state)[1])

        self.assertEqual(pairs("1 1"), 36)
        self.assertEqual(pairs("2 0"), 20)
        self.assertGreater(pairs("1 0.5"), 10)
        self.assertLess(pairs("1 0.5"), 36)

    def test_that_are_not_what_the_options_say_are_errors(self):
        train = "train -v v v -m new "
        self.assertIn("--train-sets takes two files for each corpus, source and target, found 3: s1 t1 s2",
                      self.fails(train + "-t s1 t1 s2"))
        self.assertIn("error: s, line 1: has no tab", self.fails(train + "-t tsv s --tsv"))
        self.assertIn("--valid-sets takes one file with --tsv, found 2: s t",
                      self.fails(train + "-t tsv --tsv --valid-sets s t"))
        self.assertIn("error: s1 has 10 lines, t has 36", self.fails(train + "-t s t s1 t"))
        self.assertFalse((self.folder / "new").exists())


class LimitedMemory(WithText):
    """The encoded text takes about 7 KB."""

    def test_gives_the_same_run_and_may_change_on_the_way(self):
        self.folder.joinpath("tmp").mkdir()
        options = "-t s t --no-reload --optimizer-delay 1"
        for more in ("", "--sentencepiece-alphas 0.1", "--corpus-weights 1.5"):
            whole = self.trained(f"{options} --after 30u {more}")
            self.assertEqual(self.trained(f"{options} --after 30u {more} --ram 3K --tempdir tmp"), whole, more)
            self.trained(f"{options} --after 9u {more}")
            resumed = options.replace("--no-reload", "")
            self.trained(f"{resumed} --after 17u {more} --ram 3K --tempdir tmp")
            self.assertEqual(self.trained(f"{resumed} --after 30u {more} --ram 1G"), whole, more)
            self.assertEqual(list((self.folder / "tmp").iterdir()), [])

    def test_leaves_nothing_behind_when_killed(self):
        self.folder.joinpath("killed").mkdir()
        command = f"train -t s t -v v v -m k.safetensors --ram 3K --tempdir killed --after 1000e --no-reload {' '.join(SMALL[:-1])}"
        with subprocess.Popen([self.BINARY, *command.split(), "--disp-freq", "1"], cwd=self.folder, encoding="utf-8",
                              stderr=subprocess.PIPE) as run:
            said = ""
            while "Up. 3 " not in said:
                said = run.stderr.readline()
                self.assertTrue(said, "the run has ended")
                if "temporary file in killed" in said:
                    self.assertIn("of ids in a temporary file", said)
            run.kill()
        self.assertEqual(list((self.folder / "killed").iterdir()), [])

    def test_that_is_too_little_is_an_error(self):
        train = "train -t s t -v v v -m new "
        self.assertIn("--ram 0.25K is too little: the lengths and order of 36 pairs alone take 0.4 KiB",
                      self.fails(train + "--ram 0.25K"))
        self.assertIn("--tempdir /proc has 0.0 KiB free", self.fails(train + "--ram 3K --tempdir /proc"))
        self.assertIn("--ram: '512' is not an amount of memory", self.fails(train + "--ram 512"))


class ProtectedSymbols(WithText):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.write("tagged.s", [f"<2de> {line}" for line in cls.source])
        cls.write("tagged.t", [f"<de> {line}" for line in cls.target])

    def test_are_one_piece_from_training_to_translation(self):
        self.trained("-t tagged.s tagged.t --protected-symbols <2de> <de> --dim-vocabs 300 --after 80u", vocabs="p p")
        pieces = self.succeed("vocab encode -m p -i tagged.s tagged.t")
        self.assertEqual((pieces.count("▁ <2de> "), pieces.count("▁ <de> ")), (36, 36), pieces)
        self.assertIn("\nprotected      <2de> <de>\n", self.succeed("vocab inspect -m p"))
        found = self.succeed("translate -m m.safetensors --quiet -i tagged.s").splitlines()
        self.assertEqual([line.split(" ")[0] for line in found], ["<de>"] * 36)

    def test_are_those_of_vocab_train(self):
        self.succeed("vocab train -i tagged.s tagged.t -m q --size 300 --protected-symbols <2de> <de>")
        self.succeed("vocab train -i tagged.s tagged.t -m r --size 300 --user-symbols <2de> <de>")
        self.assertEqual((self.folder / "q").read_bytes(), (self.folder / "r").read_bytes())
        self.trained("-t tagged.s tagged.t --protected-symbols <de> --after 1u --no-reload", vocabs="q q")

    def test_that_a_vocabulary_lacks_are_an_error(self):
        said = self.fails("train -t tagged.s tagged.t -v v v -m new --protected-symbols <2de>")
        self.assertIn("error: v has no protected symbol <2de>, which --protected-symbols asks for", said)
        self.assertFalse((self.folder / "new").exists())


if __name__ == "__main__":
    command_case.main()
