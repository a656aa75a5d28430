// Moves that ttnn has under other names, or as slices, permutations and tensors side by side.

// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline %s -o %t
// RUN: FileCheck %s --input-file=%t

// CHECK: "ttnn.slice_static"{{.*}}begins = [0 : i32, 1 : i32, 0 : i32], ends = [4 : i32, 3 : i32, 10 : i32]
// CHECK: "ttnn.slice_static"{{.*}}begins = [0 : i32, 4 : i32, 0 : i32], ends = [4 : i32, 6 : i32, 10 : i32]
// CHECK: "ttnn.concat"{{.*}}dim = 1 : si32
// CHECK: "ttnn.permute"{{.*}}permutation = array<i64: 2, 0, 1>
// CHECK: "ttnn.reshape"{{.*}}shape = [40 : i32, 6 : i32]
// CHECK: "ttnn.slice_static"{{.*}}step = [2 : i32, 1 : i32, 1 : i32]
// CHECK: "ttnn.repeat"{{.*}}repeat_dims = #ttnn.shape<1x2x1>
// CHECK: "ttnn.empty"{{.*}}shape = #ttnn.shape<3x5>
// CHECK: "ttnn.upsample"{{.*}}mode = "nearest", scale_factor = array<i32: 2, 1>
func.func @main(%a: tensor<4x6x10xf32>, %u: tensor<1x3x5x32xbf16>)
    -> (tensor<4x4x10xf32>, tensor<40x6xf32>, tensor<2x6x10xf32>, tensor<4x12x10xf32>,
        tensor<3x5xf32>, tensor<1x6x5x32xbf16>) {
  %0 = "ttir.index_select"(%a) <{begin = 1 : si32, dim = -2 : si32, length = 2 : si32, stride = 3 : si32}>
      : (tensor<4x6x10xf32>) -> tensor<4x4x10xf32>
  %1 = "ttir.rearrange"(%a) <{pattern = "b s d -> (d b) s"}> : (tensor<4x6x10xf32>) -> tensor<40x6xf32>
  %2 = "ttir.index"(%a) <{begin = 1 : i32, dim = 0 : i32, end = 4 : i32, step = 2 : i32}>
      : (tensor<4x6x10xf32>) -> tensor<2x6x10xf32>
  %3 = "ttir.repeat"(%a) <{repeat_dimensions = array<i64: 1, 2, 1>}>
      : (tensor<4x6x10xf32>) -> tensor<4x12x10xf32>
  %4 = ttir.empty() : tensor<3x5xf32>
  %5 = "ttir.upsample2d"(%u) <{mode = "nearest", scale_factor = array<i32: 2, 1>}>
      : (tensor<1x3x5x32xbf16>) -> tensor<1x6x5x32xbf16>
  return %0, %1, %2, %3, %4, %5 : tensor<4x4x10xf32>, tensor<40x6xf32>, tensor<2x6x10xf32>,
      tensor<4x12x10xf32>, tensor<3x5xf32>, tensor<1x6x5x32xbf16>
}

// The gradient of an embedding has one row for each row that was picked.
// CHECK-LABEL: func.func @gradient
// CHECK: "ttnn.reshape"{{.*}}shape = [1 : i32, 1 : i32, 10 : i32, 32 : i32]
// CHECK: "ttnn.embedding_bw"
func.func @gradient(%i: tensor<2x5xui32>, %w: tensor<40x32xbf16>, %g: tensor<2x5x32xbf16>)
    -> tensor<40x32xbf16> {
  %0 = "ttir.embedding_backward"(%i, %w, %g)
      : (tensor<2x5xui32>, tensor<40x32xbf16>, tensor<2x5x32xbf16>) -> tensor<40x32xbf16>
  return %0 : tensor<40x32xbf16>
}
