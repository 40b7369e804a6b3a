"""What the tests of runs on several processes share: a toy run, and ways to start it."""

import re
import shutil
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

RUN = ("train -t s t -v v v --dim-emb 16 --transformer-heads 2 --transformer-dim-ffn 32 --enc-depth 1 --dec-depth 1 "
       "--mini-batch-words 150 --learn-rate 0.01 --lr-warmup 1 --save-freq 0 --gradient-shards 8 -m m.safetensors --quiet")
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1",
          "--mca", "btl", "self,vader", "--mca", "plm", "isolated", "-np"]


def text_of(folder):
    for side, words in (("s", "red blue old small green tall"), ("t", "rot blau alt klein grün groß")):
        lines = [" ".join((words.split() * 2)[n % 6:n % 6 + 1 + n % 5]) for n in range(150)]
        (folder / side).write_text("\n".join(lines) + "\n", encoding="utf-8")


class RanksCase(unittest.TestCase):
    BINARY = ""  # from the command line

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
        done = subprocess.run([*launcher, RanksCase.BINARY, *command.split()], cwd=folder, capture_output=True, check=False,
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

    @staticmethod
    def has_mpi():
        return shutil.which("mpirun") is not None and (Path(RanksCase.BINARY).parent / "libdragoman_mpi.so").exists()

    def need_mpi(self):
        if not self.has_mpi():
            self.skipTest("Open MPI is not there")

    def ran(self, name, options, launcher=()):
        folder = self.fresh(name)
        run = RUN
        if "decoder-only" in options:
            run = run.replace("--enc-depth 1", "")
        if "s2s" in options:
            run = run.replace("--transformer-heads 2 --transformer-dim-ffn 32", "")
        self.call(folder, run + options, launcher)
        return self.files(folder)

    def start(self, folder, options):
        """Starts a run without waiting for it."""
        return subprocess.Popen([self.BINARY, *(RUN + options).split()], cwd=folder, stderr=subprocess.PIPE, text=True)

    def children(self, run, count):
        """The processes of the other ranks, once they are there."""
        children = Path(f"/proc/{run.pid}/task/{run.pid}/children")
        for _ in range(600):
            found = children.read_text(encoding="utf-8").split()
            if len(found) == count:
                return [int(child) for child in found]
            time.sleep(0.05)
        raise AssertionError(f"{len(found)} processes, expected {count}")

    def ends(self, run, *messages):
        """With one error, which holds these."""
        _, errors = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 2, errors)
        self.assertEqual(errors.count("error:"), 1, errors)
        for message in messages:
            self.assertIn(message, errors)
        return errors
