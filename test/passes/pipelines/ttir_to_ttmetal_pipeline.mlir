// The whole way from ttir to programs of kernels by d2m, and options that it refuses.
// RUN: ttmlir-opt --ttir-to-ttmetal-pipeline %s -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: ttmlir-translate --ttmetal-to-flatbuffer %t.mlir -o %t.ttm
// RUN: ttrt run --golden %t.ttm
// RUN: not ttmlir-opt --ttir-to-ttmetal-pipeline=mesh-shape=1,2 %s 2>&1 | FileCheck %s --check-prefix=MESH
// RUN: not ttmlir-opt --ttir-to-ttmetal-pipeline=disable-tolayout-folding %s 2>&1 | FileCheck %s --check-prefix=FOLDING
// RUN: not ttmlir-opt --ttir-to-ttmetal-pipeline=insert-profiler-traces %s 2>&1 | FileCheck %s --check-prefix=TRACES
// RUN: not ttmlir-opt --ttir-to-ttmetal-pipeline=max-dst-physical-size-tiles=2 %s 2>&1 | FileCheck %s --check-prefix=DST

// The parts of it one after the other, under their names of 2026 and of late 2025.
// RUN: ttmlir-opt --d2m-fe-pipeline --ttir-bufferization-pipeline --d2m-be-pipeline --d2m-to-ttkernel-pipeline --d2m-to-ttmetal-pipeline %s | diff %t.mlir -
// RUN: ttmlir-opt --ttir-to-ttmetal-fe-pipeline --ttir-to-ttmetal-me-pipeline --ttir-to-ttmetal-be-pipeline %s | diff %t.mlir -
// RUN: ttmlir-opt --ttir-to-ttmetal-pipeline=set-math-fidelity=HiFi2 %s -o %t.hifi2
// RUN: ttmlir-opt --ttir-to-ttmetal-pipeline=set-math-fidelity=hifi2 %s | diff %t.hifi2 -
// RUN: not diff %t.mlir %t.hifi2 > %t.diff
// RUN: not ttmlir-opt --ttir-to-ttmetal-pipeline=use-tensor-accessor-dma %s 2>&1 | FileCheck %s --check-prefix=ACCESSOR
// RUN: not ttmlir-opt --d2m-be-pipeline=disable-l1-acc %s 2>&1 | FileCheck %s --check-prefix=ADDS
// RUN: not ttmlir-opt --d2m-fe-pipeline=enable-multicast-inference=false %s 2>&1 | FileCheck %s --check-prefix=MULTICAST
// RUN: ttmlir-opt --d2m-fe-pipeline=enable-elementwise-fusion=false %s -o %t.unfused
// RUN: ttmlir-opt --d2m-fe-pipeline=enable-fusion=false %s | diff %t.unfused -
// RUN: ttmlir-opt --d2m-fe-pipeline %s | not diff %t.unfused - > %t.diff

// ACCESSOR: ttir-to-ttmetal-pipeline: the value of use-tensor-accessor-dma is not supported; leave it out: kernels compute addresses
// ADDS: d2m-be-pipeline: the value of disable-l1-acc is not supported; leave it out: long sums that leave DST are added in L1
// MULTICAST: d2m-fe-pipeline: the value of enable-multicast-inference is not supported; leave it out: blocks are sent once
// MESH: ttir-to-ttmetal-pipeline: the value of mesh-shape is not supported; supported is one chip: leave it out, or give 1,1
// FOLDING: ttir-to-ttmetal-pipeline: the value of disable-tolayout-folding is not supported; leave it out: tensors are moved once, so that there is nothing to fold
// TRACES: ttir-to-ttmetal-pipeline: the value of insert-profiler-traces is not supported; use ttrt perf, which shows where time goes
// DST: ttir-to-ttmetal-pipeline: the value of max-dst-physical-size-tiles is not supported; give 4 to 16, or 0 for the chip's

#any = #tt.operand_constraint<any_device>

// CHECK-LABEL: func.func @f
func.func @f(%x: tensor<40x100xbf16>, %y: tensor<100x70xbf16>) -> tensor<40x70xbf16> {
  // CHECK: "ttmetal.create_buffer"
  // CHECK: "ttmetal.enqueue_write_buffer"
  // CHECK: "ttmetal.enqueue_program"
  // CHECK-SAME: #ttmetal.noc_config<@reader0
  // CHECK-SAME: #ttmetal.compute_config<@compute0
  // CHECK: "ttmetal.enqueue_read_buffer"
  // CHECK: "ttmetal.finish"
  // CHECK-NOT: d2m.
  %0 = tensor.empty() : tensor<40x70xbf16>
  %1 = "ttir.matmul"(%x, %y, %0) <{operand_constraints = [#any, #any, #any]}> : (tensor<40x100xbf16>, tensor<100x70xbf16>, tensor<40x70xbf16>) -> tensor<40x70xbf16>
  %2 = tensor.empty() : tensor<40x70xbf16>
  %3 = "ttir.exp"(%1, %2) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any, #any]}> : (tensor<40x70xbf16>, tensor<40x70xbf16>) -> tensor<40x70xbf16>
  return %3 : tensor<40x70xbf16>
}
