"""The text of an operation of ttkernel, from the definition of its call."""

from __future__ import annotations

from collections.abc import Sequence

from ttmlir.dialects.ttkernel import RESULT_TYPES
from ttmlir.mlir.printing import attribute_text
from ttmlir.optable.kernel import KernelCall, Template, TemplateKind, ValueKind
from ttmlir.optable.kernel.kernel_call import ENUMS

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
        attributes[call.text] = '"x = {}, y = {}"'
    texts = ", ".join(f"{name} = {attributes[name]}" for name in sorted(attributes))
    return f" <{{{texts}}}>" if texts else ""


def operand_types(call: KernelCall) -> list[str]:
    """The types of the operands."""
    if call.variadic:
        return ["i32", "f32"]
    types = [type_of(kind, position) for position, (_, kind) in enumerate(call.operands)]
    return types[::-1] if call.mnemonic.startswith("untilize_") else types


def operation(call: KernelCall, operands: Sequence[str], result: str) -> str:
    """The operation's line, with the names of its operands and its result."""
    type = TYPES[call.result[1]] if call.result else "()"
    assigned = f"{result} = " if call.result else ""
    line = f'{assigned}"ttkernel.{call.mnemonic}"({", ".join(operands)}){properties(call)}'
    return f"{line} : ({', '.join(operand_types(call))}) -> {type}"
