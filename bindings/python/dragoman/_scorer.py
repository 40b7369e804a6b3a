from __future__ import annotations

from typing import Iterable

from . import _dragoman
from ._arguments import Path, file_name, file_names, languages, text_of, texts_of, whole_number
from ._dragoman import ScoredPair
from ._log import log

# Between blocks of these sizes, Ctrl-C is seen. So many characters on both sides are about a mini-batch.
_pairs_at_once = 256
_characters_at_once = 40_000


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
        vocabs: Iterable[Path] = (),
        source_lang: str | None = None,
        target_lang: str | None = None,
    ) -> None:
        self._scorer = _dragoman.Scorer(
            model=file_name(model, "model"),
            mini_batch_words=whole_number(mini_batch_words, "mini_batch_words", bits=64),
            max_length=whole_number(max_length, "max_length"),
            vocabs=file_names(vocabs, "vocabs"),
            device=text_of(device, "device"),
            threads=whole_number(threads, "threads"),
            log=log,
            **languages(source_lang, target_lang),
        )

    def score(self, sources: Iterable[str], targets: Iterable[str]) -> list[ScoredPair]:
        """The scores of the pairs, in their order; each depends on its pair alone. Many at once are faster."""
        sources, targets = texts_of(sources, "sources"), texts_of(targets, "targets")
        if len(sources) != len(targets):
            raise ValueError(f"there are {len(sources)} sources and {len(targets)} targets, expected equal numbers")
        scored: list[ScoredPair] = []
        begin = characters = 0
        for end, (source, target) in enumerate(zip(sources, targets), 1):
            characters += len(source) + len(target)
            if characters >= _characters_at_once or end - begin == _pairs_at_once or end == len(sources):
                scored += self._scorer.score(sources[begin:end], targets[begin:end], begin)
                begin, characters = end, 0
        return scored

    def close(self) -> None:
        """Frees the memory of the model, once other threads have their scores. Later calls are errors."""
        self._scorer.close()

    def __enter__(self) -> Scorer:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
