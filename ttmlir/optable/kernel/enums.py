"""Enumerations of tt-metal that calls take, with the numbers that their members have in C++.

Source: tt-metal, tt_metal/hw/inc/tt-1xx (tensix_types.h, circular_buffer_constants) and
tt-llk (llk_defs.h).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class CppEnum:
    """An enumeration: its C++ name, its members in order, the type it is stored in."""

    name: str
    members: Mapping[str, int]
    scoped: bool = True
    """Its members are named `Enum::member` only, and are no integers without a cast."""
    type: str = "uint8_t"
    namespace: str = ""


def _number(*names: str) -> Mapping[str, int]:
    return {name: number for number, name in enumerate(names)}


def _ports() -> Mapping[str, int]:
    """The older names of circular buffers, 8 for each purpose."""
    purposes = ("c_in", "dataflow", "c_out", "c_intermed")
    return {f"{purpose}{i}": 8 * p + i for p, purpose in enumerate(purposes) for i in range(8)}


_ALL = (
    CppEnum(
        name="DataFormat",
        members={
            "Float32": 0,
            "Float16": 1,
            "Bfp8": 2,
            "Bfp4": 3,
            "Tf32": 4,
            "Float16_b": 5,
            "Bfp8_b": 6,
            "Bfp4_b": 7,
            "Int32": 8,
            "UInt16": 9,
            "Lf8": 10,
            "Bfp2": 11,
            "Int8": 14,
            "Bfp2_b": 15,
            "UInt32": 24,
            "Fp8_e4m3": 26,
            "UInt8": 30,
            "RawUInt8": 240,
            "RawUInt16": 241,
            "RawUInt32": 242,
            "Invalid": 255,
        },
    ),
    CppEnum(
        name="CBIndex",
        members={f"c_{number}": number for number in range(32)},
        scoped=False,
        namespace="tt",
    ),
    CppEnum(name="CB", members=_ports(), scoped=False, namespace="tt"),
    CppEnum(name="PoolType", members=_number("SUM", "AVG", "MAX", "MIN"), scoped=False),
    CppEnum(
        name="ReduceDim",
        members=_number("REDUCE_ROW", "REDUCE_COL", "REDUCE_SCALAR"),
        scoped=False,
    ),
    CppEnum(name="BroadcastType", members=_number("NONE", "COL", "ROW", "SCALAR"), scoped=False),
    CppEnum(
        name="EltwiseBinaryType",
        members=_number("ELWMUL", "ELWDIV", "ELWADD", "ELWSUB", "ELWLESS"),
        scoped=False,
    ),
    CppEnum(
        name="EltwiseBinaryReuseDestType",
        members=_number("NONE", "DEST_TO_SRCA", "DEST_TO_SRCB"),
    ),
    CppEnum(
        name="ThreadId",
        members=_number("BriscThreadId", "UnpackThreadId", "MathThreadId", "PackThreadId"),
        scoped=False,
    ),
    CppEnum(
        name="ReluType",
        members=_number("NO_RELU", "ZERO_RELU", "MIN_THRESHOLD_RELU", "MAX_THRESHOLD_RELU"),
        scoped=False,
    ),
    CppEnum(name="ProgrammableCoreType", members=_number("TENSIX", "ACTIVE_ETH", "IDLE_ETH")),
)
ENUMS: Mapping[str, CppEnum] = {enum.name: enum for enum in _ALL}
"""Every enumeration by its C++ name."""

CONSTANTS: Mapping[str, int] = {
    "INVALID": 0,
    "VALID": 1,
    "NOC_MAX_BURST_SIZE": 8192,
    "TILE_HEIGHT": 32,
    "TILE_WIDTH": 32,
    "TILE_HW": 1024,
    "FACE_HEIGHT": 16,
    "FACE_WIDTH": 16,
    "FACE_HW": 256,
    "TSLICE_INPUT_CB": 2,
    "TSLICE_OUTPUT_CB": 3,
    "TSLICE_RD_PTR": 4,
    "TSLICE_WR_PTR": 5,
}
"""Names of numbers that kernels use (tt-metal, dataflow_api.h and tt_metal/hostdevcommon's
constants; the size of a packet is Wormhole's)."""
