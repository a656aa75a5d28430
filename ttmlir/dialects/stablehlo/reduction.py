"""Operations of StableHLO that fold many elements into one, sort them, or map a function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Self, TypeVar, cast

from xdsl.dialects.builtin import AnyFloat, ComplexType, DenseArrayBase, TensorType, i1, i32, i64
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.lexer import Span

from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.ods import (
    Property,
    Signature,
    ValueGroup,
    properties,
    refuse,
    text,
    values,
)
from ttmlir.dialects.definition.syntax import expect, expect_keyword
from ttmlir.dialects.stablehlo.attrs import dimension_list_text, parse_dimension_list
from ttmlir.dialects.stablehlo.constraints import (
    ANY,
    DIMENSIONS,
    DYNAMIC,
    check_compatible,
    check_inferred,
    check_shapes_agree,
    element_of,
    extents_agree,
    shape_of,
    width_of,
)
from ttmlir.dialects.stablehlo.contraction import window_extents
from ttmlir.dialects.stablehlo.control import ReturnOp, returned
from ttmlir.dialects.stablehlo.elementwise import ELEMENTWISE
from ttmlir.dialects.stablehlo.form import integer, integers
from ttmlir.dialects.stablehlo.operation import PURE, StableHLOOp

if TYPE_CHECKING:
    from ttmlir.mlir.printing import MlirPrinter
    from ttmlir.mlir.reader import ModuleReader


# --- Reduction ------------------------------------------------------------------------------------
# What folds and the like require, in StableHLO's words.

_TRUTH = TensorType(i1, ())


def _like(type: Attribute, shape: Sequence[int]) -> TensorType[Attribute]:
    return TensorType(element_of(type), shape)


def check_fold(op: Operation, region: Region, inits: Sequence[Attribute]) -> None:
    """The function folds pairs of values of the types of the initial values."""
    count = len(inits)
    arguments, results = len(region.block.args), returned(region)
    parameters = [argument.type for argument in region.block.args]
    if arguments != 2 * count:
        refuse(
            f"Reduction-region must take {2 * count} parameters, but takes {arguments} parameter(s)"
        )
    if len(results) != count:
        refuse(
            f"The reduction-region expected to return {count} value(s), but returned {len(results)}"
        )
    for index, (result, init) in enumerate(zip(results, inits, strict=True)):
        for place in (index, count + index):
            if not _agree(parameters[place], result):
                refuse(
                    f"The type of reduction-region's parameter at index {place} is different than "
                    f"the corresponding result type: '{text(parameters[place])}' vs "
                    f"'{text(result)}'"
                )
        if result.name != TensorType.name or not extents_agree(shape_of(result), shape_of(init)):
            refuse(
                f"The shape of reduction-region's result type at index {index} differs from the "
                f"op's corresponding init-value type: '{text(result)}' vs '{text(init)}'"
            )
        if element_of(result) != element_of(init):
            refuse(
                f"The element-type of reduction-region's result type at index {index} is expected "
                f"to be promotable from the op's corresponding init-value element-type: "
                f"'{text(result)}' vs '{text(init)}'"
            )


def _agree(a: Attribute, b: Attribute) -> bool:
    """True for tensors of one shape and one element type; StableHLO ignores precision here."""
    if a.name != TensorType.name or b.name != TensorType.name:
        return False
    return _are_alike(element_of(a), element_of(b)) and extents_agree(shape_of(a), shape_of(b))


def _are_alike(a: Attribute, b: Attribute) -> bool:
    are_floats = isinstance(a, AnyFloat) and isinstance(b, AnyFloat)
    return a == b or are_floats or (a.name == b.name == ComplexType.name)


def check_promotable(region: Region, elements: Sequence[Attribute]) -> None:
    """What a function returns can hold values of these types."""
    for index, (result, element) in enumerate(zip(returned(region), elements, strict=True)):
        widths = width_of(element_of(result)), width_of(element)
        # A width of 0 is none of an integer.
        fits = widths[0] >= widths[1] if all(widths) else _are_alike(element_of(result), element)
        if not fits:
            refuse(
                f"The element-type of reduction-region's result type at index {index} is expected "
                f"to be promotable from the op's corresponding init-value element-type: "
                f"'{text(result)}' vs '{text(TensorType(element, ()))}'"
            )


def pairs(op: Operation) -> int:
    """The number of inputs of an operation that has something else for each of them."""
    count = len(op.operands) // 2
    if not count:
        refuse(f"expected 2 or more operands, but found {len(op.operands)}")
    return count


def reduce(op: Operation) -> None:
    """The dimensions are different ones of the inputs', which have one shape."""
    count = pairs(op)
    inputs, inits = op.operand_types[:count], op.operand_types[count:]
    shape, dims = shape_of(inputs[0]), integers(op, "dimensions")
    if not all(extents_agree(shape, shape_of(type)) for type in inputs):
        refuse("expects all inputs to have compatible shapes.")
    for place, dim in enumerate(dims):
        if not 0 <= dim < len(shape):
            refuse(f"Out-of-bounds dimension {dim}, expected to be in range [0, {len(shape)})")
        if dim in dims[:place]:
            refuse(f"Duplicate reduction dimension: {dim}")
    check_fold(op, op.regions[0], inits)
    kept = [size for dim, size in enumerate(shape) if dim not in dims]
    check_inferred(op, *(_like(type, kept) for type in inputs))


def reduce_window(op: Operation) -> None:
    """The window has as many dimensions as the inputs."""
    count = pairs(op)
    inputs, inits = op.operand_types[:count], op.operand_types[count:]
    window, shape = integers(op, "window_dimensions"), shape_of(inputs[0])
    if len(window) != len(shape):
        refuse(
            f"expects window-dimensions size == input rank, but got window-dimensions size: "
            f"{len(window)} and input: '{text(inputs[0])}' with rank = {len(shape)}."
        )
    names = {"stride": "window_strides", "lhs": "base_dilations", "rhs": "window_dilations"}
    extents = window_extents(op, shape, window, names)
    check_fold(op, op.regions[0], inits)
    check_inferred(op, *(_like(type, extents) for type in inputs))


def select_and_scatter(op: Operation) -> None:
    """The source has one element for each window of the operand."""
    operand, source, init = op.operand_types
    shape = shape_of(operand)
    window = integers(op, "window_dimensions") or (1,) * len(shape)
    if len(window) != len(shape):
        refuse(
            f"expects window-dimensions size == operand rank, but got window-dimensions size: "
            f"{len(window)} and operand-type: '{text(operand)}' with rank = {len(shape)}."
        )
    names = {"stride": "window_strides", "lhs": "", "rhs": ""}
    expected = _like(operand, window_extents(op, shape, window, names))
    if not extents_agree(shape_of(source), shape_of(expected)):
        refuse(f"expects source-type to be '{text(expected)}', but got'{text(source)}'")
    check_fold(op, op.regions[1], [init])
    check_inferred(op, operand)


def sort(op: Operation) -> None:
    """The comparison takes two elements of each input."""
    types = op.operand_types
    if not types:
        refuse("requires at least one input")
    shape = shape_of(types[0])
    if not all(extents_agree(shape, shape_of(type)) for type in types):
        refuse("requires the same shape for all operands and results")
    rank = len(shape)
    dim = integer(op, "dimension") if "dimension" in op.properties else -1
    if rank and not -rank <= dim < rank:
        refuse(f"dimension attribute value must be in range [-{rank}, {rank}), but found {dim}")
    block = op.regions[0].block
    if len(block.args) != 2 * len(types):
        refuse(f"comparator block should have {2 * len(types)} arguments")
    for index, argument in enumerate(block.args):
        expected = _like(types[index // 2], ())
        if argument.type != expected:
            refuse(
                f"comparator block argument #{index} should be of type '{text(expected)}' but got "
                f"'{text(argument.type)}'"
            )
    results = returned(op.regions[0])
    if len(results) != 1:
        refuse(f"comparator must return single output but got: {len(results)}")
    if results[0] != _TRUTH:
        refuse(f"comparator must return tensor<i1> but got '{text(results[0])}'")
    check_inferred(op, *types)


def map(op: Operation) -> None:
    """All dimensions are named in order."""
    if not op.operands:
        refuse("expected 1 or more operands, but found 0")
    dims, type = integers(op, "dimensions"), op.operands[0].type
    check_shapes_agree([*op.operand_types, op.results[0].type])
    element = _check_map(op)
    if list(dims) != list(range(len(dims))):
        refuse(
            f"requires monotonically increasing dimension numbers, but got: "
            f"{', '.join(str(dim) for dim in dims)}"
        )
    if len(dims) != len(shape_of(type)):
        refuse(
            f"applied to a subset of dimensions currently not supported: operand dimensions = "
            f"{len(shape_of(type))}, requested map dimensions size = {len(dims)}"
        )
    check_inferred(op, TensorType(element, shape_of(type)))


def _check_map(op: Operation) -> Attribute:
    """The function takes an element of each operand; the type of the element that it returns."""
    parameters = [argument.type for argument in op.regions[0].block.args]
    if len(parameters) != len(op.operands):
        refuse(
            f"expects number of operands to match the arity of map computation, but got: "
            f"{len(op.operands)} and {len(parameters)}"
        )
    for index, (parameter, operand) in enumerate(zip(parameters, op.operand_types, strict=True)):
        if not _is_scalar(parameter):
            refuse(
                f"computation arguments must be 0-rank tensor, but got: arg #{index} of type "
                f"'{text(parameter)}'"
            )
        if element_of(parameter) != element_of(operand):
            refuse(
                f"element type of operands and computation arguments must match, but got: "
                f"'{text(element_of(operand))}' and '{text(element_of(parameter))}'"
            )
    results = returned(op.regions[0])
    if len(results) != 1:
        refuse(f"computation must return single output, but got: {len(results)}")
    if not _is_scalar(results[0]):
        refuse(f"computation must return 0-rank tensor, but got: '{text(results[0])}'")
    return element_of(results[0])


def _is_scalar(type: Attribute) -> bool:
    return isinstance(type, TensorType) and not type.shape.data


def batch_norm(op: Operation) -> None:
    """The feature dimension is one of the operand's, with a value for each of its elements."""
    types = op.operand_types
    shape, feature = shape_of(types[0]), integer(op, "feature_index")
    if feature >= len(shape):
        refuse(
            f"expects featureIndex to be smaller than the rank of multi-dimensional operands; got "
            f"featureIndex {feature}, and rank {len(shape)}."
        )
    for type in types[1:]:
        (*_, size) = shape_of(type)
        if len(shape_of(type)) == 1 and size != shape[feature] and DYNAMIC not in (size, *shape):
            refuse(
                f"expects the size of single-dimensional operands to be compatible with feature "
                f"count, but the size of single-dimensional operands is {size} and the feature "
                f"count is {shape[feature]}."
            )
    check_compatible([types[0], op.results[0].type])


def top_k(op: Operation) -> None:
    """The last dimension has at least k elements."""
    type, k = op.operands[0].type, integer(op, "k")
    if not isinstance(type, TensorType):
        return
    shape = shape_of(cast("Attribute", type))
    if not shape:
        refuse("operand's rank must be at least 1")
    if shape[-1] != DYNAMIC and shape[-1] < k:
        refuse(f"operand's last dimension must be at least {k}")
    kept = (*shape[:-1], k)
    check_inferred(op, _like(cast("Attribute", type), kept), TensorType(i32, kept))


# --- Reduction ------------------------------------------------------------------------------------
# The two texts of `stablehlo.reduce`.
#
# stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [1] : types
# stablehlo.reduce(%0 init: %1), (%2 init: %3) across dimensions = [1] : types
#  reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<i32>, %d: tensor<i32>)  { ... }

OpT = TypeVar("OpT", bound=StableHLOOp)

COMMUTATIVE = {
    f"stablehlo.{name}" for name in ("add", "and", "maximum", "minimum", "multiply", "or", "xor")
}
"""The operations that the short form names."""
_CLASSES = {op.name: op for op in ELEMENTWISE if op.name in COMMUTATIVE}


def parse_reduce(op_type: type[OpT], parser: Parser) -> OpT:
    """Read what follows the name."""
    start = parser.pos
    inputs: list[UnresolvedOperand] = []
    inits: list[UnresolvedOperand] = []

    def pair() -> None:
        expect(parser, "(")
        inputs.append(parser.parse_unresolved_operand())
        expect_keyword(parser, "init")
        expect(parser, ":")
        inits.append(parser.parse_unresolved_operand())
        expect(parser, ")")

    pair()
    while parser.parse_optional_punctuation(",") is not None:
        pair()
    function = _parse_function_name(parser)
    expect_keyword(parser, "across")
    expect_keyword(parser, "dimensions")
    expect(parser, "=")
    dimensions = DenseArrayBase.from_list(i64, parse_dimension_list(parser))
    op = op_type.parse_rest(parser, {"dimensions": dimensions}, [*inputs, *inits])
    region = (
        _parse_reducer(parser, len(inputs))
        if function is None
        else _folding_region(parser, function, op, start)
    )
    op.add_region(region)
    # As the reference has it, a reduction is where its operands begin.
    op.location = cast("ModuleReader", parser).location_at(start)
    return op


def _parse_function_name(parser: Parser) -> str | None:
    if parser.parse_optional_keyword("applies") is None:
        return None
    position = parser.pos
    name = parser.parse_optional_identifier()
    while name is not None and parser.parse_optional_characters(".") is not None:
        name = f"{name}.{parser.parse_identifier()}"
    if name not in COMMUTATIVE:
        parser.raise_error(
            "expected the inner-op to be a commutative binary-op from the stablehlo dialect, with "
            "zero region, producing single result",
            position,
        )
    return name


def _folding_region(parser: Parser, function: str, op: Operation, position: int) -> Region:
    type = op.operands[0].type
    if not isinstance(type, TensorType):
        parser.raise_error("expected the operands to be tensors", position)
    scalar = TensorType(cast("TensorType[Attribute]", type).element_type, ())
    block = Block(arg_types=[scalar, scalar])
    folded = _CLASSES[function].create(operands=block.args, result_types=[scalar])
    block.add_ops([folded, ReturnOp.create(operands=folded.results)])
    return Region(block)


def _parse_reducer(parser: Parser, count: int) -> Region:
    expect_keyword(parser, "reducer")
    pairs: list[list[Parser.Argument]] = []
    while len(pairs) < count:
        position = parser.pos
        arguments = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: _parse_argument(parser)
        )
        if len(arguments) != 2:
            parser.raise_error("expected two arguments: the result so far, an element", position)
        pairs.append(arguments)
    ordered = [pair[index] for index in range(2) for pair in pairs]
    return parser.parse_region(ordered)


def _parse_argument(parser: Parser) -> Parser.Argument:
    operand = parser.parse_unresolved_operand()
    parser.parse_punctuation(":")
    type = parser.parse_type()
    location = parser.parse_optional_location()
    name: Span = operand.span
    return parser.Argument(name, type, location)


def print_reduce(op: Operation, printer: Printer) -> None:
    """Write what follows the name."""
    count = len(op.operands) // 2
    pairs = list(zip(op.operands[:count], op.operands[count:], strict=True))
    for index, (input, init) in enumerate(pairs):
        printer.print_string(", (" if index else "(")
        printer.print_operand(input)
        printer.print_string(" init: ")
        printer.print_operand(init)
        printer.print_string(")")
    function = _single_function(op)
    if function is not None:
        printer.print_string(f" applies {function}")
    dimensions = dimension_list_text(integers(op, "dimensions"))
    printer.print_string(f" across dimensions = {dimensions}")
    cast("StableHLOOp", op).print_rest(printer)
    if function is None:
        arguments = op.regions[0].block.args
        printer.print_string("\n reducer")
        _print_arguments(cast("MlirPrinter", printer), arguments, count)
        printer.print_string(" ")
        printer.print_region(op.regions[0], print_entry_block_args=False)


def _print_arguments(printer: MlirPrinter, arguments: Sequence[BlockArgument], count: int) -> None:
    for index in range(count):
        printer.print_string("(")
        printer.print_block_argument(arguments[index])
        printer.print_string(", ")
        printer.print_block_argument(arguments[index + count])
        printer.print_string(") ")


def _single_function(op: Operation) -> str | None:
    """The operation that folds, if the short form can say all of it."""
    block = op.regions[0].blocks.first
    if len(op.operands) != 2 or block is None or len(list(block.ops)) != 2:
        return None
    folded, last = block.ops
    is_plain = (
        folded.name in COMMUTATIVE
        and len(block.args) == 2
        and list(folded.operands) == list(block.args)
        and list(last.operands) == list(folded.results)
        and folded.results[0].type == block.args[0].type == block.args[1].type
        and _is_scalar_of(op.operands[0].type, block.args[0].type)
    )
    return folded.name if is_plain else None


def _is_scalar_of(type: Attribute, scalar: Attribute) -> bool:
    element = cast("TensorType[Attribute]", type).element_type
    return scalar == TensorType(element, ())


# --- Reduction ------------------------------------------------------------------------------------

INPUTS = ValueGroup("inputs", ANY, variadic=True)
RESULTS = ValueGroup("results", ANY, variadic=True)


class ReduceOp(StableHLOOp):
    """Folds dimensions with a function, starting from initial values."""

    name = "stablehlo.reduce"
    RULE: ClassVar = staticmethod(reduce)
    SIGNATURE: ClassVar = Signature(
        (INPUTS, ValueGroup("init_values", ANY, variadic=True)),
        (RESULTS,),
        properties(dimensions=DIMENSIONS),
        regions=1,
        same_sizes=True,
    )
    REGIONS: ClassVar[tuple[str, ...]] = ("body",)
    SPELLED: ClassVar[tuple[str, ...]] = ("dimensions",)
    traits = PURE

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the short form, which names the function, or the one with a region."""
        return parse_reduce(cls, parser)

    def print(self, printer: Printer) -> None:
        """Write the short form if the function is one operation."""
        print_reduce(self, printer)


class SortOp(StableHLOOp):
    """The slices along a dimension in the order that a comparison gives."""

    name = "stablehlo.sort"
    RULE: ClassVar = staticmethod(sort)
    SIGNATURE: ClassVar = Signature(
        (INPUTS,),
        (RESULTS,),
        (
            Property("dimension", ods.I64, optional=True),
            Property("is_stable", ods.BOOL, optional=True),
        ),
        regions=1,
    )
    REGIONS: ClassVar[tuple[str, ...]] = ("comparator",)
    traits = PURE


class MapOp(StableHLOOp):
    """A function of each element."""

    name = "stablehlo.map"
    RULE: ClassVar = staticmethod(map)
    SIGNATURE: ClassVar = Signature(
        (INPUTS,), values(result=ANY), properties(dimensions=DIMENSIONS), regions=1
    )
    REGIONS: ClassVar[tuple[str, ...]] = ("computation",)
    traits = PURE


REDUCTION = (MapOp, ReduceOp, SortOp)
"""The operations of this module."""
