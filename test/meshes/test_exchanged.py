"""What devices exchange in divided programs, against JAX's partitioner, and plans of moves."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from test.support.running.sampling import sampled
from test.support.samples.mesh_programs import recorded
from ttmlir.compiler import parse, transform
from ttmlir.passes.shardy.spreading.reshard_plans import find_plan, find_plan_in_parts

PASSES = "sdy-remove-size-one-axes,stablehlo-pipeline{any-mesh=true}"
MOVES = ("all_gather", "all_reduce", "all_to_all", "collective_permute", "reduce_scatter")

MORE = {
    "argmin_with_ties": "a result goes to its place in two moves",
    "differences": "rows are put together, not sent to neighbours",
    "moving_sums": "rows are put together, not sent to neighbours",
    "reversed": "rows are put together, not sent to where they go",
    "rolled": "rows are put together, not sent to where they go",
    "slice": "rows are put together, not those that are kept",
    "take_of_both_axes": "sums go along one axis after the other",
    "tokens_of_divided_words": "parts are put together along one axis after the other",
}
"""Programs that exchange more elements than JAX's, and why."""
PROGRAMS = recorded("jit") | recorded("mixed")


@pytest.mark.parametrize("name", sampled(sorted(PROGRAMS)))
def test_elements(name: str) -> None:
    """A device gets no more elements than by JAX's partitioner, but in a few programs."""
    program = PROGRAMS[name]
    module = parse(program["text"].tobytes().decode())
    transform(module, PASSES)
    count = 0
    for op in module.walk():
        if op.name.removeprefix("stablehlo.") in MOVES:
            results: Any = op.results
            turns = 1 + (op.name == "stablehlo.all_reduce")
            count += turns * sum(math.prod(each.type.get_shape()) for each in results)
    assert (count > program["exchanged"][1]) == (name in MORE)


X, Y, Z = '"x"', '"y"', '"z"'
EXTENTS = {X: 2, Y: 4, Z: 2}


@pytest.mark.parametrize(
    ("given", "wanted", "kinds", "cost"),
    [
        (((), ()), ((X,), (Y,)), ["slice", "slice"], 0),
        (((X,), ()), ((), ()), ["gather"], 96),
        (((X,), ()), ((), (X,)), ["exchange"], 48),
        (((X, Y), ()), ((Y, X), ()), ["permute"], 24),
        (((X,), ()), ((Z,), ()), ["permute"], 96),
        # 24 * 3 / 4 to the other dimension, 24 to change places, 24 / 2 back.
        (((X,), (Y,)), ((Y,), (X,)), ["exchange", "permute", "exchange"], 54),
        (((X, Y), ()), ((Y,), ()), ["permute", "gather"], 48),
        (((X,), (Y,)), ((X,), (Y,)), [], 0),
    ],
)
def test_plans(given: Any, wanted: Any, kinds: list[str], cost: float) -> None:
    """The moves of an array of 8 by 24, and the elements that they bring to a device."""
    plan = find_plan((8, 24), given, wanted, EXTENTS)
    assert plan is not None
    assert [step.kind for step in plan.steps] == kinds
    assert plan.cost == pytest.approx(cost)


@pytest.mark.parametrize(
    ("given", "wanted", "kinds", "cost"),
    [
        # Half of the longer axis changes places with the other one, and half of it moves.
        (((X,), (Y,)), ((Y,), (X,)), {"exchange", "permute"}, 24 / 2 + 24),
        (((X,), ()), ((Y,), (X,)), {"slice", "permute"}, 24),
        (((X,), ()), ((Z,), ()), set(), None),
    ],
)
def test_plans_in_parts(given: Any, wanted: Any, kinds: set[str], cost: float | None) -> None:
    """Moves along halves of an axis bring a device as few elements as JAX's partitioner does."""
    plan = find_plan_in_parts((8, 24), given, wanted, EXTENTS)
    if plan is None:
        assert cost is None
        return
    assert plan.steps[-1].state == wanted
    assert plan.cost == pytest.approx(cost)
    assert {step.kind for step in plan.steps} == kinds


def test_plans_that_nobody_looks_for() -> None:
    """Parts of axes, and too many axes or dimensions."""
    assert find_plan((8,), (('"x":(1)2',),), ((),), EXTENTS) is None
    many = {f'"{name}"': 2 for name in "abcde"}
    assert find_plan((64,), ((*many,),), ((),), many) is None
    assert find_plan((2,) * 7, ((),) * 7, ((),) * 7, EXTENTS) is None


PERMUTED = """\
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<6xf32>) -> tensor<6xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"y"}]>]
      manual_axes={} (%b: tensor<6xf32>) {
    %1 = sdy.collective_permute %b out_sharding=<@mesh, [{"y"}]> : tensor<6xf32>
    sdy.return %1 : tensor<6xf32>
  } : (tensor<6xf32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}
"""


def test_permutations() -> None:
    """Devices 0 and 3 have their rows, 1 and 2 change them."""
    module = parse(PERMUTED)
    transform(module, "update-global-to-local-shapes")
    [op] = [op for op in module.walk() if op.name == "stablehlo.collective_permute"]
    pairs: Any = op.properties["source_target_pairs"]
    assert np.array(pairs.get_values()).reshape(-1, 2).tolist() == [[0, 0], [1, 2], [2, 1], [3, 3]]
