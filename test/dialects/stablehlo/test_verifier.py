"""What is wrong with an operation is found where jaxlib finds it, and said in its words."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.stablehlo_oracle import IR, context, reprinted

from ttmlir.dialects import DIALECTS
from ttmlir.mlir.context import make_context
from ttmlir.mlir.module_printer import print_module
from ttmlir.mlir.reader import parse_module
from ttmlir.mlir.reporting import DiagnosticError
from ttmlir.mlir.verifier import verify_module

INPUTS = Path(__file__).parent / "Inputs"
FAULTY = INPUTS.joinpath("faulty_operations.mlir").read_text().splitlines()[1:]
OWN_WORDS = INPUTS.joinpath("faults_in_own_words.txt").read_text().split("\n\n")
"""Operations that jaxlib refuses in other words, and ours."""
PRETTY = reprinted(INPUTS.joinpath("every_operation.mlir").read_text())
HEAD = (
    "func.func @f(%a: tensor<2x3xf32>, %b: tensor<4x3xf32>, %i: tensor<i32>, %s: tensor<f32>, "
    "%v: tensor<3xf32>, %k: tensor<4x3x3xf32>, %ii: tensor<2x3xi32>, %p: tensor<2x3xi1>, "
    "%im: tensor<1x8x8x4xf32>, %w: tensor<3x3x4x5xf32>, %iv: tensor<3x1xi32>, "
    "%u: tensor<3x3xf32>) {\n"
)
OTHER_WORDS = ("stablehlo.add %a, %b", "stablehlo.add %a, %ii", "stablehlo.get_tuple_element")
"""Faults of `add`, which jaxlib alone of all binary operations words in another way, and of parts
of what is no tuple, where it lists all element types of tensors."""


def our_fault(text: str) -> str | None:
    """The first fault that we find, without its place; None for a valid module."""
    try:
        module = parse_module(text, "input.mlir", make_context(DIALECTS))
    except DiagnosticError as error:
        return error.diagnostics[0].message
    faults = verify_module(module)
    return faults[0].message if faults else None


def their_faults(text: str) -> str | None:
    """All that jaxlib says of a module; None for a valid one."""
    try:
        reprinted(text)
    except IR.MLIRError as error:
        return str(error)
    return None


@pytest.mark.parametrize("operation", FAULTY)
def test_faults_are_those_that_jaxlib_finds(operation: str) -> None:
    """The same verdict; the same words but for the operation's name before them."""
    text = f"{HEAD}{operation}\nreturn\n}}"
    expected, got = their_faults(text), our_fault(text)
    assert (got is None) == (expected is None), (got, expected)
    if got is not None and expected is not None:
        words = got.partition("' op ")[2] or got
        assert words in expected or any(other in operation for other in OTHER_WORDS)


@pytest.mark.parametrize("case", OWN_WORDS)
def test_faults_in_own_words(case: str) -> None:
    """Where StableHLO checks in another order, the fault is found all the same."""
    operation, words = case.strip().split("\n")
    text = f"{HEAD}{operation}\nreturn\n}}"
    assert their_faults(text) is not None
    assert our_fault(text) == words


def test_a_reduction_without_initial_value() -> None:
    """jaxlib looks for the operand that is missing, and may crash."""
    operation = (
        '%0 = "stablehlo.reduce"(%a) <{dimensions = array<i64: 1>}> ({ '
        "^bb0(%x: tensor<f32>, %y: tensor<f32>): stablehlo.return %x : tensor<f32> }) "
        ": (tensor<2x3xf32>) -> tensor<2xf32>"
    )
    words = "'stablehlo.reduce' op expected 2 or more operands, but found 1"
    assert our_fault(f"{HEAD}{operation}\nreturn\n}}") == words


PIECES = ("", " ", "0", "-1", "9", "[", "]", "<", ">", "(", ")", "{", ",", ":", "x", "%0", "tensor")


@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_altered_texts_never_end_in_a_traceback(data: st.DataObject) -> None:
    """A line of each operation's text with a piece replaced is read, or refused with a place."""
    lines = PRETTY.splitlines()
    for _ in range(2):
        number = data.draw(st.integers(2, len(lines) - 3))
        line = lines[number]
        start = data.draw(st.integers(0, max(0, len(line) - 1)))
        end = data.draw(st.integers(start, min(len(line), start + 4)))
        altered = line[:start] + data.draw(st.sampled_from(PIECES)) + line[end:]
        text = "\n".join([*lines[:number], altered, *lines[number + 1 :]])
        try:
            module = parse_module(text, "input.mlir", make_context(DIALECTS))
        except DiagnosticError:
            continue
        if not verify_module(module):
            print_module(module)


def test_context_of_the_oracle_knows_the_dialects() -> None:
    """The oracle is asked about operations that it knows."""
    with context() as made:
        assert made.is_registered_operation("stablehlo.add")
