"""Decides whether the tests notice a mutant."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

from children import run_in_child, scratch, write_job
from hook.statements import statement_keys
from mutant import Mutant
from product import ROOT
from recording import Coverage, file_of
from suite import run_lit, run_pytest

_QUICK_SECONDS = 6.0
_QUICK_TESTS = 40
_LIT_FILES = 12
_LIT_STARTS = 3
"""lit's configuration writes files that all its processes share, so a start can fail."""
_LISTS = ("test/names/", "test/docs/test_generated_pages.py::test_page_is_current")
"""Tests that compare whole tables with what was written before."""
_SLACK = 60.0
"""How long a child may take beyond its tests: it imports the product first."""


class Fate(StrEnum):
    """What became of a mutant."""

    NOTICED = "noticed"
    MISSED = "missed"


@dataclass(frozen=True)
class Verdict:
    """The fate of a mutant, and the test that noticed it or how many did not."""

    fate: Fate
    by: str


def judge(mutant: Mutant, coverage: Coverage, patience: float) -> Verdict:
    """Run the tests that can see a mutant: quick ones, files with RUN lines, all others.

    `patience` is how many seconds the others may take, by the record.
    """
    folder = scratch()
    job = folder / "job.json"
    path = ROOT / mutant.path
    write_job(job, {"changed": {str(path): mutant.change(path.read_bytes())}})
    tests = list(ranked_tests(mutant, coverage))
    files = [name for name in tests if "::" not in name]
    names = [name for name in tests if "::" in name]
    quick = list(affordable(names[:_QUICK_TESTS], coverage.seconds, _QUICK_SECONDS))
    slower = (each for each in names if each not in quick)
    rest = list(affordable(slower, coverage.seconds, patience))
    failed = (
        _run_sound_tests(quick, coverage, job, folder)
        or _run_lit(files[:_LIT_FILES], job, folder)
        or _run_sound_tests(rest, coverage, job, folder)
    )
    if failed:
        return Verdict(Fate.NOTICED, failed)
    ran = len(quick) + len(rest) + len(files[:_LIT_FILES])
    return Verdict(Fate.MISSED, f"{ran} of {len(tests)} tests")


def affordable(names: Iterable[str], seconds: Mapping[str, float], budget: float) -> Iterator[str]:
    """The tests from the first on that take no longer than `budget` together."""
    for name in names:
        budget -= seconds[name] + 0.01
        if budget < 0:
            return
        yield name


def _run_sound_tests(names: list[str], coverage: Coverage, job: Path, folder: Path) -> str | None:
    """The first of some tests that fails because of the change, and not without it as well."""
    names = [name for name in names if _is_sound.get(name, True)]
    while failed := _run_pytest(names, coverage, job, folder):
        if failed not in names:
            return failed
        if failed not in _is_sound:
            unchanged = folder / "unchanged.json"
            write_job(unchanged, {"changed": {}})
            _is_sound[failed] = _run_pytest([failed], coverage, unchanged, folder) is None
        if _is_sound[failed]:
            return failed
        names = names[names.index(failed) + 1 :]
    return None


_is_sound: dict[str, bool] = {}
"""Whether a test passes on the product as it is; it may not here, or not since it was recorded."""


def _run_pytest(names: list[str], coverage: Coverage, job: Path, folder: Path) -> str | None:
    if not names:
        return None
    report = folder / "pytest.json"
    report.unlink(missing_ok=True)
    seconds = {name: coverage.seconds[name] for name in names}
    budget = _SLACK + 3 * sum(seconds.values())
    finished = run_in_child(
        job,
        folder / "pytest.log",
        budget + _SLACK,
        lambda: run_pytest(seconds, budget, report),
    )
    if not finished:
        return "endless"
    if not report.exists():
        return "the process ended"
    return json.loads(report.read_text(encoding="utf-8"))["failed"]


def _run_lit(files: list[str], job: Path, folder: Path) -> str | None:
    if not files:
        return None
    report = folder / "lit.json"
    report.unlink(missing_ok=True)
    for _ in range(_LIT_STARTS):
        finished = run_in_child(
            job,
            folder / "lit.log",
            _SLACK * 2,
            lambda: run_lit(files, report, folder, lambda: None),
        )
        if not finished:
            return "endless"
        if report.exists():
            break
    else:
        return "lit does not start"
    tests = json.loads(report.read_text(encoding="utf-8"))["tests"]
    failed = (test["name"] for test in tests if test["code"] in ("FAIL", "UNRESOLVED", "TIMEOUT"))
    return next((f"test/{name.partition(' :: ')[2]}" for name in failed), None)


def ranked_tests(mutant: Mutant, coverage: Coverage) -> Iterator[str]:
    """The tests that may see a mutant, the likeliest and fastest first, from one file each.

    Those that execute the changed statement come first, then those of the same files, which may
    have found its result in a cache. What importing executes, no test executes: there, those come
    first that name what is changed, then those of whole tables, those that use the module, and all
    others.
    """
    yield from dict.fromkeys(
        name for tier in _tiers(mutant, coverage) for name in one_of_each_file(tier, coverage)
    )


def _tiers(mutant: Mutant, coverage: Coverage) -> Iterator[set[str]]:
    everything = set(coverage.seconds)
    lists = {name for name in everything if name.startswith(_LISTS)}
    if mutant.statement is not None:
        key = _keys(mutant.path)[mutant.statement]
        executing = coverage.tests_of_statement(mutant.path, key)
        yield _akin(mutant, executing)
        yield {name for name in executing if f"/{mutant.package}/" in name}
        yield executing
        # Tables may be made by functions, which run once and then for every test.
        yield lists
        files = {file_of(name) for name in executing}
        yield {name for name in everything if file_of(name) in files}
        if executing:
            return
    words = _changed_words(mutant)
    users = coverage.tests_of_module(mutant.path)
    naming = {name for name in everything if any(word in name for word in words)}
    texts = {name for name in everything if any(word in _text(file_of(name)) for word in words)}
    near = {name for name in everything if f"/{mutant.package}/" in name}
    yield naming & users
    yield lists
    yield _akin(mutant, everything)
    yield naming
    yield texts & users
    yield texts & near
    yield texts
    yield users
    if not users:
        yield near


def _akin(mutant: Mutant, names: set[str]) -> set[str]:
    """The tests in the three files whose paths have most words in common with the module's."""
    own = words_of_path(mutant.path)
    files = {file_of(name) for name in names}
    alike = {file: len(own & words_of_path(file)) for file in files}
    best = sorted(files, key=lambda file: (-alike[file], len(words_of_path(file)), file))[:3]
    return {name for name in names if file_of(name) in best}


def words_of_path(path: str) -> set[str]:
    """What the folders of a file below the first, and the file, are called."""
    return {*re.findall(r"[a-z0-9]+", path.partition("/")[2])} - {"test", "py", "mlir"}


def one_of_each_file(names: set[str], coverage: Coverage) -> Iterator[str]:
    """The fastest of each file, then the next of each."""
    by_file: dict[str, list[str]] = {}
    for name in sorted(names, key=lambda each: (coverage.seconds[each] + _imports(each), each)):
        by_file.setdefault(file_of(name), []).append(name)
    while by_file:
        for file, left in [*by_file.items()]:
            yield left.pop(0)
            if not left:
                del by_file[file]


def _imports(name: str) -> float:
    """Seconds that the file of a test takes to import frameworks."""
    text = _text(file_of(name))
    return 1.0 * ("torch" in text) + 2.0 * ("jax" in text)


def _changed_words(mutant: Mutant) -> set[str]:
    """Names and texts that the change takes away or moves, and where it stands."""
    words = re.findall(r"[A-Za-z_][\w.-]{2,}", mutant.description)
    return {*words, *mutant.scope.split(".")} - {"", "None", "True", "False", "name", "self"}


@cache
def _text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


@cache
def _keys(path: str) -> list[str]:
    return statement_keys(ast.parse((ROOT / path).read_bytes()))
