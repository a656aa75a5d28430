"""Functions that are parts of loops and branches: their tensors stay on the device."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Operation

from ttmlir.dialects.definition.control import ControlOp, WhileOp
from ttmlir.ir.rewriting import symbol_visibility


@dataclass(frozen=True)
class ControlParts:
    """The functions of a module that nothing but loops and branches calls, by name."""

    parts: frozenset[str]
    conditions: frozenset[str]
    """Those of them that the host asks whether there is another iteration."""

    def takes_from_device(self, op: Operation) -> bool:
        """True for a function that is called with tensors of the device."""
        return isinstance(op, FuncOp) and op.sym_name.data in self.parts

    def returns_on_device(self, op: Operation) -> bool:
        """True for a function that leaves its results on the device."""
        return self.takes_from_device(op) and not self._is_condition(op)

    def gives_from_device(self, op: Operation) -> bool:
        """True for a loop or branch whose results are on the device."""
        return isinstance(op, ControlOp) and op.callees()[0] in self.parts

    def _is_condition(self, op: Operation) -> bool:
        return isinstance(op, FuncOp) and op.sym_name.data in self.conditions


def parts_of_control(module: ModuleOp) -> ControlParts:
    """The functions that loops and branches of a module call."""
    parts: set[str] = set()
    conditions: set[str] = set()
    others: set[str] = set()
    for op in module.walk():
        if isinstance(op, ControlOp):
            parts.update(op.callees())
            if isinstance(op, WhileOp) and op.condition is not None:
                conditions.add(op.condition)
        elif isinstance(op, CallOp):
            others.add(op.callee.string_value())
        elif isinstance(op, FuncOp) and symbol_visibility(op) == "public":
            others.add(op.sym_name.data)
    return ControlParts(frozenset(parts - others), frozenset(conditions))
