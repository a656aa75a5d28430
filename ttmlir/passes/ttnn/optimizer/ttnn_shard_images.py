"""Keep images between convolutions in shards, one for each core, in L1.

Before:

    #dram = #ttnn.buffer_type<dram>
    #v = #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * 9024 + d1 * 9024 + d2, d3), <1x1>,
        memref<282x2x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
    #w = #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * 64 + d1 * 64 + d2, d3), <1x1>,
        memref<64x2x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
    module {
      ttcore.device @default_device = <workerGrid = #ttcore.grid<8x8, (d0, d1) -> (0, d0, d1)>,
          l1Map = (d0, d1)[s0, s1] -> (0, d0 floordiv s0, d1 floordiv s1, (d0 mod s0) * s1
          + d1 mod s1), dramMap = (d0, d1)[s0, s1] -> (0, 0, 0, d0 * s1 + d1), meshShape = ,
          chipIds = [0]>
      func.func @main(%v: tensor<1x1x9000x64xbf16, #v>, %w: tensor<1x1x64x64xbf16, #w>)
          -> tensor<1x1x9000x64xbf16, #v> {
        %0 = "ttnn.get_device"() <{mesh_offset = #ttnn<mesh_offset 0x0>,
            mesh_shape = #ttnn<mesh_shape 1x1>}> : () -> !ttnn.device
        %1 = "ttnn.conv2d"(%v, %w, %0) <{in_channels = 64 : i32, out_channels = 64 : i32,
            batch_size = 1 : i32, input_height = 90 : i32, input_width = 100 : i32,
            kernel_size = array<i32: 1, 1>, stride = array<i32: 1, 1>,
            padding = array<i32: 0, 0, 0, 0>, dilation = array<i32: 1, 1>, groups = 1 : i32,
            operandSegmentSizes = array<i32: 1, 1, 0, 1>}>
            : (tensor<1x1x9000x64xbf16, #v>, tensor<1x1x64x64xbf16, #w>, !ttnn.device)
            -> tensor<1x1x9000x64xbf16, #v>
        %2 = "ttnn.relu"(%1) : (tensor<1x1x9000x64xbf16, #v>) -> tensor<1x1x9000x64xbf16, #v>
        return %2 : tensor<1x1x9000x64xbf16, #v>
      }
    }

After:

    ...
        %1 = "ttnn.to_tensor_spec"(%arg0)
            : (tensor<1x1x9000x64xbf16, #ttnn_layout>) -> tensor<1x1x9000x64xbf16, #ttnn_layout2>
        %2 = "ttnn.conv2d"(%1, %arg1, %0) <{batch_size = 1 : i32, conv2d_config =
            #ttnn.conv2d_config<shard_layout = height_sharded>, ...}> : ...
        %3 = "ttnn.relu"(%2)
            : (tensor<1x1x9000x64xbf16, #ttnn_layout2>) -> tensor<1x1x9000x64xbf16, #ttnn_layout2>
        %4 = "ttnn.to_tensor_spec"(%3)
            : (tensor<1x1x9000x64xbf16, #ttnn_layout2>) -> tensor<1x1x9000x64xbf16, #ttnn_layout>
        return %4 : tensor<1x1x9000x64xbf16, #ttnn_layout>
        ...

Requires: ttnn of 2026, with layouts, and a `ttcore.device`.
Ensures: a convolution whose results are whole tiles of channels makes shards of them, and takes
shards if its channels are whole tiles, too, where they fit into L1 with what else is there and with
its circular buffers: rows of pixels where three quarters of the cores have whole tiles of the
result, and pixels are 24 times as many as its channels, and else blocks of pixels and channels, as
the library divides them. An image of few channels whose pixels were transposed for it alone is
transposed into shards, which the library gives back as soon as each core has its pixels
(`deallocate_activation`). Rows of tiles are computed in parts whose buffers fit
(`act_block_h_override`). Pools of shards of rows of pixels take and make them, and elementwise
operations keep the shards of what they are computed from. Others get their operands back where they
were.
Options: `image-l1-usage-cap`: the part of L1 that shards and circular buffers take;
`weight-dtype`: the format that weights will have (bf16, bfp_bf8, bfp_bf4).
Not done here: convolutions in groups, and dilated ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd, prod
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, MemRefType, TensorType
from xdsl.ir import Operation

from ttmlir.dialects.ttnn.attrs import MEMORY_LAYOUTS, TTNNLayoutAttr
from ttmlir.dialects.ttnn.configs import Conv2dSliceConfigAttr
from ttmlir.ir.rewriting import erase
from ttmlir.ir.tensor_types import value_shape
from ttmlir.ir.ttnn_types import (
    TILE,
    Shards,
    is_sharded,
    is_tiled,
    memory_of,
    set_type,
    stored_in,
    tensor_in,
)
from ttmlir.layout.data_format import DEFAULT_TILE_SHAPE, TileFormat, has_same_tiles
from ttmlir.layout.enums import BufferType, DataType, TTNNTensorMemoryLayout
from ttmlir.mlir.option_values import option
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.placement.layout_overrides import WEIGHT_DTYPE
from ttmlir.passes.ttnn.optimizer.spread_layouts import (
    Occupancy,
    check_part,
    device_functions,
    is_elementwise,
    layout_attr,
    move,
    parts_of,
    shard_bytes,
)
from ttmlir.passes.ttnn.optimizer.ttnn_optimizer import configure

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import IntegerType, ModuleOp
    from xdsl.ir import Attribute, Block, SSAValue

_CONVOLUTION = "ttnn.conv2d"
_POOL = "ttnn.max_pool2d"
_RESHAPE = "ttnn.reshape"
_TURN = "ttnn.permute"
_MOVE = "ttnn.to_tensor_spec"
_HEIGHT = TTNNTensorMemoryLayout.HEIGHT_SHARDED
_BLOCK = TTNNTensorMemoryLayout.BLOCK_SHARDED
_LEAST_SHARE = 0.75
"""Of the cores, that have rows of pixels."""
_LEAST_RATIO = 24
"""Of pixels to channels of the result: cores that have rows of pixels read weights of them all."""
_LEAST_LARGE = 4
"""Shards of a part of L1 are large where others are there."""
_CAP = 0.88
_TABLES = 32 << 10
"""Bytes of L1 that the library keeps for tables of windows."""
_TILE_BYTES = 2 << 10
_SUM_BYTES = 4 << 10
"""Of a tile of bfloat16, as windows are, and of one of sums of 32 bits."""


@dataclass(frozen=True)
class TTNNShardImagesPass(ModulePass):
    """Keep images between convolutions in shards, one for each core, in L1."""

    name = "ttnn-shard-images"
    title = "TTNNShardImages"
    image_l1_usage_cap: float = option(_CAP, "The part of L1 that shards and buffers may take")
    weight_dtype: DataType | None = option(None, "Format of weights", type=WEIGHT_DTYPE)

    def check_options(self) -> None:
        """Refuse what is no part of L1."""
        check_part("image-l1-usage-cap", self.image_l1_usage_cap)

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Choose for every function of the device."""
        self.check_options()
        for block, workers, usable in device_functions(module):
            most = int(self.image_l1_usage_cap * usable) - _TABLES
            dtype = self.weight_dtype or DataType.BF16
            weight_bytes = TileFormat(*DEFAULT_TILE_SHAPE, dtype).stored_bytes
            _Images(block, workers, most, weight_bytes).run()


def _even_parts(tiles: int, most: int) -> int:
    """Cores that get as many tiles each, as ttnn's convolutions take them, if they are not few."""
    even = max(each for each in range(1, most + 1) if tiles % each == 0)
    return even if even >= _LEAST_SHARE * most else most


@dataclass(frozen=True)
class _Window:
    """What a convolution or pool sees of an image at once."""

    kernel: tuple[int, int]
    stride: tuple[int, int]
    width: int
    """Pixels of a row of the image."""
    rows: tuple[int, int]
    channels: tuple[int, int]
    """Rows of tiles, and numbers of a pixel, of the image and the result."""

    @classmethod
    def of(cls, op: Operation) -> _Window:
        """What an operation says."""
        image, result = op.operands[0], op.results[0]
        return cls(
            _pair(op, "kernel_size"),
            _pair(op, "stride"),
            cast("IntegerAttr", op.properties["input_width"]).value.data,
            (_rows_of(image), _rows_of(result)),
            (value_shape(image)[-1], value_shape(result)[-1]),
        )

    @property
    def is_pixel(self) -> bool:
        """True for one pixel for each of the result."""
        return (*self.kernel, *self.stride) == (1, 1, 1, 1)

    def edged_bytes(self, parts: int, columns: int) -> int:
        """Bytes of the rows of pixels that a core of so many sees, with its neighbours' edges."""
        if self.is_pixel:
            return 0
        height, width = self.kernel
        pixels = -(-self.rows[0] // parts) * TILE + height * (self.width + width)
        return pixels * self._tiles(0, columns) * TILE * 2

    def block_height(self, parts: int, columns: int, room: int, weight_bytes: int) -> int | None:
        """Rows of tiles that a core of so many computes at once, whose buffers fit; None if none.

        There are windows as rows and as tiles, with blocks of channels those of all rows of the
        window, else of one, the weights of all of them, and sums. A product of pixels alone has two
        blocks of weights.
        """
        rows = -(-self.rows[1] // parts)
        height, width = self.kernel
        inner, outer = self._tiles(0, columns), self._tiles(1, columns)
        depth = inner * width * (height if columns > 1 else 1)
        weights = inner * width * height * outer * weight_bytes
        if self.is_pixel:
            return rows if 2 * weights <= room else None
        each = 2 * depth * _TILE_BYTES + outer * _SUM_BYTES
        fitting = (n for n in range(rows, 0, -1) if rows % n == 0 and weights + n * each <= room)
        return next(fitting, None)

    def _tiles(self, side: int, columns: int) -> int:
        return -(-self.channels[side] // (TILE * columns))


class _Images:
    """The images of one function."""

    def __init__(
        self, block: Block, workers: tuple[int, int], most: int, weight_bytes: int
    ) -> None:
        """Begin with the cores, the bytes of each that shards and buffers may take, and those of a
        tile of weights."""
        self._workers, self._most, self._weight_bytes = workers, most, weight_bytes
        self._occupancy = Occupancy(block)
        self._given: dict[Operation, Attribute] = {}
        """Operations that make shards, and what their results were."""
        self._taking: set[tuple[Operation, int]] = set()
        """Operands that are taken in shards."""

    def run(self) -> None:
        """Decide for each operation in order."""
        for op in self._occupancy.ops:
            if op.name == _CONVOLUTION:
                self._convolve(op)
            elif op.name == _POOL:
                self._pool(op)
            elif is_elementwise(op):
                self._keep(op)
        for op, type_ in self._given.items():
            self._give_back(op, type_)

    def _convolve(self, op: Operation) -> None:
        """Shards of rows of pixels, or else of pixels and channels, if they fit."""
        image, result = op.operands[0], op.results[0]
        if not is_tiled(result) or not _is_plain(op):
            return
        window = _Window.of(op)
        cores, (inner, outer) = prod(self._workers), window.channels
        whole = inner % TILE == 0 and is_tiled(image)
        if outer % TILE:
            return
        has_rows = parts_of(window.rows[1], cores) >= _LEAST_SHARE * cores
        if has_rows and not whole and self._turn_into_shards(op, window, cores):
            return
        is_tall = not whole or window.rows[1] * TILE >= _LEAST_RATIO * outer
        if has_rows and is_tall and self._divide(op, window, _HEIGHT, (cores, 1), whole=whole):
            return
        if not whole:
            return
        shared = gcd(inner // TILE, outer // TILE)
        columns = max(n for n in range(1, self._workers[1] + 1) if shared % n == 0)
        rows = _even_parts(window.rows[1], self._workers[0])
        if not self._divide(op, window, _BLOCK, (rows, columns), whole=True) and has_rows:
            self._divide(op, window, _HEIGHT, (cores, 1), whole=True)

    def _divide(
        self,
        op: Operation,
        window: _Window,
        spread: TTNNTensorMemoryLayout,
        grid: tuple[int, int],
        *,
        whole: bool,
        gone: int = 0,
    ) -> bool:
        """Divide a convolution over so many rows and columns of cores at most; False, and nothing
        is done, if it does not fit. The image is taken as it is unless its channels are `whole`
        tiles; `gone` are bytes of L1 that are free when results are made."""
        image, result = op.operands[0], op.results[0]
        parts, columns = grid
        made = self._in(result.type, spread, (parts_of(window.rows[1], parts), columns))
        taken = image.type
        if whole:
            taken = self._in(image.type, spread, (parts_of(window.rows[0], parts), columns))
        moved = shard_bytes(taken) if taken != image.type else 0
        beside = moved + window.edged_bytes(parts, columns)
        held, most = self._occupancy.at(op) - gone, self._most + gone
        room = self._most - held - beside - shard_bytes(made)
        height = window.block_height(parts, columns, room, self._weight_bytes)
        # What is large finds no room between others.
        largest = self._most // _LEAST_LARGE if held else self._most
        if height is None or shard_bytes(made) > largest or not self._fits(op, made, most):
            return False
        op.operands[0] = move(image, taken, op, op.location)
        self._taking.add((op, 0))
        self._make(op, made)
        rows = () if window.is_pixel else (("act_block_h_override", height * TILE),)
        configure(op, (*rows, ("shard_layout", spread)))
        slices = (("slice_type", "l1_full"), ("num_slices", 0))
        op.properties["conv2d_slice_config"] = Conv2dSliceConfigAttr(slices)
        return True

    def _turn_into_shards(self, op: Operation, window: _Window, cores: int) -> bool:
        """Divide a convolution of pixels that a transposition makes for it alone, which makes
        shards of them; False, and nothing is done, if they do not fit."""
        flat = op.operands[0].owner
        if not isinstance(flat, Operation) or flat.name != _RESHAPE:
            return False
        turned = flat.operands[0].owner
        if not isinstance(turned, Operation) or turned.name != _TURN or window.is_pixel:
            return False
        views = (turned.results[0], flat.results[0])
        if not has_same_tiles(*map(value_shape, views)) or not all(map(is_tiled, views)):
            return False
        if any(len(tuple(each.uses)) != 1 or is_sharded(each.type) for each in views):
            return False
        grid = (parts_of(window.rows[0], cores), 1)
        taken = [self._in(each.type, _HEIGHT, grid) for each in views]
        span, size = self._occupancy.span(views), shard_bytes(taken[0])
        edges = window.edged_bytes(cores, 1)
        if not self._occupancy.add(span, size, lambda each: self._most - edges * (each is op)):
            return False
        # The image has gone when buffers and results come.
        if not self._divide(op, window, _HEIGHT, (cores, 1), whole=False, gone=size):
            self._occupancy.add(span, -size, lambda _: self._most + size)
            return False
        for value, type_ in zip(views, taken, strict=True):
            set_type(value, type_)
        configure(op, (("deallocate_activation", True),))
        return True

    def _pool(self, op: Operation) -> None:
        """A pool of shards, of which it makes rows of pixels itself."""
        image = op.operands[0]
        if isinstance(image.owner, Operation) and image.owner.name == _MOVE:
            image = image.owner.operands[0]
        result, cores = op.results[0], parts_of(_rows_of(image), prod(self._workers))
        pixels, channels = (prod(value_shape(result)[:-1]), value_shape(result)[-1])
        if image.owner not in self._given or channels % TILE or pixels % cores:
            return
        if image.type != self._in(image.type, _HEIGHT, (cores, 1)):
            return
        users = [use.operation for use in result.uses]
        made = self._in(result.type, _HEIGHT, (cores, 1))
        beside = _Window.of(op).edged_bytes(cores, 1)
        if beside + shard_bytes(made) > self._most - self._occupancy.at(op):
            return
        if not self._fits(op, made, self._most):
            return
        op.operands[0] = image
        self._taking.add((op, 0))
        self._make(op, made)
        # Cores make tiles of whole rows of them.
        grid = (parts_of(-(-pixels // TILE), prod(self._workers)), 1)
        for user in [each for each in users if each.name == _MOVE]:
            tiles = self._in(user.results[0].type, _HEIGHT, grid)
            rows = _as_rows(tiles)
            if is_tiled(user.results[0]) and self._fits(user, tiles, self._most):
                user.operands[0] = move(op.results[0], rows, user, user.location)
                self._taking.add((user, 0))
                self._make(user, tiles)

    def _keep(self, op: Operation) -> None:
        """An elementwise operation of shards and of tensors of the same shape; those in DRAM stay
        there."""
        result, operands = op.results[0], list(op.operands)
        if not all(is_tiled(each) for each in (*operands, result)):
            return
        if any(value_shape(each) != value_shape(result) for each in operands):
            return
        shards = next((each for each in operands if each.owner in self._given), None)
        if shards is None:
            return
        place = self._like(shards.type, op.results[0].type)
        moved = [
            self._like(shards.type, each.type) if each.owner in self._given else each.type
            for each in operands
        ]
        beside = sum(
            shard_bytes(new) for new, each in zip(moved, operands, strict=True) if new != each.type
        )
        if not self._fits(op, place, self._most - beside):
            return
        for index, new in enumerate(moved):
            op.operands[index] = move(operands[index], new, op, op.location)
            self._taking.add((op, index))
        self._make(op, place)

    def _fits(self, op: Operation, type_: Attribute, most: int) -> bool:
        span = self._occupancy.span(op.results)
        return self._occupancy.add(span, shard_bytes(type_), lambda _: most)

    def _make(self, op: Operation, type_: Attribute) -> None:
        self._given[op] = op.results[0].type
        set_type(op.results[0], type_)

    def _give_back(self, op: Operation, type_: Attribute) -> None:
        """Move a result to where it was, for those who do not take shards."""
        result = op.results[0]
        moves = [use.operation for use in result.uses if use.operation.name == _MOVE]
        for other in [each for each in moves if not each.results[0].uses]:
            erase(other)
        users = [
            use
            for use in result.uses
            if use.operation.name != _MOVE and (use.operation, use.index) not in self._taking
        ]
        after = op.next_op
        if users and after is not None:
            back = move(result, type_, after, op.location)
            for use in users:
                use.operation.operands[use.index] = back

    def _in(
        self, type_: Attribute, spread: TTNNTensorMemoryLayout, grid: tuple[int, int]
    ) -> TensorType[Attribute]:
        memory = memory_of(type_)
        assert memory is not None, "tensors of ttnn have layouts"
        shards = Shards.on(spread, grid, self._workers)
        return tensor_in(type_, tiled=memory.is_tiled, buffer=BufferType.L1, shards=shards)

    def _like(self, shards: Attribute, type_: Attribute) -> TensorType[Attribute]:
        """A tensor on the cores of another one of its shape."""
        layout = layout_attr(shards)
        assert layout is not None, "it is in shards"
        place = layout.tensor_layout
        rows, columns = place.grid.shape
        spread = MEMORY_LAYOUTS[place.memory_layout]
        return self._in(type_, spread, (rows, columns))


def _as_rows(tiles: TensorType[Attribute]) -> TensorType[Attribute]:
    """The rows of shards of tiles, which are of whole tiles, too."""
    layout = layout_attr(tiles)
    assert layout is not None, "it is in shards"
    shard = [extent * TILE for extent in layout.memref.get_shape()]
    memref = MemRefType(stored_in(tiles), shard, memory_space=layout.memref.memory_space)
    rows = TTNNLayoutAttr(layout.linear, layout.grid, memref, layout.spread, layout.core_ranges)
    return TensorType(tiles.element_type, tiles.get_shape(), rows)


def _is_plain(op: Operation) -> bool:
    """True for a convolution that is neither in groups nor dilated."""
    groups = cast("IntegerAttr", op.properties["groups"]).value.data
    return groups == 1 and _pair(op, "dilation") == (1, 1)


def _pair(op: Operation, name: str) -> tuple[int, int]:
    first, second = cast("DenseArrayBase[IntegerType]", op.properties[name]).get_values()
    return first, second


def _rows_of(value: SSAValue) -> int:
    """Rows of tiles of an image, whose pixels are rows."""
    return -(-prod(value_shape(value)[:-1]) // TILE)
