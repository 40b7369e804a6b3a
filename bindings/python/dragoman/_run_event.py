"""The events of a training run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RunEvent:
    """What all events have: the position of the run.

    ``seconds`` counts from the beginning of this call, ``target_tokens`` over all epochs.
    """

    seconds: float
    epoch: int
    updates: int
    epoch_sentences: int
    target_tokens: int


@dataclass(frozen=True)
class RunStarted(RunEvent):
    """Training begins, or continues the run of an earlier call (``resumes``)."""

    model: str
    parameters: int
    resumes: bool


@dataclass(frozen=True)
class RunReport(RunEvent):
    """Every ``disp_freq``: what training did since the last report.

    ``cost`` is the label-smoothed cross-entropy (base e), mean over target tokens; ``alignment_cost``, with
    ``guided_alignment``, that of its links, mean over linked target tokens. ``elapsed`` are seconds since the last
    report, ``words_per_second`` target tokens. ``gradient_norm`` is that of the last update, before clipping.
    ``fraction_done`` of the way to the nearest end is done (0 to 1), ``remaining`` are the seconds left; None: unknown.
    """

    cost: float
    alignment_cost: float | None
    elapsed: float
    words_per_second: float
    learning_rate: float
    gradient_norm: float
    fraction_done: float | None
    remaining: float | None


@dataclass(frozen=True)
class RunFigure:
    """A metric of a validation: ``better`` than all earlier ones?

    ``best`` is the best of earlier validations, if any; ``stalled`` counts validations in a row without improvement.
    """

    metric: str
    value: float
    better: bool
    best: float | None
    stalled: int


@dataclass(frozen=True)
class RunValidation(RunEvent):
    """A validation: one figure per metric, except scripts that printed none.

    ``stalled`` counts validations in a row without improvement, by ``early_stopping_on``. One that was ``requested``
    by a signal does not count.
    """

    figures: tuple[RunFigure, ...]
    stalled: int
    requested: bool


@dataclass(frozen=True)
class RunSave(RunEvent):
    """The model was saved, or not: ``failure`` says why."""

    model: str
    failure: str | None


@dataclass(frozen=True)
class RunSkip(RunEvent):
    """An update was skipped because its loss or gradient is not finite.

    ``consecutive`` and ``total`` count such updates; ``first_nonfinite`` is the first tensor that is not finite, if
    known.
    """

    consecutive: int
    total: int
    first_nonfinite: str | None


@dataclass(frozen=True)
class RunRollback(RunEvent):
    """After too many skipped updates in a row, the run has returned to its last checkpoint, with a lower rate.

    The position is that of the checkpoint.
    """

    from_update: int
    rate_factor: float
    first_nonfinite: str | None


@dataclass(frozen=True)
class RunDecay(RunEvent):
    """The learning rate has been multiplied by ``lr_decay``.

    ``learning_rate`` holds from now on, apart from the schedule; ``factor`` is of this decay, ``rate_factor`` of all
    decays and rollbacks so far.
    """

    learning_rate: float
    factor: float
    rate_factor: float
    reason: str


@dataclass(frozen=True)
class RunEnd(RunEvent):
    """Training has ended; ``reason`` is as in ``TrainResult``."""

    reason: str
    epochs: float
    stalled: int
