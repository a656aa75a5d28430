// Options that choose passes of 2026.

// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline %s | FileCheck %s --check-prefixes=USUAL,CONFIG
// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline=composite-resolution=inline %s | FileCheck %s --check-prefixes=USUAL,CONFIG
// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline=enable-remove-dead-values=true %s | FileCheck %s --check-prefixes=USUAL,CONFIG
// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline=enable-matmul-program-config=false %s | FileCheck %s --check-prefixes=USUAL,PLAIN
// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline=enable-permute-matmul-fusion=false %s | FileCheck %s --check-prefix=PERMUTE
// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline=enable-eltwise-activation-fusion=false %s | FileCheck %s --check-prefix=APART
// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline=enable-dram-space-saving-optimization-pass=false %s | FileCheck %s --check-prefix=SAVING
// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline=compute-cfg-math-fidelity=lofi %s | FileCheck %s --check-prefix=LOFI
// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline="enable-permute-slice-after-matmul-fusion=true enable-create-d2m-subgraphs=true" %s 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not ttmlir-opt --ttnn-fusing=enable-rope-fusion=true %s 2>&1 | FileCheck %s --check-prefix=ROPE

// USUAL: ttnn.l1_const_eval_usage
// USUAL-NOT: "ttnn.permute"
// USUAL: "ttnn.matmul"
// CONFIG-SAME: matmul_program_config
// PLAIN-NOT: matmul_program_config
// USUAL-SAME: transpose_b = true
// USUAL: "ttnn.add"{{.*}}op_type = neg
// PERMUTE: "ttnn.permute"
// PERMUTE: "ttnn.matmul"{{.*}}transpose_b = false
// APART: "ttnn.neg"
// APART: "ttnn.add"{{.*}}input_tensor_a_activations = [], input_tensor_b_activations = []
// SAVING-NOT: l1_const_eval_usage
// LOFI: "ttnn.matmul"{{.*}}math_fidelity = lofi
// NOTHING: warning: --enable-permute-slice-after-matmul-fusion has no effect: no pass does it here; leave it out
// NOTHING: warning: --enable-create-d2m-subgraphs has no effect
// ROPE: for the --enable-rope-fusion option: ttnn-fusing does not do it; leave it out
func.func @main(%x: tensor<64x128xbf16>, %w: tensor<96x128xbf16>, %y: tensor<64x96xbf16>)
    -> tensor<64x96xbf16> {
  %0 = "ttir.permute"(%w) <{permutation = array<i64: 1, 0>}>
      : (tensor<96x128xbf16>) -> tensor<128x96xbf16>
  %1 = "ttir.matmul"(%x, %0) : (tensor<64x128xbf16>, tensor<128x96xbf16>) -> tensor<64x96xbf16>
  %2 = "ttir.neg"(%y) : (tensor<64x96xbf16>) -> tensor<64x96xbf16>
  %3 = "ttir.add"(%1, %2) : (tensor<64x96xbf16>, tensor<64x96xbf16>) -> tensor<64x96xbf16>
  return %3 : tensor<64x96xbf16>
}
