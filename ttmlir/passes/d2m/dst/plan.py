"""Which tile of DST each value of a body is in, and in which order they are computed.

Of two operands the one that needs more tiles comes first (Sethi and Ullman), so that the other's
need does not come on top. A tile is free again after the last use of its value; results take the
place of operands that are used no more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ttmlir.passes.d2m.dst.values import Copied, Held, Value


@dataclass(frozen=True)
class Instruction:
    """A value, the tiles of its operands and temporary ones, and the tile of its result."""

    value: Value
    slots: tuple[int, ...]
    result: int


@dataclass(frozen=True)
class Plan:
    """The instructions of a body in order."""

    instructions: tuple[Instruction, ...]
    result: int
    tiles: int
    """Tiles of DST that are in use."""


class TooManyTilesError(Exception):
    """A body needs more tiles of DST than there are."""

    def __init__(self, needed: int, victim: Value | None) -> None:
        """`victim`: a computed value that should go through memory; None: there is none."""
        super().__init__(f"needs {needed} tiles of DST")
        self.needed = needed
        self.victim = victim


def plan(root: Value, capacity: int) -> Plan:
    """The instructions that compute a value in DST of so many tiles.

    An accumulator (`Held`) is tile 0, before and after. TooManyTilesError if they do not suffice.
    """
    return _Planner(root, capacity).run()


def tiles_needed(root: Value) -> dict[int, int]:
    """For each value of an expression, by its id, how many tiles its computation takes.

    A value with several uses counts for each of them, as in a tree.
    """
    needs: dict[int, int] = {}
    for value in _in_order(root, {}):
        operands = sorted((needs[id(each)] for each in value.operands), reverse=True)
        kept = max((need + held for held, need in enumerate(operands)), default=1)
        needs[id(value)] = max(kept, len(operands) + value.temporaries)
    return needs


def _in_order(root: Value, needs: dict[int, int]) -> list[Value]:
    """The values, operands in front of what uses them, those that need most first."""
    done: dict[int, Value] = {}
    waiting = [root]
    while waiting:
        value = waiting[-1]
        missing = [each for each in value.operands if id(each) not in done]
        if id(value) in done or not missing:
            waiting.pop()
            done.setdefault(id(value), value)
        else:
            # The last one is computed first; of equal ones, that which stands first.
            waiting.append(max(missing, key=lambda each: needs.get(id(each), 0)))
    return list(done.values())


class _Planner:
    """Gives out tiles, one value after the other."""

    def __init__(self, root: Value, capacity: int) -> None:
        self._root = root
        self._capacity = capacity
        self._order = _in_order(root, tiles_needed(root))
        self._uses = Counter(id(each) for value in self._order for each in value.operands)
        self._uses[id(root)] += 1
        self._taken: dict[int, Value | None] = {}
        self._slots: dict[int, int] = {}
        self._written: set[int] = set()
        self._most = 0
        self._instructions: list[Instruction] = []
        self._accumulates = any(isinstance(value, Held) for value in self._order)

    def run(self) -> Plan:
        for value in self._order:
            if isinstance(value, Held):
                self._take(value, 0)
        for value in self._order:
            if not isinstance(value, Held):
                self._compute(value)
        result = self._slots[id(self._root)]
        if self._accumulates and result != 0:
            self._instructions.append(Instruction(Copied(operands=(self._root,)), (result,), 0))
            result = 0
        return Plan(tuple(self._instructions), result, self._most)

    def _compute(self, value: Value) -> None:
        slots = [self._slots[id(each)] for each in value.operands]
        for each in value.operands:
            self._uses[id(each)] -= 1
        dying = [not self._uses[id(each)] for each in value.operands]
        copies: list[int] = []
        for place in sorted(value.clobbers):
            operand = value.operands[place]
            is_repeated = any(
                other is operand for n, other in enumerate(value.operands) if n != place
            )
            if not dying[place] or is_repeated:
                slots[place] = self._copy(operand, slots[place])
                copies.append(slots[place])
        temporaries = [self._take(None) for _ in range(value.temporaries)]
        # What is placed freely, and may overlap with operands, goes where one of them dies.
        free = [slot for slot, is_dying in zip(slots, dying, strict=True) if is_dying]
        if not value.is_placed:
            result = slots[0]
        elif free:
            # The accumulator's tile, if the value is what accumulates.
            result = 0 if self._accumulates and value is self._root and 0 in free else free[0]
        else:
            result = self._take(value, zeros=value.needs_zeros)
        for slot in (*free, *copies, *temporaries):
            self._taken.pop(slot, None)
        self._taken[result] = value
        self._slots[id(value)] = result
        self._written.add(result)
        self._instructions.append(Instruction(value, (*slots, *temporaries), result))

    def _copy(self, operand: Value, slot: int) -> int:
        copy = self._take(operand)
        self._instructions.append(Instruction(Copied(operands=(operand,)), (slot,), copy))
        return copy

    def _take(self, value: Value | None, wanted: int | None = None, *, zeros: bool = False) -> int:
        """A free tile; with `zeros`, one that nothing was written to."""
        slot = 0 if wanted is None else wanted
        while slot in self._taken or (zeros and slot in self._written):
            slot += 1
        if slot >= self._capacity:
            raise TooManyTilesError(slot + 1, self._victim())
        self._taken[slot] = value
        self._written.add(slot)
        self._most = max(self._most, slot + 1)
        if value is not None and id(value) not in self._slots:
            self._slots[id(value)] = slot
        return slot

    def _victim(self) -> Value | None:
        """Of the values in DST, the computed one that took most operations, to be spilled."""
        computed = [value for value in self._taken.values() if value is not None and value.operands]
        sizes: Sequence[int] = [len(_in_order(value, {})) for value in computed]
        return computed[sizes.index(max(sizes))] if computed else None
