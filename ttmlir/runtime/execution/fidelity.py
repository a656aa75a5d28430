"""Products with the fidelity that an operation chooses, in device numerics.

The matrix unit multiplies a few bits at a time. In each phase it takes a part of the mantissa of
each operand; the second operand of a product is in SrcA, the first one in SrcB. LoFi takes the
first 5 bits of the one and 7 of the other (leading ones included), HiFi2 the rest of the second
operand as well, HiFi3 also the first bits of it times the rest of the first operand, HiFi4 both
rests. As a product is linear in its operands, so many products of parts are added up here.

Sums are exact and are rounded once, to the 16 or 32 bits of DST: on the device, a sum of 16 bits is
rounded after every step. What the library takes without a choice is not modelled: operands keep
all bits then.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ttmlir.layout.enums import DeviceComputeConfig, MathFidelity
from ttmlir.runtime.execution.operations import OperationCall
from ttmlir.runtime.tensor import Array
from ttmlir.sim.machine.numerics import (
    Register,
    parts_a,
    parts_b,
    register_of_class,
    round_to,
    source_register,
    to_source,
)

Function = Callable[..., Array]


def multiply_with(config: DeviceComputeConfig, call: OperationCall, function: Function) -> Function:
    """The function of a call that multiplies its first two operands, with a choice of fidelity."""
    first, second = (ref.desc.data_type for ref in call.operands[:2] if ref is not None)
    formats = (first, second)
    wide = config.fp32_dest_acc_en
    sources = (
        source_register(first, formats, wide=wide),
        source_register(second, formats, wide=wide),
    )
    dst = Register.FP32 if wide else register_of_class(formats)
    return partial(_multiply, function, config.math_fidelity, sources, dst)


def _multiply(
    function: Function,
    fidelity: MathFidelity,
    sources: tuple[Register, Register],
    dst: Register,
    *operands: Array,
) -> Array:
    first, second = (
        to_source(each.astype(np.float32), register)
        for each, register in zip(operands[:2], sources, strict=True)
    )
    others = operands[2:]
    (first_high, first_low), (second_high, second_low) = parts_b(first), parts_a(second)
    match fidelity:
        case MathFidelity.LOFI:
            product = function(first_high, second_high, *others)
        case MathFidelity.HIFI2:
            product = function(first_high, _both(second_high, second_low), *others)
        case MathFidelity.HIFI3:
            product = function(first_high, _both(second_high, second_low), *others)
            # Numbers that are not finite are in the first product alone.
            rest = function(_finite(first_low), _finite(second_high))
            product = np.where(np.isfinite(product), product + rest, product)
        case _:
            product = function(
                _both(first_high, first_low), _both(second_high, second_low), *others
            )
    if dst is Register.FP32 or not np.isfinite(product).all():
        return product
    return round_to(product.astype(np.float64), dst)


def _both(high: Array, low: Array) -> Array:
    """A number of both parts; what has no finite one is its first part."""
    return high + _finite(low)


def _finite(values: Array) -> Array:
    return np.where(np.isfinite(values), values, np.float32(0))
