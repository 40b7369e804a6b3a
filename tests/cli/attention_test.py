#!/usr/bin/env python3
"""End-to-end test of models with each kind of attention and positions: training, resuming, translating alone and in
ensembles, scoring, quantizing, averaging.

    attention_test.py BINARY
"""

import json
import math
from itertools import product

import command_case
from command_case import CommandCase

SMALL = "--dim-emb 16 --dec-depth 1 --mini-batch-words 256 --learn-rate 0.02 --lr-warmup 10 --cpu-threads 1 --quiet"
KINDS = {
    "additive": "--attention-score additive",
    "dot": "--attention-score dot --attention-window 2",
    "location": "--attention-score location --transformer-max-positions 300",
    "bilinear": "--attention-score bilinear --attention-projections none",
    "reduced-rank": "--attention-score reduced-rank --attention-projections none --attention-rank 3",
    "key-value": "--attention-projections key-value --attention-local 2",
    "relative": "--transformer-positions relative --transformer-relative-positions 3",
    "rotary": "--transformer-positions rotary",
    "alibi": "--transformer-positions alibi",
    "none": "--transformer-positions none",
    "rms": "--transformer-norm rms",
    "batch-norm": "--transformer-norm batch",
    "batch-norm-alone": "--type decoder-only --transformer-norm batch --transformer-preprocess n "
                        "--transformer-postprocess da --exponential-smoothing 0.1",
    "head-norm": "--attention-norm layer",
    "head-rms": "--attention-norm rms --attention-score dot --transformer-positions rotary",
    "ssru": "--transformer-decoder-autoreg rnn",
    "average-attention": "--transformer-decoder-autoreg average-attention --transformer-dim-aan 24",
    "average-nogate": "--transformer-decoder-autoreg average-attention --transformer-aan-nogate "
                      "--transformer-aan-activation relu --transformer-preprocess n --transformer-postprocess da",
    "decoder-only": "--type decoder-only",
    "decoder-only-both": "--type decoder-only --learn-source --transformer-positions rotary",
    "memory": "--type decoder-only --attention-memory local-compressed --attention-block 8 --dec-depth 3",
    "memory-learned": "--type decoder-only --attention-memory local-compressed --attention-block 5 --attention-stride 4 "
                      "--transformer-positions learned --transformer-max-positions 520 --dec-depth 2 "
                      "--transformer-dropout-attention 0.1 --moe-experts 3",
    "experts": "--moe-experts 4 --moe-frequency 1",
    "experts-one": "--moe-experts 3 --moe-top-k 1 --moe-frequency 1 --moe-load-loss 0.1 --transformer-dropout-ffn 0.1",
    "experts-alone": "--type decoder-only --moe-experts 3 --moe-frequency 1 --moe-capacity 1",
    "copy": "--copy",
    "copy-ssru": "--copy --transformer-decoder-autoreg rnn --transformer-positions rotary --label-smoothing 0",
    "s2s-copy": "--type s2s --dim-rnn 16 --copy",
    "s2s": "--type s2s --dim-rnn 16",
    "s2s-heads": "--type s2s --dim-rnn 16 --transformer-heads 2 --attention-score scaled-dot --layer-normalization "
                 "--attention-projections query-key-value --enc-cell lstm",
    "s2s-head-norm": "--type s2s --dim-rnn 16 --attention-norm rms --rnn-attention luong",
    "s2s-luong": "--type s2s --dim-rnn 16 --rnn-attention luong --dec-cell lstm --attention-local 2",
    "s2s-predictive": "--type s2s --dim-rnn 16 --rnn-attention luong --attention-local 2 "
                      "--attention-local-center predictive",
    "s2s-hard": "--type s2s --dim-rnn 16 --attention-choice hard",
    "s2s-bottleneck": "--type s2s --dim-rnn 16 --rnn-attention none --enc-type unidirectional --reverse-source",
    "s2s-conv": "--type s2s --dim-rnn 16 --enc-type conv --enc-conv-width 5",
    "s2s-hierarchical": "--type s2s --dim-rnn 16 --rnn-attention none --encoder-pooling hierarchical --sentence-ends is",
    "s2s-pooled": "--type s2s --dim-rnn 16 --rnn-attention none --encoder-pooling attention",
}


class Attention(CommandCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        words = list(product(("red", "blue", "green", "old"), ("house", "book", "car"), ("new", "small", "near")))
        cls.lines = "".join("the {} {} is {}\n".format(*w) for w in words)
        (cls.folder / "s").write_text(cls.lines, encoding="utf-8")
        (cls.folder / "t").write_text("".join("das {1} {0} ist {2}\n".format(*w) for w in words), encoding="utf-8")
        cls.succeed("vocab train --input s t --model v --size 320")

    def train(self, name, options, after):
        encoder = "" if "decoder-only" in options else "--enc-depth 1"
        layers = "" if "s2s" in options else "--transformer-heads 2 --transformer-dim-ffn 32"
        self.succeed(f"train -t s t -v v v -m {name}.safetensors {SMALL} {encoder} {layers} {options} --after {after}")

    def test_each_kind_learns_translates_and_scores(self):
        for kind, options in KINDS.items():
            with self.subTest(kind):
                self.train(kind, options, "60u")
                model = f"{kind}.safetensors"
                together = self.succeed(f"translate --quiet -m {model} -b 3 --n-best 1", text=self.lines).splitlines()
                self.assertEqual(len(together), len(self.lines.splitlines()))
                alone = self.succeed(f"translate --quiet -m {model} -b 3 --n-best 1 --mini-batch-words 1", text=self.lines)
                self.assertEqual([l.split(" ||| ")[1:] for l in alone.splitlines()],
                                 [l.split(" ||| ")[1:] for l in together])
                (self.folder / "out").write_text("".join(l.split(" ||| ")[1] + "\n" for l in together))
                scores = self.succeed(f"score -m {model} -t s out").split()
                for line, score in zip(together, scores):  # search and scoring compute it differently
                    self.assertAlmostEqual(float(line.split("F0= ")[1].split()[0]), float(score), delta=2e-3)
                for precision in ("bfloat16", "int8"):
                    self.assertEqual(len(self.succeed(f"translate --quiet -m {model} --precision {precision}",
                                                      text=self.lines).splitlines()), len(together))

    def test_a_run_that_stops_resumes_to_the_same_bits(self):
        for kind in ("additive", "relative", "alibi", "ssru", "average-attention", "decoder-only", "head-norm",
                     "batch-norm", "batch-norm-alone", "memory-learned", "experts", "experts-one", "s2s-heads", "s2s-luong", "s2s-predictive",
                     "s2s-hard", "s2s-hierarchical", "copy", "s2s-copy"):
            with self.subTest(kind):
                self.train("straight-" + kind, KINDS[kind], "12u")
                self.train("halted-" + kind, KINDS[kind], "5u")
                self.train("halted-" + kind, KINDS[kind], "12u")
                straight, halted = (self.folder / f"{name}-{kind}.state.safetensors" for name in ("straight", "halted"))
                self.assertEqual(straight.read_bytes(), halted.read_bytes())

    def test_a_hierarchical_model_keeps_the_ends_of_its_sentences(self):
        def ends(name):
            return json.loads(self.succeed(f"inspect {name}.safetensors --json"))["config"]["sentence_ends"]

        self.train("ends", KINDS["s2s-hierarchical"], "2u")
        self.assertTrue(ends("ends"))
        self.train("ends-tuned", "--type s2s --pretrained-model ends.safetensors", "2u")
        self.assertEqual(ends("ends-tuned"), ends("ends"))
        (self.folder / "ends.yml").write_text(self.succeed("inspect --options ends.safetensors"), encoding="utf-8")
        self.train("ends-again", "--type s2s -c ends.yml", "2u")
        self.assertEqual(ends("ends-again"), ends("ends"))
        for kind in ("minimal", "full"):
            dumped = self.succeed(f"train --pretrained-model ends.safetensors -m new -t s t -v v v --dump-config {kind}")
            self.assertIn("encoder-pooling: hierarchical", dumped)
            self.assertNotIn("sentence-ends", dumped)
        fresh = [line for line in dumped.splitlines() if not line.startswith(("pretrained-model", "sentence-ends"))]
        (self.folder / "fresh.yml").write_text("\n".join(fresh + ["sentence-ends: []"]), encoding="utf-8")
        again = self.succeed("train -c fresh.yml --dump-config full")
        self.assertIn("sentence-ends: [", again)
        self.assertNotIn("sentence-ends: []", again)

    def test_models_are_quantized_averaged_and_inspected_like_others(self):
        self.train("r", KINDS["relative"], "10u")
        self.succeed("quantize -m r.safetensors -o r8.safetensors")
        self.assertEqual(len(self.succeed("translate --quiet -m r8.safetensors", text="the red car\n").splitlines()), 1)
        self.succeed("average -o mean.safetensors r.safetensors r.safetensors")
        self.assertEqual(self.succeed("translate --quiet -m mean.safetensors", text=self.lines),
                         self.succeed("translate --quiet -m r.safetensors", text=self.lines))
        self.assertIn("relative", self.succeed("inspect r.safetensors"))

    def test_one_stack_scores_text_alone_as_a_language_model(self):
        """36 sentences, all equally likely: no distribution has a smaller cross-entropy than log 36 (Gibbs)."""
        (self.folder / "prompt").write_text("-\n" * 36, encoding="utf-8")
        self.succeed(f"train -t prompt s -v v v -m lm.safetensors {SMALL} --type decoder-only --transformer-heads 2 "
                     "--transformer-dim-ffn 32 --label-smoothing 0 --after 100u")
        mean = float(self.succeed("score -m lm.safetensors -t prompt s --summary"))
        self.assertGreater(mean, math.log(36) - 1e-4)
        self.assertLess(mean, math.log(36) + 0.2)
        scores = [float(line) for line in self.succeed("score -m lm.safetensors -t prompt s").split()]
        self.assertAlmostEqual(sum(scores), -36 * mean, delta=1e-3)
        (self.folder / "shuffled").write_text("".join(" ".join(reversed(line.split())) + "\n"
                                                      for line in self.lines.splitlines()), encoding="utf-8")
        for right, wrong in zip(scores, self.succeed("score -m lm.safetensors -t prompt shuffled").split()):
            self.assertGreater(right, float(wrong) + 1)

    def test_batch_norms_are_quantized_averaged_and_inspected_like_others(self):
        self.train("b", KINDS["batch-norm"], "20u")
        self.assertIn("per feature over batches", self.succeed("inspect b.safetensors"))
        self.succeed("quantize -m b.safetensors -o b8.safetensors")
        self.assertEqual(self.succeed("translate --quiet -m b8.safetensors", text=self.lines),
                         self.succeed("translate --quiet -m b.safetensors --precision int8", text=self.lines))
        self.succeed("average -o b-mean.safetensors b.safetensors b.safetensors")
        self.assertEqual(self.succeed("translate --quiet -m b-mean.safetensors", text=self.lines),
                         self.succeed("translate --quiet -m b.safetensors", text=self.lines))
        self.succeed(f"train -t s t -v v v -m dry.safetensors {SMALL} {KINDS['batch-norm']} --dry-run --after 1u")

    def test_compressed_memory_is_quantized_averaged_inspected_and_not_explained(self):
        self.train("c", KINDS["memory"], "20u")
        self.assertIn("alternating between blocks of 8 and keys compressed 3 to 1", self.succeed("inspect c.safetensors"))
        self.succeed("quantize -m c.safetensors -o c8.safetensors")
        self.assertEqual(self.succeed("translate --quiet -m c8.safetensors", text=self.lines),
                         self.succeed("translate --quiet -m c.safetensors --precision int8", text=self.lines))
        self.succeed("average -o c-mean.safetensors c.safetensors c.safetensors")
        self.assertEqual(self.succeed("translate --quiet -m c-mean.safetensors", text=self.lines),
                         self.succeed("translate --quiet -m c.safetensors", text=self.lines))
        with self.assertRaises(AssertionError) as refused:
            self.succeed("explain -m c.safetensors -t s t")
        self.assertIn("whose compressed keys stand for several pieces each", str(refused.exception))

    def test_mixtures_of_experts_are_quantized_averaged_and_inspected_like_others(self):
        self.train("e", KINDS["experts"], "20u")
        self.assertIn("2 of 4 per token in each layer", self.succeed("inspect e.safetensors"))
        self.succeed("quantize -m e.safetensors -o e8.safetensors")
        self.assertEqual(self.succeed("translate --quiet -m e8.safetensors", text=self.lines),
                         self.succeed("translate --quiet -m e.safetensors --precision int8", text=self.lines))
        self.succeed("average -o e-mean.safetensors e.safetensors e.safetensors")
        self.assertEqual(self.succeed("translate --quiet -m e-mean.safetensors", text=self.lines),
                         self.succeed("translate --quiet -m e.safetensors", text=self.lines))
        self.succeed(f"train -t s t -v v v -m dry.safetensors {SMALL} {KINDS['experts']} --dry-run --after 1u")

    def test_a_run_does_not_resume_with_another_number_of_experts(self):
        self.train("four", KINDS["experts"], "2u")
        with self.assertRaises(AssertionError) as refused:
            self.train("four", "--moe-experts 3 --moe-frequency 1", "4u")
        self.assertIn("--moe-experts is 4, here 3", str(refused.exception))
        with self.assertRaises(AssertionError) as refused:
            self.train("three", "--moe-experts 3 --moe-frequency 1 --pretrained-model four.safetensors", "4u")
        self.assertIn("--moe-experts 3 contradicts four.safetensors, whose model has 4", str(refused.exception))

    def test_recurrent_models_show_what_they_look_at(self):
        self.train("seen", KINDS["s2s-luong"] + " --dec-depth 2", "10u")
        self.assertIn("after each step (Luong et al. 2015), bilinear", self.succeed("inspect seen.safetensors"))
        done = self.call("explain --positions -m seen.safetensors")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("its positions are none", done.stderr)
        line = self.succeed("translate --quiet -m seen.safetensors --alignment hard", text="the red car\n")
        self.assertRegex(line, r"^.* \|\|\| 0?\d+-\d+")
        for method, rows in (("raw", 1), ("gradient", 0), ("rollout", 0)):
            done = self.call(f"explain -m seen.safetensors --method {method} --format json -t s t")
            self.assertEqual(done.returncode, 0 if rows else 2, done.stderr)
            self.assertEqual("cross" in done.stdout, bool(rows))

    def test_a_task_for_fast_translation_has_a_deep_encoder_and_a_recurrent_decoder(self):
        self.succeed("train -t s t -v v v -m fast.safetensors --task transformer-tiny11 --after 1u --quiet "
                     "--mini-batch-words 64 --cpu-threads 1")
        page = self.succeed("inspect fast.safetensors")
        self.assertIn("6 encoder, 2 decoder", page)
        self.assertIn("SSRU", page)


if __name__ == "__main__":
    command_case.main()
