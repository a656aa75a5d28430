"""What a pass is: a frozen dataclass whose fields are its options.

    @dataclass(frozen=True)
    class TTIRImplicitDevicePass(ModulePass):
        \"\"\"Put a device on the module that the functions may use.\"\"\"

        name = "ttir-implicit-device"
        mesh_shape: tuple[int, ...] = option((), "Extents of the mesh of chips")

        def apply(self, ctx: Context, module: ModuleOp) -> None: ...

The class is found through one line in `ttmlir.passes.core.registry`; option `mesh_shape` is spelled
`mesh-shape=2,1` in a pipeline.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, cast

from ttmlir.mlir.option_values import option

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.dialects.func import FuncOp
    from xdsl.ir import Operation

__all__ = [
    "ANY",
    "FunctionPass",
    "LaterPasses",
    "ModulePass",
    "OperationPass",
    "Pass",
    "Pipeline",
    "option",
]

ANY = "any"
"""The anchor of a pass that runs on operations of every name."""


def summary_of(cls: type) -> str:
    """The first line of a class's docstring, without its full stop: the line that help shows."""
    return (cls.__doc__ or "").strip().partition("\n")[0].rstrip(".")


def title_of(cls: type, title: str) -> str:
    """The name of a pass class in dumps and reports: given, or the class name without `Pass`."""
    return title or cls.__name__.removesuffix("Pass")


@dataclass(frozen=True)
class Pass(ABC):
    """A transformation of one operation and what is nested in it."""

    name: ClassVar[str]
    """The name on the command line."""
    anchor: ClassVar[str] = ANY
    """The name of the operations that the pass runs on."""
    title: ClassVar[str] = ""
    """The name in dumps and reports, if it is not the class name without `Pass`."""

    statistics: Counter[str] = field(
        default_factory=Counter[str], init=False, repr=False, compare=False
    )
    """What the pass counted while it ran, for `--mlir-pass-statistics`."""

    spelled: ClassVar[str] = ""
    """The year of the modules that a pipeline runs the pass on; empty for all."""

    def applies(self, op: Operation) -> bool:
        """False for an operation that a pipeline leaves out the pass for."""
        return True

    @abstractmethod
    def run(self, ctx: Context, op: Operation) -> None:
        """Transform `op`; raise a located error if that is impossible.

        For values of options that mean nothing, it raises OptionError.
        """

    def count(self, statistic: str, amount: int = 1) -> None:
        """Add to a statistic; the first call with amount 0 makes it appear in the report."""
        self.statistics[statistic] += amount


@dataclass(frozen=True)
class ModulePass(Pass):
    """A pass that runs on `builtin.module`."""

    anchor = "builtin.module"

    def run(self, ctx: Context, op: Operation) -> None:
        """Transform the module `op`."""
        self.apply(ctx, cast("ModuleOp", op))

    @abstractmethod
    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Transform the module; raise a located error if that is impossible."""


@dataclass(frozen=True)
class FunctionPass(Pass):
    """A pass that runs on each `func.func`."""

    anchor = "func.func"

    def run(self, ctx: Context, op: Operation) -> None:
        """Transform the function `op`."""
        self.apply(ctx, cast("FuncOp", op))

    @abstractmethod
    def apply(self, ctx: Context, function: FuncOp) -> None:
        """Transform the function; raise a located error if that is impossible."""


@dataclass(frozen=True)
class OperationPass(Pass):
    """A pass that runs on operations of every name."""

    def run(self, ctx: Context, op: Operation) -> None:
        """Transform `op`."""
        self.apply(ctx, op)

    @abstractmethod
    def apply(self, ctx: Context, op: Operation) -> None:
        """Transform `op` and what it contains; raise a located error if that is impossible."""


@dataclass(frozen=True)
class LaterPasses:
    """Passes of a pipeline for modules that are spelled alike, made for the first of them."""

    spelling: str
    """The year, as in `Pass.spelled`."""
    make: Callable[[], Sequence[Pass]]


@dataclass(frozen=True)
class Pipeline(ABC):
    """Passes under one name; the fields are the options of the whole."""

    name: ClassVar[str]
    """The name on the command line."""

    @abstractmethod
    def passes(self) -> Sequence[Pass]:
        """The passes in the order in which they run, with their options."""

    def steps(self) -> Sequence[Pass | LaterPasses]:
        """The same, of which those for modules of one spelling may not be made yet."""
        return self.passes()

    def __init_subclass__(cls) -> None:
        """Let the passes of a class that says them anew be its steps, too."""
        super().__init_subclass__()
        if "passes" in cls.__dict__ and "steps" not in cls.__dict__:
            cls.steps = Pipeline.steps
