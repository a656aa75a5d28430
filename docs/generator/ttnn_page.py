"""The page with all names of ttnn: which are here, and which arguments are taken and ignored."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from markdown_text import wrap

from ttmlir import ttnn
from ttmlir.ttnn.operations.signature import IGNORED
from ttmlir.ttnn.registry import known_names

NAMES = Path(__file__).with_name("ttnn_names.txt")

INTRODUCTION = """\
# The names of ttnn

The names of ttnn by subject: {here} are here, {missing} are not yet. [ttnn.md](ttnn.md) shows how
to use them. A name that is not here says so when it is used, and names the nearest that is.
"""


def read_subjects() -> dict[str, list[str]]:
    """The names of ttnn by subject, in the order of the file."""
    subjects: dict[str, list[str]] = {}
    names: list[str] = []
    for line in NAMES.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            names = subjects.setdefault(line.strip("[]"), [])
        elif not line.startswith("#"):
            names.extend(line.split())
    return subjects


def is_here(name: str) -> bool:
    """Whether a name, which may be that of a member of a submodule, can be used."""
    found: object = ttnn
    for part in name.split("."):
        found = getattr(found, part, None)
    return found is not None


def names_here() -> list[str]:
    """The names that can be used."""
    return [name for names in read_subjects().values() for name in names if is_here(name)]


def ttnn_page() -> str:
    """The page."""
    names = [name for names in read_subjects().values() for name in names]
    here = sum(map(is_here, names))
    introduction = INTRODUCTION.format(here=here, missing=len(names) - here)
    return "\n".join([introduction, *_subjects(), *_ignored()]) + "\n"


def _subjects() -> Iterator[str]:
    for subject, names in read_subjects().items():
        yield f"## {subject}\n"
        for what, state in (("", True), ("Not yet: ", False)):
            chosen = [f"`{name}`" for name in names if is_here(name) is state]
            if chosen:
                yield wrap(f"{what}{', '.join(chosen)}.") + "\n"
    listed = {name for names in read_subjects().values() for name in names}
    others = [f"`{name}`" for name in known_names() if name not in listed]
    if others:
        yield "## Others\n"
        yield wrap(f"{', '.join(others)}.") + "\n"


def _ignored() -> Iterator[str]:
    yield "## Arguments that are ignored\n"
    yield wrap(
        "These are taken and change nothing; all others that an operation does not have are "
        "errors. What they say on a card:"
    )
    yield ""
    by_meaning: dict[str, list[str]] = {}
    for name, meaning in sorted(IGNORED.items()):
        by_meaning.setdefault(meaning, []).append(f"`{name}`")
    for meaning, names in by_meaning.items():
        yield f"- {', '.join(names)}: {meaning}"
