"""What describes a program of kernels: kernels, circular buffers, semaphores.

Source: tt-metal, tt_metal/api/tt-metalium/program_descriptors.hpp and
ttnn/cpp/ttnn-nanobind/program_descriptors.cpp.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from ttmlir.errors import ArgumentTypeError, UsageError
from ttmlir.metalium.cores import CoreCoord, CoreRange, CoreRangeSet
from ttmlir.metalium.enums import NOC, DataMovementProcessor, NamedNumber, UnpackToDestMode
from ttmlir.metalium.mesh_shapes import MeshCoordinate, MeshCoordinateRange
from ttmlir.sim.machine.address_generators import accessor_words
from ttmlir.ttnn.tensor.tensor import Tensor
from ttmlir.ttnn.types.enums import NOC_MODE, CoreType, DataType, MathFidelity
from ttmlir.ttnn.types.spec import Tile


class SourceType(NamedNumber):
    """Whether a kernel is a file or a text."""

    FILE_PATH = 0
    SOURCE_CODE = 1


@dataclass
class ReaderConfigDescriptor:
    """A kernel that reads: on RISCV_1 and network 0."""


@dataclass
class WriterConfigDescriptor:
    """A kernel that writes: on RISCV_0 and network 1."""


@dataclass
class DataMovementConfigDescriptor:
    """A kernel that moves data, and the processor and network that it uses."""

    processor: DataMovementProcessor = DataMovementProcessor.RISCV_0
    noc: NOC = NOC.RISCV_0_default
    noc_mode: NOC_MODE = NOC_MODE.DM_DEDICATED_NOC


@dataclass
class ComputeConfigDescriptor:
    """A kernel that computes."""

    math_fidelity: MathFidelity = MathFidelity.HiFi4
    math_approx_mode: bool = False
    fp32_dest_acc_en: bool = False
    dst_full_sync_en: bool = False
    bfp8_pack_precise: bool = False
    unpack_to_dest_mode: Sequence[UnpackToDestMode] = ()


Config = (
    ReaderConfigDescriptor
    | WriterConfigDescriptor
    | DataMovementConfigDescriptor
    | ComputeConfigDescriptor
)


class RuntimeArgs:
    """Run-time arguments by core: `args[x][y] = [...]`, or `append(core, values)`."""

    def __init__(self) -> None:
        """No arguments yet."""
        self.by_core: dict[CoreCoord, list[int]] = {}

    def append(self, core: tuple[int, int], values: Sequence[int]) -> None:
        """Add the arguments of a core."""
        self.by_core[CoreCoord(*core)] = list(values)

    def extend(self, others: Sequence[tuple[tuple[int, int], Sequence[int]]]) -> None:
        """Add the arguments of several cores."""
        for core, values in others:
            self.append(core, values)

    def __getitem__(self, x: int) -> _Column:
        """The arguments of a column of cores."""
        return _Column(self, x)

    def __iter__(self) -> Iterator[tuple[CoreCoord, list[int]]]:
        """Cores and their arguments."""
        return iter(self.by_core.items())


@dataclass(frozen=True)
class _Column:
    args: RuntimeArgs
    x: int

    def __getitem__(self, y: int) -> list[int]:
        """The arguments of a core."""
        return self.args.by_core.setdefault(CoreCoord(self.x, y), [])

    def __setitem__(self, y: int, values: Sequence[int]) -> None:
        """Set the arguments of a core."""
        self.args.append((self.x, y), values)


Cores = CoreRangeSet | CoreRange


def arguments_by_core(given: Any, cores: Cores) -> dict[tuple[int, int], list[int]]:
    """Run-time arguments by core, of any of the three forms; TypeError for others.

    The forms are `RuntimeArgs`, pairs of a core and its arguments, and lists `[x][y]` of arguments,
    which count cores from the first of the kernel.
    """
    found: dict[tuple[int, int], list[int]] = {}
    if isinstance(given, RuntimeArgs):
        return {(core.x, core.y): list(values) for core, values in given}
    ranges = cores if isinstance(cores, CoreRangeSet) else CoreRangeSet([cores])
    columns: list[Any] = list(given)
    for x, column in enumerate(columns):
        match column:
            case ((int(core_x), int(core_y)), [*values]):
                found[core_x, core_y] = values
            case [*rows]:
                start = ranges.bounding_box().start
                for y, values in enumerate(rows):
                    if not isinstance(values, list | tuple):
                        raise ArgumentTypeError(_FORMS)
                    if values:
                        found[start.x + x, start.y + y] = [*values]
            case _:
                raise ArgumentTypeError(_FORMS)
    return found


_FORMS = (
    "runtime_args are ttnn.RuntimeArgs, pairs (CoreCoord, [numbers]), or lists [x][y] of lists of "
    "numbers"
)


def _no_arguments() -> list[Any]:
    return []


@dataclass(kw_only=True)
class KernelDescriptor:
    """A kernel on some cores."""

    SourceType = SourceType

    kernel_source: str
    source_type: SourceType = SourceType.FILE_PATH
    core_ranges: Cores
    compile_time_args: Sequence[int] = ()
    named_compile_time_args: Sequence[tuple[str, int]] = ()
    defines: Sequence[tuple[str, str]] = ()
    runtime_args: Any = field(default_factory=_no_arguments)
    common_runtime_args: Sequence[int] = ()
    opt_level: Any = None
    include_folders: Sequence[str | Path] = ()
    """Where headers are, besides the folder of the kernel and below `TT_METAL_HOME`."""
    config: Config


@dataclass(frozen=True)
class TileDescriptor:
    """Height and width of the tiles of a circular buffer."""

    height: int = 32
    width: int = 32
    transpose: bool = False


@dataclass(kw_only=True)
class CBFormatDescriptor:
    """A circular buffer: its index, the format of its numbers, and the bytes of a page."""

    buffer_index: int
    data_format: DataType
    page_size: int
    tile: TileDescriptor | Tile | None = None


@dataclass(kw_only=True)
class CBDescriptor:
    """Circular buffers that share bytes of L1 on some cores, perhaps those of a tensor."""

    total_size: int
    core_ranges: Cores
    format_descriptors: Sequence[CBFormatDescriptor]
    tensor: Tensor | None = None
    """A sharded tensor whose shards the circular buffer is."""


def cb_descriptor_from_sharded_tensor(cb_index: int, tensor: Tensor) -> CBDescriptor:
    """The circular buffer that is the shards of a tensor in L1; RuntimeError for other tensors."""
    shards = tensor.memory_config().shard_spec
    if shards is None:
        raise UsageError("cb_descriptor_from_sharded_tensor takes a sharded tensor")
    spec = tensor.spec
    pages = shards.shape[0] * shards.shape[1] // (spec.page_shape[0] * spec.page_shape[1])
    return CBDescriptor(
        total_size=pages * spec.page_bytes,
        core_ranges=shards.grid,
        format_descriptors=[
            CBFormatDescriptor(
                buffer_index=cb_index, data_format=tensor.dtype, page_size=spec.page_bytes
            )
        ],
        tensor=tensor,
    )


@dataclass(kw_only=True)
class SemaphoreDescriptor:
    """A semaphore on some cores, and its value when the program starts."""

    id: int = 0
    core_type: CoreType = CoreType.WORKER
    core_ranges: Cores
    initial_value: int = 0


def _no_kernels() -> list[KernelDescriptor]:
    return []


def _no_semaphores() -> list[SemaphoreDescriptor]:
    return []


def _no_circular_buffers() -> list[CBDescriptor]:
    return []


@dataclass
class ProgramDescriptor:
    """A program: what runs at once on a device."""

    kernels: list[KernelDescriptor] = field(default_factory=_no_kernels)
    semaphores: list[SemaphoreDescriptor] = field(default_factory=_no_semaphores)
    cbs: list[CBDescriptor] = field(default_factory=_no_circular_buffers)
    custom_program_hash: int | None = None


class AccessorWord(int):
    """A compile-time argument of a tensor's accessor: other libraries have other ones for it."""

    tensor: Tensor
    is_first: bool

    @classmethod
    def of(cls, word: int, tensor: Tensor, is_first: bool) -> AccessorWord:
        """The word, which is the tensor's first or another."""
        made = cls(word)
        made.tensor, made.is_first = tensor, is_first
        return made


class MeshProgramDescriptor:
    """Programs of the devices of a mesh, by ranges of them that do not overlap."""

    def __init__(
        self, mesh_programs: Mapping[MeshCoordinateRange, ProgramDescriptor] | None = None
    ) -> None:
        """Without programs, or with some; `descriptor[devices] = program` adds one."""
        self._programs: dict[MeshCoordinateRange, ProgramDescriptor] = {}
        for devices, program in (mesh_programs or {}).items():
            self[devices] = program

    def __setitem__(self, devices: MeshCoordinateRange, program: ProgramDescriptor) -> None:
        """Give devices a program; RuntimeError for devices that have one."""
        if not isinstance(cast("object", devices), MeshCoordinateRange):
            raise ArgumentTypeError(
                "devices are a ttnn.MeshCoordinateRange, such as "
                f"ttnn.MeshCoordinateRange(mesh_device.shape), not {devices!r}"
            )
        if not isinstance(cast("object", program), ProgramDescriptor):
            raise ArgumentTypeError(f"a program is a ttnn.ProgramDescriptor, not {program!r}")
        for known in self._programs:
            twice = next(
                (place for place in devices if known != devices and place in [*known]), None
            )
            if twice is not None:
                raise UsageError(f"{twice} has a program already, that of {known}")
        self._programs[devices] = program

    def __getitem__(self, devices: MeshCoordinateRange) -> ProgramDescriptor:
        """The program of devices; KeyError if they were given none together."""
        return self._programs[devices]

    def __len__(self) -> int:
        """How many programs there are."""
        return len(self._programs)

    def __iter__(self) -> Iterator[MeshCoordinateRange]:
        """The devices of each program."""
        return iter(self._programs)

    def program_at(self, place: MeshCoordinate) -> ProgramDescriptor | None:
        """The program of one device; None if it has none."""
        found = (program for devices, program in self._programs.items() if place in [*devices])
        return next(found, None)


class TensorAccessorArgs:
    """What a kernel's `TensorAccessorArgs` reads of a tensor from its arguments."""

    def __init__(self, tensor: Tensor) -> None:
        """The layout of a tensor on a device, or of its parts on the devices of a mesh."""
        words = accessor_words(tensor.parts[0].device_storage().buffer.accessor_args())
        self._words = [
            AccessorWord.of(word, tensor, not number) for number, word in enumerate(words)
        ]

    def get_compile_time_args(self) -> list[int]:
        """The compile-time arguments."""
        return [*self._words]

    def get_common_runtime_args(self) -> list[int]:
        """None: everything is known when the kernel is compiled."""
        return []
