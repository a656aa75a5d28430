"""Public models compile and run as their page says: `make test-models`."""

from __future__ import annotations

import pytest
from model_zoo.catalogue import ENTRIES
from model_zoo.entry import Entry
from model_zoo.exported import measure_exported, read_record
from model_zoo.results import read_results
from model_zoo.sweep import measure_apart

MODELS = read_results()["models"]
EXPORTED = read_record()


@pytest.mark.nightly
@pytest.mark.parametrize("entry", ENTRIES.values(), ids=ENTRIES)
def test_model_is_as_recorded(entry: Entry) -> None:
    """What is right stays right in both numerics; what is refused is refused in words."""
    known, finding = MODELS[entry.key], measure_apart(entry)
    assert finding.state == known["state"], finding.message
    if finding.state == "right":
        assert finding.device_pcc is not None
        assert finding.device_pcc >= known["device_pcc"] - 0.01


@pytest.mark.nightly
@pytest.mark.parametrize("key", EXPORTED)
def test_exported_model_is_as_recorded(key: str) -> None:
    """So do models that torch's exporter writes as ONNX, by the same way of the exporter."""
    known, finding = EXPORTED[key], measure_apart(ENTRIES[key], measure_exported)
    assert finding.state == known["state"], finding.message
    if finding.state == "right":
        assert finding.message == known["message"]
