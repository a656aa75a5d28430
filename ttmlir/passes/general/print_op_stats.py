"""Count the operations of each name.

Before:

    func.func @f(%x: i32) -> i32 {
      return %x : i32
    }

After:

    module {
      func.func @f(%arg0: i32) -> i32 {
        return %arg0 : i32
      }
    }

Requires: nothing.
Ensures: the IR is as before; a table of names and counts stands on the standard error.
Options: `json` prints the counts as a JSON object.
Not done here: nothing else.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttmlir.passes.core.base import OperationPass, option

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.ir import Operation


@dataclass(frozen=True)
class PrintOpStatsPass(OperationPass):
    """Print statistics of operations."""

    name = "print-op-stats"

    json: bool = option(False, "Print the stats as JSON")

    def apply(self, ctx: Context, op: Operation) -> None:
        """Count `op` and what is inside it."""
        from xdsl.dialects.builtin import UnregisteredOp

        counts = Counter(
            inner.op_name.data if isinstance(inner, UnregisteredOp) else inner.name
            for inner in op.walk()
        )
        sys.stderr.write(_as_json(counts) if self.json else _as_table(counts))


def _as_json(counts: Counter[str]) -> str:
    return json.dumps(dict(sorted(counts.items())), indent=2, separators=(",", " : ")) + "\n"


def _as_table(counts: Counter[str]) -> str:
    """Names aligned at the dot between dialect and operation, as in MLIR."""
    parts = {name: name.rpartition(".") for name in sorted(counts)}
    left = max(len(dialect) for dialect, _, _ in parts.values())
    right = max(len(operation) for _, _, operation in parts.values())
    rows = [
        f"  {dialect:>{left}}{dot}{operation:<{right}} , {counts[name]}"
        for name, (dialect, dot, operation) in parts.items()
    ]
    return "\n".join(["Operations encountered:", "-" * 23, *rows]) + "\n"
