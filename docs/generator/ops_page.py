"""The page of operations: tables of elementwise operations, and a section for each other one."""

from __future__ import annotations

from collections.abc import Iterator

from examples import HEADER, function_text
from ttmlir.optable import ROWS
from ttmlir.optable.row import Family, Parameter, Row

TITLE = "# Operations"
INTRODUCTION = """\
Every operation of the dialects `ttir` and `ttnn` that computes, from the operation table in
[`ttmlir/optable/`](../ttmlir/optable). Each example compiles and runs as it stands, with this line
before it:

```mlir
{header}```

Elementwise operations broadcast their operands as NumPy does, and are all written like the example
of their family. Parameters are written with the type that is given: `dim = 1 : si32`,
`keep_dim = true`, `dim_arg = [1 : i32]`, `padding = array<i32: 1, 2>`.

*Record* is the table and kind of the operation in a `.ttnn` file; *version* is that of tt-mlir that
has it first.
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


def ops_page() -> str:
    """The page as Markdown."""
    return "\n".join([TITLE, "", INTRODUCTION.format(header=HEADER), *_sections()])


def rows_of(family: Family) -> list[Row]:
    """The rows of a family, in the order of the table."""
    return [row for row in ROWS.values() if row.family is family]


def _sections() -> Iterator[str]:
    for family, title in FAMILY_TITLES.items():
        yield f"## {title}\n"
        rows = rows_of(family)
        if family in _ELEMENTWISE:
            yield f"```mlir\n{function_text(rows[0])}```\n"
            yield "| Operation | Result | Parameters | Dialects | Record | Version |"
            yield "|---|---|---|---|---|---|"
            yield from map(_line, rows)
            yield ""
            continue
        written: dict[object, str] = {}
        for row in rows:
            yield from _section(row, written)


_ELEMENTWISE = (Family.UNARY, Family.BINARY, Family.TERNARY)


def _line(row: Row) -> str:
    """An elementwise operation as a line of a table."""
    formula = (row.formula or "").replace("|", "\\|")
    result = f"`{formula}`: {row.summary}" if formula else row.summary
    signature = row.ttir_signature if row.in_ttir else row.parameters
    parameters = ", ".join(f"`{each.name}` ({each.kind.value})" for each in signature)
    dialects = ", ".join(
        name for name, there in (("ttir", row.in_ttir), ("ttnn", row.in_ttnn)) if there
    )
    record = ""
    if row.flatbuffer is not None:
        record = f"`{' '.join(filter(None, (row.flatbuffer.table, row.flatbuffer.kind)))}`"
    version = str(row.since) if row.extends_reference else ""
    cells = (f"`{row.mnemonic}`", result, parameters, dialects, record, version)
    return f"| {' | '.join(cells)} |"


def _section(row: Row, written: dict[object, str]) -> Iterator[str]:
    """The section of an operation; `written` has those with an example, by what it shows."""
    yield f"### `{row.mnemonic}`\n"
    yield f"{row.summary}\n"
    if row.formula:
        formula = row.formula if row.formula.startswith("output[") else f"output = {row.formula}"
        yield f"    {formula}\n"
    yield from _parameter_list(row)
    yield f"{_facts(row)}\n"
    if row.in_ttir:
        text = function_text(row)
        shown = text.replace(f"@{row.mnemonic}(", "").replace(f'"ttir.{row.mnemonic}"', "")
        like = written.setdefault(shown, row.mnemonic)
        yield f"```mlir\n{text}```\n" if like == row.mnemonic else f"Written like `{like}`.\n"


def _parameter_list(row: Row) -> Iterator[str]:
    if not row.in_ttir:
        yield from _listed("Parameters", row.parameters)
    elif row.in_ttnn and row.parameters != row.ttir_signature:
        yield from _listed("Parameters in ttir", row.ttir_signature)
        yield from _listed("Parameters in ttnn", row.parameters)
    else:
        yield from _listed("Parameters", row.ttir_signature)


def _listed(title: str, parameters: tuple[Parameter, ...]) -> Iterator[str]:
    if not parameters:
        return
    yield f"{title}:\n"
    for parameter in parameters:
        optional = ", optional" if parameter.optional else ""
        doc = f": {parameter.doc}" if parameter.doc else ""
        yield f"- `{parameter.name}` ({parameter.kind.value}{optional}){doc}"
    yield ""


def _facts(row: Row) -> str:
    dialects = ", ".join(
        f"`{name}`" for name, there in (("ttir", row.in_ttir), ("ttnn", row.in_ttnn)) if there
    )
    facts = [f"In {dialects}"]
    if row.flatbuffer is not None:
        kind = f" {row.flatbuffer.kind}" if row.flatbuffer.kind else ""
        facts.append(f"record `{row.flatbuffer.table}{kind}`")
    if row.in_ttnn:
        facts.append(f"C++ `{row.callee}`")
    if row.extends_reference:
        facts.append(f"version {row.since}")
    return "; ".join(facts) + "."
