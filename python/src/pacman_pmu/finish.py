"""Names instead of positions: the last step of reading.

Documents refer to events, phases and waiting constructs by their position in a list. Frames have
the names.
"""

from __future__ import annotations

from typing import Any, Dict, List

import pandas as pd

from .errors import ReportError
from .frames import column

Frames = Dict[str, pd.DataFrame]


def finish(format: str, documents: List[Any], frames: Frames) -> None:
    """Replaces positions by names in the frames of a format that has some."""
    if format == "pacman-run":
        _run(frames)
    elif format == "pacman-report":
        _session(documents[0], frames)
    elif format == "pacman-stat":
        _stat(documents, frames)


def _named(positions: pd.Series, names: List[str], title: str) -> pd.Series:
    """The names at these positions; missing ones stay missing."""

    def name(position: Any) -> Any:
        if pd.isna(position):
            return None
        if not 0 <= position < len(names):
            raise ReportError(f"damaged report: there is no {title} {position}")
        return names[position]

    return pd.Series(
        [name(position) for position in positions], index=positions.index, dtype=object
    )


def _insert_unit(frame: pd.DataFrame, units: List[Any]) -> None:
    """A column ``unit`` behind ``event``."""
    frame.insert(frame.columns.get_loc("event") + 1, "unit", pd.Series(units, dtype=object))


def _look_up(frame: pd.DataFrame, other: pd.DataFrame, keys: List[str], names: List[str]) -> None:
    """Adds columns of another frame that has one row for each value of the keys."""
    rows = {key: at for at, key in enumerate(zip(*(other[key] for key in keys)))}
    found = [rows.get(key) for key in zip(*(frame[key] for key in keys))]
    for name in names:
        cells = [None if pd.isna(cell) else cell for cell in other[name]]
        values = [None if at is None else cells[at] for at in found]
        frame[name] = column(values, str(other[name].dtype))


def _run(frames: Frames) -> None:
    waits = frames["waits"]
    _look_up(waits, frames["sites"], ["process", "site"], ["cause", "call", "name", "file", "line"])
    if waits["cause"].isna().any():
        raise ReportError("damaged report: a wait is at a site that is not listed")
    slots = frames["slots"]
    slots.insert(slots.columns.get_loc("thread"), "slot_core", slots.pop("slot_core"))
    events = frames["events"]
    units = dict(zip(zip(events["process"], events["name"]), events["unit"]))
    for name in ("counts", "region_counts"):
        counts = frames[name]
        _insert_unit(counts, [units.get(key) for key in zip(counts["process"], counts["event"])])
    times = frames.pop("timeline_threads")
    _look_up(frames["timeline"], times, ["process", "region", "bin"], ["thread_time_s"])


def _session(document: Any, frames: Frames) -> None:
    events, phases, counts = frames["events"], frames["phases"], frames["counts"]
    names, units = list(events["name"]), list(events["unit"])
    for title in ("phases", "set_executions", "counts", "log"):
        frame = frames[title]
        frame["phase"] = _named(frame["phase"], document.get("phases") or [], "phase")
    events["part_of"] = _named(events["part_of"], names, "event")
    phases["implausible_event"] = _named(phases["implausible_event"], names, "event")
    _insert_unit(counts, list(_named(counts["event"], units, "event")))
    counts["event"] = _named(counts["event"], names, "event")
    # A sample has the counts of its set only, in the set's order.
    log, samples = frames["log_counts"], frames["log"]
    sets = _named(samples["set"], document.get("sets") or [], "set")
    members = dict(zip(zip(samples["thread"], samples["sample"]), sets))
    found = []
    for row in log.itertuples(index=False):
        own = _named(
            pd.Series([row.position]), members[(row.thread, row.sample)] or [], "event of set"
        )
        found.append(own.iloc[0])
    log["position"] = _named(pd.Series(found, dtype=object), names, "event")
    frames["log_counts"] = log.rename(columns={"position": "event"})


def _stat(documents: List[Any], frames: Frames) -> None:
    if any(document.get("events") != documents[0].get("events") for document in documents):
        raise ReportError("damaged report: intervals have different events")
    events = frames["events"].head(len(documents[0].get("events") or []))
    names, units = list(events["name"]), list(events["unit"])
    for title in ("counts", "total_counts", "summary_counts"):
        counts = frames[title]
        _insert_unit(counts, list(_named(counts["event"], units, "event")))
        counts["event"] = _named(counts["event"], names, "event")
    for title in ("counted_shares", "total_counted_shares", "summary_counted_shares"):
        frames[title]["event"] = _named(frames[title]["event"], names, "event")
