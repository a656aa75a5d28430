// RUN: ttmlir-opt --split-input-file --verify-diagnostics %s

// What tt-mlir's compiler of 2026 says about these operations.

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<5x7xf32>) {
  // expected-error@+1 {{'ttnn.reduce_precision' op attribute 'exponent_bits' failed to satisfy constraint: 32-bit signed integer attribute whose minimum value is 1}}
  %r = "ttnn.reduce_precision"(%a0) <{exponent_bits = 0 : si32, mantissa_bits = 3 : si32}> : (tensor<5x7xf32>) -> tensor<5x7xf32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<5x7xf32>) {
  // expected-error@+1 {{'ttir.reduce_precision' op attribute 'mantissa_bits' failed to satisfy constraint: 32-bit signed integer attribute whose value is non-negative}}
  %r = "ttir.reduce_precision"(%a0) <{exponent_bits = 4 : si32, mantissa_bits = -1 : si32}> : (tensor<5x7xf32>) -> tensor<5x7xf32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<5x7xsi32>) {
  // expected-error@+1 {{'ttnn.reduce_precision' op operand #0 must be ranked tensor of 32-bit float or bfloat16 type or 16-bit float values, but got 'tensor<5x7xsi32>'}}
  %r = "ttnn.reduce_precision"(%a0) <{exponent_bits = 4 : si32, mantissa_bits = 3 : si32}> : (tensor<5x7xsi32>) -> tensor<5x7xf32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<5x7xf32>) {
  // expected-error@+1 {{'ttir.reduce_precision' op result #0 must be ranked tensor of 32-bit float or bfloat16 type or 16-bit float values, but got 'tensor<5x7xf64>'}}
  %r = "ttir.reduce_precision"(%a0) <{exponent_bits = 4 : si32, mantissa_bits = 3 : si32}> : (tensor<5x7xf32>) -> tensor<5x7xf64>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<5x7xf16>) {
  // expected-error@+1 {{'ttir.reduce_precision' op failed to verify that all of {input, result} have same shape}}
  %r = "ttir.reduce_precision"(%a0) <{exponent_bits = 4 : si32, mantissa_bits = 3 : si32}> : (tensor<5x7xf16>) -> tensor<5x8xf16>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<5x7xbf16>) {
  // expected-error@+1 {{'ttnn.reduce_precision' op failed to verify that all of {input, result} have same element type}}
  %r = "ttnn.reduce_precision"(%a0) <{exponent_bits = 4 : si32, mantissa_bits = 3 : si32}> : (tensor<5x7xbf16>) -> tensor<5x7xf32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<5x7xsi32, #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, si32>, #ttnn.buffer_type<dram>>, <interleaved>>>, %a1: tensor<5x7xf32, #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #ttnn.buffer_type<dram>>, <interleaved>>>) {
  // expected-error@+1 {{'ttnn.logical_left_shift' op Right operand element type must be integer, but got 'f32'}}
  %r = "ttnn.logical_left_shift"(%a0, %a1) <{activations = [], input_tensor_a_activations = [], input_tensor_b_activations = []}> : (tensor<5x7xsi32, #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, si32>, #ttnn.buffer_type<dram>>, <interleaved>>>, tensor<5x7xf32, #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #ttnn.buffer_type<dram>>, <interleaved>>>) -> tensor<5x7xsi32, #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, si32>, #ttnn.buffer_type<dram>>, <interleaved>>>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<5x7xui32, #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, u32>, #ttnn.buffer_type<dram>>, <interleaved>>>, %a1: tensor<5x7xui32, #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, u32>, #ttnn.buffer_type<dram>>, <interleaved>>>) {
  // expected-error@+1 {{'ttnn.logical_right_shift' op Output element type must be integer, but got 'f32'}}
  %r = "ttnn.logical_right_shift"(%a0, %a1) <{activations = [], input_tensor_a_activations = [], input_tensor_b_activations = []}> : (tensor<5x7xui32, #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, u32>, #ttnn.buffer_type<dram>>, <interleaved>>>, tensor<5x7xui32, #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, u32>, #ttnn.buffer_type<dram>>, <interleaved>>>) -> tensor<5x7xf32, #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #ttnn.buffer_type<dram>>, <interleaved>>>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<5x7xf32>) {
  // expected-error@+1 {{'ttir.mish' op result shape (5, 8) doesn't match expected shape after broadcasting (5, 7)}}
  %r = "ttir.mish"(%a0) : (tensor<5x7xf32>) -> tensor<5x8xf32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<5x7xui32>, %a1: tensor<5x8xui32>) {
  // expected-error@+1 {{'ttir.mulhi' op operand shape (5, 8) is not broadcast compatible with inferred operand shapes (5, 7)}}
  %r = "ttir.mulhi"(%a0, %a1) : (tensor<5x7xui32>, tensor<5x8xui32>) -> tensor<5x7xui32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<5x7xf32>) {
  // expected-error@+1 {{'ttir.bitcast_convert' op result shape (7, 5) doesn't match expected shape after broadcasting (5, 7)}}
  %r = "ttir.bitcast_convert"(%a0) : (tensor<5x7xf32>) -> tensor<7x5xsi32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<5x7xf32>) {
  // expected-error@+1 {{'ttnn.assign' op output tensor data type does not match expected output data type}}
  %r = "ttnn.assign"(%a0) : (tensor<5x7xf32>) -> tensor<5x7xbf16>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<5x7xf32>, %a1: tensor<2x7xf32>, %a2: tensor<7xf32>) {
  // expected-error@+1 {{'ttir.clamp_tensor' op Min attribute shape (2,7) cannot be broadcasted to output shape (5,7).}}
  %r = "ttir.clamp_tensor"(%a0, %a1, %a2) : (tensor<5x7xf32>, tensor<2x7xf32>, tensor<7xf32>) -> tensor<5x7xf32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<5x7xf32>, %a1: tensor<f32>, %a2: tensor<si32>) {
  // expected-error@+1 {{'ttnn.quantize' op Output element type must be UniformQuantizedType or UniformQuantizedPerAxisType, but got 'f32'}}
  %r = "ttnn.quantize"(%a0, %a1, %a2) <{output_dtype = #ttcore.supportedDataTypes<si32>}> : (tensor<5x7xf32>, tensor<f32>, tensor<si32>) -> tensor<5x7xf32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: tensor<5x7xf32>, %a1: tensor<f32>, %a2: tensor<si32>) {
  // expected-error@+1 {{'ttnn.dequantize' op Input element type must be UniformQuantizedType or UniformQuantizedPerAxisType, but got 'f32'}}
  %r = "ttnn.dequantize"(%a0, %a1, %a2) <{output_dtype = #ttcore.supportedDataTypes<f32>}> : (tensor<5x7xf32>, tensor<f32>, tensor<si32>) -> tensor<5x7xf32>
  return
}
