"""Loops over graphs and rows: written out, or private functions that `ttir.while` calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import TensorType, i32
from xdsl.ir import Attribute, Block, SSAValue

from ttmlir.arrays.array import Array, concatenate
from ttmlir.arrays.carriers import array_of
from ttmlir.dialects import ttir
from ttmlir.frontend.body import BodyBuilder
from ttmlir.frontend.control import add_function, read_row, write_row
from ttmlir.frontend.onnx.call import Call
from ttmlir.frontend.onnx.elements import Bounded, Size, Tensor, Value
from ttmlir.ir.tensor_types import dtype_of, element_type, value_shape
from ttmlir.passes.control_flow.flattening import MAX_SHORT_ITERATIONS, MAX_SHORT_OPERATIONS

Step = Callable[
    [BodyBuilder, Array, Sequence[Array], Sequence[Array], Sequence[Array]],
    tuple[Sequence[Array], Sequence[Array]],
]
"""The new state, and new rows, of the number of an iteration, the state, rows, and other arrays."""


def is_short(count: int, operations: int) -> bool:
    """Whether iterations are written out, one after the other."""
    return count <= 1 or (
        count <= MAX_SHORT_ITERATIONS and count * operations <= MAX_SHORT_OPERATIONS
    )


def iterate(
    call: Call,
    step: Step,
    state: Sequence[Array],
    rows: Sequence[Array],
    others: Sequence[Array],
    *,
    count: int,
    operations: int,
) -> tuple[list[Array], list[Array]]:
    """The state after so many steps, and the rows of all of them, stacked.

    `rows` have a row for each step along their first dimension. Steps of few operations are written
    out if there are few.
    """
    if not is_short(count, operations):
        return run_loop(call, step, state, rows, others, count=count)
    found: list[Sequence[Array]] = []
    state = list(state)
    for number in range(count):
        own = [each.cut(0, number, number + 1).squeeze(0) for each in rows]
        after, results = step(call.build, array_of(number, "i32"), state, own, others)
        state = list(after)
        found.append(results)
    stacks = [
        concatenate([row.unsqueeze(0) for row in each], 0) for each in zip(*found, strict=True)
    ]
    return state, stacks


def run_loop(
    call: Call,
    step: Step,
    state: Sequence[Array],
    rows: Sequence[Array],
    others: Sequence[Array],
    *,
    count: int | None,
    goes_on: Callable[[Array, Sequence[Array], Sequence[Array]], Array] | None = None,
    room: int | None = None,
) -> tuple[list[Array], list[Array]]:
    """`iterate` by one operation; with `goes_on`, a condition on the number of the next iteration,
    the state and the other arrays, as long as that is true; `room` is for so many rows."""
    build = call.build
    outer = [build.value_of(each) for each in (*state, *rows, *others)]
    counter = build.create_splat(0, TensorType(i32, ()))
    carried = len(state)
    made: list[TensorType[Any]] = []

    def divide(inner: BodyBuilder, values: Sequence[SSAValue]) -> Iterator[list[Array]]:
        """State, rows and others of what follows the counter and the stacks."""
        first = 0
        for length in (carried, len(rows), len(others)):
            yield [inner.array(each) for each in values[first : first + length]]
            first += length

    def body(inner: BodyBuilder, arguments: Sequence[SSAValue]) -> list[SSAValue]:
        number, *values = arguments
        mine, sources, given = divide(inner, values)
        own = [inner.array(read_row(inner, each.value, number)) for each in sources]
        after, results = step(inner, inner.array(number), mine, own, given)
        _require_same_shapes(call, state, after)
        new = [inner.value_of(each) for each in after]
        written: list[SSAValue] = []
        block = cast("Block", number.owner)
        for place, result in enumerate(results):
            most = room if count is None else count
            assert most is not None, "rows of loops that end by data without room are refused"
            row = inner.value_of(result)
            type_ = TensorType(element_type(row), (most, *value_shape(row)))
            stack = block.insert_arg(type_, 1 + carried + place)
            made.append(type_)
            written.append(write_row(inner, stack, row, number))
        one = inner.create_splat(1, TensorType(i32, ()))
        return [inner.compute("add", number, one), *new, *written]

    functions = call.functions
    types: list[Attribute] = [counter.type, *(each.type for each in outer)]
    function = add_function(functions, "body", types, call.new_body, body, build.location)
    stacks: list[SSAValue] = []
    for type_ in made:
        call.check_size(type_.get_shape(), dtype_of(type_.element_type))
        stacks.append(build.create_splat(0, type_))
    operands = [counter, *outer[:carried], *stacks, *outer[carried:]]
    condition: str | None = None
    if goes_on is not None:

        def decide(inner: BodyBuilder, arguments: Sequence[SSAValue]) -> list[SSAValue]:
            number, *values = arguments
            del values[carried : carried + len(made)]
            mine, _, given = divide(inner, values)
            return [inner.value_of(goes_on(inner.array(number), mine, given))]

        types[1 + carried : 1 + carried] = made
        decided = add_function(functions, "condition", types, call.new_body, decide, build.location)
        condition = decided.sym_name.data
    loop = ttir.WhileOp.make(
        operands,
        function.function_type.outputs.data,
        function.sym_name.data,
        condition=condition,
        trip_count=count if condition is None else None,
        location=build.location,
    )
    results = [build.array(each) for each in build.insert(loop).results]
    return results[1 : 1 + carried], results[1 + carried :]


def _require_same_shapes(call: Call, before: Sequence[Array], after: Sequence[Array]) -> None:
    for number, (old, new) in enumerate(zip(before, after, strict=True)):
        if (old.shape, old.dtype) != (new.shape, new.dtype):
            call.refuse(
                f"value {number} that its loop carries is {old.dtype}{list(old.shape)} before and "
                f"{new.dtype}{list(new.shape)} after an iteration; shapes change only in loops "
                f"whose number of iterations is known while compiling"
            )


# -- values of several tensors -------------------------------------------------------------------


class Flat:
    """The tensors in values that are not known while compiling, so that functions take them."""

    def __init__(self, values: Sequence[Value], *, with_known: bool = False) -> None:
        """Find them; with `with_known`, known ones, too."""
        self._values = list(values)
        self._with_known = with_known
        self.tensors = [*self._find(self._values)]

    @property
    def arrays(self) -> list[Array]:
        """Their arrays."""
        return [each.array for each in self.tensors]

    def _is_passed(self, tensor: Tensor) -> bool:
        return self._with_known or not tensor.array.carrier.holds_numbers

    def _find(self, values: Sequence[Value]) -> Iterator[Tensor]:
        for value in values:
            if isinstance(value, list):
                yield from self._find(value)
            elif isinstance(value, Bounded):
                yield Tensor(value.array, value.type)
                yield from (Tensor(each.count, "INT64") for each in value.sizes.values())
            elif value is not None and self._is_passed(value):
                yield value

    def restore(self, arrays: Sequence[Array]) -> list[Value]:
        """The values, with other arrays in the places of those that were found."""
        rest = iter(arrays)

        def of(value: Value) -> Value:
            if isinstance(value, list):
                return [of(each) for each in value]
            if isinstance(value, Bounded):
                array = next(rest)
                # Loops and branches give other sizes than those that were passed.
                sizes = {dim: Size(next(rest), n.most) for dim, n in value.sizes.items()}
                return Bounded(array, sizes, value.type)
            if value is None or not self._is_passed(value):
                return value
            return Tensor(next(rest), value.type)

        return [of(each) for each in self._values]
