"""Numbers in order: every core sorts rows of tiles by a network of comparisons."""

from __future__ import annotations

from dataclasses import replace

from ttmlir.cost.families.reduction import stream_rows
from ttmlir.cost.machine import Machine
from ttmlir.cost.tensors import tile_shape
from ttmlir.cost.work import Work
from ttmlir.cost.workload import COMPUTE, OperationCost, Stage
from ttmlir.optable.kernel.cpp_calls.columns import CALLS

_NOTE = "the network of comparisons is that of the calls topk_local_sort, topk_merge, topk_rebuild"
_CALLS = ("topk_local_sort", "topk_merge", "topk_rebuild")


def cost_ordering(machine: Machine, work: Work) -> OperationCost:
    """Pairs of tiles are sorted, then merged: all of them in each round for a sort.

    For the k largest ones, each round leaves half of the tiles. Two transpositions per tile turn
    rows into the columns that the calls sort, and back.
    """
    sort, merge, rebuild = (_cycles(name) for name in _CALLS)
    _, _, columns = tile_shape(work.operands[0].shape)
    levels = max(0, (columns - 1).bit_length() - 1)
    # Per pair of tiles. A bitonic network merges again in every later round.
    merges = levels * (levels + 1) / 2 if work.mnemonic == "sort" else min(levels, 1) * 1.0
    pair = sort + merges * (merge + rebuild)
    moved = stream_rows(
        machine, work, calls=("transpose_wh_tile", "transpose_wh_tile"), notes=(_NOTE,)
    )
    stages = (*moved.compute, Stage(COMPUTE, pair / 2))
    return OperationCost(programs=(replace(moved, compute=stages),))


def _cycles(name: str) -> float:
    return float(next(call for call in CALLS if call.mnemonic == name).cost.math)
