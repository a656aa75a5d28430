"""Where in the user's model an operation comes from: its layers, name and place, by its location.

Names of locations are paths: JAX writes `jit(f)/layer1/dot_general`, the torch frontend
`encoder/fc1/linear`. The last part is the operation, those before it are the layers. A call site
is the callee within the layers of the caller.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_TOKEN = re.compile(
    r'\s*(?:"(?P<name>(?:[^"\\]|\\.)*)"|(?P<word>callsite|fused|unknown|at)\b'
    r"|(?P<number>\d+)|(?P<sign>[()\[\],:<>])|(?P<other>.))",
    re.DOTALL,
)
_CALL = re.compile(r"(?:jit|pjit|vmap|jvp|transpose|checkpoint|remat)\((.*)\)")
_ESCAPE = re.compile(r"\\([0-9A-Fa-f]{2}|.)", re.DOTALL)

MAX_LOCATION = 1 << 14
"""Characters of a location that are looked at."""


@dataclass(frozen=True)
class Scope:
    """What a location says of an operation."""

    layers: tuple[str, ...] = ()
    name: str = ""
    """The whole name, such as `encoder/fc1/linear`, which overrides are given to."""
    place: str = ""
    """The first place in a file, as `model.py:4:24`."""

    @property
    def override_name(self) -> str:
        """The name that overrides of the operation have: its own, or file and line; or none."""
        return self.name or ":".join(self.place.split(":")[:2])


def scope_of(location: str) -> Scope:
    """What the text of a location says, with or without the `loc(...)` around it."""
    text = location[:MAX_LOCATION].strip()
    if text.startswith("loc(") and text.endswith(")"):
        text = text[4:-1]
    reader = _Reader(text)
    path = [part for part in reader.path if part]
    layers = [_layer(part) for part in path[:-1]]
    if path and _CALL.fullmatch(path[0]):
        # The function that was compiled: all operations are in it.
        layers = layers[1:]
    return Scope(tuple(layer for layer in layers if layer), "/".join(path), reader.place)


def _layer(part: str) -> str:
    inner = _CALL.fullmatch(part)
    while inner is not None:
        part = inner[1]
        inner = _CALL.fullmatch(part)
    return part


class _Reader:
    """One pass over the tokens: the names of operations, outermost first, and the first place."""

    def __init__(self, text: str) -> None:
        self.place = ""
        self._tokens = [match for match in _TOKEN.finditer(text) if match.group().strip()]
        self.path = self._read_path()

    def _read_path(self) -> list[str]:
        """The path of the first name, in that of its caller if it is the callee of a call."""
        names: list[str] = []
        is_called = False
        for number, token in enumerate(self._tokens):
            if token["word"] == "callsite" and not names:
                is_called = True
            if token["name"] is None:
                continue
            if self._is_place(number):
                self.place = self.place or self._spell_place(number)
            elif not names or (is_called and self._follows_at(number) and len(names) == 1):
                names.append(_unescape(token["name"]))
        return [part for name in reversed(names) for part in _split(name)]

    def _is_place(self, number: int) -> bool:
        after = self._tokens[number + 1 : number + 3]
        return len(after) == 2 and after[0]["sign"] == ":" and after[1]["number"] is not None

    def _follows_at(self, number: int) -> bool:
        return number > 0 and self._tokens[number - 1]["word"] == "at"

    def _spell_place(self, number: int) -> str:
        file = _unescape(self._tokens[number]["name"] or "")
        numbers = [each["number"] for each in self._tokens[number + 1 : number + 5]]
        position = [each for each in numbers if each is not None]
        return ":".join((re.split(r"[/\\]", file)[-1], *position))


def _split(name: str) -> list[str]:
    """The parts of a path; slashes inside of parentheses do not part."""
    parts = [""]
    depth = 0
    for letter in name:
        depth += (letter == "(") - (letter == ")")
        if letter == "/" and depth <= 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _unescape(text: str) -> str:
    def character(match: re.Match[str]) -> str:
        code = match[1]
        return chr(int(code, 16)) if len(code) == 2 else code

    return _ESCAPE.sub(character, text)
