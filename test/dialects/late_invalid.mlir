// RUN: ttmlir-opt --split-input-file --verify-diagnostics %s

// Forms of 2026 that are wrong: each message names what is there and what is supported.

func.func @operands(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{'ttir.add' op expected 2 operands, but found 1}}
  %r = "ttir.add"(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @shape(%a: tensor<4x8xf32>, %b: tensor<4x7xf32>) {
  // expected-error@+1 {{'ttir.add' op operand shape (4, 7) is not broadcast compatible with inferred operand shapes (4, 8)}}
  %r = "ttir.add"(%a, %b) : (tensor<4x8xf32>, tensor<4x7xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @kind(%a: tensor<1x8x8x3xf32>) {
  // expected-error@+1 {{'ttir.max_pool2d' op attribute 'kernel' failed to satisfy constraint: 32-bit signless integer attribute or i32 dense array attribute}}
  %r = "ttir.max_pool2d"(%a) <{kernel = "two", stride = 2 : i32}> : (tensor<1x8x8x3xf32>) -> tensor<1x4x4x3xf32>
  return
}

// -----

func.func @window(%a: tensor<1x3x3x3xf32>) {
  // expected-error@+1 {{'ttir.max_pool2d' op effective kernel size (5, 5) cannot be greater than the padded input size per channel (3, 3)}}
  %r = "ttir.max_pool2d"(%a) <{ceil_mode = false, dilation = 1 : i32, kernel = array<i32: 5, 5>, padding = 0 : i32, stride = 1 : i32}> : (tensor<1x3x3x3xf32>) -> tensor<1x1x1x3xf32>
  return
}

// -----

func.func @product(%a: tensor<4x8xf32>, %b: tensor<4x7xf32>) {
  // expected-error@+1 {{'ttir.matmul' op Output shape dimension[0](4) doesn't match the expected output shape dimension[0](8)}}
  %r = "ttir.matmul"(%a, %b) <{transpose_a = true}> : (tensor<4x8xf32>, tensor<4x7xf32>) -> tensor<4x7xf32>
  return
}

// -----

// expected-error@+1 {{expected one of: op_type, params}}
#a = #ttnn.unary_with_param<kind = relu>

// -----

// expected-error@+1 {{expected one of: in0_block_w, out_subblock_h, out_subblock_w, per_core_m, per_core_n}}
#a = #ttnn.matmul_multi_core_reuse_program_config<compute_with_storage_grid_size = #ttnn.core_coord<8, 8>, per_core_k = 1>

// -----

// expected-error@+1 {{expected one of: math_approx_mode, fp32_dest_acc_en, packer_l1_acc, dst_full_sync_en}}
#a = #ttnn.device_compute_kernel_config<math_fidelity = hifi4, fast = true>

// -----

// expected-error@+2 {{expected ::mlir::tt::ttcore::ArgumentType to be one of: input, parameter, constant, default}}
// expected-error@+1 {{failed to parse TTCore_ArgumentTypeAttr parameter 'value' which is to be a `::mlir::tt::ttcore::ArgumentType`}}
#a = #ttcore.argument_type<weight>

// -----

// expected-error@+1 {{expected ::mlir::tt::ttcore::CPURole to be one of: host, device}}
#a = #ttcore.system_desc<[{role = guest, target_triple = "x"}], [], [], [], []>

// -----

// expected-error@+1 {{invalid kind of type specified}}
#a = #ttcore<local_shape local_shape = f32>

// -----

// expected-error@+1 {{expected string literal}}
#a = #ttcore.meshes<[<mesh = 1x1>]>

// -----

// expected-error@+1 {{expected ','}}
#a = #ttnn.core_coord<8>

// -----

// expected-error@+1 {{expected '#ttnn.core_range'}}
#a = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #ttnn.buffer_type<l1>>, <height_sharded>, core_ranges = <[1]>>

// -----

func.func @unknown(%a: tensor<4xf32>) {
  // expected-error@+2 {{unregistered operation 'ttir.rms_normal' found in dialect ('ttir') that does not allow unknown operations}}
  // expected-note@+1 {{did you mean 'ttir.rms_norm'?}}
  %r = "ttir.rms_normal"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @callee(%a: tensor<4xf32>) {
  // expected-error@+1 {{'missing' does not reference a function}}
  %r = ttcore.load_cached(@missing, [%a]) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func private @kept(tensor<4xf32>) -> tensor<8xf32>
func.func @cached(%a: tensor<4xf32>) {
  // expected-error@+1 {{Result type mismatch at index 0 -- expected 'tensor<8xf32>' but got: 'tensor<4xf32>'}}
  %r = ttcore.load_cached(@kept, [%a]) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func private @parts(tensor<4xf32>) -> tensor<4xf32>
func.func @composite(%a: tensor<4xf32>) {
  // expected-error@+1 {{decomposition function expects 1 arguments, but composite has 2 inputs}}
  %r = "ttcore.composite"(%a, %a) <{composite_name = "gelu", decomposition = @parts}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @joined(%a: tensor<4x8xf32>, %b: tensor<3x8xf32>, %d: !ttnn.device) {
  // expected-error@+1 {{All input tensors must have the same dimensions, except for dimension 1 (operand 0 shape 4, 8, operand 1 shape 3, 8 differ at dim 0: 4 vs 3).}}
  %r = "ttnn.concat"(%a, %b) <{dim = 1 : si32}> : (tensor<4x8xf32>, tensor<3x8xf32>) -> tensor<4x16xf32>
  return
}
