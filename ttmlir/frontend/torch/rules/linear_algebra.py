"""ATen operations that factorize matrices.

They become operations and custom calls of StableHLO, whose algorithms are those of all frontends;
the finished module is lowered to ttir.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import BoolAttr, StringAttr, TensorType, i32
from xdsl.ir import Attribute, SSAValue

from ttmlir.arrays.array import Array
from ttmlir.dialects.stablehlo.attrs import TransposeAttr
from ttmlir.dialects.stablehlo.contraction import CholeskyOp, TriangularSolveOp
from ttmlir.dialects.stablehlo.control import CustomCallOp
from ttmlir.frontend.torch.call import TorchCall, TorchRule
from ttmlir.ir.tensor_types import value_shape


def _cholesky(call: TorchCall) -> tuple[SSAValue, ...]:
    """The factor, and 1 instead of 0 where there is none."""
    a = call.tensor()
    upper = bool(call["upper"])
    factor = _create(call, CholeskyOp, [a], a.type, lower=BoolAttr.from_bool(not upper))
    found = call.build.array(factor)
    first = found.slice([0] * found.rank, [*found.shape[:-2], 1, 1])
    type_ = call.result_type(1)
    info = first.is_nan().cast(str(type_.element_type)).reshape(type_.get_shape())
    return _triangle(found, upper=upper).value, info.value


def _triangle(a: Array, *, upper: bool) -> Array:
    """One triangle, and 0 elsewhere."""
    rows, columns = (a.count(dim, a.shape[-2:]) for dim in (0, 1))
    return (rows <= columns if upper else rows >= columns).where(a, 0)


def _solve_triangular(call: TorchCall) -> SSAValue:
    a, b = call.tensor(), call.tensor("B")
    outer = call.shape[:-2]
    a = call.build.broadcast(a, (*outer, *value_shape(a)[-2:]))
    b = call.build.broadcast(b, (*outer, *value_shape(b)[-2:]))
    return _create(
        call,
        TriangularSolveOp,
        [a, b],
        b.type,
        left_side=BoolAttr.from_bool(bool(call["left"])),
        lower=BoolAttr.from_bool(not call["upper"]),
        unit_diagonal=BoolAttr.from_bool(bool(call["unitriangular"])),
        transpose_a=TransposeAttr("NO_TRANSPOSE"),
    )


def _factorize_by_reflections(call: TorchCall) -> tuple[SSAValue, ...]:
    return _call(call, "Qr", [call.tensor()], [call.result_type(n) for n in (0, 1)])


def _multiply_reflections(call: TorchCall) -> SSAValue:
    target = "ProductOfElementaryHouseholderReflectors"
    return _call(call, target, [call.tensor("input"), call.tensor("tau")], [call.result_type()])[0]


def _factorize_by_elimination(call: TorchCall) -> tuple[SSAValue, ...]:
    """The factors in one matrix, the rows that were exchanged, from 1, and nothing wrong."""
    build = call.build
    factors, pivots, _ = _eliminate(call)
    one = build.create_number(1, pivots)
    info = build.create_splat(0, call.result_type(2))
    return factors, build.compute("add", pivots, one), info


def _eliminate(call: TorchCall) -> tuple[SSAValue, ...]:
    a = call.tensor("A")
    *outer, rows, columns = value_shape(a)
    pivots = TensorType(i32, (*outer, min(rows, columns)))
    return _call(call, "LuDecomposition", [a], [a.type, pivots, TensorType(i32, (*outer, rows))])


def _factorize_symmetric(call: TorchCall) -> tuple[SSAValue, ...]:
    """The factors in one triangle, the rows that were exchanged, and nothing wrong."""
    a, types = call.tensor(), [call.result_type(n) for n in range(3)]
    factors, pivots = _call(call, "ttmlir.ldl", [a], types[:2])
    return factors, pivots, call.build.create_splat(0, types[2])


def _solve_symmetric(call: TorchCall) -> SSAValue:
    factors, pivots, b = (call.tensor(name) for name in ("LD", "pivots", "B"))
    outer = call.shape[:-2]
    operands = [
        call.build.broadcast(each, (*outer, *value_shape(each)[-count:]))
        for each, count in ((factors, 2), (pivots, 1), (b, 2))
    ]
    return _call(call, "ttmlir.ldl_solve", operands, [call.result_type()])[0]


def _eigenvectors(call: TorchCall) -> tuple[SSAValue, ...]:
    """The values and vectors of one triangle."""
    a = call.tensor("A")
    if str(call["UPLO"]).upper() == "U":
        rank = len(value_shape(a))
        a = call.build.transpose(a, rank - 2, rank - 1)
    vectors, values = _call(call, "ttmlir.eigh", [a], [a.type, call.result_type(0)])
    return values, vectors


def _eigenvectors_of_any(call: TorchCall) -> tuple[SSAValue, ...]:
    """Complex values and vectors, of matrices that need not be symmetric."""
    return _call(call, "ttmlir.eig", [call.tensor()], [call.result_type(n) for n in (0, 1)])


def _singular_vectors(call: TorchCall) -> tuple[SSAValue, ...]:
    a = call.tensor("A")
    if not call["compute_uv"]:
        [values] = _call(call, "ttmlir.svdvals", [a], [call.result_type(1)])
        empty = [call.build.create_splat(0, a.type)] * 2
        return empty[0], values, empty[1]
    return _call(call, "ttmlir.svd", [a], [call.result_type(n) for n in range(3)])


def _call(
    call: TorchCall, target: str, operands: Sequence[SSAValue], types: Sequence[Attribute]
) -> tuple[SSAValue, ...]:
    new = CustomCallOp.create(
        operands=operands,
        result_types=types,
        properties={"call_target_name": StringAttr(target)},
        location=call.build.location,
    )
    return tuple(call.build.insert(new).results)


def _create(
    call: TorchCall,
    cls: type[CholeskyOp | TriangularSolveOp],
    operands: Sequence[SSAValue],
    type_: Attribute,
    **properties: Attribute,
) -> SSAValue:
    new = cls.create(
        operands=operands,
        result_types=[type_],
        properties=properties,
        location=call.build.location,
    )
    return call.build.insert(new).results[0]


RULES: dict[str, TorchRule] = {
    "_linalg_eigh": _eigenvectors,
    "_linalg_svd": _singular_vectors,
    "geqrf": _factorize_by_reflections,
    "linalg_cholesky_ex": _cholesky,
    "linalg_eig": _eigenvectors_of_any,
    "linalg_householder_product": _multiply_reflections,
    "linalg_ldl_factor_ex": _factorize_symmetric,
    "linalg_ldl_solve": _solve_symmetric,
    "linalg_lu_factor_ex": _factorize_by_elimination,
    "linalg_solve_triangular": _solve_triangular,
}
"""Rules by the name of the ATen operation."""
