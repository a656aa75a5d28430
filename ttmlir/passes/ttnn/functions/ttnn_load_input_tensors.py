"""Write functions that read inputs from files, and a `main` that runs the program on them.

Before:

    // Options: tensor-load-directory=tensors
    #dram = #ttnn.buffer_type<dram>
    #layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>,
        memref<1x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
    func.func @neg(%x: tensor<32x32xbf16, #layout>) -> tensor<32x32xbf16, #layout> {
      return %x : tensor<32x32xbf16, #layout>
    }

After:

    ...
      func.func @load_inputs_for_neg() -> tensor<32x32xbf16, #ttnn_layout> {
        %0 = "ttnn.get_device"() <{mesh_offset = #ttnn<mesh_offset 0x0>, mesh_shape =
            #ttnn<mesh_shape 1x1>}> : () -> !ttnn.device
        %1 = "ttnn.load_tensor"(%0) <{file_path = "tensors/arg0.tensorbin"}> : (!ttnn.device)
            -> tensor<32x32xbf16, #ttnn_layout>
        return %1 : tensor<32x32xbf16, #ttnn_layout>
      }
      func.func @main() -> i32 {
        %0 = call @load_inputs_for_neg() : () -> tensor<32x32xbf16, #ttnn_layout>
        ...

Requires: ttnn of 2026, with layouts; functions of tensors, or of tuples of tensors
(`ttnn-tuplify-tensors`).
Ensures: `main` calls each function that nothing called before; one with that name is `_main` now.
Options: `tensor-load-directory` (the one that the program runs in), `tensor-load-file-prefix`:
names of files before the numbers of the inputs (arg).
Not done here: writing the files, which `ttnn.dump_tensor` does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttmlir.mlir.option_values import option
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.ttnn.functions.ttnn_create_input_gens import add_main, on_device

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp, TensorType
    from xdsl.ir import Attribute, SSAValue

    from ttmlir.ir.ttnn_values import TTNNValueBuilder

DIRECTORY = "Directory of the files with inputs"
PREFIX = "Names of files with inputs, before the numbers"


@dataclass(frozen=True)
class TTNNLoadInputTensorsPass(ModulePass):
    """Write functions that read inputs, and one that runs the program on them."""

    name = "ttnn-load-input-tensors"
    title = "TTNNLoadInputTensors"
    tensor_load_directory: str = option("", DIRECTORY)
    tensor_load_file_prefix: str = option("arg", PREFIX)

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Add the functions."""
        add_main(module, "load", self._read)

    def _read(self, build: TTNNValueBuilder, type_: TensorType[Attribute], number: int) -> SSAValue:
        name = f"{self.tensor_load_file_prefix}{number}.tensorbin"
        directory = self.tensor_load_directory.rstrip("/")
        if directory:
            name = f"{directory}/{name}"
        device = on_device(build, type_)
        return build.create("load_tensor", device, type_, file_path=name)
