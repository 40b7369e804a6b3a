#!/usr/bin/env python3
"""Shows why the paper divides by √K: how scores change with the size K of a query and a key (Vaswani et al. 2017, section
3.2.1, footnote 4). Prints a Markdown table.

    key_size.py [--queries N]

Queries and keys have independent numbers of mean 0 and variance 1, and w of the additive score is drawn as dragoman
does (Glorot: uniform in ±√(6 / (1 + K))). Each query has 32 keys. The columns are the variance of its scores, the largest
weight of their softmax, and the norm of the softmax's Jacobian p_i (δ_ij - p_j), which is 0.17 if all weights are 1/32 and 0
if one of them is 1.
"""

import argparse
import math
import random
import statistics

KEYS = 32
SIZES = (4, 16, 64, 256, 1024)


def dot(q, k):
    return sum(a * b for a, b in zip(q, k))


def scores(kind, query, keys, w):
    if kind == "additive":
        return [dot(w, [math.tanh(a + b) for a, b in zip(query, key)]) for key in keys]
    scale = math.sqrt(len(query)) if kind == "scaled dot" else 1
    return [dot(query, key) / scale for key in keys]


def softmax(values):
    largest = max(values)
    powers = [math.exp(v - largest) for v in values]
    return [p / sum(powers) for p in powers]


def jacobian_norm(p):
    """√ of the sum over i, j of (p_i (δ_ij - p_j))²: the diagonal has p_i - p_i², the rest the products."""
    squares = sum(x * x for x in p)
    return math.sqrt(max(0.0, sum((x - x * x) ** 2 - x ** 4 for x in p) + squares * squares))


def measure(size, queries, draw):
    """{kind: (variance, largest weight, norm of the Jacobian), means over queries}"""
    vector = lambda: [draw.gauss(0, 1) for _ in range(size)]
    limit = math.sqrt(6 / (1 + size))
    found = {"dot": [], "scaled dot": [], "additive": []}
    for _ in range(queries):
        query, keys = vector(), [vector() for _ in range(KEYS)]
        w = [draw.uniform(-limit, limit) for _ in range(size)]
        for kind, rows in found.items():
            values = scores(kind, query, keys, w)
            p = softmax(values)
            rows.append((statistics.pvariance(values), max(p), jacobian_norm(p)))
    return {kind: tuple(map(statistics.fmean, zip(*rows))) for kind, rows in found.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=200)
    queries, draw = parser.parse_args().queries, random.Random(1)
    if queries < 1:
        parser.error(f"--queries is {queries}, expected at least 1")
    kinds = ("dot", "scaled dot", "additive")
    print("| K |", " | ".join(f"{kind}: variance | largest weight | gradient" for kind in kinds), "|")
    print("|---" * (1 + 3 * len(kinds)) + "|")
    for size in SIZES:
        found = measure(size, queries, draw)
        cells = [f"{figures[0]:.2f} | {figures[1]:.2f} | {figures[2]:.3f}" for figures in map(found.get, kinds)]
        print(f"| {size} |", " | ".join(cells), "|")


if __name__ == "__main__":
    main()
