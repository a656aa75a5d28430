"""Collectives of ttnn on chips of the simulator, as ttnn's factories give them to tt-metal.

    PYTHONPATH=. python test/vendor/collective_replays.py LOG ROOT BOARD CONFIG [CASE...]

ROOT is the folder of ttnn's package of 0.81, which has the kernels; `collective_records.py` writes
LOG. What the factories made is made again, buffer by buffer and kernel by kernel, with the
addresses of this side; kernels run unchanged, and what each device has in the end is compared with
what NumPy says.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ttmlir.layout.enums import MathFidelity
from ttmlir.metalium import (
    NOC,
    BufferType,
    CircularBufferConfig,
    ComputeConfig,
    CoreCoord,
    CoreRange,
    CoreRangeSet,
    CreateCircularBuffer,
    CreateGlobalSemaphore,
    CreateKernel,
    CreateProgram,
    CreateSemaphore,
    DataFormat,
    DataMovementConfig,
    DataMovementProcessor,
    Program,
    SetCommonRuntimeArgs,
    SetRuntimeArgs,
    ShardOrientation,
    ShardSpecBuffer,
    TensorMemoryLayout,
    tilize_nfaces,
    tt_fabric,
)
from ttmlir.metalium.distributed import (
    BufferShardingArgs,
    DeviceLocalBufferConfig,
    EnqueueMeshWorkload,
    MeshBuffer,
    MeshCoordinate,
    MeshCoordinateRange,
    MeshDevice,
    MeshDeviceConfig,
    MeshShape,
    MeshWorkload,
    ReadShard,
    ReplicatedBufferConfig,
    WriteShard,
)

Line = dict[str, Any]
Array = NDArray[np.float32]
CONNECTION = 0xFAB00000
"""The first of the words that stand for connections: four numbers for each."""
LENIENCIES = frozenset({"reuse-before-barrier", "race", "cb-unwaited-read"})
"""What kernels of ttnn do: they write to headers that may still be on their way, read pages that
they have handed back (`all_to_all_dispatch`), and some of their words may overtake data."""

BOUNDS = {"device": 2**-5, "exact": 2**-6}
"""How far numbers may be off that the log has; results and what lies between are bfloat16."""


class Replay:
    """One open mesh, and what was made on it."""

    def __init__(self, mesh: MeshDevice, bound: float = 0.0) -> None:
        """Nothing yet; how far numbers may be off that the log has, in parts of the largest."""
        self.mesh = mesh
        self.bound = bound
        self.errors: list[float] = []
        self.devices = list(mesh.shape())
        self.buffers: dict[int, Any] = {}
        """By the address that they had there."""
        self.programs: dict[int, Program] = {}
        self.handles: dict[tuple[int, int], Any] = {}
        self.workloads: dict[int, dict[int, int]] = {}
        """Programs by the number of the device."""
        self.lines: dict[int, list[Line]] = {}
        self.connections: dict[int, Line] = {}
        self.nodes: dict[int, int] = {}
        """Devices by the number that the fabric had for them."""
        self.rng = np.random.default_rng(0)
        self.header = 0
        """Bytes of a header there; circular buffers for headers have room for those of here."""
        self.inputs: list[Array] = []
        self.numbers: list[NDArray[np.uint16]] = []
        self.cycles: list[int] = []

    def do(self, line: Line) -> None:
        """Follow a line of a log."""
        match line["do"]:
            case "buffer":
                self._allocate(line)
            case "global":
                cores = _ranges(line["cores"])
                made = CreateGlobalSemaphore(self.mesh, cores, line["value"])
                self.buffers[line["address"]] = made
            case "connect":
                self.connections[line["id"]] = line
            case "add":
                self._add(line)
            case "enqueue":
                self._run(self.workloads[line["workload"]])
            case "header":
                self.header = line["size"]
            case "case" | "input" | "numbers" | "output" as kind:
                self._use_tensor(kind, line)
            case "given":
                self._give(line)
            case "wanted":
                self._check_numbers(line)
            case _:
                self.lines.setdefault(line["program"], []).append(line)

    def _allocate(self, line: Line) -> None:
        size, page = line["size"], line["page"]
        if page == 4 or not size:
            return
        kind = BufferType.L1 if line["type"] else BufferType.DRAM
        sharding = BufferShardingArgs()
        if line["type"]:
            grid = self.mesh.compute_with_storage_grid_size()
            cores = CoreRangeSet([CoreRange(CoreCoord(0, 0), CoreCoord(grid.x - 1, grid.y - 1))])
            count = size // page // (grid.x * grid.y)
            shards = ShardSpecBuffer(
                cores,
                (count, page),
                ShardOrientation.ROW_MAJOR,
                (1, page),
                (count * grid.x * grid.y, 1),
            )
            sharding = BufferShardingArgs(shards, TensorMemoryLayout.HEIGHT_SHARDED)
        local = DeviceLocalBufferConfig(page_size=page, buffer_type=kind, sharding_args=sharding)
        made = MeshBuffer.create(ReplicatedBufferConfig(size), local, self.mesh)
        self.buffers[line["address"]] = made

    def _add(self, line: Line) -> None:
        start, end = line["range"][4:6], line["range"][16:18]
        for row in range(start[0], end[0] + 1):
            for column in range(start[1], end[1] + 1):
                place = row * self.devices[1] + column
                self.workloads.setdefault(line["workload"], {})[place] = line["program"]

    def _use_tensor(self, kind: str, line: Line) -> None:
        if kind == "input":
            self._write(line)
        elif kind == "numbers":
            parts = np.array(line["parts"], np.uint16)
            self.numbers.append(parts)
            for index, part in enumerate(parts):
                queue = self.mesh.mesh_command_queue()
                WriteShard(queue, self.buffers[line["address"]], part, self._at(index))
        elif kind == "output" and line["operation"] in ("dispatch", "choices"):
            self._check_dispatch(line)
        elif kind == "output":
            self._check(line)

    def _at(self, index: int) -> MeshCoordinate:
        return MeshCoordinate(index // self.devices[1], index % self.devices[1])

    # --- Programs ---------------------------------------------------------------------------------

    def _run(self, programs: dict[int, int]) -> None:
        for device, key in programs.items():
            for line in self.lines.get(key, []):
                for word in _connections(line.get("args", [])):
                    self.nodes[self.connections[word]["from"]] = device
        workload = MeshWorkload()
        for device, key in programs.items():
            place = self._at(device)
            workload.add_program(MeshCoordinateRange(place, place), self._build(key))
        EnqueueMeshWorkload(self.mesh.mesh_command_queue(), workload)
        devices = self.mesh.get_devices()
        self.cycles = [devices[each].command_queue().reports[-1].cycles for each in programs]

    def _build(self, key: int) -> Program:
        program, handles = CreateProgram(), dict[int, Any]()
        lines = self.lines[key]
        files = {each["handle"]: each["file"] for each in lines if each["do"] == "kernel"}
        idle = _find_idle(lines)
        for line in lines:
            if line["do"] == "cb":
                _add_buffers(program, line, self.buffers, self.header)
            elif line["do"] == "semaphore":
                made = CreateSemaphore(program, _ranges(line["cores"]), line["value"])
                assert made == line["id"], (made, line)
            elif line["do"] == "kernel" and not _is_manager(line):
                cores = [each for each in _cores(line["cores"]) if _key(each) not in idle]
                handles[line["handle"]] = _add_kernel(program, line, cores)
        for line in lines:
            if line["do"] == "runtime" and all(
                _key(each) in idle for each in _cores(line["cores"])
            ):
                continue
            if line["do"] in ("runtime", "common") and line["handle"] in handles:
                self._set_arguments(program, handles[line["handle"]], line, files[line["handle"]])
        return program

    def _set_arguments(self, program: Program, kernel: Any, line: Line, file: str) -> None:
        arguments = self._translate(line["args"])
        if line["do"] == "common":
            SetCommonRuntimeArgs(program, kernel, arguments)
            return
        if file.endswith("tt_fabric_mux.cpp"):
            arguments = arguments[-3:]  # Others are parts of L1 to be cleared.
        for core in _cores(line["cores"]):
            SetRuntimeArgs(program, kernel, core, arguments)

    def _translate(self, words: list[int]) -> list[int]:
        """Arguments, with addresses and connections of this side."""
        found = list[int]()
        for word in words:
            if word & 0xFFF00000 == CONNECTION:
                connection = self.connections[(word - CONNECTION) // 4]
                part = word % 4
                found.append(self._channel(connection) if part == 0 else connection["words"][part])
            elif word in self.buffers:
                found.append(self.buffers[word].address())
            else:
                found.append(word)
        return found

    def _channel(self, line: Line) -> int:
        numbers = self.mesh.get_device_ids()
        here, there = (
            tt_fabric.FabricNodeId(0, numbers[self.nodes[line[end]]]) for end in ("from", "to")
        )
        words = list[int]()
        tt_fabric.append_fabric_connection_rt_args(
            here, there, line["link"], CreateProgram(), CoreCoord(0, 0), words
        )
        return words[0]

    # --- Tensors ----------------------------------------------------------------------------------

    def _write(self, line: Line) -> None:
        """Small whole numbers, of which sums are exact, other ones on each device."""
        shape = line["shape"]
        parts = self.rng.integers(-8, 9, (self.mesh.num_devices(), *shape)).astype(np.float32)
        self.inputs.append(parts)
        queue, buffer = self.mesh.mesh_command_queue(), self.buffers[line["address"]]
        for index, part in enumerate(parts):
            WriteShard(queue, buffer, _to_words(part, line["tiles"]), self._at(index))

    def _give(self, line: Line) -> None:
        """The numbers of an operand, in tiles that are filled up with zeros."""
        kind = np.int32 if line["integers"] else np.float32
        matrix = _pad(np.array(line["numbers"], kind), line["shape"])
        tiles = tilize_nfaces(matrix, *matrix.shape).ravel()
        words = tiles if line["integers"] else _to_words(tiles, False)
        queue, buffer = self.mesh.mesh_command_queue(), self.buffers[line["address"]]
        WriteShard(queue, buffer, words, self._at(0))

    def _check_numbers(self, line: Line) -> None:
        """Compare with the numbers that a result has for NumPy."""
        shape, buffer = line["shape"], self.buffers[line["address"]]
        wanted = np.array(line["numbers"], np.float32)
        padded = _pad(np.arange(wanted.size, dtype=np.int32) + 1, shape)
        words = ReadShard(self.mesh.mesh_command_queue(), None, buffer, self._at(0))
        places = tilize_nfaces(padded, *padded.shape).ravel()
        found = (words.view(np.uint16)[: places.size].astype(np.uint32) << 16).view(np.float32)
        error = np.abs(found[places > 0] - wanted[places[places > 0] - 1]).max()
        self.errors.append(float(error / np.abs(wanted).max()))
        assert self.errors[-1] <= self.bound, (
            f"off by {self.errors[-1]:.4f} of the largest number, at most {self.bound:.4f}"
        )

    def _check_dispatch(self, line: Line) -> None:
        """Rows of tokens whose experts a device has, or the choices of all tokens."""
        queue, buffer = self.mesh.mesh_command_queue(), self.buffers[line["address"]]
        tokens = self.inputs[0].shape[-2]
        choices = self.numbers[0].reshape(-1, self.numbers[0].shape[1] // tokens)
        sent = _rows(self.inputs[0])
        for index in range(self.mesh.num_devices()):
            words = ReadShard(queue, None, buffer, self._at(index)).view(np.uint16)
            if line["operation"] == "choices":
                assert np.array_equal(words.reshape(choices.shape), choices), f"device {index}"
                continue
            wanted = _is_chosen(choices, index)
            assert np.array_equal(words.reshape(sent.shape)[wanted], sent[wanted]), (
                f"device {index}"
            )

    def _check(self, line: Line) -> None:
        buffer, shape = self.buffers[line["address"]], line["shape"]
        expected = list(_compute(line, self.inputs))
        for index, wanted in enumerate(expected):
            if wanted is None:
                continue
            assert list(wanted.shape) == shape, (wanted.shape, shape)
            queue = self.mesh.mesh_command_queue()
            words = ReadShard(queue, None, buffer, self._at(index)).view(np.uint16)
            given = _to_words(wanted, line["tiles"])
            if line["operation"] in _ROUNDED:
                bound = _ROUNDED[line["operation"]]
                _compare(words[: given.size], given, bound, f"device {index}")
                continue
            wrong = np.flatnonzero(words[: given.size] != given)
            assert not wrong.size, f"device {index}: {wrong.size} of {given.size} numbers are wrong"


def _is_chosen(choices: NDArray[np.uint16], device: int) -> NDArray[np.bool_]:
    """Whether a device has an expert of each token."""
    return (choices // 2 == device).any(-1)


_ROUNDED = {"gather_product": 2**-6, "product_sums": 2**-6, "attention": 2**-5}
"""Operations whose sums are rounded to bfloat16 on the way: how far numbers may be off, as a part
of the largest."""


def _rows(array: Array) -> NDArray[np.uint16]:
    return _to_words(array, False).reshape(-1, array.shape[-1])


def _compare(words: NDArray[np.uint16], wanted: NDArray[np.uint16], bound: float, who: str) -> None:
    found, expected = ((each.astype(np.uint32) << 16).view(np.float32) for each in (words, wanted))
    error = np.abs(found - expected).max() / np.abs(expected).max()
    assert error <= bound, f"{who}: off by {error:.4f} of the largest number, at most {bound:.4f}"


def _compute(line: Line, inputs: list[Array]) -> Iterable[Array | None]:
    """What each device has in the end; None where that says nothing."""
    parts = inputs[int(line.get("input", -1))]
    count = len(parts)
    match line["operation"]:
        case "all_gather":
            return [np.concatenate(list(parts), line["dim"])] * count
        case "all_reduce":
            return [parts.sum(0)] * count
        case "reduce_scatter":
            return np.split(parts.sum(0), count, line["dim"])
        case "broadcast":
            return [parts[line["source"]]] * count
        case "send":
            kept: list[Array | None] = [None] * count
            kept[line["target"]] = parts[line["source"]]
            return kept
        case "all_to_all":
            cut = [np.split(each, count, line["from_dim"]) for each in parts]
            return [
                np.concatenate([each[index] for each in cut], line["to_dim"])
                for index in range(count)
            ]
        case "gather_others":
            # The own part stays what it was.
            whole = np.concatenate(list(parts), line["dim"])
            found = [whole.copy() for _ in parts]
            for index, (each, before) in enumerate(
                zip(found, inputs[int(line["kept"])], strict=True)
            ):
                own = np.split(each, count, line["dim"])[index]
                own[...] = np.split(before, count, line["dim"])[index]
            return found
        case _:
            return _compute_joined(line, inputs)


def _compute_joined(line: Line, inputs: list[Array]) -> Iterable[Array | None]:
    """The same of operations that join an exchange with products."""
    parts, count = inputs[int(line["input"])], len(inputs[0])
    match line["operation"]:
        case "gather_product":
            return np.concatenate(list(parts), 3) @ inputs[int(line["weights"])]
        case "product_sums":
            products = parts @ inputs[int(line["weights"])]
            return np.split(products.sum(0), count, 3)
        case "attention":
            keys, values = (np.concatenate(list(each), 2) for each in inputs[1:3])
            weights = parts @ keys.swapaxes(2, 3) / 64
            weights = np.exp(weights - weights.max(-1, keepdims=True))
            return weights / weights.sum(-1, keepdims=True) @ values
        case other:
            raise NotImplementedError(other)


def _pad(values: NDArray[Any], shape: Sequence[int]) -> NDArray[Any]:
    """A matrix of whole tiles, which has zeros where a tensor has no numbers."""
    rows, columns = (1, 1, *shape)[-2:]
    tensor = values.reshape(-1, rows, columns)
    tensor = np.pad(tensor, ((0, 0), (0, -rows % 32), (0, -columns % 32)))
    return tensor.reshape(-1, tensor.shape[-1])


def _to_words(values: Array, tiles: bool) -> NDArray[np.uint16]:
    """Numbers in bfloat16, tile by tile or row by row."""
    words = (np.ascontiguousarray(values).view(np.uint32) >> 16).astype(np.uint16)
    if not tiles:
        return words.ravel()
    matrix = words.reshape(-1, words.shape[-1])
    return cast("NDArray[np.uint16]", tilize_nfaces(matrix, *matrix.shape)).ravel()


def _connections(words: Iterable[int]) -> Iterator[int]:
    return ((each - CONNECTION) // 4 for each in words if each & 0xFFF00000 == CONNECTION)


def _ranges(cores: list[list[int]]) -> CoreRangeSet:
    return CoreRangeSet([CoreRange(CoreCoord(*each[:2]), CoreCoord(*each[2:])) for each in cores])


def _cores(cores: list[list[int]]) -> Iterator[CoreCoord]:
    for left, top, right, bottom in cores:
        for y in range(top, bottom + 1):
            for x in range(left, right + 1):
                yield CoreCoord(x, y)


def _key(core: CoreCoord) -> tuple[int, int]:
    return core.x, core.y


def _find_idle(lines: list[Line]) -> set[tuple[int, int]]:
    """Cores without work, whose arguments are all 0: kernels of `binary_ng` divide by them."""
    given, busy = set[tuple[int, int]](), set[tuple[int, int]]()
    for line in lines:
        if line["do"] == "runtime" and line["args"]:
            cores = {_key(each) for each in _cores(line["cores"])}
            # Fewer arguments may well be zeros that mean something.
            (busy if any(line["args"]) or len(line["args"]) < 4 else given).update(cores)
    return given - busy


def _is_manager(line: Line) -> bool:
    """Whether a kernel is the second one of a mux, which is one here."""
    return line["file"].endswith("tt_fabric_mux_v2.cpp") and line["processor"] == 1


def _add_buffers(program: Program, line: Line, buffers: dict[int, Any], header: int) -> None:
    pages = {int(each): page for each, (_, page) in line["local"].items()}
    if header and [*line["local"].values()] == [[int(DataFormat.RawUInt32), header]]:
        here = tt_fabric.get_tt_fabric_packet_header_size_bytes()
        line = {**line, "size": line["size"] // header * here}
        pages = dict.fromkeys(pages, here)
    formats = {int(each): DataFormat(kind) for each, (kind, _) in line["local"].items()}
    config = CircularBufferConfig(line["size"], formats)
    for each, page in pages.items():
        config.set_page_size(each, page)
    if line["address"] is not None:
        config.set_globally_allocated_address(buffers[line["address"]])
    CreateCircularBuffer(program, _ranges(line["cores"]), config)


def _add_kernel(program: Program, line: Line, cores: list[CoreCoord]) -> Any:
    given = {
        "compile_args": line["args"],
        "named_compile_args": line["named"],
        "defines": line["defines"],
    }
    if "processor" in line:
        if tt_fabric.GetFabricConfig().is_2d:
            # Managers of routing planes define it where they append their arguments.
            given["defines"] |= {"FABRIC_2D": "1"}
        config: Any = DataMovementConfig(
            processor=DataMovementProcessor(line["processor"]), noc=NOC(line["noc"]), **given
        )
    else:
        config = ComputeConfig(
            math_fidelity=MathFidelity(line["fidelity"]),
            fp32_dest_acc_en=bool(line["wide"]),
            dst_full_sync_en=bool(line["full"]),
            math_approx_mode=bool(line["approx"]),
            **given,
        )
    ranges = CoreRangeSet([CoreRange(each, each) for each in cores])
    return CreateKernel(program, line["file"], ranges, config)


def main() -> int:
    """Run the cases of a log: how many were not right."""
    parser = argparse.ArgumentParser()
    for name in ("log", "root", "board", "config"):
        parser.add_argument(name)
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--shape", default="1x4")
    parser.add_argument("--numerics", choices=("device", "exact"), default="device")
    given = parser.parse_args()
    os.environ["TT_METAL_HOME"] = given.root
    cases: dict[str, list[Line]] = {}
    with open(given.log) as log:
        lines = [json.loads(each) for each in log]
    name = ""
    for line in lines:
        name = line["name"] if line["do"] == "case" else name
        cases.setdefault(name, []).append(line)
    wrong = 0
    for name, lines in cases.items():
        if not name or (given.cases and name not in given.cases):
            continue
        tt_fabric.SetFabricConfig(tt_fabric.FabricConfig[given.config])
        mesh = MeshDevice.create(
            MeshDeviceConfig(MeshShape(*map(int, given.shape.split("x")))),
            board=given.board,
            tt_metal="0.81",
            numerics=given.numerics,
            leniencies=LENIENCIES,
        )
        replay = Replay(mesh, BOUNDS[given.numerics])
        try:
            for line in lines:
                replay.do(line)
            off = f"; off by {max(replay.errors):.4f}" if replay.errors else ""
            print(f"{name}: right{off}; cycles {replay.cycles}", flush=True)
        except Exception as error:
            wrong += 1
            print(f"{name}: {type(error).__name__} {str(error)[:3000]}", flush=True)
        mesh.close()
    return wrong


if __name__ == "__main__":
    sys.exit(main())
