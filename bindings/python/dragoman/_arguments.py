"""Arguments as the library takes them. Errors name the argument, where pybind11's would show all of them."""

from __future__ import annotations

import operator
import os
import re
import reprlib
from typing import Any, Iterable, List, Mapping, TypeVar, Union

from ._error import Error

Path = Union[str, bytes, os.PathLike[str], os.PathLike[bytes]]
T = TypeVar("T")

_surrogates = re.compile("[\ud800-\udfff]")
_short = reprlib.Repr()
_short.maxstring = _short.maxother = _short.maxlong = 100


def shown(value: object) -> str:
    """A value in a message, shortened if it is long."""
    try:
        text = _short.repr(value)
    except ValueError:  # an int of more digits than Python writes
        return f"a long {type(value).__name__}"
    return text if len(text) <= 200 else text[:200] + "…"


def text_of(text: str, argument: str) -> str:
    """Replaces surrogates by U+FFFD, as the library does with what is not valid UTF-8."""
    if not isinstance(text, str):
        raise TypeError(f"{argument}: expected str, found {shown(text)} of type {type(text).__name__}")
    return text if text.isascii() else _surrogates.sub("\ufffd", text)


def texts_of(texts: Iterable[str], argument: str, kind: str = "lines") -> list[str]:
    return [text_of(text, argument) for text in list_of(texts, argument, kind)]


def terms_of(terms: Mapping[str, str], argument: str) -> dict[str, str]:
    if not isinstance(terms, Mapping):
        found = f"found {shown(terms)} of type {type(terms).__name__}"
        raise TypeError(f"{argument}: expected a dict of terms and their translations, {found}")
    return {text_of(term, argument): text_of(translation, argument) for term, translation in terms.items()}


def iterable(values: Iterable[T], argument: str, kind: str) -> Iterable[T]:
    """Any iterable, except a text or a file name, which is one value."""
    if isinstance(values, (str, bytes, os.PathLike)) or not isinstance(values, Iterable):
        raise TypeError(f"{argument}: expected a list of {kind}, found {shown(values)} of type {type(values).__name__}")
    return values


def list_of(values: Iterable[T], argument: str, kind: str) -> List[T]:
    return list(iterable(values, argument, kind))


def file_name(path: Path, argument: str) -> bytes:
    """The name as the file system has it, which need not be UTF-8."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise TypeError(f"{argument}: expected a file name, found {shown(path)} of type {type(path).__name__}")
    try:
        name = os.fsencode(path)
    except UnicodeEncodeError as error:
        raise ValueError(f"{argument}: {shown(path)} is not a file name: {error.reason}") from None
    if b"\0" in name:
        raise ValueError(f"{argument}: {shown(path)} is not a file name: it contains a null character")
    return name


def file_names(paths: Iterable[Path], argument: str) -> list[bytes]:
    return [file_name(path, argument) for path in list_of(paths, argument, "file names")]


def plain(value: Any) -> Any:
    """Python's own value in place of a scalar or an array without dimensions, of numpy and the like."""
    if getattr(value, "shape", None) == () and callable(getattr(value, "item", None)):
        return value.item()
    return value


def whole_number(value: int, argument: str, bits: int = 32) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{argument} is {shown(value)}, expected int") from None
    if number.bit_length() >= bits:
        raise Error(f"{argument}: {shown(number)} is out of range")
    return number


def whole_numbers(values: Iterable[int], argument: str) -> list[int]:
    return [whole_number(value, argument) for value in list_of(values, argument, "numbers")]


def number(value: float, argument: str) -> float:
    try:
        if not isinstance(value, (str, bytes)):
            return float(value)
    except (TypeError, ValueError):
        pass
    except OverflowError:
        raise Error(f"{argument}: {shown(value)} is out of range") from None
    raise TypeError(f"{argument}: expected numbers, found {shown(value)} of type {type(value).__name__}")


def truth_value(value: object, argument: str) -> bool:
    if not isinstance(truth := plain(value), int) or truth not in (0, 1):
        raise TypeError(f"{argument} is {shown(value)}, expected bool")
    return bool(truth)


def languages(source_lang: str | None, target_lang: str | None) -> dict[str, str]:
    return {
        "source_lang": text_of(source_lang or "", "source_lang"),
        "target_lang": text_of(target_lang or "", "target_lang"),
    }
