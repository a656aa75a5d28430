"""The pages are pleasant to read as text, too."""

from __future__ import annotations

from pathlib import Path

import pytest
from markdown_text import WIDTH, prose_lines

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_prose_wraps(page: Path) -> None:
    """Lines of prose have at most 100 characters, unless one word or link is longer."""
    text = page.read_text(encoding="utf-8")
    lines = text.split("\n")
    long = [
        f"{page.name}:{number}: {lines[number - 1]}"
        for number in prose_lines(text)
        if len(lines[number - 1]) > WIDTH and lines[number - 1].strip().count(" ") > 3
    ]
    assert long == []


def test_readme_lists_every_package() -> None:
    """The tree names each folder and module of the product."""
    tree = (ROOT / "README.md").read_text(encoding="utf-8").partition("## The tree")[2]
    packages = {path.parent.name for path in (ROOT / "ttmlir").glob("*/__init__.py")}
    assert {name for name in packages if f"ttmlir/{name}/" not in tree} == set()
