"""A specification as a program on a simulated device: buffers, circular buffers, kernels."""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import cast

from ttmlir.files import path_below
from ttmlir.kernel_tool.buffer_data import (
    TensorFormat,
    read_formats,
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
    ShardedBufferConfig,
    ShardOrientation,
    ShardSpecBuffer,
    TensorAccessorArgs,
    TensorMemoryLayout,
    WriterDataMovementConfig,
    tile_size,
)
from ttmlir.metalium.device import check_cores
from ttmlir.metalium.host_api import create_named_kernel
from ttmlir.sim.execution.program import Kernel
from ttmlir.sim.findings import LENIENCIES
from ttmlir.sim.kernels.build import BindingNames, TensorNames
from ttmlir.sim.options import Numerics

_SPEC = (
    *("board", "numerics", "leniencies", "max_findings", "cycle_limit", "include"),
    *("buffers", "circular_buffers", "semaphores", "kernels"),
)
_BUFFER = (
    *("shape", "layout", "pages", "page_size", "format", "memory", "shards"),
    *("data", "expected", "pcc", "atol", "rtol"),
)
_SHARDS = ("shape", "layout", "orientation", "cores")
_CIRCULAR_BUFFER = ("name", "index", "pages", "page_size", "format", "cores", "buffer")
_SEMAPHORE = ("initial", "cores")
_KERNEL = (
    *("file", "text", "name", "role", "cores", "defines", "args", "common_args", "core_args"),
    *("compile_args", "named_compile_args", "constants", "tensors"),
    *("math_fidelity", "fp32_dest_acc_en"),
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
    circular_buffers: dict[str, int] = field(default_factory=dict[str, int])
    """The indices of those that have names."""


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
    is_sharded = table.has("shards")
    word = table.take_choice("memory", ("DRAM", "L1"), "L1" if is_sharded else "DRAM")
    with _blaming(table):
        if is_sharded:
            if word != "L1":
                raise table.error("shards are in L1", "memory")
            buffer = _create_sharded(made, table.take_table("shards"), tensor)
        else:
            buffer = CreateBuffer(
                InterleavedBufferConfig(
                    device=made.device,
                    size=tensor.size,
                    page_size=tensor.page_size,
                    buffer_type=BufferType[word],
                )
            )
    made.buffers[name] = SpecBuffer(name=name, table=table, tensor=tensor, buffer=buffer)
    if table.has("data"):
        values = read_values(table, "data", tensor)
        with _blaming(table, "data"):
            EnqueueWriteBuffer(made.device.command_queue(), buffer, tensor.encode(values))


def _create_sharded(made: SpecProgram, table: Table, tensor: TensorFormat) -> Buffer:
    """A buffer in the L1 of cores, each of which has a shard."""
    table.check_keys(_SHARDS, "'shards'")
    layout = table.take_choice("layout", ("height", "width", "block"), "height")
    orientation = table.take_choice("orientation", ("row_major", "col_major"), "row_major")
    extents = table.take_integers("shape", 1, 1 << 32)
    if len(extents) != 2:
        raise table.error("'shape' of shards is [rows, columns], in numbers", "shape")
    rows, columns = math.prod(tensor.shape[:-1]), tensor.shape[-1]
    page = (32, 32) if tensor.is_tiled else (1, columns)
    if any(extent % of for extent, of in zip(extents, page, strict=True)):
        raise table.error(
            "shards are made of whole pages: tiles of 32x32, or with row_major whole rows", "shape"
        )
    with _blaming(table):
        return CreateBuffer(
            ShardedBufferConfig(
                device=made.device,
                size=tensor.size,
                page_size=tensor.page_size,
                buffer_layout=TensorMemoryLayout[f"{layout.upper()}_SHARDED"],
                shard_parameters=ShardSpecBuffer(
                    _read_cores(table),
                    (extents[0], extents[1]),
                    ShardOrientation[orientation.upper()],
                    page,
                    (rows // page[0], columns // page[1]),
                ),
            )
        )


def _add_circular_buffer(made: SpecProgram, table: Table) -> None:
    table.check_keys(_CIRCULAR_BUFFER, "a circular buffer")
    if not table.has("index"):
        raise table.error("a circular buffer has an 'index', from 0 to 31")
    indices = table.take_integers("index", 0, 31)
    if not indices or len({*indices}) < len(indices):
        raise table.error("'index' is an integer, or an array of different ones", "index")
    formats = read_formats(table, len(indices))
    if table.has("page_size"):
        page_sizes = table.take_integers("page_size", 1, 1 << 24)
        page_sizes = page_sizes * len(indices) if len(page_sizes) == 1 else page_sizes
    else:
        page_sizes = [tile_size(each) for each in formats]
    if len(page_sizes) != len(indices):
        raise table.error("'page_size' is one for all indices, or one for each", "page_size")
    pages = table.take_integer("pages", 2, 1, 1 << 24)
    total = pages * page_sizes[0]
    config = CircularBufferConfig(total, dict(zip(indices, formats, strict=True)))
    for index, page_size in zip(indices, page_sizes, strict=True):
        config.set_page_size(index, page_size)
    if table.has("buffer"):
        buffer = _find_buffer(made, table)
        if not table.has("pages"):
            config.set_total_size(buffer.simulated.bank_size)
        config.set_globally_allocated_address(buffer)
    with _blaming(table):
        CreateCircularBuffer(made.program, _read_cores(table), config)
    if table.has("name"):
        name = _read_name(table, "name")
        if name in made.circular_buffers:
            raise table.error(f"another circular buffer has the name '{name}'", "name")
        made.circular_buffers[name] = indices[0]


def _find_buffer(made: SpecProgram, table: Table) -> Buffer:
    """The buffer that a circular buffer lies on."""
    name = table.take_string("buffer")
    if name not in made.buffers:
        known = ", ".join(made.buffers) or "none"
        raise table.error(f"there is no buffer '{name}'; known are {known}", "buffer")
    buffer = made.buffers[name].buffer
    if not buffer.is_l1():
        raise table.error(f"buffer '{name}' is in DRAM; circular buffers are in L1", "buffer")
    return buffer


def _read_name(table: Table, key: str) -> str:
    """A name that kernels use."""
    name = table.take_string(key)
    if not (name.isidentifier() and name.isascii()):
        raise table.error(f"'{key}' is a name as in C++", key)
    return name


def _read_cores(table: Table) -> CoreRangeSet:
    """The cores of a part: `["x,y", "x,y-x,y"]`; (0, 0) if there are none."""
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
        cores = CoreRangeSet(ranges)
        check_cores(cores)
        return cores


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
    words = _read_words(made, table, "compile_args")
    tensors = _read_tensors(made, table, words)
    config = _read_config(table, role, words)
    cores = _read_cores(table)
    number = len(made.program.kernels)
    name = _read_name(table, "name") if table.has("name") else f"kernel_{number}"
    with _blaming(table):
        if path:
            kernel = CreateKernel(made.program, path, cores, config, include_folders=folders)
        else:
            kernel = create_named_kernel(made.program, name, text, cores, config, folders)
    _set_arguments(made, table, kernel, tensors)


def _read_tensors(made: SpecProgram, table: Table, words: list[int]) -> dict[str, tuple[int, int]]:
    """Names of tensors with the place of the layout and the address; layouts join `words`."""
    found: dict[str, tuple[int, int]] = {}
    listed = table.take_table("tensors")
    for name in listed.values:
        buffer = listed.take_string(name)
        if buffer not in made.buffers:
            known = ", ".join(made.buffers) or "none"
            raise listed.error(f"there is no buffer '{buffer}'; known are {known}", name)
        found[name] = len(words), made.buffers[buffer].buffer.address()
        args = TensorAccessorArgs(made.buffers[buffer].buffer, aligned_page_size=True)
        args.append_to(words)
    return found


def _read_config(
    table: Table, role: KernelRole, words: list[int]
) -> DataMovementConfig | ComputeConfig:
    defines_table = table.take_table("defines")
    defines = {name: defines_table.take_string(name) for name in defines_table.values}
    given = table.take_table("named_compile_args")
    named = {name: given.take_integer(name, 0, -(_WORD >> 1), _WORD - 1) for name in given.values}
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


def _set_arguments(
    made: SpecProgram, table: Table, kernel: Kernel, tensors: Mapping[str, tuple[int, int]]
) -> None:
    """The run-time arguments of a kernel, and what the names in its text stand for."""
    common, common_names = _read_arguments(made, table, "common_args", ())
    with _blaming(table, "common_args"):
        addresses = [address for _, address in tensors.values()]
        SetCommonRuntimeArgs(made.program, kernel, [*common, *addresses])
    names: tuple[str, ...] = ()
    if table.has("args"):
        words, names = _read_arguments(made, table, "args", ())
        with _blaming(table, "args"):
            SetRuntimeArgs(made.program, kernel, _read_cores(table), words)
    of_cores = table.take_table("core_args")
    for key in of_cores.values:
        place = key.split(",")
        if len(place) != 2 or not all(each.isdecimal() and len(each) < 5 for each in place):
            raise of_cores.error("keys of 'core_args' are cores, such as \"0,1\"", key)
        words, names = _read_arguments(made, of_cores, key, names)
        with _blaming(of_cores, key):
            SetRuntimeArgs(made.program, kernel, (int(place[0]), int(place[1])), words)
    constants = table.take_table("constants")
    kernel.names = BindingNames(
        arguments=names,
        common_arguments=common_names,
        constants=tuple(
            (name, constants.take_integer(name, 0, 0, _WORD - 1)) for name in constants.values
        ),
        circular_buffers=tuple(made.circular_buffers.items()),
        semaphores=tuple(made.semaphores.items()),
        tensors=tuple(
            (name, TensorNames(layout=layout, address=len(common) + number))
            for number, (name, (layout, _)) in enumerate(tensors.items())
        ),
    )


def _read_arguments(
    made: SpecProgram, table: Table, key: str, order: tuple[str, ...]
) -> tuple[list[int], tuple[str, ...]]:
    """Arguments, and their names if they come as a table; `order` is that of names so far."""
    if not isinstance(table.values.get(key), dict):
        return _read_words(made, table, key), order
    named = table.take_table(key)
    names = order or tuple(named.values)
    if {*names} != {*named.values}:
        raise table.error(f"the arguments of all cores have the names {', '.join(names)}", key)
    return [word for name in names for word in _read_word(made, named, name)], names


def _read_word(made: SpecProgram, table: Table, name: str) -> list[int]:
    """The one word of a named argument."""
    words = _take_words(made, table.values[name])
    if len(words) != 1:
        raise table.error(_describe_words(made, name), name)
    return words


def _read_words(made: SpecProgram, table: Table, key: str) -> list[int]:
    """Arguments: integers, names of buffers and semaphores, layouts and bits of float32."""
    words = list[int]()
    for each in table.take_list(key):
        taken = _take_words(made, each)
        if not taken:
            raise table.error(_describe_words(made, key), key)
        words += taken
    return words


def _describe_words(made: SpecProgram, key: str) -> str:
    names = ", ".join((*made.buffers, *made.semaphores)) or "none"
    return (
        f"'{key}' is an array of integers of 32 bits, of names of buffers (for their "
        f'addresses) and semaphores, and of {{ layout = "buffer" }} and '
        f"{{ float32 = 1.5 }}; known names: {names}"
    )


def _take_words(made: SpecProgram, value: object) -> list[int]:
    """The words of an argument; none for what is no argument."""
    match value:
        case int() if not isinstance(value, bool) and -(_WORD >> 1) <= value < _WORD:
            return [value]
        case str() if value in made.buffers:
            return [made.buffers[value].buffer.address()]
        case str() if value in made.semaphores:
            return [made.semaphores[value]]
        case dict():
            return _read_made_words(made, cast("dict[str, object]", value))
        case _:
            return []


def _read_made_words(made: SpecProgram, table: dict[str, object]) -> list[int]:
    """Arguments that are made of something else; empty for a table that means nothing."""
    match list(table.items()):
        case [("layout", str(name))] if name in made.buffers:
            return TensorAccessorArgs(made.buffers[name].buffer).get_compile_time_args()
        case [("layout", str(name)), ("page_size", bool(given))] if name in made.buffers:
            args = TensorAccessorArgs(made.buffers[name].buffer, aligned_page_size=given)
            return args.get_compile_time_args()
        case [("float32", bool())]:
            return []
        case [("float32", int() | float() as number)] if abs(number) < 1e38:
            return [int.from_bytes(struct.pack("<f", number), "little")]
        case _:
            return []
