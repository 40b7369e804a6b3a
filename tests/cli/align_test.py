#!/usr/bin/env python3
"""End-to-end test of `dragoman align`: links of each pair, in either direction, and shortlists.

    align_test.py BINARY
"""

import json
import random

import command_case
from command_case import CommandCase

SMALL = ("--dim-emb 16 --transformer-heads 2 --transformer-dim-ffn 32 --enc-depth 1 --dec-depth 1 "
         "--mini-batch-words 256 --after 2u --cpu-threads 1 --quiet").split()
LEXICON = {"house": "haus", "book": "buch", "car": "auto", "red": "rot", "blue": "blau", "old": "alt", "new": "neu",
           "small": "klein", "tree": "baum", "dog": "hund", "cat": "katze", "and": "und", "river": "fluss"}


class Align(CommandCase):
    @classmethod
    def setUpClass(cls):
        """Sentences whose words are translated one by one, in the same order but for the last two."""
        super().setUpClass()
        chance = random.Random(7)
        cls.source = [[chance.choice(list(LEXICON)) for _ in range(chance.randint(2, 7))] for _ in range(400)]
        cls.target = [[LEXICON[w] for w in s[:-2] + [s[-1], s[-2]]] for s in cls.source]
        for name, lines in (("s", cls.source), ("t", cls.target)):
            cls.write(name, lines)
        (cls.folder / "both.tsv").write_text("".join(f"{' '.join(s)}\t{' '.join(t)}\n" for s, t in
                                                     zip(cls.source, cls.target)), encoding="utf-8")
        for side in "st":
            cls.succeed(f"vocab train --input {side} --model v{side} --size 340")

    @classmethod
    def write(cls, name, lines):
        (cls.folder / name).write_text("".join(" ".join(line) + "\n" for line in lines), encoding="utf-8")

    def pieces(self, side, file=None):
        return [line.split() for line in self.succeed(f"vocab encode -m v{side} -i {file or side}").splitlines()]

    def share_of_right(self, output):
        """Share of correct links between whole-word pieces."""
        lines = output.splitlines()
        self.assertEqual(len(lines), len(self.source))
        right = found = 0
        for line, source, target in zip(lines, self.pieces("s"), self.pieces("t")):
            for link in line.split():
                i, j = map(int, link.split("-"))
                word = source[i].removeprefix("▁")
                if source[i].startswith("▁") and word in LEXICON and target[j].startswith("▁"):
                    found += 1
                    right += target[j] == "▁" + LEXICON[word]
        self.assertGreater(found, 500)
        return right / found

    def test_links_are_right_in_both_directions(self):
        for more in ("", "--reverse", "--variational-bayes 0", "--fixed-tension --tension 1"):
            self.assertGreater(self.share_of_right(self.succeed(f"align -t s t -v vs vt --quiet {more}")), 0.9,
                               more)

    def test_links_are_in_the_order_of_the_side_that_has_one_link_per_piece(self):
        for more, side in (("", 1), ("--reverse", 0)):
            for line in self.succeed(f"align -t s t -v vs vt --quiet {more}").splitlines():
                positions = [int(link.split("-")[side]) for link in line.split()]
                self.assertEqual(positions, sorted(set(positions)), more)

    def test_links_of_both_directions_are_joined(self):
        links = lambda more: [set(line.split()) for line in
                              self.succeed(f"align -t s t -v vs vt --quiet {more}").split("\n")]
        forward, reverse, both, either = map(links, ("", "--reverse", "--symmetrize intersect", "--symmetrize union"))
        self.assertEqual(both, [f & r for f, r in zip(forward, reverse)])
        self.assertEqual(either, [f | r for f, r in zip(forward, reverse)])
        self.assertNotEqual(both, either)
        grown = [links(f"--symmetrize {name}") for name in ("grow-diag", "grow-diag-final-and", "grow-diag-final")]
        for line in zip(both, *grown, either):
            for fewer, more in zip(line, line[1:]):
                self.assertLessEqual(fewer, more)
        output = self.succeed("align -t s t -v vs vt --quiet --symmetrize grow-diag-final-and")
        self.assertGreater(self.share_of_right(output), 0.9)
        for line in output.splitlines():
            pairs = [tuple(map(int, link.split("-"))) for link in line.split()]
            self.assertEqual(pairs, sorted(pairs))
        self.assertEqual(self.succeed("align -t s t -v vs vt --quiet --symmetrize grow-diag-final-and "
                                          "--cpu-threads 3"), output)
        said = self.call("align -t s t -v vs vt --symmetrize union").stderr
        self.assertEqual(said.count("Iteration 5 of 5"), 2)

    def test_threads_and_the_form_of_the_text_change_nothing(self):
        expected = self.succeed("align -t s t -v vs vt --quiet")
        for more in ("-t s t --cpu-threads 3", "-t both.tsv --tsv"):
            self.assertEqual(self.succeed(f"align -v vs vt --quiet {more}"), expected, more)
        self.write("ps", self.pieces("s"))
        self.write("pt", self.pieces("t"))
        self.assertEqual(self.succeed("align -t ps pt -v vs vt --quiet --no-spm-encode"), expected)

    def test_every_pair_is_a_line(self):
        self.write("odd.s", self.source[:20] + [[], ["the", "dog"], []] + [["dog"] * 300])
        self.write("odd.t", self.target[:20] + [["hund"], [], []] + [["hund"] * 300])
        done = self.call("align -t odd.s odd.t -v vs vt")
        self.assertEqual(done.stdout.split("\n")[20:], ["", "", "", "", ""])
        self.assertIn("1 of 24 pairs have more than 200 pieces on a side", done.stderr)
        self.assertIn("Iteration 5 of 5: perplexity ", done.stderr)
        self.assertEqual(self.succeed("align -t odd.s odd.t -v vs vt --max-length 300 --quiet").count("\n"), 24)
        joined = self.succeed("align -t odd.s odd.t -v vs vt --quiet --symmetrize union")
        self.assertEqual(joined.split("\n")[20:], ["", "", "", "", ""])

    def test_a_shortlist_is_written_for_the_vocabularies_of_a_model(self):
        self.succeed("train -t s t -v vs vt -m m.safetensors", *SMALL)
        self.assertEqual(self.succeed("align -t s t -m m.safetensors --shortlist a --quiet"), "")
        self.assertEqual(self.succeed("align -t s t -v vs vt --shortlist b --quiet"), "")
        read = lambda name: (self.folder / name).read_bytes()
        self.assertEqual(read("a"), read("b"))
        self.assertNotEqual(self.succeed("align -t s t -v vs vt --shortlist c -o - --quiet"), "")
        self.assertEqual(read("c"), read("b"))
        self.succeed("align -t s t -v vs vt --shortlist few --first 3 --best 2 --quiet")
        self.assertLess(len(read("few")), len(read("a")))
        self.assertIn("a shortlist, not a model", self.succeed("inspect few"))
        found = json.loads(self.succeed("inspect few --json"))
        self.assertEqual((found["kind"], found["first"], found["source_pieces"]), ("shortlist", 4, 340))

    def test_a_configuration_may_name_null(self):
        options = "align -t s t -v vs vt --null 0.2"
        dumped = self.call(f"{options} --dump-config minimal").stdout
        (self.folder / "align.yml").write_text(dumped, encoding="utf-8")
        read = self.call("align -c align.yml --dump-config minimal")
        self.assertEqual((read.returncode, read.stdout), (0, dumped), read.stderr)
        self.assertIn("null: 0.2\n", dumped)

    def test_options_that_contradict_each_other_are_named(self):
        for options, *named in (("", "--vocabs is missing"), ("-v vs vt -m m", "--vocabs and --model"),
                                ("-v vs vt --shortlist x --reverse", "--reverse", "--shortlist"),
                                ("-v vs vt --symmetrize union --reverse", "--symmetrize", "--reverse"),
                                ("-v vs vt --symmetrize union --shortlist x", "--symmetrize", "--shortlist"),
                                ("-v vs vt --symmetrize grow", "grow-diag-final-and"),
                                ("-v vs vt --best 3", "--best", "--shortlist"), ("-v vs", "--vocabs")):
            done = self.call(f"align -t s t {options}")
            self.assertEqual((done.returncode, done.stdout), (2, ""), options)
            for words in named:
                self.assertIn(words, done.stderr, options)


if __name__ == "__main__":
    command_case.main()
