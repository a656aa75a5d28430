"""Headers that were not found, and calls of compute kernels whose header is not included.

The simulator knows all calls; a compiler for the chip knows those of the headers that are included.
Headers of tt-metal include each other, at different times in different ways, so a warning is given
only where no header is included that could have brought the call at any time. Kernels that move
data have their calls without any header: what is around the text of a kernel includes it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cache

from ttmlir.cpp.errors import CppWarning
from ttmlir.cpp.preprocessor.built_in_headers import find_built_in_header
from ttmlir.cpp.tree import Include
from ttmlir.optable.kernel import CALLS, Role
from ttmlir.sim.kernels.unit import Unit

_COMPUTE = "compute_kernel_api"

_WITH_ALL = frozenset(
    f"{_COMPUTE}/{name}.h"
    for name in ("cb_api", "common", "compute_kernel_hw_startup", "pack", "reconfig_data_format")
) | {f"{_COMPUTE}/reg_api.h"}
"""Headers that all others for compute kernels include."""
_WITH_MANY = frozenset((f"{_COMPUTE}.h",))
"""Headers that include more than the table of calls says."""


def find_missing_headers(unit: Unit) -> Iterator[CppWarning]:
    """A warning for each header that was not found, or that calls need and that is not included."""
    yield from _find_unfound_headers(unit)
    yield from _find_calls_without_header(unit)


def _find_unfound_headers(unit: Unit) -> Iterator[CppWarning]:
    """A warning for each name, at its first include."""
    names = set[str]()
    for each in unit.inclusions.missing:
        if each.position is None or each.path in names:
            continue
        names.add(each.path)
        why = f": {each.reason}" if each.reason else ""
        message = f"'{each.path}' was not found{why}; give its folder with -I or include_folders"
        yield CppWarning(message, each.position, unit.inclusions.line(each.position))


def _find_calls_without_header(unit: Unit) -> Iterator[CppWarning]:
    """A warning for each header that declares calls of the kernel, at the first of them."""
    if unit.inclusions.missing or not unit.library.role & Role.COMPUTE:
        return
    included = {each for each in _names(unit.inclusions.includes) if each.startswith(_COMPUTE)}
    if included & _WITH_MANY or included - _headers().keys():
        return
    headers = {call: name for name, calls in _headers().items() for call in calls}
    named = set[str]()
    bound = set(unit.bindings.values())
    # In the order in which they are compiled.
    for call, node in unit.calls.items():
        header, position = headers.get(call, ""), node.position
        is_there = header in included or (header in _WITH_ALL and included)
        if call not in bound or not header or header in named or is_there or position is None:
            continue
        named.add(header)
        message = f"'{call}' is declared in '{header}', which this kernel does not include"
        yield CppWarning(message, position, unit.inclusions.line(position))


def _names(includes: Collection[Include]) -> Iterator[str]:
    """The names of the headers that are included, as the table of calls has them."""
    for each in includes:
        known = find_built_in_header(each.path)
        yield each.path if known is None else known.name


@cache
def _headers() -> dict[str, frozenset[str]]:
    """The headers for compute kernels, and the calls that each of them declares."""
    rows = [row for row in CALLS if row.header.startswith(_COMPUTE)]
    names = {row.header for row in rows} | _WITH_ALL
    return {
        name: frozenset(row.cpp for row in rows if row.header == name) for name in sorted(names)
    }
