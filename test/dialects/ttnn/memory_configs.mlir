// RUN: ttmlir-opt %s | ttmlir-opt | FileCheck %s
// RUN: not ttmlir-opt %S/Inputs/shard_order.mlir 2>&1 | FileCheck %s --check-prefix=ORDER

// Where and how tensors lie, with the cores of their shards.
// CHECK: #l1 = #ttnn.buffer_type<l1>
// CHECK: ttnn.a = #ttnn.memory_config<#l1, <block_sharded>, #ttnn.shard_spec<<[#ttnn.core_range<(0,0), (7,3)>]>, <32x64>, <row_major>>>
// CHECK-SAME: ttnn.b = #ttnn.memory_config<#l1, <interleaved>>
// ORDER: expected one of row_major, col_major
module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x1>]>} {
  func.func @main() attributes {
      ttnn.a = #ttnn.memory_config<#ttnn.buffer_type<l1>, <block_sharded>,
          #ttnn.shard_spec<<[#ttnn.core_range<(0,0), (7,3)>]>, <32x64>, <row_major>>>,
      ttnn.b = #ttnn.memory_config<#ttnn.buffer_type<l1>, <interleaved>>} {
    return
  }
}
