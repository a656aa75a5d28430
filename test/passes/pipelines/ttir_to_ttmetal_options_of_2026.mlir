// Options of 2026 for kernels: what changes nothing is said, what cannot be done is refused.

// RUN: ttmlir-opt --ttir-to-ttmetal-pipeline="enable-op-scheduler=true stream-insert-policy=infer test-buffer-size-policy=max" %s 2>&1 | FileCheck %s --check-prefix=NOTHING
// NOTHING: warning: --enable-op-scheduler has no effect: no pass does it here; leave it out
// NOTHING: warning: --stream-insert-policy has no effect
// NOTHING: warning: --test-buffer-size-policy has no effect

// RUN: ttmlir-opt --ttir-to-ttmetal-pipeline="stream-insert-policy=always test-buffer-size-policy=auto global-data-format-target=none force-compile-time-args=true test-assume-l1-capacity=0" %s 2>&1 | FileCheck %s --check-prefix=USUAL
// RUN: ttmlir-opt --d2m-fe-pipeline --ttir-bufferization-pipeline --d2m-be-pipeline=test-buffer-size-policy=min %s 2>&1 | FileCheck %s --check-prefix=PART
// PART: warning: --test-buffer-size-policy has no effect

// RUN: ttmlir-opt --ttir-to-ttmetal-pipeline=matmul-interchange=2,1,0 %s 2>&1 | FileCheck %s --check-prefix=ORDER
// ORDER: warning: --matmul-interchange=2,1,0 is taken as 1,0,2: terms stay innermost

// USUAL: "ttmetal.create_buffer"{{.*}}address = {{[0-9]+}}{{.*}}#l1>
// USUAL: "ttmetal.enqueue_program"
// USUAL-NOT: "ttmetal.enqueue_program"
// USUAL-NOT: warning:

// RUN: ttmlir-opt --ttir-to-ttmetal-pipeline=enable-eltwise-reduction-fusion=false %s | FileCheck %s --check-prefix=APART
// APART: "ttmetal.enqueue_program"
// APART: "ttmetal.enqueue_program"

// RUN: ttmlir-opt --ttir-to-ttmetal-pipeline=force-spill-to-dram-if-legal=true %s | FileCheck %s --check-prefix=DRAM
// DRAM-NOT: "ttmetal.create_buffer"{{.*}}-> memref<{{.*}}#ttcore.shard<4096x4096>, #l1>
// DRAM: "ttmetal.create_buffer"{{.*}}#dram>

// RUN: not ttmlir-opt --ttir-to-ttmetal-pipeline=global-data-format-target=bf16 %s 2>&1 | FileCheck %s --check-prefix=FORMAT
// FORMAT: the value of global-data-format-target is not supported; leave it out, convert by ttir.typecast, or give experimental-weight-dtype

// RUN: not ttmlir-opt --ttir-to-ttmetal-pipeline="ttnn-mode=true force-compile-time-args=true" %s 2>&1 | FileCheck %s --check-prefix=LAUNCH
// LAUNCH: the value of force-compile-time-args is not supported; leave it out with ttnn-mode: ttnn gives tensors addresses at each launch

// RUN: not ttmlir-opt --ttir-to-ttmetal-pipeline=available-l1-addr-range=0,4096 %s 2>&1 | FileCheck %s --check-prefix=RANGE
// RANGE: for the --available-l1-addr-range option: expected a first address and an end between 1024 and 1499136, got 0,4096

// RUN: not ttmlir-opt --ttir-to-ttmetal-pipeline=test-assume-l1-capacity=1024 %s 2>&1 | FileCheck %s --check-prefix=CAPACITY
// CAPACITY: for the --test-assume-l1-capacity option: expected 1025 to 1499136 bytes, or 0 for the chip's, got 1024
func.func @f(%a: tensor<70x130xf32>) -> tensor<70x1xf32> {
  %0 = "ttir.exp"(%a) : (tensor<70x130xf32>) -> tensor<70x130xf32>
  %1 = "ttir.sum"(%0) <{dim_arg = [1 : i32], keep_dim = true}>
      : (tensor<70x130xf32>) -> tensor<70x1xf32>
  return %1 : tensor<70x1xf32>
}
