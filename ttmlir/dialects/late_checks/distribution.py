"""Verifiers of 2026: collectives, mixtures of experts, sampling, and kernels of tt-lang."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr

from ttmlir.dialects.definition.ods import refuse
from ttmlir.dialects.late_checks.placement import check_layouts_agree, check_queue
from ttmlir.dialects.late_checks.verified import Verified, join, require, spell


def check_all_gather(op: Verified) -> None:
    """A dimension of the input."""
    rank, dim = op.rank("input"), op.get("all_gather_dim")
    require(
        -rank <= dim < rank,
        f"Invalid {_KIND[op.op.name]}. Gather dimension must be >= to input tensor rank or < "
        f"-input tensor rank, got gather_dim = {dim}",
    )
    if op.op.name.startswith("ttnn."):
        check_layouts_agree(op)


_KIND = {
    "ttir.all_gather": "dimension for all gather op",
    "ttnn.all_gather": "gather dimension for all reduce op",
    "ttir.reduce_scatter": "dimension for reduce scatter op",
    "ttnn.reduce_scatter": "scatter dimension for reduce scatter op",
}
_REDUCED = ("sum", "max", "min")
"""The reductions that collectives have."""


def _check_reduce_type(op: Verified, kind: str) -> None:
    require(
        op.get("reduce_type").data.keyword in _REDUCED, f"Invalid reduction type for {kind} op."
    )


def check_reduce_scatter(op: Verified) -> None:
    """A dimension of the input, and a sum, maximum or minimum."""
    rank, dim = op.rank("input"), op.get("scatter_dim")
    require(
        -rank <= dim < rank,
        f"Invalid {_KIND[op.op.name]}. Scatter dimension must be >= to input tensor rank or < "
        f"-input tensor rank, got scatter_dim = {dim}",
    )
    _check_reduce_type(op, "reduce scatter")


def check_all_reduce(op: Verified) -> None:
    """A sum, maximum or minimum."""
    is_async = op.op.name.endswith("_async")
    _check_reduce_type(op, "all reduce async" if is_async else "all reduce")


def check_mesh_partition(op: Verified) -> None:
    """A dimension of the input, and an axis of the mesh or both."""
    rank, dim, axis = op.rank("input"), op.integer("dim"), op.get("cluster_axis")
    require(
        -rank <= dim < rank,
        "Invalid tensor dimension for mesh partition op. Dimension must be >= to input tensor rank "
        f"or < -input tensor rank, got dim = {dim}",
    )
    require(axis in (None, 0, 1), f"Cluster axis must be either None, 0 or 1, got {axis}")


def check_mesh_shard(op: Verified) -> None:
    """A tensor that is not on one device alone."""
    require(
        op.get("shard_type").data.keyword != "maximal",
        "Invalid shard_type (maximal) for mesh_shard op.",
    )


def _numbers(op: Verified, name: str) -> tuple[tuple[int, ...], list[int]]:
    elements = cast("DenseIntOrFPElementsAttr", op.get(name))
    return elements.type.get_shape(), list(cast("Iterable[int]", elements.iter_values()))


def check_collective_permute(op: Verified) -> None:
    """Pairs of devices, of which each sends once and receives once."""
    shape, pairs = _numbers(op, "source_target_pairs")
    require(len(shape) == 2, f"The rank of source target pairs must be 2, got rank = {len(shape)}")
    for devices in (pairs[0::2], pairs[1::2]):
        require(
            len(set(devices)) == len(devices),
            "There are duplicate 'src' or 'dest' devices in source target pairs",
        )


def _check_groups(op: Verified) -> tuple[int, ...]:
    """Each device once, numbered from 0."""
    shape, groups = _numbers(op, "replica_groups")
    require(len(shape) == 2, "replica_groups must be a 2D array")
    require(min(groups, default=0) >= 0, "replica_groups values must be positive")
    last = len(groups) - 1
    for device in groups:
        require(
            0 <= device <= last,
            f"replica_groups values must be in the range [0, {last}], got {device}",
        )
    return shape


def check_collective_broadcast(op: Verified) -> None:
    """Groups of devices, and a result like the input."""
    require(
        op.value("input").type == op.op.results[0].type,
        "input and output must have the same type",
    )
    _check_groups(op)


def check_all_to_all(op: Verified) -> None:
    """A dimension that is cut into parts, and one along which they are put together."""
    shape, output = op.shape("input"), op.result()
    split, concat, count = (
        op.integer("split_dim"),
        op.integer("concat_dim"),
        op.integer("split_count"),
    )
    last = len(shape) - 1
    require(0 <= split <= last, f"splitDim must be in the range [0, {last}], got {split}")
    require(0 <= concat <= last, f"concatDim must be in the range [0, {last}], got {concat}")
    require(count > 0, "splitCount must be a positive integer")
    require(shape[split] % count == 0, "splitDim size must be divisible by splitCount")
    expected = list(shape)
    expected[split] //= count
    expected[concat] *= count
    require(
        tuple(expected) == output,
        f"Output shape mismatch: expected = <{join(expected)}> output = <{join(output)}>",
    )
    require(op.element("input") == op.result_element(), "Input and output element types must match")
    groups = _check_groups(op)
    require(len(groups) == 2 and groups[1] == count, "replicaGroup count must match splitCount")


def check_point_to_point(op: Verified) -> None:
    """Two devices, and a tensor to write to that is like the input."""
    if op.has("optional_output_tensor"):
        require(
            op.shape("optional_output_tensor") == op.shape("input")
            and op.element("optional_output_tensor") == op.element("input"),
            "Optional output tensor must match input tensor in shape and element type.",
        )
    require(
        op.get("sender_coord") != op.get("receiver_coord"),
        "Can't send/receive to the same device",
    )


# --- Experts --------------------------------------------------------------------------------------


def _check_shapes(op: Verified, operands: Mapping[str, str], results: Mapping[str, str]) -> None:
    """Compare ranks with descriptions such as `4D tensor [B, S, 1, H]`."""
    for name, shown in operands.items():
        op.require_rank(name, int(shown[0]), f"{name} must be a {shown}")
    for number, (name, shown) in enumerate(results.items()):
        require(len(op.result(number)) == int(shown[0]), f"{name} must be a {shown}")


def _check_devices(op: Verified) -> None:
    require(op.get("num_devices") > 0, "num_devices must be positive")
    require(op.get("cluster_axis") in (0, 1), "cluster_axis must be 0 or 1")


def check_dispatch(op: Verified) -> None:
    """Tokens and their experts, on devices along an axis."""
    _check_shapes(
        op,
        {
            "input_tensor": "4D tensor [B, S, 1, H]",
            "expert_indices": "4D tensor [B, S, 1, K]",
            "expert_mapping": "4D tensor [1, 1, E, D]",
        },
        {
            "dispatched output": "4D tensor [1, B*D, S, H]",
            "metadata output": "4D tensor [1, B*D, S, K]",
        },
    )
    _check_devices(op)


def check_dispatch_metadata(op: Verified) -> None:
    """Tokens, their experts and weights, on devices along an axis."""
    late = op.op.name.startswith("ttnn.")
    _check_shapes(
        op,
        {
            "input_tensor": "4D tensor [1, 1, M, H]",
            "expert_indices": "4D tensor [1, 1, M, K]",
            "expert_scores": "4D tensor [1, 1, M, K]",
            "expert_mapping": "2D tensor [D, E]" if late else "4D tensor [1, 1, D, E]",
        },
        {
            "dispatched output": "3D tensor [1, tokens_global, H]",
            "indices output": "3D tensor [1, tokens_global, K]",
            "scores output": "3D tensor [1, tokens_global, K]",
        },
    )
    _check_devices(op)
    if late:
        bound = [op.has(f"{name}_buffer") for name in ("dispatched", "indices", "scores")]
        require(
            all(bound) or not any(bound),
            "dispatched_buffer, indices_buffer and scores_buffer must be all bound or all unbound",
        )


def check_combine(op: Verified) -> None:
    """What experts made of tokens, on devices along an axis."""
    _check_shapes(
        op,
        {
            "input_tensor": "4D tensor [E_local, B*D, S, H]",
            "expert_metadata": "4D tensor [1, B*D, S, K]",
            "expert_mapping": "4D tensor [1, 1, E, D]",
        },
        {"result": "4D tensor [K, B, S, H]"},
    )
    _check_devices(op)
    require(op.get("num_experts_per_tok") > 0, "num_experts_per_tok must be positive")
    dim = op.get("output_shard_dim")
    if op.op.name.startswith("ttnn."):
        require(dim in (1, 2), f"output_shard_dim must be 1 or 2, got {dim}")


def check_selective_combine(op: Verified) -> None:
    """Positive counts."""
    for name in ("hidden_size", "select_experts_k", "experts"):
        require(op.get(name) > 0, f"{name} must be positive")


def check_remap(op: Verified) -> None:
    """The weights of a device's experts."""
    late = op.op.name.startswith("ttnn.")
    _check_shapes(
        op,
        {
            "topk_tensor": "4D tensor [D, B, S, E]",
            "expert_mapping": "4D tensor [1, 1, E, D]",
            "expert_metadata": "4D tensor [D, B, S, K]",
        },
        {
            "mapping output": "4D tensor" if late else "4D tensor [1, B, S, E_local]",
            "reduced output": "4D tensor" if late else "4D tensor [1, 1, ceil(B*S/R), E_local]",
        },
    )
    require(op.get("reduction_size") > 0, "reduction_size must be positive")


def check_moe_gpt(op: Verified) -> None:
    """Weights as the library takes them, and tokens."""
    first, last = op.shape("w0_w1_tensor"), op.shape("w2_tensor")
    for name, shape in (("w0_w1_tensor", first), ("w2_tensor", last)):
        require(len(shape) == 6, f"{name} must be a rank 6 tensor")
    for name, shape in (("w0_w1_tensor", first), ("w2_tensor", last)):
        require(shape[5] == 128, f"{name} dim[5] must be 128 (4*TILE_SIZE)")
    for dim, meaning in ((0, "num_cores"), (2, "experts_per_device")):
        require(
            first[dim] == last[dim],
            f"w0_w1_tensor and w2_tensor must have same dim[{dim}] ({meaning})",
        )
    for name in ("expert_indices", "expert_scores"):
        require(op.rank(name) >= 2, f"{name} must have rank >= 2")


def check_moe_compute(op: Verified) -> None:
    """Sizes in tiles, and weights and biases that fit them."""
    require(op.get("output_height_shard_dim") > 0, "output_height_shard_dim must be positive")
    width = op.get("intermediate_size")
    require(width > 0 and width % 32 == 0, "intermediate_size must be a positive multiple of 32")
    tokens = op.shape("tilize_input_tensor")
    require(len(tokens) >= 2, "tilize_input_tensor must have rank >= 2")
    hidden = tokens[-1]
    require(
        hidden > 0 and hidden % 32 == 0,
        "tilize_input_tensor last dim (hidden_size) must be a positive multiple of 32",
    )
    if op.op.name.startswith("ttnn."):
        return
    w0 = op.shape("w0")
    require(len(w0) == 4, "w0 must have rank 4 (L, E, hidden, intermediate)")
    require(
        w0[2] == hidden,
        f"w0 hidden dim ({w0[2]}) must match tilize_input_tensor hidden_size ({hidden})",
    )
    layers, experts = w0[:2]
    expected = {"w1": (layers, experts, hidden, width), "w2": (layers, experts, width, hidden)}
    for name, shape in expected.items():
        require(op.shape(name) == shape, f"{name} must have shape ({join(shape)})")
    biased = [op.has(f"bias_{number}") for number in range(3)]
    require(
        all(biased) or not any(biased),
        "bias_0, bias_1, and bias_2 must be all present or all absent",
    )


def check_moe_weights(op: Verified) -> None:
    """Sizes in tiles."""
    for name in ("hidden_size", "intermediate_size"):
        size = op.get(name)
        require(size > 0 and size % 32 == 0, f"{name} must be a positive multiple of 32")
    if "bias_1" in op.op.form().operand_index:
        require(
            op.has("bias_0") == op.has("bias_1"),
            "bias_0 and bias_1 must be both present or both absent",
        )


def check_router(op: Verified) -> None:
    """The experts of each token, of which there are as many as weights."""
    shown = {
        "input": "[B, hidden_dim]",
        "weight": "[hidden_dim, num_experts]",
        "bias": "[B, num_experts]",
    }
    for name, extents in shown.items():
        rank = op.rank(name)
        require(rank == 2, f"{name} must be a 2D tensor {extents}, but got rank {rank}")
    (batch, hidden), (rows, experts) = op.shape("input"), op.shape("weight")
    bias, count, chosen = op.shape("bias"), op.get("num_experts"), op.get("k")
    require(rows == hidden, f"weight dim 0 ({rows}) must equal input hidden_dim ({hidden})")
    require(bias[0] == batch, f"bias dim 0 ({bias[0]}) must equal input batch size B ({batch})")
    require(bias[1] == experts, f"bias dim 1 ({bias[1]}) must equal weight num_experts ({experts})")
    if op.op.name.startswith("ttnn."):
        require(batch == 32, f"B must be 32, but got: {batch}")
        require(count == 128, f"num_experts must be 128, but got: {count}")
    else:
        require(count > 0, f"num_experts must be positive, but got: {count}")
    require(
        count == experts, f"num_experts attribute ({count}) must equal weight dim 1 ({experts})"
    )
    require(chosen > 0, f"k must be positive, but got: {chosen}")
    for number, name in enumerate(("expert_indices", "expert_weights")):
        shape = op.result(number)
        require(len(shape) == 2, f"{name} must be a 2D tensor [B, k], but got rank {len(shape)}")
        require(
            shape[0] == batch,
            f"{name} dim 0 ({shape[0]}) must equal input batch size B ({batch})",
        )
        require(shape[1] == chosen, f"{name} dim 1 ({shape[1]}) must equal k ({chosen})")


# --- Others ---------------------------------------------------------------------------------------


def check_sampling(op: Verified) -> None:
    """Candidates of each row, and numbers for each."""
    values, indices, output = op.shape("input_values"), op.shape("input_indices"), op.result()
    if op.op.name.startswith("ttnn."):
        require(
            len(values) in (2, 4),
            "input_values must be 2D [batch, candidates] or 4D [1, 1, batch, candidates]",
        )
        require(len(indices) == len(values), "input_indices rank must match input_values rank")
    else:
        require(len(values) == 2, "input_values must be 2D [batch, candidates]")
        require(len(indices) == 2, "input_indices must be 2D [batch, candidates]")
    require(values == indices, "input_values and input_indices must have the same shape")
    require(
        values[:-2] in ((), (1, 1)),
        "rank-4 input_values leading dims must be [1, 1, batch, candidates]",
    )
    batch = values[-2]
    if op.op.name.startswith("ttnn."):
        require(1 <= batch <= 32, f"batch ({batch}) must be in [1, 32] (kernel limit)")
        expected = 1 if len(values) == 2 else 4
        require(
            len(output) == expected,
            f"result rank ({len(output)}) must match expected rank ({expected}) for input_values "
            f"rank {len(values)}",
        )
    for name in ("k", "p", "temp"):
        shape = op.shape(name)
        require(len(shape) == 1, f"{name} must be 1D [batch]")
        require(
            shape[0] == batch,
            f"{name} batch dimension ({shape[0]}) must match input_values batch ({batch})",
        )
    if len(values) == 4:
        require(output == (1, 1, 1, batch), "result must be 4D [1, 1, 1, batch]")
    else:
        require(output == (batch,), "result must be 1D [batch]")


def check_tt_lang(op: Verified) -> None:
    """Roles of the operands: those that are read come first, those that are written last."""
    inputs, outputs = op.group("inputs"), op.op.results
    require(bool(inputs), "tt-lang kernel must have at least one input operand.")
    for name in ("kernel_id", "version_tag", "arg_roles"):
        require(bool(op.get(name)), f"`{name}` attribute must not be empty.")
    roles = [role.strip() for role in op.get("arg_roles").split(",")]
    for role in roles:
        if role not in ("in", "out"):
            refuse(f'`arg_roles` token must be "in" or "out", got: "{role}"')
    require(
        len(roles) == len(inputs),
        f"`arg_roles` token count ({len(roles)}) must match number of inputs ({len(inputs)})",
    )
    require(
        sorted(roles) == roles,
        '`arg_roles` must list all "in" operands before any "out" operand '
        "(destination-passing-style ordering).",
    )
    written = roles.count("out")
    require(
        written > 0,
        'tt-lang kernel must have at least one operand tagged "out" (the destination buffer the '
        "runtime returns as the kernel's output).",
    )
    require(
        written == len(outputs),
        f'number of "out" roles ({written}) must match number of results ({len(outputs)})',
    )
    first = len(inputs) - written
    for number, (value, result) in enumerate(zip(inputs[first:], outputs, strict=True), first):
        require(
            value.type == result.type,
            f"expected type of operand #{number} ({spell(value.type)}) to match type of "
            f"corresponding result ({spell(result.type)})",
        )


def check_trace(op: Verified) -> None:
    """A queue of commands, and a number that names a recording."""
    check_queue(op)
    value = op.value("trace_id") if op.has("trace_id") else op.op.results[0]
    type_ = value.type
    shape = getattr(type_, "shape", None)
    require(shape is not None, "Trace ID must be a ranked tensor type")
    require(not len(getattr(shape, "data", ())), "Trace ID must be a scalar")
    element = getattr(type_, "element_type", None)
    require(getattr(element, "name", "") == "integer_type", "Trace ID must be an integer")
    require(str(element).startswith("u"), "Trace ID must be unsigned")
    require(str(element) == "ui32", "Trace ID must be 32-bit")
    encoding = getattr(type_, "encoding", None)
    require(
        getattr(encoding, "name", "") == "ttnn.trace_id",
        "Trace ID must have the TraceIdAttr encoding",
    )
