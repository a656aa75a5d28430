// Shapes in which layers take few tiles, and moves of whole tiles.
// RUN: ttmlir-opt --ttir-shape-layers %s | FileCheck %s

// 3 x 50 rows are 5 rows of tiles, 3 times 50 are 6: the sequences stay, and heads are taken apart.
// CHECK-LABEL: func.func @sequences(
// CHECK-NEXT: %[[P:.*]] = "ttir.matmul"(%arg0, %arg1) <{transpose_a = false, transpose_b = false}> : (tensor<3x50x64xf32>, tensor<64x128xf32>) -> tensor<3x50x128xf32>
// CHECK-NEXT: %[[T:.*]] = "ttir.permute"(%[[P]]) <{permutation = array<i64: 0, 2, 1>}> : (tensor<3x50x128xf32>) -> tensor<3x128x50xf32>
// CHECK-NEXT: %[[R:.*]] = "ttir.reshape"(%[[T]]) {{.*}} -> tensor<3x4x32x50xf32>
// CHECK-NEXT: "ttir.permute"(%[[R]]) <{permutation = array<i64: 0, 1, 3, 2>}> : (tensor<3x4x32x50xf32>) -> tensor<3x4x50x32xf32>
func.func @sequences(%x: tensor<3x50x64xf32>, %w: tensor<64x128xf32>) -> tensor<3x4x50x32xf32> {
  %0 = "ttir.reshape"(%x) <{shape = [150 : i32, 64 : i32]}> : (tensor<3x50x64xf32>) -> tensor<150x64xf32>
  %1 = "ttir.matmul"(%0, %w) <{transpose_a = false, transpose_b = false}> : (tensor<150x64xf32>, tensor<64x128xf32>) -> tensor<150x128xf32>
  %2 = "ttir.reshape"(%1) <{shape = [3 : i32, 50 : i32, 4 : i32, 32 : i32]}> : (tensor<150x128xf32>) -> tensor<3x50x4x32xf32>
  %3 = "ttir.permute"(%2) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<3x50x4x32xf32>) -> tensor<3x4x50x32xf32>
  return %3 : tensor<3x4x50x32xf32>
}

// One position of each of 32 is a tile of rows, and would be 32 of them: rows stay rows.
// CHECK-LABEL: func.func @positions(
// CHECK-NEXT: %[[A:.*]] = "ttir.add"(%arg0, %arg1) : (tensor<32x96xf32>, tensor<32x96xf32>) -> tensor<32x96xf32>
// CHECK-NEXT: %[[N:.*]] = "ttir.rms_norm"(%[[A]], %arg2) {{.*}} : (tensor<32x96xf32>, tensor<96xf32>) -> tensor<32x96xf32>
// CHECK-NEXT: "ttir.matmul"(%[[N]], %arg3)
// CHECK-NOT: reshape
// CHECK: return
func.func @positions(%x: tensor<32x96xf32>, %y: tensor<32x96xf32>, %w: tensor<96xf32>, %u: tensor<96x40xf32>) -> tensor<32x40xf32> {
  %0 = "ttir.reshape"(%x) <{shape = [32 : i32, 1 : i32, 96 : i32]}> : (tensor<32x96xf32>) -> tensor<32x1x96xf32>
  %1 = "ttir.reshape"(%y) <{shape = [32 : i32, 1 : i32, 96 : i32]}> : (tensor<32x96xf32>) -> tensor<32x1x96xf32>
  %2 = "ttir.add"(%0, %1) : (tensor<32x1x96xf32>, tensor<32x1x96xf32>) -> tensor<32x1x96xf32>
  %3 = "ttir.rms_norm"(%2, %w) <{epsilon = 1.0e-05 : f32, normalized_shape = array<i64: 96>, operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<32x1x96xf32>, tensor<96xf32>) -> tensor<32x1x96xf32>
  %4 = "ttir.reshape"(%3) <{shape = [32 : i32, 96 : i32]}> : (tensor<32x1x96xf32>) -> tensor<32x96xf32>
  %5 = "ttir.matmul"(%4, %u) <{transpose_a = false, transpose_b = false}> : (tensor<32x96xf32>, tensor<96x40xf32>) -> tensor<32x40xf32>
  return %5 : tensor<32x40xf32>
}

// Columns of rows are those of the sequences; heads are put side by side.
// CHECK-LABEL: func.func @parts(
// CHECK-NEXT: "ttir.slice_static"(%arg0) <{begins = [0 : i32, 0 : i32, 64 : i32], ends = [2 : i32, 64 : i32, 96 : i32], step = [1 : i32, 1 : i32, 1 : i32]}> : (tensor<2x64x96xf32>) -> tensor<2x64x32xf32>
// CHECK: "ttir.concatenate_heads"(%arg1) : (tensor<2x3x64x32xf32>) -> tensor<2x64x96xf32>
func.func @parts(%x: tensor<2x64x96xf32>, %y: tensor<2x3x64x32xf32>) -> (tensor<128x32xf32>, tensor<128x96xf32>) {
  %0 = "ttir.reshape"(%x) <{shape = [128 : i32, 96 : i32]}> : (tensor<2x64x96xf32>) -> tensor<128x96xf32>
  %1 = "ttir.slice_static"(%0) <{begins = [0 : i32, 64 : i32], ends = [128 : i32, 96 : i32], step = [1 : i32, 1 : i32]}> : (tensor<128x96xf32>) -> tensor<128x32xf32>
  %2 = "ttir.permute"(%y) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<2x3x64x32xf32>) -> tensor<2x64x3x32xf32>
  %3 = "ttir.reshape"(%2) <{shape = [128 : i32, 96 : i32]}> : (tensor<2x64x3x32xf32>) -> tensor<128x96xf32>
  return %1, %3 : tensor<128x32xf32>, tensor<128x96xf32>
}

// Heads narrower than a tile, and fewer positions than it has rows, stay as they are.
// CHECK-LABEL: func.func @narrow(
// CHECK-NEXT: "ttir.reshape"
// CHECK-NEXT: "ttir.permute"
// CHECK-NEXT: return
func.func @narrow(%x: tensor<2x96x96xf32>) -> tensor<2x6x96x16xf32> {
  %0 = "ttir.reshape"(%x) <{shape = [2 : i32, 96 : i32, 6 : i32, 16 : i32]}> : (tensor<2x96x96xf32>) -> tensor<2x96x6x16xf32>
  %1 = "ttir.permute"(%0) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<2x96x6x16xf32>) -> tensor<2x6x96x16xf32>
  return %1 : tensor<2x6x96x16xf32>
}

// Heads of 3 x 50 positions side by side are 6 rows of tiles, which the product keeps.
// CHECK-LABEL: func.func @odd(
// CHECK-NEXT: %[[C:.*]] = "ttir.concatenate_heads"(%arg0) : (tensor<3x2x50x32xf32>) -> tensor<3x50x64xf32>
// CHECK-NEXT: %[[P:.*]] = "ttir.matmul"(%[[C]], %arg1) {{.*}} : (tensor<3x50x64xf32>, tensor<64x40xf32>) -> tensor<3x50x40xf32>
// CHECK-NEXT: return %[[P]]
func.func @odd(%x: tensor<3x2x50x32xf32>, %w: tensor<64x40xf32>) -> tensor<3x50x40xf32> {
  %0 = "ttir.permute"(%x) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<3x2x50x32xf32>) -> tensor<3x50x2x32xf32>
  %1 = "ttir.reshape"(%0) <{shape = [150 : i32, 64 : i32]}> : (tensor<3x50x2x32xf32>) -> tensor<150x64xf32>
  %2 = "ttir.matmul"(%1, %w) <{transpose_a = false, transpose_b = false}> : (tensor<150x64xf32>, tensor<64x40xf32>) -> tensor<150x40xf32>
  %3 = "ttir.reshape"(%2) <{shape = [3 : i32, 50 : i32, 40 : i32]}> : (tensor<150x40xf32>) -> tensor<3x50x40xf32>
  return %3 : tensor<3x50x40xf32>
}

// 9 times 33 positions would be 18 rows of tiles instead of 10: heads stay as they are.
// CHECK-LABEL: func.func @padded(
// CHECK-NEXT: "ttir.permute"
// CHECK-NEXT: "ttir.reshape"
// CHECK-NEXT: return
func.func @padded(%x: tensor<9x2x33x32xf32>) -> tensor<297x64xf32> {
  %0 = "ttir.permute"(%x) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<9x2x33x32xf32>) -> tensor<9x33x2x32xf32>
  %1 = "ttir.reshape"(%0) <{shape = [297 : i32, 64 : i32]}> : (tensor<9x33x2x32xf32>) -> tensor<297x64xf32>
  return %1 : tensor<297x64xf32>
}

// Pixels of patches whose channels went first are transposed at once: they stay.
// CHECK-LABEL: func.func @patches(
// CHECK-NEXT: %[[R:.*]] = "ttir.reshape"(%arg0) <{shape = [2 : i32, 15 : i32, 7 : i32]}> : (tensor<2x3x5x7xf32>) -> tensor<2x15x7xf32>
// CHECK-NEXT: return %[[R]]
func.func @patches(%x: tensor<2x3x5x7xf32>) -> tensor<2x15x7xf32> {
  %0 = "ttir.permute"(%x) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<2x3x5x7xf32>) -> tensor<2x7x3x5xf32>
  %1 = "ttir.reshape"(%0) <{shape = [2 : i32, 7 : i32, 15 : i32]}> : (tensor<2x7x3x5xf32>) -> tensor<2x7x15xf32>
  %2 = "ttir.permute"(%1) <{permutation = array<i64: 0, 2, 1>}> : (tensor<2x7x15xf32>) -> tensor<2x15x7xf32>
  return %2 : tensor<2x15x7xf32>
}

// Norms along more than rows keep the dimensions that they name.
// CHECK-LABEL: func.func @matrices(
// CHECK: "ttir.rms_norm"(%{{.*}}) <{{{.*}}normalized_shape = array<i64: 1, 96>{{.*}}}> : (tensor<40x1x96xf32>) -> tensor<40x1x96xf32>
// CHECK: "ttir.layer_norm"(%{{.*}}) <{{{.*}}normalized_shape = array<i64: 74, 96>{{.*}}}> : (tensor<74x96xf32>) -> tensor<74x96xf32>
func.func @matrices(%x: tensor<40x96xf32>, %y: tensor<2x37x96xf32>) -> (tensor<40x1x96xf32>, tensor<74x96xf32>) {
  %0 = "ttir.reshape"(%x) <{shape = [40 : i32, 1 : i32, 96 : i32]}> : (tensor<40x96xf32>) -> tensor<40x1x96xf32>
  %1 = "ttir.rms_norm"(%0) <{epsilon = 1.0e-05 : f32, normalized_shape = array<i64: 1, 96>, operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<40x1x96xf32>) -> tensor<40x1x96xf32>
  %2 = "ttir.reshape"(%y) <{shape = [74 : i32, 96 : i32]}> : (tensor<2x37x96xf32>) -> tensor<74x96xf32>
  %3 = "ttir.layer_norm"(%2) <{epsilon = 1.0e-05 : f32, normalized_shape = array<i64: 74, 96>, operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<74x96xf32>) -> tensor<74x96xf32>
  return %1, %3 : tensor<40x1x96xf32>, tensor<74x96xf32>
}

// Heads of one position of 3 sequences share tiles: 3 rows of tiles instead of 12.
// CHECK-LABEL: func.func @heads_of_positions(
// CHECK-DAG: %[[X:.*]] = "ttir.reshape"(%arg0) <{shape = [1 : i32, 3 : i32, 4 : i32, 40 : i32]}> : (tensor<3x160xf32>) -> tensor<1x3x4x40xf32>
// CHECK-DAG: %[[Y:.*]] = "ttir.reshape"(%arg1) <{shape = [1 : i32, 3 : i32, 1 : i32, 40 : i32]}> : (tensor<3x1x1x40xf32>) -> tensor<1x3x1x40xf32>
// CHECK: %[[P:.*]] = "ttir.multiply"(%[[X]], %[[Y]]) : (tensor<1x3x4x40xf32>, tensor<1x3x1x40xf32>) -> tensor<1x3x4x40xf32>
// CHECK-NEXT: %[[S:.*]] = "ttir.slice_static"(%[[P]]) <{begins = [0 : i32, 0 : i32, 0 : i32, 8 : i32], ends = [1 : i32, 3 : i32, 4 : i32, 40 : i32], step = [1 : i32, 1 : i32, 1 : i32, 2 : i32]}> : (tensor<1x3x4x40xf32>) -> tensor<1x3x4x16xf32>
// CHECK-NEXT: %[[C:.*]] = "ttir.concat"(%[[S]], %[[P]]) <{dim = 3 : si32}> : (tensor<1x3x4x16xf32>, tensor<1x3x4x40xf32>) -> tensor<1x3x4x56xf32>
// CHECK-NEXT: %[[R:.*]] = "ttir.reshape"(%[[C]]) {{.*}} -> tensor<3x224xf32>
// CHECK-NEXT: return %[[R]]
func.func @heads_of_positions(%x: tensor<3x160xf32>, %y: tensor<3x1x1x40xf32>) -> tensor<3x224xf32> {
  %0 = "ttir.reshape"(%x) <{shape = [3 : i32, 4 : i32, 1 : i32, 40 : i32]}> : (tensor<3x160xf32>) -> tensor<3x4x1x40xf32>
  %1 = "ttir.multiply"(%0, %y) : (tensor<3x4x1x40xf32>, tensor<3x1x1x40xf32>) -> tensor<3x4x1x40xf32>
  %2 = "ttir.slice_static"(%1) <{begins = [0 : i32, 0 : i32, 0 : i32, 8 : i32], ends = [3 : i32, 4 : i32, 1 : i32, 40 : i32], step = [1 : i32, 1 : i32, 1 : i32, 2 : i32]}> : (tensor<3x4x1x40xf32>) -> tensor<3x4x1x16xf32>
  %3 = "ttir.concat"(%2, %1) <{dim = 3 : si32}> : (tensor<3x4x1x16xf32>, tensor<3x4x1x40xf32>) -> tensor<3x4x1x56xf32>
  %4 = "ttir.reshape"(%3) <{shape = [3 : i32, 224 : i32]}> : (tensor<3x4x1x56xf32>) -> tensor<3x224xf32>
  return %4 : tensor<3x224xf32>
}

// Parts along heads, and numbers that are repeated along positions, keep the form that they have.
// CHECK-LABEL: func.func @other_positions(
// CHECK: "ttir.slice_static"({{.*}} -> tensor<3x2x1x40xf32>
// CHECK: "ttir.add"({{.*}} -> tensor<3x4x7x40xf32>
func.func @other_positions(%x: tensor<3x160xf32>, %y: tensor<3x4x7x40xf32>) -> (tensor<3x2x1x40xf32>, tensor<3x4x7x40xf32>) {
  %0 = "ttir.reshape"(%x) <{shape = [3 : i32, 4 : i32, 1 : i32, 40 : i32]}> : (tensor<3x160xf32>) -> tensor<3x4x1x40xf32>
  %1 = "ttir.slice_static"(%0) <{begins = [0 : i32, 1 : i32, 0 : i32, 0 : i32], ends = [3 : i32, 3 : i32, 1 : i32, 40 : i32], step = [1 : i32, 1 : i32, 1 : i32, 1 : i32]}> : (tensor<3x4x1x40xf32>) -> tensor<3x2x1x40xf32>
  %2 = "ttir.add"(%0, %y) : (tensor<3x4x1x40xf32>, tensor<3x4x7x40xf32>) -> tensor<3x4x7x40xf32>
  return %1, %2 : tensor<3x2x1x40xf32>, tensor<3x4x7x40xf32>
}

// Three channels of 8 x 12 pixels, three rows of tiles, go last as columns of pixels; 35 pixels are
// no rows of whole tiles.
// CHECK-LABEL: func.func @channels(
// CHECK-NEXT: %[[R:.*]] = "ttir.reshape"(%arg0) {{.*}} -> tensor<2x3x96xf32>
// CHECK-NEXT: %[[T:.*]] = "ttir.permute"(%[[R]]) <{permutation = array<i64: 0, 2, 1>}> : (tensor<2x3x96xf32>) -> tensor<2x96x3xf32>
// CHECK-NEXT: %[[C:.*]] = "ttir.reshape"(%[[T]]) {{.*}} -> tensor<2x8x12x3xf32>
// CHECK-NEXT: %[[O:.*]] = "ttir.permute"(%arg1) <{permutation = array<i64: 0, 2, 3, 1>}>
// CHECK-NEXT: return %[[C]], %[[O]]
func.func @channels(%x: tensor<2x3x8x12xf32>, %y: tensor<2x3x5x7xf32>) -> (tensor<2x8x12x3xf32>, tensor<2x5x7x3xf32>) {
  %0 = "ttir.permute"(%x) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x8x12xf32>) -> tensor<2x8x12x3xf32>
  %1 = "ttir.permute"(%y) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x5x7xf32>) -> tensor<2x5x7x3xf32>
  return %0, %1 : tensor<2x8x12x3xf32>, tensor<2x5x7x3xf32>
}

// Halves of 256 x 1024 x 2048 multiplications are products of their own, of the weights that were
// side by side; of a weight that is one tensor, some columns are taken.
// CHECK-LABEL: func.func @parts_of_products(
// CHECK: %[[A:.*]] = "ttir.linear"(%arg0, %arg1, %{{.*}}) {{.*}} : (tensor<256x1024xbf16>, tensor<2048x1024xbf16>, tensor<2048xbf16>) -> tensor<256x2048xbf16>
// CHECK: %[[B:.*]] = "ttir.linear"(%arg0, %arg2, %{{.*}}) {{.*}} : (tensor<256x1024xbf16>, tensor<2048x1024xbf16>, tensor<2048xbf16>) -> tensor<256x2048xbf16>
// CHECK-NEXT: return %[[A]], %[[B]]
func.func @parts_of_products(%x: tensor<256x1024xbf16>, %a: tensor<2048x1024xbf16>, %b: tensor<2048x1024xbf16>, %c: tensor<4096xbf16>) -> (tensor<256x2048xbf16>, tensor<256x2048xbf16>) {
  %0 = "ttir.concat"(%a, %b) <{dim = 0 : si32}> : (tensor<2048x1024xbf16>, tensor<2048x1024xbf16>) -> tensor<4096x1024xbf16>
  %1 = "ttir.linear"(%x, %0, %c) <{transpose_a = false, transpose_b = true}> : (tensor<256x1024xbf16>, tensor<4096x1024xbf16>, tensor<4096xbf16>) -> tensor<256x4096xbf16>
  %2 = "ttir.slice_static"(%1) <{begins = [0 : i32, 0 : i32], ends = [256 : i32, 2048 : i32], step = [1 : i32, 1 : i32]}> : (tensor<256x4096xbf16>) -> tensor<256x2048xbf16>
  %3 = "ttir.slice_static"(%1) <{begins = [0 : i32, 2048 : i32], ends = [256 : i32, 4096 : i32], step = [1 : i32, 1 : i32]}> : (tensor<256x4096xbf16>) -> tensor<256x2048xbf16>
  return %2, %3 : tensor<256x2048xbf16>, tensor<256x2048xbf16>
}

// Where one part is small, all come of one product.
// CHECK-LABEL: func.func @small_parts(
// CHECK: "ttir.matmul"({{.*}} -> tensor<256x4128xbf16>
// CHECK: "ttir.slice_static"
// CHECK: "ttir.slice_static"
func.func @small_parts(%x: tensor<256x1024xbf16>, %w: tensor<1024x4128xbf16>) -> (tensor<256x4096xbf16>, tensor<256x32xbf16>) {
  %0 = "ttir.matmul"(%x, %w) <{transpose_a = false, transpose_b = false}> : (tensor<256x1024xbf16>, tensor<1024x4128xbf16>) -> tensor<256x4128xbf16>
  %1 = "ttir.slice_static"(%0) <{begins = [0 : i32, 0 : i32], ends = [256 : i32, 4096 : i32], step = [1 : i32, 1 : i32]}> : (tensor<256x4128xbf16>) -> tensor<256x4096xbf16>
  %2 = "ttir.slice_static"(%0) <{begins = [0 : i32, 4096 : i32], ends = [256 : i32, 4128 : i32], step = [1 : i32, 1 : i32]}> : (tensor<256x4128xbf16>) -> tensor<256x32xbf16>
  return %1, %2 : tensor<256x4096xbf16>, tensor<256x32xbf16>
}

// The mean over 35 pixels of each of 3 images, which are no whole tiles, is a pool of 5 x 7; images
// of whole tiles, numbers of 32 bits and channels that fill no tiles keep their means.
// CHECK-LABEL: func.func @means(
// CHECK-NEXT: %[[P:.*]] = "ttir.avg_pool2d"(%arg0) <{{{.*}}flattened_compat batch_size = 3, input_height = 5, input_width = 7>, kernel = array<i32: 5, 7>, padding = array<i32: 0, 0, 0, 0>, stride = array<i32: 5, 7>}> : (tensor<1x1x105x64xbf16>) -> tensor<1x1x3x64xbf16>
// CHECK-NEXT: %[[R:.*]] = "ttir.reshape"(%[[P]]) {{.*}} -> tensor<3x64xbf16>
// CHECK: %[[A:.*]] = "ttir.mean"({{.*}} -> tensor<3x1x1x64xbf16>
// CHECK: %[[B:.*]] = "ttir.mean"({{.*}} -> tensor<3x1x1x64xf32>
// CHECK: %[[C:.*]] = "ttir.mean"({{.*}} -> tensor<3x1x1x40xbf16>
// CHECK: return %[[R]], %[[A]], %[[B]], %[[C]]
func.func @means(%x: tensor<1x1x105x64xbf16>, %y: tensor<1x1x192x64xbf16>, %z: tensor<1x1x105x64xf32>, %u: tensor<1x1x105x40xbf16>) -> (tensor<3x64xbf16>, tensor<3x1x1x64xbf16>, tensor<3x1x1x64xf32>, tensor<3x1x1x40xbf16>) {
  %0 = "ttir.reshape"(%x) <{shape = [3 : i32, 1 : i32, 35 : i32, 64 : i32]}> : (tensor<1x1x105x64xbf16>) -> tensor<3x1x35x64xbf16>
  %1 = "ttir.mean"(%0) <{dim_arg = [2 : i32], keep_dim = true}> : (tensor<3x1x35x64xbf16>) -> tensor<3x1x1x64xbf16>
  %2 = "ttir.reshape"(%1) <{shape = [3 : i32, 64 : i32]}> : (tensor<3x1x1x64xbf16>) -> tensor<3x64xbf16>
  %3 = "ttir.reshape"(%y) <{shape = [3 : i32, 1 : i32, 64 : i32, 64 : i32]}> : (tensor<1x1x192x64xbf16>) -> tensor<3x1x64x64xbf16>
  %4 = "ttir.mean"(%3) <{dim_arg = [2 : i32], keep_dim = true}> : (tensor<3x1x64x64xbf16>) -> tensor<3x1x1x64xbf16>
  %5 = "ttir.reshape"(%z) <{shape = [3 : i32, 1 : i32, 35 : i32, 64 : i32]}> : (tensor<1x1x105x64xf32>) -> tensor<3x1x35x64xf32>
  %6 = "ttir.mean"(%5) <{dim_arg = [2 : i32], keep_dim = true}> : (tensor<3x1x35x64xf32>) -> tensor<3x1x1x64xf32>
  %7 = "ttir.reshape"(%u) <{shape = [3 : i32, 1 : i32, 35 : i32, 40 : i32]}> : (tensor<1x1x105x40xbf16>) -> tensor<3x1x35x40xbf16>
  %8 = "ttir.mean"(%7) <{dim_arg = [2 : i32], keep_dim = true}> : (tensor<3x1x35x40xbf16>) -> tensor<3x1x1x40xbf16>
  return %2, %4, %6, %8 : tensor<3x64xbf16>, tensor<3x1x1x64xbf16>, tensor<3x1x1x64xf32>, tensor<3x1x1x40xbf16>
}
