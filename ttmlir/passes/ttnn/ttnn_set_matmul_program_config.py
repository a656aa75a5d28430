"""Choose how products of matrices are divided over the cores of a device.

Before:

    #dram = #ttnn.buffer_type<dram>
    #l = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x2x!ttcore.tile<32x32, f32>, #dram>,
        <interleaved>>
    module {
      ttcore.device @default_device = <workerGrid = #ttcore.grid<8x8, (d0, d1) -> (0, d0, d1)>,
          l1Map = (d0, d1)[s0, s1] -> (0, d0 floordiv s0, d1 floordiv s1, (d0 mod s0) * s1
          + d1 mod s1), dramMap = (d0, d1)[s0, s1] -> (0, 0, 0, d0 * s1 + d1), meshShape = ,
          chipIds = [0]>
      func.func @main(%a: tensor<64x64xf32, #l>, %b: tensor<64x64xf32, #l>)
          -> tensor<64x64xf32, #l> {
        %0 = "ttnn.matmul"(%a, %b) <{transpose_a = false, transpose_b = false}>
            : (tensor<64x64xf32, #l>, tensor<64x64xf32, #l>) -> tensor<64x64xf32, #l>
        return %0 : tensor<64x64xf32, #l>
      }
    }

After:

    ...
        %0 = "ttnn.matmul"(%arg0, %arg1) <{matmul_program_config =
            #ttnn.matmul_multi_core_reuse_multi_cast_program_config<compute_with_storage_grid_size =
            #ttnn.core_coord<8, 8>, in0_block_w = 1, out_subblock_h = 1, out_subblock_w = 1,
            out_block_h = 1, out_block_w = 1, per_core_m = 1, per_core_n = 1,
            transpose_mcast = false, fuse_batch = true>, transpose_a = false, transpose_b = false}>
            : ...
        ...

Requires: ttnn of 2026, and a `ttcore.device`.
Ensures: `ttnn.matmul` and `ttnn.linear` that had no program config have one. Batches that are as
many as the tiles of a product, or more, are divided over cores, one product a core; products whose
rows or columns are one tile, or more than eight times as many as the others, along a line of cores;
others over the grid. Parts of a core that do not fit into its L1 are divided into blocks.
Options: none.
Not done here: products of vectors, for which the library chooses.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ttmlir.dialects.definition.ods import ODSOperation, is_set
from ttmlir.dialects.ttcore import device_of
from ttmlir.dialects.ttnn.attrs import CoreRangeSetAttr
from ttmlir.dialects.ttnn.configs import (
    CoreCoordAttr,
    MatmulMultiCast1DConfigAttr,
    MatmulMultiCastConfigAttr,
    MatmulReuseConfigAttr,
)
from ttmlir.ir.tensor_types import layout_of, value_shape
from ttmlir.layout.data_format import DEFAULT_TILE_SHAPE, TileFormat
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute, SSAValue

_TILE = 32
_WIDE = 8
"""From more than this ratio of rows and columns, one line of cores is used."""
_SUBBLOCKS = ((2, 2), (4, 1), (1, 4), (3, 1), (1, 3), (2, 1), (1, 2), (1, 1))
"""Rows and columns of tiles that a core keeps in its registers, which hold four of 32 bits."""
_WIDEST = 32
"""At most so many tiles are summed at once."""
_SUM_BYTES = 4096
"""A tile of sums, of 32 bits each."""
_BLOCKS_BYTES = 1_320_000
"""L1 of a core for blocks: what Tenstorrent's fills is between 1,318,912 and 1,325,056."""
_MOST_BYTES = 1_460_000
"""L1 of a core that the library's programs have for buffers."""


@dataclass(frozen=True)
class Product:
    """Tiles of a product of matrices: rows, columns, and those that are summed."""

    batch: int
    rows: int
    depth: int
    columns: int
    is_transposed: bool = False
    tile_bytes: tuple[int, int, int] = (_SUM_BYTES, _SUM_BYTES, _SUM_BYTES)
    """Of both sides and the product."""

    def block_width(self, rows: int, columns: int) -> int:
        """How many tiles are summed at once by a core with so many tiles of the product.

        That is the largest divisor of all but itself whose blocks fit into L1: two of each side,
        what they give, and its sums.
        """
        first, second, _ = self.tile_bytes
        room = self._room(rows, columns)
        most = min(room // (2 * (rows * first + columns * second)), _WIDEST, self.depth // 2)
        return next((n for n in range(most, 0, -1) if self.depth % n == 0), 1)

    def block(self, rows: int, columns: int) -> tuple[int, int]:
        """The tiles that a core of so many computes at once.

        All, but for those that do not fit into L1 even if one tile at a time is summed: the library
        would stop at them. Sums in the type of the product share its memory.
        """
        first, second, last = self.tile_bytes
        sums = last if last == _SUM_BYTES else last + _SUM_BYTES
        sides = 2 * (rows * first + columns * second) + columns * last
        if rows * columns * sums + sides <= _MOST_BYTES:
            return rows, columns
        fit = (
            (height, width)
            for height in _divisors(rows)
            for width in _divisors(columns)
            if self._room(height, width) >= 2 * (height * first + width * second)
        )
        return max(fit, key=lambda block: (math.prod(block), block), default=(1, 1))

    def _room(self, rows: int, columns: int) -> int:
        """L1 that is left for the sides of a product."""
        return _BLOCKS_BYTES - rows * columns * (self.tile_bytes[2] + _SUM_BYTES)


@dataclass(frozen=True)
class TTNNSetMatmulProgramConfigPass(ModulePass):
    """Choose how products of matrices are divided over the cores of a device."""

    name = "ttnn-set-matmul-program-config"
    title = "TTNNSetMatmulProgramConfig"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Set the program config of every product."""
        for op in module.walk():
            if op.name not in ("ttnn.matmul", "ttnn.linear") or not isinstance(op, ODSOperation):
                continue
            device = device_of(op)
            product = _product_of(op)
            if device is None or product is None or "matmul_program_config" in op.properties:
                continue
            rows, columns = device.worker_grid.data.shape
            op.properties["matmul_program_config"] = config_of(product, (columns, rows))


def _product_of(op: ODSOperation) -> Product | None:
    """The tiles of a product; None for vectors, and where nothing is multiplied."""
    a, b = (list(value_shape(op.group(name)[0])) for name in ("a", "b"))
    if len(a) < 2 or len(b) < 2:
        return None
    turned = False
    for shape, name in ((a, "transpose_a"), (b, "transpose_b")):
        if is_set(op, name):
            shape[-2:] = shape[:-3:-1]
            turned = True
    rows, depth, columns = (-(-extent // _TILE) for extent in (a[-2], a[-1], b[-1]))
    if not rows * depth * columns:
        return None
    sides = (op.group("a")[0], op.group("b")[0], op.results[0])
    first, second, last = (_tile_bytes(value) for value in sides)
    return Product(math.prod(b[:-2]), rows, depth, columns, turned, (first, second, last))


def _tile_bytes(value: SSAValue) -> int:
    layout = layout_of(value.type)
    if layout is None:
        return _SUM_BYTES
    return TileFormat(*DEFAULT_TILE_SHAPE, layout.element.data_type).stored_bytes


def config_of(product: Product, cores: tuple[int, int]) -> Attribute:
    """How a product is divided over columns and rows of cores."""
    grid = CoreCoordAttr(cores)
    rows, columns = product.rows, product.columns
    if product.batch > 1 and not product.is_transposed and product.batch >= rows * columns:
        return MatmulReuseConfigAttr(
            (
                ("compute_with_storage_grid_size", grid),
                *_blocks(product, rows, columns),
                *_per_core(rows, columns),
            )
        )
    ratio = max(rows, columns) / min(rows, columns)
    if min(rows, columns) > 1 and ratio <= _WIDE:
        across, down = cores
        return _over_grid(product, grid, -(-rows // down), -(-columns // across))
    return _along_line(product, grid, math.prod(cores))


def _over_grid(product: Product, grid: CoreCoordAttr, rows: int, columns: int) -> Attribute:
    block = product.block(rows, columns)
    return MatmulMultiCastConfigAttr(
        (
            ("compute_with_storage_grid_size", grid),
            *_blocks(product, *block),
            *_out_blocks(*block),
            *_per_core(rows, columns),
            ("transpose_mcast", False),
            ("fuse_batch", product.batch == 1),
        )
    )


def _along_line(product: Product, grid: CoreCoordAttr, cores: int) -> Attribute:
    is_wide = product.columns > product.rows
    rows = product.rows if is_wide else -(-product.rows // cores)
    columns = -(-product.columns // cores) if is_wide else product.columns
    block = product.block(rows, columns)
    return MatmulMultiCast1DConfigAttr(
        (
            ("compute_with_storage_grid_size", grid),
            *_blocks(product, *block),
            *_out_blocks(*block),
            *_per_core(rows, columns),
            ("fuse_batch", False),
            ("mcast_in0", is_wide),
            ("gather_in0", False),
            ("hop_cores", CoreRangeSetAttr(())),
            ("num_global_cb_receivers", 0),
            ("untilize_out", False),
        )
    )


def _divisors(number: int) -> list[int]:
    return [each for each in range(1, number + 1) if number % each == 0]


Fields = tuple[tuple[str, Any], ...]


def _blocks(product: Product, rows: int, columns: int) -> Fields:
    height, width = next((h, w) for h, w in _SUBBLOCKS if rows % h == 0 and columns % w == 0)
    return (
        ("in0_block_w", product.block_width(rows, columns)),
        ("out_subblock_h", height),
        ("out_subblock_w", width),
    )


def _out_blocks(rows: int, columns: int) -> Fields:
    return (("out_block_h", rows), ("out_block_w", columns))


def _per_core(rows: int, columns: int) -> Fields:
    return (("per_core_m", rows), ("per_core_n", columns))
