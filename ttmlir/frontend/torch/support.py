"""Which ATen operations can be imported: for messages and for the documentation."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ttmlir.frontend.torch.decompositions import own_decompositions
from ttmlir.frontend.torch.elements import torch_package
from ttmlir.frontend.torch.random.distributions import DRAWS
from ttmlir.frontend.torch.rules import RULES, rule_for_complex, rule_of


@dataclass(frozen=True)
class Support:
    """What becomes of an ATen overload."""

    name: str
    """Such as `aten.add.Tensor`."""
    core: bool
    """True for members of torch's core operator set."""
    state: str
    """`rule`; `decomposed` into operations with rules; `constant`: torch computes it while the
    program is read; `seed`: random, from the seed of a call; `place`: a number that may be a place
    in a tensor; or `refused`."""


_RULED = ("aten.scaled_dot_product_attention.default", "aten.native_dropout.default")
"""What is random only in training."""

_OTHERWISE = {
    "aten._local_scalar_dense.default": "place",
    "aten.sym_size.int": "constant",
    "aten.sym_numel.default": "constant",
}

EAGER_QUANTIZATION = (
    "tensors with scales of their own (torch.quantize_per_tensor) and the modules of "
    "torch.ao.nn.quantized are not supported; quantize the model by torchao.quantization.pt2e, "
    "whose prepare_pt2e and convert_pt2e leave integers and operations on them"
)
"""What to do instead of quantization in eager mode."""

SPARSE = (
    "sparse tensors have no form on the device; x.to_dense() is a tensor that has, and index_add "
    "adds rows that indices choose"
)
NESTED = (
    "nested tensors have as many rows as their parts, which is no shape; give x.to_padded_tensor(0)"
    " and a mask"
)
"""What to do instead of tensors without the layout of all others."""

RESHAPED_IN_PLACE = (
    "an argument gets another shape in place, as by x.transpose_(0, 1) or x.unsqueeze_(0), which "
    "a call does not give back; x = x.transpose(0, 1) leaves the argument as it is"
)

_INSTEAD = {
    **dict.fromkeys(
        ("_to_sparse", "_to_sparse_csr", "_to_sparse_csc", "_to_sparse_bsr", "_to_sparse_bsc"),
        SPARSE,
    ),
    **dict.fromkeys(
        ("_sparse_coo_tensor_with_dims_and_tensors", "sparse_compressed_tensor", "_sparse_mm"),
        SPARSE,
    ),
    "_nested_tensor_from_tensor_list": NESTED,
    **dict.fromkeys(
        ("quantize_per_tensor", "quantize_per_channel", "quantize_per_tensor_dynamic"),
        EAGER_QUANTIZATION,
    ),
    **dict.fromkeys(
        ("_weight_int4pack_mm", "_convert_weight_to_int4pack"),
        "the order of packed bytes is the other device's; unpack them by & 15 and >> 4, and "
        "multiply with their scales",
    ),
    **dict.fromkeys(
        ("unique_dim", "unique_consecutive", "_unique2"),
        "the number of different elements is known only at run time; x.sort() keeps the shape, and "
        "torch.histc(x, bins, min, max) counts",
    ),
    "bincount": "the largest number is known only at run time; torch.bincount(x, minlength=n) "
    "counts numbers below n",
    "repeat_interleave": "how many elements there are is known only at run time; say it: "
    "torch.repeat_interleave(x, repeats, output_size=n)",
    **dict.fromkeys(
        ("poisson", "binomial", "_standard_gamma", "_sample_dirichlet"),
        "random numbers that take an unknown number of tries are not supported; make them outside "
        "and pass them as an argument",
    ),
    **dict.fromkeys(
        ("masked_select", "nonzero"),
        "the number of selected elements is known only at run time; torch.where(mask, x, other) "
        "keeps the shape",
    ),
    "equal": "Python cannot know it here; write (a == b).all(), which is a tensor",
    "allclose": "Python cannot know it here; write torch.isclose(a, b).all(), which is a tensor",
}
"""What to do instead of operations, by their names."""

LEAST_LIKENESS = 0.8
"""How alike names are that are suggested, as `difflib` measures it."""


def supported() -> list[Support]:
    """Every overload of the core operator set and every other one that is taken."""
    table = {str(key) for key in torch_package().export.default_decompositions()}
    own = {str(key) for key in own_decompositions()}
    found: list[Support] = []
    for name, core in _overloads():
        if name.removeprefix("aten.").partition(".")[0] in DRAWS and name not in _RULED:
            state = "seed"
        elif rule_of(name) is not None:
            state = "rule"
        elif name in _OTHERWISE:
            state = _OTHERWISE[name]
        elif name in own:
            state = "decomposed"
        elif not core:
            continue
        else:
            state = "decomposed" if name in table else "refused"
        found.append(Support(name, core, state))
    return sorted(found, key=lambda support: support.name)


def _overloads() -> Iterable[tuple[str, bool]]:
    torch = torch_package()
    seen: set[str] = set()
    for schema in torch._C._jit_get_all_schemas():
        namespace, _, base = schema.name.partition("::")
        overload = schema.overload_name or "default"
        name = f"aten.{base}.{overload}"
        writes = any(a.alias_info and a.alias_info.is_write for a in schema.arguments)
        if namespace != "aten" or name in seen or writes or not hasattr(torch.ops.aten, base):
            continue
        seen.add(name)
        operation: Any = getattr(getattr(torch.ops.aten, base), overload, None)
        if operation is not None:
            yield name, torch.Tag.core in operation.tags


def instead_of(name: str) -> str | None:
    """Why an operation cannot be taken and what to do instead, where that is known."""
    return _INSTEAD.get(_base(name))


def _base(name: str) -> str:
    return name.removeprefix("aten.").partition(".")[0]


def near_of_complex(name: str) -> str:
    """Why an operation is refused on complex numbers, and which others there are."""
    if (known := instead_of(name)) is not None:
        return known
    if "linalg_ldl_" in _base(name):
        return "LDL factors are those of real matrices; solve and lu_factor take complex ones"
    if "linalg_" in _base(name):
        return (
            "matrices of complex numbers have no algorithm here, but for solve, inv, det, "
            "cholesky, lu_factor and eig; the real matrix of the blocks [[a.real, -a.imag], "
            "[a.imag, a.real]] has the same eigenvalues and singular values, each of them twice"
        )
    names = [each for each in RULES if rule_for_complex(f"aten.{each}") is not None]
    return (
        f"this operation is not supported on complex numbers{_nearest(name, names)}; compute with "
        "z.real and z.imag instead"
    )


def near(name: str, names: Iterable[str]) -> str:
    """Why an operation is refused: there is no rule, but there are others of a similar name."""
    if (known := instead_of(name)) is not None:
        return known
    return f"this operation is not supported{_nearest(name, names)}"


def _nearest(name: str, names: Iterable[str]) -> str:
    """The end of a message with names that are alike."""
    similar = difflib.get_close_matches(_base(name), sorted(names), n=4, cutoff=LEAST_LIKENESS)
    return f"; the nearest supported ones are {', '.join(similar)}" if similar else ""
