// Complex numbers as pairs, as the vendor's compiler stores them.
// RUN: ttmlir-opt --stablehlo-complex-data-type-conversion %s | FileCheck %s

// CHECK-LABEL: func.func @real_c(
// CHECK-SAME: %[[A0:.*]]: tensor<3x5x2xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: %[[V0:.*]] = stablehlo.transpose %[[A0]], dims = [2, 0, 1] : (tensor<3x5x2xf32>) -> tensor<2x3x5xf32>
// CHECK-NEXT: %[[V1:.*]] = stablehlo.slice %[[V0]] [0:1, 0:3, 0:5] : (tensor<2x3x5xf32>) -> tensor<1x3x5xf32>
// CHECK-NEXT: %[[V2:.*]] = stablehlo.reshape %[[V1]] : (tensor<1x3x5xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: return %[[V2]] : tensor<3x5xf32>
func.func @real_c(%a0: tensor<3x5xcomplex<f32>>) -> (tensor<3x5xf32>) {
  %r = stablehlo.real %a0 : (tensor<3x5xcomplex<f32>>) -> tensor<3x5xf32>
  return %r : tensor<3x5xf32>
}

// CHECK-LABEL: func.func @complex_c(
// CHECK-SAME: %[[A0:.*]]: tensor<3x5xf32>, %[[A1:.*]]: tensor<3x5xf32>) -> tensor<3x5x2xf32>
// CHECK-NEXT: %[[V0:.*]] = stablehlo.reshape %[[A0]] : (tensor<3x5xf32>) -> tensor<1x3x5xf32>
// CHECK-NEXT: %[[V1:.*]] = stablehlo.reshape %[[A1]] : (tensor<3x5xf32>) -> tensor<1x3x5xf32>
// CHECK-NEXT: %[[V2:.*]] = stablehlo.concatenate %[[V0]], %[[V1]], dim = 0 : (tensor<1x3x5xf32>, tensor<1x3x5xf32>) -> tensor<2x3x5xf32>
// CHECK-NEXT: %[[V3:.*]] = stablehlo.transpose %[[V2]], dims = [1, 2, 0] : (tensor<2x3x5xf32>) -> tensor<3x5x2xf32>
// CHECK-NEXT: return %[[V3]] : tensor<3x5x2xf32>
func.func @complex_c(%a0: tensor<3x5xf32>, %a1: tensor<3x5xf32>) -> (tensor<3x5xcomplex<f32>>) {
  %r = stablehlo.complex %a0, %a1 : tensor<3x5xcomplex<f32>>
  return %r : tensor<3x5xcomplex<f32>>
}

// CHECK-LABEL: func.func @add_c(
// CHECK-SAME: %[[A0:.*]]: tensor<3x5x2xf32>, %[[A1:.*]]: tensor<3x5x2xf32>) -> tensor<3x5x2xf32>
// CHECK-NEXT: %[[V0:.*]] = stablehlo.add %[[A0]], %[[A1]] : tensor<3x5x2xf32>
// CHECK-NEXT: return %[[V0]] : tensor<3x5x2xf32>
func.func @add_c(%a0: tensor<3x5xcomplex<f32>>, %a1: tensor<3x5xcomplex<f32>>) -> (tensor<3x5xcomplex<f32>>) {
  %r = stablehlo.add %a0, %a1 : tensor<3x5xcomplex<f32>>
  return %r : tensor<3x5xcomplex<f32>>
}

// CHECK-LABEL: func.func @divide_c(
// CHECK-SAME: %[[A0:.*]]: tensor<3x5x2xf32>, %[[A1:.*]]: tensor<3x5x2xf32>) -> tensor<3x5x2xf32>
// CHECK-NEXT: %[[V0:.*]] = stablehlo.transpose %[[A0]], dims = [2, 0, 1] : (tensor<3x5x2xf32>) -> tensor<2x3x5xf32>
// CHECK-NEXT: %[[V1:.*]] = stablehlo.slice %[[V0]] [0:1, 0:3, 0:5] : (tensor<2x3x5xf32>) -> tensor<1x3x5xf32>
// CHECK-NEXT: %[[V2:.*]] = stablehlo.reshape %[[V1]] : (tensor<1x3x5xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: %[[V3:.*]] = stablehlo.slice %[[V0]] [1:2, 0:3, 0:5] : (tensor<2x3x5xf32>) -> tensor<1x3x5xf32>
// CHECK-NEXT: %[[V4:.*]] = stablehlo.reshape %[[V3]] : (tensor<1x3x5xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: %[[V5:.*]] = stablehlo.transpose %[[A1]], dims = [2, 0, 1] : (tensor<3x5x2xf32>) -> tensor<2x3x5xf32>
// CHECK-NEXT: %[[V6:.*]] = stablehlo.slice %[[V5]] [0:1, 0:3, 0:5] : (tensor<2x3x5xf32>) -> tensor<1x3x5xf32>
// CHECK-NEXT: %[[V7:.*]] = stablehlo.reshape %[[V6]] : (tensor<1x3x5xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: %[[V8:.*]] = stablehlo.slice %[[V5]] [1:2, 0:3, 0:5] : (tensor<2x3x5xf32>) -> tensor<1x3x5xf32>
// CHECK-NEXT: %[[V9:.*]] = stablehlo.reshape %[[V8]] : (tensor<1x3x5xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: %[[V10:.*]] = stablehlo.multiply %[[V2]], %[[V7]] : tensor<3x5xf32>
// CHECK-NEXT: %[[V11:.*]] = stablehlo.multiply %[[V4]], %[[V9]] : tensor<3x5xf32>
// CHECK-NEXT: %[[V12:.*]] = stablehlo.multiply %[[V4]], %[[V7]] : tensor<3x5xf32>
// CHECK-NEXT: %[[V13:.*]] = stablehlo.multiply %[[V2]], %[[V9]] : tensor<3x5xf32>
// CHECK-NEXT: %[[V14:.*]] = stablehlo.multiply %[[V7]], %[[V7]] : tensor<3x5xf32>
// CHECK-NEXT: %[[V15:.*]] = stablehlo.multiply %[[V9]], %[[V9]] : tensor<3x5xf32>
// CHECK-NEXT: %[[V16:.*]] = stablehlo.add %[[V14]], %[[V15]] : tensor<3x5xf32>
// CHECK-NEXT: %[[V17:.*]] = stablehlo.add %[[V10]], %[[V11]] : tensor<3x5xf32>
// CHECK-NEXT: %[[V18:.*]] = stablehlo.subtract %[[V12]], %[[V13]] : tensor<3x5xf32>
// CHECK-NEXT: %[[V19:.*]] = stablehlo.divide %[[V17]], %[[V16]] : tensor<3x5xf32>
// CHECK-NEXT: %[[V20:.*]] = stablehlo.divide %[[V18]], %[[V16]] : tensor<3x5xf32>
// CHECK-NEXT: %[[V21:.*]] = stablehlo.reshape %[[V19]] : (tensor<3x5xf32>) -> tensor<1x3x5xf32>
// CHECK-NEXT: %[[V22:.*]] = stablehlo.reshape %[[V20]] : (tensor<3x5xf32>) -> tensor<1x3x5xf32>
// CHECK-NEXT: %[[V23:.*]] = stablehlo.concatenate %[[V21]], %[[V22]], dim = 0 : (tensor<1x3x5xf32>, tensor<1x3x5xf32>) -> tensor<2x3x5xf32>
// CHECK-NEXT: %[[V24:.*]] = stablehlo.transpose %[[V23]], dims = [1, 2, 0] : (tensor<2x3x5xf32>) -> tensor<3x5x2xf32>
// CHECK-NEXT: return %[[V24]] : tensor<3x5x2xf32>
func.func @divide_c(%a0: tensor<3x5xcomplex<f32>>, %a1: tensor<3x5xcomplex<f32>>) -> (tensor<3x5xcomplex<f32>>) {
  %r = stablehlo.divide %a0, %a1 : tensor<3x5xcomplex<f32>>
  return %r : tensor<3x5xcomplex<f32>>
}

// CHECK-LABEL: func.func @abs_c(
// CHECK-SAME: %[[A0:.*]]: tensor<3x5x2xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: %[[V0:.*]] = stablehlo.transpose %[[A0]], dims = [2, 0, 1] : (tensor<3x5x2xf32>) -> tensor<2x3x5xf32>
// CHECK-NEXT: %[[V1:.*]] = stablehlo.slice %[[V0]] [0:1, 0:3, 0:5] : (tensor<2x3x5xf32>) -> tensor<1x3x5xf32>
// CHECK-NEXT: %[[V2:.*]] = stablehlo.reshape %[[V1]] : (tensor<1x3x5xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: %[[V3:.*]] = stablehlo.slice %[[V0]] [1:2, 0:3, 0:5] : (tensor<2x3x5xf32>) -> tensor<1x3x5xf32>
// CHECK-NEXT: %[[V4:.*]] = stablehlo.reshape %[[V3]] : (tensor<1x3x5xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: %[[V5:.*]] = stablehlo.abs %[[V2]] : tensor<3x5xf32>
// CHECK-NEXT: %[[V6:.*]] = stablehlo.abs %[[V4]] : tensor<3x5xf32>
// CHECK-NEXT: %[[V7:.*]] = stablehlo.maximum %[[V5]], %[[V6]] : tensor<3x5xf32>
// CHECK-NEXT: %[[V8:.*]] = stablehlo.minimum %[[V5]], %[[V6]] : tensor<3x5xf32>
// CHECK-NEXT: %[[C:.*]] = stablehlo.constant dense<1.84467441E+19> : tensor<3x5xf32>
// CHECK-NEXT: %[[V9:.*]] = stablehlo.compare  GT, %[[V7]], %[[C]] : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xi1>
// CHECK-NEXT: %[[C_0:.*]] = stablehlo.constant dense<1.000000e+00> : tensor<3x5xf32>
// CHECK-NEXT: %[[C_1:.*]] = stablehlo.constant dense<5.42101086E-20> : tensor<3x5xf32>
// CHECK-NEXT: %[[V10:.*]] = stablehlo.select %[[V9]], %[[C_1]], %[[C_0]] : tensor<3x5xi1>, tensor<3x5xf32>
// CHECK-NEXT: %[[V11:.*]] = stablehlo.multiply %[[V7]], %[[V10]] : tensor<3x5xf32>
// CHECK-NEXT: %[[V12:.*]] = stablehlo.multiply %[[V8]], %[[V10]] : tensor<3x5xf32>
// CHECK-NEXT: %[[V13:.*]] = stablehlo.divide %[[V12]], %[[V11]] : tensor<3x5xf32>
// CHECK-NEXT: %[[V14:.*]] = stablehlo.multiply %[[V13]], %[[V13]] : tensor<3x5xf32>
// CHECK-NEXT: %[[C_2:.*]] = stablehlo.constant dense<1.000000e+00> : tensor<3x5xf32>
// CHECK-NEXT: %[[V15:.*]] = stablehlo.add %[[C_2]], %[[V14]] : tensor<3x5xf32>
// CHECK-NEXT: %[[V16:.*]] = stablehlo.sqrt %[[V15]] : tensor<3x5xf32>
// CHECK-NEXT: %[[V17:.*]] = stablehlo.multiply %[[V7]], %[[V16]] : tensor<3x5xf32>
// CHECK-NEXT: %[[C_3:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<3x5xf32>
// CHECK-NEXT: %[[C_4:.*]] = stablehlo.constant dense<0x7F800000> : tensor<3x5xf32>
// CHECK-NEXT: %[[V18:.*]] = stablehlo.compare  EQ, %[[V6]], %[[C_4]] : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xi1>
// CHECK-NEXT: %[[V19:.*]] = stablehlo.compare  EQ, %[[V5]], %[[C_4]] : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xi1>
// CHECK-NEXT: %[[V20:.*]] = stablehlo.or %[[V19]], %[[V18]] : tensor<3x5xi1>
// CHECK-NEXT: %[[C_5:.*]] = stablehlo.constant dense<3.40282347E+38> : tensor<3x5xf32>
// CHECK-NEXT: %[[V21:.*]] = stablehlo.divide %[[C_5]], %[[V16]] : tensor<3x5xf32>
// CHECK-NEXT: %[[V22:.*]] = stablehlo.compare  GT, %[[V7]], %[[V21]] : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xi1>
// CHECK-NEXT: %[[V23:.*]] = stablehlo.or %[[V20]], %[[V22]] : tensor<3x5xi1>
// CHECK-NEXT: %[[V24:.*]] = stablehlo.compare  EQ, %[[V7]], %[[C_3]] : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xi1>
// CHECK-NEXT: %[[V25:.*]] = stablehlo.select %[[V24]], %[[C_3]], %[[V17]] : tensor<3x5xi1>, tensor<3x5xf32>
// CHECK-NEXT: %[[V26:.*]] = stablehlo.select %[[V23]], %[[C_4]], %[[V25]] : tensor<3x5xi1>, tensor<3x5xf32>
// CHECK-NEXT: return %[[V26]] : tensor<3x5xf32>
func.func @abs_c(%a0: tensor<3x5xcomplex<f32>>) -> (tensor<3x5xf32>) {
  %r = stablehlo.abs %a0 : (tensor<3x5xcomplex<f32>>) -> tensor<3x5xf32>
  return %r : tensor<3x5xf32>
}

// CHECK-LABEL: func.func @slice_c(
// CHECK-SAME: %[[A0:.*]]: tensor<3x5x2xf32>) -> tensor<2x2x2xf32>
// CHECK-NEXT: %[[V0:.*]] = stablehlo.slice %[[A0]] [1:3, 0:4:2, 0:2] : (tensor<3x5x2xf32>) -> tensor<2x2x2xf32>
// CHECK-NEXT: return %[[V0]] : tensor<2x2x2xf32>
func.func @slice_c(%a0: tensor<3x5xcomplex<f32>>) -> (tensor<2x2xcomplex<f32>>) {
  %r = stablehlo.slice %a0 [1:3, 0:4:2] : (tensor<3x5xcomplex<f32>>) -> tensor<2x2xcomplex<f32>>
  return %r : tensor<2x2xcomplex<f32>>
}

// CHECK-LABEL: func.func @bcast_c(
// CHECK-SAME: %[[A0:.*]]: tensor<3x5x2xf32>) -> tensor<2x3x5x2xf32>
// CHECK-NEXT: %[[V0:.*]] = stablehlo.broadcast_in_dim %[[A0]], dims = [1, 2, 3] : (tensor<3x5x2xf32>) -> tensor<2x3x5x2xf32>
// CHECK-NEXT: return %[[V0]] : tensor<2x3x5x2xf32>
func.func @bcast_c(%a0: tensor<3x5xcomplex<f32>>) -> (tensor<2x3x5xcomplex<f32>>) {
  %r = stablehlo.broadcast_in_dim %a0, dims=[1,2] : (tensor<3x5xcomplex<f32>>) -> tensor<2x3x5xcomplex<f32>>
  return %r : tensor<2x3x5xcomplex<f32>>
}

// CHECK-LABEL: func.func @select_c(
// CHECK-SAME: %[[A0:.*]]: tensor<3x5xi1>, %[[A1:.*]]: tensor<3x5x2xf32>, %[[A2:.*]]: tensor<3x5x2xf32>) -> tensor<3x5x2xf32>
// CHECK-NEXT: %[[V0:.*]] = stablehlo.broadcast_in_dim %[[A0]], dims = [0, 1] : (tensor<3x5xi1>) -> tensor<3x5x2xi1>
// CHECK-NEXT: %[[V1:.*]] = stablehlo.select %[[V0]], %[[A1]], %[[A2]] : tensor<3x5x2xi1>, tensor<3x5x2xf32>
// CHECK-NEXT: return %[[V1]] : tensor<3x5x2xf32>
func.func @select_c(%a0: tensor<3x5xi1>, %a1: tensor<3x5xcomplex<f32>>, %a2: tensor<3x5xcomplex<f32>>) -> (tensor<3x5xcomplex<f32>>) {
  %r = stablehlo.select %a0, %a1, %a2 : tensor<3x5xi1>, tensor<3x5xcomplex<f32>>
  return %r : tensor<3x5xcomplex<f32>>
}

// CHECK-LABEL: func.func @compare_c(
// CHECK-SAME: %[[A0:.*]]: tensor<3x5x2xf32>, %[[A1:.*]]: tensor<3x5x2xf32>) -> tensor<3x5xi1>
// CHECK-NEXT: %[[V0:.*]] = stablehlo.transpose %[[A0]], dims = [2, 0, 1] : (tensor<3x5x2xf32>) -> tensor<2x3x5xf32>
// CHECK-NEXT: %[[V1:.*]] = stablehlo.slice %[[V0]] [0:1, 0:3, 0:5] : (tensor<2x3x5xf32>) -> tensor<1x3x5xf32>
// CHECK-NEXT: %[[V2:.*]] = stablehlo.reshape %[[V1]] : (tensor<1x3x5xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: %[[V3:.*]] = stablehlo.slice %[[V0]] [1:2, 0:3, 0:5] : (tensor<2x3x5xf32>) -> tensor<1x3x5xf32>
// CHECK-NEXT: %[[V4:.*]] = stablehlo.reshape %[[V3]] : (tensor<1x3x5xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: %[[V5:.*]] = stablehlo.transpose %[[A1]], dims = [2, 0, 1] : (tensor<3x5x2xf32>) -> tensor<2x3x5xf32>
// CHECK-NEXT: %[[V6:.*]] = stablehlo.slice %[[V5]] [0:1, 0:3, 0:5] : (tensor<2x3x5xf32>) -> tensor<1x3x5xf32>
// CHECK-NEXT: %[[V7:.*]] = stablehlo.reshape %[[V6]] : (tensor<1x3x5xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: %[[V8:.*]] = stablehlo.slice %[[V5]] [1:2, 0:3, 0:5] : (tensor<2x3x5xf32>) -> tensor<1x3x5xf32>
// CHECK-NEXT: %[[V9:.*]] = stablehlo.reshape %[[V8]] : (tensor<1x3x5xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: %[[V10:.*]] = stablehlo.compare  EQ, %[[V2]], %[[V7]] : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xi1>
// CHECK-NEXT: %[[V11:.*]] = stablehlo.compare  EQ, %[[V4]], %[[V9]] : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xi1>
// CHECK-NEXT: %[[V12:.*]] = stablehlo.and %[[V10]], %[[V11]] : tensor<3x5xi1>
// CHECK-NEXT: return %[[V12]] : tensor<3x5xi1>
func.func @compare_c(%a0: tensor<3x5xcomplex<f32>>, %a1: tensor<3x5xcomplex<f32>>) -> (tensor<3x5xi1>) {
  %r = stablehlo.compare EQ, %a0, %a1 : (tensor<3x5xcomplex<f32>>,tensor<3x5xcomplex<f32>>) -> tensor<3x5xi1>
  return %r : tensor<3x5xi1>
}

// CHECK-LABEL: func.func @convert_c(
// CHECK-SAME: %[[A0:.*]]: tensor<3x5xf32>) -> tensor<3x5x2xf32>
// CHECK-NEXT: %[[C:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<3x5xf32>
// CHECK-NEXT: %[[V0:.*]] = stablehlo.reshape %[[A0]] : (tensor<3x5xf32>) -> tensor<1x3x5xf32>
// CHECK-NEXT: %[[V1:.*]] = stablehlo.reshape %[[C]] : (tensor<3x5xf32>) -> tensor<1x3x5xf32>
// CHECK-NEXT: %[[V2:.*]] = stablehlo.concatenate %[[V0]], %[[V1]], dim = 0 : (tensor<1x3x5xf32>, tensor<1x3x5xf32>) -> tensor<2x3x5xf32>
// CHECK-NEXT: %[[V3:.*]] = stablehlo.transpose %[[V2]], dims = [1, 2, 0] : (tensor<2x3x5xf32>) -> tensor<3x5x2xf32>
// CHECK-NEXT: return %[[V3]] : tensor<3x5x2xf32>
func.func @convert_c(%a0: tensor<3x5xf32>) -> (tensor<3x5xcomplex<f32>>) {
  %r = stablehlo.convert %a0 : (tensor<3x5xf32>) -> tensor<3x5xcomplex<f32>>
  return %r : tensor<3x5xcomplex<f32>>
}

// CHECK-LABEL: func.func @const2_c(
// CHECK-SAME: ) -> tensor<2x2xf32>
// CHECK-NEXT: %[[C:.*]] = stablehlo.constant dense<{{\[\[}}1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00]]> : tensor<2x2xf32>
// CHECK-NEXT: return %[[C]] : tensor<2x2xf32>
func.func @const2_c() -> (tensor<2xcomplex<f32>>) {
  %r = stablehlo.constant dense<[(1.0,2.0),(3.0,4.0)]> : tensor<2xcomplex<f32>>
  return %r : tensor<2xcomplex<f32>>
}

// CHECK-LABEL: func.func @gather_c(
// CHECK-SAME: %[[A0:.*]]: tensor<3x5x2xf32>, %[[A1:.*]]: tensor<4x1xi32>) -> tensor<4x5x2xf32>
// CHECK-NEXT: %[[V0:.*]] = "stablehlo.gather"(%[[A0]], %[[A1]]) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 5, 2>}> : (tensor<3x5x2xf32>, tensor<4x1xi32>) -> tensor<4x5x2xf32>
// CHECK-NEXT: return %[[V0]] : tensor<4x5x2xf32>
func.func @gather_c(%a0: tensor<3x5xcomplex<f32>>, %a1: tensor<4x1xi32>) -> (tensor<4x5xcomplex<f32>>) {
  %r = "stablehlo.gather"(%a0, %a1) <{dimension_numbers = #stablehlo.gather<offset_dims=[1], collapsed_slice_dims=[0], start_index_map=[0], index_vector_dim=1>, slice_sizes = array<i64: 1, 5>}> : (tensor<3x5xcomplex<f32>>, tensor<4x1xi32>) -> tensor<4x5xcomplex<f32>>
  return %r : tensor<4x5xcomplex<f32>>
}

// CHECK-LABEL: func.func @reduce_c(
// CHECK-SAME: %[[A0:.*]]: tensor<3x5x2xf32>) -> tensor<3x2xf32>
// CHECK-NEXT: %[[C:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<2xf32>
// CHECK-NEXT: %[[V0:.*]] = stablehlo.transpose %[[C]], dims = [0] : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT: %[[V1:.*]] = stablehlo.slice %[[V0]] [0:1] : (tensor<2xf32>) -> tensor<1xf32>
// CHECK-NEXT: %[[V2:.*]] = stablehlo.reshape %[[V1]] : (tensor<1xf32>) -> tensor<f32>
// CHECK-NEXT: %[[V3:.*]] = stablehlo.slice %[[V0]] [1:2] : (tensor<2xf32>) -> tensor<1xf32>
// CHECK-NEXT: %[[V4:.*]] = stablehlo.reshape %[[V3]] : (tensor<1xf32>) -> tensor<f32>
// CHECK-NEXT: %[[V5:.*]] = stablehlo.broadcast_in_dim %[[V2]], dims = [] : (tensor<f32>) -> tensor<3xf32>
// CHECK-NEXT: %[[V6:.*]] = stablehlo.broadcast_in_dim %[[V4]], dims = [] : (tensor<f32>) -> tensor<3xf32>
// CHECK-NEXT: %[[V7:.*]] = stablehlo.transpose %[[A0]], dims = [2, 0, 1] : (tensor<3x5x2xf32>) -> tensor<2x3x5xf32>
// CHECK-NEXT: %[[V8:.*]] = stablehlo.slice %[[V7]] [0:1, 0:3, 0:5] : (tensor<2x3x5xf32>) -> tensor<1x3x5xf32>
// CHECK-NEXT: %[[V9:.*]] = stablehlo.reshape %[[V8]] : (tensor<1x3x5xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: %[[V10:.*]] = stablehlo.slice %[[V7]] [1:2, 0:3, 0:5] : (tensor<2x3x5xf32>) -> tensor<1x3x5xf32>
// CHECK-NEXT: %[[V11:.*]] = stablehlo.reshape %[[V10]] : (tensor<1x3x5xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: %[[C_0:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[V12:.*]] = stablehlo.reduce(%[[V9]] init: %[[C_0]]) applies stablehlo.add across dimensions = [1] : (tensor<3x5xf32>, tensor<f32>) -> tensor<3xf32>
// CHECK-NEXT: %[[V13:.*]] = stablehlo.reduce(%[[V11]] init: %[[C_0]]) applies stablehlo.add across dimensions = [1] : (tensor<3x5xf32>, tensor<f32>) -> tensor<3xf32>
// CHECK-NEXT: %[[V14:.*]] = stablehlo.add %[[V12]], %[[V5]] : tensor<3xf32>
// CHECK-NEXT: %[[V15:.*]] = stablehlo.add %[[V13]], %[[V6]] : tensor<3xf32>
// CHECK-NEXT: %[[V16:.*]] = stablehlo.reshape %[[V14]] : (tensor<3xf32>) -> tensor<1x3xf32>
// CHECK-NEXT: %[[V17:.*]] = stablehlo.reshape %[[V15]] : (tensor<3xf32>) -> tensor<1x3xf32>
// CHECK-NEXT: %[[V18:.*]] = stablehlo.concatenate %[[V16]], %[[V17]], dim = 0 : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %[[V19:.*]] = stablehlo.transpose %[[V18]], dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
// CHECK-NEXT: return %[[V19]] : tensor<3x2xf32>
func.func @reduce_c(%a0: tensor<3x5xcomplex<f32>>) -> (tensor<3xcomplex<f32>>) {
  %z = stablehlo.constant dense<(0.0,0.0)> : tensor<complex<f32>>
  %r = stablehlo.reduce(%a0 init: %z) applies stablehlo.add across dimensions=[1] : (tensor<3x5xcomplex<f32>>, tensor<complex<f32>>) -> tensor<3xcomplex<f32>>
  return %r : tensor<3xcomplex<f32>>
}

// CHECK-LABEL: func.func @dot_c(
// CHECK-SAME: %[[A0:.*]]: tensor<3x5x2xf32>, %[[A1:.*]]: tensor<5x7x2xf32>) -> tensor<3x7x2xf32>
// CHECK-NEXT: %[[V0:.*]] = stablehlo.transpose %[[A0]], dims = [2, 0, 1] : (tensor<3x5x2xf32>) -> tensor<2x3x5xf32>
// CHECK-NEXT: %[[V1:.*]] = stablehlo.slice %[[V0]] [0:1, 0:3, 0:5] : (tensor<2x3x5xf32>) -> tensor<1x3x5xf32>
// CHECK-NEXT: %[[V2:.*]] = stablehlo.reshape %[[V1]] : (tensor<1x3x5xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: %[[V3:.*]] = stablehlo.slice %[[V0]] [1:2, 0:3, 0:5] : (tensor<2x3x5xf32>) -> tensor<1x3x5xf32>
// CHECK-NEXT: %[[V4:.*]] = stablehlo.reshape %[[V3]] : (tensor<1x3x5xf32>) -> tensor<3x5xf32>
// CHECK-NEXT: %[[V5:.*]] = stablehlo.transpose %[[A1]], dims = [2, 0, 1] : (tensor<5x7x2xf32>) -> tensor<2x5x7xf32>
// CHECK-NEXT: %[[V6:.*]] = stablehlo.slice %[[V5]] [0:1, 0:5, 0:7] : (tensor<2x5x7xf32>) -> tensor<1x5x7xf32>
// CHECK-NEXT: %[[V7:.*]] = stablehlo.reshape %[[V6]] : (tensor<1x5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT: %[[V8:.*]] = stablehlo.slice %[[V5]] [1:2, 0:5, 0:7] : (tensor<2x5x7xf32>) -> tensor<1x5x7xf32>
// CHECK-NEXT: %[[V9:.*]] = stablehlo.reshape %[[V8]] : (tensor<1x5x7xf32>) -> tensor<5x7xf32>
// CHECK-NEXT: %[[V10:.*]] = stablehlo.dot_general %[[V2]], %[[V7]], contracting_dims = [1] x [0] : (tensor<3x5xf32>, tensor<5x7xf32>) -> tensor<3x7xf32>
// CHECK-NEXT: %[[V11:.*]] = stablehlo.dot_general %[[V4]], %[[V9]], contracting_dims = [1] x [0] : (tensor<3x5xf32>, tensor<5x7xf32>) -> tensor<3x7xf32>
// CHECK-NEXT: %[[V12:.*]] = stablehlo.dot_general %[[V2]], %[[V9]], contracting_dims = [1] x [0] : (tensor<3x5xf32>, tensor<5x7xf32>) -> tensor<3x7xf32>
// CHECK-NEXT: %[[V13:.*]] = stablehlo.dot_general %[[V4]], %[[V7]], contracting_dims = [1] x [0] : (tensor<3x5xf32>, tensor<5x7xf32>) -> tensor<3x7xf32>
// CHECK-NEXT: %[[V14:.*]] = stablehlo.subtract %[[V10]], %[[V11]] : tensor<3x7xf32>
// CHECK-NEXT: %[[V15:.*]] = stablehlo.add %[[V12]], %[[V13]] : tensor<3x7xf32>
// CHECK-NEXT: %[[V16:.*]] = stablehlo.reshape %[[V14]] : (tensor<3x7xf32>) -> tensor<1x3x7xf32>
// CHECK-NEXT: %[[V17:.*]] = stablehlo.reshape %[[V15]] : (tensor<3x7xf32>) -> tensor<1x3x7xf32>
// CHECK-NEXT: %[[V18:.*]] = stablehlo.concatenate %[[V16]], %[[V17]], dim = 0 : (tensor<1x3x7xf32>, tensor<1x3x7xf32>) -> tensor<2x3x7xf32>
// CHECK-NEXT: %[[V19:.*]] = stablehlo.transpose %[[V18]], dims = [1, 2, 0] : (tensor<2x3x7xf32>) -> tensor<3x7x2xf32>
// CHECK-NEXT: return %[[V19]] : tensor<3x7x2xf32>
func.func @dot_c(%a0: tensor<3x5xcomplex<f32>>, %a1: tensor<5x7xcomplex<f32>>) -> (tensor<3x7xcomplex<f32>>) {
  %r = stablehlo.dot_general %a0, %a1, contracting_dims=[1] x [0] : (tensor<3x5xcomplex<f32>>, tensor<5x7xcomplex<f32>>) -> tensor<3x7xcomplex<f32>>
  return %r : tensor<3x7xcomplex<f32>>
}

// CHECK-LABEL: func.func @transpose_c(
// CHECK-SAME: %[[A0:.*]]: tensor<3x5x2xf32>) -> tensor<5x3x2xf32>
// CHECK-NEXT: %[[V0:.*]] = stablehlo.transpose %[[A0]], dims = [1, 0, 2] : (tensor<3x5x2xf32>) -> tensor<5x3x2xf32>
// CHECK-NEXT: return %[[V0]] : tensor<5x3x2xf32>
func.func @transpose_c(%a0: tensor<3x5xcomplex<f32>>) -> (tensor<5x3xcomplex<f32>>) {
  %r = stablehlo.transpose %a0, dims=[1,0] : (tensor<3x5xcomplex<f32>>) -> tensor<5x3xcomplex<f32>>
  return %r : tensor<5x3xcomplex<f32>>
}
