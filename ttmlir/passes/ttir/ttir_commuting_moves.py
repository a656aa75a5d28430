"""Permutations and reshapes change places with other operations, for `ttir-erase-inverse-ops`.

A move below an operation goes above it where every user of the operation is that move; one above
goes below where the other operands are moved likewise, or are constants, and nobody else takes it.
Moves that meet become one, or none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xdsl.ir import Operation, SSAValue

from ttmlir.dialects import ttir
from ttmlir.dialects.ttir import TTIRTableOp
from ttmlir.ir.greedy_rewriting import CONSTANTS, GreedyRewriter, Rule
from ttmlir.ir.tensor_types import tensor_like, value_shape
from ttmlir.passes.ttir.constants.ttir_constant_folding import fold_move, permutation_of
from ttmlir.passes.ttir.ttir_implicit_broadcast_fold import elementwise_names
from ttmlir.passes.ttir.ttir_value_forms import fold
from ttmlir.passes.ttir.value_rewriting import (
    REDUCTIONS,
    Shape,
    ValueRule,
    adapted,
    made_by,
    mnemonic_of,
    parameters_of,
    rank_of,
    reduced_dims,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ttmlir.ir.builder import Builder

MOVES = ("permute", "reshape")


@dataclass(frozen=True)
class _Move:
    """A permutation by an order, or a reshape from one shape to another."""

    source: Shape
    result: Shape
    order: Shape | None

    @classmethod
    def of(cls, op: Operation) -> _Move:
        """What an operation of `MOVES` does."""
        order: Shape | None = None
        if isinstance(op, TTIRTableOp) and op.name == "ttir.permute":
            order = permutation_of(op)
        return cls(value_shape(op.operands[0]), value_shape(op.results[0]), order)

    def apply(self, builder: Builder, value: SSAValue) -> SSAValue:
        """The moved value; a permutation takes any extents."""
        if self.order is None:
            return builder.reshape(value, self.result)
        return _permute(builder, value, self.order)

    def undo(self, builder: Builder, value: SSAValue) -> SSAValue:
        """The value that moved is this one."""
        if self.order is None:
            return builder.reshape(value, self.source)
        return _permute(builder, value, [self.order.index(dim) for dim in range(len(self.order))])

    def above(self, dim: int) -> int | None:
        """The dimension of the source that becomes one of the result as it is."""
        if self.order is not None:
            return self.order[dim]
        return _same_dimension(self.result, dim, self.source)

    def below(self, dim: int) -> int | None:
        """The dimension of the result that one of the source becomes as it is."""
        if self.order is not None:
            return self.order.index(dim)
        return _same_dimension(self.source, dim, self.result)


def _permute(builder: Builder, value: SSAValue, order: Sequence[int]) -> SSAValue:
    shape = value_shape(value)
    if list(order) == list(range(len(shape))):
        return value
    type_ = tensor_like(value, [shape[dim] for dim in order])
    return builder.create("permute", (value,), type_, permutation=tuple(order))


def _same_dimension(shape: Shape, dim: int, other: Shape) -> int | None:
    """Where a dimension has the same extent and as many elements before it in another shape."""
    if shape[dim] == 1:
        return None
    before = math.prod(shape[:dim])
    return next(
        (
            n
            for n, extent in enumerate(other)
            if extent == shape[dim] and math.prod(other[:n]) == before
        ),
        None,
    )


# --- Operations by what they do to dimensions -----------------------------------------------------


@dataclass(frozen=True)
class _Commuted:
    """An operation beyond a move: what its operand moves by, its parameters, and its result."""

    parameters: Mapping[str, Any]
    result: Shape
    order: Shape | None = None
    """Order that stands for the move on the other side, where it has another."""
    operand: Shape | None = None
    """What the operand is reshaped to, where that is not what the move says."""


def _axis(name: str) -> Callable[[Operation, _Move, bool], _Commuted | None]:
    """Operations along one dimension, which a parameter names; others are not looked at."""

    def commute(op: Operation, move: _Move, upwards: bool) -> _Commuted | None:
        said = parameters_of(op)
        dim = said[name] % len(value_shape(op.results[0]))
        found = move.below(dim) if upwards else move.above(dim)
        if found is None:
            return None
        return _Commuted({**said, name: found}, move.result if upwards else move.source)

    return commute


_along_dimension = _axis("dimension")
_along_dim = _axis("dim")


def _softmax(op: Operation, move: _Move, upwards: bool) -> _Commuted | None:
    return None if move.order is not None else _along_dimension(op, move, upwards)


def _concat(op: Operation, move: _Move, upwards: bool) -> _Commuted | None:
    """Reshapes go above concatenations, never below them."""
    if move.order is None and not upwards:
        return None
    found = _along_dim(op, move, upwards)
    if found is None or upwards:
        return found
    order = move.order or ()
    extents = value_shape(op.results[0])
    return _Commuted(found.parameters, tuple(extents[order.index(n)] for n in range(len(order))))


def _elementwise(op: Operation, move: _Move, upwards: bool) -> _Commuted | None:
    shape = value_shape(op.results[0])
    if len(op.operands) > 2 or any(value_shape(value) != shape for value in op.operands):
        return None
    return _Commuted(parameters_of(op), move.result if upwards else move.source)


def _slice(op: Operation, move: _Move, upwards: bool) -> _Commuted | None:
    """Reshapes pass if what is sliced, and what is after it, stays as it is."""
    said = parameters_of(op)
    bounds = list(zip(said["begins"], said["ends"], said["step"], strict=True))
    whole, part = value_shape(op.operands[0]), value_shape(op.results[0])
    operand: Shape | None = None
    if move.order is not None:
        order = move.order
        taken = order if upwards else [order.index(dim) for dim in range(len(order))]
        bounds = [bounds[dim] for dim in taken]
        result = tuple(part[dim] for dim in taken)
    else:
        cut = [
            n
            for n, bound in enumerate(zip(bounds, whole, strict=True))
            if bound[0] != (0, bound[1], 1)
        ]
        kept = len(whole) - min(cut, default=len(whole))
        target = move.result if upwards else move.source
        if not kept or len(target) < kept or target[-kept:] != (part if upwards else whole)[-kept:]:
            return None
        lead = target[:-kept]
        bounds = [*((0, extent, 1) for extent in lead), *bounds[-kept:]]
        operand, result = (*lead, *whole[-kept:]), (*lead, *part[-kept:])
    begins, ends, steps = zip(*bounds, strict=True)
    changed = {**said, "begins": begins, "ends": ends, "step": steps}
    return _Commuted(changed, result, operand=operand)


def _rms_norm(op: Operation, move: _Move, upwards: bool) -> _Commuted | None:
    """Reshapes pass that leave the normalized dimensions alone."""
    said = parameters_of(op)
    inner = tuple(said["normalized_shape"])
    target = move.result if upwards else move.source
    if move.order is not None or target[-len(inner) :] != inner:
        return None
    return _Commuted(said, target)


def _reduce(op: Operation, move: _Move, upwards: bool) -> _Commuted | None:
    said = parameters_of(op)
    dims, rank, keeps = reduced_dims(op), rank_of(op.operands[0]), said["keep_dim"]
    kept = [dim for dim in range(rank) if dim not in dims]
    if upwards:
        if move.order is None:
            return None
        places = iter(move.order)
        order = (
            move.order
            if keeps
            else tuple(kept[next(places)] if dim in kept else dim for dim in range(rank))
        )
        changed = [order.index(dim) for dim in dims]
        return _Commuted({**said, "dim_arg": sorted(changed)}, move.result, order=order)
    found = [above for dim in dims if (above := move.above(dim)) is not None]
    if len(found) < len(dims):
        return None
    result = tuple(
        1 if dim in found else extent
        for dim, extent in enumerate(move.source)
        if keeps or dim not in found
    )
    left = [dim for dim in range(len(move.source)) if keeps or dim not in found]
    taken = range(rank) if keeps else kept
    order = None if move.order is None else tuple(left.index(move.order[dim]) for dim in taken)
    return _Commuted({**said, "dim_arg": sorted(found)}, result, order=order)


def _broadcast(op: Operation, move: _Move, upwards: bool) -> _Commuted | None:
    """Moves go above broadcasts, reshapes where they cut and join no repeated dimension with
    another."""
    if not upwards:
        return None
    small = value_shape(op.operands[0])
    if move.order is not None:
        operand = tuple(small[dim] for dim in move.order)
    else:
        operand = _before_repetition(small, move.source, move.result)
        if operand is None:
            return None
    factors = tuple(whole // max(1, part) for whole, part in zip(move.result, operand, strict=True))
    return _Commuted({"broadcast_dimensions": factors}, move.result, operand=operand)


def _before_repetition(small: Shape, large: Shape, target: Shape) -> Shape | None:
    """The shape that repeats to `target` as `small` does to `large`."""
    if 0 in large:
        return None
    found: list[int] = []
    start = at = 0
    while start < len(large) or at < len(target):
        stop, end = min(start + 1, len(large)), min(at + 1, len(target))
        while (had := math.prod(large[start:stop])) != (made := math.prod(target[at:end])):
            stop, end = (stop + 1, end) if had < made else (stop, end + 1)
        while stop < len(large) and large[stop] == 1:
            stop += 1
        while end < len(target) and target[end] == 1:
            end += 1
        if small[start:stop] == large[start:stop]:
            found += target[at:end]
        elif set(small[start:stop]) == {1}:
            found += [1] * (end - at)
        else:
            return None
        start, at = stop, end
    return tuple(found)


_COMMUTING: Mapping[str, Callable[[Operation, _Move, bool], _Commuted | None]] = {
    **dict.fromkeys((name.removeprefix("ttir.") for name in elementwise_names()), _elementwise),
    **dict.fromkeys(REDUCTIONS, _reduce),
    "broadcast": _broadcast,
    "concat": _concat,
    "rms_norm": _rms_norm,
    "slice": _slice,
    "softmax": _softmax,
}
"""What moves change places with, by mnemonic."""

_ALL_MOVE = frozenset(("concat",))
"""Beside elementwise operations, those whose operands all move; of others the first one."""


def _moving(op: Operation) -> Sequence[SSAValue]:
    is_moved = isinstance(op, ttir.ElementwiseOp) or mnemonic_of(op) in _ALL_MOVE
    return op.operands if is_moved else op.operands[:1]


def _build(
    op: Operation, builder: Builder, moved: Sequence[SSAValue], found: _Commuted
) -> SSAValue:
    type_ = tensor_like(op.results[0], found.result)
    if mnemonic_of(op) in ("slice", "broadcast", *REDUCTIONS, "concat", "softmax"):
        return builder.create(mnemonic_of(op), moved, type_, **found.parameters)
    new = type(op).create(
        operands=[*moved, *op.operands[len(moved) :]],
        result_types=[type_],
        properties=dict(op.properties),
        attributes=dict(op.attributes),
        location=op.location,
    )
    return builder.insert(new).results[0]


# --- Rules ----------------------------------------------------------------------------------------


def _upwards(op: Operation, rewriter: GreedyRewriter) -> bool:
    """Move the operands instead of the result."""
    users = list(dict.fromkeys(use.operation for use in op.results[0].uses))
    if not users or any(mnemonic_of(user) not in MOVES for user in users):
        return False
    move = _Move.of(users[0])
    if any(_Move.of(user) != move for user in users):
        return False
    found = _COMMUTING[mnemonic_of(op)](op, move, True)
    if found is None:
        return False
    builder = rewriter.builder(op)
    order = move.order if found.order is None else found.order
    moved: list[SSAValue] = []
    for value in _moving(op):
        if order is not None:
            moved.append(_permute(builder, value, order))
            continue
        target = list(found.operand or found.result)
        if "dim" in found.parameters:
            dim = found.parameters["dim"]
            target[dim] = value_shape(value)[parameters_of(op)["dim"]]
        moved.append(builder.reshape(value, target))
    new = _build(op, builder, moved, found)
    for user in users:
        rewriter.replace(user, new)
    return True


def _downwards(op: Operation, rewriter: GreedyRewriter) -> bool:
    """Move the result instead of the operands."""
    for value in _moving(op):
        maker = made_by(value, *MOVES)
        if maker is not None and {use.operation for use in value.uses} == {op}:
            if _below(op, _Move.of(maker), rewriter):
                return True
    return False


def _below(op: Operation, move: _Move, rewriter: GreedyRewriter) -> bool:
    sources: list[SSAValue | None] = []
    for value in _moving(op):
        maker = made_by(value, *MOVES)
        if maker is not None and _Move.of(maker) == move:
            sources.append(maker.operands[0])
        elif isinstance(op, ttir.ElementwiseOp) and made_by(value, *_CONSTANTS) is not None:
            sources.append(None)
        else:
            return False
    found = _COMMUTING[mnemonic_of(op)](op, move, False)
    if found is None:
        return False
    builder = rewriter.builder(op)
    moved = [
        move.undo(builder, value) if source is None else source
        for value, source in zip(_moving(op), sources, strict=True)
    ]
    new = _build(op, builder, moved, found)
    order = move.order if found.order is None else found.order
    shape = value_shape(op.results[0])
    again = builder.reshape(new, shape) if order is None else _permute(builder, new, order)
    rewriter.replace(op, again)
    return True


_CONSTANTS = tuple(sorted(name.removeprefix("ttir.") for name in CONSTANTS))


def _merge(op: Operation, builder: Builder) -> SSAValue | None:
    """One move after another of its kind; a constant that is moved."""
    source = op.operands[0]
    move = _Move.of(op)
    if move.order is None:
        if move.source == move.result:
            return source
        before = made_by(source, "reshape")
        return None if before is None else builder.reshape(before.operands[0], move.result)
    if move.order == tuple(range(len(move.order))):
        return source
    elements = fold_move(op) if isinstance(op, TTIRTableOp) else None
    if elements is not None:
        return builder.create_constant(elements, op.results[0].type)
    before = made_by(source, "permute")
    if before is None:
        return None
    inner = _Move.of(before).order or ()
    return _permute(builder, before.operands[0], [inner[dim] for dim in move.order])


_MERGING: Mapping[str, Sequence[ValueRule]] = {"permute": (_merge,), "reshape": (_merge,)}


def commute_moves(function: Operation, *, upwards: bool, downwards: bool, limit: int) -> bool:
    """Let moves meet in a function; false if their number still changes after `limit` rounds."""
    names = [f"ttir.{mnemonic}" for mnemonic in _COMMUTING]
    merging = adapted(_MERGING)
    count = _count_moves(function)
    for _ in range(limit):
        for rule, is_wanted in ((_upwards, upwards), (_downwards, downwards)):
            if is_wanted:
                rules: dict[str, tuple[Rule, ...]] = dict.fromkeys(names, (rule,))
                GreedyRewriter({**rules, **merging}, fold=fold, top_down=True).run(function)
        previous, count = count, _count_moves(function)
        if count == previous:
            return True
    return False


def _count_moves(function: Operation) -> int:
    return sum(mnemonic_of(op) in MOVES for op in function.walk())
