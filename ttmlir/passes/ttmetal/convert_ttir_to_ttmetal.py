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

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    IntegerAttr,
    ModuleOp,
    TensorType,
    UnrealizedConversionCastOp,
)
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue

from ttmlir.dialects import tt, ttir, ttmetal
from ttmlir.dialects.definition.dps import DestinationStyleOp
from ttmlir.dialects.definition.names import ARG_ALLOC
from ttmlir.ir.layouts import layout_of, require_device, require_system_desc
from ttmlir.ir.rewriting import insert_before, refuse, refuse_foreign, replace
from ttmlir.ir.tensor_types import value_shape
from ttmlir.layout.data_movement import PlacedTensor
from ttmlir.layout.device import DeviceView
from ttmlir.layout.enums import MemorySpace
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.grid import shape_text
from ttmlir.layout.system.chip import ChipDesc
from ttmlir.layout.tensor_layout import TensorLayout
from ttmlir.mlir.option_values import option
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.ttmetal.convert_ttir_to_ttmetal_broadcast import broadcast
from ttmlir.passes.ttmetal.convert_ttir_to_ttmetal_generic import compute, convert_tiles
from ttmlir.passes.ttmetal.convert_ttir_to_ttmetal_reformat import reformat
from ttmlir.passes.ttmetal.convert_ttir_to_ttmetal_relayout import (
    move_on_chip,
    move_to_or_from_host,
)

if TYPE_CHECKING:
    from xdsl.context import Context

    from ttmlir.mlir.attributes.elements import Elements, ElementType


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
            "has no place in the device's memory; let its layout be on the host, as "
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
            assert isinstance(op, ttir.TTIRRowOp)
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
