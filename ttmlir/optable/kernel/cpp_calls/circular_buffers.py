"""Calls on circular buffers below `cb_api.h`: their pointers, and numbers in their tiles.

Source: tt-metal, circular_buffer_interface.h, compute_kernel_api/cb_api.h and ckernel.h.
"""

from __future__ import annotations

from ttmlir.optable.kernel.row import Form, KernelCall, Role, ValueKind, cbs, ints

_INTERFACE_HEADER = "circular_buffer_interface.h"
_API = "compute_kernel_api/cb_api.h"
_POINTERS = ("fifo_rd_ptr", "fifo_wr_ptr")
_FIELDS = (
    *("fifo_size", "fifo_limit", "fifo_page_size", "fifo_num_pages", *_POINTERS),
    *("fifo_wr_tile_ptr", "tiles_acked", "tiles_received", "tiles_acked_received_init"),
)
_I32 = ValueKind.I32

CALLS = (
    KernelCall(
        mnemonic="LocalCBInterface",
        summary="What a processor knows of a circular buffer: addresses and sizes are bytes on "
        "BRISC and NCRISC, words of 16 bytes in compute kernels. Reads and changes of the pointers "
        "are those of the buffer: the processors share one copy.",
        header=_INTERFACE_HEADER,
        result=("interface", ValueKind.CB_INTERFACE),
        form=Form.OBJECT,
        members=ints(*_FIELDS),
        writable=_POINTERS,
    ),
    KernelCall(
        mnemonic="get_local_cb_interface",
        summary="The pointers and sizes of a circular buffer; `cb_interface[cb]` in 2024.",
        header=_INTERFACE_HEADER,
        operands=cbs("cb"),
        result=("interface", ValueKind.CB_INTERFACE),
    ),
    KernelCall(
        mnemonic="get_tile_hw",
        summary="Numbers in a tile, 1024; a constant.",
        header="dataflow_api.h",
        operands=cbs("cb"),
        result=("size", _I32),
        constant=True,
    ),
    KernelCall(
        mnemonic="get_tile_address",
        summary="Address in L1 of a filled tile, the same on the three threads, which wait for "
        "each other.",
        header=_API,
        operands=(*cbs("cb"), *ints("tile_index")),
        result=("address", _I32),
        roles=Role.COMPUTE,
    ),
    KernelCall(
        mnemonic="read_tile_value",
        summary="A 32-bit word of a filled tile, the same on the three threads, which wait for "
        "each other.",
        header=_API,
        operands=(*cbs("cb"), *ints("tile_index", "element_offset")),
        result=("value", _I32),
        roles=Role.COMPUTE,
    ),
    KernelCall(
        mnemonic="mailbox_write",
        summary="Send a word to another processor: 0 BRISC, 1 unpack, 2 math, 3 pack.",
        header="ckernel.h",
        operands=ints("thread", "value"),
    ),
    KernelCall(
        mnemonic="mailbox_read",
        summary="Wait for a word that another processor sent to this one.",
        header="ckernel.h",
        operands=ints("thread"),
        result=("value", _I32),
    ),
)
"""The calls, in the order of the documentation."""
