"""What the header of tensor accessors (`ttmlir/cpp/standard/accessors.hpp`) asks of an accessor."""

from __future__ import annotations

from ttmlir.optable.kernel.cpp_calls.device_objects import OWN
from ttmlir.optable.kernel.row import Form, KernelCall, Role, ValueKind, ints


def _question(member: str, *operands: str) -> KernelCall:
    return KernelCall(
        mnemonic=f"tensor_accessor.{OWN}{member}",
        summary="",
        operands=(("accessor", ValueKind.ACCESSOR), *ints(*operands)),
        result=("number", ValueKind.I32),
        cpp=f"{OWN}{member}",
        form=Form.METHOD,
        roles=Role.DATA,
    )


CALLS = (
    _question("count", "kind"),
    _question("extent", "kind", "dimension"),
    _question("page_of_shard", "shard", "place"),
    _question("bank_of_page", "page"),
    _question("place_of_page", "page"),
)
"""The member functions; `TensorAccessor` in `sim/machine` says what the kinds are."""
