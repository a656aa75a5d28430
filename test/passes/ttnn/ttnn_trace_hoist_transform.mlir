// Programs that the device records at the first call and does again at others.

// RUN: ttmlir-opt --split-input-file --ttir-to-ttnn-backend-pipeline="enable-trace=true enable-cpu-hoisted-const-eval=false" %s | FileCheck %s
// RUN: ttmlir-opt --split-input-file --ttir-to-ttnn-backend-pipeline="enable-trace=true enable-const-eval=false" %s | FileCheck %s --check-prefix=ANEW

// What is computed once stays on the device; inputs are written to slots there.
// CHECK-LABEL: func.func private @forward_const_eval_1
// CHECK-LABEL: func.func private @trace_0_forward(
// CHECK-SAME: %arg0: tensor<1x1xbf16, #{{[a-z0-9_]*}}> {ttcore.argument_type = #ttcore.argument_type<constant>}
// CHECK-SAME: %arg1: tensor<64x32xbf16, #{{[a-z0-9_]*}}> {ttcore.argument_type = #ttcore.argument_type<constant>}
// CHECK-SAME: %arg2: tensor<32x64xbf16, #{{[a-z0-9_]*}}> {ttcore.argument_type = #ttcore.argument_type<input>}
// CHECK-SAME: %arg3: tensor<32x32xbf16, #{{[a-z0-9_]*}}>) attributes {tt.function_type = "trace_main"}
// CHECK: %[[SUM:.*]] = "ttnn.add"
// CHECK: "ttnn.copy"(%[[SUM]], %arg3)
// CHECK: "ttnn.deallocate"(%[[SUM]])
// CHECK-NEXT: return
// CHECK-LABEL: func.func private @allocate_slots_trace_0_forward(
// CHECK-SAME: attributes {tt.function_type = "trace_allocate_slots"}
// CHECK: "ttnn.empty"({{.*}}) <{shape = #ttnn.shape<32x64>}>
// CHECK: "ttnn.empty"({{.*}}) <{shape = #ttnn.shape<32x32>}>
// CHECK-NEXT: return %arg0, %arg1, %1, %2
// CHECK-LABEL: func.func private @run_and_capture_trace_0_forward(
// CHECK-SAME: -> tensor<ui32, #ttnn.trace_id> attributes {tt.function_type = "trace_run_and_capture"}
// CHECK: "ttnn.write_tensor"(%arg0, %arg3) <{blocking = false, cq_id = 0 : ui32}>
// CHECK-NEXT: call @trace_0_forward(%arg1, %arg2, %arg3, %arg4)
// CHECK-NEXT: %[[ID:.*]] = "ttnn.begin_trace_capture"(%[[DEVICE:.*]]) <{cq_id = 0 : ui32}> : (!ttnn.device) -> tensor<ui32, #ttnn.trace_id>
// CHECK-NEXT: call @trace_0_forward(%arg1, %arg2, %arg3, %arg4)
// CHECK-NEXT: "ttnn.end_trace_capture"(%[[DEVICE]], %[[ID]]) <{cq_id = 0 : ui32}>
// CHECK-NEXT: "ttnn.execute_trace"(%[[DEVICE]], %[[ID]]) <{blocking = false, cq_id = 0 : ui32}>
// CHECK-NEXT: return %[[ID]]
// CHECK-LABEL: func.func private @execute_trace_0_forward(%arg0: tensor<ui32, #ttnn.trace_id>) attributes {tt.function_type = "trace_execute"}
// CHECK: "ttnn.execute_trace"
// CHECK-LABEL: func.func @forward(
// CHECK: %[[ONE:.*]] = ttcore.load_cached(@forward_const_eval_0, [])
// CHECK: %[[W:.*]] = ttcore.load_cached(@forward_const_eval_1, [%arg1])
// CHECK: "ttnn.capture_or_execute_trace"(%{{.*}}, %[[ONE]], %[[W]], %arg0) <{allocate_slots_callee = @allocate_slots_trace_0_forward, capture_callee = @run_and_capture_trace_0_forward, device_resident_input_count = 2 : i32, execute_callee = @execute_trace_0_forward, operandSegmentSizes = array<i32: 1, 3, 0>}>

// Parameters stay where they are; a tensor that nothing is needed for is made before.
// ANEW-NOT: load_cached
// ANEW-LABEL: func.func private @trace_0_forward(
// ANEW-SAME: %arg0: tensor<64x32xbf16, #{{.*}}> {ttcore.argument_type = #ttcore.argument_type<parameter>}
// ANEW-LABEL: func.func @forward(
// ANEW: %[[ONE:.*]] = "ttnn.full"
// ANEW: "ttnn.capture_or_execute_trace"(%{{.*}}, %arg1, %arg0, %[[ONE]]) <{{.*}}device_resident_input_count = 1 : i32{{.*}}operandSegmentSizes = array<i32: 1, 3, 0>
func.func @forward(
    %x: tensor<32x64xbf16> {ttcore.argument_type = #ttcore.argument_type<input>},
    %w: tensor<64x32xbf16> {ttcore.argument_type = #ttcore.argument_type<parameter>})
    -> tensor<32x32xbf16> {
  %0 = "ttir.matmul"(%x, %w) <{transpose_a = false, transpose_b = false}> : (tensor<32x64xbf16>, tensor<64x32xbf16>) -> tensor<32x32xbf16>
  %1 = "ttir.full"() <{fill_value = 1.0 : f32, shape = array<i32: 32, 32>}> : () -> tensor<32x32xbf16>
  %2 = "ttir.add"(%0, %1) : (tensor<32x32xbf16>, tensor<32x32xbf16>) -> tensor<32x32xbf16>
  return %2 : tensor<32x32xbf16>
}

// -----

// A program that only hands on what is there records nothing.
// CHECK-LABEL: func.func @nothing
// CHECK-NOT: capture_or_execute_trace
// ANEW-LABEL: func.func @nothing
// ANEW-NOT: capture_or_execute_trace
func.func @nothing() -> tensor<32x32xbf16> {
  %0 = "ttir.full"() <{fill_value = 1.0 : f32, shape = array<i32: 32, 32>}> : () -> tensor<32x32xbf16>
  return %0 : tensor<32x32xbf16>
}

// -----

// A convolution is not recorded, neither is the move of its weight to the host: what comes before,
// between and after are recordings of their own.
// ANEW-LABEL: func.func private @trace_0_image(
// CHECK-LABEL: func.func private @trace_0_image(
// CHECK: "ttnn.reshape"
// CHECK-LABEL: func.func private @trace_1_image(
// CHECK: "ttnn.to_layout"
// CHECK-LABEL: func.func private @trace_2_image(
// CHECK: "ttnn.reshape"
// CHECK-LABEL: func.func @image
// CHECK: "ttnn.capture_or_execute_trace"({{.*}}@allocate_slots_trace_0_image
// CHECK: "ttnn.from_device"
// CHECK: "ttnn.capture_or_execute_trace"({{.*}}@allocate_slots_trace_1_image
// CHECK: "ttnn.conv2d"
// CHECK: "ttnn.capture_or_execute_trace"({{.*}}@allocate_slots_trace_2_image
func.func @image(%x: tensor<1x9x11x3xbf16>, %w: tensor<5x3x3x3xbf16>) -> tensor<1x9x11x5xbf16> {
  %0 = "ttir.abs"(%w) : (tensor<5x3x3x3xbf16>) -> tensor<5x3x3x3xbf16>
  %1 = "ttir.conv2d"(%x, %0) <{stride = 1 : i32, padding = 1 : i32, dilation = 1 : i32, groups = 1 : i32}> : (tensor<1x9x11x3xbf16>, tensor<5x3x3x3xbf16>) -> tensor<1x9x11x5xbf16>
  return %1 : tensor<1x9x11x5xbf16>
}
