// What tensor programs use of tensor and linalg.
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @tensors(%t: tensor<4x8xf32>, %n: index, %d: tensor<?x8xf32>, %s: f32) -> tensor<32xf32> {
  %c0 = arith.constant 0 : index
  %0 = tensor.empty() : tensor<4x8xf32>
  %1 = tensor.empty(%n) : tensor<?x8xf32>
  %2 = tensor.dim %t, %c0 : tensor<4x8xf32>
  %3 = tensor.extract %t[%c0, %c0] : tensor<4x8xf32>
  %4 = tensor.insert %s into %t[%c0, %c0] : tensor<4x8xf32>
  %5 = tensor.cast %t : tensor<4x8xf32> to tensor<?x8xf32>
  %6 = tensor.collapse_shape %t [[0, 1]] : tensor<4x8xf32> into tensor<32xf32>
  %7 = tensor.expand_shape %6 [[0, 1]] output_shape [4, 8] : tensor<32xf32> into tensor<4x8xf32>
  %8 = tensor.extract_slice %t[0, 0] [2, 4] [1, 1] : tensor<4x8xf32> to tensor<2x4xf32>
  %9 = tensor.insert_slice %8 into %t[0, %c0] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<4x8xf32>
  %10 = tensor.splat %s : tensor<4x8xf32>
  %11 = tensor.from_elements %s, %s : tensor<2xf32>
  return %6 : tensor<32xf32>
}
func.func @generic(%a: tensor<4x8xf32>, %out: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<4x8xf32>) outs(%out : tensor<4xf32>) {
  ^bb0(%in: f32, %acc: f32):
    %1 = arith.addf %in, %acc : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @named(%a: tensor<4x8xf32>, %b: tensor<8x3xf32>, %c: tensor<4x3xf32>, %s: f32) -> tensor<4x3xf32> {
  return %c : tensor<4x3xf32>
}
