// The whole road to ttnn, with each of its options.
// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline %S/../Inputs/add.mlir | FileCheck %s
// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline="enable-grid-set=false" %S/../Inputs/add.mlir | FileCheck %s --check-prefix=NOGRID
// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline="enable-grid-set=0 override-grid-sizes=x=2x2" %S/../Inputs/add.mlir | FileCheck %s --check-prefix=NOGRID
// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline="sharding-pass-enabled mesh-shape=1,1" %S/../Inputs/add.mlir | FileCheck %s --check-prefix=UNIT
// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline="system-desc-path=%S/../../golden/two_chips.ttsys mesh-shape=1,2" %S/../Inputs/add.mlir | FileCheck %s --check-prefix=TWO
// RUN: not ttmlir-opt --ttir-to-ttnn-backend-pipeline="override-grid-sizes=x" %S/../Inputs/add.mlir 2>&1 | FileCheck %s --check-prefix=FORMAT
// RUN: not ttmlir-opt --ttir-to-ttnn-backend-pipeline="grid=x" %S/../Inputs/add.mlir 2>&1 | FileCheck %s --check-prefix=OPTION

// CHECK-DAG: #[[HOST:layout[0-9]*]] = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #system>>
// CHECK-DAG: #[[IN:layout[0-9]*]] = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<2x3x!tt.tile<32x32, f32>, #dram>, interleaved>
// CHECK-DAG: #[[OUT:layout[0-9]*]] = #tt.layout<(d0, d1) -> (d0, d1), undef, <8x8>, memref<1x1x!tt.tile<32x32, f32>, #dram>, interleaved>
// CHECK: func.func @add(%[[A:.*]]: tensor<33x70xf32, #[[HOST]]>, %[[B:.*]]: tensor<33x70xf32, #[[HOST]]>) -> tensor<33x70xf32, #[[HOST]]>
// CHECK-NEXT: %[[D:.*]] = "ttnn.get_device"()
// CHECK-NEXT: %[[A1:.*]] = "ttnn.to_layout"(%[[A]], %[[D]]) <{layout = #ttnn.layout<tile>}>
// CHECK-NEXT: %[[A2:.*]] = "ttnn.to_device"(%[[A1]], %[[D]]) <{memory_config = #ttnn.memory_config<<interleaved>, <dram>>}>
// CHECK-NEXT: %[[B1:.*]] = "ttnn.to_layout"(%[[B]], %[[D]])
// CHECK-NEXT: %[[B2:.*]] = "ttnn.to_device"(%[[B1]], %[[D]])
// CHECK-NEXT: %[[E:.*]] = "ttnn.empty"(%[[D]]) : (!tt.device<#device>) -> tensor<33x70xf32, #[[OUT]]>
// CHECK-NEXT: %[[SUM:.*]] = "ttnn.add"(%[[A2]], %[[B2]], %[[E]]) <{operandSegmentSizes = array<i32: 2, 1>}> : (tensor<33x70xf32, #[[IN]]>, tensor<33x70xf32, #[[IN]]>, tensor<33x70xf32, #[[OUT]]>) -> tensor<33x70xf32, #[[OUT]]>
// CHECK-NEXT: %[[R:.*]] = "ttnn.to_memory_config"(%[[SUM]], %[[D]]) : (tensor<33x70xf32, #[[OUT]]>, !tt.device<#device>) -> tensor<33x70xf32, #[[HOST]]>
// CHECK-NEXT: return %[[R]]

// NOGRID-NOT: <8x8>, memref
// NOGRID: "ttnn.add"
// UNIT: meshShape = 1x1, chipIds = [0]>
// UNIT: "ttnn.add"
// TWO: workerGrid = #tt.grid<8x16, (d0, d1) ->
// TWO-SAME: meshShape = 1x2, chipIds = [0, 1]>
// TWO: <8x16>, memref<1x1x!tt.tile<32x32, f32>, #dram>, interleaved>
// FORMAT: for the --override-grid-sizes option: Invalid format for override grid sizes: x
// OPTION: no such option grid
