// Shapes that are no whole tiles, tensors on the host, values that nobody uses.
// RUN: ttmlir-opt --ttir-to-ttmetal-backend-pipeline %s | FileCheck %s
// RUN: ttmlir-opt "--ttir-to-ttmetal-backend-pipeline=init-memory-space=dram grid=2,4" %s | FileCheck %s --check-prefix=GRID

#system = #tt.memory_space<system>
#host = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x96xf32, #system>>
#dram = #tt.memory_space<dram>
#l1_ = #tt.memory_space<l1>
#far = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x96xf32, #dram>>
#spread = #tt.layout<(d0, d1) -> (d0, d1), undef, <2x3>, memref<32x32xf32, #l1_>>
#any = #tt.operand_constraint<any_device_tile>

// Rows are padded to whole tiles where the function takes and returns them.
// CHECK: #[[ROWS:.*]] = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x96xf32, #l1_>>
// CHECK-LABEL: func.func @odd(
// CHECK-SAME: %arg0: tensor<33x70xf32, #[[ROWS]]>
// CHECK-COUNT-2: "ttkernel.tilize_init"
// CHECK: "ttkernel.add_tiles_init"
// The operation that nobody uses runs too.
// CHECK: "ttkernel.tilize_init"
// CHECK: "ttkernel.mul_tiles_init"
// CHECK: "ttkernel.untilize_init"
func.func @odd(%a: tensor<33x70xf32>, %b: tensor<33x70xf32>) -> tensor<33x70xf32> {
  %0 = tensor.empty() : tensor<33x70xf32>
  %1 = "ttir.add"(%a, %b, %0) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any, #any, #any]}> : (tensor<33x70xf32>, tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
  %2 = tensor.empty() : tensor<33x70xf32>
  %3 = "ttir.multiply"(%1, %b, %2) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any, #any, #any]}> : (tensor<33x70xf32>, tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
  return %1 : tensor<33x70xf32>
}

// From the host to tiles in L1 takes two steps.
// CHECK-LABEL: func.func @from_host(
// CHECK: %[[ROWS:.*]] = "ttmetal.host_write"(%arg0,
// CHECK: "ttmetal.dispatch"(%[[ROWS]],
// CHECK: "ttkernel.tilize_init"
// CHECK: "ttkernel.add_tiles_init"
// CHECK: "ttkernel.untilize_init"
// CHECK: "ttmetal.host_read"
func.func @from_host(%a: tensor<33x70xf32, #host>) -> tensor<33x70xf32, #host> {
  %0 = tensor.empty() : tensor<33x70xf32, #host>
  %1 = "ttir.add"(%a, %a, %0) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any, #any, #any]}> : (tensor<33x70xf32, #host>, tensor<33x70xf32, #host>, tensor<33x70xf32, #host>) -> tensor<33x70xf32, #host>
  return %1 : tensor<33x70xf32, #host>
}

// Tensors in DRAM are read into L1 and written back.
// CHECK-LABEL: func.func @from_dram(
// CHECK-SAME: #tt.arg_alloc<1024, 24576, dram>
// CHECK: "ttkernel.noc_async_read_barrier"
// CHECK: "ttkernel.tilize_init"
// CHECK: "ttkernel.mul_tiles_init"
// CHECK: "ttkernel.untilize_init"
// CHECK: "ttkernel.noc_async_write_barrier"
func.func @from_dram(%a: tensor<33x70xf32, #far>) -> tensor<33x70xf32, #far> {
  %0 = tensor.empty() : tensor<33x70xf32, #far>
  %1 = "ttir.multiply"(%a, %a, %0) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any, #any, #any]}> : (tensor<33x70xf32, #far>, tensor<33x70xf32, #far>, tensor<33x70xf32, #far>) -> tensor<33x70xf32, #far>
  return %1 : tensor<33x70xf32, #far>
}

// Work is done on the cores that hold the tensors.
// CHECK-LABEL: func.func @spread(
// CHECK-NOT: noc_async
// CHECK: core_ranges = [#ttmetal.core_range<0x0, 2x3>]
// CHECK: core_ranges = [#ttmetal.core_range<0x0, 2x3>]
// CHECK: core_ranges = [#ttmetal.core_range<0x0, 2x3>]
// CHECK: "ttkernel.add_tiles_init"
// CHECK: core_ranges = [#ttmetal.core_range<0x0, 2x3>]
// CHECK: return
func.func @spread(%a: tensor<50x90xf32, #spread>, %b: tensor<50x90xf32, #spread>) -> tensor<50x90xf32, #spread> {
  %0 = tensor.empty() : tensor<50x90xf32, #spread>
  %1 = "ttir.add"(%a, %b, %0) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any, #any, #any]}> : (tensor<50x90xf32, #spread>, tensor<50x90xf32, #spread>, tensor<50x90xf32, #spread>) -> tensor<50x90xf32, #spread>
  return %1 : tensor<50x90xf32, #spread>
}

// Calls are inlined: every function has its tensors at the same addresses.
func.func private @difference(%a: tensor<33x70xf32>, %b: tensor<33x70xf32>) -> tensor<33x70xf32> {
  %0 = tensor.empty() : tensor<33x70xf32>
  %1 = "ttir.subtract"(%a, %b, %0) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#tt.operand_constraint<any_device_tile>, #tt.operand_constraint<any_device_tile>, #tt.operand_constraint<any_device_tile>]}> : (tensor<33x70xf32>, tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
  return %1 : tensor<33x70xf32>
}
// CHECK-NOT: @difference
// CHECK-LABEL: func.func @calls
// CHECK: ttkernel.sub_binary_tile
// CHECK: ttkernel.sub_binary_tile
// CHECK-NOT: call
func.func @calls(%a: tensor<33x70xf32>, %b: tensor<33x70xf32>) -> tensor<33x70xf32> {
  %0 = call @difference(%a, %b) : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
  %1 = call @difference(%0, %b) : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
  return %1 : tensor<33x70xf32>
}

// Kernels run on as many cores as divide the tiles of the output, at most: 1x4 for 3x8 tiles and 2x4.
// GRID-LABEL: func.func @grid
// GRID-SAME: tt.arg_alloc = [#tt.arg_alloc<1024, 32768, dram>]
// GRID: "ttmetal.dispatch"(%{{.*}}) <{core_ranges = [#ttmetal.core_range<0x0, 1x4>]
// GRID: ttkernel.exp_tile
// GRID: return %{{.*}} : tensor<96x256xf32, #{{.*}}>
func.func @grid(%a: tensor<96x256xf32>) -> tensor<96x256xf32> {
  %0 = tensor.empty() : tensor<96x256xf32>
  %1 = "ttir.exp"(%a, %0) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any, #any]}> : (tensor<96x256xf32>, tensor<96x256xf32>) -> tensor<96x256xf32>
  return %1 : tensor<96x256xf32>
}
