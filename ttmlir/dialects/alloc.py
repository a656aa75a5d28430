"""Allocation at a fixed address, which ttir, ttnn and ttmetal have alike."""

from __future__ import annotations

from typing import ClassVar

from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.ods import ODSOperation, Signature, ValueGroup, properties
from ttmlir.dialects.definition.table_ops import check_alloc


class AllocatingOp(ODSOperation):
    """Memory at a fixed address for a tensor.

    `size` is in bytes.

    C1: the result carries a `#tt.layout`. C2: the size is not 0. C3: the layout lies in
    `memory_space`. C4: the address is 0 on the host, where the runtime chooses it, and not 0 on the
    device.
    """

    SIGNATURE: ClassVar = Signature(
        results=(ValueGroup("result"),),
        properties=properties(
            address=ods.I64, size=ods.I64, memory_space=ods.named_attr("tt.memory_space")
        ),
    )

    def verify_op(self) -> None:
        """Check C1 to C4."""
        check_alloc(self)
