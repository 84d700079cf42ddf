"""Reports of pacman-pmu as pandas data frames, pictures of them, and phases in Python programs."""

from .errors import CounterError, PacmanError, ReportError
from .magic import load_ipython_extension
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
    "load_ipython_extension",
    "phase",
    "read",
    "report",
    "start",
    "stop",
]
