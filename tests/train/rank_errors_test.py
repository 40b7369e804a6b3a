#!/usr/bin/env python3
"""What ends a run on several processes: it says so once, nothing is left half done, and the run can resume.

    rank_errors_test.py BINARY LIBRARY_OF_ANOTHER_VERSION
"""

import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import time
import unittest
from pathlib import Path

from ranks_case import MPIRUN, RUN, RanksCase

OTHER_VERSION = ""  # from the command line
UPDATES = " --after 3u"


class RankErrors(RanksCase):
    def refused(self, message, of_rank_1="", environment=(), other=None, wrapper=(), both=""):
        """A run of two ranks, started by one mpirun with two contexts, of which one process says the message. `other` is
        the folder of rank 1, if it reads other files under the same names; `wrapper` starts rank 1; `both` are options."""
        self.need_mpi()
        folder = self.fresh(message)
        other = other or folder
        command = RUN + UPDATES + both
        before = self.files(folder), self.files(other)
        done = self.call(folder, command + f" : -np 1 --wdir {other} {' '.join([*environment, *wrapper])} {self.BINARY} "
                         + command + of_rank_1, (*MPIRUN, "1"), expected=2)
        self.assertEqual(done.stderr.count("error:"), 1, done.stderr)
        self.assertRegex(done.stderr, r"error: rank 1 (of 2 )?\([^)]+\)" + message)
        self.assertEqual(before, (self.files(folder), self.files(other)))

    def test_ranks_of_another_version_are_refused(self):
        self.refused(" has another version of dragoman than rank 0: 0.0.0, not ",
                     environment=("-x", f"LD_PRELOAD={OTHER_VERSION}"))

    def test_ranks_with_other_instructions_are_refused(self):
        if "avx512f" not in Path("/proc/cpuinfo").read_text(encoding="utf-8"):
            self.skipTest("this CPU has no more than AVX2")
        self.refused(" has another instruction set or library than rank 0: .* on AVX2, .* not .* on AVX-512",
                     environment=("-x", "ONEDNN_MAX_CPU_ISA=AVX2", "-x", "DNNL_MAX_CPU_ISA=AVX2"))

    def test_ranks_with_other_options_are_refused(self):
        self.refused(" has another --learn-rate than rank 0: 0.02, not 0.01", " --learn-rate 0.02")
        self.refused(" has another --comm-timeout than rank 0: 0, not 60", " --comm-timeout 0")

    def test_ranks_that_validate_on_other_text_are_refused(self):
        other = self.fresh("other validation set")
        for folder, text in ((self.folder / "text", "red\n"), (other, "blue\n")):
            (folder / "dev").write_text(text, encoding="utf-8")
        self.refused(" has another validation set than rank 0: ", other=other, both=" --valid-sets dev dev")

    def test_ranks_with_another_pretrained_model_are_refused(self):
        other = self.fresh("other model")
        for folder, seed in ((self.folder / "text", 3), (other, 4)):
            self.call(folder, RUN.replace("m.safetensors", "pre.safetensors") + f" --after 1u --seed {seed}")
            (folder / "pre.state.safetensors").unlink()
        self.refused(" has another set of initial weights than rank 0: ", other=other, both=" --pretrained-model pre.safetensors")

    def test_ranks_that_loaded_other_files_do_not_translate_together(self):
        self.need_mpi()
        folder, other = self.fresh("files"), self.fresh("other files")
        for of_rank, seed, term, phrase in ((folder, 3, "red\trot\n", "blau\n"), (other, 4, "red\tblau\n", "rot\n")):
            self.call(of_rank, f"{RUN} --after 1u --seed {seed}")
            self.call(of_rank, f"align -t s t -v v v --shortlist list --first {seed} --quiet")
            (of_rank / "terms").write_text(term, encoding="utf-8")
            (of_rank / "avoid").write_text(phrase, encoding="utf-8")
        shutil.copy(folder / "m.safetensors", folder / "same")
        shutil.copy(folder / "m.safetensors", other / "same")
        for command, what in (("translate -m m.safetensors -i s -o out", "model"), ("score -m m.safetensors -t s t -o out", "model"),
                              ("translate -m same --shortlist list -i s -o out", "shortlist"),
                              ("translate -m same --glossary terms -i s -o out", "glossary"),
                              ("translate -m same --avoid avoid -i s -o out", "list of phrases to avoid")):
            with self.subTest(command):
                done = self.call(folder, f"{command} : -np 1 --wdir {other} {self.BINARY} {command}", (*MPIRUN, "1"), expected=2)
                self.assertEqual(done.stderr.count("error:"), 1, done.stderr)
                self.assertIn(f" has another {what} (checksum) than rank 0: ", done.stderr)
                self.assertNotIn("out", self.files(folder))
        command = "translate -m same -i s -o out"
        self.call(folder, f"{command} : -np 1 --wdir {other} {self.BINARY} {command}", (*MPIRUN, "1"))

    def test_ranks_that_translate_with_other_instructions_are_named(self):
        self.need_mpi()
        if "avx512f" not in Path("/proc/cpuinfo").read_text(encoding="utf-8"):
            self.skipTest("this CPU has no more than AVX2")
        folder = self.fresh("other instructions")
        self.call(folder, f"{RUN} --after 1u")
        command = "translate -m m.safetensors -i s -o out"
        done = self.call(folder, f"{command} : -np 1 -x ONEDNN_MAX_CPU_ISA=AVX2 -x DNNL_MAX_CPU_ISA=AVX2 {self.BINARY} {command}",
                         (*MPIRUN, "1"))
        self.assertRegex(done.stderr, r"rank 1 computes with .* AVX2, .*; rank 0 with .* AVX-512.*: some results will differ")

    def elsewhere(self):
        """What makes a rank think that it is on another machine: the ranks of a machine have one corpus."""
        elsewhere = self.folder / "elsewhere"
        elsewhere.write_text('#!/bin/sh\nhostname elsewhere && exec "$@"\n', encoding="utf-8")
        elsewhere.chmod(0o755)
        if subprocess.run(["unshare", "--uts", elsewhere, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("this machine cannot pass for two: unshare --uts fails")
        return "unshare", "--uts", str(elsewhere)

    def test_ranks_with_another_corpus_are_refused(self):
        other = self.fresh("other corpus")
        (other / "s").write_text("red\n" * 150, encoding="utf-8")
        self.refused(" has another corpus than rank 0: ", other=other, wrapper=self.elsewhere())

    def test_ranks_with_another_part_of_a_stream_save_what_they_learned_and_end(self):
        self.need_mpi()
        wrapper = self.elsewhere()
        folder, other = self.fresh("stream"), self.fresh("other stream")
        lines = (folder / "s").read_text(encoding="utf-8").splitlines(keepends=True)
        for name, text in (("longer", lines + lines[:5]), ("other", lines[:149] + ["red\n"])):
            with self.subTest(name):
                (other / "s").write_text("".join(text), encoding="utf-8")
                (other / "t").write_text("rot\n" * len(text), encoding="utf-8")
                (folder / "t").write_text("rot\n" * len(lines), encoding="utf-8")
                command = RUN.replace("-m m.safetensors", f"-m {folder}/{name}") + " --stream 50"
                done = self.call(folder, f"{command} : -np 1 --wdir {other} {' '.join(wrapper)} {self.BINARY} {command}",
                                 (*MPIRUN, "1"), expected=2)
                self.assertEqual(done.stderr.count("error:"), 1, done.stderr)
                self.assertRegex(done.stderr, r"error: rank 1 of 2 \(elsewhere, .*\) has another part of the text than rank 0: ")
                self.assertIn(name, self.files(folder))

    def test_ranks_with_another_configuration_are_refused(self):
        other = self.fresh("other configuration")
        (other / "v").unlink()
        self.call(other, "vocab train -i s t -m v --size 290")
        self.refused(" has another configuration of the model than rank 0: ", other=other)

    def test_an_error_of_one_rank_names_it(self):
        self.refused(": there is no option --nonsense", " --nonsense 1")

    def test_errors_are_said_once(self):
        launchers = [((), " --processes 3")] + ([((*MPIRUN, "3"), "")] if self.has_mpi() else [])
        for options, message in ((" -t s nowhere", "nowhere"), (" --gradient-shards 12", "expected a power of two"),
                                 (" --gradient-shards 2", "3 processes share 2 gradient shards"),
                                 (" --nonsense 2", "--nonsense"), (" --freeze nothing", "--freeze nothing")):
            for launcher, processes in launchers:
                folder = self.fresh("error" + options + processes)
                command = RUN.replace("-t s t", "") if " -t " in options else RUN
                done = self.call(folder, command.replace(" --gradient-shards 8", "") + options + UPDATES + processes, launcher,
                                 expected=2)
                self.assertEqual(done.stderr.count("error:"), 1, done.stderr)
                self.assertIn(message, done.stderr)
                self.assertNotIn("m.safetensors", self.files(folder))

    def test_an_error_that_one_forked_rank_meets_is_said_once(self):
        folder = self.fresh("one of three")
        run = self.start(folder, " --after 1000000u --sentencepiece-alphas 0.1 --processes 3 --log log")
        child = self.children(run, 2)[1]
        time.sleep(1)
        resource.prlimit(child, resource.RLIMIT_NOFILE, (3, 3))  # the encoded text of the next epoch cannot be opened
        of_rank_2 = r"error: rank 2 of 3 \(.*\): the encoded text.* cannot be opened: Too many open files"
        self.assertRegex(self.ends(run), of_rank_2)
        self.assertRegex((folder / "log").read_text(encoding="utf-8"), of_rank_2)
        self.assertIn("m.state.safetensors", self.files(folder), "all ranks have saved together")

    def test_a_killed_rank_ends_the_run_and_it_resumes(self):
        straight = self.ran("unkilled", " --after 8u")
        folder = self.fresh("killed")
        self.call(folder, RUN + " --after 4u --processes 3")
        run = self.start(folder, " --after 100000u --processes 3")
        child = self.children(run, 2)[1]
        time.sleep(1)
        os.kill(child, signal.SIGKILL)
        self.ends(run, "rank 2 of 3 was killed by signal 9", "the same command resumes")
        self.call(folder, RUN + " --after 8u --processes 2")
        self.assertEqual(straight, self.files(folder))

    def test_a_killed_rank_ends_a_translation_that_cannot_resume(self):
        folder = self.fresh("killed translation")
        self.call(folder, RUN + " --after 1u")
        run = subprocess.Popen([self.BINARY, *"translate -m m.safetensors --quiet --processes 2".split()], cwd=folder, text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        run.stdin.write("red\n")
        run.stdin.flush()
        run.stdout.readline()
        os.kill(self.children(run, 1)[0], signal.SIGKILL)
        run.stdin.write("blue\n" * 9)
        errors = self.ends(run, "rank 1 of 2 was killed by signal 9", "the output is not complete")
        self.assertNotIn("resumes", errors)

    def test_a_rank_that_hangs_ends_the_run(self):
        folder = self.fresh("hung")
        run = self.start(folder, " --after 1000000u --processes 3 --comm-timeout 2.5 --log run.log")
        child = self.children(run, 2)[0]
        time.sleep(2)
        os.kill(child, signal.SIGSTOP)
        self.ends(run, f"rank 1 of 3 ({socket.gethostname()}) has sent no sign of life for 2.5 s: it has ended or hangs",
                  "the same command resumes from the last checkpoint; raise --comm-timeout")
        self.assertRegex((folder / "run.log").read_text(encoding="utf-8").splitlines()[-1],
                         r"^\[[^]]+\] error: rank 1 of 3 \(.*\) has sent no sign of life for 2.5 s: it has ended")

    def test_a_run_that_is_stopped_as_a_whole_continues(self):
        folder = self.fresh("suspended")
        run = self.start(folder, " --after 1000000u --processes 3 --comm-timeout 1.5")
        ranks = [run.pid, *self.children(run, 2)]
        time.sleep(2)
        for number in (signal.SIGSTOP, signal.SIGCONT):
            for rank in ranks:
                os.kill(rank, number)
            time.sleep(2.5)
        self.assertIsNone(run.poll())
        run.send_signal(signal.SIGTERM)
        self.assertEqual(run.communicate(timeout=60)[1], "")
        self.assertEqual(run.returncode, 0)

    def test_a_launcher_and_processes_exclude_each_other(self):
        self.need_mpi()
        done = self.call(self.fresh("both"), RUN + UPDATES + " --processes 2", (*MPIRUN, "1"), expected=2)
        self.assertIn("leave out --processes", done.stderr)

    def test_another_launcher_than_the_built_one_is_refused(self):
        if not (Path(self.BINARY).parent / "libdragoman_mpi.so").exists():
            self.skipTest("Open MPI is not there")
        folder = self.fresh("other launcher")
        done = self.call(folder, RUN + UPDATES, ("env", "PMI_RANK=0", "PMI_SIZE=4"), expected=2)
        self.assertIn("the launcher has started 4 processes, but MPI reports 1", done.stderr)
        self.assertNotIn("m.safetensors", self.files(folder))


if __name__ == "__main__":
    RanksCase.BINARY, OTHER_VERSION = sys.argv.pop(1), sys.argv.pop(1)
    unittest.main()
