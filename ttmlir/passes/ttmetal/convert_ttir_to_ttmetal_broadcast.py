"""`ttir.broadcast` of rows of numbers in L1: a kernel that copies rows and repeats numbers.

Rows of equal length are copied over the network, from the core to itself. Rows of one number are
written word by word by the processor.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue

from ttmlir.dialects import ttmetal
from ttmlir.dialects.definition.dps import is_dps
from ttmlir.dialects.ttkernel import NocConfigAttr
from ttmlir.ir.kernel_builder import KernelBuilder
from ttmlir.ir.tensor_types import value_shape
from ttmlir.layout.data_movement import PlacedTensor
from ttmlir.layout.enums import MemorySpace, NocIndex
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.system.chip import ChipDesc
from ttmlir.layout.tensor_layout import TensorLayout
from ttmlir.passes.ttmetal.dispatch_builder import Launch, replace_by_dispatch

OnRow = Callable[[Sequence[SSAValue]], None]
"""Writes what is done with the addresses of a row of the source and of one of the target."""

_WORD = 4
"""Bytes that a processor reads and writes at once."""


@dataclass(frozen=True)
class _Loop:
    """Repetition over a dimension; strides are in rows, that of the source 0 where it repeats."""

    extent: int
    source: int
    target: int


def broadcast(op: Operation, source: PlacedTensor, target: PlacedTensor, chip: ChipDesc) -> None:
    """Replace a broadcast by a kernel on the core that holds both tensors.

    LayoutError if they are not rows of numbers in the L1 of one core.
    """
    assert is_dps(op), "ttir.broadcast has a destination"
    (value,) = op.inputs
    shape, whole = value_shape(value), value_shape(op.results[0])
    shape = (1,) * (len(whole) - len(shape)) + shape
    for tensor, extents in ((source, value_shape(value)), (target, whole)):
        _check(tensor.layout, extents)
    kernel = KernelBuilder(op.location)
    spreads = shape[-1:] != whole[-1:]
    lengths = (_row_bytes(source.layout), _row_bytes(target.layout))

    def on_rows(count: int) -> OnRow:
        if spreads:
            return _repeat_number(kernel, target.layout)
        return _copy_rows(kernel, chip, count * lengths[0])

    loops = _loops(shape[:-1], whole[:-1])
    count = 1
    if not spreads:
        loops, count = _contiguous(loops)
    kernel.walk(
        [loop.extent for loop in loops],
        [
            [loop.source * lengths[0] for loop in loops],
            [loop.target * lengths[1] for loop in loops],
        ],
        [kernel.constant(source.address), kernel.constant(target.address)],
        on_rows(count),
    )
    # What reads whole tiles reads the rows below the tensor, too.
    rows = math.prod(whole[:-1])
    below = kernel.constant(target.address + rows * lengths[1])
    kernel.walk(
        [target.layout.shard[0] - rows],
        [[0], [lengths[1]]],
        [kernel.constant(source.address), below],
        on_rows(1),
    )
    if not spreads:
        kernel.call("noc_async_read_barrier")
    launch = Launch(kernel, ttmetal.Area((0, 0), (1, 1)), NocConfigAttr(NocIndex.NOC0))
    replace_by_dispatch(op, op.inputs, op.inits, [launch])


def _check(layout: TensorLayout, shape: Sequence[int]) -> None:
    in_rows = TensorLayout.of(shape, layout.scalar_element, layout.memory_space, layout.grid)
    if (
        layout.is_tiled
        or layout.memory_space is not MemorySpace.DEVICE_L1
        or layout.grid.volume > 1
        or layout.linear != in_rows.linear
    ):
        raise LayoutError(
            "kernels broadcast rows of numbers in the l1 of one core; bring the operands there by "
            "ttir.to_layout, or leave the layouts to ttir-to-ttmetal-backend-pipeline"
        )
    if _row_bytes(layout) % _WORD:
        raise LayoutError(
            f"rows of {_row_bytes(layout)} bytes are no multiple of {_WORD}; pad them"
        )


def _row_bytes(layout: TensorLayout) -> int:
    return layout.shard[-1] * layout.element.size_bytes


def _loops(shape: Sequence[int], whole: Sequence[int]) -> list[_Loop]:
    """The loops over all dimensions but the last, outermost first, as few as possible."""
    loops: list[_Loop] = []
    for depth, (here, there) in enumerate(zip(shape, whole, strict=True)):
        source = math.prod(shape[depth + 1 :]) if here == there else 0
        loop = _Loop(there, source, math.prod(whole[depth + 1 :]))
        last = loops[-1] if loops else None
        if there == 1:
            continue
        if last is not None and last.source == loop.source * loop.extent:
            loops[-1] = replace(loop, extent=last.extent * loop.extent)
        else:
            loops.append(loop)
    return loops


def _contiguous(loops: Sequence[_Loop]) -> tuple[Sequence[_Loop], int]:
    """The loops around the rows that lie in a row in both tensors, and the number of these."""
    if loops and loops[-1].source == 1:
        return loops[:-1], loops[-1].extent
    return loops, 1


def _copy_rows(
    kernel: KernelBuilder, chip: ChipDesc, size: int
) -> Callable[[Sequence[SSAValue]], None]:
    y, x = map(kernel.constant, chip.physical_cores.worker[0])
    length = kernel.constant(size)

    def on_row(addresses: Sequence[SSAValue]) -> None:
        (start,) = kernel.call("get_noc_addr", x, y, addresses[0])
        kernel.call("noc_async_read", start, addresses[1], length)

    return on_row


def _repeat_number(kernel: KernelBuilder, target: TensorLayout) -> OnRow:
    """Fill a row with words that hold the first number of another."""
    size = target.element.size_bytes
    words = _row_bytes(target) // _WORD

    def on_row(addresses: Sequence[SSAValue]) -> None:
        source, row = map(kernel.pointer, addresses)
        (word,) = kernel.call("load_from_l1", source, 0)
        if size < _WORD:
            word = kernel.arithmetic(arith.AndIOp, word, (1 << 8 * size) - 1)
            word = kernel.arithmetic(arith.MuliOp, word, _REPEATED[size])

        def on_word(places: Sequence[SSAValue]) -> None:
            kernel.call("store_to_l1", word, row, places[0])

        kernel.walk([words], [[1]], [kernel.constant(0)], on_word)

    return on_row


_REPEATED = {1: 0x01010101, 2: 0x00010001}
"""What a number of so many bytes is multiplied by to fill a word."""
