"""Says what each pass does: the flags `--debug` and `--debug-only`."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Collection
from typing import TYPE_CHECKING

from ttmlir.passes.core.base import Pass
from ttmlir.passes.core.manager import Instrument

if TYPE_CHECKING:
    from xdsl.ir import Operation


class PassLog(Instrument):
    """Writes a line to standard error for each pass: which operations have become more or fewer."""

    def __init__(self, prefix: str, only: Collection[str] = ()):
        """Begin each line with `prefix`; passes of other names than those in `only` say nothing."""
        self.prefix = prefix
        self.only = only
        self._before: Counter[str] = Counter()

    def before_pass(self, step: Pass, op: Operation) -> None:
        """Count the operations."""
        if self._wants(step):
            self._before = _count(op)

    def after_pass(self, step: Pass, op: Operation) -> None:
        """Say what has changed."""
        if self._wants(step):
            self._say(step, op, _changes(self._before, _count(op)))

    def after_failure(self, step: Pass, op: Operation) -> None:
        """Say that the pass has failed."""
        if self._wants(step):
            self._say(step, op, "failed")

    def _wants(self, step: Pass) -> bool:
        return not self.only or step.name in self.only

    def _say(self, step: Pass, op: Operation, text: str) -> None:
        print(f"{self.prefix}{step.name} on '{op.name}': {text}", file=sys.stderr)


def _count(op: Operation) -> Counter[str]:
    return Counter(each.name for each in op.walk())


def _changes(before: Counter[str], after: Counter[str]) -> str:
    """How often each operation occurs that did not occur as often before, sorted by name."""
    changes = [
        f"{name} {before[name]} -> {after[name]}"
        for name in sorted({*before, *after})
        if before[name] != after[name]
    ]
    return ", ".join(changes) or "as many operations of each kind as before"
