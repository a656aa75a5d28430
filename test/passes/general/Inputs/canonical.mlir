// Unused operations vanish, and so do those that only they use.
func.func @dead(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  %1 = arith.muli %0, %0 : i32
  return %a : i32
}

// -----

// Equal constants become one; all move to the top of the function.
func.func @merge(%a: i32, %c: i1) -> i32 {
  %c5 = arith.constant 5 : i32
  %0 = arith.addi %a, %c5 : i32
  %c5b = arith.constant 5 : i32
  %1 = arith.muli %0, %c5b : i32
  %r = scf.if %c -> (i32) {
    %c5c = arith.constant 5 : i32
    %2 = arith.subi %1, %c5c : i32
    scf.yield %2 : i32
  } else {
    %c6 = arith.constant 6 : i32
    %2 = arith.xori %1, %c6 : i32
    scf.yield %2 : i32
  }
  return %r : i32
}

// -----

// Operations on constants become constants.
func.func @fold() -> i32 {
  %a = arith.constant 5 : i32
  %b = arith.constant 7 : i32
  %0 = arith.addi %a, %b : i32
  return %0 : i32
}

// -----

// Adding 0 and multiplying by 1 vanish.
func.func @identity(%a: i32) -> (i32, i32, i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %0 = arith.addi %a, %zero : i32
  %1 = arith.muli %a, %one : i32
  %2 = arith.muli %a, %zero : i32
  return %0, %1, %2 : i32, i32, i32
}

// -----

// A constant becomes the right operand.
func.func @commute(%a: i32) -> i32 {
  %one = arith.constant 3 : i32
  %0 = arith.addi %one, %a : i32
  return %0 : i32
}

// -----

// An unused choice vanishes.
func.func @dead_if(%a: i32, %c: i1) -> i32 {
  %r = scf.if %c -> (i32) {
    %2 = arith.subi %a, %a : i32
    scf.yield %2 : i32
  } else {
    scf.yield %a : i32
  }
  return %a : i32
}

// -----

// A choice by a constant becomes one of its branches.
func.func @if_true(%a: i32) -> i32 {
  %c = arith.constant true
  %r = scf.if %c -> (i32) {
    %2 = arith.muli %a, %a : i32
    scf.yield %2 : i32
  } else {
    scf.yield %a : i32
  }
  return %r : i32
}

// -----

// A loop without rounds becomes its initial values.
func.func @for_zero(%a: i32) -> i32 {
  %lb = arith.constant 4 : index
  %ub = arith.constant 4 : index
  %st = arith.constant 1 : index
  %r = scf.for %i = %lb to %ub step %st iter_args(%x = %a) -> (i32) {
    %2 = arith.muli %x, %a : i32
    scf.yield %2 : i32
  }
  return %r : i32
}

// -----

// An unused loop vanishes.
func.func @for_dead(%a: i32, %n: index) -> i32 {
  %lb = arith.constant 0 : index
  %st = arith.constant 1 : index
  %r = scf.for %i = %lb to %n step %st iter_args(%x = %a) -> (i32) {
    %2 = arith.muli %x, %a : i32
    scf.yield %2 : i32
  }
  return %a : i32
}

// -----

// An unused destination vanishes.
func.func @tensor_dead() {
  %0 = tensor.empty() : tensor<4xf32>
  return
}

// -----

// Blocks that cannot be reached vanish.
func.func @unreachable(%a: i32) -> i32 {
  return %a : i32
^bb1:
  cf.br ^bb2
^bb2:
  %0 = arith.addi %a, %a : i32
  return %0 : i32
}

// -----

// A block with one predecessor joins it.
func.func @br(%a: i32) -> i32 {
  cf.br ^bb1(%a : i32)
^bb1(%x: i32):
  %0 = arith.addi %x, %a : i32
  return %0 : i32
}

// -----

// A branch by a constant becomes a jump.
func.func @cond_br_const(%a: i32) -> i32 {
  %c = arith.constant true
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  return %a : i32
^bb2:
  %0 = arith.addi %a, %a : i32
  return %0 : i32
}

// -----

// Equal blocks become one.
func.func @merge_blocks(%a: i32, %c: i1) -> i32 {
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  return %a : i32
^bb2:
  return %a : i32
}

// -----

// A choice between equals, or by a constant, vanishes.
func.func @select(%a: i32, %b: i32) -> (i32, i32) {
  %t = arith.constant true
  %0 = arith.select %t, %a, %b : i32
  %1 = arith.select %t, %b, %b : i32
  return %0, %1 : i32, i32
}

// -----

// What writes to memory stays.
func.func @store(%m: memref<4xf32>, %i: index) {
  %0 = arith.constant 1.0 : f32
  %1 = memref.load %m[%i] : memref<4xf32>
  memref.store %0, %m[%i] : memref<4xf32>
  return
}

// -----

func.func @select_tensors(%c: i1, %x: tensor<2x3xi1>, %y: tensor<2x3xi32>, %z: tensor<2x3xi32>) -> (tensor<2x3xi1>, tensor<2x3xi1>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x3xi1>) {
  %yes = arith.constant true
  %no = arith.constant false
  %t = arith.constant dense<true> : tensor<2x3xi1>
  %f = arith.constant dense<false> : tensor<2x3xi1>
  %0 = arith.select %c, %t, %f : tensor<2x3xi1>
  %1 = arith.select %x, %t, %f : tensor<2x3xi1>, tensor<2x3xi1>
  %2 = arith.select %c, %y, %y : tensor<2x3xi32>
  %3 = arith.select %yes, %y, %z : tensor<2x3xi32>
  %4 = arith.select %no, %y, %z : tensor<2x3xi32>
  %5 = arith.select %c, %f, %t : tensor<2x3xi1>
  return %0, %1, %2, %3, %4, %5 : tensor<2x3xi1>, tensor<2x3xi1>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x3xi32>, tensor<2x3xi1>
}
