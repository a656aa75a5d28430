func.func @f(%a: i32, %b: i32, %c: i1, %f: f32) -> i32 { 
  %0 = emitc.expression : i32 {
    %x = emitc.sub %a, %b : (i32, i32) -> i32
    %y = emitc.sub %a, %x : (i32, i32) -> i32
    %z = emitc.call_opaque "f"(%y, %b) : (i32, i32) -> i32
    %w = emitc.unary_minus %z : (i32) -> i32
    emitc.yield %w : i32
  }
  %1 = emitc.expression : i32 {
    %x = emitc.add %0, %b : (i32, i32) -> i32
    emitc.yield %x : i32
  }
  emitc.if %c {
    %e = emitc.expression : i1 {
      %p = emitc.cmp lt, %a, %b : (i32, i32) -> i1
      emitc.yield %p : i1
    }
    emitc.if %e { }
  }
  %i = emitc.cast %1 : i32 to index
  %ub = emitc.expression : index {
      %p = emitc.add %i, %i : (index, index) -> index
      emitc.yield %p : index
  }
  emitc.for %j = %i to %ub step %i { 
    %u = emitc.expression : f32 {
      %g = emitc.conditional %c, %f, %f : f32
      %g2 = emitc.cast %g : f32 to f32
      emitc.yield %g2 : f32
    }
    emitc.call_opaque "k"(%u) {args = [0 : index]} : (f32) -> ()
  }
  emitc.for %jj = %i to %i step %i { 
    emitc.yield
  }
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %ee = emitc.expression : i32 {
    %x = emitc.call_opaque "s"(%a) : (i32) -> i32
    emitc.yield %x : i32
  }
  emitc.assign %ee : i32 to %v : i32
  %ap = emitc.apply "&"(%v) : (i32) -> !emitc.ptr<i32>
  %ex = emitc.expression : i32 {
    %x = emitc.apply "*"(%ap) : (!emitc.ptr<i32>) -> i32
    %y = emitc.mul %x, %a : (i32, i32) -> i32
    emitc.yield %y : i32
  }
  return %ex : i32
}
