"""The frame of phases as a table that people read: at most 100 columns wide, with units."""

from __future__ import annotations

import math
import textwrap
from typing import Any, Callable, List, Sequence, Type

import pandas as pd

from .metrics import IPC

#: The widest line.
WIDTH = 100
#: The longest name of a phase that is not cut.
_NAME = 32
_PREFIXES = ((1e18, "E"), (1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_SECONDS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))
#: Columns before the events.
_SHOWN_FIRST = ("phase", "thread", "executions", "time_ns")
#: Columns that the table does not have: its notes say what they are about.
_LEFT = ("open", "time_min_ns", "time_max_ns", "absent")


class PhaseFrame(pd.DataFrame):
    """A data frame of phases that prints as a table. Parts of it are plain data frames."""

    @property
    def _constructor(self) -> Type[pd.DataFrame]:
        return pd.DataFrame

    def __repr__(self) -> str:
        return table(self)

    __str__ = __repr__

    def _repr_html_(self) -> str:
        shown = _shown(self)
        notes = "".join(f"<p>{_escaped(note)}</p>" for note in _notes(self))
        return str(shown.to_html(index=False)) + notes


def table(frame: pd.DataFrame) -> str:
    """The rows with a line of titles, in several tables if they are too wide, and the notes below."""
    shown = _shown(frame)
    keys = [name for name in shown.columns if name in ("phase", "thread")]
    widths = {
        name: max([len(name), *(len(text) for text in shown[name])]) for name in shown.columns
    }
    parts: List[List[str]] = [list(keys)]
    for name in shown.columns[len(keys) :]:
        whole = sum(widths[one] + 2 for one in parts[-1]) - 2
        if whole + 2 + widths[name] > WIDTH and len(parts[-1]) > len(keys):
            parts.append(list(keys))
        parts[-1].append(name)
    texts = []
    for part in parts:
        lines = [_line(part, part, widths)]
        lines += [_line([row[name] for name in part], part, widths) for _, row in shown.iterrows()]
        texts.append("\n".join(lines))
    return "\n\n".join([*texts, *(textwrap.fill(note, WIDTH) for note in _notes(frame))])


def _line(cells: Sequence[str], names: Sequence[str], widths: "dict[str, int]") -> str:
    """Cells at their places: names to the left, figures to the right."""
    placed = [
        cell.ljust(widths[name]) if name == "phase" else cell.rjust(widths[name])
        for cell, name in zip(cells, names)
    ]
    return "  ".join(placed).rstrip()


def _shown(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame in texts: times and counts with their units, and instructions per cycle."""
    shown = pd.DataFrame(index=range(len(frame)))

    def add(title: str, name: str, text: Callable[[Any], str]) -> None:
        values = frame[name].tolist()
        shown[title] = ["-" if pd.isna(value) else text(value) for value in values]

    for title, name, text in (
        ("phase", "phase", _name),
        ("thread", "thread", str),
        ("executions", "executions", lambda value: f"{value:,}"),
        ("time", "time_ns", lambda value: seconds(value * 1e-9)),
    ):
        if name in frame.columns:
            add(title, name, text)
    events = [name for name in frame.columns if name not in (*_SHOWN_FIRST, *_LEFT)]
    for name in events:
        event, _, unit = str(name).partition(" [")
        is_time = unit == "ns]"
        add(event, name, (lambda value: seconds(value * 1e-9)) if is_time else count)
    counts = {
        str(name).split(" [")[0].rstrip("?"): pd.to_numeric(frame[name], errors="coerce")
        .astype("Float64")
        .to_numpy("float64", na_value=math.nan)
        for name in events
    }
    try:
        ratio = pd.DataFrame(counts).eval(IPC, engine="python").tolist()
    except NameError:
        return shown
    shown["IPC"] = [f"{value:.3f}" if math.isfinite(value) else "-" for value in ratio]
    return shown


def _notes(frame: pd.DataFrame) -> List[str]:
    """Notes of the report, or the reasons of missing values where it has none."""
    notes = [str(note) for note in frame.attrs.get("notes", [])]
    if notes or "absent" not in frame.columns:
        return notes
    return sorted({str(text) for text in frame["absent"] if isinstance(text, str)})


def _name(name: Any) -> str:
    text = str(name)
    return text if len(text) <= _NAME else text[: _NAME - 1] + "…"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def count(value: Any) -> str:
    """Four digits of a count with the prefix of its thousands: ``334.2 M``."""
    number = float(value)
    for size, prefix in _PREFIXES:
        if number >= size:
            return f"{number / size:.4g} {prefix}"
    return f"{number:.4g}"


def seconds(value: float) -> str:
    """Three digits and more of a time, with the unit that suits it: ``9.08 ms``."""
    for size, unit in _SECONDS:
        if value >= size:
            return f"{value / size:.4g} {unit}"
    return "0 s" if value == 0 else f"{value * 1e9:.3g} ns"
