"""Where headers are looked for, and the only place in which they are opened.

Kernels come from strangers: a header is opened only if it is a plain file of bounded size whose
real path lies in one of the given folders, in the folder of the kernel, or in the package's own
`headers`.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Literal, TypeAlias

from ttmlir.cpp.tokens import SourceText
from ttmlir.files import decode_text, read_stream
from ttmlir.limits import MAX_SOURCE_LENGTH
from ttmlir.optable.kernel import (
    CALLS,
    SPELLINGS,
    Form,
    KernelCall,
    Template,
    TemplateKind,
    ValueKind,
)
from ttmlir.optable.kernel.kernel_call import CONSTANTS, ENUMS, CppEnum

# --- Include path ---------------------------------------------------------------------------------
# Where headers are looked for, and the only place in which they are opened.
#
# Kernels come from strangers: a header is opened only if it is a plain file of bounded size whose
# real path lies in one of the given folders, in the folder of the kernel, or in the package's own
# `headers`.

# --- Built in headers -----------------------------------------------------------------------------
# The headers that the package has instead of those of tt-metal and of the standard library.
#
# What most of them declare is known without a text: the calls of the table of kernel calls, and
# types of the language. The others have a text in `ttmlir/cpp/headers`, in the package's own words.

_FOLDER = Path(__file__).resolve().parent / "headers"

_STANDARD = frozenset(
    (
        *("algorithm", "array", "bit", "bitset", "cassert", "cfloat", "climits", "cmath"),
        *("concepts", "cstdarg", "cstddef", "cstdint", "cstdio", "cstdlib", "cstring"),
        *("functional", "initializer_list", "iterator", "limits", "memory", "new", "numeric"),
        *("optional", "ranges", "span", "stdbool.h", "stddef.h", "stdint.h", "stdio.h"),
        *("stdlib.h", "string", "string.h", "string_view", "tuple", "type_traits", "utility"),
        *("variant", "vector", "version", "assert.h", "float.h", "limits.h", "math.h"),
        *("cinttypes", "inttypes.h", "iostream", "ostream", "sstream", "sys/types.h"),
    )
)
"""Headers of the standard library that kernels of tt-metal include, directly or not."""

_PLACES = (
    (r"(?:^|/)api/compute/(compute_kernel_api\.h)", r"\1"),
    (r"(?:^|/)api/compute/(.+\.h)", r"compute_kernel_api/\1"),
    (r"(?:^|/)(compute_kernel_api(?:/.+)?\.h)", r"\1"),
    (r"(?:^|/)(?:api/dataflow/)?(dataflow_api\.h)", r"\1"),
    (r"(?:^|/)(?:edm_fabric|edm)/edm_handshake\.hpp", "edm_fabric/edm_handshake.hpp"),
    (r"^(fabric/(?:packet_header|sender|calls|socket|remote_circular_buffer)\.hpp)", r"\1"),
    (r"(?:^|/)(?:api/socket_api|hostdev/socket)\.h", "fabric/socket.hpp"),
    (r"(?:^|/)fabric/hw/inc/(?:linear|mesh)/(?:addrgen_)?api\.h", "fabric/calls.hpp"),
    (r"(?:^|/)fabric/hw/inc/(?:.+/)?\w+\.hp?p?", "fabric/sender.hpp"),
    (
        r"(?:^|/)(?:hostdev|hostdevcommon|fabric)/fabric_(?:edm_packet_header|edm_types|common)\.hp?p?",
        "fabric/sender.hpp",
    ),
    (r"^(?:internal/)?ethernet/((?:erisc|tunneling|tt_eth_api)\.h)", r"\1"),
    (r"(?:^|/)api/((?:dataflow|debug|numeric|tensor)/.+\.h)", r"\1"),
    (r"^(?:tt_metal/hw/inc/|hw/inc/)?(debug/.+\.h)", r"\1"),
    (r"^(d(?:print|evice_print)\.h)", r"debug/\1"),
    (r"^utils/(bfloat16\.h)", r"numeric/\1"),
    (r"(?:^|/)accessor/(.+\.h)", r"tensor/\1"),
    (r"^(tensor/tensor_accessor(?:_args)?\.h)", r"\1"),
    (r"(?:^|/)(?:api/)?(\w*compile_time_args\.h)", r"\1"),
    (r"(?:^|/)api/((?:alignment|core_local_mem|lock|scratchpad)\.h)", r"\1"),
    (r"(?:^|/)(?:api|experimental)/remote_circular_buffer\.h", "fabric/remote_circular_buffer.hpp"),
    (r"^(?:internal/)?((?:mod_div_lib|risc_attribs|firmware_common|tensix_types)\.h)", r"\1"),
    (r"^internal/(bit_utils\.h)", r"\1"),
    (
        r"^experimental/((?:noc|circular_buffer|dataflow_buffer|endpoints|noc_semaphore)\.h)",
        r"dataflow/\1",
    ),
    (r"^experimental/((?:core_local_mem|kernel_args|lock|tensor)\.h)", r"\1"),
    (r"^(?:tt_metal/)?(?:hostdevcommon/api/)?(hostdevcommon/.+\.hp?p?)", r"\1"),
    (r"(?:^|/)(tt-metalium/(?:constants|buffer_types|circular_buffer_constants)\.hpp)", r"\1"),
    (r"^impl/buffers/(buffer_constants\.hpp)", r"tt-metalium/buffer_types.hpp"),
    (r"(?:^|/)(?:tools/profiler|api/debug)/(kernel_profiler\.hpp)", r"\1"),
    (r"^(c?kernel(?:_\w+)?\.h|llk_\w+\.h|sfpi\w*\.h|noc/.+\.h|noc_\w+\.h)", r"\1"),
    (r"^experimental/llk_sfpu/ckernel_sfpu_\w+\.h", "llk_math_eltwise_unary_sfpu_macros.h"),
    (r"^((?:dev_mem_map|risc_common|core_config|eth_\w+)\.h)", r"\1"),
)
"""Where a header stood at some time, and the name under which it is known here."""


_KERNELS = {"tt_fabric_mux.cpp": "fabric/mux.hpp", "tt_fabric_mux_v2.cpp": "fabric/mux_v2.hpp"}
"""Kernels of tt-metal that program what the simulator models, and what stands for them."""


def find_built_in_kernel(path: str | os.PathLike[str]) -> Path | None:
    """The package's own text for a kernel of tt-metal; None for all but a few."""
    name = _KERNELS.get(Path(path).name)
    return None if name is None else _FOLDER / name


@dataclass(frozen=True)
class BuiltInHeader:
    """A header of the package by the name under which it is known here."""

    name: str
    text: str
    """What it adds to what is known anyway."""


@lru_cache(maxsize=4096)
def find_built_in_header(path: str) -> BuiltInHeader | None:
    """The header that a path in an `#include` means, wherever it stood in tt-metal."""
    if path in _STANDARD:
        return _read(path)
    for pattern, place in _PLACES:
        match = re.search(f"{pattern}$", path)
        if match is not None:
            return _read(match.expand(place))
    return None


def _read(name: str) -> BuiltInHeader:
    file = _FOLDER / name
    # A name of an `#include` that the patterns let through may still hold `..`.
    is_inside = ".." not in Path(name).parts and file.is_file()
    return BuiltInHeader(name, file.read_text(encoding="utf-8") if is_inside else "")


# --- Include path ---------------------------------------------------------------------------------

HOME_VARIABLE = "TT_METAL_HOME"

_HOME_FOLDERS = (
    *("", "ttnn", "ttnn/cpp", "tt_metal", "tt_metal/include", "tt_metal/hw/inc"),
    *("tt_metal/hostdevcommon/api", "tt_metal/hw/inc/debug", "tt_metal/api", "cpp"),
)
"""Where tt-metal's compiler of kernels looks below its root, in its order."""

_SILICON = re.compile(
    r"tt_metal/(hw|include|hostdevcommon|api|third_party|tools/profiler|soc_descriptors)/"
)
"""Folders of tt-metal whose headers program the chip; the simulator has its own of them."""

_MAX_NAME = 512
_MAX_SIZE = 4 * MAX_SOURCE_LENGTH  # of UTF-8


IncludeStatus: TypeAlias = Literal["read", "again", "built-in", "missing", "unread"]
"""What became of an `#include`: read, read before (`#pragma once`), known without its text, not
found, or never looked for."""


@dataclass(frozen=True)
class Found:
    """What became of the search for a header; `header` is there if it can be read."""

    status: IncludeStatus
    header: HeaderText | None = None
    reason: str = ""
    """Why a file of the name was not opened."""


class HeaderText(SourceText):
    """A header with the real path of its file; the package's own have none."""

    def __init__(self, text: str, file: str, path: str = "") -> None:
        """The text of a header; `file` is what messages call it."""
        super().__init__(text, file)
        self.path = path
        self.identity = path or file
        """What `#pragma once` knows it by."""


@dataclass(frozen=True)
class IncludePath:
    """The folders in which headers may be; without any, only the package's own are read."""

    folders: tuple[str, ...] = ()
    """Searched in this order."""
    home: str = ""
    """The root of a tree of tt-metal, whose folders are searched last."""
    kernel: str = ""
    """The file of the kernel: its folder is searched first for quoted names."""

    @classmethod
    def of_kernel(
        cls,
        kernel: str | os.PathLike[str],
        folders: tuple[str | os.PathLike[str], ...] = (),
        home: str | os.PathLike[str] = "",
    ) -> IncludePath:
        """The path for a kernel in a file."""
        listed = tuple(os.fspath(each) for each in folders)
        return cls(listed, os.fspath(home), os.fspath(kernel))

    def find(self, name: str, *, is_quoted: bool, includer: SourceText) -> Found:
        """The header of a name in an `#include` of a source.

        A file beside the source comes before the package's own headers, these before all others.
        """
        if not _is_plain_name(name):
            return Found("missing", reason="its name is no relative path")
        beside = self._folder_of(includer) if is_quoted else None
        found = None if beside is None else self._look(beside, name)
        if found is None or found.header is None:
            built_in = find_built_in_header(name)
            if built_in is not None:
                return Found("built-in", _own_header(built_in) if built_in.text else None)
        reason = found.reason if found is not None else ""
        folders = iter(self._listed)
        while found is None or found.status == "missing":
            folder = next(folders, None)
            if folder is None:
                return Found("missing", reason=reason)
            found = self._look(folder, name)
            reason = reason or (found.reason if found is not None else "")
        return found

    def _folder_of(self, includer: SourceText) -> str | None:
        """The folder in which a source stands, as messages show it."""
        if isinstance(includer, HeaderText):
            return os.path.dirname(includer.file) if includer.path else None
        return os.path.dirname(self.kernel) if self.kernel else None

    @cached_property
    def _listed(self) -> tuple[str, ...]:
        below = _HOME_FOLDERS if self.home else ()
        # tt-metal looks into the folder of the kernel last, for names in angle brackets, too.
        last = (os.path.dirname(self.kernel),) if self.kernel else ()
        return (*self.folders, *(os.path.join(self.home, each) for each in below), *last)

    @cached_property
    def _roots(self) -> tuple[str, ...]:
        """Real paths of the folders that headers may be opened in."""
        given = (*self.folders, *((self.home,) if self.home else ()))
        own = (os.path.dirname(self.kernel),) if self.kernel else ()
        return tuple(os.path.realpath(each or os.curdir) for each in (*given, *own))

    def _look(self, folder: str, name: str) -> Found | None:
        """The header of a name in a folder; None if there is no such file."""
        shown = os.path.normpath(os.path.join(folder, name))
        try:
            facts = os.stat(shown)
        except (OSError, ValueError):
            return None
        if stat.S_ISDIR(facts.st_mode):
            return None
        real = os.path.realpath(shown)
        if not any(real.startswith(os.path.join(root, "")) for root in self._roots):
            return Found("missing", reason=f"'{shown}' lies outside of the given folders")
        if _SILICON.search(real):
            return Found("built-in")
        stamp = (real, shown, facts.st_mtime_ns, facts.st_size, facts.st_ino)
        # Another thread may empty the cache meanwhile.
        found = _HEADERS.get(stamp)
        if found is None:
            made = _open(real, shown)
            if isinstance(made, str):
                return Found("missing", reason=f"'{shown}' {made}")
            if len(_HEADERS) >= _MAX_HEADERS:
                _HEADERS.clear()
            found = _HEADERS.setdefault(stamp, made)
        return Found("read", found)


_HEADERS = dict[tuple[str, str, int, int, int], HeaderText]()
"""What was read in this process."""
_MAX_HEADERS = 4096


@cache
def _own_header(header: BuiltInHeader) -> HeaderText:
    return HeaderText(header.text, f"<{header.name}>")


def _is_plain_name(name: str) -> bool:
    is_printable = name.isprintable() and "\\" not in name
    return 0 < len(name) <= _MAX_NAME and is_printable and not os.path.isabs(name)


def _open(real: str, shown: str) -> HeaderText | str:
    """A header from its file, or why it is not read."""
    # Nobody writes to a pipe that a kernel names, so opening one must not wait.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
    try:
        with os.fdopen(os.open(real, flags | getattr(os, "O_BINARY", 0)), "rb") as file:
            facts = os.fstat(file.fileno())
            if not stat.S_ISREG(facts.st_mode):
                return "is no plain file"
            if facts.st_size > _MAX_SIZE:
                return f"has more than {MAX_SOURCE_LENGTH} characters, the most that are read"
            text = decode_text(read_stream(file))
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    except UnicodeDecodeError:
        return "is no UTF-8 text"
    if len(text) > MAX_SOURCE_LENGTH:
        return f"has more than {MAX_SOURCE_LENGTH} characters, the most that are read"
    return HeaderText(text, shown, real)


@dataclass(frozen=True)
class Lookup:
    """An `#include` or `__has_include`, and what it found."""

    name: str
    is_quoted: bool
    includer: SourceText
    found: Found
    was_read: bool
    """Whether it had been read before, with `#pragma once`."""

    @property
    def identity(self) -> str:
        """What `#pragma once` knows the header by."""
        return "" if self.found.header is None else self.found.header.identity

    def is_current(self, include_path: IncludePath) -> bool:
        """Whether the header is found again, as it was."""
        found = include_path.find(self.name, is_quoted=self.is_quoted, includer=self.includer)
        return found.status == self.found.status and found.header is self.found.header


# --- Kernel header --------------------------------------------------------------------------------
# A C++ header that declares every call of the table, so that a compiler can check kernels.
#
# Nothing is defined that a kernel could run: results that have to be constant are 1. Types and
# enumerators are those of tt-metal; see the definitions for the header that each call comes from
# there.

_START_OF_PRODUCTS = """\
enum class SrcOrder : uint8_t { Regular, Reverse };
template <SrcOrder order, typename CB>
inline void compute_kernel_hw_startup(CB in0_cb, CB in1_cb, CB out_cb) {}"""
"""The one call that has template arguments since late 2026 and none before."""

_START = """\
// Declarations of the calls that a kernel makes; generated from the table of kernel calls.
#pragma once
#include <cstddef>
#include <cstdint>

#define MAIN kernel_entry()
#define NAMESPACE kernel_thread
#define tt_l1_ptr
#define ALWI inline
#define FORCE_INLINE inline
#define UNPACK(x) x
#define MATH(x) x
#define PACK(x) x
#ifndef REDUCE_OP
#define REDUCE_OP PoolType::SUM
#endif
#ifndef REDUCE_DIM
#define REDUCE_DIM ReduceDim::REDUCE_ROW
#endif

// Where every chip has zeros in L1; the place and the size are its own.
constexpr uint32_t MEM_ZEROS_BASE = 1, MEM_ZEROS_SIZE = 1;
inline uint8_t noc_index;
template <typename T>
concept AddressGenerator = requires(const T& generator) { generator.get_noc_addr(0u); };
"""

_PRINTING = """\
struct ENDL {};
struct HEX {};
struct DEC {};
struct SETW { explicit SETW(int width); };
struct F32 { explicit F32(float value); };
struct BF16 { explicit BF16(uint16_t value); };
struct Printer {
  template <typename T>
  const Printer& operator<<(const T& value) const;
};
inline const Printer DPRINT;
#define DPRINT_UNPACK(x) x
#define DPRINT_MATH(x) x
#define DPRINT_PACK(x) x
#define DPRINT_DATA0(x) x
#define DPRINT_DATA1(x) x
"""

_TYPES = {
    ValueKind.CB: "uint32_t",
    ValueKind.I32: "uint32_t",
    ValueKind.NOC_ADDR: "uint64_t",
    ValueKind.ADDRESS: "uint32_t",
    ValueKind.SEMAPHORE: "uint32_t",
    ValueKind.L1_PTR: "volatile uint32_t*",
    ValueKind.DATA_FORMAT: "DataFormat",
    ValueKind.BOOL: "bool",
    ValueKind.F32: "float",
}
_CONCEPTS = {
    ValueKind.ADDR_GEN: "AddressGenerator",
    ValueKind.ACCESSOR: "AddressGenerator",
    ValueKind.ACCESSOR_ARGS: "typename",
}


def kernel_header() -> str:
    """The header's text."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield _START
    for enum in ENUMS.values():
        yield from _enum(enum)
    yield ""
    for name, value in CONSTANTS.items():
        yield f"constexpr uint32_t {name} = {value};"
    yield ""
    yield _PRINTING
    for call in CALLS:
        yield from _declaration(call)
    by_name = {call.cpp: call for call in CALLS}
    for spelling, name in SPELLINGS.items():
        if name in by_name and spelling not in by_name and spelling.isidentifier():
            yield from _declaration(replace(by_name[name], cpp=spelling))
    yield _START_OF_PRODUCTS


def _enum(enum: CppEnum) -> Iterator[str]:
    members = ", ".join(f"{name} = {number}" for name, number in enum.members.items())
    keyword = "enum class" if enum.scoped else "enum"
    text = f"{keyword} {enum.name} : {enum.type} {{ {members} }};"
    yield f"namespace {enum.namespace} {{ {text} }}" if enum.namespace else text
    # Device code finds these under the names of the host, too.
    if not enum.namespace:
        yield f"namespace {'tt' if enum.name == 'DataFormat' else 'ckernel'} {{"
        yield f"using ::{enum.name};"
        yield "}"


def _declaration(call: KernelCall) -> Iterator[str]:
    if not call.header:
        return
    match call.form:
        case Form.CALL:
            yield from _function(call)
        case Form.ELEMENT:
            yield f"inline uint8_t {call.cpp}[2];"
        case Form.AGGREGATE | Form.OBJECT:
            yield from _class(call)
        case Form.METHOD | Form.LOAD | Form.STORE | Form.CAST | Form.STREAM:
            return


def _template_type(template: Template) -> str:
    match template.kind:
        case TemplateKind.TYPE:
            return "typename"
        case TemplateKind.BOOL:
            return "bool"
        case TemplateKind.ENUM if not template.number:
            return template.enum
        case TemplateKind.ENUM | TemplateKind.INT:
            return "uint32_t"


def _template_line(call: KernelCall) -> Iterator[str]:
    """`template <...>`, with the types of operands that are deduced last."""
    templates = [
        f"{_template_type(t)} {t.name}" + (f" = {t.default}" if t.default else "")
        for t in call.templates
    ]
    deduced = [f"{_CONCEPTS[kind]} {name}_t" for name, kind in call.operands if kind in _CONCEPTS]
    if templates or deduced:
        yield f"template <{', '.join((*templates, *deduced))}>"


def _parameters(call: KernelCall) -> str:
    first = len(call.operands) - len(call.defaults)
    texts = [f"uint32_t {name}" for name in call.constants]
    for position, (name, kind) in enumerate(call.operands):
        type = f"const {name}_t&" if kind in _CONCEPTS else _TYPES[kind]
        default = f" = {call.defaults[position - first]}" if position >= first else ""
        texts.append(f"{type} {name}{default}")
    texts += [f"{option.type} {option.name} = {option.default}" for option in call.options]
    return ", ".join(texts)


def _result(call: KernelCall) -> str:
    if call.result is None:
        return "void"
    types = [t.name for t in call.templates if t.kind is TemplateKind.TYPE]
    return types[0] if types else _TYPES[call.result[1]]


def _function(call: KernelCall, *, member: bool = False) -> Iterator[str]:
    if not member:
        yield from _template_line(call)
    result = _result(call)
    end = " const" if member else ""
    body = f" {{ return static_cast<{result}>(1); }}" if call.constant else ";"
    start = "constexpr " if call.constant else ""
    yield f"{start}{result} {call.cpp}({_parameters(call)}){end}{body}"


def _methods(kind: ValueKind) -> Iterator[str]:
    """Declarations of the methods of an object, whose definitions name it as the first operand."""
    for call in CALLS:
        if call.form is Form.METHOD and call.operands[0][1] is kind:
            others = KernelCall(
                mnemonic=call.mnemonic,
                summary=call.summary,
                operands=call.operands[1:],
                result=call.result,
                cpp=call.cpp,
                options=call.options,
                constant=call.constant,
            )
            yield from _function(others, member=True)


def _class(call: KernelCall) -> Iterator[str]:
    """The class of an object; that of an aggregate has its operands as members."""
    assert call.result is not None
    yield from _template_line(call)
    yield f"struct {call.cpp} {{"
    if call.form is Form.AGGREGATE:
        yield from (f"  {_TYPES[kind]} {name};" for name, kind in call.operands)
        # Address generators have the methods of tensor accessors that take a page.
        yield "  uint64_t get_noc_addr("
        yield "      uint32_t id, uint32_t offset = 0, uint8_t noc = noc_index) const;"
    else:
        start = "  constexpr" if call.constant else " "
        yield f"{start} {call.cpp}({_parameters(call)}){' {}' if call.constant else ';'}"
        yield from (f"  {line}" for line in _methods(call.result[1]))
    yield "};"
