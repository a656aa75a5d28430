"""What a card makes of rows: softmax and norms, step by step.

Between two steps numbers wait in L1, in a format of their own. The matrix unit takes two tiles from
there, of which one may be a column or a row that is repeated; the vector unit works in DST.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ttmlir.layout.enums import Arch, DataType, MathFidelity
from ttmlir.sim.machine import matrix_unit
from ttmlir.sim.machine import vector_functions as vf
from ttmlir.sim.machine.card_formats import FORMATS, pack, unpack
from ttmlir.sim.machine.card_products import LARGEST, sum_of_rows
from ttmlir.sim.machine.vector_unit import Array, Lanes, pack_bfloat16, store_float32, vector_unit

_BF16, _F32 = DataType.BF16, DataType.F32


class Stored(NamedTuple):
    """Numbers in L1, and their format."""

    numbers: Array
    data_type: DataType


@dataclass(frozen=True)
class RowUnits:
    """The units of a core, as a kernel of rows sets them up."""

    arch: Arch
    fidelity: MathFidelity
    wide: bool
    """Whether DST has 32 bits."""

    def source(self, stored: Stored) -> Array:
        """Numbers in a register of the matrix unit."""
        return unpack(stored.numbers, stored.data_type, wide=self.wide)

    @property
    def _is_wormhole(self) -> bool:
        return self.arch is Arch.WORMHOLE_B0

    def add(self, a: Stored, b: Stored) -> Array:
        """DST with the sum of two tiles."""
        first, second = self.source(a), self.source(b)
        return matrix_unit.add(first, second, wide=self.wide, wormhole=self._is_wormhole)

    def subtract(self, a: Stored, b: Stored) -> Array:
        """DST with the difference of two tiles."""
        return self.add(a, Stored(-b.numbers, b.data_type))

    def multiply(self, a: Stored, b: Stored) -> Array:
        """DST with the product of two tiles."""
        first, second = self.source(a), self.source(b)
        return matrix_unit.multiply(
            first, second, self.fidelity, wide=self.wide, wormhole=self._is_wormhole
        )

    def sum(self, a: Stored) -> Array:
        """DST with the sums along the last dimension, which stays as 1."""
        return sum_of_rows(self.source(a), self.fidelity, self.arch, wide=self.wide)

    def lanes(self, dst: Array) -> Lanes:
        """Numbers of DST in the vector unit."""
        return Lanes(vector_unit(self.arch), dst)

    def stored(self, lanes: Lanes) -> Array:
        """DST after the vector unit stored there."""
        return store_float32(lanes.array) if self.wide else pack_bfloat16(lanes.array)

    def pack(self, dst: Array, data_type: DataType) -> Stored:
        """What the packer leaves in L1."""
        return Stored(pack(dst, data_type, wide=self.wide), data_type)


WIDEST_SOFTMAX = 4096
WIDEST_LAYER_NORM = 1536
WIDEST_RMS_NORM = 3072
"""Numbers in a row that fit in L1; longer rows are read twice, by other kernels."""


@np.errstate(all="ignore")
def softmax_rows(
    array: Array, data_type: DataType, arch: Arch, *, stable: bool = True
) -> Array | None:
    """The softmax along the last dimension, as a card computes it by default.

    None for formats whose bits are not known, and for rows that do not fit in L1.
    """
    if not has_bits(arch, (data_type,), array.shape, WIDEST_SOFTMAX):
        return None
    is_exact = data_type is _F32
    fidelity = MathFidelity.HIFI3 if arch is Arch.WORMHOLE_B0 else MathFidelity.HIFI4
    units = RowUnits(arch, fidelity, wide=True)
    between = _F32 if is_exact else _BF16
    x = Stored(array, data_type)
    dst = units.source(x)
    if stable:
        largest = Stored(dst.max(axis=-1, keepdims=True), between)
        dst = units.subtract(x, largest)
    lanes = units.lanes(dst)
    powers = vf.exp_wide(lanes) if is_exact else vf.exp_approximate(lanes, True)
    exps = units.pack(units.stored(powers), between)
    total = units.lanes(units.sum(exps))
    inverse = units.pack(units.stored(vf.reciprocal(total, True)), _F32)
    return units.pack(units.multiply(exps, inverse), data_type).numbers


def has_bits(arch: Arch, formats: Iterable[DataType], shape: Sequence[int], widest: int) -> bool:
    """Whether the bits are known of an operation on rows that fits in L1 up to so many numbers."""
    fits = 0 < shape[-1] <= widest and 0 < math.prod(shape) <= LARGEST
    return arch is not Arch.GRAYSKULL and fits and FORMATS.issuperset(formats)


def layer_norm_rows(
    x: Stored,
    arch: Arch,
    *,
    epsilon: float,
    weight: Stored | None = None,
    bias: Stored | None = None,
    residual: Stored | None = None,
) -> Array | None:
    """(x - mean) / sqrt(variance + epsilon) * weight + bias along the last dimension.

    As a card computes it by default; a residual is added to x before. None as for `softmax_rows`.
    """
    units = RowUnits(arch, MathFidelity.HIFI4, wide=True)
    return _normalize(units, x, epsilon, (weight, bias, residual), WIDEST_LAYER_NORM)


def rms_norm_rows(
    x: Stored,
    arch: Arch,
    *,
    epsilon: float,
    weight: Stored | None = None,
    bias: Stored | None = None,
    residual: Stored | None = None,
) -> Array | None:
    """As `layer_norm_rows` without the mean, in a DST of 16 bits, with an approximate root."""
    units = RowUnits(arch, MathFidelity.HIFI4, wide=False)
    return _normalize(units, x, epsilon, (weight, bias, residual), WIDEST_RMS_NORM)


@np.errstate(all="ignore")
def _normalize(
    units: RowUnits,
    x: Stored,
    epsilon: float,
    others: tuple[Stored | None, Stored | None, Stored | None],
    widest: int,
) -> Array | None:
    formats = [each.data_type for each in (x, *others) if each is not None]
    if not has_bits(units.arch, formats, x.numbers.shape, widest):
        return None
    weight, bias, residual = others
    between = _F32 if units.wide else _BF16
    count = x.numbers.shape[-1]
    kept = x.data_type

    def mean(stored: Stored) -> Stored:
        scaled = units.lanes(units.sum(stored)) * float(np.float32(1) / np.float32(count))
        return units.pack(units.stored(scaled), between)

    if residual is not None:
        x = units.pack(units.add(x, residual), between)
    # The norm by mean squares alone is the one that has 16 bits.
    centered = units.pack(units.subtract(x, mean(x)), between) if units.wide else x
    squares = units.pack(units.multiply(centered, centered), between)
    eps = np.array([epsilon], np.float32).view(np.uint32) & np.uint32(0xFFFF0000)
    total = units.lanes(units.add(mean(squares), Stored(eps.view(np.float32), _BF16)))
    rsqrt = vf.rsqrt if units.wide else vf.rsqrt_approximate
    root = units.pack(units.stored(rsqrt(total, units.wide)), between)
    result = units.multiply(centered, root)
    if weight is not None:
        result = units.multiply(units.pack(result, between), weight)
    if bias is not None:
        result = units.add(units.pack(result, between), bias)
    return units.pack(result, kept).numbers
