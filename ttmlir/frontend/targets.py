"""What a model can be compiled to: calls of the ttnn library, kernels, or both in one program.

A target is a pipeline from ttir and a kind of file. `TARGETS` lists them by the names that
`ttmlir.compile(..., target=...)` takes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

from xdsl.dialects.builtin import UNKNOWN_LOC
from xdsl.ir import BlockArgument

from ttmlir.compiler import (
    FALLBACK_OPTION,
    divide_options,
    falls_back,
    spell_pipeline,
    transform,
    transform_in_parts,
    write_cpp,
    write_ttm,
    write_ttnn,
)
from ttmlir.errors import ArgumentError, plural
from ttmlir.frontend.errors import user_location
from ttmlir.mlir.reporting import Diagnostic, DiagnosticError, is_internal, warn

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation

    from ttmlir.passes.pipelines.kernels_among_calls import LibraryCall, Outlined
    from ttmlir.runtime.signature import CallSignature
    from ttmlir.target.flatbuffer.tensors import Golden

TargetName = Literal["ttnn", "kernels"]


class CompilationTarget(ABC):
    """How a module in ttir becomes a file."""

    name: ClassVar[TargetName]
    suffix: ClassVar[str]
    """Of the file, with its dot."""
    dialect: ClassVar[str]
    """Of the module at the end of the pipeline."""
    between: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """Dialects between ttir and that one, with the passes that take programs out of them."""
    cuts: tuple[str, ...] = ()
    """What is said of numbers of which kernels keep fewer bits."""

    @property
    def stages(self) -> tuple[str, ...]:
        """What there is to see of a program after ttir."""
        return (*self.between, self.dialect, "cpp")

    def lower(self, module: ModuleOp, options: str, *, until: str | None = None) -> None:
        """Run the pipeline on a module in ttir, or the passes of it in front of one."""
        transform(module, spell_pipeline(self.name, options), until=until)

    @abstractmethod
    def write(
        self,
        module: ModuleOp,
        signatures: Mapping[str, CallSignature],
        golden: Golden | Sequence[Golden] | None = None,
    ) -> bytes:
        """The file of a lowered module, with how models are called: by functions, or by an empty
        name of the only one."""

    @abstractmethod
    def write_cpp(self, module: ModuleOp, elide_above: int | None) -> str:
        """The C++ of a lowered module; constants of more elements are left out."""


class TTNNTarget(CompilationTarget):
    """Calls of the ttnn library, which run with NumPy."""

    name = "ttnn"
    suffix = ".ttnn"
    dialect = "ttnn"

    def write(
        self,
        module: ModuleOp,
        signatures: Mapping[str, CallSignature],
        golden: Golden | Sequence[Golden] | None = None,
    ) -> bytes:
        """The `.ttnn` file."""
        return write_ttnn(module, golden=golden, signatures=_tables_of(signatures))

    def write_cpp(self, module: ModuleOp, elide_above: int | None) -> str:
        """The calls of the library."""
        return write_cpp(module, elide_above=elide_above)


class KernelsTarget(CompilationTarget):
    """Fused kernels on all cores of a chip, which run on the simulator."""

    name = "kernels"
    suffix = ".ttm"
    dialect = "ttmetal"
    # Fused, scheduled and with addresses: what kernels are made of.
    between = MappingProxyType({"d2m": "convert-d2m-to-ttkernel"})

    def write(
        self,
        module: ModuleOp,
        signatures: Mapping[str, CallSignature],
        golden: Golden | Sequence[Golden] | None = None,
    ) -> bytes:
        """The `.ttm` file."""
        return write_ttm(module, golden=golden, signatures=_tables_of(signatures))

    def write_cpp(self, module: ModuleOp, elide_above: int | None) -> str:
        """The kernels of all programs, which have no constants."""
        return _cpp_in_file(self.suffix, write_ttm(module))


def _cpp_in_file(suffix: str, data: bytes) -> str:
    from ttmlir.runtime.ttrt.reports import section_text

    return section_text(f"the {suffix} file", data, "cpp")


class PartsTarget(TTNNTarget):
    """Kernels for those parts of a program that have some, among calls of the ttnn library."""

    name = "kernels"
    notes: tuple[str, ...] = ()
    """What is not done by kernels, and why."""

    def lower(self, module: ModuleOp, options: str, *, until: str | None = None) -> None:
        """Make kernels of what has some, then run the pipeline to ttnn."""
        self.outlined = transform_in_parts(module, options)
        self.notes = tuple(_notes_on(self.outlined))

    def write_cpp(self, module: ModuleOp, elide_above: int | None) -> str:
        """The kernels of all parts; there is no C++ of what is around them."""
        return _cpp_in_file(self.suffix, write_ttnn(module))


_MOST_NOTED = 8
"""Kinds of operations without kernels that a warning names."""


def _notes_on(outlined: Outlined) -> Iterator[str]:
    """What to say of a program that is not made of kernels alone."""
    if not outlined.parts:
        yield "no part of the program has kernels: all of it is calls of the ttnn library"
    if outlined.calls:
        count = len(outlined.calls)
        shown = _limited(_shown(outlined.calls))
        yield (
            f"{plural(count, 'operation')} without kernels {'is' if count == 1 else 'are'} left to "
            f"the ttnn library; options='{FALLBACK_OPTION}=false' refuses that: {'; '.join(shown)}"
        )
    if outlined.loops:
        what = "; ".join(_shown([replace(each, reason="") for each in outlined.loops]))
        yield f"kernels are inside of loops or branches of the host: {what}"


def _limited(shown: Sequence[str]) -> Sequence[str]:
    more = len(shown) - _MOST_NOTED
    return [*shown[:_MOST_NOTED], f"{more} others"] if more > 0 else shown


def _shown(calls: Sequence[LibraryCall]) -> list[str]:
    """Operations with their lines and why they have no kernels, equal ones together."""
    places: dict[tuple[str, str], dict[str, None]] = {}
    for call in calls:
        found = user_location(call.location)
        lines = places.setdefault((call.name, call.reason), {})
        if found is not None:
            lines[f"{Path(found.filename.data).name}:{found.line.data}"] = None
    return [
        name + (f" ({', '.join(lines)})" if lines else "") + (f": {reason}" if reason else "")
        for (name, reason), lines in places.items()
    ]


def find_cuts(module: ModuleOp) -> list[LibraryCall]:
    """Operations and arguments in ttir whose integers may not fit into what kernels keep."""
    from ttmlir.mlir.reporting import name_of
    from ttmlir.passes.pipelines.kernels_among_calls import LibraryCall
    from ttmlir.passes.ttir.integer_ranges import find_cut_integers

    found: list[LibraryCall] = []
    for value in find_cut_integers(module):
        if isinstance(value, BlockArgument):
            name, location = f"argument '{name_of(value.location)}'", value.location
        else:
            owner = cast("Operation", value.owner)
            name, location = owner.name, owner.location
        found.append(LibraryCall(name, location, "", is_constant=False))
    return found


def with_cuts(
    target: CompilationTarget, cuts: Sequence[LibraryCall], but: Sequence[LibraryCall] = ()
) -> CompilationTarget:
    """The target of a program, with the warning of what it cuts, other than what the library
    computes."""
    others = {(call.name, call.location) for call in but}
    shown = _limited(_shown([each for each in cuts if (each.name, each.location) not in others]))
    if not shown:
        return target
    made = copy(target)
    text = (
        "integers of 64 bits are kept as 32 bits by kernels, in both numerics; these may not fit: "
        f"{'; '.join(shown)}; target='ttnn' computes all bits in exact numerics"
    )
    made.cuts = (text,)
    warn(Diagnostic("warning", UNKNOWN_LOC, text))
    return made


def lower_for(
    target: CompilationTarget, options: str, to_ttir: Callable[[str], ModuleOp]
) -> tuple[CompilationTarget, ModuleOp]:
    """What a program becomes, and the target for that: kernels alone or, unless the options forbid
    it, in part, of which it warns. `to_ttir` makes a module in ttir, with options of the pipeline
    to it.
    """
    front, back = divide_options(options, target.name)
    try:
        module = to_ttir(front)
        cuts = find_cuts(module) if target.name == "kernels" else []
        target.lower(module, back)
    except DiagnosticError as error:
        if not falls_back(target.name, options):
            raise
        refusal = error
    else:
        return with_cuts(target, cuts), module
    parts = PartsTarget()
    in_parts = to_ttir(divide_options(options, target.name, in_parts=True)[0])
    cuts = find_cuts(in_parts)
    parts.lower(in_parts, back)
    if not parts.outlined.loops and all(each.is_constant for each in parts.outlined.calls):
        with suppress(DiagnosticError):
            module = to_ttir(front)
            transform(module, "ttir-evaluate-constants")
            target.lower(module, back)
            return with_cuts(target, cuts), module
    if is_internal(refusal):
        parts.notes = (f"kernels of the whole program: {refusal}", *parts.notes)
    parts.notes = parts.notes or (f"kernels are made of parts of the program alone: {refusal}",)
    for text in parts.notes:
        warn(Diagnostic("warning", in_parts.location, text))
    return with_cuts(parts, cuts if parts.outlined.parts else [], parts.outlined.calls), in_parts


def _tables_of(signatures: Mapping[str, CallSignature]) -> dict[str, dict[str, Any]]:
    return {name: signature.to_table() for name, signature in signatures.items()}


TARGETS: Mapping[str, CompilationTarget] = MappingProxyType(
    {each.name: each for each in (TTNNTarget(), KernelsTarget())}
)


def find_target(name: str) -> CompilationTarget:
    """The target with a name; ArgumentError, with the names of all, if there is none."""
    if name not in TARGETS:
        raise ArgumentError(f"targets are {', '.join(map(repr, TARGETS))}, not {name!r}")
    return TARGETS[name]
