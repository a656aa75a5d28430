// The general passes do what MLIR's passes of the same names do.
// REQUIRES: mlir-opt
// RUN: ttmlir-opt --cse --mlir-print-debuginfo %S/Inputs/calls.mlir > %t.ours 2>&1
// RUN: mlir-opt-19 --cse --mlir-print-debuginfo %S/Inputs/calls.mlir > %t.theirs 2>&1
// RUN: diff %t.ours %t.theirs
// RUN: ttmlir-opt --cse --mlir-print-debuginfo %S/Inputs/blocks.mlir > %t.ours 2>&1
// RUN: mlir-opt-19 --cse --mlir-print-debuginfo %S/Inputs/blocks.mlir > %t.theirs 2>&1
// RUN: diff %t.ours %t.theirs
// RUN: ttmlir-opt --symbol-dce --mlir-print-debuginfo %S/Inputs/calls.mlir > %t.ours 2>&1
// RUN: mlir-opt-19 --symbol-dce --mlir-print-debuginfo %S/Inputs/calls.mlir > %t.theirs 2>&1
// RUN: diff %t.ours %t.theirs
// RUN: ttmlir-opt --symbol-dce --mlir-print-debuginfo %S/Inputs/blocks.mlir > %t.ours 2>&1
// RUN: mlir-opt-19 --symbol-dce --mlir-print-debuginfo %S/Inputs/blocks.mlir > %t.theirs 2>&1
// RUN: diff %t.ours %t.theirs
// RUN: ttmlir-opt --canonicalize %S/Inputs/calls.mlir > %t.ours 2>&1
// RUN: mlir-opt-19 --canonicalize %S/Inputs/calls.mlir > %t.theirs 2>&1
// RUN: diff %t.ours %t.theirs
// RUN: ttmlir-opt --canonicalize %S/Inputs/blocks.mlir > %t.ours 2>&1
// RUN: mlir-opt-19 --canonicalize %S/Inputs/blocks.mlir > %t.theirs 2>&1
// RUN: diff %t.ours %t.theirs
// RUN: ttmlir-opt --canonicalize --split-input-file %S/Inputs/canonical.mlir > %t.ours 2>&1
// RUN: mlir-opt-19 --canonicalize --split-input-file %S/Inputs/canonical.mlir > %t.theirs 2>&1
// RUN: diff %t.ours %t.theirs
// RUN: ttmlir-opt --cse --split-input-file --allow-unregistered-dialect %S/Inputs/equal.mlir > %t.ours 2>&1
// RUN: mlir-opt-19 --cse --split-input-file --allow-unregistered-dialect %S/Inputs/equal.mlir > %t.theirs 2>&1
// RUN: diff %t.ours %t.theirs
// RUN: ttmlir-opt --inline %S/Inputs/calls.mlir > %t.ours 2>&1
// RUN: mlir-opt-19 --inline %S/Inputs/calls.mlir > %t.theirs 2>&1
// RUN: diff %t.ours %t.theirs
// RUN: ttmlir-opt --inline %S/Inputs/blocks.mlir > %t.ours 2>&1
// RUN: mlir-opt-19 --inline %S/Inputs/blocks.mlir > %t.theirs 2>&1
// RUN: diff %t.ours %t.theirs
// RUN: ttmlir-opt --strip-debuginfo --mlir-print-debuginfo %S/Inputs/calls.mlir > %t.ours 2>&1
// RUN: mlir-opt-19 --strip-debuginfo --mlir-print-debuginfo %S/Inputs/calls.mlir > %t.theirs 2>&1
// RUN: diff %t.ours %t.theirs
// RUN: ttmlir-opt --strip-debuginfo --mlir-print-debuginfo %S/Inputs/blocks.mlir > %t.ours 2>&1
// RUN: mlir-opt-19 --strip-debuginfo --mlir-print-debuginfo %S/Inputs/blocks.mlir > %t.theirs 2>&1
// RUN: diff %t.ours %t.theirs
// RUN: ttmlir-opt --loop-invariant-code-motion --mlir-print-debuginfo %S/Inputs/calls.mlir > %t.ours 2>&1
// RUN: mlir-opt-19 --loop-invariant-code-motion --mlir-print-debuginfo %S/Inputs/calls.mlir > %t.theirs 2>&1
// RUN: diff %t.ours %t.theirs
// RUN: ttmlir-opt --loop-invariant-code-motion --mlir-print-debuginfo %S/Inputs/blocks.mlir > %t.ours 2>&1
// RUN: mlir-opt-19 --loop-invariant-code-motion --mlir-print-debuginfo %S/Inputs/blocks.mlir > %t.theirs 2>&1
// RUN: diff %t.ours %t.theirs
// RUN: ttmlir-opt --symbol-privatize=exclude=main --symbol-dce %S/Inputs/calls.mlir > %t.ours 2>&1
// RUN: mlir-opt-19 --symbol-privatize=exclude=main --symbol-dce %S/Inputs/calls.mlir > %t.theirs 2>&1
// RUN: diff %t.ours %t.theirs
// RUN: ttmlir-opt --symbol-privatize=exclude=main --symbol-dce %S/Inputs/blocks.mlir > %t.ours 2>&1
// RUN: mlir-opt-19 --symbol-privatize=exclude=main --symbol-dce %S/Inputs/blocks.mlir > %t.theirs 2>&1
// RUN: diff %t.ours %t.theirs
// RUN: ttmlir-opt --reconcile-unrealized-casts --mlir-print-debuginfo %S/Inputs/calls.mlir > %t.ours 2>&1
// RUN: mlir-opt-19 --reconcile-unrealized-casts --mlir-print-debuginfo %S/Inputs/calls.mlir > %t.theirs 2>&1
// RUN: diff %t.ours %t.theirs
// RUN: ttmlir-opt --reconcile-unrealized-casts --mlir-print-debuginfo %S/Inputs/blocks.mlir > %t.ours 2>&1
// RUN: mlir-opt-19 --reconcile-unrealized-casts --mlir-print-debuginfo %S/Inputs/blocks.mlir > %t.theirs 2>&1
// RUN: diff %t.ours %t.theirs
// RUN: ttmlir-opt --remove-dead-values %S/Inputs/dead.mlir > %t.ours 2>&1
// RUN: mlir-opt-19 --remove-dead-values %S/Inputs/dead.mlir > %t.theirs 2>&1
// RUN: diff %t.ours %t.theirs
// RUN: ttmlir-opt --print-op-stats %S/Inputs/calls.mlir -o /dev/null 2> %t.ours
// RUN: mlir-opt-19 --print-op-stats %S/Inputs/calls.mlir -o /dev/null 2> %t.theirs
// RUN: diff %t.ours %t.theirs
// RUN: ttmlir-opt --print-op-stats=json %S/Inputs/calls.mlir -o /dev/null 2> %t.ours
// RUN: mlir-opt-19 --print-op-stats=json %S/Inputs/calls.mlir -o /dev/null 2> %t.theirs
// RUN: diff %t.ours %t.theirs
// RUN: ttmlir-opt --print-ir %S/Inputs/calls.mlir -o /dev/null 2> %t.ours
// RUN: mlir-opt-19 --print-ir %S/Inputs/calls.mlir -o /dev/null 2> %t.theirs
// RUN: diff %t.ours %t.theirs
// RUN: ttmlir-opt --print-ir=label=here %S/Inputs/calls.mlir -o /dev/null 2> %t.ours
// RUN: mlir-opt-19 --print-ir=label=here %S/Inputs/calls.mlir -o /dev/null 2> %t.theirs
// RUN: diff %t.ours %t.theirs
