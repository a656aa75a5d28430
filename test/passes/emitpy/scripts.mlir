// From ttir to a script: all arguments by their names, what follows from constants once.
// RUN: ttmlir-opt --ttir-to-emitpy-pipeline %s | FileCheck %s
// RUN: ttmlir-opt --ttir-to-emitpy-pipeline %s -o %t.mlir
// RUN: ttmlir-translate --mlir-to-python %t.mlir | FileCheck %s --check-prefix=PY
// RUN: ttmlir-opt --ttir-to-emitc-pipeline %s | FileCheck %s --check-prefix=CPP

module {
  func.func @main(%a: tensor<64x128xbf16>, %w: tensor<128x96xbf16> {ttcore.argument_type = #ttcore.argument_type<constant>}) -> tensor<64x96xbf16> {
    %0 = "ttir.exp"(%w) : (tensor<128x96xbf16>) -> tensor<128x96xbf16>
    %1 = "ttir.matmul"(%a, %0) : (tensor<64x128xbf16>, tensor<128x96xbf16>) -> tensor<64x96xbf16>
    return %1 : tensor<64x96xbf16>
  }
}
// CHECK: emitpy.import import "ttnn"
// CHECK: emitpy.global @_CONST_EVAL_CACHE = #emitpy.opaque<"{}">
// CHECK: emitpy.call_opaque "utils.compute_once"
// CHECK: emitpy.call_opaque "ttnn.matmul"
// PY: import ttnn
// PY-NEXT: import utils
// PY: _CONST_EVAL_CACHE = {}
// PY-DAG: ttnn_exp_0 = ttnn.exp(
// PY-DAG: def _main(input):
// PY: var_1 = input[1]
// PY: utils.compute_once(_CONST_EVAL_CACHE, main_const_eval_0, var_1)
// PY: ttnn_matmul_0 = ttnn.matmul(
// PY: transpose_a=False,
// PY: memory_config=ttnn.MemoryConfig(ttnn.TensorMemoryLayout.INTERLEAVED, ttnn.BufferType.DRAM, None),
// PY: dtype=ttnn.DataType.BFLOAT16,
// PY: compute_kernel_config=ttnn.WormholeComputeKernelConfig(
// PY: [ttnn_matmul_0]
// CPP: emitc.call_opaque "ttnn::matmul"
