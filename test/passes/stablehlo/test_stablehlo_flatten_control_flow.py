"""Branches become choices between all of their results, and loops their iterations."""

from __future__ import annotations

import pytest
from running.pass_runner import body, printed

PASS = "stablehlo-flatten-control-flow"
V = "tensor<2x3xf32>"


def branches(selector: str, *operations: str, kind: str = "case") -> str:
    """A function whose result one of some operations on `%x` computes."""
    regions = ", ".join(
        f"{{ %r = stablehlo.{each} %x : {V}\n stablehlo.return %r : {V} }}" for each in operations
    )
    type_ = "i32" if kind == "case" else "i1"
    return (
        f"func.func @main(%s: tensor<{type_}>, %x: {V}) -> {V} {{\n"
        f"%c = stablehlo.constant dense<{selector}> : tensor<{type_}>\n"
        f'%0 = "stablehlo.{kind}"({"%s" if selector in ("0", "false") else "%c"}) ({regions}) : '
        f"(tensor<{type_}>) -> {V}\nreturn %0 : {V}\n}}"
    )


def test_all_branches_are_computed_and_one_is_chosen() -> None:
    """Numbers that are no branch mean the last one."""
    assert body(branches("0", "abs", "negate", "cosine"), PASS) == [
        f"%0 = stablehlo.abs %arg1 : {V}",
        f"%1 = stablehlo.negate %arg1 : {V}",
        f"%2 = stablehlo.cosine %arg1 : {V}",
        "%c = stablehlo.constant dense<0> : tensor<i32>",
        "%3 = stablehlo.compare EQ, %arg0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>",
        f"%4 = stablehlo.select %3, %0, %2 : tensor<i1>, {V}",
        "%c_0 = stablehlo.constant dense<1> : tensor<i32>",
        "%5 = stablehlo.compare EQ, %arg0, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>",
        f"%6 = stablehlo.select %5, %1, %4 : tensor<i1>, {V}",
        f"return %6 : {V}",
    ]


def test_the_first_region_is_that_of_true() -> None:
    """It is computed last, which does not matter."""
    assert body(branches("false", "abs", "negate", kind="if"), PASS) == [
        f"%0 = stablehlo.negate %arg1 : {V}",
        f"%1 = stablehlo.abs %arg1 : {V}",
        f"%2 = stablehlo.select %arg0, %1, %0 : tensor<i1>, {V}",
        f"return %2 : {V}",
    ]


@pytest.mark.parametrize(
    ("number", "operation"), [(-1, "cosine"), (1, "negate"), (2, "cosine"), (3, "cosine")]
)
def test_a_known_number_leaves_one_branch(number: int, operation: str) -> None:
    """Nothing is left of the others, nor of the number."""
    assert body(branches(str(number), "abs", "negate", "cosine"), PASS) == [
        f"%0 = stablehlo.{operation} %arg1 : {V}",
        f"return %0 : {V}",
    ]


def test_a_known_truth_is_a_number() -> None:
    """True is 1, not the -1 of a signed number of one bit."""
    text = branches("7", "abs", "negate", "cosine").replace(
        "%c = stablehlo.constant dense<7> : tensor<i32>",
        "%y = stablehlo.constant dense<1> : tensor<i32>\n"
        "%z = stablehlo.constant dense<2> : tensor<i32>\n"
        "%p = stablehlo.compare LT, %y, %z : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
        "%c = stablehlo.convert %p : (tensor<i1>) -> tensor<i32>",
    )
    assert body(text, PASS)[-2:] == [f"%2 = stablehlo.negate %arg1 : {V}", f"return %2 : {V}"]


def loop(iterations: int) -> str:
    """A function that doubles its argument in each iteration."""
    return (
        f"func.func @main(%x: {V}) -> {V} {{\n"
        "%zero = stablehlo.constant dense<0> : tensor<i32>\n"
        f"%0:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, {V} cond {{\n"
        f"%n = stablehlo.constant dense<{iterations}> : tensor<i32>\n"
        "%1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
        "stablehlo.return %1 : tensor<i1>\n} do {\n"
        "%one = stablehlo.constant dense<1> : tensor<i32>\n"
        "%1 = stablehlo.add %i, %one : tensor<i32>\n"
        f"%2 = stablehlo.add %v, %v : {V}\n"
        f"stablehlo.return %1, %2 : tensor<i32>, {V}\n}}\nreturn %0#1 : {V}\n}}"
    )


def while_of(text: str, pipeline: str = PASS) -> str:
    """The attributes of the one loop that is left of a module; empty if none is left."""
    found = [line for line in printed(text, pipeline).splitlines() if "ttir.while" in line]
    assert len(found) < 2
    return found[0].partition("<{")[2].partition("}>")[0] if found else ""


def test_loops_are_written_out_as_asked_for() -> None:
    """Without a word, those of few iterations that become few operations."""
    assert len(body(loop(3), f"{PASS}=max-trip-count=3")) == 4
    counted = "body = @main_body0, trip_count = {} : i64"
    assert while_of(loop(4), f"{PASS}=max-trip-count=3") == counted.format(4)
    assert len(body(loop(64), PASS)) == 65
    assert while_of(loop(65)) == counted.format(65)
    assert len(body(loop(65), f"{PASS}=max-trip-count=65")) == 66
    more = "".join(f"%y{i} = stablehlo.abs %v : {V}\n" for i in range(4))
    longer = loop(60).replace("%2 =", f"{more}%2 =")
    assert while_of(longer) == counted.format(60)


def test_the_body_is_a_function() -> None:
    """It takes the counter, what it carries and what it captures, and has constants of its own."""
    text = loop(1000).replace("stablehlo.add %v, %v", "stablehlo.add %v, %x")
    assert printed(text, PASS).splitlines()[1:] == [
        f"  func.func @main(%arg0: {V}) -> {V} {{",
        "    %c = stablehlo.constant dense<0> : tensor<i32>",
        '    %0:2 = "ttir.while"(%c, %arg0, %arg0) <{body = @main_body0, trip_count = 1000 : i64}> '
        f": (tensor<i32>, {V}, {V}) -> (tensor<i32>, {V})",
        f"    return %0#1 : {V}",
        "  }",
        f"  func.func private @main_body0(%arg0: tensor<i32>, %arg1: {V}, %arg2: {V}) -> "
        f"(tensor<i32>, {V}) {{",
        "    %c = stablehlo.constant dense<1> : tensor<i32>",
        "    %0 = stablehlo.add %arg0, %c : tensor<i32>",
        f"    %1 = stablehlo.add %arg1, %arg2 : {V}",
        f"    return %0, %1 : tensor<i32>, {V}",
        "  }",
        "}",
    ]


def test_a_loop_that_ends_by_data_has_a_condition() -> None:
    """What no iteration changes is passed to body and condition, but not carried."""
    text = loop(3).replace("%i = %zero", "%i = %s").replace("(%x:", "(%s: tensor<i32>, %x:")
    result = printed(text, PASS)
    assert "<{body = @main_body0, condition = @main_condition0}>" in result
    assert f"@main_condition0(%arg0: tensor<i32>, %arg1: {V}) -> tensor<i1> {{" in result


@pytest.mark.parametrize(
    ("start", "end", "step", "direction", "iterations"),
    [
        (0, 1_000_000, 1, "LT", 1_000_000),
        (0, 1_000_000, 3, "LT", 333_334),
        (5, 1_000_000, 1, "LE", 999_996),
        (1_000_000, 0, -1, "GT", 1_000_000),
        (1_000_000, 0, -7, "GE", 142_858),
        (-9, 990, 3, "NE", 333),
    ],
)
def test_the_iterations_of_a_counter(
    start: int, end: int, step: int, direction: str, iterations: int
) -> None:
    """They are computed, not followed."""
    text = loop(end).replace("dense<0>", f"dense<{start}>", 1)
    text = text.replace("dense<1>", f"dense<{step}>")
    text = text.replace("compare LT", f"compare {direction}")
    assert while_of(text) == f"body = @main_body0, trip_count = {iterations} : i64"


def test_a_counter_that_doubles_is_followed() -> None:
    """1, 2, 4 ... 2048 are 12 numbers below 4000."""
    text = loop(4000).replace("dense<0>", "dense<1>").replace("stablehlo.add %i, %one", DOUBLE)
    assert while_of(text, f"{PASS}=max-trip-count=1").endswith("trip_count = 12 : i64")


DOUBLE = "stablehlo.add %i, %i"


def test_large_branches_are_called() -> None:
    """Of small ones, all are computed."""
    many = "".join(f"abs %x : {V}\n%y{i} = stablehlo." for i in range(14)) + "abs"
    text = branches("0", many, "negate", "cosine")
    fewer = many.partition("\n")[2].partition(".")[2]
    assert "stablehlo.select" in printed(branches("0", fewer, "negate", "cosine"), PASS)
    result = printed(text, PASS)
    assert (
        '"ttir.case"(%arg0, %arg1) <{branches = [@main_branch0, @main_branch1, @main_branch2]}>'
        in result
    )
    assert "select" not in result
