"""Which test executes which statement of the product, found out once and kept in the cache."""

from __future__ import annotations

import ast
import hashlib
import os
import pickle
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from children import lit_files, run_in_child, scratch, write_job
from hook.import_hook import share_hits
from hook.statements import statement_keys
from product import CACHE, ROOT, TESTS, source_files
from suite import PYTEST, run_lit, use_fixed_examples

FOLDER = CACHE / "recordings"
_NEVER = 24 * 3600.0


@dataclass
class Recording:
    """What some files of tests execute; `bits` has a row of packed bits for each test."""

    hashes: dict[str, str]
    """The files of tests and what was in them."""
    places: dict[str, dict[str, int]]
    """Column of each statement: by path of the module and key of the statement."""
    seconds: dict[str, float] = field(default_factory=dict)
    """The tests that pass and how long each takes."""
    rows: list[np.ndarray] = field(default_factory=list)

    @property
    def bits(self) -> np.ndarray:
        """All rows together."""
        return np.stack(self.rows)


def test_files() -> dict[str, str]:
    """The files of tests and a hash of each."""
    paths = [str(path.relative_to(ROOT)) for path in sorted(TESTS.rglob("test_*.py"))]
    return {path: _hash(path) for path in [*paths, *lit_files()]}


def _hash(path: str) -> str:
    return hashlib.sha256((ROOT / path).read_bytes()).hexdigest()


@cache
def recordings() -> list[Recording]:
    """All recordings, the oldest first."""
    paths = sorted(FOLDER.glob("*.pickle"), key=lambda path: path.stat().st_mtime_ns)
    return [pickle.loads(path.read_bytes()) for path in paths]


def outdated_files() -> list[str]:
    """Files of tests that were never recorded as they are."""
    known: dict[str, str] = {}
    for each in recordings():
        known.update(each.hashes)
    return [path for path, digest in test_files().items() if known.get(path) != digest]


def record(files: Sequence[str], jobs: int) -> None:
    """Run the tests in `files` and keep what they execute."""
    shares = [list(files[start::jobs]) for start in range(jobs)]
    pids = []
    for share in filter(None, shares):
        pid = os.fork()
        if pid == 0:
            try:
                _record_share(share)
            finally:
                os._exit(0)
        pids.append(pid)
    for pid in pids:
        os.waitpid(pid, 0)
    recordings.cache_clear()


def _record_share(files: list[str]) -> None:
    places, bases, count = _layout()
    folder = scratch()
    hits = folder / "hits"
    hits.write_bytes(bytes(count))
    codes = CACHE / "codes"
    codes.mkdir(parents=True, exist_ok=True)
    job = folder / "job.json"
    write_job(job, {"bases": bases, "hits": str(hits), "codes": str(codes)})
    recording = Recording({path: _hash(path) for path in files}, places)
    recorder = _Recorder(recording, hits)
    python = [path for path in files if path.endswith(".py")]
    kept = FOLDER / f"{time.time_ns()}-{os.getpid()}.pickle"

    def run_python() -> None:
        pytest.main([*PYTEST, *python], plugins=[recorder])
        kept.write_bytes(pickle.dumps(recording))

    FOLDER.mkdir(parents=True, exist_ok=True)
    if python:
        run_in_child(job, CACHE / f"record-{os.getpid()}.log", _NEVER, run_python)
        recording = pickle.loads(kept.read_bytes())
        recorder = _Recorder(recording, hits)
    for path in files:
        if path.endswith(".mlir"):
            _record_lit(path, recorder, job, folder)
    kept.write_bytes(pickle.dumps(recording))


def _record_lit(path: str, recorder: _Recorder, job: Path, folder: Path) -> None:
    report = folder / "lit.json"
    report.unlink(missing_ok=True)
    start = time.monotonic()
    run_in_child(
        job,
        folder / "lit.log",
        _NEVER,
        lambda: run_lit([path], report, folder, recorder.clear),
    )
    if report.exists() and '"code": "PASS"' in report.read_text(encoding="utf-8"):
        recorder.keep(path, time.monotonic() - start)
    else:
        print(f"{path} does not pass", flush=True)


class _Recorder:
    """A plugin of pytest: after each test it keeps what was executed."""

    def __init__(self, recording: Recording, hits: Path) -> None:
        self._recording = recording
        self._hits = share_hits(str(hits))
        self._passed = True

    def clear(self) -> None:
        """Forget what was executed."""
        self._hits[:] = bytes(len(self._hits))

    def keep(self, name: str, seconds: float) -> None:
        """Keep what was executed since the last `clear` for a test."""
        hits = np.frombuffer(self._hits[:], np.uint8)
        self._recording.rows.append(np.packbits(hits))
        self._recording.seconds[name] = seconds

    def pytest_collection_modifyitems(self) -> None:
        """Draw the same examples as later."""
        use_fixed_examples()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Run a test between `clear` and `keep`."""
        self.clear()
        self._passed = True
        start = time.monotonic()
        result = yield
        if self._passed:
            self.keep(item.nodeid, time.monotonic() - start)
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Tests that fail or are skipped cannot notice anything."""
        self._passed = self._passed and report.passed


def _layout() -> tuple[dict[str, dict[str, int]], dict[str, int], int]:
    places: dict[str, dict[str, int]] = {}
    bases: dict[str, int] = {}
    count = 0
    for source in source_files():
        keys = statement_keys(ast.parse(source.read()))
        places[source.path] = {key: count + number for number, key in enumerate(keys)}
        bases[str(ROOT / source.path)] = count
        count += len(keys)
    return places, bases, count


@dataclass(frozen=True)
class Coverage:
    """The tests that are known to pass, and those that execute something."""

    seconds: dict[str, float]
    _executed: Any

    @staticmethod
    def load() -> Coverage:
        """The newest record of each file of tests that is still there."""
        newest: dict[str, int] = {}
        for number, each in enumerate(recordings()):
            newest.update(dict.fromkeys(each.hashes, number))
        there = test_files()
        seconds: dict[str, float] = {}
        parts: list[tuple[Recording, np.ndarray, list[str]]] = []
        for number, each in enumerate(recordings()):
            if not each.rows:
                continue
            chosen = [
                (row, name)
                for row, name in enumerate(each.seconds)
                if newest.get(file_of(name)) == number and file_of(name) in there
            ]
            if chosen:
                rows, names = zip(*chosen, strict=True)
                parts.append((each, each.bits[list(rows)], list(names)))
                seconds |= {name: each.seconds[name] for name in names}
        return Coverage(seconds, parts)

    def tests_of_statement(self, path: str, key: str) -> set[str]:
        """The tests that execute a statement."""
        found: set[str] = set()
        for recording, bits, names in self._executed:
            column = _places_of(recording, path).get(key)
            if column is not None:
                executed = bits[:, column >> 3] >> (7 - column % 8) & 1
                found.update(names[row] for row in np.flatnonzero(executed))
        return found

    def tests_of_module(self, path: str) -> set[str]:
        """The tests that execute any function of a module."""
        found: set[str] = set()
        for recording, bits, names in self._executed:
            columns = _places_of(recording, path).values()
            if columns:
                part = bits[:, min(columns) >> 3 : (max(columns) >> 3) + 1]
                found.update(names[row] for row in np.flatnonzero(part.any(axis=1)))
        return found


def _places_of(recording: Recording, path: str) -> dict[str, int]:
    """The statements of a module, which may have moved to another folder since."""
    if path in recording.places:
        return recording.places[path]
    name = path.rpartition("/")[2]
    same = [places for each, places in recording.places.items() if each.endswith(f"/{name}")]
    return same[0] if len(same) == 1 else {}


def file_of(test: str) -> str:
    """The file that a test stands in."""
    return test.partition("::")[0]
