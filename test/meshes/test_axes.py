"""Parts of axes, and the rows and columns that meshes of more axes have."""

from __future__ import annotations

import numpy as np
import pytest

from ttmlir.errors import CompilationError
from ttmlir.frontend.dispatch import compile
from ttmlir.passes.stablehlo.mesh_borders import Spread, join_axes

PROGRAM = """\
sdy.mesh @mesh = <["x"=8]>
func.func @main(%a: tensor<8x12xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{given}]>}})
    -> (tensor<8x12xf32> {{sdy.sharding = #sdy.sharding<@mesh, [{made}]>}}) {{
  %0 = stablehlo.negate %a : tensor<8x12xf32>
  return %0 : tensor<8x12xf32>
}}
"""
X = np.arange(96, dtype=np.float32).reshape(8, 12)

BLOCKS = {
    '{"x":(1)2}, {"x":(2)4}': ((4, 3), [(d // 4, d % 4) for d in range(8)]),
    '{"x":(2)2}, {}': ((4, 12), [(d // 2 % 2, 0) for d in range(8)]),
    '{"x":(4)2, "x":(1)2}, {}': ((2, 12), [(d % 2 * 2 + d // 4, 0) for d in range(8)]),
    '{}, {"x":(1)4}': ((8, 3), [(0, d // 2) for d in range(8)]),
}
"""The extents of parts, and the block of each device."""


@pytest.mark.parametrize("made", BLOCKS)
def test_parts_of_axes(made: str) -> None:
    """Device d has the block at its place along the parts."""
    model = compile(PROGRAM.format(given='{"x":(1)2}, {"x":(2)2}', made=made))
    np.testing.assert_array_equal(model(X), -X)
    [parts] = model.run_on_devices(X)
    (height, width), places = BLOCKS[made]
    for part, (row, column) in zip(parts, places, strict=True):
        block = X[row * height : (row + 1) * height, column * width : (column + 1) * width]
        np.testing.assert_array_equal(part, -block)


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (
            '"x":(1)3',
            'sub-axis next pre-size 3 doesn\'t divide the size of the full axis 8: "x":(1)3',
        ),
        ('"x":(2)8', "sub-axis next pre-size 16 doesn't divide the size of the full axis 8"),
        ('"x":(0)2', 'sub-axis pre-size must be at least 1: "x":(0)2'),
        ('"x":(4)1', 'sub-axis sizes must be greater than 1: "x":(4)1'),
    ],
)
def test_parts_that_are_none(part: str, message: str) -> None:
    """Parts that an axis does not have are refused where they are named."""
    with pytest.raises(CompilationError) as found:
        compile(PROGRAM.format(given='{"x":(1)2}, {}', made=f"{{{part}}}, {{}}"))
    where = "<text>:2:1: error: 'func.func' op result 0 - "
    assert where + message in str(found.value)


def test_rows_and_columns() -> None:
    """Neighbours are joined to what boards have; what divides over whole ones says it so."""
    assert [join_axes(each) for each in ((2, 2, 2), (2, 4, 4), (2, 2, 2, 2), (3, 5, 7))] == [
        1,
        2,
        1,
        1,
    ]
    cube = (2, 2, 2)
    assert Spread(((0,), (1, 2)), cube).joined() == Spread(((0,), (1,)), (2, 4))
    assert Spread(((1, 2, 0), ()), cube).joined() == Spread(((1, 0), ()), (2, 4))
    for axes in (((1,), ()), ((2, 1), ()), ((0, 1), (2,)), ((2,), (0,))):
        spread = Spread(axes, cube)
        assert spread.joined() == spread
