"""What kernels print: numbers by their type, numbers of tiles, texts with places for values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cores.compute_core import ComputeCore
from cores.tile_bytes import packed
from numpy.typing import NDArray

from ttmlir.layout.enums import DataType
from ttmlir.sim.calls.compute_api import ComputeSettings
from ttmlir.sim.errors import SimError

TILE = (np.arange(1024).reshape(32, 32) % 100).astype(np.float32)


def printed(body: str, thread: str = "UNPACK") -> list[str]:
    """The lines that a compute thread prints on a core with a tile in buffers 0 and 1."""
    core = ComputeCore()
    core.filled(0, DataType.BF16, [packed(TILE)])
    core.filled(1, DataType.U32, [packed(TILE.astype(np.uint32), DataType.U32)])
    core.core.print_line = (lines := list[str]()).append
    core.run_cpp(f"void kernel_main() {{\n#ifdef TRISC_{thread}\n{body}\n#endif\n}}")
    return [line.partition(": ")[2] for line in lines]


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ("F32(3) << ' ' << F32(1.5f)", "3 1.5"),
        ("BF16(0x3fc0) << ' ' << BF16(0xc020)", "1.5 -2.5"),
        ("U32(-1)", "4294967295"),
        ("HEX() << 255 << DEC() << ' ' << 255 << OCT() << ' ' << 8", "ff 255 10"),
        ("SETW(5) << 42 << 7", "   427"),
        ("SETPRECISION(3) << 3.14159f << ' ' << FIXED() << 2.5f", "3.14 2.500"),
        ("FIXED() << 0.5f << DEFAULTFLOAT() << ' ' << 0.5f", "0.500000 0.5"),
        ("U32_ARRAY(reinterpret_cast<uint32_t*>(get_local_cb_interface(1).fifo_rd_ptr << 4), 3)",
         "0 1 2 "),
    ],
)  # fmt: skip
def test_values(values: str, line: str) -> None:
    """Wrappers and manipulators of DPRINT."""
    assert printed(f"DPRINT << {values} << ENDL();") == [line]


def test_rows_of_a_tile() -> None:
    """Every 16th row and column by name, or what a range says; in the order of memory if asked."""
    body = "DPRINT << TileSlice(0, 0, SliceRange::hw0_32_16()) << ENDL();"
    assert printed(body)[:2] == ["0 16 ", "12 28 "]
    body = """SliceRange sr = SliceRange{.h0 = 1, .h1 = 3, .hs = 1, .w0 = 0, .w1 = 6, .ws = 2};
    DPRINT << TSLICE(1, 0, sr, true, true) << ENDL();"""
    assert printed(body)[:2] == ["32 34 36 ", "64 66 68 "]
    # Row 1 in the order of memory is rows 2 and 3 of face 0.
    body = "DPRINT << TileSlice(1, 0, SliceRange{1, 2, 1, 14, 18, 1}, true, false) << ENDL();"
    assert printed(body)[0] == "78 79 96 97 "


def test_a_slice_is_cut_off() -> None:
    """After 64 bytes of data: 32 numbers of 16 bits, or what the template argument says."""
    body = "DPRINT << TileSlice<8>(0, 0, SliceRange::h0_w0_32(), false, true) << ENDL();"
    assert printed(body) == ["0 1 2 3 <cut off after 8 bytes>"]
    assert printed("DPRINT << TileSlice(0, 0, SliceRange::h0_w0_32()) << ENDL();", "MATH") == [
        "<TileSlice is not available on MATH>"
    ]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ('"plain"', "plain"),
        ('"{} and {}", 1, 2.5f', "1 and 2.5"),
        ('"{1} before {0}, {1:x}", 10, 255', "255 before 10, ff"),
        ('"{{{:5}}} {:.2f}", 7, 1.0f', "{    7} 1.00"),
        # What std::format gives.
        ('"{:<4}|{:>4}|{:^5}|{:*>6}", 1, 2, 3, 4', "1   |   2|  3  |*****4"),
        ('"{:08x} {:#x} {:#06X} {:+} {:04}", 255, 255, 171, 5, -7', "000000ff 0xff 0X00AB +5 -007"),
        ('"{:b} {:<4o} {:x}", 10, 8, -31', "1010 10   ffffffe1"),
        (
            '"{:<8.2f}|{:>8}|{:^9.3e}|{:+g}", 1.5f, 2.5f, 1.0f, 0.5f',
            "1.50    |     2.5|1.000e+00|+0.5",
        ),
    ],
)
def test_texts_with_places(arguments: str, line: str) -> None:
    """In order or by number, with bases and widths; on one processor if so asked."""
    end = "DPRINT << ENDL();"
    for name in ("DEVICE_PRINT", "DPRINT"):
        assert printed(f"{name}({arguments}); {end}") == [line]
    both = f"DEVICE_PRINT_UNPACK({arguments}); DEVICE_PRINT_PACK({arguments});"
    assert printed(f"{both} {end}") == [line]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ('"{}"', "has room for 1 value, and there are 0"),
        ('"{}", 1, 2', "has room for 1 value, and there are 2"),
        ('"{} {0}", 1', "are not mixed in one text"),
        ('"{", 1', "stands alone; write"),
        ("5", "takes a text in quotes"),
        ('"{:<4x}", 1.5f', "'x' does not show 'float'"),
        ('"{:>4e}", 3', "'e' does not show 'int'"),
    ],
)
def test_texts_that_do_not_fit(arguments: str, message: str) -> None:
    """The count is checked when the kernel is compiled."""
    with pytest.raises(Exception, match=message):
        printed(f"DEVICE_PRINT({arguments});")


def test_assertions_may_name_what_only_the_watcher_has() -> None:
    """Then they are left out; others are checked, and further arguments ignored."""
    body = 'ASSERT(watcher_state.is_on(), "text"); ASSERT(1 + 1 == 2, 5); WAYPOINT("ABCD");'
    assert printed(f"{body} DPRINT << 1 << ENDL();") == ["1"]
    with pytest.raises(SimError, match="an assertion does not hold"):
        printed("uint32_t x = 1; ASSERT(x == 2, 3);")


def test_macros_of_the_profiler_are_empty() -> None:
    """Those of zones, records and counters."""
    body = """DeviceZoneScopedN("a"); DeviceZoneScopedMainN("b"); DeviceTimestampedData("c", 1);
    DeviceRecordEvent(3); DeviceZoneScopedSumN1("d"); DeviceIncrementTraceCount();
    StartPerfCounters(); StopPerfCounters(); DPRINT << 1 << ENDL();"""
    core = ComputeCore()
    core.core.print_line = (lines := list[str]()).append
    core.run_cpp(f"void kernel_main() {{ {body} }}")
    assert len(lines) == 3


def printed_of_dst(
    call: str, tile: NDArray[Any] = TILE, data_type: DataType = DataType.BF16, *, wide: bool = False
) -> list[str]:
    """What a call prints whose kernel holds a tile in tile 1 of DST, and zeros in the others."""
    core = ComputeCore(ComputeSettings(fp32_dest_acc_en=wide))
    core.filled(0, data_type, [packed(tile, data_type)])
    core.buffer(16, data_type, 1)
    core.core.print_line = (lines := list[str]()).append
    core.run_cpp(f"""
        #include "api/debug/dprint_tensix.h"
        void kernel_main() {{
            unary_op_init_common(0, 16);
            copy_tile_to_dst_init_short(0);
            tile_regs_acquire();
            copy_tile(0, 0, 1);
            {call}
            tile_regs_commit();
            tile_regs_wait();
            pack_tile(1, 16);
            tile_regs_release();
        }}""")
    return [line.partition(": ")[2] for line in lines]


def test_tiles_of_dst() -> None:
    """The rows of the four faces, one after another, also with a line between the faces."""
    faces = TILE.reshape(2, 16, 2, 16).swapaxes(1, 2).reshape(64, 16)
    rows = ["".join(f"{int(number)} " for number in row) for row in faces]
    assert printed_of_dst("dprint_tensix_dest_reg(1);") == ["Tile ID = 1", *rows]
    lines = printed_of_dst("dprint_tensix_dest_reg<true>(1);")
    assert lines == ["Tile ID = 1", *(x for i in range(4) for x in (*rows[16 * i :][:16], ""))]
    assert printed_of_dst("dprint_tensix_dest_reg();", TILE + 1) == [
        "Tile ID = 0",
        *["0 " * 16] * 64,
    ]
    small = printed_of_dst("dprint_tensix_dest_reg(1);", np.full_like(TILE, -(2.0**-20)))
    assert small[1] == "-9.53674e-07 " * 16
    with pytest.raises(SimError, match="DST has no tile 16: a thread sees"):
        printed_of_dst("dprint_tensix_dest_reg(16);")


@pytest.mark.parametrize(
    ("data_type", "wide", "expected"),
    [(DataType.U16, False, "1000"), (DataType.U32, True, f"{2.0**-149 * 1000:g}")],
)
def test_integers_of_dst(data_type: DataType, wide: bool, expected: str) -> None:
    """Those of 16 bits are integers; of 32 tt-metal prints the floating-point numbers."""
    numbers = np.full((32, 32), 1000, np.int64)
    lines = printed_of_dst("dprint_tensix_dest_reg(1);", numbers, data_type, wide=wide)
    assert lines == ["Tile ID = 1", *[f"{expected} " * 16] * 64]
