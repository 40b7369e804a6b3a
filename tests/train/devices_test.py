#!/usr/bin/env python3
"""One run on several GPUs: a process for each, and the bytes of one. GPUs are those of the library that runs on the host
(tests/cuda_on_host), which has as many as CUDA_ON_HOST_DEVICES says.

    devices_test.py BINARY LIBRARY NCCL
"""

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
from pathlib import Path

from ranks_case import MPIRUN, RUN, RanksCase

UPDATES = " --after 2u"
NCCL = ""  # a folder


class Devices(RanksCase):
    def alone(self, options=""):
        return self.ran("one device" + options, options + UPDATES + " --devices 0")

    def test_several_gpus_give_the_bytes_of_one(self):
        for options, ways in (("", ("0 1", "2 0 1")), (" --exponential-smoothing 0.1 --optimizer-delay 2 --clip-norm 0.01", ("0 1",)),
                              (" --precision float16", ("0 1 2",)), (" --transformer-norm batch", ("0 1",))):
            alone = self.alone(options)
            for devices in ways:
                with self.subTest(options=options, devices=devices):
                    several = self.ran(f"devices{options}{devices}", f"{options}{UPDATES} --devices {devices}")
                    self.assertEqual(list(alone), list(several))
                    for name, content in alone.items():
                        self.assertTrue(content == several[name], f"{name} differs")
        other = self.ran("chain", UPDATES + " --devices 0 --gradient-shards 1")
        self.assertNotEqual(self.alone(" --seed 1")["m.safetensors"], other["m.safetensors"])  # or it would say nothing

    def test_a_run_resumes_on_other_gpus(self):
        folder = self.fresh("resumed")
        for way in (" --after 1u --devices 0 1 2", " --after 2u --devices 1 --gradient-shards 8", UPDATES + " --devices 1 0"):
            self.call(folder, RUN.replace(" --gradient-shards 8", "") + way)
        self.assertEqual(self.alone(" --disp-freq 1u"), self.files(folder))

    def test_ranks_of_a_launcher_take_the_gpus_in_order(self):
        self.need_mpi()
        self.assertEqual(self.alone(" --disp-freq 2u"), self.ran("mpi", UPDATES + " --devices 0 1", (*MPIRUN, "2")))
        done = self.call(self.fresh("too few"), RUN + UPDATES + " --devices 0 1", (*MPIRUN, "3"), expected=2)
        self.assertRegex(done.stderr, r"error: rank 2 \(.*\): this machine has more ranks than --devices names GPUs \(2\)")

    def test_ranks_of_a_launcher_that_share_a_gpu_are_refused(self):
        self.need_mpi()
        done = self.call(self.fresh("shared gpu"), RUN + UPDATES + " --devices 0", (*MPIRUN, "2"), expected=2)
        self.assertRegex(done.stderr, r"error: rank 1 of 2 \(.*\) computes on the GPU of rank 0 of 2 \(.*\)\n  hint: start one rank for each")
        self.assertEqual(done.stderr.count("error:"), 1)

    def test_each_process_has_its_own(self):
        for devices, who in (("7 0", ""), ("0 1 7", r"rank 2 of 3 \(.*\): ")):
            folder = self.fresh("none " + devices)
            done = self.call(folder, RUN + UPDATES + " --devices " + devices, expected=2)
            self.assertRegex(done.stderr, f"^error: {who}there is no GPU 7: this machine has 3")
            self.assertNotIn("m.safetensors", self.files(folder))

    def test_contradictions_are_refused(self):
        for options, message in ((" --devices 0 0", "--devices names 0 twice"), (" --devices cpu 0", "the CPU among others"),
                                 (" --devices 0 1 --processes 3", "--processes 3 and --devices with 2 GPUs contradict")):
            done = self.call(self.fresh("contradiction" + options), RUN + UPDATES + options, expected=2)
            self.assertIn(message, done.stderr)

    def test_translating_and_scoring_are_shared(self):
        folder = self.fresh("share")
        self.call(folder, RUN + " --after 30u")
        for side in "st":
            lines = (folder / side).read_text(encoding="utf-8").splitlines(keepends=True)
            (folder / side).write_text("".join(lines[:12]), encoding="utf-8")
        for command in ("translate -m m.safetensors -i s -b 1", "score -m m.safetensors -t s t"):
            one, two = (self.call(folder, f"{command} --quiet --devices {devices}").stdout for devices in ("0", "0 1"))
            self.assertEqual(one, two)
            self.assertEqual(one.count("\n"), 12)

    def exchanged(self, name, options="", **environment):
        """The files of a run on two GPUs, what it said, and the names that NCCL's stand-in has left in its folder."""
        folder, messages = self.fresh(name), self.folder / f"messages of {name}"
        messages.mkdir()
        with unittest.mock.patch.dict(os.environ, {"NCCL_ON_HOST_FOLDER": str(messages)} | environment):
            said = self.call(folder, RUN + UPDATES + options).stderr
        return self.files(folder), said, [path.name for path in messages.iterdir()]

    def test_nccl_changes_no_bit(self):
        alone = self.alone(" --exponential-smoothing 0.2")
        for devices in ("0 1", "0 1 2"):
            files, said, left = self.exchanged(f"nccl {devices}", f" --exponential-smoothing 0.2 --devices {devices}",
                                               LD_LIBRARY_PATH=NCCL)
            self.assertEqual((files, said), (alone, ""))
            self.assertEqual(len(left), len(devices.split()))  # of ranks that have met; all messages were received
            self.assertTrue(all(re.fullmatch(r"run-\d+-rank-\d", name) for name in left), left)

    def test_without_nccl_gradients_go_through_the_host(self):
        host, said, left = self.exchanged("off", " --devices 0 1 --no-nccl", LD_LIBRARY_PATH=NCCL)
        self.assertEqual((said, left), ("", []))
        for name, why, environment in (
                ("missing", r"rank 0 of 2 \(.*\): .*libnccl\.so\.2: file too short", {}),
                ("refused", r"rank [01] of 2 \(.*\): NCCL: ncclCommInitRank failed: internal error",
                 {"LD_LIBRARY_PATH": NCCL, "CUDA_ON_HOST_REFUSES": "ncclCommInitRank"}),
                ("no id", r"rank 0 of 2 \(.*\): NCCL: ncclGetUniqueId failed: internal error",
                 {"LD_LIBRARY_PATH": NCCL, "CUDA_ON_HOST_REFUSES": "ncclGetUniqueId"})):
            files, said, left = self.exchanged(name, " --devices 0 1", **environment)
            self.assertEqual((files, left), (host, []))
            self.assertRegex(said, self.FALLBACK.format(why))

    FALLBACK = r"^\[[^\]]*\] gradients go through host memory, since NCCL cannot be used: {}; [^\n]*\n$"

    def test_all_leave_nccl_where_one_rank_cannot_connect(self):
        """The others wait for it within NCCL."""
        host, _, _ = self.exchanged("host", " --devices 0 1 2 --no-nccl")
        files, said, left = self.exchanged("refused once", " --devices 0 1 2", LD_LIBRARY_PATH=NCCL,
                                           CUDA_ON_HOST_REFUSES="ncclCommInitRank", NCCL_ON_HOST_RANK="1")
        self.assertEqual(files, host)
        self.assertEqual({re.sub(r"run-\d+-", "", name) for name in left}, {"rank-0", "rank-2"})  # which waited
        self.assertRegex(said, self.FALLBACK.format(r"rank 1 of 3 \(.*\): NCCL: ncclCommInitRank failed: internal error"))

    def test_all_leave_nccl_where_one_rank_has_none(self):
        self.need_mpi()
        host, _, _ = self.exchanged("host of two", " --devices 0 1 --no-nccl")
        folder, messages = self.fresh("one library"), self.folder / "messages of one library"
        messages.mkdir()
        run = (RUN + UPDATES + " --devices 0 1").split()
        other = [":", "-np", "1", "env", "LD_LIBRARY_PATH=" + os.environ["LD_LIBRARY_PATH"], self.BINARY, *run]
        done = subprocess.run([*MPIRUN, "1", "env", "LD_LIBRARY_PATH=" + NCCL, f"NCCL_ON_HOST_FOLDER={messages}", self.BINARY, *run,
                               *other], cwd=folder, capture_output=True, check=False, timeout=240, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.files(folder), list(messages.iterdir())), (host, []))
        self.assertRegex(done.stderr, self.FALLBACK.format(r"rank 1 of 2 \(.*\): .*libnccl\.so\.2: file too short"))

    @staticmethod
    def runs(process):
        """Whether it is there, and not merely waited for by nobody."""
        try:
            return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] not in "ZX"
        except FileNotFoundError:
            return False

    def test_a_rank_that_dies_while_others_wait_within_nccl_ends_the_run(self):
        straight = self.ran("straight", " --after 4u --devices 0")
        folder, messages = self.fresh("died"), self.folder / "messages of died"
        messages.mkdir()
        self.call(folder, RUN + " --after 1u --devices 0")
        with unittest.mock.patch.dict(os.environ, {"NCCL_ON_HOST_FOLDER": str(messages), "LD_LIBRARY_PATH": NCCL,
                                                   "NCCL_ON_HOST_DIES": "1"}):
            run, begin = self.start(folder, " --after 1000000u --devices 0 1 2 --comm-timeout 2"), time.monotonic()
            others = self.children(run, 2)
            self.ends(run, f"rank 1 of 3 ({socket.gethostname()}) has sent no sign of life for 2 s: it has ended or hangs",
                      "the same command resumes")
        while any(self.runs(process) for process in others) and time.monotonic() - begin < 50:
            time.sleep(0.1)  # each ends by itself
        self.assertLess(time.monotonic() - begin, 50)  # less than the stand-in waits for a message
        self.call(folder, RUN + " --after 4u --devices 0 1")
        self.assertEqual(straight, self.files(folder))

    def test_a_rank_that_fails_while_others_wait_within_nccl_ends_the_run(self):
        for rank, who in ((0, ""), (1, r"rank 1 of 3 \(.*\): ")):
            with self.subTest(rank=rank):
                folder, messages = self.fresh(f"failed {rank}"), self.folder / f"messages of failed {rank}"
                messages.mkdir()
                with unittest.mock.patch.dict(os.environ, {"NCCL_ON_HOST_FOLDER": str(messages), "LD_LIBRARY_PATH": NCCL,
                                                           "NCCL_ON_HOST_FAILS": str(rank)}):
                    run, begin = self.start(folder, " --after 1000000u --devices 0 1 2 --log log"), time.monotonic()
                others = self.children(run, 2)
                self.assertRegex(self.ends(run), f"^error: {who}NCCL: ncclGroupEnd failed: internal error\n  hint: NCCL_DEBUG=INFO")
                while any(self.runs(process) for process in others):
                    time.sleep(0.1)
                self.assertLess(time.monotonic() - begin, 50)  # less than the stand-in waits for a message
                if rank:
                    self.assertRegex((folder / "log").read_text(encoding="utf-8"),
                                     r"error: rank 1 of 3 \(.*\) has ended with an error; stderr has it")


if __name__ == "__main__":
    binary, library, nccl = (Path(sys.argv.pop(1)) for _ in range(3))
    NCCL = str(nccl.parent)
    with tempfile.TemporaryDirectory() as program, unittest.mock.patch.dict(os.environ, CUDA_ON_HOST_DEVICES="3",
                                                                           LD_LIBRARY_PATH=f"{program}/none"):
        (Path(program) / "none").mkdir()
        (Path(program) / "none" / "libnccl.so.2").touch()  # or NVIDIA's would be found where it is installed
        for file in (binary, binary.parent / "libdragoman.so.0", binary.parent / "libdragoman_mpi.so"):
            if file.exists():
                shutil.copy(file, program)
        shutil.copy(library, Path(program) / "libdragoman_cuda.so")
        RanksCase.BINARY = str(Path(program) / binary.name)
        unittest.main()
