// RUN: ttmlir-opt --ttir-to-d2m %s -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -

// What the loops over tiles look like; test_ttir_to_d2m.py runs them.

#any = #tt.operand_constraint<any_device>

// CHECK-DAG: #[[ID:map[0-9]*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[SWAP:map[0-9]*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-DAG: #[[BELOW:map[0-9]*]] = affine_map<(d0, d1) -> (d0 + 2, d1)>
// CHECK-DAG: #[[WHOLE:map[0-9]*]] = affine_map<(d0, d1) -> (0, d1)>
// CHECK-DAG: #[[ROWS:map[0-9]*]] = affine_map<(d0, d1) -> (d0, 0)>
// CHECK-DAG: #[[LHS:map[0-9]*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[RHS:map[0-9]*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[OUT:map[0-9]*]] = affine_map<(d0, d1, d2) -> (d0, d1)>

// CHECK-LABEL: func.func @matmul
func.func @matmul(%a: tensor<33x70xbf16>, %b: tensor<70x5xbf16>) -> tensor<33x5xbf16> {
  %0 = tensor.empty() : tensor<33x5xbf16>
  // CHECK: d2m.generic {block_factors = [1, 1, 1], d2m.reference = {{.*}}, grid = #ttcore.grid<1x1>, indexing_maps = [#[[LHS]], #[[RHS]], #[[OUT]]], iterator_types = [#parallel, #parallel, #reduction]
  // CHECK: linalg.generic {indexing_maps = [#[[LHS]], #[[RHS]], #[[OUT]]], iterator_types = ["parallel", "parallel", "reduction"]}
  // CHECK: %[[M:.*]] = linalg.index 0 : index
  // CHECK: %[[K:.*]] = linalg.index 2 : index
  // CHECK: %[[A:.*]] = "d2m.tile_mask"(%{{.*}}, %[[M]], %[[K]]) <{valid = array<i64: 64, 70>, value = 0.000000e+00 : f32}>
  // CHECK: %[[B:.*]] = "d2m.tile_mask"({{.*}}) <{valid = array<i64: 70, 32>, value = 0.000000e+00 : f32}>
  // CHECK: "d2m.tile_matmul"(%[[A]], %[[B]], %out)
  %1 = "ttir.matmul"(%a, %b, %0) <{operand_constraints = [#any, #any, #any]}> : (tensor<33x70xbf16>, tensor<70x5xbf16>, tensor<33x5xbf16>) -> tensor<33x5xbf16>
  return %1 : tensor<33x5xbf16>
}

// CHECK-LABEL: func.func @max
func.func @max(%a: tensor<64x70xf32>) -> tensor<64x1xf32> {
  %0 = tensor.empty() : tensor<64x1xf32>
  // CHECK: linalg.generic {indexing_maps = [#[[ID]], #[[ROWS]]], iterator_types = ["parallel", "reduction"]}
  // CHECK: %[[MASKED:.*]] = "d2m.tile_mask"({{.*}}) <{valid = array<i64: 64, 70>, value = 0xFF800000 : f32}>
  // CHECK: %[[ONE:.*]] = "d2m.tile_fill"() <{value = 1.000000e+00 : f32}>
  // CHECK: "d2m.tile_reduce_max"(%[[MASKED]], %[[ONE]], %out) <{reduce_dim = #d2m<reduce_dim R>}>
  %1 = "ttir.max"(%a, %0) <{dim_arg = [1 : i32], keep_dim = true, operand_constraints = [#any, #any]}> : (tensor<64x70xf32>, tensor<64x1xf32>) -> tensor<64x1xf32>
  return %1 : tensor<64x1xf32>
}

// CHECK-LABEL: func.func @transpose
func.func @transpose(%a: tensor<33x70xf32>) -> tensor<70x33xf32> {
  %0 = tensor.empty() : tensor<70x33xf32>
  // CHECK: linalg.generic {indexing_maps = [#[[SWAP]], #[[ID]]]
  // CHECK: "d2m.tile_transpose"(%in)
  %1 = "ttir.transpose"(%a, %0) <{dim0 = 0 : si32, dim1 = 1 : si32, operand_constraints = [#any, #any]}> : (tensor<33x70xf32>, tensor<70x33xf32>) -> tensor<70x33xf32>
  return %1 : tensor<70x33xf32>
}

// CHECK-LABEL: func.func @concat
func.func @concat(%a: tensor<64x5xi32>, %b: tensor<33x5xi32>) -> tensor<97x5xi32> {
  %0 = tensor.empty() : tensor<97x5xi32>
  // CHECK: %[[FIRST:.*]] = d2m.generic
  // CHECK: d2m.generic {block_factors = [1, 1], d2m.reference = {{.*}}, grid = #ttcore.grid<1x1>, indexing_maps = [#[[ID]], #[[WHOLE]]]
  // CHECK: outs(%[[FIRST]] :
  // CHECK: linalg.generic {indexing_maps = [#[[ID]], #[[BELOW]]]
  %1 = "ttir.concat"(%a, %b, %0) <{dim = 0 : si32, operand_constraints = [#any, #any, #any]}> : (tensor<64x5xi32>, tensor<33x5xi32>, tensor<97x5xi32>) -> tensor<97x5xi32>
  return %1 : tensor<97x5xi32>
}

// CHECK-LABEL: func.func @short
func.func @short(%a: tensor<5x7xi8>) -> tensor<5x7xi1> {
  %0 = tensor.empty() : tensor<5x7xi1>
  // CHECK: %[[X:.*]] = "d2m.tile_typecast"(%in) <{source = i8}> : (!ttcore.tile<32x32, u8>) -> !ttcore.tile<32x32, si32>
  // CHECK: "d2m.tile_ge"(%[[X]], %{{.*}}) : ({{.*}}) -> !ttcore.tile<32x32, si32>
  // CHECK: "d2m.tile_typecast"(%{{.*}}) <{target = i1}> : (!ttcore.tile<32x32, si32>) -> !ttcore.tile<32x32, bf16>
  %1 = "ttir.ge"(%a, %a, %0) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any, #any, #any]}> : (tensor<5x7xi8>, tensor<5x7xi8>, tensor<5x7xi1>) -> tensor<5x7xi1>
  return %1 : tensor<5x7xi1>
}
