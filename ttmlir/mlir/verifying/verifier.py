"""Checks a module in MLIR's order and reports what is wrong in MLIR's words.

Each function (each operation that is isolated from above) is checked on its own: a fault in one
does not hide those in the next, and within one the first fault is reported. The order is: the
operation itself, what it contains, symbols, dominance. An operation's own check is its `verify_`,
which raises `VerifyException` with the bare message (the verifier adds `'d.op' op `), or
`DiagnosticError`.

Source of the order: mlir/lib/IR/Verifier.cpp.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import TypeAlias

from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr, UnregisteredOp
from xdsl.ir import Block, Operation
from xdsl.irdl import IRDLOperation
from xdsl.traits import (
    IsolatedFromAbove,
    IsTerminator,
    NoTerminator,
    SymbolTable,
    SymbolUserOpInterface,
)
from xdsl.utils.exceptions import VerifyException

from ttmlir.mlir.reporting.diagnostics import (
    Diagnostic,
    DiagnosticError,
    bare_message,
    note,
    op_diagnostic,
)
from ttmlir.mlir.syntax.core_prefix import core_prefix_of, use_core_prefix
from ttmlir.mlir.verifying.dominance import dominance_faults
from ttmlir.mlir.verifying.structure import structure_fault
from ttmlir.mlir.verifying.upstream_checks import MESSAGES
from ttmlir.nesting import deep_recursion


def verify_module(module: Operation) -> list[Diagnostic]:
    """What is wrong with a module, in order; empty if it is valid."""
    prefix = core_prefix_of(module)
    with deep_recursion(), _cached_symbol_tables(), use_core_prefix(prefix):
        verifier = _Verifier()
        symbol_faults: list[Diagnostic] = []
        verifier.check_isolated(module, symbol_faults)
        return verifier.diagnostics or symbol_faults[:1]


@cache
def _is_isolated(op_type: type[Operation]) -> bool:
    return op_type.has_trait(IsolatedFromAbove, value_if_unregistered=False)


@cache
def _is_symbol_table(op_type: type[Operation]) -> bool:
    return op_type.has_trait(SymbolTable, value_if_unregistered=False)


@cache
def _is_terminator(op_type: type[Operation]) -> bool:
    """True for operations that may end a block; those without a definition may."""
    return issubclass(op_type, UnregisteredOp) or op_type.has_trait(IsTerminator)


@cache
def _needs_no_terminator(op_type: type[Operation]) -> bool:
    return op_type.has_trait(NoTerminator, value_if_unregistered=True)


class _Verifier:
    def __init__(self):
        self.diagnostics: list[Diagnostic] = []

    def check_isolated(self, top: Operation, symbol_faults: list[Diagnostic]) -> bool:
        """Check an isolated operation and all that it contains; true if nothing is wrong.

        Faults of symbols are reported by the operation that holds the symbols, when all else in it
        is right; until then they wait in `symbol_faults`.
        """
        isolated: list[Operation] = []
        waiting = [] if _is_symbol_table(type(top)) else symbol_faults
        if not self._check_tree(top, isolated, waiting):
            return False
        # A list, so that a faulty function does not hide the next.
        if not all([self.check_isolated(op, waiting) for op in isolated]):
            return False
        faults = waiting[:1] if waiting is not symbol_faults else []
        faults = faults or dominance_faults(top)[:1]
        self.diagnostics += faults
        return not faults

    def _check_tree(
        self, op: Operation, isolated: list[Operation], symbol_faults: list[Diagnostic]
    ) -> bool:
        fault = self._fault_of(op, symbol_faults)
        if fault is not None:
            self.diagnostics.append(fault)
            return False
        for region in op.regions:
            for block in region.blocks:
                if not self._check_block(block, op, isolated, symbol_faults):
                    return False
        return True

    def _check_block(
        self,
        block: Block,
        parent: Operation,
        isolated: list[Operation],
        symbol_faults: list[Diagnostic],
    ) -> bool:
        fault = _entry_fault(block, parent)
        if fault is None:
            for op in block.ops:
                if _is_isolated(type(op)):
                    isolated.append(op)
                elif not self._check_tree(op, isolated, symbol_faults):
                    return False
            fault = _end_fault(block, parent)
        if fault is not None:
            self.diagnostics.append(fault)
        return fault is None

    def _fault_of(self, op: Operation, symbol_faults: list[Diagnostic]) -> Diagnostic | None:
        try:
            op.verify_()
            if not isinstance(op, IRDLOperation | UnregisteredOp):
                for trait in op.traits:
                    trait.verify(op)
        except DiagnosticError as error:
            return error.diagnostics[0]
        except VerifyException as error:
            return _describe(op, str(error), symbol_faults)
        if isinstance(op, ModuleOp):
            if any(block.args for block in op.body.blocks):
                return op_diagnostic(op, "region should have no arguments")
            return _module_attribute_fault(op)
        return _public_declaration_fault(op) if op.name == "func.func" else None


def _describe(op: Operation, message: str, symbol_faults: list[Diagnostic]) -> Diagnostic | None:
    """The diagnostic for a failed check; faults of symbols are kept for later."""
    structure = structure_fault(op) if isinstance(op, IRDLOperation) else None
    if structure is not None:
        return op_diagnostic(op, structure)
    own = MESSAGES.get(op.name)
    own_message = own(op) if own is not None else None
    if own_message is not None and own_message.startswith("!"):
        return op_diagnostic(op, own_message[1:], with_name=False)
    diagnostic = op_diagnostic(op, own_message or bare_message(op, message))
    failed = [trait for trait in op.traits if not _holds(trait, op)]
    if any(isinstance(trait, SymbolTable) for trait in failed):
        symbol_faults.append(_redefinition(op) or diagnostic)
        return None
    if failed and all(isinstance(trait, SymbolUserOpInterface) for trait in failed):
        symbol_faults.append(diagnostic)
        return None
    return diagnostic


def _holds(trait: object, op: Operation) -> bool:
    if not isinstance(trait, SymbolTable | SymbolUserOpInterface):
        return True
    try:
        trait.verify(op)
    except VerifyException:
        return False
    return True


def _redefinition(table: Operation) -> Diagnostic | None:
    """The second operation of a name in a symbol table, with a note about the first."""
    known: dict[str, Operation] = {}
    for op in table.regions[0].block.ops:
        name = _symbol_name(op)
        if name is None:
            continue
        first = known.setdefault(name, op)
        if first is not op:
            message = f"redefinition of symbol named '{name}'"
            before = note(first.location, "see existing symbol definition here")
            return op_diagnostic(op, message, (before,), with_name=False)
    return None


def _symbol_name(op: Operation) -> str | None:
    name = op.get_attr_or_prop("sym_name")
    return name.data if isinstance(name, StringAttr) else None


def _module_attribute_fault(module: Operation) -> Diagnostic | None:
    for name in module.attributes:
        if "." not in name and name not in ("sym_name", "sym_visibility"):
            return op_diagnostic(
                module,
                f"can only contain attributes with dialect-prefixed names, found: '{name}'",
            )
    return None


_PUBLIC = StringAttr("public")


def _public_declaration_fault(function: Operation) -> Diagnostic | None:
    visibility = function.properties.get("sym_visibility", _PUBLIC)
    if function.regions[0].blocks or visibility != _PUBLIC:
        return None
    return op_diagnostic(function, "symbol declaration cannot have public visibility")


def _entry_fault(block: Block, parent: Operation) -> Diagnostic | None:
    region = block.parent
    assert region is not None
    if block is region.blocks.first and block.uses:
        return op_diagnostic(
            parent, "entry block of region may not have predecessors", with_name=False
        )
    if not block.is_empty:
        return None
    is_only = block.next_block is None and block is region.blocks.first
    if is_only and _needs_no_terminator(type(parent)):
        return None
    return Diagnostic("error", parent.location, "empty block: expect at least a terminator")


def _end_fault(block: Block, parent: Operation) -> Diagnostic | None:
    last = block.last_op
    for op in _branches(block):
        if op is not last:
            return op_diagnostic(
                op,
                "operation with block successors must terminate its parent block",
                with_name=False,
            )
        for successor in op.successors:
            if successor.parent is not block.parent:
                return op_diagnostic(
                    op, "branching to block of a different region", with_name=False
                )
        if op.name.startswith("cf."):
            from ttmlir.mlir.verifying.branches import branch_fault

            fault = branch_fault(op)
            if fault is not None:
                return op_diagnostic(op, fault, with_name=False)
    region = block.parent
    assert region is not None
    is_only = block.next_block is None and block is region.blocks.first
    if last is None or (is_only and _needs_no_terminator(type(parent))):
        return None
    if _is_terminator(type(last)):
        return None
    from ttmlir.mlir.printing.printer import PrintOptions, show_op

    options = PrintOptions(generic=True, local_scope=True, skip_regions=True)
    text = show_op(last, options)
    return op_diagnostic(last, f"block with no terminator, has {text}", with_name=False)


def _branches(block: Block) -> Iterator[Operation]:
    return (op for op in block.ops if op.successors)


_SymbolTables: TypeAlias = dict[Operation, dict[str, Operation]]
_tables: ContextVar[_SymbolTables | None] = ContextVar("symbol tables", default=None)


@contextmanager
def _cached_symbol_tables() -> Generator[None]:
    """Look symbols up in dictionaries for a while: xDSL's lookup scans the module each time."""
    token = _tables.set({})
    try:
        yield
    finally:
        _tables.reset(token)


_scan_for_symbol = SymbolTable.lookup_symbol


def _lookup_symbol(op: Operation, name: str | StringAttr | SymbolRefAttr) -> Operation | None:
    tables = _tables.get()
    if tables is None:
        return _scan_for_symbol(op, name)
    anchor: Operation | None = op
    while anchor is not None and not anchor.has_trait(SymbolTable, value_if_unregistered=False):
        anchor = anchor.parent_op()
    path = _path(name)
    while anchor is not None and path:
        table = tables.get(anchor)
        if table is None:
            table = tables[anchor] = _table_of(anchor)
        anchor = table.get(path[0])
        path = path[1:]
    return anchor


# Once and for all: several threads may verify at the same time.
SymbolTable.lookup_symbol = staticmethod(_lookup_symbol)


def _path(name: str | StringAttr | SymbolRefAttr) -> Sequence[str]:
    if isinstance(name, SymbolRefAttr):
        nested = [part.data for part in name.nested_references]
        return [name.root_reference.data, *nested]
    return [name if isinstance(name, str) else name.data]


def _table_of(op: Operation) -> dict[str, Operation]:
    table: dict[str, Operation] = {}
    for region in op.regions:
        for block in region.blocks:
            for child in block.ops:
                symbol = _symbol_name(child)
                if symbol is not None:
                    table.setdefault(symbol, child)
    return table
