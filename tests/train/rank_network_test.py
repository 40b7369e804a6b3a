#!/usr/bin/env python3
"""Two "machines", network namespaces joined by a link that is cut in the middle of a run.

    rank_network_test.py BINARY
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

from ranks_case import RUN, RanksCase

MACHINES = {"machine-a": "10.77.0.1", "machine-b": "10.77.0.2"}
TIMEOUT = 3  # --comm-timeout, seconds


def namespace(machine):
    return f"dragoman-{os.getpid()}-{machine}"


class Network(RanksCase):
    @classmethod
    def setUpClass(cls):
        if not cls.has_mpi() or os.geteuid() != 0 or shutil.which("ip") is None:
            raise unittest.SkipTest("needs Open MPI, ip and root")
        super().setUpClass()
        for machine in MACHINES:
            if cls.ip("netns", "add", namespace(machine)) != 0:
                raise unittest.SkipTest("network namespaces are not allowed here")
            cls.addClassCleanup(cls.ip, "netns", "del", namespace(machine))
        a, b = map(namespace, MACHINES)
        if cls.ip("link", "add", "v0", "netns", a, "type", "veth", "peer", "name", "v0", "netns", b) != 0:
            raise unittest.SkipTest("pairs of virtual links are not allowed here")
        for machine, address in MACHINES.items():
            for words in (f"addr add {address}/24 dev v0", "link set lo up", "link set v0 up"):
                cls.ip("-n", namespace(machine), *words.split())
        delay = "tc qdisc add dev v0 root netem rate 1gbit delay 2.5ms".split()
        if any([cls.ip("netns", "exec", namespace(machine), *delay) for machine in MACHINES]):
            print("the link has no 1 Gbit/s and 5 ms: this kernel has no netem", file=sys.stderr)
        (cls.folder / "hosts").write_text("127.0.0.1 localhost\n" + "".join(f"{a} {m}\n" for m, a in MACHINES.items()),
                                          encoding="utf-8")
        # What ssh is to mpirun: HOST COMMAND...
        shell = cls.folder / "remote_shell"
        shell.write_text(f"""#!/bin/sh
machine=$1; shift
exec ip netns exec dragoman-{os.getpid()}-$machine unshare --uts sh -c \\
  'hostname '$machine'; mount --bind {cls.folder}/hosts /etc/hosts; exec sh -c "$0"' "$*"
""", encoding="utf-8")
        shell.chmod(0o755)

    @staticmethod
    def ip(*words):
        return subprocess.run(["ip", *words], capture_output=True, check=False).returncode

    def start_on_machines(self, folder, options):
        command = (f"mpirun --allow-run-as-root --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 --mca btl self,tcp "
                   f"--mca btl_tcp_if_include 10.77.0.0/24 --mca oob_tcp_if_include 10.77.0.0/24 --mca plm rsh "
                   f"--mca plm_rsh_agent {self.folder}/remote_shell --host machine-a:1,machine-b:1 -np 2 --wdir {folder} "
                   f"{self.BINARY} {RUN}{options}")
        return subprocess.Popen([self.folder / "remote_shell", "machine-a", command], cwd=folder, stderr=subprocess.PIPE, text=True)

    @staticmethod
    def processes(name=None):
        """Of both machines."""
        found = []
        for machine in MACHINES:
            for pid in subprocess.run(["ip", "netns", "pids", namespace(machine)], capture_output=True, check=True,
                                      text=True).stdout.split():
                try:
                    if name in (None, Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip()):
                        found.append(int(pid))
                except FileNotFoundError:
                    pass
        return found

    def wait_until(self, condition, seconds):
        begin = time.monotonic()
        while not condition():
            self.assertLess(time.monotonic() - begin, seconds)
            time.sleep(0.1)

    def test_a_cut_link_ends_both_sides_and_the_run_resumes(self):
        folder = self.fresh("network")
        run = self.start_on_machines(folder, f" --after 1000000u --save-freq 20u --comm-timeout {TIMEOUT}")
        self.wait_until((folder / "m.safetensors").exists, 60)
        self.ip("-n", namespace("machine-a"), "link", "set", "v0", "down")
        self.wait_until(lambda: not self.processes("dragoman"), TIMEOUT + 20)
        for left in self.processes():  # Open MPI's own, which wait for each other
            try:
                os.kill(left, signal.SIGKILL)
            except ProcessLookupError:
                pass
        _, errors = run.communicate(timeout=30)
        self.assertEqual(errors.count("error:"), 1, errors)
        self.assertIn(f"rank 1 of 2 (machine-b) has sent no sign of life for {TIMEOUT} s: it has ended or hangs, or its machine cannot be "
                      "reached", errors)

        self.ip("-n", namespace("machine-a"), "link", "set", "v0", "up")
        alone = self.folder / "alone"
        shutil.copytree(folder, alone)
        resumed = self.call(alone, RUN.replace(" --quiet", "") + " --after 1u").stderr
        update = int(re.search(r"Resuming from .*: update ([\d,]+)", resumed)[1].replace(",", "")) + 20
        self.call(alone, RUN + f" --after {update}u")
        run = self.start_on_machines(folder, f" --after {update}u")
        _, errors = run.communicate(timeout=100)
        self.assertEqual(run.returncode, 0, errors)
        for name in ("m.safetensors", "m.state.safetensors"):
            self.assertTrue((alone / name).read_bytes() == (folder / name).read_bytes(), f"{name} differs")


if __name__ == "__main__":
    RanksCase.BINARY = sys.argv.pop(1)
    unittest.main()
