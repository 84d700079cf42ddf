"""Reports of pacman-pmu as pandas data frames, pictures of them, and phases in Python programs."""

from .errors import CounterError, PacmanError, ReportError
from .phases import CounterWarning, Phase, Session, by_phase, phase, report, start, stop
from .report import Report, read

__all__ = [
    "CounterError",
    "CounterWarning",
    "PacmanError",
    "Phase",
    "Report",
    "ReportError",
    "Session",
    "by_phase",
    "phase",
    "read",
    "report",
    "start",
    "stop",
]
