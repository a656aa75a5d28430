"""Building `d2m.generic`s on whole tensors of tiles, for `ttir-to-d2m`.

A `DeviceTensor` is a tensor of tiles on a grid of ones, with the shape and element type that it has
in ttir; tensors of less than two dimensions have extents of 1 in front. One loop nest over tiles
is a `LoopNest`: the iterators, a map for each tensor, and a body that computes one tile.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from xdsl.dialects.builtin import TensorType
from xdsl.dialects.linalg.attrs import IteratorType as LinalgIteratorType
from xdsl.dialects.linalg.attrs import IteratorTypeAttr as LinalgIteratorTypeAttr
from xdsl.dialects.linalg.ops import IndexOp, YieldOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ttmlir.dialects import d2m
from ttmlir.dialects.definition.row_ops import ParameterValue
from ttmlir.dialects.linalg import GenericOp as LinalgGenericOp
from ttmlir.dialects.tt.layout import element_of
from ttmlir.dialects.ttcore import (
    HostLayoutAttr,
    metal_layout_of,
    metal_tensor_type,
    metal_tile_type,
)
from ttmlir.dialects.ttir.metal_cast import TTNNMetalLayoutCastOp
from ttmlir.ir.builder import Builder
from ttmlir.ir.op_builder import OpBuilder
from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.layout.affine import AffineExpr, AffineMap, ConstantExpr, DimExpr
from ttmlir.layout.element_type import DEFAULT_TILE_SHAPE, ScalarType
from ttmlir.layout.enums import IteratorType, MemorySpace
from ttmlir.mlir.attributes.affine import affine_map_attr
from ttmlir.passes.d2m.references import (
    REFERENCE,
    Reference,
    ReferenceOutput,
    ReferenceRow,
)

TILE = DEFAULT_TILE_SHAPE[0]
"""Rows of a tile, and columns."""
Shape = tuple[int, ...]
PARALLEL, REDUCTION = IteratorType.PARALLEL, IteratorType.REDUCTION
_LINALG_ITERATORS = {
    PARALLEL: LinalgIteratorTypeAttr(LinalgIteratorType.PARALLEL),
    REDUCTION: LinalgIteratorTypeAttr(LinalgIteratorType.REDUCTION),
}


def matrix_shape(shape: Sequence[int]) -> Shape:
    """The shape with extents of 1 in front, so that it has two dimensions or more."""
    return (*(1,) * (2 - len(shape)), *shape)


def tiles_of(shape: Sequence[int]) -> Shape:
    """The extents in tiles of a shape of two dimensions or more."""
    *outer, rows, columns = shape
    return (*outer, -(-rows // TILE), -(-columns // TILE))


def scalar_of(element: Attribute) -> ScalarType:
    """The element type as the arithmetic of tiles knows it; LayoutError if it cannot be stored."""
    return element_of(element).scalar


@dataclass(frozen=True)
class Placement:
    """Where tensors go, and how they are divided."""

    input_space: MemorySpace = MemorySpace.DEVICE_L1
    output_space: MemorySpace = MemorySpace.DEVICE_L1
    collapse_pairs: bool = True
    """Spell the layouts of matrices as tt-mlir does that merges dimensions: the same tiles."""
    collapse_all: bool = False
    """Merge all dimensions but the last."""
    ttnn_mode: bool = False


@dataclass(frozen=True)
class DeviceTensor:
    """A tensor of tiles."""

    value: SSAValue
    element: Attribute
    """Element type in ttir: tiles of bf16 hold truth values, too."""
    shape: Shape
    """Shape in ttir, filled up to two dimensions."""
    moves: tuple[ReferenceRow, ...] = ()
    """What makes the tensor of what its buffer holds: each row has the result before as operand."""

    def then(
        self,
        mnemonic: str,
        element: Attribute,
        shape: Shape,
        parameters: Mapping[str, ParameterValue] | None = None,
    ) -> DeviceTensor:
        """The same tiles, which mean something else: an operation of a row on the tensor."""
        row = ReferenceRow.of(mnemonic, (0,), shape, element, parameters)
        return replace(self, element=element, shape=shape, moves=(*self.moves, row))

    @property
    def tile(self) -> Attribute:
        """The type of a tile."""
        return element_type(self.value)

    @property
    def rank(self) -> int:
        """Number of dimensions of tiles: two or more."""
        return len(value_shape(self.value)) // 2


@dataclass(frozen=True)
class Splat:
    """A tensor all of whose elements are one number; it takes no memory."""

    number: float
    element: Attribute
    shape: Shape
    """Shape in ttir, filled up to two dimensions."""


Operand = DeviceTensor | Splat


BodyFunction = Callable[["TileBuilder", Sequence[SSAValue], SSAValue], SSAValue]
"""Computes a tile of the result from one of each input and what the output holds at its place."""


@dataclass(frozen=True)
class LoopNest:
    """The loops over the tiles of some tensors.

    Maps take the iterators to a tile of each input, then of the output. An iterator goes over all
    of the dimensions that it indexes alone; over a part of one it stands in an expression.
    """

    iterators: tuple[IteratorType, ...]
    maps: tuple[AffineMap, ...]

    @classmethod
    def parallel(cls, rank: int, inputs: Sequence[Sequence[AffineExpr]]) -> LoopNest:
        """A loop for each dimension of the output."""
        maps = (*(AffineMap(rank, 0, tuple(each)) for each in inputs), AffineMap.identity(rank))
        return cls((PARALLEL,) * rank, maps)

    def extents(self, shapes: Sequence[Shape]) -> Shape:
        """How far each iterator goes on tensors of these shapes in tiles."""
        found: dict[int, int] = {}
        for index_map, shape in zip(self.maps, shapes, strict=True):
            for result, extent in zip(index_map.results, shape, strict=True):
                if isinstance(result, DimExpr):
                    found[result.position] = extent
        return tuple(found[number] for number in range(len(self.iterators)))

    def block_map(self, number: int, shape: Shape, extents: Shape) -> AffineMap:
        """The blocks of an operand of a shape in tiles: by iterator where it has a tile of each."""
        results = tuple(
            result
            if isinstance(result, DimExpr) and extents[result.position] == extent
            else ConstantExpr(0)
            for result, extent in zip(self.maps[number].results, shape, strict=True)
        )
        return AffineMap(len(self.iterators), 0, results)


class TileBuilder(OpBuilder):
    """Adds operations on single tiles to the body of a loop nest."""

    def add(self, op: Operation) -> SSAValue:
        """Put an operation there; its result."""
        op.location = self.location
        return self.insert(op).results[0]

    def fill(self, number: float, tile: Attribute) -> SSAValue:
        """A tile of one number."""
        return self.add(d2m.TileFillOp.of(number, tile))

    def index(self, iterator: int) -> SSAValue:
        """Where a loop is."""
        return self.add(IndexOp(iterator))

    def mask(
        self, tile: SSAValue, iterators: Sequence[int], valid: Sequence[int], number: float
    ) -> SSAValue:
        """The tile with a number in place of what is beyond `valid` rows and columns."""
        place = [self.index(iterator) for iterator in iterators]
        return self.add(d2m.TileMaskOp.of(tile, place, valid, number))


class D2MBuilder(OpBuilder):
    """Adds loop nests on tensors, and the moves between host and device."""

    placement = Placement()

    def add(self, op: Operation) -> SSAValue:
        """Put an operation there; its result."""
        op.location = self.location
        return self.insert(op).results[0]

    def tensor_type(
        self, shape: Sequence[int], element: Attribute, space: MemorySpace
    ) -> TensorType[Attribute]:
        """The type of a tensor of tiles; LayoutError for elements that are not stored."""
        logical = matrix_shape(shape)
        placement = self.placement
        merges = placement.collapse_all or (placement.collapse_pairs and len(logical) == 2)
        rank = 2 if merges else len(logical)
        return metal_tensor_type(
            logical,
            metal_tile_type(element),
            space,
            (1,) * rank,
            intervals=None if merges else (),
        )

    def load(self, value: SSAValue) -> DeviceTensor:
        """A tensor of the host, or of ttnn, as tiles."""
        shape, element = value_shape(value), element_type(value)
        type_ = self.tensor_type(shape, element, self.placement.input_space)
        if self._is_of_ttnn(value.type):
            moved = self.add(TTNNMetalLayoutCastOp.of(value, type_))
        else:
            out = self.add(d2m.EmptyOp.of(type_))
            moved = self.add(d2m.ToLayoutOp.of(value, out))
        tensor = DeviceTensor(moved, element, tuple(shape))
        matrix = matrix_shape(shape)
        if matrix == tensor.shape:
            return tensor
        return tensor.then("reshape", element, matrix, {"shape": matrix})

    def unload(self, tensor: DeviceTensor, type_: Attribute) -> SSAValue:
        """The tensor on the host, or in ttnn, as a type of ttir says."""
        if self._is_of_ttnn(type_):
            return self.add(TTNNMetalLayoutCastOp.of(tensor.value, type_))
        out = Builder(self.block, self.location, before=self.successor).create_empty(type_)
        return self.add(d2m.ToLayoutOp.of(tensor.value, out, metal_layout_of(tensor.value.type)))

    def _is_of_ttnn(self, type_: Attribute) -> bool:
        encoding = cast("TensorType[Attribute]", type_).encoding
        return self.placement.ttnn_mode and encoding.name != "none"

    def materialize(self, operand: Operand) -> DeviceTensor:
        """The operand as tiles in memory."""
        if isinstance(operand, DeviceTensor):
            return operand
        output = self.create_empty(operand.shape, operand.element)

        def body(tiles: TileBuilder, _: Sequence[SSAValue], __: SSAValue) -> SSAValue:
            return tiles.fill(operand.number, output.tile)

        row = ReferenceRow.of(
            "full", (), operand.shape, operand.element, {"fillValue": float(operand.number)}
        )
        return self.generic([], output, LoopNest.parallel(output.rank, []), body, [row])

    def create_empty(self, shape: Sequence[int], element: Attribute) -> DeviceTensor:
        """A tensor of tiles that hold nothing yet."""
        type_ = self.tensor_type(shape, element, self.placement.output_space)
        return DeviceTensor(self.add(d2m.EmptyOp.of(type_)), element, matrix_shape(shape))

    def generic(
        self,
        inputs: Sequence[DeviceTensor],
        output: DeviceTensor,
        nest: LoopNest,
        body: BodyFunction,
        rows: Sequence[ReferenceRow],
    ) -> DeviceTensor:
        """The output after a loop nest over tiles.

        `rows` say what it computes of the inputs: operand i is input i, then come the output as it
        was and the results of the rows before. The last one is what the output holds.
        """
        operands = [*(each.value for each in inputs), output.value]
        shapes = [shape[len(shape) // 2 :] for shape in map(value_shape, operands)]
        extents = nest.extents(shapes)
        blocks = [nest.block_map(n, shape, extents) for n, shape in enumerate(shapes)]
        generic = d2m.GenericOp.of(
            operands[:-1],
            operands[-1:],
            blocks,
            nest.iterators,
            [d2m.ThreadKind.COMPUTE],
            block_factors=(1,) * len(nest.iterators),
        )
        generic.attributes[REFERENCE] = _refer(inputs, output, rows).attr
        self.add(generic)
        self._fill_region(generic, nest, body)
        return DeviceTensor(generic.results[0], output.element, output.shape)

    def _fill_region(self, generic: d2m.GenericOp, nest: LoopNest, body: BodyFunction) -> None:
        """Wait for the blocks, loop over their tiles, and yield what comes out."""
        block = generic.compute_region.block
        region = D2MBuilder(block, self.location)
        shards = [cast("d2m.CBType", cb.type).underlying for cb in block.args]
        waited = [region.add(d2m.WaitOp.on(cb)) for cb in block.args[:-1]]
        out = region.add(d2m.ReserveOp.on(block.args[-1]))
        tiles = Block(arg_types=[shard.get_element_type() for shard in shards])
        inner = TileBuilder(tiles, self.location)
        result = body(inner, tiles.args[:-1], tiles.args[-1])
        inner.insert(_located(YieldOp(result), inner))
        loops = LinalgGenericOp(
            waited,
            [out],
            Region(tiles),
            [affine_map_attr(each) for each in nest.maps],
            [_LINALG_ITERATORS[each] for each in nest.iterators],
            [shards[-1]],
        )
        computed = region.add(loops)
        region.insert(_located(d2m.YieldOp.create(operands=[computed]), region))

    def move(
        self,
        source: DeviceTensor,
        shape: Sequence[int],
        place: Sequence[AffineExpr],
        mnemonic: str,
        parameters: Mapping[str, ParameterValue],
        *,
        transposes: bool = False,
    ) -> DeviceTensor:
        """A tensor each of whose tiles is one of another, whose place is given by iterators.

        With `transposes`, rows and columns of each tile change places. `mnemonic` and the
        parameters say the same as an operation of a row.
        """

        def body(tiles: TileBuilder, inputs: Sequence[SSAValue], _: SSAValue) -> SSAValue:
            (tile,) = inputs
            return transpose_tile(tiles, tile) if transposes else tile

        output = self.create_empty(shape, source.element)
        row = ReferenceRow.of(mnemonic, (0,), output.shape, source.element, parameters)
        return self.generic([source], output, LoopNest.parallel(output.rank, [place]), body, [row])


def _refer(
    inputs: Sequence[DeviceTensor], output: DeviceTensor, rows: Sequence[ReferenceRow]
) -> Reference:
    """The reference of a generic, with what its inputs are made of in front of its own rows."""
    count = len(inputs)
    made: list[ReferenceRow] = []
    values = {count: count}
    for number, tensor in enumerate(inputs):
        values[number] = number
        for row in tensor.moves:
            made.append(row.renumber({0: values[number]}))
            values[number] = count + len(made)
    for number, row in enumerate(rows, count + 1):
        made.append(row.renumber(values))
        values[number] = count + len(made)
    # What is written begins at the first number of the output, of which it may be a part.
    shape = made[-1].type.get_shape() if made else inputs[0].shape
    layout = metal_layout_of(output.value.type)
    assert layout is not None, "tensors of tiles have a layout"
    host = replace(HostLayoutAttr.of(layout.data).data, logical_shape=shape)
    value = values[count + len(rows)] if rows else values[0]
    return Reference(tuple(made), (ReferenceOutput(count, value, HostLayoutAttr(host)),))


def transpose_tile(tiles: TileBuilder, tile: SSAValue) -> SSAValue:
    """The tile with rows and columns exchanged."""
    return tiles.add(d2m.TileTransposeOp.create(operands=[tile], result_types=[tile.type]))


def mask_padding(
    tiles: TileBuilder,
    tile: SSAValue,
    source: DeviceTensor,
    wanted: tuple[bool, bool],
    iterators: tuple[int, int],
    number: float,
) -> SSAValue:
    """The tile with a number in place of the padding of its rows, of its columns, or of both."""
    extents = source.shape[-2:]
    if not any(
        is_wanted and extent % TILE for is_wanted, extent in zip(wanted, extents, strict=True)
    ):
        return tile
    valid = [
        extent if is_wanted else -(-extent // TILE) * TILE
        for is_wanted, extent in zip(wanted, extents, strict=True)
    ]
    return tiles.mask(tile, iterators, valid, number)


def _located(op: Operation, builder: OpBuilder) -> Operation:
    op.location = builder.location
    return op
