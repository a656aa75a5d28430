emitc.include <"cstdint">
emitc.include "myheader.h"
emitc.verbatim "typedef float f32;"
emitc.global extern @g0 : !emitc.array<2xi32>
emitc.global static const @g1 : f32 = 1.5
emitc.global @g2 : !emitc.array<2x2xf32> = dense<[[1.0, 2.5],[3.0e10, -1.0e-20]]>
emitc.declare_func @later
emitc.func @later(%a: i32) attributes {specifiers = ["static", "inline"]} {
  emitc.return
}
emitc.func private @ext(i32, !emitc.ptr<f32>) -> i32 attributes {specifiers = ["extern"]}
func.func @arith(%a: i32, %b: i32, %f: f32, %p: !emitc.ptr<f32>, %c: i1) -> i32 {
  %0 = emitc.add %a, %b : (i32, i32) -> i32
  %1 = emitc.sub %a, %b : (i32, i32) -> i32
  %2 = emitc.mul %a, %b : (i32, i32) -> i32
  %3 = emitc.div %a, %b : (i32, i32) -> i32
  %4 = emitc.rem %a, %b : (i32, i32) -> i32
  %5 = emitc.bitwise_and %a, %b : (i32, i32) -> i32
  %6 = emitc.bitwise_or %a, %b : (i32, i32) -> i32
  %7 = emitc.bitwise_xor %a, %b : (i32, i32) -> i32
  %8 = emitc.bitwise_not %a : (i32) -> i32
  %9 = emitc.bitwise_left_shift %a, %b : (i32, i32) -> i32
  %10 = emitc.bitwise_right_shift %a, %b : (i32, i32) -> i32
  %11 = emitc.logical_and %a, %b : i32, i32
  %12 = emitc.logical_or %a, %b : i32, i32
  %13 = emitc.logical_not %a : i32
  %14 = emitc.cmp eq, %a, %b : (i32, i32) -> i1
  %15 = emitc.cmp ne, %a, %b : (i32, i32) -> i1
  %16 = emitc.cmp lt, %a, %b : (i32, i32) -> i1
  %17 = emitc.cmp le, %a, %b : (i32, i32) -> i1
  %18 = emitc.cmp gt, %a, %b : (i32, i32) -> i1
  %19 = emitc.cmp ge, %a, %b : (i32, i32) -> i1
  %20 = emitc.cmp three_way, %a, %b : (i32, i32) -> !emitc.opaque<"std::strong_ordering">
  %21 = emitc.conditional %c, %a, %b : i32
  %22 = emitc.unary_minus %f : (f32) -> f32
  %23 = emitc.unary_plus %f : (f32) -> f32
  %24 = emitc.cast %a : i32 to f32
  %25 = emitc.apply "&"(%a) : (i32) -> !emitc.ptr<i32>
  %26 = emitc.apply "*"(%25) : (!emitc.ptr<i32>) -> i32
  %27 = "emitc.constant"() <{value = 42 : i8}> : () -> i8
  %28 = "emitc.constant"() <{value = #emitc.opaque<"X">}> : () -> !emitc.opaque<"T">
  %30 = "emitc.variable"() <{value = 3 : i32}> : () -> i32
  emitc.assign %a : i32 to %30 : i32
  %31 = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<3x7xi32>
  %32 = emitc.literal "M_PI" : f32
  %33 = emitc.add %32, %f : (f32, f32) -> f32
  %i = "emitc.constant"() <{value = 1 : index}> : () -> index
  %34 = emitc.subscript %31[%i, %i] : (!emitc.array<3x7xi32>, index, index) -> i32
  emitc.assign %a : i32 to %34 : i32
  %35 = emitc.get_global @g2 : !emitc.array<2x2xf32>
  %36 = emitc.subscript %35[%i, %i] : (!emitc.array<2x2xf32>, index, index) -> f32
  %37 = emitc.add %36, %f : (f32, f32) -> f32
  emitc.verbatim "// hello"
  %38 = emitc.expression : i32 {
    %x = emitc.add %a, %b : (i32, i32) -> i32
    %y = emitc.mul %x, %b : (i32, i32) -> i32
    %z = emitc.sub %y, %a : (i32, i32) -> i32
    emitc.yield %z : i32
  }
  %39 = emitc.expression noinline : i32 {
    %x = emitc.add %a, %38 : (i32, i32) -> i32
    emitc.yield %x : i32
  }
  %40 = emitc.call_opaque "foo"(%a, %39) {args = [1 : index, 7 : i32, #emitc.opaque<"q">, 0 : index, dense<[1,2]> : tensor<2xi64>, 1.5 : f32], template_args = [f32, 3 : i32, #emitc.opaque<"N">]} : (i32, i32) -> i32
  emitc.call_opaque "bar"() : () -> ()
  %41:2 = emitc.call_opaque "two"(%a) : (i32) -> (i32, f32)
  %42 = call @callee(%a) : (i32) -> i32
  %43 = emitc.expression : i32 {
    %x = emitc.add %a, %b : (i32, i32) -> i32
    emitc.yield %x : i32
  }
  return %43 : i32
}
func.func @callee(%a: i32) -> i32 { return %a : i32 }
func.func @two(%a: i32, %b: f32) -> (i32, f32) { return %a, %b : i32, f32 }
func.func @loops(%lb: index, %ub: index, %st: index, %c: i1) {
  emitc.for %i = %lb to %ub step %st {
    %0 = emitc.call_opaque "f"(%i) : (index) -> i32
    emitc.if %c {
      emitc.call_opaque "g"(%0) : (i32) -> ()
    } else {
      emitc.call_opaque "h"(%0) : (i32) -> ()
      emitc.if %c {
        emitc.call_opaque "h2"(%0) : (i32) -> ()
      }
    }
    emitc.verbatim "v;"
    %l = emitc.literal "7" : i32
  }
  return
}
