"""ATen operations that make tensors from numbers.

Most of their calls are computed by torch while the program is read (see `program`); what is left
has the shape of a tensor, or is too large for that.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from ttmlir.frontend.torch.call import Call, Rule


def _full(call: Call) -> SSAValue:
    return call.build.splat(call["fill_value"], call.element, call.shape)


def _fill(call: Call) -> SSAValue:
    value = call["value"]
    if isinstance(value, (int, float)):
        return call.build.splat(value, call.element, call.shape)
    return call.build.broadcast(call.build.cast(call.tensor("value"), call.element), call.shape)


def _constant(number: float) -> Rule:
    return lambda call: call.build.splat(number, call.element, call.shape)


def _scalar_tensor(call: Call) -> SSAValue:
    return call.build.splat(call["s"], call.element, ())


RULES: dict[str, Rule] = {
    "empty": _constant(0),
    "empty_like": _constant(0),
    "empty_strided": _constant(0),
    "fill": _fill,
    "full": _full,
    "full_like": _full,
    "new_full": _full,
    "ones_like": _constant(1),
    "scalar_tensor": _scalar_tensor,
    "zeros_like": _constant(0),
}
"""Rules by the name of the ATen operation, or of one of its overloads."""
