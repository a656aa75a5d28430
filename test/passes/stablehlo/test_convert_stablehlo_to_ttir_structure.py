"""StableHLO's operations that make, move and pass on tensors, against JAX and NumPy."""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from running.pass_runner import body, printed
from samples.stablehlo_programs import (
    TTIR_PIPELINE,
    check_against_jax,
    jax,
    run_stablehlo,
    stablehlo_of,
)

import ttmlir
from ttmlir.mlir.reporting import DiagnosticError

lax, jnp = jax.lax, jax.numpy
Shape = tuple[int, ...]


def floats(*shape: int) -> Any:
    """Distinct numbers."""
    return np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape) / 4 - 3


def test_constants() -> None:
    """Of all types, of one number and of many, without dimensions and without elements."""
    many = (
        np.float32([[1.5, -2, np.inf]]),
        np.array([[1, 2], [3, 4]], ml_dtypes.bfloat16),
        np.array([1, 2, 3], np.float16),
        np.array([[True, False, True]]),
        np.array([1, -2, 127], np.int8),
        np.array([[2**31 - 1, -(2**31)]], np.int32),
        np.array([0, 255], np.uint8),
        np.array([2**32 - 1, 7], np.uint32),
    )
    single = (*(np.full((3, 5), array.flat[0]) for array in many), np.float32(2.5), np.array(True))
    check_against_jax(
        lambda x: (x, *map(jnp.asarray, (*many, *single)), jnp.zeros((0, 3))), floats(2)
    )


def test_shapes() -> None:
    """To a scalar and back, to six dimensions, and unchanged."""
    check_against_jax(
        lambda x, y: (
            x.reshape(-1),
            x.reshape(7, 5, 3),
            x.reshape(1, 3, 1, 5, 7, 1),
            x.reshape(x.shape) + 1,
            y.reshape(()),
            y[0, 0].reshape(1, 1, 1),
            x[:0].reshape(7, 0),
        ),
        *(floats(3, 5, 7), floats(1, 1)),
    )


def test_transpositions() -> None:
    """Two dimensions that change places, others, and none."""
    orders = ((2, 1, 0, 3), (1, 2, 0, 3), (3, 0, 1, 2), (0, 1, 2, 3), (0, 1, 3, 2))
    check_against_jax(
        lambda x, y: (y.T, *(lax.transpose(x, order) for order in orders)),
        *(floats(2, 3, 5, 7), floats(33, 70)),
    )


def test_broadcasts() -> None:
    """New dimensions in front, behind and between; dimensions in another order."""
    forms = (
        ((4, 3, 5), (1, 2)),
        ((3, 5, 2), (0, 1)),
        ((3, 4, 5), (0, 2)),
        ((5, 3), (1, 0)),
        ((5, 2, 3), (2, 0)),
        ((3, 1, 5), (0, 2)),
        ((3, 5), (0, 1)),
    )
    check_against_jax(
        lambda x, y, z: (
            *(lax.broadcast_in_dim(x, *form) for form in forms),
            lax.broadcast_in_dim(y, (2, 3, 7), (1, 2)),
            lax.broadcast_in_dim(y, (3, 2), (0, 1)) * 2,
            lax.broadcast_in_dim(z, (2, 3), ()),
            lax.rev(lax.broadcast_in_dim(y, (3, 4), (0, 1)), (0,)),
        ),
        *(floats(3, 5), floats(3, 1), np.float32(7)),
    )


def test_concatenations() -> None:
    """Of one operand, of several, and of some without elements."""
    check_against_jax(
        lambda x, y: (
            jnp.concatenate([x, y, x], 0),
            jnp.concatenate([x], 1),
            jnp.concatenate([x[:0], y, y[:0]], 0),
            jnp.concatenate([x[:0], y[:0]], 0),
            jnp.stack([x, x + 1], 1),
            jnp.concatenate([x > 0, y > 1], 0),
        ),
        *(floats(3, 5), floats(2, 5)),
    )


def test_iota_and_reverse() -> None:
    """Of any type, along any dimension."""
    types = (jnp.int32, jnp.float32, jnp.bfloat16, jnp.uint8)
    check_against_jax(
        lambda x: (
            *(lax.broadcasted_iota(dtype, (3, 1, 5), i % 3) for i, dtype in enumerate(types)),
            lax.iota(jnp.int32, 0),
            lax.rev(x, (0, 2)),
            lax.rev(x, (1,)),
            lax.rev(x, ()),
        ),
        floats(3, 5, 7),
    )


def test_padding_values() -> None:
    """Numbers that f32 holds and others, values known at run time, and truth."""
    check_against_jax(
        lambda x, i, b: (
            lax.pad(x, x[0, 0], ((1, 0, 2), (-1, 2, 0))),
            lax.pad(x, -jnp.inf, ((0, 1, 0), (0, 0, 1))),
            lax.pad(i, 2**24 + 1, ((1, 2, 1),)),
            lax.pad(b, True, ((1, 0, 1),)),
            jnp.pad(x, 1, mode="edge"),
            jnp.pad(x, 1, constant_values=3),
        ),
        *(floats(3, 5), np.int32([1, -2, 3]), np.array([True, False])),
    )


def padded(array: Any, value: float, config: list[tuple[int, int, int]]) -> Any:
    """StableHLO's padding, one dimension after the other."""
    for dim, (low, high, interior) in enumerate(config):
        extent = array.shape[dim]
        spread = extent + max(extent - 1, 0) * interior
        shape = [*array.shape]
        shape[dim] = max(low, 0) + spread + max(high, 0)
        result = np.full(shape, value, array.dtype)
        places = slice(max(low, 0), max(low, 0) + spread, interior + 1)
        result[(slice(None),) * dim + (places,)] = array
        ends = slice(max(-low, 0), shape[dim] - max(-high, 0))
        array = result[(slice(None),) * dim + (ends,)]
    return array


def tensor(shape: Shape) -> str:
    """A type."""
    return f"tensor<{'x'.join((*map(str, shape), 'f32'))}>"


@st.composite
def paddings(draw: Any) -> tuple[Shape, list[tuple[int, int, int]]]:
    """A shape and amounts that leave no extent below 0."""
    shape = tuple(draw(st.lists(st.integers(1, 5), min_size=1, max_size=3)))
    config = []
    for extent in shape:
        interior = draw(st.integers(0, 2))
        spread = extent + (extent - 1) * interior
        low = draw(st.integers(-spread - 1, 3))
        config.append((low, draw(st.integers(-spread - low, 4)), interior))
    return shape, config


@settings(max_examples=30, deadline=None)
@given(paddings())
def test_pad(case: tuple[Shape, list[tuple[int, int, int]]]) -> None:
    """Edges that grow and shrink, and gaps, on all dimensions at once."""
    shape, config = case
    x = floats(*shape)
    extents = tuple(
        low + n + (n - 1) * gap + high for n, (low, high, gap) in zip(shape, config, strict=True)
    )
    low, high, interior = ([entry[i] for entry in config] for i in range(3))
    result_type = tensor(extents)
    text = f"""
      func.func @pad(%x: {tensor(shape)}) -> {result_type} {{
        %value = stablehlo.constant dense<9.5> : tensor<f32>
        %0 = stablehlo.pad %x, %value, low = {low}, high = {high}, interior = {interior}
            : ({tensor(shape)}, tensor<f32>) -> {result_type}
        return %0 : {result_type}
      }}"""
    (result,) = run_stablehlo(text, [x])
    np.testing.assert_array_equal(result, padded(x, 9.5, config))


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_slice(data: st.DataObject) -> None:
    """Bounds and strides of all dimensions."""
    shape = tuple(data.draw(st.lists(st.integers(1, 9), min_size=1, max_size=3)))
    bounds = []
    for extent in shape:
        start = data.draw(st.integers(0, extent))
        bounds.append((start, data.draw(st.integers(start, extent)), data.draw(st.integers(1, 4))))
    x = floats(*shape)
    expected = x[tuple(slice(*bound) for bound in bounds)]
    ranges = ", ".join(":".join(map(str, bound)) for bound in bounds)
    text = f"""
      func.func @slice(%x: {tensor(shape)}) -> {tensor(expected.shape)} {{
        %0 = stablehlo.slice %x [{ranges}] : ({tensor(shape)}) -> {tensor(expected.shape)}
        return %0 : {tensor(expected.shape)}
      }}"""
    (result,) = run_stablehlo(text, [x])
    np.testing.assert_array_equal(result, expected)


def test_barriers_and_hints_vanish() -> None:
    """What only says how to compile leaves no operation behind."""
    text = """
      func.func @f(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
        %0 = stablehlo.optimization_barrier %x : tensor<3x5xf32>
        %1 = "stablehlo.custom_call"(%0) <{call_target_name = "Sharding"}>
            : (tensor<3x5xf32>) -> tensor<3x5xf32>
        %2 = stablehlo.transpose %1, dims = [0, 1] : (tensor<3x5xf32>) -> tensor<3x5xf32>
        %3 = stablehlo.reverse %2, dims = [] : tensor<3x5xf32>
        %4 = stablehlo.slice %3 [0:3, 0:5] : (tensor<3x5xf32>) -> tensor<3x5xf32>
        return %4 : tensor<3x5xf32>
      }"""
    assert body(text, TTIR_PIPELINE) == ["return %arg0 : tensor<3x5xf32>"]


def test_loops_and_branches() -> None:
    """Known numbers of turns, nested ones too; branches by an index that is known or not."""
    branches = (lambda x: x + 1, lambda x: x * 2, jnp.sin)

    def step(i: Any, x: Any) -> Any:
        return lax.cond(i % 2 == 0, lambda x: x + i, lambda x: x * x, x)

    check_against_jax(
        lambda i, x: (
            lax.fori_loop(0, 5, lambda i, c: c + i * x, x),
            lax.fori_loop(0, 3, step, x),
            lax.fori_loop(0, 2, lambda i, c: lax.fori_loop(0, 3, lambda j, d: d + i - j, c), x),
            lax.fori_loop(0, 0, lambda i, c: c + i, x),
            lax.cond(x[0, 0] > 0, lambda x: (x + 1, x), lambda x: (x * 2, -x), x),
            lax.switch(i, branches, x),
            lax.switch(i - 9, branches, x),
            lax.switch(1, branches, x),
        ),
        *(np.int32(2), floats(3, 4)),
        rtol=1e-5,
    )


def test_if_takes_the_first_region_for_true() -> None:
    """As text, since JAX writes stablehlo.case."""
    text = """
      func.func @f(%p: tensor<i1>, %x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
        %0:2 = "stablehlo.if"(%p) ({
          %1 = stablehlo.negate %x : tensor<3xf32>
          stablehlo.return %1, %x : tensor<3xf32>, tensor<3xf32>
        }, {
          %1 = stablehlo.abs %x : tensor<3xf32>
          stablehlo.return %1, %x : tensor<3xf32>, tensor<3xf32>
        }) : (tensor<i1>) -> (tensor<3xf32>, tensor<3xf32>)
        return %0#0, %0#1 : tensor<3xf32>, tensor<3xf32>
      }"""
    x = np.float32([-1, 2, 0])
    for predicate, expected in ((True, -x), (False, np.abs(x))):
        for result, same in (
            run_stablehlo(text, [np.array(predicate), x]),
            ttmlir.compile(text)(np.array(predicate), x),
        ):
            np.testing.assert_array_equal(result, expected)
            np.testing.assert_array_equal(same, x)


def known(operation: str, type_: str = "i32", **constants: str) -> str:
    """A predicate that an operation on constants gives, as the number that is compared with 0."""
    made = [f"%{n} = stablehlo.constant dense<{v}> : tensor<{type_}>" for n, v in constants.items()]
    zero = f"%zero = stablehlo.constant dense<0> : tensor<{type_}>"
    order = "UNSIGNED" if type_.startswith("u") else "SIGNED"
    found = f"%n = {operation} : tensor<{type_}>"
    compared = f"%p = stablehlo.compare GT, %n, %zero, {order} : (tensor<{type_}>, tensor<{type_}>)"
    return "\n".join((*made, zero, found, f"{compared} -> tensor<i1>"))


def truth(operation: str, types: str = "tensor<i1>", **constants: str) -> str:
    """A predicate that an operation on constants is."""
    made = [f"%{n} = stablehlo.constant dense<{v}>" for n, v in constants.items()]
    return "\n".join((*made, f"%p = {operation} : {types}"))


KNOWN = {
    # 1 and 1 carry over where truth values are taken for numbers of one bit.
    "sum of truth values": (truth("stablehlo.add %a, %a", a="true> : tensor<i1"), True),
    "even number as truth": (
        truth("stablehlo.convert %a", "(tensor<i32>) -> tensor<i1>", a="2> : tensor<i32"),
        True,
    ),
    "product of truth values": (
        truth("stablehlo.multiply %a, %b", a="true> : tensor<i1", b="false> : tensor<i1"),
        False,
    ),
    "not": (truth("stablehlo.not %a", a="true> : tensor<i1"), False),
    "overflow": (known("stablehlo.add %a, %a", "i8", a="64"), False),
    "unsigned": (known("stablehlo.subtract %zero, %a", "ui16", a="1"), True),
    "quotient to zero": (known("stablehlo.divide %a, %b", a="-7", b="8"), False),
    "remainder": (known("stablehlo.remainder %a, %b", a="7", b="-4"), True),
    "sign of a remainder": (known("stablehlo.remainder %a, %b", a="-7", b="4"), False),
    "clamp": (known("stablehlo.clamp %a, %b, %c", "i64", a="-9", b="5", c="-1"), False),
    "bits": (known("stablehlo.xor %a, %b", a="6", b="-7"), False),
    "shift": (known("stablehlo.shift_left %a, %b", "i8", a="3", b="6"), False),
    "smaller": (known("stablehlo.minimum %a, %b", "ui8", a="200", b="7"), True),
    "negative": (known("stablehlo.negate %a", a="-5"), True),
}


@pytest.mark.parametrize(("predicate", "is_true"), KNOWN.values(), ids=KNOWN)
def test_known_branches(predicate: str, is_true: bool) -> None:
    """The condition is computed while compiling, by StableHLO's rules; expected by hand."""
    text = f"""
      func.func @f(%x: tensor<3xf32>) -> tensor<3xf32> {{
        {predicate}
        %0 = "stablehlo.if"(%p) ({{
          %1 = stablehlo.negate %x : tensor<3xf32>
          stablehlo.return %1 : tensor<3xf32>
        }}, {{
          %1 = stablehlo.abs %x : tensor<3xf32>
          stablehlo.return %1 : tensor<3xf32>
        }}) : (tensor<i1>) -> tensor<3xf32>
        return %0 : tensor<3xf32>
      }}"""
    lines = [line for line in body(text, TTIR_PIPELINE) if "ttir." in line]
    found = [name for name in ("ttir.neg", "ttir.abs") if any(name in line for line in lines)]
    assert found == ["ttir.neg" if is_true else "ttir.abs"]


def test_calls_and_composites_are_inlined() -> None:
    """One function is left, under the name that it had."""
    inner = jax.lax.composite(lambda x: x * 2 + jnp.sin(x), "my.function")
    text = stablehlo_of(lambda x: jax.jit(inner)(x) + 1, floats(3))
    assert text.count("func.func") > 1
    assert re.findall(r"func\.func.* @(\w+)", printed(text, TTIR_PIPELINE)) == ["main"]
    check_against_jax(lambda x: jnp.clip(x, 0, 1), floats(3))


def one(operation: str, types: str = "(tensor<3x5xf32>) -> tensor<3x5xf32>") -> str:
    """A function of one operation in the generic form."""
    return f"func.func @f(%x: tensor<3x5xf32>) {{\n  %r = {operation} : {types}\n  return\n}}"


REFUSED = {
    "custom_call": (
        one('"stablehlo.custom_call"(%x) <{call_target_name = "my_kernel"}>'),
        "the code of 'my_kernel' is not part of the program; supported are 'tt.kernel', which "
        "carries a kernel, and calls that only say where a tensor is placed: Sharding,",
    ),
    "resharding": (
        one(
            '"stablehlo.custom_call"(%x) <{call_target_name = "SPMDFullToShardShape"}>',
            "(tensor<3x5xf32>) -> tensor<1x5xf32>",
        ),
        "'SPMDFullToShardShape' changes the shape of a tensor; compile the program for one device",
    ),
    "partition": (
        one('"stablehlo.partition_id"()', "() -> tensor<ui32>"),
        "it is written in terms of others before: run stablehlo-expand-operations",
    ),
    "random": (
        one(
            '"stablehlo.rng_bit_generator"(%s) <{rng_algorithm = '
            "#stablehlo<rng_algorithm THREE_FRY>}>",
            "(tensor<2xui64>) -> (tensor<2xui64>, tensor<3xui32>)",
        )
        .replace("%x: tensor<3x5xf32>", "%s: tensor<2xui64>")
        .replace("%r =", "%r:2 ="),
        "it is written in terms of others before: run stablehlo-expand-operations",
    ),
    "linear algebra": (
        one(
            '"stablehlo.cholesky"(%x) <{lower = true}>',
            "(tensor<5x5xf32>) -> tensor<5x5xf32>",
        ).replace("3x5", "5x5"),
        "linear algebra becomes loops before: run stablehlo-expand-linear-algebra",
    ),
    "unknown": (
        one('"chlo.next_after"(%x, %x)', "(tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>"),
        "convert-stablehlo-to-ttir has no rule for it; ",
    ),
    "dynamic": (
        "func.func @f(%x: tensor<?x5xf32>) {\n  %r = stablehlo.abs %x : tensor<?x5xf32>\n return }",
        "the shape of tensor<?x5xf32> is not known; give every tensor a static shape",
    ),
    "complex": (
        "func.func @f(%x: tensor<5xcomplex<f32>>) {\n"
        "  %r = stablehlo.add %x, %x : tensor<5xcomplex<f32>>\n return }",
        "element type 'complex<f32>' has no storage format; supported are f16, bf16, f32,",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str) -> None:
    """Each message says where, what, and what to do."""
    text, expected = REFUSED[name]
    with pytest.raises(DiagnosticError) as error:
        printed(text, "convert-stablehlo-to-ttir=spelling=2024")
    message = str(error.value)
    assert re.match(r"test\.mlir:2:\d+: error: failed to legalize operation '", message)
    assert expected in message


def test_loops_that_stay() -> None:
    """Loops that end by data, and long ones; unless all of them are to be written out."""
    x = floats(3)
    by_data = stablehlo_of(lambda x: lax.while_loop(lambda c: c[0] < 5, lambda c: c + 1, x), x)
    long = stablehlo_of(lambda x: lax.fori_loop(0, 65, lambda i, c: c + x, x), x)
    functions = "body = @main_body0, condition = @main_condition0"
    assert f'"ttir.while"(%arg0) <{{{functions}}}>' in printed(by_data, TTIR_PIPELINE)
    text = printed(long, TTIR_PIPELINE)
    assert "<{body = @main_body0, trip_count = 65 : i64}>" in text
    assert "func.func private @main_body0(" in text
    pipeline = f"{TTIR_PIPELINE} max-trip-count=65"
    assert printed(long, pipeline).count('"ttir.add"') == 65
