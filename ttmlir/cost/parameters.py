"""What the estimate knows of a generation of chips beyond the tables of the simulator.

Rates of links, interfaces and single channels of DRAM, what multicasts take, costs of the units of
a core and times to launch a program stand in `ttmlir.sim.timing`, costs of functions of tiles in
`ttmlir.optable.kernel`. Here is what whole programs need on top of them: latencies of transfers
from the first instruction to the end of the barrier, what all cores get of DRAM together, and the
link to the host. Cycles are those of the chip's clock, rates bytes per cycle.

Sources named LLD are measurements of tt-low-level-documentation, `data_movement_doc/perf_plots`.
"""

from __future__ import annotations

from dataclasses import dataclass

from ttmlir.layout.enums import Arch
from ttmlir.sim.timing.costs import MATMUL_PHASE

RateTable = tuple[tuple[int, float], ...]
"""Rates by the size of pages; linear in between."""


@dataclass(frozen=True, kw_only=True)
class CostParameters:
    """Measured behaviour of a generation of chips."""

    dram_read_latency: float
    """Of one small read, with its barrier."""
    dram_write_latency: float
    l1_read_latency: float
    """Of one small read of a page in the L1 of another core."""
    l1_write_latency: float
    read_issue: float
    """Between two reads of one processor, without finding the addresses of pages."""
    write_issue: float
    spread_read_share: float
    """What cores anywhere on the chip read together on network 0, of all channels' rate."""
    placed_read_share: float
    """What cores beside the channels read together, of tensors that are sharded over channels."""
    spread_write_share: float
    """What they write together on network 1."""
    unpack_speed: float
    """Of the unpackers, relative to those of Wormhole."""
    semaphore_trip: float
    """An increment of a neighbour's semaphore, with its answer."""
    pcie_write: RateTable
    """GB/s from the host to interleaved DRAM by the size of pages."""
    pcie_read: RateTable


WORMHOLE = CostParameters(
    # LLD: DRAM Packet Sizes 2.0, one transfer of 32 bytes; for writes nothing is published, so one
    # to the next core is taken (One to One Packet Sizes 2.0).
    dram_read_latency=389,
    dram_write_latency=344,
    # LLD: L1 Interleaved Page Read Numbers, and One to One Packet Sizes 2.0.
    l1_read_latency=289,
    l1_write_latency=344,
    # Slopes of the same tables at 32 bytes.
    read_issue=25.5,
    write_issue=39.2,
    # tt-metal, tech_reports/Saturating_DRAM_bandwidth: 190 to 200 of 266 GB/s read by cores at
    # random places on network 0; products with weights in interleaved DRAM reach 190
    # (tech_reports/LLMs/llms.md). Writes of 12 cores on network 1 get 173 of 255.
    spread_read_share=195 / 266,
    # Products with weights sharded over the channels: 240 GB/s (tech_reports/LLMs/llms.md).
    placed_read_share=240 / 266,
    spread_write_share=173 / 255,
    unpack_speed=1.0,
    # LLD: Atomic Semaphore Adjacent Bandwidth Sweep.
    semaphore_trip=168,
    # tt-metal, dispatch/benchmark_rw_buffer_golden.json of 2025-12, n300, local chip.
    pcie_write=((32, 0.530), (256, 4.15), (1024, 12.7), (2048, 14.0)),
    pcie_read=((32, 0.648), (256, 4.26), (1024, 10.2), (2048, 12.6)),
)

BLACKHOLE = CostParameters(
    # polaris issue 472; LLD: DRAM Packet Sizes 2.0 on Blackhole.
    dram_read_latency=438,
    dram_write_latency=422,
    # No read of the L1 of another core is published: that of a write (One to One).
    l1_read_latency=359,
    l1_write_latency=359,
    read_issue=24.4,
    write_issue=24.4,
    # tt-metal, bh_dram_read_microbenchmark.md: 344 of 500 GB/s from anywhere. No such writes are
    # published; they are taken to lose as much as on Wormhole, whose networks are the same.
    spread_read_share=344 / 500,
    # Nothing is published for products; as on Wormhole.
    placed_read_share=240 / 266,
    spread_write_share=173 / 255,
    # A 16-bit tile is unpacked out of rows in 25 cycles, in 52 on Wormhole (tt-llk issue 130).
    unpack_speed=52 / 25,
    semaphore_trip=186,
    # benchmark_rw_buffer_blackhole_golden.json; reads are not in it, so those of Wormhole.
    pcie_write=((32, 0.896), (512, 13.7), (2048, 14.5)),
    pcie_read=((32, 0.648), (256, 4.26), (1024, 10.2), (2048, 12.6)),
)

_BY_ARCH = {Arch.WORMHOLE_B0: WORMHOLE, Arch.BLACKHOLE: BLACKHOLE}

MATMUL_BLOCK = 66
"""Cycles to hand DST over to the packer and back, for each block of results (same tables, blocks of
1x4 tiles with 8 and 32 steps). The simulator counts the math thread's part of them
(`DST_HANDOVER`), and what the processors issue call by call."""

CALL_HANDOVER = MATMUL_BLOCK
"""The same for each tile of each call of kernels that make several passes over data in L1."""

MATRIX_OPERATIONS = 2 * 32**3 // MATMUL_PHASE
"""Additions and multiplications of a core in a cycle of one fidelity phase."""

HOST_CALL_NS = 29_000
"""Host's time to enqueue one operation without a trace (tt-metal, tech_reports/GEMM_FLOPS: 49.0 us
untraced against 20.0 us traced)."""

SLOW_HOST_CALL_NS = 48_000
"""The same at worst: for an operation on two tensors, through Python (tt-metal PR 54924, n300)."""


def cost_parameters(arch: Arch) -> CostParameters:
    """The numbers of a generation of chips; ValueError for one that is not modelled."""
    if arch not in _BY_ARCH:
        known = " or ".join(each.keyword for each in _BY_ARCH)
        raise ValueError(f"there are no figures to estimate times on {arch.keyword}; use {known}")
    return _BY_ARCH[arch]


def rate_of(table: RateTable, size: float) -> float:
    """The rate for pages of a size; beyond the table that of its end, in proportion below it."""
    first, rate = table[0]
    if size <= first:
        return rate * size / first
    below = table[0]
    for above in table[1:]:
        if size <= above[0]:
            share = (size - below[0]) / (above[0] - below[0])
            return below[1] + share * (above[1] - below[1])
        below = above
    return below[1]
