"""Operations on the elements of tensors: every core has its share of the result's tiles."""

from __future__ import annotations

import math

from ttmlir.cost.machine import Machine
from ttmlir.cost.work import (
    Work,
    cores_for,
    dram_bytes,
    elementwise_stages,
    function_cycles,
    is_estimated,
    join,
    network_bytes,
    reading,
    tile_count,
    writing,
)
from ttmlir.cost.workload import COMPUTE, DRAM, OperationCost, Stage, Workload
from ttmlir.layout.enums import MemorySpace
from ttmlir.runtime.tensor import TensorDesc
from ttmlir.sim.timing.costs import tile_bytes

ESTIMATED = "the cycles of the function are estimated by its instructions"


def cost_elementwise(machine: Machine, work: Work) -> OperationCost:
    """One tile of the result after the other: ttnn's programs for interleaved and sharded ones."""
    formats = tuple(desc.data_type for desc in work.operands)
    compute = elementwise_stages(
        machine,
        work.mnemonic,
        formats,
        work.output.data_type,
        work.other_fidelity,
        approximate=bool(work.parameters.get("approximate", False)),
    )
    functions = sum(function_cycles(machine.arch, each, formats) for each in work.activations)
    compute = tuple(
        Stage(COMPUTE, each.cycles + functions, each.ideal + functions)
        if functions and each.kind == COMPUTE
        else each
        for each in compute
    )
    notes = (ESTIMATED,) if any(map(is_estimated, (work.mnemonic, *work.activations))) else ()
    workload = stream_tiles(machine, work.operands, work.output, compute, notes=notes)
    return OperationCost(programs=(workload,))


def stream_tiles(
    machine: Machine,
    operands: tuple[TensorDesc, ...],
    output: TensorDesc,
    compute: tuple[Stage, ...],
    *,
    flops_per_element: float = 1.0,
    tiles: int | None = None,
    notes: tuple[str, ...] = (),
) -> Workload:
    """A program that reads a tile of each operand, computes, and writes one of the result.

    `tiles` is how many there are, those of the result if not given.
    """
    count = tile_count(output.shape) if tiles is None else tiles
    cores = cores_for(machine, output, count)
    steps = -(-count // cores)
    single = [desc for desc in operands if tile_count(desc.shape) > 1 or count == 1]
    read = join([reading(machine, desc, 1, cores) for desc in single])
    write = writing(machine, output, 1, cores)
    read, write = share_channels(machine, operands, output, cores, read, write)
    return Workload(
        cores=cores,
        steps=steps,
        read=read,
        compute=compute,
        write=write,
        once=first_banks(machine, single, steps, cores, read),
        flops=flops_per_element * math.prod(output.shape),
        dram_bytes=dram_bytes(*operands, output),
        noc_bytes=network_bytes(*operands, output),
        notes=notes,
    )


def share_channels(
    machine: Machine,
    operands: tuple[TensorDesc, ...],
    output: TensorDesc,
    cores: int,
    read: Stage,
    write: Stage,
) -> tuple[Stage, Stage]:
    """Reads and writes of a step take turns in the channels of DRAM, whatever network they use."""
    size = sum(
        tile_bytes(desc.data_type)
        for desc in (*operands, output)
        if desc.memory_space is MemorySpace.DEVICE_DRAM
    )
    together = size * cores / machine.dram_rate
    if together <= max(read.cycles, write.cycles):
        return read, write
    return read, Stage(DRAM, together, together)


def first_banks(
    machine: Machine, operands: list[TensorDesc], steps: int, cores: int, read: Stage
) -> tuple[Stage, ...]:
    """What the first read takes longer because many cores begin in the same banks.

    Cores have neighbouring runs of pages; if their length and the number of channels have a common
    divisor, their first pages lie in few channels.
    """
    used = machine.channels // math.gcd(machine.channels, steps)
    size = sum(
        tile_bytes(desc.data_type)
        for desc in operands
        if desc.memory_space is MemorySpace.DEVICE_DRAM
    )
    crowd = size * cores / (used * machine.noc.dram_read_rate)
    if not size or crowd <= read.cycles:
        return ()
    return (Stage(DRAM, crowd - read.cycles, 0.0),)
