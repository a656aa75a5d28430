"""The translations of `ttmlir-translate`."""

from __future__ import annotations

from ttmlir.tools.translate.translation import Translation

TRANSLATIONS = (
    Translation(
        name="cpp-to-ttkernel",
        doc="translate a kernel in cpp to ttkernel",
        function="ttmlir.frontend.cpp_to_ttkernel:read_kernel",
        flags=("include_folders", "defines"),
        reads_text=True,
    ),
    Translation(
        name="mlir-to-cpp",
        doc="translate from mlir to cpp",
        function="ttmlir.target.cpp.emitter:emit_cpp",
        flags=("declare_variables_at_top",),
    ),
    Translation(
        name="mlir-to-python",
        doc="translate from mlir to python",
        function="ttmlir.target.python.emitter:emit_python",
    ),
    Translation(
        name="onnx-to-ttir",
        doc="translate a model of ONNX to ttir",
        function="ttmlir.frontend.onnx:read_onnx",
        flags=("input_shapes",),
        reads_file=True,
    ),
    Translation(
        name="ttkernel-to-cpp",
        doc="translate ttkernel to cpp",
        function="ttmlir.compiler:write_kernels",
        flags=("kernel_api",),
    ),
    Translation(
        name="ttmetal-to-flatbuffer",
        doc="translate ttmetal to flatbuffer",
        function="ttmlir.compiler:write_ttm",
    ),
    Translation(
        name="ttnn-to-flatbuffer",
        doc="translate ttnn to flatbuffer",
        function="ttmlir.compiler:write_ttnn",
        flags=("schema_of",),
    ),
)
"""Every translation, sorted by name."""
