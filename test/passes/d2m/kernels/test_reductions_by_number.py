"""Reductions that the vector unit computes with all bits: of integers, products, positions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from running.kernel_runs import KERNEL_PIPELINE, run_kernels
from running.pass_runner import lowered
from running.randomness import TestGenerator
from running.sampling import sampled
from samples.ttir_text import FunctionText, tensor

from ttmlir.target.flatbuffer.ttmetal import ttmetal_to_flatbuffer
from ttmlir.tools import ttrt

Array = np.ndarray[Any, Any]
RNG = TestGenerator(__name__)


def reduction(mnemonic: str, shape: tuple[int, ...], dims: tuple[int, ...], *types: str) -> str:
    """A reduction that keeps its dimensions, from one element type to another."""
    source, target = types
    text = FunctionText([tensor(*shape, element=source)])
    kept = tuple(1 if dim in dims else extent for dim, extent in enumerate(shape))
    parameters = f"dim_arg = [{', '.join(f'{dim} : i32' for dim in dims)}], keep_dim = true"
    return text.returning(text.op(mnemonic, ["%arg0"], tensor(*kept, element=target), parameters))


def integers(*shape: int) -> Array:
    """Of any size, the largest and the smallest among them."""
    ends = np.iinfo(np.int32)
    numbers = RNG.integers(ends.min, ends.max, shape, np.int32, endpoint=True)
    numbers.flat[0], numbers.flat[-1] = ends.max, ends.min
    return numbers


CASES = [
    ((5, 650), (1,)),
    ((650, 5), (0,)),
    ((3, 33, 40), (0, 2)),
    ((2, 40, 70), (1, 2)),
    ((1, 3), (1,)),
]


@pytest.mark.parametrize(("mnemonic", "case"), sampled(("sum", "max", "min", "prod"), tuple(CASES)))
def test_integers(mnemonic: str, case: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    """Sums and products wrap round."""
    shape, dims = case
    x = integers(*shape)
    combine = {"sum": np.add, "max": np.maximum, "min": np.minimum, "prod": np.multiply}
    expected = combine[mnemonic].reduce(x, axis=dims, keepdims=True, dtype=np.int32)
    text = reduction(mnemonic, shape, dims, "i32", "i32")
    [result] = run_kernels(text, x, exact=False).outputs
    np.testing.assert_array_equal(result, expected)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(("shape", "dims"), CASES)
def test_positions_of_neighbours_in_float32(shape: tuple[int, ...], dims: tuple[int, ...]) -> None:
    """Numbers that differ in their last bit, which tiles keep where they are transposed."""
    count = int(np.prod(shape))
    x = (1 + RNG.permutation(count).reshape(shape) * 2.0**-23).astype(np.float32)
    kept = [axis for axis in range(x.ndim) if axis not in dims]
    rows = x.transpose((*kept, *dims)).reshape(*(x.shape[axis] for axis in kept), -1)
    expected = rows.argmax(-1)
    [result] = run_kernels(reduction("argmax", shape, dims, "f32", "i32"), x, exact=False).outputs
    np.testing.assert_array_equal(result.reshape(expected.shape), expected)


@pytest.mark.exhaustive
def test_columns_take_little_longer_than_rows() -> None:
    """Numbers of a row are not moved out of it one by one."""
    cycles: list[int] = []
    for shape, dim in (((320, 40), 0), ((40, 320), 1)):
        x = RNG.permutation(320 * 40).reshape(shape).astype(np.float32)
        run = run_kernels(reduction("argmax", shape, (dim,), "f32", "i32"), x, timed=True)
        np.testing.assert_array_equal(run.outputs[0], x.argmax(dim, keepdims=True))
        cycles.append(sum(each.report.times("").cycles for each in run.reports))
    along_rows, along_columns = cycles
    assert along_columns < 2 * along_rows


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    ("mnemonic", "element"),
    [("sum", "i32"), ("max", "i32"), ("min", "i32"), ("min", "ui32"), ("prod", "f32")],
)
def test_references(mnemonic: str, element: str, tmp_path: Path) -> None:
    """The golden comparison says what each program computes, of integers at both ends, too."""
    module = lowered(reduction(mnemonic, (3, 33, 70), (0, 2), element, element), KERNEL_PIPELINE)
    file = tmp_path / "reduction.ttm"
    file.write_bytes(ttmetal_to_flatbuffer(module))
    x = integers(3, 33, 70).view(np.uint32) if element[0] == "u" else integers(3, 33, 70)
    if element == "f32":
        x = RNG.uniform(0.9, 1.1, x.shape).astype(np.float32)
    np.savez(tmp_path / "inputs.npz", x)
    assert ttrt.main(["run", "--golden", "--inputs", str(tmp_path / "inputs.npz"), str(file)]) == 0
