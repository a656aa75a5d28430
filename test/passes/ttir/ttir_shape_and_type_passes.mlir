// Reshapes, permutations and element types as passes of 2026 write them.

// RUN: ttmlir-opt --split-input-file --ttir-move-reshape-to-constant %s | FileCheck %s --check-prefix=MOVE
// RUN: ttmlir-opt --split-input-file --ttir-decompose-complex-permute %s | FileCheck %s --check-prefix=PERMUTE
// RUN: ttmlir-opt --split-input-file --ttir-decompose-complex-reshape %s | FileCheck %s --check-prefix=RESHAPE
// RUN: ttmlir-opt --split-input-file --ttir-predicate-type-alignment %s | FileCheck %s --check-prefix=TRUTH
// RUN: ttmlir-opt --split-input-file --ttir-global-data-format-conversion %s | FileCheck %s --check-prefix=BF16
// RUN: ttmlir-opt --split-input-file --ttir-global-data-format-conversion="target-format=f32" %s | FileCheck %s --check-prefix=F32
// RUN: not ttmlir-opt --ttir-global-data-format-conversion="target-format=f64" %s 2>&1 | FileCheck %s --check-prefix=FORMAT

// FORMAT: Invalid target format 'f64'. Supported formats: f32, bf16

// MOVE-LABEL: func.func @scale
// MOVE: %[[C:.*]] = "ttir.reshape"(%{{.*}}) <{shape = [1 : i32, 1 : i32, 7 : i32]}> : (tensor<7xf32>)
// MOVE: %[[P:.*]] = "ttir.multiply"(%[[C]], %arg0) : (tensor<1x1x7xf32>, tensor<5x1x7xf32>) -> tensor<5x1x7xf32>
// MOVE: "ttir.reshape"(%[[P]]) <{shape = [5 : i32, 7 : i32]}>
// BF16-LABEL: func.func @scale
// BF16-SAME: -> tensor<5x7xf32>
// BF16: "ttir.typecast"(%arg0) {{.*}} : (tensor<5x1x7xf32>) -> tensor<5x1x7xbf16>
// BF16: "ttir.constant"() {{.*}} -> tensor<7xbf16>
// BF16: "ttir.multiply"({{.*}} -> tensor<5x7xbf16>
// BF16: "ttir.typecast"(%{{.*}} : (tensor<5x7xbf16>) -> tensor<5x7xf32>
// F32-LABEL: func.func @scale
// F32-NOT: typecast
// F32: return
func.func @scale(%a: tensor<5x1x7xf32>) -> tensor<5x7xf32> {
  %c = "ttir.constant"() <{value = dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<7xf32>}> : () -> tensor<7xf32>
  %0 = "ttir.reshape"(%a) <{shape = [5 : i32, 7 : i32]}> : (tensor<5x1x7xf32>) -> tensor<5x7xf32>
  %1 = "ttir.multiply"(%c, %0) : (tensor<7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  return %1 : tensor<5x7xf32>
}

// A constant that repeats across half of a joined dimension has no shape before the reshape.
// MOVE-LABEL: func.func @joined
// MOVE: "ttir.reshape"(%arg0) <{shape = [15 : i32, 7 : i32]}>
// MOVE-NEXT: "ttir.add"(%{{.*}} : (tensor<15x7xf32>, tensor<15x1xf32>) -> tensor<15x7xf32>
// MOVE: "ttir.reshape"(%{{.*}}) <{shape = [5 : i32, 3 : i32, 1 : i32]}> : (tensor<15x1xf32>)
// MOVE-NEXT: "ttir.maximum"(%arg1, %{{.*}}) : (tensor<5x3x7xf32>, tensor<5x3x1xf32>) -> tensor<5x3x7xf32>
func.func @joined(%a: tensor<5x21xf32>, %b: tensor<5x3x7xf32>) -> (tensor<15x7xf32>, tensor<15x7xf32>) {
  %c = "ttir.constant"() <{value = dense<[[1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0], [8.0], [9.0], [1.0], [2.0], [3.0], [4.0], [5.0], [6.0]]> : tensor<15x1xf32>}> : () -> tensor<15x1xf32>
  %0 = "ttir.reshape"(%a) <{shape = [15 : i32, 7 : i32]}> : (tensor<5x21xf32>) -> tensor<15x7xf32>
  %1 = "ttir.add"(%0, %c) : (tensor<15x7xf32>, tensor<15x1xf32>) -> tensor<15x7xf32>
  %2 = "ttir.reshape"(%b) <{shape = [15 : i32, 7 : i32]}> : (tensor<5x3x7xf32>) -> tensor<15x7xf32>
  %3 = "ttir.maximum"(%2, %c) : (tensor<15x7xf32>, tensor<15x1xf32>) -> tensor<15x7xf32>
  return %1, %3 : tensor<15x7xf32>, tensor<15x7xf32>
}

// -----

// PERMUTE-LABEL: func.func @orders
// PERMUTE: "ttir.permute"(%arg0) <{permutation = array<i64: 1, 2, 0, 3>}> : (tensor<2x3x5x7xf32>) -> tensor<3x5x2x7xf32>
// PERMUTE-NEXT: "ttir.permute"(%{{.*}}) <{permutation = array<i64: 0, 1, 3, 2>}> : (tensor<3x5x2x7xf32>) -> tensor<3x5x7x2xf32>
// PERMUTE-NEXT: "ttir.permute"(%{{.*}}) <{permutation = array<i64: 2, 0, 1, 3>}> : (tensor<3x5x7x2xf32>) -> tensor<7x3x5x2xf32>
// PERMUTE-NEXT: "ttir.permute"(%arg0) <{permutation = array<i64: 0, 1, 3, 2>}>
// PERMUTE-NEXT: "ttir.permute"(%arg0) <{permutation = array<i64: 2, 0, 1, 3>}>
// PERMUTE-NEXT: return
func.func @orders(%a: tensor<2x3x5x7xf32>) -> (tensor<7x3x5x2xf32>, tensor<2x3x7x5xf32>, tensor<5x2x3x7xf32>) {
  %0 = "ttir.permute"(%a) <{permutation = array<i64: 3, 1, 2, 0>}> : (tensor<2x3x5x7xf32>) -> tensor<7x3x5x2xf32>
  %1 = "ttir.permute"(%a) <{permutation = array<i64: 0, 1, 3, 2>}> : (tensor<2x3x5x7xf32>) -> tensor<2x3x7x5xf32>
  %2 = "ttir.permute"(%a) <{permutation = array<i64: 2, 0, 1, 3>}> : (tensor<2x3x5x7xf32>) -> tensor<5x2x3x7xf32>
  return %0, %1, %2 : tensor<7x3x5x2xf32>, tensor<2x3x7x5xf32>, tensor<5x2x3x7xf32>
}

// -----

// RESHAPE-LABEL: func.func @columns
// RESHAPE: %[[ROW:.*]] = "ttir.permute"(%arg0) <{permutation = array<i64: 0, 2, 1>}> : (tensor<3x40x1xf32>) -> tensor<3x1x40xf32>
// RESHAPE-NEXT: "ttir.reshape"(%[[ROW]]) <{shape = [3 : i32, 40 : i32]}>
// RESHAPE-NEXT: %[[OTHER:.*]] = "ttir.reshape"(%arg1) <{shape = [3 : i32, 1 : i32, 40 : i32]}>
// RESHAPE-NEXT: "ttir.permute"(%[[OTHER]]) <{permutation = array<i64: 0, 2, 1>}>
// RESHAPE-NEXT: "ttir.reshape"(%arg1) <{shape = [40 : i32, 3 : i32]}>
// RESHAPE-NEXT: return
func.func @columns(%a: tensor<3x40x1xf32>, %b: tensor<3x40xf32>) -> (tensor<3x40xf32>, tensor<3x40x1xf32>, tensor<40x3xf32>) {
  %0 = "ttir.reshape"(%a) <{shape = [3 : i32, 40 : i32]}> : (tensor<3x40x1xf32>) -> tensor<3x40xf32>
  %1 = "ttir.reshape"(%b) <{shape = [3 : i32, 40 : i32, 1 : i32]}> : (tensor<3x40xf32>) -> tensor<3x40x1xf32>
  %2 = "ttir.reshape"(%b) <{shape = [40 : i32, 3 : i32]}> : (tensor<3x40xf32>) -> tensor<40x3xf32>
  return %0, %1, %2 : tensor<3x40xf32>, tensor<3x40x1xf32>, tensor<40x3xf32>
}

// -----

// TRUTH-LABEL: func.func @truths
// TRUTH: "ttir.gt"(%arg0, %arg1) : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
// TRUTH-NEXT: "ttir.logical_not"(%{{.*}}) : (tensor<5x7xf32>) -> tensor<5x7xf32>
// TRUTH-NEXT: %[[C:.*]] = "ttir.typecast"(%arg2) {{.*}} : (tensor<5x7xi1>) -> tensor<5x7xf32>
// TRUTH-NEXT: %[[A:.*]] = "ttir.logical_and"(%{{.*}}, %[[C]]) : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
// TRUTH-NEXT: "ttir.where"(%[[A]], %arg0, %arg1) : (tensor<5x7xf32>, tensor<5x7xf32>, tensor<5x7xf32>)
// TRUTH-NEXT: %[[T:.*]] = "ttir.permute"(%[[A]]) {{.*}} -> tensor<7x5xf32>
// TRUTH-NEXT: %[[BACK:.*]] = "ttir.typecast"(%[[T]]) {{.*}} : (tensor<7x5xf32>) -> tensor<7x5xi1>
// TRUTH-NEXT: return %{{.*}}, %[[BACK]]
// BF16-LABEL: func.func @truths
// BF16: "ttir.gt"(%{{.*}}) : (tensor<5x7xbf16>, tensor<5x7xbf16>) -> tensor<5x7xi1>
func.func @truths(%a: tensor<5x7xf32>, %b: tensor<5x7xf32>, %c: tensor<5x7xi1>) -> (tensor<5x7xf32>, tensor<7x5xi1>) {
  %0 = "ttir.gt"(%a, %b) : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xi1>
  %1 = "ttir.logical_not"(%0) : (tensor<5x7xi1>) -> tensor<5x7xi1>
  %2 = "ttir.logical_and"(%1, %c) : (tensor<5x7xi1>, tensor<5x7xi1>) -> tensor<5x7xi1>
  %3 = "ttir.where"(%2, %a, %b) : (tensor<5x7xi1>, tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %4 = "ttir.permute"(%2) <{permutation = array<i64: 1, 0>}> : (tensor<5x7xi1>) -> tensor<7x5xi1>
  return %3, %4 : tensor<5x7xf32>, tensor<7x5xi1>
}
