"""The ttnn operations that are written out: devices, memory and creation of tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import ClassVar, Self, cast

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, LocationAttr
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.dialects.alloc import AllocatingOp
from ttmlir.dialects.definition import control, ods
from ttmlir.dialects.definition.ods import (
    DestinationStyleOp,
    ODSOperation,
    Property,
    Signature,
    ValueGroup,
    check_structure,
    properties,
    refuse,
    text,
    values,
)
from ttmlir.dialects.definition.table_ops import (
    Check,
    LateOnlyOp,
    ParameterValue,
    TableOperation,
    ValueFormOp,
    check_arange,
    check_bits,
    check_constant,
    check_conv2d,
    check_output,
    check_pool_rank,
    check_to_memory_config,
    check_window_fits,
    comma_separated,
    int_property,
    is_static,
    layout_of,
    properties_of,
    ruled_shape,
    shape_of,
    trailing_operand,
)
from ttmlir.dialects.late_verifier import (
    verify_constant_place,
    verify_elements,
    verify_late,
    verify_layout_change,
)
from ttmlir.dialects.ttnn.attrs import LayoutAttr, MemoryConfigAttr, ProgramAttr
from ttmlir.layout.data_format import DEFAULT_TILE_SHAPE
from ttmlir.layout.enums import TTNNLayout
from ttmlir.mlir.core_prefix import TTCORE, core_prefix
from ttmlir.mlir.xdsl_internals import operands_of
from ttmlir.optable import definition
from ttmlir.optable.elementwise import DEFINITIONS
from ttmlir.optable.op_definition import OpDefinition
from ttmlir.program import DescriptionError, ProgramDescription

# --- Families -------------------------------------------------------------------------------------
# The abstract classes of ttnn: what the operations of a family have in common.
#
# Until 2025 operations wrote to a destination that was handed to them; since then they make their
# results. Both forms are one class: in the later one, `inits` is empty.

# --- Checks ---------------------------------------------------------------------------------------
# Verifiers of ttnn operations that differ from their ttir counterparts.


def check_conv2d_with_bias(op: Operation) -> None:
    """Check the ranks of a convolution and the extents of its bias.

    C1: the input has at least three dimensions.
    C2: the weight has four.
    C3: the bias, if present, has four, the first three of extent 1.
    """
    check_conv2d(op)
    bias = cast("ODSOperation", op).group("bias")
    if bias and shape_of(bias[0])[:3] != (1, 1, 1):
        refuse("Bias must only have data on the final dimenstion")


def check_max_pool2d(op: Operation) -> None:
    """Check the shapes and the window of a pooling.

    C1: the window is not larger than the image.
    C2: the input has four dimensions, the first two of extent 1.
    C3: the third has an element for each pixel of the batch, the fourth one for each channel.
    """
    height, width = int_property(op, "input_height"), int_property(op, "input_width")
    check_window_fits(op, height, width)
    shape = check_pool_rank(op)
    shown = comma_separated(shape)
    if shape[:2] != (1, 1):
        refuse(f"Maxpool input must be in the form (1, 1, N*H*W, C). Recieved shape ({shown}).")
    batch, channels = int_property(op, "batch_size"), int_property(op, "channels")
    if shape[2] != batch * height * width:
        refuse(
            f"Maxpool shape ({shown}) at dim -2 must be equal to N*H*W. However the attributes "
            f"given are N={batch}, H={height}, W={width}. "
            f"{batch}*{height}*{width} != {shape[2]}."
        )
    if shape[3] != channels:
        refuse(
            f"Maxpool shape ({shown}) at dim -3 must be equal to C. However the attribute given "
            f"is C={channels}. {shape[3]} != {channels}"
        )


def check_reduction(op: Operation) -> None:
    """Check the dimensions and the shape of a reduction that the reference does not verify.

    C1: dimensions exist, and differ from each other.
    C2: the output has the shape that follows; dynamic shapes are not compared. As in programs of
    tt-mlir, dimensions that are kept may also be a tile long, and one number may have dimensions.
    """
    assert isinstance(op, TableOperation)
    assert isinstance(op, DestinationStyleOp)
    if not all(is_static(shape_of(value)) for value in (*op.inputs, op.output)):
        return
    expected, output = ruled_shape(op), shape_of(op.output)
    input = shape_of(op.inputs[0])
    if op.parameters()["keep_dim"] and len(output) == len(input):
        output = tuple(
            rule if rule != extent and given == DEFAULT_TILE_SHAPE[1] else given
            for rule, extent, given in zip(expected, input, output, strict=True)
        )
    if expected or set(output) != {1}:
        check_output(op, expected if output != expected else shape_of(op.output))


CHECKS: dict[str, Check] = {
    "conv2d": check_conv2d_with_bias,
    "max_pool2d": check_max_pool2d,
    **{definition.mnemonic: check_bits for definition in DEFINITIONS if definition.takes_bits},
    **dict.fromkeys(("max", "mean", "sum"), check_reduction),
}
"""Checks by mnemonic."""


# --- Families -------------------------------------------------------------------------------------

DEVICE_OPERAND = trailing_operand(ValueGroup("device", ods.DEVICE))
"""The device that an operation runs on."""


DTYPE = Property("dtype", ods.named_attr("tt.supportedDataTypes"), optional=True)
"""The data type of the result, which its layout says, too."""
MEMORY_CONFIG = Property("memory_config", ods.named_attr("ttnn.memory_config"), optional=True)
"""The memory of the result, which its layout says, too."""
COMPUTE_CONFIG = Property(
    "compute_config", ods.named_attr("ttnn.device_compute_kernel_config"), optional=True
)
"""How the matrix unit computes; without it, as the library likes."""


class TTNNOp(ODSOperation):
    """An operation of the ttnn library."""

    LATE_PROPERTIES: ClassVar[tuple[Property, ...]] = ()
    """Optional properties of the later form; in the earlier one they are not kept."""

    @property
    def device(self) -> SSAValue | None:
        """The device operand, None for an operation without one; it is always the last operand."""
        operands = self.form().operands
        return operands_of(self)[-1] if operands and operands[-1] is DEVICE_OPERAND else None

    def verify_interfaces(self) -> None:
        """Compare the elements of results with what their layouts say, since 2026."""
        super().verify_interfaces()
        if core_prefix() == TTCORE:
            verify_elements(self)

    @classmethod
    def convert_properties(
        cls, properties: dict[str, Attribute] | None, attributes: dict[str, Attribute]
    ) -> dict[str, Attribute]:
        """Keep what only the later form has, where that is read."""
        result = super().convert_properties(properties, attributes)
        if core_prefix() == TTCORE:
            for each in cls.LATE_PROPERTIES:
                if (attr := (properties or {}).get(each.name)) is None:
                    continue
                if not each.constraint.storage(attr):
                    shown = f"Invalid attribute `{each.name}` in property conversion: {text(attr)}"
                    cls.refuse_properties(properties or {}, shown)
                result[each.name] = attr
        return result


class TTNNTableOp(TTNNOp, ValueFormOp):
    """An operation that has a definition, and writes to a destination or makes its result."""

    LATE_PROPERTIES: ClassVar = (DTYPE, MEMORY_CONFIG)
    VERIFY_LATE: ClassVar = staticmethod(verify_late)

    def verify_(self) -> None:
        """Check the operation, in the form that the module around it is read in."""
        if not self.has_destination and core_prefix() != TTCORE:
            check_structure(self, self.SIGNATURE)
            refuse("writes to an operand of another type than its result")
        super().verify_()


class ElementwiseOp(TTNNTableOp):
    """Inputs, outputs and results are variadic; shapes are not compared."""


class UnaryOp(ElementwiseOp):
    """Elementwise operation of one input."""


class BinaryOp(ElementwiseOp):
    """Elementwise operation of two inputs."""


class TernaryOp(ElementwiseOp):
    """Elementwise operation of three inputs."""


class ReductionOp(TTNNTableOp):
    """Reduction over the dimensions `dim_arg`, or all of them."""


class MovementOp(TTNNTableOp):
    """Operation that moves elements without computing on them."""


class ContractionOp(TTNNTableOp):
    """Sum of products."""


class WindowOp(TTNNTableOp):
    """Operation on the windows of an image."""

    def verify_op(self) -> None:
        """Check what the definition says; images of 2026 have the form of the library's."""
        if self.is_late:
            verify_late(self, self.late_parameters(), None)
        else:
            super().verify_op()


class NormalizationOp(TTNNTableOp):
    """Operation that scales elements by a function of their neighbours along a dimension."""


class LookupOp(TTNNTableOp):
    """Rows of a table by their number."""


class OrderingOp(TTNNTableOp):
    """Numbers in order along a dimension, and their places."""


class LateOp(TTNNOp, LateOnlyOp):
    """An operation of 2026 without a definition."""

    VERIFY_LATE: ClassVar = staticmethod(verify_late)


class CreationOp(TTNNOp, TableOperation):
    """Operation that makes a tensor on a device from nothing but parameters."""


# --- Structure ------------------------------------------------------------------------------------

# --- Control --------------------------------------------------------------------------------------
# Loops and branches of ttnn.


class WhileOp(control.WhileOp, TTNNOp):
    """A loop: the results of `body` are what the next iteration, or the end, carries.

    The first operands, as many as there are results, are carried; the others are the same in all
    iterations. There are `trip_count` iterations, or as many as `condition`, which is asked before
    each of them, answers with a number other than 0. If both are given, `trip_count` holds.

    C1: `trip_count` or `condition` is given. C2: no more results than operands, of the types of
    the first operands. C3: `body` and `condition` are functions that take the operands; the body
    returns what is carried, the condition one element.

    Example:
        %r = "ttnn.while"(%x, %w) <{body = @main_body0, trip_count = 10 : i64}> :
            (tensor<4x8xf32, #layout>, tensor<8x8xf32, #layout1>)
            -> tensor<4x8xf32, #layout>
    """

    name = "ttnn.while"


class CaseOp(control.CaseOp, TTNNOp):
    """A branch: calls the function whose number `index` is, or the last one if there is none.

    The functions take the other operands and return the results. Truth values choose the second
    of two functions where they are true.

    C1: there is at least one function. C2: `index` has one element. C3: all functions take the
    other operands and return the results.

    Example:
        %r = "ttnn.case"(%index, %x) <{branches = [@main_branch0, @main_branch1]}> :
            (tensor<i32, #layout2>, tensor<4x8xf32, #layout>)
            -> tensor<4x8xf32, #layout>
    """

    name = "ttnn.case"


# --- Structure ------------------------------------------------------------------------------------

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
    SIGNATURE: ClassVar = Signature(results=values(device=ods.DEVICE))
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
        """The signature with a device, or without; since 2026 the result type says it all."""
        if len(operands_of(self)) == 1:
            return _without_device(type(self), core_prefix() == TTCORE)
        return _bare(type(self)) if core_prefix() == TTCORE else self.SIGNATURE

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
def _without_device(cls: type[_ConversionOp], is_late: bool) -> Signature:
    signature = _bare(cls) if is_late else cls.SIGNATURE
    known = {*signature.by_name}
    more = (each for each in cls.LATE_PROPERTIES if each.name not in known)
    return Signature(signature.operands[:1], signature.results, (*signature.properties, *more))


@cache
def _bare(cls: type[_ConversionOp]) -> Signature:
    """The signature whose properties may all be left out."""
    signature = cls.SIGNATURE
    optional = (Property(p.name, p.constraint, optional=True) for p in signature.properties)
    return Signature(signature.operands, signature.results, tuple(optional))


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
    SIGNATURE: ClassVar = Signature(_INPUT_AND_DEVICE, _RESULT)

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
        _INPUT_AND_DEVICE, _RESULT, properties(layout=ods.named_attr("ttnn.layout"))
    )

    def verify_op(self) -> None:
        """Check the form of 2026, where types alone say the change."""
        if core_prefix() == TTCORE and not self.properties and len(operands_of(self)) == 1:
            verify_layout_change(self)

    @property
    def layout(self) -> LayoutAttr:
        """The layout of the result."""
        said = self.properties.get("layout")
        if isinstance(said, LayoutAttr):
            return said
        layout = layout_of(self.results[0])
        is_tiled = layout is not None and layout.tensor_layout.is_tiled
        return LayoutAttr(TTNNLayout.TILE if is_tiled else TTNNLayout.ROW_MAJOR)


class ToDeviceOp(_ConversionOp):
    """A tensor of the host on the device.

    Example:
        %1 = "ttnn.to_device"(%0, %device)
            <{memory_config = #ttnn.memory_config<<interleaved>, <dram>>}> :
            (tensor<64x128xf32, #layout1>, !tt.device<#device>) -> tensor<64x128xf32, #layout1>
    """

    name = "ttnn.to_device"
    SIGNATURE: ClassVar = Signature(
        _INPUT_AND_DEVICE, _RESULT, properties(memory_config=ods.named_attr("ttnn.memory_config"))
    )

    @property
    def memory_config(self) -> MemoryConfigAttr:
        """Where and how the result lies on the device."""
        return cast("MemoryConfigAttr", self.properties["memory_config"])


def _creation_signature(definition: OpDefinition) -> Signature:
    return Signature((DEVICE_OPERAND,), _RESULT, properties_of(definition.parameters))


_FILL_VALUE = Property("fill_value", ods.any_of(ods.F32, ods.I32))
_FULL = (*_DESCRIBED, _FILL_VALUE)
_LATE_FULL = Signature((DEVICE_OPERAND,), _RESULT, _FULL)
_FULL_ON_HOST = Signature((), _RESULT, _FULL)


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
    DEFINITION: ClassVar = definition("empty")
    PARAMETERS: ClassVar = DEFINITION.parameters
    SIGNATURE: ClassVar = _creation_signature(DEFINITION)


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
    DEFINITION: ClassVar = definition("full")
    PARAMETERS: ClassVar = DEFINITION.parameters
    SIGNATURE: ClassVar = _creation_signature(DEFINITION)
    LATE_PROPERTIES: ClassVar = (*_CreationOp.LATE_PROPERTIES, _FILL_VALUE)

    def form(self) -> Signature:
        """The signature with the number's earlier name, or with the later one."""
        if "fill_value" not in self.properties and "shape" not in self.properties:
            return self.SIGNATURE
        return _LATE_FULL if self.operands else _FULL_ON_HOST

    @property
    def fill_value(self) -> float:
        """The number of all elements."""
        attr = self.properties.get("fill_value", self.properties.get("fillValue"))
        return cast("FloatAttr | IntegerAttr", attr).value.data

    def parameters(self) -> dict[str, ParameterValue]:
        """The parameters, by their names in the definition."""
        return {"fillValue": float(self.fill_value)}


class ConstantOp(_CreationOp):
    """A tensor whose elements stand in the program.

    C1: value and result have the same shape.

    Example:
        %1 = "ttnn.constant"(%device) <{value = dense<[0.2, 1.3]> : tensor<2xf32>}> :
            (!tt.device<#device>) -> tensor<2xf32, #layout>
    """

    name = "ttnn.constant"
    DEFINITION: ClassVar = definition("constant")
    PARAMETERS: ClassVar = DEFINITION.parameters
    SIGNATURE: ClassVar = _creation_signature(DEFINITION)
    CHECK = staticmethod(check_constant)

    def verify_op(self) -> None:
        """Check C1, and since 2026 that a device is named where the result lies on one."""
        super().verify_op()
        if core_prefix() == TTCORE:
            verify_constant_place(self)

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
    DEFINITION: ClassVar = definition("arange")
    PARAMETERS: ClassVar = DEFINITION.parameters
    SIGNATURE: ClassVar = _creation_signature(DEFINITION)
    CHECK = staticmethod(check_arange)

    def form(self) -> Signature:
        """The signature with the dimension, or without, as since 2026."""
        return _LATE_ARANGE if self._is_late else self.SIGNATURE

    @property
    def _is_late(self) -> bool:
        return "arange_dimension" not in self.properties and core_prefix() == TTCORE

    def verify_op(self) -> None:
        """Check C1 to C3; without a dimension the result has no other."""
        if not (self._is_late and verify_late(self, self.PARAMETERS, self.DEFINITION)):
            super().verify_op()

    def parameters(self) -> dict[str, ParameterValue]:
        """The parameters of the definition; numbers are along the last dimension by themselves."""
        found = super().parameters()
        if "arange_dimension" not in found:
            found["arange_dimension"] = len(shape_of(self.results[0])) - 1
        return found


_LATE_ARANGE = Signature(
    (DEVICE_OPERAND,),
    _RESULT,
    tuple(each for each in ArangeOp.SIGNATURE.properties if each.name != "arange_dimension"),
)


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
        (ValueGroup("io_tensors", variadic=True),),
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
    SIGNATURE: ClassVar = Signature((ValueGroup("input"),))


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
