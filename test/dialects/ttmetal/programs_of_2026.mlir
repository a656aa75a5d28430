// RUN: ttmlir-opt %s -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -

// The operations as tt-lang 1.1.1 reads and prints them: semaphores, mappings of grids, arguments of
// each run before those of the compiler.

#l1 = #ttcore.memory_space<l1>
!t = memref<2x2x1x1x!ttcore.tile<32x32, f32>, #ttcore.shard<4096x4096, 1>, #l1>
// CHECK: #[[MAP:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @f
func.func @f(%host: memref<64x64xf32>) {
  // CHECK-NEXT: %0 = "ttmetal.create_buffer"() <{address = 1024 : i64, virtualGridInverseMapping = #[[MAP]]}> : () -> memref<2x2x1x1x!ttcore.tile<32x32, f32>, #ttcore.shard<4096x4096, 1>, #l1>
  %0 = "ttmetal.create_buffer"() <{address = 1024 : i64, virtualGridInverseMapping = affine_map<(d0, d1) -> (d0, d1)>}> : () -> !t
  // CHECK-NEXT: %1 = "ttmetal.create_global_semaphore"() <{address = 64 : i64, core_range = #ttmetal.core_range<0x0, 2x2>, initial_value = 3 : ui32}> : () -> !ttmetal.global_semaphore
  %g = "ttmetal.create_global_semaphore"() <{address = 64 : i64, core_range = #ttmetal.core_range<0x0, 2x2>, initial_value = 3 : ui32}> : () -> !ttmetal.global_semaphore
  // CHECK-NEXT: "ttmetal.reset_global_semaphore"(%1) <{value = 1 : ui32}> : (!ttmetal.global_semaphore) -> ()
  "ttmetal.reset_global_semaphore"(%g) <{value = 1 : ui32}> : (!ttmetal.global_semaphore) -> ()
  // CHECK-NEXT: %2 = "ttmetal.create_local_semaphore"() <{initial_value = 0 : ui32}> : () -> !ttmetal.local_semaphore
  %l = "ttmetal.create_local_semaphore"() <{initial_value = 0 : ui32}> : () -> !ttmetal.local_semaphore
  // CHECK-NEXT: "ttmetal.enqueue_write_buffer"(%arg0, %0) : (memref<64x64xf32>, memref<2x2x1x1x!ttcore.tile<32x32, f32>, #ttcore.shard<4096x4096, 1>, #l1>) -> ()
  "ttmetal.enqueue_write_buffer"(%host, %0) : (memref<64x64xf32>, !t) -> ()
  // CHECK-NEXT: "ttmetal.enqueue_program"(%0, %1, %0) <{cb_ports = array<i64: 0>, kernelConfigs = [#ttmetal.noc_config<@k, #ttmetal.core_range<0x0, 2x2>, #ttmetal.kernel_args< ct_args = [<cb_port[0]>, <global_semaphore[1]>]>, noc0>, #ttmetal.compute_config<@c, #ttmetal.core_range<0x0, 2x2>, #ttmetal.kernel_args<rt_args = [<scalar[0]>] ct_args = [<named_argument[0]>]>, hifi2, true, false, false, [fp32]>, #ttmetal.ethernet_config<@e, #ttmetal.core_range<0x0, 1x1>, #ttmetal.kernel_args< >, sender, noc1>], operandSegmentSizes = array<i32: 2, 1>}> : (memref<2x2x1x1x!ttcore.tile<32x32, f32>, #ttcore.shard<4096x4096, 1>, #l1>, !ttmetal.global_semaphore, memref<2x2x1x1x!ttcore.tile<32x32, f32>, #ttcore.shard<4096x4096, 1>, #l1>) -> ()
  "ttmetal.enqueue_program"(%0, %g, %0) <{cb_ports = array<i64: 0>, kernelConfigs = [#ttmetal.noc_config<@k, #ttmetal.core_range<0x0, 2x2>, #ttmetal.kernel_args< ct_args = [<cb_port[0]>, <global_semaphore[1]>]>, noc0>, #ttmetal.compute_config<@c, #ttmetal.core_range<0x0, 2x2>, #ttmetal.kernel_args<rt_args = [<scalar[0]>] ct_args = [<named_argument[0]>]>, hifi2, true, false, false, [fp32]>, #ttmetal.ethernet_config<@e, #ttmetal.core_range<0x0, 1x1>, #ttmetal.kernel_args< >, sender, noc1>], operandSegmentSizes = array<i32: 2, 1>}> : (!t, !ttmetal.global_semaphore, !t) -> ()
  // CHECK-NEXT: "ttmetal.enqueue_read_buffer"(%0, %arg0) : (memref<2x2x1x1x!ttcore.tile<32x32, f32>, #ttcore.shard<4096x4096, 1>, #l1>, memref<64x64xf32>) -> ()
  "ttmetal.enqueue_read_buffer"(%0, %host) : (!t, memref<64x64xf32>) -> ()
  // CHECK-NEXT: "ttmetal.finish"() : () -> ()
  "ttmetal.finish"() : () -> ()
  // CHECK-NEXT: "ttmetal.deallocate_buffer"(%0) : (memref<2x2x1x1x!ttcore.tile<32x32, f32>, #ttcore.shard<4096x4096, 1>, #l1>) -> ()
  "ttmetal.deallocate_buffer"(%0) : (!t) -> ()
  return
}

// CHECK-LABEL: func.func @m
func.func @m(%a: memref<8x16xf32>) -> memref<4x16xf32> {
  // CHECK-NEXT: %0 = "ttmetal.mesh_shard"(%arg0) <{shard_dims = array<i64: 0>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 2, 1>, shard_type = #ttcore.shard_type<devices>}> : (memref<8x16xf32>) -> memref<4x16xf32>
  %0 = "ttmetal.mesh_shard"(%a) <{shard_dims = array<i64: 0>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 2, 1>, shard_type = #ttcore.shard_type<devices>}> : (memref<8x16xf32>) -> memref<4x16xf32>
  return %0 : memref<4x16xf32>
}
