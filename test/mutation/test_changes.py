"""The tool that changes the product changes what it says, and finds what tests execute."""

from __future__ import annotations

import ast
import builtins
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent

SWAPPED = "{1: b, 2: a, 3: b}"
CHANGES = [
    ("comparison", "a < b", {"a <= b"}),
    ("comparison", "a == b != c", {"a != b != c", "a == b == c"}),
    ("comparison", "x not in y", {"x in y"}),
    ("comparison", "x is None", {"x is not None"}),
    ("connective", "a and b", {"a or b"}),
    ("connective", "not a", {"a"}),
    ("arithmetic", "a + b * c", {"a - b * c", "b // c"}),
    ("arithmetic", "'text' + a", set()),
    ("arithmetic", "[a] + [b]", set()),
    ("constant", "a + 3", {"4", "2"}),
    ("constant", "a = 0", {"1"}),
    ("constant", "a = True", {"False"}),
    ("constant", "a = 2.5", {"5.0"}),
    ("constant", "a = 0.0", {"1.0"}),
    ("constant", "f'{1}'", set()),
    ("constant", "match a:\n case -1: b", set()),
    ("constant", "zip(a, b, strict=True)", set()),
    ("constant", "f(a, reverse=True)", {"False"}),
    ("extent", "range(n)", {"range(n - 1)"}),
    ("extent", "range(m, n)", {"range(m, n - 1)", "range(m + 1, n)"}),
    ("extent", "x[a:b]", {"x[a + 1:b]", "x[a:b - 1]"}),
    ("condition", "a if b else c", {"True", "False"}),
    ("condition", "[a for a in b if c]", {"True"}),
    ("arguments exchanged", "f(a, b, c)", {"f(b, a, c)", "f(a, c, b)"}),
    ("arguments exchanged", "f(a, a, *b)", set()),
    ("arguments exchanged", "isinstance(a, b)", set()),
    ("argument left out", "f(a, b=c, d=e)", {"f(a, d=e)", "f(a, b=c)"}),
    ("argument left out", "zip(a, b, strict=True)", set()),
    ("function", "max(a, b)", {"min(a, b)"}),
    ("function", "xp.minimum(a, b)", {"xp.maximum(a, b)"}),
    ("function", "sorted(a, key=b)", {"list(a)"}),
    ("table", "{1: a, 2: a, 3: a}", {"{2: a, 3: a}", "{1: a, 3: a}", "{1: a, 2: a}"}),
    ("table", "{1: a, 2: b, 3: b}", {"{2: b, 3: b}", "{1: a, 3: b}", "{1: a, 2: b}", SWAPPED}),
    ("table", "T = (a, b, c)", {"(b, c)", "(a, c)", "(a, b)"}),
    ("table", "T = (a, b)", set()),
    ("table", "def f(): return [a, b, c]", set()),
    ("statement left out", "def f(): g()", {"pass"}),
    ("statement left out", "def f():\n  a = 1\n  x.y = a\n  x[0] += 1", {"pass"}),
    ("statement left out", "g()", set()),
    ("condition", "def f():\n if a: raise B", {"False"}),
    ("condition", "def f():\n if a: b()", {"False", "True"}),
    ("result", "def f(): return a", {"None"}),
    ("result", "def f(): return a, b", {"(b, a)"}),
    ("result", "def f(): return a < b", {"not a < b"}),
    ("result", "def f(): return None", set()),
    ("constant", "def f(a: A[1] = 1) -> B[1]: assert c == 1", {"2", "0"}),
    ("constant", "if TYPE_CHECKING: a = 1", set()),
    ("constant", "class P(Protocol):\n a: int = 1", set()),
    ("constant", "@d(1)\ndef f(): pass", set()),
]  # fmt: skip
"""Kind, module, and what it makes of the changed part of it."""


def tool(name: str) -> Any:
    """A module of the tool, whose folder is no package."""
    if str(HERE) not in sys.path:
        sys.path.append(str(HERE))
    return import_module(name)


def source_of(text: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A file of the product with a text that is on no disk."""
    product = tool("product")
    monkeypatch.setattr(product.SourceFile, "read", lambda self: text.encode())
    tool("mutant").sites.cache_clear()
    return product.SourceFile("ttmlir/a_file.py", "tools")


@pytest.mark.parametrize(("kind", "text", "expected"), CHANGES)
def test_a_kind_makes_its_changes_and_no_others(
    kind: str, text: str, expected: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Types, messages, decorators and checks stay as they are, and what Python would refuse."""
    sites = tool("mutant").sites(source_of(text, monkeypatch))
    made = map(tool("mutant").make_mutant, sites[kind])
    assert {mutant.after for mutant in made if mutant} == expected


def test_a_mutant_is_the_module_with_one_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the changed part differs, letters outside ASCII before it or not."""
    text = "def f(a, b):\n    é = a\n    return é * (a + b)  # ü\n"
    [site] = tool("mutant").sites(source_of(text, monkeypatch))["result"]
    mutant = tool("mutant").make_mutant(site)
    assert mutant.change(text.encode()) == text.replace("é * (a + b)", "(None)")
    assert (mutant.line, mutant.scope, mutant.statement) == (3, "f", 1)
    assert mutant.description == "é * (a + b)  ->  None"


def test_a_change_that_compiles_to_the_same_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python leaves out a number that nothing uses."""
    for site in tool("mutant").sites(source_of("5", monkeypatch))["constant"]:
        assert tool("mutant").make_mutant(site) is None


def test_the_key_of_a_mutant_survives_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines may move and so may the file, if it keeps its name."""
    keys = set()
    for text in ("def f(): return a + 1", "import b\n\n\ndef f():\n    return (a +\n       1)"):
        [site] = tool("mutant").sites(source_of(text, monkeypatch))["arithmetic"]
        keys.add(tool("mutant").make_mutant(site).key)
    assert len(keys) == 1
    assert next(iter(keys)).startswith("a_file.py f ")


def test_keys_tell_the_same_change_in_two_places_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second one has another number."""
    source = source_of("def f(): return a + b, a + b", monkeypatch)
    keys = [
        tool("mutant").make_mutant(site).key for site in tool("mutant").sites(source)["arithmetic"]
    ]
    assert [key.rpartition(".")[2] for key in keys] == ["0", "1"]


def test_statements_of_functions_record_that_they_are_executed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each statement in a function has a byte; statements of the module have none."""
    statements = tool("hook.statements")
    text = """
table = [lambda x: x + 1, lambda x: x - 1]
def f(x):
    if x:
        return table[0](x)
    return 0
"""
    tree = ast.parse(text)
    assert statements.statement_keys(ast.parse(text)) == [
        ": lambda x: x + 1 #1",
        ": lambda x: x - 1 #1",
        "f: if x: #1",
        "f: return table[0](x) #1",
        "f: return 0 #1",
    ]
    statements.number_statements(tree)
    hits = bytearray(10)
    monkeypatch.setattr(builtins, "__hits__", hits, raising=False)
    names: dict[str, Any] = {}
    exec(compile(statements.Instrumenter(3).visit(tree), "text", "exec"), names)
    assert not any(hits)
    assert names["f"](4) == 5
    assert [number for number, hit in enumerate(hits) if hit] == [3, 5, 6]
