// Passes of ttnn that tt-mlir has and that are not here: what to do instead.

// RUN: not ttmlir-opt --ttnn-deduce-moe-compute-layouts %s 2>&1 | FileCheck %s --check-prefix=MODEL
// RUN: not ttmlir-opt --ttnn-file-split %s 2>&1 | FileCheck %s --check-prefix=FILES
// RUN: not ttmlir-opt --ttnn-create-d2m-subgraphs %s 2>&1 | FileCheck %s --check-prefix=PARTS
// RUN: not ttmlir-opt --ttnn-lower-tt-lang-to-generic %s 2>&1 | FileCheck %s --check-prefix=KERNELS
// RUN: not ttmlir-opt --vhlo-legalize-to-stablehlo %s 2>&1 | FileCheck %s --check-prefix=PORTABLE
// RUN: not ttmlir-opt --decompose-custom-call-tuples %s 2>&1 | FileCheck %s --check-prefix=TUPLES
// RUN: ttmlir-opt --ttir-optimizer %s --show-dialects | FileCheck %s --check-prefix=NAMED

// PORTABLE: not supported: operations of vhlo are not read; turn the artifact into text of stablehlo with stablehlo-translate --deserialize
// TUPLES: not supported: use stablehlo-flatten-tuple, which leaves no tuples
// NAMED: Available Dialects
// MODEL: not supported: it asks a model of the device what operations take; without one they have the layouts of ttir-to-ttnn-backend-pipeline
// FILES: not supported: use ttnn-common-to-emitpy-pipeline, which writes one file of the module's functions
// PARTS: not supported: use ttir-to-ttmetal-pipeline with ttnn-mode for whole programs
// KERNELS: not supported: kernels of tt-lang are compiled by tt-lang
func.func @main() {
  return
}
