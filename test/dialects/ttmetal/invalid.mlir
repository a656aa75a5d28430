// RUN: ttmlir-opt --split-input-file --verify-diagnostics %s

// What ttmetal refuses: tensors without a layout, in the wrong memory, at impossible addresses.

#l1 = #tt.memory_space<l1>
#system = #tt.memory_space<system>
#host = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #system>>
#device = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #l1>>

func.func @host_write_input_layout(%a: tensor<33x70xf32>, %b: tensor<33x70xf32, #device>) {
  // expected-error@+1 {{'ttmetal.host_write' op Input tensor missing layout attribute}}
  %r = "ttmetal.host_write"(%a, %b) : (tensor<33x70xf32>, tensor<33x70xf32, #device>) -> tensor<33x70xf32, #device>
  return
}

// -----

#l1 = #tt.memory_space<l1>
#system = #tt.memory_space<system>
#host = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #system>>
#device = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #l1>>

func.func @host_write_output_layout(%a: tensor<33x70xf32, #host>, %b: tensor<33x70xf32>) {
  // expected-error@+1 {{'ttmetal.host_write' op Input tensor missing layout attribute}}
  %r = "ttmetal.host_write"(%a, %b) : (tensor<33x70xf32, #host>, tensor<33x70xf32>) -> tensor<33x70xf32>
  return
}

// -----

#l1 = #tt.memory_space<l1>
#system = #tt.memory_space<system>
#host = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #system>>
#device = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #l1>>

func.func @host_write_input_space(%a: tensor<33x70xf32, #device>, %b: tensor<33x70xf32, #device>) {
  // expected-error@+1 {{'ttmetal.host_write' op Input tensor must be in system memory space}}
  %r = "ttmetal.host_write"(%a, %b) : (tensor<33x70xf32, #device>, tensor<33x70xf32, #device>) -> tensor<33x70xf32, #device>
  return
}

// -----

#l1 = #tt.memory_space<l1>
#system = #tt.memory_space<system>
#host = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #system>>
#device = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #l1>>

func.func @host_write_output_space(%a: tensor<33x70xf32, #host>, %b: tensor<33x70xf32, #host>) {
  // expected-error@+1 {{'ttmetal.host_write' op Output tensor must be in device memory space}}
  %r = "ttmetal.host_write"(%a, %b) : (tensor<33x70xf32, #host>, tensor<33x70xf32, #host>) -> tensor<33x70xf32, #host>
  return
}

// -----

#l1 = #tt.memory_space<l1>
#system = #tt.memory_space<system>
#host = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #system>>
#device = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #l1>>

func.func @host_read_input_layout(%a: tensor<33x70xf32>, %b: tensor<33x70xf32, #host>) {
  // expected-error@+1 {{'ttmetal.host_read' op Input tensor missing layout attribute}}
  %r = "ttmetal.host_read"(%a, %b) : (tensor<33x70xf32>, tensor<33x70xf32, #host>) -> tensor<33x70xf32, #host>
  return
}

// -----

#l1 = #tt.memory_space<l1>
#system = #tt.memory_space<system>
#host = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #system>>
#device = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #l1>>

func.func @host_read_output_layout(%a: tensor<33x70xf32, #device>, %b: tensor<33x70xf32>) {
  // expected-error@+1 {{'ttmetal.host_read' op Input tensor missing layout attribute}}
  %r = "ttmetal.host_read"(%a, %b) : (tensor<33x70xf32, #device>, tensor<33x70xf32>) -> tensor<33x70xf32>
  return
}

// -----

#l1 = #tt.memory_space<l1>
#system = #tt.memory_space<system>
#host = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #system>>
#device = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #l1>>

func.func @host_read_output_space(%a: tensor<33x70xf32, #device>, %b: tensor<33x70xf32, #device>) {
  // expected-error@+1 {{'ttmetal.host_read' op Output tensor must be in system memory space}}
  %r = "ttmetal.host_read"(%a, %b) : (tensor<33x70xf32, #device>, tensor<33x70xf32, #device>) -> tensor<33x70xf32, #device>
  return
}

// -----

#l1 = #tt.memory_space<l1>
#system = #tt.memory_space<system>
#host = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #system>>
#device = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #l1>>

func.func @host_read_input_space(%a: tensor<33x70xf32, #host>, %b: tensor<33x70xf32, #host>) {
  // expected-error@+1 {{'ttmetal.host_read' op Input tensor must be in device memory space}}
  %r = "ttmetal.host_read"(%a, %b) : (tensor<33x70xf32, #host>, tensor<33x70xf32, #host>) -> tensor<33x70xf32, #host>
  return
}

// -----

#l1 = #tt.memory_space<l1>
#system = #tt.memory_space<system>
#host = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #system>>
#device = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #l1>>

func.func @alloc_layout() {
  // expected-error@+1 {{'ttmetal.alloc' op Result type missing layout attribute}}
  %r = "ttmetal.alloc"() <{address = 1024 : i64, memory_space = #l1, size = 4 : i64}> : () -> tensor<33x70xf32>
  return
}

// -----

#l1 = #tt.memory_space<l1>
#system = #tt.memory_space<system>
#host = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #system>>
#device = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #l1>>

func.func @alloc_size() {
  // expected-error@+1 {{'ttmetal.alloc' op Alloc size must be non-zero}}
  %r = "ttmetal.alloc"() <{address = 1024 : i64, memory_space = #l1, size = 0 : i64}> : () -> tensor<33x70xf32, #device>
  return
}

// -----

#l1 = #tt.memory_space<l1>
#system = #tt.memory_space<system>
#host = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #system>>
#device = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #l1>>

func.func @alloc_space() {
  // expected-error@+1 {{'ttmetal.alloc' op Input tensor layout memory space must match alloc memory space}}
  %r = "ttmetal.alloc"() <{address = 1024 : i64, memory_space = #system, size = 4 : i64}> : () -> tensor<33x70xf32, #device>
  return
}

// -----

#l1 = #tt.memory_space<l1>
#system = #tt.memory_space<system>
#host = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #system>>
#device = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #l1>>

func.func @alloc_host_address() {
  // expected-error@+1 {{'ttmetal.alloc' op Allocating from system memory space must have address set to 0, implicitly allocated by the runtime}}
  %r = "ttmetal.alloc"() <{address = 1024 : i64, memory_space = #system, size = 4 : i64}> : () -> tensor<33x70xf32, #host>
  return
}

// -----

#l1 = #tt.memory_space<l1>
#system = #tt.memory_space<system>
#host = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #system>>
#device = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #l1>>

func.func @alloc_device_address() {
  // expected-error@+1 {{'ttmetal.alloc' op Allocating from a device memory space must have address set to a non-zero value, device addresses are statically allocated}}
  %r = "ttmetal.alloc"() <{address = 0 : i64, memory_space = #l1, size = 4 : i64}> : () -> tensor<33x70xf32, #device>
  return
}

// -----

#l1 = #tt.memory_space<l1>
#system = #tt.memory_space<system>
#host = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #system>>
#device = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #l1>>

func.func @dispatch_layout(%a: tensor<33x70xf32>, %b: tensor<33x70xf32, #device>) {
  // expected-error@+1 {{'ttmetal.dispatch' op Input tensor missing layout attribute}}
  %r = "ttmetal.dispatch"(%a, %b) <{core_ranges = [#ttmetal.core_range<0x0, 1x1>], kernelConfigs = [#ttkernel.noc_config<noc0>], operandSegmentSizes = array<i32: 1, 1>}> ({
    "ttkernel.return"() : () -> ()
  }) : (tensor<33x70xf32>, tensor<33x70xf32, #device>) -> tensor<33x70xf32, #device>
  return
}

// -----

#l1 = #tt.memory_space<l1>
#system = #tt.memory_space<system>
#host = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #system>>
#device = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #l1>>

func.func @dispatch_space(%a: tensor<33x70xf32, #host>, %b: tensor<33x70xf32, #device>) {
  // expected-error@+1 {{'ttmetal.dispatch' op Input tensor must be in device memory space}}
  %r = "ttmetal.dispatch"(%a, %b) <{core_ranges = [#ttmetal.core_range<0x0, 1x1>], kernelConfigs = [#ttkernel.noc_config<noc0>], operandSegmentSizes = array<i32: 1, 1>}> ({
    "ttkernel.return"() : () -> ()
  }) : (tensor<33x70xf32, #host>, tensor<33x70xf32, #device>) -> tensor<33x70xf32, #device>
  return
}

// -----

#l1 = #tt.memory_space<l1>
#system = #tt.memory_space<system>
#host = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #system>>
#device = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #l1>>

func.func @dispatch_block(%a: tensor<33x70xf32, #device>, %b: tensor<33x70xf32, #device>) {
  // expected-error@+1 {{'ttmetal.dispatch' op Block inputs must be CBType}}
  %r = "ttmetal.dispatch"(%a, %b) <{core_ranges = [#ttmetal.core_range<0x0, 1x1>], kernelConfigs = [#ttkernel.noc_config<noc0>], operandSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%x: i32):
    "ttkernel.return"() : () -> ()
  }) : (tensor<33x70xf32, #device>, tensor<33x70xf32, #device>) -> tensor<33x70xf32, #device>
  return
}

// -----

#l1 = #tt.memory_space<l1>
#system = #tt.memory_space<system>
#host = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #system>>
#device = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #l1>>

func.func @dispatch_core_ranges(%a: tensor<33x70xf32, #device>, %b: tensor<33x70xf32, #device>) {
  // expected-error@+1 {{'ttmetal.dispatch' op attribute 'core_ranges' failed to satisfy constraint: }}
  %r = "ttmetal.dispatch"(%a, %b) <{core_ranges = [1 : i32], kernelConfigs = [#ttkernel.noc_config<noc0>], operandSegmentSizes = array<i32: 1, 1>}> ({
    "ttkernel.return"() : () -> ()
  }) : (tensor<33x70xf32, #device>, tensor<33x70xf32, #device>) -> tensor<33x70xf32, #device>
  return
}

// -----

#l1 = #tt.memory_space<l1>
#system = #tt.memory_space<system>
#host = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #system>>
#device = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #l1>>

func.func @dispatch_configs(%a: tensor<33x70xf32, #device>, %b: tensor<33x70xf32, #device>) {
  // expected-error@+1 {{'ttmetal.dispatch' op attribute 'kernelConfigs' failed to satisfy constraint: }}
  %r = "ttmetal.dispatch"(%a, %b) <{core_ranges = [#ttmetal.core_range<0x0, 1x1>], kernelConfigs = [#tt.arch<blackhole>], operandSegmentSizes = array<i32: 1, 1>}> ({
    "ttkernel.return"() : () -> ()
  }) : (tensor<33x70xf32, #device>, tensor<33x70xf32, #device>) -> tensor<33x70xf32, #device>
  return
}
