"""Remove private functions, and other private symbols, that nothing refers to.

Before:

    module {
      func.func private @unused()
      func.func private @used()
      func.func @main() {
        call @used() : () -> ()
        return
      }
    }

After:

    module {
      func.func private @used()
      func.func @main() {
        call @used() : () -> ()
        return
      }
    }

Requires: nothing.
Ensures: every symbol that is left is public, or something that is left refers to it.
Options: none.
Not done here: unused arguments and results, see remove-dead-values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttmlir.passes.core.base import OperationPass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.ir import Operation

    from ttmlir.ir.rewriting import SymbolPath


@dataclass(frozen=True)
class SymbolDCEPass(OperationPass):
    """Eliminate dead symbols."""

    name = "symbol-dce"

    def apply(self, ctx: Context, op: Operation) -> None:
        """Remove the private symbols of `op`, and of tables inside it, that nothing reaches."""
        reachability = _Reachability()
        reachability.reach(op, table=op)
        for symbol in reachability.unreached():
            symbol.detach()
            symbol.erase(safe_erase=False)
            self.count("num-dced")


class _Reachability:
    """Follows references from what is certainly needed."""

    def __init__(self) -> None:
        self.tables: dict[Operation, dict[str, Operation]] = {}
        self.reached: set[Operation] = set()
        self.candidates: list[Operation] = []

    def reach(self, op: Operation, table: Operation) -> None:
        """Note that `op`, whose references are looked up in `table`, is needed."""
        pending = [(op, table)]
        while pending:
            each, scope = pending.pop()
            if each not in self.reached:
                self.reached.add(each)
                pending += self.consequences(each, scope)

    def consequences(
        self, op: Operation, table: Operation
    ) -> Iterator[tuple[Operation, Operation]]:
        """What is needed because `op` is, with the table of its references."""
        from ttmlir.ir.rewriting import is_symbol_table, references_of

        for path in references_of(op):
            yield from self.resolve(path, table)
        scope = op if is_symbol_table(op) else table
        for inner in [i for r in op.regions for b in r.blocks for i in b.ops]:
            if scope is op and self.may_vanish(inner):
                self.candidates.append(inner)
            else:
                yield inner, scope

    def may_vanish(self, op: Operation) -> bool:
        """True if nobody outside of the table can refer to the symbol that `op` defines."""
        from ttmlir.ir.rewriting import symbol_name, symbol_visibility

        return symbol_name(op) is not None and symbol_visibility(op) != "public"

    def resolve(self, path: SymbolPath, table: Operation) -> Iterator[tuple[Operation, Operation]]:
        """The operations that the parts of a reference name, each with its table."""
        from ttmlir.ir.rewriting import symbols_in

        for name in path:
            if table not in self.tables:
                self.tables[table] = symbols_in(table)
            found = self.tables[table].get(name)
            if found is None:
                return
            yield found, table
            table = found

    def unreached(self) -> list[Operation]:
        """The symbols that nothing needs."""
        return [op for op in self.candidates if op not in self.reached]
