"""The ttnn operations that are written out: devices, memory and creation of tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import ClassVar, Self, cast

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, LocationAttr
from xdsl.ir import Attribute, SSAValue

from ttmlir.dialects.alloc import AllocatingOp
from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.layout_checks import check_to_memory_config
from ttmlir.dialects.definition.ods import Property, Signature, ValueGroup, refuse
from ttmlir.dialects.definition.row_ops import ParameterValue, properties_of
from ttmlir.dialects.definition.shape_checks import check_arange, check_constant
from ttmlir.dialects.ttnn.attrs import LayoutAttr, MemoryConfigAttr
from ttmlir.dialects.ttnn.families import (
    DEVICE_OPERAND,
    DTYPE,
    MEMORY_CONFIG,
    CreationOp,
    TTNNOp,
)
from ttmlir.dialects.ttnn.program_attrs import ProgramAttr
from ttmlir.mlir.xdsl_internals import operands_of
from ttmlir.optable import row
from ttmlir.optable.row import Row
from ttmlir.program.description import DescriptionError, ProgramDescription

_RESULT = (ValueGroup("result"),)
_DESCRIBED = (
    DTYPE,
    MEMORY_CONFIG,
    Property("layout", ods.named_attr("ttnn.layout"), optional=True),
    Property("shape", ods.named_attr("ttnn.shape"), optional=True),
)
"""Properties that say what the type of a new tensor says, too."""
_INPUT_AND_DEVICE = (ValueGroup("input"), DEVICE_OPERAND)


class GetDeviceOp(TTNNOp):
    """The device that the program runs on.

    Since 2025 the type is `!ttnn.device`, and properties name the part of the machine's mesh.

    Example:
        %0 = "ttnn.get_device"() : () -> !tt.device<#device>
        %0 = "ttnn.get_device"() <{mesh_offset = #ttnn<mesh_offset 0x0>,
            mesh_shape = #ttnn<mesh_shape 1x1>}> : () -> !ttnn.device
    """

    name = "ttnn.get_device"
    SIGNATURE: ClassVar = Signature(results=(ValueGroup("device", ods.DEVICE),))
    LATE_PROPERTIES: ClassVar = (
        Property("mesh_offset", ods.named_attr("ttnn.mesh_offset"), optional=True),
        Property("mesh_shape", ods.named_attr("ttnn.mesh_shape"), optional=True),
    )

    @classmethod
    def make(cls, device_type: Attribute, *, location: LocationAttr) -> Self:
        """Make the operation."""
        return cls.create(result_types=[device_type], location=location)


class _ConversionOp(TTNNOp):
    """A tensor in another place or form; the result type says the rest.

    Since 2025 there is no device operand where the tensor stays on its device.
    """

    LATE_PROPERTIES: ClassVar = (DTYPE, MEMORY_CONFIG)

    def form(self) -> Signature:
        """The signature with a device, or without."""
        return self.SIGNATURE if len(operands_of(self)) != 1 else _without_device(type(self))

    @classmethod
    def make(
        cls,
        input: SSAValue,
        device: SSAValue,
        result_type: Attribute,
        properties: Mapping[str, Attribute] | None = None,
        *,
        location: LocationAttr,
    ) -> Self:
        """Make the operation."""
        return cls.create(
            operands=[input, device],
            result_types=[result_type],
            properties=properties or {},
            location=location,
        )


@cache
def _without_device(cls: type[_ConversionOp]) -> Signature:
    signature = cls.SIGNATURE
    return Signature(
        operands=signature.operands[:1],
        results=signature.results,
        properties=(*signature.properties, *cls.LATE_PROPERTIES),
    )


class ToMemoryConfigOp(_ConversionOp):
    """A tensor in another memory or with another memory layout, as its result type says.

    C1, C2: input and result carry a layout. C3: on the host there is no memory layout. C4: on
    the device it is interleaved or sharded. C5: in DRAM it is interleaved. C6: sharding is by
    blocks, but for `#ttnn.ttnn_layout`. C7: shards are two-dimensional. C8: their extents are
    multiples of 32.

    Example:
        %1 = "ttnn.to_memory_config"(%0, %device) :
            (tensor<64x128xf32, #layout2>, !tt.device<#device>) -> tensor<64x128xf32, #layout>
    """

    name = "ttnn.to_memory_config"
    SIGNATURE: ClassVar = Signature(operands=_INPUT_AND_DEVICE, results=_RESULT)

    def verify_op(self) -> None:
        """Check C1 to C8."""
        check_to_memory_config(self)


class ToLayoutOp(_ConversionOp):
    """A tensor as rows or as tiles of 32x32 elements.

    Example:
        %1 = "ttnn.to_layout"(%0, %device) <{layout = #ttnn.layout<tile>}> :
            (tensor<64x128xf32, #layout>, !tt.device<#device>) -> tensor<64x128xf32, #layout1>
    """

    name = "ttnn.to_layout"
    SIGNATURE: ClassVar = Signature(
        operands=_INPUT_AND_DEVICE,
        results=_RESULT,
        properties=(Property("layout", ods.named_attr("ttnn.layout")),),
    )

    @property
    def layout(self) -> LayoutAttr:
        """The layout of the result."""
        return cast("LayoutAttr", self.properties["layout"])


class ToDeviceOp(_ConversionOp):
    """A tensor of the host on the device.

    Example:
        %1 = "ttnn.to_device"(%0, %device)
            <{memory_config = #ttnn.memory_config<<interleaved>, <dram>>}> :
            (tensor<64x128xf32, #layout1>, !tt.device<#device>) -> tensor<64x128xf32, #layout1>
    """

    name = "ttnn.to_device"
    SIGNATURE: ClassVar = Signature(
        operands=_INPUT_AND_DEVICE,
        results=_RESULT,
        properties=(Property("memory_config", ods.named_attr("ttnn.memory_config")),),
    )

    @property
    def memory_config(self) -> MemoryConfigAttr:
        """Where and how the result lies on the device."""
        return cast("MemoryConfigAttr", self.properties["memory_config"])


def _creation_signature(row: Row) -> Signature:
    return Signature(
        operands=(DEVICE_OPERAND,), results=_RESULT, properties=properties_of(row.parameters)
    )


def _is_number(attr: Attribute) -> bool:
    return isinstance(attr, FloatAttr | IntegerAttr)


_FILL_VALUE = Property(
    "fill_value", ods.AttrConstraint("32-bit float or integer attribute", _is_number, ods.always)
)
_LATE_FULL = Signature(
    operands=(DEVICE_OPERAND,),
    results=_RESULT,
    properties=(*_DESCRIBED, _FILL_VALUE),
)


class _CreationOp(CreationOp):
    """A tensor made on a device."""

    LATE_PROPERTIES: ClassVar = _DESCRIBED

    @classmethod
    def make(
        cls,
        device: SSAValue,
        result_type: Attribute,
        properties: Mapping[str, Attribute] | None = None,
        *,
        location: LocationAttr,
    ) -> Self:
        """Make the operation."""
        return cls.create(
            operands=[device],
            result_types=[result_type],
            properties=properties or {},
            location=location,
        )


class EmptyOp(_CreationOp):
    """Memory for a tensor on a device; its elements are undefined.

    Shape, element type, layout and memory follow from the result type; since 2025 properties may
    say them, too.

    Example:
        %1 = "ttnn.empty"(%device) : (!tt.device<#device>) -> tensor<64x128xf32, #layout2>
    """

    name = "ttnn.empty"
    ROW: ClassVar = row("empty")
    PARAMETERS: ClassVar = ROW.parameters
    SIGNATURE: ClassVar = _creation_signature(ROW)


class FullOp(_CreationOp):
    """A tensor all of whose elements are the same.

    Since 2025 the number is called `fill_value`, and may be an integer.

    Example:
        %1 = "ttnn.full"(%device) <{fillValue = 3.500000e+00 : f32}> : (!tt.device<#device>)
            -> tensor<64x128xf32, #layout>
        %1 = "ttnn.full"(%device) <{dtype = #ttcore.supportedDataTypes<bf16>,
            fill_value = 5.000000e-01 : f32, layout = #ttnn.layout<tile>,
            shape = #ttnn.shape<32x32>}> : (!ttnn.device) -> tensor<32x32xbf16, #ttnn_layout>
    """

    name = "ttnn.full"
    ROW: ClassVar = row("full")
    PARAMETERS: ClassVar = ROW.parameters
    SIGNATURE: ClassVar = _creation_signature(ROW)
    LATE_PROPERTIES: ClassVar = (*_CreationOp.LATE_PROPERTIES, _FILL_VALUE)

    def form(self) -> Signature:
        """The signature with the number's earlier name, or with the later one."""
        return _LATE_FULL if "fill_value" in self.properties else self.SIGNATURE

    @property
    def fill_value(self) -> float:
        """The number of all elements."""
        attr = self.properties.get("fill_value", self.properties.get("fillValue"))
        return cast("FloatAttr | IntegerAttr", attr).value.data

    def parameters(self) -> dict[str, ParameterValue]:
        """The parameters, by their names in the row."""
        return {"fillValue": float(self.fill_value)}


class ConstantOp(_CreationOp):
    """A tensor whose elements stand in the program.

    C1: value and result have the same shape.

    Example:
        %1 = "ttnn.constant"(%device) <{value = dense<[0.2, 1.3]> : tensor<2xf32>}> :
            (!tt.device<#device>) -> tensor<2xf32, #layout>
    """

    name = "ttnn.constant"
    ROW: ClassVar = row("constant")
    PARAMETERS: ClassVar = ROW.parameters
    SIGNATURE: ClassVar = _creation_signature(ROW)
    CHECK = staticmethod(check_constant)

    @property
    def value(self) -> Attribute:
        """The elements."""
        return self.properties["value"]


class ArangeOp(_CreationOp):
    """Evenly spaced numbers along a dimension, the same along all others.

    C1: the step is not 0. C2: the dimension is one of the result's. C3: the result's extent there
    is the number of values from `start` to below `end`.
    """

    name = "ttnn.arange"
    ROW: ClassVar = row("arange")
    PARAMETERS: ClassVar = ROW.parameters
    SIGNATURE: ClassVar = _creation_signature(ROW)
    CHECK = staticmethod(check_arange)


class GenericOp(TTNNOp):
    """A program of kernels on tensors, which it finds and leaves in the memory of the device.

    The last `num_outputs` operands, one if it is not given, are written; the others are read. The
    numbers of tensors in the program are those of operands.

    C1: the program means no other tensors than the operands. C2: as many outputs as operands, at
    most, and at least one. C3: outputs are results of `ttnn.empty`.

    Example:
        "ttnn.generic"(%x, %out) <{program = #ttnn.program<kernels = [...], cbs = [...],
            semaphores = []>}> : (tensor<5x70xf32, #layout>, tensor<5x70xf32, #layout>) -> ()
    """

    name = "ttnn.generic"
    SIGNATURE: ClassVar = Signature(
        operands=(ValueGroup("io_tensors", variadic=True),),
        properties=(
            Property("program", ods.named_attr("ttnn.program", "program of kernels")),
            Property("num_outputs", ods.I64, optional=True),
        ),
    )

    @classmethod
    def make(
        cls,
        inputs: Sequence[SSAValue],
        outputs: Sequence[SSAValue],
        program: ProgramDescription,
        *,
        location: LocationAttr,
    ) -> Self:
        """Make the operation."""
        properties: dict[str, Attribute] = {"program": ProgramAttr(program)}
        if len(outputs) != 1:
            properties["num_outputs"] = IntegerAttr(len(outputs), 64)
        return cls.create(operands=[*inputs, *outputs], properties=properties, location=location)

    @property
    def program(self) -> ProgramDescription:
        """The program."""
        return cast("ProgramAttr", self.properties["program"]).data

    @property
    def num_outputs(self) -> int:
        """How many of the operands, the last ones, are written."""
        attr = self.properties.get("num_outputs")
        return 1 if attr is None else cast("IntegerAttr", attr).value.data

    @property
    def outputs(self) -> Sequence[SSAValue]:
        """The operands that are written."""
        return self.operands[len(self.operands) - self.num_outputs :]

    def verify_op(self) -> None:
        """Check C1 to C3."""
        count = len(self.operands)
        if not 1 <= self.num_outputs <= count:
            refuse(f"writes {self.num_outputs} of {count} operands; it writes one or more of them")
        try:
            self.program.check_tensors(count)
        except DescriptionError as error:
            refuse(f"of {count} operands: {error}")
        for number, value in enumerate(self.outputs, count - self.num_outputs):
            if not isinstance(value.owner, EmptyOp):
                refuse(
                    f"writes operand #{number}, which is no result of 'ttnn.empty'; give it a "
                    "tensor of its own"
                )


class AllocOp(TTNNOp, AllocatingOp):
    """Memory at a fixed address for a tensor."""

    name = "ttnn.alloc"


class DeallocOp(TTNNOp):
    """The end of the life of a tensor's memory."""

    name = "ttnn.dealloc"
    SIGNATURE: ClassVar = Signature(operands=(ValueGroup("input"),))


STRUCTURE_OPS: Sequence[type[TTNNOp]] = (
    GetDeviceOp,
    ToMemoryConfigOp,
    ToLayoutOp,
    ToDeviceOp,
    EmptyOp,
    FullOp,
    ConstantOp,
    ArangeOp,
    AllocOp,
    DeallocOp,
    GenericOp,
)
"""Every operation of this module."""
