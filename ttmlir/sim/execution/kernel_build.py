"""What the build of a kernel knows, from the program and the chip that it is for."""

from __future__ import annotations

from ttmlir.layout.enums import MathFidelity
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
    buffers = (
        (
            index,
            CircularBufferFacts(
                data_format=FORMAT_NUMBERS[cb.data_format], tile_size=TILE_BYTES[cb.data_format]
            ),
        )
        for index, cb in sorted(core.cbs.items())
    )
    constants = _of_board(core.chip)
    macros = {"PROCESSOR_INDEX": str(_PROCESSORS[role]), "NOC_MODE": "0"}
    macros |= _banks("DRAM", len(core.chip.dram)) | _banks("L1", len(core.chip.workers))
    if role in Role.COMPUTE:
        constants |= _of_settings(kernel.compute)
    else:
        macros["NOC_INDEX"] = str(kernel.noc_index)
    return Build(
        circular_buffers=tuple(buffers),
        constants=tuple(constants.items()),
        macros=tuple(macros.items()),
        names=kernel.names,
    )


def _of_board(chip: SimChip) -> dict[str, int]:
    """Alignments and sizes of the network (tt-metal, noc_parameters.h)."""
    return {
        "L1_ALIGNMENT": chip.l1_alignment,
        "DRAM_ALIGNMENT": chip.dram_alignment,
        "PCIE_ALIGNMENT": chip.dram_alignment,
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
