// What pipelines of 2026 are asked for and do not do is said.

// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline="row-major-enabled=true max-legal-layouts=8" %s 2>&1 | FileCheck %s --check-prefix=OPTIMIZER
// OPTIMIZER: warning: --row-major-enabled has no effect: there is no model of the device, with which tt-mlir searches for layouts
// OPTIMIZER: warning: --max-legal-layouts has no effect

// RUN: not ttmlir-opt --ttir-to-ttnn-backend-pipeline="optimization-level=4" %s 2>&1 | FileCheck %s --check-prefix=LEVEL
// LEVEL: Invalid optimization_level: 4. Optimization level must be 0, 1, 2, or 3

// RUN: echo 'func.func @same(%%x: tensor<3xf32>) -> tensor<3xf32> { return %%x : tensor<3xf32> }' | ttmlir-opt --ttir-to-ttnn-backend-pipeline="optimization-level=3 spelling=2024" 2>&1 | FileCheck %s --check-prefix=EARLY
// EARLY: warning: --optimization-level has no effect: the program becomes text of 2024; spelling=2026 writes that of 2026, which has it

// RUN: not ttmlir-opt --ttir-quant-data-type-conversion="target-bit-width=12" %s 2>&1 | FileCheck %s --check-prefix=BITS
// BITS: for the --target-bit-width option: 12 is none of the widths of quantized numbers; give 8, 16 or 32

// RUN: not ttmlir-opt --ttir-quant-data-type-conversion="target-bit-width=8" %s 2>&1 | FileCheck %s --check-prefix=NARROW
// NARROW: error: {{.*}}Target integer type of width 8 is smaller than quantized type's storage width 16. Out of range.

func.func @sum(%a: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %0 = "ttir.add"(%a, %a) : (tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  %1 = "ttir.quantize"(%0) : (tensor<5x7xf32>) -> tensor<5x7x!quant.uniform<i16:f32, 0.1>>
  %2 = "ttir.dequantize"(%1) : (tensor<5x7x!quant.uniform<i16:f32, 0.1>>) -> tensor<5x7xf32>
  return %2 : tensor<5x7xf32>
}
