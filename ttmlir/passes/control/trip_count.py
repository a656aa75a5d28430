"""How many iterations a loop makes, as far as integers that are known while compiling tell."""

from __future__ import annotations

from collections import ChainMap
from typing import TYPE_CHECKING, Any, cast

from ttmlir.optable import row
from ttmlir.passes.stablehlo.stablehlo_scalars import (
    comparison_direction,
    elementwise_row,
    integer_type,
    known_integer,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from xdsl.ir import Block, Operation, SSAValue

    from ttmlir.passes.stablehlo.stablehlo_scalars import Known

_ADD, _SUBTRACT = row("add"), row("subtract")
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
    pending = set(_arguments_behind(decision, condition))
    while pending:
        place = pending.pop()
        if place not in found:
            found.add(place)
            pending |= set(_arguments_behind(end[place], body))
    return found


def _arguments_behind(value: SSAValue, block: Block) -> Iterator[int]:
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
    means = elementwise_row(owner) if hasattr(owner, "name") else None
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
