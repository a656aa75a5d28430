// General operations are taken apart; everything else stays, however it is nested.
// RUN: ttmlir-opt --ttir-decomposition %s | FileCheck %s
// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline %s | FileCheck %s --check-prefix=TTNN

#any = #tt.operand_constraint<any_device>

// CHECK-LABEL: func.func @outer(
// CHECK: %[[A:.*]] = "ttir.reshape"(%arg0, %{{.*}}) <{{.*}}shape = [33 : i32, 1 : i32]
// CHECK: %[[B:.*]] = "ttir.reshape"(%arg1, %{{.*}}) <{{.*}}shape = [1 : i32, 70 : i32]
// CHECK: %[[C:.*]] = "ttir.matmul"(%[[A]], %[[B]], %{{.*}}) {{.*}} -> tensor<33x70xf32>
// CHECK-NEXT: return %[[C]]
// TTNN-LABEL: func.func @outer(
// TTNN: "ttnn.matmul"
// TTNN-NOT: dot_general
func.func @outer(%a: tensor<33xf32>, %b: tensor<70xf32>) -> tensor<33x70xf32> {
  %0 = tensor.empty() : tensor<33x70xf32>
  %1 = "ttir.dot_general"(%a, %b, %0) <{batch_dims_lhs = array<i64>, batch_dims_rhs = array<i64>, contract_dims_lhs = array<i64>, contract_dims_rhs = array<i64>, operand_constraints = [#any, #any, #any]}> : (tensor<33xf32>, tensor<70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
  return %1 : tensor<33x70xf32>
}

// A destination with other users stays.
// CHECK-LABEL: func.func @shared_destination(
// CHECK: %[[EMPTY:.*]] = tensor.empty() : tensor<5x3xf32>
// CHECK: %[[P:.*]] = "ttir.matmul"(%arg0, %arg1, %{{.*}})
// CHECK: "ttir.exp"(%[[P]], %[[EMPTY]])
func.func @shared_destination(%a: tensor<5x7xf32>, %b: tensor<7x3xf32>) -> tensor<5x3xf32> {
  %0 = tensor.empty() : tensor<5x3xf32>
  %1 = "ttir.dot_general"(%a, %b, %0) <{batch_dims_lhs = array<i64>, batch_dims_rhs = array<i64>, contract_dims_lhs = array<i64: 1>, contract_dims_rhs = array<i64: 0>, operand_constraints = [#any, #any, #any]}> : (tensor<5x7xf32>, tensor<7x3xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>
  %2 = "ttir.exp"(%1, %0) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any, #any]}> : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>
  return %2 : tensor<5x3xf32>
}
