"""Activations that are spelled out: rules of `ttir-fusing`.

Factors and summands stand in any order; numbers may be repeated by broadcasts.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ttmlir.ir.tensor_types import value_shape
from ttmlir.passes.ttir.value_rewriting import (
    adapted,
    either_way,
    inputs_of,
    is_number,
    made_by,
    number_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xdsl.ir import Operation, SSAValue

    from ttmlir.ir.builder import Builder
    from ttmlir.ir.greedy_rewriting import Rule

_NEAR = 1e-2
"""How far a number of 16 bits may be from the one that a formula has."""
_MOST_FACTORS = 8


def _same_type(op: Operation, value: SSAValue) -> bool:
    return value.type == op.results[0].type


def _relu6(op: Operation, builder: Builder) -> SSAValue | None:
    """The minimum of a relu and 6."""
    for value, six in either_way(op):
        relu = made_by(value, "relu")
        if relu is not None and is_number(six, 6) and _same_type(op, value):
            return builder.create("relu6", inputs_of(relu), value.type)
    return None


def _hardsigmoid(op: Operation, builder: Builder) -> SSAValue | None:
    """A relu6 of x + 3, by 6."""
    for value, by in _scaled(op):
        relu6 = made_by(value, "relu6")
        added = None if relu6 is None else made_by(inputs_of(relu6)[0], "add")
        if added is None or not math.isclose(by, 1 / 6, rel_tol=_NEAR):
            continue
        for x, three in either_way(added):
            if is_number(three, 3) and _same_type(op, x):
                return builder.create("hardsigmoid", (x,), x.type)
    return None


def _scaled(op: Operation) -> Sequence[tuple[SSAValue, float]]:
    """What is multiplied or divided by a number, and the factor."""
    first, second = inputs_of(op)
    if op.name == "ttir.div":
        by = number_of(second)
        return [(first, 1 / by)] if by else []
    found = [(value, number_of(number)) for value, number in either_way(op)]
    return [(value, number) for value, number in found if number is not None]


def _sigmoid(op: Operation, builder: Builder) -> SSAValue | None:
    """1 / (1 + exp(-x))."""
    first, *others = inputs_of(op)
    if others and not is_number(first, 1):
        return None
    added = made_by(others[0] if others else first, "add")
    for one, decay in () if added is None else either_way(added):
        exp = made_by(decay, "exp")
        negated = None if exp is None else made_by(inputs_of(exp)[0], "neg")
        if negated is not None and is_number(one, 1):
            x = inputs_of(negated)[0]
            return builder.create("sigmoid", (x,), x.type) if _same_type(op, x) else None
    return None


def _silu(op: Operation, builder: Builder) -> SSAValue | None:
    """x * sigmoid(x)."""
    for x, factor in either_way(op):
        sigmoid = made_by(factor, "sigmoid")
        if sigmoid is not None and inputs_of(sigmoid)[0] is x and sigmoid.results[0].has_one_use():
            return builder.create("silu", (x,), x.type)
    return None


# --- gelu -----------------------------------------------------------------------------------------


def _gelu(op: Operation, builder: Builder) -> SSAValue | None:
    """x / 2 * (1 + erf(x / sqrt(2))), or the same with the tanh of a polynomial."""
    number, factors = _factors(op.results[0])
    if len(factors) != 2 or not math.isclose(number, 0.5, rel_tol=_NEAR):
        return None
    for x, rest in (factors, factors[::-1]):
        added = made_by(rest, "add")
        for one, value in () if added is None else either_way(added):
            if not is_number(one, 1) or not _same_type(op, x):
                continue
            if _is_erf(value, x) or _is_tanh(value, x):
                return builder.create("gelu", (x,), x.type)
    return None


def _factors(value: SSAValue) -> tuple[float, list[SSAValue]]:
    """The product of the numbers that are factors of a value, and the other factors."""
    factors: list[SSAValue] = []
    number, left = 1.0, [value]
    while left and len(factors) + len(left) <= _MOST_FACTORS:
        each = left.pop()
        product = made_by(each, "multiply")
        found = number_of(each)
        if found is not None:
            number *= found
        elif product is not None and value_shape(each) == value_shape(value):
            left += reversed(inputs_of(product))
        elif (pow_ := made_by(each, "pow")) is not None and is_number(inputs_of(pow_)[1], 3):
            factors += [inputs_of(pow_)[0]] * 3
        else:
            factors.append(each)
    return number, [*factors, *left]


def _is_erf(value: SSAValue, x: SSAValue) -> bool:
    erf = made_by(value, "erf")
    if erf is None:
        return False
    by, factors = _factors(inputs_of(erf)[0])
    divided = made_by(inputs_of(erf)[0], "div")
    if divided is not None:
        source, root = inputs_of(divided)
        return source is x and is_number(root, math.sqrt(2), _NEAR)
    return factors == [x] and math.isclose(by, math.sqrt(0.5), rel_tol=_NEAR)


def _is_tanh(value: SSAValue, x: SSAValue) -> bool:
    """tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))."""
    tanh = made_by(value, "tanh")
    if tanh is None:
        return False
    by, factors = _factors(inputs_of(tanh)[0])
    added = made_by(factors[0], "add") if len(factors) == 1 else None
    if added is None or not math.isclose(by, math.sqrt(2 / math.pi), rel_tol=_NEAR):
        return False
    for first, cube in either_way(added):
        coefficient, powers = _factors(cube)
        is_cube = powers == [x, x, x] and math.isclose(coefficient, 0.044715, rel_tol=_NEAR)
        if first is x and is_cube:
            return True
    return False


RULES: Mapping[str, Sequence[Rule]] = adapted(
    {
        "minimum": [_relu6],
        "div": [_sigmoid, _hardsigmoid],
        "reciprocal": [_sigmoid],
        "multiply": [_silu, _gelu, _hardsigmoid],
    }
)
"""By the operation that comes last."""
