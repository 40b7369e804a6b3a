#!/usr/bin/env python3
"""What scripts that build and test say to wrong words, and what scripts/test counts."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
SUITES = SCRIPTS.parent / "tests/discover_suites.cmake"
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

# What programs of GoogleTest print.
RAN = """[==========] Running 4 tests from 1 test suite.
[       OK ] Suite.Passes (1 ms)
Its output.[       OK ] Suite.PassesToo (0 ms)
[  SKIPPED ] Suite.IsSkipped (0 ms)
"""
FAILED = RAN + """[  FAILED  ] Suite.Fails/0, where GetParam() = 1 (2 ms)
[==========] 4 tests from 1 test suite ran. (3 ms total)
[  PASSED  ] 2 tests.
[  SKIPPED ] 1 test, listed below:
[  SKIPPED ] Suite.IsSkipped
[  FAILED  ] 1 test, listed below:
[  FAILED  ] Suite.Fails/0, where GetParam() = 1
"""
PASSED = RAN + """[==========] 3 tests from 1 test suite ran. (3 ms total)
[  PASSED  ] 2 tests.
[  SKIPPED ] 1 test, listed below:
[  SKIPPED ] Suite.IsSkipped
"""
ALL_SKIPPED = """[==========] Running 2 tests from 1 test suite.
[  SKIPPED ] Suite.IsSkipped (0 ms)
[  SKIPPED ] Suite.IsSkippedToo (0 ms)
[==========] 2 tests from 1 test suite ran. (3 ms total)
[  PASSED  ] 0 tests.
[  SKIPPED ] 2 tests, listed below:
[  SKIPPED ] Suite.IsSkipped
[  SKIPPED ] Suite.IsSkippedToo
"""
CRASHED = RAN + """[  FAILED  ] Suite.Fails (2 ms)
[ RUN      ] Suite.Crashes
"""


def suite(output, code=0):
    """An entry of ctest for a program that prints this and ends with that exit code."""
    expression = re.search(r'set\(all_skipped "(.*)"\)', SUITES.read_text(encoding="utf-8"))[1]
    return (f"add_test(suite python3 -c [==[print('''{output}''', end=''); raise SystemExit({code})]==])\n"
            f'set_tests_properties(suite PROPERTIES SKIP_REGULAR_EXPRESSION "{expression}")\n')


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


class Demo(unittest.TestCase):
    def test_its_last_words_are_commands_for_folders_with_blanks(self):
        words = [line for line in (SCRIPTS / "demo").read_text(encoding="utf-8").splitlines() if line.startswith("echo")]
        done = subprocess.run(["sh", "-c", "\n".join(words)], capture_output=True, encoding="utf-8", check=True,
                              env=os.environ | {"dragoman": "the folder/dragoman", "model": "a demo/model"})
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), 2)
        for line in lines:
            self.assertTrue(line.endswith('"the folder/dragoman" translate --model "a demo/model"'), line)


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

    def test_the_tests_of_a_suite_count(self):
        self.assertEqual(self.summary(suite(PASSED)), (0, "2 passed, 0 failed, 1 skipped"))
        self.assertEqual(self.summary(suite(FAILED, 1)), (8, "2 passed, 1 failed, 1 skipped"))
        self.assertEqual(self.summary(suite(ALL_SKIPPED)), (0, "0 passed, 0 failed, 2 skipped"))
        many = "".join(f"[       OK ] Suite.Test/{i} (1 ms)\n" for i in range(3000))
        self.assertEqual(self.summary(suite(PASSED.replace("Its", many + "Its"))), (0, "3002 passed, 0 failed, 1 skipped"))

    def test_a_program_that_fails_without_a_failed_test_counts_as_one(self):
        self.assertEqual(self.summary(suite(CRASHED, 134)), (8, "2 passed, 2 failed, 1 skipped"))
        self.assertEqual(self.summary(suite(PASSED + "leaks\n", 23)), (8, "2 passed, 1 failed, 1 skipped"))
        self.assertEqual(self.summary(suite(ALL_SKIPPED + "leaks\n", 23)), (8, "0 passed, 1 failed, 2 skipped"))


if __name__ == "__main__":
    unittest.main()
