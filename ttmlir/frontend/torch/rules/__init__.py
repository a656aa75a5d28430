"""What becomes of each ATen operation: one rule for each name, or for one of its overloads."""

from __future__ import annotations

from ttmlir.frontend.torch.call import TorchRule
from ttmlir.frontend.torch.rules import (
    attention,
    complex_numbers,
    contraction,
    creation,
    elementwise,
    indexing,
    kernels,
    linear_algebra,
    losses,
    movement,
    normalization,
    reduction,
    resampling,
    statistics,
    window,
)

RULES: dict[str, TorchRule] = {
    **elementwise.RULES,
    **movement.RULES,
    **reduction.RULES,
    **attention.RULES,
    **contraction.RULES,
    **normalization.RULES,
    **indexing.RULES,
    **window.RULES,
    **linear_algebra.RULES,
    **losses.RULES,
    **resampling.RULES,
    **statistics.RULES,
    **creation.RULES,
    **complex_numbers.RULES,
}
"""Rules by names such as `add` (all overloads) or `max.dim`."""


def rule_of(name: str) -> TorchRule | None:
    """The rule of an overload by a name such as `aten.add.Tensor`; None if there is none."""
    if not name.startswith("aten."):
        return kernels.RULES.get(name.rpartition(".")[0])
    overload = name.removeprefix("aten.")
    base = overload.partition(".")[0]
    return RULES.get(overload) or RULES.get(base) or complex_numbers.OWN.get(base)


def rule_for_complex(name: str) -> TorchRule | None:
    """The rule of an overload that complex numbers are given to, or come from."""
    if not name.startswith("aten."):
        return None
    return complex_numbers.rule_for_complex(name.removeprefix("aten."), RULES)
