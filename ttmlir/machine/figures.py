"""What is known of a generation of chips: a record for each subject, whose fields have sources.

Cycles are those of the chip's clock, rates bytes per cycle, sizes bytes, positions (y, x), if
nothing else is said.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar, cast

Coord = tuple[int, int]
"""(y, x) of a core."""

RateTable = tuple[tuple[int, float], ...]
"""Rates by the size of pages; linear in between."""

_T = TypeVar("_T")


@dataclass(frozen=True)
class _Sourced:
    number: object
    source: str


def figure(number: _T, source: str) -> _T:
    """What a field of `Figures` is given: a number, and where it is from.

    The field holds the number; `Figures.sources` says where it is from. A number that is no
    published one says how it was derived, or "fitted to" what.
    """
    return cast(_T, _Sourced(number, source))


@dataclass(frozen=True, kw_only=True)
class Figures:
    """A record of figures."""

    sources: Mapping[str, str] = field(init=False, repr=False, compare=False)
    """Of each field."""

    def __post_init__(self) -> None:
        """Take the numbers out of what `figure` made."""
        sources: dict[str, str] = {}
        for each in fields(self):
            given = getattr(self, each.name, None)
            if isinstance(given, _Sourced):
                object.__setattr__(self, each.name, given.number)
                sources[each.name] = given.source
        object.__setattr__(self, "sources", sources)

    def numbers(self) -> dict[str, Any]:
        """The figures by name, to make a record that has more."""
        return {each.name: getattr(self, each.name) for each in fields(self) if each.init}


# --- The chip -------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class FirmwareMap:
    """What firmware takes at the beginning of L1, in bytes and in this order."""

    base: int
    """Boot code, mailboxes, zeros."""
    brisc_code: int
    trisc_code: int
    """Of each of the three."""
    brisc_data: int
    ncrisc_data: int
    trisc_data: int
    """Of each of the three: copies of local memory."""
    ncrisc_code: int

    @property
    def end(self) -> int:
        """The first byte after it."""
        code = self.brisc_code + 3 * self.trisc_code + self.ncrisc_code
        return self.base + code + self.brisc_data + self.ncrisc_data + 3 * self.trisc_data


@dataclass(frozen=True, kw_only=True)
class ChipFigures(Figures):
    """Where what is on a chip, and how large."""

    macro: str
    """Defined while kernels are compiled."""
    clock_hz: int
    noc_size: Coord
    """Rows and columns of the network."""
    max_packet_size: int
    """Bytes that one packet of the network carries."""
    l1_size: int
    firmware: FirmwareMap
    l1_alignment: int
    pcie_alignment: int
    dram_read_alignment: int
    dram_write_alignment: int
    dram_channel_size: int
    """At most what 32 bits can say."""
    reserved: int
    """Bytes at the beginning of DRAM, and of the L1 of cores, that the default system leaves to
    itself; firmware takes more of L1."""
    dram: tuple[Coord, ...]
    """The endpoint of each channel that worker cores use."""
    ethernet: tuple[Coord, ...]
    """The tile of each Ethernet channel."""
    ethernet_l1_size: int
    """Of the core on such a tile."""
    worker_rows: tuple[int, ...]
    worker_columns: tuple[int, ...]
    """Rows and columns of the network with worker cores, those included that a board fuses off."""
    tile_sizes: tuple[Coord, ...]
    """Heights and widths of the tiles that the matrix unit takes."""


# --- Cores ----------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class UnitFigures(Figures):
    """Cycles that the units of a core take for a tile, and its processors for a word of L1."""

    dst_tiles: int
    """Tiles of 16 bits in all of DST; kernels compute in one half while the other one is packed."""
    faces: int
    """Of a tile. Element-wise unpacking issues an instruction for each; unpacking for a matrix
    product takes a tile in one."""
    unpack_rate: int
    """Bytes per cycle that the unpackers take out of L1, alone at rate x4 or both at x2 each."""
    slow_unpack_rate: int
    """The same for formats that are always unpacked at rate x1: those of 2 bits."""
    unpack_instruction: int
    """Cycles in which an unpack instruction computes its address."""
    pack_rate: int
    """Bytes per cycle that the four packers write into L1."""
    pack_accumulate_rate: int
    """The same when they add to what is there."""
    wide_pack_rate: int
    """The same for numbers of 32 bits."""
    pack_overhead: int
    """Cycles of a tile beyond its bytes."""
    matmul_phase: int
    """Cycles of one fidelity phase of a product of two tiles."""
    matmul_unpack_tile: int
    """Cycles between two of the tiles that are unpacked one after the other for products: the
    unpackers compute the address in between."""
    matmul_unpack_call: int
    """Cycles of the processor that drives the unpackers for a call that multiplies a block: it
    looks up the operands, waits for a set of registers, computes addresses, writes them and starts
    the program. It does so while the unpackers work, so it counts where they would be faster. These
    calls keep one tile each; for a further one only the addresses change, which hides behind the
    tiles that stream."""
    matmul_handover: int
    """Cycles between products of tiles."""
    dst_handover: int
    """Cycles of the math thread to hand a half of DST over: it waits for the matrix unit, counts a
    semaphore up and changes halves."""
    reduce_max: int
    """Cycles to reduce a tile to its largest numbers."""
    tilize_unpack: int
    """Cycles to unpack a 16-bit tile out of 32 rows."""
    tilize_bank_conflicts: int
    """Factor for rows of a multiple of 4 tiles, whose lines fall into the same banks of L1."""
    pack_untilize_unpack: int
    """Cycles to unpack a 16-bit tile that the packer writes out as rows."""
    pack_untilize_pack: int
    """Cycles to pack a 16-bit tile as rows."""
    unpack_untilize_unpack: int
    """Cycles to unpack a 16-bit tile as rows, the way of `untilize_block`."""
    untilize_pack: int
    """Cycles to pack a 16-bit tile that was unpacked as rows."""
    l1_port_bytes: int
    """That a network reads or writes in a cycle."""
    l1_conflicts: float
    """Cycles that the unpackers lose to each of these, where they want the same banks."""
    reconfigure: int
    """Cycles of an `_init` call."""
    load_l1: int
    """Cycles of a processor from one load from L1 to the next, if the next one needs it."""
    store_l1: int
    """Cycles of a processor from one narrow store to L1 to the next."""

    @property
    def matrix_operations(self) -> int:
        """Additions and multiplications of a core in a cycle of one fidelity phase."""
        return 2 * 32**3 // self.matmul_phase


# --- Networks, DRAM -------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class NetworkFigures(Figures):
    """Rates and latencies of the networks and of DRAM, and what issuing a transfer takes."""

    flit_bytes: int
    """What a link carries at once; a packet has one flit more, its header."""
    flit_cycles: float
    """Of a link or an interface for each flit, in a long stream of them."""
    buffered_flits: int
    """Of a packet that waits for a link, in the routers where it waits."""
    lost_share: float
    """Of the link's cycles for the rest of such a packet, which keeps others waiting behind it."""
    crowded_share: float
    """Of the link's cycles for all of a packet that waits, where those of very many cores do."""
    read_latency: tuple[int, int, int, int]
    """To the first byte of a read from the same core, column, row, and from elsewhere."""
    write_latency: int
    """To the first byte of a write out of L1, without its hops."""
    word_latency: int
    """The same of a word that comes with the command: an increment, or an inline write."""
    hop_latency: int
    """From router to router."""
    answer_latency: int
    """Of an acknowledgement, without its hops."""
    multicast_setup: int
    """To reserve the path of a multicast, without its hops; linked packets do so once."""
    multicast_answer: int
    """Of the sender's interface for the acknowledgement of each receiver."""
    stores_inline_writes: bool
    """`noc_inline_dw_write` puts the word into L1 and sends it from there."""
    dram_endpoints: tuple[tuple[Coord, Coord], ...]
    """Of each channel: the routers through which cores use it on both networks, if they are not the
    place that the chip says."""
    dram_read_rate: float
    """Of a channel, with any number of readers."""
    dram_write_rate: float
    """Of a channel, with writes in a static virtual channel."""
    dram_partial_write: int
    """Cycles of a channel for a write of fewer bytes than `dram_burst`, at least."""
    dram_burst: int
    dram_request_interval: float
    """A DRAM endpoint takes a read from each network this often."""
    dram_latency: int
    """What a read from DRAM takes longer than one from a core as far away."""
    dram_write_latency: int
    """What a write to DRAM takes longer than one to a core as far away."""
    read_issue: int
    """Cycles of a processor to issue a read, or each packet of a longer one."""
    write_issue: int
    """The same for a write, which has more registers to set and two counters instead of one."""
    word_issue: int
    """The same for a word that comes with the command."""
    inline_store: int
    """Cycles to put such a word into L1, if it has to be there."""
    page_address: int
    """Cycles of a processor to find the bank and the address of a page of a tensor."""
    masked_page_address: int
    """The same for a page that is copied out of a number of banks that is a power of two."""


# --- Programs -------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class LaunchFigures(Figures):
    """What starting a program takes, in nanoseconds."""

    fixed: float
    """Of a program without kernels."""
    kernel: float
    """For each of the processors that run one."""
    circular_buffers: float
    """To configure circular buffers, if there are some."""
    bytes_per_ns: float
    """Of kernels on their way to the cores."""
    gap: float
    """Between the end of a program and the start of the next, which was sent meanwhile."""
    least_gap: float
    """The same at best."""
    host_call: float
    """Of the host, to enqueue one operation without a trace."""
    slow_host_call: float
    """The same at worst: for an operation on two tensors, through Python."""


@dataclass(frozen=True, kw_only=True)
class ProgramFigures(Figures):
    """What estimates of whole programs need on top: transfers from the first instruction to the end
    of the barrier, what all cores get of DRAM together, and the link to the host."""

    dram_read_latency: float
    """Of one small read, with its barrier."""
    dram_write_latency: float
    l1_read_latency: float
    """Of one small read of a page in the L1 of another core."""
    l1_write_latency: float
    read_issue: float
    """Between two reads of one processor in a loop, without finding the addresses of pages."""
    write_issue: float
    spread_read_share: float
    """What cores anywhere on the chip read together on network 0, of all channels' rate."""
    placed_read_share: float
    """What cores beside the channels read together, of tensors that are sharded over channels."""
    spread_write_share: float
    """What they write together on network 1."""
    unpack_speed: float
    """Of the unpackers, relative to those of Wormhole."""
    semaphore_trip: float
    """An increment of a neighbour's semaphore, with its answer."""
    block_handover: float
    """Cycles to hand DST over to the packer and back, for each block of results, or each tile of a
    call of kernels that make several passes over data in L1. The simulator counts the math thread's
    part of them (`dst_handover`), and what the processors issue call by call."""
    pool_window: float
    """Nanoseconds to reduce a window of 256 channels with 4 of the rows of a tile in use."""
    pcie_write: RateTable
    """GB/s from the host to interleaved DRAM by the size of pages."""
    pcie_read: RateTable


@dataclass(frozen=True, kw_only=True)
class LinkFigures(Figures):
    """Ethernet links between chips, and what ttnn's exchanges over them take.

    Rates are GB/s of one link in one direction, with packets of 4096 bytes; times nanoseconds.
    """

    line_rate: float
    """Of chips in a row, the last of which gets what all others have over its only neighbour."""
    ring_rate: float
    """Of chips in a ring, where every part goes half the way around in each direction."""
    packet_sent: float
    """What a router works for a packet of up to 4096 bytes that it sends over its link."""
    packet_received: float
    """The same for one that comes over the link."""
    packet_injected: float
    """After which a router takes the next packet of its worker."""
    hop: float
    """From one chip to the next."""
    hop_byte: float
    """Of a hop, for each byte of a packet."""
    wire_rate: float
    """GB/s of the link itself, for everything that it carries."""
    wire_overhead: int
    """Bytes that the link carries for a packet beside its payload."""
    wire_packet: int
    """Bytes of payload that one packet of the link carries at most."""
    wire_latency: float
    """From the L1 of a core to that of the other end of the link."""
    gather_start: float
    """Of an exchange, beyond hops and bytes."""
    reduce_start: float
    """The same where what arrives is added."""
    counts: tuple[tuple[int, int], ...]
    """Links that programs use between neighbours: up to so many chips, so many."""
    torus: int
    """Chips of a system whose rows and columns are rings, and not only the whole."""


@dataclass(frozen=True, kw_only=True)
class ScheduleFigures(Figures):
    """What the choice of blocks and grids of generated kernels weighs."""

    read_page: int
    """Cycles of a data-movement processor for a tile: to find its address and to issue a read."""
    gather_tile: int
    """The same for a tile whose elements are gathered."""
    unpack_tile: int
    """Cycles of the unpackers for a tile of 16-bit numbers."""
    pack_tile: int
    """Cycles of the packer for one."""
    reduce_tile: int
    """Cycles of the matrix unit to reduce a tile at HiFi4."""
    operation: int
    """Cycles of an operation on a tile in DST for which no call has a cost."""
    core_rate: float
    """Bytes per cycle between a core and DRAM."""
    channel_rate: float
    """Bytes per cycle of a DRAM channel."""
    row_rate: float
    """Bytes per cycle between DRAM and a row of cores, which share links of the networks."""
    l1_rate: float
    """Bytes per cycle, on all of the chip, that cores read from each other's L1."""
    multicast_rate: float
    """Bytes per cycle out of a core that multicasts."""
    multicast_latency: int
    """Cycles of a block that is multicast: until it is read, there is room, and it has arrived."""
    linked_rate: float
    """Bytes per cycle out of a core that multicasts, while the way stays reserved."""
    handshake: int
    """Cycles of a block that is multicast, beyond those of its bytes."""
    multicast_page: int
    """Cycles of a data-movement processor for a tile of a block that it multicasts, or stores."""
    moved_byte: float
    """Cycles that the unpackers lose for a byte that comes to a core or leaves it meanwhile."""
    all_read_rate: float
    """Bytes per cycle that all cores read from DRAM on one network."""
    all_write_rate: float
    """Bytes per cycle that all cores write to DRAM on the other one."""
    shared_cost: int
    """Cycles that two kernels which store a block have to save together."""
    product_step: int
    """Cycles of a step of a product beyond its work."""
    add_in_l1: int
    """Cycles of the packer for a tile that it adds to what is in L1."""
    exchange: int
    """Cycles until cores that share a block know a tile of each other."""
    step: int
    """Cycles of a step beyond its work: latency, synchronization and address arithmetic."""
    first_load: int
    """Cycles until the first tile is there."""


@dataclass(frozen=True, kw_only=True)
class Generation:
    """All figures of a generation."""

    name: str
    """As in the enum `Arch`."""
    chip: ChipFigures
    units: UnitFigures
    network: NetworkFigures
    launch: LaunchFigures
    programs: ProgramFigures
    links: LinkFigures
    schedules: ScheduleFigures
