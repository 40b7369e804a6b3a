"""Runs the measured programs: from start to end, or line by line through two pipes.

This process stays small on purpose: on Linux the peak memory of a child is never less than that of its parent.
"""
import os
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass


@dataclass
class Run:
    out: str
    log: str  # stderr
    peak: float  # MiB
    cpu: float  # seconds of all its threads


class Failed(Exception):
    pass


def fail(command, log):
    raise Failed(f"this failed: {' '.join(map(str, command))}\n" + "\n".join(log.strip().splitlines()[-8:]))


def wait(process, until):
    """Returns (exit code, resource usage). Kills the process as soon as until() is true, which does not count as a failure."""
    pid, killed = 0, False
    while not pid:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG if until and not killed else 0)
        if not pid and until():
            process.kill()
            killed = True
        elif not pid:
            time.sleep(0.1)
    return 0 if killed else os.waitstatus_to_exitcode(status), usage


def run(command, text="", environment=None, until=None):
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as log:
        source.write(text.encode())
        source.seek(0)
        process = subprocess.Popen(command, stdin=source, stdout=out, stderr=log,
                                   env={**os.environ, **(environment or {})})
        process.returncode, usage = wait(process, until)
        written = []
        for file in (out, log):
            file.seek(0)
            written.append(file.read().decode())
    if process.returncode:
        fail(command, written[1])
    return Run(*written, peak=usage.ru_maxrss / 1024, cpu=usage.ru_utime + usage.ru_stime)


def answers(command, lines):
    """Returns the milliseconds from the start of the program to its first translation, and the median of the following ones, of
    which there must be some. Each line is sent after the translation of the previous one has arrived."""
    times, begin = [], time.monotonic()
    with tempfile.TemporaryFile("w+") as log, subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                                               stderr=log, encoding="utf-8") as process:
        for line in lines:
            process.stdin.write(line + "\n")
            process.stdin.flush()
            if not process.stdout.readline():
                process.wait()
                log.seek(0)
                fail(command, log.read())
            now = time.monotonic()
            times.append(1000 * (now - begin))
            begin = now
        process.stdin.close()
    return times[0], statistics.median(times[1:])
