"""The JSON form of a flatbuffer, as `flatc --json --defaults-json` gives it.

Differences in spelling: floats are written with as many digits as tell them apart from their
neighbours instead of six decimals, and those that JSON has no number for are the strings "nan",
"inf" and "-inf", which flatc reads too.
"""

from __future__ import annotations

import json
import math
from typing import Any, cast

from flatbuffers.packer import float32

from ttmlir.schema.errors import FlatbufferError
from ttmlir.schema.types import Field, ScalarType, StructType, Type, VectorType
from ttmlir.schema.view import TableView

# Written out, tables that a file shares between many places can exceed any memory.
_MAX_VALUES = 50_000_000


def table_as_dict(view: TableView, defaults: bool, max_bytes: int | None = None) -> dict[str, Any]:
    """Plain dicts, lists, strings and numbers of a table and all that it refers to.

    A table that the file shares is one dict that occurs in several places, so packing the result
    keeps the sharing. Longer vectors than `max_bytes` become a text with their size.
    """
    return _Converter(defaults, max_bytes).table(view)


def table_as_json(
    view: TableView, defaults: bool, indent: int | None, max_bytes: int | None = None
) -> str:
    """JSON text of a table and all that it refers to."""
    value = table_as_dict(view, defaults, max_bytes)
    if _count_values(value, {}) > _MAX_VALUES:
        problem = f"written out, shared tables have more than {_MAX_VALUES} values"
        remedy = "read the parts that are of interest"
        raise FlatbufferError(view.file_name, problem, where=view.table_type.name, remedy=remedy)
    return json.dumps(value, indent=indent)


class _Converter:
    def __init__(self, defaults: bool, max_bytes: int | None) -> None:
        self.defaults = defaults
        self.max_bytes = max_bytes
        self.tables: dict[tuple[tuple[int, int], str], dict[str, Any]] = {}

    def table(self, view: TableView) -> dict[str, Any]:
        """Dict of a table, the same one for the same table."""
        key = (view.identity, view.table_type.name)
        known = self.tables.get(key)
        if known is not None:
            return known
        result = self.tables[key] = dict[str, Any]()
        for field in view.table_type.fields:
            if not self.is_shown(view, field):
                continue
            content = view[field.name]
            if content is not None:
                result[field.name] = self.convert(field.type, content)
        return result

    def is_shown(self, view: TableView, field: Field) -> bool:
        """True for fields that the file holds and for defaults if they are wanted."""
        return self.defaults or field.name in view

    def convert(self, type: Type, content: Any) -> Any:
        """Plain form of a value."""
        match content:
            case TableView():
                return self.table(content)
            case memoryview():
                numbers = cast("memoryview[int]", content)
                if self.max_bytes is not None and len(numbers) > self.max_bytes:
                    return f"<{len(numbers)} bytes>"
                return numbers.tolist()
            case _ if isinstance(type, VectorType):
                return [self.convert(type.element, item) for item in content]
            case _ if isinstance(type, StructType):
                pairs = zip(type.fields, content, strict=True)
                return {name: self.convert(inner, item) for (name, inner), item in pairs}
            case float():
                return _shortest(content, isinstance(type, ScalarType) and type.code == "f")
            case _:
                return content


def _shortest(number: float, is_float32: bool) -> float | str:
    """The shortest decimal that is read back as the same number."""
    if math.isnan(number):
        return "nan"
    if math.isinf(number):
        return "inf" if number > 0 else "-inf"
    is_short_integer = number.is_integer() and abs(number) < 1e16
    if not is_float32 or is_short_integer:
        return number
    for digits in range(6, 9):
        candidate = float(f"{number:.{digits}g}")
        # A candidate just above the largest float32 is out of its range.
        if abs(candidate) <= 3.4e38 and float32.unpack(float32.pack(candidate))[0] == number:
            return candidate
    return float(f"{number:.9g}")


def _count_values(value: Any, known: dict[int, int]) -> int:
    """Number of values that a tree with shared parts has when it is written out."""
    if not isinstance(value, dict | list):
        return 1
    tree = cast("dict[str, Any] | list[Any]", value)
    if id(tree) not in known:
        parts = tree.values() if isinstance(tree, dict) else tree
        known[id(tree)] = 1 + sum(_count_values(part, known) for part in parts)
    return known[id(tree)]
