"""ATen operations that put numbers in order.

Equal numbers keep their order, whether torch promises it or not, and NaN is the largest.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType, i32
from xdsl.ir import SSAValue

from ttmlir.frontend.torch.call import TorchCall, TorchRule
from ttmlir.ir.tensor_types import tensor_of, value_shape


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


RULES: dict[str, TorchRule] = {"sort": _sort, "topk": _topk}
"""Rules by the name of the ATen operation, or of one of its overloads."""
