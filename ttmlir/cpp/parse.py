"""A kernel tree from C++ text.

    tree = parse(text, "reader.cpp", defines={"BLOCK": "4"})

tree-sitter reads the text; this module turns what it reads into nodes and refuses the rest. What
means something else than it seems to is refused too: a variable before `<` that reads as a call
with template arguments, a comparison of a comparison.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from ttmlir.cpp.brackets import bracket_assignments
from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.cpp.expression_reader import ExpressionReader
from ttmlir.cpp.preprocessor.include_path import IncludePath
from ttmlir.cpp.preprocessor.preprocess import PreprocessedText, preprocess
from ttmlir.cpp.preprocessor.tokens import SourceText
from ttmlir.cpp.source_map import SourceMap
from ttmlir.cpp.tree import (
    Alias,
    Block,
    Braces,
    Break,
    Case,
    Continue,
    Declaration,
    Declarator,
    DeferredBlock,
    Directive,
    DoWhile,
    Enumeration,
    Enumerator,
    Evaluate,
    Expression,
    For,
    Function,
    Header,
    If,
    Include,
    Item,
    Meaning,
    NamedType,
    Namespace,
    Parameter,
    Pointer,
    Position,
    Return,
    Statement,
    StaticAssert,
    Struct,
    Switch,
    TemplateParameter,
    TranslationUnit,
    Type,
    Unreadable,
    UsingName,
    UsingNamespace,
    While,
)
from ttmlir.limits import MAX_SOURCE_LENGTH
from ttmlir.nesting import deep_recursion

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

_DIGIT_MARK = re.compile(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])")

_SFPI_WORD = re.compile(r"\bv_(?:if|elseif|else|endif|block|endblock|and)\b")
"""Macros around vectors of the vector unit (sfpi.h)."""

_NO_PARAMETERS: tuple[Parameter, ...] = (Parameter(NamedType("void")),)

_ITEMS = (
    "functions, variables, structs of fields, enumerations, aliases, static_assert, namespaces, "
    "'using' and directives"
)
_STATEMENTS = (
    "declarations, expressions, blocks, if, switch, for, while, do, break, continue, return and "
    "directives"
)


def parse(
    text: str,
    file: str = "<kernel>",
    *,
    defines: Mapping[str, str] | None = None,
    include_path: IncludePath | None = None,
    source_map: SourceMap | None = None,
) -> TranslationUnit:
    """The tree of a C++ source.

    `file` is its name in positions and messages; `defines` are macros that are defined before its
    first line. Headers are read along the path; without one, none is. With a map, positions are
    those of what the text was made from. Raises CppSyntaxError for text that is no C++ or outside
    of the subset.
    """
    if len(text) > MAX_SOURCE_LENGTH:
        message = f"the text has {len(text)} characters; at most {MAX_SOURCE_LENGTH} are read"
        raise CppSyntaxError(message, Position(file, 1, 1), text[:80].partition("\n")[0])
    read_header = None if include_path is None else _read_header
    written = SourceText(text, file, source_map)
    with deep_recursion():
        source, root = _read_text(preprocess(written, defines or {}, include_path, read_header))
        if root.has_error:
            raise _grammar_error(source, root)
        return _Reader(source).unit(root)


def _read_header(source: PreprocessedText) -> Header:
    """The items of a header, as far as they can be read."""
    source, root = _read_text(source)
    reader = _Reader(source, is_header=True)
    items = reader.items(root)
    text = source.source
    includes = tuple(source.includes)
    return Header(text.file, text.text, items, includes, frozenset(reader.variables))


def _read_text(source: PreprocessedText) -> tuple[PreprocessedText, Node]:
    root = _read_grammar(source)
    if root.has_error:
        source = bracket_assignments(source)
        root = _read_grammar(source)
    return source, root


def _read_grammar(source: PreprocessedText) -> Node:
    # Every character is one byte, so that offsets in bytes are offsets in the text. The grammar
    # takes the mark in `1'024` for the start of a character; it may see another digit there.
    shown = _DIGIT_MARK.sub("0", source.text).encode("ascii", errors="replace")
    return _parser().parse(shown).root_node


@cache
def _parser() -> Parser:
    import tree_sitter_cpp
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_cpp.language()))


def _grammar_error(source: PreprocessedText, root: Node) -> CppSyntaxError:
    """The error about the first place that the grammar does not accept."""
    node = root
    while (inner := next((each for each in node.children if each.has_error), None)) is not None:
        node = inner
    sfpi = _SFPI_WORD.search(source.text, source.text.rfind("\n", 0, node.start_byte) + 1)
    if sfpi is not None and sfpi.start() <= node.start_byte:
        message = f"'{sfpi[0]}' is a word of sfpi, which only math of a compute kernel has"
        return source.error(sfpi.start(), message)
    if node.is_missing:
        return source.error(node.start_byte, f"expected '{node.type}'")
    found = source.text[node.start_byte : node.end_byte].split()
    what = f"'{found[0]}' is not expected here" if found else "the text ends too early"
    message = f"{what}; this is no C++, or outside of what kernels are written in"
    return source.error(node.start_byte, message)


def _find_declared(source: PreprocessedText, node: Node) -> frozenset[str]:
    """The names that an item may declare: those in it that stand for no body."""
    names = set[str]()
    pending = [node]
    while pending:
        each = pending.pop()
        if each.type in ("identifier", "type_identifier", "namespace_identifier"):
            names.add(source.text[each.start_byte : each.end_byte])
        elif each.type not in ("compound_statement", "field_declaration_list", "parameter_list"):
            pending += each.named_children
    return frozenset(names)


class _Reader(ExpressionReader):
    """Items and statements; a method per kind."""

    # Items.

    def unit(self, root: Node) -> TranslationUnit:
        source = self.source
        return TranslationUnit(
            self.items(root),
            tuple(source.includes),
            tuple(source.lookups),
            position=source.source.position(0),
        )

    def items(self, node: Node) -> tuple[Item, ...]:
        read = self.item_of_header if self.is_header else self.item
        return tuple(item for child in node.named_children for item in read(child))

    def item_of_header(self, node: Node) -> Iterator[Item]:
        """An item; what is wrong with it is said where it is used."""
        depth = self.depth
        try:
            if node.has_error and node.type != "namespace_definition":
                raise _grammar_error(self.source, node)
            yield from tuple(self.item(node))
        except CppSyntaxError as error:
            self.depth = depth
            yield Unreadable(_find_declared(self.source, node), error, position=self.at(node))

    def item(self, node: Node) -> Iterator[Item]:
        match node.type:
            case "preproc_call":
                yield self.directive(node)
            case "namespace_definition":
                yield self.namespace(node)
            case "function_definition":
                yield self.function(node)
            case "declaration":
                yield self.declaration_or_prototype(node)
            case "struct_specifier":
                yield self.struct(node)
            case "using_declaration" if re.match(r"using\s+namespace\b", self.text(node)):
                name = self.name_text(node.named_children[0])
                yield UsingNamespace(name, position=self.at(node))
            case "template_declaration":
                yield self.template(node)
            case kind if kind in _MEANING_READERS:
                yield _MEANING_READERS[kind](self, node)
            case "expression_statement" | "empty_statement" if self.text(node) == ";":
                return
            case _:
                raise self.unsupported(node, _ITEMS)

    def directive(self, node: Node) -> Directive:
        # Those that the preprocessor has kept; `#` within a line is none.
        kept = re.fullmatch(r"#pragma (\d+)\s*", self.text(node))
        if kept is None or int(kept[1]) >= len(self.source.directives):
            raise self.error(node, "a directive stands on a line of its own, which '#' begins")
        directive = self.source.directives[int(kept[1])]
        if isinstance(directive, Include) and directive.header is not None:
            self.variables.update(directive.header.variables)
        return directive

    def namespace(self, node: Node) -> Namespace:
        if not self.text(node).startswith("namespace"):
            raise self.error(node, "an inline namespace is not supported; leave out 'inline'")
        self.deeper(node)
        name = node.child_by_field_name("name")
        text = "" if name is None else self.name_text(name)
        items = self.items(self.field(node, "body"))
        self.depth -= 1
        return Namespace(text, items, position=self.at(node))

    def struct(self, node: Node) -> Struct:
        body = node.child_by_field_name("body")
        if body is None:
            raise self.error(node, "a struct needs a body here")
        self.only(node)
        fields = tuple(map(self.struct_field, body.named_children))
        name = self.text(self.field(node, "name"))
        return Struct(name, fields, position=self.at(node))

    def struct_field(self, node: Node) -> Declaration:
        if node.type != "field_declaration":
            raise self.unsupported(node, "fields")
        declaration = self.declaration(node)
        default = node.child_by_field_name("default_value")
        if default is None:
            return declaration
        declared, *others = declaration.declarators
        if others:
            raise self.error(node, "declare fields with initial values one by one")
        valued = replace(declared, value=self.initial_value(default))
        return replace(declaration, declarators=(valued,))

    def alias(self, node: Node) -> Alias:
        """`using name = type;`."""
        name = self.text(self.field(node, "name"))
        type_ = self.type_descriptor(self.field(node, "type"))
        return Alias(name, type_, position=self.at(node))

    def typedef(self, node: Node) -> Alias:
        """`typedef type name;`."""
        declarators = node.children_by_field_name("declarator")
        if len(declarators) != 1:
            raise self.error(node, "declare one name with each typedef")
        name, type_, sizes = self.declared(declarators[0], self.words(node).type)
        if name is None or sizes:
            raise self.error(node, "a typedef of an array is not supported")
        return Alias(name, type_, position=self.at(node))

    def using_name(self, node: Node) -> UsingName:
        return UsingName(self.name_text(node.named_children[0]), position=self.at(node))

    def enumeration(self, node: Node) -> Enumeration:
        self.only(node)
        body = node.child_by_field_name("body")
        if body is None or node.child_by_field_name("name") is None:
            raise self.error(node, "an enumeration needs a name and its enumerators here")
        base = node.child_by_field_name("base")
        return Enumeration(
            self.text(self.field(node, "name")),
            tuple(map(self.enumerator, body.named_children)),
            None if base is None else self.named_type(base),
            any(each.type in ("class", "struct") for each in node.children),
            position=self.at(node),
        )

    def enumerator(self, node: Node) -> Enumerator:
        if node.type != "enumerator":
            raise self.unsupported(node, "enumerators")
        value = self.optional(node.child_by_field_name("value"))
        return Enumerator(self.text(self.field(node, "name")), value, position=self.at(node))

    def static_assertion(self, node: Node) -> StaticAssert:
        condition = self.expression(self.field(node, "condition"))
        message = node.child_by_field_name("message")
        text = None if message is None else self.text(message)[1:-1]
        return StaticAssert(condition, text, position=self.at(node))

    def template(self, node: Node) -> Function:
        """A function with template parameters."""
        parameters = self.field(node, "parameters").named_children
        listed = tuple(map(self.template_parameter, parameters))
        inner = node.named_children[-1]
        if inner.type == "function_definition":
            function = self.function(inner)
        elif inner.type == "declaration":
            function = self.declaration_or_prototype(inner)
        else:
            raise self.unsupported(inner, "templates of functions")
        if not isinstance(function, Function) or not listed:
            raise self.error(node, "only functions can be templates, with parameters")
        return replace(function, template_parameters=listed, position=self.at(node))

    def template_parameter(self, node: Node) -> TemplateParameter:
        if node.type == "type_parameter_declaration" and node.named_children:
            return TemplateParameter(self.text(node.named_children[0]), position=self.at(node))
        if node.type != "parameter_declaration":
            raise self.unsupported(node, "'typename T' and 'uint32_t N'")
        parameter = self.parameter(node)
        if parameter.name is None:
            raise self.error(node, "a template parameter needs a name here")
        return TemplateParameter(parameter.name, parameter.type, position=self.at(node))

    def function(self, node: Node) -> Function:
        body = self.field(node, "body")
        if body.type != "compound_statement":
            raise self.unsupported(body, "a body in braces")
        function = self.prototype(node, self.field(node, "declarator"))
        return replace(function, definition=self.deferred(body))

    def deferred(self, body: Node) -> Block | DeferredBlock:
        """The body of a function; one in a header is read when it is used."""
        if not self.is_header:
            return self.block(body)
        reader = copy(self)
        reader.variables = set(self.variables)

        def read() -> Block:
            if body.has_error:
                raise _grammar_error(reader.source, body)
            with deep_recursion():
                return reader.block(body)

        return DeferredBlock(read)

    def declaration_or_prototype(self, node: Node) -> Declaration | Function:
        declarator = node.child_by_field_name("declarator")
        inner = declarator
        while inner is not None and inner.type in ("pointer_declarator", "reference_declarator"):
            inner = inner.named_children[-1]
        if declarator is not None and inner is not None and inner.type == "function_declarator":
            return self.prototype(node, declarator)
        return self.declaration(node)

    def prototype(self, node: Node, declarator: Node) -> Function:
        words = self.words(node)
        result = words.type
        while declarator.type in ("pointer_declarator", "reference_declarator"):
            result, declarator = self.pointed(declarator, result)
        if declarator.type != "function_declarator":
            raise self.unsupported(declarator, "functions with a list of parameters")
        self.only(declarator)
        name = self.field(declarator, "declarator")
        if name.type != "identifier":
            raise self.error(name, "the name of a function is not qualified in its definition")
        parameters = self.parameters(self.field(declarator, "parameters"))
        if self.text(name) == "MAIN" and parameters:
            raise self.error(name, "MAIN takes no parameters")
        return Function(
            self.text(name), parameters, None, result, words.specifiers, position=self.at(node)
        )

    def parameters(self, node: Node) -> tuple[Parameter, ...]:
        for child in node.children:
            if child.type == "...":
                raise self.error(child, "'...' is not supported; name each parameter")
        parameters = tuple(map(self.parameter, node.named_children))
        return () if parameters == _NO_PARAMETERS else parameters

    def parameter(self, node: Node) -> Parameter:
        if node.type not in ("parameter_declaration", "optional_parameter_declaration"):
            raise self.unsupported(node, "plain parameters")
        words = self.words(node)
        if words.specifiers:
            raise self.error(node, f"'{words.specifiers[0]}' does not go with a parameter")
        declarator = node.child_by_field_name("declarator")
        if declarator is None:
            return Parameter(words.type, position=self.at(node))
        name, type_, sizes = self.declared(declarator, words.type)
        if len(sizes) > 1:
            raise self.error(node, "an array of arrays as a parameter is not supported")
        if sizes:
            type_ = Pointer(type_, position=self.at(node))
        if name is not None:
            self.variables.add(name)
        default = self.optional(node.child_by_field_name("default_value"))
        return Parameter(type_, name, default, position=self.at(node))

    # Declarations.

    def declaration(self, node: Node) -> Declaration:
        words = self.words(node)
        declarators = node.children_by_field_name("declarator")
        if not declarators:
            raise self.error(node, "this declaration declares no name")
        declared = list[Declarator]()
        type_ = words.type
        for each in declarators:
            type_, declarator = self.declarator(each, words.type)
            declared.append(declarator)
            if type_ != words.type and len(declarators) > 1:
                raise self.error(each, "declare pointers and references one by one")
        base = words.type
        if type_ != base and isinstance(base, NamedType) and base.name in self.variables:
            message = f"'{base.name}' is a variable; put this expression in parentheses"
            raise self.error(node, message)
        return Declaration(type_, tuple(declared), words.specifiers, position=self.at(node))

    def declarator(self, node: Node, type_: Type) -> tuple[Type, Declarator]:
        value: Expression | Braces | None = None
        inner = node
        if node.type == "init_declarator":
            inner = self.field(node, "declarator")
            value = self.initial_value(self.field(node, "value"))
        name, type_, sizes = self.declared(inner, type_)
        if name is None:
            raise self.error(node, "this declaration declares no name")
        self.variables.add(name)
        return type_, Declarator(name, sizes, value, position=self.at(node))

    # Statements.

    def block(self, node: Node) -> Block:
        statements = tuple(each for child in node.named_children for each in self.statement(child))
        return Block(statements, position=self.at(node))

    def body(self, node: Node) -> Block:
        if node.type == "compound_statement":
            return self.block(node)
        return Block(tuple(self.statement(node)), position=self.at(node))

    def statement(self, node: Node) -> Iterator[Statement]:
        self.deeper(node)
        reader = _STATEMENT_READERS.get(node.type)
        if node.type == "expression_statement" and self.text(node) == ";":
            pass
        elif reader is None:
            raise self.unsupported(node, _STATEMENTS)
        else:
            yield reader(self, node)
        self.depth -= 1

    def directive_statement(self, node: Node) -> Statement:
        directive = self.directive(node)
        if isinstance(directive, Include):
            raise self.error(node, "#include is supported outside of functions only")
        return directive

    def evaluate(self, node: Node) -> Evaluate:
        return self.evaluation(node.named_children[0], self.at(node))

    def evaluation(self, node: Node, position: Position) -> Evaluate:
        """An expression as a statement: one that begins like a declaration is one in C++."""
        first = node
        while first.named_children and first.start_byte == first.named_children[0].start_byte:
            first = first.named_children[0]
        if first.type in ("primitive_type", "sized_type_specifier"):
            message = "this declares a pointer to an array or a function, which is not supported"
            raise self.error(node, message)
        return Evaluate(self.expression(node), position=position)

    def branch(self, node: Node) -> If:
        condition = self.condition(self.field(node, "condition"))
        then = self.body(self.field(node, "consequence"))
        alternative = node.child_by_field_name("alternative")
        otherwise: Block | If | None = None
        if alternative is not None:
            inner = alternative.named_children[0]
            self.deeper(inner)
            otherwise = self.branch(inner) if inner.type == "if_statement" else self.body(inner)
            self.depth -= 1
        is_constexpr = any(each.type == "constexpr" for each in node.children)
        return If(condition, then, otherwise, is_constexpr, position=self.at(node))

    def condition(self, node: Node) -> Expression:
        if node.type != "condition_clause":
            return self.expression(node)
        value = self.field(node, "value")
        if node.child_by_field_name("initializer") is not None or value.type == "declaration":
            raise self.error(node, "a declaration in a condition is not supported")
        return self.expression(value)

    def for_loop(self, node: Node) -> For:
        start = node.child_by_field_name("initializer")
        head: Declaration | Evaluate | None = None
        if start is not None and start.type == "declaration":
            head = self.declaration(start)
        elif start is not None:
            head = self.evaluation(start, self.at(start))
        condition = self.optional(node.child_by_field_name("condition"))
        step = self.optional(node.child_by_field_name("update"))
        body = self.body(self.field(node, "body"))
        return For(head, condition, step, body, position=self.at(node))

    def optional(self, node: Node | None) -> Expression | None:
        return None if node is None else self.expression(node)

    def while_loop(self, node: Node) -> While:
        condition = self.condition(self.field(node, "condition"))
        return While(condition, self.body(self.field(node, "body")), position=self.at(node))

    def do_loop(self, node: Node) -> DoWhile:
        body = self.body(self.field(node, "body"))
        condition = self.expression(self.field(node, "condition"))
        return DoWhile(body, condition, position=self.at(node))

    def switch(self, node: Node) -> Switch:
        condition = self.condition(self.field(node, "condition"))
        cases = list[Case]()
        for child in self.field(node, "body").named_children:
            if child.type == "case_statement":
                cases.append(self.case(child))
            elif cases and child.type in _STATEMENT_READERS:
                # The grammar ends a case at a directive.
                more = (*cases[-1].statements, *self.statement(child))
                cases[-1] = replace(cases[-1], statements=more)
            else:
                raise self.unsupported(child, "'case' and 'default'")
        return Switch(condition, tuple(cases), position=self.at(node))

    def case(self, node: Node) -> Case:
        value = node.child_by_field_name("value")
        inside = [each for each in node.named_children if each != value]
        statements = tuple(each for child in inside for each in self.statement(child))
        return Case(self.optional(value), statements, position=self.at(node))

    def return_value(self, node: Node) -> Return:
        values = node.named_children
        value = self.expression(values[0]) if values else None
        return Return(value, position=self.at(node))


_MEANING_READERS: dict[str, Callable[[_Reader, Node], Meaning]] = {
    "alias_declaration": _Reader.alias,
    "enum_specifier": _Reader.enumeration,
    "static_assert_declaration": _Reader.static_assertion,
    "type_definition": _Reader.typedef,
    "using_declaration": _Reader.using_name,
}

_STATEMENT_READERS: dict[str, Callable[[_Reader, Node], Statement]] = {
    **_MEANING_READERS,
    "break_statement": lambda reader, node: Break(position=reader.at(node)),
    "compound_statement": _Reader.block,
    "continue_statement": lambda reader, node: Continue(position=reader.at(node)),
    "declaration": _Reader.declaration,
    "do_statement": _Reader.do_loop,
    "expression_statement": _Reader.evaluate,
    "for_statement": _Reader.for_loop,
    "if_statement": _Reader.branch,
    "preproc_call": _Reader.directive_statement,
    "return_statement": _Reader.return_value,
    "switch_statement": _Reader.switch,
    "while_statement": _Reader.while_loop,
}
