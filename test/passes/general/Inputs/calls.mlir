// Calls, equal and unused operations, a loop and casts.
module {
  func.func private @leaf(%x: i32, %dead: i32) -> (i32, i32) {
    %0 = arith.addi %x, %x : i32
    %1 = arith.muli %dead, %dead : i32
    return %0, %1 : i32, i32
  }
  func.func private @middle(%x: i32) -> i32 {
    %0:2 = call @leaf(%x, %x) : (i32, i32) -> (i32, i32)
    return %0#0 : i32
  }
  func.func private @never()
  func.func @main(%x: i32, %y: index, %b: i1) -> (i32, index) {
    %c2 = arith.constant 2 : i32
    %0 = arith.muli %x, %c2 : i32
    %c2_0 = arith.constant 2 : i32
    %1 = arith.muli %x, %c2_0 : i32
    %2 = call @middle(%0) : (i32) -> i32
    %3 = call @middle(%1) : (i32) -> i32
    %4 = arith.addi %2, %3 : i32
    %unused = arith.subi %4, %x : i32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %5 = scf.for %i = %c0 to %y step %c1 iter_args(%acc = %4) -> (i32) {
      %inv = arith.muli %x, %c2 : i32
      %dup = arith.muli %x, %c2 : i32
      %s = arith.addi %acc, %inv : i32
      %t = arith.addi %s, %dup : i32
      scf.yield %t : i32
    }
    %cast = builtin.unrealized_conversion_cast %y : index to i64
    %back = builtin.unrealized_conversion_cast %cast : i64 to index
    return %5, %back : i32, index
  }
}
