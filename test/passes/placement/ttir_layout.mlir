// Operands move to where their constraints want them; what is returned moves back.
// RUN: ttmlir-opt --ttir-load-system-desc --ttir-implicit-device --ttir-layout %s | FileCheck %s
// RUN: ttmlir-opt --ttir-load-system-desc --ttir-implicit-device --ttir-layout="init-memory-space=l1 default-memory-space=l1 default-device-memory-layout=none" %s | FileCheck %s --check-prefix=L1
// RUN: ttmlir-opt --ttir-load-system-desc --ttir-implicit-device --ttir-layout="default-device-memory-layout=single_bank" %s | FileCheck %s --check-prefix=BANK
// RUN: ttmlir-opt --ttir-load-system-desc --ttir-implicit-device --ttir-layout --mlir-print-debuginfo --mlir-print-local-scope %s | FileCheck %s --check-prefix=LOC
// RUN: not ttmlir-opt --ttir-load-system-desc --ttir-implicit-device --ttir-layout="init-memory-space=cache" %s 2>&1 | FileCheck %s --check-prefix=KEYWORD

// KEYWORD: for the --init-memory-space option: Cannot find option named 'cache'!

#any_device = #tt.operand_constraint<any_device>
#tile = #tt.operand_constraint<any_device_tile>
#sharded = #tt.operand_constraint<l1|scalar|height_sharded|width_sharded>
#bare_dram = #tt.operand_constraint<dram|tile|none>
#host = #tt.operand_constraint<system|scalar|none>

// CHECK-DAG: #[[HOST:layout[0-9]*]] = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #system>>
// CHECK-DAG: #[[ROWS:layout[0-9]*]] = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #dram>, interleaved>
// CHECK-DAG: #[[TILES:layout[0-9]*]] = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<2x3x!tt.tile<32x32, f32>, #dram>, interleaved>
// CHECK-DAG: #[[L1ROWS:layout[0-9]*]] = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #l1_>, height_sharded>
// CHECK-DAG: #[[BARE:layout[0-9]*]] = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<2x3x!tt.tile<32x32, f32>, #dram>>
// CHECK-DAG: #[[CUBE:layout[0-9]*]] = #tt.layout<(d0, d1, d2) -> (d0 * 5 + d1, d2), undef, <1x1>, memref<10x7xi32, #system>>
// CHECK-DAG: #[[LINE:layout[0-9]*]] = #tt.layout<(d0) -> (0, d0), undef, <1x1>, memref<1x9xf32, #system>>

// An argument that is used twice moves twice; neighbours with the same wishes need no move.
// CHECK-LABEL: func.func @chain(
// CHECK-SAME: %[[ARG:.*]]: tensor<33x70xf32, #[[HOST]]>) -> tensor<33x70xf32, #[[HOST]]>
// CHECK-NEXT: %[[E0:.*]] = tensor.empty() : tensor<33x70xf32, #[[ROWS]]>
// CHECK-NEXT: %[[M0:.*]] = "ttir.to_layout"(%[[ARG]], %[[E0]])
// CHECK-NEXT: %[[E1:.*]] = tensor.empty() : tensor<33x70xf32, #[[ROWS]]>
// CHECK-NEXT: %[[M1:.*]] = "ttir.to_layout"(%[[ARG]], %[[E1]])
// CHECK-NEXT: %[[E2:.*]] = tensor.empty() : tensor<33x70xf32, #[[ROWS]]>
// CHECK-NEXT: %[[SUM:.*]] = "ttir.add"(%[[M0]], %[[M1]], %[[E2]])
// CHECK-NEXT: %[[E3:.*]] = tensor.empty() : tensor<33x70xf32, #[[ROWS]]>
// CHECK-NEXT: %[[ABS:.*]] = "ttir.abs"(%[[SUM]], %[[E3]])
// CHECK-NEXT: %[[E4:.*]] = tensor.empty() : tensor<33x70xf32, #[[HOST]]>
// CHECK-NEXT: %[[BACK:.*]] = "ttir.to_layout"(%[[ABS]], %[[E4]])
// CHECK-NEXT: return %[[BACK]]
// L1-LABEL: func.func @chain(
// L1-SAME: tensor<33x70xf32, #[[L1:layout[0-9]*]]>) -> tensor<33x70xf32, #[[L1]]>
// L1-NOT: to_layout
// L1: return
// BANK: memref<33x70xf32, #dram>, single_bank>
// LOC-LABEL: func.func @chain(
// LOC: "ttir.to_layout"{{.*}} loc("the sum")
// LOC: "ttir.to_layout"{{.*}} loc("the sum")
// LOC: tensor.empty() {{.*}} loc("its destination")
// LOC: "ttir.add"{{.*}} loc("the sum")
func.func @chain(%a: tensor<33x70xf32>) -> tensor<33x70xf32> {
  %0 = tensor.empty() : tensor<33x70xf32> loc("its destination")
  %1 = "ttir.add"(%a, %a, %0) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any_device, #any_device, #any_device]}> : (tensor<33x70xf32>, tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32> loc("the sum")
  %2 = tensor.empty() : tensor<33x70xf32>
  %3 = "ttir.abs"(%1, %2) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any_device, #any_device]}> : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
  return %3 : tensor<33x70xf32>
}

// Each operand of one operation may want something else.
// CHECK-LABEL: func.func @wishes(
// CHECK: "ttir.where"
// CHECK-SAME: (tensor<33x70xf32, #[[TILES]]>, tensor<33x70xf32, #[[L1ROWS]]>, tensor<33x70xf32, #[[BARE]]>, tensor<33x70xf32, #[[ROWS]]>) -> tensor<33x70xf32, #[[ROWS]]>
func.func @wishes(%a: tensor<33x70xf32>, %b: tensor<33x70xf32>, %c: tensor<33x70xf32>) -> tensor<33x70xf32> {
  %0 = tensor.empty() : tensor<33x70xf32>
  %1 = "ttir.where"(%a, %b, %c, %0) <{operandSegmentSizes = array<i32: 3, 1>, operand_constraints = [#tile, #sharded, #bare_dram, #any_device]}> : (tensor<33x70xf32>, tensor<33x70xf32>, tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
  return %1 : tensor<33x70xf32>
}

// What may stay on the host is not moved.
// CHECK-LABEL: func.func @on_host(
// CHECK-NOT: to_layout
// CHECK: "ttir.abs"
// CHECK-NEXT: return
func.func @on_host(%a: tensor<33x70xf32>) -> tensor<33x70xf32> {
  %0 = tensor.empty() : tensor<33x70xf32>
  %1 = "ttir.abs"(%a, %0) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#host, #host]}> : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
  return %1 : tensor<33x70xf32>
}

// Arguments that nothing uses and functions without a body get layouts as well.
// CHECK: func.func @unused(%{{.*}}: tensor<2x5x7xi32, #[[CUBE]]>, %{{.*}}: tensor<9xf32, #[[LINE]]>)
func.func @unused(%a: tensor<2x5x7xi32>, %b: tensor<9xf32>) {
  return
}

// CHECK: func.func private @elsewhere(tensor<9xf32, #[[LINE]]>) -> tensor<9xf32, #[[LINE]]>
func.func private @elsewhere(tensor<9xf32>) -> tensor<9xf32>

// A call hands over and takes back what the signature says.
// CHECK-LABEL: func.func @caller(
// CHECK: %[[BACK:.*]] = "ttir.to_layout"({{.*}} -> tensor<9xf32, #[[LINE]]>
// CHECK-NEXT: %[[GOT:.*]] = call @elsewhere(%[[BACK]]) : (tensor<9xf32, #[[LINE]]>) -> tensor<9xf32, #[[LINE]]>
// CHECK-NEXT: return %[[GOT]]
func.func @caller(%a: tensor<9xf32>) -> tensor<9xf32> {
  %0 = tensor.empty() : tensor<9xf32>
  %1 = "ttir.abs"(%a, %0) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any_device, #any_device]}> : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xf32>
  %2 = func.call @elsewhere(%1) : (tensor<9xf32>) -> tensor<9xf32>
  return %2 : tensor<9xf32>
}

// Constants are made where they are wanted; equal ones are one, and they stand at the top.
// CHECK-LABEL: func.func @constants(
// CHECK-NEXT: %[[C:.*]] = "ttir.constant"() <{value = dense<2.000000e+00> : tensor<33x70xf32>}> : () -> tensor<33x70xf32, #[[ROWS]]>
// CHECK-NOT: constant
// CHECK: "ttir.add"(%{{.*}}, %[[C]],
// CHECK: "ttir.multiply"(%{{.*}}, %[[C]],
func.func @constants(%a: tensor<33x70xf32>) -> tensor<33x70xf32> {
  %0 = tensor.empty() : tensor<33x70xf32>
  %two = "ttir.constant"() <{value = dense<2.0> : tensor<33x70xf32>}> : () -> tensor<33x70xf32>
  %1 = "ttir.add"(%a, %two, %0) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any_device, #any_device, #any_device]}> : (tensor<33x70xf32>, tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
  %2 = tensor.empty() : tensor<33x70xf32>
  %zwei = "ttir.constant"() <{value = dense<2.0> : tensor<33x70xf32>}> : () -> tensor<33x70xf32>
  %3 = "ttir.multiply"(%1, %zwei, %2) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any_device, #any_device, #any_device]}> : (tensor<33x70xf32>, tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
  return %3 : tensor<33x70xf32>
}
