#!/usr/bin/env python3
"""Writes sacrebleu.json and significance.json: small corpora and the figures that sacreBLEU gives them.

    pip install sacrebleu==2.6.0 sentencepiece && python3 tests/metrics/make.py

Tests read the files and need no Python. Figures are sacreBLEU's own, never dragoman's.
"""

import json
import pathlib
import random

import numpy
import sacrebleu
from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.significance import PairedTest
from sacrebleu.tokenizers.tokenizer_spm import TokenizerSPM
from sentencepiece import SentencePieceProcessor

WORDS = ("the a dog cat man woman child runs sits sees holds red green old small quickly near under over in on of and "
         "with street house ball bench water . , while who is are two three").split()


def sentence(rng, words):
    return " ".join(rng.choice(WORDS) for _ in range(words))


def worsened(rng, line, rate):
    """`line` as a translator might have it: words lost, replaced and added, runs of words moved."""
    words = line.split()
    for i in range(len(words)):
        if rng.random() < rate:
            words[i] = rng.choice(["", rng.choice(WORDS), words[i] + " " + rng.choice(WORDS), words[i].upper()])
    if len(words) > 4 and rng.random() < 2 * rate:
        begin, length, to = rng.randrange(len(words)), rng.randint(1, 5), rng.randrange(len(words))
        run = words[begin:begin + length]
        del words[begin:begin + length]
        words[to:to] = run
    return " ".join(" ".join(words).split())


def worsened_by(rng, lines, *rates):
    """A system for each rate."""
    return [[worsened(rng, line, rate) for line in lines] for rate in rates]


def noisy(seed, lines, words, rate, references=1):
    """A corpus of sentences of 1 to `words` words, worsened."""
    rng = random.Random(seed)
    originals = [sentence(rng, rng.randint(1, words)) for _ in range(lines)]
    copies = [[worsened(rng, line, rate) for line in originals] for _ in range(references)]
    return copies[0], [originals, *copies[1:]]


def shuffled(seed, words, vocabulary):
    rng = random.Random(seed)
    reference = [f"w{rng.randrange(vocabulary)}" for _ in range(words)]
    return [" ".join(rng.sample(reference, words))], [[" ".join(reference)]]

# name: (hypotheses, reference sets)
CORPORA = {
    "captions": (
        ["A man in an orange hat starring at something.", "A dog runs on green grass in front of a white fence.",
         "Five people wearing winter jackets stand in the snow."],
        [["A man in an orange hat staring at something.",
          "A Boston Terrier is running on lush green grass in front of a white fence.",
          "Five people wearing winter jackets and helmets stand in the snow, with snowmobiles in the background."]]),
    "identical lines": (["The cat sat on the mat.", "Nothing else happened, they said."],
                        [["The cat sat on the mat.", "Nothing else happened, they said."]]),
    "nothing in common": (["alpha beta gamma delta epsilon"], [["one two three four five six"]]),
    "hypotheses that are empty": (["", "It rained all day long.", ""],
                                  [["The sun shone.", "It rained all day long.", "We left."]]),
    "references that are empty": (["The sun shone.", "It rained all day long."], [["", "It rained all the day long."]]),
    "everything empty": (["", ""], [["", ""]]),
    "one word": (["yes"], [["yes"]]),
    "one word a line, many lines": (["yes", "no", "maybe", "four words are here"],
                                    [["yes", "No", "perhaps", "four words are here"]]),
    "numbers, currency and punctuation": (
        ["It costs $1,234.56 (plus 19% VAT), i.e. 3.5-4 times more!", "Call +49-30-1234567, 24/7; ask for \"Q&A\".",
         "The U.S. economy grew 3.2%... in 2014.", "He said: 'it's 5-year-old', didn't he?", "£5.00,€7,50;¥800/day"],
        [["It costs $1,234.56 (plus 19 % VAT), i.e., 3.5 to 4 times more.",
          "Call +49 30 1234567, 24/7, and ask for “Q&A”.", "The US economy grew by 3.2% in 2014.",
          "He said: \"It's a 5-year-old\", didn't he?", "£5.00, €7.50; ¥800 per day"]]),
    "markup that 13a undoes": (
        ["Tom &amp; Jerry &quot;live&quot; at &lt;home&gt;", "a <skipped>b &amp;lt; c-\td"],
        [["Tom & Jerry \"live\" at <home>", "a b < c- d e"]]),
    "Chinese and Japanese": (["今天天气很好，我们去公园散步。", "彼は東京に住んでいます。", "第１２回「国際」会議（２０１４年）"],
                             [["今天天气真好，我们去公园走走。", "彼は東京に住んでいる。", "第12回『国際』会議（2014年）"]]),
    "symbols of all kinds": (["x ≤ y → z ⇒ 2×3 = 6 ± 1 √2 ½", "I ♥ NY ☂☃ 😀👍🏽 ©2020 ™ №5", "«Quoi ?» – dit-il… ¿Qué? ¡No!"],
                             [["x ≤ y, z ⇒ 2 × 3 = 6±1 √2 ½", "I ♥ NY ☂ 😀👍 © 2020 ™ №5",
                               "« Quoi ? » dit-il... ¿Que? ¡No!"]]),
    "digits beside punctuation": (["1,000 1.000,5 a1.b2 1-2 -3 3- .5 5. ,7 7, Ⅷ.x ٣٫٥ ٣،٥ 9", "In 2014.", "1990."],
                                  [["1,000 1.000,5 a1 . b2 1 - 2 -3 3 - .5 5 . ,7 7 , Ⅷ . x ٣٫٥ ٣،٥ 9", "In 2014 .",
                                    "1990"]]),
    "capitals beyond ASCII": (["ÄRGER ÜBER ÉTÉ ÇA İSTANBUL", "ΟΔΥΣΣΕΥΣ ΚΑΙ ΣΟΦΟΣ ΣΑΣ'", "ПРИВЕТ МИР Ǆ ẞ Straße"],
                              [["ärger über été ça i̇stanbul", "Οδυσσευς και σοφος σας'", "привет Мир ǆ ß straße"]]),
    "white space of all kinds": (["tab\tnbsp\u00a0wide\u3000line\u2028em\u2003end \t", "\u00a0 leading\x1c and\x85more\r",
                                  "zero\u200bwidth\ufeff"],
                                 [["tab nbsp wide line em end", "leading and more", "zero width"]]),
    "NUL and control characters": (["a\0b c\x01 d e f", "\0", "x\x7f y\x1b[0m z w"], [["a\0b c d e f", "\0", "x y z w"]]),
    "three references": (
        ["the the the the the the the", "It is a guide to action which ensures that the military obeys the party.",
         "", "quick fox"],
        [["The cat is on the mat.", "It is a guide to action that ensures that the military will forever heed Party commands.",
          "something", "A quick brown fox."],
         ["There is a cat on the mat.", "It is the guiding principle which guarantees the military forces always being "
          "under the command of the Party.", "", "quick red fox"],
         ["the cat the mat the end", "It is the practical guide for the army always to heed the directions of the party.",
          "or other", "fox"]]),
    "lengths as close from both sides": (["one two three four five six"],
                                         [["one two three four five six seven eight"], ["one two three four"]]),
    "shorter than the longest n-gram": (["ab c", "a b", "abcdefg"], [["ab d", "a b c", "abc"]]),
    "words with punctuation around them": (["(hi) \"hello\", 'ok' -- .. . ?! a' 'a (x", "well-known end."],
                                           [["( hi ) \"hello\" , ok -- . .. ? a' 'b x)", "well known end ."]]),
    "clauses in another order": (
        ["in the afternoon , the two old men sat on the bench and talked .",
         "the quick brown fox the lazy dog jumps over",
         "b c d e f g h i j k l m n a", "d e f a b c", "a b a b a b c", "Yesterday he said that he would come ."],
        [["the two old men sat and talked on the bench in the afternoon .",
          "the quick brown fox jumps over the lazy dog",
          "a b c d e f g h i j k l m n", "a b c d e f", "c a b a b a b", "he said yesterday that he would come ."]]),
    "one word many times": (["a " * 60 + "b", "the the the the", "x " * 30],
                            [["b" + " a" * 60, "the", "x " * 40 + "y"]]),
    "lengths far apart": (["yes", " ".join(WORDS * 4), " ".join(WORDS), "no no", "maybe " * 70],
                          [[" ".join(WORDS * 4), "yes", " ".join(reversed(WORDS * 3)), "no " * 130, "maybe not"]]),
    "a long line with its words shuffled": shuffled(1, 90, 40),
    "more moves than are tried": shuffled(2, 150, 8),
    "moves beyond the farthest": ([" ".join(f"w{i}" for i in [*range(60, 80), *range(60)])],
                                  [[" ".join(f"w{i}" for i in range(80))]]),
    "short sentences with noise": noisy(3, 60, 8, 0.3),
    "sentences with noise": noisy(4, 40, 30, 0.25),
    "much noise and three references": noisy(5, 25, 20, 0.5, references=3),
}

# name: (systems of lines, lines, words a line, reference sets); every other system is compared with the first
SYSTEMS = {
    "three systems": (lambda rng, lines: worsened_by(rng, lines, 0.2, 0.22, 0.5), 80, 14, 1),
    "two references": (lambda rng, lines: worsened_by(rng, lines, 0.3, 0.25), 50, 10, 2),
    "the same system twice": (lambda rng, lines: worsened_by(rng, lines, 0.3) * 2, 20, 10, 1),
    "one line": (lambda rng, lines: worsened_by(rng, lines, 0.2, 0.5), 1, 20, 1),
    "nothing translated": (lambda rng, lines: [[""] * len(lines), lines], 10, 10, 1),
    "few and short lines": (lambda rng, lines: worsened_by(rng, lines, 0.3, 0.3), 5, 6, 1),
}


class GivenModel(TokenizerSPM):
    """sacreBLEU's tokenizer with a model of the tests: its own are downloaded."""

    def __init__(self):
        self.name = "spm"
        folder = pathlib.Path(__file__).resolve().parents[1] / "vocab" / "golden"
        self.sp = SentencePieceProcessor(model_file=str(folder / "unigram.spm"))


def bleu_with(tokenizer, lowercase):
    metric = BLEU(tokenize="none" if tokenizer == "spm" else tokenizer, lowercase=lowercase)
    if tokenizer == "spm":
        metric.tokenizer = GivenModel()
    return metric


def figures(hypotheses, references):
    result = {}
    for case, lowercase in (("mixed", False), ("lower", True)):
        bleu = {t: bleu_with(t, lowercase).corpus_score(hypotheses, references)
                for t in ("13a", "intl", "zh", "char", "none", "spm")}
        result[case] = {
            "bleu": {t: {"score": b.score, "precisions": b.precisions, "brevity_penalty": b.bp,
                         "hypothesis_words": b.sys_len, "reference_words": b.ref_len} for t, b in bleu.items()},
            "chrf": [CHRF(word_order=w, lowercase=lowercase).corpus_score(hypotheses, references).score
                     for w in (0, 1, 2)],
            "ter": TER(case_sensitive=not lowercase).corpus_score(hypotheses, references).score,
            "sentence_bleu": [BLEU(lowercase=lowercase, effective_order=True).sentence_score(h, r).score
                              for h, r in zip(hypotheses, map(list, zip(*references)))],
        }
    return result


def metrics():
    return {"bleu": BLEU(), "chrf": CHRF(), "chrf++": CHRF(word_order=2), "ter": TER()}


def significance(systems, references):
    """Per metric and system: score, mean and half width of the interval, p-values of both tests."""
    named = [(str(i), lines) for i, lines in enumerate(systems)]
    tests = {name: PairedTest(named, metrics(), references, test_type=name, n_samples=1000)()[1]
             for name in ("bs", "ar")}
    result = {}
    for name, title in (("bleu", "BLEU"), ("chrf", "chrF2"), ("chrf++", "chrF2++"), ("ter", "TER")):
        result[name] = [{"score": bs.score, "mean": float(bs.mean), "half_width": float(bs.ci), "paired_bs": bs.p_value,
                         "paired_ar": ar.p_value} for bs, ar in zip(tests["bs"][title], tests["ar"][title])]
    return result


def significance_corpora():
    for number, (name, (make, lines, words, reference_sets)) in enumerate(SYSTEMS.items()):
        rng = random.Random(number)
        originals = [sentence(rng, rng.randint(1, words)) for _ in range(lines)]
        references = [originals, *([worsened(rng, line, 0.2) for line in originals] for _ in range(reference_sets - 1))]
        systems = make(rng, originals)
        yield {"name": name, "systems": systems, "references": references, "figures": significance(systems, references)}


def draws():
    """NumPy's own numbers: what a generator must give to draw the same lines."""
    result = []
    for seed in (0, 1, 12345, 2**40 + 7):
        rng = numpy.random.default_rng(seed)
        result.append({"seed": seed, "choice_of_1000": rng.choice(1000, size=20).tolist(),
                       "choice_of_3_billion": rng.choice(3_000_000_000, size=20).tolist()})
        coins = numpy.random.default_rng(seed).integers(2, size=70, dtype=bool).tolist()
        result[-1]["coins"] = "".join("1" if c else "0" for c in coins)
    return result


def write(name, keys, rows):
    text = json.dumps(keys)[:-1] + ', "corpora": [\n' + ",\n".join(json.dumps(row) for row in rows) + "\n]}\n"
    pathlib.Path(__file__).with_name(name).write_text(text, encoding="ascii")


def main():
    version = {"sacrebleu": sacrebleu.__version__}
    write("sacrebleu.json", version,
          [{"name": name, "hypotheses": h, "references": r, "figures": figures(h, r)}
           for name, (h, r) in CORPORA.items()])
    write("significance.json", version | {"numpy": numpy.__version__, "draws": draws()}, significance_corpora())


main()
