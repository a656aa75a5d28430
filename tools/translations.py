"""The translations of `ttmlir-translate`.

Writing a `.ttnn` file takes passes and printers together, which no package below the tools may
import both: the file holds the C++ of the program beside the program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ttmlir.target.translation import Translation

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

TRANSLATIONS = (
    Translation(
        name="mlir-to-cpp",
        doc="translate from mlir to cpp",
        function="ttmlir.target.cpp:emit_cpp",
        flags=("declare_variables_at_top",),
    ),
    Translation(
        name="ttnn-to-flatbuffer",
        doc="translate ttnn to flatbuffer",
        function="ttmlir_tools.translations:ttnn_binary",
    ),
)
"""Every translation, sorted by name."""

MAX_QUOTED_ELEMENTS = 100
"""Constants with more elements are left out of the texts in a binary; their bytes are in it."""


def ttnn_binary(module: ModuleOp) -> bytes:
    """The `.ttnn` file of a module, with the texts of its MLIR and its C++."""
    from ttmlir.mlir.printer import print_module
    from ttmlir.target.flatbuffer.ttnn import ttnn_to_flatbuffer

    return ttnn_to_flatbuffer(
        module,
        mlir_source=print_module(module, elide_larger_than=MAX_QUOTED_ELEMENTS),
        cpp_source=cpp_of_ttnn(module),
    )


def cpp_of_ttnn(module: ModuleOp) -> str:
    """The C++ of a module of the ttnn dialect; empty if an operation has no C++ form."""
    from ttmlir.dialects import DIALECTS
    from ttmlir.mlir.context import make_context
    from ttmlir.mlir.diagnostics import DiagnosticError
    from ttmlir.passes.manager import PassFailure, PassManager
    from ttmlir.passes.nest import parse_pipeline
    from ttmlir.target.cpp import emit_cpp

    copy = module.clone()
    manager = PassManager(nest=parse_pipeline("builtin.module(convert-ttnn-to-emitc)"))
    try:
        manager.run(make_context(DIALECTS), copy)
        return emit_cpp(copy, elide_above=MAX_QUOTED_ELEMENTS)
    except DiagnosticError:
        return ""
    except PassFailure as failure:
        if isinstance(failure.__cause__, DiagnosticError):
            return ""
        raise
