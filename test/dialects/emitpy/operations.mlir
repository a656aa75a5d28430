// The text of emitpy is read and written alike.
// RUN: ttmlir-opt %s | ttmlir-opt | FileCheck %s

module {
  // CHECK: emitpy.import import "ttnn"
  emitpy.import import "ttnn"
  // CHECK: emitpy.import import "numpy" as "np"
  emitpy.import import "numpy" as "np"
  // CHECK: emitpy.import from "math" import "sqrt" as "root", "pi"
  emitpy.import from "math" import "sqrt" as "root", "pi"
  // CHECK: emitpy.import from "math" import *
  emitpy.import from "math" import *
  // CHECK: emitpy.global @cache = #emitpy.opaque<"{}">
  emitpy.global @cache = #emitpy.opaque<"{}">
  func.func @f(%tensor: !emitpy.opaque<"ttnn.Tensor">, %list: !emitpy.opaque<"[ttnn.Tensor]">) {
    // CHECK: %[[ZERO:.*]] = emitpy.literal "0" : index
    %zero = emitpy.literal "0" : index
    // CHECK: emitpy.subscript %{{.*}}[%[[ZERO]]] : (!emitpy.opaque<"[ttnn.Tensor]">, index) -> !emitpy.opaque<"ttnn.Tensor">
    %first = emitpy.subscript %list[%zero] : (!emitpy.opaque<"[ttnn.Tensor]">, index) -> !emitpy.opaque<"ttnn.Tensor">
    // CHECK: emitpy.call_opaque "ttnn.add"(%{{.*}}, %{{.*}}) {args = [0 : index, 1 : index, #emitpy.opaque<"None">], keyword_args = ["", "", "dtype"]}
    %sum = emitpy.call_opaque "ttnn.add"(%first, %tensor) {args = [0 : index, 1 : index, #emitpy.opaque<"None">], keyword_args = ["", "", "dtype"]} : (!emitpy.opaque<"ttnn.Tensor">, !emitpy.opaque<"ttnn.Tensor">) -> !emitpy.opaque<"ttnn.Tensor">
    // CHECK: emitpy.create_dict "d"() {literal_expr = "{}"} : () -> !emitpy.dict<!emitpy.str, Any>
    %dict = emitpy.create_dict "d" {literal_expr = "{}"} : () -> !emitpy.dict<!emitpy.str, Any>
    // CHECK: emitpy.assign_global @cache = %{{.*}} : !emitpy.dict<!emitpy.str, Any>
    emitpy.assign_global @cache = %dict : !emitpy.dict<!emitpy.str, Any>
    // CHECK: emitpy.verbatim "print({})" args %{{.*}} : !emitpy.opaque<"ttnn.Tensor">
    emitpy.verbatim "print({})" args %sum : !emitpy.opaque<"ttnn.Tensor">
    return
  }
  // CHECK: emitpy.class @Model(#emitpy.opaque<"torch.nn.Module">) {
  emitpy.class @Model(#emitpy.opaque<"torch.nn.Module">) {
    func.func @run(%self: !emitpy.class<"Model"> {emitpy.name = "self"}) {
      return
    }
  }
}
