"""Complex arrays of a call, which are pairs of real ones in programs and files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ttmlir.layout.element_type import PARTS
from ttmlir.runtime.element import Array
from ttmlir.runtime.errors import InputError


def split(array: Any) -> tuple[Array, Array]:
    """The real and the imaginary part of a complex array, contiguous."""
    real, imag = (part_of(array, name) for name in PARTS)
    return real, imag


def part_of(array: Any, name: str) -> Array:
    """The `real` or `imag` part of an array, contiguous."""
    part: Array = getattr(np.asarray(array), name)
    return part.copy()


def join(real: Array, imag: Array) -> Array:
    """The complex array of two parts: of f64 complex128, of all others complex64."""
    is_wide = real.dtype == np.float64
    joined: Any = np.empty(real.shape, np.complex128 if is_wide else np.complex64)
    joined.real, joined.imag = real, imag
    return joined


def split_complex(arrays: Iterable[Array]) -> list[Array]:
    """Arrays with each complex one as its parts."""
    return [part for array in arrays for part in (split(array) if is_complex(array) else (array,))]


def split_leaves(
    leaves: Sequence[Any], are_complex: Sequence[bool], names: Sequence[str], model: str
) -> list[Any]:
    """The arrays and numbers of a call, those for complex arguments as their parts.

    InputError, with the name of the argument, where an array of real numbers is given for one.
    """
    found: list[Any] = []
    for leaf, is_pair, name in zip(leaves, are_complex, names, strict=True):
        if not is_pair:
            found.append(leaf)
        elif isinstance(leaf, bool | int | float):
            found += [leaf, 0.0]
        elif is_complex(leaf):
            found += split(leaf)
        else:
            raise InputError(
                f"'{model}' takes complex numbers as {name}, not {leaf.dtype}; convert them first"
            )
    return found


def join_pairs(arrays: Sequence[Array], are_pairs: Sequence[bool]) -> list[Array]:
    """One array for each flag: the next one, or if it is set that of the next two."""
    rest: Iterator[Array] = iter(arrays)
    return [join(next(rest), next(rest)) if is_pair else next(rest) for is_pair in are_pairs]


def is_complex(array: Any) -> bool:
    """True for arrays of complex numbers."""
    return np.iscomplexobj(array)
