"""Run a program that `metalium_card.py` wrote by the real ttnn library, as `ttnn.generic_op`.

    python metalium_replay.py PROGRAM.npz RESULTS.npz

PROGRAM has the program as JSON and the tiles of each buffer before it; RESULTS gets those after it.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any

import numpy as np

ttnn: Any = importlib.import_module("ttnn")

_TILE, _FACE = 32, 16


def main(program: str, results: str) -> int:
    """Make the tensors, run the program, and keep what they hold then."""
    with np.load(program) as data:
        arrays = {name: data[name] for name in data.files}
    said: dict[str, Any] = json.loads(str(arrays.pop("program")))
    device = ttnn.open_device(device_id=0)
    try:
        tensors = [
            _tensor(each, arrays[f"buffer{number}"], device)
            for number, each in enumerate(said["buffers"])
        ]
        descriptor = ttnn.ProgramDescriptor(
            kernels=[_kernel(each, tensors) for each in said["kernels"]],
            semaphores=[
                ttnn.SemaphoreDescriptor(
                    id=each["id"], core_ranges=_cores(each["cores"]), initial_value=each["value"]
                )
                for each in said["semaphores"]
            ],
            cbs=[_circular_buffer(each, tensors) for each in said["circular_buffers"]],
        )
        # An operation has an output; it takes the last tensor for that.
        ttnn.generic_op([*tensors, tensors[-1]], descriptor)
        read = {f"buffer{number}": _tiles(each) for number, each in enumerate(tensors)}
        np.savez(results, **read)
    finally:
        ttnn.close_device(device)
    return 0


def _tensor(said: dict[str, Any], tiles: Any, device: Any) -> Any:
    """A tensor of bf16 in tiles, whose pages are those of a buffer."""
    rows, columns = said["pages"]
    wide = (tiles.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    faces = wide.reshape(rows, columns, 2, 2, _FACE, _FACE).transpose(0, 2, 4, 1, 3, 5)
    numbers = np.ascontiguousarray(faces.reshape(rows * _TILE, columns * _TILE))
    buffer = getattr(ttnn.BufferType, said["space"])
    layout = getattr(ttnn.TensorMemoryLayout, said["layout"])
    spec = None
    if said["cores"]:
        shard = [_TILE * each for each in said["shard"]]
        spec = ttnn.ShardSpec(_cores(said["cores"]), shard, ttnn.ShardOrientation.ROW_MAJOR)
    memory = ttnn.MemoryConfig(layout, buffer, spec)
    host = ttnn.Tensor(numbers, ttnn.bfloat16, layout=ttnn.TILE_LAYOUT)
    return ttnn.to_device(host, device, memory_config=memory)


def _tiles(tensor: Any) -> Any:
    """The tiles of a tensor, as they lie on its pages."""
    numbers = ttnn.to_dtype(ttnn.from_device(tensor), ttnn.float32).to_numpy()
    rows, columns = (each // _TILE for each in numbers.shape)
    faces = numbers.reshape(rows, 2, _FACE, columns, 2, _FACE).transpose(0, 3, 1, 4, 2, 5)
    words = np.ascontiguousarray(faces, np.float32).reshape(-1).view(np.uint32) >> 16
    return words.astype(np.uint16).view(np.uint8)


def _kernel(said: dict[str, Any], tensors: list[Any]) -> Any:
    def words(listed: list[Any]) -> list[int]:
        """Numbers; `["buffer", n]` is where tensor n is."""
        return [
            each if isinstance(each, int) else tensors[each[1]].buffer_address() for each in listed
        ]

    return ttnn.KernelDescriptor(
        kernel_source=said["text"],
        source_type=ttnn.KernelDescriptor.SourceType.SOURCE_CODE,
        core_ranges=_cores(said["cores"]),
        compile_time_args=words(said["compile_time_args"]),
        named_compile_time_args=[*said["named"].items()],
        defines=[*said["defines"].items()],
        common_runtime_args=words(said["common"]),
        runtime_args=[(ttnn.CoreCoord(*core), words(each)) for core, each in said["arguments"]],
        config=_config(said),
    )


def _config(said: dict[str, Any]) -> Any:
    if said["role"] != "COMPUTE":
        processor = "RISCV_1" if said["role"] == "NCRISC" else "RISCV_0"
        return ttnn.DataMovementConfigDescriptor(
            processor=getattr(ttnn.DataMovementProcessor, processor),
            noc=getattr(ttnn.NOC, f"NOC_{said['noc']}"),
        )
    return ttnn.ComputeConfigDescriptor(
        math_fidelity=getattr(ttnn.MathFidelity, said["fidelity"]), **said["flags"]
    )


def _circular_buffer(said: dict[str, Any], tensors: list[Any]) -> Any:
    cores, size = _cores(said["cores"]), said["size"]
    if said["buffer"] is not None:
        [(index, _)] = said["indices"]
        return ttnn.cb_descriptor_from_sharded_tensor(
            index, tensors[said["buffer"]], total_size=size, core_ranges=cores
        )
    forms = [
        ttnn.CBFormatDescriptor(buffer_index=index, data_format=ttnn.bfloat16, page_size=page)
        for index, page in said["indices"]
    ]
    return ttnn.CBDescriptor(total_size=size, core_ranges=cores, format_descriptors=forms)


def _cores(listed: list[list[int]]) -> Any:
    (left, top), (right, bottom) = (
        map(min, zip(*listed, strict=True)),
        map(max, zip(*listed, strict=True)),
    )
    if len(listed) == (right - left + 1) * (bottom - top + 1):
        # Shards of blocks have to be on one range.
        corners = ttnn.CoreCoord(left, top), ttnn.CoreCoord(right, bottom)
        return ttnn.CoreRangeSet([ttnn.CoreRange(*corners)])
    places = [ttnn.CoreCoord(*each) for each in listed]
    return ttnn.CoreRangeSet([ttnn.CoreRange(each, each) for each in places])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
