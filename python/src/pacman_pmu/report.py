"""Reading of reports: one function for all formats."""

from __future__ import annotations

import json
import os
from math import isinf
from pathlib import Path
from typing import Any, Dict, List, Optional, Union

import pandas as pd

from .columns import shape_of_rows, with_rows, with_slots_by_thread
from .errors import ReportError
from .finish import finish
from .frames import Builder
from .layouts import layout
from .shapes import recognise, shape, version, with_unknown
from .tables import read_table

#: Versions of formats that can be read beside the one that the schema describes.
OLDER = {"pacman-run": {1, 2}}

#: Members without which a document is damaged.
_ESSENTIAL = {
    "pacman-run": "processes",
    "pacman-report": "threads",
    "pacman-stat": "rows",
    "pacman-compare": "regions",
}


class Report:
    """A report as data frames.

    ``frames`` has them by name, and each is an attribute: ``report.regions``. Missing values are
    ``<NA>`` or NaN and never 0. Integers are ``Int64``, or ``UInt64`` if a value needs it.
    """

    def __init__(
        self,
        format: str,
        version: Optional[int],
        frames: Dict[str, pd.DataFrame],
        descriptions: Dict[str, Dict[str, str]],
        path: str = "",
    ) -> None:
        #: Such as ``pacman-run``; CSV has the ending ``-csv``.
        self.format = format
        #: Version of the format, or None if it has no versions.
        self.version = version
        #: The file, or an empty text.
        self.path = path
        #: The frames by name.
        self.frames = frames
        self._descriptions = descriptions

    def __getattr__(self, name: str) -> pd.DataFrame:
        frames = self.__dict__.get("frames", {})
        if name in frames:
            return frames[name]
        raise AttributeError(
            f"a {self.__dict__.get('format')} report has no frame {name}, but {', '.join(frames)}"
        )

    def __getitem__(self, name: str) -> pd.DataFrame:
        return self.frames[name]

    def __dir__(self) -> List[str]:
        return [*super().__dir__(), *self.frames]

    def __repr__(self) -> str:
        lines = [f"{self.format} {self.version or ''}".rstrip() + f" {self.path}".rstrip()]
        for name, frame in self.frames.items():
            lines.append(f"  {name}: {len(frame)} rows of {len(frame.columns)} columns")
        return "\n".join(lines)

    def columns(self, frame: str) -> pd.DataFrame:
        """The columns of a frame: ``column``, ``dtype`` and ``description``."""
        texts = self._descriptions.get(frame, {})
        rows = [
            {"column": name, "dtype": str(dtype), "description": texts.get(name, "")}
            for name, dtype in self.frames[frame].dtypes.items()
        ]
        return pd.DataFrame(rows, columns=["column", "dtype", "description"])


def read(path: Union[str, "os.PathLike[str]"]) -> Report:
    """Reads a report, whatever its format.

    JSON and CSV of ``pacman-pmu`` and of sessions are recognised by their contents.

    Raises :class:`ReportError` if the file cannot be read, is damaged or is not a report.
    """
    name = os.fspath(path)
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise ReportError(f"cannot read {name}: {error.strerror or error}") from None
    return read_bytes(data, name)


def read_bytes(data: bytes, name: str = "the report") -> Report:
    """Reads the bytes of a report. ``name`` is for errors."""
    try:
        report = _parse(data)
    except ReportError as error:
        raise ReportError(f"cannot read {name}: {error}") from None
    report.path = name
    return report


def _parse(data: bytes) -> Report:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ReportError(f"byte {error.start} is not UTF-8; reports are JSON or CSV") from None
    start = text.lstrip()[:1]
    if not start:
        raise ReportError("the file is empty; was the program that writes it interrupted?")
    if start in "{[":
        return _of_documents(_documents(text))
    if start == "<" or text.startswith("# "):
        raise ReportError("it is HTML or OpenMetrics; pacman-pmu run -o FILE.json writes JSON")
    format, frame = read_table(text)
    return Report(format, None, {"rows": frame}, {})


def _documents(text: str) -> List[Any]:
    """One document, or one a line as ``stat --interval --json`` writes them."""
    try:
        return [_json(text)]
    except json.JSONDecodeError as whole:
        lines = [line for line in text.splitlines() if line.strip()]
        documents = []
        for number, line in enumerate(lines, 1):
            try:
                documents.append(_json(line))
            except json.JSONDecodeError as error:
                fault = whole if number == 1 else error
                at = fault.lineno if number == 1 else number
                raise ReportError(
                    f"damaged JSON at line {at}, column {fault.colno}: {fault.msg}"
                ) from None
        return documents


def _json(text: str) -> Any:
    try:
        return json.loads(
            text, object_pairs_hook=_object, parse_constant=_constant, parse_float=_number
        )
    except RecursionError:
        raise ReportError("damaged JSON: too many levels") from None


def _object(pairs: Any) -> Dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ReportError(f"damaged JSON: member {twice} is there twice")
    return members


def _number(text: str) -> float:
    number = float(text)
    return _constant(text) if isinf(number) else number


def _constant(name: str) -> Any:
    raise ReportError(f"damaged JSON: {name} is not a number of JSON")


def _of_documents(documents: List[Any]) -> Report:
    first = documents[0]
    format = recognise(first)
    if format is None:
        raise ReportError(_foreign(first))
    known = version(format)
    for document in documents:
        if recognise(document) != format:
            raise ReportError(f"a document of another format is behind one of {format}")
        found = document.get("version") if known is not None else None
        if found != known and found not in OLDER.get(format, ()):
            raise ReportError(f"{format} has version {found}; this package reads version {known}")
        essential = _ESSENTIAL.get(format)
        if essential and not isinstance(document.get(essential), list):
            raise ReportError(f"damaged {format}: there is no list {essential}")
    kinds = layout(format)
    whole = shape_of_rows(shape(format, "array" if isinstance(first, list) else "object"), kinds)
    if format == "pacman-run" and first["version"] in OLDER[format]:
        documents = [with_slots_by_thread(document) for document in documents]
    documents = [with_rows(document, kinds) for document in documents]
    for document in documents:
        whole = with_unknown(whole, document)
    builder = Builder(whole, kinds, len(documents) > 1)
    for document in documents:
        builder.add(document, _interval(document) if len(documents) > 1 else {})
    frames = builder.frames()
    finish(format, documents, frames)
    found = first.get("version") if isinstance(first, dict) else None
    return Report(format, found, frames, builder.descriptions())


def _interval(document: Any) -> Dict[str, Any]:
    """The key of one of several documents; the last one, of the whole run, has none."""
    interval = document.get("interval")
    number = interval.get("number") if isinstance(interval, dict) else None
    return {"interval": number if type(number) is int else None}


def _foreign(document: Any) -> str:
    if isinstance(document, dict):
        if "traceEvents" in document:
            return "it is a trace; pacman-pmu run -o FILE.json writes a report"
        if "format" in document:
            return f"format {document['format']!r} is not a format of reports"
    return "it is JSON, but not a report of pacman-pmu or of a session"
