// Times and statistics are reported on the standard error.
// RUN: ttmlir-opt --pass-pipeline='builtin.module(func.func(cse,canonicalize),symbol-dce,symbol-dce)' --mlir-timing %s 2>&1 >/dev/null | FileCheck %s --check-prefix=TREE
// RUN: ttmlir-opt --cse --time-passes --mlir-timing-display=list %s 2>&1 >/dev/null | FileCheck %s --check-prefix=LIST
// RUN: ttmlir-opt --symbol-dce --cse --mlir-pass-statistics %s 2>&1 >/dev/null | FileCheck %s --check-prefix=STATISTICS
// RUN: ttmlir-opt --symbol-dce --symbol-dce --mlir-pass-statistics --mlir-pass-statistics-display=list %s 2>&1 >/dev/null | FileCheck %s --check-prefix=MERGED
// RUN: not ttmlir-opt --cse --test-pass-failure --mlir-timing %s 2>&1 | FileCheck %s --check-prefix=FAILED

//      TREE: {{^===-*===$}}
// TREE-NEXT: ... Execution time report ...
// TREE-NEXT: {{^===-*===$}}
// TREE-NEXT: Total Execution Time: {{[0-9.]+}} seconds
// TREE: ----Wall Time---- ----Name----
// TREE: {{[0-9.]+ \( *[0-9.]+%\)}} Parser
// TREE-NEXT: ) 'func.func' Pipeline
// TREE-NEXT: ) CSE
// TREE-NEXT: ) Canonicalizer
// TREE-NEXT: ) SymbolDCE
// TREE-NEXT: ) SymbolDCE
// TREE-NEXT: ) Output
// TREE-NEXT: ) Rest
// TREE-NEXT: (100.0%) Total
// LIST-DAG: ) CSE
// LIST-DAG: ) Parser
// LIST: (100.0%) Total
// STATISTICS: ... Pass statistics report ...
// STATISTICS: 'builtin.module' Pipeline
// STATISTICS-NEXT: SymbolDCE
// STATISTICS-NEXT: (S) 2 num-dced
// STATISTICS-NEXT: CSE
// MERGED: ... Pass statistics report ...
// MERGED-NEXT: {{^===-*===$}}
// MERGED-NEXT: SymbolDCE
// MERGED-NEXT: (S) 2 num-dced
// FAILED: TestPassFailure
func.func private @unused()
func.func private @alike()
func.func @f() { return }
