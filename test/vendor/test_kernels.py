"""Modules of ttkernel and ttmetal of 2026: read, verified, printed, lowered as by tt-lang."""

from __future__ import annotations

import pytest
from kernels import KernelAnswer, answers, versions

from ttmlir.compiler import write_kernels
from ttmlir.dialects import DIALECTS
from ttmlir.mlir.context import make_context
from ttmlir.mlir.module_printer import print_module
from ttmlir.mlir.reader import parse_module
from ttmlir.mlir.reporting import DiagnosticError
from ttmlir.mlir.verifier import verify_module
from ttmlir.passes.emitc.convert_ttkernel_to_emitc import convert_kernels

CONTEXT = make_context(DIALECTS)
GROUPS = 8
_SAMPLE = 2
"""Groups that `make test` takes."""


def print_again(text: str) -> str:
    """The text of the module that a text spells, which is verified."""
    module = parse_module(text, "kernel.mlir", CONTEXT)
    assert verify_module(module) == []
    return print_module(module).rstrip("\n")


def group_of(number: int) -> list[KernelAnswer]:
    """Every `GROUPS`-th answer."""
    return answers()[number::GROUPS]


of_groups = pytest.mark.parametrize(
    "number",
    [
        pytest.param(number, marks=[] if number < _SAMPLE else [pytest.mark.exhaustive])
        for number in range(GROUPS)
    ],
)


@pytest.mark.sampled(every=2)
@of_groups
def test_text(number: int) -> None:
    """Both forms of a module are printed as tt-lang prints it."""
    for answer in group_of(number):
        if answer.printed is not None:
            expected = answer.printed.rstrip("\n")
            assert print_again(answer.given) == expected
            assert print_again(expected) == expected


@pytest.mark.sampled(every=2)
@of_groups
def test_emitc(number: int) -> None:
    """The lowered module is the same, and is read and printed again."""
    for answer in group_of(number):
        if answer.emitc is not None:
            module = parse_module(answer.given, "kernel.mlir", CONTEXT)
            convert_kernels(module)
            expected = answer.emitc.rstrip("\n")
            assert print_module(module).rstrip("\n") == expected
            assert print_again(expected) == expected


@of_groups
def test_cpp(number: int) -> None:
    """So is the C++, from ttkernel and from emitc."""
    for answer in group_of(number):
        if answer.cpp is not None:
            assert answer.emitc is not None
            for text in (answer.given, answer.emitc):
                module = parse_module(text, "kernel.mlir", CONTEXT)
                assert write_kernels(module).rstrip("\n") == answer.cpp.rstrip("\n")


def message_of(text: str) -> str:
    """What is wrong with a module."""
    try:
        found = verify_module(parse_module(text, "kernel.mlir", CONTEXT))
    except DiagnosticError as error:
        return error.diagnostics[0].message
    return found[0].message


@pytest.mark.exhaustive
def test_messages() -> None:
    """Wrong modules get the same messages."""
    wrong = [answer for answer in answers() if answer.error is not None]
    assert [message_of(answer.given) for answer in wrong] == [answer.error for answer in wrong]


def test_operations() -> None:
    """All 275 operations of the dialect in July 2026 are there, 240 programs, wrong modules."""
    names = {answer.op for answer in answers() if answer.printed is not None}
    assert len(names - {"flow", "program", "ttmetal"}) == 275
    assert sum(answer.op == "program" for answer in answers()) == 240
    assert sum(answer.error is not None for answer in answers()) == 446
    assert versions() == {"tt-lang": "1.1.1"}
