"""`ttmlir.compile(..., target=...)`: files, texts, profiles and messages of each target."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ttmlir
from ttmlir.runtime import InputError


def test_targets_are_named() -> None:
    """A wrong name is an error that lists the right ones, before the model is looked at."""
    name: Any = "cpu"
    with pytest.raises(ValueError, match="targets are 'ttnn', 'kernels', not 'cpu'"):
        ttmlir.compile(object(), target=name)


def test_the_target_is_ttnn_unless_another_is_asked_for() -> None:
    """Of library calls nobody counts cycles."""
    x = np.ones((3, 5), np.float32)
    model = ttmlir.compile(lambda x: x + 1, x)
    assert model.target == "ttnn"
    assert "ttnn operations" in repr(model)
    with pytest.raises(InputError, match=r"takes no cycles; compile .* target='kernels'"):
        model.profile(x)
