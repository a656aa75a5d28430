"""Objects of kernels that say where the pages of a buffer are.

Page i of an interleaved buffer is in bank i mod N, after the i div N pages before it there, each
rounded up to the alignment of the memory; N is the number of DRAM channels, or of worker cores for
L1. Source: tt-metal, tt_metal/hw/inc/dataflow_api_addrgen.h and tensor/tensor_accessor.h.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest

import numpy as np

from ttmlir.collector import without_collections
from ttmlir.layout.data_format import row_major_strides
from ttmlir.layout.enums import MemorySpace, TensorMemoryLayout
from ttmlir.limits import memory_advice, memory_limit
from ttmlir.sim.errors import SimError
from ttmlir.sim.machine.device import Core, Endpoint, SimDevice, noc_address
from ttmlir.sim.sanitizer.shadow import PageGrid, Strays


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

        With 0 bytes it stands for a tensor that is not there, as in kernels whose host program
        leaves one out. `data_format` is kept for who asks.
        """
        if page_size < 0:
            raise _without_pages(page_size)
        self.banks = banks
        self.is_dram = banks[0].kind == "dram"
        self.num_banks = self.count = len(banks)
        self.bank_base_address = bank_base_address
        self.page_size = page_size
        self.data_format = data_format
        self.stride = -(-page_size // alignment) * alignment

    def locate(self, page: int) -> tuple[Endpoint, int]:
        """The bank of a page, and the address in the bank."""
        if not self.page_size:
            raise _without_pages(0)
        row, bank = divmod(page, self.count)
        return self.banks[bank], self.bank_base_address + row * self.stride

    def locate_all(self, pages: Sequence[int]) -> tuple[list[Endpoint], list[int]]:
        """The banks of pages, and the addresses in them: as `locate`, in less time."""
        if not self.page_size:
            raise _without_pages(0)
        banks, count, first, stride = self.banks, self.count, self.bank_base_address, self.stride
        return [banks[page % count] for page in pages], [
            first + page // count * stride for page in pages
        ]


def _without_pages(page_size: int) -> SimError:
    return SimError(f"a page of {page_size} bytes; an address generator needs at least one")


@dataclass(frozen=True)
class AccessorArgs:
    """What `TensorAccessorArgs` reads from a kernel's arguments: the layout of a tensor.

    An interleaved tensor takes one compile-time argument, a sharded one these: the flags, the
    number of dimensions, the number of banks, the shape in pages, the shape of a shard in pages,
    and the coordinates of the banks, two in a word with 8 bits each for x and y, the first bank in
    the lower half: those of cores on the network for L1, numbers of banks as x for DRAM. With
    `PAGE_SIZE` the aligned size of a page comes after the flags. What flags call `RUNTIME_...` is
    among the common run-time arguments instead, in the same order.
    """

    is_sharded: bool
    is_dram: bool
    shape: tuple[int, ...] = ()
    shard_shape: tuple[int, ...] = ()
    banks: tuple[tuple[int, int], ...] = ()
    end: int = 0
    """The first compile-time argument after these."""
    common_end: int = 0
    """The first common run-time argument after these."""
    start: int = 0
    """The first compile-time argument of these."""
    page_size: int | None = None
    """The aligned size of a page in bytes, if the arguments hold it."""

    @property
    def rank(self) -> int:
        """Dimensions of a sharded tensor."""
        return len(self.shape)

    def num_compile_time_args(self) -> int:
        """How many compile-time arguments these are."""
        return self.end - self.start

    def get_aligned_page_size(self) -> int:
        """The aligned size of a page; SimError if the arguments do not hold it."""
        if self.page_size is None:
            raise SimError(_NO_PAGE_SIZE, rule="arguments")
        return self.page_size

    def next_compile_time_args_offset(self) -> int:
        """The first compile-time argument after these."""
        return self.end

    def next_common_runtime_args_offset(self) -> int:
        """The first common run-time argument after these."""
        return self.common_end


SHARDED = 1
"""Flag of `AccessorArgs`: the tensor is sharded."""
DRAM = 2
"""Flag of `AccessorArgs`: the tensor is in DRAM."""
RUNTIME_RANK = 4
RUNTIME_NUM_BANKS = 8
RUNTIME_SHAPE = 16
RUNTIME_SHARD_SHAPE = 32
RUNTIME_BANKS = 64
RUNTIME_PAGE_SIZE = 128
"""Flags of `AccessorArgs`: what is among the common run-time arguments."""
PAGE_SIZE = 256
"""Flag of `AccessorArgs` that is this project's own: the arguments have the order of late 2026,
where the aligned size of a page follows the flags."""

_FLAGS = 2 * PAGE_SIZE - 1
_NO_PAGE_SIZE = (
    "these arguments of a tensor accessor hold no page size; give it to TensorAccessor(args, "
    "address, page_size), or let the host put it there: by tt_metal='0.81' of CreateDevice, by "
    "--tt-metal 0.81 of ttmlir-host and ttmlir-kernel, or by TensorAccessorArgs(buffer, "
    "aligned_page_size=True)"
)

_NO_PAGE = 0xFFFF_FFFF
_BANKS = 3

_WHERE = "layouts begin after the other compile-time arguments, such as numbers of circular buffers"


def _is_layout(flags: int) -> bool:
    """Whether these flags go together."""
    if not flags & SHARDED:
        return not flags & ~(DRAM | PAGE_SIZE | RUNTIME_PAGE_SIZE)
    shapes = RUNTIME_SHAPE | RUNTIME_SHARD_SHAPE
    return not (
        flags & ~_FLAGS
        or flags & RUNTIME_PAGE_SIZE
        or (flags & RUNTIME_RANK and flags & shapes != shapes)
        or (flags & RUNTIME_NUM_BANKS and not flags & RUNTIME_BANKS)
    )


class _Words:
    """Compile-time and common run-time arguments, taken one after another."""

    def __init__(self, words: Sequence[int], start: int, common: Sequence[int] | None, at: int):
        self.words = words
        self.start = self.place = start
        self._common = common
        self.common_place = at

    def take(self, count: int, *, at_runtime: bool) -> tuple[int, ...]:
        """The next arguments; SimError if there are not so many."""
        if not at_runtime:
            self.place += count
            if self.place > len(self.words):
                raise SimError(
                    f"TensorAccessorArgs<{self.start}> of a sharded tensor needs more than the "
                    f"{len(self.words) - self.start} compile-time arguments that the kernel has "
                    f"from there; {_WHERE}",
                    rule="arguments",
                )
            return tuple(self.words[self.place - count : self.place])
        self.common_place += count
        if self._common is None:
            return (0,) * count
        if self.common_place > len(self._common):
            raise SimError(
                f"TensorAccessorArgs<{self.start}> reads common run-time argument "
                f"{self.common_place - 1}, but the kernel has {len(self._common)} of them",
                rule="arguments",
            )
        return tuple(self._common[self.common_place - count : self.common_place])


def read_accessor_args(
    words: Sequence[int],
    base: int,
    common_base: int = 0,
    common: Sequence[int] | None = (),
    *,
    has_page_size: bool = False,
) -> AccessorArgs:
    """The layout in these compile-time arguments, from `base` on; SimError if they end early.

    `common` are the common run-time arguments; None if they are not known, which leaves zeros.
    With `has_page_size` the size of a page follows the flags, whether they say so or not, as host
    programs of tt-metal 0.81 have it.
    """
    if not 0 <= base < len(words):
        raise SimError(
            f"TensorAccessorArgs<{base}> reads compile-time argument {base}, but the kernel has "
            f"{len(words)} of them",
            rule="arguments",
        )
    flags = words[base]
    if not _is_layout(flags):
        raise SimError(
            f"TensorAccessorArgs<{base}> reads {flags} from compile-time argument {base}, which is "
            f"no layout of a tensor: {DRAM} is interleaved in DRAM, 0 in L1, odd numbers are "
            f"sharded; {_WHERE}",
            rule="arguments",
        )
    taken = _Words(words, base + 1, common, common_base)
    taken.start = base
    page_size = None
    if has_page_size or flags & (PAGE_SIZE | RUNTIME_PAGE_SIZE):
        (page_size,) = taken.take(1, at_runtime=bool(flags & RUNTIME_PAGE_SIZE))
    is_dram = bool(flags & DRAM)
    if not flags & SHARDED:
        return AccessorArgs(
            is_sharded=False,
            is_dram=is_dram,
            end=taken.place,
            common_end=taken.common_place,
            start=base,
            page_size=page_size,
        )
    (rank,) = taken.take(1, at_runtime=bool(flags & RUNTIME_RANK))
    (banks,) = taken.take(1, at_runtime=bool(flags & RUNTIME_NUM_BANKS))
    shape = taken.take(rank, at_runtime=bool(flags & RUNTIME_SHAPE))
    shard = taken.take(rank, at_runtime=bool(flags & RUNTIME_SHARD_SHAPE))
    pairs = taken.take((banks + 1) // 2, at_runtime=bool(flags & RUNTIME_BANKS))
    places = [half for pair in pairs for half in (pair & 0xFFFF, pair >> 16)][:banks]
    return AccessorArgs(
        is_sharded=True,
        is_dram=is_dram,
        shape=shape,
        shard_shape=shard,
        banks=tuple((place >> 8, place & 0xFF) for place in places),
        end=taken.place,
        common_end=taken.common_place,
        start=base,
        page_size=page_size,
    )


def accessor_words(args: AccessorArgs) -> tuple[int, ...]:
    """The compile-time arguments that say this; inverse of `read_accessor_args`."""
    return split_accessor_words(args, 0)[0]


def split_accessor_words(
    args: AccessorArgs, runtime: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Compile-time and common run-time arguments; `runtime` are the flags of what is of the latter.

    SimError for flags that do not go together. Flags for shards say nothing of other tensors.
    """
    if not args.is_sharded:
        runtime &= RUNTIME_PAGE_SIZE
    flags = SHARDED * args.is_sharded | DRAM * args.is_dram | runtime
    if args.page_size is not None and not runtime & RUNTIME_PAGE_SIZE:
        flags |= PAGE_SIZE
    if not _is_layout(flags):
        raise SimError(
            "the rank can be a run-time argument only with both shapes, the number of banks only "
            "with their coordinates, and the size of a page only of tensors that are not sharded"
        )
    halves = [x << 8 | y for x, y in args.banks] + [0] * (len(args.banks) % 2)
    banks = (low | high << 16 for low, high in zip(halves[::2], halves[1::2], strict=True))
    parts: list[tuple[int, tuple[int, ...]]] = []
    if args.page_size is not None:
        parts.append((RUNTIME_PAGE_SIZE, (args.page_size,)))
    if args.is_sharded:
        parts += [
            (RUNTIME_RANK, (len(args.shape),)),
            (RUNTIME_NUM_BANKS, (len(args.banks),)),
            (RUNTIME_SHAPE, args.shape),
            (RUNTIME_SHARD_SHAPE, args.shard_shape),
            (RUNTIME_BANKS, tuple(banks)),
        ]
    constant = [word for flag, words in parts if not runtime & flag for word in words]
    common = [word for flag, words in parts if runtime & flag for word in words]
    return (flags, *constant), tuple(common)


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
        self.is_dram = args.is_dram
        self.bank_base_address = bank_base_address
        self.page_size = page_size
        self.stride = -(-page_size // alignment) * alignment
        self._places = args.banks
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
        return self._at(*self._split(page))

    def _split(self, page: int) -> tuple[int, int]:
        """The shard of a page, and the place in it."""
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
        return shard, inside

    def locate_shard(self, shard: int) -> tuple[Endpoint, int]:
        """The bank of a shard, and its address in the bank."""
        return self._at(shard, 0)

    @cached_property
    def _extents(self) -> tuple[tuple[int, ...], ...]:
        """Shape, that of a shard, strides, shards, strides of these, coordinates of the banks."""
        pairs = [x << 8 | y for x, y in self._places]
        return (
            self._shape,
            self._shard,
            row_major_strides(self._shape),
            self._shards,
            row_major_strides(self._shards),
            tuple(
                low | high << 16 for low, high in zip_longest(pairs[::2], pairs[1::2], fillvalue=0)
            ),
        )

    def find_extent(self, kind: int, dimension: int) -> int:
        """A number of one of these lists; SimError past its end."""
        numbers = self._extents[kind]
        if not 0 <= dimension < len(numbers):
            raise SimError(
                f"dimension {dimension} of a tensor with {len(numbers)}: they are numbered from 0",
                rule="arguments",
            )
        return numbers[dimension]

    def count(self, kind: int) -> int:
        """Pages, pages of a shard, dimensions, banks, words with coordinates of banks."""
        pages = math.prod(self._shape)
        counts = (pages, self._shard_pages, len(self._shape), len(self.banks))
        return counts[kind] if kind < len(counts) else len(self._extents[5])

    def page_of_shard(self, shard: int, place: int) -> int:
        """The page at a place of a shard; all bits set where it has none, beyond the tensor."""
        page, scale = 0, 1
        dimensions = zip(
            reversed(self._shape), reversed(self._shard), reversed(self._shards), strict=True
        )
        for extent, shard_extent, shards in dimensions:
            place, inside = divmod(place, shard_extent)
            shard, number = divmod(shard, shards)
            index = number * shard_extent + inside
            if index >= extent:
                return _NO_PAGE
            page += index * scale
            scale *= extent
        return _NO_PAGE if shard or place else page

    def place_of_page(self, page: int) -> tuple[int, int]:
        """The number of the bank of a page, and the number of the page in it."""
        shard, inside = self._split(page)
        row, bank = divmod(shard, len(self.banks))
        return bank, row * self._shard_pages + inside

    def _at(self, shard: int, inside: int) -> tuple[Endpoint, int]:
        row, bank = divmod(shard, len(self.banks))
        return self.banks[bank], self.bank_base_address + (
            row * self._shard_pages + inside
        ) * self.stride

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
        self.bank_base_address = pages.bank_base_address
        self.is_dram = pages.is_dram
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

    def get_aligned_page_size(self) -> int:
        """Bytes from one page of a bank to the next."""
        return self._pages.stride

    def get_bank_base_address(self) -> int:
        """Where the tensor begins in its banks."""
        return self._pages.bank_base_address

    # What the package's header of accessors asks.

    def builtin_count(self, kind: int) -> int:
        """Numbers of things, as `Sharded.count` has them."""
        pages = self._pages
        if isinstance(pages, Sharded):
            return pages.count(kind)
        if kind == _BANKS:
            return pages.count
        raise SimError(
            "the tensor is interleaved: it has no shards, and its accessor does not know how many "
            "pages it has; give pages(start, end) both bounds",
            rule="arguments",
        )

    def builtin_extent(self, kind: int, dimension: int) -> int:
        """Shapes and strides, as `Sharded` has them."""
        return self.sharded.find_extent(kind, dimension)

    def builtin_page_of_shard(self, shard: int, place: int) -> int:
        """The page at a place of a shard."""
        return self.sharded.page_of_shard(shard, place)

    def builtin_bank_of_page(self, page: int) -> int:
        """The number of the bank of a page."""
        return self._place_of_page(page)[0]

    def builtin_place_of_page(self, page: int) -> int:
        """The number of a page in its bank."""
        return self._place_of_page(page)[1]

    def _place_of_page(self, page: int) -> tuple[int, int]:
        pages = self._pages
        if isinstance(pages, Sharded):
            return pages.place_of_page(page)
        row, bank = divmod(page, pages.count)
        return bank, row

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


# --- Buffer ---------------------------------------------------------------------------------------
# Buffers: pages of bytes that are spread over the banks of a device's memory.
#
# Source: tt-metal, tt_metal/impl/buffers/buffer.hpp.


@dataclass(frozen=True, kw_only=True)
class Sharding:
    """How a two-dimensional array of pages is cut into shards, one for each core.

    `cores` are the logical (x, y) that the shards go to, row of shards by row of shards.
    """

    layout: TensorMemoryLayout
    cores: tuple[tuple[int, int], ...]
    shape: tuple[int, int]
    """Rows and columns of the array, in pages."""
    shard_shape: tuple[int, int]
    """Rows and columns of a shard, in pages."""

    def __post_init__(self) -> None:
        """Refuse layouts without shards, and more shards than cores."""
        if not self.layout.name.endswith("_SHARDED"):
            raise SimError(
                f"{self.layout.keyword} is no sharded layout; shards are height_sharded, "
                "width_sharded or block_sharded"
            )
        if min(*self.shape, *self.shard_shape) < 1:
            raise SimError(f"shards of {self.shard_shape} pages of {self.shape} cannot be")
        if self.num_shards > len(self.cores):
            raise SimError(
                f"{self.shape[0]}x{self.shape[1]} pages make {self.num_shards} shards of "
                f"{self.shard_shape[0]}x{self.shard_shape[1]}, but there are {len(self.cores)} "
                "cores; use larger shards or more cores"
            )

    @property
    def num_shards(self) -> int:
        """How many shards the array is cut into, the last ones perhaps not full."""
        rows, columns = (
            -(-extent // shard) for extent, shard in zip(self.shape, self.shard_shape, strict=True)
        )
        return rows * columns


class Buffer:
    """Pages of one size; `address` is the same in every bank."""

    def __init__(
        self,
        device: SimDevice,
        size: int,
        page_size: int,
        space: MemorySpace = MemorySpace.DEVICE_DRAM,
        *,
        sharding: Sharding | None = None,
        address: int | None = None,
        is_taken: bool = False,
        bottom_up: bool | None = None,
    ) -> None:
        """Take memory of a device, at a given address if there is one.

        With `is_taken` the caller has the address already, and the buffer takes it over. Pages are
        interleaved over all banks unless the buffer is sharded. `bottom_up` says from which side of
        the memory it is taken; None: DRAM from the bottom, L1 from the top.

        Raises SimError for sizes that do not fit each other, AllocationError if there is no room.
        """
        _check(size, page_size, space, sharding)
        self.device = device
        self.size = size
        self.page_size = page_size
        self.space = space
        self.sharding = sharding
        self.allocated = True
        self.allocator = device.allocator(space)
        self.pages = self._pages(0)
        self.bank_size = self._bank_pages * self.pages.stride
        if address is None:
            address = self.allocator.allocate(self.bank_size, bottom_up=bottom_up)
        else:
            self.allocator.take(address, self.bank_size, instead=is_taken)
        self.address = address
        self.pages = self._pages(address)
        for bank in self.pages.banks:
            bank.memory.poison(address, self.bank_size)
        if device.watch is not None:
            grid = PageGrid(
                page_size=page_size,
                stride=self.pages.stride,
                bank_size=self.bank_size,
                num_pages=self.num_pages if sharding is None else None,
            )
            for bank in self.pages.banks:
                device.watch.allocated(bank.memory, address, grid)

    def _pages(self, address: int) -> Interleaved | Sharded:
        is_dram = self.space == MemorySpace.DEVICE_DRAM
        chip = self.device.chip
        alignment = chip.dram_alignment if is_dram else chip.l1_alignment
        if self.sharding is None:
            network = self.device.network
            banks = network.dram if is_dram else network.l1_banks
            return Interleaved(banks, alignment, address, self.page_size)
        cores = [self.device.core(x, y) for x, y in self.sharding.cores[: self.sharding.num_shards]]
        return Sharded(self.accessor_args(), cores, alignment, address, self.page_size)

    @property
    def _bank_pages(self) -> int:
        """Pages of the bank that has most of them."""
        if self.sharding is not None:
            rows, columns = self.sharding.shard_shape
            return rows * columns
        return -(-self.num_pages // len(self.pages.banks))

    @property
    def num_pages(self) -> int:
        """How many pages the buffer has."""
        return self.size // self.page_size

    @property
    def layout(self) -> TensorMemoryLayout:
        """How the pages are spread."""
        return TensorMemoryLayout.INTERLEAVED if self.sharding is None else self.sharding.layout

    def accessor_args(self) -> AccessorArgs:
        """What a kernel's `TensorAccessorArgs` has to know about the layout."""
        is_dram = self.space == MemorySpace.DEVICE_DRAM
        if self.sharding is None:
            return AccessorArgs(is_sharded=False, is_dram=is_dram)
        used = self.sharding.cores[: self.sharding.num_shards]
        return AccessorArgs(
            is_sharded=True,
            is_dram=is_dram,
            shape=self.sharding.shape,
            shard_shape=self.sharding.shard_shape,
            banks=tuple(self.device.chip.noc_coordinate(core) for core in used),
        )

    def noc_address(self, page: int) -> int:
        """The address of a page on the network."""
        bank, address = self.pages.locate(page)
        return noc_address(*bank.coordinate, address)

    def write(
        self, data: bytes | memoryview, *, page_bytes: int | None = None, pages: range | None = None
    ) -> None:
        """Fill the buffer from the host; SimError for another number of bytes.

        `page_bytes` is how many bytes of each page are given, from its first one on; all if None.
        `pages` are those that are filled; all if None.
        """
        pages = self._check_pages(pages)
        length = self.page_size if page_bytes is None else page_bytes
        if len(data) != length * len(pages):
            raise SimError(f"{len(data)} bytes for a buffer of {length * len(pages)}")
        rows = np.frombuffer(data, np.uint8).reshape(len(pages), length)
        watch = self.device.watch
        with without_collections():
            for bank, address, part in self._runs(pages, length):
                bank.memory.write(address, rows[part].tobytes())
                if watch is not None:
                    watch.host_write(bank.memory, address, length, len(rows[part]))

    def read(self, *, page_bytes: int | None = None, pages: range | None = None) -> bytes:
        """What is in the buffer, page after page; of each page the first `page_bytes` if given.

        `pages` are those that are read; all if None.
        """
        pages = self._check_pages(pages)
        length = self.page_size if page_bytes is None else page_bytes
        watch = self.device.watch
        rows = np.empty((len(pages), length), np.uint8)
        for bank, address, part in self._runs(pages, length):
            size = rows[part].size
            if watch is not None:
                watch.host_read(bank.memory, address, size)
            data = bank.memory.read(address, size)
            rows[part] = np.frombuffer(data, np.uint8).reshape(-1, length)
        return rows.tobytes()

    def _runs(self, pages: range, length: int) -> Iterator[tuple[Endpoint, int, slice]]:
        """Pages that lie one behind the other: their bank, the first address, which they are."""
        places = self.pages
        step = len(pages)
        if isinstance(places, Interleaved) and length == places.stride and pages.step == 1:
            step = places.count
        for first in range(min(step, len(pages))):
            yield *places.locate(pages[first]), slice(first, None, step)

    def _check_pages(self, pages: range | None) -> range:
        """The pages that are meant; SimError if the buffer is gone or does not have them."""
        self._check_use()
        if pages is None:
            return range(self.num_pages)
        if pages and not (0 <= pages[0] and pages[-1] < self.num_pages):
            raise SimError(
                f"pages {pages[0]} to {pages[-1]} of a buffer that has pages 0 to "
                f"{self.num_pages - 1}"
            )
        return pages

    def deallocate(self) -> None:
        """Give the memory back; SimError if that was done before."""
        self._check_use()
        self.allocator.free(self.address)
        self.allocated = False
        if self.device.watch is not None:
            for bank in self.pages.banks:
                self.device.watch.freed(bank.memory, self.address, self.bank_size)

    def _check_use(self) -> None:
        if not self.allocated:
            raise SimError(f"the buffer at {self.address:#x} was deallocated")


def _check(size: int, page_size: int, space: MemorySpace, sharding: Sharding | None) -> None:
    if space not in (MemorySpace.DEVICE_DRAM, MemorySpace.DEVICE_L1):
        raise SimError(f"a device has no {space.keyword} memory; buffers are in dram or l1")
    if page_size < 1 or size < 1 or size % page_size:
        raise SimError(
            f"a buffer of {size} bytes is not made of pages of {page_size}; the size has to be a "
            "multiple of the page size"
        )
    if size > memory_limit():
        raise SimError(f"a buffer of {size} bytes; {memory_advice()}", rule="out-of-memory")
    if sharding is None:
        return
    if space != MemorySpace.DEVICE_L1:
        raise SimError("sharded buffers are in l1: shards belong to cores")
    rows, columns = sharding.shape
    if rows * columns * page_size != size:
        raise SimError(
            f"{rows}x{columns} pages of {page_size} bytes are {rows * columns * page_size} bytes, "
            f"but the buffer has {size}"
        )
