"""The page of names of TT-Metalium's host API: C++ of 2024 and of 2026, and Python.

What stands in the Python column of `metalium_names.txt` is looked up in the package, and a public
name that no row has is an error, so that the page says what there is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from ttmlir.metalium import Device
from ttmlir.metalium.names import NAMESPACES
from ttmlir.sim.execution.run import CommandQueue

INTRODUCTION = """\
# From C++ to Python: names of TT-Metalium's host API

`ttmlir.metalium` has the names of C++ with the parameters of C++ in their order. This page lists
them all: C++ of 2024, C++ of 2026 if it differs, and Python where these rules do not give it.
[metalium.md](metalium.md) shows programs; [host_programs.md](host_programs.md) runs them in C++.

- `tt::`, `tt::tt_metal::` and `tt::constants::` are left out. `distributed::`, `detail::` and
  `experimental::` become modules: `from ttmlir.metalium import *` and then
  `distributed.EnqueueMeshWorkload(...)`, or
  `from ttmlir.metalium.distributed import EnqueueMeshWorkload`.
- `->` and `::` become `.`; there are no pointers: `*buffer`, `buffer.get()` and `&program` are the
  object itself, `std::move(program)` is `program`.
- Designated initializers become arguments with names: `ComputeConfig{.math_fidelity = x}` is
  `ComputeConfig(math_fidelity=x)`; [below](#options-of-configurations) are their names.
- `CoreCoord{0, 1}` may be the pair `(0, 1)`. Vectors are NumPy arrays, or lists of integers, which
  are words of 32 bits; maps are dictionaries. A vector that C++ fills is an array of the right
  size, a list, or `None`; calls that read return the array, too.
- What stops a C++ program (`TT_FATAL`) raises `MetaliumError`, and what goes wrong in a kernel
  raises `SimError`, with the line of the kernel.
"""

ABSENT = "What there is not"
"""The table of names that have no counterpart."""

_CLASSES = {
    "device": "Device",
    "mesh_device": "distributed.MeshDevice",
    "buffer": "Buffer",
    "mesh_buffer": "distributed.MeshBuffer",
    "mesh_cq": "distributed.MeshCommandQueue",
    "socket": "distributed.MeshSocket",
    "h2d_socket": "distributed.H2DSocket",
    "d2h_socket": "distributed.D2HSocket",
    "workload": "distributed.MeshWorkload",
    "config": "CircularBufferConfig",
}
"""What the variables of the Python column are."""


def metalium_names_page() -> str:
    """The page as Markdown."""
    _check_all_names()
    return "\n".join([INTRODUCTION, *_tables(), *_options(), *_absent()]).rstrip() + "\n"


def _read_tables() -> dict[str, list[list[str]]]:
    """The rows of each table; cells are separated by bars."""
    tables: dict[str, list[list[str]]] = {}
    path = Path(__file__).with_name("metalium_names.txt")
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            tables[line.removeprefix("## ")] = []
        elif not line.startswith("#"):
            tables[[*tables][-1]].append([cell.strip() for cell in line.split("|")])
    return tables


def _tables() -> Iterator[str]:
    for title, rows in _read_tables().items():
        if title == ABSENT:
            continue
        yield f"## {title}\n"
        for old, new, python in rows:
            cpp = [*_expressions(old), *_expressions(new)]
            if "experimental::" in title:
                cpp = [f"experimental.{each}" for each in cpp]
            others = "; ".join(each for each in python.split("; ") if not _is_given(each, cpp))
            parts = (("", old), ("2026: ", new), ("Python: ", others))
            yield "- " + "; ".join(label + _code(each) for label, each in parts if each)
        yield ""


def _code(text: str) -> str:
    return ", ".join(f"`{each}`" for each in text.split("; "))


def _expressions(cell: str) -> list[str]:
    """The expressions of a cell in C++ as Python writes them by the rules of the page."""
    written: list[str] = []
    for each in cell.split("; "):
        text = re.sub(r"std::move\((\w+)\)", r"\1", each)
        text = re.sub(r"\btt::|[*&]|\.get\(\)", "", text).replace("->", ".").replace("::", ".")
        if text.startswith(".") and written:
            text = written[0].split(".")[0] + text
        written.append(text)
    return written


def _is_given(python: str, cpp: list[str]) -> bool:
    """Whether an expression, or a name that stands alone, is one that the rules give."""
    names = [re.split(r"[({]", each)[0] for each in cpp]
    return python in cpp or python[0].lower() + python[1:] in cpp or python in names


def _options() -> Iterator[str]:
    """What each configuration takes, from its class."""
    yield "## Options of configurations\n"
    yield "Those in bold have to be given. An error lists those that there are.\n"
    for name in sorted(_public_names(), key=str.lower):
        made = _find(name)
        if is_dataclass(made) and not issubclass(made, Device):
            listed = ", ".join(
                f"`{each.name}`" if _has_default(each) else f"**`{each.name}`**"
                for each in fields(made)
            )
            yield f"- `{name}`: {listed}"
    yield ""


def _has_default(field: Any) -> bool:
    missing = type(field.default).__name__ == "_MISSING_TYPE"
    return not missing or type(field.default_factory).__name__ != "_MISSING_TYPE"


def _absent() -> Iterator[str]:
    yield f"## {ABSENT}\n"
    for name, instead in _read_tables()[ABSENT]:
        yield f"- {name}: {instead}"
    yield ""


def _public_names() -> list[str]:
    """The public names of the package and of its namespaces, with these."""
    names = [each for each in import_module("ttmlir.metalium").__all__ if each not in NAMESPACES]
    for namespace in NAMESPACES:
        module = import_module(f"ttmlir.metalium.{namespace}")
        names += [f"{namespace}.{each}" for each in module.__all__]
    return names


def _check_all_names() -> None:
    """Fail for a name of the page that there is not, and for one that the page does not have."""
    listed = set[str]()
    tables = _read_tables()
    for title in tables.keys() - {ABSENT}:
        for *_, python in tables[title]:
            for expression in python.split("; "):
                listed.add(_check(expression))
    missing = [name for name in _public_names() if name not in listed]
    if missing:
        raise ValueError(f"docs/generator/metalium_names.txt lacks {', '.join(missing)}")


def _check(expression: str) -> str:
    """Look a name up; returns the public name that it begins with."""
    found = re.match(r"[\w.]+", expression)
    assert found is not None, expression
    first, *rest = found[0].split(".")
    path = [*_CLASSES.get(first, first).split("."), *rest]
    _find(".".join(path))
    return ".".join(path[:2] if path[0] in NAMESPACES else path[:1])


def _find(path: str) -> Any:
    found: Any = import_module("ttmlir.metalium")
    for name in path.split("."):
        # A command queue is no public name of the package, but its methods are those of C++.
        if not hasattr(found, name) and not hasattr(CommandQueue, name):
            raise ValueError(f"docs/generator/metalium_names.txt: there is no {path}")
        found = getattr(found, name, None)
    return found
