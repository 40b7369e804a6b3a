from __future__ import annotations

import os
from typing import Sequence

from . import _dragoman
from ._dragoman import ScoredPair
from ._machine import Path, languages, log
from ._text import texts_of

_pairs_at_once = 256  # between these, Ctrl-C is seen


class Scorer:
    """Scores pairs of lines: log p(target | source). May be used from several threads at once, which take turns."""

    def __init__(
        self,
        model: Path,
        *,
        device: str = "cpu",
        threads: int = 0,
        mini_batch_words: int = 4096,
        max_length: int = 10_000,
        vocabs: Sequence[Path] = (),
        source_lang: str | None = None,
        target_lang: str | None = None,
    ) -> None:
        self._scorer = _dragoman.Scorer(
            model=os.fspath(model),
            mini_batch_words=mini_batch_words,
            max_length=max_length,
            vocabs=[os.fspath(path) for path in vocabs],
            device=device,
            threads=threads,
            log=log,
            **languages(source_lang, target_lang),
        )

    def score(self, sources: Sequence[str], targets: Sequence[str]) -> list[ScoredPair]:
        """The scores of the pairs, in their order; each depends on its pair alone. Many at once are faster."""
        if isinstance(sources, str) or isinstance(targets, str):
            raise TypeError("sources and targets are lists of lines")
        if len(sources) != len(targets):
            raise ValueError(f"there are {len(sources)} sources and {len(targets)} targets, expected equal numbers")
        scored: list[ScoredPair] = []
        for at in range(0, len(sources), _pairs_at_once):
            here = slice(at, at + _pairs_at_once)
            scored += self._scorer.score(texts_of(sources[here], "sources"), texts_of(targets[here], "targets"))
        return scored
