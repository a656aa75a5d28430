"""Uses of one operation each: from TTIR text through the compiler and a file to numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
from oracles.elementwise_oracles import bits, few, normal
from running.pass_runner import TTNN_PIPELINE, lowered

from ttmlir.cost import estimate_program
from ttmlir.optable import DEFINITIONS
from ttmlir.runtime import Binary, Tensor, open_device, read_binary, submit
from ttmlir.target.flatbuffer.ttnn import ttnn_to_flatbuffer

Shape = tuple[int, ...]
Arrays = list[np.ndarray]

HOST = {
    "f32": np.float32,
    "bf16": ml_dtypes.bfloat16,
    "i32": np.int32,
    "i1": np.bool_,
}
# Largest relative error of rounding to each format: 24 and 8 bits of precision.
UNIT = {"f32": 2.0**-24, "bf16": 2.0**-8}
DEFAULT_SHAPE = (3, 33, 70)


@dataclass(frozen=True)
class Case:
    """One use of an operation."""

    op: str
    oracle: Callable[..., Any]
    """Maps float64 (or, for integers and booleans, int64) arrays to the expected numbers."""
    shapes: tuple[Shape, ...] = (DEFAULT_SHAPE,)
    out: Shape | None = None
    attributes: str = ""
    elements: tuple[str, ...] = ("f32", "bf16")
    out_element: str | None = None
    sample: Callable[[np.random.Generator, Shape], Any] | None = None
    numbers: Callable[[np.random.Generator, Shape], Any] | None = None
    """Draws the operand that has numbers of elements, the first whose element type is i32."""
    terms: int = 1
    """Number of products or terms that are added up; their rounding errors add up as well."""
    segments: bool = True
    operand_elements: tuple[str | None, ...] = field(default=())
    """Element types of operands that differ from that of the case."""
    id: str = ""

    @property
    def name(self) -> str:
        """Name of the test."""
        return self.id or self.op


def operand_elements(case: Case, element: str) -> list[str]:
    """Element type of each operand."""
    own = case.operand_elements or (None,) * len(case.shapes)
    return [given or element for given in own]


def type_text(shape: Shape, element: str) -> str:
    """A tensor type."""
    return f"tensor<{'x'.join((*map(str, shape), element))}>"


def ttir(case: Case, element: str) -> str:
    """A function with the operation alone."""
    pairs = zip(case.shapes, operand_elements(case, element), strict=True)
    types = [type_text(shape, kind) for shape, kind in pairs]
    out = type_text(case.out or case.shapes[0], case.out_element or element)
    arguments = ", ".join(f"%a{i}: {type}" for i, type in enumerate(types))
    attributes = [case.attributes.replace("TYPE", out)] if case.attributes else []
    operands = [f"%a{i}" for i in range(len(types))]
    lines = []
    if DEFINITIONS[case.op].operands:
        lines.append(f"%e = tensor.empty() : {out}")
        operands, types = [*operands, "%e"], [*types, out]
        constraints = ", ".join(["#any_device"] * len(operands))
        attributes.append(f"operand_constraints = [{constraints}]")
    if case.segments:
        attributes.append(f"operandSegmentSizes = array<i32: {len(operands) - 1}, 1>")
    lines.append(
        f'%r = "ttir.{case.op}"({", ".join(operands)}) <{{{", ".join(attributes)}}}> : '
        f"({', '.join(types)}) -> {out}"
    )
    body = "\n  ".join(lines)
    constraint = (
        "#any_device = #tt.operand_constraint<dram|l1|scalar|tile|any_device|any_device_tile>"
    )
    head = f"{constraint}\nfunc.func @forward({arguments}) -> {out} {{"
    return f"{head}\n  {body}\n  return %r : {out}\n}}\n"


@cache
def compiled(case: Case, element: str) -> Binary:
    """The operation's program."""
    module = lowered(ttir(case, element), TTNN_PIPELINE)
    return read_binary(ttnn_to_flatbuffer(module, mlir_source="", cpp_source=""), "test.ttnn")


def inputs_of(case: Case, element: str) -> Arrays:
    """Random inputs, the same for every run."""
    rng = np.random.default_rng(7)
    sample = case.sample or (few if element not in UNIT else normal)
    made = []
    for shape, kind in zip(case.shapes, operand_elements(case, element), strict=True):
        chosen = sample
        if case.numbers is not None and len(made) == case.operand_elements.index("i32"):
            chosen = case.numbers
        if kind == "i1":
            chosen = bits
        made.append(np.asarray(chosen(rng, shape)).astype(HOST[kind]))
    return made


def exact(array: np.ndarray) -> np.ndarray:
    """The array in a type that the oracles compute in."""
    return array.astype(np.int64 if array.dtype.kind in "biu" else np.float64)


def check_numbers(case: Case, element: str, numerics: str) -> None:
    """Compile, run and compare, within the rounding of the formats."""
    arrays = inputs_of(case, element)
    binary_file = compiled(case, element)
    device = open_device(numerics=numerics)
    (output,) = submit(device, binary_file, 0, [Tensor.from_numpy(array) for array in arrays])
    compare_numbers(case, element, arrays, output.to_numpy())


def check_estimate(case: Case, element: str) -> None:
    """Every operation of the program has an estimate, and those that compute take time."""
    estimate = estimate_program(compiled(case, element).program(0), "n150")
    for each in estimate.operations:
        assert 0 <= each.low <= each.mid <= each.high < 1e9, each
        assert each.mid or each.name.removeprefix("ttnn.") in FREE, each


FREE = ("get_device", "empty", "dealloc", "to_layout", "reshape", "constant", "full", "arange")
"""Operations that may take no time: views, moves on the host, tensors that stay there."""


def compare_numbers(case: Case, element: str, arrays: Arrays, result: np.ndarray) -> None:
    """Compare what a program made of its inputs, within the rounding of the formats."""
    with np.errstate(all="ignore"):
        expected = np.asarray(case.oracle(*(exact(array) for array in arrays)))
    kind = case.out_element or element
    assert result.dtype == HOST[kind]
    assert result.shape == (case.out or case.shapes[0])
    if kind not in UNIT:
        np.testing.assert_array_equal(exact(result), expected.astype(np.int64))
        return
    # The result is rounded once to its format; before that, f32 functions are good to four units
    # and sums to one unit of the largest partial sum per term.
    unit = UNIT[kind] + 8 * UNIT["f32"]
    scale = max(
        1.0, float(np.nanmax(np.abs(np.where(np.isfinite(expected), expected, 0)), initial=0))
    )
    atol = case.terms * UNIT["f32"] * scale * 4 if case.terms > 1 else 4 * UNIT["f32"]
    np.testing.assert_allclose(exact(result), expected, rtol=unit * 1.01, atol=atol)
