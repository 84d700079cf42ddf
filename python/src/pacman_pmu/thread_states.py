"""States of threads, from the table of pacman-report, whose tests write this file."""

from __future__ import annotations

from typing import Tuple

#: In the order of the bars: name, colour as on the HTML page, causes of waits.
STATES: Tuple[Tuple[str, str, Tuple[str, ...]], ...] = (
    ("useful", "#4a6f8f", ()),
    ("start", "#6b6f76", ()),
    ("barrier", "#d9730d", ("barrier",)),
    ("worksharing", "#c79a00", ("loop", "sections", "single", "worksharing", "reduction")),
    ("lock", "#b3246b", ("critical", "atomic", "lock")),
    ("chunks", "#1c7ed6", ("chunks",)),
    ("ordered", "#7a4cb8", ("ordered",)),
    ("tasks", "#0e8a85", ("taskwait", "taskgroup")),
    ("mpi", "#4a7d1f", ("mpi",)),
    ("end", "#8a5a3c", ()),
)
