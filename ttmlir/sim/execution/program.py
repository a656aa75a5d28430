"""Programs: kernels on cores, with their circular buffers and semaphores.

Source of what may go together: tt-metal, tt_metal/impl/program/program.cpp and
tt_metal/api/tt-metalium/host_api.hpp.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ttmlir.cpp.errors import map_of
from ttmlir.cpp.include_path import IncludePath, find_built_in_kernel
from ttmlir.cpp.preprocess import MAX_INCLUDE_DEPTH, MAX_INCLUDED_LENGTH, MAX_INCLUDES
from ttmlir.cpp.tokens import SourceText
from ttmlir.files import read_text
from ttmlir.layout.enums import DataType
from ttmlir.optable.kernel import Role
from ttmlir.optable.kernel.releases import Release
from ttmlir.sim.calls.compute_api import ComputeSettings
from ttmlir.sim.errors import SimError
from ttmlir.sim.kernels.build import BindingNames
from ttmlir.sim.machine.address_generators import Buffer
from ttmlir.sim.machine.device import SEMAPHORES
from ttmlir.sim.machine.memory import COUNT
from ttmlir.sim.machine.tile_shapes import TileShape

# --- Inlined headers ------------------------------------------------------------------------------
# Kernels with the text of their headers in them, for files that others run.

_PARTS = re.compile(
    r"""/\*.*?\*/ | //[^\n]* | R"([^()\\\s]{0,16})\(.*?\)\1" | '(?:\\.|[^'\\\n])*'
    | ^[ \t]*\#[ \t]*include[ \t]*("[^"\n]+"|<[^<>\n]+>)[^\n]* | "(?:\\.|[^"\\\n])*" """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
"""Comments and texts, which are passed over, and includes."""
_ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once\b[^\n]*", re.MULTILINE)


def inline_headers(text: str, file: str, include_path: IncludePath) -> str:
    """The text of a kernel with that of every header that is found along the path.

    Headers that are built in stay includes, and so do those that are not found. SimError for more
    text than a kernel may include.
    """
    return _Inliner(file, include_path).read(SourceText(text, file), ())


class _Inliner:
    """What was read for a kernel."""

    def __init__(self, file: str, include_path: IncludePath) -> None:
        self._file = file
        self._include_path = include_path
        self._guards: dict[str, str] = {}
        """Macros of the headers with `#pragma once`, by their identity."""
        self._count = 0
        self._length = 0

    def read(self, source: SourceText, stack: tuple[str, ...]) -> str:
        """A text with its headers; `stack` are those around it."""

        def replace(found: re.Match[str]) -> str:
            name = found[2]
            if name is None:
                return found[0]
            return self._header(found[0], name, source, stack)

        return _PARTS.sub(replace, source.text)

    def _header(self, line: str, name: str, source: SourceText, stack: tuple[str, ...]) -> str:
        """What stands for an include."""
        found = self._include_path.find(name[1:-1], is_quoted=name[0] == '"', includer=source)
        header = found.header
        if header is None or not header.path:
            return line
        if header.identity in stack:
            return ""  # Whatever keeps it from being read again does so here.
        self._count += 1
        self._length += len(header.text)
        if (
            self._count > MAX_INCLUDES
            or self._length > MAX_INCLUDED_LENGTH
            or len(stack) >= MAX_INCLUDE_DEPTH
        ):
            raise SimError(
                f"{self._file}: more than {MAX_INCLUDES} headers, {MAX_INCLUDED_LENGTH} characters "
                f"of them, or {MAX_INCLUDE_DEPTH} levels of headers in each other"
            )
        text = self.read(header, (*stack, header.identity))
        if not _ONCE.search(header.text):
            return f"// {name[1:-1]}\n{text}\n"
        guard = self._guards.setdefault(header.identity, f"TTMLIR_HEADER_{len(self._guards)}")
        text = _ONCE.sub("", text)
        return f"#ifndef {guard}  // {name[1:-1]}\n#define {guard}\n{text}\n#endif\n"


# --- Program --------------------------------------------------------------------------------------

Cores = tuple[tuple[int, int], ...]
"""Logical (x, y) of cores."""

COMPUTE_ROLES = (Role.UNPACK, Role.MATH, Role.PACK)
"""The roles of a compute kernel, each compiled from the same text."""


@dataclass(kw_only=True)
class Kernel:
    """One kernel on some cores."""

    name: str
    file: str
    """What messages name."""
    text: str
    cores: Cores
    role: Role
    """BRISC, NCRISC, or COMPUTE; on Ethernet cores the first two are their processors."""
    on_ethernet: bool = False
    """Whether its cores are those of Ethernet channels, at (0, channel)."""
    noc_index: int = 0
    compile_time_args: Sequence[int] = ()
    named_compile_time_args: Mapping[str, int] = field(default_factory=dict[str, int])
    defines: Mapping[str, str] = field(default_factory=dict[str, str])
    include_path: IncludePath = field(default_factory=IncludePath)
    """Where its headers are."""
    names: BindingNames = field(default_factory=BindingNames)
    """What `args::`, `dfb::`, `sem::` and `tensor::` stand for."""
    release: Release | None = None
    """The state of tt-metal whose meaning calls have; None: what its headers say."""
    compute: ComputeSettings = field(default_factory=ComputeSettings)
    """Of a compute kernel."""
    common_arguments: Sequence[int] = ()
    arguments: dict[tuple[int, int], Sequence[int]] = field(
        default_factory=dict[tuple[int, int], Sequence[int]]
    )
    """Run-time arguments by core."""

    def __repr__(self) -> str:
        """File or function, processor and cores."""
        count = len(self.cores)
        core = "Ethernet core" if self.on_ethernet else "core"
        return f"Kernel({self.label} on {self.role.name} of {count} {core}{'s' * (count != 1)})"

    @property
    def label(self) -> str:
        """The file, and the function where the kernel is one of several in it."""
        return f"'{self.name}' of {self.file}" if map_of(self.text) else self.file

    @property
    def roles(self) -> tuple[Role, ...]:
        """The processors of each core that run the kernel."""
        return COMPUTE_ROLES if self.role == Role.COMPUTE else (self.role,)

    @property
    def origin(self) -> tuple[int, int]:
        """The first core, from which relative coordinates count."""
        return min(x for x, _ in self.cores), min(y for _, y in self.cores)


@dataclass(frozen=True, kw_only=True)
class GlobalPages:
    """Ends of a global circular buffer on cores, by the index of the circular buffer."""

    config: int
    """The address of the configurations."""
    start: int
    page_sizes: Mapping[int, int]


@dataclass(kw_only=True)
class CircularBufferSpec:
    """Circular buffers that share bytes of L1 on some cores.

    `indices` gives page size and format by index. With a `buffer`, its pages on each core are the
    circular buffer, from `offset` on; they hold a tensor's numbers unless it `is_storage`, which
    nothing but the circular buffer uses. With `remote` the bytes are those of a global one.
    """

    cores: Cores
    total_size: int
    indices: dict[int, tuple[int, DataType]]
    buffer: Buffer | None = None
    offset: int = 0
    is_storage: bool = False
    tiles: Mapping[int, TileShape] = field(default_factory=dict[int, TileShape])
    """By index, of those that hold no whole tiles."""
    remote: GlobalPages | None = None

    def __repr__(self) -> str:
        """Indices, sizes and cores."""
        indices = ", ".join(map(str, self.indices))
        count = len(self.cores)
        cores = f"{count} core{'s' * (count != 1)}"
        return f"CircularBufferSpec({indices}: {self.total_size:,} bytes on {cores})"

    @property
    def all_indices(self) -> list[int]:
        """Those of the circular buffers, and of ends of a global one."""
        return [*self.indices, *(self.remote.page_sizes if self.remote is not None else ())]

    def __post_init__(self) -> None:
        """Refuse indices that do not exist, and pages that do not fill the circular buffer."""
        if not self.indices and self.remote is None:
            raise SimError("a circular buffer without an index; give at least one index a format")
        for index, (page_size, _) in self.indices.items():
            if not 0 <= index < COUNT:
                raise SimError(f"circular buffer {index} does not exist; they are numbered 0 to 31")
            if self.remote is not None and page_size > 0:
                continue
            if page_size < 1 or self.total_size < 1 or self.total_size % page_size:
                raise SimError(
                    f"circular buffer {index}: {self.total_size} bytes are not made of pages of "
                    f"{page_size}; the total size has to be a multiple of the page size"
                )
        for index, shape in self.tiles.items():
            if index in self.indices:
                shape.check(index, self.indices[index][1])


@dataclass(frozen=True, kw_only=True)
class SemaphoreSpec:
    """A semaphore on some cores, and its value when the program starts."""

    index: int
    cores: Cores
    initial: int = 0
    on_ethernet: bool = False


class Program:
    """What runs at once on a device; it can run any number of times."""

    def __init__(self) -> None:
        """A program that does nothing yet."""
        self.kernels: list[Kernel] = []
        self.circular_buffers: list[CircularBufferSpec] = []
        self.semaphores: list[SemaphoreSpec] = []

    def __repr__(self) -> str:
        """What it is made of, counted."""
        counts = {
            "kernels": len(self.kernels),
            "circular buffers": len(self.circular_buffers),
            "semaphores": len(self.semaphores),
            "cores": len(self.cores),
        }
        return f"Program({', '.join(f'{count} {name}' for name, count in counts.items())})"

    @property
    def cores(self) -> list[tuple[int, int]]:
        """The worker cores that run kernels, row by row."""
        kernels = [kernel for kernel in self.kernels if not kernel.on_ethernet]
        used = {core for kernel in kernels for core in kernel.cores}
        return sorted(used, key=lambda core: (core[1], core[0]))

    @property
    def configured_cores(self) -> list[tuple[int, int]]:
        """Those and the cores that only have circular buffers or semaphores."""
        parts = (*self.kernels, *self.semaphores)
        workers = [part.cores for part in parts if not part.on_ethernet]
        workers += [part.cores for part in self.circular_buffers]
        used = {core for cores in workers for core in cores}
        return sorted(used, key=lambda core: (core[1], core[0]))

    @property
    def ethernet_channels(self) -> list[int]:
        """The channels whose Ethernet cores have kernels or semaphores."""
        parts = (*self.kernels, *self.semaphores)
        return sorted({y for part in parts if part.on_ethernet for _, y in part.cores})

    def add_kernel(self, kernel: Kernel) -> Kernel:
        """Put a kernel on its cores; SimError where another one already has the processor."""
        if not kernel.cores:
            raise SimError(f"kernel {kernel.label} runs on no core; give it at least one")
        for other in self.kernels:
            shared = [core for core in kernel.cores if core in other.cores]
            if kernel.on_ethernet != other.on_ethernet:
                continue
            if shared and kernel.role & other.role:
                raise SimError(
                    f"kernels {other.label} and {kernel.label} both run on {kernel.role.name} of "
                    f"core {shared[0]}; a processor runs one kernel: use another processor or "
                    "other cores",
                    rule="kernel-overlap",
                )
            if shared and _same_network(kernel, other):
                raise SimError(
                    f"kernels {other.label} and {kernel.label} both use network {kernel.noc_index} "
                    f"on core {shared[0]}, whose counters only serve one processor; give one of "
                    f"them network {1 - kernel.noc_index}",
                    rule="kernel-noc",
                )
        self.kernels.append(kernel)
        return kernel

    def add_circular_buffer(self, spec: CircularBufferSpec) -> CircularBufferSpec:
        """Create circular buffers; SimError for an index that a core already has."""
        for other in self.circular_buffers:
            shared = [core for core in spec.cores if core in other.cores]
            indices = [index for index in spec.all_indices if index in other.all_indices]
            if shared and indices:
                raise SimError(
                    f"circular buffer {indices[0]} was already created on core {shared[0]}",
                    rule="cb-overlap",
                )
        self.circular_buffers.append(spec)
        return spec

    def add_semaphore(
        self,
        cores: Cores,
        initial: int = 0,
        index: int | None = None,
        *,
        on_ethernet: bool = False,
    ) -> int:
        """Create a semaphore on cores; its index, the lowest that none of them has yet.

        SimError for an `index` that one of the cores already has.
        """
        used = {
            spec.index
            for spec in self.semaphores
            if spec.on_ethernet == on_ethernet and set(spec.cores) & set(cores)
        }
        if index is not None:
            if index in used:
                raise SimError(f"semaphore {index} was already created on one of the cores")
            self._add_semaphore(index, cores, initial, on_ethernet)
            return index
        free = [index for index in range(SEMAPHORES) if index not in used]
        if not free:
            raise SimError(
                f"no semaphore is left: a core has {SEMAPHORES}; use one for several purposes"
            )
        self._add_semaphore(free[0], cores, initial, on_ethernet)
        return free[0]

    def _add_semaphore(self, index: int, cores: Cores, initial: int, on_ethernet: bool) -> None:
        self.semaphores.append(
            SemaphoreSpec(index=index, cores=cores, initial=initial, on_ethernet=on_ethernet)
        )


def _same_network(kernel: Kernel, other: Kernel) -> bool:
    both_move = bool(kernel.role & Role.DATA) and bool(other.role & Role.DATA)
    return both_move and kernel.noc_index == other.noc_index


def find_kernel(path: str | Path, home: str) -> str | Path:
    """The path of a kernel: as it is given, or below the root of a tree of tt-metal.

    Of kernels that are a part of tt-metal it is that of the package's own text.
    """
    own = find_built_in_kernel(path)
    if own is not None:
        return own
    below = Path(home) / path
    return below if home and not Path(path).exists() and below.exists() else path


def find_headers(file: str, folders: tuple[str, ...], home: str) -> IncludePath:
    """Where headers are: beside a kernel's file, in folders, and in a tree of tt-metal."""
    return IncludePath(folders, home, file)


def read_kernel(path: str | Path) -> str:
    """The text of a kernel's file; SimError if it cannot be read."""
    try:
        return read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise SimError(f"cannot read kernel {path}: {reason}") from error
