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
  int32_t v9 = 4;
  int32_t v10 = 2048;
  int32_t v11 = 3;
  int32_t v12 = 2;
  int32_t v13 = 1;
  int32_t v14 = 0;
  int32_t v15 = get_common_arg_val<uint32_t>(v14);
  int32_t v16 = get_tile_size(v1);
  DataFormat v17 = get_dataformat(v1);
  auto v18 = InterleavedAddrGenFast<true>{.bank_base_address = (uint32_t) v15, .page_size = (uint32_t) v16, .data_format = v17};
  int32_t v19 = get_common_arg_val<uint32_t>(v13);
  int32_t v20 = get_common_arg_val<uint32_t>(v12);
  int32_t v21 = get_tile_size(v3);
  DataFormat v22 = get_dataformat(v3);
  auto v23 = InterleavedAddrGenFast<true>{.bank_base_address = (uint32_t) v20, .page_size = (uint32_t) v21, .data_format = v22};
  int32_t v24 = get_absolute_logical_y();
  uint32_t v25 = (uint32_t) v24;
  uint32_t v26 = (uint32_t) v11;
  uint32_t v27 = v25 * v26;
  int32_t v28 = (int32_t) v27;
  cb_reserve_back(v1, v11);
  int32_t v29 = get_write_ptr(v1);
  int32_t v30;
  int32_t v31;
  v30 = v28;
  v31 = v29;
  for (int32_t v32 = v14; v32 < v11; v32 += v13) {
    noc_async_read_tile(v30, v18, v31);
    uint32_t v33 = (uint32_t) v30;
    uint32_t v34 = (uint32_t) v13;
    uint32_t v35 = v33 + v34;
    int32_t v36 = (int32_t) v35;
    uint32_t v37 = (uint32_t) v31;
    uint32_t v38 = (uint32_t) v10;
    uint32_t v39 = v37 + v38;
    int32_t v40 = (int32_t) v39;
    v30 = v36;
    v31 = v40;
  }
  cb_reserve_back(v2, v11);
  int32_t v41 = get_write_ptr(v2);
  int32_t v42;
  int32_t v43;
  v42 = v14;
  v43 = v41;
  for (int32_t v44 = v14; v44 < v11; v44 += v13) {
    uint32_t v45 = (uint32_t) v42;
    uint32_t v46 = (uint32_t) v13;
    uint32_t v47 = v45 + v46;
    int32_t v48 = (int32_t) v47;
    uint32_t v49 = (uint32_t) v42;
    uint32_t v50 = (uint32_t) v9;
    bool v51 = v49 >= v50;
    int32_t v52 = v51 ? v13 : v14;
    uint32_t v53 = (uint32_t) v48;
    uint32_t v54 = (uint32_t) v52;
    uint32_t v55 = v53 + v54;
    int32_t v56 = (int32_t) v55;
    int64_t v57 = get_noc_addr(v56, v13, v19);
    noc_async_read(v57, v43, v10);
    uint32_t v58 = (uint32_t) v42;
    uint32_t v59 = (uint32_t) v13;
    uint32_t v60 = v58 + v59;
    int32_t v61 = (int32_t) v60;
    uint32_t v62 = (uint32_t) v43;
    uint32_t v63 = (uint32_t) v10;
    uint32_t v64 = v62 + v63;
    int32_t v65 = (int32_t) v64;
    v42 = v61;
    v43 = v65;
  }
  noc_async_read_barrier();
  cb_push_back(v1, v11);
  cb_push_back(v2, v11);
  cb_reserve_back(v3, v11);
  int32_t v66 = get_write_ptr(v3);
  int32_t v67;
  int32_t v68;
  v67 = v14;
  v68 = v66;
  for (int32_t v69 = v14; v69 < v11; v69 += v13) {
    noc_async_read_tile(v67, v23, v68);
    uint32_t v70 = (uint32_t) v67;
    uint32_t v71 = (uint32_t) v13;
    uint32_t v72 = v70 + v71;
    int32_t v73 = (int32_t) v72;
    uint32_t v74 = (uint32_t) v68;
    uint32_t v75 = (uint32_t) v10;
    uint32_t v76 = v74 + v75;
    int32_t v77 = (int32_t) v76;
    v67 = v73;
    v68 = v77;
  }
  noc_async_read_barrier();
  cb_push_back(v3, v11);
  return;
}


