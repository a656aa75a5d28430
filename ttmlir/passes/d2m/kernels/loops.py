"""The loops over blocks that all kernels of a generic share.

    loops = BlockLoops(generic, kernel)
    loops.run(before, after)

A generic has a loop for each iterator with more than one step, outermost first. Depth d is the
inside of the first d loops. An operand is loaded or stored at the depth of the last loop that its
indexing map depends on, in all kernels: so what one pushes, another one pops.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from xdsl.dialects import arith

from ttmlir.dialects import d2m
from ttmlir.ir.kernel_builder import KernelBuilder, Number
from ttmlir.layout.metal import iterator_positions
from ttmlir.passes.d2m.kernels.chip import chip_of

Indices = Mapping[int, Number]
"""The block that the core is at along each iterator, as far as the loops around tell."""

Visit = Callable[[int, Indices], None]
"""What is done at a depth, and where in the blocks."""


def looped_iterators(generic: d2m.GenericOp) -> list[int]:
    """The iterators that have a loop, outermost first."""
    return [number for number, factor in enumerate(generic.block_factors) if factor > 1]


def operand_depth(generic: d2m.GenericOp, number: int) -> int:
    """The depth at which blocks of an operand come and go; 0 is in front of all loops."""
    used = iterator_positions(generic.indexing_maps[number])
    loops = enumerate(looped_iterators(generic), 1)
    return max((depth for depth, iterator in loops if iterator in used), default=0)


def block_counts(generic: d2m.GenericOp) -> dict[int, int]:
    """How many blocks there are along each iterator, over all cores."""
    counts = dict(enumerate(generic.block_factors))
    for index_map, layout in zip(generic.indexing_maps, generic.layouts, strict=True):
        for iterator, position in iterator_positions(index_map).items():
            counts[iterator] = layout.grid_shape[position]
    return counts


def core_position(
    kernel: KernelBuilder, grid: tuple[int, ...], chip_grid: tuple[int, int]
) -> tuple[Number, ...]:
    """Where in the virtual grid the core is that runs the kernel.

    The grid lies on the chip as `layout.metal.device_memory.grid_cores` says.
    """
    rows, columns = chip_grid
    *outer, height, width = (1, 1, *grid)
    if height <= rows and width <= columns and math.prod(outer) == 1:
        y, x = (
            kernel.call(f"my_logical_{axis}_")[0] if extent > 1 else 0
            for axis, extent in (("y", height), ("x", width))
        )
        return (*(0 for _ in outer), y, x)[-len(grid) :]
    left: Number = kernel.call("my_logical_x_")[0]
    if math.prod(grid) > columns:
        left = kernel.add(kernel.multiply(kernel.call("my_logical_y_")[0], columns), left)
    position: list[Number] = []
    for number, extent in enumerate(reversed(grid)):
        above = math.prod(grid[: len(grid) - number - 1])
        if extent == 1:
            position.append(0)
        elif above == 1:
            position.append(left)
            left = 0
        else:
            position.append(kernel.arithmetic(arith.RemUIOp, left, extent))
            left = kernel.arithmetic(arith.DivUIOp, left, extent)
    return tuple(reversed(position))


class BlockLoops:
    """The loops in one kernel; making them finds out which core runs it."""

    def __init__(self, generic: d2m.GenericOp, kernel: KernelBuilder) -> None:
        """Begin in front of the loops."""
        self._kernel = kernel
        self._factors = generic.block_factors
        self._loops = looped_iterators(generic)
        self._counts = block_counts(generic)
        positions = iterator_positions(generic.indexing_maps[len(generic.inputs)])
        core = core_position(kernel, generic.grid_shape, chip_of(generic).grid)
        self._even = {
            iterator
            for iterator, position in positions.items()
            if self._factors[iterator] * generic.grid_shape[position] == self._counts[iterator]
        }
        self._first: dict[int, Number] = {
            iterator: kernel.multiply(core[positions[iterator]], factor)
            if iterator in positions
            else 0
            for iterator, factor in enumerate(self._factors)
        }

    def run(self, before: Visit, after: Visit, depth: int | None = None) -> None:
        """Write the loops, or the outer `depth` of them.

        `before` is asked to write what each depth begins with, and `after` what it ends with.
        """
        last = len(self._loops) if depth is None else depth
        known = {
            iterator: first
            for iterator, first in self._first.items()
            if iterator not in self._loops
        }
        self._enter(0, last, known, before, after)

    def _enter(self, depth: int, last: int, indices: Indices, before: Visit, after: Visit) -> None:
        before(depth, indices)
        if depth < last:
            iterator = self._loops[depth]
            first = self._first[iterator]

            def turn(step: Number) -> None:
                inside = {**indices, iterator: self._kernel.add(step, first)}
                self._enter(depth + 1, last, inside, before, after)

            self._kernel.count(self._steps(iterator), turn)
        after(depth, indices)

    def _steps(self, iterator: int) -> Number:
        """How many blocks along an iterator this core has: the last cores may have fewer."""
        factor, count = self._factors[iterator], self._counts[iterator]
        first = self._first[iterator]
        if isinstance(first, int) or iterator in self._even:
            return factor
        begin = self._kernel.arithmetic(arith.MinUIOp, first, count)
        left = self._kernel.arithmetic(arith.SubiOp, count, begin)
        return self._kernel.arithmetic(arith.MinUIOp, left, factor)
