#!/usr/bin/env python3
"""End-to-end test of `dragoman train --guided-alignment`: the model aligns new pairs as it was taught.

    guided_alignment_test.py BINARY
"""

import json
import random
import re

import command_case
from command_case import CommandCase

SMALL = ("--dim-emb 32 --transformer-heads 4 --transformer-dim-ffn 64 --enc-depth 1 --dec-depth 2 "
         "--mini-batch-words 512 --learn-rate 0.01 --lr-warmup 30 --transformer-dropout 0 --cpu-threads 1")
TEXT = "-t s t -v letters.txt letters.txt --decoder-start zero"
LETTERS = "abcdefghijklmnopqrst"


def links_of(length):
    """A translation is the source backwards, and ends where it ends."""
    return " ".join(f"{length - 1 - t}-{t}" for t in range(length))


class GuidedAlignment(CommandCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        draw = random.Random(1)
        pairs = [draw.choices(LETTERS, k=draw.randint(2, 6)) for _ in range(1200)]
        for name, some in (("", pairs[:1100]), ("new.", pairs[1100:])):
            cls.write(f"{name}s", [" ".join(letters) for letters in some])
            cls.write(f"{name}t", [" ".join(letters[::-1]).upper() for letters in some])
            cls.write(f"{name}links", [links_of(len(letters)) for letters in some])
        cls.write("letters.txt", ["</s>", "<unk>", *LETTERS, *LETTERS.upper()])
        cls.train("m", "--guided-alignment links --guided-alignment-weight 1 --after 300u --log-json log")

    @classmethod
    def write(cls, name, lines):
        (cls.folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    @classmethod
    def train(cls, model, more):
        done = cls.call(f"train {TEXT} -m {model}.safetensors {SMALL} {more}")
        if done.returncode:
            raise AssertionError(done.stderr)
        return done.stderr

    def refused(self, more):
        done = self.call(f"train {TEXT} -m refused.safetensors "
                                f"{SMALL} --after 1u {more}")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertFalse((self.folder / "refused.safetensors").exists())
        return done.stderr

    def test_alignments_of_new_pairs_are_those_that_were_taught(self):
        self.aligns_as_taught("m")

    def test_recurrent_models_learn_them_too(self):
        for attention in ("bahdanau", "luong"):
            done = self.call(f"train {TEXT} -m {attention}.safetensors --type s2s --rnn-attention {attention} "
                                    "--dim-emb 32 --dim-rnn 32 --dropout-rnn 0 --mini-batch-words 512 --learn-rate 0.02 "
                                    "--lr-warmup 30 --cpu-threads 1 --guided-alignment links --guided-alignment-weight 1 "
                                    "--after 300u")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.aligns_as_taught(attention)

    def aligns_as_taught(self, model):
        done = self.call(f"score -m {model}.safetensors -t new.s new.t --alignment hard")
        found = [set(line.split(" ||| ")[1].split()) for line in done.stdout.splitlines()]
        taught = [set(line.split()) for line in (self.folder / "new.links").read_text().splitlines()]
        self.assertEqual(len(found), len(taught))
        right = sum(len(f & t) for f, t in zip(found, taught)) / sum(map(len, taught))
        self.assertGreater(right, 0.9)

    def test_the_log_has_the_cost_of_links_which_falls(self):
        events = [json.loads(line) for line in (self.folder / "log").read_text().splitlines()]
        costs = [event["alignment_cost"] for event in events if event["event"] == "report"]
        self.assertGreater(len(costs), 1)
        self.assertLess(costs[-1], costs[0] / 2)

    def test_the_model_says_which_head_it_is(self):
        done = self.call("inspect m.safetensors --json")
        self.assertEqual(json.loads(done.stdout)["config"]["alignment_heads"], 1)

    def test_another_layer_may_learn(self):
        log = self.train("first", "--guided-alignment links --transformer-guided-alignment-layer 1 --after 3u "
                                  "--disp-freq 1u")
        self.assertIn(" : Alignment ", log)
        options = self.call("inspect first.safetensors --options").stdout
        self.assertIn("transformer-guided-alignment-layer: 1", options)

    def test_options_of_marian_are_read_as_they_are(self):
        log = self.train("marian", "--guided-alignment links --guided-alignment-cost ce --guided-alignment-weight 0.1 "
                                   "--transformer-guided-alignment-layer last --after 1u --disp-freq 1u")
        self.assertIn(" : Alignment ", log)
        self.assertNotIn(" : Alignment ", self.train("none", "--guided-alignment none --after 1u --disp-freq 1u"))

    def test_a_dry_run_reads_the_links(self):
        done = self.call(f"train {TEXT} -m d.safetensors "
                                f"{SMALL} --after 1u --dry-run --guided-alignment new.links")
        self.assertEqual(done.returncode, 2)
        self.assertIn("new.links has 100 lines, s has 1,100", done.stderr)

    def test_processes_share_the_links(self):
        costs = []
        for processes in (1, 2):
            log = self.train(f"p{processes}", "--guided-alignment links --after 5u --gradient-shards 2 --disp-freq 5u "
                                              f"--processes {processes}")
            costs.append(re.findall(r"Alignment (\S+)", log))
        self.assertEqual(*costs)
        self.assertEqual(*((self.folder / f"p{processes}.safetensors").read_bytes() for processes in (1, 2)))

    def test_a_run_that_resumes_needs_its_links(self):
        self.train("again", "--guided-alignment links --after 2u")
        self.train("without", "--after 2u")
        self.train("layer", "--guided-alignment links --transformer-guided-alignment-layer 1 --after 2u")
        for model, more, message in (("again", "", "was trained with --guided-alignment\n  hint: give it again"),
                                     ("without", "--guided-alignment links",
                                      "was trained without --guided-alignment\n  hint: leave it out"),
                                     ("layer", "", "was trained with --guided-alignment\n  hint: give it again"),
                                     ("layer", "--dec-depth 3",
                                      "it was trained with --guided-alignment; --dec-depth is 2, here 3;")):
            done = self.call(f"train {TEXT} -m {model}.safetensors {SMALL} --after 3u {more}")
            self.assertEqual(done.returncode, 2)
            self.assertIn(message, done.stderr)
            self.assertNotIn("alignment_heads", done.stderr)

    def test_bad_links_are_errors(self):
        lines = (self.folder / "links").read_text().splitlines()
        for changed, expected in (([lines[0], "0-0 x", *lines[2:]], "bad, line 2: 'x' is not a link, expected numbers"),
                                  ([lines[0], "0-99", *lines[2:]], "bad, line 2: the link 0-99 is beyond the pair"),
                                  (lines[:-1], "bad has 1,099 lines, s has 1,100")):
            with self.subTest(expected):
                self.write("bad", changed)
                self.assertIn(expected, self.refused("--guided-alignment bad"))
        self.write("bad", [""] * len(lines))
        self.assertIn("no pair has a link, so attention would learn none", self.refused("--guided-alignment bad"))
        self.assertIn("--guided-alignment names 2 files, --train-sets 1 corpora",
                      self.refused("--guided-alignment links links"))
        for kind, message in (("decoder-only", "cross-attention, which --type decoder-only does not have"),
                              ("s2s --dim-rnn 8 --attention-local 2 --attention-local-center predictive",
                               "contradicts --attention-local-center predictive"),
                              ("s2s --dim-rnn 8 --rnn-attention none", "contradicts --rnn-attention none")):
            done = self.call(f"train {TEXT} -m refused.safetensors --dim-emb 8 --type {kind} "
                                    "--guided-alignment links --after 1u")
            self.assertEqual(done.returncode, 2)
            self.assertIn(message, done.stderr)


if __name__ == "__main__":
    command_case.main()
