"""`ttir.generic` as a kernel that computes tile by tile on each core's shards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NoReturn, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import MemRefType, TensorType
from xdsl.ir import Attribute, BlockArgument, SSAValue

from ttmlir.dialects import tt, ttir, ttmetal
from ttmlir.dialects.ttkernel import CBType, TensixConfig, TensixConfigAttr
from ttmlir.layout.device import Device
from ttmlir.layout.enums import CBPort, DataType, MemorySpace
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.tensor_layout import TensorLayout
from ttmlir.passes.kernel_building import Kernel, Launch, replace_by_dispatch
from ttmlir.passes.layouts import layout_of
from ttmlir.passes.rewriting import refuse

_CALLS: dict[type, str] = {arith.AddfOp: "add_tiles", arith.MulfOp: "mul_tiles"}
_FORMATS = (DataType.F32, DataType.F16, DataType.BF16)
_PORTS = 8
"""Circular buffers that a kernel has for inputs, and as many for outputs."""


def compute(op: ttir.GenericOp, address_of: Callable[[SSAValue], int], device: Device) -> None:
    """Replace a generic whose body is one sum or product by a kernel.

    LayoutError if its operands do not lie alike, as tiles, in L1.
    """
    call, positions = _body(op)
    layout = _common_layout(op.operands)
    device.check_grid(layout.grid)
    kernel = Kernel(op.location, _buffers(op, address_of))
    lhs, rhs = (kernel.buffers[position] for position in positions)
    out = kernel.buffers[-1]
    kernel.call("binary_op_init_common", lhs, rhs, out)
    kernel.call(f"{call}_init", lhs, rhs)

    def on_tile(index: SSAValue) -> SSAValue:
        kernel.call("tile_regs_acquire")
        kernel.call(call, lhs, rhs, index, index, 0)
        kernel.call("tile_regs_commit")
        kernel.call("tile_regs_wait")
        kernel.call("pack_tile", 0, out, index)
        kernel.call("tile_regs_release")
        return kernel.add(index, 1)

    _for_each_tile(kernel, layout.shard, kernel.constant(0), on_tile)
    # A generic is made before its operands have layouts; these know the grid.
    area = ttmetal.Area((0, 0), layout.grid.shape)
    launch = Launch(kernel, area, TensixConfigAttr(TensixConfig()))
    replace_by_dispatch(op, op.inputs, op.inits, [launch])


def _for_each_tile(
    kernel: Kernel, shard: Sequence[int], index: SSAValue, on_tile: Callable[[SSAValue], SSAValue]
) -> SSAValue:
    """Loops over a shard, which is contiguous, with one running index of its tiles."""
    if not shard:
        return on_tile(index)
    extent, *inner = shard
    return kernel.loop(extent, index, lambda at: _for_each_tile(kernel, inner, at, on_tile))


def _body(op: ttir.GenericOp) -> tuple[str, list[int]]:
    """The call that computes the body and the numbers of its operands."""
    ops = list(op.body.block.ops)
    call = _CALLS.get(type(ops[0])) if len(ops) == 2 and len(op.inits) == 1 else None
    if call is None:
        _refuse_body(op)
    positions = [
        operand.index
        for operand in ops[0].operands
        if isinstance(operand, BlockArgument) and operand.index < len(op.inputs)
    ]
    if len(positions) != 2 or tuple(ops[1].operands) != tuple(ops[0].results):
        _refuse_body(op)
    return call, positions


def _refuse_body(op: ttir.GenericOp) -> NoReturn:
    names = ", ".join(inner.name for inner in op.body.block.ops)
    refuse(
        op,
        f"has a body of {names} and {len(op.inits)} outputs; kernels are made of one arith.addf or "
        "arith.mulf of two inputs and the ttir.yield of its result",
    )


def _common_layout(operands: Sequence[SSAValue]) -> TensorLayout:
    layouts = [layout for value in operands if (layout := layout_of(value.type)) is not None]
    if len(layouts) < len(operands):
        raise LayoutError("operands without layouts have no shards; run ttir-layout before")
    layout = layouts[-1]
    if any(other != layout for other in layouts):
        raise LayoutError("operands have different layouts; bring them into one by ttir.to_layout")
    tile = layout.tile
    if layout.memory_space is not MemorySpace.DEVICE_L1 or tile is None:
        raise LayoutError(
            f"operands are {layout.element} in {layout.memory_space.keyword}; kernels compute on "
            "tiles in l1"
        )
    if tile.data_type not in _FORMATS:
        formats = ", ".join(data_type.keyword for data_type in _FORMATS)
        raise LayoutError(f"operands are {tile}; kernels compute on tiles of {formats}")
    return layout


def _buffers(op: ttir.GenericOp, address_of: Callable[[SSAValue], int]) -> list[CBType]:
    if len(op.inputs) > _PORTS:
        refuse(op, f"has {len(op.inputs)} inputs; a kernel has at most {_PORTS}")
    ports = [CBPort(CBPort.IN0 + number) for number in range(len(op.inputs))]
    ports.append(CBPort.OUT0)
    return [
        CBType.get(port, address_of(operand), _memref(op, argument.type))
        for port, operand, argument in zip(ports, op.operands, op.body.block.args, strict=True)
    ]


def _memref(op: ttir.GenericOp, type_: Attribute) -> MemRefType[Attribute]:
    encoding = cast("TensorType[Attribute]", type_).encoding if _is_tensor(type_) else None
    if not isinstance(encoding, tt.BufferAttr):
        refuse(
            op,
            "has a body that works on whole tensors; run ttir-generic-region-operands-to-memref "
            "before",
        )
    return encoding.memref


def _is_tensor(type_: Attribute) -> bool:
    return isinstance(type_, TensorType)
