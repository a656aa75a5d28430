"""Estimates of programs in files, against calculations by hand."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from samples.ttnn_program import ProgramBuilder

import ttmlir
from ttmlir.cost import Estimate, OperationEstimate, estimate_program
from ttmlir.cost.machine import Machine
from ttmlir.cost.program import find_machine
from ttmlir.cost.times import cost_operation, program_time
from ttmlir.cost.work import Work, make_desc
from ttmlir.cost.workload import Interval, Stage, Workload
from ttmlir.layout.system import board, system_desc_to_table
from ttmlir.runtime import BinaryError, BinaryProgram, InputError, UnsupportedError, read_binary
from ttmlir.schema import versions as files


def program() -> BinaryProgram:
    """exp of 640x1024 numbers in bf16, and the way there and back."""
    b = ProgramBuilder()
    x = b.to_device(b.input((640, 1024), "bf16"))
    b.output(b.eltwise("Sigmoid", [x], debug_info='%1 = "ttnn.sigmoid" loc("net.py":12:3)'))
    return read_binary(b.pack(), "net.ttnn").program(0)


def estimate(board: str | None = "n150") -> Estimate:
    """Of that program."""
    return estimate_program(program(), board)


def test_transfers_take_their_bytes_at_the_measured_rate() -> None:
    """1.3 MB in pages of 2 KiB at 14.0 GB/s there and 12.6 GB/s back; tiles are made on the way."""
    rows = {row.name: row for row in estimate().operations if row.time.mid}
    assert list(rows) == ["ttnn.to_device", "ttnn.sigmoid", "ttnn.to_memory_config"]
    size = 640 * 1024 * 2
    assert rows["ttnn.to_device"].mid == pytest.approx(size / 14.0)
    assert rows["ttnn.to_memory_config"].mid == pytest.approx(size / 12.6)
    assert {row.bound_by for row in rows.values()} == {"PCIe", "compute"}
    assert [row.on_host for row in rows.values()] == [True, False, True]


def test_times_are_short_to_read() -> None:
    """The time to be expected, and its bounds."""
    assert (
        repr(Interval(1234.5678, 2000.25, 1e6 / 3)) == "Interval(2,000 ns, from 1,235 to 333,333)"
    )


def test_no_bound_is_faster_than_dram() -> None:
    """Three tensors of 640 tiles, through 12 channels of 22.2 bytes per cycle."""
    b = ProgramBuilder()
    x = b.to_device(b.input((640, 1024), "bf16"))
    y = b.to_device(b.input((640, 1024), "bf16"))
    b.output(b.eltwise("Add", [x, y]))
    made = estimate_program(read_binary(b.pack(), "net.ttnn").program(0), "n150")
    [row] = [each for each in made.operations if each.name == "ttnn.add"]
    assert row.kernels.low >= 3 * 640 * 2048 / (12 * 22.2)


def test_a_function_takes_its_cycles_on_the_fullest_core() -> None:
    """640 tiles on 64 cores are 10 for each, of 1394 cycles for sigmoid and 8 to copy a tile."""
    [row] = [each for each in estimate().operations if each.name == "ttnn.sigmoid"]
    assert (row.cores, row.programs) == (64, 1)
    assert row.bytes == 2 * 640 * 2048
    assert row.flops == 640 * 1024
    assert 10 * 1402 < row.kernels.mid < 10 * 1402 + 4000
    assert row.low < row.mid < row.high
    assert row.location == '"net.py":12:3'
    assert row.dram_utilisation == pytest.approx(row.bytes / (row.kernels.mid * 12 * 22.2))
    assert row.utilisation == row.dram_utilisation
    assert row.flops_utilisation == 0


def test_totals_are_the_sums_of_the_operations() -> None:
    """Of the device, with shares of it, and of transfers."""
    made = estimate()
    assert made.transfers.mid == pytest.approx(640 * 1024 * 2 * (1 / 14.0 + 1 / 12.6))
    [function] = [each for each in made.operations if each.name == "ttnn.sigmoid"]
    assert (made.total, made.once.mid) == (function.time, 0)
    assert sum(map(made.share, made.operations)) == pytest.approx(1)
    assert made.bytes == 4 * 640 * 1024 * 2
    assert made.name == "forward"
    rate = made.rate(32, "images")
    assert rate.per_second == pytest.approx(32e9 / made.total.mid)
    assert rate.bounds[0] < rate.per_second < rate.bounds[1]
    assert str(rate).endswith(")")
    assert "images per second (" in str(rate)


def test_launching_is_hidden_by_long_programs() -> None:
    """A program of 10 us was measured to take 10.96 us; one of 1 us takes as long as launching."""
    machine = find_machine("n150", program())
    nothing = Stage("latency", 0)
    times = [
        program_time(
            machine,
            Workload(cores=1, steps=1, read=Stage("DRAM", cycles), write=nothing),
        ).mid
        for cycles in (10_000, 1000)
    ]
    assert times[0] == pytest.approx(10_960, rel=0.02)
    assert times[1] == machine.launch_ns
    # 2.47 us for one small kernel, 5.85 us for five of 8 KiB.
    assert 2470 < machine.launch_ns < 5850


def test_boards_are_names_or_descriptions(tmp_path: Path) -> None:
    """A file says what the system is; without a board, what the program was compiled for counts."""
    assert estimate(None).board == "n150"
    assert estimate("p150").machine.cores == 110
    assert estimate("p150").total.mid < estimate("n150").total.mid
    with pytest.raises(InputError, match=r"there is no board 'n15'; supported are .*\.ttsys"):
        estimate("n15")
    with pytest.raises(BinaryError, match="No such file"):
        estimate(str(tmp_path / "none.ttsys"))


def test_a_path_object_is_a_board(tmp_path: Path) -> None:
    """As it is for `ttmlir.compile`."""
    path = tmp_path / "card.ttsys"
    path.write_bytes(files.pack_system_desc(system_desc_to_table(board("p150"))))
    assert estimate_program(program(), path).total == estimate("p150").total


@pytest.mark.parametrize("batch", [0, -3])
def test_a_batch_has_something_in_it(batch: int) -> None:
    """Nothing, or less, has no rate."""
    with pytest.raises(ValueError, match=f"at least one of the images, not {batch}$"):
        estimate().rate(batch, unit="images")


def test_columns_of_large_numbers_stay_apart() -> None:
    """12 GB take a second there; a peak of several times the memory has no exponent."""
    b = ProgramBuilder()
    x = b.to_device(b.input((300000, 20000), "bf16"))
    b.output(b.eltwise("Sigmoid", [x], debug_info='%1 = "ttnn.sigmoid" loc("net.py":12:3)'))
    huge = estimate_program(read_binary(b.pack(), "net.ttnn").program(0), "n150")
    head, *rows = str(huge).splitlines()[2:4]
    columns = len(head.replace("bound by", "bound_by").split())
    assert [len(row.split()) for row in rows] == [columns + 1]
    assert "e+" not in str(huge)
    assert "does not fit" in str(huge)


def test_generations_without_figures_are_refused() -> None:
    """By name, with those that there are."""
    b = ProgramBuilder()
    b.output(b.to_device(b.input((32, 32))))
    system = system_desc_to_table(board("n150"))
    system["chip_descs"][0]["arch"] = "Grayskull"
    old = read_binary(b.pack(system_desc=system), "old.ttnn").program(0)
    with pytest.raises(UnsupportedError, match="on grayskull; use wormhole_b0 or blackhole"):
        estimate_program(old)
    assert estimate_program(old, "n150").transfers.mid > 0


def test_files_of_kernels_are_simulated_instead() -> None:
    """The message says by what."""
    golden = Path(__file__).parents[1] / "golden"
    path = next(iter(sorted(golden.glob("*.ttm"))))
    kernels = read_binary(path.read_bytes(), path.name, ignore_version=True).program(0)
    with pytest.raises(UnsupportedError, match="not estimated but simulated: ttrt perf"):
        estimate_program(kernels, "n150")


def test_the_table_has_totals_operations_and_memory() -> None:
    """What `print` shows."""
    lines = repr(estimate()).splitlines()
    assert lines[0].startswith("forward on n150: ")
    assert lines[0].endswith(" in 1 operation")
    assert lines[1].startswith("  apart from it: inputs and results over PCIe ")
    assert "share" in lines[2]
    assert any(line.startswith("4 ttnn.sigmoid ") and "net.py:12:3" in line for line in lines)
    assert any(line.startswith("dram: peak of ") for line in lines)
    assert "l1: nothing" in lines
    assert lines[-1].startswith("note: ")
    assert "ttnn.sigmoid" not in estimate().table(most=0)


def test_a_terminal_obeys_nothing_of_a_file() -> None:
    """Neither names of programs nor locations; other letters stay."""
    b = ProgramBuilder(name="for\x1b[2Jward")
    x = b.to_device(b.input((32, 32), "bf16"))
    b.output(b.eltwise("Sigmoid", [x], debug_info='%1 = "ttnn.sigmoid" loc("\x1b[31mcouché\x9b")'))
    table = str(estimate_program(read_binary(b.pack(), "net.ttnn").program(0), "n150"))
    assert table.startswith("for\ufffd[2Jward on n150: ")
    assert "\ufffd[31mcouché\ufffd" in table
    assert not {"\x1b", "\x9b"} & set(table)


def test_csv_has_the_columns_of_the_profiler() -> None:
    """Those that name operations, times and tensors, and those of the estimate."""
    rows = list(csv.DictReader(io.StringIO(estimate().to_csv())))
    [row] = [each for each in rows if each["OPERATION"] == "ttnn.sigmoid"]
    assert (row["OP CODE"], row["OP TYPE"]) == ("UnaryDeviceOperation", "estimated")
    assert (row["DEVICE ID"], row["DEVICE ARCH"]) == ("0", "wormhole_b0")
    assert (row["CORE COUNT"], row["AVAILABLE WORKER CORE COUNT"]) == ("64", "64")
    extents = [row[f"INPUT_0_{axis}_PAD[LOGICAL]"] for axis in "WZYX"]
    assert extents == ["1[1]", "1[1]", "640[640]", "1024[1024]"]
    assert (row["OUTPUT_0_DATATYPE"], row["INPUT_1_DATATYPE"]) == ("BFLOAT16", "")
    assert row["OUTPUT_0_MEMORY"] == "DEV_0_DRAM_INTERLEAVED"
    assert row["LOC"] == '"net.py":12:3'
    assert row["BOUND BY"] == "compute"
    cycles = int(row["DEVICE FW END CYCLE"]) - int(row["DEVICE FW START CYCLE"])
    assert abs(cycles - int(row["DEVICE FW DURATION [ns]"])) <= 1
    assert int(row["DEVICE KERNEL DURATION [ns]"]) < int(row["DEVICE FW DURATION [ns]"])
    # As in a profile, which has the programs of the device alone, in order of time.
    assert not [each for each in rows if each["OPERATION"] == "ttnn.to_device"]
    assert row["HOST START TS"] == str(round(640 * 1024 * 2 / 14.0))


def test_json_and_trace(tmp_path: Path) -> None:
    """The same numbers; a timeline with tracks for the device, DRAM and the host."""
    made = estimate()
    document = json.loads(made.write(tmp_path / "net.json").read_text("utf-8"))
    assert document["board"] == "n150"
    assert document["total_ns"]["mid"] == pytest.approx(made.total.mid, abs=0.1)
    assert len(document["operations"]) == len(made.operations)
    assert document["memory"]["dram"]["banks"] == 12
    trace = json.loads(made.write(tmp_path / "net.trace.json").read_text("utf-8"))
    events = trace["traceEvents"]
    names = {each["tid"]: each["args"]["name"] for each in events if each["name"] == "thread_name"}
    assert sorted(names.values()) == ["DRAM", "device", "host"]
    spans = [(names[each["tid"]], each["name"]) for each in events if each["ph"] == "X"]
    assert spans == [
        ("host", "ttnn.to_device"),
        ("device", "ttnn.sigmoid"),
        ("DRAM", "ttnn.sigmoid"),
        ("host", "ttnn.to_memory_config"),
    ]
    end = max(each["ts"] + each["dur"] for each in events if each["ph"] == "X")
    assert end == pytest.approx((made.total + made.transfers).mid / 1e3)
    assert made.write(tmp_path / "net.csv").read_text("utf-8") == made.to_csv()
    with pytest.raises(ValueError, match=r"\.csv, \.json or \.trace\.json"):
        made.write(tmp_path / "net.txt")


def test_estimates_are_the_same_every_time() -> None:
    """In every form."""
    first, second = estimate(), estimate()
    assert (repr(first), first.to_json()) == (repr(second), second.to_json())


def exp_row(columns: int, *, traced: bool) -> OperationEstimate:
    """The exponential of rows of bf16."""
    b = ProgramBuilder()
    x = b.to_device(b.input((32, columns), "bf16"))
    b.output(b.eltwise("Sigmoid", [x]))
    made = estimate_program(read_binary(b.pack(), "net.ttnn").program(0), "n150", traced=traced)
    [row] = [each for each in made.operations if each.programs]
    return row


def test_without_a_trace_operations_wait_for_the_host() -> None:
    """29 us for each call, 48 at worst, unless its kernels take longer."""
    small = exp_row(32, traced=False)
    assert (small.mid, small.high, small.bound_by) == (29_000, 48_000, "host")
    large = exp_row(32 * 4096, traced=True)
    assert large.mid > 29_000
    assert exp_row(32 * 4096, traced=False).mid == large.mid
    assert exp_row(32, traced=True).mid < 29_000
    called = str(estimate_program(program(), "n150", traced=False))
    assert "the host calls one operation after the other" in called
    assert "from a trace" not in called


NORMED = """
module {
  func.func @main(%x: tensor<70x512xbf16>, %g: tensor<512xbf16>, %w: tensor<512x96xbf16>,
                  %b: tensor<1x96xbf16>) -> tensor<70x96xbf16> {
    %1 = "ttir.rms_norm"(%x, %g) <{epsilon = 1.0e-5 : f32, normalized_shape = array<i64: 512>,
      operandSegmentSizes = array<i32: 1, 1, 0>}>
      : (tensor<70x512xbf16>, tensor<512xbf16>) -> tensor<70x512xbf16>
    %2 = "ttir.linear"(%1, %w, %b) <{transpose_a = false, transpose_b = false}>
      : (tensor<70x512xbf16>, tensor<512x96xbf16>, tensor<1x96xbf16>) -> tensor<70x96xbf16>
    return %2 : tensor<70x96xbf16>
  }
}
"""


def test_what_ttnn_does_in_one_program_is_estimated_as_one() -> None:
    """ttnn 0.81 launches a program for a norm with its weights, and one for a product and bias."""
    estimate = ttmlir.compile(NORMED, board="n150", optimization_level=0).estimate()
    rows = [each for each in estimate.in_call if each.name != "ttnn.to_layout"]
    assert [(each.name, each.programs) for each in rows] == [
        ("ttnn.rms_norm", 1),
        ("ttnn.matmul", 1),
    ]
    source = make_desc((70, 512))
    work = Work(mnemonic="rms_norm", operands=(source, make_desc((512,))), output=source)
    [program] = cost_operation(estimate.machine, work).programs
    assert rows[0].time.mid == program_time(estimate.machine, program).mid
    assert rows[1].flops == 2 * 70 * 512 * 96


HEADS = """
module {
  func.func @main(%x: tensor<1x3x96x64xbf16>) -> tensor<1x192x192xbf16> {
    %1 = "ttir.repeat_interleave"(%x) <{repeats = 2 : ui32, dim = -2 : si32}>
      : (tensor<1x3x96x64xbf16>) -> tensor<1x3x192x64xbf16>
    %2 = "ttir.concatenate_heads"(%1)
      : (tensor<1x3x192x64xbf16>) -> tensor<1x192x192xbf16>
    return %2 : tensor<1x192x192xbf16>
  }
}
"""


def test_rows_that_are_repeated_leave_their_tiles() -> None:
    """ttnn 0.81 untilizes, copies rows and tilizes; heads are copied in one program."""
    estimate = ttmlir.compile(HEADS, spelling="2026", board="n150").estimate()
    rows = [each for each in estimate.in_call if each.name != "ttnn.to_layout"]
    assert [(each.name, each.programs) for each in rows] == [
        ("ttnn.repeat_interleave", 3),
        ("ttnn.concatenate_heads", 1),
    ]


@pytest.mark.parametrize(("width", "bound"), [(64, "copied"), (40, "moved in lines")])
def test_heads_stand_side_by_side(width: int, bound: str) -> None:
    """Tiles are copied where heads are whole tiles wide, else 96 lines of 16 of each of 8 heads."""
    source, output = make_desc((1, 8, 96, width)), make_desc((1, 96, 8 * width))
    work = Work(mnemonic="concatenate_heads", operands=(source,), output=output)
    machine = Machine.of("n150", board("n150"))
    [program] = cost_operation(machine, work).programs
    assert bool(program.compute) == (bound == "moved in lines")
    assert program.dram_bytes == 48 * 2048 + 3 * (8 * width // 32) * 2048
