"""Headers of the C++ standard library and of the vector unit, in own words: `ttmlir/cpp/standard`.

What they declare is known to every kernel that names it as `std::name`; classes and variables of
sfpi, and what calls functions on the faces of tiles, are known without their namespaces, too.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from ttmlir.cpp import tree

_FOLDER = "ttmlir.cpp"

VECTORS = "sfpi"
"""The namespace of the classes and functions of vectors."""

_NAMESPACES = {
    "sfpi.hpp": VECTORS,
    "sfpu.hpp": "ckernel",
    "instructions.hpp": "ckernel",
    "loads.hpp": "ckernel",
    "untilizing.hpp": "tiles",
    "columns.hpp": "ckernel::sfpu",
    "blocks.hpp": "blocks",
    "tiles.hpp": "tiles",
    "memory.hpp": "experimental",
    "accessors.hpp": "tensor_accessor",
    "cstdarg.hpp": "variadic",
}
"""Those of headers that are not of the standard library."""


@cache
def _texts() -> dict[str, str]:
    folder = files(_FOLDER) / "standard"
    texts = ((each.name, each.read_text()) for each in folder.iterdir())
    return {name: text for name, text in sorted(texts) if name.endswith(".hpp")}


@cache
def _names() -> dict[tuple[str, str], str]:
    """The header that declares each name of each namespace: its first line lists its names."""
    found = dict[tuple[str, str], str]()
    for header, text in _texts().items():
        first = text.partition("\n")[0]
        for name in first.removeprefix("//").split():
            found.setdefault((_NAMESPACES.get(header, "std"), name), header)
    return found


def find_standard_header(namespace: str, name: str) -> str | None:
    """The header that declares a name of a namespace; None if there is none."""
    inner = _names().get((f"ckernel::{namespace}", name))
    return _names().get((namespace, name), inner)


def list_names(namespace: str) -> frozenset[str]:
    """What headers declare in a namespace."""
    return frozenset(name for each, name in _names() if each == namespace)


@cache
def find_bare_namespace(name: str) -> str | None:
    """The namespace of a name that kernels use without it; None if there is none such.

    Functions of vectors are not among them, as kernels give their own such names.
    """
    if name in _OF_VECTORS or re.match(r"v[A-Z]", name):
        return VECTORS if (VECTORS, name) in _names() else None
    return next((each for each in _BARE if (each, name) in _names()), None)


_BARE = ("ckernel", "experimental", "tensor_accessor", "blocks", "tiles", "variadic")
_OF_VECTORS = frozenset(("dst_reg", "l_reg", "LRegs"))


def is_own_text(file: str) -> bool:
    """Whether a name of a file is that of such a header, or of those of links, in messages."""
    is_of_links = file.startswith(("<fabric/", "<edm_fabric/"))
    return is_of_links or (file.startswith("<") and f"{file[1:-1]}.hpp" in _texts())


@cache
def read_standard_header(header: str) -> tree.TranslationUnit:
    """What a header declares."""
    from ttmlir.cpp.parse import parse

    return parse(_texts()[header], f"<{header.removesuffix('.hpp')}>")
