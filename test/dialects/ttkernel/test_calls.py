"""Every definition of the table of kernel calls is an operation that reads, verifies and prints."""

from __future__ import annotations

from cores.kernel_operations import operand_types, operation
from running.ir_text import parse

from ttmlir.optable.kernel import CALLS


def test_operation_of_every_call() -> None:
    """The generic text with everything that the definition names is printed as it was read."""
    lines: list[str] = []
    functions: list[str] = []
    for call in CALLS:
        types = operand_types(call)
        line = operation(call, [f"%arg{i}" for i in range(len(types))], "%0")
        arguments = ", ".join(f"%arg{i}: {type}" for i, type in enumerate(types))
        lines.append(line)
        functions.append(f"func.func @f{len(lines)}({arguments}) {{\n{line}\nreturn\n}}")
    printed = map(str.strip, str(parse("\n".join(functions))).splitlines())
    assert [line for line in printed if line.startswith(('"ttkernel.', "%0 = "))] == lines
