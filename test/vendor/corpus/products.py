"""Products of matrices and tensors, linear algebra, Fourier transforms."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from corpus.program import Family

FAMILY = Family()


def _matrices() -> None:
    add = FAMILY.add
    for dtype in ("f32", "bf16", "f16", "f64", "i32", "i8"):
        add("matmul", jnp.matmul, f"{dtype} 33x70", f"{dtype} 70x31")
    add("matmul", jnp.matmul, "bf16 64x128", "bf16 128x96", variant="tiles")
    add("matmul", jnp.matmul, "f32 2x33x70", "f32 2x70x31", variant="batched")
    add("matmul", jnp.matmul, "bf16 2x3x31x33", "bf16 2x3x33x65", variant="batched_twice")
    add("matmul", jnp.matmul, "bf16 3x33x70", "bf16 70x31", variant="shared_weights")
    add("matmul", jnp.matmul, "f32 33x70", "f32 3x70x31", variant="shared_left")
    add("matmul", jnp.matmul, "f32 70", "f32 70x31", variant="vector_matrix")
    add("matmul", jnp.matmul, "f32 33x70", "f32 70", variant="matrix_vector")
    add("matmul", jnp.matmul, "f32 70", "f32 70", variant="vectors")
    add("matmul", lambda x, y: x @ y.T, "f32 33x70", "f32 31x70", variant="transposed_right")
    add("matmul", lambda x, y: x.T @ y, "bf16 70x33", "bf16 70x31", variant="transposed_left")
    add("matmul", lambda x, y: x.T @ y.T, "f32 70x33", "f32 31x70", variant="transposed_both")
    add("matmul", jnp.matmul, "f32 1x1", "f32 1x1", variant="ones")
    add(
        "matmul",
        lambda x, y: jnp.matmul(x, y, precision="highest"),
        "f32 33x70",
        "f32 70x31",
        variant="highest",
    )
    add(
        "matmul",
        lambda x, y: jnp.matmul(x, y, preferred_element_type=jnp.float32),
        "bf16 33x70",
        "bf16 70x31",
        variant="to_f32",
    )
    add(
        "matmul",
        lambda x, y: jnp.matmul(x, y, preferred_element_type=jnp.int32),
        "i8 33x70",
        "i8 70x31",
        variant="to_i32",
    )
    add("linear", lambda x, w, b: x @ w + b, "bf16 33x70", "bf16 70x31", "bf16 31")
    add(
        "linear", lambda x, w, b: x @ w + b, "f32 2x33x70", "f32 70x31", "f32 31", variant="batched"
    )
    add(
        "linear",
        lambda x, w, b: jax.nn.relu(x @ w + b),
        "bf16 64x128",
        "bf16 128x96",
        "bf16 96",
        variant="relu",
    )
    add(
        "linear",
        lambda x, w, b: jax.nn.gelu(x @ w + b),
        "bf16 32x64",
        "bf16 64x256",
        "bf16 256",
        variant="gelu",
    )
    add(
        "linear",
        lambda x, w, b: jax.nn.silu(x @ w + b),
        "f32 32x64",
        "f32 64x33",
        "f32 33",
        variant="silu",
    )
    add("outer", jnp.outer, "f32 33", "f32 70")
    add("kron", jnp.kron, "f32 3x5", "f32 2x7")
    add("cross", jnp.cross, "f32 33x3", "f32 33x3")
    add("tensordot", lambda x, y: jnp.tensordot(x, y, 2), "f32 3x5x7", "f32 5x7x33")
    for spec, first, second in (
        ("ij,jk->ik", "33x70", "70x31"),
        ("bij,bjk->bik", "3x5x33", "3x33x7"),
        ("bhqd,bhkd->bhqk", "2x3x31x16", "2x3x33x16"),
        ("bqhd,bkhd->bhqk", "2x31x3x16", "2x33x3x16"),
        ("bhqk,bkhd->bqhd", "2x3x31x33", "2x33x3x16"),
        ("ij,ij->", "33x70", "33x70"),
        ("ij,kj->ki", "33x70", "31x70"),
        ("abc,cd->abd", "3x5x7", "7x33"),
        ("ij,ij->i", "5x33", "5x33"),
        ("i,j->ij", "5", "7"),
        ("abcd,efcd->abef", "2x3x5x7", "3x2x5x7"),
    ):
        name = spec.replace(",", "_").replace("->", "_to_")
        add(
            "einsum",
            lambda x, y, spec=spec: jnp.einsum(spec, x, y),
            f"bf16 {first}",
            f"bf16 {second}",
            variant=name,
        )
    add("einsum", lambda x: jnp.einsum("iij->ij", x), "f32 5x5x7", variant="iij_to_ij")
    add(
        "einsum",
        lambda x, y, z: jnp.einsum("ij,jk,kl->il", x, y, z),
        "f32 5x33",
        "f32 33x7",
        "f32 7x31",
        variant="chain",
    )
    add("ragged_dot", lax.ragged_dot, "f32 33x16", "f32 3x16x7", "i32 3 in 11 12")
    add(
        "dot_general",
        lambda x, y: lax.dot_general(x, y, (((0, 2), (1, 0)), ((), ()))),
        "f32 3x5x7",
        "f32 7x3x33",
        variant="two_contracting",
    )


def _algebra() -> None:
    add = FAMILY.add
    add("cholesky", lambda x: lax.linalg.cholesky(x), "f32 5x5 definite")
    add(
        "cholesky",
        lambda x: lax.linalg.cholesky(x, symmetrize_input=False),
        "f32 2x7x7 definite",
        variant="batched",
    )
    for lower in (True, False):
        add(
            "triangular_solve",
            lambda a, b, lower=lower: lax.linalg.triangular_solve(
                a, b, left_side=True, lower=lower
            ),
            "f32 5x5 definite",
            "f32 5x7",
            variant="lower" if lower else "upper",
        )
    add(
        "triangular_solve",
        lambda a, b: lax.linalg.triangular_solve(a, b, transpose_a=True),
        "f32 5x5 definite",
        "f32 7x5",
        variant="right_transposed",
    )
    add("qr", jnp.linalg.qr, "f32 7x5")
    add("lu", lambda x: lax.linalg.lu(x)[0], "f32 5x5 definite")
    add("solve", jnp.linalg.solve, "f32 5x5 definite", "f32 5x3")
    add("inverse", jnp.linalg.inv, "f32 5x5 definite")
    add("determinant", jnp.linalg.det, "f32 5x5 definite")
    add("determinant", jnp.linalg.det, "f32 3x3 definite")
    add("svd", lambda x: jnp.linalg.svd(x, compute_uv=False), "f32 7x5")
    add("eigh", jnp.linalg.eigh, "f32 5x5 definite")
    add("matrix_power", lambda x: jnp.linalg.matrix_power(x, 3), "f32 7x7")
    add("expm", lambda x: jax.scipy.linalg.expm(x), "f32 3x3")
    for name in ("fft", "ifft"):
        add(name, lambda x, name=name: getattr(jnp.fft, name)(x), "c64 5x8")
    add("rfft", lambda x: jnp.fft.rfft(x), "f32 5x8")
    add("irfft", lambda x: jnp.fft.irfft(x, 8), "c64 3x5")
    add("fft2", lambda x: jnp.abs(jnp.fft.fft2(x)), "f32 4x8")


_matrices()
_algebra()
PROGRAMS = FAMILY.programs
