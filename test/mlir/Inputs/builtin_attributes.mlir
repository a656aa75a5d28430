// Every builtin attribute, in dictionaries, arrays and properties.
"a.scalars"() {b1 = true, b2 = false, i = 1, i8 = -7 : i8, u8 = 255 : ui8, s8 = -128 : si8, hex = 0xFF, wide = 170141183460469231731687303715884105727 : i128, idx = -3 : index, zero = 0 : i64} : () -> ()
"a.overflowing"() {signless = 255 : i8, all_ones = 0xFFFFFFFF : i32, lowest = -2147483648 : i32, one_bit = 1 : i1, minus_one = -1 : i1, zero_bit = 0 : i1, max_index = 9223372036854775807 : index, u64 = 18446744073709551615 : ui64} : () -> ()
"a.floats"() {d = 1.0, f = 2.5 : f32, h = 0.333 : f16, b = 3.14159 : bf16, neg = -0.0 : f32, tiny = 1.0e-45 : f32, large = 3.4e38 : f32, bits = 0x7F800000 : f32, nan = 0x7FC00001 : f32, e = 1.e5 : f64} : () -> ()
"a.strings"() {empty = "", plain = "plain text", escaped = "quote \" backslash \\ newline \n tab \t", bytes = "\00\01\FFz", utf8 = "caf\C3\A9 é"} : () -> ()
"a.containers"() {a0 = [], a1 = [1, 2 : i32, 3.0, 2147483647.0, 4.0 : f32, "s", [true, [unit]]], d0 = {}, d1 = {nested = {deeper = [{}]}, unit_value}} : () -> ()
"a.keys"() {plain, "quoted key", "1digit" = 1, dotted.key = 2, _under = 3, dollar$ = 4, Upper, lower, "é" = 5} : () -> ()
"a.symbols"() {flat = @name, nested = @outer::@inner::@leaf, quoted = @"strange name", quoted2 = @a::@"b c"} : () -> ()
"a.types"() {t = i32, f = (i32) -> f32, n = none, tt = tensor<2x?xf32>} : () -> ()
"a.maps"() {map = affine_map<(d0, d1)[s0] -> (d0 + s0, d1 floordiv 4, d0 mod 3)>, empty = affine_map<() -> ()>, semi = affine_map<(d0)[s0] -> (d0 floordiv s0, d0 * s0, d0 mod s0)>, folded = affine_map<(d0) -> ((d0 * 4) floordiv 2, d0 - d0, 3 * d0 - 2)>, list = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (-d0)>]} : () -> ()
"a.sets"() {set = affine_set<(d0)[s0] : (d0 >= 0, -d0 + s0 - 1 >= 0)>, eq = affine_set<(d0, d1) : (d0 - d1 == 0)>, always = affine_set<(d0) : (1 == 0)>} : () -> ()
"a.strided"() {s = strided<[1, ?], offset: 4>, t = strided<[]>, u = strided<[2], offset: ?>} : () -> ()
"a.arrays"() {i32s = array<i32: 1, -2, 3>, bools = array<i1: true, false, true>, f32s = array<f32: 1.0, -2.5, 1.0e-3>, f64s = array<f64: 0.1>, none = array<i64>, i8s = array<i8: 127, -128>, si16s = array<i16: 5>, i24s = array<i24: 70000, -2>, i128s = array<i128: 170141183460469231731687303715884105727, -5>} : () -> ()
"a.properties"() <{in_properties = 1 : i32, also = "text"}> {outside} : () -> ()
"a.foreign"() {a = #foreign.attr, b = #foreign.attr<x, y, [1, 2]>, c = #foreign<text with "string >" inside>, d = !foreign.type<a>} : () -> ()
"a.locations"() {u = loc(unknown), f = loc("file.py":10:4), n = loc("name"), nested = loc("name"("file.py":3:3)), c = loc(callsite("callee" at "file.py":1:1)), fu = loc(fused["a", "b"]), fm = loc(fused<"metadata">["a", "b":2:2])} : () -> ()
"a.resources"() {r = dense_resource<blob_one> : tensor<2xi16>, s = dense_resource<missing> : tensor<4xf32>} : () -> ()

{-#
  dialect_resources: {
    builtin: {
      blob_one: "0x0200000001000200"
    }
  }
#-}
