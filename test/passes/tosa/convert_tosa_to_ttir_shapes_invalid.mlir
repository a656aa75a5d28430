// Operands that do not fit together are refused in the words of tosa, before ttir is made of them.
// RUN: ttmlir-opt --convert-tosa-to-ttir=spelling=2024 --split-input-file --verify-diagnostics %s > %t

func.func @matmul(%a: tensor<2x3x4xf32>, %b: tensor<2x5x6xf32>) -> tensor<2x3x6xf32> {
  // expected-error @+1 {{failed to legalize operation 'tosa.matmul': its operands have different inner extents, 4 and 5}}
  %0 = tosa.matmul %a, %b : (tensor<2x3x4xf32>, tensor<2x5x6xf32>) -> tensor<2x3x6xf32>
  return %0 : tensor<2x3x6xf32>
}

// -----

func.func @matmul_result(%a: tensor<2x3x4xf32>, %b: tensor<2x4x6xf32>) -> tensor<2x4x6xf32> {
  // expected-error @+1 {{failed to legalize operation 'tosa.matmul': its result has the shape 2x4x6, but what it computes is 2x3x6}}
  %0 = tosa.matmul %a, %b : (tensor<2x3x4xf32>, tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  return %0 : tensor<2x4x6xf32>
}

// -----

func.func @fully_connected(%a: tensor<2x3xf32>, %b: tensor<5x3xf32>, %c: tensor<4xf32>) -> tensor<2x5xf32> {
  // expected-error @+1 {{failed to legalize operation 'tosa.fully_connected': its bias has 4 elements; expected 1 or 5}}
  %0 = tosa.fully_connected %a, %b, %c : (tensor<2x3xf32>, tensor<5x3xf32>, tensor<4xf32>) -> tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}

// -----

func.func @conv2d(%a: tensor<1x8x9x3xf32>, %b: tensor<5x3x3x2xf32>, %c: tensor<5xf32>) -> tensor<1x6x7x5xf32> {
  // expected-error @+1 {{failed to legalize operation 'tosa.conv2d': its operands have different channels, 3 and 2}}
  %0 = tosa.conv2d %a, %b, %c {pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<1x8x9x3xf32>, tensor<5x3x3x2xf32>, tensor<5xf32>) -> tensor<1x6x7x5xf32>
  return %0 : tensor<1x6x7x5xf32>
}

// -----

func.func @conv2d_stride(%a: tensor<1x8x9x3xf32>, %b: tensor<5x3x3x3xf32>, %c: tensor<5xf32>) -> tensor<1x6x7x5xf32> {
  // expected-error @+1 {{failed to legalize operation 'tosa.conv2d': its strides are [1, 0]; expected 1 or more each}}
  %0 = tosa.conv2d %a, %b, %c {pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 0>, dilation = array<i64: 1, 1>} : (tensor<1x8x9x3xf32>, tensor<5x3x3x3xf32>, tensor<5xf32>) -> tensor<1x6x7x5xf32>
  return %0 : tensor<1x6x7x5xf32>
}

// -----

func.func @depthwise(%a: tensor<1x2x9x3xf32>, %b: tensor<3x3x3x2xf32>, %c: tensor<6xf32>) -> tensor<1x6x7x6xf32> {
  // expected-error @+1 {{failed to legalize operation 'tosa.depthwise_conv2d': a window of 3 elements does not fit into 2, the image and its padding in dimension 1}}
  %0 = tosa.depthwise_conv2d %a, %b, %c {pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<1x2x9x3xf32>, tensor<3x3x3x2xf32>, tensor<6xf32>) -> tensor<1x6x7x6xf32>
  return %0 : tensor<1x6x7x6xf32>
}

// -----

func.func @transpose_conv2d(%a: tensor<1x2x3x3xf32>, %b: tensor<5x3x2x3xf32>, %c: tensor<5xf32>) -> tensor<1x4x4x5xf32> {
  // expected-error @+1 {{failed to legalize operation 'tosa.transpose_conv2d': its out_pad has -3; expected -2 or more there}}
  %0 = tosa.transpose_conv2d %a, %b, %c {out_pad = array<i64: 0, -3, 0, 0>, out_shape = array<i64: 1, 4, 4, 5>, stride = array<i64: 1, 1>} : (tensor<1x2x3x3xf32>, tensor<5x3x2x3xf32>, tensor<5xf32>) -> tensor<1x4x4x5xf32>
  return %0 : tensor<1x4x4x5xf32>
}

// -----

func.func @max_pool2d(%a: tensor<1x6x8x3xf32>) -> tensor<1x3x4x3xf32> {
  // expected-error @+1 {{failed to legalize operation 'tosa.max_pool2d': its padding of 2 holds whole windows of 2; expected less}}
  %0 = tosa.max_pool2d %a {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 2, 0, 0, 0>} : (tensor<1x6x8x3xf32>) -> tensor<1x3x4x3xf32>
  return %0 : tensor<1x3x4x3xf32>
}

// -----

func.func @concat(%a: tensor<2x3xf32>, %b: tensor<4x5xf32>) -> tensor<6x3xf32> {
  // expected-error @+1 {{failed to legalize operation 'tosa.concat': its operands have different extents in dimension 1, 3 and 5}}
  %0 = tosa.concat %a, %b {axis = 0 : i32} : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<6x3xf32>
  return %0 : tensor<6x3xf32>
}

// -----

func.func @reduce(%a: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{failed to legalize operation 'tosa.reduce_sum': its axis 0 is none of the 0 dimensions of its operand}}
  %0 = tosa.reduce_sum %a {axis = 0 : i32} : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @reshape(%a: tensor<2x3xf32>) -> tensor<5xf32> {
  // expected-error @+1 {{failed to legalize operation 'tosa.reshape': 2x3 has 6 elements, which 5 has not}}
  %0 = tosa.reshape %a {new_shape = array<i64: 5>} : (tensor<2x3xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

func.func @slice(%a: tensor<2x3xf32>) -> tensor<2x2xf32> {
  // expected-error @+1 {{failed to legalize operation 'tosa.slice': in dimension 1, 2 from 2 on is not within 3 elements}}
  %0 = tosa.slice %a {start = array<i64: 0, 2>, size = array<i64: 2, 2>} : (tensor<2x3xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// -----

func.func @tile(%a: tensor<2x3xf32>) -> tensor<4x9xf32> {
  // expected-error @+1 {{failed to legalize operation 'tosa.tile': its result has the shape 4x9, but what it computes is 4x6}}
  %0 = tosa.tile %a {multiples = array<i64: 2, 2>} : (tensor<2x3xf32>) -> tensor<4x9xf32>
  return %0 : tensor<4x9xf32>
}

// -----

func.func @gather(%a: tensor<2x3x4xf32>, %b: tensor<5x6xi32>) -> tensor<2x6x4xf32> {
  // expected-error @+1 {{failed to legalize operation 'tosa.gather': its operands have different batches, 2 and 5}}
  %0 = tosa.gather %a, %b : (tensor<2x3x4xf32>, tensor<5x6xi32>) -> tensor<2x6x4xf32>
  return %0 : tensor<2x6x4xf32>
}

// -----

func.func @erf(%a: tensor<2x3xf32>) -> tensor<3x2xf32> {
  // expected-error @+1 {{failed to legalize operation 'tosa.erf': its result has the shape 3x2, but what it computes is 2x3}}
  %0 = tosa.erf %a : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// -----

func.func @elements(%a: tensor<2x3xf32>) -> tensor<6xi32> {
  // expected-error @+1 {{failed to legalize operation 'tosa.reshape': its elements change from f32 to i32}}
  %0 = tosa.reshape %a {new_shape = array<i64: 6>} : (tensor<2x3xf32>) -> tensor<6xi32>
  return %0 : tensor<6xi32>
}

// -----

func.func @pad(%a: tensor<2x3xf32>) -> tensor<1x3xf32> {
  %p = "tosa.const"() <{value = dense<[[0, -1], [0, 0]]> : tensor<2x2xi32>}> : () -> tensor<2x2xi32>
  // expected-error @+1 {{failed to legalize operation 'tosa.pad': its paddings are [0, -1, 0, 0]; expected 0 or more each}}
  %0 = tosa.pad %a, %p : (tensor<2x3xf32>, tensor<2x2xi32>) -> tensor<1x3xf32>
  return %0 : tensor<1x3xf32>
}

// -----

func.func @position_of_nothing(%a: tensor<3x0xf32>) -> tensor<3xi32> {
  // expected-error@+1 {{failed to legalize operation 'tosa.argmax': dimension 1 has no elements, so none of them is the largest}}
  %0 = tosa.argmax %a {axis = 1 : i32} : (tensor<3x0xf32>) -> tensor<3xi32>
  return %0 : tensor<3xi32>
}
