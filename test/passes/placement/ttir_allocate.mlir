// Addresses grow; buffers die after their last use, in the reverse order of their birth.
// RUN: ttmlir-opt --ttir-load-system-desc --ttir-implicit-device --ttir-allocate %s | FileCheck %s
// RUN: ttmlir-opt --ttir-load-system-desc --ttir-implicit-device --ttir-generic --ttir-layout --ttir-allocate %S/../Inputs/add.mlir | FileCheck %s --check-prefix=HOST

#dram = #tt.memory_space<dram>
#l1_ = #tt.memory_space<l1>
#rows = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<1x7xf32, #l1_>>
#ranks = #tt.layout<(d0, d1) -> (d0, d1), undef, <3x2>, memref<18x32xf32, #l1_>>
#far = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<1x7xf32, #dram>, interleaved>
#tile = #tt.operand_constraint<any_device_tile>

// 28 bytes at 1024, the next multiple of 16 is 1056. Shards of 53x63 on 3x2 cores have room for 18x32
// numbers, also the last one, which is not full.
// CHECK-LABEL: func.func @aligned(
// CHECK-SAME: attributes {tt.arg_alloc = [#tt.arg_alloc<1024, 28, l1>, #tt.arg_alloc<1056, 2304, l1>, #tt.arg_alloc<1024, 28, dram>]}
func.func @aligned(%a: tensor<1x7xf32, #rows>, %b: tensor<53x63xf32, #ranks>, %c: tensor<1x7xf32, #far>) {
  return
}

// CHECK-LABEL: func.func @lives(
// CHECK: %[[A0:.*]] = "ttir.alloc"() <{address = 1056 : i64, memory_space = #l1_, size = 28 : i64}>
// CHECK: %[[A1:.*]] = "ttir.alloc"() <{address = 1088 : i64
// CHECK: %[[A2:.*]] = "ttir.alloc"() <{address = 1120 : i64
// CHECK: "ttir.add"
// CHECK-NEXT: "ttir.dealloc"(%[[A1]])
// CHECK-NEXT: "ttir.dealloc"(%[[A0]])
// CHECK-NEXT: return
func.func @lives(%a: tensor<1x7xf32, #rows>) -> tensor<1x7xf32, #rows> {
  %0 = tensor.empty() : tensor<1x7xf32, #rows>
  %1 = "ttir.exp"(%a, %0) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#tile, #tile]}> : (tensor<1x7xf32, #rows>, tensor<1x7xf32, #rows>) -> tensor<1x7xf32, #rows>
  %2 = tensor.empty() : tensor<1x7xf32, #rows>
  %3 = "ttir.abs"(%1, %2) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#tile, #tile]}> : (tensor<1x7xf32, #rows>, tensor<1x7xf32, #rows>) -> tensor<1x7xf32, #rows>
  %4 = tensor.empty() : tensor<1x7xf32, #rows>
  %5 = "ttir.add"(%1, %3, %4) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#tile, #tile, #tile]}> : (tensor<1x7xf32, #rows>, tensor<1x7xf32, #rows>, tensor<1x7xf32, #rows>) -> tensor<1x7xf32, #rows>
  return %5 : tensor<1x7xf32, #rows>
}

// A destination that nothing uses takes no memory.
// CHECK-LABEL: func.func @unused(
// CHECK-NOT: alloc()
// CHECK: return
func.func @unused() {
  %0 = tensor.empty() : tensor<1x7xf32, #rows>
  return
}

// On the host the runtime finds the memory.
// HOST: #tt.arg_alloc<0, 9240, system>
// HOST: "ttir.alloc"() <{address = 0 : i64, memory_space = #system, size = 9240 : i64}>
