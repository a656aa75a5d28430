"""`ttir.generic` as a kernel that computes tile by tile on each core's shards."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import MemRefType, TensorType
from xdsl.ir import Attribute, BlockArgument, SSAValue

from ttmlir.dialects import tt, ttir, ttmetal
from ttmlir.dialects.definition.names import REFERENCE
from ttmlir.dialects.ttkernel import CBType, TensixConfig, TensixConfigAttr
from ttmlir.ir.kernel_builder import KernelBuilder
from ttmlir.ir.layouts import layout_of
from ttmlir.ir.rewriting import refuse
from ttmlir.ir.tensor_types import value_shape
from ttmlir.layout.affine import AffineMap, constant, dims
from ttmlir.layout.data_movement import PlacedTensor
from ttmlir.layout.device import DeviceView
from ttmlir.layout.element_type import DEFAULT_TILE_SHAPE, ScalarType
from ttmlir.layout.enums import CBPort, DataType, MemorySpace
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.tensor_layout import TensorLayout
from ttmlir.optable.kernel.tile_calls import TILE_CALLS
from ttmlir.passes.tiles.register_calls import Buffer, Place, TileCall
from ttmlir.passes.ttmetal.convert_ttir_to_ttmetal_reference import reference_of
from ttmlir.passes.ttmetal.convert_ttir_to_ttmetal_tiles import (
    TileCompiler,
    TileProgram,
    conversion,
    element_type,
    operands_of,
    operation_of,
)
from ttmlir.passes.ttmetal.dispatch_builder import Launch, replace_by_dispatch

Shape = tuple[int, ...]

_FLOATS = (DataType.F32, DataType.F16, DataType.BF16)
_FORMATS = (*_FLOATS, DataType.U32, DataType.U16, DataType.U8)
_HALF_TILE = 2048
"""Bytes of a tile of 16-bit numbers."""
_REGISTERS = 8
"""Tiles of 16-bit numbers in the half of DST that the vector unit works on
(tt-isa-documentation, WormholeB0/TensixTile/TensixCoprocessor/Dst.md)."""
_WIDE_REGISTERS = 4
"""Tiles of 32-bit numbers there."""
_PORTS = 8
"""Circular buffers that a kernel has for inputs, and as many for outputs."""


def compute(
    op: ttir.GenericOp, address_of: Callable[[SSAValue], int], device: DeviceView, *, wide: bool
) -> None:
    """Replace a generic by a kernel that runs its body on one tile after the other.

    `wide`: keep 32 bits of floating-point numbers also where tt-mlir does not.

    LayoutError if its operands do not lie alike, as tiles, in L1, or if the body has no kernel.
    """
    if len(op.inits) != 1:
        refuse(op, f"has {len(op.inits)} outputs; kernels compute one")
    layouts = _layouts(op)
    device.check_grid(layouts[-1].grid)
    call = _matrix_call(op, layouts)
    if call is None:
        program = TileCompiler(op).compile()
        config = _config(program, layouts)
        kernel = KernelBuilder(op.location, _buffers(op, address_of))
        _write_program(kernel, program, [layout.shard for layout in layouts])
    else:
        is_f32 = layouts[-1].scalar_element.data_type is DataType.F32
        config = TensixConfig(fp32_dest_acc_en=wide and is_f32)
        kernel = KernelBuilder(op.location, _buffers(op, address_of))
        _write_matrix_call(kernel, *call, layouts[-1].shard)
    # A generic is made before its operands have layouts; these know the grid.
    area = ttmetal.Area((0, 0), layouts[-1].grid.shape)
    reference = reference_of(op)
    dispatch = replace_by_dispatch(
        op, op.inputs, op.inits, [Launch(kernel, area, TensixConfigAttr(config))]
    )
    if reference is not None:
        dispatch.attributes[REFERENCE] = reference


def convert_tiles(
    op: ttir.ToLayoutOp, source: PlacedTensor, target: PlacedTensor, device: DeviceView
) -> None:
    """Replace a change of the number format of tiles by a kernel on every core of the grid.

    LayoutError if the tiles are not in a format that kernels compute with.
    """
    for layout in (source.layout, target.layout):
        _check_tiles(layout)
    device.check_grid(source.layout.grid)
    ports = (CBPort.IN0, CBPort.OUT0)
    buffers = [
        CBType.get(port, tensor.address, tt.LayoutAttr.from_tensor_layout(tensor.layout).memref)
        for port, tensor in zip(ports, (source, target), strict=True)
    ]
    layouts = [source.layout, target.layout]
    values = (*op.inputs, op.output)
    program = conversion(*map(_numbers, values, layouts))
    kernel = KernelBuilder(op.location, buffers)
    _write_program(kernel, program, [layout.shard for layout in layouts])
    area = ttmetal.Area((0, 0), source.layout.grid.shape)
    config = TensixConfigAttr(_config(program, layouts))
    replace_by_dispatch(op, op.inputs, op.inits, [Launch(kernel, area, config)])


def _numbers(value: SSAValue, layout: TensorLayout) -> ScalarType:
    """The numbers of a tensor's tiles; its element type says if integers have a sign."""
    element = element_type(value)
    stored = layout.scalar_element
    return element if element.data_type is stored.data_type else stored


# --- Kernels -------------------------------------------------------------------------------------


def _matrix_call(
    op: ttir.GenericOp, layouts: Sequence[TensorLayout]
) -> tuple[str, list[int]] | None:
    """The call of the matrix unit that computes a body, and the inputs that it takes.

    The matrix unit rounds 32-bit numbers; sums and products that tt-mlir makes kernels for are
    computed by it all the same.
    """
    first, *others = op.body.block.ops
    call = TILE_CALLS[operation_of(first)].matrix_unit if operation_of(first) else ""
    rounds = any(layout.element.size_bytes != _HALF_TILE for layout in layouts)
    if (
        not call
        or len(others) != 1
        or (rounds and not isinstance(first, arith.AddfOp | arith.MulfOp))
    ):
        return None
    positions = [
        operand.index for operand in operands_of(first) if isinstance(operand, BlockArgument)
    ]
    alike = all(layout == layouts[-1] for layout in layouts)
    floats = layouts[-1].scalar_element.data_type in _FLOATS
    is_computed = len(positions) == 2 and max(positions) < len(op.inputs) and alike and floats
    is_yielded = tuple(others[0].operands) == tuple(first.results)
    return (call, positions) if is_computed and is_yielded else None


def _write_matrix_call(
    kernel: KernelBuilder, call: str, positions: Sequence[int], shard: Shape
) -> None:
    """One call of the matrix unit on the tiles of two buffers."""
    lhs, rhs = (kernel.buffers[position] for position in positions)
    out = kernel.buffers[-1]
    kernel.call("binary_op_init_common", lhs, rhs, out)
    kernel.call(f"{call}_init", lhs, rhs)

    def on_tile(places: Sequence[SSAValue]) -> None:
        (index,) = places
        kernel.call("tile_regs_acquire")
        kernel.call(call, lhs, rhs, index, index, 0)
        _pack(kernel, 0, index)

    kernel.walk(shard, [_strides(shard, shard)], [kernel.constant(0)], on_tile)


def _write_program(kernel: KernelBuilder, program: TileProgram, shapes: Sequence[Shape]) -> None:
    """Tiles are copied to DST, where the vector unit works on them."""
    out = Buffer(len(shapes) - 1)
    operands = (operand for call in program.calls for operand in call.operands)
    first = next((operand for operand in operands if isinstance(operand, Buffer)), out)
    kernel.call("init_sfpu", kernel.buffers[first.number], kernel.buffers[out.number])
    writer = _CallWriter(kernel, program, shapes)
    writer.prepare()

    def on_tile(places: Sequence[SSAValue]) -> None:
        kernel.call("tile_regs_acquire")
        writer.write(places)
        _pack(kernel, program.result, writer.place(out.number, places))

    strides = [_strides(shape, shapes[-1]) for shape in writer.walked]
    kernel.walk(shapes[-1], strides, [kernel.constant(0)] * len(strides), on_tile)


def _pack(kernel: KernelBuilder, slot: int, place: SSAValue) -> None:
    """Hand the registers over and pack a tile of them."""
    kernel.call("tile_regs_commit")
    kernel.call("tile_regs_wait")
    kernel.call("pack_tile", slot, kernel.buffers[-1], place)
    kernel.call("tile_regs_release")


def _config(program: TileProgram, layouts: Sequence[TensorLayout]) -> TensixConfig:
    """32-bit registers for tiles of 32-bit numbers, which copies that do not spread keep whole."""
    is_wide = program.is_wide or any(layout.element.size_bytes > _HALF_TILE for layout in layouts)
    most = _WIDE_REGISTERS if is_wide else _REGISTERS
    if program.tiles > most:
        raise LayoutError(
            f"has a body that needs {program.tiles} tiles of DST at once, which holds {most} of "
            "this format; compute it in several generics"
        )
    return TensixConfig(
        fp32_dest_acc_en=is_wide, preserve_fp32_precision=is_wide and not program.spreads
    )


class _CallWriter:
    """Writes the calls of a program, each after the one that prepares it.

    What prepares all calls of a unit stands before the loop.
    """

    def __init__(self, kernel: KernelBuilder, program: TileProgram, shapes: Sequence[Shape]):
        """Write to a kernel whose buffers have these shapes, in tiles."""
        self._kernel = kernel
        self._program = program
        self._shapes = shapes
        walked = (shape for shape in shapes if math.prod(shape) > 1 or shape == shapes[-1])
        self.walked = list(dict.fromkeys(walked))
        """Shapes that need a place of their own."""
        self._shared: dict[bool, TileCall | None] = {}

    def prepare(self) -> None:
        """Write what prepares all calls of a unit."""
        for unpacks in (True, False):
            inits = {call.init: None for call in self._program.calls if call.unpacks is unpacks}
            shared = next(iter(inits)) if len(inits) == 1 else None
            self._shared[unpacks] = shared
            if shared is not None:
                self._write(shared, ())

    def write(self, places: Sequence[SSAValue]) -> None:
        """Write the calls for one tile."""
        last = dict(self._shared)
        for call in self._program.calls:
            if call.init is not None and call.init != last[call.unpacks]:
                self._write(call.init, places)
                last[call.unpacks] = call.init
            self._write(call, places)

    def place(self, number: int, places: Sequence[SSAValue]) -> SSAValue:
        """Where the tile in hand is in a buffer."""
        shape = self._shapes[number]
        if shape not in self.walked:
            return self._kernel.constant(0)
        return places[self.walked.index(shape)]

    def _write(self, call: TileCall, places: Sequence[SSAValue]) -> None:
        operands: list[SSAValue | float] = []
        for operand in call.operands:
            match operand:
                case Buffer(number):
                    operands.append(self._kernel.buffers[number])
                case Place(Buffer(number)):
                    operands.append(self.place(number, places))
                case _:
                    operands.append(operand)
        self._kernel.call(call.mnemonic, *operands, **dict(call.templates))


def _strides(shape: Shape, extents: Shape) -> list[int]:
    """Distance of neighbours along each dimension, 0 where the loops go on and the buffer ends."""
    strides = [math.prod(shape[depth + 1 :]) for depth in range(len(shape))]
    return [
        0 if here == 1 < there else stride
        for here, there, stride in zip(shape, extents, strides, strict=True)
    ]


# --- Operands ------------------------------------------------------------------------------------


def _layouts(op: ttir.GenericOp) -> list[TensorLayout]:
    """The layouts of inputs and output, which lie alike, as tiles, in L1."""
    operands = (*op.inputs, op.output)
    layouts = [layout for value in operands if (layout := layout_of(value.type)) is not None]
    if len(layouts) < len(operands):
        raise LayoutError("operands without layouts have no shards; run ttir-layout before")
    output = layouts[-1]
    for layout, argument, value in zip(layouts, op.body.block.args, operands, strict=True):
        _check_tiles(layout)
        whole = _is_whole(argument, op.output_argument)
        expected = _without_outer(output, value_shape(op.output), value_shape(value))
        if whole and layout.with_element(output.element) != expected:
            raise LayoutError(
                "operands have different layouts; bring them into one by ttir.to_layout"
            )
        if layout.grid != output.grid or not (whole or output.grid.volume == 1):
            raise LayoutError(
                "operands have different grids or broadcast on several cores; bring them to one "
                "core by ttir.to_layout"
            )
    return layouts


def _without_outer(layout: TensorLayout, shape: Shape, inner: Shape) -> TensorLayout:
    """The layout of a tensor, as that of a tensor without its outer dimensions of extent 1."""
    count = len(shape) - len(inner)
    if count <= 0 or shape[count:] != inner or math.prod(shape[:count]) > 1:
        return layout
    outer = (constant(0),) * count
    linear = layout.linear.compose(AffineMap(len(inner), 0, (*outer, *dims(len(inner)))))
    return replace(layout, linear=linear)


def _is_whole(argument: SSAValue, output: SSAValue) -> bool:
    return value_shape(argument) == value_shape(output)


def _check_tiles(layout: TensorLayout) -> None:
    tile = layout.tile
    if layout.memory_space is not MemorySpace.DEVICE_L1 or tile is None:
        raise LayoutError(
            f"operands are {layout.element} in {layout.memory_space.keyword}; kernels compute on "
            "tiles in l1"
        )
    if tile.data_type not in _FORMATS or tile.shape != DEFAULT_TILE_SHAPE:
        formats = ", ".join(data_type.keyword for data_type in _FORMATS)
        raise LayoutError(f"operands are {tile}; kernels compute on tiles of 32x32 of {formats}")


def _buffers(op: ttir.GenericOp, address_of: Callable[[SSAValue], int]) -> list[CBType]:
    if len(op.inputs) > _PORTS:
        refuse(op, f"has {len(op.inputs)} inputs; a kernel has at most {_PORTS}")
    ports = [CBPort(CBPort.IN0 + number) for number in range(len(op.inputs))]
    ports.append(CBPort.OUT0)
    operands = (*op.inputs, op.output)
    return [
        CBType.get(port, address_of(operand), _memref(op, argument.type))
        for port, operand, argument in zip(ports, operands, op.body.block.args, strict=True)
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
