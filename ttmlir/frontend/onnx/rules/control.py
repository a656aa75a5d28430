"""Operators that run graphs: a branch of two, or one graph several times.

What is known while compiling decides at once: of branches, one is left, and short loops are written
out. Others become private functions that `ttir.case` and `ttir.while` call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from xdsl.dialects.builtin import TensorType, i32
from xdsl.ir import Block, BlockArgument, SSAValue

from ttmlir.arrays.array import Array, concatenate
from ttmlir.arrays.carriers import array_of
from ttmlir.dialects import ttir
from ttmlir.frontend.body import BodyBuilder
from ttmlir.frontend.control import add_function, choose
from ttmlir.frontend.onnx.bounded import entries_of, most_of, unify
from ttmlir.frontend.onnx.call import Rule
from ttmlir.frontend.onnx.elements import Bounded, Size, Tensor, Value, type_name
from ttmlir.frontend.onnx.graphs import Body, GraphCall, leaves
from ttmlir.frontend.onnx.loops import Flat, is_short, iterate, run_loop
from ttmlir.passes.control_flow.flattening import MAX_CHOSEN_OPERATIONS, MAX_FOLLOWED

# -- branches ----------------------------------------------------------------------------------


def _if(call: GraphCall) -> tuple[Value, ...]:
    condition = call.tensor("cond").array
    branches = [call.graph("then_branch"), call.graph("else_branch")]
    if not condition.carrier.holds_numbers:
        found = _choose_by_data(call, condition, branches)
        if found is not None:
            return found
    is_true = bool(call.numbers("cond").reshape(-1)[0])
    return tuple(call.walk(branches[0 if is_true else 1], []))


def _choose_by_data(
    call: GraphCall, condition: Array, branches: Sequence[Body]
) -> tuple[Value, ...] | None:
    """The results of one of two branches; None where they differ in more than their numbers."""
    build = call.build
    predicate = build.value_of(condition.reshape(()))
    if sum(each.size for each in branches) <= MAX_CHOSEN_OPERATIONS:
        chosen = unify(*(call.walk(each, []) for each in branches))
        if chosen is None:
            return None
        flats = [Flat(cast("list[Value]", each), with_known=True) for each in chosen]
        pairs = zip(*(map(build.value_of, each.arrays) for each in flats), strict=True)
        values = [choose(build, predicate, *pair) for pair in pairs]
        return tuple(flats[0].restore([build.array(each) for each in values]))
    around = {name: value for each in branches for name, value in each.around().items()}
    given = Flat([*around.values()])
    outer = [build.value_of(each) for each in given.arrays]
    marked = len(call.functions)

    def add(like: Value = None) -> tuple[list[list[Value]], list[str], Sequence[Any]]:
        """Results, names and types of results of functions; results get the extents of others."""
        results: list[list[Value]] = []
        names: list[str] = []
        types: Sequence[Any] = ()
        for branch in reversed(branches):

            def body(
                inner: BodyBuilder, arguments: Sequence[SSAValue], branch: Body = branch
            ) -> list[SSAValue]:
                passed = given.restore([inner.array(each) for each in arguments])
                found = call.walk(branch, [], inner, dict(zip(around, passed, strict=True)))
                if like is not None and (pair := unify(found, like)) is not None:
                    found = cast("list[Value]", pair[0])
                results.append(found)
                return [inner.value_of(each.array) for each in leaves(found)]

            operand_types = [each.type for each in outer]
            function = add_function(
                call.functions, "branch", operand_types, call.new_body, body, build.location
            )
            names.append(function.sym_name.data)
            types = function.function_type.outputs.data
        return results, names, types

    results, names, types = add()
    if not _are_alike(*results):
        del call.functions[marked:]
        if (pair := unify(*results)) is None:
            return None
        results, names, types = add(pair[0])
    case = ttir.CaseOp.make(predicate, outer, types, names, location=build.location)
    arrays = [build.array(each) for each in build.insert(case).results]
    return tuple(Flat(results[0], with_known=True).restore(arrays))


def _are_alike(a: Sequence[Value], b: Sequence[Value]) -> bool:
    """Whether values have the same structures, shapes and types."""

    def describe(value: Value) -> object:
        if isinstance(value, list):
            return [describe(each) for each in value]
        open_ = [*value.sizes] if isinstance(value, Bounded) else []
        return value and (value.type, value.array.shape, open_)

    return list(map(describe, a)) == list(map(describe, b))


# -- loops -------------------------------------------------------------------------------------


def _loop(call: GraphCall) -> tuple[Value, ...]:
    body = call.graph("body")
    state = cast("list[Value]", call.inputs["v_initial"])
    has_rows = len(body.graph.output) > len(state) + 1
    if len(body.graph.output) < len(state) + 1 or len(body.inputs) != len(state) + 2:
        call.refuse(
            f"its graph takes {len(body.inputs)} values and gives {len(body.graph.output)}; it has "
            f"to take a number, a condition and the {len(state)} values that it carries, and to "
            "give a condition and their new values first"
        )
    if _has_sequences(state):
        # What they hold in the end is known only if the number of iterations is.
        for name in ("M", "cond"):
            if call.has(name):
                call.numbers(name)
    limit = _known_limit(call)
    room = limit
    if has_rows and call.has("cond"):
        condition = call.tensor("cond").array.value
        if isinstance(condition, BlockArgument):
            # A model for one condition is a better one than a model of rows that may be missing.
            call.numbers("cond")
    if has_rows and limit is None and call.has("M"):
        entries = entries_of(call.tensor("M"))
        room = int(call.number("M")) if entries is None else most_of(entries[0])
    can_be_short = limit is not None or _is_fixed(call, "M")
    if can_be_short and _is_fixed(call, "cond") and _is_worth_writing_out(body, state, limit):
        found = _write_out(call, body, state, limit)
        if found is not None:
            return found
    return _run(call, body, state, limit, room if has_rows else None, has_rows=has_rows)


def _is_fixed(call: GraphCall, name: str) -> bool:
    """Whether an input is left out, or its numbers are known."""
    return not call.has(name) or call.tensor(name).array.carrier.holds_numbers


def _known_limit(call: GraphCall) -> int | None:
    if not call.has("M") or not _is_fixed(call, "M"):
        return None
    return max(0, int(call.number("M")))


def _is_worth_writing_out(body: Body, state: Sequence[Value], limit: int | None) -> bool:
    """Short loops, and those that carry what only grows while compiling."""
    return limit is None or _has_sequences(state) or is_short(limit, body.size)


def _has_sequences(state: Sequence[Value]) -> bool:
    return any(not isinstance(each, Tensor | Bounded) for each in state)


def _write_out(
    call: GraphCall, body: Body, state: Sequence[Value], limit: int | None
) -> tuple[Value, ...] | None:
    """Iterations one after the other; None if data decide whether there is another one."""
    goes_on: Value = Tensor.of(array_of(True))
    if call.has("cond"):
        goes_on = call.tensor("cond")
    state, rows, number = list(state), list[list[Value]](), 0
    while limit is None or number < limit:
        if not isinstance(goes_on, Tensor) or not goes_on.array.carrier.holds_numbers:
            return None
        if not goes_on.array.value.reshape(-1)[0]:
            break
        if limit is None and number >= MAX_FOLLOWED:
            call.refuse(
                f"it goes on after {MAX_FOLLOWED:,} iterations, and has no number of iterations"
            )
        place = Tensor.of(array_of(number, "i64"))
        goes_on, *found = call.walk(body, [place, goes_on, *state])
        rows.append(found[len(state) :])
        state = found[: len(state)]
        number += 1
    return *state, *_stack(call, body, rows, len(state))


def _stack(
    call: GraphCall, body: Body, rows: Sequence[Sequence[Value]], carried: int
) -> list[Value]:
    """The results of all iterations, stacked; those of none have the shapes that the graph says."""
    if not rows:
        found: list[Value] = []
        for each in body.graph.output[1 + carried :]:
            type_ = each.type.tensor_type
            name = type_name(type_.elem_type or 1)
            shape = [max(dim.dim_value, 0) for dim in type_.shape.dim]
            found.append(Tensor(call.fill(0, (0, *shape), call.dtype_of(name)), name))
        return found
    return [_stack_rows(call, each) for each in zip(*rows, strict=True)]


def _stack_rows(call: GraphCall, rows: Sequence[Value], dim: int = 0) -> Tensor:
    tensors = [each for each in rows if isinstance(each, Tensor)]
    if len(tensors) != len(rows):
        call.refuse("rows of its loop are no tensors")
    if len({each.array.shape for each in tensors}) > 1:
        call.refuse("the rows of its loop have different shapes, and cannot be stacked")
    dim = call.dims(tensors[0].array.rank + 1, (dim,), "scan_output_axes")[0]
    arrays = [call.use(each.array).unsqueeze(dim) for each in tensors]
    return Tensor(concatenate(arrays, dim), tensors[0].type)


def _run(
    call: GraphCall,
    body: Body,
    state: Sequence[Value],
    limit: int | None,
    room: int | None,
    *,
    has_rows: bool,
) -> tuple[Value, ...]:
    """A loop that is not written out; it carries the condition, if data decide."""
    truth = array_of(True)
    first = call.array("cond").reshape(()) if call.has("cond") else truth
    most = call.array("M").reshape(()).cast("i32") if call.has("M") else None
    carried = Flat(state, with_known=True)
    around = body.around()
    outer = Flat([*around.values()])
    outcomes: list[Any] = []

    def step(
        inner: BodyBuilder,
        number: Array,
        mine: Sequence[Array],
        own: Sequence[Array],
        others: Sequence[Array],
    ) -> tuple[list[Array], list[Array]]:
        del own
        values = outer.restore(others[: len(outer.tensors)])
        passed = dict(zip(around, values, strict=True))
        place = Tensor(number.cast("i64"), "INT64")
        condition, *found = call.walk(
            body,
            [place, Tensor(mine[0], "BOOL"), *carried.restore(mine[1 + counts :])],
            inner,
            passed,
        )
        if not isinstance(condition, Tensor):
            call.refuse("the condition of its graph is no tensor")
        new = found[: len(state)]
        if any(isinstance(each, Bounded) for each in found[len(state) :]):
            call.refuse("the sizes of rows of its loop are known only when the model runs")
        outcomes.append((condition.array, new, found[len(state) :]))
        arrays = [each.array for each in leaves(new)]
        _require_same_types(call, state, new)
        rows = [each.array for each in leaves(found[len(state) :])]
        return [condition.array.reshape(()), *[number + 1] * counts, *arrays], rows

    def goes_on(number: Array, mine: Sequence[Array], others: Sequence[Array]) -> Array:
        if most is None:
            return mine[0]
        bound = others[-1] if not most.carrier.holds_numbers else most
        return mine[0] & (number < bound)

    others = [*outer.arrays, *([] if most is None or most.carrier.holds_numbers else [most])]
    # How many rows there are is how often it has run.
    counts = room is not None
    begin = [first, *[array_of(0, "i32")] * counts, *carried.arrays]
    is_counted = limit is not None and _is_true(first)
    if is_counted:
        # Whether data decide is known when its graph has been walked.
        marked = len(call.functions)
        types = [call.build.value_of(each).type for each in (*begin, *others)]
        inner = call.new_body(Block(arg_types=[TensorType(i32, ()), *types]))
        number, *passed = (inner.array(each) for each in inner.block.args)
        step(inner, number, passed[: len(begin)], [], passed[len(begin) :])
        del call.functions[marked:]
        condition = outcomes.pop()[0]
        # Exporters give a true condition back as it comes.
        is_counted = _is_true(condition) or condition.value is passed[0].value
    if has_rows and not is_counted and room is None:
        call.refuse(_ENDS_BY_DATA)
    if is_counted:
        found, stacks = run_loop(call, step, begin, [], others, count=limit)
    else:
        found, stacks = run_loop(
            call, step, begin, [], others, count=None, goes_on=goes_on, room=room
        )
    _, _, rows = outcomes[0]
    values = carried.restore(found[1 + counts :])
    types = [each.type for each in leaves(rows)]
    if is_counted or not room:
        return *values, *(Tensor(each, type_) for each, type_ in zip(stacks, types, strict=True))
    size = Size(found[1].cast("i64"), room)
    return *values, *(
        Bounded(each, {0: size}, type_) for each, type_ in zip(stacks, types, strict=True)
    )


_ENDS_BY_DATA = (
    "how many rows it gives at most is not known, since data decide when it ends; give it a "
    "number of iterations (M) that is known"
)


def _is_true(condition: Array) -> bool:
    return condition.carrier.holds_numbers and bool(condition.value.reshape(-1)[0])


def _require_same_types(call: GraphCall, before: Sequence[Value], after: Sequence[Value]) -> None:
    def describe(value: Value) -> object:
        if isinstance(value, list):
            return [describe(each) for each in value]
        return value and (value.type, [*value.sizes] if isinstance(value, Bounded) else [])

    if [*map(describe, before)] != [*map(describe, after)]:
        call.refuse("its graph changes the structure or the types of the values that it carries")


def _scan(call: GraphCall) -> tuple[Value, ...]:
    if call.version < 9:
        return _scan_batches(call)
    body, count = call.graph("body"), int(call.required("num_scan_inputs"))
    values = cast("list[Value]", call.inputs["initial_state_and_scan_inputs"])
    carried = len(values) - count
    if carried < 0 or count < 1 or len(body.graph.output) < carried:
        call.refuse(
            f"it has {len(values)} inputs, of which {count} are to be scanned, and "
            f"{len(body.graph.output)} results"
        )
    state = [each for each in values[:carried] if isinstance(each, Tensor)]
    sources = [each for each in values[carried:] if isinstance(each, Tensor)]
    if len(state) + len(sources) != len(values):
        call.refuse("all of its inputs have to be tensors")
    stacked = len(body.graph.output) - carried
    axes = _each(call, "scan_input_axes", count)
    rows: list[Array] = []
    for tensor, axis, is_reversed in zip(
        sources, axes, _each(call, "scan_input_directions", count), strict=True
    ):
        array = call.use(tensor.array)
        dim = call.dims(array.rank, (axis,), "scan_input_axes")[0]
        array = array.permute([dim, *(i for i in range(array.rank) if i != dim)])
        rows.append(array.reverse(0) if is_reversed else array)
    lengths = {each.shape[0] for each in rows}
    if len(lengths) > 1:
        call.refuse(f"its inputs have {sorted(lengths)} rows; they have to have as many")
    [length] = lengths
    if not length:
        call.refuse("its inputs have no rows")
    around = body.around()
    outer = Flat([*around.values()])
    kinds: list[str] = []

    def step(
        inner: BodyBuilder,
        number: Array,
        mine: Sequence[Array],
        own: Sequence[Array],
        others: Sequence[Array],
    ) -> tuple[list[Array], list[Array]]:
        del number
        passed = dict(zip(around, outer.restore(others), strict=True))
        given = [Tensor(a, t.type) for a, t in zip((*mine, *own), (*state, *sources), strict=True)]
        found = [*leaves(call.walk(body, given, inner, passed))]
        _require_same_types(call, state, found[:carried])
        kinds[:] = [each.type for each in found[carried:]]
        arrays = [each.array for each in found]
        return arrays[:carried], arrays[carried:]

    begin = [call.use(each.array) for each in state]
    last, stacks = iterate(
        call, step, begin, rows, outer.arrays, count=length, operations=body.size
    )
    results = [Tensor(a, t.type) for a, t in zip(last, state, strict=True)]
    directions = _each(call, "scan_output_directions", stacked)
    for array, axis, is_reversed, type_ in zip(
        stacks, _each(call, "scan_output_axes", stacked), directions, kinds, strict=True
    ):
        array = array.reverse(0) if is_reversed else array
        dim = call.dims(array.rank, (axis,), "scan_output_axes")[0]
        order = [*range(1, array.rank)]
        order.insert(dim, 0)
        results.append(Tensor(array.permute(order), type_))
    return tuple(results)


def _scan_batches(call: GraphCall) -> tuple[Value, ...]:
    """The first version: a scan for each element of a batch."""
    if call.has("sequence_lens"):
        call.refuse("lengths of sequences (sequence_lens) are not supported")
    values = cast("list[Value]", call.inputs["initial_state_and_scan_inputs"])
    tensors = [each for each in values if isinstance(each, Tensor)]
    arrays = [call.use(each.array) for each in tensors]
    extents = {each.shape[0] if each.rank else 0 for each in arrays}
    if len(tensors) != len(values) or len(extents) != 1 or 0 in extents:
        call.refuse("all of its inputs have to be tensors with the same batch")
    # What version 9 calls otherwise.
    attributes = {**call.attributes, "scan_input_directions": call["directions"]}
    found: list[tuple[Value, ...]] = []
    for place in range(extents.pop()):
        own = [
            Tensor(array.cut(0, place, place + 1).squeeze(0), each.type)
            for array, each in zip(arrays, tensors, strict=True)
        ]
        inputs = {"initial_state_and_scan_inputs": own}
        found.append(_scan(replace(call, version=9, inputs=inputs, attributes=attributes)))
    return tuple(_stack_rows(call, each) for each in zip(*found, strict=True))


def _each(call: GraphCall, name: str, count: int) -> list[int]:
    """One number for each input that is scanned, or for each of their results."""
    numbers = [0] * count if call[name] is None else list(call[name])
    if len(numbers) != count:
        call.refuse(f"{name} is {numbers}; it has to have {count} numbers")
    return numbers


RULES: dict[str, Rule] = {
    name: cast("Rule", rule) for name, rule in (("If", _if), ("Loop", _loop), ("Scan", _scan))
}
"""Rules by the names of operators."""
