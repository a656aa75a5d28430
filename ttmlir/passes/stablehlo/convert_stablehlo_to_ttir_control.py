"""Rules of StableHLO's operations that compute nothing, and of those that are refused.

They are part of `convert-stablehlo-to-ttir`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, cast

from xdsl.dialects.builtin import (
    BoolAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    Signedness,
    StringAttr,
    TensorType,
    f32,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from ttmlir.dialects import ttir
from ttmlir.dialects.sdy import ALL_SLICE
from ttmlir.dialects.ttcore import (
    AttentionMaskTypeAttr,
    CompositeOp,
    OptimizationBarrierOp,
    ShardStatusAttr,
)
from ttmlir.errors import ArgumentError
from ttmlir.ir.builder import Builder
from ttmlir.ir.constants import attr_numbers, constant_elements, splat_number
from ttmlir.ir.rewriting import erase, insert_before, refuse_to_legalize, replace
from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.layout.enums import AttentionMaskType, ShardStatus
from ttmlir.mlir.attributes import ElementsType, elements_attr, raw_bytes
from ttmlir.mlir.reporting import file_line_col, op_diagnostic, warn
from ttmlir.passes.core.ttir_conversion import ConversionRule
from ttmlir.passes.stablehlo.convert_stablehlo_to_ttir_reduction import TOP_K, convert_top_k_call
from ttmlir.passes.stablehlo.mesh_collectives import COLLECTIVES, convert_all_slice
from ttmlir.program import (
    TARGET,
    CustomKernel,
    DescriptionError,
    KernelTensor,
    RegisteredCall,
    how_to_register,
    read_custom_kernel,
    registered_call,
    write_custom_kernel,
)


def _passes_on(op: Operation) -> None:
    replace(op, *op.operands)


def _refuse(reason: str) -> ConversionRule:
    def rule(op: Operation) -> None:
        refuse_to_legalize(op, reason)

    return rule


_DYNAMIC = (
    "sizes that are known become part of static operations before: run stablehlo-refine-shapes, "
    "which is part of stablehlo-to-ttir-pipeline"
)
_HOST = (
    "it waits for another program in the middle of a run; devices take all arguments when a "
    "program begins and give all results when it ends, so make it an argument or a result of the "
    "function"
)
_TUPLES = (
    "tuples and tokens are taken apart before: run stablehlo-flatten-tuple, which is part of "
    "stablehlo-to-ttir-pipeline"
)
_COMPLEX = "complex numbers are not supported; compute with real and imaginary parts"
_FOURIER = "Fourier transforms are not supported; run them on the host"
_LIBRARY = (
    "linear algebra becomes loops before: run stablehlo-expand-linear-algebra, which is part of "
    "stablehlo-to-ttir-pipeline"
)
_CONTROL = (
    "control flow is flattened before: run stablehlo-flatten-control-flow, which is part of "
    "stablehlo-to-ttir-pipeline"
)
_EXPANDED = (
    "it is written in terms of others before: run stablehlo-expand-operations, which is part of "
    "stablehlo-to-ttir-pipeline"
)
_REASONS = {
    _DYNAMIC: (
        *("dynamic_broadcast_in_dim", "dynamic_conv", "dynamic_gather", "dynamic_iota"),
        *("dynamic_pad", "dynamic_reshape", "get_dimension_size", "real_dynamic_slice"),
        "set_dimension_size",
    ),
    _HOST: ("infeed", "outfeed", "recv", "send"),
    _TUPLES: ("after_all", "create_token", "get_tuple_element", "tuple"),
    _COMPLEX: ("complex", "imag", "real"),
    _FOURIER: ("fft",),
    _LIBRARY: ("cholesky", "triangular_solve"),
    _CONTROL: ("case", "if", "while"),
    _EXPANDED: (
        *("all_gather", "all_reduce", "all_to_all", "collective_broadcast", "collective_permute"),
        *("cross-replica-sum", "einsum", "map", "partition_id", "reduce_scatter", "replica_id"),
        *("rng", "rng_bit_generator", "torch_index_select", "unary_einsum"),
    ),
}
REFUSED: dict[str, ConversionRule] = {
    f"stablehlo.{name}": _refuse(reason) for reason, names in _REASONS.items() for name in names
}
"""Operations that a message says something better about than what is supported."""
WITH_HOST = tuple(f"stablehlo.{name}" for name in _REASONS[_HOST])
"""Operations that need another program while this one runs."""


# -- custom calls ------------------------------------------------------------------------------


_HINTS = (
    "Sharding",
    "SPMDFullToShardShape",
    "SPMDShardToFullShape",
    "LayoutConstraint",
    "MoveToDevice",
    "MoveToHost",
    "annotate_device_placement",
    "xla.sdy.FuncResultSharding",
    "xla.sdy.Sharding",
)
"""Calls that say where a tensor should be and leave its numbers alone."""

_CALLBACKS = ("xla_ffi_python_cpu_callback", "xla_ffi_partitioned_python_cpu_callback")
"""What JAX makes of Python functions, and of kernels in programs that it lowers for the CPU."""

_LAPACK = re.compile(r"(?:lapack|blas)_[sdcz]([a-z0-9]+?)(?:_ffi)?$")
"""A routine of the library of linear algebra that CPUs have, without the letter of its type."""
_ROUTINES = {
    "geev": "eigenvalues and eigenvectors of a matrix",
    "heevd": "eigenvalues and eigenvectors of a symmetric matrix",
    "syevd": "eigenvalues and eigenvectors of a symmetric matrix",
    "gesdd": "singular values and vectors",
    "gesvd": "singular values and vectors",
    "gees": "the Schur form of a matrix",
    "gehrd": "the Hessenberg form of a matrix",
    "hetrd": "the tridiagonal form of a matrix",
    "sytrd": "the tridiagonal form of a matrix",
    "gtsv": "solutions of a tridiagonal system",
    "geqp3": "QR factors with pivots",
    "getrf": "LU factors",
    "potrf": "Cholesky factors",
    "trsm": "solutions of a triangular system",
    "geqrf": "QR factors",
    "orgqr": "QR factors",
    "ungqr": "QR factors",
}


def _custom_call(op: Operation) -> None:
    target = cast("StringAttr", op.properties["call_target_name"]).data
    if target == TARGET:
        _convert_kernel(op)
        return
    if target == TOP_K:
        convert_top_k_call(op)
        return
    refuse_routine(op)
    registered = registered_call(target)
    if registered is not None:
        _convert_registered(op, target, registered)
    elif target in _HINTS:
        _pass_operands(op, target)
    elif target in _CALLBACKS:
        _drop_callback(op, target)
    else:
        _refuse_unknown(op, target)


def convert_custom_calls(module: Operation) -> None:
    """Convert custom calls that pipelines of 2026 leave in a program; refuse those without code."""
    for op in [op for op in module.walk() if op.name == "stablehlo.custom_call"]:
        _custom_call(op)


def _refuse_unknown(op: Operation, target: str) -> NoReturn:
    refuse_to_legalize(
        op,
        f"the code of '{target}' is not part of the program; supported are '{TARGET}', which "
        "carries a kernel, and calls that only say where a tensor is placed: "
        f"{', '.join(_HINTS)}; {how_to_register(target)}, or express the computation by "
        "StableHLO operations",
    )


def _drop_callback(op: Operation, target: str) -> None:
    """Leave away a call that only tells, as `jax.debug.print` does; refuse one that computes."""
    if any(result.uses for result in op.results):
        place = file_line_col(op.location)
        if place is not None and "equinox" in re.split(r"[/\\]", place.file):
            refuse_to_legalize(
                op,
                f"'{target}' calls a function of Python, which is not part of the program: it "
                "raises an error of equinox.error_if; start Python with EQX_ON_ERROR=nan in the "
                "environment, which gives NaN instead",
            )
        refuse_to_legalize(
            op,
            f"'{target}' calls a function of Python, which is not part of the program; compute it "
            "before the call and pass the result as an argument, or express it by operations of "
            "jax.numpy; kernels are kept where ttmlir.compile gets the function itself, or what "
            ".lower(lowering_platforms=('tt',)) makes of it",
        )
    message = "calls of Python without results, as of jax.debug.print, are left out of the program"
    warn(op_diagnostic(op, message, severity="warning", with_name=False))
    erase(op)


def refuse_routine(op: Operation) -> None:
    """Refuse a custom call of LAPACK, by what it computes; others are left alone."""
    target = cast("StringAttr", op.properties["call_target_name"]).data
    if (found := _LAPACK.match(target)) is None or registered_call(target) is not None:
        return
    what = _ROUTINES.get(found[1], "linear algebra")
    refuse_to_legalize(
        op,
        f"{what} ('{target}') has no algorithm here; compute them on the host and pass them as an "
        "argument; supported are Cholesky, LU and QR factors, linear systems, eigenvalues "
        "(jnp.linalg.eig and eigh), Schur forms and singular values",
    )


def _pass_operands(op: Operation, target: str) -> None:
    if [operand.type for operand in op.operands] != [result.type for result in op.results]:
        refuse_to_legalize(
            op, f"'{target}' changes the shape of a tensor; compile the program for one device"
        )
    replace(op, *op.operands)


def has_kernels(module: Operation) -> bool:
    """True if a program has calls of kernels that it, or what is registered, carries."""
    for op in module.walk():
        if op.name == "ttir.custom_kernel":
            return True
        if op.name == "stablehlo.custom_call":
            target = cast("StringAttr", op.properties["call_target_name"]).data
            registered = registered_call(target)
            if target == TARGET or (registered is not None and registered.kernel is not None):
                return True
    return False


def _convert_kernel(op: Operation) -> None:
    config = _config_of(op)
    if not config:
        refuse_to_legalize(
            op,
            f"'{TARGET}' has no kernel: its backend_config is a text with the program of kernels "
            "(docs/bridge.md)",
        )
    try:
        kernel = read_custom_kernel(config)
    except DescriptionError as error:
        refuse_to_legalize(op, f"backend_config: {error}")
    _create_kernel(op, kernel, config)


def _create_kernel(op: Operation, kernel: CustomKernel, config: str) -> None:
    types = [result.type for result in op.results]
    difference = kernel.difference(
        [ttir.tensor_text(value.type) for value in op.operands], [*map(ttir.tensor_text, types)]
    )
    if difference is not None:
        refuse_to_legalize(op, difference)
    replace(op, *Builder.before(op).create_custom_kernel(config, op.operands, types))


def _config_of(op: Operation) -> str:
    """The text of the `backend_config`; empty if there is none, or if it is a dictionary."""
    attr = op.properties.get("backend_config")
    return attr.data if isinstance(attr, StringAttr) else ""


def _convert_registered(op: Operation, target: str, registered: RegisteredCall) -> None:
    try:
        if registered.kernel is not None:
            kernel = registered.kernel(tensors_of(op), _config_of(op))
            _create_kernel(op, kernel, write_custom_kernel(kernel))
            return
        arrays = _call_on_constants(op, target, registered)
    except (ValueError, TypeError, ArithmeticError) as error:
        refuse_to_legalize(op, f"'{target}', as it was registered, fails: {error}")
    builder = Builder.before(op)
    replace(
        op,
        *(
            builder.create_constant(
                elements_attr(cast("ElementsType", result.type), data), result.type
            )
            for result, data in zip(op.results, arrays, strict=True)
        ),
    )


def _call_on_constants(op: Operation, target: str, registered: RegisteredCall) -> Sequence[bytes]:
    """The bytes of the results of a function of NumPy on operands that are constants.

    A compiled program holds no Python, so that such a function runs when the program is compiled.
    """
    # NumPy is loaded only for calls that need it.
    import numpy as np

    from ttmlir.arrays.carriers import host_dtype

    operands: list[Any] = []
    for number, value in enumerate(op.operands):
        elements = constant_elements(value)
        if elements is None:
            refuse_to_legalize(
                op,
                f"operand #{number} of '{target}' is no constant, and no file holds Python: "
                f"{how_to_register(target)}; ttmlir.interpreter.execute runs the program "
                "in this process with the function that it has",
            )
        dtype = host_dtype(_check_dtype(value))
        operands.append(np.frombuffer(raw_bytes(elements), dtype).reshape(value_shape(value)))
    assert registered.numpy is not None, "what is registered has a kernel or a function"
    found = registered.numpy(*operands)
    results: list[Any] = [*found] if isinstance(found, tuple | list) else [found]
    arrays: list[bytes] = []
    for number, (array, result) in enumerate(zip(results, op.results, strict=True)):
        converted = np.asarray(array, host_dtype(_check_dtype(result)))
        if converted.shape != value_shape(result):
            raise ArgumentError(
                f"result #{number} has shape {converted.shape}; expected {value_shape(result)}"
            )
        arrays.append(converted.tobytes())
    return arrays


_GIVEN = re.compile(r"f(16|32|64)|[us]?i(8|16|32|64)")
"""Element types that are given to functions of NumPy."""


def _check_dtype(value: SSAValue) -> str:
    """The name of the element type; ValueError for one that functions of NumPy are not given."""
    name = str(element_type(value))
    if _GIVEN.fullmatch(name) is None:
        raise ArgumentError(f"elements of type {name} cannot be given to a function of NumPy")
    return name


def tensors_of(op: Operation) -> Sequence[KernelTensor]:
    """Operands and results as the tensors of a kernel."""
    groups = (("in", "operand", op.operands), ("out", "result", op.results))
    return [
        KernelTensor(
            name=f"{prefix}{number}",
            role=role,
            shape=value_shape(value),
            element=str(element_type(value)),
        )
        for role, prefix, values in groups
        for number, value in enumerate(values)
    ]


RULES: dict[str, ConversionRule] = {
    "sdy.mesh": erase,
    "sdy.reshard": _passes_on,
    "sdy.sharding_constraint": _passes_on,
    "stablehlo.optimization_barrier": _passes_on,
    "stablehlo.custom_call": _custom_call,
}
"""Rules by the full name of the operation."""


# -- 2026 --------------------------------------------------------------------------------------


def convert_composite(op: Operation) -> None:
    """Operations that the library has become those of ttir; others keep what they mean."""
    name = cast("StringAttr", op.properties["name"]).data.removeprefix(LIBRARY_PREFIX)
    words = op.properties.get("composite_attributes")
    given = dict(words.data) if isinstance(words, DictionaryAttr) else {}
    rule = _COMPOSITES.get(name)
    if rule is not None:
        replace(op, *rule(op, Builder.before(op), given))
        return
    new = CompositeOp.create(
        operands=op.operands,
        result_types=list(op.result_types),
        properties={
            "composite_name": StringAttr(name),
            "decomposition": op.properties["decomposition"],
            "composite_attributes": DictionaryAttr(_library_attributes(name, given)),
        },
        location=op.location,
    )
    insert_before(op, new)
    replace(op, *new.results)


LIBRARY_PREFIX = "tenstorrent."


def _library_attributes(name: str, given: dict[str, Attribute]) -> dict[str, Attribute]:
    """What is said of a composite, with what it leaves out."""
    found = dict(given)
    if name in ("sdpa_bw", "sdpa_fw"):
        found.setdefault("dropout_probability", FloatAttr(0.0, f32))
        kind = _whole(found, "mask_type", 0)
        masks = {mask.value: mask for mask in AttentionMaskType}
        found["mask_type"] = AttentionMaskTypeAttr(masks[kind])
    if name == "sdpa_fw":
        found["return_intermediates"] = BoolAttr.from_bool(True)
    if name == "layernorm_fw":
        found["return_mean_rstd"] = BoolAttr.from_bool(True)
    return dict(sorted(found.items()))


def _whole(given: dict[str, Attribute], name: str, default: int) -> int:
    attr = given.get(name)
    return cast("IntegerAttr", attr).value.data if isinstance(attr, IntegerAttr) else default


def _real(given: dict[str, Attribute], name: str) -> float:
    return cast("FloatAttr", given[name]).value.data


Given = dict[str, Attribute]
Made = Sequence[SSAValue]


def _gelu(op: Operation, builder: Builder, given: Given) -> Made:
    return [builder.create("gelu", op.operands, op.results[0].type)]


def _norm(mnemonic: str) -> Callable[[Operation, Builder, Given], Made]:
    """A norm of x with a weight and a bias that may be absent."""

    def rule(op: Operation, builder: Builder, given: Given) -> Made:
        numbers = attr_numbers(given["normalized_shape"]) or ()
        groups = [*op.operands, None, None][:3]
        shape = tuple(map(int, numbers))
        parameters = {"normalized_shape": shape, "epsilon": _real(given, "epsilon")}
        return builder.create_grouped(mnemonic, groups, op.result_types, **parameters)

    return rule


def _group_norm(op: Operation, builder: Builder, given: Given) -> Made:
    value, *more = op.operands
    weight, bias = [*more, None, None][:2]
    groups = [value, None, weight, bias]
    return builder.create_grouped(
        "group_norm",
        groups,
        op.result_types,
        num_groups=_whole(given, "num_groups", 1),
        epsilon=_real(given, "epsilon"),
        channel_dim=len(value_shape(value)) - 1,
    )


def _attention(op: Operation, builder: Builder, given: Given) -> Made:
    groups = [*op.operands, None, None][:5]
    parameters: dict[str, Any] = {"is_causal": bool(_whole(given, "is_causal", 1))}
    if "scale" in given:
        parameters["scale"] = _real(given, "scale")
    return builder.create_grouped(
        "scaled_dot_product_attention", groups, op.result_types, **parameters
    )


def _adamw(op: Operation, builder: Builder, given: Given) -> Made:
    names = ("beta1", "beta2", "epsilon", "weight_decay")
    parameters = {name: _real(given, name) for name in names}
    return builder.create_several("adamw", op.operands, op.result_types, **parameters)


def _argmax(op: Operation, builder: Builder, given: Given) -> Made:
    dim, keep = _whole(given, "dim", -1), bool(_whole(given, "keepdim", 0))
    type_ = op.results[0].type
    return [builder.create("argmax", op.operands, type_, dim_arg=(dim,), keep_dim=keep)]


def _gather_along(op: Operation, builder: Builder, given: Given) -> Made:
    value, places = op.operands
    places = builder.cast(places, IntegerType(32, Signedness.UNSIGNED))
    return [
        builder.create("gather", [value, places], op.results[0].type, dim=_whole(given, "dim", 0))
    ]


def _topk(*kept: int) -> Callable[[Operation, Builder, Given], Made]:
    """The largest numbers and their places, or one of these."""

    def rule(op: Operation, builder: Builder, given: Given) -> Made:
        (value,) = op.operands
        shape = value_shape(op.results[0])
        types = [TensorType(element_type(value), shape), TensorType(i32, shape)]
        parameters = {
            "k": _whole(given, "k", 1),
            "dim": _whole(given, "dim", -1),
            "largest": bool(_whole(given, "largest", 1)),
            "sorted": bool(_whole(given, "sorted", 1)),
        }
        found = builder.create_several("topk", [value], types, **parameters)
        return [found[number] for number in kept]

    return rule


_COMPOSITES: dict[str, Callable[[Operation, Builder, Given], Made]] = {
    "adamw": _adamw,
    "argmax": _argmax,
    "gather": _gather_along,
    "gather_dim": _gather_along,
    "gelu": _gelu,
    "gelu_tanh": _gelu,
    "group_norm": _group_norm,
    "layer_norm": _norm("layer_norm"),
    "rms_norm": _norm("rms_norm"),
    "scaled_dot_product_attention": _attention,
    "topk": _topk(0, 1),
    "topk_indices": _topk(1),
    "topk_values": _topk(0),
}
"""Composites of the library by name."""


# -- custom calls of 2026 ----------------------------------------------------------------------


def _late_custom_call(op: Operation) -> None:
    """Calls of the library become operations; others are left to those who know them."""
    target = cast("StringAttr", op.properties["call_target_name"]).data
    rule = _CALLS.get(target)
    if rule is not None:
        _convert_library_call(op, target, rule)
    elif target == ALL_SLICE:
        convert_all_slice(op)
    elif target == "Sharding":
        op.attributes["ttcore.shard_status"] = ShardStatusAttr(ShardStatus.UNSHARDED)
    elif target == TARGET:
        _refuse_kernel(op)
    elif (registered := registered_call(target)) is not None and registered.kernel is not None:
        _refuse_kernel(op)
    elif target == TOP_K or registered is not None:
        _custom_call(op)


def _refuse_kernel(op: Operation) -> NoReturn:
    refuse_to_legalize(
        op, "ttir of 2026 has no operation for kernels; leave out spelling and optimization_level"
    )


def _convert_library_call(
    op: Operation, target: str, rule: Callable[[Operation, Builder, Given], Made]
) -> None:
    """Replace a call of the library, unless what it becomes does not take its operands."""
    before = op.prev_op
    try:
        made = rule(op, Builder.before(op), _words(op))
    except KeyError as missing:
        refuse_to_legalize(op, f"'{target}' needs {missing} in mhlo.frontend_attributes")
    new = op.prev_op
    while new is not None and new is not before:
        try:
            new.verify()
        except VerifyException as error:
            refuse_to_legalize(op, f"'{target}' becomes '{new.name}', which refuses it: {error}")
        new = new.prev_op
    replace(op, *made)


def _words(op: Operation) -> Given:
    """What is said in words of a call, as attributes."""
    found: Given = {}
    for attr in (
        op.attributes.get("mhlo.frontend_attributes"),
        op.properties.get("backend_config"),
    ):
        if isinstance(attr, DictionaryAttr):
            found |= attr.data
    return {name: _value_of(attr) for name, attr in found.items()}


def _value_of(attr: Attribute) -> Attribute:
    if not isinstance(attr, StringAttr):
        return attr
    text = attr.data
    if text.lower() in ("true", "false"):
        # Programs of PyTorch/XLA write Python's names.
        return BoolAttr.from_bool(text.lower() == "true")
    try:
        return IntegerAttr(int(text), i32)
    except ValueError:
        pass
    try:
        return FloatAttr(float(text), f32)
    except ValueError:
        return attr


def _in_place(mnemonic: str, **defaults: int) -> Callable[[Operation, Builder, Given], Made]:
    """An operation that writes its first operand."""

    def rule(op: Operation, builder: Builder, given: Given) -> Made:
        parameters = {name: _whole(given, name, each) for name, each in defaults.items()}
        builder.create_several(mnemonic, op.operands, (), **parameters)
        return op.operands[:1]

    return rule


def _optional(op: Operation, given: Given, required: int, *flags: str) -> list[SSAValue | None]:
    """The required operands, and for each flag the one behind them if the call says it has it."""
    rest = iter(op.operands[required:])
    said = [bool(_whole(given, flag, 0)) for flag in flags]
    if len(op.operands) < required + sum(said):
        flagged = [flag for flag, is_there in zip(flags, said, strict=True) if is_there]
        target = cast("StringAttr", op.properties["call_target_name"]).data
        refuse_to_legalize(
            op,
            f"'{target}' has {len(op.operands)} operands, and needs "
            + " and one each for ".join(
                [str(required), *([", ".join(flagged)] if flagged else [])]
            ),
        )
    return [*op.operands[:required], *(next(rest) if each else None for each in said)]


def _decode(op: Operation, builder: Builder, given: Given) -> Made:
    query, key, value, position, mask, sink = _optional(
        op, given, 4, "has_attention_mask", "has_attention_sink"
    )
    return builder.create_grouped(
        "scaled_dot_product_attention_decode",
        [query, key, value, mask, position, sink],
        op.result_types,
        is_causal=bool(_whole(given, "is_causal", 1)),
        scale=_real(given, "scale"),
    )


def _paged_decode(op: Operation, builder: Builder, given: Given) -> Made:
    query, key, value, pages, mask, position, sink = _optional(
        op, given, 4, "has_attention_mask", "has_cur_pos_tensor", "has_attention_sink"
    )
    output = builder.create_empty(op.results[0].type)
    return builder.create_grouped(
        "paged_scaled_dot_product_attention_decode",
        [query, key, value, pages, output, mask, position, sink],
        op.result_types,
        is_causal=bool(_whole(given, "is_causal", 1)),
        scale=_real(given, "scale"),
    )


def _chunked(op: Operation, builder: Builder, given: Given) -> Made:
    output = builder.create_empty(op.results[0].type)
    operands = [*op.operands, output]
    mnemonic = "chunked_scaled_dot_product_attention"
    return [builder.create(mnemonic, operands, op.results[0].type, scale=_real(given, "scale"))]


def _sampling(op: Operation, builder: Builder, given: Given) -> Made:
    seed = _whole(given, "seed", 0)
    return [builder.create("sampling", op.operands, op.results[0].type, seed=seed)]


def _sparse_matmul(op: Operation, builder: Builder, given: Given) -> Made:
    parameters: dict[str, Any] = {
        "is_input_a_sparse": bool(_whole(given, "is_input_a_sparse", 0)),
        "is_input_b_sparse": bool(_whole(given, "is_input_b_sparse", 1)),
    }
    if count := _whole(given, "nnz", 0):
        parameters["nnz"] = count
    return [builder.create("sparse_matmul", op.operands, op.results[0].type, **parameters)]


_CALLS: dict[str, Callable[[Operation, Builder, Given], Made]] = {
    "tt.chunked_scaled_dot_product_attention": _chunked,
    "tt.fill_cache": _in_place("fill_cache", batch_offset=0),
    "tt.paged_fill_cache": _in_place("paged_fill_cache"),
    "tt.paged_scaled_dot_product_attention_decode": _paged_decode,
    "tt.paged_update_cache": _in_place("paged_update_cache", share_cache=0),
    "tt.sampling": _sampling,
    "tt.scaled_dot_product_attention": _attention,
    "tt.scaled_dot_product_attention_decode": _decode,
    "tt.sparse_matmul": _sparse_matmul,
    "tt.update_cache": _in_place("update_cache", batch_offset=0),
}
"""Calls of the library by their target."""


def _late_barrier(op: Operation) -> None:
    new = OptimizationBarrierOp.create(
        operands=op.operands, result_types=list(op.result_types), location=op.location
    )
    insert_before(op, new)
    replace(op, *new.results)


def _late_rng(op: Operation) -> None:
    bounds = [splat_number(value) for value in op.operands[:2]]
    if None in bounds:
        REFUSED["stablehlo.rng"](op)
    builder = Builder.before(op)
    low, high = map(float, cast("Sequence[float]", bounds))
    size = value_shape(op.results[0])
    parameters: dict[str, Any] = {"size": size, "low": low, "high": high, "seed": 0}
    replace(op, builder.create("rand", (), op.results[0].type, **parameters))


LATE_RULES: dict[str, ConversionRule] = {
    **COLLECTIVES,
    "stablehlo.composite": convert_composite,
    "stablehlo.custom_call": _late_custom_call,
    "stablehlo.optimization_barrier": _late_barrier,
    "stablehlo.rng": _late_rng,
}
"""Rules of 2026, where they differ."""
