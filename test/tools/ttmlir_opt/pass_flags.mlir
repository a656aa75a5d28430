// Pass flags run in the order given, with one dash or two, with options in quotes.
// RUN: ttmlir-opt --cse --symbol-dce --dump-pass-pipeline %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: ttmlir-opt -symbol-dce -cse -dump-pass-pipeline %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=REVERSED
// RUN: ttmlir-opt --symbol-privatize="exclude=main,other" --symbol-dce %s | FileCheck %s --check-prefix=OPTION
// RUN: ttmlir-opt %s | FileCheck %s --check-prefix=NONE
// RUN: ttmlir-opt --cse %s --verify-each=false | FileCheck %s --check-prefix=NONE
// RUN: ttmlir-opt --ttir-load-system-desc --ttir-implicit-device --ttir-grid-set='override-grid-sizes=a=2x3,b=4x1 sharding-pass-enabled' --dump-pass-pipeline /dev/null -o /dev/null 2>&1 | FileCheck %s --check-prefix=VALUES
// RUN: ttmlir-opt --ttir-load-system-desc --ttir-implicit-device --ttir-grid-set='override_grid_sizes="a=2x3" sharding_pass_enabled=0' --dump-pass-pipeline /dev/null -o /dev/null 2>&1 | FileCheck %s --check-prefix=UNDERSCORES
// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline='mesh-shape=1,1 system-desc-path="" enable-grid-set=false' --dump-pass-pipeline /dev/null -o /dev/null 2>&1 | FileCheck %s --check-prefix=PIPELINE
// RUN: not ttmlir-opt --test-pass-invalid --cse --test-pass-invalid --test-pass-invalid --dump-pass-pipeline --mlir-pass-pipeline-crash-reproducer=%t.mlir %s 2>&1 | FileCheck %s --check-prefix=NESTED

// ORDER: Pass Manager with 2 passes:
// ORDER-NEXT: builtin.module(cse,symbol-dce)
// REVERSED: builtin.module(symbol-dce,cse)
// VALUES: ,ttir-grid-set{override-grid-sizes=a=2x3,b=4x1 override-output-layout="" sharding-pass-enabled=true})
// UNDERSCORES: ,ttir-grid-set{override-grid-sizes=a=2x3 override-output-layout="" sharding-pass-enabled=false})
// PIPELINE-NOT: ttir-grid-set
// PIPELINE: ttir-implicit-device{mesh-shape=1,1},ttir-layout{{.*}},convert-ttir-to-ttnn{share-transfers=false})
// Passes on functions get a nest of their own; neighbours share it.
// NESTED: builtin.module(func.func(test-pass-invalid),cse,func.func(test-pass-invalid,test-pass-invalid))

// OPTION: func.func @main
// OPTION-NOT: @unused
// NONE: func.func @main
// NONE: func.func @unused
func.func @main() { return }
func.func @unused() { return }
