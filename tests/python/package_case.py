"""A model, and the translations of the command, for tests of the Python package: DRAGOMAN FOLDER_OF_THE_PACKAGE."""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DRAGOMAN, PACKAGE = map(os.path.abspath, sys.argv[1:3])
del sys.argv[1:3]
sys.path.insert(0, PACKAGE)
import dragoman  # noqa: E402  (found there)

# 200 lines that somebody wrote, with all that occurs in them.
LINES = [line for page in ("README.md", "docs/training.md", "docs/search.md")
         for line in (ROOT / page).read_text(encoding="utf-8").splitlines() if line.strip()][:200]
TRAIN = ("train -t s s -v v v -m m.safetensors --after 3u --dim-emb 16 --transformer-dim-ffn 16 --transformer-heads 2 "
         "--enc-depth 1 --dec-depth 1 --cpu-threads 1 --quiet")


def run(*command, text=None, expect=0, **more):
    done = subprocess.run([str(word) for word in command], check=False, capture_output=True, encoding="utf-8",
                          input=text, timeout=200, **more)
    if done.returncode != expect:
        raise AssertionError(f"{command}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def python(program, *arguments, **more):
    """Runs a program in a child that finds the package."""
    return run(sys.executable, "-B", "-c", program, *arguments,
               env=os.environ | {"PYTHONPATH": PACKAGE}, **more)


class PackageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = Path(temporary.name)
        cls.model = cls.folder / "m.safetensors"
        (cls.folder / "s").write_text("\n".join(LINES) + "\n", encoding="utf-8")
        cls.command("vocab", "train", "--input", "s", "--model", "v", "--size", "500")
        cls.command(*TRAIN.split())
        cls.translator = dragoman.Translator(cls.model, threads=2)
        cls.addClassCleanup(cls.translator.close)
        cls.expected = cls.command("translate", "-m", "m.safetensors", "--quiet", "-b", "3",
                                   text="\n".join(LINES) + "\n").split("\n")[:-1]

    @classmethod
    def command(cls, *words, text=None):
        return run(DRAGOMAN, *words, text=text, cwd=cls.folder).stdout
