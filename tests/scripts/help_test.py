#!/usr/bin/env python3
"""--help of the scripts prints what their first comment says, and does nothing else."""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = [path for path in sorted((ROOT / "scripts").iterdir())
           if (path.is_file() and path.stat().st_mode & 0o100) or (path / "__main__.py").exists()]


def first_words(script):
    """Of the comment or of the docstring."""
    text = (script / "__main__.py" if script.is_dir() else script).read_text(encoding="utf-8")
    return re.match(r'#![^\n]*\n(?:# |""")(.{40})', text).group(1)


class Help(unittest.TestCase):
    def test_is_the_first_comment(self):
        self.assertGreater(len(SCRIPTS), 10)
        for script in SCRIPTS:
            with self.subTest(script.name), tempfile.TemporaryDirectory() as folder:
                command = [sys.executable, "-B", script] if script.is_dir() else [script]
                done = subprocess.run([*command, "--help"], cwd=folder, capture_output=True, text=True, timeout=60)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIn(first_words(script), " ".join(done.stdout.split()))
                self.assertNotIn("set -e", done.stdout)
                self.assertEqual(list(Path(folder).iterdir()), [])


if __name__ == "__main__":
    unittest.main()
