#!/usr/bin/env python3
"""End-to-end test of the binary: from text to a model, translations and scores, and common mistakes.

    end_to_end_test.py BINARY
"""

import json
import re
import subprocess
from itertools import product

import command_case
from command_case import CommandCase

ADJECTIVES = {"red": "rot", "blue": "blau", "green": "grün", "old": "alt", "new": "neu"}
NOUNS = {"house": "Haus", "book": "Buch", "car": "Auto", "bed": "Bett", "boat": "Boot", "picture": "Bild"}
SMALL = ("--dim-emb 16 --transformer-heads 2 --transformer-dim-ffn 32 --enc-depth 1 --dec-depth 1 "
         "--mini-batch-words 256 --learn-rate 0.02 --lr-warmup 10 --disp-freq 10u").split()


def corpus():
    """150 pairs such as "the red house is old" and "das Haus rot ist alt"."""
    pairs = [(f"the {a} {n} is {b}", f"das {NOUNS[n]} {ADJECTIVES[a]} ist {ADJECTIVES[b]}")
             for a, n, b in product(ADJECTIVES, NOUNS, ADJECTIVES)]
    return ["\n".join(side) + "\n" for side in zip(*pairs)]


class InFolder(CommandCase):
    """One folder for all tests, with a corpus (s, t), a vocabulary (v) and a model that was trained on it."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.source, cls.target = corpus()
        for name, text in (("s", cls.source), ("t", cls.target), ("short", "one line\n")):
            (cls.folder / name).write_text(text, encoding="utf-8")
        cls.made = cls.call(*"vocab train --input s t --model v --size 320".split())
        cls.trained = cls.call(*"train -t s t --valid-sets s t -v v v -m m.safetensors --after 120u".split(),
                               *"--keep-last 2 --save-freq 60u --valid-freq 120u".split(),
                               *"--valid-metrics cross-entropy bleu".split(), *SMALL)

    def numbers(self, *arguments, text=""):
        return [float(line) for line in self.succeed(*arguments, text=text).splitlines()]


class Way(InFolder):
    """From text to scores."""

    def test_a_vocabulary_and_a_model_come_about_without_a_word_on_stdout(self):
        for done in (self.made, self.trained):
            self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        files = {path.name for path in self.folder.iterdir()}
        self.assertLessEqual({"v", "m.safetensors", "m.state.safetensors", "m.update60.safetensors",
                              "m.update120.safetensors"}, files)

    def test_training_reports_a_falling_cost_and_its_validation(self):
        costs = [float(cost) for cost in re.findall(r" : Cost ([0-9.]+) : ", self.trained.stderr)]
        self.assertEqual(len(costs), 12, self.trained.stderr)
        self.assertLess(costs[-1], costs[0] / 2)
        self.assertRegex(self.trained.stderr, r"Up\. 120 : cross-entropy : [0-9.]+ : new best")
        self.assertRegex(self.trained.stderr, r"Up\. 120 : bleu : [0-9.]+ : new best")

    def test_a_second_call_resumes_where_the_first_stopped(self):
        done = self.call(*"train -t s t -v v v -m again.safetensors --after 5u".split(), *SMALL)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.call(*"train -t s t -v v v -m again.safetensors --after 10u".split(), *SMALL)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("update 5,", done.stderr)
        self.assertIn("after 10 updates", done.stderr)

    def test_text_survives_the_vocabulary(self):
        pieces = self.succeed(*"vocab encode -m v".split(), text=self.target)
        self.assertEqual(self.succeed(*"vocab decode -m v".split(), text=pieces), self.target)

    def test_every_line_becomes_a_line(self):
        text = "the red house is old\n\n \nthe ünknown ☃ is 42\n"
        self.assertEqual(len(self.succeed(*"translate -m m.safetensors".split(), text=text).splitlines()), 4)

    def test_score_gives_a_number_a_pair_and_sums_up(self):
        scores = self.numbers(*"score -m m.safetensors -t s t".split())
        self.assertEqual(len(scores), len(self.source.splitlines()))
        self.assertLess(max(scores), 0)
        [mean] = self.numbers(*"score -m m.safetensors -t s t --summary".split())
        self.assertAlmostEqual(mean, -sum(scores) / len(scores), places=5)

    def test_score_agrees_with_what_translate_says_of_its_own_translations(self):
        lines = self.succeed(*"translate -m m.safetensors -i s --scores".split()).splitlines()
        said, translations = zip(*(line.split("\t") for line in lines))
        scores = self.numbers(*"score -m m.safetensors -t s -".split(), text="\n".join(translations) + "\n")
        equal = [abs(float(a) - b) < 1e-4 * abs(b) for a, b in zip(said, scores)]
        # The search may segment a text differently from the vocabulary.
        self.assertGreaterEqual(sum(equal), 0.9 * len(lines))

    def test_score_reads_both_sides_from_one_file(self):
        with open(f"{self.folder}/t", encoding="utf-8") as t:
            both = "".join(f"{s}\t{line}" for s, line in zip(self.source.splitlines(), t))
        self.assertEqual(self.numbers(*"score -m m.safetensors --tsv -t -".split(), text=both),
                         self.numbers(*"score -m m.safetensors -t s t".split()))

    def test_score_answers_a_pipe_that_stays_open(self):
        with subprocess.Popen([self.BINARY, *"score -m m.safetensors -t - t --quiet".split()], cwd=self.folder, text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8") as scorer:
            lines = self.source.splitlines(keepends=True)
            for line in lines[:2]:
                scorer.stdin.write(line)
                scorer.stdin.flush()
                self.assertLess(float(scorer.stdout.readline()), 0)
            scorer.communicate("".join(lines[2:]))
        self.assertEqual(scorer.returncode, 0)

    def test_an_average_of_checkpoints_is_a_model(self):
        self.succeed(*"average -o mean.safetensors m.update60.safetensors m.update120.safetensors".split())
        first, second, mean = (self.numbers(*f"score -m {name}.safetensors -t s t --summary".split())[0]
                               for name in ("m.update60", "m.update120", "mean"))
        self.assertLess(mean, max(first, second))
        same = self.call(*"average -o same.safetensors m.update60.safetensors m.update120.safetensors --quiet".split(),
                         "--cpu-threads", "3")
        self.assertEqual((same.returncode, same.stderr), (0, ""))
        self.assertEqual(*((self.folder / name).read_bytes() for name in ("mean.safetensors", "same.safetensors")))
        self.assertEqual(len(self.succeed(*"translate -m mean.safetensors".split(), text="the car\n").splitlines()), 1)

    def test_evaluate_judges_the_translations(self):
        self.succeed(*"translate -m m.safetensors -i s -o out".split())
        figures = json.loads(self.succeed(*"evaluate -r t -i out --json".split()))
        self.assertTrue(0 <= figures["bleu"] <= 100 and 0 < figures["chrf"] <= 100, figures)
        self.assertAlmostEqual(json.loads(self.succeed(*"evaluate -r t -i t --json".split()))["bleu"], 100, places=6)

    def test_inspect_knows_every_file_of_a_run(self):
        kinds = {"m.safetensors": "model", "m.state.safetensors": "training-state", "v": "vocabulary"}
        for name, kind in kinds.items():
            self.assertIn(name, self.succeed("inspect", name))
            self.assertEqual(json.loads(self.succeed("inspect", name, "--json"))["kind"], kind)
        model = json.loads(self.succeed("inspect", "m.safetensors", "--json"))
        self.assertEqual((model["config"]["dim"], model["vocabularies"]["source"]["pieces"]), (16, 320))
        self.assertIn("CPU", self.succeed("inspect", "--devices"))


class Configurations(InFolder):
    def test_what_a_command_dumps_in_full_it_takes_and_it_says_the_same_again(self):
        model = "-m m.safetensors"
        for command in (f"translate {model}", f"translate {model} --output-sampling topk 9 --n-best 4",
                        f"translate {model} --length-penalty gnmt 0.6", f"score {model} -t s t",
                        "quantize -m m.safetensors -o q", "evaluate -r t -i t", "evaluate --oracle -r t -i t",
                        "average -o a m.safetensors", f"align {model} -t s t", f"align {model} -t s t --shortlist l",
                        f"explain {model} -i s", f"explain {model} -t s t", f"explain {model} --layers 0",
                        "explain --positions --max-length 9", "vocab encode -m v", "vocab inspect -m v",
                        "vocab train -m new -i s t --size 300", "inspect m.safetensors", "data -t s t",
                        "train -t s t -v v v -m new", "train -t s t -v v w -m new --task transformer-big-prenorm",
                        "train -t s t -v v v -m new --task transformer-tiny11",
                        "train -t s t -v v v -m new --type decoder-only", "train -t s t -v v v -m new --type s2s",
                        "train -t s t -v v v -m new --type s2s --rnn-attention none"):
            once = self.succeed(*command.split(), "--dump-config", "full")
            (self.folder / "full.yml").write_text(once, encoding="utf-8")
            again = self.succeed(command.split()[0], "-c", "full.yml", "--dump-config", "full")
            self.assertEqual(again, once, command)

    def test_what_train_dumps_in_full_trains(self):
        (self.folder / "run.yml").write_text(
            self.succeed(*"train -t s t -v v v -m run.safetensors --after 1u --dump-config full".split(), *SMALL),
            encoding="utf-8")
        self.succeed("train", "-c", "run.yml")
        self.assertTrue((self.folder / "run.safetensors").exists())

    def test_validation_without_text_is_told(self):
        said = self.call(*"train -t s t -v v v -m new --early-stopping 3 --dump-config minimal".split()).stderr
        self.assertIn("--early-stopping has no effect without --valid-sets", said)


class Slips(InFolder):
    """Exit code 2, nothing on stdout; stderr says what was found and what to do."""

    def fails(self, command, *said, text=""):
        done = self.call(command, text=text)
        self.assertEqual((done.returncode, done.stdout), (2, ""), f"{command}\n{done.stderr}")
        self.assertRegex(done.stderr, r"(?m)^error: ", command)
        for words in said:
            self.assertIn(words, done.stderr, command)

    def test_in_the_name_of_a_command(self):
        self.fails("", "no command given", "hint: ")
        self.fails("trasnlate", "no command 'trasnlate'", "hint: did you mean translate?")

    def test_in_the_name_of_an_option(self):
        for command, wrong, right in (("train", "--lern-rate 1", "--learn-rate"),
                                      ("translate", "--beam-szie 3", "--beam-size"), ("score", "--sumary", "--summary"),
                                      ("average", "--ouptut x", "--output"), ("vocab", "--sise 9", "--size"),
                                      ("evaluate", "--referenes t", "--references"),
                                      ("inspect", "--devises", "--devices")):
            self.fails(f"{command} {wrong}", f"there is no option {wrong.split()[0]}", f"hint: did you mean {right}?")

    def test_a_missing_option(self):
        for command, option in (("train -t s t -v v v", "--model"), ("translate", "--model"),
                                ("score -m m.safetensors", "--train-sets"),
                                ("average m.safetensors", "--output"), ("average -o x", "MODEL"),
                                ("vocab encode", "--model"), ("vocab train -m new", "--input"),
                                ("evaluate -i t", "--references")):
            self.fails(command, option)
        self.fails("inspect", "hint: give a model file or --devices")

    def test_a_file_that_is_not_there(self):
        for command in ("train -t nowhere t -v v v -m new", "translate -m nowhere", "score -m nowhere -t s t",
                        "score -m m.safetensors -t s nowhere", "average -o x m.safetensors nowhere",
                        "vocab encode -m nowhere", "evaluate -r t -i nowhere", "inspect nowhere"):
            self.fails(command, "nowhere", "hint: ")

    def test_a_file_of_another_kind(self):
        for command in ("translate -m s", "score -m s -t s t", "average -o x s", "vocab encode -m s", "inspect s"):
            self.fails(command, "error: s", "hint: ")
        for command in ("translate -m", "score -t s t -m", "average -o x"):
            self.fails(f"{command} m.state.safetensors", "m.state.safetensors is a training state", "hint: ")

    def test_files_that_do_not_pair(self):
        lines = len(self.source.splitlines())
        for command in ("train -v v v -m new -t s short", "score -m m.safetensors -t s short",
                        "evaluate -r s -i short"):
            self.fails(command, f"{lines} line", "short has 1", "hint: ")

    def test_models_that_do_not_match(self):
        done = self.call(*"train -t s t -v v v -m deep.safetensors --after 1u".split(), *SMALL, "--dec-depth", "2")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.fails("average -o x m.safetensors deep.safetensors", "m.safetensors", "deep.safetensors",
                   "--dec-depth is 1 and 2")
        self.assertFalse((self.folder / "x").exists())

    def test_values_that_cannot_be(self):
        self.fails("train -t s t -v v v -m new --learn-rate fast", "--learn-rate", "fast")
        self.fails("translate -m m.safetensors --beam-size 0", "--beam-size", "0")
        self.fails("evaluate -r t -i t --tokenize words", "--tokenize", "13a")
        self.fails("score -m m.safetensors -t s", "--train-sets", "two files")
        self.fails("score -m m.safetensors -t s t -o s", "--output and --train-sets are both s")


if __name__ == "__main__":
    command_case.main()
