"""Compute factorizations of matrices and triangular systems by loops over their rows and columns.

Each becomes a call of a function with a `stablehlo.while`, for batches of matrices of floating
point numbers with at most 1,024 rows and columns, 256 for eigenvalues of symmetric matrices and
singular values, 64 for eigenvalues of others, which may be complex. Custom calls are those that JAX
makes for CPUs, of LAPACK, and for other platforms.

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
Not done here: LDL factors, and pivoted QR factors and tridiagonal systems of complex numbers.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import ComplexType, TensorType
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Region

from ttmlir.arrays.array import Array
from ttmlir.composites import complex_matrices, eigenvalues, linear_algebra
from ttmlir.composites.complex_numbers import Complex
from ttmlir.dialects.definition.ods import is_set
from ttmlir.ir.constants import splat_number
from ttmlir.ir.rewriting import insert_before, refuse_to_legalize, replace, symbols_in
from ttmlir.ir.stablehlo_arrays import StableHLOCarrier
from ttmlir.ir.tensor_types import element_of, element_type, value_shape
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from xdsl.context import Context
    from xdsl.dialects.builtin import AnyFloat, DictionaryAttr, IntegerAttr, ModuleOp, StringAttr
    from xdsl.ir import Attribute, Data, Operation

    Algorithm = Callable[..., Sequence[Array]]

MAX_EXTENT = 1024
"""Most rows, and most columns, of a matrix: a loop has an iteration for each of them."""
MAX_ROTATED_EXTENT = 256
"""Most rows or columns, whichever there are fewer of, where each pair of them is rotated."""
MAX_SWEPT_EXTENT = 64
"""Most rows of a matrix that is swept from end to end until it is triangular."""
_ELEMENTS = ("f16", "bf16", "f32", "f64")
_COMPLEX = "geev|gees|geqrf|gesdd|getrf|heevd|potrf|trsm|ungqr"
_LAPACK = re.compile(rf"(?:lapack|blas)_(?:[sd]|[cz](?={_COMPLEX}))(\w+?)(?:_ffi)?$")
"""A routine for real numbers, or one that is here for complex ones, too."""


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
    write = StableHLOCarrier.before(op)
    results = [write.wrap(result) for result in op.results]
    if not all(0 in each.shape or each.dtype.lstrip("u") == "i32" for each in results):
        return False
    numbers = ([] if 0 in each.shape else [0] for each in results)
    replace(op, *map(write.make_constant, (each.type for each in op.results), numbers))
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
        self._finish(op, [self._cholesky(op, is_lower=is_set(op, "lower"))])

    def potrf(self, op: Operation) -> None:
        found = self._cholesky(op, is_lower=_letter(op, "uplo") != "U")
        self._finish(op, [found, self._is_wrong(found)])

    def _cholesky(self, op: Operation, *, is_lower: bool) -> Array:
        if _has_complex(op):
            x = self._complex_batch(op, 0)
            x = x if is_lower else complex_matrices.adjoint(x)

            def factorize(x: Complex) -> Sequence[Complex]:
                return [complex_matrices.find_cholesky(x)]

            [found] = self._call_complex(op, "cholesky", factorize, [x])
            return self._join(op, found if is_lower else complex_matrices.adjoint(found))
        x = self._batch(op, 0)
        [result] = self._call(
            op, "cholesky", linear_algebra.find_cholesky, [x if is_lower else x.transpose()]
        )
        return result if is_lower else result.transpose()

    def triangular_solve(self, op: Operation) -> None:
        how = cast("Data[str]", op.properties["transpose_a"]).data[0]
        left, lower, unit = (is_set(op, name) for name in ("left_side", "lower", "unit_diagonal"))
        self._solve(op, left=left, lower=lower, unit=unit, how={"A": "C"}.get(how, how))

    def trsm(self, op: Operation) -> None:
        self._solve(
            op,
            left=_letter(op, "side") == "L",
            lower=_letter(op, "uplo") == "L",
            unit=_letter(op, "diag") == "U",
            how=_letter(op, "trans_x"),
        )

    def _solve(self, op: Operation, *, left: bool, lower: bool, unit: bool, how: str) -> None:
        """The matrix is as it is, transposed or also conjugated by `how`: N, T or C."""
        turns = (how != "N") == left
        lower = lower != turns
        name = f"solve_{'lower' if lower else 'upper'}{'_unit' if unit else ''}"
        if _has_complex(op):
            a, b = self._complex_batch(op, 0), self._complex_batch(op, 1)
            a = a.conjugate() if how == "C" else a
            a = a.map(Array.transpose) if turns else a
            b = b if left else b.map(Array.transpose)

            def solve_complex(a: Complex, b: Complex) -> Sequence[Complex]:
                return [complex_matrices.solve_triangular(a, b, lower=lower, unit=unit)]

            [found] = self._call_complex(op, name, solve_complex, [a, b])
            self._finish(op, [self._join(op, found if left else found.map(Array.transpose))])
            return

        def solve(a: Array, b: Array) -> Sequence[Array]:
            return linear_algebra.solve_triangular(a, b, lower=lower, unit=unit)

        real_a, real_b = self._batch(op, 0), self._batch(op, 1)
        operands = [
            real_a.transpose() if turns else real_a,
            real_b if left else real_b.transpose(),
        ]
        [result] = self._call(op, name, solve, operands)
        self._finish(op, [result if left else result.transpose()])

    def gtsv(self, op: Operation) -> None:
        """The diagonals are left as they are, as nobody asks what elimination makes of them."""
        carrier = StableHLOCarrier.before(op)
        b = self._batch(op, 3)
        diagonals = [carrier.wrap(each) for each in op.operands[:3]]
        operands = [each.reshape((*b.shape[:2], 1)) for each in diagonals]
        [x] = self._call(op, "tridiagonal", linear_algebra.solve_tridiagonal, [*operands, b])
        self._finish(op, [*diagonals, x, self._is_wrong(x)])

    def qr(self, op: Operation) -> None:
        if _has_complex(op):
            reflect = complex_matrices.factorize_by_reflections
            found = self._call_complex(op, "qr", reflect, [self._complex_batch(op, 0)])
            self._finish(op, [self._join(op, each) for each in found])
            return
        factorize = linear_algebra.factorize_by_reflections
        self._finish(op, self._call(op, "qr", factorize, [self._batch(op, 0)]))

    def reflections(self, op: Operation) -> None:
        if _has_complex(op):
            a, factors = self._complex_batch(op, 0), self._parts(op, 1)
            batch, _, columns = a.real.shape

            def multiply_complex(a: Complex, factors: Complex) -> Sequence[Complex]:
                return [complex_matrices.multiply_reflections(a, factors, columns)]

            taus = factors.map(lambda part: part.reshape((batch, part.shape[-1], 1)))
            [found] = self._call_complex(op, "reflections", multiply_complex, [a, taus])
            self._finish(op, [self._join(op, found)])
            return
        x = self._batch(op, 0)
        factors = StableHLOCarrier.before(op).wrap(op.operands[1])
        operands = [x, factors.reshape((x.shape[0], factors.shape[-1]))]
        multiply = linear_algebra.multiply_reflections
        self._finish(op, self._call(op, "reflections", multiply, operands))

    def lu(self, op: Operation) -> None:
        self._finish(op, self._factorize(op))

    def getrf(self, op: Operation) -> None:
        factors, pivots, *_ = self._factorize(op)
        counted = pivots + 1
        self._finish(op, [factors, counted, counted.fill(0, value_shape(op.results[2]))])

    def _factorize(self, op: Operation) -> Sequence[Array]:
        if _has_complex(op):

            def factorize(real: Array, imag: Array) -> Sequence[Array]:
                return [
                    each
                    for found in complex_matrices.factorize_by_elimination(Complex(real, imag))
                    for each in (
                        (found.real, found.imag) if isinstance(found, Complex) else [found]
                    )
                ]

            x = self._complex_batch(op, 0)
            *found, pivots, order = self._call(op, "lu_complex", factorize, [x.real, x.imag])
            return [self._join(op, Complex(*found)), pivots, order]
        return self._call(op, "lu", linear_algebra.factorize_by_elimination, [self._batch(op, 0)])

    def ldl(self, op: Operation) -> None:
        factorize = linear_algebra.factorize_symmetric
        self._finish(op, self._call(op, "ldl", factorize, [self._batch(op, 0)]))

    def ldl_solve(self, op: Operation) -> None:
        """X of A X = B; pivots have the rows of matrices."""
        factors, b = self._batch(op, 0), self._batch(op, 2)
        pivots = StableHLOCarrier.before(op).wrap(op.operands[1]).reshape(factors.shape[:2])
        solve = linear_algebra.solve_symmetric
        self._finish(op, self._call(op, "ldl_solve", solve, [factors, pivots, b]))

    def syevd(self, op: Operation) -> None:
        vectors, values = self._eigenvectors(op, is_lower=_letter(op, "uplo") == "L")
        self._finish(op, [vectors, values, self._is_wrong(vectors)])

    def heevd(self, op: Operation) -> None:
        x = self._complex_batch(op, 0, MAX_ROTATED_EXTENT)
        x = x if _letter(op, "uplo") == "L" else complex_matrices.adjoint(x)
        find = complex_matrices.find_hermitian_eigenvectors
        *vectors, values = self._call_parts(op, "eigh", find, x)
        self._finish(op, [self._join(op, Complex(*vectors)), values, self._is_wrong(values)])

    def eigh(self, op: Operation) -> None:
        self._finish(op, self._eigenvectors(op, is_lower=True))

    def _eigenvectors(self, op: Operation, *, is_lower: bool) -> Sequence[Array]:
        x = self._batch(op, 0, MAX_ROTATED_EXTENT)
        find = linear_algebra.find_symmetric_eigenvectors
        return self._call(op, "eigh", find, [x if is_lower else x.transpose()])

    def gesdd(self, op: Operation) -> None:
        mode = _letter(op, "mode")
        if _has_complex(op):
            self._complex_gesdd(op, mode)
            return
        value = StableHLOCarrier.before(op).wrap(op.operands[0])
        if mode == "N":
            [values] = self._singular_values(op)
            zeros = [value.fill(0, value_shape(result)) for result in op.results[2:4]]
            self._finish(op, [value, values, *zeros, self._is_wrong(values)])
            return
        left, values, right = self._singular_vectors(op, full=mode == "A")
        self._finish(op, [value, values, left, right, self._is_wrong(left)])

    def _complex_gesdd(self, op: Operation, mode: str) -> None:
        value = StableHLOCarrier.before(op).wrap(op.operands[0])
        x = self._complex_batch(op, 0, MAX_ROTATED_EXTENT)
        is_wide = x.real.shape[1] < x.real.shape[2]
        x = complex_matrices.adjoint(x) if is_wide else x
        if mode == "N":
            find = complex_matrices.find_singular_values
            [values] = self._call_parts(op, "svdvals", find, x)
            zeros = (values.fill(0, value_shape(result)) for result in op.results[2:4])
            vectors = [self._join(op, Complex(each, each)) for each in zeros]
        else:
            name = "svd_full" if mode == "A" else "svd"
            find = partial(complex_matrices.find_singular_vectors, full=mode == "A")
            a, b, values, c, d = self._call_parts(op, name, find, x)
            sides = [Complex(a, b), Complex(c, d)]
            if is_wide:
                sides = [complex_matrices.adjoint(each) for each in reversed(sides)]
            vectors = [self._join(op, each) for each in sides]
        self._finish(op, [value, values, *vectors, self._is_wrong(values)])

    def svd(self, op: Operation) -> None:
        """U, values and V^T, with as many columns as its first result says."""
        least = min(value_shape(op.operands[0])[-2:])
        is_full = max(value_shape(op.results[0])[-1], value_shape(op.results[2])[-2]) > least
        self._finish(op, self._singular_vectors(op, full=is_full))

    def svdvals(self, op: Operation) -> None:
        self._finish(op, self._singular_values(op))

    def _singular_values(self, op: Operation) -> Sequence[Array]:
        find = linear_algebra.find_singular_values
        return self._call(op, "svdvals", find, [self._tall(op)[0]])

    def _singular_vectors(self, op: Operation, *, full: bool) -> Sequence[Array]:
        def find(a: Array) -> Sequence[Array]:
            return linear_algebra.find_singular_vectors(a, full=full)

        x, is_wide = self._tall(op)
        left, values, right = self._call(op, "svd_full" if full else "svd", find, [x])
        if is_wide:
            left, right = right.transpose(), left.transpose()
        return [left, values, right]

    def _tall(self, op: Operation) -> tuple[Array, bool]:
        """The matrices with no fewer rows than columns; True if they were transposed for that."""
        x = self._batch(op, 0, MAX_ROTATED_EXTENT)
        is_wide = x.shape[1] < x.shape[2]
        return x.transpose() if is_wide else x, is_wide

    def geqp3(self, op: Operation) -> None:
        free = op.operands[1]
        while getattr(free.owner, "name", "") == "stablehlo.broadcast_in_dim":
            free = cast("Operation", free.owner).operands[0]
        if splat_number(free) != 0:
            refuse_to_legalize(op, "columns that stay in front are not supported; let all be free")
        factorize = linear_algebra.factorize_with_pivots
        self._finish(op, self._call(op, "qr_pivoted", factorize, [self._batch(op, 0)]))

    def gehrd(self, op: Operation) -> None:
        x = self._batch(op, 0, MAX_SWEPT_EXTENT)
        factorize = eigenvalues.factorize_to_hessenberg
        found, factors = self._call(op, "hessenberg", factorize, [x])
        self._finish(op, [found, factors, self._is_wrong(found)])

    def geev(self, op: Operation) -> None:
        if _letter(op, "compute_left") == "V":
            refuse_to_legalize(
                op,
                "eigenvectors from the left are not supported; those of the transposed matrix, "
                "conjugated, are the same",
            )
        values, right = self._eigenvalues(op, vectors=_letter(op, "compute_right") == "V")
        found = [self._join(op, values)] if _has_complex(op) else [values.real, values.imag]
        vectors = self._join(op, right)
        # Nobody asked for those from the left.
        self._finish(op, [*found, vectors, vectors, self._is_wrong(values.real)])

    def eig(self, op: Operation) -> None:
        found = self._eigenvalues(op, vectors=True)
        self._finish(op, [self._join(op, each) for each in found])

    def _eigenvalues(self, op: Operation, *, vectors: bool) -> Sequence[Complex]:
        is_real = not _has_complex(op)

        def find(a: Complex) -> Sequence[Complex]:
            return eigenvalues.find_eigenvalues(a, is_real=is_real, vectors=vectors)

        name = f"eig{'' if vectors else 'vals'}{'_real' if is_real else ''}"
        return self._call_complex(op, name, find, [self._complex_batch(op, 0, MAX_SWEPT_EXTENT)])

    def gees(self, op: Operation) -> None:
        if not _has_complex(op):
            self._real_gees(op)
            return
        x = self._complex_batch(op, 0, MAX_SWEPT_EXTENT)
        t, z = self._call_complex(op, "schur", eigenvalues.find_schur_form, [x])
        rows, columns = (t.real.count(dim, t.real.shape) for dim in (1, 2))
        values = complex_matrices.chosen(rows.eq(columns), t, 2)
        wrong = self._is_wrong(t.real)
        joined = [self._join(op, each) for each in (t, z, values)]
        self._finish(op, [*joined, wrong * 0, wrong])

    def _real_gees(self, op: Operation) -> None:
        x = self._batch(op, 0, MAX_SWEPT_EXTENT)
        t, z = self._call(op, "schur_real", eigenvalues.find_real_schur_form, [x])
        rows, columns = (t.count(dim, t.shape) for dim in (1, 2))
        real = rows.eq(columns).where(t, 0).sum(2)
        # Of a block of two the elements beside the diagonal have different signs.
        root = (-(t * t.transpose())).maximum(0).sqrt()
        first = rows.eq(columns - 1).where(root, 0).sum(2)
        imag = first - rows.eq(columns + 1).where(root, 0).sum(2)
        wrong = self._is_wrong(t)
        self._finish(op, [t, z, real, imag, wrong * 0, wrong])

    # -- complex numbers -----------------------------------------------------------------------

    def _complex_batch(self, op: Operation, number: int, most: int = MAX_EXTENT) -> Complex:
        """An operand as one batch of complex matrices, also a real one."""
        if not _has_complex(op):
            real = self._batch(op, number, most)
            return Complex(real, real * 0)
        return self._parts(op, number).map(lambda part: self._checked(op, part, most))

    def _parts(self, op: Operation, number: int) -> Complex:
        """Both parts of a complex operand."""
        carrier = StableHLOCarrier.before(op)
        value = op.operands[number]
        element = cast("ComplexType[AnyFloat]", element_type(value)).element_type
        type_ = TensorType(element, value_shape(value))
        found = (carrier.wrap(carrier.make_one(name, [value], type_)) for name in ("real", "imag"))
        return Complex(*found)

    def _join(self, op: Operation, x: Complex) -> Array:
        """Complex numbers of both parts."""
        carrier = StableHLOCarrier.before(op)
        type_ = TensorType(ComplexType(cast("AnyFloat", element_of(x.real.dtype))), x.real.shape)
        return carrier.wrap(carrier.make_one("complex", [x.real.value, x.imag.value], type_))

    def _call_complex(
        self,
        op: Operation,
        name: str,
        algorithm: Callable[..., Sequence[Complex]],
        operands: Sequence[Complex],
    ) -> list[Complex]:
        """The results of an algorithm of complex matrices."""

        def run(*given: Array) -> Sequence[Array]:
            pairs = zip(given[::2], given[1::2], strict=True)
            return complex_matrices.parts(*algorithm(*(Complex(*pair) for pair in pairs)))

        found = self._call(op, f"{name}_complex", run, complex_matrices.parts(*operands))
        return [Complex(*pair) for pair in zip(found[::2], found[1::2], strict=True)]

    def _call_parts(
        self, op: Operation, name: str, find: Callable[[Complex], Sequence[Array]], x: Complex
    ) -> Sequence[Array]:
        """The results, of which each is one array, of an algorithm of a complex matrix."""

        def run(real: Array, imag: Array) -> Sequence[Array]:
            return find(Complex(real, imag))

        return self._call(op, f"{name}_complex", run, complex_matrices.parts(x))

    # -- values --------------------------------------------------------------------------------

    def _finish(self, op: Operation, results: Sequence[Array]) -> None:
        pairs = zip(results, op.results, strict=True)
        replace(op, *(each.reshape(value_shape(result)).value for each, result in pairs))

    def _is_wrong(self, found: Array) -> Array:
        """1 for each matrix or vector of a batch that is not a number, as LAPACK's `info`."""
        found = found.reshape((found.shape[0], -(-math.prod(found.shape) // found.shape[0])))
        first = found.cut(1, 0, 1)
        return first.ne(first).cast("i32")

    def _batch(self, op: Operation, number: int, most: int = MAX_EXTENT) -> Array:
        """An operand as one batch of matrices; `most` is how many rows or columns there may be."""
        x = StableHLOCarrier.before(op).wrap(op.operands[number])
        return self._checked(op, x, most)

    def _checked(self, op: Operation, x: Array, most: int) -> Array:
        sides = x.shape[-2:]
        is_small = 1 <= min(x.shape) <= max(sides) <= MAX_EXTENT and min(sides) <= most
        if x.dtype not in _ELEMENTS or not is_small:
            limit = "" if most == MAX_EXTENT else f", and at most {most} of one of them"
            refuse_to_legalize(
                op,
                f"matrices of {sides[0]} x {sides[1]} {x.dtype} are not supported; supported "
                f"are those of {', '.join(_ELEMENTS)} with 1 to {MAX_EXTENT} rows and columns"
                f"{limit}; compute others on the host and pass the result as an argument",
            )
        return x.reshape((math.prod(x.shape[:-2]), *sides))

    def _call(
        self, op: Operation, name: str, algorithm: Algorithm, operands: Sequence[Array]
    ) -> Sequence[Array]:
        shapes = ("x".join([*map(str, each.shape), each.dtype]) for each in operands)
        name = "_".join([name, *shapes])
        values = [each.value for each in operands]
        function = symbols_in(self._module).get(name)
        if function is None:
            function = self._add(op, name, algorithm, [value.type for value in values])
        call = CallOp(name, values, cast("FuncOp", function).function_type.outputs.data)
        call.location = op.location
        insert_before(op, call)
        return [*map(StableHLOCarrier.before(op).wrap, call.results)]

    def _add(
        self, op: Operation, name: str, algorithm: Algorithm, types: Sequence[Attribute]
    ) -> Operation:
        """Add a function, all of it at the location of an operation."""
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


def _has_complex(op: Operation) -> bool:
    return isinstance(element_type(op.operands[0]), ComplexType)


def _letter(op: Operation, name: str) -> str:
    """A character that a routine of LAPACK is given, such as `L` for the lower triangle."""
    config = cast("DictionaryAttr", op.attributes["mhlo.backend_config"])
    return chr(cast("IntegerAttr", config.data[name]).value.data)


OPERATIONS: dict[str, Callable[[_Expanding, Operation], None]] = {
    "stablehlo.cholesky": _Expanding.cholesky,
    "stablehlo.triangular_solve": _Expanding.triangular_solve,
}
_CUSTOM_CALLS: dict[str, Callable[[_Expanding, Operation], None]] = {
    "Qr": _Expanding.qr,
    "ProductOfElementaryHouseholderReflectors": _Expanding.reflections,
    "LuDecomposition": _Expanding.lu,
    "ttmlir.eig": _Expanding.eig,
    "ttmlir.eigh": _Expanding.eigh,
    "ttmlir.ldl": _Expanding.ldl,
    "ttmlir.ldl_solve": _Expanding.ldl_solve,
    "ttmlir.svd": _Expanding.svd,
    "ttmlir.svdvals": _Expanding.svdvals,
}
_ROUTINES: dict[str, Callable[[_Expanding, Operation], None]] = {
    "gees": _Expanding.gees,
    "geev": _Expanding.geev,
    "gehrd": _Expanding.gehrd,
    "geqp3": _Expanding.geqp3,
    "geqrf": _Expanding.qr,
    "gesdd": _Expanding.gesdd,
    "getrf": _Expanding.getrf,
    "gtsv": _Expanding.gtsv,
    "heevd": _Expanding.heevd,
    "orgqr": _Expanding.reflections,
    "potrf": _Expanding.potrf,
    "syevd": _Expanding.syevd,
    "trsm": _Expanding.trsm,
    "ungqr": _Expanding.reflections,
}
"""Routines of LAPACK, without the letter of their type."""
