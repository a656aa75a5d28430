"""The page of frontends: what becomes of every operation that models are written in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from markdown_text import wrap

from ttmlir.dialects import DIALECTS
from ttmlir.frontend.torch import supported
from ttmlir.mlir.context import make_context
from ttmlir.passes.control.flattening import CONTROL
from ttmlir.passes.control.regions import RULES as REGIONS
from ttmlir.passes.linalg.convert_arith_to_ttir import CONVERTED as ARITH
from ttmlir.passes.linalg.convert_linalg_to_ttir import RULES as LINALG
from ttmlir.passes.stablehlo.complex.stablehlo_expand_complex import RULES as COMPLEX
from ttmlir.passes.stablehlo.convert_stablehlo_to_ttir import CONVERTED as STABLEHLO
from ttmlir.passes.stablehlo.linear_algebra.stablehlo_expand_linear_algebra import OPERATIONS
from ttmlir.passes.stablehlo.quantization.stablehlo_legalize_quant_to_math import (
    RULES as QUANTIZED,
)
from ttmlir.passes.stablehlo.specification.stablehlo_expand_operations import RULES as RARE
from ttmlir.passes.stablehlo.specification.structure import UNUSED
from ttmlir.passes.tosa.convert_tosa_to_ttir import CONVERTED as TOSA

INTRODUCTION = """\
# Operations of the frontends

What becomes of every operation that models are written in, read from the dialects and from the
tables of the conversions. [models.md](models.md) says how to use the
frontends. *Converted*
operations become ttir; a form of one that cannot (a shape that is only known at run time, say) is
refused with its reason. The others are refused by name, with the place in the source, unless they
only serve converted ones, such as the ends of bodies.
"""

_DIALECTS = {
    "StableHLO (JAX)": (("stablehlo", "chlo", "sdy"), STABLEHLO),
    "TOSA": (("tosa",), TOSA),
    "linalg, tensor, arith and math on tensors": (
        ("linalg", "tensor", "arith", "math"),
        {*LINALG, *ARITH},
    ),
}
"""Frontends with their dialects and the names of what is converted."""

_COMPLEX = {name for name in COMPLEX if name.startswith(("stablehlo.", "chlo."))}
_FLATTENED = {
    *REGIONS,
    *(*CONTROL, *OPERATIONS, *UNUSED, "stablehlo.composite", "stablehlo.return"),
    *((_COMPLEX | RARE.keys() | QUANTIZED.keys()) - STABLEHLO.keys()),
}
"""What is gone before: control flow, composites, and what is written in terms of others."""


def frontends_page() -> str:
    """The page as Markdown."""
    return "\n".join([INTRODUCTION, *_sections(), *_aten()])


@cache
def states_of_dialects() -> dict[str, dict[str, dict[str, set[str]]]]:
    """By frontend and dialect: the names of operations in each state."""
    context = make_context(DIALECTS)
    frontends: dict[str, dict[str, dict[str, set[str]]]] = {}
    for title, (dialects, converted) in _DIALECTS.items():
        frontends[title] = {}
        for dialect in dialects:
            loaded = context.get_optional_dialect(dialect)
            assert loaded is not None, f"{dialect} is a registered dialect"
            mine = {name for name in converted if name.startswith(f"{dialect}.")}
            names = {op.name for op in loaded.operations} | mine
            flattened = names & _FLATTENED
            frontends[title][dialect] = {
                "Converted": mine - flattened,
                "Replaced before": flattened,
                "Not converted": names - mine - flattened,
            }
    return frontends


@cache
def states_of_aten() -> dict[bool, dict[str, set[str]]]:
    """For the core operator set (True) and beyond it: the names of overloads in each state."""
    overloads = supported()
    titles = {
        "rule": "Converted",
        "decomposed": "Decomposed",
        "constant": "Computed by torch while it is read",
        "place": "Taken as a place in a tensor",
        "refused": "Not converted",
    }
    return {
        is_core: {
            title: {each.name for each in overloads if (each.core, each.state) == (is_core, state)}
            for state, title in titles.items()
        }
        for is_core in (True, False)
    }


def _sections() -> Iterator[str]:
    for title, dialects in states_of_dialects().items():
        yield f"## {title}\n"
        for dialect, states in dialects.items():
            count = sum(map(len, states.values()))
            yield from _table(f"`{dialect}`, {count} operations", states, f"{dialect}.")


def _aten() -> Iterator[str]:
    yield "## ATen (torch)\n"
    yield "Overloads of the operations that `torch.export` leaves; `.default` is left out.\n"
    titles = {True: "Core operator set", False: "Beyond the core operator set"}
    for is_core, states in states_of_aten().items():
        count = sum(map(len, states.values()))
        yield from _table(f"{titles[is_core]}, {count} overloads", states, "aten.")


def _table(title: str, states: dict[str, set[str]], prefix: str) -> Iterator[str]:
    yield f"### {title}\n"
    for state, names in states.items():
        if names:
            yield wrap(f"**{state}** ({len(names)}): {_listed(names, prefix)}") + "\n"


def _listed(names: Iterable[str], prefix: str) -> str:
    short = (name.removeprefix(prefix).removesuffix(".default") for name in names)
    return " ".join(f"`{name}`" for name in sorted(short))
