// The tool says what it is and what it can do.
// RUN: ttmlir-opt --help | FileCheck %s --check-prefix=HELP
// RUN: ttmlir-opt -h | FileCheck %s --check-prefix=HELP
// RUN: ttmlir-opt --help-list | FileCheck %s --check-prefix=HELP
// RUN: ttmlir-opt --help-hidden | FileCheck %s --check-prefix=HIDDEN
// RUN: ttmlir-opt --list-passes | FileCheck %s --check-prefix=LIST
// RUN: ttmlir-opt --version | FileCheck %s --check-prefix=VERSION
// RUN: ttmlir-opt -v | FileCheck %s --check-prefix=VERSION
// RUN: ttmlir-opt --show-dialects | FileCheck %s --check-prefix=DIALECTS

// HELP: OVERVIEW: ttmlir optimizer driver
// HELP: USAGE: ttmlir-opt [options] <input file>
// HELP-NOT: --load-pass-plugin
// HELP: --mlir-print-ir-before=<string,...>
// HELP: --mlir-timing-display=<value>
// HELP-NEXT: =list
// HELP-NEXT: =tree
// HELP: -o <string>
// HELP: --split-input-file[=<string>]
// HELP: Compiler passes to run
// HELP: --canonicalize - Canonicalize operations
// HELP: --region-simplify=<value> -
// HELP-NEXT: =disabled
// HELP-NOT: --test-pass-crash
// HELP: --ttir-implicit-device
// HELP: {{^}}      --mesh-shape=<int,...> {{.*}}- Extents
// HELP: --ttir-layout
// HELP: --init-memory-space=<value>
// HELP: {{^}}        =system
// HELP: --ttir-load-system-desc
// HELP: --path=<string> {{.*}}- {{.*}}(default:
// HELP-NEXT: $SYSTEM_DESC_PATH)
// HELP: Pass Pipelines:
// HELP: --ttir-to-ttnn-backend-pipeline
// HELP: --override-grid-sizes=<name=RxC,...>

// HIDDEN: --load-pass-plugin=<string>
// HIDDEN: --passes=<string>
// HIDDEN: --test-pass-crash

// LIST: canonicalize
// LIST: cse
// LIST-NOT: test-pass
// LIST: ttir-to-ttnn-backend-pipeline

// VERSION: ttmlir-opt {{[0-9]+\.[0-9]+\.[0-9]+}}
// VERSION-NEXT: compatible with tt-mlir 0.0.227 (880154e3c2

// DIALECTS: {{^}}Available Dialects: arith,builtin,cf,chlo,d2m,debug,emitc,emitpy,func,linalg,ml_program,quant,scf,sdy,stablehlo,tensor,tosa,tt,ttcore,ttir,ttkernel,ttmetal,ttnn,vector{{$}}
