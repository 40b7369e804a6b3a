#!/usr/bin/env python3
"""Writes an English-German corpus of travel phrases: train, dev and test, the same bytes on every machine.

usage: scripts/phrases OUTDIR

The sentences come from a grammar: patterns.txt holds the sentences, lexicon.txt the words, german.py and english.py
inflect. dev and test are combinations of words that training does not contain; so a translator has to know gender,
case, number and word order to get them right.
"""

import sys
from pathlib import Path

import grammar

PER_PATTERN = 700  # sentences of one pattern, at most
HELD_OUT = 1000  # pairs in dev and in test
ENOUGH = 100  # only patterns with this many combinations are tested, so that training knows their words


def corpus():
    """{'train': pairs, 'dev': pairs, 'test': pairs}; no English and no German sentence occurs twice in the whole."""
    train, testable, german_of, english_of = [], [], {}, {}
    for pattern in grammar.load():
        for pair in pattern.sample(PER_PATTERN):
            if german_of.setdefault(pair.english, pair.german) != pair.german:
                raise ValueError(f"{pair.english!r} has two translations: {german_of[pair.english]!r}, {pair.german!r}")
            if pair.german not in english_of:
                english_of[pair.german] = pair.english
                (testable if pattern.combinations >= ENOUGH else train).append(pair)
    testable.sort(key=shuffled)
    test, dev, rest = testable[:HELD_OUT], testable[HELD_OUT : 2 * HELD_OUT], testable[2 * HELD_OUT :]
    return {"train": sorted(train + rest, key=shuffled), "dev": dev, "test": test}


def shuffled(pair):
    return grammar.number(pair.english)


def main(arguments):
    if arguments in (["-h"], ["--help"]):
        print(__doc__.strip())
        return
    if len(arguments) != 1 or arguments[0].startswith("-"):
        sys.exit(__doc__.strip())
    folder = Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    for split, pairs in corpus().items():
        for language, column in (("en", 0), ("de", 1)):
            text = "".join(pair[column] + "\n" for pair in pairs)
            (folder / f"{split}.{language}").write_bytes(text.encode("utf-8"))


if __name__ == "__main__":
    main(sys.argv[1:])
