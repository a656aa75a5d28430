"""Arrays of `.npz` files become inputs in an order that people expect."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ttmlir.runtime.ttrt.running.inputs import load_inputs


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["x", "w", "b"], ["x", "w", "b"]),
        (["input_10", "input_9", "input_0"], ["input_0", "input_9", "input_10"]),
        (["x", "w2", "b2", "w1", "b1"], ["x", "w1", "b1", "w2", "b2"]),
    ],
)
def test_entries_are_ordered_by_number_then_as_saved(
    tmp_path: Path, names: list[str], expected: list[str]
) -> None:
    """Names without a number keep the order in which they were saved."""
    path = tmp_path / "inputs.npz"
    np.savez(path, **{name: np.array([names.index(name)]) for name in names})
    loaded = [names[int(array[0])] for array in load_inputs([str(path)])]
    assert loaded == expected
