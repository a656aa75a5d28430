// Operations, types and attributes of unknown dialects are refused, or kept as they are.
// RUN: ttmlir-opt --allow-unregistered-dialect --verify-roundtrip --cse --canonicalize %s | FileCheck %s
// RUN: not ttmlir-opt %s 2>&1 | FileCheck %s --check-prefix=REFUSED --strict-whitespace

// CHECK: %0 = "own.make"() {place = #own.where<"here", [1, 2]>} : () -> !own.thing<3>
// CHECK: "own.use"(%0) ({
//          REFUSED:unregistered.mlir:10:16: error: operation being parsed with an unregistered dialect. If this is intended, please use -allow-unregistered-dialect with the MLIR tool used
//     REFUSED-NEXT:%0 = "own.make"() {place = #own.where<"here", [1, 2]>} : () -> !own.thing<3>
//     REFUSED-NEXT:{{^}}               ^
%0 = "own.make"() {place = #own.where<"here", [1, 2]>} : () -> !own.thing<3>
"own.use"(%0) ({
^entry:
  "own.end"() : () -> ()
}) : (!own.thing<3>) -> ()
