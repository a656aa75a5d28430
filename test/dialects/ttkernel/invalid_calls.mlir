// RUN: ttmlir-opt --split-input-file --verify-diagnostics %s

// What calls refuse: operands of the wrong kind, template arguments that are missing or unknown.

func.func @pointer(%n: i32) {
  // expected-error@+1 {{'ttkernel.noc_semaphore_wait' op operand #0 must be TTKernel pointer to 32-bit words of L1, but got 'i32'}}
  "ttkernel.noc_semaphore_wait"(%n, %n) : (i32, i32) -> ()
  return
}

// -----

func.func @no_pointer(%n: i32) {
  // expected-error@+1 {{'ttkernel.load_from_l1' op operand #0 must be TTKernel pointer to integers of L1, but got 'i32'}}
  %0 = "ttkernel.load_from_l1"(%n, %n) : (i32, i32) -> i32
  return
}

// -----

func.func @narrow_pointer(%p: !ttkernel.l1_addr_ptr<16>, %n: i32) {
  // expected-error@+1 {{'ttkernel.noc_semaphore_wait' op operand #0 must be TTKernel pointer to 32-bit words of L1, but got '!ttkernel.l1_addr_ptr<16>'}}
  "ttkernel.noc_semaphore_wait"(%p, %n) : (!ttkernel.l1_addr_ptr<16>, i32) -> ()
  return
}

// -----

func.func @address(%n: i64) {
  // expected-error@+1 {{'ttkernel.reinterpret_cast' op operand #0 must be 32-bit signless integer or TTKernel local semaphore, but got 'i64'}}
  %0 = "ttkernel.reinterpret_cast"(%n) : (i64) -> !ttkernel.l1_addr_ptr<32>
  return
}

// -----

func.func @generator(%n: i32) {
  // expected-error@+1 {{'ttkernel.noc_async_read_tile' op operand #1 must be TTKernel address generator or tensor accessor, but got 'i32'}}
  "ttkernel.noc_async_read_tile"(%n, %n, %n) : (i32, i32, i32) -> ()
  return
}

// -----

func.func @accessor(%g: !ttkernel.interleaved_addr_gen_fast, %n: i32) {
  // expected-error@+1 {{'ttkernel.noc_async_read_shard' op operand #1 must be TTKernel tensor accessor, but got '!ttkernel.interleaved_addr_gen_fast'}}
  "ttkernel.noc_async_read_shard"(%n, %g, %n) : (i32, !ttkernel.interleaved_addr_gen_fast, i32) -> ()
  return
}

// -----

func.func @accessor_arguments(%n: i32) {
  // expected-error@+1 {{'ttkernel.TensorAccessor' op operand #0 must be TTKernel tensor accessor arguments, but got 'i32'}}
  %0 = "ttkernel.TensorAccessor"(%n, %n, %n) : (i32, i32, i32) -> !ttkernel.TensorAccessor
  return
}

// -----

func.func @format(%n: i32) {
  // expected-error@+1 {{'ttkernel.get_interleaved_addr_gen_fast' op operand #2 must be TTKernel data format, but got 'i32'}}
  %0 = "ttkernel.get_interleaved_addr_gen_fast"(%n, %n, %n) <{dram = true}> : (i32, i32, i32) -> !ttkernel.interleaved_addr_gen_fast
  return
}

// -----

func.func @result(%n: i32) {
  // expected-error@+1 {{'ttkernel.get_semaphore' op result #0 must be TTKernel local semaphore, but got 'i32'}}
  %0 = "ttkernel.get_semaphore"(%n) : (i32) -> i32
  return
}

// -----

func.func @scalar(%n: i32) {
  // expected-error@+1 {{'ttkernel.fill_tile' op operand #1 must be 32-bit float, but got 'i32'}}
  "ttkernel.fill_tile"(%n, %n) : (i32, i32) -> ()
  return
}

// -----

func.func @count(%n: i32) {
  // expected-error@+1 {{'ttkernel.add_binary_tile' op expected 3 operands, but found 2}}
  "ttkernel.add_binary_tile"(%n, %n) : (i32, i32) -> ()
  return
}

// -----

func.func @missing_template_argument(%n: i32) {
  // expected-error@+1 {{'ttkernel.where_tile' op requires attribute 'data_format'}}
  "ttkernel.where_tile"(%n, %n, %n, %n) : (i32, i32, i32, i32) -> ()
  return
}

// -----

func.func @unknown_enumerator(%n: i32) {
  // expected-error@+1 {{'ttkernel.init_bcast' op attribute 'bcast_type' failed to satisfy constraint: string attribute whose value is one of NONE, COL, ROW, SCALAR}}
  "ttkernel.init_bcast"(%n, %n, %n) <{bcast_type = "DIAGONAL", eltwise_binary_type = "ELWADD"}> : (i32, i32, i32) -> ()
  return
}

// -----

// expected-error@+1 {{unsupported l1_addr_ptr element width 64; expected 8, 16, or 32}}
func.func private @wide(!ttkernel.l1_addr_ptr<64>)
