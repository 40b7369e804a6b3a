from __future__ import annotations

from typing import Sequence, cast

from . import _dragoman
from ._dragoman import MetricScore
from ._machine import log
from ._text import texts_of


def evaluate(
    hypotheses: Sequence[str],
    references: Sequence[str] | Sequence[Sequence[str]],
    *,
    metrics: Sequence[str] = ("bleu", "chrf"),
    tokenize: str = "13a",
    lowercase: bool = False,
    confidence: bool = False,
    threads: int = 0,
) -> dict[str, MetricScore]:
    """Scores translations as ``dragoman evaluate`` does, by the name of the metric.

    ``references`` are as many lines as hypotheses, or several such lists. ``metrics`` are of bleu, chrf, chrf++, ter,
    rouge (which gives rouge1, rouge2 and rougeL), exact and evalb; ``tokenize`` is for BLEU: 13a, intl, char or none.
    """
    if isinstance(hypotheses, str) or isinstance(references, str):
        raise TypeError("hypotheses and references are lists of lines")
    one = all(isinstance(line, str) for line in references)
    lists = cast("Sequence[Sequence[str]]", [references] if one else references)
    scores = _dragoman.evaluate(
        hypotheses=texts_of(hypotheses, "hypotheses"),
        references=[texts_of(lines, "references") for lines in lists],
        metrics=list(metrics),
        tokenize=tokenize,
        lowercase=lowercase,
        confidence=confidence,
        threads=threads,
        log=log,
    )
    return {score.name: score for score in scores}
