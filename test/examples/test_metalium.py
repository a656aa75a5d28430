"""The TT-Metalium examples compute what NumPy computes, each faster than the one before."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

METALIUM = Path(__file__).resolve().parents[2] / "examples" / "metalium"

PRODUCTS = (
    "matmul_single_core",
    "matmul_multi_core",
    "matmul_multi_core_reuse",
    "matmul_multicast",
    "matmul_sharded",
)
"""In the order of their speed."""

OF_2026 = (
    *("mesh_eltwise_add", "mesh_matmul", "mesh_matmul_multicast", "mesh_sharded_add"),
    "metal2_eltwise_add",
)
"""In the host style of 2026."""


@pytest.fixture(autouse=True)
def _examples_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(METALIUM))


def options(*arguments: str) -> Any:
    """Options as the command line gives them."""
    return import_module("matrix_options").parse_options("Test.", arguments)


def run(name: str, *arguments: str) -> Any:
    """The outcome of an example."""
    return import_module(name).run(options(*arguments))


def test_program_of_ttnn() -> None:
    """The script for ttnn's own library runs here, and multiplies."""
    command = [sys.executable, "-m", "ttmlir", str(METALIUM.parent / "ttnn" / "kernel_product.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == "largest difference: 0.0\n", done.stderr


@pytest.mark.parametrize("name", ["eltwise_add", *PRODUCTS, "matmul_prefetched", *OF_2026])
@pytest.mark.parametrize(
    "arguments",
    [
        ("--m", "70", "--k", "130", "--n", "100"),
        ("--m", "33", "--k", "32", "--n", "200", "--fidelity", "LoFi", "--format", "bfp8"),
        ("--m", "96", "--k", "330", "--n", "31", "--numerics", "exact", "--seed", "4"),
    ],
    ids=["bf16", "bfp8_lofi", "exact"],
)
def test_example_agrees_with_numpy(name: str, arguments: tuple[str, ...]) -> None:
    """Extents that no tile divides; the sanitizer has nothing to say."""
    outcome = run(name, *arguments)
    assert outcome.passed, outcome.verdict
    assert outcome.verdict.startswith("agrees")


@pytest.mark.parametrize(
    ("m", "k", "n"), [(96, 64, 160), (256, 512, 384), (512, 512, 512)], ids=str
)
def test_each_program_is_faster_than_the_one_before(m: int, k: int, n: int) -> None:
    """At equal sizes, in cycles of the device; one core takes at least as long as five."""
    arguments = ("--m", str(m), "--k", str(k), "--n", str(n), "--no-sanitize")
    cycles = [run(name, *arguments, "--numerics", "exact").times.cycles for name in PRODUCTS]
    assert cycles == sorted(cycles, reverse=True)
    assert cycles[0] > 5 * cycles[1]


def test_times_are_the_same_in_every_process_and_numerics() -> None:
    """Nothing of them depends on hashes, on memory, or on what the numbers are."""
    arguments = ("--m", "96", "--k", "64", "--n", "160", "--no-sanitize")
    here = run("matmul_multicast", *arguments, "--numerics", "exact", "--seed", "5").times
    printed = [
        subprocess.run(
            [sys.executable, str(METALIUM / "matmul_multicast.py"), *arguments],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert printed[0] == printed[1]
    assert f"matmul_multicast: {here.cycles:,} cycles" in printed[0]


def test_threads_count_what_they_move() -> None:
    """A product of 2 x 3 by 3 x 2 tiles of 2048 bytes on 2 x 2 cores."""
    outcome = run("matmul_multicast", "--m", "64", "--k", "96", "--n", "64")
    counted = {(each.core, each.role): each.counters for each in outcome.times.threads}
    assert counted[(0, 0), "NCRISC"] == {
        "pages pushed": 3,  # tiles of B,
        "pages popped": 0,
        "transactions": 3 + 2,
        "bytes read": 3 * 2048,  # from DRAM,
        "bytes written": 3 * 2048 + 4,  # to the core below, with a flag.
    }
    assert counted[(1, 1), "BRISC"] == {
        "pages pushed": 3,  # tiles of A, which another core has sent,
        "pages popped": 1,  # and a tile of C,
        "transactions": 1 + 1,  # one says that there is room for A, one writes C.
        "bytes read": 0,
        "bytes written": 2048,  # to DRAM.
    }
    assert counted[(1, 1), "UNPACK"] == {"pages pushed": 0, "pages popped": 6, "tiles unpacked": 6}
    assert counted[(1, 1), "PACK"] == {"pages pushed": 1, "pages popped": 0, "tiles packed": 1}


@pytest.mark.parametrize("board", ["n300", "p150"])
@pytest.mark.parametrize("name", ["matmul_multicast", "mesh_matmul_multicast"])
def test_other_boards(name: str, board: str) -> None:
    """Other grids, and alignments of 64 bytes on Blackhole."""
    outcome = run(name, "--m", "64", "--k", "64", "--n", "96", "--board", board)
    assert outcome.passed, outcome.verdict


@pytest.mark.parametrize(
    ("m", "k", "n", "grid", "block", "subblock"),
    [
        (512, 1024, 768, (8, 8), (2, 8, 3), (2, 3)),
        (2048, 2048, 2048, (8, 8), (8, 8, 8), (1, 8)),
        (32, 40, 32, (1, 1), (1, 2, 1), (1, 1)),
        (300, 600, 352, (6, 5), (2, 7, 2), (2, 2)),
    ],
)
def test_blocks_cover_the_matrices(
    m: int,
    k: int,
    n: int,
    grid: tuple[int, int],
    block: tuple[int, int, int],
    subblock: tuple[int, int],
) -> None:
    """Blocks are equal, fit the grid, and waste less than one of them in each direction."""
    blocking = import_module("blocking")
    cut = blocking.choose_blocking(options("--m", str(m), "--k", str(k), "--n", str(n)), 8, 8)
    assert (cut.grid_x, cut.grid_y) == grid
    assert (cut.block_m, cut.block_k, cut.block_n) == block
    assert (cut.subblock_m, cut.subblock_n) == subblock
    assert cut.m - cut.block_m < -(-m // 32) <= cut.m
    assert cut.k - cut.block_k < -(-k // 32) <= cut.k
    assert cut.n - cut.block_n < -(-n // 32) <= cut.n


@pytest.mark.parametrize(
    ("tiles", "columns", "chosen"),
    [(16, 8, 8), (16, 6, 4), (2, 5, 1), (31, 8, 8), (64, 8, 8), (200, 8, 8), (7, 8, 1), (9, 8, 3)],
)
def test_shards_of_k_waste_few_tiles(tiles: int, columns: int, chosen: int) -> None:
    """K is spread over as many columns as divide it into blocks of 2 to 8 tiles, if any do."""
    assert import_module("blocking").choose_columns(tiles, columns) == chosen


@pytest.mark.parametrize("numerics", ["exact", "device"])
def test_formats_of_four_bits(numerics: str) -> None:
    """A number of a block float of 4 bits is off by an eighth or so: PCC 0.98 is right."""
    arguments = ("--format", "bfp4", "--fidelity", "LoFi", "--numerics", numerics)
    outcome = run("matmul_sharded", "--m", "70", "--k", "200", "--n", "100", *arguments)
    assert outcome.passed, outcome.verdict


def test_check_finds_wrong_results() -> None:
    """A transposed block, a missing row and a wrong scale all disagree."""
    matrix_data: ModuleType = import_module("matrix_data")
    expected = np.random.default_rng(1).standard_normal((64, 96))
    right = expected.astype(np.float32)
    assert matrix_data.check(right, expected, 1e-3)[0]
    turned = right.copy()
    turned[:32, :32] = turned[:32, :32].T
    for wrong in (turned, np.roll(right, 1, axis=0), right * np.float32(1.1)):
        passed, verdict = matrix_data.check(wrong, expected, 0.05)
        assert not passed
        assert verdict.startswith("DISAGREES with NumPy: PCC")


def test_command_line_prints_time_and_bound_and_writes_a_trace(tmp_path: Path) -> None:
    """As a user runs it."""
    trace = tmp_path / "trace.json"
    result = subprocess.run(
        [
            *(sys.executable, str(METALIUM / "matmul_multicast.py"), "--trace", str(trace)),
            *("--m", "64", "--k", "96", "--n", "128", "--fidelity", "HiFi2"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert "agrees with NumPy: PCC 0.99" in result.stdout
    assert "TFLOP/s on 8 cores at HiFi2" in result.stdout
    assert "bound by" in result.stdout
    events = json.loads(trace.read_text())["traceEvents"]
    assert sum(each["name"] == "process_name" for each in events) == 8
    assert sum(each["name"] == "thread_name" for each in events) == 8 * 5
    assert {"matmul_block", "noc_async_read_barrier", "CB 16"} <= {each["name"] for each in events}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--m", "0"), "0 is no extent of a matrix; use 1 or more"),
        (("--format", "fp8"), "invalid choice: 'fp8'"),
        (("--fidelity", "HiFi5"), "invalid choice: 'HiFi5'"),
    ],
)
def test_senseless_options_are_refused(
    arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """With what argparse says."""
    with pytest.raises(SystemExit):
        options(*arguments)
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--board", "n1"), "error: unknown board 'n1'; known are "),
        (("--m", "6000", "--n", "6000", "--k", "32"), "circular buffer 24\n"),
    ],
)
def test_what_cannot_run_is_an_error_without_traceback(
    arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A board that does not exist; blocks of C that do not fit into L1."""
    run_example = import_module("matmul_multicast").run
    outcome = import_module("outcome")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["matmul_multicast.py", *arguments])
        assert outcome.main(run_example, "Test.") == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert message in printed.err
