"""ATen operations that make tensors from numbers.

Most of their calls are computed by torch while the program is read (see `program`); what is left
has the shape of a tensor, or is too large for that.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from ttmlir.frontend.torch.call import TorchCall, TorchRule
from ttmlir.ir.tensor_types import tensor_of


def _fill_with(name: str) -> TorchRule:
    """The number of an argument everywhere: Python's, or one that the program computes."""

    def fill(call: TorchCall) -> SSAValue:
        value = call[name]
        if isinstance(value, (int, float, complex)):
            return call.build.create_splat(value, tensor_of(call.element, call.shape))
        return call.build.broadcast(call.build.cast(call.tensor(name), call.element), call.shape)

    return fill


def _constant(number: float) -> TorchRule:
    return lambda call: call.build.create_splat(number, tensor_of(call.element, call.shape))


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
    "fill": _fill_with("value"),
    "full": _fill_with("fill_value"),
    "full_like": _fill_with("fill_value"),
    "new_empty": _constant(0),
    "new_empty_strided": _constant(0),
    "new_full": _fill_with("fill_value"),
    "new_ones": _constant(1),
    "new_zeros": _constant(0),
    "ones_like": _constant(1),
    "scalar_tensor": _fill_with("s"),
    "_efficientzerotensor": _constant(0),
    "_new_zeros_with_same_feature_meta": _constant(0),
    "zeros_like": _constant(0),
}
"""Rules by the name of the ATen operation, or of one of its overloads."""
