"""Checks a module in MLIR's order and reports what is wrong in MLIR's words.

Each function (each operation that is isolated from above) is checked on its own: a fault in one
does not hide those in the next, and within one the first fault is reported. The order is: the
operation itself, what it contains, symbols, dominance. An operation's own check is its `verify_`,
which raises `VerifyException` with the bare message (the verifier adds `'d.op' op `), or
`DiagnosticError`.

Source of the order: mlir/lib/IR/Verifier.cpp.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING, TypeAlias, cast

from xdsl.dialects.builtin import (
    DenseArrayBase,
    FunctionType,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    UnregisteredOp,
    i32,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.irdl import (
    AttrConstraint,
    AttrSizedOperandSegments,
    AttrSizedResultSegments,
    IRDLOperation,
    OpDef,
    OperandDef,
    OptAttributeDef,
    OptionalDef,
    OptPropertyDef,
    ResultDef,
    SingleBlockRegionDef,
    VariadicDef,
    VerificationContext,
)
from xdsl.traits import (
    IsolatedFromAbove,
    IsTerminator,
    NoTerminator,
    SymbolTable,
    SymbolUserOpInterface,
)
from xdsl.utils.exceptions import VerifyException

from ttmlir.mlir.core_prefix import use_core_prefix
from ttmlir.mlir.printing import show_attribute
from ttmlir.mlir.reporting import Diagnostic, DiagnosticError, bare_message, note, op_diagnostic
from ttmlir.mlir.xdsl_internals import operands_of, successors_of
from ttmlir.nesting import deep_recursion

if TYPE_CHECKING:
    from xdsl.dialects import cf

# --- Dominance ------------------------------------------------------------------------------------
# Every value must be defined before it is used, on every way to the use.
#
# Source of the rules and the words: `verifyDominanceOfContainedRegions` in
# mlir/lib/IR/Verifier.cpp. Modules and operations without a definition hold graphs, where order
# says nothing.

_GRAPHS = (ModuleOp, UnregisteredOp)


def dominance_faults(top: Operation) -> list[Diagnostic]:
    """Uses inside `top` that their definitions do not dominate; isolated operations are skipped."""
    checker = _Checker(top)
    for region in top.regions:
        checker.check_region(region)
        if checker.faults:
            break
    return checker.faults


class _Checker:
    def __init__(self, top: Operation):
        self.faults: list[Diagnostic] = []
        self._top = top
        self._visible: set[SSAValue] = set()
        self._dominators: dict[Region, dict[Block, Block | None]] = {}

    def check_region(self, region: Region) -> None:
        """Check the uses in a region, with what is visible around it."""
        if isinstance(region.parent, _GRAPHS):
            defined = [value for block in region.blocks for value in _defined_in(block)]
            self._visible.update(defined)
            for block in region.blocks:
                self._check_block(block)
            self._visible.difference_update(defined)
        elif region.blocks.first is not region.blocks.last:
            self._check_graph_of_blocks(region)
        elif region.blocks.first is not None:
            self._check_block(region.blocks.first)
            self._visible.difference_update(_defined_in(region.blocks.first))

    def _check_graph_of_blocks(self, region: Region) -> None:
        """Walk the tree of dominators: what a block defines is visible in those below it.

        Blocks that cannot be reached are not in the tree: anything goes there, as in MLIR.
        """
        below: dict[Block, list[Block]] = {}
        pending: list[tuple[Block, bool]] = []
        for block, above in immediate_dominators(region).items():
            if above is None:
                pending.append((block, False))
            else:
                below.setdefault(above, []).append(block)
        faults: dict[Block, list[Diagnostic]] = {}
        while pending:
            block, done = pending.pop()
            if done:
                self._visible.difference_update(_defined_in(block))
                continue
            pending.append((block, True))
            pending.extend((each, False) for each in below.get(block, ()))
            self._check_block(block)
            faults[block], self.faults = self.faults, []
        # In the order of the text.
        self.faults = [each for block in region.blocks for each in faults.get(block, ())]

    def _check_block(self, block: Block) -> None:
        visible = self._visible
        visible.update(block.args)
        for op in block.ops:
            for index, operand in enumerate(operands_of(op)):
                if operand not in visible:
                    self.faults.append(self._fault(op, index, operand))
                    return
            if op.regions and not op.has_trait(IsolatedFromAbove, value_if_unregistered=False):
                for region in op.regions:
                    self.check_region(region)
                    if self.faults:
                        return
            visible.update(op.results)

    def _fault(self, op: Operation, index: int, operand: SSAValue) -> Diagnostic:
        if not _is_inside(operand, self._top):
            where = note(self._top.location, "required by region isolation constraints")
            message = "using value defined outside the region"
            return op_diagnostic(op, message, (where,))
        message = f"operand #{index} does not dominate this use"
        return op_diagnostic(op, message, _definition_notes(op, operand), with_name=False)


def _defined_in(block: Block) -> list[SSAValue]:
    return [*block.args, *(result for op in block.ops for result in op.results)]


def _is_inside(value: SSAValue, top: Operation) -> bool:
    op = value.owner.parent_op()
    while op is not None and op is not top:
        op = op.parent_op()
    return op is top


def _definition_notes(use: Operation, value: SSAValue) -> tuple[Diagnostic, ...]:
    if isinstance(value, OpResult):
        definition = value.op
        relation = _relation(use.parent, definition.parent)
        return (note(definition.location, f"operand defined here (op in {relation})"),)
    if isinstance(value, BlockArgument):
        block = value.block
        region = block.parent
        number = list(region.blocks).index(block) if region is not None else 0
        relation = _relation(use.parent, block)
        text = f"operand defined as a block argument (block #{number} in {relation})"
        return (note(value.location, text),)
    return ()


def _relation(use: Block | None, definition: Block | None) -> str:
    assert use is not None
    assert definition is not None
    if use is definition:
        return "the same block"
    region, defining_region = use.parent, definition.parent
    if region is defining_region:
        return "the same region"
    while region is not None:
        region = region.parent_region()
        if region is defining_region:
            return "a parent region"
    return "a child region"


def immediate_dominators(region: Region) -> dict[Block, Block | None]:
    """For each block that can be reached, the closest other block on every way to it.

    K. D. Cooper, T. J. Harvey, K. Kennedy: A Simple, Fast Dominance Algorithm (2001).
    """
    entry = region.blocks.first
    if entry is None:
        return {}
    order = _postorder(entry)
    number = {block: index for index, block in enumerate(order)}
    dominators: dict[Block, Block] = {entry: entry}

    def common(a: Block, b: Block) -> Block:
        while a is not b:
            if number[a] < number[b]:
                a = dominators[a]
            else:
                b = dominators[b]
        return a

    changed = True
    while changed:
        changed = False
        for block in reversed(order[:-1]):
            known = [p for p in block.predecessors() if p in dominators]
            closest = known[0]
            for predecessor in known[1:]:
                closest = common(closest, predecessor)
            if dominators.get(block) is not closest:
                dominators[block] = closest
                changed = True
    return {block: None if block is entry else above for block, above in dominators.items()}


def _postorder(entry: Block) -> list[Block]:
    order: list[Block] = []
    seen = {entry}
    stack = [(entry, iter(_successors(entry)))]
    while stack:
        block, successors = stack[-1]
        for successor in successors:
            if successor not in seen:
                seen.add(successor)
                stack.append((successor, iter(_successors(successor))))
                break
        else:
            order.append(block)
            stack.pop()
    return order


def _successors(block: Block) -> list[Block]:
    last = block.last_op
    return list(last.successors) if last is not None else []


# --- Structure ------------------------------------------------------------------------------------
# MLIR's words for the faults that an operation's IRDL definition finds.
#
# Asked only when a check has failed, so that valid operations cost nothing here.

_NUMERALS = {0: "zero", 1: "one"}


def structure_fault(op: IRDLOperation) -> str | None:
    """What is wrong with counts, attributes and types, in MLIR's words and order; or None."""
    definition = op.get_irdl_definition()
    return (
        _region_count_fault(op, definition)
        or _result_count_fault(op, definition)
        or _operand_count_fault(op, definition)
        or _segments_fault(op, definition)
        or _attribute_fault(op, definition)
        or _type_fault("operand", definition.operands, op.operand_types)
        or _type_fault("result", definition.results, op.result_types)
        or _block_count_fault(op, definition)
    )


def _fixed_and_variadic(definitions: Sequence[tuple[str, object]]) -> tuple[int, bool]:
    """How many single entries there are, and whether any is optional or variadic."""
    fixed = sum(1 for _, entry in definitions if not isinstance(entry, VariadicDef))
    return fixed, fixed != len(definitions)


def _region_count_fault(op: IRDLOperation, definition: OpDef) -> str | None:
    expected, found = len(definition.regions), len(op.regions)
    _, variadic = _fixed_and_variadic(definition.regions)
    if variadic or expected == found:
        return None
    if expected > 1:
        return f"expected {expected} regions"
    return f"requires {_NUMERALS[expected]} region{'' if expected else 's'}"


def _block_count_fault(op: IRDLOperation, definition: OpDef) -> str | None:
    for index, ((name, entry), region) in enumerate(
        zip(definition.regions, op.regions, strict=False)
    ):
        if isinstance(entry, SingleBlockRegionDef) and len(region.blocks) != 1:
            return f"region #{index} ('{name}') failed to verify constraint: region with 1 blocks"
    return None


def _result_count_fault(op: IRDLOperation, definition: OpDef) -> str | None:
    expected, variadic = _fixed_and_variadic(definition.results)
    found = len(op.results)
    if variadic:
        return None if found >= expected else f"expected {expected} or more results"
    if expected == found:
        return None
    if expected > 1:
        return f"expected {expected} results"
    return f"requires {_NUMERALS[expected]} result{'' if expected else 's'}"


def _operand_count_fault(op: IRDLOperation, definition: OpDef) -> str | None:
    expected, variadic = _fixed_and_variadic(definition.operands)
    found = len(op.operands)
    if variadic:
        if found >= expected:
            return None
        return f"expected {expected} or more operands, but found {found}"
    if expected == found:
        return None
    if expected > 1:
        return f"expected {expected} operands, but found {found}"
    return "requires a single operand" if expected else "requires zero operands"


def _segments_fault(op: IRDLOperation, definition: OpDef) -> str | None:
    for option in definition.options:
        if isinstance(option, AttrSizedOperandSegments):
            fault = _sizes_fault(
                option.attribute_name,
                option.container(op),
                "operand",
                definition.operands,
                len(op.operands),
            )
        elif isinstance(option, AttrSizedResultSegments):
            fault = _sizes_fault(
                option.attribute_name,
                option.container(op),
                "result",
                definition.results,
                len(op.results),
            )
        else:
            continue
        if fault is not None:
            return fault
    return None


def _sizes_fault(
    name: str,
    container: dict[str, Attribute],
    what: str,
    definitions: Sequence[tuple[str, object]],
    found: int,
) -> str | None:
    attribute = container.get(name)
    if not isinstance(attribute, DenseArrayBase) or attribute.get_element_type() != i32:
        return f"requires dense i32 array attribute '{name}'"
    sizes = [int(size) for size in attribute.iter_values()]
    if any(size < 0 for size in sizes):
        return f"'{name}' attribute cannot have negative elements"
    if sum(sizes) != found:
        return (
            f"{what} count ({found}) does not match with the total size ({sum(sizes)}) specified "
            f"in attribute '{name}'"
        )
    if len(sizes) != len(definitions):
        return f"'{name}' attribute for specifying {what} segments must have " + (
            f"{len(definitions)} elements, but got {len(sizes)}"
        )
    start = 0
    for size, (_, entry) in zip(sizes, definitions, strict=True):
        if isinstance(entry, OptionalDef) and size > 1:
            return f"{what} group starting at #{start} requires 0 or 1 element, but found {size}"
        if not isinstance(entry, VariadicDef) and size != 1:
            return f"{what} group starting at #{start} requires 1 element, but found {size}"
        start += size
    return None


def _attribute_fault(op: IRDLOperation, definition: OpDef) -> str | None:
    required = [
        *((name, op.properties, entry) for name, entry in definition.properties.items()),
        *((name, op.attributes, entry) for name, entry in definition.attributes.items()),
    ]
    for name, container, entry in required:
        if name not in container and not isinstance(entry, OptPropertyDef | OptAttributeDef):
            return f"requires attribute '{name}'"
    for name, container, entry in required:
        reason = _failure(entry.constr, container[name]) if name in container else None
        if reason is not None:
            return f"attribute '{name}' failed to satisfy constraint: {reason}"
    return None


def _type_fault(
    what: str, definitions: Sequence[tuple[str, OperandDef | ResultDef]], types: Sequence[Attribute]
) -> str | None:
    """The first operand or result of a wrong type, if it is plain which definition it has."""
    if any(isinstance(entry, VariadicDef) for _, entry in definitions):
        if len(definitions) > 1:
            return None
        definitions = [definitions[0]] * len(types)
    for index, (type, (_, entry)) in enumerate(zip(types, definitions, strict=True)):
        try:
            entry.constr.verify((type,), VerificationContext())
        except VerifyException as error:
            return f"{what} #{index} has the wrong type '{show_attribute(type)}': {_line(error)}"
    return None


def _failure(constraint: AttrConstraint, attribute: Attribute) -> str | None:
    try:
        constraint.verify(attribute, VerificationContext())
    except VerifyException as error:
        return _line(error)
    return None


def _line(error: Exception) -> str:
    return " ".join(str(error).split())


# --- Upstream checks ------------------------------------------------------------------------------
# MLIR's words for what is wrong with a function, its return or a call.
#
# xDSL finds these faults but describes them in its own way; the verifier asks here first.


def _quote(type: Attribute) -> str:
    return f"'{show_attribute(type)}'"


def _signature(function: Operation) -> FunctionType | None:
    type = function.properties.get("function_type")
    return type if isinstance(type, FunctionType) else None


def _function(op: Operation) -> str | None:
    type = _signature(op)
    entry = op.regions[0].blocks.first if op.regions else None
    if type is None or entry is None:
        return None
    if len(entry.args) != len(type.inputs):
        return f"entry block must have {len(type.inputs)} arguments to match function signature"
    for index, (argument, expected) in enumerate(zip(entry.args, type.inputs, strict=True)):
        if argument.type != expected:
            return (
                f"type of entry block argument #{index}({_quote(argument.type)}) must match the "
                f"type of the corresponding argument in function signature({_quote(expected)})"
            )
    return None


def _return(op: Operation) -> str | None:
    function = op.parent_op()
    type = _signature(function) if function is not None else None
    if function is None or type is None:
        return None
    name = cast(StringAttr, function.properties["sym_name"]).data
    results = type.outputs.data
    if len(op.operands) != len(results):
        return f"has {len(op.operands)} operands, but enclosing function (@{name}) returns " + str(
            len(results)
        )
    for index, (operand, expected) in enumerate(zip(op.operands, results, strict=True)):
        if operand.type != expected:
            return (
                f"!type of return operand {index} ({_quote(operand.type)}) doesn't match function "
                f"result type ({_quote(expected)}) in function @{name}"
            )
    return None


def _call(op: Operation) -> str | None:
    callee = op.properties.get("callee")
    if not isinstance(callee, SymbolRefAttr):
        return None
    function = SymbolTable.lookup_symbol(op, callee)
    type = _signature(function) if function is not None else None
    if type is None:
        return f"'{callee.root_reference.data}' does not reference a valid function"
    return _mismatch(
        "operand", type.inputs.data, op.operand_types, "operands for callee"
    ) or _mismatch("result", type.outputs.data, op.result_types, "results for callee")


def _mismatch(
    what: str, expected: Sequence[Attribute], given: Sequence[Attribute], all_of_them: str
) -> str | None:
    if len(expected) != len(given):
        return f"incorrect number of {all_of_them}"
    for index, (wanted, got) in enumerate(zip(expected, given, strict=True)):
        if wanted != got:
            return (
                f"{what} type mismatch: expected {what} type {_quote(wanted)}, but provided "
                f"{_quote(got)} for {what} number {index}"
            )
    return None


MESSAGES: Mapping[str, Callable[[Operation], str | None]] = {
    "func.call": _call,
    "func.func": _function,
    "func.return": _return,
}
"""By operation: the message for its own fault, or None. A `!` at its start means that MLIR does not
put the operation's name before it."""


CHECKS_OF_ATTRIBUTES: dict[str, Callable[[Operation], str | None]] = {}
"""What dialects say of operations that have their attributes, and of functions: a message or None.
"""


# --- Verifier -------------------------------------------------------------------------------------
# Checks a module in MLIR's order and reports what is wrong in MLIR's words.
#
# Each function (each operation that is isolated from above) is checked on its own: a fault in one
# does not hide those in the next, and within one the first fault is reported. The order is: the
# operation itself, what it contains, symbols, dominance. An operation's own check is its `verify_`,
# which raises `VerifyException` with the bare message (the verifier adds `'d.op' op `), or
# `DiagnosticError`.
#
# Source of the order: mlir/lib/IR/Verifier.cpp.


def verify_module(module: Operation) -> list[Diagnostic]:
    """What is wrong with a module, in order; empty if it is valid."""
    with deep_recursion(), _cached_symbol_tables(), use_core_prefix(module):
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


@cache
def _verifies_traits(op_type: type[Operation]) -> bool:
    """True for operations whose `verify_` also asks their traits."""
    return issubclass(op_type, IRDLOperation | UnregisteredOp)


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
            if not _verifies_traits(type(op)):
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
        is_function = op.name == "func.func"
        if op.attributes or is_function:
            for name, check in CHECKS_OF_ATTRIBUTES.items():
                if (is_function or name in op.attributes) and (said := check(op)) is not None:
                    return op_diagnostic(op, said)
        return _public_declaration_fault(op) if is_function else None


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
                module, f"can only contain attributes with dialect-prefixed names, found: '{name}'"
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
    from ttmlir.mlir.printing import PrintOptions, show_op

    options = PrintOptions(generic=True, local_scope=True, skip_regions=True)
    text = show_op(last, options)
    return op_diagnostic(last, f"block with no terminator, has {text}", with_name=False)


def _branches(block: Block) -> Iterator[Operation]:
    return (op for op in block.ops if successors_of(op))


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


# --- Branches -------------------------------------------------------------------------------------
# What the branches of the cf dialect hand to the blocks that they go to.


def branch_fault(op: Operation) -> str | None:
    """MLIR's words for operands that are not the arguments of a successor; None if all fit."""
    operands_of = _OPERANDS.get(op.name)
    if operands_of is None:
        return None
    for number, (block, operands) in enumerate(zip(op.successors, operands_of(op), strict=True)):
        if len(operands) != len(block.args):
            return (
                f"branch has {len(operands)} operands for successor #{number}, but target block "
                f"has {len(block.args)}"
            )
        for index, (operand, argument) in enumerate(zip(operands, block.args, strict=True)):
            if operand.type != argument.type:
                return f"type mismatch for bb argument #{index} of successor #{number}"
    return None


def _of_jump(op: Operation) -> Sequence[Sequence[SSAValue]]:
    return (op.operands,)


def _of_condition(op: Operation) -> Sequence[Sequence[SSAValue]]:
    branch = cast("cf.ConditionalBranchOp", op)
    return branch.then_arguments, branch.else_arguments


def _of_switch(op: Operation) -> Sequence[Sequence[SSAValue]]:
    switch = cast("cf.SwitchOp", op)
    return switch.default_operands, *switch.case_operand


_OPERANDS: dict[str, Callable[[Operation], Sequence[Sequence[SSAValue]]]] = {
    "cf.br": _of_jump,
    "cf.cond_br": _of_condition,
    "cf.switch": _of_switch,
}
