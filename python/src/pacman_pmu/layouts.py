"""Frames of each format: which lists of a document become which frames, and their keys.

A path names members from the top of a document, with dots and without positions. A list of objects
without an entry becomes a frame with the name of its member.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Dict, FrozenSet


@dataclass(frozen=True)
class Rows:
    """How a list, a map or an object becomes rows of a frame."""

    #: Name of the frame. Several lists may fill one frame.
    frame: str
    #: Column that numbers or names the rows; frames of lists inside have it, too. Lists count
    #: from 0. Lists of lists have a column for each level, separated by commas.
    key: str = ""
    #: The member that is the key, instead of the position.
    member: str = ""
    #: Column of a plain value.
    value: str = "value"
    #: Columns with the same value in all of these rows.
    constants: Dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Layout:
    """The frames of a format."""

    rows: Dict[str, Rows]
    #: Objects whose members become columns under their own names, without the object's.
    lifted: FrozenSet[str] = frozenset()
    #: Lists of objects that the document has as columns.
    columns: FrozenSet[str] = frozenset()
    #: Objects of columns whose names are numbers of this key.
    numbered: Dict[str, str] = field(default_factory=dict)


NOTES = Rows("notes", value="text")

_REGION = "processes.regions"
_THREAD = "processes.regions.threads"
_OPEN = "processes.regions.open.open_threads"
_SLOTS = "processes.regions.slots"
_PHASE = "processes.phases"
_PHASE_THREAD = "processes.phases.threads"


def _figures(path: str, prefix: str) -> Dict[str, Rows]:
    return {
        f"{path}.counts": Rows(f"{prefix}counts", key="event", value="count"),
        f"{path}.counted_shares": Rows(f"{prefix}counted_shares", key="event", value="share"),
        f"{path}.margins": Rows(f"{prefix}margins", key="event", value="margin"),
        f"{path}.reading_shares": Rows(f"{prefix}reading_shares", key="event", value="share"),
        f"{path}.rates": Rows(f"{prefix}rates", key="rate", value="value"),
        f"{path}.metrics": Rows(f"{prefix}metrics", key="metric", value="value"),
    }


def _figures_by_state(path: str, prefix: str) -> Dict[str, Rows]:
    """The figures of all time, of useful time and of waits."""
    return {
        **_figures(f"{path}.figures", prefix),
        **_figures(f"{path}.useful_figures", f"{prefix}useful_"),
        **_figures(f"{path}.waiting_figures", f"{prefix}waiting_"),
    }


RUN = Layout(
    {
        "notes": NOTES,
        "processes": Rows("processes", key="process"),
        "processes.notes": NOTES,
        "processes.runtimes": Rows("runtimes"),
        "processes.events": Rows("events"),
        "processes.metrics": Rows("metric_units"),
        "processes.sites": Rows("sites", key="site"),
        _OPEN: Rows("open_threads", key="thread", member="thread"),
        f"{_OPEN}.open_waits": Rows("open_waits"),
        "processes.mpi.calls": Rows("mpi_calls"),
        "processes.timeline.rows": Rows("timeline_regions", key="region", member="region"),
        "processes.timeline.rows.time_s": Rows("timeline", key="bin", value="time_s"),
        "processes.timeline.rows.thread_time_s": Rows(
            "timeline_threads", key="bin", value="thread_time_s"
        ),
        _REGION: Rows("regions", key="region"),
        f"{_REGION}.teams": Rows("teams"),
        **_figures_by_state(_REGION, "region_"),
        f"{_SLOTS}.cores": Rows("slot_cores", key="slot_core"),
        f"{_SLOTS}.threads": Rows("slots", key="thread", member="thread"),
        _THREAD: Rows("threads", key="thread", member="thread"),
        f"{_THREAD}.states.waits": Rows("waits", key="site", member="site"),
        **_figures_by_state(_THREAD, ""),
        _PHASE: Rows("phases", key="phase"),
        **_figures(f"{_PHASE}.figures", "phase_"),
        _PHASE_THREAD: Rows("phase_threads", key="thread", member="thread"),
        **_figures(f"{_PHASE_THREAD}.figures", "phase_thread_"),
        "ranks.processes": Rows("ranks", key="rank", member="rank"),
        "ranks.regions": Rows("rank_regions"),
        "ranks.calls": Rows("rank_mpi_calls"),
    },
    frozenset(
        {
            f"{_THREAD}.states",
            f"{_PHASE_THREAD}.states",
            *(
                f"{path}.{figures}"
                for path in (_THREAD, _REGION)
                for figures in ("figures", "useful_figures", "waiting_figures")
            ),
            f"{_PHASE}.figures",
            f"{_PHASE_THREAD}.figures",
            f"{_SLOTS}.threads.shares",
        }
    ),
    columns=frozenset({_THREAD, _OPEN, _PHASE_THREAD, f"{_SLOTS}.cores", f"{_SLOTS}.threads"}),
    numbered={f"{_THREAD}.states.waits": "site", f"{_OPEN}.open_waits": "site"},
)

SESSION = Layout(
    {
        "notes": NOTES,
        "events": Rows("events", key="event_number"),
        "threads": Rows("threads", key="thread", member="number"),
        "threads.notes": NOTES,
        "threads.phases": Rows("phases", key="phase", member="phase"),
        "threads.phases.sets": Rows("set_executions", key="set", value="executions"),
        "threads.phases.counts": Rows("counts", key="event"),
        "threads.log": Rows("log", key="sample"),
        "threads.log.counts": Rows("log_counts", key="position", value="count"),
    },
    frozenset({"threads.place"}),
)

_COUNTS = {"key": "event", "value": "count"}
_SHARES = {"key": "event", "value": "share"}

STAT = Layout(
    {
        "notes": NOTES,
        "events": Rows("events"),
        "rows": Rows("rows", key="row"),
        "rows.notes": NOTES,
        "rows.counts": Rows("counts", **_COUNTS),
        "rows.counted_shares": Rows("counted_shares", **_SHARES),
        "total.counts": Rows("total_counts", **_COUNTS),
        "total.counted_shares": Rows("total_counted_shares", **_SHARES),
        "summaries": Rows("summaries", key="statistic"),
        "summaries.counts": Rows("summary_counts", **_COUNTS),
        "summaries.counted_shares": Rows("summary_counted_shares", **_SHARES),
    },
)


def _sides(path: str, prefix: str) -> Dict[str, Rows]:
    rows = {}
    for side in ("before", "after"):
        at, constant = f"{path}.{side}", {"side": side}
        rows[f"{at}.states"] = Rows(
            f"{prefix}states", key="state", value="time_s", constants=constant
        )
        rows[f"{at}.counts"] = Rows(
            f"{prefix}counts", key="event", value="count", constants=constant
        )
    return rows


COMPARE = Layout(
    {
        "notes": NOTES,
        "regions": Rows("regions", key="region"),
        "only_before": Rows("only", constants={"side": "before"}),
        "only_after": Rows("only", constants={"side": "after"}),
        **_sides("program", "program_"),
        **_sides("regions", ""),
    },
)

TOPO = Layout(
    {
        "packages": Rows("packages", key="package", member="package"),
        "packages.cores": Rows("cores", key="core", member="core"),
        "packages.cores.contexts": Rows("contexts"),
    },
)

SMT = Layout(
    {
        "notes": NOTES,
        "intervals": Rows("intervals", key="interval"),
        "intervals.cores": Rows("interval_cores"),
    },
)

EVALUATE = Layout(
    {
        "machines": Rows("machines", key="machine", member="machine"),
        "machines.results": Rows("results", key="predictor", member="predictor"),
    },
)

PREDICT = Layout(
    {"programs": Rows("programs", key="app", member="app")},
)

PLAN = Layout({"sets": Rows("events", key="set,thread")})

OTHER = Layout({"notes": NOTES})

LAYOUTS: Dict[str, Layout] = {
    "pacman-run": RUN,
    "pacman-report": SESSION,
    "pacman-stat": STAT,
    "pacman-compare": COMPARE,
    "topo": TOPO,
    "smt": SMT,
    "evaluate": EVALUATE,
    "predict": PREDICT,
    "plan": PLAN,
}


def layout(format: str) -> Layout:
    """The layout of a format."""
    return LAYOUTS.get(format, OTHER)
