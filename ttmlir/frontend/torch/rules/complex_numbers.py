"""ATen operations on complex numbers: making them, decomposing them, Fourier transforms.

Tensors have complex elements until the program is imported; `stablehlo-expand-complex` then makes
pairs of them. Operations that mean the same of real numbers have the rules of those.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

from xdsl.dialects.builtin import AnyFloat, ComplexType, i1
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.composites import fourier
from ttmlir.dialects.stablehlo.elementwise import ComplexOp, ImagOp, RealOp
from ttmlir.frontend.torch.building import BodyBuilder
from ttmlir.frontend.torch.call import TorchCall, TorchRule
from ttmlir.ir.builder import array_in, complex_in
from ttmlir.ir.tensor_types import element_type, tensor_of, value_shape
from ttmlir.optable import named_in
from ttmlir.passes.stablehlo.complex.stablehlo_expand_complex import RULES as EXPANDED


def is_complex(value: SSAValue) -> bool:
    """True for tensors of complex numbers."""
    return isinstance(element_type(value), ComplexType)


def _part_type(value: SSAValue) -> Attribute:
    return cast("ComplexType", element_type(value)).element_type


def _create(
    build: BodyBuilder, cls: type[Operation], operands: Sequence[SSAValue], element: Attribute
) -> SSAValue:
    """An operation of StableHLO on each element."""
    type_ = tensor_of(element, value_shape(operands[0]))
    new = cls.create(operands=operands, result_types=[type_], location=build.location)
    return build.insert(new).results[0]


def parts_of(build: BodyBuilder, x: SSAValue) -> tuple[SSAValue, SSAValue]:
    """The real and the imaginary part."""
    element = _part_type(x)
    return _create(build, RealOp, (x,), element), _create(build, ImagOp, (x,), element)


def join(build: BodyBuilder, real: SSAValue, imag: SSAValue) -> SSAValue:
    """The complex tensor of two parts of one type."""
    element = ComplexType(cast("AnyFloat", element_type(real)))
    return _create(build, ComplexOp, (real, imag), element)


# -- making and decomposing --------------------------------------------------------------------


def _complex(call: TorchCall) -> SSAValue:
    return _joined(call, call.tensor("real"), call.tensor("imag"))


def _joined(call: TorchCall, real: SSAValue, imag: SSAValue) -> SSAValue:
    build, element = call.build, cast("ComplexType", call.element).element_type
    parts = [build.broadcast(build.cast(part, element), call.shape) for part in (real, imag)]
    return join(build, *parts)


def _polar(call: TorchCall) -> SSAValue:
    build, size, angle = call.build, call.tensor("abs"), call.tensor("angle")
    real, imag = (
        build.compute("multiply", size, build.compute(name, angle)) for name in ("cos", "sin")
    )
    return _joined(call, real, imag)


def _view_as_real(call: TorchCall) -> SSAValue:
    build, x = call.build, call.tensor()
    shape = (*value_shape(x), 1)
    parts = [build.reshape(part, shape) for part in parts_of(build, x)]
    pair = build.concat(parts, len(shape) - 1)
    build.complex_views[pair] = x
    return pair


def _view_as_complex(call: TorchCall) -> SSAValue:
    build, x = call.build, call.tensor()
    if x in build.complex_views:
        return build.complex_views[x]
    last = len(value_shape(x)) - 1
    real, imag = (
        build.reshape(build.slice_along(x, last, place, place + 1), call.shape) for place in (0, 1)
    )
    return join(build, real, imag)


def select_part(call: TorchCall) -> SSAValue | None:
    """The part that a place in what `view_as_real` gives has; None for all else."""
    x, index = call.tensor(), call.arguments.get("index")
    whole = call.build.complex_views.get(x)
    if whole is None or call.dim(x) != len(value_shape(x)) - 1 or not isinstance(index, int):
        return None
    return parts_of(call.build, whole)[index % 2]


def _conjugate(call: TorchCall) -> SSAValue:
    build = call.build
    real, imag = parts_of(build, call.tensor())
    return join(build, real, build.compute("neg", imag))


def _real(call: TorchCall) -> SSAValue:
    return parts_of(call.build, call.tensor())[0]


def _imag(call: TorchCall) -> SSAValue:
    return parts_of(call.build, call.tensor())[1]


def _copy_to(call: TorchCall) -> SSAValue:
    return call.build.cast(call.tensor(), call.element)


# -- real results ------------------------------------------------------------------------------


def _absolute(call: TorchCall) -> SSAValue:
    return call.build.compute("abs", call.tensor(), element=call.element)


def _angle(call: TorchCall) -> SSAValue:
    real, imag = parts_of(call.build, call.tensor())
    return call.build.compute("atan2", imag, real)


def _is_infinite(call: TorchCall) -> SSAValue:
    build, x = call.build, call.tensor()
    size = build.compute("abs", x, element=_part_type(x))
    return build.compute("eq", size, build.create_number(math.inf, size), element=i1)


def _of_sizes(rule: TorchRule) -> TorchRule:
    """What a rule makes of absolute values."""

    def found(call: TorchCall) -> SSAValue:
        x = call.tensor()
        size = call.build.compute("abs", x, element=_part_type(x))
        return cast("SSAValue", rule(_with(call, size)))

    return found


def _sum_of_variances(rule: TorchRule, *, root: bool) -> TorchRule:
    """The variances of both parts, added; or the root of that."""

    def found(call: TorchCall) -> SSAValue:
        build = call.build
        spreads = [
            cast("SSAValue", rule(_with(call, part))) for part in parts_of(build, call.tensor())
        ]
        total = build.compute("add", *spreads)
        return build.compute("sqrt", total) if root else total

    return found


def _with(call: TorchCall, x: SSAValue) -> TorchCall:
    return replace(call, arguments={**call.arguments, "self": x})


# -- Fourier transforms ------------------------------------------------------------------------


def _transform(call: TorchCall) -> SSAValue:
    """`_fft_c2c`, forward or back, and `_fft_r2c`, with all numbers or those that say all."""
    x = call.tensor()
    shape = value_shape(x)
    dims = _dims(call, len(shape))
    factor = _factor(call, [shape[dim] for dim in dims])
    build, order = call.build, _last(len(shape), dims)
    if not is_complex(x):
        moved = array_in(build, x).permute(order)
        one_sided = fourier.transform_real if call["onesided"] else fourier.transform
        found = one_sided(moved, len(dims), factor=factor)
    else:
        parts = complex_in(build, *parts_of(build, x)).map(lambda part: part.permute(order))
        found = fourier.transform(parts, len(dims), inverse=not call["forward"], factor=factor)
    back = [order.index(dim) for dim in range(len(shape))]
    found = found.map(lambda part: part.permute(back))
    return join(build, found.real.value, found.imag.value)


def _to_real(call: TorchCall) -> SSAValue:
    """`_fft_c2r`: the inverse transform of what is the transform of real numbers."""
    build, x = call.build, call.tensor()
    rank = len(value_shape(x))
    dims = _dims(call, rank)
    factor = _factor(call, [call.shape[dim] for dim in dims])
    order = _last(rank, dims)
    parts = complex_in(build, *parts_of(build, x)).map(lambda part: part.permute(order))
    found = fourier.invert_to_real(parts, len(dims), call["last_dim_size"], factor=factor)
    return found.permute([order.index(dim) for dim in range(rank)]).value


def _dims(call: TorchCall, rank: int) -> list[int]:
    """The dimensions in the order of the call, which is that of their transforms."""
    return [dim % rank for dim in cast("Sequence[int]", call["dim"])]


def _last(rank: int, dims: Sequence[int]) -> list[int]:
    """The order of dimensions with some of them at the end."""
    return [*(dim for dim in range(rank) if dim not in dims), *dims]


def _factor(call: TorchCall, lengths: Sequence[int]) -> float:
    """What torch's number of a normalization multiplies with: 1, or by a root or the whole."""
    return math.prod(lengths) ** (-0.5 * call["normalization"])


RULES: dict[str, TorchRule] = {
    "_fft_c2r": _to_real,
    "_fft_c2c": _transform,
    "_fft_r2c": _transform,
    "complex": _complex,
    "polar": _polar,
    "view_as_complex": _view_as_complex,
}
"""Rules of operations that have complex operands or results alone."""

OWN: dict[str, TorchRule] = {
    "_conj": _conjugate,
    "_conj_physical": _conjugate,
    "_to_copy": _copy_to,
    "abs": _absolute,
    "angle": _angle,
    "conj": _conjugate,
    "conj_physical": _conjugate,
    "imag": _imag,
    "isinf": _is_infinite,
    "real": _real,
    "view_as_real": _view_as_real,
}
"""Rules of operations that are others of complex numbers than of real ones."""

_OF_SIZES = ("linalg_vector_norm",)
_SPREADS = {"std": True, "var": False}
"""Sums of the variances of both parts, of which the root is taken or not."""
_ALIKE = frozenset(
    {
        *("_neg_view", "_unsafe_view", "addmm", "addmv", "alias", "all", "any", "as_strided"),
        *("as_strided_scatter", "cumprod", "linalg_cholesky_ex", "linalg_eig"),
        *("linalg_lu_factor_ex", "linalg_solve_triangular"),
        *("baddbmm", "bmm", "cat", "clone", "constant_pad_nd", "contiguous", "copy", "detach"),
        *("diagonal", "diagonal_copy", "diagonal_scatter", "dot", "empty", "empty_like"),
        *("empty_strided", "expand", "fill", "flatten", "flip", "full", "full_like"),
        *("index.Tensor", "index_add", "index_copy", "index_put", "index_select", "isnan"),
        *("lift_fresh_copy", "linear", "log10", "log2", "mm", "mv", "new_empty"),
        *("new_empty_strided", "new_full", "new_ones"),
        *("new_zeros", "ones_like", "outer", "resolve_conj", "resolve_neg", "roll"),
        *("scalar_tensor", "scatter.src", "scatter.value", "select.int", "select_copy.int"),
        *("select_scatter", "slice.Tensor", "slice_copy.Tensor", "slice_scatter"),
        *("split_with_sizes", "split_with_sizes_copy", "stack", "sub", "unfold", "view"),
        *("view_copy", "where.Scalar", "where.ScalarOther", "where.ScalarSelf", "where.self"),
        *("zeros_like", "_efficientzerotensor"),
    }
)
"""Operations whose rules for real numbers hold for complex ones, too, beside those that create
operations of ttir which `stablehlo-expand-complex` knows."""
_NAMED = named_in("aten")


def _is_alike(name: str) -> bool:
    definition = _NAMED.get(f"aten.{name}")
    mnemonic = name if definition is None else definition.mnemonic
    # Logic is about truth values, which each element becomes first.
    return name in _ALIKE or f"ttir.{mnemonic}" in EXPANDED or name.startswith("logical_")


def rule_for_complex(name: str, rules: Mapping[str, TorchRule]) -> TorchRule | None:
    """The rule of an operation such as `add.Tensor` on complex numbers; None if there is none.

    `rules` are those for real numbers.
    """
    for each in (name, name.partition(".")[0]):
        if each in OWN:
            return OWN[each]
        if each in RULES or _is_alike(each):
            return rules.get(each)
        if each in _OF_SIZES:
            return _of_sizes(rules[each])
        if each in _SPREADS:
            return _sum_of_variances(rules["var"], root=_SPREADS[each])
    return None
