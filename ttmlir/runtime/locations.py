"""Places in the user's files that locations of operations name."""

from __future__ import annotations

import re
from pathlib import PurePath

# --- Layers ---------------------------------------------------------------------------------------
# The layer of a model that an operation belongs to, as far as its location tells.

_NAME = re.compile(r'"((?:[^"\\]|\\.)*)"(?!:\d)')
"""A name in a location; texts with a line after them are files."""
_LAYER_PLACE = re.compile(r'"((?:[^"\\]|\\.)*)":(\d+):\d+')
MAIN = "main"
"""The layer of operations without a location."""


def layer_of(location: str) -> str:
    """The scope or module in the text of a location: `block0/attention`.

    JAX names operations by the scopes around them, `jit(f)/block0/dot_general`, torch by their
    modules. An operation outside of all of them is a layer by its name, or by file and line.
    """
    names = _NAME.findall(location)
    scoped = next((name for name in names if "/" in name), "")
    # Outermost is the function itself, innermost the operation.
    parts = [part for part in scoped.split("/")[:-1] if not part.startswith("jit(")]
    if parts:
        return "/".join(parts)
    place = _LAYER_PLACE.search(location)
    if names and not scoped and not location.startswith("callsite("):
        return _inside_jit(names[0])
    if place is None:
        return _inside_jit(names[0]) if names else MAIN
    file = place[1].replace("\\", "/").rpartition("/")[2]
    return f"{file}:{place[2]}"


def _inside_jit(name: str) -> str:
    """The name of a function that JAX has compiled."""
    return name.removeprefix("jit(").removesuffix(")") if name.startswith("jit(") else name


# --- Locations ------------------------------------------------------------------------------------

_PLACE = re.compile(r'"((?:[^"\\]|\\.)*)":(\d+):(\d+)')


def place_in(location: str) -> str:
    """`file:line:column` of the innermost place in a location, those in installed packages left
    out; empty if it has none."""
    places = [match.groups() for match in _PLACE.finditer(location)]
    own = [place for place in places if "site-packages" not in place[0]]
    for path, line, column in own or places:
        name = PurePath(path.replace('\\"', '"')).name
        return f"{name}:{line}:{column}"
    return ""
