"""What a translation is: a function from a verified module to text or bytes, and its name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module


@dataclass(frozen=True, kw_only=True)
class Translation:
    """A way to write a module in another format."""

    name: str
    """The name on the command line of `ttmlir-translate`."""
    doc: str
    function: str
    """`module:function`, imported when it is used; it takes a module and gives text or bytes."""
    flags: tuple[str, ...] = ()
    """Flags of the tool that the function takes as keywords."""

    def load(self) -> Callable[..., str | bytes]:
        """The function."""
        module, _, name = self.function.partition(":")
        return getattr(import_module(module), name)
