"""The ttir dialect: what to compute, on tensors, in destination-passing style.

Most operations follow from the definitions of the operation table: `ttir.AddOp`, `ttir.MatmulOp`
... are made when they are asked for, by class name or, with `op_class`, by mnemonic.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Self, cast

from xdsl.dialects.builtin import ArrayAttr, MemRefType, StringAttr, TensorType
from xdsl.ir import (
    Attribute,
    BlockArgument,
    Data,
    Operation,
    Region,
    SpacedOpaqueSyntaxAttribute,
    SSAValue,
)
from xdsl.irdl import irdl_attr_definition, traits_def
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import (
    ConstantLike,
    HasCanonicalizationPatternsTrait,
    HasFolder,
    IsTerminator,
    Pure,
    ReturnLike,
)

from ttmlir.dialects.alloc import AllocatingOp
from ttmlir.dialects.definition import control, ods
from ttmlir.dialects.definition.assembly import ConversionOp
from ttmlir.dialects.definition.ods import (
    DestinationStyleOp,
    KeepsConstants,
    ODSOperation,
    Property,
    Signature,
    TypeConstraint,
    ValueGroup,
    refuse,
    values,
)
from ttmlir.dialects.definition.syntax import expect, expect_keyword, parse_dimensions, parse_signed
from ttmlir.dialects.definition.table_ops import (
    Check,
    LateOnlyOp,
    OpClasses,
    TableDialect,
    TableOperation,
    ValueFormOp,
    check_arange,
    check_constant,
    check_conv2d,
    check_elementwise,
    check_elementwise_bitcast,
    check_elementwise_bits,
    check_image,
    check_of,
    check_output,
    check_pool_rank,
    check_to_layout,
    check_window_fits,
    destination_signature,
    int_property,
    is_static,
    properties_of,
    shape_of,
)
from ttmlir.dialects.late_verifier import verify_late
from ttmlir.mlir.core_prefix import TTCORE, core_prefix, note_ttcore
from ttmlir.mlir.printing import MlirPrinter, OwnSyntax
from ttmlir.optable import DEFINITIONS, definition, late_forms
from ttmlir.optable.elementwise import DEFINITIONS as elementwise_DEFINITIONS
from ttmlir.optable.op_definition import Family, OpDefinition
from ttmlir.optable.window import WindowAxis, transposed_shape, window_axes

if TYPE_CHECKING:
    from ttmlir.program import CustomKernel


# --- Families -------------------------------------------------------------------------------------
# The abstract classes of ttir: what the operations of a family have in common.
#
# All but a few ttir operations are in destination-passing style and say, in `operand_constraints`,
# which layouts each of their operands accepts.

# --- Checks ---------------------------------------------------------------------------------------
# Verifiers of ttir operations that differ from their ttnn counterparts.


def check_max_pool2d(op: Operation) -> None:
    """Check the shapes and the window of a pooling.

    C1: the input has four dimensions.
    C2: `original_height` and `original_width` are both given or both absent.
    C3: the window is not larger than the image, or than the original image if given.
    C4: the output has an element for each position of the window, which is checked where the input
    is an image.
    """
    shape = check_pool_rank(op)
    given = [name for name in ("original_height", "original_width") if name in op.properties]
    if len(given) == 1:
        refuse(
            "If providing the original height and width as attributes, both original_height and "
            f"original_width must be set. However, only {given[0]} was provided."
        )
    height, width = (int_property(op, name) for name in given) if given else shape[1:3]
    check_window_fits(op, height, width)
    if not given and is_static(shape):
        rows, columns = _checked_axes(op, height, width)
        check_output(op, (shape[0], rows.positions, columns.positions, shape[3]))


def check_avg_pool2d(op: Operation) -> None:
    """Check the shapes and the window of an average.

    C1: the input has four dimensions.
    C2: kernel, stride and dilation are positive, padding is not negative, and the window is not
    larger than the padded image.
    C3: the output has the shape that follows.
    """
    batch, height, width, channels = check_image(op)
    rows, columns = _checked_axes(op, height, width)
    check_output(op, (batch, rows.positions, columns.positions, channels))


def _checked_axes(op: Operation, height: int, width: int) -> tuple[WindowAxis, WindowAxis]:
    """What the window of an operation does along an image; it has to be able to slide."""
    assert isinstance(op, TableOperation)
    try:
        rows, columns = window_axes(op.parameters(), input_height=height, input_width=width)
        return rows.checked("height"), columns.checked("width")
    except ValueError as error:
        refuse(str(error))


def check_conv_transpose2d(op: Operation) -> None:
    """Check the shapes of a transposed convolution.

    C1: input and weight have four dimensions.
    C2: the weight's first extent is the number of input channels, which the groups divide.
    C3: strides and dilations are positive, padding is not negative.
    C4: the bias, if present, has an element for each output channel.
    C5: the output has the shape that follows.
    """
    input, weight = check_image(op), shape_of(op.operands[1])
    if len(weight) != 4:
        refuse("Weight must be a 4D tensor")
    assert isinstance(op, TableOperation)
    bias = op.group("bias")
    try:
        expected = transposed_shape(
            input, weight, shape_of(bias[0]) if bias else None, op.parameters()
        )
    except ValueError as error:
        refuse(str(error))
    check_output(op, expected)


CHECKS: dict[str, Check] = {
    "conv2d": check_conv2d,
    "max_pool2d": check_max_pool2d,
    "avg_pool2d": check_avg_pool2d,
    "conv_transpose2d": check_conv_transpose2d,
    **{
        definition.mnemonic: check_elementwise_bits
        for definition in elementwise_DEFINITIONS
        if definition.takes_bits
    },
    **{
        definition.mnemonic: check_elementwise_bitcast
        for definition in elementwise_DEFINITIONS
        if definition.takes_types
    },
}
"""Checks by mnemonic."""


# --- Families -------------------------------------------------------------------------------------

if TYPE_CHECKING:
    pass

OPERAND_CONSTRAINTS = Property(
    "operand_constraints", ods.array_attr("", lambda item: item.name == "tt.operand_constraint")
)
"""Layouts that each operand accepts, inputs first; their number is not verified."""


class TTIROp(DestinationStyleOp):
    """An operation in destination-passing style whose operands have layout constraints."""

    @property
    def operand_constraints(self) -> ArrayAttr[Attribute] | None:
        """Layouts that each operand accepts; None for `to_layout`, which takes any."""
        attr = self.properties.get("operand_constraints")
        return cast("ArrayAttr[Attribute] | None", attr)


class GenericRegionOp(ODSOperation):
    """An operation that `ttir-generic` can wrap into a `ttir.generic`."""


class TTIRTableOp(TTIROp, ValueFormOp):
    """An operation that has a definition, and writes to a destination or makes its result."""

    NAMES_DESTINATION: ClassVar = True
    VERIFY_LATE: ClassVar = staticmethod(verify_late)

    @classmethod
    def convert_properties(
        cls, properties: dict[str, Attribute] | None, attributes: dict[str, Attribute]
    ) -> dict[str, Attribute]:
        """The properties; general windows of 2025 say some of theirs by attributes of ttir."""
        if cls.name in ("ttir.convolution", "ttir.pooling"):
            properties = dict(properties or {})
            for table in (properties, attributes):
                for name, attr in tuple(table.items()):
                    if isinstance(attr, ConvolutionLayoutAttr | PoolingMethodAttr):
                        del table[name]
                        table[attr.PARAMETER] = StringAttr(attr.word)
        return super().convert_properties(properties, attributes)

    def finish_reading(self) -> None:
        """Fill in what a text of 2026 need not say, and remember that it is one."""
        if not self.has_destination:
            note_ttcore()
        super().finish_reading()


class LateOp(LateOnlyOp):
    """An operation of 2026 without a definition."""

    NAMES_DESTINATION: ClassVar = True
    VERIFY_LATE: ClassVar = staticmethod(verify_late)

    def finish_reading(self) -> None:
        """Fill in what the text need not say, and remember that it is one of 2026."""
        note_ttcore()
        super().finish_reading()


class ElementwiseOp(TTIRTableOp):
    """Operands broadcast against each other; inputs, outputs and results are variadic."""

    CHECK = staticmethod(check_elementwise)


class UnaryOp(ElementwiseOp):
    """Elementwise operation of one input."""


class BinaryOp(ElementwiseOp):
    """Elementwise operation of two inputs."""


class TernaryOp(ElementwiseOp):
    """Elementwise operation of three inputs."""


class ReductionOp(TTIRTableOp):
    """Reduction over the dimensions `dim_arg`, or all of them."""


class MovementOp(TTIRTableOp):
    """Operation that moves elements without computing on them."""


class ContractionOp(TTIRTableOp):
    """Sum of products."""


class WindowOp(TTIRTableOp):
    """Operation on the windows of an image."""


class NormalizationOp(TTIRTableOp):
    """Operation that scales elements by a function of their neighbours along a dimension."""


class LookupOp(TTIRTableOp):
    """Rows of a table by their number."""


class OrderingOp(TTIRTableOp):
    """Numbers in order along a dimension, and their places."""


# --- Images ---------------------------------------------------------------------------------------


@irdl_attr_definition
class FlattenedCompatAttr(Data[tuple[int, int, int]], SpacedOpaqueSyntaxAttribute):
    """The batch, height and width of images whose rows are one dimension.

    `#ttir<flattened_compat batch_size = 1, input_height = 32, input_width = 32>`
    """

    name = "ttir.flattened_compat"
    FIELDS: ClassVar = ("batch_size", "input_height", "input_width")

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[int, int, int]:
        """Read `name = number, ...`, each of the three once."""
        found: dict[str, int] = {}
        while len(found) < len(cls.FIELDS):
            if found:
                expect(parser, ",")
            position = parser.pos
            name = parser.parse_optional_identifier() or ""
            if name not in cls.FIELDS or name in found:
                left = ", ".join(each for each in cls.FIELDS if each not in found)
                parser.raise_error(f"expected one of: {left}", position)
            expect(parser, "=")
            found[name] = parse_signed(parser)
        batch, height, width = (found[name] for name in cls.FIELDS)
        return batch, height, width

    def print_parameter(self, printer: Printer) -> None:
        """Write what `parse_parameter` reads."""
        fields = zip(self.FIELDS, self.data, strict=True)
        printer.print_string(", ".join(f"{name} = {number}" for name, number in fields))


@irdl_attr_definition
class ConvolutionLayoutAttr(Data[str], SpacedOpaqueSyntaxAttribute):
    """The meaning of the dimensions of a general convolution, as texts of 2025 say it.

    `#ttir<convolution_layout input_batch = 0, input_feature = 1, input_spatial_dimensions = 2x3,
    ...>`; it is kept as the parameter `dimension_numbers`.
    """

    name = "ttir.convolution_layout"
    PARAMETER: ClassVar = "dimension_numbers"
    TENSORS: ClassVar = (
        ("input", "batch", "feature", "b", "f"),
        ("kernel", "output_feature", "input_feature", "o", "i"),
        ("output", "batch", "feature", "b", "f"),
    )

    @property
    def word(self) -> str:
        """The parameter's value."""
        return self.data

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        """Read where each tensor has its dimensions."""
        parts: list[str] = []
        for tensor, first, second, *letters in cls.TENSORS:
            names = [f"{tensor}_{first}", f"{tensor}_{second}", f"{tensor}_spatial_dimensions"]
            found: dict[int, str] = {}
            count = 0
            for name, letter in zip(names, (*letters, ""), strict=True):
                if parts or count:
                    expect(parser, ",")
                expect_keyword(parser, name)
                expect(parser, "=")
                places = parse_dimensions(parser)
                found |= {place: letter or str(n) for n, place in enumerate(places)}
                count += len(places)
            if sorted(found) != [*range(count)]:
                parser.raise_error(f"expected each dimension of the {tensor} once")
            parts.append(f"[{', '.join(found[place] for place in range(len(found)))}]")
        return f"{parts[0]}x{parts[1]}->{parts[2]}"

    def print_parameter(self, printer: Printer) -> None:
        """Write the parameter's value."""
        printer.print_string_literal(self.data)


@irdl_attr_definition
class PoolingMethodAttr(Data[str], SpacedOpaqueSyntaxAttribute):
    """What a general pooling computes, as texts of 2025 say it: `#ttir<pooling_method Max>`."""

    name = "ttir.pooling_method"
    PARAMETER: ClassVar = "pooling_method"

    @property
    def word(self) -> str:
        """The parameter's value."""
        return self.data.lower()

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        """Read `Average`, `Max` or `Sum`."""
        position = parser.pos
        word = parser.parse_optional_identifier() or ""
        if word not in ("Average", "Max", "Sum"):
            parser.raise_error("expected one of: Average, Max, Sum", position)
        return word

    def print_parameter(self, printer: Printer) -> None:
        """Write the word."""
        printer.print_string(self.data)


# --- Structure ------------------------------------------------------------------------------------
# The ttir operations that are written out: structure, memory and constants.

# --- Control --------------------------------------------------------------------------------------
# Loops and branches of ttir.


class WhileOp(control.WhileOp):
    """A loop: the results of `body` are what the next iteration, or the end, carries.

    The first operands, as many as there are results, are carried; the others are the same in all
    iterations. There are `trip_count` iterations, or as many as `condition`, which is asked before
    each of them, answers with a number other than 0. If both are given, `trip_count` holds.

    C1: `trip_count` or `condition` is given. C2: no more results than operands, of the types of
    the first operands. C3: `body` and `condition` are functions that take the operands; the body
    returns what is carried, the condition one element.

    Example:
        %r = "ttir.while"(%x, %w) <{body = @main_body0, trip_count = 10 : i64}> :
            (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    """

    name = "ttir.while"


class CaseOp(control.CaseOp):
    """A branch: calls the function whose number `index` is, or the last one if there is none.

    The functions take the other operands and return the results. Truth values choose the second
    of two functions where they are true.

    C1: there is at least one function. C2: `index` has one element. C3: all functions take the
    other operands and return the results.

    Example:
        %r = "ttir.case"(%index, %x) <{branches = [@main_branch0, @main_branch1]}> :
            (tensor<i32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    """

    name = "ttir.case"


# --- Metal cast -----------------------------------------------------------------------------------
# The step between ttnn's layouts and those of the direct-to-metal path.

_SHAPED = TypeConstraint(
    "ranked tensor or memref of any type values",
    lambda type: isinstance(type, TensorType | MemRefType),
)


class _CastPatterns(HasCanonicalizationPatternsTrait):
    @classmethod
    def get_canonicalization_patterns(cls):
        """A cast there and back is left out."""
        from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

        class FoldInverse(RewritePattern):
            """A cast of a cast to the type that was there first."""

            def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
                """Take the first value."""
                before = op.operands[0].owner
                if not isinstance(before, TTNNMetalLayoutCastOp):
                    return
                if before.operands[0].type == op.results[0].type:
                    rewriter.replace(op, (), [before.operands[0]])

        return (FoldInverse(),)


class TTNNMetalLayoutCastOp(ConversionOp):
    """A tensor with a layout of ttnn as one with a `#ttcore.metal_layout`, or back.

    No data is moved: both layouts say the same of the memory.

    Example:
        %1 = ttir.ttnn_metal_layout_cast %0 : tensor<32x32xbf16, #ttnn_layout>
            -> tensor<1x1x1x1x!ttcore.tile<32x32, bf16>, #layout>
    """

    name = "ttir.ttnn_metal_layout_cast"
    SIGNATURE: ClassVar = Signature(values(input=_SHAPED), values(result=_SHAPED))
    traits = traits_def(Pure(), _CastPatterns())


# --- Structure ------------------------------------------------------------------------------------

_TENSORS_IN_AND_OUT = (ValueGroup("inputs", variadic=True), ValueGroup("outputs", variadic=True))
_RESULT = (ValueGroup("result"),)


class GenericOp(TTIROp):
    """Work that a grid of cores does on the shards of its operands.

    The region is what one core computes; its block arguments correspond to the operands, inputs
    first. As in `linalg.generic`, `indexing_maps` map the iteration space, whose dimensions
    `iterator_types` describes, to the shards of each operand. The body ends in `ttir.yield`.

    C1: as many block arguments as operands.

    Example:
        %r = "ttir.generic"(%a, %b, %o) <{grid = #tt.grid<1x1>, indexing_maps = [#map, #map, #map],
            iterator_types = [#parallel, #parallel], operandSegmentSizes = array<i32: 2, 1>,
            operand_constraints = [#any_device_tile, #any_device_tile, #any_device_tile]}> ({
          ^bb0(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %z: tensor<4x8xf32>):
            %s = arith.addf %x, %y : tensor<4x8xf32>
            "ttir.yield"(%s) : (tensor<4x8xf32>) -> ()
        }) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    """

    name = "ttir.generic"
    SIGNATURE: ClassVar = Signature(
        _TENSORS_IN_AND_OUT,
        (ValueGroup("results", variadic=True),),
        (
            Property("grid", ods.named_attr("tt.grid")),
            Property("indexing_maps", ods.MAP_ARRAY),
            Property(
                "iterator_types", ods.array_attr("", lambda item: item.name == "tt.iterator_type")
            ),
            OPERAND_CONSTRAINTS,
        ),
        regions=1,
        init="outputs",
    )
    # What a core computes is compiled by itself, its constants included.
    traits = traits_def(KeepsConstants())

    @property
    def body(self) -> Region:
        """What one core computes."""
        return self.regions[0]

    @property
    def output_argument(self) -> BlockArgument[Attribute]:
        """What the body has for the init of an operation that has one."""
        return self.body.block.args[self.init_range[0]]

    def verify_op(self) -> None:
        """Compare the number of block arguments with the number of operands (C1)."""
        first = self.body.first_block
        arguments = 0 if first is None else len(first.args)
        if arguments != len(self.operands):
            refuse("The number of op operands and region/block operands must match")


class ToLayoutOp(TTIROp, OwnSyntax):
    """A tensor in another layout: memory, grid, tiling, sharding or element type.

    C1, C2: input and output carry a `#tt.layout`. C3: equal shapes. Since 2025 it has a syntax of
    its own.

    Example:
        %1 = "ttir.to_layout"(%0, %out) :
            (tensor<64x128xf32, #layout>, tensor<64x128xf32, #layout1>)
            -> tensor<64x128xf32, #layout1>
        %1 = ttir.to_layout %0, %out : tensor<64x128xf32, #ttnn_layout>
            into tensor<64x128xf32, #ttnn_layout1> -> tensor<64x128xf32, #ttnn_layout1>
    """

    name = "ttir.to_layout"
    SIGNATURE: ClassVar = Signature(
        (ValueGroup("input"), ValueGroup("output")), _RESULT, init="output"
    )

    def generic_name(self) -> str:
        """The name, which is the same in all modules."""
        return self.name

    def custom_name(self) -> str | None:
        """The name in the syntax of 2025; None in modules of 2024."""
        return self.name if core_prefix() == TTCORE else None

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""
        note_ttcore()
        names = [parser.parse_unresolved_operand()]
        parser.parse_punctuation(",")
        names.append(parser.parse_unresolved_operand())
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        types = [parser.parse_type()]
        parser.parse_keyword("into")
        types.append(parser.parse_type())
        has_result = parser.parse_optional_punctuation("->") is not None
        results = [parser.parse_type()] if has_result else []
        operands = [parser.resolve_operand(*each) for each in zip(names, types, strict=True)]
        return cls.create(operands=operands, result_types=results, attributes=attributes)

    def print_custom(self, printer: MlirPrinter) -> None:
        """Write the operation after its name."""
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_operand)
        printer.print_op_attributes(self.properties | self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.operands[0].type)
        printer.print_string(" into ")
        printer.print_attribute(self.operands[1].type)
        for result in self.results:
            printer.print_string(" -> ")
            printer.print_attribute(result.type)

    def verify_op(self) -> None:
        """Check the layouts (C1, C2) and shapes (C3)."""
        check_to_layout(self)


class AllocOp(AllocatingOp):
    """Memory at a fixed address for a tensor."""

    name = "ttir.alloc"


class DeallocOp(ODSOperation):
    """The end of the life of a tensor's memory."""

    name = "ttir.dealloc"
    SIGNATURE: ClassVar = Signature((ValueGroup("result"),))


class _ConstantFolds(HasFolder):
    """A constant folds to its value."""

    @classmethod
    def fold(cls, op: Operation) -> Sequence[SSAValue | Attribute]:
        """The value of the constant."""
        return (op.properties["value"],)


class ConstantOp(TableOperation):
    """A tensor whose elements stand in the program.

    The element type of the value may differ from the result's. Equal constants are merged by passes
    that fold; an unused one stays.

    C1: value and result have the same shape.

    Example:
        %0 = "ttir.constant"() <{value = dense<[0.2, 1.3]> : tensor<2xf32>}> : () -> tensor<2xf32>
    """

    name = "ttir.constant"
    DEFINITION: ClassVar = definition("constant")
    PARAMETERS: ClassVar = DEFINITION.ttir_signature
    SIGNATURE: ClassVar = Signature(results=_RESULT, properties=properties_of(PARAMETERS))
    CHECK = staticmethod(check_constant)
    traits = traits_def(ConstantLike(), _ConstantFolds())

    @property
    def value(self) -> Attribute:
        """The elements."""
        return self.properties["value"]


class ArangeOp(TableOperation):
    """Evenly spaced numbers along a dimension, the same along all others.

    C1: the step is not 0. C2: the dimension is one of the result's. C3: the result's extent there
    is the number of values from `start` to below `end`.

    Example:
        %0 = "ttir.arange"() <{arange_dimension = 1 : i64, end = 10 : si64, start = 0 : si64,
            step = 2 : si64}> : () -> tensor<3x5xf32>
    """

    name = "ttir.arange"
    DEFINITION: ClassVar = definition("arange")
    PARAMETERS: ClassVar = DEFINITION.ttir_signature
    SIGNATURE: ClassVar = Signature(results=_RESULT, properties=properties_of(PARAMETERS))
    CHECK = staticmethod(check_arange)

    def verify_op(self) -> None:
        """Check C1 to C3, in the words of 2026 where the module is one of that year."""
        if core_prefix() != TTCORE or not verify_late(self, self.PARAMETERS, self.DEFINITION):
            super().verify_op()


class KernelOp(TTIROp):
    """Call of a kernel that the backend knows by name.

    Operands and results are tensors or memrefs of rank 1 or more; only tensors take part in the
    destination-passing style.
    """

    name = "ttir.kernel"
    SIGNATURE: ClassVar = Signature(
        (
            ValueGroup("inputs", ods.TENSOR_OR_MEMREF, variadic=True),
            ValueGroup("outputs", ods.TENSOR_OR_MEMREF, variadic=True),
        ),
        (ValueGroup("results", ods.TENSOR_OR_MEMREF, variadic=True),),
        (Property("op", ods.FLAT_SYMBOL), Property("kind", ods.FLAT_SYMBOL), OPERAND_CONSTRAINTS),
        init="outputs",
    )


class CustomKernelOp(TTIROp):
    """Kernels of the user's: a program in C++ that comes with the tensors that it is for.

    `config` is the text of the program, the `backend_config` of a custom call of `tt.kernel`
    (docs/bridge.md). It reads the inputs and makes the outputs.

    C1: the text is a program. C2: operands and results are the tensors that it is for.

    Example:
        %1 = "ttir.custom_kernel"(%x, %out) <{config = "{...}", operandSegmentSizes =
            array<i32: 1, 1>, operand_constraints = [#dram_tile, #dram_tile]}> :
            (tensor<5x70xf32>, tensor<5x70xf32>) -> tensor<5x70xf32>
    """

    name = "ttir.custom_kernel"
    SIGNATURE: ClassVar = Signature(
        _TENSORS_IN_AND_OUT,
        (ValueGroup("results", variadic=True),),
        (Property("config", ods.STRING), OPERAND_CONSTRAINTS),
        init="outputs",
    )

    @property
    def kernel(self) -> CustomKernel:
        """The program, and the tensors that it is for; DescriptionError if the text is none."""
        from ttmlir.program import read_custom_kernel

        return read_custom_kernel(cast("StringAttr", self.properties["config"]).data)

    def verify_op(self) -> None:
        """Check the text (C1) and the types (C2)."""
        from ttmlir.program import DescriptionError

        try:
            kernel = self.kernel
        except DescriptionError as error:
            refuse(f"config: {error}")
        difference = kernel.difference(
            [tensor_text(value.type) for value in self.inputs],
            [tensor_text(result.type) for result in self.results],
        )
        if difference is not None:
            refuse(difference)


def tensor_text(type_: Attribute) -> str:
    """A tensor type without its layout, as `CustomKernel.difference` takes it."""
    if not isinstance(type_, TensorType):
        return str(type_)
    tensor = cast("TensorType[Attribute]", type_)
    return f"tensor<{'x'.join(map(str, (*tensor.get_shape(), tensor.element_type)))}>"


class YieldOp(ODSOperation):
    """The end of the body of a `ttir.generic`: the values that a core computed.

    C1: it is the last operation of its block.
    """

    name = "ttir.yield"
    SIGNATURE: ClassVar = Signature((ValueGroup("values", ods.TENSOR_OR_MEMREF, variadic=True),))
    traits = traits_def(Pure(), ReturnLike(), IsTerminator())

    def verify_op(self) -> None:
        """Check the place in the block (C1)."""
        if self.parent is not None and self.next_op is not None:
            refuse("must be the last operation in the parent block")


STRUCTURE_OPS = cast(
    "tuple[type[ODSOperation], ...]",
    (
        GenericOp,
        ToLayoutOp,
        AllocOp,
        DeallocOp,
        ConstantOp,
        ArangeOp,
        KernelOp,
        CustomKernelOp,
        TTNNMetalLayoutCastOp,
        YieldOp,
    ),
)
"""Every operation of this module."""


# --- Ttir -----------------------------------------------------------------------------------------

__all__ = [
    "TTIR",
    "AllocOp",
    "ArangeOp",
    "BinaryOp",
    "CaseOp",
    "ConstantOp",
    "ContractionOp",
    "CustomKernelOp",
    "DeallocOp",
    "ElementwiseOp",
    "GenericOp",
    "GenericRegionOp",
    "KernelOp",
    "LookupOp",
    "MovementOp",
    "NormalizationOp",
    "OrderingOp",
    "ReductionOp",
    "TTIROp",
    "TTIRTableOp",
    "TernaryOp",
    "ToLayoutOp",
    "UnaryOp",
    "WhileOp",
    "WindowOp",
    "YieldOp",
    "op_class",
    "tensor_text",
]

_FAMILIES: dict[Family, type[TTIRTableOp]] = {
    Family.UNARY: UnaryOp,
    Family.BINARY: BinaryOp,
    Family.TERNARY: TernaryOp,
    Family.REDUCTION: ReductionOp,
    Family.MOVEMENT: MovementOp,
    Family.CONTRACTION: ContractionOp,
    Family.WINDOW: WindowOp,
    Family.NORMALIZATION: NormalizationOp,
    Family.LOOKUP: LookupOp,
    Family.ORDERING: OrderingOp,
}

_CLASSES: OpClasses[ODSOperation] = OpClasses("ttir", (*STRUCTURE_OPS, WhileOp, CaseOp))


def _make(definition: OpDefinition) -> type[ODSOperation]:
    properties = (*properties_of(definition.ttir_signature), OPERAND_CONSTRAINTS)
    family = _FAMILIES[definition.family]
    return _CLASSES.make_defined(
        definition,
        (family, GenericRegionOp) if definition.generic else (family,),
        parameters=definition.ttir_signature,
        signature=destination_signature(definition, properties),
        check=check_of(definition, CHECKS) or family.CHECK,
        late=late_forms.TTIR.get(definition.mnemonic),
        module=__name__,
    )


for _definition in DEFINITIONS.values():
    if _definition.in_ttir:
        _CLASSES.declare(_definition.mnemonic, partial(_make, _definition))

for _mnemonic, _form in late_forms.TTIR.items():
    _CLASSES.declare(
        _mnemonic, partial(_CLASSES.make_late, _mnemonic, _form, (LateOp,), module=__name__)
    )


def op_class(mnemonic: str) -> type[ODSOperation]:
    """The class of `ttir.<mnemonic>`; UnknownOperationError if there is none."""
    return _CLASSES.by_mnemonic(mnemonic)


def __getattr__(name: str) -> type[TTIRTableOp]:
    return cast("type[TTIRTableOp]", _CLASSES.by_class_name(name))


TTIR = TableDialect(_CLASSES, [ConvolutionLayoutAttr, FlattenedCompatAttr, PoolingMethodAttr])
"""The dialect, for an xDSL context."""
