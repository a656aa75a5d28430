// RUN: ttmlir-opt --convert-ttnn-to-ttir %s | FileCheck %s

#dram = #ttnn.buffer_type<dram>
#tiles = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>

// Operations of 2026 become those of ttir of 2026.
// CHECK-LABEL: func.func @late(
// CHECK-NEXT: %[[A:.*]] = "ttir.add"(%arg0, %arg1) : (
// CHECK-NEXT: %[[B:.*]] = "ttir.exp"(%[[A]]) : (
// CHECK-NEXT: %[[C:.*]] = "ttir.sum"(%[[B]]) <{dim_arg = [1 : i32], keep_dim = true}> : (
// CHECK-NEXT: return %[[C]]
func.func @late(%arg0: tensor<32x32xbf16, #tiles>, %arg1: tensor<32x32xbf16, #tiles>) -> tensor<32x1xbf16, #tiles> {
  %0 = "ttnn.add"(%arg0, %arg1) {ttnn.hoist_generic_via_d2m} : (tensor<32x32xbf16, #tiles>, tensor<32x32xbf16, #tiles>) -> tensor<32x32xbf16, #tiles>
  %1 = "ttnn.exp"(%0) {ttnn.hoist_generic_via_d2m} : (tensor<32x32xbf16, #tiles>) -> tensor<32x32xbf16, #tiles>
  %2 = "ttnn.sum"(%1) <{dim_arg = [1 : i32], keep_dim = true}> {ttnn.hoist_generic_via_d2m} : (tensor<32x32xbf16, #tiles>) -> tensor<32x1xbf16, #tiles>
  return %2 : tensor<32x1xbf16, #tiles>
}
