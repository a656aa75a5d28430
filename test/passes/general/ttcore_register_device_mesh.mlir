// RUN: ttmlir-opt --ttcore-register-device="mesh-shape=1,2" %s | FileCheck %s
// RUN: ttmlir-opt --ttcore-register-device %s | FileCheck %s
// RUN: not ttmlir-opt --ttcore-register-device="mesh-shape=2,4" %s 2>&1 | FileCheck %s --check-prefix=OTHER

// The mesh that is asked for is that of the module.

// CHECK: meshShape = 1x2, chipIds = [0, 1]
// OTHER: ttcore_register_device_mesh.mlir:10:1: error: mesh-shape is 2x4, and the module is for a mesh of 1x2 chips; leave the option out

module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x2>]>} {
  func.func @main(%a: tensor<8x6xf32>) -> tensor<8x6xf32> {
    %0 = "ttir.abs"(%a) : (tensor<8x6xf32>) -> tensor<8x6xf32>
    return %0 : tensor<8x6xf32>
  }
}
