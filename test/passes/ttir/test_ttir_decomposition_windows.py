"""General convolutions and poolings, taken apart and run, against JAX on random attributes.

The interpreter's view (the definitions' reference functions on the undecomposed operation) is
compared as well.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax import lax
from running.pass_runner import TTNN_PIPELINE, executed
from samples.ttir_text import FunctionText, tensor

from ttmlir.mlir.reporting import DiagnosticError
from ttmlir.optable import DEFINITIONS

ROAD = ("ttir-decomposition", TTNN_PIPELINE)
IN_PARTS = ("ttir-window-decomposition", TTNN_PIPELINE)
"""The same without operations on windows."""
Draw = Any


def i64s(values: Any) -> str:
    """A dense array attribute."""
    return f"array<i64: {', '.join(map(str, values))}>" if values else "array<i64>"


def attribute_text(values: dict[str, Any]) -> str:
    """The attributes of a convolution or pooling."""
    parts: list[str] = []
    for name, value in values.items():
        match value:
            case str():
                parts.append(f'{name} = "{value}"')
            case int():
                parts.append(f"{name} = {value} : i64")
            case _ if name == "window_reversal":
                flags = ", ".join("true" if flag else "false" for flag in value)
                parts.append(f"{name} = array<i1{': ' if value else ''}{flags}>")
            case _:
                parts.append(f"{name} = {i64s(value)}")
    return ", ".join(parts)


def ran(op: str, inputs: list[np.ndarray], out: np.ndarray, values: dict[str, Any]) -> Any:
    """The result of the operation on the runtime, after checking its reference and its parts."""
    reference = DEFINITIONS[op].reference(np, *inputs, **values)
    np.testing.assert_allclose(reference, out, rtol=1e-4, atol=1e-4)
    element = {"f": "f32", "i": "i32", "b": "i1"}[out.dtype.kind]
    f = FunctionText([tensor(*array.shape, element=element) for array in inputs])
    value = f.op(op, [*f.types], tensor(*out.shape, element=element), attribute_text(values))
    text = f.returning(value)
    (parts,) = executed(text, inputs, *IN_PARTS)
    np.testing.assert_allclose(parts, out, rtol=1e-4, atol=1e-4)
    (result,) = executed(text, inputs, *ROAD)
    return result


def spelled(order: list[int], first: str, feature: str) -> str:
    """One bracket of the dimension numbers: `order` gives the meaning of each place."""
    names = [first, feature, *(str(number) for number in range(len(order) - 2))]
    return f"[{', '.join(names[meaning] for meaning in order)}]"


def placed(order: list[int], meanings: list[int]) -> tuple[int, ...]:
    """A shape whose place i has the extent of `order[i]`."""
    return tuple(meanings[meaning] for meaning in order)


@st.composite
def convolutions(draw: Draw) -> tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]:
    """Shapes and attributes of a convolution that is defined."""
    count = draw(st.integers(0, 3))
    kind = draw(st.sampled_from(["plain", "features", "depthwise", "batches"]))
    groups = {"plain": 1, "batches": 1, "features": 2, "depthwise": 3}[kind]
    batches = 2 if kind == "batches" else 1
    inner = 1 if kind == "depthwise" else draw(st.integers(1, 3))
    outer = groups * batches * draw(st.integers(1, 2))
    small = st.integers(1, 2 if count == 3 else 3)
    sizes, kernel, values = [], [], {}
    names = ("window_strides", "input_dilation", "weight_dilation", "window_reversal")
    lists: dict[str, list[Any]] = {name: [] for name in names}
    padding: list[int] = []
    for _ in range(count):
        size, taps = draw(st.integers(1, 7)), draw(small)
        stride, holes, steps = draw(small), draw(small), draw(small)
        reach, wide = steps * (taps - 1) + 1, (size - 1) * holes + 1
        low, high = draw(st.integers(-1, 3)), draw(st.integers(-1, 3))
        # The window has to fit, and cutting has to leave something.
        low, high = max(low, 1 - size), max(high, 0 if low < 0 else 1 - size)
        high += max(0, reach - (wide + low + high))
        sizes.append(size)
        kernel.append(taps)
        padding += [low, high]
        for name, value in zip(names, (stride, holes, steps, draw(st.booleans())), strict=True):
            lists[name].append(value)
    orders = [draw(st.permutations(range(count + 2))) for _ in range(3)]
    text = "{}x{}->{}".format(
        *(spelled(order, *names) for order, names in zip(orders, ("bf", "io", "bf"), strict=True))
    )
    values = {
        "dimension_numbers": text,
        "padding": tuple(padding),
        **{name: tuple(value) for name, value in lists.items()},
        "feature_group_count": groups,
        "batch_group_count": batches,
    }
    image = placed(orders[0], [batches * draw(st.integers(1, 2)), groups * inner, *sizes])
    weight = placed(orders[1], [inner, outer, *kernel])
    return image, weight, values


def by_jax(image: np.ndarray, weight: np.ndarray, values: dict[str, Any]) -> np.ndarray:
    """The convolution as JAX computes it."""
    source, rest = values["dimension_numbers"].split("x")
    filters, output = rest.split("->")
    orders = [
        [part.strip("[]").split(", ").index(name) for name in names]
        for part, names in (
            (text, [*ends, *(str(i) for i in range(image.ndim - 2))])
            for text, ends in ((source, "bf"), (filters, "oi"), (output, "bf"))
        )
    ]
    flipped = [i + 2 for i, is_reversed in enumerate(values["window_reversal"]) if is_reversed]
    # Reversal is taken from the weight, whose spatial dimensions are spread over it.
    weight = np.flip(weight, [orders[1][i] for i in flipped])
    low_high = zip(values["padding"][::2], values["padding"][1::2], strict=True)
    result = lax.conv_general_dilated(
        image,
        weight,
        values["window_strides"],
        list(low_high),
        values["input_dilation"],
        values["weight_dilation"],
        lax.ConvDimensionNumbers(*(tuple(order) for order in orders)),
        values["feature_group_count"],
        values["batch_group_count"],
        precision=lax.Precision.HIGHEST,
    )
    return np.asarray(result)


@settings(max_examples=20, deadline=None)
@given(convolutions())
def test_convolution(case: tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]) -> None:
    """Any dimension numbers, strides, padding, dilation, groups and reversal."""
    image_shape, weight_shape, values = case
    rng = np.random.default_rng(1)
    image = rng.standard_normal(image_shape).astype(np.float32)
    weight = rng.standard_normal(weight_shape).astype(np.float32)
    expected = by_jax(image, weight, values)
    result = ran("convolution", [image, weight], expected, values)
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-4)


REDUCERS: dict[str, tuple[Any, float]] = {
    "max": (lax.max, -math.inf),
    "min": (lax.min, math.inf),
    "sum": (lax.add, 0.0),
    "product": (lax.mul, 1.0),
    "and": (lax.bitwise_and, True),
    "or": (lax.bitwise_or, False),
}


@st.composite
def poolings(draw: Draw) -> tuple[tuple[int, ...], str, dict[str, Any]]:
    """Shape, element type and attributes of a pooling that is defined."""
    rank = draw(st.integers(1, 4))
    shape = draw(st.lists(st.integers(1, 6), min_size=rank, max_size=rank))
    kind = draw(st.sampled_from("fib"))
    method = draw(st.sampled_from([*REDUCERS][: 4 if kind != "b" else None]))
    method = {"sum": "or", "product": "and"}.get(method, method) if kind == "b" else method
    names = ("window_dimensions", "window_strides", "base_dilations", "window_dilations")
    lists: dict[str, list[int]] = {name: [] for name in names}
    padding: list[int] = []
    for extent in shape:
        is_active = draw(st.booleans())
        window, stride, holes, steps = (draw(st.integers(1, 3)) if is_active else 1 for _ in names)
        low, high = (draw(st.integers(0, 2)) if is_active else 0 for _ in range(2))
        reach, wide = steps * (window - 1) + 1, (extent - 1) * holes + 1
        high += max(0, reach - (wide + low + high))
        padding += [low, high]
        for name, value in zip(names, (window, stride, holes, steps), strict=True):
            lists[name].append(value)
    values = {
        "pooling_method": method,
        **{name: tuple(value) for name, value in lists.items()},
        "padding": tuple(padding),
    }
    return tuple(shape), kind, values


@settings(max_examples=20, deadline=None)
@given(poolings())
def test_pooling(case: tuple[tuple[int, ...], str, dict[str, Any]]) -> None:
    """Windows over any dimensions, on floating point numbers, integers and truth values."""
    shape, kind, values = case
    dtype = {"f": np.float32, "i": np.int32, "b": np.bool_}[kind]
    image = np.random.default_rng(2).integers(-4, 5, shape)
    image = (image > 0 if kind == "b" else image - (0.5 if kind == "f" else 0)).astype(dtype)
    method = values["pooling_method"]
    method = {"max": "or", "min": "and"}.get(method, method) if kind == "b" else method
    combine, start = REDUCERS[method]
    if kind == "i" and method in ("max", "min"):
        start = np.iinfo(np.int32).min if method == "max" else np.iinfo(np.int32).max
    low_high = list(zip(values["padding"][::2], values["padding"][1::2], strict=True))
    expected = np.asarray(
        lax.reduce_window(
            image,
            np.array(start, dtype),
            combine,
            values["window_dimensions"],
            values["window_strides"],
            low_high,
            values["base_dilations"],
            values["window_dilations"],
        )
    )
    result = ran("pooling", [image], expected, values)
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)


def test_average_divides_by_the_whole_window() -> None:
    """Padding counts, along three dimensions as well."""
    image = np.random.default_rng(3).standard_normal((2, 5, 6, 4)).astype(np.float32)
    values = {
        "pooling_method": "average",
        "window_dimensions": (1, 2, 3, 2),
        "window_strides": (1, 2, 1, 2),
        "base_dilations": (1, 1, 1, 1),
        "window_dilations": (1, 1, 1, 1),
        "padding": (0, 0, 1, 0, 1, 1, 0, 0),
    }
    sums = lax.reduce_window(
        image, 0.0, lax.add, (1, 2, 3, 2), (1, 2, 1, 2), ((0, 0), (1, 0), (1, 1), (0, 0))
    )
    expected = np.asarray(sums) / 12
    result = ran("pooling", [image], expected, values)
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)


def test_transposed_convolution_is_found() -> None:
    """A reversed weight on an image with holes needs no zeros between the pixels."""
    image = np.random.default_rng(4).standard_normal((2, 5, 6, 4)).astype(np.float32)
    weight = np.random.default_rng(5).standard_normal((3, 2, 2, 6)).astype(np.float32)
    values = {
        "dimension_numbers": "[b, 0, 1, f]x[0, 1, i, o]->[b, f, 0, 1]",
        "window_strides": (1, 1),
        "padding": (2, 1, 1, 2),
        "input_dilation": (2, 3),
        "weight_dilation": (1, 1),
        "window_reversal": (True, True),
        "feature_group_count": 2,
        "batch_group_count": 1,
    }
    expected = by_jax(image, weight, values)
    result = ran("convolution", [image, weight], expected, values)
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-4)


def test_what_is_refused() -> None:
    """Four spatial dimensions, and averages of integers."""
    values = {
        "dimension_numbers": "[b, 0, 1, 2, 3, f]x[0, 1, 2, 3, i, o]->[b, 0, 1, 2, 3, f]",
        "window_strides": (1,) * 4,
        "padding": (0,) * 8,
        "input_dilation": (1,) * 4,
        "weight_dilation": (1,) * 4,
        "window_reversal": (False,) * 4,
        "feature_group_count": 1,
        "batch_group_count": 1,
    }
    f = FunctionText([tensor(1, 3, 3, 3, 3, 2), tensor(2, 2, 2, 2, 2, 5)])
    value = f.op("convolution", [*f.types], tensor(1, 2, 2, 2, 2, 5), attribute_text(values))
    with pytest.raises(DiagnosticError, match="4 spatial dimensions; supported are up to three"):
        executed(f.returning(value), [], *ROAD)
    f = FunctionText([tensor(6, element="i32")])
    one = {name: (1,) for name in ("window_strides", "base_dilations", "window_dilations")}
    values = {"pooling_method": "average", "window_dimensions": (2,), **one, "padding": (0, 0)}
    value = f.op("pooling", ["%arg0"], tensor(5, element="i32"), attribute_text(values))
    with pytest.raises(DiagnosticError, match="average of i32; supported are floating point types"):
        executed(f.returning(value), [], *ROAD)
