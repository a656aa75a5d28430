// How the output is printed.
// RUN: ttmlir-opt %s | FileCheck %s --check-prefix=PLAIN
// RUN: ttmlir-opt --mlir-print-op-generic %s | FileCheck %s --check-prefix=GENERIC
// RUN: ttmlir-opt --print-op-generic %s | FileCheck %s --check-prefix=GENERIC
// RUN: ttmlir-opt --mlir-print-debuginfo %s | FileCheck %s --check-prefix=LOCATIONS
// RUN: ttmlir-opt --print-debuginfo %s | FileCheck %s --check-prefix=LOCATIONS
// RUN: ttmlir-opt --mlir-print-debuginfo --mlir-pretty-debuginfo %s | FileCheck %s --check-prefix=PRETTY
// RUN: ttmlir-opt --mlir-print-debuginfo --mlir-print-local-scope %s | FileCheck %s --check-prefix=LOCAL
// RUN: ttmlir-opt --mlir-print-value-users %s | FileCheck %s --check-prefix=USERS
// RUN: ttmlir-opt --mlir-print-unique-ssa-ids %s | FileCheck %s --check-prefix=UNIQUE
// RUN: ttmlir-opt --mlir-print-skip-regions %s | FileCheck %s --check-prefix=SKIP
// RUN: ttmlir-opt --mlir-elide-elementsattrs-if-larger=2 %s | FileCheck %s --check-prefix=ELIDED
// RUN: ttmlir-opt --mlir-print-elementsattrs-with-hex-if-larger=2 %s | FileCheck %s --check-prefix=HEX
// RUN: ttmlir-opt --mlir-elide-resource-strings-if-larger=8 %s | FileCheck %s --check-prefix=RESOURCE
// RUN: ttmlir-opt --mlir-disable-threading --mlir-print-assume-verified %s | FileCheck %s --check-prefix=PLAIN

// PLAIN: func.func @f(%arg0: tensor<3xf32>) -> tensor<3xf32>
// PLAIN: arith.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00]> : tensor<3xf32>
// PLAIN: blob: "0x04000000{{[0-9A-F]+}}"
// GENERIC: "func.func"() <{
// GENERIC: "arith.addf"(%{{.*}}, %{{.*}}) <{fastmath = #arith.fastmath<none>}> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
// LOCATIONS: arith.addf {{.*}} loc(#loc{{[0-9]*}})
// LOCATIONS: #loc{{[0-9]*}} = loc("sum")
// PRETTY: arith.addf {{.*}} "sum"
// LOCAL: arith.addf {{.*}} loc("sum")
// USERS: arith.addf {{.*}} // user: %
// UNIQUE: %2 = arith.addf
// SKIP: module {...}
// ELIDED: dense_resource<__elided__> : tensor<3xf32>
// HEX: dense<"0x0000803F0000004000004040"> : tensor<3xf32>
// RESOURCE-NOT: 0x04000000
func.func @f(%x: tensor<3xf32>) -> tensor<3xf32> {
  %c = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %r = arith.constant dense_resource<blob> : tensor<3xf32>
  %0 = arith.addf %x, %c : tensor<3xf32> loc("sum")
  %1 = arith.addf %0, %r : tensor<3xf32>
  return %1 : tensor<3xf32>
}
func.func @g(%x: i32) -> i32 {
  %0 = arith.addi %x, %x : i32
  return %0 : i32
}
{-# dialect_resources: { builtin: { blob: "0x040000000000803F0000004000004040" } } #-}
