"""Lists of objects that a document has as columns, back as rows.

A report of many threads names each member of a thread once: ``{"thread": [0, 1], "moves": 0}`` are the
rows ``{"thread": 0, "moves": 0}`` and ``{"thread": 1, "moves": 0}``. Older documents have the rows.
"""

from __future__ import annotations

from typing import Any, Dict, List

from .errors import ReportError
from .layouts import Layout
from .shapes import Shape


def shape_of_rows(shape: Shape, layout: Layout, path: str = "") -> Shape:
    """The shape of a document whose columns are rows."""
    if path in layout.columns and shape.kind == "object":
        return Shape("list", text=shape.text, item=_row_shape(shape, layout, path))
    members = {
        name: shape_of_rows(part, layout, f"{path}.{name}" if path else name)
        for name, part in shape.members.items()
    }
    item = shape_of_rows(shape.item, layout, path) if shape.item else None
    return Shape(shape.kind, shape.dtype, shape.text, members, item)


def _row_shape(columns: Shape, layout: Layout, path: str) -> Shape:
    """The shape of one row, or of an object inside of it."""
    members = {
        name: _cell_shape(column, layout, f"{path}.{name}")
        for name, column in columns.members.items()
    }
    return Shape("object", text=columns.text, members=members)


def _cell_shape(column: Shape, layout: Layout, path: str) -> Shape:
    if column.kind == "list" and column.item:
        item = column.item
        return Shape(item.kind, item.dtype, column.text or item.text, item.members, item.item)
    if column.kind == "object":
        return _row_shape(column, layout, path)
    if column.kind == "map" and column.item:
        item = _cell_shape(column.item, layout, path)
        key = layout.numbered.get(path)
        if key is None:
            return Shape("map", text=column.text, item=item)
        members = {key: Shape(dtype="Int64", text=column.text), **item.members}
        return Shape("list", text=column.text, item=Shape("object", members=members))
    return column


def with_rows(value: Any, layout: Layout, path: str = "") -> Any:
    """The document with rows in place of its columns."""
    if isinstance(value, list):
        if path in layout.columns:
            return value
        return [with_rows(part, layout, path) for part in value]
    if not isinstance(value, dict):
        return value
    if path in layout.columns:
        return _rows(value, layout, path, _length(value))
    return {
        name: with_rows(part, layout, f"{path}.{name}" if path else name)
        for name, part in value.items()
    }


def with_slots_by_thread(document: Any) -> Any:
    """A report of ``run`` whose slots are by thread; before version 3 each core had its threads."""
    for process in _objects(document, "processes"):
        for region in _objects(process, "regions"):
            slots = region.get("slots")
            if isinstance(slots, dict):
                slots["threads"] = [
                    {"slot_core": at, **thread}
                    for at, core in enumerate(_objects(slots, "cores"))
                    for thread in _objects(core, "threads")
                ]
                for core in _objects(slots, "cores"):
                    core.pop("threads", None)
    return document


def _objects(holder: Dict[str, Any], member: str) -> List[Dict[str, Any]]:
    """The objects of a list; nothing of a member that is none."""
    found = holder.get(member)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _rows(columns: Dict[str, Any], layout: Layout, path: str, length: int) -> List[Dict[str, Any]]:
    """The rows of an object of columns; each has the members that are not missing."""
    if columns and not length:
        raise ReportError(f"member {path} has no column that is a list")
    rows: List[Dict[str, Any]] = [{} for _ in range(length)]
    for name, column in columns.items():
        at = f"{path}.{name}"
        if isinstance(column, dict):
            column = [part or None for part in _rows(column, layout, at, length)]
            if at in layout.numbered:
                column = [_numbered(part or {}, layout.numbered[at], at) for part in column]
        elif not isinstance(column, list):
            column = [column] * length
        elif len(column) != length:
            raise ReportError(f"member {at} has {len(column)} values, and another column {length}")
        for row, part in zip(rows, column):
            if part is not None:
                row[name] = part
    return rows


def _numbered(members: Dict[str, Any], key: str, path: str) -> List[Dict[str, Any]]:
    """The members of an object whose names are numbers, as a list of objects with the number."""
    try:
        return [{key: int(name), **part} for name, part in members.items()]
    except (TypeError, ValueError):
        raise ReportError(f"member {path} has a name that is no number") from None


def _length(columns: Dict[str, Any]) -> int:
    lengths = [
        _length(column) if isinstance(column, dict) else len(column)
        for column in columns.values()
        if isinstance(column, (dict, list))
    ]
    return max(lengths, default=0)
