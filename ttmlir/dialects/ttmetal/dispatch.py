"""Operations on tensors: copies between host and device, and kernels in regions (2024)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.ir import Data, SSAValue
from xdsl.irdl import irdl_attr_definition, traits_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from ttmlir.dialects.alloc import AllocatingOp
from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.dps import DestinationStyleOp
from ttmlir.dialects.definition.layout_checks import layout_errors, layout_of
from ttmlir.dialects.definition.ods import ODSOperation, Property, Signature, ValueGroup, refuse
from ttmlir.dialects.definition.syntax import expect, parameter, parse_dimensions
from ttmlir.dialects.definition.traits import KeepsConstants
from ttmlir.dialects.ttkernel import KERNEL_CONFIGS, CBType
from ttmlir.layout.enums import MemorySpace
from ttmlir.layout.grid import shape_text

_RESULT = (ValueGroup("result"),)
_INPUT_AND_OUTPUT = (ValueGroup("input"), ValueGroup("output"))


@dataclass(frozen=True)
class Area:
    """A rectangle of cores: (y, x) of its first core, and rows and columns."""

    offset: tuple[int, ...]
    size: tuple[int, ...]


@irdl_attr_definition
class CoreRangeAttr(Data[Area]):
    """A rectangle of cores, offset and size: `#ttmetal.core_range<1x0, 2x4>`."""

    name = "ttmetal.core_range"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Area:
        """Read `<offset, size>`."""
        owner, cpp_type = "TTMetal_CoreRangeAttr", "::llvm::ArrayRef<int64_t>"
        expect(parser, "<")
        with parameter(parser, owner, "offset", cpp_type):
            offset = parse_dimensions(parser)
        expect(parser, ",")
        with parameter(parser, owner, "size", cpp_type):
            size = parse_dimensions(parser)
        expect(parser, ">")
        return Area(offset, size)

    def print_parameter(self, printer: Printer) -> None:
        """Write `<offset, size>`."""
        area = self.data
        printer.print_string(f"<{shape_text(area.offset)}, {shape_text(area.size)}>")


def _space_of(value: SSAValue) -> MemorySpace:
    layout = layout_of(value)
    if layout is None:
        refuse("Input tensor missing layout attribute")
    with layout_errors():
        return layout.memory_space


class DispatchOp(DestinationStyleOp):
    """Kernels run on ranges of cores: region i on `core_ranges[i]`, set up by `kernelConfigs[i]`.

    A region's arguments are circular buffers; argument j stands for operand j, inputs first. A
    kernel that only moves data by address has none.

    C1: operands carry a layout. C2: they lie on the device. C3: region arguments are circular
    buffers.
    """

    name = "ttmetal.dispatch"
    SIGNATURE: ClassVar = Signature(
        operands=(ValueGroup("inputs", variadic=True), ValueGroup("outputs", variadic=True)),
        results=(ValueGroup("results", variadic=True),),
        properties=(
            Property(
                "core_ranges", ods.array_attr("", lambda item: isinstance(item, CoreRangeAttr))
            ),
            Property("kernelConfigs", ods.array_attr("", lambda item: item.name in KERNEL_CONFIGS)),
        ),
        regions=None,
        init="outputs",
    )
    traits = traits_def(KeepsConstants())

    def verify_op(self) -> None:
        """Check the operands (C1, C2) and region arguments (C3)."""
        for operand in self.operands:
            if not _space_of(operand).is_device:
                refuse("Input tensor must be in device memory space")
        for region in self.regions:
            first = region.first_block
            if first is not None and not all(isinstance(a.type, CBType) for a in first.args):
                refuse("Block inputs must be CBType")


class HostWriteOp(DestinationStyleOp):
    """A copy of a tensor from the host to the device.

    C1: both tensors carry a layout. C2: the input lies on the host. C3: the output on the device.
    """

    name = "ttmetal.host_write"
    SIGNATURE: ClassVar = Signature(operands=_INPUT_AND_OUTPUT, results=_RESULT, init="output")

    def verify_op(self) -> None:
        """Check C1 to C3."""
        source, target = _space_of(self.operands[0]), _space_of(self.operands[1])
        if not source.is_system:
            refuse("Input tensor must be in system memory space")
        if not target.is_device:
            refuse("Output tensor must be in device memory space")


class HostReadOp(DestinationStyleOp):
    """A copy of a tensor from the device to the host.

    C1: both tensors carry a layout. C2: the output lies on the host. C3: the input on the device.
    """

    name = "ttmetal.host_read"
    SIGNATURE: ClassVar = Signature(operands=_INPUT_AND_OUTPUT, results=_RESULT, init="output")

    def verify_op(self) -> None:
        """Check C1 to C3."""
        source, target = _space_of(self.operands[0]), _space_of(self.operands[1])
        if not target.is_system:
            refuse("Output tensor must be in system memory space")
        if not source.is_device:
            refuse("Input tensor must be in device memory space")


class AllocOp(AllocatingOp):
    """Memory at a fixed address for a tensor."""

    name = "ttmetal.alloc"


class DeallocOp(ODSOperation):
    """The end of the life of a tensor's memory."""

    name = "ttmetal.dealloc"
    SIGNATURE: ClassVar = Signature(operands=(ValueGroup("input"),))


DISPATCH_OPS = (DispatchOp, HostWriteOp, HostReadOp, AllocOp, DeallocOp)
"""Every operation of this module."""
