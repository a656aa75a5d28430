"""Divided programs are those that tt-mlir of 2026 makes, operation by operation."""

from __future__ import annotations

import numpy as np
import pytest

from test.meshes.vendor_texts import RECORD, lower

DIFFERENT = {
    "k_layernorm": "a conversion of a constant to its own type stays",
    "k_scan": "counted loops are made by other passes",
    "k_take_rows": "rows that are divided are gathered, not looked up in parts",
    "k_tril": "an iota is divided before it is repeated",
}
"""Why some are others."""

with np.load(RECORD) as file:
    TEXTS = {key: array.tobytes().decode() for key, array in file.items()}
NAMES = sorted({key.partition("/")[0] for key in TEXTS})


@pytest.mark.parametrize("name", [name for name in NAMES if name not in DIFFERENT])
def test_operations_are_equal(name: str) -> None:
    """Shapes, collectives and their order are the same."""
    assert lower(TEXTS[f"{name}/text"]) == TEXTS[f"{name}/ttir"]


def test_most_are_recorded() -> None:
    """Few programs differ."""
    assert len(NAMES) == 30
    assert {*DIFFERENT} <= {*NAMES}
