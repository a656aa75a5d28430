%0 = emitc.call_opaque "k"() : () -> i32
emitc.call_opaque "k"() : () -> ()
%2 = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
%3 = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<3xi32>
%4 = emitc.call_opaque "k"() : () -> tuple<>
%5 = emitc.call_opaque "k"() : () -> tuple<tuple<i32>, !emitc.ptr<tuple<i32>>>
module {
 emitc.include "a"
 func.func @foo(%a: i32) { return }
}
emitc.call_opaque "k"(%0) : (i32) -> ()
