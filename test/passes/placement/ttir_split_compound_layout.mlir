// A change of several things becomes changes of one thing each.
// RUN: ttmlir-opt --ttir-split-compound-layout %s | FileCheck %s
// RUN: ttmlir-opt --ttir-split-compound-layout=formats-on-tiles=true %s | FileCheck %s --check-prefix=FORMATS

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

// Another number format: rows become tiles, these change their format, and tiles become rows.
#full = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x96xf32, #tt.memory_space<l1>>>
#short = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x96xbf16, #tt.memory_space<l1>>>
// CHECK-LABEL: func.func @format_of_rows
// CHECK: %[[ROWS:.*]] = "ttir.to_layout"(%arg0
// CHECK-NEXT: return %[[ROWS]]
// FORMATS-LABEL: func.func @format_of_rows
// FORMATS: %[[TILES:.*]] = "ttir.to_layout"(%arg0, %{{.*}}) : (tensor<33x70xf32, #[[FULL:.*]]>, tensor<33x70xf32, #[[LONG_TILES:.*]]>)
// FORMATS: %[[SHORT:.*]] = "ttir.to_layout"(%[[TILES]], %{{.*}}) : (tensor<33x70xf32, #[[LONG_TILES]]>, tensor<33x70xf32, #[[SHORT_TILES:.*]]>)
// FORMATS: %[[ROWS:.*]] = "ttir.to_layout"(%[[SHORT]], %{{.*}}) : (tensor<33x70xf32, #[[SHORT_TILES]]>, tensor<33x70xf32, #{{.*}}>)
// FORMATS: return %[[ROWS]]
func.func @format_of_rows(%arg0: tensor<33x70xf32, #full>) -> tensor<33x70xf32, #short> {
  %0 = tensor.empty() : tensor<33x70xf32, #short>
  %1 = "ttir.to_layout"(%arg0, %0) : (tensor<33x70xf32, #full>, tensor<33x70xf32, #short>) -> tensor<33x70xf32, #short>
  return %1 : tensor<33x70xf32, #short>
}
