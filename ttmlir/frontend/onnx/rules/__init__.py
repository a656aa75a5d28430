"""What becomes of each operator: one rule for each domain and name."""

from __future__ import annotations

from collections.abc import Mapping

from ttmlir.frontend.onnx.call import Rule
from ttmlir.frontend.onnx.rules import (
    attention,
    classical,
    contraction,
    control,
    elementwise,
    experts,
    fused,
    indexing,
    movement,
    normalization,
    quantization,
    quantized,
    recurrent,
    reduction,
    regions,
    resampling,
    selection,
    sequences,
    signals,
    support_vectors,
    training,
    trees,
    window,
)

_DOMAINS = {
    "": (
        contraction,
        control,
        elementwise,
        indexing,
        movement,
        normalization,
        quantization,
        recurrent,
        reduction,
        regions,
        resampling,
        selection,
        sequences,
        signals,
        window,
    ),
    "ai.onnx.ml": (classical, support_vectors, trees),
    "ai.onnx.preview.training": (training,),
    "com.microsoft": (attention, experts, fused, quantized),
}

_MICROSOFT = "com.microsoft"

RULES: Mapping[tuple[str, str], Rule] = {
    **{
        (domain, name): rule
        for domain, modules in _DOMAINS.items()
        for module in modules
        for name, rule in module.RULES.items()
    },
    **{("", name): rule for name, rule in fused.STANDARD_RULES.items()},
}
"""Rules by the domains and names of operators; those of the standard have the domain ''."""

INPUTS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("" if name in fused.STANDARD_RULES else _MICROSOFT, name): tuple(names.split())
    for module in (attention, experts, fused, quantized)
    for name, names in module.INPUTS.items()
}
"""Names of the inputs of operators that are not in the standard; that of many ends in a star."""
