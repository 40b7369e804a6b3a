from __future__ import annotations

from dataclasses import dataclass
from typing import Iterable

from . import _dragoman
from ._arguments import Path, file_name, file_names, languages, number, text_of, whole_number
from ._error import Error
from ._log import log


def convert(
    input: Path,
    output: Path,
    *,
    format: str = "dragoman",
    vocabs: Iterable[Path] = (),
    source_lang: str | None = None,
    target_lang: str | None = None,
) -> None:
    """Converts a model of another program to dragoman's file, or a dragoman model for another program.

    ``format``, that of the output, is dragoman, ctranslate2, huggingface, marian or onnx; all but the first are
    folders. ``vocabs`` are those of source and target, by default the ones named beside the model.
    """
    _dragoman.convert(
        input=file_name(input, "input"),
        output=file_name(output, "output"),
        format=text_of(format, "format"),
        vocabs=file_names(vocabs, "vocabs"),
        log=log,
        **languages(source_lang, target_lang),
    )


def average(models: Iterable[Path], output: Path, *, vocabs: Iterable[Path] = (), threads: int = 0) -> None:
    """Saves the mean of the weights of models of one configuration, such as the checkpoints of a run."""
    _dragoman.average(
        models=file_names(models, "models"),
        output=file_name(output, "output"),
        vocabs=file_names(vocabs, "vocabs"),
        threads=whole_number(threads, "threads"),
        log=log,
    )


@dataclass(frozen=True)
class TranslationQuality:
    """BLEU and chrF of translations, 0 to 100."""

    bleu: float
    chrf: float


@dataclass(frozen=True)
class QuantizeResult:
    """Sizes of the files and, with ``valid_sets``, the quality of translations before and after."""

    bytes_before: int
    bytes_after: int
    float32: TranslationQuality | None
    int8: TranslationQuality | None


def quantize(
    model: Path,
    output: Path,
    *,
    valid_sets: Iterable[Path] = (),
    gate: float = 100,
    beam_size: int = 5,
    tokenize: str = "13a",
    vocabs: Iterable[Path] = (),
    source_lang: str | None = None,
    target_lang: str | None = None,
    device: str = "cpu",
    threads: int = 0,
) -> QuantizeResult:
    """Writes the model with its matrices in 8 bits, as ``dragoman quantize`` does.

    With ``valid_sets``, a source and a target file, the quality of both models is measured, with ``beam_size`` and, for
    BLEU, ``tokenize``; if BLEU falls by more than ``gate``, that is an error and nothing is written.
    """
    sets = file_names(valid_sets, "valid_sets")
    for name, changed in (("gate", gate != 100), ("beam_size", beam_size != 5), ("tokenize", tokenize != "13a")):
        if changed and not sets:
            raise Error(f"{name} needs valid_sets: BLEU is measured on them", "give a source and a target file")
    before, after, float32, int8 = _dragoman.quantize(
        model=file_name(model, "model"),
        output=file_name(output, "output"),
        valid_sets=sets,
        gate=number(gate, "gate"),
        beam_size=whole_number(beam_size, "beam_size"),
        tokenize=text_of(tokenize, "tokenize"),
        vocabs=file_names(vocabs, "vocabs"),
        device=text_of(device, "device"),
        threads=whole_number(threads, "threads"),
        log=log,
        **languages(source_lang, target_lang),
    )
    return QuantizeResult(before, after, _quality(float32), _quality(int8))


def _quality(found: tuple[float, float] | None) -> TranslationQuality | None:
    return TranslationQuality(*found) if found is not None else None
