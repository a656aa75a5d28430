// RUN: ttmlir-opt %s -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -

// Programs of kernels: every kind of processor, argument and buffer; cores by corners or by extents.

#device = #tt.device<workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>, l1Map = (d0, d1)[s0, s1] -> (0, d0 floordiv s0, d1 floordiv s1, (d0 mod s0) * s1 + d1 mod s1), dramMap = (d0, d1)[s0, s1] -> (0, 0, d0, d1), meshShape = , chipIds = [0]>
func.func @generic(%device: !tt.device<#device>, %a: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %0 = "ttnn.empty"(%device) : (!tt.device<#device>) -> tensor<32x64xf32>
  // CHECK: "ttnn.generic"(%{{.*}}, %{{.*}}) <{program = #ttnn.program<kernels = [
  // CHECK-SAME: #ttnn.read_kernel<symbol_ref = @reader, core_ranges = <[#ttnn.core_range<(0,0), (7,6)>]>, ct_args = [#ttnn.kernel_arg_cb_buffer_index<0>, #ttnn.kernel_arg_tensor_accessor_args<0>], common_rt_args = [#ttnn.kernel_arg_address_of_tensor<0>], named_ct_args = ["count" = #ttnn.kernel_arg_scalar<4>, "signal" = #ttnn.kernel_arg_semaphore_at<0>], rt_args = [<(3,2), [#ttnn.kernel_arg_scalar<9>]>], source = "void kernel_main() {\0A}">,
  // CHECK-SAME: #ttnn.write_kernel<symbol_ref = @writer, core_ranges = <[#ttnn.core_range<(2,1), (2,1)>, #ttnn.core_range<(4,0), (6,1)>]>, ct_args = [#ttnn.kernel_arg_semaphore_at<0>], common_rt_args = [], defines = ["WIDTH" = "3"]>,
  // CHECK-SAME: #ttnn.data_movement_kernel<symbol_ref = @"mover 1", core_ranges = <[#ttnn.core_range<(0,7), (0,7)>]>, processor = riscv_1, noc_index = noc1, ct_args = [], common_rt_args = []>,
  // CHECK-SAME: #ttnn.compute_kernel<symbol_ref = @compute_kernel2, core_ranges = <[#ttnn.core_range<(0,0), (7,7)>]>, math_fidelity = hifi4, fp32_dest_acc_en = false, dst_full_sync_en = true, unpack_to_dest_modes = [default, fp32], bfp8_pack_precise = false, math_approx_mode = true, ct_args = [], common_rt_args = []>],
  // CHECK-SAME: cbs = [<total_size = 4096, core_ranges = <[#ttnn.core_range<(0,0), (7,7)>]>, formats = [<buffer_index = 0, dtype = bf16, page_size = 2048>]>,
  // CHECK-SAME: <total_size = 4096, core_ranges = <[#ttnn.core_range<(0,0), (7,7)>]>, formats = [<buffer_index = 1, dtype = bf16, page_size = 2048>], buffer = #ttnn.kernel_cb_global_buffer_address_of_tensor<1>>],
  // CHECK-SAME: semaphores = [<core_type = worker, core_ranges = <[#ttnn.core_range<(0,0), (7,7)>]>, initial_value = 5>, <id = 7, core_type = worker, core_ranges = <[#ttnn.core_range<(0,0), (1,1)>]>, initial_value = 0>]>}> : (tensor<32x64xf32>, tensor<32x64xf32>) -> ()
  "ttnn.generic"(%a, %0) <{program = #ttnn.program<kernels = [
      #ttnn.read_kernel<symbol_ref = @reader, core_ranges = <[#ttnn.core_range<0x0, 7x8>]>, ct_args = [#ttnn.kernel_arg_cb_buffer_index<0>, #ttnn.kernel_arg_tensor_accessor_args<0>], common_rt_args = [#ttnn.kernel_arg_address_of_tensor<0>], source = "void kernel_main() {\0A}", rt_args = [<(3,2), [#ttnn.kernel_arg_scalar<9>]>], named_ct_args = ["count" = #ttnn.kernel_arg_scalar<4>, "signal" = #ttnn.kernel_arg_semaphore_at<0>]>,
      #ttnn.write_kernel<symbol_ref = @writer, core_ranges = #ttnn.core_range_set<[#ttnn.core_range<(2,1), (2,1)>, #ttnn.core_range<0x4, 2x3>]>, ct_args = [#ttnn.kernel_arg_semaphore_at<0>], common_rt_args = [], defines = ["WIDTH" = "3"]>,
      #ttnn.data_movement_kernel<symbol_ref = @"mover 1", core_ranges = <[#ttnn.core_range<(0,7), (0,7)>]>, processor = riscv_1, noc_index = noc1, ct_args = [], common_rt_args = []>,
      #ttnn.compute_kernel<symbol_ref = @compute_kernel2, core_ranges = <[#ttnn.core_range<(0,0), (7,7)>]>, math_fidelity = hifi4, fp32_dest_acc_en = false, dst_full_sync_en = true, unpack_to_dest_modes = [default, fp32], bfp8_pack_precise = false, math_approx_mode = true, ct_args = [], common_rt_args = []>],
    cbs = [<total_size = 4096, core_ranges = <[#ttnn.core_range<(0,0), (7,7)>]>, formats = [<buffer_index = 0, dtype = bf16, page_size = 2048>]>,
           #ttnn.kernel_cb<total_size = 4096, core_ranges = <[#ttnn.core_range<(0,0), (7,7)>]>, formats = [<buffer_index = 1, dtype = bf16, page_size = 2048>], buffer = #ttnn.kernel_cb_global_buffer_address_of_tensor<1>>],
    semaphores = [<core_type = worker, core_ranges = <[#ttnn.core_range<(0,0), (7,7)>]>, initial_value = 5>, <id = 7, core_type = worker, core_ranges = <[#ttnn.core_range<(0,0), (1,1)>]>, initial_value = 0>]>}>
      : (tensor<32x64xf32>, tensor<32x64xf32>) -> ()
  return %0 : tensor<32x64xf32>
}
