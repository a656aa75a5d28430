// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s | ttmlir-opt | FileCheck %s
// RUN: ttmlir-opt --mlir-print-local-scope %s | FileCheck %s --check-prefix=LOCAL

// Which attributes of tt get an alias, how the aliases are called, and in which order they stand.

#space = #tt.memory_space<l1>
#host = #tt.memory_space<system>
#chip = #tt.device<workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>, l1Map = (d0, d1) -> (0, 0, d0, d1), dramMap = (d0, d1) -> (0, 0, d0, d1), meshShape = 1, chipIds = [0]>

// CHECK: #any_device = #tt.operand_constraint<dram|l1|scalar|tile|none|
// CHECK-NEXT: #device = #tt.device<workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>,
// CHECK-NEXT: #dram = #tt.memory_space<dram>
// CHECK-NEXT: #l1_ = #tt.memory_space<l1>
// CHECK-NEXT: #operand_constraint = #tt.operand_constraint<tile|none>
// CHECK-NEXT: #operand_constraint1 = #tt.operand_constraint<dram|tile>
// CHECK-NEXT: #parallel = #tt.iterator_type<parallel>
// CHECK-NEXT: #system = #tt.memory_space<system>
// CHECK-NEXT: #layout = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<40x72xf32, #system>>
// CHECK-NEXT: #layout1 = #tt.layout<(d0, d1) -> (d0, d1), undef, <2x3>, memref<1x1x!tt.tile<32x32, f32>, #l1_>, block_sharded>
// CHECK-NEXT: #layout2 = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<40x72xf32, #dram>, interleaved>
// CHECK-NEXT: module attributes {test.constraints = [#operand_constraint, #any_device, #operand_constraint1], test.device = #device, test.grid = #tt.grid<2x3>, test.iterator = #parallel} {

// LOCAL-NOT: {{^}}#
// LOCAL: module attributes {{.*}}test.device = #tt.device<workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>,
module attributes {
    test.grid = #tt.grid<2x3>,
    test.device = #chip,
    test.iterator = #tt.iterator_type<parallel>,
    test.constraints = [#tt.operand_constraint<tile|none>, #tt.operand_constraint<any_device>, #tt.operand_constraint<tile|dram>]} {
  // CHECK: func.func @move(%[[IN:.*]]: tensor<40x72xf32, #layout>, %[[DEVICE:.*]]: !tt.device<#device>) -> tensor<40x72xf32, #layout1>
  // LOCAL: !tt.device<<workerGrid = #tt.grid<8x8,
  // LOCAL-SAME: tensor<40x72xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <2x3>, memref<1x1x!tt.tile<32x32, f32>, #tt.memory_space<l1>>, block_sharded>>
  func.func @move(%in: tensor<40x72xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<40x72xf32, #host>>>, %device: !tt.device<#chip>)
      -> tensor<40x72xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <2x3>, memref<1x1x!tt.tile<32 x 32, f32>, #space>, block_sharded>> {
    // CHECK: tensor.empty() : tensor<40x72xf32, #layout1>
    %0 = tensor.empty() : tensor<40x72xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <2x3>, memref<1x1x!tt.tile<32 x 32, f32>, #space>, block_sharded>>
    // CHECK: tensor.empty() : tensor<40x72xf32, #layout2>
    %1 = tensor.empty() : tensor<40x72xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<40x72xf32, #tt.memory_space<dram>>, interleaved>>
    return %0 : tensor<40x72xf32, #tt.layout<(d0, d1) -> (d0, d1), undef, <2x3>, memref<1x1x!tt.tile<32 x 32, f32>, #space>, block_sharded>>
  }
}
