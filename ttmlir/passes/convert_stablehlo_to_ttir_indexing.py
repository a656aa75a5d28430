"""Rules of StableHLO's gather, scatter and dynamic slices, for `convert-stablehlo-to-ttir`."""

from __future__ import annotations

from ttmlir.passes.ttir_conversion import Rule

RULES: dict[str, Rule] = {}
"""Rules by the full name of the operation."""
