"""What becomes of each operator: one rule for each domain and name."""

from __future__ import annotations

from collections.abc import Mapping

from ttmlir.frontend.onnx.call import Rule
from ttmlir.frontend.onnx.rules import (
    contraction,
    control,
    elementwise,
    indexing,
    movement,
    normalization,
    quantization,
    recurrent,
    reduction,
    resampling,
    sequences,
    signals,
    window,
)

RULES: Mapping[tuple[str, str], Rule] = {
    ("", name): rule
    for rules in (
        elementwise.RULES,
        movement.RULES,
        reduction.RULES,
        contraction.RULES,
        normalization.RULES,
        indexing.RULES,
        window.RULES,
        control.RULES,
        sequences.RULES,
        recurrent.RULES,
        signals.RULES,
        resampling.RULES,
        quantization.RULES,
    )
    for name, rule in rules.items()
}
"""Rules by the domains and names of operators; those of the standard have the domain ''."""

INPUTS: Mapping[tuple[str, str], tuple[str, ...]] = {}
"""Names of the inputs of operators that are not in the standard."""
