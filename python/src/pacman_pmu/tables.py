"""CSV of sessions, ``run``, ``stat``, ``smt``, ``predict``, ``evaluate`` and training data."""

from __future__ import annotations

import csv
import io
from typing import Any, List, Tuple

import pandas as pd

from .errors import ReportError
from .frames import column

#: Columns by which each table is known. Those with more are first.
TABLES = (
    (
        "pacman-run-csv",
        ("pid", "parent", "program", "region", "name", "thread_executions", "busy_s"),
    ),
    ("pacman-stat-csv", ("begin_ns", "end_ns", "by", "thread", "time_ns")),
    ("pacman-report-log-csv", ("session", "simulated", "thread", "sample", "begin_ns", "set")),
    ("pacman-report-csv", ("session", "simulated", "phase", "thread", "executions", "time_ns")),
    ("smt-csv", ("until_s", "core", "cpus", "idle", "shared")),
    ("evaluate-csv", ("machine", "predictor", "app", "threads", "measured_s")),
    ("predict-csv", ("machine", "app", "threads", "time_s", "low_s", "high_s", "source")),
    ("training", ("machine", "app", "threads", "time_s")),
)

#: Columns that are words even if all of them look like numbers.
WORDS = {
    "threads",
    "name",
    "thread_name",
    "host",
    "program",
    "session",
    "app",
    "phase",
    "machine",
    "address",
    "cpus",
    "beside",
}


def read_table(text: str) -> Tuple[str, pd.DataFrame]:
    """The format and the rows of a CSV table, with the columns of the file."""
    try:
        lines = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error as error:
        raise ReportError(f"damaged CSV: {error}") from None
    header, rows = lines[0], [line for line in lines[1:] if line]
    format = next((name for name, has in TABLES if set(has) <= set(header)), None)
    if format is None:
        raise ReportError("it is neither JSON nor a CSV table of pacman-pmu or of a session")
    if len(set(header)) < len(header):
        twice = next(name for name in header if header.count(name) > 1)
        raise ReportError(f"damaged CSV: column {twice} is there twice")
    for number, row in enumerate(rows, 2):
        if len(row) != len(header):
            raise ReportError(
                f"damaged CSV: record {number} has {len(row)} fields, the header {len(header)}"
            )
    columns = {}
    for at, name in enumerate(header):
        words = format == "training" and name == "run"
        columns[name] = _typed(name, [row[at] for row in rows], words)
    return format, pd.DataFrame(columns, columns=header)


def _typed(name: str, fields: List[str], words: bool) -> Any:
    """Integers with all digits, other numbers, truth values or words; an empty field is missing."""
    given = [field for field in fields if field]
    if words or name in WORDS or not given:
        dtype = "object" if words or name in WORDS else "float64"
        return column([field or None for field in fields], dtype)
    if set(given) <= {"true", "false"}:
        return column([field == "true" if field else None for field in fields], "boolean")
    for convert, dtype in ((int, "Int64"), (float, "float64")):
        try:
            return column([convert(field) if field else None for field in fields], dtype)
        except ValueError:
            continue
    return column([field or None for field in fields], "object")
