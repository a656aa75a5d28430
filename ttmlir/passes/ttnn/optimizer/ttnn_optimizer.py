"""Give operations of ttnn the layouts and configurations that options name by location.

Before:

    // Options: override-output-layout=sum=1x2:l1:width_sharded insert-memreconfig=sum=0
    #dram = #ttnn.buffer_type<dram>
    #l = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x2x!ttcore.tile<32x32, f32>, #dram>,
        <interleaved>>
    module {
      ttcore.device @default_device = <workerGrid = #ttcore.grid<8x8, (d0, d1) -> (0, d0, d1)>,
          l1Map = (d0, d1)[s0, s1] -> (0, d0 floordiv s0, d1 floordiv s1, (d0 mod s0) * s1
          + d1 mod s1), dramMap = (d0, d1)[s0, s1] -> (0, 0, 0, d0 * s1 + d1), meshShape = ,
          chipIds = [0]>
      func.func @main(%a: tensor<5x40xf32, #l>) -> tensor<5x40xf32, #l> {
        %0 = "ttnn.exp"(%a) : (tensor<5x40xf32, #l>) -> tensor<5x40xf32, #l> loc("sum")
        return %0 : tensor<5x40xf32, #l>
      }
    }

After:

    ...
        %0 = "ttnn.to_tensor_spec"(%arg0)
            : (tensor<5x40xf32, #ttnn_layout>) -> tensor<5x40xf32, #ttnn_layout1>
        %1 = "ttnn.exp"(%0)
            : (tensor<5x40xf32, #ttnn_layout1>) -> tensor<5x40xf32, #ttnn_layout1>
        %2 = "ttnn.to_tensor_spec"(%1)
            : (tensor<5x40xf32, #ttnn_layout1>) -> tensor<5x40xf32, #ttnn_layout>
        return %2 : tensor<5x40xf32, #ttnn_layout>
        ...

Requires: ttnn of 2026, with layouts, and a `ttcore.device`.
Ensures: the operations at the locations have what the options name; what is not named stays.
Elementwise operations, and those that an option names, take what others make in L1; for all else it
is moved back. What an option says of a location that no operation has is a warning.
Options: `override-output-layout`: memory, grid, page layout and format of a result;
`insert-memreconfig`: operands that are moved to where the result of their operation is;
`override-conv2d-config`, `override-conv3d-config`: fields of the configurations of convolutions.
Not done here: what no option names; constants, whose formats are `override-weight-dtype`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import ModuleOp, TensorType

from ttmlir.dialects.ttcore import device_of
from ttmlir.dialects.ttnn.attrs import TTNNLayoutAttr
from ttmlir.ir.rewriting import refuse
from ttmlir.ir.ttnn_types import location_of, set_type
from ttmlir.layout.data_format import BLOCK_FLOATS
from ttmlir.layout.enums import DataType
from ttmlir.layout.errors import LayoutError
from ttmlir.mlir.option_values import option
from ttmlir.mlir.reporting import override_name
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.placement.layout_overrides import (
    LAYOUT_OVERRIDES,
    LayoutOverride,
    LayoutOverrides,
    warn_of_unknown_names,
)
from ttmlir.passes.ttnn.optimizer.optimizer_options import (
    CONV2D_CONFIGS,
    CONV3D_CONFIGS,
    RESHARDS,
    Configs,
    Reshards,
)
from ttmlir.passes.ttnn.optimizer.spread_layouts import (
    format_of,
    is_elementwise,
    move,
    shard_bytes,
    type_in,
    usable_l1_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.context import Context
    from xdsl.ir import Attribute, Operation

    from ttmlir.layout.tensor_layout import TensorLayout

_CONVOLUTIONS = {
    "ttnn.conv2d": "conv2d_config",
    "ttnn.conv_transpose2d": "conv2d_config",
    "ttnn.conv3d": "conv3d_config",
}


@dataclass(frozen=True)
class TTNNOptimizerPass(ModulePass):
    """Give operations of ttnn the layouts and configurations that options name by location."""

    name = "ttnn-optimizer"
    title = "TTNNOptimizer"
    override_output_layout: LayoutOverrides = option(
        (),
        "Layouts of the results of the operations at these locations",
        type=LAYOUT_OVERRIDES,
    )
    insert_memreconfig: Reshards = option(
        (), "Operands that are moved to where the results are", type=RESHARDS
    )
    override_conv2d_config: Configs = option(
        (), "Fields of the configurations of the convolutions there", type=CONV2D_CONFIGS
    )
    override_conv3d_config: Configs = option(
        (), "Fields of the configurations of the convolutions of volumes", type=CONV3D_CONFIGS
    )

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Set layouts, move operands, configure."""
        ops = [op for op in module.walk() if _makes_tensor(op)]
        for option_name, applies, pairs in (
            ("override-output-layout", _makes_tensor, self.override_output_layout),
            ("insert-memreconfig", _makes_tensor, self.insert_memreconfig),
            ("override-conv2d-config", _takes_conv2d_config, self.override_conv2d_config),
            ("override-conv3d-config", _takes_conv3d_config, self.override_conv3d_config),
        ):
            warn_of_unknown_names(option_name, module, applies, pairs)
        layouts, reshards = dict(self.override_output_layout), dict(self.insert_memreconfig)
        volumes, images = dict(self.override_conv3d_config), dict(self.override_conv2d_config)
        placed: list[tuple[Operation, Attribute]] = []
        for op in ops:
            name = override_name(op.location)
            if name is None:
                continue
            if name in layouts:
                placed.append((op, op.results[0].type))
                _place(op, layouts[name])
            if op.name in _CONVOLUTIONS:
                configure(op, (volumes if op.name == "ttnn.conv3d" else images).get(name, ()))
        for op, given in placed:
            _restore(op, given, {*layouts, *reshards})
        for op in ops:
            indices = reshards.get(override_name(op.location) or "")
            if indices is not None:
                _reshard(op, indices)


_MOVES = ("ttnn.to_layout", "ttnn.to_memory_config", "ttnn.to_tensor_spec", "ttnn.to_device")
"""Operations at the locations of others that only bring tensors there."""


def _makes_tensor(op: Operation) -> bool:
    """True for what computes a tensor from others.

    Constants are not: many are at the location of what they are weights of, and stay as they are.
    """
    return (
        op.name.startswith("ttnn.")
        and op.name not in _MOVES
        and bool(op.results)
        and isinstance(op.results[0].type, TensorType)
        and any(isinstance(each.type, TensorType) for each in op.operands)
    )


def _takes_conv2d_config(op: Operation) -> bool:
    return _CONVOLUTIONS.get(op.name) == "conv2d_config"


def _takes_conv3d_config(op: Operation) -> bool:
    return _CONVOLUTIONS.get(op.name) == "conv3d_config"


_RESULT_FORMATS = (DataType.F32, DataType.BF16, *BLOCK_FLOATS)
"""Formats that results get instead of their own; the library computes floats in them."""


def _place(op: Operation, override: LayoutOverride) -> None:
    """Give the result of an operation the layout that an option names."""
    type_ = op.results[0].type
    layout = cast("TensorType[Attribute]", type_).encoding
    device = device_of(op)
    if not isinstance(layout, TTNNLayoutAttr) or device is None:
        refuse(op, "has no layout of ttnn, or no device; run ttnn-layout before")
    asked = f"cannot take '{override}' of override-output-layout"
    shape, workers = cast("Any", type_).get_shape(), device.worker_grid.data.shape
    try:
        place: TensorLayout = override.apply(shape, layout.tensor_layout)
        given, wanted = format_of(layout.tensor_layout), format_of(place)
        if wanted is not given and wanted not in _RESULT_FORMATS:
            formats = ", ".join(each.keyword for each in _RESULT_FORMATS)
            raise LayoutError(
                f"the result is {given.keyword}, which cannot become {wanted.keyword}: take one of "
                f"{formats}"
            )
        new = type_in(type_, place, workers)
    except LayoutError as error:
        refuse(op, f"{asked}: {error}")
    grid = place.grid.shape
    outside = place.memory_layout.keyword == "block_sharded" and any(
        extent > most for extent, most in zip(grid, workers, strict=True)
    )
    if outside or math.prod(grid) > math.prod(workers):
        cores = "x".join(map(str, workers))
        refuse(op, f"{asked}: the device has {cores} = {math.prod(workers)} cores")
    usable, stored = usable_l1_of(op), shard_bytes(new)
    if place.is_sharded and usable is not None and stored > usable:
        refuse(
            op,
            f"{asked}: each core would hold {stored} bytes, and its L1 has {usable}; take more "
            "cores, or dram",
        )
    set_type(op.results[0], new)


def _restore(op: Operation, given: Attribute, named: set[str]) -> None:
    """Move a result back for those who want it where it was."""
    value = op.results[0]
    takes_memory = _stored_alike(value.type, given)
    users = [
        use
        for use in value.uses
        if not (
            takes_memory
            and use.operation.name.startswith("ttnn.")
            and (is_elementwise(use.operation) or override_name(use.operation.location) in named)
        )
    ]
    after = op.next_op
    if users and after is not None and value.type != given:
        back = move(value, given, after, op.location)
        for use in users:
            use.operation.operands[use.index] = back


def _stored_alike(first: Attribute, second: Attribute) -> bool:
    """True for types of tensors with the same elements, tiled or not."""
    one, other = (cast("TensorType[Attribute]", each).encoding for each in (first, second))
    return (
        isinstance(one, TTNNLayoutAttr)
        and isinstance(other, TTNNLayoutAttr)
        and one.memref.element_type == other.memref.element_type
    )


def _reshard(op: Operation, indices: Sequence[int]) -> None:
    """Move operands to where the result is; each keeps its shape and elements."""
    place = cast("TensorType[Attribute]", op.results[0].type).encoding
    device = device_of(op)
    if not isinstance(place, TTNNLayoutAttr) or device is None:
        refuse(op, "has no layout of ttnn, or no device; run ttnn-layout before")
    for index in indices:
        if index >= len(op.operands) or not isinstance(op.operands[index].type, TensorType):
            refuse(
                op,
                f"has no tensor as operand {index}, which insert-memreconfig names; its operands "
                f"are 0 to {len(op.operands) - 1}",
            )
        value = op.operands[index]
        new = type_in(value.type, place.tensor_layout, device.worker_grid.data.shape)
        op.operands[index] = move(value, new, op, location_of(value))


def configure(op: Operation, chosen: Sequence[tuple[str, Any]]) -> None:
    """Set fields of the configuration of a convolution; the others stay."""
    from ttmlir.dialects.ttnn.attrs import TensorMemoryLayoutAttr
    from ttmlir.dialects.ttnn.configs import Conv2dConfigAttr, Conv3dConfigAttr, UnaryWithParamAttr

    if not chosen:
        return
    cls = Conv3dConfigAttr if op.name == "ttnn.conv3d" else Conv2dConfigAttr
    config = op.properties.get(_CONVOLUTIONS[op.name])
    fields = dict(config.data) if isinstance(config, cls) else {}
    for name, value in chosen:
        match name:
            case "activation":
                fields[name] = UnaryWithParamAttr((("op_type", value),))
            case "shard_layout":
                fields[name] = TensorMemoryLayoutAttr(value)
            case _:
                fields[name] = value
    op.properties[_CONVOLUTIONS[op.name]] = cls(
        tuple((name, fields[name]) for name in cls.FIELDS if name in fields)
    )
