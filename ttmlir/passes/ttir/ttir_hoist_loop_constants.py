"""Hoist the constants of loops, and pass them to each iteration.

Before:

    func.func @main(%x: tensor<33x70xf32>) -> tensor<33x70xf32> {
      %0 = "ttir.while"(%x) <{body = @body, trip_count = 1000 : i64}>
          : (tensor<33x70xf32>) -> tensor<33x70xf32>
      return %0 : tensor<33x70xf32>
    }
    func.func private @body(%x: tensor<33x70xf32>) -> tensor<33x70xf32> {
      %0 = "ttir.constant"() <{value = dense<2.0> : tensor<33x70xf32>}> : () -> tensor<33x70xf32>
      return %0 : tensor<33x70xf32>
    }

After:

    module {
      func.func @main(%arg0: tensor<33x70xf32>) -> tensor<33x70xf32> {
        %0 = "ttir.constant"() <{value = dense<2.000000e+00> : tensor<33x70xf32>}>
            : () -> tensor<33x70xf32>
        %1 = "ttir.while"(%arg0, %0) <{body = @body, trip_count = 1000 : i64}>
            : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
        return %1 : tensor<33x70xf32>
      }
      func.func private @body(%arg0: tensor<33x70xf32>, %arg1: tensor<33x70xf32>)
          -> tensor<33x70xf32> {
        return %arg1 : tensor<33x70xf32>
      }
    }

Requires: nothing.
Ensures: no function that one loop alone calls has constants.
Options: none.
Not done here: constants of branches stay in them; what else is the same in each iteration is moved
by `ttir-loop-invariant-code-motion`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import FunctionType
from xdsl.dialects.func import CallOp, FuncOp

from ttmlir.dialects import ttir
from ttmlir.dialects.definition.control import ControlOp
from ttmlir.ir.rewriting import erase, insert_before
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute, SSAValue


@dataclass(frozen=True)
class TTIRHoistLoopConstantsPass(ModulePass):
    """Hoist the constants of loops."""

    name = "ttir-hoist-loop-constants"
    title = "TTIRHoistLoopConstants"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Hoist constants out of all loops, those of inner loops out of outer ones, too."""
        hoist_out_of_loops(module, _hoist)


def hoist_out_of_loops(
    module: ModuleOp, hoist: Callable[[ttir.WhileOp, dict[str, FuncOp], Counter[str]], bool]
) -> None:
    """Move code out of all loops, from inner loops on out of outer ones.

    `hoist` moves the code of one loop, given all functions by name and how often each is called,
    and says whether there was any.
    """
    loops = [op for op in module.walk() if isinstance(op, ttir.WhileOp)]
    if not loops:
        return
    functions = {op.sym_name.data: op for op in module.walk() if isinstance(op, FuncOp)}
    calls = _count_calls(module)
    pending = loops
    while pending:
        # What has moved into a function that a loop calls may move on.
        moved = [loop for loop in pending if hoist(loop, functions, calls)]
        changed = {loop.parent_op() for loop in moved}
        pending = [
            loop for loop in loops if any(functions.get(name) in changed for name in loop.callees())
        ]


def _count_calls(module: ModuleOp) -> Counter[str]:
    calls = Counter[str]()
    for op in module.walk():
        if isinstance(op, ControlOp):
            calls.update(op.callees())
        elif isinstance(op, CallOp):
            calls[op.callee.string_value()] += 1
        elif isinstance(op, FuncOp) and op.sym_visibility is None:
            calls[op.sym_name.data] += 1
    return calls


def _hoist(loop: ttir.WhileOp, functions: dict[str, FuncOp], calls: Counter[str]) -> bool:
    """Move the constants of a loop's functions in front of it; False if there are none."""
    parts = [functions[name] for name in loop.callees()]
    if any(calls[part.sym_name.data] != 1 for part in parts):
        return False
    constants = [op for part in parts for op in part.body.ops if isinstance(op, ttir.ConstantOp)]
    if not constants:
        return False
    made: dict[tuple[Attribute, Attribute], SSAValue] = {}
    places: dict[SSAValue, int] = {}
    for constant in constants:
        key = (constant.value, constant.results[0].type)
        if key not in made:
            copy = constant.clone()
            insert_before(loop, copy)
            made[key] = copy.results[0]
            places[copy.results[0]] = len(places)
    first = len(loop.operands)
    for part in parts:
        add_arguments(part, [value.type for value in made.values()])
    for constant in constants:
        part = constant.parent
        assert part is not None, "it is in the body of a function"
        value = made[constant.value, constant.results[0].type]
        constant.results[0].replace_all_uses_with(part.args[first + places[value]])
        erase(constant)
    loop.operands = [*loop.operands, *made.values()]
    return True


def add_arguments(function: FuncOp, types: Sequence[Attribute]) -> None:
    """Let a function take more, after what it takes."""
    block = function.body.block
    for type_ in types:
        block.insert_arg(type_, len(block.args), function.location)
    signature = function.function_type
    function.function_type = FunctionType.from_lists(
        [*signature.inputs.data, *types], signature.outputs.data
    )
