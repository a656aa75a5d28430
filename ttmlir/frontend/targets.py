"""What a model can be compiled to: calls of the ttnn library, or kernels of its own.

A target is a pipeline from ttir and a kind of file. `TARGETS` lists them by the names that
`ttmlir.compile(..., target=...)` takes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from ttmlir.compiler import PIPELINES, transform, write_cpp, write_ttm, write_ttnn

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from ttmlir.runtime.signature import CallSignature
    from ttmlir.target.flatbuffer.golden import Golden

TargetName = Literal["ttnn", "kernels"]


class CompilationTarget(ABC):
    """How a module in ttir becomes a file."""

    name: ClassVar[TargetName]
    suffix: ClassVar[str]
    """Of the file, with its dot."""
    dialect: ClassVar[str]
    """Of the module at the end of the pipeline."""
    defaults: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """Options of the pipeline that models are compiled with unless told otherwise."""
    between: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """Dialects between ttir and that one, with the passes that take programs out of them."""

    @property
    def stages(self) -> tuple[str, ...]:
        """What there is to see of a program behind ttir."""
        return (*self.between, self.dialect, "cpp")

    def lower(self, module: ModuleOp, options: str, *, until: str | None = None) -> None:
        """Run the pipeline on a module in ttir, or the passes of it in front of one."""
        pipeline, options = PIPELINES[self.name], self.complete(options)
        transform(module, f"{pipeline}{{{options}}}" if options else pipeline, until=until)

    def complete(self, options: str) -> str:
        """The options of the pipeline, with those that models are compiled with anyway."""
        given = {each.partition("=")[0] for each in options.split()}
        added = [f"{name}={value}" for name, value in self.defaults.items() if name not in given]
        return " ".join([*added, options]).strip()

    @abstractmethod
    def write(
        self,
        module: ModuleOp,
        signatures: Mapping[str, CallSignature],
        golden: Golden | None = None,
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
    defaults: ClassVar[Mapping[str, str]] = MappingProxyType(
        # What fits without is easier to read, and to look into.
        {"share-transfers": "true", "deallocate-above": str(1 << 30)}
    )

    def write(
        self,
        module: ModuleOp,
        signatures: Mapping[str, CallSignature],
        golden: Golden | None = None,
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
        golden: Golden | None = None,
    ) -> bytes:
        """The `.ttm` file."""
        return write_ttm(module, golden=golden, signatures=_tables_of(signatures))

    def write_cpp(self, module: ModuleOp, elide_above: int | None) -> str:
        """The kernels of all programs, which have no constants."""
        from ttmlir.runtime.ttrt.reports.sections import section_text

        return section_text(f"the {self.suffix} file", write_ttm(module), "cpp")


def _tables_of(signatures: Mapping[str, CallSignature]) -> dict[str, dict[str, Any]]:
    return {name: signature.to_table() for name, signature in signatures.items()}


TARGETS: Mapping[str, CompilationTarget] = MappingProxyType(
    {each.name: each for each in (TTNNTarget(), KernelsTarget())}
)


def find_target(name: str) -> CompilationTarget:
    """The target with a name; ValueError, with the names of all, if there is none."""
    if name not in TARGETS:
        raise ValueError(f"targets are {', '.join(map(repr, TARGETS))}, not {name!r}")
    return TARGETS[name]
