"""Turn operations into calls of named kernels, wrapped into `ttir.generic`.

Before:

    #t = #tt.operand_constraint<any_device_tile>
    func.func @add(%arg0: tensor<33x70xf32>, %arg1: tensor<33x70xf32>) -> tensor<33x70xf32> {
      %0 = tensor.empty() : tensor<33x70xf32>
      %1 = "ttir.add"(%arg0, %arg1, %0) <{operandSegmentSizes = array<i32: 2, 1>,
          operand_constraints = [#t, #t, #t]}>
          : (tensor<33x70xf32>, tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
      return %1 : tensor<33x70xf32>
    }

After:

    ...
        %1 = "ttir.generic"(%arg0, %arg1, %0) <{grid = #tt.grid<1x1>,
            indexing_maps = [#map, #map, #map], iterator_types = [#parallel, #parallel],
            operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any_device,
            #any_device, #any_device]}> ({
        ^bb0(%arg2: tensor<33x70xf32>, %arg3: tensor<33x70xf32>, %arg4: tensor<33x70xf32>):
          %2 = "ttir.kernel"(%arg2, %arg3, %arg4) <{kind = @eltwise, op = @add,
              operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any_device_tile,
              #any_device_tile, #any_device_tile]}>
              : (tensor<33x70xf32>, tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
          "ttir.yield"(%2) : (tensor<33x70xf32>) -> ()
        }) : (tensor<33x70xf32>, tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
        ...

Requires: nothing.
Ensures: add, div, ge, multiply, relu and subtract are calls of the kernel of that name, and every
`ttir.kernel` is inside a `ttir.generic`.
Options: none.
Not done here: other operations stay; kernels of kinds other than `eltwise` and `matmul` are
refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import ModuleOp, ShapedType, SymbolRefAttr
from xdsl.ir import Block, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from ttmlir.dialects import ttir
from ttmlir.ir.rewriting import clean_up, insert_before, refuse, replace
from ttmlir.layout.enums import IteratorType, OperandConstraint
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.ttmetal.ttir_generic import is_inside_generic, wrap

if TYPE_CHECKING:
    from xdsl.context import Context

_KERNELS = ("add", "div", "ge", "multiply", "relu", "subtract")


@dataclass(frozen=True)
class TTIRGenericKernelPass(ModulePass):
    """Turn operations into calls of named kernels, wrapped into `ttir.generic`."""

    name = "ttir-generic-kernel"
    title = "TTIRGenericKernel"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Name the kernels of the module, then wrap them."""
        for op in [op for op in module.walk() if isinstance(op, ttir.ElementwiseOp)]:
            if op.DEFINITION.mnemonic in _KERNELS:
                _name_kernel(op)
        for op in [op for op in module.walk() if isinstance(op, ttir.KernelOp)]:
            if not is_inside_generic(op):
                _wrap(op)
        clean_up(module)


def _name_kernel(op: ttir.ElementwiseOp) -> None:
    kernel = ttir.KernelOp.create(
        operands=tuple(op.operands),
        result_types=[result.type for result in op.results],
        properties={
            **op.properties,
            "kind": SymbolRefAttr("eltwise"),
            "op": SymbolRefAttr(op.DEFINITION.mnemonic),
        },
        location=op.location,
    )
    insert_before(op, kernel)
    replace(op, *kernel.results)


def _wrap(op: ttir.KernelOp) -> None:
    def body(block: Block) -> Sequence[SSAValue]:
        kernel = ttir.KernelOp.create(
            operands=block.args,
            result_types=[result.type for result in op.results],
            properties=op.properties,
            location=op.location,
        )
        block.add_op(kernel)
        return kernel.results

    kind = cast("SymbolRefAttr", op.properties["kind"]).string_value()
    if kind == "eltwise":
        rank = _rank(op.operands[0])
        maps = [AffineMap.identity(rank)] * len(op.operands)
        iterators = [IteratorType.PARALLEL] * rank
        constraint = OperandConstraint.ANY_DEVICE
    elif kind == "matmul":
        maps = _matmul_maps(op)
        iterators = [*[IteratorType.PARALLEL] * (maps[0].num_dims - 1), IteratorType.SYSTOLIC]
        constraint = OperandConstraint.ANY_DEVICE_TILE
    else:
        refuse(op, f"kernels of kind @{kind} are not supported; supported: @eltwise, @matmul")
    generic = wrap(
        op,
        op.inputs,
        op.inits,
        body,
        indexing_maps=maps,
        iterator_types=iterators,
        constraint=constraint,
    )
    replace(op, *generic.results)


def _matmul_maps(op: ttir.KernelOp) -> list[AffineMap]:
    """Maps over (batches..., m, n, k) of two factors and a product."""
    ranks = [_rank(value) for value in op.operands]
    rank = ranks[0]
    if ranks != [rank] * 3 or rank < 2:
        refuse(
            op,
            "kernels of kind @matmul take two inputs and one output of one rank of at least 2, "
            f"got ranks {', '.join(map(str, ranks))}",
        )
    *batches, m, n, k = (AffineExpr.dimension(i) for i in range(rank + 1))
    ends = ((m, k), (k, n), (m, n))
    return [AffineMap(rank + 1, 0, (*batches, *end)) for end in ends]


def _rank(value: SSAValue) -> int:
    assert isinstance(value.type, ShapedType), "kernels work on tensors and memrefs"
    return len(value.type.get_shape())
