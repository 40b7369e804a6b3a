#!/usr/bin/env python3
"""End-to-end test of evaluate beyond translation: summaries, code, trees.

    evaluate_test.py BINARY
"""

import json
import random
from pathlib import Path

import command_case
from command_case import CommandCase

GOLD = "(ROOT (S (NP (NN a)) (VP (VB b) (NP (NN c))) (. .)))\n" * 2 + "(ROOT (NP (NN d)))\n(ROOT (NP (NN e)))\n"
# a tree with S and NP right but VP and its NP missing; a correct tree; a broken one; one with other words
PARSED = ("(S (NP (XX a)) (XX b) (XX c) (XX .))\n" + GOLD.splitlines()[0] + "\n(NP (XX d)\n(NP (XX x))\n")


class Evaluate(CommandCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name, text in {"gold": GOLD, "parsed": PARSED, "titles": "Parsing of sentences\nNeural models\n",
                           "outputs": "parsing sentences\nA neural model.\n", "others": "sentences\nmodels\n"}.items():
            (cls.folder / name).write_text(text, encoding="utf-8")

    def evaluate(self, command, text=""):
        done = self.call(f"evaluate {command}", text=text)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def refused(self, command):
        done = self.call(f"evaluate {command}")
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        return done.stderr

    def figures(self, command):
        return json.loads(self.evaluate(f"{command} --json").stdout)

    def test_rouge_is_three_figures(self):
        # F of line 1: 2 of 2 and 3 words, no pair; of line 2: 1 of 3 and 2
        page = self.figures("-r titles -i outputs --metrics rouge")
        for name, expected in (("rouge1", (80 + 40) / 2), ("rouge2", 0), ("rougeL", (80 + 40) / 2)):
            self.assertAlmostEqual(page[name], expected)
        self.assertIn("nrefs:1|case:lc|stemmer:no", page["rouge_signature"])
        self.assertIn("ROUGE-1  ROUGE-2  ROUGE-L\n", self.evaluate("-r titles -i outputs --metrics rouge").stdout)

    def test_the_stemmer_finds_inflected_words(self):
        # line 2: "neural" and "model" of 3 and 2 words, and their pair, 1 of 2 and 1
        page = self.figures("-r titles -i outputs --metrics rouge --rouge-stemmer")
        self.assertAlmostEqual(page["rouge1"], (80 + 80) / 2)
        self.assertAlmostEqual(page["rouge2"], (0 + 200 / 3) / 2)
        self.assertIn("stemmer:porter", page["rouge_signature"])

    def test_translations_come_from_stdin_unless_files_are_named(self):
        outputs = (self.folder / "outputs").read_text(encoding="utf-8")
        named = self.evaluate("-r titles -i outputs").stdout.replace("outputs", "stdin")
        self.assertEqual(self.evaluate("-r titles", outputs).stdout.split(), named.split())

    def test_pieces_of_a_model_may_be_the_words(self):
        # sacreBLEU 2.6.0 with this model as its flores200: tests/metrics/make.py has more
        model = Path(__file__).resolve().parents[1] / "vocab" / "golden" / "unigram.spm"
        page = self.figures(f"-r titles -i outputs --tokenize spm --tokenize-model {model} --metrics bleu")
        self.assertAlmostEqual(page["bleu"], 67.47664881076352)
        self.assertIn("|tok:spm-02982ba1b9e5ced4|", page["bleu_signature"])
        (self.folder / "list").write_text("0 ||| Neural ||| F= -1\n0 ||| parsing sentences ||| F= -2\n"
                                          "1 ||| A neural model. ||| F= -1\n", encoding="utf-8")
        best = self.evaluate(f"-r titles -i list --oracle --tokenize spm --tokenize-model {model}").stdout
        self.assertEqual(best, "parsing sentences\nA neural model.\n")

    def test_minimum_risk_is_that_of_sacrebleus_sentence_scores(self):
        try:
            from sacrebleu.metrics import BLEU, CHRF  # pylint: disable=import-outside-toplevel
        except ImportError:
            self.skipTest("sacrebleu is not there")
        draw = random.Random(3)
        words = "the a dog dogs runs run, ran on in green grass. Grass over fence".split()
        lists = [[" ".join(draw.choices(words, k=draw.randint(1, 9))) for _ in range(draw.randint(1, 10))] for _ in range(60)]
        text = "".join(f"{line} ||| {each} ||| F= -1\n" for line, texts in enumerate(lists) for each in texts)
        for metrics, metric in (("", CHRF()), ("--metrics chrf++", CHRF(word_order=2)),
                                ("--metrics bleu", BLEU(effective_order=True)),
                                ("--metrics bleu --lowercase", BLEU(effective_order=True, lowercase=True))):
            expected = []
            for texts in lists:
                means = [sum(metric.sentence_score(text, [other]).score for o, other in enumerate(texts) if o != t)
                         for t, text in enumerate(texts)]
                expected.append(next(text for text, mean in zip(texts, means) if mean > max(means) - 1e-7))
            with self.subTest(metrics):
                self.assertEqual(self.evaluate(f"--mbr {metrics}", text).stdout.splitlines(), expected)

    def test_scores_of_lines_are_those_of_sacrebleu(self):
        try:
            from sacrebleu.metrics import BLEU, CHRF, TER  # pylint: disable=import-outside-toplevel
        except ImportError:
            self.skipTest("sacrebleu is not there")
        draw = random.Random(4)
        words = "the a dog dogs runs run, ran on in green grass. Grass over fence".split()
        texts = [[" ".join(draw.choices(words, k=draw.randint(0, 12))) for _ in range(200)] for _ in range(3)]
        for name, lines in zip(("lines", "reference", "alternative"), texts):
            (self.folder / name).write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        metrics = BLEU(effective_order=True), CHRF(), CHRF(word_order=2), TER()
        expected = [[metric.sentence_score(text, list(references)).score for metric in metrics]
                    for text, *references in zip(*texts)]
        page = self.evaluate("-r reference alternative -i lines --metrics bleu chrf chrf++ ter --sentence-level").stdout
        found = [[float(score) for score in line.split("\t")] for line in page.splitlines()]
        self.assertEqual([len(scores) for scores in found], [len(scores) for scores in expected])
        for scores, theirs in zip(found, expected):
            for score, other in zip(scores, theirs):
                self.assertAlmostEqual(score, other, delta=5.1e-5)

    def test_options_without_effect_are_refused(self):
        (self.folder / "few.list").write_text("0 ||| a ||| F= -1\n", encoding="utf-8")
        for options, said in (
                ("--samples 9", "--samples is for --confidence, --paired-bs and --paired-ar, none of which is given"),
                ("--seed 9", "--seed is for --confidence, --paired-bs and --paired-ar"),
                ("--tokenize char --metrics chrf", "--tokenize is for --metrics bleu, not for chrf"),
                ("--lowercase --metrics ter", "--lowercase is for --metrics bleu chrf chrf++ exact, not for ter"),
                ("--ter-case-sensitive", "--ter-case-sensitive is for --metrics ter, not for bleu chrf"),
                ("--rouge-stemmer", "--rouge-stemmer is for --metrics rouge, not for bleu chrf"),
                ("--sentence-level --json", "--json contradicts --sentence-level"),
                ("--sentence-level -i others", "--sentence-level takes one file of --hypotheses, found 2")):
            self.assertIn(said, self.refused(f"-r titles -i outputs {options}"))
        for options, said in (("--mbr --samples 9", "--samples contradicts --mbr"),
                              ("--mbr --tokenize char", "--tokenize is for --metrics bleu, not for chrf"),
                              ("-r titles --oracle --seed 9", "--seed contradicts --oracle")):
            self.assertIn(said, self.refused(f"-i few.list {options}"))
        self.evaluate("-r titles -i outputs --metrics bleu ter --lowercase --seed 12345 --tokenize 13a --samples 0")

    def test_text_in_messages_is_short_and_no_character_is_cut(self):
        (self.folder / "long").write_text("aé" * 100 + "\n", encoding="utf-8")
        shown = "found 'aé" + "aé" * 32 + "a…'"  # at most 100 bytes
        for options in ("-r long -i long --metrics evalb", "-i long --mbr"):
            self.assertIn(shown, self.refused(options))

    def test_exact_counts_lines(self):
        self.assertEqual(self.figures("-r titles -i titles --metrics exact")["exact"], 100)
        self.assertEqual(self.figures("-r titles -i outputs --metrics exact")["exact"], 0)
        self.assertEqual(self.figures("-r titles outputs -i outputs --metrics exact")["exact"], 100)

    def test_a_line_that_evalb_skips_has_no_score(self):
        lines = self.evaluate("-r gold -i parsed --metrics evalb --sentence-level").stdout.splitlines()
        self.assertEqual(lines.count("nan"), 1)
        self.assertIn("0.0000", lines)  # not a tree

    def test_evalb_says_what_it_is_made_of(self):
        done = self.evaluate("-r gold -i parsed --metrics evalb --json")
        page = json.loads(done.stdout)
        self.assertAlmostEqual(page["evalb_precision"], 100 * 6 / 6)
        self.assertAlmostEqual(page["evalb_recall"], 100 * 6 / 9)
        self.assertAlmostEqual(page["evalb"], 100 * 12 / 15)
        self.assertAlmostEqual(page["evalb_complete"], 100 / 3)
        self.assertEqual((page["evalb_malformed"], page["evalb_other_words"]), (1, 1))
        self.assertIn("parsed: 1 of 4 lines are not bracketed trees", done.stderr)
        self.assertIn("parsed: 1 of 4 lines differ in words from their reference", done.stderr)
        self.assertRegex(self.evaluate("-r gold -i parsed --metrics evalb").stdout,
                         "EVALB  precision  recall  complete\nparsed +80.00 +100.00 +66.67 +33.33\n")

    def test_intervals_and_tests_are_there_for_all(self):
        for references, systems, metric, names in (("titles", "outputs others", "rouge", ("rouge1", "rouge2", "rougeL")),
                                                   ("titles", "outputs titles", "exact", ("exact",)),
                                                   ("gold", "parsed gold", "evalb", ("evalb",))):
            first, second = self.figures(f"-r {references} -i {systems} --metrics {metric} --paired-bs")["systems"]
            for name in names:
                self.assertIn("half_width", first[f"{name}_confidence"])
                self.assertLessEqual(second[f"{name}_p_value"], 1)
            page = self.evaluate(f"-r {references} -i {systems} --metrics {metric} --paired-ar").stdout
            self.assertEqual(page.count("p (as good as"), 1)

    def test_figures_stand_in_one_order_each_once(self):
        page = self.evaluate("-r titles -i titles --metrics exact rouge exact bleu").stdout.splitlines()[0]
        self.assertRegex(page, "^system +BLEU .* ROUGE-1  ROUGE-2  ROUGE-L   exact$")


if __name__ == "__main__":
    command_case.main()
