"""The comparison of builds sees no difference where there is none, and one where there is."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).with_name("same_bytes.py")
DRAGOMAN = sys.argv.pop(1)


def compare(old, new):
    return subprocess.run([sys.executable, SCRIPT, old, new, "--only", "decoder-rotary"], capture_output=True, text=True)


class SameBytes(unittest.TestCase):
    def test_a_build_equals_itself(self):
        done = compare(DRAGOMAN, DRAGOMAN)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("1 of 1 cases the same", done.stdout)

    def test_other_random_numbers_are_seen(self):
        with tempfile.TemporaryDirectory() as folder:
            other = pathlib.Path(folder) / "other"
            other.write_text(f'#!/bin/sh\nif [ "$1" = train ]; then set -- "$@" --seed 8; fi\nexec {DRAGOMAN} "$@"\n')
            other.chmod(0o755)
            done = compare(DRAGOMAN, other)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("state.safetensors at update", done.stdout)


if __name__ == "__main__":
    unittest.main()
