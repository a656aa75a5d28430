// The passes of 2026 on regions, one after another: a product whose blocks several cores share.
// RUN: ttmlir-opt --d2m-generate-outer-loops --d2m-generic-tile-compute-loops --d2m-linalg-to-affine --d2m-insert-dst-register-access-unscheduled --d2m-insert-tile-matmul-block --d2m-generic-linearize-memref --d2m-generic-lower-to-explicit-form --canonicalize --d2m-split-unified-thread -o %t.mlir %s
// RUN: FileCheck %s --check-prefix=SPLIT --input-file=%t.mlir
// RUN: ttmlir-opt --d2m-preallocate-mcast-semaphores --d2m-schedule-dma --d2m-lower-load-store-ops-to-dma --d2m-lower-dma-to-fully-indexed-form --canonicalize --d2m-generic-regions-to-funcs %t.mlir -o %t.funcs
// RUN: FileCheck %s --input-file=%t.funcs
// RUN: ttmlir-opt --convert-d2m-to-ttkernel --convert-d2m-to-ttmetal %t.funcs | FileCheck %s --check-prefix=KERNELS

#l1 = #ttcore.memory_space<l1>
#lhs = affine_map<(d0, d1, d2) -> (d0, d2)>
#rhs = affine_map<(d0, d1, d2) -> (d2, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
!tile = !ttcore.tile<32x32, bf16>
!a = memref<2x4x2x3x!tile, #ttcore.shard<6144x2048, 1>, #l1>
!b = memref<4x4x3x1x!tile, #ttcore.shard<2048x2048, 1>, #l1>
!c = memref<2x4x2x1x!tile, #ttcore.shard<2048x2048, 1>, #l1>
!la = memref<2x3x!tile, #l1>
!lb = memref<3x1x!tile, #l1>
!lc = memref<2x1x!tile, #l1>
func.func @matmul(%a: !a, %b: !b, %c: !c) {
  d2m.generic {block_factors = [1, 1, 4], grid = #ttcore.grid<2x4>, indexing_maps = [#lhs, #rhs, #out], iterator_types = [#parallel, #parallel, #reduction], threads = [#d2m.thread<unified>]} ins(%a, %b : !a, !b) outs(%c : !c) {
  ^unified0:
    %i = d2m.block_index(0) : index
    %j = d2m.block_index(1) : index
    %k = d2m.block_index(2) : index
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %ba = memref.alloc() : !la
    %x = d2m.remote_load %ba %a[%i, %k] mcast[%c1] : !la, !a -> !la
    %bb = memref.alloc() : !lb
    %y = d2m.remote_load %bb %b[%k, %j] mcast[%c0] : !lb, !b -> !lb
    %z = memref.alloc() : !lc
    linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : !la, !lb) outs(%z : !lc) {
    ^bb0(%p: !tile, %q: !tile, %r: !tile):
      %m = "d2m.tile_matmul"(%p, %q, %r) : (!tile, !tile, !tile) -> !tile
      linalg.yield %m : !tile
    }
    %st = d2m.remote_store %c[%i, %j] %z : !c, !lc -> !c
  }
  return
}

// SPLIT: threads = [#d2m.thread<datamovement>, #d2m.thread<datamovement>, #d2m.thread<compute>]
// SPLIT: d2m.remote_load %arg0[%{{.*}}, %{{.*}}] into %cb mcore[%{{.*}}, %{{.*}}] mshape[%c1, %c4]
// SPLIT: d2m.remote_load %arg1[%{{.*}}, %{{.*}}] into %cb_0 mcore[%{{.*}}, %{{.*}}] mshape[%c2, %c1]
// SPLIT-NOT: linalg.generic
// SPLIT: }, {
// SPLIT: d2m.remote_store %arg2[%{{.*}}, %{{.*}}] from %cb
// SPLIT: }, {
// SPLIT: d2m.wait %cb
// SPLIT: d2m.wait %cb_0
// SPLIT: d2m.reserve %cb_1
// SPLIT: "d2m.tile_matmul_block"
// SPLIT: d2m.push %cb_1
// SPLIT: d2m.pop %cb
// SPLIT: d2m.pop %cb_0

// CHECK-LABEL: func.func @matmul
// CHECK-COUNT-4: d2m.create_local_semaphore
// CHECK: threads = [#d2m.thread<datamovement, @datamovement_kernel0>, #d2m.thread<datamovement, @datamovement_kernel1>, #d2m.thread<compute, @compute_kernel2>]
// CHECK: additionalArgs(
// CHECK-LABEL: func.func private @datamovement_kernel0()
// CHECK: %[[A:.*]] = d2m.get_global_operand(0)
// CHECK: %[[ARRIVED:.*]] = d2m.get_arg(4) : !d2m.local_semaphore
// CHECK: %[[BUFFER:.*]] = d2m.reserve %cb
// CHECK: scf.if
// CHECK: d2m.dma_read %[[A]][%{{.*}}, %{{.*}}, %c0], %[[BUFFER]][%c0], <6>
// CHECK: d2m.dma_write %[[BUFFER]][%c0], %[[BUFFER]][%c0] core[%{{.*}}, %c0] mcast[%c1, %c4], <6>
// CHECK: d2m.semaphore_set %[[ARRIVED]], %c1, core[%{{.*}}, %c0] mcast[%c1, %c4] : !d2m.local_semaphore
// CHECK: d2m.push %cb
// CHECK-LABEL: func.func private @datamovement_kernel1()
// CHECK: d2m.dma_write %{{.*}}[%c0], %0[%{{.*}}, %{{.*}}, %c0], <2>
// CHECK: d2m.pop %cb
// CHECK-LABEL: func.func private @compute_kernel2()

// KERNELS-LABEL: func.func @matmul
// KERNELS-COUNT-4: "ttmetal.create_local_semaphore"
// KERNELS: "ttmetal.enqueue_program"(%arg0, %arg1, %arg2, %0, %1, %2, %3, %arg0, %arg1, %arg2)
// KERNELS-SAME: #ttmetal.kernel_args< ct_args = [<cb_port[2]>, <buffer_address[2]>]>, noc1>
// KERNELS-LABEL: func.func private @datamovement_kernel1()
// KERNELS: ttkernel.cb_wait_front
// KERNELS: ttkernel.noc_async_write(
// KERNELS: ttkernel.noc_async_write_barrier
// KERNELS: ttkernel.cb_pop_front
