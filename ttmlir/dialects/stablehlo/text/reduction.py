"""The two texts of `stablehlo.reduce`.

stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [1] : types
stablehlo.reduce(%0 init: %1), (%2 init: %3) across dimensions = [1] : types
 reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<i32>, %d: tensor<i32>)  { ... }
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar, cast

from xdsl.dialects.builtin import DenseArrayBase, TensorType, i64
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.lexer import Span

from ttmlir.dialects.definition.syntax import expect, expect_keyword
from ttmlir.dialects.stablehlo.attrs import dimension_list_text, parse_dimension_list
from ttmlir.dialects.stablehlo.control import ReturnOp
from ttmlir.dialects.stablehlo.elementwise import ELEMENTWISE
from ttmlir.dialects.stablehlo.operation import StableHLOOp
from ttmlir.dialects.stablehlo.text.form import integers

if TYPE_CHECKING:
    from ttmlir.mlir.printing.printer import MlirPrinter

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
