#!/usr/bin/env python3
"""Measures dragoman and another program in turns, on the same machine, data and model, and prints a table.

    python3 tests/bench/compare translation --model m.safetensors --source test.en --reference test.de
    python3 tests/bench/compare training --train train.en train.de --vocab joint.spm --peers FOLDER

A ratio is the median over rounds of dragoman's figure divided by the peer's in the same round, with the least and the
largest in brackets: of speeds, more than 1 is better; of times and memory, less. The peer is measured at several
settings and shown at the one that is best in each row.
"""
import argparse
import os
import sys

import machine
import training
import translation

SUBJECTS = {"training": training, "translation": translation}


def options():
    raw = argparse.RawDescriptionHelpFormatter
    p = argparse.ArgumentParser(prog="compare", description=__doc__, formatter_class=raw)
    subjects = p.add_subparsers(dest="subject", required=True)
    for name, module in SUBJECTS.items():
        q = subjects.add_parser(name, description=module.__doc__, formatter_class=raw)
        q.add_argument("--dragoman", default="build/release/dragoman", metavar="PROGRAM")
        q.add_argument("--python", default=sys.executable, metavar="PROGRAM", help="the Python that has the peer")
        q.add_argument("--threads", type=int, default=os.cpu_count(), help="for each program")
        q.add_argument("--rounds", type=int, default=3)
        module.add_options(q)
    return p.parse_args()


def introduce(program):
    """Says which version it is, or why it is missing; returns it if it is there."""
    missing = program.missing()
    print(f"{program.name}: {f'not found: {missing}' if missing else program.version()}")
    return None if missing else program


def main():
    a = options()
    subject = SUBJECTS[a.subject]
    print(f"{machine.warning()}CPU: {machine.cpu()}")
    ours, peer = map(introduce, subject.programs(a))
    if not ours:
        sys.exit(f"error: --dragoman is {a.dragoman}, expected the program that is to be measured")
    try:
        subject.compare(a, ours, peer)
    except OSError as error:
        sys.exit(f"error: {error.filename}: {error.strerror}")


if __name__ == "__main__":
    main()
