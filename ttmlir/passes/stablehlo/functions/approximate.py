"""The call as which JAX lowers `lax.approx_max_k`: here a sort, which finds all of the best."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    DictionaryAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation

from ttmlir.dialects.stablehlo.reduction import SortOp
from ttmlir.ir.rewriting import erase, insert_before, refuse_to_legalize, replace, symbols_in
from ttmlir.ir.stablehlo_arrays import StableHLOCarrier
from ttmlir.passes.stablehlo.specification.broadcasting import module_of

_TARGET = "ApproxTopK"


def is_top_k(op: Operation) -> bool:
    """True for the custom call of XLA's operation."""
    return cast("StringAttr", op.properties["call_target_name"]).data == _TARGET


def expand_top_k(op: Operation) -> None:
    """Sort by the comparator of the call, and keep as many elements as its results have.

    Operands are n tensors and n initial values, which stand for elements that there are not; they
    are not needed, since no part is left out.
    """
    count = len(op.results)
    config = op.attributes.get("mhlo.backend_config")
    dim = config.data.get("reduction_dim") if isinstance(config, DictionaryAttr) else None
    comparator = _comparator(op)
    if not isinstance(dim, IntegerAttr) or comparator is None or len(op.operands) != 2 * count:
        refuse_to_legalize(
            op,
            f"'{_TARGET}' has tensors and as many initial values as operands, names one comparator "
            "in called_computations and says along which dimension it looks: "
            "mhlo.backend_config = {reduction_dim = 1 : i64, ...}",
        )
    number = cast("IntegerAttr", dim).value.data
    region = comparator.body.clone()
    values = op.operands[:count]
    new = SortOp.create(
        operands=values,
        result_types=[value.type for value in values],
        properties={"dimension": IntegerAttr(number, i64), "is_stable": BoolAttr.from_bool(True)},
        regions=[region],
        location=op.location,
    )
    insert_before(op, new)
    write = StableHLOCarrier.before(op)
    pairs = zip(new.results, op.results, strict=True)
    best = [write.slice(value, result.type) for value, result in pairs]
    module = module_of(op)
    replace(op, *best)
    if not any(_comparator(other) is comparator for other in module.walk()):
        erase(comparator)


def called_functions(op: Operation) -> list[str]:
    """The names of the functions that a custom call is given."""
    called = op.properties.get("called_computations")
    if not isinstance(called, ArrayAttr):
        return []
    names = cast("ArrayAttr[Attribute]", called).data
    return [name.string_value() for name in names if isinstance(name, SymbolRefAttr)]


def _comparator(op: Operation) -> FuncOp | None:
    """The one function of the module that a custom call is given; None for other operations."""
    names = called_functions(op) if op.name == "stablehlo.custom_call" else []
    if len(names) != 1:
        return None
    found = symbols_in(cast("ModuleOp", module_of(op))).get(names[0])
    return found if isinstance(found, FuncOp) and len(found.body.blocks) == 1 else None
