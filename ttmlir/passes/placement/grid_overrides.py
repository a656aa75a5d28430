"""The option `override-grid-sizes`: grids for operations picked by the name of their location.

`add_1=4x2,matmul_2=8x8` gives the operation at `loc("add_1")` a grid of 4 rows and 2 columns.
"""

from __future__ import annotations

from ttmlir.mlir.option_values import ValueType

GridOverrides = tuple[tuple[str, tuple[int, ...]], ...]
"""Pairs of a location name and the extents of the grid there, in the order given."""


def _parse(text: str) -> GridOverrides:
    return tuple(_parse_entry(entry) for entry in text.split(",")) if text else ()


def _parse_entry(entry: str) -> tuple[str, tuple[int, ...]]:
    if entry.count("=") != 1:
        raise ValueError(f"Invalid format for override grid sizes: {entry}")
    name, _, extents = entry.partition("=")
    return name, tuple(_parse_extent(extent) for extent in extents.split("x"))


def _parse_extent(text: str) -> int:
    if not text.isdecimal() or not text.isascii() or int(text) == 0:
        raise ValueError(f"Invalid grid size: {text}")
    return int(text)


def _format(overrides: GridOverrides) -> str:
    return ",".join(f"{name}={'x'.join(map(str, grid))}" for name, grid in overrides)


GRID_OVERRIDES = ValueType(placeholder="<name=RxC,...>", parse=_parse, format=_format)
"""How `override-grid-sizes` is read and written."""
