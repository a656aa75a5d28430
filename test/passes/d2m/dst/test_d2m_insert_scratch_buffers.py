"""Values that have to be in memory, through the pipeline to numbers of the simulator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from running.pass_runner import lowered
from running.randomness import TestGenerator
from samples.d2m_programs import KERNEL_PASSES
from samples.d2m_stages import Region, Tensor, reduce, spread, unary
from samples.ttir_text import FunctionText, tensor
from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.dialects.memref import AllocOp

from ttmlir.dialects import d2m
from ttmlir.mlir.module_printer import print_module
from ttmlir.mlir.reporting import DiagnosticError
from ttmlir.runtime import read_binary
from ttmlir.runtime.metal_program import MetalProgram
from ttmlir.runtime.metal_session import execute
from ttmlir.sim.options import SimOptions
from ttmlir.target.flatbuffer.ttmetal import ttmetal_to_flatbuffer

Array = np.ndarray[Any, Any]
RNG = TestGenerator(__name__)
PASS = "d2m-insert-scratch-buffers"


def run(text: str, *inputs: Array, options: str = "") -> Array:
    """The result of a function, clean under the sanitizer."""
    module = lowered(text, f"ttir-to-ttmetal-pipeline{options}")
    [program] = read_binary(ttmetal_to_flatbuffer(module), "test.ttm").programs
    assert isinstance(program, MetalProgram)
    result = execute(program, inputs, SimOptions(numerics="exact"))
    assert not [finding for each in result.reports for finding in each.report.findings]
    [output] = result.outputs
    return np.asarray(output)


def loops(text: str, options: str = "") -> list[str]:
    """The operations of the bodies of all loops after the pass, and what they read."""
    module = lowered(text, f"{PASS}{options}")
    found: list[str] = []
    for op in module.walk():
        if op.name == "linalg.generic":
            [region] = op.regions
            names = [each.name.removeprefix("d2m.tile_") for each in region.block.ops]
            found.append(" ".join(names[:-1]))
    return found


def region(*outputs: Tensor) -> Region:
    """A generic on 3x5 tiles as a whole."""
    return Region([Tensor((3, 5), (3, 5), "0, 0")], outputs, "pp", (1, 1))


WHOLE = Tensor((3, 5), (3, 5), "d0, d1")
ROWS = Tensor((3, 1), (3, 1), "d0, 0")


def test_reductions_read_buffers() -> None:
    """What is computed, and a scaler, go to local buffers; equal scalers are one."""
    made = region(ROWS, ROWS)
    one = '%one = "d2m.tile_fill"() <{value = 1.0 : f32}> : () -> !t1\n'
    for number, word in ((1, "sum"), (2, "max")):
        body = '%s = "d2m.tile_square"(%t0) : (!t0) -> !t1\n' + one
        reduced = reduce(word, "R").replace("%t2", "%t1").replace("%t0, %t1", "%s, %one")
        reduced = reduced.replace("!t2", "!t1")
        out = (made.block(number), "d0, 0")
        made.add([(made.block(0), "d0, d1")], out, "pr", body + reduced)
    assert loops(made.program().text) == [
        "fill",
        "square",
        "reduce_sum",
        "square",
        "reduce_max",
    ]


def test_spread_and_transposed_values() -> None:
    """The matrix unit spreads and transposes tiles of buffers alone."""
    made = region(WHOLE)
    body = """%a = "d2m.tile_exp"(%t0) : (!t0) -> !t1
%b = "d2m.tile_bcast"(%a) <{bcast_type = #d2m<tile_bcast_type row>}> : (!t1) -> !t1
%c = "d2m.tile_transpose"(%b) : (!t1) -> !t1
%e = "d2m.tile_abs"(%c) : (!t1) -> !t1"""
    made.add([(made.block(0), "d0, d1")], (made.block(1), "d0, d1"), "pp", body)
    assert loops(made.program().text) == ["exp", "bcast", "transpose abs"]


def test_division_by_what_is_repeated() -> None:
    """There are fewer reciprocals than quotients; of operands nothing is computed in advance."""
    made = region(WHOLE)
    rows = made.local("rows", (3, 1))
    x, y = made.block(0), made.block(1)
    made.add([(x, "d0, 0")], (rows, "d0, 0"), "p", unary("abs"))
    body = spread("col") + '%e = "d2m.tile_div"(%t0, %q) : (!t0, !t1) -> !t2'
    made.add([(x, "d0, d1"), (rows, "d0, 0")], (y, "d0, d1"), "pp", body)
    assert loops(made.program().text) == ["abs", "recip", "bcast mul"]
    made.stages[-1] = made.stages[-1].replace("%rows", "%b0").replace("3x1x", "3x5x")
    assert loops(made.program().text) == ["abs", "bcast div"]


def test_outputs_are_not_read() -> None:
    """A result that other loops read goes to a local buffer, and is copied."""
    made = region(WHOLE, WHOLE)
    x, y, z = (made.block(number) for number in range(3))
    made.add([(x, "d0, d1")], (y, "d0, d1"), "pp", unary("abs"))
    made.add([(y, "d0, d1")], (z, "d0, d1"), "pp", unary("exp"))
    program = made.program()
    assert loops(program.text) == ["abs", "", "exp"]


def test_bodies_that_do_not_fit() -> None:
    """A balanced tree of 32 leaves needs 6 tiles of DST; there are 4 in f32."""
    tensors = (Tensor((1, 2), (1, 2), index, "f32") for index in ("0, 0", "d0, d1"))
    made = Region([next(tensors)], [next(tensors)], "pp", (1, 1))
    lines: list[str] = []
    x = RNG.integers(1, 65, (32, 64)).astype(np.float32) / 64

    def tree(depth: int, name: str) -> Array:
        if not depth:
            lines.append(f'%{name} = "d2m.tile_sin"(%t0) : (!t0) -> !t1')
            return np.sin(x.astype(np.float64))
        left, right = tree(depth - 1, f"{name}l"), tree(depth - 1, f"{name}r")
        names = f"%{name}l, %{name}r"
        lines.append(f'%{name} = "d2m.tile_add"({names}) : (!t1, !t1) -> !t1')
        return left + right

    expected = tree(5, "e")
    made.add([(made.block(0), "d0, d1")], (made.block(1), "d0, d1"), "pp", "\n".join(lines))
    module = lowered(made.program().text, PASS)
    address = 0x80000
    allocations = [op for op in module.walk() if isinstance(op, AllocOp)]
    scratch = [op for op in allocations if isinstance(op.parent_op(), d2m.GenericOp)]
    assert scratch
    for op in scratch:
        op.attributes["address"] = IntegerAttr(address, i64)
        address += 0x4000
    [program] = read_binary(
        ttmetal_to_flatbuffer(
            lowered(print_module(module), "ttir-load-system-desc", *KERNEL_PASSES)
        ),
        "test.ttm",
    ).programs
    assert isinstance(program, MetalProgram)
    result = execute(program, [x], SimOptions(numerics="exact"))
    assert not [finding for each in result.reports for finding in each.report.findings]
    np.testing.assert_allclose(result.outputs[0], expected, rtol=1e-5)


def test_an_operation_that_does_not_fit() -> None:
    """A choice takes three tiles at once."""
    made = region(WHOLE)
    body = """%a = "d2m.tile_abs"(%t0) : (!t0) -> !t1
%b = "d2m.tile_exp"(%t0) : (!t0) -> !t1
%c = "d2m.tile_sin"(%t0) : (!t0) -> !t1
%e = "d2m.tile_where"(%a, %b, %c) : (!t1, !t1, !t1) -> !t1"""
    made.add([(made.block(0), "d0, d1")], (made.block(1), "d0, d1"), "pp", body)
    text = made.program().text
    assert len(loops(text)) == 1
    with pytest.raises(DiagnosticError) as error:
        loops(text, "=max-dst-physical-size-tiles=4")
    assert "needs 3 tiles of DST at once, which has 2" in str(error.value)
    assert "give a larger max-dst-physical-size-tiles" in str(error.value)


@pytest.mark.parametrize("mnemonic", ["sum", "max", "min", "mean"])
@pytest.mark.parametrize("dims", [(0,), (1,), (2,), (0, 2), (1, 2), (0, 1, 2)])
def test_reductions(mnemonic: str, dims: tuple[int, ...]) -> None:
    """Along every dimension, of shapes that fill no tiles."""
    shape = (3, 64, 96)
    text = FunctionText([tensor(*shape)])
    kept = tuple(1 if dim in dims else extent for dim, extent in enumerate(shape))
    attributes = f"dim_arg = [{', '.join(f'{dim} : i32' for dim in dims)}], keep_dim = true"
    x = RNG.integers(-64, 65, shape).astype(np.float32) / 64
    into = tensor(*kept)
    found = run(text.returning(text.op(mnemonic, ["%arg0"], into, attributes)), x)
    expected = getattr(np, mnemonic)(x.astype(np.float64), axis=dims, keepdims=True)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-4)


_OTHER_TYPES = {
    "f16": np.float16,
    "ui32": np.uint32,
    "i16": np.int16,
    "ui16": np.uint16,
    "i8": np.int8,
    "ui8": np.uint8,
}


@pytest.mark.parametrize("element", _OTHER_TYPES)
def test_other_element_types(element: str) -> None:
    """Half floats, and integers that wrap in their own width, one operand being repeated."""
    text = FunctionText([tensor(40, 70, element=element), tensor(1, 70, element=element)])
    into = tensor(40, 70, element=element)
    dtype = _OTHER_TYPES[element]
    if element == "f16":
        x, y = (RNG.normal(size=shape).astype(dtype) for shape in ((40, 70), (1, 70)))
    else:
        limits = np.iinfo(dtype)
        x, y = (
            RNG.integers(limits.min, limits.max, shape, dtype, endpoint=True)
            for shape in ((40, 70), (1, 70))
        )
    total = text.op("add", ["%arg0", "%arg1"], into)
    found = run(text.returning(text.op("maximum", [total, "%arg1"], into)), x, y)
    with np.errstate(over="ignore"):
        expected = np.maximum(x + y, y)
    tolerance = 2.0**-10 if element == "f16" else 0
    np.testing.assert_allclose(found.astype(np.float64), expected, rtol=tolerance, atol=tolerance)
