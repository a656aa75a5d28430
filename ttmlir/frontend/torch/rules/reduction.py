"""ATen operations that combine elements along dimensions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import TensorType, i1, i32
from xdsl.ir import SSAValue

from ttmlir.arrays.array import Array
from ttmlir.frontend.torch.building import BodyBuilder
from ttmlir.frontend.torch.call import Result, TorchCall, TorchRule
from ttmlir.frontend.torch.elements import is_floating
from ttmlir.ir.tensor_types import element_type, tensor_of, value_shape
from ttmlir.optable import named_in
from ttmlir.optable.row import Family

Reduction = Callable[[BodyBuilder, SSAValue, tuple[int, ...], bool], SSAValue]
"""Reduces dimensions, which keep an extent of 1 if the last argument says so."""


def _reduction(reduction: Reduction) -> TorchRule:
    """A reduction in the element type of the result, over `dim`, or over everything."""

    def rule(call: TorchCall) -> SSAValue:
        x = call.build.cast(call.tensor(), call.element)
        return _reduce(call, x, reduction)

    return rule


def _reduce(call: TorchCall, x: SSAValue, reduction: Reduction) -> SSAValue:
    dims = call.dims("dim", len(value_shape(x)))
    return reduction(call.build, x, dims, bool(call.arguments.get("keepdim")))


def _op(mnemonic: str) -> Reduction:
    return lambda build, x, dims, keep: build.reduce(mnemonic, x, dims, keep_dim=keep)


def _truth(mnemonic: str) -> TorchRule:
    """Whether any or all elements are true."""

    def rule(call: TorchCall) -> SSAValue:
        truths = call.build.cast(call.tensor(), i1)
        found = _reduce(call, truths, _op(mnemonic))
        return call.build.cast(found, call.element)

    return rule


def variance(
    build: BodyBuilder,
    x: SSAValue,
    dims: tuple[int, ...],
    correction: float,
    *,
    keep_dim: bool = True,
) -> tuple[SSAValue, SSAValue]:
    """Variance over dimensions; and the mean, in which they keep an extent of 1."""
    count = math.prod(value_shape(x)[dim] for dim in dims)
    whole = build.array(x)
    average = whole.mean(*dims)
    mean, squares = average.value, (whole - average).square().value
    if correction == 0:
        return build.reduce("mean", squares, dims, keep_dim=keep_dim), mean
    total = build.reduce("sum", squares, dims, keep_dim=keep_dim)
    divisor = max(0.0, count - correction)
    return build.compute("div", total, build.create_number(divisor, total)), mean


def _correction(call: TorchCall) -> float:
    if "unbiased" in call.arguments:
        return float(call["unbiased"])
    return float(call["correction"]) if call.has("correction") else 1.0


def _var(call: TorchCall) -> SSAValue:
    correction = _correction(call)

    def reduction(build: BodyBuilder, x: SSAValue, dims: tuple[int, ...], keep: bool) -> SSAValue:
        return variance(build, x, dims, correction, keep_dim=keep)[0]

    return _reduce(call, call.tensor(), reduction)


def _std(call: TorchCall) -> SSAValue:
    return call.build.compute("sqrt", _var(call))


def _var_mean(call: TorchCall) -> tuple[SSAValue, SSAValue]:
    build, x = call.build, call.tensor()
    dims = call.dims("dim", len(value_shape(x)))
    keep = bool(call.arguments.get("keepdim"))
    spread, _ = variance(build, x, dims, _correction(call), keep_dim=keep)
    return spread, build.reduce("mean", x, dims, keep_dim=keep)


def _vector_norm(call: TorchCall) -> SSAValue:
    x, order = call.array(), float(call["ord"])
    size = x.abs()

    def total(parts: Array, mnemonic: str = "sum") -> Array:
        return call.build.array(_reduce(call, parts.value, _op(mnemonic)))

    if math.isinf(order):
        found = total(size, "max" if order > 0 else "min")
    elif order == 0:
        found = total(x.ne(0.0).cast(x.dtype))
    elif order == 1:
        found = total(size)
    else:
        found = total(x.square()).sqrt() if order == 2 else total(size.pow(order)).pow(1 / order)
    return found.value


def _extreme(mnemonic: str) -> TorchRule:
    """The largest or smallest value along a dimension, and its place."""

    def rule(call: TorchCall) -> Result:
        value = _reduce(call, call.tensor(), _op(mnemonic))
        # Whoever needs the value alone pays for no search.
        return value, lambda: _place(call, largest=mnemonic == "max", number=1)

    return rule


def _arg(*, largest: bool) -> TorchRule:
    return lambda call: _place(call, largest=largest, number=0)


def _place(call: TorchCall, *, largest: bool, number: int) -> SSAValue:
    """The place of the largest or smallest element: the first one of equals."""
    build, x = call.build, call.tensor()
    if not largest:
        x = _opposite(build, x)
    type_ = call.result_type(number)
    if not value_shape(x):
        return build.create_splat(0, tensor_of(type_.element_type, ()))
    dims = call.dims("dim", len(value_shape(x)))
    keep = bool(call.arguments.get("keepdim"))
    return build.create("argmax", (x,), type_, dim_arg=dims, keep_dim=keep)


def _opposite(build: BodyBuilder, x: SSAValue) -> SSAValue:
    """Numbers in the opposite order; NaN stays NaN."""
    element = element_type(x)
    if is_floating(element):
        return build.compute("neg", x)
    # The smallest integer has no negative.
    return build.compute("logical_not" if element == i1 else "bitwise_not", x)


# -- sorting; equal numbers keep their order, and NaN is the largest ---------------------------
# Equal numbers keep their order, whether torch promises it or not, and NaN is the largest.


def _sort(call: TorchCall) -> tuple[SSAValue, ...]:
    descending = bool(call["descending"])
    return _ordered(call, "sort", descending=descending, stable=bool(call.arguments.get("stable")))


def _topk(call: TorchCall) -> tuple[SSAValue, ...]:
    count, largest, is_sorted = call["k"], bool(call["largest"]), bool(call["sorted"])
    return _ordered(call, "topk", k=count, largest=largest, sorted=is_sorted)


def _ordered(call: TorchCall, mnemonic: str, **parameters: int | bool) -> tuple[SSAValue, ...]:
    """The numbers and their places, which torch counts in 64 bits."""
    build, x = call.build, call.tensor()
    values_type, places_type = call.result_type(0), call.result_type(1)
    if not value_shape(x):
        # A number by itself, or none of it, for k = 0.
        place = build.create_splat(0, tensor_of(places_type.element_type, ()))
        return build.reshape(x, call.shape), build.reshape(place, call.shape)
    types: Sequence[TensorType] = (values_type, TensorType(i32, values_type.get_shape()))
    values, places = build.create_several(mnemonic, (x,), types, dim=call.dim(x), **parameters)
    return values, build.cast(places, places_type.element_type)


RULES: dict[str, TorchRule] = {
    **{
        name.removeprefix("aten."): _reduction(_op(row.mnemonic))
        for name, row in named_in("aten").items()
        if row.family is Family.REDUCTION
    },
    "_is_all_true": _truth("reduce_and"),
    "_is_any_true": _truth("reduce_or"),
    "all": _truth("reduce_and"),
    "any": _truth("reduce_or"),
    "argmax": _arg(largest=True),
    "argmin": _arg(largest=False),
    "linalg_vector_norm": _vector_norm,
    "max.dim": _extreme("max"),
    "min.dim": _extreme("min"),
    "std": _std,
    "var": _var,
    "var_mean": _var_mean,
    "sort": _sort,
    "topk": _topk,
}
"""Rules by the name of the ATen operation, or of one of its overloads."""
