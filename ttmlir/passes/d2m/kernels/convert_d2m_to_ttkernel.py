"""Turn generics into kernels: a reader, a writer and one that computes.

Before:

    // After ttir-load-system-desc
    #id = affine_map<(d0, d1) -> (d0, d1)>
    #parallel = #ttcore.iterator_type<parallel>
    #l1 = #ttcore.memory_space<l1>
    #dram = #ttcore.memory_space<dram>
    !tile = !ttcore.tile<32x32, bf16>
    !buffer = memref<1x1x4x2x!tile, #ttcore.interleaved<4096x2048>, #dram>
    !blocks = memref<2x2x2x1x!tile, #ttcore.view<(d0, d1, d2, d3) -> (0, 0, d0 * 2 + d2, d1 + d3)>,
        #dram>
    !cb = memref<2x2x2x1x!tile, #ttcore.shard<2048x2048>, #l1>
    !block = memref<2x1x!tile, #l1>
    func.func @f(%x: !buffer, %y: !buffer, %s: !cb, %t: !cb) {
      %a = "d2m.stream_layout"(%x, %s) : (!buffer, !cb) -> !blocks
      %b = "d2m.stream_layout"(%y, %t) : (!buffer, !cb) -> !blocks
      d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<2x2>, indexing_maps = [#id, #id],
          iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]}
          ins(%a : !blocks) outs(%b : !blocks) {
      ^compute0(%cb0: !d2m.cb<!block>, %cb1: !d2m.cb<!block>):
        %i = d2m.wait %cb0 : !d2m.cb<!block> -> !block
        %o = d2m.reserve %cb1 : !d2m.cb<!block> -> !block
        linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
            ins(%i : !block) outs(%o : !block) {
        ^bb0(%in: !tile, %out: !tile):
          %e = "d2m.tile_exp"(%in) : (!tile) -> !tile
          linalg.yield %e : !tile
        }
      }
      return
    }

After:

    ...
    func.func @f(...) {
      ...
      d2m.generic {block_factors = [], grid = #ttcore.grid<2x2>, indexing_maps = [],
          iterator_types = [], threads = [#d2m.thread<datamovement, @reader0>,
          #d2m.thread<datamovement, @writer0>, #d2m.thread<compute, @compute0>]} ins(...) outs(...)
      return
    }
    func.func private @reader0(...) attributes {ttkernel.thread = #ttkernel.thread<noc>,
        ttmetal.kernel_args = #ttmetal.kernel_args<ct_args = [<buffer_address[0]>]>} {
      ...
    }
    ...

Requires: generics on memrefs with one region, in which they compute; operands are streams, whose
blocks divide their extents. The attribute `tt.system_desc` on the module or around it. Or functions
that `d2m-generic-regions-to-funcs` made of regions, which become kernels of late 2025 and 2026.
Ensures: generics have no regions, maps and factors. Their threads name a reader, a writer and a
compute kernel, in this order; generics that differ in addresses only share theirs. Operands are the
inputs, the memory of local buffers, the outputs: circular buffer i of the kernels is that of
operand i. `ttmetal.kernel_args` on a kernel tells what its arguments are; it counts operands
without local buffers. On kernels that were functions it is `ttkernel.arg_spec`.
Options: whether addresses are known when kernels are compiled, or at each launch; tiles of DST;
approximate functions.
Not done here: addresses of buffers and of circular buffers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING

from xdsl.dialects import memref
from xdsl.dialects.builtin import ArrayAttr, BoolAttr, MemRefType, ModuleOp, StringAttr, UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, SSAValue

from ttmlir.dialects import d2m
from ttmlir.dialects.definition.ods import SEGMENTS, segments_attr
from ttmlir.dialects.tt.layout import element_of
from ttmlir.dialects.ttcore import ShardLayoutAttr
from ttmlir.dialects.ttkernel import CallOp
from ttmlir.ir.kernel_builder import KernelBuilder
from ttmlir.ir.rewriting import erase, insert_before, refuse, symbols_in
from ttmlir.layout.enums import IteratorType, ThreadType
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.metal import grid_of_rank
from ttmlir.mlir.option_values import option
from ttmlir.mlir.reporting import around
from ttmlir.optable.kernel import CALLS, NARROW
from ttmlir.passes.d2m.dst.select import is_narrow_to_compute, is_wide
from ttmlir.passes.d2m.frontend.unified_form import ComputingModulePass
from ttmlir.passes.d2m.kernels.compute_kernel import build_compute
from ttmlir.passes.d2m.kernels.kernel_plan import (
    APPROXIMATE,
    EXACT_PRODUCTS,
    KERNEL_ARGS,
    WIDE_DST,
    KernelArguments,
    KernelPlan,
    chip_of,
    looped_iterators,
    plan_kernels,
)
from ttmlir.passes.d2m.kernels.reader_writer import build_reader, build_writer
from ttmlir.passes.d2m.schedule.row_split import buffers_of_local

if TYPE_CHECKING:
    from xdsl.context import Context

Build = Callable[[KernelBuilder, KernelArguments], None]


@dataclass(frozen=True)
class ConvertD2MToTTKernelPass(ComputingModulePass):
    """Turn generics on streams into kernels that load, compute and store blocks."""

    name = "convert-d2m-to-ttkernel"
    title = "ConvertD2MToTTKernel"
    ttnn_mode: bool = option(
        False, "Let kernels get addresses at each launch, as common run-time arguments"
    )
    max_dst_physical_size_tiles: int = option(
        0, "Tiles of 16-bit numbers in DST; 0 for those of the chip"
    )

    math_approx_mode: bool = option(
        False, "Compute exponentials by an approximate function that takes a tenth of the time"
    )
    use_tile_matmul: bool = option(False, "Multiply tile by tile instead of block by block")
    translate_coordinates: bool = option(
        False, "Let kernels ask the chip where its cores are on the networks"
    )

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Convert every generic that has a region, and every function that was one."""
        for table in _symbol_tables(module):
            names = _Names(table)
            for op in list(table.walk()):
                if isinstance(op, d2m.GenericOp) and op.regions and around(op, ModuleOp) is table:
                    self._convert(op, names)
        if any(d2m.KERNEL_THREAD in op.attributes for op in module.walk()):
            from ttmlir.passes.d2m.kernels.kernel_functions import convert_functions

            convert_functions(module, ttnn_mode=self.ttnn_mode)

    def _convert(self, generic: d2m.GenericOp, names: _Names) -> None:
        if not generic.is_compute_only or not generic.has_maps or generic.results:
            refuse(
                generic,
                "has tensors, loops or threads of its own; kernels are made of one compute region "
                "on memrefs, with indexing maps: run d2m-allocate before",
            )
        kinds = [generic.iterator_types[each] for each in looped_iterators(generic)]
        if kinds != sorted(kinds, key=lambda kind: kind is IteratorType.REDUCTION):
            refuse(
                generic,
                "has loops over parallel iterators within those that reduce; kernels write a block "
                "once all terms of it are there: run d2m-grid-selection, or give "
                "d2m-generic-apply-interchange an order that ends in 2",
            )
        try:
            self._build(generic, names)
        except LayoutError as error:
            refuse(generic, f"has no kernels: {error}")

    def _build(self, generic: d2m.GenericOp, names: _Names) -> None:
        plan = plan_kernels(generic, _hoist_locals(generic))
        threads = names.known.get(plan.key)
        if threads is None:
            threads = names.known[plan.key] = self._build_kernels(plan, names)
        _replace(plan, threads)

    def _build_kernels(self, plan: KernelPlan, names: _Names) -> list[d2m.ThreadAttr]:
        """New kernels, and the threads that run them."""
        chip = replace(chip_of(plan.generic), is_asked=self.translate_coordinates)
        number = names.next_number()
        dst_tiles = self.max_dst_physical_size_tiles
        kernels: list[tuple[d2m.ThreadKind, str, Build]] = [
            (
                d2m.ThreadKind.DATAMOVEMENT,
                "reader",
                lambda kernel, arguments: build_reader(plan, kernel, arguments, chip),
            ),
            (
                d2m.ThreadKind.DATAMOVEMENT,
                "writer",
                lambda kernel, arguments: build_writer(plan, kernel, arguments, chip),
            ),
            (
                d2m.ThreadKind.COMPUTE,
                "compute",
                lambda kernel, arguments: build_compute(
                    plan, kernel, dst_tiles, by_tile=self.use_tile_matmul
                ),
            ),
        ]
        threads: list[d2m.ThreadAttr] = []
        for kind, prefix, build in kernels:
            kernel = plan.begin()
            arguments = KernelArguments(kernel, addresses_at_launch=self.ttnn_mode)
            build(kernel, arguments)
            is_compute = kind is d2m.ThreadKind.COMPUTE
            thread = ThreadType.TENSIX if is_compute else ThreadType.NOC
            function = kernel.finish_function(f"{prefix}{number}", thread)
            if not is_compute:
                function.attributes[KERNEL_ARGS] = arguments.attribute
            elif is_wide(plan.generic):
                function.attributes[WIDE_DST] = UnitAttr()
                _choose_wide(function)
                if is_narrow_to_compute(plan.generic) and not self.math_approx_mode:
                    _narrow(function)
            if is_compute and any(d2m.EXACT in op.attributes for op in plan.generic.walk()):
                function.attributes[EXACT_PRODUCTS] = UnitAttr()
            if is_compute and self.math_approx_mode:
                function.attributes[APPROXIMATE] = UnitAttr()
                _approximate(function)
            names.add(function)
            threads.append(d2m.ThreadAttr.of(kind, function.sym_name.data))
        return threads


def _choose_wide(kernel: FuncOp) -> None:
    """Let choices take numbers as a DST of 32 bits holds them: those of 16 bits are widened there.

    The format of `where_tile` says how many bits of DST it reads.
    """
    for op in kernel.walk():
        is_choice = isinstance(op, CallOp) and op.CALL.mnemonic == "where_tile"
        if is_choice and op.properties["data_format"] == StringAttr("Float16_b"):
            op.properties["data_format"] = StringAttr("Float32")


def _narrow(kernel: FuncOp) -> None:
    """Choose the form for numbers of 16 bits of the calls that have one."""
    _set_flags(
        kernel,
        {
            call.mnemonic: (NARROW,)
            for call in CALLS
            if NARROW in [each.name for each in call.templates]
        },
    )


def _approximate(kernel: FuncOp) -> None:
    """Choose the approximate form of the calls of which it is known what they compute.

    The call that prepares such a call takes the same template arguments.
    """
    _set_flags(
        kernel,
        {
            name: call.approximation.flags
            for call in CALLS
            if call.approximation is not None and call.approximation.reference is not None
            for name in (call.mnemonic, call.init)
        },
    )


def _set_flags(kernel: FuncOp, flags: Mapping[str, Sequence[str]]) -> None:
    """Set template arguments of calls, by mnemonic."""
    for op in kernel.walk():
        if isinstance(op, CallOp):
            for flag in flags.get(op.CALL.mnemonic, ()):
                op.properties[flag] = BoolAttr.from_bool(True)


def _replace(plan: KernelPlan, threads: list[d2m.ThreadAttr]) -> None:
    """Let the generic name its kernels."""
    generic = plan.generic
    inputs, outputs = len(generic.inputs), len(generic.outputs)
    storages = plan.storages[inputs : len(plan.storages) - outputs]
    new = d2m.GenericOp.create(
        operands=[*generic.operands[:inputs], *storages, *generic.operands[inputs:]],
        properties={
            **generic.properties,
            "block_factors": ArrayAttr([]),
            "indexing_maps": ArrayAttr([]),
            "iterator_types": ArrayAttr([]),
            "threads": ArrayAttr(threads),
            SEGMENTS: segments_attr((inputs + len(storages), outputs)),
        },
        attributes=dict(generic.attributes),
        location=generic.location,
    )
    insert_before(generic, new)
    erase(generic)


def _hoist_locals(generic: d2m.GenericOp) -> dict[SSAValue, SSAValue]:
    """The local buffers of the region, and memory for each on all cores of the grid."""
    found: dict[SSAValue, SSAValue] = {}
    chip_grid = chip_of(generic).grid
    for op in generic.compute_region.block.ops:
        if not isinstance(op, memref.AllocOp):
            continue
        local = op.memref.type
        assert isinstance(local, MemRefType)
        shape = local.get_shape()
        layout = ShardLayoutAttr.of(
            shape, element_of(local.element_type), buffers_of_local(op.memref)
        )
        grid = grid_of_rank(generic.grid_shape, len(shape), chip_grid)
        storage: MemRefType[Attribute] = MemRefType(
            local.element_type, (*grid, *shape), layout, local.memory_space
        )
        new = memref.AllocOp([], [], storage)
        new.attributes = dict(op.attributes)
        new.location = op.location
        insert_before(generic, new)
        op.attributes.pop("address", None)
        found[op.memref] = new.memref
    return found


# --- Names ----------------------------------------------------------------------------------------


def _symbol_tables(module: ModuleOp) -> list[ModuleOp]:
    return [op for op in module.walk() if isinstance(op, ModuleOp)]


class _Names:
    """The functions of a module, and the numbers of new kernels."""

    def __init__(self, module: ModuleOp) -> None:
        self._module = module
        self._taken = set(symbols_in(module))
        self.known: dict[tuple[object, ...], list[d2m.ThreadAttr]] = {}
        """The threads of the generics that have kernels already, by the keys of their plans."""
        self._numbers = count()

    def next_number(self) -> int:
        """The number of the next generic's kernels, of which no name is taken."""
        prefixes = ("reader", "writer", "compute")
        return next(
            number
            for number in self._numbers
            if not any(f"{prefix}{number}" in self._taken for prefix in prefixes)
        )

    def add(self, kernel: FuncOp) -> None:
        """Put a kernel at the end of the module."""
        self._taken.add(kernel.sym_name.data)
        self._module.body.block.add_op(kernel)
