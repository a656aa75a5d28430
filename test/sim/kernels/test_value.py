"""Arithmetic on typed expressions: bounds, folding, what is settled, and what goes with what."""

from __future__ import annotations

import ast
from itertools import product
from typing import Any

import pytest
from oracles.kernel_oracle import RecordingApi

from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.cpp.types import BOOL, DOUBLE, FLOAT, INT, UNSIGNED, IntType, PointerType
from ttmlir.optable.kernel import Role
from ttmlir.sim.kernels import compile_kernel
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.python.code import NAMES
from ttmlir.sim.kernels.value import (
    Space,
    Value,
    apply_binary,
    apply_unary,
    build_condition,
    convert,
    convert_to_bool,
    make_floating,
    make_integer,
    make_value,
    reinterpret_bits,
    settle,
)

BYTE, CHAR, LONG = (
    IntType("uint8_t", 8, False),
    IntType("int8_t", 8, True),
    IntType("int64_t", 64, True),
)
POINTER = PointerType(INT)
NUMERIC = ("+", "-", "*", "/")
BITWISE = ("%", "&", "|", "^", "<<", ">>")
ORDER = ("<", ">", "<=", ">=", "==", "!=")
LOGICAL = ("&&", "||")
DECLARED = {"f": "float f = 1;", "p": "int* p = (int*)1024;", "s": "S s;", "i": "int i = 1;"}
TYPES = {"f": "float", "p": "int*", "s": "S", "i": "int"}


def goes_with(operator: str, left: str, right: str) -> bool:
    """Whether C++ has an operator for operands of two kinds."""
    pair = {left, right}
    if "s" in pair:
        return False
    if operator in LOGICAL:
        return True
    if "p" not in pair:
        return pair == {"i"} or operator in (*NUMERIC, *ORDER)
    if left == right:
        return operator in ("-", *ORDER)
    return "f" not in pair and (operator == "+" or (operator == "-" and left == "p"))


@pytest.mark.parametrize(("left", "right"), [*product(TYPES, repeat=2)])
def test_operators_and_types(left: str, right: str) -> None:
    """Each pair of types with each operator: as in C++, or refused at its place."""
    declared = "".join(DECLARED[each] for each in sorted({left, right}))
    for operator in (*NUMERIC, *BITWISE, *ORDER, *LOGICAL):
        expression = f"note({left} {operator} {right})"
        text = f"struct S {{ int a; }};\nvoid kernel_main() {{ {declared} {expression}; }}"
        compiled = text, "kernel.cpp", Role.BRISC
        if goes_with(operator, left, right):
            assert compile_kernel(*compiled, api=RecordingApi) is not None
            continue
        with pytest.raises(CppSyntaxError) as caught:
            compile_kernel(*compiled, api=RecordingApi)
        column = text.splitlines()[1].index("note(") + 6
        message = f"'{operator}' does not go with '{TYPES[left]}' and '{TYPES[right]}'"
        if operator in LOGICAL:
            column += 0 if left == "s" else 5
            message = "'S' is no condition"
        first = str(caught.value).splitlines()[0]
        assert first == f"kernel.cpp:2:{column}: error: {message}"


def variable(low: int, high: int, type_: IntType = INT, name: str = "v_a") -> Value:
    """A variable within bounds."""
    return Value(type_, code.name(name), low, high)


def number_of(value: Value, **variables: Any) -> Any:
    """What the expression of a value gives."""
    expression = ast.fix_missing_locations(ast.Expression(value.node))
    return eval(compile(expression, "value", "eval"), {**NAMES, **variables})


def wrapped(number: int, type_: IntType) -> int:
    """A number as the type holds it."""
    number %= 1 << type_.bits
    return number - (1 << type_.bits) if type_.signed and number >> (type_.bits - 1) else number


SPANS = ((0, 0), (3, 5), (-4, -2), (-3, 6), (0, 7), (1, 9))
MEANING = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "<<": lambda a, b: a << b,
    ">>": lambda a, b: a >> b,
    "/": lambda a, b: int(a / b),
    "%": lambda a, b: a - b * int(a / b),
    **{each: eval(f"lambda a, b: a {each} b") for each in ORDER},
}


@pytest.mark.parametrize("operator", MEANING)
@pytest.mark.parametrize(("first", "second"), [*product(SPANS, repeat=2)])
def test_bounds_hold(operator: str, first: tuple[int, int], second: tuple[int, int]) -> None:
    """Every result lies within them; for sums, products and shifts no narrower ones would do."""
    result = apply_binary(operator, variable(*first), variable(*second, name="v_b"))
    assert result is not None
    numbers: list[int] = []
    for a, b in product(range(first[0], first[1] + 1), range(second[0], second[1] + 1)):
        if (operator in "/%" and b == 0) or (operator in ("<<", ">>") and not 0 <= b < 32):
            continue
        number = number_of(result, v_a=a, v_b=b)
        assert number == MEANING[operator](a, b)
        numbers.append(number)
    assert all(result.low <= number <= result.high for number in numbers)
    exact = operator in "+-*" or (operator in ("<<", ">>") and second[0] >= 0)
    if exact:
        assert (result.low, result.high) == (min(numbers), max(numbers))


@pytest.mark.parametrize(
    ("operator", "first", "second", "expected"),
    [
        ("&", (0, 5), (0, 9), (0, 5)),
        ("&", (-4, 5), (0, 9), (0, 9)),
        ("&", (-4, 5), (-1, 9), (-16, 15)),
        ("|", (0, 5), (0, 8), (0, 15)),
        ("|", (-9, 5), (0, 3), (-16, 15)),
        ("^", (-8, 5), (0, 3), (-8, 7)),
        ("/", (0, 9), (0, 4), (0, 9)),
        ("/", (0, 9), (3, 4), (0, 3)),
        ("/", (-3, 9), (3, 4), (-9, 9)),
        ("/", (-12, 9), (3, 4), (-12, 12)),
        ("%", (0, 9), (0, 4), (0, 3)),
        ("%", (0, 2), (0, 4), (0, 2)),
        ("%", (0, 9), (0, 0), (0, 0)),
        ("%", (-3, 9), (-2, 4), (-9, 9)),
        ("<<", (-1, 3), (-1, 2), (-(2**31), 3 << 31)),
        (">>", (-9, 12), (0, 40), (-9, 12)),
        (">>", (8, 12), (1, 2), (2, 6)),
        ("<", (3, 5), (-4, 9), (0, 1)),
    ],
)
def test_bounds_that_are_wide(
    operator: str, first: tuple[int, int], second: tuple[int, int], expected: tuple[int, int]
) -> None:
    """Bits up to the highest of either operand; quotients no larger than what is divided."""
    result = apply_binary(operator, variable(*first), variable(*second, name="v_b"))
    assert result is not None
    assert (result.low, result.high) == expected


@pytest.mark.parametrize(
    ("operator", "first", "second", "known"),
    [
        ("==", (1, 3), (4, 5), False), ("!=", (4, 5), (1, 3), True), ("==", (1, 4), (4, 5), None),
        ("==", (4, 4), (4, 4), None), ("<", (1, 3), (4, 5), True), ("<", (4, 5), (1, 4), False),
        ("<", (1, 4), (4, 5), None), ("<=", (1, 4), (4, 5), True), (">", (5, 6), (1, 4), True),
        (">", (1, 4), (4, 6), False), (">=", (4, 5), (1, 4), True), (">=", (1, 3), (4, 6), False),
        (">=", (1, 4), (4, 6), None),
    ],
)  # fmt: skip
def test_comparisons_that_bounds_decide(
    operator: str, first: tuple[int, int], second: tuple[int, int], known: bool | None
) -> None:
    """Only where all numbers within the bounds give the same."""
    result = apply_binary(operator, variable(*first), variable(*second, name="v_b"))
    assert result is not None
    assert (result.type, result.constant) == (BOOL, known)


@pytest.mark.parametrize("type_", [INT, UNSIGNED, LONG], ids=lambda each: each.name)
def test_constants_fold(type_: IntType) -> None:
    """Into the number that the type holds."""
    for operator, (a, b) in product(MEANING, [(7, 3), (-9, 2), (2**31 - 1, 2), (5, 5), (0, 1)]):
        left, right = wrapped(a, type_), wrapped(b, type_)
        result = apply_binary(operator, make_integer(a, type_), make_integer(b, type_))
        assert result is not None
        if operator in "/%":
            quotient = abs(left) // right * (1 if left >= 0 else -1)
            exact = quotient if operator == "/" else left - quotient * right
        else:
            exact = MEANING[operator](left, right)
        expected = exact if operator in ORDER else wrapped(exact, type_)
        assert (result.constant, result.low, result.high) == (expected, expected, expected)


@pytest.mark.parametrize(
    ("operator", "number", "side", "same"),
    [
        *((each, 0, "right", True) for each in "+-|^"), ("*", 1, "right", True),
        *((each, 0, "left", True) for each in "+|^"), ("*", 1, "left", True),
        ("-", 0, "left", False), ("&", 0, "right", False), ("*", 0, "right", False),
        ("+", 1, "left", False), ("|", 1, "right", False),
    ],
)  # fmt: skip
def test_operands_that_change_nothing(operator: str, number: int, side: str, same: bool) -> None:
    """The other operand is the result."""
    x, constant = variable(-3, 6), make_integer(number, INT)
    operands = (x, constant) if side == "right" else (constant, x)
    result = apply_binary(operator, *operands)
    assert result is not None
    assert (result.node is x.node) == same
    for each in range(-3, 7):
        pair = (each, number) if side == "right" else (number, each)
        assert number_of(result, v_a=each) == MEANING[operator](*pair)


def test_negative_addends_are_subtracted() -> None:
    """`x + -3` is `x - 3`."""
    result = apply_binary("+", variable(0, 9), make_integer(-3, INT))
    assert result is not None
    assert ast.unparse(result.node) == "v_a - 3"
    assert (result.low, result.high) == (-3, 6)


@pytest.mark.parametrize("type_", [BYTE, CHAR, INT, UNSIGNED, LONG], ids=lambda each: each.name)
def test_settled_numbers(type_: IntType) -> None:
    """Numbers outside of the type come back into its range; those inside cost nothing."""
    low, high = type_.low, type_.high
    inside = variable(low, high, type_)
    assert settle(inside) is inside
    for span in ((low - 1, high), (low, high + 1), (-(2**65), 2**65)):
        settled = settle(variable(*span, type_))
        assert (settled.low, settled.high) == (low, high)
        for number in (low - 1, low, -1, 0, 1, high, high + 1, 2**65 - 3, -(2**65)):
            assert number_of(settled, v_a=number) == wrapped(number, type_)
    outside = Value(type_, code.constant(high + 2), high + 2, high + 2)
    assert settle(outside).constant == wrapped(high + 2, type_)


def test_sums_do_not_grow_without_end() -> None:
    """Beyond 64 bits numbers are settled before they are used."""
    for low, high, settled in (
        (0, 1 << 64, False),
        (0, (1 << 64) + 1, True),
        (-(1 << 64) - 1, 0, True),
    ):
        wide = variable(low, high, UNSIGNED)
        total = apply_binary("+", wide, variable(0, 1, UNSIGNED, "v_b"))
        assert total is not None
        assert ("&" in ast.unparse(total.node)) == settled


@pytest.mark.parametrize("operator", "+-~!")
@pytest.mark.parametrize("number", [-5, 0, 3])
def test_unary_operators(operator: str, number: int) -> None:
    """On constants and on variables, integers and floating-point numbers."""
    meaning = {"+": number, "-": -number, "~": ~number, "!": number == 0}[operator]
    for value in (make_integer(number, INT), variable(-9, 9)):
        result = apply_unary(operator, value)
        assert result is not None
        assert result.type == (BOOL if operator == "!" else INT)
        assert number_of(result, v_a=number) == meaning
        assert result.low <= meaning <= result.high
    for value in (make_floating(number, FLOAT), make_value(FLOAT, code.name("v_a"))):
        result = apply_unary(operator, value)
        if operator == "~":
            assert result is None
            continue
        assert result is not None
        assert number_of(result, v_a=float(number)) == meaning
    assert apply_unary("-", make_value(POINTER, code.name("v_a"))) is None


def test_bounds_of_unary_operators() -> None:
    """They change places."""
    negative, inverted = apply_unary("-", variable(-2, 7)), apply_unary("~", variable(-2, 7))
    assert negative is not None
    assert inverted is not None
    assert (negative.low, negative.high) == (-7, 2)
    assert (inverted.low, inverted.high) == (-8, 1)
    promoted = apply_unary("-", variable(3, 7, BYTE))
    assert promoted is not None
    assert (promoted.type, promoted.low) == (INT, -7)


def test_truth() -> None:
    """Numbers that cannot be 0 are true; conditions need no comparison with 0."""
    for value, known in (
        (variable(1, 5), True), (variable(-5, -1), True), (variable(0, 5), None),
        (variable(-5, 0), None), (make_integer(0, INT), False), (make_integer(-2, INT), True),
        (make_floating(0.0, FLOAT), False), (make_floating(0.5, FLOAT), True),
        (make_value(POINTER, code.name("v_p"), Space.LOCAL), True),
        (make_value(POINTER, code.name("v_p"), Space.ANY), None),
    ):  # fmt: skip
        truth = convert_to_bool(value)
        assert (truth.type, truth.constant) == (BOOL, known)
    assert ast.unparse(convert_to_bool(variable(0, 5)).node) == "v_a != 0"
    assert ast.unparse(build_condition(variable(0, 5))) == "v_a"
    assert ast.unparse(build_condition(variable(0, 1, BOOL))) == "v_a"
    assert Space.LOCAL.join(Space.LOCAL) is Space.LOCAL
    assert Space.LOCAL.join(Space.MEMORY) is Space.ANY


def test_conversions() -> None:
    """Constants fold; numbers that may not fit are cut; floating-point numbers lose fractions."""
    assert convert(make_floating(2.75, FLOAT), INT).constant == 2
    assert convert(make_floating(-2.75, DOUBLE), CHAR).constant == -2
    assert convert(make_integer(300, INT), BYTE).constant == 44
    assert convert(make_integer(3, INT), FLOAT).constant == 3.0
    assert convert(make_integer(2**24 + 1, INT), FLOAT).constant == 2.0**24
    assert convert(make_integer(2**24 + 1, INT), DOUBLE).constant == 2.0**24 + 1
    assert ast.unparse(convert(variable(0, 5), FLOAT).node) == "_float32(v_a)"
    assert ast.unparse(convert(variable(0, 5), DOUBLE).node) == "_float(v_a)"
    wide = make_value(FLOAT, code.name("v_a"))
    assert convert(wide, FLOAT) is wide
    assert ast.unparse(convert(wide, DOUBLE).node) == "v_a"
    cut = convert(wide, BYTE)
    assert ast.unparse(cut.node) == "_truncated(v_a, 0, 255)"
    assert (cut.low, cut.high) == (0, 255)
    huge = convert(make_floating(2.0**64, DOUBLE), LONG)
    assert huge.constant is None
    assert convert(make_floating(2.0**63, DOUBLE), IntType("uint64_t", 64, False)).constant == 2**63
    # A narrower type keeps the expression; a wider one needs the number itself.
    narrow = convert(variable(-4, 300), BYTE)
    assert (narrow.type, narrow.low, narrow.high) == (BYTE, -4, 300)
    widened = convert(variable(-4, 300, BYTE), INT)
    assert (widened.type, widened.low, widened.high) == (INT, 0, 255)


def test_bits_as_numbers() -> None:
    """Of 32 bits as integer or float, of equal sizes among integers."""
    one = reinterpret_bits(make_integer(0x3FC00000, UNSIGNED), FLOAT)
    assert one is not None
    assert number_of(one) == 1.5
    bits = reinterpret_bits(make_value(FLOAT, code.name("v_a")), INT)
    assert bits is not None
    assert number_of(settle(bits), v_a=-1.5) == 0xBFC00000 - (1 << 32)
    byte = reinterpret_bits(make_integer(200, BYTE), CHAR)
    assert byte is not None
    assert byte.constant == -56
    assert reinterpret_bits(make_integer(200, BYTE), INT) is None
    assert reinterpret_bits(make_integer(1, LONG), FLOAT) is None
    assert reinterpret_bits(make_value(DOUBLE, code.name("v_a")), INT) is None


def test_floating_arithmetic() -> None:
    """Single precision is rounded after each operation, double is not; `%` is for integers."""
    for operator, expected in (("+", 0.4), ("-", -0.2), ("*", 0.03), ("/", 1 / 3)):
        a, b = make_value(FLOAT, code.name("v_a")), make_value(FLOAT, code.name("v_b"))
        single = apply_binary(operator, a, b)
        double = apply_binary(operator, a, make_value(DOUBLE, code.name("v_b")))
        assert single is not None
        assert double is not None
        assert (single.type, double.type) == (FLOAT, DOUBLE)
        assert number_of(double, v_a=0.1, v_b=0.3) == pytest.approx(expected, rel=1e-14)
        rounded = number_of(single, v_a=0.1, v_b=0.3)
        assert rounded == pytest.approx(expected, rel=1e-7)
        assert rounded != pytest.approx(expected, rel=1e-12)
    for operator in BITWISE:
        assert apply_binary(operator, make_floating(1.0, FLOAT), make_integer(1, INT)) is None
    for operator in (*NUMERIC, "<"):
        pointer = make_value(POINTER, code.name("v_p"))
        assert apply_binary(operator, make_floating(1.0, FLOAT), pointer) is None
        assert apply_binary(operator, pointer, make_floating(1.0, FLOAT)) is None
        assert apply_binary(operator, pointer, make_integer(1, INT)) is None
