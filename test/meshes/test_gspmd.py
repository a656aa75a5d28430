"""Shardings as GSPMD writes them: every form of tiles, borders of regions, and what is refused."""

from __future__ import annotations

import re

import numpy as np
import pytest

from ttmlir.errors import CompilationError
from ttmlir.frontend.dispatch import compile

PROGRAM = """\
module attributes {{mhlo.num_partitions = 8 : i32}} {{
  func.func @main(%a: tensor<8x24xf32> {{mhlo.sharding = "{given}"}})
      -> (tensor<8x24xf32> {{mhlo.sharding = "{made}"}}) {{
    %0 = stablehlo.negate %a : tensor<8x24xf32>
    return %0 : tensor<8x24xf32>
  }}
}}
"""
X = np.arange(192, dtype=np.float32).reshape(8, 24)

ROWS_OF = {
    "{devices=[8,1]<=[8]}": [(d, 0) for d in range(8)],
    "{devices=[2,4]<=[8]}": [(d // 4, d % 4) for d in range(8)],
    "{devices=[4,2]<=[2,4]T(1,0)}": [(d % 4, d // 4) for d in range(8)],
    "{devices=[2,4]0,1,2,3,4,5,6,7}": [(d // 4, d % 4) for d in range(8)],
    "{devices=[4,2]0,4,1,5,2,6,3,7}": [(d % 4, d // 4) for d in range(8)],
    "{devices=[2,1,4]<=[8] last_tile_dim_replicate}": [(d // 4, 0) for d in range(8)],
    "{devices=[1,4,2]<=[2,4]T(1,0) last_tile_dim_replicate}": [(0, d % 4) for d in range(8)],
    "{devices=[4,1,2]0,4,1,5,2,6,3,7 last_tile_dims={replicated}}": [(d % 4, 0) for d in range(8)],
    "{devices=[8,1]<=[2,4]T(1,0)}": [(d % 4 * 2 + d // 4, 0) for d in range(8)],
    "{devices=[1,8]<=[8] metadata={op_name=\\22a\\22}}": [(0, d) for d in range(8)],
    "{replicated}": [(0, 0)] * 8,
}
"""The block that each device has, by the sharding."""


@pytest.mark.parametrize("text", ROWS_OF)
def test_forms(text: str) -> None:
    """Device d has the block at its place among the tiles."""
    model = compile(PROGRAM.format(given="{devices=[2,4]<=[8]}", made=text))
    np.testing.assert_array_equal(model(X), -X)
    [parts] = model.run_on_devices(X)
    for part, (row, column) in zip(parts, ROWS_OF[text], strict=True):
        height, width = part.shape
        block = X[row * height : (row + 1) * height, column * width : (column + 1) * width]
        np.testing.assert_array_equal(part, -block)
    assert {8 // parts[0].shape[0], 24 // parts[0].shape[1]} == {
        1 + max(row for row, _ in ROWS_OF[text]),
        1 + max(column for _, column in ROWS_OF[text]),
    }


CALLS = """\
module attributes {mhlo.num_partitions = 8 : i32} {
  func.func @main(%a: tensor<8x24xf32>, %b: tensor<24xf32>) -> (tensor<8x24xf32>, tensor<8xf32>) {
    %0 = stablehlo.custom_call @Sharding(%a) {backend_config = "unspecified_dims=[1]",
        mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"}
        : (tensor<8x24xf32>) -> tensor<8x24xf32>
    %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<24xf32>) -> tensor<8x24xf32>
    %2 = stablehlo.multiply %0, %1 {mhlo.sharding = "{devices=[2,4]<=[8]}"} : tensor<8x24xf32>
    %c = stablehlo.constant dense<2.0> : tensor<f32>
    %3 = stablehlo.custom_call @Sharding(%2) {mhlo.sharding = "{devices=[2,4]<=[8]}"}
        : (tensor<8x24xf32>) -> tensor<8x24xf32>
    %4 = stablehlo.custom_call @SPMDFullToShardShape(%3) {mhlo.sharding = "{manual}"}
        : (tensor<8x24xf32>) -> tensor<4x6xf32>
    %5 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %6 = stablehlo.add %4, %5 : tensor<4x6xf32>
    %7 = stablehlo.custom_call @Sharding(%6) {mhlo.sharding = "{manual}"}
        : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %8 = stablehlo.custom_call @SPMDShardToFullShape(%7) {mhlo.sharding = "{devices=[2,4]<=[8]}"}
        : (tensor<4x6xf32>) -> tensor<8x24xf32>
    %9 = stablehlo.reduce(%8 init: %c) applies stablehlo.add across dimensions = [1]
        : (tensor<8x24xf32>, tensor<f32>) -> tensor<8xf32>
    return %8, %9 : tensor<8x24xf32>, tensor<8xf32>
  }
}
"""


def test_calls() -> None:
    """What a region and the program around it compute, with a constant that both take."""
    b = np.linspace(-1, 2, 24, dtype=np.float32)
    model = compile(CALLS)
    whole, sums = model(X, b)
    np.testing.assert_array_equal(whole, X * b + 2)
    np.testing.assert_allclose(sums, (X * b + 2).sum(1) + 2, rtol=1e-5)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{maximal device=3}", "puts a tensor on one device; devices have parts of it"),
        ("{devices=[2,4]<=[4]}", "does not name each device once, in even steps"),
        ("{devices=[2,4]0,1,2,3,4,5,6,6}", "does not name each device once, in even steps"),
        ("{devices=[2,4]0,1,3,2,4,5,7,6}", "does not name each device once, in even steps"),
        ("{devices=[999999999,999999999]<=[8]}", "does not name each device once"),
        ("{devices=[2,1]<=[2]}", "the sharding {devices=[2,1]<=[2]} is not over the 8 devices"),
        ("{devices=[2,4]<=[8] shard_as 1}", "is no sharding that is known here; there are"),
        ("{devices=[2,4]<=[8] last_tile_dims={odd}}", "has groups other than replicated and man"),
        ("{some}", "'{some}' is no sharding that is known here"),
        ("{replicated", "'{replicated' is no sharding that is known here"),
    ],
)
def test_refused(text: str, message: str) -> None:
    """What cannot be done is said, at its line."""
    with pytest.raises(CompilationError, match=f"<text>:[12].*{re.escape(message)}"):
        compile(PROGRAM.format(given="{devices=[2,4]<=[8]}", made=text))


def test_parts_that_are_taken_for_wholes() -> None:
    """Values of parts leave a region by their border alone."""
    text = CALLS.replace("return %8, %9", "return %8, %d").replace(
        "    %9 = ",
        "    %d = stablehlo.slice %w [0:8] : (tensor<24xf32>) -> tensor<8xf32>\n"
        "    %w = stablehlo.reshape %5 : (tensor<4x6xf32>) -> tensor<24xf32>\n    %9 = ",
    )
    lines = text.splitlines()
    first = next(n for n, line in enumerate(lines) if line.startswith("    %d = "))
    lines[first], lines[first + 1] = lines[first + 1], lines[first]
    with pytest.raises(CompilationError, match="the part of a device is taken for a whole tensor"):
        compile("\n".join(lines))
    text = CALLS.replace("add %4, %5", "add %4, %p").replace(
        "%b: tensor<24xf32>", "%b: tensor<24xf32>, %p: tensor<4x6xf32>"
    )
    with pytest.raises(CompilationError, match="is taken for the part of a device, and is no"):
        compile(text)
