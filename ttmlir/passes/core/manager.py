"""Runs a nest of passes on an operation, with instruments that watch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttmlir.mlir.option_values import OptionError
from ttmlir.passes.core.base import ANY, Pass, title_of
from ttmlir.passes.core.nest import Nest

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.ir import Operation


class PassFailure(Exception):
    """A pass raised an error or left invalid IR; `__cause__` is the error."""

    def __init__(self, step: Pass, op: Operation, *, left_invalid: bool):
        """The pass that failed, the operation that it ran on, and how it failed."""
        super().__init__(f"pass '{step.name}' failed on '{op.name}'")
        self.step = step
        self.op = op
        self.left_invalid = left_invalid


class Instrument:
    """Watches a run; every method may be overridden and does nothing here."""

    def before_nest(self, nest: Nest, op: Operation) -> None:
        """The passes of `nest` are about to run on the operation `op`."""

    def after_nest(self, nest: Nest, op: Operation) -> None:
        """The passes of `nest` have run on the operation `op`."""

    def before_pass(self, step: Pass, op: Operation) -> None:
        """`step` is about to run on `op`."""

    def after_pass(self, step: Pass, op: Operation) -> None:
        """`step` has run on `op` and left it valid."""

    def after_failure(self, step: Pass, op: Operation) -> None:
        """`step` has raised an error on `op`, or left it invalid."""


@dataclass(frozen=True, kw_only=True)
class PassManager:
    """A nest of passes and how to run it."""

    nest: Nest
    verify: Callable[[Operation], None] | None = None
    """Called on the operation after each pass; None runs the passes without."""
    instruments: Sequence[Instrument] = ()

    def run(self, ctx: Context, op: Operation) -> None:
        """Run all passes on `op`.

        Raises PassFailure, whose cause is what the pass or the verifier raised, and OptionError if
        the nest is for operations of another name, or an option does not suit the module.
        """
        if self.nest.anchor not in (ANY, op.name):
            raise OptionError(f"can't run '{self.nest.anchor}' pass manager on '{op.name}' op")
        self._run_nest(self.nest, ctx, op)

    def _run_nest(self, nest: Nest, ctx: Context, op: Operation) -> None:
        for item in nest.items:
            if isinstance(item, Pass):
                self._run_pass(item, ctx, op)
                continue
            for child in children(op, item.anchor):
                self._run_child(item, ctx, child)

    def _run_child(self, nest: Nest, ctx: Context, op: Operation) -> None:
        for instrument in self.instruments:
            instrument.before_nest(nest, op)
        self._run_nest(nest, ctx, op)
        for instrument in self.instruments:
            instrument.after_nest(nest, op)

    def _run_pass(self, step: Pass, ctx: Context, op: Operation) -> None:
        for instrument in self.instruments:
            instrument.before_pass(step, op)
        has_run = False
        try:
            step.run(ctx, op)
            has_run = True
            if self.verify is not None:
                self.verify(op)
        except Exception as error:
            for instrument in self.instruments:
                instrument.after_failure(step, op)
            if isinstance(error, OptionError):
                raise
            raise PassFailure(step, op, left_invalid=has_run) from error
        for instrument in self.instruments:
            instrument.after_pass(step, op)


def children(op: Operation, anchor: str) -> Iterator[Operation]:
    """The operations directly inside `op` that a nest on `anchor` runs on."""
    from xdsl.traits import IsolatedFromAbove

    inside = [child for region in op.regions for block in region.blocks for child in block.ops]
    for child in inside:
        if child.name == anchor or (anchor == ANY and child.has_trait(IsolatedFromAbove)):
            yield child


def title(step: Pass) -> str:
    """The name of a pass in dumps and reports."""
    return title_of(type(step), step.title)
