"""Documentation of operations that are made from rows.

Each docstring says, in this order: the meaning in a sentence, the formula, the parameters, the
constraints that the verifier checks (C1, C2 ...), the form in the text, and where the operation
comes from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from inspect import cleandoc

from xdsl.ir import Operation

from ttmlir.dialects.definition.ods import Signature
from ttmlir.optable.row import Parameter, Row


def describe(
    name: str,
    row: Row,
    parameters: Sequence[Parameter],
    signature: Signature,
    check: Callable[[Operation], None] | None,
) -> str:
    """The docstring of the class of operation `name`."""
    parts = [
        row.summary,
        _formula(row),
        "\n".join(map(_parameter_line, parameters)),
        _constraints(check),
        f"Form:\n    {_form(name, signature)}",
        f"In tt-mlir since {row.since}.",
    ]
    return "\n\n".join(part for part in parts if part)


def _formula(row: Row) -> str:
    return row.formula if not row.formula or "=" in row.formula else f"output = {row.formula}"


def _parameter_line(parameter: Parameter) -> str:
    optional = ", optional" if parameter.optional else ""
    meaning = f": {parameter.doc}" if parameter.doc else ""
    return f"`{parameter.name}` ({parameter.kind.value}{optional}){meaning}"


@cache
def _constraints(check: Callable[[Operation], None] | None) -> str:
    if check is None:
        return ""
    return cleandoc(check.__doc__ or "").partition("\n\n")[2]


def _form(name: str, signature: Signature) -> str:
    operands = ", ".join(
        f"%{value.name}{'...' if value.variadic else '?' if value.optional else ''}"
        for value in signature.operands
    )
    properties = ", ".join(
        f"{prop.name}{'?' if prop.optional else ''}" for prop in signature.properties
    )
    shown = f" <{{{properties}}}>" if properties else ""
    return f'%{signature.results[0].name} = "{name}"({operands}){shown}'
