// Every form of location, aliases before and after use, locations of arguments.
#before = loc("before.py":1:2)
module {
  func.func @f(%arg0: i32 loc("arg0"), %arg1: f32 loc(#before), %arg2: i1) -> i32 {
    %0 = "t.file"() : () -> i32 loc("file.py":10:4)
    %1 = "t.name"() : () -> i32 loc("just a name")
    %2 = "t.nested"() : () -> i32 loc("outer"("inner"("file.py":3:4)))
    %3 = "t.call"() : () -> i32 loc(callsite("callee" at callsite("mid" at "file.py":5:6)))
    %4 = "t.fused"() : () -> i32 loc(fused["a", "file.py":7:8, "b"("c")])
    %5 = "t.metadata"() : () -> i32 loc(fused<{pass = "x"}>["a", "b"])
    %6 = "t.unknown"() : () -> i32 loc(unknown)
    %7 = "t.alias"() : () -> i32 loc(#after)
    %8 = "t.same"() : () -> i32 loc("file.py":10:4)
    %9 = "t.none"() : () -> i32
    %10 = "t.one_fused"() : () -> i32 loc(fused["single"])
    "t.region"() ({
    ^bb0(%x: i32 loc("block argument"), %y: i32):
      "t.inside"() : () -> () loc("inside")
    }) : () -> () loc("region op")
    return %0 : i32 loc("the return")
  } loc("the function")
} loc("the module")
#after = loc("after.py":3:4)
