// RUN: ttmlir-opt %s | ttmlir-opt | FileCheck %s

// Arguments, addresses, copies over the network and semaphores of a data movement kernel.

!cb = !ttkernel.cb<cb_in0, 66560, memref<2x4x!tt.tile<32x32, bf16>>, 2048, 1>

// CHECK-LABEL: func.func @reader
func.func @reader(%cb: !cb) {
  %c0 = arith.constant 0 : i32
  %c2 = arith.constant 2 : i32
  // CHECK: %[[BASE:.*]] = "ttkernel.get_arg_val"(%{{.*}}) : (i32) -> i32
  %base = "ttkernel.get_arg_val"(%c0) : (i32) -> i32
  // CHECK-NEXT: "ttkernel.get_arg_val"(%{{.*}}) <{type = "int32_t"}> : (i32) -> i32
  %signed = "ttkernel.get_arg_val"(%c2) <{type = "int32_t"}> : (i32) -> i32
  // CHECK-NEXT: %[[COUNT:.*]] = "ttkernel.get_compile_time_arg_val"() <{arg_index = 1 : i32}> : () -> i32
  %count = "ttkernel.get_compile_time_arg_val"() <{arg_index = 1 : i32}> : () -> i32
  // CHECK-NEXT: %[[SIZE:.*]] = "ttkernel.get_tile_size"(%{{.*}}) : (!ttkernel.cb<{{.*}}>) -> i32
  %size = "ttkernel.get_tile_size"(%cb) : (!cb) -> i32
  // CHECK-NEXT: %[[FORMAT:.*]] = "ttkernel.get_dataformat"(%{{.*}}) : (!ttkernel.cb<{{.*}}>) -> !ttkernel.DataFormat
  %format = "ttkernel.get_dataformat"(%cb) : (!cb) -> !ttkernel.DataFormat
  // CHECK-NEXT: %[[GEN:.*]] = "ttkernel.get_interleaved_addr_gen_fast"(%[[BASE]], %[[SIZE]], %[[FORMAT]]) <{dram = true}> : (i32, i32, !ttkernel.DataFormat) -> !ttkernel.interleaved_addr_gen_fast
  %gen = "ttkernel.get_interleaved_addr_gen_fast"(%base, %size, %format) <{dram = true}> : (i32, i32, !ttkernel.DataFormat) -> !ttkernel.interleaved_addr_gen_fast
  // CHECK-NEXT: %[[PTR:.*]] = "ttkernel.get_write_ptr"(%{{.*}}) : (!ttkernel.cb<{{.*}}>) -> i32
  %ptr = "ttkernel.get_write_ptr"(%cb) : (!cb) -> i32
  // CHECK-NEXT: "ttkernel.noc_async_read_tile"(%{{.*}}, %[[GEN]], %[[PTR]]) : (i32, !ttkernel.interleaved_addr_gen_fast, i32) -> ()
  "ttkernel.noc_async_read_tile"(%c0, %gen, %ptr) : (i32, !ttkernel.interleaved_addr_gen_fast, i32) -> ()
  // CHECK-NEXT: %[[ARGS:.*]] = "ttkernel.TensorAccessorArgs"() <{cta_base = 2 : i32}> : () -> !ttkernel.TensorAccessorArgs
  %args = "ttkernel.TensorAccessorArgs"() <{cta_base = 2 : i32}> : () -> !ttkernel.TensorAccessorArgs
  // CHECK-NEXT: %[[ACC:.*]] = "ttkernel.TensorAccessor"(%[[ARGS]], %[[BASE]], %[[SIZE]]) : (!ttkernel.TensorAccessorArgs, i32, i32) -> !ttkernel.TensorAccessor
  %acc = "ttkernel.TensorAccessor"(%args, %base, %size) : (!ttkernel.TensorAccessorArgs, i32, i32) -> !ttkernel.TensorAccessor
  // CHECK-NEXT: "ttkernel.tensor_accessor.get_noc_addr"(%[[ACC]], %[[COUNT]]) : (!ttkernel.TensorAccessor, i32) -> !ttkernel.noc_addr
  %page = "ttkernel.tensor_accessor.get_noc_addr"(%acc, %count) : (!ttkernel.TensorAccessor, i32) -> !ttkernel.noc_addr
  // CHECK-NEXT: "ttkernel.tensor_accessor.is_local_page"(%[[ACC]], %[[COUNT]]) : (!ttkernel.TensorAccessor, i32) -> i1
  %local = "ttkernel.tensor_accessor.is_local_page"(%acc, %count) : (!ttkernel.TensorAccessor, i32) -> i1
  // CHECK-NEXT: "ttkernel.noc_async_read_page"(%{{.*}}, %[[ACC]], %[[PTR]]) : (i32, !ttkernel.TensorAccessor, i32) -> ()
  "ttkernel.noc_async_read_page"(%c0, %acc, %ptr) : (i32, !ttkernel.TensorAccessor, i32) -> ()
  // CHECK-NEXT: "ttkernel.get_noc_addr_from_bank_id"(%{{.*}}, %[[BASE]]) <{dram = false}> : (i32, i32) -> !ttkernel.noc_addr
  %bank = "ttkernel.get_noc_addr_from_bank_id"(%c2, %base) <{dram = false}> : (i32, i32) -> !ttkernel.noc_addr
  // CHECK-NEXT: "ttkernel.noc_async_read_barrier"() : () -> ()
  "ttkernel.noc_async_read_barrier"() : () -> ()
  "ttkernel.return"() : () -> ()
}

// CHECK-LABEL: func.func @multicast
func.func @multicast(%l1: i32) {
  %c0 = arith.constant 0 : i32
  %c3 = arith.constant 3 : i32
  // CHECK: %[[SEM:.*]] = "ttkernel.get_semaphore"(%{{.*}}) : (i32) -> !ttkernel.local_semaphore
  %sem = "ttkernel.get_semaphore"(%c0) : (i32) -> !ttkernel.local_semaphore
  // CHECK-NEXT: %[[PTR:.*]] = "ttkernel.reinterpret_cast"(%[[SEM]]) : (!ttkernel.local_semaphore) -> !ttkernel.l1_addr_ptr<32>
  %ptr = "ttkernel.reinterpret_cast"(%sem) : (!ttkernel.local_semaphore) -> !ttkernel.l1_addr_ptr<32>
  // CHECK-NEXT: "ttkernel.noc_semaphore_wait"(%[[PTR]], %{{.*}}) : (!ttkernel.l1_addr_ptr<32>, i32) -> ()
  "ttkernel.noc_semaphore_wait"(%ptr, %c3) : (!ttkernel.l1_addr_ptr<32>, i32) -> ()
  // CHECK-NEXT: "ttkernel.noc_semaphore_set"(%[[PTR]], %{{.*}}) : (!ttkernel.l1_addr_ptr<32>, i32) -> ()
  "ttkernel.noc_semaphore_set"(%ptr, %c0) : (!ttkernel.l1_addr_ptr<32>, i32) -> ()
  // CHECK-NEXT: %[[Y:.*]] = "ttkernel.my_y"(%{{.*}}) : (i32) -> i32
  %y = "ttkernel.my_y"(%c0) : (i32) -> i32
  // CHECK-NEXT: %[[DATA:.*]] = "ttkernel.get_noc_multicast_addr"(%{{.*}}, %[[Y]], %{{.*}}, %[[Y]], %{{.*}}) : (i32, i32, i32, i32, i32) -> !ttkernel.noc_addr
  %data = "ttkernel.get_noc_multicast_addr"(%c0, %y, %c3, %y, %l1) : (i32, i32, i32, i32, i32) -> !ttkernel.noc_addr
  // CHECK-NEXT: %[[FLAGS:.*]] = "ttkernel.get_noc_multicast_addr"(%{{.*}}, %[[Y]], %{{.*}}, %[[Y]], %[[SEM]]) : (i32, i32, i32, i32, !ttkernel.local_semaphore) -> !ttkernel.noc_addr
  %flags = "ttkernel.get_noc_multicast_addr"(%c0, %y, %c3, %y, %sem) : (i32, i32, i32, i32, !ttkernel.local_semaphore) -> !ttkernel.noc_addr
  // CHECK-NEXT: "ttkernel.noc_async_write_multicast"(%{{.*}}, %[[DATA]], %{{.*}}, %{{.*}}) : (i32, !ttkernel.noc_addr, i32, i32) -> ()
  "ttkernel.noc_async_write_multicast"(%l1, %data, %c3, %c3) : (i32, !ttkernel.noc_addr, i32, i32) -> ()
  // CHECK-NEXT: "ttkernel.noc_semaphore_set_multicast"(%[[SEM]], %[[FLAGS]], %{{.*}}) : (!ttkernel.local_semaphore, !ttkernel.noc_addr, i32) -> ()
  "ttkernel.noc_semaphore_set_multicast"(%sem, %flags, %c3) : (!ttkernel.local_semaphore, !ttkernel.noc_addr, i32) -> ()
  // CHECK-NEXT: "ttkernel.noc_semaphore_inc"(%[[FLAGS]], %{{.*}}) <{posted = true}> : (!ttkernel.noc_addr, i32) -> ()
  "ttkernel.noc_semaphore_inc"(%flags, %c3) <{posted = true}> : (!ttkernel.noc_addr, i32) -> ()
  // CHECK-NEXT: "ttkernel.load_from_l1"(%[[PTR]], %{{.*}}) : (!ttkernel.l1_addr_ptr<32>, i32) -> i32
  %word = "ttkernel.load_from_l1"(%ptr, %c0) : (!ttkernel.l1_addr_ptr<32>, i32) -> i32
  // CHECK-NEXT: "ttkernel.dprint"(%{{.*}}, %[[Y]]) <{fmt = "word {} of row {}"}> : (i32, i32) -> ()
  "ttkernel.dprint"(%word, %y) <{fmt = "word {} of row {}"}> : (i32, i32) -> ()
  // CHECK-NEXT: "ttkernel.noc_async_write_barrier"() : () -> ()
  "ttkernel.noc_async_write_barrier"() : () -> ()
  "ttkernel.return"() : () -> ()
}

// CHECK: func.func private @pointers(!ttkernel.l1_addr_ptr<8>, !ttkernel.l1_addr_ptr<16>)
func.func private @pointers(!ttkernel.l1_addr_ptr<8>, !ttkernel.l1_addr_ptr<16>)
