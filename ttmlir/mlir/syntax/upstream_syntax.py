"""The text of upstream operations where xDSL's differs from MLIR's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import Operation

from ttmlir.mlir.syntax.affine_syntax import AFFINE_PARSERS, AFFINE_PRINTERS
from ttmlir.mlir.syntax.function_syntax import parse_function, print_function

if TYPE_CHECKING:
    from xdsl.parser import Parser

    from ttmlir.mlir.printing.printer import MlirPrinter


def _print_module(printer: MlirPrinter, op: Operation) -> None:
    assert isinstance(op, ModuleOp)
    if op.sym_name is not None:
        printer.print_string(" ")
        printer.print_symbol_name(op.sym_name.data)
    rest = {**op.attributes, **op.properties}
    rest.pop("sym_name", None)
    printer.print_op_attributes(rest, print_keyword=True)
    printer.print_string(" ")
    printer.print_region(op.body, False, False)


def _print_for(printer: MlirPrinter, op: Operation) -> None:
    """Like xDSL, but with the two blanks that MLIR writes before the type of the bounds."""
    lower, upper, step, *starts = op.operands
    body = op.regions[0]
    index, *carried = body.block.args
    printer.print_string(" ")
    for value, follows in ((index, " = "), (lower, " to "), (upper, " step "), (step, "")):
        printer.print_ssa_value(value)
        printer.print_string(follows)
    if carried:
        printer.print_string(" iter_args(")
        for number, (argument, start) in enumerate(zip(carried, starts, strict=True)):
            printer.print_string(", " if number else "")
            printer.print_ssa_value(argument)
            printer.print_string(" = ")
            printer.print_ssa_value(start)
        printer.print_string(") -> (")
        printer.print_list((argument.type for argument in carried), printer.print_attribute)
        printer.print_string(")")
    if not isinstance(index.type, IndexType):
        printer.print_string("  : ")
        printer.print_attribute(index.type)
    printer.print_string(" ")
    printer.print_region(
        body,
        print_entry_block_args=False,
        print_empty_block=False,
        print_block_terminators=bool(carried),
    )
    printer.print_op_attributes(op.attributes)


CUSTOM_PRINTERS: Mapping[str, Callable[[MlirPrinter, Operation], None]] = {
    "builtin.module": _print_module,
    "func.func": print_function,
    "scf.for": _print_for,
    **AFFINE_PRINTERS,
}
"""Printers of what follows the name, by operation; they replace xDSL's."""

CUSTOM_PARSERS: Mapping[str, Callable[[type[Operation], Parser], Operation]] = {
    "func.func": parse_function,
    **AFFINE_PARSERS,
}
"""Parsers of what follows the name, by operation; they replace xDSL's."""
