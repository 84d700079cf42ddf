"""Errors of this package. Each has a text of one line."""

from __future__ import annotations


class PacmanError(Exception):
    """Base of all errors of this package."""


class ReportError(PacmanError, ValueError):
    """A file is not a report that this package can read."""


class CounterError(PacmanError, RuntimeError):
    """The C library refused a call.

    ``status`` is the negative status of the C API and ``name`` its name, such as
    ``PACMAN_E_PERMISSION``. Both are 0 and empty if the library itself was not found.
    """

    def __init__(self, text: str, status: int = 0, name: str = "") -> None:
        super().__init__(text)
        self.status = status
        self.name = name
