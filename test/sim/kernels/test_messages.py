"""Whole messages about kernels that are wrong: position, words, source line and caret."""

from __future__ import annotations

from pathlib import Path

import pytest
from oracles.kernel_oracle import RecordingApi

from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.optable.kernel import Role
from ttmlir.sim.kernels import compile_kernel

REFUSALS = (Path(__file__).parent / "Inputs" / "refusals.txt").read_text().split("\n\n")
"""A kernel, then `=> line:column: message`, then notes."""


@pytest.mark.parametrize("case", REFUSALS)
def test_messages_are_those_of_a_compiler(case: str) -> None:
    """The position is that of the mistake."""
    text, _, expected = case.strip().rpartition("\n=> ")
    line, column, message = expected.split(":", 2)
    message, *notes = message.split("\n")
    with pytest.raises(CppSyntaxError) as caught:
        compile_kernel(text, "kernel.cpp", Role.BRISC, api=RecordingApi, compile_time_args=(4, 5))
    shown = text.splitlines()[int(line) - 1]
    first = f"kernel.cpp:{line}:{column}: error:{message}"
    assert str(caught.value) == "\n".join([first, shown, f"{'^':>{int(column)}}", *notes])
