// What the passes on ttir refuse, and what they say.
// RUN: ttmlir-opt --ttir-load-system-desc --ttir-implicit-device --ttir-layout --ttir-generic-kernel --ttir-split-compound-layout --ttir-allocate --split-input-file --verify-diagnostics %s

#any_device = #tt.operand_constraint<any_device>
func.func @few_constraints(%a: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %0 = tensor.empty() : tensor<5x7xf32>
  // expected-error @+1 {{'ttir.abs' op has 1 operand_constraints for 2 operands; give one for each operand, inputs first}}
  %1 = "ttir.abs"(%a, %0) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any_device]}> : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  return %1 : tensor<5x7xf32>
}

// -----

// expected-error @+1 {{no layout for (tensor<?x7xf32>) -> tensor<?x7xf32>: a layout needs a static shape}}
func.func @dynamic(%a: tensor<?x7xf32>) -> tensor<?x7xf32> {
  return %a : tensor<?x7xf32>
}

// -----

// expected-error @+1 {{element type 'complex<f32>' cannot be laid out}}
func.func @complex(%a: tensor<5x7xcomplex<f32>>) -> tensor<5x7xcomplex<f32>> {
  return %a : tensor<5x7xcomplex<f32>>
}

// -----

#tile = #tt.operand_constraint<any_device_tile>
func.func @no_format(%a: tensor<5x7xi7>) -> tensor<5x7xi7> {
  %0 = tensor.empty() : tensor<5x7xi7>
  // expected-error @+1 {{'ttir.abs' op operand #0 cannot be laid out: element type 'i7' has no storage format; supported are f16, bf16, f32, f64, integers of 1, 8, 16, 32 or 64 bits, and index}}
  %1 = "ttir.abs"(%a, %0) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#tile, #tile]}> : (tensor<5x7xi7>, tensor<5x7xi7>) -> tensor<5x7xi7>
  return %1 : tensor<5x7xi7>
}

// -----

#any_device = #tt.operand_constraint<any_device>
func.func @kind(%a: tensor<5x7xf32>, %b: tensor<5x7xf32>) -> tensor<5x7xf32> {
  // expected-error @+1 {{kernels of kind @reduce are not supported; supported: @eltwise, @matmul}}
  %0 = "ttir.kernel"(%a, %b) <{kind = @reduce, op = @sum, operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any_device, #any_device]}> : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  return %0 : tensor<5x7xf32>
}

// -----

#any_device = #tt.operand_constraint<any_device>
func.func @ranks(%a: tensor<5x7xf32>, %b: tensor<5x7xf32>) -> tensor<5x7xf32> {
  // expected-error @+1 {{kernels of kind @matmul take two inputs and one output of one rank of at least 2, got ranks 2, 2}}
  %0 = "ttir.kernel"(%a, %b) <{kind = @matmul, op = @matmul, operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any_device, #any_device]}> : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  return %0 : tensor<5x7xf32>
}

// -----

#l1_ = #tt.memory_space<l1>
#big = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<1000x1000xf32, #l1_>>
// expected-error @+1 {{does not fit into l1: 4000000 bytes beside 0 bytes that are in use, between 1024 and 1499136; use smaller tensors, larger grids or another memory space; kernels of ttir-to-ttmetal-pipeline take tensors from DRAM}}
func.func @big(%a: tensor<1000x1000xf32, #big>) {
  return
}
