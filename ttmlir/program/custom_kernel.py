"""A program of kernels with the tensors that it is for: what custom calls carry."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ttmlir.layout.element_type import DEFAULT_TILE_SHAPE, ScalarType
from ttmlir.layout.enums import DataType
from ttmlir.layout.tile import padded_shape
from ttmlir.limits import MAX_CORES, MAX_RANK
from ttmlir.program.description import DescriptionError, ProgramDescription, check_name

TARGET = "tt.kernel"
"""The target of custom calls that carry such a text."""

ELEMENT_TYPES = ("f32", "bf16", "f16", "i32", "ui32", "ui16", "ui8")
"""Element types of tensors, by their keyword in the IR: those that memory holds as they are."""
LAYOUTS = ("tile", "row_major")
MEMORIES = ("dram", "l1")
SHARDED_LAYOUTS = ("height_sharded", "width_sharded", "block_sharded")


@dataclass(frozen=True)
class Shards:
    """How a tensor in L1 is cut: `grid` has rows and columns of cores, from core (0, 0) on.

    A grid that reaches beyond the chip, such as (64, 1), counts the chip's cores row by row. A
    height-sharded tensor has one column of cores, a width-sharded one has one row.
    """

    layout: str
    grid: tuple[int, int]

    def __post_init__(self) -> None:
        """Refuse layouts without shards, and grids that do not go with them."""
        if self.layout not in SHARDED_LAYOUTS:
            raise DescriptionError(
                f"the sharded layout '{self.layout}' is not supported; supported are "
                + ", ".join(SHARDED_LAYOUTS)
            )
        rows, columns = self.grid
        if min(rows, columns) < 1 or rows * columns > MAX_CORES:
            raise DescriptionError(
                f"shards on {rows}x{columns} cores; give from 1 to {MAX_CORES} cores"
            )
        for layout, name, extent in (
            ("height_sharded", "column", columns),
            ("width_sharded", "row", rows),
        ):
            if self.layout == layout and extent != 1:
                raise DescriptionError(
                    f"a {layout} tensor is on one {name} of cores, not on {rows}x{columns}"
                )


@dataclass(frozen=True, kw_only=True)
class KernelTensor:
    """A tensor that a program reads (`in`) or makes (`out`), interleaved or in shards.

    Pages are tiles of 32x32 numbers, padded with zeros, or rows, or parts of rows that shards have.
    """

    name: str
    role: str
    shape: tuple[int, ...]
    element: str
    """Keyword of the element type in the IR."""
    layout: str = "tile"
    memory: str = "dram"
    shards: Shards | None = None
    """None: the pages go to all banks in turn."""

    def __post_init__(self) -> None:
        """Refuse what no kernel can be given."""
        check_name(self.name, "a tensor")
        what = f"tensor '{self.name}'"
        for word, value, known in (
            ("role", self.role, ("in", "out")),
            ("element type", self.element, ELEMENT_TYPES),
            ("layout", self.layout, LAYOUTS),
            ("memory", self.memory, MEMORIES),
        ):
            if value not in known:
                raise DescriptionError(
                    f"{what}: the {word} '{value}' is not supported; supported are "
                    + ", ".join(known)
                )
        if len(self.shape) > MAX_RANK or not all(0 < each < 1 << 31 for each in self.shape):
            raise DescriptionError(
                f"{what}: the shape {list(self.shape)} is not supported; kernels take tensors "
                "with elements"
            )
        if self.shards is not None:
            self._check_shards(what)

    def _check_shards(self, what: str) -> None:
        if self.memory != "l1":
            raise DescriptionError(f"{what}: shards are in the memory l1, not in {self.memory}")
        if len(self.shape) < 2:
            raise DescriptionError(
                f"{what}: a tensor of {len(self.shape)} dimensions has no shards; give it two"
            )
        height = DEFAULT_TILE_SHAPE[0]
        if len(self.shape) > 2 and self.layout == "tile" and self.shape[-2] % height:
            raise DescriptionError(
                f"{what}: matrices of {self.shape[-2]} rows one below the other are no whole tiles "
                f"of {height} rows; merge the dimensions before the last, or pad the rows"
            )

    @property
    def extents(self) -> tuple[int, int]:
        """Rows and columns, all dimensions but the last made rows: of tiles, or of numbers."""
        shape = (1,) * (2 - len(self.shape)) + self.shape
        if self.layout == "tile":
            *outer, columns = padded_shape(shape)
            rows = math.prod(outer)
            return rows // DEFAULT_TILE_SHAPE[0], columns // DEFAULT_TILE_SHAPE[1]
        return math.prod(shape[:-1]), shape[-1]

    @property
    def shard(self) -> tuple[int, int]:
        """Rows and columns of a shard: of tiles, or of numbers; all of an interleaved tensor."""
        if self.shards is None:
            return self.extents
        (rows, columns), (down, across) = self.extents, self.shards.grid
        return -(-rows // down), -(-columns // across)

    @property
    def data_type(self) -> DataType:
        """How memory holds the numbers."""
        return ScalarType(self.element).data_type

    def __str__(self) -> str:
        """Shape and element type, as in the IR."""
        return f"tensor<{'x'.join((*map(str, self.shape), self.element))}>"


@dataclass(frozen=True, kw_only=True)
class CustomKernel:
    """A program and the tensors that it is for: those that it reads, then those that it makes."""

    name: str
    tensors: tuple[KernelTensor, ...]
    program: ProgramDescription

    def __post_init__(self) -> None:
        """Refuse programs without a result, and those that mean tensors that are not there."""
        check_name(self.name, "a custom kernel")
        roles = [tensor.role for tensor in self.tensors]
        if roles != sorted(roles, key="out".__eq__):
            raise DescriptionError(
                f"custom kernel '{self.name}': tensors that it reads come before those that it "
                "makes"
            )
        if not self.outputs:
            raise DescriptionError(
                f"custom kernel '{self.name}' makes no tensor; give it at least one of role 'out'"
            )
        self.program.check_tensors(len(self.tensors))

    @property
    def inputs(self) -> tuple[KernelTensor, ...]:
        """The tensors that the program reads."""
        return tuple(tensor for tensor in self.tensors if tensor.role == "in")

    @property
    def outputs(self) -> tuple[KernelTensor, ...]:
        """The tensors that the program makes."""
        return tuple(tensor for tensor in self.tensors if tensor.role == "out")

    def difference(self, operands: Sequence[str], results: Sequence[str]) -> str | None:
        """How operand and result types differ from those of the kernel; None if they agree.

        Types are given as `str(KernelTensor)` writes them.
        """
        for kind, given, tensors in (
            ("operand", operands, self.inputs),
            ("result", results, self.outputs),
        ):
            if len(given) != len(tensors):
                return (
                    f"has {len(given)} {kind}s, but the kernel '{self.name}' is for {len(tensors)}"
                )
            for number, (type_, tensor) in enumerate(zip(given, tensors, strict=True)):
                if type_ != str(tensor):
                    return (
                        f"{kind} #{number} is {type_}, but '{tensor.name}' of the kernel "
                        f"'{self.name}' is {tensor}"
                    )
        return None
