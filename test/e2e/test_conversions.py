"""Conversions between all element types, on both roads and by the interpreter, against JAX."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import jax
import ml_dtypes
import numpy as np
import pytest
from running.pass_runner import TTNN_PIPELINE, lowered
from samples.ttir_text import FunctionText, tensor

from ttmlir.dialects import DIALECTS
from ttmlir.interpreter import execution
from ttmlir.mlir.context import make_context
from ttmlir.mlir.reader import parse_module
from ttmlir.runtime import Tensor, open_device, read_binary, submit
from ttmlir.runtime.metal_program import MetalBinary
from ttmlir.runtime.metal_session import execute
from ttmlir.sim.options import SimOptions
from ttmlir.target.flatbuffer.ttmetal import ttmetal_to_flatbuffer
from ttmlir.target.flatbuffer.ttnn import ttnn_to_flatbuffer

Array = np.ndarray

HOST: dict[str, Any] = {
    **{"f32": np.float32, "bf16": ml_dtypes.bfloat16, "f16": np.float16, "i1": np.bool_},
    **{"i8": np.int8, "i16": np.int16, "i32": np.int32},
    **{"ui8": np.uint8, "ui16": np.uint16, "ui32": np.uint32},
}
FLOATS = ("f32", "bf16", "f16")
_NUMBERS = [
    *(0, 0.5, -0.5, 1, -1, 1.5, -1.5, 2.9, 127, 128, -128, -129, 200, 255, 255.5, 256, 300.7),
    *(32767, 32768, -32768, -32769, 40000, 65535, 65536, 70000, -70000, 16777217, 2147483520),
    *(2147483648, -2147483648, 3e9, -3e9, 4294967040, 4294967296, 1e10, -1e10, 1e38, -1e38),
    *(np.inf, -np.inf, np.nan),
]
_INTEGERS = [
    *(0, 1, -1, 2, 100, 127, 128, -128, -129, 200, 255, 256, 257, 32767, 32768, -32768, 65535),
    *(65536, 70000, -70000, 16777217, 2**31 - 1, -(2**31), 2**31, 2**32 - 1, 2**32 - 128, 2**24),
]


def numbers_of(element: str) -> Array:
    """Numbers of a type near the limits of all others, and what is none; a row of them."""
    with np.errstate(all="ignore"):
        if element in FLOATS:
            return np.array([_NUMBERS]).astype(HOST[element])
        return np.array([_INTEGERS]).astype(HOST[element])


@cache
def converted_by_jax(source: str) -> dict[str, Array]:
    """What JAX makes of the numbers of a type on the CPU, by the type that they become."""

    def convert(x: jax.Array) -> dict[str, jax.Array]:
        return {name: jax.lax.convert_element_type(x, dtype) for name, dtype in HOST.items()}

    results: dict[str, jax.Array] = jax.jit(convert)(numbers_of(source))
    return {name: np.asarray(result) for name, result in results.items()}


def targets_of(source: str) -> list[str]:
    """All types but one."""
    return [name for name in HOST if name != source]


def function(source: str, shape: Sequence[int]) -> str:
    """A function that converts its argument to all other types."""
    text = FunctionText([tensor(*shape, element=source)], constraint="#tile")
    types = [tensor(*shape, element=target) for target in targets_of(source)]
    return text.returning(*(text.op("typecast", ["%arg0"], type) for type in types))


def by_runtime(
    text: str, array: Array, numerics: str, pipeline: str = TTNN_PIPELINE
) -> list[Array]:
    """The results of the function compiled to ttnn."""
    data = ttnn_to_flatbuffer(lowered(text, pipeline), mlir_source="", cpp_source="")
    device = open_device(numerics=numerics)
    results = submit(device, read_binary(data, "x.ttnn"), 0, [Tensor.from_numpy(array)])
    return [result.to_numpy() for result in results]


def by_simulator(text: str, array: Array) -> list[Array]:
    """The results of the function compiled to kernels, without the roundings of the chip."""
    module = lowered(text, "ttir-to-ttmetal-backend-pipeline=fp32-dest-acc-en=true")
    binary = read_binary(ttmetal_to_flatbuffer(module), "x.ttm")
    assert isinstance(binary, MetalBinary)
    leniencies = frozenset({"aliased-cbs", "pop-unfilled"})
    options = SimOptions(numerics="exact", leniencies=leniencies)
    outputs = execute(binary.metal_programs[0], [array], options).outputs
    return [np.asarray(output) for output in outputs]


def compare(results: Sequence[Array], source: str) -> None:
    """Hold results, one for each other type, against JAX, NaN and infinities included."""
    for target, got in zip(targets_of(source), results, strict=True):
        right = converted_by_jax(source)[target]
        np.testing.assert_array_equal(
            got.astype(right.dtype).astype(np.float64),
            right.astype(np.float64),
            err_msg=f"{source} to {target}",
        )


@pytest.mark.parametrize("numerics", ["exact", "device"])
@pytest.mark.parametrize("source", HOST)
def test_runtime(source: str, numerics: str) -> None:
    """Programs of ttnn convert as JAX does."""
    array = numbers_of(source)
    compare(by_runtime(function(source, array.shape), array, numerics), source)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("source", HOST)
def test_simulator(source: str) -> None:
    """Kernels convert as JAX does."""
    array = numbers_of(source)
    compare(by_simulator(function(source, array.shape), array), source)


@pytest.mark.parametrize("source", HOST)
def test_stablehlo(source: str) -> None:
    """`stablehlo.convert` is the same conversion, interpreted and compiled."""
    array = numbers_of(source)
    given = tensor(*array.shape, element=source)
    types = [tensor(*array.shape, element=target) for target in targets_of(source)]
    lines = [
        f"  %{i} = stablehlo.convert %x : ({given}) -> {type}\n" for i, type in enumerate(types)
    ]
    text = (
        f"func.func @f(%x: {given}) -> ({', '.join(types)}) {{\n{''.join(lines)}"
        f"  return {', '.join(f'%{i}' for i in range(len(types)))} : {', '.join(types)}\n}}\n"
    )
    module = parse_module(text, "test.mlir", make_context(DIALECTS))
    compare(execution.execute(module, [array]), source)
    compare(by_runtime(text, array, "exact", "stablehlo-to-ttnn-pipeline"), source)
