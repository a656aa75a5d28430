"""Every row of the table of kernel calls is an operation that reads, verifies and prints."""

from __future__ import annotations

import pytest
from ir_text import parse

from ttmlir.dialects.ttkernel import RESULT_TYPES
from ttmlir.mlir.printer import attribute_text
from ttmlir.optable.kernel import CALLS, KernelCall, Template, TemplateKind, ValueKind
from ttmlir.optable.kernel.enums import ENUMS

TYPES = {
    **{kind: attribute_text(type) for kind, type in RESULT_TYPES.items()},
    ValueKind.ADDRESS: "!ttkernel.local_semaphore",
}


def type_of(kind: ValueKind, position: int) -> str:
    """A type of the kind; circular buffers are rows first and tiles then, as tilize has them."""
    if kind is not ValueKind.CB:
        return TYPES[kind]
    element = "!tt.tile<32x32, f32>" if position else "f32"
    return f"!ttkernel.cb<cb_in{position}, 1024, memref<64x128x{element}>, 4096, 1>"


def template_value(template: Template) -> str:
    """An attribute for a template argument."""
    match template.kind:
        case TemplateKind.TYPE:
            return '"int32_t"'
        case TemplateKind.BOOL:
            return "true"
        case TemplateKind.INT:
            return "4 : i32"
        case TemplateKind.ENUM:
            return f'"{list(ENUMS[template.enum].members)[-1]}"'


def properties(call: KernelCall) -> str:
    """Every attribute that the operation can have."""
    attributes = {name: "2 : i32" for name in (*call.data_types, *call.constants)}
    attributes |= {template.name: template_value(template) for template in call.templates}
    if call.text:
        attributes[call.text] = '"x = {}"'
    texts = ", ".join(f"{name} = {attributes[name]}" for name in sorted(attributes))
    return f" <{{{texts}}}>" if texts else ""


def operation(call: KernelCall) -> tuple[str, list[str]]:
    """The operation's line, and the types of its operands, which are the function's arguments."""
    types = [type_of(kind, position) for position, (_, kind) in enumerate(call.operands)]
    if call.mnemonic.startswith("untilize_"):
        types.reverse()
    if call.variadic:
        types = ["i32", "f32"]
    result = TYPES[call.result[1]] if call.result else "()"
    names = ", ".join(f"%arg{i}" for i in range(len(types)))
    assigned = "%0 = " if call.result else ""
    line = f'{assigned}"ttkernel.{call.mnemonic}"({names}){properties(call)}'
    return f"{line} : ({', '.join(types)}) -> {result}", types


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.mnemonic)
def test_operation_of_every_row(call: KernelCall) -> None:
    """The generic text with everything that the row names is printed as it was read."""
    line, types = operation(call)
    arguments = ", ".join(f"%arg{i}: {type}" for i, type in enumerate(types))
    text = f"module {{\n  func.func @f({arguments}) {{\n    {line}\n    return\n  }}\n}}\n"
    assert line in str(parse(text))
