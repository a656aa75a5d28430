"""From ttir and ttnn to text of other languages that calls the ttnn library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ttmlir.ir.builder import Spelling
from ttmlir.mlir.option_values import option
from ttmlir.passes.core.base import Pass, Pipeline
from ttmlir.passes.pipelines.ttir_to_ttnn import (
    TTIRToTTNNCommonPipeline,
    TTNNCommonToRuntimePipeline,
)


@dataclass(frozen=True)
class _Scripts(Pipeline):
    """Text that runs by itself, or that other text calls."""

    load_input_tensors_from_disk: bool = option(
        False, "Read inputs from files; otherwise they are ones"
    )
    tensor_load_directory: str = option("", "Directory of the files with inputs")
    tensor_load_file_prefix: str = option("arg", "Names of files with inputs, before the numbers")

    def _with_main(self) -> Sequence[Pass]:
        """Tuples, functions that make or read inputs, and one that runs the program."""
        from ttmlir.passes.ttnn.functions.ttnn_create_input_gens import (
            TTNNCreateInputGeneratorsPass,
        )
        from ttmlir.passes.ttnn.functions.ttnn_load_input_tensors import TTNNLoadInputTensorsPass
        from ttmlir.passes.ttnn.functions.ttnn_tuplify_tensors import TTNNTuplifyTensorsPass

        runtime = TTNNCommonToRuntimePipeline().passes()
        read = TTNNLoadInputTensorsPass(
            tensor_load_directory=self.tensor_load_directory,
            tensor_load_file_prefix=self.tensor_load_file_prefix,
        )
        inputs = read if self.load_input_tensors_from_disk else TTNNCreateInputGeneratorsPass()
        return (*runtime, TTNNTuplifyTensorsPass(), inputs)

    def _for_callers(self) -> Sequence[Pass]:
        """Functions of one tuple, even if it is empty."""
        from ttmlir.passes.ttnn.functions.ttnn_tuplify_tensors import TTNNTuplifyTensorsPass

        tuples = TTNNTuplifyTensorsPass(tuplify_input_if_empty=True)
        return (*TTNNCommonToRuntimePipeline().passes(), tuples)


@dataclass(frozen=True)
class _EmitPy(_Scripts):
    """Python."""

    target_module: bool = option(
        False, "A module for other Python to import: `forward` takes tensors and the device"
    )

    def python(self) -> Sequence[Pass]:
        """The passes from ttnn."""
        from ttmlir.passes.emitpy.convert_ttnn_to_emitpy import ConvertTTNNToEmitPyPass
        from ttmlir.passes.ttnn.functions.ttnn_prepare_module_for_export import (
            TTNNPrepareModuleForExportPass,
        )

        if self.target_module:
            export = TTNNPrepareModuleForExportPass()
            return (*self._for_callers(), export, ConvertTTNNToEmitPyPass())
        return (*self._with_main(), ConvertTTNNToEmitPyPass())


@dataclass(frozen=True)
class _EmitC(_Scripts):
    """C++."""

    target_dylib: bool = option(False, "A library for others to load: there is no `main`")

    def cpp(self) -> Sequence[Pass]:
        """The passes from ttnn."""
        from ttmlir.passes.emitc.convert_ttnn_to_emitc import ConvertTTNNToEmitCPass

        before = self._for_callers() if self.target_dylib else self._with_main()
        return (*before, ConvertTTNNToEmitCPass())


@dataclass(frozen=True)
class TTNNCommonToEmitPyPipeline(_EmitPy):
    """Turn ttnn of 2026 into Python: what `ttmlir-translate --mlir-to-python` prints."""

    name = "ttnn-common-to-emitpy-pipeline"

    def passes(self) -> Sequence[Pass]:
        """What programs need to run, their inputs, and the conversion."""
        return self.python()


@dataclass(frozen=True)
class TTNNCommonToEmitCPipeline(_EmitC):
    """Turn ttnn of 2026 into C++: what `ttmlir-translate --mlir-to-cpp` prints."""

    name = "ttnn-common-to-emitc-pipeline"

    def passes(self) -> Sequence[Pass]:
        """What programs need to run, their inputs, and the conversion."""
        return self.cpp()


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
class TTIRToEmitPyPipeline(_EmitPy, _FromTTIR):
    """Lower ttir to ttnn of 2026, and that to Python."""

    name = "ttir-to-emitpy-pipeline"

    def passes(self) -> Sequence[Pass]:
        """Those to ttnn, then those to Python."""
        from ttmlir.passes.ttnn.workarounds.ttnn_workaround import TTNNWorkaroundPass

        common = (
            replace(each, divide_integers=True) if isinstance(each, TTNNWorkaroundPass) else each
            for each in self.common()
        )
        return (*common, *self.python())


@dataclass(frozen=True)
class TTIRToEmitCPipeline(_EmitC, _FromTTIR):
    """Lower ttir to ttnn of 2026, and that to C++."""

    name = "ttir-to-emitc-pipeline"

    def passes(self) -> Sequence[Pass]:
        """Those to ttnn, then those to C++."""
        return (*self.common(), *self.cpp())
