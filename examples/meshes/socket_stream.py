"""Send pages from a device to another one over a socket, with room for few pages or for many.

    python -m ttmlir examples/meshes/socket_stream.py [--board t3000] [--pages 64]

The sender waits for credits: with room for one page each waits for the way there and back.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import ttmlir.metalium as tt
from ttmlir.metalium import distributed, tt_fabric

KERNELS = Path(__file__).parent / "kernels"
SHAPES = {"n300": (1, 2), "t3000": (1, 4), "p150x4": (1, 2), "p150x8": (1, 4)}
CORE, CB, PAGE = tt.CoreCoord(0, 0), 0, 4096


def run(board: str, pages: int, room: int) -> tuple[bool, float]:
    """Whether the last device of a row has the pages of the first; bytes per second."""
    tt_fabric.SetFabricConfig(tt_fabric.FabricConfig.FABRIC_1D)
    config = distributed.MeshDeviceConfig(distributed.MeshShape(*SHAPES[board]))
    mesh = distributed.MeshDevice.create(config, board=board)
    queue = mesh.mesh_command_queue()
    ends = [distributed.MeshCoordinate(0, column) for column in (0, mesh.num_cols() - 1)]
    nodes = [mesh.get_fabric_node_id(end) for end in ends]

    cores = [distributed.MeshCoreCoord(end, CORE) for end in ends]
    memory = distributed.SocketMemoryConfig(tt.BufferType.L1, room * PAGE)
    sockets = distributed.create_socket_pair(
        mesh, mesh, distributed.SocketConfig([distributed.SocketConnection(*cores)], memory)
    )
    local = distributed.DeviceLocalBufferConfig(page_size=PAGE, buffer_type=tt.BufferType.DRAM)
    size = distributed.ReplicatedBufferConfig(pages * PAGE)
    tensor = distributed.MeshBuffer.create(size, local, mesh)
    data = np.random.default_rng(0).standard_normal(pages * PAGE // 4, np.float32)
    distributed.WriteShard(queue, tensor, data, ends[0])

    facts = [CB, pages, PAGE, *tt.TensorAccessorArgs(tensor).get_compile_time_args()]
    workload = distributed.MeshWorkload()
    for end, name in enumerate(("send_pages", "receive_pages")):
        program = tt.CreateProgram()
        buffer = tt.CircularBufferConfig(PAGE, {CB: tt.DataFormat.Float32})
        tt.CreateCircularBuffer(program, CORE, buffer.set_page_size(CB, PAGE))
        how = tt.DataMovementConfig(compile_args=facts)
        kernel = tt.CreateKernel(program, KERNELS / f"{name}.cpp", CORE, how)
        arguments = [sockets[end].get_config_buffer_address(), tensor.address()]
        here, there = nodes[end], nodes[1 - end]
        tt_fabric.append_fabric_connection_rt_args(here, there, 0, program, CORE, arguments)
        tt.SetRuntimeArgs(program, kernel, CORE, arguments)
        workload.add_program(distributed.MeshCoordinateRange(ends[end], ends[end]), program)
    distributed.EnqueueMeshWorkload(queue, workload)

    received = distributed.ReadShard(queue, None, tensor, ends[1], dtype=np.float32)
    cycles = queue.reports[-1].cycles
    seconds = cycles / mesh.simulated.chip.clock_hz
    mesh.close()
    tt_fabric.SetFabricConfig(tt_fabric.FabricConfig.DISABLED)
    return np.array_equal(received, data), data.nbytes / seconds


def main() -> None:
    """Run, compare, and print how fast it was."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--board", choices=SHAPES, default="t3000")
    parser.add_argument("--pages", type=int, default=64)
    options = parser.parse_args()
    for room in (1, 2, 4, 16):
        agrees, rate = run(options.board, options.pages, room)
        verdict = "agrees" if agrees else "DISAGREES"
        print(f"room for {room} pages: {verdict} with NumPy; {rate / 1e9:.2f} GB/s")


if __name__ == "__main__":
    main()
