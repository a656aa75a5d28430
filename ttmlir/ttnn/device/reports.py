"""Files that say how full the memories of a device are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ttmlir.errors import ArgumentError
from ttmlir.files import write_file
from ttmlir.metalium.enums import BufferType

if TYPE_CHECKING:
    from ttmlir.ttnn.device.mesh import MeshDevice

_FOLDER = Path("generated", "reports")


def dump_device_memory_state(device: MeshDevice, prefix: str = "") -> None:
    """Write three files of comma-separated values below `generated/reports`.

    Their names begin with the prefix. Sizes are bytes of a bank, but for the free space of all L1
    and for the totals of `detailed_memory_usage`, which are of all banks.
    """
    device.check_open()
    if Path(prefix).name != prefix:
        raise ArgumentError(f"prefix={prefix!r} begins the names of files, and names no folder")
    dram, l1 = (device.get_memory_view(each) for each in (BufferType.DRAM, BufferType.L1))
    largest = l1.largest_contiguous_bytes_free_per_bank
    _write(
        f"{prefix}l1_usage_summary.csv",
        ["This report indicates available space for interleaving L1 buffers"],
        [", Largest Contiguous Free Block (B), Total Free L1 Space (B)"],
        [f",{largest},{l1.total_bytes_free_per_bank * l1.num_banks}"],
    )
    _write(
        f"{prefix}memory_usage_summary.csv",
        [
            ", Total Allocatable Size (B), Total Allocated (B), Total Free (B), "
            "Largest Free Block (B)"
        ],
        [
            f",{view.total_bytes_per_bank},{view.total_bytes_allocated_per_bank},"
            f"{view.total_bytes_free_per_bank},{view.largest_contiguous_bytes_free_per_bank}"
            for view in (dram, l1)
        ],
    )
    details: list[str] = []
    for name, view in (("DRAM", dram), ("L1", l1)):
        totals = {
            "allocatable": view.total_bytes_per_bank,
            "allocated": view.total_bytes_allocated_per_bank,
            "free": view.total_bytes_free_per_bank,
        }
        details.append(f",{name}")
        details += [f",Total {word} (B):,{size * view.num_banks}" for word, size in totals.items()]
        details.append(",Address,Size (B)")
        details += [f",{block['address']},{block['size']}" for block in view.block_table]
    _write(f"{prefix}detailed_memory_usage.csv", details)


def _write(name: str, *parts: list[str]) -> None:
    lines = [line for part in parts for line in part]
    _FOLDER.mkdir(parents=True, exist_ok=True)
    write_file(_FOLDER / name, ("\n".join(lines) + "\n").encode())
