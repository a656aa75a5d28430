"""Sizes and numbers of the formats of tiles, as the chip and TT-Metalium have them."""

from __future__ import annotations

from ttmlir.layout.enums import DataType

TILE_BYTES: dict[DataType, int] = {
    DataType.F32: 4096,
    DataType.F16: 2048,
    DataType.BF16: 2048,
    DataType.BFP_F8: 1088,
    DataType.BFP_BF8: 1088,
    DataType.BFP_F4: 576,
    DataType.BFP_BF4: 576,
    DataType.BFP_F2: 320,
    DataType.BFP_BF2: 320,
    DataType.U32: 4096,
    DataType.U16: 2048,
    DataType.U8: 1024,
}
"""Bytes of a 32x32 tile in L1 and DRAM, the 64 exponents of block floats included (tt-metal,
dataflow_api_addrgen.h)."""

FORMAT_NUMBERS: dict[DataType, int] = {
    DataType.F32: 0,
    DataType.F16: 1,
    DataType.BFP_F8: 2,
    DataType.BFP_F4: 3,
    DataType.BF16: 5,
    DataType.BFP_BF8: 6,
    DataType.BFP_BF4: 7,
    DataType.U16: 9,
    DataType.BFP_F2: 11,
    DataType.BFP_BF2: 15,
    DataType.U32: 24,
    DataType.U8: 30,
}
"""The numbers of tt-metal's `DataFormat` (tt_metal/hw/inc/tensix_types.h)."""
