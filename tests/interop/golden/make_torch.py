#!/usr/bin/env python3
"""Makes torch/, small files of torch.save, each as a zip archive (.pt) and as a stream of pickles (.old.pt).

    make_torch.py        (pip install torch)
"""
import argparse
import collections
import os
import pathlib

import torch

FOLDER = pathlib.Path(__file__).resolve().parent / "torch"


class Unknown:
    """Nobody but this script has such a class."""

    def __init__(self):
        self.words = ["a", "b"]


class Hostile:
    def __reduce__(self):
        return os.system, ("touch executed_by_the_reader",)


def save(name, value, **options):
    torch.save(value, FOLDER / f"{name}.pt", **options)
    torch.save(value, FOLDER / f"{name}.old.pt", _use_new_zipfile_serialization=False, **options)


def main():
    FOLDER.mkdir(exist_ok=True)
    matrix = torch.arange(12, dtype=torch.float32).reshape(3, 4)
    state = collections.OrderedDict(
        matrix=matrix, transposed=matrix.t(), view=matrix[1:, 1:3], every_second=matrix[:, ::2],
        parameter=torch.nn.Parameter(torch.tensor([0.5, -0.5])), number=torch.tensor(7.0), empty=torch.empty(5, 0))
    state._metadata = {"": {"version": 1}}  # an attribute of the dict, as state_dict() has it
    save("state", state)
    save("state4", {"weight": matrix[0]}, pickle_protocol=4)
    save("types", {
        str(dtype).removeprefix("torch."): torch.tensor([0, 1, 3]).to(dtype)
        for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.float64, torch.int64, torch.int32, torch.int8,
                      torch.uint8, torch.bool)})
    save("short", {"a": torch.tensor([1], dtype=torch.int16)})
    save("mixed", {
        "model": {"weight": matrix[0]}, "args": argparse.Namespace(arch="transformer", layers=6, dropout=0.1),
        "unknown": Unknown(), "counts": collections.defaultdict(int, a=1), "hostile": Hostile(), "large": 1 << 70,
        "small": -2, "shape": matrix.shape})


if __name__ == "__main__":
    main()
