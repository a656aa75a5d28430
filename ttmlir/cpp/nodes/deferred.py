"""Parts of headers that are read when they are used."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ttmlir.cpp.tree import Block


class DeferredBlock:
    """The body of a function in a header, which is read when the function is used."""

    def __init__(self, read: Callable[[], Block]) -> None:
        """`read` makes the block; it raises CppSyntaxError for what is wrong in it."""
        self._read = read
        self._block: Block | None = None

    def read(self) -> Block:
        """The block."""
        if self._block is None:
            self._block = self._read()
        return self._block
