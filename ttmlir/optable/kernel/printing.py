"""Calls for whoever debugs a kernel.

Source: tt-metal, debug/dprint.h.
"""

from __future__ import annotations

from ttmlir.optable.kernel.row import Form, KernelCall

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
)
"""The calls, in the order of the documentation."""
