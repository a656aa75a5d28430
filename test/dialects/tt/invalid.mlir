// RUN: ttmlir-opt --split-input-file --verify-diagnostics %s

// Broken attributes of tt as a user meets them; `test_messages.py` has every message and its place.

// expected-error@+2 {{expected ::mlir::tt::MemorySpace to be one of: system, mmio, dram, l1}}
// expected-error@+1 {{failed to parse TT_MemorySpaceAttr parameter 'value' which is to be a `::mlir::tt::MemorySpace`}}
module attributes {test.at = #tt.memory_space<l2>} {}

// -----

// An error within a nested attribute is followed by one for each attribute around it.
// expected-error@+3 {{use of undeclared identifier}}
// expected-error@+2 {{failed to parse TT_GridAttr parameter 'mapping' which is to be a `AffineMap`}}
// expected-error@+1 {{failed to parse TT_LayoutAttr parameter 'grid' which is to be a `GridAttr`}}
module attributes {test.at = #tt.layout<(d0) -> (d0), undef, <1, (d0) -> (d1)>, memref<4xf32>>} {}

// -----

// expected-error@+1 {{expected chipIds size to match the volume of meshShape}}
module attributes {test.at = #tt.device<workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>, l1Map = (d0, d1) -> (0, 0, d0, d1), dramMap = (d0, d1) -> (0, 0, d0, d1), meshShape = 2x2, chipIds = [0, 1, 2]>} {}

// -----

// expected-error@+1 {{expected 2D shape}}
func.func @tile(%arg0: memref<2x4x!tt.tile<32, f32>>) {
  return
}

// -----

// expected-error@+1 {{unknown attribute `nonsense` in dialect `tt`}}
module attributes {test.at = #tt.nonsense<1>} {}
