"""Calls of BRISC and NCRISC that C++ alone has: addresses, transaction numbers, tensor layouts."""

from __future__ import annotations

import numpy as np
import pytest

from ttmlir.metalium import (
    Buffer,
    BufferType,
    CircularBufferConfig,
    CoreCoord,
    CreateBuffer,
    CreateCircularBuffer,
    CreateDevice,
    CreateKernelFromString,
    CreateProgram,
    DataFormat,
    EnqueueProgram,
    EnqueueWriteBuffer,
    InterleavedBufferConfig,
    ReaderDataMovementConfig,
    SetCommonRuntimeArgs,
    SetRuntimeArgs,
    TensorAccessorArgs,
)
from ttmlir.sim.errors import SimError
from ttmlir.sim.kernels.build import BindingNames, TensorNames

CORE = CoreCoord(0, 0)
PAGES, PAGE = 30, 64
VALUES = np.arange(PAGES * PAGE // 4, dtype=np.uint32)


def printed(
    body: str,
    *,
    arguments: list[int] | None = None,
    common: list[int] | None = None,
    with_layout: bool | None = None,
    board: str = "n150",
    names: BindingNames | None = None,
) -> list[str]:
    """What a reader prints on a core with a circular buffer 3 of four pages of 64 bytes.

    A tensor of 30 pages in DRAM is at the address in run-time argument 0; with `with_layout` its
    layout follows the compile-time arguments, with or without the size of a page.
    """
    device, program = CreateDevice(0, board=board), CreateProgram()
    config = InterleavedBufferConfig(
        device=device, size=PAGES * PAGE, page_size=PAGE, buffer_type=BufferType.DRAM
    )
    buffer: Buffer = CreateBuffer(config)
    EnqueueWriteBuffer(device.command_queue(), buffer, VALUES, False)
    cb = CircularBufferConfig(4 * PAGE, {3: DataFormat.UInt32}).set_page_size(3, PAGE)
    CreateCircularBuffer(program, CORE, cb)
    words = list(arguments or [])
    if with_layout is not None:
        TensorAccessorArgs(buffer, aligned_page_size=with_layout).append_to(words)
    text = f"{HEAD}void kernel_main() {{\n{body}\n}}"
    kernel = CreateKernelFromString(program, text, CORE, ReaderDataMovementConfig(words))
    kernel.names = names or BindingNames()
    SetRuntimeArgs(program, kernel, CORE, [buffer.address(), 55])
    SetCommonRuntimeArgs(program, kernel, common or [buffer.address(), 66, 77])
    report = EnqueueProgram(device.command_queue(), program)
    return [line.partition(": ")[2] for line in report.printed]


HEAD = """
#define SHOW(x) DPRINT << (x) << ENDL()
uint32_t first(uint32_t address) {
    return *reinterpret_cast<volatile tt_l1_ptr uint32_t*>(address);
}
"""
READ = "cb_reserve_back(3, 4); uint32_t base = get_arg_val<uint32_t>(0), to = get_write_ptr(3);\n"


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("safe_get_noc_addr(3, 5, 0x1000)", 5 << 42 | 3 << 36 | 0x1000),
        ("safe_get_noc_addr(3, 5, 0x1000, 1)", 5 << 42 | 3 << 36 | 0x1000),
        ("NOC_XY_ADDR(NOC_X(3), NOC_Y(5), 0x1000)", 5 << 42 | 3 << 36 | 0x1000),
        ("get_noc_addr_helper(NOC_XY_ENCODING(3, 5), 16)", 5 << 42 | 3 << 36 | 16),
        ("NOC_MULTICAST_ADDR(1, 2, 3, 4, 32)", 2 << 54 | 1 << 48 | 4 << 42 | 3 << 36 | 32),
        ("NOC_XY_ENCODING(3, 5)", 5 << 6 | 3),
        ("NOC_UNICAST_ADDR_X(NOC_XY_ADDR(3, 5, 1))", 3),
        ("NOC_UNICAST_ADDR_Y(NOC_XY_ADDR(3, 5, 1))", 5),
        ("DYNAMIC_NOC_X(1, 7) * 100 + DYNAMIC_NOC_Y(0, 8)", 708),
    ],
)
def test_addresses_are_packed(expression: str, value: int) -> None:
    """36 bits of address, 6 of x, 6 of y; the start of a rectangle above."""
    assert printed(f"SHOW({expression});") == [str(value)]


@pytest.mark.parametrize(
    ("board", "l1", "dram", "banks", "burst"),
    [("n150", 16, 32, 12, 8192), ("p150", 16, 64, 8, 16384)],
)
def test_constants_of_the_board(board: str, l1: int, dram: int, banks: int, burst: int) -> None:
    """Alignments, banks and packets of Wormhole and Blackhole; bits of a power of two."""
    body = """SHOW(L1_ALIGNMENT); SHOW(DRAM_ALIGNMENT); SHOW(NUM_DRAM_BANKS);
    SHOW(NOC_MAX_BURST_SIZE); SHOW(NOC_INDEX); SHOW(PROCESSOR_INDEX);
    #ifdef IS_NOT_POW2_NUM_DRAM_BANKS
    SHOW(-1);
    #else
    SHOW(LOG_BASE_2_OF_NUM_DRAM_BANKS);
    #endif"""
    power = -1 if banks & (banks - 1) else banks.bit_length() - 1
    lines = printed(body, board=board)
    # A reader runs on NCRISC, which is processor 1 and has network 0 by default.
    assert lines[:4] == [str(each) for each in (l1, dram, banks, burst)]
    assert lines[5:] == ["1", str(power)]


@pytest.mark.parametrize(("board", "dram"), [("n150", 32), ("p150", 64)])
def test_alignments_of_reads_and_writes(board: str, dram: int) -> None:
    """Only reads of DRAM begin at multiples of more than 16 bytes (tt-metal, noc_parameters.h)."""
    names = ("L1_READ", "L1_WRITE", "DRAM_READ", "DRAM_WRITE")
    body = " ".join(f"SHOW(NOC_{name}_ALIGNMENT_BYTES);" for name in names)
    assert printed(body, board=board) == ["16", "16", str(dram), "16"]


GENERATORS = [
    "InterleavedPow2AddrGen<true> s = {.bank_base_address = base, .log_base_2_of_page_size = 6};",
    "const InterleavedPow2AddrGenFast<true> s{base, 6};",
    "const auto s = get_interleaved_addr_gen<true, true>(base, 64, 6);",
    "const auto s = get_interleaved_addr_gen<true, true>(base, 6);",
    "const auto s = get_interleaved_addr_gen<true, false>(base, 64);",
    "const auto s = get_interleaved_addr_gen<true, 64>(base);",
]


@pytest.mark.parametrize("generator", GENERATORS)
def test_pages_of_powers_of_two(generator: str) -> None:
    """All find page 27 where the host put it."""
    body = f"""{generator}
    noc_async_read(s.get_noc_addr(27), to, 64);
    noc_async_read(get_noc_addr(13, s), to + 64, 64);
    noc_async_read_barrier();
    SHOW(first(to)); SHOW(first(to + 64));"""
    assert printed(READ + body) == [str(27 * 16), str(13 * 16)]


def test_reads_with_transaction_numbers() -> None:
    """From the bank that was set, at the sum of two addresses; page 12 is the second of bank 0."""
    body = """
    uint32_t at = noc_async_read_tile_dram_sharded_set_state<false>(base, 64, 0, 1);
    noc_async_read_tile_dram_sharded_set_trid(2);
    noc_async_read_tile_dram_sharded_with_state(at, 64, to, 2);
    noc_async_read_tile_dram_sharded_with_state_with_trid(at, 0, to + 64, 3);
    noc_async_read_barrier_with_trid(2);
    SHOW(first(to));
    noc_async_read_barrier_with_trid(3);
    SHOW(first(to + 64));
    uint64_t third = get_noc_addr_from_bank_id<true>(3, base);
    noc_async_read_one_packet_set_state(third, 64);
    noc_async_read_one_packet_with_state_with_trid(base, 64, to, 4);
    noc_async_read_barrier_with_trid(4);
    SHOW(first(to));
    reset_noc_trid_barrier_counter();
    """
    assert printed(READ + body) == [str(12 * 16), "0", str(15 * 16)]


LAYOUTS: list[tuple[str, bool, str]] = [
    ("TensorAccessor(args, base, 64)", False, "3"),
    ("TensorAccessor(args, base)", True, "4"),
    ("TensorAccessor(args, base, 64)", True, "4"),
]


@pytest.mark.parametrize(("accessor", "with_page_size", "end"), LAYOUTS)
def test_layouts_with_and_without_the_size_of_a_page(
    accessor: str, with_page_size: bool, end: str
) -> None:
    """One or two compile-time arguments, whose end is a constant."""
    body = f"""constexpr auto args = TensorAccessorArgs<2>();
    constexpr uint32_t end = args.next_compile_time_args_offset();
    static_assert(args.num_compile_time_args() == end - 2);
    const auto s = {accessor};
    noc_async_read_page(29, s, to);
    noc_async_read_barrier();
    SHOW(end); SHOW(first(to)); SHOW(s.page_size); SHOW(s.bank_base_address == base);
    SHOW(s.get_aligned_page_size()); SHOW(s.is_dram); SHOW(args.is_sharded);"""
    lines = printed(READ + body, arguments=[8, 9], with_layout=with_page_size)
    assert lines == [end, str(29 * 16), "64", "1", "64", "1", "0"]


def test_a_layout_tells_where_the_next_argument_is() -> None:
    """In the argument of `get_compile_time_arg_val`, and of another layout."""
    body = """constexpr auto a = TensorAccessorArgs<0>();
    constexpr auto b = TensorAccessorArgs<a.next_compile_time_args_offset()>();
    constexpr uint32_t last = get_compile_time_arg_val(b.next_compile_time_args_offset());
    SHOW(last);"""
    assert printed(body, arguments=[2, 2, 77]) == ["77"]


def test_a_size_that_no_argument_holds() -> None:
    """The message says what to do on either side."""
    body = "constexpr auto args = TensorAccessorArgs<0>(); auto s = TensorAccessor(args, 0);"
    with pytest.raises(SimError, match=r"TensorAccessorArgs\(buffer, aligned_page_size=True\)"):
        printed(body, with_layout=False)


def sharded(flags: int) -> tuple[list[int], list[int]]:
    """Arguments of a tensor of 4 x 6 pages in shards of 2 x 3 over cores of L1, by flags.

    The shards are on the cores at (2, 3), (4, 3) and (2, 4) of the network, in turn.
    """
    parts = [
        (4, [2]),
        (8, [3]),
        (16, [4, 6]),
        (32, [2, 3]),
        (64, [(2 << 8 | 3) | (4 << 8 | 3) << 16, 2 << 8 | 4]),
    ]
    words = [flags | 1]
    common: list[int] = []
    for bit, values in parts:
        (common if flags & bit else words).extend(values)
    return words, common


@pytest.mark.parametrize("flags", [0, 64, 8 | 64, 16 | 32, 4 | 16 | 32, 4 | 8 | 16 | 32 | 64])
def test_sharded_layouts_take_what_they_lack_from_common_arguments(flags: int) -> None:
    """Page 15 is row 2, column 3: shard 3, bank 0 in the second round, its first page."""
    words, common = sharded(flags)
    body = f"""constexpr auto args = TensorAccessorArgs<1, 2>();
    static_assert(args.next_compile_time_args_offset() == {1 + len(words)});
    SHOW(args.next_common_runtime_args_offset());
    const auto s = TensorAccessor(args, 0x20000, 48);
    SHOW(s.get_noc_addr(15)); SHOW(s.get_noc_addr(5));
    const auto t = TensorAccessor(TensorAccessorArgs<1>(2), 0x20000, 48);
    SHOW(t.get_noc_addr(15));"""
    lines = printed(body, arguments=[7, *words], common=[7, 7, *common])
    first = 3 << 42 | 2 << 36 | 0x20000 + 6 * 48
    second = 3 << 42 | 4 << 36 | 0x20000 + 2 * 48
    assert lines == [str(2 + len(common)), str(first), str(second), str(first)]


@pytest.mark.parametrize("flags", [5, 1 | 8, 1 | 128, 4, 512])
def test_flags_that_do_not_go_together(flags: int) -> None:
    """They are no layout."""
    with pytest.raises(SimError, match=f"reads {flags} from compile-time argument 0, which is no"):
        printed("auto args = TensorAccessorArgs<0>();", arguments=[flags, 1, 1, 1, 1, 1, 1])


def test_tensors_and_arguments_have_names() -> None:
    """The host program says where they are; what has no name comes after."""
    names = BindingNames(
        arguments=("address",),
        common_arguments=("first", "second"),
        constants=(("size", 64),),
        circular_buffers=(("in", 3),),
        tensors=(("source", TensorNames(layout=1, address=0)),),
    )
    body = """auto cb = DataflowBuffer(dfb::in);
    cb.reserve_back(1);
    const auto source = TensorAccessor(tensor::source);
    noc_async_read_page(17, source, cb.get_write_ptr());
    noc_async_read_barrier();
    SHOW(first(cb.get_write_ptr())); SHOW(get_arg(args::size));
    SHOW(get_vararg(0)); SHOW(get_arg(args::second)); SHOW(get_common_vararg(0));
    SHOW(get_arg(args::address) == get_arg(args::first));"""
    lines = printed(body, arguments=[9], with_layout=True, names=names)
    assert lines == [str(17 * 16), "64", "55", "66", "77", "1"]
    with pytest.raises(SimError, match="names no tensor 'target'; there are tensor::source"):
        printed("auto t = TensorAccessor(tensor::target);", names=names)
