#!/usr/bin/env python3
"""End-to-end test of `dragoman quantize` and of other commands on its output.

    quantize_test.py BINARY
"""

import json
import math
import re
import struct

import command_case
from end_to_end_test import SMALL, InFolder

ROUNDED = "q.safetensors is in 8 bits: its rounding errors remain in the float32 model that is made from it"


def edited(model, changes):
    """A model file in which changes(name, values, columns) may have changed the float32 weights in place."""
    [length] = struct.unpack("<Q", model[:8])
    header, data = json.loads(model[8:8 + length]), bytearray(model[8 + length:])
    del header["__metadata__"]["checksum"]
    for name, tensor in header.items():
        if tensor.get("dtype") != "F32":
            continue
        begin, end = tensor["data_offsets"]
        numbers = f"<{(end - begin) // 4}f"
        values = list(struct.unpack_from(numbers, data, begin))
        changes(name, values, tensor["shape"][-1])
        struct.pack_into(numbers, data, begin, *values)
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def spoil(name, values, columns):
    """Sets the first value of cross-attention to 0 and the weights multiplied by it to huge numbers: float32 translations
    stay the same, but in 8 bits all other weights, and so the source sentence, are rounded to 0."""
    if name == "decoder.0.cross_attention.value.weight":
        values[:columns] = [0] * columns
    if name == "decoder.0.cross_attention.value.bias":
        values[0] = 0
    if name == "decoder.0.cross_attention.output.weight":
        values[::columns] = [1e6] * len(values[::columns])


def break_one(name, values, _):
    if name == "encoder.0.feed_forward.up.weight":
        values[3] = math.nan


class Quantize(InFolder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        model = (cls.folder / "m.safetensors").read_bytes()
        for name, changes in (("spoilt", spoil), ("broken", break_one)):
            (cls.folder / name).write_bytes(edited(model, changes))
        cls.done = cls.call(*"quantize -m m.safetensors -o q.safetensors --valid-sets s t --beam-size 2".split())

    def refused(self, command, *said):
        done = self.call(*command.split())
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        for words in said:
            self.assertIn(words, done.stderr)
        self.assertFalse((self.folder / "new").exists(), "a file was made")
        return done.stderr

    def row(self, page, name):
        return [float(word.replace(",", "")) for word in re.search(rf"(?m)^{name} +(.*?)(?: %)?$", page)[1].split()]

    def translations(self, *options):
        return self.succeed("translate", "-i", "s", "--scores", *options)

    def test_the_table_shows_the_sizes_of_both_files(self):
        self.assertEqual(self.done.returncode, 0, self.done.stderr)
        before, after, change = self.row(self.done.stdout, "bytes")
        self.assertEqual((before, after), ((self.folder / "m.safetensors").stat().st_size,
                                           (self.folder / "q.safetensors").stat().st_size))
        self.assertLess(after, before)
        self.assertAlmostEqual(change, 100 * (after / before - 1), delta=0.051)

    def test_the_table_shows_what_evaluate_says_of_either_file(self):
        for column, model in enumerate(("m.safetensors", "q.safetensors")):
            self.succeed(*f"translate -m {model} -i s -o out --beam-size 2".split())
            figures = json.loads(self.succeed(*"evaluate -r t -i out --json".split()))
            for name, key in (("BLEU", "bleu"), ("chrF2", "chrf")):
                shown = self.row(self.done.stdout, name)
                self.assertAlmostEqual(shown[column], figures[key], delta=0.0051)
                self.assertAlmostEqual(shown[2], shown[1] - shown[0], delta=0.0151)

    def test_the_small_file_translates_as_int8_does_from_the_large_one(self):
        rounded = self.translations("-m", "m.safetensors", "--precision", "int8")
        self.assertEqual(self.translations("-m", "q.safetensors"), rounded)
        self.assertEqual(self.translations("-m", "q.safetensors", "--precision", "int8"), rounded)
        exact = self.translations("-m", "m.safetensors")
        self.assertEqual(self.translations("-m", "m.safetensors", "--precision", "float32"), exact)
        self.assertNotEqual(exact, rounded)
        self.assertNotEqual(self.translations("-m", "q.safetensors", "--precision", "float32"), rounded)

    def test_without_a_dev_set_only_sizes_are_shown(self):
        page = self.succeed(*"quantize -m m.safetensors -o again.safetensors".split())
        self.assertEqual(len(page.splitlines()), 2)
        self.assertEqual((self.folder / "again.safetensors").read_bytes(), (self.folder / "q.safetensors").read_bytes())

    def test_the_gate_lets_nothing_worse_through(self):
        said = self.refused("quantize -m spoilt -o new --valid-sets s t --beam-size 1 --gate 0.3",
                            "error: BLEU falls by ", "more than --gate 0.3; new was not written", "hint: ")
        fall, before, after = map(float, re.search(r"by ([0-9.]+), from ([0-9.]+) to ([0-9.]+),", said).groups())
        self.assertGreater(fall, 0.3)
        self.assertAlmostEqual(fall, before - after, delta=0.0151)
        page = self.succeed(*"quantize -m spoilt -o let.through --valid-sets s t --beam-size 1".split())
        self.assertEqual(self.row(page, "BLEU")[:2], [before, after])

    def test_inspect_tells_the_types_and_counts_no_scales(self):
        small, large = (json.loads(self.succeed("inspect", f"{name}.safetensors", "--json")) for name in "qm")
        self.assertEqual((small["parameters"]["dtype"], large["parameters"]["dtype"]), ("F32, I8", "F32"))
        for key in ("total", "groups"):
            self.assertEqual(small["parameters"][key], large["parameters"][key])

    def test_other_commands_take_it_as_scale_times_integer(self):
        mean = {name: self.numbers(*f"score -m {name}.safetensors -t s t --summary".split())[0] for name in "mq"}
        self.assertNotEqual(mean["m"], mean["q"])
        self.assertAlmostEqual(mean["m"], mean["q"], delta=0.1 * mean["m"])
        done = self.call(*"average -o back.safetensors q.safetensors".split())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(ROUNDED, done.stderr)
        self.assertEqual(self.numbers(*"score -m back.safetensors -t s t --summary".split()), [mean["q"]])

    def test_fine_tuning_begins_with_its_rounded_weights_and_says_so(self):
        for model, warned in (("q", True), ("m", False)):
            done = self.call(*f"train -t s t -v v v -m tuned-{model} --pretrained-model {model}.safetensors --after 1u".split(),
                             "--mini-batch-words", "256", "--cpu-threads", "1")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(ROUNDED in done.stderr, warned, done.stderr)

    def test_training_does_not_go_on_from_it(self):
        done = self.call(*"train -t s t -v v v -m q.safetensors --after 200u".split(), *SMALL)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("q.safetensors exists, but not its training state q.state.safetensors", done.stderr)

    def test_other_programs_get_no_broken_model_either(self):
        for program in ("ctranslate2", "huggingface", "marian", "onnx"):
            self.refused(f"convert -i broken -o new --to {program}",
                         "broken: encoder.0.feed_forward.up.weight holds nan", "hint: ")
        self.assertIn("NaN or infinity in 1 tensor, the first is encoder.0.feed_forward.up.weight",
                      self.succeed("inspect", "broken"))
        self.assertEqual(json.loads(self.succeed("inspect", "broken", "--json"))["not_finite"],
                         ["encoder.0.feed_forward.up.weight"])
        self.assertNotIn("not finite", self.succeed("inspect", "m.safetensors"))

    def test_slips(self):
        for command, *said in (
                ("quantize -m q.safetensors -o new", "q.safetensors is already in 8 bits", "hint: give the float32"),
                ("quantize -m broken -o new", "broken: encoder.0.feed_forward.up.weight holds nan", "hint: "),
                ("quantize -m m.state.safetensors -o new", "is a training state", "hint: "),
                ("quantize -m m.safetensors -o m.safetensors", "--output and --model are both m.safetensors"),
                ("quantize -m m.safetensors -o -", "--output is a model file"),
                ("quantize -m m.safetensors -o nowhere/new", "there is no folder nowhere"),
                ("quantize -m m.safetensors -o new --gate 1", "--gate needs --valid-sets"),
                ("quantize -m m.safetensors -o new --gate -1 --valid-sets s t", "--gate"),
                ("quantize -m m.safetensors -o new --valid-sets s", "--valid-sets takes two files"),
                ("quantize -m m.safetensors -o new --valid-sets s short", "short has 1")):
            self.refused(command, *said)


if __name__ == "__main__":
    command_case.main()
