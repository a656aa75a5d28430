// RUN: ttmlir-opt --split-input-file --verify-diagnostics %s

// What tt-mlir's compiler of 2026 says about these operations.

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: !ttnn.device) {
  // expected-error@+1 {{'ttnn.zeros' op Output tensor shape must be 5, 7, but got 5, 8}}
  %r = "ttnn.zeros"(%a0) <{shape = #ttnn.shape<5x7>}> : (!ttnn.device) -> tensor<5x8xf32, #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #ttnn.buffer_type<dram>>, <interleaved>>>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: !ttnn.device) {
  // expected-error@+1 {{'ttnn.ones' op Output tensor shape must be 5, 1, but got 5}}
  %r = "ttnn.ones"(%a0) <{shape = #ttnn.shape<5x1>}> : (!ttnn.device) -> tensor<5xf32, #ttnn.ttnn_layout<(d0) -> (0, d0), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #ttnn.buffer_type<dram>>, <interleaved>>>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: !ttnn.device) {
  // expected-error@+1 {{'ttnn.arange' op Output tensor shape must be 7, but got 5, 7}}
  %r = "ttnn.arange"(%a0) <{end = 7 : si64, start = 0 : si64, step = 1 : si64}> : (!ttnn.device) -> tensor<5x7xui32, #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, u32>, #ttnn.buffer_type<dram>>, <interleaved>>>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: !ttnn.device) {
  // expected-error@+1 {{'ttnn.arange' op Invalid range: start=9, end=7, step=1}}
  %r = "ttnn.arange"(%a0) <{end = 7 : si64, start = 9 : si64, step = 1 : si64}> : (!ttnn.device) -> tensor<7xui32, #ttnn.ttnn_layout<(d0) -> (0, d0), <1x1>, memref<1x1x!ttcore.tile<32x32, u32>, #ttnn.buffer_type<dram>>, <interleaved>>>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: !ttnn.device) {
  // expected-error@+1 {{'ttnn.full' op requires attribute 'fill_value'}}
  %r = "ttnn.full"(%a0) <{shape = #ttnn.shape<5x7>}> : (!ttnn.device) -> tensor<5x7xf32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main(%a0: !ttnn.device) {
  // expected-error@+1 {{'ttnn.full' op attribute 'fill_value' failed to satisfy constraint: 32-bit float attribute or 32-bit signless integer attribute}}
  %r = "ttnn.full"(%a0) <{fill_value = 1.0 : f64, shape = #ttnn.shape<5x7>}> : (!ttnn.device) -> tensor<5x7xf32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main() {
  // expected-error@+1 {{'ttir.full' op expected shape (5, 7), got (7, 5)}}
  %r = "ttir.full"() <{fill_value = 1.0 : f32, shape = array<i32: 7, 5>}> : () -> tensor<5x7xf32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main() {
  // expected-error@+1 {{'ttir.arange' op Output tensor shape must be 8 at dim 1 (since start=1, end=9, step=1), but got 7}}
  %r = "ttir.arange"() <{arange_dimension = 1 : i64, end = 9 : si64, start = 1 : si64, step = 1 : si64}> : () -> tensor<5x7xf32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main() {
  // expected-error@+1 {{'ttir.arange' op Invalid range: start=9, end=1, step=1}}
  %r = "ttir.arange"() <{arange_dimension = 1 : i64, end = 1 : si64, start = 9 : si64, step = 1 : si64}> : () -> tensor<5x7xf32>
  return
}

// -----

#late = #ttcore.iterator_type<parallel>
func.func @main() {
  // expected-error@+1 {{'ttir.arange' op Step value cannot be zero}}
  %r = "ttir.arange"() <{arange_dimension = 0 : i64, end = 1 : si64, start = 9 : si64, step = 0 : si64}> : () -> tensor<7xf32>
  return
}
