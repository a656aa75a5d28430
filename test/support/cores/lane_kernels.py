"""Kernels of the vector unit's own vectors on two tiles, run on a core."""

from __future__ import annotations

from typing import Any, Literal, overload

import numpy as np
from cores.compute_core import ComputeCore, Recorder
from cores.tile_bytes import packed, unpacked
from numpy.typing import NDArray

from ttmlir.layout.enums import DataType
from ttmlir.sim.calls.compute_api import ComputeSettings
from ttmlir.sim.options import SimOptions

Array = NDArray[Any]

_KERNEL = """
#include "compute_kernel_api/tile_move_copy.h"
#include "sfpi.h"
{before}
#ifdef TRISC_MATH
using namespace sfpi;
inline void work() {{
    for (int d = 0; d < 8; d++) {{
        vFloat x = dst_reg[0];
        vFloat y = dst_reg[32];
        {body}
        dst_reg++;
    }}
}}
#endif
void kernel_main() {{
    unary_op_init_common(0, 16);
    copy_tile_to_dst_init_short(0);
    tile_regs_acquire();
    copy_tile(0, 0, 0);
    copy_tile(0, 1, 1);
    {call}
    tile_regs_commit();
    tile_regs_wait();
    pack_tile(0, 16);
    pack_tile(1, 16);
    tile_regs_release();
}}
"""
_CALL = "MATH((_llk_math_eltwise_unary_sfpu_params_<false>(work, 0, VectorMode::RC)));"


def run_lanes(
    x: Array,
    y: Array,
    body: str = "",
    *,
    before: str = "",
    call: str = _CALL,
    data_type: DataType = DataType.F32,
    options: SimOptions | None = None,
    board: str = "n150",
) -> tuple[ComputeCore, list[Array]]:
    """A core that ran a body for each vector of two tiles, and the tiles afterwards."""
    watch = Recorder()
    wide = data_type is DataType.F32
    settings = ComputeSettings(
        fp32_dest_acc_en=wide, unpack_to_dest=frozenset((0,)) if wide else frozenset()
    )
    core = ComputeCore(settings, options or SimOptions(), watch, board)
    core.filled(0, data_type, [packed(each, data_type) for each in (x, y)])
    core.buffer(16, data_type, 2)
    core.run_cpp(_KERNEL.format(before=before, body=body, call=call))
    assert watch.findings == []
    return core, _read(core, data_type)


def _read(core: ComputeCore, data_type: DataType) -> list[Array]:
    """The tiles of the output; those of 32 bits with all bits of numbers that are none."""
    data = core.bytes_of(16)
    if data_type is not DataType.F32:
        return list(unpacked(data, data_type))
    faces = data.view(np.float32).reshape(-1, 2, 2, 16, 16)
    return list(faces.transpose(0, 1, 3, 2, 4).reshape(-1, 32, 32))


@overload
def compute(
    body: str, x: Array, y: Array, *, both: Literal[True], board: str = ...
) -> list[Array]: ...
@overload
def compute(body: str, x: Array, y: Array, *, board: str = ...) -> Array: ...
def compute(
    body: str, x: Array, y: Array, *, both: bool = False, board: str = "n150"
) -> Array | list[Array]:
    """Tile 0, or both tiles, after a body, in exact numerics of 32 bits."""
    tiles = run_lanes(x, y, body, options=SimOptions(numerics="exact"), board=board)[1]
    return tiles if both else tiles[0]
