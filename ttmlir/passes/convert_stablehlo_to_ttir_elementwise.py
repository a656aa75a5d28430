"""Rules of StableHLO's elementwise operations, for `convert-stablehlo-to-ttir`."""

from __future__ import annotations

from xdsl.dialects.builtin import i1
from xdsl.ir import Operation

from ttmlir.optable.stablehlo import ELEMENTWISE, LOGICAL
from ttmlir.passes.ttir_building import element_type
from ttmlir.passes.ttir_conversion import Rule, becomes


def _on_booleans(logical: str, otherwise: str) -> Rule:
    """The rule of an operation on truth values where the elements are i1, on bits else."""
    of_booleans, of_bits = becomes(logical), becomes(otherwise)

    def rule(op: Operation) -> None:
        (of_booleans if element_type(op.operands[0]) == i1 else of_bits)(op)

    return rule


RULES: dict[str, Rule] = {
    **{name: becomes(mnemonic) for name, mnemonic in ELEMENTWISE.items()},
    **{name: _on_booleans(mnemonic, ELEMENTWISE[name]) for name, mnemonic in LOGICAL.items()},
}
"""Rules by the full name of the operation."""
