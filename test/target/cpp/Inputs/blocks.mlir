func.func @f(%b: i32, %c: i1) -> i32 { 
  cf.cond_br %c, ^bb1(%b : i32), ^bb2
^bb1(%x : i32):
  %y = emitc.add %x, %b : (i32, i32) -> i32
  cf.br ^bb1(%y : i32)
^bb2:
  %z = emitc.call_opaque "g"(%b) : (i32) -> i32
  %t:2 = func.call @h() : () -> (i32, i32)
  emitc.if %c {
    %q = emitc.call_opaque "g"(%b) : (i32) -> i32
  }
  %l = emitc.literal "7" : i32
  %con = "emitc.constant"() <{value = 3 : i32}> : () -> i32
  return %z : i32
}
func.func @h() -> (i32, i32) {
  %t:2 = func.call @h() : () -> (i32, i32)
  return {foo = 1 : i32} %t#0, %t#1 : i32, i32
}
