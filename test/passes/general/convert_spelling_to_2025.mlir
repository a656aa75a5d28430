// RUN: ttmlir-opt --convert-spelling=to=2025 %s | FileCheck %s
// RUN: ttmlir-opt --convert-spelling=to=2025 %s | ttmlir-opt | FileCheck %s
// RUN: ttmlir-opt --convert-spelling=to=2025 %s | ttmlir-opt --convert-spelling=to=2025 | FileCheck %s
// RUN: ttmlir-opt --convert-spelling=to=2025 %s | ttmlir-opt --convert-spelling=to=2026 | FileCheck %s --check-prefix=LATE
// RUN: ttmlir-opt --convert-spelling=to=2025 %s | ttmlir-opt --convert-spelling=to=2024 | FileCheck %s --check-prefix=EARLY
// RUN: ttmlir-opt --convert-spelling=to=2025 %s | ttmlir-opt --ttir-to-ttnn-backend-pipeline | FileCheck %s --check-prefix=TTNN

// Each result is written to a `ttir.empty`; parameters and annotations are those of 2026. What makes
// a tensor of nothing writes to nothing.

// LATE-NOT: ttir.empty
// LATE: "ttir.linear"(%arg0, %arg1, %arg2) <{transpose_a = false, transpose_b = true}>
// LATE: "ttir.sort"(%{{.*}}) <{
// LATE-NOT: ttir.empty

// EARLY: "ttir.matmul"(
// TTNN: "ttnn.linear"(

module {
  // CHECK-LABEL: func.func @products
  func.func @products(%x: tensor<3x70xf32>, %w: tensor<5x70xf32>, %b: tensor<5xf32>) -> tensor<3x5xf32> {
    // CHECK: %[[E0:.*]] = ttir.empty() : tensor<3x5xf32>
    // CHECK: %[[L:.*]] = "ttir.linear"(%arg0, %arg1, %arg2, %[[E0]]) <{transpose_a = false, transpose_b = true}> : (tensor<3x70xf32>, tensor<5x70xf32>, tensor<5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
    %0 = "ttir.linear"(%x, %w, %b) <{transpose_b = true}> : (tensor<3x70xf32>, tensor<5x70xf32>, tensor<5xf32>) -> tensor<3x5xf32>
    // CHECK: %[[ONES:.*]] = "ttir.ones"() <{shape = array<i32: 3, 5>}>
    %1 = "ttir.ones"() <{shape = array<i32: 3, 5>}> : () -> tensor<3x5xf32>
    // CHECK: %[[E1:.*]] = ttir.empty() : tensor<3x5xf32>
    // CHECK: %[[A:.*]] = "ttir.add"(%[[L]], %[[ONES]], %[[E1]]) :
    %2 = "ttir.add"(%0, %1) : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
    // CHECK: %[[E2:.*]] = ttir.empty() : tensor<3x5xf32>
    // CHECK: %[[E3:.*]] = ttir.empty() : tensor<3x5xi32>
    // CHECK: "ttir.sort"(%[[A]], %[[E2]], %[[E3]]) <{
    %3, %4 = "ttir.sort"(%2) <{descending = false, dim = 1 : si32, stable = false}> : (tensor<3x5xf32>) -> (tensor<3x5xf32>, tensor<3x5xi32>)
    return %3 : tensor<3x5xf32>
  }
  // CHECK-LABEL: func.func @window
  func.func @window(%a: tensor<1x9x11x3xf32>, %w: tensor<7x3x3x3xf32>, %b: tensor<1x1x1x7xf32>) -> tensor<1x4x5x7xf32> {
    // CHECK: %[[E:.*]] = ttir.empty() : tensor<1x4x5x7xf32>
    // CHECK: "ttir.conv2d"(%arg0, %arg1, %arg2, %[[E]]) <{{{.*}}stride = array<i32: 2, 2>
    %0 = "ttir.conv2d"(%a, %w, %b) <{dilation = 1 : i32, groups = 1 : i32, padding = 0 : i32, stride = array<i32: 2, 2>}> : (tensor<1x9x11x3xf32>, tensor<7x3x3x3xf32>, tensor<1x1x1x7xf32>) -> tensor<1x4x5x7xf32>
    return %0 : tensor<1x4x5x7xf32>
  }
}
