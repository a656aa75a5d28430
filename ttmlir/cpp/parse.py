"""A kernel tree from C++ text.

    tree = parse(text, "reader.cpp", defines={"BLOCK": "4"})

tree-sitter reads the text; this module turns what it reads into nodes and refuses the rest. What
means something else than it seems to is refused too: a variable before `<` that reads as a call
with template arguments, a comparison of a comparison.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Set
from copy import copy
from dataclasses import replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from ttmlir.cpp import declaration_reader, tree
from ttmlir.cpp.declaration_reader import (
    ENUMERATION_VARIABLE,
    DeclarationReader,
    amend,
    find_ranges,
    insert,
)
from ttmlir.cpp.errors import CppSyntaxError, ErrorList, SourceMap
from ttmlir.cpp.expression_reader import MisreadError
from ttmlir.cpp.include_path import IncludePath
from ttmlir.cpp.jumps import JumpError, list_checks, list_initialized, open_switch, replace_jumps
from ttmlir.cpp.member_pointers import MemberPointers, may_point_to_members, read_function
from ttmlir.cpp.preprocess import Dependencies, PreprocessedText, make_macros, preprocess
from ttmlir.cpp.tokens import BLANK, SourceText, split_tokens
from ttmlir.limits import MAX_SOURCE_LENGTH
from ttmlir.nesting import MAX_NESTING, deep_recursion

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

_USED_PACK = re.compile(
    r"(\busing\s+[\w:]{1,200}::\s*(?:operator[^;\w]{1,8}|\w{1,200})\s*)\.\.\.(?=\s*;)"
)
"""`using Bases::name...;`, which the grammar knows without the dots."""
_DIGIT_MARK = re.compile(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])")

_SFPI_WORD = re.compile(r"\bv_(?:if|elseif|else|endif|block|endblock|and)\b")
"""Macros around vectors of the vector unit (sfpi.h)."""

_Read = TypeVar("_Read", tree.Item, tree.Statement)

_ITEMS = (
    "functions, variables, classes, enumerations, templates, aliases, static_assert, namespaces, "
    "'extern \"C\"', 'using' and directives"
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
    errors: ErrorList | None = None,
) -> tree.TranslationUnit:
    """The tree of a C++ source.

    `file` is its name in positions and messages; `defines` are macros that are defined before its
    first line. Headers are read along the path; without one, none is. With a map, positions are
    those of what the text was made from. Raises CppSyntaxError for text that is no C++ or outside
    of the subset; with a list, statements that are wrong are left out and their errors added to it.
    """
    if len(text) > MAX_SOURCE_LENGTH:
        message = f"the text has {len(text)} characters; at most {MAX_SOURCE_LENGTH} are read"
        raise CppSyntaxError(message, tree.Position(file, 1, 1), text[:80].partition("\n")[0])
    return _find_source(text, file, source_map).parse(defines or {}, include_path, errors)


class _Source:
    """A text with what was read of it: the processors of a kernel mostly agree in it."""

    def __init__(self, text: SourceText) -> None:
        self._text = text
        self._forms = list[tuple[IncludePath | None, Dependencies, tree.TranslationUnit]]()

    def parse(
        self, defines: Mapping[str, str], include_path: IncludePath | None, errors: ErrorList | None
    ) -> tree.TranslationUnit:
        """See `parse`."""
        macros = make_macros(defines)
        for path, needed, unit in self._forms:
            if path == include_path and needed.fits(path or IncludePath(), macros, set()):
                return unit
        read_header = None if include_path is None else _read_header
        with deep_recursion():
            preprocessed = preprocess(self._text, defines, include_path, read_header)
            source, root = _read_text(preprocessed)
            if root.has_error:
                raise _grammar_error(source, root)
            reader = _Reader(source)
            reader.errors = errors
            unit = reader.unit(root)
        if preprocessed.dependencies is not None and not (errors and errors.errors):
            self._forms.append((include_path, preprocessed.dependencies, unit))
            del self._forms[:-_MAX_FORMS]
        return unit


_MAX_FORMS = 8
"""How many forms of a text are kept: those of the processors, with a few macros."""


@lru_cache(maxsize=4)
def _find_source(text: str, file: str, source_map: SourceMap | None) -> _Source:
    return _Source(SourceText(text, file, source_map))


def _read_header(source: PreprocessedText) -> tree.Header:
    """The items of a header, as far as they can be read."""
    source, root = _read_text(source)
    reader = _Reader(source, is_header=True)
    items = reader.items(root)
    text = source.source
    includes = tuple(source.includes)
    variables, types = frozenset(reader.variables), frozenset(reader.types)
    both = variables & reader.templates
    return tree.Header(text.file, text.text, items, includes, variables, types, both)


def _read_text(source: PreprocessedText) -> tuple[PreprocessedText, Node]:
    if may_point_to_members(source.text):
        source, words = MemberPointers(source).amend(source)
        source = insert(source, words)
    root = _read_grammar(source)
    # The grammar takes `case -3 ... -1` for the sum of a pack and a number.
    if root.has_error or any(find_ranges(source.text)):
        source = amend(source)
        root = _read_grammar(source)
    return source, root


def _read_grammar(source: PreprocessedText) -> Node:
    # Every character is one byte, so that offsets in bytes are offsets in the text. The grammar
    # takes the mark in `1'024` for the start of a character; it may see another digit there.
    shown = _DIGIT_MARK.sub("0", source.text)
    if "..." in shown:
        shown = _USED_PACK.sub(r"\1   ", shown)
    return _parser().parse(shown.encode("ascii", errors="replace")).root_node


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
    deep = _find_too_deep(source.text)
    if deep is not None:
        return source.error(deep, f"nested more than {MAX_NESTING} levels deep")
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


def _find_too_deep(text: str) -> int | None:
    """Where brackets stand in more others than are read, about which the grammar says nothing."""
    depth = 0
    for each in re.finditer(r"[](){}[]", text):
        depth += 1 if each[0] in "([{" else -1
        if depth > MAX_NESTING:
            return each.start()
    return None


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


def _find_alike(source: PreprocessedText, words: Set[tuple[int, str]]) -> set[tuple[int, str]]:
    """Parentheses around the other places where a name stands before `<` as it does in some."""
    edges = [place for place, word in sorted(words) if word in ("(", ")")]
    name = source.text[edges[0] : edges[1]] if len(edges) == 2 else ""
    if not name.isidentifier():
        return set()
    tokens = split_tokens(SourceText(source.text, source.source.file))
    solid = [each for each in tokens if each.kind not in BLANK]
    found = set[tuple[int, str]]()
    for before, each, after in zip(solid, solid[1:], solid[2:], strict=False):
        is_plain = before.text not in (".", "->", "::")
        if each.text == name and after.text == "<" and is_plain:
            found |= {(each.offset, "("), (each.offset + len(name), ")")}
    return found


_NAMES_OF_TYPES = ("identifier", "primitive_type", "qualified_identifier", "template_function")
_NOTHING = re.compile(r"\s*(nop|fence( \w+\s*,\s*\w+)?)?\s*;?\s*")
"""Assembly that computes nothing."""


class _Reader(DeclarationReader):
    """Items and statements; a method per kind."""

    errors: ErrorList | None = None
    """What is wrong with statements; None: the first error ends the reading."""

    # Items.

    def unit(self, root: Node) -> tree.TranslationUnit:
        source = self.source
        return tree.TranslationUnit(
            self.items(root),
            tuple(source.includes),
            tuple(source.lookups),
            frozenset(source.differing),
            position=source.source.position(0),
        )

    def items(self, node: Node) -> tuple[tree.Item, ...]:
        read = self.item_of_header if self.is_header else self.item_with_comparisons
        return tuple(item for child in node.named_children for item in read(child))

    def item_of_header(self, node: Node) -> Iterator[tree.Item]:
        """An item; what is wrong with it is said where it is used."""
        depth = self.depth
        try:
            if node.has_error and node.type != "namespace_definition":
                raise _grammar_error(self.source, node)
            yield from tuple(self.item(node))
        except CppSyntaxError as error:
            self.depth = depth
            yield tree.Unreadable(_find_declared(self.source, node), error, position=self.at(node))

    def item_with_comparisons(self, node: Node) -> Iterator[tree.Item]:
        """An item, of which no comparison is taken for template arguments."""
        return self._with_comparisons(_Reader.item, node)

    def _with_comparisons(
        self, read: Callable[[_Reader, Node], Iterator[_Read]], node: Node
    ) -> Iterator[_Read]:
        """Read a node; again with parentheses where a comparison is taken for a template."""
        depth, pending, count = self.depth, self.pending, len(self.pending)
        try:
            return iter(tuple(read(self, node)))
        except MisreadError as error:
            self.depth, self.pending = depth, pending
            del pending[count:]
            again = self._read_clearly(node, error)
            if again is None:
                raise
            reader = copy(self)
            reader.source, clear = again
            return reader._with_comparisons(read, clear)

    def _read_clearly(
        self, node: Node, error: MisreadError
    ) -> tuple[PreprocessedText, Node] | None:
        """An item or a statement, alone, with what makes the grammar read it as C++ does."""
        before, after = ("void f() {", "}") if node.type in _STATEMENT_READERS else ("", "")
        if node.parent is None or node.parent.type in ("translation_unit", "declaration_list"):
            before = after = ""
        cut = self.source.cut(node.start_byte, node.end_byte, before, after)
        moved = len(before) - node.start_byte
        words = {(place + moved, word) for place, word in error.insertions}
        source = insert(cut, words | _find_alike(cut, words))
        root = _read_grammar(source)
        found = root.named_children
        if before and len(found) == 1:
            found = self.field(found[0], "body").named_children
        if root.has_error or len(found) != 1 or found[0].type != node.type:
            return None
        return source, found[0]

    def item(self, node: Node) -> Iterator[tree.Item]:
        match node.type:
            case "function_definition":
                made = self.function(node)
                yield from self._pending_items()
                yield made
            case "declaration":
                yield from self._declared_items(node)
            case "template_declaration":
                template = self.template(node)
                yield from self._pending_items()
                if template is not None:
                    yield template
            case "linkage_specification":
                body = self.field(node, "body")
                yield from self.items(body) if body.type == "declaration_list" else self.item(body)
            case "template_instantiation" | "concept_definition":
                return
            case "expression_statement" | "empty_statement" if self.text(node) == ";":
                return
            case kind if kind in _ITEM_READERS:
                yield _ITEM_READERS[kind](self, node)
            case _:
                raise self.unsupported(node, _ITEMS)

    def _declared_items(self, node: Node) -> Iterator[tree.Item]:
        """Variables, or a function, after the types that are defined with them."""
        declarator = node.child_by_field_name("declarator")
        made: tree.Item | None = None
        if declarator is None:
            # Only a type is declared, without name for a variable.
            self.words(node)
        elif self._declares_function(node):
            made = self._prototype_of(node, declarator)
        else:
            made = self.declaration(node)
        yield from self._pending_items()
        if made is not None:
            yield made

    def _declares_function(self, node: Node) -> bool:
        return self.function_declarator_of(node) is not None

    def _prototype_of(
        self, node: Node, declarator: Node
    ) -> tree.Function | tree.Declaration | tree.Binding:
        """A function; or a variable with arguments, if these are variables."""
        inner = declarator
        if inner.type == "function_declarator":
            listed = self.field(inner, "parameters").named_children
            plain = [each for each in listed if len(each.named_children) == 1]
            if listed and len(plain) == len(listed):
                if all(self.is_variable(self.text(each)) for each in plain):
                    return self.local_declaration(node)
        return self.prototype(node, declarator)

    def _pending_items(self) -> Iterator[tree.Item]:
        yield from self.pending
        self.pending.clear()

    def directive(self, node: Node) -> tree.Directive:
        # Those that the preprocessor has kept; `#` within a line is none.
        kept = re.fullmatch(r"#pragma (\d+)\s*", self.text(node))
        if kept is None or int(kept[1]) >= len(self.source.directives):
            raise self.error(node, "a directive stands on a line of its own, which '#' begins")
        directive = self.source.directives[int(kept[1])]
        if isinstance(directive, tree.Include) and directive.header is not None:
            self.variables.update(directive.header.variables)
            self.types.update(directive.header.types)
            self.templates.update(directive.header.templates)
        return directive

    def namespace(self, node: Node) -> tree.Namespace:
        self.deeper(node)
        name = node.child_by_field_name("name")
        text = "" if name is None else self.name_text(name)
        if not self.text(node).startswith("namespace"):
            # Names in an inline namespace are names of the one around it.
            text = ""
        items = self.items(self.field(node, "body"))
        self.depth -= 1
        return tree.Namespace(text, items, position=self.at(node))

    def namespace_alias(self, node: Node) -> tree.NamespaceAlias:
        name = self.field(node, "name")
        target = node.named_children[-1]
        return tree.NamespaceAlias(self.text(name), self.name_text(target), position=self.at(node))

    def using(self, node: Node) -> tree.UsingName | tree.UsingNamespace:
        """`using name;` or `using namespace name;`."""
        if re.match(r"using\s+namespace\b", self.text(node)):
            name = self.name_text(node.named_children[0])
            return tree.UsingNamespace(name, position=self.at(node))
        return self.using_name(node)

    def read_again(self, node: Node) -> tuple[tree.Expression, ...] | None:
        """What stands in parentheses, read as expressions; None if it is something else."""
        reader = copy(self)
        reader.source = self.source.cut(node.start_byte, node.end_byte, "x=", ";")
        root = _read_grammar(reader.source)
        if root.has_error or root.named_children[0].type != "expression_statement":
            return None
        assigned = root.named_children[0].named_children[0].named_children[-1]
        pending, found = [assigned.named_children[0]], list[tree.Expression]()
        while pending:
            each = pending.pop()
            if each.type == "comma_expression":
                pending += reversed(each.named_children)
            else:
                found.append(reader.expression(each))
        return tuple(found)

    def deferred(self, body: Node) -> tree.Block | tree.DeferredBlock:
        """The body of a function; one in a header is read when it is used."""
        if not self.is_header:
            return self.function_body(body)
        reader = copy(self)
        reader.variables = set(self.variables)
        reader.types = set(self.types)
        reader.pending = []

        def read() -> tree.Block:
            if body.has_error:
                raise _grammar_error(reader.source, body)
            with deep_recursion():
                return reader.function_body(body)

        return tree.DeferredBlock(read)

    # Statements.

    def block(self, node: Node) -> tree.Block:
        statements = tuple(
            each for child in node.named_children for each in self.statement_or_error(child)
        )
        return tree.Block(statements, position=self.at(node))

    def statement_or_error(self, node: Node) -> Iterator[tree.Statement]:
        """A statement; one that is wrong is left out if errors are listed."""
        if self.errors is None:
            yield from self._with_comparisons(_Reader.statement, node)
            return
        depth, pending = self.depth, self.pending
        try:
            yield from self._with_comparisons(_Reader.statement, node)
        except CppSyntaxError as error:
            self.depth, self.pending = depth, pending
            self.errors.add(error, (), _find_declared(self.source, node))

    def function_body(self, node: Node) -> tree.Block:
        """The body of a function or lambda, in which jumps are loops."""
        outer, self.jumps = self.jumps, {}
        outer_cases, self.inner_cases = self.inner_cases, None
        try:
            block = self.block(node)
            return replace_jumps(block) if self.jumps else block
        except JumpError as error:
            place = self.jumps.get(error.node.position, node)
            raise self.error(place, str(error)) from None
        finally:
            self.jumps, self.inner_cases = outer, outer_cases

    def goto(self, node: Node) -> tree.Goto:
        position = self.at(node)
        self.jumps[position] = node
        return tree.Goto(self.text(self.field(node, "label")), position=position)

    def labelled(self, node: Node) -> Iterator[tree.Statement]:
        """A label, and the statement after it."""
        position = self.at(node)
        self.jumps[position] = node
        yield tree.Label(self.text(self.field(node, "label")), position=position)
        for each in node.named_children[1:]:
            yield from self.statement(each)

    def body(self, node: Node) -> tree.Block:
        if node.type == "compound_statement":
            return self.block(node)
        return tree.Block(tuple(self.statement(node)), position=self.at(node))

    def statement(self, node: Node) -> Iterator[tree.Statement]:
        self.deeper(node)
        reader = _STATEMENT_READERS.get(node.type)
        if node.type == "expression_statement" and self.text(node) == ";":
            pass
        elif node.type == "labeled_statement":
            yield from self.labelled(node)
        elif node.type == "case_statement":
            yield from self.inner_case(node)
        elif reader is None:
            raise self.unsupported(node, _STATEMENTS)
        else:
            outer, self.pending = self.pending, []
            made = reader(self, node)
            yield from self.pending
            self.pending = outer
            yield made
        self.depth -= 1

    def declaration_statement(self, node: Node) -> tree.Statement:
        if node.child_by_field_name("declarator") is None:
            self.words(node)
            return self.pending.pop() if self.pending else tree.Block(position=self.at(node))
        if self.text(self.field(node, "declarator")) == ENUMERATION_VARIABLE:
            self.words(node)
            return self.pending.pop()
        called = self._read_called_element(node)
        return self.local_declaration(node) if called is None else called

    def _read_called_element(self, node: Node) -> tree.Evaluate | None:
        """`table[i](values);`, which the grammar takes for names of parts."""
        declarator = self.field(node, "declarator")
        written = self.field(node, "type")
        if declarator.type != "function_declarator" or written.type != "type_identifier":
            return None
        inner = self.field(declarator, "declarator")
        names = inner.named_children
        if inner.type != "structured_binding_declarator" or len(names) != 1:
            return None
        position = self.at(node)
        table = tree.Name(self.text(written), position=position)
        index = tree.Name(self.text(names[0]), position=self.at(names[0]))
        parameters = self.field(declarator, "parameters")
        arguments = self._as_expressions(parameters, parameters.named_children)
        callee = tree.Index(table, index, position=position)
        return tree.Evaluate(
            tree.FunctionCall(callee, arguments, position=position), position=position
        )

    def directive_statement(self, node: Node) -> tree.Statement:
        directive = self.directive(node)
        if isinstance(directive, tree.Include):
            raise self.error(node, "#include is supported outside of functions only")
        return directive

    def attributed(self, node: Node) -> tree.Statement:
        """A statement after `[[likely]]` and the like."""
        return tree.Block(tuple(self.statement(node.named_children[-1])), position=self.at(node))

    def evaluate(self, node: Node) -> tree.Evaluate | tree.Assembly | tree.Declaration | tree.Block:
        inner = node.named_children[0]
        while inner.type == "parenthesized_expression":
            inner = inner.named_children[0]
            if inner.type == "compound_statement":
                return self.block(inner)  # Compilers add `({ ... })` to C++.
        if node.named_children[0].type == "gnu_asm_expression":
            return self.assembly(node.named_children[0])
        declared = self._read_bracketed(node.named_children[0])
        if declared is not None:
            return declared
        return self.evaluation(node.named_children[0], self.at(node))

    def _read_bracketed(self, node: Node) -> tree.Declaration | None:
        """`T (*name)(A) = value` or `T (&name)[2] = value`.

        The grammar takes the first for a call if T and A are plain names, and the second for an
        element of what a call gives.
        """
        value: Node | None = None
        if node.type == "assignment_expression":
            node, value = self.field(node, "left"), self.field(node, "right")
        called = node
        sizes: list[Node] = []
        while called.type == "subscript_expression":
            sizes += self.field(called, "indices").named_children
            called = self.field(called, "argument")
        if not sizes and node.type == "call_expression":
            called = self.field(node, "function")
        result = self._read_called_type(called, "&" if sizes else "*")
        if result is None:
            return None
        (inner,) = self.field(called, "arguments").named_children
        position = self.at(inner)
        if sizes:
            for each in sizes:
                result = tree.ArrayOf(result, self.expression(each), position=position)
            result = tree.Reference(result, position=position)
        else:
            parameters = tuple(
                tree.Parameter(self.named_type(each), None, position=self.at(each))
                for each in self.field(node, "arguments").named_children
            )
            result = tree.Pointer(replace(read_function(result, parameters), position=position))
        name = self.text(inner.named_children[-1])
        self.declare(name)
        initial = None if value is None else self.initial_value(value)
        declarator = tree.Declarator(name, (), initial, position=position)
        return tree.Declaration(result, (declarator,), position=self.at(node))

    def _read_called_type(self, called: Node, sign: str) -> tree.Type | None:
        """The type that stands where a call has a function, before `(*name)` or `(&name)`."""
        if called.type != "call_expression":
            return None
        written = self.field(called, "function")
        inner = self.field(called, "arguments").named_children
        if written.type not in _NAMES_OF_TYPES:
            return None
        result = self.named_type(written)
        name = result.name.rpartition("::")[2]
        is_type = self.is_type(name) or result.template_arguments or result.scope
        if not is_type or self.is_variable(result.name):
            return None
        is_bracketed = len(inner) == 1 and self.text(inner[0]).startswith(sign)
        return result if is_bracketed else None

    def evaluation(self, node: Node, position: tree.Position) -> tree.Evaluate:
        """An expression as a statement: one that begins like a declaration is one in C++."""
        first = node
        while first.named_children and first.start_byte == first.named_children[0].start_byte:
            first = first.named_children[0]
        if first.type in ("primitive_type", "sized_type_specifier"):
            message = "this declares a pointer to an array or a function, which is not supported"
            raise self.error(node, message)
        return tree.Evaluate(self.expression(node), position=position)

    def assembly(self, node: Node) -> tree.Assembly | tree.Evaluate:
        code = self.field(node, "assembly_code")
        operands = [
            each
            for name in ("output_operands", "input_operands")
            for each in node.children_by_field_name(name)
            if each.named_children
        ]
        text = self.text(code)[1:-1] if code.type == "string_literal" else ""
        lines = re.split(r"\\n|;", text)
        if text.strip() == "ebreak" and not operands:
            return self.stop(self.at(node))
        # Without instructions, variables keep what they had.
        keeps = all(re.search(r'"\+\w+"', self.text(each)) for each in operands)
        if operands and not text and keeps:
            operands = []
        if operands or not all(map(_NOTHING.fullmatch, lines)):
            raise self.error(
                node, "supported assembly is 'nop', 'fence' and 'ebreak', without operands"
            )
        return tree.Assembly(text, position=self.at(node))

    def stop(self, position: tree.Position) -> tree.Evaluate:
        """A processor that stops for good: an assertion that does not hold."""
        false = tree.Boolean(False, position=position)
        name = tree.Name("ASSERT", position=position)
        call = tree.FunctionCall(name, (false,), position=position)
        return tree.Evaluate(call, position=position)

    def branch(self, node: Node) -> tree.If | tree.Block:
        start, condition = self.started_condition(self.field(node, "condition"))
        then = self.body(self.field(node, "consequence"))
        alternative = node.child_by_field_name("alternative")
        otherwise: tree.Block | tree.If | None = None
        if alternative is not None:
            inner = alternative.named_children[0]
            self.deeper(inner)
            otherwise = self.branch(inner) if inner.type == "if_statement" else self.body(inner)
            self.depth -= 1
        is_constexpr = any(each.type == "constexpr" for each in node.children)
        position = self.at(node)
        made = tree.If(condition, then, otherwise, is_constexpr, position=position)
        return tree.Block((*start, made), position=position) if start else made

    def started_condition(self, node: Node) -> tuple[tuple[tree.Statement, ...], tree.Expression]:
        """A condition, and what is declared for it first."""
        if node.type != "condition_clause":
            return (), self.expression(node)
        start = list[tree.Statement]()
        initializer = node.child_by_field_name("initializer")
        if initializer is not None:
            start += self.statement(initializer.named_children[0])
        value = self.field(node, "value")
        if value.type != "declaration":
            return tuple(start), self.expression(value)
        words = self.words(value)
        name, type_, _, _ = self.declared(self.field(value, "declarator"), words.type)
        if name is None:
            raise self.error(value, "this declaration declares no name")
        self.declare(name)
        initial = self.initial_value(self.field(value, "value"))
        declared = tree.Declarator(name, (), initial, position=self.at(value))
        start.append(
            tree.Declaration(type_, (declared,), words.specifiers, position=self.at(value))
        )
        return tuple(start), tree.Name(name, position=self.at(value))

    def condition(self, node: Node) -> tree.Expression:
        start, condition = self.started_condition(node)
        if start:
            raise self.error(node, "a declaration in the condition of a loop is not supported")
        return condition

    def for_loop(self, node: Node) -> tree.For:
        start = node.child_by_field_name("initializer")
        head: tree.Declaration | tree.Evaluate | None = None
        if start is not None and start.type == "declaration":
            declared = self.local_declaration(start)
            if isinstance(declared, tree.Binding):
                raise self.error(start, "names in brackets are not supported here")
            head = declared
        elif start is not None:
            head = self.evaluation(start, self.at(start))
        condition = self.optional(node.child_by_field_name("condition"))
        step = self.optional(node.child_by_field_name("update"))
        body = self.body(self.field(node, "body"))
        return tree.For(head, condition, step, body, position=self.at(node))

    def range_loop(self, node: Node) -> tree.RangeFor | tree.Block:
        position = self.at(node)
        declarator = self.field(node, "declarator")
        value = self.initial_value(self.field(node, "right"))
        bound = self.bound_names(declarator)
        if bound is not None:
            declaration: tree.Declaration | tree.Binding = self.bind_names(
                node, declarator, bound, value
            )
        else:
            words = self.words(node)
            name, type_, _, _ = self.declared(declarator, words.type)
            if name is None:
                raise self.error(node, "this declaration declares no name")
            self.declare(name)
            declared = tree.Declarator(name, (), value, position=self.at(declarator))
            declaration = tree.Declaration(type_, (declared,), words.specifiers, position=position)
        made = tree.RangeFor(declaration, self.body(self.field(node, "body")), position=position)
        start = node.child_by_field_name("initializer")
        if start is None:
            return made
        return tree.Block((*self.statement(start.named_children[0]), made), position=position)

    def while_loop(self, node: Node) -> tree.While:
        condition = self.condition(self.field(node, "condition"))
        return tree.While(condition, self.body(self.field(node, "body")), position=self.at(node))

    def do_loop(self, node: Node) -> tree.DoWhile:
        body = self.body(self.field(node, "body"))
        condition = self.expression(self.field(node, "condition"))
        return tree.DoWhile(body, condition, position=self.at(node))

    def switch(self, node: Node) -> tree.Switch | tree.Block:
        start, condition = self.started_condition(self.field(node, "condition"))
        outer, self.inner_cases = self.inner_cases, []
        cases = list[tree.Case]()
        declared, jumped_into = list[tree.Statement](), list[tree.Statement]()
        for child in self.field(node, "body").named_children:
            if child.type == "case_statement":
                cases.append(self.case(child))
            elif cases and child.type in _STATEMENT_READERS:
                # The grammar ends a case at a directive.
                more = (*cases[-1].statements, *self.statement(child))
                cases[-1] = replace(cases[-1], statements=more)
            elif child.type == "declaration":
                declared += self.before_cases(child, condition)
            elif child.type in _MEANING_READERS:
                declared += self.statement(child)
            elif child.type in (*_STATEMENT_READERS, "labeled_statement"):
                # Nothing comes here, unless there are cases or other labels in it or before it.
                body = tree.Block(tuple(self.statement(child)), position=self.at(child))
                if jumped_into or any(isinstance(x, tree.Label) for x in tree.walk(body)):
                    jumped_into += body.statements
                else:
                    declared.append(tree.If(tree.Boolean(False), body, position=self.at(child)))
            else:
                raise self.unsupported(child, "'case' and 'default'")
        nested, self.inner_cases = self.inner_cases, outer
        position = self.at(node)
        made = tree.Switch(condition, tuple(cases), position=position)
        start = (*start, *declared)
        if nested or jumped_into:
            self.unnamed_count += 1
            name = f"switch_of_blocks_{self.unnamed_count}"
            opened = open_switch(made, nested, name, jumped_into)
            return replace(opened, statements=(*start, *opened.statements))
        return tree.Block((*start, made), position=position) if start else made

    def before_cases(self, node: Node, condition: tree.Expression) -> Iterator[tree.Statement]:
        """Variables without values that are declared before the first case of a `switch`."""
        used = {each.text for each in tree.walk(condition) if isinstance(each, tree.Name)}
        for each in self.statement(node):
            if not isinstance(each, tree.Declaration):
                raise self.unsupported(node, "'case' and 'default'")
            for name in list_initialized(each):
                message = f"a jump to a case crosses the initialization of '{name}'"
                raise self.error(node, f"{message}; declare it before the switch")
            if used & {declarator.name for declarator in each.declarators}:
                raise self.error(node, "the condition of the switch means another variable")
            yield each
            yield from list_checks(each, tree.Label("case", position=self.at(node)))

    def case(self, node: Node) -> tree.Case:
        value = node.child_by_field_name("value")
        inside = [each for each in node.named_children if each != value]
        statements = tuple(each for child in inside for each in self.statement(child))
        first, last = self.optional(value), None
        match first:
            case tree.FunctionCall(tree.Name(declaration_reader.CASE_RANGE), (first, last)):
                assert not isinstance(first, tree.Braces)
                assert not isinstance(last, tree.Braces)
            case _:
                pass
        return tree.Case(first, statements, last, position=self.at(node))

    def inner_case(self, node: Node) -> Iterator[tree.Statement]:
        """A case in a block of a `switch`: a label, and the statements after it."""
        if self.inner_cases is None:
            raise self.error(node, "'case' and 'default' stand in a switch")
        self.unnamed_count += 1
        label = tree.Label(f"case_in_block_{self.unnamed_count}", position=self.at(node))
        self.jumps[label.position] = node
        yield label
        made = self.case(node)
        self.inner_cases.append((label, made))
        yield from made.statements

    def return_value(self, node: Node) -> tree.Return:
        values = node.named_children
        value: tree.Expression | tree.Braces | None = (
            self.initial_value(values[0]) if values else None
        )
        return tree.Return(value, position=self.at(node))


_Declared: TypeAlias = (
    tree.NameDeclaration | tree.Struct | tree.UsingNamespace | tree.NamespaceAlias
)

_MEANING_READERS: dict[str, Callable[[_Reader, Node], _Declared]] = {
    "alias_declaration": _Reader.alias,
    "class_specifier": _Reader.struct,
    "enum_specifier": _Reader.enumeration,
    "namespace_alias_definition": _Reader.namespace_alias,
    "static_assert_declaration": _Reader.static_assertion,
    "struct_specifier": _Reader.struct,
    "type_definition": _Reader.typedef,
    "union_specifier": _Reader.struct,
    "using_declaration": _Reader.using,
}

_ITEM_READERS: dict[str, Callable[[_Reader, Node], tree.Item]] = {
    **_MEANING_READERS,
    "namespace_definition": _Reader.namespace,
    "preproc_call": _Reader.directive,
}

_STATEMENT_READERS: dict[str, Callable[[_Reader, Node], tree.Statement]] = {
    **_MEANING_READERS,
    "attributed_statement": _Reader.attributed,
    "break_statement": lambda reader, node: tree.Break(position=reader.at(node)),
    "compound_statement": _Reader.block,
    "continue_statement": lambda reader, node: tree.Continue(position=reader.at(node)),
    "declaration": _Reader.declaration_statement,
    "do_statement": _Reader.do_loop,
    "expression_statement": _Reader.evaluate,
    "for_range_loop": _Reader.range_loop,
    "for_statement": _Reader.for_loop,
    "goto_statement": _Reader.goto,
    "if_statement": _Reader.branch,
    "preproc_call": _Reader.directive_statement,
    "return_statement": _Reader.return_value,
    "switch_statement": _Reader.switch,
    "while_statement": _Reader.while_loop,
}
