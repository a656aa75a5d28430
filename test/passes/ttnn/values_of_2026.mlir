// Each pass of the pipeline from ttir to ttnn of 2026, by its own name.

// RUN: ttmlir-opt --ttcore-mark-functions-as-forward %s | FileCheck %s --check-prefix=MARK
// MARK: func.func @main{{.*}}attributes {tt.function_type = "forward_device"}

// RUN: ttmlir-opt --ttir-element-type-normalization %s | FileCheck %s --check-prefix=TYPES
// TYPES: func.func @main(%arg0: tensor<33x70xf32>, %arg1: tensor<1x70xbf16>)

// RUN: ttmlir-opt --ttcore-register-device="system-desc-path=p150" %s | FileCheck %s --check-prefix=DEVICE
// DEVICE: arch = <blackhole>, grid = 10x13
// DEVICE: ttcore.device @default_device = <workerGrid = #ttcore.grid<10x13

// RUN: ttmlir-opt --ttcore-register-device="mock-system-desc-arch=wormhole_b0" %s | FileCheck %s --check-prefix=MOCK
// MOCK: arch = <wormhole_b0>, grid = 8x8

// RUN: ttmlir-opt --ttir-implicit-broadcast-fold %s | FileCheck %s --check-prefix=BROADCAST
// BROADCAST-NOT: ttir.broadcast
// BROADCAST: "ttir.where"(%arg1, %{{.*}}, %arg0)

// RUN: ttmlir-opt --ttir-fold-full-to-scalar %s | FileCheck %s --check-prefix=FULL
// FULL: "ttir.full"() <{fill_value = 2.000000e+00 : f32, shape = array<i32: 1, 1>}>

// RUN: ttmlir-opt --ttcore-mark-functions-as-forward --const-eval-hoist-transform %s | FileCheck %s --check-prefix=CONST
// CONST: func.func private @main_const_eval_0() -> tensor<33x70xf32> attributes {tt.function_type = "const_eval"}
// CONST: func.func @main
// CONST: ttcore.load_cached(@main_const_eval_0, [])

// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline="system-desc-path=p150" %s | FileCheck %s --check-prefix=TTNN
// TTNN: ttnn.l1_const_eval_usage = 1024 : ui64
// TTNN: func.func private @main_const_eval_0() -> tensor<1x1xf32, #ttnn_layout
// TTNN: "ttnn.get_device"() <{mesh_offset = #ttnn<mesh_offset 0x0>, mesh_shape = #ttnn<mesh_shape 1x1>}>
// TTNN: "ttnn.full"(%0) <{fill_value = 2.000000e+00 : f32, shape = #ttnn.shape<1x1>}>
// TTNN: func.func @main
// TTNN: "ttnn.to_layout"(%arg1)
// TTNN: "ttnn.deallocate"(%arg1) <{force = false}>
// TTNN: "ttnn.where"
// TTNN: return

// RUN: ttmlir-opt --ttir-to-ttnn-common-pipeline="enable-const-eval=false" --ttnn-common-to-runtime-pipeline %s | FileCheck %s --check-prefix=PLAIN
// PLAIN-NOT: load_cached
// PLAIN: "ttnn.full"
// PLAIN-NOT: load_cached

// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline="spelling=2024" %s | FileCheck %s --check-prefix=EARLY
// EARLY: #tt.layout
// EARLY: "ttnn.empty"
module {
  func.func @main(%a: tensor<33x70xf32>, %b: tensor<1x70xi1>) -> tensor<33x70xf32> {
    %0 = "ttir.constant"() <{value = dense<2.0> : tensor<33x70xf32>}> : () -> tensor<33x70xf32>
    %1 = "ttir.broadcast"(%b) <{broadcast_dimensions = array<i64: 33, 1>}> : (tensor<1x70xi1>) -> tensor<33x70xi1>
    %2 = "ttir.where"(%1, %0, %a) : (tensor<33x70xi1>, tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
    return %2 : tensor<33x70xf32>
  }
}
