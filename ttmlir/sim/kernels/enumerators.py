"""Names that the headers of the kernel library give to numbers.

Those of calls stand in the table of kernel calls; others are from tt-metal's llk_defs.h and
C's stdint.h.
"""

from __future__ import annotations

from collections.abc import Mapping

from ttmlir.cpp.types import INT, UINT8, UNSIGNED, CType, EnumType
from ttmlir.optable.kernel.cpp_calls.device_objects import MODES
from ttmlir.optable.kernel.enums import CONSTANTS as LIBRARY_CONSTANTS
from ttmlir.optable.kernel.enums import ENUMS

ENUMERATIONS: Mapping[str, Mapping[str, int]] = {
    **{name: enum.members for name, enum in ENUMS.items()},
    **MODES,
    "DataCopyType": {"A2D": 0, "B2D": 1},
    "SrcOrder": {"Regular": 0, "Reverse": 1},
    "MathFidelity": {"LoFi": 0, "HiFi2": 2, "HiFi3": 3, "HiFi4": 4},
    "VectorMode": {"None": 0, "R": 1, "C": 2, "RC": 4, "RC_custom": 6, "Invalid": 0xFF},
    "SfpuType": {"unused": 0, "exponential": 1, "gelu": 2},
}
"""Enumerations with their enumerators."""

ENUM_TYPES: Mapping[str, EnumType] = {
    name: EnumType(name, 8, False)
    if name in ("CBIndex", "DataFormat", *MODES)
    else EnumType(name, 32, True)
    for name in ENUMERATIONS
}
"""The enumerations as types."""

CONSTANTS: Mapping[str, tuple[int, CType]] = {
    **{name: (number, INT) for name, number in LIBRARY_CONSTANTS.items()},
    "NOC_0": (0, UINT8),
    "NOC_1": (1, UINT8),
    "INT32_MAX": (2**31 - 1, INT),
    "INT32_MIN": (-(2**31), INT),
    "UINT8_MAX": (2**8 - 1, INT),
    "UINT16_MAX": (2**16 - 1, INT),
    "UINT32_MAX": (2**32 - 1, UNSIGNED),
}
"""Macros and constants."""

_BARE = {
    enumerator: (number, ENUM_TYPES[enumeration])
    for enumeration, enumerators in reversed(ENUMERATIONS.items())
    if enumeration not in (*MODES, "VectorMode", "SfpuType")
    for enumerator, number in enumerators.items()
}

LIBRARY_NAMESPACES = (
    *("tt", "ckernel", "std", "sfpi", "tt_metal", "detail"),
    *("constants", "experimental"),
)
"""Namespaces of the library whose names are found with and without them."""


def strip_namespaces(name: str) -> str:
    """A name without the namespaces of the library before it."""
    parts = name.removeprefix("::").split("::")
    while len(parts) > 1 and parts[0] in LIBRARY_NAMESPACES:
        parts = parts[1:]
    return "::".join(parts)


def find_constant(name: str) -> tuple[int, CType] | None:
    """Number and type of an enumerator or constant of the library, qualified or not."""
    bare = strip_namespaces(name)
    if bare in CONSTANTS:
        return CONSTANTS[bare]
    enumeration, _, enumerator = bare.rpartition("::")
    if not enumeration:
        return _BARE.get(enumerator)
    number = ENUMERATIONS.get(enumeration, {}).get(enumerator)
    return None if number is None else (number, ENUM_TYPES[enumeration])


def list_enumerators(name: str) -> list[str]:
    """The names in the enumeration that a qualified name speaks of."""
    enumeration, _, _ = strip_namespaces(name).rpartition("::")
    return [f"{enumeration}::{each}" for each in ENUMERATIONS.get(enumeration, {})]
