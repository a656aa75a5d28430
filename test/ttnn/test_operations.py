"""Every operation of ttnn against torch, and the rules for its results.

The registry is enumerated: an operation without an oracle, and without a test that is named for it,
fails.
"""

from __future__ import annotations

import ast
import inspect
import pydoc
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch
from oracles.ttnn_elementwise_oracles import ELEMENTWISE
from oracles.ttnn_gradient_oracles import GRADIENTS
from oracles.ttnn_layer_oracles import LAYERS
from oracles.ttnn_model_oracles import MODELS
from oracles.ttnn_moreh_oracles import MOREH
from oracles.ttnn_movement_oracles import MOVING
from oracles.ttnn_oracle import SHARDABLE, Oracle, compare, place, read

from ttmlir import ttnn
from ttmlir.ttnn.operations.operation import Operation, Recorder, observe
from ttmlir.ttnn.registry import find_operation, operations


@pytest.fixture
def device(tolerant_device: Any) -> Any:
    """Numbers are compared in float32 and in rows, too, where a card takes others only."""
    return tolerant_device


ORACLES: dict[str, Oracle] = {
    **ELEMENTWISE,
    **GRADIENTS,
    **MODELS,
    **MOREH,
    **MOVING,
    **LAYERS,
}
"""Operations by name."""

JOINED = {
    "minimal_products_of_exchanged_tensors": """
        experimental.all_gather_minimal_matmul_async experimental.llama_all_gather_matmul_async
        experimental.minimal_matmul_strided_reduce_scatter_async
        experimental.strided_all_gather_minimal_matmul_async""",
    "heads_of_exchanged_tensors": """
        experimental.all_gather_concat experimental.all_reduce_create_qkv_heads""",
    "norms_of_rows_of_several_devices": """
        experimental.dit_fused_distributed_layernorm fused_rms_minimal
        experimental.dit_fused_distributed_layernorm_create_stats_buffer
        experimental.dit_fused_distributed_rmsnorm_create_stats_buffer""",
    "exchanges_into_buffers": """
        experimental.high_bw_all_gather experimental.llama_reduce_scatter
        experimental.reduce_scatter_minimal_async_create_intermediate_buffer
        experimental.reduce_scatter_minimal_direct_create_persistent_buffers
        experimental.reduce_scatter_minimal_direct_create_staging_buffer""",
    "sockets_between_meshes": """
        experimental.recv_async experimental.recv_direct_async experimental.send_async
        experimental.send_direct_async""",
    "products_of_prefetched_weights": "dram_prefetcher",
}
"""Operations of several devices by the tests that compute them."""

OTHERS: dict[str, str] = {
    **dict.fromkeys(
        ("experimental.apply_twiddles", "experimental.apply_twiddles_xl"),
        "test_fourier.py::test_factors",
    ),
    "experimental.bluestein_fft": "test_fourier.py::test_any_length",
    "experimental.fft_radix_pass": "test_fourier.py::test_passes",
    "experimental.fft_three_pass": "test_fourier.py::test_three_passes",
    **dict.fromkeys(
        ("experimental.dit_layernorm_post_allgather", "experimental.dit_layernorm_pre_allgather"),
        "test_mesh_layers.py::test_norms_by_sums",
    ),
    **dict.fromkeys(
        ("experimental.fused_msda", "experimental.fused_msda_from_offsets"),
        "test_grids.py::test_attention_to_places",
    ),
    "experimental.multi_scale_deformable_attn": "test_grids.py::test_attention_to_one_level",
    "prepare_grid_sample_grid": "test_grids.py::test_prepared_grids",
    "experimental.indexed_fused_update_cache": "test_sparse_attention.py::test_written_rows",
    **dict.fromkeys(
        ("experimental.indexer_score_dsa", "experimental.indexer_score_msa"),
        "test_sparse_attention.py::test_scores",
    ),
    "experimental.quantize_weights_via_host": "test_sparse_attention.py::test_rounded_weights",
    "experimental.topk_router_gpt": "test_sparse_attention.py::test_router",
    **dict.fromkeys(
        ("transformer.chunk_gated_delta_rule", "transformer.fused_recurrent_gated_delta_rule"),
        "test_sparse_attention.py::test_delta_rule",
    ),
    "transformer.gated_delta_attn_seq": "test_sparse_attention.py::test_prepared_chunks",
    **dict.fromkeys(
        ("transformer.sparse_sdpa", "transformer.sparse_sdpa_msa"),
        "test_sparse_attention.py::test_attention_to_blocks",
    ),
    "transformer.windowed_scaled_dot_product_attention": "test_sparse_attention.py::test_windows",
    **dict.fromkeys(
        ("allocate_tensor_on_device", "allocate_tensor_on_host", "copy_device_to_host_tensor"),
        "test_creation.py::test_tensors_to_be_filled",
    ),
    **dict.fromkeys(
        ("aggregate_tensor", "combine_device_tensors", "distribute_tensor", "from_host_shards"),
        "test_mesh.py::test_parts_of_tensors",
    ),
    "get_device_tensors": "test_mesh.py::test_parts_of_tensors",
    **dict.fromkeys(
        (
            *("experimental.all_reduce_async", "experimental.all_to_all_async_generic"),
            "experimental.ring_attention_all_gather_async",
            *("experimental.strided_all_gather_async", "experimental.strided_reduce_scatter_async"),
            "experimental.reduce_scatter_minimal_direct",
        ),
        "test_mesh.py::test_collectives",
    ),
    **dict.fromkeys(
        (
            "transformer.ring_joint_scaled_dot_product_attention",
            "transformer.exp_ring_joint_scaled_dot_product_attention",
        ),
        "test_mesh_layers.py::test_attention_in_rings",
    ),
    "transformer.ring_distributed_scaled_dot_product_attention": (
        "test_mesh_layers.py::test_causal_attention_in_rings"
    ),
    **dict.fromkeys(
        (
            *("composite_example", "composite_example_multiple_return"),
            "experimental.dit_fused_distributed_rmsnorm",
            "experimental.dit_rms_norm_unary_fused",
            "experimental.wan_fused_rmsnorm_post_allgather",
            "experimental.wan_fused_rmsnorm_pre_allgather",
        ),
        "test_mesh_layers.py::test_norms_of_models",
    ),
    **dict.fromkeys(
        ("all_to_all_combine", "all_to_all_dispatch"),
        "test_mesh_layers.py::test_tokens_of_experts",
    ),
    **dict.fromkeys(
        ("moe_expert_token_remap", "moe_routing_remap"),
        "test_mesh_layers.py::test_scores_of_own_experts",
    ),
    **dict.fromkeys(
        ("experimental.neighbor_pad_async", "experimental.slice_reshard_async"),
        "test_mesh_layers.py::test_rows_of_neighbors",
    ),
    **dict.fromkeys(
        ("experimental.all_gather_matmul_async", "experimental.matmul_reduce_scatter_async"),
        "test_mesh_joined.py::test_products_of_exchanged_tensors",
    ),
    **{
        name: f"test_mesh_joined.py::test_{test}"
        for test, names in JOINED.items()
        for name in names.split()
    },
    **dict.fromkeys(("broadcast", "point_to_point"), "test_mesh.py::test_what_one_device_sends"),
    "experimental.all_to_all_async": "test_mesh.py::test_exchanges_of_all_devices",
    "arange": "test_creation.py::test_sequences",
    "as_tensor": "test_tensor_files.py::test_caches_of_as_tensor",
    "attach_golden_function": "test_golden_functions.py::test_every_elementwise_golden_exists",
    "comp_allclose": "test_golden_functions.py::test_correlation",
    "comp_pcc": "test_golden_functions.py::test_correlation",
    "copy_host_to_device_tensor": "test_creation.py::test_tensors_to_be_filled",
    "create_group_norm_input_mask": "test_feature_norms.py::test_masks_of_groups",
    "create_group_norm_input_negative_mask": "test_feature_norms.py::test_masks_of_groups",
    "create_group_norm_weight_bias_rm": "test_feature_norms.py::test_group_norm",
    "create_tensor": "test_tensors.py::test_constructor",
    "deallocate": "test_creation.py::test_where_tensors_are",
    "dump_tensor": "test_tensor_files.py::test_files",
    "empty": "test_creation.py::test_constants",
    "empty_like": "test_creation.py::test_constants",
    "from_buffer": "test_creation.py::test_sequences",
    "from_device": "test_creation.py::test_where_tensors_are",
    "from_torch": "test_tensors.py::test_rounding_of_torch_tensors",
    "full": "test_creation.py::test_constants",
    "full_like": "test_creation.py::test_constants",
    "get_conv_output_dim": "test_windows.py::test_prepared_parameters",
    "get_fallback_function": "test_losses.py::test_fallback_functions",
    "get_golden_function": "test_golden_functions.py::test_results_are_golden",
    "get_item": "test_tensors.py::test_indexing",
    **dict.fromkeys(
        ("get_memory_config", "has_storage_type_of", "has_tile_padding", "is_sharded"),
        "test_creation.py::test_where_tensors_are",
    ),
    "is_tensor_storage_on_device": "test_creation.py::test_where_tensors_are",
    "load_tensor": "test_tensor_files.py::test_files",
    "manual_seed": "test_creation.py::test_random_numbers",
    **dict.fromkeys(("bernoulli", "experimental.dropout"), "test_model_operations.py::test_chance"),
    **dict.fromkeys(("fill_ones_rm", "fill_rm"), "test_model_operations.py::test_corners"),
    **dict.fromkeys(
        ("experimental.create_qkv_heads", "experimental.create_qkv_heads_from_separate_tensors"),
        "test_model_operations.py::test_heads_in_groups",
    ),
    "experimental.isin": "test_model_operations.py::test_membership",
    "experimental.nlp_kv_cache_load_slice": "test_model_operations.py::test_slices_in_shards",
    "experimental.padded_slice": "test_model_operations.py::test_slices_in_shards",
    "experimental.paged_fused_update_cache": "test_model_operations.py::test_both_caches",
    "experimental.prepare_conv3d_weights": "test_model_operations.py::test_prepared_weights",
    "experimental.rotary_embedding_llama_fused_qk": "test_model_operations.py::test_both_rotated",
    "experimental.slice_write": "test_model_operations.py::test_written_slices",
    "experimental.topk_large_indices": "test_model_operations.py::test_largest",
    **dict.fromkeys(
        ("experimental.convert_to_chw", "experimental.convert_to_hwc"),
        "test_model_operations.py::test_orders_of_channels",
    ),
    **dict.fromkeys(
        ("interleaved_to_sharded_partial", "sharded_to_interleaved_partial"),
        "test_model_operations.py::test_parts_in_shards",
    ),
    **dict.fromkeys(
        ("matmul_batched_weights", "sparse_matmul"),
        "test_model_operations.py::test_several_matrices",
    ),
    **dict.fromkeys(
        (
            "transformer.chunked_flash_mla_prefill",
            "transformer.flash_multi_latent_attention_decode",
            "transformer.paged_flash_multi_latent_attention_decode",
        ),
        "test_model_operations.py::test_values_in_keys",
    ),
    "moe": "test_model_operations.py::test_weight_of_an_expert",
    "sampling": "test_model_operations.py::test_sampling",
    **dict.fromkeys(
        ("angle", "conj", "imag", "polar", "real"), "test_complex_numbers.py::test_functions"
    ),
    "complex_tensor": "test_complex_numbers.py::test_refused",
    **dict.fromkeys(("angle_bw", "conj_bw", "imag_bw"), "test_complex_numbers.py::test_functions"),
    **dict.fromkeys(("polar_bw", "real_bw"), "test_complex_numbers.py::test_functions"),
    **dict.fromkeys(("is_imag", "is_real"), "test_complex_numbers.py::test_parts"),
    **dict.fromkeys(("moreh_arange", "moreh_full"), "test_moreh.py::test_created"),
    "moreh_clip_grad_norm": "test_moreh.py::test_clipped_gradients",
    "moreh_getitem": "test_moreh.py::test_parts_by_number",
    "moreh_group_norm_backward": "test_moreh.py::test_gradients_of_group_norm",
    "moreh_layer_norm_backward": "test_moreh.py::test_gradients_of_layer_norm",
    **dict.fromkeys(
        ("moreh_bmm_backward", "moreh_dot_backward", "moreh_linear_backward"),
        "test_moreh.py::test_gradients_of_products",
    ),
    "moreh_matmul_backward": "test_moreh.py::test_gradients_of_products",
    **dict.fromkeys(
        ("moreh_nll_loss", "moreh_nll_loss_backward", "moreh_nll_loss_unreduced_backward"),
        "test_moreh.py::test_losses",
    ),
    "ones": "test_creation.py::test_constants",
    "ones_like": "test_creation.py::test_constants",
    "pad_to_tile_shape": "test_creation.py::test_where_tensors_are",
    "pearson_correlation_coefficient": "test_golden_functions.py::test_correlation",
    "prepare_conv_bias": "test_windows.py::test_prepared_parameters",
    "prepare_conv_weights": "test_windows.py::test_prepared_parameters",
    "print_tensor": "test_tensors.py::test_printing",
    "randn": "test_creation.py::test_random_numbers",
    "rand": "test_creation.py::test_random_numbers",
    "to_device": "test_creation.py::test_where_tensors_are",
    "to_dtype": "test_creation.py::test_where_tensors_are",
    "to_numpy": "test_creation.py::test_constants",
    "to_torch": "test_tensors.py::test_rounding_of_torch_tensors",
    "uniform": "test_creation.py::test_random_numbers",
    "zeros": "test_creation.py::test_constants",
    "zeros_like": "test_creation.py::test_constants",
}
"""Tests of functions that are no function of tensors on a device."""

CALLED_AS = {"create_tensor": "Tensor(", "get_item": "tensor[", "print_tensor": "str("}
"""Operations that only methods call, and how tests call them."""

Case = tuple[str, str, str, tuple[int, ...]]
"""A data type, a layout, a memory and a shape."""


def cases(oracle: Oracle) -> list[Case]:
    """All cases of an operation; shapes that are not cut into shards take two memories."""
    axes = (oracle.dtypes + oracle.integers, oracle.layouts, oracle.memories, oracle.shapes)
    return [case for case in product(*axes) if case[3] == SHARDABLE or case[2] in ("dram", "l1")]


def sample(oracle: Oracle) -> list[Case]:
    """Some cases, in which every type, layout, memory and shape occurs."""
    axes = (oracle.dtypes + oracle.integers, oracle.layouts, oracle.memories, oracle.shapes)
    turns = range(max(map(len, axes)))
    return list(zip(*([axis[i % len(axis)] for i in turns] for axis in axes), strict=True))


def listed(result: Any) -> list[Any]:
    """The tensors of a result."""
    return list(result) if isinstance(result, list | tuple) else [result]


def check(name: str, case: Case, device: Any) -> None:
    """The numbers are torch's; type, layout and memory follow the rules; it is one call."""
    oracle, (dtype, layout, memory, shape) = ORACLES[name], case
    if dtype in oracle.integers:
        assert oracle.draw_integers is not None
        drawn = oracle.draw_integers(dtype, shape)
    else:
        drawn = oracle.draw(shape)
    tensors = [place(each, dtype, layout, memory, device) for each in drawn]
    held = [read(each) for each in tensors]
    spec = tensors[oracle.typed_by].spec
    operation = find_operation(name)
    with observe(Recorder()) as recorder:
        result = operation(*tensors) if oracle.call is None else oracle.call(operation, *tensors)
    assert [call.operation.name for call in recorder.calls] == [name]
    made, expected = listed(result), listed(oracle.expected(*held))
    assert len(made) == len(expected)
    if oracle.writes is not None:
        assert made[0] is tensors[oracle.writes]
    for number, (tensor, wanted) in enumerate(zip(made, expected, strict=True)):
        compare(tensor, wanted, oracle)
        others = oracle.results_of.get(dtype, oracle.result_dtypes)
        other = others[number] if others else None
        assert tensor.dtype == (spec.dtype if other is None else getattr(ttnn, other))
        kept = spec.layout if oracle.result_layout is None else getattr(ttnn, oracle.result_layout)
        if oracle.integers_in_tiles and dtype in oracle.integers:
            kept = ttnn.TILE_LAYOUT
        assert tensor.layout == kept
        check_place(tensor, spec, oracle)
    assert tensors[0].is_allocated() is not oracle.consumes
    for number, (tensor, before) in enumerate(zip(tensors, held, strict=True)):
        if number != oracle.writes and not oracle.consumes:
            assert torch.equal(read(tensor), before), "an operand changed"


def check_place(tensor: Any, spec: Any, oracle: Oracle) -> None:
    """The memory and the padding of a result."""
    config = tensor.memory_config()
    same = tuple(tensor.shape) == tuple(spec.shape)
    if oracle.memory is not None:
        assert config == oracle.memory
    elif same or not spec.memory_config.is_sharded():
        assert config == spec.memory_config
    else:
        assert config == ttnn.L1_MEMORY_CONFIG
    shape = [1] * (2 - len(tensor.shape)) + list(tensor.shape)
    if tensor.layout == ttnn.TILE_LAYOUT:
        assert list(tensor.padded_shape) == [*shape[:-2], *(-(-e // 32) * 32 for e in shape[-2:])]
    else:
        assert list(tensor.padded_shape) == (list(tensor.shape) or [1])


def test_every_operation_has_an_oracle() -> None:
    """The tables name all operations, and nothing else."""
    names, tested = {*operations()}, {*ORACLES, *OTHERS}
    where = "a table of test/support/oracles/ttnn_*_oracles.py, or to OTHERS here"
    edits = [f"add what {name} means in torch to {where}" for name in names - tested]
    edits += [
        f"there is no operation {name}: take its line from {where}" for name in tested - names
    ]
    assert sorted(edits) == []
    assert not ORACLES.keys() & OTHERS.keys()


@pytest.mark.parametrize("name", OTHERS)
def test_tests_elsewhere(name: str) -> None:
    """A test that stands for a function calls it."""
    file, _, function = OTHERS[name].partition("::")
    tree = ast.parse(Path(__file__).with_name(file).read_text(encoding="utf-8"))
    (found,) = (each for each in tree.body if getattr(each, "name", "") == function)
    assert CALLED_AS.get(name, name).removesuffix("_bw") in ast.unparse(found)


@pytest.mark.parametrize("name", ORACLES)
def test_operations(name: str, device: Any) -> None:
    """Some cases of each operation."""
    for case in sample(ORACLES[name]):
        check(name, case, device)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ORACLES)
def test_all_cases(name: str, device: Any) -> None:
    """All cases of each operation."""
    for case in cases(ORACLES[name]):
        check(name, case, device)


def arguments_of(operation: Operation) -> set[str]:
    """The names of an operation's arguments."""
    if operation.has_signature:
        return set(operation.signature.defaults)
    return set(inspect.signature(operation.function).parameters)


OUTPUTS = ("output_tensor", "out", "output", "optional_output_tensor")


def asking(name: str) -> list[str]:
    """Operations that have an argument."""
    return [each for each in ORACLES if name in arguments_of(find_operation(each))]


def is_operand(name: str, argument: str) -> bool:
    """Whether an argument of an operation has to be given."""
    parameter = inspect.signature(find_operation(name)).parameters[argument]
    return parameter.default is parameter.empty


def run(name: str, device: Any, **asked: Any) -> list[Any]:
    """The results of an operation on bfloat16 or int32 in DRAM, with arguments of the test."""
    oracle = ORACLES[name]
    dtype = "bfloat16" if "bfloat16" in oracle.dtypes else (oracle.dtypes + oracle.integers)[0]
    shape = oracle.shapes[-1]
    draw = oracle.draw_integers
    drawn = oracle.draw(shape) if dtype in oracle.dtypes or draw is None else draw(dtype, shape)
    tensors = [place(each, dtype, oracle.layouts[0], "dram", device) for each in drawn]
    operation = partial(find_operation(name), **asked)
    return listed(operation(*tensors) if oracle.call is None else oracle.call(operation, *tensors))


NO_CHOICE = {
    "fill_implicit_tile_padding": "a card takes the argument and does not look at it",
    "reshard": "its memory configuration is what it is called for",
    "to_memory_config": "its memory configuration is what it is called for",
}


@pytest.mark.parametrize(
    "name", [name for name in asking("memory_config") if name not in NO_CHOICE]
)
def test_memory_of_results(name: str, device: Any) -> None:
    """A result is in the memory that is asked for, with the same numbers."""
    if ORACLES[name].writes is None:
        plain = [read(each) for each in run(name, device)]
        made = run(name, device, memory_config=ttnn.L1_MEMORY_CONFIG)
        assert [each.memory_config() for each in made] == [ttnn.L1_MEMORY_CONFIG] * len(made)
        for tensor, wanted in zip(made, plain, strict=True):
            assert torch.equal(read(tensor), wanted)


@pytest.mark.parametrize("name", asking("dtype"))
def test_data_type_of_results(name: str, device: Any) -> None:
    """A result has the data type that is asked for; its numbers are rounded to it alone."""
    dtype = ttnn.float32 if name != "typecast" else ttnn.int32
    # What is where it is asked to be stays as it is, as on a card.
    if name.rpartition(".")[2] in ("bitcast", "typecast", "to_layout", "to_memory_config"):
        return
    # A card takes the argument and does not look at it.
    if name == "moreh_dot":
        return
    plain = run(name, device)
    made = run(name, device, dtype=dtype)
    for tensor, other in zip(made, plain, strict=True):
        assert tensor.dtype == dtype
        assert (tensor.layout, tensor.memory_config()) == (other.layout, other.memory_config())
        again = torch.as_tensor(read(tensor)).to(torch.bfloat16).double()
        if other.dtype == ttnn.bfloat16:
            assert torch.equal(again, read(other))


@pytest.mark.parametrize(
    ("name", "argument"),
    [(name, each) for each in OUTPUTS for name in asking(each) if not is_operand(name, each)],
)
def test_given_results(name: str, argument: str, device: Any) -> None:
    """A tensor for the result is filled and returned, at its address."""
    plain = run(name, device)
    outputs = [ttnn.zeros_like(each) for each in plain]
    addresses = [each.buffer_address() for each in outputs]
    made = run(name, device, **{argument: outputs if len(outputs) > 1 else outputs[0]})
    for tensor, output, wanted in zip(made, outputs, plain, strict=True):
        assert tensor is output
        assert torch.equal(read(tensor), read(wanted))
    assert [each.buffer_address() for each in made] == addresses


def test_help_in_a_notebook() -> None:
    """Python tells the arguments of every operation, and help shows them."""
    sum_arguments = inspect.signature(ttnn.add)
    assert [*sum_arguments.parameters][:3] == ["input_tensor_a", "input_tensor_b", "dtype"]
    sum_arguments.bind(1, 2, memory_config=None)
    with pytest.raises(TypeError):
        sum_arguments.bind(1)
    with pytest.raises(TypeError):
        sum_arguments.bind(1, 2, None)
    assert "ttnn.exp(input_tensor, " in pydoc.render_doc(ttnn.exp)
    assert "in another shape" in pydoc.render_doc(ttnn.reshape)
    assert [*inspect.signature(ttnn.reshape).parameters][:2] == ["input_tensor", "shape"]
    for name in operations():
        operation = find_operation(name)
        assert inspect.signature(operation).parameters
        assert operation.__doc__
