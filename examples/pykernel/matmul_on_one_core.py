"""A product of matrices on one core, tile by tile.

    python -m ttmlir examples/pykernel/matmul_on_one_core.py

The kernels are in matmul_kernels.py.
"""

from matmul_kernels import MatmulOp, check_product

if __name__ == "__main__":
    print(check_product(MatmulOp(columns=1, rows=1), m=2, k=3, n=4))
