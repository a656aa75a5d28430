// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline="spelling=2026 enable-const-eval=false" %s -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: ttmlir-translate --ttnn-to-flatbuffer %t.mlir -o %t.ttnn
// RUN: ttrt run --init arange --print-input-output-tensors %t.ttnn | FileCheck %s --check-prefix=OUT

// Integers of 16 bits are kept in 32: their sign is extended, and cut off again.

// CHECK: %[[BITS:.*]] = "ttnn.bitcast_convert"({{.*}} -> tensor<2x3xui16
// CHECK: %[[WIDE:.*]] = "ttnn.typecast"(%[[BITS]]){{.*}} -> tensor<2x3xsi32
// CHECK: %[[HIGH:.*]] = "ttnn.logical_left_shift"(%[[WIDE]]
// CHECK: "ttnn.bitwise_right_shift"(%[[HIGH]]
// CHECK: %[[LOW:.*]] = "ttnn.bitwise_and"
// CHECK: %[[CUT:.*]] = "ttnn.typecast"({{.*}} -> tensor<2x3xui16
// CHECK: "ttnn.bitcast_convert"(%[[CUT]]){{.*}} -> tensor<2x3xbf16

func.func @main(%a: tensor<2x3xbf16>) -> (tensor<2x3xi16>, tensor<2x3xbf16>) {
  %0 = "ttir.neg"(%a) : (tensor<2x3xbf16>) -> tensor<2x3xbf16>
  %1 = "ttir.bitcast_convert"(%0) : (tensor<2x3xbf16>) -> tensor<2x3xi16>
  %2 = "ttir.bitcast_convert"(%1) : (tensor<2x3xi16>) -> tensor<2x3xbf16>
  return %1, %2 : tensor<2x3xi16>, tensor<2x3xbf16>
}

// OUT: output 0: int32
// OUT-NEXT: {{\[}}[-32768 -16512 -16384]
// OUT-NEXT: [-16320 -16256 -16224]]
// OUT: output 1: bfloat16
// OUT-NEXT: {{\[}}[-0 -1 -2]
// OUT-NEXT: [-3 -4 -5]]
