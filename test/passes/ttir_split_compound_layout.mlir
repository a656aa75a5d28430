// A change of several things becomes changes of one thing each.
// RUN: ttmlir-opt --ttir-split-compound-layout %s | FileCheck %s

#dram = #tt.memory_space<dram>
#l1_ = #tt.memory_space<l1>
#system = #tt.memory_space<system>
#host = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<50x70xf32, #system>>
#rows = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<50x70xf32, #l1_>>
#tiles = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<2x3x!tt.tile<32x32, f32>, #l1_>>
#spread = #tt.layout<(d0, d1) -> (d0, d1), undef, <2x2>, memref<1x2x!tt.tile<32x32, f32>, #l1_>>
#device = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<2x3x!tt.tile<32x32, f32>, #dram>, interleaved>
#half = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<2x3x!tt.tile<32x32, bf16>, #l1_>, interleaved>

// One change stays one operation, also where it pads.
// CHECK-LABEL: func.func @single(
// CHECK-COUNT-1: "ttir.to_layout"
// CHECK-NOT: "ttir.to_layout"
// CHECK: return
func.func @single(%a: tensor<50x70xf32, #rows>) -> tensor<50x70xf32, #tiles> {
  %0 = tensor.empty() : tensor<50x70xf32, #tiles>
  %1 = "ttir.to_layout"(%a, %0) : (tensor<50x70xf32, #rows>, tensor<50x70xf32, #tiles>) -> tensor<50x70xf32, #tiles>
  return %1 : tensor<50x70xf32, #tiles>
}

// To other cores as tiles: tilized first, then spread.
// CHECK-LABEL: func.func @spread(
// CHECK: "ttir.to_layout"{{.*}} -> tensor<50x70xf32, #[[TILES:layout[0-9]*]]>
// CHECK: "ttir.to_layout"{{.*}} : (tensor<50x70xf32, #[[TILES]]>,
// CHECK-NOT: "ttir.to_layout"
// CHECK: return
func.func @spread(%a: tensor<50x70xf32, #rows>) -> tensor<50x70xf32, #spread> {
  %0 = tensor.empty() : tensor<50x70xf32, #spread>
  %1 = "ttir.to_layout"(%a, %0) : (tensor<50x70xf32, #rows>, tensor<50x70xf32, #spread>) -> tensor<50x70xf32, #spread>
  return %1 : tensor<50x70xf32, #spread>
}

// From the host into DRAM: through L1, where it is tilized and gets its memory layout.
// CHECK-LABEL: func.func @upload(
// CHECK-COUNT-4: "ttir.to_layout"
// CHECK-NOT: "ttir.to_layout"
// CHECK: return
func.func @upload(%a: tensor<50x70xf32, #host>) -> tensor<50x70xf32, #device> {
  %0 = tensor.empty() : tensor<50x70xf32, #device>
  %1 = "ttir.to_layout"(%a, %0) : (tensor<50x70xf32, #host>, tensor<50x70xf32, #device>) -> tensor<50x70xf32, #device>
  return %1 : tensor<50x70xf32, #device>
}

// Two kinds of tiles and two memory layouts.
// CHECK-LABEL: func.func @rounded(
// CHECK-COUNT-2: "ttir.to_layout"
// CHECK-NOT: "ttir.to_layout"
// CHECK: return
func.func @rounded(%a: tensor<50x70xf32, #tiles>) -> tensor<50x70xf32, #half> {
  %0 = tensor.empty() : tensor<50x70xf32, #half>
  %1 = "ttir.to_layout"(%a, %0) : (tensor<50x70xf32, #tiles>, tensor<50x70xf32, #half>) -> tensor<50x70xf32, #half>
  return %1 : tensor<50x70xf32, #half>
}
