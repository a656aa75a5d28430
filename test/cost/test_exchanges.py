"""Estimates of what the devices of a mesh give each other, against measurements."""

from __future__ import annotations

import json
from statistics import median

import numpy as np
import pytest

import ttmlir
from ttmlir.cost.families.exchange import Lane
from ttmlir.machine import BLACKHOLE, WORMHOLE

LINE, RING = False, True
KIB, MIB = 1 << 10, 1 << 20

REDUCED = [
    # tt-metal PR 41522: 8 Wormhole chips, one link, bf16 tiles in DRAM.
    *((WORMHOLE, 8, 1, LINE, 16 * KIB, 34.2), (WORMHOLE, 8, 1, RING, 16 * KIB, 30.8)),
    *((WORMHOLE, 8, 1, LINE, 64 * KIB, 42.3), (WORMHOLE, 8, 1, RING, 64 * KIB, 34.7)),
    *((WORMHOLE, 8, 1, LINE, 128 * KIB, 50.4), (WORMHOLE, 8, 1, RING, 128 * KIB, 39.2)),
    *((WORMHOLE, 8, 1, LINE, 224 * KIB, 62.7), (WORMHOLE, 8, 1, RING, 224 * KIB, 45.9)),
    *((WORMHOLE, 8, 1, LINE, 16 * MIB, 1384), (WORMHOLE, 8, 1, RING, 16 * MIB, 897)),
    # PR 55543: a ring of 8 p150, two links.
    *((BLACKHOLE, 8, 2, RING, 128 * KIB, 20.9), (BLACKHOLE, 8, 2, RING, 512 * KIB, 27.9)),
    *((BLACKHOLE, 8, 2, RING, 2 * MIB, 52.6), (BLACKHOLE, 8, 2, RING, 4 * MIB, 83.8)),
    *((BLACKHOLE, 8, 2, RING, 8 * MIB, 114.8), (BLACKHOLE, 8, 2, RING, 3 * MIB, 55)),
]
"""Reduce-scatters: generation, devices, links, whether they are a ring, bytes of each device,
microseconds."""
GATHERED = [
    # Issue 47803: a ring of four Blackhole chips, bf16 and bfp8.
    *((BLACKHOLE, 4, 4, RING, 1920 * KIB, 18.6), (BLACKHOLE, 4, 4, RING, 1020 * KIB, 16.0)),
    *((BLACKHOLE, 4, 4, RING, 2880 * KIB, 23.4), (BLACKHOLE, 4, 4, RING, 5 * MIB, 35.4)),
    # Issue 48197.
    (BLACKHOLE, 8, 2, RING, 3 * MIB, 54),
]
"""Gathers, with the bytes of the whole."""


def test_measured_exchanges() -> None:
    """Within a quarter of what was measured, and a tenth in the median."""
    errors: list[float] = []
    for rows, kind in ((REDUCED, Lane.reduce), (GATHERED, Lane.gather)):
        for generation, devices, links, is_ring, size, microseconds in rows:
            lane = Lane(generation.links, devices, is_ring, links)
            time, moving = kind(lane, size / devices)
            assert 0 < moving.busy < time
            errors.append(abs(time / 1e3 / microseconds - 1))
    assert max(errors) < 0.25
    assert median(errors) < 0.1


@pytest.mark.parametrize(
    ("generation", "mesh", "axis", "expected"),
    [
        (WORMHOLE, (1, 2), 1, (2, LINE, 1)),
        (WORMHOLE, (2, 4), 1, (4, LINE, 1)),
        (WORMHOLE, (1, 8), 1, (8, RING, 1)),
        (WORMHOLE, (8, 4), 0, (8, RING, 4)),
        (BLACKHOLE, (2, 2), 0, (2, LINE, 4)),
        (BLACKHOLE, (1, 4), 1, (4, RING, 4)),
        (BLACKHOLE, (2, 4), 1, (4, LINE, 2)),
    ],
)
def test_lanes(
    generation: object, mesh: tuple[int, int], axis: int, expected: tuple[int, bool, int]
) -> None:
    """Devices, whether they are a ring, and links between neighbours."""
    assert generation in (WORMHOLE, BLACKHOLE)
    lane = Lane.of((WORMHOLE if generation is WORMHOLE else BLACKHOLE).links, mesh, axis)
    assert (lane.devices, lane.is_ring, lane.links) == expected


TEXT = """
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<64x512xf32>, %b: tensor<512x96xf32>) -> tensor<64x96xf32> {
  %0 = sdy.manual_computation(%a, %b)
      in_shardings=[<@mesh, [{"x"}, {"y"}]>, <@mesh, [{"y"}, {}]>]
      out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x", "y"}
      (%c: tensor<32x128xf32>, %d: tensor<128x96xf32>) {
    %1 = stablehlo.dot_general %c, %d, contracting_dims = [1] x [0]
        : (tensor<32x128xf32>, tensor<128x96xf32>) -> tensor<32x96xf32>
    %2 = "stablehlo.all_reduce"(%1) ({
    ^bb0(%e: tensor<f32>, %f: tensor<f32>):
      %3 = stablehlo.add %e, %f : tensor<f32>
      stablehlo.return %3 : tensor<f32>
    }) {replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>,
        channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}
      : (tensor<32x96xf32>) -> tensor<32x96xf32>
    sdy.return %2 : tensor<32x96xf32>
  } : (tensor<64x512xf32>, tensor<512x96xf32>) -> tensor<64x96xf32>
  return %0 : tensor<64x96xf32>
}
"""


def test_estimates_of_meshes() -> None:
    """The devices of a mesh compute their parts side by side, and wait for exchanges."""
    compiled = ttmlir.compile(TEXT)
    estimate = compiled.estimate("n150")
    assert estimate.mesh == (2, 4)
    [exchange] = [each for each in estimate.operations if each.name == "ttnn.all_reduce"]
    # A line of 4 on one link: 3 hops, and 3 of the 4 parts of 32x96 numbers, twice.
    links = WORMHOLE.links
    moved = 3 * (32 * 96 * 4 / 4) / links.line_rate
    kernels = links.reduce_start + links.gather_start + 2 * (3 * links.hop + moved)
    assert exchange.kernels.mid == pytest.approx(kernels)
    assert exchange.flops == 0
    assert estimate.exchanges.mid == exchange.time.mid < estimate.total.mid
    assert "2x4 devices like n150" in str(estimate)
    # Eight chips of Wormhole are a board.
    assert "time on 2x4 chips of t3000" in str(compiled.summary())
    assert "of it: exchanges between devices" in str(estimate)
    # Twice 3 parts of 32x24 numbers.
    [use] = estimate.links
    assert (use.axis, use.devices, use.is_ring, use.links) == (1, 4, LINE, 1)
    assert use.bytes == 2 * 3 * 32 * 24 * 4
    assert use.busy == pytest.approx(2 * moved)
    line = "links along rows (4 devices in a line, 1 link): 0.02 MB over each, "
    assert line in str(estimate)
    assert line in str(compiled.summary("n150"))
    written = json.loads(estimate.to_json())
    assert written["links"][0]["bytes"] == use.bytes
    assert [each["links"] for each in written["operations"] if each["links"]] == [written["links"]]
    a, b = np.ones((64, 512), np.float32), np.ones((512, 96), np.float32)
    assert (compiled(a, b) == 512).all()
