"""A chip that only copies: runs data movement kernels by address and holds tensors by layout.

Where a tensor's bytes belong is computed here by cutting arrays into shards, not by the maps that
the compiler uses.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, cast

import numpy as np
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.dialects import tt, ttmetal
from ttmlir.ir.tensor_types import layout_of, shape_of
from ttmlir.layout.device import DRAM_PAGE_SIZE
from ttmlir.layout.enums import MemorySpace
from ttmlir.layout.system import ChipDesc, Coord, default_system_desc
from ttmlir.layout.tensor_layout import TensorLayout

UNTOUCHED = 0xEE
"""What memory holds before anything is written to it."""


def flat(tensor: np.ndarray, layout: TensorLayout) -> np.ndarray:
    """The physical rows and columns of a tensor, which is collapsed from the left."""
    assert layout.grid.rank == 2
    return tensor.reshape(-1, tensor.shape[-1])


def shards(rows: np.ndarray, layout: TensorLayout) -> Iterator[tuple[Coord, np.ndarray]]:
    """Each core of the grid and its shard as bytes, element by element or tile by tile."""
    height, width = layout.scalar_shard
    grid_y, grid_x = layout.grid.shape
    padded = np.zeros((height * grid_y, width * grid_x), rows.dtype)
    padded[: rows.shape[0], : rows.shape[1]] = rows
    for y in range(grid_y):
        for x in range(grid_x):
            shard = padded[y * height : (y + 1) * height, x * width : (x + 1) * width]
            if layout.is_tiled:
                shard = shard.reshape(height // 32, 32, width // 32, 32).swapaxes(1, 2)
            elements = shard.reshape(-1, 1024 if layout.is_tiled else 1)
            yield (y, x), np.ascontiguousarray(elements).view(np.uint8)


class NocMachine:
    """The memories of a chip, by physical core, and what kernels do to them."""

    def __init__(self, chip: ChipDesc | None = None):
        """Make a chip whose memories nobody has written to."""
        self.chip = chip or default_system_desc().chip_descs[0]
        self.memory: defaultdict[Coord, np.ndarray] = defaultdict(
            lambda: np.full(1 << 20, UNTOUCHED, np.uint8)
        )

    def places(
        self, rows: np.ndarray, layout: TensorLayout, address: int
    ) -> Iterator[tuple[Coord, int, np.ndarray]]:
        """Physical core, address and bytes of every element of a tensor."""
        for (y, x), elements in shards(rows, layout):
            size = elements.shape[1]
            for number, data in enumerate(elements):
                if layout.memory_space is MemorySpace.DEVICE_L1:
                    core = self.worker((y, x))
                    yield core, address + number * size, data
                    continue
                position = (y * self.chip.grid[1] + x) * len(elements) + number
                page, offset = divmod(position, DRAM_PAGE_SIZE)
                assert page < self.chip.num_dram_channels, "one round over the channels"
                yield self.chip.physical_cores.dram[page], address + offset * size, data

    def worker(self, core: Coord) -> Coord:
        """The physical place of a logical core."""
        return self.chip.physical_cores.worker[core[0] * self.chip.grid[1] + core[1]]

    def store(self, tensor: np.ndarray, layout: TensorLayout, address: int) -> None:
        """Put a tensor where its layout says."""
        for core, start, data in self.places(flat(tensor, layout), layout, address):
            self.memory[core][start : start + len(data)] = data

    def holds(self, tensor: np.ndarray, layout: TensorLayout, address: int) -> bool:
        """True if the tensor is where its layout says; padding may hold anything."""
        rows = flat(tensor, layout)
        there = flat(np.ones(tensor.shape, tensor.dtype), layout)
        expected = self.places(rows, layout, address)
        inside = self.places(there, layout, address)
        return all(
            np.array_equal(self.memory[core][start : start + len(data)][kept], data[kept])
            for (core, start, data), (_, _, ones) in zip(expected, inside, strict=True)
            for kept in [np.repeat(ones.view(tensor.dtype) != 0, tensor.itemsize)]
        )

    def copy(self, source: Coord, start: int, target: Coord, address: int, size: int) -> None:
        """Copy bytes from one memory to another."""
        self.memory[target][address : address + size] = self.memory[source][start : start + size]

    # --- Programs ------------------------------------------------------------------------------

    def run(self, module: ModuleOp) -> None:
        """Run the dispatches of a module's only function, which only move data."""
        for op in _function(module).body.block.ops:
            if not isinstance(op, ttmetal.DispatchOp):
                continue
            ranges = cast("ArrayAttr[ttmetal.CoreRangeAttr]", op.properties["core_ranges"])
            for area, region in zip(ranges, op.regions, strict=True):
                assert area.data.size == (1, 1)
                self._run_kernel(self.worker(cast("Coord", area.data.offset)), region.block.ops)

    def _run_kernel(self, core: Coord, ops: Any) -> None:
        values: dict[SSAValue, Any] = {}
        started, finished = "", ""
        for op in cast("Iterator[Operation]", ops):
            operands = [values[operand] for operand in op.operands]
            kind = op.name.removeprefix("ttkernel.")
            if isinstance(op, ConstantOp):
                values[op.result] = cast("IntegerAttr", op.value).value.data
            elif kind == "get_noc_addr":
                x, y, address = operands
                values[op.results[0]] = ((y, x), address)
            elif kind == "noc_async_read":
                (remote, address), local, size = operands
                self.copy(remote, address, core, local, size)
                started = "read"
            elif kind == "noc_async_write":
                local, (remote, address), size = operands
                self.copy(core, local, remote, address, size)
                started = "write"
            elif kind in ("noc_async_read_barrier", "noc_async_write_barrier"):
                finished = kind.split("_")[2]
            else:
                assert kind == "return", kind
        assert started == finished, "a kernel waits for what it started"


def argument(module: ModuleOp) -> tuple[tuple[int, ...], TensorLayout, int]:
    """Shape, layout and address of the only argument of a module's only function."""
    function = _function(module)
    (value,) = function.body.block.args
    places = cast("ArrayAttr[Attribute]", function.attributes["tt.arg_alloc"])
    place = cast("tt.ArgumentAllocationAttr", places.data[0])
    return _described(value, place.address)


def result(module: ModuleOp) -> tuple[tuple[int, ...], TensorLayout, int]:
    """Shape, layout and address of what a module's only function returns."""
    last = _function(module).body.block.last_op
    assert isinstance(last, ReturnOp)
    value = last.arguments[0]
    while isinstance(value.owner, ttmetal.DispatchOp):
        value = value.owner.output
    assert isinstance(value.owner, ttmetal.AllocOp)
    address = cast("IntegerAttr", value.owner.properties["address"]).value.data
    return _described(value, address)


def _described(value: SSAValue, address: int) -> tuple[tuple[int, ...], TensorLayout, int]:
    layout = layout_of(value.type)
    assert layout is not None
    return shape_of(value.type), layout, address


def _function(module: ModuleOp) -> FuncOp:
    (function,) = (op for op in module.ops if isinstance(op, FuncOp))
    return function
