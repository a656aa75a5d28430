"""Calls that a kernel makes on a core, one definition each: what they are in C++, where they run,
what they compute and how long they take. The operations of the ttkernel dialect are made from them.

The order of operands is that of the call in tt-metal's `compute_kernel_api` and `dataflow_api.h`.
"""

from __future__ import annotations

from ttmlir.optable.kernel import (
    cpp_calls,
    cpp_compute_calls,
    cpp_movement_calls,
    data_movement,
    matrix,
    vector,
)
from ttmlir.optable.kernel.cpp_movement_calls import SPELLINGS
from ttmlir.optable.kernel.kernel_call import (
    NARROW,
    Approximation,
    Cost,
    Element,
    Form,
    KernelCall,
    Option,
    Role,
    Scalar,
    Template,
    TemplateKind,
    Tiles,
    ValueKind,
)

__all__ = [
    "ALL_CALLS",
    "CALLS",
    "LIBRARY_CALLS",
    "NARROW",
    "SPELLINGS",
    "Approximation",
    "Cost",
    "Element",
    "Form",
    "KernelCall",
    "Option",
    "Role",
    "Scalar",
    "Template",
    "TemplateKind",
    "Tiles",
    "ValueKind",
    "call_named",
    "calls_named",
    "find_call",
]

CALLS: tuple[KernelCall, ...] = (
    *data_movement.CIRCULAR_BUFFERS_CALLS,
    *data_movement.ARGUMENTS_CALLS,
    *data_movement.CALLS,
    *data_movement.SEMAPHORES_CALLS,
    *matrix.REGISTERS_CALLS,
    *matrix.CALLS,
    *vector.UNARY_CALLS,
    *vector.CALLS,
    *data_movement.PRINTING_CALLS,
)
"""Every call that an operation of the dialect stands for."""

ALL_CALLS = (*CALLS, *cpp_calls.CALLS)
"""Every call that kernels in C++ can make."""

LIBRARY_CALLS = (
    *ALL_CALLS,
    *cpp_compute_calls.LANES_CALLS,
    *cpp_movement_calls.ACCESSOR_PARTS_CALLS,
)
"""Every call that the package's own headers can make."""


def _by_name(calls: tuple[KernelCall, ...]) -> dict[str, tuple[KernelCall, ...]]:
    overloads: dict[str, tuple[KernelCall, ...]] = {}
    for call in calls:
        if call.header and call.form in _NAMED:
            overloads[call.cpp] = (*overloads.get(call.cpp, ()), call)
    return overloads


_NAMED = (Form.CALL, Form.OBJECT, Form.ELEMENT, Form.AGGREGATE, Form.STREAM)
_BY_NAME = _by_name(CALLS)
_LIBRARY_BY_NAME = _by_name(LIBRARY_CALLS)


def calls_named(cpp_name: str) -> tuple[KernelCall, ...]:
    """The overloads of a C++ name, methods not among them; KeyError if there is no such name."""
    return _BY_NAME[cpp_name]


def call_named(cpp_name: str) -> KernelCall:
    """The first overload of a C++ name; all of them run in the same places and return the same.

    KeyError if there is no such name.
    """
    return _BY_NAME[cpp_name][0]


def find_call(cpp_name: str) -> KernelCall:
    """As `call_named`, of all that C++ can call; other spellings of a name are not known here."""
    return _LIBRARY_BY_NAME[cpp_name][0]
