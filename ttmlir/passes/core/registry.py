"""Names of passes and pipelines, and where their classes are.

A name maps to `module:Class`; the module is imported when the name is used. So start-up pays only
for the passes that run.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cache
from importlib import import_module

from ttmlir.mlir import extensions
from ttmlir.mlir.option_values import OptionError
from ttmlir.passes.core.base import Pass, Pipeline

PASSES: dict[str, str] = {
    "analyze-mesh": "ttmlir.passes.shardy.analyze_mesh:AnalyzeMeshPass",
    "annotate-local-shapes": "ttmlir.passes.shardy.annotate_local_shapes:AnnotateLocalShapesPass",
    "apply-argument-shard-status": (
        "ttmlir.passes.shardy.apply_argument_shard_status:ApplyArgumentShardStatusPass"
    ),
    "auto-sharding": "ttmlir.passes.shardy.one_device:AutoShardingPass",
    "canonicalize": "ttmlir.passes.general.canonicalize:CanonicalizePass",
    "chlo-legalize-to-stablehlo": (
        "ttmlir.passes.stablehlo.functions.chlo_legalize_to_stablehlo:ChloLegalizeToStableHLOPass"
    ),
    "const-eval-hoist-transform": (
        "ttmlir.passes.general.const_eval_hoist_transform:ConstEvalHoistTransformPass"
    ),
    "convert-arith-to-stablehlo": (
        "ttmlir.passes.stablehlo.convert_arith_to_stablehlo:ConvertArithToStableHLOPass"
    ),
    "convert-arith-to-ttir": "ttmlir.passes.linalg.convert_arith_to_ttir:ConvertArithToTTIRPass",
    "convert-d2m-to-ttkernel": (
        "ttmlir.passes.d2m.kernels.convert_d2m_to_ttkernel:ConvertD2MToTTKernelPass"
    ),
    "convert-d2m-to-ttmetal": (
        "ttmlir.passes.d2m.kernels.convert_d2m_to_ttmetal:ConvertD2MToTTMetalPass"
    ),
    "convert-d2m-to-ttnn": "ttmlir.passes.d2m.kernels.convert_d2m_to_ttnn:ConvertD2MToTTNNPass",
    "convert-gspmd-to-sdy": "ttmlir.passes.shardy.convert_gspmd_to_sdy:ConvertGSPMDToSdyPass",
    "convert-linalg-to-ttir": "ttmlir.passes.convert_linalg_to_ttir:ConvertLinalgToTTIRPass",
    "convert-ml-program-to-func": (
        "ttmlir.passes.linalg.convert_ml_program_to_func:ConvertMLProgramToFuncPass"
    ),
    "convert-spelling": "ttmlir.passes.general.convert_spelling:ConvertSpellingPass",
    "convert-stablehlo-to-ttir": (
        "ttmlir.passes.stablehlo.convert_stablehlo_to_ttir:ConvertStableHLOToTTIRPass"
    ),
    "convert-tosa-to-ttir": "ttmlir.passes.tosa.convert_tosa_to_ttir:ConvertTosaToTTIRPass",
    "convert-ttir-to-linalg": (
        "ttmlir.passes.linalg.convert_ttir_to_linalg:ConvertTTIRToLinalgPass"
    ),
    "convert-ttir-to-ttmetal": "ttmlir.passes.convert_ttir_to_ttmetal:ConvertTTIRToTTMetalPass",
    "convert-ttir-to-ttnn": (
        "ttmlir.passes.ttnn.conversion.convert_ttir_to_ttnn:ConvertTTIRToTTNNPass"
    ),
    "convert-ttkernel-to-emitc": (
        "ttmlir.passes.emitc.convert_ttkernel_to_emitc:ConvertTTKernelToEmitCPass"
    ),
    "convert-ttnn-to-emitc": "ttmlir.passes.emitc.convert_ttnn_to_emitc:ConvertTTNNToEmitCPass",
    "convert-ttnn-to-emitpy": (
        "ttmlir.passes.emitpy.convert_ttnn_to_emitpy:ConvertTTNNToEmitPyPass"
    ),
    "convert-ttnn-to-ttir": (
        "ttmlir.passes.ttnn.conversion.convert_ttnn_to_ttir:ConvertTTNNToTTIRPass"
    ),
    "convert-xla-sdy-to-sdy": "ttmlir.passes.shardy.convert_xla_sdy_to_sdy:ConvertXlaSdyToSdyPass",
    "cpu-hoist-const-eval": "ttmlir.passes.general.cpu_hoist_const_eval:CPUHoistConstEvalPass",
    "cpu-hoist-manually-tagged": (
        "ttmlir.passes.general.cpu_hoist_manually_tagged:CPUHoistManuallyTaggedPass"
    ),
    "cpu-hoist-non-lowerable-shlo-ops": (
        "ttmlir.passes.general.cpu_hoist_non_lowerable_shlo_ops:CPUHoistNonLowerableSHLOOpsPass"
    ),
    "cse": "ttmlir.passes.general.cse:CSEPass",
    "d2m-allocate": "ttmlir.passes.d2m.schedule.d2m_allocate:D2MAllocatePass",
    "d2m-generate-outer-loops": (
        "ttmlir.passes.d2m.regions.d2m_generate_outer_loops:D2MGenerateOuterLoopsPass"
    ),
    "d2m-generic-apply-interchange": (
        "ttmlir.passes.d2m.schedule.d2m_generic_apply_interchange:D2MGenericApplyInterchangePass"
    ),
    "d2m-generic-fusion": "ttmlir.passes.d2m.fusion.d2m_generic_fusion:D2MGenericFusionPass",
    "d2m-generic-generate-datamovement": (
        "ttmlir.passes.d2m.regions.d2m_generic_generate_datamovement:D2MGenericGenerateDatamovementPass"
    ),
    "d2m-generic-generate-loops": (
        "ttmlir.passes.d2m.regions.d2m_generic_generate_loops:D2MGenericGenerateLoopsPass"
    ),
    "d2m-generic-hw-thread-selection": (
        "ttmlir.passes.d2m.regions.d2m_generic_hw_thread_selection:D2MGenericHWThreadSelectionPass"
    ),
    "d2m-generic-linearize-memref": (
        "ttmlir.passes.d2m.regions.d2m_generic_linearize_memref:D2MGenericLinearizeMemrefPass"
    ),
    "d2m-generic-lower-dmas": (
        "ttmlir.passes.d2m.regions.d2m_generic_lower_dmas:D2MGenericLowerDMAsPass"
    ),
    "d2m-generic-lower-to-explicit-form": (
        "ttmlir.passes.d2m.regions.d2m_generic_lower_to_explicit_form:D2MGenericLowerToExplicitFormPass"
    ),
    "d2m-generic-regions-to-funcs": (
        "ttmlir.passes.d2m.regions.d2m_generic_regions_to_funcs:D2MGenericRegionsToFuncsPass"
    ),
    "d2m-generic-tile-compute-loops": (
        "ttmlir.passes.d2m.regions.d2m_generic_tile_compute_loops:D2MGenericTileComputeLoopsPass"
    ),
    "d2m-grid-selection": "ttmlir.passes.d2m.schedule.d2m_grid_selection:D2MGridSelectionPass",
    "d2m-insert-dst-register-access": (
        "ttmlir.passes.d2m.regions.d2m_insert_dst_register_access:D2MInsertDstRegisterAccessPass"
    ),
    "d2m-insert-scratch-buffers": (
        "ttmlir.passes.d2m.dst.d2m_insert_scratch_buffers:D2MInsertScratchBuffersPass"
    ),
    "d2m-insert-streams": "ttmlir.passes.d2m.schedule.d2m_insert_streams:D2MInsertStreamsPass",
    "d2m-insert-tile-matmul-block": (
        "ttmlir.passes.d2m.regions.d2m_insert_tile_matmul_block:D2MInsertTileMatmulBlockPass"
    ),
    "d2m-linalg-to-affine": "ttmlir.passes.d2m.dst.d2m_linalg_to_affine:D2MLinalgToAffinePass",
    "d2m-lower-load-store-ops-to-dma": (
        "ttmlir.passes.d2m.regions.d2m_lower_load_store_ops_to_dma:D2MLowerLoadStoreOpsToDMAPass"
    ),
    "d2m-lower-to-layout": "ttmlir.passes.d2m.frontend.d2m_lower_to_layout:D2MLowerToLayoutPass",
    "d2m-mask-padding": "ttmlir.passes.d2m.fusion.d2m_mask_padding:D2MMaskPaddingPass",
    "d2m-materialize-view-returns": (
        "ttmlir.passes.d2m.frontend.d2m_materialize_view_returns:D2MMaterializeViewReturnsPass"
    ),
    "d2m-preallocate-mcast-semaphores": (
        "ttmlir.passes.d2m.regions.d2m_preallocate_mcast_semaphores:D2MPreallocateMcastSemaphoresPass"
    ),
    "d2m-schedule-dma": "ttmlir.passes.d2m.regions.d2m_schedule_dma:D2MScheduleDMAPass",
    "d2m-sfpu-tile-loop-fission": (
        "ttmlir.passes.d2m.regions.d2m_sfpu_tile_loop_fission:D2MSFPUTileLoopFissionPass"
    ),
    "d2m-split-unified-thread": (
        "ttmlir.passes.d2m.regions.d2m_split_unified_thread:D2MSplitUnifiedThreadPass"
    ),
    "decouple-const-fanout": "ttmlir.passes.shardy.decouple_const_fanout:DecoupleConstFanoutPass",
    "flatten-control-flow": (
        "ttmlir.passes.control_flow.flatten_control_flow:FlattenControlFlowPass"
    ),
    "flatten-or-convert-composites": (
        "ttmlir.passes.shardy.one_device:FlattenOrConvertCompositesPass"
    ),
    "fuse-distributed-custom-calls": (
        "ttmlir.passes.shardy.one_device:FuseDistributedCustomCallsPass"
    ),
    "inline": "ttmlir.passes.general.inline:InlinePass",
    "insert-explicit-reshards": (
        "ttmlir.passes.shardy.insert_explicit_reshards:InsertExplicitReshardsPass"
    ),
    "insert-reshards-for-unpropagated-ops": (
        "ttmlir.passes.shardy.one_device:InsertReshardsForUnpropagatedOpsPass"
    ),
    "legalize-stablehlo-composite-to-ttir": (
        "ttmlir.passes.stablehlo.legalize_stablehlo_composite_to_ttir"
        ":LegalizeStableHLOCompositeToTTIRPass"
    ),
    "loop-invariant-code-motion": (
        "ttmlir.passes.general.loop_invariant_code_motion:LoopInvariantCodeMotionPass"
    ),
    "lower-affine": "ttmlir.passes.general.lower_affine:LowerAffinePass",
    "partially-convert-sdy-to-stablehlo": (
        "ttmlir.passes.shardy.partially_convert_sdy_to_stablehlo:PartiallyConvertSdyToStableHLOPass"
    ),
    "print-ir": "ttmlir.passes.general.print_ir:PrintIRPass",
    "print-op-stats": "ttmlir.passes.general.print_op_stats:PrintOpStatsPass",
    "reconcile-unrealized-casts": (
        "ttmlir.passes.general.reconcile_unrealized_casts:ReconcileUnrealizedCastsPass"
    ),
    "register-custom-sharding-rule": (
        "ttmlir.passes.shardy.one_device:RegisterCustomShardingRulePass"
    ),
    "register-user-sharding-rule": (
        "ttmlir.passes.shardy.register_user_sharding_rule:RegisterUserShardingRulePass"
    ),
    "remove-dead-values": "ttmlir.passes.general.remove_dead_values:RemoveDeadValuesPass",
    "reoutline-composite": "ttmlir.passes.shardy.one_device:ReoutlineCompositePass",
    "replicate-non-splittable-values": (
        "ttmlir.passes.shardy.replicate_non_splittable_values:ReplicateNonSplittableValuesPass"
    ),
    "sdy-apply-sharding-constraints": (
        "ttmlir.passes.shardy.sdy_apply_sharding_constraints:SdyApplyShardingConstraintsPass"
    ),
    "sdy-close-shardings": "ttmlir.passes.shardy.sdy_close_shardings:SdyCloseShardingsPass",
    "sdy-insert-explicit-reshards": "ttmlir.passes.shardy.one_device:SdyInsertExplicitReshardsPass",
    "sdy-lift-inlined-meshes": (
        "ttmlir.passes.shardy.sdy_lift_inlined_meshes:SdyLiftInlinedMeshesPass"
    ),
    "sdy-remove-size-one-axes": (
        "ttmlir.passes.shardy.sdy_remove_size_one_axes:SdyRemoveSizeOneAxesPass"
    ),
    "sdy-reshard-to-collectives": (
        "ttmlir.passes.shardy.sdy_reshard_to_collectives:SdyReshardToCollectivesPass"
    ),
    "sdy-sharding-constraint-to-reshard": (
        "ttmlir.passes.shardy.sdy_sharding_constraint_to_reshard:SdyShardingConstraintToReshardPass"
    ),
    "sdy-split-sub-axes": "ttmlir.passes.shardy.sdy_split_sub_axes:SdySplitSubAxesPass",
    "sdy-user-priority-propagate": (
        "ttmlir.passes.shardy.sdy_user_priority_propagate:SdyUserPriorityPropagatePass"
    ),
    "shardy-ccl-canonicalization": (
        "ttmlir.passes.shardy.shardy_ccl_canonicalization:ShardyCCLCanonicalizationPass"
    ),
    "stablehlo-aggressive-simplification": (
        "ttmlir.passes.stablehlo.stablehlo_aggressive_simplification"
        ":StableHLOAggressiveSimplificationPass"
    ),
    "stablehlo-annotate-arguments": (
        "ttmlir.passes.stablehlo.structure.stablehlo_annotate_arguments"
        ":StableHLOAnnotateArgumentsPass"
    ),
    "stablehlo-complex-data-type-conversion": (
        "ttmlir.passes.stablehlo.pairs.stablehlo_complex_data_type_conversion"
        ":StableHLOComplexDataTypeConversionPass"
    ),
    "stablehlo-complex-math-expander": (
        "ttmlir.passes.stablehlo.pairs.stablehlo_complex_math_expander"
        ":StableHLOComplexMathExpanderPass"
    ),
    "stablehlo-expand-complex": (
        "ttmlir.passes.stablehlo.complex.stablehlo_expand_complex:StableHLOExpandComplexPass"
    ),
    "stablehlo-expand-functions": (
        "ttmlir.passes.stablehlo.functions.stablehlo_expand_functions:StableHLOExpandFunctionsPass"
    ),
    "stablehlo-expand-linear-algebra": (
        "ttmlir.passes.stablehlo.linear_algebra.stablehlo_expand_linear_algebra"
        ":StableHLOExpandLinearAlgebraPass"
    ),
    "stablehlo-expand-operations": (
        "ttmlir.passes.stablehlo.specification.stablehlo_expand_operations"
        ":StableHLOExpandOperationsPass"
    ),
    "stablehlo-flatten-control-flow": (
        "ttmlir.passes.stablehlo.stablehlo_flatten_control_flow:StableHLOFlattenControlFlowPass"
    ),
    "stablehlo-flatten-tuple": (
        "ttmlir.passes.stablehlo.structure.stablehlo_flatten_tuple:StableHLOFlattenTuplePass"
    ),
    "stablehlo-fusing": "ttmlir.passes.shardy.stablehlo_fusing:StableHLOFusingPass",
    "stablehlo-legalize-composite-to-call": (
        "ttmlir.passes.stablehlo.stablehlo_legalize_composite_to_call"
        ":StableHLOLegalizeCompositeToCallPass"
    ),
    "stablehlo-legalize-deprecated-ops": (
        "ttmlir.passes.stablehlo.stablehlo_legalize_deprecated_ops"
        ":StableHLOLegalizeDeprecatedOpsPass"
    ),
    "stablehlo-legalize-quant-to-math": (
        "ttmlir.passes.stablehlo.quantization.stablehlo_legalize_quant_to_math"
        ":StableHLOLegalizeQuantToMathPass"
    ),
    "stablehlo-mesh-borders": (
        "ttmlir.passes.stablehlo.structure.stablehlo_mesh_borders:StableHLOMeshBordersPass"
    ),
    "stablehlo-outline-control-flow": (
        "ttmlir.passes.stablehlo.structure.stablehlo_outline_control_flow"
        ":StableHLOOutlineControlFlowPass"
    ),
    "stablehlo-refine-shapes": (
        "ttmlir.passes.stablehlo.structure.stablehlo_refine_shapes:StableHLORefineShapesPass"
    ),
    "stablehlo-uint64-data-type-conversion": (
        "ttmlir.passes.stablehlo.pairs.stablehlo_uint64_data_type_conversion"
        ":StableHLOUInt64DataTypeConversionPass"
    ),
    "stablehlo-widen-storage-types": (
        "ttmlir.passes.stablehlo.quantization.stablehlo_widen_storage_types"
        ":StableHLOWidenStorageTypesPass"
    ),
    "strip-debuginfo": "ttmlir.passes.general.strip_debuginfo:StripDebugInfoPass",
    "symbol-dce": "ttmlir.passes.general.symbol_dce:SymbolDCEPass",
    "symbol-privatize": "ttmlir.passes.general.symbol_privatize:SymbolPrivatizePass",
    "test-pass-crash": "ttmlir.passes.general.failing:TestPassCrash",
    "test-pass-failure": "ttmlir.passes.general.failing:TestPassFailure",
    "test-pass-invalid": "ttmlir.passes.general.failing:TestPassInvalid",
    "tt-populate-argument-types": (
        "ttmlir.passes.general.tt_populate_argument_types:TTPopulateArgumentTypesPass"
    ),
    "ttcore-mark-functions-as-forward": (
        "ttmlir.passes.general.ttcore_mark_functions_as_forward:TTCoreMarkFunctionsAsForwardPass"
    ),
    "ttcore-one-shot-bufferize": (
        "ttmlir.passes.d2m.schedule.ttcore_one_shot_bufferize:TTCoreOneShotBufferizePass"
    ),
    "ttcore-optimization-barrier-fold": (
        "ttmlir.passes.general.ttcore_optimization_barrier_fold:TTCoreOptimizationBarrierFoldPass"
    ),
    "ttcore-register-device": (
        "ttmlir.passes.general.ttcore_register_device:TTCoreRegisterDevicePass"
    ),
    "ttcore-wrap-device-module": (
        "ttmlir.passes.general.ttcore_wrap_device_module:TTCoreWrapDeviceModulePass"
    ),
    "ttir-allocate": "ttmlir.passes.placement.ttir_allocate:TTIRAllocatePass",
    "ttir-commute-reshape": "ttmlir.passes.ttir.ttir_commute_reshape:TTIRCommuteReshapePass",
    "ttir-composite-decomposition": (
        "ttmlir.passes.ttir.decomposition.ttir_composite_decomposition:TTIRCompositeDecompositionPass"
    ),
    "ttir-consolidate-static-cache-updates": (
        "ttmlir.passes.ttir.ttir_consolidate_static_cache_updates"
        ":TTIRConsolidateStaticCacheUpdatesPass"
    ),
    "ttir-cpu-boolean-narrowing": (
        "ttmlir.passes.ttir.element_types.ttir_cpu_boolean_narrowing:TTIRCPUBooleanNarrowingPass"
    ),
    "ttir-decompose-complex-permute": (
        "ttmlir.passes.ttir.ttir_decompose_complex_permute:TTIRDecomposeComplexPermutePass"
    ),
    "ttir-decompose-complex-reshape": (
        "ttmlir.passes.ttir.ttir_decompose_complex_reshape:TTIRDecomposeComplexReshapePass"
    ),
    "ttir-decomposition": (
        "ttmlir.passes.ttir.decomposition.ttir_decomposition:TTIRDecompositionPass"
    ),
    "ttir-element-type-normalization": (
        "ttmlir.passes.ttir.element_types.ttir_element_type_normalization:TTIRElementTypeNormalizationPass"
    ),
    "ttir-erase-inverse-ops": "ttmlir.passes.ttir.ttir_erase_inverse_ops:TTIREraseInverseOpsPass",
    "ttir-evaluate-constants": (
        "ttmlir.passes.ttir.constants.ttir_evaluate_constants:TTIREvaluateConstantsPass"
    ),
    "ttir-explicate-tms": "ttmlir.passes.ttir.ttir_explicate_tms:TTIRExplicateTMsPass",
    "ttir-fold-batch-norm": "ttmlir.passes.ttir.ttir_fold_batch_norm:TTIRFoldBatchNormPass",
    "ttir-fold-constant-reshape-broadcast": (
        "ttmlir.passes.ttir.constants.ttir_fold_constant_reshape_broadcast"
        ":TTIRFoldConstantReshapeBroadcastPass"
    ),
    "ttir-fold-full-to-scalar": (
        "ttmlir.passes.ttir.constants.ttir_fold_full_to_scalar:TTIRFoldFullToScalarPass"
    ),
    "ttir-fuse-layers": "ttmlir.passes.ttir.fusing.ttir_fuse_layers:TTIRFuseLayersPass",
    "ttir-fusing": "ttmlir.passes.ttir.fusing.ttir_fusing:TTIRFusingPass",
    "ttir-generic": "ttmlir.passes.ttmetal.ttir_generic:TTIRGenericPass",
    "ttir-generic-kernel": "ttmlir.passes.ttmetal.ttir_generic_kernel:TTIRGenericKernelPass",
    "ttir-generic-region-operands-to-memref": (
        "ttmlir.passes.ttmetal.ttir_generic_region_operands_to_memref"
        ":TTIRGenericRegionOperandsToMemrefPass"
    ),
    "ttir-global-data-format-conversion": (
        "ttmlir.passes.ttir.element_types.ttir_global_data_format_conversion:TTIRGlobalDataFormatConversionPass"
    ),
    "ttir-grid-set": "ttmlir.passes.placement.ttir_grid_set:TTIRGridSetPass",
    "ttir-hoist-loop-constants": (
        "ttmlir.passes.ttir.ttir_hoist_loop_constants:TTIRHoistLoopConstantsPass"
    ),
    "ttir-implicit-broadcast-fold": (
        "ttmlir.passes.ttir.ttir_implicit_broadcast_fold:TTIRImplicitBroadcastFoldPass"
    ),
    "ttir-implicit-device": "ttmlir.passes.placement.ttir_implicit_device:TTIRImplicitDevicePass",
    "ttir-infer-kv-cache-argument-types": (
        "ttmlir.passes.ttir.ttir_infer_kv_cache_argument_types:TTIRInferKVCacheArgumentTypesPass"
    ),
    "ttir-layout": "ttmlir.passes.placement.ttir_layout:TTIRLayoutPass",
    "ttir-load-system-desc": "ttmlir.passes.placement.ttir_load_system_desc:TTIRLoadSystemDescPass",
    "ttir-loop-invariant-code-motion": (
        "ttmlir.passes.ttir.ttir_loop_invariant_code_motion:TTIRLoopInvariantCodeMotionPass"
    ),
    "ttir-move-reshape-to-constant": (
        "ttmlir.passes.ttir.constants.ttir_move_reshape_to_constant:TTIRMoveReshapeToConstantPass"
    ),
    "ttir-predicate-type-alignment": (
        "ttmlir.passes.ttir.element_types.ttir_predicate_type_alignment:TTIRPredicateTypeAlignmentPass"
    ),
    "ttir-propagate-weight-dtype": (
        "ttmlir.passes.ttir.element_types.ttir_propagate_weight_dtype:TTIRPropagateWeightDtypePass"
    ),
    "ttir-quant-data-type-conversion": (
        "ttmlir.passes.ttir.element_types.ttir_quant_data_type_conversion:TTIRQuantDataTypeConversionPass"
    ),
    "ttir-quant-dequant-conversion": (
        "ttmlir.passes.ttir.element_types.ttir_quant_dequant_conversion:TTIRQuantDequantConversionPass"
    ),
    "ttir-reduction-force-keep-dim": (
        "ttmlir.passes.ttir.ttir_reduction_force_keep_dim:TTIRReductionForceKeepDimPass"
    ),
    "ttir-shape-layers": "ttmlir.passes.ttir.ttir_shape_layers:TTIRShapeLayersPass",
    "ttir-sliding-window-2d-fix-shapes": (
        "ttmlir.passes.ttir.ttir_sliding_window_2d_fix_shapes:TTIRSlidingWindow2dFixShapesPass"
    ),
    "ttir-split-compound-layout": (
        "ttmlir.passes.placement.ttir_split_compound_layout:TTIRSplitCompoundLayoutPass"
    ),
    "ttir-to-d2m": "ttmlir.passes.d2m.frontend.ttir_to_d2m:TTIRToD2MPass",
    "ttir-while-trip-count": "ttmlir.passes.ttir.ttir_while_trip_count:TTIRWhileTripCountPass",
    "ttir-window-decomposition": (
        "ttmlir.passes.ttir.decomposition.ttir_window_decomposition:TTIRWindowDecompositionPass"
    ),
    "ttkernel-control-dst-section": (
        "ttmlir.passes.ttmetal.ttkernel_control_dst_section:TTKernelControlDstSectionPass"
    ),
    "ttnn-activation-dtype-conversion": (
        "ttmlir.passes.ttnn.ttnn_activation_dtype_conversion:TTNNActivationDtypeConversionPass"
    ),
    "ttnn-adjust-deallocs": "ttmlir.passes.ttnn.ttnn_adjust_deallocs:TTNNAdjustDeallocsPass",
    "ttnn-ccl-activation-dtype-lowering": (
        "ttmlir.passes.ttnn.collectives.ttnn_ccl_activation_dtype_lowering:TTNNCCLActivationDtypeLoweringPass"
    ),
    "ttnn-collect-perf-metrics": (
        "ttmlir.passes.ttnn.ttnn_collect_perf_metrics:TTNNCollectPerfMetricsPass"
    ),
    "ttnn-configure-ccl-ops": (
        "ttmlir.passes.ttnn.collectives.ttnn_configure_ccl_ops:TTNNConfigureCCLOpsPass"
    ),
    "ttnn-create-input-gens": (
        "ttmlir.passes.ttnn.functions.ttnn_create_input_gens:TTNNCreateInputGeneratorsPass"
    ),
    "ttnn-deallocate": "ttmlir.passes.ttnn.ttnn_deallocate:TTNNDeallocatePass",
    "ttnn-decode-attention": (
        "ttmlir.passes.ttnn.optimizer.ttnn_decode_attention:TTNNDecodeAttentionPass"
    ),
    "ttnn-decompose-layouts": "ttmlir.passes.ttnn.ttnn_decompose_layouts:TTNNDecomposeLayoutsPass",
    "ttnn-decomposition": "ttmlir.passes.ttnn.ttnn_decomposition:TTNNDecompositionPass",
    "ttnn-force-const-eval-to-system-memory": (
        "ttmlir.passes.ttnn.functions.ttnn_force_const_eval_to_system_memory"
        ":TTNNConstEvalInputsToSystemMemoryPass"
    ),
    "ttnn-force-final-deallocs": (
        "ttmlir.passes.ttnn.ttnn_force_final_deallocs:TTNNForceFinalDeallocsPass"
    ),
    "ttnn-fusing": "ttmlir.passes.ttnn.ttnn_fusing:TTNNFusingPass",
    "ttnn-greedy-l1-spill-management": (
        "ttmlir.passes.ttnn.optimizer.ttnn_greedy_l1_spill_management"
        ":TTNNGreedyL1SpillManagementPass"
    ),
    "ttnn-greedy-memory-layout-propagation": (
        "ttmlir.passes.ttnn.optimizer.ttnn_greedy_memory_layout_propagation"
        ":TTNNGreedyMemoryLayoutPropagationPass"
    ),
    "ttnn-keep-results-in-l1": (
        "ttmlir.passes.ttnn.optimizer.ttnn_keep_results_in_l1:TTNNKeepResultsInL1Pass"
    ),
    "ttnn-kv-cache-dtype-conversion": (
        "ttmlir.passes.ttnn.ttnn_kv_cache_dtype_conversion:TTNNKVCacheDtypeConversionPass"
    ),
    "ttnn-layout": "ttmlir.passes.ttnn.ttnn_layout:TTNNLayoutPass",
    "ttnn-load-input-tensors": (
        "ttmlir.passes.ttnn.functions.ttnn_load_input_tensors:TTNNLoadInputTensorsPass"
    ),
    "ttnn-memory-management": "ttmlir.passes.ttnn.ttnn_memory_management:TTNNMemoryManagementPass",
    "ttnn-operation-validation-and-fallback": (
        "ttmlir.passes.ttnn.optimizer.ttnn_operation_validation_and_fallback"
        ":TTNNOperationValidationAndFallbackPass"
    ),
    "ttnn-optimizer": "ttmlir.passes.ttnn.optimizer.ttnn_optimizer:TTNNOptimizerPass",
    "ttnn-prepare-conv2d-weights-and-bias": (
        "ttmlir.passes.ttnn.optimizer.ttnn_prepare_conv2d_weights_and_bias"
        ":TTNNPrepareConv2dWeightsAndBiasPass"
    ),
    "ttnn-prepare-conv3d-weights": (
        "ttmlir.passes.ttnn.ttnn_prepare_conv3d_weights:TTNNPrepareConv3dWeightsPass"
    ),
    "ttnn-prepare-module-for-export": (
        "ttmlir.passes.ttnn.functions.ttnn_prepare_module_for_export:TTNNPrepareModuleForExportPass"
    ),
    "ttnn-remove-deallocs": "ttmlir.passes.ttnn.ttnn_remove_deallocs:TTNNRemoveDeallocsPass",
    "ttnn-report-options": "ttmlir.passes.ttnn.ttnn_report_options:TTNNReportOptionsPass",
    "ttnn-resolve-composites": (
        "ttmlir.passes.ttnn.ttnn_resolve_composites:TTNNResolveCompositesPass"
    ),
    "ttnn-rm-layout-propagation": (
        "ttmlir.passes.ttnn.optimizer.ttnn_rm_layout_propagation:TTNNRMLayoutPropagationPass"
    ),
    "ttnn-set-compute-kernel-config": (
        "ttmlir.passes.ttnn.ttnn_set_compute_kernel_config:TTNNSetComputeKernelConfigPass"
    ),
    "ttnn-set-matmul-program-config": (
        "ttmlir.passes.ttnn.ttnn_set_matmul_program_config:TTNNSetMatmulProgramConfigPass"
    ),
    "ttnn-shard-images": "ttmlir.passes.ttnn.optimizer.ttnn_shard_images:TTNNShardImagesPass",
    "ttnn-shard-norms": "ttmlir.passes.ttnn.optimizer.ttnn_shard_norms:TTNNShardNormsPass",
    "ttnn-shard-products": (
        "ttmlir.passes.ttnn.optimizer.ttnn_shard_products:TTNNShardProductsPass"
    ),
    "ttnn-simplify-locs-for-codegen": (
        "ttmlir.passes.ttnn.functions.ttnn_simplify_locs_for_codegen:TTNNSimplifyLocsForCodegenPass"
    ),
    "ttnn-trace-hoist-transform": (
        "ttmlir.passes.ttnn.functions.ttnn_trace_hoist_transform:TTNNTraceHoistTransformPass"
    ),
    "ttnn-tuplify-tensors": (
        "ttmlir.passes.ttnn.functions.ttnn_tuplify_tensors:TTNNTuplifyTensorsPass"
    ),
    "ttnn-unique-locations": (
        "ttmlir.passes.ttnn.functions.ttnn_unique_locations:TTNNUniqueLocationsPass"
    ),
    "ttnn-weight-dtype-conversion": (
        "ttmlir.passes.ttnn.ttnn_weight_dtype_conversion:TTNNWeightDtypeConversionPass"
    ),
    "ttnn-workaround": "ttmlir.passes.ttnn.workarounds.ttnn_workaround:TTNNWorkaroundPass",
    "update-global-to-local-shapes": (
        "ttmlir.passes.shardy.update_global_to_local_shapes:UpdateGlobalToLocalShapesPass"
    ),
    "wrap-under-manual-computation": (
        "ttmlir.passes.shardy.wrap_under_manual_computation:WrapUnderManualComputationPass"
    ),
}
"""Every pass by its name on the command line; one line each, sorted by name."""

PIPELINES: dict[str, str] = {
    "d2m-be-pipeline": "ttmlir.passes.pipelines.ttir_to_ttmetal:D2MBackendPipeline",
    "d2m-fe-pipeline": "ttmlir.passes.pipelines.ttir_to_ttmetal:D2MFrontendPipeline",
    "linalg-to-ttir-pipeline": "ttmlir.passes.pipelines.linalg:LinalgToTTIRPipeline",
    "linalg-to-ttnn-pipeline": "ttmlir.passes.pipelines.linalg:LinalgToTTNNPipeline",
    "stablehlo-pipeline": "ttmlir.passes.pipelines.stablehlo:StableHLOPipeline",
    "stablehlo-to-ttir-pipeline": "ttmlir.passes.pipelines.stablehlo:StableHLOToTTIRPipeline",
    "stablehlo-to-ttnn-pipeline": "ttmlir.passes.pipelines.stablehlo:StableHLOToTTNNPipeline",
    "tosa-to-ttir-pipeline": "ttmlir.passes.pipelines.tosa:TosaToTTIRPipeline",
    "tosa-to-ttnn-pipeline": "ttmlir.passes.pipelines.tosa:TosaToTTNNPipeline",
    "ttir-to-emitc-pipeline": "ttmlir.passes.pipelines.scripts:TTIRToEmitCPipeline",
    "ttir-to-emitpy-pipeline": "ttmlir.passes.pipelines.scripts:TTIRToEmitPyPipeline",
    "ttir-to-ttmetal-backend-pipeline": (
        "ttmlir.passes.pipelines.ttir_to_ttmetal:TTIRToTTMetalBackendPipeline"
    ),
    "ttir-to-ttmetal-be-pipeline": (
        "ttmlir.passes.pipelines.ttir_to_ttmetal:TTIRToTTMetalBackEndPipeline"
    ),
    "ttir-to-ttmetal-me-pipeline": (
        "ttmlir.passes.pipelines.ttir_to_ttmetal:TTIRToTTMetalMiddleEndPipeline"
    ),
    "ttir-to-ttmetal-pipeline": "ttmlir.passes.pipelines.ttir_to_ttmetal:TTIRToTTMetalPipeline",
    "ttir-to-ttnn-backend-pipeline": (
        "ttmlir.passes.pipelines.ttir_to_ttnn:TTIRToTTNNBackendPipeline"
    ),
    "ttir-to-ttnn-common-pipeline": "ttmlir.passes.pipelines.ttir_to_ttnn:TTIRToTTNNCommonPipeline",
    "ttnn-common-to-emitc-pipeline": "ttmlir.passes.pipelines.scripts:TTNNCommonToEmitCPipeline",
    "ttnn-common-to-emitpy-pipeline": (
        "ttmlir.passes.pipelines.scripts:TTNNCommonToEmitPyPipeline"
    ),
    "ttnn-common-to-runtime-pipeline": (
        "ttmlir.passes.pipelines.ttir_to_ttnn:TTNNCommonToRuntimePipeline"
    ),
}
"""Every pipeline by its name on the command line; one line each, sorted by name."""

ALIASES = {
    "d2m-elementwise-fusion": "d2m-generic-fusion",
    "d2m-insert-dst-register-access-scheduled": "d2m-insert-dst-register-access",
    "d2m-insert-dst-register-access-unscheduled": "d2m-insert-dst-register-access",
    "d2m-lower-dma-to-fully-indexed-form": "d2m-generic-lower-dmas",
    "d2m-to-ttkernel-pipeline": "convert-d2m-to-ttkernel",
    "d2m-to-ttkernel-pre-emitc-pipeline": "convert-d2m-to-ttkernel",
    "d2m-to-ttmetal-pipeline": "convert-d2m-to-ttmetal",
    "d2m-to-ttnn-pipeline": "convert-d2m-to-ttnn",
    "linalg-to-ttir": "linalg-to-ttir-pipeline",
    "linalg-to-ttnn": "linalg-to-ttnn-pipeline",
    "stablehlo-to-ttir": "stablehlo-to-ttir-pipeline",
    "stablehlo-to-ttnn": "stablehlo-to-ttnn-pipeline",
    "tosa-to-ttir": "tosa-to-ttir-pipeline",
    "tosa-to-ttnn": "tosa-to-ttnn-pipeline",
    "ttir-bufferization-pipeline": "ttcore-one-shot-bufferize",
    "ttir-decompose-composites": "ttir-composite-decomposition",
    "ttir-flatten-sliding-window": "ttir-sliding-window-2d-fix-shapes",
    "ttir-optimizer": "ttir-grid-set",
    "ttir-to-emitc": "ttir-to-emitc-pipeline",
    "ttir-to-ttir-decomposition": "ttir-decomposition",
    "ttir-to-ttmetal": "ttir-to-ttmetal-pipeline",
    "ttir-to-ttmetal-fe-pipeline": "d2m-fe-pipeline",
    "ttir-to-ttnn": "ttir-to-ttnn-backend-pipeline",
    "ttir-to-ttnn-backend": "ttir-to-ttnn-backend-pipeline",
    "ttir-to-ttnn-runtime-pipeline": "ttir-to-ttnn-backend-pipeline",
}
"""Other names of passes and pipelines: short ones, and those of later versions of tt-mlir."""

_WITHIN_TTNN = "use ttir-to-ttnn-backend-pipeline, which needs no pass for it"
_WITHOUT_MODEL = (
    "it asks a model of the device what operations take; without one they have the layouts of "
    "ttir-to-ttnn-backend-pipeline"
)
_PORTABLE = (
    "operations of vhlo are not read; turn the artifact into text of stablehlo with "
    "stablehlo-translate --deserialize, or jaxlib's deserialize_portable_artifact"
)

ELSEWHERE = {
    "d2m-emitc-pipeline": "use ttmlir-translate --ttkernel-to-cpp",
    "d2m-decompose-masking": "use d2m-mask-padding, which puts masks into loops",
    "d2m-insert-spill-and-scratch": "use d2m-insert-scratch-buffers, which adds local memory",
    **dict.fromkeys(
        (
            "d2m-generic-replace-globals",
            "d2m-op-scheduler",
            "d2m-optimize-dma",
            "d2m-scalarize-const-tensors",
        ),
        "use ttir-to-ttmetal-pipeline, which does that work",
    ),
    "ttnn-deduce-moe-compute-layouts": _WITHOUT_MODEL,
    **dict.fromkeys(
        (
            "ttnn-allocate-distributed-op-buffers",
            "ttnn-allocate-distributed-op-semaphores",
        ),
        "collectives stay as convert-ttir-to-ttnn makes them; leave it out",
    ),
    **dict.fromkeys(
        (
            "ttnn-emitpy-workarounds",
            "ttnn-file-split",
            "ttnn-prepare-const-eval-caching",
            "ttnn-recover-structure",
            "ttnn-split-forward-func-args-by-type",
        ),
        "use ttnn-common-to-emitpy-pipeline, which writes one file of the module's functions",
    ),
    **dict.fromkeys(
        ("ttnn-collaspe-d2m", "ttnn-create-d2m-subgraphs"),
        "use ttir-to-ttmetal-pipeline with ttnn-mode for whole programs",
    ),
    **dict.fromkeys(
        ("ttnn-lower-tt-lang-to-generic", "ttnn-resolve-tt-lang-kernels"),
        "kernels of tt-lang are compiled by tt-lang",
    ),
    "stablehlo-legalize-to-linalg": (
        "there is no code for host processors; use stablehlo-to-ttir-pipeline"
    ),
    "linalg-to-llvm-pipeline": "there is no code for host processors; use linalg-to-ttnn-pipeline",
    "pykernel-compile-pipeline": "kernels in Python are compiled by the package pykernel",
    "decompose-custom-call-tuples": "use stablehlo-flatten-tuple, which leaves no tuples",
    **dict.fromkeys(
        ("stablehlo-legalize-to-vhlo", "vhlo-legalize-to-stablehlo", "vhlo-to-version"), _PORTABLE
    ),
    "ttir-constant-as-fill": _WITHIN_TTNN,
    "ttir-multi-device-tensor-annotation": (
        "meshes are said by operations (ttir.mesh_shard), and no pass here reads them from types"
    ),
    "ttnn-serialize-to-binary": "use ttmlir-translate --ttnn-to-flatbuffer",
    "ttnn-through-d2m-pipeline": "use ttir-to-ttmetal-pipeline with ttnn-mode",
}
"""Passes and pipelines of other versions of tt-mlir that are not here, and what to do instead."""

HIDDEN = frozenset({"test-pass-crash", "test-pass-failure", "test-pass-invalid"})
"""Passes that only `--help-hidden` shows: they serve the tests of the tools."""


def all_passes() -> dict[str, str]:
    """Every pass by its name, those of installed packages last."""
    return PASSES | _others("ttmlir.passes")


def all_pipelines() -> dict[str, str]:
    """Every pipeline by its name, those of installed packages last."""
    return PIPELINES | _others("ttmlir.pipelines")


def _others(group: extensions.Group) -> dict[str, str]:
    found = extensions.declared(group).items()
    return {name: location for name, location in found if name not in (*PASSES, *PIPELINES)}


def names() -> tuple[str, ...]:
    """The names of all passes and pipelines, sorted."""
    return tuple(sorted((*all_passes(), *all_pipelines())))


class Names(Collection[str]):
    """All names, for which installed packages are looked through only when that decides."""

    def __contains__(self, name: object) -> bool:
        """True for a name or alias of a pass or pipeline, also of other versions of tt-mlir."""
        return any(name in known for known in (PASSES, PIPELINES, ALIASES, ELSEWHERE)) or name in {
            **all_passes(),
            **all_pipelines(),
        }

    def __iter__(self) -> Iterator[str]:
        """The names, sorted."""
        return iter(names())

    def __len__(self) -> int:
        """How many there are."""
        return len(names())


def unknown_name(name: str) -> str:
    """What is wrong with a name that `lookup` does not find."""
    if name in ELSEWHERE:
        return f"'{name}' of other versions of tt-mlir is not supported: {ELSEWHERE[name]}"
    return f"'{name}' does not refer to a registered pass or pass pipeline"


@cache
def lookup(name: str) -> type[Pass] | type[Pipeline] | None:
    """The class of a pass or pipeline, also by an alias; None if the name is not registered.

    Raises OptionError if it is of an installed package and cannot be loaded.
    """
    name = ALIASES.get(name, name)
    location = PASSES.get(name) or PIPELINES.get(name)
    if location is None:
        return _lookup_installed(name)
    module, _, attribute = location.partition(":")
    return getattr(import_module(module), attribute)


def _lookup_installed(name: str) -> type[Pass] | type[Pipeline] | None:
    kinds: tuple[tuple[extensions.Group, type[Pass] | type[Pipeline]], ...] = (
        ("ttmlir.passes", Pass),
        ("ttmlir.pipelines", Pipeline),
    )
    for group, kind in kinds:
        found = extensions.load(group, name)
        if found is None:
            continue
        if not isinstance(found, type) or not issubclass(found, kind) or found.name != name:
            raise OptionError(
                f"'{name}' is the entry point {extensions.declared(group)[name]} of the group "
                f"{group}, which is no {kind.__name__.lower()} of that name"
            )
        return found
    return None
