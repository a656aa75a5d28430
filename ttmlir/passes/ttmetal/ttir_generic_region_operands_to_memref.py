"""Let the body of a `ttir.generic` work on the shard that one core holds.

The arguments of the body get the shape of a shard and the buffer it lies in, as the layouts of the
operands say.

Before:

    // After ttir-load-system-desc ttir-implicit-device ttir-generic ttir-layout
    #t = #tt.operand_constraint<any_device_tile>
    func.func @add(%arg0: tensor<33x70xf32>, %arg1: tensor<33x70xf32>) -> tensor<33x70xf32> {
      %0 = tensor.empty() : tensor<33x70xf32>
      %1 = "ttir.add"(%arg0, %arg1, %0) <{operandSegmentSizes = array<i32: 2, 1>,
          operand_constraints = [#t, #t, #t]}>
          : (tensor<33x70xf32>, tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
      return %1 : tensor<33x70xf32>
    }

After:

    ...
        ^bb0(%arg2: tensor<64x96xf32, #tt.buffer<memref<2x3x!tt.tile<32x32, f32>, #dram>, alias>>,
        ...):
          %8 = arith.addf %arg2, %arg3
              : tensor<64x96xf32, #tt.buffer<memref<2x3x!tt.tile<32x32, f32>, #dram>, alias>>
          "ttir.yield"(%8)
              : (tensor<64x96xf32, #tt.buffer<memref<2x3x!tt.tile<32x32, f32>, #dram>, alias>>)
              -> ()
        }) : (tensor<33x70xf32, #layout1>, tensor<33x70xf32, #layout1>,
              tensor<33x70xf32, #layout1>) -> tensor<33x70xf32, #layout1>
        ...

Requires: layouts on the operands of every `ttir.generic` (`ttir-layout`).
Ensures: block arguments, and values of the same types in the body, are shards in buffers.
Options: none.
Not done here: the operands stay tensors with layouts; a body that has buffers stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import ArrayAttr, ModuleOp, TensorType
from xdsl.ir import Attribute

from ttmlir.dialects import tt, ttir
from ttmlir.dialects.definition.ods import DestinationStyleOp
from ttmlir.ir.rewriting import refuse
from ttmlir.ir.tensor_types import layout_of, value_shape
from ttmlir.layout.enums import BufferAccess, IteratorType
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.tensor_layout import TensorLayout
from ttmlir.mlir.xdsl_internals import retype
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context


@dataclass(frozen=True)
class TTIRGenericRegionOperandsToMemrefPass(ModulePass):
    """Let the body of a `ttir.generic` work on the shard that one core holds."""

    name = "ttir-generic-region-operands-to-memref"
    title = "TTIRGenericRegionOperandsToMemref"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Retype the bodies of all generics of the module."""
        for op in module.walk():
            if isinstance(op, ttir.GenericOp):
                _retype_body(op)


def _retype_body(generic: ttir.GenericOp) -> None:
    block = generic.body.block
    if not block.args or not _is_whole_tensor(block.args[0].type):
        return
    shards: dict[Attribute, Attribute] = {}
    for number, argument in enumerate(block.args):
        old = argument.type
        shards[old] = _shard_type(generic, number)
        retype(argument, shards[old])
    for op in block.walk():
        if isinstance(op, DestinationStyleOp):
            for result, init in zip(op.results, op.inits, strict=True):
                retype(result, init.type)
        elif op.operands:
            for result in op.results:
                retype(result, shards.get(result.type, result.type))


def _is_whole_tensor(type_: Attribute) -> bool:
    """True for a tensor that is no shard in a buffer, with a layout or without."""
    if not isinstance(type_, TensorType):
        return False
    return not isinstance(cast("TensorType[Attribute]", type_).encoding, tt.BufferAttr)


def _shard_type(generic: ttir.GenericOp, number: int) -> Attribute:
    """A shard of an operand in its buffer; of extent 1 where the operand broadcasts."""
    operand = generic.operands[number]
    type_ = cast("TensorType[Attribute]", operand.type)
    layout = _layout(generic, number)
    output = _layout(generic, generic.init_range[0])
    memref = cast("tt.LayoutAttr", type_.encoding).memref
    buffer = tt.BufferAttr(memref, tt.BufferAccessAttr.of(BufferAccess.ALIAS))
    extents = layout.scalar_shard
    kinds = cast("ArrayAttr[tt.IteratorTypeAttr]", generic.properties["iterator_types"])
    if all(kind.data is IteratorType.PARALLEL for kind in kinds):
        rows = layout.physical_shape(type_.get_shape())
        all_rows = output.physical_shape(value_shape(generic.output))
        extents = [
            1 if extent == 1 < whole else length
            for extent, whole, length in zip(rows, all_rows, extents, strict=True)
        ]
    return TensorType(type_.element_type, extents, buffer)


def _layout(generic: ttir.GenericOp, number: int) -> TensorLayout:
    try:
        layout = layout_of(generic.operands[number].type)
    except LayoutError as error:
        refuse(generic, f"operand #{number} has no shards: {error}")
    if layout is None:
        refuse(generic, f"operand #{number} has no layout; run ttir-layout before")
    return layout
