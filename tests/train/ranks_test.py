#!/usr/bin/env python3
"""One run on several processes: its files have the same bytes on any number of processes and threads.

    ranks_test.py BINARY
"""

import re
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

from ranks_case import MPIRUN, RUN, RanksCase

UPDATES = " --after 6u"


class Ranks(RanksCase):
    def same(self, options, ways=(" --processes 2", " --processes 3", " --processes 4 --cpu-threads 2", " --processes 8",
                                  " --cpu-threads 2")):
        alone = self.ran("alone" + options, options + UPDATES + " --cpu-threads 1")
        self.assertIn("m.state.safetensors", alone)
        for way in ways:
            with self.subTest(options=options, way=way):
                other = self.ran(options + way, options + UPDATES + way)
                self.assertEqual(list(alone), list(other))
                for name, content in alone.items():
                    self.assertTrue(content == other[name], f"{name} differs")
        return alone

    def test_numbers_of_processes_and_threads_change_no_bit(self):
        plain = self.same("")
        other_order = self.ran("chain", UPDATES + " --gradient-shards 1")
        self.assertNotEqual(plain["m.safetensors"], other_order["m.safetensors"])  # or all this would say nothing

    def test_nor_do_they_with_what_else_an_update_does(self):
        for options in (" --exponential-smoothing 0.1 --optimizer-delay 2", " --freeze encoder.*",
                        " --clip-norm 0.01 --type decoder-only", " --copy", " --moe-experts 3 --moe-frequency 1", " --type s2s",
                        " --mini-batch 2", " --transformer-norm batch --exponential-smoothing 0.1"):
            self.same(options, (" --processes 3", " --processes 4 --cpu-threads 2"))

    def test_nor_with_bfloat16(self):
        if "avx512_bf16" not in Path("/proc/cpuinfo").read_text(encoding="utf-8"):
            self.skipTest("this CPU does not multiply bfloat16")
        for options in ("", " --half-activations"):
            self.same(" --precision bfloat16" + options, (" --processes 4",))

    def test_validation_is_shared_and_the_same(self):
        options = (" --valid-sets s t --valid-metrics cross-entropy bleu --valid-freq 2u --keep-best 2 --keep-last 2 "
                   "--save-freq 3u --exponential-smoothing 0.1 --valid-translation-output out.{U}")
        files = self.same(options, (" --processes 3", " --processes 4"))
        for name in ("m.best-bleu.safetensors", "m.best-cross-entropy.safetensors", "m.best-cross-entropy-update6.safetensors",
                     "m.update6.safetensors", "out.4"):
            self.assertIn(name, files)

    def test_the_rate_falls_at_the_same_update(self):
        options = (" --valid-sets s t --valid-freq 1u --valid-metrics cross-entropy bleu --early-stopping-on any "
                   "--early-stopping-epsilon 1000000 --lr-decay 0.5 --lr-decay-strategy stalled --lr-decay-start 2 "
                   "--lr-decay-reset-optimizer")
        files = self.same(options, (" --processes 3",))
        constant = self.ran("without decay", options.replace("--lr-decay 0.5", "") + UPDATES)
        self.assertNotEqual(files["m.safetensors"], constant["m.safetensors"])

    def test_the_ranks_of_a_machine_share_one_corpus(self):
        sampled = " --sentencepiece-alphas 0.2 --after 3e"
        for options, shared in ((" --after 6u", "/memfd:dragoman"), (" --ram 6K --tempdir . --after 6u", "/dragoman-"),
                                (sampled, "/memfd:dragoman"), (sampled + " --ram 12K --tempdir .", "/dragoman-")):
            alone, several = (self.ran(f"corpus{options}{way}", options + way) for way in (" --cpu-threads 1", " --processes 3"))
            self.assertEqual(alone, several)
            folder = self.fresh("mapped" + options)
            run = self.start(folder, re.sub("--after .. ?", "", options) + " --after 1000000u --processes 3")
            try:
                ranks = [run.pid, *self.children(run, 2)]
                files = self.until(lambda: all(self.mapped(r, shared) for r in ranks) and [self.mapped(r, shared) for r in ranks])
                self.assertTrue(files[0] & files[1] & files[2], files)
            finally:
                run.send_signal(signal.SIGTERM)
                run.communicate(timeout=60)

    @staticmethod
    def mapped(process, name):
        """The files of that name that a process maps, by device and inode."""
        lines = Path(f"/proc/{process}/maps").read_text(encoding="utf-8").splitlines()
        return {tuple(line.split()[3:5]) for line in lines if name in line}

    @staticmethod
    def until(found):
        for _ in range(600):
            if result := found():
                return result
            time.sleep(0.05)
        raise AssertionError("not within 30 s")

    def test_a_run_resumes_on_another_number_of_processes(self):
        straight = self.ran("straight", " --exponential-smoothing 0.1 --after 8u")
        folder = self.fresh("resumed")
        for way in (" --after 3u --processes 8", " --after 5u --processes 2", " --after 8u"):
            self.call(folder, RUN.replace(" --gradient-shards 8", "") + " --exponential-smoothing 0.1" + way)
        self.assertEqual(straight, self.files(folder))

    def test_a_signal_to_rank_0_stops_and_saves(self):
        folder = self.fresh("stopped")
        run = subprocess.Popen([self.BINARY, *(RUN + " --after 1000000u --processes 2").replace(" --quiet", "").split()],
                               cwd=folder, stderr=subprocess.PIPE, text=True)
        for line in run.stderr:
            if "Training started" in line or "Model:" in line:
                break
        time.sleep(2)
        run.send_signal(signal.SIGTERM)
        _, errors = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 0, errors)
        self.assertIn("m.state.safetensors", self.files(folder))

    def test_vocabularies_are_made_once(self):
        folder = self.fresh("vocabulary")
        self.call(folder, RUN.replace("-v v v", "-v new new") + " --dim-vocabs 300 --after 1u --processes 3")
        self.assertIn("new", self.files(folder))

    def test_one_process_talks(self):
        folder = self.fresh("talk")
        done = self.call(folder, RUN.replace(" --quiet", "") + UPDATES + " --processes 3 --disp-freq 1u")
        self.assertEqual(len(re.findall(r"Up\. 3 ", done.stderr)), 1, done.stderr)

    def test_a_dry_run_plans_for_a_rank(self):
        folder = self.fresh("dry")
        one = self.call(folder, RUN + " --dry-run").stdout
        four = self.call(folder, RUN + " --dry-run --processes 4").stdout
        self.assertEqual(one.splitlines()[0].split()[0], four.splitlines()[0].split()[0])
        self.assertNotIn("m.safetensors", self.files(folder))

    def test_translating_is_shared_in_order(self):
        folder = self.fresh("translate")
        self.call(folder, RUN + " --after 40u")
        lines = (folder / "s").read_text(encoding="utf-8").splitlines()
        lines[3:3] = ["", "   ", "red \u2028 blue"]
        (folder / "lines").write_text("\n".join(lines * 3), encoding="utf-8")
        for options in ("", " --n-best 2 -b 2 --alignment hard", " --output-sampling full --seed 3 --word-scores", " --precision int8",
                        " --maxi-batch-lines 20 --scores"):
            command = "translate -m m.safetensors --quiet -i lines -o " + "{}" + options
            self.call(folder, command.format("one") + " --cpu-threads 1")
            one = (folder / "one").read_bytes()
            ways = [((), " --processes 3"), ((), " --processes 2 --cpu-threads 2")]
            if options == "" and self.has_mpi():
                ways.append(((*MPIRUN, "3"), ""))
            for launcher, way in ways:
                self.call(folder, command.format("several") + way, launcher)
                self.assertEqual(one, (folder / "several").read_bytes(), options + way)
        (folder / "none").write_text("", encoding="utf-8")
        self.call(folder, "translate -m m.safetensors --quiet -i none -o several --processes 3")
        self.assertEqual((folder / "several").read_bytes(), b"")

    def test_long_lines_are_cut_as_by_one_process(self):
        folder = self.fresh("long lines")
        self.call(folder, RUN + " --after 40u")
        text = f"blue\nred old{' ' * 1_200_000}new red\n\n{' ' * 1_200_000}\nold\n"  # more than is read at once
        (folder / "lines").write_text(text, encoding="utf-8")
        for options in ("", " --n-best 2 -b 2", " --output-sampling full --seed 3 --word-scores", " --force-decode"):
            command = "translate -m m.safetensors --quiet -i lines" + options
            one, several = (self.call(folder, command + way).stdout for way in ("", " --processes 2"))
            self.assertEqual(one, several, options)
        (folder / "lines").write_text(f"red\n{' ' * (17 << 20)}a\n", encoding="utf-8")
        done = self.call(folder, "translate -m m.safetensors --quiet -i lines --processes 2", expected=2)
        self.assertIn("lines: line 2 is longer than 16 MiB", done.stderr)

    def test_scoring_is_shared_in_order(self):
        folder = self.fresh("score")
        self.call(folder, RUN + " --after 40u")
        self.call(folder, "translate -m m.safetensors --quiet -i s -o list --n-best 3 -b 3")
        for options in ("-t s t", "-t s t --normalize --alignment soft --word-scores", "-t s t --summary perplexity",
                        "-t s t --summary cross-entropy --maxi-batch-lines 20", "-t s list --n-best --word-scores",
                        "-t s list --n-best --maxi-batch-lines 7 --alignment"):
            command = f"score -m m.safetensors --quiet {options} -o " + "{}"
            self.call(folder, command.format("one") + " --cpu-threads 1")
            one = (folder / "one").read_bytes()
            self.assertGreater(len(one), 5)
            ways = [((), " --processes 3"), ((), " --processes 2 --cpu-threads 2")]
            if options == "-t s t" and self.has_mpi():
                ways.append(((*MPIRUN, "3"), ""))
            for launcher, way in ways:
                self.call(folder, command.format("several") + way, launcher)
                self.assertEqual(one, (folder / "several").read_bytes(), options + way)

    def test_scoring_fails_as_one_process_does(self):
        folder = self.fresh("score of a long line")
        self.call(folder, RUN + " --after 1u")
        lines = (folder / "s").read_text(encoding="utf-8").splitlines()
        lines[120] = "red " * 40  # in the share of the last rank
        (folder / "s").write_text("\n".join(lines) + "\n", encoding="utf-8")
        score = "score -m m.safetensors -t s t --max-length 30 -o {} --quiet"
        self.call(folder, score.format("one"), expected=2)
        done = self.call(folder, score.format("scores") + " --processes 3", expected=2)
        self.assertRegex(done.stderr, r"^error: rank 2 of 3 \(.*\): t, line 121: its source has \d+ pieces, more than --max-length 30\n"
                                      r"  hint: split it[^\n]*\n$")
        self.assertEqual((folder / "scores").read_bytes(), (folder / "one").read_bytes())
        self.assertEqual((folder / "scores").read_text(encoding="utf-8").count("\n"), 120)

    def test_a_pipe_is_answered_line_by_line(self):
        folder = self.fresh("pipe")
        self.call(folder, RUN + " --after 10u")
        run = subprocess.Popen([self.BINARY, *"translate -m m.safetensors --quiet --processes 2".split()], cwd=folder, text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for line in ("red blue\n", "old\n"):
            run.stdin.write(line)
            run.stdin.flush()
            self.assertTrue(run.stdout.readline().endswith("\n"))
        run.stdin.close()
        self.assertEqual((run.stdout.read(), run.wait(60)), ("", 0))
        run.stdout.close()

    def test_mpi_gives_the_same_bytes(self):
        self.need_mpi()
        alone = self.ran("no mpi", UPDATES)
        for count in ("2", "3"):
            self.assertEqual(alone, self.ran("mpi" + count, UPDATES, (*MPIRUN, count)))


if __name__ == "__main__":
    RanksCase.BINARY = sys.argv.pop(1)
    unittest.main()
