#!/usr/bin/env python3
"""Command lines of Marian's users, verbatim except for files: options that cannot be ignored are refused all at once, with
advice; without them the commands run.

    marian_test.py BINARY
"""

import json
import re
import shlex

import command_case
from end_to_end_test import InFolder

SIZES = "--dim-emb 16 --transformer-heads 2 --transformer-dim-ffn 32 --enc-depth 1 --dec-depth 1 --cpu-threads 1"

TRANSFORMER = """--model model.npz --type transformer --train-sets s t --max-length 100 --vocabs v v
    --mini-batch-fit -w 10000 --maxi-batch 1000 --early-stopping 10 --cost-type=ce-mean-words
    --valid-freq 5000 --save-freq 5000 --disp-freq 500 --valid-metrics ce-mean-words perplexity translation
    --valid-sets s t --valid-script-path "bash ./validate.sh" --valid-translation-output valid.output
    --quiet-translation --valid-mini-batch 64 --beam-size 6 --normalize 0.6 --log train.log --valid-log valid.log
    --enc-depth 6 --dec-depth 6 --transformer-heads 8 --transformer-postprocess-emb d --transformer-postprocess dan
    --transformer-dropout 0.1 --label-smoothing 0.1 --learn-rate 0.0003 --lr-warmup 16000 --lr-decay-inv-sqrt 16000
    --lr-report --optimizer-params 0.9 0.98 1e-09 --clip-norm 5 --tied-embeddings-all --devices 0 1 2 3 --sync-sgd
    --seed 1111 --exponential-smoothing"""
SMALL = f"""-t s t -v v v -m small.npz {SIZES} --type transformer --mini-batch 32 --maxi-batch 100 --optimizer-delay 2
    --learn-rate 0.003 --lr-warmup 100u --lr-decay-inv-sqrt 100u --valid-sets s t --valid-metrics cross-entropy
    bleu-detok chrf --valid-freq 10u --save-freq 10u --disp-freq 5u --early-stopping 5 -b 2 -n 1 --keep-best --overwrite
    --after 20u --no-shuffle --workspace 4000 --shuffle-in-ram -T ."""
BIG = """-m big.npz --task transformer-big -t s t -v v v --dim-vocabs 320 320 --mini-batch-words 1000 --optimizer-delay 4
    --mini-batch-fit --workspace 10000 --devices 0 1 2 3 4 5 6 7 --sync-sgd --fp16 --tempdir /tmp --shuffle-in-ram
    --valid-metrics chrf ce-mean-words bleu-detok --valid-sets s t --valid-mini-batch 8 --beam-size 4 --keep-best
    --early-stopping 20 --disp-freq 1000u --disp-first 10 --save-freq 5000u --valid-freq 5000u --log big.log"""
DEEP = """--task transformer-base-prenorm --model deep.npz --train-sets s t --vocabs v v --enc-depth 12 --dec-depth 2
    --transformer-depth-scaling --transformer-preprocess n --transformer-postprocess da --transformer-ffn-activation swish
    --tied-embeddings-all --transformer-train-position-embeddings --max-length 200 --max-length-crop --after-epochs 20
    --devices 0 --num-devices 1 --sentencepiece-alphas 0.1 0.1"""
TUNING = f"""-m tuned.npz -t s t -v v v {SIZES} --pretrained-model m.safetensors --no-restore-corpus --no-optimizer-reload
    --learn-rate 0.0001 --after 1e --disp-freq 10 --mini-batch 16 -d 0 -w 3000 --optimizer adam"""
SCRIPT_CONFIG = """
type: transformer
model: config.npz
train-sets: [s, t]
vocabs:
  - v
  - v
dim-emb: 16
transformer-heads: 2
transformer-dim-ffn: 32
enc-depth: 1
dec-depth: 1
mini-batch-fit: true
workspace: 9500
lr-decay-inv-sqrt: 16000
optimizer-params: [0.9, 0.98, 1e-09]
exponential-smoothing: 0.0001
relative-paths: false
after: 10u
"""
DECODER_CONFIG = """
relative-paths: true
models:
  - m.safetensors
vocabs:
  - v
  - v
beam-size: 6
normalize: 0.6
word-penalty: 0
mini-batch: 1
maxi-batch: 1
maxi-batch-sort: none
"""
TRAINING = {"the example of a transformer": (f"train {TRANSFORMER}", "--dry-run"),
            "a small model on the CPU": (f"train {SMALL}", ""),
            "a large model on eight devices": (f"train {BIG}", "--dump-config minimal"),
            "a deep encoder": (f"train {DEEP}", "--dump-config minimal"),
            "fine-tuning": (f"train {TUNING}", ""),
            "a configuration file": ("train -c config.yml --seed 1111 --cpu-threads 1", "")}
LINES = {"a file": "translate -m m.safetensors -v v v -i s -o out -b 6 -n 0.6 --mini-batch 64 --maxi-batch 100 "
                   "--maxi-batch-sort src -d 0 -w 2500",
         "a pipe": "translate --models m.safetensors --vocabs v v --beam-size=6 --normalize=0.6 --cpu-threads 1 --quiet "
                   "--max-length-factor 2 -g float32",
         "a list": "translate -c decoder.yml --n-best -b4 -n0.6 --word-scores",
         "scores": "score -m m.safetensors -v v v -t s t --mini-batch 32 --devices 0 --workspace 2000"}


class CommandLines(InFolder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for name, text in (("validate.sh", "echo 12.5\n"), ("config.yml", SCRIPT_CONFIG), ("decoder.yml", DECODER_CONFIG)):
            (cls.folder / name).write_text(text, encoding="utf-8")

    def run_as_given_then_mended(self, words, text=""):
        """The command as it is, and where that is refused once without what the answer names: stdout. Not on Marian's GPUs."""
        for name in ("--devices", "-d"):
            words = self.without(words, name)
        done = self.call(*words, text=text)
        if done.returncode == 2:
            self.assertEqual(done.stdout, "", done.stderr)
            for path, name in self.refused(done.stderr):
                words = self.without(words, name)
                if path:
                    self.mend(path, [name])
            done = self.call(*words, text=text)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def refused(self, said):
        """(file or nothing, option) for each, which all have a hint."""
        named = re.findall(r"(?m)(?:([^\s:]+\.yml), line \d+: )?there is no option '?([^'\n]+)'?\n *hint: .", said)
        self.assertEqual(len(named), said.count("there is no option"), said)
        return named

    @staticmethod
    def without(words, name):
        """The option and its values, up to the next option."""
        kept, leaving = [], False
        for word in words:
            if word.startswith("-"):
                leaving = word.split("=")[0] == name
            if not leaving:
                kept.append(word)
        return kept

    def mend(self, path, keys):
        text = (self.folder / path).read_text(encoding="utf-8")
        for key in keys:
            text = re.sub(rf"(?m)^{key}:.*\n(  - .*\n)*", "", text)
        (self.folder / path).write_text(text, encoding="utf-8")

    def test_training(self):
        for name, (command, more) in TRAINING.items():
            with self.subTest(name):
                out = self.run_as_given_then_mended(shlex.split(f"{command} {more}"))
                self.assertEqual(bool(out), bool(more), out)

    def test_translating_and_scoring(self):
        for name, command in LINES.items():
            with self.subTest(name):
                out = self.run_as_given_then_mended(shlex.split(command), text=self.source)
                lines = out.splitlines() or (self.folder / "out").read_text(encoding="utf-8").splitlines()
                self.assertEqual(len(lines), {"a list": 600}.get(name, 150))

    def test_vocabularies_of_marian_train_a_model(self):
        words = dict.fromkeys(f"{self.source} {self.target}".split())
        listed = ["</s>", "<unk>", *(word for word in words if word not in ("</s>", "<unk>"))]
        (self.folder / "words.yml").write_text("".join(f"{json.dumps(word)}: {i}\n" for i, word in enumerate(listed)))
        (self.folder / "words.json").write_text(json.dumps({word: i for i, word in enumerate(listed)}))
        (self.folder / "words.txt").write_text("".join(f"{word}\n" for word in listed))
        for ending in ("yml", "json", "txt"):
            vocabulary, model = f"words.{ending}", f"words.{ending}.npz"
            train = f"train -t s t -v {vocabulary} {vocabulary} -m {model} {SIZES} --after 3u --decoder-start zero"
            self.succeed(*train.split())
            lines = self.succeed("translate", "-m", model, "--max-length", "20", text=f"{listed[2]} unheardof </s>\n\n")
            self.assertEqual(lines.count("\n"), 2)
            self.assertEqual(json.loads(self.succeed("inspect", "--json", model))["vocabularies"]["source"],
                             {"pieces": len(listed), "type": "tokens", "byte_fallback": False})
        done = self.call(*f"{train} --sentencepiece-alphas 0.1 -m sampled.npz".replace(f"-m {model} ", "").split())
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("a vocabulary of tokens cannot sample segmentations, found alpha 0.1", done.stderr)

    def test_all_that_is_refused_is_said_at_once(self):
        done = self.call(*shlex.split(f"train {TRANSFORMER} --num-devices 4 --fp16"))
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("error: 2 problems with the options of dragoman train\n  there is no option --num-devices\n    hint: ",
                      done.stderr)
        self.assertIn("\n  there is no option --fp16\n", done.stderr)

    def test_what_is_ignored_is_said(self):
        done = self.call(*shlex.split("translate -m m.safetensors -v v v -w 2500 --mini-batch 64"), text="a b\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"(?m)-w 2500 is ignored: memory is allocated as needed$")

    def test_models_of_other_kinds_are_refused(self):
        for kind in ("amun", "nematus"):
            done = self.call(*shlex.split(f"train -t s t -v v v -m other.npz --type {kind}"))
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(f"--type '{kind}' is not supported\n  hint: --type s2s is the recurrent model", done.stderr)

    def test_a_single_option_has_its_advice_as_the_hint(self):
        for options, advice in (("--num-devices 4", "each of which gets a process"),
                                ("--fp16", "--precision float16 on a GPU"),
                                ("--guided-alignment-cost=mse", "the loss of --guided-alignment is cross-entropy"),
                                ("--embedding-fix-src", "--freeze 'PATTERN'")):
            done = self.call(*shlex.split(f"train -t s t -v v v -m other.npz {options}"))
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertRegex(done.stderr, rf"(?m)^  hint: .*{re.escape(advice)}")

    def test_programs_of_others_are_answered_by_commands(self):
        for program, command in (("marian-decoder", "translate"), ("generate", "translate"), ("spm_train", "vocab train")):
            done = self.call(program, "-m", "m")
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(f"there is no command '{program}'\n  hint: dragoman {command}", done.stderr)


if __name__ == "__main__":
    command_case.main()
