"""The body of a loop over tiles as an expression of calls.

The matrix unit takes sums, differences and products where a tile of a circular buffer is an
operand and 16 bits are enough: from bf16 to bf16. All else is computed by the vector unit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, MemRefType
from xdsl.dialects.linalg.ops import YieldOp
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from ttmlir.dialects import d2m
from ttmlir.dialects.tt.layout import TileType, element_of
from ttmlir.ir.kernel_builder import UNSIGNED, is_float, steps_of
from ttmlir.layout.data_format import ScalarType, TileFormat
from ttmlir.layout.enums import DataType
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.metal import DST_TILES, WIDE_BYTES, dst_capacity, wants_wide_dst
from ttmlir.optable.kernel.tile_calls import steps_with_number
from ttmlir.passes.d2m.dst.tile_program import (
    Computed,
    Converted,
    Filled,
    Format,
    Held,
    Loaded,
    MatrixPair,
    MatrixReuse,
    Source,
    Spread,
    Transposed,
    Value,
    WithNumber,
    conversion_calls,
)

_SCALARS = {
    DataType.U32: "ui32",
    DataType.SI32: "i32",
    DataType.U16: "ui16",
    DataType.U8: "ui8",
}
_WORDS = {"add": "add", "subtract": "sub", "multiply": "mul"}
_PARTS = {
    d2m.BroadcastKind.ROW: ("ROW", "rows"),
    d2m.BroadcastKind.COLUMN: ("COL", "cols"),
    d2m.BroadcastKind.SCALAR: ("SCALAR", "scalar"),
}
_WITH_NUMBER = {"add": "add_unary_tile", "sub": "sub_unary_tile", "mul": "mul_unary_tile"}


def scalar_of_tile(tile: Attribute) -> ScalarType:
    """The numbers of a tile; unlike in ttir, a tile says whether its integers have a sign."""
    element = element_of(tile)
    assert isinstance(element, TileFormat), "bodies compute on tiles"
    keyword = _SCALARS.get(element.data_type)
    return element.scalar if keyword is None else ScalarType(keyword)


def tiles_in(generic: d2m.GenericOp) -> set[TileType]:
    """The types of tiles that a compute region works on."""
    found: set[TileType] = set()
    for op in generic.compute_region.walk():
        for value in (*op.operands, *op.results):
            kind = value.type
            if isinstance(kind, MemRefType):
                kind = cast("MemRefType[Attribute]", kind).element_type
            if isinstance(kind, TileType):
                found.add(kind)
    return found


def stored_format(tile: Attribute) -> DataType:
    """The format of a circular buffer of tiles: with and without sign, integers are the same."""
    element = element_of(tile)
    assert isinstance(element, TileFormat), "circular buffers that are computed with hold tiles"
    return DataType.U32 if element.data_type is DataType.SI32 else element.data_type


def needs_buffer(op: Operation) -> Sequence[SSAValue]:
    """The operands that an operation on tiles takes from circular buffers."""
    if isinstance(op, d2m.TileMatmulOp | d2m.TileReduceSumOp | d2m.TileReduceMaxOp):
        return op.operands[:2]
    if isinstance(op, d2m.TileBcastOp | d2m.TileTransposeOp):
        return op.operands
    return ()


class Selector:
    """Chooses the calls of one body."""

    def __init__(
        self,
        sources: Sequence[Source],
        held: SSAValue | None,
        output: Format,
        *,
        multiplies_onto_zeros: bool = True,
    ) -> None:
        """`sources` are the operands of the body, `held` its accumulator if it has one.

        Without `multiplies_onto_zeros`, products do not go to tiles that have to be zeros before:
        those are few, and there are none in a loop between two hand-overs of DST.
        """
        self._sources = sources
        self._held = held
        self._output = output
        self._multiplies = multiplies_onto_zeros
        self._values: dict[SSAValue, Value] = {}
        self._accumulator = Held()

    def select(self, root: SSAValue) -> Value:
        """The expression of a value; LayoutError for what is not computed."""
        waiting = [root]
        while waiting:
            value = waiting[-1]
            missing = [each for each in self._computed(value) if each not in self._values]
            if value in self._values or not missing:
                waiting.pop()
                if value not in self._values:
                    self._values[value] = self._value(value)
            else:
                waiting += reversed(missing)
        return self._values[root]

    def result_of(self, value: Value) -> SSAValue | None:
        """The result of the body's operation that a selected value computes."""
        return next((each for each, made in self._values.items() if made is value), None)

    def _computed(self, value: SSAValue) -> Sequence[SSAValue]:
        """The operands of a value's operation that are computed in DST."""
        op = value.owner
        if not isinstance(op, Operation) or needs_buffer(op):
            return ()
        return [each for each in op.operands if self._is_shared(each)]

    def _is_shared(self, value: SSAValue) -> bool:
        """True for what is computed once, even if it is used several times."""
        return isinstance(value.owner, Operation) and not _is_source(value.owner)

    def _of(self, value: SSAValue) -> Value:
        return self._values[value] if value in self._values else self._value(value)

    def _value(self, value: SSAValue) -> Value:
        op = value.owner
        if isinstance(value, BlockArgument):
            if value is self._held:
                return self._accumulator
            return Loaded(source=self._sources[value.index])
        assert isinstance(op, Operation), "values that are no arguments are results"
        match op:
            case d2m.TileFillOp():
                return Filled(number=op.number, element=scalar_of_tile(value.type))
            case d2m.TileBcastOp():
                part, _ = _PARTS[op.kind]
                source = self._source(op.operands[0])
                return Spread(source=source, part=part, output=self._output)
            case d2m.TileTransposeOp():
                return Transposed(source=self._source(op.operands[0]))
            case d2m.ElementwiseTileOp():
                return self._elementwise(op)
            case _:
                raise LayoutError(
                    f"has {op.name} in the middle of a body; kernels compute it alone, or not yet"
                )

    def _source(self, value: SSAValue) -> Source:
        if not isinstance(value, BlockArgument) or value is self._held:
            raise LayoutError(
                "has an operation that takes a tile from a circular buffer, but the tile is "
                "computed; run d2m-insert-scratch-buffers before"
            )
        return self._sources[value.index]

    # --- Elementwise operations -----------------------------------------------------------------

    def _elementwise(self, op: d2m.ElementwiseTileOp) -> Value:
        definition = op.TILE_OPERATION.definition
        target = scalar_of_tile(op.results[0].type)
        if definition is not None and definition.mnemonic == "typecast":
            return self._conversion(op, target)
        element = scalar_of_tile(op.operands[-1].type)
        operator = "" if definition is None else _WORDS.get(definition.mnemonic, "")
        short = self._on_matrix_unit(op, operator) or self._with_number(op, operator)
        if definition is not None and definition.mnemonic == "div":
            short = self._quotient(op, target)
        elif definition is not None and short is None:
            short = self._bits_with_number(op, definition.mnemonic)
        if short is not None:
            return short
        if definition is None:
            call = op.TILE_OPERATION.call
            steps = call.floats if is_float(element) else call.integers
        else:
            steps = steps_of(definition.mnemonic, element)
        if operator == "mul" and is_float(element) and op.operands[0] is op.operands[1]:
            return self._square(op.operands[0], element, target)
        if steps is None:
            raise LayoutError(f"has {op.name} of {element}, which kernels do not compute")
        operands = [self._of(value) for value in op.operands]
        if not steps:
            return operands[0]
        parameters = {
            name: cast("FloatAttr[AnyFloat] | IntegerAttr", attr).value.data
            for name, attr in op.properties.items()
            if isinstance(attr, FloatAttr | IntegerAttr)
        }
        return Computed.of(steps, operands, element, target, parameters)

    def _square(self, value: SSAValue, element: ScalarType, target: ScalarType) -> Value:
        """A product with itself, which needs fewer instructions than one of two tiles."""
        steps = steps_of("square", element)
        assert steps is not None, "floating-point numbers have squares"
        return Computed.of(steps, [self._of(value)], element, target, {})

    def _conversion(self, op: d2m.ElementwiseTileOp, target: ScalarType) -> Value:
        source = scalar_of_tile(op.operands[0].type)
        named = [
            element_of(op.properties[name]).scalar if name in op.properties else default
            for name, default in (("source", source), ("target", target))
        ]
        operand = self._of(op.operands[0])
        if self._packer_rounds(op, named) or not conversion_calls(0, *named).calls:
            return operand
        return Converted(operands=(operand,), source=named[0], target=named[1])

    def _packer_rounds(self, op: d2m.ElementwiseTileOp, named: Sequence[ScalarType]) -> bool:
        """True for a conversion from f32 to bf16 of what is packed next, which rounds alike."""
        return (
            [each.keyword for each in named] == ["f32", "bf16"]
            and self._output.data_type is DataType.BF16
            and all(isinstance(use.operation, YieldOp) for use in op.results[0].uses)
        )

    def _on_matrix_unit(self, op: d2m.ElementwiseTileOp, operator: str) -> Value | None:
        """A sum, difference or product by the matrix unit, if it computes it well enough."""
        types = [scalar_of_tile(value.type) for value in (*op.operands, *op.results)]
        if not operator or any(each.keyword != "bf16" for each in types):
            return None
        left, right = op.operands
        tiles = [self._tile_of_buffer(value) for value in (left, right)]
        if all(tiles) and (operator != "mul" or self._multiplies):
            pair = self._pair(operator, left, right)
            if pair is None and operator != "sub":
                pair = self._pair(operator, right, left)
            if pair is not None:
                return pair
        for number, value in enumerate((left, right)):
            other = op.operands[1 - number]
            if (
                isinstance(value, BlockArgument)
                and value is not self._held
                and not tiles[1 - number]
            ):
                return MatrixReuse(
                    operands=(self._of(other),),
                    operator=operator,
                    source=self._source(value),
                    is_first=number == 1,
                )
        return None

    def _tile_of_buffer(self, value: SSAValue) -> bool:
        """True for a tile of a circular buffer, whole or spread."""
        if isinstance(value, BlockArgument):
            return value is not self._held
        return isinstance(value.owner, d2m.TileBcastOp)

    def _pair(self, operator: str, left: SSAValue, right: SSAValue) -> Value | None:
        if not isinstance(left, BlockArgument):
            return None
        spread = right.owner
        part = ""
        if isinstance(spread, d2m.TileBcastOp):
            _, part = _PARTS[spread.kind]
            right = spread.operands[0]
        return MatrixPair(
            operator=operator,
            left=self._source(left),
            right=self._source(right),
            part=part,
            needs_zeros=operator == "mul",
        )

    def _with_number(self, op: d2m.ElementwiseTileOp, operator: str) -> Value | None:
        """A call on a tile and a number, where an operand is one number."""
        if not operator or not is_float(scalar_of_tile(op.results[0].type)):
            return None
        left, right = op.operands
        call = _WITH_NUMBER[operator]
        if isinstance(left.owner, d2m.TileFillOp) and not isinstance(right.owner, d2m.TileFillOp):
            left, right = right, left
            call = "rsub_unary_tile" if operator == "sub" else call
        if not isinstance(right.owner, d2m.TileFillOp):
            return None
        return WithNumber(operands=(self._of(left),), call=call, number=right.owner.number)

    def _bits_with_number(self, op: d2m.ElementwiseTileOp, mnemonic: str) -> Value | None:
        """An operation on bits of a tile and one number, which takes fewer calls than of tiles."""
        if len(op.operands) != 2:
            return None
        value, number = op.operands
        element = scalar_of_tile(value.type)
        if mnemonic.startswith("bitwise_") and isinstance(value.owner, d2m.TileFillOp):
            value, number = number, value
        if is_float(element) or not isinstance(number.owner, d2m.TileFillOp):
            return None
        has_sign = element.keyword not in UNSIGNED
        steps = steps_with_number(mnemonic, int(number.owner.number), has_sign=has_sign)
        if steps is None:
            return None
        operand = self._of(value)
        return Computed.of(steps, [operand], element, element, {}) if steps else operand

    def _quotient(self, op: d2m.ElementwiseTileOp, target: ScalarType) -> Value | None:
        """A quotient by one number in 16 bits, which the reciprocal in 32 bits gives as well."""
        value, divisor = op.operands
        if target.keyword not in ("bf16", "f16") or not isinstance(divisor.owner, d2m.TileFillOp):
            return None
        number = abs(divisor.owner.number)
        if isinstance(value.owner, d2m.TileFillOp) or not _LEAST <= number <= 1 / _LEAST:
            return None
        reciprocal = 1 / divisor.owner.number
        return WithNumber(operands=(self._of(value),), call="div_unary_tile", number=reciprocal)


_LEAST = 2.0**-126
"""The smallest normal number of float32."""


def _is_source(op: Operation) -> bool:
    """True for what is brought to DST anew for each use, which is faster than to copy it there."""
    return isinstance(op, d2m.TileFillOp | d2m.TileBcastOp | d2m.TileTransposeOp)


# --- Capacity -------------------------------------------------------------------------------------
# How many tiles of DST a generic has at a time: what passes plan with, and kernels keep to.
#
# A kernel has one width of DST for all that it computes: 32 bits where any of its tiles has numbers
# of 32 bits, such as a long sum. Half as many tiles fit then.


def tiles_at_once(tiles: Iterable[Attribute], dst_tiles: int) -> int:
    """Tiles of DST that a kernel has which computes on these types of tiles.

    `dst_tiles` are those of the whole of DST, for numbers of 16 bits; 0 stands for the chip's.
    LayoutError if nothing is left.
    """
    return dst_capacity(map(element_of, tiles), physical_tiles=dst_tiles or DST_TILES)


ADDED_BY_PACKER = (DataType.F32, DataType.BF16, DataType.F16)
"""Formats of which the packer adds tiles to what is in L1."""


def capacity_of(generic: d2m.GenericOp, dst_tiles: int) -> int:
    """Tiles of DST that the kernel of a generic has."""
    return tiles_at_once(tiles_in(generic), dst_tiles)


def is_wide(generic: d2m.GenericOp) -> bool:
    """True if DST holds 32-bit numbers while the region of a generic computes."""
    return wants_wide_dst(map(element_of, tiles_in(generic)))


def is_narrow_to_compute(generic: d2m.GenericOp) -> bool:
    """True if vector functions need no more bits than 16, also where DST has 32.

    That are those of calls with a form for it, exponentials: theirs takes half the time.
    """
    if not is_wide(generic):
        return True
    exponentials = [op for op in generic.walk() if op.name == "d2m.tile_exp"]
    return not any(is_wide_element(op.results[0].type) for op in exponentials)


def is_wide_element(tile: Attribute) -> bool:
    """Whether the numbers of tiles have 32 bits."""
    return element_of(tile).scalar.size_bytes >= WIDE_BYTES
