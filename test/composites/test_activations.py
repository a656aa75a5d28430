"""Functions of `optable.special` that every carrier of arrays shares, against torch."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ttmlir.arrays.carriers import array_of
from ttmlir.arrays.namespace import ARRAYS
from ttmlir.errors import MissingNameError
from ttmlir.optable import special

torch: Any = import_module("torch")
functional: Any = import_module("torch.nn.functional")

Numbers = NDArray[Any]
INF, NAN = float("inf"), float("nan")
X = np.array(
    [-INF, -1e30, -90, -21, -3.5, -1, -1e-6, -0.0, 0, 1e-6, 0.7, 2, 19.5, 21, 90, 1e30, INF, NAN],
    np.float32,
)
PAIRS = (
    np.array([3, -5, 1e30, 1e-30, 0, 0, 7, INF, -INF, 2], np.float32),
    np.array([4, 12, -1e30, 1e-30, 0, -2, 0, 1, INF, NAN], np.float32),
)

FUNCTIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "elu": (special.elu, functional.elu),
    "elu of half": (
        partial(special.elu, alpha=0.5, scale=3.0, input_scale=2.0),
        lambda x: torch.ops.aten.elu(x, 0.5, 3.0, 2.0),
    ),
    "selu": (
        partial(special.selu, scale=1.0507009873554805, alpha=1.6732632423543772),
        functional.selu,
    ),
    "softsign": (special.softsign, functional.softsign),
    "softplus": (special.softplus, functional.softplus),
    "softplus of 2": (
        partial(special.softplus, beta=2.0, threshold=5.0),
        lambda x: functional.softplus(x, 2.0, 5.0),
    ),
    "mish": (special.mish, functional.mish),
    "log_sigmoid": (special.log_sigmoid, functional.logsigmoid),
}


def of_numpy(function: Callable[..., Any], *numbers: Numbers) -> Numbers:
    """With NumPy."""
    with np.errstate(all="ignore"):
        return np.asarray(function(np, *numbers))


def of_arrays(function: Callable[..., Any], *numbers: Numbers) -> Numbers:
    """With the operations that a carrier has."""
    return function(ARRAYS, *map(array_of, numbers)).value


@pytest.mark.parametrize("way", [of_numpy, of_arrays])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_those_of_torch(name: str, way: Callable[..., Numbers]) -> None:
    """From end to end, in float32."""
    function, oracle = FUNCTIONS[name]
    expected = oracle(torch.tensor(X)).numpy()
    found = way(function, X)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=3e-6, atol=1e-12)


@pytest.mark.parametrize("way", [of_numpy, of_arrays])
def test_hypotenuse(way: Callable[..., Numbers]) -> None:
    """No square overflows or vanishes; beside NaN it is NaN."""
    found = way(special.hypot, *PAIRS)
    expected = np.hypot(*(each.astype(np.float64) for each in PAIRS))
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_names_of_numpy() -> None:
    """What NumPy calls otherwise is found; what is no elementwise operation is not there."""
    a, b = array_of(np.float32([1, 2])), array_of(np.float32([1, 3]))
    assert ARRAYS.equal(a, b).value.tolist() == [True, False]
    with pytest.raises(MissingNameError, match="there is no elementwise operation 'matmul'"):
        ARRAYS.matmul(a, b)
