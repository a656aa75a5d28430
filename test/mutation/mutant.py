"""Mutants: the product with one small change."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, takewhile
from types import CodeType

from changes import KINDS, Edit, Place
from hook.statements import inner_scope, number_statements
from product import SourceFile, source_files

_FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef
_FOR_TYPES = {"TypeVar", "ParamSpec", "NewType", "Literal"}
_LONG, _AROUND = 80, 25
_WITHOUT_BODY = {"overload", "abstractmethod"}


@dataclass(frozen=True)
class Context:
    """What surrounds a node: scope with dots, whether import executes it, numbered statement."""

    scope: str = ""
    at_import: bool = True
    statement: int | None = None


@dataclass(frozen=True)
class Site:
    """A place in a module that a kind of change applies to."""

    source: SourceFile
    context: Context
    kind: str
    edit: Edit


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """A change of one file, as text."""

    path: str
    package: str
    scope: str
    kind: str
    line: int
    before: str
    after: str
    """The changed node as Python prints it."""
    start: int
    end: int
    """Where the node stands in the file, in bytes."""
    occurrence: int
    """How many changes before it, in the same scope, make the same of the same."""
    statement: int | None
    """Number of the innermost statement in a function; None where import executes the change."""

    @property
    def key(self) -> str:
        """Names the mutant although lines and folders move: file, scope and the change."""
        digest = hashlib.sha256(f"{self.before} > {self.after}".encode()).hexdigest()[:8]
        place = f"{self.path.rpartition('/')[2]} {self.scope or 'module'}"
        return f"{place} {digest}.{self.occurrence}"

    @property
    def description(self) -> str:
        """The change in a line; of long texts only what differs and a little around it."""
        before, after = flat(self.before), flat(self.after)
        if max(len(before), len(after)) > _LONG:
            same = _common(before, after)
            begin = max(0, same - _AROUND)
            end = max(0, _common(before[same:][::-1], after[same:][::-1]) - _AROUND)
            before, after = (f"..{text[begin : len(text) - end]}.." for text in (before, after))
        return f"{before}  ->  {after}"

    def change(self, text: bytes) -> str:
        """The file's text after the change."""
        after = self.after if self.after == "pass" else f"({self.after})"
        return (text[: self.start] + after.encode() + text[self.end :]).decode()


def _common(first: str, second: str) -> int:
    """How many characters two texts have in common at their beginning."""
    pairs = zip(first, second, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def flat(text: str) -> str:
    """A text in one line."""
    return " ".join(text.split())


@cache
def sites(source: SourceFile) -> dict[str, list[Site]]:
    """The sites of a module by kind."""
    tree = ast.parse(source.read())
    number_statements(tree)
    found: dict[str, list[Site]] = {kind.name: [] for kind in KINDS}
    for node, context in _changeable(tree, Context()):
        for kind in KINDS:
            for edit in kind.edits(Place(node, context.at_import)):
                found[kind.name].append(Site(source, context, kind.name, edit))
    return found


def sites_of_package(package: str) -> dict[str, list[Site]]:
    """The sites of all modules of a package by kind."""
    modules = [sites(source) for source in source_files() if source.package == package]
    return {kind.name: [site for found in modules for site in found[kind.name]] for kind in KINDS}


def make_mutant(site: Site) -> Mutant | None:
    """The mutant of a site; None if Python makes the same code of both, or refuses the change."""
    text = site.source.read()
    node, changed = site.edit
    lines = text.splitlines(keepends=True)
    begins = [0, *accumulate(map(len, lines))]
    mutant = Mutant(
        path=site.source.path,
        package=site.source.package,
        scope=site.context.scope,
        kind=site.kind,
        line=node.lineno,
        before=ast.unparse(node),
        after=ast.unparse(ast.fix_missing_locations(changed)),
        start=begins[node.lineno - 1] + node.col_offset,
        end=begins[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0),
        occurrence=_sites_alike(site).index(site),
        statement=site.context.statement,
    )
    try:
        same = _essence(text.decode()) == _essence(mutant.change(text))
    except SyntaxError:
        # Patterns of `match` take no brackets.
        return None
    return None if same else mutant


def _sites_alike(site: Site) -> list[Site]:
    """The sites in the same scope that make the same of the same."""
    edit = list(map(ast.dump, site.edit))
    near = (
        each
        for each in sites(site.source)[site.kind]
        if each.context.scope == site.context.scope and type(each.edit[0]) is type(site.edit[0])
    )
    return [each for each in near if list(map(ast.dump, each.edit)) == edit]


def _essence(text: str) -> tuple[object, ...]:
    """What a module's code does, wherever it stands."""
    return _essence_of(compile(text, "module", "exec", dont_inherit=True))


def _essence_of(code: CodeType) -> tuple[object, ...]:
    constants = tuple(
        _essence_of(each) if isinstance(each, CodeType) else (type(each), repr(each))
        for each in code.co_consts
    )
    return (code.co_code, code.co_names, code.co_varnames, code.co_exceptiontable, constants)


def _changeable(parent: ast.AST, context: Context) -> Iterator[tuple[ast.AST, Context]]:
    """The nodes below `parent` that compute something that can be wrong."""
    for node in _parts(parent, context):
        if _computes_nothing(node):
            continue
        inside = Context(
            inner_scope(context.scope, node),
            context.at_import and not isinstance(parent, _FUNCTION | ast.Lambda),
            getattr(node, "number", context.statement),
        )
        if isinstance(parent, _FUNCTION | ast.Lambda) and _is_default(node, parent):
            inside = context
        yield node, inside
        yield from _changeable(node, inside)


def _is_default(node: ast.AST, function: ast.AST) -> bool:
    return any(node is each for each in _defaults(function))


def _defaults(function: ast.AST) -> list[ast.expr]:
    match function:
        case (
            ast.FunctionDef(args=arguments)
            | ast.AsyncFunctionDef(args=arguments)
            | ast.Lambda(args=arguments)
        ):
            return [*arguments.defaults, *filter(None, arguments.kw_defaults)]
        case _:
            return []


def _parts(node: ast.AST, context: Context) -> list[ast.AST]:
    """Children without types, decorators, messages, and what is only checked."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda() | ast.ClassDef():
            return _parts_of_definition(node)
        case ast.AnnAssign(annotation=annotation, value=value):
            return [value] if value and _name(annotation) != "TypeAlias" else []
        case ast.Assign(value=ast.BinOp(op=ast.BitOr()) | ast.Subscript()) if context.at_import:
            return []
        case ast.Call(ast.Name("cast"), [_, value]):
            return [value]
        case _:
            return [*ast.iter_child_nodes(node)]


def _parts_of_definition(node: ast.AST) -> list[ast.AST]:
    match node:
        case ast.Lambda(body=body):
            return [*_defaults(node), body]
        case ast.ClassDef(bases=bases, body=body):
            return [] if any(_name(each) == "Protocol" for each in bases) else [*body]
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            empty = any(_name(each) in _WITHOUT_BODY for each in node.decorator_list)
            return [] if empty else [*_defaults(node), *node.body]
        case _:
            return []


def _computes_nothing(node: ast.AST) -> bool:
    match node:
        case ast.Assert() | ast.Import() | ast.ImportFrom() | ast.JoinedStr():
            return True
        case ast.keyword("strict", ast.Constant()):
            # Like an assertion, a check of the program itself.
            return True
        case ast.Assign([ast.Name("__all__" | "__slots__")]):
            return True
        case ast.If(ast.Name("TYPE_CHECKING") | ast.Compare(ast.Name("__name__"))):
            return True
        case ast.Call(function):
            return _name(function) in _FOR_TYPES
        case _:
            return False


def _name(node: ast.AST) -> str:
    match node:
        case ast.Name(name) | ast.Attribute(attr=name):
            return name
        case ast.Call(function) | ast.Subscript(function):
            return _name(function)
        case _:
            return ""
