"""Write loops out turn by turn, and compute all branches and choose.

Programs of `.ttnn` files are straight lines. A loop whose counter is known while compiling, such as
that of a JAX scan, becomes as many copies of its body as it has turns; counters become constants.
Of branches, all are computed and `stablehlo.select` takes the results of one; if it is known which
one, only that one is left.

Before:

    func.func @three_times(%x: tensor<33x70xf32>) -> tensor<33x70xf32> {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %two = stablehlo.constant dense<2> : tensor<i32>
      %0:2 = "stablehlo.while"(%zero, %x) ({
      ^bb0(%i: tensor<i32>, %value: tensor<33x70xf32>):
        %1 = stablehlo.compare LT, %i, %two, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %1 : tensor<i1>
      }, {
      ^bb0(%i: tensor<i32>, %value: tensor<33x70xf32>):
        %one = stablehlo.constant dense<1> : tensor<i32>
        %1 = stablehlo.add %i, %one : tensor<i32>
        %2 = stablehlo.add %value, %x : tensor<33x70xf32>
        stablehlo.return %1, %2 : tensor<i32>, tensor<33x70xf32>
      }) : (tensor<i32>, tensor<33x70xf32>) -> (tensor<i32>, tensor<33x70xf32>)
      return %0#1 : tensor<33x70xf32>
    }

After:

    module {
      func.func @three_times(%arg0: tensor<33x70xf32>) -> tensor<33x70xf32> {
        %0 = stablehlo.add %arg0, %arg0 : tensor<33x70xf32>
        %1 = stablehlo.add %0, %arg0 : tensor<33x70xf32>
        return %1 : tensor<33x70xf32>
      }
    }

Requires: calls inlined (`inline`).
Ensures: no `stablehlo.while`, `stablehlo.if` or `stablehlo.case` is left; constants without users
are gone.
Options: `max-trip-count` is the largest number of turns that a loop may have; more are refused.
Not done here: loops whose end depends on data are refused.
"""

from __future__ import annotations

from collections import ChainMap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttmlir.ir.rewriting import erase_unused, insert_before, refuse_to_legalize, replace
from ttmlir.limits import MAX_COPIES
from ttmlir.mlir.option_values import option
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation, Region, SSAValue

    from ttmlir.passes.stablehlo.stablehlo_scalars import Known

CONTROL = ("stablehlo.while", "stablehlo.if", "stablehlo.case")
DEFAULT_TRIP_COUNT = 64


@dataclass(frozen=True)
class StableHLOFlattenControlFlowPass(ModulePass):
    """Write loops out turn by turn, and compute all branches and choose."""

    name = "stablehlo-flatten-control-flow"
    title = "StableHLOFlattenControlFlow"
    max_trip_count: int = option(DEFAULT_TRIP_COUNT, "Largest number of turns of a loop")

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Flatten what every function contains, the outermost loops and branches first."""
        flattening = _Flattening(self.max_trip_count)
        for function in module.ops:
            for region in function.regions:
                for block in region.blocks:
                    outermost = [op for op in block.ops if op.name in CONTROL]
                    for op in outermost:
                        replace(op, *flattening.flattened(op))
                    if outermost:
                        erase_unused(op for op in block.ops if op.name == "stablehlo.constant")


class _Flattening:
    """Copies of the bodies of loops and branches in front of them."""

    def __init__(self, max_trip_count: int) -> None:
        self._max_trip_count = max_trip_count
        self._known: Known = {}
        self._copies = 0

    def flattened(self, op: Operation) -> list[SSAValue]:
        """What stands for the results of a loop or branch, computed in front of it."""
        if op.name == "stablehlo.while":
            return self._turns(op)
        return self._branches(op)

    def _turns(self, op: Operation) -> list[SSAValue]:
        from ttmlir.passes.stablehlo.stablehlo_scalars import known_integer

        condition, body = op.regions
        carried = list(op.operands)
        turns = 0
        while True:
            arguments: Known = {
                argument: known_integer(value, self._known)
                for argument, value in zip(condition.block.args, carried, strict=True)
            }
            decision = condition.block.last_op
            assert decision is not None, "verified: a condition ends in stablehlo.return"
            # What the condition computes is known for one turn only.
            known = ChainMap({**arguments}, self._known)
            goes_on = known_integer(decision.operands[0], known)
            if goes_on is None:
                refuse_to_legalize(
                    op,
                    "its number of turns depends on data; supported are loops whose condition "
                    "compares integers that are known while compiling, such as those of "
                    "jax.lax.scan and of jax.lax.fori_loop with constant bounds",
                )
            if not goes_on:
                return carried
            turns += 1
            if turns > self._max_trip_count:
                refuse_to_legalize(
                    op,
                    f"it has more than {self._max_trip_count} turns, which would be written out "
                    "one by one; raise max-trip-count, or make the loop shorter",
                )
            carried = self._copied(body, carried, op)

    def _branches(self, op: Operation) -> list[SSAValue]:
        from ttmlir.passes.stablehlo.stablehlo_scalars import known_integer

        regions = list(op.regions)
        if op.name == "stablehlo.if":
            # The first region is that of true, the last one of all other numbers.
            regions.reverse()
        selector = op.operands[0]
        number = known_integer(selector, self._known)
        if number is not None:
            is_inside = 0 <= number < len(regions)
            return self._copied(regions[number if is_inside else -1], (), op)
        branches = [self._copied(region, (), op) for region in regions]
        if op.name == "stablehlo.if":
            return [_chosen(op, selector, pair[1], pair[0]) for pair in zip(*branches, strict=True)]
        results = branches[-1]
        for index, branch in enumerate(branches[:-1]):
            is_meant = _equals(op, selector, index)
            results = [
                _chosen(op, is_meant, value, other)
                for value, other in zip(branch, results, strict=True)
            ]
        return results

    def _copied(
        self, region: Region, arguments: Sequence[SSAValue], before: Operation
    ) -> list[SSAValue]:
        """The values at the end of a region, its operations copied in front of `before`."""
        block = region.block
        values: dict[SSAValue, SSAValue] = dict(zip(block.args, arguments, strict=True))
        *operations, end = block.ops
        for original in operations:
            self._count_copies(original)
            copy = original.clone(values)
            insert_before(before, copy)
            results = self.flattened(copy) if copy.name in CONTROL else self._folded(copy)
            if results is not None:
                values.update(zip(original.results, results, strict=True))
                replace(copy, *results)
        return [values.get(value, value) for value in end.operands]

    def _count_copies(self, op: Operation) -> None:
        self._copies += sum(1 for _ in op.walk())
        if self._copies > MAX_COPIES:
            refuse_to_legalize(
                op,
                f"unrolling makes more than {MAX_COPIES} operations of the module; loops inside of "
                "loops multiply, so make them shorter",
            )

    def _folded(self, op: Operation) -> list[SSAValue] | None:
        """A constant for the result of an operation whose number is known."""
        from ttmlir.passes.stablehlo.stablehlo_scalars import known_integer

        if op.name == "stablehlo.constant" or len(op.results) != 1:
            return None
        number = known_integer(op.results[0], self._known)
        return None if number is None else [_constant(op, number)]


def _constant(before: Operation, number: int) -> SSAValue:
    from typing import cast

    from ttmlir.dialects.stablehlo.creation import ConstantOp
    from ttmlir.mlir.attributes.elements import ElementsType, elements_of

    type_ = before.results[0].type
    value = elements_of(cast("ElementsType", type_), [number])
    op = ConstantOp.create(
        result_types=[type_], properties={"value": value}, location=before.location
    )
    insert_before(before, op)
    return op.results[0]


def _equals(before: Operation, value: SSAValue, number: int) -> SSAValue:
    from typing import cast

    from xdsl.dialects.builtin import TensorType, i1

    from ttmlir.dialects.stablehlo.creation import ConstantOp
    from ttmlir.dialects.stablehlo.elementwise import CompareOp
    from ttmlir.dialects.stablehlo.enums import ComparisonDirectionAttr, ComparisonTypeAttr
    from ttmlir.mlir.attributes.elements import ElementsType, elements_of

    constant = ConstantOp.create(
        result_types=[value.type],
        properties={"value": elements_of(cast("ElementsType", value.type), [number])},
        location=before.location,
    )
    op = CompareOp.create(
        operands=[value, constant.results[0]],
        result_types=[TensorType(i1, ())],
        properties={
            "comparison_direction": ComparisonDirectionAttr("EQ"),
            "compare_type": ComparisonTypeAttr("SIGNED"),
        },
        location=before.location,
    )
    insert_before(before, constant, op)
    return op.results[0]


def _chosen(
    before: Operation, predicate: SSAValue, on_true: SSAValue, on_false: SSAValue
) -> SSAValue:
    from ttmlir.dialects.stablehlo.elementwise import SelectOp

    if on_true is on_false:
        return on_true
    op = SelectOp.create(
        operands=[predicate, on_true, on_false],
        result_types=[on_true.type],
        location=before.location,
    )
    insert_before(before, op)
    return op.results[0]
