// Canonical forms of ttir operations.
// RUN: ttmlir-opt --canonicalize %s | FileCheck %s

#any = #tt.operand_constraint<any_device>

// Orders of dimensions are composed.
// CHECK-LABEL: func.func @orders(
// CHECK-NEXT: tensor.empty() : tensor<5x3x2xf32>
// CHECK-NEXT: %[[R:.*]] = "ttir.transpose"(%arg0, %{{.*}}) <{dim0 = 0 : si32, dim1 = 2 : si32, operand_constraints = [#any_device, #any_device]}>
// CHECK-NEXT: return %[[R]], %arg0
func.func @orders(%a: tensor<2x3x5xf32>) -> (tensor<5x3x2xf32>, tensor<2x3x5xf32>) {
  %0 = tensor.empty() : tensor<3x2x5xf32>
  %1 = "ttir.transpose"(%a, %0) <{dim0 = 0 : si32, dim1 = -2 : si32, operand_constraints = [#any, #any]}> : (tensor<2x3x5xf32>, tensor<3x2x5xf32>) -> tensor<3x2x5xf32>
  %2 = tensor.empty() : tensor<5x3x2xf32>
  %3 = "ttir.permute"(%1, %2) <{permutation = array<i64: 2, 0, 1>, operand_constraints = [#any, #any]}> : (tensor<3x2x5xf32>, tensor<5x3x2xf32>) -> tensor<5x3x2xf32>
  %4 = tensor.empty() : tensor<2x3x5xf32>
  %5 = "ttir.transpose"(%1, %4) <{dim0 = 1 : si32, dim1 = 0 : si32, operand_constraints = [#any, #any]}> : (tensor<3x2x5xf32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  return %3, %5 : tensor<5x3x2xf32>, tensor<2x3x5xf32>
}

// Reshapes of all kinds are one.
// CHECK-LABEL: func.func @shapes(
// CHECK-NEXT: tensor.empty() : tensor<15xf32>
// CHECK-NEXT: %[[R:.*]] = "ttir.reshape"(%arg0, %{{.*}}) <{{.*}}shape = [15 : i32]
// CHECK-NEXT: return %[[R]], %arg0
func.func @shapes(%a: tensor<3x5xf32>) -> (tensor<15xf32>, tensor<3x5xf32>) {
  %0 = tensor.empty() : tensor<3x1x5xf32>
  %1 = "ttir.unsqueeze"(%a, %0) <{dim = 1 : si32, operand_constraints = [#any, #any]}> : (tensor<3x5xf32>, tensor<3x1x5xf32>) -> tensor<3x1x5xf32>
  %2 = tensor.empty() : tensor<15xf32>
  %3 = "ttir.reshape"(%1, %2) <{shape = [15 : i32], operand_constraints = [#any, #any]}> : (tensor<3x1x5xf32>, tensor<15xf32>) -> tensor<15xf32>
  %4 = tensor.empty() : tensor<3x5xf32>
  %5 = "ttir.squeeze"(%1, %4) <{dim = 1 : si32, operand_constraints = [#any, #any]}> : (tensor<3x1x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  return %3, %5 : tensor<15xf32>, tensor<3x5xf32>
}

// CHECK-LABEL: func.func @broadcasts(
// CHECK-NEXT: tensor.empty() : tensor<2x3x5xf32>
// CHECK-NEXT: %[[R:.*]] = "ttir.broadcast"(%arg0, %{{.*}}) <{dimension = [2]
// CHECK-NEXT: return %[[R]]
func.func @broadcasts(%a: tensor<5xf32>) -> tensor<2x3x5xf32> {
  %0 = tensor.empty() : tensor<3x5xf32>
  %1 = "ttir.broadcast"(%a, %0) <{dimension = [1], operand_constraints = [#any, #any]}> : (tensor<5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  %2 = tensor.empty() : tensor<2x3x5xf32>
  %3 = "ttir.broadcast"(%1, %2) <{dimension = [1, 2], operand_constraints = [#any, #any]}> : (tensor<3x5xf32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  return %3 : tensor<2x3x5xf32>
}

// Of a broadcast that adds no dimension, the named ones say nothing.
// CHECK-LABEL: func.func @broadcasts_of_one_rank(
// CHECK-NEXT: tensor.empty() : tensor<2x3x5xf32>
// CHECK-NEXT: %[[R:.*]] = "ttir.broadcast"(%arg0, %{{.*}}) <{dimension = [1, 2]
// CHECK-NEXT: return %[[R]]
func.func @broadcasts_of_one_rank(%a: tensor<1x5xf32>) -> tensor<2x3x5xf32> {
  %0 = tensor.empty() : tensor<3x5xf32>
  %1 = "ttir.broadcast"(%a, %0) <{dimension = [0], operand_constraints = [#any, #any]}> : (tensor<1x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  %2 = tensor.empty() : tensor<2x3x5xf32>
  %3 = "ttir.broadcast"(%1, %2) <{dimension = [1, 2], operand_constraints = [#any, #any]}> : (tensor<3x5xf32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  return %3 : tensor<2x3x5xf32>
}

// A cast that loses nothing is not seen behind another; a cast that rounds stays.
// CHECK-LABEL: func.func @casts(
// CHECK-NEXT: tensor.empty() : tensor<5xbf16>
// CHECK-NEXT: %[[B:.*]] = "ttir.typecast"(%arg0, %{{.*}}) {{.*}} -> tensor<5xbf16>
// CHECK-NEXT: tensor.empty() : tensor<5xf32>
// CHECK-NEXT: %[[R:.*]] = "ttir.typecast"(%[[B]], %{{.*}}) {{.*}} -> tensor<5xf32>
// CHECK-NEXT: return %[[R]], %[[B]]
func.func @casts(%a: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xbf16>) {
  %0 = tensor.empty() : tensor<5xbf16>
  %1 = "ttir.typecast"(%a, %0) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any, #any]}> : (tensor<5xf32>, tensor<5xbf16>) -> tensor<5xbf16>
  %2 = tensor.empty() : tensor<5xf32>
  %3 = "ttir.typecast"(%1, %2) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any, #any]}> : (tensor<5xbf16>, tensor<5xf32>) -> tensor<5xf32>
  %4 = tensor.empty() : tensor<5xbf16>
  %5 = "ttir.typecast"(%3, %4) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any, #any]}> : (tensor<5xf32>, tensor<5xbf16>) -> tensor<5xbf16>
  return %3, %5 : tensor<5xf32>, tensor<5xbf16>
}

// A product with 1 is the other factor; a sum with 0.0 is not, since -0.0 would become 0.0.
// CHECK-LABEL: func.func @neutral(
// CHECK: "ttir.add"(%arg0, %{{.*}}, %{{.*}})
// CHECK-NOT: ttir
// CHECK: return
func.func @neutral(%a: tensor<5xf32>) -> tensor<5xf32> {
  %one = "ttir.constant"() <{value = dense<1.0> : tensor<f32>}> : () -> tensor<f32>
  %zero = "ttir.constant"() <{value = dense<0.0> : tensor<5xf32>}> : () -> tensor<5xf32>
  %0 = tensor.empty() : tensor<5xf32>
  %1 = "ttir.multiply"(%one, %a, %0) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any, #any, #any]}> : (tensor<f32>, tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  %2 = tensor.empty() : tensor<5xf32>
  %3 = "ttir.subtract"(%1, %zero, %2) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any, #any, #any]}> : (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  %4 = tensor.empty() : tensor<5xf32>
  %5 = "ttir.add"(%3, %zero, %4) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any, #any, #any]}> : (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  return %5 : tensor<5xf32>
}

// Constants are computed.
// CHECK-LABEL: func.func @constants(
// CHECK-NEXT: %[[C:.*]] = "ttir.constant"() <{value = dense<{{\[\[}}3, 9], [5, 11], [7, 13{{\]\]}}> : tensor<3x2xi32>}>
// CHECK-NEXT: return %[[C]]
func.func @constants() -> tensor<3x2xi32> {
  %a = "ttir.constant"() <{value = dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>}> : () -> tensor<2x3xi32>
  %two = "ttir.constant"() <{value = dense<2> : tensor<1xi32>}> : () -> tensor<1xi32>
  %one = "ttir.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %0 = tensor.empty() : tensor<2x3xi32>
  %1 = "ttir.multiply"(%a, %two, %0) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any, #any, #any]}> : (tensor<2x3xi32>, tensor<1xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %2 = tensor.empty() : tensor<2x3xi32>
  %3 = "ttir.add"(%1, %one, %2) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any, #any, #any]}> : (tensor<2x3xi32>, tensor<i32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  %4 = tensor.empty() : tensor<3x2xi32>
  %5 = "ttir.transpose"(%3, %4) <{dim0 = 0 : si32, dim1 = 1 : si32, operand_constraints = [#any, #any]}> : (tensor<2x3xi32>, tensor<3x2xi32>) -> tensor<3x2xi32>
  return %5 : tensor<3x2xi32>
}
