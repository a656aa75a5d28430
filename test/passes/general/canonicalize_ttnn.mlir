// Canonical forms of ttnn operations of 2026.
// RUN: ttmlir-opt --ttcore-register-device="system-desc-path=n300 mesh-shape=1,2" --canonicalize %s | FileCheck %s

#dram = #ttnn.buffer_type<dram>
#square = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x2x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
!t = tensor<64x64xf32, #square>
#half = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x2x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
!narrow = tensor<64x64xbf16, #half>

// What leaves its tensor as it is.
// CHECK-LABEL: func.func @identities(
// CHECK-NEXT: return %arg0, %arg0, %arg0, %arg0, %arg0
func.func @identities(%a: !t) -> (!t, !t, !t, !t, !t) {
  %0 = "ttnn.reshape"(%a) <{shape = [64 : i32, 64 : i32]}> : (!t) -> !t
  %1 = "ttnn.permute"(%a) <{permutation = array<i64: 0, 1>}> : (!t) -> !t
  %p = "ttnn.permute"(%a) <{permutation = array<i64: 1, 0>}> : (!t) -> !t
  %2 = "ttnn.permute"(%p) <{permutation = array<i64: 1, 0>}> : (!t) -> !t
  %3 = "ttnn.typecast"(%a) <{dtype = #ttcore.supportedDataTypes<f32>}> : (!t) -> !t
  %4 = "ttnn.to_layout"(%a) : (!t) -> !t
  return %0, %1, %2, %3, %4 : !t, !t, !t, !t, !t
}

// An exchange of equal extents is none of them, nor is a slice of everything.
// CHECK-LABEL: func.func @not_identities(
// CHECK-NEXT: %[[P:.*]] = "ttnn.permute"(%arg0)
// CHECK-NEXT: %[[S:.*]] = "ttnn.slice_static"(%[[P]])
// CHECK-NEXT: return %[[S]]
func.func @not_identities(%a: !t) -> !t {
  %0 = "ttnn.permute"(%a) <{permutation = array<i64: 1, 0>}> : (!t) -> !t
  %1 = "ttnn.slice_static"(%0) <{begins = [0 : i32, 0 : i32], ends = [64 : i32, 64 : i32], step = [1 : i32, 1 : i32]}> : (!t) -> !t
  return %1 : !t
}

// A cast to a wider type and back is none; the other way round it rounds.
// CHECK-LABEL: func.func @casts(
// CHECK-NEXT: %[[NARROW:.*]] = "ttnn.typecast"(%arg0)
// CHECK-NEXT: %[[ROUNDED:.*]] = "ttnn.typecast"(%[[NARROW]])
// CHECK-NEXT: return %[[ROUNDED]], %arg1
func.func @casts(%a: !t, %b: !narrow) -> (!t, !narrow) {
  %0 = "ttnn.typecast"(%a) : (!t) -> !narrow
  %1 = "ttnn.typecast"(%0) : (!narrow) -> !t
  %2 = "ttnn.typecast"(%b) : (!narrow) -> !t
  %3 = "ttnn.typecast"(%2) : (!t) -> !narrow
  return %1, %3 : !t, !narrow
}

// Along an axis of one device there is nothing to reduce; the other has two.
// CHECK-LABEL: func.func @collectives(
// CHECK-NEXT: %[[R:.*]] = "ttnn.all_reduce"(%arg0)
// CHECK-NEXT: return %arg0, %[[R]]
func.func @collectives(%a: !t) -> (!t, !t) {
  %0 = "ttnn.all_reduce"(%a) <{cluster_axis = 0 : ui32, reduce_type = #ttcore.reduce_type<sum>}> : (!t) -> !t
  %1 = "ttnn.all_reduce"(%a) <{cluster_axis = 1 : ui32, reduce_type = #ttcore.reduce_type<sum>}> : (!t) -> !t
  return %0, %1 : !t, !t
}
