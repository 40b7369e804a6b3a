#!/usr/bin/env python3
"""The comparing tool, with a toy model and mostly without peers; with CTranslate2 and PyTorch too where this Python has
them.

    compare_test.py BINARY
"""
import contextlib
import importlib.util
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from argparse import Namespace
from itertools import product
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "compare"))

import binary  # noqa: E402
import process  # noqa: E402
import samples  # noqa: E402
import shapes  # noqa: E402
import table  # noqa: E402
import training  # noqa: E402
import translation  # noqa: E402
import useful_work  # noqa: E402
from model_file import ModelFile  # noqa: E402

BINARY = ""  # from the command line
SMALL = ("--dim-emb 16 --transformer-heads 2 --transformer-dim-ffn 32 --enc-depth 1 --dec-depth 2 --cpu-threads 1 "
         "--mini-batch-words 256 --learn-rate 0.02 --lr-warmup 10 --after 60u --overwrite --quiet").split()
HAS_CTRANSLATE2 = all(map(importlib.util.find_spec, ("ctranslate2", "sentencepiece", "numpy", "safetensors")))
HAS_SERVER = HAS_CTRANSLATE2 and all(map(importlib.util.find_spec, ("fastapi", "uvicorn")))
HAS_WRK = shutil.which("wrk") and shutil.which("taskset")
HAS_PYTORCH = all(map(importlib.util.find_spec, ("torch", "sentencepiece", "safetensors")))


def sampled(**settings):
    s = samples.Samples()
    for setting, values in settings.items():
        for value in values:
            s.add(setting, {samples.TOKENS: value})
    return s


class Table(unittest.TestCase):
    def test_the_peer_is_shown_at_its_best_setting_and_ratios_are_taken_round_by_round(self):
        # Medians: ours 200; theirs 90 (a) and 100 (b). Ratios with b: 100/100, 200/50, 300/200.
        row = table.row("x", samples.TOKENS, sampled(ours=[100, 200, 300]), sampled(a=[90, 90, 90], b=[100, 50, 200]))
        self.assertEqual(row, ["x, target tokens/s", "200", "100", "b", "1.500 (1.000–4.000)"])

    def test_the_best_time_is_the_least(self):
        s = samples.Samples()
        for setting, value in (("slow", 9), ("fast", 2)):
            s.add(setting, {samples.SINGLE: value})
        self.assertEqual(s.best(samples.SINGLE), ("fast", [2]))

    def test_without_a_peer_there_is_no_ratio(self):
        row = table.row("x", samples.TOKENS, sampled(ours=[5]), samples.Samples())
        self.assertEqual(row, ["x, target tokens/s", "5", "–", "", ""])

    def test_every_other_round_goes_backwards(self):
        class Program:
            def __init__(self, *settings):
                self.settings = lambda: settings

        order = []
        samples.collect([Program("a"), Program("b", "c")], 2, lambda _, setting: order.append(setting) or {})
        self.assertEqual(order, ["a", "b", "c", "c", "b", "a"])


    def test_programs_get_the_figures_of_all_settings(self):
        [row] = table.described("x", sampled(ours=[6]), sampled(a=[1, 1, 4], b=[3]))
        self.assertEqual(row, {"label": "x", "measure": "target tokens/s", "dragoman": {"ours": 6}, "peer": {"a": 1, "b": 3},
                               "ratio": 2})


class UsefulWork(unittest.TestCase):
    SHAPE = shapes.Shape(layers=1, dim=2, feed_forward=3, heads=1, dropout=0)

    def test_a_pair_of_one_piece_costs_each_weight_once_and_attention(self):
        # Products: encoder 4·(2×2) + 2·(2×3) = 28, decoder 8·(2×2) + 2·(2×3) = 44, output 2×5 = 10. Attention, scores and
        # sums over values: 2·2 in the encoder and to the source, half of that to the target itself. Two operations a
        # product of numbers, three times for the way forth and back.
        self.assertEqual(useful_work.pair(self.SHAPE, 5, 1, 1), 3 * 2 * (28 + 44 + 10 + 4 + 4 + 2))

    def test_attention_grows_with_the_square_of_the_length(self):
        cost = lambda n: useful_work.pair(self.SHAPE, 5, n, n)
        self.assertEqual(cost(4) - 4 * cost(1), 3 * 2 * 10 * (16 - 4))

    def test_a_target_token_costs_what_pairs_do_over_their_target_tokens(self):
        pairs = [useful_work.pair(self.SHAPE, 5, s, t) for s, t in ((1, 2), (3, 4))]
        self.assertEqual(useful_work.per_target_token(self.SHAPE, 5, [(1, 2), (3, 4)]), sum(pairs) / 6)


class WarmingUp(unittest.TestCase):
    """Of a program that takes 3 seconds to load kernels and 2 for the text."""

    def seconds(self, devices, warms_up):
        program = Namespace(warms_up=warms_up, seconds=float, command=lambda *_, one_by_one: ["program"])
        text = Namespace(a=Namespace(devices=devices), all="a line\n")
        run = lambda _, lines: Namespace(log=3 + 2 * lines.count("\n"))
        with unittest.mock.patch.object(translation, "run", run):
            return translation.seconds_of(program, "setting", "job", text, run("", text.all))

    def test_time_counts_once_kernels_are_loaded(self):
        self.assertEqual(self.seconds(devices="0", warms_up=False), 2)

    def test_it_counts_from_the_first_line_for_a_cpu_and_for_what_warms_up_itself(self):
        self.assertEqual(self.seconds(devices=None, warms_up=False), 5)
        self.assertEqual(self.seconds(devices="0", warms_up=True), 5)


class Process(unittest.TestCase):
    def test_a_program_is_ended_when_enough_is_known(self):
        self.assertEqual(process.run(["sh", "-c", "echo begun; exec sleep 100"], until=lambda: True).log, "")

    def test_a_program_that_fails_before_is_an_error(self):
        with self.assertRaisesRegex(process.Failed, "this failed: sh -c echo why >&2; exit 3\nwhy"):
            process.run(["sh", "-c", "echo why >&2; exit 3"], until=lambda: False)


class Training(unittest.TestCase):
    def test_a_peer_whose_time_is_up_keeps_what_it_has_measured(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()) as said:
            program = Path(folder) / "python"
            program.write_text("""#!/bin/sh
echo '{"way": "padded", "batch": 16, "tokens_per_second": 5}'
printf '{"way": "pad'
exec sleep 60
""", encoding="utf-8")
            program.chmod(0o755)
            peer = training.PyTorch(Namespace(python=program, peer_device="cpu", devices=None, preset="toy", batches=[16, 32],
                                              seconds=1, threads=1, allocator=None, peer_seconds=1, vocab="v"))
            corpus = Namespace(files=["s", "t"], figures=lambda speed, device: {samples.TOKENS: speed})
            found = [peer.measure("float32", setting, corpus, folder) for setting in peer.settings()]
        self.assertEqual(found[0][samples.TOKENS], 5)
        self.assertEqual(found[1], {})
        self.assertIn("note: PyTorch, padded, 32 tokens: not measured within 1 s", said.getvalue())

    def test_on_a_gpu_a_peer_is_measured_before_it_is_compiled(self):
        a = Namespace(peer_device="cuda", batches=[16])
        self.assertEqual(training.PyTorch(a).settings(), ["packed, 16 tokens", "compiled packed, 16 tokens", "compiled padded, 16 tokens"])

    def test_on_a_gpu_it_is_measured_with_and_without_activations_of_16_bits(self):
        a = Namespace(dragoman=BINARY, threads=1, devices="0", precisions=["bfloat16"], batches=[16, 2000])
        self.assertEqual(training.Dragoman(a).settings(), ["16 tokens", "2,000 tokens", "16-bit activations, 16 tokens",
                                                           "16-bit activations, 2,000 tokens"])
        a.devices = None
        self.assertEqual(training.Dragoman(a).settings(), ["16 tokens", "2,000 tokens"])


class Precision(unittest.TestCase):
    HELP = """Run:
      --precision NAME          numbers that translations are computed with [float32,
                                bfloat16] (default: float32)
      --cpu-threads N           not int8
"""

    def options(self, described, name):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "dragoman"
            path.write_text(f"#!/bin/sh\ncat <<'end'\n{described}end\n", encoding="utf-8")
            path.chmod(0o755)
            return binary.Binary(Namespace(dragoman=str(path), threads=1)).precision("translate", name)

    def test_only_what_the_help_page_offers_is_asked_for(self):
        self.assertEqual(self.options(self.HELP, "bfloat16"), ["--precision", "bfloat16"])
        self.assertIsNone(self.options(self.HELP, "int8"))
        self.assertIsNone(self.options("", "bfloat16"))
        self.assertEqual(self.options("", "float32"), [])


class WithModel(unittest.TestCase):
    """A folder with text (s, t) and a small model that knows a little of it."""

    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.folder = Path(temporary.name)
        words = list(product(("red", "blue", "green", "old"), ("house", "book", "car"), ("new", "small", "near")))
        for name, line in (("s", "the {} {} is {}\n"), ("t", "das {1} {0} ist {2}\n")):
            (cls.folder / name).write_text("".join(line.format(*w) for w in words), encoding="utf-8")
        cls.call(BINARY, *"vocab train --input s t --model v --size 320".split())
        cls.call(BINARY, *"train -t s t -v v v -m m.safetensors".split(), *SMALL)

    @classmethod
    def call(cls, *command):
        done = subprocess.run(list(map(str, command)), cwd=cls.folder, capture_output=True, encoding="utf-8",
                              timeout=240, env=os.environ | {"OMP_NUM_THREADS": "1"}, check=False)
        if done.returncode:
            raise AssertionError(f"{command}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def compare(self, *options):
        subject, *rest = options
        return self.call(sys.executable, "-B", HERE / "compare", subject, "--dragoman", BINARY, "--threads", 1,
                         "--rounds", 1, *rest)

    def serving(self, *options):
        return self.compare("serving", "--model", "m.safetensors", "--source", "s", "--connections", 1, 4, "--seconds", 1,
                            "--beams", 1, "--share", 0.33, "--lines", 200, "--wrk-core", 0, *options)

    def translation(self, *options):
        return self.compare("translation", "--model", "m.safetensors", "--source", "s", "--single-lines", 3, *options)


class WithoutPeers(WithModel):
    def test_translation_says_that_the_peer_is_missing_and_shows_dragoman(self):
        said = self.translation("--reference", "t", "--python", "/no/such/python")
        self.assertIn("CTranslate2: not found: no program /no/such/python\n", said)
        for measure in ("target tokens/s", "source words/s", "start to first result, ms", "single sentence, ms",
                        "peak memory, MiB", "BLEU"):
            self.assertRegex(said, rf"\| beam 5, float32, {measure} \| [\d,.]+ \| – \|")

    def test_training_says_that_the_peer_is_missing(self):
        said = self.compare("training", "--train", "s", "t", "--vocab", "v", "--preset", "toy", "--seconds", 0.2, "--settle",
                            0, "--python", "/no/such/python", "--json", "rows.json")
        self.assertIn("PyTorch: not found: no program /no/such/python\n", said)
        self.assertRegex(said, r"\| toy, float32, target tokens/s \| [\d,.]+ \| – \|")
        speed, _ = json.loads((self.folder / "rows.json").read_text(encoding="utf-8"))
        self.assertEqual((list(speed["dragoman"]), speed["peer"], speed["ratio"]), (["512 tokens"], {}, None))

    @unittest.skipUnless(HAS_WRK, "wrk and taskset are not installed")
    def test_serving_is_measured_alone_and_beside_the_command(self):
        said = self.serving("--python", "/no/such/python", "--json", "rows.json")
        self.assertIn("CTranslate2 behind FastAPI and uvicorn: not found: no program /no/such/python\n", said)
        rows = {(row["label"], row["measure"]): row for row in json.loads((self.folder / "rows.json").read_text())}
        of_load = [f"{load}, {what}" for load in ("1 connections", "4 connections", "equal load")
                   for what in ("requests/s", "p50, ms", "p99, ms", "CPU of wrk, %")]
        self.assertEqual([measure for label, measure in rows if label == "beam 1, int8"], of_load)
        self.assertGreater(rows["beam 1, int8, beside dragoman translate", "lines/s"]["ratio"], 0)
        most, equal = (list(rows["beam 1, int8", f"{load}, requests/s"]["dragoman"].values())[0]
                       for load in ("4 connections", "equal load"))
        self.assertTrue(most / 6 < equal < most, (equal, most))  # a third of it was asked for

    def test_ranks_are_measured_beside_one_process(self):
        said = self.call(sys.executable, "-B", HERE / "compare", "ranks", "--dragoman", BINARY, "--threads", 2, "--rounds", 1,
                         "--train", "s", "t", "--vocab", "v", "--presets", "toy", "--batch", 128)
        for way in ("8 shards", "2 processes"):
            self.assertRegex(said, rf"\| toy, {way}, target tokens/s \| [\d,]+ \| [\d,]+ \| one shard \| [\d.]+ ")
        for ranks in (2, 4, 8):
            sent, least = re.search(rf"toy, {ranks} ranks, sent by a rank in an update, bytes \| ([\d,]+) \| ([\d,]+) \| the least",
                                    said).groups()
            self.assertGreaterEqual(int(sent.replace(",", "")), int(least.replace(",", "")))

    def test_a_missing_vocabulary_is_an_error(self):
        with self.assertRaisesRegex(AssertionError, "error: this failed: .* vocab encode -m no-such"):
            self.compare("training", "--train", "s", "t", "--vocab", "no-such", "--python", "/no/such/python")

    def test_a_missing_model_is_an_error(self):
        with self.assertRaisesRegex(AssertionError, "exit code 2\n(.*\n)*error: no-such: No such file or directory"):
            self.translation("--model", "no-such")

    def test_a_model_that_is_none_is_an_error(self):
        for file in ("s", "empty"):  # the first bytes of s, as a size, are more than there is memory
            (self.folder / "empty").touch()
            with self.assertRaisesRegex(AssertionError, f"exit code 2\n(.*\n)*error: {file} is not a model file of dragoman"):
                self.translation("--model", file)

    def test_a_reference_is_repeated_as_the_text_is(self):
        said = self.translation("--reference", "t", "--lines", 30, "--times", 2, "--python", "/no/such/python", "--beams", 1,
                                "--precisions", "float32")
        self.assertIn("\nLines: 60, rounds: 1\n", said)
        self.assertRegex(said, r"\| beam 1, float32, BLEU \| [\d.]+ \|")

    def test_one_line_alone_is_no_single_sentence(self):
        for options in (("--single-lines", 1), ("--lines", 1)):
            with self.assertRaisesRegex(AssertionError, "exit code 2\n(.*\n)*error: --single-lines is .*expected at least 2"):
                self.translation(*options)
        said = self.translation("--lines", 1, "--single-lines", 0, "--python", "/no/such/python", "--beams", 1)
        self.assertNotIn("single sentence", said)

    def test_a_missing_dragoman_is_an_error(self):
        with self.assertRaisesRegex(AssertionError, "error: --dragoman is /no/such, expected the program"):
            self.compare("translation", "--model", "m", "--source", "s", "--dragoman", "/no/such")


class Models(WithModel):
    def test_the_vocabulary_that_is_taken_out_of_a_model_is_the_one_that_went_in(self):
        ModelFile(self.folder / "m.safetensors").save_vocabulary("target", self.folder / "out")
        self.assertEqual((self.folder / "out").read_bytes(), (self.folder / "v").read_bytes())

    def test_pieces_are_cut_into_lines_of_the_length_that_is_forced(self):
        pieces = len(self.call(BINARY, *"vocab encode -m v -i s".split()).split())
        said = self.translation("--length", 5, "--python", "/no/such/python", "--beams", 1)
        self.assertIn(f"\nLines: {pieces // 5}, rounds: 1\n", said)
        self.assertRegex(said, r"\| beam 1, float32, target tokens/s \| [\d,.]+ \|")


@unittest.skipUnless(HAS_CTRANSLATE2, "this Python has no ctranslate2, sentencepiece, numpy, safetensors")
class WithCTranslate2(WithModel):
    KINDS = {
        "post-norm": "--transformer-positions interleaved",
        "pre-norm": "--transformer-preprocess n --transformer-postprocess da --transformer-ffn-activation gelu",
        "untied": "--tied-embeddings-all false --transformer-positions learned --transformer-ffn-activation swish",
        "target tied": "--tied-embeddings",
    }

    def test_every_kind_of_model_translates_as_in_dragoman(self):
        for kind, options in self.KINDS.items():
            with self.subTest(kind):
                self.call(BINARY, *"train -t s t -v v v -m kind.safetensors --no-reload".split(), *SMALL,
                          *options.split())
                said = self.translation("--model", "kind.safetensors", "--normalize", 0, "--precisions", "float32")
                for beam in (1, 5):
                    self.assertIn(f"beam {beam}, float32: 36 of 36 translations are the same", said)

    def test_a_forced_length_gives_the_same_translations(self):
        said = self.translation("--length", 5, "--beams", 1, "--precisions", "float32")
        self.assertRegex(said, r"beam 1, float32: (\d+) of \1 translations are the same")

    def test_a_shortlist_is_a_vocabulary_map(self):
        """Line by line, as CTranslate2 joins the maps of a batch. This list forbids what the model would say."""
        self.call(BINARY, *"align -t s s -m m.safetensors --first 1 --best 2 --shortlist list".split())
        self.call(sys.executable, "-B", HERE / "to_ctranslate2.py", "m.safetensors", "mapped", "--shortlist", "list")
        mapped = self.call("sh", "-c", f"{sys.executable} -B {HERE}/compare/ctranslate2_lines.py mapped --map --lines "
                           "--beam-size 1 < s")
        translate = [BINARY, *"translate -m m.safetensors -b 1 -i s".split()]
        self.assertEqual(mapped, self.call(*translate, "--shortlist", "list"))
        self.assertNotEqual(mapped, self.call(*translate))

    def test_the_peer_is_measured_without_a_shortlist_and_with_it(self):
        self.call(BINARY, *"align -t s t -m m.safetensors --shortlist list".split())
        self.translation("--shortlist", "list", "--beams", 1, "--precisions", "float32", "--json", "rows.json")
        speed = json.loads((self.folder / "rows.json").read_text(encoding="utf-8"))[0]
        self.assertEqual(list(speed["peer"]), ["1×1", "1×1 map"])


@unittest.skipUnless(HAS_SERVER and HAS_WRK, "this Python has no ctranslate2, fastapi, uvicorn, or there is no wrk")
class WithItsServer(WithModel):
    def test_both_servers_are_measured(self):
        self.assertRegex(self.serving("--waits", 5), r"\| beam 1, int8, 4 connections, requests/s \| [\d,]+ \| [\d,]+ \| waits 5 ms "
                         r"\| [\d.]+ ")


@unittest.skipUnless(HAS_PYTORCH, "this Python has no torch, sentencepiece, safetensors")
class WithPyTorch(WithModel):
    KINDS = {"post-norm": "", "pre-norm": "--transformer-preprocess n --transformer-postprocess da"}

    def test_it_translates_as_dragoman(self):
        for kind, options in self.KINDS.items():
            with self.subTest(kind):
                self.call(BINARY, *"train -t s t -v v v -m kind.safetensors --no-reload".split(), *SMALL, *options.split())
                said = self.translation("--model", "kind.safetensors", "--peer", "pytorch", "--precisions", "float32",
                                        "--beams", 1, 4, "--batch", 5, "--single-lines", 0)
                for beam in (1, 4):
                    self.assertIn(f"beam {beam}, float32: 36 of 36 translations are the same", said)

    def test_a_forced_length_gives_the_same_translations(self):
        said = self.translation("--peer", "pytorch", "--length", 5, "--beams", 1, "--precisions", "float32")
        self.assertRegex(said, r"beam 1, float32: (\d+) of \1 translations are the same")

    def test_models_that_it_cannot_compute_are_named(self):
        self.call(BINARY, *"train -t s t -v v v -m wide.safetensors --attention-window 2 --no-reload".split(), *SMALL)
        with self.assertRaisesRegex(AssertionError, "wide.safetensors: attention_window is 2, this Transformer has only 0"):
            self.call(sys.executable, "-B", HERE / "compare/torch_lines.py", "wide.safetensors")

    def test_training_is_measured(self):
        said = self.compare("training", "--train", "s", "t", "--vocab", "v", "--preset", "toy", "--seconds", 0.2,
                            "--settle", 0, "--batches", 64, 128)
        self.assertRegex(said, r"\| toy, float32, target tokens/s \| [\d,.]+ \| [\d,.]+ \| padded, (64|128) tokens \| [\d.]+ ")

    def test_packed_and_padded_batches_have_the_same_loss_and_gradients(self):
        import torch
        from torch_model import Transformer
        from torch_training import make_batch
        torch.manual_seed(1)
        model = Transformer(shapes.Shape(2, 16, 32, 2, dropout=0), 20)
        pairs = [([5, 6, 7, 2], [8, 9, 2]), ([5, 2], [9, 10, 11, 12, 2]), ([13, 2], [2])]
        found = []
        for layout, chunk in (("padded", 0), ("packed", 0), ("packed", 4)):
            if chunk and not hasattr(torch.nn.functional, "linear_cross_entropy"):
                continue
            batch, labels = make_batch(pairs, layout, "cpu")
            self.assertEqual(labels, 9)
            loss = model(*batch, chunk)
            found.append([loss, *torch.autograd.grad(loss, list(model.parameters()))])
        for other in found[1:]:
            for one, same in zip(found[0], other):
                torch.testing.assert_close(same, one, rtol=1e-4, atol=1e-6)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    BINARY = str(Path(sys.argv.pop(1)).resolve())
    unittest.main()
