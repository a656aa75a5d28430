"""Links of the pages lead to files and headings that exist."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


@cache
def text_of(page: Path) -> str:
    """A page without its blocks of code."""
    return re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)


@cache
def anchors_of(page: Path) -> set[str]:
    """What links can name in a page: its headings, as GitHub spells them."""
    headings = re.findall(r"^#+ (.*)$", text_of(page), re.M)
    texts = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", each) for each in headings)
    plain = (re.sub(r"[^\w\- ]", "", each) for each in texts)
    return {each.lower().replace(" ", "-") for each in plain}


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_links_lead_somewhere(page: Path) -> None:
    """To a file or folder of the checkout, and to a heading of it if they name one."""
    broken: list[str] = []
    for link in re.findall(r"\]\(([^)\s]+)\)", text_of(page)):
        if link.startswith(("http://", "https://")):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists() or (anchor and anchor not in anchors_of(target)):
            broken.append(link)
    assert broken == []
