// RUN: ttmlir-opt --split-input-file --verify-diagnostics %s

// What ttkernel of 2026 refuses, in the words of tt-mlir.

func.func @two_operands(%n: i32) attributes {ttkernel.thread = #ttkernel.thread<compute>} {
  // expected-error@+1 {{'ttkernel.exp_tile' op requires a single operand}}
  ttkernel.exp_tile(%n, %n) : (i32, i32) -> ()
  return
}

// -----

func.func @wrong_type(%n: f32) attributes {ttkernel.thread = #ttkernel.thread<compute>} {
  // expected-error@+1 {{'ttkernel.exp_tile' op operand #0 must be index or 32-bit signless integer, but got 'f32'}}
  ttkernel.exp_tile(%n) : (f32) -> ()
  return
}

// -----

func.func @number_of_a_data_type(%n: i32) attributes {ttkernel.thread = #ttkernel.thread<compute>} {
  // expected-error@+1 {{'ttkernel.add_int_tile' op requires attribute 'dtype'}}
  "ttkernel.add_int_tile"(%n, %n, %n) : (i32, i32, i32) -> ()
  return
}

// -----

// expected-error@+3 {{expected one of [cb_port, buffer_address, local_semaphore, named_argument, global_semaphore, scalar, tensor_accessor_args] for TTKernel Argument Types, got: port}}
// expected-error@+2 {{failed to parse TTKernel_ArgAttr parameter 'arg_type' which is to be a `ArgType`}}
// expected-error@+1 {{failed to parse TTKernel_ArgSpecAttr parameter 'rt_args' which is to be a `::llvm::ArrayRef<ArgAttr>`}}
func.func private @f() attributes {ttkernel.arg_spec = #ttkernel.arg_spec<rt_args = [<arg_type = port, operand_index = 0>]>}

// -----

func.func @unknown(%n: i32) attributes {ttkernel.thread = #ttkernel.thread<compute>} {
  // expected-error@+2 {{custom op 'ttkernel.experimental::fold' is unknown}}
  // expected-note@+1 {{did you mean 'ttkernel.experimental::tilize_block'}}
  ttkernel.experimental::fold(%n) : (i32) -> ()
  return
}

// -----

func.func @of_2024_only(%n: i32) attributes {ttkernel.thread = #ttkernel.thread<compute>} {
  // expected-error@+1 {{custom op 'ttkernel.acosh_tile' has no custom assembly form}}
  ttkernel.acosh_tile(%n) : (i32) -> ()
  return
}
