// The passes of 2025 on regions, one after another: a product whose terms are spread over cores.
// RUN: ttmlir-opt --d2m-generic-tile-compute-loops --d2m-insert-dst-register-access --d2m-generic-linearize-memref --d2m-generic-generate-datamovement --d2m-generic-lower-dmas --d2m-generic-hw-thread-selection --d2m-generic-generate-loops --canonicalize --d2m-generic-regions-to-funcs %s | FileCheck %s
// RUN: ttmlir-opt --d2m-generic-tile-compute-loops --d2m-insert-dst-register-access --d2m-generic-linearize-memref --d2m-generic-generate-datamovement --d2m-generic-lower-dmas --d2m-generic-hw-thread-selection --d2m-generic-generate-loops --canonicalize --d2m-generic-regions-to-funcs --convert-d2m-to-ttkernel --ttkernel-control-dst-section --convert-d2m-to-ttmetal %s | FileCheck %s --check-prefix=KERNELS
// RUN: ttmlir-opt --d2m-insert-dst-register-access=use-tile-matmul=true %s | FileCheck %s --check-prefix=TILES

#l1 = #ttcore.memory_space<l1>
#lhs = affine_map<(d0, d1, d2) -> (d0, d2)>
#rhs = affine_map<(d0, d1, d2) -> (d2, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
!tile = !ttcore.tile<32x32, bf16>
!a = memref<2x4x2x3x!tile, #ttcore.shard<6144x2048>, #l1>
!av = memref<2x4x2x3x!tile, #ttcore.view<map(4)>, #l1>
!as = memref<2x4x2x3x!tile, #ttcore.shard<6144x2048, 2>, #l1>
!b = memref<4x4x3x1x!tile, #ttcore.shard<2048x2048>, #l1>
!bv = memref<4x4x3x1x!tile, #ttcore.view<map(4)>, #l1>
!bs = memref<4x4x3x1x!tile, #ttcore.shard<2048x2048, 2>, #l1>
!c = memref<2x4x2x1x!tile, #ttcore.shard<2048x2048>, #l1>
!la = memref<2x3x!tile, #l1>
!lb = memref<3x1x!tile, #l1>
!lc = memref<2x1x!tile, #l1>
func.func @matmul(%a: !a, %b: !b, %c: !c) {
  %s = memref.alloc() {address = 10240 : i64, alignment = 16 : i64} : !as
  %t = memref.alloc() {address = 50240 : i64, alignment = 16 : i64} : !bs
  %va = "d2m.stream_layout"(%a, %s) : (!a, !as) -> !av
  %vb = "d2m.stream_layout"(%b, %t) : (!b, !bs) -> !bv
  d2m.generic {block_factors = [1, 1, 4], grid = #ttcore.grid<2x4>, indexing_maps = [#lhs, #rhs, #out], iterator_types = [#parallel, #parallel, #reduction], threads = [#d2m.thread<compute>]} ins(%va, %vb : !av, !bv) outs(%c : !c) {
  ^compute0(%cb0: !d2m.cb<!la>, %cb1: !d2m.cb<!lb>, %cb2: !d2m.cb<!lc>):
    %x = d2m.wait %cb0 : !d2m.cb<!la> -> !la
    %y = d2m.wait %cb1 : !d2m.cb<!lb> -> !lb
    %z = d2m.reserve %cb2 : !d2m.cb<!lc> -> !lc
    linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : !la, !lb) outs(%z : !lc) {
    ^bb0(%p: !tile, %q: !tile, %r: !tile):
      %m = "d2m.tile_matmul"(%p, %q, %r) : (!tile, !tile, !tile) -> !tile
      linalg.yield %m : !tile
    }
  }
  return
}

// CHECK-LABEL: func.func @matmul
// CHECK: d2m.generic {block_factors = [], grid = #ttcore.grid<2x4>, indexing_maps = [], iterator_types = [], threads = [#d2m.thread<datamovement, @datamovement_kernel0>, #d2m.thread<datamovement, @datamovement_kernel1>, #d2m.thread<compute, @compute_kernel2>]}

// The cores of the first column load blocks of rows and send them to the three others.
// CHECK-LABEL: func.func private @datamovement_kernel0
// CHECK-SAME: attributes {d2m.thread = #d2m.thread<datamovement>}
// CHECK: %[[A:.*]] = d2m.get_global_operand(0) : memref<2x4x2x3x
// CHECK: scf.for %[[K:.*]] = %{{.*}} to %c4
// CHECK: %[[ROOM:.*]] = d2m.reserve %arg0
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %core1, %c0
// CHECK: scf.if %[[FIRST]]
// CHECK: d2m.dma_read %[[A]][%{{.*}}, %[[K]], %c0], %[[ROOM]][%c0], <6>
// CHECK: d2m.semaphore_wait %arg3, %c3 reset %c0
// CHECK: d2m.dma_write %[[ROOM]][%c0], %[[ROOM]][%c0] core[%core0, %c1] mcast[%c1, %c3], <6>
// CHECK: d2m.semaphore_set %arg4, %c1, core[%core0, %c1] mcast[%c1, %c3]
// CHECK: else
// CHECK: d2m.semaphore_inc %arg3, %c1, core[%core0, %c0]
// CHECK: d2m.semaphore_wait %arg4, %c1 reset %c0

// CHECK-LABEL: func.func private @datamovement_kernel1
// CHECK: d2m.dma_write %{{.*}} core[%c1, %core1] mcast[%c1, %c1], <3>

// CHECK-LABEL: func.func private @compute_kernel2
// CHECK: scf.for %[[K:.*]] = %c0 to %c4
// CHECK: %[[DST:.*]] = d2m.acquire_dst() : memref<4x2x1x
// CHECK: %[[AGAIN:.*]] = arith.cmpi ne, %[[K]], %c0
// CHECK: scf.if %[[AGAIN]]
// CHECK: affine.load %{{.*}}[%{{.*}} + %{{.*}}] : memref<2x!ttcore.tile<32x32, bf16>, #l1>
// CHECK: affine.store %{{.*}} : memref<8x!ttcore.tile<32x32, bf16>, #dst>
// CHECK: "d2m.tile_matmul_block"
// CHECK: affine.load %{{.*}} : memref<8x!ttcore.tile<32x32, bf16>, #dst>

// TILES-NOT: tile_matmul_block
// TILES: affine.for
// TILES: affine.for
// TILES: affine.for %{{.*}} = 0 to 3
// TILES: "d2m.tile_matmul"

// KERNELS-LABEL: func.func @matmul
// KERNELS: "ttmetal.enqueue_program"(%arg0, %arg1, %arg2, %0, %1, %arg2) <{cb_ports = array<i64: 0, 1, 2>, kernelConfigs = [#ttmetal.noc_config<@datamovement_kernel0, #ttmetal.core_range<0x0, 2x4>, #ttmetal.kernel_args< ct_args = [<cb_port[0]>, <cb_port[1]>, <cb_port[2]>, <local_semaphore[0]>, <local_semaphore[1]>, <local_semaphore[2]>, <local_semaphore[3]>, <buffer_address[0]>]>, noc0>, #ttmetal.noc_config<@datamovement_kernel1{{.*}}noc1>, #ttmetal.compute_config<@compute_kernel2
// KERNELS-LABEL: func.func private @datamovement_kernel0()
// KERNELS-SAME: ttkernel.arg_spec = #ttkernel.arg_spec< ct_args = [<arg_type = cb_port, operand_index = 0>,{{.*}}<arg_type = buffer_address, operand_index = 0>]>, ttkernel.thread = #ttkernel.thread<noc>
// KERNELS: %[[CB:.*]] = ttkernel.get_compile_time_arg_val(0) : () -> !ttkernel.cb<6, !ttcore.tile<32x32, bf16>>
// KERNELS: ttkernel.cb_reserve_back(%[[CB]], %{{.*}})
// KERNELS: scf.if
// KERNELS: %[[ROW:.*]] = ttkernel.experimental::convert_logical_y_to_translated
// KERNELS: ttkernel.get_noc_addr(%{{.*}}, %[[ROW]], %{{.*}})
// KERNELS: ttkernel.noc_async_read(
// KERNELS: ttkernel.noc_async_read_barrier
// KERNELS: ttkernel.experimental::semaphore_wait(
// KERNELS: ttkernel.get_noc_multicast_addr(
// KERNELS: ttkernel.noc_async_write_multicast(
// KERNELS: ttkernel.noc_async_write_barrier
// KERNELS: ttkernel.noc_semaphore_set_multicast(
// KERNELS: ttkernel.noc_semaphore_inc(
// KERNELS: ttkernel.cb_push_back(%[[CB]], %{{.*}})
// KERNELS-LABEL: func.func private @compute_kernel2()
// KERNELS-SAME: ttkernel.thread = #ttkernel.thread<compute>
// KERNELS: ttkernel.mm_block_init
// KERNELS: ttkernel.cb_wait_front
// KERNELS: ttkernel.tile_regs_acquire
// KERNELS: scf.if
// KERNELS: ttkernel.copy_tile_init
// KERNELS: ttkernel.copy_tile(
// KERNELS: ttkernel.experimental::matmul_block
// KERNELS: ttkernel.tile_regs_commit
// KERNELS: ttkernel.tile_regs_wait
// KERNELS: ttkernel.pack_tile({{.*}}, true)
// KERNELS: ttkernel.tile_regs_release
// What a kernel waits for itself it has handed over before.
// KERNELS: ttkernel.cb_push_back(%[[OUT:.*]], %{{.*}})
// KERNELS: ttkernel.cb_wait_front(%[[OUT]], %{{.*}})
