from __future__ import annotations

from typing import Iterable, cast

from . import _dragoman
from ._arguments import Path, file_name, list_of, text_of, texts_of, truth_value, whole_number
from ._dragoman import MetricScore
from ._log import log


def evaluate(
    hypotheses: Iterable[str],
    references: Iterable[str] | Iterable[Iterable[str]],
    *,
    metrics: Iterable[str] = ("bleu", "chrf"),
    tokenize: str = "13a",
    tokenize_model: Path | None = None,
    lowercase: bool = False,
    confidence: bool = False,
    threads: int = 0,
) -> dict[str, MetricScore]:
    """Scores translations as ``dragoman evaluate`` does, by the name of the metric.

    ``references`` are as many lines as hypotheses, or several such lists. ``metrics`` are of bleu, chrf, chrf++, ter,
    rouge (which gives rouge1, rouge2 and rougeL), exact and evalb; ``tokenize`` is for BLEU: 13a, intl, zh, char, none
    or, with a SentencePiece model as ``tokenize_model``, spm. Ctrl-C takes effect only when
    all scores are computed; TER of many long lines, or ``confidence``, may take half a minute.
    """
    given = list_of(references, "references", "lines")
    one = all(isinstance(line, str) for line in given)
    lists = cast("list[Iterable[str]]", [given] if one else given)
    scores = _dragoman.evaluate(
        hypotheses=texts_of(hypotheses, "hypotheses"),
        references=[texts_of(lines, "references") for lines in lists],
        metrics=texts_of(metrics, "metrics", "names"),
        tokenize=text_of(tokenize, "tokenize"),
        tokenize_model=file_name(tokenize_model, "tokenize_model") if tokenize_model is not None else b"",
        lowercase=truth_value(lowercase, "lowercase"),
        confidence=truth_value(confidence, "confidence"),
        threads=whole_number(threads, "threads"),
        log=log,
    )
    return {score.name: score for score in scores}
