// What a program says of its own speed is a file of JSON.

// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline="ttnn-perf-metrics-enabled=true ttnn-perf-metrics-output-file=%t/perf_metrics/a.json" %s -o %t.mlir
// RUN: FileCheck %s --input-file=%t/perf_metrics/a.json
// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline="ttnn-perf-metrics-enabled=true ttnn-perf-metrics-output-file=%t.verbose.json ttnn-perf-metrics-verbose-output-enabled=true" %s -o %t.mlir
// RUN: FileCheck %s --input-file=%t.verbose.json --check-prefixes=CHECK,VERBOSE
// RUN: ttmlir-opt --ttir-to-ttnn-backend-pipeline --ttnn-collect-perf-metrics="ttnn-perf-metrics-output-file=%t.pass.json" %s -o %t.mlir
// RUN: FileCheck %s --input-file=%t.pass.json
// RUN: not ttmlir-opt --ttnn-collect-perf-metrics="ttnn-perf-metrics-output-file=%s/a.json" %s 2>&1 | FileCheck %s --check-prefix=FOLDER

// Two operations compute. 2 * 128 additions and multiplications make each of 64 * 96 elements; 4 *
// 16 cycles a tile are 65.5 TFLOPS on 64 cores of 1 GHz. The product moves (64 * 128 + 128 * 96 +
// 64 * 96) * 2 bytes at 12 * 22.2 GB/s.
// CHECK: "summary": {
// CHECK: "total_shardable_ops": 2,
// CHECK: "sharded_ops": 0,
// CHECK: "sharded_percentage": 0.0,
// CHECK: "perf_targets": {
// CHECK: "num_tensix_cores": 64,
// CHECK: "cycles_per_tile_matmul": 64,
// CHECK: "peak_flops_per_sec": 65536000000000.0,
// CHECK: "lofi": 262144000000000.0,
// CHECK: "params_count": 12288,
// CHECK: "params_memory_bytes": 24576,
// CHECK: "total_flops": 1572864,
// CHECK: "dram_bound_ops": 1,
// CHECK: "skipped_ops": 1,
// CHECK: "roofline_ms": 0.00019987
// VERBOSE: "per_op": [
// VERBOSE: "name": "ttnn.matmul",
// VERBOSE: "bytes": 53248,
// VERBOSE: "shardable_operations": [
// VERBOSE: "is_sharded": false,
// VERBOSE: "operation_type_breakdown": {
// VERBOSE: "ttnn.exp": 1,

// FOLDER: {{.*}}.mlir:{{[0-9]+:[0-9]+}}: error: cannot write the metrics '{{.*}}a.json': {{.*}}; give the path of a file that can be written
// FOLDER-NOT: mistake in ttmlir
func.func @main(%x: tensor<64x128xbf16> {ttcore.argument_type = #ttcore.argument_type<input>},
    %w: tensor<128x96xbf16> {ttcore.argument_type = #ttcore.argument_type<parameter>})
    -> tensor<64x96xbf16> {
  %0 = "ttir.matmul"(%x, %w) : (tensor<64x128xbf16>, tensor<128x96xbf16>) -> tensor<64x96xbf16>
  %1 = "ttir.exp"(%0) : (tensor<64x96xbf16>) -> tensor<64x96xbf16>
  return %1 : tensor<64x96xbf16>
}
