"""Rows that several cores share: which do, what they exchange, and that results are NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from ml_dtypes import bfloat16
from running.pass_runner import lowered
from samples.ttir_text import FunctionText, tensor

from ttmlir.dialects import d2m, ttmetal
from ttmlir.dialects.ttkernel import CallOp
from ttmlir.runtime import read_binary
from ttmlir.runtime.metal_program import MetalBinary
from ttmlir.runtime.metal_session import execute
from ttmlir.sim.options import SimOptions
from ttmlir.target.flatbuffer.ttmetal import ttmetal_to_flatbuffer

Array = np.ndarray[Any, Any]
DRAM = "default-input-memspace=dram default-output-memspace=dram"
TO_GRIDS = (
    "ttir-load-system-desc",
    "ttir-composite-decomposition",
    "ttir-to-d2m",
    "d2m-mask-padding",
    "d2m-generic-fusion",
    "ttcore-one-shot-bufferize",
    "d2m-insert-scratch-buffers",
)
SCHEDULES: tuple[dict[str, Any], ...] = (
    {"numerics": "exact"},
    {"numerics": "exact", "schedule_seed": 1, "delay_copies": True},
    {"numerics": "exact", "schedule_seed": 2},
    {"numerics": "device", "schedule_seed": 3, "delay_copies": True},
)


def softmax(rows: int, columns: int, element: str = "f32") -> str:
    """Of each row."""
    type_ = tensor(rows, columns, element=element)
    text = FunctionText([type_])
    return text.returning(text.op("softmax", ["%arg0"], type_, "dimension = 1 : si32"))


def softmax_of(x: Array) -> Array:
    """As in textbooks."""
    powers = np.exp(x - x.max(1, keepdims=True))
    return np.asarray(powers / powers.sum(1, keepdims=True))


def norm(rows: int, columns: int, element: str = "f32") -> str:
    """Of each row, of a sum, with a scale for each column."""
    matrix, column = (tensor(*each, element=element) for each in ((rows, columns), (rows, 1)))
    text = FunctionText([matrix, matrix, tensor(1, columns, element=element)])
    over = "dim_arg = [1 : i32], keep_dim = true"
    total = text.op("add", ["%arg0", "%arg1"], matrix)
    centered = text.op("subtract", [total, text.op("mean", [total], column, over)], matrix)
    square = text.op("multiply", [centered, centered], matrix)
    factor = text.op("rsqrt", [text.op("mean", [square], column, over)], column)
    scaled = text.op("multiply", [centered, factor], matrix)
    return text.returning(text.op("multiply", [scaled, "%arg2"], matrix))


def norm_of(x: Array, y: Array, scale: Array) -> Array:
    """The same."""
    centered = x + y - (x + y).mean(1, keepdims=True)
    return np.asarray(centered / np.sqrt((centered**2).mean(1, keepdims=True)) * scale)


def divided(text: str, options: str = "") -> d2m.GenericOp:
    """The only generic of a function behind d2m-grid-selection."""
    last = f"d2m-grid-selection={options}" if options else "d2m-grid-selection"
    module = lowered(text, *TO_GRIDS, last)
    [generic] = [op for op in module.walk() if isinstance(op, d2m.GenericOp)]
    return generic


def numbers(shapes: list[tuple[int, int]], element: str) -> list[Array]:
    """The same each time; rows have means and scales of their own."""
    rng = np.random.default_rng(5)
    drawn = [
        (rng.standard_normal(shape) * rng.uniform(0.5, 3, (shape[0], 1))).astype(np.float32)
        for shape in shapes
    ]
    if element == "bf16":
        return [each.astype(bfloat16).astype(np.float32) for each in drawn]
    return drawn


def check(
    text: str, inputs: list[Array], expected: Array, options: str, tolerance: float = 1e-4
) -> None:
    """A function gives what is expected in all schedules, clean under the sanitizer."""
    module = lowered(text, f"ttir-to-ttmetal-pipeline={DRAM} {options}".strip())
    assert any(
        isinstance(op, CallOp) and op.CALL.mnemonic == "noc_semaphore_wait_min"
        for op in module.walk()
    )
    binary = read_binary(ttmetal_to_flatbuffer(module), "rows.ttm")
    assert isinstance(binary, MetalBinary)
    for schedule in SCHEDULES:
        run = execute(binary.metal_programs[0], inputs, SimOptions(**schedule))
        assert not [finding for each in run.reports for finding in each.report.findings]
        is_exact = schedule["numerics"] == "exact"
        np.testing.assert_allclose(
            run.outputs[0],
            expected,
            rtol=tolerance if is_exact else 0.03,
            atol=tolerance if is_exact else 0.03 * np.abs(expected).max(),
        )


# --- Structure -----------------------------------------------------------------------------------


def test_few_rows_are_on_many_cores() -> None:
    """16 rows of 24 tiles: 64 cores have 6 tiles each, and exchange maxima and sums."""
    generic = divided(softmax(512, 768, "bf16"))
    assert generic.grid_shape == (16, 4)
    assert generic.block_factors == (1, 1)
    gathers = [op for op in generic.compute_region.walk() if isinstance(op, d2m.AllGatherOp)]
    assert [str(op.operands[1].type).split("x!")[0] for op in gathers] == ["memref<4x1x1"] * 2
    names = [
        op.name.removeprefix("d2m.tile_")
        for op in generic.compute_region.walk()
        if op.name.startswith("d2m.tile_")
    ]
    assert names[:4] == ["fill", "reduce_max", "maximum", "bcast"]
    assert names[names.index("reduce_sum") + 1] == "add"


@pytest.mark.parametrize(
    ("text", "grid"),
    [
        # Each core has a whole row, and reads the next one meanwhile.
        (softmax(4096, 512, "bf16"), (64, 1)),
        (softmax(512, 32), (16, 1)),
        # 23 tiles are not divided.
        (softmax(96, 23 * 32), (3, 1)),
    ],
)
def test_rows_that_stay_on_one_core(text: str, grid: tuple[int, int]) -> None:
    """Where an exchange takes longer than what it saves, or columns do not divide."""
    generic = divided(text)
    assert generic.grid_shape == grid
    assert not [op for op in generic.compute_region.walk() if isinstance(op, d2m.AllGatherOp)]


def test_what_is_read_by_rows_and_by_columns_is_not_divided() -> None:
    """A product needs the columns as its terms: it combines no sums of rows."""
    matrix, square = tensor(64, 256), tensor(64, 64)
    text = FunctionText([matrix, tensor(256, 64)])
    powers = text.op("softmax", ["%arg0"], matrix, "dimension = 1 : si32")
    module = lowered(
        text.returning(text.op("matmul", [powers, "%arg1"], square)),
        *TO_GRIDS,
        "d2m-grid-selection",
    )
    for generic in module.walk():
        if isinstance(generic, d2m.GenericOp):
            names = {op.name for op in generic.compute_region.walk()}
            assert not {"d2m.tile_matmul", "d2m.all_gather"} <= names


def test_cores_that_are_given() -> None:
    """Groups of columns that do not divide the chip's are in rows of their own."""
    generic = divided(softmax(96, 768), "override-device-shape=8,3")
    rows, sharers = generic.grid_shape
    assert sharers == 3
    assert rows <= 8


def test_networks_are_shared() -> None:
    """Half of the cores read on the other network, as exchanges name cores by their places."""
    module = lowered(softmax(512, 768, "bf16"), f"ttir-to-ttmetal-pipeline={DRAM}")
    [program] = [op for op in module.walk() if isinstance(op, ttmetal.EnqueueProgramOp)]
    text = str(program)
    assert "@reader0, #ttmetal.core_range<0x0, 4x8>" in text
    assert "@reader0, #ttmetal.core_range<4x0, 4x8>" in text


# --- Numbers -------------------------------------------------------------------------------------


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    ("rows", "columns", "element", "options"),
    [
        (70, 500, "f32", ""),
        # Five steps, of which the second group of cores has four.
        (280, 1020, "bf16", "override-device-shape=2,4"),
        # Four groups of two cores.
        (350, 1020, "f32", "override-device-shape=2,4"),
        # Three cores in a row of eight.
        (40, 380, "f32", "override-device-shape=2,3"),
        # Eleven groups of three cores, some of which are in two rows of the chip.
        (340, 285, "f32", ""),
        # Groups of two cores in rows of eight, of which the last one is not full.
        (700, 500, "bf16", ""),
    ],
)
def test_softmax(rows: int, columns: int, element: str, options: str) -> None:
    """Padding beyond the last column counts neither for the maximum nor for the sum."""
    [x] = numbers([(rows, columns)], element)
    tolerance = 0.03 if element == "bf16" else 1e-4
    check(softmax(rows, columns, element), [x], softmax_of(x), options, tolerance)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    ("rows", "columns", "options"),
    [
        (40, 770, ""),
        (280, 1020, "override-device-shape=2,4"),
        (33, 500, ""),
        (280, 1020, "override-device-shape=2,4 num-stream-buffers=1"),
    ],
)
def test_norms(rows: int, columns: int, options: str) -> None:
    """Two inputs for each step, one for all; sums that follow each other."""
    inputs = numbers([(rows, columns), (rows, columns), (1, columns)], "f32")
    check(norm(rows, columns), inputs, norm_of(*inputs), options)


def test_semaphores() -> None:
    """One for the cores that are ready, and two for each exchange."""
    module = lowered(softmax(512, 768, "bf16"), f"ttir-to-ttmetal-pipeline={DRAM}")
    calls = [op.CALL.mnemonic for op in module.walk() if isinstance(op, CallOp)]
    assert calls.count("get_semaphore") == 1 + 2 * 2


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    ("shape", "options"),
    [
        ((3, 40, 500), ""),
        # Steps along both dimensions; one input changes with the first one alone.
        ((5, 90, 1020), "override-device-shape=1,2"),
        ((2, 130, 760), "override-device-shape=1,4 num-stream-buffers=1"),
        # Groups of three in rows of eight.
        ((3, 130, 90), ""),
    ],
)
def test_several_matrices(shape: tuple[int, int, int], options: str) -> None:
    """Softmax of the rows of each, to which a row is added before."""
    batches, _, columns = shape
    type_ = tensor(*shape)
    text = FunctionText([type_, tensor(batches, 1, columns)])
    total = text.op("add", ["%arg0", "%arg1"], type_)
    program = text.returning(text.op("softmax", [total], type_, "dimension = 2 : si32"))
    rng = np.random.default_rng(8)
    x, y = (rng.standard_normal(each).astype(np.float32) for each in (shape, (batches, 1, columns)))
    powers = np.exp(x + y - (x + y).max(2, keepdims=True))
    expected = powers / powers.sum(2, keepdims=True)
    check(program, [x, y], expected, f"collapse-tensors-2d=false {options}".strip())
