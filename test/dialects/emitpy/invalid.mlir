// The verifiers of emitpy, in the words of tt-mlir.
// RUN: ttmlir-opt %s -split-input-file -verify-diagnostics

// expected-error@+1 {{'emitpy.import' op cannot specify member aliases without specifying members to import}}
"emitpy.import"() <{module_name = "a", member_aliases = ["b"]}> : () -> ()

// -----

func.func @f(%a: !emitpy.opaque<"T">) {
  // expected-error@+1 {{'emitpy.call_opaque' op args and keyword_args must be specified together}}
  emitpy.call_opaque "f"(%a) {args = [0 : index]} : (!emitpy.opaque<"T">) -> ()
  return
}

// -----

func.func @f(%a: !emitpy.opaque<"T">) {
  // expected-error@+1 {{'emitpy.call_opaque' op args and keyword_args must have the same size (empty strings are allowed), but got args size = 1 and keyword_args size = 2}}
  emitpy.call_opaque "f"(%a) {args = [0 : index], keyword_args = ["", "a"]} : (!emitpy.opaque<"T">) -> ()
  return
}

// -----

func.func @f() {
  // expected-error@+1 {{'emitpy.create_dict' op cannot have both literal_expr and items empty; for an empty dict, use literal_expr = "{}" instead}}
  %0 = emitpy.create_dict "d"() : () -> !emitpy.dict
  return
}

// -----

func.func @f(%a: !emitpy.opaque<"T">) {
  // expected-error@+1 {{'emitpy.assign_global' op 'g' does not reference a valid emitpy.global}}
  emitpy.assign_global @g = %a : !emitpy.opaque<"T">
  return
}

// -----

// expected-error@+1 {{'emitpy.class' op instance and class methods must take a receiver argument}}
emitpy.class @M {
  func.func @run() {
    return
  }
}
