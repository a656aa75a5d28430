// Operations that the host computes, in a module of its own.

// RUN: ttmlir-opt --split-input-file --ttcore-wrap-device-module --cpu-hoist-manually-tagged %s | FileCheck %s
// RUN: ttmlir-opt --split-input-file --ttcore-mark-functions-as-forward --ttcore-wrap-device-module --const-eval-hoist-transform --cpu-hoist-const-eval %s | FileCheck %s --check-prefix=CONST
// RUN: not ttmlir-opt --split-input-file --cpu-hoist-manually-tagged %s 2>&1 | FileCheck %s --check-prefix=UNWRAPPED
// RUN: ttmlir-opt --split-input-file --ttir-to-ttnn-backend-pipeline="enable-cpu-hoisted-const-eval=true" %s | FileCheck %s --check-prefix=TTNN
// UNWRAPPED: error: there is no ttcore.device_module to move operations to the host from; run ttcore-wrap-device-module before

// Equal operations are one function; narrow floats become wide before, and are again after.
// CHECK-LABEL: func.func @add
// CHECK: %[[F:.*]] = call @cpu_hoisted_ttir_add_[[WIDE:[0-9a-f]+]](%arg0, %arg0) {ttir.cpu_hoisted_call} : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK: ttir.empty() : tensor<5x7xf32>
// CHECK: ttir.to_layout %arg1, %{{.*}} : tensor<5x7xbf16> into tensor<5x7xf32> -> tensor<5x7xf32>
// CHECK: %[[B:.*]] = call @cpu_hoisted_ttir_add_[[WIDE]]({{.*}}) {ttir.cpu_hoisted_call}
// CHECK: ttir.to_layout %[[B]], %{{.*}} : tensor<5x7xf32> into tensor<5x7xbf16> -> tensor<5x7xbf16>
// CHECK: call @cpu_hoisted_ttir_add_[[WHOLE:[0-9a-f]+]](%arg2, %arg2) {ttir.cpu_hoisted_call} : (tensor<5x7xsi32>, tensor<5x7xsi32>) -> tensor<5x7xsi32>
// CHECK: "ttir.add"(%[[F]], %arg0)
// CHECK: func.func private @cpu_hoisted_ttir_add_[[WIDE]](tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32> attributes {func_hash = "[[WIDE]]{{[0-9a-f]*}}", tt.function_type = "forward_cpu_declaration"}
// CHECK-NEXT: func.func private @cpu_hoisted_ttir_add_[[WHOLE]](tensor<5x7xsi32>, tensor<5x7xsi32>) -> tensor<5x7xsi32>
// CHECK: ttcore.cpu_module {
// CHECK-NEXT: builtin.module {
// CHECK-NEXT: func.func @cpu_hoisted_ttir_add_[[WIDE]](%arg0: tensor<5x7xf32> {bufferization.access = "read"}, %arg1: tensor<5x7xf32> {bufferization.access = "read"}) -> tensor<5x7xf32> attributes {arg_ranks = [2, 2], func_hash = {{.*}}, result_ranks = [2], tt.function_type = "forward_cpu"}
// CHECK-NEXT: %[[SUM:.*]] = "ttir.add"(%arg0, %arg1) : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT: return %[[SUM]]
// CHECK: func.func @cpu_hoisted_ttir_add_[[WHOLE]](%arg0: tensor<5x7xi32>
// CONST-LABEL: func.func @add

// Tensors are rows of the host there, and go to the device after.
// TTNN-LABEL: func.func @add
// TTNN: "ttnn.from_device"(%arg0)
// TTNN: call @cpu_hoisted_ttir_add_[[WIDE:[0-9a-f]+]]({{.*}}) {ttir.cpu_hoist_call} : (tensor<5x7xf32, #[[HOST:[a-z0-9_]*]]>, tensor<5x7xf32, #[[HOST]]>) -> tensor<5x7xf32, #[[HOST]]>
// TTNN: "ttnn.to_device"
// TTNN: func.func private @cpu_hoisted_ttir_add_[[WIDE]](tensor<5x7xf32, #[[HOST]]>, tensor<5x7xf32, #[[HOST]]>) -> tensor<5x7xf32, #[[HOST]]>
// TTNN: ttcore.cpu_module
// TTNN: func.func @cpu_hoisted_ttir_add_[[WIDE]](%arg0: tensor<5x7xf32> {bufferization.access = "read"}
// TTNN-NEXT: "ttir.add"(%arg0, %arg1) : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
func.func @add(%a: tensor<5x7xf32>, %b: tensor<5x7xbf16>, %i: tensor<5x7xsi32>)
    -> (tensor<5x7xf32>, tensor<5x7xbf16>, tensor<5x7xsi32>) {
  %0 = "ttir.add"(%a, %a) {ttir.should_hoist} : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %1 = "ttir.add"(%b, %b) {ttir.should_hoist} : (tensor<5x7xbf16>, tensor<5x7xbf16>) -> tensor<5x7xbf16>
  %2 = "ttir.add"(%i, %i) {ttir.should_hoist} : (tensor<5x7xsi32>, tensor<5x7xsi32>) -> tensor<5x7xsi32>
  %3 = "ttir.add"(%0, %a) : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  return %3, %1, %2 : tensor<5x7xf32>, tensor<5x7xbf16>, tensor<5x7xsi32>
}

// -----

// All that a function of constants computes is one function of the host; what only makes numbers
// stays on the device.
// CONST-LABEL: func.func private @constants_const_eval_0()
// CONST-NEXT: "ttir.full"
// CONST-LABEL: func.func private @constants_const_eval_1(%arg0: tensor<3x4xf32>) -> tensor<4x3xf32>
// CONST-NEXT: %[[R:.*]] = call @cpu_hoisted_const_eval_[[HASH:[0-9a-f]+]](%arg0) {ttir.cpu_hoisted_call}
// CONST-NEXT: return %[[R]]
// CONST-LABEL: func.func @constants
// CONST: func.func private @cpu_hoisted_const_eval_[[HASH]](tensor<3x4xf32>) -> tensor<4x3xf32>
// CONST: ttcore.cpu_module
// CONST: func.func @cpu_hoisted_const_eval_[[HASH]](
// CONST-NEXT: %[[E:.*]] = "ttir.exp"(%arg0)
// CONST-NEXT: %[[P:.*]] = "ttir.permute"(%[[E]])
// CONST-NEXT: return %[[P]]
// TTNN-LABEL: func.func private @constants_const_eval_1
// TTNN: call @cpu_hoisted_const_eval_{{[0-9a-f]+}}(%arg0) {ttir.cpu_hoist_call}
// TTNN: ttcore.cpu_module
// CHECK-LABEL: func.func @constants
// CHECK-NOT: ttcore.cpu_module
func.func @constants(%x: tensor<4x3xf32>,
    %w: tensor<3x4xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>})
    -> tensor<4x3xf32> {
  %0 = "ttir.full"() <{fill_value = 2.0 : f32, shape = array<i32: 4, 3>}> : () -> tensor<4x3xf32>
  %1 = "ttir.exp"(%w) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %2 = "ttir.permute"(%1) <{permutation = array<i64: 1, 0>}> : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %3 = "ttir.add"(%x, %0) : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  %4 = "ttir.add"(%3, %2) : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return %4 : tensor<4x3xf32>
}
