"""From ttir and ttnn to text of other languages that calls the ttnn library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ttmlir.ir.builder import Spelling
from ttmlir.passes.core.base import Pass, Pipeline
from ttmlir.passes.pipelines.ttir_to_ttnn import (
    TTIRToTTNNCommonPipeline,
    TTNNCommonToRuntimePipeline,
)


@dataclass(frozen=True)
class TTNNCommonToEmitPyPipeline(Pipeline):
    """Turn ttnn of 2026 into Python: what `ttmlir-translate --mlir-to-python` prints."""

    name = "ttnn-common-to-emitpy-pipeline"

    def passes(self) -> Sequence[Pass]:
        """What programs need to run, and the conversion."""
        from ttmlir.passes.emitpy.convert_ttnn_to_emitpy import ConvertTTNNToEmitPyPass

        return (*TTNNCommonToRuntimePipeline().passes(), ConvertTTNNToEmitPyPass())


class _FromTTIR(TTIRToTTNNCommonPipeline):
    """ttnn of 2026, of whichever spelling the module has."""

    def common(self) -> Sequence[Pass]:
        """The passes as far as ttnn."""
        from ttmlir.passes.core.value_form import in_earlier_form
        from ttmlir.passes.general.convert_spelling import ConvertSpellingPass
        from ttmlir.passes.ttir.decomposition.ttir_decomposition import TTIRDecompositionPass

        general = in_earlier_form([TTIRDecompositionPass()])
        common = TTIRToTTNNCommonPipeline.passes(self)
        return (*general, ConvertSpellingPass(to=Spelling.LATE), *common)


@dataclass(frozen=True)
class TTIRToEmitPyPipeline(_FromTTIR):
    """Lower ttir to ttnn of 2026, and that to Python."""

    name = "ttir-to-emitpy-pipeline"

    def passes(self) -> Sequence[Pass]:
        """Those to ttnn, then those to Python."""
        return (*self.common(), *TTNNCommonToEmitPyPipeline().passes())


@dataclass(frozen=True)
class TTIRToEmitCPipeline(_FromTTIR):
    """Lower ttir to ttnn of 2026, and that to C++."""

    name = "ttir-to-emitc-pipeline"

    def passes(self) -> Sequence[Pass]:
        """Those to ttnn, then those to C++."""
        from ttmlir.passes.emitc.convert_ttnn_to_emitc import ConvertTTNNToEmitCPass

        runtime = TTNNCommonToRuntimePipeline().passes()
        return (*self.common(), *runtime, ConvertTTNNToEmitCPass())
