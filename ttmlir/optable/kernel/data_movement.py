"""Calls that copy between L1 and other memories over the network on chip, and their addresses.

Source: tt-metal, dataflow_api.h, dataflow_api_addrgen.h and tensor/tensor_accessor.h.
"""

from __future__ import annotations

from ttmlir.optable.kernel.kernel_call import (
    REFERENCE,
    Form,
    KernelCall,
    Operands,
    Option,
    Role,
    Template,
    TemplateKind,
    ValueKind,
    cbs,
    enumerator,
    flag,
    ints,
    number,
)

# --- Arguments ------------------------------------------------------------------------------------
# Calls that give a kernel its arguments, its place on the chip and its pointers into L1.
#
# Source: tt-metal, dataflow_api.h, compile_time_args.h and compute_kernel_api/common.h; names of
# the operations from tt-mlir, TTKernelOps.td.

_HEADER = "dataflow_api.h"
_I32 = ValueKind.I32
_ADDRESS = ValueKind.ADDRESS
_L1_PTR = ValueKind.L1_PTR
_TYPE = Template(name="type", kind=TemplateKind.TYPE, implied="uint32_t")


def _argument(mnemonic: str, summary: str) -> KernelCall:
    return KernelCall(
        mnemonic,
        summary,
        ints("arg_index"),
        result=("arg_val", _I32),
        header=_HEADER,
        templates=(_TYPE,),
    )


def _address_argument(mnemonic: str, summary: str) -> KernelCall:
    return KernelCall(mnemonic, summary, ints("arg_index"), result=("l1Addr", _I32), header=_HEADER)


def _place(mnemonic: str, summary: str, cpp: str = "") -> KernelCall:
    """Where the kernel runs: an array over the networks, or a function of nothing."""
    return KernelCall(
        mnemonic,
        summary,
        () if cpp else ints("noc"),
        result=("coordinate", _I32),
        cpp=cpp,
        header=_HEADER,
        roles=Role.ALL if cpp else Role.DATA,
        form=Form.CALL if cpp else Form.ELEMENT,
    )


def _translation(mnemonic: str, summary: str) -> KernelCall:
    """An array over the columns or rows of the worker cores, which the firmware has since 2025."""
    return KernelCall(
        mnemonic,
        summary,
        ints("logical"),
        result=("coordinate", _I32),
        header=_HEADER,
        roles=Role.DATA,
        form=Form.ELEMENT,
    )


def _memory(
    mnemonic: str,
    summary: str,
    form: Form,
    operands: Operands,
    result: tuple[str, ValueKind] | None = None,
) -> KernelCall:
    return KernelCall(mnemonic, summary, operands, result=result, header="cstdint", form=form)


ARGUMENTS_CALLS = (
    _argument("get_arg_val", "Run-time argument of this core."),
    _argument("get_common_arg_val", "Run-time argument that all cores have in common."),
    KernelCall(
        "get_compile_time_arg_val",
        "Argument that is fixed when the kernel is compiled; a constant expression.",
        constants=("arg_index",),
        result=("arg_val", _I32),
        header="compile_time_args.h",
        constant=True,
    ),
    _address_argument("get_arg_addr", "Address of a run-time argument of this core."),
    _address_argument(
        "get_common_arg_addr", "Address of a run-time argument that all cores have in common."
    ),
    _place("my_x", "Column of this core on a network."),
    _place("my_y", "Row of this core on a network."),
    _translation("worker_logical_col_to_virtual_col", "Column on the networks of a worker's."),
    _translation("worker_logical_row_to_virtual_row", "Row on the networks of a worker's."),
    _place(
        "my_logical_x_", "Column of this core among the worker cores.", "get_absolute_logical_x"
    ),
    _place("my_logical_y_", "Row of this core among the worker cores.", "get_absolute_logical_y"),
    _place(
        "my_relative_x",
        "Column of this core counted from the first core of the kernel.",
        "get_relative_logical_x",
    ),
    _place(
        "my_relative_y",
        "Row of this core counted from the first core of the kernel.",
        "get_relative_logical_y",
    ),
    _memory(
        "reinterpret_cast",
        "Pointer to an address in L1.",
        Form.CAST,
        (("addr", _ADDRESS),),
        ("l1_ptr", _L1_PTR),
    ),
    _memory(
        "load_from_l1",
        "Read an integer of the pointer's width.",
        Form.LOAD,
        (("l1_ptr", _L1_PTR), *ints("offset")),
        ("value", _I32),
    ),
    _memory(
        "store_to_l1",
        "Write an integer of the pointer's width.",
        Form.STORE,
        (*ints("value"), ("l1_ptr", _L1_PTR), *ints("offset")),
    ),
)
"""The calls, in the order of the documentation."""


# --- Circular buffers -----------------------------------------------------------------------------
# Calls on circular buffers: the counters that two threads hand pages over with.
#
# Source: tt-metal, dataflow_api.h and compute_kernel_api/cb_api.h.

_CIRCULAR_BUFFERS_HEADER = "compute_kernel_api/cb_api.h"
_DATA_HEADER = "dataflow_api.h"
_PAGES = (*cbs("cb"), *ints("numPages"))
_CONSUMER = Role.DATA | Role.UNPACK
_PRODUCER = Role.DATA | Role.PACK


def _hand_over(mnemonic: str, summary: str, roles: Role) -> KernelCall:
    return KernelCall(
        mnemonic, summary, _PAGES, header=_CIRCULAR_BUFFERS_HEADER, roles=roles, since=REFERENCE
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
        mnemonic,
        summary,
        cbs("cb"),
        result=(result, kind),
        header=_DATA_HEADER,
        roles=roles,
        constant=constant,
    )


def _available(mnemonic: str, summary: str) -> KernelCall:
    return KernelCall(
        mnemonic,
        summary,
        _PAGES,
        result=("available", ValueKind.BOOL),
        header=_DATA_HEADER,
        roles=Role.DATA,
    )


CIRCULAR_BUFFERS_CALLS = (
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


# --- Semaphores -----------------------------------------------------------------------------------
# Calls on semaphores: 32-bit words in L1 that other cores write or add to over the network.
#
# Source: tt-metal, dataflow_api.h.

_NOC = Option(name="noc", type="uint8_t", default="noc_index")
_SEMAPHORES_CHANNEL = Option(name="vc", type="uint8_t", default="1")
_LINKED = Option(name="linked", type="bool", default="false", is_attribute=True)
_SOURCE = (("srcLocalL1Addr", ValueKind.ADDRESS),)
_TARGET = (("addr", ValueKind.NOC_ADDR),)
_TARGETS = (("dstNocAddrMulticast", ValueKind.NOC_ADDR),)
_WORD = (("sem_addr", ValueKind.L1_PTR), *ints("val"))
_SEMAPHORES_POSTED = (flag("posted", "false"),)


def _semaphore_call(
    mnemonic: str,
    summary: str,
    operands: Operands,
    options: tuple[Option, ...] = (),
    templates: tuple[Template, ...] = (),
) -> KernelCall:
    return KernelCall(
        mnemonic,
        summary,
        operands,
        header=_HEADER,
        roles=Role.DATA,
        options=options,
        templates=templates,
    )


SEMAPHORES_CALLS = (
    KernelCall(
        "get_semaphore",
        "Address of a semaphore; the same on every core that has it.",
        ints("semaphore_id"),
        result=("sem_addr", ValueKind.SEMAPHORE),
        header=_HEADER,
        templates=(enumerator("type", "ProgrammableCoreType", "ProgrammableCoreType::TENSIX"),),
    ),
    _semaphore_call("noc_semaphore_set", "Write the word of a semaphore of this core.", _WORD),
    _semaphore_call("noc_semaphore_wait", "Wait until the word equals a value.", _WORD),
    _semaphore_call("noc_semaphore_wait_min", "Wait until the word is at least a value.", _WORD),
    _semaphore_call(
        "noc_semaphore_inc",
        "Start to add to the word of a semaphore of any core.",
        (*_TARGET, *ints("incr")),
        (_NOC, _SEMAPHORES_CHANNEL),
        _SEMAPHORES_POSTED,
    ),
    _semaphore_call(
        "noc_semaphore_inc_multicast",
        "Start to add to the word of a semaphore of each core of a rectangle.",
        (*_TARGET, *ints("incr", "num_dests")),
        (_NOC,),
        _SEMAPHORES_POSTED,
    ),
    _semaphore_call(
        "noc_semaphore_set_remote",
        "Start to copy a word of L1 to the word of a semaphore of another core.",
        (*_SOURCE, ("dstNocAddr", ValueKind.NOC_ADDR)),
        (_NOC,),
    ),
    _semaphore_call(
        "noc_semaphore_set_multicast",
        "Start to copy a word of L1 to the semaphores of a rectangle that this core is not in.",
        (*_SOURCE, *_TARGETS, *ints("numDests")),
        (_LINKED, _NOC),
    ),
    _semaphore_call(
        "noc_semaphore_set_multicast_loopback_src",
        "Start to copy a word of L1 to the semaphores of a rectangle that this core is in.",
        (*_SOURCE, *_TARGETS, *ints("numDests")),
        (_LINKED, _NOC),
    ),
)
"""The calls, in the order of the documentation."""


# --- Printing -------------------------------------------------------------------------------------
# Calls for whoever debugs a kernel.
#
# Source: tt-metal, debug/dprint.h and debug/assert.h.

PRINTING_CALLS = (
    KernelCall(
        "dprint",
        "Print a text in which each `{}` stands for a value.",
        cpp="DPRINT",
        header="debug/dprint.h",
        form=Form.STREAM,
        text="fmt",
        variadic=True,
    ),
    KernelCall(
        "assert",
        "Stop the program if a condition does not hold and the watcher is on.",
        (("condition", ValueKind.BOOL),),
        cpp="ASSERT",
        header="debug/assert.h",
    ),
)
"""The calls, in the order of the documentation."""


# --- Data movement --------------------------------------------------------------------------------

_ARGS_HEADER = "tensor/tensor_accessor_args.h"
_ACCESSOR_HEADER = "tensor/tensor_accessor.h"
_LATER = "2026-08"
_BOOL = ValueKind.BOOL
_NOC_ADDR = ValueKind.NOC_ADDR
_CHANNEL = Option(name="vc", type="uint32_t", default="1")
_OFFSET = Option(name="offset", type="uint32_t", default="0")
_GENERATOR = (("addrGenStruct", ValueKind.ADDR_GEN),)
_ACCESSOR = (("accessor", ValueKind.ACCESSOR),)
_FROM = (("srcNocAddr", _NOC_ADDR),)
_TO = (("dstNocAddr", _NOC_ADDR),)
_TO_MANY = (("dstNocAddrMulticast", _NOC_ADDR),)
_POSTED = (flag("non_posted", "true"),)
_DRAM = (flag("dram"),)


def _call(
    mnemonic: str,
    summary: str,
    operands: Operands = (),
    options: tuple[Option, ...] = (_NOC,),
    templates: tuple[Template, ...] = (),
    since: str = _LATER,
) -> KernelCall:
    return KernelCall(
        mnemonic,
        summary,
        operands,
        header=_HEADER,
        roles=Role.DATA,
        options=options,
        templates=templates,
        since=since,
    )


def _address(
    mnemonic: str,
    summary: str,
    operands: Operands,
    options: tuple[Option, ...] = (_NOC,),
    *,
    cpp: str = "",
    templates: tuple[Template, ...] = (),
    since: str = _LATER,
) -> KernelCall:
    return KernelCall(
        mnemonic,
        summary,
        operands,
        result=("nocAddr", _NOC_ADDR),
        cpp=cpp,
        header=_HEADER,
        roles=Role.DATA,
        options=options,
        templates=templates,
        since=since,
    )


def _offset(member: str, summary: str) -> KernelCall:
    """A method of the arguments of a tensor accessor: where the next one's arguments begin."""
    return KernelCall(
        f"tensor_accessor_args.{member}",
        summary,
        (("args", ValueKind.ACCESSOR_ARGS),),
        result=("offset", _I32),
        cpp=member,
        header=_ARGS_HEADER,
        form=Form.METHOD,
        roles=Role.DATA,
        constant=True,
    )


def _member(
    member: str,
    summary: str,
    operands: Operands,
    result: tuple[str, ValueKind],
    options: tuple[Option, ...] = (),
) -> KernelCall:
    """A method of a tensor accessor."""
    return KernelCall(
        f"tensor_accessor.{member}",
        summary,
        (*_ACCESSOR, *operands),
        result=result,
        cpp=member,
        header=_ACCESSOR_HEADER,
        roles=Role.DATA,
        form=Form.METHOD,
        options=options,
    )


_ADDRESSES = (
    _address(
        "get_noc_addr",
        "Address of a byte in the memory of the core in column x and row y.",
        (*ints("x", "y"), ("l1Address", ValueKind.ADDRESS)),
        since=REFERENCE,
    ),
    _address(
        "get_noc_addr_of_page",
        "Address of a page of a tensor.",
        (*ints("id"), *_GENERATOR),
        (_OFFSET, _NOC),
        cpp="get_noc_addr",
    ),
    _address(
        "get_local_noc_addr",
        "Address of a byte in the memory of this core, for the network.",
        (("l1Address", ValueKind.ADDRESS),),
        cpp="get_noc_addr",
    ),
    _address(
        "get_noc_addr_from_bank_id",
        "Address of a byte in a bank of DRAM or L1.",
        ints("bank_id", "bank_address_offset"),
        templates=(Template(name="dram", kind=TemplateKind.BOOL, implied="true"),),
    ),
    _address(
        "get_noc_multicast_addr",
        "Address of a byte in the memory of each core of a rectangle.",
        (*ints("nocXStart", "nocYStart", "nocXEnd", "nocYEnd"), ("addr", ValueKind.ADDRESS)),
    ),
)

_GENERATORS = (
    KernelCall(
        "get_interleaved_addr_gen",
        "Address generator of pages of any size, distributed round-robin over the banks.",
        ints("bank_base_address", "page_size"),
        result=("addrGenStruct", ValueKind.ADDR_GEN),
        cpp="InterleavedAddrGen",
        header=_HEADER,
        roles=Role.DATA,
        form=Form.AGGREGATE,
        templates=_DRAM,
    ),
    KernelCall(
        "get_interleaved_addr_gen_fast",
        "Address generator of tiles, distributed round-robin over the banks.",
        (*ints("bank_base_address", "page_size"), ("data_format", ValueKind.DATA_FORMAT)),
        result=("addrGenStruct", ValueKind.ADDR_GEN),
        cpp="InterleavedAddrGenFast",
        header=_HEADER,
        roles=Role.DATA,
        form=Form.AGGREGATE,
        templates=(*_DRAM, number("tile_hw", "1024")),
    ),
    KernelCall(
        "TensorAccessorArgs",
        "Layout of a tensor, from compile-time and common run-time arguments.",
        result=("args", ValueKind.ACCESSOR_ARGS),
        header=_ARGS_HEADER,
        roles=Role.DATA,
        form=Form.OBJECT,
        constant=True,
        members=(("is_sharded", _BOOL), ("is_dram", _BOOL)),
        templates=(number("cta_base"), number("crta_base", "0")),
    ),
    KernelCall(
        "TensorAccessor",
        "Tensor accessor of the tensor at an address.",
        (("args", ValueKind.ACCESSOR_ARGS), *ints("bank_address", "page_size")),
        result=("accessor", ValueKind.ACCESSOR),
        members=(*ints("page_size", "bank_base_address"), ("is_dram", _BOOL)),
        header=_ACCESSOR_HEADER,
        roles=Role.DATA,
        form=Form.OBJECT,
    ),
    _offset(
        "next_compile_time_args_offset", "Compile-time argument that follows those of the layout."
    ),
    _offset(
        "next_common_runtime_args_offset",
        "Common run-time argument that follows those of the layout.",
    ),
    _member(
        "get_noc_addr",
        "Address of a page.",
        ints("page_id"),
        ("nocAddr", _NOC_ADDR),
        (_OFFSET, _NOC),
    ),
    _member(
        "get_shard_noc_addr",
        "Address of a shard.",
        ints("shard_id"),
        ("nocAddr", _NOC_ADDR),
        (_OFFSET, _NOC),
    ),
    _member(
        "is_local_bank",
        "Whether the bank in a column and row is that of this core.",
        ints("virtual_x", "virtual_y"),
        ("is_local", _BOOL),
        (_NOC,),
    ),
    _member(
        "is_local_addr",
        "Whether an address is in the memory of this core.",
        (("nocAddr", _NOC_ADDR),),
        ("is_local", _BOOL),
        (_NOC,),
    ),
    _member(
        "is_local_page",
        "Whether a page is in the memory of this core.",
        ints("page_id"),
        ("is_local", _BOOL),
        (_NOC,),
    ),
    _member(
        "is_local_shard",
        "Whether a shard is in the memory of this core.",
        ints("shard_id"),
        ("is_local", _BOOL),
        (_NOC,),
    ),
)

_READS = (
    _call(
        "noc_async_read",
        "Start a copy from another core's memory into L1.",
        (*_FROM, *ints("dstLocalL1Addr", "size")),
        (_NOC, _CHANNEL),
        (number("max_page_size", "NOC_MAX_BURST_SIZE + 1"), flag("enable_noc_tracing", "true")),
        since=REFERENCE,
    ),
    _call(
        "noc_async_read_one_packet",
        "`noc_async_read` of at most one packet.",
        (*_FROM, *ints("dstLocalL1Addr", "size")),
    ),
    _call(
        "noc_async_read_set_state",
        "Set the core that `noc_async_read_with_state` reads from.",
        _FROM,
    ),
    _call(
        "noc_async_read_with_state",
        "`noc_async_read` from the core that was set, at an address in its memory.",
        ints("srcLocalL1Addr", "dstLocalL1Addr", "size"),
        templates=(flag("inc_num_issued", "true"),),
    ),
    _call(
        "noc_async_read_one_packet_set_state",
        "Set core and size for `noc_async_read_one_packet_with_state`.",
        (*_FROM, *ints("size")),
        (Option(name="vc", type="uint32_t", default="0"), _NOC),
        (flag("use_vc", "false"),),
    ),
    _call(
        "noc_async_read_one_packet_with_state",
        "`noc_async_read` of the size and from the core that were set.",
        ints("srcLocalL1Addr", "dstLocalL1Addr"),
        (Option(name="vc", type="uint32_t", default="0"), _NOC),
        (flag("inc_num_issued", "true"), flag("use_vc", "false")),
    ),
    _call(
        "noc_async_read_tile",
        "Start a copy of a tile of a tensor into L1.",
        (*ints("id"), *_GENERATOR, *ints("dstLocalL1Addr")),
        (_OFFSET, _NOC),
    ),
    _call(
        "noc_async_read_page",
        "Start a copy of a page of a tensor into L1.",
        (*ints("id"), *_GENERATOR, *ints("dstLocalL1Addr")),
        (_OFFSET, _NOC),
    ),
    _call(
        "noc_async_read_shard",
        "Start a copy of a shard of a tensor into L1.",
        (*ints("shard_id"), *_ACCESSOR, *ints("dstLocalL1Addr")),
    ),
)

_WRITES = (
    _call(
        "noc_async_write",
        "Start a copy from L1 into another core's memory.",
        (*ints("srcLocalL1Addr"), *_TO, *ints("size")),
        (_NOC, _CHANNEL),
        (
            number("max_page_size", "NOC_MAX_BURST_SIZE + 1"),
            flag("enable_noc_tracing", "true"),
            flag("posted", "false"),
        ),
        since=REFERENCE,
    ),
    _call(
        "noc_async_write_one_packet",
        "`noc_async_write` of at most one packet.",
        (*ints("srcLocalL1Addr"), *_TO, *ints("size")),
    ),
    _call(
        "noc_async_write_one_packet_set_state",
        "Set core and size for `noc_async_write_one_packet_with_state`.",
        (*_TO, *ints("size")),
        (_NOC, Option(name="vc", type="uint8_t", default="1")),
        _POSTED,
    ),
    _call(
        "noc_async_write_one_packet_with_state",
        "`noc_async_write` of the size and to the core that were set.",
        ints("srcLocalL1Addr", "dstLocalL1Addr"),
        templates=_POSTED,
    ),
    _call(
        "noc_async_write_tile",
        "Start a copy of a tile from L1 into a tensor.",
        (*ints("id"), *_GENERATOR, *ints("srcLocalL1Addr")),
    ),
    _call(
        "noc_async_write_page",
        "Start a copy of a page from L1 into a tensor.",
        (*ints("id"), *_GENERATOR, *ints("srcLocalL1Addr")),
        (Option(name="size", type="uint32_t", default="0"), _OFFSET, _NOC),
    ),
    _call(
        "noc_async_write_shard",
        "Start a copy of a shard from L1 into a tensor.",
        (*ints("shard_id"), *_ACCESSOR, *ints("srcLocalL1Addr")),
    ),
    _call(
        "noc_async_write_multicast",
        "Start a copy from L1 to each core of a rectangle that this core is not in.",
        (*ints("srcLocalL1Addr"), *_TO_MANY, *ints("size", "num_dests")),
        (_LINKED, _NOC),
        (number("max_page_size", "NOC_MAX_BURST_SIZE + 1"),),
    ),
    _call(
        "noc_async_write_multicast_one_packet",
        "`noc_async_write_multicast` of at most one packet.",
        (*ints("srcLocalL1Addr"), *_TO_MANY, *ints("size", "num_dests")),
        (_LINKED, _NOC),
    ),
    _call(
        "noc_async_write_multicast_loopback_src",
        "Start a copy from L1 to each core of a rectangle that this core is in.",
        (*ints("srcLocalL1Addr"), *_TO_MANY, *ints("size", "num_dests")),
        (_LINKED, _NOC),
    ),
    _call(
        "noc_inline_dw_write",
        "Start to write a 32-bit word into another core's memory.",
        (("addr", _NOC_ADDR), *ints("val")),
        (Option(name="be", type="uint8_t", default="0xF"), _NOC),
        (
            enumerator("dst_type", "InlineWriteDst", "InlineWriteDst::DEFAULT"),
            flag("posted", "false"),
            flag("flush", "true"),
        ),
    ),
)

_BARRIERS = (
    _call(
        "noc_async_read_barrier",
        "Wait until the reads that were started have arrived.",
        since=REFERENCE,
    ),
    _call(
        "noc_async_write_barrier",
        "Wait until the writes that were started have arrived.",
        since=REFERENCE,
    ),
    _call(
        "noc_async_writes_flushed",
        "Wait until the writes that were started have left L1, which may then change.",
    ),
    _call(
        "noc_async_posted_writes_flushed",
        "Wait until the writes without acknowledgement that were started have left L1.",
    ),
    _call("noc_async_atomic_barrier", "Wait until the additions that were started are done."),
    _call("noc_async_full_barrier", "Wait until everything that was started is done."),
    _call(
        "noc_async_read_set_trid",
        "Set the transaction number of the reads that follow.",
        ints("trid"),
    ),
    _call(
        "noc_async_read_barrier_with_trid",
        "Wait until the reads with a transaction number have arrived.",
        ints("trid"),
    ),
    _call(
        "noc_async_write_one_packet_with_trid",
        "`noc_async_write_one_packet` with a transaction number.",
        (*ints("srcLocalL1Addr"), *_TO, *ints("size", "trid")),
        (),
    ),
    _call(
        "noc_async_write_barrier_with_trid",
        "Wait until the writes with a transaction number have arrived.",
        ints("trid"),
    ),
    KernelCall(
        "invalidate_l1_cache",
        "Forget cached words of L1, so that a loop over a word sees what others write.",
        header=_HEADER,
    ),
)

CALLS = (*_ADDRESSES, *_GENERATORS, *_READS, *_WRITES, *_BARRIERS)
"""The calls, in the order of the documentation."""
