"""The table: what dragoman reaches, what a peer reaches at its best setting, and the ratio."""
import statistics

from samples import BLEU


def header(peer):
    return f"| | dragoman | {peer} | its setting | dragoman : {peer} |\n|---|---:|---:|---|---|"


def ratio(ours, theirs):
    """Median of the ratios of rounds, and between what they lie."""
    ratios = [a / b for a, b in zip(ours, theirs)]
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})"


def row(label, measure, ours, theirs):
    show = lambda values: measure.show(statistics.median(values)) if values else "–"
    _, mine = ours.best(measure)
    setting, others = theirs.best(measure)
    comparable = mine and others and measure is not BLEU
    return [f"{label}, {measure.name}", show(mine), show(others), setting, ratio(mine, others) if comparable else ""]


def rows(label, ours, theirs):
    """Samples of dragoman and of the peer; either may have none."""
    measures = ours.measures() or theirs.measures()
    return "\n".join("| " + " | ".join(row(label, measure, ours, theirs)) + " |" for measure in measures)
