"""Pipelines: passes in order, under one name, with options for the whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ttmlir.layout.enums import MemorySpace, TensorMemoryLayout
from ttmlir.mlir.option_values import option
from ttmlir.passes.core.base import Pass, Pipeline
from ttmlir.passes.placement.grid_overrides import GRID_OVERRIDES, GridOverrides


@dataclass(frozen=True)
class TTIRToTTMetalBackendPipeline(Pipeline):
    """Lower ttir to ttmetal: kernels, and what the host does to run them."""

    name = "ttir-to-ttmetal-backend-pipeline"
    fp32_dest_acc_en: bool = option(False, "Keep 32 bits of f32 in DST in all kernels")
    init_memory_space: MemorySpace = option(
        MemorySpace.DEVICE_L1, "Memory space of the tensors that a function takes and returns"
    )
    grid: tuple[int, ...] = option(
        (), "Cores that kernels run on, at most: as many as divide the tiles of their output"
    )

    def passes(self) -> Sequence[Pass]:
        """Machine, device, generics, layouts in L1, addresses, kernels.

        Functions have their tensors at the same addresses, so calls are inlined before.
        """
        from ttmlir.passes.general.inline import InlinePass
        from ttmlir.passes.placement.ttir_allocate import TTIRAllocatePass
        from ttmlir.passes.placement.ttir_implicit_device import TTIRImplicitDevicePass
        from ttmlir.passes.placement.ttir_layout import TTIRLayoutPass
        from ttmlir.passes.placement.ttir_load_system_desc import TTIRLoadSystemDescPass
        from ttmlir.passes.placement.ttir_split_compound_layout import TTIRSplitCompoundLayoutPass
        from ttmlir.passes.ttmetal.convert_ttir_to_ttmetal import ConvertTTIRToTTMetalPass
        from ttmlir.passes.ttmetal.ttir_generic import TTIRGenericPass
        from ttmlir.passes.ttmetal.ttir_generic_region_operands_to_memref import (
            TTIRGenericRegionOperandsToMemrefPass,
        )

        return (
            InlinePass(canonicalize=False),
            TTIRLoadSystemDescPass(),
            TTIRImplicitDevicePass(),
            TTIRGenericPass(elementwise=True),
            TTIRLayoutPass(
                init_memory_space=self.init_memory_space,
                default_memory_space=MemorySpace.DEVICE_L1,
                default_device_memory_layout=TensorMemoryLayout.NONE,
                init_whole_tiles=True,
                constants_on_host=True,
                kernels_on_one_grid=True,
                kernel_grid=self.grid,
            ),
            TTIRSplitCompoundLayoutPass(formats_on_tiles=True),
            TTIRGenericRegionOperandsToMemrefPass(),
            TTIRAllocatePass(),
            ConvertTTIRToTTMetalPass(fp32_dest_acc_en=self.fp32_dest_acc_en),
        )


@dataclass(frozen=True)
class TTIRToTTNNBackendPipeline(Pipeline):
    """Lower ttir to ttnn, ready to be written to a .ttnn file or as C++."""

    name = "ttir-to-ttnn-backend-pipeline"
    enable_fold_batch_norm: bool = option(
        True, "Fold batch normalizations into convolutions: run ttir-fold-batch-norm"
    )
    enable_grid_set: bool = option(True, "Choose grids: run ttir-grid-set")
    override_grid_sizes: GridOverrides = option(
        (), "Grids for the operations at these locations", type=GRID_OVERRIDES
    )
    sharding_pass_enabled: bool = option(
        False, "Keep the results of runs of operations in L1, divided over the cores"
    )
    system_desc_path: str = option("", "File with the description of the machine (.ttsys)")
    mesh_shape: tuple[int, ...] = option((), "Extents of the mesh of chips")

    def passes(self) -> Sequence[Pass]:
        """Normalizations, general operations, shapes, machine, device, layouts, grids, ttnn."""
        from ttmlir.passes.placement.ttir_grid_set import TTIRGridSetPass
        from ttmlir.passes.placement.ttir_implicit_device import TTIRImplicitDevicePass
        from ttmlir.passes.placement.ttir_layout import TTIRLayoutPass
        from ttmlir.passes.placement.ttir_load_system_desc import TTIRLoadSystemDescPass
        from ttmlir.passes.ttir.ttir_decomposition import TTIRDecompositionPass
        from ttmlir.passes.ttir.ttir_fold_batch_norm import TTIRFoldBatchNormPass
        from ttmlir.passes.ttir.ttir_sliding_window_2d_fix_shapes import (
            TTIRSlidingWindow2dFixShapesPass,
        )
        from ttmlir.passes.ttnn.convert_ttir_to_ttnn import ConvertTTIRToTTNNPass

        grid_set = TTIRGridSetPass(
            override_grid_sizes=self.override_grid_sizes,
            sharding_pass_enabled=self.sharding_pass_enabled,
        )
        return (
            *([TTIRFoldBatchNormPass()] if self.enable_fold_batch_norm else []),
            TTIRDecompositionPass(),
            TTIRSlidingWindow2dFixShapesPass(),
            TTIRLoadSystemDescPass(path=self.system_desc_path),
            TTIRImplicitDevicePass(mesh_shape=self.mesh_shape),
            TTIRLayoutPass(),
            *([grid_set] if self.enable_grid_set else []),
            ConvertTTIRToTTNNPass(),
        )


_MAX_TRIP_COUNT = "Largest number of turns of a loop, which are written out one by one"


@dataclass(frozen=True)
class StableHLOToTTIRPipeline(Pipeline):
    """Lower stablehlo to the ttir operations that ttnn has."""

    name = "stablehlo-to-ttir-pipeline"
    max_trip_count: int = option(64, _MAX_TRIP_COUNT)
    enable_remove_dead_values: bool = option(
        False, "Remove unused values, arguments and results: run remove-dead-values"
    )

    def passes(self) -> Sequence[Pass]:
        """Calls, control flow, ttir, general operations."""
        from ttmlir.passes.general.remove_dead_values import RemoveDeadValuesPass
        from ttmlir.passes.ttir.ttir_decomposition import TTIRDecompositionPass

        return (
            *_stablehlo_to_ttir(self.max_trip_count),
            TTIRDecompositionPass(),
            *([RemoveDeadValuesPass()] if self.enable_remove_dead_values else []),
        )


@dataclass(frozen=True)
class StableHLOToTTNNPipeline(TTIRToTTNNBackendPipeline):
    """Lower stablehlo to ttnn, ready to be written to a .ttnn file or as C++."""

    name = "stablehlo-to-ttnn-pipeline"
    max_trip_count: int = option(64, _MAX_TRIP_COUNT)

    def passes(self) -> Sequence[Pass]:
        """Calls, control flow, ttir, then the passes from ttir to ttnn."""
        return (*_stablehlo_to_ttir(self.max_trip_count), *super().passes())


def _stablehlo_to_ttir(max_trip_count: int) -> Sequence[Pass]:
    from ttmlir.passes.general.inline import InlinePass
    from ttmlir.passes.stablehlo.convert_stablehlo_to_ttir import ConvertStableHLOToTTIRPass
    from ttmlir.passes.stablehlo.stablehlo_flatten_control_flow import (
        StableHLOFlattenControlFlowPass,
    )
    from ttmlir.passes.stablehlo.stablehlo_legalize_composite_to_call import (
        StableHLOLegalizeCompositeToCallPass,
    )

    return (
        StableHLOLegalizeCompositeToCallPass(),
        InlinePass(canonicalize=False),
        StableHLOFlattenControlFlowPass(max_trip_count=max_trip_count),
        ConvertStableHLOToTTIRPass(),
    )


def _tosa_to_ttir() -> Sequence[Pass]:
    """Calls, what surrounds tosa, tosa."""
    from ttmlir.passes.tosa.convert_tosa_to_ttir import ConvertTosaToTTIRPass

    return (*_linalg_to_ttir(), ConvertTosaToTTIRPass())


def _linalg_to_ttir() -> Sequence[Pass]:
    """Functions of ml_program, calls, then operations of linalg, tensor, arith and math."""
    from ttmlir.passes.general.inline import InlinePass
    from ttmlir.passes.linalg.convert_linalg_to_ttir import ConvertLinalgToTTIRPass
    from ttmlir.passes.linalg.convert_ml_program_to_func import ConvertMLProgramToFuncPass

    return (
        ConvertMLProgramToFuncPass(),
        InlinePass(canonicalize=False),
        ConvertLinalgToTTIRPass(),
    )


@dataclass(frozen=True)
class TosaToTTIRPipeline(Pipeline):
    """Lower tosa to the ttir operations that ttnn has."""

    name = "tosa-to-ttir-pipeline"

    def passes(self) -> Sequence[Pass]:
        """Calls, ttir, general operations."""
        from ttmlir.passes.ttir.ttir_decomposition import TTIRDecompositionPass

        return (*_tosa_to_ttir(), TTIRDecompositionPass())


@dataclass(frozen=True)
class TosaToTTNNPipeline(TTIRToTTNNBackendPipeline):
    """Lower tosa to ttnn, ready to be written to a .ttnn file or as C++."""

    name = "tosa-to-ttnn-pipeline"

    def passes(self) -> Sequence[Pass]:
        """Calls, ttir, then the passes from ttir to ttnn."""
        return (*_tosa_to_ttir(), *super().passes())


@dataclass(frozen=True)
class LinalgToTTIRPipeline(Pipeline):
    """Lower linalg on tensors to the ttir operations that ttnn has."""

    name = "linalg-to-ttir-pipeline"

    def passes(self) -> Sequence[Pass]:
        """Calls, ttir, general operations."""
        from ttmlir.passes.ttir.ttir_decomposition import TTIRDecompositionPass

        return (*_linalg_to_ttir(), TTIRDecompositionPass())


@dataclass(frozen=True)
class LinalgToTTNNPipeline(TTIRToTTNNBackendPipeline):
    """Lower linalg on tensors to ttnn, ready to be written to a .ttnn file or as C++."""

    name = "linalg-to-ttnn-pipeline"

    def passes(self) -> Sequence[Pass]:
        """Calls, ttir, then the passes from ttir to ttnn."""
        return (*_linalg_to_ttir(), *super().passes())
