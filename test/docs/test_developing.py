"""docs/developing.md: the files that it names are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "developing.md").read_text(encoding="utf-8")
PATHS = sorted(set(re.findall(r"`([\w./*-]+(?:\.(?:py|fbs|toml|json|txt|md)|/))`", PAGE)))
FOLDERS = (
    "",
    "docs",
    "ttmlir",
    "ttmlir/cpp",
    "ttmlir/machine",
    "ttmlir/passes",
    "ttmlir/passes/placement",
    "ttmlir/sim/groups",
    "ttmlir/ttnn/operations",
)
"""Where names of the page without a folder of their own are."""


def test_paths_are_read() -> None:
    """Most of them are found in the page."""
    assert len(PATHS) > 50


@pytest.mark.parametrize("path", PATHS)
def test_named_file_exists(path: str) -> None:
    """A file or folder of this name is in the checkout."""
    assert any(any((ROOT / folder).glob(path.rstrip("/"))) for folder in FOLDERS)
