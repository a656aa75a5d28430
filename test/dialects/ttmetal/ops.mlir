// RUN: ttmlir-opt %s | ttmlir-opt | FileCheck %s

// Every operation and attribute of ttmetal reads and prints.

#l1 = #tt.memory_space<l1>
#system = #tt.memory_space<system>
#host = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #system>>
#device = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #l1>>

// CHECK: #l1_ = #tt.memory_space<l1>
// CHECK: #[[HOST:.*]] = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #system>>
// CHECK: #[[L1:.*]] = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #l1_>>
func.func @forward(%a: tensor<33x70xf32, #host>, %out: tensor<33x70xf32, #host>) -> tensor<33x70xf32, #host> {
  // CHECK: %[[X:.*]] = "ttmetal.alloc"() <{address = 1024 : i64, memory_space = #l1_, size = 9240 : i64}> : () -> tensor<33x70xf32, #[[L1]]>
  %x = "ttmetal.alloc"() <{size = 9240 : i64, address = 1024 : i64, memory_space = #l1}> : () -> tensor<33x70xf32, #device>
  // CHECK: %[[W:.*]] = "ttmetal.host_write"(%arg0, %[[X]]) : (tensor<33x70xf32, #[[HOST]]>, tensor<33x70xf32, #[[L1]]>) -> tensor<33x70xf32, #[[L1]]>
  %w = "ttmetal.host_write"(%a, %x) : (tensor<33x70xf32, #host>, tensor<33x70xf32, #device>) -> tensor<33x70xf32, #device>
  %y = "ttmetal.alloc"() <{address = 10272 : i64, memory_space = #l1, size = 9240 : i64}> : () -> tensor<33x70xf32, #device>
  // CHECK: "ttmetal.dispatch"(%[[W]], %{{.*}}) <{core_ranges = [#ttmetal.core_range<0x0, 1x1>, #ttmetal.core_range<1x0, 2x4>], kernelConfigs = [#ttkernel.noc_config<noc1>, #ttkernel.tensix_config<hifi4, false, false, false>], operandSegmentSizes = array<i32: 1, 1>}> ({
  %r = "ttmetal.dispatch"(%w, %y) <{core_ranges = [#ttmetal.core_range<0x0, 1x1>, #ttmetal.core_range<1x0, 2x4>], kernelConfigs = [#ttkernel.noc_config<noc1>, #ttkernel.tensix_config<hifi4, false, false, false>], operandSegmentSizes = array<i32: 1, 1>}> ({
    // CHECK-NEXT: "ttkernel.return"() : () -> ()
    "ttkernel.return"() : () -> ()
  // CHECK-NEXT: }, {
  }, {
  // CHECK-NEXT: ^bb0(%arg2: !ttkernel.cb<cb_in0, 1024, memref<33x70xf32, #l1_>, 280, 1>):
  ^bb0(%cb: !ttkernel.cb<cb_in0, 1024, memref<33x70xf32, #l1>, 280, 1>):
    "ttkernel.return"() : () -> ()
  }) : (tensor<33x70xf32, #device>, tensor<33x70xf32, #device>) -> tensor<33x70xf32, #device>
  // CHECK: "ttmetal.dealloc"(%[[W]]) : (tensor<33x70xf32, #[[L1]]>) -> ()
  "ttmetal.dealloc"(%w) : (tensor<33x70xf32, #device>) -> ()
  // CHECK: "ttmetal.host_read"(%{{.*}}, %arg1) : (tensor<33x70xf32, #[[L1]]>, tensor<33x70xf32, #[[HOST]]>) -> tensor<33x70xf32, #[[HOST]]>
  %h = "ttmetal.host_read"(%r, %out) : (tensor<33x70xf32, #device>, tensor<33x70xf32, #host>) -> tensor<33x70xf32, #host>
  return %h : tensor<33x70xf32, #host>
}
