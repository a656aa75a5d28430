#include <cstdint>
#include "dataflow_api.h"
void kernel_main() {
  ::tt::CB v1 = ::tt::CB::c_in0;
  ::tt::CB v2 = ::tt::CB::c_in1;
  ::tt::CB v3 = ::tt::CB::c_in2;
  ::tt::CB v4 = ::tt::CB::c_in3;
  ::tt::CB v5 = ::tt::CB::c_in4;
  ::tt::CB v6 = ::tt::CB::c_in5;
  ::tt::CB v7 = ::tt::CB::c_in6;
  ::tt::CB v8 = ::tt::CB::c_in7;
  int32_t v9 = 2048;
  int32_t v10 = 1;
  int32_t v11 = 3;
  int32_t v12 = 0;
  int32_t v13 = get_common_arg_val<uint32_t>(v12);
  int32_t v14 = get_tile_size(v8);
  DataFormat v15 = get_dataformat(v8);
  auto v16 = InterleavedAddrGenFast<true>{.bank_base_address = (uint32_t) v13, .page_size = (uint32_t) v14, .data_format = v15};
  int32_t v17 = get_absolute_logical_y();
  uint32_t v18 = (uint32_t) v17;
  uint32_t v19 = (uint32_t) v11;
  uint32_t v20 = v18 * v19;
  int32_t v21 = (int32_t) v20;
  cb_wait_front(v8, v11);
  int32_t v22 = get_read_ptr(v8);
  int32_t v23;
  int32_t v24;
  v23 = v21;
  v24 = v22;
  for (int32_t v25 = v12; v25 < v11; v25 += v10) {
    noc_async_write_tile(v23, v16, v24);
    uint32_t v26 = (uint32_t) v23;
    uint32_t v27 = (uint32_t) v10;
    uint32_t v28 = v26 + v27;
    int32_t v29 = (int32_t) v28;
    uint32_t v30 = (uint32_t) v24;
    uint32_t v31 = (uint32_t) v9;
    uint32_t v32 = v30 + v31;
    int32_t v33 = (int32_t) v32;
    v23 = v29;
    v24 = v33;
  }
  noc_async_writes_flushed();
  cb_pop_front(v8, v11);
  noc_async_write_barrier();
  return;
}


