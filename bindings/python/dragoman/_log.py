"""Where messages go."""

from __future__ import annotations

import logging

_logger = logging.getLogger("dragoman")


def log(warning: bool, message: str) -> None:
    """Sends messages to Python's logging, as ``dragoman``."""
    _logger.log(logging.WARNING if warning else logging.INFO, "%s", message)
