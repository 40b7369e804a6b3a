#!/usr/bin/env python3
"""Measures dragoman and another program alternately, on the same machine, data and model, and prints a table.

    python3 tests/bench/compare translation --model m.safetensors --source test.en --reference test.de
    python3 tests/bench/compare translation --model m.safetensors --source test.en --peer pytorch --devices 0
    python3 tests/bench/compare training --train train.en train.de --vocab joint.spm
    python3 tests/bench/compare ranks --train train.en train.de --vocab joint.spm

A ratio is the median over rounds of dragoman's figure divided by the peer's in the same round, with the smallest and the
largest in brackets. For speeds, more than 1 is better; for times and memory, less than 1. The peer
is measured with several settings, of which each row shows the best one, and so is dragoman if it has several.
"""
import argparse
import json
import os
import sys
from pathlib import Path

import gpu
import machine
import ranks
import serving
import table
import training
import translation
from process import Failed

SUBJECTS = {"training": training, "translation": translation, "serving": serving, "ranks": ranks}


def options():
    raw = argparse.RawDescriptionHelpFormatter
    p = argparse.ArgumentParser(prog="compare", description=__doc__, formatter_class=raw)
    subjects = p.add_subparsers(dest="subject", required=True)
    for name, module in SUBJECTS.items():
        q = subjects.add_parser(name, description=module.__doc__, formatter_class=raw)
        q.add_argument("--dragoman", default="build/release/dragoman", metavar="PROGRAM")
        q.add_argument("--python", default=sys.executable, metavar="PROGRAM", help="the Python in which the peer is installed")
        q.add_argument("--threads", type=int, default=os.cpu_count(), help="threads of each program")
        q.add_argument("--rounds", type=int, default=3)
        q.add_argument("--json", type=Path, metavar="FILE", help="also write the rows to this file, with all settings")
        module.add_options(q)
    return p.parse_args()


def introduce(program):
    """Prints the version of a program, or why it cannot run; returns the program if it can."""
    missing = program.missing()
    print(f"{program.name}: {f'not found: {missing}' if missing else program.version()}")
    return None if missing else program


def fail(message):
    print(f"error: {message}", file=sys.stderr)
    sys.exit(2)


def main():
    a = options()
    subject = SUBJECTS[a.subject]
    print(f"{machine.warning()}CPU: {machine.cpu()}")
    if gpu.query("name"):
        print(f"GPU: {gpu.query('name')}, driver {gpu.query('driver_version')}")
    ours, peer = map(introduce, subject.programs(a))
    if not ours:
        fail(f"--dragoman is {a.dragoman}, expected the program that is to be measured")
    rows = []
    try:
        for label, of_ours, of_peer in subject.compare(a, ours, peer):
            print(table.rows(label, of_ours, of_peer), flush=True)
            rows += table.described(label, of_ours, of_peer)
            if a.json:  # at once, as the program may be killed before it is done
                a.json.write_text(json.dumps(rows, indent=1, ensure_ascii=False), encoding="utf-8")
    except OSError as error:
        fail(f"{error.filename}: {error.strerror}")
    except Failed as failed:
        fail(failed)


if __name__ == "__main__":
    main()
