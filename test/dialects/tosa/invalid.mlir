// REQUIRES: mlir-opt
// RUN: ttmlir-opt --split-input-file --verify-diagnostics %s > %t
// RUN: mlir-opt-19 --split-input-file --verify-diagnostics %s > %t

// What tosa refuses, and what it accepts although it looks wrong; MLIR says the same.

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  // expected-error@+1 {{'tosa.add' op operand #0 must be tensor of number values, but got 'f32'}}
  %r = "tosa.add"(%s, %s) : (f32, f32) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  %r = "tosa.add"(%a, %u) : (tensor<2x3xf32>, tensor<*xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  // expected-error@+1 {{'tosa.add' op requires the same element type for all operands and results}}
  %r = "tosa.add"(%a, %i) : (tensor<2x3xf32>, tensor<2x3xi32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  // expected-error@+1 {{'tosa.add' op result type '2x4' not broadcast compatible with broadcasted operands's shapes '2x3'}}
  %r = "tosa.add"(%a, %a) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  // expected-error@+1 {{'tosa.add' op operands don't have broadcast-compatible shapes}}
  %r = "tosa.add"(%a, %b) : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  %r = "tosa.add"(%a, %c) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  // expected-error@+1 {{'tosa.add' op requires the same element type for all operands and results}}
  %r = "tosa.add"(%a, %a) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  // expected-error@+1 {{'tosa.add' op operand #0 must be tensor of number values, but got 'tensor<2x3xindex>'}}
  %r = "tosa.add"(%x, %x) : (tensor<2x3xindex>, tensor<2x3xindex>) -> tensor<2x3xindex>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  %r = "tosa.add"(%z, %z) : (tensor<2x3xi7>, tensor<2x3xi7>) -> tensor<2x3xi7>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  // expected-error@+1 {{'tosa.add' op result #0 must be tensor of number values, but got 'f32'}}
  %r = "tosa.add"(%a, %a) : (tensor<2x3xf32>, tensor<2x3xf32>) -> f32
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  // expected-error@+1 {{'tosa.abs' op result type '2x4' not broadcast compatible with broadcasted operands's shapes '2x3'}}
  %r = "tosa.abs"(%a) : (tensor<2x3xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  // expected-error@+1 {{'tosa.abs' op requires the same element type for all operands and results}}
  %r = "tosa.abs"(%a) : (tensor<2x3xf32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  // expected-error@+1 {{'tosa.abs' op operand #0 must be tensor of number values, but got 'f32'}}
  %r = "tosa.abs"(%s) : (f32) -> f32
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  %r = "tosa.exp"(%i) : (tensor<2x3xi32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  // expected-error@+1 {{'tosa.negate' op requires the same element type for all operands and results}}
  %r = "tosa.negate"(%a) : (tensor<2x3xf32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  // expected-error@+1 {{'tosa.negate' op result type '2x4' not broadcast compatible with broadcasted operands's shapes '2x3'}}
  %r = "tosa.negate"(%a) : (tensor<2x3xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  // expected-error@+1 {{'tosa.negate' op operand #0 must be tensor of number values, but got 'f32'}}
  %r = "tosa.negate"(%s) : (f32) -> tensor<2x3xi32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  // expected-error@+1 {{invalid properties {quantization_info = 1 : i32} for op tosa.negate: Invalid attribute `quantization_info` in property conversion: 1 : i32}}
  %r = "tosa.negate"(%a) <{quantization_info = 1 : i32}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  // expected-error@+1 {{'tosa.mul' op attribute 'shift' failed to satisfy constraint: 8-bit signless integer attribute}}
  %r = "tosa.mul"(%a, %a) <{shift = 1 : i32}> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  // expected-error@+1 {{invalid properties {shift = "x"} for op tosa.mul: Invalid attribute `shift` in property conversion: "x"}}
  %r = "tosa.mul"(%a, %a) <{shift = "x"}> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  %r = "tosa.mul"(%i, %i) <{shift = 1 : i8}> : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  %r = "tosa.mul"(%a, %a) <{shift = 1 : i8}> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  // expected-error@+1 {{'tosa.greater_equal' op result type '2x4' not broadcast compatible with broadcasted operands's shapes '2x3'}}
  %r = "tosa.greater_equal"(%a, %a) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x4xi1>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  // expected-error@+1 {{'tosa.greater_equal' op requires the same element type for all operands}}
  %r = "tosa.greater_equal"(%a, %i) : (tensor<2x3xf32>, tensor<2x3xi32>) -> tensor<2x3xi1>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  // expected-error@+1 {{'tosa.const' op failed to verify that all of {value, output} have same shape}}
  %r = "tosa.const"() <{value = dense<1.0> : tensor<2xf32>}> : () -> tensor<3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  // expected-error@+1 {{invalid properties {value = 1 : i32} for op tosa.const: Invalid attribute `value` in property conversion: 1 : i32}}
  %r = "tosa.const"() <{value = 1 : i32}> : () -> tensor<3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  // expected-error@+1 {{'tosa.const' op requires attribute 'value'}}
  %r = "tosa.const"() : () -> tensor<3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  // expected-error@+1 {{'tosa.const' op result #0 must be tensor of number values, but got 'f32'}}
  %r = "tosa.const"() <{value = dense<1.0> : tensor<2xf32>}> : () -> f32
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  %r = "tosa.const"() <{value = dense<1> : tensor<2xi32>}> : () -> tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  %r = "tosa.cast"(%a) : (tensor<2x3xf32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  %r = "tosa.cast"(%a) : (tensor<2x3xf32>) -> tensor<2x4xi32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  %r = "tosa.maximum"(%i, %i) : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  // expected-error@+1 {{'tosa.select' op operand #0 must be tensor of 1-bit signless integer values, but got 'tensor<2x3xf32>'}}
  %r = "tosa.select"(%a, %a, %a) : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  %r = "tosa.reciprocal"(%i) : (tensor<2x3xi32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  %r = "tosa.ceil"(%i) : (tensor<2x3xi32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  // expected-error@+1 {{'tosa.identity' op operand #0 must be tensor of number values, but got 'f32'}}
  %r = "tosa.identity"(%s) : (f32) -> f32
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  // expected-error@+1 {{'tosa.logical_not' op operand #0 must be tensor of 1-bit signless integer values, but got 'tensor<2x3xi32>'}}
  %r = "tosa.logical_not"(%i) : (tensor<2x3xi32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  %r = "tosa.bitwise_not"(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  // expected-error@+1 {{invalid properties {round = 1 : i32} for op tosa.arithmetic_right_shift: Invalid attribute `round` in property conversion: 1 : i32}}
  %r = "tosa.arithmetic_right_shift"(%a, %a) <{round = 1 : i32}> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  // expected-error@+1 {{'tosa.clamp' op requires attribute 'max_fp'}}
  %r = "tosa.clamp"(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  %r = "tosa.clamp"(%a) <{min_fp = 0.0 : f32, max_fp = 1.0 : f32, min_int = 0 : i64, max_int = 1 : i64}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  %r = "tosa.sigmoid"(%i) : (tensor<2x3xi32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  %r = "tosa.int_div"(%i, %i) : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  // expected-error@+1 {{'tosa.mul' op requires the same element type for all operands and results}}
  %r = "tosa.mul"(%a, %i) <{shift = 1 : i8}> : (tensor<2x3xf32>, tensor<2x3xi32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  %r = "tosa.select"(%q, %a, %i) : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xi32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  // expected-error@+1 {{'tosa.select' op operands don't have broadcast-compatible shapes}}
  %r = "tosa.select"(%q, %a, %b) : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  // expected-error@+1 {{'tosa.select' op result type '2x4' not broadcast compatible with broadcasted operands's shapes '2x3'}}
  %r = "tosa.select"(%q, %a, %a) : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  %r = "tosa.identity"(%a) : (tensor<2x3xf32>) -> tensor<2x4xi32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  // expected-error@+1 {{'tosa.clamp' op min/max attributes types are incompatible with input/output element types.}}
  %r = "tosa.clamp"(%a) <{min_fp = 0.0 : f64, max_fp = 1.0 : f32, min_int = 0 : i64, max_int = 1 : i64}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  // expected-error@+1 {{'tosa.clamp' op result type '2x4' not broadcast compatible with broadcasted operands's shapes '2x3'}}
  %r = "tosa.clamp"(%a) <{min_fp = 0.0 : f32, max_fp = 1.0 : f32, min_int = 0 : i64, max_int = 1 : i64}> : (tensor<2x3xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  // expected-error@+1 {{'tosa.bitwise_and' op result type '2x4' not broadcast compatible with broadcasted operands's shapes '2x3'}}
  %r = "tosa.bitwise_and"(%a, %a) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  // expected-error@+1 {{'tosa.maximum' op operands don't have broadcast-compatible shapes}}
  %r = "tosa.maximum"(%a, %b) : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  %r = "tosa.erf"(%a) : (tensor<2x3xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  // expected-error@+1 {{'tosa.sigmoid' op result type '2x4' not broadcast compatible with broadcasted operands's shapes '2x3'}}
  %r = "tosa.sigmoid"(%a) : (tensor<2x3xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  // expected-error@+1 {{'tosa.tanh' op result type '2x4' not broadcast compatible with broadcasted operands's shapes '2x3'}}
  %r = "tosa.tanh"(%a) : (tensor<2x3xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  // expected-error@+1 {{'tosa.exp' op result type '2x4' not broadcast compatible with broadcasted operands's shapes '2x3'}}
  %r = "tosa.exp"(%a) : (tensor<2x3xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  // expected-error@+1 {{'tosa.cos' op result type '2x4' not broadcast compatible with broadcasted operands's shapes '2x3'}}
  %r = "tosa.cos"(%a) : (tensor<2x3xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  // expected-error@+1 {{'tosa.pow' op requires the same element type for all operands and results}}
  %r = "tosa.pow"(%a,%i) : (tensor<2x3xf32>,tensor<2x3xi32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  // expected-error@+1 {{'tosa.int_div' op result type '2x4' not broadcast compatible with broadcasted operands's shapes '2x3'}}
  %r = "tosa.int_div"(%i, %i) : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x4xi32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  // expected-error@+1 {{'tosa.arithmetic_right_shift' op result type '2x4' not broadcast compatible with broadcasted operands's shapes '2x3'}}
  %r = "tosa.arithmetic_right_shift"(%i, %i) <{round = true}> : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x4xi32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  // expected-error@+1 {{'tosa.logical_left_shift' op result type '2x4' not broadcast compatible with broadcasted operands's shapes '2x3'}}
  %r = "tosa.logical_left_shift"(%i, %i) : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x4xi32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  // expected-error@+1 {{'tosa.equal' op operands don't have broadcast-compatible shapes}}
  %r = "tosa.equal"(%a, %b) : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x3xi1>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  %r = "tosa.add"(%c, %dy) : (tensor<3xf32>, tensor<?x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  // expected-error@+1 {{'tosa.add' op result type '2x4' not broadcast compatible with broadcasted operands's shapes '?x3'}}
  %r = "tosa.add"(%c, %dy) : (tensor<3xf32>, tensor<?x3xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  %r = "tosa.add"(%c, %c) : (tensor<3xf32>, tensor<3xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  %r = "tosa.abs"(%c) : (tensor<3xf32>) -> tensor<1x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  // expected-error@+1 {{'tosa.abs' op result type '3' not broadcast compatible with broadcasted operands's shapes '2x3'}}
  %r = "tosa.abs"(%a) : (tensor<2x3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  %r = "tosa.abs"(%c) : (tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  %r = "tosa.abs"(%c) : (tensor<3xf32>) -> tensor<?x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  %r = "tosa.abs"(%dy) : (tensor<?x3xf32>) -> tensor<2x?xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  // expected-error@+1 {{'tosa.add' op result type '3' not broadcast compatible with broadcasted operands's shapes '1'}}
  %r = "tosa.add"(%one, %one) : (tensor<1xf32>, tensor<1xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  %r = "tosa.clamp"(%i) <{min_fp = 0.0 : f32, max_fp = 1.0 : f32, min_int = 0 : i64, max_int = 1 : i64}> : (tensor<2x3xi32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  // expected-error@+1 {{invalid properties {max_fp = 1.000000e+00 : f32, max_int = 1 : i64, min_fp = 0 : i64, min_int = 0 : i64} for op tosa.clamp: Invalid attribute `min_fp` in property conversion: 0 : i64}}
  %r = "tosa.clamp"(%a) <{min_fp = 0, max_fp = 1.0 : f32, min_int = 0 : i64, max_int = 1 : i64}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  // expected-error@+1 {{'tosa.clamp' op attribute 'min_int' failed to satisfy constraint: 64-bit signless integer attribute}}
  %r = "tosa.clamp"(%a) <{min_fp = 0.0 : f32, max_fp = 1.0 : f32, min_int = 0 : i32, max_int = 1 : i64}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  %r = "tosa.erf"(%a) : (tensor<2x3xf32>) -> tensor<2x3xi32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  // expected-error@+1 {{'tosa.mul' op requires the same element type for all operands}}
  %r = "tosa.mul"(%i, %i8) <{shift = 1 : i8}> : (tensor<2x3xi32>, tensor<2x3xi8>) -> tensor<2x3xi32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  // expected-error@+1 {{'tosa.mul' op invalid data type size for operands or result}}
  %r = "tosa.mul"(%i, %i) <{shift = 1 : i8}> : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi8>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<3xf32>, %i: tensor<2x3xi32>, %s: f32, %u: tensor<*xf32>, %x: tensor<2x3xindex>, %z: tensor<2x3xi7>, %q: tensor<2x3xi1>, %dy: tensor<?x3xf32>, %one: tensor<1xf32>, %i8: tensor<2x3xi8>) {
  %r = "tosa.mul"(%i8, %i8) <{shift = 1 : i8}> : (tensor<2x3xi8>, tensor<2x3xi8>) -> tensor<2x3xi32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  // expected-error@+1 {{'tosa.argmax' op specified axis is outside the rank of the tensor}}
  %r = tosa.argmax %a {axis = -1 : i32} : (tensor<2x3xf32>) -> tensor<2xi32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  // expected-error@+1 {{'tosa.argmax' op specified axis is outside the rank of the tensor}}
  %r = tosa.argmax %a {axis = 2 : i32} : (tensor<2x3xf32>) -> tensor<2xi32>
  return
}

// -----

func.func @f(%a: tensor<f32>) {
  // expected-error@+1 {{'tosa.argmax' op specified axis is outside the rank of the tensor}}
  %r = tosa.argmax %a {axis = 0 : i32} : (tensor<f32>) -> tensor<i32>
  return
}

// -----

func.func @f(%a: tensor<*xf32>) {
  %r = tosa.argmax %a {axis = 7 : i32} : (tensor<*xf32>) -> tensor<3xi32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  // expected-error@+1 {{'tosa.argmax' op result tensor is not of integer type}}
  %r = tosa.argmax %a {axis = 1 : i32} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  // expected-error@+1 {{'tosa.reduce_sum' op reduce axis must not be negative}}
  %r = tosa.reduce_sum %a {axis = -1 : i32} : (tensor<2x3xf32>) -> tensor<2x1xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  // expected-error@+1 {{'tosa.reduce_sum' op expect input tensor rank (2) to be larger than reduce axis (2)}}
  %r = tosa.reduce_sum %a {axis = 2 : i32} : (tensor<2x3xf32>) -> tensor<1x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  // expected-error@+1 {{'tosa.reduce_max' op expect reduced dimension size to be 1, got 3}}
  %r = tosa.reduce_max %a {axis = 1 : i32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<*xf32>) {
  // expected-error@+1 {{'tosa.reduce_max' op expect output tensor rank (1) to be larger than reduce axis (1)}}
  %r = tosa.reduce_max %a {axis = 1 : i32} : (tensor<*xf32>) -> tensor<1xf32>
  return
}

// -----

func.func @f(%a: tensor<f32>) {
  %r = tosa.reduce_max %a {axis = 0 : i32} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  // expected-error@+1 {{'tosa.reduce_min' op expect output tensor rank to be equal to input tensor rank}}
  %r = tosa.reduce_min %a {axis = 1 : i32} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  // expected-error@+1 {{'tosa.reverse' op expected non-negative reverse axis}}
  %r = tosa.reverse %a {axis = -1 : i32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  // expected-error@+1 {{'tosa.reverse' op expect input tensor rank (2) to be larger than reverse axis (2)}}
  %r = tosa.reverse %a {axis = 2 : i32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%a: tensor<2x3xf32>) {
  // expected-error@+1 {{'tosa.reverse' op expect output tensor rank to be equal to input tensor rank}}
  %r = tosa.reverse %a {axis = 1 : i32} : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<*xf32>) {
  // expected-error@+1 {{'tosa.reverse' op expect output tensor rank (1) to be larger than reverse axis (1)}}
  %r = tosa.reverse %a {axis = 1 : i32} : (tensor<*xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%a: tensor<f32>) {
  %r = tosa.reverse %a {axis = 0 : i32} : (tensor<f32>) -> tensor<f32>
  return
}
