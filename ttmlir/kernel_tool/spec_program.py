"""A specification as a program on a simulated device: buffers, circular buffers, kernels."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import cast

from ttmlir.files import path_below
from ttmlir.kernel_tool.buffer_data import (
    TensorFormat,
    read_format,
    read_tensor_format,
    read_values,
)
from ttmlir.kernel_tool.kernel_files import KernelRole, find_role, read_kernel
from ttmlir.kernel_tool.spec_text import SpecText, Table
from ttmlir.layout.enums import MathFidelity
from ttmlir.layout.system.boards import BOARD_NAMES
from ttmlir.limits import MAX_CORES, MAX_GRID_EXTENT
from ttmlir.metalium import (
    Buffer,
    BufferType,
    CircularBufferConfig,
    ComputeConfig,
    CoreRange,
    CoreRangeSet,
    CreateBuffer,
    CreateCircularBuffer,
    CreateDevice,
    CreateKernel,
    CreateKernelFromString,
    CreateProgram,
    CreateSemaphore,
    DataMovementConfig,
    Device,
    EnqueueWriteBuffer,
    InterleavedBufferConfig,
    MetaliumError,
    Program,
    ReaderDataMovementConfig,
    SetCommonRuntimeArgs,
    SetRuntimeArgs,
    TensorAccessorArgs,
    WriterDataMovementConfig,
    tile_size,
)
from ttmlir.sim.execution.program import Kernel
from ttmlir.sim.findings import LENIENCIES
from ttmlir.sim.options import Numerics

_SPEC = (
    *("board", "numerics", "leniencies", "max_findings", "cycle_limit", "include"),
    *("buffers", "circular_buffers", "semaphores", "kernels"),
)
_BUFFER = (
    *("shape", "layout", "pages", "page_size", "format", "memory"),
    *("data", "expected", "pcc", "atol", "rtol"),
)
_CIRCULAR_BUFFER = ("index", "pages", "page_size", "format", "cores")
_SEMAPHORE = ("initial", "cores")
_KERNEL = (
    *("file", "text", "role", "cores", "defines", "args", "common_args", "core_args"),
    *("compile_args", "named_compile_args", "math_fidelity", "fp32_dest_acc_en"),
    *("dst_full_sync_en", "math_approx_mode"),
)
_COMPUTE_ONLY = ("math_fidelity", "fp32_dest_acc_en", "dst_full_sync_en", "math_approx_mode")
_WORD = 1 << 32
_FIDELITIES = {"LoFi": 0, "HiFi2": 2, "HiFi3": 3, "HiFi4": 4}
_ALL_ROLES = [each.word for each in KernelRole]


@dataclass(frozen=True, kw_only=True)
class SpecBuffer:
    """A buffer of a specification."""

    name: str
    table: Table
    tensor: TensorFormat
    buffer: Buffer


@dataclass(kw_only=True)
class SpecProgram:
    """A program that is ready to run."""

    device: Device
    program: Program
    buffers: dict[str, SpecBuffer] = field(default_factory=dict[str, SpecBuffer])
    semaphores: dict[str, int] = field(default_factory=dict[str, int])


def build_program(
    spec: SpecText,
    *,
    include_folders: Sequence[str] = (),
    sanitize: bool = True,
    print_line: Callable[[str], None] | None = None,
) -> SpecProgram:
    """The program of a specification, its buffers filled; KernelToolError for what is wrong."""
    root = spec.root
    root.check_keys(_SPEC, "a specification")
    leniencies = root.take_strings("leniencies")
    for each in leniencies:
        if each not in LENIENCIES:
            raise root.error(f"'leniencies' may have {', '.join(LENIENCIES)}", "leniencies")
    device = CreateDevice(
        0,
        board=root.take_choice("board", BOARD_NAMES, "n150"),
        numerics=cast("Numerics", root.take_choice("numerics", ("device", "exact"), "device")),
        sanitize=sanitize,
        cycle_limit=root.take_integer("cycle_limit", 2_000_000_000, 1, 1 << 62),
        leniencies=frozenset(leniencies),
        max_findings=root.take_integer("max_findings", 1, 1, 1000),
        print_line=print_line,
    )
    made = SpecProgram(device=device, program=CreateProgram())
    for name, table in _named_tables(root, "buffers"):
        _add_buffer(made, name, table)
    for table in root.take_tables("circular_buffers"):
        _add_circular_buffer(made, table)
    for name, table in _named_tables(root, "semaphores"):
        table.check_keys(_SEMAPHORE, "a semaphore")
        if name in made.buffers:
            raise table.error(f"a buffer has the name '{name}', too; arguments could mean either")
        initial = table.take_integer("initial", 0, 0, _WORD - 1)
        with _blaming(table):
            made.semaphores[name] = CreateSemaphore(made.program, _read_cores(table), initial)
    folders = [
        *include_folders,
        *(_path(root, "include", each) for each in root.take_strings("include")),
    ]
    kernels = root.take_tables("kernels")
    if not kernels:
        raise root.error("a specification has at least one kernel: write [[kernels]]")
    for table in kernels:
        _add_kernel(made, table, folders)
    return made


def _named_tables(root: Table, key: str) -> list[tuple[str, Table]]:
    tables = root.take_table(key)
    return [(name, tables.take_table(name)) for name in tables.values]


@contextmanager
def _blaming(table: Table, *keys: str) -> Generator[None]:
    """Say where in the specification it stands what the host API refuses."""
    try:
        yield
    except MetaliumError as error:
        raise table.error(str(error), *keys) from None


def _path(table: Table, key: str, name: str) -> str:
    try:
        return path_below(table.spec.folder, name)
    except OSError as error:
        shown = name if name.isprintable() else "..."
        raise table.error(f"{shown}: {error.strerror}", key) from None


def _add_buffer(made: SpecProgram, name: str, table: Table) -> None:
    table.check_keys(_BUFFER, "a buffer")
    tensor = read_tensor_format(table)
    memory = BufferType[table.take_choice("memory", ("DRAM", "L1"), "DRAM")]
    with _blaming(table):
        buffer = CreateBuffer(
            InterleavedBufferConfig(
                device=made.device,
                size=tensor.size,
                page_size=tensor.page_size,
                buffer_type=memory,
            )
        )
    made.buffers[name] = SpecBuffer(name=name, table=table, tensor=tensor, buffer=buffer)
    if table.has("data"):
        values = read_values(table, "data", tensor)
        with _blaming(table, "data"):
            EnqueueWriteBuffer(made.device.command_queue(), buffer, tensor.encode(values))


def _add_circular_buffer(made: SpecProgram, table: Table) -> None:
    table.check_keys(_CIRCULAR_BUFFER, "a circular buffer")
    if not table.has("index"):
        raise table.error("a circular buffer has an 'index', from 0 to 31")
    index = table.take_integer("index", 0, 0, 31)
    data_format = read_format(table)
    page_size = table.take_integer("page_size", tile_size(data_format), 1, 1 << 24)
    pages = table.take_integer("pages", 2, 1, 1 << 24)
    config = CircularBufferConfig(pages * page_size, {index: data_format})
    with _blaming(table):
        CreateCircularBuffer(
            made.program, _read_cores(table), config.set_page_size(index, page_size)
        )


def _read_cores(table: Table) -> CoreRangeSet:
    """The cores of a part: `[[x, y], ...]` or `["x,y", "x,y-x,y"]`; (0, 0) if there are none."""
    if not table.has("cores"):
        return CoreRangeSet([CoreRange((0, 0))])
    ranges = list[CoreRange]()
    with _blaming(table, "cores"):
        for each in table.take_strings("cores"):
            corners = [corner.split(",") for corner in each.split("-")]
            are_pairs = all(len(corner) == 2 for corner in corners)
            are_numbers = all(number.isdecimal() for corner in corners for number in corner)
            if not (are_pairs and are_numbers) or len(corners) > 2 or len(each) > 64:
                raise table.error(
                    'cores are "x,y", or "x,y-x,y" for a rectangle with its last corner', "cores"
                )
            places = [(int(x), int(y)) for x, y in corners]
            if max(max(each) for each in places) >= MAX_GRID_EXTENT:
                raise table.error(f"no board has a core beyond {MAX_GRID_EXTENT - 1}", "cores")
            ranges.append(CoreRange(places[0], places[-1]))
        if not 0 < sum(each.size() for each in ranges) <= MAX_CORES:
            raise table.error(f"'cores' names 1 to {MAX_CORES} cores", "cores")
        return CoreRangeSet(ranges)


def _add_kernel(made: SpecProgram, table: Table, folders: Sequence[str]) -> None:
    table.check_keys(_KERNEL, "a kernel")
    if table.has("file") == table.has("text"):
        raise table.error("a kernel has either a 'file' or its 'text'")
    text, path = table.take_string("text"), ""
    if table.has("file"):
        path = _path(table, "file", table.take_string("file"))
        if not os.path.isfile(path):
            raise table.error(f"there is no file {table.take_string('file')}", "file")
        text = read_kernel(path)
    word = table.take_choice("role", ("auto", *_ALL_ROLES), "auto")
    role = find_role(text, path) if word == "auto" else KernelRole[word.upper()]
    config = _read_config(made, table, role)
    cores = _read_cores(table)
    with _blaming(table):
        if path:
            kernel = CreateKernel(made.program, path, cores, config, include_folders=folders)
        else:
            kernel = CreateKernelFromString(
                made.program, text, cores, config, include_folders=folders
            )
    _set_arguments(made, table, kernel)


def _read_config(
    made: SpecProgram, table: Table, role: KernelRole
) -> DataMovementConfig | ComputeConfig:
    defines_table = table.take_table("defines")
    defines = {name: defines_table.take_string(name) for name in defines_table.values}
    given = table.take_table("named_compile_args")
    named = {name: given.take_integer(name, 0, -(_WORD >> 1), _WORD - 1) for name in given.values}
    words = _read_words(made, table, "compile_args")
    if role is KernelRole.READER or role is KernelRole.WRITER:
        for key in _COMPUTE_ONLY:
            if table.has(key):
                raise table.error(f"'{key}' is for compute kernels; this is a {role.word}", key)
        if role is KernelRole.READER:
            return ReaderDataMovementConfig(words, defines, named)
        return WriterDataMovementConfig(words, defines, named)
    fidelity = table.take_choice("math_fidelity", _FIDELITIES, "HiFi4")
    return ComputeConfig(
        math_fidelity=MathFidelity[fidelity.upper()],
        fp32_dest_acc_en=table.take_bool("fp32_dest_acc_en", False),
        dst_full_sync_en=table.take_bool("dst_full_sync_en", False),
        math_approx_mode=table.take_bool("math_approx_mode", False),
        compile_args=words,
        defines=defines,
        named_compile_args=named,
    )


def _set_arguments(made: SpecProgram, table: Table, kernel: Kernel) -> None:
    with _blaming(table, "common_args"):
        SetCommonRuntimeArgs(made.program, kernel, _read_words(made, table, "common_args"))
    if table.has("args"):
        words = _read_words(made, table, "args")
        with _blaming(table, "args"):
            SetRuntimeArgs(made.program, kernel, _read_cores(table), words)
    of_cores = table.take_table("core_args")
    for key in of_cores.values:
        place = key.split(",")
        if len(place) != 2 or not all(each.isdecimal() and len(each) < 5 for each in place):
            raise of_cores.error("keys of 'core_args' are cores, such as \"0,1\"", key)
        words = _read_words(made, of_cores, key)
        with _blaming(of_cores, key):
            SetRuntimeArgs(made.program, kernel, (int(place[0]), int(place[1])), words)


def _read_words(made: SpecProgram, table: Table, key: str) -> list[int]:
    """Arguments: integers, names of buffers and semaphores, layouts and bits of float32."""
    words = list[int]()
    for each in table.take_list(key):
        match each:
            case int() if not isinstance(each, bool) and -(_WORD >> 1) <= each < _WORD:
                words.append(each)
            case str() if each in made.buffers:
                words.append(made.buffers[each].buffer.address())
            case str() if each in made.semaphores:
                words.append(made.semaphores[each])
            case dict() if taken := _read_made_words(made, cast("dict[str, object]", each)):
                words += taken
            case _:
                names = ", ".join((*made.buffers, *made.semaphores)) or "none"
                raise table.error(
                    f"'{key}' is an array of integers of 32 bits, of names of buffers (for their "
                    f'addresses) and semaphores, and of {{ layout = "buffer" }} and '
                    f"{{ float32 = 1.5 }}; known names: {names}",
                    key,
                )
    return words


def _read_made_words(made: SpecProgram, table: dict[str, object]) -> list[int]:
    """Arguments that are made of something else; empty for a table that means nothing."""
    match list(table.items()):
        case [("layout", str(name))] if name in made.buffers:
            return TensorAccessorArgs(made.buffers[name].buffer).get_compile_time_args()
        case [("float32", bool())]:
            return []
        case [("float32", int() | float() as number)] if abs(number) < 1e38:
            return [int.from_bytes(struct.pack("<f", number), "little")]
        case _:
            return []
