// Loops, loads and stores over affine maps, and parts of memrefs.
func.func @loops(%a: memref<4x6xf32>, %b: memref<4x2x3xbf16, 1>, %n: index) {
  %zero = arith.constant 0 : index
  affine.for %i = 0 to 4 {
    affine.for %j = 1 to 6 step 2 {
      %0 = affine.load %a[%i, %j] : memref<4x6xf32>
      affine.store %0, %a[%i, %j - 1] : memref<4x6xf32>
      %1 = affine.load %b[0, %i floordiv 2, %j mod 3] : memref<4x2x3xbf16, 1>
      affine.store %1, %b[%i, (%j * 2 + 1) floordiv 7, 2] : memref<4x2x3xbf16, 1>
    }
  }
  affine.for %i = 0 to %n {
    %0 = affine.apply affine_map<(d0) -> (d0 * 3 + 2)>(%i)
    %1 = affine.load %a[%zero, %zero] : memref<4x6xf32>
  }
  %part = memref.subview %a[%n, 2] [2, 3] [1, 1] : memref<4x6xf32> to memref<2x3xf32, strided<[6, 1], offset: ?>>
  %flat = memref.collapse_shape %a [[0, 1]] : memref<4x6xf32> into memref<24xf32>
  %new = memref.alloc() {address = 1024 : i64, alignment = 16 : i64} : memref<4x6xf32, 1>
  memref.dealloc %new : memref<4x6xf32, 1>
  return
}

// The map of DRAM of a device, with 12 banks.
"t.op"() {dram = affine_map<(d0, d1, d2)[s0, s1, s2, s3, s4, s5, s6] -> (0, 0, (((d0 * s1) * (s2 * (s3 * s6)) + d1 * (s2 * (s3 * s6)) + d2) floordiv s4) mod 12, ((((d0 * s1) * (s2 * (s3 * s6)) + d1 * (s2 * (s3 * s6)) + d2) floordiv s4) floordiv 12) * s4 + ((d0 * s1) * (s2 * (s3 * s6)) + d1 * (s2 * (s3 * s6)) + d2) mod s4 + s5)>, view = affine_map<(d0, d1, d2, d3) -> ((d0 * 2 + d2) floordiv 4, (d1 * 3 + d3) floordiv 6, (d0 * 2 + d2) mod 4, (d1 * 3 + d3) mod 6)>} : () -> ()
