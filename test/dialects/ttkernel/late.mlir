// RUN: ttmlir-opt %s | ttmlir-opt | FileCheck %s
// RUN: ttmlir-opt --convert-ttkernel-to-emitc %s | FileCheck --check-prefix=EMITC %s
// RUN: ttmlir-translate --ttkernel-to-cpp %s | FileCheck --check-prefix=CPP %s

// A kernel in the form of 2026 is read, printed, lowered to emitc and written as C++, as by tt-lang
// 1.1.1.

!cb = !ttkernel.cb<8, !ttcore.tile<32x32, bf16>>

// CHECK: func.func @exponential() attributes {ttkernel.arg_spec = #ttkernel.arg_spec< ct_args = [<arg_type = cb_port, operand_index = 0>, <arg_type = cb_port, operand_index = 1>]>, ttkernel.thread = #ttkernel.thread<compute>}
// CPP: #include "api/compute/eltwise_unary/exp.h"
// CPP: void kernel_main() {
func.func @exponential() attributes {ttkernel.arg_spec = #ttkernel.arg_spec<ct_args = [<arg_type = cb_port, operand_index = 0>, <arg_type = cb_port, operand_index = 1>]>, ttkernel.thread = #ttkernel.thread<compute>} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : i32
  %in = ttkernel.get_compile_time_arg_val(0) : () -> !cb
  // CHECK: %[[IN:.*]] = ttkernel.get_compile_time_arg_val(0) : () -> !ttkernel.cb<8, !ttcore.tile<32x32, bf16>>
  // EMITC: %[[IN:.*]] = emitc.literal "get_compile_time_arg_val(0)" {ttkernel.cb_ctarg_idx = 0 : i32} : !emitc.opaque<"::tt::CB">
  // CPP: experimental::CircularBuffer cb_ctarg_0(get_compile_time_arg_val(0));
  %out = ttkernel.get_compile_time_arg_val(1) : () -> !cb
  ttkernel.init_sfpu(%in, %out) : (!cb, !cb) -> ()
  ttkernel.cb_wait_front(%in, %one) : (!cb, i32) -> ()
  // CHECK: ttkernel.cb_wait_front(%[[IN]], %{{.*}}) : (!ttkernel.cb<8, !ttcore.tile<32x32, bf16>>, i32) -> ()
  // EMITC: emitc.verbatim "cb_ctarg_0.wait_front({});" args %{{.*}} : i32
  // CPP: cb_ctarg_0.wait_front(v2);
  ttkernel.cb_reserve_back(%out, %one) : (!cb, i32) -> ()
  ttkernel.tile_regs_acquire() : () -> ()
  ttkernel.copy_tile_init(%in) : (!cb) -> ()
  ttkernel.copy_tile(%in, %zero, %zero) : (!cb, index, index) -> ()
  ttkernel.exp_tile_init() : () -> ()
  ttkernel.exp_tile(%zero) : (index) -> ()
  ttkernel.tile_regs_commit() : () -> ()
  ttkernel.tile_regs_wait() : () -> ()
  ttkernel.pack_tile(%zero, %out, %zero, false) : (index, !cb, index) -> ()
  // CHECK: ttkernel.pack_tile(%{{.*}}, %{{.*}}, %{{.*}}, false) : (index, !ttkernel.cb<8, !ttcore.tile<32x32, bf16>>, index) -> ()
  // EMITC: emitc.call_opaque "pack_tile"(%{{.*}}) {template_args = [false]} : (!emitc.size_t, !emitc.opaque<"::tt::CB">, !emitc.size_t) -> ()
  // CPP: pack_tile<false>(v1, get_compile_time_arg_val(1), v1);
  ttkernel.tile_regs_release() : () -> ()
  ttkernel.cb_push_back(%out, %one) : (!cb, i32) -> ()
  ttkernel.cb_pop_front(%in, %one) : (!cb, i32) -> ()
  return
}
