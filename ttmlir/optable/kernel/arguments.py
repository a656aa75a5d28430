"""Calls that give a kernel its arguments, its place on the chip and its pointers into L1.

Source: tt-metal, dataflow_api.h, compile_time_args.h and compute_kernel_api/common.h; names of the
operations from tt-mlir, TTKernelOps.td.
"""

from __future__ import annotations

from ttmlir.optable.kernel.row import (
    Form,
    KernelCall,
    Operands,
    Role,
    Template,
    TemplateKind,
    ValueKind,
    ints,
)

_HEADER = "dataflow_api.h"
_I32 = ValueKind.I32
_ADDRESS = ValueKind.ADDRESS
_L1_PTR = ValueKind.L1_PTR
_TYPE = Template(name="type", kind=TemplateKind.TYPE, implied="uint32_t")


def _argument(mnemonic: str, summary: str) -> KernelCall:
    return KernelCall(
        mnemonic=mnemonic,
        summary=summary,
        operands=ints("arg_index"),
        result=("arg_val", _I32),
        header=_HEADER,
        templates=(_TYPE,),
    )


def _address(mnemonic: str, summary: str) -> KernelCall:
    return KernelCall(
        mnemonic=mnemonic,
        summary=summary,
        operands=ints("arg_index"),
        result=("l1Addr", _I32),
        header=_HEADER,
    )


def _place(mnemonic: str, summary: str, cpp: str = "") -> KernelCall:
    """Where the kernel runs: an array over the networks, or a function of nothing."""
    return KernelCall(
        mnemonic=mnemonic,
        summary=summary,
        operands=() if cpp else ints("noc"),
        result=("coordinate", _I32),
        cpp=cpp,
        header=_HEADER,
        roles=Role.ALL if cpp else Role.DATA,
        form=Form.CALL if cpp else Form.ELEMENT,
    )


def _memory(
    mnemonic: str,
    summary: str,
    form: Form,
    operands: Operands,
    result: tuple[str, ValueKind] | None = None,
) -> KernelCall:
    return KernelCall(
        mnemonic=mnemonic,
        summary=summary,
        operands=operands,
        result=result,
        header="cstdint",
        form=form,
    )


CALLS = (
    _argument("get_arg_val", "Run-time argument of this core."),
    _argument("get_common_arg_val", "Run-time argument that all cores have in common."),
    KernelCall(
        mnemonic="get_compile_time_arg_val",
        summary="Argument that is fixed when the kernel is compiled; a constant expression.",
        constants=("arg_index",),
        result=("arg_val", _I32),
        header="compile_time_args.h",
        constant=True,
    ),
    _address("get_arg_addr", "Address of a run-time argument of this core."),
    _address(
        "get_common_arg_addr", "Address of a run-time argument that all cores have in common."
    ),
    _place("my_x", "Column of this core on a network."),
    _place("my_y", "Row of this core on a network."),
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
