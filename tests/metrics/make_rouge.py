#!/usr/bin/env python3
"""Writes rouge.json: the figures that Google's rouge-score has for the corpora of sacrebleu.json and for some titles, and
the stems that its stemmer, NLTK's, gives to words.

    pip install rouge-score==0.1.2 nltk==3.10.4 && python3 tests/metrics/make_rouge.py

Tests read the file and need no Python. Figures are the package's own, never dragoman's.
"""

import json
import pathlib

from nltk.stem.porter import PorterStemmer
from rouge_score.rouge_scorer import RougeScorer

FOLDER = pathlib.Path(__file__).parent
KINDS = ["rouge1", "rouge2", "rougeL"]

# name: (hypotheses, reference sets)
TITLES = {
    "inflected words": (
        ["Translating sentences with recurrent networks", "A study of relational databases and their applications",
         "skies are dying news", "generalizations of probabilistic parsing: experiments, errors, happily agreed",
         "the controlling effects of adoption on happiness"],
        [["The translation of a sentence by a recurrent network", "Studies of relations in a database, applied",
          "the sky dies, the new die", "Generalized probability parsers : an experimental error analysis (happy agreement)",
          "effect of adopting controls, happily"]]),
    "several references": (
        ["police kill the gunman", "the cat was found under the bed", "same words words same"],
        [["police killed the gunman", "the cat was under the bed", "words same"],
         ["the gunman kill police", "the tiny little cat was found under the big funny bed", "words words words"]]),
    "what is no word": (["— … 你好 !", "über-große Äpfel 3.5% U.S.A. don't", "", "İstanbul Kelvin \u212a x_y"],
                        [["... ?", "uber grosse apfel 3 5 usa dont do n t", "nothing", "istanbul kelvin k x y"]]),
}

ROOTS = "bl connect enjoy fil fizz geo happ oper predic sk t tann y 3d".split()
ENDINGS = ("", "s", "es", "ss", "sses", "ies", "ied", "eed", "ed", "ing", "ating", "ated", "y", "ly", "ational", "tional",
           "ence", "enci", "anci", "izer", "bli", "abli", "alli", "entli", "eli", "ousli", "ization", "ation", "ator",
           "alism", "iveness", "fulness", "ousness", "aliti", "iviti", "biliti", "fulli", "ogi", "logi", "icate", "ative",
           "alize", "iciti", "ical", "ful", "ness", "al", "ance", "er", "ic", "able", "ible", "ant", "ement", "ment",
           "ent", "ion", "tion", "sion", "ou", "ism", "ate", "iti", "ous", "ive", "ize", "e", "ee", "ll", "ell", "yed")
IRREGULAR = "sky skies dying lying tying news innings inning outings outing cannings canning howe proceed exceed succeed"


def figures(hypotheses, references):
    """The mean of each kind over the lines, without and with stems."""
    result = {}
    for name, use_stemmer in (("no", False), ("porter", True)):
        scorer = RougeScorer(KINDS, use_stemmer=use_stemmer)
        lines = [scorer.score_multi(targets, line) for line, targets in zip(hypotheses, map(list, zip(*references)))]
        result[name] = {kind: sum(line[kind].fmeasure for line in lines) / len(lines) for kind in KINDS}
    return result


def main():
    stored = json.loads((FOLDER / "sacrebleu.json").read_text(encoding="ascii"))["corpora"]
    corpora = {c["name"]: (c["hypotheses"], c["references"]) for c in stored} | TITLES
    rows = [{"name": n, "hypotheses": h, "references": r, "figures": figures(h, r)} for n, (h, r) in corpora.items()]
    stemmer = PorterStemmer()
    words = sorted({root + ending for root in ROOTS for ending in ENDINGS} | set(IRREGULAR.split()))
    stems = [[word, stemmer.stem(word)] for word in words]
    for row in rows[:len(stored)]:  # these stand in sacrebleu.json
        del row["hypotheses"], row["references"]
    text = ('{"rouge-score": "0.1.2", "corpora": [\n' + ",\n".join(json.dumps(row) for row in rows) +
            '\n],\n"stems": ' + json.dumps(stems).replace("], [", "],\n[") + "}\n")
    (FOLDER / "rouge.json").write_text(text, encoding="ascii")


main()
