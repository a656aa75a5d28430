"""Elementwise reference functions against Python's own arithmetic, one number at a time."""

import math
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest
from oracles.elementwise_oracles import ORACLES

from ttmlir import optable
from ttmlir.optable.elementwise import DEFINITIONS, arity
from ttmlir.optable.op_definition import Domain, OpDefinition

INFINITY, NAN = math.inf, math.nan


TYPES = {"bitcast_convert": {"source": np.int64, "target": np.float64}}


def parameters_of(name: str) -> dict[str, Any]:
    """Keywords of the reference function."""
    return {**ORACLES[name].parameters, **TYPES.get(name, {})}


_FROM_REAL: dict[Domain, Callable[[np.ndarray], np.ndarray]] = {
    Domain.REAL: lambda real: real,
    Domain.INDEX: lambda real: real,
    Domain.POSITIVE: lambda real: np.abs(real) + 0.1,
    Domain.NONZERO: lambda real: np.where(real == 0, 1.0, real),
    Domain.ABOVE_MINUS_ONE: lambda real: np.abs(real) - 0.9,
    Domain.FROM_ONE: lambda real: np.abs(real) + 1,
    Domain.UNIT: lambda real: np.clip(real / 8, -0.95, 0.95),
    Domain.BOOLEAN: lambda real: (real > 0).astype(np.float64),
}


def draw(domain: Domain, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Numbers of a domain, with repetitions so that comparisons meet equal ones."""
    match domain:
        case Domain.SPECIAL:
            return rng.choice([0.0, 1.5, INFINITY, -INFINITY, NAN], shape)
        case Domain.INTEGER:
            return rng.integers(-100, 100, shape)
        case Domain.SHIFT:
            return rng.integers(0, 16, shape)
        case _:
            return _FROM_REAL[domain](np.round(rng.standard_normal(shape) * 2, 1))


def test_every_operation_has_an_oracle() -> None:
    """No operation goes untested because someone forgot its oracle."""
    definitions = {definition.mnemonic for definition in DEFINITIONS}
    where = "test/support/oracles/elementwise_oracles.py"
    edits = [
        f"add what {name} means without its definition to {where}"
        for name in definitions - {*ORACLES}
    ]
    edits += [
        f"there is no definition for {name}: take it from {where}"
        for name in {*ORACLES} - definitions
    ]
    assert sorted(edits) == []


@pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda definition: definition.mnemonic)
def test_reference_equals_oracle(definition: OpDefinition) -> None:
    """Operands of different shapes broadcast, and each element is what the oracle says."""
    rng = np.random.default_rng(7)
    shapes = ((5, 1, 7), (3, 7), (1, 7))[: arity(definition)]
    domains = [definition.domains[min(i, len(definition.domains) - 1)] for i in range(len(shapes))]
    inputs = [draw(d, shape, rng) for d, shape in zip(domains, shapes, strict=True)]
    result = definition.reference(np, *inputs, **parameters_of(definition.mnemonic))
    numbers = [x.astype(object) if x.dtype.kind == "i" else x for x in inputs]
    expected = np.vectorize(ORACLES[definition.mnemonic].of_numbers, otypes=[float])(*numbers)
    assert result.shape == expected.shape
    np.testing.assert_allclose(result, expected, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("name", ["relu", "maximum", "minimum", "clamp", "sign"])
def test_nan_stays_nan(name: str) -> None:
    """Selections do not lose NaN."""
    definition = next(definition for definition in DEFINITIONS if definition.mnemonic == name)
    nans = np.array([NAN, NAN])
    others = [np.array([-1.0, 1.0])] * (arity(definition) - 1)
    assert np.isnan(definition.reference(np, nans, *others, **parameters_of(name))).all()


BITWISE = ("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not")
SHIFTS = ("logical_left_shift", "logical_right_shift", "right_shift")
COUNTS = ("population_count", "count_leading_zeros")


@pytest.mark.parametrize("name", [*BITWISE, *SHIFTS, *COUNTS])
def test_bits_are_those_of_integers(name: str) -> None:
    """Floats have none that a program can ask for."""
    definition = next(definition for definition in DEFINITIONS if definition.mnemonic == name)
    operands = [np.array([1.5, 2.0])] * arity(definition)
    message = "bits are those of integers and booleans; typecast other numbers"
    with pytest.raises(ValueError, match=message):
        definition.reference(np, *operands)


def test_integer_division_rounds_toward_zero() -> None:
    """Quotient and remainder of integers take the signs that StableHLO gives them."""
    div = next(definition for definition in DEFINITIONS if definition.mnemonic == "div")
    remainder = next(definition for definition in DEFINITIONS if definition.mnemonic == "remainder")
    x, y = np.array([17, -17, 17, -17]), np.array([3, 3, -3, -3])
    assert div.reference(np, x, y).tolist() == [5, -5, -5, 5]
    assert remainder.reference(np, x, y).tolist() == [2, -2, 2, -2]


@pytest.mark.parametrize("dtype", ["int32", "int8", "int16", "uint8", "uint32"])
def test_integer_division_by_zero_is_all_ones(dtype: str) -> None:
    """What XLA defines; and the quotient that does not fit the type is the dividend."""
    least = np.iinfo(dtype).min
    x, y = np.array([7, 0, least, least, 100], dtype), np.array([0, 0, 0, 1, 3], dtype)
    if least:
        x, y = np.append(x, [x[2], x.dtype.type(-7)]), np.append(y, [-y[3], y[0]])
    with np.errstate(divide="ignore", over="ignore"):
        result = optable.definition("div").reference(np, x, y)
        one = optable.definition("div").reference(np, x[:1].reshape(()), y[:1].reshape(()))
    assert result.dtype == x.dtype
    assert result.tolist() == np.asarray(jax.lax.div(x, y)).tolist()
    assert result[0] == one == (-1 if least else np.iinfo(dtype).max)
    assert result.tolist()[5:] == ([least, -1] if least else [])


def test_remainder_by_zero_is_the_dividend() -> None:
    """What XLA computes on CPUs, for integers; truth values are the integers 0 and 1."""
    x, y = np.array([17, -17, 0, 1, 1, 0], np.int32), np.array([0, 0, 0, 0, 1, 1], np.int32)
    expected = np.asarray(jax.lax.rem(x, y))
    with np.errstate(divide="ignore"):
        result = optable.definition("remainder").reference(np, x, y)
        truth = optable.definition("remainder").reference(np, x[2:] != 0, y[2:] != 0)
    assert result.dtype == np.int32
    assert result.tolist() == expected.tolist() == [17, -17, 0, 1, 0, 0]
    assert truth.tolist() == [False, True, False, False]


# One bit has no room for 2 or -1: sum is or, difference exclusive or, negation identity.
MODULAR = {"add", "subtract", "neg"}
NUMERIC = [r for r in DEFINITIONS if Domain.INTEGER not in r.domains and r.mnemonic not in MODULAR]


@pytest.mark.parametrize("definition", NUMERIC, ids=lambda definition: definition.mnemonic)
def test_booleans_are_numbers(definition: OpDefinition) -> None:
    """Operations on i1 give what they give for 0.0 and 1.0, where that is finite."""
    values = ([True, True, False], [True, False, True], [False, True, True])
    inputs = [np.array(value) for value in values[: arity(definition)]]
    parameters = parameters_of(definition.mnemonic)
    with np.errstate(all="ignore"):
        result = np.float64(definition.reference(np, *inputs, **parameters))
        expected = np.float64(definition.reference(np, *map(np.float64, inputs), **parameters))
    finite = np.isfinite(expected)
    np.testing.assert_allclose(result[finite], expected[finite], rtol=1e-3)
