"""Headers of the C++ standard library, in own words: `ttmlir/cpp/standard`.

What they declare is known to every kernel that names it as `std::name`.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from ttmlir.cpp import tree
from ttmlir.cpp.parse import parse

_FOLDER = "ttmlir.cpp"


@cache
def _texts() -> dict[str, str]:
    folder = files(_FOLDER) / "standard"
    texts = ((each.name, each.read_text()) for each in folder.iterdir())
    return {name: text for name, text in sorted(texts) if name.endswith(".hpp")}


@cache
def _names() -> dict[str, str]:
    """The header that declares each name: the first line of a header lists its names."""
    found = dict[str, str]()
    for header, text in _texts().items():
        first = text.partition("\n")[0]
        for name in first.removeprefix("//").split():
            found.setdefault(name, header)
    return found


def find_standard_header(name: str) -> str | None:
    """The header that declares a name of `std`; None if there is none."""
    return _names().get(name)


@cache
def read_standard_header(header: str) -> tree.TranslationUnit:
    """What a header declares."""
    return parse(_texts()[header], f"<{header.removesuffix('.hpp')}>")
