// A private function with an argument and a result that nobody needs.
module {
  func.func private @callee(%a: i32, %b: i32) -> (i32, i32) {
    %0 = arith.addi %a, %a : i32
    %1 = arith.addi %b, %b : i32
    return %0, %1 : i32, i32
  }
  func.func @main(%x: i32, %y: i32) -> i32 {
    %0:2 = call @callee(%x, %y) : (i32, i32) -> (i32, i32)
    %3 = arith.muli %x, %y : i32
    return %0#0 : i32
  }
}
