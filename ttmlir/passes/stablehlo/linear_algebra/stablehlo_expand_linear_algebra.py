"""Compute factorizations of matrices and triangular systems by loops over their rows and columns.

Each becomes a call of a function with a `stablehlo.while`, for batches of matrices of floating
point numbers with at most 1,024 rows and columns, 256 for eigenvalues and singular values. Custom
calls are those that JAX makes for CPUs, of LAPACK, and for other platforms.

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
Not done here: eigenvalues of matrices that are not symmetric; complex matrices.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from ttmlir.ir.rewriting import insert_before, refuse_to_legalize, replace
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from xdsl.context import Context
    from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, ModuleOp, StringAttr, TensorType
    from xdsl.ir import Attribute, Data, Operation, SSAValue

    from ttmlir.arrays.array import Array
    from ttmlir.ir.stablehlo_arrays import StableHLOCarrier
    from ttmlir.mlir.attributes import ElementsType

    Algorithm = Callable[..., Sequence[Array]]

MAX_EXTENT = 1024
"""Most rows, and most columns, of a matrix: a loop has an iteration for each of them."""
MAX_ROTATED_EXTENT = 256
"""Most rows or columns, whichever there are fewer of, where each pair of them is rotated."""
_ELEMENTS = ("f16", "bf16", "f32", "f64")
_LAPACK = re.compile(r"(?:lapack|blas)_[sd](\w+?)(?:_ffi)?$")
"""A routine for real numbers."""


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
                if not _replace_empty(op):
                    rule(expanding, op)


def _replace_empty(op: Operation) -> bool:
    """True if nothing is to be computed but that nothing went wrong: integers that say so are 0."""
    from ttmlir.passes.stablehlo.specification.writer import Writer

    types = [cast("ElementsType", result.type) for result in op.results]
    is_number = [str(type_.element_type).lstrip("u") != "i32" for type_ in types]
    empty = [0 in type_.get_shape() for type_ in types]
    if not all(is_empty or not number for is_empty, number in zip(empty, is_number, strict=True)):
        return False
    write = Writer(op)
    replace(op, *(write.constant(type_, [0]) for type_ in types))
    return True


def is_expanded_call(target: str) -> bool:
    """True for the target of a custom call that has an algorithm here."""
    return _rule_of_call(target) is not None


def _expansion_of(op: Operation) -> Callable[[_Expanding, Operation], None] | None:
    if op.name == "stablehlo.custom_call":
        target = cast("StringAttr", op.properties["call_target_name"]).data
        if _LAPACK.match(target) and "mhlo.backend_config" not in op.attributes:
            # An older form, which says what it means by operands.
            return None
        return _rule_of_call(target)
    return OPERATIONS.get(op.name)


def _rule_of_call(target: str) -> Callable[[_Expanding, Operation], None] | None:
    if (routine := _LAPACK.match(target)) is not None:
        return _ROUTINES.get(routine[1])
    return _CUSTOM_CALLS.get(target)


class _Expanding:
    """Calls of functions, each of which is added to the module once."""

    def __init__(self, module: ModuleOp) -> None:
        self._module = module

    # -- operations and custom calls -----------------------------------------------------------

    def cholesky(self, op: Operation) -> None:
        self._finish(op, [self._cholesky(op, is_lower=_flag(op, "lower"))])

    def potrf(self, op: Operation) -> None:
        found = self._cholesky(op, is_lower=_letter(op, "uplo") != "U")
        self._finish(op, [found, self._is_wrong(op, found)])

    def _cholesky(self, op: Operation, *, is_lower: bool) -> SSAValue:
        from ttmlir.composites.linear_algebra import find_cholesky

        value = self._batch(op, op.operands[0])
        value = value if is_lower else _transposed(op, value)
        [result] = self._call(op, "cholesky", find_cholesky, [value])
        return result if is_lower else _transposed(op, result)

    def triangular_solve(self, op: Operation) -> None:
        transposes = cast("Data[str]", op.properties["transpose_a"]).data != "NO_TRANSPOSE"
        left, lower, unit = (_flag(op, name) for name in ("left_side", "lower", "unit_diagonal"))
        self._solve(op, left=left, lower=lower, unit=unit, transposes=transposes)

    def trsm(self, op: Operation) -> None:
        self._solve(
            op,
            left=_letter(op, "side") == "L",
            lower=_letter(op, "uplo") == "L",
            unit=_letter(op, "diag") == "U",
            transposes=_letter(op, "trans_x") != "N",
        )

    def _solve(
        self, op: Operation, *, left: bool, lower: bool, unit: bool, transposes: bool
    ) -> None:
        from ttmlir.composites.linear_algebra import solve_triangular

        a, b = (self._batch(op, value) for value in op.operands)
        if not left:
            b = _transposed(op, b)
        if transposes == left:
            a, lower = _transposed(op, a), not lower

        def solve(a: Array, b: Array) -> Sequence[Array]:
            return solve_triangular(a, b, lower=lower, unit=unit)

        name = f"solve_{'lower' if lower else 'upper'}{'_unit' if unit else ''}"
        [result] = self._call(op, name, solve, [a, b])
        self._finish(op, [result if left else _transposed(op, result)])

    def qr(self, op: Operation) -> None:
        from ttmlir.composites.linear_algebra import factorize_by_reflections

        value = self._batch(op, op.operands[0])
        self._finish(op, self._call(op, "qr", factorize_by_reflections, [value]))

    def reflections(self, op: Operation) -> None:
        from ttmlir.composites.linear_algebra import multiply_reflections

        value = self._batch(op, op.operands[0])
        count = _shape(op.operands[1])[-1]
        factors = _reshaped(op, op.operands[1], _tensor((_shape(value)[0], count), value))
        self._finish(op, self._call(op, "reflections", multiply_reflections, [value, factors]))

    def lu(self, op: Operation) -> None:
        self._finish(op, self._factorize(op))

    def getrf(self, op: Operation) -> None:
        factors, pivots, _ = self._factorize(op)
        counted = self._carrier(op).wrap(pivots) + 1
        info = counted.fill(0, _shape(op.results[2]))
        self._finish(op, [factors, counted.value, info.value])

    def _factorize(self, op: Operation) -> Sequence[SSAValue]:
        from ttmlir.composites.linear_algebra import factorize_by_elimination

        value = self._batch(op, op.operands[0])
        return self._call(op, "lu", factorize_by_elimination, [value])

    def syevd(self, op: Operation) -> None:
        vectors, values = self._eigenvectors(op, is_lower=_letter(op, "uplo") == "L")
        self._finish(op, [vectors, values, self._is_wrong(op, vectors)])

    def eigh(self, op: Operation) -> None:
        self._finish(op, self._eigenvectors(op, is_lower=True))

    def _eigenvectors(self, op: Operation, *, is_lower: bool) -> Sequence[SSAValue]:
        from ttmlir.composites.linear_algebra import find_symmetric_eigenvectors

        value = self._batch(op, op.operands[0], MAX_ROTATED_EXTENT)
        value = value if is_lower else _transposed(op, value)
        return self._call(op, "eigh", find_symmetric_eigenvectors, [value])

    def gesdd(self, op: Operation) -> None:
        mode = _letter(op, "mode")
        value = op.operands[0]
        if mode == "N":
            [values] = self._singular_values(op)
            zeros = [self._zeros(op, result.type) for result in op.results[2:4]]
            self._finish(op, [value, values, *zeros, self._is_wrong(op, values)])
            return
        left, values, right = self._singular_vectors(op, full=mode == "A")
        self._finish(op, [value, values, left, right, self._is_wrong(op, left)])

    def svd(self, op: Operation) -> None:
        """U, values and V^T, with as many columns as its first result says."""
        least = min(_shape(op.operands[0])[-2:])
        is_full = max(_shape(op.results[0])[-1], _shape(op.results[2])[-2]) > least
        self._finish(op, self._singular_vectors(op, full=is_full))

    def svdvals(self, op: Operation) -> None:
        self._finish(op, self._singular_values(op))

    def _singular_values(self, op: Operation) -> Sequence[SSAValue]:
        from ttmlir.composites.linear_algebra import find_singular_values

        return self._call(op, "svdvals", find_singular_values, [self._tall(op)[0]])

    def _singular_vectors(self, op: Operation, *, full: bool) -> Sequence[SSAValue]:
        from ttmlir.composites.linear_algebra import find_singular_vectors

        def find(a: Array) -> Sequence[Array]:
            return find_singular_vectors(a, full=full)

        value, is_wide = self._tall(op)
        name = "svd_full" if full else "svd"
        left, values, right = self._call(op, name, find, [value])
        if is_wide:
            left, right = _transposed(op, right), _transposed(op, left)
        return [left, values, right]

    def _tall(self, op: Operation) -> tuple[SSAValue, bool]:
        """The matrices with no fewer rows than columns; True if they were transposed for that."""
        value = self._batch(op, op.operands[0], MAX_ROTATED_EXTENT)
        _, rows, columns = _shape(value)
        return (_transposed(op, value), True) if rows < columns else (value, False)

    # -- values --------------------------------------------------------------------------------

    def _finish(self, op: Operation, results: Sequence[SSAValue]) -> None:
        types = [result.type for result in op.results]
        pairs = zip(results, types, strict=True)
        replace(op, *(_reshaped(op, result, type_) for result, type_ in pairs))

    def _is_wrong(self, op: Operation, value: SSAValue) -> SSAValue:
        """1 for each matrix or vector of a batch that is not a number, as LAPACK's `info`."""
        found = self._carrier(op).wrap(value)
        found = found.reshape((found.shape[0], -(-math.prod(found.shape) // found.shape[0])))
        first = found.cut(1, 0, 1)
        return first.ne(first).cast("i32").value

    def _zeros(self, op: Operation, type_: Attribute) -> SSAValue:
        tensor = cast("TensorType[Attribute]", type_)
        return self._carrier(op).fill(0, tensor.get_shape(), str(tensor.element_type))

    def _carrier(self, op: Operation) -> StableHLOCarrier:
        from ttmlir.ir.stablehlo_arrays import StableHLOCarrier

        return StableHLOCarrier.before(op)

    def _batch(self, op: Operation, value: SSAValue, most: int = MAX_EXTENT) -> SSAValue:
        """A tensor as one batch of matrices; `most` is how many rows or columns there may be."""
        shape = _shape(value)
        element = str(cast("TensorType[Attribute]", value.type).element_type)
        sides = shape[-2:]
        is_small = 1 <= min(shape) <= max(sides) <= MAX_EXTENT and min(sides) <= most
        if element not in _ELEMENTS or not is_small:
            limit = "" if most == MAX_EXTENT else f", and at most {most} of one of them"
            refuse_to_legalize(
                op,
                f"matrices of {shape[-2]} x {shape[-1]} {element} are not supported; supported "
                f"are those of {', '.join(_ELEMENTS)} with 1 to {MAX_EXTENT} rows and columns"
                f"{limit}; compute larger ones on the host and pass the result as an argument",
            )
        return _reshaped(op, value, _tensor((math.prod(shape[:-2]), *sides), value))

    def _call(
        self, op: Operation, name: str, algorithm: Algorithm, operands: Sequence[SSAValue]
    ) -> Sequence[SSAValue]:
        from xdsl.dialects.func import CallOp, FuncOp

        from ttmlir.ir.rewriting import symbols_in

        name = "_".join([name, *map(_suffix, operands)])
        function = symbols_in(self._module).get(name)
        if function is None:
            function = self._add(op, name, algorithm, [value.type for value in operands])
        call = CallOp(name, operands, cast("FuncOp", function).function_type.outputs.data)
        call.location = op.location
        insert_before(op, call)
        return call.results

    def _add(
        self, op: Operation, name: str, algorithm: Algorithm, types: Sequence[Attribute]
    ) -> Operation:
        """Add a function, all of it at the location of an operation."""
        from xdsl.dialects.func import FuncOp, ReturnOp
        from xdsl.ir import Block, Region

        from ttmlir.ir.stablehlo_arrays import StableHLOCarrier

        block = Block(arg_types=types)
        carrier = StableHLOCarrier(block, op.location)
        results = [each.value for each in algorithm(*map(carrier.wrap, block.args))]
        end = ReturnOp(*results)
        end.location = op.location
        block.add_op(end)
        signature = types, [each.type for each in results]
        function = FuncOp(name, signature, Region(block), visibility="private")
        function.location = op.location
        self._module.body.block.add_op(function)
        return function


def _suffix(value: SSAValue) -> str:
    element = cast("TensorType[Attribute]", value.type).element_type
    return "x".join([*map(str, _shape(value)), str(element)])


def _shape(value: SSAValue) -> tuple[int, ...]:
    return tuple(cast("TensorType[Attribute]", value.type).get_shape())


def _tensor(shape: Sequence[int], like: SSAValue) -> Attribute:
    from xdsl.dialects.builtin import TensorType

    return TensorType(cast("TensorType[Attribute]", like.type).element_type, shape)


def _flag(op: Operation, name: str) -> bool:
    attr = op.properties.get(name)
    return attr is not None and bool(cast("IntegerAttr", attr).value.data)


def _letter(op: Operation, name: str) -> str:
    """A character that a routine of LAPACK is given, such as `L` for the lower triangle."""
    config = cast("DictionaryAttr", op.attributes["mhlo.backend_config"])
    return chr(cast("IntegerAttr", config.data[name]).value.data)


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
_CUSTOM_CALLS: dict[str, Callable[[_Expanding, Operation], None]] = {
    "Qr": _Expanding.qr,
    "ProductOfElementaryHouseholderReflectors": _Expanding.reflections,
    "LuDecomposition": _Expanding.lu,
    "ttmlir.eigh": _Expanding.eigh,
    "ttmlir.svd": _Expanding.svd,
    "ttmlir.svdvals": _Expanding.svdvals,
}
_ROUTINES: dict[str, Callable[[_Expanding, Operation], None]] = {
    "geqrf": _Expanding.qr,
    "gesdd": _Expanding.gesdd,
    "getrf": _Expanding.getrf,
    "orgqr": _Expanding.reflections,
    "potrf": _Expanding.potrf,
    "syevd": _Expanding.syevd,
    "trsm": _Expanding.trsm,
}
"""Routines of LAPACK, without the letter of their type."""
