"""What was found of each model: `test/model_zoo/results.json`, which the page is made of."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Mapping
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from model_zoo.catalogue import ENTRIES
from model_zoo.entry import LIBRARIES, Entry, frameworks
from model_zoo.measure import Finding

ROOT = Path(__file__).resolve().parents[3]
RESULTS = ROOT / "test" / "model_zoo" / "results.json"

_PRODUCT = ("ttmlir", "tools", "schema")


def read_results() -> dict[str, Any]:
    """`versions` of packages and `models` by their keys."""
    if not RESULTS.exists():
        return {"versions": {}, "models": {}}
    return json.loads(RESULTS.read_text(encoding="utf-8"))


def write_results(models: Mapping[str, Mapping[str, Any]]) -> None:
    """Sorted, without models that the catalogue has no more."""
    results = {
        "versions": {name: version(name) for name in frameworks()},
        "models": {key: models[key] for key in sorted(models) if key in ENTRIES},
    }
    RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


def as_result(entry: Entry, finding: Finding, compiler: str) -> dict[str, Any]:
    """What is kept of a finding, with what it depends on."""
    return {"kind": entry.kind, **finding.as_json(), "inputs": fingerprint(entry, compiler)}


def fingerprint(entry: Entry, compiler: str) -> str:
    """Changes with the compiler, the entry's module, and the versions of its packages."""
    source = inspect.getsourcefile(entry.make)
    assert source is not None, "entries are written in files"
    versions = [version(name) for name in LIBRARIES[entry.library]]
    return _digest(compiler, Path(source).read_text(encoding="utf-8"), *versions)


def fingerprint_compiler() -> str:
    """Changes with every file of the product."""
    files = sorted(path for room in _PRODUCT for path in (ROOT / room).rglob("*.[pf][yb]*"))
    sources = (path for path in files if path.suffix in (".py", ".fbs"))
    return _digest(*(path.read_text(encoding="utf-8") for path in sources))


def missing_libraries() -> list[str]:
    """Packages that models need and that are not installed."""
    return [name for name in frameworks() if find_spec(name) is None]


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:12]
