"""Where two descriptions of systems differ: one line for each field."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from ttmlir.layout.system import board, system_desc_to_table
from ttmlir.runtime.system_desc import system_differences


def table() -> Any:
    """The description of a board of two chips."""
    return copy.deepcopy(system_desc_to_table(board("n300")))


def test_equal_systems() -> None:
    """Nothing is said of them."""
    assert system_differences(table(), table()) == []


@pytest.mark.parametrize(
    "name", ["l1_size", "num_dram_channels", "dram_channel_size", "noc_l1_address_align_bytes"]
)
def test_numbers_that_differ(name: str) -> None:
    """The path of the field, and both numbers."""
    actual = table()
    before = actual["chip_descs"][0][name]
    actual["chip_descs"][0][name] = before + 1
    assert system_differences(table(), actual) == [
        f"system_desc.chip_descs[0].{name}: expected {before}, got {before + 1}"
    ]
    assert system_differences(actual, table()) == [
        f"system_desc.chip_descs[0].{name}: expected {before + 1}, got {before}"
    ]


def test_lists_of_other_lengths() -> None:
    """Only the lengths are said."""
    actual = table()
    count = len(actual["chip_desc_indices"])
    actual["chip_desc_indices"] = actual["chip_desc_indices"][:1]
    assert system_differences(table(), actual) == [
        f"system_desc.chip_desc_indices: expected {count} entries, got 1"
    ]
