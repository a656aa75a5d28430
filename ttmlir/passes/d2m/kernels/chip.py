"""Where cores are on the networks of the chip that kernels are made for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from ttmlir.ir.kernel_builder import KernelBuilder, Number
from ttmlir.ir.rewriting import refuse
from ttmlir.ir.tensor_types import system_desc_in_scope
from ttmlir.layout.enums import MemorySpace


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


def on_network(kernel: KernelBuilder, core: Number, places: Sequence[int]) -> SSAValue:
    """The coordinate on the networks of a row or column of cores."""
    if isinstance(core, int):
        return kernel.constant(places[core])
    found = kernel.add(core, places[0])
    for number in range(1, len(places)):
        gap = places[number] - places[number - 1] - 1
        if gap:
            found = kernel.add(found, kernel.choose(kernel.compare("uge", core, number), gap, 0))
    return kernel.value(found)
