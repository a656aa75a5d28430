"""Calls that copy between L1 and other memories over the network on chip, and their addresses.

Source: tt-metal, dataflow_api.h, dataflow_api_addrgen.h and tensor/tensor_accessor.h.
"""

from __future__ import annotations

from ttmlir.optable.kernel.row import (
    REFERENCE,
    Form,
    KernelCall,
    Operands,
    Option,
    Role,
    Template,
    TemplateKind,
    ValueKind,
    flag,
    ints,
    number,
)

_HEADER = "dataflow_api.h"
_ARGS_HEADER = "tensor/tensor_accessor_args.h"
_ACCESSOR_HEADER = "tensor/tensor_accessor.h"
_LATER = "2026-08"
_I32 = ValueKind.I32
_BOOL = ValueKind.BOOL
_NOC_ADDR = ValueKind.NOC_ADDR
_NOC = Option(name="noc", type="uint8_t", default="noc_index")
_CHANNEL = Option(name="vc", type="uint32_t", default="1")
_OFFSET = Option(name="offset", type="uint32_t", default="0")
_LINKED = Option(name="linked", type="bool", default="false", is_attribute=True)
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
        mnemonic=mnemonic,
        summary=summary,
        operands=operands,
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
        mnemonic=mnemonic,
        summary=summary,
        operands=operands,
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
        mnemonic=f"tensor_accessor_args.{member}",
        summary=summary,
        operands=(("args", ValueKind.ACCESSOR_ARGS),),
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
        mnemonic=f"tensor_accessor.{member}",
        summary=summary,
        operands=(*_ACCESSOR, *operands),
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
        (
            *ints("nocXStart", "nocYStart", "nocXEnd", "nocYEnd"),
            ("addr", ValueKind.ADDRESS),
        ),
    ),
)

_GENERATORS = (
    KernelCall(
        mnemonic="get_interleaved_addr_gen",
        summary="Address generator of pages of any size, spread in turn over the banks.",
        operands=ints("bank_base_address", "page_size"),
        result=("addrGenStruct", ValueKind.ADDR_GEN),
        cpp="InterleavedAddrGen",
        header=_HEADER,
        roles=Role.DATA,
        form=Form.AGGREGATE,
        templates=_DRAM,
    ),
    KernelCall(
        mnemonic="get_interleaved_addr_gen_fast",
        summary="Address generator of tiles, spread in turn over the banks.",
        operands=(
            *ints("bank_base_address", "page_size"),
            ("data_format", ValueKind.DATA_FORMAT),
        ),
        result=("addrGenStruct", ValueKind.ADDR_GEN),
        cpp="InterleavedAddrGenFast",
        header=_HEADER,
        roles=Role.DATA,
        form=Form.AGGREGATE,
        templates=(*_DRAM, number("tile_hw", "1024")),
    ),
    KernelCall(
        mnemonic="TensorAccessorArgs",
        summary="Layout of a tensor, from compile-time and common run-time arguments.",
        result=("args", ValueKind.ACCESSOR_ARGS),
        header=_ARGS_HEADER,
        roles=Role.DATA,
        form=Form.OBJECT,
        constant=True,
        members=(("is_sharded", _BOOL), ("is_dram", _BOOL)),
        templates=(number("cta_base"), number("crta_base", "0")),
    ),
    KernelCall(
        mnemonic="TensorAccessor",
        summary="Tensor accessor of the tensor at an address.",
        operands=(("args", ValueKind.ACCESSOR_ARGS), *ints("bank_address", "page_size")),
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
        mnemonic="invalidate_l1_cache",
        summary="Forget cached words of L1, so that a loop over a word sees what others write.",
        header=_HEADER,
    ),
)

CALLS = (*_ADDRESSES, *_GENERATORS, *_READS, *_WRITES, *_BARRIERS)
"""The calls, in the order of the documentation."""
