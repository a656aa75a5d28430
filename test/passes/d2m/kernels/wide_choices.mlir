// Choices read DST as wide as it is: numbers of 16 bits are widened in one of 32.

// RUN: ttmlir-opt --ttir-to-ttmetal-pipeline %s | FileCheck %s

// CHECK-LABEL: func.func private @compute0(
// CHECK: where_tile"{{.*}}data_format = "Float32"
// CHECK: where_tile"{{.*}}data_format = "Int32"
func.func @in_wide_dst(%c: tensor<33x70xbf16>, %a: tensor<33x70xbf16>, %b: tensor<33x70xbf16>,
    %i: tensor<33x70xi32>, %j: tensor<33x70xi32>) -> tensor<33x70xi32> {
  %0 = "ttir.where"(%c, %a, %b) : (tensor<33x70xbf16>, tensor<33x70xbf16>, tensor<33x70xbf16>)
      -> tensor<33x70xbf16>
  %1 = "ttir.where"(%0, %i, %j) : (tensor<33x70xbf16>, tensor<33x70xi32>, tensor<33x70xi32>)
      -> tensor<33x70xi32>
  return %1 : tensor<33x70xi32>
}

// CHECK-LABEL: func.func private @compute1(
// CHECK: where_tile"{{.*}}data_format = "Float16_b"
func.func @in_narrow_dst(%c: tensor<33x70xbf16>, %a: tensor<33x70xbf16>, %b: tensor<33x70xbf16>)
    -> tensor<33x70xbf16> {
  %0 = "ttir.where"(%c, %a, %b) : (tensor<33x70xbf16>, tensor<33x70xbf16>, tensor<33x70xbf16>)
      -> tensor<33x70xbf16>
  return %0 : tensor<33x70xbf16>
}
