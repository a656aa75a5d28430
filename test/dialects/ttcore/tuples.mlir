// RUN: ttmlir-opt %s | ttmlir-opt | FileCheck %s
// RUN: ttmlir-opt --mlir-print-op-generic %s | ttmlir-opt | FileCheck %s

func.func @parts(%arg0: tuple<tensor<32x32xbf16>, tensor<1x32xf32>>) -> tuple<tensor<1x32xf32>, tensor<32x32xbf16>> {
  // CHECK: %[[A:.*]] = ttcore.get_tuple_element %arg0[0] : (tuple<tensor<32x32xbf16>, tensor<1x32xf32>>) -> tensor<32x32xbf16>
  %0 = ttcore.get_tuple_element %arg0[0] : (tuple<tensor<32x32xbf16>, tensor<1x32xf32>>) -> tensor<32x32xbf16>
  // CHECK: %[[B:.*]] = ttcore.get_tuple_element %arg0[1]
  %1 = "ttcore.get_tuple_element"(%arg0) <{index = 1 : i32}> : (tuple<tensor<32x32xbf16>, tensor<1x32xf32>>) -> tensor<1x32xf32>
  // CHECK: ttcore.tuple %[[B]], %[[A]] : tuple<tensor<1x32xf32>, tensor<32x32xbf16>>
  %2 = ttcore.tuple %1, %0 : tuple<tensor<1x32xf32>, tensor<32x32xbf16>>
  return %2 : tuple<tensor<1x32xf32>, tensor<32x32xbf16>>
}
