"""The page that says what works: counted from the registries, not typed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from frontends_page import states_of_aten, states_of_dialects
from markdown_text import wrap
from passes_page import public_passes
from ttnn_page import names_here

from ttmlir.ir.kernel_builder import computed_on
from ttmlir.layout.data_format import ScalarType
from ttmlir.optable import DEFINITIONS
from ttmlir.optable.kernel import CALLS
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
of operations, passes and kernels; linked pages have the names.
"""


def support_page() -> str:
    """Operations, passes, frontends and kernels."""
    extensions = sum(definition.extends_reference for definition in DEFINITIONS.values())
    parts = [
        INTRODUCTION,
        wrap(
            f"- {len(DEFINITIONS)} operations of TTIR and TTNN, {extensions} of them of tt-mlir's "
            "later versions ([ops.md](ops.md))",
            "  ",
        ),
        wrap(
            f"- {len(PIPELINES)} pipelines, {len(public_passes())} passes "
            f"([passes.md](passes.md)) and the translations {_listed(_translations())}",
            "  ",
        ),
        *_missing(),
        wrap(
            f"- {len(CALLS)} calls of kernels of your own ([kernel_calls.md](kernel_calls.md)), in "
            "C++ ([metalium.md](metalium.md)) and in Python ([pykernel.md](pykernel.md)); programs "
            "of them are operations of JAX, torch and NumPy ([bridge.md](bridge.md))",
            "  ",
        ),
        wrap(
            f"- {len(names_here())} names of ttnn, which work as written "
            "([ttnn_names.md](ttnn_names.md))",
            "  ",
        ),
        "",
        "## Frontends\n",
        wrap(
            "How many of the operations that models are written in become ttir "
            "([frontends.md](frontends.md)):"
        )
        + "\n",
        *_frontends(),
        "",
        "## Kernels\n",
        wrap(
            "What `ttir-to-ttmetal-backend-pipeline` writes kernels for, by the types of the "
            "numbers; [kernel_coverage.md](kernel_coverage.md) has what `ttir-to-ttmetal-pipeline` "
            "fuses."
        )
        + "\n",
        *_kernels(),
    ]
    return "\n".join(parts).rstrip() + "\n"


def _entry(title: str, names: str) -> str:
    return wrap(f"**{title}:** {names}") + "\n"


def _frontends() -> Iterator[str]:
    for title, dialects in states_of_dialects().items():
        counts = (_share(name, states) for name, states in dialects.items())
        yield f"- {title}: {', '.join(counts)}"
    yield f"- torch: {_share('core ATen', states_of_aten()[True])}"


def _share(name: str, states: dict[str, set[str]]) -> str:
    """How many operations are no longer there behind the frontend."""
    total = sum(map(len, states.values()))
    return f"{name} {total - len(states['Not converted'])} of {total}"


def _kernels() -> Iterator[str]:
    """The operations by the types of numbers that there are kernels for."""
    computed = [(types, set(computed_on(ScalarType(types[0])))) for types in _NUMBERS]
    groups: dict[str, list[str]] = {}
    for name in sorted(set[str]().union(*(names for _, names in computed))):
        here = [each for types, names in computed if name in names for each in types]
        every = len(here) == sum(map(len, _NUMBERS))
        groups.setdefault("all types" if every else ", ".join(here), []).append(name)
    yield from (_entry(types, _listed(names)) for types, names in groups.items())


def _translations() -> set[str]:
    return {translation.name for translation in TRANSLATIONS}


def _missing() -> list[str]:
    here = {*PASSES, *PIPELINES, *_translations()}
    missing = [name for names in _OF_TT_MLIR.values() for name in names if name not in here]
    return [_entry("Not yet", _listed(missing))] if missing else []


def _listed(names: Iterable[str]) -> str:
    return " ".join(f"`{name}`" for name in sorted(names))
