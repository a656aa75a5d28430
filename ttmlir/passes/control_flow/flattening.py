"""Loops and branches that are unrolled, or outlined as `ttir.while` and `ttir.case`.

All dialects meet in one form: `stablehlo.while`, `stablehlo.if` and `stablehlo.case`, whose regions
may hold operations of any dialect.
"""

from __future__ import annotations

from collections import ChainMap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, cast

from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType, ModuleOp, TensorType, i1
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue

from ttmlir.dialects import ttir
from ttmlir.ir.constants import CONSTANTS
from ttmlir.ir.rewriting import (
    erase,
    erase_unused,
    insert_before,
    refuse_to_legalize,
    replace,
    symbols_in,
)
from ttmlir.ir.tensor_types import value_shape
from ttmlir.limits import MAX_COPIES
from ttmlir.mlir.attributes import ElementsType, elements_of
from ttmlir.mlir.reporting import around
from ttmlir.optable import definition
from ttmlir.passes.stablehlo.stablehlo_scalars import (
    comparison_direction,
    elementwise_definition,
    integer_type,
    known_integer,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute, Block, Operation, Region, SSAValue, Use

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
        """How many operations a region becomes, as far as it is known."""

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
        from ttmlir.passes.stablehlo.stablehlo_scalars import known_integer

        if op.name in CONSTANTS or len(op.results) != 1:
            return None
        number = known_integer(op.results[0], self._known)
        return None if number is None else [make_constant(op, number)]


# --- Choices --------------------------------------------------------------------------------------
# Constants, comparisons and choices that take the place of loops and branches.


class Choices(Protocol):
    """Makes the operations that choose between the results of branches."""

    def equals(self, before: Operation, value: SSAValue, number: int) -> SSAValue:
        """Whether a tensor of one integer is a number."""
        ...

    def choose(
        self, before: Operation, predicate: SSAValue, on_true: SSAValue, on_false: SSAValue
    ) -> SSAValue:
        """One of two tensors, by a truth value without dimensions."""
        ...


class StableHLOChoices:
    """Choices in StableHLO."""

    def equals(self, before: Operation, value: SSAValue, number: int) -> SSAValue:
        """Whether a tensor of one integer is a number."""
        from ttmlir.dialects.stablehlo.attrs import ComparisonDirectionAttr, ComparisonTypeAttr
        from ttmlir.dialects.stablehlo.creation import ConstantOp
        from ttmlir.dialects.stablehlo.elementwise import CompareOp

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

    def choose(
        self, before: Operation, predicate: SSAValue, on_true: SSAValue, on_false: SSAValue
    ) -> SSAValue:
        """One of two tensors, by a truth value without dimensions."""
        from ttmlir.dialects.stablehlo.elementwise import SelectOp

        op = SelectOp.create(
            operands=[predicate, on_true, on_false],
            result_types=[on_true.type],
            location=before.location,
        )
        insert_before(before, op)
        return op.results[0]


class TTIRChoices:
    """Choices in ttir."""

    def equals(self, before: Operation, value: SSAValue, number: int) -> SSAValue:
        """Whether a tensor of one integer is a number."""
        from ttmlir.ir.builder import Builder

        builder = Builder.before(before)
        constant = builder.create_splat(number, value.type)
        return builder.create("eq", [value, constant], TensorType(i1, ()))

    def choose(
        self, before: Operation, predicate: SSAValue, on_true: SSAValue, on_false: SSAValue
    ) -> SSAValue:
        """One of two tensors, by a truth value without dimensions."""
        from ttmlir.ir.builder import Builder

        builder = Builder.before(before)
        shaped = builder.reshape(predicate, (1,) * len(value_shape(on_true)))
        return builder.create("where", [shaped, on_true, on_false], on_true.type)


def make_constant(before: Operation, number: int) -> SSAValue:
    """A constant for the one result of an operation: an integer, or a tensor of one integer.

    It is of StableHLO where the operation is, else of arith.
    """
    type_ = before.results[0].type
    location = before.location
    if isinstance(type_, (IndexType, IntegerType)):
        from xdsl.dialects.arith import ConstantOp as NumberOp

        value = IntegerAttr(number, cast("IntegerType", type_))
        op = NumberOp.create(
            result_types=[value.type], properties={"value": value}, location=location
        )
    else:
        value = elements_of(cast("ElementsType", type_), [number])
        if before.name.startswith("stablehlo."):
            from ttmlir.dialects.stablehlo.creation import ConstantOp as cls
        else:
            from xdsl.dialects.arith import ConstantOp as cls

        op = cls.create(result_types=[type_], properties={"value": value}, location=location)
    insert_before(before, op)
    return op.results[0]


# --- Trip counts ----------------------------------------------------------------------------------
# How many iterations a loop makes, as far as integers that are known while compiling tell.


_ADD, _SUBTRACT = definition("add"), definition("subtract")
_SAME_NUMBER = ("arith.index_cast", "tensor.extract", "tensor.from_elements")
"""Operations whose result is their first operand in another form."""
_MIRRORED = {"EQ": "EQ", "NE": "NE", "LT": "GT", "LE": "GE", "GT": "LT", "GE": "LE"}
"""The comparison of the second operand with the first one."""
MAX_FOLLOWED = 4096
"""Iterations of a loop that are followed one by one, where its counter has no simple step."""


def trip_count(op: Operation, known: Known) -> int | None:
    """The number of iterations of a `stablehlo.while`; None if it depends on data.

    Counters that grow by a constant up to a constant are computed at once, whatever their end;
    others are followed for `MAX_FOLLOWED` iterations.
    """
    condition, body = (region.block for region in op.regions)
    decision = _end(condition)[0]
    counted = _simple_count(op, condition, body, decision, known)
    if counted is not None:
        return counted
    needed = _deciding(condition, body, decision)
    numbers: dict[int, int | None] = {
        place: known_integer(op.operands[place], known) for place in sorted(needed)
    }
    if None in numbers.values():
        return None
    end = _end(body)
    for iterations in range(MAX_FOLLOWED + 1):
        asked = _with_arguments(condition, numbers, known)
        goes_on = known_integer(decision, asked)
        if goes_on is None:
            return None
        if not goes_on:
            return iterations
        iteration = _with_arguments(body, numbers, known)
        numbers = {place: known_integer(end[place], iteration) for place in numbers}
        if None in numbers.values():
            return None
    return None


def _end(block: Block) -> Sequence[SSAValue]:
    last = block.last_op
    assert last is not None, "verified: regions of a loop end in stablehlo.return"
    return last.operands


def _with_arguments(block: Block, numbers: dict[int, int | None], known: Known) -> Known:
    """What is known within an iteration: what it computes is forgotten after it."""
    arguments: Known = {block.args[place]: number for place, number in numbers.items()}
    arguments |= {argument: None for argument in block.args if argument not in arguments}
    return ChainMap(arguments, known)


def _deciding(condition: Block, body: Block, decision: SSAValue) -> set[int]:
    """The carried values that the condition depends on, in this iteration or in later ones."""
    end = _end(body)
    found: set[int] = set()
    pending = set(_source_arguments(decision, condition))
    while pending:
        place = pending.pop()
        if place not in found:
            found.add(place)
            pending |= set(_source_arguments(end[place], body))
    return found


def _source_arguments(value: SSAValue, block: Block) -> Iterator[int]:
    """The arguments of a block that a value is computed from, by number."""
    seen: set[SSAValue] = set()
    pending = [value]
    while pending:
        each = pending.pop()
        if each in seen:
            continue
        seen.add(each)
        owner: Any = each.owner
        if owner is block:
            yield cast("Any", each).index
        elif owner is not None and getattr(owner, "parent", None) is block:
            pending.extend(owner.operands)


def _source(value: SSAValue) -> SSAValue:
    """What a number was before it changed between tensors, numbers and places."""
    while getattr(value.owner, "name", "") in _SAME_NUMBER:
        value = cast("Any", value.owner).operands[0]
    return value


def _width(value: SSAValue) -> int:
    type_ = integer_type(value)
    return 0 if type_ is None else type_.width.data


def _simple_count(
    op: Operation, condition: Block, body: Block, decision: SSAValue, known: Known
) -> int | None:
    """The iterations of a loop that compares a counter with a constant and adds a constant."""
    compare: Any = _source(decision).owner
    if getattr(compare, "parent", None) is not condition:
        return None
    direction = comparison_direction(compare)
    if direction is None:
        return None
    counter, bound = map(_source, compare.operands)
    if counter.owner is not condition or (
        bound.owner is condition and not _is_changed(body, cast("Any", counter).index)
    ):
        counter, bound, direction = bound, counter, _MIRRORED[direction]
    if counter.owner is not condition:
        return None
    place: int = cast("Any", counter).index
    start = known_integer(op.operands[place], known)
    end = _bound(op, condition, body, bound, known)
    step = _step(body, place, known)
    if start is None or end is None or step is None:
        return None
    iterations = _count(start, end, step, direction)
    if iterations is None:
        return None
    # Where the counter would wrap round, it is followed.
    return iterations if abs(start + iterations * step) < 1 << (_width(counter) - 1) else None


def _is_changed(body: Block, place: int) -> bool:
    return _end(body)[place] is not body.args[place]


def _bound(
    op: Operation, condition: Block, body: Block, bound: SSAValue, known: Known
) -> int | None:
    """What the counter is compared with: a constant, or a value that no iteration changes."""
    if bound.owner is not condition:
        return known_integer(bound, known)
    place: int = cast("Any", bound).index
    return None if _is_changed(body, place) else known_integer(op.operands[place], known)


def _step(body: Block, place: int, known: Known) -> int | None:
    """What an iteration adds to a carried value; None if it does anything else to it."""
    owner: Any = _source(_end(body)[place]).owner
    means = elementwise_definition(owner) if hasattr(owner, "name") else None
    if means not in (_ADD, _SUBTRACT):
        return None
    left, right = owner.operands
    counter = body.args[place]
    if means is _ADD and _source(right) is counter:
        left, right = right, left
    if _source(left) is not counter or right in body.args:
        return None
    step = known_integer(right, ChainMap({}, dict.fromkeys(body.args), known))
    return -step if step is not None and means is _SUBTRACT else step


def _count(start: int, end: int, step: int, direction: str) -> int | None:
    """Iterations until `start`, `start + step` ... no longer compares with `end`; None if never."""
    if direction in ("GT", "GE"):
        start, end, step = -start, -end, -step
    if direction in ("LE", "GE"):
        end += 1
    if direction == "EQ":
        return None
    if direction == "NE":
        steps, rest = divmod(end - start, step) if step else (0, end - start)
        return None if rest or steps < 0 else steps
    if start >= end:
        return 0
    return None if step <= 0 else -(-(end - start) // step)


# --- Functions of regions -------------------------------------------------------------------------
# Regions of loops and branches as private functions of the module.


@dataclass(frozen=True)
class Outlined:
    """What a loop or branch has become."""

    functions: Sequence[FuncOp]
    """Those that are called."""
    results: list[SSAValue]
    """What stands for the results of the loop or branch."""


@dataclass
class Outlining:
    """Makes functions of regions, under names that are free in the module."""

    module: ModuleOp

    def __post_init__(self) -> None:
        """Look at the names that are taken."""
        self._names = set(symbols_in(self.module))

    def outline_loop(self, op: Operation, trip_count: int | None) -> Outlined:
        """Put a `ttir.while` in front of a `stablehlo.while`, whose regions it takes."""
        condition, body = op.regions
        blocks = [body.block] if trip_count is not None else [body.block, condition.block]
        self._take_in_constants(blocks)
        end = body.block.last_op
        assert end is not None, "verified: a body ends in stablehlo.return"
        changes = [
            value is not arg for value, arg in zip(end.operands, body.block.args, strict=True)
        ]
        carried = [place for place, changed in enumerate(changes) if changed]
        for place, changed in enumerate(changes):
            if not changed and _is_constant(op.operands[place]):
                _copy_constant(op.operands[place], [block.args[place] for block in blocks])
        shared = [
            place
            for place, changed in enumerate(changes)
            if not changed and any(_is_used(block, place, end) for block in blocks)
        ]
        captured = captured_values(blocks)
        places = [*carried, *shared]
        operands = [*(op.operands[place] for place in places), *captured]
        returned = [end.operands[place] for place in carried]
        parts = ((blocks[0], "body", returned),)
        if trip_count is None:
            last = condition.block.last_op
            assert last is not None, "verified: a condition ends in stablehlo.return"
            parts = (*parts, (blocks[1], "condition", [last.operands[0]]))
        functions = [
            self._function(op, block, kind, places, captured, values)
            for block, kind, values in parts
        ]
        loop = ttir.WhileOp.make(
            operands,
            [op.results[place].type for place in carried],
            functions[0].sym_name.data,
            condition=None if trip_count is not None else functions[1].sym_name.data,
            trip_count=trip_count,
            location=op.location,
        )
        insert_before(op, loop)
        results = list(op.operands)
        for place, result in zip(carried, loop.results, strict=True):
            results[place] = result
        return Outlined(functions, results)

    def outline_branches(self, op: Operation, regions: Sequence[Region]) -> Outlined:
        """Put a `ttir.case` in front of a `stablehlo.if` or `case`, whose regions it takes."""
        blocks = [region.block for region in regions]
        self._take_in_constants(blocks)
        captured = captured_values(blocks)
        functions: list[FuncOp] = []
        for block in blocks:
            last = block.last_op
            assert last is not None, "verified: a branch ends in stablehlo.return"
            functions.append(self._function(op, block, "branch", (), captured, last.operands))
        case = ttir.CaseOp.make(
            op.operands[0],
            captured,
            [result.type for result in op.results],
            [function.sym_name.data for function in functions],
            location=op.location,
        )
        insert_before(op, case)
        return Outlined(functions, list(case.results))

    def _take_in_constants(self, blocks: Sequence[Block]) -> None:
        """Give each region constants of its own: what is known there stays known."""
        for block in blocks:
            for value in captured_values([block]):
                if _is_constant(value):
                    _copy_constant(value, [value], within=block)

    def _function(
        self,
        op: Operation,
        block: Block,
        kind: str,
        places: Sequence[int],
        captured: Sequence[SSAValue],
        returned: Sequence[SSAValue],
    ) -> FuncOp:
        """The function of a region, which takes arguments of it and what it captures."""
        arguments = [block.args[place] for place in places]
        types: list[Attribute] = [value.type for value in (*arguments, *captured)]
        results = [value.type for value in returned]
        new = Block(arg_types=types)
        end = block.last_op
        assert end is not None, "regions of loops and branches end in stablehlo.return"
        new.add_op(ReturnOp.create(operands=returned, location=end.location))
        erase(end)
        last = new.last_op
        assert last is not None, "it was just added"
        for inner in tuple(block.ops):
            inner.detach()
            insert_before(last, inner)
        for argument, outer in zip(new.args, (*arguments, *captured), strict=True):
            replace_within(outer, argument, new)
        function = FuncOp(
            self._free_name(op, kind), (types, results), Region(new), visibility="private"
        )
        function.location = op.location
        self.module.body.block.add_op(function)
        return function

    def _free_name(self, op: Operation, kind: str) -> str:
        function = around(op, FuncOp)
        base = "main" if function is None else function.sym_name.data
        number = 0
        while (name := f"{base}_{kind}{number}") in self._names:
            number += 1
        self._names.add(name)
        return name


def _is_constant(value: SSAValue) -> bool:
    """True for values that a region had better make itself: what is known there stays known."""
    owner = value.owner
    if not isinstance(owner, Operation):
        return False
    return owner.name in CONSTANTS or (owner.name == "tensor.empty" and not owner.operands)


def _copy_constant(
    constant: SSAValue, values: Sequence[SSAValue], *, within: Block | None = None
) -> None:
    """Let the users of values in a block, or of arguments of blocks, use copies of a constant."""
    owner = constant.owner
    assert not isinstance(owner, Block), "constants are operations"
    for value in values:
        block = within or value.owner
        assert isinstance(block, Block), "values are arguments, unless the block is given"
        first = block.first_op
        assert first is not None, "regions of loops and branches end in stablehlo.return"
        copy = owner.clone()
        insert_before(first, copy)
        end = block.last_op
        for use in tuple(value.uses):
            if not _hands_on(use, value, end) and _is_inside(use.operation, block):
                use.operation.operands[use.index] = copy.results[0]


def _is_used(block: Block, place: int, end: Operation) -> bool:
    """True if an argument is used, other than to hand it on to the next iteration."""
    argument = block.args[place]
    return any(not _hands_on(use, argument, end) for use in argument.uses)


def _hands_on(use: Use, value: SSAValue, end: Operation | None) -> bool:
    """True where a body hands an argument on to the next iteration as it was."""
    is_argument = isinstance(value, BlockArgument)
    return is_argument and use.operation is end and use.index == value.index


def _is_inside(op: Operation, block: Block) -> bool:
    around: Block | None = op.parent
    while around is not None:
        if around is block:
            return True
        owner = around.parent_op()
        around = None if owner is None else owner.parent
    return False


def captured_values(blocks: Sequence[Block]) -> list[SSAValue]:
    """The values that blocks use and do not define, in the order of their first use."""
    found: dict[SSAValue, None] = {}
    for block in blocks:
        own: set[SSAValue] = set(block.args)
        used: list[SSAValue] = []
        for op in block.walk():
            used.extend(op.operands)
            own.update(op.results)
            own.update(arg for region in op.regions for each in region.blocks for arg in each.args)
        found.update(dict.fromkeys(value for value in used if value not in own))
    return list(found)


def replace_within(old: SSAValue, new: SSAValue, block: Block) -> None:
    """Let what is inside a block use another value."""
    for use in tuple(old.uses):
        if _is_inside(use.operation, block):
            use.operation.operands[use.index] = new
