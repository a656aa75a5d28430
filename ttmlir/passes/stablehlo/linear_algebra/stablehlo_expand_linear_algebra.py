"""Compute factorizations of matrices and triangular systems by loops over their columns.

Each becomes a call of a function with a `stablehlo.while`, for batches of matrices of floating
point numbers with at most 1,024 rows and columns. Custom calls of the factorization into an
orthogonal and a triangular matrix, `Qr` and `ProductOfElementaryHouseholderReflectors`, are those
that JAX makes.

Before:

    func.func @main(%a: tensor<5x5xf32>) -> tensor<5x5xf32> {
      %0 = stablehlo.cholesky %a, lower = true : tensor<5x5xf32>
      return %0 : tensor<5x5xf32>
    }

After:

    module {
      func.func @main(%arg0: tensor<5x5xf32>) -> tensor<5x5xf32> {
        %0 = stablehlo.reshape %arg0 : (tensor<5x5xf32>) -> tensor<1x5x5xf32>
        %1 = call @cholesky_1x5x5xf32(%0) : (tensor<1x5x5xf32>) -> tensor<1x5x5xf32>
        %2 = stablehlo.reshape %1 : (tensor<1x5x5xf32>) -> tensor<5x5xf32>
        return %2 : tensor<5x5xf32>
      }
    ...

Requires: nothing.
Ensures: no `stablehlo.cholesky` or `stablehlo.triangular_solve` is left.
Options: none.
Not done here: eigenvalues and singular values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from ttmlir.ir.rewriting import insert_before, refuse_to_legalize, replace
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from xdsl.context import Context
    from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, TensorType
    from xdsl.ir import Attribute, Data, Operation, SSAValue

    from ttmlir.passes.stablehlo.linear_algebra.algorithms import Matrices

MAX_EXTENT = 1024
"""Most rows, and most columns, of a matrix: a loop has an iteration for each of them."""
_ELEMENTS = ("f16", "bf16", "f32", "f64")
_CALLS = ("Qr", "ProductOfElementaryHouseholderReflectors")


@dataclass(frozen=True)
class StableHLOExpandLinearAlgebraPass(ModulePass):
    """Compute factorizations of matrices and triangular systems by loops."""

    name = "stablehlo-expand-linear-algebra"
    title = "StableHLOExpandLinearAlgebra"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Replace what has a loop, anywhere in the module."""
        found = [op for op in module.walk() if _expansion_of(op) is not None]
        if found:
            expanding = _Expanding(module)
            for op in found:
                rule = _expansion_of(op)
                assert rule is not None, "it was found"
                rule(expanding, op)


def _expansion_of(op: Operation) -> Callable[[_Expanding, Operation], None] | None:
    if op.name == "stablehlo.custom_call":
        target = cast("StringAttr", op.properties["call_target_name"]).data
        return _CUSTOM_CALLS.get(target)
    return OPERATIONS.get(op.name)


class _Expanding:
    """Calls of functions, each of which is added to the module once."""

    def __init__(self, module: ModuleOp) -> None:
        self._module = module
        self._names: set[str] = set()

    def cholesky(self, op: Operation) -> None:
        from ttmlir.passes.stablehlo.linear_algebra import algorithms

        a = op.operands[0]
        matrices, value = self._batch(op, a)
        is_lower = _flag(op, "lower")
        value = value if is_lower else _transposed(op, value)
        name = f"cholesky_{_suffix(matrices)}"
        [result] = self._call(op, name, algorithms.cholesky(name, matrices), [value])
        result = result if is_lower else _transposed(op, result)
        replace(op, _reshaped(op, result, op.results[0].type))

    def triangular_solve(self, op: Operation) -> None:
        from ttmlir.passes.stablehlo.linear_algebra import algorithms

        left, lower, unit = (_flag(op, name) for name in ("left_side", "lower", "unit_diagonal"))
        transposes = cast("Data[str]", op.properties["transpose_a"]).data != "NO_TRANSPOSE"
        _, a = self._batch(op, op.operands[0])
        _, b = self._batch(op, op.operands[1])
        if not left:
            b = _transposed(op, b)
        if transposes == left:
            a, lower = _transposed(op, a), not lower
        matrices, _ = self._batch(op, a)
        count = _shape(b)[-1]
        name = "_".join(
            (
                f"solve_{'lower' if lower else 'upper'}{'_unit' if unit else ''}",
                _suffix(matrices),
                str(count),
            )
        )
        text = algorithms.solve_triangular(name, matrices, count, lower=lower, unit=unit)
        [result] = self._call(op, name, text, [a, b])
        result = result if left else _transposed(op, result)
        replace(op, _reshaped(op, result, op.results[0].type))

    def qr(self, op: Operation) -> None:
        from ttmlir.passes.stablehlo.linear_algebra import algorithms

        matrices, value = self._batch(op, op.operands[0])
        name = f"qr_{_suffix(matrices)}"
        text = algorithms.factorize_by_reflections(name, matrices)
        results = self._call(op, name, text, [value])
        types = [result.type for result in op.results]
        pairs = zip(results, types, strict=True)
        replace(op, *(_reshaped(op, result, type_) for result, type_ in pairs))

    def reflections(self, op: Operation) -> None:
        from ttmlir.passes.stablehlo.linear_algebra import algorithms

        matrices, value = self._batch(op, op.operands[0])
        count = _shape(op.operands[1])[-1]
        factors = _tensor((matrices.batch, count), op.operands[1])
        name = f"reflections_{_suffix(matrices)}_{count}"
        text = algorithms.multiply_reflections(name, matrices, count)
        operands = [value, _reshaped(op, op.operands[1], factors)]
        [result] = self._call(op, name, text, operands)
        replace(op, _reshaped(op, result, op.results[0].type))

    def _batch(self, op: Operation, value: SSAValue) -> tuple[Matrices, SSAValue]:
        """A tensor as one batch of matrices."""
        from ttmlir.passes.stablehlo.linear_algebra.algorithms import Matrices

        shape = _shape(value)
        element = str(cast("TensorType[Attribute]", value.type).element_type)
        if element not in _ELEMENTS or not 1 <= min(shape) <= max(shape[-2:]) <= MAX_EXTENT:
            refuse_to_legalize(
                op,
                f"matrices of {shape[-2]} x {shape[-1]} {element} are not supported; supported "
                f"are those of {', '.join(_ELEMENTS)} with 1 to {MAX_EXTENT} rows and columns",
            )
        batch = math.prod(shape[:-2])
        matrices = Matrices(batch, shape[-2], shape[-1], element)
        type_ = _tensor((batch, *shape[-2:]), value)
        return matrices, _reshaped(op, value, type_)

    def _call(
        self, op: Operation, name: str, text: str, operands: Sequence[SSAValue]
    ) -> Sequence[SSAValue]:
        from xdsl.dialects.func import CallOp, FuncOp

        from ttmlir.ir.symbols import symbols_in

        found = symbols_in(self._module)
        if name not in found:
            self._add(op, text)
            found = symbols_in(self._module)
        function = cast("FuncOp", found[name])
        call = CallOp(name, operands, function.function_type.outputs.data)
        call.location = op.location
        insert_before(op, call)
        return call.results

    def _add(self, op: Operation, text: str) -> None:
        """Add a function, all of it at the location of an operation."""
        from ttmlir.mlir.context import make_context
        from ttmlir.mlir.reading.reader import parse_module

        dialects = {
            "func": "xdsl.dialects.func:Func",
            "stablehlo": "ttmlir.dialects.stablehlo:STABLEHLO",
        }
        module = parse_module(text, "linear algebra", make_context(dialects))
        [function] = module.ops
        function.detach()
        for inner in function.walk():
            inner.location = op.location
        self._module.body.block.add_op(function)


def _suffix(a: Matrices) -> str:
    return f"{a.batch}x{a.rows}x{a.columns}x{a.element}"


def _shape(value: SSAValue) -> tuple[int, ...]:
    return tuple(cast("TensorType[Attribute]", value.type).get_shape())


def _tensor(shape: Sequence[int], like: SSAValue) -> Attribute:
    from xdsl.dialects.builtin import TensorType

    return TensorType(cast("TensorType[Attribute]", like.type).element_type, shape)


def _flag(op: Operation, name: str) -> bool:
    attr = op.properties.get(name)
    return attr is not None and bool(cast("IntegerAttr", attr).value.data)


def _reshaped(op: Operation, value: SSAValue, type_: Attribute) -> SSAValue:
    from ttmlir.dialects.stablehlo.movement import ReshapeOp

    if value.type == type_:
        return value
    new = ReshapeOp.create(operands=[value], result_types=[type_], location=op.location)
    insert_before(op, new)
    return new.results[0]


def _transposed(op: Operation, value: SSAValue) -> SSAValue:
    from xdsl.dialects.builtin import DenseArrayBase, i64

    from ttmlir.dialects.stablehlo.movement import TransposeOp

    batch, rows, columns = _shape(value)
    new = TransposeOp.create(
        operands=[value],
        result_types=[_tensor((batch, columns, rows), value)],
        properties={"permutation": DenseArrayBase.from_list(i64, [0, 2, 1])},
        location=op.location,
    )
    insert_before(op, new)
    return new.results[0]


OPERATIONS: dict[str, Callable[[_Expanding, Operation], None]] = {
    "stablehlo.cholesky": _Expanding.cholesky,
    "stablehlo.triangular_solve": _Expanding.triangular_solve,
}
_CUSTOM_CALLS: dict[str, Callable[[_Expanding, Operation], None]] = dict(
    zip(_CALLS, (_Expanding.qr, _Expanding.reflections), strict=True)
)
