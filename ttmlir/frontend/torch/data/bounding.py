"""Programs whose shapes depend on data, as programs of fixed shapes.

    y = x[mask]; z[mask] = f(y)      all rows of x, of which those with a true mask count

torch traces such programs with sizes that it calls u0, u1, ...; they are interpreted once more,
with the largest sizes there can be, and `Rows` for what has such a size. Loops over what
`nonzero` finds are written out for all places, and what they write counts where it was found.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from ttmlir.frontend.torch.data import selecting
from ttmlir.frontend.torch.data.leaves import is_symbolic, is_tensor, leaves, replace_leaves
from ttmlir.frontend.torch.data.rows import (
    Axis,
    Count,
    Masks,
    Rows,
    align,
    highest,
    lowest,
    made,
    rows_of,
)
from ttmlir.frontend.torch.data.turns import BEGIN, END
from ttmlir.frontend.torch.elements import torch_package
from ttmlir.frontend.torch.places import refuse_node
from ttmlir.frontend.torch.support import instead_of
from ttmlir.frontend.torch.training.holding import hold

REMEDY = "as those of x[mask] and nonzero do; torch.where(mask, x, other) keeps the shape"

_LOST = (
    "what a turn of a loop over the places of a mask computes is used behind it, where it is not "
    "known how many turns there were; let the loop write to a tensor that was made in front of it: "
    "total += ..., out.index_add_(...), out[i] = ..."
)


def has_unknown_sizes(graph: Any) -> bool:
    """True for a program with shapes that depend on data, or with loops over places."""
    return any(
        BEGIN in str(node.target)
        or any(_unknown_dims(meta) for meta in leaves(node.meta.get("val")))
        for node in graph.nodes
        if node.op == "call_function"
    )


def _unknown_dims(meta: Any) -> list[int]:
    """The dimensions of a tensor whose extents torch does not know."""
    if not is_tensor(meta):
        return []
    return [dim for dim, extent in enumerate(meta.shape) if _expression(extent) is not None]


def _expression(extent: Any) -> Any:
    """What torch knows of an extent; None if that is its number."""
    if not is_symbolic(extent) or extent.node.maybe_as_int() is not None:
        return None
    return extent.node.expr


def create_bounded(exported: Any) -> Any:
    """A module with the state and results of an exported program, in which all sizes are known."""
    torch = torch_package()
    graph: Any = exported.module(check_guards=False)
    state = {**dict(graph.named_parameters()), **dict(graph.named_buffers())}

    class Bounded(torch.nn.Module):
        def forward(self, *args: Any, **kwargs: Any) -> Any:
            named = {**dict(self.named_parameters()), **dict(self.named_buffers())}
            values = torch.utils._pytree.tree_leaves((args, kwargs))
            with torch.fx.traceback.preserve_node_meta():
                results = _Bounding(graph, named).run(values)
            return torch.utils._pytree.tree_unflatten(results, exported.call_spec.out_spec)

    return hold(Bounded(), state)


class _Bounding:
    """One walk over a graph of torch, with rows for tensors of unknown sizes."""

    def __init__(self, graph: Any, named: Mapping[str, Any]) -> None:
        self._module = graph
        self._named = named
        self._env: dict[Any, Any] = {}
        self._masks = Masks()
        self._guard: Any = None
        self._wrote = False
        self._turn = 0
        self._turns: dict[Any, int] = {}

    def run(self, inputs: Sequence[Any]) -> list[Any]:
        """The results for these arguments."""
        results = self._walk(self._module, inputs)
        for node, value in results:
            if isinstance(value, Rows):
                self._refuse(node, "the result has a shape that")
        return [_as_tensor(value) for _, value in results]

    def _walk(self, module: Any, inputs: Sequence[Any]) -> list[tuple[Any, Any]]:
        """What a graph returns, with the nodes that compute it."""
        given = iter(inputs)
        for node in module.graph.nodes:
            if node.op == "placeholder":
                self._env[node] = next(given)
            elif node.op == "get_attr":
                self._env[node] = self._attribute(module, node.target)
            elif node.op == "call_function":
                with torch_package().fx.traceback.set_current_meta(node):
                    self._env[node] = self._call(node)
                self._turns[node] = self._turn if self._guard is not None else 0
            elif node.op == "output":
                return [(each, self._value(each)) for each in leaves(node.args[0])]
        raise AssertionError("graphs end with their results")

    def _attribute(self, module: Any, name: str) -> Any:
        if name in self._named:
            return self._named[name]
        found = module
        for part in name.split("."):
            found = getattr(found, part)
        return found

    # -- calls ---------------------------------------------------------------------------------

    def _call(self, node: Any) -> Any:
        name = _name_of(node)
        if name == BEGIN:
            return self._begin(node)
        if name == END:
            self._end(node)
            self._guard = None
            return None
        if "assert" in name or name.startswith("sym_constrain"):
            return None
        self._check_turns(node)
        args = replace_leaves(tuple(node.args), self._value)
        kwargs = replace_leaves(dict(node.kwargs), self._value)
        if self._guard is not None and _writes(node):
            return self._write(node, name, args, kwargs)
        return self._compute(node, name, args, kwargs)

    def _value(self, argument: Any) -> Any:
        return self._env[argument] if hasattr(argument, "op") else argument

    def _compute(self, node: Any, name: str, args: Any, kwargs: Any) -> Any:
        if name in _REGIONS:
            # What is in `with torch.no_grad():` is a graph of its own.
            return [
                value for _, value in self._walk(args[_REGIONS[name]], args[_REGIONS[name] + 1 :])
            ]
        values = leaves([*args, *kwargs.values()])
        is_special = any(isinstance(each, Rows | Count) for each in values)
        makes = any(_unknown_dims(meta) for meta in leaves(node.meta.get("val")))
        if name in ("item", "_local_scalar_dense"):
            return Count(args[0])
        if not is_special and not makes:
            return node.target(*args, **kwargs)
        if not hasattr(node.target, "_schema"):
            return self._arithmetic(node, name, args)
        base = name.removesuffix("_") if _writes(node) else name
        call = selecting.Selection(node, base, args, kwargs, self._masks)
        if base in selecting.HANDLERS:
            found = selecting.HANDLERS[base](call)
            if found is not None:
                return self._written(node, args, found)
        return self._spread(node, base, args, kwargs)

    def _written(self, node: Any, args: Any, found: Any) -> Any:
        if not _writes(node):
            return found
        target = args[0]
        if isinstance(target, Rows):
            target.data.copy_(rows_of(found).data)
        else:
            target.copy_(found)
        return target

    def _arithmetic(self, node: Any, name: str, args: Any) -> Any:
        """Of sizes, and of items of lists."""
        if name == "getitem":
            return args[0][args[1]]
        if any(isinstance(each, Rows) for each in args):
            self._refuse(node)
        given = [each.tensor if isinstance(each, Count) else each for each in args]
        torch = torch_package()
        function: Callable[..., Any] | None = _ARITHMETIC.get(name) or getattr(torch, name, None)
        if function is None:
            return node.target(*given)
        return Count(function(*given))

    # -- operations of each row ----------------------------------------------------------------

    def _spread(self, node: Any, name: str, args: Any, kwargs: Any) -> Any:
        """An operation that computes rows apart, or that leaves out those that do not count."""
        torch = torch_package()
        if name in _ELEMENTWISE or torch.Tag.pointwise in node.target.tags:
            return self._elementwise(node, args, kwargs)
        if name in _EXTREMES_WITH_PLACES:
            args = replace_leaves(args, _compacted)
        axes = self._axes_by_size(node)
        if name in _SORTS:
            return self._sort(node, name, args[0])
        kept = {axis for axis in self._result_axes(node, axes) if axis is not None}
        fill = self._fill_of(node, name, kept, args)
        mean = name == "mean"
        data = replace_leaves(args, lambda each: _plain(each, fill))
        more = replace_leaves(kwargs, lambda each: _plain(each, fill))
        if mean:
            return self._mean(node, args[0], data, more, axes)
        if any(isinstance(each, Count) for each in leaves([*data, *more.values()])):
            data = replace_leaves(data, _as_tensor)
            more = replace_leaves(more, _as_tensor)
        # The overload may be another one, with a tensor in the place of a number.
        result = node.target.overloadpacket(*data, **more)
        return self._as_rows(node, result, axes, data, args)

    def _fill_of(self, node: Any, name: str, kept: set[Axis], args: Any) -> Any:
        """The number that makes no difference, or a function of a type; None if none is needed."""
        rows = [each for each in leaves([*args]) if isinstance(each, Rows)]
        if name in _VIEWS:
            return None
        if name in _ALONG:
            return _ALONG[name]
        if name in _REDUCTIONS:
            return _REDUCTIONS[name]
        lost = any(axis not in kept for each in rows for axis in each.axes.values())
        first = all(not dim for each in rows for dim in each.axes)
        is_batch = name in _BATCHED and all(each.data.dim() >= _BATCHED[name] for each in rows)
        trains = name == "batch_norm" and bool(args[5])
        if lost or not (name in _ROWWISE or (is_batch and first and not trains)):
            self._refuse(node)
        if name in _ALONG_ONE and any(self._along(node, name, each) in each.axes for each in rows):
            self._refuse(node)
        return None

    def _along(self, node: Any, name: str, rows: Rows) -> int:
        call = selecting.Selection(node, name, node.args, node.kwargs, self._masks)
        dim = call.get("dim", -1)
        return (dim if isinstance(dim, int) else -1) % rows.data.dim()

    def _sort(self, node: Any, name: str, rows: Any) -> Any:
        torch = torch_package()
        if not isinstance(rows, Rows):
            self._refuse(node)
        call = selecting.Selection(node, name, node.args, node.kwargs, self._masks)
        descends, dim = bool(call.get("descending", False)), self._along(node, name, rows)
        if dim in rows.axes:
            rows = rows.compact(dim)
        edge = lowest if descends else highest
        found = torch.sort(
            rows.fill(edge(rows.data.dtype), [dim]), dim=dim, descending=descends, stable=True
        )
        results = [Rows(each, rows.axes) for each in found]
        return results[1] if name == "argsort" else results

    def _mean(self, node: Any, given: Any, data: Any, more: Any, axes: Any) -> Any:
        torch = torch_package()
        rows = rows_of(given)
        rank = rows.data.dim()
        dims = data[1] if len(data) > 1 and data[1] else list(range(rank))
        dims = [dim % rank for dim in dims]
        keep = bool(data[2]) if len(data) > 2 else bool(more.get("keepdim"))
        count: Any = 1
        for dim in dims:
            count = count * (rows.axes[dim].count() if dim in rows.axes else rows.data.shape[dim])
        total = torch.sum(data[0], dims, keep, dtype=more.get("dtype"))
        return self._as_rows(node, total / count, axes, data, (given,))

    def _elementwise(self, node: Any, args: Any, kwargs: Any) -> Any:
        places = [each for each in leaves([*args]) if is_tensor(each) or isinstance(each, Rows)]
        more = {k: v.tensor if isinstance(v, Count) else v for k, v in kwargs.items()}
        tensors, axes = align(places)
        given = dict(zip(map(id, places), tensors, strict=True))
        data = replace_leaves(args, lambda each: given.get(id(each), _as_tensor(each)))
        return made(node.target.overloadpacket(*data, **more), axes)

    # -- sizes ---------------------------------------------------------------------------------

    def _axes_by_size(self, node: Any) -> dict[Any, Axis]:
        """The axes of arguments by what torch calls their sizes."""
        found: dict[Any, Axis] = {}
        for argument in node.all_input_nodes:
            value, meta = self._env[argument], argument.meta.get("val")
            if isinstance(value, Count) and value.axis is not None:
                found[_expression(meta)] = value.axis
            elif isinstance(value, Rows):
                for dim, axis in value.axes.items():
                    size = _expression(meta.shape[dim])
                    if found.setdefault(size, axis) is not axis:
                        self._refuse(node)
        return found

    def _result_axes(self, node: Any, axes: Mapping[Any, Axis]) -> list[Axis | None]:
        metas = [meta for meta in leaves(node.meta.get("val")) if is_tensor(meta)]
        sizes = [_expression(extent) for meta in metas for extent in meta.shape]
        return [axes.get(size) for size in sizes if size is not None]

    def _as_rows(
        self, node: Any, result: Any, axes: Mapping[Any, Axis], data: Any, args: Any
    ) -> Any:
        metas = iter(leaves(node.meta.get("val")))

        def rows(each: Any) -> Any:
            meta = next(metas)
            if not is_tensor(each):
                return each
            found: dict[int, Axis] = {}
            for dim in _unknown_dims(meta):
                axis = axes.get(_expression(meta.shape[dim]))
                if axis is None or axis.size != each.shape[dim]:
                    axis = self._axis_of_view(node, dim, data, args)
                found[dim] = axis
            return made(each, found)

        return replace_leaves(result, rows)

    def _axis_of_view(self, node: Any, dim: int, data: Any, args: Any) -> Axis:
        """The axis of a dimension that several have become: of what counts, the same view."""
        if _name_of(node) not in _VIEWS or not isinstance(args[0], Rows):
            self._refuse(node)
        torch = torch_package()
        valid = args[0].valid().expand(args[0].data.shape).to(torch.int64)
        view = node.target(valid, *data[1:])
        others = [each for each in range(view.dim()) if each != dim]
        return Axis((view.amax(others) if others else view) > 0)

    # -- loops ---------------------------------------------------------------------------------

    def _begin(self, node: Any) -> Any:
        mask, number = self._value(node.args[0]), node.args[1]
        if isinstance(mask, Rows):
            self._refuse(node)
        self._end(node)
        self._turn += 1
        self._wrote = False
        self._guard = mask.reshape(-1).select(0, number) != 0
        self._turns[node] = self._turn
        torch = torch_package()
        places: list[int] = []
        for extent in reversed(mask.shape):
            places.append(number % extent)
            number //= extent
        return torch.tensor(places[::-1], dtype=torch.int64)

    def _end(self, node: Any) -> None:
        """A turn without effect has left its place in a variable of Python's."""
        if self._guard is not None and not self._wrote:
            refuse_node(node, _LOST)

    def _check_turns(self, node: Any) -> None:
        """What a turn of a loop computes is lost, for it may not happen; what it writes is kept."""
        for argument in node.all_input_nodes:
            turn = self._turns.get(argument, 0)
            if turn and turn != (self._turn if self._guard is not None else 0):
                if _writes(argument):
                    continue
                refuse_node(node, _LOST)

    def _write(self, node: Any, name: str, args: Any, kwargs: Any) -> Any:
        """A write in a turn of a loop that may not happen."""
        torch = torch_package()
        self._wrote = True
        target = args[0]
        if isinstance(target, Rows):
            written = self._compute(
                node, name, (Rows(target.data.clone(), target.axes), *args[1:]), kwargs
            )
            new, old = rows_of(written).data, target.data
        else:
            new = rows_of(self._compute(node, name, (target.clone(), *args[1:]), kwargs)).data
            old = target
        old.copy_(torch.where(self._guard, new, old))
        return target

    def _refuse(self, node: Any, beginning: str = "") -> NoReturn:
        metas = leaves([each.meta.get("val") for each in (*node.all_input_nodes, node)])
        unknown = [meta for meta in metas if _unknown_dims(meta)]
        shape = "x".join(map(str, unknown[-1].shape)) if unknown else "of a result"
        reason = f"{beginning or f'the shape {shape}'} depends on the numbers in a tensor, {REMEDY}"
        refuse_node(node, instead_of(str(node.target)) or reason)


def _name_of(node: Any) -> str:
    target = node.target
    return (
        target._opname if hasattr(target, "_opname") else getattr(target, "__name__", str(target))
    )


def _writes(node: Any) -> bool:
    """True for an operation that changes its first argument."""
    schema = getattr(node.target, "_schema", None)
    return schema is not None and schema.is_mutable and _name_of(node).endswith("_")


def _plain(value: Any, fill: Any) -> Any:
    if isinstance(value, Rows):
        number = fill(value.data.dtype) if callable(fill) else fill
        return value.data if number is None else value.fill(number)
    if isinstance(value, Count) and value.axis is not None:
        return value.axis.size
    return value


def _as_tensor(value: Any) -> Any:
    return value.tensor if isinstance(value, Count) else value


def _compacted(value: Any) -> Any:
    if isinstance(value, Rows):
        for dim in value.axes:
            value = value.compact(dim)
    return value


def _real(number: Any) -> Any:
    return number.to(torch_package().get_default_dtype())


_ARITHMETIC: dict[str, Callable[..., Any]] = {
    **{name: getattr(operator, name) for name in ("truediv", "floordiv", "mod")},
    "sym_float": _real,
}
_ELEMENTWISE = (
    *("to", "_to_copy", "type_as", "clone", "contiguous", "detach", "alias", "dropout", "lift"),
    *("silu", "relu", "relu6", "selu", "celu", "elu", "gelu", "hardtanh", "hardswish", "mish"),
    *("leaky_relu", "zeros_like", "ones_like", "full_like", "copy", "where", "masked_fill"),
    *("float_power", "square", "clamp", "lift_fresh_copy", "expand_as", "feature_dropout"),
    *("log_sigmoid", "softplus", "threshold", "fill", "zero"),
)
_VIEWS = (
    *("view", "reshape", "_unsafe_view", "flatten", "unflatten", "squeeze", "unsqueeze", "permute"),
    *("transpose", "t", "movedim", "expand", "repeat", "select", "slice", "narrow", "unbind"),
    *("split", "chunk", "swapaxes", "swapdims", "mT", "numpy_T", "split_with_sizes", "ravel"),
)
_ALONG_ONE = ("topk", "gather", "index_select", "glu", "cumprod", "cummax", "cummin")
"""Operations along a dimension, of which all places have to count."""
_ROWWISE = (
    *_ALONG_ONE,
    *("layer_norm", "rms_norm", "embedding", "one_hot", "stack", "cat", "constant_pad_nd", "pad"),
    *("new_zeros", "new_ones", "new_full", "full", "zeros", "ones", "cdist", "bilinear"),
)
"""Operations of each row where they keep the dimensions of rows."""
_BATCHED = {
    **{"conv1d": 3, "conv2d": 4, "conv3d": 5, "convolution": 3, "group_norm": 2, "batch_norm": 2},
    **{"max_pool1d": 3, "max_pool2d": 4, "avg_pool1d": 3, "avg_pool2d": 4, "instance_norm": 3},
    **{"adaptive_avg_pool2d": 4, "scaled_dot_product_attention": 3},
}
"""Operations of each item of a batch, and the least dimensions that they have with a batch."""
_ALONG: dict[str, Any] = {"cumsum": 0, "softmax": lowest, "log_softmax": lowest, "_softmax": lowest}
"""Operations along rows that keep them, and the number that makes no difference to the others."""
_REDUCTIONS: dict[str, Any] = {
    **dict.fromkeys(("sum", "mean", "nansum", "count_nonzero", "norm", "linalg_vector_norm"), 0),
    **dict.fromkeys(("linear", "matmul", "mm", "bmm", "addmm", "baddbmm", "einsum"), 0),
    **dict.fromkeys(("amax", "max", "argmax", "logsumexp"), lowest),
    **dict.fromkeys(("amin", "min", "argmin"), highest),
    "prod": 1,
    "any": False,
    "all": True,
}
"""The number that leaves the results of operations on several rows as they are."""
_REGIONS = {"wrap_with_set_grad_enabled": 1, "wrap_with_autocast": 4}
"""Operations that call graphs, and where among their arguments those are."""
_SORTS = ("sort", "argsort")
_EXTREMES_WITH_PLACES = ("argmax", "argmin", "max", "min")
