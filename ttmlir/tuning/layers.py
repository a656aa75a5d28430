"""Layers of a program that are alike, and the program with a few of them.

A function computes layers where a stretch of operations comes again and again, each time on what
the stretch before has made, on other arguments, and on what is outside of all. What a few of them
take says what all take.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from ttmlir.frontend.compiled import public_function
from ttmlir.mlir.attributes import cloned

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

_LEAST = 3
"""So many layers are worth a search."""
_LONGEST = 400
"""Operations of a layer, at most."""


@dataclass(frozen=True)
class Layers:
    """Where the layers of a function are among its operations."""

    first: int
    """The place of the first operation of the first layer."""
    length: int
    """Operations of each layer."""
    count: int
    arguments: tuple[tuple[int, ...], ...]
    """Of each layer the arguments of the function that it takes, in their order."""

    def like(self, kept: int) -> dict[int, int]:
        """For the arguments of layers behind the first so many, those of the last one of these."""
        known = {number for layer in self.arguments[:kept] for number in layer}
        return {
            number: other
            for layer in self.arguments[kept:]
            for number, other in zip(layer, self.arguments[kept - 1], strict=True)
            if number not in known
        }

    def shorten(self, module: ModuleOp, kept: int) -> ModuleOp:
        """A copy of the module with so many layers; arguments of the others stay, unused."""
        copy = cloned(module)
        ops = [*public_function(copy).body.block.ops]
        begin = self.first + kept * self.length
        left_out = ops[begin : self.first + self.count * self.length]
        gone = {id(op) for op in left_out}
        for place, op in enumerate(left_out, begin):
            twin = ops[place - (place - begin) // self.length * self.length - self.length]
            for old, new in zip(op.results, twin.results, strict=True):
                for use in [use for use in old.uses if id(_outermost(use.operation)) not in gone]:
                    use.operation.operands[use.index] = new
        for op in reversed(left_out):
            op.detach()
            op.erase()
        return copy


def find_layers(module: ModuleOp) -> Layers | None:
    """The layers of the public function of a module; None for fewer than three."""
    block = public_function(module).body.block
    search = _Search([*block.ops][:-1])
    for first, length, count in search.stretches:
        found = search.check(first, length, count)
        if found is not None:
            return found
    return None


def _outermost(op: Operation) -> Operation:
    """The operation in the body of the function that an operation is in."""
    while (parent := op.parent_op()) is not None and parent.name != "func.func":
        op = parent
    return op


@dataclass
class _Search:
    ops: Sequence[Operation]

    @cached_property
    def kinds(self) -> Any:
        """A number for each operation: the same for those that differ in their operands alone."""
        known = dict[Any, int]()
        return np.array([known.setdefault(_kind(op), len(known)) for op in self.ops], np.int64)

    @cached_property
    def stretches(self) -> list[tuple[int, int, int]]:
        """Stretches that repeat by their kinds: first, length, count; what covers most, first."""
        found = list[tuple[int, int, int]]()
        total = len(self.kinds)
        for length in range(1, min(total // _LEAST, _LONGEST) + 1):
            same = np.flatnonzero(
                np.diff(
                    np.concatenate([[0], self.kinds[length:] == self.kinds[:-length], [0]]).astype(
                        np.int8
                    )
                )
            ).reshape(-1, 2)
            if len(same):
                begin, end = max(same.tolist(), key=lambda pair: pair[1] - pair[0])
                count = (end - begin) // length + 1
                if count >= _LEAST:
                    found.append((begin, length, count))
        return sorted(found, key=lambda each: (-each[1] * each[2], each[1]))[:8]

    def check(self, first: int, length: int, count: int) -> Layers | None:
        """The stretches as layers; None if they take something else than layers do."""
        places = {id(op): place for place, op in enumerate(self.ops)}
        layers = [
            [
                _where(value, places, first)
                for op in self._layer(first, length, n)
                for value in _taken(op)
            ]
            for n in range(count)
        ]
        # From where a layer begins, what it and the one before compute is at the same places.
        patterns = [
            [each.seen_from(first + n * length) for each in found] for n, found in enumerate(layers)
        ]
        pattern = patterns[1]
        is_chain = all(each == pattern for each in patterns[2:]) and all(
            each is None or each[0] or each[1] >= -length for each in pattern
        )
        numbers = [n for n, each in enumerate(pattern) if each is None]
        is_alike = len(patterns[0]) == len(pattern) and all(patterns[0][n] is None for n in numbers)
        if not (is_chain and is_alike):
            return None
        arguments = tuple(tuple(found[n].place for n in numbers) for found in layers)
        return Layers(first, length, count, arguments)

    def _layer(self, first: int, length: int, number: int) -> Sequence[Operation]:
        return self.ops[first + number * length :][:length]


@dataclass(frozen=True)
class _Where:
    """Where a value comes from: an argument, what is in front of layers, or what they compute."""

    place: int
    result: int = 0
    is_argument: bool = False
    is_outside: bool = False

    def seen_from(self, begin: int) -> tuple[bool, int, int] | None:
        """The same for values that play the same part in layers; None for arguments."""
        if self.is_argument:
            return None
        return self.is_outside, self.place - (0 if self.is_outside else begin), self.result


def _where(value: SSAValue, places: Mapping[int, int], first: int) -> _Where:
    if isinstance(value, BlockArgument):
        return _Where(value.index, is_argument=True)
    owner = cast("Operation", value.owner)
    place, result = places[id(owner)], [*owner.results].index(cast("Any", value))
    return _Where(place, result, is_outside=place < first)


def _taken(op: Operation) -> list[SSAValue]:
    """The values of the function that an operation takes, also in its regions."""
    found = [*op.operands]
    inside = {id(inner) for region in op.regions for inner in region.walk()}
    for region in op.regions:
        for inner in region.walk():
            for value in inner.operands:
                owner = value.owner
                block = owner if isinstance(owner, Block) else None
                is_own = id(owner) in inside or (
                    block is not None and _is_inside(block.parent_op(), op)
                )
                if not is_own:
                    found.append(value)
    return found


def _is_inside(op: Operation | None, outer: Operation) -> bool:
    while op is not None and op is not outer:
        op = op.parent_op()
    return op is outer


def _kind(op: Operation) -> Any:
    """What operations that compute the same of other operands have in common."""
    inside = tuple(_kind(inner) for region in op.regions for inner in region.walk())
    said = (*sorted(op.properties.items()), *sorted(op.attributes.items()))
    types = (*op.operand_types, *op.result_types)
    return op.name, said, types, inside
