"""Turn generics that name kernels into programs of kernels among the calls of the ttnn library.

Before:

    // After ttir-load-system-desc
    #ttnn_dram = #ttnn.buffer_type<dram>
    #ttnn_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>,
        memref<2x3x!ttcore.tile<32x32, f32>, #ttnn_dram>, <interleaved>>
    #dram = #ttcore.memory_space<dram>
    #l1 = #ttcore.memory_space<l1>
    !tile = !ttcore.tile<32x32, f32>
    !tensor = tensor<40x70xf32, #ttnn_layout>
    !buffer = memref<1x1x2x3x!tile, #ttcore.interleaved<12288x4096>, #dram>
    !cb = memref<2x1x1x3x!tile, #ttcore.shard<12288x4096>, #l1>
    !blocks = memref<2x1x1x3x!tile, #ttcore.view<(d0, d1, d2, d3) -> (0, 0, d0, d3)>, #dram>
    !port = !ttkernel.cb<cb_in0, 65536, memref<1x3x!tile>, 4096, 1>
    module {
      func.func @main(%a: !tensor) -> !tensor {
        %x = ttir.ttnn_metal_layout_cast %a : !tensor -> !buffer
        %y = memref.alloc() {address = 1024 : i64, alignment = 32 : i64} : !buffer
        %vx = d2m.view_layout %x : !buffer -> !blocks
        %c = memref.alloc() {address = 65536 : i64, alignment = 16 : i64} : !cb
        %s = "d2m.stream_layout"(%vx, %c) : (!blocks, !cb) -> !blocks
        %vy = d2m.view_layout %y : !buffer -> !blocks
        %t = "d2m.stream_layout"(%vy, %c) : (!blocks, !cb) -> !blocks
        d2m.generic {block_factors = [], grid = #ttcore.grid<2x1>, indexing_maps = [],
            iterator_types = [], threads = [#d2m.thread<datamovement, @reader0>]}
            ins(%s : !blocks) outs(%t : !blocks)
        %r = ttir.ttnn_metal_layout_cast %y : !buffer -> !tensor
        return %r : !tensor
      }
      func.func private @reader0(%cb: !port) attributes {ttkernel.thread = #ttkernel.thread<noc>,
          ttmetal.kernel_args = #ttmetal.kernel_args<ct_args = [<semaphore[0]>],
          rt_args = [<buffer_address[0]>]>} {
        return
      }
    }

After:

    ...
        %0 = "ttnn.get_device"() <{mesh_offset = #ttnn<mesh_offset 0x0>, mesh_shape =
            #ttnn<mesh_shape 1x1>}> : () -> !ttnn.device
        %1 = "ttnn.empty"(%0) <{dtype = #ttcore.supportedDataTypes<f32>, layout =
            #ttnn.layout<tile>, shape = #ttnn.shape<40x70>}> : (!ttnn.device)
            -> tensor<40x70xf32, #ttnn_layout>
        "ttnn.generic"(%arg0, %1) <{program = #ttnn.program<kernels = [#ttnn.read_kernel<symbol_ref
            = @reader0, core_ranges = <[#ttnn.core_range<(0,0), (0,1)>]>, ct_args =
            [#ttnn.kernel_arg_semaphore_at<0>], common_rt_args =
            [#ttnn.kernel_arg_address_of_tensor<0>]>], cbs = [<total_size = 12288, core_ranges =
            <[#ttnn.core_range<(0,0), (0,1)>]>, formats = [<buffer_index = 0, dtype = f32,
            page_size = 4096>]>, ...], semaphores = [...]>}> : ...
        return %1 : tensor<40x70xf32, #ttnn_layout>
      }
      func.func private @reader0(...
    ...

Requires: functions on tensors of ttnn in DRAM, cast to memrefs and back; generics without regions
(convert-d2m-to-ttkernel with `ttnn-mode`). The attribute `tt.system_desc` on the module.
Ensures: no operation of d2m is left. Buffers between generics are `ttnn.empty` in their memory; a
program writes to its last operands. Kernels stay functions, which programs name; they get the
addresses of tensors as common run-time arguments, at each launch, and semaphores by their numbers
in the program. The module has the attribute `tt.device`.
Options: the math fidelity of kernels that compute.
Not done here: the C++ of kernels, which is made as a file is written.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
from xdsl.dialects import memref
from xdsl.dialects.builtin import MemRefType, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.dialects import d2m, tt, ttmetal, ttnn
from ttmlir.dialects.definition.ods import DEVICE_NAME, KERNEL_THREAD
from ttmlir.dialects.tt.layout import element_of
from ttmlir.dialects.ttcore import HostLayoutAttr, device_layout_of, memory_space_of
from ttmlir.dialects.ttir import TTNNMetalLayoutCastOp
from ttmlir.dialects.ttmetal import KernelArg, KernelArgKind, UnpackToDestMode
from ttmlir.ir.builder import TTNNBuilder
from ttmlir.ir.rewriting import erase, insert_before, refuse, symbols_in
from ttmlir.ir.tensor_types import layout_of, require_system_desc
from ttmlir.layout.affine import AffineMap, constant, dims
from ttmlir.layout.data_format import TileFormat
from ttmlir.layout.enums import (
    DataType,
    MathFidelity,
    MemorySpace,
    NocIndex,
    TensorMemoryLayout,
    TTNNLayout,
)
from ttmlir.layout.metal import cb_page_bytes, grid_cores, l1_buffer_bytes
from ttmlir.layout.tensor_layout import Grid, TensorLayout
from ttmlir.mlir.attributes import Elements, ElementsType, element_size, elements_attr, raw_bytes
from ttmlir.mlir.option_values import option
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.d2m.kernels.convert_d2m_to_ttmetal import (
    areas_of,
    arguments_of,
    kernel_of,
    unpack_modes,
)
from ttmlir.passes.d2m.kernels.kernel_plan import (
    APPROXIMATE,
    READER_NOC,
    WIDE_DST,
    WRITER_NOC,
    chip_of,
    fidelity_of,
)
from ttmlir.passes.d2m.schedule.ttnn_shards import are_placed
from ttmlir.program import (
    AddressOfTensor,
    Argument,
    Arguments,
    CircularBufferDescription,
    CircularBufferFormat,
    CircularBufferIndex,
    ComputeConfig,
    CoreRange,
    CoreRanges,
    DescriptionError,
    KernelConfig,
    KernelDescription,
    ProgramDescription,
    ReaderConfig,
    SemaphoreAt,
    SemaphoreDescription,
    WriterConfig,
)

if TYPE_CHECKING:
    from xdsl.context import Context

Buffer = SSAValue[MemRefType[Attribute]]


@dataclass(frozen=True)
class ConvertD2MToTTNNPass(ModulePass):
    """Turn generics that name kernels into programs of kernels among calls of ttnn."""

    name = "convert-d2m-to-ttnn"
    title = "ConvertD2MToTTNN"
    math_fidelity: MathFidelity = option(
        MathFidelity.HIFI4, "Passes of the matrix unit over the bits of its operands"
    )

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Convert every function of the module that is no kernel."""
        system = require_system_desc(module, self.name)
        for op in list(module.walk()):
            if isinstance(op, FuncOp) and KERNEL_THREAD not in op.attributes and op.body.blocks:
                _Function(op, self.math_fidelity).convert()
        module.attributes.setdefault(DEVICE_NAME, tt.DeviceAttr.from_system_desc(system))


class _Function:
    """The buffers of a function, and the tensors that stand for them."""

    def __init__(self, function: FuncOp, fidelity: MathFidelity) -> None:
        self._block = function.body.block
        table = function.parent_op()
        self._functions = {} if table is None else symbols_in(table)
        self._fidelity = fidelity
        self._tensors: dict[SSAValue, SSAValue] = {}
        self._dead: list[Operation] = []

    def convert(self) -> None:
        """Convert the operations in their order."""
        for op in tuple(self._block.ops):
            match op:
                case TTNNMetalLayoutCastOp():
                    self._cast(op)
                case d2m.GenericOp():
                    self._enqueue(op)
                case d2m.ToLayoutOp():
                    self._load_constant(op)
                case (
                    d2m.ViewLayoutOp()
                    | d2m.ViewElementsOp()
                    | d2m.ViewNumberedOp()
                    | d2m.StreamLayoutOp()
                    | memref.AllocOp()
                    | memref.DeallocOp()
                    | memref.GetGlobalOp()
                ):
                    self._dead.append(op)
                case _ if op.name.startswith("d2m."):
                    refuse(op, "is no call of ttnn; it is part of kernels")
                case _:
                    pass
        self._check_users()
        for op in reversed(self._dead):
            erase(op)

    def _check_users(self) -> None:
        """Refuse what needs memory that ttnn has no tensor of."""
        dead = set(self._dead)
        users = (use.operation for op in self._dead for each in op.results for use in each.uses)
        for user in users:
            if user not in dead and user.parent is not None:
                refuse(user, "takes a memref, which ttnn has not; use ttnn-mode from the beginning")

    # --- Tensors -------------------------------------------------------------------------------

    def _cast(self, op: TTNNMetalLayoutCastOp) -> None:
        value, result = op.operands[0], op.results[0]
        self._dead.append(op)
        if not isinstance(result.type, MemRefType):
            result.replace_all_uses_with(self._tensor(cast("Buffer", value), op))
            return
        layout = layout_of(value.type)
        in_dram = layout is not None and layout.memory_space is MemorySpace.DEVICE_DRAM
        if layout is None or not layout.is_tiled or not (in_dram or are_placed(layout)):
            refuse(
                op,
                f"has a tensor of ttnn that is not in tiles in DRAM, '{value.type}'; run "
                "convert-ttnn-to-ttir, which moves it there",
            )
        self._tensors[result] = value

    def _tensor(self, buffer: Buffer, op: Operation) -> SSAValue:
        """The tensor that stands for a buffer: an argument, or a new one."""
        known = self._tensors.get(buffer)
        if known is not None:
            return known
        owner = buffer.owner
        if not isinstance(owner, memref.AllocOp):
            refuse(op, "has a buffer that 'memref.alloc' has not made, nor a cast of a tensor")
        type_ = _type_of_casts(buffer) or _type_of_buffer(buffer, op)
        made = TTNNBuilder.on(self._device(op), owner).create_empty(
            type_,
            dtype=tt.DataTypeAttr(element_of(buffer.type.element_type).data_type),
            layout=ttnn.LayoutAttr(TTNNLayout.TILE),
            shape=ttnn.ShapeAttr.of(cast("TensorType[Attribute]", type_).get_shape()),
        )
        self._tensors[buffer] = made
        return made

    def _device(self, op: Operation) -> SSAValue:
        """The device, which the function asks for first of all."""
        first = self._block.first_op
        assert first is not None, "the block holds the operation that needs a device"
        for each in self._block.ops:
            if isinstance(each, ttnn.GetDeviceOp):
                if each is not first:
                    each.detach()
                    insert_before(first, each)
                return each.results[0]
        made = ttnn.GetDeviceOp.create(
            result_types=[ttnn.TTNNDeviceType()],
            properties={
                "mesh_offset": ttnn.MeshOffsetAttr((0, 0)),
                "mesh_shape": ttnn.MeshShapeAttr((1, 1)),
            },
            location=op.location,
        )
        insert_before(first, made)
        return made.results[0]

    def _load_constant(self, op: d2m.ToLayoutOp) -> None:
        """A constant of the host becomes one on the device."""
        source, target = op.operands
        read = source.owner
        if not isinstance(read, memref.GetGlobalOp):
            refuse(op, "moves a tensor of the host; functions of ttnn take tensors on the device")
        stored = self._functions.get(read.name_.root_reference.data)
        if not isinstance(stored, memref.GlobalOp):
            refuse(op, "moves a constant that the module does not have")
        type_ = _type_of_buffer(cast("Buffer", target), op)
        value = _arrange(
            cast("Elements", stored.initial_value), cast("Buffer", source), cast("Buffer", target)
        )
        made = ttnn.ConstantOp.create(
            operands=[self._device(op)],
            result_types=[TensorType(value.get_element_type(), value.get_shape(), type_.encoding)],
            properties={"value": value},
            location=op.location,
        )
        insert_before(op, made)
        self._tensors[target] = made.results[0]
        self._dead.append(op)

    # --- Programs ------------------------------------------------------------------------------

    def _enqueue(self, generic: d2m.GenericOp) -> None:
        if generic.regions:
            refuse(generic, "has regions in place of kernels; run convert-d2m-to-ttkernel before")
        tensors: list[SSAValue] = []
        outputs = 0
        for number, value in enumerate(generic.operands):
            if isinstance(value.owner, d2m.StreamLayoutOp):
                buffer = cast("Buffer", d2m.memory_of(value))
                tensors.append(self._tensor(buffer, generic))
                outputs += number >= len(generic.inputs)
        try:
            program = self._program(generic)
        except DescriptionError as error:
            refuse(generic, f"is no program: {error}")
        inputs = len(tensors) - outputs
        made = ttnn.GenericOp.make(
            tensors[:inputs], tensors[inputs:], program, location=generic.location
        )
        insert_before(generic, made)
        self._dead.append(generic)

    def _program(self, generic: d2m.GenericOp) -> ProgramDescription:
        areas = tuple(_core_range(area) for area in areas_of(generic))
        storages = [
            value.owner.storage if isinstance(value.owner, d2m.StreamLayoutOp) else value
            for value in generic.operands
        ]
        functions = [kernel_of(generic, self._functions, thread) for thread in generic.threads]
        semaphores = sorted(
            {
                each.operand_index
                for function in functions
                for each in (*arguments_of(function).ct_args, *arguments_of(function).rt_args)
                if each.kind is KernelArgKind.SEMAPHORE
            }
        )
        places = {number: place for place, number in enumerate(semaphores)}
        networks = iter((READER_NOC, WRITER_NOC))
        kernels: list[KernelDescription] = []
        for thread, function in zip(generic.threads, functions, strict=True):
            config: KernelConfig
            if thread.kind is d2m.ThreadKind.COMPUTE:
                config = self._compute_config(function, storages)
            else:
                network = next(networks, None)
                if network is None:
                    refuse(generic, "has more than two kernels that move data; a core runs two")
                config = ReaderConfig() if network is NocIndex.NOC0 else WriterConfig()
            args = arguments_of(function)
            kernels.append(
                KernelDescription(
                    name=function.sym_name.data,
                    source="",
                    config=config,
                    core_ranges=areas,
                    compile_time_args=_arguments(args.ct_args, places),
                    common_runtime_args=_arguments(args.rt_args, places),
                )
            )
        return ProgramDescription(
            kernels=tuple(kernels),
            circular_buffers=tuple(
                _circular_buffer(value, number, areas) for number, value in enumerate(storages)
            ),
            semaphores=tuple(SemaphoreDescription(core_ranges=areas) for _ in semaphores),
        )

    def _compute_config(self, function: FuncOp, storages: Sequence[SSAValue]) -> ComputeConfig:
        modes = unpack_modes(function, storages)
        return ComputeConfig(
            math_fidelity=fidelity_of(function, self._fidelity),
            fp32_dest_acc_en=WIDE_DST in function.attributes,
            math_approx_mode=APPROXIMATE in function.attributes,
            unpack_to_dest_fp32=tuple(
                number for number, mode in enumerate(modes) if mode is UnpackToDestMode.FP32
            ),
        )


def _arguments(args: Sequence[KernelArg], semaphores: dict[int, int]) -> Arguments:
    return tuple(_argument(each, semaphores) for each in args)


def _argument(arg: KernelArg, semaphores: dict[int, int]) -> Argument:
    match arg.kind:
        case KernelArgKind.CB_PORT:
            return CircularBufferIndex(arg.operand_index)
        case KernelArgKind.BUFFER_ADDRESS:
            return AddressOfTensor(arg.operand_index)
        case KernelArgKind.SEMAPHORE:
            return SemaphoreAt(semaphores[arg.operand_index])
        case kind:
            # Those of 2026 are read and printed; the passes before make none of them.
            raise AssertionError(f"kernels have no argument of the kind '{kind.keyword}' here")


def _core_range(area: ttmetal.Area) -> CoreRange:
    (y, x), (rows, columns) = area.offset, area.size
    return CoreRange((x, y), (x + columns - 1, y + rows - 1))


def _circular_buffer(
    storage: SSAValue, number: int, cores: CoreRanges
) -> CircularBufferDescription:
    """Memory for a circular buffer, which each launch places anew."""
    layout = device_layout_of(storage.type)
    assert layout is not None, "memory of circular buffers is divided over the cores"
    element = element_of(layout.element_type)
    return CircularBufferDescription(
        total_size=l1_buffer_bytes(layout.shard_shape, element, layout.buffers),
        core_ranges=cores,
        formats=(CircularBufferFormat(number, _stored(element.data_type), cb_page_bytes(element)),),
    )


def _stored(data_type: DataType) -> DataType:
    """The format in memory: integers with a sign are kept as those without."""
    return DataType.U32 if data_type is DataType.SI32 else data_type


def _type_of_casts(buffer: Buffer) -> Attribute | None:
    """The type of the tensor that a buffer is cast to; None if it stays between generics."""
    for use in buffer.uses:
        if isinstance(use.operation, TTNNMetalLayoutCastOp):
            return use.operation.results[0].type
    return None


def _arrange(constant: Elements, source: Buffer, target: Buffer) -> Elements:
    """The elements of a constant of the host as those of the tensor that stands for a buffer.

    They are padded as the host's memref says; then come the shards, one below the other.
    """
    layout = device_layout_of(target.type)
    assert layout is not None, "the buffer is on the device"
    element = np.dtype((np.void, element_size(constant.get_element_type())))
    shape, host = constant.get_shape(), source.type.layout
    numbers = np.frombuffer(raw_bytes(constant), element).reshape(shape)
    shards = layout.scalar_shard_shape
    physical = [by * extent for by, extent in zip(layout.grid_shape, shards, strict=True)]
    padded = np.zeros(math.prod(physical), element)
    strides = host.get_strides() if isinstance(host, HostLayoutAttr) else None
    if strides is None:
        padded[: numbers.size] = numbers.reshape(-1)
    else:
        steps = tuple(element.itemsize * each for each in strides)
        np.lib.stride_tricks.as_strided(padded, shape, steps)[...] = numbers
    rank = len(shards)
    parts = [each for pair in zip(layout.grid_shape, shards, strict=True) for each in pair]
    order = (*range(0, 2 * rank, 2), *range(1, 2 * rank, 2))
    arranged = padded.reshape(parts).transpose(order).reshape(-1, shards[-1])
    type_ = TensorType(constant.get_element_type(), arranged.shape)
    return elements_attr(cast("ElementsType", type_), arranged.tobytes())


def _type_of_buffer(buffer: Buffer, op: Operation) -> TensorType[Attribute]:
    """The type of a tensor with the pages of a buffer: all dimensions but the last are rows.

    Shards in L1 are those of a height-sharded tensor, one below the other in the order of cores.
    """
    layout = device_layout_of(buffer.type)
    element = element_of(buffer.type.element_type)
    if layout is None or not isinstance(element, TileFormat):
        refuse(op, f"has a buffer that is no tensor of ttnn, '{buffer.type}'")
    scalar = tt.element_type_of(element.scalar)
    element = TileFormat(element.height, element.width, _stored(element.data_type))
    *outer, rows, columns = layout.shard_shape
    rows *= math.prod(outer)
    shape = element.scalar_shape((rows, columns))
    if memory_space_of(buffer.type) is MemorySpace.DEVICE_DRAM:
        return _tiled(scalar, shape, element)
    cores = grid_cores(layout.grid_shape, chip_of(op).grid)
    width = 1 + max(x for x, _ in cores)
    shape = (shape[0] * len(cores), shape[1])
    core, _ = dims(2)
    return TensorType(
        scalar,
        shape,
        ttnn.TTNNLayoutAttr.of(
            TensorLayout(
                linear=AffineMap.identity(2),
                grid=Grid(
                    (len(cores), 1), AffineMap(2, 0, (constant(0), core // width, core % width))
                ),
                shard=(rows, columns),
                element=element,
                memory_space=MemorySpace.DEVICE_L1,
                memory_layout=TensorMemoryLayout.HEIGHT_SHARDED,
            )
        ),
    )


def _tiled(scalar: Attribute, shape: Sequence[int], element: TileFormat) -> TensorType[Attribute]:
    """The type of a tensor in tiles that go round the banks of DRAM."""
    layout = TensorLayout.of(
        shape,
        element,
        MemorySpace.DEVICE_DRAM,
        (1, 1),
        memory_layout=TensorMemoryLayout.INTERLEAVED,
    )
    return TensorType(scalar, shape, ttnn.TTNNLayoutAttr.of(layout))
