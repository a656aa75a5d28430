// RUN: not ttmlir-opt --split-input-file %s 2>&1 | FileCheck %s
// What the operations of 2026 require.

#l1 = #ttcore.memory_space<l1>
!tile = !ttcore.tile<32x32, bf16>
!remote = memref<2x2x1x2x!tile, #ttcore.shard<4096x2048, 1>, #l1>
// CHECK: 'd2m.remote_load' op number of indices (1) must match grid rank (2)
func.func @load(%arg0: !remote, %arg1: memref<1x2x!tile, #l1>, %i: index) {
  %0 = d2m.remote_load %arg1 %arg0[%i] : memref<1x2x!tile, #l1>, !remote -> memref<1x2x!tile, #l1>
  return
}

// -----

#l1 = #ttcore.memory_space<l1>
!tile = !ttcore.tile<32x32, bf16>
!remote = memref<2x2x1x2x!tile, #ttcore.shard<4096x2048, 1>, #l1>
// CHECK: 'd2m.remote_store' op memref operand must be remote, i.e. have a device layout
func.func @store(%arg0: !remote, %arg1: memref<1x2x!tile, #l1>, %i: index) {
  d2m.remote_store %arg1[%i] %arg1 : memref<1x2x!tile, #l1>, memref<1x2x!tile, #l1>
  return
}

// -----

#l1 = #ttcore.memory_space<l1>
!tile = !ttcore.tile<32x32, bf16>
!remote = memref<2x2x1x2x!tile, #ttcore.shard<4096x2048, 1>, #l1>
// CHECK: 'd2m.spatial' op number of grid_ranges (1) must match number of regions (2)
func.func @spatial(%arg0: !remote) {
  d2m.spatial {grid_ranges = [#ttcore.core_range<(0,0), (1,1)>]} ins() outs(%arg0 : !remote) {
    d2m.spatial_yield
  }, {
    d2m.spatial_yield
  }
  return
}

// -----

#l1 = #ttcore.memory_space<l1>
!tile = !ttcore.tile<32x32, bf16>
!remote = memref<2x2x1x2x!tile, #ttcore.shard<4096x2048, 1>, #l1>
// CHECK: 'd2m.spatial' op grid_ranges must not overlap
func.func @overlap(%arg0: !remote) {
  d2m.spatial {grid_ranges = [#ttcore.core_range<(0,0), (1,1)>, #ttcore.core_range<(1,1), (2,2)>]} ins() outs(%arg0 : !remote) {
    d2m.spatial_yield
  }, {
    d2m.spatial_yield
  }
  return
}

// -----

// CHECK: memref layout mismatch between rank and affine map: 4 != 2
func.func private @cb(memref<1x1x1x2x!ttcore.tile<32x32, bf16>, #ttcore.cb_layout<4096x2048, 2>, #ttcore.memory_space<l1>>)

// -----

#l1 = #ttcore.memory_space<l1>
// CHECK: 'd2m.mask' op input and output must have the same shape
func.func @mask(%arg0: tensor<2x2x!ttcore.tile<32x32, bf16>>, %arg1: tensor<2x1x!ttcore.tile<32x32, bf16>>) {
  %0 = d2m.mask %arg0, %arg1 logical_shape = [50, 20] fill_value = <zero> : tensor<2x2x!ttcore.tile<32x32, bf16>> into tensor<2x1x!ttcore.tile<32x32, bf16>> -> tensor<2x1x!ttcore.tile<32x32, bf16>>
  return
}

// -----

// CHECK: 'd2m.create_global_semaphore' op input must have a device layout
func.func @semaphore(%arg0: tensor<2x2xui32>) {
  %0 = d2m.create_global_semaphore(%arg0) {value = 0 : ui32} : tensor<2x2xui32> -> !d2m.global_semaphore
  return
}

// -----

// CHECK: 'd2m.reset_global_semaphore' op operand #0 must be global semaphore, but got '!d2m.local_semaphore'
func.func @reset(%arg0: !d2m.local_semaphore) {
  d2m.reset_global_semaphore(%arg0) {value = 0 : ui32} : !d2m.local_semaphore
  return
}

// -----

// CHECK: 'd2m.scratch_allocate' op slot must be 0 or above, got -1
func.func @scratch() {
  %0 = d2m.scratch_allocate {slot = -1 : i64} : memref<1x1xf32>
  return
}

// -----

// CHECK: 'd2m.set_l1_accumulate' op expected to be in a compute region
func.func @accumulate(%arg0: i1) attributes {d2m.thread = #d2m.thread<datamovement>} {
  "d2m.set_l1_accumulate"(%arg0) : (i1) -> ()
  return
}

// -----

// CHECK: 'd2m.tile_exp' op operand #0 must be TT tile, but got 'f32'
func.func @number(%arg0: f32) attributes {d2m.thread = #d2m.thread<compute>} {
  %0 = "d2m.tile_exp"(%arg0) : (f32) -> !ttcore.tile<32x32, bf16>
  return
}

// -----

#l1 = #ttcore.memory_space<l1>
!tile = !ttcore.tile<32x32, bf16>
// CHECK: 'd2m.dma_read' op Must have 0 dst index for local dst operand
func.func @shard(%arg0: memref<2x2x1x2x!tile, #ttcore.shard<4096x2048, 1>, #l1>, %arg1: memref<1x2x!tile, #l1>, %i: index) attributes {d2m.thread = #d2m.thread<datamovement>} {
  %0 = d2m.dma_read %arg0[%i, %i], %arg1[%i], <0> : (memref<2x2x1x2x!tile, #ttcore.shard<4096x2048, 1>, #l1>, memref<1x2x!tile, #l1>) -> !d2m.mem_tx
  return
}
