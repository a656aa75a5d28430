// Two layers and a softmax, at locations such as frontends write them.

#any = #tt.operand_constraint<dram|l1|scalar|tile|any_device|any_device_tile>
func.func @net(%x: tensor<33x70xf32>, %w1: tensor<70x96xf32>, %b1: tensor<1x96xf32>, %w2: tensor<96x5xf32>) -> tensor<33x5xf32> {
  %0 = tensor.empty() : tensor<33x96xf32> loc(#fc1)
  %1 = "ttir.matmul"(%x, %w1, %0) <{operand_constraints = [#any, #any, #any]}> : (tensor<33x70xf32>, tensor<70x96xf32>, tensor<33x96xf32>) -> tensor<33x96xf32> loc(#fc1)
  %2 = tensor.empty() : tensor<33x96xf32> loc(#bias)
  %3 = "ttir.add"(%1, %b1, %2) <{operandSegmentSizes = array<i32: 2, 1>, operand_constraints = [#any, #any, #any]}> : (tensor<33x96xf32>, tensor<1x96xf32>, tensor<33x96xf32>) -> tensor<33x96xf32> loc(#bias)
  %4 = tensor.empty() : tensor<33x96xf32> loc(#relu)
  %5 = "ttir.relu"(%3, %4) <{operandSegmentSizes = array<i32: 1, 1>, operand_constraints = [#any, #any]}> : (tensor<33x96xf32>, tensor<33x96xf32>) -> tensor<33x96xf32> loc(#relu)
  %6 = tensor.empty() : tensor<33x5xf32> loc(#fc2)
  %7 = "ttir.matmul"(%5, %w2, %6) <{operand_constraints = [#any, #any, #any]}> : (tensor<33x96xf32>, tensor<96x5xf32>, tensor<33x5xf32>) -> tensor<33x5xf32> loc(#fc2)
  %8 = tensor.empty() : tensor<33x5xf32> loc(#softmax)
  %9 = "ttir.softmax"(%7, %8) <{dimension = 1 : si32, operand_constraints = [#any, #any]}> : (tensor<33x5xf32>, tensor<33x5xf32>) -> tensor<33x5xf32> loc(#softmax)
  return %9 : tensor<33x5xf32>
}

#fc1 = loc("encoder/fc1/linear")
#bias = loc("encoder/fc1/bias")
#relu = loc("encoder/relu")
#fc2 = loc("head/fc2/linear")
#softmax = loc("head/softmax")
