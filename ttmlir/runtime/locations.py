"""Places in the user's files that locations of operations name."""

from __future__ import annotations

import re
from pathlib import PurePath

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
