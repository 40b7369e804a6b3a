from __future__ import annotations

import asyncio
import atexit
import os
import sys
import weakref
from collections import deque
from typing import (
    TYPE_CHECKING,
    Any,
    AsyncIterator,
    Callable,
    Iterable,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Sequence,
    TypedDict,
    Union,
    overload,
)

from . import _dragoman
from ._arguments import (
    Path,
    file_name,
    file_names,
    iterable,
    languages,
    list_of,
    number,
    plain,
    shown,
    terms_of,
    text_of,
    texts_of,
    truth_value,
    whole_number,
)
from ._dragoman import Translation
from ._error import Error
from ._log import log

if TYPE_CHECKING:
    from typing_extensions import Unpack
elif sys.version_info >= (3, 11):
    from typing import Unpack
else:  # so that annotations can be evaluated

    class Unpack:
        def __class_getitem__(cls, keywords: Any) -> Any:
            return keywords


Result = Union[str, List[Translation]]  # with n_best: that many translations, best first


class SearchKeywords(TypedDict, total=False):
    """How to translate: the options of ``dragoman translate`` with these names, and their defaults.

    ``glossary`` has terms and their translations: ``{"night train": "Nachtzug"}``. Those of the translator's file count
    too, unless they are among these. ``avoid`` has phrases that must not occur, besides those of the translator's file:
    ``["Hund", "New York"]``. ``alignment`` fills in ``words`` of each ``Translation``. Sampling draws by ``seed`` and the
    index of the line among those of the call. ``n_best`` is not here, since it decides what a result is.
    """

    beam_size: int
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
    glossary: Mapping[str, str] | None
    avoid: Iterable[str] | None
    alignment: bool


class _How(NamedTuple):
    """``SearchKeywords`` as the library takes them."""

    options: _dragoman.SearchOptions
    glossary: _dragoman.Glossary | None
    avoid: _dragoman.ForbiddenPhrases | None
    alignment: bool


class Translator:
    """Translates lines of text. May be used from several threads at once; their lines are translated side by side.

    A line break within a line is read as a blank: split a text of several lines, or they become one sentence.
    ``model`` is a file, or several whose predictions are combined. Messages go to ``logging.getLogger("dragoman")``.
    """

    def __init__(
        self,
        model: Path | Iterable[Path],
        *,
        device: str = "cpu",
        threads: int = 0,
        precision: str = "auto",
        weights: Iterable[float] = (),
        ensemble_mean: str = "auto",
        glossary: Path | None = None,
        avoid: Path | None = None,
        shortlist: Path | None = None,
        vocabs: Iterable[Path] = (),
        source_lang: str | None = None,
        target_lang: str | None = None,
        max_length: int = 1000,
    ) -> None:
        models = [model] if isinstance(model, (str, bytes, os.PathLike)) else model
        self._translator = _dragoman.Translator(
            models=file_names(models, "model"),
            weights=[number(weight, "weights") for weight in list_of(weights, "weights", "numbers")],
            ensemble_mean=text_of(ensemble_mean, "ensemble_mean"),
            precision=text_of(precision, "precision"),
            glossary=file_name(glossary, "glossary") if glossary is not None else b"",
            avoid=file_name(avoid, "avoid") if avoid is not None else b"",
            shortlist=file_name(shortlist, "shortlist") if shortlist is not None else b"",
            vocabs=file_names(vocabs, "vocabs"),
            max_length=whole_number(max_length, "max_length"),
            device=text_of(device, "device"),
            threads=whole_number(threads, "threads"),
            log=log,
            **languages(source_lang, target_lang),
        )
        _alive.add(self)

    # A str is also an iterable of str: the first matching overload counts.
    @overload
    def translate(
        self, lines: str, *, prefix: str = ..., **search: Unpack[SearchKeywords]
    ) -> str: ...

    @overload
    def translate(  # type: ignore[overload-overlap]
        self, lines: str, *, n_best: int, prefix: str = ..., **search: Unpack[SearchKeywords]
    ) -> list[Translation]: ...

    @overload
    def translate(
        self, lines: list[str] | tuple[str, ...], *, read_ahead: int = ..., **search: Unpack[SearchKeywords]
    ) -> list[str]: ...

    @overload
    def translate(
        self,
        lines: list[str] | tuple[str, ...],
        *,
        n_best: int,
        read_ahead: int = ...,
        **search: Unpack[SearchKeywords],
    ) -> list[list[Translation]]: ...

    @overload
    def translate(
        self, lines: Iterator[str], *, read_ahead: int = ..., **search: Unpack[SearchKeywords]
    ) -> Iterator[str]: ...

    @overload
    def translate(
        self, lines: Iterator[str], *, n_best: int, read_ahead: int = ..., **search: Unpack[SearchKeywords]
    ) -> Iterator[list[Translation]]: ...

    @overload  # which may be a list
    def translate(
        self, lines: Iterable[str], *, read_ahead: int = ..., **search: Unpack[SearchKeywords]
    ) -> Iterable[str]: ...

    @overload
    def translate(
        self, lines: Iterable[str], *, n_best: int, read_ahead: int = ..., **search: Unpack[SearchKeywords]
    ) -> Iterable[list[Translation]]: ...

    def translate(
        self,
        lines: Iterable[str],
        *,
        n_best: int = 0,
        prefix: str = "",
        read_ahead: int = 10_000,
        **search: Unpack[SearchKeywords],
    ) -> Any:
        """Translates a line, a list of lines (to a list) or any other iterable (to an iterator, as it goes).

        The result of a line is its translation, or with ``n_best`` a list of ``Translation``. An iterator reads
        ``read_ahead`` lines ahead at most, and gives a translation only once the next line or the end of all lines has
        come, unless ``read_ahead`` is 1, as a dialogue needs, whose next line waits for the translation of this one.
        ``prefix`` is how the translation of a single line begins.
        """
        how = self._how(search, n_best)
        if isinstance(lines, (str, bytes)):  # bytes are refused
            return _results(self._submit([lines], prefix, how), how)[0]
        if prefix:
            raise TypeError("prefix is for the translation of one line")
        read_ahead = whole_number(read_ahead, "read_ahead")
        if read_ahead < 1:
            raise ValueError(f"read_ahead is {read_ahead}, expected 1 or more")
        if isinstance(lines, (list, tuple)):
            size = max(1, read_ahead // 2)
            parts: Iterator[Sequence[str]] = (lines[at : at + size] for at in range(0, len(lines), size))
            return list(self._in_order(parts, how, 2))
        return self._in_order(([line] for line in iterable(lines, "lines", "lines")), how, read_ahead)

    def _how(self, search: SearchKeywords, n_best: int = 0) -> _How:
        terms, phrases = search.pop("glossary", None), search.pop("avoid", None)
        alignment = truth_value(search.pop("alignment", False), "alignment")
        if alignment and n_best == 0:
            raise Error("alignment fills in the words of a Translation, which translate gives with n_best, such as 1")
        options = _search_options(search, n_best)
        given = {} if terms is None else terms_of(terms, "glossary")
        avoid = [] if phrases is None else texts_of(phrases, "avoid", "phrases")
        return _How(
            options,
            self._translator.glossary(given) if given else None,
            self._translator.forbidden_phrases(avoid) if avoid else None,
            alignment,
        )

    def _submit(
        self,
        lines: Iterable[str],
        prefix: str,
        how: _How,
        partial: bool = False,
        news: Callable[[], None] | None = None,
        first_line: int = 0,
    ) -> _dragoman.Job:
        return self._translator.submit(
            texts_of(lines, "lines"),
            text_of(prefix, "prefix"),
            how.options,
            partial,
            news,
            how.glossary,
            how.avoid,
            how.alignment,
            first_line,
        )

    def _in_order(self, parts: Iterator[Sequence[str]], how: _How, read_ahead: int) -> Iterator[Result]:
        """Results of the lines of all parts, of which `read_ahead` are under way."""
        jobs: deque[_dragoman.Job] = deque()
        submitted = 0
        try:
            for part in parts:
                jobs.append(self._submit(part, "", how, first_line=submitted))
                submitted += len(part)
                while jobs and (len(jobs) >= read_ahead or jobs[0].done()):
                    yield from _results(jobs[0], how)
                    jobs.popleft()
            while jobs:
                yield from _results(jobs[0], how)
                jobs.popleft()
        finally:
            for job in jobs:
                job.cancel()

    def stream(self, line: str, *, prefix: str = "", **search: Unpack[SearchKeywords]) -> Iterator[str]:
        """What the translation of a line begins with, each time more of it is decided, and at last all of it.

        Each text begins with the one before: greedy search (``beam_size=1``) decides every token at once, a beam as
        soon as all hypotheses that can still win agree. Closing the iterator cancels the translation.
        """
        job = self._submit([line], prefix, self._how(search), True)
        reported: str | None = None
        try:
            while (text := job.partial(True)) is not None:
                yield (reported := text)
            if (whole := job.texts()[0]) != reported:
                yield whole
        finally:
            job.cancel()

    @overload
    async def translate_async(  # type: ignore[overload-overlap]
        self, lines: str, *, prefix: str = ..., **search: Unpack[SearchKeywords]
    ) -> str: ...

    @overload
    async def translate_async(  # type: ignore[overload-overlap]
        self, lines: str, *, n_best: int, prefix: str = ..., **search: Unpack[SearchKeywords]
    ) -> list[Translation]: ...

    @overload
    async def translate_async(self, lines: Iterable[str], **search: Unpack[SearchKeywords]) -> list[str]: ...

    @overload
    async def translate_async(
        self, lines: Iterable[str], *, n_best: int, **search: Unpack[SearchKeywords]
    ) -> list[list[Translation]]: ...

    async def translate_async(
        self, lines: Iterable[str], *, n_best: int = 0, prefix: str = "", **search: Unpack[SearchKeywords]
    ) -> Any:
        """The same for coroutines: a line, or several lines to a list. Cancelling the task cancels the translation."""
        how = self._how(search, n_best)
        if isinstance(lines, (str, bytes)):  # bytes are refused
            return (await self._await([lines], prefix, how))[0]
        if prefix:
            raise TypeError("prefix is for the translation of one line")
        return await self._await(list_of(lines, "lines", "lines"), "", how)

    async def _await(self, lines: list[str], prefix: str, how: _How) -> list[Result]:
        if not lines:
            return []
        news = asyncio.Event()
        job = self._submit(lines, prefix, how, False, _setter(news))
        try:
            await news.wait()
        except BaseException:
            job.cancel()
            raise
        return _results(job, how)

    async def stream_async(
        self, line: str, *, prefix: str = "", **search: Unpack[SearchKeywords]
    ) -> AsyncIterator[str]:
        """The same as ``stream`` for coroutines."""
        news = asyncio.Event()
        job = self._submit([line], prefix, self._how(search), True, _setter(news))
        reported: str | None = None
        try:
            while not job.done():
                await news.wait()
                news.clear()
                if (text := job.partial(False)) is not None:
                    yield (reported := text)
            if (whole := job.texts()[0]) != reported:
                yield whole
        finally:
            job.cancel()

    def close(self) -> None:
        """Cancels what is unfinished and frees the memory of the model. Later calls are errors."""
        self._translator.close()

    def __enter__(self) -> Translator:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _search_options(search: SearchKeywords, n_best: int = 0) -> _dragoman.SearchOptions:
    options = _dragoman.SearchOptions()
    if "n_best" in search:  # which translate() takes itself
        raise TypeError("n_best is for translate: a stream is of the best translation")
    for name in search:
        if name not in SearchKeywords.__annotations__:
            raise TypeError(f"there is no option {shown(name)}, only {', '.join(SearchKeywords.__annotations__)}")
    for name, value in {**search, "n_best": n_best}.items():
        kind = type(getattr(options, name))
        try:
            setattr(options, name, truth_value(value, name) if kind is bool else plain(value))
        except TypeError:  # of pybind11, which does not name the option
            if isinstance(value, int) and kind in (int, float):
                raise Error(f"{name}: {shown(value)} is out of range") from None
            raise TypeError(f"{name} is {shown(value)}, expected {kind.__name__}") from None
    drawn = max(1, options.n_best)
    if options.sampling and search.get("beam_size", drawn) != drawn:
        raise Error(f"beam_size {options.beam_size} contradicts sampling, which draws n_best translations")
    _dragoman.require_effective(options, list(search))
    return options


def _results(job: _dragoman.Job, how: _How) -> list[Result]:
    return list(job.result() if how.options.n_best > 0 else job.texts())


def _setter(event: asyncio.Event) -> Callable[[], None]:
    """Sets it from the translator's thread."""
    loop = asyncio.get_running_loop()

    def set_it() -> None:
        try:
            loop.call_soon_threadsafe(event.set)
        except RuntimeError:  # the loop is closed: nobody waits any more
            pass

    return set_it


# A thread that calls back must not meet an interpreter that is already ending.
_alive: weakref.WeakSet[Translator] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for translator in list(_alive):
        translator._translator.close_at_exit()
