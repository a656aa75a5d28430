// 64-bit integers without sign as pairs, as the vendor's compiler stores them.
// RUN: ttmlir-opt --stablehlo-uint64-data-type-conversion %s | FileCheck %s

// CHECK-LABEL: func.func @add_u(
// CHECK-SAME: %[[A0:.*]]: tensor<3x5x2xui32>, %[[A1:.*]]: tensor<3x5x2xui32>) -> tensor<3x5x2xui32>
// CHECK-NEXT: %[[V0:.*]] = stablehlo.transpose %[[A0]], dims = [2, 0, 1] : (tensor<3x5x2xui32>) -> tensor<2x3x5xui32>
// CHECK-NEXT: %[[V1:.*]] = stablehlo.slice %[[V0]] [0:1, 0:3, 0:5] : (tensor<2x3x5xui32>) -> tensor<1x3x5xui32>
// CHECK-NEXT: %[[V2:.*]] = stablehlo.reshape %[[V1]] : (tensor<1x3x5xui32>) -> tensor<3x5xui32>
// CHECK-NEXT: %[[V3:.*]] = stablehlo.slice %[[V0]] [1:2, 0:3, 0:5] : (tensor<2x3x5xui32>) -> tensor<1x3x5xui32>
// CHECK-NEXT: %[[V4:.*]] = stablehlo.reshape %[[V3]] : (tensor<1x3x5xui32>) -> tensor<3x5xui32>
// CHECK-NEXT: %[[V5:.*]] = stablehlo.transpose %[[A1]], dims = [2, 0, 1] : (tensor<3x5x2xui32>) -> tensor<2x3x5xui32>
// CHECK-NEXT: %[[V6:.*]] = stablehlo.slice %[[V5]] [0:1, 0:3, 0:5] : (tensor<2x3x5xui32>) -> tensor<1x3x5xui32>
// CHECK-NEXT: %[[V7:.*]] = stablehlo.reshape %[[V6]] : (tensor<1x3x5xui32>) -> tensor<3x5xui32>
// CHECK-NEXT: %[[V8:.*]] = stablehlo.slice %[[V5]] [1:2, 0:3, 0:5] : (tensor<2x3x5xui32>) -> tensor<1x3x5xui32>
// CHECK-NEXT: %[[V9:.*]] = stablehlo.reshape %[[V8]] : (tensor<1x3x5xui32>) -> tensor<3x5xui32>
// CHECK-NEXT: %[[V10:.*]] = stablehlo.add %[[V2]], %[[V7]] : tensor<3x5xui32>
// CHECK-NEXT: %[[V11:.*]] = stablehlo.and %[[V2]], %[[V7]] : tensor<3x5xui32>
// CHECK-NEXT: %[[V12:.*]] = stablehlo.or %[[V2]], %[[V7]] : tensor<3x5xui32>
// CHECK-NEXT: %[[V13:.*]] = stablehlo.not %[[V10]] : tensor<3x5xui32>
// CHECK-NEXT: %[[V14:.*]] = stablehlo.and %[[V12]], %[[V13]] : tensor<3x5xui32>
// CHECK-NEXT: %[[V15:.*]] = stablehlo.or %[[V11]], %[[V14]] : tensor<3x5xui32>
// CHECK-NEXT: %[[C:.*]] = stablehlo.constant dense<31> : tensor<3x5xui32>
// CHECK-NEXT: %[[V16:.*]] = stablehlo.shift_right_logical %[[V15]], %[[C]] : tensor<3x5xui32>
// CHECK-NEXT: %[[V17:.*]] = stablehlo.add %[[V4]], %[[V9]] : tensor<3x5xui32>
// CHECK-NEXT: %[[V18:.*]] = stablehlo.add %[[V17]], %[[V16]] : tensor<3x5xui32>
// CHECK-NEXT: %[[V19:.*]] = stablehlo.reshape %[[V10]] : (tensor<3x5xui32>) -> tensor<1x3x5xui32>
// CHECK-NEXT: %[[V20:.*]] = stablehlo.reshape %[[V18]] : (tensor<3x5xui32>) -> tensor<1x3x5xui32>
// CHECK-NEXT: %[[V21:.*]] = stablehlo.concatenate %[[V19]], %[[V20]], dim = 0 : (tensor<1x3x5xui32>, tensor<1x3x5xui32>) -> tensor<2x3x5xui32>
// CHECK-NEXT: %[[V22:.*]] = stablehlo.transpose %[[V21]], dims = [1, 2, 0] : (tensor<2x3x5xui32>) -> tensor<3x5x2xui32>
// CHECK-NEXT: return %[[V22]] : tensor<3x5x2xui32>
func.func @add_u(%a0: tensor<3x5xui64>, %a1: tensor<3x5xui64>) -> (tensor<3x5xui64>) {
  %r = stablehlo.add %a0, %a1 : tensor<3x5xui64>
  return %r : tensor<3x5xui64>
}

// CHECK-LABEL: func.func @multiply_u(
// CHECK-SAME: %[[A0:.*]]: tensor<3x5x2xui32>, %[[A1:.*]]: tensor<3x5x2xui32>) -> tensor<3x5x2xui32>
// CHECK-NEXT: %[[V0:.*]] = stablehlo.transpose %[[A1]], dims = [2, 0, 1] : (tensor<3x5x2xui32>) -> tensor<2x3x5xui32>
// CHECK-NEXT: %[[V1:.*]] = stablehlo.slice %[[V0]] [0:1, 0:3, 0:5] : (tensor<2x3x5xui32>) -> tensor<1x3x5xui32>
// CHECK-NEXT: %[[V2:.*]] = stablehlo.reshape %[[V1]] : (tensor<1x3x5xui32>) -> tensor<3x5xui32>
// CHECK-NEXT: %[[V3:.*]] = stablehlo.slice %[[V0]] [1:2, 0:3, 0:5] : (tensor<2x3x5xui32>) -> tensor<1x3x5xui32>
// CHECK-NEXT: %[[V4:.*]] = stablehlo.reshape %[[V3]] : (tensor<1x3x5xui32>) -> tensor<3x5xui32>
// CHECK-NEXT: %[[V5:.*]] = stablehlo.convert %[[V2]] : (tensor<3x5xui32>) -> tensor<3x5xui64>
// CHECK-NEXT: %[[V6:.*]] = stablehlo.transpose %[[A0]], dims = [2, 0, 1] : (tensor<3x5x2xui32>) -> tensor<2x3x5xui32>
// CHECK-NEXT: %[[V7:.*]] = stablehlo.slice %[[V6]] [0:1, 0:3, 0:5] : (tensor<2x3x5xui32>) -> tensor<1x3x5xui32>
// CHECK-NEXT: %[[V8:.*]] = stablehlo.reshape %[[V7]] : (tensor<1x3x5xui32>) -> tensor<3x5xui32>
// CHECK-NEXT: %[[V9:.*]] = stablehlo.slice %[[V6]] [1:2, 0:3, 0:5] : (tensor<2x3x5xui32>) -> tensor<1x3x5xui32>
// CHECK-NEXT: %[[V10:.*]] = stablehlo.reshape %[[V9]] : (tensor<1x3x5xui32>) -> tensor<3x5xui32>
// CHECK-NEXT: %[[V11:.*]] = stablehlo.convert %[[V8]] : (tensor<3x5xui32>) -> tensor<3x5xui64>
// CHECK-NEXT: %[[V12:.*]] = stablehlo.multiply %[[V11]], %[[V5]] : tensor<3x5xui64>
// CHECK-NEXT: %[[V13:.*]] = stablehlo.convert %[[V12]] : (tensor<3x5xui64>) -> tensor<3x5xui32>
// CHECK-NEXT: %[[C:.*]] = stablehlo.constant dense<0> : tensor<3x5xui32>
// CHECK-NEXT: %[[V14:.*]] = stablehlo.reshape %[[V13]] : (tensor<3x5xui32>) -> tensor<1x3x5xui32>
// CHECK-NEXT: %[[V15:.*]] = stablehlo.reshape %[[C]] : (tensor<3x5xui32>) -> tensor<1x3x5xui32>
// CHECK-NEXT: %[[V16:.*]] = stablehlo.concatenate %[[V14]], %[[V15]], dim = 0 : (tensor<1x3x5xui32>, tensor<1x3x5xui32>) -> tensor<2x3x5xui32>
// CHECK-NEXT: %[[V17:.*]] = stablehlo.transpose %[[V16]], dims = [1, 2, 0] : (tensor<2x3x5xui32>) -> tensor<3x5x2xui32>
// CHECK-NEXT: return %[[V17]] : tensor<3x5x2xui32>
func.func @multiply_u(%a0: tensor<3x5xui64>, %a1: tensor<3x5xui64>) -> (tensor<3x5xui64>) {
  %r = stablehlo.multiply %a0, %a1 : tensor<3x5xui64>
  return %r : tensor<3x5xui64>
}

// CHECK-LABEL: func.func @to_f32_u(
// CHECK-SAME: %[[A0:.*]]: tensor<3x5x2xui32>) -> tensor<3x5xf32>
// CHECK-NEXT: %[[V0:.*]] = stablehlo.transpose %[[A0]], dims = [2, 0, 1] : (tensor<3x5x2xui32>) -> tensor<2x3x5xui32>
// CHECK-NEXT: %[[V1:.*]] = stablehlo.slice %[[V0]] [0:1, 0:3, 0:5] : (tensor<2x3x5xui32>) -> tensor<1x3x5xui32>
// CHECK-NEXT: %[[V2:.*]] = stablehlo.reshape %[[V1]] : (tensor<1x3x5xui32>) -> tensor<3x5xui32>
// CHECK-NEXT: %[[V3:.*]] = stablehlo.slice %[[V0]] [1:2, 0:3, 0:5] : (tensor<2x3x5xui32>) -> tensor<1x3x5xui32>
// CHECK-NEXT: %[[V4:.*]] = stablehlo.reshape %[[V3]] : (tensor<1x3x5xui32>) -> tensor<3x5xui32>
// CHECK-NEXT: %[[V5:.*]] = stablehlo.convert %[[V2]] : (tensor<3x5xui32>) -> tensor<3x5xui64>
// CHECK-NEXT: %[[V6:.*]] = stablehlo.convert %[[V5]] : (tensor<3x5xui64>) -> tensor<3x5xf32>
// CHECK-NEXT: return %[[V6]] : tensor<3x5xf32>
func.func @to_f32_u(%a0: tensor<3x5xui64>) -> (tensor<3x5xf32>) {
  %r = stablehlo.convert %a0 : (tensor<3x5xui64>) -> tensor<3x5xf32>
  return %r : tensor<3x5xf32>
}

// CHECK-LABEL: func.func @from_i32_u(
// CHECK-SAME: %[[A0:.*]]: tensor<3x5xi32>) -> tensor<3x5x2xui32>
// CHECK-NEXT: %[[V0:.*]] = stablehlo.convert %[[A0]] : (tensor<3x5xi32>) -> tensor<3x5xui64>
// CHECK-NEXT: %[[V1:.*]] = stablehlo.convert %[[V0]] : (tensor<3x5xui64>) -> tensor<3x5xui32>
// CHECK-NEXT: %[[C:.*]] = stablehlo.constant dense<0> : tensor<3x5xui32>
// CHECK-NEXT: %[[V2:.*]] = stablehlo.reshape %[[V1]] : (tensor<3x5xui32>) -> tensor<1x3x5xui32>
// CHECK-NEXT: %[[V3:.*]] = stablehlo.reshape %[[C]] : (tensor<3x5xui32>) -> tensor<1x3x5xui32>
// CHECK-NEXT: %[[V4:.*]] = stablehlo.concatenate %[[V2]], %[[V3]], dim = 0 : (tensor<1x3x5xui32>, tensor<1x3x5xui32>) -> tensor<2x3x5xui32>
// CHECK-NEXT: %[[V5:.*]] = stablehlo.transpose %[[V4]], dims = [1, 2, 0] : (tensor<2x3x5xui32>) -> tensor<3x5x2xui32>
// CHECK-NEXT: return %[[V5]] : tensor<3x5x2xui32>
func.func @from_i32_u(%a0: tensor<3x5xi32>) -> (tensor<3x5xui64>) {
  %r = stablehlo.convert %a0 : (tensor<3x5xi32>) -> tensor<3x5xui64>
  return %r : tensor<3x5xui64>
}

// CHECK-LABEL: func.func @const2_u(
// CHECK-SAME: ) -> tensor<2x2xui32>
// CHECK-NEXT: %[[C:.*]] = stablehlo.constant dense<{{\[\[}}1, 0], [5, 2]]> : tensor<2x2xui32>
// CHECK-NEXT: return %[[C]] : tensor<2x2xui32>
func.func @const2_u() -> (tensor<2xui64>) {
  %r = stablehlo.constant dense<[1, 8589934597]> : tensor<2xui64>
  return %r : tensor<2xui64>
}

// CHECK-LABEL: func.func @slice_u(
// CHECK-SAME: %[[A0:.*]]: tensor<3x5x2xui32>) -> tensor<2x2x2xui32>
// CHECK-NEXT: %[[V0:.*]] = stablehlo.slice %[[A0]] [1:3, 0:4:2, 0:2] : (tensor<3x5x2xui32>) -> tensor<2x2x2xui32>
// CHECK-NEXT: return %[[V0]] : tensor<2x2x2xui32>
func.func @slice_u(%a0: tensor<3x5xui64>) -> (tensor<2x2xui64>) {
  %r = stablehlo.slice %a0 [1:3, 0:4:2] : (tensor<3x5xui64>) -> tensor<2x2xui64>
  return %r : tensor<2x2xui64>
}

// CHECK-LABEL: func.func @select_u(
// CHECK-SAME: %[[A0:.*]]: tensor<3x5xi1>, %[[A1:.*]]: tensor<3x5x2xui32>, %[[A2:.*]]: tensor<3x5x2xui32>) -> tensor<3x5x2xui32>
// CHECK-NEXT: %[[V0:.*]] = stablehlo.broadcast_in_dim %[[A0]], dims = [0, 1] : (tensor<3x5xi1>) -> tensor<3x5x2xi1>
// CHECK-NEXT: %[[V1:.*]] = stablehlo.select %[[V0]], %[[A1]], %[[A2]] : tensor<3x5x2xi1>, tensor<3x5x2xui32>
// CHECK-NEXT: return %[[V1]] : tensor<3x5x2xui32>
func.func @select_u(%a0: tensor<3x5xi1>, %a1: tensor<3x5xui64>, %a2: tensor<3x5xui64>) -> (tensor<3x5xui64>) {
  %r = stablehlo.select %a0, %a1, %a2 : tensor<3x5xi1>, tensor<3x5xui64>
  return %r : tensor<3x5xui64>
}

// CHECK-LABEL: func.func @bits_u(
// CHECK-SAME: %[[A0:.*]]: tensor<3x5x2xui32>) -> tensor<3x5x2xui32>
// CHECK-NEXT: return %[[A0]] : tensor<3x5x2xui32>
func.func @bits_u(%a0: tensor<3x5xui64>) -> (tensor<3x5x2xui32>) {
  %r = stablehlo.bitcast_convert %a0 : (tensor<3x5xui64>) -> tensor<3x5x2xui32>
  return %r : tensor<3x5x2xui32>
}

// CHECK-LABEL: func.func @rng3_u(
// CHECK-SAME: %[[A0:.*]]: tensor<2x2xui32>) -> tensor<3x5x2xui32>
// CHECK-NEXT: %[[OUTPUT_STATE:.*]], %[[OUTPUT:.*]] = "ttir.rng_bit_generator"(%[[A0]]) <{philox = false}> : (tensor<2x2xui32>) -> (tensor<2x2xui32>, tensor<3x5xui32>)
// CHECK-NEXT: %[[C:.*]] = stablehlo.constant dense<0> : tensor<3x5xui32>
// CHECK-NEXT: %[[V0:.*]] = stablehlo.reshape %[[OUTPUT]] : (tensor<3x5xui32>) -> tensor<1x3x5xui32>
// CHECK-NEXT: %[[V1:.*]] = stablehlo.reshape %[[C]] : (tensor<3x5xui32>) -> tensor<1x3x5xui32>
// CHECK-NEXT: %[[V2:.*]] = stablehlo.concatenate %[[V0]], %[[V1]], dim = 0 : (tensor<1x3x5xui32>, tensor<1x3x5xui32>) -> tensor<2x3x5xui32>
// CHECK-NEXT: %[[V3:.*]] = stablehlo.transpose %[[V2]], dims = [1, 2, 0] : (tensor<2x3x5xui32>) -> tensor<3x5x2xui32>
// CHECK-NEXT: return %[[V3]] : tensor<3x5x2xui32>
func.func @rng3_u(%a0: tensor<2xui64>) -> (tensor<3x5xui64>) {
  %o, %r = stablehlo.rng_bit_generator %a0, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3x5xui64>)
  return %r : tensor<3x5xui64>
}

// CHECK-LABEL: func.func @pad_u(
// CHECK-SAME: %[[A0:.*]]: tensor<3x5x2xui32>) -> tensor<3x6x2xui32>
// CHECK-NEXT: %[[V0:.*]] = stablehlo.transpose %[[A0]], dims = [2, 0, 1] : (tensor<3x5x2xui32>) -> tensor<2x3x5xui32>
// CHECK-NEXT: %[[V1:.*]] = stablehlo.slice %[[V0]] [0:1, 0:3, 0:5] : (tensor<2x3x5xui32>) -> tensor<1x3x5xui32>
// CHECK-NEXT: %[[V2:.*]] = stablehlo.reshape %[[V1]] : (tensor<1x3x5xui32>) -> tensor<3x5xui32>
// CHECK-NEXT: %[[V3:.*]] = stablehlo.slice %[[V0]] [1:2, 0:3, 0:5] : (tensor<2x3x5xui32>) -> tensor<1x3x5xui32>
// CHECK-NEXT: %[[V4:.*]] = stablehlo.reshape %[[V3]] : (tensor<1x3x5xui32>) -> tensor<3x5xui32>
// CHECK-NEXT: %[[V5:.*]] = stablehlo.convert %[[V2]] : (tensor<3x5xui32>) -> tensor<3x5xui64>
// CHECK-NEXT: %[[C:.*]] = stablehlo.constant dense<0> : tensor<2xui32>
// CHECK-NEXT: %[[V6:.*]] = stablehlo.transpose %[[C]], dims = [0] : (tensor<2xui32>) -> tensor<2xui32>
// CHECK-NEXT: %[[V7:.*]] = stablehlo.slice %[[V6]] [0:1] : (tensor<2xui32>) -> tensor<1xui32>
// CHECK-NEXT: %[[V8:.*]] = stablehlo.reshape %[[V7]] : (tensor<1xui32>) -> tensor<ui32>
// CHECK-NEXT: %[[V9:.*]] = stablehlo.slice %[[V6]] [1:2] : (tensor<2xui32>) -> tensor<1xui32>
// CHECK-NEXT: %[[V10:.*]] = stablehlo.reshape %[[V9]] : (tensor<1xui32>) -> tensor<ui32>
// CHECK-NEXT: %[[V11:.*]] = stablehlo.convert %[[V8]] : (tensor<ui32>) -> tensor<ui64>
// CHECK-NEXT: %[[V12:.*]] = stablehlo.pad %[[V5]], %[[V11]], low = [0, 1], high = [0, 0], interior = [0, 0] : (tensor<3x5xui64>, tensor<ui64>) -> tensor<3x6xui64>
// CHECK-NEXT: %[[V13:.*]] = stablehlo.convert %[[V12]] : (tensor<3x6xui64>) -> tensor<3x6xui32>
// CHECK-NEXT: %[[C_0:.*]] = stablehlo.constant dense<0> : tensor<3x6xui32>
// CHECK-NEXT: %[[V14:.*]] = stablehlo.reshape %[[V13]] : (tensor<3x6xui32>) -> tensor<1x3x6xui32>
// CHECK-NEXT: %[[V15:.*]] = stablehlo.reshape %[[C_0]] : (tensor<3x6xui32>) -> tensor<1x3x6xui32>
// CHECK-NEXT: %[[V16:.*]] = stablehlo.concatenate %[[V14]], %[[V15]], dim = 0 : (tensor<1x3x6xui32>, tensor<1x3x6xui32>) -> tensor<2x3x6xui32>
// CHECK-NEXT: %[[V17:.*]] = stablehlo.transpose %[[V16]], dims = [1, 2, 0] : (tensor<2x3x6xui32>) -> tensor<3x6x2xui32>
// CHECK-NEXT: return %[[V17]] : tensor<3x6x2xui32>
func.func @pad_u(%a0: tensor<3x5xui64>) -> (tensor<3x6xui64>) {
  %z = stablehlo.constant dense<0> : tensor<ui64>
  %r = stablehlo.pad %a0, %z, low=[0,1], high=[0,0], interior=[0,0] : (tensor<3x5xui64>, tensor<ui64>) -> tensor<3x6xui64>
  return %r : tensor<3x6xui64>
}

// CHECK-LABEL: func.func @dynslice_u(
// CHECK-SAME: %[[A0:.*]]: tensor<3x5x2xui32>, %[[A1:.*]]: tensor<2xui32>) -> tensor<2x2x2xui32>
// CHECK-NEXT: %[[V0:.*]] = stablehlo.transpose %[[A1]], dims = [0] : (tensor<2xui32>) -> tensor<2xui32>
// CHECK-NEXT: %[[V1:.*]] = stablehlo.slice %[[V0]] [0:1] : (tensor<2xui32>) -> tensor<1xui32>
// CHECK-NEXT: %[[V2:.*]] = stablehlo.reshape %[[V1]] : (tensor<1xui32>) -> tensor<ui32>
// CHECK-NEXT: %[[V3:.*]] = stablehlo.slice %[[V0]] [1:2] : (tensor<2xui32>) -> tensor<1xui32>
// CHECK-NEXT: %[[V4:.*]] = stablehlo.reshape %[[V3]] : (tensor<1xui32>) -> tensor<ui32>
// CHECK-NEXT: %[[V5:.*]] = stablehlo.convert %[[V2]] : (tensor<ui32>) -> tensor<ui64>
// CHECK-NEXT: %[[V6:.*]] = stablehlo.transpose %[[A0]], dims = [2, 0, 1] : (tensor<3x5x2xui32>) -> tensor<2x3x5xui32>
// CHECK-NEXT: %[[V7:.*]] = stablehlo.slice %[[V6]] [0:1, 0:3, 0:5] : (tensor<2x3x5xui32>) -> tensor<1x3x5xui32>
// CHECK-NEXT: %[[V8:.*]] = stablehlo.reshape %[[V7]] : (tensor<1x3x5xui32>) -> tensor<3x5xui32>
// CHECK-NEXT: %[[V9:.*]] = stablehlo.slice %[[V6]] [1:2, 0:3, 0:5] : (tensor<2x3x5xui32>) -> tensor<1x3x5xui32>
// CHECK-NEXT: %[[V10:.*]] = stablehlo.reshape %[[V9]] : (tensor<1x3x5xui32>) -> tensor<3x5xui32>
// CHECK-NEXT: %[[V11:.*]] = stablehlo.convert %[[V8]] : (tensor<3x5xui32>) -> tensor<3x5xui64>
// CHECK-NEXT: %[[V12:.*]] = stablehlo.dynamic_slice %[[V11]], %[[V5]], %[[V5]], sizes = [2, 2] : (tensor<3x5xui64>, tensor<ui64>, tensor<ui64>) -> tensor<2x2xui64>
// CHECK-NEXT: %[[V13:.*]] = stablehlo.convert %[[V12]] : (tensor<2x2xui64>) -> tensor<2x2xui32>
// CHECK-NEXT: %[[C:.*]] = stablehlo.constant dense<0> : tensor<2x2xui32>
// CHECK-NEXT: %[[V14:.*]] = stablehlo.reshape %[[V13]] : (tensor<2x2xui32>) -> tensor<1x2x2xui32>
// CHECK-NEXT: %[[V15:.*]] = stablehlo.reshape %[[C]] : (tensor<2x2xui32>) -> tensor<1x2x2xui32>
// CHECK-NEXT: %[[V16:.*]] = stablehlo.concatenate %[[V14]], %[[V15]], dim = 0 : (tensor<1x2x2xui32>, tensor<1x2x2xui32>) -> tensor<2x2x2xui32>
// CHECK-NEXT: %[[V17:.*]] = stablehlo.transpose %[[V16]], dims = [1, 2, 0] : (tensor<2x2x2xui32>) -> tensor<2x2x2xui32>
// CHECK-NEXT: return %[[V17]] : tensor<2x2x2xui32>
func.func @dynslice_u(%a0: tensor<3x5xui64>, %a1: tensor<ui64>) -> (tensor<2x2xui64>) {
  %r = stablehlo.dynamic_slice %a0, %a1, %a1, sizes=[2,2] : (tensor<3x5xui64>, tensor<ui64>, tensor<ui64>) -> tensor<2x2xui64>
  return %r : tensor<2x2xui64>
}
