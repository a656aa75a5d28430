// The rest of upstream that can stand around a tensor program.
func.func @memrefs(%m: memref<4x8xf32>, %i: index, %s: f32) {
  %0 = memref.alloc() : memref<4x8xf32>
  %1 = memref.alloc(%i) : memref<?xf32>
  %2 = memref.alloca() : memref<2xi8>
  %3 = memref.load %m[%i, %i] : memref<4x8xf32>
  memref.store %s, %m[%i, %i] : memref<4x8xf32>
  memref.dealloc %0 : memref<4x8xf32>
  %4 = memref.dim %m, %i : memref<4x8xf32>
  return
}
func.func @math(%a: f32, %t: tensor<2xf32>) {
  %0 = math.exp %a : f32
  %1 = math.sqrt %t : tensor<2xf32>
  %2 = math.rsqrt %a : f32
  %3 = math.powf %a, %a : f32
  %4 = math.tanh %a : f32
  %5 = math.absf %a : f32
  return
}
func.func @casts(%a: i32) {
  %0 = builtin.unrealized_conversion_cast %a : i32 to !foreign.type
  %1:2 = builtin.unrealized_conversion_cast %a, %a : i32, i32 to f32, f32
  %2 = builtin.unrealized_conversion_cast to i8
  return
}
