"""Runs small kernels on three cores and tells what the sanitizer says of them.

Every core has circular buffers 0, 1 and 16 with four pages of a tile of bfloat16, 2 with one, 3 on
the tensor SHARD, 4 and 5 on the same four pages, and semaphores 0 to 3. Kernels are the bodies of
`kernel_main`; data-movement kernels find these names:

- `in` and `out`: 16 tiles each, interleaved over DRAM at IN and OUT; `in` is written, `out` is 0;
- STICKS: 30 pages of 40 bytes in DRAM, written; `sticks` generates their addresses;
- LOCAL and SHARD: four tiles in the L1 of each of the cores, written;
- `at(core, address)`: the address on the network of a byte of core 0, 1 or 2;
- `others(address)`: that of cores 1 and 2 together, for network 0;
- `word(address)` and `sem(i)`: pointers to a word of L1, and to a semaphore.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from ttmlir.layout.enums import DataType, MemorySpace, TensorMemoryLayout
from ttmlir.optable.kernel import Role
from ttmlir.sim.calls.compute_api import ComputeSettings
from ttmlir.sim.errors import Finding, SimError
from ttmlir.sim.execution.program import CircularBufferSpec, Kernel, Program
from ttmlir.sim.execution.run import run_program
from ttmlir.sim.machine.address_generators import Buffer, Sharding
from ttmlir.sim.machine.device import SimChip, SimDevice
from ttmlir.sim.options import SimOptions

TILE = 2048
PAGES = 16
STICK, NUM_STICKS = 40, 30
CORES = ((0, 0), (1, 0), (2, 0))
FEED = """
    for (uint32_t i = 0; i < 6; i++) {
        cb_reserve_back(0, 1);
        noc_async_read_tile(i, in, get_write_ptr(0));
        noc_async_read_barrier();
        cb_push_back(0, 1);
    }
"""
"""Fills circular buffer 0 with six tiles."""

DRAIN = """
    for (uint32_t i = 0; i < 6; i++) {
        cb_wait_front(0, 1);
        noc_async_write_tile(i, out, get_read_ptr(0));
        noc_async_write_barrier();
        cb_pop_front(0, 1);
    }
"""
"""Empties it again."""

SCHEDULES = (
    SimOptions(),
    SimOptions(schedule_seed=1, timed=False),
    SimOptions(schedule_seed=2, timed=False, delay_copies=True),
)
ROLES = {"read": Role.NCRISC, "write": Role.BRISC, "compute": Role.COMPUTE}

_MOVER = """\
#include "dataflow_api.h"

volatile tt_l1_ptr uint32_t* word(uint32_t address) {
    return reinterpret_cast<volatile tt_l1_ptr uint32_t*>(address);
}
volatile tt_l1_ptr uint32_t* sem(uint32_t index) { return word(get_semaphore(index)); }
uint64_t at(uint32_t core, uint32_t address) {
    return get_noc_addr(core == 0 ? X0 : core == 1 ? X1 : X2, Y0, address);
}
uint64_t others(uint32_t address) { return get_noc_multicast_addr(X1, Y0, X2, Y0, address); }

void kernel_main() {
    const InterleavedAddrGenFast<true> in = {
        .bank_base_address = IN, .page_size = 2048, .data_format = DataFormat::Float16_b};
    const InterleavedAddrGenFast<true> out = {
        .bank_base_address = OUT, .page_size = 2048, .data_format = DataFormat::Float16_b};
    const InterleavedAddrGen<true> sticks = {.bank_base_address = STICKS, .page_size = 40};
"""
_COMPUTE = """\
#include "compute_kernel_api/common.h"
#include "compute_kernel_api/tile_move_copy.h"
#include "compute_kernel_api/eltwise_binary.h"

namespace NAMESPACE {
void MAIN {
"""


@dataclass(frozen=True)
class Verdict:
    """What a run told: errors and warnings in the order of finding, and what is in `out`."""

    findings: tuple[Finding, ...]
    result: bytes = field(default=b"", repr=False)

    def rules(self, severity: str) -> list[str]:
        """The rules of the findings that are so severe."""
        return [each.rule for each in self.findings if each.severity == severity]


def judge(kernels: Mapping[str, str], options: SimOptions, max_findings: int = 1) -> Verdict:
    """Run kernels: their bodies by processor and core, such as `read0`, `compute1`, `write2`."""
    device = SimDevice(SimChip.of_board("n150"), replace(options, max_findings=max_findings))
    program = Program()
    buffers = _buffers(device)
    for index, pages in ((0, 4), (1, 4), (2, 1), (16, 4)):
        _add_cb(program, pages, index)
    _add_cb(program, 4, 3, buffer=buffers["SHARD"])
    _add_cb(program, 4, 4, 5)
    for _ in range(4):
        program.add_semaphore(CORES)
    defines = {name: str(buffer.address) for name, buffer in buffers.items()}
    for index, core in enumerate(CORES):
        x, y = device.chip.noc_coordinate(core)
        defines |= {f"X{index}": str(x), f"Y{index}": str(y)}
    for name, body in kernels.items():
        _add_kernel(program, name, body, defines)
    try:
        report = run_program(device, program)
    except SimError as error:
        return Verdict(error.findings)
    return Verdict(report.findings, buffers["OUT"].read())


def numbers() -> bytes:
    """What is in the tiles of `in`: bfloat16 numbers, none of them NaN, infinite or subnormal."""
    bits = np.random.default_rng(0).integers(0x3000, 0x4500, PAGES * TILE // 2)
    return bits.astype("<u2").tobytes()


def _buffers(device: SimDevice) -> dict[str, Buffer]:
    buffers = {
        "IN": Buffer(device, PAGES * TILE, TILE),
        "OUT": Buffer(device, PAGES * TILE, TILE),
        "STICKS": Buffer(device, NUM_STICKS * STICK, STICK),
    }
    for name in ("LOCAL", "SHARD"):
        sharding = Sharding(
            layout=TensorMemoryLayout.HEIGHT_SHARDED,
            cores=CORES,
            shape=(4 * len(CORES), 1),
            shard_shape=(4, 1),
        )
        size = 4 * len(CORES) * TILE
        buffers[name] = Buffer(device, size, TILE, MemorySpace.DEVICE_L1, sharding=sharding)
    for name, buffer in buffers.items():
        buffer.write(numbers() if name == "IN" else bytes(buffer.size))
    return buffers


def _add_cb(program: Program, pages: int, *indices: int, buffer: Buffer | None = None) -> None:
    spec = CircularBufferSpec(
        cores=CORES,
        total_size=pages * TILE,
        indices=dict.fromkeys(indices, (TILE, DataType.BF16)),
        buffer=buffer,
    )
    program.add_circular_buffer(spec)


def _add_kernel(program: Program, name: str, body: str, defines: Mapping[str, str]) -> None:
    role = ROLES[name[:-1]]
    is_compute = role is Role.COMPUTE
    text = f"{_COMPUTE}{body}\n}}\n}}\n" if is_compute else f"{_MOVER}{body}\n}}\n"
    kernel = Kernel(
        name=name,
        file=f"{name}.cpp",
        text=text,
        cores=(CORES[int(name[-1])],),
        role=role,
        noc_index=int(role is Role.BRISC),
        defines=defines,
        compute=ComputeSettings(),
    )
    program.add_kernel(kernel)
