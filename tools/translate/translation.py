"""What a translation is: a function from a module to another format or back, and its name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Translation:
    """A way to write a module in another format, or to read one that is written in it."""

    name: str
    """The name on the command line of `ttmlir-translate`."""
    doc: str
    function: str
    """`module:function`, imported when it is used.

    It takes a verified module and gives text or bytes; with `reads_text` it takes a text and the
    name of its file and gives a module, with `reads_file` the path of a file, or its bytes.
    """
    flags: tuple[str, ...] = ()
    """Flags of the tool that the function takes as keywords."""
    reads_text: bool = False
    """Whether the input is text of another language instead of MLIR."""
    reads_file: bool = False
    """Whether the input is no text."""

    def load(self) -> Callable[..., Any]:
        """The function."""
        module, _, name = self.function.partition(":")
        return getattr(import_module(module), name)
