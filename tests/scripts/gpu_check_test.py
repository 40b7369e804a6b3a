#!/usr/bin/env python3
"""scripts/gpu_check where there is no GPU: with the library that runs on the host (tests/cuda_on_host) and toy sizes.

    gpu_check_test.py BINARY LIBRARY
"""
import contextlib
import importlib.util
import io
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import types
import unittest
import unittest.mock
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / folder) for folder in ("tests/bench/compare", "recipes", "scripts")]

import on_gpu  # noqa: E402
from gpu_stages import correctness, kernels, trace  # noqa: E402
from gpu_stages.check import TOO_LATE, Check  # noqa: E402

BINARY, LIBRARY = "", ""  # from the command line
HAS_PYTORCH = all(map(importlib.util.find_spec, ("torch", "sentencepiece", "safetensors")))


class GpuCheck(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = Path(temporary.name)
        for name in ("with", "alone"):
            (cls.folder / name).mkdir()
            shutil.copy(BINARY, cls.folder / name / "dragoman")
            shutil.copy(Path(BINARY).parent / "libdragoman.so.0", cls.folder / name)
        shutil.copy(LIBRARY, cls.folder / "with" / "libdragoman_cuda.so")

    def check(self, *arguments):
        done = subprocess.run([sys.executable, "-B", ROOT / "scripts/gpu_check", *map(str, arguments)], check=False,
                              cwd=self.folder, capture_output=True, encoding="utf-8", timeout=600)
        return done.returncode, done.stdout, done.stderr

    def test_says_what_is_missing(self):
        for build, missing in (("alone", "there is no library for GPUs"), ("nowhere", "nowhere/dragoman is not here")):
            code, out, err = self.check(build)
            self.assertEqual((code, out), (2, ""))
            self.assertIn(missing, err)

    def test_refuses_what_it_does_not_know(self):
        for arguments, reason in ((("with", "all"), "no stage all, expected some of facts, tests, train, decode, kernels, "
                                                   "sanitize, multi30k, kftt"),
                                  (("with", "kftt"), "stage kftt needs --kftt FOLDER, the text to train on"),
                                  (("with", "--train", "a", "b"), "--train and --vocab belong together")):
            code, _, err = self.check(*arguments)
            self.assertEqual(code, 2)
            self.assertIn(reason, err)

    def test_takes_the_first_word_as_a_stage_unless_it_is_a_build(self):
        self.assertIn("stage kftt needs --kftt FOLDER", self.check("kftt")[2])
        self.assertIn("no stage all, expected some of", self.check("tests", "all")[2])
        (self.folder / "facts").symlink_to(self.folder / "alone")
        self.assertIn("alone/dragoman: devices      none: there is no library for GPUs", self.check("facts", "tests")[2])

    def test_says_what_it_skipped_when_time_is_over(self):
        code, out, err = self.check("with", "tests", "train", "sanitize", "--try-out", "--minutes", 0, "--json", "found.json")
        self.assertEqual(code, 0, out + err)
        for what in ("kernels against the reference", "compute-sanitizer memcheck", "training toy"):
            self.assertRegex(out, rf"{what} +skipped: no time left")
        self.assertIn("decode                                   skipped: not asked for", out)
        self.assertIn("the host, in place of a GPU", out)
        found = json.loads((self.folder / "found.json").read_text(encoding="utf-8"))
        self.assertIn("the host, in place of a GPU", found["facts"]["device"])
        self.assertIn({"what": "kernels against the reference", "outcome": "skipped: no time left", "text": "",
                       "seconds": None}, found["outcomes"])

    def test_tells_facts_and_profiles_an_update_and_a_step(self):
        code, out, err = self.check("with", "facts", "kernels", "--try-out", "--json", "kernels.json")
        self.assertEqual(code, 0, out + err)
        found = json.loads((self.folder / "kernels.json").read_text(encoding="utf-8"))
        self.assertTrue(found["facts"]["Python"])
        figures = {(figure["what"], figure["measure"]): figure["value"] for figure in found["figures"]}
        self.assertGreater(figures["first start", "seconds"], 0)
        self.assertGreaterEqual(figures["an update, linear_cross_entropy", "calls"], 20)
        self.assertGreater(figures["a step, attention_step", "calls"], 0)
        for what in ("an update", "a step"):
            self.assertRegex(out, rf"ncu of {what} +skipped: ")
            self.assertRegex(out, rf"trace of {what} +skipped: ")

    def assert_measured(self, python, peer):
        code, out, err = self.check("with", "train", "decode", "--try-out", "--python", python)
        self.assertEqual(code, 0, out + err)
        for what, setting in (("training toy", "16 tokens"), ("decoding toy, beam 1", ""), ("decoding toy, beam 4", "")):
            self.assertRegex(out, rf"{what}, target tokens/s\n    dragoman   [\d,.]+ \({setting}.*\)\n    PyTorch    {peer}")
        for beam in (1, 4):
            self.assertRegex(out, rf"decoding toy, beam {beam}, int8, target tokens/s\n    dragoman   [\d,.]+ .*\n    PyTorch    –")
        for row in ("allocations on the device", "waits for the device", "slow products"):
            self.assertRegex(out, rf"training toy, {row} an update: \d+\.\d\d, from update 20 to 40\n")
        self.assertIn("tests                                    skipped: not asked for", out)
        self.assertRegex(out, r"training base, MFU, % +at least +33  not measured")
        return out

    def test_measures_without_pytorch(self):
        self.assertIn("PyTorch: not found: no program /no/such/python", self.assert_measured("/no/such/python", "–"))

    @unittest.skipUnless(HAS_PYTORCH, "this Python has no torch, sentencepiece, safetensors")
    def test_measures_beside_pytorch(self):
        out = self.assert_measured(sys.executable, r"[\d,.]+ \(")
        self.assertEqual(len(re.findall(r"best : best  [\d.]+\n", out)), 3, out)

    def test_trains_recipes_and_measures_them(self):
        code, out, err = self.check("with", "multi30k", "kftt", "--try-out")
        self.assertEqual(code, 0, out + err)
        for recipe, words in (("multi30k-tiny", "none"), ("kftt-base", "intl")):
            self.assertRegex(out, rf"recipes/{recipe}.yml in bfloat16: 6 updates, [\d,]+ target tokens in \d+\.\d s of 1 call, "
                                  rf"[\d,]+ tokens/s.*\naverage of the last checkpoints, beam 5: BLEU \d+\.\d\d \({words}\)\n")

    def kftt(self, after, *more):
        """A call for a run that ends after so many updates, which always stays in the same folder."""
        config = self.folder / "after.yml"
        config.write_text(f"after: {after}u\ndim-vocabs: 285\n", encoding="utf-8")
        code, out, err = self.check("with", "kftt", "--try-out", "--kftt", "text", "--runs", "runs", "-c", config, *more)
        self.assertEqual(code, 0, out + err)
        return out

    def test_resumes_a_recipe_call_by_call(self):
        (self.folder / "text").mkdir()
        for part, lines in (("train", 100), ("dev", 1), ("test", 1)):
            for side in ("ja", "en"):
                text = "".join(f"{side} {n % 7} and {n * n % 31} of {n}\n" for n in range(lines))
                (self.folder / f"text/{part}.{side}").write_text(text, encoding="utf-8")
        out = self.kftt(1_000_000, "--minutes", (on_gpu.SAVING + 10) / 60)
        self.assertIn("kftt, BLEU                               skipped: training is not done, repeat the call to resume", out)
        line = r"recipes/kftt-base.yml in bfloat16: ([\d,]+) updates, .* s of {}, .*"
        updates = int(re.search(line.format("1 call"), out)[1].replace(",", ""))
        self.assertGreater(updates, 0)
        done = [self.kftt(updates + 2) for _ in range(2)]
        lines = [re.search(line.format("2 calls"), out) for out in done]
        self.assertEqual(lines[0][1], f"{updates + 2:,}")
        self.assertEqual(lines[0][0], lines[1][0], "what is done is not done again")
        self.assertIn("BLEU", done[1])

    def test_says_which_text_is_missing(self):
        (self.folder / "no-text").mkdir()
        code, _, err = self.check("with", "multi30k", "--multi30k", "no-text")
        self.assertEqual(code, 2)
        self.assertIn("no-text/tok/train.lc.norm.tok.en is missing, also with .xz or .gz", err)


def check_in(folder):
    return Check(types.SimpleNamespace(build=Path(folder), json=Path(folder) / "found.json"), folder)


class Time(unittest.TestCase):
    def test_a_stage_that_takes_too_long_leaves_time_for_those_after_it(self):
        with tempfile.TemporaryDirectory() as folder:
            check = check_in(folder)
            check.end = time.monotonic() + 4
            with check.share(0.5):
                self.assertEqual(check.run("sleep", "60")[0], TOO_LATE)
            self.assertEqual(check.run("true")[0], 0)


class Kernels(unittest.TestCase):
    """What is said of cases of kernels, for which a script stands here: of fine, wrong, after and crash, `wrong` fails,
    and after it `after` in the same process; `crash` ends the process."""
    program = """#!/usr/bin/env python3
import os, sys
wanted = sys.argv[-1].partition("=")[2]
if "--gtest_list_tests" in sys.argv:
    print("Suite/Cases." if "Agree" in wanted else "")
    for name in ("fine", "wrong", "after", "crash", "last") if "Agree" in wanted else ():
        print(f"  {name}/0  # GetParam() = {name}")
    sys.exit()
spoilt = 0
for name in wanted.split(":"):
    print(f"[ RUN      ] {name}", flush=True)
    if "crash" in name:
        os.abort()
    spoilt |= "wrong" in name and not ("FINE" in os.environ and "CUDA_LAUNCH_BLOCKING" in os.environ)
    print(f"[  FAILED  ] {name}, where GetParam() = 1 (0 ms)" if spoilt and "fine" not in name else f"[       OK ] {name} (0 ms)")
sys.exit(spoilt)
"""

    def verdicts(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as out, \
                contextlib.redirect_stderr(io.StringIO()) as err, unittest.mock.patch.object(correctness, "SHARDS", 1):
            program = Path(folder) / "tests/ops/test_ops"
            program.parent.mkdir(parents=True)
            program.write_text(self.program, encoding="utf-8")
            program.chmod(0o755)
            check = check_in(folder)
            correctness.kernels(check)
            found = json.loads((Path(folder) / "found.json").read_text(encoding="utf-8"))
        return out.getvalue(), err.getvalue(), check, found

    def test_one_that_crashes_or_spoils_the_device_hides_no_other(self):
        out, err, check, found = self.verdicts()
        self.assertTrue(check.failed)
        self.assertIn("2 of 5 cases fail alone, 1 after others only", out)
        for line in ("FAILED alone: Suite/Cases.wrong/0", "ok alone: Suite/Cases.after/0", "CRASHED alone: Suite/Cases.crash/0"):
            self.assertIn(line, err)
        self.assertNotIn("last", err)
        self.assertIn(("Suite/Cases.crash/0", "CRASHED"), [(one["what"], one["outcome"]) for one in found["outcomes"]])

    def test_no_time_is_no_failure(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as out:
            check = check_in(folder)
            check.end = 0
            correctness.kernels(check)
        self.assertIn("skipped: no time left", out.getvalue())
        self.assertFalse(check.failed)


class Trace(unittest.TestCase):
    EVENTS = [(0, 10, "load"), (60, 70, "a"), (71, 80, "b"), (100, 110, "a"), (111, 115, "b"), (115, 120, "c")]

    def test_waits_are_added_up_by_the_kernels_around_them(self):
        longest, busy = trace.waits(self.EVENTS[1:])
        self.assertEqual(longest, [(20, 1, "b", "a"), (2, 2, "a", "b")])
        self.assertAlmostEqual(busy, 38 / 60)

    def test_a_program_that_the_driver_traces_is_shown(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as out:
            check = check_in(folder)
            check.a.build = Path(folder)
            trace.trace(check, "a step", lambda several: ["translate"])
            (check.a.build / "tests/bench").mkdir(parents=True)
            (check.a.build / "tests/bench/libgpu_trace.so").touch()
            check.dragoman = Path(folder) / "traced"
            lines = "".join(f"{begin}\t{end}\t0\t{name}\n" for begin, end, name in reversed(self.EVENTS))
            check.dragoman.write_text(f"#!/bin/sh\ncat >$GPU_TRACE <<END\n{lines}END\n", encoding="utf-8")
            check.dragoman.chmod(0o755)
            trace.trace(check, "a step", lambda several: ["translate"])
        self.assertRegex(out.getvalue(), r"trace of a step +skipped: .*libgpu_trace.so is missing: build gpu_trace\n")
        self.assertRegex(out.getvalue(), r"trace of a step +busy in 95.0% of 0.0 ms, 3 kernels and copies")
        self.assertIn("after a, before b\n", out.getvalue())


class NsightCompute(unittest.TestCase):
    def test_kernels_are_added_up_and_weighted_by_their_time(self):
        rows = [("0", "a", "gpu__time_duration.sum", "us", "1.5"), ("0", "a", "launch__registers_per_thread", "", "30"),
                ("1", "b", "gpu__time_duration.sum", "nsecond", "4,500"), ("2", "a", "gpu__time_duration.sum", "ns", "500"),
                ("2", "a", "launch__registers_per_thread", "", "70")]
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "ncu.csv"
            log.write_text('==PROF== Connected\n"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"\n' + "".join(
                ",".join(f'"{cell}"' for cell in row) + "\n" for row in rows), encoding="utf-8")
            found = kernels.summary(log)
        self.assertEqual(list(found), ["b", "a"])
        self.assertEqual((found["a"]["launches"], found["a"]["ns"], found["a"]["registers"]), (2, 2000, 40))

    def test_times_of_all_kernels_come_before_other_metrics_of_some(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as out:
            program = Path(folder) / "ncu"
            program.write_text("""#!/bin/sh
echo "$@" >>calls
for f; do [ "$last" = --log-file ] && log=$f; last=$f; done
cat >$log <<'END'
"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"
"0","a","gpu__time_duration.sum","us","2"
END
case "$*" in *dram*) echo '"0","a","dram__throughput.avg.pct_of_peak_sustained_elapsed","%","40"' >>$log;; esac
""", encoding="utf-8")
            program.chmod(0o755)
            check = check_in(folder)
            with unittest.mock.patch.dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}"):
                kernels.measure(check, "a step", lambda several: ["translate"])
            calls = (check.folder / "calls").read_text(encoding="utf-8").splitlines()
        self.assertRegex(calls[0], "--metrics gpu__time_duration.sum --launch-count 1500 ")
        self.assertRegex(calls[1], "--metrics gpu__time_duration.sum,dram__.* --launch-count 120 ")
        self.assertEqual(out.getvalue().count("0.00 ms in 1 kernels"), 2)
        self.assertRegex(out.getvalue(), r"100.0% +1 x  a\n(.*\n)*.*100.0% +1 x  memory, %  40  a\n")

    def test_where_it_is_refused_the_rest_continues(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as out:
            program = Path(folder) / "ncu"
            program.write_text("#!/bin/sh\nfor f; do [ \"$last\" = --log-file ] && echo '==ERROR== no permission' >$f; "
                               "last=$f; done; exit 1\n", encoding="utf-8")
            program.chmod(0o755)
            check = check_in(folder)
            with unittest.mock.patch.dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}"):
                kernels.measure(check, "an update", lambda several: ["train"])
        self.assertRegex(out.getvalue(), "ncu of an update +skipped: ==ERROR== no permission")
        self.assertFalse(check.failed)


class Sanitizer(unittest.TestCase):
    """What is said of a run under compute-sanitizer, for which a script stands here."""

    def said(self, script):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as out, \
                contextlib.redirect_stderr(io.StringIO()):
            program = Path(folder) / "compute-sanitizer"
            program.write_text(f"#!/bin/sh\necho '========= COMPUTE-SANITIZER'\n{script}\n", encoding="utf-8")
            program.chmod(0o755)
            path = f"{folder}:{os.environ['PATH']}"
            with unittest.mock.patch.dict(os.environ, PATH=path):
                check = check_in(folder)
                correctness.sanitize(check, "memcheck", "", "train", at_most=1)
        return out.getvalue(), check.failed

    def test_what_found_nothing_is_ok(self):
        out, failed = self.said("exit 0")
        self.assertRegex(out, "^compute-sanitizer memcheck +ok")
        self.assertFalse(failed)

    def test_what_found_something_failed(self):
        out, failed = self.said("echo '========= Invalid __global__ write'; exit 9")
        self.assertRegex(out, "^compute-sanitizer memcheck +FAILED: ========= Invalid __global__ write")
        self.assertTrue(failed)

    def test_a_device_that_it_does_not_support_is_skipped(self):
        out, failed = self.said("echo '========= Error: Device not supported. Please refer to the documentation'; exit 1")
        self.assertRegex(out, "^compute-sanitizer memcheck +skipped: ========= Error: Device not supported")
        self.assertFalse(failed)

    def test_what_was_slow_is_skipped(self):
        out, failed = self.said("sleep 60")
        self.assertRegex(out, "^compute-sanitizer memcheck +skipped: not done after 1 s, no error until then")
        self.assertFalse(failed)

    def test_what_was_slow_and_found_something_failed(self):
        out, failed = self.said("echo '========= Invalid __global__ write'; sleep 60")
        self.assertRegex(out, "^compute-sanitizer memcheck +FAILED: not done after 1 s")
        self.assertTrue(failed)

    def test_a_case_that_failed_before_time_was_over_failed(self):
        _, failed = self.said("echo '[  FAILED  ] Norm.Case (3 ms)'; sleep 60")
        self.assertTrue(failed)


class Log(unittest.TestCase):
    """What the log of a run says of its calls."""

    def past(self, minutes, *events, half=""):
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "log.jsonl"
            names = ("event", "seconds", "update", "target_tokens", "reason")
            log.write_text("".join(json.dumps(dict(zip(names, event))) + "\n" for event in events) + half, encoding="utf-8")
            return on_gpu.past_of(log, minutes)

    def test_time_counts_from_the_first_update_of_each_call(self):
        killed = [("start", 20, 0, 0), ("report", 30, 100, 1000), ("report", 45, 200, 2000)]
        stopped = [("start", 5, 100, 1000), ("report", 11, 200, 2000), ("end", 12, 210, 2100, "signal")]
        self.assertEqual(self.past(15, *killed, *stopped, half='{"event":"sta'),
                         on_gpu.Past(calls=2, seconds=25 + 7, before=20 + 5, updates=210, tokens=2100, ended=False))

    def test_a_run_has_ended_by_itself_or_when_it_has_no_whole_minute_left(self):
        end = lambda seconds, reason: [("start", 10, 0, 0), ("end", seconds, 1, 1, reason)]
        for minutes, seconds, reason, ended in ((15, 20, "after", True), (15, 20, "early-stopping", True),
                                                (15, 20, "signal", False), (15, 840, "signal", False),
                                                (15, 860, "signal", True), (math.inf, 9000, "signal", False)):
            self.assertEqual(self.past(minutes, *end(seconds, reason)).ended, ended, (minutes, seconds, reason))
        self.assertFalse(self.past(15).ended)


if __name__ == "__main__":
    LIBRARY = str(Path(sys.argv.pop(2)).resolve())
    BINARY = str(Path(sys.argv.pop(1)).resolve())
    unittest.main()
