// Layout changes as host commands, copies and kernels; generics as kernels on tiles.
// RUN: ttmlir-opt --ttir-load-system-desc --ttir-implicit-device --ttir-generic-region-operands-to-memref --ttir-allocate --convert-ttir-to-ttmetal %s | FileCheck %s
// The output is read again and stays the same.
// RUN: ttmlir-opt --ttir-load-system-desc --ttir-implicit-device --ttir-generic-region-operands-to-memref --ttir-allocate --convert-ttir-to-ttmetal %s | ttmlir-opt | FileCheck %s

#l1_ = #tt.memory_space<l1>
#dram = #tt.memory_space<dram>
#system = #tt.memory_space<system>
#host = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x96xbf16, #system>>
#rows = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x96xbf16, #l1_>>
#half = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x3>, memref<64x32xbf16, #l1_>>
#tiles = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x3>, memref<2x1x!tt.tile<32x32, bf16>, #l1_>>
#far = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x3>, memref<2x1x!tt.tile<32x32, bf16>, #dram>>
#any = #tt.operand_constraint<any_device_tile>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #tt.iterator_type<parallel>

// CHECK-LABEL: func.func @upload(
// CHECK: "ttmetal.alloc"() <{address = 1024 : i64, memory_space = #l1_, size = 12288 : i64}>
// CHECK-NEXT: "ttmetal.host_write"(%arg0, %0)
func.func @upload(%a: tensor<50x96xbf16, #host>) -> tensor<50x96xbf16, #rows> {
  %0 = tensor.empty() : tensor<50x96xbf16, #rows>
  %1 = "ttir.to_layout"(%a, %0) : (tensor<50x96xbf16, #host>, tensor<50x96xbf16, #rows>) -> tensor<50x96xbf16, #rows>
  return %1 : tensor<50x96xbf16, #rows>
}

// CHECK-LABEL: func.func @download(
// CHECK: "ttmetal.alloc"() <{address = 0 : i64, memory_space = #system, size = 12288 : i64}>
// CHECK-NEXT: "ttmetal.host_read"(%arg0, %0)
func.func @download(%a: tensor<50x96xbf16, #rows>) -> tensor<50x96xbf16, #host> {
  %0 = tensor.empty() : tensor<50x96xbf16, #host>
  %1 = "ttir.to_layout"(%a, %0) : (tensor<50x96xbf16, #rows>, tensor<50x96xbf16, #host>) -> tensor<50x96xbf16, #host>
  return %1 : tensor<50x96xbf16, #host>
}

// On three cores, each with one column of two tiles.
// CHECK-LABEL: func.func @tilize(
// CHECK: core_ranges = [#ttmetal.core_range<0x0, 1x3>], kernelConfigs = [#ttkernel.tensix_config<hifi4, false, false, false>]
// CHECK-NEXT: ^bb0(%[[IN:.*]]: !ttkernel.cb<cb_in0, 1024, memref<64x32xbf16, #l1_>, 2048, 1>, %[[OUT:.*]]: !ttkernel.cb<cb_out0, 5120, memref<2x1x!tt.tile<32x32, bf16>, #l1_>, 2048, 1>):
// CHECK-NEXT: %[[N:.*]] = arith.constant 1 : i32
// CHECK-NEXT: "ttkernel.tilize_init"(%[[IN]], %[[N]], %[[OUT]])
// CHECK-NEXT: "ttkernel.tilize_block"(%[[IN]], %[[N]], %[[OUT]])
// CHECK-NEXT: "ttkernel.cb_pop_front"(%[[IN]], %[[N]])
// CHECK-NEXT: "ttkernel.cb_push_back"(%[[OUT]], %[[N]])
// CHECK-NEXT: "ttkernel.tilize_block"
// CHECK-NEXT: "ttkernel.cb_pop_front"
// CHECK-NEXT: "ttkernel.cb_push_back"
// CHECK-NEXT: "ttkernel.return"
func.func @tilize(%a: tensor<50x90xbf16, #half>) -> tensor<50x90xbf16, #tiles> {
  %0 = tensor.empty() : tensor<50x90xbf16, #tiles>
  %1 = "ttir.to_layout"(%a, %0) : (tensor<50x90xbf16, #half>, tensor<50x90xbf16, #tiles>) -> tensor<50x90xbf16, #tiles>
  return %1 : tensor<50x90xbf16, #tiles>
}

// CHECK-LABEL: func.func @untilize(
// CHECK: core_ranges = [#ttmetal.core_range<0x0, 1x3>]
// CHECK: "ttkernel.untilize_init"(%[[IN:.*]], %[[OUT:.*]]) :
// CHECK-NEXT: "ttkernel.untilize_block"(%[[IN]], %[[N:.*]], %[[OUT]])
// CHECK: "ttkernel.untilize_block"
// CHECK-NOT: "ttkernel.untilize_block"
// CHECK: return
func.func @untilize(%a: tensor<50x90xbf16, #tiles>) -> tensor<50x90xbf16, #half> {
  %0 = tensor.empty() : tensor<50x90xbf16, #half>
  %1 = "ttir.to_layout"(%a, %0) : (tensor<50x90xbf16, #tiles>, tensor<50x90xbf16, #half>) -> tensor<50x90xbf16, #half>
  return %1 : tensor<50x90xbf16, #half>
}

// Each of the three cores writes its column into the first channel, one after another.
// CHECK-LABEL: func.func @spill(
// CHECK: core_ranges = [#ttmetal.core_range<0x0, 1x1>, #ttmetal.core_range<0x1, 1x1>, #ttmetal.core_range<0x2, 1x1>], kernelConfigs = [#ttkernel.noc_config<noc0>, #ttkernel.noc_config<noc0>, #ttkernel.noc_config<noc0>]
// CHECK: }, {
// CHECK-DAG: %[[Y:.*]] = arith.constant 8 : i32
// CHECK-DAG: %[[X:.*]] = arith.constant 0 : i32
// CHECK-DAG: %[[FROM:.*]] = arith.constant 1024 : i32
// CHECK-DAG: %[[TO:.*]] = arith.constant 5120 : i32
// CHECK-DAG: %[[SIZE:.*]] = arith.constant 4096 : i32
// CHECK: %[[AT:.*]] = "ttkernel.get_noc_addr"(%[[X]], %[[Y]], %[[TO]])
// CHECK-NEXT: "ttkernel.noc_async_write"(%[[FROM]], %[[AT]], %[[SIZE]])
// CHECK-NEXT: "ttkernel.noc_async_write_barrier"
// CHECK-NEXT: "ttkernel.return"
func.func @spill(%a: tensor<50x90xbf16, #tiles>) -> tensor<50x90xbf16, #far> {
  %0 = tensor.empty() : tensor<50x90xbf16, #far>
  %1 = "ttir.to_layout"(%a, %0) : (tensor<50x90xbf16, #tiles>, tensor<50x90xbf16, #far>) -> tensor<50x90xbf16, #far>
  return %1 : tensor<50x90xbf16, #far>
}

// The kernel runs on the cores that hold the operands, and reads the operands that the body names.
// CHECK-LABEL: func.func @product(
// CHECK: core_ranges = [#ttmetal.core_range<0x0, 1x3>]
// CHECK-NEXT: ^bb0(%[[A:.*]]: !ttkernel.cb<cb_in0, 1024, {{.*}}, %[[B:.*]]: !ttkernel.cb<cb_in1, 5120, {{.*}}, %[[OUT:.*]]: !ttkernel.cb<cb_out0, 9216,
// CHECK-NEXT: %[[ONE:.*]] = arith.constant 1 : i32
// CHECK-NEXT: %[[TWO:.*]] = arith.constant 2 : i32
// CHECK-NEXT: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK-NEXT: "ttkernel.binary_op_init_common"(%[[B]], %[[A]], %[[OUT]])
// CHECK-NEXT: "ttkernel.mul_tiles_init"(%[[B]], %[[A]])
// CHECK-NEXT: scf.for %{{.*}} = %[[ZERO]] to %[[TWO]] step %[[ONE]] iter_args(%[[ROW:.*]] = %[[ZERO]])
// CHECK-NEXT: scf.for %{{.*}} = %[[ZERO]] to %[[ONE]] step %[[ONE]] iter_args(%[[AT:.*]] = %[[ROW]])
// CHECK-NEXT: "ttkernel.tile_regs_acquire"
// CHECK-NEXT: "ttkernel.mul_tiles"(%[[B]], %[[A]], %[[AT]], %[[AT]], %[[ZERO]])
// CHECK-NEXT: "ttkernel.tile_regs_commit"
// CHECK-NEXT: "ttkernel.tile_regs_wait"
// CHECK-NEXT: "ttkernel.pack_tile"(%[[ZERO]], %[[OUT]], %[[AT]])
// CHECK-NEXT: "ttkernel.tile_regs_release"
// CHECK-NEXT: %[[NEXT:.*]] = arith.addi %[[AT]], %[[ONE]] : i32
// CHECK-NEXT: scf.yield %[[NEXT]] : i32
func.func @product(%a: tensor<50x90xbf16, #tiles>, %b: tensor<50x90xbf16, #tiles>) -> tensor<50x90xbf16, #tiles> {
  %0 = tensor.empty() : tensor<50x90xbf16, #tiles>
  %1 = "ttir.generic"(%a, %b, %0) <{grid = #tt.grid<1x1>, indexing_maps = [#map, #map, #map], iterator_types = [#parallel, #parallel], operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any, #any, #any]}> ({
  ^bb0(%x: tensor<50x90xbf16>, %y: tensor<50x90xbf16>, %z: tensor<50x90xbf16>):
    %2 = arith.mulf %y, %x : tensor<50x90xbf16>
    "ttir.yield"(%2) : (tensor<50x90xbf16>) -> ()
  }) : (tensor<50x90xbf16, #tiles>, tensor<50x90xbf16, #tiles>, tensor<50x90xbf16, #tiles>) -> tensor<50x90xbf16, #tiles>
  return %1 : tensor<50x90xbf16, #tiles>
}

// The network keeps the offset of an address within 16 bytes: other rows pass through scratch
// memory, and the processor moves them.
#odd = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<2x6xbf16, #tt.memory_space<l1>>>
#halves = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x2>, memref<2x3xbf16, #tt.memory_space<l1>>>
// CHECK-LABEL: func.func @short_rows
func.func @short_rows(%arg0: tensor<2x6xbf16, #odd>) -> tensor<2x6xbf16, #halves> {
  // CHECK: "ttmetal.alloc"() <{address = 1056 : i64, {{.*}}, size = 12 : i64}>
  // CHECK-NEXT: "ttmetal.dispatch"
  // CHECK-SAME: core_ranges = [#ttmetal.core_range<0x0, 1x1>, #ttmetal.core_range<0x1, 1x1>]
  // CHECK-DAG: %[[SCRATCH:.*]] = arith.constant 1084 : i32
  // CHECK-DAG: %[[FROM:.*]] = arith.constant 1036 : i32
  // CHECK-DAG: %[[TO:.*]] = arith.constant 1062 : i32
  // CHECK-DAG: %[[BYTES:.*]] = arith.constant 6 : i32
  // CHECK: %[[NOC:.*]] = "ttkernel.get_noc_addr"(%{{.*}}, %{{.*}}, %[[FROM]])
  // CHECK-NEXT: "ttkernel.noc_async_read"(%[[NOC]], %[[SCRATCH]], %[[BYTES]])
  // CHECK: "ttkernel.noc_async_read_barrier"() : () -> ()
  // CHECK: %[[SOURCE:.*]] = "ttkernel.reinterpret_cast"(%[[SCRATCH]]) : (i32) -> !ttkernel.l1_addr_ptr<16>
  // CHECK-NEXT: %[[TARGET:.*]] = "ttkernel.reinterpret_cast"(%[[TO]]) : (i32) -> !ttkernel.l1_addr_ptr<16>
  // CHECK: %[[VALUE:.*]] = "ttkernel.load_from_l1"(%[[SOURCE]], %[[AT:.*]]) : (!ttkernel.l1_addr_ptr<16>, i32) -> i32
  // CHECK-NEXT: "ttkernel.store_to_l1"(%[[VALUE]], %[[TARGET]], %[[AT]])
  %0 = tensor.empty() : tensor<2x6xbf16, #halves>
  %1 = "ttir.to_layout"(%arg0, %0) : (tensor<2x6xbf16, #odd>, tensor<2x6xbf16, #halves>) -> tensor<2x6xbf16, #halves>
  return %1 : tensor<2x6xbf16, #halves>
}
