"""Programs of kernels on tensors: what describes them, and `generic_op`, which runs them."""
