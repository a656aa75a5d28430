"""A specification as a program on a simulated device: buffers, circular buffers, kernels."""

from __future__ import annotations

import difflib
import io
import math
import os
import re
import struct
import sys
import tomllib
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from ttmlir.files import NO_ARRAY, path_below, read_text
from ttmlir.kernel_tool.checking import KernelRole, KernelToolError, find_role, read_kernel
from ttmlir.layout.enums import MathFidelity
from ttmlir.layout.system import BOARD_NAMES
from ttmlir.limits import (
    DEFAULT_CYCLE_LIMIT,
    MAX_CORES,
    MAX_GRID_EXTENT,
    MAX_RANK,
    memory_advice,
    memory_limit,
)
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
from ttmlir.metalium.buffers import (
    ELEMENTS,
    pack_bfloat16,
    pack_tiles,
    unpack_bfloat16,
    unpack_tiles,
)
from ttmlir.metalium.device import check_cores
from ttmlir.metalium.enums import DataFormat
from ttmlir.metalium.enums import tile_size as enums_tile_size
from ttmlir.metalium.host_api import create_named_kernel
from ttmlir.sim.errors import LENIENCIES, Finding
from ttmlir.sim.execution.program import Kernel
from ttmlir.sim.kernels.build import BindingNames, TensorNames
from ttmlir.sim.options import Numerics

# --- Spec text ------------------------------------------------------------------------------------
# Specifications in TOML: typed access to their tables, and errors with file and line.

Path = tuple[str | int, ...]
"""Where something stands: keys, and positions in arrays of tables."""

MAX_LENGTH = 1 << 21
"""Most characters of a specification: TOML's reader takes a hundred times as many bytes."""
MAX_KEY_PARTS = 8
"""Most parts of a dotted key: TOML's reader keeps all beginnings of a key."""

_MAX_SHOWN = 200
"""Most characters of a line in a message."""
_PIECE = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*+"{0,3}'
    r"|'''(?:[^']|'(?!''))*+'{0,3}"
    r'|"(?:[^"\\\n]|\\.)*+"?'
    r"|'[^'\n]*+'?"
    r"|\#[^\n]*+"
    r"|[.=,\[\]{}\n]",
    re.DOTALL,
)
"""Texts and comments, also those without an end, dots, and what ends a key."""
_HEAD = re.compile(r"\s*\[(\[?)\s*([^\[\]#]+?)\s*\]")
_KEY = re.compile(r"""\s*("[^"]*"|'[^']*'|[\w.-]+)\s*=""")
_TEXT_MARK = re.compile(r"\"\"\"|'''")
_PLACE = re.compile(r" \(at line (\d+), column (\d+)\)$")
_Value = TypeVar("_Value")


class SpecText:
    """The text of a specification, and what it says."""

    def __init__(self, file: str) -> None:
        """Read a file; KernelToolError if it cannot be read or is no TOML."""
        self.file = file
        try:
            self.text = read_text(file)
        except OSError as error:
            raise KernelToolError(f"{file}: error: cannot be read: {error.strerror}") from error
        except UnicodeDecodeError:
            raise KernelToolError(f"{file}: error: this is no UTF-8 text") from None
        if len(self.text) > MAX_LENGTH:
            raise KernelToolError(
                f"{file}: error: this has more than {MAX_LENGTH} characters, the most that a "
                "specification has; kernels and numbers may stand in files of their own"
            )
        self._lines = self.text.split("\n")
        self._check_keys()
        try:
            self.root = Table(self, (), tomllib.loads(self.text))
        except tomllib.TOMLDecodeError as error:
            place = _PLACE.search(str(error))
            line, column = map(int, place.groups()) if place else (len(self._lines), 0)
            message = _PLACE.sub("", str(error)).partition("\n")[0]
            if file.endswith((".cpp", ".cc", ".h", ".hpp")):
                message = (
                    "what runs is a specification (.toml) that names this file and its buffers; "
                    f"to compile it alone: ttmlir-kernel check {file}"
                )
            raise self._error_at(line, column, f"this is no TOML: {message}") from error
        except ValueError:  # Python reads no integers of thousands of digits.
            raise KernelToolError(f"{file}: error: this is no TOML: a number is too long") from None
        except RecursionError:
            raise KernelToolError(f"{file}: error: its arrays are nested too deeply") from None
        self.folder = os.path.dirname(file)

    def _check_keys(self) -> None:
        """Refuse keys of too many parts."""
        dots = 0
        for piece in _PIECE.finditer(self.text):
            if piece[0] == ".":
                dots += 1
            elif piece[0] in "=,[]{}\n":
                dots = 0
            if dots >= MAX_KEY_PARTS:
                line = self.text.count("\n", 0, piece.start()) + 1
                column = piece.start() - self.text.rfind("\n", 0, piece.start())
                raise self._error_at(
                    line, column, f"a key has at most {MAX_KEY_PARTS} parts with dots between them"
                )

    def error(self, path: Path, message: str) -> KernelToolError:
        """The error about what stands at a path."""
        line, column = self._find(path)
        return self._error_at(line, column, message)

    def _error_at(self, line: int, column: int, message: str) -> KernelToolError:
        shown = self._lines[line - 1] if 0 < line <= len(self._lines) else ""
        is_shown = shown.isprintable() and column <= _MAX_SHOWN
        shown = shown[:_MAX_SHOWN] if is_shown else ""
        finding = Finding(
            message=message, file=self.file, line=line, column=column, source_line=shown
        )
        return KernelToolError(finding.text())

    def _find(self, path: Path) -> tuple[int, int]:
        """Line and column of a path, or of the nearest table around it; TOML's reader has none."""
        best, place = 0, (1, 0)
        table: Path = ()
        counts = dict[str, int]()
        inside = False
        for number, line in enumerate(self._lines, 1):
            marks = len(_TEXT_MARK.findall(line))
            was_inside, inside = inside, inside ^ bool(marks % 2)
            if was_inside:
                continue
            if head := _HEAD.match(line):
                name = head[2]
                table = tuple(each.strip().strip("\"'") for each in name.split("."))
                if head[1]:
                    counts[name] = counts.get(name, -1) + 1
                    table = (*table, counts[name])
                found, column = table, head.start(2) + 1
            elif key := _KEY.match(line):
                found = (*table, *(key[1].strip("\"'").split(".")))
                column = key.start(1) + 1
            else:
                continue
            if len(found) > best and path[: len(found)] == found:
                best, place = len(found), (number, column)
        return place


class Table:
    """A table of a specification; what it takes are its keys with their types."""

    def __init__(self, spec: SpecText, path: Path, values: dict[str, object]) -> None:
        """The values at a path."""
        self.spec = spec
        self.path = path
        self.values = values

    def error(self, message: str, *keys: str | int) -> KernelToolError:
        """An error about the table, or about one of its keys."""
        return self.spec.error((*self.path, *keys), message)

    def check_keys(self, known: Sequence[str], what: str) -> None:
        """Refuse keys that mean nothing."""
        for key in self.values:
            if key not in known:
                near = difflib.get_close_matches(key, known, 1)
                hint = f"; did you mean '{near[0]}'?" if near else ""
                shown = key if key.isprintable() and len(key) <= 64 else "..."
                message = f"{what} has no key '{shown}'; there are {', '.join(known)}{hint}"
                raise self.error(message, key)

    def has(self, key: str) -> bool:
        """Whether a key is there."""
        return key in self.values

    def take_string(self, key: str, default: str = "") -> str:
        """The string of a key."""
        return self._take(key, str, default, "a string")

    def take_bool(self, key: str, default: bool) -> bool:
        """The truth value of a key."""
        return self._take(key, bool, default, "true or false")

    def take_integer(self, key: str, default: int, low: int, high: int) -> int:
        """The integer of a key, in bounds that are both included."""
        value = self._take(key, int, default, "an integer")
        if isinstance(value, bool) or not low <= value <= high:
            raise self.error(f"'{key}' is an integer from {low} to {high}", key)
        return value

    def take_integers(self, key: str, low: int, high: int) -> list[int]:
        """The integers of an array, or the one integer that stands for it, in bounds."""
        value = self.values.get(key, [])
        listed = cast("list[object]", value) if isinstance(value, list) else [value]
        numbers = [each for each in listed if isinstance(each, int) and low <= each <= high]
        if len(numbers) < len(listed) or any(isinstance(each, bool) for each in numbers):
            raise self.error(
                f"'{key}' is an integer from {low} to {high}, or an array of them", key
            )
        return numbers

    def take_number(self, key: str, default: float) -> float:
        """The number of a key, which is not negative."""
        value = self._take(key, (int, float), default, "a number")
        if isinstance(value, bool) or not 0 <= value <= sys.float_info.max:
            raise self.error(f"'{key}' is a number from 0 on", key)
        return float(value)

    def take_choice(self, key: str, choices: Iterable[str], default: str) -> str:
        """One of several words."""
        value, known = self.take_string(key, default), list(choices)
        if value not in known:
            raise self.error(f"'{key}' is one of {', '.join(known)}", key)
        return value

    def take_list(self, key: str) -> list[object]:
        """The array of a key; empty if it is missing."""
        return self._take(key, list, [], "an array")

    def take_strings(self, key: str) -> list[str]:
        """The array of strings of a key; empty if it is missing."""
        values = self.take_list(key)
        if not all(isinstance(each, str) for each in values):
            raise self.error(f"'{key}' is an array of strings", key)
        return cast("list[str]", values)

    def take_table(self, key: str) -> Table:
        """The table of a key; empty if it is missing."""
        return Table(self.spec, (*self.path, key), self._take(key, dict, {}, "a table"))

    def take_tables(self, key: str) -> list[Table]:
        """The array of tables of a key; empty if it is missing."""
        tables = list[Table]()
        for index, each in enumerate(self.take_list(key)):
            if not isinstance(each, dict):
                raise self.error(f"'{key}' is an array of tables: write [[{key}]]", key)
            values = cast("dict[str, object]", each)
            tables.append(Table(self.spec, (*self.path, key, index), values))
        return tables

    def _take(
        self, key: str, type_: type[_Value] | tuple[type[_Value], ...], default: _Value, what: str
    ) -> _Value:
        value = self.values.get(key, default)
        if not isinstance(value, type_):
            raise self.error(f"'{key}' is {what}", key)
        return value


# --- Buffer data ----------------------------------------------------------------------------------
# The numbers of a buffer: where a specification takes them from, and what they are as bytes.

Array = NDArray[Any]

_TILE = 32
_WRITING = 40
"""Bytes for each number while it is made or read, checked and packed, as measured."""
_COMPARING = 112
"""Bytes for each number while it is compared with what is expected, as measured."""
_KEPT = 8
"""Bytes of each number that is expected, until the program has run."""
_MOST = float(np.finfo(np.float32).max)
_SOURCES = ("constant", "arange", "random")
_FORMATS = [each.name for each in DataFormat]


@dataclass(frozen=True, kw_only=True)
class TensorFormat:
    """How numbers of a shape lie in the pages of a buffer."""

    shape: tuple[int, ...]
    data_format: DataFormat
    is_tiled: bool
    page_size: int
    size: int

    @property
    def is_float(self) -> bool:
        """Whether the numbers are floating-point ones."""
        return not self.data_format.name.startswith("UInt")

    def encode(self, values: Array) -> bytes:
        """The bytes of numbers of the shape."""
        if self.is_tiled:
            return pack_tiles(values.reshape(-1, self.shape[-1]), self.data_format)
        if self.data_format == DataFormat.Float16_b:
            return pack_bfloat16(values).tobytes()
        return values.astype(ELEMENTS[self.data_format]).tobytes()

    def decode(self, data: bytes) -> Array:
        """The numbers of bytes, floating-point ones as float32."""
        if self.is_tiled:
            columns = self.shape[-1]
            rows = math.prod(self.shape) // columns
            return unpack_tiles(data, self.data_format, rows, columns).reshape(self.shape)
        if self.data_format == DataFormat.Float16_b:
            return unpack_bfloat16(np.frombuffer(data, np.uint16)).reshape(self.shape)
        values = np.frombuffer(data, ELEMENTS[self.data_format]).reshape(self.shape)
        return values.astype(np.float32) if self.is_float else values


def read_format(table: Table) -> DataFormat:
    """The format that a table names, bfloat16 by default."""
    return DataFormat[table.take_choice("format", _FORMATS, DataFormat.Float16_b.name)]


def read_formats(table: Table, count: int) -> list[DataFormat]:
    """The formats of so many things that share a table: one for all of them, or one for each."""
    if not isinstance(table.values.get("format"), list):
        return [read_format(table)] * count
    names = table.take_strings("format")
    if len(names) != count or not {*names} <= {*_FORMATS}:
        raise table.error(
            f"'format' is one of {', '.join(_FORMATS)}, or an array with one for each index",
            "format",
        )
    return [DataFormat[each] for each in names]


def read_tensor_format(table: Table) -> TensorFormat:
    """Shape and format of a buffer."""
    data_format = read_format(table)
    if table.has("pages") == table.has("shape"):
        raise table.error("a buffer has either 'shape', or 'pages' and 'page_size'")
    tiled = table.take_choice("layout", ("tile", "row_major"), "tile") == "tile"
    if not table.has("shape"):
        tiled = False
    if not tiled and data_format not in (*ELEMENTS, DataFormat.Float16_b):
        raise table.error(f"{data_format.name} is a format of tiles; give a 'shape' in tiles")
    element = 2 if data_format == DataFormat.Float16_b else 0
    element = element or (np.dtype(ELEMENTS[data_format]).itemsize if not tiled else 0)
    if not table.has("shape"):
        pages = table.take_integer("pages", 1, 1, 1 << 32)
        page_size = table.take_integer("page_size", 0, 1, 1 << 32)
        if page_size % element:
            message = f"a page of {page_size} bytes holds no whole numbers of {element} bytes"
            raise table.error(message, "page_size")
        shape = (pages, page_size // element)
        size = pages * page_size
    else:
        shape = _read_shape(table)
        if tiled and (len(shape) < 2 or shape[-1] % _TILE or shape[-2] % _TILE):
            raise table.error(
                "the last two extents of a buffer of tiles are multiples of 32; pad them, or write "
                'layout = "row_major"',
                "shape",
            )
        count = math.prod(shape)
        page_size = enums_tile_size(data_format) if tiled else shape[-1] * element
        size = count // (_TILE * _TILE) * page_size if tiled else count * element
    return TensorFormat(
        shape=shape, data_format=data_format, is_tiled=tiled, page_size=page_size, size=size
    )


def check_memory(buffers: Sequence[tuple[Table, TensorFormat]]) -> None:
    """Refuse buffers that need more than the memory limit with the numbers that fill them.

    Those that are expected are kept till the end; the others come and go one by one.
    """
    used = 0
    for table, tensor in buffers:
        count, is_expected = math.prod(tensor.shape), table.has("expected")
        used += tensor.size + (_KEPT * count if is_expected else 0)
        most = _COMPARING if is_expected else _WRITING if table.has("data") else 0
        if used + most * count > memory_limit():
            raise table.error(
                f"a buffer of {tensor.size} bytes, with the numbers that fill it or that it is "
                f"compared with, is too large: {memory_advice()}"
            )


def _read_shape(table: Table) -> tuple[int, ...]:
    shape = list[int]()
    for extent in table.take_list("shape"):
        if not isinstance(extent, int) or isinstance(extent, bool) or not 0 < extent < 1 << 32:
            raise table.error("'shape' is an array of integers from 1 to 4294967295", "shape")
        shape.append(extent)
    if not 0 < len(shape) <= MAX_RANK:
        raise table.error(f"'shape' has 1 to {MAX_RANK} extents", "shape")
    return tuple(shape)


def read_values(table: Table, key: str, tensor: TensorFormat) -> Array:
    """The numbers that a key gives: a file, a constant, a range or random ones."""
    given = table.values[key]
    if isinstance(given, str):
        values = _read_file(table, key, given)
        if values.dtype.kind not in "fiub":
            raise table.error(f"{given} holds no numbers but {values.dtype}", key)
        if values.size != math.prod(tensor.shape):
            raise table.error(
                f"{given} has {values.size} numbers of shape {list(values.shape)}; the buffer has "
                f"the shape {list(tensor.shape)}",
                key,
            )
        values = values.reshape(tensor.shape)
    else:
        values = _make_values(table.take_table(key), key, tensor)
    if not tensor.is_float:
        bits = 8 * np.dtype(ELEMENTS[tensor.data_format]).itemsize
        fits = (np.rint(values) == values) & (values >= 0) & (values < 2.0**bits)
        if not fits.all():
            raise table.error(f"'{key}' has numbers that no {tensor.data_format.name} has", key)
    elif (np.isfinite(values) & (np.abs(values) > np.float64(_MOST))).any():
        raise table.error(f"'{key}' has numbers that no float32 has", key)
    return values


def _read_file(table: Table, key: str, name: str) -> Array:
    """The array of a file below the folder of the specification."""
    try:
        path = path_below(table.spec.folder, name)
        if not os.path.isfile(path):
            raise table.error(f"there is no file {name}", key)
        if name.endswith(".npy"):
            # A mapping is never longer than the file, whatever its header says.
            return np.load(path, mmap_mode="r", allow_pickle=False)
        if name.endswith(".csv"):
            text = read_text(path)
            if not text.strip():
                raise table.error(f"{name} is empty", key)
            return np.loadtxt(io.StringIO(text), delimiter=",", ndmin=2)
    except OSError as error:
        shown = name if name.isprintable() else "..."
        raise table.error(f"{shown}: {error.strerror or error}", key) from error
    except NO_ARRAY as error:
        reason = str(error).partition("\n")[0]
        raise table.error(f"{name} is no array of numbers: {reason}", key) from error
    raise table.error(f"{name} is neither a .npy nor a .csv file", key)


def _make_values(table: Table, key: str, tensor: TensorFormat) -> Array:
    """The numbers that `{ constant = 1.5 }`, `{ arange = 0 }` or `{ random = 7 }` stand for."""
    table.check_keys(_SOURCES, f"'{key}'")
    if len(table.values) != 1:
        raise table.error(f"'{key}' is the name of a file, or one of {', '.join(_SOURCES)}")
    (word,) = table.values
    number = table.values[word]
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise table.error(f"'{word}' is a number")
    if abs(number) > _MOST:
        raise table.error(f"'{word}' is a number that float32 has")
    if word == "constant":
        return np.full(tensor.shape, number, np.float64)
    if word == "arange":
        return (number + np.arange(math.prod(tensor.shape), dtype=np.float64)).reshape(tensor.shape)
    if not isinstance(number, int) or number < 0:
        raise table.error("'random' is a seed, an integer from 0 on")
    generator = np.random.default_rng(number)
    if tensor.is_float:
        return generator.uniform(-1, 1, tensor.shape)
    return generator.integers(0, 100, tensor.shape)


# --- Spec program ---------------------------------------------------------------------------------

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
    cycle_limit: int = DEFAULT_CYCLE_LIMIT,
    tt_metal: str | None = None,
    print_line: Callable[[str], None] | None = None,
) -> SpecProgram:
    """The program of a specification, its buffers filled; KernelToolError for what is wrong.

    `cycle_limit` is the most that the specification may take, `tt_metal` as for `CreateDevice`.
    """
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
        cycle_limit=_read_cycle_limit(root, cycle_limit),
        leniencies=frozenset(leniencies),
        max_findings=root.take_integer("max_findings", 1, 1, 1000),
        tt_metal=tt_metal,
        print_line=print_line,
    )
    made = SpecProgram(device=device, program=CreateProgram())
    tables = _named_tables(root, "buffers")
    tensors = [_read_tensor(table) for _, table in tables]
    check_memory([(table, tensor) for (_, table), tensor in zip(tables, tensors, strict=True)])
    for (name, table), tensor in zip(tables, tensors, strict=True):
        _add_buffer(made, name, table, tensor)
    for table in root.take_tables("circular_buffers"):
        _add_circular_buffer(made, table)
    for name, table in _named_tables(root, "semaphores"):
        table.check_keys(_SEMAPHORE, "a semaphore")
        if name in made.buffers:
            raise table.error(f"a buffer has the name '{name}', too; arguments could mean either")
        initial = table.take_integer("initial", 0, 0, _WORD - 1)
        with _blaming(table):
            made.semaphores[name] = CreateSemaphore(made.program, _read_cores(made, table), initial)
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


def _read_cycle_limit(root: Table, most: int) -> int:
    limit = root.take_integer("cycle_limit", most, 1, 1 << 62)
    if limit > most:
        raise root.error(
            f"'cycle_limit' is at most {most}, unless --cycle-limit allows more", "cycle_limit"
        )
    return limit


def _named_tables(root: Table, key: str) -> list[tuple[str, Table]]:
    tables = root.take_table(key)
    return [(name, tables.take_table(name)) for name in tables.values]


@contextmanager
def _blaming(table: Table, *keys: str) -> Generator[None]:
    """Say where in the specification it stands what the host API refuses."""
    try:
        yield
    except MetaliumError as error:
        raise table.error(str(error), *keys) from error


def _path(table: Table, key: str, name: str) -> str:
    try:
        return path_below(table.spec.folder, name)
    except OSError as error:
        shown = name if name.isprintable() else "..."
        raise table.error(f"{shown}: {error.strerror}", key) from error


def _read_tensor(table: Table) -> TensorFormat:
    table.check_keys(_BUFFER, "a buffer")
    return read_tensor_format(table)


def _add_buffer(made: SpecProgram, name: str, table: Table, tensor: TensorFormat) -> None:
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
                    _read_cores(made, table),
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
        CreateCircularBuffer(made.program, _read_cores(made, table), config)
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


def _read_cores(made: SpecProgram, table: Table) -> CoreRangeSet:
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
        check_cores(cores, [made.device.simulated.chip])
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
    cores = _read_cores(made, table)
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
            SetRuntimeArgs(made.program, kernel, _read_cores(made, table), words)
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
