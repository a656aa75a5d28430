"""Turn functions of ml_program into func, and its constant globals into constants where they are
loaded.

Before:

    ml_program.global private @weights(dense<[1.5, -2.0]> : tensor<2xf32>) : tensor<2xf32>
    ml_program.subgraph @scale(%x: tensor<2xf32>) -> tensor<2xf32> {
      %0 = ml_program.global_load_const @weights : tensor<2xf32>
      %1 = arith.mulf %x, %0 : tensor<2xf32>
      ml_program.output %1 : tensor<2xf32>
    }

After:

    module {
      func.func @scale(%arg0: tensor<2xf32>) -> tensor<2xf32> {
        %cst = arith.constant dense<[1.500000e+00, -2.000000e+00]> : tensor<2xf32>
        %0 = arith.mulf %arg0, %cst : tensor<2xf32>
        return %0 : tensor<2xf32>
      }
    }

Requires: globals that are used have a value and do not change.
Ensures: no operation of ml_program is left.
Options: none.
Not done here: state, that is, globals to which a program stores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, Region, TypedAttribute
from xdsl.traits import SymbolTable

from ttmlir.dialects import ml_program
from ttmlir.ir.rewriting import erase, insert_before, refuse_to_legalize, replace
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp


@dataclass(frozen=True)
class ConvertMLProgramToFuncPass(ModulePass):
    """Turn functions of ml_program into func, and constant globals into constants."""

    name = "convert-ml-program-to-func"
    title = "ConvertMLProgramToFunc"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Convert loads while the globals are there, then functions from their ends outwards."""
        ours = [op for op in module.walk() if op.name.startswith("ml_program.")]
        for op in ours:
            match op:
                case ml_program.GlobalLoadConstOp() | ml_program.GlobalLoadOp():
                    _load(op)
                case ml_program.GlobalStoreOp():
                    refuse_to_legalize(
                        op,
                        "it changes a global; pass the state as an argument and return the new one",
                    )
                case _:
                    pass
        for op in ours:
            match op:
                case ml_program.ReturnOp() | ml_program.OutputOp():
                    insert_before(op, _rename(ReturnOp, op))
                    erase(op)
                case ml_program.GlobalOp():
                    erase(op)
                case _:
                    pass
        for op in ours:
            if isinstance(op, ml_program.FuncOp | ml_program.SubgraphOp):
                function = _rename(FuncOp, op)
                op.regions[0].move_blocks(function.regions[0])
                insert_before(op, function)
                erase(op)


def _rename(cls: type[Operation], op: Operation) -> Operation:
    """An operation of another class with what `op` has, but for its regions, which are empty."""
    return cls.create(
        operands=op.operands,
        properties=op.properties,
        attributes=op.attributes,
        regions=[Region() for _ in op.regions],
        location=op.location,
    )


def _load(op: Operation) -> None:
    """Put a constant in the place of a load."""
    symbol = cast("SymbolRefAttr", op.properties["global"])
    found = SymbolTable.lookup_symbol(op, symbol)
    if not isinstance(found, ml_program.GlobalOp):
        refuse_to_legalize(op, f"there is no global {symbol}")
    if found.constant is None:
        refuse_to_legalize(
            op, f"the global {symbol} may change; supported are globals that are not mutable"
        )
    value = found.constant
    if not isinstance(value, TypedAttribute) or value.get_type() != op.results[0].type:
        refuse_to_legalize(
            op, f"the value of the global {symbol} is no constant of {op.results[0].type}"
        )
    constant = ConstantOp.create(
        properties={"value": value},
        result_types=op.result_types,
        location=op.location,
    )
    insert_before(op, constant)
    replace(op, constant.results[0])
