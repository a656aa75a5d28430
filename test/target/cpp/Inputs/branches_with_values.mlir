func.func @choose(%c: i1, %a: i32, %b: i32, %d: i32) -> i32 {
  cf.cond_br %c, ^both(%a, %b : i32, i32), ^three(%d, %a, %b : i32, i32, i32)
^both(%x: i32, %y: i32):
  %sum = emitc.add %x, %y : (i32, i32) -> i32
  cf.cond_br %c, ^both(%sum, %d : i32, i32), ^end(%x : i32)
^three(%p: i32, %q: i32, %r: i32):
  %product = emitc.mul %p, %q : (i32, i32) -> i32
  cf.br ^both(%product, %r : i32, i32)
^end(%z: i32):
  return %z : i32
}
