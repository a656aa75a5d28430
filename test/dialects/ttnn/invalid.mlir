// RUN: ttmlir-opt --split-input-file --verify-diagnostics %s

// What ttnn refuses: structure, attributes, types, shapes and destinations.

func.func @embedding_weight_rank(%a: tensor<7xf32>, %b: tensor<10x4x2xf32>, %c: tensor<7x4xf32>) {
  // expected-error@+1 {{op Weight must be a 2D tensor}}
  %r = "ttnn.embedding"(%a, %b, %c) : (tensor<7xf32>, tensor<10x4x2xf32>, tensor<7x4xf32>) -> tensor<7x4xf32>
  return
}

// -----

func.func @embedding_output_rank(%a: tensor<7xf32>, %b: tensor<10x4xf32>, %c: tensor<4xf32>) {
  // expected-error@+1 {{op Output must have one dimension more than input}}
  %r = "ttnn.embedding"(%a, %b, %c) : (tensor<7xf32>, tensor<10x4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @softmax_shape(%a: tensor<33x70xf32>, %b: tensor<70x33xf32>) {
  // expected-error@+1 {{op Input and output shapes must be the same}}
  %r = "ttnn.softmax"(%a, %b) <{dimension = 1 : si32}> : (tensor<33x70xf32>, tensor<70x33xf32>) -> tensor<70x33xf32>
  return
}

// -----

func.func @softmax_dimension_high(%a: tensor<33x70xf32>, %b: tensor<33x70xf32>) {
  // expected-error@+1 {{op Dimension attribute must be within the bounds of the input tensor}}
  %r = "ttnn.softmax"(%a, %b) <{dimension = 2 : si32}> : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
  return
}

// -----

func.func @softmax_dimension_low(%a: tensor<33x70xf32>, %b: tensor<33x70xf32>) {
  // expected-error@+1 {{op Dimension attribute must be within the bounds of the input tensor}}
  %r = "ttnn.softmax"(%a, %b) <{dimension = -3 : si32}> : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
  return
}

// -----

func.func @transpose_rank_one(%a: tensor<33xf32>, %b: tensor<33xf32>) {
  // expected-error@+1 {{op Input must be at least a 2D tensor}}
  %r = "ttnn.transpose"(%a, %b) <{dim0 = 0 : si32, dim1 = 0 : si32}> : (tensor<33xf32>, tensor<33xf32>) -> tensor<33xf32>
  return
}

// -----

func.func @transpose_ranks(%a: tensor<33x70xf32>, %b: tensor<70x33x1xf32>) {
  // expected-error@+1 {{op Input must have the same rank as output}}
  %r = "ttnn.transpose"(%a, %b) <{dim0 = 0 : si32, dim1 = 1 : si32}> : (tensor<33x70xf32>, tensor<70x33x1xf32>) -> tensor<70x33x1xf32>
  return
}

// -----

func.func @transpose_dim0(%a: tensor<33x70xf32>, %b: tensor<70x33xf32>) {
  // expected-error@+1 {{op Dimension 0 attribute must be within the bounds of the input tensor}}
  %r = "ttnn.transpose"(%a, %b) <{dim0 = 2 : si32, dim1 = 1 : si32}> : (tensor<33x70xf32>, tensor<70x33xf32>) -> tensor<70x33xf32>
  return
}

// -----

func.func @transpose_dim1(%a: tensor<33x70xf32>, %b: tensor<70x33xf32>) {
  // expected-error@+1 {{op Dimension 1 attribute must be within the bounds of the input tensor}}
  %r = "ttnn.transpose"(%a, %b) <{dim0 = 0 : si32, dim1 = -3 : si32}> : (tensor<33x70xf32>, tensor<70x33xf32>) -> tensor<70x33xf32>
  return
}

// -----

func.func @transpose_extents(%a: tensor<33x70xf32>, %b: tensor<33x70xf32>) {
  // expected-error@+1 {{op Input-output transpose dimension mismatch.}}
  %r = "ttnn.transpose"(%a, %b) <{dim0 = 0 : si32, dim1 = 1 : si32}> : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
  return
}

// -----

func.func @concat_no_input(%a: tensor<33x70xf32>) {
  // expected-error@+1 {{op Concatenation requires at least one input tensor.}}
  %r = "ttnn.concat"(%a) <{dim = 0 : si32}> : (tensor<33x70xf32>) -> tensor<33x70xf32>
  return
}

// -----

func.func @concat_dim(%a: tensor<33x70xf32>, %b: tensor<33x70xf32>, %c: tensor<66x70xf32>) {
  // expected-error@+1 {{op Invalid dimension -3 for concatenation.}}
  %r = "ttnn.concat"(%a, %b, %c) <{dim = -3 : si32}> : (tensor<33x70xf32>, tensor<33x70xf32>, tensor<66x70xf32>) -> tensor<66x70xf32>
  return
}

// -----

func.func @concat_rank(%a: tensor<33x70xf32>, %b: tensor<33x70x1xf32>, %c: tensor<66x70xf32>) {
  // expected-error@+1 {{op All input tensors must have the same rank.}}
  %r = "ttnn.concat"(%a, %b, %c) <{dim = 0 : si32}> : (tensor<33x70xf32>, tensor<33x70x1xf32>, tensor<66x70xf32>) -> tensor<66x70xf32>
  return
}

// -----

func.func @concat_extents(%a: tensor<33x70xf32>, %b: tensor<4x71xf32>, %c: tensor<37x70xf32>) {
  // expected-error@+1 {{op All input tensors must have the same dimensions, except for dimension 0.}}
  %r = "ttnn.concat"(%a, %b, %c) <{dim = -2 : si32}> : (tensor<33x70xf32>, tensor<4x71xf32>, tensor<37x70xf32>) -> tensor<37x70xf32>
  return
}

// -----

func.func @reshape_rank(%a: tensor<33x70xf32>, %b: tensor<70x33xf32>) {
  // expected-error@+1 {{op Shape attribute size must match output tensor rank}}
  %r = "ttnn.reshape"(%a, %b) <{shape = [2310 : i32]}> : (tensor<33x70xf32>, tensor<70x33xf32>) -> tensor<70x33xf32>
  return
}

// -----

func.func @reshape_dynamic(%a: tensor<?x70xf32>, %b: tensor<70x33xf32>) {
  // expected-error@+1 {{op Input and output tensors must have static shapes}}
  %r = "ttnn.reshape"(%a, %b) <{shape = [70 : i32, 33 : i32]}> : (tensor<?x70xf32>, tensor<70x33xf32>) -> tensor<70x33xf32>
  return
}

// -----

func.func @reshape_count(%a: tensor<33x70xf32>, %b: tensor<2x70xf32>) {
  // expected-error@+1 {{op Input and output tensors must have the same number of elements}}
  %r = "ttnn.reshape"(%a, %b) <{shape = [2 : i32, 70 : i32]}> : (tensor<33x70xf32>, tensor<2x70xf32>) -> tensor<2x70xf32>
  return
}

// -----

func.func @reshape_two_unknown(%a: tensor<33x70xf32>, %b: tensor<70x33xf32>) {
  // expected-error@+1 {{op Shape attribute must have at most one -1 element}}
  %r = "ttnn.reshape"(%a, %b) <{shape = [-1 : i32, -1 : i32]}> : (tensor<33x70xf32>, tensor<70x33xf32>) -> tensor<70x33xf32>
  return
}

// -----

func.func @reshape_zero(%a: tensor<33x70xf32>, %b: tensor<70x33xf32>) {
  // expected-error@+1 {{op All dimensions must be positive except the one with -1}}
  %r = "ttnn.reshape"(%a, %b) <{shape = [-1 : i32, 0 : i32]}> : (tensor<33x70xf32>, tensor<70x33xf32>) -> tensor<70x33xf32>
  return
}

// -----

func.func @reshape_extent(%a: tensor<33x70xf32>, %b: tensor<70x33xf32>) {
  // expected-error@+1 {{op Shape attribute must match the output tensor shape for dimensions that are not -1}}
  %r = "ttnn.reshape"(%a, %b) <{shape = [-1 : i32, 70 : i32]}> : (tensor<33x70xf32>, tensor<70x33xf32>) -> tensor<70x33xf32>
  return
}

// -----

func.func @matmul_rank_a(%a: tensor<5xf32>, %b: tensor<5x7xf32>, %c: tensor<7xf32>) {
  // expected-error@+1 {{op Input A must be at least a 2D tensor}}
  %r = "ttnn.matmul"(%a, %b, %c) : (tensor<5xf32>, tensor<5x7xf32>, tensor<7xf32>) -> tensor<7xf32>
  return
}

// -----

func.func @matmul_rank_b(%a: tensor<4x5xf32>, %b: tensor<5xf32>, %c: tensor<4xf32>) {
  // expected-error@+1 {{op Input B must be at least a 2D tensor}}
  %r = "ttnn.matmul"(%a, %b, %c) : (tensor<4x5xf32>, tensor<5xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @matmul_ranks(%a: tensor<4x5xf32>, %b: tensor<2x5x7xf32>, %c: tensor<2x4x7xf32>) {
  // expected-error@+1 {{op Input A and B must have the same rank}}
  %r = "ttnn.matmul"(%a, %b, %c) : (tensor<4x5xf32>, tensor<2x5x7xf32>, tensor<2x4x7xf32>) -> tensor<2x4x7xf32>
  return
}

// -----

func.func @matmul_output_rank(%a: tensor<4x5xf32>, %b: tensor<5x7xf32>, %c: tensor<1x4x7xf32>) {
  // expected-error@+1 {{op Input A and B must have the same rank as the output}}
  %r = "ttnn.matmul"(%a, %b, %c) : (tensor<4x5xf32>, tensor<5x7xf32>, tensor<1x4x7xf32>) -> tensor<1x4x7xf32>
  return
}

// -----

func.func @matmul_inner(%a: tensor<4x5xf32>, %b: tensor<6x7xf32>, %c: tensor<4x7xf32>) {
  // expected-error@+1 {{op Input A and B must have matching inner dimensions}}
  %r = "ttnn.matmul"(%a, %b, %c) : (tensor<4x5xf32>, tensor<6x7xf32>, tensor<4x7xf32>) -> tensor<4x7xf32>
  return
}

// -----

func.func @matmul_rows(%a: tensor<4x5xf32>, %b: tensor<5x7xf32>, %c: tensor<5x7xf32>) {
  // expected-error@+1 {{op Output must have the same number of rows as input A}}
  %r = "ttnn.matmul"(%a, %b, %c) : (tensor<4x5xf32>, tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  return
}

// -----

func.func @matmul_columns(%a: tensor<4x5xf32>, %b: tensor<5x7xf32>, %c: tensor<4x5xf32>) {
  // expected-error@+1 {{op Output must have the same number of columns as input B}}
  %r = "ttnn.matmul"(%a, %b, %c) : (tensor<4x5xf32>, tensor<5x7xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @slice_lengths(%a: tensor<33x70xf32>, %b: tensor<3x7xf32>) {
  // expected-error@+1 {{op Begins, ends and step must have one entry for each of the 2 dimensions.}}
  %r = "ttnn.slice"(%a, %b) <{begins = [0 : i32], ends = [3 : i32, 7 : i32], step = [1 : i32, 1 : i32]}> : (tensor<33x70xf32>, tensor<3x7xf32>) -> tensor<3x7xf32>
  return
}

// -----

func.func @slice_step(%a: tensor<33x70xf32>, %b: tensor<3x7xf32>) {
  // expected-error@+1 {{op Step 0 of dimension 1 must be positive.}}
  %r = "ttnn.slice"(%a, %b) <{begins = [0 : i32, 0 : i32], ends = [3 : i32, 7 : i32], step = [1 : i32, 0 : i32]}> : (tensor<33x70xf32>, tensor<3x7xf32>) -> tensor<3x7xf32>
  return
}

// -----

func.func @slice_bounds(%a: tensor<33x70xf32>, %b: tensor<3x7xf32>) {
  // expected-error@+1 {{op Slice from 0 to 71 of dimension 1 must lie within its extent 70.}}
  %r = "ttnn.slice"(%a, %b) <{begins = [0 : i32, 0 : i32], ends = [3 : i32, 71 : i32], step = [1 : i32, 1 : i32]}> : (tensor<33x70xf32>, tensor<3x7xf32>) -> tensor<3x7xf32>
  return
}

// -----

func.func @slice_shape(%a: tensor<33x70xf32>, %b: tensor<3x7xf32>) {
  // expected-error@+1 {{op Output shape (3, 7) must be (2, 4).}}
  %r = "ttnn.slice"(%a, %b) <{begins = [0 : i32, 0 : i32], ends = [3 : i32, 7 : i32], step = [2 : i32, 2 : i32]}> : (tensor<33x70xf32>, tensor<3x7xf32>) -> tensor<3x7xf32>
  return
}

// -----

func.func @repeat_length(%a: tensor<3x7xf32>, %b: tensor<6x7xf32>) {
  // expected-error@+1 {{op Repeat dimensions must have one entry for each of the 2 dimensions.}}
  %r = "ttnn.repeat"(%a, %b) <{repeat_dimensions = array<i64: 2>}> : (tensor<3x7xf32>, tensor<6x7xf32>) -> tensor<6x7xf32>
  return
}

// -----

func.func @repeat_count(%a: tensor<3x7xf32>, %b: tensor<6x7xf32>) {
  // expected-error@+1 {{op Repeat dimensions must be positive.}}
  %r = "ttnn.repeat"(%a, %b) <{repeat_dimensions = array<i64: 2, 0>}> : (tensor<3x7xf32>, tensor<6x7xf32>) -> tensor<6x7xf32>
  return
}

// -----

func.func @repeat_shape(%a: tensor<3x7xf32>, %b: tensor<6x7xf32>) {
  // expected-error@+1 {{op Output shape (6, 7) must be (3, 14).}}
  %r = "ttnn.repeat"(%a, %b) <{repeat_dimensions = array<i64: 1, 2>}> : (tensor<3x7xf32>, tensor<6x7xf32>) -> tensor<6x7xf32>
  return
}

// -----

func.func @permute_twice(%a: tensor<3x7xf32>, %b: tensor<3x7xf32>) {
  // expected-error@+1 {{op Permutation must name each of the 2 dimensions exactly once.}}
  %r = "ttnn.permute"(%a, %b) <{permutation = array<i64: 0, 0>}> : (tensor<3x7xf32>, tensor<3x7xf32>) -> tensor<3x7xf32>
  return
}

// -----

func.func @permute_shape(%a: tensor<3x7xf32>, %b: tensor<3x7xf32>) {
  // expected-error@+1 {{op Output shape (3, 7) must be (7, 3).}}
  %r = "ttnn.permute"(%a, %b) <{permutation = array<i64: 1, 0>}> : (tensor<3x7xf32>, tensor<3x7xf32>) -> tensor<3x7xf32>
  return
}

// -----

func.func @pad_length(%a: tensor<3x7xf32>, %b: tensor<5x7xf32>) {
  // expected-error@+1 {{op Padding must have two entries for each of the 2 dimensions.}}
  %r = "ttnn.pad"(%a, %b) <{padding = array<i32: 1, 1>, value = 0.0 : f32}> : (tensor<3x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  return
}

// -----

func.func @pad_negative(%a: tensor<3x7xf32>, %b: tensor<5x7xf32>) {
  // expected-error@+1 {{op Padding must not be negative.}}
  %r = "ttnn.pad"(%a, %b) <{padding = array<i32: 1, 1, -1, 1>, value = 0.0 : f32}> : (tensor<3x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  return
}

// -----

func.func @pad_shape(%a: tensor<3x7xf32>, %b: tensor<5x7xf32>) {
  // expected-error@+1 {{op Output shape (5, 7) must be (6, 7).}}
  %r = "ttnn.pad"(%a, %b) <{padding = array<i32: 1, 2, 0, 0>, value = 0.0 : f32}> : (tensor<3x7xf32>, tensor<5x7xf32>) -> tensor<5x7xf32>
  return
}

// -----

func.func @min_dimension(%a: tensor<3x7xf32>, %b: tensor<3xf32>) {
  // expected-error@+1 {{op Reduction dimension 2 is out of range for rank 2.}}
  %r = "ttnn.min"(%a, %b) <{dim_arg = [2 : i32], keep_dim = false}> : (tensor<3x7xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @min_twice(%a: tensor<3x7xf32>, %b: tensor<3xf32>) {
  // expected-error@+1 {{op Reduction dimensions must differ from each other.}}
  %r = "ttnn.min"(%a, %b) <{dim_arg = [1 : i32, -1 : i32], keep_dim = false}> : (tensor<3x7xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @prod_shape(%a: tensor<3x7xf32>, %b: tensor<3xf32>) {
  // expected-error@+1 {{op Output shape (3) must be (3, 1).}}
  %r = "ttnn.prod"(%a, %b) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<3x7xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @result_type(%a: tensor<4x5xf32>, %b: tensor<5x7xf32>, %c: tensor<4x7xf32>) {
  // expected-error@+1 {{op expected type of operand #2 ('tensor<4x7xf32>') to match type of corresponding result ('tensor<4x7xbf16>')}}
  %r = "ttnn.matmul"(%a, %b, %c) : (tensor<4x5xf32>, tensor<5x7xf32>, tensor<4x7xf32>) -> tensor<4x7xbf16>
  return
}

// -----

func.func @missing_result(%a: tensor<3x7xf32>, %b: tensor<3x7xf32>, %c: tensor<3x7xf32>) {
  // expected-error@+1 {{op expected the number of tensor results (0) to be equal to the number of output tensors (1)}}
  "ttnn.add"(%a, %b, %c) <{operandSegmentSizes = array<i32: 2, 1>}> : (tensor<3x7xf32>, tensor<3x7xf32>, tensor<3x7xf32>) -> ()
  return
}

// -----

func.func @extra_result(%a: tensor<3x7xf32>, %b: tensor<3x7xf32>, %c: tensor<3x7xf32>) {
  // expected-error@+1 {{op expected the number of tensor results (2) to be equal to the number of output tensors (1)}}
  %r:2 = "ttnn.add"(%a, %b, %c) <{operandSegmentSizes = array<i32: 2, 1>}> : (tensor<3x7xf32>, tensor<3x7xf32>, tensor<3x7xf32>) -> (tensor<3x7xf32>, tensor<3x7xf32>)
  return
}

// -----

func.func @no_segments(%a: tensor<3x7xf32>, %b: tensor<3x7xf32>, %c: tensor<3x7xf32>) {
  // expected-error@+1 {{op operand count (3) does not match with the total size (0) specified in attribute 'operandSegmentSizes'}}
  %r = "ttnn.add"(%a, %b, %c) : (tensor<3x7xf32>, tensor<3x7xf32>, tensor<3x7xf32>) -> tensor<3x7xf32>
  return
}

// -----

func.func @wrong_segments(%a: tensor<3x7xf32>, %b: tensor<3x7xf32>, %c: tensor<3x7xf32>) {
  // expected-error@+1 {{op operand count (3) does not match with the total size (2) specified in attribute 'operandSegmentSizes'}}
  %r = "ttnn.add"(%a, %b, %c) <{operandSegmentSizes = array<i32: 1, 1>}> : (tensor<3x7xf32>, tensor<3x7xf32>, tensor<3x7xf32>) -> tensor<3x7xf32>
  return
}

// -----

func.func @negative_segments(%a: tensor<3x7xf32>, %b: tensor<3x7xf32>, %c: tensor<3x7xf32>) {
  // expected-error@+1 {{op 'operandSegmentSizes' attribute cannot have negative elements}}
  %r = "ttnn.add"(%a, %b, %c) <{operandSegmentSizes = array<i32: 4, -1>}> : (tensor<3x7xf32>, tensor<3x7xf32>, tensor<3x7xf32>) -> tensor<3x7xf32>
  return
}

// -----

func.func @segment_groups(%a: tensor<3x7xf32>, %b: tensor<3x7xf32>, %c: tensor<3x7xf32>) {
  // expected-error@+1 {{invalid properties {operandSegmentSizes = array<i32: 1, 1, 1>} for op ttnn.add: size mismatch in attribute conversion: 3 vs 2}}
  %r = "ttnn.add"(%a, %b, %c) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<3x7xf32>, tensor<3x7xf32>, tensor<3x7xf32>) -> tensor<3x7xf32>
  return
}

// -----

func.func @operand_count(%a: tensor<4x5xf32>, %b: tensor<5x7xf32>) {
  // expected-error@+1 {{op expected 3 operands, but found 2}}
  %r = "ttnn.matmul"(%a, %b) : (tensor<4x5xf32>, tensor<5x7xf32>) -> tensor<4x7xf32>
  return
}

// -----

func.func @operand_minimum() {
  // expected-error@+1 {{op expected 1 or more operands, but found 0}}
  %r = "ttnn.concat"() <{dim = 0 : si32}> : () -> tensor<4x7xf32>
  return
}

// -----

func.func @result_count(%a: tensor<4x5xf32>, %b: tensor<5x7xf32>, %c: tensor<4x7xf32>) {
  // expected-error@+1 {{op requires one result}}
  "ttnn.matmul"(%a, %b, %c) : (tensor<4x5xf32>, tensor<5x7xf32>, tensor<4x7xf32>) -> ()
  return
}

// -----

func.func @region_count(%a: tensor<4x5xf32>, %b: tensor<5x7xf32>, %c: tensor<4x7xf32>) {
  // expected-error@+1 {{op requires zero regions}}
  %r = "ttnn.matmul"(%a, %b, %c) ({}) : (tensor<4x5xf32>, tensor<5x7xf32>, tensor<4x7xf32>) -> tensor<4x7xf32>
  return
}

// -----

func.func @operand_type(%a: tensor<4x5xf32>, %b: f32, %c: tensor<4x7xf32>) {
  // expected-error@+1 {{op operand #1 must be ranked tensor of any type values, but got 'f32'}}
  %r = "ttnn.matmul"(%a, %b, %c) : (tensor<4x5xf32>, f32, tensor<4x7xf32>) -> tensor<4x7xf32>
  return
}

// -----

func.func @operand_unranked(%a: tensor<4x5xf32>, %b: tensor<*xf32>, %c: tensor<4x7xf32>) {
  // expected-error@+1 {{op operand #1 must be ranked tensor of any type values, but got 'tensor<*xf32>'}}
  %r = "ttnn.matmul"(%a, %b, %c) : (tensor<4x5xf32>, tensor<*xf32>, tensor<4x7xf32>) -> tensor<4x7xf32>
  return
}

// -----

func.func @operand_memref(%a: tensor<3x7xf32>, %b: memref<3x7xf32>, %c: tensor<3x7xf32>) {
  // expected-error@+1 {{op operand #1 must be variadic of ranked tensor of any type values, but got 'memref<3x7xf32>'}}
  %r = "ttnn.add"(%a, %b, %c) <{operandSegmentSizes = array<i32: 2, 1>}> : (tensor<3x7xf32>, memref<3x7xf32>, tensor<3x7xf32>) -> tensor<3x7xf32>
  return
}

// -----

func.func @result_type_kind(%a: tensor<4x5xf32>, %b: tensor<5x7xf32>, %c: tensor<4x7xf32>) {
  // expected-error@+1 {{op result #0 must be ranked tensor of any type values, but got 'f32'}}
  %r = "ttnn.matmul"(%a, %b, %c) : (tensor<4x5xf32>, tensor<5x7xf32>, tensor<4x7xf32>) -> f32
  return
}

// -----

func.func @missing_attribute(%a: tensor<3x7xf32>, %b: tensor<7x3xf32>) {
  // expected-error@+1 {{op requires attribute 'dim0'}}
  %r = "ttnn.transpose"(%a, %b) <{dim1 = 1 : si32}> : (tensor<3x7xf32>, tensor<7x3xf32>) -> tensor<7x3xf32>
  return
}

// -----

func.func @si32_attribute(%a: tensor<3x7xf32>, %b: tensor<3x7xf32>) {
  // expected-error@+1 {{op attribute 'dim' failed to satisfy constraint: 32-bit signed integer attribute}}
  %r = "ttnn.concat"(%a, %b) <{dim = 0 : i32}> : (tensor<3x7xf32>, tensor<3x7xf32>) -> tensor<3x7xf32>
  return
}

// -----

func.func @bool_attribute(%a: tensor<3x7xf32>, %b: tensor<3xf32>) {
  // expected-error@+1 {{invalid properties {keep_dim = 1 : i32} for op ttnn.sum: Invalid attribute `keep_dim` in property conversion: 1 : i32}}
  %r = "ttnn.sum"(%a, %b) <{keep_dim = 1 : i32}> : (tensor<3x7xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @i32_array_attribute(%a: tensor<3x7xf32>, %b: tensor<3xf32>) {
  // expected-error@+1 {{op attribute 'dim_arg' failed to satisfy constraint: 32-bit integer array attribute}}
  %r = "ttnn.sum"(%a, %b) <{dim_arg = [1], keep_dim = false}> : (tensor<3x7xf32>, tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @f32_attribute(%a: tensor<3x7xf32>, %b: tensor<3x7xf32>) {
  // expected-error@+1 {{op attribute 'max' failed to satisfy constraint: 32-bit float attribute}}
  %r = "ttnn.clamp"(%a, %b) <{operandSegmentSizes = array<i32: 1, 1>, max = 1.0 : f64, min = 0.0 : f32}> : (tensor<3x7xf32>, tensor<3x7xf32>) -> tensor<3x7xf32>
  return
}

// -----

func.func @f32_class(%a: tensor<3x7xf32>, %b: tensor<3x7xf32>) {
  // expected-error@+1 {{op attribute 'max' failed to satisfy constraint: 32-bit float attribute}}
  %r = "ttnn.clamp"(%a, %b) <{operandSegmentSizes = array<i32: 1, 1>, max = 1 : i32, min = 0.0 : f32}> : (tensor<3x7xf32>, tensor<3x7xf32>) -> tensor<3x7xf32>
  return
}

// -----

func.func @dense_attribute(%a: tensor<3x7xf32>, %b: tensor<7x3xf32>) {
  // expected-error@+1 {{for op ttnn.permute: Invalid attribute `permutation` in property conversion: array<i32: 1, 0>}}
  %r = "ttnn.permute"(%a, %b) <{permutation = array<i32: 1, 0>}> : (tensor<3x7xf32>, tensor<7x3xf32>) -> tensor<7x3xf32>
  return
}

// -----

func.func @position_of_nothing(%a: tensor<3x0xf32>, %b: tensor<3xi32>) {
  // expected-error@+1 {{op Dimension -1 has no elements, so none of them is the largest.}}
  %r = "ttnn.argmax"(%a, %b) <{dim_arg = [-1 : i32], keep_dim = false}> : (tensor<3x0xf32>, tensor<3xi32>) -> tensor<3xi32>
  return
}

// -----

func.func @bits_of_floats(%a: tensor<3x7xi32>, %b: tensor<3x7xbf16>, %c: tensor<3x7xi32>) {
  // expected-error@+1 {{op takes integers, but an input has elements of bf16; convert it first}}
  %r = "ttnn.logical_right_shift"(%a, %b, %c) <{operandSegmentSizes = array<i32: 2, 1>}> : (tensor<3x7xi32>, tensor<3x7xbf16>, tensor<3x7xi32>) -> tensor<3x7xi32>
  return
}

// -----

func.func @bits_of_complex_numbers(%a: tensor<3xcomplex<f32>>, %b: tensor<3xi32>) {
  // expected-error@+1 {{op takes integers, but an input has elements of complex<f32>; convert it first}}
  %r = "ttnn.bitwise_not"(%a, %b) <{operandSegmentSizes = array<i32: 1, 1>}> : (tensor<3xcomplex<f32>>, tensor<3xi32>) -> tensor<3xi32>
  return
}
