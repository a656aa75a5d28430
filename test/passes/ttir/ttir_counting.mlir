// Positions in caches that count alike are one, as tt-mlir 19c86fca45 answers; counted loops say so.

// RUN: ttmlir-opt --ttir-consolidate-static-cache-updates --ttir-while-trip-count %s | FileCheck %s

// CHECK-LABEL: func.func @steps
// CHECK-SAME: %arg5: tensor<1xsi32>, %arg6: tensor<1xsi32>, %arg7: tensor<1xsi32>
// CHECK: "ttir.paged_update_cache"(%arg0, %arg3, %arg7)
// CHECK: "ttir.paged_update_cache"(%arg1, %arg3, %arg6)
// CHECK: "ttir.paged_update_cache"(%arg2, %arg3, %arg7)
// CHECK: "ttir.add"(%arg7,
// CHECK: "ttir.add"(%arg6,
// CHECK: "ttir.add"(%arg7,
func.func @steps(%a: tensor<1x4x32x64xbf16>, %b: tensor<1x4x32x64xbf16>, %c: tensor<1x4x32x64xbf16>, %new: tensor<1x1x4x64xbf16>, %unused: tensor<1xsi32>, %p: tensor<1xsi32>, %q: tensor<1xsi32>, %r: tensor<1xsi32>) -> (tensor<1xsi32>, tensor<1xsi32>, tensor<1xsi32>) {
  %one = "ttir.full"() <{fill_value = 1 : i32, shape = array<i32: 1>}> : () -> tensor<1xsi32>
  %two = "ttir.full"() <{fill_value = 2 : i32, shape = array<i32: 1>}> : () -> tensor<1xsi32>
  "ttir.paged_update_cache"(%a, %new, %p) <{share_cache = false}> : (tensor<1x4x32x64xbf16>, tensor<1x1x4x64xbf16>, tensor<1xsi32>) -> ()
  "ttir.paged_update_cache"(%b, %new, %q) <{share_cache = false}> : (tensor<1x4x32x64xbf16>, tensor<1x1x4x64xbf16>, tensor<1xsi32>) -> ()
  "ttir.paged_update_cache"(%c, %new, %r) <{share_cache = false}> : (tensor<1x4x32x64xbf16>, tensor<1x1x4x64xbf16>, tensor<1xsi32>) -> ()
  %0 = "ttir.add"(%p, %one) : (tensor<1xsi32>, tensor<1xsi32>) -> tensor<1xsi32>
  %1 = "ttir.add"(%q, %two) : (tensor<1xsi32>, tensor<1xsi32>) -> tensor<1xsi32>
  %2 = "ttir.add"(%r, %one) : (tensor<1xsi32>, tensor<1xsi32>) -> tensor<1xsi32>
  return %0, %1, %2 : tensor<1xsi32>, tensor<1xsi32>, tensor<1xsi32>
}

// A position that is not returned counts no further, and stays; so does what writes no cache.
// CHECK-LABEL: func.func @other_positions
// CHECK: "ttir.paged_update_cache"(%arg0, %arg2, %arg3)
// CHECK: "ttir.paged_update_cache"(%arg1, %arg2, %arg4)
// CHECK: "ttir.add"(%arg3,
// CHECK: "ttir.add"(%arg5,
func.func @other_positions(%a: tensor<1x4x32x64xbf16>, %b: tensor<1x4x32x64xbf16>, %new: tensor<1x1x4x64xbf16>, %p: tensor<1xsi32>, %q: tensor<1xsi32>, %r: tensor<1xsi32>) -> (tensor<1xsi32>, tensor<1xsi32>) {
  %one = "ttir.full"() <{fill_value = 1 : i32, shape = array<i32: 1>}> : () -> tensor<1xsi32>
  "ttir.paged_update_cache"(%a, %new, %p) <{share_cache = false}> : (tensor<1x4x32x64xbf16>, tensor<1x1x4x64xbf16>, tensor<1xsi32>) -> ()
  "ttir.paged_update_cache"(%b, %new, %q) <{share_cache = false}> : (tensor<1x4x32x64xbf16>, tensor<1x1x4x64xbf16>, tensor<1xsi32>) -> ()
  %0 = "ttir.add"(%p, %one) : (tensor<1xsi32>, tensor<1xsi32>) -> tensor<1xsi32>
  %1 = "ttir.add"(%r, %one) : (tensor<1xsi32>, tensor<1xsi32>) -> tensor<1xsi32>
  return %0, %1 : tensor<1xsi32>, tensor<1xsi32>
}

// CHECK-LABEL: func.func @loops
// 2, 5, 8
// CHECK: "ttir.while"({{.*}}) <{body = @up, condition = @below, trip_count = 3 : i64}>
// 10, 8, 6, 4, 2, 0
// CHECK: "ttir.while"({{.*}}) <{body = @down, condition = @not_negative, trip_count = 6 : i64}>
// It never ends by counting.
// CHECK: "ttir.while"({{.*}}) <{body = @up, condition = @not_negative}>
func.func @loops(%x: tensor<33x70xf32>) -> (tensor<1xi32>, tensor<33x70xf32>, tensor<1xi32>, tensor<1xi32>) {
  %two = "ttir.constant"() <{value = dense<2> : tensor<1xi32>}> : () -> tensor<1xi32>
  %ten = "ttir.constant"() <{value = dense<10> : tensor<1xi32>}> : () -> tensor<1xi32>
  %0:2 = "ttir.while"(%two, %x) <{body = @up, condition = @below}> : (tensor<1xi32>, tensor<33x70xf32>) -> (tensor<1xi32>, tensor<33x70xf32>)
  %1:2 = "ttir.while"(%ten, %x) <{body = @down, condition = @not_negative}> : (tensor<1xi32>, tensor<33x70xf32>) -> (tensor<1xi32>, tensor<33x70xf32>)
  %2:2 = "ttir.while"(%two, %x) <{body = @up, condition = @not_negative}> : (tensor<1xi32>, tensor<33x70xf32>) -> (tensor<1xi32>, tensor<33x70xf32>)
  return %0#0, %0#1, %1#0, %2#0 : tensor<1xi32>, tensor<33x70xf32>, tensor<1xi32>, tensor<1xi32>
}
func.func private @up(%i: tensor<1xi32>, %x: tensor<33x70xf32>) -> (tensor<1xi32>, tensor<33x70xf32>) {
  %step = "ttir.constant"() <{value = dense<3> : tensor<1xi32>}> : () -> tensor<1xi32>
  %0 = "ttir.add"(%step, %i) : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi32>
  return %0, %x : tensor<1xi32>, tensor<33x70xf32>
}
func.func private @down(%i: tensor<1xi32>, %x: tensor<33x70xf32>) -> (tensor<1xi32>, tensor<33x70xf32>) {
  %step = "ttir.constant"() <{value = dense<2> : tensor<1xi32>}> : () -> tensor<1xi32>
  %0 = "ttir.subtract"(%i, %step) : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi32>
  return %0, %x : tensor<1xi32>, tensor<33x70xf32>
}
func.func private @below(%i: tensor<1xi32>, %x: tensor<33x70xf32>) -> tensor<1xi1> {
  %end = "ttir.constant"() <{value = dense<10> : tensor<1xi32>}> : () -> tensor<1xi32>
  %0 = "ttir.gt"(%end, %i) : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi1>
  return %0 : tensor<1xi1>
}
func.func private @not_negative(%i: tensor<1xi32>, %x: tensor<33x70xf32>) -> tensor<1xi1> {
  %end = "ttir.constant"() <{value = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
  %0 = "ttir.ge"(%i, %end) : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi1>
  return %0 : tensor<1xi1>
}
