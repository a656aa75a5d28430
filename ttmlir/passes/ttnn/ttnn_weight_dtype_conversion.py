"""Keep the weights of products in narrower formats.

A weight is the second operand of a product that nothing computes: an argument of the function
or a constant, moved at most. On its way to the device, or in the operation that moves it last, it
gets tiles of another format. The product is as wide as before. In ttnn of 2026 a `ttnn.typecast`
converts it, and what `ttcore.weight_dtype` of a product says goes before the option.

Before:

    // Options: target-dtype=bfp_bf8
    // After ttir-load-system-desc ttir-implicit-device ttir-layout convert-ttir-to-ttnn
    #d = #tt.operand_constraint<dram|scalar|any_layout>
    func.func @product(%arg0: tensor<33x70xf32>, %arg1: tensor<70x5xf32>) -> tensor<33x5xf32> {
      %0 = tensor.empty() : tensor<33x5xf32>
      %1 = "ttir.matmul"(%arg0, %arg1, %0) <{operand_constraints = [#d, #d, #d]}>
          : (tensor<33x70xf32>, tensor<70x5xf32>, tensor<33x5xf32>) -> tensor<33x5xf32>
      return %1 : tensor<33x5xf32>
    }

After:

    ...
    #layout4 = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>,
        memref<3x1x!tt.tile<32x32, bfp_bf8>, #dram>, interleaved>
    ...
        %3 = "ttnn.to_layout"(%arg1, %0) <{layout = #ttnn.layout<tile>}>
            : (tensor<70x5xf32, #layout1>, !tt.device<#device>) -> tensor<70x5xf32, #layout4>
        %4 = "ttnn.to_device"(%3, %0)
            <{memory_config = #ttnn.memory_config<<interleaved>, <dram>>}>
            : (tensor<70x5xf32, #layout4>, !tt.device<#device>) -> tensor<70x5xf32, #layout4>
        ...

Requires: layouts on all tensors.
Ensures: weights on the device are in the format that is asked for, as far as products alone use
them.
Options: `target-dtype` (bf16, bfp_bf8, bfp_bf4), and `override-weight-dtype`
(`name=bfp_bf8,name=bf16`) for products picked by the name of their location, with a warning for
names that no operation has.
Not done here: weights of convolutions, which the library prepares by itself, and integers. A weight
that an operation other than a product reads, too, stays as it is where it is not moved for each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, SSAValue

from ttmlir.dialects import ttnn
from ttmlir.dialects.definition.table_ops import TableOperation
from ttmlir.ir.rewriting import arguments_behind
from ttmlir.ir.tensor_types import layout_of, scalar_of, with_layout
from ttmlir.ir.ttnn_types import as_tiles_of
from ttmlir.ir.ttnn_values import TTNNValueBuilder
from ttmlir.layout.data_format import DEFAULT_TILE_SHAPE, TileFormat
from ttmlir.layout.enums import DataType
from ttmlir.mlir.option_values import option
from ttmlir.mlir.reporting import override_name
from ttmlir.mlir.xdsl_internals import retype
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.general.const_eval_hoist_transform import is_fixed
from ttmlir.passes.placement.layout_overrides import (
    WEIGHT_DTYPE,
    WEIGHT_DTYPES,
    WEIGHT_DTYPES_BY_NAME,
    WeightDtypes,
    warn_of_unknown_names,
)
from ttmlir.passes.ttir.element_types.ttir_propagate_weight_dtype import (
    WEIGHT_DTYPE as WEIGHT_DTYPE_ATTRIBUTE,
)
from ttmlir.passes.ttir.element_types.ttir_propagate_weight_dtype import (
    WEIGHTED,
    keyword_of_weight,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from xdsl.context import Context

_FLOATS = frozenset({DataType.F32, DataType.F16, DataType.BF16})
_MOVES = (ttnn.ToLayoutOp, ttnn.ToDeviceOp, ttnn.ToMemoryConfigOp)
_LATE_PRODUCTS = frozenset(f"ttnn.{name}" for name in WEIGHTED)


@dataclass(frozen=True)
class TTNNWeightDtypeConversionPass(ModulePass):
    """Keep the weights of products in narrower formats."""

    name = "ttnn-weight-dtype-conversion"
    title = "TTNNWeightDtypeConversion"
    target_dtype: DataType | None = option(None, "Format of weights", type=WEIGHT_DTYPE)
    override_weight_dtype: WeightDtypes = option(
        (), "Formats of the weights of products at these locations", type=WEIGHT_DTYPES_BY_NAME
    )

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Convert the weights of every product of the module."""
        from ttmlir.passes.core.value_form import is_value_form

        by_name = dict(self.override_weight_dtype)
        ops = list(module.walk())
        is_late = is_value_form(module)
        # Weights of convolutions are converted where they are prepared.
        takers = {*_LATE_PRODUCTS, "ttnn.conv2d"} if is_late else {"ttnn.matmul"}
        warn_of_unknown_names(
            "override-weight-dtype",
            module,
            lambda op: op.name in takers,
            self.override_weight_dtype,
        )
        if is_late:
            self._convert_values(ops, by_name)
            return
        wanted: dict[Operation, DataType] = {}
        for op in ops:
            if isinstance(op, ttnn.TTNNTableOp) and op.DEFINITION.mnemonic == "matmul":
                dtype = by_name.get(override_name(op.location) or "", self.target_dtype)
                if dtype is not None and _is_weight(op.operands[1]):
                    wanted[op] = dtype
        for op, dtype in wanted.items():
            _convert(op.operands[1], dtype, wanted)

    def _convert_values(self, ops: list[Operation], by_name: Mapping[str, DataType]) -> None:
        made: dict[tuple[SSAValue, DataType], SSAValue] = {}
        for op in [op for op in ops if op.name in _LATE_PRODUCTS]:
            dtype = by_name.get(override_name(op.location) or "", self.target_dtype)
            said = keyword_of_weight(op, op.attributes.get(WEIGHT_DTYPE_ATTRIBUTE))
            if said is not None:
                dtype = next(each for each in WEIGHT_DTYPES if each.keyword == said)
            weight = op.operands[1]
            narrow = None if dtype is None else as_tiles_of(weight.type, dtype)
            if dtype is None or narrow is None or narrow == weight.type or not _is_fixed(weight):
                continue
            if (weight, dtype) not in made:
                made[weight, dtype] = TTNNValueBuilder.before(op).typecast(weight, narrow)
            op.operands[1] = made[weight, dtype]


def _is_fixed(value: SSAValue) -> bool:
    """True for what depends on nothing but parameters and constants."""
    for argument in arguments_behind(value):
        function = argument.block.parent_op()
        if not isinstance(function, FuncOp) or not is_fixed(function, argument.index):
            return False
    return True


def _is_weight(value: SSAValue) -> bool:
    """True for arguments and constants, as they are or moved."""
    while True:
        if isinstance(value, BlockArgument):
            return True
        assert isinstance(value, OpResult), "a value is an argument or a result"
        op = value.owner
        is_moving = isinstance(op, _MOVES) or (
            isinstance(op, TableOperation) and op.DEFINITION.moves
        )
        if is_moving and not isinstance(op, ttnn.CreationOp) and len(_inputs(op)) == 1:
            value = op.operands[0]
            continue
        return isinstance(op, ttnn.ConstantOp | ttnn.FullOp)


def _inputs(op: Operation) -> tuple[SSAValue, ...]:
    if isinstance(op, ttnn.TTNNTableOp):
        return op.inputs
    return (op.operands[0],)


def _convert(value: SSAValue, dtype: DataType, wanted: dict[Operation, DataType]) -> None:
    """Change the format of a weight where products alone read it, and all want the same."""
    if isinstance(value, BlockArgument) or not _reads_agree(value, dtype, wanted):
        return
    type_ = value.type
    layout = layout_of(type_)
    if layout is None or scalar_of(type_).data_type not in _FLOATS:
        return
    narrow = with_layout(type_, layout.with_element(TileFormat(*DEFAULT_TILE_SHAPE, dtype)))
    if narrow != type_:
        _retype(value, narrow)


def _reads_agree(value: SSAValue, dtype: DataType, wanted: dict[Operation, DataType]) -> bool:
    return all(
        isinstance(use.operation, ttnn.DeallocOp)
        or (use.index == 1 and wanted.get(use.operation) is dtype)
        for use in value.uses
    )


def _retype(value: SSAValue, type_: Attribute) -> None:
    """Let an operation give another type, and what belongs to it: its destination, and the layout
    that the host gives a tensor before it is moved."""
    retype(value, type_)
    op = value.owner
    if isinstance(op, ttnn.TTNNTableOp):
        for destination in op.inits:
            retype(destination, type_)
    source = op.operands[0] if isinstance(op, ttnn.ToDeviceOp) else None
    if source is not None and isinstance(source.owner, ttnn.ToLayoutOp) and source.has_one_use():
        retype(source, type_)
