"""The packages depend on each other in one direction, and the sources keep their house rules."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

EXECUTABLE = {"optable", "layout", "program", "schema"}
"""Packages that the runtime may know: they say what a program means, not how it was compiled."""

MATHEMATICS = {"optable", "arrays", "composites"}
"""Packages that say what programs compute."""

DIALECTS = {"layout", "program", "mlir", "dialects", *MATHEMATICS}

MAY_IMPORT = {
    "version": set[str](),
    "collector": set[str](),
    "doctor": set[str](),
    "errors": set[str](),
    "files": set[str](),
    "lazy_methods": set[str](),
    "light_dataclasses": set[str](),
    "limits": set[str](),
    "nesting": set[str](),
    "terminal": set[str](),
    "optable": set[str](),
    "arrays": {"optable"},
    "composites": {"arrays", "optable"},
    "machine": set[str](),
    "layout": {"machine"},
    "program": {"layout"},
    "schema": {"schema files"},
    "schema files": set[str](),
    "cpp": {"optable", "layout"},
    "mlir": {"layout"},
    "dialects": {"optable", "layout", "program", "mlir"},
    "ir": DIALECTS,
    "passes": {"ir", "machine", "schema", *DIALECTS},
    "target": {"cpp", "schema", *DIALECTS},
    "sim": {"cpp", "layout", "machine", *MATHEMATICS},
    "runtime": {"sim", *EXECUTABLE},
    "bridge": {"runtime", "sim", "metalium", "ttnn", *EXECUTABLE},
    "metalium": {"sim", "runtime", "cpp", *EXECUTABLE},
    "host_tool": {"cpp", "layout", "metalium", "sim"},
    "kernel_tool": {"cpp", "metalium", "runtime", "sim", *EXECUTABLE},
    "ttnn": {"cpp", "sim", "runtime", "metalium", *EXECUTABLE, *MATHEMATICS},
    "cost": {"machine", "runtime", "sim", *EXECUTABLE},
    "ttrt": {"cost", "runtime", "sim", *EXECUTABLE},
    "compiler": {"ir", "passes", "target", "mlir", "dialects", "program"},
    "bindings": {"compiler", "passes", *DIALECTS},
    "passmanager": {"bindings"},
    "language_server": {"mlir", "dialects", "passes"},
    "interpreter": {"ir", "passes", "compiler", "runtime", "schema", "sim", "ttrt", *DIALECTS},
    "frontend": {
        *("ir", "passes", "target", "compiler", "runtime", "interpreter", "cpp", "schema", "sim"),
        *("cost", "ttrt", "bridge"),
        *DIALECTS,
    },
    "generation": {"cost", "frontend", "layout", "machine", "runtime"},
    "pykernel": {"frontend", "ttnn", "sim"},
    "ttnn_jit": {
        *("bridge", "compiler", "frontend", "ir", "metalium", "passes", "runtime", "sim", "ttnn"),
        *DIALECTS,
    },
    "explorer": {
        *("compiler", "cost", "frontend", "ir", "passes", "runtime", "schema", "ttrt"),
        *DIALECTS,
    },
    "tuning": {
        *("compiler", "cost", "explorer", "frontend", "passes", "runtime", "ttrt", *DIALECTS),
    },
    "tools": {
        *("ir", "passes", "target", "compiler", "runtime", "ttrt", "interpreter", "frontend"),
        *(
            "cost",
            "cpp",
            "doctor",
            "explorer",
            "host_tool",
            "kernel_tool",
            "language_server",
            "tuning",
            "ttnn",
            "schema",
            "schema files",
        ),
        *DIALECTS,
    },
}
"""Which packages of the project a package may import; every package may import itself."""

EVERYWHERE = {"version", "collector", "errors", "files", "lazy_methods", "limits", "nesting"}
EVERYWHERE |= {"light_dataclasses", "terminal"}
"""Modules that every package may import."""

NO_XDSL = {
    *(*EVERYWHERE, *MATHEMATICS, "layout", "machine", "program", "schema", "cpp"),
    *("runtime", "sim", "metalium", "cost", "host_tool", "kernel_tool", "ttnn", "ttrt"),
}
"""Packages that have to work without the compiler's IR library."""

TOP_LEVEL = {
    "ttrt": "ttrt",
    "pykernel": "pykernel",
    "ttnn_jit": "ttnn_jit",
    "ttmlir_schema": "schema files",
}
FORBIDDEN_STEMS = {"utils", "util", "misc", "common", "helpers", "helper"}
UPSTREAM_MODULES = {ROOT / "ttnn_jit" / "_src" / "utils.py"}
"""Modules that programs import by tt-mlir's own names."""
MAX_LINES = 1500


def package_of(path: Path) -> str:
    """The package of `MAY_IMPORT` that a source file belongs to."""
    first, *rest = path.relative_to(ROOT).with_suffix("").parts
    if first == "schema":
        return "schema files"
    if rest == ["__main__"]:
        return "tools"
    if rest[:2] == ["runtime", "ttrt"]:
        return "ttrt"
    return rest[0] if first == "ttmlir" else first


def imported_package(module: str) -> str | None:
    """The package of `MAY_IMPORT` that a module name belongs to; None if it is not ours."""
    first, _, rest = module.partition(".")
    if f"{module}.".startswith("ttmlir.runtime.ttrt."):
        return "ttrt"
    if first == "ttmlir":
        return rest.partition(".")[0] or None
    return TOP_LEVEL.get(first)


def imports_of(path: Path) -> Iterator[tuple[int, str]]:
    """Line and full name of everything a file imports, wherever in the file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                yield from ((node.lineno, f"{module}.{alias.name}") for alias in names)
            case ast.ImportFrom():
                yield node.lineno, "relative import"
            case ast.Constant(value=str(text)) if re.fullmatch(r"ttmlir(\.\w+)+:\w+", text):
                yield node.lineno, text.replace(":", ".")
            case _:
                pass


@cache
def tracked_files() -> tuple[Path, ...]:
    """Every file that belongs to the project."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("the list of files comes from git, and this is no git checkout")
    return tuple(ROOT / line for line in listed.stdout.splitlines() if (ROOT / line).is_file())


def sources() -> list[Path]:
    """The Python files of the product."""
    folders = {"ttmlir", "tools", "ttrt", "schema", "pykernel", "ttnn_jit"}
    return [
        path
        for path in tracked_files()
        if path.suffix == ".py" and path.relative_to(ROOT).parts[0] in folders
    ]


def violations(path: Path) -> Iterator[str]:
    """What a file imports against the rules."""
    if path in (ROOT / "ttmlir" / "__init__.py", ROOT / "ttmlir" / "runtime" / "__init__.py"):
        return
    package = package_of(path)
    allowed = {package, *EVERYWHERE, *MAY_IMPORT[package]}
    for line, module in imports_of(path):
        where = f"{path.relative_to(ROOT)}:{line}: {package}"
        if module == "relative import":
            yield f"{where} uses a relative import"
        elif module.partition(".")[0] == "xdsl" and package in NO_XDSL:
            yield f"{where} imports xdsl ({module})"
        elif (target := imported_package(module)) is not None and target not in allowed:
            yield f"{where} imports {target} ({module})"


def test_imports_point_one_way() -> None:
    """No file imports a package that depends on it, function-local imports included."""
    assert [each for path in sources() for each in violations(path)] == []


def module_of(path: Path) -> str:
    """The name that a file is imported by."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    if parts[0] == "tools":
        parts = ("ttmlir", *parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def needed_modules(path: Path, modules: set[str], types: bool = False) -> set[str]:
    """The modules that a file imports when it runs, or for its types, too, wherever it does."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    needed = set[str]()
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        match node:
            case ast.If(test=ast.Name(id="TYPE_CHECKING"), orelse=rest) if not types:
                pending.extend(rest)
            case ast.ImportFrom(module=str(module), names=names):
                for alias in names:
                    full = f"{module}.{alias.name}"
                    needed.add(full if full in modules else module)
            case ast.Import(names=names):
                needed.update(alias.name for alias in names)
            case _:
                pending.extend(ast.iter_child_nodes(node))
    return needed & modules - {module_of(path)}


def find_circles(needed: dict[str, set[str]]) -> set[tuple[str, ...]]:
    """Sets of modules each of which needs all others, directly or through them."""

    def reach(start: str) -> set[str]:
        seen = set[str]()
        pending = list(needed[start])
        while pending:
            module = pending.pop()
            if module not in seen:
                seen.add(module)
                pending.extend(needed[module])
        return seen

    reached = {module: reach(module) for module in needed}
    return {
        tuple(sorted(other for other in reached[module] if module in reached[other]))
        for module in needed
        if module in reached[module]
    }


def test_modules_import_in_no_circles() -> None:
    """No module needs, directly or through others, one that needs it."""
    files = {module_of(path): path for path in sources()}
    needed = {module: needed_modules(path, set(files)) for module, path in files.items()}
    assert find_circles(needed) == set()


def test_types_need_no_circles() -> None:
    """Neither do modules that know each other's types, imports for type checking included."""
    files = {module_of(path): path for path in sources()}
    needed = {
        module: needed_modules(path, set(files), types=True) for module, path in files.items()
    }
    assert find_circles(needed) == set()


def test_circles_are_found() -> None:
    """The search sees circles of any length, and nothing but their members."""
    needed = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a", "e"}, "e": set[str]()}
    assert find_circles(needed) == {("a", "b", "c")}


def test_every_package_has_a_rule() -> None:
    """A new package is added to the table before it is used."""
    packages = {package_of(path) for path in sources()} - {"__init__"}
    assert packages <= set(MAY_IMPORT)


@pytest.mark.parametrize(
    ("package", "text", "complaint"),
    [
        ("layout", "from ttmlir.dialects import tt", "layout imports dialects"),
        ("machine", "from ttmlir.layout.enums import Arch", "machine imports layout"),
        ("runtime", "def f():\n    import xdsl.ir", "runtime imports xdsl"),
        ("target", "import ttmlir.passes.core.manager", "target imports passes"),
        ("optable", "from . import row", "optable uses a relative import"),
    ],
)
def test_violations_are_found(
    package: str, text: str, complaint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check sees upward, function-local and relative imports."""
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    path = tmp_path / "ttmlir" / package / "module.py"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    assert any(complaint in each for each in violations(path))


def test_files_are_short_and_named_for_a_subject() -> None:
    """No Python file exceeds 1500 lines or is called utils, misc, common or helpers."""
    for path in tracked_files():
        if path.suffix == ".py":
            is_named = path.stem not in FORBIDDEN_STEMS or path in UPSTREAM_MODULES
            assert is_named, path
            assert len(path.read_text(encoding="utf-8").splitlines()) <= MAX_LINES, path


def test_no_file_names_a_place_on_one_machine() -> None:
    """Nothing depends on where a checkout or a home folder happens to be."""
    place = re.compile(rb"(?<![\w.%*/-])/(?:work|home|root|tmp/wt)(?![\w-])")
    for path in tracked_files():
        if path != Path(__file__).resolve():
            assert not place.search(path.read_bytes()), path


def test_modules_found_by_path_have_names_of_their_own() -> None:
    """Folders that tests and examples put on the import path hold no two modules of one name."""
    folders = (ROOT / "test" / "support", ROOT / "test" / "bench", ROOT / "examples")
    stems = [
        path.stem
        for path in tracked_files()
        if path.suffix == ".py"
        and not path.stem.startswith("__")
        and any(folder in path.parents for folder in folders)
    ]
    assert sorted(stems) == sorted(set(stems))
