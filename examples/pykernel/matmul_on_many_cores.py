"""A product of matrices on 4x3 cores: each core makes the tiles of its part of the result.

    python -m ttmlir examples/pykernel/matmul_on_many_cores.py

The kernels are those of one core; run-time arguments differ.
"""

from matmul_kernels import MatmulOp, check_product

if __name__ == "__main__":
    print(check_product(MatmulOp(columns=4, rows=3), m=5, k=3, n=4))
