"""Documentation of operations that are made from rows."""

from __future__ import annotations

from ttmlir.optable.row import Parameter, Row


def _parameter_line(parameter: Parameter) -> str:
    optional = ", optional" if parameter.optional else ""
    meaning = f": {parameter.doc}" if parameter.doc else ""
    return f"`{parameter.name}` ({parameter.kind.value}{optional}){meaning}"


def described(row: Row, dialect: str) -> str:
    """The docstring of an operation class: meaning, formula, operands, parameters, origin."""
    parts = [row.summary]
    if row.formula:
        parts.append(f"output = {row.formula}" if "=" not in row.formula else row.formula)
    parameters = row.ttir_signature if dialect == "ttir" else row.parameters
    if parameters:
        parts.append("\n".join(map(_parameter_line, parameters)))
    parts.append(f"In tt-mlir since {row.since}.")
    return "\n\n".join(parts)
