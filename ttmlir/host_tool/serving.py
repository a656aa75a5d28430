"""The calls of a host program, as calls of `ttmlir.metalium`, which does the work."""

from __future__ import annotations

import os
import socket
import struct
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ttmlir import metalium
from ttmlir.cpp.include_path import HOME_VARIABLE, find_built_in_kernel
from ttmlir.errors import Error
from ttmlir.host_tool.wire import (
    Call,
    Maker,
    Reader,
    WireError,
    receive_frame,
    send_frame,
    write_value,
)
from ttmlir.layout.enums import MathFidelity
from ttmlir.limits import DEFAULT_CYCLE_LIMIT
from ttmlir.metalium import distributed
from ttmlir.metalium.errors import MetaliumError, host_call
from ttmlir.sim.errors import SimError
from ttmlir.sim.execution.run import CommandQueue, ProgramReport
from ttmlir.sim.options import SimOptions
from ttmlir.sim.timing.report import summary
from ttmlir.sim.timing.timeline import Timeline, chrome_trace
from ttmlir.terminal import print_error


def _tuple_of(*items: object) -> tuple[object, ...]:
    return items


MAKERS: Mapping[str, Maker] = {
    f"{owner}{name}": getattr(module, name)
    for owner, module, names in (
        (
            "",
            metalium,
            """
            BufferRegion BufferType CBIndex ComputeConfig CoreCoord CoreRange CoreRangeSet
            CoreType DataFormat DataMovementConfig DataMovementProcessor Eth EthernetConfig
            InterleavedBufferConfig KernelBuildOptLevel MathFidelity NOC NOC_MODE
            ShardOrientation ShardSpecBuffer ShardedBufferConfig TensorMemoryLayout UnpackToDestMode
            """,
        ),
        (
            "distributed.",
            distributed,
            """
            BufferShardingArgs DeviceLocalBufferConfig MeshCoordinate MeshCoordinateRange
            MeshCoreCoord MeshDeviceConfig MeshShape ReplicatedBufferConfig ShardedBufferConfig
            H2DMode SocketConfig SocketConnection SocketMemoryConfig
            """,
        ),
        ("tt_fabric.", metalium.tt_fabric, "FabricConfig FabricMuxChannelType FabricNodeId"),
    )
    for name in names.split()
} | {"tuple": _tuple_of}
"""What records and enumerators of C++ become."""

CALLS = frozenset(
    f"{owner}{name}"
    for owner, names in {
        "": """
            CircularBufferConfig CreateBuffer CreateCircularBuffer CreateGlobalSemaphore
            CreateKernelFromString CreateProgram CreateSemaphore DeallocateBuffer EnqueueProgram
            EnqueueRecordEvent EnqueueWaitForEvent EnqueueWriteBuffer EnqueueWriteSubBuffer Event
            EventQuery EventSynchronize Finish GetCircularBufferConfig GetCommonRuntimeArgs
            GetRuntimeArgs SetCommonRuntimeArgs SetRuntimeArgs TensorAccessorArgs
            UpdateCircularBufferPageSize UpdateCircularBufferTotalSize
            UpdateDynamicCircularBufferAddress UpdateDynamicCircularBufferAddressAndTotalSize
            corerange_to_cores create_constant_vector_of_bfloat16
            create_random_vector_of_bfloat16 grid_to_cores num_cores_to_corerangeset
            num_cores_to_corerangeset_in_subcoregrids select_from_corerangeset
            split_work_to_cores tile_size
        """,
        "Buffer.": """
            address aligned_page_size aligned_size buffer_layout buffer_type is_allocated is_dram
            is_l1 noc_coordinates num_pages page_address page_size size
        """,
        "CircularBufferConfig.": """
            set_address_offset set_data_format set_globally_allocated_address set_page_size
            set_total_size
        """,
        "CoreRangeSet.": """
            bounding_box contains intersection intersects merge merge_ranges subtract
        """,
        "Device.": """
            arch close command_queue compute_with_storage_grid_size dram_size_per_channel
            grid_size id l1_size_per_core logical_grid_size num_dram_channels
            worker_core_from_logical_core
        """,
        "GlobalSemaphore.": "address reset_semaphore_value",
        "TensorAccessorArgs.": """
            create_dram_interleaved create_l1_interleaved get_common_runtime_args
            get_compile_time_args
        """,
        "detail.": "LaunchProgram WriteToBuffer WriteToDeviceDRAMChannel WriteToDeviceL1",
        "distributed.": """
            D2HSocket EnqueueMeshWorkload EnqueueWriteMeshBuffer H2DSocket MeshWorkload Synchronize
            WriteShard
        """,
        "distributed.D2HSocket.": """
            barrier get_config_buffer_address has_data pages_available read set_page_size
        """,
        "distributed.H2DSocket.": """
            barrier get_bytes_sent get_config_buffer_address has_space set_page_size write
        """,
        "distributed.MeshBuffer.": """
            create deallocate device_local_size get_backing_buffer get_device_buffer
            get_reference_buffer
        """,
        "distributed.MeshDevice.": """
            get_device get_device_ids get_fabric_node_id mesh_command_queue num_cols num_rows
            shape
        """,
        "distributed.MeshSocket.": """
            create_socket_pair get_config_buffer get_data_buffer get_socket_endpoint_type
        """,
        "distributed.MeshWorkload.": "add_program",
        "experimental.": "CreateCircularBuffer CreateGlobalCircularBuffer",
        "experimental.GlobalCircularBuffer.": "buffer_address config_address size",
        "tt_fabric.": """
            FabricMuxConfig FabricMuxV2Config GetFabricConfig SetFabricConfig
            add_fabric_mux_v2_to_program get_forwarding_link_indices
            get_tt_fabric_channel_buffer_size_bytes get_tt_fabric_max_payload_size_bytes
            get_tt_fabric_packet_header_size_bytes
        """,
        "tt_fabric.FabricMuxConfig.": """
            get_buffer_index_address get_buffer_size_bytes get_channel_base_address
            get_channel_credits_stream_id get_connection_handshake_address
            get_connection_info_address get_fabric_mux_compile_time_args
            get_fabric_mux_run_time_args get_flow_control_address get_memory_map_end_address
            get_num_buffers get_num_channels get_status_address get_termination_signal_address
        """,
        "tt_fabric.FabricMuxV2Config.": "get_memory_map_end_address",
    }.items()
    for name in names.split()
)
"""What is called as it is, with the arguments of C++."""


@dataclass(frozen=True, kw_only=True)
class HostOptions:
    """How the devices of a host program are opened, and where its kernels are."""

    board: str = "n150"
    numerics: Any = "device"
    sanitize: bool = True
    cycle_limit: int = DEFAULT_CYCLE_LIMIT
    leniencies: frozenset[str] = frozenset()
    max_findings: int = 1
    tt_metal: str | None = None
    """As for `CreateDevice`."""
    kernel_folders: tuple[str, ...] = ()
    include_folders: tuple[str, ...] = ()
    traced: bool = False
    """Record what the processors do."""

    def __post_init__(self) -> None:
        """MetaliumError for rules that there are not."""
        with host_call():
            SimOptions(leniencies=self.leniencies, tt_metal=self.tt_metal)


class HostServer:
    """Answers the calls of a host program."""

    def __init__(self, source: Path, options: HostOptions) -> None:
        """For the program of a source file."""
        self.last: Call | None = None
        """The call that was answered last, or is being answered."""
        self._runs = list[tuple[int, ProgramReport]]()
        """What the programs did, with the numbers of their devices."""
        self._source = source
        self._options = options
        self._objects = dict[int, object]()
        self._numbers = dict[int, int]()
        """The numbers of objects by their identity."""
        self._owners = Counter[int]()
        """How many objects of the program stand for the object with a number."""
        self._owned = set[int]()
        """Identities of the buffers that the program has created."""
        self._next = 1
        self._queues = list[CommandQueue]()
        self._timelines = list[tuple[Timeline, int]]()
        """What was recorded of each program of the first device, with the cycle it begins at."""
        self._traced_cycles = 0
        self._reads = dict[int, tuple[CommandQueue, NDArray[np.uint8]]]()
        self.adapted: Mapping[str, Callable[..., object]] = {
            "release": self._release,
            "CircularBufferConfig.set_tile_dims": _set_tile_dims,
            "CircularBufferConfig.set_remote_page_size": _set_remote_page_size,
            "CreateDevice": self._create_device,
            "CreateKernel": self._create_kernel,
            "EnqueueReadBuffer": self._read_buffer,
            "EnqueueReadSubBuffer": self._read_region,
            "detail.ReadFromBuffer": self._read_at_once,
            "detail.ReadFromDeviceL1": lambda *given: [metalium.detail.ReadFromDeviceL1(*given)],
            "detail.ReadFromDeviceDRAMChannel": lambda *given: [
                metalium.detail.ReadFromDeviceDRAMChannel(*given)
            ],
            "check_bfloat16_vector_pcc": _correlate,
            "tilize_nfaces": _reorder(metalium.tilize_nfaces),
            "untilize_nfaces": _reorder(metalium.untilize_nfaces),
            "distributed.EnqueueReadMeshBuffer": self._read_mesh_buffer,
            "distributed.MeshDevice.create": self._create_mesh,
            "distributed.MeshDevice.create_unit_mesh": self._create_unit_mesh,
            "distributed.MeshCommandQueue.enqueue_read_shards": self._read_shard_region,
            "distributed.MeshCommandQueue.enqueue_write_shards": _write_shard_region,
            "distributed.ReadShard": self._read_shard,
            "tt_fabric.FabricMuxV2Config.append_client_connection_rt_args": _append_client,
            "tt_fabric.append_fabric_connection_rt_args": _appended(
                metalium.tt_fabric.append_fabric_connection_rt_args
            ),
            "tt_fabric.append_routing_plane_connection_manager_rt_args": _appended(
                metalium.tt_fabric.append_routing_plane_connection_manager_rt_args
            ),
        }

    def serve(self, peer: socket.socket) -> None:
        """Answer calls until the program ends."""
        try:
            self._serve(peer)
        finally:
            # The next program has no fabric yet.
            metalium.tt_fabric.SetFabricConfig(metalium.tt_fabric.FabricConfig.DISABLED)

    def _serve(self, peer: socket.socket) -> None:
        while (frame := receive_frame(peer)) is not None:
            self.last = None
            try:
                failed, text = False, write_value(self._answer(frame), self._keep)
            except Error as error:
                if isinstance(error, WireError) or self.last is None:
                    raise
                failed, text = True, write_value(self._explain(error), self._keep)
            if self.last is not None and self.last.name == "release":
                continue
            send_frame(peer, bytes([failed]) + text + self._finished_reads())

    @property
    def reports(self) -> list[ProgramReport]:
        """What the programs did, in the order in which they ran."""
        return [report for _, report in self._runs]

    def find_kernel(self, file: str) -> Path:
        """Where the file of a kernel is.

        As it is given, below TT_METAL_HOME, below the program's folder and those above it; in the
        folders for kernels and in the program's own the first names of the path may be missing.
        """
        parts = Path(file).parts
        home = os.environ.get(HOME_VARIABLE)
        own = self._source.parent
        whole = [Path(file), *([Path(home) / file] if home else ())]
        ends = [
            Path(folder, *parts[start:])
            for folder in (*self._options.kernel_folders, own)
            for start in range(len(parts))
        ]
        for path in (*whole, *ends, *(above / file for above in own.resolve().parents)):
            if os.path.isfile(path):
                return self._shown(path)
        looked = [f"'{each}'" for each in self._options.kernel_folders]
        looked += [HOME_VARIABLE] if home else []
        raise MetaliumError(
            f"there is no kernel '{file}' in {''.join(f'{each}, ' for each in looked)}the working "
            "directory, the program's folder and those above it; --kernels names another folder"
        )

    def performance(self) -> str:
        """The times of all programs, in the order in which they ran."""
        return "\n".join(
            summary(
                report.times(f"program {number}" + (f" on device {device}" if device else "")),
                flops=0,
                cores=report.num_cores,
                fidelity=MathFidelity.HIFI4,
            )
            for number, (device, report) in enumerate(self._runs, 1)
        )

    def trace(self) -> str:
        """What every processor did, for ui.perfetto.dev."""
        clock = self.reports[0].chip.clock_hz if self.reports else 1
        return chrome_trace(self._timelines, clock)

    def _answer(self, frame: bytes) -> object:
        reader = Reader(frame, self._objects, MAKERS)
        self.last = made = reader.read_call()
        arguments = [reader.read_value() for _ in range(made.num_arguments)]
        if self._options.traced and self._queues:
            self._queues[0].timeline = Timeline()
        if made.name in self.adapted:
            result = self.adapted[made.name](*arguments)
        elif made.name in CALLS:
            result = _call(made.name, arguments)
        else:
            raise WireError(f"the host program calls {made.name!r}, which there is not")
        if made.name in ("CreateBuffer", "distributed.MeshBuffer.create"):
            self._owned.add(id(result))
        for queue in self._queues:
            self._note_reports(queue)
        return _plain(result)

    def _note_reports(self, queue: CommandQueue) -> None:
        """Show what the sanitizer found in programs that have just run, and keep their times."""
        # What waits for the host goes on waiting.
        for report in queue.take_finished():
            sys.stdout.flush()
            for finding in report.findings:
                print_error(finding.text())
            if queue.timeline is not None:
                self._timelines.append((queue.timeline, self._traced_cycles))
                self._traced_cycles += report.cycles
            self._runs.append((queue.device.device_id, report))

    def _explain(self, error: Error) -> str:
        """The message for an error in the last call, with its place in the program."""
        assert self.last is not None
        place = f"{self.last.file}:{self.last.line}"
        sys.stdout.flush()
        if isinstance(error, SimError) and error.position is not None:
            called = self.last.name.rpartition(".")[2]
            return f"{error}\n{place}: note: {called} runs the program"
        text = str(error) if isinstance(error, SimError) else f"error: {error}"
        lines = [f"{place}: {text}"]
        shown = self._line(self.last)
        return "\n".join((*lines, f"    {shown}")) if shown else lines[0]

    def _line(self, call: Call) -> str:
        """The line of the program that makes a call; empty if its file cannot be read."""
        try:
            lines = Path(call.file).read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return ""
        return lines[call.line - 1].strip() if 0 < call.line <= len(lines) else ""

    def _keep(self, value: object) -> int:
        number = self._numbers.get(id(value), self._next)
        if number == self._next:
            self._next += 1
            self._objects[number] = value
            self._numbers[id(value)] = number
        self._owners[number] += 1
        return number

    def _release(self, number: int) -> None:
        """Forget an object that the program has destroyed; a buffer gives its memory back."""
        self._owners[number] -= 1
        if self._owners[number] > 0 or number not in self._objects:
            return
        value: Any = self._objects.pop(number)
        del self._numbers[id(value)]
        if id(value) in self._owned:
            self._owned.remove(id(value))
            if value.is_allocated():
                value.deallocate()

    # --- Devices ---

    def _create_device(self, device_id: int) -> object:
        return self._opened(metalium.CreateDevice(device_id, **self._device_options()))

    def _create_unit_mesh(self, device_id: int) -> object:
        options = self._device_options()
        return self._opened(distributed.MeshDevice.create_unit_mesh(device_id, **options))

    def _create_mesh(self, config: Any) -> object:
        return self._opened(distributed.MeshDevice.create(config, **self._device_options()))

    def _device_options(self) -> dict[str, Any]:
        given = self._options
        return {
            "board": given.board,
            "numerics": given.numerics,
            "sanitize": given.sanitize,
            "cycle_limit": given.cycle_limit,
            "leniencies": given.leniencies,
            "max_findings": given.max_findings,
            "tt_metal": given.tt_metal,
            "print_line": _print_line,
        }

    def _opened(self, device: metalium.Device) -> metalium.Device:
        is_mesh = isinstance(device, distributed.MeshDevice)
        devices = device.get_devices() if is_mesh else [device]
        self._queues += [each.command_queue() for each in devices]
        return device

    # --- Kernels ---

    def _create_kernel(self, program: Any, file: str, cores: Any, config: Any) -> object:
        path = file if find_built_in_kernel(file) else self.find_kernel(file)
        folders = self._options.include_folders
        return metalium.CreateKernel(program, path, cores, config, include_folders=folders)

    def _shown(self, path: Path) -> Path:
        """A path as messages name it: like the program's, from the working directory on."""
        here = Path.cwd()
        below = path.is_relative_to(here) and not self._source.is_absolute()
        return path.relative_to(here) if below else path

    # --- Reading ---

    def _read(
        self, queue: CommandQueue, read: Callable[[NDArray[np.uint8]], object], size: int
    ) -> object:
        """The bytes that a call reads; if they come later, with the number of the read."""
        target = np.empty(size, np.uint8)
        before = queue.open_reads
        read(target)
        if queue.open_reads == before:
            return [target]
        number = self._next
        self._next += 1
        self._reads[number] = queue, target
        return [target, number]

    def _finished_reads(self) -> bytes:
        """Bytes of reads that are finished by now."""
        done = {
            number: target
            for number, (queue, target) in self._reads.items()
            if not queue.open_reads
        }
        for number in done:
            del self._reads[number]
        parts = [
            struct.pack("<IQ", number, target.nbytes) + target.tobytes()
            for number, target in done.items()
        ]
        return struct.pack("<I", len(parts)) + b"".join(parts)

    def _read_buffer(self, queue: Any, buffer: Any, blocking: bool) -> object:
        def read(target: NDArray[np.uint8]) -> object:
            return metalium.EnqueueReadBuffer(queue, buffer, target, blocking)

        return self._read(queue, read, buffer.size())

    def _read_region(self, queue: Any, buffer: Any, region: Any, blocking: bool) -> object:
        def read(target: NDArray[np.uint8]) -> object:
            return metalium.EnqueueReadSubBuffer(queue, buffer, target, region, blocking)

        return self._read(queue, read, region.size)

    def _read_at_once(self, buffer: Any) -> object:
        return [metalium.detail.ReadFromBuffer(buffer, dtype=np.uint8)]

    def _read_mesh_buffer(self, queue: Any, buffer: Any, blocking: bool) -> object:
        def read(target: NDArray[np.uint8]) -> object:
            return distributed.EnqueueReadMeshBuffer(queue, target, buffer, blocking)

        return self._read(queue, read, buffer.size())

    def _read_shard(self, queue: Any, buffer: Any, place: Any, blocking: bool) -> object:
        def read(target: NDArray[np.uint8]) -> object:
            return distributed.ReadShard(queue, target, buffer, place, blocking)

        return self._read(queue, read, buffer.device_local_size())

    def _read_shard_region(
        self, queue: Any, buffer: Any, place: Any, region: Any, blocking: bool
    ) -> object:
        def read(target: NDArray[np.uint8]) -> object:
            part = distributed.ShardDataTransfer(shard_coord=place, host_data=target, region=region)
            return queue.enqueue_read_shards([part], buffer, blocking)

        return self._read(queue, read, region.size if region else buffer.device_local_size())


def _write_shard_region(
    queue: Any, buffer: Any, place: Any, data: bytes, region: Any, blocking: bool
) -> None:
    part = distributed.ShardDataTransfer(shard_coord=place, host_data=data, region=region)
    queue.enqueue_write_shards(buffer, [part], blocking)


def _call(name: str, arguments: Sequence[Any]) -> object:
    """Call a function, or a method of the first argument, by its name in `ttmlir.metalium`."""
    *path, last = name.split(".")
    owner: Any = reduce(getattr, path, metalium)
    function = vars(owner).get(last) if isinstance(owner, type) else None
    if function is None or isinstance(function, classmethod | staticmethod):
        return getattr(owner, last)(*arguments)
    if not arguments or not isinstance(arguments[0], owner):
        raise MetaliumError(f"{last} is called for what is no {owner.__name__}, or not any more")
    return getattr(arguments[0], last)(*arguments[1:])


def _plain(value: object) -> object:
    """A result as lists and numbers, where it is no object that stays with the simulator."""
    match value:
        case metalium.CoreRange():
            return [value.start_coord, value.end_coord]
        case metalium.CoreRangeSet():
            return [_plain(each) for each in value.ranges()]
        case metalium.RuntimeArgsData() | distributed.MeshShape():
            return list(value)
        case tuple() | list():
            return [_plain(each) for each in cast("Sequence[object]", value)]
        case ProgramReport():
            return None
        case _:
            return value


def _set_tile_dims(
    config: metalium.CircularBufferConfig, index: int, height: int, width: int
) -> None:
    config.set_tile_dims(index, metalium.Tile((height, width)))


def _set_remote_page_size(config: metalium.CircularBufferConfig, index: int, size: int) -> None:
    config.remote_index(index).set_page_size(size)


def _correlate(a: bytes, b: bytes) -> float:
    return metalium.check_bfloat16_vector_pcc(
        np.frombuffer(a, np.uint16), np.frombuffer(b, np.uint16)
    )


def _appended(function: Callable[..., None]) -> Callable[..., list[int]]:
    """A function that appends to its last argument but one: the list of what it appends."""

    def append(*arguments: Any) -> list[int]:
        *others, kind = arguments
        made = list[int]()
        function(*others, made, kind)
        return made

    return append


def _append_client(
    config: metalium.tt_fabric.FabricMuxV2Config,
    mux: metalium.CoreCoord,
    channel: int,
    flow_control: int,
    teardown: int,
) -> list[int]:
    """The arguments of a worker that is connected to a mux of the second kind."""
    made = list[int]()
    semaphores = config.ClientSemaphores(flow_control, teardown)
    config.append_client_connection_rt_args(mux, channel, semaphores, made)
    return made


def _reorder(function: Callable[..., NDArray[Any]]) -> Callable[..., bytes]:
    """Tiles of elements of some size, whatever they are."""

    def reorder(data: bytes, element: int, rows: int, columns: int) -> bytes:
        kind = f"u{element}"
        if element not in (1, 2, 4, 8):
            raise MetaliumError(f"elements of {element} bytes are no numbers")
        return function(np.frombuffer(data, kind), rows, columns).tobytes()

    return reorder


def _print_line(line: str) -> None:
    print(line, flush=True)
