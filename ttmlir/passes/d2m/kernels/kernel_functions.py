"""Functions that were regions of generics, as kernels of ttkernel of late 2025 and 2026.

A function with a `d2m.thread` becomes one with a `ttkernel.thread`. What it is given is listed in
`ttkernel.arg_spec`, in this order: circular buffers and semaphores as they are asked for, then
addresses of buffers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    BoolAttr,
    DenseArrayBase,
    FloatAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    i32,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue
from xdsl.rewriter import Rewriter

from ttmlir.dialects import d2m
from ttmlir.dialects.d2m.late import GetArgOp, GetCBOp, PopOp, PushOp
from ttmlir.dialects.definition.ods import KERNEL_THREAD, text
from ttmlir.dialects.tt.layout import DataTypeAttr, element_of
from ttmlir.dialects.ttcore import device_layout_of, memory_space_of
from ttmlir.dialects.ttkernel import ArgSpecAttr, CBType, ThreadTypeAttr, op_class
from ttmlir.dialects.ttkernel.attrs import (
    ArgType,
    BcastType,
    BcastTypeAttr,
    CircularBuffer,
    CircularBufferParameter,
    KernelArgument,
    L1AddrPtrType,
    LocalSemaphoreType,
    NocAddrType,
    ReduceDim,
    ReduceDimAttr,
    ReduceType,
    ReduceTypeAttr,
)
from ttmlir.ir.kernel_builder import bits_of, is_short
from ttmlir.ir.rewriting import erase, refuse
from ttmlir.layout.data_format import TileFormat
from ttmlir.layout.enums import CBPort, MemorySpace, ThreadType
from ttmlir.layout.metal import cb_pages
from ttmlir.mlir.core_prefix import use_late_kernels
from ttmlir.optable.kernel import CALLS
from ttmlir.optable.kernel.late_calls import LatePart, late_call
from ttmlir.optable.kernel.tile_calls import Step
from ttmlir.passes.d2m.kernels.accumulators import keep_accumulators
from ttmlir.passes.d2m.kernels.kernel_plan import ARG_SPEC
from ttmlir.passes.d2m.regions.region_builder import Index, RegionBuilder, constant_of
from ttmlir.passes.general.lower_affine import lower_affine

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

MemRef = MemRefType[Attribute]
_NOT_YET = "is in a function that is no kernel yet; run the passes on regions before"
_INIT_OF = {call.mnemonic: call.init for call in CALLS}
_ONE_CALL = {
    "tile_logical_left_shift": "binary_left_shift_tile",
    "tile_logical_right_shift": "binary_logical_right_shift_tile",
    "tile_right_shift": "binary_right_shift_tile",
}
"""Shifts by distances below the width, for which 2026 has single calls."""
_RESULTS: dict[str, Attribute] = {
    "i32": i32,
    "index": IndexType(),
    "int": IndexType(),
    "noc_addr": NocAddrType(),
    "semaphore": LocalSemaphoreType(),
    "pointer": L1AddrPtrType.get(),
}


def convert_functions(module: ModuleOp, *, ttnn_mode: bool) -> bool:
    """Make kernels of the functions of a module that were regions; True if there are any."""
    functions = [
        op
        for op in module.walk()
        if isinstance(op, FuncOp) and d2m.KERNEL_THREAD in op.attributes and not op.is_declaration
    ]
    for function in functions:
        lower_affine(function)
    keep_accumulators(module, {each.sym_name.data: each for each in functions})
    for function in functions:
        use_late_kernels(module)
        _Kernel(function, ttnn_mode=ttnn_mode).convert()
    return bool(functions)


class KernelCalls(RegionBuilder):
    """Adds calls of ttkernel in the form of 2026."""

    def call(
        self,
        mnemonic: str,
        *operands: Index,
        result: Attribute | None = None,
        **given: Attribute,
    ) -> SSAValue:
        """A call; operands that are left out at the end are 0. Its result, or its first operand."""
        form = late_call(mnemonic)
        assert form is not None, f"{mnemonic} is a call of 2026"
        wanted = [part for part in form.operands if not part.variadic]
        required = [part for part in wanted if not part.optional]
        taken = list(operands) + [0] * (len(required) - len(operands))
        values = [self._operand(value, part) for value, part in zip(taken, wanted, strict=False)]
        types = [_RESULTS[kind] if result is None else result for kind in form.results]
        op = op_class(mnemonic).create(operands=values, result_types=types, properties=given)
        self.add_op(op)
        return op.results[0] if op.results else values[0] if values else self.constant(0)

    def _operand(self, value: Index, part: LatePart) -> SSAValue:
        if isinstance(value, int):
            if part.kind in ("i32", "address", "l1_address", "i16", "i1"):
                attr = IntegerAttr(value, i32)
                return self.add_op(arith.ConstantOp(attr)).results[0]
            return self.constant(value)
        return self.word(value) if part.kind == "i32" else value

    def word(self, value: Index) -> SSAValue:
        """An index as a 32-bit word."""
        if isinstance(value, int):
            return self.add_op(arith.ConstantOp(IntegerAttr(value, i32))).results[0]
        if not isinstance(value.type, IndexType):
            return value
        number = constant_of(value)
        if number is not None:
            return self.word(number)
        return self.add_op(arith.IndexCastOp(value, i32)).results[0]

    def add_words(self, a: SSAValue, b: Index) -> SSAValue:
        """The sum of a word and an index."""
        if b == 0 or (not isinstance(b, int) and constant_of(b) == 0):
            return a
        return self.add_op(arith.AddiOp(a, self.word(b))).results[0]


@dataclass
class _Kernel:
    """One function, while it becomes a kernel."""

    function: FuncOp
    ttnn_mode: bool
    compile_time: list[KernelArgument] = field(default_factory=list[KernelArgument])
    runtime: list[KernelArgument] = field(default_factory=list[KernelArgument])
    cbs: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """Circular buffers of ttkernel, by those of d2m."""
    begun: set[str] = field(default_factory=set[str])
    """What is prepared once, at the beginning."""

    def convert(self) -> None:
        """Convert all that the function does."""
        thread = cast("d2m.ThreadAttr", self.function.attributes[d2m.KERNEL_THREAD])
        self.computes = thread.kind is d2m.ThreadKind.COMPUTE
        if thread.kind is d2m.ThreadKind.UNIFIED:
            refuse(self.function, "is a unified thread; run d2m-split-unified-thread before")
        self.block = self.function.body.block
        self.ops = list(self.function.walk())
        self.waits = {
            each: sorted(_directions(each.operands[0], set()))
            for each in self.ops
            if isinstance(each, d2m.DMAWaitOp)
        }
        read = [each for each in self.ops if isinstance(each, d2m.WaitOp)]
        self.is_mixed = (
            len({cast("d2m.CBType", each.operands[0].type).element_type for each in read}) > 1
        )
        """Whether tiles of several formats are copied to DST."""
        self.explicit = {each.operands[0] for each in self.ops if isinstance(each, PushOp | PopOp)}
        self._ask_for_arguments()
        for op in self.ops:
            if op is not self.function and op.parent is not None:
                self._convert(op)
        self._forget()
        self._set_type(thread)

    # --- Arguments -------------------------------------------------------------------------------

    def _ask_for_arguments(self) -> None:
        first = self.block.first_op
        assert first is not None, "functions return"
        build = KernelCalls.before(first)
        buffers = sum(isinstance(each.type, d2m.CBType) for each in self.block.args)
        for argument in list(self.block.args):
            if isinstance(argument.type, d2m.CBType):
                new = self._cb(build, argument.index, argument.type)
                self.cbs[argument] = new
            elif not isinstance(argument.type, d2m.SemaphoreType):
                refuse(
                    self.function,
                    f"has an argument of type '{text(argument.type)}'; those of kernels are "
                    "circular buffers and semaphores",
                )
            elif not self.computes:
                new = self._semaphore(build, argument.index - buffers)
                argument.replace_all_uses_with(new)
        asked = {GetCBOp: 0, GetArgOp: 1, d2m.GetGlobalOperandOp: 2}
        asking = [each for each in self.ops if isinstance(each, tuple(asked))]
        for each in sorted(asking, key=lambda op: asked[type(op)]):
            number = cast("GetArgOp", each).number
            (value,) = each.results
            place = KernelCalls.before(each) if isinstance(each, GetCBOp | GetArgOp) else build
            if isinstance(each, GetCBOp):
                self.cbs[value] = self._cb(place, number, cast("d2m.CBType", value.type))
            elif isinstance(each, GetArgOp):
                if "semaphore" not in value.type.name:
                    refuse(
                        each, "is an argument that kernels cannot have; supported are semaphores"
                    )
                value.replace_all_uses_with(self._semaphore(place, number))
            else:
                self.cbs[value] = self._address(build, number)

    def _take(self, build: KernelCalls, kind: ArgType, number: int, type_: Attribute) -> SSAValue:
        self.compile_time.append(KernelArgument(kind, number))
        place = IntegerAttr(len(self.compile_time) - 1, i32)
        return build.call("get_compile_time_arg_val", result=type_, arg_index=place)

    def _cb(self, build: KernelCalls, number: int, type_: d2m.CBType) -> SSAValue:
        tiles = math.prod(type_.shape)
        described = CircularBuffer(CBPort.IN0, 0, 0, elements=tiles)
        cb = CBType(CircularBufferParameter(described), MemRefType(type_.element_type, [tiles]))
        return self._take(build, ArgType.CB_PORT, number, cb)

    def _semaphore(self, build: KernelCalls, number: int) -> SSAValue:
        index = self._take(build, ArgType.LOCAL_SEMAPHORE, number, i32)
        return build.call("get_semaphore", index)

    def _address(self, build: KernelCalls, number: int) -> SSAValue:
        if not self.ttnn_mode:
            return self._take(build, ArgType.BUFFER_ADDRESS, number, i32)
        self.runtime.append(KernelArgument(ArgType.BUFFER_ADDRESS, number))
        return build.call("get_common_arg_val", len(self.runtime) - 1, result=i32)

    def _set_type(self, thread: d2m.ThreadAttr) -> None:
        for argument in reversed(list(self.block.args)):
            self.block.erase_arg(argument)
        self.function.function_type = FunctionType.from_lists([], [])
        attributes = self.function.attributes
        attributes.pop(d2m.KERNEL_THREAD)
        spec = (tuple(self.runtime), tuple(self.compile_time))
        attributes[ARG_SPEC] = ArgSpecAttr(spec)
        kind = ThreadType.COMPUTE if self.computes else ThreadType.NOC
        attributes[KERNEL_THREAD] = ThreadTypeAttr(kind)
        self.function.attributes = {
            ARG_SPEC: attributes[ARG_SPEC],
            KERNEL_THREAD: attributes[KERNEL_THREAD],
            **attributes,
        }

    # --- Operations ------------------------------------------------------------------------------

    def _convert(self, op: Operation) -> None:
        build = KernelCalls.before(op)
        match op:
            case memref.StoreOp():
                self._store(op, build)
            case d2m.ComputeOp():
                self._convert_computation(op, build)
            case d2m.DataMovementOp():
                self._convert_movement(op, build)
            case d2m.WaitOp() | d2m.ReserveOp():
                self._hold(op, build)
            case PushOp() | PopOp():
                call = "cb_push_back" if isinstance(op, PushOp) else "cb_pop_front"
                build.call(call, self.cbs[op.operands[0]], self._pages(op.operands[0]))
            case d2m.CoreIndexOp():
                if op.number not in (0, 1):
                    refuse(op, "names a dimension beyond rows (0) and columns (1) of cores")
                core = build.call(f"my_logical_{'yx'[op.number]}_")
                op.results[0].replace_all_uses_with(core)
            case d2m.IterIndexOp():
                refuse(op, _NOT_YET)
            case _:
                pass

    def _convert_computation(self, op: d2m.ComputeOp, build: KernelCalls) -> None:
        """What stands alone; operations on single tiles are converted where they are stored."""
        match op:
            case d2m.AcquireDstOp():
                build.call("tile_regs_acquire")
            case d2m.PackerMaskResetOp():
                build.call("reduce_uninit")
            case d2m.TileMatmulBlockOp():
                self._multiply_blocks(op, build)
            case d2m.TileTilizeBlockOp() | d2m.TileUntilizeBlockOp():
                self._change_format(op, build)
            case d2m.TileOp() | d2m.DstReinterpretCastOp():
                pass
            case _:
                refuse(op, "has no call in kernels of 2026 that is known here")

    def _convert_movement(self, op: d2m.DataMovementOp, build: KernelCalls) -> None:
        match op:
            case d2m.DMAReadOp() | d2m.DMAWriteOp():
                self._move(op, build)
            case d2m.DMAWaitOp():
                for word in self.waits[op]:
                    build.call(f"noc_async_{word}_barrier")
            case d2m.SemaphoreSetOp() | d2m.SemaphoreIncOp() | d2m.SemaphoreWaitOp():
                self._synchronize(op, build)
            case _:
                refuse(op, _NOT_YET)

    def _pages(self, cb: SSAValue) -> int:
        type_ = cast("d2m.CBType", cb.type)
        return cb_pages(type_.shape, element_of(type_.element_type))

    def _hold(self, op: d2m.WaitOp | d2m.ReserveOp, build: KernelCalls) -> None:
        cb, pages = self.cbs[op.operands[0]], self._pages(op.operands[0])
        is_wait = isinstance(op, d2m.WaitOp)
        build.call("cb_wait_front" if is_wait else "cb_reserve_back", cb, pages)
        if op.operands[0] in self.explicit:
            return
        end = KernelCalls.at_end(cast("Block", op.parent), op)
        following = op.next_op
        while following is not None and not is_wait:
            if isinstance(following, d2m.WaitOp) and following.operands[0] is op.operands[0]:
                end = KernelCalls.before(following)  # what waits for the block itself
                break
            following = following.next_op
        end.call("cb_pop_front" if is_wait else "cb_push_back", cb, pages)

    def _begin(self, name: str, *operands: Index, **given: Attribute) -> None:
        """Call what prepares a kernel once, behind the arguments."""
        if name in self.begun:
            return
        self.begun.add(name)
        owners = {each.owner for each in operands if isinstance(each, SSAValue)}
        last: Operation | None = None
        for each in self.block.ops:
            if each in owners or each.name == "ttkernel.get_compile_time_arg_val":
                last = each
        assert last is not None, "kernels that compute have circular buffers"
        place = KernelCalls(self.block, self.function.location, before=last.next_op)
        place.call(name, *operands, **given)

    # --- Places ----------------------------------------------------------------------------------

    def _place(self, buffer: SSAValue, indices: Sequence[Index], build: RegionBuilder) -> Index:
        """The number of a tile among those of its circular buffer, or of DST."""
        owner = buffer.owner
        type_ = cast("MemRef", buffer.type)
        match owner:
            case memref.CollapseShapeOp():
                return indices[0] if len(indices) == 1 else self._linear(type_, indices, build)
            case memref.SubviewOp():
                offsets = _mixed(owner.static_offsets, owner.offsets)
                strides = _mixed(owner.static_strides, owner.strides)
                inner = [
                    build.add(offset, build.multiply(index, stride))
                    for offset, index, stride in zip(offsets, indices, strides, strict=True)
                ]
                return self._place(owner.source, inner, build)
            case memref.CastOp():
                return self._place(owner.source, indices, build)
            case _:
                return self._linear(type_, indices, build)

    @staticmethod
    def _linear(type_: MemRef, indices: Sequence[Index], build: RegionBuilder) -> Index:
        number: Index = 0
        for index, extent in zip(indices, type_.get_shape(), strict=True):
            number = build.add(build.multiply(number, extent), index)
        return number

    def _cb_of(self, op: Operation, buffer: SSAValue) -> SSAValue:
        """The circular buffer of a local buffer."""
        while isinstance(buffer.owner, memref.CollapseShapeOp | memref.SubviewOp | memref.CastOp):
            buffer = buffer.owner.operands[0]
        if isinstance(buffer.owner, d2m.WaitOp | d2m.ReserveOp):
            return self.cbs[buffer.owner.operands[0]]
        refuse(op, "works on memory that is no block of a circular buffer")

    def _tile(self, op: Operation, tile: SSAValue, build: RegionBuilder) -> Index:
        """Where in DST a tile is."""
        while isinstance(tile.owner, d2m.DstReinterpretCastOp):
            tile = tile.owner.operands[0]
        load = tile.owner
        if isinstance(load, memref.LoadOp) and _is_dst(load.memref):
            return self._place(load.memref, list(load.indices), build)
        if isinstance(load, d2m.TileOp):
            if load.IN_PLACE and load.DST_OPERANDS:
                return self._tile(op, load.operands[load.DST_OPERANDS[0]], build)
        refuse(op, "takes a tile that is not in DST; run d2m-insert-dst-register-access before")

    def _source(
        self, op: Operation, tile: SSAValue, build: RegionBuilder
    ) -> tuple[SSAValue, Index]:
        """The circular buffer of a tile, and its number there."""
        load = tile.owner
        if isinstance(load, memref.LoadOp) and not _is_dst(load.memref):
            return self._cb_of(op, load.memref), self._place(load.memref, list(load.indices), build)
        refuse(op, "takes a tile that is in no circular buffer, from where it must come")

    # --- Computation -----------------------------------------------------------------------------

    def _store(self, op: memref.StoreOp, build: KernelCalls) -> None:
        value, chain = self._chain(op)
        place = self._place(op.memref, list(op.indices), build)
        load = value.owner
        if chain:
            for each in reversed(chain):
                self._compute(each, place, build)
        elif not isinstance(load, memref.LoadOp):
            refuse(op, "stores what was not read from memory or computed in DST")
        elif _is_dst(op.memref):
            cb, number = self._source(op, value, build)
            if self.is_mixed:
                refuse(
                    op,
                    "copies tiles of several formats to DST, for which kernels of 2026 have no "
                    "call that is known here; convert them by a ttir.typecast before",
                )
            build.call("copy_tile_init", cb)
            build.call("copy_tile", cb, number, place)
        elif _is_dst(load.memref):
            cb = self._cb_of(op, op.memref)
            slot = self._tile(op, value, build)
            build.call("pack_tile", slot, cb, place, out_of_order=BoolAttr.from_bool(True))
        else:
            refuse(op, "copies a tile from L1 to L1; it must go by DST")

    @staticmethod
    def _chain(op: memref.StoreOp) -> tuple[SSAValue, list[d2m.TileOp]]:
        """What is stored, and the operations that compute it in place, from the last one on."""
        value = op.value
        chain: list[d2m.TileOp] = []
        while True:
            owner = value.owner
            if isinstance(owner, d2m.DstReinterpretCastOp):
                value = owner.operands[0]
            elif isinstance(owner, d2m.TileOp) and _is_dst(op.memref):
                chain.append(owner)
                if not owner.DST_OPERANDS:
                    return value, chain
                value = owner.operands[owner.DST_OPERANDS[0]]
            else:
                return value, chain

    def _ends(self, op: Operation) -> tuple[SSAValue, SSAValue]:
        """The circular buffers that a kernel reads first and writes first."""
        reads = [each for each in self.ops if isinstance(each, d2m.WaitOp)]
        writes = [each for each in self.ops if isinstance(each, d2m.ReserveOp)]
        both = [each.operands[0] for each in (*reads, *writes)]
        if not both:
            refuse(op, "computes without a circular buffer")
        source = reads[0].operands[0] if reads else both[0]
        target = writes[0].operands[0] if writes else both[0]
        return self.cbs[source], self.cbs[target]

    def _compute(self, op: d2m.TileOp, out: Index, build: KernelCalls) -> None:
        """One operation on tiles, whose result has a place in DST."""
        source, target = self._ends(op)
        match op:
            case d2m.TileMatmulOp():
                (a, i), (b, j) = (self._source(op, each, build) for each in op.operands[:2])
                self._begin("mm_init", a, b, target)
                build.call("mm_init_short", a, b)
                build.call("matmul_tiles", a, b, i, j, out)
            case d2m.TileReduceSumOp() | d2m.TileReduceMaxOp():
                (a, i), (b, j) = (self._source(op, each, build) for each in op.operands[:2])
                given = _reduction(op)
                self._begin("compute_kernel_hw_startup", a, b, target)
                build.call("reduce_init", a, b, target, **given)
                build.call("reduce_tile", a, b, i, j, out, **given)
            case d2m.TileTransposeOp():
                a, i = self._source(op, op.operands[0], build)
                self._begin("compute_kernel_hw_startup", a, target)
                build.call("transpose_wh_init", a, target)
                build.call("transpose_wh_tile", a, i, out)
            case d2m.TileBcastOp():
                a, i = self._source(op, op.operands[0], build)
                kind = {"row": BcastType.ROW, "col": BcastType.COL}.get(
                    op.kind.keyword, BcastType.SCALAR
                )
                given = {"bcast_type": BcastTypeAttr(kind)}
                self._begin("compute_kernel_hw_startup", a, target)
                build.call("unary_bcast_init", a, target, **given)
                build.call("unary_bcast", a, i, out, **given)
            case d2m.TileFillOp():
                self._begin("init_sfpu", source, target)
                number = FloatAttr(op.number, 32)
                value = build.add_op(arith.ConstantOp(number)).results[0]
                build.call("fill_tile_init")
                build.call("fill_tile", out, value)
            case d2m.ElementwiseTileOp():
                self._begin("init_sfpu", source, target)
                self._compute_elements(op, out, build)
            case _:
                refuse(op, "has no call in kernels of 2026 that is known here")

    def _compute_elements(self, op: d2m.ElementwiseTileOp, out: Index, build: KernelCalls) -> None:
        is_float = _is_float(op.operands[0].type)
        call = op.TILE_OPERATION.call
        steps = call.floats if is_float else call.integers
        if op.TILE_OPERATION.mnemonic == "tile_typecast":
            steps = self._conversion(op, steps or (), is_float=is_float)
        number = op.operands[1] if len(op.operands) > 1 else None
        if number is not None and number.type.name != "tt.tile":
            self._compute_with_number(op, number, out, build)
            return
        if op.TILE_OPERATION.mnemonic in _ONE_CALL:
            steps = (Step(call=_ONE_CALL[op.TILE_OPERATION.mnemonic], slots=(0, 1, 0)),)
        highest = max((slot for step in steps or () for slot in step.slots), default=0)
        if (
            steps is None
            or any(late_call(step.call) is None for step in steps)
            or highest >= len(op.operands)
        ):
            refuse(op, "has no call for such numbers in kernels of 2026")
        slots: dict[int, Index] = {
            slot: self._tile(op, op.operands[operand], build)
            for slot, operand in enumerate(op.DST_OPERANDS)
        }
        for count, step in enumerate(steps):
            is_last = count == len(steps) - 1
            places = [slots.get(slot, out) for slot in step.slots]
            if is_last and len(places) > 1:
                places[-1] = out
            self._step(op, step, places, build)

    @staticmethod
    def _conversion(
        op: d2m.ElementwiseTileOp, steps: Sequence[Step], *, is_float: bool
    ) -> Sequence[Step]:
        """How a tile is converted: for truth values, by asking what is not 0."""
        named = [op.properties.get(name) for name in ("source", "target")]
        source, target = (each and element_of(each).scalar for each in named)
        if any(each is not None and is_short(each) for each in (source, target)):
            refuse(op, "converts integers of 8 or 16 bits, for which kernels of 2026 have no calls")
        has_truths = source is not None and source.keyword == "i1"
        if target is None or target.keyword != "i1" or has_truths:
            return steps
        asks = Step(call="nez_tile" if is_float else "nez_tile_int32", slots=(0,))
        return (asks,) if is_float == _is_float(op.results[0].type) else (asks, *steps)

    def _step(
        self, op: d2m.ElementwiseTileOp, step: Step, places: list[Index], build: KernelCalls
    ) -> None:
        init = _INIT_OF.get(step.call, "")
        formats = {"in_dtype": op.operands[0].type, "out_dtype": op.results[0].type}
        for name in (init, step.call):
            form = late_call(name) if name else None
            if form is None:
                continue
            given: dict[str, Attribute] = {
                part.name: DataTypeAttr(
                    _format_of(formats.get(part.name, op.operands[0].type)).data_type
                )
                for part in form.attributes
                if part.kind == "data_type"
            }
            parameters = op.parameters()
            numbers: list[Index] = []
            for scalar in step.scalars:
                value = parameters[scalar] if isinstance(scalar, str) else scalar
                number = float(cast("float", value))
                numbers.append(bits_of(number) if _is_float(op.operands[0].type) else int(number))
            taken = [] if name == init else [*places, *numbers]
            build.call(name, *taken, **given)

    def _compute_with_number(
        self, op: d2m.ElementwiseTileOp, number: SSAValue, out: Index, build: KernelCalls
    ) -> None:
        """A tile and one number, which the call is given as bits."""
        word = op.TILE_OPERATION.mnemonic.removeprefix("tile_")
        name = "power_tile" if word == "pow" else f"{word}_unary_tile"
        attr = number.owner.properties.get("value") if isinstance(number.owner, Operation) else None
        if late_call(name) is None or not isinstance(attr, FloatAttr | IntegerAttr):
            refuse(op, "takes a number that is no constant, or has no call for one")
        self._tile(op, op.operands[0], build)
        value = cast("FloatAttr | IntegerAttr", attr).value.data
        init = "power_tile_init" if word == "pow" else "binop_with_scalar_tile_init"
        bits = (
            bits_of(float(value)) if isinstance(attr, FloatAttr) and word != "pow" else int(value)
        )
        build.call(init)
        build.call(name, out, bits)

    def _multiply_blocks(self, op: d2m.TileMatmulBlockOp, build: KernelCalls) -> None:
        a, b, c = (self._cb_of(op, value) for value in op.operands)
        *outer, rows, terms = cast("MemRef", op.operands[0].type).get_shape()
        if math.prod(outer) != 1:
            refuse(
                op,
                "multiplies several matrices; products of blocks are of one, others are made of "
                "d2m.tile_matmul",
            )
        columns = cast("MemRef", op.operands[1].type).get_shape()[-1]
        sizes = (columns, rows, terms)
        self._begin("mm_block_init", a, b, c, 0, *sizes)
        build.call("mm_block_init_short", a, b, 0, *sizes)
        build.call("experimental::matmul_block", a, b, 0, 0, 0, 0, *sizes, columns)

    def _change_format(
        self, op: d2m.TileTilizeBlockOp | d2m.TileUntilizeBlockOp, build: KernelCalls
    ) -> None:
        source, target = (self._cb_of(op, value) for value in op.operands)
        is_tilize = isinstance(op, d2m.TileTilizeBlockOp)
        tiled = op.operands[1 if is_tilize else 0]
        *outer, columns = cast("MemRef", tiled.type).get_shape()
        rows = math.prod(outer)
        self._begin("compute_kernel_hw_startup", source, target)
        if is_tilize:
            build.call("tilize_init", source, columns, target)
            build.call("experimental::tilize_block", source, target, rows, columns)
        else:
            build.call("untilize_init", source)
            build.call("experimental::untilize_block", source, target, rows, columns)

    # --- Movement --------------------------------------------------------------------------------

    def _core(self, y: Index, x: Index, build: KernelCalls) -> tuple[SSAValue, SSAValue]:
        return (
            build.call("experimental::convert_logical_x_to_translated", x),
            build.call("experimental::convert_logical_y_to_translated", y),
        )

    def _move(self, op: d2m.DMAReadOp | d2m.DMAWriteOp, build: KernelCalls) -> None:
        if op.count == 0:
            refuse(op, "moves a whole shard; run d2m-lower-dma-to-fully-indexed-form before")
        element = element_of(cast("MemRef", op.src.type).element_type)
        size = (op.count or 0) * element.stored_bytes
        if isinstance(op, d2m.DMAReadOp):
            there = self._remote(op.src, op.src_indices, build)
            here = self._local(op, op.dst, op.dst_indices, build, is_read=True)
            build.call("noc_async_read", there, here, size)
        elif device_layout_of(op.dst.type) is not None:
            here = self._local(op, op.src, op.src_indices, build, is_read=False)
            there = self._remote(op.dst, op.dst_indices, build)
            build.call("noc_async_write", here, there, size)
        else:
            self._send(op, size, build)
        op.results[0].replace_all_uses_with(build.word(0))

    def _remote(self, value: SSAValue, indices: Sequence[SSAValue], build: KernelCalls) -> SSAValue:
        address = self.cbs.get(value)
        if address is None:
            refuse(self.function, "moves data of a buffer that is no operand of its d2m.generic")
        y, x, byte = indices
        at = build.add_words(address, byte)
        if memory_space_of(cast("MemRef", value.type)) is MemorySpace.DEVICE_DRAM:
            return build.call("get_noc_addr_from_bank_id", x, at)
        return build.call("get_noc_addr", *self._core(y, x, build), at)

    def _local(
        self,
        op: Operation,
        value: SSAValue,
        indices: Sequence[SSAValue],
        build: KernelCalls,
        *,
        is_read: bool,
    ) -> SSAValue:
        """The address of a byte of a local buffer, which is filled or read."""
        is_filled = is_read or isinstance(value.owner, d2m.ReserveOp)
        start = build.call("get_write_ptr" if is_filled else "get_read_ptr", self._cb_of(op, value))
        return build.add_words(start, indices[0]) if indices else start

    def _send(self, op: d2m.DMAWriteOp, size: int, build: KernelCalls) -> None:
        """A write to L1 of this core, or of others."""
        source = self._local(op, op.src, op.src_indices, build, is_read=False)
        target = self._local(op, op.dst, op.dst_indices, build, is_read=False)
        if not op.mcast_start_index:
            here = [build.call(f"my_logical_{axis}_") for axis in "yx"]
            there = build.call("get_noc_addr", *self._core(here[0], here[1], build), target)
            build.call("noc_async_write", source, there, size)
            return
        there, cores = self._rectangle(op.mcast_start_index, op.mcast_shape, target, build)
        is_same = op.src is op.dst
        loopback = "" if is_same else "_loopback_src"
        build.call(f"noc_async_write_multicast{loopback}", source, there, size, cores)

    def _rectangle(
        self,
        start: Sequence[SSAValue],
        shape: Sequence[SSAValue],
        address: SSAValue,
        build: KernelCalls,
    ) -> tuple[SSAValue, SSAValue]:
        """The address of all cores of a rectangle, and how many they are."""
        ends = [
            build.value(build.add(build.add(first, extent), -1))
            for first, extent in zip(start, shape, strict=True)
        ]
        x0, y0 = self._core(start[0], start[1], build)
        x1, y1 = self._core(ends[0], ends[1], build)
        cores = build.word(build.multiply(shape[0], shape[1]))
        return build.call("get_noc_multicast_addr", x0, y0, x1, y1, address), cores

    def _synchronize(
        self,
        op: d2m.SemaphoreSetOp | d2m.SemaphoreIncOp | d2m.SemaphoreWaitOp,
        build: KernelCalls,
    ) -> None:
        semaphore, value = op.operands[:2]
        if isinstance(op, d2m.SemaphoreIncOp):
            if not op.core or op.mcast_shape:
                refuse(op, "must name one core; a semaphore is raised on one")
            there = build.call(
                "get_noc_addr", *self._core(op.core[0], op.core[1], build), semaphore
            )
            build.call("noc_semaphore_inc", there, value)
            return
        pointer = build.call("reinterpret_cast", semaphore)
        if isinstance(op, d2m.SemaphoreWaitOp):
            build.call("experimental::semaphore_wait", pointer, value)
            if len(op.operands) > 2:
                build.call("noc_semaphore_set", pointer, op.operands[2])
            return
        build.call("noc_semaphore_set", pointer, value)
        if op.core:
            if not op.mcast_shape:
                refuse(op, "must name a rectangle of cores, or none; a semaphore of one is raised")
            there, cores = self._rectangle(op.core, op.mcast_shape, semaphore, build)
            build.call("noc_semaphore_set_multicast", semaphore, there, cores)

    # --- End -------------------------------------------------------------------------------------

    def _forget(self) -> None:
        """Erase what calls took the place of."""
        for op in self.ops:
            if isinstance(op, d2m.NullTxOp):
                op.results[0].replace_all_uses_with(KernelCalls.before(op).word(0))
            for value in (
                *op.results,
                *(each for region in op.regions for block in region.blocks for each in block.args),
            ):
                if isinstance(value.type, d2m.MemTxType) and not op.name.startswith("d2m."):
                    Rewriter.replace_value_with_new_type(value, i32)
        gone = [
            op
            for op in self.ops
            if op.name.startswith("d2m.")
            or isinstance(
                op,
                memref.LoadOp
                | memref.StoreOp
                | memref.CollapseShapeOp
                | memref.SubviewOp
                | memref.CastOp,
            )
        ]
        for op in reversed(gone):
            if op.parent is not None:
                erase(op)
        for op in reversed(list(self.function.walk())):
            is_index = isinstance(op, arith.ConstantOp | arith.MuliOp | arith.AddiOp)
            if is_index and all(each.first_use is None for each in op.results):
                erase(op)


def _directions(transaction: SSAValue, seen: set[SSAValue]) -> set[str]:
    """Whether the transfers behind a value, also through loops and branches, read or write."""
    if transaction in seen:
        return set()
    seen.add(transaction)
    owner = transaction.owner
    behind: list[SSAValue] = []
    match owner:
        case d2m.DMAReadOp():
            return {"read"}
        case d2m.DMAWriteOp():
            return {"write"}
        case scf.IfOp() | scf.ForOp():
            number = owner.results.index(cast("OpResult", transaction))
            behind = [_yielded(region.block, number) for region in owner.regions]
            behind += owner.iter_args[number : number + 1] if isinstance(owner, scf.ForOp) else []
        case Block():
            loop, number = owner.parent_op(), cast("BlockArgument", transaction).index - 1
            if isinstance(loop, scf.ForOp) and number >= 0:
                behind = [loop.iter_args[number], _yielded(owner, number)]
        case _:
            pass
    return {word for value in behind for word in _directions(value, seen)}


def _yielded(block: Block, number: int) -> SSAValue:
    return cast("Operation", block.last_op).operands[number]


def _is_dst(buffer: SSAValue) -> bool:
    return memory_space_of(cast("MemRef", buffer.type)) is MemorySpace.REGISTER_DST


def _format_of(tile: Attribute) -> TileFormat:
    element = element_of(tile)
    assert isinstance(element, TileFormat), "operations on tiles take tiles"
    return element


def _is_float(tile: Attribute) -> bool:
    return not _format_of(tile).scalar.data_type.keyword.startswith(("u", "si"))


def _mixed(static: DenseArrayBase[IntegerType], dynamic: Sequence[SSAValue]) -> list[Index]:
    """Numbers of which some are known only at run time."""
    values = iter(dynamic)
    return [next(values) if number == DYNAMIC_INDEX else number for number in static.iter_values()]


def _reduction(op: d2m.TileReduceSumOp | d2m.TileReduceMaxOp) -> dict[str, Attribute]:
    is_max = isinstance(op, d2m.TileReduceMaxOp)
    dim = {
        d2m.ReduceDim.R: ReduceDim.ROW,
        d2m.ReduceDim.C: ReduceDim.COL,
        d2m.ReduceDim.RC: ReduceDim.SCALAR,
    }[op.reduce_dim]
    return {
        "reduce_type": ReduceTypeAttr(ReduceType.MAX if is_max else ReduceType.SUM),
        "reduce_dim": ReduceDimAttr(dim),
    }
