"""The product's source files and the packages that they are counted under."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "test"
CACHE = ROOT / "build" / "mutation"
"""What is slow to find out: which tests execute what, and verdicts of this and earlier runs."""


@dataclass(frozen=True)
class SourceFile:
    """A module of the product: its path from the root, and its package."""

    path: str
    package: str

    def read(self) -> bytes:
        """The file as it stands."""
        return (ROOT / self.path).read_bytes()


@cache
def import_packages() -> dict[str, str]:
    """Folders of the product by the name that they are imported under."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return project["tool"]["setuptools"]["package-dir"]


@cache
def source_files() -> tuple[SourceFile, ...]:
    """All modules of the product in alphabetical order."""
    paths = (
        path for folder in import_packages().values() for path in (ROOT / folder).rglob("*.py")
    )
    names = sorted(str(path.relative_to(ROOT)) for path in paths)
    return tuple(SourceFile(name, _package_of(name)) for name in names)


def _package_of(path: str) -> str:
    """The folder below `ttmlir`; all that lies elsewhere, or in no folder, is the tools'."""
    first, *rest = path.split("/")
    return rest[0] if first == "ttmlir" and len(rest) > 1 else "tools"
