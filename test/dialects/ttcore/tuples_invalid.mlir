// RUN: ttmlir-opt --split-input-file --verify-diagnostics %s

func.func @beyond(%arg0: tuple<tensor<32x32xbf16>>) -> tensor<32x32xbf16> {
  // expected-error @+1 {{index 7 is out of bounds of operand with size 1}}
  %0 = ttcore.get_tuple_element %arg0[7] : (tuple<tensor<32x32xbf16>>) -> tensor<32x32xbf16>
  return %0 : tensor<32x32xbf16>
}

// -----

func.func @negative(%arg0: tuple<tensor<32x32xbf16>>) -> tensor<32x32xbf16> {
  // expected-error @+1 {{attribute 'index' failed to satisfy constraint: 32-bit signless integer attribute whose value is non-negative}}
  %0 = "ttcore.get_tuple_element"(%arg0) <{index = -1 : i32}> : (tuple<tensor<32x32xbf16>>) -> tensor<32x32xbf16>
  return %0 : tensor<32x32xbf16>
}

// -----

func.func @other(%arg0: tuple<tensor<32x32xbf16>>) -> tensor<1x32xf32> {
  // expected-error @+1 {{are incompatible with return type(s) of operation}}
  %0 = ttcore.get_tuple_element %arg0[0] : (tuple<tensor<32x32xbf16>>) -> tensor<1x32xf32>
  return %0 : tensor<1x32xf32>
}

// -----

func.func @none(%arg0: tensor<32x32xbf16>) {
  // expected-error @+1 {{expected tuple type}}
  %0 = ttcore.tuple %arg0 : tensor<32x32xbf16>
  return
}
