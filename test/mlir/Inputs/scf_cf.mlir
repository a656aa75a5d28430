// Structured and unstructured control flow.
func.func @loops(%lb: index, %ub: index, %step: index, %init: f32, %c: i1) -> f32 {
  scf.for %i = %lb to %ub step %step {
    "t.use"(%i) : (index) -> ()
  }
  %sum = scf.for %i = %lb to %ub step %step iter_args(%acc = %init) -> (f32) {
    %next = arith.addf %acc, %init : f32
    scf.yield %next : f32
  }
  %two:2 = scf.for %i = %lb to %ub step %step iter_args(%x = %init, %y = %sum) -> (f32, f32) {
    scf.yield %y, %x : f32, f32
  }
  %one = scf.for %i = %lb to %ub step %step iter_args(%x = %two#1) -> f32 {
    scf.yield %x : f32
  }
  scf.for %k = %lb to %ub step %step {
    scf.for %j = %lb to %k step %step {
      "t.use"(%k, %j) : (index, index) -> ()
    } {t.inner}
  }
  scf.if %c {
    "t.then"() : () -> ()
  }
  scf.if %c {
    "t.then"() : () -> ()
  } else {
    "t.else"() : () -> ()
  }
  %r:2 = scf.if %c -> (i32, f32) {
    %c1 = arith.constant 1 : i32
    scf.yield %c1, %init : i32, f32
  } else {
    %c1 = arith.constant 2 : i32
    scf.yield %c1, %sum : i32, f32
  }
  %w = scf.while (%v = %init) : (f32) -> f32 {
    scf.condition(%c) %v : f32
  } do {
  ^bb0(%v: f32):
    scf.yield %v : f32
  }
  return %two#0 : f32
}
func.func @branches(%c: i1, %x: i32) -> i32 {
  cf.cond_br %c, ^bb1(%x : i32), ^bb2
^bb1(%y: i32):
  cf.br ^bb3(%y, %x : i32, i32)
^bb2:
  cf.assert %c, "message"
  cf.br ^bb3(%x, %x : i32, i32)
^bb3(%p: i32, %q: i32):
  return %p : i32
}

func.func @loops_over_integers(%a: i32, %b: i64) -> (i32, i32) {
  %0:2 = scf.for %i = %a to %a step %a iter_args(%x = %a, %y = %a) -> (i32, i32) : i32 {
    scf.yield %y, %x : i32, i32
  } {unrolled}
  scf.for %i = %b to %b step %b : i64 {
    scf.for %j = %i to %b step %i : i64 {
      "scf.yield"() : () -> ()
    }
  }
  return %0#0, %0#1 : i32, i32
}
