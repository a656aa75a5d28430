"""Only `ttmlir.mlir.xdsl_internals` touches the private parts of xDSL, and what it offers works."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
import xdsl
from xdsl.context import Context
from xdsl.dialects import test
from xdsl.dialects.builtin import Builtin, IntegerAttr, i32, i64
from xdsl.parser import Parser

from ttmlir.mlir.xdsl_internals import current_token, operands_of, resume_from, retype

ROOT = Path(__file__).resolve().parents[2]
XDSL = Path(xdsl.__file__).parent
ALLOWED = ROOT / "ttmlir" / "mlir" / "xdsl_internals.py"
WITH_XDSL = ("mlir", "dialects", "ir", "passes", "target", "frontend", "interpreter")
FOLDERS = ("ir", "irdl", "parser", "utils")
MODULES = ("printer", "context", "traits", "pattern_rewriter", "rewriter", "dialects/builtin")


def is_private(name: str) -> bool:
    """True for names that begin with one underscore."""
    return name.startswith("_") and not name.startswith("__")


def defined_in(tree: ast.AST) -> Iterator[str]:
    """The names of functions, of classes, and of attributes of `self` that are set."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                yield name
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case _:
                pass


@cache
def names_of_xdsl() -> frozenset[str]:
    """The private names that xDSL defines where the project uses it."""
    paths = [path for folder in FOLDERS for path in (XDSL / folder).rglob("*.py")]
    paths += [XDSL / f"{module}.py" for module in MODULES]
    return frozenset(
        name
        for path in paths
        for name in defined_in(ast.parse(path.read_text()))
        if is_private(name)
    )


@cache
def parsed(path: Path) -> ast.Module:
    """The tree of a file, which several tests look at."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def classes_in(path: Path) -> dict[str, ast.ClassDef]:
    """The classes of a file by name, of which the last one of a name counts, as in Python."""
    return {node.name: node for node in ast.walk(parsed(path)) if isinstance(node, ast.ClassDef)}


@cache
def names_of_class(cls: type) -> frozenset[str]:
    """The private names that a class of xDSL itself defines."""
    source = classes_in(Path(inspect.getfile(cls)))[cls.__name__]
    return frozenset(name for name in defined_in(source) if is_private(name))


def uses_in(path: Path, text: str) -> Iterator[str]:
    """Where a file uses private names of xDSL: of its objects, of base classes, in imports."""
    yield from uses_of(path.name, ast.parse(text))


def uses_of(file: str, tree: ast.Module) -> Iterator[str]:
    """The same of a tree, which stands in a file of that name."""
    foreign = names_of_xdsl() - {*defined_in(tree)}
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr=name) if name in foreign:
                yield f"{file}:{node.lineno}: {ast.unparse(node)}"
            case ast.ImportFrom(module=str(module), names=names) if module.startswith("xdsl"):
                private = [alias.name for alias in names if is_private(alias.name)]
                yield from (f"{file}:{node.lineno}: import {name}" for name in private)
            case _:
                pass


def overrides_in(path: Path) -> Iterator[str]:
    """Private names of a base class in xDSL that classes of a file define or set."""
    tree = parsed(path)
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    if not classes:
        return
    parts = path.relative_to(ROOT).with_suffix("").parts
    module = import_module(".".join(part for part in parts if part != "__init__"))
    for node in classes:
        cls = getattr(module, node.name)
        bases = [base for base in cls.__mro__ if base.__module__.startswith("xdsl.")]
        names = frozenset[str]().union(*map(names_of_class, bases))
        yield from (f"{path.name}: {node.name}.{name}" for name in names & {*defined_in(node)})


def sources() -> list[Path]:
    """The files that may import xDSL, but for the one that may use its private parts."""
    rooms = [*(ROOT / "ttmlir" / room for room in WITH_XDSL), ROOT / "tools"]
    found = [path for room in rooms for path in sorted(room.rglob("*.py"))]
    return [path for path in found if path != ALLOWED]


def test_no_other_module_uses_private_parts() -> None:
    """Neither attributes of xDSL's objects nor private names in its modules."""
    found = [use for path in sources() for use in uses_of(path.name, parsed(path))]
    assert found == []


def test_no_other_module_overrides_private_parts() -> None:
    """A class that derives from one of xDSL defines none of its private names."""
    assert [use for path in sources() for use in overrides_in(path)] == []


@pytest.mark.parametrize(
    ("line", "use"),
    [
        ("value._type = other", "x.py:1: value._type"),
        ("parser._current_token.text", "x.py:1: parser._current_token"),
        ("from xdsl.parser.core import _anything", "x.py:1: import _anything"),
        ("value.type.name", None),
        ("def _type(): pass\nself._type()", None),
    ],
)
def test_uses_are_found(line: str, use: str | None) -> None:
    """The check sees what it is there for, and leaves names of the file's own alone."""
    assert list(uses_in(Path("x.py"), line)) == ([] if use is None else [use])


def test_retype_keeps_users() -> None:
    """The value stays the same object, so its users see the new type."""
    producer = test.TestOp(result_types=[i32])
    user = test.TestOp(operands=[producer.results[0]])
    retype(producer.results[0], i64)
    assert user.operands[0].type == i64
    assert operands_of(user) == (producer.results[0],)


def test_a_parser_goes_on_where_it_is_told_to() -> None:
    """The next token is the one at the position."""
    context = Context()
    context.load_dialect(Builtin)
    parser = Parser(context, "12 : i32, 7 : i64")
    assert current_token(parser).text == "12"
    resume_from(parser, len("12 : i32, "))
    assert current_token(parser).text == "7"
    assert parser.parse_attribute() == IntegerAttr(7, i64)
