// Operations get the worker grid, the grid that an option names, or a part of L1.
// RUN: ttmlir-opt --ttir-load-system-desc --ttir-implicit-device --ttir-layout --ttir-grid-set %s | FileCheck %s
// RUN: ttmlir-opt --ttir-load-system-desc --ttir-implicit-device --ttir-layout --ttir-grid-set="override-grid-sizes=first=4x2,second=2x3" %s | FileCheck %s --check-prefix=OVERRIDE
// RUN: ttmlir-opt --ttir-load-system-desc --ttir-implicit-device --ttir-layout --ttir-grid-set="sharding-pass-enabled=true" %s | FileCheck %s --check-prefix=SHARD
// RUN: ttmlir-opt --ttir-load-system-desc --ttir-implicit-device --ttir-layout --ttir-grid-set="sharding-pass-enabled override-grid-sizes=first=1x2" %s | FileCheck %s --check-prefix=BOTH
// RUN: not ttmlir-opt --ttir-load-system-desc --ttir-implicit-device --ttir-layout --ttir-grid-set="override-grid-sizes=first=4" %s 2>&1 | FileCheck %s --check-prefix=RANK
// RUN: not ttmlir-opt --ttir-load-system-desc --ttir-implicit-device --ttir-layout --ttir-grid-set="override-grid-sizes=first=ax4" %s 2>&1 | FileCheck %s --check-prefix=EXTENT
// RUN: not ttmlir-opt --ttir-grid-set %s 2>&1 | FileCheck %s --check-prefix=DEVICE

// RANK: error: {{.*}}cannot run on the grid chosen for it: {{.*}}use a grid of rank 2
// EXTENT: for the --override-grid-sizes option: Invalid grid size: a
// DEVICE: error: {{.*}}there is no device: ttir-grid-set needs the attribute tt.device

#any_device = #tt.operand_constraint<any_device>

// CHECK-DAG: #[[ONE:layout[0-9]*]] = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x130xf32, #dram>, interleaved>
// CHECK-DAG: #[[ALL:layout[0-9]*]] = #tt.layout<(d0, d1) -> (d0, d1), undef, <8x8>, memref<8x17xf32, #dram>, interleaved>
// CHECK-LABEL: func.func @chain(
// CHECK: "ttir.abs"{{.*}} : (tensor<64x130xf32, #[[ONE]]>, tensor<64x130xf32, #[[ALL]]>) -> tensor<64x130xf32, #[[ALL]]>
// CHECK: "ttir.exp"{{.*}} : (tensor<64x130xf32, #[[ALL]]>, tensor<64x130xf32, #[[ALL]]>) -> tensor<64x130xf32, #[[ALL]]>

// The move that carries the name of its user gets the user's grid, too.
// OVERRIDE-DAG: #[[FIRST:layout[0-9]*]] = #tt.layout<(d0, d1) -> (d0, d1), undef, <4x2>, memref<16x65xf32, #dram>, interleaved>
// OVERRIDE-DAG: #[[SECOND:layout[0-9]*]] = #tt.layout<(d0, d1) -> (d0, d1), undef, <2x3>, memref<32x44xf32, #dram>, interleaved>
// OVERRIDE-LABEL: func.func @chain(
// OVERRIDE: "ttir.abs"{{.*}} : (tensor<64x130xf32, #[[FIRST]]>, tensor<64x130xf32, #[[FIRST]]>) -> tensor<64x130xf32, #[[FIRST]]>
// OVERRIDE: "ttir.exp"{{.*}} : (tensor<64x130xf32, #[[FIRST]]>, tensor<64x130xf32, #[[SECOND]]>) -> tensor<64x130xf32, #[[SECOND]]>

// 64x130 are 2x5 tiles: 2x5 cores by blocks. The last operation of a run stays in DRAM.
// SHARD-DAG: #[[BLOCK:layout[0-9]*]] = #tt.layout<(d0, d1) -> (d0, d1), undef, <2x5>, memref<32x26xf32, #l1_>, block_sharded>
// SHARD-DAG: #[[ALL:layout[0-9]*]] = #tt.layout<(d0, d1) -> (d0, d1), undef, <8x8>, memref<8x17xf32, #dram>, interleaved>
// SHARD-DAG: #[[HIGH:layout[0-9]*]] = #tt.layout<(d0, d1) -> (d0, d1), undef, <64x1>, memref<32x32xf32, #l1_>, height_sharded>
// SHARD-LABEL: func.func @chain(
// SHARD: "ttir.abs"{{.*}} -> tensor<64x130xf32, #[[BLOCK]]>
// SHARD: "ttir.exp"{{.*}} : (tensor<64x130xf32, #[[BLOCK]]>, tensor<64x130xf32, #[[ALL]]>) -> tensor<64x130xf32, #[[ALL]]>

// BOTH-LABEL: func.func @chain(
// BOTH-NOT: block_sharded
// BOTH: "ttir.exp"
func.func @chain(%a: tensor<64x130xf32>) -> tensor<64x130xf32> {
  %0 = tensor.empty() : tensor<64x130xf32>
  %1 = "ttir.abs"(%a, %0) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any_device, #any_device]}> : (tensor<64x130xf32>, tensor<64x130xf32>) -> tensor<64x130xf32> loc("first")
  %2 = tensor.empty() : tensor<64x130xf32>
  %3 = "ttir.exp"(%1, %2) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any_device, #any_device]}> : (tensor<64x130xf32>, tensor<64x130xf32>) -> tensor<64x130xf32> loc("second"("model.py":12:3))
  return %3 : tensor<64x130xf32>
}

// 64 tiles above each other are spread over all cores by rows. A result with two users is in no run.
// SHARD-LABEL: func.func @tall(
// SHARD: "ttir.abs"{{.*}} -> tensor<2048x32xf32, #[[HIGH]]>
// SHARD: "ttir.exp"{{.*}} -> tensor<2048x32xf32, #[[DRAM:layout[0-9]*]]>
// SHARD: "ttir.add"{{.*}} -> tensor<2048x32xf32, #[[DRAM]]>
func.func @tall(%a: tensor<2048x32xf32>) -> tensor<2048x32xf32> {
  %0 = tensor.empty() : tensor<2048x32xf32>
  %1 = "ttir.abs"(%a, %0) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any_device, #any_device]}> : (tensor<2048x32xf32>, tensor<2048x32xf32>) -> tensor<2048x32xf32>
  %2 = tensor.empty() : tensor<2048x32xf32>
  %3 = "ttir.exp"(%1, %2) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any_device, #any_device]}> : (tensor<2048x32xf32>, tensor<2048x32xf32>) -> tensor<2048x32xf32>
  %4 = tensor.empty() : tensor<2048x32xf32>
  %5 = "ttir.add"(%3, %3, %4) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any_device, #any_device, #any_device]}> : (tensor<2048x32xf32>, tensor<2048x32xf32>, tensor<2048x32xf32>) -> tensor<2048x32xf32>
  return %5 : tensor<2048x32xf32>
}
