// Of ttir without a simpler form, cleaning up touches constants and destinations only; of ttnn,
// nothing.
// RUN: ttmlir-opt --canonicalize %s | FileCheck %s
// RUN: ttmlir-opt --ttir-load-system-desc --ttir-implicit-device --ttir-layout %s | FileCheck %s --check-prefix=LAYOUT
// RUN: ttmlir-opt --cse --symbol-dce --remove-dead-values %s | FileCheck %s --check-prefix=CSE
// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline %s -o %t.ttnn
// RUN: ttmlir-opt --canonicalize --cse --symbol-dce --remove-dead-values %t.ttnn | diff %t.ttnn -

#any_device = #tt.operand_constraint<any_device>

// Constants of equal value and type become one, used or not, at the top; other operations stay.
// CHECK-LABEL: func.func @f(
// CHECK-NEXT: %[[TWO:.*]] = "ttir.constant"() <{value = dense<2.000000e+00> : tensor<5x7xf32>}>
// CHECK-NEXT: %[[BITS:.*]] = "ttir.constant"() <{value = dense<1.000000e+00> : tensor<5x7xbf16>}>
// CHECK-NEXT: %[[ONE:.*]] = "ttir.constant"() <{value = dense<1.000000e+00> : tensor<5x7xf32>}>
// CHECK-NEXT: tensor.empty
// CHECK-NEXT: "ttir.abs"
// CHECK-NEXT: tensor.empty
// CHECK-NEXT: "ttir.abs"
// CHECK-NEXT: tensor.empty
// CHECK-NEXT: "ttir.where"(%arg0, %[[ONE]], %[[ONE]], %{{.*}})
// CHECK-NEXT: return %{{.*}}, %[[ONE]]

// A pass that gives layouts cleans up as well; one value that is needed in two layouts is two.
// LAYOUT-LABEL: func.func @f(
// LAYOUT-COUNT-4: "ttir.constant"
// LAYOUT-NOT: "ttir.constant"
// LAYOUT: "ttir.abs"
// LAYOUT: "ttir.abs"
// LAYOUT: "ttir.where"

// Destinations have no effects and are shared; operations of ttir are not known to have none.
// CSE-LABEL: func.func @f(
// CSE-NEXT: %[[EMPTY:.*]] = tensor.empty
// CSE-NEXT: "ttir.abs"(%arg0, %[[EMPTY]])
// CSE-NEXT: "ttir.constant"
// CSE-NEXT: "ttir.abs"(%arg0, %[[EMPTY]])
// CSE-COUNT-4: "ttir.constant"
// CSE-NEXT: "ttir.where"
func.func @f(%a: tensor<5x7xf32>) -> (tensor<5x7xf32>, tensor<5x7xf32>) {
  %0 = tensor.empty() : tensor<5x7xf32>
  %1 = "ttir.abs"(%a, %0) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any_device, #any_device]}> : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %c1 = "ttir.constant"() <{value = dense<1.0> : tensor<5x7xf32>}> : () -> tensor<5x7xf32>
  %2 = tensor.empty() : tensor<5x7xf32>
  %3 = "ttir.abs"(%a, %2) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any_device, #any_device]}> : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %c2 = "ttir.constant"() <{value = dense<1.0> : tensor<5x7xf32>}> : () -> tensor<5x7xf32>
  %c3 = "ttir.constant"() <{value = dense<1.0> : tensor<5x7xbf16>}> : () -> tensor<5x7xbf16>
  %c4 = "ttir.constant"() <{value = dense<2.0> : tensor<5x7xf32>}> : () -> tensor<5x7xf32>
  %c5 = "ttir.constant"() <{value = dense<2.0> : tensor<5x7xf32>}> : () -> tensor<5x7xf32>
  %4 = tensor.empty() : tensor<5x7xf32>
  %unused = tensor.empty() : tensor<5x7xf32>
  %5 = "ttir.where"(%a, %c1, %c2, %4) <{operandSegmentSizes = array<i32: 3, 1>, operand_constraints = [#any_device, #any_device, #any_device, #any_device]}> : (tensor<5x7xf32>, tensor<5x7xf32>, tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  return %5, %c2 : tensor<5x7xf32>, tensor<5x7xf32>
}
