"""Affine maps: construction rules and text against MLIR's, evaluation against plain arithmetic."""

import math
import re
import shutil
import subprocess
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ttmlir.layout.affine import (
    MAX_DEPTH,
    AffineExpr,
    AffineMap,
    AffineParseError,
    constant,
    dim,
    dims,
    parse_affine_map,
    scan_affine_map,
    symbol,
    symbols,
)
from ttmlir.layout.errors import LayoutError

D0, D1, D2 = dims(3)
S0, S1 = symbols(2)
MLIR_OPT = shutil.which("mlir-opt-19") or shutil.which("mlir-opt")

OPERATORS = ("+", "-", "*", "mod", "floordiv", "ceildiv")
LEAVES = "d0 d1 d2 d0 d1 d2 s0 s0 0 1 2 3 4 6 8 12 64 -1 -4".split()


def random_expression(random: Random, depth: int) -> tuple[str, bool]:
    """The text of a semi-affine expression, and whether it is free of dimensions."""
    if depth == 0 or random.random() < 0.2:
        leaf = random.choice(LEAVES)
        return leaf, not leaf.startswith("d")
    operator = random.choice(OPERATORS)
    lhs, lhs_symbolic = random_expression(random, depth - 1)
    rhs, rhs_symbolic = random_expression(random, depth - 1)
    if operator not in "+-" and not rhs_symbolic:
        rhs, rhs_symbolic = random.choice(["1", "2", "4", "6", "8", "64", "s0"]), True
    return f"({lhs} {operator} {rhs})", lhs_symbolic and rhs_symbolic


EXPRESSIONS = st.integers(0, 2**64).map(lambda seed: random_expression(Random(seed), 4)[0])


def random_maps(count: int) -> list[str]:
    """Texts of maps with one to four results, always the same ones."""
    random = Random(20)
    return [
        "(d0, d1, d2)[s0] -> ("
        + ", ".join(random_expression(random, 5)[0] for _ in range(random.randint(1, 4)))
        + ")"
        for _ in range(count)
    ]


class Number(int):
    """An integer whose `@` is the ceiling division."""

    def __add__(self, other: int) -> "Number":
        """Sum."""
        return Number(int(self) + int(other))

    def __sub__(self, other: int) -> "Number":
        """Difference."""
        return Number(int(self) - int(other))

    def __mul__(self, other: int) -> "Number":
        """Product."""
        return Number(int(self) * int(other))

    def __floordiv__(self, other: int) -> "Number":
        """Floor division."""
        return Number(int(self) // int(other))

    def __matmul__(self, other: int) -> "Number":
        """Ceiling division."""
        return Number(math.ceil(Fraction(int(self), int(other))))

    def __mod__(self, other: int) -> "Number":
        """Remainder of the floor division."""
        return Number(int(self) % int(other))


def reference_value(text: str, names: dict[str, int]) -> int | None:
    """The value of an expression text by Python's own arithmetic; None if it has none."""
    for word, sign in (("floordiv", "//"), ("ceildiv", "@"), ("mod", "%")):
        text = text.replace(word, sign)
    wrapped = re.sub(r"(?<![\w)])-?\b\d+", r"N(\g<0>)", text)
    scope = {name: Number(value) for name, value in names.items()} | {"N": Number}
    try:
        return int(eval(wrapped, {}, scope))
    except ZeroDivisionError:
        return None


@pytest.mark.skipif(MLIR_OPT is None, reason="mlir-opt is not installed")
def test_text_of_parsed_maps_is_that_of_mlir():
    """Parsing, simplification and printing agree with mlir-opt on random maps."""
    texts = random_maps(1500)
    module = "".join(f'"t.x"() {{a = affine_map<{text}>}} : () -> ()\n' for text in texts)
    command = [str(MLIR_OPT), "--allow-unregistered-dialect", "--mlir-print-local-scope"]
    printed = subprocess.run(command, input=module, capture_output=True, text=True, check=True)
    lines = [line for line in printed.stdout.splitlines() if '"t.x"' in line]
    expected = [line.split("affine_map<")[1].split(">}")[0] for line in lines]
    assert [str(parse_affine_map(text)) for text in texts] == expected


@given(EXPRESSIONS, st.tuples(*[st.integers(-20, 20)] * 3), st.integers(1, 9))
def test_simplification_keeps_the_value(expression: str, point: tuple[int, ...], s0: int):
    """The simplified expression has the value of the text wherever the text has one."""
    names = {f"d{i}": value for i, value in enumerate(point)} | {"s0": s0}
    expected = reference_value(expression, names)
    if expected is None:
        return
    affine_map = parse_affine_map(f"(d0, d1, d2)[s0] -> ({expression})")
    assert affine_map.eval(point, (s0,)) == (expected,)


@given(EXPRESSIONS, st.tuples(*[st.integers(-20, 20)] * 3), st.integers(1, 9))
def test_printed_text_parses_to_the_same_values(expression: str, point: tuple[int, ...], s0: int):
    """Text read back has the same values: printing drops no needed parentheses."""
    names = {f"d{i}": value for i, value in enumerate(point)} | {"s0": s0}
    if reference_value(expression, names) is None:
        return
    affine_map = parse_affine_map(f"(d0, d1, d2)[s0] -> ({expression})")
    assert parse_affine_map(str(affine_map)).eval(point, (s0,)) == affine_map.eval(point, (s0,))


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (3 + D0, "d0 + 3"),
        (S0 + D0, "d0 + s0"),
        (192 * D0, "d0 * 192"),
        (D0 * 1 + 0, "d0"),
        (D0 * 0, "0"),
        (D0 - D0, "0"),
        (1 - D0, "-d0 + 1"),
        (2 * D0 + D0 * 3, "d0 * 5"),
        (D0 + 2 + D1, "d0 + d1 + 2"),
        (D0 - (D1 + 2), "d0 - (d1 + 2)"),
        (D0 - D1 * 3, "d0 - d1 * 3"),
        (-(D0 + D1), "-(d0 + d1)"),
        (D0 * S0 * 2 * S1, "((d0 * s0) * s1) * 2"),
        (S1 * S0, "s1 * s0"),
        ((D0 * 128) // 64, "d0 * 2"),
        ((D0 * 64 + D1) // 64, "d0 + d1 floordiv 64"),
        ((D0 * 64 + D1) % 64, "d1 mod 64"),
        ((D1 + D0 * 64) % 32, "d1 mod 32"),
        (D0 % 8 % 4, "d0 mod 4"),
        (D0 % 1, "0"),
        (D0 // 1, "d0"),
        ((D0 * 6).ceildiv(3), "d0 * 2"),
        (D0.ceildiv(S0), "d0 ceildiv s0"),
        (D0 + (D0 // 8) * -8, "d0 mod 8"),
        (D0 - (D0 // S0) * S0, "d0 mod s0"),
        (D0 + (D0 // S0) * S0 * -1, "d0 mod s0"),
        (D0 + D1 - ((D0 + D1) // S0) * S0, "(d0 + d1) mod s0"),
        (D0 - (D0 // S0) * S1, "d0 - (d0 floordiv s0) * s1"),
        (D0 - (D1 // S0) * S0, "d0 - (d1 floordiv s0) * s0"),
        (D0 - D0.ceildiv(S0) * S0, "d0 - (d0 ceildiv s0) * s0"),
        (D0 - (D0 * S1) * S0, "d0 - (d0 * s1) * s0"),
        (D0 + (D0 // S0) * S0, "d0 + (d0 floordiv s0) * s0"),
        (D0 - (D0 // S0) * S0 * 2, "d0 - ((d0 floordiv s0) * s0) * 2"),
        (D0 + (D0 // 8) * -4, "d0 - (d0 floordiv 8) * 4"),
        (D0 + (D1 // 8) * -8, "d0 - (d1 floordiv 8) * 8"),
        (D0 + D0.ceildiv(8) * -8, "d0 - (d0 ceildiv 8) * 8"),
        (D0 + (D0 // 8) * 8, "d0 + (d0 floordiv 8) * 8"),
        ((D0 // 8) * 2 + D1 // 8, "(d0 floordiv 8) * 2 + d1 floordiv 8"),
        (constant(7) // 2, "3"),
        (constant(-7) % 4, "1"),
        (constant(7).ceildiv(2), "4"),
        (D0 // 0, "d0 floordiv 0"),
        (D0 % -3, "d0 mod -3"),
    ],
)
def test_construction_simplifies_and_prints_as_mlir(expression: AffineExpr, text: str):
    """Each simplification rule, written out by hand."""
    assert str(expression) == text


def test_equal_structure_is_equal_and_hashes_equal():
    """Equality and hash follow the simplified structure."""
    assert D0 * 4 + D1 == D0 * 2 * 2 + D1
    assert hash(D0 * 4 + D1) == hash(D0 * 2 * 2 + D1)
    assert D0 + D1 != D1 + D0
    assert D0 != S0
    assert {D0 + 1: "x"}[1 + dim(0)] == "x"
    assert repr(D0 + 1) == "AffineExpr('d0 + 1')"


def test_replace_changes_whole_subexpressions_and_simplifies():
    """Replacing a subexpression rebuilds what is around it."""
    collapsed = D0 * 64 + D1
    assert str(collapsed.replace({collapsed: collapsed // 32})) == "d0 * 2 + d1 floordiv 32"
    assert str((collapsed + D2).replace({D1: constant(0)})) == "d0 * 64 + d2"
    assert D0.replace({D1: D2}) is D0


def test_map_evaluates_points_and_shapes():
    """A collapse of 2x3x64x128 sends [1, 1, 6, 100] to (262, 100) and has extents 384x128."""
    collapse = parse_affine_map("(d0, d1, d2, d3) -> (d0 * 192 + d1 * 64 + d2, d3)")
    assert collapse.eval((1, 1, 6, 100)) == (262, 100)
    assert collapse.eval_shape((2, 3, 64, 128)) == (384, 128)
    assert collapse.used_dims() == {0, 1, 2, 3}


def test_map_constructors():
    """Identity, minor identity and maps from integers."""
    assert str(AffineMap.identity(3)) == "(d0, d1, d2) -> (d0, d1, d2)"
    assert AffineMap.identity(3).is_identity
    assert not AffineMap.of(2, (D1, D0)).is_identity
    assert str(AffineMap.identity(0)) == "() -> ()"
    assert str(AffineMap.minor_identity(4, 2)) == "(d0, d1, d2, d3) -> (d2, d3)"
    assert str(AffineMap.of(1, (0, D0), 2)) == "(d0)[s0, s1] -> (0, d0)"


def test_compose_applies_the_inner_map_first_and_keeps_both_sets_of_symbols():
    """The symbols of the outer map come first, as in MLIR."""
    outer = parse_affine_map("(d0, d1)[s0] -> (d0 floordiv s0, d1)")
    inner = parse_affine_map("(d0, d1, d2)[s0] -> (d0 * 64 + d1, d2 + s0)")
    text = "(d0, d1, d2)[s0, s1] -> ((d0 * 64 + d1) floordiv s0, d2 + s1)"
    assert str(outer.compose(inner)) == text


def test_symbols_become_constants():
    """Constants put in for symbols simplify the results."""
    affine_map = parse_affine_map("(d0)[s0, s1] -> (d0 floordiv s0, (d0 * 8) mod s1)")
    assert str(affine_map.with_symbols((1, 4))) == "(d0) -> (d0, 0)"


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda: AffineMap.minor_identity(1, 2), "a minor identity of 1 dimensions has at most 1"),
        (lambda: AffineMap.identity(2).eval((1,)), "takes 2 dimensions and 0 symbols, got 1 and 0"),
        (lambda: AffineMap.identity(2).with_symbols((1,)), "has 0 symbols, got 1 values"),
        (
            lambda: AffineMap.identity(2).compose(AffineMap.identity(1)),
            "cannot compose '(d0, d1) -> (d0, d1)' with '(d0) -> (d0)': expected 2 results, got 1",
        ),
        (
            lambda: AffineMap.of(1, (D0 // S0,), 1).eval((4,), (0,)),
            "cannot evaluate 'd0 floordiv s0': the divisor is 0",
        ),
    ],
)
def test_misuse_of_maps_is_refused(action, message: str):
    """Wrong counts and divisors below one are told with the numbers."""
    with pytest.raises(LayoutError) as error:
        action()
    assert message in str(error.value)


def test_too_deep_expressions_are_refused():
    """A sum of more terms than the depth limit is an error, not a stack overflow."""
    total: AffineExpr = D0
    for position in range(1, MAX_DEPTH + 1):
        total = total + dim(position)
    with pytest.raises(LayoutError, match=f"nested deeper than {MAX_DEPTH} levels"):
        _ = total + D1


def test_scan_stops_after_the_map():
    """A map inside a bigger text is read from a position, comments and blanks included."""
    text = "#tt.grid<8x8, (i, j) // rows\n -> (0, i, j)>"
    affine_map, end = scan_affine_map(text, text.index(",") + 1)
    assert str(affine_map) == "(d0, d1) -> (0, d0, d1)"
    assert text[end:] == ">"


def test_affine_map_wrapper_is_accepted():
    """The attribute form with its keyword parses too."""
    assert str(parse_affine_map("affine_map<(d0) -> (d0 - 1)>")) == "(d0) -> (d0 - 1)"


@pytest.mark.parametrize(
    ("text", "message", "position"),
    [
        ("d0", "expected '('", 0),
        ("(d0", "expected ')'", 3),
        ("(0) -> ()", "expected bare identifier", 1),
        ("(d0, d0) -> ()", "redefinition of identifier 'd0'", 5),
        ("(d0) (d0)", "expected '->'", 5),
        ("(d0) -> (d1)", "use of undeclared identifier", 9),
        ("(d0) -> (* d0)", "missing left operand of binary operator", 9),
        ("(d0) -> (d0 + )", "expected affine expression", 14),
        ("(d0) -> (())", "no expression inside parentheses", 10),
        (
            "(d0) -> (d0 * d0)",
            "non-affine expression: at least one of the multiply operands has to be either a "
            "constant or symbolic",
            12,
        ),
        (
            "(d0) -> (d0 mod d0)",
            "non-affine expression: right operand of mod has to be either a constant or symbolic",
            12,
        ),
        ("(d0) -> (d0) x", "expected the end of the affine map", 12),
        ("(d0) -> (9223372036854775808)", "constant too large for index", 9),
        ("(d0) -> (" + "(" * 101, "expected at most 100 nested parentheses", 109),
    ],
)
def test_bad_text_is_refused_at_its_position(text: str, message: str, position: int):
    """Every error names what was expected and where."""
    with pytest.raises(AffineParseError) as error:
        parse_affine_map(text)
    assert (error.value.message, error.value.position) == (message, position)


def test_depth_error_has_a_position():
    """The depth limit is reported at the operator that exceeds it."""
    names = [f"d{i}" for i in range(MAX_DEPTH + 3)]
    text = f"({', '.join(names)}) -> ({' + '.join(names)})"
    with pytest.raises(AffineParseError, match="nested deeper") as error:
        parse_affine_map(text)
    assert text[error.value.position] == "+"


def test_symbols_print_in_the_order_they_were_multiplied():
    """Products of symbols keep their order: MLIR does not sort them."""
    assert str(symbol(2) * symbol(1) * symbol(0)) == "(s2 * s1) * s0"


def test_constants_do_not_grow_without_end() -> None:
    """A product of many literals is refused where it gets larger than any address."""
    with pytest.raises(LayoutError, match="has more than 128 bits"):
        parse_affine_map("(d0) -> (" + " * ".join(["999999999999999999"] * 500) + ")")
