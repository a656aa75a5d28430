// RUN: ttmlir-opt %s | FileCheck %s
// The layout of the months before May 2026, which says what the padding holds; a tensor that is a
// view has the shape that its map gives it.

// CHECK: #layout = #ttcore.metal_layout<logical_shape = 64x128, dim_alignments = 32x32, collapsed_intervals = dense<[{{\[}}0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1, sharded>
#layout = #ttcore.metal_layout<logical_shape = 64x128, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1, sharded>

// CHECK: func.func private @f(tensor<4x2x1x2x!ttcore.tile<32x32, bf16>, #layout>)
func.func private @f(tensor<4x2x1x2x!ttcore.tile<32x32, bf16>, #layout>)
