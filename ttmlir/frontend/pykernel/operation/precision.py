"""Which precision a compute kernel needs for the formats of its circular buffers.

With the defaults of tt-metal, the matrix unit and DST have 16 bits, and Float32 decides on none of
the two 16-bit formats, so that a kernel of Float32 alone computes in Float16: 10 bits of mantissa
(tt-metal, jit_build/data_format.cpp). With `fp32_dest_acc_en` DST has 32 bits; tiles that pass a
source register become TF32, and tiles that are only copied may pass it by.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ttmlir.dialects.ttkernel import CallOp, CBType
from ttmlir.layout.enums import DataType
from ttmlir.optable.kernel import Role

_COPIES = frozenset(
    {
        "copy_tile",
        "copy_block_matmul_partials",
        "tilize_block",
        "untilize_block",
        "pack_untilize_block",
    }
)
"""Calls that the unpacker can move to DST without a source register."""
_WIDE = frozenset({DataType.F32, DataType.U32})


@dataclass(frozen=True)
class Precision:
    """What a compute kernel is configured with."""

    fp32_dest_acc_en: bool
    """DST holds 32-bit numbers, half as many."""
    unpack_to_dest: frozenset[int]
    """Circular buffers whose Float32 tiles are copied to DST whole."""


def choose_precision(module: ModuleOp, formats: Mapping[int, DataType]) -> Precision:
    """The precision of a compute kernel with circular buffers of these formats, by number.

    It has 32 bits where one of them has.
    """
    if _WIDE.isdisjoint(formats.values()):
        return Precision(False, frozenset())
    copied, computed = set[int](), set[int]()
    for mnemonic, port in _reads(module):
        (copied if mnemonic in _COPIES else computed).add(port)
    floats = {port for port, each in formats.items() if each is DataType.F32}
    return Precision(True, frozenset(floats & copied - computed))


def _reads(module: ModuleOp) -> Iterator[tuple[str, int]]:
    """Calls that unpack tiles, and the numbers of their circular buffers."""
    for op in module.walk():
        if isinstance(op, CallOp) and Role.UNPACK in op.CALL.roles and op.CALL.cost.unpack:
            for operand in op.operands:
                if isinstance(operand.type, CBType):
                    yield op.CALL.mnemonic, int(operand.type.buffer.data.port)
