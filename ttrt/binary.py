"""Binaries and system descriptions from files."""

from ttmlir.runtime.ttrt.objects import (
    as_dict,
    load_binary_from_capsule,
    load_binary_from_path,
    load_from_path,
    load_system_desc_from_path,
)

__all__ = [
    "as_dict",
    "load_binary_from_capsule",
    "load_binary_from_path",
    "load_from_path",
    "load_system_desc_from_path",
]
