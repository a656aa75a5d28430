"""Programs of torch whose random numbers come from a seed.

Random operations of a graph are replaced by what `distributions` makes of the words of a seed. The
words of all operations are drawn at once; operations take theirs in the order of the graph. Where
operations are given generators, each generator has a seed, and words, of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ttmlir.errors import InputError
from ttmlir.frontend.torch.elements import torch_package
from ttmlir.frontend.torch.locations import refuse_node
from ttmlir.frontend.torch.random.distributions import DRAWS, Draw, Words
from ttmlir.frontend.torch.support import near
from ttmlir.frontend.torch.training.holding import hold

SEED = "seed"
"""The keyword that a call passes a seed by."""


_APART = 0x9E37_79B9
"""What lies between the seeds of several generators that follow from one number."""


def create_seed(given: Any, generators: Sequence[Any] = (None,)) -> Any:
    """The seeds of a call as a tensor: one without dimension, or one for each of some generators.

    They are given as a number, a tensor, or numbers for each generator, or else each comes from its
    own generator, as `torch.manual_seed` and the generator's own fix what follows; None is torch's.
    Raises InputError for a seed that is none of these.
    """
    torch = torch_package()
    count = len(generators)
    if given is None:
        seeds = [_drawn_from(each) for each in generators]
    elif isinstance(given, int):
        seeds = [_tensor_of(given + each * _APART) for each in range(count)]
    elif isinstance(given, SEQUENCES):
        if len(given) != count or not all(isinstance(each, int) for each in given):
            raise InputError(f"{SEED} is {_seeds_of(count)}, not {given!r}")
        seeds = [_tensor_of(each) for each in given]
    elif not isinstance(given, (torch.Tensor, np.ndarray, np.generic)):
        raise InputError(f"{SEED} is {_seeds_of(count)}, not {given!r}")
    elif count == 1 or tuple(given.shape) == (count,):
        return given
    elif given.shape:
        shape = "x".join(map(str, given.shape))
        raise InputError(f"{SEED} is {_seeds_of(count)}, not a tensor of {shape}")
    else:
        return create_seed(int(given), generators)
    return seeds[0] if count == 1 else torch.stack(seeds)


def _tensor_of(seed: int) -> Any:
    """The lower 32 bits, as a number with a sign."""
    torch = torch_package()
    return torch.tensor((seed + (1 << 31)) % (1 << 32) - (1 << 31), dtype=torch.int32)


def _seeds_of(count: int) -> str:
    return "a whole number or a tensor" + (
        "" if count == 1 else f", or a list of {count} whole numbers, one for each generator"
    )


def _drawn_from(generator: Any) -> Any:
    torch = torch_package()
    if not isinstance(generator, torch.Generator | None):
        raise InputError(f"random numbers come from a torch.Generator or None, not {generator!r}")
    device = None if generator is None else generator.device
    low, high = -(1 << 31), 1 << 31
    return torch.randint(low, high, (), dtype=torch.int32, device=device, generator=generator).cpu()


def generators_in(graph: Any, values: Mapping[str, Any]) -> tuple[Any, ...]:
    """The generators that the draws of a graph are given, in the order of their first ones.

    None stands for torch's own; `values` are those of placeholders, by name.
    """
    found = (_generator_of(node, values) for node in graph.nodes if is_draw(node))
    return tuple({_identity(each): each for each in found}.values())


def _generator_of(node: Any, values: Mapping[str, Any]) -> Any:
    given: Any = _bound(node, node.args, node.kwargs).get("generator")
    node_class: Any = torch_package().fx.Node
    return values.get(given.name) if isinstance(given, node_class) else given


def _identity(generator: Any) -> int | None:
    """What is the same for all objects that stand for one generator."""
    return getattr(generator, "_cdata", None)


def is_random(graph: Any) -> bool:
    """True if a graph draws random numbers, whether they are supported or not."""
    return any(is_draw(node) for node in graph.nodes)


def is_draw(node: Any) -> bool:
    """True for a call that draws; dropout and attention do so only in training."""
    torch = torch_package()
    tags: Sequence[Any] = getattr(node.target, "tags", ())
    if node.op != "call_function" or torch.Tag.nondeterministic_seeded not in tags:
        return False
    given = _bound(node, node.args, node.kwargs)
    if given.get("train") is False or given.get("training") is False:
        return False
    for name in ("dropout_p", "p", "dropout"):
        if name in given and "dropout" in f"{name} {node.target._opname}":
            chances = given[name]
            return not isinstance(chances, (int, float)) or chances > 0
    if "attention" in node.target._opname:
        return bool(given.get("dropout_p"))
    return True


def _bound(node: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Arguments by the names of the schema, with defaults."""
    schema = node.target._schema.arguments
    found = {each.name: each.default_value for each in schema if each.has_default_value()}
    found.update({each.name: value for each, value in zip(schema, args, strict=False)})
    return {**found, **kwargs}


def run_seeded(graph: Any, seed: Any, inputs: Sequence[Any]) -> Any:
    """What a graph module computes; its random numbers, if it has any, come from a seed, or from
    one for each of `generators_in`."""
    torch = torch_package()
    draws = {node: _draw_of(node) for node in graph.graph.nodes if is_draw(node)}
    interpreter: Any = torch.fx.Interpreter(graph)
    if not draws:
        return interpreter.run(*inputs)
    names = [node.name for node in graph.graph.nodes if node.op == "placeholder"]
    values = dict(zip(names, inputs, strict=False))
    sources = {node: _identity(_generator_of(node, values)) for node in draws}
    counts: Counter[int | None] = Counter()
    for node, draw in draws.items():
        counts[sources[node]] += _count(node, draw)
    words = {
        source: Words(seed if len(counts) == 1 else seed[place], count)
        for place, (source, count) in enumerate(counts.items())
    }
    run_node = interpreter.run_node

    def run(node: Any) -> Any:
        draw = draws.get(node)
        if getattr(node.target, "__name__", "") == "with_effects":
            # Whoever traces this gives effects an order of its own.
            (_, function, *args), kwargs = interpreter.fetch_args_kwargs_from_env(node)
            return None, function(*args, **kwargs)
        if draw is None:
            return run_node(node)
        args, kwargs = interpreter.fetch_args_kwargs_from_env(node)
        given = _bound(node, args, kwargs)
        try:
            value = draw.make(words[sources[node]], given, _first(node.meta["val"]))
        except ValueError as error:
            refuse_node(node, str(error))
        return given["self"].copy_(value) if _writes(node) else value

    interpreter.run_node = run
    return interpreter.run(*inputs)


def _draw_of(node: Any) -> Draw:
    name = node.target._opname
    found = DRAWS.get(name) or (DRAWS.get(name[:-1]) if _writes(node) else None)
    if found is None:
        refuse_node(node, near(node.target.name().replace("::", "."), DRAWS))
    return found


def _writes(node: Any) -> bool:
    """True for an operation that leaves the numbers in its first argument."""
    return node.target._schema.is_mutable and node.target._opname.endswith("_")


def _count(node: Any, draw: Draw) -> int:
    given = _bound(node, node.args, node.kwargs)
    fakes = {name: _fake(value) for name, value in given.items()}
    return draw.count(fakes, _first(node.meta["val"]))


def _fake(value: Any) -> Any:
    return value.meta["val"] if hasattr(value, "meta") else value


def _first(value: Any) -> Any:
    return value[0] if isinstance(value, SEQUENCES) else value


SEQUENCES: Any = (tuple, list)
"""What torch describes several results by."""


def create_seeded(exported: Any) -> Any:
    """A module with the state and results of an exported program that takes a seed by keyword, too.

    The program has been decomposed: all that is random is an operation of its own.
    """
    torch = torch_package()
    pytree: Any = torch.utils._pytree
    signature = exported.graph_signature
    tensors = {**exported.constants, **exported.state_dict}
    kinds = ("PARAMETER", "BUFFER")
    state = [spec.target for spec in signature.input_specs if spec.kind.name in kinds]

    class Seeded(torch.nn.Module):
        def forward(self, *args: Any, **kwargs: Any) -> Any:
            seed = kwargs.pop(SEED)
            given = iter(pytree.tree_leaves((args, kwargs)))
            named: dict[str, Any] = {
                **dict(self.named_parameters()),
                **dict(self.named_buffers()),
            }
            inputs = [
                next(given)
                if spec.kind.name == "USER_INPUT"
                else named.get(spec.target, tensors.get(spec.target))
                for spec in signature.input_specs
            ]
            with torch.fx.traceback.preserve_node_meta():
                results = run_seeded(exported.graph_module, seed, inputs)
            # Arguments may be changed in place, too.
            for spec, value in zip(signature.input_specs, inputs, strict=True):
                if spec.kind.name == "USER_INPUT":
                    named[spec.arg.name] = value
            leaves: list[Any] = []
            for spec, result in zip(signature.output_specs, results, strict=True):
                if spec.kind.name == "USER_OUTPUT":
                    leaves.append(result)
                elif spec.kind.name != "TOKEN":
                    named[spec.target].copy_(result)
            return pytree.tree_unflatten(leaves, exported.call_spec.out_spec)

    return hold(Seeded(), {name: tensors[name] for name in state})
