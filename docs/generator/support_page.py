"""The page that says what works: counted from the registries, not typed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from frontends_page import states_of_aten, states_of_dialects
from markdown_text import wrap
from ops_page import FAMILY_TITLES, rows_of
from passes_page import public_passes
from ttnn_page import names_here

from ttmlir.ir.kernel_builder import computed_on
from ttmlir.layout.data_format import ScalarType
from ttmlir.optable import ROWS
from ttmlir.optable.kernel import CALLS
from ttmlir.optable.row import Row
from ttmlir.passes.core.registry import PASSES, PIPELINES
from ttmlir.tools.translate.translations import TRANSLATIONS

# What tt-mlir at 880154e3c2 has of its own, upstream's passes left out.
_OF_TT_MLIR = {
    "Pipelines": (
        "stablehlo-to-ttir-pipeline",
        "ttir-to-ttmetal-backend-pipeline",
        "ttir-to-ttnn-backend-pipeline",
    ),
    "Passes": (
        "convert-stablehlo-to-ttir",
        "convert-tosa-to-ttir",
        "convert-ttir-to-ttmetal",
        "convert-ttir-to-ttnn",
        "convert-ttkernel-to-emitc",
        "convert-ttnn-to-emitc",
        "ttir-allocate",
        "ttir-generic",
        "ttir-generic-kernel",
        "ttir-generic-region-operands-to-memref",
        "ttir-grid-set",
        "ttir-implicit-device",
        "ttir-layout",
        "ttir-load-system-desc",
        "ttir-sliding-window-2d-fix-shapes",
        "ttir-split-compound-layout",
    ),
    "Translations": ("mlir-to-cpp", "ttmetal-to-flatbuffer", "ttnn-to-flatbuffer"),
}

# Number types whose kernels compute the same operations.
_NUMBERS = (
    ("f32", "f16", "bf16"),
    ("i32", "i16", "i8", "ui16", "ui8"),
    ("ui32",),
    ("i1",),
)

INTRODUCTION = """\
# What works

From each frontend to a `.ttnn` or a `.ttm` file that runs, and to C++. Counted from the registries
of operations, passes and kernels. An operation marked * is one of tt-mlir's later versions.
"""


def support_page() -> str:
    """Operations by family, then passes, frontends and kernels."""
    extensions = sum(row.extends_reference for row in ROWS.values())
    parts = [
        INTRODUCTION,
        "## Operations of TTIR\n",
        "Details: [ops.md](ops.md).\n",
        *(_entry(title, _names(rows_of(family))) for family, title in FAMILY_TITLES.items()),
        f"{len(ROWS)} operations, {extensions} of them of later versions.\n",
        "## Pipelines, passes and translations\n",
        "Details: [passes.md](passes.md).\n",
        _entry("Pipelines", _listed(PIPELINES)),
        _entry("Passes", _listed(public_passes())),
        _entry("Translations", _listed(_translations())),
        *_missing(),
        "## Frontends\n",
        "How many of the operations that models are written in become ttir. Details:",
        "[frontends.md](frontends.md).\n",
        "| Frontend | Operations that are converted |",
        "|---|---|",
        *_frontends(),
        "",
        "## Kernels\n",
        "What `ttir-to-ttmetal-backend-pipeline` writes kernels for, by the type of the numbers.\n",
        *(_entry(", ".join(types), _kernels(types[0])) for types in _NUMBERS),
        wrap(
            "Kernels of your own, in C++ ([metalium.md](metalium.md)) and in Python "
            f"([pykernel.md](pykernel.md)), have {len(CALLS)} calls "
            "([kernel_calls.md](kernel_calls.md))."
        )
        + "\n",
        wrap(
            "A program of kernels is an operation of JAX, torch and NumPy "
            "([bridge.md](bridge.md)): `ttir.custom_kernel`, `ttnn.generic` in the file."
        )
        + "\n",
        "## ttnn's Python API\n",
        wrap(
            f"{len(names_here())} names of ttnn work as written; "
            "[ttnn_names.md](ttnn_names.md) lists them, and those that do not yet."
        ),
    ]
    return "\n".join(parts).rstrip() + "\n"


def _entry(title: str, names: str) -> str:
    return wrap(f"**{title}:** {names}") + "\n"


def _frontends() -> Iterator[str]:
    for title, dialects in states_of_dialects().items():
        counts = (_share(name, states) for name, states in dialects.items())
        yield f"| {title} | {', '.join(counts)} |"
    yield f"| torch | {_share('core ATen', states_of_aten()[True])} |"


def _share(name: str, states: dict[str, set[str]]) -> str:
    """How many operations are no longer there behind the frontend."""
    total = sum(map(len, states.values()))
    return f"{name} {total - len(states['Not converted'])} of {total}"


def _kernels(keyword: str) -> str:
    return " ".join(f"`{name}`" for name in computed_on(ScalarType(keyword)))


def _translations() -> set[str]:
    return {translation.name for translation in TRANSLATIONS}


def _missing() -> list[str]:
    here = {*PASSES, *PIPELINES, *_translations()}
    missing = [name for names in _OF_TT_MLIR.values() for name in names if name not in here]
    return [_entry("Not yet", _listed(missing))] if missing else []


def _names(rows: Iterable[Row]) -> str:
    return " ".join(f"`{row.mnemonic}`{'*' * row.extends_reference}" for row in rows)


def _listed(names: Iterable[str]) -> str:
    return " ".join(f"`{name}`" for name in sorted(names))
