"""Every row of the table of kernel calls is an operation that reads, verifies and prints."""

from __future__ import annotations

import pytest
from ir_text import parse
from kernel_operations import operand_types, operation

from ttmlir.optable.kernel import CALLS, KernelCall


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.mnemonic)
def test_operation_of_every_row(call: KernelCall) -> None:
    """The generic text with everything that the row names is printed as it was read."""
    types = operand_types(call)
    line = operation(call, [f"%arg{i}" for i in range(len(types))], "%0")
    arguments = ", ".join(f"%arg{i}: {type}" for i, type in enumerate(types))
    text = f"module {{\n  func.func @f({arguments}) {{\n    {line}\n    return\n  }}\n}}\n"
    assert line in str(parse(text))
