// RUN: ttmlir-opt --convert-spelling=to=2026 %s | FileCheck %s
// RUN: ttmlir-opt --convert-spelling=to=2026 %s | ttmlir-opt --convert-spelling=to=2024 | FileCheck %s --check-prefix=EARLY

// Loops and branches are of ttcore; slices at computed places say where they end, and are written by
// rows.

module {
  // CHECK-LABEL: func.func @loop
  // EARLY-LABEL: func.func @loop
  func.func @loop(%a: tensor<4x7xf32>) -> tensor<4x7xf32> {
    // CHECK: "ttcore.while_loop"(%arg0) <{body_program = @body, initial = #ttcore.loop_bound<0>, limit = #ttcore.loop_bound<3>, output_indices = array<i32: 0>, state_count = 1 : i32, step = #ttcore.loop_bound<1>}>
    // EARLY: "ttir.while"(%arg0) <{body = @body, trip_count = 3 : i64}>
    %0 = "ttir.while"(%a) <{body = @body, trip_count = 3 : i64}> : (tensor<4x7xf32>) -> tensor<4x7xf32>
    return %0 : tensor<4x7xf32>
  }
  func.func private @body(%a: tensor<4x7xf32>) -> tensor<4x7xf32> {
    return %a : tensor<4x7xf32>
  }
  // CHECK-LABEL: func.func @branch
  // EARLY-LABEL: func.func @branch
  func.func @branch(%n: tensor<i32>, %a: tensor<4x7xf32>) -> tensor<4x7xf32> {
    // CHECK: "ttcore.case"(%arg0, %arg1) <{branch_programs = [@body, @body]}>
    // EARLY: "ttir.case"(%arg0, %arg1) <{branches = [@body, @body]}>
    %0 = "ttir.case"(%n, %a) <{branches = [@body, @body]}> : (tensor<i32>, tensor<4x7xf32>) -> tensor<4x7xf32>
    return %0 : tensor<4x7xf32>
  }
  // CHECK-LABEL: func.func @slices
  func.func @slices(%x: tensor<5x7xf32>, %u: tensor<2x7xf32>, %at: tensor<2xi32>) -> (tensor<3x4xf32>, tensor<5x7xf32>) {
    // CHECK: %[[ROW:.*]] = "ttir.clamp_scalar"(%{{.*}}) <{max = 2 : i32, min = 0 : i32}>
    // CHECK: %[[COL:.*]] = "ttir.clamp_scalar"(%{{.*}}) <{max = 3 : i32, min = 0 : i32}>
    // CHECK: %[[FROM:.*]] = "ttir.concat"(%[[ROW]], %[[COL]])
    // CHECK: %[[TO:.*]] = "ttir.add"(%[[FROM]],
    // CHECK: "ttir.slice_dynamic"(%arg0, %[[FROM]], %[[TO]]) :
    %0 = tensor.empty() : tensor<3x4xf32>
    %1 = "ttir.slice_dynamic"(%x, %at, %0) <{operand_constraints = [#tt.operand_constraint<any>, #tt.operand_constraint<any>, #tt.operand_constraint<any>], sizes = array<i64: 3, 4>}> : (tensor<5x7xf32>, tensor<2xi32>, tensor<3x4xf32>) -> tensor<3x4xf32>
    // CHECK: %[[AT:.*]] = "ttir.clamp_scalar"(%{{.*}}) <{max = 3 : i32, min = 0 : i32}>
    // CHECK: "ttir.rows_scatter"(%{{.*}}) <{column = false, reduce = #ttcore.reduce_type<invalid>, sizes = array<i64: 5>, windows = array<i64: 2>}>
    %2 = tensor.empty() : tensor<5x7xf32>
    %3 = "ttir.slice_write"(%x, %u, %at, %2) <{operand_constraints = [#tt.operand_constraint<any>, #tt.operand_constraint<any>, #tt.operand_constraint<any>, #tt.operand_constraint<any>]}> : (tensor<5x7xf32>, tensor<2x7xf32>, tensor<2xi32>, tensor<5x7xf32>) -> tensor<5x7xf32>
    return %1, %3 : tensor<3x4xf32>, tensor<5x7xf32>
  }
  // Each cast rounds, so that none vanishes.
  // CHECK-LABEL: func.func @casts
  func.func @casts(%x: tensor<5x7xf32>) -> tensor<5x7xf32> {
    // CHECK: %[[N:.*]] = "ttir.typecast"(%arg0) <{conservative_folding = true}> : (tensor<5x7xf32>) -> tensor<5x7xi32>
    // CHECK: "ttir.typecast"(%[[N]]) <{conservative_folding = true}> : (tensor<5x7xi32>) -> tensor<5x7xf32>
    %0 = tensor.empty() : tensor<5x7xi32>
    %1 = "ttir.typecast"(%x, %0) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#tt.operand_constraint<any>, #tt.operand_constraint<any>]}> : (tensor<5x7xf32>, tensor<5x7xi32>) -> tensor<5x7xi32>
    %2 = tensor.empty() : tensor<5x7xf32>
    %3 = "ttir.typecast"(%1, %2) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#tt.operand_constraint<any>, #tt.operand_constraint<any>]}> : (tensor<5x7xi32>, tensor<5x7xf32>) -> tensor<5x7xf32>
    return %3 : tensor<5x7xf32>
  }
}
