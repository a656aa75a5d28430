// RUN: ttmlir-opt %s -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -

// The operations of late 2025: buffers, transfers and programs of named kernels.

#l1 = #ttcore.memory_space<l1>
!device = memref<8x8x2x1x!ttcore.tile<32x32, f32>, #ttcore.shard<4096x4096>, #l1>
// CHECK-LABEL: func.func @program
func.func @program(%host: memref<512x256xf32>) {
  // CHECK: %0 = "ttmetal.create_buffer"() <{address = 1024 : i64}> : () -> memref<8x8x2x1x!ttcore.tile<32x32, f32>, #ttcore.shard<4096x4096>, #l1>
  %0 = "ttmetal.create_buffer"() <{address = 1024 : i64}> : () -> !device
  %1 = "ttmetal.create_buffer"() <{address = 9216 : i64}> : () -> !device
  // CHECK: "ttmetal.enqueue_write_buffer"(%arg0, %0) :
  "ttmetal.enqueue_write_buffer"(%host, %0) : (memref<512x256xf32>, !device) -> ()
  // CHECK: "ttmetal.enqueue_program"(%0, %1, %0, %1) <{cb_ports = array<i64: 0, 1>, kernelConfigs = [#ttmetal.noc_config<@datamovement_kernel0, #ttmetal.core_range<0x0, 8x8>, #ttmetal.kernel_args<ct_args = [<cb_port[0]>, <buffer_address[0]>], rt_args = [<semaphore[0]>]>, noc0>, #ttmetal.noc_config<@"kernel 1", #ttmetal.core_range<0x0, 8x8>, #ttmetal.kernel_args<>, noc1>, #ttmetal.compute_config<@compute_kernel2, #ttmetal.core_range<1x2, 3x4>, #ttmetal.kernel_args<ct_args = [<cb_port[1]>]>, hifi4, true, false, true, [default, fp32]>], operandSegmentSizes = array<i32: 2, 2>}> :
  "ttmetal.enqueue_program"(%0, %1, %0, %1) <{cb_ports = array<i64: 0, 1>, kernelConfigs = [#ttmetal.noc_config<@datamovement_kernel0, #ttmetal.core_range<0x0, 8x8>, #ttmetal.kernel_args<ct_args = [<cb_port[0]>, <buffer_address[0]>], rt_args = [<semaphore[0]>]>, noc0>, #ttmetal.noc_config<@"kernel 1", <0x0, 8x8>, <>, noc1>, #ttmetal.compute_config<@compute_kernel2, #ttmetal.core_range<1x2, 3x4>, #ttmetal.kernel_args<ct_args = [#ttmetal.kernel_arg<cb_port[1]>]>, hifi4, true, false, true, [default, fp32]>], operandSegmentSizes = array<i32: 2, 2>}> : (!device, !device, !device, !device) -> ()
  // CHECK: "ttmetal.enqueue_read_buffer"(%1, %arg0) :
  "ttmetal.enqueue_read_buffer"(%1, %host) : (!device, memref<512x256xf32>) -> ()
  // CHECK: "ttmetal.finish"() : () -> ()
  "ttmetal.finish"() : () -> ()
  // CHECK: "ttmetal.deallocate_buffer"(%0) :
  "ttmetal.deallocate_buffer"(%0) : (!device) -> ()
  return
}

// CHECK-LABEL: func.func @mesh
func.func @mesh(%a: tensor<8x16xf32>) -> tensor<4x16xf32> {
  // CHECK: "ttmetal.mesh_shard"(%arg0) <{shard_dims = array<i64: 0>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 2, 1>, shard_type = #ttcore.shard_type<devices>}> :
  %0 = "ttmetal.mesh_shard"(%a) <{shard_dims = array<i64: 0>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 2, 1>, shard_type = #ttcore.shard_type<devices>}> : (tensor<8x16xf32>) -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}
