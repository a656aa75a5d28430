"""What a program takes of memory, as lines for people and as plain values for JSON."""

from __future__ import annotations

from typing import Any

from ttmlir.runtime.locations import place_in
from ttmlir.runtime.memory import LiveBuffer, MemoryUse, ProgramMemory


def memory_lines(memory: ProgramMemory) -> list[str]:
    """Peaks of both memories, where they are reached, and the largest buffers there."""
    lines: list[str] = []
    for use, bank in ((memory.dram, "channel"), (memory.l1, "core")):
        if not use.peak:
            lines.append(f"{use.space.keyword}: nothing")
            continue
        lines.append(
            f"{use.space.keyword}: peak of {use.peak:,} bytes per {bank}, "
            f"{_percent(use.share)} % of {use.capacity:,}, at {_where(memory, use)}"
        )
        if use.circular_buffers:
            lines.append(f"  {use.circular_buffers:,} bytes per core: its circular buffers")
        lines += [f"  {_buffer(each, bank)}" for each in use.largest]
    if memory.first_overflow is not None:
        lines.append(f"does not fit: {memory.first_overflow}")
    return lines


def _percent(share: float) -> str:
    """Two digits of what is small, and no exponent of what is large."""
    return f"{100 * share:.2g}" if share < 0.095 else f"{100 * share:,.0f}"


def _where(memory: ProgramMemory, use: MemoryUse) -> str:
    if use.peak_operation < 0:
        return "its inputs"
    operation = memory.program.operations[use.peak_operation]
    place = place_in(operation.location)
    return f"operation {operation.index} ({operation.title}{', ' + place if place else ''})"


def _buffer(each: LiveBuffer, bank: str) -> str:
    maker = each.name if each.made_by < 0 else f"operation {each.made_by} ({each.name})"
    return f"{each.bank_bytes:,} bytes per {bank}: {each.desc}, of {maker}"


def memory_document(memory: ProgramMemory) -> dict[str, Any]:
    """Both memories as plain values for JSON."""
    return {
        "dram": _use_document(memory.dram),
        "l1": _use_document(memory.l1),
        "does_not_fit": memory.first_overflow,
    }


def _use_document(use: MemoryUse) -> dict[str, Any]:
    return {
        "banks": use.banks,
        "capacity_per_bank": use.capacity,
        "peak_per_bank": use.peak,
        "peak_operation": use.peak_operation,
        "circular_buffers": use.circular_buffers,
        "per_bank_by_operation": list(use.by_operation),
        "largest": [
            {
                "made_by": each.name,
                "operation": each.made_by,
                "tensor": str(each.desc),
                "bytes_per_bank": each.bank_bytes,
                "location": each.location,
            }
            for each in use.largest
        ],
    }
