"""From ttnn and ttkernel to emitc, which prints as C++."""
