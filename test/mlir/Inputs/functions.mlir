// Declarations, attributes of arguments and results, visibility, calls.
func.func private @declaration(tensor<2xf32> {t.a = 1 : i32}, i32) -> (f32 {t.b})
func.func private @one_result_with_attributes(i32) -> (i32 {t.c = "x"})
func.func @public_definition(%arg0: i32 {t.first, t.second = [1]}, %arg1: f32) -> (i32 {t.r = 1 : i8}, f32) attributes {t.extra = "function attribute", u.unit} {
  return %arg0, %arg1 : i32, f32
}
func.func nested @nested_visibility() {
  return
}
func.func @"quoted name!"(%a: i32) -> i32 {
  %0 = call @"quoted name!"(%a) : (i32) -> i32
  return %0 : i32
}
func.func @callers(%a: i32, %c: i1) -> i32 {
  %0 = func.call @"quoted name!"(%a) {t.attr} : (i32) -> i32
  %3 = tensor.empty() : tensor<2xf32>
  %2 = call @declaration(%3, %0) : (tensor<2xf32>, i32) -> f32
  %1:2 = call @public_definition(%0, %2) : (i32, f32) -> (i32, f32)
  call @nested_visibility() : () -> ()
  %4 = scf.if %c -> (i32) {
    %5 = func.call @"quoted name!"(%a) : (i32) -> i32
    scf.yield %5 : i32
  } else {
    scf.yield %a : i32
  }
  return %4 : i32
}
