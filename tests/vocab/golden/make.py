#!/usr/bin/env python3
"""Makes bpe.spm, unigram.spm and expected.json with the Python package sentencepiece (version 0.2.1 or later).

They show that dragoman's Vocabulary, through the C++ library that it is linked with, splits and joins text as the
reference does. Run it in this folder; the files are committed."""
import json
import os

import sentencepiece as spm

PLACES = "station museum harbour bakery castle library bridge hotel garden market".split()
ORTE = "Bahnhof Museum Hafen Bäcker Schloß Bücherei Brücke Hotel Garten Markt".split()
PATTERNS = [
    ("Where is the {}, please?", "Wo ist hier {}, bitte?"),
    ("We walked to the {} at half past nine.", "Wir gehen um halb zehn zum {}."),
    ("Is there a bus from here to the {}?", "Fährt von hier ein Bus bis {}?"),
    ("My suitcase is still in front of the {}.", "Mein Koffer steht noch vor: {}."),
]
TEXT = [side[i].format(words[j]) for side in PATTERNS for i, words in ((0, PLACES), (1, ORTE)) for j in range(10)]

LINES = [
    "", " ", "Where is the castle?", "Mein Koffer steht im Garten.", "  two  blanks\tand a tab ",
    "unseen: žluťoučký kůň, 京都 🙂", "</s><s><unk> <0x41>", "a\0b", "no-break\u00a0blank, \u2028 separator",
    "▁already▁marked", "ﬁne ligature, e\u0301 combined", "supercalifragilistic",
]

expected = {}
for kind in ("bpe", "unigram"):
    # identity keeps the files small: the tables of the other rules are 240 kB.
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(TEXT), model_prefix=kind, vocab_size=340, model_type=kind, byte_fallback=True,
        normalization_rule_name="identity", character_coverage=1.0, minloglevel=2, num_threads=1)
    os.replace(f"{kind}.model", f"{kind}.spm")
    os.remove(f"{kind}.vocab")
    model = spm.SentencePieceProcessor(model_file=f"{kind}.spm")
    expected[kind] = []
    for line in LINES:
        ids = model.encode(line)
        expected[kind].append({"line": line, "ids": ids, "pieces": model.id_to_piece(ids), "text": model.decode(ids)})

rows = {kind: ",\n".join(map(json.dumps, entries)) for kind, entries in expected.items()}
with open("expected.json", "w", encoding="utf-8") as file:
    file.write("{" + ",\n".join(f'"{kind}": [\n{text}]' for kind, text in rows.items()) + "}\n")
