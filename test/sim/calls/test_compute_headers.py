"""What the headers of compute kernels in tt-metal 0.81 declare is known, but for what is listed.

`Inputs/compute_headers.txt` was made from the headers in the wheel of ttnn 0.81.1.
"""

from __future__ import annotations

from pathlib import Path

from ttmlir.cpp.standard_headers import list_names
from ttmlir.sim.execution.run import COMPUTE_APIS
from ttmlir.sim.kernels.library import Library

_PATH = Path(__file__).parent / "Inputs" / "compute_headers.txt"
_LIBRARIES = {role: Library(role, api) for role, api in COMPUTE_APIS.items()}

NOT_MODELLED = {
    "debugging": (
        *("dbg_halt", "dbg_unhalt", "dbg_read_dest_acc_row", "dbg_read_dest_tile"),
        *("dbg_write_dest_tile", "hash_cb_sfpu", "hash_cb_trisc"),
        *("clear_compute_special_value_flags", "get_compute_special_value_flags"),
        *("get_compute_special_value_flags_fpu", "get_compute_special_value_flags_sfpu"),
    ),
    "products that are slowed down while a chip is hot": ("matmul_block_math_dynamic_throttle",),
}
"""Names, by the reason."""


HAVE_TO_BE_GIVEN = {"leaky_relu_tile"}
"""Calls whose arguments with defaults have to be written here."""


def _declared() -> list[tuple[str, int, int]]:
    """Names with the fewest and the most arguments."""
    lines = [each.split() for each in _PATH.read_text().splitlines() if each[0] != "#"]
    return [(name, int(few), int(most)) for _, name, _, few, most in lines]


def _is_known(name: str) -> bool:
    if any(name in list_names(each) for each in ("blocks", "ckernel")):
        return True
    found = ((each, each.find_call(name)) for each in _LIBRARIES.values())
    return any(call and call.acts and call.name in each.declared for each, call in found)


def test_what_is_declared_is_known() -> None:
    """Neither list has names that the other has, too."""
    names = {name for name, _, _ in _declared()}
    missing = {name for name in names if not _is_known(name)}
    assert missing == {each for listed in NOT_MODELLED.values() for each in listed}
    assert len(missing) / len(names) < 0.02


def test_calls_take_as_many_arguments() -> None:
    """On each thread that makes the call."""
    misfits = set[str]()
    for name, few, most in _declared():
        for library in _LIBRARIES.values():
            found = library.find_call(name)
            if found is None or not found.acts or found.name not in library.declared:
                continue
            for count in {most if name in HAVE_TO_BE_GIVEN else few, most}:
                text = library.describe_misfit(found.name, count, ())
                if text:
                    misfits.add(f"{name} {count}: {text}")
    assert misfits == set()
