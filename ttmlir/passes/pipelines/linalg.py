"""From linalg on tensors to ttir, and on to ttnn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ttmlir.passes.core.base import Pass, Pipeline
from ttmlir.passes.pipelines.ttir_to_ttnn import TTIRToTTNNBackendPipeline


@dataclass(frozen=True)
class LinalgToTTIRPipeline(Pipeline):
    """Lower linalg on tensors to the ttir operations that ttnn has."""

    name = "linalg-to-ttir-pipeline"

    def passes(self) -> Sequence[Pass]:
        """Calls, ttir, general operations."""
        from ttmlir.passes.ttir.ttir_decomposition import TTIRDecompositionPass

        return (*linalg_to_ttir(), TTIRDecompositionPass())


@dataclass(frozen=True)
class LinalgToTTNNPipeline(TTIRToTTNNBackendPipeline):
    """Lower linalg on tensors to ttnn, ready to be written to a .ttnn file or as C++."""

    name = "linalg-to-ttnn-pipeline"

    def passes(self) -> Sequence[Pass]:
        """Calls, ttir, then the passes from ttir to ttnn."""
        return (*linalg_to_ttir(), *super().passes())


def linalg_to_ttir() -> Sequence[Pass]:
    """Functions of ml_program, calls, then operations of linalg, tensor, arith and math."""
    from ttmlir.passes.general.inline import InlinePass
    from ttmlir.passes.linalg.convert_linalg_to_ttir import ConvertLinalgToTTIRPass
    from ttmlir.passes.linalg.convert_ml_program_to_func import ConvertMLProgramToFuncPass

    return (
        ConvertMLProgramToFuncPass(),
        InlinePass(canonicalize=False),
        ConvertLinalgToTTIRPass(),
    )
