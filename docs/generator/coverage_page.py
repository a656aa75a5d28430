"""The page of what the direct-to-metal path compiles: tried with the example of each operation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from examples import HEADER, function_text
from ttmlir.dialects import DIALECTS
from ttmlir.layout.errors import LayoutError
from ttmlir.mlir.context import make_context
from ttmlir.mlir.reader import parse_module
from ttmlir.mlir.reporting import DiagnosticError
from ttmlir.mlir.verifier import verify_module
from ttmlir.optable import DEFINITIONS
from ttmlir.optable.op_definition import Domain, Family, OpDefinition
from ttmlir.passes.d2m.frontend.ttir_to_d2m import TTIRToD2MPass
from ttmlir.passes.pipelines.ttir_to_ttmetal import TTIRToTTMetalPipeline

ELEMENTS = ("f32", "bf16", "i32", "ui32", "i16", "i1")
"""Types that are tried; `f16` goes as `bf16` does, `i8`, `ui8` and `ui16` as `i16`."""

INTRODUCTION = """\
# What becomes fused kernels

What [`ttir-to-ttmetal-pipeline`](passes.md#ttir-to-ttmetal-pipeline) compiles, tried with the
examples of [ops.md](ops.md) in six element types: `f16` goes as `bf16` does, `i8`, `ui8` and `ui16`
as `i16`. Shapes need not be multiples of 32. An operation is refused with its position and the
reason, where none is given because kernels do not compute it; `ttir-to-ttnn-backend-pipeline`
computes all of them.
"""

_USUAL = "kernels do not compute it"
"""The reason that is left out."""
_LEGALIZE = re.compile(r"failed to legalize operation '[^']*': (.*)", re.DOTALL)


def coverage_page() -> str:
    """The page as Markdown: an entry for the operations that fare alike."""
    return "\n".join([INTRODUCTION, *_entries()]).rstrip() + "\n"


def _entries() -> Iterator[str]:
    definitions = [definition for definition in DEFINITIONS.values() if definition.in_ttir]
    found = sorted((_outcome(definition), definition.mnemonic) for definition in definitions)
    for (types, refused), group in groupby(found, key=lambda each: each[0]):
        names = " ".join(f"`{name}`" for _, name in group)
        states = [types] if types else []
        states += [f"refused: {refused}"] if refused else []
        yield f"- {names}: {'; '.join(states)}"


def _outcome(definition: OpDefinition) -> tuple[str, str]:
    """The types that an operation is compiled in, and why it is not in others."""
    outcomes = {element: _try(definition, element) for element in ELEMENTS}
    compiled = [element for element, reason in outcomes.items() if reason == ""]
    reasons: dict[str, list[str]] = {}
    for element, reason in outcomes.items():
        if reason:
            for each in ELEMENTS:
                reason = reason.removesuffix(f" of {each}").removesuffix(f", got {each}")
            reasons.setdefault(reason, []).append(element)
    refused = [
        _codes(elements) if reason == _USUAL else f"{_codes(elements)} ({reason})"
        for reason, elements in reasons.items()
    ]
    types = "all types" if len(compiled) == len(ELEMENTS) else _codes(compiled)
    return types, ", ".join(refused)


def _codes(elements: list[str]) -> str:
    return " ".join(f"`{element}`" for element in elements)


def _try(definition: OpDefinition, element: str) -> str | None:
    """Why the example of an operation is refused; "" if it is not, None if ttir has it not."""
    is_float = element.startswith(("f", "bf"))
    is_of_integers = all(domain in (Domain.INTEGER, Domain.SHIFT) for domain in definition.domains)
    if is_of_integers and is_float and definition.operands:
        return None
    own = "i32" if is_of_integers and definition.operands else "f32"
    text = re.sub(rf"(?<=[x<]){own}>", f"{element}>", function_text(definition))
    if definition.family is Family.CREATION and not is_float:
        text = re.sub(r"(\d)\.0\b", r"\1", text)
    context = make_context(DIALECTS)
    try:
        module = parse_module(HEADER + text, "example.mlir", context)
        if verify_module(module):
            return None
    except (DiagnosticError, LayoutError):
        return None
    try:
        for each in TTIRToTTMetalPipeline().passes():
            each.run(context, module)
            if isinstance(each, TTIRToD2MPass):
                break
    except DiagnosticError as error:
        found = _LEGALIZE.search(str(error))
        reason = found[1] if found else str(error)
        return (
            reason.split("\n")[0]
            .split(";")[0]
            .replace(f"compute {definition.mnemonic} ", "compute it ")
        )
    return ""
