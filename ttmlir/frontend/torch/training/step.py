"""`ttmlir.train_step`: a step of training as one program, with all that it changes as its state.

step = ttmlir.train_step(model, loss_function, optimizer, images, labels)
for images, labels in batches:
    loss = step(images, labels)
step.load_into(model)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ttmlir.frontend.compiled import CompiledModel
from ttmlir.frontend.dispatch import compile
from ttmlir.frontend.torch.elements import torch_package
from ttmlir.frontend.torch.model import tensor_of
from ttmlir.frontend.torch.training.holding import hold
from ttmlir.frontend.torch.training.optimizers import Group, Moment, Update, find_update
from ttmlir.layout.element_type import PARTS
from ttmlir.runtime.complex_pairs import join
from ttmlir.runtime.errors import InputError
from ttmlir.runtime.signature import names_of_pair

MODEL, OPTIMIZER, COUNT = "model.", "optimizer.", "optimizer.step"
"""Where the state of a step has the model's, the optimizer's, and the number of steps."""


def train_step(
    model: Any,
    loss: Callable[..., Any] | None,
    optimizer: Any,
    *example_batch: Any,
    clip_grad_norm: float | None = None,
    **options: Any,
) -> TrainStep:
    """Compile one step of training: forward, backward, and the update of the parameters.

        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
        step = ttmlir.train_step(model, torch.nn.CrossEntropyLoss(), optimizer, images, labels)
        loss = step(images, labels)

    The last item of a batch is the target: the loss is `loss(model(*batch[:-1]), batch[-1])`. With
    `loss=None` the model returns the loss itself, from the whole batch; if it returns several
    values, the first one is the loss, and a step returns all. The model is trained in the mode that
    it is in (`model.train()`, `model.eval()`).

    Parameters, buffers and what the optimizer keeps are the state of the step: they begin with the
    values that they have now. The model itself changes only by `step.load_into(model)`. The
    optimizer is one of `torch.optim` that moves each element by a formula, such as SGD and AdamW;
    the rates of its groups are read at each step, so that schedulers of torch work as they do
    there. `clip_grad_norm` limits the length of the
    gradient as `torch.nn.utils.clip_grad_norm_` does. `options` are those of `ttmlir.compile`.
    """
    torch = torch_package()
    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"ttmlir.train_step trains a torch.nn.Module, not a {type(model).__name__}")
    if loss is not None and len(example_batch) < 2:
        raise TypeError(
            "ttmlir.train_step(model, loss, optimizer, *example_batch) takes an example of the "
            "model's inputs and, behind them, of the target; without a target pass loss=None, and "
            "let the model return the loss"
        )
    module = _build_module(model, loss, optimizer, clip_grad_norm)
    rates = _rates(optimizer)
    keywords = {"lr": rates}
    compiled = compile(module, *example_batch, example_kwargs=keywords, buckets=None, **options)
    return TrainStep(compiled, model, optimizer)


class TrainStep:
    """A compiled step of training and its state; see `ttmlir.train_step`."""

    def __init__(self, compiled: CompiledModel, model: Any, optimizer: Any) -> None:
        """Wrap the program of a step."""
        self.compiled = compiled
        """The program: `save`, `estimate`, `text` and so on are its methods."""
        self._optimizer = optimizer
        self._fixed = [_fixed(group) for group in optimizer.param_groups]
        # What does not change is not in the state.
        self._tensors = {name: tensor.detach() for name, tensor in _named_tensors(model).items()}
        first = {id(tensor): name for name, tensor in _named_tensors(model).items()}
        # What modules share has several names.
        saved: Any = model.state_dict(keep_vars=True)
        self._saved = {name: first[id(tensor)] for name, tensor in saved.items()}

    def __call__(self, *batch: Any, **keywords: Any) -> Any:
        """Do a step and return the loss before it.

        Keywords are those of a call of a compiled model, such as `numerics`.
        """
        for number, (group, fixed) in enumerate(
            zip(self._optimizer.param_groups, self._fixed, strict=True)
        ):
            for name, value in _fixed(group).items():
                if fixed.get(name) != value:
                    raise InputError(
                        f"'{name}' of parameter group {number} is {value!r}, but the step was "
                        f"compiled for {fixed.get(name)!r}; only 'lr' may change, for other "
                        "changes call ttmlir.train_step again"
                    )
        # Schedulers warn if nobody has called `optimizer.step()` before them.
        self._optimizer._opt_called = True
        return self.compiled(*batch, lr=_rates(self._optimizer), **keywords)

    @property
    def steps(self) -> int:
        """How many steps were done, those of the optimizer before included.

        Of SGD, which does not count, those before are one if it has momentum, else none.
        """
        return int(self._state()[COUNT].item())

    def state_dict(self) -> dict[str, Any]:
        """What `model.state_dict()` would be now."""
        values = self._values()
        return {name: values[owner].clone() for name, owner in self._saved.items()}

    def load_into(self, model: Any, optimizer: Any = None) -> None:
        """Copy parameters and buffers into a model, and what is kept of them into an optimizer."""
        values, tensors = self._values(), _named_tensors(model)
        if sorted(values) != sorted(tensors):
            raise InputError("the model has other parameters than the one that was trained")
        with torch_package().no_grad():
            for name, tensor in tensors.items():
                tensor.copy_(values[name])
        if optimizer is not None:
            self._load_optimizer(dict(model.named_parameters()), optimizer)

    def _values(self) -> dict[str, Any]:
        """Parameters and buffers with their values now, each under one name."""
        state = self._state()
        return {name: state.get(f"{MODEL}{name}", tensor) for name, tensor in self._tensors.items()}

    def _load_optimizer(self, parameters: Mapping[str, Any], optimizer: Any) -> None:
        torch = torch_package()
        counts = find_update(self._optimizer).counts
        for key, value in self._state().items():
            slot, _, name = key.removeprefix(OPTIMIZER).partition(".")
            if key.startswith(OPTIMIZER) and name:
                kept = optimizer.state[parameters[name]]
                kept[slot] = value.clone()
                if counts:
                    kept["step"] = torch.tensor(float(self.steps))

    def _state(self) -> dict[str, Any]:
        source = self.compiled.source
        signature = source.signature
        indices = signature.bound[len(signature.bound) - signature.state :]
        names = signature.input_names
        state = {names[index]: source.bound[index] for index in indices}
        whole = {name for name, tensor in self._tensors.items() if tensor.is_complex()}
        for name in list(state):
            stem = name.removesuffix(f".{PARTS[0]}")
            of_optimizer = stem.removeprefix(OPTIMIZER).partition(".")[2]
            if stem != name and {stem.removeprefix(MODEL), of_optimizer} & whole:
                state[stem] = join(*(state.pop(part) for part in names_of_pair(stem)))
        return {name: tensor_of(array) for name, array in state.items()}

    def __repr__(self) -> str:
        """The program and how far it is."""
        return f"TrainStep({self.compiled!r}, steps={self.steps})"


def _rates(optimizer: Any) -> list[Any]:
    torch = torch_package()
    return [torch.tensor(float(group["lr"])) for group in optimizer.param_groups]


def _fixed(group: Group) -> dict[str, Any]:
    """The options of a group that are part of the program."""
    return {
        name: value
        for name, value in group.items()
        if name not in ("params", "lr", "initial_lr", "foreach", "fused", "capturable")
    }


def _named_tensors(model: Any) -> dict[str, Any]:
    return {**dict(model.named_parameters()), **dict(model.named_buffers())}


def _build_module(
    model: Any, loss: Callable[..., Any] | None, optimizer: Any, clip: float | None
) -> Any:
    """The module of a step, whose buffers are what the optimizer keeps."""
    torch = torch_package()
    update = find_update(optimizer)
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    groups = [_group(group, names) for group in optimizer.param_groups]
    count = 0.0
    kept: dict[str, Any] = {}
    for options, learned in groups:
        for name, parameter in learned.items():
            known = optimizer.state.get(parameter, {})
            count = max(count, float(known.get("step", 0)))
            for slot, start in update.slots(options).items():
                value = known.get(slot)
                if value is None:
                    value = start.build(parameter)
                elif not update.counts:
                    # How many is not known; the next one is not the first.
                    count = max(count, 1.0)
                kept[f"{slot}.{name}"] = value.detach().clone()
    kept["step"] = torch.tensor(count)

    class Step(torch.nn.Module):
        computes_gradients = True

        def forward(self, *batch: Any, lr: Sequence[Any]) -> Any:
            value: Any = model(*batch) if loss is None else loss(model(*batch[:-1]), batch[-1])
            several = isinstance(value, (tuple, list))
            _apply(self, update, groups, value[0] if several else value, lr, clip)
            return torch.utils._pytree.tree_map(_detached, value)

    Step.__name__ = f"{type(model).__name__}_step"
    step: Any = Step()
    step.model = model
    step.optimizer = hold(torch.nn.Module(), kept)
    return step


def _detached(leaf: Any) -> Any:
    return leaf.detach() if isinstance(leaf, torch_package().Tensor) else leaf


def _group(group: Group, names: Mapping[int, str]) -> tuple[Group, dict[str, Any]]:
    """The options of a group, and its parameters by their names in the model."""
    learned: dict[str, Any] = {}
    for parameter in group["params"]:
        if id(parameter) not in names:
            raise TypeError("the optimizer has a parameter that the model does not have")
        if parameter.requires_grad:
            learned[names[id(parameter)]] = parameter
    return group, learned


def _apply(
    module: Any,
    update: Update,
    groups: Sequence[tuple[Group, Mapping[str, Any]]],
    loss: Any,
    rates: Sequence[Any],
    clip: float | None,
) -> None:
    """Differentiate the loss and move the parameters."""
    torch = torch_package()
    parameters = dict(module.model.named_parameters())
    kept = dict(module.optimizer.named_buffers())
    learned = [name for _, members in groups for name in members]
    found = torch.autograd.grad(loss, [parameters[name] for name in learned], allow_unused=True)
    # What does not take part in the loss stays as it is.
    pairs = zip(learned, found, strict=True)
    gradients: dict[str, Any] = {name: each for name, each in pairs if each is not None}
    with torch.no_grad():
        if clip is not None:
            gradients = _clip(gradients, clip)
        number = kept["step"] + 1
        kept["step"].copy_(number)
        for (options, members), rate in zip(groups, rates, strict=True):
            for name in members:
                if name not in gradients:
                    continue
                slots = {slot: kept[f"{slot}.{name}"] for slot in update.slots(options)}
                # Optimizers take complex numbers for pairs of real ones.
                parameter = _as_real(parameters[name])
                given = {slot: _as_real(value) for slot, value in slots.items()}
                moved, new = update.move(
                    options, parameter, _as_real(gradients[name]), given, Moment(rate, number)
                )
                parameters[name].copy_(_like(parameters[name], moved))
                for slot, value in new.items():
                    slots[slot].copy_(_like(slots[slot], value))


def _as_real(tensor: Any) -> Any:
    torch = torch_package()
    return torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor


def _like(tensor: Any, values: Any) -> Any:
    return torch_package().view_as_complex(values) if tensor.is_complex() else values


def _clip(gradients: Mapping[str, Any], limit: float) -> dict[str, Any]:
    """The gradients, scaled so that they are no longer than `limit` together."""
    torch = torch_package()
    lengths = [torch.linalg.vector_norm(gradient) for gradient in gradients.values()]
    total = torch.linalg.vector_norm(torch.stack(lengths))
    factor = (limit / (total + 1e-6)).clamp(max=1.0)
    return {name: gradient * factor for name, gradient in gradients.items()}
