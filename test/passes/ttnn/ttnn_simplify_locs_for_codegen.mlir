// A location becomes its outermost name, or a line.

// RUN: ttmlir-opt --ttnn-simplify-locs-for-codegen --mlir-print-debuginfo %s | FileCheck %s

// CHECK: "ttir.exp"(%arg0) : {{.*}} loc(#[[NAME:.*]])
// CHECK: "ttir.neg"(%0) : {{.*}} loc(#[[LINE:.*]])
// CHECK: "ttir.abs"(%1) : {{.*}} loc(#[[UNKNOWN:.*]])
// CHECK-DAG: #[[NAME]] = loc("fc1"){{$}}
// CHECK-DAG: #[[LINE]] = loc("model.py":7:3){{$}}
// CHECK-DAG: #[[UNKNOWN]] = loc(unknown)
func.func @main(%a: tensor<33x70xf32>) -> tensor<33x70xf32> {
  %0 = "ttir.exp"(%a) : (tensor<33x70xf32>) -> tensor<33x70xf32> loc("fc1"("exp"("model.py":3:5)))
  %1 = "ttir.neg"(%0) : (tensor<33x70xf32>) -> tensor<33x70xf32> loc(fused["model.py":7:3, "other.py":1:1])
  %2 = "ttir.abs"(%1) : (tensor<33x70xf32>) -> tensor<33x70xf32> loc(unknown)
  return %2 : tensor<33x70xf32>
}
