"""What compute kernels are told that the chip would silently compute wrongly."""

from __future__ import annotations

from typing import Any

import pytest
from cores.compute_core import Call, Recorder, call
from cores.tile_bytes import core_of, eighths, packed

from ttmlir.layout.enums import DataType
from ttmlir.sim.errors import SimError

X = eighths(1, 8)
BEGIN, COMMIT = call("tile_regs_acquire"), call("tile_regs_commit")
WAIT, END = call("tile_regs_wait"), call("tile_regs_release")
PACK = call("pack_tile", 0, 16)
COMMON = call("binary_op_init_common", 0, 1, 16)


def findings(
    *calls: Call,
    first: DataType = DataType.BF16,
    second: DataType = DataType.BF16,
    out: DataType = DataType.BF16,
    **settings: Any,
) -> list[str]:
    """The messages of a kernel on two inputs, each with its rule."""
    watch = Recorder()
    core = core_of((X, first), (X, second), out=out, watch=watch, **settings)
    core.run(calls)
    return [f"{each.role} {each.rule}: {each.message}" for each in watch.findings]


def test_a_right_kernel_has_none() -> None:
    """Sums, then products, each prepared."""
    assert not findings(
        COMMON,
        call("add_tiles_init", 0, 1),
        BEGIN,
        call("add_tiles", 0, 1, 0, 0, 0),
        call("mul_tiles_init", 0, 1),
        call("mul_tiles", 0, 1, 0, 0, 1),
        COMMIT,
        WAIT,
        PACK,
        END,
    )


@pytest.mark.parametrize(
    ("before", "name", "what"),
    [
        (
            [],
            call("mul_tiles", 0, 1, 0, 0, 0),
            "mul_tiles but for nothing; call mul_tiles_init before",
        ),
        (
            [call("add_tiles_init", 0, 1)],
            call("mul_tiles", 0, 1, 0, 0, 0),
            "mul_tiles but for add_tiles; call mul_tiles_init before",
        ),
        (
            [call("add_tiles_init", 0, 1)],
            call("matmul_tiles", 0, 1, 0, 0, 0),
            "matmul_tiles but for add_tiles; call mm_init before",
        ),
        (
            [call("add_bcast_rows_init_short", 0, 1)],
            call("add_tiles_bcast_cols", 0, 1, 0, 0, 0),
            "add_tiles_bcast COL but for add_tiles_bcast ROW; call add_bcast_cols_init_short "
            "before",
        ),
        (
            [call("add_tiles_init", 0, 1)],
            call("copy_tile", 0, 0, 0),
            "copy_tile but for add_tiles; call copy_tile_init before",
        ),
        (
            [call("unary_bcast_init", 0, 16, template=(2,))],
            call("unary_bcast", 0, 0, 0, template=(1,)),
            "unary_bcast COL but for unary_bcast ROW; call unary_bcast_init before",
        ),
        (
            [call("mm_init", 0, 1, 16)],
            call("matmul_block", 0, 1, 0, 0, 0, 0, 1, 1, 1),
            "matmul_block but for matmul_tiles; call mm_block_init before",
        ),
        (
            [call("reduce_init", 0, 1, 16, template=(0, 0))],
            call("reduce_tile", 0, 1, 0, 0, 0, template=(0, 1)),
            "reduce_tile but for reduce_tile (0, 0); call reduce_init with the same template "
            "arguments before",
        ),
    ],
)
def test_operations_that_were_not_prepared(before: list[Call], name: Call, what: str) -> None:
    """The message says for what the unit is prepared, and which call is missing."""
    assert findings(COMMON, *before, BEGIN, name, COMMIT, WAIT, PACK, END) == [
        f"MATH init: the matrix unit is not prepared for {what}"
    ]


@pytest.mark.parametrize(
    ("before", "product"),
    [
        (call("mm_init", 0, 1, 16), call("matmul_tiles", 0, 1, 0, 0, 0, 1)),
        (call("mm_block_init", 0, 1, 16), call("matmul_block", 0, 1, 0, 0, 0, 1, 1, 1, 1)),
    ],
)
def test_products_that_are_transposed_too_late(before: Call, product: Call) -> None:
    """What is unpacked is transposed by the preparation, whatever the product says."""
    name = product.name
    assert findings(before, BEGIN, product, COMMIT, WAIT, PACK, END) == [
        f"UNPACK init: {name} with transpose, but the unpacker is prepared for tiles as they are; "
        "give the preparation the same"
    ]


def test_units_that_were_never_configured() -> None:
    """Each thread says so of its own unit."""
    assert findings(
        call("copy_tile_init", 0), BEGIN, call("copy_tile", 0, 0, 0), COMMIT, WAIT, PACK, END
    ) == [
        "UNPACK init: the unpacker of SrcA is not configured, and circular buffer 0 holds "
        "BFloat16; call reconfig_data_format_srca before",
        "PACK init: the packer is not configured, and circular buffer 16 holds BFloat16; call "
        "pack_reconfig_data_format before",
    ]


def test_buffers_of_other_formats_than_configured() -> None:
    """In0 of elementwise operations is SrcA's, that of matrix products SrcB's."""
    wrong = (
        "circular buffer 1 holds Float32, but the unpacker of {0} is configured for BFloat16: it "
        "would take the bits for other numbers; call reconfig_data_format_{1} before"
    )
    body = (BEGIN, call("add_tiles", 0, 1, 0, 0, 0), COMMIT, WAIT, PACK, END)
    common = (call("binary_op_init_common", 0, 0, 16), call("add_tiles_init", 0, 1))
    found = findings(*common, *body, second=DataType.F32)
    assert found == ["UNPACK format: " + wrong.format("SrcB", "srcb")]
    assert not findings(
        *common, call("reconfig_data_format_srcb", 0, 1), *body, second=DataType.F32
    )
    assert not findings(*common, call("reconfig_data_format", 0, 1), *body, second=DataType.F32)
    body = (BEGIN, call("matmul_tiles", 0, 1, 0, 0, 0), COMMIT, WAIT, PACK, END)
    found = findings(call("mm_init", 0, 0, 16), *body, second=DataType.F32)
    assert found == ["UNPACK format: " + wrong.format("SrcA", "srca")]
    assert not findings(
        call("mm_init", 0, 0, 16),
        call("mm_init_short_with_dt", 0, 1, 0),
        *body,
        second=DataType.F32,
    )


def test_packer_configured_for_another_format() -> None:
    """Until `pack_reconfig_data_format`."""
    body = (BEGIN, call("copy_tile", 0, 0, 0), COMMIT, WAIT, PACK, END)
    common = call("unary_op_init_common", 0, 0)
    assert findings(common, *body, out=DataType.BFP_BF8) == [
        "PACK format: circular buffer 16 holds BFP_BFloat8, but the packer is configured for "
        "BFloat16: it would take the bits for other numbers; call pack_reconfig_data_format before"
    ]
    assert not findings(
        common, call("pack_reconfig_data_format", 0, 16), *body, out=DataType.BFP_BF8
    )


def test_packer_that_still_packs_rows() -> None:
    """`pack_untilize_uninit` is missing."""
    template = (1,)
    rows = (
        call("pack_untilize_init", 0, 16, template=template),
        call("pack_untilize_block", 0, 1, 16, template=template),
    )
    tile = (call("copy_tile_init", 0), BEGIN, call("copy_tile", 0, 0, 0), COMMIT, WAIT, PACK, END)
    assert findings(*rows, *tile) == [
        "PACK init: the packer is prepared to pack rows of numbers; call pack_untilize_uninit "
        "before pack_tile"
    ]
    assert not findings(*rows, call("pack_untilize_uninit", 16), *tile)


def test_rows_of_another_width_than_prepared() -> None:
    """Template arguments of both calls have to agree."""
    assert findings(
        call("unary_op_init_common", 0, 16),
        BEGIN,
        call("copy_tile", 0, 0, 0),
        COMMIT,
        WAIT,
        call("pack_untilize_dest", 16, template=(1,)),
        END,
    ) == [
        "PACK init: the packer is prepared to pack tiles, not rows of 1 tiles; call "
        "pack_untilize_init or pack_untilize_dest_init with the same template arguments before"
    ]


def test_wide_integers_need_a_wide_dst() -> None:
    """On the chip; exact numerics let them pass."""
    body = (call("unary_op_init_common", 0, 16), BEGIN, call("copy_tile", 0, 0, 0), COMMIT)
    kinds = {"first": DataType.U32, "out": DataType.U32}
    assert findings(*body, WAIT, PACK, END, **kinds) == [
        "UNPACK format: circular buffer 0 holds 32-bit integers, which a DST of 16 bits cannot: "
        "compile the kernel with fp32_dest_acc_en"
    ]
    assert not findings(*body, WAIT, PACK, END, **kinds, fp32_dest_acc_en=True)
    assert not findings(*body, WAIT, PACK, END, **kinds, numerics="exact")


def test_hand_overs_of_what_was_not_taken() -> None:
    """Commit without acquire, release without wait."""
    assert findings(COMMON, COMMIT, END) == [
        "MATH dst-acquire: DST is committed without being acquired; call tile_regs_acquire",
        "PACK dst-wait: DST is released without being waited for; call tile_regs_wait",
    ]


@pytest.mark.parametrize(
    ("wide", "name", "text"),
    [
        (False, call("copy_tile", 0, 0, 8), "DST has no tile 8: a thread sees 8 tiles of 16 bits"),
        (True, call("copy_tile", 0, 0, 4), "DST has no tile 4: a thread sees 4 tiles of 32 bits"),
        (False, call("abs_tile", 9), "DST has no tile 9"),
        (False, call("copy_tile", 0, 1, 0), "tile 1 of circular buffer 0 lies past its end: 1"),
    ],
)
def test_indices_out_of_range(wide: bool, name: Call, text: str) -> None:
    """An error, whether or not there is a sanitizer."""
    core = core_of((X, DataType.BF16), fp32_dest_acc_en=wide)
    with pytest.raises(SimError, match=text):
        core.run([call("unary_op_init_common", 0, 16), BEGIN, name])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (call("reduce_tile", 0, 1, 0, 0, 0), "reduce_tile<reduce_type, reduce_dim>(...)"),
        (call("add_tiles_bcast", 0, 1, 0, 0, 0), "add_tiles_bcast<bcast_type>(...)"),
        (call("typecast_tile", 0), "typecast_tile<in_dtype, out_dtype>(...)"),
        (call("add_int_tile", 0, 1, 0), "add_int_tile<data_format>(...)"),
    ],
)
def test_missing_template_arguments(name: Call, text: str) -> None:
    """An error that says which."""
    core = core_of((X, DataType.BF16), (X, DataType.BF16))
    with pytest.raises(SimError) as caught:
        core.run([COMMON, BEGIN, name])
    assert caught.value.message == (
        f"{name.name} is called without the template arguments that it works by; write {text}"
    )


def test_packing_behind_the_end() -> None:
    """A second tile in a buffer of one page."""
    core = core_of((X, DataType.BF16))
    with pytest.raises(SimError) as caught:
        core.run(
            [
                call("unary_op_init_common", 0, 16),
                BEGIN,
                call("copy_tile", 0, 0, 0),
                COMMIT,
                WAIT,
                PACK,
                PACK,
            ]
        )
    assert str(caught.value).splitlines() == [
        "kernel.cpp: error: a tile is packed to page 1 of circular buffer 16, past its end: 1 of "
        "its 1 pages of 2048 bytes are left after the write pointer, and a tile of BFloat16 takes "
        "2048 bytes [cb-bounds]",
        "  note: on core (0, 0) PACK",
        "  note: circular buffer 16: 1 pages of 2048 bytes, received 0, acked 0, 1 free; pushed by "
        "nobody yet, popped by nobody yet",
    ]


def test_a_tile_is_read_anew_after_one_of_its_bytes_was_written() -> None:
    """Also if only its last granule of 1 KiB was: 16-aligned tiles lie in three."""
    core = core_of((X, DataType.BF16), out_pages=2)
    core.core.cbs[0].address += 16
    core.core.cbs[0].rd_ptr += 16
    core.core.cbs[0].limit += 16
    address = core.core.cbs[0].rd_ptr
    body = [BEGIN, call("copy_tile", 0, 0, 0), COMMIT, WAIT, PACK, END]
    for offset in (0, 1008, 2032):
        core.core.l1.write(address, packed(X))
        core.run([call("unary_op_init_common", 0, 16), *body])
        before = core.bytes_of(16)[:2048].tobytes()
        core.core.l1.write(address + offset, b"\x40\x40" * 8)
        core.core.cbs[16].pack_offset = 0
        core.run([call("unary_op_init_common", 0, 16), *body])
        after = core.bytes_of(16)[:2048].tobytes()
        assert before == packed(X)
        assert after[offset : offset + 16] == b"\x40\x40" * 8
        core.core.cbs[16].pack_offset = 0
