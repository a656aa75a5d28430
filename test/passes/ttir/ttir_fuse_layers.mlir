// Layers that tt-mlir leaves in parts.
// RUN: ttmlir-opt --ttir-fuse-layers %s | FileCheck %s

// A norm of rows in float32 between numbers of bfloat16, the weight repeated for each row.
// CHECK-LABEL: func.func @norm(
// CHECK-NEXT: "ttir.layer_norm"(%arg0, %arg1, %arg2) <{epsilon = 9.99999974E-6 : f32, normalized_shape = array<i64: 96>, operandSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<45x96xbf16>, tensor<96xf32>, tensor<96xf32>) -> tensor<45x96xbf16>
// CHECK-NEXT: return
func.func @norm(%x: tensor<45x96xbf16>, %w: tensor<96xf32>, %b: tensor<96xf32>) -> tensor<45x96xbf16> {
  %eps = "ttir.full"() <{fill_value = 9.99999974E-6 : f32, shape = array<i32: 45, 1>}> : () -> tensor<45x1xf32>
  %0 = "ttir.typecast"(%x) <{conservative_folding = true}> : (tensor<45x96xbf16>) -> tensor<45x96xf32>
  %1 = "ttir.mean"(%0) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<45x96xf32>) -> tensor<45x1xf32>
  %2 = "ttir.broadcast"(%1) <{broadcast_dimensions = array<i64: 1, 96>}> : (tensor<45x1xf32>) -> tensor<45x96xf32>
  %3 = "ttir.subtract"(%0, %2) : (tensor<45x96xf32>, tensor<45x96xf32>) -> tensor<45x96xf32>
  %4 = "ttir.square"(%3) : (tensor<45x96xf32>) -> tensor<45x96xf32>
  %5 = "ttir.mean"(%4) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<45x96xf32>) -> tensor<45x1xf32>
  %6 = "ttir.add"(%5, %eps) : (tensor<45x1xf32>, tensor<45x1xf32>) -> tensor<45x1xf32>
  %7 = "ttir.rsqrt"(%6) : (tensor<45x1xf32>) -> tensor<45x1xf32>
  %8 = "ttir.multiply"(%3, %7) : (tensor<45x96xf32>, tensor<45x1xf32>) -> tensor<45x96xf32>
  %9 = "ttir.reshape"(%w) <{shape = [1 : i32, 96 : i32]}> : (tensor<96xf32>) -> tensor<1x96xf32>
  %10 = "ttir.broadcast"(%9) <{broadcast_dimensions = array<i64: 45, 1>}> : (tensor<1x96xf32>) -> tensor<45x96xf32>
  %11 = "ttir.multiply"(%10, %8) : (tensor<45x96xf32>, tensor<45x96xf32>) -> tensor<45x96xf32>
  %12 = "ttir.reshape"(%b) <{shape = [1 : i32, 96 : i32]}> : (tensor<96xf32>) -> tensor<1x96xf32>
  %13 = "ttir.add"(%11, %12) : (tensor<45x96xf32>, tensor<1x96xf32>) -> tensor<45x96xf32>
  %14 = "ttir.typecast"(%13) <{conservative_folding = true}> : (tensor<45x96xf32>) -> tensor<45x96xbf16>
  return %14 : tensor<45x96xbf16>
}

// The mean of another tensor is subtracted: this is no norm.
// CHECK-LABEL: func.func @other_mean(
// CHECK-NOT: layer_norm
// CHECK: return
func.func @other_mean(%x: tensor<45x96xf32>, %y: tensor<45x96xf32>, %w: tensor<96xf32>, %b: tensor<96xf32>) -> tensor<45x96xf32> {
  %eps = "ttir.full"() <{fill_value = 9.99999974E-6 : f32, shape = array<i32: 45, 1>}> : () -> tensor<45x1xf32>
  %0 = "ttir.mean"(%y) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<45x96xf32>) -> tensor<45x1xf32>
  %1 = "ttir.subtract"(%x, %0) : (tensor<45x96xf32>, tensor<45x1xf32>) -> tensor<45x96xf32>
  %2 = "ttir.multiply"(%1, %1) : (tensor<45x96xf32>, tensor<45x96xf32>) -> tensor<45x96xf32>
  %3 = "ttir.mean"(%2) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<45x96xf32>) -> tensor<45x1xf32>
  %4 = "ttir.add"(%3, %eps) : (tensor<45x1xf32>, tensor<45x1xf32>) -> tensor<45x1xf32>
  %5 = "ttir.rsqrt"(%4) : (tensor<45x1xf32>) -> tensor<45x1xf32>
  %6 = "ttir.multiply"(%1, %5) : (tensor<45x96xf32>, tensor<45x1xf32>) -> tensor<45x96xf32>
  %7 = "ttir.multiply"(%6, %w) : (tensor<45x96xf32>, tensor<96xf32>) -> tensor<45x96xf32>
  %8 = "ttir.add"(%7, %b) : (tensor<45x96xf32>, tensor<96xf32>) -> tensor<45x96xf32>
  return %8 : tensor<45x96xf32>
}

// Of a square, numbers for each row have as many as those for each column: they are no weights.
// CHECK-LABEL: func.func @weights_of_rows(
// CHECK-NOT: layer_norm
// CHECK: return
func.func @weights_of_rows(%x: tensor<40x40xf32>, %w: tensor<40xf32>, %b: tensor<40xf32>) -> tensor<40x40xf32> {
  %eps = "ttir.full"() <{fill_value = 9.99999974E-6 : f32, shape = array<i32: 40, 1>}> : () -> tensor<40x1xf32>
  %0 = "ttir.mean"(%x) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<40x40xf32>) -> tensor<40x1xf32>
  %1 = "ttir.subtract"(%x, %0) : (tensor<40x40xf32>, tensor<40x1xf32>) -> tensor<40x40xf32>
  %2 = "ttir.square"(%1) : (tensor<40x40xf32>) -> tensor<40x40xf32>
  %3 = "ttir.mean"(%2) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<40x40xf32>) -> tensor<40x1xf32>
  %4 = "ttir.add"(%3, %eps) : (tensor<40x1xf32>, tensor<40x1xf32>) -> tensor<40x1xf32>
  %5 = "ttir.rsqrt"(%4) : (tensor<40x1xf32>) -> tensor<40x1xf32>
  %6 = "ttir.multiply"(%1, %5) : (tensor<40x40xf32>, tensor<40x1xf32>) -> tensor<40x40xf32>
  %7 = "ttir.reshape"(%w) <{shape = [40 : i32, 1 : i32]}> : (tensor<40xf32>) -> tensor<40x1xf32>
  %8 = "ttir.multiply"(%6, %7) : (tensor<40x40xf32>, tensor<40x1xf32>) -> tensor<40x40xf32>
  %9 = "ttir.reshape"(%b) <{shape = [40 : i32, 1 : i32]}> : (tensor<40xf32>) -> tensor<40x1xf32>
  %10 = "ttir.add"(%8, %9) : (tensor<40x40xf32>, tensor<40x1xf32>) -> tensor<40x40xf32>
  return %10 : tensor<40x40xf32>
}

// Nor are means of rows that are subtracted from columns those of a norm.
// CHECK-LABEL: func.func @means_of_rows(
// CHECK-NOT: layer_norm
// CHECK: return
func.func @means_of_rows(%x: tensor<40x40xf32>, %w: tensor<40xf32>, %b: tensor<40xf32>) -> tensor<40x40xf32> {
  %eps = "ttir.full"() <{fill_value = 9.99999974E-6 : f32, shape = array<i32: 40>}> : () -> tensor<40xf32>
  %0 = "ttir.mean"(%x) <{dim_arg = [1 : i32], keep_dim = false}> : (tensor<40x40xf32>) -> tensor<40xf32>
  %1 = "ttir.subtract"(%x, %0) : (tensor<40x40xf32>, tensor<40xf32>) -> tensor<40x40xf32>
  %2 = "ttir.square"(%1) : (tensor<40x40xf32>) -> tensor<40x40xf32>
  %3 = "ttir.mean"(%2) <{dim_arg = [1 : i32], keep_dim = false}> : (tensor<40x40xf32>) -> tensor<40xf32>
  %4 = "ttir.add"(%3, %eps) : (tensor<40xf32>, tensor<40xf32>) -> tensor<40xf32>
  %5 = "ttir.rsqrt"(%4) : (tensor<40xf32>) -> tensor<40xf32>
  %6 = "ttir.multiply"(%1, %5) : (tensor<40x40xf32>, tensor<40xf32>) -> tensor<40x40xf32>
  %7 = "ttir.multiply"(%6, %w) : (tensor<40x40xf32>, tensor<40xf32>) -> tensor<40x40xf32>
  %8 = "ttir.add"(%7, %b) : (tensor<40x40xf32>, tensor<40xf32>) -> tensor<40x40xf32>
  return %8 : tensor<40x40xf32>
}

// What is made whole numbers between is no norm of them.
// CHECK-LABEL: func.func @rounded(
// CHECK-NOT: layer_norm
// CHECK: return
func.func @rounded(%x: tensor<45x96xi32>, %w: tensor<96xf32>, %b: tensor<96xi32>) -> tensor<45x96xi32> {
  %eps = "ttir.full"() <{fill_value = 9.99999974E-6 : f32, shape = array<i32: 45, 1>}> : () -> tensor<45x1xf32>
  %0 = "ttir.typecast"(%x) <{conservative_folding = false}> : (tensor<45x96xi32>) -> tensor<45x96xf32>
  %1 = "ttir.mean"(%0) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<45x96xf32>) -> tensor<45x1xf32>
  %2 = "ttir.subtract"(%0, %1) : (tensor<45x96xf32>, tensor<45x1xf32>) -> tensor<45x96xf32>
  %3 = "ttir.square"(%2) : (tensor<45x96xf32>) -> tensor<45x96xf32>
  %4 = "ttir.mean"(%3) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<45x96xf32>) -> tensor<45x1xf32>
  %5 = "ttir.add"(%4, %eps) : (tensor<45x1xf32>, tensor<45x1xf32>) -> tensor<45x1xf32>
  %6 = "ttir.rsqrt"(%5) : (tensor<45x1xf32>) -> tensor<45x1xf32>
  %7 = "ttir.multiply"(%2, %6) : (tensor<45x96xf32>, tensor<45x1xf32>) -> tensor<45x96xf32>
  %8 = "ttir.multiply"(%7, %w) : (tensor<45x96xf32>, tensor<96xf32>) -> tensor<45x96xf32>
  %9 = "ttir.typecast"(%8) <{conservative_folding = false}> : (tensor<45x96xf32>) -> tensor<45x96xi32>
  %10 = "ttir.add"(%9, %b) : (tensor<45x96xi32>, tensor<96xi32>) -> tensor<45x96xi32>
  return %10 : tensor<45x96xi32>
}

// The channels of a norm of batches are those of the convolution, in another place; weights are
// computed in float32.
// CHECK-LABEL: func.func @batch(
// CHECK-NOT: batch_norm
// CHECK: %[[W:.*]] = "ttir.multiply"(%{{.*}}, %{{.*}}) : (tensor<10x6x3x3xf32>, tensor<10x1x1x1xf32>) -> tensor<10x6x3x3xf32>
// CHECK: %[[N:.*]] = "ttir.typecast"(%[[W]])
// CHECK: "ttir.conv2d"(%arg0, %[[N]], %{{.*}}) {{.*}} : (tensor<2x9x11x6xbf16>, tensor<10x6x3x3xbf16>, tensor<1x1x1x10xbf16>) -> tensor<2x7x9x10xbf16>
// CHECK-NEXT: "ttir.permute"
func.func @batch(%x: tensor<2x9x11x6xbf16>, %w: tensor<10x6x3x3xbf16>, %s: tensor<10xbf16>, %o: tensor<10xbf16>, %m: tensor<10xbf16>, %v: tensor<10xbf16>) -> tensor<2x10x7x9xbf16> {
  %0 = "ttir.conv2d"(%x, %w) <{batch_dim = 0 : i64, channel_dim = 3 : i64, dilation = array<i32: 1, 1>, groups = 1 : i32, height_dim = 1 : i64, padding = array<i32: 0, 0, 0, 0>, stride = array<i32: 1, 1>, width_dim = 2 : i64}> : (tensor<2x9x11x6xbf16>, tensor<10x6x3x3xbf16>) -> tensor<2x7x9x10xbf16>
  %1 = "ttir.permute"(%0) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<2x7x9x10xbf16>) -> tensor<2x10x7x9xbf16>
  %2 = "ttir.batch_norm_inference"(%1, %s, %o, %m, %v) <{dimension = 1 : i32, epsilon = 1.0e-03 : f32}> : (tensor<2x10x7x9xbf16>, tensor<10xbf16>, tensor<10xbf16>, tensor<10xbf16>, tensor<10xbf16>) -> tensor<2x10x7x9xbf16>
  return %2 : tensor<2x10x7x9xbf16>
}

// The same in parts, in float32 between numbers of bfloat16, as JAX writes it: by numbers that are
// there before a call alone.
// CHECK-LABEL: func.func @parts(
// CHECK-NOT: "ttir.subtract"({{.*}}tensor<2x7x9x10xf32>
// CHECK: "ttir.conv2d"(%arg0, %{{.*}}, %{{.*}}) {{.*}} : (tensor<2x9x11x6xbf16>, tensor<10x6x3x3xbf16>, tensor<1x1x1x10xbf16>) -> tensor<2x7x9x10xbf16>
// CHECK-NEXT: %[[C:.*]] = "ttir.typecast"
// CHECK-NEXT: "ttir.multiply"(%[[C]], %arg7)
// CHECK-NEXT: return
func.func @parts(%x: tensor<2x9x11x6xbf16>, %w: tensor<10x6x3x3xbf16> {ttcore.argument_type = #ttcore.argument_type<parameter>}, %b: tensor<1x1x1x10xbf16> {ttcore.argument_type = #ttcore.argument_type<parameter>}, %s: tensor<10xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>}, %o: tensor<1x1x1x10xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>}, %m: tensor<10xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>}, %v: tensor<1x1x1x10xf32> {ttcore.argument_type = #ttcore.argument_type<constant>}, %gate: tensor<1x1x1x10xf32>) -> tensor<2x7x9x10xf32> {
  %0 = "ttir.conv2d"(%x, %w, %b) <{batch_dim = 0 : i64, channel_dim = 3 : i64, dilation = array<i32: 1, 1>, groups = 1 : i32, height_dim = 1 : i64, padding = array<i32: 0, 0, 0, 0>, stride = array<i32: 1, 1>, width_dim = 2 : i64}> : (tensor<2x9x11x6xbf16>, tensor<10x6x3x3xbf16>, tensor<1x1x1x10xbf16>) -> tensor<2x7x9x10xbf16>
  %1 = "ttir.typecast"(%0) <{conservative_folding = false}> : (tensor<2x7x9x10xbf16>) -> tensor<2x7x9x10xf32>
  %2 = "ttir.subtract"(%1, %m) : (tensor<2x7x9x10xf32>, tensor<10xf32>) -> tensor<2x7x9x10xf32>
  %3 = "ttir.sqrt"(%v) : (tensor<1x1x1x10xf32>) -> tensor<1x1x1x10xf32>
  %4 = "ttir.div"(%2, %3) : (tensor<2x7x9x10xf32>, tensor<1x1x1x10xf32>) -> tensor<2x7x9x10xf32>
  %5 = "ttir.reshape"(%s) <{shape = [1 : i32, 1 : i32, 1 : i32, 10 : i32]}> : (tensor<10xf32>) -> tensor<1x1x1x10xf32>
  %6 = "ttir.broadcast"(%5) <{broadcast_dimensions = array<i64: 2, 7, 9, 1>}> : (tensor<1x1x1x10xf32>) -> tensor<2x7x9x10xf32>
  %7 = "ttir.multiply"(%6, %4) : (tensor<2x7x9x10xf32>, tensor<2x7x9x10xf32>) -> tensor<2x7x9x10xf32>
  %8 = "ttir.add"(%7, %o) : (tensor<2x7x9x10xf32>, tensor<1x1x1x10xf32>) -> tensor<2x7x9x10xf32>
  %9 = "ttir.multiply"(%8, %gate) : (tensor<2x7x9x10xf32>, tensor<1x1x1x10xf32>) -> tensor<2x7x9x10xf32>
  return %9 : tensor<2x7x9x10xf32>
}

// Rows that attend to nothing are 0 after the product, and keys are transposed by it.
// CHECK-LABEL: func.func @attention(
// CHECK: %[[K:.*]] = "ttir.permute"(%arg1) <{permutation = array<i64: 0, 2, 1, 3>}>
// CHECK: %[[S:.*]] = "ttir.matmul"(%arg0, %[[K]]) <{transpose_a = false, transpose_b = true}>
// CHECK: %[[P:.*]] = "ttir.softmax"(%[[S]])
// CHECK: %[[R:.*]] = "ttir.matmul"(%[[P]], %arg2)
// CHECK: "ttir.where"(%arg3, %[[R]], %{{.*}}) : (tensor<2x1x37x1xf32>, tensor<2x4x37x64xf32>, tensor<2x4x37x64xf32>)
func.func @attention(%q: tensor<2x4x37x64xf32>, %k: tensor<2x50x4x64xf32>, %v: tensor<2x4x50x64xf32>, %c: tensor<2x1x37x1xf32>) -> tensor<2x4x37x64xf32> {
  %zero = "ttir.zeros"() <{shape = array<i32: 2, 4, 37, 50>}> : () -> tensor<2x4x37x50xf32>
  %0 = "ttir.permute"(%k) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x50x4x64xf32>) -> tensor<2x4x64x50xf32>
  %1 = "ttir.matmul"(%q, %0) <{transpose_a = false, transpose_b = false}> : (tensor<2x4x37x64xf32>, tensor<2x4x64x50xf32>) -> tensor<2x4x37x50xf32>
  %2 = "ttir.softmax"(%1) <{dimension = 3 : si32, numericStable = true}> : (tensor<2x4x37x50xf32>) -> tensor<2x4x37x50xf32>
  %3 = "ttir.where"(%c, %2, %zero) : (tensor<2x1x37x1xf32>, tensor<2x4x37x50xf32>, tensor<2x4x37x50xf32>) -> tensor<2x4x37x50xf32>
  %4 = "ttir.matmul"(%3, %v) <{transpose_a = false, transpose_b = false}> : (tensor<2x4x37x50xf32>, tensor<2x4x50x64xf32>) -> tensor<2x4x37x64xf32>
  return %4 : tensor<2x4x37x64xf32>
}

// A product with a vector has no rows to choose.
// CHECK-LABEL: func.func @vector(
// CHECK: %[[W:.*]] = "ttir.where"
// CHECK-NEXT: "ttir.matmul"(%[[W]], %arg1)
func.func @vector(%s: tensor<2x37x50xf32>, %v: tensor<50xf32>, %c: tensor<37x1xf32>) -> tensor<2x37xf32> {
  %zero = "ttir.zeros"() <{shape = array<i32: 2, 37, 50>}> : () -> tensor<2x37x50xf32>
  %0 = "ttir.softmax"(%s) <{dimension = 2 : si32, numericStable = true}> : (tensor<2x37x50xf32>) -> tensor<2x37x50xf32>
  %1 = "ttir.where"(%c, %0, %zero) : (tensor<37x1xf32>, tensor<2x37x50xf32>, tensor<2x37x50xf32>) -> tensor<2x37x50xf32>
  %2 = "ttir.matmul"(%1, %v) <{transpose_a = false, transpose_b = false}> : (tensor<2x37x50xf32>, tensor<50xf32>) -> tensor<2x37xf32>
  return %2 : tensor<2x37xf32>
}

// CHECK-LABEL: func.func @activation(
// CHECK-NEXT: %[[P:.*]] = "ttir.matmul"
// CHECK-NEXT: %[[A:.*]] = "ttir.gelu"(%[[P]]) : (tensor<74x40xf32>) -> tensor<74x40xf32>
// CHECK-NEXT: "ttir.reshape"(%[[A]])
func.func @activation(%x: tensor<74x96xf32>, %w: tensor<96x40xf32>) -> tensor<2x37x40xf32> {
  %0 = "ttir.matmul"(%x, %w) <{transpose_a = false, transpose_b = false}> : (tensor<74x96xf32>, tensor<96x40xf32>) -> tensor<74x40xf32>
  %1 = "ttir.reshape"(%0) <{shape = [2 : i32, 37 : i32, 40 : i32]}> : (tensor<74x40xf32>) -> tensor<2x37x40xf32>
  %2 = "ttir.gelu"(%1) : (tensor<2x37x40xf32>) -> tensor<2x37x40xf32>
  return %2 : tensor<2x37x40xf32>
}
