// RUN: ttmlir-opt %s | ttmlir-opt | FileCheck %s

// Calls on the matrix unit, the vector unit and DST, with their template arguments.

!a = !ttkernel.cb<cb_in0, 66560, memref<2x4x!tt.tile<32x32, bf16>>, 2048, 1>
!b = !ttkernel.cb<cb_in1, 82944, memref<4x3x!tt.tile<32x32, bf16>>, 2048, 1>
!c = !ttkernel.cb<cb_out0, 107520, memref<2x3x!tt.tile<32x32, bf16>>, 2048, 1>

// CHECK-LABEL: func.func @matrix_unit
func.func @matrix_unit(%a: !a, %b: !b, %c: !c, %i: i32) {
  // CHECK: "ttkernel.mm_init"(%arg0, %arg1, %arg2)
  "ttkernel.mm_init"(%a, %b, %c) : (!a, !b, !c) -> ()
  // CHECK-NEXT: "ttkernel.matmul_tiles"(%arg0, %arg1, %arg3, %arg3, %arg3)
  "ttkernel.matmul_tiles"(%a, %b, %i, %i, %i) : (!a, !b, i32, i32, i32) -> ()
  // CHECK-NEXT: "ttkernel.sub_tiles"(%arg0, %arg1, %arg3, %arg3, %arg3)
  "ttkernel.sub_tiles"(%a, %b, %i, %i, %i) : (!a, !b, i32, i32, i32) -> ()
  // CHECK-NEXT: "ttkernel.mul_tiles_bcast_rows"(%arg0, %arg1, %arg3, %arg3, %arg3)
  "ttkernel.mul_tiles_bcast_rows"(%a, %b, %i, %i, %i) : (!a, !b, i32, i32, i32) -> ()
  // CHECK-NEXT: "ttkernel.unary_bcast"(%arg0, %arg3, %arg3) <{bcast_type = "COL"}>
  "ttkernel.unary_bcast"(%a, %i, %i) <{bcast_type = "COL"}> : (!a, i32, i32) -> ()
  // CHECK-NEXT: "ttkernel.reduce_init"(%arg0, %arg1, %arg2) <{reduce_dim = "REDUCE_ROW", reduce_type = "MAX"}>
  "ttkernel.reduce_init"(%a, %b, %c) <{reduce_dim = "REDUCE_ROW", reduce_type = "MAX"}> : (!a, !b, !c) -> ()
  // CHECK-NEXT: "ttkernel.reduce_tile"(%arg0, %arg1, %arg3, %arg3, %arg3) <{reduce_dim = "REDUCE_ROW", reduce_type = "MAX"}>
  "ttkernel.reduce_tile"(%a, %b, %i, %i, %i) <{reduce_dim = "REDUCE_ROW", reduce_type = "MAX"}> : (!a, !b, i32, i32, i32) -> ()
  // CHECK-NEXT: "ttkernel.transpose_wh_tile"(%arg0, %arg3, %arg3)
  "ttkernel.transpose_wh_tile"(%a, %i, %i) : (!a, i32, i32) -> ()
  // CHECK-NEXT: "ttkernel.pack_untilize_block"(%arg0, %arg3, %arg2) <{block_ct_dim = 4 : i32}>
  "ttkernel.pack_untilize_block"(%a, %i, %c) <{block_ct_dim = 4 : i32}> : (!a, i32, !c) -> ()
  // CHECK-NEXT: "ttkernel.binary_dest_reuse_tiles"(%arg0, %arg3, %arg3) <{eltwise_binary_type = "ELWADD", reuse_type = "DEST_TO_SRCA"}>
  "ttkernel.binary_dest_reuse_tiles"(%a, %i, %i) <{eltwise_binary_type = "ELWADD", reuse_type = "DEST_TO_SRCA"}> : (!a, i32, i32) -> ()
  "ttkernel.return"() : () -> ()
}

// CHECK-LABEL: func.func @vector_unit
func.func @vector_unit(%a: !a, %c: !c, %i: i32) {
  %half = arith.constant 5.000000e-01 : f32
  // CHECK: "ttkernel.init_sfpu"(%arg0, %arg1)
  "ttkernel.init_sfpu"(%a, %c) : (!a, !c) -> ()
  // CHECK-NEXT: "ttkernel.copy_tile"(%arg0, %arg2, %arg2)
  "ttkernel.copy_tile"(%a, %i, %i) : (!a, i32, i32) -> ()
  // CHECK-NEXT: "ttkernel.exp_tile_init"() <{approx = true}> : () -> ()
  "ttkernel.exp_tile_init"() <{approx = true}> : () -> ()
  // CHECK-NEXT: "ttkernel.exp_tile"(%arg2) <{approx = true}> : (i32) -> ()
  "ttkernel.exp_tile"(%i) <{approx = true}> : (i32) -> ()
  // CHECK-NEXT: "ttkernel.clamp_tile"(%arg2, %arg2, %arg2) : (i32, i32, i32) -> ()
  "ttkernel.clamp_tile"(%i, %i, %i) : (i32, i32, i32) -> ()
  // CHECK-NEXT: "ttkernel.fill_tile"(%arg2, %{{.*}}) : (i32, f32) -> ()
  "ttkernel.fill_tile"(%i, %half) : (i32, f32) -> ()
  // CHECK-NEXT: "ttkernel.typecast_tile"(%arg2) <{in_dtype = "Float16_b", out_dtype = "Int32"}> : (i32) -> ()
  "ttkernel.typecast_tile"(%i) <{in_dtype = "Float16_b", out_dtype = "Int32"}> : (i32) -> ()
  // CHECK-NEXT: "ttkernel.mul_int_tile"(%arg2, %arg2, %arg2) <{data_format = "Int32"}> : (i32, i32, i32) -> ()
  "ttkernel.mul_int_tile"(%i, %i, %i) <{data_format = "Int32"}> : (i32, i32, i32) -> ()
  // CHECK-NEXT: "ttkernel.where_tile"(%arg2, %arg2, %arg2, %arg2) <{data_format = "Float32"}> : (i32, i32, i32, i32) -> ()
  "ttkernel.where_tile"(%i, %i, %i, %i) <{data_format = "Float32"}> : (i32, i32, i32, i32) -> ()
  // CHECK-NEXT: "ttkernel.pack_tile"(%arg2, %arg1, %arg2) <{out_of_order = true}>
  "ttkernel.pack_tile"(%i, %c, %i) <{out_of_order = true}> : (i32, !c, i32) -> ()
  "ttkernel.return"() : () -> ()
}
