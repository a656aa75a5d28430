"""What the build of a kernel knows, from the program and the chip that it is for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ttmlir.layout.enums import DataType, MathFidelity
from ttmlir.optable.kernel import Role
from ttmlir.sim.calls.compute_api import ComputeSettings
from ttmlir.sim.execution.program import Kernel
from ttmlir.sim.kernels.build import Build, CircularBufferFacts
from ttmlir.sim.machine.chip import SimChip
from ttmlir.sim.machine.core import Core
from ttmlir.sim.machine.tile_formats import FORMAT_NUMBERS, TILE_BYTES

_FIDELITIES = {
    MathFidelity.LOFI: 0,
    MathFidelity.HIFI2: 2,
    MathFidelity.HIFI3: 3,
    MathFidelity.HIFI4: 4,
}
"""Numbers of tt-metal's MathFidelity."""

_PROCESSORS = {Role.BRISC: 0, Role.NCRISC: 1, Role.UNPACK: 2, Role.MATH: 3, Role.PACK: 4}


def build_facts(core: Core, kernel: Kernel, role: Role) -> Build:
    """What the build of a kernel for a processor of a core knows."""
    formats = {index: cb.data_format for index, cb in sorted(core.cbs.items())}
    facts = build_facts_of_chip(
        core.chip, formats, role, settings=kernel.compute, noc_index=kernel.noc_index
    )
    return replace(facts, names=kernel.names)


def build_facts_of_chip(
    chip: SimChip,
    formats: Mapping[int, DataType],
    role: Role,
    *,
    settings: ComputeSettings,
    noc_index: int,
) -> Build:
    """What the build knows for a processor of a chip; `formats` are those of circular buffers.

    `settings` are those of compute kernels, `noc_index` is the network of the others.
    """
    buffers = (
        (
            index,
            CircularBufferFacts(data_format=FORMAT_NUMBERS[each], tile_size=TILE_BYTES[each]),
        )
        for index, each in formats.items()
    )
    constants = _of_board(chip)
    macros = {"PROCESSOR_INDEX": str(_PROCESSORS[role]), "NOC_MODE": "0"}
    macros |= _banks("DRAM", len(chip.dram)) | _banks("L1", len(chip.workers))
    if role in Role.COMPUTE:
        constants |= _of_settings(settings)
    else:
        macros["NOC_INDEX"] = str(noc_index)
    return Build(
        circular_buffers=tuple(buffers),
        constants=tuple(constants.items()),
        macros=tuple(macros.items()),
    )


def _of_board(chip: SimChip) -> dict[str, int]:
    """Alignments and sizes of the network (tt-metal, noc_parameters.h)."""
    return {
        "L1_ALIGNMENT": chip.l1_alignment,
        "DRAM_ALIGNMENT": chip.dram_alignment,
        "PCIE_ALIGNMENT": chip.dram_alignment,
        "NOC_L1_READ_ALIGNMENT_BYTES": chip.l1_alignment,
        "NOC_L1_WRITE_ALIGNMENT_BYTES": chip.l1_alignment,
        "NOC_DRAM_READ_ALIGNMENT_BYTES": chip.dram_alignment,
        "NOC_DRAM_WRITE_ALIGNMENT_BYTES": chip.l1_alignment,
        "NOC_MAX_BURST_SIZE": chip.max_packet_size,
    }


def _of_settings(settings: ComputeSettings) -> dict[str, int]:
    return {
        "DST_ACCUM_MODE": int(settings.fp32_dest_acc_en),
        "DST_SYNC_MODE": int(settings.dst_full_sync_en),
        "APPROX": int(settings.math_approx_mode),
        "MATH_FIDELITY": _FIDELITIES[settings.fidelity],
    }


def _banks(memory: str, count: int) -> dict[str, str]:
    """How many banks a memory has, and how kernels find the bank of a page."""
    found = {f"NUM_{memory}_BANKS": str(count)}
    if count & (count - 1):
        return found | {f"IS_NOT_POW2_NUM_{memory}_BANKS": "1"}
    return found | {f"LOG_BASE_2_OF_NUM_{memory}_BANKS": str(count.bit_length() - 1)}
