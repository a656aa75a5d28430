"""From stablehlo to ttir, and on to ttnn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ttmlir.ir.builder import SPELLING_HELP, TTIRSpelling
from ttmlir.mlir.option_values import option
from ttmlir.passes.core.base import LaterPasses, Pass, Pipeline
from ttmlir.passes.core.value_form import SpelledPipeline
from ttmlir.passes.general.argument_types import ARGUMENT_TYPES, ArgumentTypes
from ttmlir.passes.pipelines.linalg import MAX_TRIP_COUNT
from ttmlir.passes.pipelines.ttir_to_ttnn import ModelToTTNNPipeline
from ttmlir.passes.shardy.analyze_mesh import ANY_MESH
from ttmlir.version import SPELLING_VARIABLE


@dataclass(frozen=True)
class StableHLOPipeline(Pipeline):
    """Say in StableHLO what one device computes, as tt-mlir of 2026 does before ttir."""

    name = "stablehlo-pipeline"
    mesh_shape: tuple[int, ...] = option((), "Extents of the mesh of a program that has none")
    result_presharded: tuple[int, ...] = option(
        (), "1 for each result that is taken in parts, 0 for the others"
    )
    automatic_arg_analysis: bool = option(
        False, "Spread the first dimension of arguments over the mesh"
    )
    argument_types: ArgumentTypes = option(
        (), "What the arguments of functions are", type=ARGUMENT_TYPES
    )
    enable_aggressive_simplification: bool = option(
        False, "Simplify first: run stablehlo-aggressive-simplification"
    )
    enable_auto_sharding: bool = option(False, "Search for shardings of arguments")
    dump_variants: bool = option(False, "Write each choice of that search to a file")
    dump_dir: str = option("/tmp/", "Directory of those files")
    any_mesh: bool = option(False, ANY_MESH)

    def passes(self) -> Sequence[Pass]:
        """Meshes, shardings, regions for one device, shapes of one device."""
        from ttmlir.passes.general.canonicalize import CanonicalizePass
        from ttmlir.passes.general.tt_populate_argument_types import TTPopulateArgumentTypesPass
        from ttmlir.passes.shardy import one_device as nothing
        from ttmlir.passes.shardy.analyze_mesh import AnalyzeMeshPass
        from ttmlir.passes.shardy.annotate_local_shapes import AnnotateLocalShapesPass
        from ttmlir.passes.shardy.apply_argument_shard_status import ApplyArgumentShardStatusPass
        from ttmlir.passes.shardy.convert_xla_sdy_to_sdy import ConvertXlaSdyToSdyPass
        from ttmlir.passes.shardy.decouple_const_fanout import DecoupleConstFanoutPass
        from ttmlir.passes.shardy.insert_explicit_reshards import InsertExplicitReshardsPass
        from ttmlir.passes.shardy.partially_convert_sdy_to_stablehlo import (
            PartiallyConvertSdyToStableHLOPass,
        )
        from ttmlir.passes.shardy.register_user_sharding_rule import RegisterUserShardingRulePass
        from ttmlir.passes.shardy.replicate_non_splittable_values import (
            ReplicateNonSplittableValuesPass,
        )
        from ttmlir.passes.shardy.sdy_apply_sharding_constraints import (
            SdyApplyShardingConstraintsPass,
        )
        from ttmlir.passes.shardy.sdy_close_shardings import SdyCloseShardingsPass
        from ttmlir.passes.shardy.sdy_lift_inlined_meshes import SdyLiftInlinedMeshesPass
        from ttmlir.passes.shardy.sdy_remove_size_one_axes import SdyRemoveSizeOneAxesPass
        from ttmlir.passes.shardy.sdy_reshard_to_collectives import SdyReshardToCollectivesPass
        from ttmlir.passes.shardy.sdy_sharding_constraint_to_reshard import (
            SdyShardingConstraintToReshardPass,
        )
        from ttmlir.passes.shardy.sdy_split_sub_axes import SdySplitSubAxesPass
        from ttmlir.passes.shardy.sdy_user_priority_propagate import SdyUserPriorityPropagatePass
        from ttmlir.passes.shardy.shardy_ccl_canonicalization import (
            ShardyCCLCanonicalizationPass,
        )
        from ttmlir.passes.shardy.stablehlo_fusing import StableHLOFusingPass
        from ttmlir.passes.shardy.update_global_to_local_shapes import (
            UpdateGlobalToLocalShapesPass,
        )
        from ttmlir.passes.shardy.wrap_under_manual_computation import (
            WrapUnderManualComputationPass,
        )
        from ttmlir.passes.stablehlo.stablehlo_aggressive_simplification import (
            InlineStableHLOPass,
            StableHLOAggressiveSimplificationPass,
        )

        types, simplifies = self.argument_types, self.enable_aggressive_simplification
        search = nothing.AutoShardingPass(
            mesh_shape=self.mesh_shape, dump_variants=self.dump_variants, dump_dir=self.dump_dir
        )
        return (
            InlineStableHLOPass(canonicalize=False),
            *([StableHLOAggressiveSimplificationPass()] if simplifies else []),
            *([TTPopulateArgumentTypesPass(argument_types=types)] if types else []),
            ConvertXlaSdyToSdyPass(),
            SdyLiftInlinedMeshesPass(),
            StableHLOFusingPass(),
            PartiallyConvertSdyToStableHLOPass(),
            ApplyArgumentShardStatusPass(result_presharded=self.result_presharded),
            AnalyzeMeshPass(
                mesh_shape=self.mesh_shape,
                automatic_arg_analysis=self.automatic_arg_analysis,
                any_mesh=self.any_mesh,
            ),
            *([search] if self.enable_auto_sharding else []),
            SdyRemoveSizeOneAxesPass(),
            DecoupleConstFanoutPass(),
            nothing.FlattenOrConvertCompositesPass(),
            nothing.RegisterCustomShardingRulePass(),
            RegisterUserShardingRulePass(),
            SdyApplyShardingConstraintsPass(),
            SdyUserPriorityPropagatePass(conservative_propagation=True),
            SdyShardingConstraintToReshardPass(),
            ReplicateNonSplittableValuesPass(),
            nothing.InsertReshardsForUnpropagatedOpsPass(),
            InsertExplicitReshardsPass(),
            WrapUnderManualComputationPass(),
            SdyReshardToCollectivesPass(in_parts=self.any_mesh),
            *([SdySplitSubAxesPass()] if self.any_mesh else []),
            ShardyCCLCanonicalizationPass(),
            AnnotateLocalShapesPass(),
            UpdateGlobalToLocalShapesPass(),
            nothing.ReoutlineCompositePass(),
            nothing.FuseDistributedCustomCallsPass(),
            SdyCloseShardingsPass(),
            CanonicalizePass(),
        )


@dataclass(frozen=True)
class StableHLOToTTIRPipeline(SpelledPipeline):
    """Lower stablehlo to the ttir operations that ttnn has."""

    name = "stablehlo-to-ttir-pipeline"
    max_trip_count: int = option(0, MAX_TRIP_COUNT)
    enable_remove_dead_values: bool = option(
        False, "Remove unused values, arguments and results: run remove-dead-values"
    )
    spelling: TTIRSpelling = option(
        TTIRSpelling.AS_MODULE, SPELLING_HELP, environment=SPELLING_VARIABLE
    )
    keep_element_types: bool = option(
        False,
        "From 2025 on, keep numbers of 64 bits: otherwise integers without sign are pairs of "
        "32-bit ones, and constants of f64 have the bits of f32",
    )
    enable_aggressive_simplification: bool = option(
        False, "From 2025 on, leave out and merge operations: stablehlo-aggressive-simplification"
    )
    enable_arith_to_stablehlo: bool = option(True, "Take operations of arith on tensors, too")
    enable_composite_to_call: bool = option(
        True, "Replace composites by calls of what they are made of"
    )

    def choose_steps(self) -> Sequence[Pass | LaterPasses]:
        """Calls, control flow, ttir, general operations."""
        from ttmlir.passes.general.remove_dead_values import RemoveDeadValuesPass

        remove = [RemoveDeadValuesPass()] if self.enable_remove_dead_values else []
        if self.spelling is TTIRSpelling.EARLY:
            return (*self._early_passes(), *remove)
        if self.spelling is not TTIRSpelling.AS_MODULE:
            return (*self._late_passes(), *remove)
        return (
            LaterPasses("tt", self._early_passes),
            LaterPasses("not-tt", self._late_passes),
            *remove,
        )

    def _early_passes(self) -> Sequence[Pass]:
        from ttmlir.passes.ttir.decomposition.ttir_decomposition import TTIRDecompositionPass

        return (*_stablehlo_to_ttir(self.max_trip_count), TTIRDecompositionPass())

    def _late_passes(self) -> Sequence[Pass]:
        """What tt-mlir of 2025 and 2026 does, which leaves more to the passes after it."""
        from ttmlir.passes.general.ttcore_wrap_device_module import TTCoreWrapDeviceModulePass
        from ttmlir.passes.stablehlo.convert_stablehlo_to_ttir import ConvertStableHLOToTTIRPass
        from ttmlir.passes.stablehlo.functions.chlo_legalize_to_stablehlo import (
            ChloLegalizeToStableHLOPass,
        )
        from ttmlir.passes.stablehlo.pairs.stablehlo_complex_data_type_conversion import (
            StableHLOComplexDataTypeConversionPass,
        )
        from ttmlir.passes.stablehlo.pairs.stablehlo_complex_math_expander import (
            StableHLOComplexMathExpanderPass,
        )
        from ttmlir.passes.stablehlo.pairs.stablehlo_uint64_data_type_conversion import (
            StableHLOUInt64DataTypeConversionPass,
        )
        from ttmlir.passes.stablehlo.quantization.stablehlo_widen_storage_types import (
            StableHLOWidenStorageTypesPass,
        )
        from ttmlir.passes.stablehlo.stablehlo_aggressive_simplification import (
            InlineStableHLOPass,
            MergeStableHLOPass,
            StableHLOAggressiveSimplificationPass,
        )
        from ttmlir.passes.stablehlo.stablehlo_legalize_composite_to_call import (
            StableHLOLegalizeCompositeToCallPass,
        )
        from ttmlir.passes.stablehlo.structure.stablehlo_flatten_tuple import (
            StableHLOFlattenTuplePass,
        )
        from ttmlir.passes.stablehlo.structure.stablehlo_outline_control_flow import (
            StableHLOOutlineControlFlowPass,
        )
        from ttmlir.passes.stablehlo.structure.stablehlo_refine_shapes import (
            StableHLORefineShapesPass,
        )

        composites = [StableHLOLegalizeCompositeToCallPass(except_prefix="tenstorrent.")]
        simplifies = self.enable_aggressive_simplification
        return (
            StableHLOFlattenTuplePass(),
            ChloLegalizeToStableHLOPass(),
            *(composites if self.enable_composite_to_call else []),
            InlineStableHLOPass(canonicalize=False),
            StableHLORefineShapesPass(),
            *([StableHLOAggressiveSimplificationPass()] if simplifies else []),
            StableHLOComplexMathExpanderPass(),
            StableHLOComplexDataTypeConversionPass(),
            *([] if self.keep_element_types else [StableHLOUInt64DataTypeConversionPass()]),
            MergeStableHLOPass(canonicalize=False),
            StableHLOWidenStorageTypesPass(spelling=self.spelling),
            StableHLOOutlineControlFlowPass(),
            ConvertStableHLOToTTIRPass(
                spelling=self.spelling, keep_element_types=self.keep_element_types
            ),
            TTCoreWrapDeviceModulePass(),
        )


@dataclass(frozen=True)
class StableHLOToTTNNPipeline(ModelToTTNNPipeline):
    """Lower stablehlo to ttnn, ready to be written to a .ttnn file or as C++."""

    name = "stablehlo-to-ttnn-pipeline"
    max_trip_count: int = option(0, MAX_TRIP_COUNT)

    def passes(self) -> Sequence[Pass]:
        """Calls, control flow, ttir, then the passes from ttir to ttnn."""
        return (*_stablehlo_to_ttir(self.max_trip_count), *super().passes())


def _stablehlo_to_ttir(max_trip_count: int) -> Sequence[Pass]:
    from ttmlir.passes.stablehlo.complex.stablehlo_expand_complex import StableHLOExpandComplexPass
    from ttmlir.passes.stablehlo.convert_stablehlo_to_ttir import ConvertStableHLOToTTIRPass
    from ttmlir.passes.stablehlo.functions.stablehlo_expand_functions import (
        StableHLOExpandFunctionsPass,
    )
    from ttmlir.passes.stablehlo.linear_algebra.stablehlo_expand_linear_algebra import (
        StableHLOExpandLinearAlgebraPass,
    )
    from ttmlir.passes.stablehlo.quantization.stablehlo_legalize_quant_to_math import (
        StableHLOLegalizeQuantToMathPass,
    )
    from ttmlir.passes.stablehlo.quantization.stablehlo_widen_storage_types import (
        StableHLOWidenStorageTypesPass,
    )
    from ttmlir.passes.stablehlo.specification.stablehlo_expand_operations import (
        StableHLOExpandOperationsPass,
    )
    from ttmlir.passes.stablehlo.stablehlo_aggressive_simplification import InlineNamedPass
    from ttmlir.passes.stablehlo.stablehlo_flatten_control_flow import (
        StableHLOFlattenControlFlowPass,
    )
    from ttmlir.passes.stablehlo.stablehlo_legalize_composite_to_call import (
        StableHLOLegalizeCompositeToCallPass,
    )
    from ttmlir.passes.stablehlo.structure.stablehlo_flatten_tuple import StableHLOFlattenTuplePass
    from ttmlir.passes.stablehlo.structure.stablehlo_refine_shapes import StableHLORefineShapesPass

    return (
        StableHLOFlattenTuplePass(),
        StableHLOLegalizeCompositeToCallPass(),
        StableHLOExpandLinearAlgebraPass(),
        InlineNamedPass(canonicalize=False),
        StableHLORefineShapesPass(),
        StableHLOExpandFunctionsPass(),
        StableHLOLegalizeQuantToMathPass(),
        StableHLOWidenStorageTypesPass(),
        StableHLOFlattenControlFlowPass(max_trip_count=max_trip_count),
        # Sizes that follow from the counters of loops.
        StableHLORefineShapesPass(),
        StableHLOExpandOperationsPass(),
        StableHLOExpandComplexPass(),
        ConvertStableHLOToTTIRPass(spelling=TTIRSpelling.EARLY),
    )
