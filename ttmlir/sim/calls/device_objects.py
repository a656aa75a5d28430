"""Objects of kernels that move data: networks, circular buffers, semaphores and places.

Methods have the names of the C++ ones (tt-metal, experimental/noc.h and its neighbours); those that
wait return whether they are done, to be called again if not. Lists in braces come as tuples of
(name, value).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ttmlir.optable.kernel.cpp_movement_calls import NOC_OPTIONS
from ttmlir.optable.kernel.kernel_call import CONSTANTS
from ttmlir.sim.calls.data_movement_api import DataMovementCalls
from ttmlir.sim.calls.kernel_api import CircularBufferObject, Template, kernel_call
from ttmlir.sim.errors import SimError
from ttmlir.sim.machine.address_generators import AddressGenerator
from ttmlir.sim.machine.device import (
    LOCAL_MASK,
    MEM_ZEROS_BASE,
    MEM_ZEROS_SIZE,
    Endpoint,
    multicast_address,
    noc_address,
)
from ttmlir.sim.machine.memory import ELSEWHERE

Fields: TypeAlias = tuple[tuple[str, int], ...]
"""A list in braces: `{.page_id = 3}`."""

_TXN_ID, _INCLUDE_SRC = NOC_OPTIONS["TXN_ID"], NOC_OPTIONS["MCAST_INCL_SRC"]
_MOST_FLAGS = 64


class PlaceObject:
    """`UnicastEndpoint`, `MulticastEndpoint`, `AllocatorBank`, `PrecomposedUnicastEndpoint`."""

    def __init__(self, name: str, *, dram: bool = False) -> None:
        """`dram` is what the banks are of."""
        self.name = name
        self.dram = dram


Place: TypeAlias = int | CircularBufferObject | PlaceObject | AddressGenerator
"""What data is moved from or to; a number is an address in L1, or the `ELSEWHERE` of a page."""


class NocObject:
    """`Noc`: transactions on a network."""

    def __init__(self, api: DataMovementCalls, index: int) -> None:
        """The network of a number."""
        self._api = api
        self.index = index
        self._started = 0
        """Bytes of a transfer in parts that is not started to its end."""

    # Places.

    def _remote(self, place: Place, fields: Fields, *, as_source: bool) -> tuple[Endpoint, int]:
        """The memory and the address in it that one side of a transfer means."""
        given = dict(fields)
        match place:
            case AddressGenerator() as pages:
                self._check(given, pages, "page_id", "offset_bytes")
                bank, address = self._api.locate_page(given.get("page_id", 0), pages)
                return bank, address + given.get("offset_bytes", 0)
            case PlaceObject(name="AllocatorBank"):
                self._check(given, place, "bank_id", "addr")
                bank = self._api.find_bank(place.dram, given.get("bank_id", 0))
                return bank, given.get("addr", 0)
            case PlaceObject(name="UnicastEndpoint"):
                self._check(given, place, "noc_x", "noc_y", "addr")
                x, y = given.get("noc_x", 0), given.get("noc_y", 0)
                return self._api.endpoint(noc_address(x, y, 0)), given.get("addr", 0)
            case PlaceObject(name="PrecomposedUnicastEndpoint"):
                self._check(given, place, "noc_addr")
                address = given.get("noc_addr", 0)
                return self._api.endpoint(address), address & LOCAL_MASK
            case PlaceObject():
                raise self._refuse(place, "use async_write_multicast")
            case int() if place & ELSEWHERE:
                self._check(given, place, "offset_bytes")
                address = place - ELSEWHERE + given.get("offset_bytes", 0)
                return self._api.endpoint(address), address & LOCAL_MASK
            case _:
                return self._api.here, self._local(place, fields, as_source=as_source)

    def _local(self, place: Place, fields: Fields, *, as_source: bool) -> int:
        """The address in L1 of this core that the other side of a transfer means."""
        given = dict(fields)
        match place:
            case int() if place & ELSEWHERE:
                raise self._refuse(place, "it is not in the memory of this core")
            case int():
                self._check(given, place, "offset_bytes")
                return place + given.get("offset_bytes", 0)
            case CircularBufferObject():
                self._check(given, place, "offset_bytes")
                return place.address(as_source=as_source) + given.get("offset_bytes", 0)
            case PlaceObject(name="UnicastEndpoint"):
                self._check(given, place, "addr", "noc_x", "noc_y")
                return given.get("addr", 0)
            case AddressGenerator():
                bank, address = self._remote(place, fields, as_source=as_source)
                if self._api.is_here(bank):
                    return address
                raise self._refuse(place, "its page is not in the memory of this core")
            case PlaceObject():
                raise self._refuse(place, "it is no location in the memory of this core")

    def _check(self, given: dict[str, int], place: Place, *known: str) -> None:
        """Refuse members that the arguments of a place do not have."""
        for name in given:
            if name not in known:
                there = ", ".join(f".{each}" for each in known)
                raise self._refuse(place, f"its arguments have no .{name} but {there}")

    def _refuse(self, place: Place, why: str) -> SimError:
        match place:
            case int():
                name = "a page" if place & ELSEWHERE else "a pointer"
            case CircularBufferObject():
                name = "a circular buffer"
            case PlaceObject():
                name = place.name
            case _:
                name = "a tensor"
        return self._api.thread.error(f"{name} cannot be used here: {why}", rule="arguments")

    def _trid(self, template: tuple[int, ...], *options: int | Fields) -> int:
        """The transaction number, where the flags say that there is one."""
        if not _flags(template) & _TXN_ID:
            return 0
        for each in options:
            if isinstance(each, tuple):
                return dict(each).get("trid", 0)
        numbers = [each for each in options if isinstance(each, int)]
        return numbers[-1] if numbers else 0

    # Transfers.

    def async_read(
        self,
        source: Place,
        target: Place,
        size: int,
        source_fields: Fields = (),
        target_fields: Fields = (),
        *options: int | Fields,
        template: tuple[int, ...] = (),
    ) -> bool:
        """Start a copy into L1."""
        endpoint, there = self._remote(source, source_fields, as_source=True)
        here = self._local(target, target_fields, as_source=False)
        trid = self._trid(template, *options)
        return self._api.read_numbered(endpoint, there, here, size, self.index, trid)

    def async_write(
        self,
        source: Place,
        target: Place,
        size: int,
        source_fields: Fields = (),
        target_fields: Fields = (),
        *options: int | Fields,
        template: tuple[int, ...] = (),
    ) -> bool:
        """Start a copy from L1."""
        here = self._local(source, source_fields, as_source=True)
        endpoint, there = self._remote(target, target_fields, as_source=False)
        trid = self._trid(template, *options)
        return self._api.write_numbered(endpoint, there, here, size, self.index, trid)

    def async_write_multicast(
        self,
        source: Place,
        target: Place,
        size: int,
        num_dests: int,
        source_fields: Fields = (),
        target_fields: Fields = (),
        linked: int = 0,
        *options: int | Fields,
        template: tuple[int, ...] = (),
    ) -> bool:
        """Start a copy from L1 to each core of a rectangle."""
        here = self._local(source, source_fields, as_source=True)
        given = dict(target_fields)
        corners = ("noc_x_start", "noc_y_start", "noc_x_end", "noc_y_end")
        if isinstance(target, CircularBufferObject):
            self._check(given, target, *corners, "offset_bytes")
            there = target.address(as_source=False) + given.get("offset_bytes", 0)
        elif isinstance(target, PlaceObject) and target.name == "MulticastEndpoint":
            self._check(given, target, *corners, "addr")
            there = given.get("addr", 0)
        else:
            raise self._refuse(target, "a multicast goes to a CircularBuffer or MulticastEndpoint")
        x_start, y_start, x_end, y_end = (given.get(each, 0) for each in corners)
        address = multicast_address(x_start, y_start, x_end, y_end, there)
        call = self._api.noc_async_write_multicast
        if _flags(template) & _INCLUDE_SRC:
            call = self._api.noc_async_write_multicast_loopback_src
        return call(here, address, size, num_dests, bool(linked), self.index)

    def set_async_read_state(
        self,
        source: Place,
        size: int,
        source_fields: Fields = (),
        *options: int | Fields,
        template: tuple[int, ...] = (),
    ) -> None:
        """Set where reads with state come from."""
        endpoint, _ = self._remote(source, source_fields, as_source=True)
        self._api.set_read_state(self.index, endpoint, size)

    def async_read_with_state(
        self,
        source: Place,
        target: Place,
        size: int,
        source_fields: Fields = (),
        target_fields: Fields = (),
        *options: int | Fields,
        template: tuple[int, ...] = (),
    ) -> bool:
        """Start a copy into L1 from the core that was set."""
        _, there = self._remote(source, source_fields, as_source=True)
        here = self._local(target, target_fields, as_source=False)
        if self._takes_size_of_state(template):
            trid = self._trid(template, *options)
            return self._api.read_packet_of_state(there & LOCAL_MASK, here, self.index, trid)
        return self._api.noc_async_read_with_state(there & LOCAL_MASK, here, size, self.index)

    def _takes_size_of_state(self, template: tuple[int, ...]) -> bool:
        """Whether a transfer with state is said to be one packet, so that it has the size set."""
        return len(template) > 1 and template[1] <= self._api.core.chip.max_packet_size

    def set_async_write_state(
        self,
        target: Place,
        size: int,
        target_fields: Fields = (),
        *options: int | Fields,
        template: tuple[int, ...] = (),
    ) -> None:
        """Set where writes with state go."""
        endpoint, _ = self._remote(target, target_fields, as_source=False)
        self._api.set_write_state(self.index, endpoint, size)

    def async_write_with_state(
        self,
        source: Place,
        target: Place,
        size: int,
        source_fields: Fields = (),
        target_fields: Fields = (),
        *options: int | Fields,
        template: tuple[int, ...] = (),
    ) -> bool:
        """Start a copy from L1 to the core that was set."""
        here = self._local(source, source_fields, as_source=True)
        _, there = self._remote(target, target_fields, as_source=False)
        length = None if self._takes_size_of_state(template) else size
        return self._api.write_with_state(there & LOCAL_MASK, here, length, self.index)

    def inline_dw_write(
        self,
        target: Place,
        value: int,
        target_fields: Fields = (),
        byte_enable: int = 0xF,
        *options: int | Fields,
        template: tuple[int, ...] = (),
    ) -> bool:
        """Write a word."""
        endpoint, there = self._remote(target, target_fields, as_source=False)
        address = noc_address(*endpoint.coordinate, there)
        return self._api.noc_inline_dw_write(address, value, byte_enable, self.index)

    def async_write_zeros(
        self,
        target: Place,
        size: int,
        fields: Fields = (),
        scratch: Place | None = None,
        template: tuple[int, ...] = (),
    ) -> bool:
        """Fill L1 from the zeros that every core has, or a page from memory that was filled."""
        if scratch is None:
            here = self._local(target, fields, as_source=False)
            return self._in_parts(
                size,
                MEM_ZEROS_SIZE,
                lambda done, part: self._api.read_numbered(
                    self._api.here, MEM_ZEROS_BASE, here + done, part, self.index, 0
                ),
            )
        source = self._local(scratch, (), as_source=True)
        endpoint, there = self._remote(target, fields, as_source=False)
        return self._in_parts(
            size,
            CONSTANTS["NOC_MAX_BURST_SIZE"],
            lambda done, part: self._api.write_numbered(
                endpoint, there + done, source, part, self.index, 0
            ),
        )

    def _in_parts(self, size: int, most: int, start: Callable[[int, int], bool]) -> bool:
        """Start transactions of so many bytes at most; those that are started are not repeated."""
        while self._started < size:
            part = min(most, size - self._started)
            if not start(self._started, part):
                return False
            self._started += part
        self._started = 0
        return True

    def write_zeros_l1_barrier(self, template: tuple[int, ...] = ()) -> bool:
        """Wait until L1 holds the zeros."""
        return self._api.noc_async_read_barrier(self.index)

    def write_zeros_dram_barrier(self, template: tuple[int, ...] = ()) -> bool:
        """Wait until the pages hold the zeros."""
        return self._api.noc_async_write_barrier(self.index)

    # Barriers.

    def async_read_barrier(self, *options: int | Fields, template: tuple[int, ...] = ()) -> bool:
        """Wait until the reads have arrived, all or those of a number."""
        if _flags(template) & _TXN_ID:
            trid = self._trid(template, *options)
            return self._api.noc_async_read_barrier_with_trid(trid, self.index)
        return self._api.noc_async_read_barrier(self.index)

    def async_write_barrier(self, *options: int | Fields, template: tuple[int, ...] = ()) -> bool:
        """Wait until the writes have arrived, all or those of a number."""
        if _flags(template) & _TXN_ID:
            trid = self._trid(template, *options)
            return self._api.noc_async_write_barrier_with_trid(trid, self.index)
        return self._api.noc_async_write_barrier(self.index)

    def async_writes_flushed(self, *options: int | Fields, template: tuple[int, ...] = ()) -> bool:
        """Wait until the writes have left L1, all or those of a number."""
        if _flags(template) & _TXN_ID:
            trid = self._trid(template, *options)
            return self._api.noc_async_write_flushed_with_trid(trid, self.index)
        return self._api.noc_async_writes_flushed(self.index)

    def async_atomic_barrier(self, *options: int | Fields, template: tuple[int, ...] = ()) -> bool:
        """Wait until the additions are done."""
        return self._api.noc_async_atomic_barrier(self.index)

    def async_full_barrier(self, *options: int | Fields, template: tuple[int, ...] = ()) -> bool:
        """Wait until everything is done."""
        return self._api.noc_async_full_barrier(self.index)

    def get_noc_id(self) -> int:
        """Number of the network."""
        return self.index

    def is_local_bank(self, x: int, y: int) -> bool:
        """Whether a core is this one."""
        return self._api.is_here((x, y))


class SemaphoreObject:
    """`Semaphore`: a word in L1, the same on all cores that have it."""

    def __init__(self, api: DataMovementCalls, index: int) -> None:
        """A semaphore of the program, which has to be on this core when it is used."""
        self._api = api
        self._index = index

    @property
    def _address(self) -> int:
        return self._api.get_semaphore(self._index)

    def up(self, first: int | NocObject, *rest: int) -> bool:
        """Add to the word of this core, or of any: (value) or (network, x, y, value)."""
        if isinstance(first, NocObject):
            x, y, value = rest[:3]
            target = noc_address(x, y, self._address)
            return self._api.noc_semaphore_inc(target, value, first.index)
        self.set(self.value() + first)
        return True

    def down(self, value: int) -> bool:
        """Wait until the word is at least a value, and subtract that."""
        if not self._api.noc_semaphore_wait_min(self._address, value):
            return False
        self.set(self.value() - value)
        return True

    def wait(self, value: int) -> bool:
        """Wait until the word equals a value."""
        return self._api.noc_semaphore_wait(self._address, value)

    def wait_min(self, value: int) -> bool:
        """Wait until the word is at least a value."""
        return self._api.noc_semaphore_wait_min(self._address, value)

    def set(self, value: int) -> None:
        """Write the word."""
        self._api.noc_semaphore_set(self._address, value)

    def value(self) -> int:
        """The word."""
        return self._api.semaphore_value(self._address)

    def relay_unicast(self, noc: NocObject, other: SemaphoreObject, x: int, y: int) -> bool:
        """Copy the word to another semaphore, of any core."""
        self._check_other(other)
        target = noc_address(x, y, other._address)
        return self._api.noc_semaphore_set_remote(self._address, target, noc.index)

    def relay_multicast(
        self,
        noc: NocObject,
        other: SemaphoreObject,
        *rectangle: int,
        template: tuple[int, ...] = (),
    ) -> bool:
        """Copy the word to another semaphore of a rectangle of cores."""
        self._check_other(other)
        return self._set_all(noc, other._address, rectangle, template)

    def _check_other(self, other: SemaphoreObject) -> None:
        if other._address == self._address:
            raise self._api.thread.error(
                "a relay goes from one semaphore to another one; use set_multicast for the same",
                rule="arguments",
            )

    def inc_multicast(
        self,
        noc: NocObject,
        x_start: int,
        y_start: int,
        x_end: int,
        y_end: int,
        value: int,
        num_dests: int,
    ) -> bool:
        """Add to the words of a rectangle of cores."""
        target = multicast_address(x_start, y_start, x_end, y_end, self._address)
        return self._api.noc_semaphore_inc_multicast(target, value, num_dests, noc.index)

    def set_multicast(
        self, noc: NocObject, *rectangle: int, template: tuple[int, ...] = ()
    ) -> bool:
        """Copy the word to those of a rectangle of cores."""
        return self._set_all(noc, self._address, rectangle, template)

    def _set_all(
        self, noc: NocObject, address: int, rectangle: tuple[int, ...], template: tuple[int, ...]
    ) -> bool:
        """`rectangle`: two corners, the number of cores, and whether more writes follow."""
        x_start, y_start, x_end, y_end, num_dests, *linked = rectangle
        target = multicast_address(x_start, y_start, x_end, y_end, address)
        call = self._api.noc_semaphore_set_multicast
        if _flags(template) & _INCLUDE_SRC:
            call = self._api.noc_semaphore_set_multicast_loopback_src
        return call(self._address, target, num_dests, any(linked), noc.index)


def _flags(template: tuple[int, ...]) -> int:
    """The flags among template arguments; larger numbers are sizes of pages."""
    flags = 0
    for each in template:
        flags |= each if each < _MOST_FLAGS else 0
    return flags


class DataMovementApi(DataMovementCalls):
    """What kernels on BRISC and NCRISC call: the functions, and the objects on them."""

    @kernel_call()
    def Noc(self, index: int | None = None, *, template: Template = ()) -> NocObject:
        """A network as an object."""
        return NocObject(self, self._noc(index))

    @kernel_call()
    def Semaphore(self, index: int, *, template: Template = ()) -> SemaphoreObject:
        """A semaphore as an object."""
        return SemaphoreObject(self, index)

    @kernel_call()
    def UnicastEndpoint(self, *, template: Template = ()) -> PlaceObject:
        """The memory of any core."""
        return PlaceObject("UnicastEndpoint")

    @kernel_call()
    def PrecomposedUnicastEndpoint(self, *, template: Template = ()) -> PlaceObject:
        """The memory and the address in it that a network address means."""
        return PlaceObject("PrecomposedUnicastEndpoint")

    @kernel_call()
    def MulticastEndpoint(self, *, template: Template = ()) -> PlaceObject:
        """The memories of a rectangle of cores."""
        return PlaceObject("MulticastEndpoint")

    @kernel_call()
    def AllocatorBank(self, template: Template = (1,)) -> PlaceObject:
        """Banks of DRAM or of L1."""
        return PlaceObject("AllocatorBank", dram=bool(template and template[0]))

    @kernel_call()
    def use(self, buffer: CircularBufferObject, template: Template = (0,)) -> CircularBufferObject:
        """A circular buffer for transfers at one of its pointers."""
        return buffer.used(int(template[0]))
