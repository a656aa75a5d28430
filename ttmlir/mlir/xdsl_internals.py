"""The private parts of xDSL that the project needs: nothing else touches them.

xDSL has no public way to change the type of a value in place, to read the operands of an operation
without making a list, or to let a parser differ from its own in single steps. A new version of xDSL
may change these parts, and then this file.
"""

# pyright: reportPrivateUsage=false

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer

if TYPE_CHECKING:
    from xdsl.parser import AttrParser
    from xdsl.utils.lexer import Position
    from xdsl.utils.mlir_lexer import MLIRToken


def retype(value: SSAValue, new_type: Attribute) -> None:
    """Give a value another type, in place.

    Replacing the value instead would rebuild the operand list of every user.
    """
    value._type = new_type


def operands_of(op: Operation) -> tuple[SSAValue, ...]:
    """The operands of an operation as they are stored."""
    return op._operands


def current_token(parser: AttrParser) -> MLIRToken:
    """The token that a parser reads next."""
    return parser._current_token


def resume_from(parser: AttrParser, position: Position) -> None:
    """Let a parser go on at another place of its text."""
    parser._resume_from(position)


_OVERRIDDEN = {
    "read_affine_map": "_parse_builtin_affine_map",
    "read_affine_set": "_parse_builtin_affine_set",
    "read_alias_definition": "_parse_alias_def",
    "read_block": "_parse_block",
    "read_complex_type": "_parse_complex_attrs",
    "read_dense": "_parse_builtin_dense_attr",
    "read_dense_array": "_parse_builtin_densearray_attr",
    "read_dense_resource": "_parse_builtin_dense_resource_attr",
    "read_extended_attribute": "_parse_extended_type_or_attribute",
    "read_file_metadata": "_parse_file_metadata_dictionary",
    "read_generic_operation": "_parse_generic_operation",
    "read_location": "_parse_location",
    "read_memref_type": "_parse_memref_attrs",
    "read_optional_block_arguments": "_parse_optional_block_arg_list",
    "read_optional_number_type": "_parse_optional_integer_or_float_type",
    "read_result_name": "_parse_op_result",
    "read_tensor_type": "_parse_tensor_attrs",
    "read_vector_type": "_parse_vector_attrs",
    "register_results": "_register_ssa_definition",
}
"""Steps of the parser that subclasses may do differently, and what xDSL calls them."""


class OpenParser(Parser):
    """xDSL's parser with its private steps under names that subclasses use and override."""

    current_token = Parser._current_token
    consume_token = Parser._consume_token
    parse_token = Parser._parse_token
    resume_from = Parser._resume_from
    parse_block_body = Parser._parse_block_body
    parse_dialect_symbol_body = Parser._parse_dialect_symbol_body
    parse_op_result_list = Parser._parse_op_result_list
    parse_optional_shape_delimiter = Parser._parse_optional_shape_delimiter
    scan_balanced = Parser._raw_scan_balanced

    read_affine_set = Parser._parse_builtin_affine_set
    read_memref_type = Parser._parse_memref_attrs
    read_optional_number_type = Parser._parse_optional_integer_or_float_type
    read_tensor_type = Parser._parse_tensor_attrs

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Let xDSL take the steps that a subclass defines."""
        super().__init_subclass__(**kwargs)
        for name, private_name in _OVERRIDDEN.items():
            if name in cls.__dict__:
                setattr(cls, private_name, cls.__dict__[name])

    @property
    def dialect_stack(self) -> list[str]:
        """The dialects whose operations' names may be shortened, innermost last."""
        return self._parser_state.dialect_stack


class OpenPrinter(Printer):
    """xDSL's printer with its private steps under names that subclasses use and override."""

    @property
    def indentation(self) -> int:
        """How many levels new lines are indented."""
        return self._indent

    @indentation.setter
    def indentation(self, levels: int) -> None:
        self._indent = levels

    def print_new_line(self, indent: int | None = None) -> None:
        """End a line and indent the next."""
        super()._print_new_line(indent)

    def _print_new_line(self, indent: int | None = None, print_message: bool = True) -> None:
        self.print_new_line(indent)
