// What ttir cannot compute is refused.
// RUN: ttmlir-opt --allow-unregistered-dialect --convert-tosa-to-ttir=spelling=2024 --split-input-file --verify-diagnostics %s

func.func @no_counterpart(%a: tensor<5x7xf32>) -> tensor<5x7xf32> {
  // expected-error @+1 {{failed to legalize operation 'tosa.custom': convert-tosa-to-ttir has no rule for it; docs/frontends.md lists all that it takes}}
  %0 = tosa.custom %a {domain_name = "a", implementation_attrs = "", operator_name = "b"} : (tensor<5x7xf32>) -> tensor<5x7xf32>
  return %0 : tensor<5x7xf32>
}

// -----

func.func @other_dialect(%a: tensor<5x7xf32>) -> tensor<5x7xf32> {
  // expected-error @+1 {{failed to legalize operation 'arith.addf': convert-tosa-to-ttir has no rule for it; the nearest that it takes: tosa.add; docs/frontends.md lists all that it takes}}
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

func.func @computed_shift(%a: tensor<5x7xi32>, %s: tensor<1xi8>) -> tensor<5x7xi32> {
  // expected-error @+1 {{failed to legalize operation 'tosa.mul': it shifts the product by a computed number; supported is 0}}
  %0 = tosa.mul %a, %a, %s : (tensor<5x7xi32>, tensor<5x7xi32>, tensor<1xi8>) -> tensor<5x7xi32>
  return %0 : tensor<5x7xi32>
}

// -----

func.func @zero_points(%a: tensor<5x7xi8>) -> tensor<5x7xi8> {
  // expected-error @+1 {{failed to legalize operation 'tosa.negate': its zero points are [-1, 2]; supported are zero points of 0, on numbers that are not quantized}}
  %0 = tosa.negate %a {quantization_info = #tosa.unary_quant<input_zp = -1, output_zp = 2>} : (tensor<5x7xi8>) -> tensor<5x7xi8>
  return %0 : tensor<5x7xi8>
}

// -----

func.func @zero_point_operands(%a: tensor<1x5x7xi8>, %b: tensor<1x7x4xi8>) -> tensor<1x5x4xi32> {
  %0 = "tosa.const"() <{values = dense<3> : tensor<1xi8>}> : () -> tensor<1xi8>
  // expected-error @+1 {{failed to legalize operation 'tosa.matmul': its zero points are [3, 3]}}
  %1 = tosa.matmul %a, %b, %0, %0 : (tensor<1x5x7xi8>, tensor<1x7x4xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x5x4xi32>
  return %1 : tensor<1x5x4xi32>
}

// -----

func.func @computed_zero_points(%a: tensor<5x7xi8>, %z: tensor<1xi8>) -> tensor<5x7xi8> {
  // expected-error @+1 {{failed to legalize operation 'tosa.negate': its zero points are computed; supported are constants of 0}}
  %0 = tosa.negate %a, %z, %z : (tensor<5x7xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<5x7xi8>
  return %0 : tensor<5x7xi8>
}

// -----

func.func @nan(%a: tensor<5x7xf32>) -> tensor<5x7xf32> {
  // expected-error @+1 {{failed to legalize operation 'tosa.maximum': it ignores NaN; supported is nan_mode = PROPAGATE}}
  %0 = tosa.maximum %a, %a {nan_mode = IGNORE} : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  return %0 : tensor<5x7xf32>
}

// -----

func.func @rounding(%a: tensor<5x7xi32>) -> tensor<5x7xi32> {
  // expected-error @+1 {{failed to legalize operation 'tosa.arithmetic_right_shift': it rounds; supported is round = false}}
  %0 = tosa.arithmetic_right_shift %a, %a {round = true} : (tensor<5x7xi32>, tensor<5x7xi32>) -> tensor<5x7xi32>
  return %0 : tensor<5x7xi32>
}

// -----

func.func @average_of_integers(%a: tensor<1x4x4x3xi8>) -> tensor<1x2x2x3xi8> {
  // expected-error @+1 {{failed to legalize operation 'tosa.avg_pool2d': it rounds averages of i8; supported are averages of floating point numbers}}
  %0 = tosa.avg_pool2d %a {acc_type = i32, kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>} : (tensor<1x4x4x3xi8>) -> tensor<1x2x2x3xi8>
  return %0 : tensor<1x2x2x3xi8>
}

// -----

func.func @branches(%c: tensor<i1>, %a: tensor<5x7xf32>) -> tensor<5x7xf32> {
  // expected-error @+1 {{failed to legalize operation 'tosa.cond_if': convert-tosa-to-ttir has no rule for it; docs/frontends.md lists all that it takes}}
  %0 = tosa.cond_if %c -> (tensor<5x7xf32>) {
    tosa.yield %a : tensor<5x7xf32>
  } else {
    tosa.yield %a : tensor<5x7xf32>
  }
  return %0 : tensor<5x7xf32>
}

// -----

func.func @computed_permutation(%a: tensor<5x7xf32>, %p: tensor<2xi32>) -> tensor<7x5xf32> {
  // expected-error @+1 {{failed to legalize operation 'tosa.transpose': it computes its perms; supported are constants}}
  %0 = tosa.transpose %a, %p : (tensor<5x7xf32>, tensor<2xi32>) -> tensor<7x5xf32>
  return %0 : tensor<7x5xf32>
}

// -----

func.func @computed_padding(%a: tensor<5x7xf32>, %p: tensor<2x2xi32>) -> tensor<6x7xf32> {
  // expected-error @+1 {{failed to legalize operation 'tosa.pad': it computes its padding; supported are constants}}
  %0 = tosa.pad %a, %p : (tensor<5x7xf32>, tensor<2x2xi32>) -> tensor<6x7xf32>
  return %0 : tensor<6x7xf32>
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
  // expected-error @+1 {{failed to legalize operation 'x.y': convert-tosa-to-ttir has no rule for it}}
  "x.y"(%a) : (tensor<5x7xf32>) -> ()
  return
}
