"""Run the tests that execute what changed: `python test/mutation/changed.py --base main`.

Which test executes which statement stands in the record that `test/mutation --record` makes. For
files of tests that were not recorded, their imports say how near they are to what changed.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from children import lit_files
from hook.statements import number_statements, statement_keys
from judge import affordable, one_of_each_file, words_of_path
from product import ROOT, import_packages
from recording import Coverage, file_of, outdated_files

CHOSEN = "TTMLIR_CHOSEN_TESTS"
"""Environment variable: path of what `main` tells the processes that run tests, in JSON."""

DOCUMENTS = "test/docs/test_documents.py::test_blocks_of_document_work"
_FILES = 24
"""How many files of tests are taken because of their imports; most changes are seen in a few."""


@dataclass
class Change:
    """A file, the numbers of its lines that went and of those that came, and its text before."""

    path: str
    before: str = ""
    gone: set[int] = field(default_factory=set[int])
    new: set[int] = field(default_factory=set[int])


def find_changes(root: Path, base: str) -> list[Change]:
    """What differs from the commit where the branch left `base`, files that git ignores aside."""

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(root), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    try:
        start = git("merge-base", base, "HEAD").strip()
    except subprocess.CalledProcessError as error:
        sys.exit(f"{error.stderr.strip()}\nmake test-changed BASE=... names a branch or commit")
    changes: dict[str, Change] = {}
    change = Change("")
    options = ("-U0", "--no-renames", "--no-color", "--no-ext-diff")
    for line in git("diff", *options, start).split("\n"):
        if header := re.match(r'diff --git "?a/(.*?)"? "?b/', line):
            change = changes[header[1]] = Change(header[1])
        elif hunk := re.match(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", line):
            first, count, new, more = (int(each or 1) for each in hunk.groups())
            change.gone.update(range(first, first + count))
            change.new.update(range(new, new + more))
    kept = {*git("ls-tree", "-r", "--name-only", start).splitlines()} & changes.keys()
    for path in kept:
        if path.endswith(".py"):
            changes[path].before = git("show", f"{start}:{path}")
    for path in git("ls-files", "--others", "--exclude-standard").splitlines():
        changes[path] = Change(path)
    return [changes[path] for path in sorted(changes)]


def keys_of_lines(text: str, lines: set[int]) -> tuple[set[str], bool]:
    """The innermost statements of functions on these lines; True if other lines are among them."""
    tree = ast.parse(text)
    keys = statement_keys(tree)
    spans = [
        (node.end_lineno or node.lineno, -node.lineno, key)
        for key, (_, node) in zip(keys, number_statements(tree), strict=True)
    ]
    found: set[str] = set()
    outside = False
    written = text.splitlines()
    for line in lines:
        # Of those around a line, the one that starts last is the innermost.
        around = [span for span in spans if -span[1] <= line <= span[0]]
        if around:
            innermost = max(around, key=lambda span: (-span[1], -span[0]))
            found.add(innermost[2])
        elif line <= len(written) and re.match(r"\s*[^\s#]", written[line - 1]):
            outside = True
    return found, outside


def executing_tests(change: Change, after: str, coverage: Coverage) -> list[set[str]]:
    """The tests that execute what changed, then those that execute anything else of the module.

    A new statement is executed by the tests that execute others of its function. What is outside
    functions is executed where the module is imported, so all its tests may see that.
    """
    keys: set[str] = set()
    outside = not (change.gone or change.new)
    for text, lines in ((change.before, change.gone), (after, change.new)):
        found, other = keys_of_lines(text, lines)
        keys |= found
        outside |= other
    found = {key: coverage.tests_of_statement(change.path, key) for key in keys}
    known = {*statement_keys(ast.parse(change.before)), *statement_keys(ast.parse(after))}
    for key in [key for key, tests in found.items() if not tests]:
        scope = key.partition(": ")[0]
        for other in known:
            if other.startswith(f"{scope}: "):
                found[key] |= coverage.tests_of_statement(change.path, other)
    executing = set[str]().union(*found.values())
    users = coverage.tests_of_module(change.path)
    return [executing, users if outside or not executing else set()]


class Imports:
    """Which file imports which, by the names of modules that stand in it."""

    def __init__(self, root: Path, packages: Mapping[str, str]) -> None:
        """Read the files of packages, by the names they are imported under, and of the tests."""
        modules: dict[str, str] = {}
        for name, folder in [*packages.items(), ("", "test/support")]:
            for path in sorted((root / folder).rglob("*.py")):
                parts = path.relative_to(root / folder).with_suffix("").parts
                dotted = ".".join((*filter(None, (name,)), *parts)).removesuffix(".__init__")
                modules[dotted] = str(path.relative_to(root))
        self.users: dict[str, set[str]] = {}
        tests = (str(path.relative_to(root)) for path in (root / "test").rglob("test_*.py"))
        for path in {*modules.values(), *tests}:
            for name in _imported_names((root / path).read_text(encoding="utf-8")):
                if name in modules:
                    self.users.setdefault(modules[name], set()).add(path)

    def distances(self, path: str) -> dict[str, int]:
        """The files that import a file, and over how many others."""
        found = {path: 0}
        front = [path]
        while front:
            users = {user for each in front for user in self.users.get(each, ())}
            front = sorted(users - found.keys())
            found |= dict.fromkeys(front, 1 + max(found.values()))
        return found


def _imported_names(text: str) -> Iterator[str]:
    for package, several, some in re.findall(
        r"^\s*from\s+([\w.]+)\s+import\s+(?:\(([^)]*)\)|(.*))", text, re.MULTILINE
    ):
        yield package
        yield from (f"{package}.{name}" for name in re.findall(r"\w+", several + some))
    yield from re.findall(r"^\s*import\s+([\w.]+)", text, re.MULTILINE)
    # Tables name modules as "ttmlir.passes.cse:CsePass".
    yield from re.findall(r"\"(ttmlir(?:\.\w+)+)[:\"]", text)


def near_files(path: str, imports: Imports, root: Path) -> list[str]:
    """The files of tests that are likely to see a change of a file, the likeliest first."""
    own = words_of_path(path)
    name = Path(path).name
    word = re.compile(rf"\b{re.escape(Path(path).stem.replace('_', '-'))}\b")
    distances = imports.distances(path)
    ranks: list[tuple[int, int, str]] = []
    for test in sorted((root / "test").rglob("*")):
        relative = str(test.relative_to(root))
        alike = -len(own & words_of_path(relative))
        if re.fullmatch(r"test_.*\.py", test.name):
            if relative in distances:
                ranks.append((alike, distances[relative], relative))
            elif not path.endswith(".py") and name in test.read_text(encoding="utf-8"):
                ranks.append((alike, 1, relative))
        elif test.suffix == ".mlir" and path.endswith(".py"):
            if word.search(test.read_text(encoding="utf-8", errors="replace")):
                ranks.append((alike, 1, relative))
    return [test for _, _, test in sorted(ranks)][:_FILES]


def is_test(path: str) -> bool:
    """True for files that pytest collects."""
    return bool(re.search(r"(^|/)test_[^/]*\.py$", path)) or path in lit_files()


def choose(
    changes: Iterable[Change], coverage: Coverage, recorded: set[str], imports: Imports, root: Path
) -> list[str]:
    """Tests and files of tests for changes, the likeliest to notice a fault first."""
    own: list[str] = []
    tiers: list[list[str]] = [[], []]
    near: list[str] = []
    for change in changes:
        there = (root / change.path).is_file()
        if change.path.endswith(".md"):
            own.append(f"{DOCUMENTS}[{Path(change.path).name}]")
        elif there and is_test(change.path):
            own.append(change.path)
            continue
        elif there and change.path.endswith(".py") and not change.path.startswith("test/"):
            after = (root / change.path).read_text(encoding="utf-8")
            for tier, tests in zip(tiers, executing_tests(change, after, coverage), strict=True):
                tier.extend(one_of_each_file(tests, coverage))
        near += [test for test in near_files(change.path, imports, root) if test not in recorded]
    chosen = dict.fromkeys([*own, *tiers[0], *near, *tiers[1]])
    files = {each for each in chosen if "::" not in each and each not in coverage.seconds}
    return [each for each in chosen if each in files or file_of(each) not in files]


def main(arguments: list[str] | None = None) -> int:
    """Choose tests and run them; the exit status is that of pytest, 0 where none is concerned."""
    parser = argparse.ArgumentParser("test-changed", description=__doc__)
    parser.add_argument("--base", default="main", help="branch or commit to compare with")
    parser.add_argument("--seconds", type=float, default=60.0, help="of tests, on each core")
    parser.add_argument("--list", action="store_true", help="print the tests instead")
    options, rest = parser.parse_known_args(arguments)
    changes = find_changes(ROOT, options.base)
    coverage = Coverage.load()
    recorded = {file_of(name) for name in coverage.seconds} - {*outdated_files()}
    tests = choose(changes, coverage, recorded, Imports(ROOT, import_packages()), ROOT)
    cores = len(os.sched_getaffinity(0))
    known = {name: coverage.seconds.get(name, 0.0) for name in tests}
    kept = list(affordable(tests, known, options.seconds * cores))
    left = f", {len(tests) - len(kept)} more would take longer" if kept != tests else ""
    how = "by what they execute" if recorded else "by what they import: there is no record"
    print(f"{len(changes)} files changed; {len(kept)} tests or files of tests {how}{left}")
    if options.list or not kept:
        print(*kept, sep="\n")
        return 0
    names = [f"{name}::lit" if name.endswith(".mlir") else name for name in kept]
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({"tests": names, "end": time.time() + options.seconds}, file)
        file.flush()
        path = os.pathsep.join(filter(None, [str(Path(__file__).parent), os.getenv("PYTHONPATH")]))
        command = [sys.executable, "-m", "pytest", "-q", "-n", "auto", "--dist", "worksteal"]
        files = dict.fromkeys(file_of(name) for name in names)
        status = subprocess.run(
            [*command, "-p", "changed", *rest, *(file for file in files if (ROOT / file).exists())],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": path, CHOSEN: file.name},
            check=False,
        ).returncode
    return 0 if status == pytest.ExitCode.NO_TESTS_COLLECTED else status


def pytest_collection_modifyitems(items: list[pytest.Item], config: pytest.Config) -> None:
    """Keep what was chosen, in its order: this module is a plugin where `CHOSEN` says what."""
    ranks = {name: rank for rank, name in enumerate(_job()["tests"])}
    chosen = {item: ranks.get(item.nodeid, ranks.get(file_of(item.nodeid))) for item in items}
    config.hook.pytest_deselected(items=[item for item in items if chosen[item] is None])
    kept = [(rank, item) for item, rank in chosen.items() if rank is not None]
    items[:] = [item for _, item in sorted(kept, key=lambda each: each[0])]


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave out what there is no time for."""
    if time.time() > _job()["end"]:
        pytest.skip("the time is up; `--seconds` gives more")


def _job() -> dict:
    with open(os.environ[CHOSEN], encoding="utf-8") as file:
        return json.load(file)


if __name__ == "__main__":
    sys.exit(main())
