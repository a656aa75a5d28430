"""Copying rows of a face within L1 to where their elements stand elsewhere: by words, shifted."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from ttmlir.ir.kernel_builder import KernelBuilder, Number

_WORD_BYTES = 4
_BYTE_BITS = 8


def copy_row(
    kernel: KernelBuilder,
    rows: tuple[Number, Number],
    first_byte: int,
    target: Number,
    row_bytes: int,
) -> None:
    """Copy a row of bytes that begins in one row and goes on in another; all are at addresses."""
    pointers = [kernel.pointer(address) for address in rows]
    out = kernel.pointer(target)
    words = row_bytes // _WORD_BYTES
    start, rest = divmod(first_byte, _WORD_BYTES)

    def load(number: int) -> SSAValue:
        row, place = divmod(start + number, words)
        (word,) = kernel.call("load_from_l1", pointers[row], place)
        return word

    shift = rest * _BYTE_BITS
    word = load(0) if shift else None
    for number in range(words):
        if word is None:
            value = load(number)
        else:
            following = load(number + 1)
            low = kernel.arithmetic(arith.ShRUIOp, word, shift)
            high = kernel.arithmetic(arith.ShLIOp, following, _WORD_BYTES * _BYTE_BITS - shift)
            value = kernel.arithmetic(arith.OrIOp, low, high)
            word = following
        kernel.call("store_to_l1", value, out, number)
