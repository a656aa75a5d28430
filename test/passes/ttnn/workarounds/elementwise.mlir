// Elements that the library computes with as others.

// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline %s | FileCheck %s

// CHECK-LABEL: func.func @bytes(
// CHECK: "ttnn.typecast"(%arg0) : {{.*}} -> tensor<3x5x7xsi32
// CHECK: "ttnn.multiply"{{.*}} : (tensor<3x5x7xsi32, {{.*}}) -> tensor<3x5x7xsi32
// CHECK: "ttnn.typecast"{{.*}} -> tensor<3x5x7xui8
func.func @bytes(%a: tensor<3x5x7xui8>, %b: tensor<3x5x7xui8>) -> tensor<3x5x7xui8> {
  %0 = "ttir.multiply"(%a, %b)
      : (tensor<3x5x7xui8>, tensor<3x5x7xui8>) -> tensor<3x5x7xui8>
  return %0 : tensor<3x5x7xui8>
}

// CHECK-LABEL: func.func @bits(
// CHECK: "ttnn.typecast"(%arg0) : {{.*}} -> tensor<33x70xui32
// CHECK: "ttnn.bitwise_xor"{{.*}} -> tensor<33x70xui32
// CHECK: "ttnn.typecast"{{.*}} -> tensor<33x70xui8
func.func @bits(%a: tensor<33x70xui8>, %b: tensor<33x70xui8>) -> tensor<33x70xui8> {
  %0 = "ttir.bitwise_xor"(%a, %b)
      : (tensor<33x70xui8>, tensor<33x70xui8>) -> tensor<33x70xui8>
  return %0 : tensor<33x70xui8>
}

// CHECK-LABEL: func.func @chosen_bytes(
// CHECK: "ttnn.typecast"(%arg1) : {{.*}} -> tensor<33x70xf32
// CHECK: "ttnn.where"{{.*}} -> tensor<33x70xf32
// CHECK: "ttnn.typecast"{{.*}} -> tensor<33x70xui8
func.func @chosen_bytes(%c: tensor<33x70xi1>, %a: tensor<33x70xui8>, %b: tensor<33x70xui8>) -> tensor<33x70xui8> {
  %0 = "ttir.where"(%c, %a, %b)
      : (tensor<33x70xi1>, tensor<33x70xui8>, tensor<33x70xui8>) -> tensor<33x70xui8>
  return %0 : tensor<33x70xui8>
}

// CHECK-LABEL: func.func @compared_bytes(
// CHECK: "ttnn.typecast"(%arg0) : {{.*}} -> tensor<33x70xsi32
// CHECK: "ttnn.gt"{{.*}} -> tensor<33x70xsi32
// CHECK: "ttnn.typecast"{{.*}} -> tensor<33x70xbf16
func.func @compared_bytes(%a: tensor<33x70xui8>, %b: tensor<33x70xui8>) -> tensor<33x70xi1> {
  %0 = "ttir.gt"(%a, %b)
      : (tensor<33x70xui8>, tensor<33x70xui8>) -> tensor<33x70xi1>
  return %0 : tensor<33x70xi1>
}

// CHECK-LABEL: func.func @quotients(
// CHECK: "ttnn.typecast"{{.*}} -> tensor<33x70xf32
// CHECK: "ttnn.divide"{{.*}} -> tensor<33x70xf32
// CHECK: "ttnn.typecast"{{.*}} -> tensor<33x70xsi32
func.func @quotients(%a: tensor<33x70xi32>, %b: tensor<33x70xi32>) -> tensor<33x70xi32> {
  %0 = "ttir.div"(%a, %b)
      : (tensor<33x70xi32>, tensor<33x70xi32>) -> tensor<33x70xi32>
  return %0 : tensor<33x70xi32>
}

// CHECK-LABEL: func.func @signs(
// CHECK: "ttnn.typecast"{{.*}} -> tensor<33x70xbf16
// CHECK: "ttnn.sign"{{.*}} -> tensor<33x70xbf16
// CHECK: "ttnn.typecast"{{.*}} -> tensor<33x70xsi32
func.func @signs(%a: tensor<33x70xi32>) -> tensor<33x70xi32> {
  %0 = "ttir.sign"(%a)
      : (tensor<33x70xi32>) -> tensor<33x70xi32>
  return %0 : tensor<33x70xi32>
}

// CHECK-LABEL: func.func @whole_numbers(
// CHECK: %[[WHOLE:.*]] = "ttnn.floor"
// CHECK: "ttnn.typecast"(%[[WHOLE]]) : {{.*}} -> tensor<33x70xui16
func.func @whole_numbers(%a: tensor<33x70xf32>) -> tensor<33x70xui16> {
  %0 = "ttir.typecast"(%a) <{conservative_folding = true}>
      : (tensor<33x70xf32>) -> tensor<33x70xui16>
  return %0 : tensor<33x70xui16>
}

// CHECK-LABEL: func.func @chosen_numbers_without_sign(
// CHECK: "ttnn.bitcast_convert"{{.*}} -> tensor<33x70xsi32
// CHECK: "ttnn.bitcast_convert"{{.*}} -> tensor<33x70xsi32
// CHECK: "ttnn.where"{{.*}} -> tensor<33x70xsi32
// CHECK: "ttnn.bitcast_convert"{{.*}} -> tensor<33x70xui32
func.func @chosen_numbers_without_sign(%c: tensor<33x70xi1>, %a: tensor<33x70xui32>, %b: tensor<33x70xui32>) -> tensor<33x70xui32> {
  %0 = "ttir.where"(%c, %a, %b)
      : (tensor<33x70xi1>, tensor<33x70xui32>, tensor<33x70xui32>) -> tensor<33x70xui32>
  return %0 : tensor<33x70xui32>
}
