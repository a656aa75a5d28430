"""Collectives among replicas of partitions, by the groups of the specification.

Six processes are two replicas of three partitions; process 3 * r + p has rows of its own. What each
has to get is written here by the specification's words.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ttmlir.errors import CompilationError
from ttmlir.frontend.dispatch import compile

REPLICAS, PARTITIONS = 2, 3
PROGRAM = """\
module attributes {mhlo.num_replicas = 2 : i32, mhlo.num_partitions = 3 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=3]>
  func.func @main(%a: tensor<36x12xi32>) -> tensor<ROWSxCOLUMNSxi32> {
    %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x", "y"}, {}]>]
        out_shardings=[<@mesh, [{"x", "y"}, {}]>] manual_axes={"x", "y"} (%p: tensor<6x12xi32>) {
      %1 = "stablehlo.NAME"(%p) <{ATTRIBUTES}> REGION : (tensor<6x12xi32>) -> tensor<MADExi32>
      sdy.return %1 : tensor<MADExi32>
    } : (tensor<36x12xi32>) -> tensor<ROWSxCOLUMNSxi32>
    return %0 : tensor<ROWSxCOLUMNSxi32>
  }
}
"""
SUM = """({
      ^bb0(%b: tensor<i32>, %c: tensor<i32>):
        %d = stablehlo.add %b, %c : tensor<i32>
        stablehlo.return %d : tensor<i32>
      })"""
X = np.arange(36 * 12, dtype=np.int32).reshape(36, 12)
PARTS = [X[6 * process :][:6] for process in range(6)]
CHANNEL = "channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, "


def run(name: str, attributes: str, shape: tuple[int, int], region: str = "") -> list[Any]:
    """What each process has after one operation."""
    text = PROGRAM
    for word, new in {
        "NAME": name,
        "ATTRIBUTES": attributes,
        "REGION": region,
        "MADE": f"{shape[0]}x{shape[1]}",
        "ROWS": str(6 * shape[0]),
        "COLUMNS": str(shape[1]),
    }.items():
        text = text.replace(word, new)
    [parts] = compile(text).run_on_devices(X)
    return parts


def rows_attribute(rows: list[list[int]]) -> str:
    """As dense numbers."""
    return f"dense<{rows}> : tensor<{len(rows)}x{len(rows[0])}xi64>"


def across_replicas(rows: list[list[int]]) -> list[list[int]]:
    """For each partition, its processes in the replicas of a row."""
    return [[3 * r + p for r in row] for p in range(PARTITIONS) for row in rows]


def across_partitions(rows: list[list[int]]) -> list[list[int]]:
    """For each replica, its processes of the partitions of a row."""
    return [[3 * r + p for p in row] for r in range(REPLICAS) for row in rows]


def across_both(rows: list[list[int]]) -> list[list[int]]:
    """All processes of the replicas of a row, partition by partition."""
    return [[3 * r + p for p in range(PARTITIONS) for r in row] for row in rows]


Modes = tuple[str, str, Callable[[list[list[int]]], list[list[int]]], list[list[int]]]
OF_ALL: dict[str, Modes] = {
    "cross_replica": ("", "", across_replicas, [[1, 0]]),
    "cross_replica_and_partition": (CHANNEL, "", across_both, [[0], [1]]),
    "flattened_ids": (CHANNEL, ", use_global_device_ids", list, [[5, 0], [1, 3], [4, 2]]),
}
"""Words before and after the groups, the processes of each group, and groups."""


@pytest.mark.parametrize("mode", OF_ALL)
@pytest.mark.parametrize("name", ["all_gather", "all_reduce", "reduce_scatter"])
def test_operations_of_all(name: str, mode: str) -> None:
    """Their groups are of replicas, or of processes."""
    before, after, expand, rows = OF_ALL[mode]
    groups = expand(rows)
    size = len(groups[0])
    extra = {"all_gather": "all_gather_dim = 1 : i64, ", "all_reduce": ""}.get(
        name, "scatter_dimension = 1 : i64, "
    )
    columns = {"all_gather": 12 * size, "all_reduce": 12}.get(name, 12 // size)
    text = f"{before}{extra}replica_groups = {rows_attribute(rows)}{after}"
    found = run(name, text, (6, columns), "" if name == "all_gather" else SUM)
    for group in groups:
        given = [PARTS[process] for process in group]
        for place, process in enumerate(group):
            total: Any = np.sum(given, 0, dtype=np.int32)
            wanted: Any = total
            if name == "all_gather":
                wanted = np.concatenate(given, 1)
            elif name == "reduce_scatter":
                wanted = np.split(total, size, 1)[place]
            np.testing.assert_array_equal(found[process], wanted)


OF_SOME: dict[str, Modes] = {
    "cross_replica": ("", "", across_replicas, [[1, 0]]),
    "cross_partition": (CHANNEL, "", across_partitions, [[2, 0, 1]]),
}


@pytest.mark.parametrize("mode", OF_SOME)
def test_all_to_all(mode: str) -> None:
    """Each process gets a part of each of its group, in the order of the group."""
    before, _, expand, rows = OF_SOME[mode]
    groups = expand(rows)
    size = len(groups[0])
    text = (
        f"{before}split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = {size} : "
        f"i64, replica_groups = {rows_attribute(rows)}"
    )
    found = run("all_to_all", text, (6 * size, 12 // size))
    for group in groups:
        for place, process in enumerate(group):
            pieces = [np.split(PARTS[source], size, 1)[place] for source in group]
            np.testing.assert_array_equal(found[process], np.concatenate(pieces, 0))


@pytest.mark.parametrize("mode", OF_SOME)
def test_broadcasts(mode: str) -> None:
    """Each group has what its first process has."""
    before, _, expand, rows = OF_SOME[mode]
    found = run("collective_broadcast", f"{before}replica_groups = {rows_attribute(rows)}", (6, 12))
    for group in expand(rows):
        for process in group:
            np.testing.assert_array_equal(found[process], PARTS[group[0]])


def test_processes_that_are_left_out() -> None:
    """Each process is in a group, also where it would get zeros."""
    with pytest.raises(CompilationError, match="device 1 is in none of the groups"):
        run(
            "collective_broadcast", f"{CHANNEL}replica_groups = {rows_attribute([[2, 0]])}", (6, 12)
        )


@pytest.mark.parametrize("mode", OF_SOME)
def test_permutations(mode: str) -> None:
    """Pairs are of replicas, or of partitions; who gets nothing has zeros."""
    before, _, expand, _ = OF_SOME[mode]
    pairs = [[0, 1]] if mode == "cross_replica" else [[0, 2], [2, 1]]
    found = run(
        "collective_permute", f"{before}source_target_pairs = {rows_attribute(pairs)}", (6, 12)
    )
    wanted = [np.zeros_like(PARTS[0])] * 6
    for source, target in expand(pairs):
        wanted[target] = PARTS[source]
    np.testing.assert_array_equal(found, wanted)
