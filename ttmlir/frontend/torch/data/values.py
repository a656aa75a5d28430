"""Numbers of tensors that follow from a model alone, not from its arguments, while it is traced.

Masks of ones, positions and strides in buffers are computed beside torch's fakes of them, so that
Python may decide by them: `if mask.all():`, `int(x)`, `x[mask]`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import SSAValue

from ttmlir.frontend.torch.call import Known, Number
from ttmlir.frontend.torch.data.iterations import MOST_ITERATIONS
from ttmlir.frontend.torch.distributed.operations import BETWEEN_DEVICES
from ttmlir.frontend.torch.elements import (
    is_symbolic,
    is_tensor,
    leaves,
    replace_leaves,
    static_shape,
    torch_package,
    without_modes,
)
from ttmlir.frontend.torch.locations import location_of_here
from ttmlir.frontend.torch.packing import is_packed

# --- Known ----------------------------------------------------------------------------------------
# What torch can compute while the program is read: masks, positions, numbers of rows.

LIMIT = 1 << 16
"""Tensors of more elements are left to the compiled program, parameters of a model above all."""


def compute(node: Any, arguments: Mapping[str, Any]) -> Known | None:
    """The result of a call on known tensors; None where something is unknown, random or large.

    Weights of few bits become wider ones in the program alone.
    """
    operands = leaves(list(arguments.values()))
    meta = node.meta.get("val")
    if any(isinstance(each, (SSAValue, Number)) for each in operands) or not is_tensor(meta):
        return None
    if torch_package().Tag.nondeterministic_seeded in node.target.tags:
        return None
    if str(node.target).startswith(BETWEEN_DEVICES):
        return None
    known = [operand.tensor for operand in operands if isinstance(operand, Known)]
    sizes = [math.prod(static_shape(meta) or ()), *(tensor.numel() for tensor in known)]
    # A range that is not of whole numbers has no rule: its numbers always stand in the program.
    is_range = node.target.overloadpacket.__name__ == "arange"
    if max(sizes) > LIMIT and not (is_range and meta.dtype.is_floating_point):
        return None
    if any(is_packed(tensor) and tensor.element_size() < meta.element_size() for tensor in known):
        return None
    schema = node.target._schema.arguments
    keywords = {a.name: _torch_value(arguments[a.name]) for a in schema if a.name in node.kwargs}
    positional = [_torch_value(arguments[a.name]) for a in schema[: len(node.args)]]
    with torch_package().no_grad():
        return Known(node.target(*positional, **keywords))


def _torch_value(argument: Any) -> Any:
    if isinstance(argument, list):
        return [_torch_value(item) for item in cast("list[Any]", argument)]
    return argument.tensor if isinstance(argument, Known) else argument


# --- Values ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Value:
    """What is known of a tensor."""

    tensor: Any
    buffers: frozenset[str] = frozenset()
    """The buffers of the module that its numbers come from."""


@dataclass
class KnownValues:
    """The numbers of tensors, as far as they are known, during one trace of a module."""

    module: Any
    buffers: Mapping[str, Any]
    """The buffers of the module before torch made fakes of them."""
    changing: frozenset[str] = frozenset()
    """Buffers whose numbers differ from call to call, so that they are not known."""
    decided: dict[str, LocationAttr] = field(default_factory=dict[str, LocationAttr])
    """Buffers that Python has decided by, and where."""
    in_iteration: bool = False
    """True in a loop over positions, each of which may not be there."""
    _values: dict[int, tuple[Any, Value]] = field(default_factory=dict[int, tuple[Any, Value]])
    _masks: dict[int, tuple[Any, Any]] = field(default_factory=dict[int, tuple[Any, Any]])
    _changed: set[int] = field(default_factory=set[int])
    """Memory that has been written to in a way that is not known."""
    _fakes: dict[int, tuple[Any, str]] = field(default_factory=dict[int, tuple[Any, str]])
    """Buffers as torch traces them, by their identity, and their names."""

    def begin_trace(self) -> None:
        """Another trace has other fakes of buffers."""
        self._fakes.clear()

    def read(self, tensor: Any) -> Any:
        """The tensor with its numbers, on whose account Python goes on; None if not known."""
        found = self._of(tensor)
        if found is None:
            return None
        self.decide(found)
        return found.tensor

    def decide(self, value: Value) -> None:
        """Note that Python goes on by these numbers."""
        for name in value.buffers:
            self.decided.setdefault(name, location_of_here())

    # -- calls ---------------------------------------------------------------------------------

    def begin(
        self, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Pending:
        """What there is to know before a call of torch."""
        inputs = _leaves_of((args, kwargs))
        tensors = [each for each in inputs if is_tensor(each)]
        versions = [(each, _version(each)) for each in tensors]
        name = getattr(function, "__name__", "")
        # Overloads are called by torch itself, on the way down.
        is_overload = isinstance(function, torch_package()._ops.OpOverload)
        may_be_known = (
            not is_overload
            and not any(part in name for part in _UNKNOWN)
            and not any(is_symbolic(each) for each in inputs)
        )
        found = self._all_of(tensors) if may_be_known else None
        result: Value | None = None
        if found is not None:
            known = {id(t): v.tensor for t, v in zip(tensors, found, strict=True)}
            buffers = frozenset[str]().union(*(v.buffers for v in found))
            computed = _compute(function, args, kwargs, known)
            result = None if computed is None else Value(computed[0], buffers)
        return Pending(versions, result)

    def end(self, pending: Pending, result: Any) -> None:
        """Keep what a call has left."""
        for tensor, version in pending.versions:
            if _version(tensor) != version and pending.result is None:
                self._changed.add(_memory(tensor))
        if pending.result is None:
            return
        fakes, numbers = _leaves_of(result), _leaves_of(pending.result.tensor)
        if len(fakes) != len(numbers):
            return
        for fake, number in zip(fakes, numbers, strict=True):
            is_same = is_tensor(fake) and is_tensor(number) and fake.dtype == number.dtype
            if is_same and number.numel() <= LIMIT and fake.dim() == number.dim():
                self._keep(fake, Value(number, pending.result.buffers))

    def keep(self, tensor: Any, number: Any) -> None:
        """Say what a tensor holds that is new."""
        self._keep(tensor, Value(number))

    def found(self, positions: Any, mask: Any) -> None:
        """Say of which mask these are the positions."""
        self._masks[id(positions)] = positions, mask

    def mask_of(self, positions: Any) -> Any:
        """The mask of which these are the positions, if it is small; None if it is not known."""
        mask = self._masks.get(id(positions), (None, None))[1]
        return None if mask is None or mask.numel() > MOST_ITERATIONS else mask

    # -- tensors -------------------------------------------------------------------------------

    def _keep(self, tensor: Any, value: Value) -> None:
        # The tensor is kept, too, so that no other one gets its identity.
        if torch_package()._C._functorch.is_functorch_wrapped_tensor(tensor):
            return
        self._values[id(tensor)] = tensor, value

    def _all_of(self, tensors: Sequence[Any]) -> list[Value] | None:
        """What is known of tensors; None if one of them, as of most calls, is not known."""
        found = list[Value]()
        for each in tensors:
            value = self._of(each)
            if value is None:
                return None
            found.append(value)
        return found

    def _name_of(self, fake: Any) -> str | None:
        """The buffer that a fake of torch stands for; None if it stands for none."""
        if self.buffers and not self._fakes:
            # They stand in the module while it is traced; walking it for each tensor takes long.
            for name, buffer in self.module.named_buffers():
                if name in self.buffers and buffer is not self.buffers[name]:
                    self._fakes[id(buffer)] = buffer, name
        return self._fakes.get(id(fake), (None, None))[1]

    def _of(self, tensor: Any) -> Value | None:
        if id(tensor) in self._values:
            return None if _memory(tensor) in self._changed else self._values[id(tensor)][1]
        torch = torch_package()
        value: Value | None = None
        # What vmap and gradients see has no memory of its own.
        is_wrapped = torch._C._functorch.is_functorch_wrapped_tensor(tensor)
        if is_wrapped or isinstance(tensor, torch.nn.Parameter):
            return None
        if not isinstance(tensor, torch._subclasses.FakeTensor):
            value = _plain(tensor)
        elif (name := self._name_of(tensor)) is not None and name not in self.changing:
            given = _plain(self.buffers[name])
            value = None if given is None else Value(given.tensor, frozenset([name]))
        if value is not None:
            self._keep(tensor, value)
        return value


@dataclass(frozen=True)
class Pending:
    """A call that has begun."""

    versions: list[tuple[Any, Any]]
    result: Value | None


_UNKNOWN = ("empty", "__get__", "__set__", "requires_grad", "backward")
"""Parts of the names of functions whose results are not known, or are no tensors."""


def _plain(tensor: Any) -> Value | None:
    """A copy of a small tensor that exists, on the CPU; None for other kinds."""
    torch = torch_package()
    is_dense = type(tensor) in (torch.Tensor, torch.nn.Buffer) and tensor.layout == torch.strided
    if not is_dense or tensor.device.type != "cpu" or tensor.numel() > LIMIT:
        return None
    with without_modes(), torch.no_grad():
        return Value(tensor.detach().clone())


def _compute(
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    known: Mapping[int, Any],
) -> tuple[Any] | None:
    """What a function of torch returns for known tensors; nothing if it fails or is random."""
    torch = torch_package()
    real_args, real_kwargs = replace_leaves(
        (tuple(args), dict(kwargs)), lambda each: known.get(id(each), each)
    )
    with torch._C.DisableTorchFunction(), without_modes(), torch.no_grad():
        before = torch.default_generator.get_state()
        try:
            result = function(*real_args, **real_kwargs)
        except Exception:
            # The call itself says what is wrong with it.
            return None
        if torch.equal(torch.default_generator.get_state(), before):
            return (result,)
        torch.default_generator.set_state(before)
        return None


def _version(tensor: Any) -> Any:
    try:
        return tensor._version
    except RuntimeError:
        # Tensors of torch.inference_mode count no changes.
        return None


def _memory(tensor: Any) -> int:
    functorch: Any = torch_package()._C._functorch
    while functorch.is_functorch_wrapped_tensor(tensor):
        tensor = functorch.get_unwrapped(tensor)
    return tensor.untyped_storage()._cdata


def _leaves_of(value: Any) -> list[Any]:
    found: list[Any] = []
    replace_leaves(value, found.append)
    return found
