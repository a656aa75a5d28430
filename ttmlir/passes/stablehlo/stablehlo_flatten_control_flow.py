"""Write short loops out iteration by iteration, and make functions of what longer ones repeat.

A short loop becomes as many copies of its body as it has iterations; counters become constants. Any
other loop becomes a `ttir.while`, which calls a function for each iteration, with a number of
iterations if integers that are known while compiling tell it, else with a function that is asked
before each iteration. Of small branches, all are computed and `stablehlo.select` takes the results
of one; others become a `ttir.case`, which calls one of several functions. If it is known which
branch is taken, only that one is left.

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
Options: `max-trip-count` is the largest number of iterations of loops that are written out. 0, the
default, writes out loops of at most 64 iterations which become at most 256 operations.
Not done here: what a loop computes alike in each iteration stays in it.
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

    from ttmlir.passes.stablehlo.control.outlining import Outlined, Outlining
    from ttmlir.passes.stablehlo.stablehlo_scalars import Known

CONTROL = ("stablehlo.while", "stablehlo.if", "stablehlo.case")
MAX_SHORT_ITERATIONS = 64
"""Most iterations of a loop that is written out without being asked for."""
MAX_SHORT_OPERATIONS = 256
"""Most operations that such a loop becomes."""
MAX_CHOSEN_OPERATIONS = 16
"""Most operations of branches that are all computed."""


@dataclass(frozen=True)
class StableHLOFlattenControlFlowPass(ModulePass):
    """Write short loops out, and make functions of what longer ones repeat."""

    name = "stablehlo-flatten-control-flow"
    title = "StableHLOFlattenControlFlow"
    max_trip_count: int = option(
        0, "Largest number of iterations of a loop that is written out; 0 for short loops"
    )

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Flatten what every function contains, the outermost loops and branches first."""
        flattening = _Flattening(module, self.max_trip_count)
        for function in tuple(module.ops):
            flattening.flatten_inside(function)


class _Flattening:
    """Copies of the bodies of loops and branches in front of them, or functions of them."""

    def __init__(self, module: ModuleOp, max_trip_count: int) -> None:
        self._module = module
        self._max_trip_count = max_trip_count
        self._known: Known = {}
        self._copies = 0
        self._outlining: Outlining | None = None

    def flatten_inside(self, root: Operation) -> None:
        """Flatten what a function contains, the outermost loops and branches first."""
        for region in root.regions:
            for block in region.blocks:
                outermost = [op for op in block.ops if op.name in CONTROL]
                for op in outermost:
                    replace(op, *self._flattened(op))
                if outermost:
                    erase_unused(op for op in block.ops if op.name == "stablehlo.constant")

    def _flattened(self, op: Operation) -> list[SSAValue]:
        """What stands for the results of a loop or branch, computed in front of it."""
        if op.name == "stablehlo.while":
            return self._iterations(op)
        return self._branches(op)

    def _iterations(self, op: Operation) -> list[SSAValue]:
        from ttmlir.passes.stablehlo.control.trip_count import trip_count

        count = trip_count(op, self._known)
        if count is None or not self._is_written_out(op, count):
            return self._called(self._outliner().outline_loop(op, count))
        carried = list(op.operands)
        for _ in range(count):
            carried = self._copied(op.regions[1], carried, op)
        return carried

    def _is_written_out(self, op: Operation, iterations: int) -> bool:
        if iterations < 2:
            return True
        if self._max_trip_count:
            return iterations <= self._max_trip_count
        copies = iterations * self._size_of(op.regions[1])
        return iterations <= MAX_SHORT_ITERATIONS and copies <= MAX_SHORT_OPERATIONS

    def _size_of(self, region: Region) -> int:
        """How many operations a region becomes, as far as can be told."""
        from ttmlir.passes.stablehlo.control.trip_count import trip_count

        size = -1  # for the end
        for op in region.block.ops:
            is_loop = op.name == "stablehlo.while"
            iterations = trip_count(op, ChainMap({}, self._known)) if is_loop else 1
            bodies = sum(map(self._size_of, op.regions)) if op.name in CONTROL else 0
            size += (op.name != "stablehlo.constant") + (iterations or 1) * bodies
            if size > MAX_SHORT_OPERATIONS:
                break
        return size

    def _outliner(self) -> Outlining:
        from ttmlir.passes.stablehlo.control.outlining import Outlining

        if self._outlining is None:
            self._outlining = Outlining(self._module)
        return self._outlining

    def _called(self, outlined: Outlined) -> list[SSAValue]:
        """The results of calls of functions, in which loops and branches are flattened, too."""
        for function in outlined.functions:
            self.flatten_inside(function)
        return outlined.results

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
        if sum(map(self._size_of, regions)) > MAX_CHOSEN_OPERATIONS:
            return self._called(self._outliner().outline_branches(op, regions))
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
            results = self._flattened(copy) if copy.name in CONTROL else self._folded(copy)
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
