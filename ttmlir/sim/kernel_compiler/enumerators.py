"""Names that the headers of the kernel library give to numbers.

Sources: tt-metal, circular_buffer_constants.h (CB, CBIndex), tt_backend_api_types.hpp
(DataFormat), llk_defs.h (the rest), dataflow_api.h (VALID, INVALID).
"""

from __future__ import annotations

from collections.abc import Mapping

from ttmlir.sim.kernel_compiler.types import INT, UINT8, CType, IntType

_CB = {
    f"{prefix}{i}": first + i
    for prefix, first in (("c_in", 0), ("dataflow", 8), ("c_out", 16), ("c_intermed", 24))
    for i in range(8)
}

ENUMERATIONS: Mapping[str, Mapping[str, int]] = {
    "CB": _CB,
    "CBIndex": {f"c_{i}": i for i in range(32)},
    "DataFormat": {
        **{"Float32": 0, "Float16": 1, "Bfp8": 2, "Bfp4": 3, "Tf32": 4, "Float16_b": 5},
        **{"Bfp8_b": 6, "Bfp4_b": 7, "Int32": 8, "UInt16": 9, "Lf8": 10, "Bfp2": 11},
        **{"Int8": 14, "Bfp2_b": 15, "UInt32": 24, "UInt8": 30, "Invalid": 255},
    },
    "PoolType": {"SUM": 0, "AVG": 1, "MAX": 2, "MIN": 3},
    "ReduceDim": {"REDUCE_ROW": 0, "REDUCE_COL": 1, "REDUCE_SCALAR": 2},
    "BroadcastType": {"NONE": 0, "COL": 1, "ROW": 2, "SCALAR": 3},
    "EltwiseBinaryType": {"ELWMUL": 0, "ELWDIV": 1, "ELWADD": 2, "ELWSUB": 3, "ELWLESS": 4},
    "EltwiseBinaryReuseDestType": {"NONE": 0, "DEST_TO_SRCA": 1, "DEST_TO_SRCB": 2},
    "DataCopyType": {"A2D": 0, "B2D": 1},
    "MathFidelity": {"LoFi": 0, "HiFi2": 2, "HiFi3": 3, "HiFi4": 4},
}
"""Enumerations with their enumerators."""

ENUM_TYPES: Mapping[str, IntType] = {
    name: IntType(name, 8, False) if name in ("CBIndex", "DataFormat") else IntType(name, 32, True)
    for name in ENUMERATIONS
}
"""The enumerations as types."""

CONSTANTS: Mapping[str, tuple[int, CType]] = {
    "VALID": (1, INT),
    "INVALID": (0, INT),
    "NOC_0": (0, UINT8),
    "NOC_1": (1, UINT8),
    "INT32_MAX": (2**31 - 1, INT),
    "INT32_MIN": (-(2**31), INT),
    "UINT8_MAX": (2**8 - 1, INT),
    "UINT16_MAX": (2**16 - 1, INT),
    "UINT32_MAX": (2**32 - 1, IntType("uint32_t", 32, False)),
    "TILE_HEIGHT": (32, INT),
    "TILE_WIDTH": (32, INT),
    "FACE_HEIGHT": (16, INT),
    "FACE_WIDTH": (16, INT),
}
"""Macros and constants."""

_BARE = {
    enumerator: (number, ENUM_TYPES[enumeration])
    for enumeration, enumerators in reversed(ENUMERATIONS.items())
    for enumerator, number in enumerators.items()
}

LIBRARY_NAMESPACES = ("tt", "ckernel", "std", "sfpi", "tt_metal", "detail")
"""Namespaces of the library whose names are found with and without them."""


def bare_name(name: str) -> str:
    """A name without the namespaces of the library before it."""
    parts = name.removeprefix("::").split("::")
    while len(parts) > 1 and parts[0] in LIBRARY_NAMESPACES:
        parts = parts[1:]
    return "::".join(parts)


def named_constant(name: str) -> tuple[int, CType] | None:
    """Number and type of an enumerator or constant of the library, qualified or not."""
    bare = bare_name(name)
    if bare in CONSTANTS:
        return CONSTANTS[bare]
    enumeration, _, enumerator = bare.rpartition("::")
    if not enumeration:
        return _BARE.get(enumerator)
    number = ENUMERATIONS.get(enumeration, {}).get(enumerator)
    return None if number is None else (number, ENUM_TYPES[enumeration])


def enumerators_like(name: str) -> list[str]:
    """The names in the enumeration that a qualified name speaks of."""
    enumeration, _, _ = bare_name(name).rpartition("::")
    return [f"{enumeration}::{each}" for each in ENUMERATIONS.get(enumeration, {})]
