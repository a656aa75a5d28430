"""Divided programs are those that tt-mlir of 2026 makes, operation by operation, also in ttnn."""

from __future__ import annotations

import numpy as np
import pytest

from test.meshes.vendor_texts import RECORD, lower, lower_to_ttnn
from test.support.running.sampling import sampled

DIFFERENT = {
    "k_scan": "counted loops are made by other passes",
    "p_take_along": "indices lose their last dimension before they are those of a part",
    "n_topk_batch": "an order of numbers alone still has places that nobody uses",
}
"""Why some are others."""

with np.load(RECORD) as file:
    TEXTS = {key: array.tobytes().decode() for key, array in file.items()}
NAMES = sorted({key.partition("/")[0] for key in TEXTS})


@pytest.mark.parametrize("name", sampled(name for name in NAMES if name not in DIFFERENT))
def test_operations_are_equal(name: str) -> None:
    """Shapes, collectives and their order are the same."""
    assert lower(TEXTS[f"{name}/text"]) == TEXTS[f"{name}/ttir"]


DIFFERENT_CALLS = {
    "axis_index": "what is converted twice is not converted once",
    "j_moe": "operands are moved in another order",
    "k_take_rows": "constants are made in another order",
    "n_lora": "products of one tensor are joined also where one has a bias of as many rows",
    "n_rope": "halves that are added in another order are a rotation, too",
    "n_sm_halo": "zeros are a constant, not numbers cut off to zero, which leaves NaN",
    "p_take_along": "constants are made in another order",
    "ppermute1": "zeros are a constant, not numbers cut off to zero, which leaves NaN",
}
"""Why the calls of the library are others."""


@pytest.mark.parametrize("name", sampled(name for name in NAMES if name not in DIFFERENT_CALLS))
def test_calls_are_equal(name: str) -> None:
    """Calls of the library, where tensors lie, and what devices exchange are the same."""
    assert lower_to_ttnn(TEXTS[f"{name}/source"]) == TEXTS[f"{name}/ttnn"]


def test_most_are_recorded() -> None:
    """Few programs differ."""
    assert len(NAMES) == 91
    assert {*DIFFERENT, *DIFFERENT_CALLS} <= {*NAMES}
