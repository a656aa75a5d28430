"""Overrides in files: what the panel saves, which `ttmlir-opt` takes as `@FILE`, and reading it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ttmlir.errors import InputError
from ttmlir.explorer.documents import Document, ModuleDocument
from ttmlir.explorer.overrides import Overrides
from ttmlir.files import read_text, safe_file_name
from ttmlir.layout.system import BOARD_NAMES

_OVERRIDES = ("override-grid-sizes", "override-output-layout")
_SYSTEM = "system-desc-path"


def overrides_file_name(document: Document) -> str:
    """`net.overrides` for the document `net.mlir`."""
    return safe_file_name(f"{Path(document.name).stem}.overrides")


def overrides_text(document: ModuleDocument) -> str:
    """The flag of `ttmlir-opt` that compiles the document with its overrides."""
    options = document.options_with(document.settings.overrides)
    return (
        f"--{document.pipeline}={shlex.quote(options)}\n" if options else f"--{document.pipeline}\n"
    )


def load_overrides(path: str, documents: Sequence[Document]) -> None:
    """Compile the one module among the documents with the overrides of a file.

    Raises InputError for a file that cannot be read or that says something else, and if there
    are several modules, or none.
    """
    modules = [
        document
        for document in documents
        if isinstance(document, ModuleDocument) and document.pipeline is not None
    ]
    if len(modules) != 1:
        raise InputError(
            f"{path}: overrides are for one module on its way to ttnn, and {len(modules)} are "
            "shown; open it alone"
        )
    [module] = modules
    try:
        overrides, board = _read(read_text(path), module)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    except (InputError, ValueError) as error:
        raise InputError(f"{path}: {error}") from error
    module.change(replace(module.settings, overrides=overrides, board=board))


def _read(text: str, module: ModuleDocument) -> tuple[Overrides, str | None]:
    """The overrides and the board of a saved file; ValueError for other text."""
    flags = shlex.split(text, comments=True)
    pipeline = f"--{module.pipeline}"
    if len(flags) != 1 or flags[0].partition("=")[0] != pipeline:
        raise InputError(f"expected the flag {pipeline} with its overrides, and nothing else")
    overrides, board = Overrides(), None
    for option in shlex.split(flags[0].partition("=")[2]):
        name, _, value = option.partition("=")
        if name in _OVERRIDES:
            overrides = Overrides({**overrides.layouts, **Overrides.parse(option).layouts})
        elif name == _SYSTEM and value in BOARD_NAMES:
            board = value
        elif option not in module.options.split():
            raise InputError(
                f"the option {name} cannot be chosen in the page; supported are "
                f"{', '.join(_OVERRIDES)}, and {_SYSTEM} with the name of a board"
            )
    for name, override in overrides.layouts.items():
        # Names from a file are checked as those from the page are.
        overrides = overrides.with_layout(name, str(override))
    return overrides, board
