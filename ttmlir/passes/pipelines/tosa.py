"""From tosa to ttir, and on to ttnn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ttmlir.passes.core.base import Pass, Pipeline
from ttmlir.passes.pipelines.linalg import linalg_to_ttir
from ttmlir.passes.pipelines.ttir_to_ttnn import TTIRToTTNNBackendPipeline


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


def _tosa_to_ttir() -> Sequence[Pass]:
    """Calls, what surrounds tosa, tosa."""
    from ttmlir.passes.tosa.convert_tosa_to_ttir import ConvertTosaToTTIRPass

    return (*linalg_to_ttir(), ConvertTosaToTTIRPass())
