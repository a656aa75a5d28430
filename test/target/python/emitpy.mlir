// Every kind of operation of emitpy as Python.
// RUN: ttmlir-translate --mlir-to-python %s | FileCheck %s

module {
  // CHECK: from math import sqrt as root, pi
  emitpy.import from "math" import "sqrt" as "root", "pi"
  // CHECK: counter = 0
  emitpy.global @counter = 0 : i64
  // CHECK: class Model(torch.nn.Module):
  // CHECK-NEXT: def run(self, value):
  // CHECK-NEXT: self.weight = value
  // CHECK-NEXT: return
  emitpy.class @Model(#emitpy.opaque<"torch.nn.Module">) {
    func.func @run(%self: !emitpy.class<"Model"> {emitpy.name = "self"}, %value: !emitpy.opaque<"T"> {emitpy.name = "value"}) {
      emitpy.set_attr "weight"(%self, %value) : (!emitpy.class<"Model">, !emitpy.opaque<"T">) -> ()
      return
    }
  }
  // CHECK: def f(arg0, arg1):
  func.func @f(%a: !emitpy.opaque<"T">, %b: !emitpy.opaque<"T">) -> !emitpy.opaque<"T"> {
    // CHECK-NEXT: utils_create_list_0 = [arg0, arg1]
    %l = emitpy.call_opaque "utils.create_list"(%a, %b) : (!emitpy.opaque<"T">, !emitpy.opaque<"T">) -> !emitpy.opaque<"[T]">
    %i = emitpy.literal "1" : index
    // CHECK-NEXT: var_0 = utils_create_list_0[1]
    %s = emitpy.subscript %l[%i] : (!emitpy.opaque<"[T]">, index) -> !emitpy.opaque<"T">
    // CHECK-NEXT: print(var_0)
    emitpy.verbatim "print({})" args %s : !emitpy.opaque<"T">
    // CHECK-NEXT: if var_0 > 2:
    // CHECK-NEXT: print("more")
    "emitpy.if"(%s) <{condition = "{} > 2"}> ({
      emitpy.verbatim "print(\22more\22)"
      emitpy.yield
    }, {}) : (!emitpy.opaque<"T">) -> ()
    // CHECK-NEXT: carried_0 = arg0
    // CHECK-NEXT: for _ in range(3):
    // CHECK-NEXT: g_0 = g(carried_0)
    // CHECK-NEXT: carried_0 = g_0
    %w = "emitpy.while"(%a) <{trip_count = 3 : i64}> ({
    ^bb0(%x: !emitpy.opaque<"T">):
      %n = emitpy.call_opaque "g"(%x) : (!emitpy.opaque<"T">) -> !emitpy.opaque<"T">
      emitpy.while_yield %n : !emitpy.opaque<"T">
    }) : (!emitpy.opaque<"T">) -> !emitpy.opaque<"T">
    %e = emitpy.expression(%w) : (!emitpy.opaque<"T">) -> !emitpy.opaque<"T"> {
    ^bb0(%x: !emitpy.opaque<"T">):
      %n = emitpy.call_opaque "g"(%x) : (!emitpy.opaque<"T">) -> !emitpy.opaque<"T">
      %m = emitpy.call_opaque "h"(%n) : (!emitpy.opaque<"T">) -> !emitpy.opaque<"T">
      emitpy.yield %m : !emitpy.opaque<"T">
    }
    // CHECK-NEXT: return h(g(carried_0))
    return %e : !emitpy.opaque<"T">
  }
}
