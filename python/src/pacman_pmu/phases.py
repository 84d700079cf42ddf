"""Phases of a Python program, counted by the C library.

Counts are those of the thread that runs the phase. A thread attaches itself to the session at its
first phase and is detached when it ends. Threads that numpy or OpenMP start are not attached: the
time of a phase contains their work, its counts do not.
"""

from __future__ import annotations

import ctypes
import os
import sys
import tempfile
import threading
import warnings
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional, Tuple, TypeVar, Union

import pandas as pd

from . import library as c
from .errors import CounterError
from .parts import counted
from .report import Report, read_bytes
from .shown import PhaseFrame

#: Hardware events of the session that :func:`phase` starts by itself, and their units.
_HARDWARE = {"CYCLES": "cycles", "INSTRUCTIONS": "instructions"}
#: The event that such a session counts on every machine.
_SOFTWARE = "task-clock"

_REFUSED = (c.E_NO_PMU, c.E_PERMISSION, c.E_UNSUPPORTED, c.E_CONFLICT, c.E_NOT_SCHEDULED)
_COUNTERS_LOST = (c.E_NOT_SCHEDULED, c.E_SYSTEM)

Function = TypeVar("Function", bound=Callable[..., Any])


def _bytes(text: str) -> bytes:
    """A text for C, which would cut it at a zero."""
    if "\0" in text:
        raise ValueError(f"a name must not contain a zero character, got {text!r}")
    return text.encode()


class CounterWarning(UserWarning):
    """A count is missing. The program goes on; reports say so, too."""


class Session:
    """Counts events in the phases of this process.

    ``events`` are names with commas between. ``placement`` binds attaching threads, such as
    ``"compact"``. ``rotate`` counts more events than the machine has counters for, in sets that
    change ``"per-execution"`` or ``"staggered"``; ``multiplexed`` lets the kernel do so.
    ``log_samples`` is the number of single executions that the log keeps for each thread.

    Raises :class:`CounterError` if this machine cannot count the events.
    """

    def __init__(
        self,
        events: str,
        *,
        name: Optional[str] = None,
        placement: Optional[str] = None,
        rotate: Optional[str] = None,
        multiplexed: bool = False,
        log_samples: int = 0,
    ) -> None:
        if rotate is not None and rotate not in c.ROTATE:
            raise ValueError(f"rotate must be per-execution or staggered, got {rotate!r}")
        self._library = c.library()
        #: Events that the machine refused, with the reason.
        self.refused: Dict[str, str] = {}
        self._process = os.getpid()
        self._phases: Dict[str, c.PhaseHandle] = {}
        options = c.Options(size=ctypes.sizeof(c.Options), abi=c.ABI, log_samples=log_samples)
        options.flags = c.ROTATE.get(rotate or "", 0) | (c.MULTIPLEXED if multiplexed else 0)
        options.name = _bytes(name or Path(sys.argv[0]).stem.strip() or "python") + _suffix.encode()
        options.events = _bytes(events)
        options.placement = _bytes(placement) if placement is not None else None
        handle = ctypes.c_void_p()
        self._library.check(self._library.open(ctypes.byref(options), ctypes.byref(handle)))
        self._handle = handle

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def phase(self, name: str) -> "Phase":
        """A phase of this session, for ``with`` or as a decorator."""
        return Phase(name, self)

    def attach(self) -> None:
        """Attaches the calling thread before its first phase, which would do the same."""
        self._library.check(self._library.attach(self._handle))

    def detach(self) -> None:
        """Ends the calling thread's attachment. Its counts stay in the report."""
        self._library.check(self._library.detach(self._handle))

    def close(self) -> None:
        """Ends the session, whose counts are lost."""
        self._library.check(self._library.close(self._handle))

    def report(self) -> Report:
        """All that was counted so far, as the frames of a session report."""
        with tempfile.TemporaryFile() as file:
            status = self._library.write(self._handle, c.FORMAT_JSON, file.fileno())
            self._library.check(status)
            file.seek(0)
            report = read_bytes(file.read(), "the report of the session")
        if self.refused:
            reason = next(iter(self.refused.values()))
            text = f"{' and '.join(self.refused)} were not counted: {reason}"
            notes = pd.DataFrame({"text": [text]})
            report.frames["notes"] = pd.concat([report.frames["notes"], notes], ignore_index=True)
        return report

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the report as JSON, for :func:`read` and other readers."""
        status = self._library.save(self._handle, c.FORMAT_JSON, os.fsencode(path))
        self._library.check(status)

    def frame(self) -> pd.DataFrame:
        """A row for each phase and thread; see :func:`by_phase`."""
        frame = by_phase(self.report())
        at = frame.columns.get_loc("time_max_ns") + 1
        for event in reversed(self.refused):
            title = f"{event} [{_HARDWARE[event]}]"
            frame.insert(at, title, pd.array([pd.NA] * len(frame), dtype="Int64"))
        if self.refused:
            refused = "; ".join(f"{event}: refused" for event in self.refused)
            frame["absent"] = [
                f"{refused}; {text}" if text else refused for text in frame["absent"]
            ]
        return frame

    def _begin(self, name: str) -> Tuple["Session", c.PhaseHandle, str]:
        handle = self._phases.get(name)
        if handle is None:
            handle = c.PhaseHandle()
            self._library.check(
                self._library.define(self._handle, _bytes(name), ctypes.byref(handle))
            )
            self._phases[name] = handle
        opened = (self, handle, name)
        status = self._library.begin(self._handle, handle)
        if status == c.E_NOT_ATTACHED:
            self.attach()
            status = self._library.begin(self._handle, handle)
        self._library.check(status)
        return opened


class _Open(threading.local):
    """Phases that the calling thread has begun and not ended."""

    def __init__(self) -> None:
        self.stack: List[Tuple[Session, c.PhaseHandle, str]] = []


_open = _Open()


class Phase:
    """A phase for ``with`` or as a decorator. One object may serve several threads.

    A decorated coroutine or generator is in the phase while it runs; see :mod:`pacman_pmu.parts`.
    """

    def __init__(self, name: str, session: Optional[Session] = None) -> None:
        #: The name in reports.
        self.name = name
        self._session = session

    def __enter__(self) -> "Phase":
        session = self._session or default_session()
        _open.stack.append(session._begin(self.name))
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        stack = _open.stack
        at = next((at for at in reversed(range(len(stack))) if stack[at][2] == self.name), None)
        if at is None:
            raise CounterError(f"cannot end phase {self.name}: this thread has not begun it")
        session, handle, _ = stack[at]
        status = session._library.end(session._handle, handle)
        if session._process != os.getpid():
            del stack[at]
            text = f"phase {self.name} was begun before fork(): only the parent counts it"
            warnings.warn(text, CounterWarning, stacklevel=2)
        elif status >= 0:
            del stack[at]
        elif status in _COUNTERS_LOST:
            # The work is done, and the report notes the execution.
            del stack[at]
            warnings.warn(str(session._library.error(status)), CounterWarning, stacklevel=2)
        elif error is None:
            raise session._library.error(status)
        else:
            warnings.warn(str(session._library.error(status)), CounterWarning, stacklevel=2)

    def __call__(self, function: Function) -> Function:
        return counted(self, function)


_default: Optional[Session] = None
#: Events and options of :func:`start`, for children of fork().
_asked: Optional[Tuple[str, Dict[str, Any]]] = None
#: Of names of sessions: a child of fork() has a copy of its parent's session, and with it the name.
_suffix = ""
_starting = threading.Lock()


def start(events: str, **options: Any) -> Session:
    """Starts the session of :func:`phase` and :func:`report`; options as for :class:`Session`."""
    global _default, _asked
    with _starting:
        if _default is not None:
            raise CounterError("a session is started already; close it with pacman_pmu.stop()")
        _default = Session(events, **options)
        _asked = (events, options)
        return _default


def stop() -> None:
    """Closes the session of :func:`phase`. Its counts are lost; the next phase starts another."""
    global _default, _asked
    with _starting:
        session, _default, _asked = _default, None, None
    if session is not None:
        session.close()


def default_session() -> Session:
    """The session of :func:`phase`, which the first phase starts.

    It counts cycles, instructions and the task clock. Where the machine refuses hardware events, it
    counts the task clock alone, warns, and reports the others as missing.
    """
    global _default
    session = _default
    if session is not None:
        return session
    with _starting:
        if _default is None and _asked is not None:
            _default = Session(_asked[0], **_asked[1])
        elif _default is None:
            try:
                _default = Session(",".join([*_HARDWARE, _SOFTWARE]))
            except CounterError as error:
                if error.status not in _REFUSED:
                    raise
                _default = Session(_SOFTWARE)
                _default.refused = dict.fromkeys(_HARDWARE, str(error))
                text = f"phases count {_SOFTWARE} only: {error}"
                warnings.warn(text, CounterWarning, stacklevel=3)
        return _default


def phase(name: str) -> Phase:
    """A phase of the started session: ``with phase("fit"):``, or ``@phase("fit")``."""
    return Phase(name)


def report() -> pd.DataFrame:
    """The counts so far, a row for each phase and thread; see :func:`by_phase`."""
    if _default is None:
        raise CounterError("nothing was counted: no phase has begun and no session is started")
    return _default.frame()


def by_phase(report: Report) -> pd.DataFrame:
    """A session report with a row for each phase and thread, and a column for each event.

    Columns of events are named as in CSV, such as ``CYCLES [cycles]``; a question mark marks counts
    that may be wrong. The values are the best figures: estimates where only a part was counted.
    ``absent`` says why a value is missing. ``attrs["notes"]`` has the notes of the report. The frame
    prints as a table of at most 100 columns; ``to_string()`` has all values.
    """
    keys = ["thread", "phase"]
    phases = report["phases"]
    frame = phases[
        ["phase", "thread", "executions", "open", "time_sum_ns", "time_min_ns", "time_max_ns"]
    ]
    frame = frame.rename(columns={"time_sum_ns": "time_ns"})
    counts = report["counts"]
    reasons: Dict[Tuple[Any, Any], List[str]] = {}
    for event in report["events"].itertuples(index=False):
        own = counts[counts["event"] == event.name]
        title = f"{event.name}{'?' if event.doubt else ''} [{event.unit}]"
        frame = frame.merge(
            own[[*keys, "value"]].rename(columns={"value": title}), how="left", on=keys
        )
        for row in own[own["absent"].notna()].itertuples(index=False):
            reasons.setdefault((row.thread, row.phase), []).append(f"{event.name}: {row.absent}")
    pairs = zip(frame["thread"], frame["phase"])
    frame["absent"] = pd.Series(
        ["; ".join(reasons.get(pair, [])) or None for pair in pairs], dtype=object
    )
    shown = PhaseFrame(frame)
    shown.attrs["notes"] = list(report["notes"]["text"])
    return shown


def _forget_after_fork() -> None:
    """A child has counters of its own, so its first phase starts a session as the parent's was."""
    global _default, _starting, _suffix
    _starting = threading.Lock()
    _default = None
    _suffix = f"-{os.getpid()}"


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)
