"""How many tiles of a long body do not fit DST, as `d2m-generic-fusion` has to know in advance.

`d2m-insert-scratch-buffers` lets those go through local buffers. This is never less than it makes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from xdsl.dialects.linalg.ops import IndexOp
from xdsl.ir import Operation, SSAValue

from ttmlir.dialects import d2m
from ttmlir.passes.d2m.dst.select import needs_buffer
from ttmlir.passes.d2m.fusion.d2m_generic_fusion_stages import Stage

_TEMPORARIES = 1
"""Tiles of DST that an operation needs, at most, besides operands and result."""
_SOURCES = (d2m.TileFillOp, d2m.TileBcastOp, d2m.TileTransposeOp, IndexOp)
"""Operations whose tiles are brought to DST anew for each use."""

Tile = tuple[int, SSAValue]
"""A stage, and a value of its body."""


def count_spills(stages: Mapping[int, Stage], made: Mapping[SSAValue, int], capacity: int) -> int:
    """Local buffers, at most, for tiles of one body that DST of so many tiles does not hold.

    `stages` are those of the body by their numbers, `made` are the numbers of results.
    """
    return _Body(stages, made).count_spills(capacity)


class _Body:
    """The expression that stages compute together."""

    def __init__(self, stages: Mapping[int, Stage], made: Mapping[SSAValue, int]) -> None:
        self._operands: dict[Tile, Sequence[Tile]] = {}
        """Of the tiles that are computed in DST, operands in front of what uses them."""
        self._names: dict[Tile, Tile] = {}
        """What arguments of bodies are, if other stages compute them."""
        for number, stage in stages.items():
            block = stage.loops.body.block
            for read in stage.reads:
                source = made.get(read.buffer)
                if source is not None and source in stages:
                    end = stages[source].loops.body.block.last_op
                    assert end is not None, "bodies end in a yield"
                    argument = (number, block.args[read.argument])
                    self._names[argument] = self._named((source, end.operands[0]))
            for op in stage.operations:
                self._add(number, op)

    def _named(self, tile: Tile) -> Tile:
        return self._names.get(tile, tile)

    def _add(self, number: int, op: Operation) -> None:
        if isinstance(op, _SOURCES) or not op.results:
            return
        from_buffers = needs_buffer(op)
        read = [self._named((number, value)) for value in op.operands if value not in from_buffers]
        self._operands[number, op.results[0]] = list(dict.fromkeys(read))

    def count_spills(self, capacity: int) -> int:
        """As in a tree, and those that several operations use, which stay in DST meanwhile."""
        uses = Counter(each for operands in self._operands.values() for each in operands)
        shared = sum(uses[tile] > 1 for tile in self._operands)
        spilled, most = self._spill_in_tree(capacity)
        return 0 if most + shared <= capacity else spilled + shared

    def _spill_in_tree(self, capacity: int) -> tuple[int, int]:
        """Spilled tiles if each is used once, and the tiles of DST that are needed without."""
        spilled = most = 0
        needs: dict[Tile, int] = {}
        for tile, operands in self._operands.items():
            found = sorted((needs.get(each, 1) for each in operands), reverse=True)
            most = max(most, _tiles_needed(found))
            while _tiles_needed(found) > capacity and found[0] > 1:
                spilled += 1
                found = sorted([1, *found[1:]], reverse=True)
            needs[tile] = _tiles_needed(found)
        return spilled, most


def _tiles_needed(operands: Sequence[int]) -> int:
    """Tiles for an operation whose operands need so many, the largest number first."""
    kept = max((need + held for held, need in enumerate(operands)), default=1)
    return max(kept, len(operands) + _TEMPORARIES)
