// Operations with a region form, and kernels, are wrapped once.
// RUN: ttmlir-opt --ttir-generic %s | FileCheck %s
// RUN: ttmlir-opt --ttir-generic --ttir-generic %s | FileCheck %s
// RUN: ttmlir-opt --ttir-generic=elementwise=true %s | FileCheck %s --check-prefix=ALL
// RUN: ttmlir-opt --ttir-generic-kernel %s | FileCheck %s --check-prefix=KERNEL

#tile = #tt.operand_constraint<any_device_tile>

// CHECK-DAG: #[[ID2:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[ID3:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// CHECK-LABEL: func.func @sum_of_three(
// CHECK: "ttir.generic"({{.*}}indexing_maps = [#[[ID3]], #[[ID3]], #[[ID3]], #[[ID3]]], iterator_types = [#parallel, #parallel, #parallel]
// CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<2x5x7xf32>, %[[B:.*]]: tensor<2x5x7xf32>, %[[C:.*]]: tensor<2x5x7xf32>, %{{.*}}: tensor<2x5x7xf32>):
// CHECK-NEXT: %[[AB:.*]] = arith.addf %[[A]], %[[B]]
// CHECK-NEXT: %[[ABC:.*]] = arith.addf %[[AB]], %[[C]]
// CHECK-NEXT: "ttir.yield"(%[[ABC]])
func.func @sum_of_three(%a: tensor<2x5x7xf32>, %b: tensor<2x5x7xf32>, %c: tensor<2x5x7xf32>) -> tensor<2x5x7xf32> {
  %0 = tensor.empty() : tensor<2x5x7xf32>
  %1 = "ttir.add"(%a, %b, %c, %0) <{operandSegmentSizes = array<i32: 3, 1>, operand_constraints = [#tile, #tile, #tile, #tile]}> : (tensor<2x5x7xf32>, tensor<2x5x7xf32>, tensor<2x5x7xf32>, tensor<2x5x7xf32>) -> tensor<2x5x7xf32>
  return %1 : tensor<2x5x7xf32>
}

// Integers are multiplied as integers.
// CHECK-LABEL: func.func @integers(
// CHECK: arith.muli
// KERNEL-LABEL: func.func @integers(
// KERNEL: "ttir.kernel"{{.*}}kind = @eltwise, op = @multiply
func.func @integers(%a: tensor<5x7xi32>) -> tensor<5x7xi32> {
  %0 = tensor.empty() : tensor<5x7xi32>
  %1 = "ttir.multiply"(%a, %a, %0) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#tile, #tile, #tile]}> : (tensor<5x7xi32>, tensor<5x7xi32>, tensor<5x7xi32>) -> tensor<5x7xi32>
  return %1 : tensor<5x7xi32>
}

// Operands that broadcast, and operations without a region form, stay.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: "ttir.generic"
// CHECK: "ttir.add"
// CHECK: "ttir.exp"
// KERNEL-LABEL: func.func @others(
// KERNEL: "ttir.exp"
// A row is spread before the sum; what is no sum or product stands in the body as it is.
// ALL-LABEL: func.func @others(
// ALL: %[[ROW:.*]] = "ttir.generic"(%arg1, %{{.*}}) <{grid = #tt.grid<1x1>, indexing_maps = [#[[FIRST:.*]], #[[ID:.*]]], iterator_types
// ALL-NEXT: ^bb0(%[[B:.*]]: tensor<1x7xf32>, %[[OUT:.*]]: tensor<5x7xf32>):
// ALL-NEXT: "ttir.typecast"(%[[B]], %[[OUT]])
// ALL: "ttir.generic"(%arg0, %[[ROW]],
// ALL: arith.addf
// ALL: "ttir.generic"
// ALL-NEXT: ^bb0(%[[X:.*]]: tensor<5x7xf32>, %[[Y:.*]]: tensor<5x7xf32>):
// ALL-NEXT: %[[EXP:.*]] = "ttir.exp"(%[[X]], %[[Y]])
// ALL-NEXT: "ttir.yield"(%[[EXP]])
func.func @others(%a: tensor<5x7xf32>, %b: tensor<1x7xf32>) -> tensor<5x7xf32> {
  %0 = tensor.empty() : tensor<5x7xf32>
  %1 = "ttir.add"(%a, %b, %0) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#tile, #tile, #tile]}> : (tensor<5x7xf32>, tensor<1x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %2 = tensor.empty() : tensor<5x7xf32>
  %3 = "ttir.exp"(%1, %2) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#tile, #tile]}> : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  return %3 : tensor<5x7xf32>
}

// The kernel of a product runs over rows, columns and what is summed up.
// KERNEL-LABEL: func.func @product(
// KERNEL: "ttir.generic"({{.*}}indexing_maps = [#[[LHS:.*]], #[[RHS:.*]], #[[OUT:.*]]], iterator_types = [#parallel, #parallel, #parallel, #systolic], {{.*}}operand_constraints = [#any_device_tile, #any_device_tile, #any_device_tile]
// KERNEL: "ttir.kernel"(%{{.*}}kind = @matmul, op = @matmul
func.func @product(%a: tensor<2x5x7xf32>, %b: tensor<2x7x9xf32>) -> tensor<2x5x9xf32> {
  %0 = tensor.empty() : tensor<2x5x9xf32>
  %1 = "ttir.kernel"(%a, %b, %0) <{kind = @matmul, op = @matmul, operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#tile, #tile, #tile]}> : (tensor<2x5x7xf32>, tensor<2x7x9xf32>, tensor<2x5x9xf32>) -> tensor<2x5x9xf32>
  return %1 : tensor<2x5x9xf32>
}

// A constant is a number in the body; rows of integers are copied; broadcasts that nobody needs go.
// ALL-LABEL: func.func @operands(
// ALL-NOT: "ttir.constant"
// ALL: %[[ALL:.*]] = "ttir.broadcast"(%arg1, %{{.*}}) <{dimension = [1, 2], {{.*}}tensor<2x5x7xi32>
// ALL-NOT: "ttir.broadcast"
// ALL: "ttir.generic"(%arg0, %[[ALL]],
// ALL: "ttir.subtract"
// ALL: "ttir.generic"
// ALL: %[[C:.*]] = "ttir.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
// ALL-NEXT: "ttir.maximum"(%{{.*}}, %[[C]],
func.func @operands(%a: tensor<2x5x7xi32>, %b: tensor<5x1xi32>) -> tensor<2x5x7xi32> {
  %c = "ttir.constant"() <{value = dense<3> : tensor<2x5x7xi32>}> : () -> tensor<2x5x7xi32>
  %0 = tensor.empty() : tensor<2x5x7xi32>
  %1 = "ttir.broadcast"(%b, %0) <{dimension = [1, 2], operand_constraints = [#tile, #tile]}> : (tensor<5x1xi32>, tensor<2x5x7xi32>) -> tensor<2x5x7xi32>
  %2 = tensor.empty() : tensor<2x5x7xi32>
  %3 = "ttir.subtract"(%a, %1, %2) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#tile, #tile, #tile]}> : (tensor<2x5x7xi32>, tensor<2x5x7xi32>, tensor<2x5x7xi32>) -> tensor<2x5x7xi32>
  %4 = tensor.empty() : tensor<2x5x7xi32>
  %5 = "ttir.maximum"(%3, %c, %4) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#tile, #tile, #tile]}> : (tensor<2x5x7xi32>, tensor<2x5x7xi32>, tensor<2x5x7xi32>) -> tensor<2x5x7xi32>
  return %5 : tensor<2x5x7xi32>
}

// Tensors whose extents are not known stay, for the passes that refuse them by name.
// ALL-LABEL: func.func @unknown_extents(
// ALL-NOT: "ttir.generic"
// ALL: "ttir.abs"
func.func @unknown_extents(%a: tensor<?x7xf32>, %b: tensor<?x7xf32>) -> tensor<?x7xf32> {
  %0 = "ttir.abs"(%a, %b) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#tile, #tile]}> : (tensor<?x7xf32>, tensor<?x7xf32>) -> tensor<?x7xf32>
  return %0 : tensor<?x7xf32>
}
