// RUN: ttmlir-opt --split-input-file --verify-diagnostics %s -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir

// Tiles that are spread, filled and masked, and conversions between types of the same tiles.

#d2m_compute = #d2m.thread<compute>
!tile = !ttcore.tile<32x32, bf16>
!short = !ttcore.tile<32x32, u16>
!word = !ttcore.tile<32x32, si32>

// CHECK-LABEL: func.func @parts
func.func @parts(%t: !tile, %s: !short, %i: index) attributes {d2m.thread = #d2m_compute} {
  // CHECK: "d2m.tile_bcast"(%arg0) <{bcast_type = #d2m<tile_bcast_type row>}> : (!ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, bf16>
  %0 = "d2m.tile_bcast"(%t) <{bcast_type = #d2m<tile_bcast_type row>}> : (!tile) -> !tile
  // CHECK: bcast_type = #d2m<tile_bcast_type col>
  %1 = "d2m.tile_bcast"(%0) <{bcast_type = #d2m<tile_bcast_type col>}> : (!tile) -> !tile
  // CHECK: bcast_type = #d2m<tile_bcast_type scalar>
  %2 = "d2m.tile_bcast"(%1) <{bcast_type = #d2m<tile_bcast_type scalar>}> : (!tile) -> !tile
  // CHECK: "d2m.tile_fill"() <{value = 1.500000e+00 : f32}> : () -> !ttcore.tile<32x32, bf16>
  %3 = "d2m.tile_fill"() <{value = 1.5 : f32}> : () -> !tile
  // CHECK: "d2m.tile_fill"() <{value = -1 : i32}> : () -> !ttcore.tile<32x32, si32>
  %4 = "d2m.tile_fill"() <{value = -1 : i32}> : () -> !word
  // CHECK: "d2m.tile_mask"(%arg0, %arg2, %arg2) <{valid = array<i64: 33, 70>, value = 0xFF800000 : f32}> : (!ttcore.tile<32x32, bf16>, index, index) -> !ttcore.tile<32x32, bf16>
  %5 = "d2m.tile_mask"(%t, %i, %i) <{valid = array<i64: 33, 70>, value = 0xFF800000 : f32}> : (!tile, index, index) -> !tile
  // CHECK: "d2m.tile_typecast"(%arg1) <{source = i16}> : (!ttcore.tile<32x32, u16>) -> !ttcore.tile<32x32, si32>
  %6 = "d2m.tile_typecast"(%s) <{source = i16}> : (!short) -> !word
  // CHECK: "d2m.tile_typecast"({{.*}}) <{target = i1}> : (!ttcore.tile<32x32, si32>) -> !ttcore.tile<32x32, bf16>
  %7 = "d2m.tile_typecast"(%6) <{target = i1}> : (!word) -> !tile
  return
}

// -----

func.func @kind(%t: !ttcore.tile<32x32, bf16>) attributes {d2m.thread = #d2m.thread<compute>} {
  // expected-error@+1 {{'d2m.tile_bcast' op requires attribute 'bcast_type'}}
  %0 = "d2m.tile_bcast"(%t) : (!ttcore.tile<32x32, bf16>) -> !ttcore.tile<32x32, bf16>
  return
}

// -----

func.func @extents(%t: !ttcore.tile<32x32, bf16>, %i: index) attributes {d2m.thread = #d2m.thread<compute>} {
  // expected-error@+1 {{'d2m.tile_mask' op valid must be the number of rows and of columns, got [33]}}
  %0 = "d2m.tile_mask"(%t, %i, %i) <{valid = array<i64: 33>, value = 0.0 : f32}> : (!ttcore.tile<32x32, bf16>, index, index) -> !ttcore.tile<32x32, bf16>
  return
}
