"""Gather pages of all devices of a board on each of them, by kernels that send over the fabric.

    python -m ttmlir examples/meshes/ring_all_gather.py [--board t3000] [--pages 16]

The devices along the border of the board are a ring. Each sends its own pages to the next one,
then those that the one before has sent, page by page, until all have been everywhere.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import ttmlir.metalium as tt
from ttmlir.metalium import distributed

KERNELS = Path(__file__).parent / "kernels"
SHAPES = {"n300": (1, 2), "t3000": (2, 4), "p150x4": (2, 2), "p150x8": (2, 4)}
CORE, CB, PAGE = tt.CoreCoord(0, 0), 0, 4096


def run(board: str, pages: int) -> tuple[bool, float]:
    """Whether every device has all pages, and the bytes per second that a link carried."""
    tt.tt_fabric.SetFabricConfig(tt.tt_fabric.FabricConfig.FABRIC_1D_RING)
    rows, columns = SHAPES[board]
    config = distributed.MeshDeviceConfig(distributed.MeshShape(rows, columns))
    mesh = distributed.MeshDevice.create(config, board=board)
    queue = mesh.mesh_command_queue()
    places = [(0, column) for column in range(columns)]
    places += [(1, column) for column in reversed(range(columns)) if rows > 1]
    ring = [distributed.MeshCoordinate(*place) for place in places]

    own, gathered = (allocate(mesh, count) for count in (pages, len(ring) * pages))
    data = np.random.default_rng(0).standard_normal((len(ring), pages * PAGE // 4), np.float32)
    for place, part in zip(ring, data, strict=True):
        distributed.WriteShard(queue, own, part, place)

    arrived = tt.CreateGlobalSemaphore(mesh, CORE, 0)
    layouts = [tt.TensorAccessorArgs(each).get_compile_time_args() for each in (own, gathered)]
    workload = distributed.MeshWorkload()
    for device, place in enumerate(ring):
        program = tt.CreateProgram()
        buffer = tt.CircularBufferConfig(4 * PAGE, {CB: tt.DataFormat.Float32})
        tt.CreateCircularBuffer(program, CORE, buffer.set_page_size(CB, PAGE))
        facts = [CB, len(ring), pages]
        reader = tt.ReaderDataMovementConfig([*facts, *layouts[0], *layouts[1]])
        kernel = tt.CreateKernel(program, KERNELS / "read_stripes.cpp", CORE, reader)
        addresses = [own.address(), gathered.address(), arrived.address()]
        tt.SetRuntimeArgs(program, kernel, CORE, [*addresses, device])

        writer = tt.WriterDataMovementConfig([*facts, *layouts[1]])
        kernel = tt.CreateKernel(program, KERNELS / "send_stripes.cpp", CORE, writer)
        arguments = [*addresses[1:], device]
        here, there = (
            mesh.get_fabric_node_id(ring[each % len(ring)]) for each in (device, device + 1)
        )
        tt.tt_fabric.append_fabric_connection_rt_args(here, there, 0, program, CORE, arguments)
        tt.SetRuntimeArgs(program, kernel, CORE, arguments)
        workload.add_program(distributed.MeshCoordinateRange(place, place), program)
    report = distributed.EnqueueMeshWorkload(queue, workload)

    results = [
        distributed.ReadShard(queue, None, gathered, place, dtype=np.float32) for place in ring
    ]
    sent = (len(ring) - 1) * pages * PAGE
    seconds = report.cycles / mesh.simulated.chip.clock_hz
    mesh.close()
    agrees = all(np.array_equal(each, data.ravel()) for each in results)
    return agrees, sent / seconds


def allocate(mesh: distributed.MeshDevice, pages: int) -> distributed.MeshBuffer:
    """Pages in DRAM on each device, at the same addresses."""
    local = distributed.DeviceLocalBufferConfig(page_size=PAGE, buffer_type=tt.BufferType.DRAM)
    return distributed.MeshBuffer.create(
        distributed.ReplicatedBufferConfig(pages * PAGE), local, mesh
    )


def main() -> None:
    """Run, compare, and print how fast it was."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--board", choices=SHAPES, default="t3000")
    parser.add_argument("--pages", type=int, default=16)
    options = parser.parse_args()
    agrees, rate = run(options.board, options.pages)
    print(f"{'agrees' if agrees else 'DISAGREES'} with NumPy; {rate / 1e9:.2f} GB/s over each link")


if __name__ == "__main__":
    main()
