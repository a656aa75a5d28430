emitc.func @g(%a: i32) -> i32 { 
  %1 = emitc.expression : i32 {
    %x = emitc.call @g(%a) : (i32) -> i32
    emitc.yield %x : i32
  }
  emitc.return %1 : i32 }
func.func @h(%a: i32, %p : !emitc.ptr<i32>) -> i32 {
  %1 = emitc.expression : i32 {
    %x = emitc.cmp lt, %a, %a : (i32, i32) -> i32
    %z = emitc.cmp eq, %x, %a : (i32, i32) -> i32
    emitc.yield %z : i32
  }
  %5 = emitc.subscript %p[%a] : (!emitc.ptr<i32>, i32) -> i32
  %2 = func.call @h(%1, %p) : (i32, !emitc.ptr<i32>) -> i32
  %3 = emitc.expression : i32 {
    %x = emitc.add %5, %a : (i32, i32) -> i32
    %l = emitc.logical_not %x : i32
    %x2 = emitc.div %5, %a : (i32, i32) -> i32
    %m = emitc.conditional %l, %x2, %a : i32
    emitc.yield %m : i32
  }
  return %3 : i32
}
