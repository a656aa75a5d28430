"""Python texts as modules whose functions have a source."""

from __future__ import annotations

import linecache
from typing import Any


def load_module(text: str, file: str = "", **names: object) -> dict[str, Any]:
    """The names of a text that is run as if it came from a file; `names` are there before."""
    file = file or f"<program {len(linecache.cache)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    module: dict[str, Any] = dict(names)
    exec(compile(text, file, "exec"), module)
    return module
