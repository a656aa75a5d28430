// REQUIRES: mlir-opt
// RUN: ttmlir-opt --split-input-file --verify-diagnostics %s
// RUN: mlir-opt-19 --split-input-file --verify-diagnostics %s

// What emitc refuses; MLIR says the same.

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.add' op operand #1 must be type supported by EmitC, but got 'tensor<?xi32>'}}
  %r = emitc.add %a, %t : (i32, tensor<?xi32>) -> i32
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.add' op requires that at most one operand is a pointer}}
  %r = emitc.add %p, %p : (!emitc.ptr<i32>, !emitc.ptr<i32>) -> !emitc.ptr<i32>
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.add' op requires that one operand is an integer or of opaque type if the other is a pointer}}
  %r = emitc.add %p, %f : (!emitc.ptr<i32>, f32) -> !emitc.ptr<i32>
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.sub' op rhs can only be a pointer if lhs is a pointer}}
  %r = emitc.sub %a, %p : (i32, !emitc.ptr<i32>) -> !emitc.ptr<i32>
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.sub' op requires that the result is an integer or of opaque type if lhs and rhs are pointers}}
  %r = emitc.sub %p, %p : (!emitc.ptr<i32>, !emitc.ptr<i32>) -> f32
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.sub' op requires that rhs is an integer, pointer or of opaque type if lhs is a pointer}}
  %r = emitc.sub %p, %f : (!emitc.ptr<i32>, f32) -> !emitc.ptr<i32>
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.apply' op applicable operator must not be empty}}
  %r = emitc.apply ""(%a) : (i32) -> !emitc.ptr<i32>
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.apply' op applicable operator is illegal}}
  %r = emitc.apply "+"(%a) : (i32) -> !emitc.ptr<i32>
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.apply' op requires attribute 'applicableOperator'}}
  %r = "emitc.apply"(%a) : (i32) -> i32
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.apply' op cannot apply to constant}}
  %r = emitc.apply "&"(%k) : (i32) -> !emitc.ptr<i32>
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.call_opaque' op callee must not be empty}}
  emitc.call_opaque ""(%a) : (i32) -> ()
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.call_opaque' op index argument is out of range}}
  emitc.call_opaque "f"(%a) {args = [1 : index]} : (i32) -> ()
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.call_opaque' op array argument has no type}}
  emitc.call_opaque "f"(%a) {args = [[1]]} : (i32) -> ()
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{custom op 'emitc.call_opaque' 'emitc.call_opaque' op attribute 'args' failed to satisfy constraint: array attribute}}
  emitc.call_opaque "f"(%a) {args = 1} : (i32) -> ()
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.call_opaque' op template argument has invalid type}}
  emitc.call_opaque "f"(%a) {template_args = ["x"]} : (i32) -> ()
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.call_opaque' op cannot return array type}}
  %r = emitc.call_opaque "f"(%a) : (i32) -> (!emitc.array<2xi32>)
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.cast' op operand type 'i32' and result type '!emitc.array<2xi32>' are cast incompatible}}
  %r = emitc.cast %a : i32 to !emitc.array<2xi32>
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.cast' op operand type 'i32' and result type 'tensor<2xi32>' are cast incompatible}}
  %r = emitc.cast %a : i32 to tensor<2xi32>
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.div' op operand #0 must be floating-point type supported by EmitC or integer, index or opaque type supported by EmitC, but got '!emitc.ptr<i32>'}}
  %r = emitc.div %p, %a : (!emitc.ptr<i32>, i32) -> i32
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.mul' op operand #1 must be floating-point type supported by EmitC or integer, index or opaque type supported by EmitC, but got '!emitc.ptr<i32>'}}
  %r = emitc.mul %a, %p : (i32, !emitc.ptr<i32>) -> i32
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.rem' op operand #0 must be integer, index or opaque type supported by EmitC, but got 'f32'}}
  %r = emitc.rem %f, %f : (f32, f32) -> f32
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.logical_and' op operand #0 must be type supported by EmitC, but got 'tensor<?xi32>'}}
  %r = emitc.logical_and %t, %c : tensor<?xi32>, i1
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{custom op 'emitc.cmp' expected string or keyword containing one of the following enum values for attribute 'predicate' [eq, ne, lt, le, gt, ge, three_way]}}
  %r = emitc.cmp bla, %a, %b : (i32, i32) -> i1
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.constant' op requires attribute to either be an #emitc.opaque attribute or it's type ('i32') to match the op's result type ('f32')}}
  %r = "emitc.constant"() <{value = 1 : i32}> : () -> f32
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.constant' op value must not be empty}}
  %r = "emitc.constant"() <{value = #emitc.opaque<"">}> : () -> f32
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.constant' op string attributes are not supported, use #emitc.opaque instead}}
  %r = "emitc.constant"() <{value = "s"}> : () -> f32
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.constant' op requires attribute 'value'}}
  %r = "emitc.constant"() : () -> f32
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.variable' op requires attribute to either be an #emitc.opaque attribute or it's type ('i32') to match the op's result type ('f32')}}
  %r = "emitc.variable"() <{value = 1 : i32}> : () -> f32
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.variable' op result #0 must be type supported by EmitC, but got 'tensor<?xi32>'}}
  %r = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> tensor<?xi32>
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.assign' op requires first operand (%0 = "emitc.constant"() <{value = 42 : i32}> : () -> i32) to be a get_global, member, member of pointer, subscript or variable}}
  emitc.assign %a : i32 to %k : i32
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.assign' op requires first operand (<block argument> of type 'i32' at index: 0) to be a get_global, member, member of pointer, subscript or variable}}
  emitc.assign %a : i32 to %a : i32
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.assign' op requires value's type ('f32') to match variable's type ('i32')}}
  emitc.assign %f : f32 to %v : i32
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.assign' op cannot assign to array type}}
  emitc.assign %arr : !emitc.array<4xi32> to %varr : !emitc.array<4xi32>
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.subscript' op on array operand requires number of indices (2) to match the rank of the array type (1)}}
  %r = emitc.subscript %arr[%i, %i] : (!emitc.array<4xi32>, index, index) -> i32
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.subscript' op on array operand requires index operand 0 to be integer-like, but got 'f32'}}
  %r = emitc.subscript %arr[%f] : (!emitc.array<4xi32>, f32) -> i32
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.subscript' op on array operand requires element type ('i32') and result type ('f32') to match}}
  %r = emitc.subscript %arr[%i] : (!emitc.array<4xi32>, index) -> f32
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.subscript' op on pointer operand requires one index operand, but got 2}}
  %r = emitc.subscript %p[%i, %i] : (!emitc.ptr<i32>, index, index) -> i32
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.subscript' op on pointer operand requires index operand to be integer-like, but got 'f32'}}
  %r = emitc.subscript %p[%f] : (!emitc.ptr<i32>, f32) -> i32
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.subscript' op on pointer operand requires pointee type ('i32') and result type ('f32') to match}}
  %r = emitc.subscript %p[%i] : (!emitc.ptr<i32>, index) -> f32
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.subscript' op operand #0 must be EmitC array type or EmitC opaque type or EmitC pointer type, but got 'i32'}}
  %r = emitc.subscript %a[%i] : (i32, index) -> f32
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.literal' op value must not be empty}}
  %r = emitc.literal "" : f32
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{custom op 'emitc.include' expected string attribute}}
  emitc.include 1
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{custom op 'emitc.include' expected trailing '>' for standard include}}
  emitc.include <"x"
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.call' op 'nope' does not reference a valid function}}
  emitc.call @nope(%a) : (i32) -> ()
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.call' op incorrect number of results for callee}}
  emitc.call @f2(%a) : (i32) -> ()
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.call' op incorrect number of operands for callee}}
  %r = emitc.call @f2() : () -> (i32)
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.get_global' op 'nope' does not reference a valid emitc.global}}
  %r = emitc.get_global @nope : i32
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.get_global' op result type 'i32' does not match type '!emitc.array<2xi32>' of the global @g}}
  %r = emitc.get_global @g : i32
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.return' op expects parent op 'emitc.func'}}
  emitc.if %c { emitc.return }
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.for' op operand #0 must be integer, index or opaque type supported by EmitC, but got 'f32'}}
  emitc.for %j = %f to %f step %f : f32 { }
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.yield' op yields a value not returned by parent}}
  emitc.for %j = %i to %i step %i { emitc.yield %i : index }
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.expression' op must yield a value at termination}}
  %zz = emitc.expression : i32 { %y = emitc.add %a, %b : (i32, i32) -> i32  emitc.yield }
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.expression' op requires yielded type to match return type}}
  %zz = emitc.expression : f32 { %y = emitc.add %a, %b : (i32, i32) -> i32  emitc.yield %y : i32 }
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.expression' op contains an unsupported operation}}
  %zz = emitc.expression : i32 { %y = arith.addi %a, %b : i32  emitc.yield %y : i32 }
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.expression' op requires exactly one use for each operation}}
  %zz = emitc.expression : i32 { %y = emitc.add %a, %b : (i32, i32) -> i32  %z = emitc.add %y, %y : (i32, i32) -> i32 emitc.yield %z : i32 }
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.yield' op expects parent op to be one of 'emitc.expression, emitc.if, emitc.for'}}
  emitc.yield %a : i32
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.member' op operand #0 must be EmitC opaque type, but got 'i32'}}
  %r = "emitc.member"(%a) <{member = "a"}> : (i32) -> i32
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.member_of_ptr' op operand #0 must be EmitC opaque type or EmitC pointer type, but got 'i32'}}
  %r = "emitc.member_of_ptr"(%a) <{member = "a"}> : (i32) -> i32
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{invalid properties {predicate = 9 : i64} for op emitc.cmp: Invalid attribute `predicate` in property conversion: 9 : i64}}
  %r = "emitc.cmp"(%a, %a) <{predicate = 9 : i64}> : (i32, i32) -> i1
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{invalid properties {predicate = 1 : i32} for op emitc.cmp: Invalid attribute `predicate` in property conversion: 1 : i32}}
  %r = "emitc.cmp"(%a, %a) <{predicate = 1 : i32}> : (i32, i32) -> i1
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.conditional' op failed to verify that all of {true_value, false_value, result} have same type}}
  %r = "emitc.conditional"(%c, %a, %f) : (i1, i32, f32) -> i32
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.logical_and' op result #0 must be 1-bit signless integer, but got 'i32'}}
  %r = "emitc.logical_and"(%c, %c) : (i1, i1) -> i32
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.call' op operand type mismatch: expected operand type 'i32', but provided 'f32' for operand number 0}}
  %r = emitc.call @f2(%f) : (f32) -> i32
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+3 {{'emitc.call' op result type mismatch at index 0}}
  // expected-note@+2 {{op result types: 'f32'}}
  // expected-note@+1 {{function result types: 'i32'}}
  %r = emitc.call @f2(%a) : (i32) -> f32
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.cast' op operand type '!emitc.array<4xi32>' and result type '!emitc.ptr<i32>' are cast incompatible}}
  %r = emitc.cast %arr : !emitc.array<4xi32> to !emitc.ptr<i32>
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.cast' op operand type 'i32' and result type 'tensor<4xi32>' are cast incompatible}}
  %r = emitc.cast %a : i32 to tensor<4xi32>
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.cast' op result #0 must be type supported by EmitC, but got 'i7'}}
  %r = emitc.cast %a : i32 to i7
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.constant' op attribute 'value' failed to satisfy constraint: An opaque attribute or TypedAttr instance}}
  %r = "emitc.constant"() <{value = i32}> : () -> tensor<2xi32>
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.include' op expects parent op 'builtin.module'}}
  emitc.include ""
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.if' op expected 2 regions}}
  "emitc.if"(%c) ({ "emitc.yield"() : () -> () }) : (i1) -> ()
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.if' op expects region #0 to have 0 or 1 blocks}}
  "emitc.if"(%c) ({ ^bb0: "emitc.yield"() : () -> () ^bb1: "emitc.yield"() : () -> () }, {}) : (i1) -> ()
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{block with no terminator, has "emitc.verbatim"() <{value = ""}> : () -> ()}}
  "emitc.if"(%c) ({ "emitc.verbatim"() <{value = ""}> : () -> () }, {}) : (i1) -> ()
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.if' op region #0 ('thenRegion') failed to verify constraint: region with 1 blocks}}
  "emitc.if"(%c) ({ }, {}) : (i1) -> ()
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.if' op region #0 should have no arguments}}
  "emitc.if"(%c) ({ ^bb0(%z: i32): emitc.yield }, {}) : (i1) -> ()
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.for' op expected induction variable to be same type as bounds and step}}
  "emitc.for"(%i,%i,%i) ({ ^bb0(%z: i32): emitc.yield }) : (index, index, index) -> ()
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.for' op failed to verify that all of {lowerBound, upperBound, step} have same type}}
  "emitc.for"(%i,%a,%i) ({ ^bb0(%z: index): emitc.yield }) : (index, i32, index) -> ()
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.for' op region #0 ('region') failed to verify constraint: region with 1 blocks}}
  "emitc.for"(%i,%i,%i) ({  }) : (index, index, index) -> ()
  return
}

// -----

emitc.global @g : !emitc.array<2xi32>
emitc.func @f2(%x: i32) -> i32 { emitc.return %x : i32 }
func.func @f(%a: i32, %b: i32, %c: i1, %i: index, %arr: !emitc.array<4xi32>, %op: !emitc.opaque<"T">, %f: f32, %p: !emitc.ptr<i32>, %t: tensor<?xi32>, %sz: !emitc.size_t) {
  %k = "emitc.constant"() <{value = 42 : i32}> : () -> i32
  %v = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> i32
  %varr = "emitc.variable"() <{value = #emitc.opaque<"">}> : () -> !emitc.array<4xi32>
  // expected-error@+1 {{'emitc.expression' op requires exactly one result for each operation}}
  %r = "emitc.expression"() ({ %y, %z = emitc.call_opaque "foo"() : () -> (i32, i32) emitc.yield %y : i32 }) : () -> i32
  return
}

// -----

// expected-error@+1 {{'emitc.global' op initial value expected to be of type 'i32', but was of type 'f32'}}
"emitc.global"() <{sym_name = "q", type = i32, initial_value = 1.0 : f32}> : () -> ()

// -----

// expected-error@+1 {{'emitc.global' op initial value expected to be of type '!emitc.array<2xi32>', but was of type 'tensor<3xi32>'}}
"emitc.global"() <{sym_name = "q", type = !emitc.array<2xi32>, initial_value = dense<1> : tensor<3xi32>}> : () -> ()

// -----

// expected-error@+1 {{'emitc.global' op initial value expected to be of type '!emitc.array<2xi32>', but was of type 'i32'}}
"emitc.global"() <{sym_name = "q", type = !emitc.array<2xi32>, initial_value = 1 : i32}> : () -> ()

// -----

// expected-error@+1 {{'emitc.global' op expected valid emitc type}}
"emitc.global"() <{sym_name = "q", type = tensor<?xi32>}> : () -> ()

// -----

// expected-error@+1 {{'emitc.global' op initial value should be a integer, float, elements or opaque attribute, but got "s"}}
"emitc.global"() <{sym_name = "q", type = f32, initial_value = "s"}> : () -> ()

// -----

// expected-error@+1 {{'emitc.global' op attribute 'initial_value' failed to satisfy constraint: An opaque attribute or TypedAttr instance}}
"emitc.global"() <{sym_name = "q", type = f32, initial_value = [1]}> : () -> ()

// -----

// expected-error@+1 {{'emitc.func' op type of entry block argument #0('f32') must match the type of the corresponding argument in function signature('i32')}}
"emitc.func"() <{sym_name = "q", function_type = (i32) -> ()}> ({ ^bb0(%z: f32): emitc.return }) : () -> ()

// -----

// expected-error@+1 {{'emitc.func' op attribute 'function_type' failed to satisfy constraint: type attribute of function type}}
"emitc.func"() <{sym_name = "q", function_type = i32}> ({ ^bb0(%z: f32): emitc.return }) : () -> ()

// -----

// expected-error@+1 {{block with no terminator, has "emitc.verbatim"() <{value = "q"}> : () -> ()}}
"emitc.func"() <{sym_name = "q", function_type = () -> ()}> ({ emitc.verbatim "q" }) : () -> ()

// -----

// expected-error@+1 {{dimensions must have positive size}}
func.func private @f(!emitc.array<0xi32>)

// -----

// expected-error@+1 {{dimensions must have positive size}}
func.func private @f(!emitc.array<2x0x3xi32>)

// -----

// expected-error@+1 {{expected static shape}}
func.func private @f(!emitc.array<2x?xi32>)

// -----

// expected-error@+1 {{shape must not be empty}}
func.func private @f(!emitc.array<i32>)

// -----

// expected-error@+1 {{invalid array element type}}
func.func private @f(!emitc.array<2x3xtensor<4xf32>>)

// -----

// expected-error@+1 {{invalid array element type}}
func.func private @f(!emitc.array<2x!emitc.array<3xi32>>)

// -----

// expected-error@+1 {{integer constant out of range for attribute}}
emitc.global @g : si8 = -129

// -----

func.func @f() {
  // expected-error@+1 {{'emitc.expression' op region should have no arguments}}
  %0 = "emitc.expression"() ({^bb0(%z: i32): emitc.yield %z : i32}) : () -> i32
  return
}
