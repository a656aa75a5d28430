"""Kernels may call what tt-metal's headers declare, but for what is listed here."""

from __future__ import annotations

import pytest
from header_functions import functions

from ttmlir.cpp.standard_headers import find_bare_namespace
from ttmlir.optable.kernel import Role
from ttmlir.optable.kernel.releases import Release, name_in_release
from ttmlir.sim.calls.fabric_api import FabricApi
from ttmlir.sim.execution.run import COMPUTE_APIS
from ttmlir.sim.kernels.library import Library

_OF_HEADERS = {
    *("_typecast_is_mx_format_", "_typecast_is_sfpu_no_op_", "bitwise_instr_mode"),
    *("dim_stride_of", "eq_int_tile_dispatch", "rel_int_tile_dispatch"),
    *("fast_tilize_init_impl", "fast_tilize_init_with_dt_impl", "pack_untilize_init_impl"),
    *("pack_untilize_dest_init_impl", "sfpu_reduce_format_supported"),
    *(f"reconfig_{kind}_{unit}" for kind in ("df", "ts") for unit in ("both", "srca", "srcb")),
}
"""Functions that headers have for their own ones."""
_UNKNOWN = {
    "compute": {
        *("dbg_halt", "dbg_unhalt", "dbg_read_dest_acc_row"),
        "clear_compute_special_value_flags",
        *(f"get_compute_special_value_flags{unit}" for unit in ("", "_fpu", "_sfpu")),
        "matmul_block_math_dynamic_throttle",
    },
    "dataflow": {
        *("RISC_POST_HEARTBEAT", "get_tile_num_faces", "is_l1_address", "noc_cmd_bufs_mid_clear"),
        *(f"noc_async_{way}_{each}pcie{state}" for way in ("read", "write") for each, state in (
            ("", ""), ("set_", "_state"), ("clear_", "_state"),
        )),
        *("noc_async_read_inc_num_issued", "noc_async_write_set_trid"),
        *("noc_async_write_set_state", "noc_async_write_with_state"),
        *(f"noc_async_write_one_packet_with_trid_{each}_state" for each in ("set", "with")),
        *(f"noc_inline_dw_write_{each}_state" for each in ("set", "with")),
        *("noc_inline_mcast_dw_write", "wait_for_sync_register_value"),
    },
}  # fmt: skip
_ROLES = {"compute": (Role.UNPACK, Role.MATH, Role.PACK), "dataflow": (Role.BRISC,)}


@pytest.mark.parametrize("part", _ROLES)
def test_functions_of_headers_are_known(part: str) -> None:
    """98 % of those of compute kernels, three of four of data movement."""
    libraries = [Library(role, COMPUTE_APIS.get(role, FabricApi)) for role in _ROLES[part]]
    listed = (names for header, names in functions().items() if header.startswith(part))
    declared = {name for names in listed for name in names} - _OF_HEADERS
    unknown = {
        name
        for name in declared
        if find_bare_namespace(name) is None
        and not any(each.find_call(name_in_release(name, Release.LATE_2026)) for each in libraries)
    }
    assert unknown == _UNKNOWN[part]
    assert len(declared) == {"compute": 662, "dataflow": 81}[part]
