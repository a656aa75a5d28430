"""Operations of d2m made in Python, and what they say of themselves."""

from __future__ import annotations

import pytest
from running.ir_text import context, message_of, parse
from xdsl.dialects.builtin import ModuleOp, TensorType, bf16, f32, i32
from xdsl.ir import Attribute, Block, Region

from ttmlir.dialects import d2m, ttcore
from ttmlir.dialects.tt import TileType
from ttmlir.layout.affine import AffineMap, constant, dims
from ttmlir.layout.enums import DataType, IteratorType, MemorySpace
from ttmlir.layout.errors import LayoutError
from ttmlir.mlir.module_printer import print_module
from ttmlir.mlir.printing import attribute_text
from ttmlir.mlir.verifier import verify_module
from ttmlir.optable import DEFINITIONS
from ttmlir.optable.kernel import CALLS
from ttmlir.optable.kernel.tile_calls import TILE_CALLS, TILE_OPERATIONS

L1, DRAM = MemorySpace.DEVICE_L1, MemorySpace.DEVICE_DRAM
PARALLEL, REDUCTION = IteratorType.PARALLEL, IteratorType.REDUCTION
COMPUTE, MOVE = d2m.ThreadKind.COMPUTE, d2m.ThreadKind.DATAMOVEMENT
TILE = TileType.of(bf16)
D0, D1, D2 = dims(3)
PLAIN = AffineMap.identity(2)


def tensor(shape, grid, space=L1, element: Attribute = TILE) -> TensorType[Attribute]:
    """A tensor on a grid."""
    return ttcore.metal_tensor_type(shape, element, space, grid)


def values(*types: Attribute):
    """A value of each type."""
    return list(Block(arg_types=types).args)


def elementwise(**options) -> d2m.GenericOp:
    """A generic of one input, 4x3 tiles on 2x3 cores."""
    type = tensor((100, 96), (2, 3))
    source, target = values(type, type)
    return d2m.GenericOp.of(
        [source], [target], [PLAIN, PLAIN], [PARALLEL] * 2, [COMPUTE], **options
    )


def test_tensors_on_grids() -> None:
    """The shape follows from the logical shape, the grid and the tiles."""
    type = tensor((2, 50, 70), (2, 1))
    assert type.get_shape() == (2, 1, 2, 3)
    layout = ttcore.device_layout_of(type)
    assert layout is not None
    assert (layout.grid_shape, layout.shard_shape) == ((2, 1), (2, 3))
    assert layout.scalar_shard_shape == (64, 96)
    assert (layout.memory_space, layout.index_map) == (L1, None)
    assert ttcore.device_layout_of(TensorType(f32, [4, 4])) is None
    assert ttcore.metal_layout_of(type).host_type(bf16) == TensorType(bf16, [2, 50, 70])
    with pytest.raises(LayoutError, match="a grid of 3x1 does not divide 4x3 tiles"):
        tensor((2, 50, 70), (3, 1))


def test_tiles_of_integers() -> None:
    """Signed ones have a format of their own here."""
    assert ttcore.metal_tile_type(i32).data_type is DataType.SI32
    assert ttcore.metal_tile_type(bf16) == TILE
    assert TileType.of(i32).data_type is DataType.U32


@pytest.mark.parametrize(
    ("type", "text"),
    [
        (
            tensor((100, 96), (2, 3)),
            "memref<2x3x2x1x!ttcore.tile<32x32, bf16>, #ttcore.shard<2048x2048>, "
            "#ttcore.memory_space<l1>>",
        ),
        (
            tensor((100, 96), (1, 1), DRAM, f32),
            "memref<1x1x128x96xf32, #ttcore.shard<384x4>, #ttcore.memory_space<dram>>",
        ),
    ],
)
def test_memrefs_of_tensors(type, text) -> None:
    """Strides in bytes; the shard lies in L1."""
    memref = ttcore.memref_type_of(type)
    assert attribute_text(memref) == text
    layout = ttcore.device_layout_of(memref)
    assert layout == ttcore.device_layout_of(type)
    shard = ttcore.shard_type_of(memref)
    assert shard.get_shape() == layout.shard_shape
    assert ttcore.device_layout_of(shard) is None


def test_memrefs_of_streams_and_views() -> None:
    """More than one buffer, and a map instead of strides."""
    type = tensor((100, 96), (2, 3))
    buffers = ttcore.memref_type_of(type, buffers=2)
    assert attribute_text(buffers.layout) == "#ttcore.shard<2048x2048, 2>"
    assert ttcore.device_layout_of(buffers).buffers == 2
    swap = AffineMap(4, 0, (dims(4)[1], dims(4)[0], dims(4)[3], dims(4)[2]))
    view = ttcore.MetalLayoutAttr(type.encoding.data.with_index_map(swap))
    memref = ttcore.memref_type_of(TensorType(TILE, [3, 2, 1, 2], view))
    assert ttcore.device_layout_of(memref).index_map == swap


def test_generic_from_operands() -> None:
    """Grid, factors, results and arguments follow from the operands."""
    op = elementwise()
    assert (op.grid_shape, op.block_factors) == ((2, 3), (1, 1))
    assert op.result_types == (op.outputs[0].type,)
    assert op.indexing_maps == (PLAIN, PLAIN)
    assert op.iterator_types == (PARALLEL, PARALLEL)
    assert op.reductions == ()
    assert op.is_compute_only
    assert not op.is_dma_only
    assert op.has_maps
    assert attribute_text(op.cb(1).type) == "!d2m.cb<tensor<2x1x!ttcore.tile<32x32, bf16>>>"
    assert op.compute_region is op.regions[0]
    assert op.inits == op.outputs
    assert op.layouts[0].shard_shape == (2, 1)


def test_generic_on_another_grid() -> None:
    """Cores take several blocks each."""
    assert elementwise(grid=(1, 3)).block_factors == (2, 1)
    assert elementwise(grid=(1, 3), block_factors=(4, 5)).block_factors == (4, 5)


def test_generic_of_a_product() -> None:
    """On memrefs: no results, threads with the same arguments, semaphores behind the buffers."""
    lhs = ttcore.memref_type_of(tensor((128, 256), (2, 4)))
    rhs = ttcore.memref_type_of(tensor((256, 96), (4, 3)))
    out = ttcore.memref_type_of(tensor((128, 96), (2, 3)))
    a, b, c = values(lhs, rhs, out)
    maps = [AffineMap(3, 0, (D0, D2)), AffineMap(3, 0, (D2, D1)), AffineMap(3, 0, (D0, D1))]
    kinds = [PARALLEL, PARALLEL, REDUCTION]
    op = d2m.GenericOp.of([a, b], [c], maps, kinds, [MOVE, MOVE, COMPUTE], semaphores=2)
    assert op.block_factors == (1, 1, 4)
    assert op.reductions == (2,)
    assert not op.results
    assert op.regions_of(MOVE) == list(op.regions[:2])
    assert [op.block_name(number) for number in range(3)] == [
        *("datamovement0", "datamovement1"),
        "compute0",
    ]
    assert list(op.argument_names(0)) == ["cb0", "cb1", "cb2", "sem0", "sem1"]
    assert [attribute_text(each.type) for each in op.semaphores(2)] == ["!d2m.semaphore"] * 2
    assert message_of(op) is None


def test_generic_without_regions() -> None:
    """Threads name functions."""
    type = ttcore.memref_type_of(tensor((100, 96), (2, 3)))
    source, target = values(type, type)
    threads = [d2m.ThreadAttr.of(MOVE, "mover")]
    op = d2m.GenericOp.of([source], [target], [], [], threads, block_factors=(), regions=())
    assert op.regions_of(MOVE) == []
    assert op.is_dma_only
    assert not op.has_maps
    assert message_of(op) is None


def test_generic_needs_grids() -> None:
    """A plain tensor has none."""
    plain, target = values(TensorType(bf16, [100, 96]), tensor((100, 96), (2, 3)))
    with pytest.raises(LayoutError, match=r"has none; move it with d2m\.to_layout"):
        d2m.GenericOp.of([plain], [target], [PLAIN, PLAIN], [PARALLEL] * 2, [COMPUTE])


def test_broadcast_operands_are_compared_with_nothing() -> None:
    """The map of a scaler has constants."""
    type, one = tensor((100, 96), (2, 3)), tensor((32, 32), (1, 1))
    zero = AffineMap(2, 0, (constant(0), constant(0)))
    a, s, o = values(type, one, type)
    op = d2m.GenericOp.of([a, s], [o], [PLAIN, zero, PLAIN], [PARALLEL] * 2, [COMPUTE])
    block = op.regions[0].block
    reserve = d2m.ReserveOp.on(op.cb(2))
    block.add_ops([reserve, d2m.YieldOp.create(operands=reserve.results)])
    assert message_of(op) is None


# --- Changes of layout ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "changed", "compound"),
    [
        (tensor((64, 96), (2, 1)), tensor((64, 96), (2, 1)), set(), False),
        (tensor((64, 96), (2, 1)), tensor((64, 96), (1, 3)), {"grid"}, False),
        (tensor((64, 96), (2, 1)), tensor((64, 96), (2, 1), DRAM), {"memory_space"}, False),
        (tensor((64, 96), (2, 1)), tensor((64, 96), (1, 3), DRAM), {"grid", "memory_space"}, False),
        (tensor((64, 96), (2, 1), L1, bf16), tensor((64, 96), (2, 1)), {"format"}, False),
        (
            tensor((64, 96), (2, 1), L1, bf16),
            tensor((64, 96), (1, 3)),
            {"format", "grid"},
            True,
        ),
        (
            TensorType(bf16, [64, 96]),
            tensor((64, 96), (2, 1)),
            {"format", "host", "memory_space"},
            True,
        ),
        (
            TensorType(bf16, [64, 96]),
            tensor((64, 96), (2, 1), L1, bf16),
            {"host", "memory_space"},
            False,
        ),
        (
            tensor((64, 96), (2, 1)),
            ttcore.MetalLayoutAttr.of((64, 96), L1, alignments=(64, 32)).tensor_type((2, 1), TILE),
            {"layout"},
            False,
        ),
    ],
)
def test_what_changes(before, after, changed, compound) -> None:
    """By component; more than one of layout, format and place is compound."""
    op = d2m.ToLayoutOp.of(*values(before, after))
    found = {name for name, value in vars(op.changes).items() if value}
    assert found == changed
    assert op.changes.is_compound is compound


# --- Tiles ---------------------------------------------------------------------------------------


def test_every_definition_with_tile_calls_has_an_operation() -> None:
    """And no other."""
    computed = {
        mnemonic
        for mnemonic, call in TILE_CALLS.items()
        if call.floats is not None or call.integers is not None
    }
    assert {
        each.definition.mnemonic for each in TILE_OPERATIONS.values() if each.definition
    } == computed
    for mnemonic in DEFINITIONS:
        assert (d2m.tile_op_of(mnemonic) is not None) == (mnemonic in computed)


@pytest.mark.parametrize(
    ("mnemonic", "name"),
    [
        ("reciprocal", "tile_recip"),
        ("neg", "tile_negative"),
        ("multiply", "tile_mul"),
        ("subtract", "tile_sub"),
        ("clamp", "tile_clamp_scalar"),
        ("exp", "tile_exp"),
    ],
)
def test_names_of_tile_operations(mnemonic: str, name: str) -> None:
    """Where they differ from the definitions'."""
    assert d2m.tile_op_of(mnemonic) is d2m.tile_op(name)


@pytest.mark.parametrize("mnemonic", TILE_OPERATIONS)
def test_tile_operations(mnemonic: str) -> None:
    """Each is pure, reads its operands from DST, is made of calls that exist, and can be read."""
    operation = TILE_OPERATIONS[mnemonic]
    steps = (*(operation.call.floats or ()), *(operation.call.integers or ()))
    assert {step.call for step in steps} <= {call.mnemonic for call in CALLS}
    parameters = {"min": -1.5, "max": 2.0, "parameter": 0.25, "scale": 1.0625, "alpha": 1.75}
    given = {each.name: parameters[each.name] for each in operation.parameters}
    arguments = values(*[TILE] * len(operation.operands))
    op = d2m.tile_op(mnemonic).of(arguments, **given)
    assert op.results[0].type == TILE
    assert op.DST_OPERANDS == tuple(range(len(arguments)))
    assert op.IN_PLACE == (len(arguments) == 1)
    dictionary = ", ".join(f"{name} = {value:e} : f32" for name, value in sorted(given.items()))
    names = [f"%{number}" for number in range(len(arguments))]
    tile = "!ttcore.tile<32x32, bf16>"
    text = (
        f"func.func @f({', '.join(f'{name}: {tile}' for name in names)}) {{ "
        f'"d2m.{mnemonic}"({", ".join(names)}) {{{dictionary}}} : '
        f"({', '.join([tile] * len(names))}) -> {tile} return }}"
    )
    module = parse(text)
    assert verify_module(module) == []
    assert print_module(parse(print_module(module))) == print_module(module)


def test_dst_facts() -> None:
    """What the other operations read from DST."""
    assert d2m.TileMatmulOp.DST_OPERANDS == (2,)
    assert d2m.TileMatmulOp.IN_PLACE
    assert d2m.TileReduceSumOp.DST_OPERANDS == (2,)
    assert d2m.TileTransposeOp.DST_OPERANDS == ()
    assert not d2m.TileTransposeOp.IN_PLACE


def test_a_program_made_in_python_prints_and_reads_back() -> None:
    """With reads, semaphores and a multicast."""
    type = ttcore.memref_type_of(tensor((100, 96), (2, 3)))
    function = parse("func.func @f() { return }").body.block.first_op
    block = function.regions[0].block
    end = block.last_op
    buffers = [d2m.EmptyOp.of(type) for _ in range(2)]
    source, target = (each.results[0] for each in buffers)
    op = d2m.GenericOp.of(
        [source], [target], [PLAIN, PLAIN], [PARALLEL] * 2, [MOVE, COMPUTE], semaphores=1
    )
    mover = op.regions[0].block
    room = d2m.ReserveOp.on(op.cb(0))
    y, x = d2m.CoreIndexOp.at(0), d2m.CoreIndexOp.at(1)
    copy = d2m.DMAOp.of(source, room.results[0], src_map=PLAIN)
    core = (y.results[0], x.results[0])
    spread = d2m.DMAOp.of(room.results[0], room.results[0], core=core, mcast=core)
    semaphore = op.semaphores(0)[0]
    mover.add_ops(
        [
            *(room, y, x, copy, d2m.DMAWaitOp.of(copy.results[0]), spread),
            d2m.SemaphoreSetOp.of(semaphore, y.results[0], core, core),
            d2m.SemaphoreWaitOp.of(semaphore, y.results[0], x.results[0]),
        ]
    )
    block.insert_ops_before([*buffers, op], end)
    module = function.parent_op()
    assert isinstance(module, ModuleOp)
    assert verify_module(module) == []
    text = print_module(module)
    assert print_module(parse(text)) == text
    assert copy.map_of("src") == PLAIN
    assert spread.mcast_shape == core
    assert context().get_optional_op("d2m.generic") is d2m.GenericOp


def test_device_modules() -> None:
    """The device of the nearest module that has one."""
    module = parse(
        "ttcore.device @default_device = <workerGrid = #ttcore.grid<8x8, (d0, d1) -> (0, d0, d1)>, "
        "l1Map = (d0, d1, d2)[s0] -> (0, d0, d1, d2 + s0), "
        "dramMap = (d0, d1, d2)[s0, s1, s2, s3, s4, s5, s6] -> (0, 0, d1, d2 + s5), "
        "meshShape = , chipIds = [0]>\nfunc.func @f() { return }"
    )
    function = module.body.block.last_op
    device = ttcore.device_of(function)
    assert device is not None
    assert device.worker_grid.shape == (8, 8)
    holder = ttcore.DeviceModuleOp.of(ModuleOp([]))
    assert message_of(holder) is None
    assert ttcore.device_of(holder) is None
    assert Region(Block([holder])).block.first_op is holder
