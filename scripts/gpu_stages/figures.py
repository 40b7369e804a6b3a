"""Stages `train` and `decode`: figures of dragoman, and of PyTorch if it is installed; and the text that all stages train on."""
import itertools
import json
import math
import random
import re
import sys
import time
from pathlib import Path

import shapes

from gpu_stages.correctness import ROOT

COMPARE = ROOT / "tests/bench/compare"
ALLOCATIONS, WAITS, SLOW = "allocations on the device", "waits for the device", "slow products"  # as --profile names them
BATCH = 128  # lines translated at a time
TOY_PAIRS, TOY_WORDS = 300, (50, 2)  # for --try-out; words: size of the vocabulary, median length of a line
PAIRS, WORDS = 60_000, (40_000, 18)


def words_by_chance(sides, pairs, words, usual):
    """Writes random text whose line lengths (lognormal around `usual`) and word frequencies (Zipf) resemble language."""
    draw = random.Random(1)
    syllables = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]
    names = ["".join(triple) for triple in draw.sample(list(itertools.product(syllables, repeat=3)), words)]
    weights = list(itertools.accumulate(1 / (3 + rank) for rank in range(words)))
    with open(sides[0], "w", encoding="utf-8") as source, open(sides[1], "w", encoding="utf-8") as target:
        for _ in range(pairs):
            length = min(90, 2 + int(draw.lognormvariate(math.log(usual), 0.55)))
            for file, size in ((source, length), (target, int(length * draw.uniform(0.9, 1.2)))):
                file.write(" ".join(draw.choices(names, cum_weights=weights, k=size)) + "\n")


def prepare(check):
    """Prepares text and vocabulary to train on."""
    a = check.a
    if a.train:
        a.train, a.vocab = [Path(path).resolve() for path in a.train], Path(a.vocab).resolve()
        return
    a.train, a.vocab = [check.folder / side for side in ("source", "target")], check.folder / "vocabulary"
    words_by_chance(a.train, *((TOY_PAIRS, *TOY_WORDS) if a.try_out else (PAIRS, *WORDS)))
    code, text, _ = check.run(check.dragoman, "vocab", "train", "--input", *a.train, "--model", a.vocab, "--size",
                              "340" if a.try_out else "32000")
    if code != 0:
        sys.exit(f"error: {text}")


def train(check, size, tokens, updates):
    return ["train", "-t", *check.a.train, "-v", check.a.vocab, check.a.vocab, *shape(size), "--mini-batch-words",
            tokens, "--after", f"{updates}u", "--devices", "0", "--quiet"]


def shape(size):
    return shapes.SHAPES[size].options()


def compare(check, what, subject, *more):
    """Runs tests/bench/compare, prints its rows and keeps its figures; `what` makes the name of a row from its label."""
    a = check.a
    rows = check.folder / "rows.json"
    rows.unlink(missing_ok=True)
    code, text, seconds = check.run(sys.executable, "-B", COMPARE, subject, "--dragoman", check.dragoman, "--python",
                                    "none" if a.alone else a.python, "--devices", "0", "--peer-device",
                                    "cpu" if a.try_out else "cuda", "--json", rows, *more, at_most=420)
    for line in text.splitlines():
        if line.startswith(("note: PyTorch", "PyTorch: not found")):
            print(line)
    for row in json.loads(rows.read_text(encoding="utf-8")) if rows.exists() else []:
        check.rows.append({"what": what(row["label"]), **row})
        show(check, what(row["label"]), row)
    if code != 0:
        check.say(what("").rstrip(", "), code, text, seconds=seconds)


def show(check, what, row):
    cells = lambda settings: "; ".join(f"{value:,.1f} ({setting})" for setting, value in settings.items()) or "–"
    best = min if row["measure"].startswith("peak") else max
    if row["dragoman"]:
        check.note(what, row["measure"], best(row["dragoman"].values()))
    ratio = f"{row['ratio']:.2f}" if row["ratio"] is not None else "–"
    if row["measure"] == "target tokens/s" and row["ratio"] is not None:
        check.note(what, "ratio", row["ratio"])
    print(f"{what}, {row['measure']}\n    dragoman   {cells(row['dragoman'])}\n    PyTorch    {cells(row['peer'])}\n"
          f"    best : best  {ratio}", flush=True)


def training(check):
    a = check.a
    precision = "float32" if a.try_out else "bfloat16"
    asked_of_the_device(check, a.sizes[0], "float32" if a.try_out else "auto")
    for size in a.sizes:
        peer = max(1, 0.6 * (check.end - time.monotonic()) / len(a.sizes))  # compiling takes a minute or two
        compare(check, lambda _: f"training {size}", "training", "--train", *a.train, "--vocab", a.vocab, "--preset",
                size, "--precisions", precision, "--batches", *a.batches, "--seconds", a.seconds, "--settle",
                a.seconds / 2, "--rounds", 1, "--peer-seconds", peer)


def asked_of_the_device(check, size, precision):
    """Allocations and waits per update of a running training: the difference to a run of twice as many updates."""
    a, rows, found = check.a, (ALLOCATIONS, WAITS, SLOW), []
    updates = 20 if a.try_out else 100
    for times in (1, 2):
        code, text, seconds = check.run(check.dragoman, *train(check, size, a.batches[0], times * updates), "--precision",
                                        precision, "--profile", "--no-reload", "-m", "counted.safetensors")
        if code != 0:
            check.say(f"what training {size} asks of the device", code, text, seconds=seconds)
            return
        found.append([int(re.search(rf"^{row} +([\d,]+)$", text, re.MULTILINE)[1].replace(",", "")) for row in rows])
    for row, fewer, more in zip(rows, *found):
        each = (more - fewer) / updates
        check.note(f"training {size}", f"{row} an update", each)
        print(f"training {size}, {row} an update: {each:.2f}, from update {updates} to {2 * updates}", flush=True)


def decoding(check):
    a = check.a
    size, precision = ("toy", "float32") if a.try_out else ("base", "bfloat16")
    text = ["--source", a.train[0], "--model", "untrained.safetensors"]
    text += ["--length", 3, "--lines", 2] if a.try_out else ["--length", 25, "--lines", 20 * BATCH]
    if a.model:
        text = ["--source", Path(a.source).resolve(), "--model", Path(a.model).resolve()]
    else:
        code, said, _ = check.run(check.dragoman, *train(check, size, 16 if a.try_out else 512, 1), "-m",
                                  "untrained.safetensors")
        if code != 0:
            check.say("decoding", code, said)
            return
    name = "the model" if a.model else size
    compare(check, lambda label: f"decoding {name}, {label.removesuffix(f', {precision}')}", "translation", *text,
            "--peer", "pytorch", "--beams", 1, 4, "--precisions", precision, "int8", "--batch", BATCH, "--times",
            1 if a.try_out else 10, "--single-lines", 0, "--rounds", 1 if a.try_out or a.alone else 2)
    speed = check.found.get((f"decoding {name}, beam 1", "target tokens/s"))
    if speed:
        print(f"decoding {name}, beam 1: {1000 * BATCH / speed:.2f} ms for {BATCH} tokens")


# One update, one step ------------------------------------------------------------------------------------------------

def one_update(check):
    """Arguments of a run of one update or, with `several`, of enough updates that the start-up hardly counts."""
    size, precision = ("toy", "float32") if check.a.try_out else (check.a.sizes[0], "auto")

    def command(several):
        return [*train(check, size, check.a.batches[0 if check.a.try_out else len(check.a.batches) // 2],
                       20 if several else 1), "--precision", precision, "--no-reload", "-m", "kernels.safetensors"]
    return command


def one_step(check):
    """Arguments of the translation of a batch with the model of one_update: a step or two or, with `several`, more."""
    precision = "float32" if check.a.try_out else "bfloat16"
    source = check.folder / "lines"
    with open(check.a.train[0], encoding="utf-8") as text:
        source.write_text("".join(" ".join(line.split()[:20]) + "\n" for line in itertools.islice(text, BATCH)), encoding="utf-8")

    def command(several):
        return ["translate", "--devices", "0", "--quiet", "-m", "kernels.safetensors", "-i", source, "-o", "translated",
                "--beam-size", "4", "--precision", precision, "--max-length-factor", "1" if several else "0.05"]
    return command


def tiny_run(check):
    return lambda model: [*train(check, "tiny", 512, 2), "--no-reload", "-m", model]


def recorded_translation(check):
    """Arguments of a translation with a hardly trained model, whose translations reach the maximum length: more than the 64
    pieces for which steps are recorded first."""
    def command(model):
        words_by_chance([check.folder / name for name in ("some", "other")], 48, 300, 12)
        return ["translate", "--devices", "0", "--quiet", "-m", model, "-i", "some", "-o", "translated", "--beam-size", "2",
                "--mini-batch-words", "300", "--max-length-add", "70"]
    return command
