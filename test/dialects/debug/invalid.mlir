// RUN: ttmlir-opt --split-input-file --verify-diagnostics %s

func.func @type(%arg0: tensor<32x32xbf16>) {
  // expected-error @+1 {{'debug.annotate' op requires the same type for all operands and results}}
  %0 = "debug.annotate"(%arg0) <{annotation = "x"}> : (tensor<32x32xbf16>) -> tensor<32x32xf32>
  return
}

// -----

func.func @missing(%arg0: tensor<32x32xbf16>) {
  // expected-error @+1 {{'debug.print' op requires attribute 'message'}}
  "debug.print"(%arg0) : (tensor<32x32xbf16>) -> ()
  return
}

// -----

func.func @empty(%arg0: tensor<32x32xbf16>) {
  // expected-error @+1 {{'debug.dump' op file_path must not be empty}}
  "debug.dump"(%arg0) <{file_path = ""}> : (tensor<32x32xbf16>) -> ()
  return
}
