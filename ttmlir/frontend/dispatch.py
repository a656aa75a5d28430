"""`ttmlir.compile`: one name for all frontends."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType, MappingProxyType, ModuleType
from typing import Any, Literal, TypeVar, cast, get_args, overload

from ttmlir.frontend.buckets import BucketedModel, BucketPlan, BucketsByName, plan_buckets
from ttmlir.frontend.calls.call_layout import read_call
from ttmlir.frontend.calls.calling import Number
from ttmlir.frontend.calls.containers import Opener
from ttmlir.frontend.compiled import CompiledModel, ImportedModel, NumericsName
from ttmlir.frontend.errors import missing_package
from ttmlir.frontend.programs import CompiledPrograms, Example, check_examples
from ttmlir.frontend.targets import TargetName, find_target
from ttmlir.mlir.reporting.diagnostics import listening

Weights = Literal["constants", "arguments"]


@overload
def compile(
    model: Any,
    *example_args: Any,
    example_kwargs: Mapping[str, Any] | None = None,
    target: TargetName = "ttnn",
    numerics: NumericsName = "exact",
    options: str = "",
    board: str | Path | None = None,
    weights: Weights = "constants",
    buckets: None = None,
) -> CompiledModel: ...


@overload
def compile(
    model: Any,
    *example_args: Any,
    example_kwargs: Mapping[str, Any] | None = None,
    target: TargetName = "ttnn",
    numerics: NumericsName = "exact",
    options: str = "",
    board: str | Path | None = None,
    weights: Weights = "constants",
    buckets: BucketsByName,
    fill: Mapping[str, Number] = ...,
) -> BucketedModel: ...


def compile(
    model: Any,
    *example_args: Any,
    example_kwargs: Mapping[str, Any] | None = None,
    target: TargetName = "ttnn",
    numerics: NumericsName = "exact",
    options: str = "",
    board: str | Path | None = None,
    weights: Weights = "constants",
    buckets: BucketsByName | None = None,
    fill: Mapping[str, Number] = MappingProxyType({}),
) -> CompiledModel | BucketedModel:
    """Compile a model for arguments like the given ones.

        compiled = ttmlir.compile(lambda x, w: jax.nn.relu(x @ w), x, w)
        y = compiled(x, w)

    `model` is one of
    - a function of JAX arrays (jitted or not), or what `jax.jit(...).trace`, `.lower` or
      `jax.export.export` return; arguments are arrays, `jax.ShapeDtypeStruct`s and trees of them,
    - a `torch.nn.Module`, a function of torch tensors, or a `torch.export.ExportedProgram`,
    - MLIR text in the dialects stablehlo, tosa, linalg, arith and math, or ttir, or the path of a
      file of such text, without example arguments.

    `example_kwargs` are keyword arguments of the model. `target` is "ttnn", calls of the ttnn
    library, which run with NumPy, or "kernels", fused kernels on all cores, which run on the
    simulator. `numerics` says how the compiled model computes unless a call says otherwise: "exact"
    keeps 32 or 64 bits, "device" rounds as the device does. `options` are those of
    `ttir-to-ttnn-backend-pipeline` or, for kernels, of `ttir-to-ttmetal-pipeline`.
    `board` is what to compile for: "n150", "p150" or another board, or the path of a `.ttsys` file;
    without it the environment variable SYSTEM_DESC_PATH says it, or else it is one Wormhole chip.
    `weights="arguments"` (torch) keeps parameters out of the file as further inputs of the program.
    `buckets` are sizes by arguments and dimensions, such as `{"tokens": {1: (16, 64)}}`: there is a
    program for each of them, a call takes the smallest one that it fits into, and pads; `fill` are
    the numbers to pad arguments with, 0 for others. What is returned is a `BucketedModel` then.

    Warns of numbers that the device keeps shorter, once for each model; `warnings` of the compiled
    model says it again. Warns of names in `options` that no operation has. Raises CompilationError,
    with the place in the source, for what is not supported, and ImportError for a framework that is
    not installed.
    """
    # Wrong names are told before the model is looked at.
    find_target(target)
    _check_weights(weights)
    kwargs = dict(example_kwargs or {})
    if buckets is not None:
        plan, examples = _plan(model, example_args, kwargs, buckets)
        programs = compile_programs(
            examples,
            target=target,
            numerics=numerics,
            options=options,
            board=board,
            weights=weights,
        )
        return BucketedModel(plan, programs, fill)
    imported = _import(model, example_args, kwargs, weights)
    examples = (example_args, kwargs) if example_args or kwargs else None
    return _warned(
        lambda: CompiledModel(
            imported,
            numerics=numerics,
            target=target,
            options=options,
            board=board,
            examples=examples,
        ),
        [(imported.name, message) for message in imported.warnings],
    )


def _check_weights(weights: str) -> None:
    choices = get_args(Weights)
    if weights not in choices:
        raise ValueError(f"weights are {', '.join(map(repr, choices))}, not {weights!r}")


_Compiled = TypeVar("_Compiled", CompiledModel, CompiledPrograms)


def _warned(make: Callable[[], _Compiled], known: Sequence[tuple[str, str]]) -> _Compiled:
    """What `make` makes, after warnings of what is `known` of models and of what it says itself."""
    for name, message in dict.fromkeys(known):
        warnings.warn(f"'{name}': {message}", UserWarning, stacklevel=3)
    with listening() as heard:
        made = make()
    told = {message for _, message in known}
    for warning in heard.values():
        if warning.severity == "warning" and warning.message not in told:
            warnings.warn(f"'{made.name}': {warning.message}", UserWarning, stacklevel=3)
    return made


def _plan(
    model: Any, args: tuple[Any, ...], kwargs: dict[str, Any], buckets: BucketsByName
) -> tuple[BucketPlan, dict[str, Example]]:
    """Which dimensions are dynamic, and the model with examples of each choice of sizes."""
    framework = _framework_of((model, args, kwargs))
    if framework == "text":
        raise TypeError("MLIR text has shapes of its own: ttmlir.compile takes no buckets with it")
    home = {
        "torch": "ttmlir.frontend.torch.containers",
        "jax": "ttmlir.frontend.calls.jax_containers",
    }
    opener: Opener = import_module(_installed(framework, home[framework])).OPENER
    function = getattr(model, "forward", model) if framework == "torch" else model
    layout, leaves = read_call("model", function, (args, kwargs), opener)
    shapes = [getattr(leaf, "shape", ()) for leaf in leaves]
    names = layout.leaf_names
    for name, leaf in zip(names, leaves, strict=True):
        if "complex" in str(getattr(leaf, "dtype", "")) or isinstance(leaf, complex):
            raise TypeError(
                f"buckets: '{name}' is complex; give its real and its imaginary part as arguments "
                "and join them inside of the model"
            )
    plan = plan_buckets(layout.leaf_names, shapes, buckets)
    examples: dict[str, Example] = {}
    for choice in plan.choices:
        resized = [
            leaf
            if plan.shape_in(choice, number, shape) == list(shape)
            else opener.example_like(leaf, plan.shape_in(choice, number, shape))
            for number, (leaf, shape) in enumerate(zip(leaves, shapes, strict=True))
        ]
        of_choice, keywords = layout.unflatten(resized)
        name = "_".join(["main", *map(str, choice)])
        examples[name] = Example(model, *of_choice, **keywords)
    return plan, examples


def compile_programs(
    examples: Mapping[str, Example],
    *,
    target: TargetName = "ttnn",
    numerics: NumericsName = "exact",
    options: str = "",
    board: str | Path | None = None,
    weights: Weights = "constants",
) -> CompiledPrograms:
    """Compile several models to programs of one file, which share weights and state.

        llama = ttmlir.compile_programs(
            {
                "prefill": ttmlir.Example(model.prefill, tokens),
                "decode": ttmlir.Example(model.decode, token, position),
            }
        )
        logits = llama.decode(token, position)

    The models are functions of JAX, or torch modules, methods of them and functions. Equal weights
    are in the file once. Buffers of torch modules that one program changes are seen by all of them.
    The other parameters are those of `compile`.
    """
    _check_weights(weights)
    check_examples(examples)
    calls = [(each.model, each.args, each.kwargs) for each in examples.values()]
    imported = dict(zip(examples, _import_all(calls, weights), strict=True))
    return _warned(
        lambda: CompiledPrograms(
            imported, numerics=numerics, target=target, options=options, board=board
        ),
        [(each.name, message) for each in imported.values() for message in each.warnings],
    )


_Call = tuple[Any, tuple[Any, ...], dict[str, Any]]
"""A model with examples of its arguments by position and by name."""


def _import_all(calls: Sequence[_Call], weights: Weights) -> list[ImportedModel]:
    packages = [_framework_of(call) for call in calls]
    if set(packages) == {"torch"}:
        torch_frontend: Any = import_module(_installed("torch", "ttmlir.frontend.torch"))
        return torch_frontend.import_models(calls, weights=weights)
    if set(packages) == {"jax"}:
        return [_import(*call, weights) for call in calls]
    raise TypeError("programs that share weights are all of JAX, or all of torch")


def _framework_of(call: _Call) -> str:
    model, args, kwargs = call
    if isinstance(model, str | Path):
        return "text"
    owner = getattr(model, "__self__", model)
    packages = {*_packages_of(owner), *_packages_in((args, kwargs))}
    if not packages & {"jax", "jaxlib", "torch"} and isinstance(model, FunctionType):
        # Without arrays of a framework, the names in the function say which one it is about.
        packages = _packages_named_in(model)
        return "torch" if "torch" in packages and "jax" not in packages else "jax"
    return "torch" if "torch" in packages else "jax"


def _import(
    model: Any, args: tuple[Any, ...], kwargs: dict[str, Any], weights: Weights
) -> ImportedModel:
    if isinstance(model, str | Path):
        return _import_text(model, args, kwargs)
    if callable(model) or _packages_of(model) & {"jax", "torch"}:
        if _framework_of((model, args, kwargs)) == "torch":
            torch_frontend: Any = import_module(_installed("torch", "ttmlir.frontend.torch"))
            return torch_frontend.import_model(model, args, kwargs, weights=weights)
        jax_frontend: Any = import_module(_installed("jax", "ttmlir.frontend.jax"))
        return jax_frontend.import_model(model, args, kwargs)
    raise TypeError(
        f"ttmlir.compile cannot compile a {type(model).__qualname__}; it takes functions of JAX "
        "arrays, torch modules, functions and exported programs, and MLIR text or paths of it"
    )


def _import_text(model: str | Path, args: tuple[Any, ...], kwargs: dict[str, Any]) -> ImportedModel:
    from ttmlir.frontend.text import import_file, import_text

    if args or kwargs:
        raise TypeError("MLIR text has its own types: ttmlir.compile takes no examples with it")
    if isinstance(model, str) and ("\n" in model or not model):
        return import_text(model)
    return import_file(Path(model))


def _installed(package: str, frontend: str) -> str:
    """The name of the module of a frontend whose framework is there; ImportError if it is not."""
    if package not in sys.modules and find_spec(package) is None:
        raise missing_package(package, package, f"compiling functions of {package} arrays")
    return frontend


def _packages_named_in(function: FunctionType) -> set[str]:
    """The packages of the modules that a function names."""
    named = [function.__globals__.get(name) for name in function.__code__.co_names]
    return {each.__name__.partition(".")[0] for each in named if isinstance(each, ModuleType)}


def _packages_of(value: Any) -> set[str]:
    """The packages that the class of a value and its bases come from."""
    return {base.__module__.partition(".")[0] for base in type(value).__mro__}


def _packages_in(value: Any) -> set[str]:
    """The packages of the values in nested containers and in attributes of objects."""
    found: set[str] = set()
    # Objects may hold each other; keeping them keeps their identities.
    seen: dict[int, Any] = {}
    pending = [value]
    while pending:
        item = pending.pop()
        if id(item) in seen:
            continue
        seen[id(item)] = item
        if isinstance(item, Mapping):
            pending += cast("Mapping[Any, Any]", item).values()
        elif isinstance(item, tuple | list):
            pending += cast("Sequence[Any]", item)
        else:
            packages = _packages_of(item)
            found |= packages
            if not packages & _ARRAYS and not isinstance(item, type | ModuleType):
                pending += getattr(item, "__dict__", {}).values()
    return found


_ARRAYS = {"torch", "jax", "jaxlib", "numpy"}
"""Packages whose objects are not looked into."""
