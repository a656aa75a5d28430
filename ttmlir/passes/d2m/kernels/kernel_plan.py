"""What the kernels of one generic have in common: operands, circular buffers, arguments, loops.

Circular buffers are numbered: the inputs, local buffers of the region, the outputs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from io import StringIO
from typing import Literal, cast

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import IntegerAttr, MemRefType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.printer import Printer

from ttmlir.dialects import d2m
from ttmlir.dialects.d2m.structure import BOUNCE, STORED_BY_READER
from ttmlir.dialects.tt.layout import element_of
from ttmlir.dialects.ttcore import device_layout_of
from ttmlir.dialects.ttkernel import CBType, CircularBuffer, CircularBufferParameter
from ttmlir.dialects.ttmetal import KernelArg, KernelArgKind, KernelArgs, KernelArgsAttr
from ttmlir.ir.kernel_builder import KernelBuilder, Number
from ttmlir.ir.rewriting import refuse
from ttmlir.ir.tensor_types import system_desc_in_scope
from ttmlir.layout.affine import AffineMap, dims
from ttmlir.layout.enums import CBPort, MathFidelity, MemorySpace, NocIndex
from ttmlir.layout.metal import cb_page_bytes, iterator_positions

MemRef = MemRefType[Attribute]
Shape = tuple[int, ...]


@dataclass(frozen=True)
class Stream:
    """An operand: blocks of a buffer that go through a circular buffer."""

    number: int
    """Of the operand, not counting local buffers; by which kernels are given addresses."""
    cb: int
    """Of the circular buffer."""
    buffer: SSAValue
    """What is in memory."""
    view: AffineMap
    """From the number of a block and a tile in it to coordinates of the buffer."""
    blocks: Shape
    block: Shape
    """Tiles of a block."""
    bounce: int | None = None
    """The circular buffer through which elements go if tiles are gathered."""

    @property
    def tiles(self) -> int:
        """Tiles, or pages, of a block."""
        return math.prod(self.block)


@dataclass(frozen=True)
class KernelPlan:
    """The streams and circular buffers of a generic with one region, in which it computes."""

    generic: d2m.GenericOp
    streams: tuple[Stream, ...]
    storages: tuple[SSAValue, ...]
    """The memory of each circular buffer."""
    cb_types: tuple[CBType, ...]
    numbers: Mapping[SSAValue, int]
    """The circular buffer of each argument of the region, and of each local buffer."""
    stored_by_reader: Mapping[int, Stream]
    """The parts of outputs that the reader stores, by the circular buffer of the other part."""

    @property
    def inputs(self) -> Sequence[Stream]:
        """What is loaded."""
        return self.streams[: len(self.generic.inputs)]

    @property
    def outputs(self) -> Sequence[Stream]:
        """What is stored."""
        return self.streams[len(self.generic.inputs) :]

    @property
    def locals(self) -> Sequence[SSAValue]:
        """The local buffers of the region, as `memref.alloc`s in it."""
        return [value for value in self.numbers if isinstance(value.owner, memref.AllocOp)]

    @cached_property
    def key(self) -> tuple[object, ...]:
        """What the kernels follow from: those of generics with equal keys are the same."""
        generic = self.generic
        text = StringIO()
        Printer(text).print_region(generic.compute_region)
        return (
            text.getvalue(),
            self.cb_types,
            *(_signature(value) for value in generic.operands),
            *(self._numbers_of(stream) for stream in self.streams),
            *(generic.properties[name] for name in sorted(generic.properties)),
        )

    def _numbers_of(self, stream: Stream) -> int | None:
        """The operand with the numbers that name the elements of another."""
        view = stream.buffer.owner
        return self.operand_in(view.numbers) if isinstance(view, d2m.ViewNumberedOp) else None

    def operand_in(self, buffer: SSAValue) -> int | None:
        """The number of the operand that is in a buffer, by which kernels ask for its address."""
        return next((each.number for each in self.streams if each.buffer is buffer), None)

    def begin(self) -> KernelBuilder:
        """A kernel whose arguments are all circular buffers."""
        return KernelBuilder(self.generic.location, self.cb_types)


def plan_kernels(generic: d2m.GenericOp, locals_: Mapping[SSAValue, SSAValue]) -> KernelPlan:
    """The plan of a generic whose operands are streams.

    `locals_` are the local buffers with the memory of each, divided over the cores.
    """
    inputs = len(generic.inputs)
    arguments = generic.compute_region.block.args
    values = (*arguments[:inputs], *locals_, *arguments[inputs:])
    numbers = {value: number for number, value in enumerate(values)}
    bounces = {operand: numbers[value] for operand, value in _marked(locals_, BOUNCE)}
    streams = [
        _stream(generic, number, numbers[arguments[number]], bounces.get(number))
        for number in range(len(generic.operands))
    ]
    stored_by_reader: dict[int, Stream] = {}
    for operand, value in _marked(locals_, STORED_BY_READER):
        stream = streams[operand]
        streams[operand], last = _divide(stream, _shape_of(value))
        stored_by_reader[stream.cb] = replace(last, cb=numbers[value])
    memory = [_storage(generic, value) for value in generic.operands]
    storages = (*memory[:inputs], *locals_.values(), *memory[inputs:])
    if len(storages) > len(CBPort):
        refuse(
            generic,
            f"needs {len(storages)} circular buffers; a kernel has {len(CBPort)}: compute it in "
            "several generics",
        )
    types = tuple(_cb_type(number, value) for number, value in enumerate(storages))
    return KernelPlan(generic, tuple(streams), storages, types, numbers, stored_by_reader)


def _marked(locals_: Iterable[SSAValue], name: str) -> Iterator[tuple[int, SSAValue]]:
    """The local buffers that an attribute gives to an operand, with the number of that."""
    for value in locals_:
        attr = value.owner.attributes.get(name) if isinstance(value.owner, Operation) else None
        if attr is not None:
            yield cast("IntegerAttr", attr).value.data, value


def _shape_of(value: SSAValue) -> Shape:
    return tuple(cast("MemRef", value.type).get_shape())


def _divide(stream: Stream, last: Shape) -> tuple[Stream, Stream]:
    """A stream as two, the second with the last tiles of each block, in this shape."""
    (number,) = (n for n, each in enumerate(stream.block) if each != last[n])
    first = list(stream.block)
    first[number] -= last[number]
    rank = len(first)
    places = list(dims(2 * rank))
    places[rank + number] += first[number]
    view = stream.view.compose(AffineMap(2 * rank, 0, tuple(places)))
    return replace(stream, block=tuple(first)), replace(stream, block=last, view=view)


def _signature(value: SSAValue) -> tuple[object, ...]:
    """What an operand is made of, down to what is in memory, without its address."""
    parts: list[object] = [value.type]
    while isinstance(value.owner, d2m.D2MOp):
        properties = value.owner.properties
        parts += [value.owner.name, *(properties[name] for name in sorted(properties))]
        value = value.owner.operands[0]
        parts.append(value.type)
    return tuple(parts)


def _storage(generic: d2m.GenericOp, value: SSAValue) -> SSAValue:
    if not isinstance(value.owner, d2m.StreamLayoutOp):
        refuse(
            generic,
            "has an operand that is no stream, so there is no circular buffer for it; run "
            "d2m-allocate before",
        )
    return value.owner.storage


def _stream(generic: d2m.GenericOp, number: int, cb: int, bounce: int | None) -> Stream:
    value = generic.operands[number]
    layout = device_layout_of(value.type)
    buffer, view = d2m.buffer_of_view(value)
    assert layout is not None, "operands of generics have grids"
    return Stream(number, cb, buffer, view, layout.grid_shape, layout.shard_shape, bounce)


def blocks_of(storage: SSAValue) -> int:
    """How many blocks a circular buffer holds."""
    layout = device_layout_of(storage.type)
    return 1 if layout is None else layout.buffers


def _cb_type(number: int, storage: SSAValue) -> CBType:
    layout = device_layout_of(storage.type)
    assert layout is not None, "memory of circular buffers is divided over the cores"
    buffer = CircularBuffer(
        CBPort(number),
        0,
        cb_page_bytes(element_of(layout.element_type)),
        layout.buffers,
    )
    block = MemRefType(layout.element_type, layout.shard_shape)
    return CBType(CircularBufferParameter(buffer), block)


def address_of(op: Operation | object) -> int | None:
    """The address that an allocation was given; None if it has none."""
    attr = op.attributes.get("address") if isinstance(op, Operation) else None
    return cast("IntegerAttr", attr).value.data if isinstance(attr, IntegerAttr) else None


# --- Arguments ------------------------------------------------------------------------------------
# What kernels are given when they are compiled or launched: addresses and semaphores.


ARG_SPEC = "ttkernel.arg_spec"
"""On a kernel of late 2025 or 2026: what its arguments are, by the operands of the generic."""
WIDE_DST = "ttkernel.fp32_dest_acc_en"
"""On a compute kernel: DST holds numbers of 32 bits."""
APPROXIMATE = "ttkernel.math_approx_mode"
"""On a compute kernel: functions are approximate."""
EXACT_PRODUCTS = "ttkernel.exact_products"
"""On a compute kernel: it multiplies digits of integers, which HiFi2 takes all bits of."""
READER_NOC, WRITER_NOC = NocIndex.NOC0, NocIndex.NOC1
"""The networks of the two kernels that move data; the second one has the longer way from DRAM."""

KERNEL_ARGS = "ttmetal.kernel_args"
"""On a kernel: what its arguments are. Buffers are numbered as the operands of the generic, without
local buffers."""

D2M_REFERENCE = "d2m.reference"
"""On a generic: what it computes, spelled as `ttmetal.reference` on a program."""


def fidelity_of(kernel: FuncOp, fidelity: MathFidelity) -> MathFidelity:
    """The fidelity of a compute kernel: the one asked for, or the least that is exact."""
    is_coarse = fidelity is MathFidelity.LOFI
    return MathFidelity.HIFI2 if is_coarse and EXACT_PRODUCTS in kernel.attributes else fidelity


class KernelArguments:
    """The arguments that a kernel asks for, in the order in which it does."""

    def __init__(self, kernel: KernelBuilder, *, addresses_at_launch: bool) -> None:
        """No arguments yet; addresses may become known at each launch only."""
        self._kernel = kernel
        self._addresses_at_launch = addresses_at_launch
        self._compile_time: list[KernelArg] = []
        self._runtime: list[KernelArg] = []

    @property
    def attribute(self) -> KernelArgsAttr:
        """The list of all."""
        return KernelArgsAttr(KernelArgs(tuple(self._compile_time), tuple(self._runtime)))

    def address(self, number: int) -> SSAValue:
        """The address of the buffer below an operand."""
        arg = KernelArg(KernelArgKind.BUFFER_ADDRESS, number)
        if not self._addresses_at_launch:
            return self._add(arg)
        self._runtime.append(arg)
        (value,) = self._kernel.call("get_common_arg_val", len(self._runtime) - 1)
        return value

    def semaphore(self, number: int) -> SSAValue:
        """The address of a semaphore in L1."""
        semaphore_id = self._add(KernelArg(KernelArgKind.SEMAPHORE, number))
        (value,) = self._kernel.call("get_semaphore", semaphore_id)
        return value

    def _add(self, arg: KernelArg) -> SSAValue:
        self._compile_time.append(arg)
        place = len(self._compile_time) - 1
        (value,) = self._kernel.call("get_compile_time_arg_val", arg_index=place)
        return value


# --- Coordinates on the networks ------------------------------------------------------------------
# Where cores are on the networks of the chip that kernels are made for.


@dataclass(frozen=True)
class Chip:
    """What addresses depend on."""

    grid: tuple[int, int]
    """Rows and columns of worker cores."""
    rows: tuple[int, ...]
    """The row on the networks of each row of cores."""
    columns: tuple[int, ...]
    """The column on the networks of each column of cores."""
    dram_banks: int
    dram_alignment: int
    """Of addresses in DRAM: what is copied has the same place in such a unit at both ends."""
    l1_alignment: int
    is_asked: bool = False
    """Whether kernels ask the chip that they run on where its cores are."""


def chip_of(op: Operation) -> Chip:
    """The chip that the kernels of an operation run on."""
    system = system_desc_in_scope(op)
    if system is None:
        refuse(
            op,
            "has no machine to run on: the module lacks the attribute tt.system_desc; run "
            "ttir-load-system-desc before",
        )
    chip = system.chip_descs[0]
    rows, columns = chip.grid
    workers = chip.physical_cores.worker
    on_rows = tuple(y for y, _ in workers[::columns])
    on_columns = tuple(x for _, x in workers[:columns])
    if workers != tuple((y, x) for y in on_rows for x in on_columns) or len(on_rows) != rows:
        refuse(
            op,
            f"runs on a chip whose {rows}x{columns} cores are not in {rows} rows and {columns} "
            "columns of its networks; check the description of the machine",
        )
    return Chip(
        chip.grid,
        on_rows,
        on_columns,
        chip.num_dram_channels,
        chip.address_alignment(MemorySpace.DEVICE_DRAM),
        chip.address_alignment(MemorySpace.DEVICE_L1),
    )


def on_network(
    kernel: KernelBuilder, core: Number, chip: Chip, axis: Literal["x", "y"]
) -> SSAValue:
    """The coordinate on the networks of a column (`x`) or row (`y`) of cores."""
    if chip.is_asked:
        line = "col" if axis == "x" else "row"
        (found,) = kernel.call(f"worker_logical_{line}_to_virtual_{line}", core)
        return found
    places = chip.columns if axis == "x" else chip.rows
    if isinstance(core, int):
        return kernel.constant(places[core])
    found = kernel.add(core, places[0])
    for number in range(1, len(places)):
        gap = places[number] - places[number - 1] - 1
        if gap:
            found = kernel.add(found, kernel.choose(kernel.compare("uge", core, number), gap, 0))
    return kernel.value(found)


# --- Loops ----------------------------------------------------------------------------------------
# The loops over blocks that all kernels of a generic share.
#
#     loops = BlockLoops(generic, kernel)
#     loops.run(before, after)
#
# A generic has a loop for each iterator with more than one step, outermost first. Depth d is the
# inside of the first d loops. An operand is loaded or stored at the depth of the last loop that its
# indexing map depends on, in all kernels: so what one pushes, another one pops.


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

    def is_first(self, iterator: int, indices: Indices) -> SSAValue:
        """True in the first step of a loop that this depth is in."""
        return self._kernel.compare("eq", indices[iterator], self._first[iterator])

    def has_equal_steps(self, iterator: int) -> bool:
        """True if all cores have as many steps along an iterator."""
        return isinstance(self._first[iterator], int) or iterator in self._even

    def run(
        self, before: Visit, after: Visit, depth: int | None = None, *, without: int = 0
    ) -> None:
        """Write the loops, or the outer `depth` of them.

        `before` is asked to write what each depth begins with, and `after` what it ends with. So
        many last steps of the innermost loop are missing: `after` of the depth around writes them.
        """
        self._missing = without
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

            def iterate(step: Number) -> None:
                inside = {**indices, iterator: self._kernel.add(step, first)}
                self._enter(depth + 1, last, inside, before, after)

            steps = self._steps(iterator)
            if self._missing and depth + 1 == len(self._loops):
                assert isinstance(steps, int), "reductions are not spread over cores"
                steps -= self._missing
            self._kernel.count(steps, iterate)
        after(depth, indices)

    def _steps(self, iterator: int) -> Number:
        """How many blocks along an iterator this core has: the last cores may have fewer."""
        factor, count = self._factors[iterator], self._counts[iterator]
        first = self._first[iterator]
        if self.has_equal_steps(iterator):
            return factor
        begin = self._kernel.arithmetic(arith.MinUIOp, first, count)
        left = self._kernel.arithmetic(arith.SubiOp, count, begin)
        return self._kernel.arithmetic(arith.MinUIOp, left, factor)
