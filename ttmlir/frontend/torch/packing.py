"""Weights of few bits, which stay packed in a constant until the program needs their numbers.

Floating point numbers of 8 bits are their bytes; integers of 4 and 2 bits share bytes. Programs
take them apart by shifts and masks, exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from ttmlir.arrays.array import Array
from ttmlir.composites.bits import SMALL_FLOATS as FORMATS
from ttmlir.composites.bits import small_float_of_bits, unpack_bits
from ttmlir.frontend.torch.elements import SMALL_FLOATS, dtype_name, torch_package
from ttmlir.runtime.session import has_numbers

_ROWS = 1 << 9
"""Rows of the identity that are multiplied at a time."""
LEAST = 1 << 12
"""Fewer elements are not worth the operations that take them apart."""
_WIDTHS = (2, 4)


@dataclass(frozen=True)
class Packed:
    """Bytes of a constant, and what makes the tensor of them."""

    bytes: Any
    unpack: Callable[[Array], Array]


def is_packed(tensor: Any) -> bool:
    """True for weights of 8 bits and fewer, which are kept in their bytes."""
    is_small = dtype_name(tensor.dtype) in ("int8", "uint8", *SMALL_FLOATS)
    return is_small and tensor.numel() >= LEAST


def pack(tensor: Any) -> Packed | None:
    """The bytes of a weight that has fewer bits than a constant of its type; None for others."""
    if not is_packed(tensor) or not has_numbers(tensor):
        return None
    tensor = tensor.detach().cpu()
    form = SMALL_FLOATS.get(dtype_name(tensor.dtype))
    return _pack_integers(tensor) if form is None else _pack_floats(tensor, form)


def _pack_floats(tensor: Any, form: str) -> Packed | None:
    """All but scales, and numbers that are infinite or none, which have bits of their own."""
    torch = torch_package()
    if FORMATS[form].is_scale or not torch.isfinite(tensor.to(torch.bfloat16)).all():
        return None

    def unpack(bytes_: Array) -> Array:
        return small_float_of_bits(bytes_.cast("i32"), FORMATS[form]).cast("bf16")

    return Packed(tensor.view(torch.uint8), unpack)


def _pack_integers(tensor: Any) -> Packed | None:
    """Integers of a range of 2 or 4 bits, whose first dimension can be cut into parts."""
    torch = torch_package()
    least, most = (int(each) for each in torch.aminmax(tensor))
    for width in _WIDTHS:
        low, parts = (-(1 << width - 1) if least < 0 else 0), 8 // width
        fits = low <= least < most < low + (1 << width)
        if fits and tensor.shape[0] % parts == 0:
            break
    else:
        return None
    shifted = (tensor.to(torch.int16) - low).to(torch.uint8)
    packed = sum(part << width * place for place, part in enumerate(shifted.chunk(parts)))
    dtype = "ui8" if tensor.dtype == torch.uint8 else "i8"
    return Packed(packed, partial(_integers, width=width, low=low, dtype=dtype))


def _integers(packed: Array, *, width: int, low: int, dtype: str) -> Array:
    found = unpack_bits(packed, width)
    return (found + low if low else found).cast(dtype)


def integers_of_cpu(packed: Any, group: int) -> Any:
    """The integers from -8 to 7, an int8 matrix, that torch's products of 4 bits take on this CPU.

    The order of their bytes is the CPU's. A product with the identity has them in order.
    """
    torch = torch_package()
    rows, columns = packed.shape[0], packed.shape[1] * 2
    plain = torch.tensor([1.0, 0.0]).expand(columns // group, rows, 2).contiguous()
    found = torch.empty((rows, columns), dtype=torch.int8)
    for begin in range(0, columns, _ROWS):
        count = min(_ROWS, columns - begin)
        identity = torch.zeros(count, columns)
        identity.diagonal(begin).fill_(1.0)
        part = torch.ops.aten._weight_int4pack_mm_for_cpu(identity, packed, group, plain)
        found[:, begin : begin + count] = part.T.to(torch.int8)
    return found
