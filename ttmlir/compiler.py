"""From MLIR text to a binary in one call: what the command-line tools do, for Python programs.

    from pathlib import Path

    from ttmlir.compiler import compile_to_ttnn, read_source

    Path("mlp.ttnn").write_bytes(compile_to_ttnn(read_source("mlp.mlir")))

`compile_to_ttm` makes a `.ttm` file in the same way. `lower` stops at a module that can be looked
at, `parse` before any pass; `transform` runs passes on a module, `write_ttnn`, `write_ttm` and
`write_cpp` start from one. All raise `ttmlir.mlir.reporting.DiagnosticError` for input
that is refused; its text has the place and the reason. For models of JAX and torch there is
`ttmlir.compile`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ttmlir.collector import freed_afterwards, without_collections
from ttmlir.errors import ArgumentError
from ttmlir.version import SPELLING_VARIABLE

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from ttmlir.passes.core.base import Pass
    from ttmlir.passes.core.manager import Nest
    from ttmlir.passes.pipelines.kernels_among_calls import Outlined
    from ttmlir.target.flatbuffer.tensors import Golden
    from ttmlir.target.flatbuffer.ttmetal import MeshFile
    from ttmlir.target.flatbuffer.ttnn import LaterStamp

TTNN_PIPELINE = "ttir-to-ttnn-backend-pipeline"
"""From ttir to ttnn, with layouts and a device."""
_WRITTEN_PIPELINE = f"{TTNN_PIPELINE}{{spelling=2024}}"
"""The same for what is written as a file or as C++, whose ttnn is that of 2024."""
TTMETAL_PIPELINE = "ttir-to-ttmetal-backend-pipeline"
"""From ttir to ttmetal, with layouts, a device, addresses and kernels."""
D2M_PIPELINE = "ttir-to-ttmetal-pipeline"
"""From ttir to ttmetal on memrefs: fused kernels that are scheduled on all cores."""

PIPELINES = {"ttnn": TTNN_PIPELINE, "kernels": D2M_PIPELINE}
"""From ttir on, by the targets of `ttmlir.compile` and `ttmlir-bisect`."""
_OF_MODELS: Mapping[str, Mapping[str, str]] = {
    "ttnn": {
        "enable-fold-batch-norm": "true",
        "enable-const-eval": "true",
        "enable-erase-inverse-ops-pass": "true",
        "share-transfers": "true",
        # What files and C++ are written of.
        "spelling": "2024",
        # What fits without is easier to read, and to look into.
        "deallocate-above": str(1 << 30),
    },
    "kernels": {},
}
"""Options of those pipelines that models are compiled with unless told otherwise: without options,
`ttir-to-ttnn-backend-pipeline` does what tt-mlir's does."""

_OF_ALL_PIPELINES = ("system-desc-path", "mock-system-desc-arch")
"""Options that the pipelines of all targets have: the machine."""
_MAX_ITERATIONS_OF_KERNELS = 64
"""Iterations of the longest loop that is unrolled for kernels without being asked for."""
_TO_TTIR_OPTIONS = ("max-trip-count",)
"""Options of the pipelines to ttir."""


LEVEL_OPTION = "optimization-level"
"""The option of the pipeline for how much time on the device compiling is to save."""
MOST_OPTIMIZED = 3
"""The level that does more than tt-mlir's, which are those below."""
SPELLINGS = ("2024", "2026")
"""The years of tt-mlir whose ttir, ttnn and files models are compiled to."""


_OF_LEVELS = ("enable-optimizer", "memory-layout-analysis-enabled")
"""Options of the pipeline that do what one of the lower levels does."""


def find_spelling(options: str = "", given: str | int | None = None) -> str:
    """The year whose text a model is compiled to: as given, or by an option or the environment.

    Without any of them it is the last one, for which programs are optimized, unless options ask
    for what only passes of 2024 do. Those know no optimization levels. ArgumentError for a year
    whose ttnn is not written.
    """
    given = None if given is None else str(given)
    words = _words(options)
    level = words.get(LEVEL_OPTION, "0")
    year = given or words.get("spelling")
    if not year and level == "0":
        year = os.environ.get(SPELLING_VARIABLE) or SPELLINGS[0 if _ask_of_2024(words) else -1]
    year = year or SPELLINGS[-1]
    if level != "0" and year == SPELLINGS[0]:
        # Without the year the passes of 2026 would refuse options of 2024.
        remedy = LEVEL_OPTION if _ask_of_2024(words) else f"spelling={year!r}"
        raise ArgumentError(
            f"{LEVEL_OPTION}={level} is for text of {SPELLINGS[-1]}; leave out {remedy}"
        )
    if year not in SPELLINGS:
        raise ArgumentError(
            f"models are compiled to text of {' or '.join(SPELLINGS)}, not {year!r}; "
            "the pass convert-spelling writes ttir of 2025"
        )
    if given is not None and words.get("spelling", given) != given:
        raise ArgumentError(
            f"spelling={given!r} and the option spelling={words['spelling']} differ"
        )
    return year


def find_level(options: str = "") -> int:
    """The optimization level that a model is compiled with for target "ttnn".

    Without one it is the highest, and 0 for text of 2024 and where options do what levels do.
    """
    words = _words(options)
    if LEVEL_OPTION in words:
        # The pipeline refuses what is none.
        return int(words[LEVEL_OPTION]) if words[LEVEL_OPTION].isdecimal() else 0
    if find_spelling(options) == SPELLINGS[0] or any(name in words for name in _OF_LEVELS):
        return 0
    return MOST_OPTIMIZED


def fuses_layers(target: str, options: str) -> bool:
    """True where `ttmlir.compile` does more than tt-mlir's optimizer."""
    return target == "ttnn" and find_level(options) == MOST_OPTIMIZED


def options_for(module: ModuleOp, target: str, options: str) -> str:
    """Options of `ttmlir.compile` for a module: programs with kernels of their own are of 2024.

    ttir of 2026 has no operation for those; where it is asked for, they are refused.
    """
    from ttmlir.passes.stablehlo.convert_stablehlo_to_ttir_control import has_kernels

    if not is_spelled_late(target, options) or not has_kernels(module):
        return options
    words = _words(options)
    if "spelling" in words or LEVEL_OPTION in words:
        return options
    return f"{options} spelling={SPELLINGS[0]}".lstrip()


def _words(options: str) -> dict[str, str]:
    """The values of options by their names."""
    return {name: value for name, _, value in (each.partition("=") for each in options.split())}


def _ask_of_2024(names: Iterable[str]) -> bool:
    """True if options are among these names that only passes of 2024 have."""
    if not names:
        return False
    from ttmlir.passes.pipelines.ttir_to_ttnn import OF_2024

    return any(name.replace("-", "_") in OF_2024 for name in names)


def is_spelled_late(target: str, options: str) -> bool:
    """True where options of `ttmlir.compile` ask for text of another year than 2024."""
    return target == "ttnn" and find_spelling(options) != SPELLINGS[0]


def spell_ttir(module: ModuleOp, target: str, options: str) -> None:
    """Write a module in ttir in the spelling that options of `ttmlir.compile` ask for."""
    from ttmlir.passes.general.convert_spelling import is_late

    if is_spelled_late(target, options) and not is_late(module):
        transform(module, "ttir-decomposition,convert-spelling{to=2026}")


FALLBACK_OPTION = "library-fallback"
"""The option of `ttmlir.compile` for whether operations without kernels are calls of the library.
"""


def falls_back(target: str, options: str) -> bool:
    """True where a program that has kernels in part only is compiled nevertheless.

    ArgumentError for what is no truth value.
    """
    words = (word.partition("=") for word in options.split())
    said = [value for name, _, value in words if name == FALLBACK_OPTION]
    if any(value not in ("true", "false") for value in said):
        raise ArgumentError(f"{FALLBACK_OPTION} is true or false, not '{said[-1]}'")
    return target == "kernels" and "false" not in said


def divide_options(options: str, target: str, *, in_parts: bool = False) -> tuple[str, str]:
    """Options of the pipeline to ttir, and those of a target's pipeline, of both in one text.

    Kernels have no loops around them: as many iterations as may be are unrolled, unless the program
    is compiled in parts, around which there are loops.
    """
    words = [(word.partition("=")[0], word) for word in options.split()]
    front = [word for name, word in words if name in _TO_TTIR_OPTIONS]
    if target == "kernels" and not front and not in_parts:
        front = [f"max-trip-count={_MAX_ITERATIONS_OF_KERNELS}"]
    own = FALLBACK_OPTION if target == "kernels" else ""
    back = [word for name, word in words if name not in (*_TO_TTIR_OPTIONS, own)]
    return " ".join(front), " ".join(back)


def complete_options(target: str, options: str) -> str:
    """The options of a target's pipeline, with those that models are compiled with anyway."""
    given = _words(options)
    own = dict(_OF_MODELS[target])
    if target == "ttnn" and find_spelling(options) != SPELLINGS[0]:
        own = {
            # What a model computes by tanh it does not compute by erf.
            "enable-gelu-tanh-fusion": "false",
            "keep-element-types": "true",
            "spelling": SPELLINGS[-1],
            LEVEL_OPTION: str(find_level(options)),
        }
    added = [f"{name}={value}" for name, value in own.items() if name not in given]
    return " ".join([*added, options]).strip()


def spell_pipeline(target: str, options: str) -> str:
    """The pipeline that compiles models in ttir for a target, with options."""
    options = complete_options(target, options)
    return f"{PIPELINES[target]}{{{options}}}" if options else PIPELINES[target]


def transform_in_parts(module: ModuleOp, options: str) -> Outlined:
    """Lower a module in ttir to ttnn with kernels in place of the parts that have kernels.

    `options` are those of `ttir-to-ttmetal-pipeline`. The calls of what is returned say which
    operations have none. Raises DiagnosticError for what the library does not have either.
    """
    from ttmlir.passes.pipelines.kernels_among_calls import outline_parts

    outlined = outline_parts(module, options)
    # Ttir of 2026 has no operation for kernels.
    words = [word for word in options.split() if word.partition("=")[0] in _OF_ALL_PIPELINES]
    shared = " ".join([*words, f"spelling={SPELLINGS[0]}"])
    transform(module, spell_pipeline("ttnn", shared))
    outlined.expand(module)
    return outlined


def read_source(path: str) -> str:
    """The text of a file, for `parse`; long constants are not in it, but beside it.

    Raises `ttmlir.mlir.text_files.FileError` if it cannot be read.
    """
    from ttmlir.mlir.text_files import read_input

    return read_input(path)


@without_collections()
def parse(source: str, *, file_name: str = "<text>") -> ModuleOp:
    """The module that a text spells, verified; `file_name` is the name of the text in messages."""
    from ttmlir.dialects import DIALECTS
    from ttmlir.mlir.chunk_processing import verify
    from ttmlir.mlir.context import make_context
    from ttmlir.mlir.long_strings import compact
    from ttmlir.mlir.reader import parse_module

    text = compact(source)
    # The memory of a long text is free again before the constants are used, if nobody else has it.
    del source
    module = parse_module(text, file_name, make_context(DIALECTS))
    verify(module)
    return module


@without_collections()
def transform(module: ModuleOp, pipeline: str, *, until: str | None = None) -> None:
    """Run the passes of `pipeline` on a module and verify what they leave.

    The pipeline is text as in `--pass-pipeline`, without the surrounding `builtin.module(...)`:
    names separated by commas, options in braces. An empty one does nothing. With `until`, the
    passes in front of the first one of that name run. Options that have an environment variable,
    such as SYSTEM_DESC_PATH of the description of the machine, take it where they are not given.
    """
    from ttmlir.passes.core.manager import parse_pipeline

    if pipeline:
        nest = parse_pipeline(f"builtin.module({pipeline})")
        _run(module, nest if until is None else nest.until(until))


@without_collections()
def run_passes(module: ModuleOp, passes: Sequence[Pass]) -> None:
    """Run passes on a module and verify what they leave, as `transform` does."""
    from ttmlir.passes.core.manager import Nest

    _run(module, Nest("builtin.module", tuple(passes)))


def _run(module: ModuleOp, nest: Nest) -> None:
    from ttmlir.dialects import DIALECTS
    from ttmlir.mlir.chunk_processing import verify
    from ttmlir.mlir.context import make_context
    from ttmlir.mlir.reporting import DiagnosticError, internal_error
    from ttmlir.passes.core.manager import PassFailure, PassManager, with_environment

    try:
        nest = with_environment(nest, os.environ)
        PassManager(nest=nest).run(make_context(DIALECTS), module)
    except PassFailure as failure:
        cause = failure.__cause__
        assert cause is not None, "the manager raises a failure from its cause"
        if isinstance(cause, DiagnosticError):
            raise cause from None
        raise internal_error(
            failure.op.location, failure.place, cause, culprit=failure.culprit
        ) from cause
    verify(module)


def lower(source: str, pipeline: str = TTNN_PIPELINE, *, file_name: str = "<text>") -> ModuleOp:
    """The module that a text spells, after the passes of `pipeline`: `parse`, then `transform`."""
    from ttmlir.mlir.long_strings import compact

    text = compact(source)
    del source
    module = parse(text, file_name=file_name)
    transform(module, pipeline)
    return module


@without_collections()
def write_ttnn(
    module: ModuleOp,
    *,
    golden: Golden | Sequence[Golden] | None = None,
    signatures: Mapping[str, dict[str, Any]] = MappingProxyType({}),
    schema_of: LaterStamp | None = None,
    readable: bool = True,
) -> bytes:
    """The `.ttnn` file of a module in the ttnn dialect.

    The file carries two texts to read: the module and its C++. The C++ is without long constants,
    and empty if an operation has none. `golden` (of `ttmlir.target.flatbuffer.tensors`) holds the
    inputs and results of a reference, with which `ttrt run --golden` compares. `signatures` are
    `CallSignature` tables for `ttmlir.load`, by functions, or by "" of the only one. Functions of
    the host become programs. `schema_of` is the stamp of a file of 2026, in whose schema it is.
    What is not `readable` has neither of the texts.
    """
    from ttmlir.dialects.definition.ods import warn_of_narrowing
    from ttmlir.target.flatbuffer.ttnn import ttnn_to_flatbuffer

    warn_of_narrowing(module)
    whole = module
    if any(op.name == "ttcore.cpu_module" for op in module.body.block.ops):
        from ttmlir.passes.pipelines.host_functions import lower_host_functions

        whole = lower_host_functions(module)
    return ttnn_to_flatbuffer(
        whole,
        mlir_source=None if readable else "",
        cpp_source=_cpp_to_read(module) if readable else "",
        golden=golden,
        signatures=signatures,
        stamp=schema_of,
    )


@without_collections()
def write_ttm(
    module: ModuleOp,
    *,
    golden: Golden | Sequence[Golden] | None = None,
    signatures: Mapping[str, dict[str, Any]] = MappingProxyType({}),
) -> bytes:
    """The `.ttm` file of a module in the ttmetal dialect, with kernels in C++.

    `golden` holds the inputs and results of a reference, `signatures` how models are called, as in
    `write_ttnn`.
    """
    from ttmlir.mlir.module_printer import print_module
    from ttmlir.target.flatbuffer.programs import FILE_TEXT
    from ttmlir.target.flatbuffer.ttmetal import ttmetal_to_flatbuffer

    return ttmetal_to_flatbuffer(
        _with_kernels_in_emitc(module),
        mlir_source=print_module(module, FILE_TEXT),
        golden=golden,
        signatures=signatures,
    )


@without_collections()
def write_mesh_ttm(file: MeshFile) -> bytes:
    """The `.ttm` file of a program of several devices, whose parts are in the ttmetal dialect."""
    from ttmlir.target.flatbuffer.ttmetal import mesh_to_flatbuffer

    parts = [_with_kernels_in_emitc(part) for part in file.parts]
    return mesh_to_flatbuffer(file, parts)


@without_collections()
def write_kernels(module: ModuleOp, *, kernel_api: str = "") -> str:
    """The C++ of every kernel of a module; those in the form of 2026 are converted to emitc.

    `kernel_api` is the year of the tt-metal that compiles them, "2024" or "2026", of which 0.81 is.
    Without it that of the module's own form: 2026 with the dialect ttcore, which is as old as the
    new API; kernels in the form of 2026 are then letter by letter those of tt-lang 1.1.1.
    """
    from ttmlir.mlir.core_prefix import TTCORE, core_prefix_of, has_late_kernels
    from ttmlir.target.cpp import from_ttkernel
    from ttmlir.target.cpp.kernel_api import KernelApi

    is_late = has_late_kernels(module)
    module = _with_kernels_in_emitc(module)
    if is_late and not kernel_api:
        return from_ttkernel.write_kernels(module)
    form = "2026" if core_prefix_of(module) == TTCORE else "2024"
    return from_ttkernel.write_kernels(module, KernelApi(kernel_api or form))


def _with_kernels_in_emitc(module: ModuleOp) -> ModuleOp:
    """The module, or one like it whose kernels in the form of 2026 are converted to emitc."""
    from ttmlir.mlir.core_prefix import has_late_kernels

    if not has_late_kernels(module):
        return module
    from ttmlir.dialects.ttkernel import TTKernelOp

    if not any(isinstance(op, TTKernelOp) for op in module.walk()):
        return module
    from ttmlir.mlir.attributes import cloned
    from ttmlir.passes.emitc.convert_ttkernel_to_emitc import convert_kernels

    module = cloned(module)
    convert_kernels(module)
    return module


@without_collections()
def write_cpp(module: ModuleOp, *, elide_above: int | None = None) -> str:
    """The C++ of a module in the ttnn dialect, which stays as it is.

    Constants of more than `elide_above` elements are left out.
    """
    from ttmlir.passes.emitc.convert_ttnn_to_emitc import to_emitc
    from ttmlir.target.cpp.emitter import emit_cpp

    return emit_cpp(to_emitc(module), elide_above=elide_above)


def compile_to_ttnn(
    source: str, pipeline: str = _WRITTEN_PIPELINE, *, file_name: str = "<text>"
) -> bytes:
    """The `.ttnn` file of a text in the ttir dialect; the parameters are those of `lower`."""
    module = lower(source, pipeline, file_name=file_name)
    del source
    return write_ttnn(module)


def compile_to_ttm(
    source: str, pipeline: str = TTMETAL_PIPELINE, *, file_name: str = "<text>"
) -> bytes:
    """The `.ttm` file of a text in the ttir dialect; the parameters are those of `lower`."""
    return write_ttm(lower(source, pipeline, file_name=file_name))


def compile_to_cpp(
    source: str, pipeline: str = _WRITTEN_PIPELINE, *, file_name: str = "<text>"
) -> str:
    """The C++ of a text in the ttir dialect; the parameters are those of `lower`."""
    return write_cpp(lower(source, pipeline, file_name=file_name))


def _cpp_to_read(module: ModuleOp) -> str:
    from ttmlir.mlir.printing import DEFAULT_ELISION_LIMIT
    from ttmlir.mlir.reporting import DiagnosticError

    try:
        with freed_afterwards():
            return write_cpp(module, elide_above=DEFAULT_ELISION_LIMIT)
    except DiagnosticError:
        return ""
