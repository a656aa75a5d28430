"""Blackhole. C1 and so on are figures of docs/timing.md, which has their files; LLD is
tt-low-level-documentation, `data_movement_doc/perf_plots`. What nobody has published is taken from
Wormhole.
"""

from __future__ import annotations

from ttmlir.machine import wormhole
from ttmlir.machine.figures import (
    ChipFigures,
    FirmwareMap,
    Generation,
    LaunchFigures,
    LinkFigures,
    NetworkFigures,
    ProgramFigures,
    ScheduleFigures,
    figure,
)

_SOC = "tt-metal, soc_descriptors/blackhole_140_arch.yaml"
_NOC = "tt-metal, hw/inc/blackhole/noc_parameters.h"
_GUIDE = "tt-metal, tech_reports/Blackhole/BlackholeBringUpProgrammingGuide.md"
_NPE = "tt-npe, tt_npe/cpp/include/device_models/blackhole.hpp"
_AS_WORMHOLE = "as on Wormhole: nothing is published"
_LAUNCH = (
    "C28: tt-metal, tests/tt_metal/tt_metal/perf_microbenchmark/dispatch/"
    "pgm_dispatch_blackhole_golden.json of 2026-01, programs replayed from a trace by the size of "
    "kernels"
)
_READS = "tt-metal, bh_dram_read_microbenchmark.md"
_PATTERNS = "tt-metal, tests/tt_metal/tt_metal/data_movement/documentation/ideal_performance.md"

CHIP = ChipFigures(
    macro=figure("ARCH_BLACKHOLE", "tt-metal, tt_metal/jit_build"),
    clock_hz=figure(1_350_000_000, _GUIDE),
    noc_size=figure((12, 17), _SOC),
    max_packet_size=figure(16384, _GUIDE),
    l1_size=figure(
        1464 * 1024, f"{_GUIDE}; tt-metal of 2026 has 1536 KiB. What fits here fits there"
    ),
    firmware=figure(
        FirmwareMap(
            base=1280,
            brisc_code=10 * 1024,
            trisc_code=16 * 1024,
            brisc_data=8 * 1024,
            ncrisc_data=8 * 1024,
            trisc_data=4 * 1024,
            ncrisc_code=16 * 1024,
        ),
        "derived, no source states it: the regions of Wormhole, with the local memories of "
        "Blackhole, which are twice as large (tt-isa-documentation, BlackholeA0/TensixTile/"
        "BabyRISCV/README.md). 105,728 bytes in all, a multiple of the alignment of DRAM, to "
        "which tt-metal rounds up",
    ),
    l1_alignment=figure(16, _NOC),
    pcie_alignment=figure(64, _NOC),
    dram_read_alignment=figure(64, _NOC),
    dram_write_alignment=figure(16, _NOC),
    dram_channel_size=figure(4278190080, _SOC),
    reserved=figure(wormhole.CHIP.reserved, _AS_WORMHOLE),
    dram=figure(tuple((y, x) for x in (0, 9) for y in (0, 2, 9, 5)), _SOC),
    ethernet=figure(tuple((1, x) for x in (1, 16, 2, 15, 3, 14, 4, 13, 5, 12, 6, 11, 7, 10)), _SOC),
    ethernet_l1_size=figure(512 * 1024, "ISA, BlackholeA0/EthernetTile/README.md"),
    worker_rows=figure(tuple(range(2, 12)), _SOC),
    worker_columns=figure((1, 2, 3, 4, 5, 6, 7, *range(10, 17)), _SOC),
    tile_sizes=figure(wormhole.CHIP.tile_sizes, _AS_WORMHOLE),
)

NETWORK = NetworkFigures(
    flit_bytes=figure(64, _GUIDE),
    flit_cycles=figure(1.02, "C2: 16 KiB, that is 257 flits, take 263.2 cycles written"),
    buffered_flits=figure(wormhole.NETWORK.buffered_flits, _AS_WORMHOLE),
    lost_share=figure(wormhole.NETWORK.lost_share, _AS_WORMHOLE),
    crowded_share=figure(0.0, "C18: 6x6 cores get all that the links carry, 2048 bytes each"),
    read_latency=figure((65, 177, 217, 329), _NPE),
    write_latency=figure(60, "C6 and C11, one transfer each"),
    word_latency=figure(40, "C6 and C11, one transfer each"),
    hop_latency=figure(
        9,
        "C2 less C6: 239 cycles for once around both rings, 29 hops; so do the latencies of reads",
    ),
    answer_latency=figure(10, _NPE),
    multicast_setup=figure(
        126,
        "C15b: about 315 cycles more for the last of linked packets, which is not linked, of "
        "which 21 hops take 189",
    ),
    multicast_answer=figure(1, "C15b: 109 cycles for 109 receivers of linked packets"),
    stores_inline_writes=figure(
        True, "C10: 43 cycles each, and as long under way as a write out of L1"
    ),
    dram_endpoints=figure(
        (
            *(((11, 0), (1, 0)), ((2, 0), (10, 0)), ((9, 0), (4, 0)), ((5, 0), (7, 0))),
            *(((11, 9), (1, 9)), ((3, 9), (10, 9)), ((8, 9), (4, 9)), ((6, 9), (7, 9))),
        ),
        _SOC,
    ),
    dram_read_rate=figure(46.3, f"{_READS}: 500.5 GB/s over 8 channels at 1.35 GHz"),
    dram_write_rate=figure(46.3, f"{_READS}: 500.5 GB/s read; writes are taken to get the same"),
    dram_partial_write=figure(0, "C4: 64 bytes take no longer than 1024"),
    dram_burst=figure(64, "C4: 64 bytes take no longer than 1024"),
    dram_request_interval=figure(16.4, "tt-metal issue 55898"),
    dram_latency=figure(
        109,
        "polaris issue 472: 438 cycles are fixed in a read, of which 329 are those of the network",
    ),
    dram_write_latency=figure(63, "C4 less C2, for 64 bytes"),
    read_issue=figure(wormhole.NETWORK.read_issue, _AS_WORMHOLE),
    write_issue=figure(
        wormhole.NETWORK.write_issue,
        "C2, C4 and C6: 24 to 34 were measured with the loop around it; as on Wormhole",
    ),
    word_issue=figure(wormhole.NETWORK.word_issue, "C10, with inline_store; as on Wormhole"),
    inline_store=figure(20, "C10: 43 were measured with the loop around it"),
    page_address=figure(
        16,
        "C12: 20.00 were measured with what is done to the result (tt-metal, perf_microbenchmark/"
        "tensor_accessor)",
    ),
    masked_page_address=figure(16, "as of any number of banks: nothing else is published"),
)

LAUNCH = LaunchFigures(
    fixed=figure(1820, _LAUNCH),
    kernel=figure(34, _LAUNCH),
    circular_buffers=figure(207, f"{_AS_WORMHOLE}, by the clocks"),
    bytes_per_ns=figure(33.5, _LAUNCH),
    gap=figure(600, f"{_AS_WORMHOLE}, by the clocks"),
    least_gap=figure(wormhole.LAUNCH.least_gap, _AS_WORMHOLE),
    host_call=figure(wormhole.LAUNCH.host_call, _AS_WORMHOLE),
    slow_host_call=figure(wormhole.LAUNCH.slow_host_call, _AS_WORMHOLE),
)

_NOC_TABLE = "tt-metal 0.81, noc_estimator/latencies/noc_latencies.yaml"

PROGRAMS = ProgramFigures(
    dram_read_latency=figure(438, "polaris issue 472"),
    dram_write_latency=figure(422, "C4: LLD, DRAM Packet Sizes 2.0"),
    l1_read_latency=figure(373, f"{_NOC_TABLE}, pattern 0, one transfer of 64 bytes"),
    l1_write_latency=figure(359, "C2: LLD, One to One Packet Sizes 2.0"),
    read_issue=figure(22.0, f"{_NOC_TABLE}, pattern 0, sharded: the slope at 64 bytes"),
    write_issue=figure(24.4, "C2: the slope of One to One Packet Sizes 2.0 at 64 bytes"),
    spread_read_share=figure(344 / 500, f"{_READS}: 344 of 500 GB/s from anywhere"),
    placed_read_share=figure(
        wormhole.PROGRAMS.placed_read_share, "as on Wormhole: nothing is published for products"
    ),
    spread_write_share=figure(
        231 / 370,
        f"{_NOC_TABLE}, pattern 4, interleaved: 110 cores on network 1, 64 and 256 pages of 2048 "
        "bytes",
    ),
    unpack_speed=figure(
        52 / 25,
        "tt-llk issue 130: a 16-bit tile is unpacked out of rows in 25 cycles, in 52 on Wormhole",
    ),
    semaphore_trip=figure(186, "C11: LLD, Atomic Semaphore Adjacent Bandwidth Sweep"),
    block_handover=figure(wormhole.PROGRAMS.block_handover, _AS_WORMHOLE),
    pool_window=figure(430, "C38: tt-metal issue 27922"),
    pcie_write=figure(
        ((32, 0.896), (512, 13.7), (2048, 14.5)),
        "C26: tt-metal, dispatch/benchmark_rw_buffer_blackhole_golden.json",
    ),
    pcie_read=figure(wormhole.PROGRAMS.pcie_read, _AS_WORMHOLE),
)

_FITTED = "fitted for Wormhole, and taken for Blackhole"
_UNITS = "that of Wormhole, whose units the clock gives all chips"
_TWICE = "derived: twice that of Wormhole, whose links are half as wide"

_FABRIC = "tt-metal, tests/tt_metal/tt_fabric, routing/golden, bandwidth and latency of four p150"
_ETHERNET = "tt-metal, tech_reports/EthernetMultichip/BasicEthernetGuide.md"
_GATHERS = "tt-metal issue 47803 of 2026-07, four chips with four links"

LINKS = LinkFigures(
    line_rate=figure(24.0, f"{_FABRIC}: 15.6 to 32.9 in lines; the middle"),
    ring_rate=figure(20.5, f"{_FABRIC}: 18 to 24; {_GATHERS}"),
    packet_sent=figure(156, f"{_FABRIC}: 24 GB/s of a line of 4, as `line_rate`"),
    packet_received=figure(44, f"{_FABRIC}: with what is sent, 20.5 GB/s of a ring"),
    packet_injected=figure(124, f"{_FABRIC}: 32.9 GB/s of a chip alone"),
    hop=figure(780, f"{_FABRIC}: 755 to 800 for packets of 4096 bytes"),
    hop_byte=figure(0.0245, f"{_FABRIC}: 655 for 16 bytes, 755 for 4096"),
    wire_rate=figure(50.0, f"{_ETHERNET}: 400 Gbit/s"),
    wire_overhead=figure(50, _ETHERNET),
    wire_packet=figure(1500, _ETHERNET),
    wire_latency=figure(
        515, f"{_ETHERNET}: that of a hop of a fabric in a line, of which the link is the most"
    ),
    gather_start=figure(10_000, f"{_GATHERS}: fitted to 18.6 us of 1.9 MiB in a ring of 4"),
    reduce_start=figure(
        17_000, "tt-metal PR 55543 of 2026-09: fitted to 20.9 us of 128 KiB in a ring of 8 p150"
    ),
    counts=figure(
        ((4, 4), (32, 2)),
        "tt-metal, mesh graph descriptors: 4 between two and four p150, 2 between more",
    ),
    torus=figure(32, "tt-metal, mesh graph descriptors: Galaxy"),
)

SCHEDULES = ScheduleFigures(
    read_page=figure(wormhole.SCHEDULES.read_page, f"{_FITTED}; C2 and C12 add up to 40"),
    gather_tile=figure(wormhole.SCHEDULES.gather_tile, "chosen as for Wormhole"),
    unpack_tile=figure(wormhole.SCHEDULES.unpack_tile, _UNITS),
    pack_tile=figure(wormhole.SCHEDULES.pack_tile, _UNITS),
    reduce_tile=figure(wormhole.SCHEDULES.reduce_tile, _UNITS),
    operation=figure(wormhole.SCHEDULES.operation, "assumed as for Wormhole"),
    core_rate=figure(33.0, f"{_PATTERNS}: reads of one core from DRAM"),
    channel_rate=figure(46.3, f"{_READS}: 500.5 GB/s over 8 channels at 1.35 GHz"),
    row_rate=figure(2 * wormhole.SCHEDULES.row_rate, _TWICE),
    l1_rate=figure(2 * wormhole.SCHEDULES.l1_rate, _TWICE),
    multicast_rate=figure(24.0, f"{_PATTERNS}: multicasts to all"),
    multicast_latency=figure(896, "C15b: 896 cycles for 64 bytes to 109 receivers"),
    linked_rate=figure(41.0, f"{_PATTERNS}: linked multicasts to all"),
    handshake=figure(wormhole.SCHEDULES.handshake, _FITTED),
    multicast_page=figure(wormhole.SCHEDULES.multicast_page, _FITTED),
    moved_byte=figure(wormhole.SCHEDULES.moved_byte, "derived as for Wormhole"),
    all_read_rate=figure(255.0, f"{_READS}: 344 GB/s from anywhere, at 1.35 GHz"),
    all_write_rate=figure(
        197.0,
        "derived: of all channels the share that Wormhole's network 1 gets, 140 of 263; nothing is "
        "published",
    ),
    shared_cost=figure(wormhole.SCHEDULES.shared_cost, _FITTED),
    product_step=figure(wormhole.SCHEDULES.product_step, _FITTED),
    add_in_l1=figure(wormhole.SCHEDULES.add_in_l1, _FITTED),
    exchange=figure(wormhole.SCHEDULES.exchange, _FITTED),
    step=figure(wormhole.SCHEDULES.step, _FITTED),
    first_load=figure(wormhole.SCHEDULES.first_load, f"{_FITTED}; polaris PR 506: 570 for 2048 B"),
)

BLACKHOLE = Generation(
    name="blackhole",
    chip=CHIP,
    # The clock gives all chips the cycles of Wormhole's units: what is published of Blackhole's
    # covers some of them alone. Estimates divide unpacking by `unpack_speed`.
    units=wormhole.UNITS,
    network=NETWORK,
    launch=LAUNCH,
    programs=PROGRAMS,
    links=LINKS,
    schedules=SCHEDULES,
)
