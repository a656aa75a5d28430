// Aliases of attributes and types: in use, unused, nested, equal, in every position.
#map = affine_map<(d0, d1) -> (d1, d0)>
#unused = affine_map<(d0) -> (d0 + 1)>
#text = "an aliased string"
#array = [#map, #text]
!tensor = tensor<2x3xf32>
!memref = memref<2x3xf32, #map>
!fn = (!tensor) -> !memref
func.func @f(%a: !tensor, %b: !memref) -> !tensor {
  "t.op"(%a, %b) {maps = [#map, affine_map<(d0) -> (d0)>], s = #text, a = #array, f = !fn} : (!tensor, !memref) -> ()
  "t.op"() {m = affine_map<(d0, d1) -> (d1, d0)>, n = affine_map<(d0) -> (d0 * 2)>, set = affine_set<(d0) : (d0 >= 0)>} : () -> ()
  "t.tuple"() : () -> (tuple<i1, i2, i3, i4, i5, i6, i7, i8, i9, i10, i11, i12, i13, i14, i15, i16, i17>)
  "t.locations"() {l = loc("x"("y":1:2)), m = [loc("x"("y":1:2))]} : () -> ()
  return %a : !tensor
}
func.func private @only_in_declaration(memref<4x4xf32, affine_map<(d0, d1) -> (d0 + d1)>> {t.m = affine_map<(d0) -> (d0 mod 2)>}) -> (i32 {t.r = affine_map<(d0) -> (d0 mod 3)>})
func.func @only_in_definition(%a: i32 {t.m = affine_map<(d0) -> (d0 mod 5)>}) -> (i32 {t.r = affine_map<(d0) -> (d0 mod 7)>}) {
  return %a : i32
}
