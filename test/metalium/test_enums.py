"""The numbers of TT-Metalium's enumerations, from its headers."""

from __future__ import annotations

from enum import IntEnum

import pytest

from ttmlir.metalium import enums

NUMBERS: dict[type[IntEnum], dict[str, int]] = {
    enums.DataFormat: {
        "Float32": 0,
        "Float16": 1,
        "Bfp8": 2,
        "Bfp4": 3,
        "Float16_b": 5,
        "Bfp8_b": 6,
        "Bfp4_b": 7,
        "UInt16": 9,
        "Bfp2": 11,
        "Bfp2_b": 15,
        "UInt32": 24,
        "UInt8": 30,
        "RawUInt8": 240,
        "RawUInt16": 241,
        "RawUInt32": 242,
    },
    enums.CBIndex: {f"c_{index}": index for index in range(32)},
    enums.BufferType: {"DRAM": 0, "L1": 1, "L1_SMALL": 3, "TRACE": 4},
    enums.TensorMemoryLayout: {
        "INTERLEAVED": 0,
        "HEIGHT_SHARDED": 2,
        "WIDTH_SHARDED": 3,
        "BLOCK_SHARDED": 4,
    },
    enums.ShardOrientation: {"ROW_MAJOR": 0, "COL_MAJOR": 1},
    enums.DataMovementProcessor: {"RISCV_0": 0, "RISCV_1": 1},
    enums.NOC: {"NOC_0": 0, "NOC_1": 1, "RISCV_0_default": 0, "RISCV_1_default": 1},
    enums.UnpackToDestMode: {"Default": 0, "UnpackToDestFp32": 1},
}


@pytest.mark.parametrize("enumeration", NUMBERS, ids=lambda each: each.__name__)
def test_members_and_numbers(enumeration: type[IntEnum]) -> None:
    """Each enumeration has these members and no others."""
    members = {name: int(member) for name, member in enumeration.__members__.items()}
    assert members == NUMBERS[enumeration]


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("Float32", 4096),
        ("Float16_b", 2048),
        ("Bfp8_b", 1024 + 64),
        ("Bfp4_b", 512 + 64),
        ("Bfp2_b", 256 + 64),
        ("UInt32", 4096),
        ("UInt16", 2048),
        ("UInt8", 1024),
    ],
)
def test_bytes_of_tiles(name: str, size: int) -> None:
    """A tile has 1024 numbers; block floats have one exponent of 8 bits for each 16 of them."""
    assert enums.tile_size(enums.DataFormat[name]) == size
