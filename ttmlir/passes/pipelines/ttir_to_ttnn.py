"""From ttir to ttnn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ttmlir.layout.enums import DataType, MathFidelity
from ttmlir.mlir.option_values import option
from ttmlir.passes.core.base import Pass, Pipeline
from ttmlir.passes.placement.layout_overrides import (
    GRID_OVERRIDES,
    LAYOUT_OVERRIDES,
    MATH_FIDELITIES_BY_NAME,
    MATH_FIDELITY,
    WEIGHT_DTYPE,
    WEIGHT_DTYPES_BY_NAME,
    GridOverrides,
    LayoutOverrides,
    MathFidelities,
    WeightDtypes,
)

_FOLD_BATCH_NORM = "Fold batch normalizations into convolutions: run ttir-fold-batch-norm"
_CONST_EVAL = "Compute what depends on constants alone: run ttir-evaluate-constants"
_ERASE_INVERSE_OPS = "Merge reshapes and permutations: run ttir-erase-inverse-ops"


@dataclass(frozen=True)
class TTIRToTTNNBackendPipeline(Pipeline):
    """Lower ttir to ttnn, ready to be written to a .ttnn file or as C++.

    Without options it does what tt-mlir's does. `ttmlir.compile` and the pipelines from dialects of
    models simplify the program before.
    """

    name = "ttir-to-ttnn-backend-pipeline"
    enable_fold_batch_norm: bool = option(False, _FOLD_BATCH_NORM)
    enable_const_eval: bool = option(False, _CONST_EVAL)
    enable_erase_inverse_ops_pass: bool = option(False, _ERASE_INVERSE_OPS)
    enable_grid_set: bool = option(True, "Choose grids: run ttir-grid-set")
    override_grid_sizes: GridOverrides = option(
        (), "Grids for the operations at these locations", type=GRID_OVERRIDES
    )
    override_output_layout: LayoutOverrides = option(
        (),
        "Layouts of the results of the operations at these locations",
        type=LAYOUT_OVERRIDES,
    )
    sharding_pass_enabled: bool = option(
        False, "Keep the results of runs of operations in L1, divided over the cores"
    )
    share_transfers: bool = option(
        False, "Move to the device once what several operations take from the host"
    )
    deallocate_above: int = option(
        0, "Run ttnn-deallocate in functions whose tensors take so many bytes; 0 for none"
    )
    experimental_weight_dtype: DataType | None = option(
        None, "Format of the weights of products", type=WEIGHT_DTYPE
    )
    override_weight_dtype: WeightDtypes = option(
        (), "Formats of the weights of products at these locations", type=WEIGHT_DTYPES_BY_NAME
    )
    compute_cfg_math_fidelity: MathFidelity | None = option(
        None, "Fidelity of products", type=MATH_FIDELITY
    )
    compute_cfg_fp32_dest_acc_en: bool = option(False, "Sums of products have 32 bits")
    override_math_fidelity: MathFidelities = option(
        (), "Fidelities of the products at these locations", type=MATH_FIDELITIES_BY_NAME
    )
    system_desc_path: str = option("", "Description (.ttsys file) or board of the machine")
    mesh_shape: tuple[int, ...] = option((), "Extents of the mesh of chips")

    def passes(self) -> Sequence[Pass]:
        """Normalizations, general operations, shapes, machine, device, layouts, grids, ttnn."""
        from ttmlir.passes.general.convert_spelling import ConvertSpellingPass
        from ttmlir.passes.placement.ttir_grid_set import TTIRGridSetPass
        from ttmlir.passes.placement.ttir_implicit_device import TTIRImplicitDevicePass
        from ttmlir.passes.placement.ttir_layout import TTIRLayoutPass
        from ttmlir.passes.placement.ttir_load_system_desc import TTIRLoadSystemDescPass
        from ttmlir.passes.ttir.ttir_decomposition import TTIRDecompositionPass
        from ttmlir.passes.ttir.ttir_erase_inverse_ops import TTIREraseInverseOpsPass
        from ttmlir.passes.ttir.ttir_evaluate_constants import TTIREvaluateConstantsPass
        from ttmlir.passes.ttir.ttir_fold_batch_norm import TTIRFoldBatchNormPass
        from ttmlir.passes.ttir.ttir_hoist_loop_constants import TTIRHoistLoopConstantsPass
        from ttmlir.passes.ttir.ttir_loop_invariant_code_motion import (
            TTIRLoopInvariantCodeMotionPass,
        )
        from ttmlir.passes.ttir.ttir_sliding_window_2d_fix_shapes import (
            TTIRSlidingWindow2dFixShapesPass,
        )
        from ttmlir.passes.ttnn.convert_ttir_to_ttnn import ConvertTTIRToTTNNPass

        grid_set = TTIRGridSetPass(
            override_grid_sizes=self.override_grid_sizes,
            override_output_layout=self.override_output_layout,
            sharding_pass_enabled=self.sharding_pass_enabled,
        )
        return (
            ConvertSpellingPass(),
            *([TTIRFoldBatchNormPass()] if self.enable_fold_batch_norm else []),
            TTIRDecompositionPass(),
            TTIRSlidingWindow2dFixShapesPass(),
            *([TTIREvaluateConstantsPass()] if self.enable_const_eval else []),
            *([TTIREraseInverseOpsPass()] if self.enable_erase_inverse_ops_pass else []),
            TTIRHoistLoopConstantsPass(),
            TTIRLoopInvariantCodeMotionPass(),
            TTIRLoadSystemDescPass(path=self.system_desc_path),
            TTIRImplicitDevicePass(mesh_shape=self.mesh_shape),
            TTIRLayoutPass(),
            *([grid_set] if self.enable_grid_set else []),
            ConvertTTIRToTTNNPass(share_transfers=self.share_transfers),
            *self._product_passes(),
            *self._memory_passes(),
        )

    def _memory_passes(self) -> Sequence[Pass]:
        """Deallocations, where they are asked for."""
        from ttmlir.passes.ttnn.ttnn_deallocate import TTNNDeallocatePass

        above = self.deallocate_above
        return [TTNNDeallocatePass(above=above)] if above else []

    def _product_passes(self) -> Sequence[Pass]:
        """Formats of weights and fidelities, where they are asked for."""
        from ttmlir.passes.ttnn.ttnn_set_compute_kernel_config import (
            TTNNSetComputeKernelConfigPass,
        )
        from ttmlir.passes.ttnn.ttnn_weight_dtype_conversion import TTNNWeightDtypeConversionPass

        weights = TTNNWeightDtypeConversionPass(
            target_dtype=self.experimental_weight_dtype,
            override_weight_dtype=self.override_weight_dtype,
        )
        config = TTNNSetComputeKernelConfigPass(
            math_fidelity=self.compute_cfg_math_fidelity,
            fp32_dest_acc_en=self.compute_cfg_fp32_dest_acc_en,
            override_math_fidelity=self.override_math_fidelity,
        )
        asked = (
            (weights, TTNNWeightDtypeConversionPass()),
            (config, TTNNSetComputeKernelConfigPass()),
        )
        return [each for each, default in asked if each != default]


@dataclass(frozen=True)
class ModelToTTNNPipeline(TTIRToTTNNBackendPipeline):
    """What the pipelines from dialects of models have in common: they simplify by default."""

    enable_fold_batch_norm: bool = option(True, _FOLD_BATCH_NORM)
    enable_const_eval: bool = option(True, _CONST_EVAL)
    enable_erase_inverse_ops_pass: bool = option(True, _ERASE_INVERSE_OPS)
