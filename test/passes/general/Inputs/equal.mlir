// Constants of different types differ.
func.func @consts() -> (i32, i32, i64) {
  %0 = arith.constant 3 : i32
  %1 = arith.constant 3 : i32
  %2 = arith.constant 3 : i64
  return %0, %1, %2 : i32, i32, i64
}

// -----

// What is computed outside of a region is not computed again inside.
func.func @nested(%a: i32, %c: i1) -> i32 {
  %0 = arith.addi %a, %a : i32
  %r = scf.if %c -> (i32) {
    %1 = arith.addi %a, %a : i32
    scf.yield %1 : i32
  } else {
    %2 = arith.muli %a, %a : i32
    %3 = arith.muli %a, %a : i32
    %4 = arith.addi %2, %3 : i32
    scf.yield %4 : i32
  }
  %5 = arith.addi %r, %0 : i32
  return %5 : i32
}

// -----

// What is written to memory may change what is read.
func.func @loads(%m: memref<4xi32>, %i: index) -> i32 {
  %0 = memref.load %m[%i] : memref<4xi32>
  %1 = memref.load %m[%i] : memref<4xi32>
  memref.store %0, %m[%i] : memref<4xi32>
  %2 = memref.load %m[%i] : memref<4xi32>
  %3 = arith.addi %0, %1 : i32
  %4 = arith.addi %3, %2 : i32
  return %4 : i32
}

// -----

// A call may do anything.
func.func @calls(%a: i32) -> i32 {
  %0 = func.call @calls(%a) : (i32) -> i32
  %1 = func.call @calls(%a) : (i32) -> i32
  %2 = arith.addi %0, %1 : i32
  return %2 : i32
}

// -----

// Operations with equal regions are equal.
func.func @regions(%a: i32, %c: i1) -> i32 {
  %r = scf.if %c -> (i32) {
    %1 = arith.addi %a, %a : i32
    scf.yield %1 : i32
  } else {
    scf.yield %a : i32
  }
  %s = scf.if %c -> (i32) {
    %1 = arith.addi %a, %a : i32
    scf.yield %1 : i32
  } else {
    scf.yield %a : i32
  }
  %5 = arith.addi %r, %s : i32
  return %5 : i32
}

// -----

// Operations with different attributes differ.
func.func @attrs(%a: f32) -> f32 {
  %0 = arith.addf %a, %a fastmath<fast> : f32
  %1 = arith.addf %a, %a : f32
  %2 = arith.addf %a, %a {x} : f32
  %3 = arith.addf %0, %1 : f32
  %4 = arith.addf %3, %2 : f32
  return %4 : f32
}

// -----

// Unknown operations may do anything.
func.func @unreg(%a: f32) -> f32 {
  %0 = "x.y"(%a) : (f32) -> f32
  %1 = "x.y"(%a) : (f32) -> f32
  %3 = arith.addf %0, %1 : f32
  return %3 : f32
}

// -----

// Destinations of one type are equal.
func.func @empties() -> (tensor<3xf32>, tensor<3xf32>) {
  %0 = tensor.empty() : tensor<3xf32>
  %1 = tensor.empty() : tensor<3xf32>
  return %0, %1 : tensor<3xf32>, tensor<3xf32>
}
