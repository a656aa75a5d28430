// RUN: ttmlir-translate --mlir-to-cpp --declare-variables-at-top %s | filecheck %s --match-full-lines --strict-whitespace
// RUN: not ttmlir-translate --mlir-to-cpp %s 2>&1 | filecheck %s --check-prefix=INLINE
// Blocks become labels, their arguments variables; that needs all variables at the top.

// CHECK:int32_t count(int32_t v1, bool v2) {
// CHECK-NEXT:  int32_t v3;
// CHECK-NEXT:  int32_t v4;
// CHECK-NEXT:  v4 = v1;
// CHECK-NEXT:  goto label2;
// CHECK-NEXT:label2:
// CHECK-NEXT:  v3 = v4 - v1;
// CHECK-NEXT:  if (v2) {
// CHECK-NEXT:    v4 = v3;
// CHECK-NEXT:    goto label2;
// CHECK-NEXT:  } else {
// CHECK-NEXT:    goto label3;
// CHECK-NEXT:  }
// CHECK-NEXT:label3:
// CHECK-NEXT:  return v3;
// CHECK-NEXT:}

// INLINE: variables_at_top.mlir:[[#]]:1: error: 'func.func' op with multiple blocks needs variables declared at top; add --declare-variables-at-top
func.func @count(%start: i32, %again: i1) -> i32 {
  cf.br ^loop(%start : i32)
^loop(%n: i32):
  %next = emitc.sub %n, %start : (i32, i32) -> i32
  cf.cond_br %again, ^loop(%next : i32), ^done
^done:
  return %next : i32
}
