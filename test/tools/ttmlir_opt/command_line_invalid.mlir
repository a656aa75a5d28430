// A command line that says nothing sensible is refused in the words of LLVM's tools.
// RUN: not ttmlir-opt --foo %s 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not ttmlir-opt -foo %s 2>&1 | FileCheck %s --check-prefix=SINGLE
// RUN: not ttmlir-opt --canonicalise %s 2>&1 | FileCheck %s --check-prefix=CLOSE
// RUN: not ttmlir-opt --split-input-files %s 2>&1 | FileCheck %s --check-prefix=CLOSE-FLAG
// RUN: not ttmlir-opt --verify-each=maybe %s 2>&1 | FileCheck %s --check-prefix=BOOLEAN
// RUN: not ttmlir-opt --mlir-elide-elementsattrs-if-larger=many %s 2>&1 | FileCheck %s --check-prefix=INTEGER
// RUN: not ttmlir-opt --mlir-timing-display=pie %s 2>&1 | FileCheck %s --check-prefix=CHOICE
// RUN: not ttmlir-opt %s -o 2>&1 | FileCheck %s --check-prefix=VALUE
// RUN: not ttmlir-opt %s %s 2>&1 | FileCheck %s --check-prefix=POSITIONAL
// RUN: not ttmlir-opt %t.missing.mlir 2>&1 | FileCheck %s --check-prefix=INPUT
// RUN: not ttmlir-opt %S 2>&1 | FileCheck %s --check-prefix=FOLDER
// RUN: not ttmlir-opt %s -o %t.missing/out.mlir 2>&1 | FileCheck %s --check-prefix=OUTPUT
// RUN: not ttmlir-opt --mlir-print-ir-before=foo %s 2>&1 | FileCheck %s --check-prefix=BEFORE
// RUN: not ttmlir-opt --mlir-print-ir-after=cse,bar %s 2>&1 | FileCheck %s --check-prefix=AFTER
// RUN: not ttmlir-opt --emit-bytecode %s 2>&1 | FileCheck %s --check-prefix=BYTECODE
// RUN: not ttmlir-opt --load-pass-plugin=x.so %s 2>&1 | FileCheck %s --check-prefix=PLUGIN
// RUN: not ttmlir-opt --load-dialect-plugin=x.so %s 2>&1 | FileCheck %s --check-prefix=PLUGIN
// RUN: not ttmlir-opt -t wasm %s 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not ttmlir-opt --run-reproducer %s 2>&1 | FileCheck %s --check-prefix=REPRODUCER
// RUN: not ttmlir-opt --ttir-layout=init-memory-space=l2 %s 2>&1 | FileCheck %s --check-prefix=ENUM
// RUN: not ttmlir-opt --ttir-grid-set=sharding-pass-enabled=maybe %s 2>&1 | FileCheck %s --check-prefix=PASS-BOOLEAN
// RUN: not ttmlir-opt --ttir-implicit-device=mesh-shape=1,x %s 2>&1 | FileCheck %s --check-prefix=PASS-LIST
// RUN: not ttmlir-opt --ttir-grid-set=override-grid-sizes=a,b=2x2 %s 2>&1 | FileCheck %s --check-prefix=OVERRIDE
// RUN: not ttmlir-opt --ttir-grid-set=override-grid-sizes=a=2xwide %s 2>&1 | FileCheck %s --check-prefix=EXTENT
// RUN: not ttmlir-opt --cse=quick %s 2>&1 | FileCheck %s --check-prefix=NO-OPTIONS
// RUN: not ttmlir-opt '--print-ir=label="open' %s 2>&1 | FileCheck %s --check-prefix=QUOTE

//         UNKNOWN: ttmlir-opt: Unknown command line argument '--foo'.  Try: 'ttmlir-opt --help'
//          SINGLE: ttmlir-opt: Unknown command line argument '-foo'.  Try: 'ttmlir-opt --help'
//           CLOSE: ttmlir-opt: Unknown command line argument '--canonicalise'.  Try: 'ttmlir-opt --help'
//      CLOSE-NEXT: ttmlir-opt: Did you mean '--canonicalize'?
//      CLOSE-FLAG: ttmlir-opt: Did you mean '--split-input-file'?
//         BOOLEAN: ttmlir-opt: for the --verify-each option: 'maybe' is invalid value for boolean argument! Try 0 or 1
//         INTEGER: ttmlir-opt: for the --mlir-elide-elementsattrs-if-larger option: 'many' value invalid for integer argument!
//          CHOICE: ttmlir-opt: for the --mlir-timing-display option: Cannot find option named 'pie'! Supported: list, tree
//           VALUE: ttmlir-opt: for the -o option: requires a value!
//      POSITIONAL: ttmlir-opt: Too many positional arguments specified!
// POSITIONAL-NEXT: Can specify at most 1 positional arguments: See: ttmlir-opt --help
//           INPUT: cannot open input file '{{.*}}.missing.mlir': No such file or directory
//          FOLDER: cannot open input file '{{.*}}ttmlir_opt': Is a directory
//          OUTPUT: cannot open output file '{{.*}}.missing/out.mlir': No such file or directory
//          BEFORE: for the --mlir-print-ir-before option: Cannot find option named 'foo'!
//           AFTER: for the --mlir-print-ir-after option: Cannot find option named 'bar'!
//        BYTECODE: --emit-bytecode is not supported: MLIR is written as text only
//          PLUGIN: plugins are shared libraries of MLIR and cannot be loaded into Python
//          TARGET: for the --target option: 'wasm' is not supported, only mlir is; ttmlir-translate writes other formats
//      REPRODUCER: the input is no reproducer: expected a section `mlir_reproducer` with a `pipeline`
//            ENUM: for the --init-memory-space option: Cannot find option named 'l2'! Supported: system, mmio, dram, l1
//    PASS-BOOLEAN: for the --sharding-pass-enabled option: 'maybe' is invalid value for boolean argument! Try 0 or 1
//       PASS-LIST: for the --mesh-shape option: 'x' value invalid for integer argument!
//        OVERRIDE: for the --override-grid-sizes option: Invalid format for override grid sizes: a
//          EXTENT: for the --override-grid-sizes option: Invalid grid size: wide
//      NO-OPTIONS: <Pass-Options-Parser>: no such option quick; the pass has no options
//           QUOTE: missing closing '"' in pass options 'label="open'
func.func @f() { return }
