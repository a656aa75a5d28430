"""Layouts of tensors of ttnn of 2026 in L1, divided over cores, and moves to them."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import BFloat16Type, Float32Type, ModuleOp, StringAttr, TensorType
from xdsl.dialects.func import FuncOp

from ttmlir.dialects import tt, ttnn
from ttmlir.dialects.definition.ods import SYSTEM_DESC
from ttmlir.dialects.ttcore import device_of
from ttmlir.dialects.ttnn.attrs import BUFFER_TYPES, MEMORY_LAYOUTS, TTNNLayoutAttr
from ttmlir.ir.rewriting import insert_before
from ttmlir.ir.ttnn_types import (
    TILE,
    Shards,
    is_sharded,
    layout_in,
    set_type,
    stored_in,
    tensor_in,
)
from ttmlir.layout.enums import BufferType, DataType, MemorySpace, TTNNTensorMemoryLayout
from ttmlir.mlir.option_values import OptionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from xdsl.dialects.builtin import LocationAttr
    from xdsl.ir import Attribute, Block, Operation, SSAValue

    from ttmlir.layout.tensor_layout import TensorLayout

_ELEMENTS = {DataType.F32: Float32Type(), DataType.BF16: BFloat16Type()}
"""Types of the elements of formats; the others are elements by their tiles."""


L1_SHARE = 0.8
"""The part of L1 that tensors take; the rest is for circular buffers."""


def check_part(name: str, part: float) -> None:
    """Refuse the value of an option that is no part of L1."""
    if not 0 <= part <= 1:
        raise OptionError(
            f"for the --{name} option: {part} is no part of L1; give a number from 0 to 1"
        )


def type_in(type_: Attribute, place: TensorLayout, workers: Sequence[int]) -> TensorType[Attribute]:
    """The type of a tensor in the memory, over the cores and with the format of a layout.

    `workers` are the rows and columns of cores of the device.
    """
    tensor = cast("TensorType[Attribute]", type_)
    element, stored = tensor.element_type, stored_in(type_)
    given, wanted = layout_attr(type_), format_of(place)
    if given is None or format_of(given.tensor_layout) is not wanted:
        element = stored = _ELEMENTS.get(wanted) or tt.TileType.get(TILE, TILE, wanted)
    shards = None
    if place.memory_space is MemorySpace.DEVICE_L1:
        spread = MEMORY_LAYOUTS[place.memory_layout]
        rows, columns = place.grid.shape
        shards = Shards.on(spread, (rows, columns), workers)
    layout = layout_in(
        tensor.get_shape(),
        stored,
        tiled=place.is_tiled,
        buffer=BUFFER_TYPES[place.memory_space],
        shards=shards,
    )
    return TensorType(element, tensor.get_shape(), layout)


def format_of(layout: TensorLayout) -> DataType:
    """The format that a layout stores numbers in."""
    tile = layout.tile
    return layout.scalar_element.data_type if tile is None else tile.data_type


def layout_attr(type_: Attribute) -> TTNNLayoutAttr | None:
    """The layout of a tensor of ttnn; None for other values."""
    layout = getattr(type_, "encoding", None)
    return layout if isinstance(layout, TTNNLayoutAttr) else None


def shard_bytes(type_: Attribute) -> int:
    """Bytes of the part of a tensor that one core holds; of all of it where it is interleaved."""
    layout = layout_attr(type_)
    assert layout is not None, "tensors of ttnn have layouts"
    return layout.tensor_layout.shard_bytes


def move(value: SSAValue, type_: Attribute, before: Operation, location: LocationAttr) -> SSAValue:
    """A tensor as another type has it, made before an operation."""
    if value.type == type_:
        return value
    new = ttnn.op_class("to_tensor_spec").create(
        operands=[value], result_types=[type_], location=location
    )
    insert_before(before, new)
    return new.results[0]


def by_columns(type_: Attribute, cores: int, workers: Sequence[int]) -> TensorType[Attribute]:
    """The type of a tensor as tiles in L1, whose columns are divided over some cores."""
    shards = Shards.on(TTNNTensorMemoryLayout.WIDTH_SHARDED, (1, cores), workers)
    return tensor_in(type_, tiled=True, buffer=BufferType.L1, shards=shards)


def cores_by_columns(columns: int, most: int, workers: Sequence[int]) -> int:
    """How many cores have equal shards of columns of tiles, in whole rows of cores or part of one.

    They are at most `most`, and those of the device.
    """
    across, most = workers[1], min(prod(workers), most)
    fitting = (
        count
        for count in range(most, 0, -1)
        if columns % count == 0 and (count % across == 0 or count < across)
    )
    return next(fitting, 1)


def make_shards(op: Operation, type_: Attribute) -> None:
    """Let the result be shards, which all users get back where it was."""
    whole, block = op.results[0].type, op.parent
    result = set_type(op.results[0], type_)
    back = ttnn.op_class("to_tensor_spec").create(
        operands=[result], result_types=[whole], location=op.location
    )
    assert block is not None, "it is in a function"
    block.insert_op_after(back, op)
    for use in tuple(result.uses):
        if use.operation is not back:
            use.operation.operands[use.index] = back.results[0]


def is_elementwise(op: Operation) -> bool:
    """True for an operation of ttnn that computes each element of its own."""
    definition = getattr(op, "DEFINITION", None)
    return (
        op.name.startswith("ttnn.")
        and definition is not None
        and (definition.family.is_elementwise)
    )


def parts_of(tiles: int, most: int) -> int:
    """Into how many parts of as many tiles a row of tiles is divided, none of them empty."""
    return -(-tiles // -(-tiles // most))


_ANY_BYTES = 1 << 40
"""L1 of a core of a machine that is not described."""


def device_functions(module: ModuleOp) -> Iterator[tuple[Block, tuple[int, int], int]]:
    """Functions that run on a device: their operations, its rows and columns of cores, and the
    bytes of L1 for tensors on each of them. Functions of constants are none of them."""
    for function in [op for op in module.walk() if isinstance(op, FuncOp)]:
        kind = function.attributes.get("tt.function_type")
        device = device_of(function)
        is_called = isinstance(kind, StringAttr) and kind.data != "forward_device"
        if device is not None and not is_called and function.body.blocks:
            rows, columns = device.worker_grid.data.shape
            usable = usable_l1_of(function)
            yield (
                function.body.blocks[0],
                (rows, columns),
                _ANY_BYTES if usable is None else usable,
            )


class Occupancy:
    """Bytes of L1 of each core that shards take while each operation of a block runs."""

    def __init__(self, block: Block) -> None:
        """Begin with the shards that there are."""
        self.ops = tuple(block.ops)
        self._order = {op: number for number, op in enumerate(self.ops)}
        self._held = [0] * len(self.ops)
        for op in self.ops:
            for result in op.results:
                if is_sharded(result.type):
                    for each in self.span([result]):
                        self._held[each] += shard_bytes(result.type)

    def at(self, op: Operation) -> int:
        """While an operation runs."""
        return self._held[self._order[op]]

    def span(self, values: Sequence[SSAValue]) -> range:
        """The numbers of operations from the one that makes a tensor to the last one that uses it.

        `values` are its names; the first is the result that it is made as.
        """
        first = self._order[cast("Operation", values[0].owner)]
        used = (use.operation for value in values for use in value.uses)
        return range(first, max((self._order.get(each, first) for each in used), default=first) + 1)

    def add(self, span: range, size: int, most: Callable[[Operation], int]) -> bool:
        """Give a tensor room; False, and nothing is done, if it does not fit.

        `most` says what tensors may take while an operation runs.
        """
        if any(self._held[each] + size > most(self.ops[each]) for each in span):
            return False
        for each in span:
            self._held[each] += size
        return True


def usable_l1_of(op: Operation) -> int | None:
    """Bytes of L1 for tensors on each core of the machine; None if it is not described."""
    table: Operation | None = op
    while table is not None:
        found = table.attributes.get(SYSTEM_DESC) if isinstance(table, ModuleOp) else None
        if isinstance(found, tt.SystemDescAttr):
            return found.data.chip_descs[0].usable_l1_size
        table = table.parent_op()
    return None
