"""Verifiers of 2026: attention, its heads and its caches."""

from __future__ import annotations

from ttmlir.dialects.definition.ods import refuse
from ttmlir.dialects.late_checks.verified import (
    Shape,
    Verified,
    is_float,
    is_integer,
    join,
    require,
    spell,
)


def check_attention(op: Verified) -> None:
    """Queries, keys and values of four dimensions, and a mask where attention is not causal."""
    _check_types(op)
    query, key, mask = _check_quads(op)
    _check_heads(query, key)
    if op.get("is_causal", True):
        require(mask is None, "Attention mask is not allowed when is_causal is true")
        require(
            query[2] == key[2],
            "Sequence length must match key/value sequence length when is_causal is true",
        )
    if mask is None:
        return
    _check_mask(mask, query)
    if op.op.name.startswith("ttir."):
        require(
            mask[2] in (1, query[2]),
            "Attention mask dim 2 must be 1 (broadcast) or match query sequence length",
        )
    else:
        require(mask[2] == query[2], "Attention mask at dim 2 must match query sequence length")
    require(
        mask[3] == key[2],
        "Attention mask at dim 3 must match key/value sequence length (max sequence length)",
    )


def _check_types(op: Verified) -> None:
    """The result is like the query, and values like keys; layouts of ttnn may differ."""
    key, value = op.value("key").type, op.value("value").type
    query, result = op.value("query").type, op.op.results[0].type
    if op.op.name.startswith("ttir."):
        require(query == result, "Query and result must have the same type")
        require(key == value, "Key and value must have the same type")
        return
    require(op.shape("query") == op.result(), "Query and result must have the same shape")
    require(
        op.element("query") == op.result_element(),
        "Query and result must have the same element type",
    )
    require(op.shape("key") == op.shape("value"), "Key and value must have the same shape")
    require(
        op.element("key") == op.element("value"),
        "Key and value must have the same element type",
    )


def _check_quads(op: Verified) -> tuple[Shape, Shape, Shape | None]:
    query, key = op.shape("query"), op.shape("key")
    require(len(query) == 4, "Query must be a 4D tensor")
    require(len(key) == 4, "Key/Value must be a 4D tensor")
    require(len(op.result()) == 4, "Output must be a 4D tensor")
    mask = op.shape("attention_mask") if op.has("attention_mask") else None
    return query, key, mask


def _check_heads(query: Shape, key: Shape) -> None:
    require(key[0] == query[0], "Key/Value batch size must match query batch size")
    require(key[3] == query[3], "Key/Value head size must match query head size")
    require(
        key[1] > 0 and query[1] % key[1] == 0,
        "Query num heads must be divisible by key/value num heads",
    )


def check_attention_decode(op: Verified) -> None:
    """One position of each sequence against a cache: the query is 1 x batch x heads x size."""
    _check_types(op)
    query, key, mask = _check_quads(op)
    require(query[0] == 1, "Query dim 0 must be 1")
    if op.has("cur_pos_tensor"):
        require(
            is_integer(op.element("cur_pos_tensor")), "Cur pos tensor must be a tensor of integers"
        )
        positions = op.shape("cur_pos_tensor")
        require(len(positions) == 1, "Cur pos tensor must be a 1D tensor")
        require(positions[0] == query[1], "Cur pos tensor batch size must match query batch size")
    require(key[0] == query[1], "Key/Value batch size must match query batch size")
    require(key[3] == query[3], "Key/Value head size must match query head size")
    require(
        key[1] > 0 and query[2] % key[1] == 0,
        "Query num heads must be divisible by key/value num heads",
    )
    if op.get("is_causal", True):
        require(mask is None, "Attention mask is not allowed when is_causal is true")
    if mask is None:
        return
    require(len(mask) == 4, "Attention mask must be a 4D tensor")
    require(
        mask[0] in (1, query[1]),
        "Attention mask batch size must be 1 (broadcast) or match query batch size",
    )
    require(mask[1] == 1, "Attention mask dim 1 must be 1")
    require(
        mask[2] in (1, query[2]),
        "Attention mask num heads must be 1 (broadcast) or match query num heads",
    )
    require(
        mask[3] == key[2],
        "Attention mask sequence length must match key/value sequence length",
    )


def check_paged_attention_decode(op: Verified) -> None:
    """One position of each sequence against a cache whose blocks a table names."""
    query, key, table = op.shape("query"), op.shape("key"), op.shape("page_table")
    elements = {op.element(name) for name in ("query", "key", "value")}
    require(all(map(is_float, elements)), "Query, key, and value must be float tensors.")
    require(
        op.value("key").type == op.value("value").type,
        "Key and value must have the same shape and data type.",
    )
    require(is_integer(op.element("page_table")), "Page table must be an integer tensor.")
    require(len(query) == 4, "Query must be a 4D tensor.")
    require(len(key) == 4, "Key/Value tensor must be a 4D tensor.")
    require(len(table) == 2, "Page table tensor must be a 2D tensor.")
    _, users, heads, size = query
    require(key[2] % 32 == 0, "Block size must be divisible by 32.")
    require(size == key[3], "Query head size must match key/value head size.")
    require(table[0] == users, "Page table number of users must match query number of users.")
    require(
        key[1] > 0 and heads % key[1] == 0,
        "Query num heads must be divisible by key/value num heads.",
    )
    if op.get("is_causal", True):
        require(
            not op.has("attention_mask"), "Attention mask is not allowed when is_causal is true."
        )
    else:
        require(op.has("attention_mask"), "Attention mask is required when is_causal is false.")
    if op.has("cur_pos_tensor"):
        positions = op.shape("cur_pos_tensor")
        require(
            is_integer(op.element("cur_pos_tensor")), "Cur pos tensor must be an integer tensor."
        )
        require(len(positions) == 1, "Cur pos tensor must be a 1D tensor.")
        require(
            positions[0] == users,
            "Cur pos tensor number of users must match query number of users.",
        )


def check_chunked_attention(op: Verified) -> None:
    """A part of the positions against a cache whose blocks a table names."""
    query, key, table = op.shape("query"), op.shape("key"), op.shape("page_table")
    start = op.shape("chunk_start_idx")
    require(len(query) == 4, "Query must be a 4D tensor.")
    require(len(key) == op.rank("value") == 4, "Key and value must be 4D tensors.")
    require(len(table) == 2, "Page table must be a 2D tensor.")
    require(len(start) == 1, "Chunk start index must be a 1D tensor.")
    elements = [op.element(name) for name in ("query", "key", "value")]
    if op.op.name.startswith("ttir."):
        require(len(set(elements)) == 1, "Query, key, and value must have the same element type.")
    require(all(map(is_float, elements)), "Query, key, and value must be float tensors.")
    require(is_integer(op.element("page_table")), "Page table must be an integer tensor.")
    require(
        is_integer(op.element("chunk_start_idx")), "Chunk start index must be an integer tensor."
    )
    require(
        key == op.shape("value") and elements[1] == elements[2],
        "Key and value must have the same shape and data type.",
    )
    if op.op.name.startswith("ttir."):
        require(start[0] in (1, query[0]), "Chunk start index must have shape [1] or [num_users].")
    else:
        require(
            start[0] == 1,
            "Chunk start index must have shape [1] (a single prefix offset shared by all users).",
        )
    require(query[3] == key[3], "Query head size must match key/value head size.")
    require(key[2] % 32 == 0, "Key/value block size must be divisible by 32.")
    require(
        key[1] > 0 and query[1] % key[1] == 0,
        "Query num heads must be divisible by key/value num heads.",
    )
    require(table[0] == query[0], "Page table number of users must match query number of users.")
    require(op.result() == query, "Result shape must match query shape.")


def check_paged_latent_attention_decode(op: Verified) -> None:
    """One position of each sequence against a compressed cache of pages."""
    query, key = op.shape("query"), op.shape("key")
    require(len(query) == 4, "Query must be a 4D tensor.")
    require(len(key) == 4, "Key tensor must be a 4D tensor.")
    require(op.rank("page_table") == 2, "Page table tensor must be a 2D tensor.")
    require(is_float(op.element("query")), "Query must be a float tensor.")
    require(
        op.element("query") == op.element("key"), "Query and key must have the same element type."
    )
    require(is_integer(op.element("page_table")), "Page table must be an integer tensor.")
    require(key[1] == 1, f"Key num KV heads (nkv) must be 1, got {key[1]}")
    require(op.get("head_dim_v") > 0, "head_dim_v must be greater than 0.")
    if op.has("value"):
        value = op.shape("value")
        require(len(value) == 4, "Value tensor must be a 4D tensor.")
        require(
            op.element("query") == op.element("value"),
            "Query and value must have the same element type.",
        )
        require(value[1] == 1, f"Value num KV heads (nkv) must be 1, got {value[1]}")


def _check_mask(mask: Shape, query: Shape) -> None:
    """What repeats along batches and heads, or has as many."""
    require(len(mask) == 4, "Attention mask must be a 4D tensor")
    require(
        mask[0] in (1, query[0]),
        "Attention mask batch size must be 1 (broadcast) or match query batch size",
    )
    require(
        mask[1] in (1, query[1]),
        "Attention mask dim 1 must be 1 (broadcast) or match query num heads",
    )


def check_latent_attention(op: Verified) -> None:
    """Attention to a compressed cache, whose values may be a part of its keys."""
    query, key, output = op.shape("query"), op.shape("key"), op.result()
    width = op.get("head_dim_v")
    require(len(query) == 4, "Query must be a 4D tensor")
    require(len(key) == 4, "Key must be a 4D tensor")
    require(len(output) == 4, "Output must be a 4D tensor")
    require(
        op.element("query") == op.result_element(),
        "Query and result must have the same element type",
    )
    require(
        op.element("query") == op.element("key"), "Query and key must have the same element type"
    )
    require(key[0] == query[0], "Key batch size must match query batch size")
    require(key[3] == query[3], "Key head size must match query head size")
    require(query[2] == key[2], "Query and key must have the same sequence length")
    require(
        key[1] > 0 and query[1] % key[1] == 0,
        "Query num heads must be divisible by key num heads (GQA/MQA/MLA)",
    )
    require(width > 0, "head_dim_v must be greater than 0")
    if op.has("value"):
        value = op.shape("value")
        require(len(value) == 4, "Value must be a 4D tensor")
        require(
            op.element("query") == op.element("value"),
            "Query and value must have the same element type",
        )
        require(value[0] == query[0], "Value batch size must match query batch size")
        require(value[1] == key[1], "Value num heads must match key num heads")
        require(value[2] == key[2], "Value sequence length must match query/key sequence length")
        require(value[3] == width, "Value head size must equal head_dim_v")
    else:
        require(
            width <= key[3],
            "head_dim_v cannot exceed key's head dim when value is not provided",
        )
    require(
        output == (*query[:3], width),
        "Result shape must be [batch, num_query_heads, seq_len, head_dim_v]",
    )
    if not op.has("attention_mask"):
        return
    mask = op.shape("attention_mask")
    require(not op.get("is_causal"), "Attention mask is not allowed when is_causal is true")
    _check_mask(mask, query)
    require(mask[2] == query[2], "Attention mask at dim 2 must match query sequence length")
    require(mask[3] == key[2], "Attention mask at dim 3 must match key sequence length")


def check_training_attention(op: Verified) -> None:
    """Attention that is differentiated, or its gradient."""
    for name in ("query", "key", "value"):
        op.require_rank(name, 4, "query, key and value must be rank 4 (B, H, S, D)")
    mask = op.get("mask_type")
    kind = mask.data.keyword if mask is not None else "none"
    if op.has("attention_mask"):
        require(kind == "arbitrary", "attention_mask is only allowed when mask_type is 'arbitrary'")
    else:
        require(kind != "arbitrary", "attention_mask is required when mask_type is 'arbitrary'")


def check_training_attention_forward(op: Verified) -> None:
    """Attention, and what its gradient needs if it is asked for."""
    check_training_attention(op)
    for name in ("query", "key", "value"):
        for dim, meaning, side in ((2, "sequence", "HEIGHT"), (3, "head", "WIDTH")):
            extent = op.shape(name)[dim]
            require(
                extent % 32 == 0,
                f"{name} {meaning} dimension (dim {dim}) must be a multiple of TILE_{side} (32), "
                f"but got {extent}",
            )
    require(
        bool(op.get("return_intermediates")) == (len(op.op.results) > 1),
        "intermediates result must be present iff return_intermediates is true",
    )


def check_training_attention_backward(op: Verified) -> None:
    """The gradient of attention without dropout."""
    check_training_attention(op)
    probability = op.get("dropout_probability", 0.0)
    require(
        probability == 0.0,
        "dropout_probability must be 0.0 because dropout is not implemented in the backward pass, "
        f"but got {probability}",
    )


def check_indexer(op: Verified) -> None:
    """Scores of all positions for each query."""
    query, key, weights, output = (
        op.shape("query"),
        op.shape("key"),
        op.shape("weights"),
        op.result(),
    )
    require(len(query) == 4, "Query must be a 4D tensor [B, Hi, Sq, D]")
    require(len(key) == 4, "Key must be a 4D tensor [B, 1, T, D]")
    require(len(weights) == 4, "Weights must be a 4D tensor [B, 1, Sq, Hi]")
    require(len(output) == 4, "Result must be a 4D tensor [B, 1, Sq, T]")
    require(query[0] == 1, f"Query batch size (dim 0) must be 1, got {query[0]}")
    require(key[0] == query[0], "Key batch size must match query batch size")
    require(key[1] == 1, "Key must have a single head (dim 1 must be 1)")
    require(key[3] == query[3], "Key head dim must match query head dim")
    require(
        weights == (query[0], 1, query[2], query[1]),
        "Weights shape must be [batch, 1, query_seq_len, num_heads]",
    )
    require(
        output == (query[0], 1, query[2], key[2]),
        "Result shape must be [batch, 1, query_seq_len, key_seq_len]",
    )
    require(
        op.element("query") == op.element("key"), "Query and key must have the same element type"
    )


# --- Heads ----------------------------------------------------------------------------------------


def check_concatenate_heads(op: Verified) -> None:
    """Heads side by side: batch x heads x positions x size becomes batch x positions x width."""
    shape, output = op.shape("input"), op.result()
    require(len(shape) == 4, f"expected rank of input tensor is 4, got rank {len(shape)}")
    require(len(output) == 3, f"expected rank of output tensor is 3, got rank {len(output)}")
    batch, heads, positions, size = shape
    for name, expected, there in (
        ("batch dimension to be", batch, output[0]),
        ("sequence dimension to be", positions, output[1]),
        ("hidden dimension to be num_heads * head_size =", heads * size, output[2]),
    ):
        require(there == expected, f"expected output {name} {expected}, got {there}")


def check_ttnn_concatenate_heads(op: Verified) -> None:
    """Heads side by side, in the words of ttnn."""
    shape, output = op.shape("input"), op.result()
    require(len(shape) == 4, "input tensor must be a 4D tensor")
    require(len(output) == 3, "output tensor must be a 3D tensor")
    batch, heads, positions, size = shape
    require(
        batch == output[0],
        f"input and output batch dimensions must match,got input batch size = {batch}, output "
        f"batch size = {output[0]}",
    )
    require(
        positions == output[1],
        "input sequence dimension must match output sequence dimension, got input sequence size = "
        f"{positions}, output sequence size = {output[1]}",
    )
    require(
        heads * size == output[2],
        f"output hidden dimension must equal num_heads * head_size, got num_heads = {heads}, "
        f"head_size = {size}, expected hidden size = {heads * size}, actual output hidden size = "
        f"{output[2]}",
    )
    before, after = (
        spell(element).strip("'") for element in (op.element("input"), op.result_element())
    )
    require(
        before == after,
        "input and output tensors must have the same dtype, got input dtype = "
        f"{before}, output dtype = {after}",
    )


def check_nlp_concat_heads(op: Verified) -> None:
    """Heads side by side, with a dimension of extent 1 for them."""
    shape, output = op.shape("input"), op.result()
    require(len(shape) == 4, "input tensor must be a 4D tensor")
    require(len(output) == 4, "output tensor must be a 4D tensor")
    batch, heads, positions, size = shape
    expected = (batch, 1, positions, heads * size)
    require(output == expected, f"expected output shape ({join(expected)}), got ({join(output)})")


def check_nlp_concat_heads_decode(op: Verified) -> None:
    """Heads of one position side by side."""
    shape, output, heads = op.shape("input"), op.result(), op.get("num_heads")
    require(len(shape) == 4, "input tensor must be a 4D tensor")
    require(len(output) == 4, "output tensor must be a 4D tensor")
    positions, _, padded, size = shape
    require(
        positions == output[0],
        "input sequence dimension must match output sequence dimension, got input sequence size = "
        f"{positions}, output sequence size = {output[0]}",
    )
    require(output[1] == 1, f"output dimension 1 must be 1, got {output[1]}")
    require(
        heads <= padded,
        "num_heads attribute must be less than or equal to input num_heads dimension, got "
        f"num_heads = {heads}, input num_heads dimension = {padded}",
    )
    require(
        output[3] == heads * size,
        f"Output hidden dimension must equal num_heads * head_size, got num_heads = {heads}, "
        f"head_size = {size}, expected hidden size = {heads * size}, actual output hidden size = "
        f"{output[3]}",
    )


def check_create_heads_decode(op: Verified) -> None:
    """Query, key and value heads of one position, cut from rows of all of them."""
    shape = op.shape("input")
    require(len(shape) == 4, "input tensor must be a 4D tensor")
    for dim in (0, 1):
        require(shape[dim] == 1, f"input tensor dimension {dim} must be 1, got {shape[dim]}")
    names = ("query", "key", "value")
    for number, name in enumerate(names):
        require(len(op.result(number)) == 4, f"{name} tensor must be a 4D tensor")
    heads = op.integer("num_heads")
    shared = op.integer("num_kv_heads", heads)
    batch, size = shape[2], shape[3] // (heads + 2 * shared)
    if op.has("batch_offset"):
        offset = op.shape("batch_offset")
        require(
            all(extent == 1 for extent in offset),
            f"batch_offset must be a scalar, got shape ({join(offset)})",
        )
    sliced = op.get("slice_size")
    require(
        op.has("batch_offset") == (sliced is not None),
        "both or neither of batch_offset and slice_size must be set",
    )
    rows = batch if sliced is None else sliced
    for number, (name, count) in enumerate(zip(names, (heads, shared, shared), strict=True)):
        expected, found = (1, rows, count, size), op.result(number)
        require(
            found == expected,
            f"expected {name} shape ({join(expected)}), got ({join(found)})",
        )


def check_split_heads(op: Verified) -> None:
    """Query, key and value out of one tensor, or of two, by head."""
    shape = op.shape("input_tensor")
    require(len(shape) == 3, f"expected rank of input tensor is 3, got rank {len(shape)}")
    outputs = [op.result(number) for number in range(3)]
    ranks = [len(output) for output in outputs]
    require(
        ranks == [4, 4, 4],
        "expected rank of query/key/value output tensor is 4, got query rank: "
        f"{ranks[0]}, key rank: {ranks[1]}, value rank: {ranks[2]}",
    )
    batch, positions, width = shape
    heads = op.get("num_heads")
    kv_heads = op.get("num_kv_heads") or heads
    if not heads:
        refuse("num_heads must be positive, got 0")
    size = width // heads if op.has("kv_input_tensor") else width // (heads + 2 * kv_heads)
    key = (size, positions) if op.get("transpose_key") else (positions, size)
    expected = (
        (batch, heads, positions, size),
        (batch, kv_heads, *key),
        (batch, kv_heads, positions, size),
    )
    for name, rule, output in zip(("query", "key", "value"), expected, outputs, strict=True):
        require(
            rule == output,
            f"expected {name} output shape ({join(rule)}), got ({join(output)})",
        )


# --- Caches ---------------------------------------------------------------------------------------


def _check_cache(op: Verified) -> tuple[Shape, Shape]:
    """Cache and input, of four dimensions and one element type."""
    cache, input = op.shape("cache"), op.shape("input")
    if op.op.name.startswith("ttir.") or op.element("cache") != op.element("input"):
        require(
            op.element("cache") == op.element("input"),
            "Cache and input tensors must have the same dtype. Got cache dtype = "
            f"{_data_type(op, 'cache')}, input dtype = {_data_type(op, 'input')}",
        )
    require(len(cache) == 4, "Cache tensor must be a 4D tensor")
    require(len(input) == 4, "Input tensor must be a 4D tensor")
    return cache, input


_DATA_TYPES = {"ui32": "u32", "ui16": "u16", "ui8": "u8", "i32": "si32"}


def _data_type(op: Verified, name: str) -> str:
    """The type of elements as the library has it."""
    spelled = spell(op.element(name)).strip("'")
    return _DATA_TYPES.get(spelled, spelled)


def _check_cache_shapes(cache: Shape, input: Shape) -> None:
    require(
        (cache[1], cache[3]) == (input[1], input[3]),
        "Cache tensor shape must match input tensor shape on dims 1 and 3. Got cache shape "
        f"({join(cache)}), input shape ({join(input)})",
    )


def check_fill_cache(op: Verified) -> None:
    """Positions written to a cache that has room for them."""
    cache, input = _check_cache(op)
    require(
        input[2] <= cache[2],
        "Input tensor requires that dim 2 have a size which is less than or equal to the size of "
        f"dim 2 of the cache tensor. Got cache dim 2 size = {cache[2]}, input dim 2 size = "
        f"{input[2]}",
    )
    _check_cache_shapes(cache, input)


def check_update_cache(op: Verified) -> None:
    """One position written to a cache."""
    cache, input = _check_cache(op)
    require(
        input[0] == 1,
        f"Input tensor requires that dim 0 have size 1, got input dim 0 size = {input[0]}",
    )
    require(
        (cache[1], cache[3]) == (input[1], input[3]),
        "Cache tensor shape must match input tensor shape on dims 1 and 3. Got cache shape "
        f"({join(cache)}), input shape (){join(input, 'x')})",
    )


def check_paged_update_cache(op: Verified) -> None:
    """One position of each user written to a cache of pages."""
    cache, input, index = op.shape("cache"), op.shape("input"), op.shape("update_index")
    if op.op.name.startswith("ttnn."):
        require(is_float(op.element("input")), "Input tensor must be a floating point type")
        require(
            is_integer(op.element("update_index")),
            "Update index tensor must be an integer type",
        )
        require(
            not op.has("page_table") or is_integer(op.element("page_table")),
            "Page table tensor must be an integer type",
        )
    require(len(cache) == 4, "Cache tensor must be a 4D tensor")
    require(len(input) == 4, "Input tensor must be a 4D tensor")
    require(len(index) == 1, "Update index tensor must be a 1D tensor")
    users = index[0]
    require(cache[2] % 32 == 0, f"Block size must be divisible by 32, got {cache[2]}")
    require(input[0] == 1, f"Input tensor must have dim 0 be equal to 1, got {input[0]}")
    require(
        input[1] == users,
        "Input tensor must have shape equal to the number of users (determined by update index "
        f"shape): {users}, got {input[1]}",
    )
    require(
        input[3] == cache[3],
        "Input tensor must have dim 3 be equal to the head dimension (determined by cache shape): "
        f"{cache[3]}, got {input[3]}",
    )
    if op.has("page_table"):
        table = op.shape("page_table")
        require(len(table) == 2, "Page table tensor must be a 2D tensor")
        require(
            table[0] == users,
            "Page table tensor must have dim 0 be equal to the number of users (determined by "
            f"update index shape): {users}, got {table[0]}",
        )


def check_paged_fill_cache(op: Verified) -> None:
    """Positions of users written to a cache of pages."""
    cache, input, table = op.shape("cache"), op.shape("input"), op.shape("page_table")
    require(len(cache) == 4, "Cache tensor must be a 4D tensor")
    require(len(input) == 4, "Input tensor must be a 4D tensor")
    require(len(table) == 2, "Page table tensor must be a 2D tensor")
    require(
        op.element("cache") == op.element("input"),
        "Cache and input tensors must have the same dtype",
    )
    require(is_float(op.element("cache")), "Cache tensor must be a floating point type")
    require(is_float(op.element("input")), "Input tensor must be a floating point type")
    require(is_integer(op.element("page_table")), "Page table tensor must be an integer type")
    if op.has("batch_idx_tensor"):
        index = op.shape("batch_idx_tensor")
        require(len(index) == 1, "Batch index tensor must be a 1D tensor")
        require(
            index[0] == input[0],
            f"Batch index tensor must have dim 0 equal to input batch ({input[0]}), got {index[0]}",
        )
        require(
            is_integer(op.element("batch_idx_tensor")),
            "Batch index tensor must be an integer type",
        )
    else:
        require(
            input[0] == 1,
            "Input batch must be statically 1 when no batch_idx_tensor is provided, got "
            f"{input[0]}",
        )
    require(cache[2] % 32 == 0, f"Block size must be divisible by 32, got {cache[2]}")
    require(input[1] == cache[1], "Input must have the same number of heads as the cache.")
    require(input[3] == cache[3], "Input must have same head dimension as cache.")
