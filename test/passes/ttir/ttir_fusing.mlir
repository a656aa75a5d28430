// What ttir-fusing makes of elementwise operations, products, reductions and convolutions.

// RUN: ttmlir-opt --ttir-fusing %s | FileCheck %s

// CHECK-LABEL: func.func @silu
// CHECK: "ttir.silu"(%arg0)
// CHECK-NOT: "ttir.sigmoid"
// CHECK: return
func.func @silu(%x: tensor<5x37xf32>) -> tensor<5x37xf32> {
  %0 = "ttir.sigmoid"(%x) : (tensor<5x37xf32>) -> tensor<5x37xf32>
  %1 = "ttir.multiply"(%0, %x) : (tensor<5x37xf32>, tensor<5x37xf32>) -> tensor<5x37xf32>
  return %1 : tensor<5x37xf32>
}

// Sigmoid of something else gates it.
// CHECK-LABEL: func.func @gate
// CHECK-NOT: "ttir.silu"
// CHECK: return
func.func @gate(%x: tensor<5x37xf32>, %y: tensor<5x37xf32>) -> tensor<5x37xf32> {
  %0 = "ttir.sigmoid"(%x) : (tensor<5x37xf32>) -> tensor<5x37xf32>
  %1 = "ttir.multiply"(%0, %y) : (tensor<5x37xf32>, tensor<5x37xf32>) -> tensor<5x37xf32>
  return %1 : tensor<5x37xf32>
}

// CHECK-LABEL: func.func @relu
// CHECK: "ttir.relu"(%arg0)
// CHECK-NOT: "ttir.maximum"
// CHECK: return
func.func @relu(%x: tensor<5x37xf32>) -> tensor<5x37xf32> {
  %0 = "ttir.zeros"() <{shape = array<i32: 5, 37>}> : () -> tensor<5x37xf32>
  %1 = "ttir.maximum"(%x, %0) : (tensor<5x37xf32>, tensor<5x37xf32>) -> tensor<5x37xf32>
  return %1 : tensor<5x37xf32>
}

// CHECK-LABEL: func.func @relu6
// CHECK: "ttir.relu6"(%arg0)
// CHECK: return
func.func @relu6(%x: tensor<5x37xf32>) -> tensor<5x37xf32> {
  %0 = "ttir.full"() <{fill_value = 6.0 : f32, shape = array<i32: 5, 37>}> : () -> tensor<5x37xf32>
  %1 = "ttir.relu"(%x) : (tensor<5x37xf32>) -> tensor<5x37xf32>
  %2 = "ttir.minimum"(%1, %0) : (tensor<5x37xf32>, tensor<5x37xf32>) -> tensor<5x37xf32>
  return %2 : tensor<5x37xf32>
}

// CHECK-LABEL: func.func @linear
// CHECK: "ttir.linear"(%arg0, %arg1, %arg2)
// CHECK-NOT: "ttir.add"
// CHECK: return
func.func @linear(%x: tensor<5x37xf32>, %w: tensor<37x70xf32>, %b: tensor<70xf32>) -> tensor<5x70xf32> {
  %0 = "ttir.matmul"(%x, %w) : (tensor<5x37xf32>, tensor<37x70xf32>) -> tensor<5x70xf32>
  %1 = "ttir.add"(%0, %b) : (tensor<5x70xf32>, tensor<70xf32>) -> tensor<5x70xf32>
  return %1 : tensor<5x70xf32>
}

// A product that somebody else uses stays.
// CHECK-LABEL: func.func @product_twice
// CHECK: "ttir.matmul"
// CHECK: "ttir.add"
// CHECK: return
func.func @product_twice(%x: tensor<5x37xf32>, %w: tensor<37x70xf32>, %b: tensor<70xf32>) -> (tensor<5x70xf32>, tensor<5x70xf32>) {
  %0 = "ttir.matmul"(%x, %w) : (tensor<5x37xf32>, tensor<37x70xf32>) -> tensor<5x70xf32>
  %1 = "ttir.add"(%0, %b) : (tensor<5x70xf32>, tensor<70xf32>) -> tensor<5x70xf32>
  return %0, %1 : tensor<5x70xf32>, tensor<5x70xf32>
}

// CHECK-LABEL: func.func @transposed
// CHECK: "ttir.matmul"(%arg0, %arg1) <{transpose_a = false, transpose_b = true}>
// CHECK: return
func.func @transposed(%x: tensor<5x37xf32>, %w: tensor<70x37xf32>) -> tensor<5x70xf32> {
  %0 = "ttir.permute"(%w) <{permutation = array<i64: 1, 0>}> : (tensor<70x37xf32>) -> tensor<37x70xf32>
  %1 = "ttir.matmul"(%x, %0) : (tensor<5x37xf32>, tensor<37x70xf32>) -> tensor<5x70xf32>
  return %1 : tensor<5x70xf32>
}

// CHECK-LABEL: func.func @softmax
// CHECK: "ttir.softmax"(%arg0) <{dimension = 1 : si32, numericStable = false}>
// CHECK: return
func.func @softmax(%x: tensor<5x37xf32>) -> tensor<5x37xf32> {
  %0 = "ttir.exp"(%x) : (tensor<5x37xf32>) -> tensor<5x37xf32>
  %1 = "ttir.sum"(%0) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<5x37xf32>) -> tensor<5x1xf32>
  %2 = "ttir.broadcast"(%1) <{broadcast_dimensions = array<i64: 1, 37>}> : (tensor<5x1xf32>) -> tensor<5x37xf32>
  %3 = "ttir.div"(%0, %2) : (tensor<5x37xf32>, tensor<5x37xf32>) -> tensor<5x37xf32>
  return %3 : tensor<5x37xf32>
}

// CHECK-LABEL: func.func @keep_dim
// CHECK: "ttir.sum"(%arg0) <{dim_arg = [1 : i32], keep_dim = true}>
// CHECK-NOT: "ttir.reshape"
// CHECK: return
func.func @keep_dim(%x: tensor<5x37xf32>) -> tensor<5x1xf32> {
  %0 = "ttir.sum"(%x) <{dim_arg = [1 : i32], keep_dim = false}> : (tensor<5x37xf32>) -> tensor<5xf32>
  %1 = "ttir.reshape"(%0) <{shape = [5 : i32, 1 : i32]}> : (tensor<5xf32>) -> tensor<5x1xf32>
  return %1 : tensor<5x1xf32>
}

// CHECK-LABEL: func.func @conv_bias
// CHECK: "ttir.conv2d"(%arg0, %arg1, %arg2)
// CHECK-NOT: "ttir.add"
// CHECK: return
func.func @conv_bias(%x: tensor<1x9x11x3xf32>, %w: tensor<5x3x3x3xf32>, %b: tensor<1x1x1x5xf32>) -> tensor<1x7x9x5xf32> {
  %0 = "ttir.conv2d"(%x, %w) <{stride = 1 : i32, padding = 0 : i32, dilation = 1 : i32, groups = 1 : i32}> : (tensor<1x9x11x3xf32>, tensor<5x3x3x3xf32>) -> tensor<1x7x9x5xf32>
  %1 = "ttir.add"(%0, %b) : (tensor<1x7x9x5xf32>, tensor<1x1x1x5xf32>) -> tensor<1x7x9x5xf32>
  return %1 : tensor<1x7x9x5xf32>
}

// CHECK-LABEL: func.func @hardsigmoid
// CHECK: "ttir.hardsigmoid"(%arg0)
// CHECK: return
func.func @hardsigmoid(%x: tensor<5x37xf32>) -> tensor<5x37xf32> {
  %three = "ttir.full"() <{fill_value = 3.0 : f32, shape = array<i32: 5, 37>}> : () -> tensor<5x37xf32>
  %six = "ttir.full"() <{fill_value = 6.0 : f32, shape = array<i32: 5, 37>}> : () -> tensor<5x37xf32>
  %0 = "ttir.add"(%x, %three) : (tensor<5x37xf32>, tensor<5x37xf32>) -> tensor<5x37xf32>
  %1 = "ttir.relu6"(%0) : (tensor<5x37xf32>) -> tensor<5x37xf32>
  %2 = "ttir.div"(%1, %six) : (tensor<5x37xf32>, tensor<5x37xf32>) -> tensor<5x37xf32>
  return %2 : tensor<5x37xf32>
}

// CHECK-LABEL: func.func @average
// CHECK: "ttir.mean"(%arg0) <{dim_arg = [1 : i32], keep_dim = true}>
// CHECK: return
func.func @average(%x: tensor<5x32xf32>) -> tensor<5x1xf32> {
  %part = "ttir.full"() <{fill_value = 3.125000e-02 : f32, shape = array<i32: 5, 1>}> : () -> tensor<5x1xf32>
  %0 = "ttir.sum"(%x) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<5x32xf32>) -> tensor<5x1xf32>
  %1 = "ttir.multiply"(%0, %part) : (tensor<5x1xf32>, tensor<5x1xf32>) -> tensor<5x1xf32>
  return %1 : tensor<5x1xf32>
}
