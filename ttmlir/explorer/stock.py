"""The stock Model Explorer package: where its page is.

Only its files are read, which need nothing: not the package's server and what that depends on, nor
the native adapter, which is half a gigabyte.
"""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

REQUIREMENT = "ai-edge-model-explorer==0.1.34"
"""The release that the page is tested with."""

_SERVED = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*")


class MissingPackageError(Exception):
    """The package is not installed."""


def page_files() -> dict[str, Path]:
    """The files of the page, by the path in its address."""
    # The package is found, not imported: importing it imports its server, and torch.
    spec = find_spec("model_explorer")
    places = [] if spec is None else spec.submodule_search_locations or []
    for place in places:
        root = Path(place) / "web_app"
        if (root / "index.html").is_file():
            found = ((path.relative_to(root).as_posix(), path) for path in root.rglob("*"))
            return {
                name: path for name, path in found if _SERVED.fullmatch(name) and path.is_file()
            }
    raise MissingPackageError(
        "the Model Explorer package is missing; install it, without what it depends on, by\n"
        f"    pip install --no-deps {REQUIREMENT}"
    )
