"""The text of upstream operations where xDSL's differs from MLIR's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ttmlir.mlir.function_syntax import parse_function, print_function

if TYPE_CHECKING:
    from xdsl.parser import Parser

    from ttmlir.mlir.printer import MlirPrinter


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


CUSTOM_PRINTERS: Mapping[str, Callable[[MlirPrinter, Operation], None]] = {
    "builtin.module": _print_module,
    "func.func": print_function,
}
"""Printers of what follows the name, by operation; they replace xDSL's."""

CUSTOM_PARSERS: Mapping[str, Callable[[type[Operation], Parser], Operation]] = {
    "func.func": parse_function,
}
"""Parsers of what follows the name, by operation; they replace xDSL's."""
