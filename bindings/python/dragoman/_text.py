"""Text as the library takes it."""

from __future__ import annotations

import re
from typing import Iterable

_surrogates = re.compile("[\ud800-\udfff]")


def text_of(text: str, argument: str) -> str:
    """Replaces surrogates by U+FFFD, as the library does with what is not valid UTF-8."""
    if not isinstance(text, str):
        raise TypeError(f"{argument}: expected str, found {text!r} of type {type(text).__name__}")
    return text if text.isascii() else _surrogates.sub("\ufffd", text)


def texts_of(texts: Iterable[str], argument: str) -> list[str]:
    return [text_of(text, argument) for text in texts]
