"""Calls on semaphores: 32-bit words in L1 that other cores write or add to over the network.

Source: tt-metal, dataflow_api.h.
"""

from __future__ import annotations

from ttmlir.optable.kernel.row import (
    KernelCall,
    Operands,
    Option,
    Role,
    Template,
    ValueKind,
    enumerator,
    flag,
    ints,
)

_HEADER = "dataflow_api.h"
_NOC = Option(name="noc", type="uint8_t", default="noc_index")
_CHANNEL = Option(name="vc", type="uint8_t", default="1")
_LINKED = Option(name="linked", type="bool", default="false", is_attribute=True)
_SOURCE = (("srcLocalL1Addr", ValueKind.ADDRESS),)
_TARGET = (("addr", ValueKind.NOC_ADDR),)
_TARGETS = (("dstNocAddrMulticast", ValueKind.NOC_ADDR),)
_WORD = (("sem_addr", ValueKind.L1_PTR), *ints("val"))
_POSTED = (flag("posted", "false"),)


def _call(
    mnemonic: str,
    summary: str,
    operands: Operands,
    options: tuple[Option, ...] = (),
    templates: tuple[Template, ...] = (),
) -> KernelCall:
    return KernelCall(
        mnemonic=mnemonic,
        summary=summary,
        operands=operands,
        header=_HEADER,
        roles=Role.DATA,
        options=options,
        templates=templates,
    )


CALLS = (
    KernelCall(
        mnemonic="get_semaphore",
        summary="Address of a semaphore; the same on every core that has it.",
        operands=ints("semaphore_id"),
        result=("sem_addr", ValueKind.SEMAPHORE),
        header=_HEADER,
        templates=(enumerator("type", "ProgrammableCoreType", "ProgrammableCoreType::TENSIX"),),
    ),
    _call("noc_semaphore_set", "Write the word of a semaphore of this core.", _WORD),
    _call("noc_semaphore_wait", "Wait until the word equals a value.", _WORD),
    _call("noc_semaphore_wait_min", "Wait until the word is at least a value.", _WORD),
    _call(
        "noc_semaphore_inc",
        "Start to add to the word of a semaphore of any core.",
        (*_TARGET, *ints("incr")),
        (_NOC, _CHANNEL),
        _POSTED,
    ),
    _call(
        "noc_semaphore_inc_multicast",
        "Start to add to the word of a semaphore of each core of a rectangle.",
        (*_TARGET, *ints("incr", "num_dests")),
        (_NOC,),
        _POSTED,
    ),
    _call(
        "noc_semaphore_set_remote",
        "Start to copy a word of L1 to the word of a semaphore of another core.",
        (*_SOURCE, ("dstNocAddr", ValueKind.NOC_ADDR)),
        (_NOC,),
    ),
    _call(
        "noc_semaphore_set_multicast",
        "Start to copy a word of L1 to the semaphores of a rectangle that this core is not in.",
        (*_SOURCE, *_TARGETS, *ints("numDests")),
        (_LINKED, _NOC),
    ),
    _call(
        "noc_semaphore_set_multicast_loopback_src",
        "Start to copy a word of L1 to the semaphores of a rectangle that this core is in.",
        (*_SOURCE, *_TARGETS, *ints("numDests")),
        (_LINKED, _NOC),
    ),
)
"""The calls, in the order of the documentation."""
