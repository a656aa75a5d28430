"""Strings and names as MLIR writes them."""

from __future__ import annotations

import re

MAX_SHOWN = 8192
"""Longest text of an operation, an attribute or a name in a message, in characters."""

_PLAIN_STRING = re.compile(rb"[ !#-\[\]-~]*")
_SPECIAL_BYTE = re.compile(rb"[^ !#-\[\]-~]")
_IDENTIFIER = re.compile(r"[A-Za-z_][\w$.]*", re.ASCII)


def _escape(match: re.Match[bytes]) -> bytes:
    return b"\\\\" if match[0] == b"\\" else b"\\%02X" % match[0][0]


def quote(data: bytes) -> str:
    """The bytes in quotes; what is not printable ASCII becomes `\\XX`."""
    if _PLAIN_STRING.fullmatch(data) is None:
        data = _SPECIAL_BYTE.sub(_escape, data)
    return f'"{data.decode("ascii")}"'


def identifier_or_string(name: str) -> str:
    """The name, in quotes unless it is a bare identifier."""
    if _IDENTIFIER.fullmatch(name) is not None:
        return name
    return quote(name.encode("utf-8", "surrogateescape"))


def cut_off(text: str) -> str:
    """The text as a message shows it: not all of it if it is very long."""
    return text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + "..."
