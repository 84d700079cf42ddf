"""Shapes of documents, from the JSON Schemas that the package carries.

The schemas describe every member of every document. The frames of a report follow from them, so a
frame has the same columns whether or not a report has values for them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from typing import Any, Dict, Optional

#: Formats whose documents have a member ``format``.
NAMED = ("pacman-run", "pacman-report", "pacman-stat", "pacman-compare")

#: The others. A document is of one of them if it has all members that the schema requires.
UNNAMED = (
    "topo",
    "smt",
    "doctor",
    "validate",
    "budget",
    "train",
    "evaluate",
    "predict",
    "plan",
    "metrics",
    "list",
    "encode",
)


@dataclass
class Shape:
    """A part of a document: a value, an object, a list or a map from names to parts."""

    kind: str = "value"
    dtype: str = "object"
    text: str = ""
    members: Dict[str, "Shape"] = field(default_factory=dict)
    item: Optional["Shape"] = None

    def join(self, other: "Shape") -> "Shape":
        """A shape that has the members of both."""
        if self.kind == "null":
            return other
        if other.kind == "null":
            return self
        # A column is a list, or the value that all rows have.
        for column, value in ((self, other), (other, self)):
            if column.kind == "list" and column.item and value.kind == column.item.kind == "value":
                return Shape("list", text=self.text or other.text, item=column.item.join(value))
        if self.kind != other.kind:
            return Shape(text=self.text or other.text)
        if self.kind == "value":
            dtypes = {self.dtype, other.dtype}
            mixed = "float64" if dtypes == {"Int64", "float64"} else "object"
            return Shape("value", self.dtype if len(dtypes) == 1 else mixed, self.text)
        members = dict(self.members)
        for name, shape in other.members.items():
            members[name] = members[name].join(shape) if name in members else shape
        item = self.item.join(other.item) if self.item and other.item else self.item or other.item
        return Shape(self.kind, self.dtype, self.text or other.text, members, item)


_DTYPES = {"integer": "Int64", "number": "float64", "boolean": "boolean", "string": "object"}


def _shape(schema: Dict[str, Any]) -> Shape:
    """The shape of one schema, whose parts are all written out in it."""
    parts = [_shape(part) for key in ("anyOf", "oneOf") for part in schema.get(key, ())]
    text = schema.get("description", "")
    if parts:
        whole = parts[0]
        for part in parts[1:]:
            whole = whole.join(part)
        whole.text = text or whole.text
        return whole
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else list(kinds)
    plain = [kind for kind in kinds if kind != "null"]
    if "object" in plain:
        members = {name: _shape(part) for name, part in schema.get("properties", {}).items()}
        others = schema.get("additionalProperties")
        if not members and isinstance(others, dict):
            return Shape("map", text=text, item=_shape(others))
        return Shape("object", text=text, members=members)
    if "array" in plain:
        return Shape("list", text=text, item=_shape(schema.get("items", {})))
    if kinds == ["null"]:
        return Shape("null", text=text)
    if isinstance(schema.get("const"), bool):
        return Shape(dtype="boolean", text=text)
    if isinstance(schema.get("const"), int):
        return Shape(dtype="Int64", text=text)
    return Shape(dtype=_DTYPES.get(plain[0], "object") if len(plain) == 1 else "object", text=text)


def shape_of_value(value: Any) -> Shape:
    """The shape that a document itself shows, for members that its schema does not know."""
    if isinstance(value, dict):
        return Shape("object", members={name: shape_of_value(part) for name, part in value.items()})
    if isinstance(value, list):
        item = Shape("null")
        for part in value:
            item = item.join(shape_of_value(part))
        return Shape("list", item=item)
    if value is None:
        return Shape("null")
    kind = {bool: "boolean", int: "Int64", float: "float64"}.get(type(value), "object")
    return Shape(dtype=kind)


def with_unknown(shape: Shape, value: Any) -> Shape:
    """The shape, and in it the members of a document that it lacks."""
    if shape.kind == "object" and isinstance(value, dict):
        members = dict(shape.members)
        for name, part in value.items():
            known = members.get(name)
            members[name] = with_unknown(known, part) if known else shape_of_value(part)
        return Shape("object", shape.dtype, shape.text, members)
    if shape.kind == "list" and shape.item and isinstance(value, list):
        item = shape.item
        for part in value:
            item = with_unknown(item, part)
        return Shape("list", shape.dtype, shape.text, item=item)
    if shape.kind == "map" and shape.item and isinstance(value, dict):
        item = shape.item
        for part in value.values():
            item = with_unknown(item, part)
        return Shape("map", shape.dtype, shape.text, item=item)
    if shape.kind == "null":
        return shape_of_value(value)
    return shape


@lru_cache(maxsize=None)
def schema(format: str) -> Dict[str, Any]:
    """The JSON Schema of a format."""
    name = format.replace("pacman-", "", 1)
    file = resources.files(__package__).joinpath("schemas", f"{name}.schema.json")
    return json.loads(file.read_text(encoding="utf-8"))


@lru_cache(maxsize=None)
def shape(format: str, kind: str) -> Shape:
    """The shape of all documents of a format that are an object, or an array."""
    parts = [part for key in ("anyOf", "oneOf") for part in schema(format).get(key, ())]
    parts = [part for part in parts if part.get("type") == kind]
    return _shape({"anyOf": parts} if parts else schema(format))


def version(format: str) -> Optional[int]:
    """The version that the schema of a format describes; None for formats without versions."""
    return schema(format).get("properties", {}).get("version", {}).get("const")


def _fits(document: Any, part: Dict[str, Any]) -> bool:
    """Whether a document has all that one alternative of a schema requires."""
    alternatives = [inner for key in ("anyOf", "oneOf") for inner in part.get(key, ())]
    if alternatives:
        return any(_fits(document, inner) for inner in alternatives)
    if part.get("type") == "array" and isinstance(document, list):
        return bool(document) and all(_fits(item, part.get("items", {})) for item in document)
    required = part.get("required")
    return bool(required) and isinstance(document, dict) and document.keys() >= set(required)


def recognise(document: Any) -> Optional[str]:
    """The format of a document, or None."""
    if isinstance(document, dict) and "format" in document:
        return document["format"] if document["format"] in NAMED else None
    return next((name for name in UNNAMED if _fits(document, schema(name))), None)
