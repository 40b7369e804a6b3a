#!/usr/bin/env python3
"""What scripts that build and test say to wrong words, and what scripts/test counts."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
# Four of them fail: one by itself, one without a program, one that prepares another, and that other.
TESTS = """add_test(good true)
add_test(bad false)
add_test(lost /nowhere/program)
add_test(prepares false)
set_tests_properties(prepares PROPERTIES FIXTURES_SETUP prepared)
add_test(prepared true)
set_tests_properties(prepared PROPERTIES FIXTURES_REQUIRED prepared)
add_test(skipped sh -c "exit 77")
set_tests_properties(skipped PROPERTIES SKIP_RETURN_CODE 77)
add_test(matched echo "[  SKIPPED ]")
set_tests_properties(matched PROPERTIES SKIP_REGULAR_EXPRESSION "SKIPPED")
add_test(disabled true)
set_tests_properties(disabled PROPERTIES DISABLED ON)
"""


class Arguments(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)

    def refused(self, message, script, *arguments):
        done = subprocess.run([SCRIPTS / script, *arguments], cwd=self.folder, capture_output=True, encoding="utf-8",
                              timeout=60, check=False)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn(f"error: {message}", done.stderr)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_unknown_words_are_refused(self):
        self.refused("expected nothing or the word tests, found test;", "install_dependencies", "test")
        self.refused("expected nothing or the word tests, found tests too;", "install_dependencies", "tests", "too")
        for script in ("demo", "install_dependencies", "multi30k", "test", "tidy"):
            self.refused(f"{script} has no option --nix", script, "--nix")

    @unittest.skipUnless(shutil.which("git"), "git is not installed")
    def test_tidy_refuses_a_commit_that_there_is_not(self):
        self.refused("there is no commit nowhere", "tidy", "nowhere")


class Summary(unittest.TestCase):
    def summary(self, tests):
        """(exit code, last line) of scripts/test in a tree where nothing needs to be built."""
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            for path in ("scripts", "programs", "build/release"):
                (folder / path).mkdir(parents=True)
            for name in ("test", "shared"):
                shutil.copy(SCRIPTS / name, folder / "scripts")
            for stub in ("scripts/install_dependencies", "programs/cmake"):
                (folder / stub).write_text("#!/bin/sh\n", encoding="utf-8")
                (folder / stub).chmod(0o755)
            (folder / "build/release/CTestTestfile.cmake").write_text(tests, encoding="utf-8")
            done = subprocess.run([folder / "scripts/test"], capture_output=True, encoding="utf-8", timeout=60, check=False,
                                  env=os.environ | {"PATH": f"{folder}/programs:{os.environ['PATH']}"})
            return done.returncode, done.stdout.splitlines()[-1]

    def test_tests_that_could_not_start_have_failed(self):
        self.assertEqual(self.summary(TESTS), (8, "1 passed, 4 failed, 3 skipped"))
        self.assertEqual(self.summary("add_test(good true)\n"), (0, "1 passed, 0 failed"))


if __name__ == "__main__":
    unittest.main()
