"""Keep the keys and values of earlier tokens in a narrower format.

Before:

    // Options: target-dtype=bfp_bf8
    #dram = #ttnn.buffer_type<dram>
    #c = #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * 256 + d1 * 64 + d2, d3), <1x1>,
        memref<8x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
    #n = #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * 128 + d1 * 32 + d2, d3), <1x1>,
        memref<4x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
    func.func @main(%cache: tensor<1x4x64x32xbf16, #c> {ttcore.kv_cache},
        %new: tensor<1x4x32x32xbf16, #n>) {
      "ttnn.fill_cache"(%cache, %new) <{batch_offset = 0 : i32}>
          : (tensor<1x4x64x32xbf16, #c>, tensor<1x4x32x32xbf16, #n>) -> ()
      return
    }

After:

    ...
        %0 = "ttnn.typecast"(%arg1) : (tensor<1x4x32x32xbf16, #ttnn_layout1>)
            -> tensor<1x4x32x32x!ttcore.tile<32x32, bfp_bf8>, #ttnn_layout2>
        "ttnn.fill_cache"(%arg0, %0) <{batch_offset = 0 : i32}> : ...
        ...

Requires: ttnn of 2026, with layouts, and `ttcore.kv_cache` on arguments
(`ttir-infer-kv-cache-argument-types`).
Ensures: these arguments, and where they are returned, have the format; what `ttnn.fill_cache` fills
in has it, too.
Options: `target-dtype` (bfp_bf8, bfp_bf4).
Not done here: integers, and what an operation reads of a cache, which the library takes in any
format.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import FunctionType, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp

from ttmlir.dialects.ttcore import LocalShapeAttr
from ttmlir.ir.ttnn_types import as_tiles_of, set_type
from ttmlir.ir.ttnn_values import TTNNValueBuilder
from ttmlir.layout.enums import DataType
from ttmlir.mlir.option_values import option
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.general.const_eval_hoist_transform import argument_attribute
from ttmlir.passes.placement.layout_overrides import BLOCK_FLOAT
from ttmlir.passes.ttir.ttir_infer_kv_cache_argument_types import (
    KV_CACHE,
    set_argument_attribute,
)

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.ir import BlockArgument, Operation


@dataclass(frozen=True)
class TTNNKVCacheDtypeConversionPass(ModulePass):
    """Keep the keys and values of earlier tokens in a narrower format."""

    name = "ttnn-kv-cache-dtype-conversion"
    title = "TTNNKVCacheDtypeConversion"
    target_dtype: DataType | None = option(None, "Format of caches", type=BLOCK_FLOAT)

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Convert the caches of every function."""
        if self.target_dtype is None:
            return
        for function in [op for op in module.walk() if isinstance(op, FuncOp)]:
            for argument in tuple(function.body.blocks[0].args) if function.body.blocks else ():
                if argument_attribute(function, argument.index, KV_CACHE) is not None:
                    _convert(function, argument, self.target_dtype)
            _update_signature(function)


def _convert(function: FuncOp, argument: BlockArgument, dtype: DataType) -> None:
    narrow = as_tiles_of(argument.type, dtype)
    if narrow is None or narrow == argument.type:
        return
    cache = set_type(argument, narrow)
    for use in tuple(cache.uses):
        if use.operation.name == "ttnn.fill_cache" and use.index == 0:
            _convert_input(use.operation, dtype)
    number = argument.index
    local = argument_attribute(function, number, "ttcore.local_shape")
    if isinstance(local, LocalShapeAttr):
        bare = TensorType(narrow.element_type, narrow.get_shape())
        set_argument_attribute(function, number, "ttcore.local_shape", LocalShapeAttr(bare))


def _convert_input(op: Operation, dtype: DataType) -> None:
    narrow = as_tiles_of(op.operands[1].type, dtype)
    if narrow is not None:
        build = TTNNValueBuilder.before(op)
        op.operands[1] = build.typecast(op.operands[1], narrow)


def _update_signature(function: FuncOp) -> None:
    if not function.body.blocks:
        return
    block = function.body.blocks[0]
    outputs = list(function.function_type.outputs.data)
    if isinstance(block.last_op, ReturnOp):
        outputs = [value.type for value in block.last_op.arguments]
    inputs = [argument.type for argument in block.args]
    function.properties["function_type"] = FunctionType.from_lists(inputs, outputs)
