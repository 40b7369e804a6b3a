#!/usr/bin/env python3
"""Writes sacrebleu.json: small corpora and the figures that sacreBLEU gives them.

    pip install sacrebleu==2.6.0 && python3 tests/metrics/make.py

Tests read the file and need no Python. Figures are sacreBLEU's own, never dragoman's.
"""

import json
import pathlib

import sacrebleu
from sacrebleu.metrics import BLEU, CHRF

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
}


def figures(hypotheses, references):
    result = {}
    for case, lowercase in (("mixed", False), ("lower", True)):
        bleu = {t: BLEU(tokenize=t, lowercase=lowercase).corpus_score(hypotheses, references)
                for t in ("13a", "intl", "char", "none")}
        result[case] = {
            "bleu": {t: {"score": b.score, "precisions": b.precisions, "brevity_penalty": b.bp,
                         "hypothesis_words": b.sys_len, "reference_words": b.ref_len} for t, b in bleu.items()},
            "chrf": [CHRF(word_order=w, lowercase=lowercase).corpus_score(hypotheses, references).score
                     for w in (0, 1, 2)],
        }
    return result


def main():
    corpora = [json.dumps({"name": name, "hypotheses": h, "references": r, "figures": figures(h, r)})
               for name, (h, r) in CORPORA.items()]
    path = pathlib.Path(__file__).with_name("sacrebleu.json")
    path.write_text(f'{{"sacrebleu": "{sacrebleu.__version__}", "corpora": [\n' + ",\n".join(corpora) + "\n]}\n",
                    encoding="ascii")


main()
