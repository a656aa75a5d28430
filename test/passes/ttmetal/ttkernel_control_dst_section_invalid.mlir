// RUN: not ttmlir-opt --split-input-file --ttkernel-control-dst-section %s 2>&1 | FileCheck %s

!cb = !ttkernel.cb<4, !ttcore.tile<32x32, bf16>>

func.func @nothing() {
  %n = arith.constant 0 : index
  %in = ttkernel.get_compile_time_arg_val(0) : () -> !cb
  // CHECK: ttkernel_control_dst_section_invalid.mlir:[[# @LINE + 1]]:3: error: 'ttkernel.tile_regs_acquire' op starts a section of DST that packs nothing; supported are sections with ttkernel.pack_tile behind it in the same block or in loops of it
  ttkernel.tile_regs_acquire() : () -> ()
  ttkernel.copy_tile(%in, %n, %n) : (!cb, index, index) -> ()
  return
}

// -----

!cb = !ttkernel.cb<4, !ttcore.tile<32x32, bf16>>

func.func @both() {
  %n = arith.constant 0 : index
  %one = arith.constant 1 : index
  %in = ttkernel.get_compile_time_arg_val(0) : () -> !cb
  ttkernel.tile_regs_acquire() : () -> ()
  scf.for %i = %n to %one step %one {
    // CHECK: ttkernel_control_dst_section_invalid.mlir:[[# @LINE + 1]]:5: error: 'ttkernel.copy_tile' op computes in DST after packing has begun; acquire registers inside of the loop, or pack in a loop of its own
    ttkernel.copy_tile(%in, %n, %n) : (!cb, index, index) -> ()
    ttkernel.pack_tile(%n, %in, %n, true) : (index, !cb, index) -> ()
  }
  return
}
