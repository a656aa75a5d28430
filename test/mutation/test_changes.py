"""The tool that changes the product changes what it says, and finds what tests execute."""

from __future__ import annotations

import ast
import builtins
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

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


class Recorded:
    """What a small record says: the tests that execute statements of one module."""

    seconds: ClassVar = dict.fromkeys(("test/test_a.py::test_f", "test/test_user.py::test_g"), 0.1)
    executed: ClassVar = {
        "f: return 1 #1": {"test/test_a.py::test_f"},
        "g: a = 2 #1": {"test/test_user.py::test_g"},
        "g: return a #1": {"test/test_user.py::test_g"},
    }

    def tests_of_statement(self, path: str, key: str) -> set[str]:
        """The tests that execute a statement."""
        return self.executed.get(key, set()) if path == "ttmlir/tools/a.py" else set()

    def tests_of_module(self, path: str) -> set[str]:
        """The tests that execute any statement of a module."""
        return {*self.seconds} if path == "ttmlir/tools/a.py" else set()


MODULE = "def f():\n    return 1\n\n\ndef g():\n    a = 2\n    return a\n\n\nT = [1,\n     2]\n"
EDITS = [
    ("return 1", "return 3", [{"test_f"}, set()]),
    ("return a", "a += 1\n    return a", [{"test_g"}, set()]),
    ("    a = 2\n    return a", "    return 2", [{"test_g"}, set()]),
    ("def g", "# g\ndef g", [set(), {"test_f", "test_g"}]),
    ("2]", "3]", [set(), {"test_f", "test_g"}]),
    ("def f():\n    return 1", "def f(b):\n    return b", [{"test_f"}, {"test_f", "test_g"}]),
]
"""What is replaced in `MODULE`, by what, and the tests that execute it or may see it."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A branch of a small project: the module, its user and three files of tests."""
    files = {
        "ttmlir/tools/a.py": MODULE,
        "ttmlir/tools/user.py": "from ttmlir.tools import a\n",
        "ttmlir/tools/other.py": "",
        "test/test_a.py": "from ttmlir.tools.a import f\n\ndef test_a(): assert f() == 1\n",
        "test/test_user.py": "import ttmlir.tools.user\n\ndef test_user(): pass\n",
        "test/test_other.py": "import ttmlir.tools.other\n\ndef test_other(): pass\n",
        "test/support/samples/s.py": "from ttmlir.tools import (\n    other,\n    a,\n)\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "before")
    git(tmp_path, "checkout", "-q", "-b", "branch")
    return tmp_path


def git(root: Path, *arguments: str) -> None:
    """Run git as somebody."""
    somebody = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "-C", str(root), *somebody, *arguments], check=True)


@pytest.mark.parametrize(("old", "new", "expected"), EDITS)
def test_tests_that_execute_what_changed(
    old: str, new: str, expected: list[set[str]], project: Path
) -> None:
    """By statement; a new one counts for its function, and what is outside for the module."""
    path = project / "ttmlir/tools/a.py"
    path.write_text(MODULE.replace(old, new))
    [change] = tool("changed").find_changes(project, "main")
    assert (change.path, change.before) == ("ttmlir/tools/a.py", MODULE)
    found = tool("changed").executing_tests(change, path.read_text(), Recorded())
    assert [{name.partition("::")[2] for name in tier} for tier in found] == expected


def test_changes_since_the_branch_began(project: Path) -> None:
    """Those in commits, in the folder, and in files that git does not know yet."""
    (project / "ttmlir/tools/other.py").write_text("x = 1\n")
    git(project, "commit", "-q", "-am", "one")
    (project / "ttmlir/tools/new.py").write_text("y = 1\n")
    (project / "test/test_user.py").unlink()
    changes = tool("changed").find_changes(project, "main")
    assert [(each.path, each.gone, each.new) for each in changes] == [
        ("test/test_user.py", {1, 2, 3}, set()),
        ("ttmlir/tools/new.py", set(), set()),
        ("ttmlir/tools/other.py", set(), {1}),
    ]


def test_a_base_that_does_not_exist(project: Path) -> None:
    """It is said how to name another."""
    with pytest.raises(SystemExit, match=r"other-main(.|\n)*make test-changed BASE="):
        tool("changed").find_changes(project, "other-main")


def test_chosen_tests_run(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the record where there is one, else by imports, the nearest first; and no others."""
    changed = tool("changed")
    for module in (changed, tool("judge")):
        monkeypatch.setattr(module, "ROOT", project)
    (project / "ttmlir/tools/a.py").write_text(MODULE.replace("return 1", "return 3"))
    imports = changed.Imports(project, {"ttmlir": "ttmlir"})
    assert imports.distances("ttmlir/tools/a.py") == {
        "ttmlir/tools/a.py": 0,
        "test/test_a.py": 1,
        "ttmlir/tools/user.py": 1,
        "test/support/samples/s.py": 1,
        "test/test_user.py": 2,
    }
    changes = changed.find_changes(project, "main")
    every = {f"test/test_{name}.py" for name in ("a", "user", "other")}
    assert changed.choose(changes, Recorded(), every, imports, project) == [
        "test/test_a.py::test_f"
    ]
    nothing = tool("recording").Coverage({}, [])
    near = ["test/test_a.py", "test/test_user.py"]
    assert changed.choose(changes, nothing, set(), imports, project) == near

    monkeypatch.setattr(changed.Coverage, "load", lambda: nothing)
    monkeypatch.setattr(changed, "outdated_files", lambda: [])
    options = ["-p", "no:cacheprovider", "-c", os.devnull, "--rootdir=.", "--junitxml=r.xml"]
    monkeypatch.setenv("PYTHONPATH", str(project))
    assert changed.main(options) == 1
    report = (project / "r.xml").read_text()
    assert 'tests="2"' in report
    assert 'failures="1"' in report
    (project / "r.xml").unlink()
    (project / "ttmlir/tools/a.py").write_text(MODULE)
    assert changed.main(options) == 0
