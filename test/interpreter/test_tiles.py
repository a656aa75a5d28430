"""Operations on tiles that no operation on tensors defines: what they compute, by hand."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest
from xdsl.utils.test_value import create_ssa_value

from ttmlir.dialects import d2m
from ttmlir.dialects.tt.layout import TileType
from ttmlir.interpreter.d2m import TILE_FUNCTIONS
from ttmlir.interpreter.execution import Execution
from ttmlir.layout.enums import DataType

NUMBERS = [-1.5, -0.0, 0.0, 0.25, 3.0]


@pytest.mark.parametrize(
    ("name", "parameters", "expected"),
    [
        ("eqz", {}, [0, 1, 1, 0, 0]),
        ("nez", {}, [1, 0, 0, 1, 1]),
        ("gtz", {}, [0, 0, 0, 1, 1]),
        ("gez", {}, [0, 1, 1, 1, 1]),
        ("ltz", {}, [1, 0, 0, 0, 0]),
        ("lez", {}, [1, 1, 1, 0, 0]),
        ("signbit", {}, [1, 1, 0, 0, 0]),
        ("frac", {}, [-0.5, 0, 0, 0.25, 0]),
        ("softsign", {}, [-0.6, 0, 0, 0.2, 0.75]),
        # 2 * 4 * (exp(-1.5) - 1)
        ("selu", {"scale": 2.0, "alpha": 4.0}, [-6.2149587, 0, 0, 0.5, 6]),
    ],
)
def test_functions_of_calls(name: str, parameters: dict[str, Any], expected: list[float]) -> None:
    """Each of them has a function of its own among the calls of kernels."""
    tile = create_ssa_value(TileType.get(32, 32, DataType.F32))
    op = d2m.tile_op(f"tile_{name}").of([tile], **parameters)
    execution = cast("Execution", None)  # they depend on no other operation
    [found] = cast(
        "list[Any]", TILE_FUNCTIONS[op.name](execution, op, [np.array(NUMBERS, np.float32)])
    )
    np.testing.assert_allclose(found, expected, rtol=1e-6)
