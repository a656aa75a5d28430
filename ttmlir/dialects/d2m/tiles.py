"""Operations on tiles, and on the registers of DST that hold them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar, Self, cast

from xdsl.dialects.builtin import DenseArrayBase, FloatAttr, IntegerAttr, IntegerType, f32, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import traits_def
from xdsl.traits import Pure

from ttmlir.dialects.d2m.structure import (
    INDEX,
    MEMREF,
    NUMBER,
    SHAPED,
    TILE,
    AllocationOp,
    BroadcastKind,
    BroadcastKindAttr,
    ComputeOp,
    ReduceDim,
    ReduceDimAttr,
    WritesMemrefs,
    element_type_of_value,
)
from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.ods import (
    AttrConstraint,
    Property,
    Signature,
    TypeConstraint,
    ValueGroup,
    classes_in,
    properties,
    refuse,
    values,
)
from ttmlir.dialects.definition.table_ops import (
    ParameterValue,
    parameter_attr,
    parameters_in,
    properties_of,
)
from ttmlir.dialects.tt.layout import element_of
from ttmlir.layout.enums import DataType
from ttmlir.optable.kernel.tile_calls import TILE_OPERATION_OF, TILE_OPERATIONS, TileOperation

_FLOATS = (DataType.F32, DataType.F16, DataType.BF16)
_RESULT = values(result=TILE)
_NUMBER_OR_TILE = TypeConstraint(
    "TT tile or number",
    lambda type: type.name in ("tt.tile", "f32", "bf16", "f16", "integer_type", "index"),
)


class TileOp(ComputeOp):
    """An operation that gives a tile."""

    DST_OPERANDS: ClassVar[tuple[int, ...]] = ()
    """The operands that are read from DST; the others come from circular buffers."""
    IN_PLACE: ClassVar[bool] = False
    """True where the result takes the place of the only operand in DST."""
    traits = traits_def(Pure())


class ElementwiseTileOp(TileOp):
    """An elementwise operation on tiles, made from a definition of
    `optable/kernel/tile_calls.py`."""

    TILE_OPERATION: ClassVar[TileOperation]

    @classmethod
    def of(
        cls,
        operands: Sequence[SSAValue],
        result_type: Attribute | None = None,
        **parameters: ParameterValue,
    ) -> Self:
        """The operation on these tiles, by default with a result of the first one's type."""
        kinds = {each.name: each.kind for each in cls.TILE_OPERATION.parameters}
        return cls.create(
            operands=operands,
            result_types=[operands[0].type if result_type is None else result_type],
            properties={
                name: parameter_attr(value, kinds[name]) for name, value in parameters.items()
            },
        )

    def parameters(self) -> dict[str, ParameterValue]:
        """The parameters as Python values."""
        return parameters_in(self.properties, self.TILE_OPERATION.parameters)


_ELEMENT = AttrConstraint("type", ods.always, ods.is_type)
_ELEMENTS: Mapping[str, tuple[Property, ...]] = {
    "tile_typecast": tuple(Property(name, _ELEMENT, optional=True) for name in ("source", "target"))
}
"""The element types that a conversion is between, where the types of tiles do not tell.

`i8` and `ui8` are the same tiles, and so are `i1` and `bf16`.
"""
_TAKE_NUMBERS = ("tile_add", "tile_sub", "tile_mul", "tile_div", "tile_pow")
"""Operations whose second operand may be one number instead of a tile (2026)."""


def _class_name(mnemonic: str) -> str:
    return "".join(word.capitalize() for word in mnemonic.split("_")) + "Op"


def _class_of(operation: TileOperation) -> type[ElementwiseTileOp]:
    operands = [ValueGroup(name, TILE) for name in operation.operands]
    if operation.mnemonic in _TAKE_NUMBERS:
        operands[1] = ValueGroup(operation.operands[1], _NUMBER_OR_TILE)
    contents: dict[str, object] = {
        "name": f"d2m.{operation.mnemonic}",
        "TILE_OPERATION": operation,
        "DST_OPERANDS": tuple(range(len(operation.operands))),
        "IN_PLACE": operation.in_place,
        "SIGNATURE": Signature(
            tuple(operands),
            _RESULT,
            (*properties_of(operation.parameters), *_ELEMENTS.get(operation.mnemonic, ())),
        ),
        "__doc__": operation.summary,
        "__module__": __name__,
    }
    made = type(_class_name(operation.mnemonic), (ElementwiseTileOp,), contents)
    return cast("type[ElementwiseTileOp]", made)


class CombiningTileOp(TileOp):
    """An operation that adds to an accumulator, operand `c`, which is in DST.

    In a `linalg.generic` with reduction iterators an accumulator starts from `IDENTITY`, whatever
    its buffer holds.
    """

    IDENTITY: ClassVar[float] = 0
    DST_OPERANDS: ClassVar[tuple[int, ...]] = (2,)
    IN_PLACE: ClassVar = True


EXACT = "d2m.exact"
"""On a product: it takes all bits of numbers of eight bits, whatever fidelity is asked for."""


class TileMatmulOp(CombiningTileOp):
    """The product of two tiles, added to a third: a * b + c.

    `a` and `b` come from circular buffers, `c` is in DST, and the result takes its place.
    """

    name = "d2m.tile_matmul"
    SIGNATURE: ClassVar = Signature(values(a=TILE, b=TILE, c=TILE), _RESULT)


class _ReduceOp(CombiningTileOp):
    SIGNATURE: ClassVar = Signature(
        values(a=TILE, b=TILE, c=TILE),
        _RESULT,
        properties(reduce_dim=ods.named_attr("d2m.reduce_dim")),
    )

    @classmethod
    def of(
        cls, tile: SSAValue, scaler: SSAValue, accumulator: SSAValue, reduce_dim: ReduceDim
    ) -> Self:
        """The reduction of a tile times a scaler, combined with what was there."""
        return cls.create(
            operands=[tile, scaler, accumulator],
            result_types=[accumulator.type],
            properties={"reduce_dim": ReduceDimAttr(reduce_dim)},
        )

    @property
    def reduce_dim(self) -> ReduceDim:
        """Which dimensions of the tile are reduced."""
        return cast("ReduceDimAttr", self.properties["reduce_dim"]).data


class TileReduceSumOp(_ReduceOp):
    """The sum of a * b over rows or columns of a tile, added to c."""

    name = "d2m.tile_reduce_sum"


class TileReduceMeanOp(TileReduceSumOp):
    """A sum whose scaler b holds what the mean divides by, inverted (2026)."""

    name = "d2m.tile_reduce_mean"


class TileReduceMaxOp(_ReduceOp):
    """The largest of a * b over rows or columns of a tile, and of c."""

    name = "d2m.tile_reduce_max"
    IDENTITY: ClassVar = -math.inf


class _ReduceInDstOp(TileOp):
    """A reduction by the vector unit, of a tile in DST, combined with one that is there (2026)."""

    DST_OPERANDS: ClassVar = (0, 1)
    SIGNATURE: ClassVar = Signature(
        values(input=TILE, accumulator=TILE),
        _RESULT,
        properties(reduce_dim=ods.named_attr("d2m.reduce_dim")),
    )


class TileSFPUReduceSumOp(_ReduceInDstOp):
    """The sum over rows or columns of a tile, added to the accumulator."""

    name = "d2m.tile_sfpu_reduce_sum"


class TileSFPUReduceMaxOp(_ReduceInDstOp):
    """The largest number of rows or columns of a tile, and of the accumulator."""

    name = "d2m.tile_sfpu_reduce_max"


class TileTransposeOp(TileOp):
    """A tile with rows and columns exchanged; it is read from a circular buffer."""

    name = "d2m.tile_transpose"
    SIGNATURE: ClassVar = Signature(values(input=TILE), _RESULT)


class TileBcastOp(TileOp):
    """A tile whose first row, first column or first number is repeated over all of it.

    It is read from a circular buffer: the matrix unit computes it (`unary_bcast`).
    """

    name = "d2m.tile_bcast"
    SIGNATURE: ClassVar = Signature(
        values(input=TILE), _RESULT, properties(bcast_type=ods.named_attr("d2m.tile_bcast_type"))
    )

    @classmethod
    def of(cls, tile: SSAValue, kind: BroadcastKind) -> Self:
        """The repetition of a part of a tile."""
        return cls.create(
            operands=[tile],
            result_types=[tile.type],
            properties={"bcast_type": BroadcastKindAttr(kind)},
        )

    @property
    def kind(self) -> BroadcastKind:
        """What is repeated."""
        return cast("BroadcastKindAttr", self.properties["bcast_type"]).data


class TileFillOp(TileOp):
    """A tile of one number: `"d2m.tile_fill"() <{value = 1.0 : f32}> : () -> !tile`."""

    name = "d2m.tile_fill"
    SIGNATURE: ClassVar = Signature(results=_RESULT, properties=properties(value=NUMBER))

    @classmethod
    def of(cls, number: float, type: Attribute) -> Self:
        """The tile of a number, whose type says whether it is an integer."""
        return cls.create(result_types=[type], properties={"value": number_attr(number, type)})

    @property
    def number(self) -> float:
        """What the tile holds."""
        return cast("FloatAttr | IntegerAttr", self.properties["value"]).value.data


class TileMaskOp(TileOp):
    """A tile of a tensor in which another number takes the place of the padding.

        "d2m.tile_mask"(%tile, %i, %j) <{valid = array<i64: 33, 70>, value = 0.0 : f32}>
            : (!tile, index, index) -> !tile

    `i` and `j` are the place of the tile among the rows and columns of tiles of its matrix, of
    whose elements those of the first `valid` rows and columns are kept.
    """

    name = "d2m.tile_mask"
    SIGNATURE: ClassVar = Signature(
        values(input=TILE, row=INDEX, column=INDEX),
        _RESULT,
        properties(valid=ods.DENSE_I64, value=NUMBER),
    )

    @classmethod
    def of(
        cls, tile: SSAValue, place: Sequence[SSAValue], valid: Sequence[int], number: float
    ) -> Self:
        """The tile at a place with a number in all but the first rows and columns."""
        return cls.create(
            operands=[tile, *place],
            result_types=[tile.type],
            properties={
                "valid": DenseArrayBase.from_list(i64, tuple(valid)),
                "value": number_attr(number, tile.type),
            },
        )

    @property
    def valid(self) -> tuple[int, ...]:
        """Rows and columns of the matrix that are kept."""
        return tuple(cast("DenseArrayBase[IntegerType]", self.properties["valid"]).iter_values())

    @property
    def number(self) -> float:
        """What the others hold."""
        return cast("FloatAttr | IntegerAttr", self.properties["value"]).value.data

    def verify_op(self) -> None:
        """Check that there are rows and columns."""
        if len(self.valid) != 2 or min(self.valid) < 0:
            refuse(f"valid must be the number of rows and of columns, got {list(self.valid)}")


def number_attr(number: float, tile: Attribute) -> Attribute:
    """A number as an attribute that fits tiles of a type: f32, or 32 bits of an integer."""
    if element_of(tile).scalar.data_type in _FLOATS:
        return FloatAttr(float(number), f32)
    return IntegerAttr((int(number) + (1 << 31)) % (1 << 32) - (1 << 31), i32)


class _BlockOp(ComputeOp):
    """An operation on whole shards in circular buffers."""

    traits = traits_def(WritesMemrefs())


class TileMatmulBlockOp(_BlockOp):
    """The product of two shards of tiles, added to a third: C += A * B.

    C1: all are made of tiles.
    """

    name = "d2m.tile_matmul_block"
    SIGNATURE: ClassVar = Signature(
        values(a=SHAPED, b=SHAPED, output=SHAPED), (ValueGroup("results", SHAPED, variadic=True),)
    )

    def verify_op(self) -> None:
        """Check the elements (C1)."""
        if any(element_type_of_value(value).name != "tt.tile" for value in self.operands):
            refuse("operands to TileMatmulBlock must have ttcore.tile element type")


class TileTilizeBlockOp(_BlockOp):
    """A shard of numbers as tiles.

    C1: the input holds numbers. C2: the output holds tiles.
    """

    name = "d2m.tile_tilize_block"
    SIGNATURE: ClassVar = Signature(
        values(input=SHAPED, output=SHAPED), (ValueGroup("results", SHAPED, variadic=True),)
    )

    def verify_op(self) -> None:
        """Check the elements (C1, C2)."""
        _check_tiled(self.operands[0], self.operands[1])


class TileUntilizeBlockOp(_BlockOp):
    """A shard of tiles as numbers.

    C1: the output holds numbers. C2: the input holds tiles.
    """

    name = "d2m.tile_untilize_block"
    SIGNATURE: ClassVar = TileTilizeBlockOp.SIGNATURE

    def verify_op(self) -> None:
        """Check the elements (C1, C2)."""
        _check_tiled(self.operands[1], self.operands[0])


def _check_tiled(plain: SSAValue, tiled: SSAValue) -> None:
    is_tiled = [element_type_of_value(value).name == "tt.tile" for value in (plain, tiled)]
    if is_tiled != [False, True]:
        refuse("expected numbers on one side and ttcore.tile elements on the other")


class AcquireDstOp(AllocationOp, ComputeOp):
    """The registers of DST, as slices of tiles: `d2m.acquire_dst() : memref<4x2x1x..., #dst>`."""

    name = "d2m.acquire_dst"
    RESULT_NAME: ClassVar = "dst"
    SIGNATURE: ClassVar = Signature(results=values(result=MEMREF))


class DstReinterpretCastOp(ComputeOp):
    """What is in DST under another element type; nothing is computed."""

    name = "d2m.dst_reinterpret_cast"
    SIGNATURE: ClassVar = Signature(values(input=_NUMBER_OR_TILE), values(result=_NUMBER_OR_TILE))
    traits = traits_def(Pure())


class PackerMaskResetOp(ComputeOp):
    """The end of a reduction: the packer writes whole tiles again."""

    name = "d2m.packer_mask_reset"
    SIGNATURE: ClassVar = Signature()


ELEMENTWISE_OPS = tuple(map(_class_of, TILE_OPERATIONS.values()))
"""The operations that are made from definitions."""
TILE_OPS = (*classes_in(globals(), Operation), *ELEMENTWISE_OPS)
"""Every operation of this module."""

_BY_MNEMONIC = {op.TILE_OPERATION.mnemonic: op for op in ELEMENTWISE_OPS}


def tile_op(mnemonic: str) -> type[ElementwiseTileOp]:
    """The class of `d2m.<mnemonic>`, an elementwise operation; KeyError if there is none."""
    return _BY_MNEMONIC[mnemonic]


def tile_op_of(mnemonic: str) -> type[ElementwiseTileOp] | None:
    """The operation on tiles of a definition; None if no calls on tiles compute it."""
    operation = TILE_OPERATION_OF.get(mnemonic)
    return None if operation is None else _BY_MNEMONIC[operation.mnemonic]
