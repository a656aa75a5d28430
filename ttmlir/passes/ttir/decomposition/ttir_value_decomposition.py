"""What `ttir-decomposition` does for operations that make their results.

A family of operations is a file `ttir_value_decomposition_*.py`, named in `_FAMILIES`, with rules
of `ttmlir.ir.greedy_rewriting` by the name of the operation, `RULES`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ttmlir.ir.greedy_rewriting import GreedyRewriter, collect_rules

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

_FAMILIES = (
    "ttmlir.passes.ttir.decomposition.ttir_value_decomposition_elementwise",
    "ttmlir.passes.ttir.decomposition.ttir_value_decomposition_contraction",
    "ttmlir.passes.ttir.decomposition.ttir_value_decomposition_normalization",
    "ttmlir.passes.ttir.decomposition.ttir_value_decomposition_window",
    "ttmlir.passes.ttir.decomposition.ttir_value_decomposition_indexing",
    "ttmlir.passes.ttir.decomposition.ttir_value_decomposition_quantization",
)
"""The modules of rules, in the order in which they are tried."""


def decompose_values(module: ModuleOp) -> None:
    """Decompose what there is a rule for."""
    GreedyRewriter(collect_rules(_FAMILIES), unites_constants=False).run(module)
