#!/usr/bin/env python3
"""Validations without improvement: they lower the learning rate and end the run, also of a run that was interrupted.

    plateau_test.py BINARY
"""

import json
import re

import command_case
from end_to_end_test import SMALL, InFolder

RUN = [*"train -t s t --valid-sets s t -v v v --valid-freq 5u --cpu-threads 1".split(), *SMALL]
# No validation but the first improves enough.
STALLING = "--valid-metrics cross-entropy perplexity --early-stopping-epsilon 1000000"
DECAY = (f"{STALLING} --early-stopping 0 --lr-schedule constant --lr-decay 0.5 --lr-decay-strategy stalled "
         "--lr-decay-start 2")


class Plateau(InFolder):
    def train(self, name, options):
        done = self.call(*RUN, "-m", f"{name}.safetensors", "--log-json", f"{name}.jsonl", *options.split())
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        return done.stderr

    def events(self, name, event):
        lines = (self.folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        return [e for e in map(json.loads, lines) if e["event"] == event]

    def files(self, name):
        return [(self.folder / f"{name}.{kind}").read_bytes() for kind in ("safetensors", "state.safetensors")]

    def test_lowers_the_rate_and_an_interruption_changes_no_bit(self):
        log = self.train("whole", f"{DECAY} --after 40u")
        self.assertEqual(re.findall(r"Learning rate reduced to (.*)", log),
                         [f"{rate} (×0.5): no improvement of cross-entropy for {stalled} validations"
                          for rate, stalled in (("0.01", 2), ("0.005", 4), ("0.0025", 6))])
        self.assertEqual([(e["update"], e["rate_factor"]) for e in self.events("whole", "decay")],
                         [(15, 0.5), (25, 0.25), (35, 0.125)])
        self.assertEqual([e["learning_rate"] for e in self.events("whole", "report")], [0.02, 0.01, 0.005, 0.0025])
        for stop in (13, 15, 18):  # between two validations of a decay, with the decay, and after it
            name = f"stopped{stop}"
            self.train(name, f"{DECAY} --after {stop}u")
            self.train(name, f"{DECAY} --after 40u")
            self.assertEqual(self.files(name), self.files("whole"), stop)

    def test_by_epochs(self):
        options = ("--lr-schedule constant --lr-decay 0.5 --lr-decay-strategy epoch --lr-decay-start 3 "
                   "--lr-decay-reset-optimizer")
        log = self.train("epochs", f"{options} --after 4e")
        self.assertEqual(re.findall(r"×0.5\): (.*)", log), [f"the end of epoch {e}" for e in (2, 3, 4)])
        self.train("later", f"{options} --after 2e")
        self.train("later", f"{options} --after 4e")
        self.assertEqual(self.files("later"), self.files("epochs"))

    def test_ends_the_run(self):
        for on, epsilons, end in (("first", "1000000 0", 15), ("any", "0 1000000", 15), ("all", "0 1000000", 30),
                                  ("all", "1000000", 15)):
            name = f"ends-{on}-{epsilons.replace(' ', '-')}"
            self.train(name, "--valid-metrics cross-entropy perplexity --early-stopping 2 --after 30u "
                             f"--early-stopping-on {on} --early-stopping-epsilon {epsilons}")
            [ended] = self.events(name, "end")
            reason = "after" if end == 30 else "early-stopping"
            self.assertEqual((ended["update"], ended["reason"]), (end, reason), name)

    def test_that_ended_a_run_may_be_forgotten(self):
        options = f"{STALLING} --early-stopping 2 --after 100u"
        self.assertIn("Training finished: 2 validations without improvement", self.train("ended", options))
        self.assertIn("Early stopping has ended this run", self.train("ended", options))
        self.train("ended", f"{options} --valid-reset-stalled")
        self.assertEqual([e["update"] for e in self.events("ended", "end")], [15, 15, 25])

    def test_that_is_never_measured_ends_no_run(self):
        page = self.succeed(*RUN, *"-m new.safetensors --early-stopping 3 --valid-freq 0 --dry-run".split())
        self.assertIn("never: give --after, or --valid-sets with --early-stopping and --valid-freq above 0", page)

    def test_has_options_that_need_each_other(self):
        for said, options in (
                ("--lr-decay-strategy has no effect without --lr-decay", "--lr-decay-strategy epoch"),
                ("--lr-decay-freq has no effect without --lr-decay", "--lr-decay 1 --lr-decay-freq 10u"),
                ("--lr-decay-freq has no effect with --lr-decay-strategy epoch",
                 "--lr-decay 0.5 --lr-decay-strategy epoch --lr-decay-start 3 --lr-decay-freq 10u"),
                ("--guided-alignment-weight has no effect without --guided-alignment", "--guided-alignment-weight 1"),
                ("--transformer-guided-alignment-layer has no effect without --guided-alignment",
                 "--transformer-guided-alignment-layer 1"),
                ("--early-stopping-epsilon has no effect with --early-stopping 0",
                 "--early-stopping 0 --early-stopping-epsilon 1"),
                ("--early-stopping-on has no effect with --early-stopping 0",
                 "--early-stopping 0 --early-stopping-on all"),
                ("--early-stopping has no effect with --valid-freq 0", "--valid-freq 0 --early-stopping 3"),
                ("--beam-size has no effect: none of --valid-metrics translates", "--beam-size 3"),
                ("--maxi-batch has no effect with --no-shuffle", "--no-shuffle --maxi-batch 5")):
            self.assertIn(said, self.train("unused", f"{options} --no-reload --after 1u"))
        self.assertNotIn("no effect", self.train("used", f"{DECAY} --early-stopping-on all --after 1u"))
        self.assertNotIn("no effect", self.train("used", "--lr-decay-freq 50000 --guided-alignment-weight 0.1 "
                                                         "--early-stopping-epsilon 0 --no-reload --after 1u"))


if __name__ == "__main__":
    command_case.main()
