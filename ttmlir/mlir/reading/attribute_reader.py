"""Reading attributes, aliases and locations: xDSL's parser with MLIR's rules.

Aliases may be used before their definition. As with types, the text of a dialect attribute is
remembered with its value.
"""

from __future__ import annotations

import math
import re
from collections import deque
from typing import Any, Literal, NoReturn, cast, overload

from xdsl.context import Context
from xdsl.dialects.builtin import (
    AffineMapAttr,
    AffineSetAttr,
    AnyDenseElement,
    AnyFloat,
    BytesAttr,
    CallSiteLoc,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    FloatAttr,
    FusedLoc,
    IndexType,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    NameLoc,
    NoneAttr,
    RankedStructure,
    ShapedType,
    Signedness,
    StringAttr,
    UnitAttr,
    UnknownLoc,
    UnregisteredAttr,
    f64,
    i64,
)
from xdsl.ir import Attribute, Data, ParametrizedAttribute, TypeAttribute
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.lexer import Position
from xdsl.utils.mlir_lexer import MLIRTokenKind as Kind

from ttmlir.layout.affine import AffineMap
from ttmlir.mlir.attributes.affine import affine_map_attr, parse_affine_map
from ttmlir.mlir.attributes.elements import ElementsType, pack_values
from ttmlir.mlir.attributes.floats import UnsupportedFloatError, float_attr, float_attr_of_bits
from ttmlir.mlir.attributes.long_strings import compact
from ttmlir.mlir.attributes.resources import Blob
from ttmlir.mlir.printing.printer import LOCATIONS, show_attribute
from ttmlir.mlir.reading.dense_reader import (
    DenseSyntaxError,
    checked_elements_type,
    dense_elements,
    scan_dense,
)
from ttmlir.mlir.reading.lexer import balanced_end
from ttmlir.mlir.reading.type_reader import TypeReader
from ttmlir.mlir.reporting.diagnostics import Diagnostic, DiagnosticError, note
from ttmlir.mlir.reporting.locations import file_location
from ttmlir.mlir.syntax.core_prefix import TTCORE, key_as_read, note_ttcore, other_spelling

_LOCATION_ALIAS = "#loc"
_ALIAS_DEFINITION = re.compile(r"^[ \t]*([#!][A-Za-z_$][\w$.-]*)\s*=(?!=)", re.MULTILINE | re.ASCII)


class AttributeReader(TypeReader):
    """Reads attributes, types and locations of one text."""

    def __init__(self, context: Context, text: str, file: str, first_line: int = 1):
        """A reader at the start of `text`; its first line has the number `first_line`."""
        text = compact(text)
        self._contents = text.contents
        super().__init__(context, text, file, first_line)
        self._alias_definitions = {
            match[1]: match.end() for match in _ALIAS_DEFINITION.finditer(text)
        }
        self._defined_aliases: set[str] = set()
        self._aliases_being_read: set[str] = set()
        self._unread_locations: deque[tuple[int, str]] | None = None
        self._attributes: dict[str, Attribute] = {}
        self.blobs: dict[str, Blob] = {}
        """What `dense_resource` names."""

    # Aliases and dialect attributes.

    def read_alias_definition(self) -> None:
        """Read `#name = attribute` or `!name = type`, and remember what it stands for."""
        token = self.consume_token()
        name = token.text
        if "." in name:
            kind = "type" if name[0] == "!" else "attribute"
            self.raise_error(
                f"{kind} names with a '.' are reserved for dialect-defined names", token.span
            )
        if name in self._defined_aliases:
            kind = "type" if name[0] == "!" else "attribute"
            self.raise_error(f"redefinition of {kind} alias id '{name[1:]}'", token.span)
        self._defined_aliases.add(name)
        self.parse_punctuation("=", " in alias definition")
        self._aliases_being_read.add(name)
        self.attribute_aliases[name] = self._alias_value(name)
        self._aliases_being_read.discard(name)

    def _alias_value(self, name: str) -> Attribute:
        return self.parse_type() if name[0] == "!" else self.parse_attribute()

    def _find_alias_ahead(self, name: str) -> None:
        """Read the definition of an alias that stands further down."""
        position = self._alias_definitions.get(name)
        if position is None or name in self._aliases_being_read:
            return
        if not self._aliases_being_read and name.startswith(_LOCATION_ALIAS):
            self._read_locations_before(position)
        if name not in self.attribute_aliases:
            self._read_alias_at(name, position)

    def _read_locations_before(self, position: int) -> None:
        """Read the aliases of locations that stand before a place, in their order.

        Locations are long chains of callers, each printed after those that it refers to: read in
        order, none is nested in another.
        """
        if self._unread_locations is None:
            found = [
                (place, name)
                for name, place in self._alias_definitions.items()
                if name.startswith(_LOCATION_ALIAS)
            ]
            self._unread_locations = deque(sorted(found))
        while self._unread_locations and self._unread_locations[0][0] < position:
            place, name = self._unread_locations.popleft()
            if name not in self.attribute_aliases:
                self._read_alias_at(name, place)

    def _read_alias_at(self, name: str, position: int) -> None:
        self._aliases_being_read.add(name)
        back = self.pos
        self.resume_from(position)
        self._enter_nesting()
        self.attribute_aliases[name] = self._alias_value(name)
        self._nesting -= 1
        self.resume_from(back)
        self._aliases_being_read.discard(name)

    @overload
    def read_extended_attribute(
        self, attr_or_dialect_name: str, is_type: Literal[False]
    ) -> Attribute: ...

    @overload
    def read_extended_attribute(
        self, attr_or_dialect_name: str, is_type: Literal[True]
    ) -> TypeAttribute: ...

    def read_extended_attribute(self, attr_or_dialect_name: str, is_type: bool) -> Attribute:
        """Read what follows `#` or `!`: an alias, or the body of a dialect's attribute or type."""
        sigil = "!" if is_type else "#"
        name = attr_or_dialect_name
        token = self.current_token
        if "." not in name and token.text != "<":
            return self._alias(sigil + name)
        end = balanced_end(self._text, self.pos) if token.text == "<" else -1
        key = f"{sigil}{name}{self._text[self.pos : end]}" if end >= 0 else ""
        known = self._attributes.get(key)
        if known is not None:
            self.resume_from(end)
            return known
        attribute = self._parse_dialect_attribute(name, is_type)
        # The text is the attribute's only if the attribute took all of it.
        if end >= 0 and self._is_between_tokens(end):
            self._attributes[key] = attribute
        return attribute

    def _alias(self, name: str) -> Attribute:
        if name not in self.attribute_aliases:
            self._find_alias_ahead(name)
        value = self.attribute_aliases.get(name)
        if value is None:
            self.raise_error(f"undefined symbol alias id '{name[1:]}'")
        return value

    def _parse_dialect_attribute(self, name: str, is_type: bool) -> Attribute:
        sigil = "!" if is_type else "#"
        start = self._text.rfind(sigil + name, 0, self.pos)
        is_opaque = "." not in name
        if is_opaque:
            dialect_name = name
            opaque_start = self.pos
            self.parse_punctuation("<")
            mnemonic = self.current_token
            name = f"{dialect_name}.{mnemonic.text if mnemonic.kind is Kind.BARE_IDENT else ''}"
        else:
            dialect_name, _, _ = name.partition(".")
            opaque_start = None
        if dialect_name == TTCORE:
            note_ttcore()
        definition = self._definition(name, is_type)
        if definition is None:
            self._fail_unknown(dialect_name, name, is_type, start)
        if issubclass(definition, UnregisteredAttr):
            return self._parse_unregistered(definition, name, is_type, opaque_start)
        if is_opaque:
            self.consume_token()
        try:
            attribute = self._parse_registered(definition)
        except VerifyException as error:
            self.raise_error(str(error), start)
        if is_opaque:
            self.parse_punctuation(">")
        return attribute

    def _definition(self, name: str, is_type: bool) -> type[Attribute] | None:
        context = self.ctx
        lookup = context.get_optional_type if is_type else context.get_optional_attr
        found = lookup(name)
        other = other_spelling(name)
        if other is not None and (found is None or issubclass(found, UnregisteredAttr)):
            found = lookup(other) or found
        is_known_dialect = name.partition(".")[0] in context.registered_dialect_names
        if found is not None and is_known_dialect and issubclass(found, UnregisteredAttr):
            return None
        return found

    def _fail_unknown(
        self, dialect_name: str, name: str, is_type: bool, start: Position
    ) -> NoReturn:
        kind = "type" if is_type else "attribute"
        mnemonic = name.partition(".")[2]
        dialect = self.ctx.get_optional_dialect(dialect_name)
        if dialect is None:
            sigil, known = "!" if is_type else "#", sorted(self.ctx.registered_dialect_names)
            self.raise_error(
                f"{sigil}{name.rstrip('.')} is of the unknown dialect '{dialect_name}'; the known "
                f"dialects are {', '.join(known)} (-allow-unregistered-dialect keeps unknown ones "
                "as they are)",
                start,
            )
        attributes = dialect.attributes
        if not any(issubclass(attr, TypeAttribute) == is_type for attr in attributes):
            self.raise_error(f"dialect '{dialect_name}' provides no {kind} parsing hook", start)
        blank = " " if is_type else ""
        if not mnemonic:
            self.raise_error("expected valid keyword")
        position = self._text.index(mnemonic, start + 1 + len(dialect_name))
        self.raise_error(
            f"unknown {blank}{kind} `{mnemonic}` in dialect `{dialect_name}`", position
        )

    def _parse_unregistered(
        self,
        definition: type[UnregisteredAttr],
        name: str,
        is_type: bool,
        opaque_start: Position | None,
    ) -> Attribute:
        if opaque_start is not None:
            body_start = opaque_start + 1
            end = self.scan_balanced(body_start)
            self.resume_from(end + 1)
            mnemonic = name.partition(".")[2]
            body = self._text[body_start:end]
            return definition(name, is_type, True, body[body.find(mnemonic) + len(mnemonic) :])
        body = self.parse_dialect_symbol_body() if self.current_token.text == "<" else ""
        return definition(name, is_type, False, body)

    def _parse_registered(self, definition: type[Attribute]) -> Attribute:
        if issubclass(definition, ParametrizedAttribute):
            return definition.new(definition.parse_parameters(self))
        assert issubclass(definition, Data)
        data = cast(type[Data[Any]], definition)
        return data(data.parse_parameter(self))

    def parse_optional_attribute(self) -> Attribute | None:
        """Read an attribute or a type, if there is one."""
        self._enter_nesting()
        attribute = super().parse_optional_attribute()
        self._nesting -= 1
        return None if attribute is None else self._interner.intern(attribute)

    def parse_attribute(self) -> Attribute:
        """Read an attribute or a type."""
        attribute = self.parse_optional_attribute()
        if attribute is None:
            self.raise_wrong_token("expected attribute value")
        return attribute

    # Builtin attributes.

    def parse_optional_dictionary_attr_dict(self) -> dict[str, Attribute]:
        """Read `{name = value, ...}`, if there."""
        if self.current_token.text != "{":
            return {}
        entries: dict[str, Attribute] = {}

        def entry() -> None:
            position = self.pos
            name = key_as_read(self._parse_dictionary_key())
            if name in entries:
                self.raise_error(f"duplicate key '{name}' in dictionary attribute", position)
            if self.parse_optional_punctuation("=") is None:
                entries[name] = UnitAttr()
            else:
                entries[name] = self.parse_attribute()

        self.parse_comma_separated_list(self.Delimiter.BRACES, entry, " in attribute dictionary")
        return entries

    def _parse_dictionary_key(self) -> str:
        name = self.parse_optional_identifier_or_str_literal()
        if not name:
            self.raise_error("expected attribute name")
        return name

    def parse_optional_builtin_int_or_float_attr(self) -> IntegerAttr | FloatAttr | None:
        """Read a number, if there is one."""
        boolean = self.try_parse_builtin_boolean_attr()
        if boolean is not None:
            return boolean
        start = self.pos
        negative = self.current_token.kind is Kind.MINUS
        if negative:
            self.consume_token()
        token = self.current_token
        if token.kind not in (Kind.INTEGER_LIT, Kind.FLOAT_LIT):
            if negative:
                self.raise_error("expected constant integer or floating point value")
            return None
        self.consume_token()
        type = self.parse_type() if self.parse_optional_punctuation(":") else None
        return self._number(token.text, negative, type, start)

    def _number(
        self, literal: str, negative: bool, type: TypeAttribute | None, start: Position
    ) -> IntegerAttr | FloatAttr:
        is_float = "." in literal
        if type is None:
            type = f64 if is_float else i64
        if isinstance(type, AnyFloat):
            return self._float(literal, negative, type, start)
        if not isinstance(type, IntegerType | IndexType):
            self.raise_error(
                "floating point value not valid for specified type"
                if is_float
                else "integer literal not valid for specified type",
                start,
            )
        if is_float:
            self.raise_error("floating point value not valid for specified type")
        return self._integer(literal, negative, cast(IntegerType | IndexType, type), start)

    def _integer(
        self, literal: str, negative: bool, type: IntegerType | IndexType, start: Position
    ) -> IntegerAttr:
        value = int(literal, 0) if literal.startswith("0x") else int(literal)
        value = -value if negative else value
        if isinstance(type, IndexType):
            low, high = -(1 << 63), 1 << 64
        else:
            if negative and type.signedness.data == Signedness.UNSIGNED:
                self.raise_error(
                    "negative integer literal not valid for unsigned integer type", start + 1
                )
            low, high = type.value_range()
        if not low <= value < high:
            self.raise_error("integer constant out of range for attribute", start)
        return IntegerAttr(value, type)

    def _float(self, literal: str, negative: bool, type: AnyFloat, start: Position) -> FloatAttr:
        try:
            if "." in literal:
                value = float(literal)
                if math.isinf(value):
                    self.raise_error("floating point value too large for attribute", start)
                return float_attr(-value if negative else value, type)
            return self._float_bits(literal, negative, type, start)
        except UnsupportedFloatError as error:
            self.raise_error(str(error), start)

    def _float_bits(
        self, literal: str, negative: bool, type: AnyFloat, start: Position
    ) -> FloatAttr:
        if not literal.startswith("0x"):
            error = Diagnostic(
                "error",
                self.location_at(start),
                "unexpected decimal integer literal for a floating point value",
            )
            hint = "add a trailing dot to make the literal a float"
            raise DiagnosticError(error.with_note(note(error.location, hint, show_source=False)))
        if negative:
            self.raise_error("hexadecimal float literal should not have a leading minus", start + 1)
        bits = int(literal, 16)
        if bits.bit_length() > type.bitwidth:
            self.raise_error("hexadecimal float constant out of range for type", start)
        return float_attr_of_bits(bits, type)

    def read_dense(self) -> DenseIntOrFPElementsAttr:
        """Read what follows `dense`."""
        return self.parse_dense_int_or_fp_elements_attr(None)

    def parse_dense_int_or_fp_elements_attr(
        self, type: RankedStructure[AnyDenseElement] | None
    ) -> DenseIntOrFPElementsAttr:
        """Read `<...> : type` after `dense`, or `<...>` for a type that is known."""
        if self.current_token.text != "<":
            self.raise_wrong_token("expected '<' after 'dense'")
        try:
            literal, end = scan_dense(self._text, self.pos + 1)
            self.resume_from(end + 1)
            shaped: Attribute = type if type is not None else self._parse_elements_type()
            type_text = f"'{show_attribute(shaped)}'"
            return dense_elements(literal, cast(ElementsType, shaped), type_text, self._contents)
        except DenseSyntaxError as error:
            self.raise_error(error.message, error.position)

    def _parse_elements_type(self) -> Attribute:
        self.parse_punctuation(":")
        position = self.pos
        type = self.parse_type()
        try:
            return checked_elements_type(type, f"'{show_attribute(type)}'")
        except ValueError as error:
            self.raise_error(str(error), position)

    def read_dense_array(self) -> DenseArrayBase:
        """Read what follows `array`."""
        self.parse_punctuation("<")
        position = self.pos
        type = self.parse_type()
        if not isinstance(type, IntegerType | AnyFloat):
            self.raise_error(
                f"expected integer or float type, got: '{show_attribute(type)}'", position
            )
        element_type = cast(IntegerType | AnyFloat, type)
        if not _is_array_element(element_type):
            self.raise_error("element type bitwidth must be a multiple of 8", position)
        values: list[int | float] = []
        if self.parse_optional_punctuation(":") is not None:

            def element() -> None:
                values.append(self._parse_array_element(element_type))

            self.parse_comma_separated_list(self.Delimiter.NONE, element)
        self.parse_punctuation(">")
        data = BytesAttr(pack_values(values, element_type))
        return DenseArrayBase[IntegerType | AnyFloat](element_type, data)

    def _parse_array_element(self, type: IntegerType | AnyFloat) -> int | float:
        start = self.pos
        negative = self.current_token.kind is Kind.MINUS
        if negative:
            self.consume_token()
        token = self.current_token
        if isinstance(type, IntegerType) and token.text in ("true", "false") and not negative:
            if type.width.data != 1:
                self.raise_error("expected i1 type for 'true' or 'false' values")
            self.consume_token()
            return int(token.text == "true")
        if token.kind not in (Kind.INTEGER_LIT, Kind.FLOAT_LIT):
            kind = "integer" if isinstance(type, IntegerType) else "floating point"
            self.raise_error(f"expected {kind} literal")
        self.consume_token()
        if isinstance(type, IntegerType):
            if token.kind is Kind.FLOAT_LIT:
                self.raise_error("expected integer literal", start)
            return self._integer(token.text, negative, type, start).value.data
        return self._float(token.text, negative, type, start).value.data

    def read_dense_resource(self) -> DenseResourceAttr:
        """Read what follows `dense_resource`."""
        self.parse_punctuation("<")
        name = self.parse_identifier(" for a resource handle")
        self.parse_punctuation(">")
        self.parse_punctuation(":")
        position = self.pos
        type = self.parse_type()
        if not isinstance(type, ShapedType):
            self.raise_error("`dense_resource` expected a shaped type", position)
        return DenseResourceAttr(StringAttr(name), type)

    def read_affine_map(self) -> AffineMapAttr:
        """Read what follows `affine_map`."""
        self.parse_punctuation("<")
        map = self.parse_layout_map()
        self.parse_punctuation(">")
        return affine_map_attr(map)

    def read_affine_set(self) -> AffineSetAttr:
        """Read what follows `affine_set`."""
        position = self.pos
        try:
            return super().read_affine_set()
        except NotImplementedError:
            self.raise_error(
                "semi-affine expressions are not supported in a set; multiply and divide by "
                "constants only",
                position,
            )

    def parse_layout_map(self) -> AffineMap:
        """Read a bare affine map, simplified."""
        return parse_affine_map(self)

    # Locations.

    def parse_optional_location(self) -> LocationAttr | None:
        """Read `loc(...)`, if there."""
        token = self.current_token
        if token.kind is not Kind.BARE_IDENT or token.text != "loc":
            return None
        self.consume_token()
        self.parse_punctuation("(", " in location")
        location = self.read_location()
        self.parse_punctuation(")", " in location")
        return location

    def read_location(self) -> LocationAttr:
        """Read what stands in the parentheses of `loc(...)`."""
        self._enter_nesting()
        location = self._parse_location_body()
        self._nesting -= 1
        return self._interner.intern(location)

    def _parse_location_body(self) -> LocationAttr:
        token = self.current_token
        if token.kind is Kind.HASH_IDENT:
            attribute = self.parse_attribute()
            if not isinstance(attribute, LOCATIONS):
                self.raise_error("expected location attribute", token.span)
            return attribute
        text = self.parse_optional_str_literal()
        if text is not None:
            return self._parse_named_location(text)
        keyword = self.parse_optional_identifier()
        if keyword == "unknown":
            return UnknownLoc()
        if keyword == "callsite":
            self.parse_punctuation("(", " in callsite location")
            callee = self.read_location()
            self.parse_keyword("at", " in callsite location")
            caller = self.read_location()
            self.parse_punctuation(")", " in callsite location")
            return CallSiteLoc(callee, caller)
        if keyword == "fused":
            return self._parse_fused_location()
        self.raise_error("expected location instance", token.span)

    def _parse_named_location(self, text: str) -> LocationAttr:
        if self.parse_optional_punctuation(":") is not None:
            line = self._parse_location_number("line")
            self.parse_punctuation(":", " in FileLineColLoc")
            column = self._parse_location_number("column")
            self._skip_location_range()
            return file_location(text, line, column)
        child: Attribute = NoneAttr()
        if self.parse_optional_punctuation("(") is not None:
            child = self.read_location()
            self.parse_punctuation(")", " after child location of NameLoc")
        return NameLoc(StringAttr(text), child)

    def _parse_location_number(self, what: str) -> int:
        token = self.current_token
        if token.kind is not Kind.INTEGER_LIT or not token.text.isdigit():
            self.raise_error(f"expected integer {what} number in FileLineColLoc")
        if int(token.text) >= 1 << 32:
            self.raise_error(f"expected integer {what} number in FileLineColLoc below 2^32")
        self.consume_token()
        return int(token.text)

    def _skip_location_range(self) -> None:
        """Newer MLIR says where a range ends (`to :9`, `to 3:4`); the start is kept."""
        if self.parse_optional_keyword("to") is None:
            return
        if self.current_token.kind is Kind.INTEGER_LIT:
            self._parse_location_number("line")
        self.parse_punctuation(":", " in FileLineColRange")
        self._parse_location_number("column")

    def _parse_fused_location(self) -> LocationAttr:
        metadata: Attribute = NoneAttr()
        if self.parse_optional_punctuation("<") is not None:
            metadata = self.parse_attribute()
            self.parse_punctuation(">", " after fused location metadata")
        locations = self.parse_comma_separated_list(
            self.Delimiter.SQUARE, self.read_location, " in fused location"
        )
        if not locations:
            return UnknownLoc()
        if isinstance(metadata, NoneAttr) and len(locations) == 1:
            return locations[0]
        return FusedLoc(tuple(locations), metadata)


def _is_array_element(type: IntegerType | AnyFloat) -> bool:
    return type.bitwidth == 1 or (type.bitwidth > 0 and type.bitwidth % 8 == 0)
