// Names, blocks, regions, multiple results, forward references, scopes.
module @outer attributes {m.attr = 1 : i32} {
  func.func @results(%first: i32, %second: f32) -> (i32, f32) {
    %pair:2 = "t.pair"(%first, %second) : (i32, f32) -> (i32, f32)
    %a, %b:2 = "t.three"() : () -> (i8, i16, i32)
    "t.use"(%pair#1, %pair#0, %a, %b#0, %b#1) : (f32, i32, i8, i16, i32) -> ()
    return %pair#0, %pair#1 : i32, f32
  }
  func.func @blocks(%c: i1) {
    cf.br ^middle
  ^unused(%u: i32):
    cf.br ^end
  ^middle:
    cf.cond_br %c, ^middle, ^loop(%c : i1)
  ^loop(%again: i1):
    cf.cond_br %again, ^end, ^end
  ^end:
    return
  }
  func.func @regions(%x: i32) {
    %outer = "t.region"() ({
      %inner = "t.region"() ({
      ^bb0(%arg: i32):
        "t.use"(%arg, %x) : (i32, i32) -> ()
      ^bb1(%other: f32):
        "t.use"(%other) : (f32) -> ()
      }, {
      }) : () -> i32
      "t.use"(%inner) : (i32) -> ()
    }) : () -> i64
    %after = "t.region"() ({
      %0 = "t.def"() : () -> i8
      "t.use"(%0) : (i8) -> ()
    }) {attr_after_region} : () -> i32
    "t.empty_regions"() ({}, {}, {
    ^bb0:
    }) : () -> ()
    return
  }
  module @inner {
    func.func private @declared(i32, f32) -> f64
    module {
    }
  }
  "t.graph"() ({
    %0 = "t.op"(%1) : (i32) -> i32
    %1 = "t.op"(%0) : (i32) -> i32
  }) : () -> ()
  func.func @successors(%c: i32) {
    "t.switch"(%c)[^bb1, ^bb2] : (i32) -> ()
  ^bb1:
    "t.jump"()[^bb2] <{weight = 1 : i32}> : () -> ()
  ^bb2:
    return
  }
}
