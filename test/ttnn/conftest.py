"""Devices for tests of ttnn."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ttmlir import ttnn


@pytest.fixture
def device() -> Iterator[ttnn.Device]:
    """A device that is closed after the test."""
    opened = ttnn.open_device(device_id=0)
    yield opened
    ttnn.close_device(opened)


@pytest.fixture
def tolerant_device() -> Iterator[ttnn.Device]:
    """A device for numbers in data types and layouts that a card refuses."""
    opened = ttnn.open_device(device_id=0, strict=False)
    yield opened
    ttnn.close_device(opened)
