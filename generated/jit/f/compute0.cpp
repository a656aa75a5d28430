#include <cstdint>
#include "compute_kernel_api/common.h"
#include "compute_kernel_api/tilize.h"
#include "compute_kernel_api/untilize.h"
#include "compute_kernel_api/eltwise_binary.h"
#include "compute_kernel_api/compute_kernel_hw_startup.h"
#include "compute_kernel_api/eltwise_unary/fill.h"
#include "compute_kernel_api/tile_move_copy.h"
#include "compute_kernel_api/eltwise_unary/where.h"
#include "compute_kernel_api/reduce.h"
#include "compute_kernel_api/eltwise_binary_sfpu.h"
#include "compute_kernel_api/bcast.h"
namespace NAMESPACE {
void kernel_main() {
  ::tt::CB v1 = ::tt::CB::c_in0;
  ::tt::CB v2 = ::tt::CB::c_in1;
  ::tt::CB v3 = ::tt::CB::c_in2;
  ::tt::CB v4 = ::tt::CB::c_in3;
  ::tt::CB v5 = ::tt::CB::c_in4;
  ::tt::CB v6 = ::tt::CB::c_in5;
  ::tt::CB v7 = ::tt::CB::c_in6;
  ::tt::CB v8 = ::tt::CB::c_in7;
  int32_t v9 = 5;
  int32_t v10 = 4;
  float v11 = 1.428571440e-02f;
  float v12 = 0.0e+00f;
  int32_t v13 = 2;
  int32_t v14 = 3;
  int32_t v15 = 1;
  float v16 = 1.000000000e+00f;
  int32_t v17 = 0;
  compute_kernel_hw_startup(v2, v6, v6);
  fill_tile_init();
  tile_regs_acquire();
  fill_tile(v17, v16);
  tile_regs_commit();
  tile_regs_wait();
  cb_reserve_back(v6, v15);
  pack_tile(v17, v6, v17);
  tile_regs_release();
  cb_push_back(v6, v15);
  cb_wait_front(v6, v15);
  copy_tile_init(v2);
  int32_t v18;
  int32_t v19;
  v18 = v17;
  v19 = v17;
  for (int32_t v20 = v17; v20 < v14; v20 += v15) {
    uint32_t v21 = (uint32_t) v18;
    uint32_t v22 = (uint32_t) v15;
    uint32_t v23 = v21 + v22;
    int32_t v24 = (int32_t) v23;
    cb_wait_front(v1, v24);
    uint32_t v25 = (uint32_t) v19;
    uint32_t v26 = (uint32_t) v15;
    uint32_t v27 = v25 + v26;
    int32_t v28 = (int32_t) v27;
    cb_wait_front(v2, v28);
    tile_regs_acquire();
    copy_tile(v2, v19, v17);
    copy_tile(v1, v18, v15);
    fill_tile_init();
    fill_tile(v13, v12);
    where_tile_init();
    where_tile<DataFormat::Float16_b>(v17, v15, v13, v17);
    tile_regs_commit();
    tile_regs_wait();
    cb_reserve_back(v5, v15);
    pack_tile(v17, v5, v17);
    tile_regs_release();
    cb_push_back(v5, v15);
    uint32_t v29 = (uint32_t) v18;
    uint32_t v30 = (uint32_t) v15;
    uint32_t v31 = v29 + v30;
    int32_t v32 = (int32_t) v31;
    uint32_t v33 = (uint32_t) v19;
    uint32_t v34 = (uint32_t) v15;
    uint32_t v35 = v33 + v34;
    int32_t v36 = (int32_t) v35;
    v18 = v32;
    v19 = v36;
  }
  cb_wait_front(v5, v14);
  reduce_init<PoolType::SUM, ReduceDim::REDUCE_ROW>(v5, v6, v4);
  tile_regs_acquire();
  int32_t v37;
  int32_t v38;
  v37 = v17;
  v38 = v17;
  for (int32_t v39 = v17; v39 < v14; v39 += v15) {
    reduce_tile<PoolType::SUM, ReduceDim::REDUCE_ROW>(v5, v6, v37, v38, v17);
    uint32_t v40 = (uint32_t) v37;
    uint32_t v41 = (uint32_t) v15;
    uint32_t v42 = v40 + v41;
    int32_t v43 = (int32_t) v42;
    v37 = v43;
    v38 = v38;
  }
  tile_regs_commit();
  tile_regs_wait();
  cb_reserve_back(v4, v15);
  pack_tile(v17, v4, v17);
  tile_regs_release();
  cb_push_back(v4, v15);
  cb_pop_front(v5, v14);
  cb_wait_front(v4, v15);
  binary_dest_reuse_tiles_init<EltwiseBinaryType::ELWMUL, EltwiseBinaryReuseDestType::DEST_TO_SRCB>(v4);
  fill_tile_init();
  reduce_uninit();
  tile_regs_acquire();
  fill_tile(v17, v11);
  binary_dest_reuse_tiles<EltwiseBinaryType::ELWMUL, EltwiseBinaryReuseDestType::DEST_TO_SRCB>(v4, v17, v17);
  tile_regs_commit();
  tile_regs_wait();
  cb_reserve_back(v7, v15);
  pack_tile(v17, v7, v17);
  tile_regs_release();
  cb_push_back(v7, v15);
  cb_pop_front(v4, v15);
  cb_wait_front(v7, v15);
  mul_binary_tile_init();
  cb_wait_front(v3, v14);
  tile_regs_acquire();
  sub_bcast_cols_init_short(v1, v7);
  sub_tiles_bcast_cols(v1, v7, v17, v17, v17);
  sub_tiles_bcast_cols(v1, v7, v15, v17, v13);
  sub_tiles_bcast_cols(v1, v7, v13, v17, v10);
  unary_bcast_init<BroadcastType::ROW>(v3, v8);
  unary_bcast<BroadcastType::ROW>(v3, v17, v15);
  unary_bcast<BroadcastType::ROW>(v3, v15, v14);
  unary_bcast<BroadcastType::ROW>(v3, v13, v9);
  mul_binary_tile(v17, v15, v17);
  mul_binary_tile(v13, v14, v13);
  mul_binary_tile(v10, v9, v10);
  tile_regs_commit();
  tile_regs_wait();
  cb_reserve_back(v8, v14);
  pack_tile(v17, v8, v17);
  pack_tile(v13, v8, v15);
  pack_tile(v10, v8, v13);
  tile_regs_release();
  cb_push_back(v8, v14);
  cb_pop_front(v7, v15);
  cb_pop_front(v6, v15);
  cb_pop_front(v1, v14);
  cb_pop_front(v2, v14);
  cb_pop_front(v3, v14);
  return;
}

void MAIN { kernel_main(); }
}

