from typing import Callable, Iterable, Optional, Sequence

from ._arguments import Path
from ._run_event import RunEvent

__version__: str

class Vocabulary:
    """Converts text to ids of pieces and back."""

    def __init__(self, path: Path) -> None: ...
    def encode(self, line: str) -> list[int]: ...
    def encode_pieces(self, line: str) -> list[str]: ...
    def decode(self, ids: Iterable[int]) -> str: ...
    def decode_pieces(self, pieces: Iterable[str]) -> str: ...
    def piece(self, id: int) -> str: ...
    def __len__(self) -> int: ...
    @property
    def unk_id(self) -> int: ...
    @property
    def bos_id(self) -> int: ...
    @property
    def eos_id(self) -> int: ...
    @property
    def pad_id(self) -> int: ...

class SearchOptions:
    def __init__(self) -> None: ...
    beam_size: int
    n_best: int
    rule: str
    normalize: float
    length_penalty: float
    word_penalty: float
    max_length_add: int
    max_length_factor: float
    min_length: int
    min_length_factor: float
    no_repeat_ngram: int
    allow_unk: bool
    sampling: str
    sampling_pieces: int
    sampling_mass: float
    temperature: float
    seed: int

def require_effective(options: SearchOptions, given: Sequence[str]) -> None: ...

class Translation:
    """A translation of a text."""

    @property
    def text(self) -> str: ...
    @property
    def log_prob(self) -> float: ...
    @property
    def score(self) -> float: ...
    @property
    def token_log_probs(self) -> list[float]: ...
    @property
    def pieces(self) -> list[str]: ...
    @property
    def words(self) -> list[tuple[int, int, int, int]]:
        """Linked words, if ``alignment`` was requested: (begin, end) of the line and (begin, end) of ``text``."""

class Job:
    """Lines that are translated."""

    def done(self) -> bool: ...
    def result(self) -> list[list[Translation]]: ...
    def texts(self) -> list[str]: ...
    def partial(self, wait: bool) -> Optional[str]: ...
    def cancel(self) -> None: ...

class ForbiddenPhrases:
    """Phrases that a translator avoids."""

class Glossary:
    """Terms of a translator."""

class Translator:
    def __init__(
        self,
        *,
        models: Sequence[bytes],
        weights: Sequence[float],
        ensemble_mean: str,
        precision: str,
        glossary: bytes,
        avoid: bytes,
        shortlist: bytes,
        vocabs: Sequence[bytes],
        source_lang: str,
        target_lang: str,
        max_length: int,
        device: str,
        threads: int,
        log: Callable[[bool, str], None],
    ) -> None: ...
    def glossary(self, terms: dict[str, str]) -> Glossary: ...
    def forbidden_phrases(self, phrases: Sequence[str]) -> ForbiddenPhrases: ...
    def submit(
        self,
        lines: Sequence[str],
        prefix: str,
        search: SearchOptions,
        partial: bool = False,
        news: Optional[Callable[[], None]] = None,
        glossary: Optional[Glossary] = None,
        avoid: Optional[ForbiddenPhrases] = None,
        alignment: bool = False,
        first_line: int = 0,
    ) -> Job: ...
    def close(self) -> None: ...
    def close_at_exit(self) -> None: ...

class ScoredPair:
    """The scores of a pair of lines."""

    @property
    def log_prob(self) -> float: ...
    @property
    def token_log_probs(self) -> list[float]: ...

class Scorer:
    def __init__(
        self,
        *,
        model: bytes,
        mini_batch_words: int,
        max_length: int,
        vocabs: Sequence[bytes],
        source_lang: str,
        target_lang: str,
        device: str,
        threads: int,
        log: Callable[[bool, str], None],
    ) -> None: ...
    def score(self, sources: Sequence[str], targets: Sequence[str], pairs_before: int) -> list[ScoredPair]: ...
    def close(self) -> None: ...

class MetricScore:
    """A metric of a text."""

    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def score(self) -> float: ...
    @property
    def interval(self) -> Optional[tuple[float, float]]: ...
    @property
    def signature(self) -> str: ...
    def __float__(self) -> float: ...

def evaluate(
    *,
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    metrics: Sequence[str],
    tokenize: str,
    tokenize_model: bytes,
    lowercase: bool,
    confidence: bool,
    threads: int,
    log: Callable[[bool, str], None],
) -> list[MetricScore]: ...

class FileTensor:
    @property
    def name(self) -> str: ...
    @property
    def dtype(self) -> str: ...
    @property
    def shape(self) -> list[int]: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...

class ModelFile:
    def __init__(self, path: bytes, *, vocabs: Sequence[bytes], source_lang: str, target_lang: str) -> None: ...
    @property
    def config_json(self) -> str: ...
    @property
    def source_vocabulary(self) -> Vocabulary: ...
    @property
    def target_vocabulary(self) -> Vocabulary: ...
    def weights(self) -> list[FileTensor]: ...

class TrainingRun:
    """A run that trains in a thread of its own."""

    def __init__(
        self,
        *,
        options: Sequence[tuple[str, Optional[Sequence[bytes]]]],
        device: str,
        threads: int,
        fast_math: bool,
        log: Callable[[bool, str], None],
    ) -> None: ...
    def finish(
        self, on_event: Optional[Callable[[RunEvent], object]], log: Callable[[bool, str], None]
    ) -> tuple[str, int, float]: ...
    def ended(self) -> bool: ...
    def close(self) -> None: ...

def convert(
    *,
    input: bytes,
    output: bytes,
    format: str,
    vocabs: Sequence[bytes],
    source_lang: str,
    target_lang: str,
    log: Callable[[bool, str], None],
) -> None: ...
def average(
    *, models: Sequence[bytes], output: bytes, vocabs: Sequence[bytes], threads: int, log: Callable[[bool, str], None]
) -> None: ...
def quantize(
    *,
    model: bytes,
    output: bytes,
    valid_sets: Sequence[bytes],
    gate: float,
    beam_size: int,
    tokenize: str,
    vocabs: Sequence[bytes],
    source_lang: str,
    target_lang: str,
    device: str,
    threads: int,
    log: Callable[[bool, str], None],
) -> tuple[int, int, Optional[tuple[float, float]], Optional[tuple[float, float]]]: ...
