"""Arguments of kernels, as the host gives them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import SupportsIndex

from ttmlir.metalium.buffers import Buffer
from ttmlir.metalium.errors import MetaliumError


def argument_words(values: Sequence[object], what: str) -> tuple[int, ...]:
    """Arguments as words of 32 bits; MetaliumError for what is none."""
    return tuple(argument_word(value, f"{what} {index}") for index, value in enumerate(values))


def argument_word(value: object, what: str) -> int:
    """An argument as a word of 32 bits, a buffer as its address; MetaliumError for what is none."""
    match value:
        case Buffer():
            return value.address()
        case SupportsIndex():
            number = value.__index__()
        case _:
            raise MetaliumError(
                f"{what} is {value!r}; arguments are integers of 32 bits; of a floating-point "
                "number pass the bits: int(np.float32(value).view(np.uint32))"
            )
    if not -(1 << 31) <= number < 1 << 32:
        raise MetaliumError(f"{what} is {number}, which has more than 32 bits")
    return number & 0xFFFF_FFFF
