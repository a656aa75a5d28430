"""Building `d2m.generic`s on whole tensors of tiles, for `ttir-to-d2m`.

A `DeviceTensor` is a view on a buffer of tiles on a grid of ones, with the shape and element type
that it has in ttir; tensors of less than two dimensions have extents of 1 in front. Moves of
elements change the view alone. What reads a tensor gets whole tiles: the buffer, a
`d2m.view_layout` on it, or a copy where parts of tiles move. One loop nest over tiles is a
`LoopNest`: the iterators, a map for each tensor, and a body that computes one tile.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import cast

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import AnyFloat, TensorType, bf16, f16, f32
from xdsl.dialects.linalg.attrs import IteratorType as LinalgIteratorType
from xdsl.dialects.linalg.attrs import IteratorTypeAttr as LinalgIteratorTypeAttr
from xdsl.dialects.linalg.ops import IndexOp, YieldOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ttmlir.dialects import d2m
from ttmlir.dialects.definition.table_ops import ParameterValue
from ttmlir.dialects.linalg import GenericOp as LinalgGenericOp
from ttmlir.dialects.tt.layout import TileType, element_of
from ttmlir.dialects.ttcore import (
    HostLayoutAttr,
    MetalLayoutAttr,
    metal_layout_of,
    metal_tensor_type,
    metal_tile_type,
)
from ttmlir.dialects.ttir import TTNNMetalLayoutCastOp
from ttmlir.ir.builder import Builder, OpBuilder
from ttmlir.ir.kernel_builder import is_float
from ttmlir.ir.tensor_types import element_type, is_boolean, layout_of, value_shape
from ttmlir.layout.affine import AffineExpr, AffineMap, ConstantExpr, DimExpr, dims
from ttmlir.layout.data_format import DEFAULT_TILE_SHAPE, ScalarType
from ttmlir.layout.enums import DataType, IteratorType, MemorySpace
from ttmlir.layout.metal import TILE, IndexView, TileMap
from ttmlir.mlir.attributes import ElementsType, affine_map_attr, elements_of
from ttmlir.passes.d2m.references import (
    REFERENCE,
    Reference,
    ReferenceOutput,
    ReferenceRow,
)

# --- Accumulation ---------------------------------------------------------------------------------
# In how many bits numbers are summed, for `ttir-to-d2m`.
#
# A DST of 16 bits rounds at each addition. An addition takes 16 numbers on the matrix unit, and one
# on the vector unit. After n of them the error is about the square root of n roundings, and n at
# worst (Higham, Accuracy and Stability of Numerical Algorithms, chapter 4); from 2^8 on, what is
# added to a sum of bf16 may be half of its last place, and lost. Where the sum has 32 bits, it is
# rounded once, when it is converted.


NUMBERS_PER_ADDITION = 16
"""What an instruction of the matrix unit sums up: products, and columns or rows of a face."""
LONG_SUM = 64
"""Additions from which on sums are long: about eight times the error of one rounding.

That is for errors that are independent. Where numbers hardly differ, all sums round the same way,
and 22 additions may lose 4 %, 62 may lose 9 %.
"""


class Accumulation(Enum):
    """Where sums of 16-bit numbers have 32 bits."""

    AUTO = "auto"
    """Where they are long."""
    ALWAYS = "true"
    NEVER = "false"


def sum_element(element: Attribute, additions: int, accumulation: Accumulation) -> Attribute:
    """The element type of a sum of this one after so many additions, before it is converted."""
    is_long = accumulation is Accumulation.AUTO and additions >= LONG_SUM
    is_wide = element in (bf16, f16) and (is_long or accumulation is Accumulation.ALWAYS)
    return f32 if is_wide else element


# --- Generics -------------------------------------------------------------------------------------

MOST_CONSTANTS = 1 << 20
"""Numbers of a constant that is made, not given."""
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
    """Where tensors go, how they are divided, and in how many bits sums are."""

    input_space: MemorySpace = MemorySpace.DEVICE_L1
    output_space: MemorySpace = MemorySpace.DEVICE_L1
    collapse_pairs: bool = True
    """Spell the layouts of matrices as tt-mlir does that merges dimensions: the same tiles."""
    collapse_all: bool = False
    """Merge all dimensions but the last."""
    ttnn_mode: bool = False
    accumulation: Accumulation = Accumulation.AUTO
    """Where sums of 16-bit numbers are tensors of 32-bit ones."""
    weight_dtype: DataType | None = None
    """The format of weights of products in memory; None: that of their elements."""
    late: bool = False
    """Spell layouts as in 2026, where the module is of that year."""
    single_steps: bool = False
    """Let generics be such that tt-mlir's passes of 2026 make kernels of them one by one: the
    matrix unit reads operands alone, not what was computed of them."""


@dataclass(frozen=True)
class DeviceTensor:
    """Elements of a buffer of tiles."""

    buffer: SSAValue
    element: Attribute
    """Element type in ttir: tiles of bf16 hold truth values, too."""
    view: IndexView
    """Which element of the buffer each element is."""
    moves: tuple[ReferenceRow, ...] = field(default=(), compare=False)
    """What makes the tensor of what its buffer holds: each row has the result before as operand."""

    @classmethod
    def whole(cls, buffer: SSAValue, element: Attribute) -> DeviceTensor:
        """All of a buffer."""
        return cls(buffer, element, IndexView.identity(_buffer_shape(buffer)))

    def then(
        self,
        mnemonic: str,
        parameters: Mapping[str, ParameterValue],
        view: IndexView,
        element: Attribute | None = None,
    ) -> DeviceTensor:
        """Another view on the buffer, or other elements: an operation of a definition on the
        tensor."""
        element = element or self.element
        row = ReferenceRow.of(mnemonic, (0,), view.shape, element, parameters)
        return replace(self, element=element, view=view, moves=(*self.moves, row))

    @property
    def shape(self) -> Shape:
        """Shape in ttir, filled up to two dimensions."""
        return self.view.shape

    @property
    def is_whole(self) -> bool:
        """True if the elements are those of the buffer, all and in order."""
        return self.view.is_identity and self.shape == _buffer_shape(self.buffer)

    @property
    def tile(self) -> TileType:
        """The type of a tile."""
        return cast("TileType", element_type(self.buffer))

    @property
    def rank(self) -> int:
        """Number of dimensions of tiles: two or more."""
        return len(value_shape(self.buffer)) // 2 if self.is_whole else len(self.shape)

    @property
    def tile_map(self) -> TileMap | None:
        """From tiles of the tensor to those of the buffer; None if parts of tiles move."""
        return self.view.tile_map(_buffer_shape(self.buffer))

    @property
    def has_whole_tiles(self) -> bool:
        """True if its tiles are some of the buffer, as they are there."""
        places = self.tile_map
        return self.is_whole or (places is not None and not places.transposes)

    def as_moved(self, other: DeviceTensor) -> DeviceTensor:
        """All of a buffer, moved as another tensor is whose buffer has the same shape."""
        definitions = [
            replace(definition, type=TensorType(self.element, definition.type.get_shape()))
            for definition in other.moves
            if definition.mnemonic != "typecast"
        ]
        return replace(self, view=other.view, moves=(*self.moves, *definitions))

    def narrow(self) -> DeviceTensor:
        """The tensor with extent 1 where a dimension does nothing but repeat one element."""
        view = self.view.narrow()
        if view == self.view:
            return self
        rank = len(view.shape)
        part = {"begins": (0,) * rank, "ends": view.shape, "step": (1,) * rank}
        return self.then("slice", part, view)

    def transposed(self) -> DeviceTensor:
        """The tensor as loops read it that exchange its last two dimensions."""
        rank = len(self.shape)
        return replace(self, view=self.view.permute((*range(rank - 2), rank - 1, rank - 2)))


def _buffer_shape(buffer: SSAValue) -> Shape:
    """The shape of all elements of a buffer, filled up to two dimensions."""
    layout = metal_layout_of(buffer.type)
    assert layout is not None, "buffers have a metal layout"
    return matrix_shape(layout.logical_shape)


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
    made: dict[tuple[object, ...], SSAValue]
    """Views and copies of buffers that the block has already."""
    narrowed: dict[Operation, None]
    """The loads of tensors that products read in another format."""

    def add(self, op: Operation) -> SSAValue:
        """Put an operation there; its result."""
        op.location = self.location
        return self.insert(op).results[0]

    def tensor_type(
        self, shape: Sequence[int], tile: TileType, space: MemorySpace
    ) -> TensorType[Attribute]:
        """The type of a tensor of tiles."""
        logical = matrix_shape(shape)
        placement = self.placement
        merges = placement.collapse_all or (placement.collapse_pairs and len(logical) == 2)
        rank = 2 if merges else len(logical)
        intervals = None if merges else ()
        return metal_tensor_type(
            logical, tile, space, (1,) * rank, intervals=intervals, late=placement.late
        )

    def load(self, value: SSAValue, tile: TileType | None = None) -> DeviceTensor:
        """A tensor of the host, or of ttnn, as tiles of its elements, or of this type."""
        shape, element = value_shape(value), element_type(value)
        space = self.placement.input_space
        if self._is_of_ttnn(value.type):
            layout = layout_of(value.type)
            space = space if layout is None else layout.memory_space
        type_ = self.tensor_type(shape, tile or metal_tile_type(element), space)
        if self._is_of_ttnn(value.type):
            moved = self.add(TTNNMetalLayoutCastOp.of(value, type_))
        else:
            out = self.add(d2m.EmptyOp.of(type_))
            moved = self.add(d2m.ToLayoutOp.of(value, out))
        tensor = DeviceTensor.whole(moved, element)
        if tensor.shape == tuple(shape):
            return tensor
        return tensor.then("reshape", {"shape": tensor.shape}, tensor.view)

    def narrow_weight(self, tensor: DeviceTensor) -> DeviceTensor:
        """A factor of a product in the format of weights, if it is one, whole tiles of which move.

        A weight is an argument or a constant of the host, moved at most. The host packs it.
        """
        load, data_type = tensor.buffer.owner, self.placement.weight_dtype
        if data_type is None or tensor.tile_map is None or not isinstance(load, d2m.ToLayoutOp):
            return tensor
        tile = TileType.get(*DEFAULT_TILE_SHAPE, data_type)
        if not is_float(scalar_of(tensor.element)) or is_boolean(tensor.element):
            return tensor
        self.narrowed[load] = None
        value = load.input
        packed = self._once(("weight", value), lambda: self.load(value, tile).buffer)
        return replace(tensor, buffer=packed)

    def load_constant(
        self, element: Attribute, shape: Sequence[int], numbers: Iterable[float]
    ) -> DeviceTensor:
        """Numbers in row-major order, as tiles."""
        type_ = TensorType(element, shape)
        convert = float if isinstance(element, AnyFloat) else int
        values = elements_of(cast("ElementsType", type_), [convert(each) for each in numbers])
        constant = ConstantOp.create(result_types=[type_], properties={"value": values})
        return self.load(self.add(constant))

    def unload(self, tensor: DeviceTensor, type_: Attribute) -> SSAValue:
        """The tensor on the host, or in ttnn, as a type of ttir says."""
        buffer = self.settle(tensor).buffer
        if self._is_of_ttnn(type_):
            return self.add(TTNNMetalLayoutCastOp.of(buffer, type_))
        out = Builder(self.block, self.location, before=self.successor).create_empty(type_)
        return self.add(d2m.ToLayoutOp.of(buffer, out, metal_layout_of(buffer.type)))

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
        type_ = self.tensor_type(shape, metal_tile_type(element), self.placement.output_space)
        return DeviceTensor.whole(self.add(d2m.EmptyOp.of(type_)), element)

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
        inputs = [self.in_tiles(each) for each in inputs]
        operands = [*map(self.tiles, inputs), output.buffer]
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
        generic.attributes[REFERENCE] = _refer(inputs, output.buffer, rows).attr
        self.add(generic)
        self._fill_region(generic, nest, body)
        return DeviceTensor.whole(generic.results[0], output.element)

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

    # --- Views and copies ----------------------------------------------------------------------

    def in_tiles(self, tensor: DeviceTensor) -> DeviceTensor:
        """The tensor if it is made of whole tiles of its buffer, else a copy."""
        return tensor if tensor.has_whole_tiles else self.settle(tensor)

    def tiles(self, tensor: DeviceTensor) -> SSAValue:
        """A tensor of whole tiles: its buffer, or a view on it."""
        if tensor.is_whole:
            return tensor.buffer
        places = tensor.tile_map
        assert places is not None, "parts of tiles are copied first"
        return self._once(
            ("tiles", tensor.buffer, tensor.view),
            lambda: self._view(tensor.buffer, tensor.shape, places.places),
        )

    def settle(self, tensor: DeviceTensor) -> DeviceTensor:
        """The tensor in a buffer of its own."""
        if tensor.is_whole:
            return tensor
        copied = self._once(("copy", tensor.buffer, tensor.view), lambda: self.copy(tensor).buffer)
        return DeviceTensor.whole(copied, tensor.element)

    def _once(self, key: tuple[object, ...], build: Callable[[], SSAValue]) -> SSAValue:
        """What was built under a key before in this block, or is now."""
        key = (self.block, *key)
        if key not in self.made:
            self.made[key] = build()
        return self.made[key]

    def _view(
        self, buffer: SSAValue, shape: Sequence[int], places: Sequence[AffineExpr]
    ) -> SSAValue:
        """A view of a shape: `places` lead from its tiles to those of the buffer."""
        rank = len(shape)
        shard = [each.rename(dims=dims(2 * rank)[rank:]) for each in places]
        index_map = AffineMap(2 * rank, 0, (*(ConstantExpr(0),) * len(places), *shard))
        below = metal_layout_of(buffer.type)
        assert below is not None, "buffers have a metal layout"
        tile = cast("TileType", element_type(buffer))
        whole = self.tensor_type(shape, tile, below.memory_space)
        layout = cast("MetalLayoutAttr", whole.encoding).data.with_index_map(index_map)
        type_ = TensorType(whole.element_type, whole.shape, MetalLayoutAttr(layout))
        return self.add(d2m.ViewLayoutOp.of(buffer, type_))

    def copy(self, tensor: DeviceTensor) -> DeviceTensor:
        """The tensor in a new buffer: tile by tile if it can be."""
        narrow = tensor.narrow()
        if narrow.shape[-2:] != tensor.shape[-2:]:
            return self._spread(narrow, tensor.shape)
        places = tensor.tile_map
        if places is None:
            return self._gather(tensor, tensor.shape, tensor.view.element_map())
        output = self.create_empty(tensor.shape, tensor.element)
        nest = LoopNest.parallel(output.rank, [dims(output.rank)])
        if not places.transposes:
            return self.generic([tensor], output, nest, lambda _, inputs, __: inputs[0], [])
        *outer, rows, columns = dims(output.rank)
        nest = LoopNest.parallel(output.rank, [(*outer, columns, rows)])

        def body(tiles: TileBuilder, inputs: Sequence[SSAValue], _: SSAValue) -> SSAValue:
            return transpose_tile(tiles, inputs[0])

        return self.generic([tensor.transposed()], output, nest, body, [])

    def _spread(self, source: DeviceTensor, shape: Shape) -> DeviceTensor:
        """A copy, repeated along dimensions of extent 1 to a shape."""
        output = self.create_empty(shape, source.element)

        def body(tiles: TileBuilder, inputs: Sequence[SSAValue], _: SSAValue) -> SSAValue:
            return spread_tile(tiles, inputs[0], source.shape, shape)

        counts = tuple(whole // extent for extent, whole in zip(source.shape, shape, strict=True))
        row = ReferenceRow.of("repeat", (0,), shape, source.element, {"repeat_dimensions": counts})
        nest = LoopNest.parallel(output.rank, [place_of(source, output)])
        return self.generic([source], output, nest, body, [row])

    # --- Parts of tiles ------------------------------------------------------------------------

    def regroup(self, tensor: DeviceTensor, shape: Sequence[int]) -> DeviceTensor:
        """A copy of the elements in row-major order under a shape that is no view."""
        position = _flatten(dims(len(shape)), shape)
        places = AffineMap(len(shape), 0, tuple(_split(position, tensor.shape)))
        row = ReferenceRow.of("reshape", (0,), shape, tensor.element, {"shape": tuple(shape)})
        return self._gather(tensor, shape, tensor.view.element_map().compose(places), [row])

    def rotate(self, tensor: DeviceTensor, dim: int, distance: int, extent: int) -> DeviceTensor:
        """A copy with a dimension that goes round: at `distance` is what was the first element."""
        rank, own = len(tensor.shape), tensor.shape[dim]
        begin = -distance % own
        shape = tuple(extent if each == dim else size for each, size in enumerate(tensor.shape))
        places = [
            (each + begin) % own if axis == dim else each for axis, each in enumerate(dims(rank))
        ]
        counts = tuple(-(-(begin + extent) // own) if axis == dim else 1 for axis in range(rank))
        repeated = tuple(size * count for size, count in zip(tensor.shape, counts, strict=True))
        begins = tuple(begin if axis == dim else 0 for axis in range(rank))
        part = {
            "begins": begins,
            "ends": tuple(first + size for first, size in zip(begins, shape, strict=True)),
            "step": (1,) * rank,
        }
        element = tensor.element
        rows = [
            ReferenceRow.of("repeat", (0,), repeated, element, {"repeat_dimensions": counts}),
            ReferenceRow.of("slice", (2,), shape, element, part),
        ]
        index_map = AffineMap(rank, 0, tuple(places))
        return self._gather(tensor, shape, tensor.view.element_map().compose(index_map), rows)

    def _gather(
        self,
        tensor: DeviceTensor,
        shape: Sequence[int],
        places: AffineMap,
        rows: Sequence[ReferenceRow] = (),
    ) -> DeviceTensor:
        """A tensor of a shape, from elements at places in the buffer."""
        type_ = self.tensor_type(shape, tensor.tile, self.placement.output_space)
        view = self.add(d2m.ViewElementsOp.gather(tensor.buffer, type_, places, shape))
        gathered = replace(DeviceTensor.whole(view, tensor.element), moves=tensor.moves)
        output = self.create_empty(shape, tensor.element)
        nest = LoopNest.parallel(output.rank, [dims(output.rank)])
        return self.generic([gathered], output, nest, lambda _, inputs, __: inputs[0], rows)


def _refer(
    inputs: Sequence[DeviceTensor], output: SSAValue, rows: Sequence[ReferenceRow]
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
    layout = metal_layout_of(output.type)
    assert layout is not None, "tensors of tiles have a layout"
    host = replace(HostLayoutAttr.of(layout.data).data, logical_shape=shape)
    value = values[count + len(rows)] if rows else values[0]
    return Reference(tuple(made), (ReferenceOutput(count, value, HostLayoutAttr(host)),))


def _flatten(place: Sequence[AffineExpr], extents: Sequence[int]) -> AffineExpr:
    """The position of a place in row-major order."""
    position: AffineExpr = ConstantExpr(0)
    for each, extent in zip(place, extents, strict=True):
        position = position * extent + (each if extent > 1 else 0)
    return position


def _split(position: AffineExpr, extents: Sequence[int]) -> list[AffineExpr]:
    """The place at a position in row-major order."""
    place: list[AffineExpr] = []
    for number, extent in enumerate(extents):
        after = math.prod(extents[number + 1 :])
        before = math.prod(extents[:number])
        index = position // after
        place.append(ConstantExpr(0) if extent == 1 else index % extent if before > 1 else index)
    return place


def place_of(operand: DeviceTensor, output: DeviceTensor) -> Sequence[AffineExpr]:
    """The tile of an operand for each of the output: the first along dimensions that repeat it."""
    if operand.shape == output.shape:
        return AffineMap.identity(output.rank).results
    outer = len(output.shape) - len(operand.shape)
    return [
        ConstantExpr(0) if extent < output.shape[outer + dim] else DimExpr(outer + dim)
        for dim, extent in enumerate(operand.shape)
    ]


def spread_tile(
    tiles: TileBuilder, tile: SSAValue, shape: Sequence[int], wanted: Sequence[int]
) -> SSAValue:
    """The tile of a tensor, repeated along rows and columns that the wanted shape has more of."""
    rows, columns = (here < there for here, there in zip(shape[-2:], wanted[-2:], strict=True))
    kind = {
        (True, False): d2m.BroadcastKind.ROW,
        (False, True): d2m.BroadcastKind.COLUMN,
        (True, True): d2m.BroadcastKind.SCALAR,
    }.get((rows, columns))
    return tile if kind is None else tiles.add(d2m.TileBcastOp.of(tile, kind))


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
