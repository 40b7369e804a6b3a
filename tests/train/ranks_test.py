#!/usr/bin/env python3
"""One run on several processes: its files have the same bytes on any number of processes and threads.

    ranks_test.py BINARY
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

BINARY = ""  # from the command line
RUN = ("train -t s t -v v v --dim-emb 16 --transformer-heads 2 --transformer-dim-ffn 32 --enc-depth 1 --dec-depth 1 "
       "--mini-batch-words 150 --learn-rate 0.01 --lr-warmup 4 --save-freq 0 --gradient-shards 8 -m m.safetensors --quiet")
UPDATES = " --after 6u"
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1",
          "--mca", "btl", "self,vader", "--mca", "plm", "isolated", "-np"]


def text_of(folder):
    for side, words in (("s", "red blue old small green tall"), ("t", "rot blau alt klein grün groß")):
        lines = [" ".join((words.split() * 2)[n % 6:n % 6 + 1 + n % 5]) for n in range(150)]
        (folder / side).write_text("\n".join(lines) + "\n", encoding="utf-8")


class Ranks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = Path(temporary.name)
        (cls.folder / "text").mkdir()
        text_of(cls.folder / "text")
        cls.call(cls.folder / "text", "vocab train -i s t -m v --size 300")

    @staticmethod
    def call(folder, command, launcher=(), expected=0):
        done = subprocess.run([*launcher, BINARY, *command.split()], cwd=folder, capture_output=True, check=False,
                              timeout=240, text=True)
        if done.returncode != expected:
            raise AssertionError(f"exit code {done.returncode}, expected {expected}\n{command}\n{done.stderr}")
        return done

    def fresh(self, name):
        folder = self.folder / re.sub(r"\W+", "_", name)
        shutil.copytree(self.folder / "text", folder)
        return folder

    @staticmethod
    def files(folder):
        return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}

    def ran(self, name, options, launcher=()):
        folder = self.fresh(name)
        run = RUN
        if "decoder-only" in options:
            run = run.replace("--enc-depth 1", "")
        if "s2s" in options:
            run = run.replace("--transformer-heads 2 --transformer-dim-ffn 32", "")
        self.call(folder, run + options, launcher)
        return self.files(folder)

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
                        " --mini-batch 2"):
            self.same(options, (" --processes 3", " --processes 4 --cpu-threads 2"))

    def test_nor_with_bfloat16(self):
        if "avx512_bf16" not in Path("/proc/cpuinfo").read_text(encoding="utf-8"):
            self.skipTest("this CPU does not multiply bfloat16")
        self.same(" --precision bfloat16", (" --processes 4",))

    def test_validation_is_shared_and_the_same(self):
        options = (" --valid-sets s t --valid-metrics cross-entropy bleu --valid-freq 2u --keep-best --keep-last 2 "
                   "--save-freq 3u --exponential-smoothing 0.1 --valid-translation-output out.{U}")
        files = self.same(options, (" --processes 3", " --processes 4"))
        for name in ("m.best-bleu.safetensors", "m.best-cross-entropy.safetensors", "m.update6.safetensors", "out.4"):
            self.assertIn(name, files)

    def test_a_run_resumes_on_another_number_of_processes(self):
        straight = self.ran("straight", " --exponential-smoothing 0.1 --after 8u")
        folder = self.fresh("resumed")
        for way in (" --after 3u --processes 8", " --after 5u --processes 2", " --after 8u"):
            self.call(folder, RUN.replace(" --gradient-shards 8", "") + " --exponential-smoothing 0.1" + way)
        self.assertEqual(straight, self.files(folder))

    def test_a_killed_rank_ends_the_run_and_it_resumes(self):
        straight = self.ran("unkilled", " --after 8u")
        folder = self.fresh("killed")
        self.call(folder, RUN + " --after 4u --processes 3")
        run = subprocess.Popen([BINARY, *(RUN + " --after 100000u --processes 3").split()], cwd=folder,
                               stderr=subprocess.PIPE, text=True)
        children = Path(f"/proc/{run.pid}/task/{run.pid}/children")
        for _ in range(600):
            if len(children.read_text(encoding="utf-8").split()) == 2:
                break
            time.sleep(0.05)
        time.sleep(1)
        os.kill(int(children.read_text(encoding="utf-8").split()[1]), signal.SIGKILL)
        _, errors = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 2, errors)
        self.assertEqual(errors.count("error:"), 1, errors)
        self.assertIn("rank 2 of 3 was killed by signal 9", errors)
        self.assertIn("the same command resumes", errors)
        self.call(folder, RUN + " --after 8u --processes 2")
        self.assertEqual(straight, self.files(folder))

    def test_a_rank_that_hangs_ends_the_run(self):
        folder = self.fresh("hung")
        run = subprocess.Popen([BINARY, *(RUN + " --after 1000000u --processes 3 --comm-timeout 2").split()], cwd=folder,
                               stderr=subprocess.PIPE, text=True)
        children = Path(f"/proc/{run.pid}/task/{run.pid}/children")
        for _ in range(600):
            if len(children.read_text(encoding="utf-8").split()) == 2:
                break
            time.sleep(0.05)
        time.sleep(2)
        os.kill(int(children.read_text(encoding="utf-8").split()[0]), signal.SIGSTOP)
        _, errors = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 2, errors)
        self.assertEqual(errors.count("error:"), 1, errors)
        self.assertIn("rank 1 of 3 has said nothing for 2 s: it hangs", errors)

    def test_a_signal_to_rank_0_stops_and_saves(self):
        folder = self.fresh("stopped")
        run = subprocess.Popen([BINARY, *(RUN + " --after 1000000u --processes 2").replace(" --quiet", "").split()],
                               cwd=folder, stderr=subprocess.PIPE, text=True)
        for line in run.stderr:
            if "Training started" in line or "Model:" in line:
                break
        time.sleep(2)
        run.send_signal(signal.SIGTERM)
        _, errors = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 0, errors)
        self.assertIn("m.state.safetensors", self.files(folder))

    def test_errors_are_said_once(self):
        for options, message in ((" -t s nowhere", "nowhere"), (" --gradient-shards 12", "expected a power of two"),
                                 (" --gradient-shards 2", "3 processes share 2 gradient shards"),
                                 (" --transformer-norm batch", "batch norms"), (" --freeze nothing", "--freeze nothing")):
            folder = self.fresh("error" + options)
            command = RUN.replace("-t s t", "") if " -t " in options else RUN
            done = self.call(folder, command.replace(" --gradient-shards 8", "") + options + " --after 2u --processes 3",
                             expected=2)
            self.assertEqual(done.stderr.count("error:"), 1, done.stderr)
            self.assertIn(message, done.stderr)
            self.assertNotIn("m.safetensors", self.files(folder))

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
            if options == "" and shutil.which("mpirun") and (Path(BINARY).parent / "libdragoman_mpi.so").exists():
                ways.append(((*MPIRUN, "3"), ""))
            for launcher, way in ways:
                self.call(folder, command.format("several") + way, launcher)
                self.assertEqual(one, (folder / "several").read_bytes(), options + way)
        (folder / "none").write_text("", encoding="utf-8")
        self.call(folder, "translate -m m.safetensors --quiet -i none -o several --processes 3")
        self.assertEqual((folder / "several").read_bytes(), b"")

    def test_a_pipe_is_answered_line_by_line(self):
        folder = self.fresh("pipe")
        self.call(folder, RUN + " --after 10u")
        run = subprocess.Popen([BINARY, *"translate -m m.safetensors --quiet --processes 2".split()], cwd=folder, text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for line in ("red blue\n", "old\n"):
            run.stdin.write(line)
            run.stdin.flush()
            self.assertTrue(run.stdout.readline().endswith("\n"))
        run.stdin.close()
        self.assertEqual((run.stdout.read(), run.wait(60)), ("", 0))
        run.stdout.close()

    def test_mpi_gives_the_same_bytes(self):
        if shutil.which("mpirun") is None or not (Path(BINARY).parent / "libdragoman_mpi.so").exists():
            self.skipTest("Open MPI is not there")
        alone = self.ran("no mpi", UPDATES)
        for count in ("2", "3"):
            self.assertEqual(alone, self.ran("mpi" + count, UPDATES, (*MPIRUN, count)))

    def test_a_launcher_and_processes_exclude_each_other(self):
        if shutil.which("mpirun") is None or not (Path(BINARY).parent / "libdragoman_mpi.so").exists():
            self.skipTest("Open MPI is not there")
        done = self.call(self.fresh("both"), RUN + UPDATES + " --processes 2", (*MPIRUN, "1"), expected=2)
        self.assertIn("leave --processes out", done.stderr)

    def test_another_launcher_than_the_built_one_is_refused(self):
        if not (Path(BINARY).parent / "libdragoman_mpi.so").exists():
            self.skipTest("Open MPI is not there")
        folder = self.fresh("other launcher")
        done = self.call(folder, RUN + UPDATES, ("env", "PMI_RANK=0", "PMI_SIZE=4"), expected=2)
        self.assertIn("the launcher has started 4 processes, but MPI knows 1", done.stderr)
        self.assertNotIn("m.safetensors", self.files(folder))


if __name__ == "__main__":
    BINARY = sys.argv.pop(1)
    unittest.main()
