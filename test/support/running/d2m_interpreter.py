"""Single operations of ttir through `ttir-to-d2m` and the interpreter, beside what NumPy computes.

The interpreter fills what is beyond the shape of a tensor with NaN, so that a reduction or product
that reads it shows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from oracles.d2m_references import golden_results
from running.pass_runner import lowered
from samples.ttir_text import FunctionText, tensor

from ttmlir.interpreter import execute
from ttmlir.mlir.reporting import DiagnosticError

PASS = "ttir-to-d2m"
BEFORE = "ttir-composite-decomposition"
"""What takes apart operations without loops."""
HOST: dict[str, Any] = {
    "f32": np.float32,
    "f64": np.float64,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "i1": np.bool_,
    **{f"{sign}i{bits}": np.dtype(f"{sign}int{bits}") for sign in "u" for bits in (8, 16, 32, 64)},
    **{f"i{bits}": np.dtype(f"int{bits}") for bits in (8, 16, 32, 64)},
}
Array = np.ndarray
Shape = tuple[int, ...]


def type_of(array: Array) -> str:
    """The type of a tensor that is an array."""
    keyword = next(name for name, host in HOST.items() if array.dtype == host)
    return tensor(*array.shape, element=keyword)


def text_of(mnemonic: str, inputs: Sequence[Array], result: Array, attributes: str = "") -> str:
    """A function that does one operation."""
    text = FunctionText([type_of(each) for each in inputs])
    names = [f"%arg{number}" for number in range(len(inputs))]
    return text.returning(text.op(mnemonic, names, type_of(result), attributes))


def check(
    mnemonic: str,
    inputs: Sequence[Array],
    expected: Array,
    attributes: str = "",
    tolerance: float = 2e-6,
    options: str = "",
) -> None:
    """Compare an operation on arrays with what is expected of it."""
    passes = f"{PASS}={options}" if options else PASS
    module = lowered(text_of(mnemonic, inputs, expected, attributes), BEFORE, passes)
    assert not [op.name for op in module.walk() if op.name.startswith("ttir.")]
    (result,) = execute(module, inputs, poisons_padding=True)
    assert result.dtype == expected.dtype
    kind = np.float64 if expected.dtype.kind not in "biu" else expected.dtype
    np.testing.assert_allclose(
        result.astype(kind), expected.astype(kind), rtol=tolerance, atol=tolerance
    )
    (golden,) = golden_results(module, inputs)
    if kind in (np.int64, np.uint64):
        # Golden runs compute with 64 bits, of which tiles keep the lower 32.
        golden = golden.astype(np.dtype(f"{expected.dtype.kind}4"))
    golden = golden.astype(expected.dtype).astype(kind)
    np.testing.assert_allclose(golden, expected.astype(kind), rtol=tolerance, atol=tolerance)


def refusal(mnemonic: str, inputs: Sequence[Array], result: Array, attributes: str = "") -> str:
    """Why there are no loops for an operation."""
    with pytest.raises(DiagnosticError) as refused:
        lowered(text_of(mnemonic, inputs, result, attributes), PASS)
    return str(refused.value)


def normal(*shape: int, seed: int = 0) -> Array:
    """Numbers around 0."""
    return np.asarray(np.random.default_rng(seed).normal(size=shape), np.float32)


def whole(dtype: Any, *shape: int, seed: int = 0) -> Array:
    """Integers over the whole range of a type."""
    limits = np.iinfo(dtype)
    rng = np.random.default_rng(seed)
    return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def reduce_attributes(dims: Shape | None, keep: bool) -> str:
    """Dimensions of a reduction."""
    listed = "" if dims is None else f"dim_arg = [{', '.join(f'{d} : i32' for d in dims)}], "
    return f"{listed}keep_dim = {str(keep).lower()}"
