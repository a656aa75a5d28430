"""Operations on tiles of DST as calls: the steps of a row, conversions, numbers that fill a tile.

Each call comes with the one that prepares it. Which tiles of DST are free is not known here.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ttmlir.ir.tile_arithmetic import (
    UNSIGNED,
    WORKING,
    format_name,
    is_float,
    is_short,
    nearest_integer,
)
from ttmlir.layout.element_type import ScalarType
from ttmlir.optable.kernel import CALLS, KernelCall, Scalar
from ttmlir.optable.kernel.tile_calls import Format, Step

_CALLS = {call.mnemonic: call for call in CALLS}

Templates = tuple[tuple[str, str | bool], ...]
"""Template arguments by name."""


@dataclass(frozen=True)
class Buffer:
    """A circular buffer, by the number of the operand that it holds."""

    number: int


@dataclass(frozen=True)
class Place:
    """The place of the tile in hand within a buffer."""

    buffer: Buffer


CallOperand = Buffer | Place | int | float


@dataclass(frozen=True)
class TileCall:
    """A call with its operands, and the call that prepares it."""

    mnemonic: str
    operands: tuple[CallOperand, ...]
    templates: Templates = ()
    init: TileCall | None = None
    unpacks: bool = False
    """True for a copy from a buffer: what prepares the unpacker leaves the vector unit as it is."""


class RegisterCalls:
    """Adds calls on tiles of DST to a list."""

    def __init__(self, calls: list[TileCall] | None = None):
        """Add to these calls."""
        self.calls: list[TileCall] = [] if calls is None else calls

    def call(
        self, mnemonic: str, operands: tuple[CallOperand, ...], templates: Templates = ()
    ) -> None:
        """Add a call on DST, after the call of its row that prepares it."""
        init = _CALLS[_CALLS[mnemonic].init]
        taken = tuple((n, v) for n, v in templates if n in _template_names(init))
        prepared = TileCall(init.mnemonic, (), taken)
        self.calls.append(TileCall(mnemonic, operands, templates, prepared))

    def fill(self, slot: int, number: float, element: ScalarType) -> None:
        """Fill a tile with a number."""
        if is_float(element) and math.isfinite(number):
            self.call("fill_tile", (slot, float(number)))
        elif is_float(element):
            self.call("fill_tile_bitcast", (slot, bits_of(number)))
        else:
            self.call("fill_tile_int", (slot, _signed(int(number))))

    def compute(
        self,
        step: Step,
        slots: Sequence[int],
        element: ScalarType,
        target: ScalarType,
        parameters: Mapping[str, float],
    ) -> None:
        """One step of an operation whose operands and further tiles are in `slots`.

        It computes on numbers of type `element`, and its result is of type `target`.
        """
        row = _CALLS[step.call]
        encodings = row.tiles.scalars if row.tiles is not None else ()
        scalars = (
            _encode(parameters[scalar] if isinstance(scalar, str) else scalar, encoding)
            for scalar, (_, _, encoding) in zip(step.scalars, encodings, strict=True)
        )
        names = {Format.OPERAND: format_name(element), Format.RESULT: format_name(target)}
        templates = [(name, _template(value, names)) for name, value in step.templates]
        if format_name(element) == "UInt32":
            templates = [(n, "UInt32" if v == "Int32" else v) for n, v in templates]
        places = tuple(slots[slot] for slot in step.slots)
        self.call(step.call, (*places, *scalars), tuple(templates))

    def convert(
        self, slot: int, element: ScalarType, target: ScalarType, *, has_truths: bool = False
    ) -> None:
        """Convert a tile to another format; to truth values, by asking what is not 0.

        `has_truths`: the tile holds nothing but 0 and 1.
        """
        if is_short(target):
            self._narrow(slot, element, target)
            return
        if target.keyword == "i1" != element.keyword and not has_truths:
            self.call("nez_tile" if is_float(element) else "nez_tile_int32", (slot,))
            if is_float(element):
                return
        formats = (("in_dtype", format_name(element)), ("out_dtype", format_name(target)))
        # Integers of one width differ in what their bits mean, not in their bits.
        if formats[0][1] != formats[1][1] and element.data_type is not target.data_type:
            self.call("typecast_tile", (slot,), formats)

    def widen(self, slot: int, element: ScalarType) -> None:
        """Let a short integer that was read as one without a sign have 32 bits, and its sign."""
        formats = (("in_dtype", format_name(element)), ("out_dtype", format_name(WORKING)))
        self.call("typecast_tile", (slot,), formats)
        if element.keyword not in UNSIGNED:
            above = 32 - 8 * element.size_bytes
            self.call("left_shift_tile", (slot, above))
            self.call("right_shift_tile", (slot, above))

    def _narrow(self, slot: int, element: ScalarType, target: ScalarType) -> None:
        """Keep the lower bits of an integer; limit a floating-point number to the range."""
        if is_float(element):
            self.convert(slot, element, WORKING)
            bits = 8 * target.size_bytes
            sign = 0 if target.keyword in UNSIGNED else 1 << (bits - 1)
            self.call("clamp_tile_int32", (slot, -sign, (1 << bits) - 1 - sign))
        self.call("bitwise_and_tile", (slot, (1 << 8 * target.size_bytes) - 1))
        formats = (("in_dtype", format_name(WORKING)), ("out_dtype", format_name(target)))
        self.call("typecast_tile", (slot,), formats)


def _template_names(call: KernelCall) -> Sequence[str]:
    return [template.name for template in call.templates]


def _template(value: str | Format, names: Mapping[Format, str]) -> str | bool:
    if isinstance(value, Format):
        return names[value]
    return value == "true" if value in ("true", "false") else value


def _encode(number: float, encoding: Scalar) -> float:
    """A number as the operand of a call."""
    match encoding:
        case Scalar.FLOAT:
            return float(number)
        case Scalar.INTEGER:
            return nearest_integer(number)
        case Scalar.FLOAT_BITS:
            return bits_of(number)


def bits_of(number: float) -> int:
    """The bits of a number in float32, as an integer with sign."""
    (bits,) = struct.unpack("<i", struct.pack("<f", number))
    return bits


def _signed(number: int) -> int:
    """The lower 32 bits of an integer as one with sign."""
    return (number + (1 << 31)) % (1 << 32) - (1 << 31)
