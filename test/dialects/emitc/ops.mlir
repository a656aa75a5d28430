// REQUIRES: mlir-opt
// RUN: grep -v "^//" %s > %t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: mlir-opt-19 %t.mlir | diff %t.mlir -
// RUN: mlir-opt-19 --mlir-print-op-generic %t.mlir > %t.generic.mlir
// RUN: ttmlir-opt --mlir-print-op-generic %t.mlir | diff %t.generic.mlir -
// RUN: ttmlir-opt %t.generic.mlir | diff %t.mlir -
module {
  emitc.include "a.h"
  emitc.include <"b.h">
  emitc.global @g : !emitc.array<2xi32>
  emitc.global static const @g2 : i32 = 5
  emitc.global extern @g3 : i32
  emitc.declare_func @ff
  emitc.func private @ext(i32) -> i32 attributes {specifiers = ["extern"]}
  emitc.func @ff(%arg0: i32, %arg1: !emitc.ptr<i32>) -> i32 attributes {foo, specifiers = ["static", "inline"]} {
    %0 = emitc.add %arg0, %arg0 {z} : (i32, i32) -> i32
    %1 = emitc.call @ff(%0, %arg1) {q = 1 : i64} : (i32, !emitc.ptr<i32>) -> i32
    emitc.return %1 : i32
  }
  emitc.func @void() {
    emitc.call @void() : () -> ()
    emitc.return
  }
  func.func @f(%arg0: i32, %arg1: i32, %arg2: i1, %arg3: index, %arg4: !emitc.array<4xi32>, %arg5: !emitc.opaque<"T">, %arg6: f32) {
    %0 = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
    %1 = "emitc.constant"() <{value = 42 : i32}> : () -> i32
    %2 = "emitc.constant"() <{value = #emitc.opaque<"x">}> : () -> !emitc.opaque<"int">
    emitc.assign %arg0 : i32 to %0 : i32
    %3 = emitc.cast %arg0 : i32 to f32
    %4 = emitc.cmp lt, %arg0, %arg1 : (i32, i32) -> i1
    %5 = emitc.logical_and %arg2, %arg2 : i1, i1
    %6 = emitc.logical_not %arg2 : i1
    %7 = emitc.logical_or %arg2, %arg2 : i1, i1
    %8 = emitc.bitwise_and %arg0, %arg1 : (i32, i32) -> i32
    %9 = emitc.bitwise_not %arg0 : (i32) -> i32
    %10 = emitc.unary_minus %arg0 : (i32) -> i32
    %11 = emitc.conditional %arg2, %arg0, %arg1 : i32
    %12 = emitc.subscript %arg4[%arg3] : (!emitc.array<4xi32>, index) -> i32
    %13 = emitc.literal "M_PI" : f32
    %14 = emitc.apply "&"(%arg0) {k} : (i32) -> !emitc.ptr<i32>
    %15 = emitc.call_opaque "foo"(%arg0) {args = [0 : index, 1 : i32], template_args = [f32, #emitc.opaque<"N">]} : (i32) -> i32
    %16:2 = emitc.call_opaque "bar"() : () -> (i32, f32)
    emitc.verbatim "#pragma x"
    %17 = emitc.expression : i32 {
      %20 = emitc.add %arg0, %arg1 : (i32, i32) -> i32
      emitc.yield %20 : i32
    }
    %18 = emitc.expression {w} noinline : i32 {
      %20 = emitc.mul %arg0, %arg1 : (i32, i32) -> i32
      emitc.yield %20 : i32
    }
    emitc.if %arg2 {
      emitc.verbatim "a"
    }
    emitc.if %arg2 {
    } else {
      emitc.verbatim "b" {t}
    }
    emitc.for %arg7 = %arg3 to %arg3 step %arg3 {
      emitc.verbatim "c"
    }
    emitc.for %arg7 = %arg0 to %arg1 step %arg0  : i32 {
    }
    %19 = emitc.get_global @g : !emitc.array<2xi32>
    return
  }
  emitc.func @more(%arg0: i32, %arg1: i1, %arg2: index, %arg3: !emitc.opaque<"S">, %arg4: !emitc.ptr<!emitc.opaque<"S">>, %arg5: !emitc.array<4xi32>) {
    emitc.if %arg1 {
      emitc.verbatim "1"
    } {k}
    emitc.for %arg6 = %arg2 to %arg2 step %arg2 {
      emitc.verbatim "c"
    } {k}
    %0 = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
    emitc.assign %arg0 : i32 to %0 : i32 {k}
    %1 = "emitc.member"(%arg3) <{member = "a"}> : (!emitc.opaque<"S">) -> i32
    %2 = "emitc.member_of_ptr"(%arg4) <{member = "a"}> : (!emitc.ptr<!emitc.opaque<"S">>) -> i32
    %3 = emitc.literal "M" {k} : f32
    %4 = emitc.cast %arg0 {k} : i32 to f32
    %5 = emitc.cmp three_way, %arg0, %arg0 {k} : (i32, i32) -> i1
    %6 = emitc.logical_not %arg1 {k} : i1
    %7 = emitc.conditional %arg1, %arg0, %arg0 {k} : i32
    %8 = emitc.subscript %arg5[%arg2] {k} : (!emitc.array<4xi32>, index) -> i32
    %9 = emitc.unary_plus %arg0 {k} : (i32) -> i32
    %10 = emitc.bitwise_left_shift %arg0, %arg0 : (i32, i32) -> i32
    %11 = emitc.bitwise_right_shift %arg0, %arg0 : (i32, i32) -> i32
    %12 = emitc.bitwise_or %arg0, %arg0 : (i32, i32) -> i32
    %13 = emitc.bitwise_xor %arg0, %arg0 : (i32, i32) -> i32
    %14 = emitc.sub %arg0, %arg0 : (i32, i32) -> i32
    %15 = emitc.rem %arg0, %arg0 : (i32, i32) -> i32
    %16 = emitc.div %arg0, %arg0 : (i32, i32) -> i32
    %17 = emitc.expression : i32 {
      %18 = emitc.add %arg0, %arg0 : (i32, i32) -> i32
      emitc.yield {k} %18 : i32
    }
    emitc.verbatim "b" {t}
    emitc.return {k}
  }
  emitc.func @h(%arg0: i32 {emitc.x = 1 : i64}) -> (i32 {emitc.y}) {
    emitc.return {k} %arg0 : i32
  }
  emitc.declare_func @h {k}
  emitc.global static @g4 : i32 = 4 {k}
  emitc.global @g5 : i32 = #emitc.opaque<"7"> {k}
  emitc.global @g6 : !emitc.array<2xf32> = dense<1.000000e+00>
  emitc.global @g7 : f32 = 4.000000e+00
  emitc.global @g8 : i1 = true
  emitc.global @g9 : !emitc.array<2x2xi8> = dense<[[1, -2], [3, 4]]>
  emitc.global @g10 : index
}

