#include <cstdint>
#include "compute_kernel_api/common.h"
#include "compute_kernel_api/tilize.h"
#include "compute_kernel_api/untilize.h"
#include "compute_kernel_api/eltwise_binary.h"
namespace NAMESPACE {
void kernel_main() {
  ::tt::CB v1 = ::tt::CB::c_in0;
  ::tt::CB v2 = ::tt::CB::c_in1;
  ::tt::CB v3 = ::tt::CB::c_out0;
  int32_t v4 = 4;
  int32_t v5 = 1;
  int32_t v6 = 0;
  binary_op_init_common(v1, v2, v3);
  mul_tiles_init(v1, v2);
  int32_t v7;
  v7 = v6;
  for (int32_t v8 = v6; v8 < v4; v8 += v5) {
    tile_regs_acquire();
    mul_tiles(v1, v2, v7, v7, v6);
    tile_regs_commit();
    tile_regs_wait();
    pack_tile(v6, v3, v7);
    tile_regs_release();
    uint32_t v9 = (uint32_t) v7;
    uint32_t v10 = (uint32_t) v5;
    uint32_t v11 = v9 + v10;
    int32_t v12 = (int32_t) v11;
    v7 = v12;
  }
  return;
}

void MAIN { kernel_main(); }
}
