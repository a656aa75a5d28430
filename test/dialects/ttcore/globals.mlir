// RUN: ttmlir-opt %s -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: ttmlir-opt --mlir-print-op-generic %t.mlir | ttmlir-opt - | diff %t.mlir -

// Globals, tuples and dictionaries are printed as they were read.

// CHECK: ttcore.global @weight = tensor<32x70xf32> [1] {some = 1 : i32}
ttcore.global @weight = tensor<32x70xf32> [1] {some = 1 : i32}
// CHECK-NEXT: ttcore.global @count = i32
"ttcore.global"() <{sym_name = "count", type = i32}> : () -> ()

// CHECK-LABEL: func.func @reads
func.func @reads() -> tensor<32x70xf32> {
  // CHECK-NEXT: %0 = ttcore.get_global @weight : tensor<32x70xf32>
  %0 = ttcore.get_global @weight : tensor<32x70xf32>
  return %0 : tensor<32x70xf32>
}

// CHECK-LABEL: func.func @keeps
func.func @keeps(%x: tensor<5xf32>, %y: tensor<7xf32>, %cache: !ttcore.dict) -> tensor<7xf32> {
  // CHECK-NEXT: %0 = ttcore.tuple %arg0, %arg1 : tuple<tensor<5xf32>, tensor<7xf32>>
  %0 = ttcore.tuple %x, %y : tuple<tensor<5xf32>, tensor<7xf32>>
  // CHECK-NEXT: ttcore.set_key_value %arg2["first call"] = %0 {some} : !ttcore.dict, tuple<tensor<5xf32>, tensor<7xf32>>
  ttcore.set_key_value %cache["first call"] = %0 {some} : !ttcore.dict, tuple<tensor<5xf32>, tensor<7xf32>>
  // CHECK-NEXT: %1 = ttcore.get_key_value %arg2["first call"] : (!ttcore.dict) -> tuple<tensor<5xf32>, tensor<7xf32>>
  %1 = ttcore.get_key_value %cache["first call"] : (!ttcore.dict) -> tuple<tensor<5xf32>, tensor<7xf32>>
  // CHECK-NEXT: %2 = ttcore.get_tuple_element %1[1] : (tuple<tensor<5xf32>, tensor<7xf32>>) -> tensor<7xf32>
  %2 = ttcore.get_tuple_element %1[1] : (tuple<tensor<5xf32>, tensor<7xf32>>) -> tensor<7xf32>
  return %2 : tensor<7xf32>
}
