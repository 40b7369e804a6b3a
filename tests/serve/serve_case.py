"""What the tests of `dragoman serve` share: toy models, what the command makes of text, and a server for a class."""

import shutil
import tempfile
import unittest
from pathlib import Path

import toy_server

BINARY = ""  # from the command line
FOLDER = None


def make_models():
    """A folder with text (s, t), its vocabulary (v) and two models (a, b), until the end of the module."""
    global FOLDER
    temporary = tempfile.TemporaryDirectory()
    unittest.addModuleCleanup(temporary.cleanup)
    FOLDER = Path(temporary.name)
    toy_server.train(BINARY, FOLDER, "a.safetensors")
    toy_server.train(BINARY, FOLDER, "b.safetensors", "--after", "20u")


def make_multilingual():
    """A model (m2m100) whose languages are de, en and fr, on both sides. Most of its translations are empty unless they
    have a minimum length."""
    interop = Path(__file__).resolve().parents[1] / "interop" / "golden" / "m2m100"
    shutil.copytree(interop, FOLDER / "m2m100")
    shutil.copy(interop.parents[2] / "vocab" / "golden" / "unigram.spm", FOLDER / "m2m100" / "sentencepiece.bpe.model")


def run(*words):
    return toy_server.run(BINARY, FOLDER, *words)


def translated(lines, *options, model="a"):
    """What the command makes of them."""
    name = model if (FOLDER / model).is_dir() else f"{model}.safetensors"
    return toy_server.translated(BINARY, FOLDER, name, lines, *options)


def serving(*options, **more):
    return toy_server.serving(BINARY, FOLDER, *options, **more)


class Served(unittest.TestCase):
    """Tests of one server that all of them share."""

    OPTIONS = ()

    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(serving(*cls.OPTIONS)) if hasattr(cls, "enterClassContext") else None
        if cls.server is None:  # Python before 3.11
            context = serving(*cls.OPTIONS)
            cls.server = context.__enter__()
            cls.addClassCleanup(context.__exit__, None, None, None)
