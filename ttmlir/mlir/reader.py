"""Reading MLIR text into xDSL's IR, with MLIR's rules for names, properties and locations.

    module = parse_module(text, "model.mlir", context)

Every operation gets the location of its name, every block argument that of its own, unless the text
says another. Bare operations get a module around them. Whatever is wrong with the text raises
`DiagnosticError`; the IR itself is checked by `verifier.verify_module`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NoReturn, TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import UNKNOWN_LOC, DenseArrayBase, ModuleOp, UnregisteredOp, i32
from xdsl.ir import Attribute, AttributeInvT, Block, Operation, OpTrait, Region, SSAValue
from xdsl.irdl import AttrSizedOperandSegments, AttrSizedResultSegments, IRDLOperation
from xdsl.parser import UnresolvedOperand
from xdsl.parser.core import ForwardDeclaredValue
from xdsl.traits import IsolatedFromAbove, IsTerminator
from xdsl.utils.exceptions import ParseError, VerifyException
from xdsl.utils.lexer import Position, Span
from xdsl.utils.mlir_lexer import MLIRTokenKind as Kind

from ttmlir.mlir.attribute_reader import AttributeReader
from ttmlir.mlir.attributes import attach_blobs, blob_of
from ttmlir.mlir.core_prefix import TT, mark_as_read, operation_as_read, use_core_prefix
from ttmlir.mlir.lexer import balanced_end
from ttmlir.mlir.printing import show_attribute
from ttmlir.mlir.reporting import (
    Diagnostic,
    DiagnosticError,
    file_location,
    near_names,
    note,
    refuse_bytes,
)
from ttmlir.mlir.upstream_syntax import CUSTOM_PARSERS
from ttmlir.mlir.xdsl_internals import resume_from
from ttmlir.nesting import MAX_NESTING, deep_recursion

_RESTS_OF_NAMES = {
    "ttkernel.experimental": re.compile(r"::\w+", re.ASCII),
    "ttkernel.reinterpret_cast": re.compile(r"<volatile tt_l1_ptr uint32_t\*>"),
}
"""What else belongs to the name of an operation that is no identifier."""


def parse_module(text: str, filename: str, context: Context, *, first_line: int = 1) -> ModuleOp:
    """The module that a text spells; `first_line` is the number of the text's first line.

    Raises `DiagnosticError` for text that is not a module.
    """
    refuse_bytes(text, filename, first_line)
    reader: ModuleReader | None = None
    with deep_recursion(), use_core_prefix(TT):
        try:
            reader = ModuleReader(context, text, filename, first_line)
            module = reader.read_module()
            mark_as_read(module)
            return module
        except ParseError as error:
            raise DiagnosticError(
                *(
                    Diagnostic(
                        "error",
                        _location_of(part, filename, first_line, reader),
                        _in_mlir_style(part.msg),
                    )
                    for part in _with_causes(error)
                )
            ) from error
        except RecursionError:
            # What xDSL parses on its own, such as affine sets, does not count its nesting.
            location = reader.location_at(reader.pos) if reader is not None else UNKNOWN_LOC
            message = f"nested more than {MAX_NESTING} levels deep"
            raise DiagnosticError(Diagnostic("error", location, message)) from None


def _with_causes(error: ParseError) -> list[ParseError]:
    """The error after those that it was raised from: a parameter's before its attribute's."""
    cause = error.__cause__
    return [*_with_causes(cause), error] if isinstance(cause, ParseError) else [error]


def _location_of(error: ParseError, filename: str, first_line: int, reader: ModuleReader | None):
    if reader is not None:
        return reader.location_at(error.span.start)
    place = error.span.get_location()
    return file_location(filename, place.line + first_line - 1, place.col)


def _in_mlir_style(message: str) -> str:
    """A message of xDSL's with MLIR's habits: no capital, no full stop."""
    if message.startswith(_AS_THEY_ARE):
        return message
    message = _MLIR_WORDS.get(message, message)
    message = message.strip()
    if not message.endswith("..."):
        message = message.removesuffix(".").removesuffix("!")
    if message.endswith(" expected"):
        message = f"expected {message.removesuffix(' expected')}"
    return message[:1].lower() + message[1:] if message[1:2].islower() else message


_MLIR_WORDS = {
    "Expected shape type.": "expected non-function type",
    "operand expected": "expected SSA operand",
    "Expected a MemRef layout attribute": "multiple memory spaces specified in memref type",
}
"""Messages of xDSL's parser that MLIR words in another way."""
_AS_THEY_ARE = ("Start coordinates", "Memory layout", "BlockSharded", "Sharding is")
"""Beginnings of messages of our own that tt-mlir has with a capital."""

_Convert: TypeAlias = Callable[[dict[str, Attribute], dict[str, Attribute]], dict[str, Attribute]]
"""From the properties and the attributes, from which it takes what is inherent, to properties."""


@dataclass(frozen=True)
class _OpFacts:
    """What reading has to know about a class of operations."""

    is_isolated: bool
    properties: frozenset[str] | None
    """Names of the properties; None for an operation without a definition."""
    segments: tuple[tuple[str, str, int], ...]
    """Segment sizes kept as properties: name, other spelling, number of segments."""
    convert: _Convert | None = None
    """The operation's own way to sort its properties, which raises VerifyException."""
    finish: Callable[[Any], None] | None = None
    """What the operation does with itself once it is read."""


@cache
def _facts_of(op_type: type[Operation]) -> _OpFacts:
    is_isolated = op_type.has_trait(IsolatedFromAbove, value_if_unregistered=False)
    if not issubclass(op_type, IRDLOperation):
        # Operations that are not defined in IRDL may bring their own rules for properties.
        own = (getattr(op_type, name, None) for name in ("convert_properties", "finish_reading"))
        return _OpFacts(is_isolated, None, (), *own)
    definition = op_type.get_irdl_definition()
    segments: list[tuple[str, str, int]] = []
    for option in definition.options:
        if isinstance(option, AttrSizedOperandSegments) and option.as_property:
            segments.append(
                (option.attribute_name, "operand_segment_sizes", len(definition.operands))
            )
        elif isinstance(option, AttrSizedResultSegments) and option.as_property:
            segments.append(
                (option.attribute_name, "result_segment_sizes", len(definition.results))
            )
    return _OpFacts(is_isolated, frozenset(definition.properties), tuple(segments))


class _Scope:
    """Names that a region defines, to be forgotten at its end."""

    def __init__(self):
        self.names: list[str] = []


class ModuleReader(AttributeReader):
    """Reads operations, regions and values of one text."""

    def __init__(self, context: Context, text: str, file: str, first_line: int = 1):
        """A reader at the start of `text`."""
        super().__init__(context, text, file, first_line)
        self._scopes = [_Scope()]
        self._definitions: dict[str, Position] = {}
        self._first_uses: dict[SSAValue, Position] = {}
        self._stood_for: dict[SSAValue, SSAValue] = {}
        """The value of each stand-in, which users have until the end."""
        self._undeclared: list[Position] = []
        self._isolated_ops: list[bool] = [True]
        self._properties: dict[str, dict[str, Attribute]] = {}

    # The module.

    def read_module(self) -> ModuleOp:
        """Read the whole text."""
        operations: list[Operation] = []
        while self.current_token.kind is not Kind.EOF:
            match self.current_token.kind:
                case Kind.HASH_IDENT | Kind.EXCLAMATION_IDENT:
                    self.read_alias_definition()
                case Kind.FILE_METADATA_BEGIN:
                    self.read_file_metadata()
                case _:
                    operations.append(self.parse_operation())
        self._fail_on_undeclared(self.forward_ssa_references)
        self._replace_stand_ins()
        if len(operations) == 1 and isinstance(operations[0], ModuleOp):
            module = operations[0]
        else:
            module = ModuleOp(operations)
            module.location = file_location(self._file, 0, 0)
        attach_blobs(module, self.blobs)
        return module

    def _fail_on_undeclared(
        self, references: dict[str, dict[int, ForwardDeclaredValue[Attribute]]]
    ) -> None:
        positions = self._undeclared + self._positions_of(references)
        if positions:
            raise DiagnosticError(
                *(
                    Diagnostic(
                        "error", self.location_at(position), "use of undeclared SSA value name"
                    )
                    for position in sorted(positions)
                )
            )

    def _positions_of(
        self, references: dict[str, dict[int, ForwardDeclaredValue[Attribute]]]
    ) -> list[Position]:
        return [
            self._first_uses[value] for values in references.values() for value in values.values()
        ]

    # Metadata at the end of the file.

    def read_file_metadata(self) -> None:
        """Read the sections of `{-# ... #-}`."""
        self.parse_comma_separated_list(self.Delimiter.METADATA_TOKEN, self._parse_metadata_section)

    def _parse_metadata_section(self) -> None:
        position = self.pos
        name = self.parse_identifier(" for a metadata section")
        self.parse_punctuation(":")
        if name not in ("dialect_resources", "external_resources"):
            self.raise_error(f"unknown key '{name}' in file metadata dictionary", position)
        keep = name == "dialect_resources"
        self.parse_comma_separated_list(
            self.Delimiter.BRACES, lambda: self._parse_resource_group(keep)
        )

    def _parse_resource_group(self, keep: bool) -> None:
        position = self.pos
        group = self.parse_identifier_or_str_literal()
        self.parse_punctuation(":")
        if keep and self.ctx.get_optional_dialect(group) is None:
            self.raise_error(f"dialect '{group}' is unknown", position)
        self.parse_comma_separated_list(
            self.Delimiter.BRACES, lambda: self._parse_blob(keep and group == "builtin")
        )

    def _parse_blob(self, keep: bool) -> None:
        name = self.parse_identifier_or_str_literal()
        self.parse_punctuation(":")
        position = self.pos
        text = self.parse_optional_str_literal()
        if text is None:
            if keep or self.current_token.text not in ("true", "false"):
                self.raise_error("expected hex string blob", position)
            self.consume_token()
            return
        blob = blob_of(text, self._contents)
        if keep and blob is None:
            self.raise_error(f"expected hex string blob for key '{name}'", position)
        if keep and blob is not None:
            self.blobs[name] = blob

    # Operations.

    def parse_operation(self) -> Operation:
        """Read an operation; its location is that of its name, unless what reads it has set it."""
        results = self.parse_op_result_list()
        token = self.current_token
        position = token.span.start
        if token.kind is Kind.BARE_IDENT:
            op = self._parse_custom_operation(token.text, position)
        elif token.kind is Kind.STRING_LIT:
            op = self._parse_generic(position)
        else:
            self.raise_wrong_token("expected operation name in quotes")
        location = self.parse_optional_location()
        if location is not None:
            op.location = location
        elif op.location is UNKNOWN_LOC:
            op.location = self.location_at(position)
        self._locate_implicit_operations(op)
        self._bind_results(op, results)
        return op

    def _locate_implicit_operations(self, op: Operation) -> None:
        """Give terminators and short bodies that the text leaves out the place of their operation.

        They end their block, so all that is written before them has a place already.
        """
        for region in op.regions:
            for block in region.blocks:
                last = block.last_op
                while last is not None and last.location is UNKNOWN_LOC:
                    last.location = op.location
                    last = last.prev_op

    def parse_optional_operation(self) -> Operation | None:
        """Read an operation, if there is one."""
        if self.current_token.kind in (Kind.PERCENT_IDENT, Kind.BARE_IDENT, Kind.STRING_LIT):
            return self.parse_operation()
        return None

    def _parse_custom_operation(self, name: str, position: Position) -> Operation:
        rest = _RESTS_OF_NAMES.get(name)
        found = None if rest is None else rest.match(self._text, position + len(name))
        name += found.group() if found is not None else ""
        op_type = self._custom_op_type(operation_as_read(name), position)
        if found is None:
            self.consume_token()
        else:
            resume_from(self, found.end())
        own = CUSTOM_PARSERS.get(op_type.name)
        dialects = self.dialect_stack
        dialects.append(op_type.dialect_name())
        self._isolated_ops.append(_facts_of(op_type).is_isolated)
        try:
            op = op_type.parse(self) if own is None else own(op_type, self)
        except (ParseError, DiagnosticError):
            raise
        except Exception as error:
            # xDSL's parsers meet some wrong texts with assertions and failing constructors.
            reason = str(error) or type(error).__name__
            self.raise_error(f"'{op_type.name}' cannot be read: {reason}", position)
        dialects.pop()
        self._isolated_ops.pop()
        return op

    def _custom_op_type(self, name: str, position: Position) -> type[Operation]:
        dialects = self.dialect_stack
        op_type = self.ctx.get_optional_op(name, dialect_stack=dialects)
        if op_type is None or issubclass(op_type, UnregisteredOp):
            self._fail_custom_name(name, position)
        has_syntax = op_type.parse.__func__ is not Operation.parse.__func__  # pyright: ignore
        if not has_syntax:
            self.raise_error(
                f"custom op '{op_type.name}' has no custom assembly form; write it in the generic "
                f'form, "{op_type.name}"(...) : (...) -> ...',
                position,
            )
        return op_type

    def _fail_custom_name(self, name: str, position: Position):
        dialect, _, rest = name.partition(".")
        if not rest:
            tried = f"{self.dialect_stack[-1]}.{name}"
            self.raise_error(f"custom op '{name}' is unknown (tried '{tried}' as well)", position)
        known = sorted(self.ctx.registered_dialect_names)
        if dialect in known:
            self._fail_with_near_names(f"custom op '{name}' is unknown", name, position)
        error = Diagnostic(
            "error",
            self.location_at(position),
            f"Dialect `{dialect}' not found for custom op '{name}' ",
        )
        names = ", ".join(known)
        registered = note(error.location, f"Registered dialects: {names}", show_source=False)
        raise DiagnosticError(error.with_note(registered))

    def _fail_with_near_names(self, message: str, name: str, position: Position) -> NoReturn:
        """Raise an error about an operation that its dialect does not have."""
        error = Diagnostic("error", self.location_at(position), message)
        dialect = self.ctx.get_optional_dialect(name.partition(".")[0])
        known = [op.name for op in dialect.operations] if dialect is not None else []
        near = " or ".join(f"'{each}'" for each in near_names(name, known))
        if near:
            question = note(error.location, f"did you mean {near}?", show_source=False)
            error = error.with_note(question)
        raise DiagnosticError(error)

    def _parse_generic(self, position: Position) -> Operation:
        name = operation_as_read(self.parse_str_literal())
        op_type = self._generic_op_type(name, position)
        facts = _facts_of(op_type)
        self.dialect_stack.append(name.partition(".")[0])
        self._isolated_ops.append(facts.is_isolated)
        try:
            op = self.read_generic_operation(op_type)
        except VerifyException as error:
            self.raise_error(str(error), position)
        self._isolated_ops.pop()
        self.dialect_stack.pop()
        return op

    def _generic_op_type(self, name: str, position: Position) -> type[Operation]:
        dialect, _, mnemonic = name.partition(".")
        if not name:
            self.raise_error("empty operation name is invalid", position)
        op_type = self.ctx.get_optional_op(name) if mnemonic else None
        if dialect in self.ctx.registered_dialect_names:
            if op_type is None or issubclass(op_type, UnregisteredOp):
                self._fail_with_near_names(
                    f"unregistered operation '{name}' found in dialect ('{dialect}') that does not "
                    "allow unknown operations",
                    name,
                    position,
                )
            return op_type
        if self.ctx.allow_unregistered:
            return _unregistered(name)
        if op_type is None:
            self.raise_error(
                "operation being parsed with an unregistered dialect. If this is intended, please "
                "use -allow-unregistered-dialect with the MLIR tool used",
                self._end_of_last_token(),
            )
        return op_type

    def read_generic_operation(self, op_type: type[Operation]) -> Operation:
        """Read an operation after its name in quotes."""
        operands = self.parse_op_args_list()
        successors = self.parse_optional_successors() or []
        properties = self.parse_optional_properties_dict()
        regions = self.parse_region_list()
        attributes = self.parse_optional_attr_dict()
        self.parse_punctuation(":", " followed by operation type")
        type_position = self.pos
        type = self.parse_function_type()
        facts = _facts_of(op_type)
        if facts.convert is not None:
            properties = facts.convert(properties, attributes)
        elif facts.properties is not None:
            properties = self._sort_properties(facts, properties, attributes)
        elif properties and not issubclass(op_type, UnregisteredOp):
            self.raise_error("unexpected properties on an operation without any")
        values = self.resolve_operands(operands, type.inputs.data, type_position)
        try:
            op = op_type.create(
                operands=values,
                result_types=type.outputs.data,
                properties=properties,
                attributes=attributes,
                successors=successors,
                regions=regions,
            )
        except VerifyException as error:
            self.raise_error(str(error), type_position)
        if facts.finish is not None:
            facts.finish(op)
        return op

    def _sort_properties(
        self, facts: _OpFacts, properties: dict[str, Attribute], attributes: dict[str, Attribute]
    ) -> dict[str, Attribute]:
        """Properties may stand in `{...}` too; unknown ones in `<{...}>` are dropped."""
        assert facts.properties is not None
        kept = {name: attr for name, attr in properties.items() if name in facts.properties}
        for name in facts.properties & attributes.keys():
            attr = attributes.pop(name)
            kept.setdefault(name, attr)
        for name, other_spelling, count in facts.segments:
            sizes = properties.get(name, properties.get(other_spelling))
            for spelling in (name, other_spelling):
                found = attributes.pop(spelling, None)
                sizes = found if sizes is None else sizes
            kept[name] = DenseArrayBase.from_list(i32, [0] * count) if sizes is None else sizes
        return kept

    def parse_optional_properties_dict(self) -> dict[str, Attribute]:
        """Read `<{name = value, ...}>`; a text that was read before is looked up."""
        if self.current_token.text != "<":
            return {}
        start = self.pos
        end = balanced_end(self._text, start)
        key = self._text[start:end] if end >= 0 else ""
        known = self._properties.get(key)
        if known is not None:
            self.resume_from(end)
            return dict(known)
        self.consume_token()
        if self.current_token.kind is not Kind.L_BRACE:
            self.raise_wrong_token("expected '{' in properties")
        properties = self.parse_optional_dictionary_attr_dict()
        self.parse_punctuation(">", " to close properties")
        if end >= 0 and self._is_between_tokens(end):
            self._properties[key] = properties
        return dict(properties)

    def _bind_results(self, op: Operation, results: list[tuple[Span[str], int]]) -> None:
        if not results:
            return
        position = results[0][0].start
        if not op.results:
            self.raise_error("cannot name an operation with no results", position)
        count = sum(size for _, size in results)
        if count != len(op.results):
            self.raise_error(
                f"operation defines {len(op.results)} results but was provided {count} to bind",
                position,
            )
        index = 0
        for span, size in results:
            self.register_results(span.text[1:], op.results[index : index + size], span)
            index += size

    def read_result_name(self) -> tuple[Span[str], int]:
        """Read `%name` or `%name:count`; the name and the number of results."""
        token = self.parse_token(Kind.PERCENT_IDENT, "expected valid ssa identifier")
        if self.parse_optional_punctuation(":") is None:
            return token.span, 1
        size = self.current_token
        if size.kind is not Kind.INTEGER_LIT or not size.text.isdigit() or int(size.text) < 1:
            self.raise_wrong_token("expected named operation to have at least 1 result")
        self.consume_token()
        return token.span, int(size.text)

    # Values.

    def resolve_operand(
        self, operand: UnresolvedOperand, type: AttributeInvT
    ) -> SSAValue[AttributeInvT]:
        """The value that a name stands for; one that is not defined yet gets a stand-in."""
        name = operand.operand_name
        values = self.ssa_values.get(name)
        if values is None:
            references = self.forward_ssa_references.setdefault(name, {})
            value = references.get(operand.index)
            if value is None:
                value = references[operand.index] = ForwardDeclaredValue(type)
                self._first_uses[value] = operand.span.start
        elif operand.index >= len(values):
            self.raise_error("reference to invalid result number", operand.span)
        else:
            value = values[operand.index]
        if value.type is not type and value.type != type:
            self._fail_on_type(operand, value, type)
        return value  # pyright: ignore[reportReturnType]

    def _fail_on_type(self, operand: UnresolvedOperand, value: SSAValue, type: Attribute):
        error = Diagnostic(
            "error",
            self.location_at(operand.span.start),
            f"use of value '%{operand.operand_name}' expects different type than prior uses: "
            f"'{show_attribute(type)}' vs '{show_attribute(value.type)}'",
        )
        position = self._first_uses.get(value, self._definitions.get(operand.operand_name))
        if position is not None:
            error = error.with_note(note(self.location_at(position), "prior use here"))
        raise DiagnosticError(error)

    def parse_op_args_list(self) -> list[UnresolvedOperand]:
        """Read the operands of an operation in the generic form."""
        if self.parse_optional_punctuation("(") is None:
            self.raise_wrong_token("expected '(' to start operand list")
        operands: list[UnresolvedOperand] = []
        if self.current_token.kind is Kind.PERCENT_IDENT:
            operands = self.parse_comma_separated_list(
                self.Delimiter.NONE, self.parse_unresolved_operand
            )
        self.parse_punctuation(")", " to end operand list")
        return operands

    def resolve_operands(
        self,
        args: Sequence[UnresolvedOperand],
        input_types: Sequence[Attribute],
        error_pos: Position,
    ) -> Sequence[SSAValue]:
        """The values that names stand for, with these types."""
        if len(args) != len(input_types):
            plural = "" if len(args) == 1 else "s"
            self.raise_error(
                f"expected {len(args)} operand type{plural} but had {len(input_types)}", error_pos
            )
        return [
            self.resolve_operand(arg, type) for arg, type in zip(args, input_types, strict=True)
        ]

    def register_results(self, name: str, values: Sequence[SSAValue], span: Span[str]) -> None:
        """Let a name stand for values from here on."""
        if name in self.ssa_values:
            error = Diagnostic(
                "error", self.location_at(span.start), f"redefinition of SSA value '%{name}'"
            )
            before = self.location_at(self._definitions[name])
            raise DiagnosticError(error.with_note(note(before, "previously defined here")))
        self.ssa_values[name] = tuple(values)
        self._definitions[name] = span.start
        self._scopes[-1].names.append(name)
        for index, reference in self.forward_ssa_references.pop(name, {}).items():
            self._resolve_reference(name, index, reference, values, span)
        if SSAValue.is_valid_name(name):
            for value in values:
                value.name_hint = name

    def _resolve_reference(
        self,
        name: str,
        index: int,
        reference: ForwardDeclaredValue[Attribute],
        values: Sequence[SSAValue],
        span: Span[str],
    ) -> None:
        if index >= len(values):
            self.raise_error("reference to invalid result number", self._first_uses[reference])
        if reference.type != values[index].type:
            error = Diagnostic(
                "error",
                self.location_at(span.start),
                f"definition of SSA value '%{name}#{index}' has type "
                f"'{show_attribute(values[index].type)}'",
            )
            before = self.location_at(self._first_uses[reference])
            used = note(
                before, f"previously used here with type '{show_attribute(reference.type)}'"
            )
            raise DiagnosticError(error.with_note(used))
        self._stood_for[reference] = values[index]

    def _replace_stand_ins(self) -> None:
        """Let operations use the values that were defined after them.

        All at once: to change one operand of an operation takes as long as to change all.
        """
        users = {use.operation: None for stand_in in self._stood_for for use in stand_in.uses}
        for user in users:
            user.operands = [self._stood_for.get(value, value) for value in user.operands]

    # Regions and blocks.

    def parse_optional_region(self, arguments: Iterable[Argument] | None = None) -> Region | None:
        """Read `{ blocks }`, if there; named arguments belong to the entry block."""
        if self.parse_optional_punctuation("{") is None:
            return None
        self._enter_nesting()
        isolated = self._isolated_ops[-1]
        outer_values, outer_references = self.ssa_values, self.forward_ssa_references
        outer_definitions = self._definitions
        if isolated:
            self.ssa_values, self.forward_ssa_references, self._definitions = {}, {}, {}
        outer_blocks, outer_block_references = self.blocks, self.forward_block_references
        self.blocks, self.forward_block_references = {}, defaultdict(list)
        self._scopes.append(_Scope())

        region = Region()
        self._parse_blocks(region, arguments)
        self._fail_on_undefined_blocks()

        scope = self._scopes.pop()
        if isolated:
            self._undeclared += self._positions_of(self.forward_ssa_references)
            self.ssa_values, self.forward_ssa_references = outer_values, outer_references
            self._definitions = outer_definitions
        else:
            for name in scope.names:
                del self.ssa_values[name]
                del self._definitions[name]
        self.blocks, self.forward_block_references = outer_blocks, outer_block_references
        self._nesting -= 1
        return region

    def parse_region(self, arguments: Iterable[Argument] | None = None) -> Region:
        """Read `{ blocks }`."""
        region = self.parse_optional_region(arguments)
        if region is None:
            self.raise_wrong_token("expected '{' to begin a region")
        return region

    def _parse_blocks(self, region: Region, arguments: Iterable[Argument] | None) -> None:
        if arguments is not None:
            if self.current_token.kind is Kind.CARET_IDENT:
                self.raise_error("invalid block name in region with named arguments")
            entry = Block()
            for argument in arguments:
                self._add_argument(entry, argument)
            self.parse_block_body(entry)
            region.add_block(entry)
        elif self.current_token.kind not in (Kind.CARET_IDENT, Kind.R_BRACE):
            entry = Block()
            self.parse_block_body(entry)
            region.add_block(entry)
        while self.parse_optional_punctuation("}") is None:
            if self.current_token.kind is not Kind.CARET_IDENT:
                self.raise_wrong_token("expected operation name in quotes")
            region.add_block(self.read_block())

    def _add_argument(self, block: Block, argument: Argument) -> None:
        location = argument.location or self.location_at(argument.name.start)
        value = block.insert_arg(argument.type, len(block.args), location)
        self.register_results(argument.name.text[1:], (value,), argument.name)

    def read_optional_block_arguments(self, block: Block) -> Block | None:
        """Read `(%name: type, ...)`, if it is there, into the arguments of a block."""
        if self.current_token.kind is not Kind.L_PAREN:
            return None

        def argument() -> None:
            token = self.parse_token(Kind.PERCENT_IDENT, "expected valid ssa identifier")
            self.parse_punctuation(":", " and type for SSA operand")
            type = self.parse_type()
            location = self.parse_optional_location()
            self._add_argument(block, self.Argument(token.span, type, location))

        self.parse_comma_separated_list(self.Delimiter.PAREN, argument)
        return block

    def read_block(self) -> Block:
        """Read `^name(%argument: type, ...):` and the operations after it."""
        token = self.parse_token(Kind.CARET_IDENT, "expected block name")
        name = token.text[1:]
        block, definition = self.blocks.get(name, (Block(), None))
        if definition is not None:
            error = Diagnostic(
                "error", self.location_at(token.span.start), f"redefinition of block '^{name}'"
            )
            before = note(self.location_at(definition.start), "previously defined here")
            raise DiagnosticError(error.with_note(before))
        self.forward_block_references.pop(name, None)
        self.blocks[name] = (block, token.span)
        self.read_optional_block_arguments(block)
        self.parse_punctuation(":", " after block name")
        self.parse_block_body(block)
        return block

    def _fail_on_undefined_blocks(self) -> None:
        uses = [span for spans in self.forward_block_references.values() for span in spans]
        if uses:
            raise DiagnosticError(
                *(
                    Diagnostic("error", self.location_at(start), "reference to an undefined block")
                    for start in sorted(span.start for span in uses)
                )
            )


Argument = ModuleReader.Argument


@cache
def _unregistered(name: str) -> type[Operation]:
    """The class of an operation without a definition."""

    class UnknownOp(UnregisteredOp.with_name(name)):
        @classmethod
        def has_trait(
            cls, trait: type[OpTrait] | OpTrait, *, value_if_unregistered: bool = True
        ) -> bool:
            # What is not known to end a block gets the implicit terminator of `scf.if` after it.
            return value_if_unregistered and trait is not IsTerminator

    return UnknownOp
