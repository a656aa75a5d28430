// RUN: ttmlir-opt --split-input-file --verify-diagnostics %s

// What ttkernel refuses: calls outside a kernel, tiles where rows are meant and the reverse.


!rows = !ttkernel.cb<cb_in0, 1024, memref<64x128xf32>, 4096, 1>
!tiles = !ttkernel.cb<cb_out0, 66560, memref<2x4x!tt.tile<32x32, f32>>, 4096, 1>

func.func @cb_push_back_in_region(%cb: !rows, %n: i32, %c: i1) {
  "scf.execute_region"() ({
    // expected-error@+1 {{'ttkernel.cb_push_back' op CBPushBackOp must be inside of a DispatchOp region}}
    "ttkernel.cb_push_back"(%cb, %n) : (!rows, i32) -> ()
    scf.yield
  }) : () -> ()
  return
}

// -----

!rows = !ttkernel.cb<cb_in0, 1024, memref<64x128xf32>, 4096, 1>
!tiles = !ttkernel.cb<cb_out0, 66560, memref<2x4x!tt.tile<32x32, f32>>, 4096, 1>

func.func @cb_pop_front_in_region(%cb: !rows, %n: i32, %c: i1) {
  "scf.execute_region"() ({
    // expected-error@+1 {{'ttkernel.cb_pop_front' op CBPopFrontOp must be inside of a DispatchOp region}}
    "ttkernel.cb_pop_front"(%cb, %n) : (!rows, i32) -> ()
    scf.yield
  }) : () -> ()
  return
}

// -----

!rows = !ttkernel.cb<cb_in0, 1024, memref<64x128xf32>, 4096, 1>
!tiles = !ttkernel.cb<cb_out0, 66560, memref<2x4x!tt.tile<32x32, f32>>, 4096, 1>

func.func @cb_reserve_back_in_region(%cb: !rows, %n: i32, %c: i1) {
  "scf.execute_region"() ({
    // expected-error@+1 {{'ttkernel.cb_reserve_back' op CBReserveBackOp must be inside of a DispatchOp region}}
    "ttkernel.cb_reserve_back"(%cb, %n) : (!rows, i32) -> ()
    scf.yield
  }) : () -> ()
  return
}

// -----

!rows = !ttkernel.cb<cb_in0, 1024, memref<64x128xf32>, 4096, 1>
!tiles = !ttkernel.cb<cb_out0, 66560, memref<2x4x!tt.tile<32x32, f32>>, 4096, 1>

func.func @cb_wait_front_in_region(%cb: !rows, %n: i32, %c: i1) {
  "scf.execute_region"() ({
    // expected-error@+1 {{'ttkernel.cb_wait_front' op CBWaitFrontOp must be inside of a DispatchOp region}}
    "ttkernel.cb_wait_front"(%cb, %n) : (!rows, i32) -> ()
    scf.yield
  }) : () -> ()
  return
}

// -----

!rows = !ttkernel.cb<cb_in0, 1024, memref<64x128xf32>, 4096, 1>
!tiles = !ttkernel.cb<cb_out0, 66560, memref<2x4x!tt.tile<32x32, f32>>, 4096, 1>

func.func @tilize_init_in_region(%a: !rows, %b: !tiles, %n: i32, %c: i1) {
  "scf.execute_region"() ({
    // expected-error@+1 {{'ttkernel.tilize_init' op TilizeInitOp must be inside of a DispatchOp region}}
    "ttkernel.tilize_init"(%a, %n, %b) : (!rows, i32, !tiles) -> ()
    scf.yield
  }) : () -> ()
  return
}

// -----

!rows = !ttkernel.cb<cb_in0, 1024, memref<64x128xf32>, 4096, 1>
!tiles = !ttkernel.cb<cb_out0, 66560, memref<2x4x!tt.tile<32x32, f32>>, 4096, 1>

func.func @tilize_block_in_region(%a: !rows, %b: !tiles, %n: i32, %c: i1) {
  "scf.execute_region"() ({
    // expected-error@+1 {{'ttkernel.tilize_block' op TilizeBlockOp must be inside of a DispatchOp region}}
    "ttkernel.tilize_block"(%a, %n, %b) : (!rows, i32, !tiles) -> ()
    scf.yield
  }) : () -> ()
  return
}

// -----

!rows = !ttkernel.cb<cb_in0, 1024, memref<64x128xf32>, 4096, 1>
!tiles = !ttkernel.cb<cb_out0, 66560, memref<2x4x!tt.tile<32x32, f32>>, 4096, 1>

func.func @untilize_init_in_region(%a: !rows, %b: !tiles, %n: i32, %c: i1) {
  "scf.execute_region"() ({
    // expected-error@+1 {{'ttkernel.untilize_init' op UntilizeInitOp must be inside of a DispatchOp region}}
    "ttkernel.untilize_init"(%b, %a) : (!tiles, !rows) -> ()
    scf.yield
  }) : () -> ()
  return
}

// -----

!rows = !ttkernel.cb<cb_in0, 1024, memref<64x128xf32>, 4096, 1>
!tiles = !ttkernel.cb<cb_out0, 66560, memref<2x4x!tt.tile<32x32, f32>>, 4096, 1>

func.func @untilize_block_in_region(%a: !rows, %b: !tiles, %n: i32, %c: i1) {
  "scf.execute_region"() ({
    // expected-error@+1 {{'ttkernel.untilize_block' op UntilizeBlockOp must be inside of a DispatchOp region}}
    "ttkernel.untilize_block"(%b, %n, %a) : (!tiles, i32, !rows) -> ()
    scf.yield
  }) : () -> ()
  return
}

// -----

!rows = !ttkernel.cb<cb_in0, 1024, memref<64x128xf32>, 4096, 1>
!tiles = !ttkernel.cb<cb_out0, 66560, memref<2x4x!tt.tile<32x32, f32>>, 4096, 1>

func.func @builtin_in_region(%a: !rows, %b: !tiles, %n: i32, %c: i1) {
  "scf.execute_region"() ({
    // expected-error@+1 {{'ttkernel.builtin' op KernelOp must be inside of a DispatchOp region}}
    "ttkernel.builtin"(%a, %b) <{kind = @eltwise, op = @add}> : (!rows, !tiles) -> ()
    scf.yield
  }) : () -> ()
  return
}

// -----

func.func @return_in_region(%n: i32) {
  "scf.execute_region"() ({
    // expected-error@+1 {{'ttkernel.return' op ReturnOp must be inside of a DispatchOp region}}
    "ttkernel.return"() : () -> ()
  }) : () -> ()
  return
}

// -----

!rows = !ttkernel.cb<cb_in0, 1024, memref<64x128xf32>, 4096, 1>
!tiles = !ttkernel.cb<cb_out0, 66560, memref<2x4x!tt.tile<32x32, f32>>, 4096, 1>

func.func @tilize_same_port(%a: !rows, %n: i32) {
  // expected-error@+1 {{op Input circular buffer port and output circular buffer port must be different}}
  "ttkernel.tilize_block"(%a, %n, %a) : (!rows, i32, !rows) -> ()
  return
}

// -----

!rows = !ttkernel.cb<cb_in0, 1024, memref<64x128xf32>, 4096, 1>
!tiles = !ttkernel.cb<cb_out0, 66560, memref<2x4x!tt.tile<32x32, f32>>, 4096, 1>

func.func @tilize_backwards(%a: !rows, %b: !tiles, %n: i32) {
  // expected-error@+1 {{op Input to TilizeOp or Output to UntilizeOp must have scalar element type}}
  "ttkernel.tilize_init"(%b, %n, %a) : (!tiles, i32, !rows) -> ()
  return
}

// -----

!rows = !ttkernel.cb<cb_in0, 1024, memref<64x128xf32>, 4096, 1>
!other_rows = !ttkernel.cb<cb_out0, 1024, memref<64x128xf32>, 4096, 1>

func.func @untilize_rows(%a: !rows, %b: !other_rows) {
  // expected-error@+1 {{op Input to UntilizeOp or Output to TilizeOp must have tile element type}}
  "ttkernel.untilize_init"(%a, %b) : (!rows, !other_rows) -> ()
  return
}

// -----

!rows = !ttkernel.cb<cb_in0, 1024, memref<64x128xf32>, 4096, 1>
!tiles = !ttkernel.cb<cb_out0, 66560, memref<2x4x!tt.tile<32x32, f32>>, 4096, 1>

func.func @operand_type(%a: !rows, %n: i64) {
  // expected-error@+1 {{'ttkernel.cb_push_back' op operand #1 must be 32-bit signless integer, but got 'i64'}}
  "ttkernel.cb_push_back"(%a, %n) : (!rows, i64) -> ()
  return
}

// -----

func.func @operand_is_not_a_buffer(%n: i32) {
  // expected-error@+1 {{'ttkernel.cb_push_back' op operand #0 must be TTKernel cb, but got 'i32'}}
  "ttkernel.cb_push_back"(%n, %n) : (i32, i32) -> ()
  return
}

// -----

func.func @operand_is_not_an_address(%n: i32) {
  // expected-error@+1 {{'ttkernel.noc_async_read' op operand #0 must be TTKernel noc address, but got 'i32'}}
  "ttkernel.noc_async_read"(%n, %n, %n) : (i32, i32, i32) -> ()
  return
}

// -----

// expected-error@+2 {{invalid TTKernel Circular Buffer Ports specification: cb_in9}}
// expected-error@+1 {{failed to parse TTKernel_CB parameter 'port' which is to be a `CBPort`}}
func.func private @port(!ttkernel.cb<cb_in9, 1024, memref<2x4xf32>, 4096, 1>)

// -----

// expected-error@+2 {{invalid kind of type specified}}
// expected-error@+1 {{failed to parse TTKernel_CB parameter 'memref' which is to be a `MemRefType`}}
func.func private @memref(!ttkernel.cb<cb_in0, 1024, tensor<2x4xf32>, 4096, 1>)

// -----

// expected-error@+2 {{invalid TTKernel Math Fidelity specification: hifi5}}
// expected-error@+1 {{failed to parse TTKernel_TensixConfigAttr parameter 'math_fidelity' which is to be a `MathFidelity`}}
module attributes {test.a = #ttkernel.tensix_config<hifi5, false, false, false>} {}

// -----

// expected-error@+2 {{expected 'true' or 'false'}}
// expected-error@+1 {{failed to parse TTKernel_TensixConfigAttr parameter 'fp32_dest_acc_en' which is to be a `bool`}}
module attributes {test.a = #ttkernel.tensix_config<hifi4, 1, false, false>} {}

// -----

// expected-error@+1 {{unregistered operation 'ttkernel.sub_everything' found in dialect ('ttkernel') that does not allow unknown operations}}
"ttkernel.sub_everything"() : () -> ()
