// How buffers and tensors are spread over banks and cores, as host programs tell kernels.
#pragma once

#include <cstdint>

namespace tt {
namespace tt_metal {

// ND_SHARDED is of late 2026.
enum class TensorMemoryLayout {
  INTERLEAVED = 0,
  HEIGHT_SHARDED = 2,
  WIDTH_SHARDED = 3,
  BLOCK_SHARDED = 4,
  ND_SHARDED = 5,
};

enum class ShardOrientation { ROW_MAJOR, COL_MAJOR };

enum class ShardDistributionStrategy { ROUND_ROBIN_1D, GRID_2D };

enum class BufferType { DRAM, L1, SYSTEM_MEMORY, L1_SMALL, TRACE };

}  // namespace tt_metal
}  // namespace tt
