#!/usr/bin/env python3
"""Shows why batch norm fits text badly: how much the mean and the variance of a norm's input vary between batches (Shen et
al. 2020, "PowerNorm: Rethinking Batch Normalization in Transformers", figures 1 and 2). Prints a Markdown table.

    batch_statistics.py MODEL SOURCE TARGET [--tokens N] [--batches N]     (needs torch, safetensors, sentencepiece)

MODEL is a dragoman Transformer with the attention of the paper; tests/golden/make.py computes it. Batches of about N target
tokens are made of random pairs, and of pairs of similar length, as in training. For each dimension of each norm's input, the
standard deviation of the batch mean is divided by that of the dimension, and the deviation of the batch variance by the
variance of the dimension. The table has their medians over dimensions, for the median norm and for the largest. Its last row
is what N independent tokens would give.
"""
import argparse
import json
import math
import pathlib
import random
import sys

import torch
from safetensors import safe_open

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "golden"))
import make  # pylint: disable=wrong-import-position


class Watch:
    """Stands in for make.norm and keeps what comes in, by the norm's name."""

    def __init__(self):
        self.norm, self.seen = make.norm, {}

    def __call__(self, p, name, x):
        self.seen.setdefault(name, []).append(x)
        return self.norm(p, name, x)

    def take(self):
        """{name: (mean, variance, rows)} of what was seen since the last call, column by column."""
        rows = {name: torch.cat(parts) for name, parts in self.seen.items()}
        self.seen = {}
        return {name: (x.mean(0), x.var(0, unbiased=False), len(x)) for name, x in rows.items()}


def load(path):
    with safe_open(path, "pt") as file:
        config = json.loads(file.metadata()["config"])
        weights = {name: file.get_tensor(name) for name in file.keys()}
    weights = {name: t.double() if t.is_floating_point() else t for name, t in weights.items()}
    known = {field.name for field in make.dataclasses.fields(make.Config)}
    c = make.Config(**{key: value for key, value in config.items() if key in known})
    c.key_size = c.key_size or c.dim // c.heads
    c.attention_norm = None
    return c, weights


def pairs_of(source, target, weights):
    import sentencepiece
    sides = []
    for path, side in ((source, "source"), (target, "target")):
        pieces = sentencepiece.SentencePieceProcessor(model_proto=weights[f"vocabulary.{side}"].numpy().tobytes())
        lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
        sides.append([torch.tensor(ids + [make.EOS]) for ids in pieces.encode(lines)])
    return list(zip(*sides))


def batches_of(pairs, tokens):
    """In order, cut at about `tokens` target tokens."""
    batch, filled = [], 0
    for pair in pairs:
        batch.append(pair)
        filled += len(pair[1])
        if filled >= tokens:
            yield batch
            batch, filled = [], 0


def deviations(model, batches):
    """For each norm the medians over columns: of the mean's deviation over batches, of the variance's."""
    c, weights = model
    make.norm = watch = Watch()
    found = []
    for batch in batches:
        for source, target in batch:
            make.decode(weights, c, make.encode(weights, c, source), target)
        found.append(watch.take())
    make.norm = watch.norm
    for name in found[0]:
        means, variances = (torch.stack([f[name][i] for f in found]) for i in (0, 1))
        whole = variances.mean(0) + means.var(0, unbiased=False)
        yield (means.std(0) / whole.sqrt()).median().item(), (variances.std(0) / whole).median().item()


def row(name, values):
    values = list(values)
    cells = []
    for column in zip(*values):
        cells += [sorted(column)[len(column) // 2], max(column)]
    print(f"| {name} | " + " | ".join(f"{cell:.3f}" for cell in cells) + " |", flush=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("model")
    arguments.add_argument("source")
    arguments.add_argument("target")
    arguments.add_argument("--tokens", type=int, default=1024)
    arguments.add_argument("--batches", type=int, default=30)
    o = arguments.parse_args()
    torch.set_grad_enabled(False)
    torch.set_num_threads(1)
    model = load(o.model)
    pairs = pairs_of(o.source, o.target, model[1])
    random.seed(1)
    random.shuffle(pairs)
    print("| batches | mean: median norm | largest | variance: median norm | largest |")
    print("|---|---|---|---|---|")
    row("pairs at random", deviations(model, list(batches_of(pairs, o.tokens))[:o.batches]))
    by_length = list(batches_of(sorted(pairs, key=lambda pair: len(pair[1])), o.tokens))
    row("pairs of one length", deviations(model, random.sample(by_length, min(o.batches, len(by_length)))))
    row("words one by one", [(1 / math.sqrt(o.tokens), math.sqrt(2 / o.tokens))])


if __name__ == "__main__":
    main()
