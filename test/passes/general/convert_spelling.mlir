// RUN: ttmlir-opt --convert-spelling %s | FileCheck %s
// RUN: ttmlir-opt --convert-spelling %s | ttmlir-opt --convert-spelling=to=2026 | FileCheck %s --check-prefix=LATE

// LATE: "ttir.matmul"(%{{.*}}, %{{.*}}) <{transpose_a = false, transpose_b = false}>
// LATE: "ttir.max_pool2d"(%arg0) <{ceil_mode = false, dilation = array<i32: 1, 1>, kernel = array<i32: 2, 3>, padding = array<i32: 0, 0, 0, 1>, stride = array<i32: 2, 2>}>

// The modules of a device, what frontends say of arguments, and parameters of 2026.

module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x1>]>} {
  ttcore.device_module {
    builtin.module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x1>]>} {
      // CHECK-NOT: ttcore
      // CHECK-LABEL: func.func @transposed(%arg0: tensor<5x7xf32>, %arg1: tensor<9x5xf32>) -> tensor<7x9xf32>
      func.func @transposed(%a: tensor<5x7xf32> {ttcore.argument_type = #ttcore.argument_type<input>}, %b: tensor<9x5xf32>) -> (tensor<7x9xf32> {ttcore.shard_status = #ttcore.shard_status<presharded>}) {
        // CHECK: %[[A:.*]] = "ttir.transpose"(%arg0,
        // CHECK: %[[B:.*]] = "ttir.transpose"(%arg1,
        // CHECK: "ttir.matmul"(%[[A]], %[[B]], %{{.*}}) <{operand_constraints
        %0 = "ttir.matmul"(%a, %b) <{transpose_a = true, transpose_b = true}> : (tensor<5x7xf32>, tensor<9x5xf32>) -> tensor<7x9xf32>
        return %0 : tensor<7x9xf32>
      }
      // CHECK-LABEL: func.func @window
      func.func @window(%a: tensor<1x9x11x3xf32>) -> tensor<1x4x5x3xf32> {
        // CHECK: "ttir.max_pool2d"(%arg0, %{{.*}}) <{ceil_mode = false, dilation_height = 1 : si32, dilation_width = 1 : si32, kernel_height = 2 : si32, kernel_width = 3 : si32
        // CHECK-SAME: padding_bottom = 0 : si32, padding_left = 0 : si32, padding_right = 1 : si32, padding_top = 0 : si32
        // CHECK-SAME: stride_height = 2 : si32, stride_width = 2 : si32
        %0 = "ttir.max_pool2d"(%a) <{ceil_mode = false, dilation = 1 : i32, kernel = array<i32: 2, 3>, padding = array<i32: 0, 0, 0, 1>, stride = array<i32: 2, 2>}> : (tensor<1x9x11x3xf32>) -> tensor<1x4x5x3xf32>
        return %0 : tensor<1x4x5x3xf32>
      }
      // CHECK-LABEL: func.func @norm
      func.func @norm(%a: tensor<4x33xf32>, %w: tensor<33xf32>) -> tensor<4x33xf32> {
        // CHECK: "ttir.mean"
        // CHECK: "ttir.rsqrt"
        // CHECK-NOT: rms_norm
        %0 = "ttir.rms_norm"(%a, %w) <{epsilon = 1.0e-05 : f32, normalized_shape = array<i64: 33>, operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<4x33xf32>, tensor<33xf32>) -> tensor<4x33xf32>
        return %0 : tensor<4x33xf32>
      }
      // CHECK-LABEL: func.func @loop
      func.func @loop(%a: tensor<4xf32>) -> tensor<4xf32> {
        // CHECK: "ttir.while"(%arg0) <{body = @body, trip_count = 3 : i64}>
        %0 = "ttcore.while_loop"(%a) <{body_program = @body, initial = #ttcore.loop_bound<0>, limit = #ttcore.loop_bound<5>, output_indices = array<i32: 0>, state_count = 1 : i32, step = #ttcore.loop_bound<2>}> : (tensor<4xf32>) -> tensor<4xf32>
        return %0 : tensor<4xf32>
      }
      func.func private @body(%a: tensor<4xf32>) -> tensor<4xf32> {
        %0 = "ttir.exp"(%a) : (tensor<4xf32>) -> tensor<4xf32>
        return %0 : tensor<4xf32>
      }
    }
  }
}
