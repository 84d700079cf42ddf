"""From documents to data frames.

A document is a tree. A list of objects becomes a frame, a row for each object. A row has the keys
of the rows around it, so frames can be joined. Objects inside of a row become columns whose names
begin with the object's. Nothing is left out: members that the schema does not know become columns,
too.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Tuple

import numpy as np
import pandas as pd

from .errors import ReportError
from .layouts import NOTES, Layout, Rows
from .shapes import Shape

_UNITS = ("_ns", "_s", "_hz", "_j", "_w")


def column_name(prefix: str, name: str) -> str:
    """The column of a member of an object; a unit stays at the end, as in ``time_min_ns``."""
    if not prefix or name == prefix or name.startswith(prefix + "_"):
        return name
    unit = next((unit for unit in _UNITS if prefix.endswith(unit)), "")
    return f"{prefix[: len(prefix) - len(unit)]}_{name}{unit}"


def column(values: List[Any], dtype: str) -> pd.Series:
    """The values of a column, missing ones as ``<NA>`` or NaN. Integers keep all digits."""
    missing = [value is None for value in values]
    if dtype == "Int64":
        given = [value for value in values if value is not None]
        least, largest = min(given, default=0), max(given, default=0)
        kinds = {"int64": (-(2**63), 2**63 - 1), "uint64": (0, 2**64 - 1)}
        for kind, (low, high) in kinds.items():
            if low <= least and largest <= high:
                words = np.array([value or 0 for value in values], dtype=kind)
                return pd.Series(pd.arrays.IntegerArray(words, np.array(missing, dtype=bool)))
        dtype = "object"
    if dtype == "boolean":
        truths = np.array([bool(value) for value in values], dtype=bool)
        return pd.Series(pd.arrays.BooleanArray(truths, np.array(missing, dtype=bool)))
    if dtype == "float64":
        values = [float("nan") if value is None else value for value in values]
    return pd.Series(values, dtype=dtype)


@dataclass
class _Frame:
    """Columns in order, and rows so far."""

    columns: Dict[str, Tuple[str, str]] = field(default_factory=dict)
    rows: List[Dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class _Place:
    """Where in a document a walk is."""

    path: str
    prefix: str
    frame: str
    keys: Dict[str, Any]


class Builder:
    """Collects the rows of all documents of one file."""

    def __init__(self, shape: Shape, layout: Layout, several: bool = False) -> None:
        self._shape = shape
        self._layout = layout
        self._frames: Dict[str, _Frame] = {}
        # Types and descriptions of the columns that are keys.
        self._keys: Dict[str, Tuple[str, str]] = {}
        keys = {"interval": None} if several else {}
        self._keys["interval"] = ("Int64", "number of the interval; missing for the whole run")
        self._walk(shape, None, keys, declare=True)

    def add(self, document: Any, keys: Dict[str, Any]) -> None:
        """Adds the rows of one document, each with these keys."""
        self._walk(self._shape, document, keys, declare=False)

    def frames(self) -> Dict[str, pd.DataFrame]:
        """The frames."""
        return {
            name: pd.DataFrame(
                {
                    title: column([row.get(title) for row in frame.rows], dtype)
                    for title, (dtype, _) in frame.columns.items()
                }
            )
            for name, frame in self._frames.items()
        }

    def descriptions(self) -> Dict[str, Dict[str, str]]:
        """The schema's type and description of each column of each frame."""
        return {
            name: {title: text for title, (_, text) in frame.columns.items()}
            for name, frame in self._frames.items()
        }

    def _walk(self, shape: Shape, value: Any, keys: Dict[str, Any], declare: bool) -> None:
        if shape.kind == "list":
            place = _Place("", "", "", keys)
            self._list(shape, value, Rows("rows"), place, declare)
            return
        place = _Place("", "", "document", keys)
        row = dict(keys)
        self._columns("document", keys)
        self._object(shape, value, place, row, declare)
        if not declare:
            self._frames["document"].rows.append(row)

    def _columns(self, frame: str, keys: Dict[str, Any]) -> None:
        columns = self._frames.setdefault(frame, _Frame()).columns
        for name in keys:
            columns.setdefault(name, self._keys.get(name, ("Int64", "position, from 0")))

    def _object(
        self, shape: Shape, value: Any, place: _Place, row: Dict[str, Any], declare: bool
    ) -> None:
        """The members of an object, as columns of a row and as rows of other frames."""
        if value is not None and not isinstance(value, dict):
            raise _mismatch(place.path, value, "an object")
        for name, member in shape.members.items():
            part = value.get(name) if value else None
            path = f"{place.path}.{name}" if place.path else name
            rows = self._rows_of(path, name, member)
            if rows is not None:
                inside = _Place(path, "", rows.frame, place.keys)
                self._list(member, part, rows, inside, declare)
            elif member.kind == "object":
                lifted = path in self._layout.lifted
                prefix = place.prefix if lifted else column_name(place.prefix, name)
                inside = _Place(path, prefix, place.frame, place.keys)
                self._object(member, part, inside, row, declare)
            else:
                title = column_name(place.prefix, name)
                if title in place.keys:
                    title += "_member"
                if declare:
                    dtype = member.dtype if member.kind == "value" else "object"
                    columns = self._frames.setdefault(place.frame, _Frame()).columns
                    columns.setdefault(title, (dtype, member.text))
                else:
                    row[title] = _checked(path, part, member)

    def _rows_of(self, path: str, name: str, shape: Shape) -> Optional[Rows]:
        """How a member becomes rows; None if it is a column or an object."""
        rows = self._layout.rows.get(path)
        if rows is not None:
            return rows
        if shape.kind == "map":
            return Rows(name, key="name")
        if shape.kind != "list" or shape.item is None:
            return None
        if name == "notes":
            return NOTES
        inner = shape.item
        while inner.kind == "list" and inner.item is not None:
            inner = inner.item
        if inner.kind != "object":
            return None
        holds = any(self._rows_of(f"{path}.{key}", key, it) for key, it in inner.members.items())
        return Rows(name, key=f"{name}_number" if holds else "")

    def _list(
        self, shape: Shape, value: Any, rows: Rows, place: _Place, declare: bool, level: int = 0
    ) -> None:
        """The rows of a list, of a map, or of an object whose members are rows."""
        item = shape.item or next(iter(shape.members.values()), Shape())
        names = rows.key.split(",") if rows.key else []
        key = names[level] if level < len(names) else (f"level_{level}" if level else "")
        named = shape.kind in ("map", "object")
        if declare:
            pairs: Any = [(None, None)]
        elif value is None:
            return
        elif named:
            if not isinstance(value, dict):
                raise _mismatch(place.path, value, "an object")
            pairs = value.items()
        else:
            if not isinstance(value, list):
                raise _mismatch(place.path, value, "a list")
            pairs = enumerate(value)
        for at, part in pairs:
            if rows.member and isinstance(part, dict):
                at = part.get(rows.member)
                _checked(f"{place.path}.{rows.member}", at, item.members[rows.member])
            keys = {**place.keys, key: at} if key else dict(place.keys)
            if item.kind == "list":
                inside = _Place(place.path, "", place.frame, keys)
                self._list(item, part, rows, inside, declare, level + 1)
                continue
            row = {**keys, **rows.constants}
            if declare:
                for name in rows.constants:
                    self._keys[name] = ("object", "part of the document")
                if named:
                    self._keys[key] = ("object", f"name of the {key}")
                elif rows.member:
                    known = item.members[rows.member]
                    self._keys[key] = (known.dtype, known.text)
                self._columns(rows.frame, row)
            if item.kind == "object":
                inside = _Place(place.path, "", rows.frame, keys)
                lifted = {rows.member} if rows.member else set()
                members = {name: it for name, it in item.members.items() if name not in lifted}
                self._object(Shape("object", members=members), part, inside, row, declare)
            elif declare:
                self._frames[rows.frame].columns.setdefault(rows.value, (item.dtype, shape.text))
            else:
                row[rows.value] = _checked(place.path, part, item)
            if not declare:
                self._frames[rows.frame].rows.append(row)


def _mismatch(path: str, value: Any, expected: str) -> ReportError:
    kinds = {dict: "an object", list: "a list", str: "a text", bool: "true or false"}
    return ReportError(f"member {path} is {kinds.get(type(value), 'a number')}, not {expected}")


def _checked(path: str, value: Any, shape: Shape) -> Any:
    """A plain value, if it is of the type that the schema has."""
    if value is None:
        return None
    if shape.kind == "list":
        if not isinstance(value, list):
            raise _mismatch(path, value, "a list")
        for part in value:
            _checked(path, part, shape.item or Shape())
        return value
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if shape.dtype == "Int64" and not (number and isinstance(value, int)):
        raise _mismatch(path, value, "an integer")
    if shape.dtype == "float64" and not number:
        raise _mismatch(path, value, "a number")
    if shape.dtype == "boolean" and not isinstance(value, bool):
        raise _mismatch(path, value, "true or false")
    return value
