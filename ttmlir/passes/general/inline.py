"""Replace calls by what the called functions do.

Before:

    module {
      func.func private @double(%x: i32) -> i32 {
        %0 = arith.addi %x, %x : i32
        return %0 : i32
      }
      func.func @main(%x: i32) -> i32 {
        %0 = call @double(%x) : (i32) -> i32
        %1 = call @double(%0) : (i32) -> i32
        return %1 : i32
      }
    }

After:

    module {
      func.func @main(%arg0: i32) -> i32 {
        %0 = arith.addi %arg0, %arg0 : i32
        %1 = arith.addi %0, %0 : i32
        return %1 : i32
      }
    }

Requires: nothing.
Ensures: no call is left of a function that has one block and does not call itself, directly or
through others; private functions that were inlined everywhere are gone. The location of an inlined
operation says where it was called; all functions are canonicalized.
Options: `canonicalize=false` leaves the functions as they are beside the calls.
Not done here: functions of several blocks stay calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttmlir.limits import MAX_COPIES
from ttmlir.mlir.option_values import option
from ttmlir.mlir.reporting import OpError
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import LocationAttr, ModuleOp
    from xdsl.dialects.func import CallOp, FuncOp


@dataclass(frozen=True)
class InlinePass(ModulePass):
    """Inline function calls."""

    name = "inline"
    title = "Inliner"
    canonicalize: bool = option(True, "Canonicalize all functions")

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Inline the calls in the module, those of the innermost functions first."""
        from xdsl.dialects.func import FuncOp

        from ttmlir.passes.general.canonicalize import CanonicalizePass

        functions = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}
        inlined: set[str] = set()
        made = 0
        for function in _callees_first(functions):
            self.prepare(function)
            for call in _calls(function):
                callee = functions.get(call.callee.string_value())
                if callee is not None and _is_inlinable(callee, functions):
                    made += sum(1 for _ in callee.walk())
                    if made > MAX_COPIES:
                        raise OpError(
                            call,
                            f"cannot be inlined: that makes more than {MAX_COPIES} operations of "
                            "the module; functions that call each other several times grow with "
                            "every level",
                        )
                    _inline(call, callee, self.locate)
                    inlined.add(callee.sym_name.data)
            if self.canonicalize:
                CanonicalizePass().run(ctx, function)
            self.prepare(function)
        _remove_unused(module, [name for name in functions if name in inlined])

    def locate(self, location: LocationAttr, call: LocationAttr) -> LocationAttr:
        """Where an operation is that was at a location, and is called from another one."""
        from xdsl.dialects.builtin import CallSiteLoc

        return CallSiteLoc(location, call)

    def prepare(self, function: FuncOp) -> None:
        """Simplify a function before calls in it are inlined, and after; passes may override it."""


def _calls(function: FuncOp) -> list[CallOp]:
    from xdsl.dialects.func import CallOp

    return [op for op in function.walk() if isinstance(op, CallOp)]


def _callees_first(functions: dict[str, FuncOp]) -> Iterator[FuncOp]:
    """Every function, after those that it calls as far as there is no cycle."""
    seen: set[str] = set()
    stack = [(name, False) for name in reversed(functions)]
    while stack:
        name, is_done = stack.pop()
        if is_done:
            yield functions[name]
        elif name in functions and name not in seen:
            seen.add(name)
            stack.append((name, True))
            callees = [call.callee.string_value() for call in _calls(functions[name])]
            stack += [(callee, False) for callee in reversed(callees)]


def _is_inlinable(function: FuncOp, functions: dict[str, FuncOp]) -> bool:
    """True if the function has one block; what it still calls is a cycle or no function here."""
    if len(function.body.blocks) != 1:
        return False
    remaining = (functions.get(call.callee.string_value()) for call in _calls(function))
    return all(callee is None or len(callee.body.blocks) != 1 for callee in remaining)


def _inline(
    call: CallOp, callee: FuncOp, locate: Callable[[LocationAttr, LocationAttr], LocationAttr]
) -> None:
    from xdsl.ir import SSAValue

    block = call.parent
    assert block is not None, "a call is inside a function"
    body = callee.body.block
    values: dict[SSAValue, SSAValue] = dict(zip(body.args, call.arguments, strict=True))
    *operations, terminator = body.ops
    for op in operations:
        copy = op.clone(values)
        for inner in copy.walk():
            inner.location = locate(inner.location, call.location)
        block.insert_op_before(copy, call)
    for result, returned in zip(call.results, terminator.operands, strict=True):
        result.replace_all_uses_with(values.get(returned, returned))
    call.detach()
    call.erase()


def _remove_unused(module: ModuleOp, names: list[str]) -> None:
    from ttmlir.ir.rewriting import references_of, symbol_visibility, symbols_in

    symbols = symbols_in(module)
    used = {path[0] for op in module.walk() for path in references_of(op)}
    for name in names:
        function = symbols[name]
        if name not in used and symbol_visibility(function) == "private":
            function.detach()
            function.erase(safe_erase=False)
