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


def _silu_backward(call: TorchCall) -> SSAValue:
    """`sigmoid(x) * (1 + x * (1 - sigmoid(x)))`."""
    build, gradient, x = call.build, call.tensor("grad_output"), call.tensor("self")
    one = build.create_number(1.0, x)
    gate = build.compute("sigmoid", x)
    rest = build.compute("multiply", x, build.compute("subtract", one, gate))
    slope = build.compute("multiply", gate, build.compute("add", one, rest))
    return build.compute("multiply", gradient, slope)


def _mish_backward(call: TorchCall) -> SSAValue:
    """Of `x * tanh(softplus(x))`."""
    build, gradient, x = call.build, call.tensor("grad_output"), call.tensor("self")
    one = build.create_number(1.0, x)
    # log(1 + exp(x)), which is exact where exp(x) is large.
    above = build.compute("maximum", x, build.create_number(0.0, x))
    small = build.compute("exp", build.compute("neg", build.compute("abs", x)))
    softplus = build.compute("add", above, build.compute("log1p", small))
    level = build.compute("tanh", softplus)
    rest = build.compute("subtract", one, build.compute("multiply", level, level))
    inner = build.compute("multiply", build.compute("sigmoid", x), rest)
    slope = build.compute("add", level, build.compute("multiply", x, inner))
    return build.compute("multiply", gradient, slope)


RULES: dict[str, TorchRule] = {
    "mish_backward": _mish_backward,
    "silu_backward": _silu_backward,
    "hardshrink_backward": _shrink_backward("grad_out"),
    "softshrink_backward": _shrink_backward("grad_output"),
}
"""Rules by the name of the ATen operation."""
