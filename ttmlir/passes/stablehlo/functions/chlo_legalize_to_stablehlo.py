"""Write operations of chlo in terms of stablehlo, as that project does.

Functions that JAX hands over as composites become calls, of functions that hold their terms.

Before:

    func.func @main(%a: tensor<5x7xf32>) -> tensor<5x7xf32> {
      %0 = chlo.square %a : tensor<5x7xf32> -> tensor<5x7xf32>
      %1 = chlo.atan %0 : tensor<5x7xf32> -> tensor<5x7xf32>
      return %1 : tensor<5x7xf32>
    }

After:

    module {
      func.func @main(%arg0: tensor<5x7xf32>) -> tensor<5x7xf32> {
        %0 = stablehlo.multiply %arg0, %arg0 : tensor<5x7xf32>
        %cst = stablehlo.constant dense<1.000000e+00> : tensor<5x7xf32>
        %1 = stablehlo.atan2 %0, %cst : tensor<5x7xf32>
        return %1 : tensor<5x7xf32>
      }
    }

Requires: static shapes.
Ensures: none of the operations that the tables here name is left.
Options: none.
Not done here: operations without a table entry stay; `stablehlo-expand-operations` has terms for
more of them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import (
    BoolAttr,
    FloatAttr,
    FunctionType,
    IntegerAttr,
    StringAttr,
    TensorType,
    i1,
    i32,
    i64,
)
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ttmlir.arrays.array import Array
from ttmlir.composites.bits import FORMAT_BITS, largest_number
from ttmlir.dialects.stablehlo.attrs import ComparisonDirectionAttr, ComparisonTypeAttr
from ttmlir.ir.rewriting import insert_before, replace
from ttmlir.ir.stablehlo_arrays import StableHLOCarrier
from ttmlir.ir.tensor_types import (
    dtype_of,
    element_type,
    is_complex,
    real_type,
    shape_of,
    value_shape,
)
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.stablehlo.specification.broadcasting import BROADCASTS

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp


@dataclass(frozen=True)
class ChloLegalizeToStableHLOPass(ModulePass):
    """Write operations of chlo in terms of stablehlo."""

    name = "chlo-legalize-to-stablehlo"
    title = "ChloLegalizeToStablehloPass"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Rewrite every operation that the tables name."""
        for op in [op for op in module.walk() if op.name in BROADCASTS]:
            BROADCASTS[op.name](op)
        for op in [op for op in module.walk() if op.name.startswith("chlo.")]:
            if op.name in _OF_REAL_NUMBERS and is_complex(op.operand_types[0]):
                continue
            if op.name in _OUTLINED:
                _outline(module, op)
            elif op.name in _INLINE:
                replace(op, *_INLINE[op.name](op, StableHLOCarrier.before(op), op.operands))


Terms = Callable[[Operation, StableHLOCarrier, Sequence[SSAValue]], Sequence[SSAValue]]
"""The results of an operation, from operands, made by a carrier."""


def _outline(module: ModuleOp, op: Operation) -> None:
    """Call a function with the terms."""
    block = Block(arg_types=op.operand_types)
    carrier = StableHLOCarrier(block, op.location)
    results = _OUTLINED[op.name](op, carrier, block.args)
    end = ReturnOp(*results)
    end.location = op.location
    block.add_op(end)
    taken = {each.sym_name.data for each in module.ops if isinstance(each, FuncOp)}
    stem = name = f"{op.name}.impl"
    numbers = itertools.count(1)
    while name in taken:
        name = f"{stem}_{next(numbers)}"
    type_ = FunctionType.from_lists(list(op.operand_types), list(op.result_types))
    function = FuncOp(name, type_, Region(block), visibility=StringAttr("private"))
    function.location = op.location
    module.body.block.add_op(function)
    call = CallOp(name, op.operands, list(op.result_types))
    call.location = op.location
    insert_before(op, call)
    replace(op, *call.results)


def _on_arrays(function: Callable[..., Array], *, wide: bool = False) -> Terms:
    """The terms that a function of arrays makes; `wide` for those that compute in f32 at least."""

    def terms(
        op: Operation, carrier: StableHLOCarrier, operands: Sequence[SSAValue]
    ) -> Sequence[SSAValue]:
        arrays = [carrier.wrap(each) for each in operands]
        dtype = arrays[0].dtype
        is_narrow = wide and dtype not in ("f32", "f64")
        found = function(*(each.cast("f32") if is_narrow else each for each in arrays))
        return [(found.cast(dtype) if is_narrow else found).value]

    return terms


def _full(x: Array, number: float) -> Array:
    """A constant of its own: those that are equal are merged, and then have no place."""
    return x.fill(number, x.shape)


def _polynomial(x: Array, coefficients: Sequence[float]) -> Array:
    """Horner's scheme, the coefficient of the highest power first."""
    found = _full(x, coefficients[0]) * x + _full(x, coefficients[1])
    for coefficient in coefficients[2:]:
        found = found * x + _full(x, coefficient)
    return found


# -- trigonometry ------------------------------------------------------------------------------


def _acos(x: Array) -> Array:
    one = _full(x, 1)
    below = one - x
    return (below * (one + x)).apply("sqrt").apply("atan2", x)


def _acosh(x: Array) -> Array:
    limit, two = _full(x, largest_number(x.dtype)), _full(x, 2)
    is_large = x >= limit / two
    large = two.apply("log") + x.apply("log")
    one = _full(x, 1)
    below, above = (x - one).apply("sqrt"), (x + one).apply("sqrt")
    return is_large.where(large, (below * (above + below)).apply("log1p"))


def _asin(x: Array) -> Array:
    one = _full(x, 1)
    below = one - x
    root = (below * (one + x)).apply("sqrt")
    half = x.apply("atan2", one + root)
    return half + half


def _asinh(x: Array) -> Array:
    sign, size = x.apply("sign"), x.abs()
    is_large = size >= _full(x, largest_number(x.dtype)).apply("sqrt")
    large = _full(x, 2).apply("log") + size.apply("log")
    square = size * size
    one = _full(x, 1)
    root = (one + square).apply("sqrt")
    small = (size + square / (one + root)).apply("log1p")
    return sign * is_large.where(large, small)


def _atan(x: Array) -> Array:
    return x.apply("atan2", _full(x, 1))


def _atanh(x: Array) -> Array:
    is_outside = x.abs() > _full(x, 1)
    nan = _full(x, math.nan)
    above = x.apply("log1p")
    found = (above - (-x).apply("log1p")) * _full(x, 0.5)
    return is_outside.where(nan, found)


def _halves(x: Array) -> tuple[Array, Array]:
    """Half of e to the powers of x and -x."""
    log = _full(x, 0.5).apply("log")
    above = (x + log).exp()
    return above, (log - x).exp()


def _cosh(x: Array) -> Array:
    above, below = _halves(x)
    return above + below


def _sinh(x: Array) -> Array:
    above, below = _halves(x)
    large = above - below
    excess = x.apply("expm1")
    one = _full(x, 1)
    small = _full(x, 0.5) * (excess + excess / (excess + one))
    return (x.abs() < one).where(small, large)


# -- error functions ---------------------------------------------------------------------------
# Coefficients of the single-precision functions of Cephes and, for the inverse, of M. Giles.

_ERF_TOP = (
    *(-2.72614225801306e-10, 2.77068142495902e-08, -2.10102402082508e-06, -5.69250639462346e-05),
    *(-7.34990630326855e-04, -2.95459980854025e-03, -1.60960333262415e-02),
)
_ERF_BOTTOM = (
    *(-1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03),
    *(-7.37332916720468e-03, -1.42647390514189e-02),
)
_ERFC_NEAR = (
    *(2.326819970068386e-2, -1.387039388740657e-1, 3.687424674597105e-1, -5.824733027278666e-1),
    *(6.210004621745983e-1, -4.944515323274145e-1, 3.404879937665872e-1, -2.741127028184656e-1),
    5.638259427386472e-1,
)
_ERFC_FAR = (
    *(-1.047766399936249e1, 1.297719955372516e1, -7.495518717768503, 2.921019019210786),
    *(-1.015265279202700, 4.218463358204948e-1, -2.820767439740514e-1, 5.641895067754075e-1),
)
_ERF_NEAR_0 = (
    *(7.853861353153693e-5, -8.010193625184903e-4, 5.188327685732524e-3, -2.685381193529856e-2),
    *(1.128358514861418e-1, -3.761262582423300e-1, 1.128379165726710),
)
_INVERSE_NEAR = (
    *(2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087),
    *(-0.00125372503, -0.00417768164, 0.246640727, 1.50140941),
)
_INVERSE_FAR = (
    *(-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773),
    *(-0.0076224613, 0.00943887047, 1.00167406, 2.83297682),
)
_LOG_OF_LARGEST = 88.7228394
"""Of e to larger powers there is no f32."""


def _erf(x: Array) -> Array:
    low, high = _full(x, -4), _full(x, 4)
    x = _clamp(low, x, high)
    square = x * x
    top = _polynomial(square, _ERF_TOP)
    bottom = _polynomial(square, _ERF_BOTTOM)
    found = x * top / bottom
    low, high = _full(x, -1), _full(x, 1)
    return _clamp(low, found, high)


def _clamp(low: Array, x: Array, high: Array) -> Array:
    carrier = cast("StableHLOCarrier", x.carrier)
    operands = [low.value, x.value, high.value]
    return carrier.wrap(carrier.make_one("clamp", operands, x.value.type))


def _erfc(x: Array) -> Array:
    square = x * x
    exponent = -square
    size, one = x.abs(), _full(x, 1)
    inverse = one / square
    decay = exponent.exp() * (one / size)
    two = _full(x, 2)
    is_near = size < two
    near = _polynomial(inverse, _ERFC_NEAR)
    far = _polynomial(inverse, _ERFC_FAR)
    found = decay * is_near.where(near, far)
    is_nothing = exponent < _full(x, -_LOG_OF_LARGEST)
    zero = _full(x, 0)
    found = is_nothing.where(zero, found)
    is_negative = x < zero
    found = is_negative.where(two - found, found)
    near_0 = _full(x, 1) - x * _polynomial(x * x, _ERF_NEAR_0)
    return (x.abs() < one).where(near_0, found)


def _erf_inv(x: Array) -> Array:
    w = -(x * -x).apply("log1p")
    is_near = w < _full(x, 5)
    near = w - _full(x, 2.5)
    w = is_near.where(near, w.apply("sqrt") - _full(x, 3))
    pairs = zip(_INVERSE_NEAR, _INVERSE_FAR, strict=True)
    first, *rest = pairs
    found = is_near.where(*(_full(x, each) for each in first))
    for pair in rest:
        coefficient = is_near.where(*(_full(x, each) for each in pair))
        found = coefficient + found * w
    found = found * x
    is_end = x.abs().eq(_full(x, 1))
    return is_end.where(x * _full(x, math.inf), found)


# -- the gamma function ------------------------------------------------------------------------

_LANCZOS = (
    *(676.520368121885098567009190444019, -1259.13921672240287047156078755283),
    *(771.3234287776530788486528258894, -176.61502916214059906584551354),
    *(12.507343278686904814458936853, -0.13857109526572011689554707),
    *(9.984369578019570859563e-6, 1.50563273514931155834e-7),
)
_G = 7.5
"""Lanczos' constant and a half."""


def _reflected(x: Array) -> tuple[Array, Array, Array, Array]:
    """Whether x is below 0.5, what Lanczos' series is about, 0.5 and 1."""
    half = _full(x, 0.5)
    is_low = x < half
    minus = -x
    one = _full(x, 1)
    return is_low, is_low.where(minus, x - one), half, one


def _log_of_base(z: Array) -> tuple[Array, Array]:
    """The base of the power in Lanczos' formula, and its logarithm."""
    g = _full(z, _G)
    base = g + z
    ratio = (z / g).apply("log1p")
    return base, _full(z, math.log(_G)) + ratio


def _lgamma(x: Array) -> Array:
    is_low, z, half, one = _reflected(x)
    series = one
    for number, weight in enumerate(_LANCZOS):
        coefficient = _full(x, weight)
        series = series + coefficient / (z + _full(x, number + 1))
    base, log = _log_of_base(z)
    quotient = base / log
    power = (z + half - quotient) * log
    logs = series.apply("log")
    found = _full(x, (math.log(2) + math.log(math.pi)) / 2) + power + logs
    size = x.abs()
    fraction = size - size.apply("floor")
    is_above = half < fraction
    fraction = is_above.where(one - fraction, fraction)
    sine = (_full(x, math.pi) * fraction).apply("sin").apply("log")
    reflection = _full(x, math.log(math.pi)) - sine - found
    reflection = sine.apply("isfinite").where(reflection, -sine)
    found = is_low.where(reflection, found)
    is_infinite = x.abs().eq(_full(x, math.inf))
    return is_infinite.where(_full(x, math.inf), found)


def _digamma(x: Array) -> Array:
    is_low, z, _, one = _reflected(x)
    zero = _full(x, 0)
    above, below = zero, one
    for number, weight in enumerate(_LANCZOS):
        coefficient = _full(x, weight)
        term = z + _full(x, number + 1)
        above = above - coefficient / (term * term)
        below = below + coefficient / term
    base, log = _log_of_base(z)
    quotient = above / below
    correction = _full(x, _G - 0.5) / base
    found = log + quotient - correction
    nearest = (x + _full(x, 0.5)).apply("floor")
    reduced = x + nearest.abs()
    pi = _full(x, math.pi)
    angle = pi * reduced
    cosine, sine = angle.apply("cos"), angle.apply("sin")
    found = is_low.where(found - pi * cosine / sine, found)
    is_pole = (x <= zero) & x.eq(x.apply("floor"))
    return is_pole.where(_full(x, math.nan), found)


# -- others ------------------------------------------------------------------------------------


def _conjugate(
    op: Operation, carrier: StableHLOCarrier, operands: Sequence[SSAValue]
) -> Sequence[SSAValue]:
    [x], type_ = operands, op.results[0].type
    if not is_complex(x.type):
        return [x]
    part = real_type(type_)
    real = carrier.make_one("real", [x], part)
    imag = carrier.make_one("negate", [carrier.make_one("imag", [x], part)], part)
    return [carrier.make_one("complex", [real, imag], type_)]


def _square(x: Array) -> Array:
    return x * x


def _tan(x: Array) -> Array:
    return x.apply("tan")


def _is_inf(x: Array) -> Array:
    return x.abs().eq(_full(x, math.inf))


def _is_pos_inf(x: Array) -> Array:
    return x.eq(_full(x, math.inf))


def _is_neg_inf(x: Array) -> Array:
    return x.eq(_full(x, -math.inf))


def _next_after(x: Array, y: Array) -> Array:
    """The neighbour of x towards y, by steps of its bits as an integer."""
    bits = 1 + sum(FORMAT_BITS[x.dtype])
    dtype = f"i{bits}"
    own, other = x.bitcast(dtype), y.bitcast(dtype)
    is_nan = x.ne(x) | y.ne(y)
    nan = _full(x, math.nan).bitcast(dtype)
    sign, rest = _full(own, -(1 << (bits - 1))), _full(own, (1 << (bits - 1)) - 1)
    size, other_size = own & rest, other & rest
    is_same = x.eq(y)
    zero = _full(own, 0)
    is_zero, is_other_zero = size.eq(zero), other_size.eq(zero)
    own_sign, other_sign = own & sign, other & sign
    one = _full(own, 1)
    smallest = other_sign | one
    differ = own_sign.ne(other_sign)
    is_down = (size > other_size) | differ
    step = is_down.where(_full(own, -1), one)
    found = own + step
    found = is_zero.where(is_other_zero.where(other, smallest), found)
    found = is_same.where(other, found)
    return is_nan.where(nan, found).bitcast(x.dtype)


def _top_k(
    op: Operation, carrier: StableHLOCarrier, operands: Sequence[SSAValue]
) -> Sequence[SSAValue]:
    """The first elements in descending order, and their places."""
    (value,) = operands
    shape = value_shape(value)
    dim = len(shape) - 1
    type_ = TensorType(i32, shape)
    places = carrier.make_one("iota", [], type_, iota_dimension=IntegerAttr(dim, i64))
    element = element_type(value)
    scalars = [TensorType(each, ()) for each in (element, element, i32, i32)]
    is_float = "f" in dtype_of(element)
    kind: dict[str, Attribute] = (
        {"compare_type": ComparisonTypeAttr("TOTALORDER")} if is_float else {}
    )
    body = Block(arg_types=scalars)
    inside = StableHLOCarrier(body, op.location)
    is_first = inside.make_one(
        "compare",
        body.args[:2],
        TensorType(i1, ()),
        comparison_direction=ComparisonDirectionAttr("GT"),
        **kind,
    )
    inside.make("return", [is_first], ())
    ordered = carrier.make(
        "sort",
        [value, places],
        [value.type, type_],
        [Region(body)],
        dimension=IntegerAttr(dim, i64),
        is_stable=BoolAttr.from_bool(True),
    )
    return [
        carrier.slice(each, result.type, limits=shape_of(result.type))
        for each, result in zip(ordered, op.results, strict=True)
    ]


def _constant(
    op: Operation, carrier: StableHLOCarrier, operands: Sequence[SSAValue]
) -> Sequence[SSAValue]:
    return carrier.make("constant", (), [op.results[0].type], value=op.properties["value"])


def _constant_like(
    op: Operation, carrier: StableHLOCarrier, operands: Sequence[SSAValue]
) -> Sequence[SSAValue]:
    number = cast("FloatAttr | IntegerAttr", op.properties["value"]).value.data
    return [carrier.make_constant(op.results[0].type, [number])]


_OUTLINED: dict[str, Terms] = {
    "chlo.acos": _on_arrays(_acos),
    "chlo.acosh": _on_arrays(_acosh),
    "chlo.asin": _on_arrays(_asin),
    "chlo.asinh": _on_arrays(_asinh),
    "chlo.atanh": _on_arrays(_atanh),
    "chlo.cosh": _on_arrays(_cosh, wide=True),
    "chlo.erf": _on_arrays(_erf, wide=True),
    "chlo.sinh": _on_arrays(_sinh, wide=True),
    "chlo.top_k": _top_k,
}
"""Operations that become calls."""
_OF_REAL_NUMBERS = frozenset(_OUTLINED) | {"chlo.atan"}
"""Operations whose terms are none of complex numbers: `stablehlo-expand-complex` has those."""
_INLINE: dict[str, Terms] = {
    "chlo.conj": _conjugate,
    "chlo.atan": _on_arrays(_atan),
    "chlo.constant": _constant,
    "chlo.constant_like": _constant_like,
    "chlo.digamma": _on_arrays(_digamma, wide=True),
    "chlo.erf_inv": _on_arrays(_erf_inv, wide=True),
    "chlo.erfc": _on_arrays(_erfc, wide=True),
    "chlo.is_inf": _on_arrays(_is_inf),
    "chlo.is_neg_inf": _on_arrays(_is_neg_inf),
    "chlo.is_pos_inf": _on_arrays(_is_pos_inf),
    "chlo.lgamma": _on_arrays(_lgamma, wide=True),
    "chlo.next_after": _on_arrays(_next_after),
    "chlo.square": _on_arrays(_square),
    "chlo.tan": _on_arrays(_tan),
}
"""Operations whose terms take their place."""

FUNCTIONS: Mapping[str, tuple[Callable[[Array], Array], bool]] = {
    "acosh": (_acosh, False),
    "atanh": (_atanh, False),
    "cosh": (_cosh, True),
    "erfinv": (_erf_inv, True),
    "lgamma": (_lgamma, True),
    "sinh": (_sinh, True),
    "square": (_square, False),
}
"""Functions by their names in ttir, and whether they compute in f32 at least."""
