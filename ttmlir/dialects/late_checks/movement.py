"""Verifiers of 2026: operations that move elements, look them up, or put them in order."""

from __future__ import annotations

import math

from xdsl.dialects.builtin import DYNAMIC_INDEX

from ttmlir.dialects.definition.ods import refuse, text
from ttmlir.dialects.definition.table_ops import broadcast_pair, is_static, tensor_type
from ttmlir.dialects.late_checks.verified import (
    Shape,
    Verified,
    is_integer,
    join,
    require,
    spell,
)
from ttmlir.dialects.ttnn.attrs import ShapeAttr


def check_concat(op: Verified) -> None:
    """A dimension of the inputs, which agree in all others; the output is as long as they are."""
    shapes = [tensor_type(value).get_shape() for value in op.op.operands]
    is_ttnn = op.op.name.startswith("ttnn.")
    require(bool(shapes), "At least one input tensor is required.")
    first, given = shapes[0], op.integer("dim")
    dim = given + len(first) if given < 0 else given
    require(0 <= dim < len(first), f"Invalid dimension {given} for concatenation.")
    for number, shape in enumerate(shapes[1:], 1):
        ranks = f" (operand 0 rank {len(first)}, operand {number} rank {len(shape)})"
        require(
            len(shape) == len(first),
            f"All input tensors must have the same rank{ranks if is_ttnn else ''}.",
        )
        for place, (extent, other) in enumerate(zip(shape, first, strict=True)):
            places = (
                f" (operand 0 shape {join(first)}, operand {number} shape {join(shape)} differ at "
                f"dim {place}: {other} vs {extent})"
            )
            require(
                place == dim or extent == other,
                "All input tensors must have the same dimensions, except for dimension "
                f"{dim}{places if is_ttnn else ''}.",
            )
    output, total = op.result(), sum(shape[dim] for shape in shapes)
    if len(output) != len(first) or not is_static((*output, *(s[dim] for s in shapes))):
        return
    require(
        output[dim] == total,
        f"Output tensor dimension {dim} must be equal to the sum of input tensor dimensions at the "
        f"same axis ({total}), but got {output[dim]}."
        if is_ttnn
        else f"Output tensor dimension {dim} does not match the sum of input tensor dimensions: "
        f"{output[dim]} vs. {total}.",
    )


def check_reshape(op: Verified) -> None:
    """As many elements, and the output's extents, one of which may be -1."""
    shape, output, source = op.integers("shape"), op.result(), op.shape("input")
    require(
        len(shape) == len(output),
        f"Shape attribute size {len(shape)} must match output tensor rank {len(output)}",
    )
    if not is_static((*source, *output)):
        refuse("Input and output tensors must have static shapes")
    before, after = math.prod(source), math.prod(output)
    require(
        before == after,
        f"Input tensor number of elements {before} and output tensor number of elements {after} "
        "must be the same",
    )
    inferred = False
    for place, (extent, there) in enumerate(zip(shape, output, strict=True)):
        if extent == -1:
            require(not inferred, "Shape attribute must have at most one -1 element")
            inferred = True
            continue
        require(extent >= 0, "All dimensions must be >= 0 except the one with -1")
        require(
            extent == there,
            f"Shape attribute {extent} must match the output tensor shape {there} at index "
            f"{place} for dimension that is not -1",
        )


def check_permute(op: Verified) -> None:
    """A permutation of the input's dimensions, and the output has its extents in this order."""
    shape, order = op.shape("input"), op.integers("permutation")
    dims = tuple(range(len(shape)))
    require(
        tuple(sorted(order)) == dims,
        f"Expected a permutation of ({join(dims)}), got ({join(order)})",
    )
    expected = tuple(shape[dim] for dim in order)
    require(
        expected == op.result(),
        f"Expected result shape ({join(expected)}), got ({join(op.result())})",
    )


def check_transpose(op: Verified) -> None:
    """Two dimensions of the input, exchanged."""
    source, output = op.shape("input"), op.result()
    require(len(source) >= 2, "Input must be at least a 2D tensor")
    require(len(source) == len(output), "Input must have the same rank as output")
    dims: list[int] = []
    for number in (0, 1):
        dim = op.integer(f"dim{number}")
        require(
            -len(source) <= dim < len(source),
            f"Dimension {number} attribute must be within the bounds of the input tensor",
        )
        dims.append(dim % len(source))
    first, second = dims
    require(
        output[first] == source[second] and output[second] == source[first],
        "Input-output transpose dimension mismatch.",
    )


def check_squeeze(op: Verified) -> None:
    """A dimension of extent 1, left out."""
    source, output, given = op.shape("input"), op.result(), op.integer("dim")
    dim = given + len(source) if given < 0 else given
    require(0 <= dim < len(source), f"Invalid dimension {dim} for squeezing.")
    require(source[dim] == 1, f"Dimension {dim} in the input tensor must be 1.")
    require(bool(output), "Output tensor must have at least one dimension.")
    require(
        len(output) == len(source) - 1,
        "Output tensor rank must be one less than the input tensor rank.",
    )
    require(
        output == source[:dim] + source[dim + 1 :],
        "Dimensions of the output tensor must be the same as the input tensor except for "
        f"dimension {dim}.",
    )


def check_unsqueeze(op: Verified) -> None:
    """A dimension of extent 1, put in."""
    source, output, given = op.shape("input"), op.result(), op.integer("dim")
    rank = len(source)
    require(
        -rank - 1 <= given <= rank,
        "Dimension attribute must be within the bounds of the input tensor",
    )
    dim = given + rank + 1 if given < 0 else given
    require(
        len(output) == rank + 1,
        "Output tensor must have one more dimension than the input tensor",
    )
    require(output[dim] == 1, "Dimension added must be of size 1")
    require(
        output[:dim] + output[dim + 1 :] == source,
        "All dimensions of the input tensor must be the same as the output tensor except for the "
        "dimension added",
    )


def check_broadcast(op: Verified) -> None:
    """A factor for each dimension, which makes the output's extents of the input's."""
    source, output = op.shape("input"), op.result()
    factors = op.integers("broadcast_dimensions")
    require(
        len(source) == len(output),
        f"Input tensor rank of {len(source)} does not match output tensor rank of {len(output)}",
    )
    pair = broadcast_pair(source, output)
    require(
        pair is not None and pair == output,
        f"Input tensor shape ({join(source, ',')}) is not broadcastable to output shape "
        f"({join(output, ',')})",
    )
    require(len(factors) == len(source), "Input tensor rank should match output tensor rank.")
    for place, (before, factor, after) in enumerate(zip(source, factors, output, strict=True)):
        require(
            before * factor == after,
            f"Input tensor shape ({join(source, ',')}) index {place} does not broadcast to output "
            f"({join(output, ',')}) using broadcast value {factor}",
        )


def check_repeat(op: Verified) -> None:
    """A positive factor for each dimension."""
    source, output = op.shape("input"), op.result()
    factors = op.integers("repeat_dimensions")
    if not factors and isinstance(said := op.get("repeat_dims"), ShapeAttr):
        factors = tuple(each.data for each in said.shape.data)
    require(
        len(source) == len(factors),
        f"Input tensor rank {len(source)} doesn't match the number of repeat dimensions "
        f"{len(factors)}.",
    )
    require(
        len(source) == len(output),
        f"Input tensor rank {len(source)} doesn't match the output tensor rank {len(output)}.",
    )
    for place, (before, factor, after) in enumerate(zip(source, factors, output, strict=True)):
        require(factor > 0, f"Repeat dimension at index {place} must be greater than 0.")
        require(
            before * factor == after,
            f"Input tensor shape ({join(source, ',')}) at index {place} does not repeat to output "
            f"({join(output, ',')}) using repeat value {factor}.",
        )


def check_repeat_interleave(op: Verified) -> None:
    """A dimension whose elements are repeated."""
    source, repeats, given = op.shape("input"), op.integer("repeats"), op.integer("dim")
    rank = len(source)
    require(bool(source), "Input must be at least a 1D tensor")
    require(repeats != 0, "Repeats attribute must be non-zero")
    require(
        -rank <= given < rank,
        f"Dimension attribute must be within the bounds[{-rank}, {rank}), got {rank}",
    )
    expected = list(source)
    expected[given] *= repeats
    require(
        tuple(expected) == op.result(),
        f"Output shape [{join(op.result(), ',')}] does not match the expected shape "
        f"[{join(expected, ',')}]",
    )


def check_pad(op: Verified) -> None:
    """Margins before and after each dimension."""
    source, padding = op.shape("input"), op.integers("padding")
    require(
        len(padding) == 2 * len(source),
        "Padding must have the same number of elements as twice the rank of the input tensor",
    )
    expected = tuple(
        extent + padding[2 * dim] + padding[2 * dim + 1] for dim, extent in enumerate(source)
    )
    require(
        expected == op.result(),
        f"Output tensor shape ({join(op.result(), ',')}) must match the inferred shape: "
        f"({join(expected, ',')})",
    )


def check_ttnn_pad(op: Verified) -> None:
    """Margins of ttnn, which are not negative."""
    source, padding = op.shape("input"), op.integers("padding")
    if len(padding) == 2 * len(source):
        require(min(padding, default=0) >= 0, "Padding cannot contain negative values")
    check_pad(op)


def check_reverse(op: Verified) -> None:
    """Dimensions of the input, each once."""
    shape, dims = op.shape("input"), op.integers("dimensions")
    if shape != op.result():
        refuse("failed to verify that all of {input, result} have same shape")
    require(len(set(dims)) == len(dims), f"dimensions should be unique. Got: {join(dims)}")
    for dim in dims:
        require(dim >= 0, f"all dimensions should be non-negative. Got dimension: {dim}")
        require(
            dim < len(shape),
            f"all dimensions should be in interval [0, {len(shape)}). Got dimension: {dim}",
        )


def check_slice_static(op: Verified) -> None:
    """A begin, an end and a step for each dimension."""
    source, output = op.shape("input"), op.result()
    bounds = [op.get(name) for name in ("begins", "ends", "step")]
    require(bool(source), "Input must be at least a 1D tensor")
    require(
        all(len(each) == len(source) for each in bounds),
        "Begins, ends, and step attributes must have the same number of elements as the input "
        "tensor rank",
    )
    _check_slice_types(op, source, output)
    for dim, (begin, end, step) in enumerate(zip(*bounds, strict=True)):
        _check_slice(source, output, dim, begin, end, step)


def _check_slice_types(op: Verified, source: Shape, output: Shape) -> None:
    require(
        op.element("input") == op.result_element(),
        "Output tensor must have the same element type as the input tensor",
    )
    require(
        len(source) == len(output),
        "Output tensor must have the same rank as the input tensor",
    )


def _check_slice(source: Shape, output: Shape, dim: int, begin: int, end: int, step: int) -> None:
    size = source[dim]
    first, last = (n + size if n < 0 else n for n in (begin, end))
    shown = f"({join(source)})"
    require(
        0 <= first < size,
        f"Invalid begin index for dimension {dim}. Expected value in range [{-size}, {size}), got "
        f"{begin}. Input shape: {shown}",
    )
    require(
        0 <= last <= size,
        f"Invalid end index for dimension {dim}. Expected value in range [{-size}, {size}], got "
        f"{end}. Input shape: {shown}",
    )
    require(step != 0, f"Step value for dimension {dim} cannot be zero")
    sign, relation = ("positive", "less") if step > 0 else ("negative", "greater")
    require(
        first <= last if step > 0 else first >= last,
        f"For {sign} step, begin index must be {relation} than or equal to end index for "
        f"dimension {dim}. Got begin: {_adjusted(begin, first)}, end: {_adjusted(end, last)}, "
        f"step: {step}, input shape: {shown}",
    )
    expected = -(-abs(last - first) // abs(step))
    require(
        output[dim] == expected,
        f"Mismatch in dimension {dim} of the output tensor: expected size {expected}, but got "
        f"{output[dim]}",
    )


def _adjusted(given: int, counted: int) -> str:
    return f"{counted} ({given})" if given < 0 else str(given)


def check_slice_dynamic(op: Verified) -> None:
    """Begins and ends as tensors."""
    source, output = op.shape("input"), op.result()
    begins, ends, step = op.shape("begins"), op.shape("ends"), op.get("step")
    require(bool(source), "Input must be at least a 1D tensor")
    require(len(begins) == len(ends) == 1, "Begins and ends must be 1D tensors")
    counts = [begins[0], ends[0], *([] if step is None else [len(step)])]
    require(
        all(count == len(source) for count in counts),
        "Begins, ends, and step must have the same number of elements as the input tensor rank",
    )
    _check_slice_types(op, source, output)
    for dim, each in enumerate(step or ()):
        require(each != 0, f"Step value for dimension {dim} cannot be zero")


def check_index(op: Verified) -> None:
    """A slice along one dimension."""
    source, output, dim = op.shape("input"), op.result(), op.integer("dim")
    require(bool(source), "Input must be at least a 1D tensor")
    require(
        0 <= dim < len(source),
        f"Invalid dimension index {dim}. Input tensor rank is {len(source)}",
    )
    _check_slice_types(op, source, output)
    _check_slice(source, output, dim, op.integer("begin"), op.integer("end"), op.integer("step"))


def check_index_select(op: Verified) -> None:
    """Stretches of a dimension at equal distances."""
    source, output, given = op.shape("input"), op.result(), op.integer("dim")
    require(len(source) == len(output), "Input and output tensors must have the same rank.")
    require(
        op.element("input") == op.result_element(),
        "Input and output tensors must have the same element type.",
    )
    dim = given + len(source) if given < 0 else given
    require(
        0 <= dim < len(source),
        f"Invalid dimension {given} for select op with input tensor rank {len(source)}",
    )
    size, stride = source[dim], op.integer("stride") or source[dim]
    begin, length = op.integer("begin"), op.integer("length")
    require(
        stride >= 0,
        f"Invalid stride {stride} for dimension {dim}, stride must be non-negative",
    )
    require(
        stride <= size,
        f"Invalid stride {stride} for dimension {dim} with size {size}. stride must be less than "
        "or equal to the dimension size",
    )
    require(
        0 <= begin < size,
        f"Invalid begin index {begin} for dimension {dim} with size {size}. begin must be in the "
        "range [0, dimSize)",
    )
    require(
        1 <= length <= stride,
        f"Invalid length {length} for begin index {begin} and stride {stride} for dimension {dim} "
        f"with size {size}. stride must be greater than or equal to length",
    )
    require(
        begin + length <= size,
        f"Invalid length {length} for begin index {begin} and dimension {dim} with size {size}. "
        "begin + length must be less than or equal to the dimension size",
    )
    total = length * len(range(begin, size, stride))
    require(
        total == output[dim],
        "Sum of all slices must be equal to the output dimension size for the given dimension. "
        f"Expected output dimension size: {output[dim]}, but got {total}",
    )


def check_rearrange(op: Verified) -> None:
    """A pattern of einops with a name for each dimension, whose result the output has."""
    pattern, shape = op.get("pattern"), op.shape("input")
    sides = pattern.split("->")
    require(len(sides) == 2, "pattern must contain exactly one '->' separator.")
    names = sides[0].split()
    groups = groups_of_pattern(sides[1])
    named = [name for group in groups or () for name in group]
    require(
        groups is not None and sorted(named) == sorted(names) and len(set(names)) == len(names),
        f"failed to parse pattern {pattern}.",
    )
    require(
        len(names) == len(shape),
        f"number of dimensions in the pattern's input ({len(names)}) must match the rank of the "
        f"input tensor ({len(shape)}).",
    )
    extents = dict(zip(names, shape, strict=True))
    expected = [math.prod(extents[name] for name in group) for group in groups or ()]
    require(
        tuple(expected) == op.result(),
        f"input tensor shape ({join(op.result(), ',')}) does not match the expected shape "
        f"({join(expected, ',')}).",
    )


def groups_of_pattern(text: str) -> list[list[str]] | None:
    """The dimensions of an output, `(a b) c` being two; None where brackets do not match."""
    groups: list[list[str]] = []
    inside: list[str] | None = None
    for word in text.replace("(", " ( ").replace(")", " ) ").split():
        if word == "(" and inside is None:
            inside = []
        elif word == ")" and inside is not None:
            groups.append(inside)
            inside = None
        elif word in "()":
            return None
        elif inside is None:
            groups.append([word])
        else:
            inside.append(word)
    return None if inside is not None else groups


# --- Lookups --------------------------------------------------------------------------------------


def check_gather(op: Verified) -> None:
    """Elements at indices along a dimension."""
    input, index, dim = op.shape("input"), op.shape("index"), op.integer("dim")
    _check_gather_ranks(input, index)
    rank = len(input)
    require(
        -rank <= dim < rank, f"Dimension must be in the range [-{rank}, {rank}), got dim = {dim}"
    )
    require(
        is_integer(op.element("index")),
        f"Index tensor must have an integer type, got {spell(op.element('index'))}",
    )
    require(index == op.result(), "Index tensor and result tensor must have the same shape.")


def check_ttnn_gather(op: Verified) -> None:
    """Elements at indices along a dimension, which are of a type that the library takes."""
    input, index, dim = op.shape("input"), op.shape("index"), op.integer("dim")
    _check_gather_ranks(input, index)
    rank = len(input)
    require(
        -rank <= dim < rank, f"Dimension must be in the range [-{rank}, {rank}), got dim = {dim}"
    )
    spelled = spell(op.element("index")).strip("'")
    require(
        spelled in ("ui16", "ui32", "si32", "i32"),
        f"Index tensor element type must be one of ui16, ui32, si32 or i32, got '{spelled}'",
    )
    require(index == op.result(), "Index tensor and result tensor must have the same shape.")


def _check_gather_ranks(input: Shape, index: Shape) -> None:
    require(
        len(input) == len(index),
        "Input tensor and index tensor must have the same rank. "
        f"Got input rank = {len(input)}, index rank = {len(index)}",
    )
    require(
        bool(input),
        f"Input tensor and index tensor must have rank >= 1. Got rank = {len(input)}",
    )


def check_scatter(op: Verified) -> None:
    """Elements written at indices along a dimension."""
    input, index, source = (op.shape(name) for name in ("input", "index", "source"))
    require(
        len(input) == len(index) == len(source),
        "Input tensor, index tensor, and source tensor must have the same rank. "
        f"Got input rank = {len(input)}, index rank = {len(index)}, source rank = {len(source)}",
    )
    require(index == source, "Index tensor must have the same shape as source tensor.")


def check_embedding(op: Verified) -> None:
    """Rows of a table, whose dimensions but the last two have extent 1."""
    indices, table = (tensor_type(value).get_shape() for value in op.op.operands[:2])
    require(
        len(indices) <= 2, f"input must be at most a 2D tensor, got {len(indices)}D ranked tensor"
    )
    require(len(table) >= 2, f"weight must be at least 2D tensor, got {len(table)}D ranked tensor")
    require(all(extent == 1 for extent in table[:-2]), "weight must be effectively 2D tensor")
    expected = (*indices, table[-1])
    require(
        expected == op.result(),
        f"expected output shape of ({join(expected)}) but got ({join(op.result())})",
    )


def check_embedding_backward(op: Verified) -> None:
    """The gradient of an embedding by its table."""
    require(op.rank("input") == 2, "Input must be a 2D tensor")
    require(
        op.element("in_gradient") == op.result_element(),
        "Input gradient and output must have the same dtype",
    )
    require(op.shape("weight") == op.result(), "Output must have the same shape as weight")


def check_ttnn_embedding_backward(op: Verified) -> None:
    """The same, with the gradient as the library takes it: one row for each picked one."""
    gradient, picked = op.shape("in_gradient"), op.shape("input")
    # Two dimensions are those of 2025, which the lowering writes.
    if len(picked) != 2:
        require(picked[-1] % 32 == 0, "Input's last dim must be divisible by TILE_WIDTH")
        require(len(picked) == 4, "Input index tensor must be a 4D tensor")
        require(
            picked[1:3] == (1, 1),
            "Input index tensor dims 1 and 2 must be 1, got shape (B, ?, ?, N) where ? must be 1",
        )
    require(len(gradient) == 4, "Input gradient must be a 4D tensor")
    require(gradient[:2] == (1, 1), "Input gradient must be in the form (1, 1, R, C)")
    require(
        gradient[2] == picked[0] * picked[-1],
        "Input gradient dim 2 must equal index_shape[0] * index_shape[-1]",
    )
    require(
        gradient[3] == op.shape("weight")[-1],
        "Input gradient second dimension must match the second dimension of the weight tensor",
    )
    require(
        op.element("in_gradient") == op.result_element(),
        "Input gradient and output must have the same dtype",
    )
    weight = op.shape("weight")
    expected = (*(1,) * (4 - len(weight)), *weight)
    require(
        op.result() in (weight, expected),
        f"expected output shape of ({join(expected)}) but got ({join(op.result())})",
    )


# --- Order ----------------------------------------------------------------------------------------


def check_sort(op: Verified) -> None:
    """Numbers in order along a dimension, and their places."""
    shape, dim = op.shape("input"), op.integer("dim", -1)
    rank = len(shape)
    require(
        -rank <= dim < rank,
        f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})",
    )
    require(
        (op.result(), op.result_element()) == (shape, op.element("input")),
        "Sorted tensor type does not match with input tensor.",
    )
    require(op.result(1) == shape, "Indices shape does not match with input tensor shape.")
    require(
        op.op.name.startswith("ttir.") or is_integer(op.result_element(1)),
        f"Expected integer data type for indices but got {spell(op.result_element(1))}",
    )


def check_topk(op: Verified) -> None:
    """The largest or smallest numbers along a dimension, and their places."""
    shape, dim, count = op.shape("input"), op.integer("dim", -1), op.integer("k")
    rank = len(shape)
    require(
        -rank <= dim < rank,
        f"specified dimension should be between {-rank} and {rank - 1}, but got: {dim}",
    )
    require(
        1 <= count <= shape[dim],
        f"K should be between 1 and the size of the specified dimension ({dim % rank}), but got: "
        f"{count}",
    )


# --- Creation -------------------------------------------------------------------------------------


def check_full(op: Verified) -> None:
    """The shape that the parameter says."""
    shape = op.integers("shape")
    require(shape == op.result(), f"expected shape ({join(op.result())}), got ({join(shape)})")


def check_ttnn_created(op: Verified) -> None:
    """The shape that the parameter says."""
    shape = tuple(extent.data for extent in op.get("shape").shape)
    require(
        shape == op.result(),
        f"Output tensor shape must be {join(shape)}, but got {join(op.result())}",
    )


def check_arange(op: Verified) -> None:
    """Numbers with equal distances along a dimension."""
    start, end, step = (op.integer(name) for name in ("start", "end", "step"))
    said = f"start={start}, end={end}, step={step}"
    require(step != 0, "Step value cannot be zero")
    count = (end - start) // step
    require(count > 0, f"Invalid range: {said}")
    dim = op.integer("arange_dimension")
    require(0 <= dim < len(op.result()), f"arange_dimension {dim} is no dimension of the output")
    found = op.result()[dim]
    require(
        found in (*_counts(op), DYNAMIC_INDEX),
        f"Output tensor shape must be {count} at dim {dim} (since {said}), but got {found}",
    )


def _counts(op: Verified) -> tuple[int, int]:
    """How many numbers there are; a last step that reaches the end in part may count, too."""
    start, end, step = (op.integer(name) for name in ("start", "end", "step"))
    return (end - start) // step, -((start - end) // step)


def check_ttnn_arange(op: Verified) -> None:
    """Numbers with equal distances."""
    start, end, step = (op.integer(name) for name in ("start", "end", "step"))
    require(step != 0, "Step value cannot be zero")
    count = (end - start) // step
    require(count > 0, f"Invalid range: start={start}, end={end}, step={step}")
    require(
        op.result() in {(number,) for number in _counts(op)},
        f"Output tensor shape must be {count}, but got {join(op.result())}",
    )


def check_rand(op: Verified) -> None:
    """The shape that the parameter says, and bounds in order."""
    size, attr = op.get("size"), op.op.properties["size"]
    require(op.get("low", 0.0) < op.get("high", 1.0), "'low' value must be < 'high' value.")
    require(
        size == op.result(),
        f"Size argument does not match with output tensor shape. [Size = {text(attr)}, output "
        f"tensor shape = ({join(op.result())})].",
    )


def check_ttnn_rand(op: Verified) -> None:
    """The shape that the parameter says, and bounds in order."""
    size = tuple(extent.data for extent in op.get("size").shape)
    require(op.get("low", 0.0) < op.get("high", 1.0), "'low' value must be < 'high' value")
    require(
        size == op.result(),
        f"size argument does not match with output tensor shape. [Size = ({join(size)}), "
        f"output tensor shape = ({join(op.result())})]",
    )


def check_dropout(op: Verified) -> None:
    """A probability, a factor, and a tensor of two to four dimensions."""
    before, after = op.value("input").type, op.op.results[0].type
    require(
        before == after,
        "Input tensor type does not match with output tensor type. [Input tensor type = "
        f"{spell(before)}, output tensor type = {spell(after)}].",
    )
    rank, prob, scale = op.rank("input"), op.get("prob"), op.get("scale")
    require(2 <= rank <= 4, f"Input tensor rank must be 2, 3, or 4, but got {rank}")
    require(0.0 <= prob <= 1.0, f"Probability must be in range [0.0, 1.0], but got {prob}")
    require(scale > 0.0, f"Scale must be positive, but got {scale}")
