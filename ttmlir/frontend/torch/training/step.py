"""`ttmlir.train_step`: a step of training as one program, with all that it changes as its state.

step = ttmlir.train_step(model, loss_function, optimizer, images, labels)
for images, labels in batches:
    loss = step(images, labels)
step.load_into(model)

`ttmlir.train_function` takes a step as it is written in torch, with its own calls of `backward`
and of the optimizers.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, MutableMapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from numbers import Real
from typing import Any, NoReturn, cast

from ttmlir.errors import ArgumentError, ArgumentTypeError, UsageError, plural
from ttmlir.frontend.compiled import CompiledModel
from ttmlir.frontend.dispatch import compile
from ttmlir.frontend.torch.decompositions.untraceable import lookups_noted
from ttmlir.frontend.torch.distributed.placing import (
    alone,
    like_devices_of,
    on_one_device,
    placed_as,
    whole_of,
    write_whole,
)
from ttmlir.frontend.torch.elements import torch_package
from ttmlir.frontend.torch.model import array_of, tensor_of
from ttmlir.frontend.torch.replacing import attributes_replaced
from ttmlir.frontend.torch.training import lbfgs
from ttmlir.frontend.torch.training.accumulation import Round, check_count, first_values
from ttmlir.frontend.torch.training.holding import hold
from ttmlir.frontend.torch.training.optimizers import COUNT, Keeping, listed, loss_of, optimizers_in
from ttmlir.frontend.torch.training.scaling import (
    Scaling,
    other_scalers_refused,
    read_scaler,
    write_scaler,
)
from ttmlir.layout.data_format import PARTS
from ttmlir.runtime.errors import InputError
from ttmlir.runtime.signature import names_of_pair
from ttmlir.runtime.tensor import join, split

MODEL, OPTIMIZER, SCALER, ACCUMULATED = "model.", "optimizer.", "scaler.", "accumulated."
"""What names of a step's state begin with: the model's, the optimizer's, the scaler's, and those
of gradients that several calls add up."""


def train_step(
    model: Any,
    loss: Callable[..., Any] | None,
    optimizer: Any,
    *example_batch: Any,
    clip_grad_norm: float | None = None,
    accumulate: int = 1,
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
    optimizer is one of `torch.optim` that moves parameters by a formula, such as SGD and AdamW, or
    a list of several, each with parameters of its own; the rates of groups are read at each
    step, and so is a momentum that a schedule moves, so that schedulers of torch work as they do
    there. `clip_grad_norm` limits the length of the gradient as
    `torch.nn.utils.clip_grad_norm_` does. With `accumulate` of more than 1 each of so many calls
    adds to the gradient, and the last one moves the parameters by its mean. `options` are those of
    `ttmlir.compile`.
    """
    torch = torch_package()
    if not isinstance(model, torch.nn.Module):
        raise ArgumentTypeError(
            f"ttmlir.train_step trains a torch.nn.Module, not a {type(model).__name__}; "
            "ttmlir.train_function takes a step with several models"
        )
    if loss is not None and len(example_batch) < 2:
        raise ArgumentTypeError(
            "ttmlir.train_step(model, loss, optimizer, *example_batch) takes an example of the "
            "model's inputs and, after them, of the target; without a target pass loss=None, and "
            "let the model return the loss"
        )

    _check_limit(clip_grad_norm)

    def run(step: Any, batch: Sequence[Any], rates: Mapping[str, Sequence[Any]]) -> Any:
        round_ = _round_of(step, kept)

        def evaluate() -> tuple[Any, dict[str, Any]]:
            """What the model returns, and the gradients by which parameters move."""
            value: Any = model(*batch) if loss is None else loss(model(*batch[:-1]), batch[-1])
            gradients = _differentiate(loss_of(value), step, keeping)
            if round_ is not None:
                gradients = round_.add(gradients)
            if clip_grad_norm is not None:
                gradients = _clip(gradients, clip_grad_norm)
            return value, gradients

        if joint is not None:
            return keeping.minimize(step, joint, rates, evaluate)
        value, gradients = evaluate()
        keeping.apply(step, gradients, rates, skips=None if round_ is None else round_.goes_on)
        if round_ is not None:
            round_.end()
        return value

    keeping = Keeping(model, optimizer)
    if not keeping.optimizers:
        raise ArgumentError(
            "ttmlir.train_step moves parameters by an optimizer, and the list is empty"
        )
    kept = _Kept(keeping, count=accumulate)
    joint = keeping.only_joint()
    return _compile(type(model).__name__, model, kept, run, example_batch, options)


def train_function(
    function: Callable[..., Any],
    *example_batch: Any,
    models: Any,
    optimizers: Any,
    scaler: Any = None,
    accumulate: int = 1,
    **options: Any,
) -> TrainStep:
    """Compile a step of training as it is written in torch, with any number of models.

        def play(real, noise):
            critic_optimizer.zero_grad()
            loss = critic(generator(noise).detach()).mean() - critic(real).mean()
            loss.backward()
            critic_optimizer.step()
            return loss

        step = ttmlir.train_function(
            play, real, noise, models=[critic, generator], optimizers=[critic_optimizer]
        )
        loss = step(real, noise)

    `models` are all modules that the function uses, in a list or by names: what it does to their
    parameters and buffers, also by operations in place, is the state of the step. `optimizers` are
    those whose `step()` and `zero_grad()` it calls; they are those of `ttmlir.train_step`, which
    says how their rates are read. `scaler` is the `torch.amp.GradScaler` that it uses, whose scale
    is state, too. Gradients do not stay from one call to the next, but with `accumulate` of more
    than 1: then each of so many calls adds to them, `optimizer.step()` moves in the last one, and
    `optimizer.zero_grad()` clears in the last one too, or, before `step()`, in the first.
    `step.load_into()` gives models and optimizers their values back.
    """
    torch = torch_package()
    root: Any = torch.nn.Module()
    named = models if hasattr(models, "items") else dict(enumerate(listed(models)))
    for name, model in named.items():
        if not isinstance(model, torch.nn.Module) or "." in str(name) or name == "":
            raise ArgumentTypeError(
                "models are torch.nn.Modules, in a list or by names without dots, not a "
                f"{type(model).__name__} named {str(name)!r}"
            )
        root.add_module(str(name), model)
    keeping = Keeping(root, optimizers)
    kept = _Kept(keeping, scaler, accumulate)
    if scaler is not None and accumulate != 1:
        raise ArgumentError(
            "accumulate goes without a scaler, which would divide the gradients of earlier calls "
            "again; bfloat16 needs no scaler"
        )

    def run(step: Any, batch: Sequence[Any], rates: Mapping[str, Sequence[Any]]) -> Any:
        with _traced_optimizers(step, kept, rates):
            return function(*batch)

    name = getattr(function, "__name__", type(function).__name__)
    return _compile(name, root, kept, run, example_batch, options)


_Run = Callable[[Any, Sequence[Any], Mapping[str, Sequence[Any]]], Any]
"""What a step does: from the traced module, the batch and the rates to its results."""


@dataclass(frozen=True)
class _Kept:
    """What a step keeps besides models, and of how many calls a round is."""

    keeping: Keeping
    scaler: Any = None
    count: int = 1


def _round_of(step: Any, kept: _Kept) -> Round | None:
    """The round of a step that is traced; None if each call is one."""
    if kept.count == 1:
        return None
    parameters = dict(step.model.named_parameters())
    buffers = dict(step.accumulated.named_buffers())
    return Round(buffers, kept.keeping, parameters, kept.count)


def _compile(
    name: str,
    model: Any,
    kept: _Kept,
    run: _Run,
    example_batch: Sequence[Any],
    options: Mapping[str, Any],
) -> TrainStep:
    torch = torch_package()
    keeping, scaler = kept.keeping, kept.scaler
    if kept.count != 1 and any(moved.update.is_joint for moved in keeping.groups):
        raise ArgumentError(
            "LBFGS goes without accumulate: it computes the loss of one batch several times"
        )

    class Step(torch.nn.Module):
        computes_gradients = True

        def forward(self, *batch: Any, **rates: Sequence[Any]) -> Any:
            with lookups_noted() as lookups:
                keeping.begin(lookups)
                return torch.utils._pytree.tree_map(_detached, run(self, batch, rates))

    Step.__name__ = f"{name}_step"
    step: Any = Step()
    step.model = model
    step.optimizer = hold(torch.nn.Module(), keeping.buffers)
    if scaler is not None:
        step.scaler = hold(torch.nn.Module(), read_scaler(scaler))
    accumulated = first_values(keeping, check_count(kept.count))
    step.accumulated = hold(torch.nn.Module(), accumulated)
    keywords = keeping.rates()
    # Gradients of a batch are nobody's: a step returns what it needs of them.
    batch = torch.utils._pytree.tree_map(_detached, example_batch)
    compiled = compile(step, *batch, example_kwargs=keywords, buckets=None, **options)
    return TrainStep(compiled, model, keeping, scaler, accumulated)


class TrainStep:
    """A compiled step of training and its state; see `ttmlir.train_step`."""

    def __init__(
        self,
        compiled: CompiledModel,
        model: Any,
        keeping: Keeping,
        scaler: Any = None,
        accumulated: Mapping[str, Any] | None = None,
    ) -> None:
        """Wrap the program of a step."""
        self._scaler = scaler
        self._accumulated = accumulated or {}
        self.compiled = compiled
        """The program: `save`, `estimate`, `text` and so on are its methods."""
        self._model = model
        self._keeping = keeping
        self._learned = self._learned_now()
        # What does not change is not in the state.
        self._tensors = self._whole_tensors(_named_tensors(model))
        first = {id(tensor): name for name, tensor in _named_tensors(model).items()}
        # What modules share has several names.
        saved: Any = model.state_dict(keep_vars=True)
        self._saved = {name: first[id(tensor)] for name, tensor in saved.items()}

    def __call__(self, *batch: Any, **keywords: Any) -> Any:
        """Do a step and return the loss before it.

        Keywords are those of a call of a compiled model, such as `numerics`.
        """
        if self._learned_now() != self._learned:
            raise InputError(
                "the optimizer has other parameters, or other parameters require a gradient, than "
                "when the step was compiled: step.load_into() and ttmlir.train_step go on with them"
            )
        for moved in self._keeping.groups:
            moved.check_options(moved.group)
        for optimizer in self._keeping.optimizers:
            # Schedulers warn if nobody has called `optimizer.step()` before them.
            optimizer._opt_called = True
        rates = self._keeping.rates()
        self._check_call(batch, keywords, rates)
        return self.compiled(*batch, **rates, **keywords)

    def _check_call(
        self, batch: Sequence[Any], keywords: Mapping[str, Any], rates: Mapping[str, Any]
    ) -> None:
        """InputError for a call that is not of this form; rates are no arguments of it."""
        arguments = self.compiled.source.signature.arguments
        args, named = arguments.unflatten(iter(arguments.are_complex))
        taken = ["numerics", *(name for name in named if name not in rates)]
        if len(batch) == len(args) and set(keywords) <= set(taken):
            return
        got = ", ".join([f"{len(batch)}", *(f"{name}=" for name in keywords)])
        reason = "; rates are those of the optimizers" if set(keywords) & set(rates) else ""
        raise InputError(
            f"'{self.compiled.name}' takes a batch of {plural(len(args), 'argument')}, "
            f"{', '.join(f'{name}=' for name in taken)}; got {got}{reason}"
        )

    def _learned_now(self) -> list[list[bool]]:
        """Of each group of parameters, which of them require a gradient."""
        return [
            [parameter.requires_grad for parameter in group["params"]]
            for optimizer in self._keeping.optimizers
            for group in optimizer.param_groups
        ]

    @property
    def steps(self) -> int:
        """How many steps were done, those of the optimizer before included.

        Of several optimizers the most. Of SGD and Muon, which do not count, those before are one if
        there is momentum, else none.
        """
        return max(
            int(value.item())
            for name, value in self._state().items()
            if name.startswith(f"{OPTIMIZER}{COUNT}") and "." not in name.removeprefix(OPTIMIZER)
        )

    def state_dict(self) -> dict[str, Any]:
        """What `model.state_dict()` would be now; tensors of several devices are whole."""
        values = self._values()
        return {name: values[owner].clone() for name, owner in self._saved.items()}

    def load_into(self, model: Any = None, optimizer: Any = None) -> None:
        """Copy parameters and buffers into a model, and what is kept of them into an optimizer.

        Without arguments, into those that the step was made of, and into the scaler. Of several
        optimizers a list, in the order of the step's. InputError for optimizers and models that
        are unlike those of the step; nothing is changed then.
        """
        is_all = model is None and optimizer is None
        tensors, parameters, optimizers = self._others(model, optimizer, are_read=False)
        state, values = self._state(), self._values()
        if is_all and self._scaler is not None:
            names = read_scaler(self._scaler)
            write_scaler(self._scaler, {name: state[f"{SCALER}{name}"] for name in names})
        with alone():
            with torch_package().no_grad():
                for name, tensor in tensors.items():
                    write_whole(tensor, values[name], f"'{name}'")
            if optimizers is not None:
                self._load_optimizers(parameters, optimizers)

    def load_from(self, model: Any = None, optimizer: Any = None) -> None:
        """Go on with the values of a model and of an optimizer, as those of a checkpoint.

        Gradients that calls have added up are dropped.
        Without arguments, of those that the step was made of, and of the scaler. Without an
        optimizer, what is kept of the parameters stays. InputError for models and optimizers that
        are unlike those of the step, in their options, too.
        """
        is_all = model is None and optimizer is None
        named, parameters, optimizers = self._others(model, optimizer, are_read=True)
        added = self._whole_tensors(self._accumulated)
        values = {f"{ACCUMULATED}{name}": value for name, value in added.items()}
        if is_all and self._scaler is not None:
            scaled = read_scaler(self._scaler)
            values.update({f"{SCALER}{name}": value for name, value in scaled.items()})
        tensors = self._whole_tensors(named)
        values.update({f"{MODEL}{name}": tensor for name, tensor in tensors.items()})
        if optimizers is not None:
            whole = self._whole_tensors(self._keeping.of_others(parameters, optimizers))
            values.update({f"{OPTIMIZER}{name}": value for name, value in whole.items()})
        places = self._places()
        for name, tensor in self._tensors.items():
            owner = f"{MODEL}{name}"
            is_fixed = (names_of_pair(owner)[0] if tensor.is_complex() else owner) not in places
            if is_fixed and not torch_package().equal(tensors[name], tensor):
                raise InputError(
                    f"'{name}', which is not trained, has other values than in the program; call "
                    "ttmlir.train_step again"
                )
        # What programs change is kept in a mapping that may be changed.
        bound = cast("MutableMapping[int, Any]", self.compiled.source.bound)
        for name, value in values.items():
            array = array_of(value.detach().clone())
            is_pair = value.is_complex()
            names = names_of_pair(name) if is_pair else (name,)
            for owner, part in zip(names, split(array) if is_pair else (array,), strict=True):
                if owner in places:
                    bound[places[owner]] = part

    def _others(
        self, model: Any, optimizer: Any, *, are_read: bool
    ) -> tuple[dict[str, Any], dict[str, Any], list[Any] | None]:
        """The tensors of a model like that which is trained, its parameters, and its optimizers.

        Those of the step, where None is given for a model, or for both.
        """
        if model is None:
            model = self._model
            optimizer = self._keeping.optimizers if optimizer is None else optimizer
        if not isinstance(model, torch_package().nn.Module):
            raise ArgumentTypeError(
                "the model is a torch.nn.Module like that which is trained, not a "
                f"{type(model).__name__}"
            )
        tensors, parameters = _named_tensors(model), dict(model.named_parameters())
        if sorted(tensors) != sorted(self._tensors):
            raise InputError("the model has other parameters than the one that was trained")
        optimizers = None if optimizer is None else optimizers_in(optimizer)
        if optimizers is not None:
            self._keeping.check_others(parameters, optimizers, are_read=are_read)
        return tensors, parameters, optimizers

    @staticmethod
    def _whole_tensors(tensors: Mapping[str, Any]) -> dict[str, Any]:
        with alone():
            return {name: whole_of(each.detach(), f"'{name}'") for name, each in tensors.items()}

    def _values(self) -> dict[str, Any]:
        """Parameters and buffers with their values now, each under one name."""
        state = self._state()
        return {name: state.get(f"{MODEL}{name}", tensor) for name, tensor in self._tensors.items()}

    def _load_optimizers(self, parameters: Mapping[str, Any], optimizers: Sequence[Any]) -> None:
        state = self._state()
        for moved in self._keeping.groups:
            owner = optimizers[moved.optimizer]
            for name, counter in moved.counters.items():
                slots = moved.slots(name, parameters[name])
                keeps = moved.update.counts or bool(slots)
                if not keeps or any(f"{OPTIMIZER}{slot}.{name}" not in state for slot in slots):
                    # It had no gradient, and nothing was kept.
                    continue
                kept, parameter = owner.state[parameters[name]], parameters[name]
                values = {slot: state[f"{OPTIMIZER}{slot}.{name}"].clone() for slot in slots}
                if moved.update.is_joint:
                    kept.update(lbfgs.to_state(values) if slots else {})
                    continue
                for slot, value in values.items():
                    kept[slot] = like_devices_of(parameter, value, f"'{name}'")
                if moved.update.counts:
                    number = state[f"{OPTIMIZER}{counter}"]
                    kept["step"] = int(number) if moved.update.counts_whole else number.clone()

    def _places(self) -> dict[str, int]:
        """The arguments that are state, by their names."""
        signature = self.compiled.source.signature
        indices = signature.bound[len(signature.bound) - signature.state :]
        return {signature.input_names[index]: index for index in indices}

    def _state(self) -> dict[str, Any]:
        bound = self.compiled.source.bound
        state = {name: bound[index] for name, index in self._places().items()}
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


def _named_tensors(model: Any) -> dict[str, Any]:
    return {**dict(model.named_parameters()), **dict(model.named_buffers())}


def _detached(leaf: Any) -> Any:
    return leaf.detach() if isinstance(leaf, torch_package().Tensor) else leaf


def _differentiate(loss: Any, step: Any, keeping: Keeping) -> dict[str, Any]:
    """The gradients of a loss, of the parameters that take part in it."""
    parameters = dict(step.model.named_parameters())
    learned = [name for moved in keeping.groups for name in moved.members]
    wanted = [parameters[name] for name in learned]
    found = torch_package().autograd.grad(loss, wanted, allow_unused=True)
    pairs = zip(learned, found, strict=True)
    return {name: placed_as(each, parameters[name]) for name, each in pairs if each is not None}


def _check_limit(limit: Any) -> None:
    if limit is None:
        return
    if isinstance(limit, bool) or not isinstance(limit, Real) or not float(limit) >= 0:
        raise ArgumentError(
            f"clip_grad_norm is the greatest length of the gradient, a number from 0 on, not "
            f"{limit!r}"
        )


def _clip(gradients: Mapping[str, Any], limit: float) -> dict[str, Any]:
    """The gradients, scaled so that they are no longer than `limit` together."""
    torch = torch_package()
    with torch.no_grad():
        lengths = [on_one_device(torch.linalg.vector_norm(each)) for each in gradients.values()]
        total = torch.linalg.vector_norm(torch.stack(lengths))
        factor = (limit / (total + 1e-6)).clamp(max=1.0)
        return {name: gradient * factor for name, gradient in gradients.items()}


@dataclass(frozen=True)
class _Tracing:
    """What optimizers do to the parameters that are traced."""

    step: Any
    keeping: Keeping
    rates: Mapping[str, Sequence[Any]]
    round: Round | None = None

    def members(self, optimizer: Any) -> dict[str, Any]:
        """The parameters of an optimizer by their names."""
        parameters = dict(self.step.model.named_parameters())
        number = self._number(optimizer)
        groups = [moved for moved in self.keeping.groups if moved.optimizer == number]
        return {name: parameters[name] for moved in groups for name in moved.members}

    def move(self, optimizer: Any, closure: Any = None) -> Any:
        """As `optimizer.step(closure)`."""
        joint = self.keeping.joint(self._number(optimizer))
        if joint is not None and closure is not None:

            def evaluate() -> tuple[Any, dict[str, Any]]:
                return closure(), self._gradients(optimizer)

            return self.keeping.minimize(self.step, joint, self.rates, evaluate)
        value = None
        if closure is not None:
            with torch_package().enable_grad():
                value = closure()
        self.move_unless(optimizer, None if self.round is None else self.round.goes_on)
        return value

    def move_unless(self, optimizer: Any, skips: Any) -> None:
        """Move the parameters by their gradients unless a truth value says not to."""
        number = self._number(optimizer)
        gradients = self._gradients(optimizer)
        self.keeping.apply(self.step, gradients, self.rates, number, skips=skips)
        if self.round is not None:
            self.round.moved(number)

    def _gradients(self, optimizer: Any) -> dict[str, Any]:
        own = self.members(optimizer).items()
        return {
            name: placed_as(each.grad, each) for name, each in own if self._is_given(name, each)
        }

    def _is_given(self, name: str, parameter: Any) -> bool:
        """Whether this call has computed a gradient of a parameter."""
        if self.round is None:
            return parameter.grad is not None
        return self.round.is_changed(name, parameter)

    def clear(self, optimizer: Any, set_to_none: bool = True) -> None:
        """As `optimizer.zero_grad(set_to_none)`."""
        if self.round is not None:
            self.round.clear(self._number(optimizer), self.members(optimizer))
            return
        for name, parameter in self.members(optimizer).items():
            self.keeping.set_marks(name)
            if set_to_none or parameter.grad is None:
                parameter.grad = None
            else:
                parameter.grad = torch_package().zeros_like(parameter)

    def _number(self, optimizer: Any) -> int:
        return next(n for n, each in enumerate(self.keeping.optimizers) if each is optimizer)


@contextmanager
def _traced_optimizers(
    step: Any, kept: _Kept, rates: Mapping[str, Sequence[Any]]
) -> Generator[None]:
    """Let optimizers, and a scaler, move and clear the parameters that are traced."""
    scaler, round_ = kept.scaler, _round_of(step, kept)
    tracing = _Tracing(step, kept.keeping, rates, round_)
    parameters = dict(step.model.named_parameters())
    with ExitStack() as stack:
        stack.enter_context(other_scalers_refused())
        stack.enter_context(_other_optimizers_refused())
        for optimizer in kept.keeping.optimizers:
            replaced: dict[str, Callable[..., Any]] = {
                "step": partial(tracing.move, optimizer),
                "zero_grad": partial(tracing.clear, optimizer),
            }
            stack.enter_context(attributes_replaced(optimizer, replaced))
        if scaler is not None and scaler.is_enabled():
            buffers = dict(step.scaler.named_buffers())
            scaling = Scaling(scaler, buffers, tracing.members, tracing.move_unless)
            stack.enter_context(attributes_replaced(scaler, scaling.replacements()))
        if round_ is not None:
            round_.begin(parameters)
        yield
        if round_ is not None:
            round_.keep(parameters)
            round_.end()


@contextmanager
def _other_optimizers_refused() -> Generator[None]:
    """Let calls of optimizers say what to do, other than of those that are replaced themselves."""
    home, kind = import_module("torch.optim.optimizer"), torch_package().optim.Optimizer

    def refusing(name: str) -> Callable[..., NoReturn]:
        def refuse_call(*_: Any, **__: Any) -> NoReturn:
            raise UsageError(
                f"{name}() of an optimizer that the step does not have; give it in "
                "ttmlir.train_function(..., optimizers=[...])"
            )

        return refuse_call

    hook = home.register_optimizer_step_pre_hook(refusing("step"))
    zero_grad = kind.zero_grad
    kind.zero_grad = refusing("zero_grad")
    try:
        yield
    finally:
        kind.zero_grad = zero_grad
        hook.remove()
