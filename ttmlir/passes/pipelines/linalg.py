"""From linalg on tensors to ttir, and on to ttnn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ttmlir.mlir.option_values import option
from ttmlir.passes.core.base import Pass, Pipeline
from ttmlir.passes.pipelines.ttir_to_ttnn import ModelToTTNNPipeline

MAX_TRIP_COUNT = "Largest number of iterations of a loop that is unrolled; 0 for short loops"


@dataclass(frozen=True)
class LinalgToTTIRPipeline(Pipeline):
    """Lower linalg on tensors to the ttir operations that ttnn has."""

    name = "linalg-to-ttir-pipeline"
    max_trip_count: int = option(0, MAX_TRIP_COUNT)

    def passes(self) -> Sequence[Pass]:
        """Calls, control flow, ttir, general operations."""
        from ttmlir.passes.ttir.decomposition.ttir_decomposition import TTIRDecompositionPass

        return (*linalg_to_ttir(self.max_trip_count), TTIRDecompositionPass())


@dataclass(frozen=True)
class LinalgToTTNNPipeline(ModelToTTNNPipeline):
    """Lower linalg on tensors to ttnn, ready to be written to a .ttnn file or as C++."""

    name = "linalg-to-ttnn-pipeline"
    max_trip_count: int = option(0, MAX_TRIP_COUNT)

    def passes(self) -> Sequence[Pass]:
        """Calls, control flow, ttir, then the passes from ttir to ttnn."""
        return (*linalg_to_ttir(self.max_trip_count), *super().passes())


def linalg_to_ttir(max_trip_count: int) -> Sequence[Pass]:
    """Functions of ml_program, calls, control flow, then linalg, tensor, arith and math."""
    from ttmlir.passes.control_flow.flatten_control_flow import FlattenControlFlowPass
    from ttmlir.passes.convert_linalg_to_ttir import ConvertLinalgToTTIRPass
    from ttmlir.passes.general.inline import InlinePass
    from ttmlir.passes.linalg.convert_ml_program_to_func import ConvertMLProgramToFuncPass

    return (
        ConvertMLProgramToFuncPass(),
        InlinePass(canonicalize=False),
        FlattenControlFlowPass(max_trip_count=max_trip_count),
        ConvertLinalgToTTIRPass(),
    )
