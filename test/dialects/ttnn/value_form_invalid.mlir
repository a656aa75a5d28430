// What the later form of ttnn refuses.
// RUN: ttmlir-opt --split-input-file --verify-diagnostics %s

#dram = #ttnn.buffer_type<dram>
#tiles = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
func.func @operand_count(%x: tensor<3x7xbf16, #tiles>) {
  // expected-error@+1 {{op expected 2 operands, but found 3}}
  %0 = "ttnn.add"(%x, %x, %x) : (tensor<3x7xbf16, #tiles>, tensor<3x7xbf16, #tiles>, tensor<3x7xbf16, #tiles>) -> tensor<3x7xbf16, #tiles>
  return
}

// -----

// The earlier form has a destination.
func.func @no_destination(%x: tensor<3x7xbf16>, %y: tensor<7x5xbf16>) {
  // expected-error@+1 {{op expected 3 operands, but found 2}}
  %0 = "ttnn.matmul"(%x, %y) : (tensor<3x7xbf16>, tensor<7x5xbf16>) -> tensor<3x5xbf16>
  return
}

// -----

func.func @other_destination(%x: tensor<3x7xbf16>, %y: tensor<3x7xbf16>) {
  // expected-error@+1 {{op writes to an operand of another type than its result}}
  %0 = "ttnn.concat"(%x, %y) <{dim = 1 : si32}> : (tensor<3x7xbf16>, tensor<3x7xbf16>) -> tensor<3x14xbf16>
  return
}

// -----

#dram = #ttnn.buffer_type<dram>
#tiles = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
func.func @dtype(%x: tensor<3x7xbf16, #tiles>) {
  // expected-error@+1 {{invalid properties {dtype = "bf16"} for op ttnn.exp: Invalid attribute `dtype` in property conversion: "bf16"}}
  %0 = "ttnn.exp"(%x) <{dtype = "bf16"}> : (tensor<3x7xbf16, #tiles>) -> tensor<3x7xbf16, #tiles>
  return
}

// -----

// expected-error@+1 {{expected rows and columns, got 3 extents}}
module attributes {a = #ttnn<mesh_shape 1x1x1>} {}

// -----

#dram = #ttnn.buffer_type<dram>
// expected-error@+2 {{invalid kind of attribute specified}}
// expected-error@+1 {{failed to parse TTNN_TTNNLayoutAttr parameter 'grid' which is to be a `GridAttr`}}
#layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), #dram, memref<1x1xbf16, #dram>, <interleaved>>
func.func private @grid(tensor<1x1xbf16, #layout>)
