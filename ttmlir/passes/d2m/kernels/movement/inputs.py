"""How the tiles of an input are loaded: as they are in a buffer, or gathered."""

from __future__ import annotations

from xdsl.ir import SSAValue

from ttmlir.dialects import d2m
from ttmlir.dialects.ttcore import device_layout_of
from ttmlir.ir.kernel_builder import KernelBuilder
from ttmlir.layout.enums import MemorySpace
from ttmlir.layout.errors import LayoutError
from ttmlir.passes.d2m.kernels.arguments import KernelArguments
from ttmlir.passes.d2m.kernels.chip import Chip
from ttmlir.passes.d2m.kernels.movement.block_copy import (
    BytesSomewhere,
    RepeatedParts,
    TileAddresses,
    tile_addresses,
    tile_bytes_of,
)
from ttmlir.passes.d2m.kernels.movement.gather import GatheredTiles
from ttmlir.passes.d2m.kernels.movement.numbered import NumberedTiles
from ttmlir.passes.d2m.kernels.plan import KernelPlan, Stream
from ttmlir.passes.d2m.repeated_parts import Parts


def input_addresses(
    kernel: KernelBuilder,
    plan: KernelPlan,
    stream: Stream,
    arguments: KernelArguments,
    chip: Chip,
    parts: Parts = (),
) -> TileAddresses:
    """How to load the tiles of an input, or these parts; LayoutError if kernels cannot."""
    view = stream.buffer.owner
    if not isinstance(view, d2m.Gather):
        tiles = tile_addresses(kernel, stream, arguments, chip, parts)
        return RepeatedParts(tiles, parts) if parts else tiles
    if stream.bounce is None:
        raise LayoutError(
            f"operand #{stream.number} is gathered, and there is no memory to do it in; run "
            "ttcore-one-shot-bufferize before"
        )
    bounce = kernel.buffers[stream.bounce]
    below, alignment = _bytes_below(view.input, arguments.address(stream.number), chip)
    if isinstance(view, d2m.ViewElementsOp):
        return GatheredTiles(kernel, view, below, alignment, bounce)
    number = plan.operand_in(view.numbers)
    if number is None:
        raise LayoutError(
            f"the elements of operand #{stream.number} are named by numbers, which are no operand"
        )
    numbers, _ = _bytes_below(view.numbers, arguments.address(number), chip)
    return NumberedTiles(kernel, view, (below, numbers), alignment, bounce)


def _bytes_below(buffer: SSAValue, base: SSAValue, chip: Chip) -> tuple[BytesSomewhere, int]:
    """The bytes of a buffer, and the alignment of reads from it."""
    layout = device_layout_of(buffer.type)
    if layout is None or layout.index_map is not None:
        raise LayoutError("a view on elements is made of a buffer, not of another view")
    is_dram = layout.memory_space is MemorySpace.DEVICE_DRAM
    return (
        tile_bytes_of(layout, base, chip),
        chip.dram_alignment if is_dram else chip.l1_alignment,
    )
