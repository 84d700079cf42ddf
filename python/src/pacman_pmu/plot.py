"""Pictures of reports, by matplotlib. Each function draws into ``ax`` or new axes."""

from __future__ import annotations

from textwrap import wrap
from typing import Any, Dict, List, Optional, Sequence, Tuple

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes

from .errors import ReportError
from .report import Report
from .thread_states import STATES

_COLOUR = {name: colour for name, colour, _ in STATES}
_STATE_OF = {cause: name for name, _, causes in STATES for cause in causes}
_BEFORE, _AFTER = "#7d8590", "#2f6db5"
_VERDICTS = {"faster": "#1f7a4a", "slower": "#b03a2e", "same": "#7d8590", "unclear": "#c79a00"}


def _need(report: Report, format: str, command: str) -> None:
    if report.format != format:
        raise ReportError(f"this picture needs a {format} report ({command}), not {report.format}")


def _axes(ax: Optional[Axes], height: float = 3.2) -> Axes:
    if ax is not None:
        return ax
    return plt.subplots(figsize=(8, height), layout="constrained")[1]


def _with_remarks(ax: Axes, *reports: Report) -> Axes:
    """Writes what the reports say of their runs as a whole under the picture: that the machine was
    busy, for example. ``notes`` of the reports has the same lines."""
    lines: Dict[str, None] = {}
    for report in reports:
        notes = report["notes"]
        if "process" in notes:
            notes = notes[notes["process"].isna()]
        lines.update(dict.fromkeys(notes["text"]))
    if lines:
        text = "\n".join(part for line in lines for part in wrap(line, 110))
        place = {"xycoords": "axes fraction", "textcoords": "offset points", "va": "top"}
        ax.annotate(text, (0.0, 0.0), (0.0, -36.0), fontsize=8, color="#6b6f76", **place)
    return ax


def _regions(report: Report, region: Optional[str], process: Optional[int]) -> pd.DataFrame:
    """The regions of this name, or all that are never inside of others, whose times add up."""
    regions = report["regions"]
    if process is not None:
        regions = regions[regions["process"] == process]
    if region is None:
        return regions[regions["nested"] == 0]
    chosen = regions[regions["name"] == region]
    if chosen.empty:
        names = ", ".join(sorted(set(regions["name"]))) or "none"
        raise ReportError(f"{report.path} has no region {region!r}; there are: {names}")
    return chosen


def thread_states(report: Report, region: Optional[str] = None, process: int = 0) -> pd.DataFrame:
    """Seconds of each thread by state: a row for each thread, siblings one after the other.

    ``region`` is the name of a region. Without it the frame has the sums over all regions that are
    never inside of others.
    """
    _need(report, "pacman-run", "pacman-pmu run --waits -o FILE.json")
    keys = ["process", "region"]
    chosen = _regions(report, region, process)[keys]
    threads = report["threads"].merge(chosen, on=keys)
    if threads["useful_s"].isna().all():
        raise ReportError(f"{report.path} has no states of threads: run the program with --waits")
    sums = pd.DataFrame(index=sorted(set(threads["thread"])))
    sums.index.name = "thread"
    for name, title in (("useful", "useful_s"), ("start", "starting_s"), ("end", "end_s")):
        sums[name] = threads.groupby("thread")[title].sum()
    waits = report["waits"].merge(chosen, on=keys)
    state = waits["cause"].map(_STATE_OF)
    if state.isna().any():
        unknown = ", ".join(sorted(set(waits["cause"][state.isna()])))
        raise ReportError(f"{report.path} has waits of unknown causes: {unknown}")
    waited = waits.groupby(["thread", state])["time_s"].sum().unstack()
    for name, _, causes in STATES:
        if causes:
            sums[name] = waited.reindex(sums.index)[name] if name in waited else 0.0
    sums = sums[[name for name, _, _ in STATES]].fillna(0.0)
    place = threads.groupby("thread")[["package", "core", "sibling"]].agg(_only)
    return place.join(sums).sort_values(["package", "core", "sibling", "thread"])


def _only(values: pd.Series) -> Any:
    """The value that all rows have, or NA: a thread may have moved."""
    found = set(values)
    return found.pop() if len(found) == 1 else pd.NA


def states(
    report: Report, region: Optional[str] = None, process: int = 0, ax: Optional[Axes] = None
) -> Axes:
    """Where each thread's time went: a stacked bar for each thread, siblings side by side."""
    frame = thread_states(report, region, process)
    ax = _axes(ax, 1.4 + 0.34 * len(frame))
    at, ticks, previous = -1.0, [], None
    for package, core in zip(frame["package"], frame["core"]):
        place = None if pd.isna(core) else (package, core)
        # Threads of a core touch; other cores have a gap between.
        at += 0.82 if place is not None and place == previous else 1.1
        ticks.append(at)
        previous = place
    left = pd.Series(0.0, index=frame.index)
    for name, colour, _ in STATES:
        if frame[name].sum() > 0:
            ax.barh(ticks, frame[name], left=left, height=0.8, color=colour, label=name)
            left = left + frame[name]
    ax.set_yticks(ticks, [_who(row) for row in frame.reset_index().itertuples(index=False)])
    ax.invert_yaxis()
    ax.set_xlabel("time [s]")
    ax.set_title(region or "all regions", loc="left")
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return _with_remarks(ax, report)


def _who(row: Any) -> str:
    if pd.isna(row.core):
        return f"thread {row.thread}"
    return f"thread {row.thread} (core {row.core}, sibling {row.sibling})"


def scaling_frame(reports: Sequence[Report], region: Optional[str] = None) -> pd.DataFrame:
    """The times of runs by number of threads: ``threads``, ``runs``, ``time_s`` (the median),
    ``shortest_s``, ``longest_s``, ``speedup`` and ``efficiency``.

    The time is that of the region, or of the whole program. Speed-up and efficiency are relative to
    the fewest threads. With several processes, the number of threads is their sum.
    """
    rows: List[Dict[str, Any]] = []
    for report in reports:
        _need(report, "pacman-run", "pacman-pmu run -o FILE.json")
        if region is None:
            processes = report["processes"]
            used = processes[processes["process"].isin(report["regions"]["process"])]
            threads, time = used["threads"].sum(), report["document"]["time_s"].iloc[0]
        else:
            chosen = _regions(report, region, None)
            teams = report["teams"].merge(chosen[["process", "region"]], on=["process", "region"])
            widest = teams.groupby("process")["threads"].max()
            threads, time = widest.sum(), chosen.groupby("process")["time_s"].sum().max()
        if threads == 0:
            raise ReportError(f"{report.path} has no region, so its number of threads is not known")
        rows.append({"threads": int(threads), "time_s": float(time)})
    if not rows:
        raise ReportError("a picture of scaling needs one report or more")
    groups = pd.DataFrame(rows).groupby("threads")["time_s"]
    frame = pd.DataFrame(
        {
            "runs": groups.count(),
            "time_s": groups.median(),
            "shortest_s": groups.min(),
            "longest_s": groups.max(),
        }
    ).reset_index()
    first = frame.iloc[0]
    frame["speedup"] = first["time_s"] / frame["time_s"]
    frame["efficiency"] = frame["speedup"] * first["threads"] / frame["threads"]
    return frame


def scaling(
    reports: Sequence[Report],
    region: Optional[str] = None,
    value: str = "time_s",
    ax: Optional[Axes] = None,
) -> Axes:
    """Time over threads, with the range of repeated runs and the ideal as a dashed line.

    ``value`` is ``time_s``, ``speedup`` or ``efficiency``.
    """
    labels = {"time_s": "time [s]", "speedup": "speed-up", "efficiency": "efficiency"}
    if value not in labels:
        raise ValueError(f"value must be time_s, speedup or efficiency, got {value!r}")
    frame = scaling_frame(reports, region)
    ax = _axes(ax)
    threads, first = frame["threads"], frame.iloc[0]
    ratio = threads / first["threads"]
    ideal = {"time_s": first["time_s"] / ratio, "speedup": ratio, "efficiency": ratio / ratio}[
        value
    ]
    ax.plot(threads, ideal, "--", color=_BEFORE, label="ideal")
    ax.plot(threads, frame[value], "o-", color=_AFTER, label=region or "whole program")
    if value == "time_s" and (frame["runs"] > 1).any():
        ax.vlines(threads, frame["shortest_s"], frame["longest_s"], color=_AFTER, alpha=0.5)
    ax.set_xticks(threads)
    ax.set_ylim(bottom=0)
    ax.set_xlabel("threads")
    ax.set_ylabel(labels[value])
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return _with_remarks(ax, *reports)


def comparison(
    before: Report, after: Optional[Report] = None, most: int = 12, ax: Optional[Axes] = None
) -> Axes:
    """Two runs region by region, the ``most`` longest first.

    One report of ``compare --json`` gives the ratio of each region's times, its interval and the
    verdict. Two reports of ``run`` give their times side by side, and no verdict.
    """
    if after is None:
        _need(before, "pacman-compare", "pacman-pmu compare --json")
        return _ratios(before, most, ax)
    for report in (before, after):
        _need(report, "pacman-run", "pacman-pmu run -o FILE.json")
    times = pd.DataFrame(
        {
            side: report["regions"].groupby("name")["time_s"].sum()
            for side, report in (("before", before), ("after", after))
        }
    )
    times = times.loc[times.max(axis=1).sort_values(ascending=False).index].head(most)
    ax = _axes(ax, 1.4 + 0.5 * len(times))
    ticks = range(len(times))
    for side, colour, shift in (("before", _BEFORE, -0.2), ("after", _AFTER, 0.2)):
        ax.barh([at + shift for at in ticks], times[side], height=0.38, color=colour, label=side)
    ax.set_yticks(ticks, times.index)
    ax.invert_yaxis()
    ax.set_xlabel("time [s]")
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return _with_remarks(ax, before, after)


def _ratios(report: Report, most: int, ax: Optional[Axes]) -> Axes:
    regions = report["regions"].head(most)
    regions = regions[regions["ratio"].notna()]
    program = report["document"].iloc[0]
    names = ["whole program", *regions["name"]]
    columns = ("ratio", "low", "high", "verdict")
    rows = [tuple(program[f"program_{name}"] for name in columns)]
    rows += list(regions[list(columns)].itertuples(index=False, name=None))
    ax = _axes(ax, 1.4 + 0.36 * len(rows))
    ax.axvline(1.0, color=_BEFORE, linewidth=1)
    seen = set()
    for at, (ratio, low, high, verdict) in enumerate(rows):
        colour = _VERDICTS[verdict]
        if not pd.isna(low):
            ax.plot([low, high], [at, at], color=colour, linewidth=2)
        label = verdict if verdict not in seen else None
        ax.plot([ratio], [at], "o", color=colour, label=label)
        seen.add(verdict)
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    ax.set_xlabel("time after / time before")
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return _with_remarks(ax, report)
