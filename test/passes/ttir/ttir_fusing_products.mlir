// What Tenstorrent's compiler (jax-tt-plugin 0.1.3) makes of several products of one matrix, of
// parts of products, and of products of two formats.
// RUN: ttmlir-opt --ttir-fusing %s | FileCheck %s
// RUN: ttmlir-opt --ttir-fusing=join-whole-tiles=true %s | FileCheck %s --check-prefix=TILES

// Slices that begin with whole tiles come first, then those of later products.
// CHECK-LABEL: func.func @shared(
// CHECK-NEXT: %[[RIGHT:.*]] = "ttir.concat"(%arg3, %arg1, %arg2) <{dim = 1 : si32}> : (tensor<64x64xf32>, tensor<64x32xf32>, tensor<64x70xf32>) -> tensor<64x166xf32>
// CHECK-NEXT: %[[ALL:.*]] = "ttir.matmul"(%arg0, %[[RIGHT]]) <{transpose_a = false, transpose_b = false}> : (tensor<45x64xf32>, tensor<64x166xf32>) -> tensor<45x166xf32>
// CHECK-NEXT: %[[C:.*]] = "ttir.slice_static"(%[[ALL]]) <{begins = [0 : i32, 0 : i32], ends = [45 : i32, 64 : i32], step = [1 : i32, 1 : i32]}>
// CHECK-NEXT: %[[A:.*]] = "ttir.slice_static"(%[[ALL]]) <{begins = [0 : i32, 64 : i32], ends = [45 : i32, 96 : i32]
// CHECK-NEXT: %[[B:.*]] = "ttir.slice_static"(%[[ALL]]) <{begins = [0 : i32, 96 : i32], ends = [45 : i32, 166 : i32]
// CHECK-NEXT: return %[[A]], %[[B]], %[[C]]
func.func @shared(%x: tensor<45x64xf32>, %a: tensor<64x32xf32>, %b: tensor<64x70xf32>, %c: tensor<64x64xf32>) -> (tensor<45x32xf32>, tensor<45x70xf32>, tensor<45x64xf32>) {
  %0 = "ttir.matmul"(%x, %a) <{transpose_a = false, transpose_b = false}> : (tensor<45x64xf32>, tensor<64x32xf32>) -> tensor<45x32xf32>
  %1 = "ttir.matmul"(%x, %b) <{transpose_a = false, transpose_b = false}> : (tensor<45x64xf32>, tensor<64x70xf32>) -> tensor<45x70xf32>
  %2 = "ttir.matmul"(%x, %c) <{transpose_a = false, transpose_b = false}> : (tensor<45x64xf32>, tensor<64x64xf32>) -> tensor<45x64xf32>
  return %0, %1, %2 : tensor<45x32xf32>, tensor<45x70xf32>, tensor<45x64xf32>
}

// CHECK-LABEL: func.func @shared_with_bias(
// CHECK-NEXT: %[[RIGHT:.*]] = "ttir.concat"(%arg1, %arg2) <{dim = 1 : si32}>
// CHECK-NEXT: %[[BIAS:.*]] = "ttir.concat"(%arg3, %arg4) <{dim = 0 : si32}> : (tensor<70xf32>, tensor<33xf32>) -> tensor<103xf32>
// CHECK-NEXT: "ttir.linear"(%arg0, %[[RIGHT]], %[[BIAS]])
func.func @shared_with_bias(%x: tensor<45x64xf32>, %a: tensor<64x70xf32>, %b: tensor<64x33xf32>, %c: tensor<70xf32>, %d: tensor<33xf32>) -> (tensor<45x70xf32>, tensor<45x33xf32>) {
  %0 = "ttir.linear"(%x, %a, %c) <{transpose_a = false, transpose_b = false}> : (tensor<45x64xf32>, tensor<64x70xf32>, tensor<70xf32>) -> tensor<45x70xf32>
  %1 = "ttir.linear"(%x, %b, %d) <{transpose_a = false, transpose_b = false}> : (tensor<45x64xf32>, tensor<64x33xf32>, tensor<33xf32>) -> tensor<45x33xf32>
  return %0, %1 : tensor<45x70xf32>, tensor<45x33xf32>
}

// What the second product needs moves before the first.
// CHECK-LABEL: func.func @transposed(
// CHECK-NEXT: %[[B:.*]] = "ttir.permute"(%arg2)
// CHECK-NEXT: %[[A:.*]] = "ttir.permute"(%arg1)
// CHECK-NEXT: "ttir.concat"(%[[A]], %[[B]])
func.func @transposed(%x: tensor<45x64xf32>, %a: tensor<70x64xf32>, %b: tensor<33x64xf32>) -> (tensor<45x70xf32>, tensor<45x33xf32>) {
  %0 = "ttir.permute"(%a) <{permutation = array<i64: 1, 0>}> : (tensor<70x64xf32>) -> tensor<64x70xf32>
  %1 = "ttir.matmul"(%x, %0) <{transpose_a = false, transpose_b = false}> : (tensor<45x64xf32>, tensor<64x70xf32>) -> tensor<45x70xf32>
  %2 = "ttir.permute"(%b) <{permutation = array<i64: 1, 0>}> : (tensor<33x64xf32>) -> tensor<64x33xf32>
  %3 = "ttir.matmul"(%x, %2) <{transpose_a = false, transpose_b = false}> : (tensor<45x64xf32>, tensor<64x33xf32>) -> tensor<45x33xf32>
  return %1, %3 : tensor<45x70xf32>, tensor<45x33xf32>
}

// CHECK-LABEL: func.func @one_needs_another(
// CHECK-NOT: ttir.concat
func.func @one_needs_another(%x: tensor<64x64xf32>, %a: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %0 = "ttir.matmul"(%x, %a) <{transpose_a = false, transpose_b = false}> : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = "ttir.tanh"(%0) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = "ttir.matmul"(%x, %1) <{transpose_a = false, transpose_b = false}> : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0, %2 : tensor<64x64xf32>, tensor<64x64xf32>
}

// CHECK-LABEL: func.func @constants(
// CHECK-NOT: ttir.concat
func.func @constants(%x: tensor<45x64xf32>) -> (tensor<45x32xf32>, tensor<45x33xf32>) {
  %0 = "ttir.ones"() <{shape = array<i32: 64, 32>}> : () -> tensor<64x32xf32>
  %1 = "ttir.ones"() <{shape = array<i32: 64, 33>}> : () -> tensor<64x33xf32>
  %2 = "ttir.matmul"(%x, %0) <{transpose_a = false, transpose_b = false}> : (tensor<45x64xf32>, tensor<64x32xf32>) -> tensor<45x32xf32>
  %3 = "ttir.matmul"(%x, %1) <{transpose_a = false, transpose_b = false}> : (tensor<45x64xf32>, tensor<64x33xf32>) -> tensor<45x33xf32>
  return %2, %3 : tensor<45x32xf32>, tensor<45x33xf32>
}

// CHECK-LABEL: func.func @columns(
// CHECK-NEXT: %[[W:.*]] = "ttir.slice_static"(%arg1) <{begins = [0 : i32, 3 : i32], ends = [64 : i32, 7 : i32], step = [1 : i32, 1 : i32]}> : (tensor<64x33xf32>) -> tensor<64x4xf32>
// CHECK-NEXT: %[[B:.*]] = "ttir.slice_static"(%arg2) <{begins = [3 : i32], ends = [7 : i32], step = [1 : i32]}>
// CHECK-NEXT: "ttir.linear"(%arg0, %[[W]], %[[B]]) <{transpose_a = false, transpose_b = false}>
func.func @columns(%x: tensor<45x64xf32>, %w: tensor<64x33xf32>, %b: tensor<33xf32>) -> tensor<45x4xf32> {
  %0 = "ttir.linear"(%x, %w, %b) <{transpose_a = false, transpose_b = false}> : (tensor<45x64xf32>, tensor<64x33xf32>, tensor<33xf32>) -> tensor<45x33xf32>
  %1 = "ttir.slice_static"(%0) <{begins = [0 : i32, 3 : i32], ends = [45 : i32, 7 : i32], step = [1 : i32, 1 : i32]}> : (tensor<45x33xf32>) -> tensor<45x4xf32>
  return %1 : tensor<45x4xf32>
}

// CHECK-LABEL: func.func @rows(
// CHECK-NEXT: "ttir.slice_static"(%arg0) <{begins = [0 : i32, 0 : i32], ends = [7 : i32, 64 : i32], step = [1 : i32, 1 : i32]}>
// CHECK-NEXT: "ttir.matmul"({{.*}}, %arg1) {{.*}} -> tensor<7x33xf32>
func.func @rows(%x: tensor<45x64xf32>, %w: tensor<64x33xf32>) -> tensor<7x33xf32> {
  %0 = "ttir.matmul"(%x, %w) <{transpose_a = false, transpose_b = false}> : (tensor<45x64xf32>, tensor<64x33xf32>) -> tensor<45x33xf32>
  %1 = "ttir.slice_static"(%0) <{begins = [0 : i32, 0 : i32], ends = [7 : i32, 33 : i32], step = [1 : i32, 1 : i32]}> : (tensor<45x33xf32>) -> tensor<7x33xf32>
  return %1 : tensor<7x33xf32>
}

// CHECK-LABEL: func.func @both(
// CHECK-NEXT: ttir.matmul
// CHECK-NEXT: ttir.slice_static
func.func @both(%x: tensor<45x64xf32>, %w: tensor<64x33xf32>) -> tensor<5x7xf32> {
  %0 = "ttir.matmul"(%x, %w) <{transpose_a = false, transpose_b = false}> : (tensor<45x64xf32>, tensor<64x33xf32>) -> tensor<45x33xf32>
  %1 = "ttir.slice_static"(%0) <{begins = [0 : i32, 0 : i32], ends = [5 : i32, 7 : i32], step = [1 : i32, 1 : i32]}> : (tensor<45x33xf32>) -> tensor<5x7xf32>
  return %1 : tensor<5x7xf32>
}

// CHECK-LABEL: func.func @one_was_narrow(
// CHECK-NEXT: "ttir.matmul"(%arg0, %arg1) {{.*}} : (tensor<45x64xf32>, tensor<64x33xbf16>) -> tensor<45x33xf32>
func.func @one_was_narrow(%x: tensor<45x64xf32>, %w: tensor<64x33xbf16>) -> tensor<45x33xf32> {
  %0 = "ttir.typecast"(%w) <{conservative_folding = true}> : (tensor<64x33xbf16>) -> tensor<64x33xf32>
  %1 = "ttir.matmul"(%x, %0) <{transpose_a = false, transpose_b = false}> : (tensor<45x64xf32>, tensor<64x33xf32>) -> tensor<45x33xf32>
  return %1 : tensor<45x33xf32>
}

// CHECK-LABEL: func.func @both_were_narrow(
// CHECK-COUNT-2: ttir.typecast
func.func @both_were_narrow(%x: tensor<45x64xbf16>, %w: tensor<64x33xbf16>) -> tensor<45x33xf32> {
  %0 = "ttir.typecast"(%x) <{conservative_folding = true}> : (tensor<45x64xbf16>) -> tensor<45x64xf32>
  %1 = "ttir.typecast"(%w) <{conservative_folding = true}> : (tensor<64x33xbf16>) -> tensor<64x33xf32>
  %2 = "ttir.matmul"(%0, %1) <{transpose_a = false, transpose_b = false}> : (tensor<45x64xf32>, tensor<64x33xf32>) -> tensor<45x33xf32>
  return %2 : tensor<45x33xf32>
}

// A vector has neither rows nor columns.
// CHECK-LABEL: func.func @vector(
// CHECK-NEXT: ttir.matmul
// CHECK-NEXT: ttir.slice_static
func.func @vector(%a: tensor<40x64xf32>, %b: tensor<64xf32>) -> tensor<7xf32> {
  %0 = "ttir.matmul"(%a, %b) <{transpose_a = false, transpose_b = false}> : (tensor<40x64xf32>, tensor<64xf32>) -> tensor<40xf32>
  %1 = "ttir.slice_static"(%0) <{begins = [2 : i32], ends = [9 : i32], step = [1 : i32]}> : (tensor<40xf32>) -> tensor<7xf32>
  return %1 : tensor<7xf32>
}

// What is added may have more dimensions than the product, and the result has them, too.
// CHECK-LABEL: func.func @wide_bias(
// CHECK-NEXT: %[[SUM:.*]] = "ttir.linear"(%arg0, %arg1, %arg2) <{{.*}}> : (tensor<1x48xf32>, tensor<48x33xf32>, tensor<1x1x33xf32>) -> tensor<1x1x33xf32>
// CHECK-NEXT: return %[[SUM]]
func.func @wide_bias(%a: tensor<1x48xf32>, %b: tensor<48x33xf32>, %c: tensor<1x1x33xf32>) -> tensor<1x1x33xf32> {
  %0 = "ttir.matmul"(%a, %b) <{transpose_a = false, transpose_b = false}> : (tensor<1x48xf32>, tensor<48x33xf32>) -> tensor<1x33xf32>
  %1 = "ttir.reshape"(%0) <{shape = [1 : i32, 1 : i32, 33 : i32]}> : (tensor<1x33xf32>) -> tensor<1x1x33xf32>
  %2 = "ttir.add"(%c, %1) : (tensor<1x1x33xf32>, tensor<1x1x33xf32>) -> tensor<1x1x33xf32>
  return %2 : tensor<1x1x33xf32>
}

// Where whole tiles alone are joined, of several products with other columns none is, but one may.
// TILES-LABEL: func.func @parts_of_tiles(
// TILES-DAG: "ttir.matmul"(%arg0, %arg1) {{.*}} -> tensor<45x40xf32>
// TILES-DAG: "ttir.matmul"(%arg0, %arg3) {{.*}} -> tensor<45x33xf32>
// TILES-DAG: "ttir.matmul"(%arg0, %{{.*}}) {{.*}} -> tensor<45x160xf32>
// TILES: return
// CHECK-LABEL: func.func @parts_of_tiles(
// CHECK: "ttir.matmul"(%arg0, %{{.*}}) {{.*}} -> tensor<45x233xf32>
// CHECK-NOT: ttir.matmul
// CHECK: return
func.func @parts_of_tiles(%x: tensor<45x70xf32>, %a: tensor<70x40xf32>, %b: tensor<70x64xf32>, %c: tensor<70x33xf32>, %d: tensor<70x96xf32>) -> (tensor<45x40xf32>, tensor<45x64xf32>, tensor<45x33xf32>, tensor<45x96xf32>) {
  %0 = "ttir.matmul"(%x, %a) <{transpose_a = false, transpose_b = false}> : (tensor<45x70xf32>, tensor<70x40xf32>) -> tensor<45x40xf32>
  %1 = "ttir.matmul"(%x, %b) <{transpose_a = false, transpose_b = false}> : (tensor<45x70xf32>, tensor<70x64xf32>) -> tensor<45x64xf32>
  %2 = "ttir.matmul"(%x, %c) <{transpose_a = false, transpose_b = false}> : (tensor<45x70xf32>, tensor<70x33xf32>) -> tensor<45x33xf32>
  %3 = "ttir.matmul"(%x, %d) <{transpose_a = false, transpose_b = false}> : (tensor<45x70xf32>, tensor<70x96xf32>) -> tensor<45x96xf32>
  return %0, %1, %2, %3 : tensor<45x40xf32>, tensor<45x64xf32>, tensor<45x33xf32>, tensor<45x96xf32>
}
// TILES-LABEL: func.func @last_columns(
// TILES: "ttir.matmul"(%arg0, %{{.*}}) {{.*}} -> tensor<45x104xf32>
// TILES-NOT: ttir.matmul
// TILES: return
func.func @last_columns(%x: tensor<45x70xf32>, %a: tensor<70x40xf32>, %b: tensor<70x64xf32>) -> (tensor<45x40xf32>, tensor<45x64xf32>) {
  %0 = "ttir.matmul"(%x, %a) <{transpose_a = false, transpose_b = false}> : (tensor<45x70xf32>, tensor<70x40xf32>) -> tensor<45x40xf32>
  %1 = "ttir.matmul"(%x, %b) <{transpose_a = false, transpose_b = false}> : (tensor<45x70xf32>, tensor<70x64xf32>) -> tensor<45x64xf32>
  return %0, %1 : tensor<45x40xf32>, tensor<45x64xf32>
}
