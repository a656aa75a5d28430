"""Whole operations of ttnn on the simulator, as the library started them on Tenstorrent's.

    PYTHONPATH=. python test/vendor/factory_replays.py LOG ROOT RECORD...

LOG and ROOT are those of `factory_kernels.py`; `factory_records.py` makes records. One has what the
host read and wrote while an operation ran on Tenstorrent's simulator: of each access six
little-endian words (0 for a read or 1 for a write, x and y on the network, the lower and the upper
half of the address, the size) and then the bytes, which a line beside the calls of `tile_rd_bytes`
and `tile_wr_bytes` in its libttsim.cpp writes. Run-time arguments, circular buffers and semaphores
of all cores are read from what was written before each launch message; kernels are found by their
binaries, which lie beside what they were compiled from. All that is done again here, in both
numerics, and what the host reads at the end is compared with the tensor that the script wrote after
that: the result in NumPy's numbers.
"""

from __future__ import annotations

import argparse
import re
import struct
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import ml_dtypes
import numpy as np
from factory_kernels import (
    FORMATS,
    Compilation,
    find_compilations,
    find_network,
    has_wide_registers,
    read_defines,
    read_names,
)

from ttmlir.cpp.include_path import IncludePath
from ttmlir.layout.enums import DataType, MathFidelity, MemorySpace, TensorMemoryLayout
from ttmlir.optable.kernel import Role
from ttmlir.optable.kernel.releases import Release
from ttmlir.sim.calls.compute_api import ComputeSettings
from ttmlir.sim.errors import SanitizerError, SimError
from ttmlir.sim.execution.program import CircularBufferSpec, Kernel, Program
from ttmlir.sim.execution.run import run_program
from ttmlir.sim.machine.address_generators import Buffer, Sharding
from ttmlir.sim.machine.device import SimChip, SimDevice
from ttmlir.sim.machine.memory import Memory
from ttmlir.sim.machine.tile_shapes import WHOLE, TileShape
from ttmlir.sim.options import SimOptions

Core = tuple[int, int]
COLUMNS, ROWS = (*range(1, 8), *range(10, 16)), range(2, 12)
"""Of the worker cores of Tenstorrent's simulated Blackhole on the network."""
CHANNELS = {
    (x, y): 4 * (x == 0) + place // 3
    for x in (0, 9)
    for place, y in enumerate((0, 1, 11, 2, 10, 3, 5, 7, 6, 9, 4, 8))
}
"""Of DRAM, by the coordinates of their three tiles."""
CONFIGURATION, UNRESERVED, END = 0xA080, 0x1B480, 0x180000
"""Where in L1 tt-metal 0.81 puts the configurations of kernels, where circular buffers begin, and
where L1 ends."""
LAUNCH, LAUNCH_SIZE, GO, GO_SIGNAL = 112, 144, 1264, 0x80
"""Where the first launch message of a core is, and the word that starts it."""
DRAM_SIZE = 1 << 26
"""Of each channel: far more than a record uses."""
PROCESSORS = ("brisc", "ncrisc", "trisc0", "trisc1", "trisc2")
ROLES = {"brisc": Role.BRISC, "ncrisc": Role.NCRISC, "trisc1": Role.COMPUTE}
FIDELITIES = {
    0: MathFidelity.LOFI,
    2: MathFidelity.HIFI2,
    3: MathFidelity.HIFI3,
    4: MathFidelity.HIFI4,
}
SEMAPHORE_BYTES = 16
LENIENCIES = frozenset[str]()
MAX_FINDINGS = 1000
"""So many are collected while a program goes on, for its numbers may be right."""


@dataclass(frozen=True)
class Access:
    """An access of the host to a tensor: of a worker core at logical (x, y), or of a channel."""

    is_write: bool
    place: Core | int
    address: int
    data: bytes


class Launch:
    """The launch message of a core, and what was written for it."""

    def __init__(self, core: Core, written: dict[int, bytes]) -> None:
        """`written` has what was written by address, since the launch before."""
        self.core = core
        self._written = written
        self._message = self._at(LAUNCH, LAUNCH_SIZE)
        (self._base,) = struct.unpack_from("<I", self._message)

    def _at(self, address: int, size: int) -> bytes:
        """Bytes that were written in one piece or in several."""
        found = bytearray(size)
        for start, data in self._written.items():
            low, high = max(start, address), min(start + len(data), address + size)
            if low < high:
                found[low - address : high - address] = data[low - start : high - start]
        return bytes(found)

    def text(self, processor: int) -> bytes:
        """The binary of a processor; empty if it runs no kernel."""
        (enables,) = struct.unpack_from("<I", self._message, 112)
        if not enables >> processor & 1:
            return b""
        (offset,) = struct.unpack_from("<I", self._message, 52 + 4 * processor)
        (size,) = struct.unpack_from("<I", self._message, 72 + 4 * processor)
        return self._at(self._base + offset, size)

    def arguments(self, processor: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Run-time arguments of a processor, and those that all cores have in common."""
        own, common = struct.unpack_from("<2H", self._message, 28 + 4 * processor)
        return self._words(own), self._words(common)

    def _words(self, offset: int) -> tuple[int, ...]:
        data = self._written.get(self._base + offset, b"")
        return struct.unpack(f"<{len(data) // 4}I", data)

    def semaphores(self) -> list[int]:
        """What semaphores begin with."""
        (offset,) = struct.unpack_from("<H", self._message, 16)
        found = list[int]()
        while offset and len(self._written.get(place := self._base + offset, b"")) == 4:
            found.append(int.from_bytes(self._written[place], "little"))
            offset += SEMAPHORE_BYTES
        return found

    def circular_buffers(self) -> dict[int, tuple[int, int, int]]:
        """Address, size and size of a page by number."""
        (offset,) = struct.unpack_from("<H", self._message, 24)
        (mask,) = struct.unpack_from("<Q", self._message, 96)
        found = dict[int, tuple[int, int, int]]()
        for index in (each for each in range(64) if mask >> each & 1):
            words = self._at(self._base + offset + 16 * index, 16)
            address, size, _, page = struct.unpack("<4I", words)
            found[index] = address, size, page
        return found


def read_accesses(record: Path) -> Iterator[Access]:
    """What the host read and wrote in memories of worker cores and in DRAM."""
    data, place = record.read_bytes(), 0
    while place < len(data):
        is_write, x, y, low, high, size = struct.unpack_from("<6I", data, place)
        content = data[place + 24 : place + 24 + size]
        place += 24 + size
        address = low | high << 32
        if (x, y) in CHANNELS:
            yield Access(bool(is_write), CHANNELS[x, y], address, content)
        elif x in COLUMNS and y in ROWS and address < END:
            yield Access(bool(is_write), (COLUMNS.index(x), y - ROWS[0]), address, content)


def read_steps(record: Path) -> Iterator[Access | list[Launch]]:
    """Accesses of tensors, and launches, those of a program together."""
    written = defaultdict[Core, dict[int, bytes]](dict)
    launches = list[Launch]()
    for access in read_accesses(record):
        core, address = access.place, access.address
        if isinstance(core, int) or address >= UNRESERVED:
            if launches:
                yield launches
                launches = []
            yield access
        elif not access.is_write:
            continue
        elif address == GO and access.data[3] == GO_SIGNAL and LAUNCH in written[core]:
            launches.append(Launch(core, written.pop(core)))
        elif LAUNCH <= address < LAUNCH + LAUNCH_SIZE or address >= CONFIGURATION:
            if launches and address >= CONFIGURATION:
                yield launches
                launches = []
            written[core][address] = access.data
    if launches:
        yield launches


class Kernels:
    """Kernels by their binaries."""

    def __init__(self, compilations: list[Compilation], root: str) -> None:
        """What was compiled, and the folder of ttnn's package."""
        self._root = root
        self._compilations = {(each.folder, each.processor): each for each in compilations}
        self._found = dict[tuple[int, bytes], Compilation]()
        self._binaries = [
            (each, (each.folder / each.processor / f"{each.processor}.elf.xip.elf").read_bytes())
            for each in self._compilations.values()
        ]

    def find(self, processor: int, text: bytes) -> Compilation:
        """What a binary was compiled from."""
        key = processor, text
        if key not in self._found:
            for each, binary in self._binaries:
                if (
                    each.processor == PROCESSORS[processor]
                    and text[: min(1024, len(text) * 2 // 3)] in binary
                ):
                    self._found[key] = each
                    break
            else:
                raise SystemExit(f"no {PROCESSORS[processor]} kernel has the recorded binary")
        return self._found[key]

    def make(self, made: Compilation, cores: tuple[Core, ...]) -> Kernel:
        """A kernel on cores, with everything that it was compiled with."""
        defines, positional = read_defines(made)
        names = read_names(made)
        named = re.findall(r'\{"(\w+)",\s*(\d+)\}', made.read("named_ct_arg_map_generated.h"))
        root = self._root
        return Kernel(
            name=Path(made.kernel).stem,
            file=made.kernel,
            text=Path(made.kernel).read_text() + made.entry,
            cores=cores,
            role=ROLES[made.processor],
            noc_index=find_network(made),
            compile_time_args=positional,
            named_compile_time_args={name: int(value) for name, value in named},
            defines=defines,
            include_path=IncludePath.of_kernel(
                made.kernel, (root, f"{root}/ttnn", f"{root}/ttnn/cpp"), root
            ),
            names=names,
            release=Release.LATE_2026,
            compute=_settings(made) if made.processor == "trisc1" else ComputeSettings(),
        )


def _settings(made: Compilation) -> ComputeSettings:
    text = made.read("chlkc_descriptors.h")
    fidelity = re.search(r"MathFidelity>\((\d)\)", text)
    sources, targets = _numbers(made, "unpack_src_format"), _numbers(made, "unpack_dst_format")
    pairs = enumerate(zip(sources, targets, strict=True))
    return ComputeSettings(
        fidelity=FIDELITIES[int(fidelity[1]) if fidelity is not None else 4],
        fp32_dest_acc_en=has_wide_registers(made),
        dst_full_sync_en="DstSync::SyncFull" in text,
        math_approx_mode="APPROX = true" in text,
        unpack_to_dest=frozenset(cb for cb, formats in pairs if formats == (0, 0)),
    )


def _numbers(made: Compilation, array: str) -> list[int]:
    found = re.search(array + r"\[\d+\] = \{([\d,\s]*)\}", made.read("chlkc_descriptors.h"))
    return [] if found is None else [int(each) for each in found[1].split(",") if each.strip()]


class Replay:
    """A device on which a record is done again."""

    def __init__(self, kernels: Kernels, steps: list[Access | list[Launch]], numerics: str) -> None:
        """Nothing is done yet."""
        chip = replace(
            SimChip.of_board("p150"),
            grid=(len(COLUMNS), len(ROWS)),
            workers=tuple((x, y) for y in ROWS for x in COLUMNS),
            l1_size=END,
            l1_unreserved_base=UNRESERVED,
        )
        assert numerics in ("device", "exact")
        options = SimOptions(
            numerics=numerics, leniencies=LENIENCIES, timed=False,
            max_findings=MAX_FINDINGS,
        )  # fmt: skip
        self.device = SimDevice(chip, options)
        self.kernels = kernels
        self.findings = set[tuple[str, str, int]]()
        """Rules, files and lines."""
        self._cleared = set[Core]()
        dram = self.device.allocator(MemorySpace.DEVICE_DRAM)
        dram.take(chip.dram_unreserved_base, DRAM_SIZE)
        lowest = min(
            (address for step in steps for address in self._pinned(step)), default=chip.l1_size
        )
        self._buffer = None
        if lowest < chip.l1_size:
            cores = tuple((x, y) for y in range(chip.grid[1]) for x in range(chip.grid[0]))
            size = chip.l1_size - lowest
            sharding = Sharding(
                layout=TensorMemoryLayout.HEIGHT_SHARDED,
                cores=cores, shape=(len(cores), 1), shard_shape=(1, 1),
            )  # fmt: skip
            self._buffer = Buffer(
                self.device, size * len(cores), size, MemorySpace.DEVICE_L1,
                sharding=sharding, address=lowest,
            )  # fmt: skip

    def _pinned(self, step: Access | list[Launch]) -> Iterator[int]:
        """Addresses of tensors in L1."""
        if isinstance(step, Access):
            if not isinstance(step.place, int):
                yield step.address
            return
        for launch in step:
            buffers = launch.circular_buffers()
            yield from (buffers[index][0] for index in _on_tensors(buffers))

    def memory(self, access: Access) -> Memory:
        """The memory that an access means."""
        if isinstance(access.place, int):
            return self.device.dram[access.place]
        return self._l1(access.place)

    def _l1(self, core: Core) -> Memory:
        """The memory of a core: with zeros where nobody has written, as there."""
        memory = self.device.core(*core).l1
        if core not in self._cleared:
            self._cleared.add(core)
            memory.ensure(0, END)
            memory.data[UNRESERVED:] = 0
        return memory

    def write(self, access: Access) -> None:
        """Write what the host wrote."""
        memory = self.memory(access)
        memory.write(access.address, access.data)
        if self.device.watch is not None:
            self.device.watch.host_write(memory, access.address, len(access.data))

    def read(self, access: Access) -> bytes:
        """Read what the host read."""
        return bytes(self.memory(access).read(access.address, len(access.data)))

    def run(self, launches: list[Launch]) -> None:
        """Run a program; what the sanitizer finds is collected."""
        program = Program()
        self._add_circular_buffers(program, launches, self._add_kernels(program, launches))
        semaphores = defaultdict[tuple[int, int], list[Core]](list)
        for launch in launches:
            for number, value in enumerate(launch.semaphores()):
                semaphores[number, value].append(launch.core)
        for (number, value), places in semaphores.items():
            program.add_semaphore(tuple(places), value, number)
        try:
            run_program(self.device, program)
        except SanitizerError as error:
            self.findings.update(
                (each.rule, Path(each.file).name, each.line) for each in error.findings
            )

    def _add_kernels(
        self, program: Program, launches: list[Launch]
    ) -> dict[Core, list[Compilation]]:
        """Add the kernels; what those of each core were compiled from."""
        for launch in launches:
            self._l1(launch.core)
        compilations = defaultdict[Core, list[Compilation]](list)
        cores = defaultdict[Path, list[Core]](list)
        for launch in launches:
            for number, processor in enumerate(PROCESSORS):
                if processor in ROLES and (text := launch.text(number)):
                    made = self.kernels.find(number, text)
                    compilations[launch.core].append(made)
                    cores[made.folder].append(launch.core)
        kernels = dict[Path, Kernel]()
        for launch in launches:
            for made in compilations[launch.core]:
                kernel = kernels.get(made.folder)
                if kernel is None:
                    kernel = self.kernels.make(made, tuple(cores[made.folder]))
                    kernels[made.folder] = program.add_kernel(kernel)
                own, common = launch.arguments(PROCESSORS.index(made.processor))
                kernel.arguments[launch.core] = own
                kernel.common_arguments = common
        return compilations

    def _add_circular_buffers(
        self,
        program: Program,
        launches: list[Launch],
        compilations: dict[Core, list[Compilation]],
    ) -> None:
        specs = defaultdict[tuple[int, int, bool], dict[Core, dict[int, tuple[int, DataType]]]](
            lambda: defaultdict(dict)
        )
        for launch in launches:
            buffers = launch.circular_buffers()
            on_tensors = _on_tensors(buffers)
            formats = list[int]()
            for made in sorted(compilations[launch.core], key=lambda made: made.processor):
                formats = _numbers(made, "unpack_src_format") or formats
            for index, (address, size, page) in buffers.items():
                format_ = FORMATS.get(formats[index], DataType.BF16)
                spec = specs[address, size, index in on_tensors][launch.core]
                spec[index] = page, format_
        for (address, size, is_tensor), by_core in sorted(specs.items(), key=lambda each: each[0]):
            for indices in {str(each): each for each in by_core.values()}.values():
                places = tuple(core for core, each in by_core.items() if each == indices)
                shapes = _shapes(compilations[places[0]])
                buffer = self._buffer if is_tensor else None
                program.add_circular_buffer(
                    CircularBufferSpec(
                        cores=places,
                        total_size=size,
                        indices=indices,
                        tiles=shapes,
                        buffer=buffer,
                        offset=0 if buffer is None else address - buffer.address,
                    )
                )


def _shapes(compilations: list[Compilation]) -> dict[int, TileShape]:
    """The tiles of circular buffers that are not whole, by what was generated for the unpackers."""
    for made in compilations:
        parts = [
            _numbers(made, f"unpack_tile_{each}") for each in ("num_faces", "face_r_dim", "r_dim")
        ]
        if all(parts):
            shapes = (TileShape(*each) for each in zip(*parts, strict=True))
            return {index: each for index, each in enumerate(shapes) if each != WHOLE}
    return {}


def _on_tensors(buffers: dict[int, tuple[int, int, int]]) -> set[int]:
    """Circular buffers that do not follow on others from the bottom of L1."""
    top, found = UNRESERVED, set[int]()
    for index, (address, size, _) in sorted(buffers.items(), key=lambda each: each[1]):
        if address > top + 63:
            found.add(index)
        else:
            top = max(top, address + size)
    return found


def compare(replayed: list[bytes], expected: list[bytes]) -> float:
    """How far numbers are off at most, in parts of the largest one."""
    found, wanted = (
        np.frombuffer(b"".join(each), ml_dtypes.bfloat16).astype(np.float64)
        for each in (replayed, expected)
    )
    return float(np.abs(found - wanted).max() / np.abs(wanted).max())


def replay(
    record: Path, kernels: Kernels, numerics: str
) -> tuple[tuple[float, float, float], set[tuple[str, str, int]]]:
    """How far the results are off: here and there from NumPy's, and from each other; findings."""
    steps = list(read_steps(record))
    last = max(number for number, step in enumerate(steps) if isinstance(step, list))
    again = Replay(kernels, steps, numerics)
    here, there, expected = list[bytes](), list[bytes](), list[bytes]()
    for number, step in enumerate(steps):
        if isinstance(step, list):
            again.run(step)
        elif number < last:
            if step.is_write:
                again.write(step)
        elif step.is_write:
            expected.append(step.data)
        else:
            here.append(again.read(step))
            there.append(step.data)
    distances = compare(here, expected), compare(there, expected), compare(here, there)
    return distances, again.findings


def main() -> int:
    """Replay records, and print how far their results are off."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("log", type=Path)
    parser.add_argument("root", help="the folder of ttnn's package")
    parser.add_argument("records", nargs="+", type=Path)
    options = parser.parse_args()
    compilations = [each for each in find_compilations(options.log) if each.kernel]
    kernels = Kernels(compilations, options.root)
    failed = 0
    for record in options.records:
        for numerics in ("exact", "device"):
            name = f"{record.stem} ({numerics})"
            try:
                (here, there, between), findings = replay(record, kernels, numerics)
            except SimError as error:
                failed += 1
                print(f"{name}: {error}", "\n".join(error.detail), flush=True)
                continue
            verdict = "ok" if here <= max(2 * there, 0.01) else "WRONG"
            failed += verdict != "ok"
            print(
                f"{name}: off by {here:.4f} here, {there:.4f} on Tenstorrent's simulator, "
                f"{between:.4f} from each other: {verdict}",
                flush=True,
            )
            for rule, file, line in sorted(findings):
                print(f"    {rule}: {file}:{line}", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
