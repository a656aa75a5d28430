"""Calls of BRISC and NCRISC that have no operation: older address generators, transaction numbers.

Source: tt-metal, dataflow_api.h, dataflow_api_addrgen.h, noc_parameters.h and noc_addr.h of 2024 to
2026.
"""

from __future__ import annotations

from collections.abc import Mapping

from ttmlir.optable.kernel.kernel_call import (
    Form,
    KernelCall,
    Operands,
    Option,
    Role,
    Template,
    ValueKind,
    cbs,
    flag,
    ints,
    number,
)

# --- Data movement --------------------------------------------------------------------------------
# Calls of BRISC and NCRISC that have no operation: older address generators, transaction numbers.
#
# Source: tt-metal, dataflow_api.h, dataflow_api_addrgen.h, noc_parameters.h and noc_addr.h of 2024
# to 2026.

_HEADER = "dataflow_api.h"
_PARAMETERS = "noc_parameters.h"
_I32 = ValueKind.I32
_NOC_ADDR = ValueKind.NOC_ADDR
_NOC = Option(name="noc", type="uint8_t", default="noc_index")
_CHANNEL = Option(name="vc", type="uint32_t", default="1")
_TRID = Option(name="trid", type="uint32_t", default="0")
_DRAM = (flag("dram"),)
_ADDRESS = ("addr", ValueKind.ADDRESS)
_STATE = ints("src_base_addr", "src_addr", "dest_addr")


def _call(
    mnemonic: str,
    summary: str,
    operands: Operands = (),
    options: tuple[Option, ...] = (),
    templates: tuple[Template, ...] = (),
    *,
    result: tuple[str, ValueKind] | None = None,
    header: str = _HEADER,
    cpp: str = "",
) -> KernelCall:
    return KernelCall(
        mnemonic,
        summary,
        operands,
        result=result,
        header=header,
        roles=Role.DATA,
        options=options,
        templates=templates,
        cpp=cpp,
    )


def _address(
    mnemonic: str, summary: str, operands: Operands, options: tuple[Option, ...] = ()
) -> KernelCall:
    return _call(
        mnemonic,
        summary,
        operands,
        options,
        result=("nocAddr", _NOC_ADDR),
        header=_PARAMETERS if mnemonic.isupper() else _HEADER,
    )


def _coordinate(mnemonic: str, summary: str, operands: Operands) -> KernelCall:
    return _call(mnemonic, summary, operands, result=("coordinate", _I32), header=_PARAMETERS)


def _powers_of_two(cpp: str) -> KernelCall:
    return KernelCall(
        cpp,
        "Address generator of pages of 2 to a power bytes, distributed round-robin over the banks.",
        ints("bank_base_address", "log_base_2_of_page_size"),
        result=("addrGenStruct", ValueKind.ADDR_GEN),
        header=_HEADER,
        roles=Role.DATA,
        form=Form.AGGREGATE,
        templates=_DRAM,
    )


_ADDRESSES = (
    _address(
        "safe_get_noc_addr",
        "Address of a byte in the memory of the core in column x and row y.",
        (*ints("x", "y"), _ADDRESS),
        (_NOC,),
    ),
    _address(
        "get_noc_addr_helper",
        "Address of a byte in the memory of the core of a `NOC_XY_ENCODING`.",
        (*ints("noc_xy"), _ADDRESS),
    ),
    _address(
        "NOC_XY_ADDR", "Address of a byte in the memory of a core.", (*ints("x", "y"), _ADDRESS)
    ),
    _address(
        "NOC_MULTICAST_ADDR",
        "Address of a byte in the memory of each core of a rectangle.",
        (*ints("x_start", "y_start", "x_end", "y_end"), _ADDRESS),
    ),
    _coordinate("NOC_X", "Column of a core on this network.", ints("x")),
    _coordinate("NOC_Y", "Row of a core on this network.", ints("y")),
    _coordinate("DYNAMIC_NOC_X", "Column of a core on a network.", ints("noc", "x")),
    _coordinate("DYNAMIC_NOC_Y", "Row of a core on a network.", ints("noc", "y")),
    _coordinate(
        "NOC_XY_ENCODING", "Column and row of a core in one number, 6 bits each.", ints("x", "y")
    ),
    _coordinate("NOC_UNICAST_ADDR_X", "Column of a core in an address.", (("nocAddr", _NOC_ADDR),)),
    _coordinate("NOC_UNICAST_ADDR_Y", "Row of a core in an address.", (("nocAddr", _NOC_ADDR),)),
)

_GENERATORS = (
    _powers_of_two("InterleavedPow2AddrGen"),
    _powers_of_two("InterleavedPow2AddrGenFast"),
    _call(
        "choose_interleaved_addr_gen",
        "`InterleavedPow2AddrGen` of the third number or, where the second template argument is "
        "false, `InterleavedAddrGen` of the second one; the page size alone may be a template "
        "argument, too.",
        ints("bank_base_address"),
        tuple(
            Option(name=name, type="uint32_t", default="0")
            for name in ("page_size", "log_base_2_of_page_size")
        ),
        (*_DRAM, number("is_size_pow2")),
        result=("addrGenStruct", ValueKind.ADDR_GEN),
        cpp="get_interleaved_addr_gen",
    ),
)

_ARGS_HEADER = "tensor/tensor_accessor_args.h"
_ACCESSOR_HEADER = "tensor/tensor_accessor.h"
_ARGS = (("args", ValueKind.ACCESSOR_ARGS),)


def _number_of(
    member: str, summary: str, kind: ValueKind = ValueKind.ACCESSOR_ARGS, *, constant: bool = True
) -> KernelCall:
    """A method that gives a number, of the arguments of a tensor accessor or of an accessor."""
    is_args = kind is ValueKind.ACCESSOR_ARGS
    name = "tensor_accessor_args" if is_args else "tensor_accessor"
    return KernelCall(
        f"{name}.{member}",
        summary,
        (("args" if is_args else "accessor", kind),),
        result=("number", _I32),
        cpp=member,
        header=_ARGS_HEADER if is_args else _ACCESSOR_HEADER,
        form=Form.METHOD,
        roles=Role.DATA,
        constant=constant and is_args,
    )


_ACCESSORS = (
    KernelCall(
        "TensorAccessorArgs_at",
        "Layout of a tensor whose common run-time arguments begin at a number.",
        ints("crta_offset"),
        result=("args", ValueKind.ACCESSOR_ARGS),
        cpp="TensorAccessorArgs",
        header=_ARGS_HEADER,
        roles=Role.DATA,
        form=Form.OBJECT,
        templates=(number("cta_base"),),
    ),
    KernelCall(
        "TensorAccessor_of_args",
        "Tensor accessor of the tensor at an address, with the page size of its arguments.",
        (*_ARGS, *ints("bank_address")),
        result=("accessor", ValueKind.ACCESSOR),
        cpp="TensorAccessor",
        header=_ACCESSOR_HEADER,
        roles=Role.DATA,
        form=Form.OBJECT,
    ),
    _number_of("num_compile_time_args", "How many compile-time arguments the layout takes."),
    _number_of("get_aligned_page_size", "Aligned size of a page, where the arguments hold it."),
    _number_of(
        "get_aligned_page_size", "Bytes from one page of a bank to the next.", ValueKind.ACCESSOR
    ),
    _number_of("get_bank_base_address", "Address of the tensor in its banks.", ValueKind.ACCESSOR),
)

_NUMBERED = (
    _call(
        "noc_async_read_one_packet_with_state_with_trid",
        "`noc_async_read_one_packet_with_state` of the sum of two addresses, with a transaction "
        "number if that is not 0.",
        _STATE,
        (_TRID, _NOC),
        (flag("skip_ptr_update", "false"), flag("skip_cmdbuf_chk", "false")),
    ),
    _call(
        "noc_async_read_tile_dram_sharded_set_state",
        "Set a bank of DRAM and a size for the calls `_with_state` that follow: (base, page_size, "
        "bank, vc), or the page size as the first template argument.",
        ints("bank_base_address", "page_size"),
        (Option(name="bank_id", type="uint32_t", default="0"), _CHANNEL, _NOC),
        (number("use_vc", "false"), flag("use_vc_2024", "false")),
        result=("src_addr", _I32),
    ),
    _call(
        "noc_async_read_tile_dram_sharded_with_state",
        "Read from the bank that was set, at the sum of two addresses.",
        _STATE,
        (_TRID, _NOC),
    ),
    _call(
        "noc_async_read_tile_dram_sharded_with_state_with_trid",
        "Read from the bank that was set, at the sum of two addresses, with a transaction number.",
        _STATE,
        (_TRID, _NOC),
        (flag("skip_ptr_update", "false"),),
    ),
    _call(
        "noc_async_read_tile_dram_sharded_set_trid",
        "Set the transaction number of the reads that follow.",
        (),
        (_TRID, _NOC),
    ),
    _call(
        "noc_async_write_flushed_with_trid",
        "Wait until the writes with a transaction number have left L1.",
        ints("trid"),
        (_NOC,),
    ),
    _call(
        "reset_noc_trid_barrier_counter",
        "Forget what was started with the transaction numbers of a mask.",
        (),
        (Option(name="id_mask", type="uint32_t", default="0xFFFF"), _NOC),
    ),
)

_TIME = (
    KernelCall(
        "riscv_wait", "Do nothing for so many cycles.", ints("cycles"), header="risc_common.h"
    ),
    KernelCall(
        "get_timestamp",
        "The cycles that the chip has counted, in 64 bits; 0 in a run without clocks.",
        header="risc_common.h",
        result=("time", ValueKind.NOC_ADDR),
    ),
    KernelCall(
        "get_timestamp_32b",
        "The lower 32 bits of `get_timestamp`.",
        header="risc_common.h",
        result=("time", ValueKind.I32),
    ),
)

CALLS = (*_ADDRESSES, *_GENERATORS, *_ACCESSORS, *_NUMBERED, *_TIME)
"""The calls, in the order of the documentation."""


# --- Device objects -------------------------------------------------------------------------------
# Objects of tt-metal's second device API: networks, circular buffers and semaphores with methods.
#
# Source: tt-metal, experimental/{noc,circular_buffer,dataflow_buffer,noc_semaphore,endpoints}.h of
# early 2026 (namespace `experimental`) and api/dataflow/*.h of late 2026 (no namespace).

_NOC_HEADER = "experimental/noc.h"
_ENDPOINTS = "experimental/endpoints.h"
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
    *("page_id", "shard_id", "offset_bytes", "noc_x", "noc_y", "addr", "bank_id", "noc_addr"),
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
        name,
        summary,
        operands,
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
        f"{name}.{member}{variant}",
        summary,
        ((name, owner), *operands),
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
_DEVICE_OBJECTS_NOC, _CB, _SEMAPHORE = _HEADERS
_ON_NETWORK = (("noc", ValueKind.NOC),)
_RECTANGLE = ints("x_start", "y_start", "x_end", "y_end", "num_dsts")

_CLASSES = (
    _class(
        "Noc",
        "A network, this processor's by default.",
        _DEVICE_OBJECTS_NOC,
        ints("noc_id"),
        defaults=("0",),
    ),
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
        "PrecomposedUnicastEndpoint",
        "What a network address means.",
        ValueKind.PLACE_OBJECT,
        header=_ENDPOINTS,
    ),
    _class(
        "MulticastEndpoint",
        "The memories of a rectangle of cores.",
        ValueKind.PLACE_OBJECT,
        header=_ENDPOINTS,
    ),
    _class("AllocatorBank", "Banks of DRAM or L1.", ValueKind.PLACE_OBJECT, header=_ENDPOINTS),
    KernelCall(
        "use",
        "A circular buffer with the pointer that a transfer begins at.",
        (("cb", _CB),),
        result=("object", _CB),
        header=_HEADERS[_CB],
        roles=Role.DATA,
        templates=_FLAGS[:1],
    ),
)

_TRANSFERS = (
    _method(
        _DEVICE_OBJECTS_NOC,
        "async_read",
        "Start a copy into L1.",
        (*_SOURCE, *_TARGET, *ints("size")),
        ("src_args", "dst_args", "vc_or_args", "trid"),
        waits=True,
    ),
    _method(
        _DEVICE_OBJECTS_NOC,
        "async_write",
        "Start a copy from L1.",
        (*_SOURCE, *_TARGET, *ints("size")),
        ("src_args", "dst_args", "vc_or_args", "trid"),
        waits=True,
    ),
    _method(
        _DEVICE_OBJECTS_NOC,
        "async_write_multicast",
        "Start a copy from L1 to each core of a rectangle.",
        (*_SOURCE, *_TARGET, *ints("size", "num_dsts")),
        ("src_args", "dst_args", "linked", "trid_or_args"),
        waits=True,
    ),
    _method(
        _DEVICE_OBJECTS_NOC,
        "set_async_read_state",
        "Set where `async_read_with_state` reads from.",
        (*_SOURCE, *ints("size")),
        ("src_args", "vc_or_args"),
    ),
    _method(
        _DEVICE_OBJECTS_NOC,
        "async_read_with_state",
        "Start a copy into L1 from the core that was set.",
        (*_SOURCE, *_TARGET, *ints("size")),
        ("src_args", "dst_args", "vc_or_args"),
        waits=True,
    ),
    _method(
        _DEVICE_OBJECTS_NOC,
        "set_async_write_state",
        "Set where `async_write_with_state` writes to.",
        (*_TARGET, *ints("size")),
        ("dst_args", "vc_or_args"),
    ),
    _method(
        _DEVICE_OBJECTS_NOC,
        "async_write_with_state",
        "Start a copy from L1 to the core that was set.",
        (*_SOURCE, *_TARGET, *ints("size")),
        ("src_args", "dst_args", "vc_or_args"),
        waits=True,
    ),
    _method(
        _DEVICE_OBJECTS_NOC,
        "inline_dw_write",
        "Write a word, or the bytes of it that are enabled.",
        (*_TARGET, *ints("value")),
        ("dst_args", "byte_enable", "vc_or_args", "trid"),
        waits=True,
    ),
    _method(
        _DEVICE_OBJECTS_NOC,
        "async_write_zeros",
        "Start to fill L1 with zeros; or a page of a tensor, from memory that holds zeros.",
        (*_TARGET, *ints("size")),
        ("dst_args", "scratch"),
        waits=True,
    ),
    _method(
        _DEVICE_OBJECTS_NOC, "write_zeros_l1_barrier", "Wait until L1 holds the zeros.", waits=True
    ),
    _method(
        _DEVICE_OBJECTS_NOC,
        "write_zeros_dram_barrier",
        "Wait until the pages hold the zeros.",
        waits=True,
    ),
    *(
        _method(_DEVICE_OBJECTS_NOC, member, summary, (), ("trid_or_args",), waits=True)
        for member, summary in (
            ("async_read_barrier", "Wait until the reads have arrived."),
            ("async_write_barrier", "Wait until the writes have arrived."),
            ("async_writes_flushed", "Wait until the writes have left L1."),
            ("async_atomic_barrier", "Wait until the additions are done."),
            ("async_full_barrier", "Wait until everything is done."),
        )
    ),
    _method(_DEVICE_OBJECTS_NOC, "get_noc_id", "Number of the network.", result=_I32),
    _method(
        _DEVICE_OBJECTS_NOC,
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

DEVICE_OBJECTS_CALLS = (*_CLASSES, *_TRANSFERS, *_BUFFERS, *_SEMAPHORES)
"""The calls, in the order of the documentation."""


# --- Circular buffers -----------------------------------------------------------------------------
# Calls on circular buffers below `cb_api.h`: their pointers, and numbers in their tiles.
#
# Source: tt-metal, circular_buffer_interface.h, compute_kernel_api/cb_api.h and ckernel.h.

_INTERFACE_HEADER = "circular_buffer_interface.h"
_API = "compute_kernel_api/cb_api.h"
_POINTERS = ("fifo_rd_ptr", "fifo_wr_ptr")
_FIELDS = (
    *("fifo_size", "fifo_limit", "fifo_page_size", "fifo_num_pages", *_POINTERS),
    *("fifo_wr_tile_ptr", "tiles_acked", "tiles_received", "tiles_acked_received_init"),
)

CIRCULAR_BUFFERS_CALLS = (
    KernelCall(
        "LocalCBInterface",
        "What a processor knows of a circular buffer: addresses and sizes are bytes on "
        "BRISC and NCRISC, words of 16 bytes in compute kernels. Reads and changes of the pointers "
        "are those of the buffer: the processors share one copy.",
        header=_INTERFACE_HEADER,
        result=("interface", ValueKind.CB_INTERFACE),
        form=Form.OBJECT,
        members=ints(*_FIELDS),
        writable=(*_POINTERS, "fifo_wr_tile_ptr"),
    ),
    KernelCall(
        "get_local_cb_interface",
        "The pointers and sizes of a circular buffer; `cb_interface[cb]` in 2024.",
        cbs("cb"),
        header=_INTERFACE_HEADER,
        result=("interface", ValueKind.CB_INTERFACE),
    ),
    KernelCall(
        "get_tile_hw",
        "Numbers in a tile, 1024; a constant.",
        cbs("cb"),
        header="dataflow_api.h",
        result=("size", _I32),
        constant=True,
    ),
    KernelCall(
        "get_tile_address",
        "Address in L1 of a filled tile, the same on the three threads, which wait for each other.",
        (*cbs("cb"), *ints("tile_index")),
        header=_API,
        result=("address", _I32),
        roles=Role.COMPUTE,
    ),
    KernelCall(
        "get_tile_l1_byte_address",
        "Address in L1 of a filled tile.",
        (*cbs("cb"), *ints("tile_index")),
        header=_API,
        result=("address", _I32),
        roles=Role.UNPACK,
    ),
    KernelCall(
        "read_tile_value",
        "A 32-bit word of a filled tile, the same on the three threads, which wait for each other.",
        (*cbs("cb"), *ints("tile_index", "element_offset")),
        header=_API,
        result=("value", _I32),
        roles=Role.COMPUTE,
    ),
    KernelCall(
        "mailbox_write",
        "Send a word to another processor: 0 BRISC, 1 unpack, 2 math, 3 pack.",
        ints("thread", "value"),
        header="ckernel.h",
    ),
    KernelCall(
        "mailbox_read",
        "Wait for a word that another processor sent to this one.",
        ints("thread"),
        header="ckernel.h",
        result=("value", _I32),
    ),
)
"""The calls, in the order of the documentation."""


# --- Accessor parts -------------------------------------------------------------------------------
# What the header of tensor accessors (`ttmlir/cpp/standard/accessors.hpp`) asks of an accessor.


def _question(member: str, *operands: str) -> KernelCall:
    return KernelCall(
        f"tensor_accessor.{OWN}{member}",
        "",
        (("accessor", ValueKind.ACCESSOR), *ints(*operands)),
        result=("number", ValueKind.I32),
        cpp=f"{OWN}{member}",
        form=Form.METHOD,
        roles=Role.DATA,
    )


ACCESSOR_PARTS_CALLS = (
    _question("count", "kind"),
    _question("extent", "kind", "dimension"),
    _question("page_of_shard", "shard", "place"),
    _question("bank_of_page", "page"),
    _question("place_of_page", "page"),
)
"""The member functions; `TensorAccessor` in `sim/machine` says what the kinds are."""


# --- Printing -------------------------------------------------------------------------------------
# What `DPRINT` shows of tiles.
#
# Source: tt-metal, debug/dprint_tile.h (api/debug in 2026).

_PRINTING_HEADER = "debug/dprint_tile.h"
_RANGE = (("slice_range", ValueKind.SLICE_RANGE),)

RANGES: Mapping[str, tuple[int, int, int, int, int, int]] = {
    "hw0_32_16": (0, 32, 16, 0, 32, 16),
    "hw0_32_8": (0, 32, 8, 0, 32, 8),
    "hw0_32_4": (0, 32, 4, 0, 32, 4),
    "h0_w0_32": (0, 1, 1, 0, 32, 1),
    "h0_32_w0": (0, 32, 1, 0, 1, 1),
    "h0_32_w1": (0, 32, 1, 1, 2, 1),
    "hw041": (0, 4, 1, 0, 4, 1),
}
"""Ranges that have names: first row, end, step, first column, end, step."""


def _options() -> tuple[Option, ...]:
    """What may follow: which pointer on BRISC and NCRISC, then two flags."""
    names = ("cb_type", "ptr_type", "endl_rows", "print_untilized")
    return tuple(Option(name=name, type="uint32_t", default="1") for name in names)


def _slice(mnemonic: str) -> KernelCall:
    return KernelCall(
        mnemonic,
        "Numbers of a tile for `DPRINT`, as far as 64 bytes or the template argument go.",
        (*cbs("cb"), *ints("tile_idx"), *_RANGE),
        header=_PRINTING_HEADER,
        options=_options(),
        templates=(number("max_bytes", "64"),),
    )


PRINTING_CALLS = (
    KernelCall(
        "SliceRange",
        "Rows `h0` up to `h1`, every `hs`-th, and columns likewise.",
        ints("h0", "h1", "hs", "w0", "w1", "ws"),
        header=_PRINTING_HEADER,
        result=("slice_range", ValueKind.SLICE_RANGE),
        form=Form.AGGREGATE,
    ),
    *(
        KernelCall(
            f"SliceRange_{name}",
            f"`SliceRange::{name}()`: {', '.join(map(str, numbers))}.",
            header=_PRINTING_HEADER,
            result=("slice_range", ValueKind.SLICE_RANGE),
        )
        for name, numbers in RANGES.items()
    ),
    _slice("TileSlice"),
    _slice("TSLICE"),
    KernelCall(
        "dprint_tensix_dest_reg",
        "Print the 64 rows of the faces of a tile of DST, on MATH; `by_face` parts the faces.",
        header="debug/dprint_tensix.h",
        roles=Role.MATH,
        options=(Option(name="tile_id", type="uint32_t", default="0"),),
        templates=(number("by_face", "0"),),
    ),
)
"""The calls, in the order of the documentation."""


# --- Spellings ------------------------------------------------------------------------------------
# Names that calls have, or had, in other releases of tt-metal, with the same operands.
#
# The table holds each call under one name. Releases are told by their month: kernels of 2024 and of
# 2025 use the first group, those of late 2026 the second.

_BEFORE_2026 = {
    "tilize_init_short": "tilize_init",
    "untilize_init_short": "untilize_init",
    "pack_untilize_init_short": "pack_untilize_init",
    "pack_untilize_dst_init_short": "pack_untilize_dest_init",
    "pack_untilize_dst": "pack_untilize_dest",
    "matmul_pack_tile": "pack_tile_block",
    "unpack_reconfig_data_format": "reconfig_data_format",
    "unpack_reconfig_data_format_srca": "reconfig_data_format_srca",
    "unpack_reconfig_data_format_srcb": "reconfig_data_format_srcb",
}

_SINCE_MID_2026 = {
    # DST is cleared by another thread.
    "tile_regs_acquire_math_clear": "tile_regs_acquire",
    "tile_regs_release_math_clear": "tile_regs_release",
    "copy_init": "copy_tile_to_dst_init_short",
    "copy_block": "copy_block_matmul_partials",
    "add_init": "add_tiles_init",
    "sub_init": "sub_tiles_init",
    "mul_init": "mul_tiles_init",
    "matmul_init": "mm_init_short",
    "matmul_block_init": "mm_block_init_short",
    "transpose_init": "transpose_wh_init_short",
    "transpose_tile": "transpose_wh_tile",
    "transpose_dest_init": "transpose_wh_dest_init_short",
    "transpose_dest": "transpose_wh_dest",
    "add_bcast_rows_init": "add_bcast_rows_init_short",
    "add_bcast_cols_init": "add_bcast_cols_init_short",
    "add_bcast_scalar_init": "add_bcast_scalar_init_short",
    "sub_bcast_rows_init": "sub_bcast_rows_init_short",
    "sub_bcast_cols_init": "sub_bcast_cols_init_short",
    "sub_bcast_scalar_init": "sub_tiles_bcast_scalar_init_short",
    "mul_bcast_rows_init": "mul_bcast_rows_init_short",
    "mul_bcast_cols_init": "mul_bcast_cols_init_short",
    "mul_bcast_scalar_init": "mul_tiles_bcast_scalar_init_short",
    "pack_block": "pack_tile_block",
    "pack_init": "pack_reconfig_data_format",
    "binary_reuse_dest_init": "binary_dest_reuse_tiles_init",
    "binary_reuse_dest_tiles": "binary_dest_reuse_tiles",
    "reconfig_full_operand": "reconfig_data_format",
    "reconfig_full_operand_srca": "reconfig_data_format_srca",
    "reconfig_full_operand_srcb": "reconfig_data_format_srcb",
    "reconfig_data_format_skip_int8": "reconfig_data_format",
    "reconfig_data_format_srca_skip_int8": "reconfig_data_format_srca",
    "reconfig_data_format_srcb_skip_int8": "reconfig_data_format_srcb",
    "pack_untilize_init_skip_remap": "pack_untilize_init",
    "fast_tilize_init_skip_remap": "fast_tilize_init",
    "fast_tilize_init_with_dt_skip_remap": "fast_tilize_init_with_dt",
}

_UNITS = {
    "llk_pack_reconfig_l1_acc": "pack_reconfig_l1_acc",
    "llk_unpack_tilizeA_B_init": "tilizeA_B_reduce_init",
    "pack_relu_config": "llk_pack_relu_config",
}
"""Calls of the layer below the compute API, which kernels make inside of `PACK((...))`."""

_MEMBERS = {f"SliceRange::{name}": f"SliceRange_{name}" for name in RANGES}
"""Static member functions."""

SPELLINGS: Mapping[str, str] = {**_BEFORE_2026, **_SINCE_MID_2026, **_UNITS, **_MEMBERS}
"""The name in the table by the other name."""
