"""The page of operations: tables of elementwise operations, and a section for each other one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby

from examples import HEADER, function_text
from ttmlir.optable import ROWS
from ttmlir.optable.row import Family, Parameter, Row

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
    program = HEADER + function_text(rows_of(Family.UNARY)[0])
    return "\n".join([TITLE, "", INTRODUCTION.format(program=program), *_sections()])


def rows_of(family: Family) -> list[Row]:
    """The rows of a family, in the order of the table."""
    return [row for row in ROWS.values() if row.family is family]


def _sections() -> Iterator[str]:
    for family, title in FAMILY_TITLES.items():
        yield f"## {title}\n"
        rows = rows_of(family)
        if family in _ELEMENTWISE:
            yield from _elementwise(rows)
        else:
            for alike in _groups(rows):
                yield from _section(alike)


def _elementwise(rows: list[Row]) -> Iterator[str]:
    """Elementwise operations, all of which are written like the first."""
    if rows[0].family is Family.UNARY:
        yield "Operands of all elementwise operations broadcast as NumPy's do."
        yield "In a `.ttnn` file they are `EltwiseOp` of the kind `SomeName`.\n"
    else:
        yield f"```mlir\n{_example(rows[0])}```\n"
    for row in rows:
        signature = row.ttir_signature if row.in_ttir else row.parameters
        parameters = ", ".join(f"`{each.name}` ({each.kind.value})" for each in signature)
        yield _entry(row, f" Parameters: {parameters}." if parameters else "")
    yield ""


def _groups(rows: list[Row]) -> list[list[Row]]:
    """The rows by parameters and example, which are shown once."""
    groups: dict[object, list[Row]] = {}
    for row in rows:
        example = ""
        if row.in_ttir:
            example = function_text(row).replace(f"@{row.mnemonic}(", "")
        key = (tuple(_parameter_list(row)), example.replace(f'"ttir.{row.mnemonic}"', ""))
        groups.setdefault(key, []).append(row)
    return list(groups.values())


def _section(rows: list[Row]) -> Iterator[str]:
    """The section of operations that have parameters and example in common."""
    yield f"### {', '.join(f'`{row.mnemonic}`' for row in rows)}\n"
    if len(rows) > 1:
        yield from map(_entry, rows)
    else:
        yield _entry(rows[0]).partition(": ")[2]
    yield ""
    yield from _parameter_list(rows[0])
    if rows[0].in_ttir:
        yield f"```mlir\n{_example(rows[0])}```\n"


def _example(row: Row) -> str:
    """The lines of an example between those that create the destinations and the one that returns.

    They are what differs from one operation to the next.
    """
    text = re.sub(r"(, )?operand_constraints = \[[^]]*\](, )?", r"\2", function_text(row))
    lines = text.replace("<{, ", "<{").replace(" <{}>", "").splitlines(keepends=True)[1:-2]
    return "".join(line[2:] for line in lines if "tensor.empty" not in line)


def _entry(row: Row, parameters: str = "") -> str:
    """An operation as an entry of a list: what it computes, and where it has another name."""
    summary = re.sub(r"^1 where (.*), else 0([.;])", r"Whether \1\2", row.summary)
    formula = ""
    if (
        row.formula
        and row.formula not in (f"{row.mnemonic}(x)", "x")
        and row.formula not in summary
    ):
        formula = f" `{row.formula}`."
    facts = "; ".join(_facts(row))
    return f"- `{row.mnemonic}`: {summary}{formula}{parameters}{f' ({facts})' if facts else ''}"


def _facts(row: Row) -> Iterator[str]:
    if not (row.in_ttir and row.in_ttnn):
        yield f"`{'ttir' if row.in_ttir else 'ttnn'}` only"
    camel = "".join(word.capitalize() for word in row.mnemonic.split("_"))
    if row.flatbuffer is not None:
        table, kind = row.flatbuffer.table, row.flatbuffer.kind
        if row.family in _ELEMENTWISE and table == "EltwiseOp":
            if kind != camel:
                yield f"kind `{kind}`"
        elif table != f"{camel}Op" or kind:
            yield f"`{table}{f' {kind}' if kind else ''}`"
    elif row.in_ttnn:
        yield "in no file"
    if row.in_ttnn and row.callee != f"ttnn::{row.mnemonic}":
        yield f"`{row.callee}`"
    if not row.extends_reference:
        yield "2024"


def _parameter_list(row: Row) -> Iterator[str]:
    if not row.in_ttir:
        yield from _listed("Parameters", row.parameters)
    elif row.in_ttnn and row.parameters != row.ttir_signature:
        said = {(each.name, each.doc) for each in row.ttir_signature}
        rest = (
            replace(each, doc="") if (each.name, each.doc) in said else each
            for each in row.parameters
        )
        yield from _listed("Parameters in ttir", row.ttir_signature)
        yield from _listed("Parameters in ttnn", tuple(rest))
    else:
        yield from _listed("Parameters", row.ttir_signature)


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
