"""Buffers in L1 and DRAM: programs that are larger than memory, and messages where they are."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from running.kernel_runs import KERNEL_PIPELINE, run_kernels
from running.pass_runner import lowered, printed
from running.randomness import TestGenerator
from samples.ttir_text import FunctionText, tensor

from ttmlir.layout.system import ChipDesc, default_system_desc, system_desc_to_table, worker_cores
from ttmlir.mlir.option_values import OptionError
from ttmlir.mlir.reporting import DiagnosticError
from ttmlir.passes.d2m.schedule.d2m_allocate import Part, choose_shards
from ttmlir.schema.versions import pack_system_desc

RNG = TestGenerator(__name__)
BEFORE_ALLOCATE = (
    "ttir-load-system-desc",
    "ttir-to-d2m",
    "ttcore-one-shot-bufferize",
    "d2m-grid-selection",
)


def machine(path: Path, **changes: Any) -> str:
    """A file that describes a machine of one chip, 2x2 cores and little L1."""
    system = default_system_desc()
    chip = system.chip_descs[0]
    cores = replace(chip.physical_cores, worker=worker_cores(2, 2))
    small = {"grid": (2, 2), "physical_cores": cores, "l1_size": 64 * 1024} | changes
    changed: ChipDesc = replace(chip, **small)
    file = path / "machine.ttsys"
    table = system_desc_to_table(replace(system, chip_descs=(changed,)))
    file.write_bytes(pack_system_desc(table))
    return f"system-desc-path={file}"


def chain(*shape: int) -> str:
    """|x - y|, then |z - x| of that, then the difference of both, which keeps the first alive."""
    type_ = tensor(*shape)
    text = FunctionText([type_, type_])
    first = text.op("abs", [text.op("subtract", ["%arg0", "%arg1"], type_)], type_)
    second = text.op("abs", [text.op("subtract", [first, "%arg0"], type_)], type_)
    return text.returning(text.op("subtract", [first, second], type_))


def expected(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The same by NumPy."""
    first = np.abs(x - y)
    return first - np.abs(first - x)


@pytest.mark.parametrize("options", ["", " enable-fusion=false"])
def test_tensors_of_50_times_l1(options: str, tmp_path: Path) -> None:
    """Three tensors of 4.5 MB, with 252 KB of L1 on all cores."""
    x, y = (RNG.integers(-64, 65, (1024, 1120)).astype(np.float32) / 64 for _ in range(2))
    assert 3 * x.nbytes > 50 * 4 * (64 - 1) * 1024
    run = run_kernels(chain(1024, 1120), x, y, options=machine(tmp_path) + options)
    np.testing.assert_array_equal(run.outputs[0], expected(x, y))


def test_memory_of_both_kinds(tmp_path: Path) -> None:
    """With room for some of the tensors in L1, the others are in DRAM."""
    options = machine(tmp_path, l1_size=256 * 1024) + " enable-fusion=false"
    x, y = (RNG.integers(-64, 65, (256, 320)).astype(np.float32) / 64 for _ in range(2))
    text = chain(256, 320)
    body = printed(text, f"{KERNEL_PIPELINE}={options}")
    created = re.findall(r"create_buffer.*-> memref<.*, #(l1|dram)>", body)
    interleaved = body.count("#ttcore.interleaved")
    assert 0 < interleaved < len(created)
    np.testing.assert_array_equal(
        run_kernels(text, x, y, options=options).outputs[0], expected(x, y)
    )


@pytest.mark.parametrize(("spills", "space"), [(False, "l1"), (True, "dram")])
def test_results_that_leave_l1_to_others(spills: bool, space: str, tmp_path: Path) -> None:
    """A result lives shortly, so it is in L1 before others, unless it may be spilled."""
    type_ = tensor(256, 320)
    text = FunctionText([type_, type_])
    early, late = text.op("neg", ["%arg0"], type_), text.op("abs", ["%arg1"], type_)
    program = text.returning(text.op("subtract", [late, early], type_))
    options = machine(tmp_path, l1_size=300 * 1024) + " enable-fusion=false"
    options += f" default-input-memspace=dram allow-l1-output-spilling={str(spills).lower()}"
    body = printed(program, f"{KERNEL_PIPELINE}={options}")
    (read,) = re.findall(r"enqueue_read_buffer.*? : \((.*)", body)
    assert re.findall(r"#(l1|dram)>", read)[0] == space
    x, y = (RNG.integers(-64, 65, (256, 320)).astype(np.float32) / 64 for _ in range(2))
    (result,) = run_kernels(program, x, y, options=options).outputs
    np.testing.assert_array_equal(result, np.abs(y) + x)


def test_shards() -> None:
    """Grids of generics first, then many cores; None where one core would serve all others."""
    assert choose_shards((16, 12), (), 64) == (16, 4)
    assert choose_shards((16, 12), (Part((1, 1), (8, 6)),), 64) == (8, 6)
    # A grid that does not divide is none.
    assert choose_shards((16, 12), (Part((1, 1), (5, 6)),), 64) == (16, 4)
    # Shards of whole blocks of 4x3.
    assert choose_shards((16, 12), (Part((4, 3), None),), 16) == (4, 4)
    assert choose_shards((97, 1), (), 64) is None
    assert choose_shards((3, 1), (), 64) == (3, 1)


def test_no_room_in_dram(tmp_path: Path) -> None:
    """The buffers at the point where it is full, with their bytes in a bank."""
    options = machine(tmp_path, dram_unreserved_end=1024 + 40_000)
    with pytest.raises(DiagnosticError) as refused:
        lowered(chain(320, 320), f"{KERNEL_PIPELINE}={options}")
    # 100 tiles on 12 banks are 9 of 4096 bytes in the fullest one; two inputs live at once.
    assert str(refused.value).splitlines()[0].startswith("test.mlir:")
    assert re.search(
        r"needs 110592 bytes in each bank of DRAM; there are 40000. Use smaller tensors, or "
        r"several functions. The largest buffers at this point, with their bytes in a bank:\n"
        r" +36864  memref<1x1x10x10x!tt.*",
        str(refused.value),
    )


def test_no_room_in_l1(tmp_path: Path) -> None:
    """Blocks of one tile are too large."""
    options = machine(tmp_path, l1_size=1024 + 8192)
    with pytest.raises(DiagnosticError) as refused:
        lowered(chain(320, 320), f"{KERNEL_PIPELINE}={options}")
    assert re.search(
        r"'d2m.generic' op needs \d+ bytes of L1 for its blocks and circular buffers, one tile "
        r"along each iterator; there are 8192\. Divide it",
        str(refused.value),
    )


def test_single_buffers() -> None:
    """400 blocks for each operand do not fit; then there is one."""
    x, y = (RNG.integers(-64, 65, (640, 640)).astype(np.float32) / 64 for _ in range(2))
    run = run_kernels(chain(640, 640), x, y, options="num-stream-buffers=400")
    np.testing.assert_array_equal(run.outputs[0], expected(x, y))


def test_other_machine(tmp_path: Path) -> None:
    """Blocks are chosen for one machine, and placed on one with less L1."""
    small = machine(tmp_path, l1_size=1024 + 8192).removeprefix("system-desc-")
    with pytest.raises(DiagnosticError) as refused:
        lowered(chain(640, 640), *BEFORE_ALLOCATE, f"ttir-load-system-desc={small}", "d2m-allocate")
    assert re.search(
        r"needs \d+ bytes of L1 on each core; there are 8192. Run d2m-grid-selection for this "
        r"machine. The largest circular buffers, with their bytes:\n +\d+  memref<",
        str(refused.value),
    )


def test_machine_is_missing() -> None:
    """Both passes say what gives one."""
    for name in ("d2m-grid-selection", "d2m-allocate"):
        with pytest.raises(DiagnosticError, match="run ttir-load-system-desc before"):
            lowered("func.func @f() {\n  return\n}", name)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("override-device-shape=9,8", "rows and columns of at most 8,8 cores, got 9,8"),
        ("override-device-shape=8", "rows and columns of at most 8,8 cores, got 8"),
        ("num-stream-buffers=0", "for the --num-stream-buffers option: expected 1 to 1024, got 0"),
        ("num-stream-buffers=1000000", "expected 1 to 1024, got 1000000"),
    ],
)
def test_options(options: str, message: str) -> None:
    """Values that mean nothing: the message is about the option, not a place in the program."""
    with pytest.raises(OptionError, match=re.escape(message)):
        lowered(chain(32, 32), f"{KERNEL_PIPELINE}={options}")


def test_part_of_l1() -> None:
    """Buffers are where an option lets them be; what has no room there is in DRAM."""
    x, y = (RNG.integers(-64, 65, (256, 320)).astype(np.float32) / 64 for _ in range(2))
    text = chain(256, 320)
    for options, first, end in (
        ("available-l1-addr-range=200000,264144", 200000, 264144),
        ("test-assume-l1-capacity=40000", 1024, 40000),
    ):
        options += " enable-fusion=false override-device-shape=2,2"
        body = printed(text, f"{KERNEL_PIPELINE}={options}")
        found = re.findall(r"create_buffer.*address = (\d+).*-> memref<(.*), #(l1|dram)>", body)
        places = [int(address) for address, _, space in found if space == "l1"]
        assert places
        assert first <= min(places) <= max(places) < end
        assert any(space == "dram" for *_, space in found)
        np.testing.assert_array_equal(
            run_kernels(text, x, y, options=options).outputs[0], expected(x, y)
        )


def test_tensors_in_dram() -> None:
    """Only circular buffers are in L1, which are programs' own."""
    x, y = (RNG.integers(-64, 65, (70, 90)).astype(np.float32) / 64 for _ in range(2))
    text, options = chain(70, 90), "enable-fusion=false force-spill-to-dram-if-legal=true"
    run = run_kernels(text, x, y, options=options)
    np.testing.assert_array_equal(run.outputs[0], expected(x, y))
