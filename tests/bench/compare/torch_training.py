#!/usr/bin/env python3
"""Measures how fast PyTorch trains, and prints a JSON line for each way and size of batches. Run by training.py.

    torch_training.py SOURCE TARGET VOCABULARY [OPTION...]

Text, pieces, model and label smoothing are those of `dragoman train`. In PyTorch's favour, batches are on the device
before the clock starts, gradients are not clipped, and the learning rate is constant. Target tokens include </s> and exclude
padding; the size of padded batches includes padding.
"""
import argparse
import contextlib
import json
import random
import sys
import time

import sentencepiece
import torch
from shapes import SHAPES
from torch_model import BOS, EOS, LAYOUTS, Transformer

BATCHES = 20  # random batches, used repeatedly
WAYS = [*LAYOUTS, *(f"compiled {layout}" for layout in LAYOUTS)]
LONGEST = 256  # pieces, like dragoman's --max-length


def options():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("text", nargs=2)
    p.add_argument("vocabulary")
    p.add_argument("--preset", choices=SHAPES, default="base")
    p.add_argument("--ways", nargs="+", choices=WAYS, default=["padded"], help="layout of batches, compiled or not")
    p.add_argument("--batches", type=int, nargs="+", default=[4096], help="target tokens in a batch")
    p.add_argument("--precision", choices=["float32", "bfloat16"], default="float32")
    p.add_argument("--seconds", type=float, default=10)
    p.add_argument("--device", default="cpu")
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--chunk", type=int, default=0, help="rows of the fused projection and loss; 0: not fused")
    return p.parse_args()


def read_pairs(a, vocabulary):
    sides = []
    for path in a.text:
        with open(path, encoding="utf-8", newline="\n") as file:
            sides.append([ids + [EOS] for ids in vocabulary.encode([line.rstrip("\n") for line in file])])
    return [pair for pair in zip(*sides) if all(1 < len(side) <= LONGEST + 1 for side in pair)]


def cut(pairs, budget, pads):
    """Batches of pairs of similar length, with up to `budget` target tokens."""
    pairs = sorted(pairs, key=lambda pair: (max(map(len, pair)), sum(map(len, pair))))
    batch, size, longest = [], 0, 0
    for pair in pairs:
        longest = max(longest, len(pair[1]))
        size = longest * (len(batch) + 1) if pads else size + len(pair[1])
        if batch and size > budget:
            yield batch
            batch, size, longest = [], len(pair[1]), len(pair[1])
        batch.append(pair)
    if batch:
        yield batch


def make_batch(pairs, layout, device):
    """The arguments of Transformer.forward, and the number of target tokens."""
    source = LAYOUTS[layout]([s for s, _ in pairs], device)
    target = LAYOUTS[layout]([[BOS] + t[:-1] for _, t in pairs], device)
    there = target.mask.flatten().nonzero()[:, 0] if layout == "padded" else None
    labels = torch.tensor([i for _, t in pairs for i in t], device=device)
    return (source, target, there, labels), len(labels)


def compute(a):
    """A context manager that sets the precision of products."""
    return torch.autocast(a.device, torch.bfloat16) if a.precision == "bfloat16" else contextlib.nullcontext()


def measure(a, vocabulary_size, pairs, way):
    """Prints a JSON line for each size of batches, all with one model."""
    torch._dynamo.reset()
    layout, compiled = way.split()[-1], way.startswith("compiled")
    model = Transformer(SHAPES[a.preset], vocabulary_size).to(a.device).train()
    adam = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98), eps=1e-9, fused=True)
    loss_of = torch.compile(model, dynamic=True) if compiled else model

    def update(batch):
        with compute(a):
            loss = loss_of(*batch, a.chunk)
        loss.backward()
        adam.step()
        adam.zero_grad(set_to_none=True)
        return loss

    for budget in a.batches:
        if a.device == "cuda":
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
        said = {"way": way, "batch": budget}
        try:
            said |= speed(a, update, some_batches(pairs, budget, layout, a.device), compiled)
        except Exception as error:  # out of memory, or unsupported by this PyTorch; continue with the other settings
            adam.zero_grad(set_to_none=True)
            said["error"] = f"{type(error).__name__}: {(str(error).strip() or '?').splitlines()[0]}"
        print(json.dumps(said), flush=True)


def some_batches(pairs, budget, layout, device):
    batches = list(cut(pairs, budget, layout == "padded"))
    random.Random(1).shuffle(batches)
    return [make_batch(batch, layout, device) for batch in batches[:BATCHES]]


def speed(a, update, batches, compiled):
    """Returns target tokens a second and the peak memory of the device."""
    wait = torch.cuda.synchronize if a.device == "cuda" else lambda: None
    for batch, _ in batches if compiled else batches[:2]:  # compiles for all shapes
        loss = update(batch)
    wait()
    tokens, updates, begin = 0, 0, time.monotonic()
    while time.monotonic() - begin < a.seconds:
        for batch, size in batches[updates % len(batches):][:5 if a.device == "cuda" else 1]:
            loss = update(batch)
            tokens, updates = tokens + size, updates + 1
        wait()
    seconds = time.monotonic() - begin
    memory = {"peak_mib": torch.cuda.max_memory_reserved() / 2**20} if a.device == "cuda" else {}
    return {"tokens_per_second": tokens / seconds, "updates": updates, "loss": loss.item(), **memory}


def main():
    a = options()
    torch.manual_seed(1)
    torch.set_num_threads(a.threads)
    vocabulary = sentencepiece.SentencePieceProcessor(model_file=a.vocabulary)
    pairs = read_pairs(a, vocabulary)
    if not pairs:
        sys.exit(f"error: {a.text[0]} and {a.text[1]} have no pair of at most {LONGEST} pieces")
    for way in a.ways:
        measure(a, vocabulary.get_piece_size(), pairs, way)


if __name__ == "__main__":
    main()
