"""Declarations of the tree from the grammar's nodes: variables, functions, templates, classes."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING

from ttmlir.cpp import tree
from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.cpp.expression_reader import (
    DEFAULT_BRACES,
    ExpressionReader,
    call_of_type,
)
from ttmlir.cpp.preprocess import PreprocessedText
from ttmlir.cpp.tokens import BLANK, SourceText, Token, split_tokens
from ttmlir.cpp.types import is_built_in_type

if TYPE_CHECKING:
    from tree_sitter import Node


# --- Amendments -----------------------------------------------------------------------------------
# What tree-sitter's grammar needs to read some C++ that it does not know.
#
# - `(b = 12, b + 1)` is taken for the beginning of a fold expression: `((b = 12), b + 1)`.
# - `case 1: enum E { A };` is taken for the beginning of a variable: it gets the name of one.
# - `enum : uint8_t { A };` needs a name.
# - `__builtin_bit_cast(T, x)` has a type as an argument: `std::bit_cast<T>(x)`.
# - `case 1 ... 4:` is taken for two cases: `case case_range(1, 4):`.
# - `uint32_t : 4;` in a class needs a name.
# - `decltype(a, b)` needs brackets around its operand.
# - `void f(int) = delete;` is taken for a variable outside of classes: `= delete deleted;`.
# - `Box(int) -> Box<float>;` needs a result in front of it: `auto Box(int) -> Box<float>;`.

_OPENING = ("(", "[", "{")
_CLOSING = (")", "]", "}")


@dataclass
class _Part:
    """What stands between brackets, or between a bracket and a comma."""

    is_group: bool
    """Whether the brackets only group: they hold no arguments, parameters or indices."""
    start: int | None = None
    end: int = 0
    assigns: bool = False

    def insertions(self) -> Iterator[tuple[int, str]]:
        if self.is_group and self.assigns and self.start is not None:
            yield self.start, "("
            yield self.end, ")"


ENUMERATION_VARIABLE = "variable_behind_enumeration"
"""The name of a variable that no text has, declared with an enumeration."""

CASE_RANGE = "case_range"
"""The function that no text has, called with the ends of the values of a case."""

UNNAMED_ENUMERATION = "unnamed_enumeration"
"""The name of an enumeration that has none in the text."""

UNNAMED_BITS = "unnamed_bits"
"""The name of a bit-field that has none in the text."""

DELETED = "deleted"
"""What no text has, deleted by what deletes a function."""

_DOTS = "..."
_CASE_RANGE = re.compile(r"\bcase\b((?:[^:;{}]|::){1,200}?)\.\.\.((?:[^:;{}]|::){1,200}):(?!:)")
"""Values from one to another one; the limits keep the time short that a search takes."""

_DEFAULT_BRACES = re.compile(r"=\s*(\{[^{};()]{0,200}\})(?=\s*[,)])")
"""Braces that a parameter starts as, which the grammar takes for those of an object."""

_BIT_CAST = re.compile(r"__builtin_bit_cast\s*\(([\w:\s*]+),")

_VA_ARG = re.compile(r"\bva_arg\s*\(([\w.\s>*&-]{1,80}),([\w:\s*]{1,80})\)")
"""A call with a type among its arguments."""

_DEFAULT_POINTER = re.compile(
    r"\b(?:typename|class)\s+\w+\s*=\s*((?:const\s+)?[A-Za-z_][\w:]*)\s*(\*)(?=\s*[,>])"
)
"""A type parameter that is a pointer by default."""
_GUIDE = re.compile(r"(?<=[;}>\s])(?<!auto )(\w+)\([^;{}]{0,500}\)\s*->\s*\1\s*<[^;{}]{0,500}>\s*;")
"""A deduction guide."""
_MADE_TYPE = re.compile(r"\btypename\b(?=\s+[\w:]+<[\w:,\s]{0,200}>::\w+\s*\{)")
"""The word before the type of an object in braces, which the grammar does not expect."""


def amend(source: PreprocessedText) -> PreprocessedText:
    """The same text in the words of the grammar."""
    text = _BIT_CAST.sub(_write_bit_cast, source.text)
    text = _VA_ARG.sub(_write_va_arg, text)
    text = _MADE_TYPE.sub(lambda found: " " * len(found[0]), text)
    pointers = list(_DEFAULT_POINTER.finditer(text))
    for each in pointers:
        text = f"{text[: each.start(2)]} {text[each.end(2) :]}"
    ranges = list(find_ranges(text))
    for _, dots, _ in ranges:
        text = f"{text[:dots]} , {text[dots + len(_DOTS) :]}"
    source = replace(source, text=text)
    calls = [(start, f" {CASE_RANGE}(") for start, _, _ in ranges]
    calls += [(each.start(1), DEFAULT_BRACES) for each in _DEFAULT_BRACES.finditer(text)]
    calls += [(each.start(1), "auto ") for each in _GUIDE.finditer(text)]
    calls += [(each.start(1), "std::add_pointer_t<") for each in pointers]
    calls += [(each.start(2), ">") for each in pointers]
    source = insert(source, (*calls, *((end, ")") for _, _, end in ranges)))
    tokens = list(split_tokens(SourceText(source.text, source.source.file)))
    solid = [each for each in tokens if each.kind not in BLANK]
    found = (*_find_insertions(tokens), *_find_enumerations(solid), *_find_unnamed_bits(solid))
    return insert(source, (*found, *_find_decltype_commas(solid), *_find_deleted(solid)))


def insert(source: PreprocessedText, words: Iterable[tuple[int, str]]) -> PreprocessedText:
    """A text with words that its source has not, each in front of an offset."""
    inserted = sorted(words)
    places = [place for place, _ in inserted]
    pieces, end = list[str](), 0
    for place, bracket in inserted:
        pieces += (source.text[end:place], bracket)
        end = place
    lengths = [0, *accumulate(len(word) for _, word in inserted)]
    edges = sorted({*source.offsets, *places})
    return replace(
        source,
        text="".join((*pieces, source.text[end:])),
        offsets=[edge + lengths[bisect_right(places, edge)] for edge in edges],
        origins=[source.origin(edge) for edge in edges],
    )


def _find_insertions(tokens: Iterable[Token]) -> Iterator[tuple[int, str]]:
    """Where brackets are missing."""
    parts = [_Part(is_group=False)]
    before: Token | None = None
    for token in tokens:
        if token.kind in BLANK:
            continue
        part = parts[-1]
        if token.text in _CLOSING and len(parts) > 1:
            parts.pop()
            part = parts[-1]
        elif token.text == ",":
            yield from part.insertions()
            parts[-1] = _Part(part.is_group)
            before = token
            continue
        part.start = token.offset if part.start is None else part.start
        part.end = token.offset + len(token.text)
        part.assigns = part.assigns or token.text in tree.ASSIGNMENT_OPERATORS
        if token.text in _OPENING:
            parts.append(_Part(token.text == "(" and _may_group(before)))
        before = token


def _find_enumerations(tokens: Sequence[Token]) -> Iterator[tuple[int, str]]:
    """Where enumerations among the cases of a switch end, and where one needs a name."""
    has_cases = [False]
    for number, token in enumerate(tokens):
        match token.text:
            case "{":
                has_cases.append(False)
            case "}" if len(has_cases) > 1:
                has_cases.pop()
            case "case" | "default":
                has_cases[-1] = True
            case ":" if number and tokens[number - 1].text == "enum":
                yield token.offset, f" {UNNAMED_ENUMERATION} "
            case "enum" if has_cases[-1] and number and tokens[number - 1].text in (":", ";", "}"):
                end = _find_end(tokens, number)
                if end is not None:
                    yield end, f" {ENUMERATION_VARIABLE}"
            case _:
                pass


def _find_unnamed_bits(tokens: Sequence[Token]) -> Iterator[tuple[int, str]]:
    """Where bit-fields need a name: between a built-in type that begins a member and its `:`."""
    for number, token in enumerate(tokens):
        if token.text != ":":
            continue
        first = number
        while first and is_built_in_type(tokens[first - 1].text):
            first -= 1
        is_first = first and tokens[first - 1].text in ("{", "}", ";", ":", *tree.TYPE_QUALIFIERS)
        if first < number and is_first:
            yield token.offset, f" {UNNAMED_BITS} "


def _find_decltype_commas(tokens: Sequence[Token]) -> Iterator[tuple[int, str]]:
    """Where brackets go around the operand of a `decltype` that is a comma operator."""
    for number, token in enumerate(tokens[:-1]):
        if token.text != "decltype" or tokens[number + 1].text != "(":
            continue
        depth, has_comma = 0, False
        for each in tokens[number + 1 :]:
            depth += (each.text in _OPENING) - (each.text in _CLOSING)
            has_comma = has_comma or (each.text == "," and depth == 1)
            if each.text == "<" or (depth == 0 and not has_comma):
                break
            if depth == 0:
                yield tokens[number + 2].offset, "("
                yield each.offset, ")"
                break


def _find_deleted(tokens: Sequence[Token]) -> Iterator[tuple[int, str]]:
    """Where functions are deleted outside of classes, and conversions and templates anywhere."""
    in_class, is_class, is_conversion, is_template = [False], False, False, False
    for number, token in enumerate(tokens):
        is_template = token.text == "template" or (is_template and token.text not in ("{", "}"))
        match token.text:
            case "class" | "struct" | "union":
                is_class = not number or tokens[number - 1].text not in ("<", ",")
            case "{":
                in_class.append(is_class)
                is_class = is_conversion = False
            case "}" if len(in_class) > 1:
                in_class.pop()
                is_conversion = False
            case "operator" if number + 1 < len(tokens):
                following = tokens[number + 1].text
                is_conversion = following.isidentifier() and following not in ("new", "delete")
            case ";" | "(":
                before = [each.text for each in tokens[max(number - 2, 0) : number]]
                is_special = is_conversion or is_template
                if before == ["=", "delete"] and (is_special or not in_class[-1]):
                    yield token.offset, f" {DELETED}"
                is_class = False
                is_conversion = is_conversion and token.text == "("
                is_template = is_template and token.text != ";"
            case _:
                pass


def _find_end(tokens: Sequence[Token], start: int) -> int | None:
    """The end of an enumeration that declares no variable."""
    depth = 0
    for number in range(start, len(tokens) - 1):
        text = tokens[number].text
        depth += (text == "{") - (text == "}")
        if depth == 0 and text == ";":
            return None
        if depth == 0 and text == "}":
            ends = tokens[number + 1].text == ";"
            return tokens[number].offset + 1 if ends else None
    return None


def find_ranges(text: str) -> Iterator[tuple[int, int, int]]:
    """Where the values of cases begin, where the dots between them are, and where they end."""
    if _DOTS in text:
        for found in _CASE_RANGE.finditer(text):
            yield found.start(1), found.end(1), found.end(2)


def _write_bit_cast(found: re.Match[str]) -> str:
    """The same cast in as many characters."""
    return f"std::bit_cast<{found[1]}>(".rjust(len(found[0]))


def _write_va_arg(found: re.Match[str]) -> str:
    """The same call with the type as a template argument."""
    return f"va_arg<{found[2].strip()}>({found[1].strip()})".rjust(len(found[0]))


def _gives_pointer(declarator: Node) -> bool:
    """Whether a function is declared that gives a pointer to a function."""
    name = declarator.child_by_field_name("declarator")
    return name is not None and name.type == "parenthesized_declarator"


def _may_group(before: Token | None) -> bool:
    """Whether a bracket after a token only groups."""
    if before is None or before.text in _CLOSING:
        return False
    return before.kind != "name" or before.text == "return"


# --- Declaration reader ---------------------------------------------------------------------------

_NO_PARAMETERS: tuple[tree.Parameter, ...] = (tree.Parameter(tree.NamedType("void")),)
_KINDS: dict[str, tree.StructKind] = {
    "struct_specifier": "struct",
    "class_specifier": "class",
    "union_specifier": "union",
}
_FUNCTION_WORDS = ("type_qualifier", "noexcept", "trailing_return_type", "ref_qualifier")
_UNNAMED = re.compile(r"\(\w+ \d+\)")

Read = tree.Declaration | tree.Binding | tree.Function


class _Access:
    """Who may use the members of a class on its way."""

    def __init__(self, current: str) -> None:
        self.current = current
        self.has_friends = False
        self.hidden = dict[str, str]()
        self.shown = set[str]()

    def read(self, node: Node, text: str) -> None:
        """Take notice of `public:`."""
        if node.type == "access_specifier":
            self.current = text.removesuffix(":").strip()

    def read_friends(self, node: Node) -> None:
        """Take notice of friends whose text is elsewhere."""
        if node.type == "template_declaration":
            for each in node.named_children:
                self.read_friends(each)
        if node.type == "friend_declaration":
            is_here = node.named_children[0].type == "function_definition"
            self.has_friends = self.has_friends or not is_here

    def note(self, member: tree.ClassMember) -> None:
        """Note what a member is called."""
        match member:
            case tree.Declaration(declarators=declarators):
                names = [each.name for each in declarators]
            case tree.Enumeration(name=name, enumerators=enumerators, is_scoped=is_scoped):
                names = [name, *(() if is_scoped else (each.name for each in enumerators))]
            case tree.Function(name=name) | tree.Struct(name=name) | tree.Alias(name=name):
                names = [name]
            case _:
                names = []
        if self.current == "public":
            self.shown.update(names)
        else:
            self.hidden |= dict.fromkeys(names, self.current)

    def protect(self, member: tree.ClassMember) -> tree.ClassMember:
        """A function with what `private:` and `protected:` make of it."""
        is_open = self.has_friends or self.current == "public"
        if is_open or not isinstance(member, tree.Function) or "friend" in member.specifiers:
            return member
        return replace(member, access=self.current)

    def list_hidden(self) -> tuple[tuple[str, str], ...]:
        """The names that not everybody may use; a name with one public function is public."""
        if self.has_friends:
            return ()
        return tuple(each for each in self.hidden.items() if each[0] not in self.shown)


class DeclarationReader(ExpressionReader):
    """Turns the nodes of declarations into nodes of the tree."""

    def optional(self, node: Node | None) -> tree.Expression | None:
        """The expression in a field that may be absent."""
        return None if node is None else self.expression(node)

    # Types that are defined.

    def defined_type(self, node: Node) -> str:
        """The name of a struct or enumeration that a type names or defines."""
        name = node.child_by_field_name("name")
        if node.child_by_field_name("body") is None:
            if name is None:
                raise self.error(node, "a type without name needs a body")
            return self.name_text(name)
        outer, self.pending = self.pending, []
        made = self.enumeration(node) if node.type == "enum_specifier" else self.struct(node)
        self.pending = [*outer, *self.pending, made]
        return made.name

    def unnamed(self, node: Node) -> str:
        """What stands for the name of a type that has none."""
        self.unnamed_count += 1
        return f"({node.type.partition('_')[0]} {self.unnamed_count})"

    def struct(self, node: Node) -> tree.Struct:
        """A class, struct or union with its members."""
        kind, position = _KINDS[node.type], self.at(node)
        name, specialized = self._struct_name(node)
        bases = tuple(each for child in node.named_children for each in self._bases(child))
        body = node.child_by_field_name("body")
        if body is None:
            return tree.Struct(
                name, (), (), (), kind, (), specialized, is_defined=False, position=position
            )
        self.deeper(node)
        outer, self.pending = self.pending, []
        fields, members = list[tree.Declaration](), list[tree.ClassMember]()
        usual = "private" if kind == "class" else "public"
        access = _Access(usual)
        for child in body.named_children:
            access.read_friends(child)
        for child in body.named_children:
            access.read(child, self.text(child))
            for each in self._class_member(child, name.rpartition("::")[2]):
                access.note(each)
                if isinstance(each, tree.Declaration) and "static" not in each.specifiers:
                    fields.append(each)
                else:
                    members.append(access.protect(each))
        self.pending = outer
        self.depth -= 1
        # Unnamed structs and unions stand with the fields, behind all other members.
        members.sort(key=lambda each: isinstance(each, tree.Struct) and each.name.startswith("("))
        return tree.Struct(
            name,
            tuple(fields),
            tuple(members),
            bases,
            kind,
            (),
            specialized,
            hidden=access.list_hidden(),
            hidden_bases=() if access.has_friends else tuple(self._hidden_bases(node, usual)),
            is_packed=self._find_packed(node) is not None,
            alignments=self.alignments(node),
            position=position,
        )

    def _find_packed(self, node: Node) -> Node | None:
        """The attribute that puts members next to each other."""
        attributes = (each for each in node.named_children if each.type.startswith("attribute"))
        return next((each for each in attributes if "packed" in self.text(each)), None)

    def _struct_name(self, node: Node) -> tuple[str, tuple[tree.TemplateArgument, ...] | None]:
        """The name of a struct, and what a specialisation is for."""
        name = node.child_by_field_name("name")
        if name is None:
            return self.unnamed(node), None
        if name.type == "template_type":
            found = self.qualified_name(name)
            return found.text, found.arguments
        self.declare_type(self.name_text(name))
        return self.name_text(name), None

    def _bases(self, node: Node) -> Iterator[tree.NamedType | tree.Expansion]:
        if node.type == "virtual_specifier":
            return
        if node.type != "base_class_clause":
            return
        for child in node.children:
            if child.type == "virtual":
                raise self.unsupported(child, "plain bases")
            if child.is_named and child.type != "access_specifier":
                base = self.named_type(child)
                is_pack = child.next_sibling is not None and child.next_sibling.type == "..."
                yield tree.Expansion(base, position=base.position) if is_pack else base

    def _hidden_bases(self, node: Node, usual: str) -> Iterator[int]:
        """The places of bases that are not public; without a word they are as members."""
        for clause in node.named_children:
            if clause.type != "base_class_clause":
                continue
            written, number = usual, 0
            for child in clause.named_children:
                if child.type == "access_specifier":
                    written = self.text(child)
                    continue
                if written != "public":
                    yield number
                written, number = usual, number + 1

    def _class_member(self, node: Node, name: str) -> Iterator[tree.ClassMember]:
        match node.type:
            case "access_specifier" | "preproc_call":
                return
            case "field_declaration" | "declaration":
                yield from self._read_member(self._member_declaration(node, name))
            case "function_definition":
                yield self.function(node, name)
            case "friend_declaration":
                inner = node.named_children[0]
                if inner.type == "function_definition":
                    function = self.function(inner)
                    words = (*function.specifiers, "friend")
                    yield replace(function, specifiers=words)
            case "template_declaration":
                made = self.template(node, name)
                if made is not None:
                    yield made
            case _:
                yield self._nested_declaration(node)

    def _nested_declaration(self, node: Node) -> tree.ClassMember:
        match node.type:
            case "alias_declaration":
                return self.alias(node)
            case "type_definition":
                return self.typedef(node)
            case "using_declaration":
                return self.using_name(node)
            case "static_assert_declaration":
                return self.static_assertion(node)
            case "enum_specifier":
                return self.enumeration(node)
            case "struct_specifier" | "class_specifier" | "union_specifier":
                return self.struct(node)
            case _:
                raise self.unsupported(node, "fields, functions, types and constants")

    def _read_member(
        self, made: tree.Declaration | tree.Function | None
    ) -> Iterator[tree.ClassMember]:
        yield from self.pending
        self.pending.clear()
        match made:
            case None:
                pass
            case tree.Declaration(declarators=declarators) if any(
                each.type for each in declarators
            ):
                # Pointers and references beside other names: each is a member of its own.
                yield from map(made.alone, declarators)
            case _:
                yield made

    def _member_declaration(self, node: Node, name: str) -> tree.Declaration | tree.Function | None:
        """A field, a static member, or the declaration of a member function."""
        declarator = self.function_declarator_of(node)
        widths = [each for each in node.named_children if each.type == "bitfield_clause"]
        if widths and (declarator is not None or "static" in self.words(node).specifiers):
            raise self.error(widths[0], "a number of bits goes with members that objects have")
        if declarator is not None:
            return self.prototype(node, declarator, name)
        if node.child_by_field_name("declarator") is None:
            return self._unnamed_field(node)
        declaration = self.declaration(node)
        if isinstance(declaration, tree.Binding):
            raise self.error(node, "a member of a class has one name")
        self.variables.update(each.name for each in declaration.declarators)
        return replace(declaration, declarators=tuple(self._complete_members(node, declaration)))

    def _complete_members(
        self, node: Node, declaration: tree.Declaration
    ) -> Iterator[tree.Declarator]:
        """The declarators of members with what stands after them in the grammar: values, widths."""
        rest = iter(declaration.declarators)
        each: tree.Declarator | None = None
        for index, child in enumerate(node.children):
            if child.type == "bitfield_clause" and each is not None:
                name = "" if each.name == UNNAMED_BITS else each.name
                each = replace(each, name=name, bits=self.expression(child.named_children[0]))
            match node.field_name_for_child(index):
                case "declarator":
                    if each is not None:
                        yield each
                    each = next(rest)
                case "default_value" if each is not None:
                    each = replace(each, value=self.initial_value(child))
                case _:
                    pass
        if each is not None:
            yield each

    def _unnamed_field(self, node: Node) -> tree.Declaration | None:
        """An unnamed struct or union within another one; None for a type that is only defined."""
        words = self.words(node)
        named = words.type
        if isinstance(named, tree.NamedType) and _UNNAMED.fullmatch(named.name):
            if not named.name.startswith("(enum"):
                return tree.Declaration(named, (), words.specifiers, position=self.at(node))
        return None

    # Meanings of names.

    def alias(self, node: Node) -> tree.Alias:
        """`using name = type;`."""
        name = self.text(self.field(node, "name"))
        type_ = self.type_descriptor(self.field(node, "type"))
        self.declare_type(name)
        return tree.Alias(name, type_, position=self.at(node))

    def typedef(self, node: Node) -> tree.Alias:
        """`typedef type name;`."""
        declarators = node.children_by_field_name("declarator")
        if len(declarators) != 1:
            raise self.error(node, "declare one name with each typedef")
        name, type_, sizes, _ = self.declared(declarators[0], self.words(node).type)
        if name is None or sizes:
            raise self.error(node, "a typedef of an array is not supported")
        self.declare_type(name)
        return tree.Alias(name, type_, position=self.at(node))

    def using_name(self, node: Node) -> tree.UsingName:
        """`using name;`, `using enum name;` or `using Bases::name...;`."""
        found = self.qualified_name(node.named_children[0])
        is_enumeration = any(each.type == "enum" for each in node.children)
        is_pack = self.text(node).rstrip("; \n\t").endswith("...")
        return tree.UsingName(found.text, is_enumeration, is_pack, position=self.at(node))

    def enumeration(self, node: Node) -> tree.Enumeration:
        """An enumeration, with or without name."""
        self.only(node)
        packed = self._find_packed(node)
        if packed is not None:
            message = "a packed enumeration is not supported here; supported are written base types"
            raise self.error(packed, message)
        body = node.child_by_field_name("body")
        if body is None:
            raise self.error(node, "an enumeration needs its enumerators here")
        base = node.child_by_field_name("base")
        return tree.Enumeration(
            self._name_enumeration(node),
            tuple(map(self._enumerator, body.named_children)),
            None if base is None else self.named_type(base),
            any(each.type in ("class", "struct") for each in node.children),
            position=self.at(node),
        )

    def _name_enumeration(self, node: Node) -> str:
        name = node.child_by_field_name("name")
        written = "" if name is None else self.text(name)
        if written in ("", UNNAMED_ENUMERATION):
            return self.unnamed(node)
        self.declare_type(written)
        return written

    def _enumerator(self, node: Node) -> tree.Enumerator:
        if node.type != "enumerator":
            raise self.unsupported(node, "enumerators")
        value = self.optional(node.child_by_field_name("value"))
        name = self.text(self.field(node, "name"))
        self.declare(name)
        return tree.Enumerator(name, value, position=self.at(node))

    def static_assertion(self, node: Node) -> tree.StaticAssert:
        """`static_assert(condition, message);`."""
        condition = self.expression(self.field(node, "condition"))
        message = node.child_by_field_name("message")
        text = None if message is None else self.text(message)[1:-1]
        return tree.StaticAssert(condition, text, position=self.at(node))

    # Templates.

    def template(self, node: Node, name: str = "") -> tree.ClassMember | None:
        """A function, class, alias or variable with template parameters; None for a concept.

        `name` is that of the class around it.
        """
        with self.scope():
            return self._template(node, name)

    def _template(self, node: Node, name: str) -> tree.ClassMember | None:
        listed = tuple(map(self.template_parameter, self.field(node, "parameters").named_children))
        inner = node.named_children[-1]
        position = self.at(node)
        made: tree.ClassMember | tree.Binding | None
        match inner.type:
            case "function_definition":
                made = self.function(inner, name)
            case "declaration" | "field_declaration":
                made = self._templated_declaration(inner, name)
            case "struct_specifier" | "class_specifier" | "union_specifier":
                made = self.struct(inner)
            case "alias_declaration":
                made = self.alias(inner)
            case "template_declaration":
                # The members of a class template that are templates themselves.
                made = self.template(inner, name)
                if isinstance(made, tree.Function):
                    return replace(made, position=position)
            case "friend_declaration":
                return None
            case _:
                raise self.unsupported(inner, "templates of functions, classes and variables")
        if isinstance(made, (tree.Function, tree.Struct, tree.Alias, tree.Declaration)):
            return self._with_parameters(made, listed, node)
        raise self.error(node, "only functions, classes, aliases and variables can be templates")

    def _with_parameters(
        self,
        made: tree.Function | tree.Struct | tree.Alias | tree.Declaration,
        listed: tuple[tree.TemplateParameter, ...],
        node: Node,
    ) -> tree.ClassMember:
        """What a template declares, with its parameters."""
        position = self.at(node)
        if isinstance(made, tree.Function) and made.scope is not None:
            return replace(made, position=position)
        if listed and not isinstance(made, tree.Declaration):
            self.templates.add(made.name)
            if not isinstance(made, tree.Function):
                self.types.add(made.name)
        return replace(made, template_parameters=listed, position=position)

    def _templated_declaration(self, node: Node, name: str) -> tree.ClassMember | None:
        """What a template declares: a function, a class without body, or a variable."""
        declarator = self.function_declarator_of(node)
        if declarator is not None:
            return self.prototype(node, declarator, name)
        if node.child_by_field_name("declarator") is None:
            written = self.field(node, "type")
            if written.type in _KINDS:
                return self.struct(written)
            raise self.unsupported(written, "templates of functions, classes and variables")
        made = self._member_declaration(node, name)
        if isinstance(made, tree.Declaration):
            self.templates.update(each.name for each in made.declarators)
        return made

    def template_parameter(self, node: Node) -> tree.TemplateParameter:
        """A parameter between the angle brackets after `template`."""
        position = self.at(node)
        match node.type:
            case "type_parameter_declaration" | "variadic_type_parameter_declaration":
                name = self.text(node.named_children[0]) if node.named_children else ""
                self.declare_type(name)
                is_pack = node.type.startswith("variadic")
                return tree.TemplateParameter(name, None, None, is_pack, position=position)
            case "optional_type_parameter_declaration":
                written = node.child_by_field_name("name")
                name = "" if written is None else self.text(written)
                self.declare_type(name)
                value = self.field(node, "default_type")
                default = self.type_or_name(self.written_type(value))
                return tree.TemplateParameter(name, None, default, position=position)
            case "template_template_parameter_declaration":
                inner = self.template_parameter(node.named_children[-1])
                return replace(inner, is_template=True, position=position)
            case (
                "parameter_declaration"
                | "optional_parameter_declaration"
                | "variadic_parameter_declaration"
            ):
                parameter = self.parameter(node)
                default = parameter.default
                if isinstance(default, tree.Braces):
                    raise self.error(node, "the default of a template parameter is an expression")
                return tree.TemplateParameter(
                    parameter.name or "",
                    parameter.type,
                    default,
                    parameter.is_pack,
                    position=position,
                )
            case _:
                raise self.unsupported(node, "'typename T' and 'uint32_t N'")

    # Functions.

    def function(self, node: Node, name: str = "") -> tree.Function:
        """A function with its body; `name` is that of the class around it."""
        with self.scope():
            return self._function(node, name)

    def _function(self, node: Node, name: str) -> tree.Function:
        declarator = self.function_declarator_of(node)
        if declarator is None:
            raise self.unsupported(self.field(node, "declarator"), "functions with parameters")
        kinds = [each.type for each in node.named_children]
        for child in node.named_children:
            if child.type in ("try_statement", "pure_virtual_clause"):
                raise self.unsupported(child, "a body in braces")
        function = self._prototype(node, declarator, name)
        if "default_method_clause" in kinds:
            return replace(function, is_defaulted=True)
        if "delete_method_clause" in kinds:
            return replace(function, is_deleted=True)
        body = self.field(node, "body")
        if body.type != "compound_statement":
            raise self.unsupported(body, "a body in braces")
        initializers = tuple(
            self._member_initializer(each)
            for child in node.named_children
            if child.type == "field_initializer_list"
            for each in child.named_children
        )
        return replace(function, definition=self.deferred(body), initializers=initializers)

    def _member_initializer(self, node: Node) -> tree.MemberInitializer:
        target, *rest = node.named_children
        if not rest or any(each.type == "..." for each in node.children):
            raise self.unsupported(node, "initial values of members and bases")
        type_ = self.named_type(target)
        braced = rest[-1].type == "initializer_list"
        return tree.MemberInitializer(
            type_, self.arguments(rest[-1]), braced, position=self.at(node)
        )

    def function_declarator_of(self, node: Node) -> Node | None:
        """The declarator of a declaration, if it declares a function."""
        declarator = node.child_by_field_name("declarator")
        if declarator is not None and self._is_deleted(declarator):
            declarator = declarator.child_by_field_name("declarator")
        inner = declarator
        while inner is not None and inner.type in ("pointer_declarator", "reference_declarator"):
            inner = inner.named_children[-1]
        if inner is None or declarator is None:
            return None
        if inner.type == "operator_cast":
            return declarator
        while inner.type == "function_declarator":
            name = self.field(inner, "declarator")
            if name.type != "parenthesized_declarator":
                return declarator
            # `R (*f(A))(B)`: a function that gives a pointer to another one.
            inner = name.named_children[0]
            while inner.type in ("pointer_declarator", "reference_declarator"):
                inner = inner.named_children[-1]
        return None

    def prototype(self, node: Node, declarator: Node, class_name: str = "") -> tree.Function:
        """A function without its body."""
        whole = self.field(node, "declarator")
        is_deleted = self._is_deleted(whole)
        with self.scope():
            named = self.field(whole, "declarator") if is_deleted else declarator
            made = self._prototype(node, named, class_name)
        return replace(made, is_deleted=is_deleted or self._is_deleted(node, "default_value"))

    def _is_deleted(self, node: Node, field: str = "value") -> bool:
        """Whether what the grammar took for the value of a variable deletes a function."""
        value = node.child_by_field_name(field)
        if value is None or value.type != "delete_expression":
            return False
        return self.text(value).endswith(DELETED)

    def _prototype(self, node: Node, declarator: Node, class_name: str) -> tree.Function:
        words = self.words(node)
        result = words.type
        position = self.at(node)
        while declarator.type != "operator_cast":
            if declarator.type in ("pointer_declarator", "reference_declarator"):
                result, declarator = self.pointed(declarator, result)
                continue
            inner = self.field(declarator, "declarator")
            if inner.type != "parenthesized_declarator":
                break
            of_result = self.parameters(self.field(declarator, "parameters"))
            result = tree.FunctionOf(result, of_result, position=position)
            declarator = inner.named_children[0]
        if declarator.type == "operator_cast":
            return self._conversion(declarator, words.specifiers, node)
        for child in declarator.named_children:
            if child.type in ("virtual_specifier", "requires_clause"):
                raise self.unsupported(child, "the plain forms")
        self.only(declarator, *_FUNCTION_WORDS)
        written = self.field(declarator, "declarator")
        name, specialized, scope, kind = self._function_name(written, class_name)
        listed = self.field(declarator, "parameters")
        is_variadic = any(each.type == "..." for each in listed.children)
        parameters = self.parameters(listed, is_variadic=is_variadic)
        if name == "MAIN" and parameters:
            raise self.error(written, "MAIN takes no parameters")
        result = self.trailing_result(declarator) or result
        return tree.Function(
            name,
            parameters,
            None,
            result,
            words.specifiers,
            kind=kind,
            is_const=self._is_const(declarator),
            category=self._category(declarator),
            specialized=specialized,
            scope=scope,
            is_variadic=is_variadic,
            position=position,
        )

    def _is_const(self, declarator: Node) -> bool:
        return any(self.text(each) == "const" for each in declarator.named_children)

    def _category(self, declarator: Node) -> str:
        """`&` or `&&` behind the parameters of a member function."""
        words = (each for each in declarator.named_children if each.type == "ref_qualifier")
        return next(map(self.text, words), "")

    def _conversion(self, node: Node, specifiers: tuple[str, ...], whole: Node) -> tree.Function:
        """`operator T() const`."""
        declarator = self.field(node, "declarator")
        result = self.written_type(self.field(node, "type"))
        while declarator.type.endswith(("pointer_declarator", "reference_declarator")):
            result, declarator = self.pointed(declarator, result)
        return tree.Function(
            "operator",
            (),
            None,
            result,
            specifiers,
            kind="conversion",
            is_const=self._is_const(declarator),
            category=self._category(declarator),
            position=self.at(whole),
        )

    def _function_name(
        self, node: Node, class_name: str
    ) -> tuple[str, tuple[tree.TemplateArgument, ...] | None, tree.Type | None, tree.FunctionKind]:
        """The name of a function, what it is specialised for, its class, and what it is."""
        scope: tree.Type | None = None
        specialized: tuple[tree.TemplateArgument, ...] | None = None
        if node.type == "qualified_identifier":
            last = node
            while last.type == "qualified_identifier":
                last = self.field(last, "name")
            found = self.qualified_name(node)
            text, _, name = found.text.rpartition("::")
            scope = found.scope
            if text:
                scope = tree.NamedType(text, (), (), scope, position=self.at(node))
            node = last
            if isinstance(scope, tree.NamedType):
                class_name = scope.name.rpartition("::")[2]
        if node.type == "template_function":
            specialized = self.qualified_name(node).arguments
            node = self.field(node, "name")
        name, kind = self._plain_function_name(node, class_name)
        return name, specialized, scope, kind

    def _plain_function_name(self, node: Node, class_name: str) -> tuple[str, tree.FunctionKind]:
        name = self.name_text(node)
        match node.type:
            case "destructor_name":
                return name, "destructor"
            case "operator_name":
                name = "operator" + self.text(node).removeprefix("operator").strip()
                if name in ("operatornew", "operatordelete") or '"' in name:
                    raise self.error(node, f"'{name}' is not supported")
            case "identifier" | "field_identifier":
                if name == class_name:
                    return name, "constructor"
            case _:
                raise self.unsupported(node, "names of functions")
        return name, "function"

    def parameters(self, node: Node, *, is_variadic: bool = False) -> tuple[tree.Parameter, ...]:
        """The parameters of a function; `(void)` has none."""
        for child in node.children:
            if child.type == "..." and not is_variadic:
                raise self.error(child, "'...' is not supported; name each parameter")
        parameters = tuple(map(self.parameter, node.named_children))
        return () if parameters == _NO_PARAMETERS else parameters

    def parameter(self, node: Node) -> tree.Parameter:
        """A parameter, or several that are one pack."""
        kinds = ("parameter_declaration", "optional_parameter_declaration")
        is_pack = node.type == "variadic_parameter_declaration"
        if node.type not in kinds and not is_pack:
            raise self.unsupported(node, "plain parameters")
        words = self.words(node)
        if words.specifiers:
            raise self.error(node, f"'{words.specifiers[0]}' does not go with a parameter")
        declarator = node.child_by_field_name("declarator")
        value = node.child_by_field_name("default_value")
        default = None if value is None else self.initial_value(value)
        if declarator is None:
            return tree.Parameter(words.type, None, default, is_pack, position=self.at(node))
        name, type_, sizes, pack = self.declared(declarator, words.type)
        if len(sizes) > 1:
            raise self.error(node, "an array of arrays as a parameter is not supported")
        if sizes:
            type_ = tree.Pointer(type_, position=self.at(node))
        if name is not None:
            self.declare(name)
        return tree.Parameter(type_, name, default, is_pack or pack, position=self.at(node))

    # Variables.

    def local_declaration(self, node: Node) -> tree.Declaration | tree.Binding:
        """A declaration in a function, where `T name(value)` declares no function."""
        declarator = self.function_declarator_of(node)
        is_plain = declarator is not None and declarator.type == "function_declarator"
        if declarator is None or not is_plain or _gives_pointer(declarator):
            return self.declaration(node)
        words = self.words(node)
        declared = list[tree.Declarator]()
        for each in node.children_by_field_name("declarator"):
            if each.type == "function_declarator":
                declared.append(self._constructed(each))
                continue
            type_, other = self._declarator(each, words.type)
            declared.append(other if type_ == words.type else replace(other, type=type_))
        return tree.Declaration(
            words.type, tuple(declared), words.specifiers, position=self.at(node)
        )

    def _constructed(self, declarator: Node) -> tree.Declarator:
        """`name(values)`, which the grammar takes for a function."""
        listed = self.field(declarator, "parameters").named_children
        if not listed:
            message = "this declares a function; leave out the '()', or write '{}'"
            raise self.error(declarator, message)
        if all(map(self._is_parameter, listed)):
            name = self.text(self.field(declarator, "declarator"))
            message = f"this declares a function '{name}', which tt-metal's compiler refuses"
            raise self.error(self.field(declarator, "parameters"), f"{message}; write braces")
        arguments = self._as_expressions(self.field(declarator, "parameters"), listed)
        name = self.text(self.field(declarator, "declarator"))
        self.declare(name)
        return tree.Declarator(name, (), None, arguments, position=self.at(declarator))

    def _is_parameter(self, node: Node) -> bool:
        """Whether `T(name)` or `T()` in the place of an argument declares a parameter."""
        written, declarator = (node.child_by_field_name(x) for x in ("type", "declarator"))
        if node.type != "parameter_declaration" or written is None or declarator is None:
            return False
        name = self.named_type(written).name
        if not is_built_in_type(name) and (name not in self.types or self.is_variable(name)):
            return False
        is_named = declarator.type == "parenthesized_declarator"
        while declarator.type.endswith("parenthesized_declarator"):
            declarator = declarator.named_children[0]
        if is_named:
            return declarator.type == "identifier"
        inner = declarator.child_by_field_name("parameters")
        if declarator.type != "abstract_function_declarator" or inner is None:
            return False
        if declarator.child_by_field_name("declarator") is not None:
            return False
        # The grammar takes `T(name)` for a function with an unnamed parameter.
        listed = inner.named_children
        return not listed or (len(listed) == 1 and self._is_plain_name(listed[0]))

    def _is_plain_name(self, node: Node) -> bool:
        written = node.child_by_field_name("type")
        is_name = written is not None and written.type == "type_identifier"
        return is_name and len(node.children) == 1

    def _as_expressions(self, node: Node, listed: Sequence[Node]) -> tuple[tree.Expression, ...]:
        """What the grammar took for a list of parameters as the expressions that they are."""
        try:
            return tuple(map(self._as_expression, listed))
        except CppSyntaxError:
            again = self.read_again(node)
            if again is None:
                raise
            return again

    def _as_expression(self, node: Node) -> tree.Expression:
        """What the grammar took for a parameter as the expression that it is."""
        written = node.child_by_field_name("type")
        if node.type != "parameter_declaration" or written is None:
            raise self.error(node, "functions are declared outside of functions")
        type_ = self.named_type(written)
        declarator = node.child_by_field_name("declarator")
        position = self.at(node)
        if is_built_in_type(type_.name):
            return self._cast_parameter(node, type_, declarator)
        value: tree.Expression = tree.Name(
            type_.name, type_.template_arguments, type_.scope, position=position
        )
        if declarator is None:
            return value
        match declarator.type:
            case "pointer_declarator" | "reference_declarator":
                signs = re.match(r"[*&]+", self.text(declarator))
                operator = "*" if signs is None else signs[0]
                inner = declarator.named_children[-1]
                if inner.type != "identifier" or self.text(inner) in ("true", "false", "nullptr"):
                    raise self.error(node, "put this argument in parentheses")
                right = tree.Name(self.text(inner), position=self.at(inner))
                return tree.BinaryOperation(operator, value, right, position=position)
            case "abstract_function_declarator" | "function_declarator":
                listed = self.field(declarator, "parameters").named_children
                return call_of_type(type_, tuple(map(self._as_expression, listed)), position)
            case "parenthesized_declarator":
                inner = declarator.named_children[0]
                value = tree.Name(self.text(inner), position=self.at(inner))
                return call_of_type(type_, (value,), position)
            case "abstract_array_declarator" | "array_declarator":
                index = self.optional(declarator.child_by_field_name("size"))
                if index is None:
                    raise self.error(node, "an index is one number")
                return tree.Index(value, index, position=position)
            case _:
                raise self.error(node, "put this argument in parentheses")

    def _cast_parameter(
        self, node: Node, type_: tree.NamedType, declarator: Node | None
    ) -> tree.Expression:
        """`uint32_t(a)`, which the grammar takes for a parameter."""
        if declarator is None:
            raise self.error(node, "functions are declared outside of functions")
        inner = declarator.child_by_field_name("parameters")
        if inner is not None and len(inner.named_children) == 1:
            value = self._as_expression(inner.named_children[0])
        elif declarator.type == "parenthesized_declarator":
            name = declarator.named_children[0]
            value = tree.Name(self.text(name), position=self.at(name))
        else:
            raise self.error(node, "functions are declared outside of functions")
        return tree.Cast("functional", type_, value, position=self.at(node))

    def declaration(self, node: Node) -> tree.Declaration | tree.Binding:
        """Variables, or names for the parts of a value."""
        words = self.words(node)
        declarators = node.children_by_field_name("declarator")
        if not declarators:
            raise self.error(node, "this declaration declares no name")
        bound = self.bound_names(declarators[0])
        if bound is not None:
            return self._binding(node, declarators[0], bound)
        declared = list[tree.Declarator]()
        type_, scope = words.type, None
        for each in declarators:
            type_, declarator = self._declarator(each, words.type)
            scope = self._scope_of(each)
            if type_ != words.type and len(declarators) > 1:
                declarator = replace(declarator, type=type_)
            declared.append(declarator)
        type_ = words.type if len(declarators) > 1 else type_
        base = words.type
        name = base.name if type_ != base and isinstance(base, tree.NamedType) else ""
        if self.is_variable(name):
            message = f"'{name}' is a variable; put this expression in parentheses"
            raise self.error(node, message)
        return tree.Declaration(
            type_,
            tuple(declared),
            words.specifiers,
            (),
            scope,
            self.alignments(node),
            position=self.at(node),
        )

    def _scope_of(self, node: Node) -> tree.Type | None:
        """The class whose static member a declarator defines."""
        while node.type.endswith("_declarator"):
            inner = node.child_by_field_name("declarator")
            if inner is None and not node.named_children:
                break
            node = inner or node.named_children[-1]
        if node.type != "qualified_identifier":
            return None
        found = self.qualified_name(node)
        path = found.text.rpartition("::")[0]
        return (
            tree.NamedType(path, (), (), found.scope, position=self.at(node))
            if path
            else found.scope
        )

    def _declarator(self, node: Node, type_: tree.Type) -> tuple[tree.Type, tree.Declarator]:
        value: tree.Expression | tree.Braces | None = None
        arguments: tuple[tree.Expression | tree.Braces, ...] | None = None
        is_direct = False
        inner = node
        if node.type == "init_declarator":
            inner = self.field(node, "declarator")
            written = self.field(node, "value")
            if written.type == "argument_list":
                arguments = self.arguments(written)
            else:
                value = self.initial_value(written)
                is_direct = all(each.type != "=" for each in node.children)
        name, type_, sizes, _ = self.declared(inner, type_)
        if name is None:
            raise self.error(node, "this declaration declares no name")
        self.declare(name)
        position = self.at(node)
        declarator = tree.Declarator(
            name, sizes, value, arguments, is_direct=is_direct, position=position
        )
        return type_, declarator

    def bound_names(self, node: Node) -> Node | None:
        """The names in brackets that a declarator declares."""
        while node.type in ("init_declarator", "reference_declarator"):
            inner = node.child_by_field_name("declarator")
            node = node.named_children[-1] if inner is None else inner
        return node if node.type == "structured_binding_declarator" else None

    def _binding(self, node: Node, declarator: Node, bound: Node) -> tree.Binding:
        """`auto& [a, b] = value;`."""
        if not isinstance(kind := self.words(node).type, tree.NamedType) or kind.name != "auto":
            raise self.error(node, "names for the parts of a value are declared with 'auto'")
        value = declarator.child_by_field_name("value")
        inner = declarator
        if value is None:
            raise self.error(declarator, "names in brackets need a value")
        inner = self.field(declarator, "declarator")
        return self.bind_names(node, inner, bound, self.initial_value(value))

    def bind_names(
        self, node: Node, declarator: Node, bound: Node, value: tree.Expression | tree.Braces
    ) -> tree.Binding:
        """Names for the parts of a value."""
        words = self.words(node)
        type_ = words.type
        if declarator.type == "reference_declarator":
            type_, _ = self.pointed(declarator, type_)
        names = tuple(map(self.text, bound.named_children))
        for name in names:
            self.declare(name)
        if isinstance(type_, tree.Reference):
            type_ = replace(type_, position=self.at(declarator))
        return tree.Binding(type_, names, value, words.specifiers, position=self.at(node))

    def read_again(self, node: Node) -> tuple[tree.Expression, ...] | None:
        """What stands in parentheses, read as expressions; None if it is something else."""
        raise NotImplementedError

    def deferred(self, body: Node) -> tree.Block | tree.DeferredBlock:
        """The body of a function, which may be read later."""
        raise NotImplementedError
