"""Write operations that StableHLO is about to lose as those that stay.

Before:

    func.func @main(%a: tensor<3x5xf32>, %b: tensor<5x7xf32>) -> tensor<2x3x7xf32> {
      %0 = stablehlo.dot %a, %b : (tensor<3x5xf32>, tensor<5x7xf32>) -> tensor<3x7xf32>
      %1 = stablehlo.broadcast %0, sizes = [2] : (tensor<3x7xf32>) -> tensor<2x3x7xf32>
      return %1 : tensor<2x3x7xf32>
    }

After:

    ...
        %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : ...
        %1 = stablehlo.broadcast_in_dim %0, dims = [1, 2] : ...
        ...

Requires: nothing.
Ensures: there is no `stablehlo.broadcast`, `create_token`, `cross-replica-sum`, `dot` or
`unary_einsum`; their results are the same.
Options: `fail-on-unused`: refuse `stablehlo.map` and `rng`, which have no successor.
Not done here: `stablehlo.einsum` stays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import StringAttr, TensorType

from ttmlir.arrays.array import Array
from ttmlir.dialects.stablehlo.attrs import DotDimensionNumbersAttr
from ttmlir.ir.rewriting import refuse_to_legalize, replace
from ttmlir.ir.stablehlo_arrays import StableHLOCarrier, i64_array
from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.mlir.option_values import option
from ttmlir.passes.core.base import OperationPass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from xdsl.context import Context
    from xdsl.ir import Attribute, Operation, SSAValue


@dataclass(frozen=True)
class StableHLOLegalizeDeprecatedOpsPass(OperationPass):
    """Write operations that StableHLO is about to lose as those that stay."""

    name = "stablehlo-legalize-deprecated-ops"
    title = "StablehloLegalizeDeprecatedOpsPass"
    fail_on_unused: bool = option(True, "Refuse operations that have no successor")

    def apply(self, ctx: Context, op: Operation) -> None:
        """Replace what is inside `op`."""
        for inner in tuple(op.walk()):
            rule = _RULES.get(inner.name)
            if rule is not None:
                rule(inner)
            elif self.fail_on_unused and inner.name in _WITHOUT_SUCCESSOR:
                refuse_to_legalize(inner, "the operation is deprecated and has no successor")


_WITHOUT_SUCCESSOR = ("stablehlo.map", "stablehlo.rng")
"""Operations that are about to go without others in their place."""


def _become(
    op: Operation, mnemonic: str, operands: Sequence[SSAValue], **properties: Attribute
) -> None:
    types = [result.type for result in op.results]
    replace(op, *StableHLOCarrier.before(op).make(mnemonic, operands, types, (), **properties))


def _broadcast(op: Operation) -> None:
    """New dimensions come first, so those that are there are the last."""
    rank, before = len(value_shape(op.results[0])), len(value_shape(op.operands[0]))
    dims = i64_array(range(rank - before, rank))
    _become(op, "broadcast_in_dim", op.operands, broadcast_dimensions=dims)


def _create_token(op: Operation) -> None:
    _become(op, "after_all", ())


def _dot(op: Operation) -> None:
    """The last dimension of the first operand and the first of the second one are summed over."""
    numbers = DotDimensionNumbersAttr.of(
        lhs_contracting_dimensions=(len(value_shape(op.operands[0])) - 1,),
        rhs_contracting_dimensions=(0,),
    )
    precision = op.properties.get("precision_config")
    given = {} if precision is None else {"precision_config": precision}
    _become(op, "dot_general", op.operands, dot_dimension_numbers=numbers, **given)


def _unary_einsum(op: Operation) -> None:
    """A sum over one tensor is one over the number 1 and the tensor."""
    config = cast("StringAttr", op.properties["einsum_config"]).data
    number = TensorType(element_type(op.operands[0]), ())
    one = StableHLOCarrier.before(op).make_constant(number, [1])
    _become(op, "einsum", (one, op.operands[0]), einsum_config=StringAttr(f",{config}"))


def _cross_replica_sum(op: Operation) -> None:
    """A sum over replicas is a reduction that adds."""
    number = TensorType(element_type(op.operands[0]), ())
    build = StableHLOCarrier.before(op)

    def add(a: Array, b: Array) -> list[Array]:
        return [a + b]

    total = build.make_region([number, number], add)
    types, groups = [op.results[0].type], op.properties["replica_groups"]
    replace(op, *build.make("all_reduce", op.operands, types, [total], replica_groups=groups))


_RULES: Mapping[str, Callable[[Operation], None]] = {
    "stablehlo.broadcast": _broadcast,
    "stablehlo.create_token": _create_token,
    "stablehlo.cross-replica-sum": _cross_replica_sum,
    "stablehlo.dot": _dot,
    "stablehlo.unary_einsum": _unary_einsum,
}
