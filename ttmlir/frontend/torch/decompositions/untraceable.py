"""Functions of torch that look at numbers while it traces them, replaced for that time.

Some compute by what they find. Others look for mistakes, and do nothing but raise an error if there
is one: a compiled model leaves that out, as Python leaves out assertions with `-O`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from importlib import import_module
from inspect import signature
from operator import attrgetter
from typing import Any

from ttmlir.errors import ArgumentError
from ttmlir.frontend.torch.decompositions.ctc import ctc_loss
from ttmlir.frontend.torch.decompositions.lists import add_scaled_by_tensor
from ttmlir.frontend.torch.decompositions.packed_sequences import pack_padded_sequence
from ttmlir.frontend.torch.decompositions.segments import count_numbers, reduce_segments
from ttmlir.frontend.torch.elements import torch_package
from ttmlir.frontend.torch.replacing import attributes_replaced


def own_functions() -> dict[Any, Any]:
    """What stands for functions and methods that torch cannot trace."""
    torch = torch_package()
    return {
        owner: function
        for name, function in _UNTRACEABLE.items()
        for owner in (attrgetter(name)(torch), getattr(torch.Tensor, name, None))
    }


@contextmanager
def replace_untraceable() -> Generator[None]:
    """Let functions and methods that torch cannot trace be ours, and distributions not validate."""
    torch = torch_package()
    replacements = own_functions()

    class Replacing(torch.overrides.TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return replacements.get(func, func)(*args, **(kwargs or {}))

    with replace_methods(), Replacing():
        yield


@contextmanager
def replace_methods() -> Generator[None]:
    """Let no distribution validate, and methods that are called by torch's own code be ours."""
    with ExitStack() as stack:
        stack.enter_context(_no_validation())
        for path, function in _METHODS.items():
            owner, _, name = path.rpartition(".")
            home = attrgetter(owner)(torch_package())
            stack.enter_context(attributes_replaced(home, {name: function}))
        yield


def _no_validation() -> AbstractContextManager[None]:
    """Let no distribution look at its parameters and samples, also those that are asked to."""
    base = torch_package().distributions.Distribution

    def write(distribution: Any, value: bool) -> None:
        vars(distribution)["_validate_args"] = value

    return attributes_replaced(base, {"_validate_args": property(lambda _: False, write)})


# -- normal distributions, whose variances torch checks while it traces ------------------------


def _gaussian_nll_loss(
    x: Any,
    target: Any,
    var: Any,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Any:
    """Half of log(var) + (x - target)^2 / var; a smaller variance than `eps` counts as `eps`."""
    torch = torch_package()
    var = torch.as_tensor(var, dtype=x.dtype)
    if var.dim() and var.shape != x.shape:
        if var.shape == x.shape[:-1]:
            var = var.unsqueeze(-1)
        elif var.shape != (*x.shape[:-1], 1):
            raise ArgumentError(f"var of shape {tuple(var.shape)} for an input of {tuple(x.shape)}")
    # torch does not differentiate that.
    var = var + (torch.clamp(var, min=eps) - var).detach()
    loss = (var.log() + (x - target).square() / var) / 2
    if full:
        loss = loss + math.log(2 * math.pi) / 2
    reductions = {"none": lambda: loss, "mean": loss.mean, "sum": loss.sum}
    if reduction not in reductions:
        raise ArgumentError(f"{reduction} is not valid")
    return reductions[reduction]()


# -- covariances and combinations --------------------------------------------------------------


def _cov(x: Any, *, correction: int = 1, fweights: Any = None, aweights: Any = None) -> Any:
    """How the rows of numbers change together: sums of products of their distances to the means.

    As in `torch.cov`: a column counts `fweights` times, with the importance `aweights`.
    """
    torch = torch_package()
    rows = x.unsqueeze(0) if x.dim() < 2 else x
    weights = None
    if fweights is not None:
        weights = fweights.to(x.dtype)
    if aweights is not None:
        weights = aweights.to(x.dtype) if weights is None else weights * aweights
    if weights is None:
        count = rows.shape[1]
        mean = rows.mean(1, keepdim=True)
        distances = rows - mean
        weighted = distances
        divisor: Any = max(count - correction, 0)
    else:
        total = weights.sum()
        distances = rows - (rows * weights).sum(1, keepdim=True) / total
        weighted = distances * weights
        lost = correction
        if aweights is not None and correction:
            lost = correction * (weights * aweights).sum() / total
        divisor = torch.clamp(total - lost, min=0)
    return (weighted @ distances.T / divisor).squeeze()


def _corrcoef(x: Any) -> Any:
    """The covariances of rows divided by their deviations, between -1 and 1."""
    torch = torch_package()
    covariances = _cov(x)
    if covariances.dim() == 0:
        return covariances / covariances
    deviations = covariances.diagonal().sqrt()
    scaled = covariances / deviations.unsqueeze(1) / deviations.unsqueeze(0)
    return torch.clamp(scaled, -1, 1)


def _combinations(x: Any, r: int = 2, with_replacement: bool = False) -> Any:
    """All choices of `r` of some numbers, a row for each."""
    torch = torch_package()
    chosen = (
        itertools.combinations_with_replacement(range(len(x)), r)
        if with_replacement
        else itertools.combinations(range(len(x)), r)
    )
    places = torch.tensor(list(chosen), dtype=torch.int64).reshape(-1, r)
    return x[places]


# -- least squares -----------------------------------------------------------------------------


def _lstsq(a: Any, b: Any, *, rcond: Any = None, driver: Any = None) -> Any:
    """The shortest of the best solutions, by the pseudoinverse, as torch's drivers for any rank.

    Residuals are those of matrices that have full rank and more rows than columns.
    """
    torch = torch_package()
    rows, columns = a.shape[-2:]
    tolerance = max(rows, columns) * torch.finfo(a.dtype).eps if rcond is None else rcond
    values = torch.linalg.svdvals(a)
    rank = (values > values[..., :1] * tolerance).sum(-1)
    is_vector = b.dim() == a.dim() - 1
    sides = b.unsqueeze(-1) if is_vector else b
    solution = torch.linalg.pinv(a, rtol=a.new_full((), tolerance)) @ sides
    left = (sides - a @ solution).square().sum(-2)
    none = a.new_zeros(0)
    return torch.return_types.linalg_lstsq(
        (
            solution.squeeze(-1) if is_vector else solution,
            left if rows > columns and driver in ("gels", "gelsd", "gelss") else none,
            rank if driver != "gels" else none.long(),
            values if driver in ("gelsd", "gelss") else none,
        )
    )


# -- gradients that are asked to be sparse -----------------------------------------------------


@dataclass(frozen=True)
class Lookup:
    """Rows of a table that have a gradient, which torch would keep as a sparse one."""

    table: Any
    rows: Any
    padding: int | None


_NOTES: list[list[Lookup]] = []


@contextmanager
def lookups_noted() -> Generator[list[Lookup]]:
    """A list to which rows are added, as gradients of them are computed while it lasts."""
    found: list[Lookup] = []
    _NOTES.append(found)
    try:
        yield found
    finally:
        _NOTES.pop()


def _dense(name: str) -> Callable[..., Any]:
    """A function of torch with a dense gradient, also where a sparse one is asked for."""

    def function(*args: Any, **keywords: Any) -> Any:
        original = getattr(torch_package().nn.functional, name)
        bound = signature(original).bind(*args, **keywords)
        result = original(**{**bound.arguments, "sparse": False})
        if bound.arguments.get("sparse") and _NOTES and result.requires_grad:
            given, notes = bound.arguments, _NOTES[-1]
            lookup = Lookup(given["weight"], given["input"], given.get("padding_idx"))

            def note(_: Any) -> None:
                notes.append(lookup)

            result.register_hook(note)
        return result

    return function


def _one_hot(tensor: Any, num_classes: int = -1) -> Any:
    """Where numbers are those of classes; torch checks the numbers of tensors from outside."""
    torch = torch_package()
    if num_classes < 0 or tensor.dtype != torch.int64:
        return torch.nn.functional.one_hot(tensor, num_classes)
    classes = torch.arange(num_classes, device=tensor.device)
    return (tensor.unsqueeze(-1) == classes).to(torch.int64)


def _fill_diagonal(x: Any, fill_value: Any, wrap: bool = False) -> Any:
    """`x.fill_diagonal_(n)` by diagonals; torch's own strides may not be those of a view."""
    if x.dim() < 2 or (x.dim() > 2 and len({*x.shape}) > 1):
        # torch says what is wrong.
        return x.fill_diagonal_(fill_value, wrap)
    rows, columns = x.shape[:2]
    step = columns + 1 if wrap and x.dim() == 2 else max(rows, 1)
    for begin in range(0, rows, step):
        part = x[begin : begin + step]
        while part.dim() > 1:
            part = part.diagonal()
        part.fill_(fill_value)
    return x


_UNTRACEABLE: dict[str, Callable[..., Any]] = {
    **{
        f"_foreach_addc{name}{'_' * in_place}": add_scaled_by_tensor(name, in_place=in_place)
        for name in ("div", "mul")
        for in_place in (False, True)
    },
    "Tensor.fill_diagonal_": _fill_diagonal,
    "_pack_padded_sequence": pack_padded_sequence,
    "bincount": count_numbers,
    "combinations": _combinations,
    "corrcoef": _corrcoef,
    "cov": _cov,
    "ctc_loss": ctc_loss,
    "linalg.lstsq": _lstsq,
    "nn.functional.ctc_loss": ctc_loss,
    "nn.functional.embedding": _dense("embedding"),
    "nn.functional.embedding_bag": _dense("embedding_bag"),
    "nn.functional.gaussian_nll_loss": _gaussian_nll_loss,
    "nn.functional.one_hot": _one_hot,
    "segment_reduce": reduce_segments,
}


def _adaptive_log_softmax(module: Any, input_: Any, target_: Any) -> Any:
    """`AdaptiveLogSoftmaxWithLoss` by the probabilities of all classes.

    torch computes those of the clusters that targets are in, which it looks for.
    """
    rows = input_.unsqueeze(0) if target_.dim() == 0 else input_
    found = module.log_prob(rows).gather(1, target_.reshape(-1, 1)).squeeze(1)
    loss = -found.mean()
    named = import_module("torch.nn.modules.adaptive")._ASMoutput
    return named(found.squeeze(0) if target_.dim() == 0 else found, loss)


def _linearize(function: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """The value, and a function of tangents, which is computed beside the value once more."""

    def pushforward(*tangents: Any) -> Any:
        return torch_package().func.jvp(function, primals, tangents)[1]

    return function(*primals), pushforward


def _average(averaged: Any, model: Any) -> None:
    """`AveragedModel.update_parameters`, whose first call copies, by computing both."""
    torch = torch_package()
    utils = import_module("torch.optim.swa_utils")

    def tensors_of(owner: Any) -> list[Any]:
        more = owner.buffers() if averaged.use_buffers else ()
        return [each.detach() for each in (*owner.parameters(), *more)]

    count = averaged.n_averaged
    kept, given = tensors_of(averaged.module), tensors_of(model)
    if averaged.avg_fn is not None and averaged.multi_avg_fn is None:
        new = [averaged.avg_fn(old, each, count) for old, each in zip(kept, given, strict=True)]
    else:
        new = [each.clone() for each in kept]
        (averaged.multi_avg_fn or utils.get_swa_multi_avg_fn())(new, given, count)
    for old, each, mean in zip(kept, given, new, strict=True):
        old.copy_(torch.where(count == 0, each, mean))
    if not averaged.use_buffers:
        for old, each in zip(averaged.module.buffers(), model.buffers(), strict=True):
            old.detach().copy_(each.detach())
    count += 1


def _vmap(
    function: Callable[..., Any], in_dims: Any, out_dims: Any, *rest: Any, **kwargs: Any
) -> Any:
    """`vmap` whose batches torch moves to other dimensions than 0 when they are traced again."""
    trees, home = torch_package().utils._pytree, import_module("torch._functorch.vmap")

    def first_of(dim: Any) -> Any:
        return None if dim is None else 0

    first = trees.tree_map(first_of, out_dims)
    found, spec = trees.tree_flatten(home.vmap_impl(function, in_dims, first, *rest, **kwargs))
    # One result may have its dimension in a tuple.
    given = [out_dims] if isinstance(out_dims, int) else trees.tree_leaves(out_dims)
    is_alone = spec.is_leaf() and len(given) == 1
    dims = given if is_alone else home._broadcast_to_and_flatten(out_dims, spec)
    moved = [x.movedim(0, dim) if dim else x for x, dim in zip(found, dims, strict=True)]
    return trees.tree_unflatten(moved, spec)


def _batch_norm(module: Any, x: Any) -> Any:
    """`forward` of batch norms; without a momentum, statistics are means over all batches so far,
    by a number of batches that torch looks at."""
    torch = torch_package()
    module._check_input_dim(x)
    trains, tracks = module.training, module.track_running_stats
    count: Any = module.num_batches_tracked if trains and tracks else None
    if count is not None:
        count.add_(1)
    kept: list[Any] = [None, None]
    if tracks or not trains:
        kept = [module.running_mean, module.running_var]
    is_mean = count is not None and module.momentum is None
    given = [each.clone() for each in kept] if is_mean else kept
    found = torch.nn.functional.batch_norm(
        *(x, *given, module.weight, module.bias, trains or module.running_mean is None),
        *(1.0 if is_mean else module.momentum or 0.0, module.eps),
    )
    if is_mean:
        with torch.no_grad():
            for old, of_batch in zip(kept, given, strict=True):
                old.add_((of_batch - old) / count)
    return found


_METHODS: dict[str, Callable[..., Any]] = {
    "_functorch.apis.vmap_impl": _vmap,
    "func.linearize": _linearize,
    "nn.AdaptiveLogSoftmaxWithLoss.forward": _adaptive_log_softmax,
    "nn.modules.batchnorm._BatchNorm.forward": _batch_norm,
    "optim.swa_utils.AveragedModel.update_parameters": _average,
}
"""Functions in Python that torch does not announce when they are called."""
