"""The page of frontends: which operations of the languages of models become ttir."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache

from markdown_text import wrap
from onnx_section import onnx_section

from ttmlir.dialects import DIALECTS
from ttmlir.frontend.torch import supported
from ttmlir.mlir.context import make_context
from ttmlir.passes.control_flow.flatten_control_flow import RULES as REGIONS
from ttmlir.passes.control_flow.flattening import CONTROL
from ttmlir.passes.convert_linalg_to_ttir import RULES as LINALG
from ttmlir.passes.linalg.convert_arith_to_ttir import CONVERTED as ARITH
from ttmlir.passes.shardy.spreading.flow import SETTLED
from ttmlir.passes.stablehlo.complex.stablehlo_expand_complex import RULES as COMPLEX
from ttmlir.passes.stablehlo.convert_stablehlo_to_ttir import CONVERTED as STABLEHLO
from ttmlir.passes.stablehlo.functions.stablehlo_expand_functions import SCAN
from ttmlir.passes.stablehlo.linear_algebra.stablehlo_expand_linear_algebra import OPERATIONS
from ttmlir.passes.stablehlo.quantization.stablehlo_legalize_quant_to_math import (
    RULES as QUANTIZED,
)
from ttmlir.passes.stablehlo.specification.stablehlo_expand_operations import RULES as RARE
from ttmlir.passes.stablehlo.structure.stablehlo_flatten_tuple import GONE
from ttmlir.passes.stablehlo.structure.stablehlo_refine_shapes import RULES as DYNAMIC
from ttmlir.passes.tosa.convert_tosa_to_ttir import CONVERTED as TOSA

INTRODUCTION = """\
# Operations of the frontends

Which operations of the languages of models become ttir, from the dialects and the tables of the
conversions; [models.md](models.md) shows their use. A form that cannot be converted is refused with
its reason, other operations by name, both with their location. Terminators such as `yield` count as
not converted.
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

_WHOLE = {"stablehlo", "chlo"}
"""Dialects that are here with all of their operations."""

_COMPLEX = {name for name in COMPLEX if name.startswith(("stablehlo.", "chlo."))}
_FLATTENED = {
    *REGIONS,
    *(SCAN, *CONTROL, *OPERATIONS, *GONE, *DYNAMIC, *SETTLED),
    *("stablehlo.composite", "stablehlo.return"),
    *((_COMPLEX | RARE.keys() | QUANTIZED.keys()) - STABLEHLO.keys()),
}
"""What is gone before: control flow, composites, and what is written in terms of others."""


REFUSED_FORMS = {
    "`infeed` `outfeed` `send` `recv`": (
        "devices take all arguments when a program begins and give all results when it ends"
    ),
    "`dynamic_*` `real_dynamic_slice` `get_dimension_size` `set_dimension_size`, and operands of "
    "open shapes": (
        "sizes that the program computes from its arguments: buffers have fixed sizes. Sizes that "
        "follow from constants and from static shapes are found, through loops and branches"
    ),
    "`all_gather` `all_reduce` `all_to_all` `collective_*` `cross-replica-sum` `reduce_scatter` "
    "`partition_id` `replica_id`": "groups of several devices: a program runs on one",
    "`custom_call`": (
        "code that is not in the program: a device runs kernels, operations, and nothing of the "
        "host's; calls of Python that compute; pivoted QR factors of complex matrices"
    ),
    "`reduce`": (
        "functions that are not associative, of more than 256 elements, or 32 along a dimension: "
        "each element is an operation of its own"
    ),
    "`reduce_window`": (
        "functions of several operations that begin with computed numbers, or whose windows have "
        "more than 64 elements; other initial values than the neutral one with padding"
    ),
    "`select_and_scatter`": "other selections than the largest and the smallest element",
    "`sort`": (
        "comparators that compute; those that compare, by up to eight operands in turn, are taken, "
        "in the total order too"
    ),
    "`map`, and functions of `scatter`": "operations that are not on each element",
    "`convolution`": "more than three spatial dimensions: the library has none",
    "`cholesky` `triangular_solve`": (
        "matrices of more than 1024 rows or columns: they become loops over columns"
    ),
    "`compare` `maximum` `minimum` of complex numbers": "they have no order",
    "`mulhi` `next_after` of 64 bits": "devices compute with 32",
    "`rng_bit_generator`": "states of another size than the algorithm's",
    "`bitcast_convert` `count_leading_zeros` `popcnt` of numbers of fewer than 8 bits": (
        "devices have no such numbers; they are kept in wider ones"
    ),
}
"""Forms of converted operations that are refused, and why."""


def _refused_forms() -> Iterator[str]:
    yield "### Forms that are refused\n"
    yield "Each message names the operation, its line, and what to write instead.\n"
    yield from (f"- {names}: {why}" for names, why in REFUSED_FORMS.items())
    yield ""


def frontends_page() -> str:
    """The page as Markdown."""
    return "\n".join([INTRODUCTION, *_sections(), *_aten(), *onnx_section()])


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
        "place": "Taken as a position in a tensor",
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
            whole = dialect in _WHOLE
            yield from _table(f"`{dialect}`, {count} operations", states, f"{dialect}.", whole)
        if "stablehlo" in dialects:
            yield from _refused_forms()


def _aten() -> Iterator[str]:
    yield "## ATen (torch)\n"
    yield "Overloads of the operations that `torch.export` leaves: `add.{Scalar,Tensor}` are"
    yield "`add.Scalar` and `add.Tensor`, and `add{,.out}` `add.default` and `add.out`.\n"
    titles = {True: "Core operator set", False: "Beyond the core operator set"}
    for is_core, states in states_of_aten().items():
        count = sum(map(len, states.values()))
        yield from _table(f"{titles[is_core]}, {count} overloads", states, "aten.", is_core)


def _table(title: str, states: dict[str, set[str]], prefix: str, whole: bool) -> Iterator[str]:
    """The names that are converted, or, of a set that is here as a whole, only the others."""
    refused = states["Not converted"]
    converted = set[str]().union(*states.values()) - refused
    yield f"### {title}\n"
    if not whole:
        yield wrap(f"**Converted** ({len(converted)}): {_listed(converted, prefix)}") + "\n"
    if refused:
        others = f"**Not converted** ({len(refused)}): {_listed(refused, prefix)}"
        yield wrap(f"All are converted but {_listed(refused, prefix)}." if whole else others) + "\n"
    elif whole:
        yield "All are converted.\n"


def _listed(names: Iterable[str], prefix: str) -> str:
    """The names in order, the overloads of an operation of torch as one."""
    short = sorted(name.removeprefix(prefix).removesuffix(".default") for name in names)
    if prefix != "aten.":
        return " ".join(f"`{name}`" for name in short)
    overloads: dict[str, list[str]] = {}
    for name in short:
        base, _, overload = name.partition(".")
        overloads.setdefault(base, []).append(overload)
    return " ".join(f"`{base}{_braced(suffixes)}`" for base, suffixes in overloads.items())


def _braced(overloads: list[str]) -> str:
    if "" not in overloads:
        braces = ",".join(overloads)
        return f".{{{braces}}}" if len(overloads) > 1 else f".{braces}"
    others = ",".join(f".{each}" for each in overloads if each)
    return f"{{,{others}}}" if others else ""
