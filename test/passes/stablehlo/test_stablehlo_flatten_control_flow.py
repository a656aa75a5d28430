"""Branches become choices between all of their results, and loops their turns."""

from __future__ import annotations

import pytest
from running.pass_runner import body, lowered

from ttmlir.mlir.reporting.diagnostics import DiagnosticError

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


def loop(turns: int) -> str:
    """A function that doubles its argument in each turn."""
    return (
        f"func.func @main(%x: {V}) -> {V} {{\n"
        "%zero = stablehlo.constant dense<0> : tensor<i32>\n"
        f"%0:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, {V} cond {{\n"
        f"%n = stablehlo.constant dense<{turns}> : tensor<i32>\n"
        "%1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
        "stablehlo.return %1 : tensor<i1>\n} do {\n"
        "%one = stablehlo.constant dense<1> : tensor<i32>\n"
        "%1 = stablehlo.add %i, %one : tensor<i32>\n"
        f"%2 = stablehlo.add %v, %v : {V}\n"
        f"stablehlo.return %1, %2 : tensor<i32>, {V}\n}}\nreturn %0#1 : {V}\n}}"
    )


def test_loops_have_as_many_turns_as_they_may() -> None:
    """One more is refused."""
    assert len(body(loop(3), f"{PASS}=max-trip-count=3")) == 4
    with pytest.raises(DiagnosticError) as caught:
        lowered(loop(4), f"{PASS}=max-trip-count=3")
    assert str(caught.value) == (
        "test.mlir:3:8: error: failed to legalize operation 'stablehlo.while': it has more than "
        "3 turns, which would be written out one by one; raise max-trip-count, or make the loop "
        "shorter"
    )
    assert len(body(loop(64), PASS)) == 65
    with pytest.raises(DiagnosticError, match="it has more than 64 turns"):
        lowered(loop(65), PASS)


def test_the_end_of_a_loop_is_known() -> None:
    """Where it depends on data, what is supported is said."""
    text = loop(3).replace("%i = %zero", "%i = %s").replace("(%x:", "(%s: tensor<i32>, %x:")
    with pytest.raises(DiagnosticError) as caught:
        lowered(text, PASS)
    assert str(caught.value) == (
        "test.mlir:3:8: error: failed to legalize operation 'stablehlo.while': its number of turns "
        "depends on data; supported are loops whose condition compares integers that are known "
        "while compiling, such as those of jax.lax.scan and of jax.lax.fori_loop with constant "
        "bounds"
    )
