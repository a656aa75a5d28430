// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline --convert-ttnn-to-emitc %s | ttmlir-translate --mlir-to-cpp | filecheck %s --match-full-lines --strict-whitespace
// The C++ of a clamped product: every operation is a call, tensors and the device are variables.

// CHECK:#include "ttnn-precompiled.hpp"
// CHECK-NEXT:ttnn::Tensor scale(ttnn::Tensor v1, ttnn::Tensor v2) {
// CHECK-NEXT:  ttnn::Device v3 = device;
// CHECK-NEXT:  ttnn::Device* v4 = &v3;
// CHECK-NEXT:  ttnn::Tensor v5 = ttnn::to_layout(v1, ttnn::Layout::TILE, std::nullopt, std::nullopt, v4);
// CHECK-NEXT:  ttnn::Tensor v6 = ttnn::to_device(v5, v3);
// CHECK-NEXT:  ttnn::Device* v7 = &v3;
// CHECK-NEXT:  ttnn::Tensor v8 = ttnn::to_layout(v2, ttnn::Layout::TILE, std::nullopt, std::nullopt, v7);
// CHECK-NEXT:  ttnn::Tensor v9 = ttnn::to_device(v8, v3);
// CHECK-NEXT:  ttnn::Tensor v10 = ttnn::empty(v3);
// CHECK-NEXT:  ttnn::Tensor v11 = ttnn::multiply(v6, v9, std::nullopt, std::nullopt, v10);
// CHECK-NEXT:  ttnn::Tensor v12 = ttnn::empty(v3);
// CHECK-NEXT:  ttnn::Tensor v13 = ttnn::clamp(v11, -1.000000000e+00f, 2.500000000e-01f, v12);
// CHECK-NEXT:  ttnn::Tensor v14 = ttnn::to_memory_config(v13, v3);
// CHECK-NEXT:  return v14;
// CHECK-NEXT:}
// CHECK-EMPTY:

#any = #tt.operand_constraint<dram|l1|scalar|tile|any_device|any_device_tile>
func.func @scale(%x: tensor<33x70xbf16>, %factor: tensor<1x70xbf16>) -> tensor<33x70xbf16> {
  %0 = tensor.empty() : tensor<33x70xbf16>
  %1 = "ttir.multiply"(%x, %factor, %0) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any, #any, #any]}> : (tensor<33x70xbf16>, tensor<1x70xbf16>, tensor<33x70xbf16>) -> tensor<33x70xbf16>
  %2 = tensor.empty() : tensor<33x70xbf16>
  %3 = "ttir.clamp"(%1, %2) <{min = -1.0 : f32, max = 0.25 : f32, operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any, #any]}> : (tensor<33x70xbf16>, tensor<33x70xbf16>) -> tensor<33x70xbf16>
  return %3 : tensor<33x70xbf16>
}
