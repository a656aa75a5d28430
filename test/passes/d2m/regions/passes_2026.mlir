// From ttir to kernels by the passes of 2026, one after another.
// RUN: ttmlir-opt --ttcore-register-device --ttir-to-d2m --d2m-materialize-view-returns --d2m-grid-selection --canonicalize --d2m-lower-to-layout --ttcore-one-shot-bufferize -o %t.mlir %s
// RUN: FileCheck %s --check-prefix=BUFFERS --input-file=%t.mlir
// RUN: ttmlir-opt --d2m-generate-outer-loops --d2m-generic-tile-compute-loops --d2m-linalg-to-affine --d2m-insert-dst-register-access --d2m-sfpu-tile-loop-fission --d2m-generic-linearize-memref --d2m-generic-lower-to-explicit-form --canonicalize --d2m-split-unified-thread --d2m-schedule-dma --d2m-lower-load-store-ops-to-dma --d2m-lower-dma-to-fully-indexed-form --d2m-generic-regions-to-funcs --convert-d2m-to-ttkernel --ttkernel-control-dst-section %t.mlir | FileCheck %s

// BUFFERS-LABEL: func.func @add
// BUFFERS: d2m.to_device %arg0, %[[A:.*]] layout = #layout : memref<64x128xbf16> into memref<2x4x32x32xbf16, #ttcore.shard<64x2>, #l1>
// BUFFERS: "d2m.tile_tilize_block"(%{{.*}}, %[[T:.*]]) : (memref<32x32xbf16, #l1>, memref<1x1x!ttcore.tile<32x32, bf16>, #l1>) -> ()
// BUFFERS: d2m.remote_store %{{.*}}[%block0, %block1] %[[T]]
// BUFFERS: "d2m.tile_add"
// BUFFERS: "d2m.tile_untilize_block"
// BUFFERS: d2m.to_host

// CHECK-LABEL: func.func @add
// CHECK: threads = [#d2m.thread<datamovement, @datamovement_kernel0>, #d2m.thread<datamovement, @datamovement_kernel1>, #d2m.thread<compute, @compute_kernel2>]
// CHECK-LABEL: func.func private @compute_kernel2()
// CHECK: ttkernel.tilize_init
// CHECK: ttkernel.experimental::tilize_block
// CHECK-LABEL: func.func private @compute_kernel8()
// CHECK: ttkernel.init_sfpu
// CHECK: ttkernel.cb_wait_front
// CHECK: ttkernel.cb_wait_front
// CHECK: ttkernel.cb_reserve_back
// CHECK: ttkernel.tile_regs_acquire
// CHECK: ttkernel.copy_tile(%{{.*}}, %{{.*}}, %[[FIRST:.*]])
// CHECK: ttkernel.copy_tile(%{{.*}}, %{{.*}}, %[[SECOND:.*]])
// CHECK: ttkernel.add_binary_tile_init
// CHECK: ttkernel.add_binary_tile(
// CHECK: ttkernel.tile_regs_commit
// CHECK: ttkernel.pack_tile
// CHECK: ttkernel.cb_push_back
// CHECK: ttkernel.cb_pop_front
func.func @add(%a: tensor<64x128xbf16>, %b: tensor<64x128xbf16>) -> tensor<64x128xbf16> {
  %0 = "ttir.add"(%a, %b) : (tensor<64x128xbf16>, tensor<64x128xbf16>) -> tensor<64x128xbf16>
  return %0 : tensor<64x128xbf16>
}
