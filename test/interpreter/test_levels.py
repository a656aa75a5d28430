"""What a run at a level notes, and which results of it are compared with those of another."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from xdsl.dialects.builtin import (
    BFloat16Type,
    ComplexType,
    Float64Type,
    IntegerType,
    NoneType,
    Signedness,
    f16,
    f32,
    f64,
    i1,
    i32,
)
from xdsl.ir import Attribute

from ttmlir.compiler import parse
from ttmlir.interpreter.bisection import EXACT_TOLERANCE, Comparison, tolerance_for
from ttmlir.interpreter.execution import compute_dtype, convert_to, host_dtype
from ttmlir.interpreter.levels import (
    Level,
    name_operations,
    number_of,
    result_shapes,
    source_dialect,
)
from ttmlir.interpreter.statistics import Trace, number_in
from ttmlir.mlir.reporting import DiagnosticError
from ttmlir.runtime.tensor import Numerics

PROGRAM = """func.func private @inner(%x: tensor<2x3xf32>) {
  return
}
func.func @main(%x: tensor<2x3xf32>, %y: tensor<2x?xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.negate %x : tensor<2x3xf32>
  %1 = arith.constant 3 : i32
  func.call @inner(%x) : (tensor<2x3xf32>) -> ()
  %2:2 = "stablehlo.optimization_barrier"(%x, %0) : (tensor<2x3xf32>, tensor<2x3xf32>)
      -> (tensor<2x3xf32>, tensor<2x3xf32>)
  %3 = stablehlo.constant dense<1.0> : tensor<f32>
  return %0 : tensor<2x3xf32>
}
"""


def arrays(*shapes: tuple[int, ...]) -> list[Any]:
    """Arrays of these shapes; each holds its place in the list."""
    return [np.full(shape, number, np.float32) for number, shape in enumerate(shapes)]


def test_operations_are_numbered_and_have_shapes() -> None:
    """In the order of the text, without functions and terminators; one tensor has a shape."""
    module = parse(PROGRAM)
    operations = name_operations(module)
    assert [(op.name, result_shapes(op)) for op in operations] == [
        ("stablehlo.negate", ((2, 3),)),
        ("arith.constant", ()),
        ("func.call", ()),
        ("stablehlo.optimization_barrier", ((2, 3), (2, 3))),
        ("stablehlo.constant", ((),)),
    ]
    assert [number_of(op) for op in operations] == [0, 1, 2, 3, 4]
    functions = list(module.ops)
    assert [number_of(op) for op in functions] == [None, None]
    assert [result_shapes(op) for op in functions] == [(), ()]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ('loc("operation#0")', 0),
        ('loc("operation#17"("a.mlir":3:4))', 17),
        ('fused["x.py":1:2, "operation#5"]', 5),
        ("operation#3", None),
        ('"my operation#3"', None),
        ('"operation#"', None),
        ("", None),
        (None, None),
    ],
)
def test_numbers_in_locations(text: str | None, number: int | None) -> None:
    """A whole name in quotes, wherever it stands."""
    assert number_in(text) == number


@pytest.mark.parametrize(
    ("names", "dialect"),
    [
        (("ttir.relu", "tosa.abs"), "tosa"),
        (("linalg.add", "ttir.relu"), "linalg"),
        (("tosa.abs", "linalg.add"), "tosa"),
        (("chlo.tan", "tosa.abs"), "stablehlo"),
        (("ttir.relu",), "ttir"),
    ],
)
def test_the_dialect_furthest_from_the_file(names: tuple[str, ...], dialect: str) -> None:
    """stablehlo, with chlo, before tosa, linalg and ttir."""
    module = parse("")
    words = {each: type("Named", (), {"name": each}) for each in names}

    class Walked:
        location = module.location

        def walk(self) -> Any:
            return [module, *words.values()]

    walked: Any = Walked()
    assert source_dialect(walked) == dialect


def test_programs_of_no_dialect() -> None:
    """All that could be compared are named."""
    with pytest.raises(DiagnosticError) as caught:
        source_dialect(parse("func.func @main() {\n  return\n}\n", file_name="a.mlir"))
    assert "there is nothing to compare: no operation of stablehlo, tosa, linalg, ttir" in str(
        caught.value
    )


def test_traces_note_arrays_with_numbers() -> None:
    """In order; what has no number or is no array is left out."""
    trace = Trace()
    first, second = arrays((2,), (3,))
    for number, value in [(4, first), (None, first), (4, second), (4, "a"), (0, second)]:
        trace.note(number, value)
    assert trace.values == {4: [first, second], 0: [second]}
    assert trace.outputs == []


def test_the_operations_that_run() -> None:
    """A level runs if all that its functions hold has a meaning."""
    known = parse(PROGRAM)
    unknown = parse(
        "func.func @main(%x: tensor<2xf32>, %i: index) -> index {\n"
        "  %0 = tensor.dim %x, %i : tensor<2xf32>\n"
        "  return %0 : index\n}\n"
    )
    assert Level("stablehlo", known, "main").can_run
    assert not Level("stablehlo", unknown, "main").can_run


HIT, OTHER = (2, 3), (3, 2)
PAIRS: list[tuple[list[tuple[int, ...]], list[tuple[int, ...]], list[tuple[int, int]]]] = [
    ([HIT], [HIT], [(0, 0)]),
    ([HIT], [HIT, HIT, HIT], [(0, 2)]),
    ([HIT, HIT], [HIT, HIT, HIT, HIT], [(0, 1), (1, 3)]),
    ([HIT, HIT], [HIT, HIT], [(0, 0), (1, 1)]),
    ([HIT, HIT], [HIT, HIT, HIT], [(1, 2)]),
    ([HIT, HIT], [HIT], [(1, 0)]),
    ([OTHER, HIT], [HIT], [(1, 0)]),
    ([HIT, OTHER], [HIT], [(0, 0)]),
    ([HIT], [OTHER, HIT], [(0, 1)]),
    ([HIT], [HIT, OTHER], [(0, 0)]),
    ([HIT, HIT], [HIT, OTHER, HIT], [(0, 0), (1, 2)]),
    ([OTHER], [HIT], []),
    ([HIT], [OTHER], []),
    ([], [HIT], []),
    ([HIT], [], []),
]


@pytest.mark.parametrize(("expected", "actual", "pairs"), PAIRS)
def test_results_that_are_compared(
    expected: list[tuple[int, ...]], actual: list[tuple[int, ...]], pairs: list[tuple[int, int]]
) -> None:
    """Of the operation's shape, the last of what each execution became."""
    comparison = Comparison(name_operations(parse(PROGRAM)), EXACT_TOLERANCE, {})
    found = comparison._pairs(0, arrays(*expected), arrays(*actual))
    assert [(int(a.flat[0]), int(b.flat[0])) for a, b in found] == pairs
    assert all(a.shape == b.shape == HIT for a, b in found)
    assert comparison._pairs(3, arrays(HIT), arrays(HIT)) == []


def test_a_level_against_the_reference() -> None:
    """One difference for each operation; the least correlation is that of this level alone."""
    module = parse(PROGRAM, file_name="a.mlir")
    comparison = Comparison(name_operations(module), EXACT_TOLERANCE, {})
    level = Level("ttir", module, "main")
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    one = np.float32(1).reshape(())
    reference = Trace([x], {0: [x, x], 4: [one], 1: [one]})
    report = comparison.compare(level, reference, Trace([x + 1], {0: [-x, -x], 4: [one]}))
    assert (report.level, report.compared, report.worst_pcc) == ("ttir", 2, pytest.approx(-1))
    [difference] = report.differences
    assert (difference.number, difference.location) == (0, "a.mlir:5:8")
    assert (difference.expected.greatest, difference.actual.least) == (5, -5)
    [output] = report.outputs
    assert (output.op, output.number, output.location) == ("output 0", 0, "result")
    again = comparison.compare(level, reference, Trace([x], {0: [x, x]}))
    assert (again.agrees, again.compared, again.worst_pcc) == (True, 1, pytest.approx(1))


def test_tolerances() -> None:
    """Those of the numerics; each limit may be another one, 0 too."""
    exact, device = tolerance_for(Numerics.EXACT), tolerance_for(Numerics.DEVICE)
    assert (exact.pcc, exact.rtol, exact.atol) == (0.9999, 1e-4, 1e-5)
    assert (device.pcc, device.rtol, device.atol) == (0.99, 5e-2, 1e-2)
    for name in ("pcc", "rtol", "atol"):
        given: dict[str, float] = {name: 0.0}
        changed = tolerance_for(Numerics.DEVICE, **given)
        limits = {"pcc": 0.99, "rtol": 5e-2, "atol": 1e-2} | given
        assert {each: getattr(changed, each) for each in limits} == limits


def integer(width: int, sign: Signedness = Signedness.SIGNLESS) -> IntegerType:
    """An integer type."""
    return IntegerType(width, sign)


UNSIGNED = Signedness.UNSIGNED
STANDS_FOR: list[tuple[Attribute, Any, Any]] = [
    (f32, np.float32, np.float32),
    (f16, np.float32, np.float16),
    (BFloat16Type(), np.float32, ml_dtypes.bfloat16),
    (f64, np.float64, np.float64),
    (ComplexType(f32), np.complex64, np.complex64),
    (ComplexType(Float64Type()), np.complex128, np.complex128),
    (ComplexType(i32), None, None),
    (i1, np.bool_, np.bool_),
    (integer(2), np.int8, np.int8),
    (integer(7), np.int8, np.int8),
    (integer(9), np.int16, np.int16),
    (integer(17), np.int32, np.int32),
    (integer(33), np.int64, np.int64),
    (integer(64), np.int64, np.int64),
    (integer(65), None, None),
    (integer(4, UNSIGNED), np.uint8, np.uint8),
    (integer(12, UNSIGNED), np.uint16, np.uint16),
    (integer(4, Signedness.SIGNED), np.int8, np.int8),
    (NoneType(), None, None),
]


@pytest.mark.parametrize(("type_", "compute", "host"), STANDS_FOR, ids=str)
def test_element_types_of_arrays(type_: Attribute, compute: Any, host: Any) -> None:
    """While a program is computed, and outside."""
    assert compute_dtype(type_) == (None if compute is None else np.dtype(compute))
    assert host_dtype(type_) == (None if host is None else np.dtype(host))


NUMBERS = np.array([np.nan, np.inf, -np.inf, 2.9, -2.9, 100], np.float32)
CONVERTED: list[tuple[Attribute, Any, list[Any]]] = [
    (integer(4), NUMBERS, [0, 7, -8, 2, -2, 7]),
    (integer(4, UNSIGNED), NUMBERS, [0, 15, 0, 2, 0, 15]),
    (integer(2), NUMBERS, [0, 1, -2, 1, -2, 1]),
    (integer(12), NUMBERS, [0, 2047, -2048, 2, -2, 100]),
    (integer(4), np.array([7, 8, 15, 16, -9], np.int32), [7, -8, -1, 0, 7]),
    (integer(4, UNSIGNED), np.array([15, 16, -1], np.int32), [15, 0, 15]),
    (integer(8), np.array([127, 128, -129], np.int32), [127, -128, 127]),
    (f32, np.array([1, -2], np.int8), [1.0, -2.0]),
]


@pytest.mark.parametrize(("type_", "given", "expected"), CONVERTED)
def test_conversions(type_: Attribute, given: Any, expected: list[Any]) -> None:
    """Floating point saturates and integers wrap at the type's own width."""
    found = convert_to(given, type_)
    assert found is not None
    assert found.tolist() == expected
    assert found.dtype == compute_dtype(type_)


@pytest.mark.parametrize("type_", [integer(65), ComplexType(i32), NoneType()], ids=str)
def test_types_that_no_array_stands_for(type_: Attribute) -> None:
    """There is no conversion to them."""
    assert convert_to(NUMBERS, type_) is None
