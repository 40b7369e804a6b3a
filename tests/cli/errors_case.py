"""What the tests of docs/errors.md share: its tables, and a folder in which commands provoke their messages."""

import os
import re
import resource
import subprocess
from pathlib import Path

from command_case import CommandCase

PAGE = Path(__file__).resolve().parents[2] / "docs/errors.md"
# The sections of the page, by the test that has their messages.
SECTIONS = {"option_errors_test": ("Commands and options",), "file_errors_test": ("Configuration files", "Files"),
            "model_errors_test": ("Vocabularies", "Models", "Shortlists")}
SMALL = "--dim-emb 8 --transformer-heads 2 --transformer-dim-ffn 8 --enc-depth 1 --dec-depth 1 --cpu-threads 1"
TRAIN = f"train -t s t -v v v {SMALL} --after 1u"


def rows(test):
    """The first cells of the tables in the sections of a test: messages between backticks."""
    sections = dict(re.findall(r"(?ms)^## (.+?)\n(.*?)(?=^## |\Z)", PAGE.read_text(encoding="utf-8")))
    if sorted(sections) != sorted(title for titles in SECTIONS.values() for title in titles):
        raise AssertionError(f"the sections of {PAGE} are {list(sections)}, expected those of SECTIONS")
    return [message for title in SECTIONS[test] for message in re.findall(r"(?m)^\| `([^`]+)` \|", sections[title])]


def pattern(message):
    """`…` is anything that does not end with a colon."""
    return re.compile(re.escape(message).replace("…", ".*[^:]"))


def leave_no_room_for_threads():
    """In the process to be: no stack of this size fits into its address space. A limit on threads does not bind root."""
    resource.setrlimit(resource.RLIMIT_STACK, (1 << 47, resource.getrlimit(resource.RLIMIT_STACK)[1]))


def leave_no_room_for_models():
    """In the process to be: its files have at most 1 KiB."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))


LIMITS = {"cannot start more threads": leave_no_room_for_threads, "limit on file sizes": leave_no_room_for_models}


class ErrorsCase(CommandCase):
    """A folder with text, a vocabulary (v) and a model (m)."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.write_texts()
        cls.make("vocab train --input s t --model v --size 300", f"{TRAIN} -m m")

    @classmethod
    def write_texts(cls):
        words = "red green blue old new small house street river bridge".split()
        text = "".join(f"the {a} {b} is {c}\n" for a in words for b in words for c in words[:3])
        for name, content in (("s", text), ("t", text.replace("the", "das")), ("short", "one line\n"), ("empty", ""),
                              ("columns", "a\tb\tc\n"), ("far", "5 ||| a ||| F0= 1\n")):
            (cls.folder / name).write_text(content, encoding="utf-8")
        os.mkfifo(cls.folder / "pipe")

    @classmethod
    def make(cls, *commands):
        for command in commands:
            done = cls.call(command)
            if done.returncode != 0:
                raise RuntimeError(f"{command}\n{done.stderr}")

    @classmethod
    def call(cls, command, before=None):
        return subprocess.run([cls.BINARY, *command.split()], cwd=cls.folder, stdin=subprocess.DEVNULL, timeout=60,
                              check=False, capture_output=True, encoding="utf-8", preexec_fn=before,
                              env=os.environ | {"OMP_NUM_THREADS": "1"})

    def provoke(self, provoked):
        for message, command in provoked.items():
            if "Permission denied" in message and os.geteuid() == 0:
                continue  # root can read every file
            if "bfloat16" in message and "avx512_bf16" in Path("/proc/cpuinfo").read_text(encoding="utf-8"):
                continue  # this CPU supports it
            with self.subTest(command):
                done = self.call(command, next((limit for text, limit in LIMITS.items() if text in message), None))
                self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
                first = re.search(r"(?m)^error: (.*)$", done.stderr)
                self.assertIsNotNone(first, done.stderr)
                self.assertRegex(first[1], pattern(message))
                self.assertFalse((self.folder / "new").exists(), "a file was made")
