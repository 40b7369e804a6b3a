"""What tests of the command share: a folder in which they call it."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path


class CommandCase(unittest.TestCase):
    """A folder, which is gone after the tests of the class."""

    BINARY = ""  # from the command line

    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = Path(temporary.name)

    @classmethod
    def call(cls, command, *more, text=""):
        return subprocess.run([cls.BINARY, *command.split(), *more], cwd=cls.folder, timeout=240, check=False, input=text,
                              capture_output=True, encoding="utf-8", env=os.environ | {"OMP_NUM_THREADS": "1"})

    @classmethod
    def succeed(cls, command, *more, text=""):
        """What it prints to stdout."""
        done = cls.call(command, *more, text=text)
        if done.returncode:
            raise AssertionError(f"{command} {' '.join(more)}\n{done.stderr}")
        return done.stdout


def main():
    """The program is the first word of the command line."""
    CommandCase.BINARY = os.path.abspath(sys.argv.pop(1))
    unittest.main(module="__main__")
