"""ATen operations that combine elements along dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import TensorType, i1, i32
from xdsl.ir import SSAValue

from ttmlir.arrays.array import Array
from ttmlir.composites.normalization import find_variance
from ttmlir.composites.statistics import norm
from ttmlir.frontend.torch.building import BodyBuilder
from ttmlir.frontend.torch.call import Result, TorchCall, TorchRule
from ttmlir.frontend.torch.elements import is_floating
from ttmlir.ir.tensor_types import element_type, tensor_of, value_shape
from ttmlir.optable import named_in
from ttmlir.optable.op_definition import Family

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


def _correction(call: TorchCall) -> float:
    if "unbiased" in call.arguments:
        return float(call["unbiased"])
    return float(call["correction"]) if call.has("correction") else 1.0


def _variance(call: TorchCall) -> tuple[Array, tuple[int, ...], bool]:
    """The variance, over which dimensions it is, and whether they stay."""
    x = call.array(cast=False)
    dims, keep = call.dims("dim", x.rank), bool(call.arguments.get("keepdim"))
    return find_variance(x, dims, _correction(call), keep=keep)[0], dims, keep


def _var(call: TorchCall) -> SSAValue:
    return _variance(call)[0].value


def _std(call: TorchCall) -> SSAValue:
    return _variance(call)[0].sqrt().value


def _var_mean(call: TorchCall) -> tuple[SSAValue, SSAValue]:
    variance, dims, keep = _variance(call)
    return variance.value, call.array(cast=False).mean(*dims, keep=keep).value


def _vector_norm(call: TorchCall) -> Result:
    x = call.array()
    dims = call.dims("dim", x.rank)
    return call.results(norm(x, float(call["ord"]), dims, keep=bool(call["keepdim"])))


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
        name.removeprefix("aten."): _reduction(_op(definition.mnemonic))
        for name, definition in named_in("aten").items()
        if definition.family is Family.REDUCTION
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
