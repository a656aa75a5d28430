"""The moves between devices that change how a tensor lies, and receive the fewest elements.

    plan = find_plan((8, 12), ((X,), (Y,)), ((Y,), (X,)), {X: 2, Y: 4})
    [step.kind for step in plan.steps]      # ["exchange", "permute", "exchange"]

A state is the axes of each dimension. From state to state a device keeps its part of an axis
(`slice`), gets the parts of the last axis of a dimension (`gather`), exchanges such parts for those
of another dimension (`exchange`), or gets another part of the same shape (`permute`).

`find_plan_in_parts` takes axes apart first: where axes of two and of four devices change places,
two halves of the longer one go ways of their own.
"""

from __future__ import annotations

import heapq
import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ttmlir.limits import MAX_CHIPS

State = tuple[tuple[str, ...], ...]
_MOST_AXES, _MOST_DIMENSIONS = 4, 6
"""Of more there are too many states to look at."""
_STEP = 1e-3
"""What a move costs beside the elements that it brings, so that of equal plans the shorter wins."""


@dataclass(frozen=True)
class Step:
    """A move: its kind, the dimension of the axis before and after it, and the axes then."""

    kind: str
    axis: str
    source: int
    target: int
    state: State


@dataclass(frozen=True)
class Plan:
    """Moves in turn, and about how many elements a device receives in all."""

    steps: tuple[Step, ...]
    cost: float


def find_plan(
    shape: Sequence[int], given: State, wanted: State, extents: Mapping[str, int]
) -> Plan | None:
    """The cheapest plan; None where there are too many axes or dimensions to look for it."""
    axes = {axis for dim in (*given, *wanted) for axis in dim}
    if len(axes) > _MOST_AXES or len(shape) > _MOST_DIMENSIONS or not axes <= {*extents}:
        return None
    tensor = _Tensor(tuple(shape), tuple(sorted(axes)), extents)
    found: dict[State, float] = {}
    number = itertools.count()
    waiting: list[tuple[float, int, State, tuple[Step, ...]]] = [(0.0, next(number), given, ())]
    while waiting:
        cost, _, state, steps = heapq.heappop(waiting)
        if state == wanted:
            return Plan(steps, cost - _STEP * len(steps))
        if state in found:
            continue
        found[state] = cost
        for step, price in tensor.moves(state, wanted):
            if step.state not in found and tensor.fits(step.state):
                total = cost + price + _STEP
                heapq.heappush(waiting, (total, next(number), step.state, (*steps, step)))
    return None


def cost_of_move(
    shape: Sequence[int],
    old: State,
    new: State,
    extents: Mapping[str, int],
    *,
    is_exchange: bool = False,
) -> float:
    """About how many elements a device receives in a gather, a slice or an exchange."""
    before, after = (
        math.prod(shape) / math.prod(extents.get(axis, 1) for axes in each for axis in axes)
        for each in (old, new)
    )
    if not is_exchange:
        return max(after - before, 0)
    lost = {axis for one, other in zip(old, new, strict=True) for axis in one if axis not in other}
    return before - before / math.prod(extents.get(axis, 1) for axis in lost)


@dataclass(frozen=True)
class _Tensor:
    shape: tuple[int, ...]
    axes: tuple[str, ...]
    extents: Mapping[str, int]

    def parts(self, axes: Sequence[str]) -> int:
        return math.prod(self.extents[axis] for axis in axes)

    def fits(self, state: State) -> bool:
        pairs = zip(self.shape, state, strict=True)
        return all(extent % self.parts(axes) == 0 for extent, axes in pairs)

    def local(self, state: State) -> float:
        """How many elements a device has."""
        return math.prod(self.shape) / self.parts([axis for axes in state for axis in axes])

    def moves(self, state: State, wanted: State) -> Iterator[tuple[Step, float]]:
        """What may be done next, and the elements that it brings to a device."""
        here = self.local(state)
        used = {axis for axes in state for axis in axes}
        for target, axis in itertools.product(range(len(state)), self.axes):
            if axis not in used:
                after = _with(state, target, (*state[target], axis))
                yield Step("slice", axis, target, target, after), 0
        for source, axes in enumerate(state):
            if not axes:
                continue
            axis, left = axes[-1], _with(state, source, axes[:-1])
            yield Step("gather", axis, source, source, left), self.local(left) - here
            for target in range(len(state)):
                if target != source:
                    after = _with(left, target, (*left[target], axis))
                    price = here - here / self.extents[axis]
                    yield Step("exchange", axis, source, target, after), price
        # Devices get parts of the same shape, along any axes.
        for after in sorted(self.others(state) - {state}):
            yield Step("permute", "", 0, 0, after), here

    def others(self, state: State) -> set[State]:
        """The states with as many parts of each dimension."""
        sizes = [*map(self.parts, state)]
        found: set[State] = set()
        for count in range(1, len(self.axes) + 1):
            for order in itertools.permutations(self.axes, count):
                after, left = list[tuple[str, ...]](), [*order]
                for size in sizes:
                    taken: list[str] = []
                    while left and self.parts(taken) < size:
                        taken.append(left.pop(0))
                    after.append(tuple(taken))
                if not left and [*map(self.parts, after)] == sizes:
                    found.add(tuple(after))
        return found


_PART = re.compile(r'("[^"]*"):\((\d+)\)(\d+)')


def find_plan_in_parts(
    shape: Sequence[int], given: State, wanted: State, extents: Mapping[str, int]
) -> Plan | None:
    """The cheapest plan along parts of axes; None where axes have none, or too many."""
    parts: dict[str, list[str]] = {}
    sizes: dict[str, int] = {}
    for axis in sorted({axis for dim in (*given, *wanted) for axis in dim}):
        factors = prime_factors(extents.get(axis, 1))
        before = 1
        for factor in factors:
            name = f"{axis}:({before}){factor}" if len(factors) > 1 else axis
            parts.setdefault(axis, []).append(name)
            sizes[name] = factor
            before *= factor
    if len(sizes) == len(parts) or len(sizes) > _MOST_AXES:
        return None
    # Dimensions that no axis divides stay as they are.
    used = [dim for dim in range(len(shape)) if given[dim] or wanted[dim]]
    states = [
        tuple(tuple(part for axis in state[dim] for part in parts[axis]) for dim in used)
        for state in (given, wanted)
    ]
    plan = find_plan([shape[dim] for dim in used], states[0], states[1], sizes)
    if plan is None:
        return None
    rest = math.prod(shape) // math.prod(shape[dim] for dim in used)
    steps = tuple(
        Step(
            step.kind,
            step.axis,
            used[step.source],
            used[step.target],
            tuple(
                _joined(step.state[used.index(dim)], extents) if dim in used else ()
                for dim in range(len(shape))
            ),
        )
        for step in plan.steps
    )
    return Plan(steps, plan.cost * rest)


def prime_factors(number: int) -> list[int]:
    """The prime factors of a number of devices, smallest first; more than run are not looked at."""
    if number > MAX_CHIPS:
        return [number]
    found: list[int] = []
    factor = 2
    while number > 1:
        while number % factor == 0:
            found.append(factor)
            number //= factor
        factor += 1
    return found


def _joined(axes: Sequence[str], extents: Mapping[str, int]) -> tuple[str, ...]:
    """Parts of an axis that follow each other as one part, or as the axis."""
    found: list[tuple[str, int, int]] = []
    for each in axes:
        part = _PART.fullmatch(each)
        name, before, size = (
            (part[1], int(part[2]), int(part[3])) if part else (each, 1, extents[each])
        )
        if found and found[-1][0] == name and found[-1][1] * found[-1][2] == before:
            found[-1] = (name, found[-1][1], found[-1][2] * size)
        else:
            found.append((name, before, size))
    return tuple(
        name if size == extents[name] else f"{name}:({before}){size}"
        for name, before, size in found
    )


def _with(state: State, place: int, axes: tuple[str, ...]) -> State:
    return (*state[:place], axes, *state[place + 1 :])
