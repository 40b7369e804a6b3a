#!/usr/bin/env python3
"""scripts/trees on trees written by hand and brackets as bad as a model may write them, and scripts/parsing on a small
treebank of its own.

    trees_test.py BINARY
"""

import gzip
import json
import lzma
import os
import random
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BINARY = ""  # from the command line
SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
CATS = "(S (NP (NNS cats)) (VP (VBP sleep)))"
# labels with functions, traces and what holds nothing else, an outer bracket without a label, over two lines
PENN = """( (S (NP-SBJ-1 (DT the) (NN cat))
     (VP (VBD was) (VP (VBN seen) (NP (-NONE- *-1)))) (-LRB- -LRB-) (. .)))
(TOP (NP=2 (NN rain)))
(FRAG (NN snow))
"""
RECIPE = """
dim-emb: 32
transformer-heads: 2
transformer-dim-ffn: 64
enc-depth: 1
dec-depth: 1
transformer-dropout: 0
mini-batch-words: 600
learn-rate: 0.01
lr-warmup: 20
after: 150u
save-freq: 50u
keep-last: 2
quiet: true
"""


class Trees(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")
        return name

    def call(self, *arguments, text=""):
        return subprocess.run([sys.executable, "-B", SCRIPTS / "trees", *arguments], cwd=self.folder, timeout=60,
                              check=False, input=text, encoding="utf-8", capture_output=True)

    def lines(self, *arguments, text=""):
        done = self.call(*arguments, text=text)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def joined(self, words, brackets, learned="(S (N a) (V b))"):
        return self.lines("join", self.write("words", words + "\n"), self.write("brackets", brackets + "\n"),
                          self.write("learned", learned))

    def test_trees_become_lines(self):
        for penn in (self.write("penn", PENN), "packed.xz"):
            (self.folder / "packed.xz").write_bytes(lzma.compress(PENN.encode()))
            self.assertEqual(self.lines("words", penn), ["the cat was seen -LRB- .", "rain", "snow"])
            self.assertEqual(self.lines("brackets", penn),
                             ["(S (NP DT NN )NP (VP VBD (VP VBN )VP )VP -LRB- . )S", "(NP NN )NP", "(FRAG NN )FRAG"])
            self.assertEqual(self.lines("lines", penn),
                             ["(ROOT (S (NP (DT the) (NN cat)) (VP (VBD was) (VP (VBN seen))) (-LRB- -LRB-) (. .)))",
                              "(ROOT (NP (NN rain)))", "(ROOT (FRAG (NN snow)))"])
            self.assertEqual(self.lines("symbols", penn), ["▁(FRAG ▁(NP ▁(S ▁(VP ▁)FRAG ▁)NP ▁)S ▁)VP ▁-LRB- ▁. ▁DT ▁NN ▁VBD ▁VBN"])

    def test_right_brackets_give_the_tree_back(self):
        self.assertEqual(self.joined("cats sleep", "(S (NP NNS )NP (VP VBP )VP )S"), [f"(ROOT {CATS})"])

    def test_wrong_brackets_give_the_nearest_tree(self):
        for brackets, expected in (
                ("(S (NP N )NP (VP V", "(S (NP (N a)) (VP (V b)))"),   # open ones are closed at the end
                ("(S (NP N (VP V )S", "(S (NP (N a) (VP (V b))))"),    # and with what holds them
                ("(S N )NP V )S )S", "(S (N a) (V b))"),               # closing ones without an opening one
                ("(S N )S", "(S (N a) (XX b))"), ("(S N V N )S", "(S (N a) (V b))"),  # too few, too many words
                ("(S N )S V", "(S (N a)) (V b)"), ("(S )S N", "(N a) (XX b)"),
                ("(S (NP )NP N V )S", "(S (N a) (V b))"),              # a constituent without words
                ("", "(XX a) (XX b)"), ("(S )S", "(S (XX a) (XX b))")):
            with self.subTest(brackets):
                self.assertEqual(self.joined("a b", brackets), [f"(ROOT {expected})"])

    def test_tags_find_their_words_where_the_model_has_passed_over_some_or_has_too_many(self):
        learned = "(S (DT the) (JJ old) (NN cat) (VB sat))"
        for words, brackets, expected in (
                ("the old cat sat", "(S (NP DT NN )NP (VP VB )VP )S",
                 "(S (NP (DT the) (XX old) (NN cat)) (VP (VB sat)))"),
                ("the cat sat", "(S (NP DT JJ NN )NP (VP VB )VP )S", "(S (NP (DT the) (NN cat)) (VP (VB sat)))"),
                # of words that were not learned from, the last two letters count
                ("a bold rat", "(NP DT NN )NP", "(NP (DT a) (XX bold) (NN rat))"),
                ("old the bobcat", "(NP DT NN )NP", "(NP (XX old) (DT the) (NN bobcat))")):
            with self.subTest(brackets):
                self.assertEqual(self.joined(words, brackets, learned), [f"(ROOT {expected})"])

    def test_parentheses_in_words_are_spelt(self):
        self.assertEqual(self.joined("f(x)", "(NP NN )NP"), ["(ROOT (NP (NN f-LRB-x-RRB-)))"])

    def test_any_brackets_give_a_tree_with_the_words(self):
        rng = random.Random(1)
        symbols = "(S (NP (VP )S )NP )VP N V ,".split()
        lengths = [rng.randint(1, 9) for _ in range(300)]
        gold = "".join("(S {})\n".format(" ".join(f"(NN w{i})" for i in range(n))) for n in lengths)
        words = "\n".join(" ".join(f"w{i}" for i in range(n)) for n in lengths)
        brackets = "\n".join(" ".join(rng.choices(symbols, k=rng.randint(0, 20))) for _ in lengths)
        self.write("parsed", "\n".join(self.joined(words, brackets)) + "\n")
        done = subprocess.run([BINARY, "evaluate", "-r", self.write("gold", gold), "-i", "parsed", "--metrics", "evalb",
                               "--json"], cwd=self.folder, timeout=60, check=True, capture_output=True)
        page = json.loads(done.stdout)
        self.assertEqual((page["evalb_malformed"], page["evalb_other_words"]), (0, 0))

    def test_what_is_no_tree_is_named(self):
        for text, message in (("(S (NN a)\n", "-: ends within a tree, 1 closing brackets are missing"),
                              (f"{CATS}\nrain\n", "-, line 2: expected an opening bracket, found 'rain'"),
                              (f"{CATS})\n", "-, line 1: expected an opening bracket, found ')'"),
                              ("(NP the (NN cat))", "-, line 1: expected a bracket around each word, found '(NN' beside"),
                              ("(NP (DT the) cat)", "-, line 1: expected a bracket around each word, found 'cat' beside"),
                              ("(NN a b)", "-, line 1: expected a bracket around each word, found 'b' beside others"),
                              ("(NN a (DT b))", "-, line 1: expected a bracket around each word, found '(DT' beside")):
            done = self.call("words", "-", text=text)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"error: {message}", done.stderr)
        done = self.call("join", self.write("one", "a\n"), self.write("two", "(S\n(S\n"), "one")
        self.assertEqual((done.returncode, done.stderr.split(":")[1]), (2, " one has 1 lines, two has 2"))
        self.assertIn("expected what to do and files", self.call("prune", "x").stderr)
        self.assertIn("nowhere", self.call("words", "nowhere").stderr)

    def test_files_that_cannot_be_read_are_named(self):
        trees = 200 * PENN.encode()
        packed, zipped = lzma.compress(trees), gzip.compress(trees)
        for name, data, message in (("latin", b"(NN caf\xe9)\n", "expected text in UTF-8"),
                                    ("cut.xz", packed[:-40], "damaged or truncated"),
                                    ("damaged.xz", packed[:60] + b"damage" + packed[66:], "damaged or truncated"),
                                    ("cut.gz", zipped[:-40], "damaged or truncated"),
                                    ("damaged.gz", zipped[:60] + b"damage" + zipped[66:], "damaged or truncated"),
                                    ("plain.gz", trees, "damaged or truncated")):
            (self.folder / name).write_bytes(data)
            self.write("one", "cats\n")
            for call in (("words", name), ("join", name, "one", "one"), ("join", "one", name, "one")):
                done = self.call(*call)
                self.assertEqual(done.returncode, 2, call)
                self.assertRegex(done.stderr, f"^error: {name}: .*{message}")

    def test_the_large_recipe_takes_nothing_from_the_small_one(self):
        def effective(*recipes):
            return subprocess.run([BINARY, "train", "-c", *(SCRIPTS.parent / "recipes" / name for name in recipes),
                                   *"-t s t --valid-sets s t -v v w -m m --dump-config full".split()], check=True,
                                  encoding="utf-8", capture_output=True).stdout

        self.assertEqual(effective("parsing-tiny.yml", "parsing.yml"), effective("parsing.yml"))

    def test_a_parser_is_trained_and_measured(self):
        trees = [f"(S (NP (DT {d}) (NN {n})) (VP (ADVP (RB now)) (VBD {v}) (PP (IN with) (NP (DT {e}) (NN {m})))) (. .))\n"
                 for d in ("the", "a") for n in ("cat", "dog", "man") for v in ("ran", "met") for e in ("the", "one")
                 for m in ("bird", "tree", "boy", "girl")]
        for name in ("train", "dev", "test"):
            self.write(f"{name}.clean.mrg", "".join(trees[:40] if name == "test" else trees))
        (self.folder / "the program").symlink_to(BINARY)
        environment = os.environ | {"DRAGOMAN": "./the program", "VOCAB": "300", "THREADS": "1"}
        call = [SCRIPTS / "parsing", ".", "run", self.write("recipe.yml", RECIPE)]
        for _ in range(2):  # the second time nothing is left to do but to parse
            done = subprocess.run(call, cwd=self.folder, timeout=200, check=False, encoding="utf-8", capture_output=True,
                                  env=environment)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertRegex(done.stdout, r"EVALB  precision  recall  complete\n\S+ +\d+\.\d+ ")
        options = subprocess.run([BINARY, "inspect", "--options", "run/model.safetensors"], cwd=self.folder, check=True,
                                 encoding="utf-8", capture_output=True).stdout
        self.assertIn("transformer-positions: rotary", options)  # of recipes/parsing-tiny.yml
        parsed = (self.folder / "run/test.parsed").read_text(encoding="utf-8").splitlines()
        self.assertEqual(len(parsed), 40)
        self.assertGreater(float(done.stdout.split("complete\n")[1].split()[1]), 90)
        done = subprocess.run([*call[:1], self.folder / "run"], check=False, encoding="utf-8", capture_output=True,
                              env=environment)
        self.assertEqual(done.returncode, 2)
        self.assertIn("train.clean.mrg is missing, plain or with .xz, .gz", done.stderr)


if __name__ == "__main__":
    BINARY = os.path.abspath(sys.argv.pop(1))
    unittest.main()
