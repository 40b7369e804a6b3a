#!/usr/bin/env python3
"""Validation with a user's script, with command lines of Marian's users, and the translations that it evaluates.

    validation_test.py BINARY
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import command_case
from end_to_end_test import SMALL, InFolder

RUN = ["train", "-t", "s", "t", "--valid-sets", "s", "t", "-v", "v", "v", "--valid-freq", "20u", "--after", "40u",
       "--cpu-threads", "1", *SMALL]
LETTERS = 'import sys\nprint("letters:", sum(map(len, open(sys.argv[-1]))), sys.argv[1:-1])\n'


class Script(InFolder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name, text in (("letters.py", LETTERS), ("fails.sh", "exit 4\n"), ("plain", "")):
            (cls.folder / name).write_text(text, encoding="utf-8")

    def train(self, name, *more):
        done = self.call(*RUN, "-m", f"{name}.safetensors", "--log-json", f"{name}.jsonl", *more)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        lines = (self.folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        return done.stderr, [e["metrics"] for e in map(json.loads, lines) if e["event"] == "validation"]

    def refused(self, *said, options):
        done = self.call(*RUN, "-m", "refused.safetensors", *options.split())
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        for words in said:
            self.assertIn(words, done.stderr)

    def test_judges_what_is_kept(self):
        log, metrics = self.train("judged", "--valid-metrics", "cross-entropy", "translation", "--valid-script-path",
                                  "python3 letters.py", "--valid-script-args", "de", "en", "--valid-translation-output",
                                  "out.{U}.{E}.txt", "--keep-best")
        for update, values in zip((20, 40), metrics):
            [kept] = self.folder.glob(f"out.{update}.*.txt")
            text = kept.read_text(encoding="utf-8")
            self.assertEqual(len(text.splitlines()), 150)
            self.assertEqual(values["translation"], len(text))
            self.assertRegex(log, f"Up. {update} : translation : {len(text)} : ")
        self.assertTrue((self.folder / "judged.best-translation.safetensors").exists())

    def test_that_fails_costs_its_figure_only(self):
        log, metrics = self.train("failing", "--valid-metrics", "translation", "bleu", "--valid-script-path",
                                  "sh fails.sh", "--early-stopping", "1")
        self.assertEqual([list(values) for values in metrics], [["bleu"], ["bleu"]])
        self.assertEqual(log.count("sh fails.sh: the script failed with exit code 4; training continues"), 2)

    def test_is_checked_before_training(self):
        self.refused("--valid-script-path ./plain: the file is not executable", "hint: chmod +x ./plain",
                     options="--valid-metrics translation --valid-script-path ./plain")
        self.refused("there is no such program",
                     options="--valid-metrics translation --valid-script-path nowhere.sh --dry-run")
        self.refused("--valid-metrics translation needs --valid-script-path",
                     options="--valid-metrics translation")
        self.refused("--valid-script-path sh is for --valid-metrics translation", options="--valid-script-path sh")
        self.refused("--valid-script-args x are for --valid-script-path", options="--valid-script-args x")
        self.refused("--valid-translation-output: none of --valid-metrics translates",
                     options="--valid-translation-output out")
        self.refused("--valid-translation-output no/out: there is no folder no",
                     options="--valid-translation-output no/out --valid-metrics bleu")

    def test_of_lists_of_tokens_is_of_words(self):
        for side, text in (("s", self.source), ("t", self.target)):
            split = " ".join(word if len(word) < 4 else f"{word[:2]}@@ {word[2:]}" for word in text.split(" "))
            (self.folder / f"{side}.bpe").write_text(re.sub(r"(\w{2})(\w+\n)", r"\1@@ \2", split), encoding="utf-8")
        done = self.call("train", "-t", "s.bpe", "t.bpe", "--valid-sets", "s.bpe", "t.bpe", "-v", "tokens.yml",
                         "tokens.yml", "-m", "tokens.safetensors", "--valid-freq", "150u", "--after", "150u",
                         "--valid-metrics", "bleu", "--valid-translation-output", "words", "--cpu-threads", "1", *SMALL)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        self.assertEqual(done.stderr.count("tokens.yml has no <s>: the decoder begins with a vector of zeros"), 1)
        words = (self.folder / "words").read_text(encoding="utf-8")
        self.assertNotIn("@@", words)
        measured = float(re.search(r" : bleu : ([0-9.]+) : ", done.stderr)[1])
        of_words = self.succeed("evaluate", "-r", "t", "-i", "words", "--metrics", "bleu", "--json")
        self.assertAlmostEqual(measured, json.loads(of_words)["bleu"], delta=0.1)
        self.assertGreater(measured, 10)
        split = (self.folder / "s.bpe").read_text(encoding="utf-8")
        self.assertNotIn("@@", self.succeed("translate", "-m", "tokens.safetensors", "--remove-bpe", text=split))

    def begun(self, model):
        """A run that is in a validation whose script waits, and the script's process."""
        for file in ("begun", "go"):
            (self.folder / file).unlink(missing_ok=True)
        (self.folder / "waits.sh").write_text("echo $$ > begun; while ! test -e go; do sleep 0.05; done; echo 7\n",
                                              encoding="utf-8")
        run = subprocess.Popen([self.BINARY, *RUN, "-m", model, "--valid-metrics", "translation",
                                "--valid-script-path", "sh waits.sh"], cwd=self.folder, start_new_session=True,
                               stderr=subprocess.PIPE, text=True)
        while not ((self.folder / "begun").exists() and (self.folder / "begun").read_text().endswith("\n")):
            time.sleep(0.05)
        return run, int((self.folder / "begun").read_text())

    def test_finishes_when_a_signal_to_the_group_asks_the_run_to_stop(self):
        run, _ = self.begun("asked.safetensors")
        os.killpg(run.pid, signal.SIGINT)
        time.sleep(0.2)
        (self.folder / "go").touch()
        said = run.communicate()[1]
        self.assertEqual(run.returncode, 0, said)
        self.assertIn("Up. 20 : translation : 7 : new best", said)

    def test_ends_with_a_run_that_ends_at_once(self):
        run, script = self.begun("ended.safetensors")
        run.send_signal(signal.SIGTERM)
        time.sleep(0.2)
        run.send_signal(signal.SIGTERM)
        run.communicate()
        self.assertEqual(run.returncode, -signal.SIGTERM)
        for _ in range(100):
            try:
                if Path(f"/proc/{script}/stat").read_text(encoding="utf-8").split()[2] == "Z":
                    return
            except OSError:
                return
            time.sleep(0.05)
        os.kill(script, signal.SIGKILL)
        self.fail("the script outlived its run")

    def test_of_a_finished_run_is_made_once_it_is_asked_for(self):
        def said(run, *more):
            done = self.call(*run, "-m", "finished.safetensors", *more)
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stderr

        sets = RUN.index("--valid-sets")
        self.assertNotIn("[valid]", said([*RUN[:sets], *RUN[sets + 3:]]))
        self.assertRegex(said(RUN, "--keep-best"), "Up. 40 : cross-entropy : .* : new best")
        self.assertTrue((self.folder / "finished.best-cross-entropy.safetensors").exists())
        longer = [word.replace("40u", "60u") for word in RUN]
        self.assertIn("Up. 60 : cross-entropy : ", said(longer))
        self.assertNotIn("[valid]", said(longer))
        self.assertRegex(said(longer, "--valid-metrics", "cross-entropy", "chrf"), "Up. 60 : chrf : .* : new best")

    def test_knows_marians_names_of_metrics(self):
        log, metrics = self.train("marian", "--valid-metrics", "ce-mean-words", "bleu-detok", "cross-entropy",
                                  "perplexity", "bleu", "perplexity")
        self.assertEqual(set(metrics[0]), {"cross-entropy", "bleu", "perplexity"})
        self.assertEqual(log.count(" : Up. 20 : bleu : "), 1, log)


if __name__ == "__main__":
    command_case.main()
