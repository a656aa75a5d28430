"""Passes that go wrong on purpose: what a failing pipeline does is tested with them.

`test-pass-failure` reports an error at the operation, `test-pass-crash` raises an exception as only
a mistake in a pass does, and `test-pass-invalid` makes functions without an end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttmlir.mlir.reporting import OpError
from ttmlir.passes.core.base import FunctionPass, OperationPass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.func import FuncOp
    from xdsl.ir import Operation


@dataclass(frozen=True)
class TestPassFailure(OperationPass):
    """Test a pass in the pass manager that always fails."""

    name = "test-pass-failure"

    def apply(self, ctx: Context, op: Operation) -> None:
        """Report an error at `op`."""
        raise OpError(op, "is refused on purpose")


@dataclass(frozen=True)
class TestPassCrash(OperationPass):
    """Test a pass in the pass manager that always crashes."""

    name = "test-pass-crash"

    def apply(self, ctx: Context, op: Operation) -> None:
        """Raise an exception that is no diagnostic."""
        raise ZeroDivisionError("made on purpose")


@dataclass(frozen=True)
class TestPassInvalid(FunctionPass):
    """Test a pass in the pass manager that leaves invalid IR."""

    name = "test-pass-invalid"

    def apply(self, ctx: Context, function: FuncOp) -> None:
        """Take the terminator out of the function."""
        terminator = function.body.blocks[-1].last_op
        assert terminator is not None, "a function ends with a terminator"
        terminator.detach()
