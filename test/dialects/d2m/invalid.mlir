// RUN: ttmlir-opt --split-input-file --verify-diagnostics %s

// Every message of the verifier.

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @regions(%a: !t, %o: !t) {
  // expected-error@+1 {{op generic op with pure tensor semantics must have exactly 1 region}}
  %0 = d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<2x1>, indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute, @f>]} ins(%a : !t) outs(%o : !t) : !t
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @blocks(%a: !t, %o: !t) {
  // expected-error@+1 {{op generic op with pure tensor semantics must have exactly 1 block}}
  %0 = d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<2x1>, indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]} ins(%a : !t) outs(%o : !t) {
  ^compute0(%cb0: !d2m.cb<!s>, %cb1: !d2m.cb<!s>):
    cf.br ^next
  ^next:
    %r = d2m.reserve %cb1 : !d2m.cb<!s> -> !s
    d2m.yield %r : (!s)
  } : !t
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @terminator(%a: !t, %o: !t) {
  // expected-error@+1 {{op generic op with pure tensor semantics must have yield terminator}}
  %0 = d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<2x1>, indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]} ins(%a : !t) outs(%o : !t) {
  ^compute0(%cb0: !d2m.cb<!s>, %cb1: !d2m.cb<!s>):
    %r = d2m.reserve %cb1 : !d2m.cb<!s> -> !s
  } : !t
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @yielded(%a: !t, %o: !t) {
  // expected-error@+1 {{op yield terminator must have the same number of arguments as generic results}}
  %0 = d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<2x1>, indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]} ins(%a : !t) outs(%o : !t) {
  ^compute0(%cb0: !d2m.cb<!s>, %cb1: !d2m.cb<!s>):
    d2m.yield
  } : !t
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @mapping(%a: !t, %o: !t) {
  // expected-error@+1 {{op grid mapping is not supported}}
  %0 = d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<2x1, (d0, d1) -> (0, d0, d1)>, indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]} ins(%a : !t) outs(%o : !t) {
  ^compute0(%cb0: !d2m.cb<!s>, %cb1: !d2m.cb<!s>):
    %r = d2m.reserve %cb1 : !d2m.cb<!s> -> !s
    d2m.yield %r : (!s)
  } : !t
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @outputs(%a: !b, %o: !b) {
  // expected-error@+1 {{op must have at least one output operand}}
  d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<2x1>, indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]} ins(%a, %o : !b, !b) outs() {
  ^compute0(%cb0: !d2m.cb<!m>, %cb1: !d2m.cb<!m>):
  }
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @threads(%a: !b, %o: !b) {
  // expected-error@+1 {{op must have at least one thread}}
  d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<2x1>, indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel], threads = []} ins(%a : !b) outs(%o : !b)
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @threads_and_regions(%a: !b, %o: !b) {
  // expected-error@+1 {{op number of regions must match the number of threads}}
  d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<2x1>, indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>, #d2m.thread<compute>]} ins(%a : !b) outs(%o : !b) {
  ^compute0(%cb0: !d2m.cb<!m>, %cb1: !d2m.cb<!m>):
  }
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @grid(%a: !b, %o: !b) {
  // expected-error@+1 {{op output grid shape must be divisible by the generic op's grid shape}}
  d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<3x1>, indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]} ins(%a : !b) outs(%o : !b) {
  ^compute0(%cb0: !d2m.cb<!m>, %cb1: !d2m.cb<!m>):
  }
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @no_grid(%a: !m, %o: !b) {
  // expected-error@+1 {{op operand #0 has no grid, got 'memref<1x3x!ttcore.tile<32x32, bf16>, #ttcore.memory_space<l1>>'; expected a tensor with #ttcore.metal_layout or a memref with #ttcore.shard, #ttcore.interleaved or #ttcore.view}}
  d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<2x1>, indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]} ins(%a : !m) outs(%o : !b) {
  ^compute0(%cb0: !d2m.cb<!m>, %cb1: !d2m.cb<!m>):
  }
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @map_count(%a: !b, %o: !b) {
  // expected-error@+1 {{op expected 2 indexing maps, one for each operand, got 1}}
  d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<2x1>, indexing_maps = [#map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]} ins(%a : !b) outs(%o : !b) {
  ^compute0(%cb0: !d2m.cb<!m>, %cb1: !d2m.cb<!m>):
  }
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @map_dims(%a: !b, %o: !b) {
  // expected-error@+1 {{op all indexing maps must have the same number of dimensions}}
  d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<2x1>, indexing_maps = [#map, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]} ins(%a : !b) outs(%o : !b) {
  ^compute0(%cb0: !d2m.cb<!m>, %cb1: !d2m.cb<!m>):
  }
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @factors(%a: !b, %o: !b) {
  // expected-error@+1 {{op number of block factors[3] must match the number of iterators[2]}}
  d2m.generic {block_factors = [1, 1, 1], grid = #ttcore.grid<2x1>, indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]} ins(%a : !b) outs(%o : !b) {
  ^compute0(%cb0: !d2m.cb<!m>, %cb1: !d2m.cb<!m>):
  }
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @iterators(%a: !b, %o: !b) {
  // expected-error@+1 {{op expected maps of 1 iterators, got 2}}
  d2m.generic {block_factors = [1], grid = #ttcore.grid<2x1>, indexing_maps = [#map, #map], iterator_types = [#parallel], threads = [#d2m.thread<compute>]} ins(%a : !b) outs(%o : !b) {
  ^compute0(%cb0: !d2m.cb<!m>, %cb1: !d2m.cb<!m>):
  }
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @map_results(%a: !b, %o: !b) {
  // expected-error@+1 {{op the indexing map of operand #0 has 1 results, its grid 2 dimensions}}
  d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<2x1>, indexing_maps = [affine_map<(d0, d1) -> (d0)>, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]} ins(%a : !b) outs(%o : !b) {
  ^compute0(%cb0: !d2m.cb<!m>, %cb1: !d2m.cb<!m>):
  }
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @map_result(%a: !b, %o: !b) {
  // expected-error@+1 {{op the indexing map of operand #0 has the result 'd1 + 1'; supported are iterators and the constant 0}}
  d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<2x1>, indexing_maps = [affine_map<(d0, d1) -> (d0, d1 + 1)>, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]} ins(%a : !b) outs(%o : !b) {
  ^compute0(%cb0: !d2m.cb<!m>, %cb1: !d2m.cb<!m>):
  }
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
!c = memref<1x1x2x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!w = memref<2x1x1x4x!ttcore.tile<32x32, bf16>, #ttcore.shard<8192x2048>, #l1>
func.func @grids(%a: !c, %o: !b) {
  // expected-error@+1 {{op grid shape mismatch between operand[0] grid_shape=[1, 1] and operand[1] grid_shape=[2, 1] at affine dim d0}}
  d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<2x1>, indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]} ins(%a : !c) outs(%o : !b) {
  ^compute0(%cb0: !d2m.cb<!m>, %cb1: !d2m.cb<!m>):
  }
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
!c = memref<1x1x2x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!w = memref<2x1x1x4x!ttcore.tile<32x32, bf16>, #ttcore.shard<8192x2048>, #l1>
func.func @shards(%a: !w, %o: !b) {
  // expected-error@+1 {{op shard shape mismatch between operand[0] shard_shape=[32, 128] and operand[1] shard_shape=[32, 96] at affine dim d1}}
  d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<2x1>, indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]} ins(%a : !w) outs(%o : !b) {
  ^compute0(%cb0: !d2m.cb<!m>, %cb1: !d2m.cb<!m>):
  }
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @grid_dim(%a: !b, %o: !b) {
  // expected-error@+1 {{op grid dim unexpected for operand[0] grid_shape=[2, 1] expected grid_shape=[4, 1] at affine dim d0}}
  d2m.generic {block_factors = [2, 1], grid = #ttcore.grid<2x1>, indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]} ins(%a : !b) outs(%o : !b) {
  ^compute0(%cb0: !d2m.cb<!m>, %cb1: !d2m.cb<!m>):
  }
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @single_block(%a: !b, %o: !b) {
  // expected-error@+1 {{op region must have a single block}}
  d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<2x1>, indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]} ins(%a : !b) outs(%o : !b) {
  ^compute0(%cb0: !d2m.cb<!m>, %cb1: !d2m.cb<!m>):
    cf.br ^next
  ^next:
  }
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @arguments(%a: !b, %o: !b) {
  // expected-error@+1 {{op region must have at least as many arguments as the number of top-level operands}}
  d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<2x1>, indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]} ins(%a : !b) outs(%o : !b) {
  ^compute0(%cb0: !d2m.cb<!m>):
  }
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @argument_count(%a: !b, %o: !b) {
  // expected-error@+1 {{op all regions must have the same number of arguments}}
  d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<2x1>, indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<datamovement>, #d2m.thread<compute>]} ins(%a : !b) outs(%o : !b) {
  ^datamovement0(%cb0: !d2m.cb<!m>, %cb1: !d2m.cb<!m>):
  }, {
  ^compute0(%cb0: !d2m.cb<!m>, %cb1: !d2m.cb<!m>, %sem0: !d2m.semaphore):
  }
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @argument_kind(%a: !b, %o: !b) {
  // expected-error@+1 {{op all regions must either cb or semaphore block argument type}}
  d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<2x1>, indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]} ins(%a : !b) outs(%o : !b) {
  ^compute0(%cb0: !d2m.cb<!m>, %cb1: !m):
  }
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @argument_types(%a: !b, %o: !b) {
  // expected-error@+1 {{op all regions must have the same argument types}}
  d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<2x1>, indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<datamovement>, #d2m.thread<compute>]} ins(%a : !b) outs(%o : !b) {
  ^datamovement0(%cb0: !d2m.cb<!m>, %cb1: !d2m.cb<!m>, %sem0: !d2m.semaphore):
  }, {
  ^compute0(%cb0: !d2m.cb<!m>, %cb1: !d2m.cb<!m>, %cb2: !d2m.cb<!m>):
  }
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @argument_shape(%a: !b, %o: !b) {
  // expected-error@+1 {{op region argument shape must match the shape of the corresponding operand}}
  d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<2x1>, indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]} ins(%a : !b) outs(%o : !b) {
  ^compute0(%cb0: !d2m.cb<!m>, %cb1: !d2m.cb<memref<3x1x!ttcore.tile<32x32, bf16>, #l1>>):
  }
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @additional(%a: !b, %o: !b) {
  // expected-error@+1 {{op additional region arguments must be of 'semaphore' type}}
  d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<2x1>, indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]} ins(%a : !b) outs(%o : !b) {
  ^compute0(%cb0: !d2m.cb<!m>, %cb1: !d2m.cb<!m>, %cb2: !d2m.cb<!m>):
  }
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @symbols(%a: !b, %o: !b) {
  // expected-error@+1 {{op threads must have a kernel symbol in external symbol form (i.e. without regions)}}
  d2m.generic {block_factors = [], grid = #ttcore.grid<2x1>, indexing_maps = [], iterator_types = [], threads = [#d2m.thread<datamovement, @f>, #d2m.thread<compute>]} ins(%a : !b) outs(%o : !b)
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @shared_blocks(%a: !b, %o: !b) {
  %p = d2m.view_layout %o : !b -> memref<1x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
  %v = d2m.view_layout %o : !b -> !v
  // expected-error@+1 {{op the cores are spread over iterator d0, which is no result of the indexing map of output operand #2; they would all write the same blocks}}
  d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<2x1>, indexing_maps = [#map, #map, affine_map<(d0, d1) -> (0, d1)>], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]} ins(%a : !b) outs(%v, %p : !v, memref<1x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>) {
  ^compute0(%cb0: !d2m.cb<!m>, %cb1: !d2m.cb<!m>, %cb2: !d2m.cb<!m>):
  }
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @full() {
  // expected-error@+1 {{op expected shape (32, 64), got (32, 32)}}
  %0 = d2m.full {fill_value = 1.0 : f32, shape = array<i32: 32, 32>} : tensor<32x64xf32>
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @shapes(%a: tensor<64x128xbf16>, %o: !t) {
  // expected-error@+1 {{op input and output hold tensors of different shapes: 64x128 and 64x96}}
  %0 = d2m.to_layout %a, %o : tensor<64x128xbf16> into !t -> !t
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @elements(%a: !b, %o: !b) {
  // expected-error@+1 {{op view must preserve total number of elements}}
  %0 = d2m.view_layout %a : !b -> memref<2x1x1x4x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @dtype(%a: !b, %o: !b) {
  // expected-error@+1 {{op view must not change dtype}}
  %0 = d2m.view_layout %a : !b -> memref<2x1x1x3x!ttcore.tile<32x32, f32>, #ttcore.view<map(4)>, #l1>
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @reinterpreted(%a: !b, %o: !b) {
  // expected-error@+1 {{op reinterpret_layout cannot change grid shape}}
  %0 = d2m.view_layout %a {reinterpretLayout = true} : !b -> memref<1x1x2x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @storage_type(%a: !b, %s: memref<2x1x1x3xbf16, #ttcore.shard<6x2>, #l1>) {
  // expected-error@+1 {{op storage must have the element type of the input}}
  %0 = "d2m.stream_layout"(%a, %s) : (!b, memref<2x1x1x3xbf16, #ttcore.shard<6x2>, #l1>) -> !v
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @storage_rank(%a: !b, %s: !m) {
  // expected-error@+1 {{op storage must have the rank of the result}}
  %0 = "d2m.stream_layout"(%a, %s) : (!b, !m) -> !v
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @storage_grid(%a: !b, %s: memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #l1>) {
  // expected-error@+1 {{op input, storage and result must have a grid: tensors with a metal layout or memrefs with a device layout}}
  %0 = "d2m.stream_layout"(%a, %s) : (!b, memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #l1>) -> !v
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @storage_shard(%a: !b, %s: memref<2x3x1x1x!ttcore.tile<32x32, bf16>, #ttcore.shard<2048x2048>, #l1>) {
  // expected-error@+1 {{op storage must have the shard shape of the result}}
  %0 = "d2m.stream_layout"(%a, %s) : (!b, memref<2x3x1x1x!ttcore.tile<32x32, bf16>, #ttcore.shard<2048x2048>, #l1>) -> !v
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @stream_space(%a: !b, %s: !b) {
  // expected-error@+1 {{op result must be in the memory space of the input}}
  %0 = "d2m.stream_layout"(%a, %s) : (!b, !b) -> memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #ttcore.memory_space<dram>>
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @maximal(%a: !t, %o: !t) {
  // expected-error@+1 {{op Invalid shard_type (maximal) for mesh_shard op.}}
  %0 = d2m.mesh_shard %a {shard_dims = array<i64: 0>, shard_direction = #ttcore.shard_direction<full_to_shard>, shard_shape = array<i64: 1>, shard_type = #ttcore.shard_type<maximal>} : !t -> !t
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @compute(%t: !ttcore.tile<32x32, bf16>) attributes {d2m.thread = #d2m.thread<datamovement>} {
  // expected-error@+1 {{op expected to be in a compute region}}
  %0 = "d2m.tile_exp"(%t) : (!ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, bf16>
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @datamovement(%sem0: !d2m.semaphore, %i: index) attributes {d2m.thread = #d2m.thread<compute>} {
  // expected-error@+1 {{op expected to be in a datamovement region}}
  d2m.semaphore_set %sem0, %i
  return
}

// -----

// expected-error@+1 {{op D2M Generic Ops must be inside a generic region}}
%0 = d2m.null_tx

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @region(%a: !b, %o: !b) {
  d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<2x1>, indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<datamovement>, #d2m.thread<compute>]} ins(%a : !b) outs(%o : !b) {
  ^datamovement0(%cb0: !d2m.cb<!m>, %cb1: !d2m.cb<!m>):
  }, {
  ^compute0(%cb0: !d2m.cb<!m>, %cb1: !d2m.cb<!m>):
    %m = d2m.reserve %cb0 : !d2m.cb<!m> -> !m
    %true = arith.constant true
    scf.if %true {
      // expected-error@+1 {{op expected to be in a datamovement region}}
      %tx = d2m.dma %m, %m : (!m, !m) -> !d2m.mem_tx
    }
  }
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @matmul(%s: tensor<2x2xf32>) attributes {d2m.thread = #d2m.thread<compute>} {
  // expected-error@+1 {{op operands to TileMatmulBlock must have ttcore.tile element type}}
  %0 = "d2m.tile_matmul_block"(%s, %s, %s) : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @tilize(%s: tensor<2x2xf32>) attributes {d2m.thread = #d2m.thread<compute>} {
  // expected-error@+1 {{op expected numbers on one side and ttcore.tile elements on the other}}
  %0 = "d2m.tile_tilize_block"(%s, %s) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @waited(%cb0: !d2m.cb<!m>) attributes {d2m.thread = #d2m.thread<compute>} {
  // expected-error@+1 {{op result type must match the underlying type of the circular buffer}}
  %0 = d2m.wait %cb0 : !d2m.cb<!m> -> memref<3x1x!ttcore.tile<32x32, bf16>, #l1>
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @number(%i: index) attributes {d2m.thread = #d2m.thread<compute>} {
  // expected-error@+1 {{op operand #0 must be TT tile, but got 'index'}}
  %0 = "d2m.tile_exp"(%i) : (index) -> index
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @yield_place() attributes {d2m.thread = #d2m.thread<compute>} {
  // expected-error@+1 {{op must be the last operation in the parent block}}
  d2m.yield
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @element_type(%m: !m, %f: memref<1x3xf32, #l1>) attributes {d2m.thread = #d2m.thread<datamovement>} {
  // expected-error@+1 {{op operands to DMA must have the same element type}}
  %0 = d2m.dma %m, %f : (!m, memref<1x3xf32, #l1>) -> !d2m.mem_tx
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @both_remote(%b: !b, %d: !v) attributes {d2m.thread = #d2m.thread<datamovement>} {
  // expected-error@+1 {{op cannot have both src and dst remote}}
  %0 = d2m.dma %b, %d : (!b, !v) -> !d2m.mem_tx
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @mcast_remote(%m: !m, %b: !b, %i: index) attributes {d2m.thread = #d2m.thread<datamovement>} {
  // expected-error@+1 {{op cannot mcast to remote dst}}
  %0 = d2m.dma %m, %b[%i, %i] core[%i, %i] mcast[%i, %i] : (!m, !b) -> !d2m.mem_tx
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @src_map_and_indices(%m: !m, %b: !b, %i: index) attributes {d2m.thread = #d2m.thread<datamovement>} {
  // expected-error@+1 {{op cannot have both src affine map and indices}}
  %0 = d2m.dma %b<#map>[%i, %i], %m : (!b, !m) -> !d2m.mem_tx
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @dst_map_and_indices(%m: !m, %b: !b, %i: index) attributes {d2m.thread = #d2m.thread<datamovement>} {
  // expected-error@+1 {{op cannot have both dst affine map and indices}}
  %0 = d2m.dma %m, %b<#map>[%i, %i] : (!m, !b) -> !d2m.mem_tx
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @start(%m: !m, %b: !b, %i: index) attributes {d2m.thread = #d2m.thread<datamovement>} {
  // expected-error@+1 {{op mcast start index requires mcast shape}}
  %0 = d2m.dma %m, %m core[%i, %i] : (!m, !m) -> !d2m.mem_tx
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @shape(%m: !m, %b: !b, %i: index) attributes {d2m.thread = #d2m.thread<datamovement>} {
  // expected-error@+1 {{op mcast shape requires mcast start index}}
  %0 = d2m.dma %m, %m mcast[%i, %i] : (!m, !m) -> !d2m.mem_tx
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @src_indices(%m: !m, %b: !b, %i: index) attributes {d2m.thread = #d2m.thread<datamovement>} {
  // expected-error@+1 {{op invalid number of src indices, expected less than 4}}
  %0 = d2m.dma %b[%i, %i, %i, %i, %i], %m : (!b, !m) -> !d2m.mem_tx
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @dst_indices(%m: !m, %b: !b, %i: index) attributes {d2m.thread = #d2m.thread<datamovement>} {
  // expected-error@+1 {{op invalid number of dst indices, expected less than 2}}
  %0 = d2m.dma %b[%i, %i], %m[%i, %i, %i] : (!b, !m) -> !d2m.mem_tx
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @rest_rank(%m: !m, %b: !b, %i: index) attributes {d2m.thread = #d2m.thread<datamovement>} {
  // expected-error@+1 {{op operands must have the same post-index rank}}
  %0 = d2m.dma %b[%i], %m : (!b, !m) -> !d2m.mem_tx
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @rest_shape(%b: !b, %n: memref<3x1x!ttcore.tile<32x32, bf16>, #l1>, %i: index) attributes {d2m.thread = #d2m.thread<datamovement>} {
  // expected-error@+1 {{op operands must have the same post-index shape}}
  %0 = d2m.dma %b[%i, %i], %n : (!b, memref<3x1x!ttcore.tile<32x32, bf16>, #l1>) -> !d2m.mem_tx
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @local_map(%m: !m, %b: !b, %i: index) attributes {d2m.thread = #d2m.thread<datamovement>} {
  // expected-error@+1 {{op if src affine map is provided, src must be remote}}
  %0 = d2m.dma %m<#map>, %m : (!m, !m) -> !d2m.mem_tx
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @local_dst_map(%m: !m, %b: !b, %i: index) attributes {d2m.thread = #d2m.thread<datamovement>} {
  // expected-error@+1 {{op if dst affine map is provided, dst must be remote}}
  %0 = d2m.dma %m, %m<#map> : (!m, !m) -> !d2m.mem_tx
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @read_ends(%m: !m, %b: !b, %i: index) attributes {d2m.thread = #d2m.thread<datamovement>} {
  // expected-error@+1 {{op For DMARead, src must be remote and dst must be local}}
  %0 = d2m.dma_read %m[%i], %m[%i], <3> : (!m, !m) -> !d2m.mem_tx
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @read_src(%m: !m, %b: !b, %i: index) attributes {d2m.thread = #d2m.thread<datamovement>} {
  // expected-error@+1 {{op Must have 3 src indices for remote src operand}}
  %0 = d2m.dma_read %b[%i], %m[%i], <3> : (!b, !m) -> !d2m.mem_tx
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @read_dst(%m: !m, %b: !b, %i: index) attributes {d2m.thread = #d2m.thread<datamovement>} {
  // expected-error@+1 {{op Must have 1 dst index for local dst operand}}
  %0 = d2m.dma_read %b[%i, %i, %i], %m[%i, %i], <3> : (!b, !m) -> !d2m.mem_tx
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @write_src(%m: !m, %b: !b, %i: index) attributes {d2m.thread = #d2m.thread<datamovement>} {
  // expected-error@+1 {{op For DMAWrite, src must be local}}
  %0 = d2m.dma_write %b[%i], %m[%i], <3> : (!b, !m) -> !d2m.mem_tx
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @write_dst(%m: !m, %b: !b, %i: index) attributes {d2m.thread = #d2m.thread<datamovement>} {
  // expected-error@+1 {{op Must have 3 dst indices for remote dst operand}}
  %0 = d2m.dma_write %m[%i], %b[%i], <3> : (!m, !b) -> !d2m.mem_tx
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @write_local(%m: !m, %b: !b, %i: index) attributes {d2m.thread = #d2m.thread<datamovement>} {
  // expected-error@+1 {{op Must have 1 dst index for local dst operand}}
  %0 = d2m.dma_write %m[%i], %m[%i, %i], <3> : (!m, !m) -> !d2m.mem_tx
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @write_index(%m: !m, %b: !b, %i: index) attributes {d2m.thread = #d2m.thread<datamovement>} {
  // expected-error@+1 {{op Must have 1 src index for local src operand}}
  %0 = d2m.dma_write %m[%i, %i], %m[%i], <3> : (!m, !m) -> !d2m.mem_tx
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @write_mcast(%m: !m, %b: !b, %i: index) attributes {d2m.thread = #d2m.thread<datamovement>} {
  // expected-error@+1 {{op cannot mcast to remote dst}}
  %0 = d2m.dma_write %m[%i], %b[%i, %i, %i] core[%i, %i] mcast[%i, %i], <3> : (!m, !b) -> !d2m.mem_tx
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @semaphore(%s: !d2m.semaphore, %i: index) attributes {d2m.thread = #d2m.thread<datamovement>} {
  // expected-error@+1 {{op mcast shape requires mcast start index}}
  d2m.semaphore_set %s, %i, mcast[%i, %i]
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @stored(%m: !m, %b: !b, %i: index) attributes {d2m.thread = #d2m.thread<datamovement>} {
  // expected-error@+1 {{op requires the same type for all operands}}
  "d2m.store"(%m, %b) : (!m, !b) -> ()
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @gathered(%m: !m) attributes {d2m.thread = #d2m.thread<compute>} {
  %n = memref.alloc() : memref<8x1x2x!ttcore.tile<32x32, bf16>, #l1>
  // expected-error@+1 {{expected parts of 1x3, got 1x2}}
  "d2m.all_gather"(%m, %n) : (!m, memref<8x1x2x!ttcore.tile<32x32, bf16>, #l1>) -> ()
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @idle_cores(%a: !b, %o: !b) {
  %v = d2m.view_layout %o : !b -> !v
  // expected-error@+1 {{op output grid shape must be divisible by the generic op's grid shape}}
  d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<3x1>, indexing_maps = [#map, #map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]} ins(%a : !b) outs(%v : !v) {
  ^compute0(%cb0: !d2m.cb<!m>, %cb1: !d2m.cb<!m>):
  }
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#map = affine_map<(d0, d1) -> (d0, d1)>
#parallel = #ttcore.iterator_type<parallel>
#reduction = #ttcore.iterator_type<reduction>
#l1 = #ttcore.memory_space<l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
!s = tensor<1x3x!ttcore.tile<32x32, bf16>>
!b = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.shard<6144x2048>, #l1>
!m = memref<1x3x!ttcore.tile<32x32, bf16>, #l1>
!v = memref<2x1x1x3x!ttcore.tile<32x32, bf16>, #ttcore.view<map(4)>, #l1>
func.func @uneven(%a: !b, %o: !b) {
  %v = d2m.view_layout %o : !b -> memref<3x1x1x2x!ttcore.tile<32x32, bf16>, #ttcore.view<(d0, d1, d2, d3) -> (0, 0, 0, d0)>, #l1>
  // expected-error@+1 {{op grid dim unexpected for operand[0] grid_shape=[3, 1] expected grid_shape=[2, 1] at affine dim d0}}
  d2m.generic {block_factors = [1, 1], grid = #ttcore.grid<2x1>, indexing_maps = [#map], iterator_types = [#parallel, #parallel], threads = [#d2m.thread<compute>]} ins() outs(%v : memref<3x1x1x2x!ttcore.tile<32x32, bf16>, #ttcore.view<(d0, d1, d2, d3) -> (0, 0, 0, d0)>, #l1>) {
  ^compute0(%cb0: !d2m.cb<memref<1x2x!ttcore.tile<32x32, bf16>, #l1>>):
  }
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
#slice = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1, index_map = (d0, d1, d2, d3) -> (d2, d3)>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
func.func @ranks_of_maps(%a: !t) {
  // expected-error@+1 {{op the map of a view of rank 4 on a buffer of rank 4 takes as many dimensions and gives as many results, got '(d0, d1, d2, d3) -> (d2, d3)'}}
  %0 = d2m.view_layout %a : !t -> tensor<1x1x1x3x!ttcore.tile<32x32, bf16>, #slice>
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
!t = tensor<1x1x2x3x!ttcore.tile<32x32, bf16>, #layout>
func.func @elements_beyond_the_buffer(%a: !t) {
  // expected-error@+1 {{op 'd1 + 1' goes from 1 to 96; the buffer has 96 elements along this dimension}}
  %0 = d2m.view_elements %a {map = affine_map<(d0, d1) -> (d0, d1 + 1)>, shape = array<i64: 64, 96>} : !t -> !t
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
!t = tensor<1x1x2x3x!ttcore.tile<32x32, bf16>, #layout>
func.func @rank_of_the_map(%a: !t) {
  // expected-error@+1 {{op expected a map from 2 to 2 dimensions, got '(d0) -> (d0, d0)'}}
  %0 = d2m.view_elements %a {map = affine_map<(d0) -> (d0, d0)>, shape = array<i64: 64, 96>} : !t -> !t
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
!t = tensor<1x1x2x3x!ttcore.tile<32x32, bf16>, #layout>
func.func @shape_of_elements(%a: !t) {
  // expected-error@+1 {{op the shape 65x96 does not fit in 64x96}}
  %0 = d2m.view_elements %a {map = affine_map<(d0, d1) -> (0, d1)>, shape = array<i64: 65, 96>} : !t -> !t
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
!t = tensor<1x1x2x3x!ttcore.tile<32x32, bf16>, #layout>
!u = tensor<1x1x2x3x!ttcore.tile<32x32, f32>, #layout>
func.func @format_of_elements(%a: !t) {
  // expected-error@+1 {{op view must not change dtype}}
  %0 = d2m.view_elements %a {map = affine_map<(d0, d1) -> (d0, d1)>, shape = array<i64: 64, 96>} : !t -> !u
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
!t = tensor<2x1x1x3x!ttcore.tile<32x32, bf16>, #layout>
func.func @elements_on_several_cores(%a: !t) {
  // expected-error@+1 {{op view and buffer must have tiles, on a grid of one core}}
  %0 = d2m.view_elements %a {map = affine_map<(d0, d1) -> (d0, d1)>, shape = array<i64: 64, 96>} : !t -> !t
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
!t = tensor<1x1x2x3x!ttcore.tile<32x32, bf16>, #layout>
!n = tensor<1x1x2x3x!ttcore.tile<32x32, si32>, #layout>
func.func @numbers_beyond_the_buffer(%a: !t, %n: !n) {
  // expected-error@+1 {{op 'd2' goes from 0 to 64; the buffer has 64 elements along this dimension}}
  %0 = "d2m.view_numbered"(%a, %n) <{count = 65 : i64, map = affine_map<(d0, d1, d2) -> (d2, d1)>, places = affine_map<(d0, d1) -> (d0, 0)>, shape = array<i64: 64, 96>}> : (!t, !n) -> !t
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
!t = tensor<1x1x2x3x!ttcore.tile<32x32, bf16>, #layout>
!n = tensor<1x1x2x3x!ttcore.tile<32x32, si32>, #layout>
func.func @no_numbers(%a: !t, %n: !n) {
  // expected-error@+1 {{op count must be 1 or more, got 0}}
  %0 = "d2m.view_numbered"(%a, %n) <{count = 0 : i64, map = affine_map<(d0, d1, d2) -> (d2, d1)>, places = affine_map<(d0, d1) -> (d0, 0)>, shape = array<i64: 64, 96>}> : (!t, !n) -> !t
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
!t = tensor<1x1x2x3x!ttcore.tile<32x32, bf16>, #layout>
!n = tensor<1x1x2x3x!ttcore.tile<32x32, u32>, #layout>
func.func @places_of_numbers(%a: !t, %n: !n) {
  // expected-error@+1 {{op 'd1' goes from 0 to 95; the buffer has 64 elements along this dimension}}
  %0 = "d2m.view_numbered"(%a, %n) <{count = 64 : i64, map = affine_map<(d0, d1, d2) -> (d2, d1)>, places = affine_map<(d0, d1) -> (d1, 0)>, shape = array<i64: 64, 96>}> : (!t, !n) -> !t
  return
}

// -----

#layout = #ttcore.metal_layout<logical_shape = 64x96, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, undef, l1>
!t = tensor<1x1x2x3x!ttcore.tile<32x32, bf16>, #layout>
!n = tensor<1x1x2x3x!ttcore.tile<32x32, bf16>, #layout>
func.func @numbers_of_16_bits(%a: !t, %n: !n) {
  // expected-error@+1 {{op numbers must be tiles of 32-bit integers, on a grid of one core}}
  %0 = "d2m.view_numbered"(%a, %n) <{count = 64 : i64, map = affine_map<(d0, d1, d2) -> (d2, d1)>, places = affine_map<(d0, d1) -> (d0, 0)>, shape = array<i64: 64, 96>}> : (!t, !n) -> !t
  return
}
