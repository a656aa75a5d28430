"""From ttir to ttnn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from enum import Enum
from typing import Any

from ttmlir.ir.builder import Spelling
from ttmlir.layout.enums import Arch, DataType, MathFidelity, Topology
from ttmlir.mlir.option_values import (
    BOOLEAN,
    FLOAT,
    INTEGER,
    TRISTATE,
    OptionError,
    keyword_of,
    list_of,
    option,
)
from ttmlir.passes.core.base import LaterPasses, Pass, Pipeline
from ttmlir.passes.core.value_form import SpelledPipeline, in_earlier_form, when
from ttmlir.passes.general.argument_types import ARGUMENT_TYPES, ArgumentTypes
from ttmlir.passes.placement.layout_overrides import (
    BLOCK_FLOAT,
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
from ttmlir.passes.ttnn.optimizer.optimizer_options import (
    CONV2D_CONFIGS,
    CONV3D_CONFIGS,
    RESHARDS,
    Configs,
    Reshards,
)


class TTNNSpelling(Enum):
    """The year whose ttnn a pipeline writes."""

    AS_MODULE = "module"
    EARLY = "2024"
    LATE = "2026"


class CompositeResolution(Enum):
    """What a pipeline makes of a `ttcore.composite`."""

    PIPELINE = "pipeline"
    INLINE = "inline"
    VALIDATE = "validate"
    PROMOTE = "force-promote"


_FOLD_BATCH_NORM = "Fold batch normalizations into convolutions: run ttir-fold-batch-norm"
_CONST_EVAL = "Compute what depends on constants alone: run ttir-evaluate-constants"
_ERASE_INVERSE_OPS = "Merge reshapes and permutations: run ttir-erase-inverse-ops"
_UNLESS_FALSE = f"{_ERASE_INVERSE_OPS}; 2026: after ttir-explicate-tms, unless false"


OF_2024 = (
    "enable_fold_batch_norm",
    "enable_grid_set",
    "override_grid_sizes",
    "sharding_pass_enabled",
    "share_transfers",
    "deallocate_above",
)
"""Options of the backend pipeline that the passes of 2026 have nothing for."""


MOST_OPTIMIZED = 3
"""The optimization level that does more than tt-mlir's, which has three of them."""
_NOT_DONE = "not done here"
_OPTIMIZER = "2026: of the optimizer, which needs a model of the device"


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


@dataclass(frozen=True)
class LateOptions(Pipeline):
    """What can be said of the passes of 2026."""

    argument_types: ArgumentTypes = option(
        (), "2026: what the arguments of functions are", type=ARGUMENT_TYPES
    )
    enable_fusing_pass: bool = option(True, "2026: fuse operations: run ttir-fusing, ttnn-fusing")
    enable_implicit_broadcast_folding_pass: bool = option(
        True, "2026: let operations repeat their operands: run ttir-implicit-broadcast-fold"
    )
    enable_ttnn_decomposition_pass: bool = option(
        True, "2026: write operations as others: run ttnn-decomposition"
    )
    enable_decomposition_workaround_pass: bool = option(
        True, "2026: decompose in ttnn-workaround what the library computes otherwise"
    )
    enable_layout_workaround_pass: bool = option(
        True, "2026: convert in ttnn-workaround to what the library takes"
    )
    enable_cpu_hoisted_const_eval: bool = option(
        False, "2026: compute constants on the host, of which no file has code"
    )
    enable_trace: bool = option(
        False, "2026: let the device record programs: run ttnn-trace-hoist-transform"
    )
    optimization_level: int = option(
        0,
        "2026: from 1 on, the library divides products and chooses fidelities, weights of "
        "convolutions are prepared, and integers stay in rows; 2 keeps what elementwise "
        "operations make in L1; 3 is 1 with what tt-mlir does not do: ttir-fuse-layers, "
        "ttir-shape-layers, attention as one operation, images of convolutions as tiles, and "
        "ttnn-keep-results-in-l1",
    )
    enable_optimizer: bool = option(False, "2026: what optimization-level 1 does")
    memory_layout_analysis_enabled: bool = option(
        False, "2026: keep what elementwise operations make in L1, as optimization-level 2 does"
    )
    row_major_enabled: bool = option(False, _OPTIMIZER)
    override_output_layout: LayoutOverrides = option(
        (),
        "Layouts of the results of the operations at these locations",
        type=LAYOUT_OVERRIDES,
    )
    insert_memreconfig: Reshards = option(
        (), "2026: operands that are moved to where the results are", type=RESHARDS
    )
    override_conv2d_config: Configs = option(
        (), "2026: fields of the configurations of the convolutions there", type=CONV2D_CONFIGS
    )
    override_conv3d_config: Configs = option(
        (), "2026: the same for convolutions of volumes", type=CONV3D_CONFIGS
    )
    max_legal_layouts: int | None = option(None, _OPTIMIZER, type=INTEGER)
    tensor_l1_usage_cap: float | None = option(
        None, "2026: the part of L1 that tensors may take, 0 to 1", type=FLOAT
    )
    max_fallback_attempts: int | None = option(None, _OPTIMIZER, type=INTEGER)
    enable_quant_dequant_conversion_pass: bool = option(
        True, "2026: requantize at once: run ttir-quant-dequant-conversion"
    )
    keep_element_types: bool = option(
        False, "2026: tensors keep the element types of the program where devices store others"
    )
    target_bit_width: int = option(32, "2026: bits of quantized numbers; devices have 32")
    disable_workarounds: bool = option(
        False, "2026: neither decompose nor convert in ttnn-workaround"
    )
    enable_const_eval_inputs_to_system_memory: bool = option(
        True, "2026: parameters of what is computed once come from the host"
    )
    experimental_weight_dtype: DataType | None = option(
        None, "Format of the weights of products", type=WEIGHT_DTYPE
    )
    experimental_kv_cache_dtype: DataType | None = option(
        None, "2026: format of caches of keys and values", type=BLOCK_FLOAT
    )
    compute_cfg_math_fidelity: MathFidelity | None = option(
        None,
        "Fidelity of products; 2026: hifi4 by default",
        type=MATH_FIDELITY,
    )
    compute_cfg_fp32_dest_acc_en: bool | None = option(
        None, "Sums of products have 32 bits; 2026: by default", type=TRISTATE
    )
    compute_cfg_math_approx_mode: bool | None = option(
        None, "2026: functions are approximated", type=TRISTATE
    )
    compute_cfg_packer_l1_acc: bool | None = option(
        None, "2026: sums of blocks are in L1", type=TRISTATE
    )
    compute_cfg_dst_full_sync_en: bool | None = option(
        None, "2026: DST is one buffer, not two", type=TRISTATE
    )

    check_unique_locs: bool = option(
        False, "2026: refuse operations at the same location: run ttnn-unique-locations"
    )
    enable_remove_dead_values: bool = option(
        False, "2026: leave out what does not matter: run remove-dead-values"
    )
    enable_matmul_program_config: bool = option(
        True, "2026: divide products over the cores: run ttnn-set-matmul-program-config"
    )
    enable_eltwise_activation_fusion: bool = option(
        True, "2026: let operations of two tensors compute functions of single elements, too"
    )
    enable_permute_matmul_fusion: bool = option(True, "2026: let products transpose their operands")
    enable_gelu_tanh_fusion: bool = option(True, "2026: let gelu by tanh be gelu by erf")
    enable_dram_space_saving_optimization_pass: bool = option(
        True, "2026: say what L1 constants take: run ttnn-memory-management"
    )
    ttnn_perf_metrics_enabled: bool = option(
        False, "2026: write figures to a file: run ttnn-collect-perf-metrics"
    )
    ttnn_perf_metrics_output_file: str = option("ttnn_perf_metrics.json", "2026: that file")
    ttnn_perf_metrics_verbose_output_enabled: bool = option(
        False, "2026: with the figures of each operation"
    )
    composite_resolution: CompositeResolution = option(
        CompositeResolution.PIPELINE,
        "2026: what composites become: pipeline and inline put what they are made of in their "
        "place, which is done for validate and force-promote, too",
    )
    mesh_topology: tuple[Topology, ...] = option(
        (),
        "2026: how the chips of each axis of the mesh are linked",
        type=list_of(keyword_of(Topology)),
    )
    enable_fusing_conv2d_with_multiply_pattern: bool = option(False, f"2026: {_NOT_DONE}")
    enable_permute_slice_after_matmul_fusion: bool = option(False, f"2026: {_NOT_DONE}")
    enable_activation_dtype_lowering: bool = option(
        False, "2026: collectives move blocks of floats: run ttnn-ccl-activation-dtype-lowering"
    )
    enable_create_d2m_subgraphs: bool = option(False, f"2026: {_NOT_DONE}")
    enable_d2m_elementwise_fusion: bool = option(False, f"2026: {_NOT_DONE}")
    enable_dram_sharded_matmul: bool = option(False, _OPTIMIZER)
    enable_decision_trace: bool = option(False, _OPTIMIZER)
    decision_trace_dir: str = option("", _OPTIMIZER)
    enable_compile_time_stats: bool = option(False, _OPTIMIZER)
    use_mock_allocator_state: bool = option(False, _OPTIMIZER)
    experimental_activation_dtype: DataType | None = option(
        None,
        "2026: format of results that products and convolutions take: bfp_bf8 or bfp_bf4",
        type=BLOCK_FLOAT,
    )
    override_weight_dtype: WeightDtypes = option(
        (), "Formats of the weights of products at these locations", type=WEIGHT_DTYPES_BY_NAME
    )
    override_math_fidelity: MathFidelities = option(
        (), "Fidelities of the products at these locations", type=MATH_FIDELITIES_BY_NAME
    )

    def late_options(self) -> dict[str, Any]:
        """Those options by their fields; OptionError for what there is no pass for."""
        found = {each.name: getattr(self, each.name) for each in fields(LateOptions)}
        if not 0 <= self.optimization_level <= MOST_OPTIMIZED:
            raise OptionError(
                f"Invalid optimization_level: {self.optimization_level}. Optimization level must "
                "be 0, 1, 2, or 3"
            )
        return found

    def without_effect(self) -> tuple[str, ...]:
        """The options that were given and change nothing here."""
        from ttmlir.passes.ttnn.ttnn_report_options import NOT_DONE, OF_OPTIMIZER

        names = (*OF_OPTIMIZER, *NOT_DONE)
        return tuple(name for name in names if getattr(self, name.replace("-", "_")))


@dataclass(frozen=True)
class TTIRToTTNNBackendPipeline(LateOptions, SpelledPipeline):
    """Lower ttir to ttnn, ready to be written to a .ttnn file or as C++.

    Without options it does what tt-mlir's does: that of 2024, or of 2026 for modules spelled so.
    `ttmlir.compile` and the pipelines from dialects of models simplify the program before.
    """

    name = "ttir-to-ttnn-backend-pipeline"
    enable_fold_batch_norm: bool = option(False, _FOLD_BATCH_NORM)
    enable_const_eval: bool | None = option(
        None, f"{_CONST_EVAL}; 2026: const-eval-hoist-transform unless false", type=BOOLEAN
    )
    enable_erase_inverse_ops_pass: bool | None = option(None, _UNLESS_FALSE, type=BOOLEAN)
    enable_grid_set: bool = option(True, "Choose grids: run ttir-grid-set")
    override_grid_sizes: GridOverrides = option(
        (), "Grids for the operations at these locations", type=GRID_OVERRIDES
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
    system_desc_path: str = option("", "Description (.ttsys file) or board of the machine")
    mesh_shape: tuple[int, ...] = option((), "Extents of the mesh of chips")
    mock_system_desc_arch: Arch = option(
        Arch.WORMHOLE_B0,
        "Generation of the chip that is assumed without a description: wormhole_b0 or blackhole",
    )
    spelling: TTNNSpelling = option(
        TTNNSpelling.AS_MODULE, "The year of the ttnn that is written: module, 2024 or 2026"
    )

    def choose_steps(self) -> Sequence[Pass | LaterPasses]:
        """The passes of 2024 and those of 2026, of which a module gets one or the other.

        With options that only passes of 2024 know, every module gets those.
        """
        from ttmlir.passes.general.convert_spelling import ConvertSpellingPass

        asked = self._asked_of_2024()
        if self.spelling is TTNNSpelling.LATE and asked:
            flags = ", ".join(map(_flag, asked))
            remedy = "spelling=2024 has"
            if self.optimization_level:
                remedy += f", without levels: leave out {flags} or --optimization-level"
            raise OptionError(f"passes of 2026 do not have {flags}; {remedy}")
        if self.spelling is TTNNSpelling.EARLY or asked:
            return self.early_passes()
        self.late_options()
        as_values = ConvertSpellingPass(to=Spelling.LATE)
        if self.spelling is TTNNSpelling.LATE:
            from ttmlir.passes.ttir.decomposition.ttir_decomposition import TTIRDecompositionPass

            return (*in_earlier_form([TTIRDecompositionPass()]), as_values, *self._late_passes())
        return (
            when("2025", as_values),
            LaterPasses("2026", self._late_passes),
            LaterPasses("2024", self.early_passes),
        )

    def _late_passes(self) -> Sequence[Pass]:
        return (*self.common_pipeline().passes(), *TTNNCommonToRuntimePipeline().passes())

    def _asked_of_2024(self) -> list[str]:
        """The options that were given and that only passes of 2024 know."""
        defaults = {each.name: each.default for each in fields(self)}
        return [name for name in OF_2024 if getattr(self, name) != defaults[name]]

    def common_pipeline(self) -> TTIRToTTNNCommonPipeline:
        """The passes of 2026 that all targets have in common."""
        return TTIRToTTNNCommonPipeline(
            **self.late_options(),
            enable_const_eval=self.enable_const_eval is not False,
            enable_erase_inverse_ops_pass=self.enable_erase_inverse_ops_pass is not False,
            system_desc_path=self.system_desc_path,
            mesh_shape=self.mesh_shape,
            mock_system_desc_arch=self.mock_system_desc_arch,
        )

    def early_passes(self) -> Sequence[Pass]:
        """Normalizations, general operations, shapes, machine, device, layouts, grids, ttnn."""
        from ttmlir.passes.general.convert_spelling import ConvertSpellingPass
        from ttmlir.passes.placement.ttir_grid_set import TTIRGridSetPass
        from ttmlir.passes.placement.ttir_implicit_device import TTIRImplicitDevicePass
        from ttmlir.passes.placement.ttir_layout import TTIRLayoutPass
        from ttmlir.passes.placement.ttir_load_system_desc import TTIRLoadSystemDescPass
        from ttmlir.passes.ttir.constants.ttir_evaluate_constants import TTIREvaluateConstantsPass
        from ttmlir.passes.ttir.decomposition.ttir_decomposition import TTIRDecompositionPass
        from ttmlir.passes.ttir.ttir_erase_inverse_ops import TTIREraseInverseOpsPass
        from ttmlir.passes.ttir.ttir_fold_batch_norm import TTIRFoldBatchNormPass
        from ttmlir.passes.ttir.ttir_hoist_loop_constants import TTIRHoistLoopConstantsPass
        from ttmlir.passes.ttir.ttir_loop_invariant_code_motion import (
            TTIRLoopInvariantCodeMotionPass,
        )
        from ttmlir.passes.ttir.ttir_sliding_window_2d_fix_shapes import (
            TTIRSlidingWindow2dFixShapesPass,
        )
        from ttmlir.passes.ttnn.conversion.convert_ttir_to_ttnn import ConvertTTIRToTTNNPass
        from ttmlir.passes.ttnn.ttnn_report_options import OF_2026, TTNNReportOptionsPass

        ignored = [TTNNReportOptionsPass(without_effect=(OF_2026,))]
        grid_set = TTIRGridSetPass(
            override_grid_sizes=self.override_grid_sizes,
            override_output_layout=self.override_output_layout,
            sharding_pass_enabled=self.sharding_pass_enabled,
        )
        return (
            *(ignored if self.optimization_level else []),
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
            fp32_dest_acc_en=self.compute_cfg_fp32_dest_acc_en or None,
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
    enable_const_eval: bool | None = option(True, _CONST_EVAL)
    enable_erase_inverse_ops_pass: bool | None = option(True, _UNLESS_FALSE, type=BOOLEAN)
    spelling: TTNNSpelling = option(TTNNSpelling.EARLY, "The year of the ttnn that is written")


# --- The pipelines of 2026 ------------------------------------------------------------------------


@dataclass(frozen=True)
class TTIRToTTNNCommonPipeline(LateOptions):
    """Lower ttir of 2026 to ttnn, as files and texts of other languages have it in common."""

    name = "ttir-to-ttnn-common-pipeline"
    enable_const_eval: bool = option(
        True, "Compute what depends on constants alone once: run const-eval-hoist-transform"
    )
    enable_erase_inverse_ops_pass: bool = option(
        True, "Let moves meet: run ttir-explicate-tms, ttir-erase-inverse-ops"
    )
    system_desc_path: str = option("", "Description (.ttsys file) or board of the machine")
    mesh_shape: tuple[int, ...] = option((), "Extents of the mesh of chips")
    mock_system_desc_arch: Arch = option(
        Arch.WORMHOLE_B0,
        "Generation of the chip that is assumed without a description: wormhole_b0 or blackhole",
    )

    def passes(self) -> Sequence[Pass]:
        """Structure, ttir, constants, layouts, ttnn, workarounds."""
        from ttmlir.passes.general.canonicalize import CanonicalizePass
        from ttmlir.passes.general.const_eval_hoist_transform import ConstEvalHoistTransformPass
        from ttmlir.passes.general.cpu_hoist_const_eval import CPUHoistConstEvalPass
        from ttmlir.passes.general.cpu_hoist_manually_tagged import CPUHoistManuallyTaggedPass
        from ttmlir.passes.general.cse import CSEPass
        from ttmlir.passes.general.remove_dead_values import RemoveDeadValuesPass
        from ttmlir.passes.general.symbol_dce import SymbolDCEPass
        from ttmlir.passes.general.ttcore_mark_functions_as_forward import (
            TTCoreMarkFunctionsAsForwardPass,
        )
        from ttmlir.passes.general.ttcore_register_device import TTCoreRegisterDevicePass
        from ttmlir.passes.general.ttcore_wrap_device_module import TTCoreWrapDeviceModulePass
        from ttmlir.passes.ttir.constants.ttir_fold_full_to_scalar import TTIRFoldFullToScalarPass
        from ttmlir.passes.ttir.decomposition.ttir_decomposition import TTIRDecompositionPass
        from ttmlir.passes.ttir.element_types.ttir_element_type_normalization import (
            TTIRElementTypeNormalizationPass,
        )
        from ttmlir.passes.ttir.element_types.ttir_propagate_weight_dtype import (
            TTIRPropagateWeightDtypePass,
        )
        from ttmlir.passes.ttir.fusing.ttir_fuse_layers import TTIRFuseLayersPass
        from ttmlir.passes.ttir.fusing.ttir_fusing import TTIRFusingPass
        from ttmlir.passes.ttir.ttir_commute_reshape import TTIRCommuteReshapePass
        from ttmlir.passes.ttir.ttir_consolidate_static_cache_updates import (
            TTIRConsolidateStaticCacheUpdatesPass,
        )
        from ttmlir.passes.ttir.ttir_erase_inverse_ops import TTIREraseInverseOpsPass
        from ttmlir.passes.ttir.ttir_explicate_tms import TTIRExplicateTMsPass
        from ttmlir.passes.ttir.ttir_implicit_broadcast_fold import TTIRImplicitBroadcastFoldPass
        from ttmlir.passes.ttir.ttir_infer_kv_cache_argument_types import (
            TTIRInferKVCacheArgumentTypesPass,
        )
        from ttmlir.passes.ttir.ttir_shape_layers import TTIRShapeLayersPass
        from ttmlir.passes.ttir.ttir_sliding_window_2d_fix_shapes import (
            TTIRSlidingWindow2dFixShapesPass,
        )
        from ttmlir.passes.ttnn.collectives.ttnn_ccl_activation_dtype_lowering import (
            TTNNCCLActivationDtypeLoweringPass,
        )
        from ttmlir.passes.ttnn.collectives.ttnn_configure_ccl_ops import TTNNConfigureCCLOpsPass
        from ttmlir.passes.ttnn.conversion.convert_ttir_to_ttnn import ConvertTTIRToTTNNPass
        from ttmlir.passes.ttnn.functions.ttnn_unique_locations import TTNNUniqueLocationsPass
        from ttmlir.passes.ttnn.ttnn_activation_dtype_conversion import (
            TTNNActivationDtypeConversionPass,
        )
        from ttmlir.passes.ttnn.ttnn_decomposition import TTNNDecompositionPass
        from ttmlir.passes.ttnn.ttnn_fusing import TTNNFusingPass
        from ttmlir.passes.ttnn.ttnn_kv_cache_dtype_conversion import (
            TTNNKVCacheDtypeConversionPass,
        )
        from ttmlir.passes.ttnn.ttnn_layout import TTNNLayoutPass
        from ttmlir.passes.ttnn.ttnn_memory_management import TTNNMemoryManagementPass
        from ttmlir.passes.ttnn.ttnn_prepare_conv3d_weights import TTNNPrepareConv3dWeightsPass
        from ttmlir.passes.ttnn.ttnn_report_options import TTNNReportOptionsPass
        from ttmlir.passes.ttnn.ttnn_resolve_composites import TTNNResolveCompositesPass
        from ttmlir.passes.ttnn.ttnn_set_matmul_program_config import (
            TTNNSetMatmulProgramConfigPass,
        )
        from ttmlir.passes.ttnn.ttnn_weight_dtype_conversion import TTNNWeightDtypeConversionPass
        from ttmlir.passes.ttnn.workarounds.ttnn_workaround import TTNNWorkaroundPass

        self.late_options()
        ignored = self.without_effect()
        caches = TTNNKVCacheDtypeConversionPass(target_dtype=self.experimental_kv_cache_dtype)
        # What no function computes once is on the device as what comes anew each time.
        on_host = self.enable_const_eval and self.enable_const_eval_inputs_to_system_memory
        const_eval = [ConstEvalHoistTransformPass()] if self.enable_const_eval else []
        # Products of one matrix are found where it is one value.
        layers = [CSEPass(), TTIRFuseLayersPass()] if self._fuses_layers else []
        fusing = (
            [
                *layers,
                TTIRFusingPass(
                    enable_permute_matmul_fusion=self.enable_permute_matmul_fusion,
                    enable_gelu_tanh_fusion=self.enable_gelu_tanh_fusion,
                    join_whole_tiles=self._fuses_layers,
                ),
            ]
            if self.enable_fusing_pass
            else []
        )
        activations = self.enable_eltwise_activation_fusion
        activations_dtype = TTNNActivationDtypeConversionPass(
            target_dtype=self.experimental_activation_dtype
        )
        widening, quantizing = self._quantization()
        broadcasts = (
            [TTIRImplicitBroadcastFoldPass()] if self.enable_implicit_broadcast_folding_pass else []
        )
        moves = (
            [TTIRExplicateTMsPass(), TTIREraseInverseOpsPass()]
            if self.enable_erase_inverse_ops_pass
            else []
        )
        workaround = TTNNWorkaroundPass(
            ttnn_enable_decomposition_workaround_pass=(
                self.enable_decomposition_workaround_pass and not self.disable_workarounds
            ),
            ttnn_enable_layout_workaround_pass=(
                self.enable_layout_workaround_pass and not self.disable_workarounds
            ),
            images_by_rows=not self._fuses_layers,
            keep_element_types=self.keep_element_types,
        )
        return (
            *([TTNNReportOptionsPass(without_effect=ignored)] if ignored else []),
            TTCoreMarkFunctionsAsForwardPass(),
            TTCoreWrapDeviceModulePass(),
            CPUHoistManuallyTaggedPass(),
            TTIRElementTypeNormalizationPass(keep_element_types=self.keep_element_types),
            TTCoreRegisterDevicePass(
                system_desc_path=self.system_desc_path,
                mesh_shape=self.mesh_shape,
                mock_system_desc_arch=self.mock_system_desc_arch,
                mesh_topology=self.mesh_topology,
            ),
            *self._argument_types(),
            TTIRInferKVCacheArgumentTypesPass(),
            *widening,
            CanonicalizePass(),
            *fusing,
            *quantizing,
            TTIRDecompositionPass(),
            CanonicalizePass(),
            *broadcasts,
            *fusing,
            TTIRPropagateWeightDtypePass(),
            TTIRSlidingWindow2dFixShapesPass(),
            *moves,
            CanonicalizePass(),
            *broadcasts,
            *fusing,
            TTIRFoldFullToScalarPass(),
            TTIRConsolidateStaticCacheUpdatesPass(),
            TTIRCommuteReshapePass(),
            CanonicalizePass(),
            *([TTIRShapeLayersPass()] if self._fuses_layers else []),
            CSEPass(),
            *const_eval,
            *(
                [CPUHoistConstEvalPass()]
                if self.enable_const_eval and self.enable_cpu_hoisted_const_eval
                else []
            ),
            TTNNLayoutPass(constants_on_host=on_host, rows_of_windows=self._fuses_layers),
            ConvertTTIRToTTNNPass(),
            *([TTNNUniqueLocationsPass()] if self.check_unique_locs else []),
            TTNNResolveCompositesPass(use_rotary_embedding=self._fuses_layers),
            CanonicalizePass(),
            SymbolDCEPass(),
            *(
                [TTNNFusingPass(enable_eltwise_activation_fusion=activations)]
                if self.enable_fusing_pass
                else []
            ),
            *self._decoding(),
            *(
                [TTNNDecompositionPass()]
                if self.enable_ttnn_decomposition_pass and not self._fuses_layers
                else []
            ),
            *(
                [TTNNMemoryManagementPass()]
                if self.enable_const_eval and self.enable_dram_space_saving_optimization_pass
                else []
            ),
            workaround,
            TTNNPrepareConv3dWeightsPass(),
            TTNNWeightDtypeConversionPass(
                target_dtype=self.experimental_weight_dtype,
                override_weight_dtype=self.override_weight_dtype,
            ),
            *([activations_dtype] if self.experimental_activation_dtype else []),
            *([caches] if self.experimental_kv_cache_dtype else []),
            *(
                [TTNNCCLActivationDtypeLoweringPass()]
                if self.enable_activation_dtype_lowering
                else []
            ),
            CanonicalizePass(),
            CSEPass(),
            # Each step before may have made more that depends on constants alone.
            *const_eval,
            *const_eval,
            *const_eval,
            CanonicalizePass(),
            self._compute_config(),
            TTNNConfigureCCLOpsPass(),
            *self._overrides(),
            *(
                [TTNNSetMatmulProgramConfigPass()]
                if self.enable_matmul_program_config and not self._optimizes
                else []
            ),
            *([RemoveDeadValuesPass()] if self.enable_remove_dead_values else []),
            *self._traces(),
            *self._perf_metrics(),
        )

    @property
    def _optimizes(self) -> bool:
        """True with the optimizer, which leaves products in DRAM to the library."""
        return (
            self.optimization_level > 0
            or self.enable_optimizer
            or self.memory_layout_analysis_enabled
        )

    @property
    def _fuses_layers(self) -> bool:
        return self.optimization_level == MOST_OPTIMIZED

    def _decoding(self) -> Sequence[Pass]:
        from ttmlir.passes.ttnn.optimizer.ttnn_decode_attention import TTNNDecodeAttentionPass

        return [TTNNDecodeAttentionPass()] if self._fuses_layers else []

    def _overrides(self) -> Sequence[Pass]:
        from ttmlir.passes.general.canonicalize import CanonicalizePass
        from ttmlir.passes.general.const_eval_hoist_transform import ConstEvalHoistTransformPass
        from ttmlir.passes.ttnn.optimizer.ttnn_greedy_memory_layout_propagation import (
            TTNNGreedyMemoryLayoutPropagationPass,
        )
        from ttmlir.passes.ttnn.optimizer.ttnn_optimizer import TTNNOptimizerPass
        from ttmlir.passes.ttnn.optimizer.ttnn_prepare_conv2d_weights_and_bias import (
            TTNNPrepareConv2dWeightsAndBiasPass,
        )
        from ttmlir.passes.ttnn.optimizer.ttnn_rm_layout_propagation import (
            TTNNRMLayoutPropagationPass,
        )
        from ttmlir.passes.ttnn.optimizer.ttnn_shard_images import TTNNShardImagesPass
        from ttmlir.passes.ttnn.optimizer.ttnn_shard_norms import TTNNShardNormsPass
        from ttmlir.passes.ttnn.optimizer.ttnn_shard_products import TTNNShardProductsPass

        overrides = TTNNOptimizerPass(
            override_output_layout=self.override_output_layout,
            insert_memreconfig=self.insert_memreconfig,
            override_conv2d_config=self.override_conv2d_config,
            override_conv3d_config=self.override_conv3d_config,
        )
        images = TTNNShardImagesPass(weight_dtype=self.experimental_weight_dtype)
        preparing = TTNNPrepareConv2dWeightsAndBiasPass(
            target_dtype=self.experimental_weight_dtype,
            override_weight_dtype=self.override_weight_dtype,
        )
        greedy, cap = TTNNGreedyMemoryLayoutPropagationPass(), self.tensor_l1_usage_cap
        if cap is not None:
            greedy = TTNNGreedyMemoryLayoutPropagationPass(tensor_l1_usage_cap=cap)
            greedy.check_options()
        spreads = self.optimization_level == 2 or self.memory_layout_analysis_enabled
        return [
            *(
                [TTNNRMLayoutPropagationPass(moves_of_floats=self._fuses_layers)]
                if self._optimizes
                else []
            ),
            *([greedy, CanonicalizePass()] if spreads else []),
            *(
                [images, self._keeping(), TTNNShardNormsPass(), TTNNShardProductsPass()]
                if self._fuses_layers
                else []
            ),
            # Weights are sharded once.
            *(
                [ConstEvalHoistTransformPass()]
                if self._fuses_layers and self.enable_const_eval
                else []
            ),
            *([overrides] if overrides != TTNNOptimizerPass() else []),
            *([preparing] if self._optimizes else []),
        ]

    def _keeping(self) -> Pass:
        from ttmlir.passes.ttnn.optimizer.ttnn_keep_results_in_l1 import TTNNKeepResultsInL1Pass

        if self.tensor_l1_usage_cap is None:
            return TTNNKeepResultsInL1Pass()
        cap = self.tensor_l1_usage_cap
        keeping = TTNNKeepResultsInL1Pass(tensor_l1_usage_cap=cap, block_l1_usage_cap=cap)
        keeping.check_options()
        return keeping

    def _perf_metrics(self) -> Sequence[Pass]:
        from ttmlir.passes.ttnn.ttnn_collect_perf_metrics import TTNNCollectPerfMetricsPass

        metrics = TTNNCollectPerfMetricsPass(
            ttnn_perf_metrics_output_file=self.ttnn_perf_metrics_output_file,
            ttnn_perf_metrics_verbose_output_enabled=self.ttnn_perf_metrics_verbose_output_enabled,
            ttnn_enable_trace=self.enable_trace,
        )
        return [metrics] if self.ttnn_perf_metrics_enabled else []

    def _traces(self) -> Sequence[Pass]:
        from ttmlir.passes.ttnn.functions.ttnn_trace_hoist_transform import (
            TTNNTraceHoistTransformPass,
        )

        return [TTNNTraceHoistTransformPass()] if self.enable_trace else []

    def _argument_types(self) -> Sequence[Pass]:
        from ttmlir.passes.general.tt_populate_argument_types import TTPopulateArgumentTypesPass

        types = self.argument_types
        return [TTPopulateArgumentTypesPass(argument_types=types)] if types else []

    def _quantization(self) -> tuple[Sequence[Pass], Sequence[Pass]]:
        """What is done with quantized numbers: their integers, and computing with them."""
        from ttmlir.passes.ttir.element_types.ttir_quant_data_type_conversion import (
            TTIRQuantDataTypeConversionPass,
        )
        from ttmlir.passes.ttir.element_types.ttir_quant_dequant_conversion import (
            TTIRQuantDequantConversionPass,
        )

        bits = self.target_bit_width
        return (
            [TTIRQuantDataTypeConversionPass(target_bit_width=bits)],
            [TTIRQuantDequantConversionPass()] if self.enable_quant_dequant_conversion_pass else [],
        )

    def _compute_config(self) -> Pass:
        from ttmlir.passes.ttnn.ttnn_set_compute_kernel_config import (
            TTNNSetComputeKernelConfigPass,
        )

        sums, fidelity = self.compute_cfg_fp32_dest_acc_en, self.compute_cfg_math_fidelity
        # The optimizer leaves what is not asked for to the library.
        default_fidelity = None if self._optimizes else MathFidelity.HIFI4
        default_sums = None if self._optimizes else True
        return TTNNSetComputeKernelConfigPass(
            math_fidelity=default_fidelity if fidelity is None else fidelity,
            fp32_dest_acc_en=default_sums if sums is None else sums,
            math_approx_mode=self.compute_cfg_math_approx_mode,
            packer_l1_acc=self.compute_cfg_packer_l1_acc,
            dst_full_sync_en=self.compute_cfg_dst_full_sync_en,
            override_math_fidelity=self.override_math_fidelity,
        )


@dataclass(frozen=True)
class TTNNCommonToRuntimePipeline(Pipeline):
    """Prepare ttnn of 2026 for being written to a .ttnn file."""

    name = "ttnn-common-to-runtime-pipeline"

    def passes(self) -> Sequence[Pass]:
        """Conversions as the library has them, and the ends of tensors."""
        from ttmlir.passes.general.canonicalize import CanonicalizePass
        from ttmlir.passes.general.ttcore_optimization_barrier_fold import (
            TTCoreOptimizationBarrierFoldPass,
        )
        from ttmlir.passes.ttnn.ttnn_deallocate import TTNNDeallocatePass
        from ttmlir.passes.ttnn.ttnn_decompose_layouts import TTNNDecomposeLayoutsPass

        return (
            TTNNDecomposeLayoutsPass(),
            CanonicalizePass(),
            TTCoreOptimizationBarrierFoldPass(),
            TTNNDeallocatePass(),
        )
