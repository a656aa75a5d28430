"""Calls on circular buffers: the counters that two threads hand pages over with.

Source: tt-metal, dataflow_api.h and compute_kernel_api/cb_api.h.
"""

from __future__ import annotations

from ttmlir.optable.kernel.row import REFERENCE, KernelCall, Role, ValueKind, cbs, ints

_HEADER = "compute_kernel_api/cb_api.h"
_DATA_HEADER = "dataflow_api.h"
_PAGES = (*cbs("cb"), *ints("numPages"))
_CONSUMER = Role.DATA | Role.UNPACK
_PRODUCER = Role.DATA | Role.PACK
_I32 = ValueKind.I32


def _hand_over(mnemonic: str, summary: str, roles: Role) -> KernelCall:
    return KernelCall(
        mnemonic=mnemonic,
        summary=summary,
        operands=_PAGES,
        header=_HEADER,
        roles=roles,
        since=REFERENCE,
    )


def _query(
    mnemonic: str,
    summary: str,
    result: str,
    kind: ValueKind = _I32,
    roles: Role = Role.DATA,
    *,
    constant: bool = False,
) -> KernelCall:
    return KernelCall(
        mnemonic=mnemonic,
        summary=summary,
        operands=cbs("cb"),
        result=(result, kind),
        header=_DATA_HEADER,
        roles=roles,
        constant=constant,
    )


def _available(mnemonic: str, summary: str) -> KernelCall:
    return KernelCall(
        mnemonic=mnemonic,
        summary=summary,
        operands=_PAGES,
        result=("available", ValueKind.BOOL),
        header=_DATA_HEADER,
        roles=Role.DATA,
    )


CALLS = (
    _hand_over("cb_push_back", "Make reserved pages visible to the consumer.", _PRODUCER),
    _hand_over("cb_pop_front", "Free pages that were waited for.", _CONSUMER),
    _hand_over("cb_reserve_back", "Wait until so many pages are free.", _PRODUCER),
    _hand_over("cb_wait_front", "Wait until so many pages are filled.", _CONSUMER),
    _query("get_write_ptr", "Address of the first page that is reserved or free.", "l1Addr"),
    _query("get_read_ptr", "Address of the first page that is filled.", "l1Addr"),
    _query(
        "get_tile_size",
        "Bytes of a tile in the buffer's format.",
        "size",
        roles=Role.ALL,
        constant=True,
    ),
    _query(
        "get_dataformat",
        "Number format of the buffer.",
        "dataFormat",
        ValueKind.DATA_FORMAT,
        Role.ALL,
        constant=True,
    ),
    _available("cb_pages_reservable_at_back", "Whether so many pages are free now."),
    _available("cb_pages_available_at_front", "Whether so many pages are filled now."),
)
"""The calls, in the order of the documentation."""
