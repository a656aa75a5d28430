"""Names of values and labels of blocks, numbered as they are first met: `v1`, `v2`, `label1`."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from xdsl.ir import Block, SSAValue

from ttmlir.cpp.errors import CannotEmitError


class Names:
    """Names in nested scopes; numbers start again where a scope ends."""

    def __init__(self) -> None:
        """No names."""
        self._values: dict[SSAValue, str] = {}
        self._labels: dict[Block, str] = {}
        self._value_count = 0
        self._label_count = 0

    @contextmanager
    def scope(self) -> Generator[None]:
        """Names given inside are forgotten at the end."""
        saved = self._values.copy(), self._labels.copy(), self._value_count, self._label_count
        yield
        self._values, self._labels, self._value_count, self._label_count = saved

    def declare(self, value: SSAValue) -> str:
        """A new name for a value, or the one that it has."""
        if value not in self._values:
            self._value_count += 1
            self._values[value] = f"v{self._value_count}"
        return self._values[value]

    def define(self, value: SSAValue, text: str) -> None:
        """Let `text` stand for a value that gets no variable."""
        self._values[value] = text

    def of(self, value: SSAValue) -> str:
        """The name of a declared value."""
        name = self._values.get(value)
        if name is None:
            raise CannotEmitError("an operand has no variable in this scope")
        return name

    def label(self, block: Block) -> str:
        """The label of a block."""
        if block not in self._labels:
            self._label_count += 1
            self._labels[block] = f"label{self._label_count}"
        return self._labels[block]
