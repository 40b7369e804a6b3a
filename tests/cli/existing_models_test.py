#!/usr/bin/env python3
"""End-to-end test of commands on models of other programs, as docs/existing_models.md shows them.

    existing_models_test.py BINARY
"""

import os
import pathlib
import re
import shutil
import subprocess
import zipfile

import command_case
from command_case import CommandCase
from end_to_end_test import InFolder

SOURCE = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = SOURCE / "tests" / "interop" / "golden"
TEXT = "a small dog\n\nthe house of a man\n"


class ExistingModels(InFolder):
    @classmethod
    def setUpClass(cls):
        CommandCase.setUpClass.__func__(cls)
        for name, models in (("marianmt", ["source.spm", "target.spm"]), ("t5", ["spiece.model"]), ("m2m100", ["sentencepiece.bpe.model"]),
                             ("ct2_marian", []), ("ct2_opennmt", []),
                             ("fairseq_old", ["sentencepiece.bpe.model"])):
            shutil.copytree(GOLDEN / name, cls.folder / name)
            for model, kind in zip(models, ("bpe", "unigram")):
                shutil.copy(SOURCE / "tests" / "vocab" / "golden" / f"{kind}.spm", cls.folder / name / model)
        for name in ("opennmt", "joeynmt_words", "sockeye"):
            shutil.copytree(GOLDEN / name, cls.folder / name)
        cls.make_package(cls.folder / "translate-a_b-1_0")
        for name in ("tied.npz", "words.yml"):
            shutil.copy(GOLDEN / name, cls.folder / name)
        for name in ("s", "t"):
            (cls.folder / name).write_text("a dog\na man\n" * 20)

    @classmethod
    def make_package(cls, folder):
        """A package of Argos Translate: the folder, and an archive with it."""
        shutil.copytree(GOLDEN / "ct2_marian", folder / "model")
        shutil.copy(SOURCE / "tests" / "vocab" / "golden" / "bpe.spm", folder / "sentencepiece.model")
        (folder / "metadata.json").write_text("{}")
        with zipfile.ZipFile(cls.folder / "a_b.argosmodel", "w", zipfile.ZIP_DEFLATED) as archive:
            for path in folder.rglob("*"):
                archive.write(path, path.relative_to(cls.folder))

    def refused(self, *arguments, text=TEXT):
        done = self.call(*arguments, text=text)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        return done.stderr

    def test_a_model_translates_as_it_is_and_as_its_conversion(self):
        for model, more in (("marianmt", []), ("ct2_marian", []), ("ct2_opennmt", []),
                            ("fairseq_old/checkpoint_best.pt", []), ("opennmt/model_step_100.pt", []),
                            ("joeynmt_words", []), ("joeynmt_words/best.ckpt", []), ("sockeye", []),
                            ("translate-a_b-1_0", []), ("a_b.argosmodel", []),
                            ("m2m100", ["--source-lang", "en", "--target-lang", "fr"]),
                            ("tied.npz", ["--vocabs", "words.yml", "words.yml"])):
            with self.subTest(model):
                options = ["--beam-size", "3", "--max-length-add", "5", "--n-best", "--quiet"]
                as_it_is = self.succeed("translate", "-m", model, *more, *options, text=TEXT)
                self.assertEqual({line.split(" ||| ")[0] for line in as_it_is.splitlines()}, {"0", "1", "2"})
                self.succeed("convert", "-i", model, "-o", "converted", *more, "--quiet")
                self.assertEqual(self.succeed("translate", "-m", "converted", *options, text=TEXT), as_it_is)
                self.assertEqual(self.succeed("score", "-m", model, *more, "-t", "s", "t"),
                                 self.succeed("score", "-m", "converted", "-t", "s", "t"))

    def test_every_command_takes_a_model_as_it_is(self):
        words = ["words.yml", "words.yml"]
        for model, more, vocabs in (("marianmt", [], ["mt.s", "mt.t"]), ("ct2_marian", [], ["ct2.s", "ct2.t"]),
                                    ("fairseq_old/checkpoint_best.pt", [], ["fs.s", "fs.t"]),
                                    ("joeynmt_words", [], ["jn.s", "jn.t"]), ("sockeye", [], ["so.s", "so.t"]),
                                    ("tied.npz", ["--vocabs", *words], words)):
            with self.subTest(model):
                self.assertIn("as dragoman converts it", self.succeed("inspect", model, *more))
                self.assertIn("dim-emb:", self.succeed("inspect", model, "--options", *more))
                self.assertIn("int8", self.succeed("quantize", "-m", model, "-o", "small", *more))
                self.succeed("average", "-o", "mean", model, model, *more)
                self.assertEqual(self.succeed("score", "-m", "mean", "-t", "s", "t"),
                                 self.succeed("score", "-m", model, *more, "-t", "s", "t"))
                self.succeed("explain", "-m", model, *more, "-t", "s", "t", "--max-lines", "1")
                self.succeed("train", "-t", "s", "t", "-m", f"tuned.{vocabs[0]}", "--pretrained-model", model, "-v",
                             *vocabs, "--after", "2u", "--quiet", "--cpu-threads", "1")

    def test_no_output_replaces_a_file_that_belongs_to_a_model(self):
        (self.folder / "marian.yml").write_text("models: [tied.npz]\nvocabs: [words.yml, words.yml]\n")
        shutil.copy(self.folder / "words.yml", self.folder / "linked.yml")
        (self.folder / "tied.npz.yml").write_text("vocabs: [linked.yml, linked.yml]\n")
        dictionary = next((self.folder / "fairseq_old").glob("dict.*.txt")).relative_to(self.folder)
        checkpoint = next((self.folder / "fairseq_old").glob("*.pt")).relative_to(self.folder)
        package = "translate-a_b-1_0"
        before = {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}
        for option, file, command in (
                ("--model", "tied.npz", "score -m marian.yml -t s t"),
                ("--model", "words.yml", "translate -m marian.yml -i s"),
                ("--model", "tied.npz.yml", "score -m tied.npz -t s t"),
                ("--model", "linked.yml", "explain -m tied.npz -t s t"),
                ("--model", dictionary, f"score -m {checkpoint} -t s t"),
                ("--model", "fairseq_old/sentencepiece.bpe.model", f"align -m {checkpoint} -t s t"),
                ("--model", "ct2_marian/model.bin", "quantize -m ct2_marian"),
                ("--model", "ct2_marian/config.json", "translate -m ct2_marian -i s"),
                ("--model", f"{package}/model/model.bin", f"translate -m {package} -i s"),
                ("--model", f"{package}/sentencepiece.model", f"translate -m {package} -i s"),
                ("--model", "joeynmt_words/config.yaml", "quantize -m joeynmt_words"),
                ("--model", "joeynmt_words/src_vocab.txt", "score -m joeynmt_words/best.ckpt -t s t"),
                ("--model", "sockeye/vocab.src.0.json", "translate -m sockeye -i s"),
                ("--model", "marianmt/source.spm", "translate -m marianmt -i s"),
                ("--input", "words.yml", "convert -i marian.yml"),
                ("--input", "ct2_marian/model.bin", "convert -i ct2_marian"),
                ("--models", "marianmt/config.json", "average marianmt"),
                ("--models", "marianmt/model.safetensors", "average marianmt")):
            with self.subTest(command, file=file):
                self.assertIn(f"--output and a file of {option} are both {file}: its content would be lost",
                              self.refused(*command.split(), "-o", str(file), text=None))
        train = ("train --pretrained-model ct2_marian -t s t -v ct2.s ct2.t --after 1u --valid-sets s t --valid-metrics bleu "
                 "--cpu-threads 1 --quiet")
        for option, file, more in (("--model", "model.bin", "--no-reload"), ("--log-json", "config.json", "-m new"),
                                   ("--valid-translation-output", "shared_vocabulary.json", "-m new")):
            with self.subTest(option):
                self.assertIn(f"{option} and a file of --pretrained-model are both ct2_marian/{file}: its content",
                              self.refused(*train.split(), *more.split(), option, f"ct2_marian/{file}", text=None))
        self.assertEqual({path: path.read_bytes() for path in before}, before)
        self.succeed("translate", "-m", "ct2_marian", "-i", "s", "-o", "ct2_marian/s.out")  # no part of the model

    def test_a_model_in_the_folder_of_another_may_be_written_again(self):
        shutil.copytree(self.folder / "ct2_marian", self.folder / "ct2")
        shutil.copytree(self.folder / "marianmt", self.folder / "mt")
        (self.folder / "mar").mkdir()
        for name in ("tied.npz", "words.yml"):
            shutil.copy(self.folder / name, self.folder / "mar" / name)
        (self.folder / "mar" / "decoder.yml").write_text(
            "relative-paths: true\nmodels: [tied.npz]\nvocabs: [words.yml, words.yml]\n")
        train = "train --pretrained-model {0} -m {0}/model-tuned.safetensors -t s t -v tuned.s tuned.t --cpu-threads 1 --quiet"
        for command in ("convert -i ct2 -o ct2/model.safetensors", "quantize -m ct2 -o ct2/model.int8.safetensors",
                        "convert -i mar -o mar/model.safetensors",
                        "quantize -m mt -o mt/model.int8.safetensors",
                        f"{train.format('ct2')} --after 1u", f"{train.format('ct2')} --after 2u"):
            for _ in range(2):
                self.succeed(*command.split())

    def test_a_run_that_begins_with_a_model_converts_its_weights_once(self):
        shutil.copytree(self.folder / "marianmt", self.folder / "once")
        done = self.call("train", "-t", "s", "t", "-m", "once.tuned", "--pretrained-model", "once", "-v", "once.s", "once.t",
                         "--after", "1u", "--cpu-threads", "1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("it is written from the vocabulary of once"), 2, done.stderr)
        self.assertEqual(done.stderr.count("converted in memory"), 1, done.stderr)

    def test_a_model_of_several_languages_asks_for_them(self):
        said = self.refused("translate", "-m", "m2m100")
        self.assertIn("its source language is not given", said)
        self.assertIn("hint: give --source-lang", said)
        said = self.refused("score", "-m", "m2m100", "--source-lang", "en", "-t", "s", "t")
        self.assertIn("its target language is not given", said)
        said = self.refused("translate", "-m", "m2m100", "--source-lang", "en", "--target-lang", "klingon")
        self.assertIn("--target-lang klingon: m2m100 has no piece that names this language", said)
        said = self.refused("translate", "-m", "ct2_opennmt", "--source-lang", "en")
        self.assertIn("--source-lang en: ct2_opennmt takes no source language", said)

    def test_languages_that_are_given_replace_those_that_the_file_keeps(self):
        self.succeed("convert", "-i", "m2m100", "-o", "kept", "--source-lang", "en", "--target-lang", "fr", "--quiet")
        scores = [self.succeed("score", "-m", "kept", "-t", "s", "t", *more)
                  for more in ([], ["--target-lang", "de"], ["--source-lang", "de"], ["--target-lang", "fr"])]
        self.assertEqual(scores[0], scores[3])
        self.assertEqual(len(set(scores)), 3)

    def test_languages_are_stored_in_a_file_of_dragoman_too(self):
        languages = ["--source-lang", "en", "--target-lang", "fr", "--quiet"]
        self.succeed("convert", "-i", "m2m100", "-o", "at-once", *languages)
        self.succeed("convert", "-i", "m2m100", "-o", "many", "--quiet")
        self.succeed("convert", "-i", "many", "-o", "later", *languages)
        at_once, later = ((self.folder / name).read_bytes() for name in ("at-once", "later"))
        self.assertEqual(at_once, later)

    # What a given language adds to a target is neither scored nor shown.
    def test_a_language_is_no_token_of_a_translation(self):
        languages = ["--source-lang", "en", "--target-lang", "fr"]
        words = self.succeed("score", "-m", "m2m100", *languages, "-t", "s", "t", "--word-scores").splitlines()[0]
        alignments = self.succeed("score", "-m", "m2m100", *languages, "-t", "s", "t", "--alignment", "soft")
        targets = alignments.splitlines()[0].split(" ||| ")[-1].split(" ")
        self.assertEqual(len(targets), len(words.split("WordScores= ")[-1].split(" ")))

    def verify(self, script, model, output, text, options=(), **more):
        """convert --verify with a stand-in for python3."""
        bin_folder = self.folder / f"bin-{output}"
        bin_folder.mkdir()
        (bin_folder / "python3").write_text(f"#!/bin/sh\n{script}\n")
        (bin_folder / "python3").chmod(0o755)
        return subprocess.run([self.BINARY, "convert", "-i", model, "-o", output, "--verify", text, *options],
                              cwd=self.folder,
                              encoding="utf-8", check=False, env=os.environ | {"PATH": f"{bin_folder}:/bin:/usr/bin"},
                              **({"stdout": subprocess.PIPE} | more), stderr=subprocess.PIPE)

    # What is compared when it is there: tests/interop/other_programs_test.py. Nothing is converted in vain.
    def test_verifying_without_the_other_program_says_so(self):
        (self.folder / "few").write_text("a dog\n")
        done = self.verify("echo there is no such module >&2\nexit 1", "marianmt", "verified", "few")
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertIn("there is no such module", done.stderr)
        self.assertIn("--verify: the other program failed", done.stderr)
        self.assertFalse((self.folder / "verified").exists())
        self.assertIn("--verify compares a model of another program",
                      self.refused("convert", "-i", "marianmt", "-o", "x", "--to", "ctranslate2", "--verify", "few"))

    def test_verifying_checks_the_model_and_the_text_first(self):
        (self.folder / "words").write_text("a dog\n")
        for model, text, message in (("sockeye", "words", "--verify cannot compare sockeye with another program"),
                                     ("joeynmt_words/best.ckpt", "words", "--verify cannot compare joeynmt_words/best"),
                                     ("no-model", "words", "no-model: "), ("marianmt", "no-text", "no-text: ")):
            with self.subTest(model):
                said = self.refused("convert", "-i", model, "-o", "unverified", "--verify", text)
                self.assertTrue(said.startswith(f"error: {message}"), said)
                self.assertFalse((self.folder / "unverified").exists())

    def test_verifying_refuses_what_is_no_number(self):
        (self.folder / "one").write_text("a dog\n")
        done = self.verify("[ -z \"$3\" ] || printf 'best\\tein Hund\\n'", "marianmt", "numberless", "one")
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertIn("--verify: the other program printed 'best\tein Hund', expected NUMBER", done.stderr)

    def test_differences_that_cannot_be_written_are_an_error(self):
        (self.folder / "another").write_text("a dog\n")
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = self.verify("[ -z \"$3\" ] || printf -- '-1\\tanother\\n'", "marianmt", "unprinted", "another",
                               stdout=full)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("error: stdout: ", done.stderr)

    # A stand-in for the other program writes the sources that it gets.
    def test_verifying_gives_the_other_program_the_language_of_the_source(self):
        (self.folder / "two").write_text("a dog\na cat\n")
        shutil.copytree(self.folder / "t5", self.folder / "t5-tags")
        (self.folder / "t5-tags" / "added_tokens.json").write_text('{"<2de>": 343}')
        for model, language, tag in (("marianmt", "deu", ">>deu<<"), ("t5-tags", "de", "<2de>"), ("marianmt", "", "")):
            with self.subTest(model):
                options = ["--target-lang", language] if language else []
                done = self.verify("[ -z \"$4\" ] || sed 's/^/-1\t/' \"$4\"", model, f"told-{model}-{language}", "two",
                                   options)
                self.assertEqual(done.returncode, 0, done.stderr)
                lines = [line.split("\t")[2] for line in done.stdout.splitlines() if "\ttransformers\t" in line]
                self.assertEqual(lines, [f"{tag} {text}".strip() for text in ("a dog", "a cat")])

    def test_a_line_without_the_language_to_translate_into_is_said_once(self):
        (self.folder / "some").write_text(">>deu<< a dog\na cat\na man\n")
        done = self.call("translate", "-m", "marianmt", "-i", "some", "--quiet", "--max-length-add", "2")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("does not begin with"), 1)
        self.assertRegex(done.stderr, r" some, line 2 does not begin with the language to translate into, nor does --target-lang "
                                      r"name it: the model knows .*\bdeu\b")
        for model in (["marianmt", "--target-lang", "deu"], ["t5"]):
            done = self.call("translate", "-m", *model, "-i", "some", "--quiet", "--max-length-add", "2")
            self.assertNotIn("does not begin with", done.stderr)

    # A stand-in for the other program writes the number of a line that it gets, empty lines being left out.
    def test_verifying_counts_empty_lines_too(self):
        (self.folder / "gaps").write_text("\n\na dog\n\na cat\n")
        done = self.verify("[ -z \"$4\" ] || awk '{ print \"-1\\tline \" NR }' \"$4\"", "marianmt", "counted", "gaps")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"2 lines; .* \(line [35]\)")
        self.assertRegex(done.stdout, r"\A3\tdragoman\t.*\n3\ttransformers\tline 1\n"
                                      r"5\tdragoman\t.*\n5\ttransformers\tline 2\n\Z")

    def test_the_rule_of_search_is_that_of_the_model_or_another(self):
        found = {rule: self.succeed("translate", "-m", "marianmt", "--search-rule", rule, "-b", "4", "--n-best",
                                    "--max-length-add", "2", "--quiet", text=TEXT)
                 for rule in ("auto", "marian", "huggingface", "huggingface-early", "fairseq", "ctranslate2")}
        self.assertEqual(found["auto"], found["huggingface"])
        self.assertNotEqual(found["auto"], found["marian"])
        self.assertIn("--search-rule", self.refused("translate", "-m", "marianmt", "--search-rule", "google"))

    def test_fine_tuning_continues_as_the_model_was_trained(self):
        self.succeed("convert", "-i", "m2m100", "-o", "kept", "--source-lang", "en", "--target-lang", "fr", "--quiet")
        self.succeed("train", "-t", "s", "t", "-v", "v", "v", "-m", "tuned", "--pretrained-model", "kept", "--after",
                     "200u", "--learn-rate", "0.01", "--lr-warmup", "1u", "--quiet", "--cpu-threads", "1")
        before = sum(self.numbers("score", "-m", "kept", "-t", "s", "t"))
        self.assertGreater(sum(self.numbers("score", "-m", "tuned", "-t", "s", "t")), before / 2)
        inspected = self.succeed("inspect", "tuned")
        self.assertRegex(inspected, r"from language +__en__\n +into language +__fr__\n +search +as huggingface")

    # Vocabularies have got a <pad> by then, which costs nothing in label smoothing either.
    def test_a_model_written_for_transformers_may_be_tuned(self):
        train = ["train", "-t", "s", "t", "--disp-freq", "1", "--after", "1u", "--label-smoothing", "0.1",
                 "--cpu-threads", "1"]
        joint = str(SOURCE / "tests" / "vocab" / "golden" / "bpe.spm")
        self.succeed(*train, "-v", joint, joint, "-m", "own", "--dim-emb", "16", "--transformer-heads", "2",
                     "--enc-depth", "1", "--dec-depth", "1")
        self.succeed("convert", "-i", "own", "-o", "written", "--to", "huggingface")
        done = self.call(*train, "-v", "written.s", "written.t", "-m", "written.tuned", "--pretrained-model", "written")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertLess(float(re.search(r"Cost ([0-9.]+)", done.stderr)[1]), 10)


if __name__ == "__main__":
    command_case.main()
