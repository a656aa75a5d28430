// Counters of nested regions, names that clash, generic numbering.
func.func @a(%x: i32) {
  %c1 = arith.constant 1 : i32
  %0 = "t.one"() ({
    %c1_i = arith.constant 1 : i32
    %1 = "t.two"() ({
      %c1_ii = arith.constant 1 : i32
      %c1_iii = arith.constant 1 : i32
      %2 = "t.three"(%c1_ii, %c1_iii) : (i32, i32) -> i32
    }) : () -> i32
    %3 = "t.four"() ({
      %c1_iv = arith.constant 1 : i32
      %4 = "t.five"() : () -> i32
    }) : () -> i32
  }, {
    %c1_v = arith.constant 1 : i32
    %5 = "t.six"(%c1_v) : (i32) -> i32
  ^bb1(%y: i32, %z: i32):
    %6 = "t.seven"(%y) : (i32) -> i32
  }) : () -> i32
  %7 = "t.eight"() ({
  ^bb0(%p: i32):
    %c1_vi = arith.constant 1 : i32
  }, {
  ^bb0(%q: i32, %r: i32):
    "t.nine"(%q) : (i32) -> ()
  }) : () -> i32
  return
}
func.func @b(%x: i32, %y: i32) {
  %c1_i32 = arith.constant 1 : i32
  return
}
