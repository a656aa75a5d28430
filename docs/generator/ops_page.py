"""The page of operations: tables of elementwise operations, and a section for each other one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby

from examples import HEADER, function_text
from ttmlir.optable import DEFINITIONS
from ttmlir.optable.op_definition import Family, OpDefinition, Parameter

TITLE = "# Operations"
INTRODUCTION = """\
Every operation of the dialects `ttir` and `ttnn` that computes, from the operation table in
[`ttmlir/optable/`](../ttmlir/optable). A whole program, which compiles and runs as it stands:

```mlir
{program}```

The other examples show the operation alone, without the `operand_constraints` that it has for each
operand; `%0` is a `tensor.empty` of the result's type, to which the operation writes.

Unless its entry says otherwise, an operation `some_name` is in both dialects, is `ttnn::some_name`
in C++ and `SomeNameOp` in a `.ttnn` file, and is in tt-mlir by August 2026; 2024 stands at those
that it has had since September 2024. *Whether* something holds is 1 or 0.

Parameters are written with the type that is given: `dim = 1 : si32`, `keep_dim = true`,
`dim_arg = [1 : i32]`, `padding = array<i32: 1, 2>`.
"""

FAMILY_TITLES = {
    Family.UNARY: "Elementwise, one input",
    Family.BINARY: "Elementwise, two inputs",
    Family.TERNARY: "Elementwise, three inputs",
    Family.REDUCTION: "Reductions",
    Family.CONTRACTION: "Products of matrices",
    Family.NORMALIZATION: "Normalization",
    Family.WINDOW: "Windows",
    Family.LOOKUP: "Look-up",
    Family.ORDERING: "Ordering",
    Family.MOVEMENT: "Movement of elements",
    Family.CREATION: "Creation",
}


_ELEMENTWISE = (Family.UNARY, Family.BINARY, Family.TERNARY)


def ops_page() -> str:
    """The page as Markdown."""
    program = HEADER + function_text(definitions_of(Family.UNARY)[0])
    return "\n".join([TITLE, "", INTRODUCTION.format(program=program), *_sections()])


def definitions_of(family: Family) -> list[OpDefinition]:
    """The definitions of a family, in the order of the table."""
    return [definition for definition in DEFINITIONS.values() if definition.family is family]


def _sections() -> Iterator[str]:
    for family, title in FAMILY_TITLES.items():
        yield f"## {title}\n"
        definitions = definitions_of(family)
        if family in _ELEMENTWISE:
            yield from _elementwise(definitions)
        else:
            for alike in _groups(definitions):
                yield from _section(alike)


def _elementwise(definitions: list[OpDefinition]) -> Iterator[str]:
    """Elementwise operations, all of which are written like the first."""
    if definitions[0].family is Family.UNARY:
        yield "Operands of all elementwise operations broadcast as NumPy's do."
        yield "In a `.ttnn` file they are `EltwiseOp` of the kind `SomeName`.\n"
    else:
        yield f"```mlir\n{_example(definitions[0])}```\n"
    for definition in definitions:
        signature = definition.ttir_signature if definition.in_ttir else definition.parameters
        parameters = ", ".join(f"`{each.name}` ({each.kind.value})" for each in signature)
        yield _entry(definition, f" Parameters: {parameters}." if parameters else "")
    yield ""


def _groups(definitions: list[OpDefinition]) -> list[list[OpDefinition]]:
    """The definitions by parameters and example, which are shown once."""
    groups: dict[object, list[OpDefinition]] = {}
    for definition in definitions:
        example = ""
        if definition.in_ttir:
            example = function_text(definition).replace(f"@{definition.mnemonic}(", "")
        key = (
            tuple(_parameter_list(definition)),
            example.replace(f'"ttir.{definition.mnemonic}"', ""),
        )
        groups.setdefault(key, []).append(definition)
    return list(groups.values())


def _section(definitions: list[OpDefinition]) -> Iterator[str]:
    """The section of operations that have parameters and example in common."""
    yield f"### {', '.join(f'`{definition.mnemonic}`' for definition in definitions)}\n"
    if len(definitions) > 1:
        yield from map(_entry, definitions)
    else:
        yield _entry(definitions[0]).partition(": ")[2]
    yield ""
    yield from _parameter_list(definitions[0])
    if definitions[0].in_ttir:
        yield f"```mlir\n{_example(definitions[0])}```\n"


def _example(definition: OpDefinition) -> str:
    """The lines of an example between those that create the destinations and the one that returns.

    They are what differs from one operation to the next.
    """
    text = re.sub(r"(, )?operand_constraints = \[[^]]*\](, )?", r"\2", function_text(definition))
    lines = text.replace("<{, ", "<{").replace(" <{}>", "").splitlines(keepends=True)[1:-2]
    return "".join(line[2:] for line in lines if "tensor.empty" not in line)


def _entry(definition: OpDefinition, parameters: str = "") -> str:
    """An operation as an entry of a list: what it computes, and where it has another name."""
    summary = re.sub(r"^1 where (.*), else 0([.;])", r"Whether \1\2", definition.summary)
    formula = ""
    if (
        definition.formula
        and definition.formula not in (f"{definition.mnemonic}(x)", "x")
        and definition.formula not in summary
    ):
        formula = f" `{definition.formula}`."
    facts = "; ".join(_facts(definition))
    return (
        f"- `{definition.mnemonic}`: {summary}{formula}{parameters}{f' ({facts})' if facts else ''}"
    )


def _facts(definition: OpDefinition) -> Iterator[str]:
    if not (definition.in_ttir and definition.in_ttnn):
        yield f"`{'ttir' if definition.in_ttir else 'ttnn'}` only"
    camel = "".join(word.capitalize() for word in definition.mnemonic.split("_"))
    if definition.flatbuffer is not None:
        table, kind = definition.flatbuffer.table, definition.flatbuffer.kind
        if definition.family in _ELEMENTWISE and table == "EltwiseOp":
            if kind != camel:
                yield f"kind `{kind}`"
        elif table != f"{camel}Op" or kind:
            yield f"`{table}{f' {kind}' if kind else ''}`"
    elif definition.in_ttnn:
        yield "in no file"
    if definition.in_ttnn and definition.callee != f"ttnn::{definition.mnemonic}":
        yield f"`{definition.callee}`"
    if not definition.extends_reference:
        yield "2024"


def _parameter_list(definition: OpDefinition) -> Iterator[str]:
    if not definition.in_ttir:
        yield from _listed("Parameters", definition.parameters)
    elif definition.in_ttnn and definition.parameters != definition.ttir_signature:
        said = {(each.name, each.doc) for each in definition.ttir_signature}
        rest = (
            replace(each, doc="") if (each.name, each.doc) in said else each
            for each in definition.parameters
        )
        yield from _listed("Parameters in ttir", definition.ttir_signature)
        yield from _listed("Parameters in ttnn", tuple(rest))
    else:
        yield from _listed("Parameters", definition.ttir_signature)


def _listed(title: str, parameters: tuple[Parameter, ...]) -> Iterator[str]:
    """Parameters in their order; those of one type that need no words share a line."""
    if not parameters:
        return
    yield f"{title}:\n"
    for (kind, doc), alike in groupby(parameters, lambda each: (_kind(each), each.doc)):
        names = ", ".join(f"`{each.name}`" for each in alike)
        yield f"- {names} ({kind}){f': {doc}' if doc else ''}"
    yield ""


def _kind(parameter: Parameter) -> str:
    return f"{parameter.kind.value}{', optional' if parameter.optional else ''}"
