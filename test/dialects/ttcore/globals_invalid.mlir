// RUN: ttmlir-opt --split-input-file --verify-diagnostics %s

func.func @no_name() {
  // expected-error @+1 {{'ttcore.get_global' op requires attribute 'sym_name'}}
  %0 = "ttcore.get_global"() : () -> tensor<4xf32>
  return
}

// -----
func.func @no_tuple(%x: i32) {
  // expected-error @+1 {{'ttcore.get_tuple_element' op operand #0 must be nested tuple with any combination of ranked tensor of any type values values, but got 'i32'}}
  %0 = "ttcore.get_tuple_element"(%x) <{index = 1 : i32}> : (i32) -> tensor<4xf32>
  return
}

// -----
func.func @no_element(%x: tuple<tensor<4xf32>>) {
  // expected-error @+1 {{index 1 is out of bounds of operand with size 1}}
  %0 = "ttcore.get_tuple_element"(%x) <{index = 1 : i32}> : (tuple<tensor<4xf32>>) -> tensor<4xf32>
  return
}

// -----
func.func @other_element(%x: tuple<tensor<4xf32>>) {
  // expected-error @+1 {{inferred type(s) 'tensor<4xf32>' are incompatible with return type(s) of operation 'tensor<5xf32>'}}
  %0 = "ttcore.get_tuple_element"(%x) <{index = 0 : i32}> : (tuple<tensor<4xf32>>) -> tensor<5xf32>
  return
}

// -----
func.func @other_tuple(%x: tensor<4xf32>) {
  // expected-error @+1 {{inferred type(s) 'tuple<tensor<4xf32>>' are incompatible with return type(s) of operation 'tuple<tensor<5xf32>>'}}
  %0 = "ttcore.tuple"(%x) : (tensor<4xf32>) -> tuple<tensor<5xf32>>
  return
}

// -----
func.func @other_key(%d: !ttcore.dict) {
  // expected-error @+1 {{attribute 'key' failed to satisfy constraint: string attribute or index attribute}}
  %0 = "ttcore.get_key_value"(%d) <{key = @x}> : (!ttcore.dict) -> tuple<tensor<4xf32>>
  return
}
