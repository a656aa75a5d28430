"""What all files of weights have in common: tensors by name, read when they are asked for."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ttmlir.errors import FileError, path_error
from ttmlir.frontend.weights.blocks import Parts

MAX_RANK = 8
"""Most dimensions of a tensor of weights."""


@dataclass(frozen=True)
class Entry:
    """A tensor of a file."""

    shape: tuple[int, ...]
    kind: str
    """Of its elements, in the words of the format."""
    read: Callable[[], NDArray[Any]]
    """Its numbers in a type of NumPy or ml_dtypes."""
    parts: Callable[[], Parts] | None = None
    """The integers and scales of blocks by rows, whose numbers they are; None for plain numbers."""


def open_bytes(path: Path) -> NDArray[np.uint8]:
    """The bytes of a file, which are read as they are used; FileError if that is impossible."""
    try:
        if not path.is_file():
            raise FileError(
                f"{path}: this is no file" if path.exists() else f"{path}: No such file"
            )
        if not os.stat(path).st_size:
            return np.zeros(0, np.uint8)
        return np.memmap(path, np.uint8, "r")
    except OSError as error:
        raise path_error(path, error) from error


def check_shape(path: Path, name: str, shape: tuple[int, ...]) -> int:
    """How many elements a tensor has; FileError for shapes that none has."""
    if len(shape) > MAX_RANK or any(extent < 0 for extent in shape):
        raise FileError(f"{path}: the tensor {name!r} has a shape that none has: {list(shape)[:9]}")
    return math.prod(shape)
