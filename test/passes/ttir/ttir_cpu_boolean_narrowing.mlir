// What today's compiler makes of a function of the host; what the device compares stays.

// RUN: ttmlir-opt --ttir-cpu-boolean-narrowing %s | FileCheck %s
module {
  ttcore.device_module {
    builtin.module {
      // CHECK: "ttir.gt"(%arg0, %arg1) : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
      func.func @main(%a: tensor<3x1xf32>, %b: tensor<3x1xf32>) -> tensor<3x1xf32> {
        %0 = "ttir.gt"(%a, %b) : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
        return %0 : tensor<3x1xf32>
      }
    }
  }
  ttcore.cpu_module {
    builtin.module {
      // CHECK: %[[ONE:.*]] = "ttir.full"
      // CHECK: %[[GT:.*]] = "ttir.gt"(%arg0, %[[ONE]]) : (tensor<3x1xf32>, tensor<1x1xf32>) -> tensor<3x1xi1>
      // CHECK-NEXT: %[[WIDE:.*]] = "ttir.typecast"(%[[GT]]) <{conservative_folding = false}> : (tensor<3x1xi1>) -> tensor<3x1xf32>
      // CHECK-NEXT: %[[FIRST:.*]] = "ttir.where"(%[[WIDE]], %[[ONE]], %arg1)
      // CHECK-NEXT: "ttir.where"(%[[WIDE]], %[[FIRST]], %arg1)
      // CHECK-NEXT: "ttir.lt"(%arg0, %arg1) : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xi1>
      // CHECK-NEXT: return
      func.func @host(%a: tensor<3x1xf32>, %b: tensor<3x1xf32>)
          -> (tensor<3x1xf32>, tensor<3x1xi1>) {
        %one = "ttir.full"() <{fill_value = 1.0 : f32, shape = array<i32: 1, 1>}>
            : () -> tensor<1x1xf32>
        %0 = "ttir.gt"(%a, %one) : (tensor<3x1xf32>, tensor<1x1xf32>) -> tensor<3x1xf32>
        %1 = "ttir.where"(%0, %one, %b)
            : (tensor<3x1xf32>, tensor<1x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
        %2 = "ttir.where"(%0, %1, %b)
            : (tensor<3x1xf32>, tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
        %3 = "ttir.lt"(%a, %b) : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xi1>
        return %2, %3 : tensor<3x1xf32>, tensor<3x1xi1>
      }
    }
  }
}
