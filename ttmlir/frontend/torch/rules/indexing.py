"""ATen operations that look elements up by numbers that are themselves tensors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import SSAValue

from ttmlir.arrays.array import Array
from ttmlir.composites import indexing
from ttmlir.composites.statistics import norm
from ttmlir.frontend.torch.building import BodyBuilder, Shape
from ttmlir.frontend.torch.call import Known, Result, TorchCall, TorchRule, composite
from ttmlir.frontend.torch.elements import is_boolean, torch_package
from ttmlir.frontend.torch.rules.movement import from_start
from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.optable.row import broadcast_shape

_I64 = IntegerType(64)


def take(build: BodyBuilder, x: SSAValue, dim: int, indices: SSAValue) -> SSAValue:
    """The slices of a dimension with these numbers; their shape takes its place."""
    return build.array(x).select(dim, build.array(indices)).value


def _embedding(call: TorchCall) -> SSAValue:
    return take(call.build, call.tensor("weight"), 0, call.tensor("indices"))


def _index_select(call: TorchCall) -> SSAValue:
    build, x = call.build, call.tensor()
    if not value_shape(x):
        # Whichever place is asked for, there is one.
        return build.broadcast(x, call.shape)
    dim = call.dim(x)
    known = call.known("index")
    if known is not None and (bounds := progression(known)) is not None:
        return build.slice_along(x, dim, *bounds)
    index = call.tensor("index")
    return build.reshape(take(build, x, dim, index), call.shape)


def progression(indices: Any) -> tuple[int, int, int] | None:
    """Begin, end and step of a slice that selects these numbers; None if there is none."""
    if indices.dim() != 1 or not indices.numel():
        return None
    numbers: list[int] = indices.tolist()
    step = numbers[1] - numbers[0] if len(numbers) > 1 else 1
    if step < 1 or numbers[0] < 0:
        return None
    if any(b - a != step for a, b in pairwise(numbers)):
        return None
    return numbers[0], numbers[-1] + 1, step


def _index(call: TorchCall) -> SSAValue:
    build = call.build
    x = call.tensor()
    indices = _without_masks(call, call["indices"])
    dims = [i for i, index in enumerate(indices) if index is not None]
    if not dims:
        return x
    if len(dims) == 1 and isinstance(indices[dims[0]], Known):
        (dim,) = dims
        known = _nonnegative_known(indices[dim].tensor, value_shape(x)[dim])
        if (bounds := progression(known)) is not None:
            return build.slice_along(x, dim, *bounds)
    flat, places = linear_index(
        call, [indices[dim] for dim in dims], [value_shape(x)[d] for d in dims]
    )
    first = dims[0]
    others = [i for i in range(len(value_shape(x))) if i not in dims]
    if dims == list(range(first, first + len(dims))):
        at = first
        shape = value_shape(x)
        merged = (*shape[:at], math.prod(shape[d] for d in dims), *shape[dims[-1] + 1 :])
        x = build.reshape(x, merged)
    else:
        # With other dimensions in between, torch puts those of the indices first.
        at = 0
        x = build.permute(x, [*dims, *others])
        rest = value_shape(x)[len(dims) :]
        x = build.reshape(x, (math.prod(value_shape(x)[: len(dims)]), *rest))
    assert places == value_shape(flat)
    return build.reshape(take(build, x, at, flat), call.shape)


def _without_masks(call: TorchCall, indices: Any) -> list[Any]:
    """The indices, those that are masks of known numbers turned into numbers."""
    found: list[Any] = []
    for index in indices:
        known = isinstance(index, Known)
        is_mask = index is not None and (
            index.tensor.dtype == torch_package().bool if known else is_boolean(element_type(index))
        )
        if not is_mask:
            found.append(index)
        elif known:
            found += [Known(places) for places in index.tensor.nonzero(as_tuple=True)]
        else:
            call.refuse(
                "a boolean mask selects as many elements as it has true values, which is known "
                "only at run time; torch.where(mask, x, other) keeps the shape"
            )
    return found


def _nonnegative_known(indices: Any, extent: int) -> Any:
    indices = indices.to(torch_package().int64)
    return indices + (indices < 0) * extent


def linear_index(call: TorchCall, indices: list[Any], extents: list[int]) -> tuple[SSAValue, Shape]:
    """One number for several indices into dimensions that lie next to each other."""
    build = call.build
    if all(isinstance(index, Known) for index in indices):
        torch = torch_package()
        numbers = torch.zeros((), dtype=torch.int64)
        for index, extent in zip(indices, extents, strict=True):
            numbers = numbers * extent + _nonnegative_known(index.tensor, extent)
        return build.create_tensor(numbers), tuple(numbers.shape)
    total: SSAValue | None = None
    for index, extent in zip(indices, extents, strict=True):
        numbers = from_start(build, build.cast(call.value(index), _I64), extent)
        if total is not None:
            scaled = build.compute("multiply", total, build.create_number(extent, total))
            numbers = build.compute("add", scaled, numbers)
        total = numbers
    assert total is not None
    shape = broadcast_shape(*(_shape_of_argument(index) for index in indices))
    return build.broadcast(total, shape), shape


def _shape_of_argument(index: Any) -> Shape:
    return tuple(index.tensor.shape) if isinstance(index, Known) else value_shape(index)


def _gather(call: TorchCall) -> SSAValue:
    """The elements of a dimension with these numbers, one for each place of the result."""
    build, x, index = call.build, call.tensor(), call.tensor("index")
    if not value_shape(x):
        return build.reshape(x, call.shape)
    dim = call.dim(x)
    index = build.reshape(index, call.shape or (1,))
    for other, count in enumerate(value_shape(index)):
        if other != dim:
            x = build.slice_along(x, other, 0, count)
    return build.reshape(build.create_inferred("gather", x, index, dim=dim), call.shape)


def _unfold(call: TorchCall) -> SSAValue:
    """The windows of a dimension, put at the end."""
    build, x = call.build, call.tensor()
    if not value_shape(x):
        return build.reshape(x, call.shape)
    dim, size, step = call.dim(x, "dimension"), call["size"], call["step"]
    shape, count = value_shape(x), call.shape[call.dim(x, "dimension")]
    if step == size:
        windows = build.slice_along(x, dim, 0, count * size)
    else:
        torch = torch_package()
        places = torch.arange(count).unsqueeze(1) * step + torch.arange(size)
        windows = take(build, x, dim, build.create_tensor(places.reshape(-1)))
    windows = build.reshape(windows, (*shape[:dim], count, size, *shape[dim + 1 :]))
    order = [i for i in range(len(shape) + 1) if i != dim + 1]
    return build.permute(windows, [*order, dim + 1])


# -- writing -----------------------------------------------------------------------------------


def _scatter(combine: str) -> TorchRule:
    return lambda call: call.results(indexing.scatter(*_scatter_operands(call), combine))


def _scatter_operands(call: TorchCall) -> tuple[Array, int, Array, Array]:
    """The tensor, the dimension, the places, and as many elements of the source, or one number."""
    x, index = (
        call.argument(name, element) for name, element in (("self", call.element), ("index", None))
    )
    x, index = (each if each.rank else each.reshape((1,)) for each in (x, index))
    if not call.has("src"):
        return x, call["dim"], index, x.fill(call["value"], index.shape)
    source = call.argument("src", call.element)
    for dim, count in enumerate(index.shape if source.rank else ()):
        source = source.cut(dim, 0, count)
    return x, call["dim"], index, source.reshape(index.shape)


_REDUCTIONS = {
    **dict.fromkeys(("sum", "add"), indexing.Combine.ADD),
    **dict.fromkeys(("prod", "multiply"), indexing.Combine.MULTIPLY),
    "amax": indexing.Combine.MAXIMUM,
    "amin": indexing.Combine.MINIMUM,
    "mean": indexing.Combine.MEAN,
}


def _scatter_reduce(call: TorchCall) -> Result:
    combine, keep = _REDUCTIONS[str(call["reduce"])], bool(call.arguments.get("include_self", True))
    return call.results(indexing.combine_at(*_scatter_operands(call), combine, keep=keep))


def _index_reduce(call: TorchCall) -> Result:
    found = indexing.combine_slices(
        call.argument("self"),
        call["dim"],
        call.argument("index"),
        call.argument("source"),
        _REDUCTIONS[str(call["reduce"])],
        keep=call["include_self"],
    )
    return call.results(found)


def _put(call: TorchCall) -> Result:
    given = map(call.argument, ("self", "index", "source"))
    return call.results(indexing.put_flat(*given, accumulate=call["accumulate"]))


def _masked_scatter(call: TorchCall) -> Result:
    x, mask = (call.argument(name).broadcast(call.shape) for name in ("self", "mask"))
    return call.results(indexing.put_masked(x, mask, call.argument("source")))


def _masked_scatter_backward(call: TorchCall) -> Result:
    given = [call.argument(name) for name in ("grad_output", "mask")]
    shape = broadcast_shape(*(each.shape for each in given))
    gradient, mask = (each.broadcast(shape) for each in given)
    return call.results(indexing.take_masked(gradient, mask, math.prod(call.shape)))


# -- bags of rows ------------------------------------------------------------------------------

_REDUCES: Sequence[indexing.Reduce] = [*indexing.Reduce]
"""In the order of torch's numbers."""


def _embedding_bag(call: TorchCall) -> Result:
    offsets = call.argument("offsets")
    if call["include_last_offset"]:
        offsets = offsets.cut(0, 0, offsets.shape[0] - 1)
    found = indexing.reduce_bags(
        call.argument("weight"),
        call.argument("indices"),
        offsets,
        _REDUCES[int(call["mode"])],
        call.argument("per_sample_weights"),
        call["padding_idx"],
    )
    return call.results(found)


def _embedding_bag_backward(call: TorchCall) -> Result:
    """The gradient of the table, which is dense where torch has a sparse one."""
    indices = call.argument("indices")
    is_given = "offsets" not in call.arguments
    found = indexing.differentiate_table(
        call.argument("grad"),
        indices,
        call.argument("offset2bag")
        if is_given
        else indexing.number_bags(indices.shape[0], call.argument("offsets")),
        call.argument("bag_size"),
        call.argument("maximum_indices"),
        call["num_weights"],
        _REDUCES[int(call["mode"])],
        call.argument("per_sample_weights"),
        call["padding_idx"],
        divide_by_count=call["scale_grad_by_freq"],
    )
    return call.results(found)


def _embedding_renorm(call: TorchCall) -> Result:
    table, longest = call.argument("self"), float(call["max_norm"])
    norms = norm(table, float(call["norm_type"]), [1])
    return call.results(indexing.shorten_rows(table, call.argument("indices"), longest, norms))


# -- writing to several dimensions -------------------------------------------------------------


def _index_put(call: TorchCall) -> SSAValue:
    """A tensor with elements replaced, or added to, at the places that `indices` select."""
    build, x = call.build, call.tensor()
    values = build.cast(call.tensor("values"), element_type(x))
    masked = _masked_put(call, x, values)
    if masked is not None:
        return masked
    indices = _without_masks(call, call["indices"])
    dims = [i for i, index in enumerate(indices) if index is not None]
    extents = [value_shape(x)[dim] for dim in dims]
    flat, places = linear_index(call, [indices[dim] for dim in dims], extents)
    others = [i for i in range(len(value_shape(x))) if i not in dims]
    rest = tuple(value_shape(x)[i] for i in others)
    first = dims[0] if dims == list(range(dims[0], dims[0] + len(dims))) else 0
    # What an access by these indices would give, with the dimensions of the indices in front.
    values = build.broadcast(values, (*rest[:first], *places, *rest[first:]))
    middle = range(first, first + len(places))
    values = build.permute(values, [*middle, *(i for i in _dims(values) if i not in middle)])
    order = [*dims, *others]
    rows, columns, count = math.prod(extents), math.prod(rest), math.prod(places)
    if not count * columns:
        return x
    table = build.reshape(build.permute(x, order), (rows, columns))
    mnemonic = "scatter_add" if call["accumulate"] else "scatter"
    written = build.create_inferred(
        mnemonic,
        table,
        build.reshape(flat, (count, 1)),
        build.reshape(values, (count, columns)),
        dim=0,
    )
    written = build.reshape(written, (*extents, *rest))
    return build.permute(written, [order.index(i) for i in range(len(order))])


def _masked_put(call: TorchCall, x: SSAValue, values: SSAValue) -> SSAValue | None:
    """One number put where a mask is true; None for anything but one mask."""
    build = call.build
    indices: list[Any] = [index for index in call["indices"] if index is not None]
    if len(indices) != 1 or math.prod(value_shape(values)) != 1:
        return None
    (index,) = indices
    if isinstance(index, Known) or not is_boolean(element_type(index)):
        return None
    before: int = call["indices"].index(index)
    after = len(value_shape(x)) - before - len(value_shape(index))
    mask = build.reshape(index, (*value_shape(index), *((1,) * after)))
    number = build.reshape(values, (1,) * len(value_shape(x)))
    if call["accumulate"]:
        number = build.compute("add", x, number)
    return build.compute("where", mask, number, x)


def _dims(value: SSAValue) -> range:
    return range(len(value_shape(value)))


RULES: dict[str, TorchRule] = {
    "_embedding_bag": _embedding_bag,
    "_embedding_bag_backward": _embedding_bag_backward,
    "_embedding_bag_dense_backward": _embedding_bag_backward,
    "_embedding_bag_forward_only": _embedding_bag,
    "_embedding_bag_per_sample_weights_backward": composite(
        indexing.differentiate_factors, "grad", "weight", "indices", "offsets", "padding_idx"
    ),
    "embedding": _embedding,
    "embedding_renorm": _embedding_renorm,
    "gather": _gather,
    "index.Tensor": _index,
    "index_put": _index_put,
    "index_reduce": _index_reduce,
    "index_select": _index_select,
    "masked_scatter": _masked_scatter,
    "masked_scatter_backward": _masked_scatter_backward,
    "nonzero_static": composite(indexing.find_nonzero),
    "put": _put,
    "scatter.reduce": _scatter_reduce,
    "scatter.src": _scatter(""),
    "scatter.value": _scatter(""),
    "scatter.value_reduce": _scatter_reduce,
    "scatter_add": _scatter("add"),
    "scatter_reduce.two": _scatter_reduce,
    "unfold": _unfold,
}
"""Rules by the name of the ATen operation, or of one of its overloads."""
