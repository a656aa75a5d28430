// What the general passes do beyond their examples, and where MLIR's own do less.
// RUN: ttmlir-opt --split-input-file --remove-dead-values --verify-each %s | FileCheck %s --check-prefix=DEAD
// RUN: ttmlir-opt --split-input-file --symbol-dce %s | FileCheck %s --check-prefix=SYMBOLS
// RUN: ttmlir-opt --split-input-file --inline --verify-each %s | FileCheck %s --check-prefix=INLINE
// RUN: ttmlir-opt --split-input-file --canonicalize %s | FileCheck %s --check-prefix=CANONICAL
// RUN: ttmlir-opt --split-input-file --canonicalize=region-simplify=disabled %s | FileCheck %s --check-prefix=KEPT

// Functions of several blocks are trimmed too; values that only dead values use are dead.
// DEAD-LABEL: func.func private @branches(%arg0: i1) -> i32 {
// DEAD-NOT: arith.muli
// DEAD-LABEL: func.func @main
// DEAD: call @branches(%arg0) : (i1) -> i32
// INLINE-LABEL: func.func @main
// INLINE: call @branches
func.func private @branches(%b: i1, %x: i32) -> (i32, i32) {
  %c = arith.constant 1 : i32
  %0 = arith.muli %x, %x : i32
  %1 = arith.addi %0, %x : i32
  cf.cond_br %b, ^then, ^else
^then:
  return %c, %x : i32, i32
^else:
  return %c, %c : i32, i32
}
func.func @main(%b: i1, %x: i32) -> i32 {
  %0:2 = call @branches(%b, %x) : (i1, i32) -> (i32, i32)
  return %0#0 : i32
}
// -----
// A function that something other than a call refers to keeps its signature, and is needed.
// DEAD: func.func private @referred(%arg0: i32)
// SYMBOLS: func.func private @referred
func.func private @referred(%x: i32) { return }
func.func @f() attributes {test.uses = @referred} { return }
// -----
// Symbols that only refer to each other are not needed; nested ones are found by their path.
// SYMBOLS-NOT: @ping
// SYMBOLS-NOT: @unneeded
// SYMBOLS: module @inner
// SYMBOLS-NEXT: func.func nested @needed
// SYMBOLS-NOT: @unneeded
// INLINE: func.func private @ping
func.func private @ping() { call @pong() : () -> () return }
func.func private @pong() { call @ping() : () -> () return }
module @inner {
  func.func nested @needed() { return }
  func.func nested @unneeded() { return }
}
func.func @g() attributes {test.uses = [@inner::@needed]} { return }
// -----
// Constants of one function become one, before everything else; results of casts that cancel out go.
// CANONICAL-LABEL: func.func @constants
// CANONICAL-NEXT: %[[C:.*]] = arith.constant 7 : index
// CANONICAL-NEXT: call @take(%[[C]], %[[C]])
// CANONICAL-NOT: unrealized
// KEPT-LABEL: func.func @constants
func.func private @take(index, index)
func.func @constants(%x: i64) -> i64 {
  %0 = arith.constant 7 : index
  %1 = arith.constant 7 : index
  call @take(%0, %1) : (index, index) -> ()
  %2 = builtin.unrealized_conversion_cast %x : i64 to index
  %3 = builtin.unrealized_conversion_cast %2 : index to i32
  %4 = builtin.unrealized_conversion_cast %3 : i32 to i64
  return %4 : i64
}
