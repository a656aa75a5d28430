// Names that no operation has are told, with those that are like them; grids that no device has are refused.
// RUN: ttmlir-opt --ttir-layout --ttir-grid-set="override-grid-sizes=frist=4x2,other=1x1" %s 2>&1 | FileCheck %s --check-prefix=NAMES
// RUN: not ttmlir-opt --ttir-layout --ttir-grid-set="override-grid-sizes=first=8x9" %s 2>&1 | FileCheck %s --check-prefix=LARGE
// RUN: not ttmlir-opt --ttir-to-ttnn-backend-pipeline="override-grid-sizes=second=65x1" %s 2>&1 | FileCheck %s --check-prefix=LONG
// RUN: ttmlir-opt --ttir-layout --ttir-grid-set="override-grid-sizes=first=16x4" %s | FileCheck %s --check-prefix=FITS
// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline="override-grid-sizes=x=2x2" %S/../Inputs/add.mlir 2>&1 | FileCheck %s --check-prefix=NAMELESS

// NAMES: grid_overrides.mlir:0:0: warning: override-grid-sizes: no operation has the location 'frist'; did you mean 'first'?
// NAMES: grid_overrides.mlir:0:0: warning: override-grid-sizes: no operation has the location 'other'
// LARGE: <unknown>:0: error: loc("first"): 'tensor.empty' op cannot run on the grid 8x9 that override-grid-sizes gives it: the device has 8x8 = 64 cores
// LONG: model.py:7:2: error: 'ttir.abs' op cannot run on the grid 65x1 that override-grid-sizes gives it
// FITS: <16x4>
// NAMELESS: warning: override-grid-sizes: no operation has the location 'x'; there are '

#any = #tt.operand_constraint<any_device>
func.func @chain(%a: tensor<64x130xf32>) -> tensor<64x130xf32> {
  %0 = tensor.empty() : tensor<64x130xf32>
  %1 = "ttir.exp"(%a, %0) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any, #any]}> : (tensor<64x130xf32>, tensor<64x130xf32>) -> tensor<64x130xf32> loc("first")
  %2 = tensor.empty() : tensor<64x130xf32>
  %3 = "ttir.abs"(%1, %2) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any, #any]}> : (tensor<64x130xf32>, tensor<64x130xf32>) -> tensor<64x130xf32> loc("second"("model.py":7:2))
  return %3 : tensor<64x130xf32>
}
