"""The gradients of activations."""

from __future__ import annotations

from xdsl.dialects.builtin import i1
from xdsl.ir import SSAValue

from ttmlir.frontend.torch.call import TorchCall, TorchRule


def _shrink_backward(name: str) -> TorchRule:
    """The gradient of `hardshrink` and `softshrink`: 0 where the input became 0."""

    def rule(call: TorchCall) -> SSAValue:
        build, gradient, x = call.build, call.tensor(name), call.tensor("self")
        limit = float(call["lambd"])
        low = build.compute("ge", x, build.create_number(-limit, x), element=i1)
        high = build.compute("le", x, build.create_number(limit, x), element=i1)
        inside = build.compute("logical_and", low, high)
        return build.compute("where", inside, build.create_number(0.0, gradient), gradient)

    return rule


RULES: dict[str, TorchRule] = {
    "hardshrink_backward": _shrink_backward("grad_out"),
    "softshrink_backward": _shrink_backward("grad_output"),
}
"""Rules by the name of the ATen operation."""
