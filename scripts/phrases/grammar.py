"""Reads the lexicon and the patterns, and puts words into patterns: pairs of sentences."""

import hashlib
import re
from pathlib import Path
from string import Formatter
from typing import NamedTuple

import english
import german

HERE = Path(__file__).parent


class Pair(NamedTuple):
    """The two faces of a word or of a sentence."""
    english: object
    german: object


def generated():
    """The slots that are counted rather than listed."""
    def numbers(values, form="cardinal"):
        return [Pair(getattr(english, form)(n), getattr(german, form)(n)) for n in values]

    def times(hours, minutes):
        return [Pair(english.clock(h, m), german.clock(h, m)) for h in hours for m in minutes]

    return {"few": numbers(range(2, 10)), "platform": numbers(range(2, 21)), "minutes": numbers(range(5, 60, 5)),
            "euro": numbers(range(2, 100)), "cent": numbers(range(5, 100, 5)), "early": numbers(range(1, 7), "ordinal"),
            "late": numbers(range(10, 29), "ordinal"), "clock": times(range(1, 13), range(0, 60, 5)),
            "morning": times(range(7, 11), (0, 15, 30, 45)), "evening": times(range(4, 9), (0, 10, 15, 30, 45))}


def blocks(text):
    """Paragraphs as lists of lines, without comments."""
    kept = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    return [block.splitlines() for block in re.split(r"\n\s*\n", kept.strip())]


def read_lexicon(text):
    """Section name -> list of Pair."""
    sections, nouns = generated(), {}
    for heading, *lines in blocks(text):
        name, joined, kind = re.fullmatch(r"\[(\w+)(?: = (.+)|: (\w+))\]", heading).groups()
        if joined:
            sections[name] = [pair for part in joined.split(" + ") for pair in sections[part]]
        else:
            sections[name] = [pair for line in lines for pair in READERS[kind](line, nouns)]
    return sections


def read_words(line, _):
    return [Pair(*line.split(" = "))]


def read_nouns(line, nouns):
    en, de = line.split(" = ")
    pair = Pair(english.Noun(en), german.Noun(de))
    if pair.english.singular in nouns:
        raise ValueError(f"lexicon.txt defines {pair.english.singular!r} twice; use [...: some] for a second section")
    nouns[pair.english.singular] = pair
    return [pair]


def read_some(line, nouns):
    return [nouns[name] for name in line.split(", ")]


def read_subjects(line, _):
    en, de = line.split(" = ")
    return [Pair(english.Subject(en), german.Subject(de))]


def read_actions(line, nouns):
    en, de = line.split(" = ")
    verb, objects = de.split(": ")
    return [Pair(english.Action(en, thing.english), german.Action(german.Verb(verb), thing.german))
            for thing in read_some(objects, nouns)]


READERS = {"words": read_words, "nouns": read_nouns, "some": read_some, "subjects": read_subjects,
           "actions": read_actions}


def slots_of(template):
    """The names in a template, also those inside a spec: '{who:{modal}}' has who and modal."""
    names = []
    for _, field, spec, _ in Formatter().parse(template):
        if field:
            names += [field.split(".")[0], *slots_of(spec)]
    return list(dict.fromkeys(names))


def section(slot):
    """place2 -> place"""
    return slot.rstrip("0123456789")


def finish(sentence):
    """One blank between words, none before punctuation, a capital at the start."""
    sentence = re.sub(r" +([,.?!])", r"\1", " ".join(sentence.split()))
    return sentence[0].upper() + sentence[1:]


class Pattern:
    def __init__(self, source, target, lexicon):
        self.source, self.target = source, target
        self.slots = slots_of(source)
        if set(self.slots) != set(slots_of(target)):
            raise ValueError(f"{source!r} and {target!r} do not have the same slots")
        self.fillers = [lexicon[section(slot)] for slot in self.slots]
        self.combinations = 1
        for words in self.fillers:
            self.combinations *= len(words)

    def fill(self, index):
        """The sentence pair of one combination, or None where {place} and {place2} are the same word."""
        chosen = {}
        for slot, words in zip(self.slots, self.fillers):
            index, choice = divmod(index, len(words))
            chosen[slot] = words[choice]
        if len({(section(slot), id(word)) for slot, word in chosen.items()}) < len(chosen):
            return None
        source = self.source.format(**{slot: word.english for slot, word in chosen.items()})
        target = self.target.format(**{slot: word.german for slot, word in chosen.items()})
        return Pair(finish(source), finish(german.contract(target)))

    def sample(self, limit):
        """Up to `limit` pairs: all of them where there are no more, else a selection that only the pattern decides."""
        indices = range(self.combinations)
        if self.combinations > limit:
            indices = sorted({number(f"{self.source} {k}") % self.combinations for k in range(limit)})
        return [pair for pair in map(self.fill, indices) if pair]


def number(text):
    """A number that looks random and is the same on every machine."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def read_patterns(lexicon):
    return [Pattern(*lines, lexicon) for lines in blocks((HERE / "patterns.txt").read_text(encoding="utf-8"))]


def load():
    return read_patterns(read_lexicon((HERE / "lexicon.txt").read_text(encoding="utf-8")))
