"""What torch takes for arrays and for containers in arguments and results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ttmlir.frontend.calls import CallLayout, Layout, Opened, Opener, read_call, read_layout
from ttmlir.frontend.torch.elements import torch_package
from ttmlir.frontend.torch.random.seeding import SEED
from ttmlir.runtime.signature import Structure


class TorchOpener(Opener):
    """Tensors, and numbers that are read out of them while torch traces."""

    def is_leaf(self, value: Any) -> bool:
        """True for tensors, arrays, and numbers that torch does not know while it traces."""
        torch = torch_package()
        kinds = (torch.Tensor, np.ndarray, torch.SymInt, torch.SymFloat, torch.SymBool)
        return isinstance(value, kinds)

    def example_like(self, leaf: Any, shape: Sequence[int], fill: float) -> Any:
        """A tensor."""
        tensor = torch_package().as_tensor(leaf).detach()
        made = tensor.new_full(tuple(shape), fill)
        made[tuple(map(slice, tensor.shape))] = tensor[tuple(map(slice, shape))]
        return made

    def result_shapes(
        self, function: Callable[..., Any], leaves: Sequence[Any]
    ) -> list[tuple[int, ...]]:
        """As tensors without numbers have them."""
        torch = torch_package()
        mode = torch._subclasses.FakeTensorMode(allow_non_fake_inputs=True)
        with torch.no_grad(), mode:
            given = [mode.from_tensor(torch.as_tensor(each)) for each in leaves]
            return [tuple(each.shape) for each in read_layout(function(*given), self)[1]]

    def is_same(self, value: Any, expected: Any) -> bool:
        """Equal constants, and any generator of random numbers: seeds come from the call's."""
        generator = torch_package().Generator
        if isinstance(expected, generator):
            return value is None or isinstance(value, generator)
        return super().is_same(value, expected)

    def structure_of(self, value: Any) -> Structure:
        """Files hold no generator: their programs take the seed beside whatever is in its place."""
        if isinstance(value, torch_package().Generator):
            return Structure(kind="Ignored")
        return super().structure_of(value)

    def open(self, value: Any) -> Opened | None:
        """One level of a container; a module is none."""
        return None if isinstance(value, torch_package().nn.Module) else super().open(value)

    def open_registered(self, value: Any) -> Opened | None:
        """What `torch.utils._pytree` has registered of the class."""
        node: Any = torch_package().utils._pytree.SUPPORTED_NODES.get(type(value))
        if node is None:
            return None
        children, context = node.flatten_fn(value)
        return Opened(
            names=tuple(f"[{index}]" for index in range(len(children))),
            children=tuple(children),
            rebuild=lambda items: node.unflatten_fn(list(items), context),
            kind="Tuple",
            context=context,
        )


OPENER = TorchOpener()


def read_exported_call(name: str, exported: Any, metas: list[Any], *, seeded: bool) -> CallLayout:
    """The layout of the arguments of a `torch.export.ExportedProgram` that the user made.

    `metas` are torch's fake tensors of its inputs, and the values of those that are none.
    """
    pytree: Any = torch_package().utils._pytree
    args, kwargs = pytree.tree_unflatten(metas, exported.call_spec.in_spec)
    function = exported.module().forward
    if seeded:
        # A call passes the seed beside the arguments of the user's program.
        function = None
        kwargs = {key: value for key, value in kwargs.items() if key != SEED}
    return read_call(name, function, (args, kwargs), OPENER)[0]


def read_exported_results(exported: Any, metas: list[Any]) -> Layout:
    """The layout of its results, in the same way."""
    pytree: Any = torch_package().utils._pytree
    return read_layout(pytree.tree_unflatten(metas, exported.call_spec.out_spec), OPENER)[0]
