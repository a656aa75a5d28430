"""Operations that move numbers, or look them up, and compute nothing.

Whole tiles are copied page by page. Where numbers leave their rows of tiles, lines of 16 numbers
(a row of a face) are moved one by one, which costs a processor far more than the bytes do.
"""

from __future__ import annotations

import math
from dataclasses import replace

from ttmlir.cost.families.elementwise import stream_tiles
from ttmlir.cost.machine import Machine
from ttmlir.cost.work import (
    TILE,
    Work,
    call_cycles,
    cores_for,
    dram_bytes,
    join,
    network_bytes,
    reading,
    stages,
    tensor_bytes,
    tile_count,
    tile_shape,
    writing,
)
from ttmlir.cost.workload import PROCESSOR, OperationCost, Stage, Workload
from ttmlir.layout.data_format import FACE, has_same_tiles
from ttmlir.layout.enums import MemorySpace
from ttmlir.runtime.tensor import TensorDesc
from ttmlir.sim.timing.costs import (
    pack_cycles,
    tile_bytes,
    tilize_unpack_cycles,
    unpack_cycles,
    untilize_cycles,
)

WIDE = 32
"""ttnn tilizes rows of more tiles in blocks, on more cores than there are rows of tiles."""


def count_lines(shape: tuple[int, ...]) -> int:
    """Rows of faces with numbers of a tensor; what is padding alone is not moved."""
    *outer, columns = shape or (1,)
    return math.prod(outer) * -(-columns // FACE)


def copy_tiles(machine: Machine, source: TensorDesc, output: TensorDesc) -> Workload:
    """Pages from one place to another; a core that reads a page writes it."""
    compute = (
        ()
        if source.data_type is output.data_type
        else stages(
            unpack_cycles(source.data_type), call_cycles("copy_tile"), pack_cycles(output.data_type)
        )
    )
    return stream_tiles(machine, (source,), output, compute, flops_per_element=0.0)


def move_lines(
    machine: Machine, work: Work, *, whole_tiles: bool = False, notes: tuple[str, ...] = ()
) -> Workload:
    """Lines of faces are written one by one to where they belong.

    `whole_tiles`: they are put together in L1, and leave as tiles.
    """
    source, output = work.operands[0], work.output
    count = tile_count(output.shape)
    cores = cores_for(machine, output, count)
    figures = machine.figures
    read = reading(machine, source, 1, cores)
    # The place in the result is a division away, as is that of a page.
    lines = count_lines(output.shape) / count * (figures.write_issue + 2 * machine.page_address)
    write = Stage(PROCESSOR, figures.dram_write_latency + lines, lines)
    if whole_tiles:
        tile = writing(machine, output, 1, cores)
        write = Stage(
            PROCESSOR if lines > tile.cycles else tile.kind,
            lines + tile.cycles,
            max(lines, tile.ideal),
        )
    return Workload(
        cores=cores,
        steps=-(-count // cores),
        read=read,
        compute=stages(
            unpack_cycles(source.data_type), call_cycles("copy_tile"), pack_cycles(output.data_type)
        ),
        write=write,
        dram_bytes=dram_bytes(source, output),
        noc_bytes=network_bytes(source, output),
        notes=notes,
    )


def cost_transpose(machine: Machine, work: Work) -> OperationCost:
    """Two dimensions change places."""
    rank = len(work.operands[0].shape)
    dims = {int(work.parameters[name]) % rank for name in ("dim0", "dim1")}
    order = list(range(rank))
    if len(dims) == 2:
        first, second = sorted(dims)
        order[first], order[second] = second, first
    return _permute(machine, work, order)


def cost_permute(machine: Machine, work: Work) -> OperationCost:
    """All dimensions are put in another order."""
    return _permute(machine, work, [int(dim) for dim in work.parameters["permutation"]])


def _permute(machine: Machine, work: Work, order: list[int]) -> OperationCost:
    source = work.operands[0]
    rank = len(order)
    last = set(range(max(0, rank - 2), rank))
    if order == list(range(rank)):
        return OperationCost(programs=(copy_tiles(machine, source, work.output),))
    if {order[dim] for dim in last} != last:
        move = move_lines if order[-1] == rank - 1 else _move_columns
        return OperationCost(programs=(move(machine, work),))
    if order[-1] == rank - 1:
        return OperationCost(programs=(copy_tiles(machine, source, work.output),))
    data_type = source.data_type
    compute = stages(
        unpack_cycles(data_type), call_cycles("transpose_wh_tile"), pack_cycles(data_type)
    )
    streamed = stream_tiles(machine, (source,), work.output, compute, flops_per_element=0.0)
    return OperationCost(programs=(streamed,))


def _move_columns(machine: Machine, work: Work) -> Workload:
    """Columns leave their rows of tiles: ttnn gathers the lines of a tile of the result one by one,
    transposes them, and writes each line of the tile to its place, padding too."""
    source, output = work.operands[0], work.output
    moved = move_lines(machine, work)
    count = tile_count(output.shape)
    gathered = count_lines(source.shape) / count
    line = FACE * tile_bytes(source.data_type) / (TILE * TILE)
    read = _read_pages(machine, source, gathered, line, moved.cores)
    places = gathered * machine.page_address
    written = TILE * TILE / FACE * (machine.figures.write_issue + 2 * machine.page_address)
    return replace(
        moved,
        read=Stage(read.kind, read.cycles + places, read.ideal),
        write=Stage(PROCESSOR, machine.figures.dram_write_latency + written, written),
    )


def cost_reshape(machine: Machine, work: Work) -> OperationCost:
    """Nothing if the rows of tiles stay where they are; else lines are moved."""
    before, after = work.operands[0].shape, work.output.shape
    if has_same_tiles(before, after):
        return OperationCost(notes=("a view: nothing is moved",))
    return OperationCost(programs=(move_lines(machine, work, whole_tiles=True),))


def cost_concat(machine: Machine, work: Work) -> OperationCost:
    """Tiles are copied if all parts but the last end with whole tiles; else lines are moved."""
    rank = len(work.output.shape)
    dim = int(work.parameters["dim"]) % rank
    parts = [desc.shape[dim] for desc in work.operands]
    if dim < rank - 2 or all(extent % TILE == 0 for extent in parts[:-1]):
        return OperationCost(programs=(copy_tiles(machine, work.operands[0], work.output),))
    return OperationCost(programs=(move_lines(machine, work),))


def cost_concatenate_heads(machine: Machine, work: Work) -> OperationCost:
    """Heads of whole tiles stand side by side: tiles are copied; others are moved by lines."""
    if work.operands[0].shape[-1] % TILE == 0:
        return OperationCost(programs=(copy_tiles(machine, work.operands[0], work.output),))
    return OperationCost(programs=(move_lines(machine, work),))


def cost_slice(machine: Machine, work: Work) -> OperationCost:
    """Tiles are copied if the part begins at one and has no gaps; else lines are moved."""
    begins = [int(each) for each in work.parameters["begins"]]
    steps = [int(each) for each in work.parameters["step"]]
    is_whole = all(begin % TILE == 0 for begin in begins[-2:]) and all(
        step == 1 for step in steps[-2:]
    )
    if is_whole:
        return OperationCost(programs=(copy_tiles(machine, work.operands[0], work.output),))
    return _through_rows(machine, work)


def cost_pad(machine: Machine, work: Work) -> OperationCost:
    """Tiles are copied if nothing is added in front of rows or columns; else lines are moved."""
    padding = [int(each) for each in work.parameters["padding"]]
    in_front = padding[0::2][-2:]
    if all(each % TILE == 0 for each in in_front):
        return OperationCost(programs=(copy_tiles(machine, work.operands[0], work.output),))
    return OperationCost(programs=(move_lines(machine, work),))


def cost_repeat(machine: Machine, work: Work) -> OperationCost:
    """Tiles are copied where whole ones are repeated, else rows are."""
    repeats = [int(each) for each in work.parameters["repeat_dimensions"]]
    inner = zip(work.operands[0].shape[-2:], repeats[-2:], strict=False)
    if all(times == 1 or extent % TILE == 0 for extent, times in inner):
        return OperationCost(programs=(copy_tiles(machine, work.operands[0], work.output),))
    return _through_rows(machine, work)


def cost_repeat_interleave(machine: Machine, work: Work) -> OperationCost:
    """Tiles are copied where whole matrices are repeated, else rows are; columns become rows and
    columns again for that."""
    source, output = work.operands[0], work.output
    rank = len(source.shape)
    dim = int(work.parameters["dim"]) % rank
    if dim < rank - 2:
        return OperationCost(programs=(copy_tiles(machine, source, output),))
    if dim < rank - 1 or rank < 2:
        return _through_rows(machine, work)
    before, after = _swap(source), _swap(output)
    order = [*range(rank - 2), rank - 1, rank - 2]
    parts = (
        _permute(machine, replace(work, operands=(source,), output=before), order),
        _through_rows(machine, replace(work, operands=(before,), output=after)),
        _permute(machine, replace(work, operands=(after,), output=output), order),
    )
    return OperationCost(programs=[program for part in parts for program in part.programs])


def _swap(desc: TensorDesc) -> TensorDesc:
    """The transposed matrices."""
    return replace(desc, shape=(*desc.shape[:-2], *reversed(desc.shape[-2:])))


def _through_rows(machine: Machine, work: Work) -> OperationCost:
    """Three programs: tiles become rows, these are copied, and become tiles."""
    source, output = work.operands[0], work.output
    rows, copied = (replace(each, tile=(1, 1)) for each in (source, output))
    parts = (
        cost_untilize(machine, replace(work, operands=(source,), output=rows)),
        cost_rows(machine, replace(work, operands=(rows,), output=copied)),
        cost_tilize(machine, replace(work, operands=(copied,), output=output)),
    )
    return OperationCost(programs=[program for part in parts for program in part.programs])


def cost_lines(machine: Machine, work: Work) -> OperationCost:
    """Operations of which only the movement of their numbers is known."""
    note = "only the movement of the numbers is counted"
    return OperationCost(programs=(move_lines(machine, work, notes=(note,)),))


def cost_copy(machine: Machine, work: Work) -> OperationCost:
    """Operations that read all operands and write the result, of which no more is known."""
    note = "only reading the operands and writing the result are counted"
    workload = stream_tiles(
        machine, work.operands, work.output, (), flops_per_element=0.0, notes=(note,)
    )
    return OperationCost(programs=(workload,))


def cost_update(machine: Machine, work: Work) -> OperationCost:
    """A position written to a cache: the tiles that hold it are read and written, in each head."""
    cache, new = work.operands[:2]
    users, heads, _, width = cache.shape
    if work.mnemonic == "paged_update_cache":
        users = new.shape[1]
    rows = replace(cache, shape=(users, heads, TILE, width))
    return cost_copy(machine, replace(work, operands=(rows,), output=rows))


def cost_fill(machine: Machine, work: Work) -> OperationCost:
    """Positions written to a cache: what is written is read."""
    new = work.operands[1]
    return cost_copy(machine, replace(work, operands=(new,), output=new))


def cost_embedding(machine: Machine, work: Work) -> OperationCost:
    """A row of the table for each index, then tiles of the rows if the result has tiles."""
    output = work.output
    if not output.is_tiled and work.mnemonic == "rows_gather":
        return cost_rows(machine, work)
    columns = output.shape[-1]
    rows = math.prod(output.shape[:-1])
    element = tile_bytes(output.data_type) / (TILE * TILE)
    blocks = -(-rows // TILE)
    cores = cores_for(machine, output, blocks)
    steps = -(-blocks // cores)
    width = -(-columns // TILE)
    read = machine.read_dram(TILE, columns * element, cores)
    compute = stages(
        width * tilize_unpack_cycles(output.data_type, width),
        width * call_cycles("copy_tile"),
        width * pack_cycles(output.data_type),
    )
    size = tensor_bytes(output)
    workload = Workload(
        cores=cores,
        steps=steps,
        read=read,
        compute=compute,
        tiles_per_step=width,
        write=writing(machine, output, width, cores),
        dram_bytes=size + dram_bytes(output),
        noc_bytes=2 * size,
    )
    return OperationCost(programs=(workload,))


def cost_rows(machine: Machine, work: Work) -> OperationCost:
    """Rows of a row-major table, one by one, each read before it is written."""
    output = work.output
    count = math.prod(output.shape[:-1])
    cores = cores_for(machine, output, count)
    page = output.shape[-1] * tile_bytes(output.data_type) / (TILE * TILE)
    read = _read_pages(machine, work.operands[0], 1, page, cores)
    write = _write_pages(machine, output, 1, page, cores)
    in_dram = sum(
        each.memory_space is MemorySpace.DEVICE_DRAM for each in (work.operands[0], output)
    )
    return OperationCost(
        programs=(
            Workload(
                cores=cores,
                steps=-(-count // cores),
                read=read,
                write=write,
                dram_bytes=in_dram * count * page,
                noc_bytes=2 * count * page,
            ),
        )
    )


def cost_tilize(machine: Machine, work: Work) -> OperationCost:
    """A row of tiles at a time out of 32 rows, or a part of a wide one, which a core reads before
    it begins."""
    source, output = work.operands[0], work.output
    _, rows, columns = tile_shape(output.shape)
    units = tile_count(output.shape) // columns
    if columns > WIDE and (rows > WIDE or columns > rows):
        units, columns = _divide_rows(machine, units, columns)
    cores = cores_for(machine, output, units)
    page = min(source.shape[-1], columns * TILE) * tile_bytes(source.data_type) / (TILE * TILE)
    read = _read_pages(machine, source, _rows_of_block(source), page, cores)
    write = writing(machine, output, 1, cores)
    compute = stages(
        columns * tilize_unpack_cycles(output.data_type, columns) / machine.figures.unpack_speed,
        columns * call_cycles("copy_tile"),
        columns * pack_cycles(output.data_type),
    )
    return OperationCost(
        programs=(
            Workload(
                cores=cores,
                steps=-(-units // cores),
                read=read,
                compute=compute,
                tiles_per_step=columns,
                write=Stage(write.kind, columns * write.cycles, columns * write.ideal),
                dram_bytes=dram_bytes(source, output),
                noc_bytes=network_bytes(source, output),
            ),
        )
    )


def _divide_rows(machine: Machine, rows: int, columns: int) -> tuple[int, int]:
    """Blocks of rows of tiles, and the tiles of a block: parts of rows if cores are left over."""
    width = -(-columns // max(1, machine.cores // rows))
    return rows * -(-columns // width), width


def cost_untilize(machine: Machine, work: Work) -> OperationCost:
    """A row of tiles at a time becomes 32 rows, or a part of one if there are fewer than cores."""
    source, output = work.operands[0], work.output
    columns = tile_shape(source.shape)[-1]
    units, columns = _divide_rows(machine, tile_count(source.shape) // columns, columns)
    cores = cores_for(machine, source, units)
    page = min(output.shape[-1], columns * TILE) * tile_bytes(output.data_type) / (TILE * TILE)
    read = reading(machine, source, 1, cores)
    unpack, pack = untilize_cycles(source.data_type, by_packer=True)
    write = _write_pages(machine, output, _rows_of_block(output), page, cores)
    return OperationCost(
        programs=(
            Workload(
                cores=cores,
                steps=-(-units // cores),
                read=Stage(read.kind, columns * read.cycles, columns * read.ideal),
                compute=stages(
                    columns * unpack, columns * call_cycles("copy_tile"), columns * pack
                ),
                tiles_per_step=columns,
                write=write,
                dram_bytes=dram_bytes(source, output),
                noc_bytes=network_bytes(source, output),
            ),
        )
    )


def cost_permute_rows(machine: Machine, work: Work) -> OperationCost:
    """Rows of a row-major tensor, one by one, each read before it is written."""
    output = work.output
    count = math.prod(output.shape[:-1])
    cores = cores_for(machine, output, count)
    page = output.shape[-1] * tile_bytes(output.data_type) / (TILE * TILE)
    # The place of a row in the other order: a division for each dimension, as for a page.
    place = len(output.shape) * machine.page_address
    read = machine.read_dram(1, page, cores)
    write = machine.write_dram(1, page, cores)
    return OperationCost(
        programs=(
            Workload(
                cores=cores,
                steps=-(-count // cores),
                read=read,
                write=Stage(write.kind, write.cycles + place, write.ideal),
                dram_bytes=2 * count * page,
                noc_bytes=2 * count * page,
            ),
        )
    )


def _rows_of_block(desc: TensorDesc) -> int:
    """Rows of numbers of a row of tiles, without padding."""
    return min(TILE, desc.shape[-2]) if len(desc.shape) > 1 else 1


def _read_pages(machine: Machine, desc: TensorDesc, pages: float, page: float, cores: int) -> Stage:
    if desc.memory_space is MemorySpace.DEVICE_DRAM:
        return machine.read_dram(pages, page, cores)
    return machine.read_l1(pages, page)


def _write_pages(machine: Machine, desc: TensorDesc, pages: int, page: float, cores: int) -> Stage:
    if desc.memory_space is MemorySpace.DEVICE_DRAM:
        return machine.write_dram(pages, page, cores)
    return machine.write_l1(pages, page)


def cost_creation(machine: Machine, work: Work) -> OperationCost:
    """Tiles of one number, or counted ones, are written from L1."""
    output = work.output
    count = tile_count(output.shape)
    cores = cores_for(machine, output, count)
    return OperationCost(
        programs=(
            Workload(
                cores=cores,
                steps=-(-count // cores),
                read=join([]),
                write=writing(machine, output, 1, cores),
                dram_bytes=dram_bytes(output),
                noc_bytes=network_bytes(output),
            ),
        )
    )
