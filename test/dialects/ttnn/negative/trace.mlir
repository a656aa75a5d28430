// RUN: ttmlir-opt --split-input-file --verify-diagnostics %s

// Calls of traces whose functions do not fit.

!t = tensor<4x8xf32>
!id = tensor<ui32, #ttnn.trace_id>
func.func private @slots() -> (!t, !t)
func.func private @trace(!t, !t)
func.func private @capture(%x: !t, %in: !t, %out: !t) -> !id {
  %d = "ttnn.get_device"() : () -> !ttnn.device
  %id = "ttnn.begin_trace_capture"(%d) : (!ttnn.device) -> !id
  call @trace(%in, %out) : (!t, !t) -> ()
  "ttnn.end_trace_capture"(%d, %id) : (!ttnn.device, !id) -> ()
  return %id : !id
}
func.func private @execute(!id)
func.func @call(%d: !ttnn.device, %x: !t) -> !t {
  // expected-error@+1 {{'ttnn.capture_or_execute_trace' op Device-resident input count 2 is out of range}}
  %r = "ttnn.capture_or_execute_trace"(%d, %x) <{allocate_slots_callee = @slots, capture_callee = @capture, device_resident_input_count = 2 : i32, execute_callee = @execute, operandSegmentSizes = array<i32: 1, 1, 0>}> : (!ttnn.device, !t) -> !t
  return %r : !t
}

// -----

!t = tensor<4x8xf32>
!id = tensor<ui32, #ttnn.trace_id>
func.func private @slots() -> (!t, !t)
func.func private @trace(!t, !t)
func.func private @capture(%x: !t, %in: !t, %out: !t) -> !id {
  %d = "ttnn.get_device"() : () -> !ttnn.device
  %id = "ttnn.begin_trace_capture"(%d) : (!ttnn.device) -> !id
  call @trace(%in, %out) : (!t, !t) -> ()
  "ttnn.end_trace_capture"(%d, %id) : (!ttnn.device, !id) -> ()
  return %id : !id
}
func.func private @execute(!id)
func.func @call(%d: !ttnn.device, %x: !t) -> !t {
  // expected-error@+1 {{'ttnn.capture_or_execute_trace' op 'nowhere' does not reference a function}}
  %r = "ttnn.capture_or_execute_trace"(%d, %x) <{allocate_slots_callee = @nowhere, capture_callee = @capture, device_resident_input_count = 0 : i32, execute_callee = @execute, operandSegmentSizes = array<i32: 1, 1, 0>}> : (!ttnn.device, !t) -> !t
  return %r : !t
}

// -----

!t = tensor<4x8xf32>
!id = tensor<ui32, #ttnn.trace_id>
func.func private @slots(!t) -> (!t, !t)
func.func private @trace(!t, !t)
func.func private @capture(%x: !t, %in: !t, %out: !t) -> !id {
  %d = "ttnn.get_device"() : () -> !ttnn.device
  %id = "ttnn.begin_trace_capture"(%d) : (!ttnn.device) -> !id
  call @trace(%in, %out) : (!t, !t) -> ()
  "ttnn.end_trace_capture"(%d, %id) : (!ttnn.device, !id) -> ()
  return %id : !id
}
func.func private @execute(!id)
func.func @call(%d: !ttnn.device, %x: !t) -> !t {
  // expected-error@+1 {{'ttnn.capture_or_execute_trace' op Slot allocation function 'slots' must take 0 arguments (the device-resident inputs), but has 1}}
  %r = "ttnn.capture_or_execute_trace"(%d, %x) <{allocate_slots_callee = @slots, capture_callee = @capture, device_resident_input_count = 0 : i32, execute_callee = @execute, operandSegmentSizes = array<i32: 1, 1, 0>}> : (!ttnn.device, !t) -> !t
  return %r : !t
}

// -----

!t = tensor<4x8xf32>
!id = tensor<ui32, #ttnn.trace_id>
func.func private @slots() -> !t
func.func private @trace(!t, !t)
func.func private @capture(%x: !t, %in: !t, %out: !t) -> !id {
  %d = "ttnn.get_device"() : () -> !ttnn.device
  %id = "ttnn.begin_trace_capture"(%d) : (!ttnn.device) -> !id
  call @trace(%in, %out) : (!t, !t) -> ()
  "ttnn.end_trace_capture"(%d, %id) : (!ttnn.device, !id) -> ()
  return %id : !id
}
func.func private @execute(!id)
func.func @call(%d: !ttnn.device, %x: !t) -> !t {
  // expected-error@+1 {{'ttnn.capture_or_execute_trace' op Slot allocation function 'slots' must return 2 slots (1 input slots + 1 output slots), but returns 1}}
  %r = "ttnn.capture_or_execute_trace"(%d, %x) <{allocate_slots_callee = @slots, capture_callee = @capture, device_resident_input_count = 0 : i32, execute_callee = @execute, operandSegmentSizes = array<i32: 1, 1, 0>}> : (!ttnn.device, !t) -> !t
  return %r : !t
}

// -----

!t = tensor<4x8xf32>
!id = tensor<ui32, #ttnn.trace_id>
func.func private @slots() -> (!t, tensor<8x4xf32>)
func.func private @trace(!t, !t)
func.func private @capture(%x: !t, %in: !t, %out: !t) -> !id {
  %d = "ttnn.get_device"() : () -> !ttnn.device
  %id = "ttnn.begin_trace_capture"(%d) : (!ttnn.device) -> !id
  call @trace(%in, %out) : (!t, !t) -> ()
  "ttnn.end_trace_capture"(%d, %id) : (!ttnn.device, !id) -> ()
  return %id : !id
}
func.func private @execute(!id)
func.func @call(%d: !ttnn.device, %x: !t) -> !t {
  // expected-error@+1 {{'ttnn.capture_or_execute_trace' op Slot allocation function output slot 0 type mismatch: expected 'tensor<4x8xf32>', but got 'tensor<8x4xf32>'}}
  %r = "ttnn.capture_or_execute_trace"(%d, %x) <{allocate_slots_callee = @slots, capture_callee = @capture, device_resident_input_count = 0 : i32, execute_callee = @execute, operandSegmentSizes = array<i32: 1, 1, 0>}> : (!ttnn.device, !t) -> !t
  return %r : !t
}

// -----

!t = tensor<4x8xf32>
!id = tensor<ui32, #ttnn.trace_id>
func.func private @slots() -> (!t, !t)
func.func private @trace(!t, !t)
func.func private @capture(%x: !t, %in: !t, %out: !t) -> !id {
  %d = "ttnn.get_device"() : () -> !ttnn.device
  %id = "ttnn.begin_trace_capture"(%d) : (!ttnn.device) -> !id
  call @trace(%in, %out) : (!t, !t) -> ()
  "ttnn.end_trace_capture"(%d, %id) : (!ttnn.device, !id) -> ()
  return %id : !id
}
func.func private @execute(!id)
func.func @call(%d: !ttnn.device, %x: !t) -> !t {
  // expected-error@+1 {{'ttnn.capture_or_execute_trace' op Capture function 'trace' must take 3 arguments (1 host-staged inputs + 2 slots + 0 semaphores), but has 2}}
  %r = "ttnn.capture_or_execute_trace"(%d, %x) <{allocate_slots_callee = @slots, capture_callee = @trace, device_resident_input_count = 0 : i32, execute_callee = @execute, operandSegmentSizes = array<i32: 1, 1, 0>}> : (!ttnn.device, !t) -> !t
  return %r : !t
}

// -----

!t = tensor<4x8xf32>
!id = tensor<ui32, #ttnn.trace_id>
func.func private @slots() -> (!t, !t)
func.func private @trace(!t, !t)
func.func private @capture(%x: tensor<8x4xf32>, %in: !t, %out: !t) -> !id {
  %d = "ttnn.get_device"() : () -> !ttnn.device
  %id = "ttnn.begin_trace_capture"(%d) : (!ttnn.device) -> !id
  call @trace(%in, %out) : (!t, !t) -> ()
  "ttnn.end_trace_capture"(%d, %id) : (!ttnn.device, !id) -> ()
  return %id : !id
}
func.func private @execute(!id)
func.func @call(%d: !ttnn.device, %x: !t) -> !t {
  // expected-error@+1 {{'ttnn.capture_or_execute_trace' op Capture function host-staged input argument 0 type mismatch: expected 'tensor<4x8xf32>', but got 'tensor<8x4xf32>'}}
  %r = "ttnn.capture_or_execute_trace"(%d, %x) <{allocate_slots_callee = @slots, capture_callee = @capture, device_resident_input_count = 0 : i32, execute_callee = @execute, operandSegmentSizes = array<i32: 1, 1, 0>}> : (!ttnn.device, !t) -> !t
  return %r : !t
}

// -----

!t = tensor<4x8xf32>
!id = tensor<ui32, #ttnn.trace_id>
func.func private @slots() -> (tensor<8x4xf32>, !t)
func.func private @trace(!t, !t)
func.func private @capture(%x: !t, %in: !t, %out: !t) -> !id {
  %d = "ttnn.get_device"() : () -> !ttnn.device
  %id = "ttnn.begin_trace_capture"(%d) : (!ttnn.device) -> !id
  call @trace(%in, %out) : (!t, !t) -> ()
  "ttnn.end_trace_capture"(%d, %id) : (!ttnn.device, !id) -> ()
  return %id : !id
}
func.func private @execute(!id)
func.func @call(%d: !ttnn.device, %x: !t) -> !t {
  // expected-error@+1 {{'ttnn.capture_or_execute_trace' op Capture function slot argument 0 type mismatch: expected 'tensor<8x4xf32>' from slot allocation function, but got 'tensor<4x8xf32>'}}
  %r = "ttnn.capture_or_execute_trace"(%d, %x) <{allocate_slots_callee = @slots, capture_callee = @capture, device_resident_input_count = 0 : i32, execute_callee = @execute, operandSegmentSizes = array<i32: 1, 1, 0>}> : (!ttnn.device, !t) -> !t
  return %r : !t
}

// -----

!t = tensor<4x8xf32>
!id = tensor<ui32, #ttnn.trace_id>
func.func private @slots() -> (!t, !t)
func.func private @trace(!t, !t)
func.func private @capture(!t, !t, !t)
func.func private @execute(!id)
func.func @call(%d: !ttnn.device, %x: !t) -> !t {
  // expected-error@+1 {{'ttnn.capture_or_execute_trace' op Capture function 'capture' must return exactly one trace_id value, but returns 0}}
  %r = "ttnn.capture_or_execute_trace"(%d, %x) <{allocate_slots_callee = @slots, capture_callee = @capture, device_resident_input_count = 0 : i32, execute_callee = @execute, operandSegmentSizes = array<i32: 1, 1, 0>}> : (!ttnn.device, !t) -> !t
  return %r : !t
}

// -----

!t = tensor<4x8xf32>
!id = tensor<ui32, #ttnn.trace_id>
func.func private @slots() -> (!t, !t)
func.func private @trace(!t, !t)
func.func private @capture(!t, !t, !t) -> tensor<ui32>
func.func private @execute(!id)
func.func @call(%d: !ttnn.device, %x: !t) -> !t {
  // expected-error@+1 {{'ttnn.capture_or_execute_trace' op Capture function 'capture' must return a trace_id tensor (scalar ui32 with TraceIdAttr encoding)}}
  %r = "ttnn.capture_or_execute_trace"(%d, %x) <{allocate_slots_callee = @slots, capture_callee = @capture, device_resident_input_count = 0 : i32, execute_callee = @execute, operandSegmentSizes = array<i32: 1, 1, 0>}> : (!ttnn.device, !t) -> !t
  return %r : !t
}

// -----

!t = tensor<4x8xf32>
!id = tensor<ui32, #ttnn.trace_id>
func.func private @slots() -> (!t, !t)
func.func private @trace(!t, !t)
func.func private @capture(!t, !t, !t) -> !id
func.func private @execute(!id)
func.func @call(%d: !ttnn.device, %x: !t) -> !t {
  // expected-error@+1 {{'ttnn.capture_or_execute_trace' op No trace function found in capture function}}
  %r = "ttnn.capture_or_execute_trace"(%d, %x) <{allocate_slots_callee = @slots, capture_callee = @capture, device_resident_input_count = 0 : i32, execute_callee = @execute, operandSegmentSizes = array<i32: 1, 1, 0>}> : (!ttnn.device, !t) -> !t
  return %r : !t
}

// -----

!t = tensor<4x8xf32>
!id = tensor<ui32, #ttnn.trace_id>
func.func private @slots() -> (!t, !t)
func.func private @trace(!t, !t) -> !t
func.func private @capture(%x: !t, %in: !t, %out: !t) -> !id {
  %d = "ttnn.get_device"() : () -> !ttnn.device
  %id = "ttnn.begin_trace_capture"(%d) : (!ttnn.device) -> !id
  %r = call @trace(%in, %out) : (!t, !t) -> !t
  "ttnn.end_trace_capture"(%d, %id) : (!ttnn.device, !id) -> ()
  return %id : !id
}
func.func private @execute(!id)
func.func @call(%d: !ttnn.device, %x: !t) -> !t {
  // expected-error@+1 {{'ttnn.capture_or_execute_trace' op Trace function 'trace' must return no results; it stores its outputs into the output slot arguments}}
  %r = "ttnn.capture_or_execute_trace"(%d, %x) <{allocate_slots_callee = @slots, capture_callee = @capture, device_resident_input_count = 0 : i32, execute_callee = @execute, operandSegmentSizes = array<i32: 1, 1, 0>}> : (!ttnn.device, !t) -> !t
  return %r : !t
}

// -----

!t = tensor<4x8xf32>
!id = tensor<ui32, #ttnn.trace_id>
func.func private @slots() -> (!t, !t)
func.func private @trace(!t, !t)
func.func private @capture(%x: !t, %in: !t, %out: !t) -> !id {
  %d = "ttnn.get_device"() : () -> !ttnn.device
  %id = "ttnn.begin_trace_capture"(%d) : (!ttnn.device) -> !id
  call @trace(%in, %out) : (!t, !t) -> ()
  "ttnn.end_trace_capture"(%d, %id) : (!ttnn.device, !id) -> ()
  return %id : !id
}
func.func private @execute()
func.func @call(%d: !ttnn.device, %x: !t) -> !t {
  // expected-error@+1 {{'ttnn.capture_or_execute_trace' op Execute function 'execute' must take exactly one trace_id argument, but has 0 arguments}}
  %r = "ttnn.capture_or_execute_trace"(%d, %x) <{allocate_slots_callee = @slots, capture_callee = @capture, device_resident_input_count = 0 : i32, execute_callee = @execute, operandSegmentSizes = array<i32: 1, 1, 0>}> : (!ttnn.device, !t) -> !t
  return %r : !t
}

// -----

!t = tensor<4x8xf32>
!id = tensor<ui32, #ttnn.trace_id>
func.func private @slots() -> (!t, !t)
func.func private @trace(!t, !t)
func.func private @capture(%x: !t, %in: !t, %out: !t) -> !id {
  %d = "ttnn.get_device"() : () -> !ttnn.device
  %id = "ttnn.begin_trace_capture"(%d) : (!ttnn.device) -> !id
  call @trace(%in, %out) : (!t, !t) -> ()
  "ttnn.end_trace_capture"(%d, %id) : (!ttnn.device, !id) -> ()
  return %id : !id
}
func.func private @execute(!t)
func.func @call(%d: !ttnn.device, %x: !t) -> !t {
  // expected-error@+1 {{'ttnn.capture_or_execute_trace' op Execute function 'execute' argument must be a trace_id tensor (scalar ui32 with TraceIdAttr encoding)}}
  %r = "ttnn.capture_or_execute_trace"(%d, %x) <{allocate_slots_callee = @slots, capture_callee = @capture, device_resident_input_count = 0 : i32, execute_callee = @execute, operandSegmentSizes = array<i32: 1, 1, 0>}> : (!ttnn.device, !t) -> !t
  return %r : !t
}
