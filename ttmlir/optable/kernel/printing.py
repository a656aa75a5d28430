"""Calls for whoever debugs a kernel.

Source: tt-metal, debug/dprint.h and debug/assert.h.
"""

from __future__ import annotations

from ttmlir.optable.kernel.row import Form, KernelCall, ValueKind

CALLS = (
    KernelCall(
        mnemonic="dprint",
        summary="Print a text in which each `{}` stands for a value.",
        cpp="DPRINT",
        header="debug/dprint.h",
        form=Form.STREAM,
        text="fmt",
        variadic=True,
    ),
    KernelCall(
        mnemonic="assert",
        summary="Stop the program if a condition does not hold and the watcher is on.",
        operands=(("condition", ValueKind.BOOL),),
        cpp="ASSERT",
        header="debug/assert.h",
    ),
)
"""The calls, in the order of the documentation."""
