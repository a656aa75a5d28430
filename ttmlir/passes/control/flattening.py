"""Loops and branches that are unrolled, or become `ttir.while` and `ttir.case`.

All dialects meet in one form: `stablehlo.while`, `stablehlo.if` and `stablehlo.case`, whose regions
may hold operations of any dialect.
"""

from __future__ import annotations

from collections import ChainMap
from typing import TYPE_CHECKING

from ttmlir.ir.constants import CONSTANTS
from ttmlir.ir.rewriting import erase_unused, insert_before, refuse_to_legalize, replace
from ttmlir.limits import MAX_COPIES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation, Region, SSAValue

    from ttmlir.passes.control.choices import Choices
    from ttmlir.passes.control.outlining import Outlined, Outlining
    from ttmlir.passes.stablehlo.stablehlo_scalars import Known

CONTROL = ("stablehlo.while", "stablehlo.if", "stablehlo.case")
MAX_SHORT_ITERATIONS = 64
"""Most iterations of a loop that is unrolled without being asked for."""
MAX_SHORT_OPERATIONS = 256
"""Most operations that such a loop becomes."""
MAX_CHOSEN_OPERATIONS = 16
"""Most operations of branches that are all computed."""


class Flattening:
    """Copies of the bodies of loops and branches in front of them, or functions of them."""

    def __init__(self, module: ModuleOp, max_trip_count: int, choices: Choices) -> None:
        """Flatten the loops of a module; those up to `max_trip_count` are unrolled if not 0."""
        self._module = module
        self._max_trip_count = max_trip_count
        self._choices = choices
        self._known: Known = {}
        self._copies = 0
        self._outlining: Outlining | None = None

    def flatten(self) -> None:
        """Flatten what all functions contain."""
        for function in tuple(self._module.ops):
            self.flatten_inside(function)

    def flatten_inside(self, root: Operation) -> None:
        """Flatten what a function contains, the outermost loops and branches first."""
        for region in root.regions:
            for block in region.blocks:
                outermost = [op for op in block.ops if op.name in CONTROL]
                for op in outermost:
                    replace(op, *self._flattened(op))
                if outermost:
                    erase_unused(op for op in block.ops if op.name in CONSTANTS)

    def _flattened(self, op: Operation) -> list[SSAValue]:
        """What stands for the results of a loop or branch, computed in front of it."""
        if op.name == "stablehlo.while":
            return self._iterations(op)
        return self._branches(op)

    def _iterations(self, op: Operation) -> list[SSAValue]:
        from ttmlir.passes.control.trip_count import trip_count

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
        from ttmlir.passes.control.trip_count import trip_count

        size = -1  # for the end
        for op in region.block.ops:
            is_loop = op.name == "stablehlo.while"
            iterations = trip_count(op, ChainMap({}, self._known)) if is_loop else 1
            bodies = sum(map(self._size_of, op.regions)) if op.name in CONTROL else 0
            size += (op.name not in CONSTANTS) + (iterations or 1) * bodies
            if size > MAX_SHORT_OPERATIONS:
                break
        return size

    def _outliner(self) -> Outlining:
        from ttmlir.passes.control.outlining import Outlining

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
            return [
                self._choose(op, selector, pair[1], pair[0]) for pair in zip(*branches, strict=True)
            ]
        results = branches[-1]
        for index, branch in enumerate(branches[:-1]):
            is_meant = self._choices.equals(op, selector, index)
            results = [
                self._choose(op, is_meant, value, other)
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

    def _choose(
        self, before: Operation, predicate: SSAValue, on_true: SSAValue, on_false: SSAValue
    ) -> SSAValue:
        if on_true is on_false:
            return on_true
        return self._choices.choose(before, predicate, on_true, on_false)

    def _folded(self, op: Operation) -> list[SSAValue] | None:
        """A constant for the result of an operation whose number is known."""
        from ttmlir.passes.control.choices import make_constant
        from ttmlir.passes.stablehlo.stablehlo_scalars import known_integer

        if op.name in CONSTANTS or len(op.results) != 1:
            return None
        number = known_integer(op.results[0], self._known)
        return None if number is None else [make_constant(op, number)]
