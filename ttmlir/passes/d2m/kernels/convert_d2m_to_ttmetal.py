"""Lower buffers, transfers and generics that name kernels to host operations.

Before:

    // After ttir-load-system-desc
    #l1 = #ttcore.memory_space<l1>
    !tile = !ttcore.tile<32x32, f32>
    !buffer = memref<2x1x1x3x!tile, #ttcore.shard<12288x4096>, #l1>
    !view = memref<2x1x1x3x!tile, #ttcore.view<map(4)>, #l1>
    !cb = !ttkernel.cb<cb_in0, 65536, memref<1x3x!tile>, 4096, 1>
    module {
      func.func @main(%a: memref<64x96xf32>) {
        %x = memref.alloc() {address = 16384 : i64, alignment = 16 : i64} : !buffer
        %c = memref.alloc() {address = 65536 : i64, alignment = 16 : i64} : !buffer
        d2m.to_layout %a, %x : memref<64x96xf32> into !buffer
        %s = "d2m.stream_layout"(%x, %c) : (!buffer, !buffer) -> !view
        d2m.generic {block_factors = [], grid = #ttcore.grid<2x1>, indexing_maps = [],
            iterator_types = [], threads = [#d2m.thread<datamovement, @reader0>]}
            ins() outs(%s : !view)
        return
      }
      func.func private @reader0(%cb: !cb) attributes {ttkernel.thread = #ttkernel.thread<noc>,
          ttmetal.kernel_args = #ttmetal.kernel_args<ct_args = [<buffer_address[0]>]>} {
        return
      }
    }

After:

    ...
        %0 = "ttmetal.create_buffer"() <{address = 16384 : i64}> : ...
        %1 = "ttmetal.create_buffer"() <{address = 65536 : i64}> : ...
        "ttmetal.enqueue_write_buffer"(%arg0, %0) : ...
        "ttmetal.enqueue_program"(%0, %1) <{cb_ports = array<i64: 0>, kernelConfigs =
            [#ttmetal.noc_config<@reader0, #ttmetal.core_range<0x0, 2x1>,
            #ttmetal.kernel_args<ct_args = [<buffer_address[0]>]>, noc0>], operandSegmentSizes =
            array<i32: 1, 1>}> : ...
        "ttmetal.deallocate_buffer"(%1) : ...
        "ttmetal.deallocate_buffer"(%0) : ...
        return
      }
    ...

Requires: functions on memrefs, whose buffers on the device have addresses; generics without regions
(convert-d2m-to-ttkernel). The attribute `tt.system_desc` on the module or around it.
Ensures: no operation of d2m is left. The host waits for what it reads. A buffer lives until its
`memref.dealloc`, or until its last use.
Options: the math fidelity of kernels that compute.
Not done here: addresses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects import memref
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.dialects import d2m, ttmetal
from ttmlir.dialects.d2m.late import CreateLocalSemaphoreOp, ToDeviceOp, ToHostOp
from ttmlir.dialects.definition.ods import KERNEL_THREAD, REFERENCE
from ttmlir.dialects.ttcore import device_layout_of, memory_space_of
from ttmlir.dialects.ttkernel import ArgSpecAttr
from ttmlir.dialects.ttkernel.attrs import ArgType
from ttmlir.dialects.ttmetal import (
    ComputeConfigAttr,
    ComputeKernel,
    KernelArg,
    KernelArgKind,
    KernelArgs,
    KernelArgsAttr,
    NocConfigAttr,
    NocKernel,
    UnpackToDestMode,
)
from ttmlir.ir.rewriting import erase, erase_unused, insert_before, refuse, replace, symbols_in
from ttmlir.ir.tensor_types import system_desc_in_scope
from ttmlir.layout.enums import MathFidelity, NocIndex
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.metal import grid_cores
from ttmlir.mlir.option_values import option
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.d2m.dst.select import is_wide_element
from ttmlir.passes.d2m.dst.tile_program import is_copied_only
from ttmlir.passes.d2m.kernels.kernel_plan import (
    APPROXIMATE,
    ARG_SPEC,
    D2M_REFERENCE,
    KERNEL_ARGS,
    READER_NOC,
    WIDE_DST,
    WRITER_NOC,
    address_of,
    chip_of,
    fidelity_of,
)

if TYPE_CHECKING:
    from xdsl.context import Context


@dataclass(frozen=True)
class ConvertD2MToTTMetalPass(ModulePass):
    """Lower buffers, transfers and generics that name kernels to host operations."""

    name = "convert-d2m-to-ttmetal"
    title = "ConvertD2MToTTMetal"
    math_fidelity: MathFidelity = option(
        MathFidelity.HIFI4, "Passes of the matrix unit over the bits of its operands"
    )

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Convert every function of the module that is no kernel."""
        for op in list(module.walk()):
            if isinstance(op, FuncOp) and KERNEL_THREAD not in op.attributes:
                self._convert(op)

    def _convert(self, function: FuncOp) -> None:
        table = function.parent_op()
        kernels = {} if table is None else symbols_in(table)
        ops = list(function.body.walk())
        for op in ops:
            match op:
                case memref.AllocOp():
                    _create_buffer(op)
                case memref.DeallocOp() if memory_space_of(_type(op.memref)).is_device:
                    _put(op, ttmetal.DeallocateBufferOp.create(operands=[op.memref]))
                case d2m.ToLayoutOp() | ToDeviceOp() | ToHostOp():
                    _transfer(op)
                case d2m.GenericOp():
                    self._enqueue(op, kernels)
                case CreateLocalSemaphoreOp():
                    _create_semaphore(op)
                case _:
                    pass
        views = d2m.ViewLayoutOp | d2m.Gather | d2m.StreamLayoutOp
        erase_unused(op for op in ops if isinstance(op, views))
        for op in function.body.walk():
            if op.name.startswith("d2m."):
                refuse(op, "is nothing that the host does; it is part of kernels")
        _deallocate(function)

    def _enqueue(self, generic: d2m.GenericOp, functions: dict[str, Operation]) -> None:
        """Let the host run the kernels of a generic."""
        if generic.regions:
            refuse(generic, "has regions in place of kernels; run convert-d2m-to-ttkernel before")
        kernels = [kernel_of(generic, functions, thread) for thread in generic.threads]
        buffers, cbs = _memory_of(generic, any(ARG_SPEC in each.attributes for each in kernels))
        named = [*zip(generic.threads, kernels, strict=True)]
        computing = [each for thread, each in named if thread.kind is d2m.ThreadKind.COMPUTE]
        moving = [each for thread, each in named if thread.kind is not d2m.ThreadKind.COMPUTE]
        if len(moving) > len(_NETWORKS):
            refuse(generic, "has more than two kernels that move data; a core runs two")
        configs: list[NocConfigAttr | ComputeConfigAttr] = []
        for area in areas_of(generic):
            for part, networks in _share_networks(area, moving):
                configs += [
                    NocConfigAttr(NocKernel(each.sym_name.data, part, arguments_of(each), network))
                    for each, network in zip(moving, networks, strict=False)
                ]
            configs += [self._compute(generic, each, area, cbs) for each in computing]
        program = ttmetal.EnqueueProgramOp.of(buffers, cbs, range(len(cbs)), configs)
        reference = generic.attributes.get(D2M_REFERENCE)
        if reference is not None:
            program.attributes[REFERENCE] = reference
        _put(generic, program)

    def _compute(
        self,
        generic: d2m.GenericOp,
        function: FuncOp,
        area: ttmetal.Area,
        cbs: Sequence[SSAValue],
    ) -> ComputeConfigAttr:
        return ComputeConfigAttr(
            ComputeKernel(
                function.sym_name.data,
                area,
                arguments_of(function),
                fidelity_of(function, self.math_fidelity),
                fp32_dest_acc_en=WIDE_DST in function.attributes
                or (ARG_SPEC in function.attributes and any(map(_is_wide, cbs))),
                unpack_to_dest_modes=unpack_modes(function, cbs),
                math_approx_mode=APPROXIMATE in function.attributes,
            )
        )


def _memory_of(
    generic: d2m.GenericOp, has_specs: bool
) -> tuple[Sequence[SSAValue], Sequence[SSAValue]]:
    """The buffers that kernels know by number, and the memory of circular buffers.

    Kernels of tt-mlir count all operands, those of this project the streams.
    """
    operands = generic.buffers
    streams = [v for v in operands if isinstance(v.owner, d2m.StreamLayoutOp)]
    listed = operands if has_specs else streams
    buffers = [d2m.memory_of(value) for value in listed]
    cbs = [
        value.owner.storage
        if isinstance(value.owner, d2m.StreamLayoutOp)
        else d2m.memory_of(value)
        if has_specs
        else value
        for value in operands
    ]
    return [*buffers, *generic.additional], cbs


def _type(value: SSAValue) -> MemRefType[Attribute]:
    return cast("MemRefType[Attribute]", value.type)


def _put(op: Operation, *new: Operation) -> None:
    """Put operations in the place of one without results."""
    for each in new:
        each.location = op.location
    insert_before(op, *new)
    erase(op)


def _create_semaphore(op: CreateLocalSemaphoreOp) -> None:
    new = ttmetal.CreateLocalSemaphoreOp.create(
        result_types=[ttmetal.LocalSemaphoreType()], properties=dict(op.properties)
    )
    new.location = op.location
    insert_before(op, new)
    replace(op, new.results[0])


# --- Buffers and transfers ------------------------------------------------------------------------


def _create_buffer(op: memref.AllocOp) -> None:
    type_ = _type(op.memref)
    if not memory_space_of(type_).is_device:
        return
    address = address_of(op)
    if address is None:
        refuse(op, "is a buffer of the device without an address; run d2m-allocate before")
    new = ttmetal.CreateBufferOp.of(address, type_)
    new.location = op.location
    insert_before(op, new)
    replace(op, new.results[0])


def _transfer(op: d2m.ToLayoutOp | ToDeviceOp | ToHostOp) -> None:
    source, target = op.operands
    if op.results:
        refuse(op, "moves a tensor; run ttcore-one-shot-bufferize before")
    from_device, to_device = (memory_space_of(_type(each)).is_device for each in (source, target))
    if from_device is to_device:
        where = "on the device" if from_device else "on the host"
        refuse(op, f"moves numbers {where}; transfers go from one to the other")
    if to_device:
        _put(op, ttmetal.EnqueueWriteBufferOp.of(source, target))
    else:
        _put(op, ttmetal.EnqueueReadBufferOp.of(source, target), ttmetal.FinishOp.create())


def _deallocate(function: FuncOp) -> None:
    """End the life of each buffer after its last use, unless something else does."""
    for op in list(function.body.walk()):
        if not isinstance(op, ttmetal.CreateBufferOp):
            continue
        users = {use.operation for use in op.results[0].uses}
        if any(isinstance(user, ttmetal.DeallocateBufferOp) for user in users):
            continue
        last: Operation = op
        following = op.next_op
        while following is not None:
            last = following if following in users else last
            following = following.next_op
        following = last.next_op
        if following is not None:
            free = ttmetal.DeallocateBufferOp.create(operands=[op.results[0]])
            free.location = last.location
            insert_before(following, free)


# --- Kernels --------------------------------------------------------------------------------------


def kernel_of(
    generic: d2m.GenericOp, functions: dict[str, Operation], thread: d2m.ThreadAttr
) -> FuncOp:
    """The kernel that a thread of a generic names."""
    function = functions.get(thread.symbol or "")
    if not isinstance(function, FuncOp) or KERNEL_THREAD not in function.attributes:
        refuse(generic, f"names @{thread.symbol}, which is no kernel of the module")
    return function


def arguments_of(function: FuncOp) -> KernelArgs:
    """The arguments of a kernel."""
    attr = function.attributes.get(KERNEL_ARGS)
    spec = function.attributes.get(ARG_SPEC)
    if isinstance(spec, ArgSpecAttr):
        lists = (
            tuple(KernelArg(_KIND_OF[each.type], each.operand) for each in listed)
            for listed in (spec.compile_time, spec.runtime)
        )
        return KernelArgs(*lists, late=True)
    return attr.data if isinstance(attr, KernelArgsAttr) else KernelArgs()


_KIND_OF = {kind: KernelArgKind.from_keyword(kind.keyword) for kind in ArgType}


def areas_of(generic: d2m.GenericOp) -> list[ttmetal.Area]:
    """The rectangles of cores that the grid lies on: whole rows, and the rest of one."""
    if system_desc_in_scope(generic) is None and len(generic.grid_shape) == 2:
        return [ttmetal.Area((0, 0), generic.grid_shape)]
    try:
        cores = grid_cores(generic.grid_shape, chip_of(generic).grid)
    except LayoutError as error:
        refuse(generic, f"has no cores: {error}")
    width = 1 + max(x for x, _ in cores)
    rows, rest = divmod(len(cores), width)
    areas = [ttmetal.Area((0, 0), (rows, width))] if rows else []
    return [*areas, ttmetal.Area((rows, 0), (1, rest))] if rest else areas


_NETWORKS = (READER_NOC, WRITER_NOC)
_PAGES = "ttkernel.get_interleaved_addr_gen_fast"
_CORES = frozenset(f"ttkernel.{name}" for name in ("get_noc_multicast_addr", "my_x", "my_y"))


def _share_networks(
    area: ttmetal.Area, kernels: Sequence[FuncOp]
) -> list[tuple[ttmetal.Area, Sequence[NocIndex]]]:
    """Parts of a rectangle of cores, with the networks of the kernels that move data there.

    Programs read more than they write, and the links beside DRAM are narrower than DRAM: where
    kernels know no cores, but only pages of DRAM, half of the cores read on the other network.
    """
    names = {op.name for kernel in kernels for op in kernel.body.walk()}
    (y, x), (rows, columns) = area.offset, area.size
    if _PAGES not in names or names & _CORES or rows == 1:
        return [(area, _NETWORKS)]
    half = rows // 2
    return [
        (ttmetal.Area((y, x), (half, columns)), _NETWORKS),
        (ttmetal.Area((y + half, x), (rows - half, columns)), _NETWORKS[::-1]),
    ]


def _is_wide(value: SSAValue) -> bool:
    """True for tiles of 32-bit numbers."""
    layout = device_layout_of(value.type)
    assert layout is not None, "memory of circular buffers is divided over the cores"
    return is_wide_element(layout.element_type)


def unpack_modes(function: FuncOp, cbs: Sequence[SSAValue]) -> tuple[UnpackToDestMode, ...]:
    """How tiles of each circular buffer get to DST.

    32-bit numbers reach DST with all bits where they are copied there, and nothing else."""
    modes = [UnpackToDestMode.DEFAULT] * len(cbs)
    if ARG_SPEC in function.attributes:
        return (UnpackToDestMode.DEFAULT,)
    for argument, value in zip(function.body.block.args, cbs, strict=True):
        users = {use.operation.name.removeprefix("ttkernel.") for use in argument.uses}
        if _is_wide(value) and is_copied_only(users):
            modes[argument.index] = UnpackToDestMode.FP32
    return tuple(modes) if any(mode is UnpackToDestMode.FP32 for mode in modes) else (modes[0],)
