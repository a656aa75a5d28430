"""Calls of BRISC and NCRISC that have no operation: older address generators, transaction numbers.

Source: tt-metal, dataflow_api.h, dataflow_api_addrgen.h, noc_parameters.h and noc_addr.h of 2024 to
2026.
"""

from __future__ import annotations

from ttmlir.optable.kernel.row import (
    Form,
    KernelCall,
    Operands,
    Option,
    Role,
    Template,
    ValueKind,
    flag,
    ints,
    number,
)

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
        mnemonic=mnemonic,
        summary=summary,
        operands=operands,
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
        mnemonic=cpp,
        summary="Address generator of pages of 2 to a power bytes, spread in turn over the banks.",
        operands=ints("bank_base_address", "log_base_2_of_page_size"),
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
        mnemonic=f"{name}.{member}",
        summary=summary,
        operands=(("args" if is_args else "accessor", kind),),
        result=("number", _I32),
        cpp=member,
        header=_ARGS_HEADER if is_args else _ACCESSOR_HEADER,
        form=Form.METHOD,
        roles=Role.DATA,
        constant=constant and is_args,
    )


_ACCESSORS = (
    KernelCall(
        mnemonic="TensorAccessorArgs_at",
        summary="Layout of a tensor whose common run-time arguments begin at a number.",
        operands=ints("crta_offset"),
        result=("args", ValueKind.ACCESSOR_ARGS),
        cpp="TensorAccessorArgs",
        header=_ARGS_HEADER,
        roles=Role.DATA,
        form=Form.OBJECT,
        templates=(number("cta_base"),),
    ),
    KernelCall(
        mnemonic="TensorAccessor_of_args",
        summary="Tensor accessor of the tensor at an address, with the page size of its arguments.",
        operands=(*_ARGS, *ints("bank_address")),
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
        mnemonic="riscv_wait",
        summary="Do nothing for so many cycles.",
        header="risc_common.h",
        operands=ints("cycles"),
    ),
)

CALLS = (*_ADDRESSES, *_GENERATORS, *_ACCESSORS, *_NUMBERED, *_TIME)
"""The calls, in the order of the documentation."""
