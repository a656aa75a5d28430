// The body of a generic works on shards in buffers; once it does, it stays as it is.
// RUN: ttmlir-opt --ttir-load-system-desc --ttir-implicit-device --ttir-generic --ttir-layout --ttir-generic-region-operands-to-memref %S/../Inputs/add.mlir | FileCheck %s
// RUN: ttmlir-opt --ttir-load-system-desc --ttir-implicit-device --ttir-generic --ttir-layout --ttir-generic-region-operands-to-memref --ttir-generic-region-operands-to-memref %S/../Inputs/add.mlir | FileCheck %s
// RUN: not ttmlir-opt --ttir-generic --ttir-generic-region-operands-to-memref %S/../Inputs/add.mlir 2>&1 | FileCheck %s --check-prefix=BARE

// CHECK: ^bb0(%[[A:.*]]: tensor<64x96xf32, #tt.buffer<memref<2x3x!tt.tile<32x32, f32>, #dram>, alias>>, %[[B:.*]]: tensor<64x96xf32, #tt.buffer<memref<2x3x!tt.tile<32x32, f32>, #dram>, alias>>, %{{.*}}: tensor<64x96xf32, #tt.buffer<memref<2x3x!tt.tile<32x32, f32>, #dram>, alias>>):
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[A]], %[[B]] : tensor<64x96xf32, #tt.buffer<memref<2x3x!tt.tile<32x32, f32>, #dram>, alias>>
// CHECK-NEXT: "ttir.yield"(%[[SUM]])
// CHECK-NEXT: }) : (tensor<33x70xf32, #layout1>, tensor<33x70xf32, #layout1>, tensor<33x70xf32, #layout1>)

// BARE: add.mlir:4:8: error: 'ttir.generic' op operand #0 has no layout; run ttir-layout before
