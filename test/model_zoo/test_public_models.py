"""Public models compile and run as their page says: `make test-models`."""

from __future__ import annotations

import pytest
from model_zoo.catalogue import ENTRIES
from model_zoo.entry import Entry
from model_zoo.results import read_results
from model_zoo.sweep import measure_apart

MODELS = read_results()["models"]


@pytest.mark.nightly
@pytest.mark.parametrize("entry", ENTRIES.values(), ids=ENTRIES)
def test_model_is_as_recorded(entry: Entry) -> None:
    """What is right stays right in both numerics; what is refused is refused in words."""
    known, finding = MODELS[entry.key], measure_apart(entry)
    assert finding.state == known["state"], finding.message
    if finding.state == "right":
        assert finding.device_pcc is not None
        assert finding.device_pcc >= known["device_pcc"] - 0.01
