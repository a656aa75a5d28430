"""Objects of tt-metal's second device API: networks, circular buffers and semaphores with methods.

Source: tt-metal, experimental/{noc,circular_buffer,dataflow_buffer,noc_semaphore,endpoints}.h of
early 2026 (namespace `experimental`) and api/dataflow/*.h of late 2026 (no namespace).
"""

from __future__ import annotations

from collections.abc import Mapping

from ttmlir.optable.kernel.row import (
    Form,
    KernelCall,
    Operands,
    Option,
    Role,
    ValueKind,
    ints,
    number,
)

_NOC_HEADER = "experimental/noc.h"
_ENDPOINTS = "experimental/endpoints.h"
_I32 = ValueKind.I32
_BOOL = ValueKind.BOOL
_FLAGS = tuple(number(name, "0") for name in ("options", "more_options", "others", "last"))
_SOURCE = (("src", ValueKind.ENDPOINT),)
_TARGET = (("dst", ValueKind.ENDPOINT),)

OWN = "builtin_"
"""With what the names of member functions begin that the package's own headers alone call."""

NOC_OPTIONS: Mapping[str, int] = {
    "DEFAULT": 0,
    "TXN_ID": 1,
    "POSTED": 2,
    "CUSTOM_VC": 4,
    "MCAST_INCL_SRC": 8,
    "INLINE_L1": 16,
    "INLINE_REG": 32,
}
"""The flags of late 2026."""

MODES: Mapping[str, Mapping[str, int]] = {
    "NocOptions": NOC_OPTIONS,
    "Noc::TxnIdMode": {"ENABLED": 1, "DISABLED": 0},
    "Noc::ResponseMode": {"POSTED": 2, "NON_POSTED": 0},
    "Noc::VcSelection": {"CUSTOM": 4, "DEFAULT": 0},
    "Noc::McastMode": {"INCLUDE_SRC": 8, "EXCLUDE_SRC": 0},
    "Noc::BarrierMode": {"TXN_ID": 1, "FULL": 0},
    "CircularBuffer::AddrSelector": {"READ_PTR": 1, "WRITE_PTR": 2},
    "DataflowBuffer::AddrSelector": {"READ_PTR": 1, "WRITE_PTR": 2},
    "AllocatorBankType": {"DRAM": 1, "L1": 0},
}
"""Template arguments: the modes of early 2026 have the numbers of the flags that replace them."""

FIELDS = (
    *("page_id", "shard_id", "offset_bytes", "noc_x", "noc_y", "addr", "bank_id"),
    *("noc_x_start", "noc_y_start", "noc_x_end", "noc_y_end", "vc", "trid"),
)
"""What lists in braces name: where in an object a transfer begins, and how it is made."""


def _class(
    name: str,
    summary: str,
    kind: ValueKind,
    operands: Operands = (),
    *,
    header: str = _NOC_HEADER,
    roles: Role = Role.DATA,
    defaults: tuple[str, ...] = (),
) -> KernelCall:
    return KernelCall(
        mnemonic=name,
        summary=summary,
        operands=operands,
        defaults=defaults,
        result=("object", kind),
        header=header,
        roles=roles,
        form=Form.OBJECT,
        templates=_FLAGS[:2],
    )


def _method(
    owner: ValueKind,
    member: str,
    summary: str,
    operands: Operands = (),
    options: tuple[str, ...] = (),
    *,
    waits: bool = False,
    result: ValueKind | None = None,
    variant: str = "",
) -> KernelCall:
    """A method; `options` are integers or, by their names, lists in braces."""
    name = owner.name.lower()
    return KernelCall(
        mnemonic=f"{name}.{member}{variant}",
        summary=summary,
        operands=((name, owner), *operands),
        result=None if result is None else ("value", result),
        cpp=member,
        header=_HEADERS[owner],
        form=Form.METHOD,
        templates=_FLAGS,
        options=tuple(Option(name=each, type=_type_of(each), default="0") for each in options),
        waits=waits,
    )


def _type_of(option: str) -> str:
    if option == "scratch":
        return "endpoint"
    return "transfer_args" if option.endswith("args") else "uint32_t"


_HEADERS = {
    ValueKind.NOC: _NOC_HEADER,
    ValueKind.CB_OBJECT: "experimental/circular_buffer.h",
    ValueKind.SEMAPHORE_OBJECT: "experimental/noc_semaphore.h",
}
_NOC, _CB, _SEMAPHORE = _HEADERS
_ON_NETWORK = (("noc", ValueKind.NOC),)
_RECTANGLE = ints("x_start", "y_start", "x_end", "y_end", "num_dsts")

_CLASSES = (
    _class("Noc", "A network, this processor's by default.", _NOC, ints("noc_id"), defaults=("0",)),
    _class(
        "CircularBuffer",
        "A circular buffer.",
        _CB,
        ints("cb_id"),
        header=_HEADERS[_CB],
        roles=Role.ALL,
    ),
    _class(
        "DataflowBuffer",
        "The circular buffer of the same number.",
        _CB,
        ints("id"),
        header="api/dataflow/dataflow_buffer.h",
        roles=Role.ALL,
    ),
    _class("Semaphore", "A semaphore.", _SEMAPHORE, ints("id"), header=_HEADERS[_SEMAPHORE]),
    _class("UnicastEndpoint", "The memory of any core.", ValueKind.PLACE_OBJECT, header=_ENDPOINTS),
    _class(
        "MulticastEndpoint",
        "The memories of a rectangle of cores.",
        ValueKind.PLACE_OBJECT,
        header=_ENDPOINTS,
    ),
    _class("AllocatorBank", "Banks of DRAM or L1.", ValueKind.PLACE_OBJECT, header=_ENDPOINTS),
    KernelCall(
        mnemonic="use",
        summary="A circular buffer with the pointer that a transfer begins at.",
        operands=(("cb", _CB),),
        result=("object", _CB),
        header=_HEADERS[_CB],
        roles=Role.DATA,
        templates=_FLAGS[:1],
    ),
)

_TRANSFERS = (
    _method(
        _NOC,
        "async_read",
        "Start a copy into L1.",
        (*_SOURCE, *_TARGET, *ints("size")),
        ("src_args", "dst_args", "vc_or_args", "trid"),
        waits=True,
    ),
    _method(
        _NOC,
        "async_write",
        "Start a copy from L1.",
        (*_SOURCE, *_TARGET, *ints("size")),
        ("src_args", "dst_args", "vc_or_args", "trid"),
        waits=True,
    ),
    _method(
        _NOC,
        "async_write_multicast",
        "Start a copy from L1 to each core of a rectangle.",
        (*_SOURCE, *_TARGET, *ints("size", "num_dsts")),
        ("src_args", "dst_args", "linked", "trid_or_args"),
        waits=True,
    ),
    _method(
        _NOC,
        "set_async_read_state",
        "Set where `async_read_with_state` reads from.",
        (*_SOURCE, *ints("size")),
        ("src_args", "vc_or_args"),
    ),
    _method(
        _NOC,
        "async_read_with_state",
        "Start a copy into L1 from the core that was set.",
        (*_SOURCE, *_TARGET, *ints("size")),
        ("src_args", "dst_args", "vc_or_args"),
        waits=True,
    ),
    _method(
        _NOC,
        "set_async_write_state",
        "Set where `async_write_with_state` writes to.",
        (*_TARGET, *ints("size")),
        ("dst_args", "vc_or_args"),
    ),
    _method(
        _NOC,
        "async_write_with_state",
        "Start a copy from L1 to the core that was set.",
        (*_SOURCE, *_TARGET, *ints("size")),
        ("src_args", "dst_args", "vc_or_args"),
        waits=True,
    ),
    _method(
        _NOC,
        "inline_dw_write",
        "Write a word, or the bytes of it that are enabled.",
        (*_TARGET, *ints("value")),
        ("dst_args", "byte_enable", "vc_or_args", "trid"),
        waits=True,
    ),
    _method(
        _NOC,
        "async_write_zeros",
        "Start to fill L1 with zeros; or a page of a tensor, from memory that holds zeros.",
        (*_TARGET, *ints("size")),
        ("dst_args", "scratch"),
        waits=True,
    ),
    _method(_NOC, "write_zeros_l1_barrier", "Wait until L1 holds the zeros.", waits=True),
    _method(_NOC, "write_zeros_dram_barrier", "Wait until the pages hold the zeros.", waits=True),
    *(
        _method(_NOC, member, summary, (), ("trid_or_args",), waits=True)
        for member, summary in (
            ("async_read_barrier", "Wait until the reads have arrived."),
            ("async_write_barrier", "Wait until the writes have arrived."),
            ("async_writes_flushed", "Wait until the writes have left L1."),
            ("async_atomic_barrier", "Wait until the additions are done."),
            ("async_full_barrier", "Wait until everything is done."),
        )
    ),
    _method(_NOC, "get_noc_id", "Number of the network.", result=_I32),
    _method(
        _NOC,
        "is_local_bank",
        "Whether a core is this one.",
        ints("x", "y"),
        result=_BOOL,
    ),
)

_BUFFERS = (
    *(
        _method(_CB, member, summary, ints("pages"), waits=waits)
        for member, summary, waits in (
            ("reserve_back", "Wait until so many pages are free.", True),
            ("push_back", "Make reserved pages visible to the consumer.", False),
            ("wait_front", "Wait until so many pages are filled.", True),
            ("pop_front", "Free pages that were waited for.", False),
        )
    ),
    *(
        _method(_CB, member, summary, result=_I32)
        for member, summary in (
            ("get_cb_id", "Number of the circular buffer."),
            ("get_id", "Number of the circular buffer."),
            ("get_write_ptr", "Address of the first free page; words of 16 bytes in compute."),
            ("get_read_ptr", "Address of the first filled page; words of 16 bytes in compute."),
            ("get_tile_size", "Bytes of a tile."),
            ("get_tile_hw", "Numbers in a tile."),
            ("get_entry_size", "Bytes of a page."),
            ("get_total_num_entries", "How many pages there are."),
            ("get_total_size_bytes", "Bytes of the buffer."),
        )
    ),
    _method(_CB, "get_dataformat", "Number format.", result=ValueKind.DATA_FORMAT),
    *(
        _method(_CB, member, summary, ints("pages"), result=_BOOL)
        for member, summary in (
            ("pages_reservable_at_back", "Whether so many pages are free now."),
            ("pages_available_at_front", "Whether so many pages are filled now."),
        )
    ),
    _method(_CB, "finish", "Nothing: the buffer has no hardware of its own."),
)

_SEMAPHORES = (
    _method(_SEMAPHORE, "up", "Add to the word of this core.", ints("value"), waits=True),
    _method(
        _SEMAPHORE,
        "up",
        "Start to add to the word of any core.",
        (*_ON_NETWORK, *ints("x", "y", "value")),
        ("vc",),
        waits=True,
        variant="_remote",
    ),
    _method(
        _SEMAPHORE,
        "down",
        "Wait until the word is at least a value, and subtract that.",
        ints("value"),
        waits=True,
    ),
    _method(_SEMAPHORE, "wait", "Wait until the word equals a value.", ints("value"), waits=True),
    _method(
        _SEMAPHORE,
        "wait_min",
        "Wait until the word is at least a value.",
        ints("value"),
        waits=True,
    ),
    _method(_SEMAPHORE, "set", "Write the word.", ints("value")),
    _method(_SEMAPHORE, "value", "The word.", result=_I32),
    _method(
        _SEMAPHORE,
        "relay_unicast",
        "Start to copy the word to another semaphore, of any core.",
        (*_ON_NETWORK, ("other", _SEMAPHORE), *ints("x", "y")),
        waits=True,
    ),
    _method(
        _SEMAPHORE,
        "relay_multicast",
        "Start to copy the word to another semaphore of a rectangle of cores.",
        (*_ON_NETWORK, ("other", _SEMAPHORE), *_RECTANGLE),
        ("linked",),
        waits=True,
    ),
    _method(
        _SEMAPHORE,
        "inc_multicast",
        "Start to add to the words of a rectangle of cores except this one.",
        (*_ON_NETWORK, *_RECTANGLE[:4], *ints("value", "num_dsts")),
        waits=True,
    ),
    _method(
        _SEMAPHORE,
        "set_multicast",
        "Start to copy the word to those of a rectangle of cores.",
        (*_ON_NETWORK, *_RECTANGLE),
        ("linked",),
        waits=True,
    ),
)

CALLS = (*_CLASSES, *_TRANSFERS, *_BUFFERS, *_SEMAPHORES)
"""The calls, in the order of the documentation."""
