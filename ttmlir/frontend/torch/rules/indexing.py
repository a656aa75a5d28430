"""ATen operations that look elements up by numbers that are themselves tensors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from ttmlir.arrays.array import Array
from ttmlir.arrays.carriers import array_of
from ttmlir.composites import indexing
from ttmlir.composites.statistics import norm
from ttmlir.frontend.torch.call import Result, TorchCall, TorchRule, composite
from ttmlir.optable.op_definition import broadcast_shape


def _embedding(weight: Array, indices: Array) -> Array:
    return weight.select(0, indices)


def _index_select(call: TorchCall) -> Result:
    x, index = call.argument("self"), call.argument("index")
    if not x.rank:
        # Whichever index is asked for, there is one.
        return call.results(x.broadcast(call.shape))
    return call.results(indexing.take(x, call["dim"], index))


def _index(call: TorchCall) -> Result:
    return call.results(indexing.read_at(call.argument("self"), _indices(call)))


def _indices(call: TorchCall) -> list[Array | None]:
    """The indices, those that are masks of known numbers turned into numbers."""
    found: list[Array | None] = []
    for index in call.argument("indices"):
        if index is None or index.dtype != "i1":
            found.append(index)
        elif index.carrier.holds_numbers:
            found += map(array_of, index.value.nonzero())
        else:
            call.refuse(
                "a boolean mask selects as many elements as it has true values, which is known "
                "only at run time; torch.where(mask, x, other) keeps the shape"
            )
    return found


def _gather(call: TorchCall) -> Result:
    """The elements of a dimension with these numbers, one for each place of the result."""
    x, index = call.argument("self"), call.argument("index")
    if not x.rank:
        return call.results(x)
    index = index if index.rank else index.reshape((1,))
    for dim, count in enumerate(index.shape):
        if dim != call["dim"] % x.rank:
            x = x.cut(dim, 0, count)
    return call.results(x.gather(call["dim"], index))


def _unfold(call: TorchCall) -> Result:
    """The windows of a dimension, put at the end."""
    x = call.argument("self")
    if not x.rank:
        return call.results(x)
    dim = call["dimension"] % x.rank
    return call.results(indexing.unfold(x, dim, call["size"], call["step"]))


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


def _write_slices(call: TorchCall, combine: indexing.Combine | None) -> Result:
    """Slices along a dimension that are combined with those of the tensor, or replace them."""
    x, index, source = map(call.argument, ("self", "index", "source"))
    if call.arguments.get("alpha", 1) != 1:
        source = source * call["alpha"]
    keep = call.arguments.get("include_self", True)
    found = indexing.combine_slices(x, call["dim"], index, source, combine, keep=keep)
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


def _index_put(call: TorchCall) -> Result:
    """A tensor with elements replaced, or added to, at the places that `indices` select."""
    x, values = call.argument("self"), call.argument("values")
    values, accumulate = values.cast(x.dtype), call["accumulate"]
    given = [(dim, each) for dim, each in enumerate(call.argument("indices")) if each is not None]
    if len(given) == 1 and given[0][1].dtype == "i1":
        ((dim, mask),) = given
        after = x.rank - dim - mask.rank
        is_alike = values.rank <= after or values.shape[-1 - after] == 1
        if is_alike and not mask.carrier.holds_numbers:
            found = indexing.write_where(x, mask, dim, values, accumulate=accumulate)
            return call.results(found)
    combine = "add" if accumulate else ""
    return call.results(indexing.write_at(x, _indices(call), values, combine))


RULES: dict[str, TorchRule] = {
    "_embedding_bag": _embedding_bag,
    "_embedding_bag_backward": _embedding_bag_backward,
    "_embedding_bag_dense_backward": _embedding_bag_backward,
    "_embedding_bag_forward_only": _embedding_bag,
    "_embedding_bag_per_sample_weights_backward": composite(
        indexing.differentiate_factors, "grad", "weight", "indices", "offsets", "padding_idx"
    ),
    "embedding": composite(_embedding, "weight", "indices"),
    "embedding_renorm": _embedding_renorm,
    "gather": _gather,
    "index.Tensor": _index,
    "index_add": partial(_write_slices, combine=indexing.Combine.ADD),
    "index_copy": partial(_write_slices, combine=None),
    "index_put": _index_put,
    "index_reduce": lambda call: _write_slices(call, _REDUCTIONS[str(call["reduce"])]),
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
