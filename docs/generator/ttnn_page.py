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

The names of ttnn by subject, and whether they are here; [ttnn.md](ttnn.md) shows how they are used.
A name that is not here says so when it is used, and names the nearest that is. Not listed are the
gradients (about 100 names that end in `_bw`) and `ttnn.operations.moreh`, which are not here.
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
    return "\n".join([INTRODUCTION, *_table(), "", *_subjects(), *_ignored()]) + "\n"


def _table() -> Iterator[str]:
    yield "| Subject | Here | Not yet |"
    yield "|---|---|---|"
    total = [0, 0]
    for subject, names in read_subjects().items():
        here = sum(map(is_here, names))
        total = [total[0] + here, total[1] + len(names) - here]
        yield f"| {subject} | {here} | {len(names) - here} |"
    yield f"| all | {total[0]} | {total[1]} |"


def _subjects() -> Iterator[str]:
    for subject, names in read_subjects().items():
        yield f"## {subject}\n"
        for what, state in (("Here", True), ("Not here yet", False)):
            chosen = [f"`{name}`" for name in names if is_here(name) is state]
            if chosen:
                yield wrap(f"{what}: {', '.join(chosen)}.") + "\n"
    listed = {name for names in read_subjects().values() for name in names}
    others = [f"`{name}`" for name in known_names() if name not in listed]
    if others:
        yield "## Others\n"
        yield wrap(f"Here: {', '.join(others)}.") + "\n"


def _ignored() -> Iterator[str]:
    yield "## Arguments that are ignored\n"
    yield wrap(
        "These are taken and change nothing; all others that an operation does not have are errors."
    )
    yield "\n| Argument | What it says on a card |"
    yield "|---|---|"
    for name, meaning in sorted(IGNORED.items()):
        yield f"| `{name}` | {meaning} |"
