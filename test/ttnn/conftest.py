"""Devices for tests of ttnn."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ttmlir import ttnn


@pytest.fixture
def device() -> Iterator[ttnn.Device]:
    """A device whose results are rounded once, as oracles do; it is closed after the test."""
    opened = ttnn.open_device(device_id=0, card_bits=False)
    yield opened
    ttnn.close_device(opened)


@pytest.fixture
def tolerant_device() -> Iterator[ttnn.Device]:
    """A device for numbers in data types and layouts that a card refuses."""
    opened = ttnn.open_device(device_id=0, strict=False, card_bits=False)
    yield opened
    ttnn.close_device(opened)


@pytest.fixture
def nothing_open() -> None:
    """Other tests may have left the first device open, which many share."""
    ttnn.close_device(ttnn.open_device(device_id=0))


@pytest.fixture
def mesh(nothing_open: None) -> Iterator[ttnn.MeshDevice]:
    """Two rows of three devices, which no board has as such."""
    opened = ttnn.open_mesh_device(ttnn.MeshShape(2, 3), board="t3000", card_bits=False)
    yield opened
    ttnn.close_mesh_device(opened)
