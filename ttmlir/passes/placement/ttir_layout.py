"""Give every tensor a layout, and every operation its operands where it wants them.

Tensors without a layout start in `init-memory-space`, in rows on one core. Then each operand
moves to the memory, tiling and memory layout that its constraint asks for: destinations and
constants are made there, other values pass through a `ttir.to_layout`. What a function returns or
hands to another one moves back to where the signature says, and what an operation of another
dialect takes to where it started.

Before:

    // After ttir-load-system-desc ttir-implicit-device
    #d = #tt.operand_constraint<dram|scalar|any_layout>
    func.func @exp(%arg0: tensor<33x70xf32>) -> tensor<33x70xf32> {
      %0 = tensor.empty() : tensor<33x70xf32>
      %1 = "ttir.exp"(%arg0, %0) <{operandSegmentSizes = array<i32: 1, 1>,
          operand_constraints = [#d, #d]}>
          : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
      return %1 : tensor<33x70xf32>
    }

After:

    ...
    #layout = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #system>>
    #layout1 = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #dram>,
        interleaved>
    module attributes {tt.device = #device, tt.system_desc = #system_desc} {
      func.func @exp(%arg0: tensor<33x70xf32, #layout>) -> tensor<33x70xf32, #layout> {
        %0 = tensor.empty() : tensor<33x70xf32, #layout1>
        %1 = "ttir.to_layout"(%arg0, %0)
            : (tensor<33x70xf32, #layout>, tensor<33x70xf32, #layout1>)
            -> tensor<33x70xf32, #layout1>
        %2 = tensor.empty() : tensor<33x70xf32, #layout1>
        %3 = "ttir.exp"(%1, %2) <{operandSegmentSizes = array<i32: 1, 1>,
            operand_constraints = [#operand_constraint, #operand_constraint]}>
            : (tensor<33x70xf32, #layout1>, tensor<33x70xf32, #layout1>)
            -> tensor<33x70xf32, #layout1>
        %4 = tensor.empty() : tensor<33x70xf32, #layout>
        %5 = "ttir.to_layout"(%3, %4)
            : (tensor<33x70xf32, #layout1>, tensor<33x70xf32, #layout>)
            -> tensor<33x70xf32, #layout>
        return %5 : tensor<33x70xf32, #layout>
      }
    }

Requires: nothing. Without the attribute `tt.device` on the module or around it, the passes
`ttir-load-system-desc` and `ttir-implicit-device` run before, and a remark says so.
Ensures: every ranked tensor outside of `ttir.generic` has a layout; operands are where their
constraints want them, except the image, weight and bias of `ttir.conv2d`, which stay on the host.
Options: `init-memory-space` (system), `default-memory-space` (dram) and
`default-device-memory-layout` (interleaved), which are taken where a constraint allows them;
`init-whole-tiles` (false) pads the tensors that a function takes and returns to whole tiles.
`kernels-on-one-grid` (false) brings the operands of a generic to the grid of its output, or to one
core where they broadcast; with `kernel-grid` (none), the output is on as many cores along each
dimension, at most, as divide its tiles.
Not done here: grids (`ttir-grid-set`); splitting of moves (`ttir-split-compound-layout`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.dialects.tensor import EmptyOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ttmlir.dialects import ttir
from ttmlir.dialects.definition.control import ControlOp, WhileOp
from ttmlir.dialects.definition.ods import warn_of_narrowing
from ttmlir.ir.builder import Builder
from ttmlir.ir.rewriting import (
    AttributeMemo,
    clean_up,
    erase,
    insert_before,
    refuse,
    refuse_foreign,
    symbol_visibility,
)
from ttmlir.ir.tensor_types import (
    device_attr_in_scope,
    is_plain_tensor,
    layout_of,
    require_device,
    scalar_of,
    shape_of,
    value_shape,
    with_layout,
)
from ttmlir.layout.data_format import TileFormat
from ttmlir.layout.enums import MemorySpace, OperandConstraint, TensorMemoryLayout
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.tensor_layout import Grid, TensorLayout
from ttmlir.mlir.option_values import option
from ttmlir.mlir.reporting import op_diagnostic, warn
from ttmlir.mlir.xdsl_internals import retype
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.placement.ttir_implicit_device import TTIRImplicitDevicePass
from ttmlir.passes.placement.ttir_load_system_desc import TTIRLoadSystemDescPass

if TYPE_CHECKING:
    from xdsl.context import Context

    from ttmlir.dialects import tt
    from ttmlir.layout.device import DeviceView

_SPACE_BITS = {
    MemorySpace.SYSTEM: OperandConstraint.SYSTEM,
    MemorySpace.SYSTEM_MMIO: OperandConstraint.SYSTEM,
    MemorySpace.DEVICE_DRAM: OperandConstraint.DRAM,
    MemorySpace.DEVICE_L1: OperandConstraint.L1,
}
# In order of preference where a constraint leaves a choice.
_MEMORY_LAYOUT_BITS = {
    TensorMemoryLayout.INTERLEAVED: OperandConstraint.INTERLEAVED,
    TensorMemoryLayout.SINGLE_BANK: OperandConstraint.SINGLE_BANK,
    TensorMemoryLayout.HEIGHT_SHARDED: OperandConstraint.HEIGHT_SHARDED,
    TensorMemoryLayout.WIDTH_SHARDED: OperandConstraint.WIDTH_SHARDED,
    TensorMemoryLayout.BLOCK_SHARDED: OperandConstraint.BLOCK_SHARDED,
}


@dataclass(frozen=True)
class TTIRLayoutPass(ModulePass):
    """Give every tensor a layout, and every operation its operands where it wants them."""

    name = "ttir-layout"
    title = "TTIRLayout"
    init_memory_space: MemorySpace = option(
        MemorySpace.SYSTEM, "Memory space of the tensors that a function takes and returns"
    )
    default_memory_space: MemorySpace = option(
        MemorySpace.DEVICE_DRAM, "Memory space of operands, where their constraints allow it"
    )
    default_device_memory_layout: TensorMemoryLayout = option(
        TensorMemoryLayout.INTERLEAVED,
        "Memory layout of operands on the device, where their constraints allow it",
    )
    init_whole_tiles: bool = option(
        False, "Pad the rows that a function takes and returns to whole tiles, as kernels need them"
    )

    constants_on_host: bool = option(
        False, "Keep constants on the host and move them to where operands are"
    )

    kernels_on_one_grid: bool = option(
        False, "Bring the operands of each kernel to one grid, that of its output or one core"
    )
    kernel_grid: tuple[int, ...] = option(
        (), "Cores that kernels run on, at most: as many as divide the tiles of their output"
    )

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Lay out every tensor of the module."""
        device = _device_of(ctx, module)
        clean_up(module)
        _InitialLayouts(device.worker_grid.rank, self, parts_of_control(module)).assign(module)
        _Moves(self).place(module)
        clean_up(module)
        warn_of_narrowing(module)


def _device_of(ctx: Context, module: ModuleOp) -> DeviceView:
    """The device in scope; without one, that of the machine or of the default machine."""
    if device_attr_in_scope(module) is None:
        TTIRLoadSystemDescPass().apply(ctx, module)
        TTIRImplicitDevicePass().apply(ctx, module)
        remark = (
            "there is no device: one chip of the machine is taken, as ttir-implicit-device takes"
            " it; run that pass before to choose another device, and ttir-load-system-desc to"
            " choose the machine"
        )
        warn(op_diagnostic(module, remark, severity="remark", with_name=False))
    return require_device(module, TTIRLayoutPass.name)


class _InitialLayouts:
    """Puts the layout in which tensors start on every tensor without one."""

    def __init__(self, grid_rank: int, options: TTIRLayoutPass, parts: ControlParts):
        self._grid = (1,) * grid_rank
        self._options = options
        self._type = AttributeMemo(self._with_layout)
        self._tiled = AttributeMemo(self._with_tiles)
        self._parts = parts

    def assign(self, op: Operation) -> None:
        """Lay out what is inside `op`."""
        for region in op.regions:
            for block in region.blocks:
                self._retype(op, block.args, in_tiles=self._parts.takes_from_device(op))
                for inner in block.ops:
                    if inner.name == "arith.constant" and is_plain_tensor(inner.results[0].type):
                        # The attribute says the type, too, and it has no layout.
                        refuse_foreign(inner, "ttir-layout lays out constants of ttir")
                    on_host = self._options.constants_on_host and isinstance(inner, ttir.ConstantOp)
                    in_tiles = self._parts.gives_from_device(inner)
                    self._retype(inner, inner.results, on_host=on_host, in_tiles=in_tiles)
                    if isinstance(inner, FuncOp):
                        self._retype_signature(inner)
                    # A core sees the shards of a generic's operands, not tensors with a layout.
                    if inner.regions and not isinstance(inner, ttir.GenericOp):
                        self.assign(inner)

    def _retype(
        self,
        op: Operation,
        values: Sequence[SSAValue],
        *,
        on_host: bool = False,
        in_tiles: bool = False,
    ) -> None:
        for value in values:
            try:
                retype(value, self._laid_out(value.type, on_host=on_host, in_tiles=in_tiles))
            except LayoutError as error:
                refuse(op, f"no layout for {value.type}: {error}")

    def _retype_signature(self, function: FuncOp) -> None:
        signature, parts = function.function_type, self._parts
        takes, returns = parts.takes_from_device(function), parts.returns_on_device(function)
        try:
            function.function_type = FunctionType.from_lists(
                [self._laid_out(type_, in_tiles=takes) for type_ in signature.inputs],
                [self._laid_out(type_, in_tiles=returns) for type_ in signature.outputs],
            )
        except LayoutError as error:
            refuse(function, f"no layout for {signature}: {error}")

    def _laid_out(
        self, type_: Attribute, *, on_host: bool = False, in_tiles: bool = False
    ) -> Attribute:
        if in_tiles:
            return self._tiled(type_)
        return self._type(type_, MemorySpace.SYSTEM if on_host else self._options.init_memory_space)

    def _with_tiles(self, type_: Attribute) -> Attribute:
        """Where operations want tensors: in the memory of the device, in tiles."""
        if not is_plain_tensor(type_):
            return type_
        space, memory_layout = (
            self._options.default_memory_space,
            self._options.default_device_memory_layout,
        )
        tile = TileFormat.of(scalar_of(type_))
        layout = TensorLayout.of(
            shape_of(type_), tile, space, self._grid, memory_layout=memory_layout
        )
        return with_layout(type_, layout)

    def _with_layout(self, type_: Attribute, space: MemorySpace) -> Attribute:
        if not is_plain_tensor(type_):
            return type_
        shape = shape_of(type_)
        scalar = scalar_of(type_)
        layout = TensorLayout.of(shape, scalar, space, self._grid)
        if self._options.init_whole_tiles:
            layout = layout.with_element(TileFormat.of(scalar)).with_element(scalar)
        return with_layout(type_, layout)


class _Moves:
    """Brings operands to where their constraints want them."""

    def __init__(self, options: TTIRLayoutPass):
        self._options = options
        self._wanted = AttributeMemo(self._wanted_type)
        self._functions: dict[tuple[Block | None, str], FuncOp] = {}
        self._made: dict[tuple[SSAValue, int, Block], SSAValue] = {}
        self._initial: dict[SSAValue, Attribute] = {}

    def place(self, module: ModuleOp) -> None:
        """Bring all operands of the operations inside the module to their places."""
        functions = [op for op in module.walk() if isinstance(op, FuncOp)]
        self._functions = {(op.parent, op.sym_name.data): op for op in functions}
        for function in functions:
            self._place_in(function, function)

    def _place_in(self, op: Operation, function: FuncOp) -> None:
        for region in op.regions:
            for block in region.blocks:
                # Only what stands before the operation in hand changes.
                for inner in tuple(block.ops):
                    self._place_operands(inner, function)
                    if inner.regions and not isinstance(inner, ttir.GenericOp):
                        self._place_in(inner, function)

    def _place_operands(self, op: Operation, function: FuncOp) -> None:
        if isinstance(op, ttir.TTIROp):
            if not isinstance(op, ttir.ToLayoutOp):
                self._place_constrained(op)
        elif isinstance(op, ReturnOp):
            self._place_as(op, function.function_type.outputs)
        elif isinstance(op, CallOp):
            self._place_as_callee(op, function, op.callee.string_value())
        elif isinstance(op, ControlOp):
            self._place_as_callee(op, function, op.callees()[0], len(op.operands) - len(op.passed))
        elif not op.name.startswith("ttir."):
            self._place_as_before(op)

    def _place_as_callee(self, op: Operation, function: FuncOp, name: str, first: int = 0) -> None:
        """Bring the operands from the first on to where a function takes them."""
        callee = self._functions.get((function.parent, name))
        own = [value.type for value in op.operands[:first]]
        own = [self._type_on_host(type_) for type_ in own]
        if callee is not None:
            self._place_as(op, (*own, *callee.function_type.inputs))

    def _type_on_host(self, type_: Attribute) -> Attribute:
        """The type of what the host looks at."""
        layout = layout_of(type_)
        if layout is None or layout.memory_space.is_system:
            return type_
        shape, scalar = shape_of(type_), scalar_of(type_)
        one = Grid((1,) * layout.grid.rank)
        return with_layout(type_, TensorLayout.of(shape, scalar, MemorySpace.SYSTEM, one))

    def _place_constrained(self, op: ttir.TTIROp) -> None:
        attr = op.operand_constraints
        constraints = () if attr is None else attr.data
        count = len(op.operands)
        if len(constraints) < count:
            refuse(
                op,
                f"has {len(constraints)} operand_constraints for {count} operands; "
                "give one for each operand, inputs first",
            )
        results = op.written_results
        from_host = isinstance(op, ttir.TTIRTableOp) and op.DEFINITION.takes_host_operands
        for number in results if from_host else range(count):
            type_ = op.operands[number].type
            constraint = cast("tt.OperandConstraintAttr", constraints[number])
            try:
                wanted = self._wanted(type_, constraint.data, self._grid_of(op, number))
            except LayoutError as error:
                refuse(op, f"operand #{number} cannot be laid out: {error}")
            result = results.get(number)
            if wanted is not type_:
                self._move(op, number, wanted, is_init=result is not None)
            if result is not None and result.type is not wanted:
                self._initial[result] = result.type
                retype(result, wanted)

    def _place_as(self, op: Operation, types: Iterable[Attribute]) -> None:
        for number, wanted in enumerate(types):
            if op.operands[number].type != wanted:
                self._move(op, number, wanted)

    def _place_as_before(self, op: Operation) -> None:
        """Operations of other dialects relate the types of their operands to other types."""
        for number, value in enumerate(op.operands):
            initial = self._initial.get(value)
            if initial is not None and initial != value.type:
                op.operands[number] = Builder.before(op).move_to_layout(value, initial)

    def _move(
        self, op: Operation, number: int, wanted: Attribute, *, is_init: bool = False
    ) -> None:
        """Replace an operand by the same value, or the same lack of one, in another layout."""
        value = op.operands[number]
        owner = value.owner
        block = op.parent
        assert block is not None, "operations are laid out in place"
        stays = self._options.constants_on_host and isinstance(owner, ttir.ConstantOp)
        if stays or not isinstance(owner, EmptyOp | ttir.ConstantOp):
            op.operands[number] = Builder.before(op).move_to_layout(value, wanted)
            return
        if value.has_one_use():
            # The same as a new one in front of the operation, and cheaper.
            if owner.next_op is not op:
                owner.detach()
                insert_before(op, owner)
            retype(value, wanted)
            return
        # Two operations never share a destination: each would overwrite what the other wrote.
        key = (value, id(wanted), block)
        made = None if is_init else self._made.get(key)
        if made is None:
            new = type(owner).create(
                result_types=(wanted,), properties=owner.properties, location=owner.location
            )
            insert_before(op, new)
            made = self._made[key] = new.results[0]
        op.operands[number] = made
        if value.first_use is None:
            erase(owner)

    def _grid_of(self, op: ttir.TTIROp, number: int) -> Grid | None:
        """The grid of an operand of a kernel; None: it stays on its own."""
        if isinstance(op, ttir.CustomKernelOp):
            shards = op.kernel.tensors[number].shards
            return None if shards is None else Grid(shards.grid)
        is_kernel = isinstance(op, ttir.GenericOp) or op.name == "ttir.broadcast"
        if not self._options.kernels_on_one_grid or not is_kernel:
            return None
        inits = op.inits
        output = layout_of(inits[-1].type) if inits else None
        if output is None:
            return None
        shape = value_shape(inits[-1])
        one = Grid((1,) * output.grid.rank)
        if any(value_shape(value) != shape for value in op.operands):
            return one
        if not self._options.kernel_grid:
            return output.grid
        tile = TileFormat.of(output.scalar_element)
        tiles = TensorLayout.of(shape, tile, output.memory_space, one).shard
        return _dividing(tiles, self._options.kernel_grid)

    def _wanted_type(self, type_: Attribute, bits: int, grid: Grid | None) -> Attribute:
        """Where a constraint wants a tensor: the type itself if the tensor is there."""
        layout = layout_of(type_)
        if layout is None:
            return type_
        scalar = scalar_of(type_)
        element = scalar if bits & OperandConstraint.SCALAR else TileFormat.of(scalar)
        space = self._wanted_space(bits)
        memory_layout = self._wanted_memory_layout(bits, space)
        grid = grid or layout.grid
        current = (layout.memory_space, layout.element, layout.memory_layout, layout.grid)
        if current == (space, element, memory_layout, grid):
            return type_
        wanted = TensorLayout.of(shape_of(type_), element, space, grid, memory_layout=memory_layout)
        return with_layout(type_, wanted)

    def _wanted_space(self, bits: int) -> MemorySpace:
        preferred = self._options.default_memory_space
        for space in (preferred, MemorySpace.DEVICE_DRAM, MemorySpace.DEVICE_L1):
            if bits & _SPACE_BITS[space]:
                return space
        return MemorySpace.SYSTEM

    def _wanted_memory_layout(self, bits: int, space: MemorySpace) -> TensorMemoryLayout:
        preferred = self._options.default_device_memory_layout
        if preferred is TensorMemoryLayout.NONE or space.is_system:
            return TensorMemoryLayout.NONE
        for memory_layout in (preferred, *_MEMORY_LAYOUT_BITS):
            if bits & _MEMORY_LAYOUT_BITS[memory_layout]:
                return memory_layout
        return TensorMemoryLayout.NONE


def _dividing(tiles: Sequence[int], most: Sequence[int]) -> Grid:
    """The largest grid of no more cores along each dimension that gives all equal shards."""
    if len(most) != len(tiles) or min(most) < 1:
        raise LayoutError(
            f"kernel-grid is {','.join(map(str, most))}; give {len(tiles)} numbers of cores, each "
            "of at least 1, as in 2,4"
        )
    return Grid(
        tuple(
            max(count for count in range(1, bound + 1) if extent % count == 0)
            for extent, bound in zip(tiles, most, strict=True)
        )
    )


# --- Parts of loops and branches ------------------------------------------------------------------
# Functions that are parts of loops and branches: their tensors stay on the device.


@dataclass(frozen=True)
class ControlParts:
    """The functions of a module that nothing but loops and branches calls, by name."""

    parts: frozenset[str]
    conditions: frozenset[str]
    """Those of them that the host asks whether there is another iteration."""

    def takes_from_device(self, op: Operation) -> bool:
        """True for a function that is called with tensors of the device."""
        return isinstance(op, FuncOp) and op.sym_name.data in self.parts

    def returns_on_device(self, op: Operation) -> bool:
        """True for a function that leaves its results on the device."""
        return self.takes_from_device(op) and not self._is_condition(op)

    def gives_from_device(self, op: Operation) -> bool:
        """True for a loop or branch whose results are on the device."""
        return isinstance(op, ControlOp) and op.callees()[0] in self.parts

    def _is_condition(self, op: Operation) -> bool:
        return isinstance(op, FuncOp) and op.sym_name.data in self.conditions


def parts_of_control(module: ModuleOp) -> ControlParts:
    """The functions that loops and branches of a module call."""
    parts: set[str] = set()
    conditions: set[str] = set()
    others: set[str] = set()
    for op in module.walk():
        if isinstance(op, ControlOp):
            parts.update(op.callees())
            if isinstance(op, WhileOp) and op.condition is not None:
                conditions.add(op.condition)
        elif isinstance(op, CallOp):
            others.add(op.callee.string_value())
        elif isinstance(op, FuncOp) and symbol_visibility(op) == "public":
            others.add(op.sym_name.data)
    return ControlParts(frozenset(parts - others), frozenset(conditions))
