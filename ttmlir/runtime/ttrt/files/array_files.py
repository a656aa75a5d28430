"""Arrays as `.npy` and `.npz` files."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ttmlir.files import open_replacement
from ttmlir.runtime.element import Array
from ttmlir.runtime.errors import InputError


def write_arrays(path: str, arrays: Mapping[str, Array]) -> None:
    """Write a `.npz` file with the arrays by their names, or a `.npy` file with the only one.

    Arrays of bfloat16, which NumPy's file formats lack, become float32, which holds them exactly.
    Raises InputError if the file cannot be written, or is a `.npy` file for several arrays.
    """
    stored = {name: _storable(array) for name, array in arrays.items()}
    if path.endswith(".npy") and len(stored) != 1:
        raise InputError(
            f"{path}: a .npy file holds one array, the programs have {len(stored)} outputs; give a "
            ".npz file"
        )
    try:
        with open_replacement(path) as file:
            if path.endswith(".npy"):
                np.save(file, *stored.values(), allow_pickle=False)
            else:
                np.savez(file, allow_pickle=False, **stored)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error


def _storable(array: Array) -> Array:
    return array.astype(np.float32) if array.dtype.name == "bfloat16" else array
