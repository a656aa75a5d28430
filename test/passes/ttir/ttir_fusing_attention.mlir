// What Tenstorrent's compiler (jax-tt-plugin 0.1.3) fuses of attention, norms, rotations and parts.
// RUN: ttmlir-opt --ttir-fusing %s | FileCheck %s

// CHECK-LABEL: func.func @attention(
// CHECK-NEXT: "ttir.scaled_dot_product_attention"(%arg0, %arg1, %arg2, %arg3) <{is_causal = false, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>, scale = 0.333333343 : f32}> : (tensor<2x4x37x64xf32>, tensor<2x4x50x64xf32>, tensor<2x4x50x64xf32>, tensor<1x1x37x50xf32>) -> tensor<2x4x37x64xf32>
func.func @attention(%q: tensor<2x4x37x64xf32>, %k: tensor<2x4x50x64xf32>, %v: tensor<2x4x50x64xf32>, %m: tensor<1x1x37x50xf32>) -> tensor<2x4x37x64xf32> {
  %0 = "ttir.full"() <{fill_value = 3.0 : f32, shape = array<i32: 1, 1, 1, 1>}> : () -> tensor<1x1x1x1xf32>
  %1 = "ttir.permute"(%k) <{permutation = array<i64: 0, 1, 3, 2>}> : (tensor<2x4x50x64xf32>) -> tensor<2x4x64x50xf32>
  %2 = "ttir.matmul"(%q, %1) <{transpose_a = false, transpose_b = false}> : (tensor<2x4x37x64xf32>, tensor<2x4x64x50xf32>) -> tensor<2x4x37x50xf32>
  %3 = "ttir.div"(%2, %0) : (tensor<2x4x37x50xf32>, tensor<1x1x1x1xf32>) -> tensor<2x4x37x50xf32>
  %4 = "ttir.add"(%3, %m) : (tensor<2x4x37x50xf32>, tensor<1x1x37x50xf32>) -> tensor<2x4x37x50xf32>
  %5 = "ttir.softmax"(%4) <{dimension = 3 : si32, numericStable = true}> : (tensor<2x4x37x50xf32>) -> tensor<2x4x37x50xf32>
  %6 = "ttir.matmul"(%5, %v) <{transpose_a = false, transpose_b = false}> : (tensor<2x4x37x50xf32>, tensor<2x4x50x64xf32>) -> tensor<2x4x37x64xf32>
  return %6 : tensor<2x4x37x64xf32>
}

// Queries and keys are scaled apart, and two heads of queries share one of keys.
// CHECK-LABEL: func.func @scales(
// CHECK-NEXT: "ttir.scaled_dot_product_attention"(%arg0, %arg1, %arg2) <{{{.*}}, scale = 1.250000e-01 : f32}> : (tensor<2x4x37x64xf32>, tensor<2x2x50x64xf32>, tensor<2x2x50x64xf32>)
func.func @scales(%q: tensor<2x4x37x64xf32>, %k: tensor<2x2x50x64xf32>, %v: tensor<2x2x50x64xf32>) -> tensor<2x4x37x64xf32> {
  %half = "ttir.full"() <{fill_value = 5.0e-01 : f32, shape = array<i32: 1, 1, 1, 1>}> : () -> tensor<1x1x1x1xf32>
  %quarter = "ttir.full"() <{fill_value = 2.5e-01 : f32, shape = array<i32: 1, 1, 1, 1>}> : () -> tensor<1x1x1x1xf32>
  %0 = "ttir.multiply"(%q, %half) : (tensor<2x4x37x64xf32>, tensor<1x1x1x1xf32>) -> tensor<2x4x37x64xf32>
  %1 = "ttir.repeat_interleave"(%k) <{dim = 1 : si32, repeats = 2 : ui32}> : (tensor<2x2x50x64xf32>) -> tensor<2x4x50x64xf32>
  %2 = "ttir.multiply"(%1, %quarter) : (tensor<2x4x50x64xf32>, tensor<1x1x1x1xf32>) -> tensor<2x4x50x64xf32>
  %3 = "ttir.repeat_interleave"(%v) <{dim = 1 : si32, repeats = 2 : ui32}> : (tensor<2x2x50x64xf32>) -> tensor<2x4x50x64xf32>
  %4 = "ttir.permute"(%2) <{permutation = array<i64: 0, 1, 3, 2>}> : (tensor<2x4x50x64xf32>) -> tensor<2x4x64x50xf32>
  %5 = "ttir.matmul"(%0, %4) <{transpose_a = false, transpose_b = false}> : (tensor<2x4x37x64xf32>, tensor<2x4x64x50xf32>) -> tensor<2x4x37x50xf32>
  %6 = "ttir.softmax"(%5) <{dimension = 3 : si32, numericStable = true}> : (tensor<2x4x37x50xf32>) -> tensor<2x4x37x50xf32>
  %7 = "ttir.matmul"(%6, %3) <{transpose_a = false, transpose_b = false}> : (tensor<2x4x37x50xf32>, tensor<2x4x50x64xf32>) -> tensor<2x4x37x64xf32>
  return %7 : tensor<2x4x37x64xf32>
}

// A mask of one row for all queries is not one that the operation takes.
// CHECK-LABEL: func.func @row_mask(
// CHECK-NOT: scaled_dot_product_attention
// CHECK: ttir.softmax
func.func @row_mask(%q: tensor<2x4x37x64xf32>, %k: tensor<2x4x50x64xf32>, %v: tensor<2x4x50x64xf32>, %m: tensor<2x1x1x50xf32>) -> tensor<2x4x37x64xf32> {
  %0 = "ttir.matmul"(%q, %k) <{transpose_a = false, transpose_b = true}> : (tensor<2x4x37x64xf32>, tensor<2x4x50x64xf32>) -> tensor<2x4x37x50xf32>
  %1 = "ttir.add"(%0, %m) : (tensor<2x4x37x50xf32>, tensor<2x1x1x50xf32>) -> tensor<2x4x37x50xf32>
  %2 = "ttir.softmax"(%1) <{dimension = 3 : si32, numericStable = true}> : (tensor<2x4x37x50xf32>) -> tensor<2x4x37x50xf32>
  %3 = "ttir.matmul"(%2, %v) <{transpose_a = false, transpose_b = false}> : (tensor<2x4x37x50xf32>, tensor<2x4x50x64xf32>) -> tensor<2x4x37x64xf32>
  return %3 : tensor<2x4x37x64xf32>
}

// The norm computes in float32 between numbers of bfloat16; 1 is added to the weight.
// CHECK-LABEL: func.func @norm(
// CHECK: "ttir.rms_norm"(%arg0, %{{.*}}) <{epsilon = 9.99999997E-7 : f32, normalized_shape = array<i64: 96>, operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<45x96xbf16>, tensor<96xf32>) -> tensor<45x96xbf16>
func.func @norm(%x: tensor<45x96xbf16>, %w: tensor<96xf32>) -> tensor<45x96xbf16> {
  %eps = "ttir.full"() <{fill_value = 9.99999997E-7 : f32, shape = array<i32: 45, 1>}> : () -> tensor<45x1xf32>
  %0 = "ttir.typecast"(%x) <{conservative_folding = true}> : (tensor<45x96xbf16>) -> tensor<45x96xf32>
  %1 = "ttir.multiply"(%0, %0) : (tensor<45x96xf32>, tensor<45x96xf32>) -> tensor<45x96xf32>
  %2 = "ttir.mean"(%1) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<45x96xf32>) -> tensor<45x1xf32>
  %3 = "ttir.add"(%2, %eps) : (tensor<45x1xf32>, tensor<45x1xf32>) -> tensor<45x1xf32>
  %4 = "ttir.rsqrt"(%3) : (tensor<45x1xf32>) -> tensor<45x1xf32>
  %5 = "ttir.multiply"(%0, %4) : (tensor<45x96xf32>, tensor<45x1xf32>) -> tensor<45x96xf32>
  %6 = "ttir.reshape"(%w) <{shape = [1 : i32, 96 : i32]}> : (tensor<96xf32>) -> tensor<1x96xf32>
  %7 = "ttir.multiply"(%5, %6) : (tensor<45x96xf32>, tensor<1x96xf32>) -> tensor<45x96xf32>
  %8 = "ttir.typecast"(%7) <{conservative_folding = true}> : (tensor<45x96xf32>) -> tensor<45x96xbf16>
  return %8 : tensor<45x96xbf16>
}

// CHECK-LABEL: func.func @adjacent(
// CHECK-NEXT: "ttir.slice_static"(%arg0) <{begins = [2 : i32, 0 : i32], ends = [7 : i32, 9 : i32], step = [1 : i32, 1 : i32]}> : (tensor<7x13xf32>) -> tensor<5x9xf32>
// CHECK-NEXT: return
func.func @adjacent(%x: tensor<7x13xf32>) -> tensor<5x9xf32> {
  %0 = "ttir.slice_static"(%x) <{begins = [2 : i32, 0 : i32], ends = [7 : i32, 5 : i32], step = [1 : i32, 1 : i32]}> : (tensor<7x13xf32>) -> tensor<5x5xf32>
  %1 = "ttir.slice_static"(%x) <{begins = [2 : i32, 5 : i32], ends = [7 : i32, 9 : i32], step = [1 : i32, 1 : i32]}> : (tensor<7x13xf32>) -> tensor<5x4xf32>
  %2 = "ttir.concat"(%0, %1) <{dim = 1 : si32}> : (tensor<5x5xf32>, tensor<5x4xf32>) -> tensor<5x9xf32>
  return %2 : tensor<5x9xf32>
}

// CHECK-LABEL: func.func @exchanged(
// CHECK: ttir.concat
func.func @exchanged(%x: tensor<7x13xf32>) -> tensor<7x9xf32> {
  %0 = "ttir.slice_static"(%x) <{begins = [0 : i32, 5 : i32], ends = [7 : i32, 9 : i32], step = [1 : i32, 1 : i32]}> : (tensor<7x13xf32>) -> tensor<7x4xf32>
  %1 = "ttir.slice_static"(%x) <{begins = [0 : i32, 0 : i32], ends = [7 : i32, 5 : i32], step = [1 : i32, 1 : i32]}> : (tensor<7x13xf32>) -> tensor<7x5xf32>
  %2 = "ttir.concat"(%0, %1) <{dim = 1 : si32}> : (tensor<7x4xf32>, tensor<7x5xf32>) -> tensor<7x9xf32>
  return %2 : tensor<7x9xf32>
}

// CHECK-LABEL: func.func @renormalized(
// CHECK-NEXT: %values, %indices = "ttir.topk"(%arg0) <{dim = 1 : i32, k = 4 : i32, largest = true, sorted = true}>
// CHECK-NEXT: %[[S:.*]] = "ttir.softmax"(%values) <{dimension = 1 : si32, numericStable = true}> : (tensor<20x4xf32>) -> tensor<20x4xf32>
// CHECK-NEXT: return %[[S]], %indices
func.func @renormalized(%x: tensor<20x32xf32>) -> (tensor<20x4xf32>, tensor<20x4xi32>) {
  %0 = "ttir.softmax"(%x) <{dimension = 1 : si32, numericStable = true}> : (tensor<20x32xf32>) -> tensor<20x32xf32>
  %v, %i = "ttir.topk"(%0) <{dim = 1 : i32, k = 4 : i32, largest = true, sorted = true}> : (tensor<20x32xf32>) -> (tensor<20x4xf32>, tensor<20x4xi32>)
  %1 = "ttir.sum"(%v) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<20x4xf32>) -> tensor<20x1xf32>
  %2 = "ttir.div"(%v, %1) : (tensor<20x4xf32>, tensor<20x1xf32>) -> tensor<20x4xf32>
  return %2, %i : tensor<20x4xf32>, tensor<20x4xi32>
}

// CHECK-LABEL: func.func @tiled(
// CHECK-NEXT: "ttir.repeat"(%arg0) <{repeat_dimensions = array<i64: 1, 4>}> : (tensor<6x5xf32>) -> tensor<6x20xf32>
func.func @tiled(%x: tensor<6x5xf32>) -> tensor<6x20xf32> {
  %0 = "ttir.reshape"(%x) <{shape = [6 : i32, 1 : i32, 5 : i32]}> : (tensor<6x5xf32>) -> tensor<6x1x5xf32>
  %1 = "ttir.broadcast"(%0) <{broadcast_dimensions = array<i64: 1, 4, 1>}> : (tensor<6x1x5xf32>) -> tensor<6x4x5xf32>
  %2 = "ttir.reshape"(%1) <{shape = [6 : i32, 20 : i32]}> : (tensor<6x4x5xf32>) -> tensor<6x20xf32>
  return %2 : tensor<6x20xf32>
}

// A query that the scale repeats is not one of the shape of the result.
// CHECK-LABEL: func.func @repeated_by_scale(
// CHECK: %[[Q:.*]] = "ttir.multiply"(%arg0
// CHECK-NEXT: "ttir.scaled_dot_product_attention"(%[[Q]], %arg1, %arg2) <{{{.*}}, scale = 1.000000e+00 : f32}>
func.func @repeated_by_scale(%q: tensor<1x1x1x64xf32>, %k: tensor<2x4x50x64xf32>, %v: tensor<2x4x50x64xf32>) -> tensor<2x4x37x64xf32> {
  %n = "ttir.full"() <{fill_value = 0.125 : f32, shape = array<i32: 2, 4, 37, 64>}> : () -> tensor<2x4x37x64xf32>
  %0 = "ttir.multiply"(%q, %n) : (tensor<1x1x1x64xf32>, tensor<2x4x37x64xf32>) -> tensor<2x4x37x64xf32>
  %1 = "ttir.matmul"(%0, %k) <{transpose_a = false, transpose_b = true}> : (tensor<2x4x37x64xf32>, tensor<2x4x50x64xf32>) -> tensor<2x4x37x50xf32>
  %2 = "ttir.softmax"(%1) <{dimension = 3 : si32, numericStable = true}> : (tensor<2x4x37x50xf32>) -> tensor<2x4x37x50xf32>
  %3 = "ttir.matmul"(%2, %v) <{transpose_a = false, transpose_b = false}> : (tensor<2x4x37x50xf32>, tensor<2x4x50x64xf32>) -> tensor<2x4x37x64xf32>
  return %3 : tensor<2x4x37x64xf32>
}

// Rows that the weight repeats are not normalized.
// CHECK-LABEL: func.func @repeated_by_weight(
// CHECK-NOT: ttir.rms_norm
// CHECK: return
func.func @repeated_by_weight(%x: tensor<1x96xf32>, %w: tensor<96xf32>) -> tensor<45x96xf32> {
  %e = "ttir.full"() <{fill_value = 1.0e-6 : f32, shape = array<i32: 1, 1>}> : () -> tensor<1x1xf32>
  %0 = "ttir.multiply"(%x, %x) : (tensor<1x96xf32>, tensor<1x96xf32>) -> tensor<1x96xf32>
  %1 = "ttir.mean"(%0) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<1x96xf32>) -> tensor<1x1xf32>
  %2 = "ttir.add"(%1, %e) : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
  %3 = "ttir.rsqrt"(%2) : (tensor<1x1xf32>) -> tensor<1x1xf32>
  %4 = "ttir.multiply"(%x, %3) : (tensor<1x96xf32>, tensor<1x1xf32>) -> tensor<1x96xf32>
  %5 = "ttir.reshape"(%w) <{shape = [1 : i32, 96 : i32]}> : (tensor<96xf32>) -> tensor<1x96xf32>
  %6 = "ttir.broadcast"(%5) <{broadcast_dimensions = array<i64: 45, 1>}> : (tensor<1x96xf32>) -> tensor<45x96xf32>
  %7 = "ttir.multiply"(%4, %6) : (tensor<1x96xf32>, tensor<45x96xf32>) -> tensor<45x96xf32>
  return %7 : tensor<45x96xf32>
}

// Of a square, numbers for each row have as many as those for each column: they are no weight.
// CHECK-LABEL: func.func @weight_of_rows(
// CHECK-NOT: ttir.rms_norm
// CHECK: return
func.func @weight_of_rows(%x: tensor<40x40xf32>, %w: tensor<40xf32>) -> tensor<40x40xf32> {
  %e = "ttir.full"() <{fill_value = 1.0e-6 : f32, shape = array<i32: 40, 1>}> : () -> tensor<40x1xf32>
  %0 = "ttir.multiply"(%x, %x) : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %1 = "ttir.mean"(%0) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<40x40xf32>) -> tensor<40x1xf32>
  %2 = "ttir.add"(%1, %e) : (tensor<40x1xf32>, tensor<40x1xf32>) -> tensor<40x1xf32>
  %3 = "ttir.rsqrt"(%2) : (tensor<40x1xf32>) -> tensor<40x1xf32>
  %4 = "ttir.multiply"(%x, %3) : (tensor<40x40xf32>, tensor<40x1xf32>) -> tensor<40x40xf32>
  %5 = "ttir.reshape"(%w) <{shape = [40 : i32, 1 : i32]}> : (tensor<40xf32>) -> tensor<40x1xf32>
  %6 = "ttir.multiply"(%4, %5) : (tensor<40x40xf32>, tensor<40x1xf32>) -> tensor<40x40xf32>
  return %6 : tensor<40x40xf32>
}

// Nor do roots of rows that divide columns normalize them.
// CHECK-LABEL: func.func @roots_of_rows(
// CHECK-NOT: ttir.rms_norm
// CHECK: return
func.func @roots_of_rows(%x: tensor<40x40xf32>, %w: tensor<40xf32>) -> tensor<40x40xf32> {
  %e = "ttir.full"() <{fill_value = 1.0e-6 : f32, shape = array<i32: 40>}> : () -> tensor<40xf32>
  %0 = "ttir.multiply"(%x, %x) : (tensor<40x40xf32>, tensor<40x40xf32>) -> tensor<40x40xf32>
  %1 = "ttir.mean"(%0) <{dim_arg = [1 : i32], keep_dim = false}> : (tensor<40x40xf32>) -> tensor<40xf32>
  %2 = "ttir.add"(%1, %e) : (tensor<40xf32>, tensor<40xf32>) -> tensor<40xf32>
  %3 = "ttir.rsqrt"(%2) : (tensor<40xf32>) -> tensor<40xf32>
  %4 = "ttir.multiply"(%x, %3) : (tensor<40x40xf32>, tensor<40xf32>) -> tensor<40x40xf32>
  %5 = "ttir.multiply"(%4, %w) : (tensor<40x40xf32>, tensor<40xf32>) -> tensor<40x40xf32>
  return %5 : tensor<40x40xf32>
}

// Nor is what is made whole numbers between a norm.
// CHECK-LABEL: func.func @rounded_between(
// CHECK-NOT: ttir.rms_norm"(%arg0, %arg1
// CHECK: return
func.func @rounded_between(%x: tensor<45x96xf32>, %w: tensor<96xi32>) -> tensor<45x96xf32> {
  %e = "ttir.full"() <{fill_value = 1.0e-6 : f32, shape = array<i32: 45, 1>}> : () -> tensor<45x1xf32>
  %0 = "ttir.multiply"(%x, %x) : (tensor<45x96xf32>, tensor<45x96xf32>) -> tensor<45x96xf32>
  %1 = "ttir.mean"(%0) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<45x96xf32>) -> tensor<45x1xf32>
  %2 = "ttir.add"(%1, %e) : (tensor<45x1xf32>, tensor<45x1xf32>) -> tensor<45x1xf32>
  %3 = "ttir.rsqrt"(%2) : (tensor<45x1xf32>) -> tensor<45x1xf32>
  %4 = "ttir.multiply"(%x, %3) : (tensor<45x96xf32>, tensor<45x1xf32>) -> tensor<45x96xf32>
  %5 = "ttir.typecast"(%4) <{conservative_folding = false}> : (tensor<45x96xf32>) -> tensor<45x96xi32>
  %6 = "ttir.multiply"(%5, %w) : (tensor<45x96xi32>, tensor<96xi32>) -> tensor<45x96xi32>
  %7 = "ttir.typecast"(%6) <{conservative_folding = false}> : (tensor<45x96xi32>) -> tensor<45x96xf32>
  return %7 : tensor<45x96xf32>
}

// Halves that are not of one tensor are not rotated.
// CHECK-LABEL: func.func @complex_product(
// CHECK-NOT: ttcore.composite
// CHECK: ttir.concat
func.func @complex_product(%a: tensor<1x1x4x8xf32>, %b: tensor<1x1x4x8xf32>, %c: tensor<1x1x4x8xf32>, %s: tensor<1x1x4x8xf32>) -> tensor<1x1x4x16xf32> {
  %0 = "ttir.multiply"(%a, %c) : (tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>) -> tensor<1x1x4x8xf32>
  %1 = "ttir.multiply"(%b, %s) : (tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>) -> tensor<1x1x4x8xf32>
  %2 = "ttir.subtract"(%0, %1) : (tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>) -> tensor<1x1x4x8xf32>
  %3 = "ttir.multiply"(%b, %c) : (tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>) -> tensor<1x1x4x8xf32>
  %4 = "ttir.multiply"(%a, %s) : (tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>) -> tensor<1x1x4x8xf32>
  %5 = "ttir.add"(%3, %4) : (tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>) -> tensor<1x1x4x8xf32>
  %6 = "ttir.concat"(%2, %5) <{dim = 3 : si32}> : (tensor<1x1x4x8xf32>, tensor<1x1x4x8xf32>) -> tensor<1x1x4x16xf32>
  return %6 : tensor<1x1x4x16xf32>
}

// Its decomposition is the last function of the module.
// CHECK-LABEL: func.func @rotate(
// CHECK-NEXT: "ttcore.composite"(%arg0, %arg1, %arg2) <{composite_name = "rotary_embedding", decomposition = @rotary_embedding_decomp_0}>
// CHECK-LABEL: func.func private @rotary_embedding_decomp_0(
// CHECK-SAME: attributes {tt.composite_decomposition}
// CHECK-NEXT: %[[A:.*]] = "ttir.slice_static"(%arg0) <{begins = [0 : i32, 0 : i32, 0 : i32, 0 : i32], ends = [1 : i32, 4 : i32, 40 : i32, 32 : i32]
// CHECK-NEXT: %[[B:.*]] = "ttir.slice_static"(%arg0) <{begins = [0 : i32, 0 : i32, 0 : i32, 32 : i32], ends = [1 : i32, 4 : i32, 40 : i32, 64 : i32]
// CHECK-NEXT: %[[N:.*]] = "ttir.neg"(%[[B]])
// CHECK-NEXT: %[[R:.*]] = "ttir.concat"(%[[N]], %[[A]]) <{dim = 3 : si32}>
// CHECK-NEXT: %[[X:.*]] = "ttir.multiply"(%arg0, %arg1)
// CHECK-NEXT: %[[Y:.*]] = "ttir.multiply"(%[[R]], %arg2)
// CHECK-NEXT: "ttir.add"(%[[X]], %[[Y]])
func.func @rotate(%x: tensor<1x4x40x64xf32>, %cos: tensor<1x1x40x64xf32>, %sin: tensor<1x1x40x64xf32>) -> tensor<1x4x40x64xf32> {
  %0 = "ttir.multiply"(%x, %cos) : (tensor<1x4x40x64xf32>, tensor<1x1x40x64xf32>) -> tensor<1x4x40x64xf32>
  %1 = "ttir.slice_static"(%x) <{begins = [0 : i32, 0 : i32, 0 : i32, 32 : i32], ends = [1 : i32, 4 : i32, 40 : i32, 64 : i32], step = [1 : i32, 1 : i32, 1 : i32, 1 : i32]}> : (tensor<1x4x40x64xf32>) -> tensor<1x4x40x32xf32>
  %2 = "ttir.neg"(%1) : (tensor<1x4x40x32xf32>) -> tensor<1x4x40x32xf32>
  %3 = "ttir.slice_static"(%x) <{begins = [0 : i32, 0 : i32, 0 : i32, 0 : i32], ends = [1 : i32, 4 : i32, 40 : i32, 32 : i32], step = [1 : i32, 1 : i32, 1 : i32, 1 : i32]}> : (tensor<1x4x40x64xf32>) -> tensor<1x4x40x32xf32>
  %4 = "ttir.concat"(%2, %3) <{dim = 3 : si32}> : (tensor<1x4x40x32xf32>, tensor<1x4x40x32xf32>) -> tensor<1x4x40x64xf32>
  %5 = "ttir.multiply"(%4, %sin) : (tensor<1x4x40x64xf32>, tensor<1x1x40x64xf32>) -> tensor<1x4x40x64xf32>
  %6 = "ttir.add"(%0, %5) : (tensor<1x4x40x64xf32>, tensor<1x4x40x64xf32>) -> tensor<1x4x40x64xf32>
  return %6 : tensor<1x4x40x64xf32>
}
