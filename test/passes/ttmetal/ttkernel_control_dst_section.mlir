// Sections of DST between computing and packing, in kernels that do not say who has the registers.
// RUN: ttmlir-opt --ttkernel-control-dst-section %s -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: ttmlir-opt --ttkernel-control-dst-section %t.mlir | diff %t.mlir -
// RUN: ttmlir-opt --ttkernel-control-dst-section --convert-ttkernel-to-emitc %s | FileCheck %s --check-prefix=EMITC

!cb = !ttkernel.cb<4, !ttcore.tile<32x32, bf16>>

// One statement packs, and computing stands in front of it.
// CHECK-LABEL: func.func @straight
// EMITC-LABEL: func.func @straight
func.func @straight() attributes {ttkernel.thread = #ttkernel.thread<compute>} {
  %n = arith.constant 0 : index
  %in = ttkernel.get_compile_time_arg_val(0) : () -> !cb
  %out = ttkernel.get_compile_time_arg_val(1) : () -> !cb
  // CHECK: ttkernel.tile_regs_acquire()
  ttkernel.tile_regs_acquire() : () -> ()
  ttkernel.copy_tile(%in, %n, %n) : (!cb, index, index) -> ()
  // CHECK: ttkernel.exp_tile(
  // CHECK-NEXT: ttkernel.tile_regs_commit() : () -> ()
  // CHECK-NEXT: ttkernel.tile_regs_wait() : () -> ()
  // CHECK-NEXT: ttkernel.pack_tile(
  // CHECK-NEXT: ttkernel.tile_regs_release() : () -> ()
  // CHECK-NEXT: return
  // EMITC: "tile_regs_commit"
  // EMITC-NEXT: "tile_regs_wait"
  // EMITC-NEXT: "pack_tile"
  // EMITC-NEXT: "tile_regs_release"
  ttkernel.exp_tile(%n) : (index) -> ()
  ttkernel.pack_tile(%n, %out, %n, true) : (index, !cb, index) -> ()
  return
}

// Loops compute and pack; there are two sections in one block, the second packs two results.
// CHECK-LABEL: func.func @loops
func.func @loops() attributes {ttkernel.thread = #ttkernel.thread<compute>} {
  %n = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %in = ttkernel.get_compile_time_arg_val(0) : () -> !cb
  %out = ttkernel.get_compile_time_arg_val(1) : () -> !cb
  // CHECK: ttkernel.tile_regs_acquire()
  // CHECK-NEXT: scf.for
  // CHECK-NEXT: ttkernel.copy_tile(
  // CHECK-NEXT: }
  // CHECK-NEXT: ttkernel.tile_regs_commit()
  // CHECK-NEXT: ttkernel.tile_regs_wait()
  // CHECK-NEXT: scf.for
  // CHECK-NEXT: ttkernel.pack_tile(
  // CHECK-NEXT: }
  // CHECK-NEXT: ttkernel.tile_regs_release()
  ttkernel.tile_regs_acquire() : () -> ()
  scf.for %i = %n to %three step %one {
    ttkernel.copy_tile(%in, %i, %i) : (!cb, index, index) -> ()
  }
  scf.for %i = %n to %three step %one {
    ttkernel.pack_tile(%i, %out, %i, true) : (index, !cb, index) -> ()
  }
  // CHECK-NEXT: ttkernel.tile_regs_acquire()
  // CHECK-NEXT: ttkernel.copy_tile(
  // CHECK-NEXT: ttkernel.tile_regs_commit()
  // CHECK-NEXT: ttkernel.tile_regs_wait()
  // CHECK-NEXT: ttkernel.pack_tile(
  // CHECK-NEXT: ttkernel.pack_tile(
  // CHECK-NEXT: ttkernel.tile_regs_release()
  // CHECK-NEXT: return
  ttkernel.tile_regs_acquire() : () -> ()
  ttkernel.copy_tile(%in, %n, %n) : (!cb, index, index) -> ()
  ttkernel.pack_tile(%n, %out, %n, true) : (index, !cb, index) -> ()
  ttkernel.pack_tile(%n, %out, %one, true) : (index, !cb, index) -> ()
  return
}
