// What ttir cannot compute is refused.
// RUN: ttmlir-opt --allow-unregistered-dialect --convert-tosa-to-ttir --split-input-file --verify-diagnostics %s

func.func @no_counterpart(%a: tensor<5x7xf32>) -> tensor<5x7xf32> {
  // expected-error @+1 {{failed to legalize operation 'tosa.identity': convert-tosa-to-ttir takes tosa.abs, tosa.add, tosa.bitwise_and}}
  %0 = tosa.identity %a : (tensor<5x7xf32>) -> tensor<5x7xf32>
  return %0 : tensor<5x7xf32>
}

// -----

func.func @other_dialect(%a: tensor<5x7xf32>) -> tensor<5x7xf32> {
  // expected-error-re @+1 {{failed to legalize operation 'arith.addf': convert-tosa-to-ttir takes {{.*}}tosa.tanh, and ttir, func and tensor.empty operations}}
  %0 = arith.addf %a, %a : tensor<5x7xf32>
  return %0 : tensor<5x7xf32>
}

// -----

func.func @shift(%a: tensor<5x7xi32>) -> tensor<5x7xi32> {
  // expected-error @+1 {{failed to legalize operation 'tosa.mul': it shifts the product by 2 bits; supported is a shift of 0}}
  %0 = tosa.mul %a, %a {shift = 2 : i8} : (tensor<5x7xi32>, tensor<5x7xi32>) -> tensor<5x7xi32>
  return %0 : tensor<5x7xi32>
}

// -----

func.func @rounding(%a: tensor<5x7xbf16>) -> tensor<5x7xi32> {
  // expected-error @+1 {{failed to legalize operation 'tosa.cast': it rounds bf16 to the nearest i32, but ttir rounds toward zero; supported are casts to floating point types and i1, casts of integers, and casts of the result of tosa.floor or tosa.ceil}}
  %0 = tosa.cast %a : (tensor<5x7xbf16>) -> tensor<5x7xi32>
  return %0 : tensor<5x7xi32>
}

// -----

func.func @bits(%a: tensor<5x7xf32>) -> tensor<5x7xf32> {
  // expected-error @+1 {{failed to legalize operation 'tosa.bitwise_or': its operands are f32, but operations on bits take integers}}
  %0 = tosa.bitwise_or %a, %a : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  return %0 : tensor<5x7xf32>
}

// -----

func.func @integer_bound(%a: tensor<5x7xi32>) -> tensor<5x7xi32> {
  // expected-error @+1 {{failed to legalize operation 'tosa.clamp': max_int is 16777217, but the bounds of ttir.clamp are numbers that f32 holds}}
  %0 = tosa.clamp %a {min_fp = 0.0 : f32, max_fp = 6.0 : f32, min_int = -3 : i64, max_int = 16777217 : i64} : (tensor<5x7xi32>) -> tensor<5x7xi32>
  return %0 : tensor<5x7xi32>
}

// -----

func.func @float_bound(%a: tensor<5x7xf64>) -> tensor<5x7xf64> {
  // expected-error @+1 {{failed to legalize operation 'tosa.clamp': min_fp is 0.1, but the bounds of ttir.clamp are numbers that f32 holds}}
  %0 = tosa.clamp %a {min_fp = 0.1 : f64, max_fp = 6.0 : f64, min_int = -3 : i64, max_int = 1 : i64} : (tensor<5x7xf64>) -> tensor<5x7xf64>
  return %0 : tensor<5x7xf64>
}

// -----

func.func @dynamic(%a: tensor<?x7xf32>) -> tensor<?x7xf32> {
  // expected-error @+1 {{failed to legalize operation 'tosa.exp': the shape of tensor<?x7xf32> is not known; give every tensor a static shape}}
  %0 = tosa.exp %a : (tensor<?x7xf32>) -> tensor<?x7xf32>
  return %0 : tensor<?x7xf32>
}

// -----

func.func @unranked(%a: tensor<*xf32>) -> tensor<*xf32> {
  // expected-error @+1 {{failed to legalize operation 'tosa.exp': the shape of tensor<*xf32> is not known; give every tensor a static shape}}
  %0 = tosa.exp %a : (tensor<*xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

func.func @unranked_operand(%a: tensor<*xi8>, %b: tensor<5x7xi8>) -> tensor<5x7xi32> {
  // expected-error @+1 {{failed to legalize operation 'tosa.mul': the shape of tensor<*xi8> is not known; give every tensor a static shape}}
  %0 = tosa.mul %a, %b {shift = 0 : i8} : (tensor<*xi8>, tensor<5x7xi8>) -> tensor<5x7xi32>
  return %0 : tensor<5x7xi32>
}

// -----

func.func @unknown(%a: tensor<5x7xf32>) {
  // expected-error @+1 {{failed to legalize operation 'x.y': convert-tosa-to-ttir takes}}
  "x.y"(%a) : (tensor<5x7xf32>) -> ()
  return
}
