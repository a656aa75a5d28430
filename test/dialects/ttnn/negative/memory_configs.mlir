// RUN: ttmlir-opt --split-input-file --verify-diagnostics %s

// What tt-mlir's compiler of 2026 says about these attributes.

#late = #ttcore.iterator_type<parallel>
// expected-error@+1 {{Memory layout is not allowed for SystemMemory buffer type.}}
#a = #ttnn.memory_config<#ttnn.buffer_type<system_memory>, <interleaved>>

// -----

#late = #ttcore.iterator_type<parallel>
// expected-error@+1 {{BlockSharded layout is not supported for DRAM buffer type; use WidthSharded, HeightSharded or Interleaved}}
#a = #ttnn.memory_config<#ttnn.buffer_type<dram>, <block_sharded>>

// -----

#late = #ttcore.iterator_type<parallel>
// expected-error@+1 {{Sharding is only valid for block sharded, height sharded, or width sharded tensor memory layout}}
#a = #ttnn.memory_config<#ttnn.buffer_type<dram>, <interleaved>, #ttnn.shard_spec<<[#ttnn.core_range<(0,0), (0,0)>]>, <32x32>, <row_major>>>

// -----

#late = #ttcore.iterator_type<parallel>
// expected-error@+1 {{Sharding is only valid for L1 or DRAM buffer type}}
#a = #ttnn.memory_config<#ttnn.buffer_type<trace>, <height_sharded>, #ttnn.shard_spec<<[#ttnn.core_range<(0,0), (0,0)>]>, <32x32>, <row_major>>>
