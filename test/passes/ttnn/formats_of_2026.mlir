// Formats of weights and caches, and how products are computed, in the pipelines of 2026.

// RUN: ttmlir-opt --split-input-file --ttir-propagate-weight-dtype %s | FileCheck %s --check-prefix=WEIGHT
// RUN: ttmlir-opt --split-input-file --ttir-infer-kv-cache-argument-types %s | FileCheck %s --check-prefix=CACHE
// RUN: ttmlir-opt --split-input-file --ttir-to-ttnn-backend-pipeline="experimental-weight-dtype=bfp_bf8 experimental-kv-cache-dtype=bfp_bf8 compute-cfg-math-fidelity=hifi2 compute-cfg-fp32-dest-acc-en=false enable-cpu-hoisted-const-eval=false" %s | FileCheck %s --check-prefix=TTNN
// RUN: ttmlir-opt --split-input-file --ttir-to-ttnn-common-pipeline="enable-const-eval=false experimental-weight-dtype=none compute-cfg-packer-l1-acc=true" %s | FileCheck %s --check-prefix=PLAIN

// RUN: ttmlir-opt --split-input-file --ttir-quant-data-type-conversion="target-bit-width=16" %s | FileCheck %s --check-prefix=WIDE
// RUN: ttmlir-opt --split-input-file --ttir-quant-dequant-conversion %s | FileCheck %s --check-prefix=DIRECT
// RUN: ttmlir-opt --split-input-file --ttir-to-ttir-decomposition %s | FileCheck %s --check-prefix=UNROLLED

// An argument says what its weight is to be; the widest of several formats is taken, and unknown
// ones are none.
// WEIGHT-LABEL: func.func @products
// WEIGHT: "ttir.matmul"{{.*}}<{transpose_a = false, transpose_b = false}> {ttcore.weight_dtype = "bfp_bf4"}
// WEIGHT: "ttir.linear"{{.*}}<{transpose_a = false, transpose_b = false}> : (
// WEIGHT: "ttir.matmul"{{.*}}<{transpose_a = false, transpose_b = false}> {ttcore.weight_dtype = "bf16"}

// TTNN-LABEL: func.func private @products_const_eval_0(
// TTNN: "ttnn.typecast"{{.*}} -> tensor<128x64x!ttcore.tile<32x32, bfp_bf4>
// TTNN-LABEL: func.func private @products_const_eval_1(
// TTNN: "ttnn.typecast"{{.*}} -> tensor<128x64x!ttcore.tile<32x32, bfp_bf8>
// TTNN-LABEL: func.func @products
// TTNN: "ttnn.matmul"{{.*}}math_fidelity = hifi2, fp32_dest_acc_en = false>
// TTNN-SAME: tensor<128x64x!ttcore.tile<32x32, bfp_bf4>, #ttnn_layout{{[0-9]*}}>) -> tensor<32x128xbf16
// TTNN: "ttnn.matmul"{{.*}}tensor<128x64x!ttcore.tile<32x32, bfp_bf8>
// TTNN: "ttnn.matmul"{{.*}} {ttcore.weight_dtype = "bf16"} : {{.*}}tensor<64x32xbf16

// Without functions of constants, parameters are tiles on the device.
// PLAIN-NOT: load_cached
// PLAIN-LABEL: func.func @products
// PLAIN: "ttnn.matmul"{{.*}}math_fidelity = hifi4, fp32_dest_acc_en = true, packer_l1_acc = true>
func.func @products(
    %x: tensor<32x64xbf16>,
    %w: tensor<128x64xbf16>
        {ttcore.argument_type = #ttcore.argument_type<parameter>, ttcore.weight_dtype = "bfp_bf4"},
    %v: tensor<128x64xbf16>
        {ttcore.argument_type = #ttcore.argument_type<parameter>, ttcore.weight_dtype = "f64"},
    %u: tensor<64x32xbf16>
        {ttcore.argument_type = #ttcore.argument_type<parameter>, ttcore.weight_dtype = "bf16"})
    -> tensor<32x32xbf16> {
  %0 = "ttir.permute"(%w) <{permutation = array<i64: 1, 0>}> : (tensor<128x64xbf16>) -> tensor<64x128xbf16>
  %1 = "ttir.matmul"(%x, %0) <{transpose_a = false, transpose_b = false}> : (tensor<32x64xbf16>, tensor<64x128xbf16>) -> tensor<32x128xbf16>
  %2 = "ttir.linear"(%1, %v) <{transpose_a = false, transpose_b = false}> : (tensor<32x128xbf16>, tensor<128x64xbf16>) -> tensor<32x64xbf16>
  %3 = "ttir.matmul"(%2, %u) <{transpose_a = false, transpose_b = false}> : (tensor<32x64xbf16>, tensor<64x32xbf16>) -> tensor<32x32xbf16>
  return %3 : tensor<32x32xbf16>
}

// -----

// A product of what comes anew each time stays as it is.
// WEIGHT-LABEL: func.func @anew
// TTNN-LABEL: func.func @anew
// TTNN-NOT: bfp_bf8
// TTNN: return
func.func @anew(%x: tensor<32x64xbf16>, %y: tensor<64x32xbf16>) -> tensor<32x32xbf16> {
  %0 = "ttir.matmul"(%x, %y) : (tensor<32x64xbf16>, tensor<64x32xbf16>) -> tensor<32x32xbf16>
  return %0 : tensor<32x32xbf16>
}

// -----

// CACHE-LABEL: func.func @cache
// CACHE-SAME: %arg0: tensor<1x4x64x32xbf16> {ttcore.kv_cache}, %arg1: tensor<1x4x32x32xbf16>)
// TTNN-LABEL: func.func @cache
// TTNN-SAME: %arg0: tensor<1x4x64x32x!ttcore.tile<32x32, bfp_bf8>, #ttnn_layout{{[0-9]*}}> {ttcore.kv_cache}
// TTNN: %[[NEW:.*]] = "ttnn.typecast"({{.*}}tensor<1x4x32x32x!ttcore.tile<32x32, bfp_bf8>
// TTNN: "ttnn.fill_cache"(%arg0, %[[NEW]])
// TTNN: "ttnn.add"(%arg0, %arg0){{.*}} -> tensor<1x4x64x32xbf16
func.func @cache(%cache: tensor<1x4x64x32xbf16>, %new: tensor<1x4x32x32xbf16>) -> tensor<1x4x64x32xbf16> {
  "ttir.fill_cache"(%cache, %new) <{batch_offset = 0 : i32}> : (tensor<1x4x64x32xbf16>, tensor<1x4x32x32xbf16>) -> ()
  %0 = "ttir.add"(%cache, %cache) : (tensor<1x4x64x32xbf16>, tensor<1x4x64x32xbf16>) -> tensor<1x4x64x32xbf16>
  return %0 : tensor<1x4x64x32xbf16>
}

// -----

// Scales and zeros of quantized numbers become tensors, and devices have 32 bits for them.
// WIDE-LABEL: func.func @quantized
// WIDE: "ttir.requantize"{{.*}} -> tensor<5x3x!quant.uniform<i16:f32:1, {2.000000e-01:1,4.000000e-01,6.000000e-01:-2}>>
// DIRECT-LABEL: func.func @quantized
// DIRECT: %[[ONE:.*]] = "ttir.quantize"(%arg0)
// DIRECT: %[[OTHER:.*]] = "ttir.requantize"(%[[ONE]])
// DIRECT-NEXT: %[[LAST:.*]] = "ttir.requantize"(%[[OTHER]])
// DIRECT-NEXT: "ttir.dequantize"(%[[LAST]])
// UNROLLED-LABEL: func.func @quantized
// UNROLLED: "ttir.quantize_unrolled"(%arg0, %{{.*}}, %{{.*}}) <{axis = 1 : i32}> : (tensor<5x3xf32>, tensor<3xf32>, tensor<3xsi32>)
// UNROLLED: "ttir.requantize_unrolled"{{.*}} <{axis = 1 : i32}>
// TTNN-LABEL: func.func @quantized
// TTNN: "ttnn.quantize"{{.*}} <{axis = 1 : i32, output_dtype = #ttcore.supportedDataTypes<si32>}>
// TTNN: "ttnn.requantize"{{.*}} -> tensor<5x3x!quant.uniform<i32:f32:1, {2.000000e-01:1,4.000000e-01,6.000000e-01:-2}>
// TTNN: "ttnn.requantize"
// TTNN: "ttnn.dequantize"{{.*}} <{axis = 1 : i32, output_dtype = #ttcore.supportedDataTypes<f32>}>
!fine = !quant.uniform<i8:f32:1, {0.1, 0.2:1, 0.3:-2}>
!coarse = !quant.uniform<i8:f32:1, {0.2:1, 0.4, 0.6:-2}>
func.func @quantized(%a: tensor<5x3xf32>) -> tensor<5x3xf32> {
  %0 = "ttir.quantize"(%a) : (tensor<5x3xf32>) -> tensor<5x3x!fine>
  %1 = "ttir.requantize"(%0) : (tensor<5x3x!fine>) -> tensor<5x3x!coarse>
  %2 = "ttir.dequantize"(%1) : (tensor<5x3x!coarse>) -> tensor<5x3xf32>
  %3 = "ttir.quantize"(%2) : (tensor<5x3xf32>) -> tensor<5x3x!fine>
  %4 = "ttir.dequantize"(%3) : (tensor<5x3x!fine>) -> tensor<5x3xf32>
  return %4 : tensor<5x3xf32>
}
