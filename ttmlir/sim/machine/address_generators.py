"""Objects of kernels that say where the pages of a buffer are.

Page i of an interleaved buffer is in bank i mod N, behind the i div N pages before it there, each
rounded up to the alignment of the memory; N is the number of DRAM channels, or of worker cores for
L1. Source: tt-metal, tt_metal/hw/inc/dataflow_api_addrgen.h and tensor/tensor_accessor.h.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ttmlir.sim.errors import SimError
from ttmlir.sim.machine.core import Core, Endpoint
from ttmlir.sim.machine.memory import Memory
from ttmlir.sim.machine.noc import noc_address

Strays = dict[tuple[Memory, int], tuple[int, int]]
"""Addresses behind the last page of a buffer: which page that would be, and how many there are."""


class AddressGenerator:
    """Where the pages of a buffer are: a bank and an address in it."""

    page_size: int
    num_pages: int | None = None
    """How many pages the buffer has, where that is known."""
    num_banks: int | None = None
    """Over how many banks pages are spread one by one, if they are."""
    strays: Strays | None = None
    """Notes addresses of pages that the buffer does not have, and forgets those of pages."""

    def locate(self, page: int) -> tuple[Endpoint, int]:
        """The bank of a page, and the address in the bank."""
        raise NotImplementedError

    def get_noc_addr(self, page: int, offset: int = 0, noc: int = 0) -> int:
        """The address of a byte of a page on the network."""
        bank, address = self.locate(page)
        if self.strays is not None:
            place = bank.memory, address + offset
            if self.num_pages is not None and not 0 <= page < self.num_pages:
                self.strays[place] = page, self.num_pages
            elif self.strays:
                self.strays.pop(place, None)
        return noc_address(*bank.coordinate, address + offset)


class Interleaved(AddressGenerator):
    """Pages spread in turn over all banks of a memory: `InterleavedAddrGen` and its fast form."""

    def __init__(
        self,
        banks: Sequence[Endpoint],
        alignment: int,
        bank_base_address: int,
        page_size: int,
        data_format: int = 0,
    ) -> None:
        """Pages of `page_size` bytes, the first at `bank_base_address` of the first bank.

        `data_format` is kept for who asks.
        """
        if page_size < 1:
            raise SimError(f"a page of {page_size} bytes; an address generator needs at least one")
        self.banks = banks
        self.num_banks = self.count = len(banks)
        self.bank_base_address = bank_base_address
        self.page_size = page_size
        self.data_format = data_format
        self.stride = -(-page_size // alignment) * alignment

    def locate(self, page: int) -> tuple[Endpoint, int]:
        """The bank of a page, and the address in the bank."""
        row, bank = divmod(page, self.count)
        return self.banks[bank], self.bank_base_address + row * self.stride


@dataclass(frozen=True)
class AccessorArgs:
    """What `TensorAccessorArgs` reads from a kernel's arguments: the layout of a tensor.

    An interleaved tensor takes one compile-time argument, a sharded one these: the flags, the
    number of dimensions, the number of banks, the shape in pages, the shape of a shard in pages,
    and the coordinates of the banks on the network, x in the high half of a word and y in the low.
    """

    is_sharded: bool
    is_dram: bool
    shape: tuple[int, ...] = ()
    shard_shape: tuple[int, ...] = ()
    banks: tuple[tuple[int, int], ...] = ()
    end: int = 0
    """The first compile-time argument behind these."""
    common_end: int = 0
    """The first common run-time argument behind these; none is read."""

    def next_compile_time_args_offset(self) -> int:
        """The first compile-time argument behind these."""
        return self.end

    def next_common_runtime_args_offset(self) -> int:
        """The first common run-time argument behind these."""
        return self.common_end


SHARDED = 1
"""Flag of `AccessorArgs`: the tensor is sharded."""
DRAM = 2
"""Flag of `AccessorArgs`: the tensor is in DRAM."""

_WHERE = (
    "layouts begin behind the other compile-time arguments, such as numbers of circular buffers"
)


def read_accessor_args(words: Sequence[int], base: int, common_base: int = 0) -> AccessorArgs:
    """The layout in these compile-time arguments, from `base` on; SimError if they end early."""
    if not 0 <= base < len(words):
        raise SimError(
            f"TensorAccessorArgs<{base}> reads compile-time argument {base}, but the kernel has "
            f"{len(words)} of them",
            rule="arguments",
        )
    flags = words[base]
    if flags & ~(SHARDED | DRAM):
        raise SimError(
            f"TensorAccessorArgs<{base}> reads {flags} from compile-time argument {base}, which is "
            f"no layout of a tensor: {DRAM} is interleaved in DRAM, 0 in L1, odd numbers are "
            f"sharded; {_WHERE}",
            rule="arguments",
        )
    is_dram = bool(flags & DRAM)
    if not flags & SHARDED:
        return AccessorArgs(is_sharded=False, is_dram=is_dram, end=base + 1, common_end=common_base)
    rank, banks = words[base + 1 : base + 3] if base + 3 <= len(words) else (1, 1)
    end = base + 3 + 2 * rank + banks
    if end > len(words):
        raise SimError(
            f"TensorAccessorArgs<{base}> of a sharded tensor needs {end - base} compile-time "
            f"arguments, but the kernel has {len(words) - base} from there; {_WHERE}",
            rule="arguments",
        )
    shape = words[base + 3 : base + 3 + rank]
    shard = words[base + 3 + rank : base + 3 + 2 * rank]
    places = words[base + 3 + 2 * rank : end]
    return AccessorArgs(
        is_sharded=True,
        is_dram=is_dram,
        shape=tuple(shape),
        shard_shape=tuple(shard),
        banks=tuple((place >> 16, place & 0xFFFF) for place in places),
        end=end,
        common_end=common_base,
    )


def accessor_words(args: AccessorArgs) -> tuple[int, ...]:
    """The compile-time arguments that say this; inverse of `read_accessor_args`."""
    flags = SHARDED * args.is_sharded | DRAM * args.is_dram
    if not args.is_sharded:
        return (flags,)
    banks = (x << 16 | y for x, y in args.banks)
    return (flags, len(args.shape), len(args.banks), *args.shape, *args.shard_shape, *banks)


class Sharded(AddressGenerator):
    """Pages in shards, the shards in turn over the banks, row-major."""

    def __init__(
        self,
        args: AccessorArgs,
        banks: Sequence[Endpoint],
        alignment: int,
        bank_base_address: int,
        page_size: int,
    ) -> None:
        """Pages of `page_size` bytes, each rounded up to the alignment of the memory."""
        self.banks = banks
        self.base = bank_base_address
        self.page_size = page_size
        self.stride = -(-page_size // alignment) * alignment
        self._shape = args.shape
        self._shard = args.shard_shape
        self.num_pages = math.prod(args.shape)
        self._shards = tuple(
            -(-extent // shard) for extent, shard in zip(args.shape, args.shard_shape, strict=True)
        )
        self._shard_pages = 1
        for extent in args.shard_shape:
            self._shard_pages *= extent

    def locate(self, page: int) -> tuple[Endpoint, int]:
        """The bank of a page, and the address in the bank."""
        shard = inside = 0
        scale = inner = 1
        for extent, shard_extent, shards in zip(
            reversed(self._shape), reversed(self._shard), reversed(self._shards), strict=True
        ):
            page, index = divmod(page, extent)
            shard += index // shard_extent * scale
            inside += index % shard_extent * inner
            scale *= shards
            inner *= shard_extent
        return self._at(shard, inside)

    def locate_shard(self, shard: int) -> tuple[Endpoint, int]:
        """The bank of a shard, and its address in the bank."""
        return self._at(shard, 0)

    def _at(self, shard: int, inside: int) -> tuple[Endpoint, int]:
        row, bank = divmod(shard, len(self.banks))
        return self.banks[bank], self.base + (row * self._shard_pages + inside) * self.stride

    @property
    def shard_size(self) -> int:
        """Bytes of a shard in its bank."""
        return self._shard_pages * self.stride

    def get_shard_noc_addr(self, shard: int, offset: int = 0, noc: int = 0) -> int:
        """The address of a byte of a shard on the network."""
        bank, address = self.locate_shard(shard)
        return noc_address(*bank.coordinate, address + offset)


class TensorAccessor(AddressGenerator):
    """Address generator of kernels for every layout: `TensorAccessor(args, address, page_size)`."""

    def __init__(self, core: Core, pages: Interleaved | Sharded) -> None:
        """`pages` says where they are, `core` is the one that asks."""
        self._core = core
        self._pages = pages
        self.page_size = pages.page_size
        self.num_pages = pages.num_pages
        self.num_banks = pages.num_banks
        self.strays = pages.strays
        self.locate = pages.locate

    @property
    def sharded(self) -> Sharded:
        """The layout in shards; SimError if the tensor has none."""
        if not isinstance(self._pages, Sharded):
            raise SimError("the tensor is interleaved, so it has no shards; use its pages")
        return self._pages

    def get_shard_noc_addr(self, shard: int, offset: int = 0, noc: int = 0) -> int:
        """The address of a byte of a shard on the network."""
        return self.sharded.get_shard_noc_addr(shard, offset, noc)

    def is_local_bank(self, x: int, y: int, noc: int = 0) -> bool:
        """Whether the bank in column x and row y of the network is this core."""
        return (x, y) == self._core.coordinate

    def is_local_addr(self, address: int, noc: int = 0) -> bool:
        """Whether an address on the network is in the memory of this core."""
        return address >> 36 == noc_address(*self._core.coordinate, 0) >> 36

    def is_local_page(self, page: int, noc: int = 0) -> bool:
        """Whether a page is in the memory of this core."""
        return self.locate(page)[0] is self._core

    def is_local_shard(self, shard: int, noc: int = 0) -> bool:
        """Whether a shard is in the memory of this core."""
        return self.sharded.locate_shard(shard)[0] is self._core
