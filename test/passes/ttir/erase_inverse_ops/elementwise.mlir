// Moves change places with elementwise operations. What is expected is what the pass of Tenstorrent's compiler
// (jax-tt-plugin 0.1.3) makes of the functions.

// RUN: ttmlir-opt --ttir-erase-inverse-ops="force=true" %s | FileCheck %s

// CHECK-LABEL: func.func @one_operand_moved
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.permute"(%arg1) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<2x4x5x3xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.add"(%arg0, [[V0]]) : (tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT: return [[V1]] : tensor<2x3x4x5xf32>
func.func @one_operand_moved(%arg0: tensor<2x3x4x5xf32>, %arg1: tensor<2x4x5x3xf32>) -> tensor<2x3x4x5xf32> {
  %0 = "ttir.permute"(%arg0) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %1 = "ttir.add"(%0, %arg1) : (tensor<2x4x5x3xf32>, tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32>
  %2 = "ttir.permute"(%1) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<2x4x5x3xf32>) -> tensor<2x3x4x5xf32>
  return %2 : tensor<2x3x4x5xf32>
}

// CHECK-LABEL: func.func @reshapes_around_repeated
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.reshape"(%arg1) <{shape = [1 : i32, 3 : i32, 4 : i32, 1 : i32]}> : (tensor<3x4xf32>) -> tensor<1x3x4x1xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.broadcast"([[V0]]) <{broadcast_dimensions = array<i64: 2, 1, 1, 5>}> : (tensor<1x3x4x1xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT: [[V2:%[0-9]+]] = "ttir.reshape"([[V1]]) <{shape = [6 : i32, 20 : i32]}> : (tensor<2x3x4x5xf32>) -> tensor<6x20xf32>
// CHECK-NEXT: [[V3:%[0-9]+]] = "ttir.add"(%arg0, [[V2]]) : (tensor<6x20xf32>, tensor<6x20xf32>) -> tensor<6x20xf32>
// CHECK-NEXT: return [[V3]] : tensor<6x20xf32>
func.func @reshapes_around_repeated(%arg0: tensor<6x20xf32>, %arg1: tensor<3x4xf32>) -> tensor<6x20xf32> {
  %0 = "ttir.reshape"(%arg0) <{shape = [2 : i32, 3 : i32, 4 : i32, 5 : i32]}> : (tensor<6x20xf32>) -> tensor<2x3x4x5xf32>
  %1 = "ttir.reshape"(%arg1) <{shape = [1 : i32, 3 : i32, 4 : i32, 1 : i32]}> : (tensor<3x4xf32>) -> tensor<1x3x4x1xf32>
  %2 = "ttir.broadcast"(%1) <{broadcast_dimensions = array<i64: 2, 1, 1, 5>}> : (tensor<1x3x4x1xf32>) -> tensor<2x3x4x5xf32>
  %3 = "ttir.add"(%0, %2) : (tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  %4 = "ttir.reshape"(%3) <{shape = [6 : i32, 20 : i32]}> : (tensor<2x3x4x5xf32>) -> tensor<6x20xf32>
  return %4 : tensor<6x20xf32>
}

// CHECK-LABEL: func.func @operands_moved_and_back
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.add"(%arg0, %arg1) : (tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x3x4x5xf32>
func.func @operands_moved_and_back(%arg0: tensor<2x3x4x5xf32>, %arg1: tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> {
  %0 = "ttir.permute"(%arg0) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %1 = "ttir.permute"(%arg1) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %2 = "ttir.add"(%0, %1) : (tensor<2x4x5x3xf32>, tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32>
  %3 = "ttir.permute"(%2) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<2x4x5x3xf32>) -> tensor<2x3x4x5xf32>
  return %3 : tensor<2x3x4x5xf32>
}

// CHECK-LABEL: func.func @operands_moved_alike
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.add"(%arg0, %arg1) : (tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.permute"([[V0]]) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
// CHECK-NEXT: return [[V1]] : tensor<2x4x5x3xf32>
func.func @operands_moved_alike(%arg0: tensor<2x3x4x5xf32>, %arg1: tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32> {
  %0 = "ttir.permute"(%arg0) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %1 = "ttir.permute"(%arg1) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %2 = "ttir.add"(%0, %1) : (tensor<2x4x5x3xf32>, tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32>
  return %2 : tensor<2x4x5x3xf32>
}

// CHECK-LABEL: func.func @only_one_moved
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.permute"(%arg0) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.add"([[V0]], %arg1) : (tensor<2x4x5x3xf32>, tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32>
// CHECK-NEXT: return [[V1]] : tensor<2x4x5x3xf32>
func.func @only_one_moved(%arg0: tensor<2x3x4x5xf32>, %arg1: tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32> {
  %0 = "ttir.permute"(%arg0) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %1 = "ttir.add"(%0, %arg1) : (tensor<2x4x5x3xf32>, tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32>
  return %1 : tensor<2x4x5x3xf32>
}

// CHECK-LABEL: func.func @permute_beside_constant
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.full"() <{fill_value = 2.500000e+00 : f32, shape = array<i32: 2, 3, 4, 5>}> : () -> tensor<2x3x4x5xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.add"(%arg0, [[V0]]) : (tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT: [[V2:%[0-9]+]] = "ttir.permute"([[V1]]) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
// CHECK-NEXT: return [[V2]] : tensor<2x4x5x3xf32>
func.func @permute_beside_constant(%arg0: tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32> {
  %0 = "ttir.full"() <{fill_value = 2.500000e+00 : f32, shape = array<i32: 2, 4, 5, 3>}> : () -> tensor<2x4x5x3xf32>
  %1 = "ttir.permute"(%arg0) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %2 = "ttir.add"(%1, %0) : (tensor<2x4x5x3xf32>, tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32>
  return %2 : tensor<2x4x5x3xf32>
}

// CHECK-LABEL: func.func @reshape_beside_constant
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.full"() <{fill_value = 2.500000e+00 : f32, shape = array<i32: 2, 3, 4, 5>}> : () -> tensor<2x3x4x5xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.add"(%arg0, [[V0]]) : (tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT: [[V2:%[0-9]+]] = "ttir.reshape"([[V1]]) <{shape = [6 : i32, 20 : i32]}> : (tensor<2x3x4x5xf32>) -> tensor<6x20xf32>
// CHECK-NEXT: return [[V2]] : tensor<6x20xf32>
func.func @reshape_beside_constant(%arg0: tensor<2x3x4x5xf32>) -> tensor<6x20xf32> {
  %0 = "ttir.full"() <{fill_value = 2.500000e+00 : f32, shape = array<i32: 6, 20>}> : () -> tensor<6x20xf32>
  %1 = "ttir.reshape"(%arg0) <{shape = [6 : i32, 20 : i32]}> : (tensor<2x3x4x5xf32>) -> tensor<6x20xf32>
  %2 = "ttir.add"(%1, %0) : (tensor<6x20xf32>, tensor<6x20xf32>) -> tensor<6x20xf32>
  return %2 : tensor<6x20xf32>
}

// CHECK-LABEL: func.func @permute_above_repeated
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.reshape"(%arg1) <{shape = [1 : i32, 1 : i32, 1 : i32, 5 : i32]}> : (tensor<5xf32>) -> tensor<1x1x1x5xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.permute"([[V0]]) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<1x1x1x5xf32>) -> tensor<1x1x5x1xf32>
// CHECK-NEXT: [[V2:%[0-9]+]] = "ttir.broadcast"([[V1]]) <{broadcast_dimensions = array<i64: 2, 4, 1, 3>}> : (tensor<1x1x5x1xf32>) -> tensor<2x4x5x3xf32>
// CHECK-NEXT: [[V3:%[0-9]+]] = "ttir.permute"(%arg0) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
// CHECK-NEXT: [[V4:%[0-9]+]] = "ttir.add"([[V3]], [[V2]]) : (tensor<2x4x5x3xf32>, tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32>
// CHECK-NEXT: return [[V4]] : tensor<2x4x5x3xf32>
func.func @permute_above_repeated(%arg0: tensor<2x3x4x5xf32>, %arg1: tensor<5xf32>) -> tensor<2x4x5x3xf32> {
  %0 = "ttir.reshape"(%arg1) <{shape = [1 : i32, 1 : i32, 1 : i32, 5 : i32]}> : (tensor<5xf32>) -> tensor<1x1x1x5xf32>
  %1 = "ttir.broadcast"(%0) <{broadcast_dimensions = array<i64: 2, 3, 4, 1>}> : (tensor<1x1x1x5xf32>) -> tensor<2x3x4x5xf32>
  %2 = "ttir.add"(%arg0, %1) : (tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  %3 = "ttir.permute"(%2) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  return %3 : tensor<2x4x5x3xf32>
}

// CHECK-LABEL: func.func @permutes_around_repeated
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.reshape"(%arg1) <{shape = [1 : i32, 1 : i32, 1 : i32, 3 : i32]}> : (tensor<3xf32>) -> tensor<1x1x1x3xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.permute"([[V0]]) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<1x1x1x3xf32>) -> tensor<1x3x1x1xf32>
// CHECK-NEXT: [[V2:%[0-9]+]] = "ttir.broadcast"([[V1]]) <{broadcast_dimensions = array<i64: 2, 1, 4, 5>}> : (tensor<1x3x1x1xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT: [[V3:%[0-9]+]] = "ttir.add"(%arg0, [[V2]]) : (tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT: return [[V3]] : tensor<2x3x4x5xf32>
func.func @permutes_around_repeated(%arg0: tensor<2x3x4x5xf32>, %arg1: tensor<3xf32>) -> tensor<2x3x4x5xf32> {
  %0 = "ttir.permute"(%arg0) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %1 = "ttir.reshape"(%arg1) <{shape = [1 : i32, 1 : i32, 1 : i32, 3 : i32]}> : (tensor<3xf32>) -> tensor<1x1x1x3xf32>
  %2 = "ttir.broadcast"(%1) <{broadcast_dimensions = array<i64: 2, 4, 5, 1>}> : (tensor<1x1x1x3xf32>) -> tensor<2x4x5x3xf32>
  %3 = "ttir.add"(%0, %2) : (tensor<2x4x5x3xf32>, tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32>
  %4 = "ttir.permute"(%3) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<2x4x5x3xf32>) -> tensor<2x3x4x5xf32>
  return %4 : tensor<2x3x4x5xf32>
}

// CHECK-LABEL: func.func @reshapes_meet_first
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.exp"(%arg0) : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.exp"([[V0]]) : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT: [[V2:%[0-9]+]] = "ttir.permute"([[V1]]) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
// CHECK-NEXT: return [[V2]] : tensor<2x4x5x3xf32>
func.func @reshapes_meet_first(%arg0: tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32> {
  %0 = "ttir.permute"(%arg0) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %1 = "ttir.reshape"(%0) <{shape = [2 : i32, 20 : i32, 3 : i32]}> : (tensor<2x4x5x3xf32>) -> tensor<2x20x3xf32>
  %2 = "ttir.exp"(%1) : (tensor<2x20x3xf32>) -> tensor<2x20x3xf32>
  %3 = "ttir.exp"(%2) : (tensor<2x20x3xf32>) -> tensor<2x20x3xf32>
  %4 = "ttir.reshape"(%3) <{shape = [2 : i32, 4 : i32, 5 : i32, 3 : i32]}> : (tensor<2x20x3xf32>) -> tensor<2x4x5x3xf32>
  return %4 : tensor<2x4x5x3xf32>
}

// CHECK-LABEL: func.func @permute_below_unary
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.exp"(%arg0) : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.permute"([[V0]]) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
// CHECK-NEXT: return [[V1]] : tensor<2x4x5x3xf32>
func.func @permute_below_unary(%arg0: tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32> {
  %0 = "ttir.exp"(%arg0) : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  %1 = "ttir.permute"(%0) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  return %1 : tensor<2x4x5x3xf32>
}

// CHECK-LABEL: func.func @permutes_around_unary
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.exp"(%arg0) : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x3x4x5xf32>
func.func @permutes_around_unary(%arg0: tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> {
  %0 = "ttir.permute"(%arg0) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %1 = "ttir.exp"(%0) : (tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32>
  %2 = "ttir.permute"(%1) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<2x4x5x3xf32>) -> tensor<2x3x4x5xf32>
  return %2 : tensor<2x3x4x5xf32>
}

// CHECK-LABEL: func.func @through_two_unaries
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.exp"(%arg0) : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.exp"([[V0]]) : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT: [[V2:%[0-9]+]] = "ttir.permute"([[V1]]) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
// CHECK-NEXT: return [[V2]] : tensor<2x4x5x3xf32>
func.func @through_two_unaries(%arg0: tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32> {
  %0 = "ttir.permute"(%arg0) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %1 = "ttir.exp"(%0) : (tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32>
  %2 = "ttir.exp"(%1) : (tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32>
  return %2 : tensor<2x4x5x3xf32>
}

// CHECK-LABEL: func.func @result_is_used
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.exp"(%arg0) : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.permute"([[V0]]) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
// CHECK-NEXT: return [[V0]], [[V1]] : tensor<2x3x4x5xf32>, tensor<2x4x5x3xf32>
func.func @result_is_used(%arg0: tensor<2x3x4x5xf32>) -> (tensor<2x3x4x5xf32>, tensor<2x4x5x3xf32>) {
  %0 = "ttir.permute"(%arg0) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %1 = "ttir.exp"(%0) : (tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32>
  %2 = "ttir.permute"(%1) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<2x4x5x3xf32>) -> tensor<2x3x4x5xf32>
  return %2, %1 : tensor<2x3x4x5xf32>, tensor<2x4x5x3xf32>
}

// CHECK-LABEL: func.func @other_users
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.exp"(%arg0) : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.permute"([[V0]]) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
// CHECK-NEXT: [[V2:%[0-9]+]] = "ttir.neg"([[V0]]) : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT: return [[V1]], [[V2]] : tensor<2x4x5x3xf32>, tensor<2x3x4x5xf32>
func.func @other_users(%arg0: tensor<2x3x4x5xf32>) -> (tensor<2x4x5x3xf32>, tensor<2x3x4x5xf32>) {
  %0 = "ttir.exp"(%arg0) : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  %1 = "ttir.permute"(%0) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %2 = "ttir.neg"(%0) : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  return %1, %2 : tensor<2x4x5x3xf32>, tensor<2x3x4x5xf32>
}

// CHECK-LABEL: func.func @reshapes_around_unary
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.exp"(%arg0) : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT: return [[V0]] : tensor<2x3x4x5xf32>
func.func @reshapes_around_unary(%arg0: tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> {
  %0 = "ttir.reshape"(%arg0) <{shape = [6 : i32, 20 : i32]}> : (tensor<2x3x4x5xf32>) -> tensor<6x20xf32>
  %1 = "ttir.exp"(%0) : (tensor<6x20xf32>) -> tensor<6x20xf32>
  %2 = "ttir.reshape"(%1) <{shape = [2 : i32, 3 : i32, 4 : i32, 5 : i32]}> : (tensor<6x20xf32>) -> tensor<2x3x4x5xf32>
  return %2 : tensor<2x3x4x5xf32>
}

// CHECK-LABEL: func.func @select_stays
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.permute"(%arg0) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.permute"(%arg1) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
// CHECK-NEXT: [[V2:%[0-9]+]] = "ttir.gt"(%arg0, %arg2) : (tensor<2x3x4x5xf32>, tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xbf16>
// CHECK-NEXT: [[V3:%[0-9]+]] = "ttir.permute"([[V2]]) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xbf16>) -> tensor<2x4x5x3xbf16>
// CHECK-NEXT: [[V4:%[0-9]+]] = "ttir.where"([[V3]], [[V0]], [[V1]]) : (tensor<2x4x5x3xbf16>, tensor<2x4x5x3xf32>, tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32>
// CHECK-NEXT: [[V5:%[0-9]+]] = "ttir.permute"([[V4]]) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<2x4x5x3xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT: return [[V5]] : tensor<2x3x4x5xf32>
func.func @select_stays(%arg0: tensor<2x3x4x5xf32>, %arg1: tensor<2x3x4x5xf32>, %arg2: tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32> {
  %0 = "ttir.permute"(%arg0) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %1 = "ttir.permute"(%arg1) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %2 = "ttir.permute"(%arg2) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %3 = "ttir.gt"(%0, %2) : (tensor<2x4x5x3xf32>, tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xbf16>
  %4 = "ttir.where"(%3, %0, %1) : (tensor<2x4x5x3xbf16>, tensor<2x4x5x3xf32>, tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32>
  %5 = "ttir.permute"(%4) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<2x4x5x3xf32>) -> tensor<2x3x4x5xf32>
  return %5 : tensor<2x3x4x5xf32>
}

// CHECK-LABEL: func.func @operand_is_used
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.permute"(%arg0) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.exp"([[V0]]) : (tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32>
// CHECK-NEXT: return [[V1]], [[V0]] : tensor<2x4x5x3xf32>, tensor<2x4x5x3xf32>
func.func @operand_is_used(%arg0: tensor<2x3x4x5xf32>) -> (tensor<2x4x5x3xf32>, tensor<2x4x5x3xf32>) {
  %0 = "ttir.permute"(%arg0) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %1 = "ttir.exp"(%0) : (tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32>
  return %1, %0 : tensor<2x4x5x3xf32>, tensor<2x4x5x3xf32>
}

// CHECK-LABEL: func.func @operand_is_used_twice
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.permute"(%arg0) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.exp"([[V0]]) : (tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32>
// CHECK-NEXT: [[V2:%[0-9]+]] = "ttir.neg"([[V0]]) : (tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32>
// CHECK-NEXT: return [[V1]], [[V2]] : tensor<2x4x5x3xf32>, tensor<2x4x5x3xf32>
func.func @operand_is_used_twice(%arg0: tensor<2x3x4x5xf32>) -> (tensor<2x4x5x3xf32>, tensor<2x4x5x3xf32>) {
  %0 = "ttir.permute"(%arg0) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %1 = "ttir.exp"(%0) : (tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32>
  %2 = "ttir.neg"(%0) : (tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32>
  return %1, %2 : tensor<2x4x5x3xf32>, tensor<2x4x5x3xf32>
}

// CHECK-LABEL: func.func @two_moves_of_result
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.exp"(%arg0) : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.permute"([[V0]]) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
// CHECK-NEXT: [[V2:%[0-9]+]] = "ttir.permute"([[V0]]) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<2x3x4x5xf32>) -> tensor<2x5x3x4xf32>
// CHECK-NEXT: return [[V1]], [[V2]] : tensor<2x4x5x3xf32>, tensor<2x5x3x4xf32>
func.func @two_moves_of_result(%arg0: tensor<2x3x4x5xf32>) -> (tensor<2x4x5x3xf32>, tensor<2x5x3x4xf32>) {
  %0 = "ttir.exp"(%arg0) : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  %1 = "ttir.permute"(%0) <{permutation = array<i64: 0, 2, 3, 1>}> : (tensor<2x3x4x5xf32>) -> tensor<2x4x5x3xf32>
  %2 = "ttir.permute"(%0) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<2x3x4x5xf32>) -> tensor<2x5x3x4xf32>
  return %1, %2 : tensor<2x4x5x3xf32>, tensor<2x5x3x4xf32>
}

// CHECK-LABEL: func.func @one_move_of_two_users
// CHECK-NEXT: [[V0:%[0-9]+]] = "ttir.exp"(%arg0) : (tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
// CHECK-NEXT: [[V1:%[0-9]+]] = "ttir.reshape"([[V0]]) <{shape = [6 : i32, 20 : i32]}> : (tensor<2x3x4x5xf32>) -> tensor<6x20xf32>
// CHECK-NEXT: [[V2:%[0-9]+]] = "ttir.exp"([[V1]]) : (tensor<6x20xf32>) -> tensor<6x20xf32>
// CHECK-NEXT: [[V3:%[0-9]+]] = "ttir.neg"([[V1]]) : (tensor<6x20xf32>) -> tensor<6x20xf32>
// CHECK-NEXT: return [[V2]], [[V3]] : tensor<6x20xf32>, tensor<6x20xf32>
func.func @one_move_of_two_users(%arg0: tensor<2x3x4x5xf32>) -> (tensor<6x20xf32>, tensor<6x20xf32>) {
  %0 = "ttir.reshape"(%arg0) <{shape = [6 : i32, 20 : i32]}> : (tensor<2x3x4x5xf32>) -> tensor<6x20xf32>
  %1 = "ttir.exp"(%0) : (tensor<6x20xf32>) -> tensor<6x20xf32>
  %2 = "ttir.exp"(%1) : (tensor<6x20xf32>) -> tensor<6x20xf32>
  %3 = "ttir.neg"(%1) : (tensor<6x20xf32>) -> tensor<6x20xf32>
  return %2, %3 : tensor<6x20xf32>, tensor<6x20xf32>
}
