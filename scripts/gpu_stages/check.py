"""What all stages of scripts/gpu_check share: running programs within the remaining time, and keeping the results."""
import contextlib
import json
import math
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

TOO_LATE = 124  # exit code of a program that was killed because it took too long


class Check:
    """Runs programs within the remaining time, and keeps the results. With --json, the file is complete at any moment, as a
    call may be killed before it is done."""

    def __init__(self, a, folder):
        self.a, self.folder = a, Path(folder)
        self.dragoman = a.build / "dragoman"
        self.begin, self.end = time.monotonic(), math.inf
        self.failed, self.skipped, self.found = False, [], {}  # found: {(what, measure): value}
        self.facts, self.outcomes, self.rows = {}, [], []

    def run(self, *command, at_most=240, asked_to_end_after=None, **environment):
        """Returns (exit code, stdout and stderr, seconds). Exit code None: it was not run, and the text says why."""
        begin = time.monotonic()
        limit = min(at_most, self.end - begin)
        if limit < 1:
            return None, "no time left", 0.0
        try:
            process = subprocess.Popen([str(word) for word in command], cwd=self.folder, stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT, encoding="utf-8", errors="replace",
                                       start_new_session=True, env={**os.environ, **environment})
        except FileNotFoundError as missing:
            return None, f"{missing.filename} is not here", 0.0
        if asked_to_end_after is not None:
            asking = threading.Timer(asked_to_end_after, process.terminate)
            asking.daemon = True
            asking.start()
        try:
            text, _ = process.communicate(timeout=limit)
            return process.returncode, text, time.monotonic() - begin
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return TOO_LATE, process.communicate()[0] + f"\nnot done after {limit:.0f} s", limit

    @contextlib.contextmanager
    def share(self, part):
        """Limits the body of a `with` to a part of the remaining time."""
        end, now = self.end, time.monotonic()
        self.end = now + part * (end - now)
        try:
            yield
        finally:
            self.end = end

    def say(self, what, code, text, figure="ok", seconds=None):
        if code is None:
            self.skip(what, text)
            return
        if code:
            self.failed, figure = True, f"FAILED: {last_line(text)}"
            print(text, file=sys.stderr)
        print(f"{what:<40} {figure}" + (f" ({seconds:.1f} s)" if seconds else ""), flush=True)
        self.note_outcome(what, figure, text[-20_000:] if code else "", seconds)

    def skip(self, what, why):
        self.skipped.append(what)
        print(f"{what:<40} skipped: {why}", flush=True)
        self.note_outcome(what, f"skipped: {why}")

    def note_outcome(self, what, outcome, text="", seconds=None):
        self.outcomes.append({"what": what, "outcome": outcome, "text": text, "seconds": seconds})
        self.write()

    def note_fact(self, name, value):
        self.facts[name] = value
        self.write()

    def note(self, what, measure, value):
        self.found[what, measure] = value
        self.write()

    def write(self):
        if not self.a.json:
            return
        figures = [{"what": what, "measure": measure, "value": value} for (what, measure), value in self.found.items()]
        half = self.a.json.with_suffix(".part")
        half.write_text(json.dumps({"seconds": round(time.monotonic() - self.begin, 1), "facts": self.facts,
                                    "outcomes": self.outcomes, "figures": figures, "rows": self.rows}, indent=1),
                        encoding="utf-8")
        os.replace(half, self.a.json)


def last_line(text):
    return text.strip().splitlines()[-1] if text.strip() else ""


def first_match(pattern, text):
    found = re.search(pattern, text, re.MULTILINE)
    return found[1].strip() if found else ""
