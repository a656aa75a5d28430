"""Wormhole. C1 and so on are figures of docs/timing.md, which has their files; LLD is
tt-low-level-documentation, `data_movement_doc/perf_plots`; ISA is tt-isa-documentation,
`WormholeB0`.
"""

from __future__ import annotations

from ttmlir.machine.figures import (
    ChipFigures,
    FirmwareMap,
    Generation,
    LaunchFigures,
    LinkFigures,
    NetworkFigures,
    ProgramFigures,
    ScheduleFigures,
    UnitFigures,
    figure,
)

_SOC = "tt-metal, soc_descriptors/wormhole_b0_80_arch.yaml"
_NOC = "tt-metal, hw/inc/wormhole/noc_parameters.h"
_L1 = "tt-metal, hw/inc/wormhole/dev_mem_map.h"
_NPE = "tt-npe, tt_npe/cpp/include/device_models/wormhole_b0.hpp"
_LAUNCH = (
    "C27 and C29: tt-metal, tests/tt_metal/tt_metal/perf_microbenchmark/dispatch/"
    "pgm_dispatch_golden.json of 2025-12, programs replayed from a trace by the size of kernels"
)
_PCIE = "C24: tt-metal, dispatch/benchmark_rw_buffer_golden.json of 2025-12, n300, local chip"
_FITTED = (
    "fitted to the times of generated kernels on the simulator of 64 cores "
    "(test/bench/direct_to_metal.py)"
)
_PATTERNS = "tt-metal, tests/tt_metal/tt_metal/data_movement/documentation/ideal_performance.md"

CHIP = ChipFigures(
    macro=figure("ARCH_WORMHOLE", "tt-metal, tt_metal/jit_build"),
    clock_hz=figure(1_000_000_000, "ISA, TensixTile/TensixCoprocessor/MatrixUnit.md"),
    noc_size=figure((12, 10), _SOC),
    max_packet_size=figure(8192, "ISA, NoC/README.md"),
    l1_size=figure(1464 * 1024, "ISA, TensixTile/L1.md"),
    firmware=figure(
        FirmwareMap(
            base=1280,
            brisc_code=10 * 1024,
            trisc_code=16 * 1024,
            brisc_data=4 * 1024,
            ncrisc_data=4 * 1024,
            trisc_data=2 * 1024,
            ncrisc_code=16 * 1024,
        ),
        _L1,
    ),
    l1_alignment=figure(16, _NOC),
    pcie_alignment=figure(32, _NOC),
    dram_read_alignment=figure(32, _NOC),
    dram_write_alignment=figure(16, _NOC),
    dram_channel_size=figure(1 << 30, _SOC),
    reserved=figure(1024, "tt-mlir, SystemDescAttr::getDefault"),
    dram=figure(
        (
            *((11, 0), (1, 0), (5, 0), (7, 0)),
            *((1, 5), (11, 5), (2, 5), (9, 5), (8, 5), (3, 5), (5, 5), (7, 5)),
        ),
        _SOC,
    ),
    ethernet=figure(tuple((y, x) for y in (0, 6) for x in (9, 1, 8, 2, 7, 3, 6, 4)), _SOC),
    ethernet_l1_size=figure(256 * 1024, "ISA, EthernetTile/README.md"),
    worker_rows=figure((1, 2, 3, 4, 5, 7, 8, 9, 10, 11), _SOC),
    worker_columns=figure((1, 2, 3, 4, 6, 7, 8, 9), _SOC),
    tile_sizes=figure(
        ((4, 16), (16, 16), (32, 16), (4, 32), (16, 32), (32, 32)),
        "tt-mlir, SystemDescAttr::getDefault",
    ),
)

UNITS = UnitFigures(
    dst_tiles=figure(16, "ISA, TensixTile/TensixCoprocessor/Dst.md: 1024 rows of 16 numbers"),
    faces=figure(4, "tt-llk, llk_unpack_AB.h and llk_unpack_AB_matmul.h"),
    unpack_rate=figure(64, "ISA, TensixTile/TensixCoprocessor/UNPACR_Regular.md"),
    slow_unpack_rate=figure(16, "ISA, TensixTile/TensixCoprocessor/UNPACR_Regular.md"),
    unpack_instruction=figure(2, "ISA, TensixTile/TensixCoprocessor/UNPACR_Regular.md"),
    pack_rate=figure(64, "ISA, TensixTile/L1.md"),
    pack_accumulate_rate=figure(32, "ISA, TensixTile/L1.md: each 16 bytes in 2 cycles"),
    wide_pack_rate=figure(
        48,
        "C35: 98 to 101 cycles were measured for a tile of 4096 bytes with the loop around it "
        "(tt-llk, perf_evaluation)",
    ),
    pack_overhead=figure(13, "tt-llk issue 130: a tile of 2048 bytes was measured at 45"),
    matmul_phase=figure(
        16, "ISA, TensixTile/TensixCoprocessor/MatrixUnit.md: 32^3 multiplications, 2048 in a cycle"
    ),
    matmul_unpack_tile=figure(
        5,
        "37 to 38 cycles were measured for a tile of 16 bits (tt-llk issue 131, tt-metal PR "
        "55053), 107 for five of bfp8 with the call (C34)",
    ),
    matmul_unpack_call=figure(
        90, "C32 and C33: 76 to 101 cycles were measured between blocks of 1 x 2 products"
    ),
    matmul_handover=figure(
        3, "tt-metal PR 55760: 34.5 to 36.9 were measured where the phases take 32"
    ),
    dst_handover=figure(
        80,
        "fitted to C32 to C34 at LoFi: 49 to 66 are left when the products are taken off, beside "
        "those in which the unpackers fill both banks",
    ),
    reduce_max=figure(
        52, "C37: 58 were measured with the loop around it (tt-metal PR 55053, on Blackhole)"
    ),
    tilize_unpack=figure(52, "tt-llk issue 130"),
    tilize_bank_conflicts=figure(2, "tt-metal issue 21624"),
    pack_untilize_unpack=figure(38, "tt-llk issue 131"),
    pack_untilize_pack=figure(57, "tt-llk issue 131"),
    unpack_untilize_unpack=figure(393, "tt-llk issue 131"),
    untilize_pack=figure(47, "tt-llk issue 131"),
    l1_port_bytes=figure(32, "ISA, TensixTile/L1.md: two ports of 16 bytes each way"),
    l1_conflicts=figure(
        0.225,
        "derived: one of 2 banks of 16 is among the 4 that an unpacker reads in 54 of 120 cases, "
        "and a bank serves both by turns (ISA, TensixTile/L1.md)",
    ),
    reconfigure=figure(
        30, "derived: about as many instructions of an `_init` call write configuration"
    ),
    load_l1=figure(8, "ISA, TensixTile/BabyRISCV/README.md"),
    store_l1=figure(5, "ISA, TensixTile/BabyRISCV/README.md"),
)

NETWORK = NetworkFigures(
    flit_bytes=figure(32, "ISA, NoC/README.md"),
    flit_cycles=figure(
        1.02, "8 KiB, that is 257 flits, take 262.4 cycles written (C1) and 260.5 read (C7)"
    ),
    buffered_flits=figure(32, "ISA, DRAMTile/README.md: two routers with 480 bytes of a channel"),
    lost_share=figure(
        0.4,
        "fitted to C16 and C17, 256 pages each, and to readers at random places (ISA, "
        "DRAMTile/README.md)",
    ),
    crowded_share=figure(
        0.3, "fitted to N1 and N2, 512 and 2048 bytes, 16 and 64 pages of each core"
    ),
    read_latency=figure((70, 154, 170, 270), _NPE),
    write_latency=figure(60, "C5 and C10, one transfer each"),
    word_latency=figure(24, "C5 and C10, one transfer each"),
    hop_latency=figure(10, _NPE),
    answer_latency=figure(10, _NPE),
    multicast_setup=figure(
        60, "C14 and C15: 277 cycles for 63 receivers, at most 16 hops away; 181 for 24, at most 9"
    ),
    multicast_answer=figure(1, "C14 and C15"),
    stores_inline_writes=figure(False, "C10: 22 cycles each"),
    dram_endpoints=figure((), _SOC),
    dram_read_rate=figure(22.2, "ISA, DRAMTile/README.md: 22.2 to 22.3 GB/s at 1 GHz"),
    dram_write_rate=figure(21.9, "ISA, DRAMTile/README.md: 21.9 to 22.0 GB/s at 1 GHz"),
    dram_partial_write=figure(
        66, "N3: 64 bytes to one channel; 57 to 63 are left of N1 where many cores write 64 bytes"
    ),
    dram_burst=figure(128, "N3: 128 bytes take no longer than the processor takes to issue them"),
    dram_request_interval=figure(6.8, "tt-metal issue 55898"),
    dram_latency=figure(81, "that of Blackhole in cycles of 1 GHz; C3 confirms it"),
    dram_write_latency=figure(47, "nothing is published; that of Blackhole, 63 cycles at 1.35 GHz"),
    read_issue=figure(
        13, "C3 and C7: 24 were measured with the loop around it (LLD, L1 Interleaved Page Read)"
    ),
    write_issue=figure(
        19, "C1, C2, C4, C5 and C6: 23 to 38 were measured with the loop around it, 30 in the mean"
    ),
    word_issue=figure(13, "C10: 22 were measured with the loop around it"),
    inline_store=figure(20, "C10, on Blackhole: 43 were measured with the loop around it"),
    page_address=figure(
        25,
        "C12: 29.13 were measured with what is done to the result (tt-metal, perf_microbenchmark/"
        "tensor_accessor)",
    ),
    masked_page_address=figure(
        5, "C7: it takes no division, and the tables are read while the network interface is busy"
    ),
)

LAUNCH = LaunchFigures(
    fixed=figure(2400, _LAUNCH),
    kernel=figure(70, _LAUNCH),
    circular_buffers=figure(280, _LAUNCH),
    bytes_per_ns=figure(16.5, _LAUNCH),
    gap=figure(810, _LAUNCH),
    least_gap=figure(600, "C31: tt-metal, decoder_perf_targets_6u.json: 600 to 1000"),
    host_call=figure(
        29_000, "tt-metal, tech_reports/GEMM_FLOPS: 49.0 us untraced against 20.0 us traced"
    ),
    slow_host_call=figure(48_000, "tt-metal PR 54924, n300"),
)

PROGRAMS = ProgramFigures(
    dram_read_latency=figure(389, "C3: LLD, DRAM Packet Sizes 2.0, one transfer of 32 bytes"),
    dram_write_latency=figure(
        413, "NOC, pattern 1, sharded, one transfer of 128 bytes: 409 to 425 (tt-metal 0.81)"
    ),
    l1_read_latency=figure(289, "C7: LLD, L1 Interleaved Page Read Numbers"),
    l1_write_latency=figure(344, "C1: LLD, One to One Packet Sizes 2.0"),
    read_issue=figure(25.5, "C3: the slope of DRAM Packet Sizes 2.0 at 32 bytes"),
    write_issue=figure(39.2, "C1: the slope of One to One Packet Sizes 2.0 at 32 bytes"),
    spread_read_share=figure(
        195 / 266,
        "tt-metal, tech_reports/Saturating_DRAM_bandwidth: 190 to 200 of 266 GB/s read by cores "
        "at random places on network 0; products with weights in interleaved DRAM reach 190 "
        "(C20: tech_reports/LLMs/llms.md)",
    ),
    placed_read_share=figure(
        240 / 266,
        "C20: 240 GB/s of products with weights sharded over the channels (tt-metal, "
        "tech_reports/LLMs/llms.md)",
    ),
    spread_write_share=figure(
        173 / 255, "ISA, DRAMTile/README.md: writes of 12 cores on network 1 get 173 of 255 GB/s"
    ),
    unpack_speed=figure(1.0, "by definition"),
    semaphore_trip=figure(168, "C11: LLD, Atomic Semaphore Adjacent Bandwidth Sweep"),
    block_handover=figure(66, "C34: blocks of 1x4 tiles with 8 and 32 steps"),
    pool_window=figure(360, "C38: tt-metal issue 27922"),
    pcie_write=figure(((32, 0.530), (256, 4.15), (1024, 12.7), (2048, 14.0)), _PCIE),
    pcie_read=figure(((32, 0.648), (256, 4.26), (1024, 10.2), (2048, 12.6)), _PCIE),
)

_FABRIC = "tt-metal, tests/tt_metal/tt_fabric, routing/golden, bandwidth and latency on a T3000"
_ETHERNET = "tt-metal, tech_reports/EthernetMultichip/BasicEthernetGuide.md"
_EXCHANGES = "tt-metal PR 41522 of 2026-04, reduce-scatter of bf16 tiles in DRAM"

LINKS = LinkFigures(
    line_rate=figure(10.6, f"{_EXCHANGES}: 1384 us of 16 MiB in a line of 8, over one link"),
    ring_rate=figure(8.2, f"{_EXCHANGES}: 897 us of the same in a ring; {_FABRIC}: 7.7 to 8.3"),
    packet_sent=figure(
        328,
        f"{_FABRIC}: 11.5 to 11.6 GB/s of multicasts of all chips of lines of 4 and 8, whose last "
        "link carries 3 and 7 packets for each one back",
    ),
    packet_received=figure(
        172, f"{_FABRIC}: with what is sent, 7.7 to 8.4 GB/s where both directions carry the same"
    ),
    packet_injected=figure(
        414, f"{_FABRIC}: 9.9 GB/s of multicasts of the first chip of a line alone"
    ),
    hop=figure(1350, f"{_FABRIC}: 1343 to 1359 for packets of 4096 bytes"),
    hop_byte=figure(0.127, f"C60: {_FABRIC}: 769 for 16 bytes, 1288 for 4096"),
    wire_rate=figure(12.5, f"{_ETHERNET}: 100 Gbit/s"),
    wire_overhead=figure(50, _ETHERNET),
    wire_packet=figure(1500, _ETHERNET),
    wire_latency=figure(
        711, f"{_ETHERNET}: that of a hop of a fabric in a line, of which the link is the most"
    ),
    gather_start=figure(
        5000, "fitted to 6.3 to 10.1 us of gathers over 4 chips (tt-metal PR 19810)"
    ),
    reduce_start=figure(
        24_000, f"{_EXCHANGES}: fitted to 31 to 34 us of 16 KiB in rings and lines of 8"
    ),
    counts=figure(
        ((8, 1), (32, 4)),
        "tt-metal, mesh graph descriptors: 2 on n300 and T3000, of which PR 41522 uses one, 4 on "
        "Galaxy",
    ),
    torus=figure(32, "tt-metal, mesh graph descriptors: Galaxy"),
)

SCHEDULES = ScheduleFigures(
    read_page=figure(45, f"{_FITTED}; C3 and C12 add up to 50"),
    gather_tile=figure(
        5000,
        "chosen: the simulator takes 1,000 to 2,000 cycles for a tile of aligned rows of faces, "
        "15,000 to 25,000 for one of others (docs/d2m.md)",
    ),
    unpack_tile=figure(
        UNITS.faces * (512 // UNITS.unpack_rate + UNITS.unpack_instruction),
        "derived: an instruction, and 512 bytes, for each face",
    ),
    pack_tile=figure(
        UNITS.pack_overhead + 2048 // UNITS.pack_rate, "derived; tt-llk issue 130: 45 cycles"
    ),
    reduce_tile=figure(
        4 * UNITS.matmul_phase + UNITS.matmul_handover,
        "derived: a product with a tile of ones in the four phases of HiFi4",
    ),
    operation=figure(
        160, "assumed: that of add_binary_tile and others of the simplest in optable/kernel"
    ),
    core_rate=figure(22.0, f"{_PATTERNS}: reads of one core from DRAM"),
    channel_rate=figure(22.0, "ISA, DRAMTile/README.md: 21.9 to 22.3 GB/s at 1 GHz"),
    row_rate=figure(46.0, _FITTED),
    l1_rate=figure(200.0, _FITTED),
    multicast_rate=figure(15.0, f"{_PATTERNS}: multicasts to all; C14: 14.5"),
    multicast_latency=figure(700, "C14: 710 cycles for 32 bytes to 63 receivers"),
    linked_rate=figure(22.0, f"{_PATTERNS}: linked multicasts to all"),
    handshake=figure(500, _FITTED),
    multicast_page=figure(62, _FITTED),
    moved_byte=figure(
        UNITS.l1_conflicts / UNITS.l1_port_bytes, "derived: banks that both of them want"
    ),
    all_read_rate=figure(
        200.0, "ISA, DRAMTile/README.md: 189.8 to 200.3 GB/s, cores at random places, network 0"
    ),
    all_write_rate=figure(
        95.0,
        f"{_FITTED}; ISA, DRAMTile/README.md: 133.7 to 154.5 GB/s, cores at random places, "
        "network 1",
    ),
    shared_cost=figure(1000, _FITTED),
    product_step=figure(100, _FITTED),
    add_in_l1=figure(92, f"{_FITTED}; a tile alone is packed in 77 cycles"),
    exchange=figure(2200, _FITTED),
    step=figure(250, _FITTED),
    first_load=figure(600, f"{_FITTED}; C3: 478 cycles to read 2048 bytes alone"),
)

WORMHOLE = Generation(
    name="wormhole_b0",
    chip=CHIP,
    units=UNITS,
    network=NETWORK,
    launch=LAUNCH,
    programs=PROGRAMS,
    links=LINKS,
    schedules=SCHEDULES,
)
