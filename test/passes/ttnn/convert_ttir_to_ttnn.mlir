// Operations of ttir and what they become in ttnn.
// RUN: ttmlir-opt --ttir-load-system-desc --ttir-implicit-device --ttir-layout --convert-ttir-to-ttnn %s | FileCheck %s
// RUN: ttmlir-opt --ttir-load-system-desc --ttir-implicit-device --ttir-layout --convert-ttir-to-ttnn --mlir-print-debuginfo --mlir-print-local-scope %s | FileCheck %s --check-prefix=LOC

#any_device = #tt.operand_constraint<any_device>
#sharded = #tt.operand_constraint<l1_block_sharded>
#bare_l1 = #tt.operand_constraint<l1|tile>

// The device is asked for once, where it is first needed.
// CHECK-LABEL: func.func @device_once(
// CHECK-NEXT: "ttnn.get_device"() : () -> !tt.device<#device>
// CHECK-NOT: "ttnn.get_device"
// CHECK: return
// LOC-LABEL: func.func @device_once(
// LOC: "ttnn.get_device"{{.*}} loc("the first one")
// LOC: "ttnn.to_memory_config"{{.*}} loc("the end")
func.func @device_once(%a: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %0 = tensor.empty() : tensor<5x7xf32>
  %1 = "ttir.abs"(%a, %0) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any_device, #any_device]}> : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32> loc("the first one")
  return %1 : tensor<5x7xf32> loc("the end")
}

// CHECK-LABEL: func.func @device_never(
// CHECK-NEXT: return
func.func @device_never(%a: tensor<5x7xf32>) -> tensor<5x7xf32> {
  return %a : tensor<5x7xf32>
}

// A device that the function asks for already is used.
// CHECK-LABEL: func.func @device_there(
// CHECK: %[[DEVICE:.*]] = "ttnn.get_device"
// CHECK-NOT: "ttnn.get_device"
// CHECK: "ttnn.empty"(%[[DEVICE]])
func.func @device_there(%a: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %d = "ttnn.get_device"() : () -> !tt.device<<workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>, l1Map = (d0, d1)[s0, s1] -> (0, d0, d1, s0), dramMap = (d0, d1)[s0, s1] -> (0, d0, d1, s0), meshShape = , chipIds = [0]>>
  %0 = tensor.empty() : tensor<5x7xf32>
  %1 = "ttir.abs"(%a, %0) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any_device, #any_device]}> : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  return %1 : tensor<5x7xf32>
}

// CHECK-LABEL: func.func @memories(
// CHECK: "ttnn.to_device"{{.*}}memory_config = #ttnn.memory_config<<block_sharded>, <l1>>
// CHECK: "ttnn.to_device"{{.*}}memory_config = #ttnn.memory_config<<interleaved>, <l1>>
func.func @memories(%a: tensor<64x96xf32>) -> tensor<64x96xf32> {
  %0 = tensor.empty() : tensor<64x96xf32>
  %1 = "ttir.abs"(%a, %0) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#sharded, #sharded]}> : (tensor<64x96xf32>, tensor<64x96xf32>) -> tensor<64x96xf32>
  %2 = tensor.empty() : tensor<64x96xf32>
  %3 = "ttir.exp"(%1, %2) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#bare_l1, #bare_l1]}> : (tensor<64x96xf32>, tensor<64x96xf32>) -> tensor<64x96xf32>
  return %3 : tensor<64x96xf32>
}

// Parameters stay, constraints go; dimensions of concatenations count from the front.
// CHECK-LABEL: func.func @parameters(
// CHECK: "ttnn.softmax"(%{{.*}}) <{dimension = -1 : si32}>
// CHECK: "ttnn.concat"(%{{.*}}) <{dim = 1 : si32}>
// CHECK: "ttnn.clamp"(%{{.*}}) <{max = 1.000000e+00 : f32, min = -5.000000e-01 : f32, operandSegmentSizes = array<i32: 1, 1>}>
// CHECK: "ttnn.permute"(%{{.*}}) <{permutation = array<i64: 1, 0>}>
// CHECK: "ttnn.sum"(%{{.*}}) <{keep_dim = false}>
func.func @parameters(%a: tensor<5x7xf32>) -> tensor<1xf32> {
  %0 = tensor.empty() : tensor<5x7xf32>
  %1 = "ttir.softmax"(%a, %0) <{dimension = -1 : si32, operand_constraints = [#any_device, #any_device]}> : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %2 = tensor.empty() : tensor<5x14xf32>
  %3 = "ttir.concat"(%1, %a, %2) <{dim = -1 : si32, operand_constraints = [#any_device, #any_device, #any_device]}> : (tensor<5x7xf32>, tensor<5x7xf32>, tensor<5x14xf32>) -> tensor<5x14xf32>
  %4 = tensor.empty() : tensor<5x14xf32>
  %5 = "ttir.clamp"(%3, %4) <{min = -0.5 : f32, max = 1.0 : f32, operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any_device, #any_device]}> : (tensor<5x14xf32>, tensor<5x14xf32>) -> tensor<5x14xf32>
  %6 = tensor.empty() : tensor<14x5xf32>
  %7 = "ttir.permute"(%5, %6) <{permutation = array<i64: 1, 0>, operand_constraints = [#any_device, #any_device]}> : (tensor<5x14xf32>, tensor<14x5xf32>) -> tensor<14x5xf32>
  %8 = tensor.empty() : tensor<1xf32>
  %9 = "ttir.sum"(%7, %8) <{keep_dim = false, operand_constraints = [#any_device, #any_device]}> : (tensor<14x5xf32>, tensor<1xf32>) -> tensor<1xf32>
  return %9 : tensor<1xf32>
}

// CHECK-LABEL: func.func @dimensions_of_one(
// CHECK: "ttnn.reshape"(%{{.*}}) <{shape = [5 : i32, 7 : i32, 1 : i32]}>
// CHECK: "ttnn.reshape"(%{{.*}}) <{shape = [5 : i32, 7 : i32]}>
func.func @dimensions_of_one(%a: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %0 = tensor.empty() : tensor<5x7x1xf32>
  %1 = "ttir.unsqueeze"(%a, %0) <{dim = -1 : si32, operand_constraints = [#any_device, #any_device]}> : (tensor<5x7xf32>, tensor<5x7x1xf32>) -> tensor<5x7x1xf32>
  %2 = tensor.empty() : tensor<5x7xf32>
  %3 = "ttir.squeeze"(%1, %2) <{dim = 2 : si32, operand_constraints = [#any_device, #any_device]}> : (tensor<5x7x1xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  return %3 : tensor<5x7xf32>
}

// Zeros are empty memory for the types for which tt-mlir does so; one value is filled in where a 32-bit
// float holds it; anything else carries its elements.
// CHECK-LABEL: func.func @constants(
// CHECK-DAG: "ttnn.empty"(%{{.*}}) : {{.*}} -> tensor<3x5xf32,
// CHECK-DAG: "ttnn.full"(%{{.*}}) <{fillValue = -2.500000e+00 : f32}> : {{.*}} -> tensor<3x5xbf16,
// CHECK-DAG: "ttnn.full"(%{{.*}}) <{fillValue = 1.000000e+00 : f32}> : {{.*}} -> tensor<3x5xi1,
// CHECK-DAG: "ttnn.constant"(%{{.*}}) <{value = dense<16777217> : tensor<3x5xi32>}>
// CHECK-DAG: "ttnn.constant"(%{{.*}}) <{value = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>}>
func.func @constants() -> (tensor<3x5xf32>, tensor<3x5xbf16>, tensor<3x5xi1>, tensor<3x5xi32>, tensor<2xf32>) {
  %0 = "ttir.constant"() <{value = dense<0.0> : tensor<3x5xf32>}> : () -> tensor<3x5xf32>
  %1 = "ttir.constant"() <{value = dense<-2.5> : tensor<3x5xbf16>}> : () -> tensor<3x5xbf16>
  %2 = "ttir.constant"() <{value = dense<true> : tensor<3x5xi1>}> : () -> tensor<3x5xi1>
  %3 = "ttir.constant"() <{value = dense<16777217> : tensor<3x5xi32>}> : () -> tensor<3x5xi32>
  %4 = "ttir.constant"() <{value = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  return %0, %1, %2, %3, %4 : tensor<3x5xf32>, tensor<3x5xbf16>, tensor<3x5xi1>, tensor<3x5xi32>, tensor<2xf32>
}

// Addition repeats the row by itself; a sum gets every repetition.
// CHECK-LABEL: func.func @broadcasts(
// CHECK: %[[ROW:.*]] = "ttnn.to_device"
// CHECK: %[[WHOLE:.*]] = "ttnn.repeat"(%[[ROW]], %{{.*}}) <{repeat_dimensions = array<i64: 5, 1>}>
// CHECK: "ttnn.add"(%[[ROW]], %{{.*}}, %{{.*}})
// CHECK: "ttnn.sum"(%[[WHOLE]],
func.func @broadcasts(%row: tensor<1x7xf32>, %x: tensor<5x7xf32>) -> (tensor<5x7xf32>, tensor<1x7xf32>) {
  %0 = tensor.empty() : tensor<5x7xf32>
  %1 = "ttir.broadcast"(%row, %0) <{dimension = [0, 1], operand_constraints = [#any_device, #any_device]}> : (tensor<1x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %2 = tensor.empty() : tensor<5x7xf32>
  %3 = "ttir.add"(%1, %x, %2) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any_device, #any_device, #any_device]}> : (tensor<5x7xf32>, tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %4 = tensor.empty() : tensor<1x7xf32>
  %5 = "ttir.sum"(%1, %4) <{dim_arg = [0 : i32], keep_dim = true, operand_constraints = [#any_device, #any_device]}> : (tensor<5x7xf32>, tensor<1x7xf32>) -> tensor<1x7xf32>
  return %3, %5 : tensor<5x7xf32>, tensor<1x7xf32>
}

// An image without a batch is a batch of one; the numbers are 32-bit integers without sign.
// CHECK-LABEL: func.func @image(
// CHECK: "ttnn.conv2d"(%{{.*}}) <{batch_size = 1 : i32, dilation_height = 1 : i32, dilation_width = 2 : i32, groups = 1 : i32, in_channels = 3 : i32, input_height = 8 : i32, input_width = 9 : i32, kernel_height = 3 : i32, kernel_width = 2 : i32, out_channels = 4 : i32, padding_height = 1 : i32, padding_width = 0 : i32, stride_height = 2 : i32, stride_width = 1 : i32}>
func.func @image(%image: tensor<8x9x3xf32>, %weight: tensor<4x3x3x2xf32>) -> tensor<4x7x4xf32> {
  %0 = tensor.empty() : tensor<4x7x4xf32>
  %1 = "ttir.conv2d"(%image, %weight, %0) <{dilation_height = 1 : si32, dilation_width = 2 : si32, groups = 1 : si32, operand_constraints = [#any_device, #any_device, #any_device], padding_bottom = 1 : si32, padding_left = 0 : si32, padding_right = 0 : si32, padding_top = 1 : si32, stride_height = 2 : si32, stride_width = 1 : si32}> : (tensor<8x9x3xf32>, tensor<4x3x3x2xf32>, tensor<4x7x4xf32>) -> tensor<4x7x4xf32>
  return %1 : tensor<4x7x4xf32>
}

// Numbers that count need no operand.
// CHECK-LABEL: func.func @counting(
// CHECK: "ttnn.arange"(%{{.*}}) <{arange_dimension = 1 : i64, end = 10 : si64, start = 0 : si64, step = 2 : si64}>
func.func @counting() -> tensor<3x5xf32> {
  %0 = "ttir.arange"() <{arange_dimension = 1 : i64, end = 10 : si64, start = 0 : si64, step = 2 : si64}> : () -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}
