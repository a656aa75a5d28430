"""Every operation of ttkernel that C++ has can be called by its name, and is C++ to g++."""

from __future__ import annotations

import pytest
from running.python_source import load_module

from ttmlir.frontend.pykernel.builder import CircularBuffer
from ttmlir.frontend.pykernel.compilation import (
    compute_thread,
    ttkernel_compile,
    ttkernel_noc_compile,
)
from ttmlir.optable.kernel import CALLS, Form, KernelCall, TemplateKind, ValueKind
from ttmlir.optable.kernel.kernel_call import ENUMS

VALUES = {
    ValueKind.I32: "p",
    ValueKind.BOOL: "p > 1",
    ValueKind.F32: "1.5",
    ValueKind.NOC_ADDR: "get_noc_addr(1, 2, p)",
    ValueKind.ADDRESS: "p",
    ValueKind.SEMAPHORE: "get_semaphore(0)",
    ValueKind.L1_PTR: "reinterpret_cast(p)",
    ValueKind.DATA_FORMAT: "DataFormat.Float16_b",
    ValueKind.ADDR_GEN: "get_interleaved_addr_gen(True, p, 64)",
    ValueKind.ACCESSOR_ARGS: "TensorAccessorArgs(0, 0)",
    ValueKind.ACCESSOR: "TensorAccessor(TensorAccessorArgs(0), p, 64)",
}


def by_position(call: KernelCall) -> str:
    """A call with all that it needs, in order; templates by name."""
    buffers = iter(("cb", "other", "third", "fourth"))
    operands = [
        next(buffers) if kind is ValueKind.CB else VALUES[kind] for _, kind in call.operands
    ]
    named = list[str]()
    for each in call.templates:
        match each.kind:
            case TemplateKind.ENUM:
                named.append(f"{each.name}={each.enum}.{next(iter(ENUMS[each.enum].members))}")
            case TemplateKind.BOOL:
                named.append(f"{each.name}=True")
            case TemplateKind.INT:
                named.append(f"{each.name}=2")
            case TemplateKind.TYPE:
                pass
    constants = ["3" for _ in call.constants]
    first, rest = ("", operands) if call.form is not Form.METHOD else (operands[0], operands[1:])
    name = f"{first}.{call.cpp}" if first else call.mnemonic
    if call.form is Form.AGGREGATE:
        named = [each.replace("=True", "=False") for each in named]
        pairs = zip(call.operands, rest, strict=True)
        named += [f"{operand}={value}" for (operand, _), value in pairs]
        return f"{name}({', '.join(named)})"
    return f"{name}({', '.join([*constants, *rest, *named])})"


PLAIN = [call for call in CALLS if call.header and call.form is not Form.STREAM]


@pytest.mark.parametrize("call", PLAIN, ids=lambda call: call.mnemonic)
def test_call(call: KernelCall) -> None:
    """The operation of the definition, from a call in Python."""
    names = ("cb", "other", "third", "fourth")
    parameters = ", ".join((*(f"{name}: CircularBuffer" for name in names), "p"))
    text = f"@ttkernel_compile()\ndef k({parameters}):\n    {by_position(call)}\n"
    module = load_module(text, ttkernel_compile=ttkernel_compile, CircularBuffer=CircularBuffer)
    assert (
        f'"ttkernel.{call.mnemonic}"' in module["k"].compile(*map(CircularBuffer, range(4)), 0).ir
    )


def test_parameters_have_names_with_and_without_underscores() -> None:
    """Names are those of the definitions, and may be written as Python does."""
    text = (
        "@ttkernel_noc_compile()\ndef k(cb: CircularBuffer, p):\n"
        "    cb_reserve_back(cb, num_pages=2)\n"
        "    noc_async_read(dst_local_l1_addr=p, size=32, srcNocAddr=get_noc_addr(p))\n"
    )
    module = load_module(
        text, ttkernel_noc_compile=ttkernel_noc_compile, CircularBuffer=CircularBuffer
    )
    kernel = module["k"].compile(CircularBuffer(0), 0)
    assert '"ttkernel.get_local_noc_addr"' in kernel.ir


def test_a_float_is_its_bits_where_a_call_takes_those() -> None:
    """2.5 is 0x40200000."""
    text = "@compute_thread()\ndef k():\n    mul_unary_tile(0, 2.5)\n"
    module = load_module(text, compute_thread=compute_thread)
    assert f"= {0x40200000};" in module["k"]()
