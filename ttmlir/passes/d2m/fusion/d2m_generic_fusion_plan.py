"""Which generics may become one, and how, for `d2m-generic-fusion`.

The iterators of all stages fall into classes: those that go over the same dimension of a tensor
are one. A class is an iterator of the fused generic, or it is whole in each block. Whole are
dimensions that a stage goes over after another has reduced them, and those that not all stages
have; the rest can be divided freely.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.ir import SSAValue

from ttmlir.dialects import d2m
from ttmlir.layout.metal import CIRCULAR_BUFFERS
from ttmlir.passes.d2m.dst.capacity import tiles_at_once
from ttmlir.passes.d2m.fusion.d2m_generic_fusion_bodies import count_spills
from ttmlir.passes.d2m.fusion.d2m_generic_fusion_stages import (
    Places,
    Read,
    Shape,
    Stage,
    tile_bytes,
)

MAX_BUFFERS = 24
"""Circular buffers of a fused generic for operands and results of stages."""
MAX_BYTES = 1360 << 10
"""L1 that the smallest block takes on a core, of 1463 KiB or more."""
MAX_STAGES = 32
"""More stages are no use, and every one makes the next comparison longer."""
_FEW_CORES = 8
"""Blocks that a fused generic has at least..."""
_MANY_CORES = 32
"""...or this many if products have whole dimensions, which could use all cores alone..."""
_FEW_TILES = 256
"""...unless its stages are as small as this."""
_CHEAP = 8
"""Operations on a tile that may be computed again for each block that reads it."""

_ONCE = 0
"""Operations of none that is computed again."""

Classes = tuple[int | None, ...]
"""The class of each dimension of a tensor."""


class _Union:
    """Iterators that are the same."""

    def __init__(self) -> None:
        self._parents: list[int] = []
        self.extents: list[int] = []

    def add(self, extent: int) -> int:
        self._parents.append(len(self._parents))
        self.extents.append(extent)
        return len(self._parents) - 1

    def find(self, number: int) -> int:
        while self._parents[number] != number:
            self._parents[number] = self._parents[self._parents[number]]
            number = self._parents[number]
        return number

    def join(self, first: int, second: int) -> bool:
        """Make two iterators one; False if they go to different ends."""
        first, second = sorted((self.find(first), self.find(second)))
        self._parents[second] = first
        return self.extents[first] == self.extents[second]


@dataclass
class FusionPlan:
    """How stages become one generic."""

    stages: Sequence[Stage]
    outputs: frozenset[int]
    """The stages whose results are needed outside."""
    classes: list[Shape] = field(default_factory=list[Shape])
    """Of each stage, the class of each of its iterators."""
    results: list[Shape] = field(default_factory=list[Shape])
    """Of each stage, the class of each dimension of its result."""
    extents: Mapping[int, int] = field(default_factory=dict[int, int])
    whole: set[int] = field(default_factory=set[int])
    """Classes that are whole in each block."""
    heads: dict[int, frozenset[int]] = field(default_factory=dict[int, frozenset[int]])
    """The stages in whose bodies that of each stage is computed."""

    def of_places(self, stage: int, places: Places) -> Classes:
        """The classes of the dimensions that iterators of a stage go over."""
        return tuple(None if each is None else self.classes[stage][each] for each in places)

    def iterators(self) -> tuple[Shape, Shape]:
        """The classes that are parallel iterators of the generic, and those that are reductions."""
        reduced = self._reduced()
        first = min(self.outputs)
        looped = {c for each in self.classes for c in each}
        ordered = [c for c in self.results[first] if c in looped]
        ordered += [c for each in self.classes for c in each if self.extents[c] > 1]
        parallel = [c for c in ordered if c not in self.whole and c not in reduced]
        reductions = [c for each in self.classes for c in each if c in reduced - self.whole]
        return tuple(dict.fromkeys(parallel)), tuple(dict.fromkeys(reductions))

    def _reduced(self) -> set[int]:
        """The classes that some stage reduces."""
        return {
            classes[each]
            for stage, classes in zip(self.stages, self.classes, strict=True)
            for each in stage.reductions
        }

    def block_classes(self, classes: Classes) -> Classes:
        """The classes that divide a tensor into blocks; None where it is whole."""
        return tuple(None if each in self.whole else each for each in classes)


def plan_fusion(
    stages: Sequence[Stage], uses: Callable[[SSAValue], int], dst_tiles: int = 0
) -> FusionPlan | None:
    """How stages, in the order of the program, become one generic; None if they do not.

    `uses` is the number of times that a value is read, through views, too; `dst_tiles` are those of
    the whole of DST, 0 for the chip's.
    """
    if len(stages) > MAX_STAGES:
        return None
    for shares in (True, False):
        planner = _Planner(stages, uses, dst_tiles, shares=shares)
        if planner.run():
            return planner.plan
        if not any(stage.is_product for stage in stages):
            return None
    return None


class _Planner:
    """One attempt."""

    def __init__(
        self,
        stages: Sequence[Stage],
        uses: Callable[[SSAValue], int],
        dst_tiles: int,
        *,
        shares: bool,
    ) -> None:
        self._stages = stages
        self._dst_tiles = dst_tiles
        self._shares = shares
        self._made = {stage.result: number for number, stage in enumerate(stages)}
        self._union = _Union()
        self._first = [[self._union.add(extent) for extent in stage.extents] for stage in stages]
        # A dimension of one tile that no iterator goes over is one that readers go over.
        self._results = [
            [
                self._union.add(1) if place is None else classes[place]
                for place in stage.output_places
            ]
            for stage, classes in zip(stages, self._first, strict=True)
        ]
        inside = dict.fromkeys(self._made, 0)
        for stage in stages:
            for read in stage.reads:
                if read.buffer in inside:
                    inside[read.buffer] += 1
        self._inside = inside
        outputs = {n for value, n in self._made.items() if uses(value) > inside[value]}
        self.plan = FusionPlan(stages, frozenset(outputs))

    def run(self) -> bool:
        """Fill the plan; False if the stages stay apart."""
        return bool(
            self.plan.outputs
            and self._join_results()
            and self._join_inputs()
            and self._number()
            and self._choose_whole()
            and (self._choose_heads(_ONCE) or self._choose_heads(_CHEAP))
        )

    # --- Classes -------------------------------------------------------------------------------

    def _join_results(self) -> bool:
        """Let readers of a result go over it as the stage that makes it."""
        for number, stage in enumerate(self._stages):
            for read in stage.reads:
                source = self._made.get(read.buffer)
                if source is None:
                    continue
                if read.buffer_places is None:
                    return False
                for there, here in zip(self._results[source], read.buffer_places, strict=True):
                    if here is None:
                        if self._union.extents[self._union.find(there)] > 1:
                            return False
                    elif not self._union.join(there, self._first[number][here]):
                        return False
        return True

    def _join_inputs(self) -> bool:
        """Let stages that read a tensor from outside go over it in the same way, if they can."""
        if not self._shares:
            return True
        kinds = self._kinds()
        known: dict[SSAValue, tuple[int, Read]] = {}
        for number, stage in enumerate(self._stages):
            for read in stage.reads:
                if read.buffer in self._made:
                    continue
                first, other = known.setdefault(read.value, (number, read))
                pairs = [
                    (
                        self._union.find(self._first[first][there]),
                        self._union.find(self._first[number][here]),
                    )
                    for there, here in zip(other.places, read.places, strict=True)
                    if there is not None and here is not None
                ]
                if all(kinds.get(there) == kinds.get(here) for there, here in pairs):
                    for pair in pairs:
                        self._union.join(*pair)
        self._join_columns()
        return True

    def _join_columns(self) -> None:
        """Let products with one left factor go over their columns together, if they are as many."""
        known: dict[tuple[SSAValue | None, Shape], list[int]] = {}
        for stage, classes in zip(self._stages, self._first, strict=True):
            if stage.is_product and stage.left is not None:
                first = known.setdefault((stage.left, stage.extents), classes)
                for column in stage.columns:
                    self._union.join(first[column], classes[column])

    def _kinds(self) -> dict[int, str]:
        """What products make of iterators; those of two kinds are not made one."""
        kinds: dict[int, str] = {}
        for stage, classes in zip(self._stages, self._first, strict=True):
            if stage.is_product:
                for place, each in enumerate(classes):
                    kind = "term" if place in stage.reductions else "free"
                    kinds[self._union.find(each)] = kind
        return kinds

    def _number(self) -> bool:
        """Name the classes; False if a stage has two iterators that became one."""
        plan, find = self.plan, self._union.find
        plan.classes = [tuple(map(find, each)) for each in self._first]
        plan.results = [tuple(map(find, each)) for each in self._results]
        plan.extents = {
            c: self._union.extents[c] for each in (*plan.classes, *plan.results) for c in each
        }
        return all(len({*each}) == len(each) for each in plan.classes)

    # --- What is whole -------------------------------------------------------------------------

    def _choose_whole(self) -> bool:
        """Find the classes that cannot be iterators; False if one is of a product."""
        plan = self.plan
        rigid = {
            c
            for stage, classes in zip(self._stages, plan.classes, strict=True)
            if stage.is_product
            for number, c in enumerate(classes)
            if plan.extents[c] > 1 and number not in stage.narrow_sides
        }
        while True:
            found = self._find_whole() - plan.whole
            if found & rigid:
                return False
            if not found:
                return self._keeps_cores()
            plan.whole |= found

    def _find_whole(self) -> set[int]:
        """Classes that cannot be iterators, given those that are none."""
        plan = self.plan
        finished = self._finished()
        found: set[int] = set()
        for number, classes in enumerate(plan.classes):
            found |= {*classes} & finished[number]
        reduced = [self._reductions(number) for number in range(len(self._stages))]
        all_reduced = {c for each in reduced for c in each}
        for number in plan.outputs:
            found |= {c for c in plan.results[number] if c in all_reduced}
        if found - plan.whole:
            return found
        found |= self._conflicts(reduced)
        if found - plan.whole:
            return found
        return found | self._not_shared(all_reduced, finished)

    def _reductions(self, number: int) -> set[int]:
        """The reduction iterators of a stage that are not whole."""
        plan = self.plan
        classes = plan.classes[number]
        return {classes[each] for each in self._stages[number].reductions} - plan.whole

    def _finished(self) -> list[set[int]]:
        """For each stage, the classes that those before it, on which it depends, have reduced."""
        finished: list[set[int]] = []
        for stage in self._stages:
            before: set[int] = set()
            for read in stage.reads:
                source = self._made.get(read.buffer)
                if source is not None:
                    classes = self.plan.classes[source]
                    before |= finished[source]
                    before |= {classes[each] for each in self._stages[source].reductions}
            finished.append(before)
        return finished

    def _conflicts(self, reduced: Sequence[set[int]]) -> set[int]:
        """Reductions beside others, and those that need what does not run in their steps."""
        sets = list(dict.fromkeys(frozenset(each) for each in reduced if each))
        if len(sets) > 1:
            products = [
                each
                for each, stage in zip(reduced, self._stages, strict=True)
                if stage.is_product and each
            ]
            kept = products[0] if products else set[int]()
            return {c for each in sets for c in each} - kept
        if not sets:
            return set()
        (steps,) = sets
        before = self._before(reduced)
        for number, (stage, classes) in enumerate(
            zip(self._stages, self.plan.classes, strict=True)
        ):
            runs_in_steps = bool(steps & {*classes})
            if number in before and not runs_in_steps:
                return set(steps)
            # What is reduced within each block would look as if it went on in the next step.
            if runs_in_steps and stage.reductions and not reduced[number]:
                return set(steps)
        return set()

    def _before(self, reduced: Sequence[set[int]]) -> set[int]:
        """The stages whose results those that reduce depend on."""
        before: set[int] = set()
        for number in reversed(range(len(self._stages))):
            if reduced[number] or number in before:
                before |= {
                    self._made[read.buffer]
                    for read in self._stages[number].reads
                    if read.buffer in self._made
                }
        return before

    def _not_shared(self, reduced: set[int], finished: Sequence[set[int]]) -> set[int]:
        """Parallel classes that a stage lacks which is not computed again for each block."""
        plan = self.plan
        parallel = {
            c
            for each in plan.classes
            for c in each
            if plan.extents[c] > 1 and c not in plan.whole and c not in reduced
        }
        feeds_product = self._before([{1} if stage.is_product else set() for stage in self._stages])
        found: set[int] = set()
        for number, stage in enumerate(self._stages):
            missing = parallel - {*plan.classes[number]}
            is_cheap = (
                stage.is_elementwise
                and not finished[number]
                and number not in plan.outputs
                and number not in feeds_product
                and len(stage.operations) <= _CHEAP
            )
            if missing and not is_cheap:
                found |= missing
        return found

    def _keeps_cores(self) -> bool:
        """True if enough blocks are left to share, or there is little to do."""
        plan = self.plan
        if all(plan.extents[c] == 1 for c in plan.whole):
            return True
        parallel, _ = plan.iterators()
        blocks = math.prod(plan.extents[c] for c in parallel)
        domain = max(stage.domain for stage in self._stages)
        has_products = any(stage.is_product for stage in self._stages)
        return blocks >= (_MANY_CORES if has_products else _FEW_CORES) or domain <= _FEW_TILES

    # --- Bodies --------------------------------------------------------------------------------

    def _choose_heads(self, again: int) -> bool:
        """Compute results in the bodies of their readers where they can stay in registers.

        One with several readers has to be of at most `again` operations. False if what is left in
        memory does not fit.
        """
        plan = self.plan
        readers: list[list[tuple[int, Read]]] = [[] for _ in self._stages]
        for number, stage in enumerate(self._stages):
            for read in stage.reads:
                if read.buffer in self._made:
                    readers[self._made[read.buffer]].append((number, read))
        for number in reversed(range(len(self._stages))):
            plan.heads[number] = frozenset({number})
            heads = frozenset[int]().union(*(plan.heads[reader] for reader, _ in readers[number]))
            if not heads or number in plan.outputs:
                continue
            is_cheap = len(heads) == 1 or len(self._stages[number].operations) <= again
            if is_cheap and all(self._joins_body(number, each, readers[number]) for each in heads):
                plan.heads[number] = heads
        return self._fits()

    def _joins_body(self, number: int, head: int, reads: Sequence[tuple[int, Read]]) -> bool:
        return (
            self._stages[number].is_elementwise
            and self._stages[head].is_elementwise
            and self._long(number) == self._long(head)
            and all(self._stages[reader].takes_registers(read.argument) for reader, read in reads)
        )

    def _long(self, number: int) -> set[int]:
        """The classes of a stage over more than one tile."""
        return {c for c in self.plan.classes[number] if self.plan.extents[c] > 1}

    # --- Limits --------------------------------------------------------------------------------

    def _fits(self) -> bool:
        """True if circular buffers and L1 hold the smallest block."""
        plan = self.plan
        inputs: dict[tuple[SSAValue, Classes], Classes] = {}
        for number, stage in enumerate(self._stages):
            for read in stage.reads:
                if read.buffer not in self._made:
                    classes = plan.of_places(number, read.places)
                    inputs[read.value, plan.block_classes(classes)] = classes
        buffers = [(value, classes) for (value, _), classes in inputs.items()]
        for number, stage in enumerate(self._stages):
            if number in plan.heads[number]:
                count = 2 if number in plan.outputs and self._inside[stage.result] else 1
                buffers += [(stage.result, plan.results[number])] * count
        # A result that is combined in steps may be copied to its output in the end. The schedule
        # keeps memory for that beside each output of a generic with steps.
        copies = sum(bool(self._stages[number].reductions) for number in plan.outputs)
        _, steps = plan.iterators()
        kept = [
            (self._stages[number].result, plan.results[number]) for number in plan.outputs if steps
        ]
        scratch = [*self._scratch(), *self._spilled()]
        constants = {each for stage in self._stages for each in stage.constants}
        bounces = [
            tile_bytes(value) * d2m.bounce_tiles(value.owner)
            for value, _ in inputs
            if isinstance(value.owner, d2m.Gather)
        ]
        total = sum(bounces) + sum(
            size * math.prod(plan.extents[c] for c in classes if c in plan.whole)
            for size, classes in (
                *((tile_bytes(value), classes) for value, classes in (*buffers, *kept)),
                *scratch,
            )
        )
        others = len(scratch) + len(constants) + len(bounces) + copies
        return (
            len(buffers) <= MAX_BUFFERS
            # A core has no more, with those for tiles that bodies compute and read again, for
            # constants and for elements that are gathered.
            and len(buffers) + others <= CIRCULAR_BUFFERS
            and total <= MAX_BYTES
        )

    def _scratch(self) -> Iterator[tuple[int, Shape]]:
        """Bytes of a tile, and classes, of what bodies compute and read again.

        What is computed in several bodies is in a buffer for each.
        """
        plan = self.plan
        for number, (stage, classes) in enumerate(zip(self._stages, plan.classes, strict=True)):
            for iterators, size in stage.scratch:
                yield from [(size, tuple(classes[each] for each in iterators))] * len(
                    plan.heads[number]
                )

    def _spilled(self) -> Iterator[tuple[int, Shape]]:
        """The same of what DST may not hold of long bodies."""
        tiles = {tile for stage in self._stages for tile in stage.tiles}
        capacity = tiles_at_once(tiles, self._dst_tiles)
        for head, stage in enumerate(self._stages):
            members = {
                number: each
                for number, each in enumerate(self._stages)
                if head in self.plan.heads[number]
            }
            count = count_spills(members, self._made, capacity)
            yield from [(tile_bytes(stage.result), self.plan.classes[head])] * count
