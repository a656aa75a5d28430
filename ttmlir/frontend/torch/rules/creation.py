"""ATen operations that make tensors from numbers.

Most of their calls are computed by torch while the program is read (see `program`); what is left
has the shape of a tensor, or is too large for that.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from ttmlir.frontend.torch.call import TorchCall, TorchRule
from ttmlir.ir.tensor_types import tensor_of


def _full(call: TorchCall) -> SSAValue:
    return call.build.create_splat(call["fill_value"], tensor_of(call.element, call.shape))


def _fill(call: TorchCall) -> SSAValue:
    value = call["value"]
    if isinstance(value, (int, float, complex)):
        return call.build.create_splat(value, tensor_of(call.element, call.shape))
    return call.build.broadcast(call.build.cast(call.tensor("value"), call.element), call.shape)


def _constant(number: float) -> TorchRule:
    return lambda call: call.build.create_splat(number, tensor_of(call.element, call.shape))


def _scalar_tensor(call: TorchCall) -> SSAValue:
    return call.build.create_splat(call["s"], tensor_of(call.element, ()))


def _arange(call: TorchCall) -> SSAValue:
    """Whole numbers; shorter ranges are constants."""
    start, step = call.arguments.get("start") or 0, call.arguments.get("step") or 1
    return call.build.create(
        "arange",
        (),
        tensor_of(call.element, call.shape),
        start=start,
        end=start + step * call.shape[0],
        step=step,
        arange_dimension=0,
    )


RULES: dict[str, TorchRule] = {
    "arange": _arange,
    "empty": _constant(0),
    "empty_like": _constant(0),
    "empty_strided": _constant(0),
    "fill": _fill,
    "full": _full,
    "full_like": _full,
    "new_empty": _constant(0),
    "new_empty_strided": _constant(0),
    "new_full": _full,
    "new_ones": _constant(1),
    "new_zeros": _constant(0),
    "ones_like": _constant(1),
    "scalar_tensor": _scalar_tensor,
    "_efficientzerotensor": _constant(0),
    "zeros_like": _constant(0),
}
"""Rules by the name of the ATen operation, or of one of its overloads."""
