"""What a preparation leaves behind, if nobody undoes it, changes what comes after it."""

from __future__ import annotations

import numpy as np
import pytest
from cores.compute_core import Call, Recorder, call
from cores.tile_bytes import core_of, eighths, result

from ttmlir.layout.enums import DataType

X = eighths(1, 8)


@pytest.mark.parametrize(
    ("dimension", "kept"), [(0, np.s_[:, :1]), (1, np.s_[:1]), (2, np.s_[:1, :1])]
)
def test_packer_keeps_its_masks_until_they_are_undone(
    dimension: int, kept: tuple[slice, ...]
) -> None:
    """Without `reduce_uninit` only what a reduction leaves is packed."""
    template = (0, dimension)
    before = [
        call("reduce_init", 0, 0, 16, template=template),
        call("pack_reconfig_data_format", 16),
    ]
    copy = [call("copy_tile_to_dst_init_short", 0), call("copy_tile", 0, 0, 0)]
    core = core_of((X, DataType.BF16))
    expected = np.zeros_like(X)
    expected[kept] = X[kept]
    np.testing.assert_array_equal(result(core, *before, *copy), expected)
    core = core_of((X, DataType.BF16))
    np.testing.assert_array_equal(result(core, *before, call("reduce_uninit"), *copy), X)


def _findings(*calls: Call) -> list[str]:
    watch = Recorder()
    core_of((X, DataType.BF16), watch=watch).run(calls)
    return [each.message for each in watch.findings if each.rule == "init"]


@pytest.mark.parametrize("call_name", ["tilize", "untilize"])
def test_unpackers_are_set_up_for_rows_until_that_is_undone(call_name: str) -> None:
    """Tiles that are unpacked before are garbage on the chip."""
    sizes = (1, 16) if call_name == "tilize" else (16,)
    prepared = [
        call("unary_op_init_common", 0, 16),
        call(f"{call_name}_init", 0, *sizes),
        call(f"{call_name}_block", 0, 1, 16),
    ]
    copy = [
        call("copy_tile_to_dst_init_short", 0),
        call("tile_regs_acquire"),
        call("copy_tile", 0, 0, 0),
        call("tile_regs_commit"),
    ]
    assert _findings(*prepared, *copy) == [
        f"the unpackers are still set up for {call_name}_block; call {call_name}_uninit before "
        "other tiles are unpacked"
    ]
    assert not _findings(*prepared, call(f"{call_name}_uninit", 0), *copy)


def test_rows_are_as_long_as_they_were_prepared() -> None:
    """The unpackers step from row to row by the length that `tilize_init` gave them."""
    assert _findings(
        call("unary_op_init_common", 0, 16),
        call("tilize_init", 0, 2, 16),
        call("tilize_block", 0, 1, 16),
    ) == [
        "tilize_block of rows of 1 tiles, but the unpackers are set up for 2; call "
        "tilize_init(cb, 1, out) before"
    ]
