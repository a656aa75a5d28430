// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{expected one of: Average, Max, Sum}}
module attributes {test.x = #ttir<pooling_method Median>} {}

// -----

// expected-error @+1 {{expected each dimension of the input once}}
module attributes {test.x = #ttir<convolution_layout input_batch = 0, input_feature = 1, input_spatial_dimensions = 1x2>} {}
