"""Say how many iterations loops have that count.

Before:

    func.func @main(%x: tensor<33x70xf32>) -> tensor<33x70xf32> {
      %begin = "ttir.constant"() <{value = dense<2> : tensor<1xi32>}> : () -> tensor<1xi32>
      %0:2 = "ttir.while"(%begin, %x) <{body = @body, condition = @condition}>
          : (tensor<1xi32>, tensor<33x70xf32>) -> (tensor<1xi32>, tensor<33x70xf32>)
      return %0#1 : tensor<33x70xf32>
    }
    func.func private @body(%i: tensor<1xi32>, %x: tensor<33x70xf32>)
        -> (tensor<1xi32>, tensor<33x70xf32>) {
      %step = "ttir.constant"() <{value = dense<3> : tensor<1xi32>}> : () -> tensor<1xi32>
      %0 = "ttir.add"(%i, %step) : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi32>
      %1 = "ttir.sin"(%x) : (tensor<33x70xf32>) -> tensor<33x70xf32>
      return %0, %1 : tensor<1xi32>, tensor<33x70xf32>
    }
    func.func private @condition(%i: tensor<1xi32>, %x: tensor<33x70xf32>) -> tensor<1xi1> {
      %end = "ttir.constant"() <{value = dense<10> : tensor<1xi32>}> : () -> tensor<1xi32>
      %0 = "ttir.lt"(%i, %end) : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi1>
      return %0 : tensor<1xi1>
    }

After:

    ...
        %1:2 = "ttir.while"(%0, %arg0)
            <{body = @body, condition = @condition, trip_count = 3 : i64}>
            : (tensor<1xi32>, tensor<33x70xf32>) -> (tensor<1xi32>, tensor<33x70xf32>)
        ...

Requires: nothing.
Ensures: a `ttir.while` has a `trip_count` whose condition compares an integer with a constant that
begins with a constant and to which the body adds one, or from which it subtracts one.
Options: none.
Not done here: loops of ttcore count by `initial`, `limit` and `step` from the start.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import IntegerAttr, IntegerType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import BlockArgument

from ttmlir.dialects import ttir
from ttmlir.ir.constants import splat_number
from ttmlir.ir.tensor_types import element_type, limits_of
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.ttir.value_rewriting import inputs_of, made_by, mnemonic_of, number_known

if TYPE_CHECKING:
    from collections.abc import Mapping

    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute, SSAValue

_MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "ne": "ne"}


@dataclass(frozen=True)
class TTIRWhileTripCountPass(ModulePass):
    """Say how many iterations loops have that count."""

    name = "ttir-while-trip-count"
    title = "TTIRWhileTripCount"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Set the property of every loop that counts."""
        functions = {op.sym_name.data: op for op in module.walk() if isinstance(op, FuncOp)}
        for op in module.walk():
            if isinstance(op, ttir.WhileOp) and "trip_count" not in op.properties:
                count = _trip_count(op, functions)
                if count is not None:
                    op.properties["trip_count"] = IntegerAttr(count, 64)


def _trip_count(loop: ttir.WhileOp, functions: Mapping[str, FuncOp]) -> int | None:
    body, condition = (functions[_callee(loop, name)] for name in ("body", "condition"))
    answer = made_by(_returned(condition)[0], *_MIRRORED)
    if answer is None:
        return None
    relation = mnemonic_of(answer)
    counter, limit = inputs_of(answer)[:2]
    if not isinstance(counter, BlockArgument):
        relation, counter, limit = _MIRRORED[relation], limit, counter
    if not isinstance(counter, BlockArgument) or counter.index >= len(loop.results):
        return None
    number = counter.index
    begin, end = _number(loop.operands[number]), _number(limit)
    step = _step(_returned(body)[number], body.body.block.args[number])
    element = element_type(counter)
    if begin is None or end is None or not step or not isinstance(element, IntegerType):
        return None
    count = _iterations(relation, begin, end, step)
    # A counter that passes the last number of its type begins anew.
    low, high = limits_of(cast("Attribute", element))
    if count is None or not low <= begin + count * step <= high:
        return None
    return count


def _callee(loop: ttir.WhileOp, name: str) -> str:
    from xdsl.dialects.builtin import SymbolRefAttr

    symbol = loop.properties[name]
    assert isinstance(symbol, SymbolRefAttr), "the verifier has seen it"
    return symbol.root_reference.data


def _returned(function: FuncOp) -> tuple[SSAValue, ...]:
    end = function.body.block.last_op
    assert isinstance(end, ReturnOp), "functions end by returning"
    return tuple(end.operands)


def _number(value: SSAValue) -> int | None:
    number = number_known(value)
    number = splat_number(value) if number is None else number
    return None if number is None else int(number)


def _step(value: SSAValue, counter: SSAValue) -> int | None:
    """What a body adds to its counter."""
    op = made_by(value, "add", "subtract")
    if op is None:
        return None
    first, second = inputs_of(op)[:2]
    if op.name == "ttir.add" and second is counter:
        first, second = second, first
    number = _number(second) if first is counter else None
    return -number if number is not None and op.name == "ttir.subtract" else number


def _iterations(relation: str, begin: int, end: int, step: int) -> int | None:
    """How often a counter keeps its relation to a limit; None if it always does."""
    way = end - begin
    if relation == "ne":
        return way // step if way % step == 0 and way // step >= 0 else None
    if relation in ("gt", "ge"):
        way, step = -way, -step
    if relation in ("le", "ge"):
        way += 1
    if way <= 0:
        return 0
    return -(-way // step) if step > 0 else None
