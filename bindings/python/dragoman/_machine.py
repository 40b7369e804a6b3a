"""The machine options that all classes share."""

from __future__ import annotations

import logging
import os
from typing import Union

Path = Union[str, "os.PathLike[str]"]

_logger = logging.getLogger("dragoman")


def log(warning: bool, message: str) -> None:
    """Sends messages to Python's logging, as ``dragoman``."""
    _logger.log(logging.WARNING if warning else logging.INFO, "%s", message)


def languages(source_lang: str | None, target_lang: str | None) -> dict[str, str]:
    return {"source_lang": source_lang or "", "target_lang": target_lang or ""}
