// Self-attention of three heads with a residual connection, as linalg on tensors: named operations,
// products and a softmax as loops, a function that is called.
#full = affine_map<(h, q, k) -> (h, q, k)>
#rows = affine_map<(h, q, k) -> (h, q)>
module {
  func.func private @project(%x: tensor<7x24xf32>, %w: tensor<24x24xf32>) -> tensor<7x3x8xf32> {
    %zero = arith.constant 0.0 : f32
    %0 = tensor.empty() : tensor<7x24xf32>
    %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<7x24xf32>) -> tensor<7x24xf32>
    %2 = linalg.matmul ins(%x, %w : tensor<7x24xf32>, tensor<24x24xf32>) outs(%1 : tensor<7x24xf32>) -> tensor<7x24xf32>
    %3 = tensor.expand_shape %2 [[0], [1, 2]] output_shape [7, 3, 8] : tensor<7x24xf32> into tensor<7x3x8xf32>
    return %3 : tensor<7x3x8xf32>
  }
  func.func @attention(%x: tensor<7x24xf32>, %wq: tensor<24x24xf32>, %wk: tensor<24x24xf32>,
                       %wv: tensor<24x24xf32>, %wo: tensor<24x24xf32>) -> tensor<7x24xf32> {
    %zero = arith.constant 0.0 : f32
    %lowest = arith.constant 0xFF800000 : f32
    %scale = arith.constant 0.353553385 : f32
    %q = call @project(%x, %wq) : (tensor<7x24xf32>, tensor<24x24xf32>) -> tensor<7x3x8xf32>
    %k = call @project(%x, %wk) : (tensor<7x24xf32>, tensor<24x24xf32>) -> tensor<7x3x8xf32>
    %v = call @project(%x, %wv) : (tensor<7x24xf32>, tensor<24x24xf32>) -> tensor<7x3x8xf32>
    %0 = tensor.empty() : tensor<3x7x7xf32>
    %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<3x7x7xf32>) -> tensor<3x7x7xf32>
    %2 = linalg.generic {
        indexing_maps = [affine_map<(h, q, k, d) -> (q, h, d)>, affine_map<(h, q, k, d) -> (k, h, d)>, affine_map<(h, q, k, d) -> (h, q, k)>],
        iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%q, %k : tensor<7x3x8xf32>, tensor<7x3x8xf32>) outs(%1 : tensor<3x7x7xf32>) {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      %p = arith.mulf %a, %b : f32
      %t = arith.addf %sum, %p : f32
      linalg.yield %t : f32
    } -> tensor<3x7x7xf32>
    %3 = linalg.generic {indexing_maps = [#full, #full], iterator_types = ["reduction", "parallel", "parallel"]}
        ins(%2 : tensor<3x7x7xf32>) outs(%0 : tensor<3x7x7xf32>) {
    ^bb0(%a: f32, %out: f32):
      %p = arith.mulf %a, %scale : f32
      linalg.yield %p : f32
    } -> tensor<3x7x7xf32>
    %4 = tensor.empty() : tensor<3x7xf32>
    %5 = linalg.fill ins(%lowest : f32) outs(%4 : tensor<3x7xf32>) -> tensor<3x7xf32>
    %6 = linalg.reduce { arith.maximumf } ins(%3 : tensor<3x7x7xf32>) outs(%5 : tensor<3x7xf32>) dimensions = [2]
    %7 = linalg.generic {indexing_maps = [#full, #rows, #full], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%3, %6 : tensor<3x7x7xf32>, tensor<3x7xf32>) outs(%0 : tensor<3x7x7xf32>) {
    ^bb0(%a: f32, %m: f32, %out: f32):
      %d = arith.subf %a, %m : f32
      %e = math.exp %d : f32
      linalg.yield %e : f32
    } -> tensor<3x7x7xf32>
    %8 = linalg.fill ins(%zero : f32) outs(%4 : tensor<3x7xf32>) -> tensor<3x7xf32>
    %9 = linalg.generic {indexing_maps = [#full, #rows], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%7 : tensor<3x7x7xf32>) outs(%8 : tensor<3x7xf32>) {
    ^bb0(%a: f32, %sum: f32):
      %t = arith.addf %a, %sum : f32
      linalg.yield %t : f32
    } -> tensor<3x7xf32>
    %10 = linalg.generic {indexing_maps = [#full, #rows, #full], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%7, %9 : tensor<3x7x7xf32>, tensor<3x7xf32>) outs(%0 : tensor<3x7x7xf32>) {
    ^bb0(%a: f32, %sum: f32, %out: f32):
      %d = arith.divf %a, %sum : f32
      linalg.yield %d : f32
    } -> tensor<3x7x7xf32>
    %11 = tensor.empty() : tensor<3x7x8xf32>
    %12 = linalg.transpose ins(%v : tensor<7x3x8xf32>) outs(%11 : tensor<3x7x8xf32>) permutation = [1, 0, 2]
    %13 = linalg.fill ins(%zero : f32) outs(%11 : tensor<3x7x8xf32>) -> tensor<3x7x8xf32>
    %14 = linalg.batch_matmul ins(%10, %12 : tensor<3x7x7xf32>, tensor<3x7x8xf32>) outs(%13 : tensor<3x7x8xf32>) -> tensor<3x7x8xf32>
    %15 = tensor.empty() : tensor<7x3x8xf32>
    %16 = linalg.transpose ins(%14 : tensor<3x7x8xf32>) outs(%15 : tensor<7x3x8xf32>) permutation = [1, 0, 2]
    %17 = tensor.collapse_shape %16 [[0], [1, 2]] : tensor<7x3x8xf32> into tensor<7x24xf32>
    %18 = linalg.matmul ins(%17, %wo : tensor<7x24xf32>, tensor<24x24xf32>) outs(%x : tensor<7x24xf32>) -> tensor<7x24xf32>
    return %18 : tensor<7x24xf32>
  }
}

{-#
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module(convert-ml-program-to-func,inline{canonicalize=false},convert-linalg-to-ttir,ttir-decomposition)",
      disable_threading: true,
      verify_each: true
    }
  }
#-}
