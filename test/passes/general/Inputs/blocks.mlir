// A function of several blocks.
module @named {
  func.func @blocks(%b: i1, %x: i32) -> i32 {
    %0 = arith.addi %x, %x : i32
    cf.cond_br %b, ^a, ^c(%0 : i32)
  ^a:
    %1 = arith.muli %x, %x : i32
    %2 = arith.muli %x, %x : i32
    %3 = arith.addi %1, %2 : i32
    cf.br ^c(%3 : i32)
  ^c(%r: i32):
    return %r : i32
  }
}
