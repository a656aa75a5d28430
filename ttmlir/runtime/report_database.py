"""Reports of programs as ttnn writes them of its runs: `db.sqlite`, which ttnn-visualizer opens.

Operations, tensors, the buffers that are in memory while each operation runs, and source lines.
Addresses are those that allocating in order gives: DRAM from its begin, L1 from its end.
Source: the tables that ttnn 0.81.1 makes of captured graphs (version 3.5), as ttnn-visualizer 0.108
reads them.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from ttmlir.layout.enums import MemorySpace
from ttmlir.layout.system import ChipDesc
from ttmlir.runtime.binary import BinaryProgram, Operation, TensorRef
from ttmlir.runtime.locations import place_in
from ttmlir.runtime.memory import bank_bytes
from ttmlir.runtime.profiler_table import TILE, data_type_name
from ttmlir.runtime.residency import results_of
from ttmlir.runtime.tensor import TensorDesc
from ttmlir.sim.errors import AllocationError
from ttmlir.sim.machine.device import Allocator

SCHEMA_VERSION = "3.5"
_MAX_ARGUMENT_BYTES = 4096
MAX_BUFFER_ROWS = 2_000_000
"""So many rows of buffers are written; operations behind have none."""

_TABLES = {
    "devices": (
        "device_id int, num_y_cores int, num_x_cores int, num_y_compute_cores int, "
        "num_x_compute_cores int, worker_l1_size int, l1_num_banks int, l1_bank_size int, "
        "address_at_first_l1_bank int, address_at_first_l1_cb_buffer int, "
        "num_banks_per_storage_core int, num_compute_cores int, num_storage_cores int, "
        "total_l1_memory int, total_l1_for_tensors int, total_l1_for_interleaved_buffers int, "
        "total_l1_for_sharded_buffers int, cb_limit int"
    ),
    "operations": "operation_id int, name text, duration float",
    "operation_arguments": "operation_id int, name text, value text",
    "tensors": (
        "tensor_id int, shape text, dtype text, layout text, memory_config text, device_id int, "
        "address int, buffer_type int"
    ),
    "device_tensors": "tensor_id int, device_id int, address int",
    "buffers": (
        "operation_id int, device_id int, address int, max_size_per_bank int, buffer_type int, "
        "buffer_layout int"
    ),
    "input_tensors": "operation_id int, input_index int, tensor_id int",
    "output_tensors": "operation_id int, output_index int, tensor_id int",
    "captured_graph": "operation_id int, captured_graph text",
    "stack_traces": "operation_id int, stack_trace text, source_file_id int",
    "buffer_pages": (
        "operation_id int, device_id int, address int, core_y int, core_x int, bank_id int, "
        "page_index int, page_address int, page_size int, buffer_type int"
    ),
    "local_tensor_comparison_records": (
        "tensor_id int, golden_tensor_id int, matches int, desired_pcc float, actual_pcc float"
    ),
    "global_tensor_comparison_records": (
        "tensor_id int, golden_tensor_id int, matches int, desired_pcc float, actual_pcc float"
    ),
    "nodes": "operation_id int, unique_id int, node_operation_id int, name text",
    "edges": (
        "operation_id int, source_unique_id int, sink_unique_id int, source_output_index int, "
        "sink_input_index int, key int"
    ),
    "errors": (
        "operation_id int, operation_name text, error_type text, error_message text, "
        "stack_trace text, timestamp text"
    ),
}
"""Columns of the tables; each has `rank` at its end, or `storage_type` behind it."""

Timed = Mapping[int, tuple[str, float]]

_BUFFER_TYPES = {MemorySpace.DEVICE_DRAM: 0, MemorySpace.DEVICE_L1: 1}


def report_database(program: BinaryProgram, chip: ChipDesc, timed: Timed) -> bytes:
    """The file of a program on a chip; `timed` are names and seconds by numbers of operations."""
    report = _Report(chip)
    report.add_program(program, timed)
    return report.serialize()


@dataclass
class _Report:
    """The rows of the tables."""

    chip: ChipDesc
    rows: dict[str, list[tuple[Any, ...]]] = field(
        default_factory=lambda: {name: [] for name in _TABLES}
    )
    live: dict[int, tuple[TensorDesc, int, int]] = field(
        default_factory=dict[int, "tuple[TensorDesc, int, int]"]
    )
    """Tensors in memory, their addresses, and their bytes in a bank."""
    known: set[int] = field(default_factory=set[int])

    def __post_init__(self) -> None:
        """Nothing is in memory yet."""
        chip = self.chip
        l1, dram = chip.usable_l1_size, chip.usable_dram_channel_size
        base = chip.l1_size - l1
        self.allocators = {
            MemorySpace.DEVICE_DRAM: Allocator("DRAM", 0, dram, 32, top_down=False),
            MemorySpace.DEVICE_L1: Allocator("L1", base, base + l1, 32, top_down=True),
        }
        rows, columns = chip.grid
        cores = rows * columns
        self.rows["devices"].append(
            (
                *(0, rows, columns, rows, columns, chip.l1_size, cores, l1, base, base, 1, cores),
                *(0, cores * chip.l1_size, cores * l1, cores * l1, cores * l1, l1, 0),
            )
        )

    def add_program(self, program: BinaryProgram, timed: Timed) -> None:
        """Follow the tensors of a program."""
        for ref in program.inputs:
            self._define(ref)
        for operation in program.operations:
            outputs = results_of(operation)
            inputs = [ref for ref in _operands(operation) if ref not in outputs]
            for ref in (*inputs, *outputs):
                self._define(ref)
            self._add_operation(
                operation, inputs, outputs, *timed.get(operation.index, (operation.ir_name, 0.0))
            )
            if operation.table == "DeallocOp":
                self._free(operation.tensor("in").global_id)

    def _define(self, ref: TensorRef) -> None:
        number, desc = ref.global_id, ref.desc
        if number in self.live or number in self.known:
            return
        self.known.add(number)
        allocator = self.allocators.get(desc.memory_space)
        address = None
        size = 0 if allocator is None else bank_bytes(desc, self.chip)
        # Tensors without elements would share addresses, by which buffers are given back.
        if allocator is not None and size:
            # What does not fit, which `ttrt check` tells, has no place.
            with suppress(AllocationError):
                address = allocator.allocate(size)
        if address is not None:
            self.live[number] = (desc, address, size)
            self.rows["device_tensors"].append((number, 0, address, 0))
        kind = _BUFFER_TYPES.get(desc.memory_space)
        self.rows["tensors"].append(
            (
                *(number, f"Shape([{', '.join(map(str, desc.shape))}])"),
                f"DataType.{data_type_name(desc.data_type)}",
                f"Layout.{'TILE' if desc.is_tiled else 'ROW_MAJOR'}",
                *(_memory_config(desc), None if kind is None else 0, address, kind, 0),
                "HOST" if kind is None else "DEVICE",
            )
        )

    def _free(self, number: int) -> None:
        desc, address, _ = self.live.pop(number, (None, 0, 0))
        if desc is not None:
            self.allocators[desc.memory_space].free(address)

    def _add_operation(
        self,
        operation: Operation,
        inputs: Sequence[TensorRef],
        outputs: Sequence[TensorRef],
        name: str,
        duration: float,
    ) -> None:
        number, rows = operation.index, self.rows
        rows["operations"].append((number, name, duration, 0))
        rows["captured_graph"].append((number, "[]", 0))
        for table, refs in (("input_tensors", inputs), ("output_tensors", outputs)):
            rows[table] += [(number, place, ref.global_id, 0) for place, ref in enumerate(refs)]
        rows["operation_arguments"] += [
            (number, name, str(value), 0)
            for name, value in operation.plain_fields(_MAX_ARGUMENT_BYTES).items()
        ]
        place = place_in(operation.location)
        if place:
            file, _, line = place.rpartition(":")[0].rpartition(":")
            rows["stack_traces"].append((number, f'File "{file}", line {line}', None, 0))
        if len(rows["buffers"]) + len(self.live) <= MAX_BUFFER_ROWS:
            rows["buffers"] += self._snapshot(number)

    def _snapshot(self, number: int) -> Iterator[tuple[int, ...]]:
        for desc, address, size in self.live.values():
            kind = _BUFFER_TYPES[desc.memory_space]
            layout = _BUFFER_LAYOUTS.get(desc.memory_layout.keyword, 0)
            yield (number, 0, address, size, kind, layout, 0)

    def serialize(self) -> bytes:
        """The file."""
        with sqlite3.connect(":memory:") as connection:
            for name, columns in _TABLES.items():
                more = ", storage_type text" if name == "tensors" else ""
                connection.execute(
                    f"CREATE TABLE {name} ({columns}, rank int NOT NULL DEFAULT 0{more})"
                )
                _insert(connection, name, self.rows[name])
            connection.execute("CREATE TABLE report_metadata (key text UNIQUE, value text)")
            _insert(connection, "report_metadata", [("schema_version", SCHEMA_VERSION)])
        data = connection.serialize()
        connection.close()
        return data


_BUFFER_LAYOUTS = {"interleaved": 0, "height_sharded": 2, "width_sharded": 3, "block_sharded": 4}


def _insert(connection: sqlite3.Connection, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
    rows = [*rows]
    if rows:
        places = ", ".join("?" * len(rows[0]))
        connection.executemany(f"INSERT INTO {table} VALUES ({places})", rows)


def _operands(operation: Operation) -> list[TensorRef]:
    if operation.given is not None:
        return [ref for ref in operation.given.operands if ref is not None]
    return list(
        {ref.global_id: ref for refs in operation.tensor_fields.values() for ref in refs}.values()
    )


def _memory_config(desc: TensorDesc) -> str | None:
    """As ttnn prints it; None for what is on the host."""
    kind = {MemorySpace.DEVICE_DRAM: "DRAM", MemorySpace.DEVICE_L1: "L1"}.get(desc.memory_space)
    if kind is None:
        return None
    layout = desc.memory_layout.keyword.upper()
    layout = layout if layout != "NONE" else "INTERLEAVED"
    shard = "std::nullopt"
    if desc.memory_layout.is_sharded and desc.shard:
        ranges = ", ".join(
            f"[(x={x},y={y}) - (x={x + width - 1},y={y + height - 1})]"
            for y, x, height, width in desc.core_ranges
        )
        unit = TILE if desc.is_tiled else 1
        rows, columns = unit * math.prod(desc.shard[:-1]), unit * desc.shard[-1]
        shard = (
            f"ShardSpec(grid={{{ranges}}},shape={{{rows}, {columns}}},"
            "orientation=ShardOrientation::ROW_MAJOR,halo=0)"
        )
    return (
        f"MemoryConfig(memory_layout=TensorMemoryLayout::{layout},"
        f"buffer_type=BufferType::{kind},shard_spec={shard})"
    )
