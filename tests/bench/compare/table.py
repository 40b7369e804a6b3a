"""The table: figures of dragoman, figures of a peer with its best setting, and their ratio."""
import statistics

from samples import BLEU


def header(peer):
    return f"| | dragoman | {peer} | its setting | dragoman : {peer} |\n|---|---:|---:|---|---|"


def ratio(ours, theirs):
    """Median of the ratios of all rounds, and their range."""
    ratios = [a / b for a, b in zip(ours, theirs)]
    return f"{statistics.median(ratios):.3f} ({min(ratios):.3f}–{max(ratios):.3f})"


def row(label, measure, ours, theirs):
    show = lambda values: measure.show(statistics.median(values)) if values else "–"
    _, mine = ours.best(measure)
    setting, others = theirs.best(measure)
    comparable = mine and others and measure is not BLEU
    return [f"{label}, {measure.name}", show(mine), show(others), setting, ratio(mine, others) if comparable else ""]


def medians(samples, measure):
    return {setting: statistics.median(values[measure])
            for setting, values in samples.settings.items() if measure in values}


def described(label, ours, theirs):
    """The same rows as JSON values, with the figures of all settings."""
    for measure in ours.measures() or theirs.measures():
        pairs = list(zip(ours.best(measure)[1], theirs.best(measure)[1]))
        yield {"label": label, "measure": measure.name, "dragoman": medians(ours, measure),
               "peer": medians(theirs, measure), "ratio": statistics.median(a / b for a, b in pairs) if pairs else None}


def rows(label, ours, theirs):
    """From the Samples of dragoman and of the peer; either may be empty."""
    measures = ours.measures() or theirs.measures()
    return "\n".join("| " + " | ".join(row(label, measure, ours, theirs)) + " |" for measure in measures)
