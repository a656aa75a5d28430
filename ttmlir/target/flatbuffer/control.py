"""The functions that loops and branches call, in the order in which a file has them."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from ttmlir.dialects.definition.control import control_ops_in
from ttmlir.limits import MAX_CALL_DEPTH
from ttmlir.mlir.reporting.diagnostics import OpError
from ttmlir.target.flatbuffer.file_kind import TTNN

_PRIVATE = StringAttr("private")


def order_parts(module: Operation, functions: Sequence[FuncOp]) -> list[FuncOp]:
    """What loops and branches call, each function after those that it calls itself.

    OpError for functions that call themselves, for those that are programs, too, and for loops and
    branches that nest deeper than the runtime follows them.
    """
    by_name = {op.sym_name.data: op for op in functions}
    ordered: dict[str, FuncOp] = {}
    depths: dict[str, int] = {}
    for caller in control_ops_in(module):
        pending = [(caller, caller.callees(), 0)]
        path: list[str] = []
        while pending:
            op, names, place = pending.pop()
            if place == len(names):
                depth = 1 + max((depths[name] for name in names), default=-1)
                if depth > MAX_CALL_DEPTH:
                    raise OpError(
                        op,
                        f"{TTNN.refused}: loops and branches nest more than {MAX_CALL_DEPTH} deep",
                    )
                if path:
                    name = path.pop()
                    ordered[name] = by_name[name]
                    depths[name] = depth
                continue
            pending.append((op, names, place + 1))
            name = names[place]
            if name in ordered:
                continue
            if name in path:
                raise OpError(op, f"{TTNN.refused}: @{name} calls itself")
            function = by_name[name]
            if function.sym_visibility != _PRIVATE:
                raise OpError(
                    op, f"{TTNN.refused}: @{name} is a program of its own; make it private"
                )
            path.append(name)
            inner = tuple(name for each in control_ops_in(function) for name in each.callees())
            pending.append((op, inner, 0))
    return list(ordered.values())
