"""Options by location: `override-output-layout`, formats of weights, and fidelities.

`fc1/linear=8x8:l1:block_sharded,softmax=bfp_bf8` names what is to be different, in any order: a
grid (`8x8`), a memory (`dram`, `l1`), how the parts are spread (`interleaved`, `height_sharded`
and so on), a page layout (`tile`, `row_major`) and a data type (`f32`, `bf16`, `bfp_bf8`). What is
not named stays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, fields
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ttmlir.layout.data_format import DEFAULT_TILE_SHAPE, Element, TileFormat
from ttmlir.layout.enums import (
    STORED_DATA_TYPES,
    DataType,
    KeywordEnum,
    MathFidelity,
    MemorySpace,
    TensorMemoryLayout,
    TTNNLayout,
)
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.tensor_layout import TensorLayout
from ttmlir.mlir.option_values import ValueType, read_entries
from ttmlir.mlir.reporting import op_diagnostic, override_name, warn

# --- Grid overrides -------------------------------------------------------------------------------
# The option `override-grid-sizes`: grids for operations picked by the name of their location.
#
# `add_1=4x2,matmul_2=8x8` gives the operation at `loc("add_1")` a grid of 4 rows and 2 columns.

GridOverrides = tuple[tuple[str, tuple[int, ...]], ...]
"""Pairs of a location name and the extents of the grid there, in the order given."""


def _parse_grids(text: str) -> GridOverrides:
    return read_entries(text, _parse_grid)


def _parse_grid(entry: str) -> tuple[str, tuple[int, ...]]:
    if entry.count("=") != 1:
        raise ValueError(f"Invalid format for override grid sizes: {entry}")
    name, _, extents = entry.partition("=")
    return name, tuple(_parse_extent(extent) for extent in extents.split("x"))


def _parse_extent(text: str) -> int:
    if not text.isdecimal() or not text.isascii() or int(text) == 0:
        raise ValueError(f"Invalid grid size: {text}")
    return int(text)


def _format_grids(overrides: GridOverrides) -> str:
    return ",".join(f"{name}={'x'.join(map(str, grid))}" for name, grid in overrides)


GRID_OVERRIDES = ValueType(placeholder="<name=RxC,...>", parse=_parse_grids, format=_format_grids)
"""How `override-grid-sizes` is read and written."""


# --- Unknown names --------------------------------------------------------------------------------
# Names in options that no operation has to which the option can apply.

_NAMED = 5
"""So many names are told where none is like the one that is missing."""


def warn_of_unknown_names(
    option_name: str,
    module: ModuleOp,
    applies: Callable[[Operation], bool],
    overridden: Collection[tuple[str, object]],
) -> None:
    """Say which names in an option are of no operation that the option `applies` to.

    Names of such operations that are like them, or some of those that there are, are told. That is
    no error: the text may be one of several that are compiled with the same options.
    """
    if not overridden:
        return
    others: dict[str, dict[str, None]] = {}
    names: dict[str, None] = {}
    for op in module.walk():
        if name := override_name(op.location):
            if applies(op):
                names[name] = None
            others.setdefault(name, {})[op.name] = None
    for name, _ in overridden:
        if name in names:
            continue
        import difflib

        near = difflib.get_close_matches(name, names)
        if near:
            remedy = f"; did you mean {' or '.join(map(repr, near))}?"
        elif names:
            count = len(names) - _NAMED
            more = f" and {count} more" if count > 0 else ""
            remedy = f"; there are {', '.join(map(repr, [*names][:_NAMED]))}{more}"
        else:
            remedy = '; no operation here that takes it has a name, as in loc("add_1")'
        text = f"{option_name}: no operation has the location '{name}'{remedy}"
        if name in others:
            kinds = ", ".join(others[name])
            text = f"{option_name}: it does not apply to '{name}', which is {kinds}{remedy}"
        warn(op_diagnostic(module, text, severity="warning", with_name=False))


# --- Layout overrides -----------------------------------------------------------------------------

_GRID = r"(?a)[1-9]\d{0,3}(x[1-9]\d{0,3})+"

_WORDS: dict[str, tuple[KeywordEnum, ...]] = {
    "memory_space": (MemorySpace.DEVICE_DRAM, MemorySpace.DEVICE_L1),
    "memory_layout": tuple(each for each in TensorMemoryLayout if each.keyword != "none"),
    "page_layout": (TTNNLayout.TILE, TTNNLayout.ROW_MAJOR),
    "data_type": STORED_DATA_TYPES,
}
"""What the fields of an override may be; no keyword is in two of them."""

_FIELD_OF = {word.keyword: (name, word) for name, words in _WORDS.items() for word in words}


@dataclass(frozen=True, kw_only=True)
class LayoutOverride:
    """What is to be different in the layout of a result; None stays as it is."""

    grid: tuple[int, ...] | None = None
    memory_space: MemorySpace | None = None
    memory_layout: TensorMemoryLayout | None = None
    page_layout: TTNNLayout | None = None
    data_type: DataType | None = None

    @classmethod
    def parse(cls, text: str) -> LayoutOverride:
        """`8x8:l1:block_sharded`; ValueError for other keywords and for two of a kind."""
        given: dict[str, Any] = {}
        for word in text.split(":"):
            if re.fullmatch(_GRID, word):
                name, value = "grid", tuple(map(int, word.split("x")))
            elif word in _FIELD_OF:
                name, value = _FIELD_OF[word]
            else:
                raise ValueError(
                    f"Invalid layout parameter: {word}; give a grid such as 8x8, or one of "
                    f"{', '.join(_FIELD_OF)}"
                )
            if name in given:
                raise ValueError(f"Multiple layout parameters of one kind: {text}")
            given[name] = value
        return cls(**given)

    @property
    def parts(self) -> dict[str, str]:
        """The keywords of the override, by the field that they are for."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: _spell(value) for name, value in values.items() if value is not None}

    def __str__(self) -> str:
        """What `parse` reads."""
        return ":".join(self.parts.values())

    def apply(self, shape: tuple[int, ...], layout: TensorLayout) -> TensorLayout:
        """The layout of a tensor of this shape with what the override says.

        Raises LayoutError for a place that no tensor can have.
        """
        if self.data_type is not None or self.page_layout is not None:
            layout = layout.with_element(self._element(layout))
        layout = layout.with_memory_space(self.memory_space or layout.memory_space)
        layout = layout.with_memory_layout(self.memory_layout or layout.memory_layout)
        if layout.memory_layout.is_sharded and layout.memory_space is not MemorySpace.DEVICE_L1:
            raise LayoutError(
                f"{layout.memory_layout.keyword} tensors are in l1: add l1, or interleaved"
            )
        if layout.memory_layout.is_sharded and self.grid is None:
            raise LayoutError(f"{layout.memory_layout.keyword} needs a grid of cores: add 8x8")
        grid = layout.grid.shape if self.grid is None else self.grid
        _check_sharding(layout.memory_layout, grid)
        return layout.with_grid(shape, grid)

    def _element(self, layout: TensorLayout) -> Element:
        # Only tiles hold other formats than the tensor's own.
        is_tiled = layout.is_tiled or self.data_type not in (
            None,
            layout.scalar_element.data_type,
        )
        if self.page_layout is not None:
            is_tiled = self.page_layout is TTNNLayout.TILE
        if is_tiled:
            tile = layout.tile
            data_type = self.data_type
            if data_type is None:
                data_type = layout.scalar_element.data_type if tile is None else tile.data_type
            return TileFormat(*(DEFAULT_TILE_SHAPE if tile is None else tile.shape), data_type)
        scalar = layout.scalar_element
        if self.data_type not in (None, scalar.data_type):
            raise LayoutError(
                f"rows of numbers are {scalar.data_type.keyword}, as the tensor is: leave out "
                f"{self.parts['data_type']}, or take tile"
            )
        return scalar


def _check_sharding(memory_layout: TensorMemoryLayout, grid: tuple[int, ...]) -> None:
    is_column, is_row = grid[-1] == 1, all(extent == 1 for extent in grid[:-1])
    if memory_layout is TensorMemoryLayout.HEIGHT_SHARDED and not is_column:
        raise LayoutError(f"height_sharded needs a grid of one column, not {_spell(grid)}")
    if memory_layout is TensorMemoryLayout.WIDTH_SHARDED and not is_row:
        raise LayoutError(f"width_sharded needs a grid of one row, not {_spell(grid)}")


def _spell(value: KeywordEnum | tuple[int, ...]) -> str:
    return "x".join(map(str, value)) if isinstance(value, tuple) else value.keyword


LayoutOverrides = tuple[tuple[str, LayoutOverride], ...]
"""Pairs of a location name and the override there, in the order given."""


def _parse(text: str) -> LayoutOverrides:
    return read_entries(text, _parse_entry)


def _parse_entry(entry: str) -> tuple[str, LayoutOverride]:
    name, separator, words = entry.rpartition("=")
    if not separator or not name:
        raise ValueError(f"Invalid format for override output layout: {entry}")
    return name, LayoutOverride.parse(words)


def _format(overrides: LayoutOverrides) -> str:
    return ",".join(f"{name}={override}" for name, override in overrides)


LAYOUT_OVERRIDES = ValueType(
    placeholder="<name=8x8:l1:block_sharded,...>", parse=_parse, format=_format
)
"""How `override-output-layout` is read and written."""

# --- Formats and fidelities -----------------------------------------------------------------------
# Options of products: formats of weights and fidelities, for all of them or by location.
#
# `compute-cfg-math-fidelity=lofi` is for every product,
# `override-math-fidelity=fc1=hifi4,fc2=hifi2` for those at these locations.


BLOCK_FLOATS = (DataType.BFP_BF8, DataType.BFP_BF4)
"""What caches can be turned into."""
WEIGHT_DTYPES = (DataType.BF16, DataType.BFP_BF8, DataType.BFP_BF4)
"""What weights can be turned into."""

WeightDtypes = tuple[tuple[str, DataType], ...]
MathFidelities = tuple[tuple[str, MathFidelity], ...]
"""Pairs of a location name and the choice there, in the order given."""


def _keyword(choices: tuple[KeywordEnum, ...]) -> ValueType:
    """One of a few keywords, or none."""
    by_word = {each.keyword: each for each in choices}

    def parse(text: str) -> KeywordEnum | None:
        if text in ("", "none", "undefined"):
            return None
        return _find(by_word, text)

    return ValueType(
        placeholder="<value>",
        parse=parse,
        format=lambda value: "" if value is None else value.keyword,
        choices=tuple(by_word),
    )


def _by_name(choices: tuple[KeywordEnum, ...], example: str) -> ValueType:
    """Such keywords by the names of locations: `fc1=bfp_bf8,fc2=bf16`."""
    by_word = {each.keyword: each for each in choices}

    def parse(text: str) -> tuple[tuple[str, KeywordEnum], ...]:
        return read_entries(text, entry)

    def entry(part: str) -> tuple[str, KeywordEnum]:
        name, separator, word = part.rpartition("=")
        if not separator or not name:
            raise ValueError(f"'{part}' is no name and value: give both, as in fc1={example}")
        return name, _find(by_word, word)

    def form(pairs: tuple[tuple[str, KeywordEnum], ...]) -> str:
        return ",".join(f"{name}={value.keyword}" for name, value in pairs)

    return ValueType(placeholder=f"<name={example},...>", parse=parse, format=form)


def _find(by_word: dict[str, KeywordEnum], text: str) -> KeywordEnum:
    if text not in by_word:
        raise ValueError(f"Cannot find option named '{text}'! Supported: {', '.join(by_word)}")
    return by_word[text]


WEIGHT_DTYPE = _keyword(WEIGHT_DTYPES)
BLOCK_FLOAT = _keyword(BLOCK_FLOATS)
MATH_FIDELITY = _keyword(tuple(MathFidelity))
WEIGHT_DTYPES_BY_NAME = _by_name(WEIGHT_DTYPES, "bfp_bf8")
MATH_FIDELITIES_BY_NAME = _by_name(tuple(MathFidelity), "hifi2")
