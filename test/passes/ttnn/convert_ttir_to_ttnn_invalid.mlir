// What has no counterpart in ttnn, or lacks what the conversion needs, is refused.
// RUN: ttmlir-opt --convert-ttir-to-ttnn --split-input-file --verify-diagnostics %s

#any_device = #tt.operand_constraint<any_device>
func.func @no_device(%a: tensor<5x7xf32>) -> tensor<5x7xf32> {
  // expected-error @+1 {{there is no device: convert-ttir-to-ttnn needs the attribute tt.device on an enclosing operation; run ttir-implicit-device before}}
  %0 = tensor.empty() : tensor<5x7xf32>
  %1 = "ttir.abs"(%a, %0) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any_device, #any_device]}> : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  return %1 : tensor<5x7xf32>
}

// -----

func.func @other_dialect(%a: tensor<5x7xf32>) -> tensor<5x7xf32> {
  // expected-error @+1 {{failed to legalize operation 'arith.addf': convert-ttir-to-ttnn takes ttir, func and tensor.empty operations}}
  %0 = arith.addf %a, %a : tensor<5x7xf32>
  return %0 : tensor<5x7xf32>
}

// -----

#any_device = #tt.operand_constraint<any_device>
func.func @kernel(%a: tensor<5x7xf32>, %b: tensor<5x7xf32>) -> tensor<5x7xf32> {
  // expected-error @+1 {{failed to legalize operation 'ttir.kernel': it has no counterpart in ttnn; use convert-ttir-to-ttmetal for it}}
  %0 = "ttir.kernel"(%a, %b) <{kind = @eltwise, op = @relu, operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any_device, #any_device]}> : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  return %0 : tensor<5x7xf32>
}

// -----

#any_device = #tt.operand_constraint<any_device>
func.func @uneven(%image: tensor<1x5x6x3xf32>, %weight: tensor<4x3x2x3xf32>, %out: tensor<1x5x4x4xf32>) -> tensor<1x5x4x4xf32> {
  // expected-error @+1 {{padding must be the same above and below and the same left and right, but is top 0, bottom 1, left 0, right 0; run ttir-sliding-window-2d-fix-shapes before, which pads unevenly}}
  %0 = "ttir.conv2d"(%image, %weight, %out) <{dilation_height = 1 : si32, dilation_width = 1 : si32, groups = 1 : si32, operand_constraints = [#any_device, #any_device, #any_device], padding_bottom = 1 : si32, padding_left = 0 : si32, padding_right = 0 : si32, padding_top = 0 : si32, stride_height = 1 : si32, stride_width = 1 : si32}> : (tensor<1x5x6x3xf32>, tensor<4x3x2x3xf32>, tensor<1x5x4x4xf32>) -> tensor<1x5x4x4xf32>
  return %0 : tensor<1x5x4x4xf32>
}

// -----

#any_device = #tt.operand_constraint<any_device>
func.func @repeats_badly(%a: tensor<2x7xf32>, %out: tensor<5x7xf32>) -> tensor<5x7xf32> {
  // expected-error @+1 {{cannot repeat extents [2, 7] to [5, 7]: each must be 1 or the extent of the result}}
  %0 = "ttir.broadcast"(%a, %out) <{dimension = [0], operand_constraints = [#any_device, #any_device]}> : (tensor<2x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  return %0 : tensor<5x7xf32>
}

// -----

#any_device = #tt.operand_constraint<any_device>
func.func @placed_badly(%a: tensor<7xf32>, %out: tensor<5x7xf32>) -> tensor<5x7xf32> {
  // expected-error @+1 {{cannot place 1 dimensions at [2] of a result with 2}}
  %0 = "ttir.broadcast"(%a, %out) <{dimension = [2], operand_constraints = [#any_device, #any_device]}> : (tensor<7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  return %0 : tensor<5x7xf32>
}

// -----

func.func @dynamic(%n: index) -> tensor<?x7xf32> {
  // expected-error @+1 {{dynamic extents are not supported: give every tensor a static shape}}
  %0 = tensor.empty(%n) : tensor<?x7xf32>
  return %0 : tensor<?x7xf32>
}
