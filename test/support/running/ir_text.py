"""Reads, checks and prints IR in the tests of the dialects."""

from __future__ import annotations

from functools import cache

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

from ttmlir.dialects import DIALECTS
from ttmlir.mlir.context import make_context
from ttmlir.mlir.reader import parse_module
from ttmlir.mlir.reporting import DiagnosticError

DEVICE = (
    "#device = #tt.device<workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>, "
    "l1Map = (d0, d1)[s0, s1] -> (0, d0 floordiv s0, d1 floordiv s1, "
    "(d0 mod s0) * s1 + d1 mod s1), dramMap = (d0, d1)[s0, s1] -> (0, 0, d0, d1), "
    "meshShape = , chipIds = [0]>\n"
)
"""The definition of an alias for a device."""


@cache
def context() -> Context:
    """A context with all dialects."""
    return make_context(DIALECTS)


def parse(text: str) -> ModuleOp:
    """The module that the text spells."""
    return parse_module(text, "test.mlir", context())


def parse_op(text: str, *argument_types: str) -> Operation:
    """The operation that stands, as text, in a function with the arguments `%0`, `%1` ..."""
    arguments = ", ".join(f"%{i}: {type}" for i, type in enumerate(argument_types))
    module = parse(f"{DEVICE}func.func @f({arguments}) {{\n{text}\nreturn\n}}")
    function = next(iter(module.body.block.ops))
    return next(iter(function.regions[0].block.ops))


def message_of(op: Operation) -> str | None:
    """What the verifier says about an operation alone, without the operation's name."""
    try:
        op.verify(verify_nested_ops=False)
    except VerifyException as error:
        return str(error)
    except DiagnosticError as error:
        return error.diagnostics[0].message.removeprefix(f"'{op.name}' op ")
    return None
