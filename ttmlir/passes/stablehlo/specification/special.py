"""Functions of CHLO that no row has."""

from __future__ import annotations

from ttmlir.passes.core.ttir_conversion import ConversionRule

RULES: dict[str, ConversionRule] = {}
