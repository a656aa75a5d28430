"""Passes on regions of generics: what they refuse, bytes of transfers, calls of kernels."""

from __future__ import annotations

import re

import pytest
from running.pass_runner import lowered, printed

from ttmlir.mlir.reporting import DiagnosticError

HEADER = """#l1 = #ttcore.memory_space<l1>
#dram = #ttcore.memory_space<dram>
#dst = #ttcore.memory_space<dst>
#id = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
!tile = !ttcore.tile<32x32, f32>
!r = memref<2x2x2x4x!tile, #ttcore.shard<16384x4096, 1>, #l1>
!l = memref<2x4x!tile, #l1>
!cb = !d2m.cb<!l>
"""
MAPS = "indexing_maps = [#id, #id], iterator_types = [#parallel, #parallel]"
NO_MAPS = "indexing_maps = [], iterator_types = []"
CBS = "^bb0(%cb0: !cb, %cb1: !cb):\n"


def generic(
    body: str, *, thread: str = "compute", factors: str = "[]", maps: str = NO_MAPS, x: str = "!r"
) -> str:
    """A function with one generic of one thread; its body begins in line 12."""
    return (
        f"{HEADER}func.func @f(%x: {x}, %y: !r, %n: index) {{\n"
        f"  d2m.generic {{block_factors = {factors}, grid = #ttcore.grid<2x2>, {maps}, "
        f"threads = [#d2m.thread<{thread}>]}} ins(%x : {x}) outs(%y : !r) {{\n"
        f"{body}\n  }}\n  return\n}}"
    )


def kernel(body: str, thread: str = "compute", arguments: str = "%cb0: !cb, %cb1: !cb") -> str:
    """A function that was a region; its body begins in line 11."""
    return (
        f"{HEADER}func.func private @k({arguments}) "
        f"attributes {{d2m.thread = #d2m.thread<{thread}>}} {{\n{body}\n  return\n}}"
    )


LOAD = "%c0 = arith.constant 0 : index\n%2 = memref.load %0[%c0, %c0] : !l\n"
SHARD = "%0 = d2m.wait %cb0 : !cb -> !l\n"
SHARED = """%cb = d2m.get_cb(0) : !cb
%c1 = arith.constant 1 : index
%c2 = arith.constant 2 : index
d2m.remote_load %x[%c1, %c1] into %cb mcore[%c1, %c1] mshape[%c1, %c2] {0}: !r into !cb"""
LOOP = """%0 = d2m.wait %cb0 : !cb -> !l
%1 = d2m.reserve %cb1 : !cb -> !l
linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%0 : !l) outs(%1 : !l) {
^bb0(%a: !tile, %b: !tile):
  %2 = "d2m.tile_exp"(%a) : (!tile) -> !tile
  linalg.yield %2 : !tile
}"""

REFUSED = {
    "steps without a loop": (
        "d2m-generic-lower-to-explicit-form",
        generic(
            "%i = d2m.block_index(0) : index",
            thread="unified",
            factors="[2, 1]",
            maps=MAPS,
            x="!r",
        ).replace("grid<2x2>", "grid<1x2>"),
        "12:6: error: 'd2m.block_index' op is the index of an iterator of several steps, for which "
        "there is no loop; run d2m-generate-outer-loops before",
    ),
    "no such iterator": (
        "d2m-generic-lower-to-explicit-form",
        generic("%i = d2m.block_offset(5) : index", factors="[1, 1]", maps=MAPS),
        "12:6: error: 'd2m.block_offset' op names iterator 5; the generic has 2",
    ),
    "no operand": (
        "d2m-split-unified-thread",
        generic(
            "%b = memref.alloc() : !r\n%l = memref.alloc() : !l\n%c0 = arith.constant 0 : index\n"
            "%0 = d2m.remote_load %l %b[%c0, %c0] : !l, !r -> !l",
            thread="unified",
        ),
        "15:6: error: 'd2m.remote_load' op moves a block of what is no operand of the d2m.generic "
        "around it",
    ),
    "no semaphores": (
        "d2m-lower-load-store-ops-to-dma",
        generic(SHARED.replace("{0}", ""), thread="datamovement"),
        "15:1: error: 'd2m.remote_load' op shares a block with other cores without "
        "'preallocatedSemaphores', the numbers of two semaphores; run "
        "d2m-preallocate-mcast-semaphores before",
    ),
    "semaphores that are none": (
        "d2m-lower-load-store-ops-to-dma",
        generic(
            SHARED.replace("{0}", "{preallocatedSemaphores = [0, -1]} "), thread="datamovement"
        ),
        "15:1: error: 'd2m.remote_load' op shares a block with other cores without "
        "'preallocatedSemaphores', the numbers of two semaphores; run "
        "d2m-preallocate-mcast-semaphores before",
    ),
    "more tiles than DST": (
        "d2m-insert-dst-register-access",
        generic(CBS + LOOP),
        "15:1: error: 'affine.for' op needs 1 slices of 8 tiles in DST, which has 4 tiles; run "
        "d2m-generic-tile-compute-loops before, or compute it in several loops",
    ),
    "maps": (
        "d2m-generic-regions-to-funcs",
        generic(CBS + SHARD, factors="[1, 1]", maps=MAPS),
        "11:3: error: 'd2m.generic' op has maps in place of loops; run d2m-generic-generate-loops, "
        "or of 2026 d2m-generic-lower-to-explicit-form, before",
    ),
    "a value from outside": (
        "d2m-generic-regions-to-funcs",
        generic(CBS + SHARD + "%1 = memref.load %0[%n, %n] : !l"),
        "14:6: error: 'memref.load' op uses a value from outside of its d2m.generic, which is none "
        "of its operands",
    ),
    "a step in a kernel": (
        "convert-d2m-to-ttkernel",
        kernel("%i = d2m.iter_index(0) : index", "datamovement"),
        "11:6: error: 'd2m.iter_index' op is in a function that is no kernel yet; run the passes "
        "on regions before",
    ),
    "an argument of a kernel": (
        "convert-d2m-to-ttkernel",
        kernel("", arguments="%n: index"),
        "10:1: error: 'func.func' op has an argument of type 'index'; those of kernels are "
        "circular buffers and semaphores",
    ),
    "L1 to L1": (
        "convert-d2m-to-ttkernel",
        kernel(
            SHARD + "%1 = d2m.reserve %cb1 : !cb -> !l\n" + LOAD + "memref.store %2, "
            "%1[%c0, %c0] : !l"
        ),
        "15:1: error: 'memref.store' op copies a tile from L1 to L1; it must go by DST",
    ),
    "a tile outside of DST": (
        "convert-d2m-to-ttkernel",
        kernel(
            SHARD
            + "%d = d2m.acquire_dst() : memref<4x!tile, #dst>\n"
            + LOAD
            + '%3 = "d2m.tile_exp"'
            "(%2) : (!tile) -> !tile\nmemref.store %3, %d[%c0] : memref<4x!tile, #dst>"
        ),
        "15:6: error: 'd2m.tile_exp' op takes a tile that is not in DST; run "
        "d2m-insert-dst-register-access before",
    ),
    "a whole shard": (
        "convert-d2m-to-ttkernel",
        kernel(
            "%a = d2m.get_global_operand(0) : !r\n%0 = d2m.reserve %cb0 : !cb -> !l\n"
            "%c0 = arith.constant 0 : index\n"
            "%tx = d2m.dma_read %a[%c0, %c0], %0, <0> : (!r, !l) -> !d2m.mem_tx",
            "datamovement",
        ),
        "14:7: error: 'd2m.dma_read' op moves a whole shard; run "
        "d2m-lower-dma-to-fully-indexed-form before",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str) -> None:
    """What cannot be done is said at its place, with what helps."""
    spelled, text, message = REFUSED[name]
    with pytest.raises(DiagnosticError) as refused:
        lowered(text, spelled)
    assert str(refused.value) == f"test.mlir:{message}"


def test_unsupported_layouts() -> None:
    """d2m-lower-to-layout says what it has no generic for."""
    layouts = [
        f"#ttcore.metal_layout<logical_shape = 64x128, dim_alignments = {alignment}x{alignment}, "
        "collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, l1, sharded>"
        for alignment in (32, 64)
    ]
    types = [f"tensor<1x1x2x4x!tile, {layout}>" for layout in layouts]
    changes = f"{types[0]} into {types[1]} -> {types[1]}"
    text = (
        f"{HEADER}func.func @f(%x: {types[0]}, %y: {types[1]}) {{\n"
        f"  %0 = d2m.to_layout %x, %y : {changes}\n  return\n}}"
    )
    with pytest.raises(DiagnosticError) as refused:
        lowered(text, "d2m-lower-to-layout")
    assert "error: 'd2m.to_layout' op changes the padding or the dimensions that are merged" in str(
        refused.value
    )


def test_bytes_of_blocks_that_are_no_shards() -> None:
    """Rows of two tiles of a view lie in shards of four: two tiles at a time, by their bytes.

    By hand: block (i, j) of 2x2 tiles begins in shard (i, j floordiv 2), at column 2 * (j mod 2) of
    rows of 4 tiles, which take 4 * 4096 bytes.
    """
    view = "memref<2x4x2x2x!tile, #ttcore.view<(d0, d1, d2, d3) -> (d0, d1 floordiv 2, d2, "
    view += "(d1 mod 2) * 2 + d3)>, #l1>"
    local = "memref<2x2x!tile, #l1>"
    text = (
        f"{HEADER}func.func @f(%x: !r, %y: !r) {{\n"
        f"  %v = d2m.view_layout %x : !r -> {view}\n"
        f"  d2m.generic {{block_factors = [], grid = #ttcore.grid<2x2>, {NO_MAPS}, "
        f"threads = [#d2m.thread<datamovement>]}} ins(%v : {view}) outs(%y : !r) {{\n"
        f"    %cb = d2m.get_cb(0) : !d2m.cb<{local}>\n"
        f"    %0 = d2m.reserve %cb : !d2m.cb<{local}> -> {local}\n"
        "    %i = d2m.core_index(0) : index\n    %j = d2m.core_index(1) : index\n"
        f"    %tx = d2m.dma_read %v[%i, %j], %0, <0> : ({view}, {local}) -> !d2m.mem_tx\n"
        "    d2m.dma_wait %tx\n  }\n  return\n}"
    )
    made = printed(text, "d2m-lower-dma-to-fully-indexed-form")
    assert re.search(r"scf\.for .*iter_args\(.* = %null_tx\)|iter_args", made)
    assert "arith.remui" in made  # a transfer begins at every second tile
    [transfer] = re.findall(r"d2m\.dma_read (%\w+)\[(.*?)\], (%\w+)\[(.*?)\], <(\d+)>", made)
    assert transfer[-1] == "2"
    maps = dict(re.findall(r"#(map\d*) = affine_map<(.*)>", made))
    applied = re.findall(r"affine\.apply #(map\d*)\((.*?)\)", made)
    texts = [maps[name] for name, _ in applied]
    assert "(d0, d1) -> (d0 * 2 + d1)" in texts  # the tile of the local buffer
    assert "(d0, d1, d2, d3) -> (d1 floordiv 2)" in texts
    assert any("16384" in each and "mod 2" in each for each in texts)


KINDS = {
    "exp": ('"d2m.tile_exp"(%a) : (!tile) -> !tile', ["exp_tile_init", "exp_tile"]),
    "add": (
        '"d2m.tile_add"(%a, %a) : (!tile, !tile) -> !tile',
        ["add_binary_tile_init", "add_binary_tile"],
    ),
    "where": (
        '"d2m.tile_where"(%a, %a, %a) : (!tile, !tile, !tile) -> !tile',
        ["where_tile_init", "where_tile"],
    ),
    "bcast": (
        '"d2m.tile_bcast"(%a) <{bcast_type = #d2m<tile_bcast_type row>}> : (!tile) -> !tile',
        ["unary_bcast_init", "unary_bcast"],
    ),
    "transpose": (
        '"d2m.tile_transpose"(%a) : (!tile) -> !tile',
        ["transpose_wh_init", "transpose_wh_tile"],
    ),
    "scalar": (
        '"d2m.tile_mul"(%a, %k) : (!tile, f32) -> !tile',
        ["binop_with_scalar_tile_init", "mul_unary_tile"],
    ),
}


@pytest.mark.parametrize("name", KINDS)
def test_calls_on_tiles(name: str) -> None:
    """An operation on tiles is prepared, called and packed; calls are those of tt-mlir's facts."""
    op, calls = KINDS[name]
    loop = LOOP.replace('"d2m.tile_exp"(%a) : (!tile) -> !tile', op)
    loop = loop.replace("linalg.generic", "%k = arith.constant 2.0 : f32\nlinalg.generic", 1)
    made = printed(
        generic(CBS + loop),
        "d2m-generic-tile-compute-loops",
        "d2m-insert-dst-register-access",
        "d2m-generic-linearize-memref",
        "d2m-generic-regions-to-funcs",
        "convert-d2m-to-ttkernel",
        "ttkernel-control-dst-section",
    )
    found = re.findall(r"ttkernel\.([a-z_0-9]+)[(\"]", made.partition("@compute_kernel0")[2])
    wanted = [
        *("tile_regs_acquire", *calls, "tile_regs_commit", "tile_regs_wait", "pack_tile"),
        *("tile_regs_release", "cb_pop_front", "cb_push_back"),
    ]
    places = [found.index(each) for each in wanted]
    assert places == sorted(places), found
