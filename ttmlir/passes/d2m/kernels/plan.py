"""What the kernels of one generic have in common: its operands and its circular buffers.

Circular buffers are numbered: the inputs, local buffers of the region, the outputs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from io import StringIO
from typing import cast

from xdsl.dialects import memref
from xdsl.dialects.builtin import IntegerAttr, MemRefType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.printer import Printer

from ttmlir.dialects import d2m
from ttmlir.dialects.d2m.structure import BOUNCE, STORED_BY_READER
from ttmlir.dialects.tt.layout import element_of
from ttmlir.dialects.ttcore import device_layout_of
from ttmlir.dialects.ttkernel import CBType, CircularBuffer, CircularBufferParameter
from ttmlir.ir.kernel_builder import KernelBuilder
from ttmlir.ir.rewriting import refuse
from ttmlir.layout.affine import AffineMap, dims
from ttmlir.layout.enums import CBPort
from ttmlir.layout.metal import cb_page_bytes

MemRef = MemRefType[Attribute]
Shape = tuple[int, ...]


@dataclass(frozen=True)
class Stream:
    """An operand: blocks of a buffer that go through a circular buffer."""

    number: int
    """Of the operand, not counting local buffers; so kernels are told addresses."""
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
