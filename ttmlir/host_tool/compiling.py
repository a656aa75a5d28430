"""Compiles a host program by the system's C++ compiler, with headers of our own."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from ttmlir.errors import Error
from ttmlir.files import write_file
from ttmlir.metalium.errors import suggest
from ttmlir.terminal import show_wait, shown_name

HEADERS = Path(__file__).with_name("headers")

_COMPILERS = ("c++", "g++", "clang++")
_FLAGS = ("-std=c++20", "-O1", "-w", "-pthread", "-fmax-errors=20", "-fdiagnostics-color=never")

_API = (
    *("allocator", "base_types", "bfloat4", "bfloat8", "bfloat16", "blockfloat_common", "buffer"),
    *("buffer_constants", "buffer_distribution_spec", "buffer_types", "cb_utils"),
    *("circular_buffer", "circular_buffer_config", "circular_buffer_constants", "command_queue"),
    *("command_queue_interface", "common", "constants", "core_coord", "data_types", "device"),
    *("device_impl", "device_pool", "device_types", "dispatch_core_common", "distributed", "event"),
    *("global_semaphore", "hal_types", "host_api", "host_buffer", "kernel", "kernel_types"),
    *("math", "mesh_buffer", "mesh_command_queue", "mesh_config", "mesh_coord", "mesh_device"),
    *("mesh_event", "mesh_workload", "program", "program_impl", "runtime_args_data", "semaphore"),
    *("shape2d", "sub_device_types", "system_mesh", "tensor_accessor_args", "test_tiles", "tile"),
    *("tilize_untilize", "tilize_utils", "tt_backend_api_types", "tt_metal", "util", "work_split"),
    *("tt_metal_profiler", "experimental/tensor/tensor_accessor_args"),
)
"""Headers of `tt-metalium/` since 2025, which have all of the API here."""
_API_2024 = (
    *("common/base_types", "common/bfloat8", "common/bfloat16", "common/constants"),
    *("common/core_coord", "common/math", "common/test_tiles", "common/tilize_untilize"),
    *("common/tt_backend_api_types", "common/work_split", "detail/tt_metal", "detail/util"),
    *("host_api", "impl/buffers/buffer", "impl/buffers/circular_buffer"),
    *("impl/buffers/circular_buffer_types", "impl/buffers/semaphore", "impl/device/device"),
    *("impl/dispatch/command_queue", "impl/kernels/data_types", "impl/kernels/kernel_types"),
    *("impl/kernels/kernel", "impl/kernels/runtime_args_data", "impl/program/program"),
)
"""Headers of `tt_metal/` until 2025; those in its folders are named without it, too."""
_TEXTS = (
    *("fmt/base.h", "fmt/core.h", "fmt/format.h", "fmt/ostream.h", "fmt/printf.h", "fmt/ranges.h"),
    *("tt-logger/tt-logger.hpp", "tt_stl/assert.hpp", "tt-metalium/assert.hpp"),
    *("tt-metalium/logger.hpp", "tt_metal/common/assert.hpp", "tt_metal/common/logger.hpp"),
    *("common/assert.hpp", "common/logger.hpp"),
)
"""Headers for formats, assertions and log lines."""
_FABRIC = (
    *("tt-metalium/fabric.hpp", "tt-metalium/fabric_types.hpp", "tt-metalium/fabric_edm_types.hpp"),
    *("tt-metalium/experimental/fabric/fabric.hpp", "tt-metalium/control_plane.hpp"),
    *("tt-metalium/experimental/fabric/fabric_types.hpp", "tt-metalium/mesh_graph.hpp"),
    *("tt-metalium/experimental/fabric/fabric_edm_types.hpp", "tt_metal/fabric/fabric.hpp"),
)
"""Headers of the fabric."""
_STREAMS = (
    *("tt-metalium/experimental/sockets/mesh_socket.hpp", "tt-metalium/mesh_socket.hpp"),
    *("tt-metalium/socket.hpp", "tt-metalium/global_circular_buffer.hpp"),
    "tt-metalium/experimental/global_circular_buffer.hpp",
    *(f"tt-metalium/experimental/sockets/{each}_socket.hpp" for each in ("h2d", "d2h")),
)
"""Headers of sockets and global circular buffers."""
_OTHERS = (
    *("tt_stl/span.hpp", "umd/device/types/xy_pair.hpp", "umd/device/types/arch.h"),
    *("umd/device/types/arch.hpp", "umd/device/types/cluster_descriptor_types.h"),
    *("umd/device/tt_xy_pair.h", "hostdevcommon/kernel_structs.h"),
    "hostdevcommon/profiler_common.h",
)


def known_headers() -> dict[str, str]:
    """The headers of tt-metal that host programs may include, and which of ours each is."""
    api = [f"tt-metalium/{name}.hpp" for name in _API]
    api += [f"{root}{name}.hpp" for name in _API_2024 for root in ("tt_metal/", "")]
    api += ["tt_metal/common/core_coord.h", "common/core_coord.h", *_OTHERS]
    return {
        "hostdevcommon/common_values.hpp": "common_values.hpp",
        **dict.fromkeys(_TEXTS, "format.hpp"),
        **dict.fromkeys(_FABRIC, "fabric.hpp"),
        **dict.fromkeys(_STREAMS, "streams.hpp"),
        **dict.fromkeys(api, "host_api.hpp"),
    }


class HostCompileError(Error):
    """A host program that does not compile, with what the compiler says, or without a compiler."""


def find_compiler() -> list[str]:
    """The command of the C++ compiler: that in `CXX`, or the first of the usual ones."""
    given = shlex.split(os.environ.get("CXX", ""))
    if given:
        if shutil.which(given[0]) is None:
            raise HostCompileError(f"error: there is no compiler '{given[0]}', which CXX names")
        return given
    found = next((each for each in _COMPILERS if shutil.which(each)), None)
    if found is None:
        raise HostCompileError(
            "error: there is no C++ compiler; install g++ 11 or clang++ 16, or later ones, or set "
            f"CXX (looked for {', '.join(_COMPILERS)})"
        )
    return [found]


def compile_host(
    sources: Sequence[str],
    folder: Path,
    *,
    include_folders: Sequence[str] = (),
    defines: Sequence[str] = (),
) -> Path:
    """The program of source files, made in a folder; HostCompileError with what is wrong."""
    compiler = find_compiler()
    headers = folder / "include"
    for name, ours in known_headers().items():
        path = headers / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, f'#include "{HEADERS / ours}"\n'.encode())
    program = folder / "program"
    macros = [f"-D{each}" for each in ('OVERRIDE_KERNEL_PREFIX=""', *defines)]
    folders = [f"-I{each}" for each in (headers, *include_folders)]
    command = [*compiler, *_FLAGS, *macros, *folders, *sources, "-o", str(program)]
    with show_wait(f"compiling {shown_name(str(sources[0]))}"):
        run = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            env=os.environ | {"LC_ALL": "C"},
            check=False,
        )
    if run.returncode:
        raise HostCompileError("\n".join(_explain(run.stderr, sources[0])))
    return program


_PLACE = re.compile(r"(?P<place>[^\s:][^:]*:\d+:\d+): (?:fatal )?error: (?P<text>.*)")
_SHOWN = re.compile(r"\s*\d* \| ?(.*)")
_QUOTED = r"'(?:[\w:<>, *&]*::)?(~?\w+)[^']*'"
_UNKNOWN = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{_QUOTED} (?:was not declared|is not a member|has not been declared|does not name)",
        rf"{_QUOTED} is not a (?:class|member)",
        rf"has no (?:non-static data )?member named {_QUOTED}",
        rf"no (?:template |type )?(?:member )?named {_QUOTED} in",
        rf"use of undeclared identifier {_QUOTED}",
        rf"unknown type name {_QUOTED}",
        rf"field designator {_QUOTED} does not refer to any field",
    )
)
_NO_MAIN = re.compile(r"undefined reference to `main'|undefined symbol: main\b|\"_main\"")
_NO_FILE = re.compile(r"'?([^\s':]+)'?(?:: No such file or directory| file not found)")


def _explain(output: str, source: str) -> Iterator[str]:
    """What a compiler says, with errors about names that are not part of the API as such."""
    known = _known_names()
    lines = output.splitlines()
    is_any = False
    for index, line in enumerate(lines):
        found = _PLACE.match(line)
        if found is None:
            continue
        is_any = True
        yield f"{found['place']}: error: {_reworded(found['text'], known)}"
        for shown in lines[index + 1 : index + 3]:
            text = _SHOWN.match(shown)
            if text:
                yield text[1].rstrip()
    if is_any:
        return
    if _NO_MAIN.search(output):
        yield f"{source}: error: the program has no function 'main'; is it a kernel?"
        return
    yield from lines or [f"{source}: error: the compiler ends without a message"]


def _reworded(text: str, known: set[str]) -> str:
    """The text of an error; for a name of the API that is not here, that it is not."""
    missing = _NO_FILE.search(text)
    if missing and missing[1].startswith(("tt-metalium/", "tt_metal/", "tt_stl/", "ttnn/")):
        name = missing[1]
        return (
            f"the header '{name}' is not known to ttmlir-host"
            f"{suggest(name, known_headers()) or '; docs/host_programs.md lists what is'}"
        )
    for pattern in _UNKNOWN:
        name = pattern.search(text)
        if name and name[1] not in known:
            return f"'{name[1]}' is not known to ttmlir-host{suggest(name[1], known)} ({text})"
    return text


def _known_names() -> set[str]:
    """The names in our headers."""
    names = set[str]()
    for path in HEADERS.glob("*.hpp"):
        names.update(re.findall(r"\b[A-Za-z]\w{2,}\b", path.read_text(encoding="utf-8")))
    return names
