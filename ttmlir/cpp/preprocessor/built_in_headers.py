"""The headers that the package has instead of those of tt-metal and of the standard library.

What most of them declare is known without a text: the calls of the table of kernel calls, and types
of the language. The others have a text in `ttmlir/cpp/headers`, in the package's own words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

_FOLDER = Path(__file__).resolve().parents[1] / "headers"

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
    (r"(?:^|/)api/((?:dataflow|debug|numeric|tensor)/.+\.h)", r"\1"),
    (r"^(?:tt_metal/hw/inc/|hw/inc/)?(debug/.+\.h)", r"\1"),
    (r"^(d(?:print|evice_print)\.h)", r"debug/\1"),
    (r"^utils/(bfloat16\.h)", r"numeric/\1"),
    (r"(?:^|/)accessor/(.+\.h)", r"tensor/\1"),
    (r"^(tensor/tensor_accessor(?:_args)?\.h)", r"\1"),
    (r"(?:^|/)(?:api/)?(\w*compile_time_args\.h)", r"\1"),
    (r"(?:^|/)api/((?:alignment|core_local_mem|lock|scratchpad|remote_circular_buffer)\.h)", r"\1"),
    (r"^(?:internal/)?((?:mod_div_lib|risc_attribs|firmware_common|tensix_types)\.h)", r"\1"),
    (r"^internal/(bit_utils\.h)", r"\1"),
    (
        r"^experimental/((?:noc|circular_buffer|dataflow_buffer|endpoints|noc_semaphore)\.h)",
        r"dataflow/\1",
    ),
    (r"^experimental/((?:core_local_mem|kernel_args|lock|tensor)\.h)", r"\1"),
    (r"(?:^|/)(hostdevcommon/.+\.hp?p?)", r"\1"),
    (r"(?:^|/)(tt-metalium/(?:constants|buffer_types|circular_buffer_constants)\.hpp)", r"\1"),
    (r"^impl/buffers/(buffer_constants\.hpp)", r"tt-metalium/buffer_types.hpp"),
    (r"(?:^|/)(?:tools/profiler|api/debug)/(kernel_profiler\.hpp)", r"\1"),
    (r"^(c?kernel(?:_\w+)?\.h|llk_\w+\.h|sfpi\w*\.h|noc/.+\.h|noc_\w+\.h)", r"\1"),
    (r"^((?:dev_mem_map|risc_common|core_config|eth_\w+)\.h)", r"\1"),
)
"""Where a header stood at some time, and the name under which it is known here."""


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
