"""Calls that pack and unpack addresses, and reads and waits with transaction numbers.

Source: tt-metal, dataflow_api.h, noc_parameters.h and noc_addr.h. Both networks number tiles alike
here (`ttmlir.sim.machine.noc`), so that coordinates need no mirroring.
"""

from __future__ import annotations

from typing import Any

from ttmlir.sim.calls.declaration import kernel_call
from ttmlir.sim.calls.transactions import Transactions
from ttmlir.sim.machine.core import Endpoint
from ttmlir.sim.machine.noc import (
    LOCAL_BITS,
    LOCAL_MASK,
    coordinate_of,
    multicast_address,
    noc_address,
)

_NODE_BITS = 6


class NumberedReads(Transactions):
    """What kernels of several releases call beside the API."""

    # Addresses.

    @kernel_call(steady=True)
    def safe_get_noc_addr(self, x: int, y: int, address: int, noc: int = 0) -> int:
        """Address of a byte in the memory of the core in column x and row y."""
        return noc_address(x, y, address)

    @kernel_call(steady=True)
    def NOC_XY_ADDR(self, x: int, y: int, address: int) -> int:
        """Address of a byte in the memory of the core in column x and row y."""
        return noc_address(x, y, address)

    @kernel_call(steady=True)
    def get_noc_addr_helper(self, encoded: int, address: int) -> int:
        """Address of a byte in the memory of the core of a NOC_XY_ENCODING."""
        return encoded << LOCAL_BITS | address

    @kernel_call(steady=True)
    def NOC_MULTICAST_ADDR(
        self, x_start: int, y_start: int, x_end: int, y_end: int, address: int
    ) -> int:
        """Address of a byte in the memory of each core of a rectangle."""
        return multicast_address(x_start, y_start, x_end, y_end, address)

    @kernel_call(steady=True)
    def NOC_X(self, x: int) -> int:
        """Column of a core on this network."""
        return x

    NOC_Y = NOC_X

    @kernel_call(steady=True)
    def DYNAMIC_NOC_X(self, noc: int, x: int) -> int:
        """Column of a core on a network."""
        return x

    DYNAMIC_NOC_Y = DYNAMIC_NOC_X

    @kernel_call(steady=True)
    def NOC_XY_ENCODING(self, x: int, y: int) -> int:
        """Column and row in one number."""
        return y << _NODE_BITS | x

    @kernel_call(steady=True)
    def NOC_UNICAST_ADDR_X(self, address: int) -> int:
        """Column of the core of an address."""
        return coordinate_of(address)[0]

    @kernel_call(steady=True)
    def NOC_UNICAST_ADDR_Y(self, address: int) -> int:
        """Row of the core of an address."""
        return coordinate_of(address)[1]

    # Transaction numbers.

    @kernel_call(waits=True)
    def noc_async_read_one_packet_with_state_with_trid(
        self,
        base: int,
        source: int,
        address: int,
        trid: int = 0,
        noc: int | None = None,
        template: tuple[Any, ...] = (),
    ) -> bool:
        """Start a copy into L1 of the size and from the tile that were set."""
        setter = "noc_async_read_one_packet_set_state"
        return self._read_numbered(base + source, address, trid, noc, setter)

    @kernel_call()
    def noc_async_read_tile_dram_sharded_set_state(
        self,
        address: int,
        page_size: int,
        bank: int = 0,
        vc: int = 0,
        noc: int | None = None,
        template: tuple[Any, ...] = (),
    ) -> int:
        """Set a bank of DRAM and a size; the address in the bank."""
        if template and int(template[0]) > 1:
            # The order of 2024: the page size is a template argument.
            page_size, bank = int(template[0]), page_size
        banks = self.network.dram
        if not 0 <= bank < len(banks):
            raise self.thread.error(
                f"bank {bank} does not exist; there are {len(banks)}, numbered from 0",
                rule="noc-bank",
            )
        self._check_packet(page_size, "noc_async_read_tile_dram_sharded_set_state")
        self._read_state[self._noc(noc)] = (banks[bank], page_size)
        return address

    @kernel_call(waits=True)
    def noc_async_read_tile_dram_sharded_with_state(
        self, base: int, source: int, address: int, trid: int = 0, noc: int | None = None
    ) -> bool:
        """Start a copy into L1 from the bank that was set."""
        setter = "noc_async_read_tile_dram_sharded_set_state"
        return self._read_numbered(base + source, address, trid, noc, setter)

    @kernel_call(waits=True)
    def noc_async_read_tile_dram_sharded_with_state_with_trid(
        self,
        base: int,
        source: int,
        address: int,
        trid: int = 0,
        noc: int | None = None,
        template: tuple[Any, ...] = (),
    ) -> bool:
        """Start a copy into L1 from the bank that was set, with a transaction number."""
        setter = "noc_async_read_tile_dram_sharded_set_state"
        return self._read_numbered(base + source, address, trid, noc, setter)

    def read_numbered(
        self, endpoint: Endpoint, source: int, address: int, size: int, noc: int, trid: int
    ) -> bool:
        """Start a copy into L1 with a transaction number, if that is not 0."""
        before, self._trid = self._trid, trid or self._trid
        done = self._read(endpoint, source, address, size, noc)
        self._trid = before
        return done

    def write_numbered(
        self, endpoint: Endpoint, target: int, address: int, size: int, noc: int, trid: int
    ) -> bool:
        """Start a copy from L1 with a transaction number."""
        return self._write(endpoint, target, address, size, noc, trid)

    def set_read_state(self, noc: int, endpoint: Endpoint, size: int) -> None:
        """Set where reads with state come from."""
        self._read_state[noc] = (endpoint, size)

    def set_write_state(self, noc: int, endpoint: Endpoint, size: int) -> None:
        """Set where writes with state go."""
        self._write_state[noc] = (endpoint, size)

    def write_with_state(self, target: int, address: int, size: int, noc: int) -> bool:
        """Start a copy from L1 to the core that was set."""
        endpoint, _ = self._state(self._write_state, noc, "set_async_write_state")
        return self._write(endpoint, target, address, size, noc)

    def _read_numbered(
        self, source: int, address: int, trid: int, noc: int | None, setter: str
    ) -> bool:
        endpoint, size = self._state(self._read_state, noc, setter)
        number = self._noc(noc)
        return self.read_numbered(endpoint, source & LOCAL_MASK, address, size, number, trid)

    @kernel_call()
    def noc_async_read_tile_dram_sharded_set_trid(
        self, trid: int = 0, noc: int | None = None
    ) -> None:
        """Set the transaction number of the reads that follow."""
        self._trid = trid

    @kernel_call(waits=True)
    def noc_async_write_flushed_with_trid(self, trid: int, noc: int | None = None) -> bool:
        """Wait until the writes with a transaction number have left L1."""
        return self._finish("noc_async_writes_flushed", "flush", noc, trid)

    @kernel_call()
    def reset_noc_trid_barrier_counter(self, mask: int = 0xFFFF, noc: int | None = None) -> None:
        """Nothing: what was started is not counted by number."""
