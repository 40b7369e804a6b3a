#!/usr/bin/env python3
"""End-to-end test of fine-tuning and resuming: starting from another model's weights, frozen parameters, other text,
a reset optimizer.

    fine_tuning_test.py BINARY
"""

import json
import re
import struct

import command_case
from end_to_end_test import SMALL, InFolder

TRAIN = ["train", "-t", "s", "t", *SMALL, "--cpu-threads", "1", "--quiet"]
FEW = ["train", "-t", "s", "t", "--mini-batch-words", "256", "--cpu-threads", "1", "--quiet"]  # as if of a base model


def tensors(path):
    """Name: bytes."""
    data = path.read_bytes()
    [length] = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__")
    return {name: data[8 + length:][slice(*entry["data_offsets"])] for name, entry in header.items()}


class FineTuning(InFolder):
    def train(self, name, *more, vocabs="v v"):
        done = self.call(*TRAIN, "-v", *vocabs.split(), "-m", f"{name}.safetensors", *more)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        return tensors(self.folder / f"{name}.safetensors")

    def refused(self, *more, vocabs="v v", train=tuple(TRAIN)):
        done = self.call(*train, "-v", *vocabs.split(), "-m", "refused.safetensors", "--after", "1u", *more)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertFalse((self.folder / "refused.safetensors").exists())
        return done.stderr

    def test_a_model_goes_on_as_another_with_parts_that_stay(self):
        before = tensors(self.folder / "m.safetensors")
        after = self.train("tuned", "--pretrained-model", "m.safetensors", "--freeze", "encoder.*", "embedding.*",
                           "--after", "5u", "--weight-decay", "0.01", vocabs="fresh fresh")
        self.assertEqual(before.keys(), after.keys())
        for name in before:
            stays = name.startswith(("encoder.", "embedding.", "vocabulary."))
            self.assertEqual(before[name] == after[name], stays, name)
        self.assertEqual((self.folder / "fresh").read_bytes(), (self.folder / "v").read_bytes())

    def test_lora_makes_an_ordinary_model_whose_linear_layers_have_changed(self):
        before = tensors(self.folder / "m.safetensors")
        options = ["--pretrained-model", "m.safetensors", "--lora-rank", "2", "--freeze", "decoder.*"]
        self.train("lora", *options, "--after", "3u")
        after = self.train("lora", *options, "--after", "5u")  # resumed
        self.assertEqual(before.keys(), after.keys())
        for name in before:
            adapted = name.startswith("encoder.") and name.endswith(".weight") and "norm" not in name
            self.assertEqual(before[name] != after[name], adapted, name)
        done = self.call("translate", "-m", "lora.safetensors", "-i", "s")
        self.assertEqual((done.returncode, done.stdout.count("\n")), (0, self.source.count("\n")), done.stderr)
        done = self.call(*TRAIN, "-v", "v", "v", "-m", "lora.safetensors", "--after", "6u")
        self.assertEqual(done.returncode, 2)
        self.assertIn("lora.state.safetensors was trained with --lora-rank 2, this run has no --lora-rank", done.stderr)

    def test_a_dry_run_counts_the_parameters_that_lora_trains(self):
        train = [word for word in TRAIN if word != "--quiet"]
        train += "-v v v -m counted.safetensors --pretrained-model m.safetensors --lora-rank 2 --after 1u".split()
        planned = re.findall(r"parameters of updates +([\d,]+), which are trained", self.call(*train, "--dry-run").stdout)
        self.assertEqual(planned, re.findall(r"LoRA: .* which have ([\d,]+) parameters", self.call(*train).stderr))
        self.assertEqual(len(planned), 1)

    def test_a_dry_run_says_that_the_vocabulary_is_that_of_the_model(self):
        options = "-v fresh1 fresh1 -m dry.safetensors --after 1u --dry-run --protected-symbols <x>"
        train = [*TRAIN[:-1], *options.split()]
        done = self.call(*train, "--pretrained-model", "m.safetensors")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("fresh1 would be written from the vocabulary of m.safetensors", done.stderr)
        self.assertIn("fresh1 is missing and would be written from the vocabulary of m.safetensors", done.stdout)
        self.assertNotIn("temporary", done.stdout + done.stderr)
        self.assertFalse((self.folder / "fresh1").exists())
        done = self.call(*train, "--dim-vocabs", "320")
        self.assertIn("a temporary vocabulary was learned for this report", done.stderr)

    def test_a_dry_run_says_so_of_the_model_that_it_resumes(self):
        train = [*TRAIN[:-1], *"-v gone gone --dim-vocabs 300 -m gone.safetensors --after 1u".split()]
        done = self.call(*train)
        self.assertEqual(done.returncode, 0, done.stderr)
        (self.folder / "gone").unlink()
        done = self.call(*train, "--dry-run")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("gone is missing and would be written from the vocabulary of gone.safetensors", done.stdout)
        self.assertNotIn("temporary", done.stdout + done.stderr)

    def test_what_a_vocabulary_is_made_of_is_said_once(self):
        done = self.call(*TRAIN[:-1], *"-v once once --dim-vocabs 300 -m once.safetensors --after 1u".split())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.lower().count("learning a vocabulary"), 1, done.stderr)
        self.assertEqual(done.stderr.count("300 pieces"), 1, done.stderr)

    def test_another_text_is_begun_at_its_beginning(self):
        self.train("moved", "--after", "7u")
        for name, text in (("s2", self.source), ("t2", self.target)):
            (self.folder / name).write_text(text * 2, encoding="utf-8")
        other = [word if word not in "st" else word + "2" for word in TRAIN[:-1]]
        done = self.call(*other, *"-v v v -m moved.safetensors --no-restore-corpus --no-optimizer-reload".split(),
                         *"--after 9u".split())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("update 7, epoch", done.stderr)
        self.assertNotIn("has changed", done.stderr)

    def test_a_model_of_another_shape_is_refused(self):
        said = self.refused("--pretrained-model", "m.safetensors", "--transformer-dim-ffn", "48")
        self.assertIn("--transformer-dim-ffn 48 contradicts m.safetensors, whose model has 32", said)
        self.assertIn("hint: leave it out: the architecture is taken from --pretrained-model", said)
        said = self.refused("--pretrained-model", "m.safetensors", "--transformer-heads", "4")
        self.assertIn("--transformer-heads 4 contradicts m.safetensors, whose model has 2", said)
        said = self.refused("--pretrained-model", "m.safetensors", "--task", "transformer-tiny", train=FEW)
        self.assertIn("--task transformer-tiny: --dim-emb 128 contradicts m.safetensors, whose model has 16", said)

    def test_the_cell_of_a_decoder_may_be_given_again(self):
        self.train("ssru", "--transformer-decoder-autoreg", "rnn", "--dec-cell", "ssru", "--after", "1u")
        for model, cell in (("ssru", "ssru"), ("m", "gru")):  # gru: in Marian's files, whatever the model is
            done = self.call(*FEW, "-v", "v", "v", "--pretrained-model", f"{model}.safetensors", "--dec-cell", cell,
                             "-m", f"{model}-again.safetensors", "--after", "1u")
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_kind_of_model_is_that_of_the_pretrained_one(self):
        for model, more in (("kind", []), ("prenorm", ["--transformer-preprocess", "n", "--transformer-postprocess", "da",
                                                       "--transformer-decoder-autoreg", "rnn"])):
            self.train(f"{model}-first", *more, "--after", "1u")
            for updates in ("2u", "3u"):  # started, then resumed
                done = self.call(*FEW, "-v", "v", "v", "--pretrained-model", f"{model}-first.safetensors", "-m", f"{model}.safetensors",
                                 "--after", updates)
                self.assertEqual(done.returncode, 0, done.stderr)
            configs = [json.loads(self.call("inspect", "--json", f"{name}.safetensors").stdout)["config"]
                       for name in (model, f"{model}-first")]
            self.assertEqual(*configs)
            options = self.call("inspect", "--options", f"{model}.safetensors")
            (self.folder / "model.yml").write_text(options.stdout, encoding="utf-8")
            done = self.call(*FEW, "-v", "v", "v", "-c", "model.yml", "-m", f"{model}-again.safetensors", "--after", "1u")
            self.assertEqual(done.returncode, 0, done.stderr)
            again = json.loads(self.call("inspect", "--json", f"{model}-again.safetensors").stdout)["config"]
            self.assertEqual(again, configs[0])

    def test_the_options_of_a_model_learn_the_same_vocabularies(self):
        learned = "--dim-vocabs 290 285 --vocab-type unigram --vocab-normalization identity --protected-symbols <2fr>"
        self.train("one", *learned.split(), "--after", "1u", vocabs="one.src one.trg")
        (self.folder / "one.yml").write_text(self.call("inspect --options one.safetensors").stdout, encoding="utf-8")
        done = self.call(*FEW, *"-c one.yml -v two.src two.trg -m two.safetensors --after 1u".split())
        self.assertEqual(done.returncode, 0, done.stderr)
        for side in ("src", "trg"):
            self.assertEqual((self.folder / f"two.{side}").read_bytes(), (self.folder / f"one.{side}").read_bytes())

    def test_a_run_that_fails_before_its_first_update_leaves_no_vocabulary(self):
        for more in (["--pretrained-model", "m.safetensors", "--freeze", "*"], ["--dim-vocabs", "300", "--freeze", "*"]):
            self.refused(*more, vocabs="left left")
            self.assertFalse((self.folder / "left").exists(), more)

    def test_a_model_of_another_vocabulary_is_refused_in_a_dry_run_too(self):
        self.assertEqual(self.call(*"vocab train --input s t --model w --size 300".split()).returncode, 0)
        for more in ([], ["--dry-run"]):
            said = self.refused("--pretrained-model", "m.safetensors", *more, vocabs="w w")
            self.assertIn("m.safetensors was trained with another vocabulary than w", said)
            self.assertIn("hint: give that model's vocabularies as --vocabs", said)
            said = self.refused("--pretrained-model", "m.safetensors", *more, vocabs="v w")
            self.assertIn("m.safetensors was trained with another vocabulary than w", said)

    def test_a_pattern_that_matches_nothing_is_refused_with_the_nearest(self):
        said = self.refused("--freeze", "decoder.*", "encodr.0.*")
        self.assertIn("--freeze encodr.0.*: no parameter has such a name", said)
        self.assertIn("hint: did you mean 'encoder.0.*'?", said)
        self.assertIn("leaves no parameter to train", self.refused("--freeze", "*"))

    def test_a_size_that_the_vocabulary_does_not_have_is_refused(self):
        said = self.refused("--dim-vocabs", "400")
        self.assertIn("v has 320 pieces, --dim-vocabs asks for 400", said)
        self.assertIn("hint: leave out --dim-vocabs", said)
        self.train("sized", "--dim-vocabs", "320", "320", "--after", "1u")


if __name__ == "__main__":
    command_case.main()
