#!/usr/bin/env python3
"""End-to-end test of the logs of a training run, the pages made from them, and signals.

    runlog_test.py BINARY
"""

import json
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import time
from pathlib import Path

import command_case
from end_to_end_test import SMALL, InFolder

RUN = "train -t s t --valid-sets s t -v v v --valid-freq 20u --valid-metrics cross-entropy chrf".split()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(data):
    """The payloads of a TFRecord file, checksums checked."""
    at = 0
    while at < len(data):
        length, length_crc = struct.unpack_from("<QI", data, at)
        payload = data[at + 12:at + 12 + length]
        [crc] = struct.unpack_from("<I", data, at + 12 + length)
        assert (length_crc, crc) == (masked(data[at:at + 8]), masked(payload)), f"bad checksum at byte {at}"
        yield payload
        at += 16 + length


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 0x80:
            return value, at


def fields(message):
    """(number, value) of each field of a protobuf message; sub-messages stay bytes."""
    at = 0
    while at < len(message):
        key, at = varint(message, at)
        if key & 7 == 0:
            value, at = varint(message, at)
        elif key & 7 == 2:
            length, at = varint(message, at)
            value, at = message[at:at + length], at + length
        else:
            form = {1: "<d", 5: "<f"}[key & 7]
            [value], at = struct.unpack_from(form, message, at), at + struct.calcsize(form)
        yield key >> 3, value


def events(folder):
    """The events of a folder's files in their order, as field numbers of event.proto: value."""
    return [dict(fields(record)) for path in sorted(folder.iterdir(), key=lambda p: p.stat().st_mtime)
            for record in records(path.read_bytes())]


def scalars(folder):
    """{tag: {step: value}}"""
    found = {}
    for event in events(folder):
        for number, value in fields(event.get(5, b"")):
            one = dict(fields(value))
            found.setdefault(one[1].decode(), {})[event[2]] = one[2]
    return found


class Logged(InFolder):
    """Has logs of a run of 60 updates that was resumed once."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        logs = "-m logged.safetensors --log-json run.jsonl --tensorboard tb".split()
        for end in ("40u", "60u"):
            done = cls.call(*RUN, *logs, "--after", end, *SMALL)
            assert done.returncode == 0, done.stderr
        cls.lines = [json.loads(line) for line in (cls.folder / "run.jsonl").read_text().splitlines()]

    def of(self, event):
        return [line for line in self.lines if line["event"] == event]


class Written(Logged):
    """In files, by the run."""

    def test_json_has_a_line_for_every_event_in_order(self):
        self.assertEqual([line["update"] for line in self.of("report")], [10, 20, 30, 40, 50, 60])
        self.assertEqual([line["update"] for line in self.of("validation")], [20, 40, 60])
        self.assertEqual([(line["update"], line["saved"]) for line in self.of("save")], [(40, True), (60, True)])
        self.assertEqual([(line["update"], line["resumed"]) for line in self.of("start")], [(0, False), (40, True)])
        self.assertEqual([(line["update"], line["reason"]) for line in self.of("end")], [(40, "after"), (60, "after")])
        updates = [line["update"] for line in self.lines]
        self.assertEqual(updates, sorted(updates))

    def test_json_says_what_stderr_says(self):
        self.assertEqual(set(self.of("validation")[0]["metrics"]), {"cross-entropy", "chrf"})
        costs = [line["cost"] for line in self.of("report")]
        self.assertLess(costs[-1], costs[0])
        for line in self.lines:
            self.assertRegex(line["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
            self.assertGreaterEqual(line["seconds"], 0)

    def test_tensorboard_has_the_same_numbers(self):
        found = scalars(self.folder / "tb")
        self.assertEqual(set(found), {"train/cost", "train/words_per_second", "train/learning_rate",
                                      "train/gradient_norm", "valid/cross-entropy", "valid/chrf"})
        for tag, event, pick in (("train/cost", "report", lambda e: e["cost"]),
                                 ("train/gradient_norm", "report", lambda e: e["gradient_norm"]),
                                 ("valid/chrf", "validation", lambda e: e["metrics"]["chrf"])):
            wanted = {line["update"]: pick(line) for line in self.of(event)}
            self.assertEqual(set(found[tag]), set(wanted), tag)
            for step, value in wanted.items():
                self.assertAlmostEqual(found[tag][step] / value, 1, places=5)

    def test_tensorboard_is_told_the_version_and_where_a_run_resumes(self):
        all_events = events(self.folder / "tb")
        self.assertEqual(all_events[0][3], b"brain.Event:2")
        [restart] = [event for event in all_events if 7 in event]
        self.assertEqual((restart[2], dict(fields(restart[7]))), (41, {1: 1}))  # SessionLog.START


class Messages(InFolder):
    """In files of their own, and logs that cannot be written."""

    def test_go_to_the_log_and_those_of_validation_to_its_own_too(self):
        run = [*RUN, *"-m told.safetensors --after 20u --quiet --log told.log --valid-log told.valid".split(), *SMALL]
        for _ in range(2):  # the second call appends
            done = self.call(*run)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
        log, valid = ((self.folder / f"told.{name}").read_text().splitlines() for name in ("log", "valid"))
        for line in log + valid:
            self.assertRegex(line, r"^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\] ")
        self.assertEqual(sum("Training finished" in line for line in log), 2)
        self.assertIn("Up. 20 : Sen.", "\n".join(log))
        self.assertEqual([line.split("] ", 1)[1] for line in valid],
                         [line.split("] ", 1)[1] for line in log if "[valid]" in line])
        self.assertEqual(len(valid), 2)  # two metrics, once

    def test_of_the_error_that_ends_a_run_are_in_the_log(self):
        done = self.call(*RUN, *"-m lost.safetensors --after 1u --log lost.log -t s short".split(), *SMALL)
        self.assertEqual(done.returncode, 2)
        self.assertIn("error: ", (self.folder / "lost.log").read_text())

    def test_no_log_is_written_over_another_file(self):
        for option in ("--log", "--valid-log"):
            done = self.call(*RUN, *"-m over.safetensors --after 1u".split(), option, "s", *SMALL)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"{option} and --train-sets are both s", done.stderr)
        self.assertEqual((self.folder / "s").read_text(), self.source)

    def test_that_cannot_be_written_end_the_run_with_an_error_after_its_model_is_saved(self):
        for option in ("--log", "--valid-log", "--log-json"):
            with self.subTest(option):
                model = f"full{option}.safetensors"
                done = self.call(*RUN, "-m", model, option, "/dev/full", "--after", "20u", *SMALL)
                self.assertEqual(done.returncode, 2)
                self.assertRegex(done.stderr, rf"error: .*{option}: /dev/full: writing failed: No space left")
                self.assertIn("(update 20)", done.stderr)
                self.assertTrue((self.folder / model).exists())

    def test_that_cannot_be_written_are_all_named_in_the_error(self):
        done = self.call(*RUN, *"-m none.safetensors --log /dev/full --log-json /dev/full --after 1u".split(), *SMALL)
        self.assertEqual(done.returncode, 2)
        full = "/dev/full: writing failed: No space left on device"
        self.assertIn(f"error: not all output of the run was written: --log-json: {full}\n"
                      f"  not all messages were written: --log: {full}\n", done.stderr)
        self.assertIn("free some space", done.stderr)

    def test_that_cannot_be_written_leave_another_error_as_it_is_told(self):
        done = self.call(*RUN, *"-m lost.safetensors --after 1u --log /dev/full -t s short".split(), *SMALL)
        self.assertRegex(done.stderr, "(?m)^error: s has .* lines, short has .*\n  Line i .*\n"
                                      "  not all messages were written: --log: /dev/full: .*\n  hint: compare the files")


class Reports(Logged):
    """Made of text and logs."""

    def test_plot_is_one_page_with_the_points_of_the_log(self):
        page = self.succeed("plot", "run.jsonl", "run.jsonl")
        for outside in ("src=", "<link", "@import", "url(", "fetch("):
            self.assertNotIn(outside, page)
        [data] = re.findall(r'<script id="data" type="application/json">(.*?)</script>', page, re.DOTALL)
        first, second = json.loads(data)
        self.assertEqual(first, second)
        for name, event in (("cost", "report"), ("learning_rate", "report"), ("chrf", "validation")):
            wanted = [[e["update"], e["target_tokens"], e["metrics"][name] if event == "validation" else e[name]]
                      for e in self.of(event)]
            self.assertEqual(first["curves"][name], wanted)

    def in_page(self, script, *logs):
        """What JavaScript returns in a page of these logs."""
        node = shutil.which("node")
        if not node:
            self.skipTest("node is not installed")
        self.succeed("plot", *logs, "-o", "probe.html")
        done = subprocess.run([node, Path(__file__).with_name("page_in_node.js"), self.folder / "probe.html", script],
                              check=True, capture_output=True, encoding="utf-8", timeout=60)
        return json.loads(done.stdout)

    def test_plot_draws_values_that_differ_in_their_last_bits(self):
        costs = {"large": [1e6, 1e6 * (1 + 2**-52)], "one": [1, 1 + 2**-52, 1], "equal": [0, 0], "far": [-1, 3e9]}
        for name, values in costs.items():
            lines = [json.dumps({"event": "report", "update": n + 1, "target_tokens": n + 1, "cost": value})
                     for n, value in enumerate(values)]
            (self.folder / name).write_text("\n".join(lines), encoding="utf-8")
            ticks = self.in_page("return document.getElementById('charts').all('text').length;", name)
            self.assertTrue(6 <= ticks <= 30, f"{name}: {ticks}")

    def test_plot_is_for_keys_and_readers_of_screens_too(self):
        found = self.in_page("""
            const charts = document.getElementById('charts'), buttons = document.getElementById('runs').all('button');
            const [cost] = charts.all('section'), [svg] = cost.all('svg'), curves = cost.all('polyline').map(c => c.attributes);
            const shown = () => cost.all('div')[0].all('div')[0].textContent, seen = [];
            for (const key of ['ArrowRight', 'ArrowRight', 'ArrowLeft', 'ArrowLeft']) {
              svg.onkeydown({ key, preventDefault() {} });
              seen.push(shown());
            }
            svg.onblur();
            const left = cost.all('div')[0].style.visibility;
            svg.onpointerdown({ clientX: 559, clientY: 9, pointerType: 'touch' });
            seen.push(shown());
            buttons[1].onclick();
            return { buttons: buttons.map(b => [b.textContent, b.attributes['aria-pressed']]), svg: svg.attributes, seen, left,
              strokes: curves.map(c => c.stroke + c['stroke-dasharray']),
              curves: charts.all('section')[0].all('polyline').length };""", *["run.jsonl"] * 10)
        self.assertEqual(found["buttons"], [["run.jsonl", "false" if i == 1 else "true"] for i in range(10)])
        costs = [e["cost"] for e in self.of("report")]
        updates = [e["update"] for e in self.of("report")]
        self.assertEqual(found["svg"]["role"], "img")
        self.assertTrue(found["svg"]["aria-label"].startswith(f"Cost: run.jsonl from {costs[0]:.6g} to {costs[-1]:.6g}; run"))
        self.assertEqual(found["seen"], [f"update {updates[i]}" for i in (0, 1, 0, 0, -1)])
        self.assertEqual((found["left"], len(set(found["strokes"])), found["curves"]), ("hidden", 10, 9))
        self.assertIn("<noscript>", (self.folder / "probe.html").read_text(encoding="utf-8"))

    def test_plot_writes_the_page_to_a_file_whole_or_not_at_all(self):
        (self.folder / "page.html").write_text("the one before\n", encoding="utf-8")
        self.assertEqual(self.call("plot", "s", "-o", "page.html").returncode, 2)
        self.assertEqual((self.folder / "page.html").read_text(encoding="utf-8"), "the one before\n")
        self.assertEqual(self.succeed("plot", "run.jsonl", "--output", "page.html"), "")
        self.assertEqual((self.folder / "page.html").read_text(encoding="utf-8"), self.succeed("plot", "run.jsonl"))

    def test_plot_drops_what_was_lost_and_names_that_could_end_the_data(self):
        events = [{"event": "start", "update": 0}, {"event": "report", "update": 10}, {"event": "report", "update": 20},
                  {"event": "start", "update": 10}, {"event": "validation", "update": 15}]
        numbers = {"target_tokens": 1, "cost": 2, "learning_rate": None, "words_per_second": 3, "gradient_norm": 4,
                   "metrics": {"</script>": 5}}
        lines = [json.dumps(event | numbers) for event in events] + ['{"event":"rep']
        (self.folder / "lost.jsonl").write_text("\n".join(lines))
        done = self.call("plot", "lost.jsonl")
        self.assertIn("1 of 6 lines are not events", done.stderr)
        [data] = re.findall(r'type="application/json">(.*?)</script>', done.stdout, re.DOTALL)
        self.assertEqual(json.loads(data)[0]["curves"],
                         {"cost": [[10, 1, 2]], "words_per_second": [[10, 1, 3]], "gradient_norm": [[10, 1, 4]],
                          "</script>": [[15, 1, 5]]})

    def test_plot_refuses_what_is_no_log(self):
        done = self.call("plot", "s")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("s has no report and no validation in its 150 lines", done.stderr)

    def test_data_reports_on_text(self):
        page = self.succeed(*"data -t s t -v v v".split())
        for words in ("lines                          150", "Lines by pieces, s", "unknown pieces"):
            self.assertIn(words, page)
        figures = json.loads(self.succeed(*"data -t s t -v v v --json".split()))
        self.assertEqual((figures["lines"], figures["encoded"], figures["duplicates"]), (150, 150, 0))
        self.assertEqual(figures["source"]["words"], len(self.source.split()))
        self.assertEqual(sum(figures["target"]["lengths"].values()), 150)
        self.assertNotIn(0, figures["target"]["lengths"].values())
        self.assertNotIn("pieces", json.loads(self.succeed(*"data -t s t --json".split()))["source"])

    def test_data_prints_shares_and_refuses_what_has_no_effect(self):
        (self.folder / "copied").write_text("a b\n" * 2, encoding="utf-8")
        page = self.succeed(*"data -t copied copied".split())
        self.assertRegex(page, r"identical sides +2 \(100 %\)")
        for option in ("--max-length 9", "--sample 9", "--no-spm-encode"):
            done = self.call("data", "-t", "s", "t", *option.split())
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(f"{option.split()[0]} is for --vocabs, which is not given: only words are", done.stderr)
        (self.folder / "wide").write_text("a " * 9000 + "\n", encoding="utf-8")
        figures = json.loads(self.succeed(*"data -t wide wide --json".split()))
        self.assertEqual(figures["source"]["lengths"], {"9000": 1})

    def test_plot_reads_stdin_once_and_draws_what_can_be_seen(self):
        self.assertIn("only one of --logs can be '-' (stdin), found 2", self.call("plot", "-", "-").stderr)
        done = subprocess.run([self.BINARY, "plot", "-"], input="{}\n", encoding="utf-8", check=False,
                              capture_output=True)
        self.assertIn("stdin has no report", done.stderr)
        numbers = {"target_tokens": 1, "learning_rate": None, "words_per_second": None, "gradient_norm": None}
        lines = [json.dumps({"event": "report", "update": n + 1, "cost": 9 if n == 4321 else 1} | numbers)
                 for n in range(20_000)]
        (self.folder / "long.jsonl").write_text("\n".join(lines))
        page = self.succeed("plot", "long.jsonl")
        [data] = re.findall(r'type="application/json">(.*?)</script>', page, re.DOTALL)
        points = json.loads(data)[0]["curves"]["cost"]
        self.assertLess(len(points), 2100)
        self.assertEqual([points[0][0], points[-1][0]], [1, 20_000])
        self.assertIn([4322, 1, 9], points)

    def test_a_dry_run_computes_in_the_precision_of_the_run(self):
        run = [*RUN, *"--valid-freq 0 --cpu-threads 1 -m precise.safetensors --after 1u --dry-run".split(), *SMALL]
        for more in ([], ["--dry-run"]):
            done = self.call(*"train -t s t -v fresh fresh -m precise.safetensors --half-activations".split(), *more, *SMALL)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn("--half-activations keeps activations in the type of --precision, which is float32 here", done.stderr)
            self.assertFalse((self.folder / "fresh").exists())
        if "avx512_bf16" not in Path("/proc/cpuinfo").read_text(encoding="utf-8"):
            self.skipTest("this CPU does not multiply bfloat16")
        memory = lambda precision: re.search(r"(?m)^ +memory +(.*)$", self.succeed(*run, "--precision", precision))[1]
        self.assertEqual(memory("fastest"), memory("bfloat16"))
        self.assertNotEqual(memory("fastest"), memory("float32"))

    def test_a_dry_run_knows_the_memory_of_the_process(self):
        run = [*RUN, *"--valid-freq 0 --cpu-threads 1 -m peak.safetensors --after 100u".split(), *SMALL]
        page = self.succeed(*run, "--dry-run")
        [planned] = re.findall(r"memory of the process +about (\d+) MiB", page)
        process = subprocess.Popen([self.BINARY, *run, "--quiet"], cwd=self.folder)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        peak = usage.ru_maxrss / 1024
        self.assertLess(abs(int(planned) - peak), 0.15 * peak, f"planned {planned} MiB, took {peak} MiB")

    def test_a_dry_run_reports_and_leaves_nothing_behind(self):
        before = set(self.folder.rglob("*"))
        page = self.succeed(*RUN, *"-m dry.safetensors --after 20e --log-json dry.jsonl --dry-run".split(), *SMALL)
        self.assertEqual(set(self.folder.rglob("*")), before)
        for words in ("all checks passed, nothing was written", "parameters", "memory",
                      "(20 epochs)", "measured"):
            self.assertIn(words, page)


class Signals(InFolder):
    """Sent to a run without end."""

    def start(self, model):
        """The process, and a function that gives the next event of the log called `name`."""
        path = self.folder / f"{model}.jsonl"
        # A file: a pipe without a reader would fill up, and the run would block forever.
        log = (self.folder / f"{model}.log").open("w")
        self.addCleanup(log.close)
        run = subprocess.Popen([self.BINARY, *RUN, "-m", f"{model}.safetensors", "--valid-freq", "0",
                                "--save-freq", "0", "--log-json", str(path), *SMALL, "--cpu-threads", "1"],
                               cwd=self.folder, stderr=log)
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)

        def wait_for(name):
            for _ in range(600):
                lines = path.read_text().split("\n")[:-1] if path.exists() else []
                found = [event for event in map(json.loads, lines) if event["event"] == name]
                if found:
                    return found[-1]
                if run.poll() is not None and run.returncode < 0:
                    tail = (self.folder / f"{model}.log").read_text()[-500:]
                    self.fail(f"the run was ended by signal {-run.returncode} before its {name}: {tail}")
                time.sleep(0.1)
            return self.fail(f"no {name} in {path}")

        return run, wait_for

    def test_save_and_validate_and_stop(self):
        run, wait_for = self.start("signalled")
        wait_for("report")
        run.send_signal(signal.SIGUSR2)
        self.assertTrue(wait_for("validation")["requested"])
        run.send_signal(signal.SIGUSR1)
        self.assertTrue(wait_for("save")["saved"])
        self.assertTrue((self.folder / "signalled.safetensors").exists())
        run.send_signal(signal.SIGTERM)
        self.assertEqual(wait_for("end")["reason"], "signal")
        self.assertEqual(run.wait(60), 0)
        self.assertIn("this run has no end", (self.folder / "signalled.log").read_text())

    def test_a_terminal_that_closes_stops_and_saves(self):
        process, terminal = pty.fork()
        if process == 0:
            os.chdir(self.folder)
            os.execv(self.BINARY, [self.BINARY, *RUN, "-m", "hung.safetensors", "--save-freq", "0",
                                              "--valid-freq", "0", "--log-json", "hung.jsonl", *SMALL, "--cpu-threads", "1"])
        said = b""
        while b"Cost" not in said:
            said += os.read(terminal, 4096)
        os.close(terminal)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), 0)
        events = [json.loads(line) for line in (self.folder / "hung.jsonl").read_text().splitlines()]
        self.assertEqual([(event["event"], event.get("saved"), event.get("reason")) for event in events[-2:]],
                         [("save", True, None), ("end", None, "signal")])
        self.assertTrue((self.folder / "hung.state.safetensors").exists())

    def test_a_run_that_was_killed_resumes_and_so_does_its_log(self):
        run, wait_for = self.start("killed")
        wait_for("report")
        run.send_signal(signal.SIGUSR1)
        saved = wait_for("save")["update"]
        run.kill()
        run.wait(60)
        path = self.folder / "killed.jsonl"
        path.write_text(path.read_text() + '{"event":"rep')  # as a crash may leave it
        done = self.call(*RUN, *"-m killed.safetensors --log-json killed.jsonl --after 1u".split(), *SMALL)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = path.read_text().splitlines()
        after = [json.loads(line) for line in lines[lines.index('{"event":"rep') + 1:]]
        self.assertEqual((after[0]["event"], after[0]["resumed"], after[-1]["event"]), ("start", True, "end"))
        self.assertEqual({event["update"] for event in after}, {saved})

    def test_a_run_that_is_killed_again_and_again_ends_in_the_same_bytes(self):
        options = [*RUN, *"--after 400u --save-freq 10u --cpu-threads 1 --exponential-smoothing".split(), *SMALL]
        self.assertEqual(self.call(*options, "-m", "straight.safetensors").returncode, 0)
        wait, kills = 0.02, 0
        while True:
            run = subprocess.Popen([self.BINARY, *options, "-m", "broken.safetensors", "--quiet"],
                                   cwd=self.folder)
            try:
                self.assertEqual(run.wait(wait), 0)
                break
            except subprocess.TimeoutExpired:
                run.kill()
                run.wait(60)
                wait, kills = wait * 1.3, kills + 1
        self.assertGreater(kills, 0)
        for kind in ("", ".state"):
            straight, broken = ((self.folder / f"{name}{kind}.safetensors").read_bytes()
                                for name in ("straight", "broken"))
            self.assertEqual(straight == broken, True, kind)


if __name__ == "__main__":
    command_case.main()
