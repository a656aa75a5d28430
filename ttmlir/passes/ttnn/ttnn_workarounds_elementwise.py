"""What elementwise operations of ttnn want of their tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ttmlir.passes.ttnn.ttnn_workarounds import Wanting

WANTS: Mapping[str, Wanting] = {}
"""What operations want, by their names."""
