// Two layers' worth of operations on shapes that no tile divides.
#any = #tt.operand_constraint<dram|l1|scalar|tile|any_device|any_device_tile>
func.func @small(%x: tensor<5x33xf32>, %w: tensor<33x7xf32>, %b: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %0 = tensor.empty() : tensor<5x7xf32>
  %1 = "ttir.matmul"(%x, %w, %0) <{operand_constraints = [#any, #any, #any]}> : (tensor<5x33xf32>, tensor<33x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %2 = tensor.empty() : tensor<5x7xf32>
  %3 = "ttir.add"(%1, %b, %2) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any, #any, #any]}> : (tensor<5x7xf32>, tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  return %3 : tensor<5x7xf32>
}

{-#
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module(ttir-fold-batch-norm,ttir-decomposition,ttir-sliding-window-2d-fix-shapes,ttir-load-system-desc{path=\"\"},ttir-implicit-device{mesh-shape=\"\"},ttir-layout{init-memory-space=system default-memory-space=dram default-device-memory-layout=interleaved init-whole-tiles=false constants-on-host=false kernels-on-one-grid=false kernel-grid=\"\"},ttir-grid-set{override-grid-sizes=\"\" sharding-pass-enabled=false},convert-ttir-to-ttnn,cse)",
      disable_threading: true,
      verify_each: true
    }
  }
#-}
