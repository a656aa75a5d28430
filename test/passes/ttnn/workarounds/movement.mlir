// Moves of rows where tiles have no whole ones, and places of narrow integers.

// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline %s | FileCheck %s

// CHECK-LABEL: func.func @columns(
// CHECK: "ttnn.concat"(%arg0, %arg1)
// CHECK: "ttnn.to_layout"
func.func @columns(%a: tensor<5x7xf32>, %b: tensor<5x33xf32>) -> tensor<5x40xf32> {
  %0 = "ttir.concat"(%a, %b) <{dim = 1 : si32}>
      : (tensor<5x7xf32>, tensor<5x33xf32>) -> tensor<5x40xf32>
  return %0 : tensor<5x40xf32>
}

// CHECK-LABEL: func.func @whole_tiles(
// CHECK: "ttnn.to_layout"(%arg0)
// CHECK: "ttnn.to_layout"(%arg1)
// CHECK: "ttnn.concat"
func.func @whole_tiles(%a: tensor<5x32xf32>, %b: tensor<5x64xf32>) -> tensor<5x96xf32> {
  %0 = "ttir.concat"(%a, %b) <{dim = 1 : si32}>
      : (tensor<5x32xf32>, tensor<5x64xf32>) -> tensor<5x96xf32>
  return %0 : tensor<5x96xf32>
}

// CHECK-LABEL: func.func @margins(
// CHECK: "ttnn.pad"(%arg0) <{padding = array<i32: 1, 2, 3, 0>, use_multicore = true
// CHECK: "ttnn.to_layout"
func.func @margins(%a: tensor<5x7xf32>) -> tensor<8x10xf32> {
  %0 = "ttir.pad"(%a) <{padding = array<i32: 1, 2, 3, 0>, value = 0.0 : f32}>
      : (tensor<5x7xf32>) -> tensor<8x10xf32>
  return %0 : tensor<8x10xf32>
}

// CHECK-LABEL: func.func @places(
// CHECK: "ttnn.sort"{{.*}}dim = 1 : si8{{.*}} -> (tensor<5x33xf32, {{.*}}>, tensor<5x33xui16
// CHECK: "ttnn.typecast"{{.*}} -> tensor<5x33xsi32
func.func @places(%a: tensor<5x33xf32>) -> (tensor<5x33xf32>, tensor<5x33xi32>) {
  %0:2 = "ttir.sort"(%a) <{descending = false, dim = 1 : si32, stable = true}>
      : (tensor<5x33xf32>) -> (tensor<5x33xf32>, tensor<5x33xi32>)
  return %0#0, %0#1 : tensor<5x33xf32>, tensor<5x33xi32>
}

// CHECK-LABEL: func.func @narrow_largest(
// CHECK: "ttnn.topk"{{.*}} -> (tensor<5x4xbf16, {{.*}}>, tensor<5x4xui16
// CHECK: "ttnn.typecast"{{.*}} -> tensor<5x4xsi32
func.func @narrow_largest(%a: tensor<5x64xbf16>) -> (tensor<5x4xbf16>, tensor<5x4xi32>) {
  %0:2 = "ttir.topk"(%a) <{k = 4 : i32, sorted = true}>
      : (tensor<5x64xbf16>) -> (tensor<5x4xbf16>, tensor<5x4xi32>)
  return %0#0, %0#1 : tensor<5x4xbf16>, tensor<5x4xi32>
}

// CHECK-LABEL: func.func @wide_largest(
// CHECK: "ttnn.topk"{{.*}} -> (tensor<5x4xf32, {{.*}}>, tensor<5x4xsi32
// CHECK-NOT: ttnn.typecast
// CHECK: return
func.func @wide_largest(%a: tensor<5x64xf32>) -> (tensor<5x4xf32>, tensor<5x4xi32>) {
  %0:2 = "ttir.topk"(%a) <{k = 4 : i32, sorted = true}>
      : (tensor<5x64xf32>) -> (tensor<5x4xf32>, tensor<5x4xi32>)
  return %0#0, %0#1 : tensor<5x4xf32>, tensor<5x4xi32>
}
