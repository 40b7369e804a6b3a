#!/usr/bin/env python3
"""Draws the results of bench_layers as an SVG: milliseconds and memory against the length of sentences, with logarithmic
axes. Of several files, which are repetitions, the fastest time counts.

    layers_plot.py layers.json... > lengths.svg
"""

import argparse
import json
import math
from xml.sax.saxutils import escape

# name in bench_layers: (label, colour)
KINDS = {
    "BM_self_attention/all": ("self-attention", "#2f7ed8"),
    "BM_self_attention/additive": ("self-attention, additive score", "#b05cc6"),
    "BM_self_attention/window_16": ("self-attention, --attention-window 16", "#1f9d6b"),
    "BM_recurrent_unit": ("simple recurrent unit", "#e4672b"),
    "BM_recurrence/gru": ("GRU", "#d9a400"),
    "BM_recurrence/lstm": ("LSTM", "#8a5a2b"),
    "BM_convolution": ("gated convolution, three pieces wide", "#17becf"),
}
KEPT = ("weights of 4 heads, were they kept (computed)", "#999")
DASHES = ' stroke-dasharray="5 4"'
WIDTH, HEIGHT, LEFT, TOP, BOTTOM = 440, 300, 56, 34, 40  # of a chart


def read(files):
    """{kind: {length: (milliseconds, MB)}}"""
    found = {kind: {} for kind in KINDS}
    for file in files:
        with open(file, encoding="utf-8") as text:
            rows = json.load(text)["benchmarks"]
        for row in rows:
            kind, _, length = row["name"].rpartition("/")
            if kind in found and row["run_type"] == "iteration":
                before = found[kind].get(int(length), (math.inf, 0))
                found[kind][int(length)] = (min(before[0], row["cpu_time"]), row["MB"])
    return found


def ticks(low, high):
    """1, 2, 5, 10, … within a range."""
    steps = (m * 10.0**e for e in range(-3, 7) for m in (1, 2, 5))
    return [step for step in steps if low <= step <= high]


class Axis:
    """A logarithmic scale from values to pixels."""

    def __init__(self, values, begin, end):
        self.low, self.high, self.begin, self.end = min(values) / 1.15, max(values) * 1.15, begin, end

    def __call__(self, value):
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return round(self.begin + share * (self.end - self.begin), 1)


def chart(curves, title, shift):
    """`curves`: {kind: {length: value}}"""
    lengths = sorted({length for curve in curves.values() for length in curve})
    x = Axis(lengths, shift + LEFT, shift + WIDTH - 12)
    y = Axis([v for curve in curves.values() for v in curve.values()], HEIGHT - BOTTOM, TOP)
    yield f'<text x="{shift + LEFT}" y="20" class="title">{escape(title)}</text>'
    for value in ticks(y.low, y.high):
        yield f'<path class="grid" d="M{x.begin} {y(value)}H{x.end}"/>'
        yield f'<text x="{x.begin - 6}" y="{y(value) + 4}" text-anchor="end">{value:g}</text>'
    for length in lengths:
        yield f'<text x="{x(length)}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{length}</text>'
    for kind, curve in curves.items():
        points = " ".join(f"{x(length)},{y(curve[length])}" for length in sorted(curve))
        yield f'<polyline points="{points}" stroke="{KINDS.get(kind, KEPT)[1]}"{"" if kind in KINDS else DASHES}/>'


def legend():
    for n, (label, colour) in enumerate([*KINDS.values(), KEPT]):
        left, top = LEFT + n % 2 * WIDTH, HEIGHT + 8 + n // 2 * 20
        yield f'<path d="M{left} {top}h22" stroke="{colour}" stroke-width="2.5"{DASHES if n == len(KINDS) else ""}/>'
        yield f'<text x="{left + 28}" y="{top + 4}">{escape(label)}</text>'


def page(found):
    height = HEIGHT + 10 + 20 * (len(KINDS) // 2 + 1)
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * WIDTH} {height}" font-family="sans-serif" '
           'font-size="11" fill="#555">')
    yield ('<style>polyline { fill: none; stroke-width: 2; stroke-linejoin: round; } '
           '.grid { stroke: #ddd; } .title { font-size: 13px; fill: #222; }</style><rect width="100%" height="100%" fill="#fff"/>')
    time, memory = ({kind: {length: row[n] for length, row in curve.items()} for kind, curve in found.items()}
                    for n in (0, 1))
    memory["kept"] = {length: 4 * length * 8192 * 4 / 1e6 for length in memory["BM_self_attention/all"]}
    yield from chart(time, "Milliseconds for 8,192 tokens, against the length of a sentence", 0)
    yield from chart(memory, "Megabytes for them", WIDTH)
    yield from legend()
    yield "</svg>"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="layers.json")
    print("\n".join(page(read(parser.parse_args().files))))
