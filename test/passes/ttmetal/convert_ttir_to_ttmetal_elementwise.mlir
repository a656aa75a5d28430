// Elementwise operations as calls on tiles in DST; constants and broadcasts.
// RUN: ttmlir-opt --ttir-to-ttmetal-backend-pipeline %s | FileCheck %s
// RUN: ttmlir-opt --ttir-to-ttmetal-backend-pipeline=fp32-dest-acc-en=true %s | FileCheck %s --check-prefix=WIDE

#tile = #tt.operand_constraint<any_device_tile>

// What prepares all tiles stands before the loops; 32-bit numbers take all bits of DST.
// CHECK-LABEL: func.func @both(
// CHECK-COUNT-2: #ttkernel.tensix_config<hifi4, false, false, false>
// CHECK: #ttkernel.tensix_config<hifi4, true, true, false>
// CHECK-NEXT: ^bb0(%[[A:.*]]: !ttkernel.cb<cb_in0, {{.*}}, %[[B:.*]]: !ttkernel.cb<cb_in1, {{.*}}, %[[OUT:.*]]: !ttkernel.cb<cb_out0,
// CHECK: "ttkernel.init_sfpu"(%[[A]], %[[OUT]])
// CHECK-NEXT: "ttkernel.copy_tile_init"(%[[A]])
// CHECK: scf.for
// CHECK-NEXT: scf.for {{.*}} iter_args(%[[AT:.*]] =
// CHECK-NEXT: "ttkernel.tile_regs_acquire"
// CHECK-NEXT: "ttkernel.copy_tile"(%[[A]], %[[AT]], %[[X:[a-z0-9_]*]])
// CHECK-NEXT: "ttkernel.copy_tile"(%[[B]], %[[AT]], %[[Y:[a-z0-9_]*]])
// CHECK-NEXT: "ttkernel.nez_tile_init"
// CHECK-NEXT: "ttkernel.nez_tile"(%[[X]])
// CHECK-NEXT: "ttkernel.nez_tile"(%[[Y]])
// CHECK-NEXT: "ttkernel.mul_binary_tile_init"
// CHECK-NEXT: "ttkernel.mul_binary_tile"(%[[X]], %[[Y]], %[[X]])
// CHECK-NEXT: "ttkernel.tile_regs_commit"
// CHECK-NEXT: "ttkernel.tile_regs_wait"
// CHECK-NEXT: "ttkernel.pack_tile"(%[[X]], %[[OUT]], %[[AT]])
// CHECK-NEXT: "ttkernel.tile_regs_release"
// WIDE-LABEL: func.func @both(
// WIDE-NOT: #ttkernel.tensix_config<hifi4, false
// WIDE: return
func.func @both(%a: tensor<33x70xf32>, %b: tensor<33x70xf32>) -> tensor<33x70xf32> {
  %0 = tensor.empty() : tensor<33x70xf32>
  %1 = "ttir.logical_and"(%a, %b, %0) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#tile, #tile, #tile]}> : (tensor<33x70xf32>, tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
  return %1 : tensor<33x70xf32>
}

// Short integers are computed with 32 bits: the sign is brought in and the upper bits taken off.
// CHECK-LABEL: func.func @bytes(
// CHECK: #ttkernel.tensix_config<hifi4, true, true, false>
// CHECK: "ttkernel.typecast_tile"(%[[X:[a-z0-9_]*]]) <{in_dtype = "UInt8", out_dtype = "Int32"}>
// CHECK: "ttkernel.left_shift_tile"(%[[X]], %[[ABOVE:[a-z0-9_]*]])
// CHECK: "ttkernel.right_shift_tile"(%[[X]], %[[ABOVE]])
// CHECK: "ttkernel.bitwise_not_tile"(%[[X]])
// CHECK: "ttkernel.bitwise_and_tile"(%[[X]], %{{.*}})
// CHECK: "ttkernel.typecast_tile"(%[[X]]) <{in_dtype = "Int32", out_dtype = "UInt8"}>
func.func @bytes(%a: tensor<33x70xi8>) -> tensor<33x70xi8> {
  %0 = tensor.empty() : tensor<33x70xi8>
  %1 = "ttir.bitwise_not"(%a, %0) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#tile, #tile]}> : (tensor<33x70xi8>, tensor<33x70xi8>) -> tensor<33x70xi8>
  return %1 : tensor<33x70xi8>
}

// A difference of 16-bit numbers is one call of the matrix unit, as sums are.
// CHECK-LABEL: func.func @difference(
// CHECK: "ttkernel.sub_tiles_init"
// CHECK: "ttkernel.sub_tiles"(
func.func @difference(%a: tensor<33x70xbf16>, %b: tensor<33x70xbf16>) -> tensor<33x70xbf16> {
  %0 = tensor.empty() : tensor<33x70xbf16>
  %1 = "ttir.subtract"(%a, %b, %0) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#tile, #tile, #tile]}> : (tensor<33x70xbf16>, tensor<33x70xbf16>, tensor<33x70xbf16>) -> tensor<33x70xbf16>
  return %1 : tensor<33x70xbf16>
}

// Parameters are the bits of numbers: -0.5 and 1.25.
// CHECK-LABEL: func.func @clamp(
// CHECK-DAG: %[[MIN:.*]] = arith.constant -1090519040 : i32
// CHECK-DAG: %[[MAX:.*]] = arith.constant 1067450368 : i32
// CHECK: "ttkernel.clamp_tile"(%{{.*}}, %[[MIN]], %[[MAX]])
func.func @clamp(%a: tensor<33x70xf32>) -> tensor<33x70xf32> {
  %0 = tensor.empty() : tensor<33x70xf32>
  %1 = "ttir.clamp"(%a, %0) <{max = 1.25 : f32, min = -0.5 : f32, operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#tile, #tile]}> : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
  return %1 : tensor<33x70xf32>
}

// The matrix unit spreads a row of tiles over all rows: the place in it begins again.
// CHECK-LABEL: func.func @row(
// CHECK: %[[BACK:.*]] = arith.constant -3 : i32
// CHECK: "ttkernel.unary_bcast_init"({{.*}}) <{bcast_type = "ROW"}>
// CHECK: scf.for
// CHECK: "ttkernel.unary_bcast"({{.*}}) <{bcast_type = "ROW"}>
// CHECK: arith.addi %{{.*}}, %[[BACK]]
// CHECK: "ttkernel.mul_tiles"
func.func @row(%a: tensor<33x70xf32>, %b: tensor<70xf32>) -> tensor<33x70xf32> {
  %0 = tensor.empty() : tensor<33x70xf32>
  %1 = "ttir.multiply"(%a, %b, %0) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#tile, #tile, #tile]}> : (tensor<33x70xf32>, tensor<70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
  return %1 : tensor<33x70xf32>
}

// Integers broadcast before they are tiles, a word at a time; tiles of them keep 32 bits.
// CHECK-LABEL: func.func @column(
// CHECK: kernelConfigs = [#ttkernel.noc_config<noc0>]
// CHECK: %[[WORD:.*]] = "ttkernel.load_from_l1"
// CHECK: "ttkernel.store_to_l1"(%[[WORD]],
// CHECK-COUNT-2: #ttkernel.tensix_config<hifi4, true, true, false>
// CHECK: "ttkernel.add_int_tile"({{.*}}) <{data_format = "Int32"}>
func.func @column(%a: tensor<33x70xi32>, %b: tensor<33x1xi32>) -> tensor<33x70xi32> {
  %0 = tensor.empty() : tensor<33x70xi32>
  %1 = "ttir.add"(%a, %b, %0) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#tile, #tile, #tile]}> : (tensor<33x70xi32>, tensor<33x1xi32>, tensor<33x70xi32>) -> tensor<33x70xi32>
  return %1 : tensor<33x70xi32>
}

// One number fills a tile; several are written from the host.
// CHECK-LABEL: func.func @constants(
// CHECK: %[[LISTED:.*]] = arith.constant dense<{{\[\[}}1.000000e+00, 2.000000e+00{{\]\]}}> : tensor<1x2xf32,
// CHECK: %[[HALF:.*]] = arith.constant 5.000000e-01 : f32
// CHECK: "ttkernel.fill_tile"(%{{.*}}, %[[HALF]])
// CHECK: "ttmetal.host_write"(%[[LISTED]],
func.func @constants(%a: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %half = "ttir.constant"() <{value = dense<0.5> : tensor<1x2xf32>}> : () -> tensor<1x2xf32>
  %listed = "ttir.constant"() <{value = dense<[[1.0, 2.0]]> : tensor<1x2xf32>}> : () -> tensor<1x2xf32>
  %0 = tensor.empty() : tensor<1x2xf32>
  %1 = "ttir.subtract"(%a, %half, %0) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#tile, #tile, #tile]}> : (tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  %2 = tensor.empty() : tensor<1x2xf32>
  %3 = "ttir.pow"(%1, %listed, %2) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#tile, #tile, #tile]}> : (tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  return %3 : tensor<1x2xf32>
}
