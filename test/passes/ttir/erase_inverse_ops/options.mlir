// Which functions are looked at, and in which directions moves go.

// RUN: ttmlir-opt --ttir-erase-inverse-ops %s | FileCheck %s --check-prefix=UNFORCED
// RUN: ttmlir-opt --ttir-erase-inverse-ops="force=true enable-commute-upwards=false" %s | FileCheck %s --check-prefix=DOWN
// RUN: ttmlir-opt --ttir-erase-inverse-ops="force=true enable-commute-downwards=false" %s | FileCheck %s --check-prefix=UP
// RUN: ttmlir-opt --ttir-erase-inverse-ops="force=true max-iterations=1" %s 2>&1 | FileCheck %s --check-prefix=ONCE

// ONCE: warning: TM count has not converged after 1 iterations

// UNFORCED-LABEL: func.func @above
// UNFORCED: "ttir.permute"(%arg0)
// UNFORCED-NEXT: "ttir.exp"
// DOWN-LABEL: func.func @above
// DOWN: "ttir.exp"(%arg0)
// DOWN-NEXT: "ttir.permute"
// UP-LABEL: func.func @above
// UP: "ttir.permute"(%arg0)
// UP-NEXT: "ttir.exp"
func.func @above(%arg0: tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32> {
  %0 = "ttir.permute"(%arg0) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %1 = "ttir.exp"(%0) : (tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32>
  return %1 : tensor<2x4x5x3xf32>
}

// DOWN-LABEL: func.func @below
// DOWN: "ttir.add"(%arg0, %arg1)
// DOWN-NEXT: "ttir.reshape"
// UP-LABEL: func.func @below
// UP: "ttir.reshape"(%arg0)
// UP-NEXT: "ttir.reshape"(%arg1)
// UP-NEXT: "ttir.add"
func.func @below(%arg0: tensor<6x20xf32>, %arg1: tensor<6x20xf32>) -> tensor<120xf32> {
  %0 = "ttir.add"(%arg0, %arg1) : (tensor<6x20xf32>, tensor<6x20xf32>) -> tensor<6x20xf32>
  %1 = "ttir.reshape"(%0) <{shape = [120 : i32]}> : (tensor<6x20xf32>) -> tensor<120xf32>
  return %1 : tensor<120xf32>
}

// A function with a flattened image is looked at without `force`.
// UNFORCED-LABEL: func.func @pooled
// UNFORCED-NOT: ttir.permute
// UNFORCED: return
func.func @pooled(%arg0: tensor<1x1x64x16xf32>, %arg1: tensor<2x3x4x5xf32>) -> (tensor<1x1x16x16xf32>, tensor<2x3x4x5xf32>) {
  %0 = "ttir.max_pool2d"(%arg0) <{kernel = array<i32: 2, 2>, stride = array<i32: 2, 2>, dilation = array<i32: 1, 1>, padding = array<i32: 0, 0, 0, 0>, ceil_mode = false, flattened_compat_info = #ttir<flattened_compat batch_size = 1, input_height = 8, input_width = 8>}> : (tensor<1x1x64x16xf32>) -> tensor<1x1x16x16xf32>
  %1 = "ttir.permute"(%arg1) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %2 = "ttir.tanh"(%1) : (tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32>
  %3 = "ttir.permute"(%2) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<2x4x5x3xf32>) -> tensor<2x3x4x5xf32>
  return %0, %3 : tensor<1x1x16x16xf32>, tensor<2x3x4x5xf32>
}

// Constants are moved while compiling.
// DOWN-LABEL: func.func @constant
// DOWN: "ttir.constant"() <{value = dense<{{\[\[}}1.000000e+00, 4.000000e+00], [2.000000e+00, 5.000000e+00], [3.000000e+00, 6.000000e+00]]> : tensor<3x2xf32>}>
// DOWN-NEXT: "ttir.multiply"(%arg0, %{{.*}})
// DOWN-NEXT: "ttir.permute"
func.func @constant(%arg0: tensor<3x2xf32>) -> tensor<2x3xf32> {
  %0 = "ttir.constant"() <{value = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>}> : () -> tensor<2x3xf32>
  %1 = "ttir.permute"(%arg0) <{permutation = array<i64: 1, 0>}> : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %2 = "ttir.multiply"(%1, %0) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %2 : tensor<2x3xf32>
}

// DOWN-LABEL: func.func @normalized
// DOWN: "ttir.rms_norm"(%arg0, %arg1)
// DOWN-SAME: -> tensor<2x3x64xf32>
// DOWN-NEXT: "ttir.reshape"
func.func @normalized(%arg0: tensor<2x3x64xf32>, %arg1: tensor<64xf32>) -> tensor<6x64xf32> {
  %0 = "ttir.reshape"(%arg0) <{shape = [6 : i32, 64 : i32]}> : (tensor<2x3x64xf32>) -> tensor<6x64xf32>
  %1 = "ttir.rms_norm"(%0, %arg1) <{normalized_shape = array<i64: 64>, epsilon = 1.0e-05 : f32, operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<6x64xf32>, tensor<64xf32>) -> tensor<6x64xf32>
  return %1 : tensor<6x64xf32>
}
