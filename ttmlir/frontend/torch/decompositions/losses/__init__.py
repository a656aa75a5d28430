"""Losses that torch does not decompose, or looks at numbers for, and their gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ttmlir.frontend.torch.decompositions.losses import alignments, gaussian, margins

DECOMPOSITIONS: dict[str, Callable[..., Any]] = margins.DECOMPOSITIONS
"""Functions in torch by the names of operations."""

UNTRACEABLE: dict[str, Callable[..., Any]] = {
    **alignments.UNTRACEABLE,
    **gaussian.UNTRACEABLE,
}
"""Functions in torch by the names of those of torch that look at numbers while they are traced."""
