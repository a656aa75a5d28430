"""ATen operations that autograd makes: gradients of operations that torch does not decompose."""

from __future__ import annotations

from ttmlir.frontend.torch.call import TorchRule
from ttmlir.frontend.torch.rules.gradient import attention, convolution, elementwise, pooling

RULES: dict[str, TorchRule] = {
    **attention.RULES,
    **convolution.RULES,
    **elementwise.RULES,
    **pooling.RULES,
}
"""Rules by the name of the ATen operation, or of one of its overloads."""
