// RUN: ttmlir-translate --ttkernel-to-cpp %s | FileCheck %s
// Every form that a call can have in C++: functions with template arguments and constants, methods, elements, pointers,
// aggregates, printing; and the headers that declare them.

!cb = !ttkernel.cb<cb_int2, 8192, memref<1x3x!tt.tile<32x32, bf16>>, 2048, 2>
!addr = !ttkernel.noc_addr

// CHECK-LABEL: // @mover
// CHECK-NEXT: #include <cstdint>
// CHECK-NEXT: #include "dataflow_api.h"
// CHECK-NEXT: #include "tensor/tensor_accessor_args.h"
// CHECK-NEXT: #include "tensor/tensor_accessor.h"
// CHECK-NEXT: #include "debug/dprint.h"
// CHECK-NEXT: void kernel_main() {
// CHECK-NEXT:   ::tt::CB v1 = ::tt::CB::c_intermed2;
// CHECK-NEXT:   int32_t v2 = 3;
// CHECK-NEXT:   int32_t v3 = get_arg_val<uint32_t>(v2);
// CHECK-NEXT:   int32_t v4 = get_common_arg_val<int32_t>(v2);
// CHECK-NEXT:   int32_t v5 = get_compile_time_arg_val(7);
// CHECK-NEXT:   int32_t v6 = my_x[v2];
// CHECK-NEXT:   int32_t v7 = get_absolute_logical_y();
// CHECK-NEXT:   uint32_t v8 = get_semaphore(v2);
// CHECK-NEXT:   volatile tt_l1_ptr uint32_t* v9 = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(v8);
// CHECK-NEXT:   int32_t v10 = v9[v2];
// CHECK-NEXT:   v9[v7] = v10;
// CHECK-NEXT:   DataFormat v11 = get_dataformat(v1);
// CHECK-NEXT:   auto v12 = InterleavedAddrGenFast<true>{.bank_base_address = (uint32_t) v3, .page_size = (uint32_t) v4, .data_format = v11};
// CHECK-NEXT:   auto v13 = InterleavedAddrGenFast<false>{.bank_base_address = (uint32_t) v3, .page_size = (uint32_t) v4, .data_format = DataFormat::Float16_b};
// CHECK-NEXT:   noc_async_read_tile(v2, v12, v3);
// CHECK-NEXT:   auto v14 = TensorAccessorArgs<4>();
// CHECK-NEXT:   auto v15 = TensorAccessor(v14, v3, v4);
// CHECK-NEXT:   int64_t v16 = v15.get_noc_addr(v2);
// CHECK-NEXT:   bool v17 = v15.is_local_page(v2);
// CHECK-NEXT:   noc_semaphore_inc<true>(v16, v2);
// CHECK-NEXT:   DPRINT << "page " << v2 << " of \"" << v5 << "\"" << v6 << ENDL();
// CHECK-NEXT:   return;
func.func @mover(%cb: !cb) attributes {ttkernel.thread = #ttkernel.thread<noc>} {
  %c3 = arith.constant 3 : i32
  %run = "ttkernel.get_arg_val"(%c3) : (i32) -> i32
  %common = "ttkernel.get_common_arg_val"(%c3) <{type = "int32_t"}> : (i32) -> i32
  %fixed = "ttkernel.get_compile_time_arg_val"() <{arg_index = 7 : i32}> : () -> i32
  %x = "ttkernel.my_x"(%c3) : (i32) -> i32
  %y = "ttkernel.my_logical_y_"() : () -> i32
  %semaphore = "ttkernel.get_semaphore"(%c3) : (i32) -> !ttkernel.local_semaphore
  %pointer = "ttkernel.reinterpret_cast"(%semaphore) : (!ttkernel.local_semaphore) -> !ttkernel.l1_addr_ptr<32>
  %word = "ttkernel.load_from_l1"(%pointer, %c3) : (!ttkernel.l1_addr_ptr<32>, i32) -> i32
  "ttkernel.store_to_l1"(%word, %pointer, %y) : (i32, !ttkernel.l1_addr_ptr<32>, i32) -> ()
  %format = "ttkernel.get_dataformat"(%cb) : (!cb) -> !ttkernel.DataFormat
  %pages = "ttkernel.get_interleaved_addr_gen_fast"(%run, %common, %format) <{dram = true}> : (i32, i32, !ttkernel.DataFormat) -> !ttkernel.interleaved_addr_gen_fast
  %literal = emitc.literal "DataFormat::Float16_b" : !emitc.opaque<"DataFormat">
  %named = builtin.unrealized_conversion_cast %literal : !emitc.opaque<"DataFormat"> to !ttkernel.DataFormat
  %in_l1 = "ttkernel.get_interleaved_addr_gen_fast"(%run, %common, %named) <{dram = false}> : (i32, i32, !ttkernel.DataFormat) -> !ttkernel.interleaved_addr_gen_fast
  "ttkernel.noc_async_read_tile"(%c3, %pages, %run) : (i32, !ttkernel.interleaved_addr_gen_fast, i32) -> ()
  %args = "ttkernel.TensorAccessorArgs"() <{cta_base = 4 : i32}> : () -> !ttkernel.TensorAccessorArgs
  %accessor = "ttkernel.TensorAccessor"(%args, %run, %common) : (!ttkernel.TensorAccessorArgs, i32, i32) -> !ttkernel.TensorAccessor
  %page = "ttkernel.tensor_accessor.get_noc_addr"(%accessor, %c3) : (!ttkernel.TensorAccessor, i32) -> !addr
  %is_here = "ttkernel.tensor_accessor.is_local_page"(%accessor, %c3) : (!ttkernel.TensorAccessor, i32) -> i1
  "ttkernel.noc_semaphore_inc"(%page, %c3) <{posted = true}> : (!addr, i32) -> ()
  "ttkernel.dprint"(%c3, %fixed, %x) <{fmt = "page {} of \"{}\"{}\n"}> : (i32, i32, i32) -> ()
  "ttkernel.return"() : () -> ()
}

// CHECK-LABEL: // @computer
// CHECK-NEXT: #include <cstdint>
// CHECK-NEXT: #include "compute_kernel_api/common.h"
// CHECK-NEXT: #include "compute_kernel_api/tilize.h"
// CHECK-NEXT: #include "compute_kernel_api/untilize.h"
// CHECK-NEXT: #include "compute_kernel_api/eltwise_binary.h"
// CHECK-NEXT: #include "compute_kernel_api/eltwise_unary/typecast.h"
// CHECK-NEXT: namespace NAMESPACE {
// CHECK-NEXT: void kernel_main() {
// CHECK:        typecast_tile<((uint32_t) DataFormat::Float32), ((uint32_t) DataFormat::UInt16)>(v2);
// CHECK-NEXT:   pack_tile<true>(v2, v1, v2);
// CHECK:      void MAIN { kernel_main(); }
func.func @computer(%cb: !cb) attributes {ttkernel.thread = #ttkernel.thread<tensix>} {
  %c1 = arith.constant 1 : i32
  "ttkernel.typecast_tile"(%c1) <{in_dtype = "Float32", out_dtype = "UInt16"}> : (i32) -> ()
  "ttkernel.pack_tile"(%c1, %cb, %c1) <{out_of_order = true}> : (i32, !cb, i32) -> ()
  "ttkernel.return"() : () -> ()
}
