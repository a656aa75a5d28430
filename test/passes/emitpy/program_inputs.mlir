// Tuples of tensors, functions that make or read them, and a main that runs the program.
// RUN: ttmlir-opt --ttnn-tuplify-tensors %s | FileCheck %s --check-prefix=TUPLE
// RUN: ttmlir-opt --ttnn-tuplify-tensors="tuplify-input-if-empty=true" %s | FileCheck %s --check-prefix=EMPTY
// RUN: ttmlir-opt --ttnn-tuplify-tensors --ttnn-create-input-gens %s | FileCheck %s --check-prefix=GENS
// RUN: ttmlir-opt --ttnn-tuplify-tensors --ttnn-load-input-tensors="tensor-load-directory=in tensor-load-file-prefix=x" %s | FileCheck %s --check-prefix=LOAD
// RUN: ttmlir-opt --ttnn-common-to-emitpy-pipeline %s -o %t.mlir
// RUN: ttmlir-translate --mlir-to-python %t.mlir | FileCheck %s --check-prefix=PY
// RUN: ttmlir-opt --ttnn-common-to-emitpy-pipeline="load-input-tensors-from-disk=true" %s -o %t2.mlir
// RUN: ttmlir-translate --mlir-to-python %t2.mlir | FileCheck %s --check-prefix=PYLOAD
// RUN: ttmlir-opt --ttnn-common-to-emitc-pipeline %s -o %t3.mlir
// RUN: ttmlir-translate --mlir-to-cpp %t3.mlir | FileCheck %s --check-prefix=CPP
// RUN: ttmlir-opt --ttnn-common-to-emitc-pipeline="target-dylib=true" %s -o %t4.mlir
// RUN: ttmlir-translate --mlir-to-cpp %t4.mlir | FileCheck %s --check-prefix=DYLIB

#dram = #ttnn.buffer_type<dram>
#layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x2x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
module {
  func.func @main(%arg0: tensor<32x64xbf16, #layout>, %arg1: tensor<32x64xbf16, #layout>) -> tensor<32x64xbf16, #layout> {
    %0 = "ttnn.add"(%arg0, %arg1) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<32x64xbf16, #layout>, tensor<32x64xbf16, #layout>) -> tensor<32x64xbf16, #layout>
    return %0 : tensor<32x64xbf16, #layout>
  }
  func.func @new() -> tensor<32x64xbf16, #layout> {
    %0 = "ttnn.get_device"() <{mesh_offset = #ttnn<mesh_offset 0x0>, mesh_shape = #ttnn<mesh_shape 1x1>}> : () -> !ttnn.device
    %1 = "ttnn.ones"(%0) <{dtype = #ttcore.supportedDataTypes<bf16>, layout = #ttnn.layout<tile>, shape = #ttnn.shape<32x64>}> : (!ttnn.device) -> tensor<32x64xbf16, #layout>
    return %1 : tensor<32x64xbf16, #layout>
  }
}
// TUPLE: func.func @main(%arg0: tuple<tensor<32x64xbf16, #{{.*}}>, tensor<32x64xbf16, #{{.*}}>>) -> tuple<tensor<32x64xbf16, #{{.*}}>>
// TUPLE: %[[A:.*]] = ttcore.get_tuple_element %arg0[0] : (tuple<
// TUPLE: %[[B:.*]] = ttcore.get_tuple_element %arg0[1] : (tuple<
// TUPLE: %[[C:.*]] = "ttnn.add"(%[[A]], %[[B]])
// TUPLE: %[[D:.*]] = ttcore.tuple %[[C]] : tuple<
// TUPLE: return %[[D]]
// TUPLE: func.func @new() -> tuple<
// EMPTY: func.func @new(%arg0: tuple<>) -> tuple<

// GENS: func.func @_main(
// GENS: func.func @create_inputs_for__main() -> tuple<
// GENS: %[[D:.*]] = "ttnn.get_device"()
// GENS: %[[A:.*]] = "ttnn.ones"(%[[D]])
// GENS: %[[B:.*]] = "ttnn.ones"(%[[D]])
// GENS: ttcore.tuple %[[A]], %[[B]]
// GENS: func.func @main() -> i32
// GENS: %[[IN:.*]] = call @create_inputs_for__main()
// GENS: call @_main(%[[IN]])
// GENS: call @new()
// GENS: %[[ZERO:.*]] = arith.constant 0 : i32
// GENS: return %[[ZERO]] : i32

// LOAD: func.func @load_inputs_for__main()
// LOAD: "ttnn.load_tensor"({{.*}}) <{file_path = "in/x0.tensorbin"}>
// LOAD: "ttnn.load_tensor"({{.*}}) <{file_path = "in/x1.tensorbin"}>

// PY: def _main(input):
// PY: var_0 = input[0]
// PY: return utils_create_list_0
// PY: def create_inputs_for__main():
// PY: ttnn_ones_0 = ttnn.ones(
// PY: utils_create_list_0 = [ttnn_ones_0, ttnn_ones_1]
// PY: def main():
// PY-NEXT: create_inputs_for__main_0 = create_inputs_for__main()
// PY-NEXT: _main_0 = _main(create_inputs_for__main_0)
// PY: return const_0
// PY: if __name__ == "__main__":
// PY-NEXT: main()

// PYLOAD: def load_inputs_for__main():
// PYLOAD: path="arg0.tensorbin"
// PYLOAD: path="arg1.tensorbin"

// CPP: std::vector<ttnn::Tensor> _main(std::vector<ttnn::Tensor> v1) {
// CPP: ttnn::add(v1[0], v1[1]
// CPP: util_create_vec(
// CPP: std::vector<ttnn::Tensor> create_inputs_for__main() {
// CPP: int32_t main() {
// DYLIB-NOT: int32_t main()
