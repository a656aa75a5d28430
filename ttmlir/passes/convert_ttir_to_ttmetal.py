"""Turn layout changes and generics into kernels that the host dispatches to cores.

A layout change becomes a host command (between host and device), copies over the network on chip
(another grid, linear map or memory) or a kernel that tilizes or untilizes (rows and tiles). A
`ttir.generic` becomes a kernel that computes tile by tile.

Before:

    // After ttir-load-system-desc ttir-implicit-device ttir-allocate
    #l1 = #tt.memory_space<l1>
    #one = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<1x96xf32, #l1>>
    #three = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x3>, memref<1x32xf32, #l1>>
    func.func @gather(%arg0: tensor<1x96xf32, #three>) -> tensor<1x96xf32, #one> {
      %0 = tensor.empty() : tensor<1x96xf32, #one>
      %1 = "ttir.to_layout"(%arg0, %0)
          : (tensor<1x96xf32, #three>, tensor<1x96xf32, #one>) -> tensor<1x96xf32, #one>
      return %1 : tensor<1x96xf32, #one>
    }

After:

    ...
        %0 = "ttmetal.alloc"() <{address = 1152 : i64, memory_space = #l1_, size = 384 : i64}>
            : () -> tensor<1x96xf32, #layout1>
        %1 = "ttmetal.dispatch"(%arg0, %0) <{core_ranges = [#ttmetal.core_range<0x0, 1x1>],
            kernelConfigs = [#ttkernel.noc_config<noc0>], operandSegmentSizes = array<i32: 1, 1>}>
            ({
          %c1408_i32 = arith.constant 1408 : i32
          ...
          %c1024_i32 = arith.constant 1024 : i32
          %c1152_i32 = arith.constant 1152 : i32
          %c128_i32 = arith.constant 128 : i32
          %2 = "ttkernel.get_noc_addr"(%c0_i32, %c0_i32, %c1024_i32)
              : (i32, i32, i32) -> !ttkernel.noc_addr
          "ttkernel.noc_async_read"(%2, %c1152_i32, %c128_i32)
              : (!ttkernel.noc_addr, i32, i32) -> ()
          ...
          "ttkernel.noc_async_read_barrier"() : () -> ()
          "ttkernel.return"() : () -> ()
        }) : (tensor<1x96xf32, #layout>, tensor<1x96xf32, #layout1>) -> tensor<1x96xf32, #layout1>
        return %1 : tensor<1x96xf32, #layout1>
        ...

Requires: addresses for all tensors (`ttir-allocate`), one change in each `ttir.to_layout`
(`ttir-split-compound-layout`), bodies of generics on shards
(`ttir-generic-region-operands-to-memref`), a device and a system description on the module.
Ensures: what is left are commands of the host, kernels and constants; an error names the first
other operation.
Options: `fp32-dest-acc-en` keeps 32-bit floating-point numbers whole in all kernels; by default
those that tt-mlir makes, too, are set up as there, where f32 passes through 16 bits.
Not done here: kernels of operations that are not elementwise; synchronisation of circular buffers,
which kernels on buffers that stay in place do without.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from dataclasses import replace as changed
from dataclasses import replace as dataclasses_replace
from typing import TYPE_CHECKING, NoReturn, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    TensorType,
    UnrealizedConversionCastOp,
    f64,
    i64,
)
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue

from ttmlir import optable
from ttmlir.dialects import tt, ttir, ttmetal
from ttmlir.dialects.definition.ods import (
    ARG_ALLOC,
    REFERENCE,
    SCRATCH,
    SEGMENTS,
    DestinationStyleOp,
    is_dps,
)
from ttmlir.dialects.tt import element_of
from ttmlir.dialects.tt.layout import element_of as layout_element_of
from ttmlir.dialects.ttkernel import (
    CBType,
    CircularBuffer,
    CircularBufferParameter,
    NocConfigAttr,
    TensixConfig,
    TensixConfigAttr,
)
from ttmlir.errors import plural
from ttmlir.ir.builder import Builder
from ttmlir.ir.constants import number_of_elements
from ttmlir.ir.kernel_builder import (
    WORKING,
    Buffer,
    KernelBuilder,
    Place,
    RegisterCalls,
    TileCall,
    format_name,
    is_float,
    is_short,
    steps_of,
)
from ttmlir.ir.rewriting import insert_before, refuse, refuse_foreign, replace
from ttmlir.ir.tensor_types import (
    is_boolean,
    layout_of,
    require_device,
    require_system_desc,
    value_shape,
)
from ttmlir.layout.affine import AffineMap, constant, dims
from ttmlir.layout.data_format import DEFAULT_TILE_SHAPE, ScalarType, TileFormat, row_major_strides
from ttmlir.layout.data_movement import (
    Copy,
    PlacedTensor,
    batches,
    network_unit,
    plan_copies,
    row_bytes,
)
from ttmlir.layout.device import DeviceView
from ttmlir.layout.enums import CBPort, DataType, MemorySpace, NocIndex
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.system import ChipDesc
from ttmlir.layout.tensor_layout import TensorLayout, shape_text
from ttmlir.mlir.attributes import Elements, splat_bytes
from ttmlir.mlir.option_values import option
from ttmlir.mlir.reporting import Diagnostic, warn
from ttmlir.optable.kernel.tile_calls import TILE_CALLS, Step
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context

    from ttmlir.mlir.attributes import ElementType


# --- Dispatch builder -----------------------------------------------------------------------------
# The `ttmetal.dispatch` that launches kernels.

_F32_IS_ROUNDED = (
    "kernels take tensors of f32 through fp16, as those of tt-mlir do: 11 bits of precision, and "
    "131008 in place of larger numbers, infinity and NaN; fp32-dest-acc-en=true has 32 bits"
)


@dataclass(frozen=True)
class Launch:
    """A kernel, the cores that it runs on and how they are set up."""

    kernel: KernelBuilder
    cores: ttmetal.Area
    config: Attribute


def replace_by_dispatch(
    op: Operation, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue], launches: list[Launch]
) -> ttmetal.DispatchOp:
    """Let kernels compute the results of an operation into `outputs`; what launches them."""
    if any(map(_rounds, launches)):
        warn(Diagnostic("warning", op.location, _F32_IS_ROUNDED))
    ranges = [ttmetal.CoreRangeAttr(launch.cores) for launch in launches]
    dispatch = ttmetal.DispatchOp.create(
        operands=[*inputs, *outputs],
        result_types=[output.type for output in outputs],
        properties={
            "core_ranges": ArrayAttr(ranges),
            "kernelConfigs": ArrayAttr([launch.config for launch in launches]),
            SEGMENTS: ttmetal.DispatchOp.segments(len(inputs), len(outputs)),
        },
        regions=[launch.kernel.finish() for launch in launches],
        location=op.location,
    )
    insert_before(op, dispatch)
    replace(op, *dispatch.results)
    return dispatch


def _rounds(launch: Launch) -> bool:
    """True for a compute kernel on tensors of f32 alone with registers of 16 bits.

    Their format is then Float16 (tt-metal, jit_build/data_format.cpp).
    """
    config = launch.config
    if not isinstance(config, TensixConfigAttr) or config.data.fp32_dest_acc_en:
        return False
    types = [buffer.type for buffer in launch.kernel.buffers]
    return all(
        isinstance(each, CBType)
        and layout_element_of(each.memref.element_type).data_type is DataType.F32
        for each in types
    )


# --- Convert ttir to ttmetal generic --------------------------------------------------------------
# `ttir.generic` as a kernel that computes tile by tile on each core's shards.

# --- Convert ttir to ttmetal reference ------------------------------------------------------------
# What a kernel computes, noted on its dispatch, so that runs can be compared with a reference.
#
#     ttmetal.reference = {mnemonic = "clamp", operands = [0], max = 1.0 : f64, min = -0.5 : f64}
#
# `operands` are numbers of operands of the dispatch or, with a type f64, constants; other entries
# are parameters of the operation. Kernels of operations that tt-mlir knows say it by their calls.

MNEMONIC, OPERANDS = "mnemonic", "operands"


def reference_of(op: ttir.GenericOp) -> DictionaryAttr | None:
    """The note for a generic with one elementwise operation in its body; None for other bodies."""
    computing = [each for each in op.body.block.ops if isinstance(each, ttir.ElementwiseOp)]
    others = [each for each in op.body.block.ops if not isinstance(each, ttir.ElementwiseOp)]
    if len(computing) != 1 or any(_is_arithmetic(each.name) for each in others):
        return None
    (body,) = computing
    operands = [_operand(value) for value in body.inputs]
    if None in operands:
        return None
    parameters = {
        parameter.name: value
        for parameter in body.DEFINITION.ttir_signature
        if (value := _number(body.properties.get(parameter.name))) is not None
    }
    return DictionaryAttr(
        {
            MNEMONIC: StringAttr(body.DEFINITION.mnemonic),
            OPERANDS: ArrayAttr(operand for operand in operands if operand is not None),
            **parameters,
        }
    )


def _is_arithmetic(name: str) -> bool:
    return name.startswith("arith.")


def _operand(value: SSAValue) -> Attribute | None:
    if isinstance(value, BlockArgument):
        return IntegerAttr(value.index, i64)
    if isinstance(value.owner, ttir.ConstantOp):
        number = number_of_elements(value.owner.properties["value"])
        if number is not None:
            return FloatAttr(float(number), f64)
    return None


def _number(attr: Attribute | None) -> Attribute | None:
    match attr:
        case FloatAttr():
            return FloatAttr(attr.value.data, f64)
        case IntegerAttr():
            return FloatAttr(float(attr.value.data), f64)
        case _:
            return None


# --- Convert ttir to ttmetal tiles ----------------------------------------------------------------
# What a core computes on one tile: the body of a `ttir.generic` as calls on registers (DST).
#
# Tiles of the inputs are copied to DST, where the vector unit (SFPU) works on them in steps, and
# the last result is packed. A broadcast is a copy that spreads a row, a column or a number.

_ARITH: dict[type[Operation], str] = {
    arith.SubfOp: "subtract",
    arith.SubiOp: "subtract",
    arith.DivfOp: "div",
    arith.AddfOp: "add",
    arith.MulfOp: "multiply",
    arith.AddiOp: "add",
    arith.MuliOp: "multiply",
}


# --- Numbers -------------------------------------------------------------------------------------


def element_type(value: SSAValue) -> ScalarType:
    """The element type of a tensor; LayoutError if it cannot be stored."""
    return element_of(cast("TensorType[Attribute]", value.type).element_type).scalar


def operation_of(op: Operation) -> str:
    """The elementwise operation that an operation in a body does; empty if it does none."""
    if isinstance(op, ttir.ElementwiseOp):
        return op.DEFINITION.mnemonic
    return _ARITH.get(type(op), "")


def operands_of(op: Operation) -> Sequence[SSAValue]:
    """What an operation in a body computes with."""
    return op.inputs if isinstance(op, DestinationStyleOp) else tuple(op.operands)


# --- Calls ----------------------------------------------------------------------------------------


@dataclass
class TileProgram:
    """The calls of a body, and the tile of DST that they leave the result in."""

    calls: list[TileCall] = field(default_factory=list[TileCall])
    result: int = 0
    tiles: int = 0
    """Tiles of DST that are in use at once, at most."""
    spreads: bool = False
    """True if a broadcast goes through the matrix unit."""
    is_wide: bool = False
    """True if it computes with 32-bit integers whatever its operands are."""


def conversion(source: ScalarType, target: ScalarType) -> TileProgram:
    """The program that reads tiles of one number format and leaves them in another."""
    formats = (("in_dtype", format_name(source)), ("out_dtype", format_name(target)))
    buffer = Buffer(0)
    copy = TileCall(
        "copy_tile",
        (buffer, Place(buffer), 0),
        init=TileCall("copy_tile_init", (buffer,)),
        unpacks=True,
    )
    cast_ = TileCall("typecast_tile", (0,), formats, TileCall("typecast_tile_init", (), formats))
    return TileProgram([copy, cast_], tiles=1)


class _Registers:
    """Which tiles of DST are in use."""

    def __init__(self):
        self._used: list[bool] = []

    @property
    def most(self) -> int:
        """How many tiles were in use at once."""
        return len(self._used)

    def take(self) -> int:
        """A free tile."""
        slot = self._used.index(False) if False in self._used else len(self._used)
        self._used[slot : slot + 1] = [True]
        return slot

    def free(self, slots: Iterable[int]) -> None:
        """Give tiles back."""
        for slot in slots:
            self._used[slot] = False


class TileCompiler:
    """Turns a body into calls, operation by operation."""

    def __init__(self, generic: ttir.GenericOp):
        """Compile the body of an operation."""
        self._generic = generic
        elements = map(element_type, generic.body.block.args)
        self._program = TileProgram(is_wide=any(map(is_short, elements)))
        self._calls = RegisterCalls(self._program.calls)
        self._registers = _Registers()
        self._slots: dict[SSAValue, int] = {}
        self._last: Buffer | None = None

    def compile(self) -> TileProgram:
        """The program; LayoutError for what the vector unit does not compute."""
        *ops, end = self._generic.body.block.ops
        for op in ops:
            if not isinstance(op, ttir.ConstantOp):
                self._compute(op)
        (result,) = end.operands
        if result not in self._slots:
            raise LayoutError("has a body that yields what it does not compute")
        self._program.result = self._slots[result]
        self._program.tiles = self._registers.most
        return self._program

    def _compute(self, op: Operation) -> None:
        mnemonic, operands = operation_of(op), operands_of(op)
        if not mnemonic:
            raise LayoutError(
                f"has {op.name} in its body; bodies consist of elementwise operations of ttir, "
                f"{', '.join(sorted(cls.name for cls in _ARITH))} and ttir.constant"
            )
        element = element_type(operands[-1])
        target = element_type(op.results[0])
        steps = () if mnemonic == "typecast" else steps_of(mnemonic, element)
        element = WORKING if is_short(element) else element
        slots = [
            self._materialize(value, element, is_truth=mnemonic == "where" and value is operands[0])
            for value in operands
        ]
        while len(slots) <= max((slot for step in steps for slot in step.slots), default=0):
            slots.append(self._registers.take())
        for step in steps:
            self._calls.compute(step, slots, element, target, _parameters(op, step))
        has_truths = optable.definition(mnemonic).gives_truth
        if not (has_truths and is_float(element) and is_float(target)):
            self._calls.convert(slots[0], element, target, has_truths=has_truths)
        self._registers.free(slots[1:])
        self._slots[op.results[0]] = slots[0]

    # --- Operands --------------------------------------------------------------------------------

    def _materialize(self, value: SSAValue, wanted: ScalarType, *, is_truth: bool) -> int:
        """A tile of DST with a value, which may be written over."""
        owner = value.owner
        if value in self._slots and value.has_one_use():
            slot = self._slots.pop(value)
        else:
            slot = self._registers.take()
            if isinstance(owner, ttir.ConstantOp):
                self._calls.fill(slot, _read_number(owner, wanted), wanted)
                return slot
            if isinstance(value, BlockArgument):
                self._load(slot, value)
            else:
                self._calls.call("copy_dest_values", (self._slots[value], slot))
        element = element_type(value)
        if is_short(element):
            self._calls.widen(slot, element)
            element = WORKING
        if is_float(element) != is_float(wanted) and element.keyword != "i1":
            self._calls.convert(slot, element, ScalarType("i1") if is_truth else wanted)
        return slot

    def _load(self, slot: int, value: BlockArgument[Attribute]) -> None:
        """Copy a tile of an input to DST, or spread its first row, column or number over one."""
        buffer = Buffer(value.index)
        spread = self._spread(value)
        operands = (buffer, Place(buffer), slot)
        if spread:
            templates = (("bcast_type", spread),)
            output = Buffer(self._generic.output_argument.index)
            init = TileCall("unary_bcast_init", (buffer, output), templates)
            call = TileCall("unary_bcast", operands, templates, init, unpacks=True)
            self._program.spreads = True
        else:
            call = TileCall("copy_tile", operands, (), self._copy_init(buffer), unpacks=True)
        self._last = buffer
        self._program.calls.append(call)

    def _copy_init(self, buffer: Buffer) -> TileCall:
        """What prepares a copy: one call for all inputs if they have one format."""
        formats = {element_type(value).data_type for value in self._generic.inputs}
        if len(formats) == 1:
            return TileCall("copy_tile_init", (Buffer(0),))
        last = self._last or buffer
        return TileCall("copy_tile_to_dst_init_short_with_dt", (last, buffer))

    def _spread(self, value: SSAValue) -> str:
        """How the matrix unit spreads an input, as a `BroadcastType`; empty if it is whole."""
        shape, whole = (
            cast("TensorType[Attribute]", v.type).get_shape()
            for v in (value, self._generic.output_argument)
        )
        rows, columns = (here < there for here, there in zip(shape, whole, strict=True))
        return {(0, 0): "", (1, 0): "ROW", (0, 1): "COL", (1, 1): "SCALAR"}[rows, columns]


def _read_number(op: ttir.ConstantOp, wanted: ScalarType) -> float:
    """The one value of a constant."""
    elements = cast("Elements", op.value)
    if splat_bytes(elements) is None:
        raise LayoutError("has a constant of several values in its body; let it be an operand")
    number = number_of_elements(elements)
    if number is None:
        raise LayoutError("has a complex constant; kernels compute with real numbers")
    return number if is_float(wanted) or is_boolean(elements.get_element_type()) else int(number)


def _parameters(op: Operation, step: Step) -> dict[str, float]:
    """The parameters of an operation that a step takes."""
    return {name: _parameter(op, name) for name in step.scalars if isinstance(name, str)}


def _parameter(op: Operation, name: str) -> float:
    attr = op.properties[name]
    assert isinstance(attr, FloatAttr | IntegerAttr), "verified: parameters are numbers"
    return cast("FloatAttr[AnyFloat] | IntegerAttr", attr).value.data


# --- Convert ttir to ttmetal generic --------------------------------------------------------------

Shape = tuple[int, ...]

_FLOATS = (DataType.F32, DataType.F16, DataType.BF16)
_CONVERT_TTIR_TO_TTMETAL_GENERIC_FORMATS = (*_FLOATS, DataType.U32, DataType.U16, DataType.U8)
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
        refuse(op, f"has {plural(len(op.inits), 'output')}; kernels compute one")
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
    return [
        0 if here == 1 < there else stride
        for here, there, stride in zip(shape, extents, row_major_strides(shape), strict=True)
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
    return dataclasses_replace(layout, linear=linear)


def _is_whole(argument: SSAValue, output: SSAValue) -> bool:
    return value_shape(argument) == value_shape(output)


def _check_tiles(layout: TensorLayout) -> None:
    tile = layout.tile
    if layout.memory_space is not MemorySpace.DEVICE_L1 or tile is None:
        raise LayoutError(
            f"operands are {layout.element} in {layout.memory_space.keyword}; kernels compute on "
            "tiles in l1"
        )
    if (
        tile.data_type not in _CONVERT_TTIR_TO_TTMETAL_GENERIC_FORMATS
        or tile.shape != DEFAULT_TILE_SHAPE
    ):
        formats = ", ".join(
            data_type.keyword for data_type in _CONVERT_TTIR_TO_TTMETAL_GENERIC_FORMATS
        )
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


# --- Convert ttir to ttmetal ----------------------------------------------------------------------
# Turn layout changes and generics into kernels that the host dispatches to cores.
#
# A layout change becomes a host command (between host and device), copies over the network on chip
# (another grid, linear map or memory) or a kernel that tilizes or untilizes (rows and tiles). A
# `ttir.generic` becomes a kernel that computes tile by tile.
#
# Before:
#
#     // After ttir-load-system-desc ttir-implicit-device ttir-allocate
#     #l1 = #tt.memory_space<l1>
#     #one = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<1x96xf32, #l1>>
#     #three = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x3>, memref<1x32xf32, #l1>>
#     func.func @gather(%arg0: tensor<1x96xf32, #three>) -> tensor<1x96xf32, #one> {
#       %0 = tensor.empty() : tensor<1x96xf32, #one>
#       %1 = "ttir.to_layout"(%arg0, %0)
#           : (tensor<1x96xf32, #three>, tensor<1x96xf32, #one>) -> tensor<1x96xf32, #one>
#       return %1 : tensor<1x96xf32, #one>
#     }
#
# After:
#
#     ...
#         %0 = "ttmetal.alloc"() <{address = 1152 : i64, memory_space = #l1_, size = 384 : i64}>
#             : () -> tensor<1x96xf32, #layout1>
#         %1 = "ttmetal.dispatch"(%arg0, %0) <{core_ranges = [#ttmetal.core_range<0x0, 1x1>],
#             kernelConfigs = [#ttkernel.noc_config<noc0>], operandSegmentSizes = array<i32: 1, 1>}>
#             ({
#           %c1408_i32 = arith.constant 1408 : i32
#           ...
#           %c1024_i32 = arith.constant 1024 : i32
#           %c1152_i32 = arith.constant 1152 : i32
#           %c128_i32 = arith.constant 128 : i32
#           %2 = "ttkernel.get_noc_addr"(%c0_i32, %c0_i32, %c1024_i32)
#               : (i32, i32, i32) -> !ttkernel.noc_addr
#           "ttkernel.noc_async_read"(%2, %c1152_i32, %c128_i32)
#               : (!ttkernel.noc_addr, i32, i32) -> ()
#           ...
#           "ttkernel.noc_async_read_barrier"() : () -> ()
#           "ttkernel.return"() : () -> ()
#         }) : (tensor<1x96xf32, #layout>, tensor<1x96xf32, #layout1>) -> tensor<1x96xf32, #layout1>
#         return %1 : tensor<1x96xf32, #layout1>
#         ...
#
# Requires: addresses for all tensors (`ttir-allocate`), one change in each `ttir.to_layout`
# (`ttir-split-compound-layout`), bodies of generics on shards
# (`ttir-generic-region-operands-to-memref`), a device and a system description on the module.
# Ensures: what is left are commands of the host, kernels and constants; an error names the first
# other operation. Options: `fp32-dest-acc-en` keeps 32-bit floating-point numbers whole in all
# kernels; by default those that tt-mlir makes, too, are set up as there, where f32 passes through
# 16 bits. Not done here: kernels of operations that are not elementwise; synchronisation of
# circular buffers, which kernels on buffers that stay in place do without.

# --- Convert ttir to ttmetal broadcast ------------------------------------------------------------
# `ttir.broadcast` of rows of numbers in L1: a kernel that copies rows and repeats numbers.
#
# Rows of equal length are copied over the network, from the core to itself. Rows of one number are
# written word by word by the processor.

OnRow = Callable[[Sequence[SSAValue]], None]
"""Writes what is done with the addresses of a row of the source and of one of the target."""

_WORD = 4
"""Bytes that a processor reads and writes at once."""


@dataclass(frozen=True)
class _Loop:
    """Repetition over a dimension; strides are in rows, that of the source 0 where it repeats."""

    extent: int
    source: int
    target: int


def broadcast(op: Operation, source: PlacedTensor, target: PlacedTensor, chip: ChipDesc) -> None:
    """Replace a broadcast by a kernel on the core that holds both tensors.

    LayoutError if they are not rows of numbers in the L1 of one core.
    """
    assert is_dps(op), "ttir.broadcast has a destination"
    (value,) = op.inputs
    shape, whole = value_shape(value), value_shape(op.results[0])
    shape = (1,) * (len(whole) - len(shape)) + shape
    for tensor, extents in ((source, value_shape(value)), (target, whole)):
        _check(tensor.layout, extents)
    kernel = KernelBuilder(op.location)
    spreads = shape[-1:] != whole[-1:]
    lengths = (row_bytes(source.layout), row_bytes(target.layout))

    def on_rows(count: int) -> OnRow:
        if spreads:
            return _repeat_number(kernel, target.layout)
        return _copy_rows(kernel, chip, count * lengths[0])

    loops = _loops(shape[:-1], whole[:-1])
    count = 1
    if not spreads:
        loops, count = _contiguous(loops)
    kernel.walk(
        [loop.extent for loop in loops],
        [
            [loop.source * lengths[0] for loop in loops],
            [loop.target * lengths[1] for loop in loops],
        ],
        [kernel.constant(source.address), kernel.constant(target.address)],
        on_rows(count),
    )
    # What reads whole tiles reads the rows below the tensor, too.
    rows = math.prod(whole[:-1])
    below = kernel.constant(target.address + rows * lengths[1])
    kernel.walk(
        [target.layout.shard[0] - rows],
        [[0], [lengths[1]]],
        [kernel.constant(source.address), below],
        on_rows(1),
    )
    if not spreads:
        kernel.call("noc_async_read_barrier")
    launch = Launch(kernel, ttmetal.Area((0, 0), (1, 1)), NocConfigAttr(NocIndex.NOC0))
    replace_by_dispatch(op, op.inputs, op.inits, [launch])


def _check(layout: TensorLayout, shape: Sequence[int]) -> None:
    in_rows = TensorLayout.of(shape, layout.scalar_element, layout.memory_space, layout.grid)
    if (
        layout.is_tiled
        or layout.memory_space is not MemorySpace.DEVICE_L1
        or layout.grid.volume > 1
        or layout.linear != in_rows.linear
    ):
        raise LayoutError(
            "kernels broadcast rows of numbers in the l1 of one core; bring the operands there by "
            "ttir.to_layout, or leave the layouts to ttir-to-ttmetal-backend-pipeline"
        )
    if row_bytes(layout) % _WORD:
        raise LayoutError(f"rows of {row_bytes(layout)} bytes are no multiple of {_WORD}; pad them")


def _loops(shape: Sequence[int], whole: Sequence[int]) -> list[_Loop]:
    """The loops over all dimensions but the last, outermost first, as few as possible."""
    loops: list[_Loop] = []
    for depth, (here, there) in enumerate(zip(shape, whole, strict=True)):
        source = math.prod(shape[depth + 1 :]) if here == there else 0
        loop = _Loop(there, source, math.prod(whole[depth + 1 :]))
        last = loops[-1] if loops else None
        if there == 1:
            continue
        if last is not None and last.source == loop.source * loop.extent:
            loops[-1] = dataclasses_replace(loop, extent=last.extent * loop.extent)
        else:
            loops.append(loop)
    return loops


def _contiguous(loops: Sequence[_Loop]) -> tuple[Sequence[_Loop], int]:
    """The loops around the rows that lie in a row in both tensors, and the number of these."""
    if loops and loops[-1].source == 1:
        return loops[:-1], loops[-1].extent
    return loops, 1


def _copy_rows(
    kernel: KernelBuilder, chip: ChipDesc, size: int
) -> Callable[[Sequence[SSAValue]], None]:
    y, x = map(kernel.constant, chip.physical_cores.worker[0])
    length = kernel.constant(size)

    def on_row(addresses: Sequence[SSAValue]) -> None:
        (start,) = kernel.call("get_noc_addr", x, y, addresses[0])
        kernel.call("noc_async_read", start, addresses[1], length)

    return on_row


def _repeat_number(kernel: KernelBuilder, target: TensorLayout) -> OnRow:
    """Fill a row with words that hold the first number of another."""
    size = target.element.size_bytes
    words = row_bytes(target) // _WORD

    def on_row(addresses: Sequence[SSAValue]) -> None:
        source, row = map(kernel.pointer, addresses)
        (word,) = kernel.call("load_from_l1", source, 0)
        if size < _WORD:
            word = kernel.arithmetic(arith.AndIOp, word, (1 << 8 * size) - 1)
            word = kernel.arithmetic(arith.MuliOp, word, _REPEATED[size])

        def on_word(places: Sequence[SSAValue]) -> None:
            kernel.call("store_to_l1", word, row, places[0])

        kernel.walk([words], [[1]], [kernel.constant(0)], on_word)

    return on_row


_REPEATED = {1: 0x01010101, 2: 0x00010001}
"""What a number of so many bytes is multiplied by to fill a word."""


# --- Convert ttir to ttmetal reformat -------------------------------------------------------------
# Layout changes between rows and tiles: kernels that tilize and untilize each core's shard.

_FORMATS = (
    DataType.F32,
    DataType.F16,
    DataType.BF16,
    DataType.U32,
    DataType.U16,
    DataType.U8,
)
"""Formats that circular buffers have in a program for tt-metal."""


def reformat(
    op: ttir.ToLayoutOp,
    source: PlacedTensor,
    target: PlacedTensor,
    device: DeviceView,
    *,
    wide: bool,
) -> None:
    """Replace a change between rows and tiles by a kernel on every core of the grid.

    `wide`: keep 32-bit floating-point numbers whole. Integers of 32 bits always are.

    LayoutError if anything else changes or if shards are not whole tiles.
    """
    rows, tiles = (target, source) if source.layout.is_tiled else (source, target)
    tile = _check_reformat(rows.layout, tiles.layout)
    device.check_grid(source.layout.grid)
    page_size = math.prod(tile.shape) * rows.layout.element.size_bytes
    kernel = KernelBuilder(
        op.location,
        [
            _buffer(CBPort.IN0, source, page_size),
            _buffer(CBPort.OUT0, target, page_size),
        ],
    )
    before, after = kernel.buffers
    name = "untilize" if source.layout.is_tiled else "tilize"
    *outer, count = tiles.layout.shard
    number = kernel.constant(count)
    if name == "tilize":
        kernel.call("tilize_init", before, number, after)
    else:
        kernel.call("untilize_init", before, after)
    for _ in range(math.prod(outer)):
        kernel.call(f"{name}_block", before, number, after)
        kernel.call("cb_pop_front", before, number)
        kernel.call("cb_push_back", after, number)
    area = ttmetal.Area((0, 0), source.layout.grid.shape)
    is_wide = tile.data_type is DataType.U32 or (wide and tile.data_type is DataType.F32)
    config = TensixConfig(fp32_dest_acc_en=is_wide, preserve_fp32_precision=is_wide)
    launch = Launch(kernel, area, TensixConfigAttr(config))
    replace_by_dispatch(op, op.inputs, op.inits, [launch])


def _check_reformat(rows: TensorLayout, tiles: TensorLayout) -> TileFormat:
    """The tile of a change between rows and tiles that the kernels can make."""
    tile = tiles.tile
    if tile is None or rows.is_tiled:
        raise LayoutError(
            f"changes elements from {rows.element} to {tiles.element}; kernels change rows to "
            "tiles and tiles to rows; run "
            "ttir-split-compound-layout=formats-on-tiles=true before ttir-allocate"
        )
    if tile.shape != DEFAULT_TILE_SHAPE or tile.data_type not in _FORMATS:
        formats = ", ".join(data_type.keyword for data_type in _FORMATS)
        raise LayoutError(
            f"tiles are {tile}; kernels make tiles of {shape_text(DEFAULT_TILE_SHAPE)} of {formats}"
        )
    if rows.scalar_element.data_type is not tile.data_type:
        raise LayoutError(
            f"changes numbers from {rows.element} to {tile.data_type.keyword} while it tiles; "
            "run ttir-split-compound-layout=formats-on-tiles=true before ttir-allocate"
        )
    if rows.shard != tile.scalar_shape(tiles.shard):
        raise LayoutError(
            f"a shard of {shape_text(rows.shard)} is not the {shape_text(tiles.shard)} tiles of "
            "the other layout; let the memref of the rows be "
            f"{shape_text(tile.scalar_shape(tiles.shard))}, the rest being padding"
        )
    return tile


def _buffer(port: CBPort, tensor: PlacedTensor, page_size: int) -> CBType:
    """The buffer of a tensor's shard, a tile's worth of numbers to a page."""
    buffer = CircularBuffer(port, tensor.address, page_size)
    memref = tt.LayoutAttr.from_tensor_layout(tensor.layout).memref
    return CBType(CircularBufferParameter(buffer), memref)


# --- Convert ttir to ttmetal relayout -------------------------------------------------------------
# Layout changes that move data: between host and device, and over the network on chip.


def move_to_or_from_host(op: ttir.ToLayoutOp, source: TensorLayout, target: TensorLayout) -> None:
    """Replace a move between host and device by a host command."""
    if source.with_memory_space(target.memory_space) != target:
        refuse(
            op,
            "moves between host and device and changes the layout as well; do one after the other, "
            "as ttir-split-compound-layout does",
        )
    if source.memory_space.is_system and target.memory_space.is_system:
        refuse(op, "moves from host to host; use the tensor where it is")
    command = ttmetal.HostWriteOp if source.memory_space.is_system else ttmetal.HostReadOp
    types = [init.type for init in op.inits]
    move = Builder.before(op).create_op(command, op.inputs, types, inits=op.inits)
    replace(op, *move.results)


def move_on_chip(
    op: ttir.ToLayoutOp,
    source: PlacedTensor,
    target: PlacedTensor,
    device: DeviceView,
    chip: ChipDesc,
) -> None:
    """Replace a move between memories of a chip by one kernel for each core that copies.

    Runs of bytes that the network cannot copy pass through the operation's scratch memory.

    LayoutError if there is no such memory or if no kernel makes the move.
    """
    launches: list[Launch] = []
    reads = target.layout.memory_space is MemorySpace.DEVICE_L1
    unit = network_unit(source.layout, target.layout, chip)
    for part in plan_copies(value_shape(op.operands[0]), source, target, device, chip):
        kernel = KernelBuilder(op.location)
        mover = _Mover(kernel, unit, source.layout.element.size_bytes, reads=reads)
        direct = [copy for copy in part.copies if copy.keeps_offset(unit)]
        others = [copy for copy in part.copies if not copy.keeps_offset(unit)]
        for copy in direct:
            mover.copy(copy)
        if direct:
            mover.wait()
        if others:
            mover.copy_through(_scratch(op, others[0], unit), others)
        area = ttmetal.Area(part.core, (1, 1))
        launches.append(Launch(kernel, area, NocConfigAttr(NocIndex.NOC0)))
    replace_by_dispatch(op, op.inputs, op.inits, launches)


def _scratch(op: ttir.ToLayoutOp, copy: Copy, unit: int) -> tt.ArgumentAllocationAttr:
    scratch = op.attributes.get(SCRATCH)
    if isinstance(scratch, tt.ArgumentAllocationAttr):
        return scratch
    raise LayoutError(
        f"the network copies between addresses that are equal modulo {unit}, got {copy.source} and "
        f"{copy.target}, and has no scratch memory to bring them together; run ttir-allocate, "
        f"which notes it as {SCRATCH}"
    )


@dataclass(frozen=True)
class _Mover:
    """Writes the calls that copy, in one direction, elements of so many bytes."""

    kernel: KernelBuilder
    unit: int
    element_bytes: int
    _: KW_ONLY
    reads: bool

    def copy(self, copy: Copy) -> None:
        """Let the network copy."""
        numbers = (*copy.remote, copy.source, copy.target, copy.size)
        y, x, source, target, size = map(self.kernel.constant, numbers)
        if self.reads:
            (address,) = self.kernel.call("get_noc_addr", x, y, source)
            self.kernel.call("noc_async_read", address, target, size)
        else:
            (address,) = self.kernel.call("get_noc_addr", x, y, target)
            self.kernel.call("noc_async_write", source, address, size)

    def wait(self) -> None:
        """Let the copies arrive."""
        self.kernel.call("noc_async_read_barrier" if self.reads else "noc_async_write_barrier")

    def copy_through(self, scratch: tt.ArgumentAllocationAttr, copies: Sequence[Copy]) -> None:
        """Copy by way of scratch memory, as much as it holds at a time.

        What lies there has the offset of the remote end; the processor moves it on its own core.
        """
        for batch in batches(copies, self.unit, scratch.size):
            moves: list[Copy] = []
            for copy, place in batch:
                remote = copy.source if self.reads else copy.target
                between = scratch.address + place + remote % self.unit
                first, second = changed(copy, target=between), changed(copy, source=between)
                if self.reads:
                    self.copy(first)
                    moves.append(second)
                else:
                    self._move(first)
                    self.copy(second)
            self.wait()
            for move in moves:
                self._move(move)

    def _move(self, copy: Copy) -> None:
        """Let the processor copy, by whole words where both ends are such."""
        is_words = not any(number % _WORD for number in (copy.source, copy.target, copy.size))
        size = _WORD if is_words else self.element_bytes
        source, target = (
            self.kernel.pointer(address, 8 * size) for address in (copy.source, copy.target)
        )

        def move(places: Sequence[SSAValue]) -> None:
            (value,) = self.kernel.call("load_from_l1", source, places[0])
            self.kernel.call("store_to_l1", value, target, places[0])

        self.kernel.walk([copy.size // size], [[1]], [self.kernel.constant(0)], move)


# --- Convert ttir to ttmetal ----------------------------------------------------------------------


@dataclass(frozen=True)
class ConvertTTIRToTTMetalPass(ModulePass):
    """Turn layout changes and generics into kernels that the host dispatches to cores."""

    name = "convert-ttir-to-ttmetal"
    title = "ConvertTTIRToTTMetal"
    fp32_dest_acc_en: bool = option(
        False, "Keep 32 bits of f32 in DST in all kernels, not only in those that tt-mlir lacks"
    )

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Convert every function of the module."""
        functions = [op for op in module.walk() if isinstance(op, FuncOp)]
        for function in functions:
            _check_extents(function)
        wanting = [function for function in functions if any(map(_is_foreign, function.walk()))]
        if not wanting:
            return
        device = require_device(module, self.name)
        system = require_system_desc(module, self.name)
        chip = system.chip(device.chip_ids[0])
        for function in wanting:
            for block in function.body.blocks:
                _Conversion(function, device, chip, wide=self.fp32_dest_acc_en).convert(block)
            for op in function.walk():
                if _is_foreign(op):
                    _refuse(op)


_IN_KERNELS = ("arith", "builtin", "cf", "emitc", "func", "math", "memref", "scf", "ttkernel")
_ON_TENSORS = (FuncOp, ReturnOp, UnrealizedConversionCastOp, arith.ConstantOp)


def _is_foreign(op: Operation) -> bool:
    """True for what is neither a command of the host nor part of a kernel."""
    if op.name.startswith("ttmetal."):
        return False
    if isinstance(op, CallOp) or op.name.partition(".")[0] not in _IN_KERNELS:
        return True
    values = () if isinstance(op, _ON_TENSORS) else (*op.operands, *op.results)
    return any(isinstance(value.type, TensorType) for value in values)


def _check_extents(function: FuncOp) -> None:
    """Refuse tensors without elements: there is no memory that kernels could be given for them."""
    for op in function.walk():
        arguments = [arg for region in op.regions for block in region.blocks for arg in block.args]
        for value in (*arguments, *op.results):
            if isinstance(value.type, TensorType) and 0 in (shape := value_shape(value)):
                refuse(
                    op,
                    f"has a tensor of {shape_text(shape)}, without elements, which kernels do not "
                    "take; use ttir-to-ttnn-backend-pipeline",
                )


def _refuse(op: Operation) -> NoReturn:
    if isinstance(op, CallOp):
        refuse(
            op,
            "calls a function, which has its tensors at the same addresses; run inline, which "
            "takes functions of one block that do not call themselves",
        )
    if op.name == "tensor.empty":
        refuse(op, "has no address; run ttir-allocate before")
    if op.name == "ttir.constant":
        refuse(
            op,
            "has no location in the device's memory; let its layout be on the host, as "
            "ttir-layout=constants-on-host=true does",
        )
    if not op.name.startswith("ttir."):
        refuse_foreign(op, "convert-ttir-to-ttmetal takes ttir, func and tensor.empty operations")
    refuse(
        op,
        "has no kernel; kernels are made of elementwise operations with one result (by "
        "ttir-generic=elementwise=true), ttir.broadcast and ttir.to_layout; use "
        "ttir-to-ttmetal-pipeline for most other operations, or ttir-to-ttnn-backend-pipeline",
    )


class _Conversion:
    """The conversion of one function."""

    def __init__(self, function: FuncOp, device: DeviceView, chip: ChipDesc, *, wide: bool):
        self._device = device
        self._chip = chip
        self._wide = wide
        self._addresses: dict[SSAValue, int] = {}
        allocated = function.attributes.get(ARG_ALLOC)
        if isinstance(allocated, ArrayAttr) and function.body.blocks:
            places = cast("ArrayAttr[Attribute]", allocated)
            self._take_addresses(function.body.blocks[0].args, places)

    def _take_addresses(self, arguments: Iterable[SSAValue], places: ArrayAttr[Attribute]) -> None:
        for argument, place in zip(arguments, places, strict=False):
            if isinstance(place, tt.ArgumentAllocationAttr):
                self._addresses[argument] = place.address

    def convert(self, block: Block) -> None:
        """Convert the operations of a block, in order."""
        for op in tuple(block.ops):
            try:
                self._convert(op)
            except LayoutError as error:
                refuse(op, str(error))

    def _convert(self, op: Operation) -> None:
        if isinstance(op, ttir.AllocOp):
            self._convert_alloc(op)
        elif isinstance(op, ttir.DeallocOp):
            new = ttmetal.DeallocOp.create(operands=tuple(op.operands), location=op.location)
            insert_before(op, new)
            replace(op)
        elif isinstance(op, ttir.ToLayoutOp):
            self._convert_to_layout(op)
        elif isinstance(op, ttir.GenericOp):
            compute(op, self._address_of, self._device, wide=self._wide)
        elif isinstance(op, ttir.ConstantOp):
            self._convert_constant(op)
        elif op.name == "ttir.broadcast":
            assert isinstance(op, ttir.TTIRTableOp)
            source, target = map(self._placed, (*op.inputs, op.output))
            broadcast(op, source, target, self._chip)
        elif _is_foreign(op):
            _refuse(op)

    def _convert_alloc(self, op: ttir.AllocOp) -> None:
        new = ttmetal.AllocOp.create(
            result_types=[op.results[0].type], properties=op.properties, location=op.location
        )
        insert_before(op, new)
        replace(op, *new.results)
        address = new.properties["address"]
        assert isinstance(address, IntegerAttr), "verified: the address is an integer"
        self._addresses[new.results[0]] = address.value.data

    def _convert_constant(self, op: ttir.ConstantOp) -> None:
        """Let a constant on the host be one of `arith`."""
        layout = layout_of(op.results[0].type)
        if layout is None or not layout.memory_space.is_system:
            _refuse(op)
        type_ = cast("TensorType[Attribute]", op.results[0].type)
        given = cast("TensorType[Attribute]", cast("Elements | DenseResourceAttr", op.value).type)
        if given.element_type != type_.element_type:
            refuse(
                op,
                f"has elements of {given.element_type} for a tensor of {type_.element_type}; write "
                "them as elements of the tensor's type",
            )
        value = op.value
        if isinstance(value, DenseIntOrFPElementsAttr):
            value = DenseIntOrFPElementsAttr(cast("TensorType[ElementType]", type_), value.data)
        elif isinstance(value, DenseResourceAttr):
            value = DenseResourceAttr(value.resource_handle, type_)
        new = arith.ConstantOp.create(
            properties={"value": value}, result_types=[type_], location=op.location
        )
        insert_before(op, new)
        replace(op, *new.results)

    def _convert_to_layout(self, op: ttir.ToLayoutOp) -> None:
        source, target = (self._layout(value) for value in (*op.inputs, op.output))
        if source.memory_layout is not target.memory_layout:
            refuse(
                op,
                f"changes the memory layout from {source.memory_layout.keyword} to "
                f"{target.memory_layout.keyword}; kernels find shards by the grid alone, so let "
                "both layouts have the same one",
            )
        if source.memory_space.is_system or target.memory_space.is_system:
            move_to_or_from_host(op, source, target)
            return
        before, after = map(self._placed, (*op.inputs, op.output))
        if source.element == target.element:
            move_on_chip(op, before, after, self._device, self._chip)
        else:
            _check_single_change(op, source, target)
            if source.is_tiled and target.is_tiled:
                convert_tiles(op, before, after, self._device)
                return
            reformat(op, before, after, self._device, wide=self._wide)

    def _placed(self, value: SSAValue) -> PlacedTensor:
        layout = layout_of(value.type)
        if layout is None:
            raise LayoutError("has an operand without a layout; run ttir-layout before")
        return PlacedTensor(layout, self._address_of(value))

    def _layout(self, value: SSAValue) -> TensorLayout:
        layout = layout_of(value.type)
        assert layout is not None, "verified: both tensors have layouts"
        return layout

    def _address_of(self, value: SSAValue) -> int:
        """The address of the buffer that an operation allocated and others wrote to."""
        written: list[SSAValue] = []
        while value not in self._addresses:
            owner = value.owner
            if not isinstance(owner, DestinationStyleOp) or not isinstance(value, OpResult):
                raise LayoutError("has an operand without an address; run ttir-allocate before")
            written.append(value)
            value = owner.inits[value.index]
        address = self._addresses[value]
        self._addresses.update((result, address) for result in written)
        return address


def _check_single_change(op: ttir.ToLayoutOp, source: TensorLayout, target: TensorLayout) -> None:
    """Refuse a change between rows and tiles that moves the tensor as well."""
    moved = {
        "linear map": source.linear != target.linear,
        "grid": source.grid != target.grid,
        "memory space": source.memory_space is not target.memory_space,
    }
    others = [name for name, differs in moved.items() if differs]
    if others:
        refuse(
            op,
            f"changes the elements and the {' and the '.join(others)}; run "
            "ttir-split-compound-layout before ttir-allocate",
        )
    if target.memory_space is not MemorySpace.DEVICE_L1:
        refuse(op, "changes elements in dram; kernels do so in l1, so move the tensor there before")
