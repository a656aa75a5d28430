"""Operations of several devices, on one: what all devices have together is what it has.

Arguments that say how data travel are taken and change nothing.
"""

from __future__ import annotations

from typing import Any

from ttmlir.errors import ArgumentError
from ttmlir.ttnn.operations.moves import clone
from ttmlir.ttnn.operations.operation import (
    Operation,
    as_dimension,
    common_device,
    is_integer,
    require_tensor,
    store,
    table_of,
)
from ttmlir.ttnn.operations.signature import spell_value
from ttmlir.ttnn.tensor.tensor import Tensor

_TRAVEL = (
    "cluster_axis=None, subdevice_id, num_links, topology, mesh_device=None, "
    "multi_device_global_semaphore, barrier_semaphore, persistent_output_tensor=None, "
    "chunks_per_sync, num_workers_per_link, num_buffers_per_channel"
)


def _whole(values: dict[str, Any]) -> Tensor:
    """The tensor, in a memory of its own; ValueError for a dimension that it does not have."""
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    device = common_device(tensor)
    if values.get("dim") is not None:
        as_dimension(values["dim"], len(tensor.shape))
    axis = values.get("cluster_axis")
    if axis is not None and not (is_integer(axis) and axis in (0, 1)):
        raise ArgumentError(
            f"cluster_axis is 0 (rows), 1 (columns) or None, not {spell_value(axis)}"
        )
    output = values.get("persistent_output_tensor")
    if output is not None:
        return store(tensor.array, (tensor,), device=device, output_tensor=output, exact=True)
    return clone(tensor, memory_config=values["memory_config"])


def _listed(values: dict[str, Any]) -> list[Tensor]:
    return [_whole(values)]


_MEMORY = "memory_config=None"

OPERATIONS: dict[str, Operation] = table_of(
    (
        Operation(name, _whole, f"input_tensor, dim, *, {_MEMORY}, {_TRAVEL}")
        for name in (
            *("all_gather", "reduce_scatter", "mesh_partition"),
            *("experimental.all_gather_async", "experimental.reduce_scatter_minimal_async"),
        )
    ),
    Operation("all_reduce", _whole, f"input_tensor, *, {_MEMORY}, {_TRAVEL}"),
    Operation("all_broadcast", _listed, f"input_tensor, *, {_MEMORY}, {_TRAVEL}"),
)
