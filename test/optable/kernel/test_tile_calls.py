"""The steps that compute an operation on tiles, run with the definitions' meanings, give its
reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ttmlir.optable import elementwise
from ttmlir.optable.kernel import CALLS, Element, ValueKind
from ttmlir.optable.kernel.tile_calls import TILE_CALLS, Step, TileCall
from ttmlir.optable.op_definition import Domain

_CALLS = {call.mnemonic: call for call in CALLS}
_PARAMETERS: dict[str, dict[str, float]] = {
    "clamp": {"min": -2, "max": 3},
    "leaky_relu": {"parameter": 0.25},
}
_WITHOUT_KERNEL = {
    *("erfinv", "lgamma", "bitcast_convert", "population_count", "count_leading_zeros"),
}
_DEFINITIONS = {definition.mnemonic: definition for definition in elementwise.DEFINITIONS}


def _run(step: Step, dst: dict[int, Any], parameters: dict[str, float]) -> None:
    call = _CALLS[step.call]
    assert call.tiles is not None
    assert call.reference is not None
    indices = [name for name, kind in call.operands if kind is ValueKind.I32]
    slots = dict(zip(indices, step.slots, strict=False))
    numbers = [parameters[s] if isinstance(s, str) else s for s in step.scalars]
    names = [name for _, name, _ in call.tiles.scalars]
    assert len(step.slots) + len(step.scalars) == len(call.operands), step.call
    tiles = [dst[slots[name]] for name in call.tiles.dst]
    if call.tiles.element is Element.UINT32:
        tiles = [tile.view(np.uint32) for tile in tiles]
    result = call.reference(np, *tiles, **dict(zip(names, numbers, strict=True)))
    dst[slots[call.tiles.to]] = np.broadcast_to(result, dst[0].shape).astype(dst[0].dtype)


def _numbers(domain: Domain, index: int) -> np.ndarray[Any, Any]:
    """Numbers of a domain; those of two operands meet in every order, and are equal at times."""
    values = np.roll(np.tile(np.array([-3.5, -1, -0.0, 0, 0.75, 1, 2, 5]), 8), 3 * index)
    values = values.reshape(4, 16)
    match domain:
        case Domain.POSITIVE:
            return np.abs(values) + 0.5
        case Domain.NONZERO:
            return np.where(values == 0, 0.125, values)
        case Domain.ABOVE_MINUS_ONE:
            return np.maximum(values, -0.75)
        case Domain.FROM_ONE:
            return np.abs(values) + 1
        case Domain.UNIT:
            return np.clip(values, -0.875, 0.875)
        case Domain.SPECIAL:
            return np.where(values == 5, np.inf, np.where(values == 2, np.nan, values))
        case _:
            return values


def _operands(mnemonic: str, dtype: Any) -> list[Any]:
    """Integers of every domain are numbers that an integer can be."""
    definition = _DEFINITIONS[mnemonic]
    count = elementwise.arity(definition)
    domains = (*definition.domains, *definition.domains[-1:] * count)[:count]
    if dtype is np.int32:
        numbers = [_numbers(Domain.REAL, i).astype(dtype) for i in range(count)]
        nonzero = (domain is Domain.NONZERO for domain in domains)
        return [np.where(x == 0, -3, x) if n else x for x, n in zip(numbers, nonzero, strict=True)]
    return [_numbers(domain, i).astype(dtype) for i, domain in enumerate(domains)]


def test_every_elementwise_operation_has_its_calls() -> None:
    """No operation is left out, none is made up, and all that is named exists."""
    definitions = [definition.mnemonic for definition in elementwise.DEFINITIONS]
    assert list(TILE_CALLS) == [
        mnemonic for mnemonic in definitions if mnemonic not in _WITHOUT_KERNEL
    ]
    for mnemonic in _WITHOUT_KERNEL:
        assert TILE_CALLS[mnemonic] == TileCall()
    for mnemonic, tile_call in TILE_CALLS.items():
        has_kernel = tile_call.floats is not None or tile_call.integers is not None
        assert has_kernel, mnemonic
        for step in (*(tile_call.floats or ()), *(tile_call.integers or ())):
            assert _CALLS[_CALLS[step.call].init].mnemonic
            names = {template.name for template in _CALLS[step.call].templates}
            assert {name for name, _ in step.templates} <= names


@pytest.mark.parametrize("mnemonic", [m for m, call in TILE_CALLS.items() if call.floats])
def test_steps_on_floats(mnemonic: str) -> None:
    """Steps and reference agree; the reference of each definition has tests of its own."""
    operands = _operands(mnemonic, np.float32)
    parameters = _PARAMETERS.get(mnemonic, {})
    dst = {i: operand.copy() for i, operand in enumerate(operands)}
    for step in TILE_CALLS[mnemonic].floats or ():
        _run(step, dst, parameters)
    expected = _DEFINITIONS[mnemonic].reference(np, *operands, **parameters)
    np.testing.assert_allclose(dst[0], np.asarray(expected, np.float32), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("mnemonic", [m for m, c in TILE_CALLS.items() if c.integers is not None])
def test_steps_on_integers(mnemonic: str) -> None:
    """The same on 32-bit integers, bit for bit."""
    operands = _operands(mnemonic, np.int32)
    parameters = _PARAMETERS.get(mnemonic, {})
    dst = {i: operand.copy() for i, operand in enumerate(operands)}
    for step in TILE_CALLS[mnemonic].integers or ():
        _run(step, dst, parameters)
    expected = _DEFINITIONS[mnemonic].reference(np, *operands, **parameters)
    np.testing.assert_array_equal(dst[0], np.asarray(expected).astype(np.int32))


@pytest.mark.parametrize(
    ("mnemonic", "call", "function"),
    [("add", "add_tiles", np.add), ("subtract", "sub_tiles", np.subtract)],
)
def test_sums_of_the_matrix_unit_replace_what_dst_holds(
    mnemonic: str, call: str, function: Any
) -> None:
    """Sums and differences overwrite."""
    definition = _CALLS[call]
    assert TILE_CALLS[mnemonic].matrix_unit == call
    assert definition.tiles is not None
    assert not definition.tiles.accumulates
    assert definition.reference is not None
    a, b = _operands(mnemonic, np.float32)
    np.testing.assert_array_equal(definition.reference(np, a, b), function(a, b))


def test_products_of_the_matrix_unit_are_added_to_what_dst_holds() -> None:
    """Products of numbers and of matrices accumulate."""
    assert TILE_CALLS["multiply"].matrix_unit == "mul_tiles"
    for mnemonic in ("mul_tiles", "matmul_tiles", "mul_tiles_bcast_rows"):
        tiles = _CALLS[mnemonic].tiles
        assert tiles is not None
        assert tiles.accumulates


def test_slots() -> None:
    """The sign of an integer needs one tile more than its operand; rounding needs none."""
    assert TILE_CALLS["remainder"].slots() == 2
    assert TILE_CALLS["abs"].slots() == 1
    assert TILE_CALLS["sign"].slots(integers=True) == 2
    assert TILE_CALLS["floor"].slots(integers=True) == 1
