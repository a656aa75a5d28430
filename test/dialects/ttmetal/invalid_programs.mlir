// RUN: ttmlir-opt --split-input-file --verify-diagnostics %s

// What programs of named kernels refuse.

// expected-error@+1 {{op expected an address of 0 or above, got -1}}
%0 = "ttmetal.create_buffer"() <{address = -1 : i64}> : () -> memref<1x1x2x3xf32, #ttcore.shard<12x4>>

// -----

func.func @count(%a: memref<1x1x2x3xf32, #ttcore.shard<12x4>>) {
  // expected-error@+1 {{op expected a port for each of 1 circular buffers, got 2}}
  "ttmetal.enqueue_program"(%a, %a) <{cb_ports = array<i64: 0, 1>, kernelConfigs = [], operandSegmentSizes = array<i32: 1, 1>}> : (memref<1x1x2x3xf32, #ttcore.shard<12x4>>, memref<1x1x2x3xf32, #ttcore.shard<12x4>>) -> ()
  return
}

// -----

func.func @ports(%a: memref<1x1x2x3xf32, #ttcore.shard<12x4>>) {
  // expected-error@+1 {{op expected different ports from 0 to 31, got 3, 32}}
  "ttmetal.enqueue_program"(%a, %a) <{cb_ports = array<i64: 3, 32>, kernelConfigs = [], operandSegmentSizes = array<i32: 0, 2>}> : (memref<1x1x2x3xf32, #ttcore.shard<12x4>>, memref<1x1x2x3xf32, #ttcore.shard<12x4>>) -> ()
  return
}

// -----

// expected-error@+1 {{expected ::mlir::tt::ttmetal::KernelArgType to be one of: cb_port, buffer_address, semaphore}}
#args = #ttmetal.kernel_args<ct_args = [<port[0]>]>
