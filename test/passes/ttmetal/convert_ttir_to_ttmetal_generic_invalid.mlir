// Generics that do not become kernels, and programs without addresses.
// RUN: ttmlir-opt --ttir-load-system-desc --ttir-implicit-device --convert-ttir-to-ttmetal --split-input-file --verify-diagnostics %s

#l1_ = #tt.memory_space<l1>
#rows = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x96xf32, #l1_>>
#halves = #tt.layout<(d0, d1) -> (d0, d1), undef, <2x1>, memref<32x96xf32, #l1_>>
func.func @no_address(%a: tensor<64x96xf32, #rows>, %0: tensor<64x96xf32, #halves>) -> tensor<64x96xf32, #halves> {
  // expected-error @+1 {{'ttir.to_layout' op has an operand without an address; run ttir-allocate before}}
  %1 = "ttir.to_layout"(%a, %0) : (tensor<64x96xf32, #rows>, tensor<64x96xf32, #halves>) -> tensor<64x96xf32, #halves>
  return %1 : tensor<64x96xf32, #halves>
}

// -----

func.func @constant() {
  // expected-error @+1 {{'ttir.constant' op has no location in the device's memory; let its layout be on the host, as ttir-layout=constants-on-host=true does}}
  %0 = "ttir.constant"() <{value = dense<1.0> : tensor<5x7xf32>}> : () -> tensor<5x7xf32>
  return
}

// -----

func.func @no_layout() {
  // expected-error @+1 {{'tensor.empty' op has no address; run ttir-allocate before}}
  %0 = tensor.empty() : tensor<64x96xf32>
  return
}

// -----

#l1_ = #tt.memory_space<l1>
#tiles = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<2x3x!tt.tile<32x32, f32>, #l1_>>
#any = #tt.operand_constraint<any_device_tile>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #tt.iterator_type<parallel>
func.func @minimum(%a: tensor<64x96xf32, #tiles>, %0: tensor<64x96xf32, #tiles>) -> tensor<64x96xf32, #tiles> {
  // expected-error @+1 {{'ttir.generic' op has arith.minimumf in its body; bodies consist of elementwise operations of ttir, arith.addf, arith.addi, arith.divf, arith.mulf, arith.muli, arith.subf, arith.subi and ttir.constant}}
  %1 = "ttir.generic"(%a, %a, %0) <{grid = #tt.grid<1x1>, indexing_maps = [#map, #map, #map], iterator_types = [#parallel, #parallel], operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any, #any, #any]}> ({
  ^bb0(%x: tensor<64x96xf32>, %y: tensor<64x96xf32>, %z: tensor<64x96xf32>):
    %2 = arith.minimumf %x, %y : tensor<64x96xf32>
    "ttir.yield"(%2) : (tensor<64x96xf32>) -> ()
  }) : (tensor<64x96xf32, #tiles>, tensor<64x96xf32, #tiles>, tensor<64x96xf32, #tiles>) -> tensor<64x96xf32, #tiles>
  return %1 : tensor<64x96xf32, #tiles>
}

// -----

#l1_ = #tt.memory_space<l1>
#tiles = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<2x3x!tt.tile<32x32, f32>, #l1_>>
#spread = #tt.layout<(d0, d1) -> (d0, d1), undef, <2x1>, memref<1x3x!tt.tile<32x32, f32>, #l1_>>
#any = #tt.operand_constraint<any_device_tile>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #tt.iterator_type<parallel>
func.func @different(%a: tensor<64x96xf32, #tiles>, %0: tensor<64x96xf32, #spread>) -> tensor<64x96xf32, #spread> {
  // expected-error @+1 {{'ttir.generic' op operands have different layouts; bring them into one by ttir.to_layout}}
  %1 = "ttir.generic"(%a, %a, %0) <{grid = #tt.grid<1x1>, indexing_maps = [#map, #map, #map], iterator_types = [#parallel, #parallel], operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any, #any, #any]}> ({
  ^bb0(%x: tensor<64x96xf32>, %y: tensor<64x96xf32>, %z: tensor<64x96xf32>):
    %2 = arith.addf %x, %y : tensor<64x96xf32>
    "ttir.yield"(%2) : (tensor<64x96xf32>) -> ()
  }) : (tensor<64x96xf32, #tiles>, tensor<64x96xf32, #tiles>, tensor<64x96xf32, #spread>) -> tensor<64x96xf32, #spread>
  return %1 : tensor<64x96xf32, #spread>
}

// -----

#l1_ = #tt.memory_space<l1>
#rows = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x96xf32, #l1_>>
#any = #tt.operand_constraint<any_device_tile>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #tt.iterator_type<parallel>
func.func @rows(%a: tensor<64x96xf32, #rows>, %0: tensor<64x96xf32, #rows>) -> tensor<64x96xf32, #rows> {
  // expected-error @+1 {{'ttir.generic' op operands are f32 in l1; kernels compute on tiles in l1}}
  %1 = "ttir.generic"(%a, %a, %0) <{grid = #tt.grid<1x1>, indexing_maps = [#map, #map, #map], iterator_types = [#parallel, #parallel], operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any, #any, #any]}> ({
  ^bb0(%x: tensor<64x96xf32>, %y: tensor<64x96xf32>, %z: tensor<64x96xf32>):
    %2 = arith.addf %x, %y : tensor<64x96xf32>
    "ttir.yield"(%2) : (tensor<64x96xf32>) -> ()
  }) : (tensor<64x96xf32, #rows>, tensor<64x96xf32, #rows>, tensor<64x96xf32, #rows>) -> tensor<64x96xf32, #rows>
  return %1 : tensor<64x96xf32, #rows>
}

// -----

#l1_ = #tt.memory_space<l1>
#tiles = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<2x3x!tt.tile<32x32, f32>, #l1_>>
#any = #tt.operand_constraint<any_device_tile>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #tt.iterator_type<parallel>
func.func @whole(%a: tensor<64x96xf32, #tiles>, %0: tensor<64x96xf32, #tiles>) -> tensor<64x96xf32, #tiles>
    attributes {tt.arg_alloc = [#tt.arg_alloc<1024, 24576, l1>, #tt.arg_alloc<25600, 24576, l1>]} {
  // expected-error @+1 {{'ttir.generic' op has a body that works on whole tensors; run ttir-generic-region-operands-to-memref before}}
  %1 = "ttir.generic"(%a, %a, %0) <{grid = #tt.grid<1x1>, indexing_maps = [#map, #map, #map], iterator_types = [#parallel, #parallel], operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any, #any, #any]}> ({
  ^bb0(%x: tensor<64x96xf32>, %y: tensor<64x96xf32>, %z: tensor<64x96xf32>):
    %2 = arith.addf %x, %y : tensor<64x96xf32>
    "ttir.yield"(%2) : (tensor<64x96xf32>) -> ()
  }) : (tensor<64x96xf32, #tiles>, tensor<64x96xf32, #tiles>, tensor<64x96xf32, #tiles>) -> tensor<64x96xf32, #tiles>
  return %1 : tensor<64x96xf32, #tiles>
}

// -----

#l1_ = #tt.memory_space<l1>
#one = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<8x6xf32, #l1_>>
#three = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x3>, memref<8x2xf32, #l1_>>
func.func @no_scratch(%a: tensor<8x6xf32, #one>) -> tensor<8x6xf32, #three> attributes {tt.arg_alloc = [#tt.arg_alloc<1024, 192, l1>]} {
  %0 = "ttir.alloc"() <{address = 1216 : i64, memory_space = #l1_, size = 64 : i64}> : () -> tensor<8x6xf32, #three>
  // expected-error @+1 {{'ttir.to_layout' op the network copies between addresses that are equal modulo 16, got 1032 and 1216, and has no scratch memory to bring them together; run ttir-allocate, which notes it as tt.scratch}}
  %1 = "ttir.to_layout"(%a, %0) : (tensor<8x6xf32, #one>, tensor<8x6xf32, #three>) -> tensor<8x6xf32, #three>
  return %1 : tensor<8x6xf32, #three>
}
