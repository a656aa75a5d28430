// Types, each as an attribute, an operand and a result.
module {
  func.func private @integers(i1, i8, si8, ui8, i24, si32, ui64, i128, index)
  func.func private @floats(f16, bf16, f32, f64, tf32)
  func.func private @small_floats(f8E5M2, f8E4M3FN, f8E5M2FNUZ, f8E4M3FNUZ, f8E4M3B11FNUZ)
  func.func private @tensors(tensor<f32>, tensor<1x?x3xf32>, tensor<0xi8>, tensor<*xf32>, tensor<4xi4, "encoded">, tensor<2x3xindex, {a = 1 : i32}>)
  func.func private @nested(tensor<2xvector<4xf32>>, tensor<3xcomplex<f64>>, memref<2xvector<[4]x2xf32>>, tensor<2x!foreign.type<a, [b]>>)
  func.func private @vectors(vector<4xf32>, vector<[4]x2xi8>, vector<f32>, vector<2x[2]xindex>, vector<1xi1>)
  func.func private @memrefs(memref<2x3xf32>, memref<?xf32, 1>, memref<4xf32, 2 : i32>, memref<4xf32, "space">, memref<*xf32>, memref<*xi8, 3>)
  func.func private @layouts(memref<2x3xf32, affine_map<(d0, d1) -> (d0, d1)>>, memref<2x3xf32, affine_map<(d0, d1) -> (d1, d0)>>, memref<2x3xf32, affine_map<(d0, d1) -> (d1, d0)>, 1>, memref<2x3xf32, strided<[3, 1]>>, memref<?xf32, strided<[?], offset: ?>, 2 : i32>, memref<4xf32, strided<[-1], offset: 7>>)
  func.func private @functions((i32) -> i32, () -> (), (i32, f32) -> (i32, f32), () -> (() -> ()), ((i32) -> i32) -> ((i32) -> i32))
  func.func private @others(tuple<>, tuple<i32, tuple<f32>>, complex<i8>, none)
  func.func private @function_result() -> ((i32) -> i32)
  func.func private @foreign(!foreign.type, !foreign<opaque text>, !foreign.pair<i32, (f32) -> f32, "a>b">)
}
