from __future__ import annotations

import atexit
import operator
import os
import signal
from dataclasses import dataclass
from typing import Callable, Iterable, SupportsFloat, SupportsIndex, Union

from . import _dragoman
from ._arguments import file_name, list_of, plain, shown, text_of, truth_value, whole_number
from ._error import Error
from ._log import log
from ._run_event import RunEvent

_Word = Union[str, bytes, os.PathLike[str], os.PathLike[bytes], SupportsIndex, SupportsFloat]
TrainOption = Union[_Word, Iterable[_Word], None]


class StopTraining(Exception):
    """Raised by ``on_event`` to end training after the current update, with the model saved."""


@dataclass(frozen=True)
class TrainResult:
    """What ``train`` did.

    ``reason`` is ``after``, ``early-stopping``, ``end-of-text`` (of a stream) or ``signal`` (it was stopped).
    ``updates`` and ``epochs`` are of the model, with those of earlier calls.
    """

    reason: str
    updates: int
    epochs: float


def train(
    *,
    device: str = "cpu",
    threads: int = 0,
    fast_math: bool = False,
    on_event: Callable[[RunEvent], object] | None = None,
    **options: TrainOption,
) -> TrainResult:
    """Trains a model as ``dragoman train`` does, and saves it. The same call again resumes where this one stopped.

    ``options`` are those of the command, with underscores for hyphens: ``train_sets=["a.en", "a.de"]``,
    ``after="20e"``, ``tied_embeddings_all=True``. A value is a text, number, truth value or file name, or a list of
    these; True also stands for an option without a value, and None for one that is not given. ``device``, ``threads``
    and ``fast_math`` replace the options ``--devices``, ``--cpu-threads`` and ``--fast-math``.

    ``on_event`` is called in this thread with each event of the run, which waits for it. It may raise
    ``StopTraining``, which ends training with the model saved; any other exception ends it at once, without another
    save, and is raised here. Ctrl-C ends training after the current update with the model saved, and then raises
    ``KeyboardInterrupt``. A second Ctrl-C raises it at once, while that update continues, and so does the first before
    ``RunStarted``, when there is no model yet. Other Python threads run meanwhile, and may train other models.
    """
    if on_event is not None and not callable(on_event):
        raise TypeError(f"on_event: expected a function, found {shown(on_event)} of type {type(on_event).__name__}")
    for name in options:
        if hint := _elsewhere.get(name.replace("-", "_")):
            raise Error(f"train has no option {name}", hint)
    run = _dragoman.TrainingRun(
        options=[(text_of(name, "options"), _words(v, name)) for name, v in options.items() if v is not None],
        device=text_of(device, "device"),
        threads=whole_number(threads, "threads"),
        fast_math=truth_value(fast_math, "fast_math"),
        log=log,
    )
    _alive.add(run)
    try:
        return TrainResult(*run.finish(on_event, log))
    finally:
        _alive.difference_update([run for run in list(_alive) if run.ended()])


_elsewhere = {
    "devices": "it is called device here",
    "cpu_threads": "it is called threads here",
    "fast_math": "it is a keyword, fast_math, here",
    "config": "read the file in Python: train(**yaml.safe_load(open(FILE)))",
    "dump_config": "only the command line has it",
    "help": "help(dragoman.train) says what it takes, docs/options.md what the options are",
    "short_help": "help(dragoman.train) says what it takes, docs/options.md what the options are",
    "quiet": 'messages go to logging.getLogger("dragoman")',
}


def _words(value: TrainOption, argument: str) -> list[bytes] | None:
    """A value as words of a command line. None: True, which may stand for an option without a value."""
    value = plain(value)
    if value is True:
        return None
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes, os.PathLike, dict, set, frozenset)):
        return [_word(element, argument) for element in list_of(value, argument, "values")]
    return [_word(value, argument)]


def _word(value: object, argument: str) -> bytes:
    value = plain(value)
    if isinstance(value, bool):
        return b"true" if value else b"false"
    if isinstance(value, (str, bytes, os.PathLike)):
        return file_name(value, argument)
    if isinstance(value, SupportsIndex):
        return str(whole_number(operator.index(value), argument, bits=65)).encode()
    if isinstance(value, SupportsFloat):
        return repr(float(value)).encode()
    found = f"found {shown(value)} of type {type(value).__name__}"
    raise TypeError(f"{argument}: expected a text, number, truth value, file name or list of these, {found}")


# Runs of daemon threads, and those that train() left at Ctrl-C. They must not meet the end of the process.
_alive: set[_dragoman.TrainingRun] = set()


@atexit.register
def _close_all() -> None:
    for run in list(_alive):
        try:
            run.close()
        except KeyboardInterrupt:
            os._exit(128 + signal.SIGINT)
