"""From tosa to ttir, and on to ttnn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ttmlir.ir.builder import TTIRSpelling
from ttmlir.mlir.option_values import option
from ttmlir.passes.core.base import Pass, Pipeline
from ttmlir.passes.pipelines.linalg import MAX_TRIP_COUNT, linalg_to_ttir
from ttmlir.passes.pipelines.ttir_to_ttnn import ModelToTTNNPipeline


@dataclass(frozen=True)
class TosaToTTIRPipeline(Pipeline):
    """Lower tosa to the ttir operations that ttnn has."""

    name = "tosa-to-ttir-pipeline"
    max_trip_count: int = option(0, MAX_TRIP_COUNT)

    def passes(self) -> Sequence[Pass]:
        """Calls, control flow, ttir, general operations."""
        from ttmlir.passes.ttir.decomposition.ttir_decomposition import TTIRDecompositionPass

        return (*_tosa_to_ttir(self.max_trip_count), TTIRDecompositionPass())


@dataclass(frozen=True)
class TosaToTTNNPipeline(ModelToTTNNPipeline):
    """Lower tosa to ttnn, ready to be written to a .ttnn file or as C++."""

    name = "tosa-to-ttnn-pipeline"
    max_trip_count: int = option(0, MAX_TRIP_COUNT)

    def passes(self) -> Sequence[Pass]:
        """Calls, control flow, ttir, then the passes from ttir to ttnn."""
        return (*_tosa_to_ttir(self.max_trip_count), *super().passes())


def _tosa_to_ttir(max_trip_count: int) -> Sequence[Pass]:
    """Calls, control flow, what surrounds tosa, tosa."""
    from ttmlir.passes.tosa.convert_tosa_to_ttir import ConvertTosaToTTIRPass

    return (
        *linalg_to_ttir(max_trip_count),
        ConvertTosaToTTIRPass(spelling=TTIRSpelling.EARLY),
    )
